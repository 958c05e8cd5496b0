-- every type with equality, as a quasi-identifier and as a kept column
CREATE SCHEMA type_test;
SET search_path = type_test, public;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET lc_monetary = 'C';

CREATE EXTENSION citext SCHEMA public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE DOMAIN noneed AS text NOT NULL;
CREATE DOMAIN strict AS text CHECK (VALUE IS NOT NULL AND VALUE <> '');

CREATE TABLE wide (
    c_int2 int2, c_int4 int4, c_int8 int8, c_numeric numeric(10,2), c_float4 float4, c_float8 float8,
    c_money money, c_text text, c_varchar varchar(20), c_char char(8), c_name name, c_bool bool,
    c_date date, c_time time, c_timetz timetz, c_ts timestamp(0), c_tstz timestamptz, c_interval interval,
    c_uuid uuid, c_bytea bytea, c_inet inet, c_cidr cidr, c_macaddr macaddr, c_bit bit(3), c_varbit varbit,
    c_enum mood, c_posint posint, c_noneed noneed, c_strict strict, c_int_array int[], c_text_array text[],
    c_range int4range, c_daterange daterange, c_multirange int4multirange, c_citext citext, c_jsonb jsonb,
    c_pair pair, c_tsvector tsvector, c_oid oid, c_xid xid, c_lsn pg_lsn);
INSERT INTO wide SELECT
    1, 2, 3, 4.5, 1.5, 2.5, 10::money, 'a', 'b', 'c', 'd', true,
    '2020-01-01', '10:00', '10:00+01', '2020-01-01 10:00', '2020-01-01 10:00+00', '1 day',
    '00000000-0000-0000-0000-000000000001', '\x01', '10.0.0.1', '10.0.0.0/8', '08:00:2b:01:02:03', B'101', B'1',
    'ok', 5, 'n', 's', '{1,2}', '{a,b}', '[1,5)', '[2020-01-01,2020-02-01)', '{[1,2),[5,6)}', 'CiText',
    '{"a": 1}', '(1,x)', 'fat cat', 17, '17', '0/17000017'
FROM generate_series(1, 3);
INSERT INTO wide SELECT
    9, 9, 9, 9.5, 9.5, 9.5, 99::money, 'z', 'z', 'z', 'z', false,
    '2021-01-01', '11:00', '11:00+01', '2021-01-01 10:00', '2021-01-01 10:00+00', '2 days',
    '00000000-0000-0000-0000-000000000002', '\x02', '10.0.0.2', '11.0.0.0/8', '08:00:2b:01:02:04', B'111', B'11',
    'sad', 6, 'm', 't', '{9}', '{z}', '[9,10)', '[2021-01-01,2021-02-01)', '{[9,10)}', 'other',
    '{"b": 2}', '(2,y)', 'thin dog', 18, '18', '0/18';

-- each alone: three rows keep the value, the fourth is suppressed
CREATE TABLE outcome (attnum int, kept int, suppressed int);
DO $$
DECLARE
    a record;
BEGIN
    FOR a IN SELECT attnum, attname FROM pg_attribute WHERE attrelid = 'wide'::regclass AND attnum > 0 ORDER BY attnum LOOP
        INSERT INTO outcome
        SELECT a.attnum, sum(row_count) FILTER (WHERE pattern = '-'), sum(row_count) FILTER (WHERE pattern = '*')
        FROM kanon_pattern_guided('wide', 'one_' || a.attname, ARRAY[a.attname], 2);
    END LOOP;
END $$;
SELECT a.attname, o.kept, o.suppressed,
       format_type(t.atttypid, t.atttypmod) AS type,
       t.atttypid = a.atttypid AND t.atttypmod = a.atttypmod AND t.attcollation = a.attcollation AS same_type
FROM pg_attribute a
JOIN outcome o USING (attnum)
JOIN pg_attribute t ON t.attrelid = ('one_' || a.attname)::regclass AND t.attnum = 1
WHERE a.attrelid = 'wide'::regclass ORDER BY a.attnum;
SELECT c_numeric, count(*) FROM one_c_numeric GROUP BY 1 ORDER BY 1;

-- all together (xid only hashes, money only sorts: PostgreSQL cannot group by both), and all kept
SELECT * FROM kanon_pattern_guided('wide', 'mixed', '{c_xid,c_money}', 2);
SELECT * FROM kanon_pattern_guided('wide', 'wide_public',
    (SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'wide'::regclass AND attnum > 0 AND attname <> 'c_xid'),
    3, patterns => ARRAY[repeat('-', 40)]);
SELECT * FROM wide_public ORDER BY c_int2;
ALTER TABLE wide ADD who int;
UPDATE wide SET who = c_int2;
SELECT * FROM kanon_pattern_guided('wide', 'wide_kept', '{who}', 3,
    keep => (SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = 'wide'::regclass AND attnum > 0 AND attname <> 'who'));
SELECT (w) = (k) AS same FROM wide_kept k JOIN (SELECT who, c_int2, c_int4, c_int8, c_numeric, c_float4, c_float8,
    c_money, c_text, c_varchar, c_char, c_name, c_bool, c_date, c_time, c_timetz, c_ts, c_tstz, c_interval,
    c_uuid, c_bytea, c_inet, c_cidr, c_macaddr, c_bit, c_varbit, c_enum, c_posint, c_noneed, c_strict, c_int_array,
    c_text_array, c_range, c_daterange, c_multirange, c_citext, c_jsonb, c_pair, c_tsvector, c_oid, c_xid, c_lsn
    FROM wide WHERE who = 1 LIMIT 1) w ON k.who = 1;

-- a domain that refuses NULL comes out as its base type, any other as itself
\d one_c_posint
\d one_c_noneed
\d one_c_strict
\d one_c_numeric

-- values as JSON in the record
SELECT shown FROM kanon_equivalence_classes
WHERE run = (SELECT max(run) FROM kanon_usefulness WHERE target = 'type_test.wide_public') ORDER BY class;

-- numbers: what cannot be measured stays finite
CREATE TABLE odd (f float8, n numeric, d date);
INSERT INTO odd VALUES ('NaN', 'NaN', 'infinity'), ('NaN', 'NaN', 'infinity'), ('Infinity', 'Infinity', '-infinity'),
    ('Infinity', 'Infinity', '-infinity'), (1, 1, '2020-01-01'), (2, 2, '2020-01-02'), (NULL, NULL, NULL);
SELECT * FROM kanon_pattern_guided('odd', 'odd_public', '{f,n,d}', 2);
SELECT * FROM odd_public ORDER BY 1, 2, 3;
SELECT usefulness BETWEEN 0 AND 3 AS finite FROM kanon_usefulness WHERE target = 'type_test.odd_public';

-- large values: kept and shown ones come through the TOAST
CREATE TABLE fat (a text, b text);
ALTER TABLE fat ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL;
INSERT INTO fat SELECT repeat('a', 20000), repeat(i::text, 30000) FROM generate_series(1, 4) i;
INSERT INTO fat VALUES (repeat('b', 20000), 'x');
SELECT * FROM kanon_pattern_guided('fat', 'fat_public', '{a}', 2, keep => '{b}');
DROP TABLE fat;
SELECT left(a, 1) AS a, length(a), left(b, 1) AS b, length(b) FROM fat_public ORDER BY 1, 3;

-- rows are grouped as they come, or by the server where they come through a view or many workers may share it: the same is published
CREATE TABLE told AS
SELECT ('{1.0,1.00,1,2,NULL}'::numeric[])[1 + i % 5] AS n, CASE WHEN i % 7 > 0 THEN repeat(chr(97 + i % 3), i % 4 * 3000) END AS t,
       (i % 3) * (CASE WHEN i % 2 = 0 THEN -1 ELSE 1 END)::float8 AS f, left('abcdefghijklmnopqrst', 7 + i % 11) AS c, ARRAY[i % 2, 0] AS a,
       i % 13 AS kept
FROM generate_series(1, 4000) i;
INSERT INTO told SELECT 3, string_agg(md5(i::text), ''), 0, 'c', NULL, x FROM generate_series(1, 300) i, generate_series(1, 6) x GROUP BY x;
SELECT count(DISTINCT pg_column_size(t)) AS stored FROM told;
CREATE VIEW told_view AS SELECT * FROM told;
SELECT pattern, row_count FROM kanon_pattern_guided('told', 'told_here', '{n,t,f,c,a}', 5, keep => '{kept}');
SELECT pattern, row_count FROM kanon_pattern_guided('told_view', 'told_there', '{n,t,f,c,a}', 5, keep => '{kept}');
SET max_parallel_workers_per_gather = 8;
SELECT pattern, row_count FROM kanon_pattern_guided('told', 'told_shared', '{n,t,f,c,a}', 5, keep => '{kept}');
RESET max_parallel_workers_per_gather;
SELECT count(*) AS others
FROM ((SELECT told_here::text FROM told_here EXCEPT ALL SELECT told_there::text FROM told_there)
      UNION ALL (SELECT told_there::text FROM told_there EXCEPT ALL SELECT told_shared::text FROM told_shared)) AS d;

-- the least numbers that there are: half of them is nothing
CREATE TABLE least AS SELECT * FROM unnest('{5e-324,5e-324,0,-Infinity,5e-324,5e-324,0,-Infinity,-Infinity,-Infinity,0,5e-324}'::float8[]) f;
SET statement_timeout = '60s';
SELECT row_count, gcp BETWEEN 0 AND 1 AS measured FROM kanon_freeform('least', 'least_free', '{f}', 4);
SELECT row_matches, record_matches, regular FROM kanon_check_freeform('least', 'least_free', '{f}', 4);
RESET statement_timeout;

-- a range of floats holds its values, however few digits the session shows
CREATE TABLE thirds AS SELECT i / 3::float8 AS d, (i / 7::float8)::float4 AS r FROM generate_series(1, 12) i;
SET extra_float_digits = -15;
SELECT FROM kanon_freeform('thirds', 'thirds_free', '{d,r}', 2, method => 'greedy');
SELECT FROM kanon_cluster('thirds', 'thirds_classes', '{d,r}', 2, 'mondrian');
SET extra_float_digits = 1;
SELECT count(*), bool_and(EXISTS (SELECT FROM thirds_classes c WHERE c.d @> t.d::text::numeric AND c.r @> t.r::text::numeric)) AS held
FROM thirds t;
SELECT row_matches, record_matches, regular FROM kanon_check_freeform('thirds', 'thirds_free', '{d,r}', 2);
RESET extra_float_digits;

-- values that the client's encoding has no characters for, of types whose binary form is text in that encoding: it is
-- the server's that they are told apart in
CREATE TABLE foreign_text AS SELECT jsonb_build_object('name', chr(20013) || i % 2, 'n', CASE WHEN i % 4 < 2 THEN 1.0 ELSE 1.00 END) AS j, ('''' || chr(20013) || i % 2 || '''')::tsvector AS v,
    ('''' || chr(20013) || i % 2 || '''')::tsquery AS q FROM generate_series(1, 8) i;
CREATE VIEW foreign_view AS TABLE foreign_text;
SET client_encoding = 'LATIN1';
SELECT sum(row_count) FROM kanon_pattern_guided('foreign_view', 'foreign_public', '{j,v,q}', 4);
RESET client_encoding;
SELECT count(DISTINCT j::text), count(DISTINCT v), count(DISTINCT q), count(j) FROM foreign_public;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA type_test CASCADE;
DROP EXTENSION citext;

-- what workers of Citus tell of row types: a lot, the hash that PostgreSQL has for such a record, and the values once
SELECT kanon_internal.kanon_row_type_hash(p) = hash_record_extended(ROW(a, b, c), 7) AS hash, octet_length(p) AS told
FROM (SELECT *, kanon_internal.kanon_row_type(7, ROW(a, b, c)) AS p FROM (VALUES (1, 'x', 1.0), (1, 'x', 1.0), (2, NULL, NULL), (1, 'x', 1.00), (2, NULL, NULL), (3, '', 'NaN')) v (a, b, c) OFFSET 0) AS t;
SELECT count(DISTINCT substr(kanon_internal.kanon_row_type(7, ROW(1)), 1, 4)) AS lots FROM generate_series(1, 3000);
-- another seed is another hash, and all is told anew
SELECT octet_length(kanon_internal.kanon_row_type(i / 2, ROW('x'::text))) AS told FROM generate_series(1, 6) i;
SELECT kanon_internal.kanon_row_type(NULL, ROW(1)) IS NULL AS unseeded, kanon_internal.kanon_row_type(7, NULL) IS NULL AS without, octet_length(kanon_internal.kanon_row_type(7, ROW(NULL::int))) AS of_null;
-- rows of other columns than the one before are others, with the same bytes as well
SELECT kanon_internal.kanon_row_type_hash(p) = hash_record_extended(r, 7) AS hash, octet_length(p) AS told
FROM (SELECT *, kanon_internal.kanon_row_type(7, r) AS p FROM (VALUES (1, ROW(1, 2)), (2, ROW(1, 2)), (3, ROW(1::int8, 2::int8)), (4, ROW(1, 2)), (5, ROW('x'::text))) v (i, r) ORDER BY i OFFSET 0) AS t;
-- of what is compressed, and out of line, as of what is not
CREATE TEMP TABLE long_text AS SELECT repeat('x', 100000) AS t UNION ALL SELECT repeat('x', 100000);
ALTER TABLE long_text ALTER t SET STORAGE EXTERNAL;
INSERT INTO long_text SELECT * FROM long_text;
SELECT octet_length(kanon_internal.kanon_row_type(7, ROW(t))) AS told FROM long_text;
DROP TABLE long_text;
-- where values begin and end does not matter: NULLs of many columns, which take as many bytes as numbers would
SELECT count(DISTINCT substr(kanon_internal.kanon_row_type(7, ROW(a, b, c, d, e, f, g, h, i)), 5)) AS told
FROM (VALUES (NULL::int, NULL::int, NULL::int, NULL::int, NULL::int, NULL::int, NULL::int, NULL::int, NULL::int), (0, 0, 0, 0, 0, 0, 0, 0, 0),
             (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0), (0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) v (a, b, c, d, e, f, g, h, i);
-- rows of equally many bytes, each type several times in a row
SELECT count(DISTINCT kanon_internal.kanon_row_type_hash(kanon_internal.kanon_row_type(7, ROW(i / 3)))) AS types FROM generate_series(0, 29) i;
-- of every kind of storage; values are compared whole
SELECT octet_length(kanon_internal.kanon_row_type(7, ROW(i::int8, (i % 2)::bool, 'n'::name, '00000000-0000-0000-0000-000000000000'::uuid, (i % 2)::float8, interval '1 day', '\x00ff'::bytea))) AS told FROM generate_series(1, 2) i;
SELECT DISTINCT octet_length(kanon_internal.kanon_row_type(7, ROW(a, b))) AS told FROM (VALUES ('a', 'bc'), ('ab', 'c'), ('abc', ''), ('abc', NULL), ('', 'abc'), (NULL, 'abc')) v (a, b) ORDER BY 1;
-- nonsense
CREATE TEMP TABLE long_text (t text);
ALTER TABLE long_text ALTER t SET STORAGE MAIN;
INSERT INTO long_text VALUES (repeat('x', 690000));
DO $$ BEGIN EXECUTE format('SELECT kanon_internal.kanon_row_type(7, ROW(t%s)) FROM long_text', repeat(', t', 1599)); END $$;
DROP TABLE long_text;
SELECT kanon_internal.kanon_row_type(7, ROW());
SELECT kanon_internal.kanon_row_type(7, 1);
SELECT kanon_internal.kanon_row_type(7, ROW(ROW(1, 2)));
SELECT kanon_internal.kanon_row_type(7, ROW('unknown'));
SELECT kanon_internal.kanon_row_type(7, ROW(point(1, 2)));
-- nor of what has a name, which may be altered between two rows of a query
CREATE TYPE altered AS (a int);
SELECT kanon_internal.kanon_row_type(7, ROW(1)::altered);
SELECT kanon_internal.kanon_row_type(7, ROW(ROW(1)::altered));
DROP TYPE altered;
SELECT kanon_internal.kanon_row_type_hash('\x0102');
SELECT kanon_internal.kanon_row_type_hash('\x0000000000000001000000');
SELECT kanon_internal.kanon_row_type_lot('\x00000000000000010000', 1);
SELECT kanon_internal.kanon_row_type_hash('\x000000020000000000000001') AS hash, kanon_internal.kanon_row_type_lot('\x000000020000000000000001', -1) AS lot;
SELECT count(DISTINCT kanon_internal.kanon_place()) FROM generate_series(1, 3000);

-- how many rows of a table are of each row type: those that tell values each by itself
CREATE TABLE shard AS SELECT kanon_internal.kanon_row_type(7, ROW(i % 5)) AS kanon_packed, i % 7 AS a, CASE WHEN i % 3 > 0 THEN repeat('x', i % 2 * 3000) || i % 3 END AS b, (ARRAY[1.0, 1.00])[i % 2 + 1] AS n FROM generate_series(1, 1000) i;
SELECT octet_length(kanon_packed) AS told, rows, count(*) FROM kanon_internal.kanon_shard_types('shard'::regclass) AS g (kanon_packed bytea, rows bigint) GROUP BY 1, 2 ORDER BY 1;
SELECT count(*) FROM (SELECT substr(kanon_packed, 5), count(*) FROM shard GROUP BY 1 EXCEPT ALL SELECT kanon_packed, rows FROM kanon_internal.kanon_shard_types('shard'::regclass) AS g (kanon_packed bytea, rows bigint)) AS others;
-- rows that are alike in the columns that are named, by their bytes: another spelling of a number is told by itself
SELECT a, count(*), sum(rows) FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (a int, n numeric, rows bigint) GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (SELECT b, a, n::text, count(*) FROM shard GROUP BY 1, 2, 3 EXCEPT ALL SELECT b, a, n::text, rows FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (b text, a int, n numeric, rows bigint)) AS others;
-- beside them values of kept columns: each one's place and hash, and how many rows have it, whatever else is told of them
CREATE VIEW kept AS SELECT a, k, n FROM (SELECT a, kanon_internal.kanon_sampled(0, ROW(b)) AS k, count(*) AS n FROM shard GROUP BY a, b) AS g WHERE k IS NOT NULL;
SELECT count(*), count(DISTINCT s), sum(n) FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, '{b,n,b}') AS g (a int, s bytea, n bigint) WHERE s IS NOT NULL;
SELECT count(*) FROM (SELECT NULL::int, k, sum(n) FROM kept GROUP BY k UNION ALL SELECT a, NULL, count(*) FROM shard GROUP BY a
    EXCEPT ALL SELECT a, s, n FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, '{b}') AS g (a int, s bytea, n bigint)) AS others;
SELECT count(*) FILTER (WHERE s IS NULL) AS rows, count(s) AS values FROM kanon_internal.kanon_shard_rows('shard'::regclass, -1, '{b,n}') AS g (a int, s bytea, n bigint);
SELECT count(*) FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, (SELECT array_agg('b'::name) FROM generate_series(1, 32768))) AS g (a int, s bytea, n bigint);
DROP VIEW kept;
-- neighbours that are stored alike up to the last of these columns, with NULLs, with what is kept before and behind it
CREATE TABLE stored AS SELECT i / 100 % 3 AS a, CASE WHEN i / 50 % 2 = 0 THEN 'x' || i / 200 END AS b, i / 20 % 5 AS k, CASE WHEN i / 20 % 3 > 0 THEN repeat('y', i / 20 % 4) END AS t, 'z'::text AS m, i::smallint AS s
FROM generate_series(1, 2000) i;
CREATE FUNCTION stored_otherwise(columns text, definitions text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT * FROM ((SELECT %1$s, NULL::bytea AS v, count(*) AS n FROM stored GROUP BY %1$s UNION ALL SELECT e.*, w.v, count(*) FROM stored, LATERAL (VALUES '
        '(kanon_internal.kanon_sampled(31, ROW(s))), (kanon_internal.kanon_sampled(31, ROW(NULL::int, k))), (kanon_internal.kanon_sampled(31, ROW(NULL::int, NULL::int, t)))) w (v), (SELECT %1$s FROM stored WHERE false) AS none RIGHT JOIN (VALUES (1)) one ON true, '
        'LATERAL (SELECT none.*) AS e WHERE w.v IS NOT NULL GROUP BY %3$s, w.v) EXCEPT ALL SELECT * FROM kanon_internal.kanon_shard_rows(''stored''::regclass, 31, ''{s,k,t}'') AS g (%2$s, v bytea, n bigint)) AS o) AS others',
        columns, definitions, regexp_replace(columns, '(\w+)', 'e.\1', 'g')) INTO n;
    RETURN n;
END $$;
SELECT stored_otherwise('a, b', 'a int, b text'), stored_otherwise('b, m', 'b text, m text'), stored_otherwise('m', 'm text'), stored_otherwise('a, t', 'a int, t text'),
       stored_otherwise('s', 's smallint');
-- rows of fewer columns than the table has by now, and of more
ALTER TABLE stored ADD d int DEFAULT 7;
INSERT INTO stored SELECT 1, NULL, i % 2, 'w', 'z', i % 3, i / 10 FROM generate_series(1, 100) i;
SELECT stored_otherwise('a, b', 'a int, b text'), stored_otherwise('a, d', 'a int, d int');
ALTER TABLE stored DROP a;
SELECT stored_otherwise('b', 'b text'), stored_otherwise('d', 'd int');
DROP FUNCTION stored_otherwise;
DROP TABLE stored;
CREATE TABLE stored (a int, b text);
INSERT INTO stored VALUES (NULL, NULL), (1, 'p'), (1, 'p'), (1, 'p');
SELECT * FROM kanon_internal.kanon_shard_rows('stored'::regclass) AS g (a int, b text, n bigint) ORDER BY n;
DELETE FROM stored WHERE a IS NULL;
VACUUM stored;
ALTER TABLE stored ADD d int;
INSERT INTO stored VALUES (1, 'p', 5);
SELECT a, n, v = kanon_internal.kanon_sampled(0, ROW(5)) AS five FROM kanon_internal.kanon_shard_rows('stored'::regclass, 0, '{d}') AS g (a int, v bytea, n bigint) ORDER BY n;
DROP TABLE stored;
-- with no room for them all they are told in parts
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE many AS SELECT kanon_internal.kanon_row_type(7, ROW(i)) AS kanon_packed, i FROM generate_series(1, 5000) i, generate_series(1, 3);
SELECT count(*) > 10000 AS parts, count(DISTINCT i) AS different, sum(rows) FROM kanon_internal.kanon_shard_rows('many'::regclass) AS g (i int, rows bigint);
SELECT count(*) > 10000 AS parts, count(DISTINCT s) AS different, sum(n) FROM kanon_internal.kanon_shard_rows('many'::regclass, 0, '{i}') AS g (kanon_packed bytea, s bytea, n bigint) WHERE s IS NOT NULL;
UPDATE many SET kanon_packed = substr(kanon_packed, 1, 12);
SELECT count(*) > 5000 AS parts, count(DISTINCT kanon_packed) AS different, sum(rows) FROM kanon_internal.kanon_shard_types('many'::regclass) AS g (kanon_packed bytea, rows bigint);
RESET work_mem;
RESET hash_mem_multiplier;
-- two rows that have the same hash of so many (of 32 bits) are told as two
SET work_mem = '64MB';
CREATE TABLE hashed AS SELECT i FROM generate_series(1, 300000) i;
SELECT count(DISTINCT i) AS different, sum(rows) FROM kanon_internal.kanon_shard_rows('hashed'::regclass) AS g (i int, rows bigint);
CREATE TABLE alike AS SELECT a[p] AS i
FROM (SELECT array_agg(i) AS a FROM hashed GROUP BY hashmacaddr8(regexp_replace(lpad(to_hex(i), 8, '0'), '(..)(..)(..)(..)', '\4:\3:\2:\1:00:00:00:00')::macaddr8) HAVING count(*) > 1 LIMIT 1) AS h, unnest('{1,2,1,1,2}'::int[]) AS p;
SELECT count(DISTINCT i) AS different, sum(rows) FROM kanon_internal.kanon_shard_rows('alike'::regclass) AS g (i int, rows bigint);
DROP TABLE hashed, alike;
RESET work_mem;
-- and so are those of neighbours that differ in what is stored out of line
CREATE TABLE far (a text);
ALTER TABLE far ALTER a SET STORAGE EXTERNAL;
INSERT INTO far SELECT repeat(chr(97 + i % 3), 3000) FROM generate_series(1, 9) i;
SELECT left(a, 1) AS a, length(a), sum(rows) FROM kanon_internal.kanon_shard_rows('far'::regclass) AS g (a text, rows bigint) GROUP BY 1, 2 ORDER BY 1;
DROP TABLE far;
-- of values that are compressed one at a time is in memory as it was
CREATE TABLE compressed AS SELECT convert_to(repeat('x', 100000), 'UTF8') AS p, i FROM generate_series(1, 401) i;
CREATE VIEW measured AS SELECT CASE WHEN i < 401 THEN p ELSE convert_to('lot ' || (SELECT sum(total_bytes) FROM pg_backend_memory_contexts), 'UTF8') END AS p FROM compressed;
SELECT max(convert_from(p, 'UTF8')::bigint) < 25000000 AS little FROM kanon_internal.kanon_shard_types('measured'::regclass) AS g (p bytea, rows bigint) WHERE octet_length(p) < 20;
DROP VIEW measured;
DROP TABLE compressed;
-- all as the caller may read it
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (a int, rows int);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (rows bigint);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (a bigint, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, '{b}') AS g (a int, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, '{b}') AS g (s bytea, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, '{c}') AS g (a int, s bytea, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass, 0, '{b,NULL}') AS g (a int, s bytea, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (c int, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_types(0) AS g (kanon_packed bytea, rows bigint);
SELECT * FROM kanon_internal.kanon_shard_types('shard'::regclass) AS g (b text, rows bigint);
SELECT count(*) FROM kanon_internal.kanon_shard_rows(NULL) AS g (a int, rows bigint);
CREATE ROLE shard_stranger;
SET ROLE shard_stranger;
SELECT * FROM kanon_internal.kanon_shard_rows('shard'::regclass) AS g (a int, rows bigint);
RESET ROLE;
DROP ROLE shard_stranger;
DROP TABLE shard, many;

-- and of kept columns: each value's place and hash, as PostgreSQL has it of the text; of all hashes those without some bits
SELECT kanon_internal.kanon_sampled(0, ROW(a, b, c, d, NULL::int)) = '\x0000'::bytea || substr(int8send(hashtextextended(a, 0)), 1, 4) || '\x0001' || substr(int8send(hashtextextended(b::text, 0)), 1, 4)
       || '\x0002' || substr(int8send(hashtextextended('x  ', 0)), 1, 4) || '\x0003' || substr(int8send(hashtextextended('{1,NULL}', 0)), 1, 4) AS told
FROM (VALUES ('text', 1.50, 'x'::char(3), '{1,NULL}'::int[])) v (a, b, c, d);
SELECT count(*) FROM generate_series(1, 3000) i WHERE (kanon_internal.kanon_sampled(63, ROW(i, -i)) IS NULL) <> (hashtextextended(i::text, 0) & 63 <> 0 AND hashtextextended((-i)::text, 0) & 63 <> 0);
SELECT octet_length(kanon_internal.kanon_sampled(0, ROW(repeat('x', 100000)))) AS told, kanon_internal.kanon_sampled(NULL, ROW(1)) IS NULL AND kanon_internal.kanon_sampled(0, NULL) IS NULL AS without, kanon_internal.kanon_sampled(0, ROW(NULL::text)) IS NULL AS nothing;
SELECT i, octet_length(kanon_internal.kanon_sampled(0, r)) AS told FROM (VALUES (1, ROW(1)), (2, ROW('x'::text, 2)), (3, ROW(1))) v (i, r);
SELECT kanon_internal.kanon_sampled(0, ROW());
SELECT kanon_internal.kanon_sampled(0, t) FROM pg_type AS t LIMIT 1;

-- and the classes that rows go to: entries of (hash, least lot, class), where those of the first bits of a hash begin
CREATE FUNCTION classes(bits int, starts int[], entries bigint[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT int4send(array_length(entries, 1)) || int4send(bits) || (SELECT string_agg(int4send(s), '' ORDER BY n) FROM unnest(starts) WITH ORDINALITY u (s, n))
        || (SELECT string_agg(int8send(entries[i][1]) || int8send(entries[i][2]) || int4send(entries[i][3]::int), '' ORDER BY i) FROM generate_series(1, array_length(entries, 1)) i) $$;
CREATE FUNCTION row_type(hash bigint, lot bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT substr(int8send(lot), 1, 4) || int8send(hash) $$;
CREATE TABLE staged (kanon_shard int, kanon_packed bytea, kept text);
CREATE FUNCTION stage(hashes bigint[], lots bigint[]) RETURNS void LANGUAGE sql AS $$
    TRUNCATE staged; INSERT INTO staged SELECT n, row_type(h, l), h || ' ' || l FROM unnest(hashes, lots) WITH ORDINALITY u (h, l, n) ORDER BY n DESC $$;
CREATE TABLE written (class int, shown varchar(9), kept text, kanon_shard int);
CREATE FUNCTION put(types bytea, shown text = 'ARRAY(SELECT ROW(c, c, (''of '' || c)::varchar(9)) FROM generate_series(0, 4) c)') RETURNS SETOF written LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM written;
    EXECUTE 'INSERT INTO written (kanon_shard) SELECT t.kanon_shard FROM staged AS t, LATERAL kanon_internal.kanon_shard_write(t.tableoid, $1, ' || shown || ') AS g (none bool) WHERE t.ctid = ''(0,1)''' USING types;
    RETURN QUERY TABLE written;
END $$;
-- 5 goes to class 3; 9 is divided: the first half of its lots to class 1, from there on to 2; a negative hash comes last; class -1 is nowhere
SELECT stage('{5,5,9,9,9,9,-3,-2,4,6,10,-1,0}', '{0,-1,-9223372036854775808,-1,0,9223372036854775807,7,7,0,0,0,0,0}');
SELECT * FROM put(classes(1, '{0,3,5}', '{{5,0,3},{9,0,1},{9,-9223372036854775808,2},{-3,0,4},{-2,0,-1}}'));
-- where no row type is divided, entries have no lots
SELECT stage('{5,5,9,9,-3,4,6,10,-4,-1}', '{-1,1,-9223372036854775808,7,7,0,0,0,0,0}');
SELECT kept, class FROM put(substr(classes(1, '{0,2,3}', '{{5,0,3},{9,0,1},{-3,0,4}}'), 1, 20) || '\x000000000000000500000003' || '\x000000000000000900000001' || int8send(-3) || '\x00000004');
SELECT count(*) FROM put(NULL);
SELECT count(*) FROM put(classes(0, '{0,1}', '{{5,0,3}}'), 'ARRAY(SELECT ROW(1) WHERE false)');
-- nonsense: too short, another number of entries, bits, beginnings beyond the end or in no order, a class that is not there
SELECT * FROM put('\x');
SELECT * FROM put(substr(classes(0, '{0,1}', '{{5,0,3}}'), 1, 7));
SELECT * FROM put(substr(classes(0, '{0,1}', '{{5,0,3}}'), 1, 35));
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,3}}') || '\x00');
SELECT * FROM put(overlay(classes(0, '{0,1}', '{{5,0,3}}') PLACING '\xffffffff' FROM 1 FOR 4));
SELECT * FROM put(overlay(classes(0, '{0,1}', '{{5,0,3}}') PLACING '\xffffffff' FROM 5 FOR 4));
SELECT * FROM put(overlay(classes(0, '{0,1}', '{{5,0,3}}') PLACING '\x00000040' FROM 5 FOR 4));
SELECT * FROM put(classes(0, '{0,2}', '{{5,0,3}}'));
SELECT * FROM put(classes(0, '{-1,1}', '{{5,0,3}}'));
SELECT * FROM put(classes(0, '{1,0}', '{{5,0,3}}'));
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,5}}'));
-- classes that show other columns, or are none
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 7)]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 7, 'x'::varchar(9), 8)]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 'x'::varchar(9), 7)]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 7, 'longer than nine'::varchar)]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0::bigint, 7, 'x'::varchar(9))]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(1, 7, 'x'::varchar(9))]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 7, 'x'::varchar(9)), ROW(0, 7, 'x'::varchar(9))]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 7, 'x'::varchar(9)), ROW('x'::text, 7, 8)]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY[ROW(0, 7, 'x'::varchar(9)), NULL]$$);
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,0}}'), $$ARRAY(SELECT w FROM (VALUES (0, 7, 'x'::varchar(9), 1)) v (a, b, c, d), LATERAL (SELECT (b, c, 'y', d)::written AS w) u)$$);
TRUNCATE staged; INSERT INTO staged VALUES (1, '\x00', '');
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,3}}'));
TRUNCATE staged; INSERT INTO staged VALUES (1, NULL, '');
SELECT * FROM put(classes(0, '{0,1}', '{{5,0,3}}'));
-- a table that keeps something of its rows is written by none but the executor, and one that the caller may not write by nobody
SELECT stage('{5}', '{0}');
CREATE FUNCTION refused(alter_it text, undo text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE alter_it;
    BEGIN
        PERFORM put(classes(0, '{0,1}', '{{5,0,3}}'));
        EXECUTE undo;
        RETURN 'written';
    EXCEPTION WHEN wrong_object_type THEN
        EXECUTE undo;
        RETURN SQLERRM;
    END;
END $$;
SELECT alter_it, refused(alter_it, undo) FROM (VALUES
    ('CREATE INDEX one ON written (class)', 'DROP INDEX one'),
    ('ALTER TABLE written ADD CHECK (class > 9)', 'ALTER TABLE written DROP CONSTRAINT written_class_check'),
    ('ALTER TABLE written ALTER class SET NOT NULL', 'ALTER TABLE written ALTER class DROP NOT NULL'),
    ('ALTER TABLE written ALTER class SET DEFAULT 3', 'ALTER TABLE written ALTER class DROP DEFAULT'),
    ('ALTER TABLE written ENABLE ROW LEVEL SECURITY', 'ALTER TABLE written DISABLE ROW LEVEL SECURITY'),
    ('CREATE RULE one AS ON UPDATE TO written DO ALSO NOTHING', 'DROP RULE one ON written'),
    ('CREATE TRIGGER one BEFORE UPDATE ON written FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', 'DROP TRIGGER one ON written'),
    ('CREATE TABLE below () INHERITS (written)', 'DROP TABLE below'),
    ('ALTER TABLE written ADD more int', 'ALTER TABLE written DROP more'),
    ('ALTER TABLE written ALTER kept TYPE varchar', 'ALTER TABLE written ALTER kept TYPE text'),
    ('ALTER TABLE staged ADD more int', 'ALTER TABLE staged DROP more'),
    ('ALTER TABLE staged RENAME kanon_packed TO packed', 'ALTER TABLE staged RENAME packed TO kanon_packed')) v (alter_it, undo);
SELECT * FROM kanon_internal.kanon_shard_write('staged'::regclass, classes(0, '{0,1}', '{{5,0,3}}'), ARRAY[ROW(0)]) AS g (none bool);
CREATE TABLE written_again (class int, shown varchar(9), kept text, kanon_shard int);
CREATE ROLE shard_stranger;
GRANT SELECT, INSERT (kanon_shard) ON written_again TO shard_stranger;
GRANT SELECT ON staged TO shard_stranger;
SET ROLE shard_stranger;
INSERT INTO written_again (kanon_shard) SELECT t.kanon_shard FROM staged AS t, LATERAL kanon_internal.kanon_shard_write(t.tableoid, classes(0, '{0,1}', '{{5,0,0}}'), ARRAY[ROW(0, 7, 'x'::varchar(9))]) AS g (none bool);
RESET ROLE;
GRANT INSERT ON written_again TO shard_stranger;
REVOKE SELECT ON staged FROM shard_stranger;
SET ROLE shard_stranger;
INSERT INTO written_again (kanon_shard) SELECT g.none FROM kanon_internal.kanon_shard_write('staged'::regclass, classes(0, '{0,1}', '{{5,0,0}}'), ARRAY[ROW(0, 7, 'x'::varchar(9))]) AS g (none int);
RESET ROLE;
TABLE written_again;
DROP TABLE staged, written CASCADE;
DROP TABLE written_again;
DROP ROLE shard_stranger;
DROP FUNCTION refused, stage, classes, row_type;

-- where text is of no encoding it is told as it is, and no message says what is in it
SELECT current_database() AS here \gset
CREATE DATABASE kanon_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\c kanon_ascii
CREATE EXTENSION kanon;
SELECT substr(kanon_internal.kanon_row_type(7, ROW(E'\xe4/'::text)), 13) AS told;
\c :here
DROP DATABASE kanon_ascii;
