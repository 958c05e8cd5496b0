-- The calls that take longest: nearly unique rows, dozens of columns, frontiers, publications, freeform, masks and pages.
-- Processor time of this backend, without parallel workers, on tables that are made here (and on Adult).
\echo
\echo 'corners: slow calls (medians; each line a ratio within one run; "1 s": seconds)'
SET bench.processor = on;
SET max_parallel_workers_per_gather = 0;

-- d(i, salt, n): 0 to n - 1, low ones often
CREATE FUNCTION d(i int, salt int, n int) RETURNS int LANGUAGE sql IMMUTABLE
AS $$ SELECT floor(n * power((hashint8(i * 67::bigint + salt)::bigint & 65535) / 65536.0, 2))::int $$;
CREATE TABLE nearly_unique AS
SELECT d(i, 1, 90) AS a, d(i, 2, 60) AS b, d(i, 3, 40) AS c, d(i, 4, 30) AS d, d(i, 5, 20) AS e, d(i, 6, 12) AS f, d(i, 7, 8) AS g, d(i, 8, 5) AS h,
       i AS person, 'ill ' || d(i, 9, 9) AS ill FROM generate_series(1, 1000000) i;
CREATE TABLE nearly_unique_texts AS
SELECT 'a ' || a AS a, DATE '1950-01-01' + 200 * b AS b, 'c ' || c AS c, DATE '2020-01-01' + d AS d, 'e ' || e AS e, 'f ' || f AS f, 'g ' || g AS g, 'h ' || h AS h FROM nearly_unique;
CREATE FUNCTION dozens(target text, nrows int, ncolumns int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I AS SELECT %s FROM generate_series(1, %s) AS i', target,
        (SELECT string_agg(format('floor((2 + %s %% 19) * power((hashint8(i * 67::bigint + %s)::bigint & 65535) / 65536.0, 3))::int AS c%s', c * 7, c, c), ', ')
         FROM generate_series(1, ncolumns) AS c), nrows);
END $$;
SELECT FROM dozens('dozens30', 20000, 30);
SELECT FROM dozens('dozens64', 20000, 64);
VACUUM ANALYZE;

CREATE FUNCTION guided(source text, qis text, options text DEFAULT '') RETURNS text LANGUAGE sql
AS $$ SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 5%s)', source, 'bench_out', qis, options) $$;
-- Notes the processor seconds of one call.
CREATE PROCEDURE takes(name text, call text, must float8, aim float8) LANGUAGE plpgsql AS $$
DECLARE
    since float8 := stopwatch();
BEGIN
    EXECUTE call;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim) SELECT 'corners', name || ' / 1 s', ms, 1000, ms / 1000, must, aim FROM (SELECT stopwatch() - since AS ms) m;
    DROP TABLE IF EXISTS bench_out;
    COMMIT;
END $$;
-- one GROUP BY and one copy
CREATE PROCEDURE group_and_copy(source text, kept text DEFAULT '') LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %I GROUP BY a, b, c, d, e, f, g, h) g', source);
    EXECUTE format('CREATE TABLE bench_out AS SELECT a, b, c, d, e, f, g, h%s FROM %I', kept, source);
END $$;
CALL compare('corners', 'a million nearly unique rows, 8 numbers / GROUP BY and copy', guided('nearly_unique', '{a,b,c,d,e,f,g,h}'), 'CALL group_and_copy(''nearly_unique'')', 1.4, 1.1);
CALL compare('corners', 'the same, texts and dates / GROUP BY and copy', guided('nearly_unique_texts', '{a,b,c,d,e,f,g,h}'), 'CALL group_and_copy(''nearly_unique_texts'')', 1.4, 1.1);
CALL compare('corners', 'the same with kanon_subject and l = 2 / GROUP BY and copy',
    guided('nearly_unique', '{a,b,c,d,e,f,g,h}', $$, keep => '{person,ill}', mask => '{"person": "pseudonym"}', privacy => ARRAY[kanon_subject('person'), kanon_distinct_l('ill', 2)]$$),
    'CALL group_and_copy(''nearly_unique'', '', person, ill'')', 2.5, 1.5, 1);
CALL compare('corners', 'kanon_frontier over ten ks of these / one dry run',
    $$SELECT FROM kanon_frontier('nearly_unique', '{a,b,c,d,e,f,g,h}', '{2,3,5,8,10,20,30,50,80,100}')$$, guided('nearly_unique', '{a,b,c,d,e,f,g,h}', ', dry_run => true'), 3, NULL, 1);
SELECT guided('dozens30', (SELECT array_agg('c' || c)::text FROM generate_series(1, 30) c)) AS call30,
       guided('dozens64', (SELECT array_agg('c' || c)::text FROM generate_series(1, 64) c)) AS call64 \gset
CALL takes('20,000 rows x 30 columns, k = 5', :'call30', 3, 1);
CALL takes('20,000 rows x 64 columns, k = 5', :'call64', 10, 2);

-- publications: what a dry run takes beside reading and solving, and a refresh where nothing changed beside one that makes a release
CREATE TABLE published AS SELECT row_number() OVER () AS id, a.* FROM adult a, generate_series(1, 10) AS copy;
ALTER TABLE published ADD PRIMARY KEY (id);
ANALYZE published;
\set few '{age,workclass,education,marital_status,race,sex,native_country}'
SELECT FROM kanon_create_publication('corner', 'published', :'few', 5, '{"keep": ["occupation"]}');
SELECT FROM kanon_create_publication('corner_key', 'published', :'few', 5, '{"keep": ["occupation"]}', key => 'id');
SELECT format('SELECT FROM kanon_pattern_guided(%L, NULL, %L, 6, keep => %L, dry_run => true)', 'published', :'few', '{occupation}') AS solved \gset
CALL compare('corners', 'dry run of a publication, 325,000 rows / reading and solving', 'SELECT kanon_alter_publication(''corner'', k => 6, dry_run => true)', :'solved', 1.1, 1);
CALL compare('corners', 'the same with a key / reading and solving', 'SELECT kanon_alter_publication(''corner_key'', k => 6, dry_run => true)', :'solved', 1.1, 1);
CALL compare('corners', 'refresh where nothing changed / reading and solving', 'SELECT kanon_refresh(''corner'')', :'solved', 1, NULL);
SELECT kanon_drop_publication('corner');
SELECT kanon_drop_publication('corner_key');

-- freeform: Adult's first 1,000 rows, and 10,000
CREATE TABLE adult1000 AS SELECT * FROM adult LIMIT 1000;
CREATE TABLE adult10000 AS SELECT * FROM adult LIMIT 10000;
ANALYZE;
\set eight '{age,workclass,education,marital_status,occupation,race,sex,native_country}'
CALL takes('hungarian, 1,000 rows, k = 10', format('SELECT FROM kanon_freeform(%L, %L, %L, 10, method => %L)', 'adult1000', 'bench_out', :'eight', 'hungarian'), 10, 4);
CREATE PROCEDURE loses_beside(source text, k int) LANGUAGE plpgsql AS $$
DECLARE
    lost float8[] := '{}';
    method text;
BEGIN
    FOREACH method IN ARRAY '{sort_greedy,concealment}'::text[] LOOP
        EXECUTE format('SELECT FROM kanon_freeform(%L, %L, %L, %s, method => %L)', source, 'bench_out', '{age,workclass,education,marital_status,occupation,race,sex,native_country}', k, method);
        lost := lost || (SELECT gcp FROM kanon_usefulness ORDER BY run DESC LIMIT 1);
        DROP TABLE bench_out;
    END LOOP;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    VALUES ('corners', format('GCP of %s, k = %s: sort_greedy / concealment (figures, not ms)', source, k), lost[1], lost[2], lost[1] / lost[2], 1, 0.95);
    COMMIT;
END $$;
CALL loses_beside('adult1000', 30);
CALL loses_beside('adult1000', 50);
CALL loses_beside('adult10000', 30);
CALL loses_beside('adult10000', 50);

-- masks on a million rows beside the columns as they are
CREATE TABLE masked AS SELECT i % 90 AS age, i % 7 AS ward, md5(i::text) AS name, i / 3 AS person, (i % 9973 * 1.37)::numeric(10, 2) AS cost, DATE '2020-01-01' + i % 900 AS day
FROM generate_series(1, 1000000) i;
ANALYZE masked;
CREATE FUNCTION masks(mask text) RETURNS text LANGUAGE sql
AS $$ SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 5, keep => %L, allow_identifying => %L%s)', 'masked', 'bench_out', '{age,ward}', '{name,person,cost,day}', '{name,person,cost,day}', ', mask => ' || quote_literal(mask)) $$;
CALL compare('corners', 'pseudonyms of a million values / without mask', masks('{"name": {"pseudonym": "release"}}'), masks('{}'), 1.2, 1.1);
CALL compare('corners', 'shift of a million dates / without mask', masks('{"person": {"pseudonym": "release"}, "day": {"shift": "person", "days": 30}}'), masks('{"person": {"pseudonym": "release"}}'), 1.2, 1.1);
CALL compare('corners', 'round of a million numerics / without mask', masks('{"cost": {"round": 100}}'), masks('{}'), 1.2, 1.1);

-- a page about 2,000 classes
CREATE TABLE paged AS SELECT i % 2000 AS a, i % 2000 / 10 AS b, i % 13 AS ill FROM generate_series(1, 20000) i;
ANALYZE paged;
SELECT FROM kanon_pattern_guided('paged', 'paged_public', '{a,b}', 5, keep => '{ill}');
SELECT max(run) AS paged_run FROM kanon_usefulness \gset
CALL takes('kanon_report of 2,000 classes', format('SELECT kanon_report(%s)', :paged_run), 0.2, NULL);
CALL takes('the same with compare', format('SELECT kanon_report(%s, compare => true)', :paged_run), 2, NULL);

-- what is installed: megabytes, as the server loads it
INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
SELECT 'corners', 'kanon.so, MB (figures, not ms)', mb, 1, mb, 3, NULL
FROM (SELECT (pg_stat_file(folder || '/kanon.so', true)).size / 1e6 AS mb FROM string_to_table(current_setting('dynamic_library_path'), ':') folder WHERE folder <> '$libdir') f WHERE mb > 0 LIMIT 1;
RESET bench.processor;
RESET max_parallel_workers_per_gather;
SELECT name, round(a_ms::numeric, 3) AS a_ms, round(b_ms::numeric, 3) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'corners' ORDER BY place;
\set to :results '/corners.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'corners' ORDER BY place;
\o
\pset format aligned
