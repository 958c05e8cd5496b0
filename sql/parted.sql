-- partition_by of a table whose row types do not fit into kanon.max_memory: they are on disk, part by part,
-- and the release is the one that they have in memory
CREATE SCHEMA parted_test;
SET search_path = parted_test, public;
CREATE TABLE many AS
    SELECT CASE WHEN i % 50 > 0 THEN 'site ' || i % 24 END AS site, hashint4(i) & 31 AS a, hashint4(i + 1000000) & 15 AS b,
           CASE WHEN i % 3 = 0 THEN 1.50 ELSE 1.5 END + (hashint4(i + 2000000) & 31) AS c, 'd' || i % 13 AS d, i AS id,
           CASE WHEN i % 7 > 0 THEN i / 11 % 5 END AS e
    FROM generate_series(1, 16000) i;
INSERT INTO many SELECT 'few ' || i % 4, 20 + i % 2, i, i, 'd' || i, 20000 + i, i FROM generate_series(1, 11) i;
SELECT count(DISTINCT (site, a, b, c)) FROM many;

-- what differs between the runs of two targets, but for the time they took
CREATE FUNCTION differ(x text, y text) RETURNS TABLE (what text, n bigint) LANGUAGE plpgsql AS $$
DECLARE
    one bigint := (SELECT run FROM kanon_usefulness WHERE target = 'parted_test.' || x);
    two bigint := (SELECT run FROM kanon_usefulness WHERE target = 'parted_test.' || y);
BEGIN
    RETURN QUERY EXECUTE format('SELECT ''rows'', count(*) FROM (TABLE %1$I EXCEPT ALL TABLE %2$I UNION ALL (TABLE %2$I EXCEPT ALL TABLE %1$I)) AS r', x, y);
    RETURN QUERY SELECT 'classes', count(*) FROM (
        SELECT pattern, row_count, suppressed_cells, round(tuple_diversity::numeric, 9), shown FROM kanon_equivalence_classes WHERE run = one
        EXCEPT ALL SELECT pattern, row_count, suppressed_cells, round(tuple_diversity::numeric, 9), shown FROM kanon_equivalence_classes WHERE run = two) AS c;
    RETURN QUERY SELECT 'sizes', count(*) FROM (SELECT to_jsonb(s) - 'run' FROM kanon_class_sizes s WHERE run = one EXCEPT ALL SELECT to_jsonb(s) - 'run' FROM kanon_class_sizes s WHERE run = two) AS s;
    RETURN QUERY SELECT 'figure ' || a.key, count(*)
        FROM (SELECT (jsonb_each_text(to_jsonb(u))).* FROM kanon_usefulness u WHERE run = one) AS a JOIN (SELECT (jsonb_each_text(to_jsonb(u))).* FROM kanon_usefulness u WHERE run = two) AS b USING (key)
        WHERE a.key !~ '_ms$|^run$|^started_at$|^target(_oid)?$|^peak_memory$'
            AND CASE WHEN a.value ~ '^[0-9.e+-]+$' THEN abs(a.value::float8 - b.value::float8) > 1e-9 * abs(a.value::float8) ELSE a.value IS DISTINCT FROM b.value END
        GROUP BY 1;
    RETURN QUERY SELECT 'column ' || a.value::text, count(*)
        FROM (SELECT to_jsonb(c) - '{run,target,ncp}'::text[] || jsonb_build_object('ncp', round(ncp::numeric, 9)) AS value FROM kanon_columns c WHERE run = one) AS a
        WHERE a.value NOT IN (SELECT to_jsonb(c) - '{run,target,ncp}'::text[] || jsonb_build_object('ncp', round(ncp::numeric, 9)) FROM kanon_columns c WHERE run = two)
        GROUP BY 1;
END $$;

\set call '''{site,a,b,c}'', 5, partition_by => ''site'', seed => 7'
SET client_min_messages = warning;
SELECT FROM kanon_pattern_guided('many', 'kept_in_memory', :call, keep => '{d}', mark => true);
SELECT FROM kanon_pattern_guided('many', 'drop_in_memory', :call, residual => 'drop', patterns => '{---*,--**,----}');
SELECT FROM kanon_pattern_guided('many', 'levels_in_memory', :call, keep => '{d}', hierarchies => '{"a": {"interval": [4, 8]}, "c": {"interval": [5]}}');
RESET client_min_messages;
SET max_parallel_workers_per_gather = 0;
SET kanon.max_memory = '1MB';
SET work_mem = '64kB';
\set VERBOSITY terse
SELECT * FROM kanon_pattern_guided('many', 'whole', '{site,a,b,c}', 5);
\set VERBOSITY default
SELECT * FROM kanon_pattern_guided('many', 'kept', :call, keep => '{d}', mark => true);
SELECT * FROM differ('kept_in_memory', 'kept');
SELECT * FROM kanon_pattern_guided('many', 'dropped', :call, residual => 'drop', patterns => '{---*,--**,----}');
SELECT * FROM differ('drop_in_memory', 'dropped');
SELECT sum(row_count) FROM kanon_pattern_guided('many', 'levels', :call, keep => '{d}', hierarchies => '{"a": {"interval": [4, 8]}, "c": {"interval": [5]}}');
SELECT * FROM differ('levels_in_memory', 'levels');
SELECT * FROM kanon_pattern_guided('many', NULL, :call, dry_run => true);

-- privacy rules: the same classes, and what they are compared with is the whole table
\set first 'keep => ''{id,d,e}'', allow_identifying => ''{id}'', privacy => ARRAY[kanon_distinct_l(''d'', 3), kanon_alpha(''e'', 0.5, ''{1,2}'')]'
\set second 'keep => ''{e,d}'', mark => true, residual => ''drop'', hierarchies => ''{"a": {"interval": [4, 8]}}'', privacy => ARRAY[kanon_t_closeness(''d'', 0.6), kanon_t_closeness(''e'', 0.45, builder => ''{"quantile": [2]}''), kanon_recursive_cl(''e'', 3, 2)]'
\set third 'keep => ''{d,e}'', residual => ''drop'', patterns => ''{-***,-*-*}'', privacy => ARRAY[kanon_distinct_l(ARRAY[''d'', ''e''], 2), kanon_entropy_l(''d'', 5)]'
-- and what is suppressed whole in its part, fits nowhere in the end, or is fewer than k then
\set fourth '''{site,a,b,c}'', 13, partition_by => ''site'', seed => 7, keep => ''{d}'', residual => ''drop'', patterns => ''{--**,****}'''
\set sixth '''{a,site,b,c}'', 20, partition_by => ''site'', seed => 7, keep => ''{d}'', mark => true, patterns => ''{*-**}'''
\set fifth 'keep => ''{d}'', residual => ''drop'', patterns => ''{-***}'', privacy => ARRAY[kanon_distinct_l(''d'', 12)]'
SET client_min_messages = warning;
SET kanon.max_memory = '64MB';
SELECT FROM kanon_pattern_guided('many', 'first_in_memory', :call, :first) \g /dev/null
SELECT FROM kanon_pattern_guided('many', 'second_in_memory', :call, :second) \g /dev/null
SELECT FROM kanon_pattern_guided('many', 'third_in_memory', :call, :third) \g /dev/null
SELECT FROM kanon_pattern_guided('many', 'fourth_in_memory', :fourth) \g /dev/null
SELECT FROM kanon_pattern_guided('many', 'fifth_in_memory', :call, :fifth) \g /dev/null
SELECT FROM kanon_pattern_guided('many', 'sixth_in_memory', :sixth) \g /dev/null
RESET client_min_messages;
SET kanon.max_memory = '1MB';
SELECT * FROM kanon_pattern_guided('many', 'first', :call, :first);
SELECT * FROM differ('first_in_memory', 'first');
-- (where memory ends in one of greedy's further orders, the release of the first would come out)
SET kanon.max_memory = '1500kB';
SELECT sum(row_count) FROM kanon_pattern_guided('many', 'second', :call, :second);
SET kanon.max_memory = '1MB';
SELECT * FROM differ('second_in_memory', 'second');
SELECT sum(row_count) FROM kanon_pattern_guided('many', 'third', :call, :third);
SELECT * FROM differ('third_in_memory', 'third');
SELECT * FROM kanon_pattern_guided('many', 'fourth', :fourth);
SELECT * FROM differ('fourth_in_memory', 'fourth');
SELECT * FROM kanon_pattern_guided('many', 'fifth', :call, :fifth);
SELECT * FROM differ('fifth_in_memory', 'fifth');
SELECT * FROM kanon_pattern_guided('many', 'sixth', :sixth);
SELECT * FROM differ('sixth_in_memory', 'sixth');
-- what no release can give is refused from the whole table
SELECT FROM kanon_pattern_guided('many', 'x', :call, keep => '{d}', privacy => ARRAY[kanon_distinct_l('d', 14)]);
SELECT FROM kanon_pattern_guided('many', 'x', :call, keep => '{d}', privacy => ARRAY[kanon_entropy_l('d', 14)]);

-- values are shared out among parallel workers
SET kanon.max_memory = '2MB';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET client_min_messages = debug1;
SELECT sum(row_count) FROM kanon_pattern_guided('many', NULL, :call, dry_run => true);
SET client_min_messages = warning;
SELECT FROM kanon_pattern_guided('many', 'helped', :call, keep => '{d}', mark => true) \g /dev/null
RESET client_min_messages;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM differ('kept_in_memory', 'helped');

-- row types that go to several classes
CREATE TABLE divided AS SELECT site, a, b, c, id FROM many WHERE id <= 20000
    UNION ALL SELECT 'x', 1, 1, CASE WHEN i <= 160 THEN 1 WHEN i <= 320 THEN 2 ELSE 3 END, 30000 + i FROM generate_series(1, 380) i;
SET kanon.max_memory = '3MB';
SELECT * FROM kanon_pattern_guided('divided', 'divided_public', '{site,a,b,c}', 100, partition_by => 'site', method => 'best', patterns => '{----,---*,-***}', keep => '{id}', allow_identifying => '{id}', seed => 7);
SELECT c, count(*), count(*) FILTER (WHERE id % 2 = 0) BETWEEN 1 AND count(*) - 1 AS mixed FROM divided_public WHERE site = 'x' AND b = 1 GROUP BY c ORDER BY c;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE d.c = p.c OR p.c IS NULL) FROM divided_public AS p JOIN divided AS d USING (id);

SET kanon.max_memory = '1MB';

-- of a view the executor makes the groups; a part is refused like a whole
CREATE VIEW seen AS SELECT * FROM many;
SELECT sum(row_count) FROM kanon_pattern_guided('seen', 'groups', :call, residual => 'drop', patterns => '{---*,--**,----}');
SELECT * FROM differ('drop_in_memory', 'groups') WHERE what <> 'figure source';
SELECT sum(cost * row_count) FROM kanon_pattern_guided('seen', NULL, :call, :first, dry_run => true);
CREATE VIEW fewer AS SELECT * FROM many WHERE id < 20003;
SELECT FROM kanon_pattern_guided('fewer', 'groups', :call, residual => 'error', replace => true);
\set VERBOSITY terse
\set VERBOSITY default

-- where parts do not help, who is short of memory is told why
CREATE FUNCTION short(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'done';
EXCEPTION WHEN out_of_memory THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', substring(detail FROM 'a limit of [0-9]+ kB\. (.*)'), substring(hint FROM 'quasi-identifiers\. (.*)'));
END $$;
\pset format unaligned
\pset tuples_only on
SELECT short($$ kanon_pattern_guided('many', 'x', '{site,a,b,c}', 5) $$);
SELECT short($$ kanon_pattern_guided('many', 'x', '{site,a,b,id}', 5, partition_by => 'site') $$);
SELECT short($$ kanon_pattern_guided('many', 'x', '{site,a,b,c}', 5, partition_by => 'site', privacy => ARRAY[kanon_subject('id')]) $$);
SELECT short($$ kanon_pattern_guided('many', 'x', '{site,a,b,c}', 5, partition_by => 'site', privacy => ARRAY[kanon_k_map('many')]) $$);
SELECT short($$ kanon_frontier('many', '{site,a,b,c}', '{5,10}', model => 'pattern_guided', options => '{"partition_by": "site"}') $$);
SELECT short($$ kanon_create_publication('x', 'many', '{site,a,b,c}', 5, options => '{"partition_by": "site"}', key => 'id') $$);
SELECT short($$ kanon_create_publication('x', 'many', '{site,a,b,c}', 5, options => '{"partition_by": "site"}', stable => true) $$);
-- a method's request is told with what was in use when it was refused
CREATE FUNCTION exceeds(call text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    kb text[];
BEGIN
    EXECUTE 'SELECT FROM ' || call;
EXCEPTION WHEN out_of_memory THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    kb := regexp_match(detail, 'The method asked for (\d+) kB more, with (\d+) kB in use and a limit of (\d+) kB');
    RETURN kb[1]::int + kb[2]::int >= kb[3]::int;
END $$;
SELECT exceeds($$ kanon_pattern_guided('many', 'x', '{site,a,b,c}', 25, partition_by => 'site', keep => '{d}', residual => 'drop', patterns => '{--**,****}', privacy => ARRAY[kanon_distinct_l('d', 12)]) $$);
-- the values of a target are counted as it is read, after some thousand rows each: not when it has been read
CREATE VIEW named AS SELECT site, a, b, c, repeat('x', 100) || id AS name FROM many;
CREATE FUNCTION asked(call text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
EXCEPTION WHEN out_of_memory THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN substring(detail FROM 'The dictionaries of distinct values asked for (\d+) kB more');
END $$;
SET kanon.max_memory = '5000kB';
SELECT asked($$ kanon_pattern_guided('named', 'x', '{site,a,b,c}', 5, partition_by => 'site', seed => 7, keep => '{name}', allow_identifying => '{name}', privacy => ARRAY[kanon_distinct_l('name', 2)]) $$) < 1024;
SET kanon.max_memory = '1MB';
\pset format aligned
\pset tuples_only off

-- a view that gives other rows each time
CREATE SEQUENCE read;
CREATE VIEW other AS SELECT CASE WHEN nextval('read') > 16011 * 2 THEN 99 ELSE a END AS a, site, b, c, d FROM many;
SELECT FROM kanon_pattern_guided('other', 'o', :call, keep => '{d}');
-- one more when they are read the last time: of a value, of the last one; and one less of that
\set VERBOSITY terse
CREATE SEQUENCE more;
CREATE VIEW growing AS SELECT * FROM many WHERE id <> 1 OR nextval('more') > 2;
SELECT FROM kanon_pattern_guided('growing', 'o', :call, keep => '{d}');
CREATE SEQUENCE most;
CREATE VIEW longer AS SELECT * FROM many WHERE site IS NOT NULL AND (id <> 9 OR nextval('most') > 2);
SELECT FROM kanon_pattern_guided('longer', 'o', :call, keep => '{d}');
CREATE SEQUENCE less;
CREATE VIEW shorter AS SELECT * FROM many WHERE site IS NOT NULL AND (id <> 9 OR nextval('less') <= 2);
SELECT FROM kanon_pattern_guided('shorter', 'o', :call, keep => '{d}');
\set VERBOSITY default

-- kept columns are looked at and masked, and do not tell by their order where they come from
SELECT FROM kanon_pattern_guided('many', 'identified', :call, keep => '{d,id}');
CREATE VIEW homes AS SELECT *, site AS home FROM many;
SELECT FROM kanon_pattern_guided('homes', 'masked', :call, patterns => '{*-**}', keep => '{home,d}', allow_identifying => '{home}', mask => '{"d": {"pseudonym": "release"}}') \g /dev/null
SELECT count(*), count(DISTINCT d) FROM masked;
SELECT abs(corr(place, home)) < 6 / sqrt(count(*)) AS no_order
FROM (SELECT row_number() OVER (PARTITION BY a ORDER BY ctid) / count(*) OVER (PARTITION BY a)::float8 AS place, substr(home, 6)::int AS home FROM masked WHERE home ~ 'site' AND a IS NOT NULL) AS r;
SELECT count(DISTINCT a) + 1 = (SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY ctid) = 1 OR a IS DISTINCT FROM lag(a) OVER (ORDER BY ctid) AS begins FROM masked) AS r WHERE begins) AS together FROM masked;

-- every release of a publication is read by parts
SELECT kanon_create_publication('every', 'many', '{site,a,b,c}', 5, options => '{"partition_by": "site", "seed": 7, "keep": ["d"], "mark": true}', stable => false);
SELECT count(*) FROM (TABLE every EXCEPT ALL TABLE kept_in_memory UNION ALL (TABLE kept_in_memory EXCEPT ALL TABLE every)) AS r;
DELETE FROM many WHERE id % 3 = 0 AND id < 9000;
SELECT status, row_count, k FROM kanon_refresh('every');
SET kanon.max_memory = '64MB';
SELECT FROM kanon_pattern_guided('many', 'fewer_in_memory', :call, keep => '{d}', mark => true);
SELECT count(*) FROM (TABLE every EXCEPT ALL TABLE fewer_in_memory UNION ALL (TABLE fewer_in_memory EXCEPT ALL TABLE every)) AS r;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA parted_test CASCADE;
