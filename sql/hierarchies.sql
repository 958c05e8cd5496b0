-- hierarchies: what the check finds, what the builders write, and bad input
CREATE SCHEMA hierarchy_test;
SET search_path = hierarchy_test, public;
SET TimeZone = 'UTC';
SET extra_float_digits = 0;
SET DateStyle = 'ISO';

CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s: %s%s\nHINT: %s', SQLSTATE, message, coalesce(E'\nDETAIL: ' || nullif(detail, ''), ''), hint);
END $$;

-- ---- the check ----

CREATE TABLE people (age int, sex text, zip text);
INSERT INTO people VALUES (1, 'm', 'a'), (1, 'f', 'a'), (2, 'm', 'b'), (3, 'm', 'c'), (NULL, NULL, 'd');
-- as ARX has it: text, whatever the column is; a NULL needs no line, other lines are ignored
CREATE TABLE age_arx (v text, l1 text, l2 text);
INSERT INTO age_arx VALUES ('1', '0-1', '*'), ('2', '2-3', '*'), ('3', '2-3', '*'), ('4', '4-5', '*');
SELECT * FROM kanon_check_hierarchy('age_arx', 'people', 'age');
SELECT * FROM kanon_check_hierarchy('age_arx', 'people', 'age', with_values => true);
-- but NULL may have one, in which it stays NULL up to some level
INSERT INTO age_arx VALUES (NULL, NULL, '*');
SELECT fault FROM kanon_check_hierarchy('age_arx', 'people', 'age');
-- a line each: 2 has two parents (and 3 rows are of 1 and 2), 3 is missing, 1 is there twice
CREATE TABLE age_wrong (v int, l1 text, l2 text);
INSERT INTO age_wrong VALUES (1, 'p', 'x'), (2, 'p', 'x'), (2, 'q', 'x'), (1, 'p', 'x'), (9, 'q', 'x');
SELECT * FROM kanon_check_hierarchy('age_wrong', 'people', 'age');
SELECT fault, shown FROM kanon_check_hierarchy('age_wrong', 'people', 'age', true);
-- a node with two parents; at the level above its nodes nest; 1 and 3: three rows
CREATE TABLE age_loose (v int, l1 text, l2 text, l3 text);
INSERT INTO age_loose VALUES (1, 'p', 'x', 'u'), (3, 'p', 'y', 'w'), (2, 'q', 'y', 'w');
SELECT fault, level, fault_count, row_count, detail, shown FROM kanon_check_hierarchy('age_loose', 'people', 'age', true);
-- lines that end early, or have holes, or have a NULL that comes back
CREATE TABLE age_short (v int, l1 text, l2 text);
INSERT INTO age_short VALUES (1, 'p', NULL), (2, NULL, 'y'), (3, 'r', 'y'), (NULL, 'z', NULL);
SELECT fault, level, fault_count, row_count, detail, shown FROM kanon_check_hierarchy('age_short', 'people', 'age', true);
-- ranges that do not hold their value; an empty one holds none, and none holds NULL
CREATE TABLE age_range (v int, r1 int4range, r2 int4range);
INSERT INTO age_range VALUES (1, '[0,2)', '[0,4)'), (2, '[3,4)', '[0,4)'), (3, 'empty', '[0,3)'), (NULL, '(,)', '[0,4)');
SELECT fault, level, fault_count, row_count, detail, shown FROM kanon_check_hierarchy('age_range', 'people', 'age', true);
-- the same with the values as text: only of values that there are anything is known
CREATE VIEW age_range_text AS SELECT v::text AS v, r1, r2 FROM age_range UNION ALL SELECT '77', '[5,6)', '[0,4)';
SELECT fault, level, fault_count FROM kanon_check_hierarchy('age_range_text', 'people', 'age');
-- nothing depends on the order of lines
CREATE VIEW age_wrong_back AS SELECT * FROM age_wrong ORDER BY v DESC, l1 DESC;
SELECT count(*) FROM (SELECT * FROM kanon_check_hierarchy('age_wrong', 'people', 'age', true)
    EXCEPT SELECT * FROM kanon_check_hierarchy('age_wrong_back', 'people', 'age', true)) d;
-- a fault is found wherever its line is: the same when each line in turn is read first, or last
CREATE FUNCTION turned(hierarchy name) RETURNS TABLE (hierarchy_name name, orders bigint, others bigint) LANGUAGE plpgsql AS $$
DECLARE
    lines bigint;
    found text;
BEGIN
    EXECUTE format('SELECT count(*) FROM %I', hierarchy) INTO lines;
    orders := 0; others := 0; hierarchy_name := hierarchy;
    FOR shift IN 0..lines - 1 LOOP
        EXECUTE format('CREATE TEMP TABLE turned_lines AS SELECT * FROM %I AS h ORDER BY (row_number() OVER (ORDER BY h::text) + %s) %% %s',
            hierarchy, shift, lines);
        EXECUTE format($f$ SELECT string_agg(format('%%s %%s %%s %%s %%s', fault, level, fault_count, row_count, detail), '; ' ORDER BY fault, level)
            FROM kanon_check_hierarchy('turned_lines', 'people', 'age') $f$) INTO found;
        orders := orders + 1;
        others := others + (found IS DISTINCT FROM (SELECT string_agg(format('%s %s %s %s %s', fault, level, fault_count, row_count, detail), '; '
            ORDER BY fault, level) FROM kanon_check_hierarchy(hierarchy::text::regclass, 'people', 'age')))::int;
        DROP TABLE turned_lines;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT t.* FROM unnest('{age_arx,age_wrong,age_loose,age_short,age_range,age_range_text}'::name[]) h, turned(h) t;
-- ends: no lines, no rows
CREATE TABLE age_none (v int, l1 text);
SELECT fault, fault_count FROM kanon_check_hierarchy('age_none', 'people', 'age');
CREATE TABLE nobody (LIKE people);
SELECT fault, fault_count FROM kanon_check_hierarchy('age_arx', 'nobody', 'age');
SELECT fault, fault_count FROM kanon_check_hierarchy('age_none', 'nobody', 'age');

-- ---- types of values and levels ----

CREATE DOMAIN years AS smallint CHECK (VALUE < 200);
CREATE TABLE typed (y years, c char(5), n numeric, d date, f float8, e bytea, tz timestamptz);
INSERT INTO typed VALUES (1, 'ab', 1.0, '2020-02-29', 0.1, '\x01', '2020-01-01'), (2, 'b', 1.00, '2020-03-01', 1e300, '\x02', 'infinity');
-- smallint in ranges of int; char without its padding; equal numbers are one value
CREATE TABLE y_h (v smallint, r int4range);
INSERT INTO y_h VALUES (1, '[0,2)'), (2, '[2,4)');
CREATE TABLE c_h (v text, l varchar(3), m text);
INSERT INTO c_h VALUES ('ab', 'a', 'x'), ('b', 'b', 'x');
CREATE TABLE n_h (v numeric, r numrange);
INSERT INTO n_h VALUES (1, '[0,2)'), (1.000, '[0,2)');
-- dates in ISO form and all digits of a float, whatever the session likes
CREATE TABLE d_h (v text, l text);
INSERT INTO d_h VALUES ('2020-02-29', 'feb'), ('2020-03-01', 'mar');
CREATE TABLE f_h (v text, l int);
INSERT INTO f_h VALUES ('0.1', 1), ('1e+300', 2);
SET DateStyle = 'SQL, DMY';
SELECT h, f.fault, f.fault_count FROM (VALUES ('y_h', 'y'), ('c_h', 'c'), ('n_h', 'n'), ('d_h', 'd'), ('f_h', 'f')) v (h, c)
LEFT JOIN LATERAL kanon_check_hierarchy(h, 'typed', c) f ON true ORDER BY 1;
SET DateStyle = 'ISO';
-- a range type of one's own
CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
CREATE TABLE zip_h (v text, r textrange);
INSERT INTO zip_h VALUES ('a', '[a,c)'), ('b', '[a,c)'), ('c', '[a,c)'), ('d', '[c,e)');
SELECT fault, level, fault_count, shown FROM kanon_check_hierarchy('zip_h', 'people', 'zip', true);

-- ---- builders ----

CREATE TABLE things (i int, s smallint, b bigint, n numeric, f float8, r real, d date, ts timestamp, tz timestamptz, zip text, ip inet);
INSERT INTO things VALUES
    (37, 37, 37, 49.70, 49.99999999999999, 0.3, '2020-02-29', '1999-12-31 23:59:59.999999', '2020-01-01 00:30+01', '48204', '10.1.2.3'),
    (-3, -3, -3, -0.01, -0.1, -0.1, '1969-12-31', '1969-12-31 12:00', '1970-01-01 00:00+00', '48305', '10.1.2.4/16'),
    (2147483647, 32767, 9223372036854775807, 'NaN', 'NaN', 'Infinity', 'infinity', '-infinity', '294276-12-31 23:00+00', '1', '::1'),
    (-2147483648, -32768, -9223372036854775808, 10, '-Infinity', 10, '4714-11-24 BC', '4714-11-24 BC', 'infinity', '', '2001:db8::1'),
    (37, 37, 37, 49.7, 49.99999999999999, 0.3, '2020-02-29', '1999-12-31 23:59:59.999999', '2020-01-01 00:30+01', '48204', '10.1.2.3');
INSERT INTO things DEFAULT VALUES;
-- [-3,10) of anon is [0,10), and 49.7 in [50,60): not here
SELECT kanon_hierarchy_interval('things', 'i', 'i_i', '{5,10,20}');
TABLE i_i;
SELECT kanon_hierarchy_interval('things', 's', 'i_s', '{5,10}', 1);
TABLE i_s;
SELECT kanon_hierarchy_interval('things', 'b', 'i_b', '{5,10}');
TABLE i_b;
SELECT kanon_hierarchy_interval('things', 'n', 'i_n', '{0.5,10}', origin => 0.25);
SELECT value::float8, level1, level2 FROM i_n;
-- no range type of floats: labels
SELECT kanon_hierarchy_interval('things', 'f', 'i_f', '{10,20}');
TABLE i_f;
SELECT kanon_hierarchy_interval('things', 'r', 'i_r', '{0.1,20}');
TABLE i_r;
-- weeks from Monday; days may be parts for timestamps
SELECT kanon_hierarchy_interval('things', 'd', 'i_d', '{7,28}', 4);
TABLE i_d;
SELECT kanon_hierarchy_interval('things', 'ts', 'i_ts', '{0.5,7}', 4);
TABLE i_ts;
SET TimeZone = 'America/Havana';
SELECT kanon_hierarchy_interval('things', 'tz', 'i_tz', '{0.5,7}', 4);
SET TimeZone = 'UTC';
TABLE i_tz;
SELECT kanon_hierarchy_prefix('things', 'zip', 'p_zip', '{3,1}');
TABLE p_zip;
SELECT kanon_hierarchy_prefix('things', 's', 'p_s', '{2}');
TABLE p_s;
SELECT kanon_hierarchy_prefix('things', 'ip', 'p_ip', '{24,16,8}');
TABLE p_ip;
SELECT kanon_hierarchy_date('things', 'd', 'd_d');
TABLE d_d;
SELECT kanon_hierarchy_date('things', 'ts', 'd_ts', '{hour,day,week}');
TABLE d_ts;
SET TimeZone = 'America/Havana';
SELECT kanon_hierarchy_date('things', 'tz', 'd_tz', '{month,year,century,millennium}');
SET TimeZone = 'UTC';
TABLE d_tz;
-- ends stay open, 37 is there twice: of 5 rows it has the third and fourth
SELECT kanon_hierarchy_quantile('things', 'i', 'q_i', '{4,2}');
TABLE q_i;
SELECT kanon_hierarchy_quantile('things', 'zip', 'q_zip', '{4,2}');
TABLE q_zip;
SELECT kanon_hierarchy_quantile('things', 'f', 'q_f', '{2}');
TABLE q_f;
SELECT kanon_hierarchy_quantile('things', 'd', 'q_d', '{2}');
TABLE q_d;

-- a lookup that points to its parents; the root may point to itself
CREATE TABLE geo (id int, up int, name text, n2 text);
INSERT INTO geo VALUES (1, 1, 'World'), (2, 1, 'Europe'), (3, 2, 'France'), (4, 2, 'Spain'), (5, 1, 'Asia'), (6, 5, 'Japan'), (7, 6, 'Tokyo'), (8, NULL, 'Moon');
CREATE TABLE lives (place bigint);
INSERT INTO lives VALUES (3), (4), (7), (5), (1), (8), (NULL), (3);
SELECT kanon_hierarchy_from_fk('lives', 'place', 'k_geo', 'geo', 'id', 'up', 'name');
TABLE k_geo;
SELECT kanon_hierarchy_from_fk('lives', 'place', 'k_ids', 'geo', key => 'id', parent => 'up');
TABLE k_ids;
-- whatever the collations are
CREATE VIEW places AS SELECT place::text COLLATE "POSIX" AS place FROM lives;
CREATE VIEW geo_c AS SELECT id::text COLLATE "C" AS id, up::text COLLATE "POSIX" AS up, name FROM geo;
SELECT kanon_hierarchy_from_fk('places', 'place', 'k_places', 'geo_c', 'id', 'up', 'name');
SELECT count(*) FROM k_places p JOIN k_geo g ON p.value COLLATE "C" = g.value::text AND (p.level1, p.level2, p.level3) = (g.level1, g.level2, g.level3);
-- paths: of the column itself, or of a lookup whose column is an ltree
SET client_min_messages = warning;
CREATE EXTENSION ltree SCHEMA public;
RESET client_min_messages;
CREATE TABLE taxa (id int, path ltree);
INSERT INTO taxa VALUES (3, 'W.E.F'), (4, 'W.E.S'), (7, 'W.A.J.T'), (5, 'W.A'), (1, 'W'), (8, 'M');
SELECT kanon_hierarchy_from_fk('lives', 'place', 'k_taxa', 'taxa', 'id', 'path');
TABLE k_taxa;
CREATE VIEW paths AS SELECT path, path::text AS dotted FROM taxa WHERE id IN (3, 4, 8);
SELECT kanon_hierarchy_from_fk('paths', 'path', 'k_path', replace => false);
TABLE k_path;
SELECT kanon_hierarchy_from_fk('paths', 'dotted', 'k_dotted');
SELECT count(*) FROM k_path JOIN k_dotted ON k_path.value::text = k_dotted.value AND k_path.level1 = k_dotted.level1 AND k_path.level2 = k_dotted.level2;

-- none of them has a fault, not even an unused line
CREATE TABLE built (h text, source text, c name);
INSERT INTO built VALUES ('i_i', 'things', 'i'), ('i_s', 'things', 's'), ('i_b', 'things', 'b'), ('i_n', 'things', 'n'), ('i_f', 'things', 'f'),
    ('i_r', 'things', 'r'), ('i_d', 'things', 'd'), ('i_ts', 'things', 'ts'), ('i_tz', 'things', 'tz'), ('p_zip', 'things', 'zip'),
    ('p_s', 'things', 's'), ('p_ip', 'things', 'ip'), ('d_d', 'things', 'd'), ('d_ts', 'things', 'ts'), ('d_tz', 'things', 'tz'),
    ('q_i', 'things', 'i'), ('q_zip', 'things', 'zip'), ('q_f', 'things', 'f'), ('q_d', 'things', 'd'), ('k_geo', 'lives', 'place'),
    ('k_ids', 'lives', 'place'), ('k_taxa', 'lives', 'place'), ('k_path', 'paths', 'path'), ('k_dotted', 'paths', 'dotted');
SELECT count(*), count(f.fault) FROM built LEFT JOIN LATERAL kanon_check_hierarchy(h, source, c) f ON true;

-- the same by SQL, on many values: intervals hold their value, are as wide as asked
-- for, begin at origin plus multiples, and nest
CREATE TABLE many AS SELECT (i * 7919) % 2003 - 1000 AS i, ((i * 104729) % 20011 - 10000) / 7.0::float8 AS f,
    (((i * 104729) % 20011 - 10000) / 7.0)::numeric(20, 6) AS n, date '1950-01-01' + (i * 7919) % 40009 AS d,
    timestamp '1999-12-31 22:00' + (i * 104729) % 5000011 * interval '61.5 s' AS ts FROM generate_series(1, 3000) i;
SELECT kanon_hierarchy_interval('many', 'i', 'm_i', '{3,12,60}', -7), kanon_hierarchy_interval('many', 'f', 'm_f', '{0.3,12,60}', -0.1),
    kanon_hierarchy_interval('many', 'n', 'm_n', '{0.3,12,60}', -0.1), kanon_hierarchy_interval('many', 'd', 'm_d', '{3,12,60}', -7),
    kanon_hierarchy_interval('many', 'ts', 'm_ts', '{0.25,2}', 0.125), kanon_hierarchy_date('many', 'd', 'm_dd', '{month,quarter,year,century}'),
    kanon_hierarchy_quantile('many', 'i', 'm_q', '{60,20,4}', k => 1);
SELECT bool_and(level1 @> value AND upper(level1) - lower(level1) = 3 AND (lower(level1) + 7) % 3 = 0
            AND level2 @> level1 AND upper(level2) - lower(level2) = 12 AND (lower(level2) + 7) % 12 = 0
            AND level3 @> level2 AND upper(level3) - lower(level3) = 60 AND (lower(level3) + 7) % 60 = 0) AS ints FROM m_i;
SELECT bool_and(level1 @> value AND upper(level1) - lower(level1) = 0.3 AND (lower(level1) + 0.1) % 0.3 = 0
            AND level2 @> level1 AND upper(level2) - lower(level2) = 12 AND (lower(level2) + 0.1) % 12 = 0) AS numerics FROM m_n;
SELECT bool_and(level1::numrange @> value::text::numeric AND upper(level1::numrange) - lower(level1::numrange) = 0.3
            AND level2::numrange @> level1::numrange) AS floats FROM m_f;
SELECT bool_and(level1 @> value AND upper(level1) - lower(level1) = 3 AND (lower(level1) - date '1970-01-01' + 7) % 3 = 0
            AND level2 @> level1 AND upper(level2) - lower(level2) = 12) AS dates FROM m_d;
SELECT bool_and(level1 @> value AND upper(level1) - lower(level1) = interval '6 hours' AND extract(hour FROM lower(level1))::int % 6 = 3
            AND level2 @> level1 AND upper(level2) - lower(level2) = interval '2 days') AS timestamps FROM m_ts;
SELECT bool_and(level1 = daterange(date_trunc('month', value)::date, (date_trunc('month', value) + interval '1 month')::date)
            AND extract(quarter FROM lower(level2)) = extract(quarter FROM value) AND level2 @> level1
            AND lower(level3) = make_date(extract(year FROM value)::int, 1, 1) AND level3 @> level2
            AND level4 = CASE WHEN value < '2001-01-01' THEN daterange('1901-01-01', '2001-01-01') ELSE daterange('2001-01-01', '2101-01-01') END) AS calendar FROM m_dd;
-- quantiles: so many groups, each within one value's rows of the equal share
SELECT count(DISTINCT level1) AS n1, count(DISTINCT level2) AS n2, count(DISTINCT level3) AS n3, bool_and(level1 @> value AND level2 @> level1 AND level3 @> level2) AS nested FROM m_q;
SELECT bool_and(abs(n - 3000 / 20) <= (SELECT max(n) FROM (SELECT count(*) AS n FROM many GROUP BY i) v)) AS equal
FROM (SELECT count(*) AS n FROM many JOIN m_q ON value = i GROUP BY level2) g;

-- t-closeness measures along a hierarchy of ranges, too; by hand as in sql/risk.sql
CREATE TABLE leaves (class int, v int);
INSERT INTO leaves VALUES (1, 1), (1, 2), (2, 3);
CREATE TABLE v_h (v int, r int4range, top int4range);
INSERT INTO v_h VALUES (1, '[0,2)', '(,)'), (2, '[2,4)', '(,)'), (3, '[2,4)', '(,)'), (4, '[4,6)', '(,)');
SELECT round(value::numeric, 4) AS v FROM kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "v_h"}') WHERE measure = 't_hierarchical';
-- a last level in which all agree is suppression; one below it is a level, by which all is further away
CREATE VIEW v_tops AS SELECT v, r, '*'::text AS t FROM v_h;
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "v_tops"}') $$);
CREATE VIEW v_text AS SELECT v::text, r::text, 'all' AS t1, NULL AS t2, '*' AS t3 FROM v_h;
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "v_text"}') $$);
CREATE OR REPLACE VIEW v_text AS SELECT v::text, r::text, 'all' AS t1, 'all' AS t2, '*' AS t3 FROM v_h;
SELECT round(value::numeric, 4) AS v FROM kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "v_text"}') WHERE measure = 't_hierarchical';

-- ---- whose rights, which names ----

-- replace: owner and grants stay
CREATE ROLE kanon_test_builder;
GRANT SELECT ON i_i TO kanon_test_builder;
SELECT kanon_hierarchy_interval('things', 'i', 'i_i', '{1000}', replace => true);
TABLE i_i;
SELECT has_table_privilege('kanon_test_builder', 'i_i', 'SELECT');
-- odd names; a view that relies on the search_path; nothing else is found through it
CREATE TABLE "Odd; --" ("The ""value""" int);
INSERT INTO "Odd; --" VALUES (5);
SELECT kanon_hierarchy_interval('"Odd; --"', 'The "value"', '"H; --"', '{10}');
TABLE "H; --";
SELECT fault FROM kanon_check_hierarchy('"H; --"', '"Odd; --"', 'The "value"');
CREATE FUNCTION here() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT min(i) FROM many); END';
CREATE VIEW relies AS SELECT here() AS v;
SELECT kanon_hierarchy_interval('relies', 'v', 'h_relies', '{10}');
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.div(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 5.0';
CREATE FUNCTION hostile.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE sql AS 'SELECT $1[1]';
CREATE FUNCTION hostile.count() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION hostile.add(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 5.0';
CREATE OPERATOR hostile.+ (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = hostile.add);
SET search_path = hostile, pg_catalog, hierarchy_test, public;
SELECT kanon_hierarchy_interval('things', 'i', 'hierarchy_test.hostile_i', '{5,10,20}');
SET search_path = hierarchy_test, public;
SELECT * FROM hostile_i;
-- as somebody with few rights
GRANT USAGE, CREATE ON SCHEMA hierarchy_test TO kanon_test_builder;
GRANT SELECT (age) ON people TO kanon_test_builder;
GRANT SELECT (v, l1) ON age_arx TO kanon_test_builder;
SET ROLE kanon_test_builder;
SELECT kanon_hierarchy_interval('people', 'age', 'mine', '{2}');
SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'mine'::regclass;
SELECT fault FROM kanon_check_hierarchy('mine', 'people', 'age');
\set SHOW_CONTEXT never
SELECT kanon_hierarchy_interval('things', 'i', 'mine2', '{2}');
SELECT kanon_hierarchy_from_fk('people', 'age', 'mine2', 'geo', 'id', 'up');
SELECT kanon_check_hierarchy('age_arx', 'people', 'age');
SELECT kanon_check_hierarchy('mine', 'things', 'i');
SELECT kanon_hierarchy_interval('people', 'age', 'i_i', '{2}', replace => true);
SELECT kanon_hierarchy_interval('people', 'age', 'pg_catalog.mine', '{2}');
RESET ROLE;
BEGIN READ ONLY;
SELECT count(*) FROM kanon_check_hierarchy('age_arx', 'people', 'age');
ROLLBACK;

-- ---- bad input ----

CREATE TABLE one (v int);
CREATE TABLE mixed (v int, l1 int4range, l2 text);
CREATE TABLE unlike (v int, l1 int, l2 text);
CREATE TABLE shapeless (v int, l1 json, l2 json);
CREATE TABLE big_range (v int, r int8range);
CREATE TABLE value_date (v date, l text);
DO $$ BEGIN EXECUTE 'CREATE TABLE tall AS SELECT v' || (SELECT string_agg(', CASE WHEN v = 1 THEN ''a'' ELSE ''b'' END AS l' || i, '' ORDER BY i) FROM generate_series(1, 33) i) || ' FROM generate_series(1, 3) v'; END $$;
CREATE TABLE taller (LIKE tall, l34 text);
CREATE TABLE twice (id int, up int, name text);
INSERT INTO twice VALUES (1, NULL, 'a'), (2, 1, 'b'), (2, 1, 'b'), (3, 1, 'c');
CREATE VIEW orphans AS SELECT 3 AS id, 9 AS up UNION ALL VALUES (1, NULL), (2, 1);
CREATE VIEW gaps AS SELECT 3 AS id, 1 AS up UNION ALL SELECT 1, NULL;
CREATE VIEW circle AS SELECT i AS id, i % 3 + 1 AS up FROM generate_series(1, 3) i UNION ALL SELECT 4, 1;
CREATE VIEW shared AS SELECT * FROM (VALUES (1, 11, 'a'), (2, 12, 'b'), (3, 12, 'c'), (11, NULL, 'same'), (12, NULL, 'same')) v (id, up, name);
CREATE VIEW pathless AS SELECT i AS id, NULL::ltree AS path FROM generate_series(1, 3) i;
CREATE VIEW flat AS SELECT i AS id, NULL::int AS up FROM generate_series(1, 3) i;
CREATE VIEW chain AS SELECT i AS id, nullif(i + 1, 35) AS up FROM generate_series(1, 34) i;
CREATE VIEW deep AS SELECT 'a' || repeat('.b', 33) AS path;
CREATE SEQUENCE seq;
\pset format unaligned
\pset tuples_only on
SELECT try($$ kanon_check_hierarchy(NULL, 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('age_arx', NULL, 'age') $$);
SELECT try($$ kanon_check_hierarchy('age_arx', 'people', NULL) $$);
SELECT try($$ kanon_check_hierarchy('age_arx', 'people', 'age', NULL) $$);
SELECT try($$ kanon_check_hierarchy(4294967295, 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('age_arx', 'people', 'nope') $$);
SELECT try($$ kanon_check_hierarchy('seq', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('one', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('mixed', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('unlike', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('shapeless', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('big_range', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('value_date', 'people', 'age') $$);
SELECT try($$ kanon_check_hierarchy('value_date', 'people', 'zip') $$);
SELECT try($$ kanon_check_hierarchy('taller', 'people', 'age') $$);
-- 33 levels: not if the last one says something
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "tall"}') $$);
UPDATE tall SET l33 = '*';
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "tall"}') $$);
-- one error, no value in it
SELECT try($$ kanon_risk('people', '{sex}', '{age}', hierarchies => '{"age": "age_wrong"}') $$);
SELECT try($$ kanon_risk('people', '{sex}', '{age}', hierarchies => '{"age": "age_loose"}') $$);
SELECT try($$ kanon_risk('people', '{sex}', '{age}', hierarchies => '{"age": "age_short"}') $$);
SELECT try($$ kanon_risk('people', '{sex}', '{age}', hierarchies => '{"age": "age_range"}') $$);
SELECT try($$ kanon_risk('people', '{sex}', '{age}', hierarchies => '{"age": "age_arx"}') $$);
SELECT try($$ kanon_hierarchy_interval(NULL, 'age', 'x', '{1}') $$);
SELECT try($$ kanon_hierarchy_interval('people', NULL, 'x', '{1}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', NULL, '{1}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', NULL) $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{1,NULL}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{{1},{2}}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', (SELECT array_agg(2::numeric ^ i) FROM generate_series(0, 32) i)) $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{0}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{-5}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{NaN}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{5}', 'NaN') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{5}', NULL) $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{5}', replace => NULL) $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{5}', 0.5) $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{2.5}') $$);
SELECT try($$ kanon_hierarchy_interval('things', 'ts', 'x', '{0.00000000001}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{2,5}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{4,2}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'x', '{4,4}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'zip', 'x', '{4}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'nope', 'x', '{4}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'people', '{4}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'people', '{4}', replace => true) $$);
CREATE TABLE atlas AS TABLE geo;
SELECT try($$ kanon_hierarchy_from_fk('lives', 'place', 'atlas', 'atlas', 'id', 'up', replace => true) $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'nope.x', '{4}') $$);
SELECT try($$ kanon_hierarchy_interval('people', 'age', 'a b', '{4}') $$);
SELECT try($$ kanon_hierarchy_prefix('people', 'zip', 'x', NULL) $$);
SELECT try($$ kanon_hierarchy_prefix('people', 'zip', 'x', '{0}') $$);
SELECT try($$ kanon_hierarchy_prefix('people', 'zip', 'x', '{1,3}') $$);
SELECT try($$ kanon_hierarchy_prefix('typed', 'd', 'x', '{1}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{month,fortnight}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{hour}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{year,month}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{year,year}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{week,month}') $$);
SELECT try($$ kanon_hierarchy_date('things', 'd', 'x', '{decade,century}') $$);
SELECT try($$ kanon_hierarchy_date('people', 'age', 'x') $$);
SELECT try($$ kanon_hierarchy_quantile('people', 'age', 'x', '{1}') $$);
SELECT try($$ kanon_hierarchy_quantile('people', 'age', 'x', '{9,6}') $$);
SELECT try($$ kanon_hierarchy_quantile('people', 'age', 'x', '{3,6}') $$);
CREATE TABLE disorder (a int[], x xid);
INSERT INTO disorder VALUES ('{1,2}'), ('{3}');
SELECT try($$ kanon_hierarchy_quantile('disorder', 'a', 'q_a', '{2}', k => 1) $$);
TABLE q_a;
SELECT try($$ kanon_hierarchy_quantile('disorder', 'x', 'x', '{2}') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'zip', 'x') $$);
SELECT try($$ kanon_hierarchy_from_fk('deep', 'path', 'x') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'geo') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'geo', 'id') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'geo', 'id', 'id') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'geo', 'id', 'nope') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 4294967295, 'id', 'up') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'twice', 'id', 'up', 'name') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'gaps', 'id', 'up') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'orphans', 'id', 'up') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'circle', 'id', 'up') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'shared', 'id', 'up', 'name') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'x', 'shared', 'id', 'up', 'id') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'y', 'pathless', 'id', 'path') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'y', 'flat', 'id', 'up') $$);
SELECT try($$ kanon_hierarchy_from_fk('people', 'age', 'y', 'chain', 'id', 'up') $$);
SELECT count(*) FROM pg_class WHERE relnamespace = 'hierarchy_test'::regnamespace AND (relname = 'y' OR relname LIKE 'kanon_building%');
-- memory
CREATE VIEW large AS SELECT i AS v, i / 2 AS l1 FROM generate_series(1, 100000) i;
SET kanon.max_memory = '1MB';
SELECT left(try($$ kanon_check_hierarchy('large', 'people', 'age') $$), 50);
RESET kanon.max_memory;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA hierarchy_test, hostile CASCADE;
DROP EXTENSION ltree;
DROP ROLE kanon_test_builder;
