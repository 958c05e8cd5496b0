-- hints lead out: none names an argument that the function lacks
CREATE SCHEMA hints_test;
SET search_path = hints_test, public;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE owner_of (id int PRIMARY KEY);
INSERT INTO owner_of SELECT generate_series(1, 40);
CREATE TABLE t AS SELECT i AS id, i % 7 AS age, 'z' || i % 9 AS zip, 'd' || i % 5 AS ill, 'd' || i % 5 AS copy, 1 + i % 40 AS owner, sqrt(i) AS lab, ARRAY['a', 'b' || i % 3] AS items, date '2026-01-01' + i AS day, '{"a":1}'::json AS j FROM generate_series(1, 200) AS i;
ALTER TABLE t ADD FOREIGN KEY (owner) REFERENCES owner_of (id);
CREATE TABLE there (a int);
CREATE TABLE hints (function text, call text, hint text);

-- a call's error, and the hint of it; how long is said by NOTICE and cannot be caught, so calls that succeed are undone
CREATE FUNCTION ask(function text, call text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    BEGIN
        EXECUTE call;
        RAISE EXCEPTION USING ERRCODE = 'P0999';
    EXCEPTION
        WHEN SQLSTATE 'P0999' THEN RETURN;
        WHEN OTHERS THEN GET STACKED DIAGNOSTICS said = PG_EXCEPTION_HINT;
    END;
    INSERT INTO hints VALUES (function, call, said);
END $$;

-- every function: each argument NULL and all others as usual, then each as it should not be, where the function has it
CREATE TABLE functions AS
SELECT p.proname, p.proargnames[1:p.pronargs] AS names, ARRAY(SELECT format_type(o, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (o, n) ORDER BY n) AS types, p.pronargs - p.pronargdefaults AS needed, p.prokind
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'kanon'
WHERE p.proname ~ '^kanon_' AND pg_function_is_visible(p.oid) AND p.proretset IS NOT NULL AND p.prokind IN ('f', 'p') AND p.proargnames IS NOT NULL;
CREATE TABLE usual (name text PRIMARY KEY, value text);
INSERT INTO usual VALUES ('source', '''t'''), ('relation', '''t'''), ('target', '''no'''), ('quasi_identifiers', '''{age,zip}'''), ('k', '5'), ('ks', '''{2,5}'''), ('items', '''items'''), ('sensitive', '''{ill}'''), ('method', 'DEFAULT'),
    ('patterns', '''{--,*-,**}'''), ('publication', '''nobody'''), ('view', '''no'''), ('column_name', '''age'''), ('widths', '''{5,10}'''), ('sensitive_target', '''no_2'''), ('quasi_target', '''no'''), ('l', '2'), ('subject', '''id''');
CREATE TABLE wrong (name text, value text);
INSERT INTO wrong VALUES ('k', '1'), ('k', '100000'), ('k', '-1'), ('quasi_identifiers', '''{nope}'''), ('quasi_identifiers', '''{}'''), ('quasi_identifiers', '''{j}'''), ('keep', '''{id}'''), ('keep', '''{owner}'''), ('keep', '''{lab,day}'''), ('keep', '''{j}'''), ('keep', '''{nope}'''),
    ('keep', '''{age}'''), ('target', '''there'''), ('target', '''a.b.c.d'''), ('method', '''nope'''), ('method', '''exact'''), ('method', '''fpt'''), ('residual', '''nope'''), ('rules', '''{"nope": 1}'''), ('rules', '''[]'''), ('patterns', '''{--}'''), ('patterns', '''{-}'''), ('patterns', '''{}'''), ('weights', '''{1}'''),
    ('weights', '''{0,0}'''), ('weights', '''{-1,1}'''), ('hierarchies', '''{"age": "date"}'''), ('hierarchies', '''{"age": {"nope": 1}}'''), ('hierarchies', '''{"nope": "t"}'''), ('hierarchies', '''{"age": {"interval": [5, 7]}}'''), ('hierarchies', '''{"age": 5}'''), ('level_cost', '''nope'''), ('class_column', '''nope'''), ('categorical', '''{nope}'''),
    ('time_limit', '''-1 s'''), ('gap', '-1'), ('effort', '-1'), ('seed', 'NULL'), ('partition_by', '''nope'''), ('partition_by', '''age'''), ('partition_size', '1'), ('privacy', 'ARRAY[kanon_distinct_l(''ill'', 50)]'), ('privacy', 'ARRAY[kanon_distinct_l(''nope'', 2)]'), ('privacy', 'ARRAY[kanon_t_closeness(''ill'', 0.0001)]'),
    ('privacy', 'ARRAY[kanon_subject(''nope'')]'), ('privacy', 'ARRAY[''{"rule": "nope"}''::jsonb]'), ('privacy', 'ARRAY[kanon_alpha(''ill'', 0.01)]'), ('mask', '''{"ill": {"nope": 1}}'''), ('mask', '''{"nope": "pseudonym"}'''), ('mask', '''5'''), ('allow_identifying', '''{nope}'''), ('options', '''{"nope": 1}'''), ('options', '''{"keep": 5}'''),
    ('options', '5'), ('suppression_limit', '-1'), ('suppression_limit', '0'), ('metric', '''nope'''), ('show', '''nope'''), ('model', '''nope'''), ('m', '0'), ('h', '-1'), ('p', '0'), ('rho', '5'), ('hierarchy', '''nope'''), ('items', '''nope'''), ('transaction', '''nope'''), ('sensitive', '''{nope}'''), ('publication', '''nobody'''),
    ('source', '''pg_class_oid_index'''), ('epsilon', '-1'), ('delta', '5'), ('known', '''{nope}'''), ('key', '''nope'''), ('widths', '''{}'''), ('column_name', '''nope'''), ('levels', '''{nope}'''), ('l', '0'), ('keep_releases', '0'), ('sampling', '''nope'''), ('ks', '''{}'''), ('ks', '''{0}''');
DO $$
DECLARE
    f record; w record; n int; args text[]; value text;
BEGIN
    FOR f IN SELECT * FROM functions ORDER BY proname, names LOOP
        args := '{}';
        FOR n IN 1..cardinality(f.names) LOOP
            value := (SELECT u.value FROM usual u WHERE u.name = f.names[n] AND u.value <> 'DEFAULT');
            IF value IS NOT NULL OR n <= f.needed THEN
                args := args || format('%I => %s::%s', f.names[n], coalesce(value, 'NULL'), f.types[n]);
            END IF;
        END LOOP;
        FOR n IN 1..cardinality(f.names) LOOP
            PERFORM ask(f.proname, format('%s %I(%s)', CASE f.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT FROM' END, f.proname, array_to_string(ARRAY(SELECT a FROM unnest(args) AS a WHERE a NOT LIKE format('%I => ', f.names[n]) || '%') || format('%I => NULL::%s', f.names[n], f.types[n]), ', ')));
            FOR w IN SELECT x.value FROM wrong x WHERE x.name = f.names[n] LOOP
                PERFORM ask(f.proname, format('%s %I(%s)', CASE f.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT FROM' END, f.proname, array_to_string(ARRAY(SELECT a FROM unnest(args) AS a WHERE a NOT LIKE format('%I => ', f.names[n]) || '%') || format('%I => %s::%s', f.names[n], w.value, f.types[n]), ', ')));
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
-- what a hint says of another function is that function's
CREATE TABLE spoken AS SELECT function, call, hint, regexp_replace(hint, 'kanon_\w+( with| has| takes)? \w+ => [^ ,;.]+|kanon_\w+\([^)]*\)', '', 'g') AS own FROM hints WHERE hint <> '';
SELECT count(DISTINCT hint) > 100 AS many_hints, count(DISTINCT function) > 30 AS many_functions FROM spoken;
CREATE TABLE arguments AS SELECT DISTINCT unnest(names) AS name FROM functions;
SELECT DISTINCT s.function, a.name, s.hint FROM spoken s JOIN arguments a ON s.own ~ format('\m%s (=>|be '')', a.name) OR (a.name ~ '_' AND s.own ~ format('\m%s\M', a.name))
WHERE NOT EXISTS (SELECT FROM functions f WHERE f.proname = s.function AND (a.name = ANY (f.names) OR ('options' = ANY (f.names) AND s.own !~ (a.name || ' =>')))) ORDER BY 1, 2, 3;
DROP SCHEMA hints_test CASCADE;
