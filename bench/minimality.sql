-- An attacker knows the method: what the release tells then, by exact enumeration.  First: all sensitive columns of
-- :minimality_tables tables of 8 rows (41 is the whole set), k = 2, the attacker knows all quasi-identifiers: of
-- how many different releases is somebody's value certain (under alpha the value that the rule is about, which no class alone
-- tells)?  Then: all 792 tables of 7 rows over 3 x 2 values, nothing is known of rows: of how many releases that hide something
-- is there only one source?
\if :{?minimality_tables}
\else
\set minimality_tables 6
\endif
\echo
\echo 'minimality: what the method tells, k = 2; 792 tables of 7 rows, and tables of 8 rows:' :minimality_tables
SET synchronous_commit = off;
CREATE TABLE method_tells (tab int, source int, method text, release text);
CREATE TABLE method_quasi (tab int, r int, a int, b int);
CREATE TABLE method_a (v text, g text);
INSERT INTO method_a VALUES ('0', 'lo'), ('1', 'lo'), ('2', 'hi'), ('3', 'hi');
CREATE TABLE method_b (v text, g text);
INSERT INTO method_b VALUES ('0', 'any'), ('1', 'any');
CREATE TABLE method_source (r int, a int, b int, ill text);

CREATE FUNCTION released(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    release text;
BEGIN
    EXECUTE call;
    SELECT string_agg(o::text, ';' ORDER BY o::text) INTO release FROM method_out o;
    DROP TABLE method_out;
    RETURN release;
EXCEPTION WHEN check_violation OR no_data_found OR feature_not_supported THEN
    RETURN NULL; -- no release of this source keeps the rules
END $$;

CREATE PROCEDURE try_values(first_table int, tables int) LANGUAGE plpgsql AS $$
DECLARE
    m record;
    y int;
BEGIN
    CREATE TABLE method_out (a text);
    DROP TABLE method_out;
    FOR t IN first_table..tables LOOP
        PERFORM setseed(t / 1000.0);
        INSERT INTO method_quasi SELECT t, r, floor(random() * 4)::int, floor(random() * 2)::int FROM generate_series(0, 7) r;
        FOR x IN 0..255 LOOP
            -- rows of the same quasi-identifiers can be exchanged: one of these columns, with 'hiv' in the first of them, is enough
            SELECT coalesce(sum(1 << r) FILTER (WHERE place <= hivs), 0) INTO y
            FROM (SELECT r, row_number() OVER (PARTITION BY a, b ORDER BY r) AS place, sum(x >> r & 1) OVER (PARTITION BY a, b) AS hivs
                FROM method_quasi WHERE tab = t) o;
            IF y < x THEN
                INSERT INTO method_tells SELECT tab, x, method, release FROM method_tells WHERE tab = t AND source = y;
                CONTINUE;
            END IF;
            TRUNCATE method_source;
            INSERT INTO method_source SELECT r, a, b, CASE WHEN x >> r & 1 = 1 THEN 'hiv' ELSE 'flu' END FROM method_quasi WHERE tab = t;
            FOR m IN SELECT f.name || ', ' || p.name AS name, format(f.call, p.rule) AS call FROM (VALUES
                    ('greedy', $q$SELECT FROM kanon_pattern_guided('method_source', 'method_out', '{a,b}', 2, keep => '{ill}', privacy => ARRAY[%s])$q$),
                    ('greedy, one order', $q$SELECT FROM kanon_pattern_guided('method_source', 'method_out', '{a,b}', 2, keep => '{ill}', effort => 0, privacy => ARRAY[%s])$q$),
                    ('mondrian', $q$SELECT FROM kanon_cluster('method_source', 'method_out', '{a,b}', 2, method => 'mondrian', keep => '{ill}', privacy => ARRAY[%s])$q$),
                    ('sub-trees', $q$SELECT FROM kanon_subtree('method_source', 'method_out', '{a,b}', 2, keep => '{ill}', hierarchies => '{"a":"method_a","b":"method_b"}', privacy => ARRAY[%s])$q$),
                    ('full-domain', $q$SELECT FROM kanon_full_domain('method_source', 'method_out', '{a,b}', 2, keep => '{ill}', hierarchies => '{"a":"method_a","b":"method_b"}', privacy => ARRAY[%s])$q$)) AS f (name, call),
                (VALUES ('distinct_l 2', 'kanon_distinct_l(''ill'', 2)'), ('alpha .5', 'kanon_alpha(''ill'', 0.5, ''{hiv}'')')) AS p (name, rule) LOOP
                INSERT INTO method_tells VALUES (t, x, m.name, released(m.call));
            END LOOP;
            COMMIT;
        END LOOP;
    END LOOP;
END $$;
SET client_min_messages = error;
CALL try_values(1, :minimality_tables);

-- of each release the persons whose value is the same in all sources that it may come from
CREATE TABLE method_certain AS
SELECT method, tab, release, count(*) AS sources,
       (bit_and(source) | CASE WHEN method LIKE '%distinct%' THEN bit_and(~source & 255) ELSE 0 END) <> 0 AS certain
FROM method_tells WHERE release IS NOT NULL GROUP BY method, tab, release;
INSERT INTO result (bench, name, ratio)
SELECT 'minimality', method || ': releases of which a value is certain, %', round(100.0 * count(*) FILTER (WHERE certain) / count(*), 1)
FROM method_certain GROUP BY method ORDER BY method;
INSERT INTO result (bench, name, ratio)
SELECT 'minimality', method || ': sources of which a value is certain, %', round(100.0 * sum(sources) FILTER (WHERE certain) / sum(sources), 1)
FROM method_certain GROUP BY method ORDER BY method;

-- how many rows there are of each of six combinations
CREATE TABLE method_counts AS
SELECT row_number() OVER () AS tab, c FROM (
    SELECT ARRAY[a, b, c, d, e, 7 - a - b - c - d - e] AS c FROM generate_series(0, 7) a, generate_series(0, 7 - a) b, generate_series(0, 7 - a - b) c,
        generate_series(0, 7 - a - b - c) d, generate_series(0, 7 - a - b - c - d) e) x;
CREATE TABLE method_h3 (v text, g text);
INSERT INTO method_h3 VALUES ('0', 'low'), ('1', 'low'), ('2', 'high');
CREATE PROCEDURE try_sources() LANGUAGE plpgsql AS $$
DECLARE
    s record;
    m record;
BEGIN
    FOR s IN SELECT * FROM method_counts LOOP
        TRUNCATE method_source;
        INSERT INTO method_source SELECT 0, (i - 1) / 2, (i - 1) % 2 FROM generate_series(1, 6) i, generate_series(1, s.c[i]);
        FOR m IN SELECT * FROM (VALUES
                ('greedy', $q$SELECT FROM kanon_pattern_guided('method_source', 'method_out', '{a,b}', 2)$q$),
                ('greedy, one order', $q$SELECT FROM kanon_pattern_guided('method_source', 'method_out', '{a,b}', 2, effort => 0)$q$),
                ('mondrian', $q$SELECT FROM kanon_cluster('method_source', 'method_out', '{a,b}', 2, method => 'mondrian')$q$),
                ('sub-trees', $q$SELECT FROM kanon_subtree('method_source', 'method_out', '{a,b}', 2, hierarchies => '{"a":"method_h3","b":"method_b"}')$q$),
                ('full-domain', $q$SELECT FROM kanon_full_domain('method_source', 'method_out', '{a,b}', 2, hierarchies => '{"a":"method_h3","b":"method_b"}')$q$)) AS v (name, call) LOOP
            INSERT INTO method_tells VALUES (0, s.tab, m.name, released(m.call));
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
CALL try_sources();
INSERT INTO result (bench, name, ratio)
SELECT 'minimality', method || ', nothing known: releases that hide something of which the source is certain, %', round(100.0 * count(*) FILTER (WHERE sources = 1) / nullif(count(*), 0), 1)
FROM (SELECT method, release, count(*) AS sources FROM method_tells WHERE tab = 0 AND (release LIKE '%(,%' OR release LIKE '%,)%' OR release ~ '\[0,[23]\)|\[1,3\)|low|high') GROUP BY method, release) r
GROUP BY method ORDER BY method;

SELECT name, ratio AS percent FROM result WHERE bench = 'minimality' ORDER BY place;
\set to :results '/minimality.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, ratio AS percent FROM result WHERE bench = 'minimality' ORDER BY place;
\o
\pset format aligned
SET client_min_messages = warning;
