-- Tables that Citus has distributed, without Citus: what kanon asks of its catalogs and functions is made by hand
-- below, and this server is all workers.  Shards of rows that are set aside are partitions; a target has one.
-- What real ones alone show is in t/043_citus.pl and the two after it: which queries Citus takes, in which way,
-- and what it logs; other sessions' commits; workers that die, or have other functions.
SELECT current_setting('shared_preload_libraries') ~ 'citus' AS there \gset
\if :there
\quit
\endif
CREATE SCHEMA dist;
SET search_path = dist, public;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
CREATE TABLE here WITH (autovacuum_enabled = off) AS SELECT i AS id, 'person ' || i AS name, 20 + i % 7 AS age, CASE WHEN i % 11 > 0 THEN 'z' || i % 11 END AS zip, CASE WHEN i % 2 = 0 THEN 0.5 ELSE 0.50 END AS fee, 'secret ' || i * 7919 % 13 AS diagnosis, 'z' || i * 31 % 101 % 11 AS home
    FROM generate_series(1, 616) i;
-- the plan, and with it the order of row types that cost alike, follows statistics: they stay as they are
CREATE TABLE few WITH (autovacuum_enabled = off) AS TABLE here;
CREATE TABLE many WITH (autovacuum_enabled = off) AS TABLE here;
INSERT INTO many SELECT h.* FROM here AS h, generate_series(1, 16) LIMIT 10000 - 616;

-- What calls set for themselves, and leave as it was.
SET jit = on;
CREATE FUNCTION settings() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(current_setting(name), ' ') FROM unnest('{search_path,client_min_messages,DateStyle,IntervalStyle,TimeZone,extra_float_digits,bytea_output,enable_sort,jit,parallel_tuple_cost}'::text[]) AS name
$$;
-- What a call says.  {}: of the source, and where it is published.
CREATE FUNCTION said(call text, source text DEFAULT 'dist.few', target text DEFAULT 'dist.far') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    settings text := settings();
    message text; detail text; hint text;
BEGIN
    EXECUTE 'SELECT FROM ' || replace(call, '{}', format('%L, %L', source, target));
    RETURN CASE WHEN settings() = settings THEN 'published' ELSE 'under other settings: ' || settings() END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || regexp_replace(message, '\d{5,}', 'N', 'g'), nullif(detail, ''), nullif(nullif(hint, 'A trigger or event trigger may have changed it; otherwise this is a defect of kanon.'), ''));
END $$;
SET client_min_messages = notice;

-- ---- names alone mean nothing ----

CREATE TABLE pg_dist_partition AS SELECT 'few'::regclass AS logicalrelid, 'h'::"char" AS partmethod, 's'::"char" AS repmodel;
SELECT said('kanon_pattern_guided({}, ''{age}'', 5, keep => ''{diagnosis}'')');
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition AS TABLE dist.pg_dist_partition;
DROP TABLE dist.pg_dist_partition;
SELECT said('kanon_pattern_guided({}, ''{age}'', 5, keep => ''{diagnosis}'', replace => true)');
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
SELECT pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'citus', usesysid, 'pg_catalog'::regnamespace, false, '1.0' FROM pg_user WHERE usename = current_user;
SELECT said('kanon_pattern_guided({}, ''{age}'', 5, keep => ''{diagnosis}'', replace => true)');
ALTER EXTENSION citus ADD TABLE pg_catalog.pg_dist_partition;
DROP TABLE far;
-- now they mean something, but nothing can be done about it
SELECT said('kanon_pattern_guided({}, ''{age}'', 5, keep => ''{diagnosis}'')');
DROP TABLE far;
SET kanon.distribute = off;
SELECT said('kanon_pattern_guided({}, ''{age}'', 5, keep => ''{diagnosis}'')');
RESET kanon.distribute;
DROP TABLE far;

-- ---- what Citus has ----

CREATE TABLE pg_catalog.pg_dist_object (classid oid, objid oid);
-- Which of its functions were called, and what was made and dropped; and what somebody else does at such a step, on its table.
CREATE TABLE asked (n serial, what text);
CREATE TABLE hold (step text, work text);
CREATE FUNCTION step(what text, of text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    statement text;
BEGIN
    INSERT INTO dist.asked (what) VALUES (regexp_replace(step.what, '(kanon_[a-z]+_)\d+', '\1N', 'g'));
    FOR statement IN SELECT work FROM dist.hold WHERE step.what ~ hold.step LOOP
        EXECUTE replace(statement, '{}', step.of);
    END LOOP;
END $$;
CREATE FUNCTION packed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT ' || TG_ARGV[0] INTO NEW.kanon_packed USING NEW.kanon_packed;
    RETURN NEW;
END $$;
CREATE FUNCTION made() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dist.step('made ' || object_identity, object_identity) FROM pg_event_trigger_ddl_commands()
    WHERE object_identity ~ '^dist\.kanon_[a-z]+_\d+$' AND (SELECT relkind = 'r' FROM pg_class WHERE oid = objid);
END $$;
CREATE FUNCTION dropped() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dist.step('dropped ' || object_identity, object_identity) FROM pg_event_trigger_dropped_objects()
    WHERE object_type = 'table' AND object_identity ~ '^dist\.kanon_[a-z]+_\d+$';
END $$;
CREATE FUNCTION pg_catalog.create_distributed_table(table_name regclass, distribution_column text, colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    name text := table_name;
BEGIN
    RAISE NOTICE 'Copying data from local table...';
    PERFORM dist.step(format('distributed %s %s %s', name, distribution_column, colocate_with), name);
    IF name ~ 'kanon_staging' AND current_setting('dist.shards', true) IS DISTINCT FROM 'one' THEN
        EXECUTE format('ALTER TABLE %s RENAME TO shard', name);
        EXECUTE format('CREATE TABLE %s (LIKE dist.shard) PARTITION BY HASH (%s)', name, distribution_column);
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION dist.shard FOR VALUES WITH (MODULUS 2, REMAINDER 0)', name);
        EXECUTE format('CREATE UNLOGGED TABLE dist.other_shard PARTITION OF %s FOR VALUES WITH (MODULUS 2, REMAINDER 1)', name);
    END IF;
    -- what comes in is packed by somebody else, this once
    IF name ~ 'kanon_staging' AND EXISTS (SELECT FROM dist.hold WHERE step = 'packed') THEN
        EXECUTE format('CREATE TRIGGER packed BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION dist.packed(%L)', name, (SELECT work FROM dist.hold));
        DELETE FROM dist.hold;
    END IF;
    INSERT INTO pg_dist_partition VALUES (name::regclass, 'h', 's');
END $$;
CREATE FUNCTION pg_catalog.create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE NOTICE 'Copying data from local table...';
    PERFORM dist.step('everywhere ' || table_name, table_name::text);
    INSERT INTO pg_dist_partition VALUES (table_name, 'n', 't');
END $$;
CREATE FUNCTION pg_catalog.truncate_local_data_after_distributing_table(function_truncated regclass) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM dist.step('truncated ' || function_truncated, function_truncated::text);
END $$;
-- A file has a query's rows as text, as the session that sends it writes that.  (What has no column without a binary
-- form would be sent in such a form.)
CREATE TYPE pg_catalog.citus_copy_format AS ENUM ('csv', 'binary', 'text');
CREATE TABLE files (kind text, result text, types text[], line text[]);
CREATE FUNCTION send(kind text, result text, query text) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    parts text[] := regexp_match(query, '^SELECT (?:DISTINCT ON \(class\) )?(.*), NULL::pg_catalog.pg_am AS format FROM (\S+)');
    columns text[] := string_to_array(parts[1], ', ');
BEGIN
    PERFORM dist.step(format('%s %s: %s (%s, %s)', kind, result, query, current_setting('DateStyle'), current_setting('extra_float_digits')), result);
    EXECUTE format('INSERT INTO dist.files SELECT $1, $2, $3, ARRAY[%s] FROM (%s) AS q', (SELECT string_agg(c || '::text', ', ') FROM unnest(columns) AS c), query)
    USING kind, result, ARRAY(SELECT format_type(atttypid, atttypmod) FROM unnest(columns) WITH ORDINALITY AS c (name, n) JOIN pg_attribute ON attrelid = parts[2]::regclass AND attname = name ORDER BY c.n);
    RETURN 0;
END $$;
CREATE FUNCTION pg_catalog.broadcast_intermediate_result(result_id text, query text) RETURNS bigint LANGUAGE sql AS $$ SELECT dist.send('broadcast', $1, $2) $$;
CREATE FUNCTION pg_catalog.create_intermediate_result(result_id text, query text) RETURNS bigint LANGUAGE sql AS $$ SELECT dist.send('created', $1, $2) $$;
CREATE FUNCTION pg_catalog.read_intermediate_result(result_id text, format citus_copy_format DEFAULT 'csv') RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    expressions text;
BEGIN
    IF NOT EXISTS (SELECT FROM dist.files WHERE result = result_id AND kind = 'created') OR format <> 'text' THEN
        RAISE EXCEPTION 'there is no such file of %', result_id;
    END IF;
    IF pg_client_encoding() <> getdatabaseencoding() AND current_setting('citus.enable_binary_protocol', true) IS DISTINCT FROM 'off' THEN
        RAISE EXCEPTION 'text comes in the encoding of the client';
    END IF;
    SELECT string_agg(format('line[%s]::%s', t.n, t.type), ', ' ORDER BY t.n) INTO expressions FROM (SELECT types FROM dist.files WHERE result = result_id LIMIT 1) AS f, unnest(f.types) WITH ORDINALITY AS t (type, n);
    RETURN QUERY EXECUTE format('SELECT %s, NULL::pg_am FROM dist.files WHERE result = %L AND kind = ''broadcast''', expressions, result_id);
END $$;
SELECT format('ALTER EXTENSION citus ADD FUNCTION %s', oid::regprocedure) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '(intermediate_result|^create_.*_table|^truncate_local_data.*)$' ORDER BY 1 \gexec
ALTER EXTENSION citus ADD TABLE pg_catalog.pg_dist_object;
ALTER EXTENSION citus ADD TYPE pg_catalog.citus_copy_format;
CREATE EVENT TRIGGER kanon_made ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS') EXECUTE FUNCTION made();
CREATE EVENT TRIGGER kanon_dropped ON sql_drop WHEN TAG IN ('DROP TABLE') EXECUTE FUNCTION dropped();
INSERT INTO pg_dist_partition VALUES ('many', 'h', 's');
-- Workers have kanon, or not.
CREATE PROCEDURE workers(have boolean) LANGUAGE sql AS $$
    DELETE FROM pg_dist_object;
    INSERT INTO pg_dist_object SELECT 'pg_extension'::regclass, oid FROM pg_extension WHERE have AND extname = 'kanon';
$$;
CREATE FUNCTION kind(relation text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce((SELECT concat_ws(' ', partmethod, repmodel) FROM pg_dist_partition WHERE logicalrelid = to_regclass(relation)), 'here')
$$;
-- Published from both tables: how the two targets differ, and what kind of table the second is.
CREATE FUNCTION differ(call text, shown text, kept text DEFAULT NULL, source text DEFAULT 'here', distributed text DEFAULT 'few') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    settings text := settings();
    lines text[]; more bigint; classes bigint; n bigint;
    columns text := concat_ws(', ', shown, kept);
BEGIN
    FOR i IN 1..2 LOOP
        EXECUTE format('SELECT array_append($1, (SELECT jsonb_agg(to_jsonb(l) - ''{solve_ms,workers}''::text[])::text FROM %s AS l))',
            replace(call, '{}', format('%L, %L', (ARRAY[source, distributed])[i], (ARRAY['near', 'far'])[i]))) INTO lines USING lines;
    END LOOP;
    IF settings() <> settings THEN
        RETURN 'under other settings: ' || settings();
    END IF;
    EXECUTE format('SELECT count(*) FROM (SELECT %1$s FROM far EXCEPT ALL SELECT %1$s FROM near) AS r', columns) INTO more;
    EXECUTE format('SELECT count(*) FROM (SELECT %1$s, count(*) FROM far GROUP BY %1$s EXCEPT SELECT %1$s, count(*) FROM near GROUP BY %1$s) AS r', shown) INTO classes;
    SELECT count(*) INTO n FROM far;
    RETURN format('%s: %s rows, %s others, %s other classes, %s', kind('far'), n, more, classes, CASE WHEN lines[1] = lines[2] THEN 'the same release' ELSE 'another release: ' || lines[1] || lines[2] END);
END $$;
CREATE PROCEDURE left_behind() LANGUAGE plpgsql AS $$
DECLARE
    names text := (SELECT string_agg(relname, ' ') FROM pg_class WHERE relname ~ '^kanon_(staging|mapping|numbers|building)_');
BEGIN
    IF names IS NOT NULL THEN
        RAISE EXCEPTION 'left behind: %', names;
    END IF;
END $$;

-- ---- who writes ----

-- workers, and what is asked of them
CALL workers(true);
SELECT said('kanon_pattern_guided({}, ''{age,zip,fee}'', 60, mark => true, keep => ''{diagnosis,home}'', seed => 7)', 'many');
SELECT what FROM asked ORDER BY n;
SELECT kind('far'), count(*), count(DISTINCT fee::text), count(DISTINCT kanon_shard) > 9900 FROM far;
DROP TABLE far;
TRUNCATE asked;
CALL workers(false);
SELECT said('kanon_pattern_guided({}, ''{age,zip,fee}'', 60, mark => true, keep => ''{diagnosis,home}'', seed => 7)', 'many');
SELECT what FROM asked ORDER BY n;
SELECT kind('far'), count(*), count(DISTINCT fee::text), count(DISTINCT kanon_shard) > 9900 FROM far;
DROP TABLE far;
TRUNCATE asked;
-- this server, a row fewer, and it is everywhere
DELETE FROM many WHERE ctid = (SELECT max(ctid) FROM many);
CALL workers(true);
SELECT said('kanon_pattern_guided({}, ''{age,zip,fee}'', 60, keep => ''{diagnosis,home}'')', 'many');
SELECT what FROM asked ORDER BY n;
SELECT kind('far'), count(*) FROM far;
TRUNCATE asked;
-- what takes the place of a table becomes what that was, few rows as well
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'', replace => true)'), kind('far');
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, replace => true)'), kind('far');
UPDATE pg_dist_partition SET partmethod = 'h', repmodel = 's' WHERE logicalrelid = 'far'::regclass;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'', replace => true)'), kind('far');
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, replace => true)'), kind('far');
TRUNCATE asked;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'', replace => true)', 'here');
SELECT kind('far'), count(*), count(DISTINCT kanon_shard) > 600 FROM far;
SELECT what FROM asked ORDER BY n;
SET kanon.distribute = off;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'', replace => true)'), kind('far');
RESET kanon.distribute;
TRUNCATE asked;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, replace => true)'), kind('far');
SELECT what FROM asked ORDER BY n;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'', replace => true)'), kind('far');
-- what cannot be had
INSERT INTO hold VALUES ('^everywhere', 'SELECT 1 / 0');
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'')', target => 'dist.further'), kind('further');
DELETE FROM hold;
-- a worker in trouble has not said that it cannot do such a thing: its error ends the call
CREATE FUNCTION trouble(state text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = state, MESSAGE = 'a worker says so'; END $$;
CREATE FUNCTION clear() RETURNS void LANGUAGE sql AS $$ DELETE FROM dist.hold; SET LOCAL client_min_messages = error; DROP TABLE IF EXISTS dist.further; SET LOCAL client_min_messages = notice $$;
CREATE FUNCTION said_in_trouble(step text, state text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM clear();
    INSERT INTO dist.hold VALUES (step, format('SELECT dist.trouble(%L)', state));
    RETURN said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis}'')', target => 'dist.further');
END $$;
SELECT step, state, said_in_trouble(step, state) FROM unnest('{^distributed .*kanon_staging,^everywhere}'::text[]) AS step, unnest('{08006,08P01,40001,40P01,53100,53300,55006,57P01,57P03,XX000,XX001}'::text[]) AS state;
DELETE FROM hold;
-- what it says otherwise is taken for that
SELECT step, state, said_in_trouble(step, state) FROM unnest('{^distributed .*kanon_staging,^everywhere}'::text[]) AS step, unnest('{0A000,42883,42501,22012}'::text[]) AS state;
SELECT clear();
CREATE VIEW odd AS SELECT age, zip, diagnosis, 1 AS kanon_place FROM few;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 20, keep => ''{diagnosis,kanon_place}'', replace => true)', 'odd'), kind('far');
SELECT count(*) FROM far;
DROP VIEW odd;
CALL left_behind();

-- ---- the release is that of a table here ----

DROP TABLE far;
CREATE TABLE far (age int, kanon_shard int);
INSERT INTO pg_dist_partition VALUES ('far', 'h', 's');
CREATE TABLE calls (n serial, call text, shown text, kept text);
INSERT INTO calls (call, shown, kept) VALUES
    ('kanon_pattern_guided({}, ''{age,zip,fee}'', 20, mark => true, keep => ''{diagnosis,home}'', seed => 7, replace => true)', 'age, zip, fee, kanon_pattern', 'diagnosis, home'),
    ('kanon_pattern_guided({}, ''{age,zip,fee}'', 20, seed => 7, replace => true)', 'age, zip, fee', NULL),
    ('kanon_pattern_guided({}, ''{zip,age}'', 100, residual => ''drop'', patterns => ''{--,*-}'', privacy => ARRAY[kanon_distinct_l(''diagnosis'', 4)], keep => ''{diagnosis,home}'', seed => 7, replace => true)', 'age, zip', 'diagnosis, home'),
    ('kanon_full_domain({}, ''{age,zip}'', 30, hierarchies => ''{"age": {"interval": [2, 4]}}'', keep => ''{diagnosis,home}'', replace => true)', 'age, zip', 'diagnosis, home'),
    ('kanon_cluster({}, ''{age,zip}'', 50, keep => ''{diagnosis,home}'', seed => 7, replace => true)', 'age, zip', NULL),
    ('kanon_subtree({}, ''{age,zip}'', 30, hierarchies => ''{"age": {"interval": [2, 4]}, "zip": {"prefix": [1]}}'', keep => ''{diagnosis,home}'', replace => true)', 'age, zip', 'diagnosis, home'),
    ('kanon_freeform({}, ''{age,zip}'', 5, ''sort_greedy'', 100, keep => ''{diagnosis,home}'', replace => true)', 'age, zip', NULL),
    ('kanon_pattern_guided({}, ''{age,zip,fee}'', 20, partition_by => ''age'', keep => ''{diagnosis}'', seed => 7, replace => true)', 'age, zip, fee', 'diagnosis');
SELECT n, differ(call, shown, kept) FROM calls ORDER BY n;
CALL workers(false);
SELECT n, differ(call, shown, kept) FROM calls WHERE n IN (1, 3, 5) ORDER BY n;
CALL workers(true);
-- a view and a partitioned table, and columns with the names that kanon gives
CREATE VIEW seen AS SELECT * FROM few;
CREATE TABLE parted (LIKE here) PARTITION BY LIST (age);
CREATE TABLE parted_20 PARTITION OF parted FOR VALUES IN (20);
CREATE TABLE parted_others PARTITION OF parted DEFAULT;
INSERT INTO parted TABLE here;
INSERT INTO pg_dist_partition VALUES ('parted_others', 'h', 's');
CREATE VIEW counted AS SELECT age AS kanon_rows, zip, diagnosis FROM few;
CREATE VIEW counted_here AS SELECT age AS kanon_rows, zip, diagnosis FROM here;
SELECT differ(call, shown, kept, distributed => distributed) FROM calls, unnest('{seen,parted}'::text[]) AS distributed WHERE n = 1;
SELECT differ('kanon_pattern_guided({}, ''{kanon_rows,zip}'', 20, keep => ''{diagnosis}'', replace => true)', 'kanon_rows, zip', 'diagnosis', 'counted_here', 'counted');
DROP VIEW seen, counted, counted_here;
DROP TABLE parted;
-- another access method's pages need not have a first row
CREATE ACCESS METHOD kanon_heap TYPE TABLE HANDLER heap_tableam_handler;
SET default_table_access_method = kanon_heap;
SELECT differ(call, shown, kept) FROM calls WHERE n = 1;
RESET default_table_access_method;
DROP TABLE near, far;
DROP ACCESS METHOD kanon_heap;
CREATE TABLE far (age int, kanon_shard int);
INSERT INTO pg_dist_partition VALUES ('far', 'h', 's');
-- types that are divided among classes, in order of their lots: each takes just so many (only so can all have 32)
CREATE TABLE three AS SELECT i AS id, 1 AS age, CASE WHEN i <= 40 THEN 'a' WHEN i <= 76 THEN 'b' ELSE 'c' END AS zip, CASE WHEN i <= 40 THEN 1 WHEN i <= 76 THEN 2 ELSE 3 END AS home FROM generate_series(1, 96) i;
INSERT INTO pg_dist_partition VALUES ('three', 'h', 's');
-- (workers write the rows, and a copy of what is hidden is found in some of them, also where workers have nothing of kanon)
\set copied 'kanon_pattern_guided({}, ''{age,zip}'', 32, ''improve'', patterns => ''{--,-*}'', keep => ''{home,id}'', allow_identifying => ''{id}'', replace => true)'
SELECT said(:'copied', 'three');
CALL workers(false);
SELECT said(:'copied', 'three');
CALL workers(true);
\set three 'kanon_pattern_guided({}, ''{age,zip}'', 32, ''improve'', patterns => ''{--,-*}'', keep => ''{home,id}'', allow_identifying => ''{home,id}'', seed => 7, replace => true)'
\set shares 'SELECT string_agg(concat_ws('' '', zip, home, n), '', '' ORDER BY zip, home) FROM (SELECT zip, home, count(*) AS n FROM far GROUP BY 1, 2) AS c'
TRUNCATE asked;
SELECT said(:'three', 'three');
:shares;
SELECT what FROM asked ORDER BY n;
CREATE TABLE before AS SELECT id FROM far WHERE zip IS NULL AND home < 3;
SELECT said(:'three', 'three');
SELECT count(*) < 12 AS drawn FROM before JOIN far USING (id) WHERE zip IS NULL;
CALL workers(false);
TRUNCATE asked;
SELECT said(:'three', 'three');
:shares;
SELECT what FROM asked WHERE what !~ 'kanon_staging' ORDER BY n;
CALL workers(true);
-- rows of a class lie together in each of the two shards, and the order of the source is not there
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 60, patterns => ''{**}'', keep => ''{home,id}'', allow_identifying => ''{home,id}'', replace => true)', 'three');
SELECT abs(corr(place, id)) < 0.7 AS id, abs(corr(place, home)) < 0.7 AS home FROM (SELECT row_number() OVER (ORDER BY ctid) AS place, id, home FROM far) AS r;
SELECT said('kanon_pattern_guided({}, ''{age,zip}'', 5, keep => ''{diagnosis}'', patterns => ''{--}'', replace => true)');
SELECT count(*) FILTER (WHERE (age, zip) IS DISTINCT FROM (last_age, last_zip)) <= 2 * count(DISTINCT (age, zip)) AS together FROM (SELECT age, zip, lag(age) OVER w AS last_age, lag(zip) OVER w AS last_zip FROM far WINDOW w AS (ORDER BY ctid)) AS r;
-- thousands of types in little memory: workers tell them again, and rows are joined with their classes
CREATE TABLE thousands AS SELECT i % 3000 AS age, i % 13 AS diagnosis FROM generate_series(1, 6000) i;
INSERT INTO pg_dist_partition VALUES ('thousands', 'h', 's');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
TRUNCATE asked;
SELECT said('kanon_pattern_guided({}, ''{age}'', 2, keep => ''{diagnosis}'', replace => true)', 'thousands');
SELECT what FROM asked WHERE what ~ '_types' ORDER BY n;
SELECT count(*) FROM (SELECT age FROM far GROUP BY age HAVING count(*) = 2) AS c;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE thousands;
-- values of many types, under settings of the session that have others, and in a client's encoding
CREATE DOMAIN size AS numeric(6, 2);
CREATE TYPE mood AS ENUM ('glad, or so', 'sad');
CREATE TABLE typed_here AS SELECT i AS id, date '2001-02-03' + i % 3 AS born, timestamptz '2001-02-03 04:05:06.789+09' + i % 3 * interval '1 hour' AS seen, 1 / (3 + i % 3)::float8 AS weight, (i % 3 + 1.5) * interval '1 day' AS stay,
    decode('00ff5c0' || i % 3, 'hex') AS raw, ('a' || i % 3)::char(3) AS code, (E'\\N\t\n\u00e9' || nullif(i % 3, 2))::varchar(9) AS name, (i % 3 + 0.25)::size AS size, ARRAY['\N', 'a"b', NULL] AS tags, ('x' || i % 3) COLLATE "C" AS word,
    CASE i % 3 WHEN 0 THEN 'sad' ELSE 'glad, or so' END::mood AS mood, CASE i % 3 WHEN 0 THEN 'pg_class' ELSE 'pg_type' END::regclass AS kin, (i % 3)::money AS price
    FROM generate_series(1, 60) i;
CREATE TABLE typed WITH (autovacuum_enabled = off) AS TABLE typed_here;
INSERT INTO pg_dist_partition VALUES ('typed', 'h', 's');
SET client_encoding = 'LATIN1';
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -10;
SET TimeZone = 'Asia/Tokyo';
SET bytea_output = 'escape';
SELECT differ(format('kanon_pattern_guided({}, ''{%s}'', 20, keep => ''{id}'', allow_identifying => ''{id}'', replace => true)', columns), columns, 'id', 'typed_here', 'typed')
FROM unnest('{"born,seen,weight,stay,raw,code,name,size,word","born,seen,weight,stay,raw,code,name,size,word,tags"}'::text[]) AS columns;
SELECT coalesce(nullif(current_setting('citus.enable_binary_protocol', true), ''), 'as it was');
RESET client_encoding;
RESET DateStyle;
RESET IntervalStyle;
RESET extra_float_digits;
RESET TimeZone;
RESET bytea_output;
CALL left_behind();

-- ---- what workers cannot do ----

SET dist.shards = 'one';
SELECT n, differ(format('kanon_pattern_guided({}, %s, replace => true)', call), shown, NULL, source, distributed) FROM (VALUES
    (1, '''{mood}'', 20', 'mood', 'typed_here', 'typed'),
    (2, '''{kin}'', 20', 'kin', 'typed_here', 'typed'),
    (3, '''{price,mood}'', 20', 'price, mood', 'typed_here', 'typed'),
    (4, '''{age,zip}'', 20, keep => ''{name}'', mask => ''{"name": {"pseudonym": "release"}}''', 'age, zip', 'here', 'few'),
    (5, '''{age,zip}'', 20, keep => ''{diagnosis}'', privacy => ARRAY[kanon_alpha(''diagnosis'', 0.9), kanon_subject(''id'')]', 'age, zip', 'here', 'few')) AS v (n, call, shown, source, distributed);
CREATE TYPE pair AS (a int, b int);
CREATE DOMAIN feeling AS mood;
CREATE TYPE moods AS RANGE (subtype = mood, multirange_type_name = many_moods);
ALTER TABLE typed ADD pair pair DEFAULT ROW(1, 2), ADD pairs pair[] DEFAULT '{"(1,2)"}', ADD moods mood[] DEFAULT '{sad}', ADD within moods DEFAULT '[sad,sad]', ADD among many_moods DEFAULT '{[sad,sad]}', ADD feeling feeling DEFAULT 'sad', ADD owner oid DEFAULT 10;
SELECT name, said(format('kanon_pattern_guided({}, ''{%s}'', 20, replace => true)', name), 'typed') FROM unnest('{pair,pairs,moods,within,among,feeling,owner}'::text[]) AS name;
SELECT kind('far');
-- a hash that says nothing
CREATE FUNCTION nothing(money) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION nothing(money, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint';
CREATE OPERATOR CLASS nothing DEFAULT FOR TYPE money USING hash AS OPERATOR 1 =, FUNCTION 1 nothing(money), FUNCTION 2 nothing(money, bigint);
SELECT said('kanon_pattern_guided({}, ''{price}'', 20, replace => true)', 'typed'), said('kanon_pattern_guided({}, ''{price,tags}'', 20, replace => true)', 'typed');
DROP OPERATOR FAMILY nothing USING hash;
DROP TABLE typed, typed_here;

-- ---- persons ----

RESET dist.shards;
CREATE TABLE visits_here AS SELECT i AS id, i % 60 AS person, 20 + i % 60 % 13 / 4 AS age, 'z' || i % 60 % 3 AS zip, 'd' || i * 7919 % 13 AS diagnosis, md5((i % 60)::text) AS own, md5('n' || i % 120) AS half FROM generate_series(1, 240) i;
CREATE TABLE visits AS TABLE visits_here;
INSERT INTO pg_dist_partition VALUES ('visits', 'h', 's');
SELECT n, differ(format('kanon_pattern_guided({}, ''{age,zip}'', %s, seed => 7, replace => true)', arguments), 'age, zip', NULL, 'visits_here', 'visits') FROM (VALUES
    (1, '4, privacy => ARRAY[kanon_subject(''person'')], keep => ''{diagnosis}'''),
    (2, '5, privacy => ARRAY[kanon_subject(''person'')], residual => ''drop'', patterns => ''{--,-*}'', keep => ''{diagnosis}'''),
    (3, '4, privacy => ARRAY[kanon_subject(''person'')]'),
    (4, '4, privacy => ARRAY[kanon_alpha(''diagnosis'', 0.9), kanon_subject(''person'')], residual => ''drop'', mark => true, keep => ''{diagnosis}''')) AS v (n, arguments);
CREATE FUNCTION identifies(source text) RETURNS TABLE (columns text, persons boolean, said text) LANGUAGE sql AS $$
    SELECT c, p, dist.said(format('kanon_pattern_guided({}, ''{age,zip}'', 4, keep => ''{%s}'', privacy => %L, replace => true)', c, CASE WHEN p THEN ARRAY[kanon_subject('person')] END), source)
    FROM unnest('{"id,diagnosis,own","half"}'::text[]) AS c, unnest('{f,t}'::bool[]) AS p
$$;
SET dist.shards = 'one';
CREATE TABLE identified AS SELECT * FROM identifies('visits_here');
TABLE identified;
SELECT * FROM identifies('visits') EXCEPT TABLE identified;
CALL workers(false);
SELECT * FROM identifies('visits') EXCEPT TABLE identified;
SELECT differ('kanon_pattern_guided({}, ''{age,zip}'', 4, privacy => ARRAY[kanon_subject(''person'')], keep => ''{diagnosis}'', seed => 7, replace => true)', 'age, zip', NULL, 'visits_here', 'visits');
CALL workers(true);
-- more columns than are counted at once
SELECT format('CREATE TABLE columns AS SELECT i %% 3 AS age, %s, i AS last FROM generate_series(1, 60) i', string_agg(format('%s AS c%s', c, c), ', ')) FROM generate_series(1, 70) c \gexec
INSERT INTO pg_dist_partition VALUES ('columns', 'h', 's');
SELECT said(format('kanon_pattern_guided({}, ''{age}'', 5, keep => ''{%s}'', replace => true)', string_agg('c' || c, ',') || last), 'columns') FROM generate_series(1, 70) c, (VALUES (''), (',last')) AS v (last) GROUP BY last ORDER BY last;
DROP TABLE columns;
CALL left_behind();

-- ---- somebody meddles ----

CREATE FUNCTION meddled(call text, step text, work text, source text DEFAULT 'few') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    INSERT INTO hold VALUES (step, work);
    answer := dist.said(call, source);
    DELETE FROM hold;
    RETURN answer;
END $$;
-- with what is made for workers: it has just the columns that it was made with, and nothing else
\set call 'kanon_pattern_guided({}, ''{age,zip}'', 20, mark => true, keep => ''{diagnosis}'', replace => true)'
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
SELECT said, string_agg(work, E'\n  ' ORDER BY n) FROM (SELECT work, n, meddled(:'call', '^made dist.kanon_mapping', work) AS said FROM unnest(ARRAY['ALTER TABLE {} ADD extra int', 'ALTER TABLE {} ADD CHECK (true)', 'ALTER TABLE {} ALTER class SET NOT NULL', 'CREATE INDEX ON {} (class)',
    'CREATE TRIGGER t BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION dist.nothing()', 'CREATE RULE r AS ON INSERT TO {} DO ALSO SELECT 1', 'ALTER TABLE {} ENABLE ROW LEVEL SECURITY', 'CREATE TABLE dist.child () INHERITS ({})', 'ALTER TABLE {} ALTER types TYPE text',
    'ALTER TABLE {} DROP class, ADD class int', 'ALTER TABLE {} DROP c3, ADD c3 text', 'ALTER TABLE {} ALTER c1 TYPE bigint', 'ALTER TABLE {} ALTER c2 TYPE varchar(20)', 'ALTER TABLE {} ALTER c2 TYPE text COLLATE "C"', 'ALTER TABLE {} DROP c3']) WITH ORDINALITY AS w (work, n)) AS m GROUP BY said;
SELECT meddled(:'call', '^made dist.kanon_building', 'ALTER TABLE {} ADD CHECK (true)');
SELECT said, string_agg(work, E'\n  ' ORDER BY n) FROM (SELECT work, n, meddled(:'call', '^made dist.kanon_numbers', work) AS said FROM unnest(ARRAY['ALTER TABLE {} ADD extra int', 'ALTER TABLE {} ALTER numbers SET NOT NULL', 'CREATE INDEX ON {} (numbers)',
    'CREATE TRIGGER t BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION dist.nothing()', 'CREATE RULE r AS ON INSERT TO {} DO ALSO SELECT 1', 'ALTER TABLE {} ALTER numbers TYPE text']) WITH ORDINALITY AS w (work, n)) AS m GROUP BY said;
-- with row types as they are told
SELECT name, meddled(:'call', 'packed', expression) FROM (VALUES
    (1, 'values that nobody has told', 'substr($1, 1, 12)'),
    (2, 'no hash', 'NULL::bytea'),
    (3, 'too short for a lot', 'substr($1, 1, 3)'),
    (4, 'too short for a hash', 'substr($1, 1, 11)'),
    (5, 'too short for the size of a value', 'substr($1, 1, 14)'),
    (6, 'too short for a value', 'substr($1, 1, 17)'),
    (7, 'more than the values', '$1 || $1'),
    (8, 'more than a value', 'CASE WHEN octet_length($1) > 12 THEN set_byte(substr($1, 1, 20) || substr($1, 1, 1) || substr($1, 21), 15, 5) ELSE $1 END'),
    (9, 'less than nothing', $$CASE WHEN octet_length($1) > 12 THEN overlay($1 PLACING '\xfffffffe' FROM 13 FOR 4) ELSE $1 END$$),
    (10, 'hashes of other values', 'overlay($1 PLACING int8send(kanon_internal.kanon_row_type_hash($1) + 1) FROM 5 FOR 8)')) AS v (n, name, expression) ORDER BY n;
-- two types with one hash: set aside again, under another seed
TRUNCATE asked;
SELECT meddled(:'call', 'packed', 'overlay($1 PLACING int8send(1) FROM 5 FOR 8)');
SELECT what FROM asked WHERE what ~ 'kanon_staging' ORDER BY n;
SELECT said(:'call', 'here', 'near');
SELECT count(*) FROM (SELECT age, zip, diagnosis FROM far EXCEPT ALL SELECT age, zip, diagnosis FROM near) AS more;
-- the second that is told like the first, and not the third
CREATE TABLE hashes (n serial, hash bigint);
CREATE FUNCTION alike(packed bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    this bigint := kanon_internal.kanon_row_type_hash(packed);
BEGIN
    INSERT INTO dist.hashes (hash) SELECT this WHERE this NOT IN (SELECT hash FROM dist.hashes);
    RETURN CASE WHEN (SELECT n = 2 FROM dist.hashes WHERE hash = this) THEN overlay(packed PLACING int8send((SELECT hash FROM dist.hashes WHERE n = 1)) FROM 5 FOR 8) ELSE packed END;
END $$;
TRUNCATE asked;
SELECT meddled(:'three', 'packed', 'dist.alike($1)', 'three');
SELECT count(*) FROM asked WHERE what ~ '^made dist.kanon_staging';
:shares;
-- with rows that were set aside, before they are grouped and after that
RESET dist.shards;
CREATE FUNCTION change(relation text, statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE replace(statement, '@', (SELECT min(oid::regclass::text) FROM pg_class WHERE relname ~ ('^' || relation || '_\d+$')));
END $$;
SELECT meddled(:'call', '^made dist.kanon_building', 'TRUNCATE dist.other_shard'), meddled(:'call', '^made dist.kanon_building', 'TRUNCATE dist.shard, dist.other_shard');
CREATE TABLE copied (kanon_shard int, kanon_place bigint, age int, zip text, home int, id int) PARTITION BY HASH (kanon_shard);
CREATE TABLE copied_0 PARTITION OF copied FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE copied_1 PARTITION OF copied FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO copied SELECT i, i, 1, CASE WHEN i <= 44 THEN 'a' WHEN i <= 76 THEN 'b' ELSE 'c' END, 1, i FROM generate_series(1, 96) i;
ALTER TABLE copied DETACH PARTITION copied_0;
ALTER TABLE copied DETACH PARTITION copied_1;
CREATE FUNCTION copy_in() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('dist.shard') IS NOT NULL THEN
        PERFORM dist.change('kanon_staging', 'ALTER TABLE @ DETACH PARTITION dist.shard'), dist.change('kanon_staging', 'ALTER TABLE @ DETACH PARTITION dist.other_shard'),
            dist.change('kanon_staging', 'ALTER TABLE @ ATTACH PARTITION dist.copied_0 FOR VALUES WITH (MODULUS 2, REMAINDER 0)'), dist.change('kanon_staging', 'ALTER TABLE @ ATTACH PARTITION dist.copied_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)');
        DROP TABLE dist.shard, dist.other_shard;
    END IF;
END $$;
SELECT name, meddled(:'three', '^created kanon_numbers', statement, 'three') FROM (VALUES (1, 'half of them', 'TRUNCATE dist.shard'), (2, 'none', 'TRUNCATE dist.shard, dist.other_shard'),
    (3, 'not the first type', 'UPDATE dist.files SET line[1] = (line[1]::bigint[])[2:]::text WHERE kind = ''broadcast'' AND result = ''{}'' AND array_length(line[1]::bigint[], 1) > 1'),
    (4, 'not the last type', 'UPDATE dist.files SET line[1] = (line[1]::bigint[])[:1]::text WHERE kind = ''broadcast'' AND result = ''{}'' AND array_length(line[1]::bigint[], 1) > 1')) AS v (n, name, statement) ORDER BY n;
CALL workers(false);
SELECT name, meddled(:'three', '^made dist.kanon_numbers', statement, 'three') FROM (VALUES (1, 'half of them', 'TRUNCATE dist.shard'), (2, 'none', 'TRUNCATE dist.shard, dist.other_shard'),
    (3, 'more of one type, fewer of the other', 'SELECT dist.copy_in()')) AS v (n, name, statement) ORDER BY n;
CALL workers(true);
\set visited 'kanon_pattern_guided({}, ''{age,zip}'', 4, privacy => ARRAY[kanon_subject(''person'')], keep => ''{diagnosis}'', replace => true)'
SELECT name, meddled(:'visited', step, statement, 'visits') FROM (VALUES
    (1, 'other persons', '^made dist.kanon_mapping', 'SELECT dist.change(''kanon_staging'', ''UPDATE @ SET person = person % 21'')'),
    (2, 'nobody', '^made dist.kanon_mapping', 'SELECT dist.change(''kanon_staging'', ''UPDATE @ SET person = NULL'')'),
    (3, 'other classes', '^distributed dist.kanon_building', 'SELECT dist.change(''kanon_mapping'', ''UPDATE @ SET class = (class + 1) % (SELECT count(DISTINCT class) FROM @)::int'')')) AS v (n, name, step, statement) ORDER BY n;
-- with what they have written
SELECT meddled('kanon_pattern_guided({}, ''{age}'', 20, keep => ''{diagnosis}'', replace => true)', '^dropped dist.kanon_mapping', format('SELECT dist.change(''kanon_building'', %L)', statement)) FROM unnest(ARRAY[
    'UPDATE @ SET age = 21 WHERE kanon_shard = (SELECT min(kanon_shard) FROM @ WHERE age = 22)',
    'DELETE FROM @ WHERE kanon_shard = (SELECT min(kanon_shard) FROM @ WHERE age = 22)',
    'UPDATE @ SET age = 70 WHERE kanon_shard = (SELECT min(kanon_shard) FROM @ WHERE age = 22)']) AS statement;
-- with what they say of kept columns, in a reading of its own (persons are counted) and beside rows: half of a value, and columns that are not there
SELECT pg_get_functiondef(oid) AS right FROM pg_proc WHERE proname = 'kanon_sampled' \gset
CREATE OR REPLACE FUNCTION kanon_internal.kanon_sampled(forgotten integer, kept_values record) RETURNS bytea LANGUAGE internal STABLE PARALLEL SAFE AS 'int4send';
SELECT said(:'visited', 'visits');
CREATE OR REPLACE FUNCTION kanon_internal.kanon_sampled(forgotten integer, kept_values record) RETURNS bytea LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN '\x000100000000'::bytea; END $$;
SELECT said(:'visited', 'visits');
:right;
SELECT said(:'visited', 'visits');
SELECT pg_get_functiondef(oid) AS right FROM pg_proc WHERE proname = 'kanon_shard_rows' \gset
CREATE OR REPLACE FUNCTION kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}') RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$ SELECT 20, 'z', 1, '\x0000'::bytea, 1::bigint $$;
SELECT said(:'call');
CREATE OR REPLACE FUNCTION kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}') RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$ SELECT 20, 'z', 1, '\x000100000000'::bytea, 1::bigint $$;
SELECT said(:'call');
:right;
SELECT said(:'call');
CALL left_behind();

-- ---- publications, and other functions ----

-- where the release before is distributed, so is the next; the view does not say where a row is
SELECT FROM kanon_create_publication('nightly', 'few', '{age,zip}', 20, options => '{"keep": ["diagnosis"]}', keep_releases => 2);
SELECT kind('nightly_release_1');
UPDATE pg_dist_partition SET partmethod = 'h', repmodel = 's' WHERE logicalrelid = 'nightly_release_1'::regclass;
SELECT status, row_count FROM kanon_refresh('nightly');
SELECT kind('nightly_release_2'), attname, (SELECT count(*) FROM nightly) FROM pg_attribute WHERE attrelid = 'nightly'::regclass AND attnum > 0 ORDER BY attnum;
SELECT FROM kanon_drop_publication('nightly');
-- persons of releases before are looked after here
SELECT FROM kanon_create_publication('nightly', 'few', '{age,zip}', 20, options => '{"keep": ["diagnosis"], "mark": true}', key => 'id', protect_successive => true);
UPDATE pg_dist_partition SET partmethod = 'h', repmodel = 's' WHERE logicalrelid = 'nightly_release_1'::regclass;
DELETE FROM few WHERE id <= 60;
SELECT status, row_count FROM kanon_refresh('nightly');
SELECT kind('nightly_release_2'), count(*), count(DISTINCT kanon_shard) > 500 FROM nightly_release_2;
SELECT FROM kanon_drop_publication('nightly');
INSERT INTO few SELECT * FROM here WHERE id <= 60;
-- what is more than classes is written here
SELECT said('kanon_anatomy({}, ''dist.shown'', ''{age,zip}'', ''diagnosis'', 3)', target => 'dist.anatomy'), kind('anatomy');
SET kanon.distribute = off;
SELECT said('kanon_anatomy({}, ''dist.also_shown'', ''{age,zip}'', ''diagnosis'', 3)', target => 'dist.also');
RESET kanon.distribute;
-- rows of a distributed table are counted by who attacks it, once
SELECT said(:'call');
SELECT a.measure, a.value = b.value AS same FROM kanon_attack('here', 'far', 'id', '{age,zip}', 1) AS a JOIN kanon_attack('here', 'near', 'id', '{age,zip}', 1) AS b USING (measure) WHERE measure <> 'success_observed' ORDER BY 1;
-- by parts, whose row types are on disk
CREATE TABLE sites_here AS SELECT i % 24 AS site, hashint4(i) & 31 AS a, hashint4(i + 1000000) & 15 AS b, CASE WHEN i % 3 = 0 THEN 1.50 ELSE 1.5 END + (hashint4(i + 2000000) & 31) AS c, i % 13 AS d FROM generate_series(1, 8000) i;
CREATE TABLE sites WITH (autovacuum_enabled = off) AS TABLE sites_here;
INSERT INTO pg_dist_partition VALUES ('sites', 'h', 's');
\set parts 'kanon_pattern_guided({}, ''{site,a,b,c}'', 5, partition_by => ''site'', seed => 7, keep => ''{d}'', privacy => ARRAY[kanon_distinct_l(''d'', 2)], replace => true)'
SET kanon.max_memory = '1MB';
SET work_mem = '64kB';
SELECT differ(:'parts', 'site, a, b, c', 'd', 'sites_here', 'sites');
SELECT meddled(:'parts', '^made dist.kanon_building', 'TRUNCATE dist.shard', 'sites');
-- the types of those that are left do not fit into memory either
INSERT INTO sites SELECT site, a + 32, b, c, d FROM sites_here;
SELECT meddled(:'parts', '^made dist.kanon_building', 'TRUNCATE dist.shard', 'sites');
RESET kanon.max_memory;
RESET work_mem;
CALL left_behind();

-- ---- and all of it goes ----

SET client_min_messages = warning;
DROP EVENT TRIGGER kanon_made;
DROP EVENT TRIGGER kanon_dropped;
DROP SCHEMA dist CASCADE;
DROP EXTENSION citus CASCADE;
SELECT count(*) FROM (SELECT FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND oid >= 16384 UNION ALL SELECT FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND oid >= 16384
    UNION ALL SELECT FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND oid >= 16384 UNION ALL SELECT FROM pg_extension WHERE extname = 'citus') AS left_behind;
