-- an attacker knows the method: what the release tells then, counted again by publishing every source there is
CREATE SCHEMA attack_method_test;
SET search_path = attack_method_test, public;
SET client_min_messages = warning;
-- combinatorial refinement, the smallest: a class of two rows that hides zip was not two classes, so they differ in it
CREATE TABLE two AS SELECT * FROM (VALUES (1, 'f', 'a'), (2, 'f', 'b')) AS t (id, sex, zip);
SELECT FROM kanon_pattern_guided('two', 'two_public', '{sex,zip}', 2);
SELECT * FROM two_public;
SELECT * FROM kanon_attack('two', 'two_public', 'id', '{}', knowledge => 'method');
-- one row more leaves seven sources
INSERT INTO two VALUES (3, 'f', 'c');
SELECT FROM kanon_pattern_guided('two', 'three_public', '{sex,zip}', 2);
SELECT measure, value FROM kanon_attack('two', 'three_public', 'id', '{}', knowledge => 'method');

-- minimality: all sensitive columns of six rows
CREATE TABLE source AS SELECT r, r % 3 AS a, r / 4 AS b, 'flu'::text AS ill FROM generate_series(0, 5) r;
CREATE TABLE found (method text, x int, release text, certain float8);
CREATE PROCEDURE try_all() LANGUAGE plpgsql AS $$
DECLARE
    m record;
    text text;
    told float8;
BEGIN
    FOR x IN 0..63 LOOP
        UPDATE source SET ill = CASE WHEN x >> r & 1 = 1 THEN 'hiv' ELSE 'flu' END;
        FOR m IN SELECT * FROM (VALUES
                ('greedy', $q$SELECT FROM kanon_pattern_guided('source', 'o', '{a,b}', 2, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)])$q$),
                ('greedy, alpha', $q$SELECT FROM kanon_pattern_guided('source', 'o', '{a,b}', 2, keep => '{ill}', privacy => ARRAY[kanon_alpha('ill', 0.7)])$q$),
                ('mondrian', $q$SELECT FROM kanon_cluster('source', 'o', '{a,b}', 2, method => 'mondrian', keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)])$q$)) AS v (name, call) LOOP
            BEGIN
                EXECUTE m.call;
                SELECT string_agg(o::text, ';' ORDER BY o::text) INTO text FROM o;
                SELECT value INTO told FROM kanon_attack('source', 'o', 'r', '{a,b}', knowledge => 'method') WHERE measure = 'certain_left';
                DROP TABLE o;
                INSERT INTO found VALUES (m.name, x, text, told);
            EXCEPTION WHEN check_violation THEN
                NULL;
            END;
        END LOOP;
    END LOOP;
END $$;
CALL try_all();
-- persons whose value is the same in all sources of a release
SELECT method, count(*) AS sources, count(DISTINCT release) AS releases, count(*) FILTER (WHERE certain > 0) AS certain,
       count(*) FILTER (WHERE certain IS DISTINCT FROM (SELECT sum((ones >> r & 1) + (zeros >> r & 1)) FROM generate_series(0, 5) r)) AS wrong
FROM (SELECT *, bit_and(x) OVER w AS ones, bit_and(~x & 63) OVER w AS zeros FROM found WINDOW w AS (PARTITION BY method, release)) f GROUP BY method ORDER BY method;

-- what is refused
CREATE TABLE larger AS SELECT i AS id, i % 11 AS a, i % 7 AS b, i % 5 AS c FROM generate_series(1, 60) i;
SELECT FROM kanon_pattern_guided('larger', 'larger_public', '{a,b,c}', 5);
SELECT * FROM kanon_attack('larger', 'larger_public', 'id', '{}', knowledge => 'method');
SELECT * FROM kanon_attack('larger', 'larger_public', 'id', '{a,b,c}', knowledge => 'method');
SELECT * FROM kanon_attack('larger', 'larger_public', 'id', '{a}', knowledge => 'method');
SELECT * FROM kanon_attack('two', 'larger_public', 'id', '{}', knowledge => 'method');
SELECT * FROM kanon_attack('two', 'two', 'id', '{}', knowledge => 'method');
SELECT * FROM kanon_attack('two', 'two_public', 'id', '{}', knowledge => 'method');
SELECT * FROM kanon_attack('two', 'three_public', 'id', '{}', knowledge => 'everything');
SELECT * FROM kanon_attack('two', 'three_public', 'id', '{}', knowledge => NULL);
SELECT FROM kanon_freeform('larger', 'free_public', '{a,b}', 2);
SELECT * FROM kanon_attack('larger', 'free_public', 'id', '{}', knowledge => 'method');
UPDATE source SET ill = CASE WHEN r % 2 = 0 THEN 'hiv' ELSE 'flu' END;
SELECT FROM kanon_pattern_guided('source', 'listed_public', '{a,b}', 2, keep => '{ill}', privacy => ARRAY[kanon_alpha('ill', 0.5, '{hiv}')]);
SELECT * FROM kanon_attack('source', 'listed_public', 'r', '{a,b}', knowledge => 'method');
-- a run of somebody else is not tried
CREATE ROLE kanon_test_method;
GRANT USAGE ON SCHEMA attack_method_test TO kanon_test_method;
GRANT SELECT ON two, three_public TO kanon_test_method;
SET ROLE kanon_test_method;
SELECT * FROM kanon_attack('two', 'three_public', 'id', '{}', knowledge => 'method');
RESET ROLE;
DROP SCHEMA attack_method_test CASCADE;
DROP ROLE kanon_test_method;
