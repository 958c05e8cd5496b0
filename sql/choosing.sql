-- what a k would cost, and why: kanon_frontier and kanon_explain
CREATE SCHEMA choose_test;
SET search_path = choose_test, public;

CREATE TABLE people (name text, age int, zip text, sex text, diagnosis text);
INSERT INTO people VALUES
    ('Ann',   30, '12345', 'f', 'flu'),
    ('Bea',   30, '12345', 'f', 'cold'),
    ('Cid',   30, '12346', 'm', 'flu'),
    ('Dan',   30, '12346', 'm', 'gout'),
    ('Eve',   40, '12345', 'f', 'flu'),
    ('Fay',   40, '12347', 'f', 'cold'),
    ('Gus',   50, '99999', 'm', 'gout');

-- k = 2 by hand: the two pairs stay whole, Eve and Fay lose their zip, Gus everything
SELECT k, suppressed_cells, round(suppressed_share::numeric, 4) AS share, round(usefulness::numeric, 4) AS u,
       round(gcp::numeric, 4) AS gcp, classes, class_min, class_avg, class_max, residual_rows, cost, proven
FROM kanon_frontier('people', '{age,zip,sex}', '{2,3,7}');

-- the same as the runs themselves
CREATE TABLE made AS SELECT i AS id, i % 5 AS a, i % 7 AS b, (i * i) % 11 AS c FROM generate_series(1, 500) i;
DO $$
DECLARE
    options record;
    f record;
    r record;
    n int := 0;
BEGIN
    FOR options IN SELECT * FROM (VALUES (NULL::text[], NULL::jsonb, NULL::float8[], 'suppress'),
                                         ('{---,-*-,*--}', NULL, NULL, 'suppress'),
                                         (NULL, kanon_rules(never => '{c}'), '{1,2,3}', 'drop')) AS v (patterns, rules, weights, residual)
    LOOP
        FOR f IN SELECT * FROM kanon_frontier('made', '{a,b,c}', '{2,3,9,40,500}', patterns => options.patterns,
                                              rules => options.rules, weights => options.weights, residual => options.residual)
        LOOP
            PERFORM kanon_pattern_guided('made', 'made_public', '{a,b,c}', f.k, patterns => options.patterns,
                                         rules => options.rules, weights => options.weights,
                                         residual => options.residual, replace => true);
            SELECT * INTO r FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
            IF (f.suppressed_cells, f.suppressed_share, f.usefulness, f.gcp, f.classes, f.class_min, f.class_avg, f.class_max, f.cost)
               IS DISTINCT FROM
               (r.suppressed_cells, r.suppressed_share, r.usefulness, r.gcp, r.classes, r.class_min, r.class_avg, r.class_max, r.cost) THEN
                RAISE EXCEPTION 'k = %: the frontier says %, the run %', f.k, f, r;
            END IF;
            n := n + 1;
        END LOOP;
    END LOOP;
    RAISE NOTICE '% releases compared', n;
END $$;

-- the source is read once, however many ks
CREATE SEQUENCE reads;
CREATE VIEW counted AS SELECT people.*, once.n FROM people, (SELECT nextval('reads') AS n OFFSET 0) AS once;
SELECT count(*) FROM kanon_frontier('counted', '{age,sex}', '{2,3,4,5}');
SELECT last_value FROM reads;

-- the ks are shared out among parallel workers where that is allowed: same answers
CREATE FUNCTION choose_test.frontier_hash() RETURNS text LANGUAGE sql AS
$$ SELECT md5(string_agg((to_jsonb(f) - 'solve_ms')::text, ';' ORDER BY f.k))
   FROM kanon_frontier('made', '{a,b,c}', '{2,3,5,9,20,40,100,1000}', rules => kanon_rules(max_suppressed => 2), residual => 'drop') f $$;
SET max_parallel_workers_per_gather = 0;
SELECT frontier_hash() AS alone \gset
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET client_min_messages = debug1;
SELECT frontier_hash() = :'alone' AS same;
SELECT count(*), sum(suppressed_cells) > 0 AS lossy FROM kanon_frontier('made', '{a,b,c}', '{2,3,5}', patterns => '{-**,*--}', weights => '{1,1,3}', categorical => '{a}');
-- rules beyond k stay where their dictionaries are, and without a worker to be had all goes on alone
SELECT count(*), sum(suppressed_cells) > 0 AS lossy FROM kanon_frontier('made', '{a,b}', '{2,3,5}', keep => '{c}', privacy => ARRAY[kanon_distinct_l('c', 2)]);
SET max_parallel_workers = 0;
SELECT frontier_hash() = :'alone' AS same;
RESET max_parallel_workers;
SET client_min_messages = notice;
RESET parallel_setup_cost;
RESET max_parallel_workers_per_gather;

-- unsorted, repeated, larger than the table: a line without a release
SELECT k, suppressed_cells, classes, solve_ms IS NOT NULL AS timed FROM kanon_frontier('people', '{age,zip,sex}', '{7,2,7,8,2000000000}');
-- rows left over: no release for this k, the others are still told
SELECT k, suppressed_cells, residual_rows FROM kanon_frontier('people', '{age,zip,sex}', '{2,3}', residual => 'error');
SELECT k, suppressed_cells, residual_rows, classes FROM kanon_frontier('people', '{age,zip,sex}', '{2,3}', residual => 'drop');
-- no rows, one class, everything suppressed
CREATE TABLE nobody (LIKE people);
SELECT k, suppressed_cells, suppressed_share, usefulness, gcp, classes, class_min, residual_rows FROM kanon_frontier('nobody', '{age,zip}', '{2,5}');
SELECT k, suppressed_cells, classes, class_max FROM kanon_frontier((SELECT 'people'::regclass), '{age}', '{7}', patterns => '{-}');
CREATE TABLE same AS SELECT 1 AS a, 'x'::text AS b FROM generate_series(1, 10);
SELECT k, suppressed_cells, usefulness, classes, class_max FROM kanon_frontier('same', '{a,b}', '{2,10}');

-- bad input
SELECT * FROM kanon_frontier('people', '{age}', NULL);
SELECT * FROM kanon_frontier('people', '{age}', '{}');
SELECT * FROM kanon_frontier('people', '{age}', '{2,NULL}');
SELECT * FROM kanon_frontier('people', '{age}', '{1,2}');
SELECT * FROM kanon_frontier('people', '{age}', '{0,2}', model => 'pattern_clustering', options => '{"patterns": ["*"]}');
SELECT k, cost, classes, proven FROM kanon_frontier('people', '{age}', '{1,2}', model => 'pattern_clustering', options => '{"patterns": ["-", "*"]}');
SELECT * FROM kanon_frontier('people', '{age}', '{{2,3},{4,5}}');
SELECT * FROM kanon_frontier(NULL, '{age}', '{2}');
SELECT * FROM kanon_frontier('people', '{agee}', '{2}');
SELECT * FROM kanon_frontier('people', '{age}', '{2}', patterns => '{--}');
SELECT * FROM kanon_frontier('people', '{age}', '{2}', patterns => '{-}', rules => kanon_rules());

-- where the cost comes from, and what would change it
SELECT aspect, subject, row_count, suppressed_cells AS cells, cost, saved_cells AS saved, detail
FROM kanon_explain('people', '{age,zip,sex}', 2);
SELECT DISTINCT shown FROM kanon_explain('people', '{age,zip,sex}', 2);
SELECT subject, row_count, shown FROM kanon_explain('people', '{age,zip,sex}', 2, with_values => true) WHERE aspect = 'below k';
SELECT count(*) FILTER (WHERE aspect <> 'below k') AS elsewhere FROM kanon_explain('people', '{age,zip,sex}', 2, with_values => true) WHERE shown IS NOT NULL;

-- leaving a column out, or doubling its weight, is what the call with that change says
CREATE FUNCTION loss(text, name[], patterns text[] DEFAULT NULL, rules jsonb DEFAULT NULL, weights float8[] DEFAULT NULL)
RETURNS bigint LANGUAGE sql AS
$$ SELECT sum(suppressed_cells)::bigint FROM kanon_pattern_guided($1, NULL, $2, 9, patterns => $3, rules => $4, weights => $5, dry_run => true) $$;
SELECT subject, suppressed_cells = CASE subject WHEN 'a' THEN loss('made', '{b,c}') WHEN 'b' THEN loss('made', '{a,c}') ELSE loss('made', '{a,b}') END AS same
FROM kanon_explain('made', '{a,b,c}', 9) WHERE aspect = 'left out';
SELECT subject, suppressed_cells = CASE subject WHEN 'a' THEN loss('made', '{b,c}', '{--,*-,-*}') WHEN 'b' THEN loss('made', '{a,c}', '{--,-*}') ELSE loss('made', '{a,b}', '{--,-*,*-}') END AS same
FROM kanon_explain('made', '{a,b,c}', 9, patterns => '{---,-*-,*-*}') WHERE aspect = 'left out';
SELECT subject, suppressed_cells = CASE subject
    WHEN 'a' THEN loss('made', '{b,c}', rules => kanon_rules(never => '{c}'), weights => '{2,3}')
    WHEN 'b' THEN loss('made', '{a,c}', rules => kanon_rules(never => '{c}'), weights => '{1,3}')
    ELSE loss('made', '{a,b}', rules => kanon_rules(implies => '{"a->b"}'), weights => '{1,2}') END AS same
FROM kanon_explain('made', '{a,b,c}', 9, rules => kanon_rules(never => '{c}', implies => '{"a->b"}'), weights => '{1,2,3}') WHERE aspect = 'left out';
SELECT subject, suppressed_cells = loss('made', '{b,c}', rules => kanon_rules(implies => '{"b->c"}')) AS same, suppressed_cells <> loss('made', '{b,c}') AS told
FROM kanon_explain('made', '{a,b,c}', 9, rules => kanon_rules(implies => '{"b->c"}')) WHERE aspect = 'left out' AND subject = 'a';
SELECT subject, suppressed_cells = loss('made', '{a,b,c}', weights => CASE subject WHEN 'a' THEN '{2,1,1}' WHEN 'b' THEN '{1,2,1}' ELSE '{1,1,2}' END::float8[]) AS same
FROM kanon_explain('made', '{a,b,c}', 9) WHERE aspect = 'weight doubled';
-- and the rest adds up
SELECT aspect, sum(suppressed_cells) = loss('made', '{a,b,c}') AS same FROM kanon_explain('made', '{a,b,c}', 9)
WHERE aspect IN ('release', 'column', 'pattern') GROUP BY 1 ORDER BY 1;

-- one column, no rows, dropped rows, a weight of nothing
SELECT aspect, subject, suppressed_cells AS cells, saved_cells AS saved, detail FROM kanon_explain('people', '{zip}', 2);
SELECT * FROM kanon_explain('nobody', '{age,zip}', 2);
SELECT aspect, subject, row_count, suppressed_cells AS cells, detail FROM kanon_explain('people', '{age,sex}', 2, residual => 'drop') WHERE aspect IN ('release', 'below k');
SELECT aspect, subject, detail FROM kanon_explain('people', '{age,sex}', 2, weights => '{0,1}') WHERE aspect = 'left out';
SELECT subject, row_count, detail FROM kanon_explain('made', '{a,b,c}', 40) WHERE aspect = 'below k';
-- what is kept makes no class of its own: the classes below k are the same under a rule about it
CREATE TABLE kept AS SELECT CASE WHEN i < 5 THEN 'x' WHEN i < 7 THEN 'y' ELSE 'z' END AS a, i % 3 AS ill FROM generate_series(1, 9) i;
SELECT subject, row_count, detail, shown FROM kanon_explain('kept', '{a}', 4, with_values => true) WHERE aspect = 'below k';
SELECT subject, row_count, detail, shown FROM kanon_explain('kept', '{a}', 4, with_values => true, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)]) WHERE aspect = 'below k';

-- bad input
SELECT * FROM kanon_explain('people', '{age}', 1);
SELECT aspect, count(*) FROM kanon_explain('people', '{age}', 1, model => 'pattern_clustering', options => '{"patterns": ["-", "*"]}') GROUP BY 1 ORDER BY 1;
SELECT * FROM kanon_explain('people', '{age}', 1, model => 'anatomy', options => '{"sensitive": "sex"}');
SELECT * FROM kanon_explain('people', '{age}', 8);
SELECT * FROM kanon_explain('people', '{age}', NULL);
SELECT * FROM kanon_explain('people', '{age}', 2, with_values => NULL);
SELECT * FROM kanon_explain('people', '{age,sex,zip}', 2, residual => 'error');

-- who may not read the source gets nothing out of it; nothing is recorded
CREATE ROLE kanon_test_chooser;
GRANT USAGE ON SCHEMA choose_test TO kanon_test_chooser;
GRANT SELECT (age, sex) ON people TO kanon_test_chooser;
SELECT count(*) AS runs FROM kanon_usefulness \gset
SET ROLE kanon_test_chooser;
SELECT k, suppressed_cells FROM kanon_frontier('people', '{age,sex}', '{2}');
SELECT * FROM kanon_frontier('people', '{age,zip}', '{2}');
SELECT * FROM kanon_explain('people', '{age,zip}', 2, with_values => true);
RESET ROLE;
SELECT count(*) = :runs AS nothing_recorded FROM kanon_usefulness;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA choose_test CASCADE;
DROP ROLE kanon_test_chooser;
