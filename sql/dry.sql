-- kanon_frontier and kanon_explain of every model: what they say is what a run would do
CREATE SCHEMA dry_test;
SET search_path = dry_test, public;
SET client_min_messages = warning;

CREATE TABLE made AS
SELECT i AS id, (i * 7 + i / 3) % 9 AS age, 'z' || (i * i) % 5 AS zip, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex,
       'd' || (i + i / 7) % 6 AS ill, i % 4 + 2 AS wants
FROM generate_series(1, 90) i;
CREATE TABLE zips AS SELECT 'z' || i AS zip, CASE WHEN i < 2 THEN 'low' ELSE 'high' END AS region FROM generate_series(0, 4) i;
CREATE TABLE baskets AS
SELECT i AS id, ARRAY(SELECT 'i' || (i * j * 7 + j * j) % (5 + i % 9) FROM generate_series(1, i % 4 + 1) j) AS items FROM generate_series(1, 80) i;
CREATE TABLE goods AS SELECT 'i' || i AS item, CASE WHEN i < 6 THEN 'food' ELSE 'tools' END AS kind FROM generate_series(0, 12) i;

-- the options of a publication as arguments of a call
CREATE FUNCTION arguments(options jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format(', %I => %L', key, CASE WHEN key = 'privacy' THEN ARRAY(SELECT x FROM jsonb_array_elements(value) x)::text
                                                     WHEN jsonb_typeof(value) = 'array' THEN ARRAY(SELECT x FROM jsonb_array_elements_text(value) x)::text
                                                     ELSE value #>> '{}' END), '') FROM jsonb_each(options) $$;
CREATE FUNCTION publish(model text, source text, names text, k bigint, options jsonb) RETURNS kanon_usefulness LANGUAGE plpgsql AS $$
DECLARE
    u kanon_usefulness;
    done text := format('%s_%s', model, k);
BEGIN
    IF model = 'anatomy' THEN
        EXECUTE format('SELECT FROM kanon_anatomy(%L, %L, %L, %L, %L, %s, replace => true)', source, done, done || 's', names, options ->> 'sensitive', k);
    ELSE
        EXECUTE format('SELECT FROM kanon_%s(%L, %L, %L, %s%s, replace => true)', model, source, done, CASE model WHEN 'transactions' THEN btrim(names, '{}') ELSE names END, k, arguments(options));
    END IF;
    SELECT * INTO u FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
    RETURN u;
END $$;

CREATE TABLE calls (nr serial, model text, source text, names text, options jsonb);
INSERT INTO calls (model, source, names, options) VALUES
    ('pattern_guided', 'made', '{age,zip,sex}', '{"method": "ilp", "weights": [1, 2, 0.5]}'),
    ('pattern_guided', 'made', '{age,zip,sex}', '{"hierarchies": {"zip": "dry_test.zips"}, "partition_by": "sex", "keep": ["ill"], "mask": {"ill": {"constant": "x"}}}'),
    ('pattern_clustering', 'made', '{age,zip,sex}', '{"patterns": ["*--", "**-", "*-*", "***"]}'),
    ('cluster', 'made', '{age,zip,sex}', '{}'),
    ('cluster', 'made', '{age,zip,sex}', '{"method": "bottom_up", "show": "set", "residual": "drop"}'),
    ('cluster', 'made', '{age,zip,sex}', '{"method": "forest", "hierarchies": {"zip": "dry_test.zips"}, "weights": [3, 1, 1]}'),
    ('cluster', 'made', '{age,zip,sex}', '{"method": "k_k"}'),
    ('cluster', 'made', '{age,zip,sex}', '{"keep": ["ill"], "privacy": [{"rule": "distinct_l", "column": "ill", "l": 3}]}'),
    ('full_domain', 'made', '{age,zip,sex}', '{"suppression_limit": 0.1, "hierarchies": {"zip": "dry_test.zips"}}'),
    ('full_domain', 'made', '{age,zip,sex}', '{"method": "speedy", "workers": 1, "metric": "entropy"}'),
    ('full_domain', 'made', '{age,zip,sex}', '{"privacy": [{"rule": "k_map", "population": "dry_test.made"}]}'),
    ('subtree', 'made', '{age,zip,sex}', '{"hierarchies": {"zip": "dry_test.zips"}, "keep": ["ill"], "class_column": "ill"}'),
    ('subtree', 'made', '{age,zip,sex}', '{"method": "optimal"}'),
    ('freeform', 'made', '{age,zip,sex}', '{"seed": 1}'),
    ('freeform', 'made', '{age,zip,sex}', '{"seed": 1, "partition_size": 40, "k_column": "wants", "method": "hungarian"}'),
    ('freeform', 'made', '{age,zip,sex}', '{"seed": 1, "method": "ring", "keep": ["ill"]}'),
    ('transactions', 'baskets', '{items}', '{"m": 2, "hierarchy": "dry_test.goods"}'),
    ('transactions', 'baskets', '{items}', '{"method": "suppress", "p": 1, "h": 80, "sensitive": ["i1"]}'),
    ('anatomy', 'made', '{age,zip,sex}', '{"sensitive": "ill"}');

-- ks that have a release have that which a run makes
SELECT c.nr, c.model, f.k, f.cost IS NOT DISTINCT FROM u.cost AS cost, f.gcp IS NOT DISTINCT FROM CASE WHEN c.model = 'transactions' THEN u.ncp ELSE u.gcp END AS gcp,
       f.suppressed_cells IS NOT DISTINCT FROM CASE WHEN c.model <> 'anatomy' THEN u.suppressed_cells END AS cells,
       f.usefulness IS NOT DISTINCT FROM u.usefulness AS usefulness,
       f.classes IS NOT DISTINCT FROM coalesce(u.classes, (u.anatomy ->> 'groups')::bigint) AS classes,
       CASE WHEN c.model <> 'anatomy' THEN (f.class_min, f.class_avg, f.class_max) IS NOT DISTINCT FROM (u.class_min, u.class_avg, u.class_max) END AS sizes,
       f.proven = (u.proven OR c.model = 'anatomy') AS proven
FROM calls c, LATERAL kanon_frontier(c.source::regclass, c.names::name[], '{2,4}', model => c.model, options => c.options) f,
LATERAL publish(c.model, c.source, c.names, f.k, c.options) u ORDER BY c.nr, f.k;

-- the report tries other ks of what it is about
SELECT c.nr, c.model, d.f ->> 'what' AS what, d.f ->> 'says' LIKE 'With the same rules%' AS says, o.ks = d.ks AS same
FROM calls c, LATERAL publish(c.model, c.source, c.names, 3, c.options) u,
LATERAL (SELECT x.f, (SELECT jsonb_agg(jsonb_build_array(j -> 'k', j -> 'gcp', j -> 'cost', j -> 'classes', j -> 'proven')) FROM jsonb_path_query(x.f, '$.ks[*]') AS y (j)) AS ks
         FROM (SELECT kanon_report_data(u.run, frontier => '{2,5,20}') -> 'frontier' AS f) x) d,
LATERAL (SELECT jsonb_agg(jsonb_build_array(f.k, f.gcp, f.cost, f.classes, f.proven)) AS ks
         FROM kanon_frontier(c.source::regclass, c.names::name[], '{2,5,20}', model => c.model, options => c.options) f) o
WHERE c.nr IN (1, 2, 3, 5, 8, 9, 12, 15, 17, 18, 19) ORDER BY c.nr;
SELECT FROM kanon_synthetic('made', 'drawn', '{sex}', 2, 0.001, '{"sex": ["f", "m"]}', 10);
SELECT kanon_report_data(max(run), frontier => '{2}') #>> '{frontier,says}' AS says FROM kanon_usefulness;

-- a k that has none is answered by NULL, the others all the same
SELECT c.nr, c.model, array_agg(f.k ORDER BY f.k) FILTER (WHERE f.cost IS NULL) AS without,
       bool_and(f.proven IS NULL AND f.gcp IS NULL AND f.classes IS NULL AND f.suppressed_cells IS NULL AND f.residual_rows IS NULL) FILTER (WHERE f.cost IS NULL) AS nothing
FROM calls c, LATERAL kanon_frontier(c.source::regclass, c.names::name[], '{2,15,16,46,47,81,90,91,5000000000}', model => c.model, options => c.options - 'partition_size') f
GROUP BY c.nr, c.model ORDER BY c.nr;

-- nobody there
CREATE TABLE nobody (LIKE made);
CREATE TABLE no_baskets (LIKE baskets);
SELECT c.nr, f.k, f.classes, f.cost FROM calls c, LATERAL kanon_frontier(CASE c.source WHEN 'made' THEN 'nobody' ELSE 'no_baskets' END::regclass, c.names::name[], '{2,5}',
    model => c.model, options => c.options) f WHERE c.options::text !~ '(map|sensitive": \[)' ORDER BY c.nr, f.k;

-- pattern_guided takes its options either way
SELECT count(*) FROM (SELECT k, cost, classes FROM kanon_frontier('made', '{age,zip,sex}', '{2,3,9}', method => 'ilp', weights => '{1,2,1}')
                      INTERSECT SELECT k, cost, classes FROM kanon_frontier('made', '{age,zip,sex}', '{2,3,9}', options => '{"method": "ilp", "weights": [1, 2, 1]}')) x;

-- where the cost comes from: of columns it adds up to the release's, but where sets are shown, which the measures price another way
SELECT c.nr, c.model, c.options ->> 'method' AS method, max(e.subject) FILTER (WHERE aspect = 'release') AS release,
       round((sum(e.cost) FILTER (WHERE aspect = 'column') / max(e.cost) FILTER (WHERE aspect = 'release'))::numeric, 6) AS by_column,
       sum(e.row_count) FILTER (WHERE aspect = 'pattern') = max(e.row_count) FILTER (WHERE aspect = 'release') AS rows_by_pattern,
       sum(e.suppressed_cells) FILTER (WHERE aspect = 'pattern') = max(e.suppressed_cells) FILTER (WHERE aspect = 'release') AS cells_by_pattern,
       count(*) FILTER (WHERE aspect = 'left out' AND e.cost IS NOT NULL) AS left_out, count(*) FILTER (WHERE aspect = 'weight doubled' AND e.cost IS NOT NULL) AS doubled
FROM calls c, LATERAL kanon_explain(c.source::regclass, c.names::name[], 4, model => c.model, options => c.options) e
WHERE c.model NOT IN ('transactions', 'anatomy') GROUP BY c.nr, c.model, 3 ORDER BY c.nr;

-- left out is what the call without the column loses
SELECT c.nr, e.subject, e.suppressed_cells = f.suppressed_cells AS cells, CASE WHEN f.cost > 0 THEN round((e.cost / f.cost)::numeric, 6) ELSE e.cost::numeric END AS cost
FROM calls c, LATERAL kanon_explain('made', '{age,zip,sex}', 4, model => c.model, options => c.options) e,
LATERAL kanon_frontier('made', array_remove('{age,zip,sex}'::name[], e.subject::name), '{4}', model => c.model,
    options => CASE WHEN e.subject = 'zip' THEN c.options - 'hierarchies' ELSE c.options END
               || CASE WHEN c.options ? 'weights' THEN jsonb_build_object('weights', (c.options -> 'weights') - (array_position('{age,zip,sex}'::text[], e.subject) - 1)) ELSE '{}' END) f
WHERE e.aspect = 'left out' AND e.cost IS NOT NULL AND c.model IN ('cluster', 'full_domain', 'subtree') AND c.options ->> 'show' IS NULL ORDER BY c.nr, e.subject;

SELECT aspect, subject, row_count, suppressed_cells AS cells, round(cost::numeric, 4) AS cost, saved_cells AS saved, detail
FROM kanon_explain('made', '{age,zip,sex}', 4, model => 'cluster', options => '{"hierarchies": {"zip": "zips"}}');
SELECT DISTINCT e.shown FROM calls c, LATERAL kanon_explain(c.source::regclass, c.names::name[], 4, model => c.model, options => c.options) e;
SELECT aspect, subject, shown FROM kanon_explain('made', '{age,zip,sex}', 4, with_values => true, model => 'freeform', options => '{"seed": 1}') WHERE shown IS NOT NULL LIMIT 2;

-- of sets and of two tables
SELECT aspect, subject, row_count, suppressed_cells AS cells, round(cost::numeric, 4) AS cost, saved_cells AS saved, detail
FROM kanon_explain('baskets', '{items}', 4, model => 'transactions', options => '{"m": 2, "hierarchy": "goods"}');
SELECT aspect, subject, detail FROM kanon_explain('baskets', '{items}', 4, model => 'transactions', options => '{"method": "suppress", "p": 1}');
SELECT aspect, subject, row_count, cost, detail FROM kanon_explain('made', '{age,zip}', 4, model => 'anatomy', options => '{"sensitive": "ill"}');
SELECT aspect, subject, cost FROM kanon_explain('made', '{age,zip}', 2, model => 'anatomy', options => '{"sensitive": "ill"}');

-- what has no meaning, and what is wrong
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'synthetic');
SELECT * FROM kanon_explain('made', '{age}', 2, model => 'cross_training');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'clusters');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => NULL);
SELECT * FROM kanon_frontier('made', '{age}', '{2}', method => 'forest', model => 'cluster');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', keep => '{ill}', options => '{}');
SELECT * FROM kanon_explain('made', '{age}', 2, time_limit => NULL, model => 'cluster');
SELECT * FROM kanon_explain('made', '{age}', 2, seed => 3, model => 'cluster');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'cluster', options => '{"patterns": ["-"]}');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'cluster', options => '{"replace": true}');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'cluster', options => '[]');
SELECT * FROM kanon_frontier('made', '{age,zip}', '{2,3}', model => 'cluster', options => '{"method": "pairs"}');
SELECT * FROM kanon_frontier('made', '{age,zip}', '{2,30}', model => 'freeform', options => '{"partition_size": 40}');
SELECT * FROM kanon_frontier('baskets', '{items}', '{2}', model => 'transactions', options => '{"method": "suppress_control", "rho": 0.5, "sensitive": ["i1"]}');
SELECT * FROM kanon_explain('baskets', '{items}', 2, model => 'transactions', options => '{"method": "suppress_control", "rho": 0.5, "sensitive": ["i1"]}');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'anatomy');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'anatomy', options => '{"sensitive": "ill", "l": 3}');
SELECT * FROM kanon_frontier('made', '{age}', '{2}', model => 'anatomy', options => '{"sensitive": ["ill"]}');
SELECT * FROM kanon_explain('made', '{age,zip,sex}', 7, model => 'anatomy', options => '{"sensitive": "ill"}');
SELECT * FROM kanon_explain('made', '{age,zip,sex}', 47, model => 'freeform');
SELECT * FROM kanon_explain('made', '{age,zip,sex}', 91, model => 'subtree');

-- nothing is written
SELECT count(*) AS written FROM kanon_usefulness WHERE coalesce(options ->> 'k', options ->> 'l') NOT IN ('2', '4') AND target LIKE 'dry_test.%';
SELECT count(*) FROM pg_class WHERE relnamespace = 'dry_test'::regnamespace AND relname ~ 'kanon';

-- as the caller
CREATE ROLE regress_dry;
GRANT USAGE ON SCHEMA dry_test TO regress_dry;
GRANT SELECT (age, zip) ON made TO regress_dry;
SET ROLE regress_dry;
SELECT k, classes IS NOT NULL AS there FROM kanon_frontier('made', '{age,zip}', '{2}', model => 'cluster');
SELECT * FROM kanon_frontier('made', '{age,sex}', '{2}', model => 'cluster');
SELECT * FROM kanon_frontier('made', '{age,zip}', '{2}', model => 'full_domain', options => '{"hierarchies": {"zip": "zips"}}');
SELECT * FROM kanon_explain('made', '{age,zip}', 2, model => 'anatomy', options => '{"sensitive": "ill"}');
SELECT * FROM kanon_explain('baskets', '{items}', 2, model => 'transactions');
RESET ROLE;
DROP OWNED BY regress_dry;
DROP ROLE regress_dry;
DROP SCHEMA dry_test CASCADE;
