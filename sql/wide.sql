-- as many columns as a pattern has: 8 hierarchies of 32 levels, 64 columns of 4
CREATE SCHEMA wide_test;
SET search_path = wide_test, public;
SET client_min_messages = warning;
DO $$ BEGIN
    EXECUTE 'CREATE TABLE eight AS SELECT ' || (SELECT string_agg(format('md5((i / %s)::text) AS c%s', 4 + j, j), ', ' ORDER BY j)
        FROM generate_series(1, 8) j) || ' FROM generate_series(1, 60) i';
    EXECUTE 'CREATE TABLE many AS SELECT ' || (SELECT string_agg(format('lpad((i / %s * 37 %% 10000)::text, 4, ''0'') AS c%s', 10 + j, j), ', ' ORDER BY j)
        FROM generate_series(1, 64) j) || ' FROM generate_series(1, 60) i';
END $$;
SELECT (SELECT array_agg('c' || j ORDER BY j)::name[] FROM generate_series(1, 8) j) AS "Q8",
    (SELECT jsonb_object_agg('c' || j, jsonb_build_object('prefix', (SELECT jsonb_agg(n ORDER BY n DESC) FROM generate_series(1, 31) n))) FROM generate_series(1, 8) j) AS "H8",
    (SELECT array_agg('c' || j ORDER BY j)::name[] FROM generate_series(1, 64) j) AS "Q64",
    (SELECT jsonb_object_agg('c' || j, '{"prefix": [3, 2, 1]}'::jsonb) FROM generate_series(1, 64) j) AS "H64",
    (SELECT array_agg(repeat(s, n) || repeat(t, 8 - n)) FROM unnest('{-,9,V,*}'::text[]) s, unnest('{-,V,*}'::text[]) t, generate_series(1, 8) n) AS "P8",
    (SELECT array_agg(repeat(s, n) || repeat(t, 64 - n)) FROM unnest('{-,1,3,*}'::text[]) s, unnest('{-,3,*}'::text[]) t, generate_series(8, 64, 8) n) AS "P64" \gset

CREATE FUNCTION of(method text, source regclass, qis name[], levels jsonb, patterns text[]) RETURNS TABLE (o_method text, o_table regclass, patterns_used bigint, cost numeric, classes bigint, suppressed numeric) LANGUAGE sql
    AS $$ SELECT method, source, count(*), round(sum(cost * row_count)::numeric, 4), sum(classes)::bigint, sum(suppressed_cells)
        FROM kanon_pattern_guided(source, 'guided', qis, 5, patterns => patterns, hierarchies => levels, method => method, replace => true) $$;
SELECT * FROM of('greedy', 'eight', :'Q8', :'H8', :'P8');
SELECT * FROM of('greedy', 'many', :'Q64', :'H64', :'P64');
SELECT count(*) FROM kanon_pattern_clustering('many', 'clustered', :'Q64', 5, patterns => :'P64', hierarchies => :'H64', method => 'greedy');
-- every other method: classes of five, at least
SELECT count(*), min(row_count) FROM kanon_subtree('eight', 'subtree8', :'Q8', 5, hierarchies => :'H8');
SELECT classes, row_count, class_min FROM kanon_cluster('eight', 'clusters8', :'Q8', 5, hierarchies => :'H8');
SELECT classes, row_count, class_min FROM kanon_cluster('many', 'clusters64', :'Q64', 5, method => 'bottom_up', hierarchies => :'H64');
SELECT row_count, round(cost::numeric, 4) AS cost FROM kanon_freeform('many', 'freeform64', :'Q64', 5, hierarchies => :'H64');
-- a lattice of more nodes than 64 bits count: which node, the clock decides
SELECT lattice_nodes, suppressed_rows FROM kanon_full_domain('many', 'domain64', :'Q64', 5, hierarchies => :'H64', time_limit => '1 s');
SELECT count(*) >= 1 AS classes, min(n) >= 5 AS large FROM (SELECT count(*) AS n FROM domain64 d GROUP BY d) g;
-- what was kept beside 64 columns is compared, too
ALTER TABLE many ADD kept int DEFAULT 1;
SELECT count(*) FROM kanon_pattern_guided('many', 'beside', :'Q64', 5, patterns => (SELECT array_agg(repeat('-', n) || repeat('*', 64 - n)) FROM generate_series(0, 64, 8) n), keep => '{kept}');
SELECT count(DISTINCT column_name) FROM kanon_compare('many', 'beside', :'Q64', '{kept}', queries => 10, seed => 1);
-- ... with all levels that there may be, and in a report
SELECT count(DISTINCT column_name) FROM kanon_compare('many', 'beside', :'Q64', '{kept}', hierarchies => :'H64', queries => 10, seed => 1);
SELECT count(*) FROM kanon_pattern_guided('many', 'reported', :'Q64', 5, patterns => '{2222222222222222222222222222222222222222222222222222222222222222}', hierarchies => :'H64', residual => 'suppress', keep => '{kept}');
SELECT jsonb_array_length(kanon_report_data(run, compare => true) #> '{compared,columns}') > 64 AS compared FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
-- shares of values
DO $$ BEGIN
    EXECUTE 'CREATE TABLE shares AS ' || (SELECT string_agg(format('SELECT ''c%s'' AS column_name, c%s AS value, count(*) / 60.0 AS share FROM many GROUP BY 2', j, j), ' UNION ALL ' ORDER BY j)
        FROM generate_series(1, 64) j);
END $$;
SELECT classes > 1 AS several, row_count FROM kanon_cluster('many', 'likely', :'Q64', 5, hierarchies => :'H64', privacy => ARRAY[kanon_presence('shares', 1000, 0, 1, 0.5)]);
-- every combination of 64 columns: more groups of five rows than can be looked at, with time to do what is bounded and without
DO $$ BEGIN
    EXECUTE 'CREATE TABLE flags AS SELECT ' || (SELECT string_agg(format('(hashtext(''%s,'' || i) & 1023 < %s)::int AS c%s', j, CASE WHEN j <= 8 THEN 500 ELSE 20 END, j), ', ' ORDER BY j)
        FROM generate_series(1, 64) j) || ' FROM generate_series(1, 1200) i';
END $$;
CREATE FUNCTION in_time(method text, k int, till interval) RETURNS TABLE (o_method text, o_till interval, half_is_left bool, kept_k bool) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kanon_pattern_guided('flags', 'timely', (SELECT array_agg('c' || j ORDER BY j)::name[] FROM generate_series(1, 64) j), k, method => method, time_limit => till, replace => true);
    RETURN QUERY SELECT method, till, (SELECT suppressed_cells < row_count * 32 FROM kanon_usefulness ORDER BY run DESC LIMIT 1),
        (SELECT c.k IS NULL OR c.k >= in_time.k FROM kanon_check('timely', (SELECT array_agg('c' || j ORDER BY j)::name[] FROM generate_series(1, 64) j)) c);
END $$;
SELECT * FROM in_time('greedy', 5, NULL);
SELECT o_method, kept_k FROM unnest('{greedy,improve,best,ilp}'::text[]) m, in_time(m, 5, '0.2 s');
SELECT o_method, kept_k FROM in_time('matching', 2, '0.2 s');
RESET client_min_messages;
SELECT count(*) > 0 AS patterns FROM kanon_pattern_guided('flags', NULL, :'Q64', 5, time_limit => '1 us', dry_run => true);
SET client_min_messages = warning;
-- one more is too many
ALTER TABLE eight ADD c9 int DEFAULT 1;
SELECT * FROM kanon_pattern_guided('eight', NULL, :'Q8'::name[] || 'c9'::name, 5, patterns => '{*********}', hierarchies => :'H8', dry_run => true);
DROP SCHEMA wide_test CASCADE;
