-- kept columns come out in one spelling per value: the most frequent, whatever masks do
CREATE SCHEMA spelling_test;
SET search_path = spelling_test, public;
SET IntervalStyle = 'postgres';
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE pair AS (a numeric, b text);
CREATE DOMAIN share AS numeric;
-- one row of forty spells its values in a way of its own
CREATE TABLE odd AS SELECT i, i % 2 AS q, CASE WHEN i = 7 THEN 1.00 ELSE 1.0 END AS n, (CASE WHEN i = 7 THEN 1.00 ELSE 1.0 END)::share AS d,
    CASE WHEN i = 7 THEN '-0' ELSE '0' END::float8 AS f, CASE WHEN i = 7 THEN '-0' ELSE '0' END::float4 AS f4,
    CASE WHEN i = 7 THEN interval '30 days' ELSE interval '1 mon' END AS v, CASE WHEN i = 7 THEN '{"a": 1.00}' ELSE '{"a": 1.0}' END::jsonb AS j,
    (CASE WHEN i = 7 THEN 'ILL' ELSE 'ill' END)::text COLLATE nocase AS c, CASE WHEN i = 7 THEN '{1.00,2}' ELSE '{1.0,2}' END::numeric[] AS a,
    CASE WHEN i = 7 THEN '[1.00,2]' ELSE '[1.0,2]' END::numrange AS r, (CASE WHEN i = 7 THEN '(1.00,x)' ELSE '(1.0,x)' END)::pair AS p,
    CASE WHEN i = 7 THEN '12:00+01' ELSE '11:00+00' END::timetz AS t, (CASE WHEN i = 7 THEN 'ab  ' ELSE 'ab' END)::bpchar AS b
FROM generate_series(1, 40) i;
CREATE FUNCTION forms(relation regclass) RETURNS TABLE (col name, forms bigint, most text) LANGUAGE plpgsql AS $$
BEGIN
    FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND attname <> 'q' ORDER BY attnum LOOP
        RETURN QUERY EXECUTE format('SELECT %L::name, count(DISTINCT md5(format(''[%%s]'', %I))), mode() WITHIN GROUP (ORDER BY format(''[%%s]'', %I) COLLATE "C") FROM %s', col, col, col, relation);
    END LOOP;
END $$;
-- as they are in the source
SELECT * FROM forms('odd');
SELECT FROM kanon_pattern_guided('odd', 'p1', '{q}', 5, keep => '{n,d,f,f4,v,j,c,a,r,p,t,b}');
SELECT * FROM forms('p1');
-- the same within arrays, ranges and composites
CREATE TYPE reading AS (a float8, b text COLLATE nocase);
CREATE TABLE within AS SELECT i % 2 AS q, CASE WHEN i = 7 THEN '{[1.00,2]}' ELSE '{[1.0,2]}' END::nummultirange AS m, CASE WHEN i = 7 THEN '{30 days}' ELSE '{1 mon}' END::interval[] AS v,
    CASE WHEN i = 7 THEN '{"{\"a\": [1.00]}"}' ELSE '{"{\"a\": [1.0]}"}' END::jsonb[] AS j, ARRAY[CASE WHEN i = 7 THEN '(1.00,x)' ELSE '(1.0,x)' END::pair] AS p,
    CASE WHEN i = 7 THEN '{-0}' ELSE '{0}' END::float8[] AS f, CASE WHEN i = 7 THEN '(-0,A)' ELSE '(0,a)' END::reading AS r, CASE WHEN i = 7 THEN '{"ab "}' ELSE '{ab}' END::bpchar[] AS b,
    CASE WHEN i = 7 THEN '{A}' ELSE '{a}' END::text[] COLLATE nocase AS c FROM generate_series(1, 40) i;
SELECT string_agg(col || ' ' || forms, ', ') FROM forms('within');
SELECT FROM kanon_pattern_guided('within', 'p19', '{q}', 5, keep => '{m,v,j,p,f,r,b,c}');
SELECT string_agg(col || ' ' || forms, ', ') FROM forms('p19');
-- every model; the odd row is alone in its group, class or part
SELECT FROM kanon_cluster('odd', 'p2', '{q}', 5, 'mondrian', keep => '{n,f,j,c}');
SELECT FROM kanon_full_domain('odd', 'p3', '{q}', 5, keep => '{n,f,j,c}');
SELECT FROM kanon_freeform('odd', 'p4', '{q}', 5, keep => '{n,f,j,c}');
SELECT FROM kanon_pattern_guided('odd', 'p5', '{q}', 5, keep => '{n,f,j,c}', partition_by => 'q');
SELECT target, bool_and(forms = 1) AS one FROM (SELECT 'p2' AS target, * FROM forms('p2') UNION ALL SELECT 'p3', * FROM forms('p3') UNION ALL SELECT 'p4', * FROM forms('p4') UNION ALL SELECT 'p5', * FROM forms('p5')) AS f GROUP BY 1 ORDER BY 1;
CREATE TABLE baskets AS SELECT ARRAY['a', 'b'] AS items, * FROM odd;
SELECT FROM kanon_transactions('baskets', 'p6', 'items', 5, keep => '{n,c}');
SELECT * FROM forms('p6');
SELECT FROM kanon_anatomy('odd', 'p7', 'p7_sensitive', '{n,c}', 'q', 2);
SELECT n::text, c, count(*) FROM p7 GROUP BY 1, 2;
-- a key beside, and a publication
SELECT kanon_create_publication('p8', 'odd', '{q}', 5, '{"keep": ["n", "c"]}', key => 'i');
SELECT * FROM forms('p8');
SELECT kanon_drop_publication('p8');
-- the most frequent of all rows, not of a class: where a value is a class's only one it would be the row's own
CREATE TABLE rare AS SELECT i % 10 AS q, CASE WHEN i % 10 = 3 THEN CASE WHEN i = 3 THEN 5.00 ELSE 6.0 END ELSE CASE WHEN i % 3 = 0 THEN 5.000 ELSE 5.0 END END AS n FROM generate_series(1, 100) i;
SELECT FROM kanon_pattern_guided('rare', 'p9', '{q}', 5, keep => '{n}');
SELECT n::text, count(*) FROM p9 GROUP BY 1 ORDER BY 1;
-- equally frequent: the least, whatever the order of rows
CREATE TABLE even AS SELECT i % 2 AS q, CASE WHEN i % 4 < 2 THEN 1.0 ELSE 1.00 END AS n FROM generate_series(1, 40) i;
CREATE VIEW turned AS SELECT * FROM even ORDER BY n::text DESC;
SELECT FROM kanon_pattern_guided('even', 'p10', '{q}', 5, keep => '{n}');
SELECT FROM kanon_pattern_guided('turned', 'p11', '{q}', 5, keep => '{n}');
SELECT 'even' AS of, n::text, count(*) FROM p10 GROUP BY 2 UNION ALL SELECT 'turned', n::text, count(*) FROM p11 GROUP BY 2;
-- masks: a value below the bound, at it, rounded to nothing, a bound of the rows' own, part of a text
CREATE TABLE costs AS SELECT i % 2 AS q, CASE WHEN i = 9 THEN 100.000 WHEN i % 4 = 0 THEN 100.00 WHEN i = 7 THEN 1.00 ELSE 1.0 END AS cost, CASE WHEN i = 9 THEN 100.000 WHEN i % 4 = 0 THEN 100.00 WHEN i = 7 THEN 1.00 ELSE 1.0 END AS fee,
    (CASE WHEN i = 7 THEN -0.3 ELSE 0.3 END)::float8 AS f, (CASE WHEN i = 7 THEN 'Anna-Maria' ELSE 'anna-maria' END)::text COLLATE nocase AS c FROM generate_series(1, 40) i;
SELECT FROM kanon_pattern_guided('costs', 'p12', '{q}', 5, keep => '{cost,fee,f,c}', mask => '{"cost": {"top": 100}, "fee": {"top": {"quantile": 0.9}}, "f": {"round": 1}, "c": {"partial": [2, 2]}}');
SELECT cost::text, fee::text, f, c, count(*) FROM p12 GROUP BY 1, 2, 3, 4 ORDER BY 1;
SELECT pg_get_expr(adbin, adrelid) IS NULL AS plain, attcollation::regcollation FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid WHERE attrelid = 'p12'::regclass AND attname = 'c';
-- types without equality: who wrote a value, and how, cannot be taken from it
CREATE TABLE unequal AS SELECT i % 2 AS q, ('{"a":' || repeat(' ', (i = 7)::int) || '1}')::json AS j, point(0, 0) AS o FROM generate_series(1, 40) i;
SELECT FROM kanon_pattern_guided('unequal', 'p13', '{q}', 5, keep => '{j}');
SELECT FROM kanon_pattern_guided('unequal', 'p13', '{q}', 5, keep => '{o}');
SELECT FROM kanon_pattern_guided('unequal', 'p13', '{q}', 5, keep => '{j}', mask => '{"j": "pseudonym"}');
SELECT FROM kanon_pattern_guided('unequal', 'p14', '{q}', 5, keep => '{j}', allow_identifying => '{j}');
-- times with zones: one moment is one value, as a quasi-identifier and for rules, too; within other types PostgreSQL compares them
CREATE TYPE slot AS (day date, at timetz);
CREATE TYPE hours AS RANGE (subtype = timetz);
CREATE TABLE zones AS SELECT i, i % 2 AS q, (CASE WHEN i % 3 = 0 THEN '12:00+01' ELSE '11:00+00' END)::timetz AS t,
    ARRAY[CASE WHEN i = 7 THEN '12:00+01' ELSE '11:00+00' END::timetz] AS a FROM generate_series(1, 40) i;
CREATE VIEW zoned AS SELECT q, i, t, ROW('2026-01-01', a[1])::slot AS s, ARRAY[ROW('2026-01-01', a[1])::slot] AS l, hours(a[1], a[1], '[]') AS h, hours_multirange(hours(a[1], a[1], '[]')) AS m FROM zones;
SELECT FROM kanon_pattern_guided('zones', 'p13', '{q}', 5, keep => '{a}');
SELECT FROM kanon_pattern_guided('zoned', 'p13', '{q}', 5, keep => '{s}');
SELECT FROM kanon_pattern_guided('zoned', 'p13', '{q}', 5, keep => '{l}');
SELECT FROM kanon_pattern_guided('zoned', 'p13', '{q}', 5, keep => '{h}');
SELECT FROM kanon_pattern_guided('zoned', 'p13', '{q}', 5, keep => '{m}');
SELECT FROM kanon_pattern_guided('zones', 'p18', '{q}', 5, keep => '{t}', privacy => ARRAY[kanon_distinct_l('t', 2)]);
SELECT classes FROM kanon_pattern_guided('zones', 'p17', '{q,t}', 5);
SELECT q, t, count(*) FROM p17 GROUP BY 1, 2 ORDER BY 1;
CREATE VIEW equal AS SELECT q, j::jsonb FROM unequal;
SELECT FROM kanon_pattern_guided('equal', 'p15', '{q}', 5, keep => '{j}');
SELECT j, count(*) FROM p15 GROUP BY 1;
-- values that are many and long, within the memory that kanon may take
SET kanon.max_memory = '2MB';
CREATE TABLE many AS SELECT i % 2 AS q, (i / 2)::numeric / 8 AS n, jsonb_build_object('x', i / 2) AS j FROM generate_series(1, 100000) i;
\set VERBOSITY terse
SELECT FROM kanon_pattern_guided('many', 'p16', '{q}', 5, keep => '{n,j}');
RESET kanon.max_memory;
SELECT FROM kanon_pattern_guided('many', 'p16', '{q}', 5, keep => '{n,j}');
DROP SCHEMA spelling_test CASCADE;
