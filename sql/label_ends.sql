-- labels: no end of a range is the value of fewer than k rows (or persons), unless the page says so
CREATE SCHEMA ends_test;
SET search_path = ends_test, public;
SET client_min_messages = warning;
\set SHOW_CONTEXT never

CREATE TABLE people AS SELECT i AS id, 'P' || i % 60 AS person, 'person' || i || '.' || substr(md5(i::text), 1, 6) || '@example.org' AS email,
    18 + i * i % 83 AS age, (20000 + i * 7919 % 100003)::int AS income, (i * 7919 % 10007) / 7.0::float8 AS ratio, (i * 7919 % 10007) / 7.0::numeric AS amount,
    date '1950-01-01' + i * 7919 % 40009 AS born, timestamptz '1999-12-31 22:00+00' + i * 104729 % 5000011 * interval '61.5 s' AS seen,
    (i * 31 % 9)::smallint AS grade, time '00:00' + i * 7 % 1440 * interval '1 min' AS clock, lpad((i * 37 % 1000)::text, 5, '0') AS zip,
    md5(i::text)::uuid AS token, (ARRAY['Öl', 'Ähre', 'Übung', 'Zoo'])[1 + i % 4] || i / 4 AS word, i % 2 AS sex, 10000 + i AS number FROM generate_series(1, 1000) i;
-- exact(c, target, k): labels with an end, or an element, that is a value which fewer than k of `whom` have
CREATE FUNCTION exact(c text, target text, k int, whom text DEFAULT 'id') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format($q$SELECT count(*) FROM (SELECT %1$I::text AS label FROM %2$s WHERE %1$I IS NOT NULL) AS o
        WHERE EXISTS (SELECT FROM unnest(string_to_array(translate(regexp_replace(label, '^[{[(]|[])}]$', '', 'g'), '"', ''), ',')) AS e (v)
        JOIN (SELECT %1$I::text AS v FROM people GROUP BY %1$I HAVING count(DISTINCT %4$I) < %3$s) AS few ON few.v = e.v) AND label ~ '^[{[(]'$q$, c, target, k, whom) INTO n;
    RETURN n;
END $$;
-- quantiles of every type: how many ranges there are, and how many show a value of few
CREATE FUNCTION ranges(c text, k int, privacy jsonb[] DEFAULT NULL, whom text DEFAULT 'id') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    made text;
BEGIN
    PERFORM kanon_pattern_guided('people', 'o', ARRAY[c]::name[], k, hierarchies => jsonb_build_object(c, '{"quantile": [8, 4]}'::jsonb), patterns => '{1,2}', privacy => ranges.privacy, replace => true);
    EXECUTE format('SELECT count(DISTINCT %1$I) || '' ranges, '' || exact(%1$L, ''o'', %2$s, %3$L) || '' of few; smallest '' || (SELECT min(n) FROM (SELECT count(*) AS n FROM o GROUP BY %1$I) g) FROM o', c, k, whom) INTO made;
    RETURN made;
EXCEPTION WHEN others THEN RETURN sqlerrm;
END $$;
SELECT c, ranges(c, 5) FROM unnest('{email,age,income,ratio,amount,born,seen,grade,clock,zip,token,word,number}'::text[]) AS c;
SELECT c, ranges(c, 20) FROM unnest('{age,zip,word}'::text[]) AS c;
-- k counts persons: a value that ten rows of three persons have is one of few
UPDATE people SET person = 'P' || id % 3 WHERE age < 50;
SELECT c, ranges(c, 5, ARRAY[kanon_subject('person')], 'person') FROM unnest('{age,grade,income,zip,email}'::text[]) AS c;
-- a table of quantiles, which may be made a hierarchy; k of its own
SELECT kanon_hierarchy_quantile('people', 'income', 'income_h', '{8,4}'), kanon_hierarchy_quantile('people', 'age', 'age_h', '{8,2}', k => 13);
SELECT exact('income', '(SELECT level1 AS income FROM income_h) h', 5) AS income, exact('age', '(SELECT level1 AS age FROM age_h) h', 13) AS age, (SELECT count(DISTINCT level1) FROM age_h) AS ranges;
SELECT kanon_hierarchy_quantile('people', 'age', 'x', '{8,2}', k => 0);
SELECT FROM kanon_pattern_guided('people', 'o', '{age}', 5, hierarchies => '{"age": {"quantile": [8], "k": 1.5}}');
-- whoever compares finds the cuts again
SELECT FROM kanon_full_domain('people', 'cut', '{income,sex}', 5, hierarchies => '{"income": {"quantile": [8, 4]}}', replace => true);
SET client_min_messages = notice;
SELECT count(*) > 0 AS compared FROM kanon_compare('people', 'cut', '{income,sex}');
SET client_min_messages = warning;
-- several ks: the cuts are those of the largest
SELECT k, cost FROM kanon_frontier('people', '{age,sex}', '{5,20}', hierarchies => '{"age": {"quantile": [8, 4]}}');

-- other builders ask only the value itself: its labels are the same in a table of that value alone
CREATE FUNCTION alone(c text, builder jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    differ bigint;
BEGIN
    EXECUTE format('CREATE TABLE all_rows AS SELECT id, %I AS v FROM people', c);
    EXECUTE format('CREATE TABLE one_row AS SELECT g AS id, %1$I AS v FROM people, generate_series(1, 5) g WHERE people.id = 7', c);
    PERFORM kanon_pattern_guided('all_rows', 'all_out', '{v}', 2, keep => '{id}', allow_identifying => '{id}', hierarchies => jsonb_build_object('v', builder), patterns => '{1}', residual => 'suppress');
    PERFORM kanon_pattern_guided('one_row', 'one_out', '{v}', 2, keep => '{id}', allow_identifying => '{id}', hierarchies => jsonb_build_object('v', builder), patterns => '{1}');
    SELECT count(*) INTO differ FROM (SELECT v::text FROM all_out WHERE id = 7) a, (SELECT DISTINCT v::text FROM one_out) b WHERE a.v <> b.v;
    DROP TABLE all_rows, one_row, all_out, one_out;
    RETURN differ;
END $$;
-- (more types for them)
ALTER TABLE people ADD code text, ADD country text, ADD place text;
UPDATE people SET code = (ARRAY['A01', 'B20.1', 'E11', 'J45'])[1 + id % 4], country = (ARRAY['DE', 'FR', 'US', 'JP'])[1 + id % 4], place = (id * 7919 % 1700) / 10.0 - 85 || ',' || (id * 104729 % 3500) / 10.0 - 175;
CREATE TABLE asked AS SELECT * FROM (VALUES ('age', '{"age": true}'::jsonb), ('born', '{"calendar": true}'), ('seen', '{"date": ["year"]}'), ('zip', '{"hipaa_zip3": true}'),
    ('income', '{"interval": [50000]}'), ('income', '{"interval": [50000], "lower": 30000, "upper": 90000}'), ('zip', '{"prefix": [2]}'), ('email', '{"prefix": [6]}'),
    ('ratio', '{"interval": [100]}'), ('amount', '{"interval": [100], "origin": 7}'), ('grade', '{"interval": [3]}'), ('born', '{"date": ["decade"]}'), ('born', '{"interval": [30]}'), ('code', '{"icd10": true}'), ('country', '{"iso3166": true}'),
    ('place', '{"grid": ["500 km"]}'), ('place', '{"grid": ["500 km"], "show": "polygon"}'), ('place', '{"grid": ["500 km"], "show": "code"}'), ('place', '{"grid": ["5 km"], "show": "geohash"}')) AS v (c, b);
CREATE FUNCTION alone_or_why(c text, b jsonb) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN alone(c, b); EXCEPTION WHEN others THEN RETURN sqlerrm; END $$;
SELECT c, b, alone_or_why(c, b) AS differ FROM asked;
-- no builder is left out: what kanon knows, but for quantile, which is above, and table, whose labels are somebody's own
CREATE FUNCTION hint_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN hint;
END $$;
SELECT m[1] AS left_out FROM regexp_matches(hint_of($q$SELECT FROM kanon_pattern_guided('people', 'x', '{age}', 5, hierarchies => '{"age": {"zzzzzzzzzzzz": 1}}')$q$), '"(\w+)"', 'g') AS m
WHERE m[1] NOT IN ('quantile', 'table') AND NOT EXISTS (SELECT FROM asked WHERE b ? m[1]);

-- models that make ranges and sets of the values: the page says how many of its cells show a value of few
CREATE FUNCTION told(c text) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce((s #>> ARRAY['claim', 'shows_few', c])::bigint, 0) FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d
    LEFT JOIN LATERAL jsonb_array_elements(d -> 'statements') s ON s ->> 'about' = 'ends' LIMIT 1 $$;
CREATE TABLE few AS SELECT * FROM people WHERE id <= 120;
CREATE FUNCTION shown(model text, options text) RETURNS TABLE (column_name text, of_few boolean, told_right boolean) LANGUAGE plpgsql AS $$
DECLARE
    c text;
BEGIN
    EXECUTE format('SELECT FROM kanon_%s(''few'', ''o'', ''{income,age,grade}'', 3, replace => true%s)', model, options);
    FOREACH c IN ARRAY '{income,age,grade}'::text[] LOOP
        column_name := c;
        of_few := counted(c) > 0;
        told_right := counted(c) = told(c);
        RETURN NEXT;
    END LOOP;
END $$;
-- by the rows alone: cells of more than one value with an end, both in the range, or an element that fewer than 3 rows have
CREATE FUNCTION counted(c text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    kind text := (SELECT typtype FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE attrelid = 'o'::regclass AND attname = c);
    elements text := CASE WHEN (SELECT atttypid::regtype::text ~ '\[\]$' FROM pg_attribute WHERE attrelid = 'o'::regclass AND attname = c) THEN '%1$I'
                          WHEN kind = 'r' THEN 'ARRAY[lower(%1$I), upper(%1$I) - 1]' ELSE 'ARRAY[]::int[]' END;
BEGIN
    EXECUTE format('SELECT count(*) FROM o, LATERAL (SELECT ' || elements || ' AS e) x WHERE (SELECT count(DISTINCT v) FROM unnest(e) v) > 1
        AND EXISTS (SELECT FROM unnest(e) AS v WHERE (SELECT count(*) FROM few WHERE %1$I = v) BETWEEN 1 AND 2)', c) INTO n;
    RETURN n;
END $$;
SELECT m, o, s.* FROM (VALUES ('cluster', ''), ('cluster', ', method => ''mondrian_relaxed'''), ('cluster', ', method => ''bottom_up'', show => ''set'''), ('cluster', ', method => ''forest'''),
    ('cluster', ', method => ''top_down'', show => ''suppress'''), ('cluster', ', method => ''gather'''), ('cluster', ', method => ''k_one'''), ('cluster', ', method => ''microaggregate'''),
    ('cluster', ', method => ''k_k'''), ('cluster', ', method => ''one_k'', show => ''set'''), ('freeform', ''), ('freeform', ', method => ''sort_greedy'''), ('freeform', ', method => ''hungarian'''), ('freeform', ', method => ''plain_sort_greedy'''), ('freeform', ', method => ''plain_hungarian'''),
    ('freeform', ', method => ''ring'''), ('freeform', ', method => ''concealment'''), ('freeform', ', method => ''min_cost_flow'''),
    ('subtree', ', hierarchies => ''{"income": {"quantile": [8, 4]}, "age": {"quantile": [4]}}''')) AS v (m, o), LATERAL shown(m, o) AS s;
-- no method that makes ranges is left out
SELECT m[1] AS left_out FROM regexp_matches(hint_of($q$SELECT FROM kanon_cluster('few', 'x', '{age}', 3, method => 'zzzzzzzzzzzz')$q$), '''(\w+)''', 'g') AS m
WHERE m[1] NOT IN ('mondrian', 'pairs', 'triples', 'k_one', 'mondrian_relaxed', 'bottom_up', 'forest', 'top_down', 'gather', 'microaggregate', 'k_k', 'one_k');
SELECT m[1] AS left_out FROM regexp_matches(hint_of($q$SELECT FROM kanon_freeform('few', 'x', '{age}', 3, method => 'zzzzzzzzzzzz')$q$), '''(\w+)''', 'g') AS m
WHERE m[1] NOT IN ('greedy', 'sort_greedy', 'hungarian', 'plain_sort_greedy', 'plain_hungarian', 'min_cost_flow', 'ring', 'concealment', 'mip' /* for few rows */);
-- pairs and triples are for k = 2 and 3
SELECT FROM kanon_cluster('few', 'o', '{income}', 2, method => 'pairs', replace => true);
SELECT count(*) > 0 AS of_few, count(*) = told('income') AS told_right FROM o, LATERAL (SELECT ARRAY[lower(income), upper(income) - 1] AS e) x WHERE e[1] < e[2] AND EXISTS (SELECT FROM unnest(e) v WHERE (SELECT count(*) FROM few WHERE income = v) = 1);
SELECT * FROM shown('cluster', ', method => ''triples''');
SELECT FROM kanon_cluster('few', 'o', '{income,sex}', 3, replace => true);
SELECT s ->> 'says' AS says FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'statements') s WHERE s ->> 'about' = 'ends';

-- masks: at least k rows show a bound that is a quantile; a median is told
SELECT FROM kanon_pattern_guided('people', 'o', '{sex}', 9, keep => '{income,ratio}', allow_identifying => '{income}', mask => '{"income": {"top": 0.999, "bottom": 0.001}, "ratio": {"microaggregate": 5, "show": "median"}}', replace => true);
SELECT (SELECT count(*) >= 9 FROM o WHERE income = (SELECT max(income) FROM o)) AS top, (SELECT count(*) >= 9 FROM o WHERE income = (SELECT min(income) FROM o)) AS bottom,
    (SELECT min(n) >= 5 FROM (SELECT count(*) AS n FROM o GROUP BY ratio) g) AS medians;
-- the same of every type that has bounds, and of persons: the bounds that are shown, and what they stand for
CREATE FUNCTION bound(c text, m jsonb, privacy jsonb[] DEFAULT NULL, whom text DEFAULT 'id') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    made text;
BEGIN
    EXECUTE format($q$SELECT FROM kanon_pattern_guided('people', 'o', '{sex}', 9, keep => '{id,%1$s}', allow_identifying => '{id,%1$s}', mask => '{"%1$s": %2$s}', privacy => $1, replace => true)$q$, c, m) USING privacy;
    -- extremes that fewer than 9 rows or persons show or have
    EXECUTE format($q$SELECT string_agg(n || CASE WHEN n >= 9 THEN ' show it' ELSE ' SHOW IT' END, ', ') FROM (SELECT count(DISTINCT p.%3$I) AS n FROM o JOIN people p USING (id)
        WHERE %2$s GROUP BY o.%1$I) g$q$, c, concat_ws(' OR ', CASE WHEN m ? 'top' THEN format('o.%1$I = (SELECT max(%1$I) FROM o)', c) END, CASE WHEN m ? 'bottom' THEN format('o.%1$I = (SELECT min(%1$I) FROM o)', c) END), whom) INTO made;
    RETURN made;
EXCEPTION WHEN others THEN RETURN sqlerrm;
END $$;
SELECT c, bound(c, '{"top": 0.999}') AS top, bound(c, '{"bottom": 0.001}') AS bottom, bound(c, '{"top": 0.9, "bottom": 0.1}') AS both FROM unnest('{income,ratio,amount,born,seen,age}'::text[]) AS c;
UPDATE people SET person = 'P' || id % 30 WHERE income < 40000;
SELECT c, bound(c, '{"top": 0.999}', ARRAY[kanon_subject('person')], 'person') AS top, bound(c, '{"bottom": 0.001}', ARRAY[kanon_subject('person')], 'person') AS bottom FROM unnest('{income,born}'::text[]) AS c;
-- means of groups that are one value of few: the group is that of equal values
SELECT FROM kanon_pattern_guided('people', 'o', '{sex}', 9, keep => '{ratio}', mask => '{"ratio": {"microaggregate": 9}}', replace => true);
SELECT min(n) >= 9 AS means FROM (SELECT count(*) AS n FROM o GROUP BY ratio) g;
SELECT FROM kanon_pattern_guided('people', 'o', '{sex}', 9, keep => '{income,ratio}', allow_identifying => '{income}', mask => '{"income": {"top": 0.999, "bottom": 0.001}, "ratio": {"microaggregate": 5, "show": "median"}}', replace => true);
SELECT s ->> 'says' LIKE '%the median of at least 5 rows, the exact value of one of them%' AS told FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'statements') s WHERE s ->> 'says' LIKE 'Published beside%';
DROP SCHEMA ends_test CASCADE;
