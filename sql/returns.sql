-- what functions return: every column of every row, over many small calls
CREATE SCHEMA return_test;
SET search_path = return_test, public;
CREATE TABLE u AS SELECT i AS id, nullif(i * i % 7, 4) AS a, nullif('b' || (i * i + i / 5) % 4, 'b3') AS b, i % 2 = 0 AS c, i % 3 + 1 AS kept, (i * 7 % 11)::numeric / 4 AS n,
    date '2024-01-01' + i * 5 AS d, CASE WHEN i < 20 THEN ARRAY['x' || i % 3, 'y' || i % 2, 'z'] ELSE ARRAY['y' || i % 4] END AS items FROM generate_series(1, 36) i;
CREATE TABLE everybody AS SELECT a, b, c, id FROM u UNION ALL SELECT a, b, c, id + 100 FROM u WHERE id % 4 > 0;
CREATE TABLE private AS SELECT 'z' AS item;
CREATE FUNCTION returned(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    RETURN QUERY EXECUTE format($q$SELECT (SELECT string_agg(CASE WHEN v ~ '^-?\d+\.\d+(e.*)?$' THEN trim_scale(round(v::numeric, 5))::text ELSE coalesce(v, '-') END, ' | ' ORDER BY n)
        FROM json_each_text(row_to_json(r)) WITH ORDINALITY AS e (key, v, n) WHERE key !~ '_ms$|^seconds$|memory|^run$') FROM %s AS r$q$, call);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN NEXT concat_ws(' | ', SQLSTATE, message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse
SELECT calls.call || E'\n' || coalesce((SELECT string_agg('  ' || line, E'\n' ORDER BY n) FROM returned(replace(calls.call, '$q', '{a,b,c}')) WITH ORDINALITY AS l (line, n)), '  nothing')
FROM (VALUES
    ($c$kanon_pattern_guided('u', 'o1', '$q', 3)$c$),
    ($c$kanon_pattern_guided('u', 'o2', '$q', 3, 'ilp', mark => true, weights => '{2,1,0.5}', hierarchies => '{"b": {"prefix": [1]}, "a": {"interval": [3, 6]}}')$c$),
    ($c$(SELECT * FROM o2 ORDER BY a, b, c)$c$),
    ($c$kanon_pattern_guided('u', NULL, '$q', 4, 'matching', dry_run => true)$c$),
    ($c$kanon_pattern_guided('u', NULL, '$q', 2, 'matching', dry_run => true)$c$),
    ($c$kanon_pattern_clustering('u', 'o3', '$q', 3, patterns => '{---,**-,***}')$c$),
    ($c$kanon_cluster('u', 'o4', '{a,n,d}', 3, keep => '{kept}', class_column => 'kept')$c$),
    ($c$(SELECT * FROM o4 ORDER BY a, n, d, kept)$c$),
    ($c$kanon_full_domain('u', 'o5', '{a,b,d}', 3, suppression_limit => 0.3, explore => true, hierarchies => '{"b": {"prefix": [1]}, "a": {"interval": [3, 6]}, "d": {"date": ["month", "year"]}}')$c$),
    ($c$kanon_subtree('u', 'o6', '$q', 3, hierarchies => '{"b": {"prefix": [1]}, "a": {"interval": [3, 6]}}')$c$),
    ($c$kanon_subtree('u', 'o7', '{b,c}', 3, 'tds', class_column => 'kept', keep => '{kept}')$c$),
    ($c$kanon_freeform('u', 'o8', '$q', 3, keep => '{kept}', seed => 7)$c$),
    ($c$kanon_check_freeform('u', 'o8', '$q', 3, known => 2, sensitive => 'kept')$c$),
    ($c$kanon_check_freeform('u', 'o8', '$q', 3)$c$),
    ($c$kanon_transactions('u', 'o9', 'items', 12)$c$),
    ($c$kanon_transactions('u', 'o10', 'items', 10, 'optimal', m => 1, keep => '{kept}')$c$),
    ($c$kanon_transactions('u', 'o11', 'items', method => 'suppress_control', rho => 0.6, sensitive => '{z}')$c$),
    ($c$kanon_transactions('u', 'o12', 'items', 3, 'suppress', p => 1, h => 80, sensitive => '{z}')$c$),
    ($c$kanon_check_transactions('u', 'items', 12, 2)$c$),
    ($c$kanon_check_transactions('u', 'items', 3, 2, sensitive => '{z}', show_values => true)$c$),
    ($c$kanon_check_transactions('o9', 'items', 12, 2)$c$),
    ($c$kanon_anatomy('u', 'o13', 'o14', '$q', 'kept', 2)$c$),
    ($c$kanon_anatomy('u', NULL, NULL, '$q', 'kept', 3, dry_run => true)$c$),
    ($c$kanon_check('u', '$q')$c$),
    ($c$kanon_check('o1', '$q')$c$),
    ($c$kanon_check('everybody', '{a,b}')$c$),
    ($c$kanon_frontier('u', '$q', '{2,3,5,50}')$c$),
    ($c$kanon_frontier('u', '$q', '{2,3,5}', model => 'cluster', options => '{"method": "forest"}')$c$),
    ($c$kanon_frontier('u', '$q', '{2,4}', model => 'full_domain', options => '{"suppression_limit": 0.2}')$c$),
    ($c$kanon_explain('u', '$q', 3, with_values => true)$c$),
    ($c$kanon_explain('u', '$q', 3, 'ilp', weights => '{2,1,0.5}', hierarchies => '{"b": {"prefix": [1]}, "a": {"interval": [3, 6]}}')$c$),
    ($c$kanon_explain('u', '$q', 3, model => 'cluster', options => '{"method": "gather", "weights": [1, 2, 1]}')$c$),
    ($c$kanon_explain('u', '{items}', 12, model => 'transactions')$c$),
    ($c$kanon_explain('u', '$q', 3, model => 'anatomy', options => '{"sensitive": "kept"}')$c$),
    ($c$kanon_explain('u', '$q', 3, model => 'freeform', options => '{"seed": 7}')$c$),
    ($c$kanon_risk('u', '$q')$c$),
    ($c$kanon_risk('o4', '{a,n,d}', '{kept}')$c$),
    ($c$kanon_risk('u', '$q', '{kept,n}', 'd', 'everybody', 0.3)$c$),
    ($c$kanon_risk('u', '{a,c}', '{kept,b}', population => 'everybody', threshold => 0.4)$c$),
    ($c$kanon_risk('u', '{a,c}', '{b}', sampling_fraction => 0.4, hierarchies => '{"b": {"prefix": [1]}}')$c$),
    ($c$kanon_risk_columns('u', '{a,b,c,n}')$c$),
    ($c$kanon_risk_columns('u', '{a,b,c,d}', true)$c$),
    ($c$kanon_suggest('u')$c$),
    ($c$kanon_suggest('everybody')$c$),
    ($c$(SELECT * FROM kanon_compare('u', 'o1', '$q') WHERE measure NOT LIKE 'quer%')$c$),
    ($c$(SELECT * FROM kanon_compare('u', 'o2', '$q') WHERE measure NOT LIKE 'quer%')$c$),
    ($c$(SELECT * FROM kanon_compare('u', 'o4', '{a,n,d}') WHERE measure NOT LIKE 'quer%')$c$),
    ($c$kanon_distributions('u', 'o1', '$q', 3)$c$),
    ($c$(SELECT kanon_hierarchy_quantile('u', 'n', 'h1', '{4,2}') AS lines, kanon_hierarchy_interval('u', 'a', 'h2', '{2,4}') AS more, kanon_hierarchy_prefix('u', 'b', 'h3', '{1}') AS most)$c$),
    ($c$(SELECT * FROM h1 ORDER BY 1)$c$),
    ($c$(SELECT * FROM h2 ORDER BY 1)$c$),
    ($c$kanon_check_hierarchy('h2', 'u', 'n', true)$c$),
    ($c$kanon_isolation('everybody', 'u', '{a,id}', 1, 3)$c$),
    ($c$kanon_estimate(20, 100, 0.5, 0.1)$c$),
    ($c$(SELECT p FROM kanon_patterns('$q') AS p)$c$),
    ($c$(SELECT kanon_checksum('everybody') AS sum)$c$)
) AS calls (call);
SELECT count(*) FROM kanon_usefulness WHERE source ~ 'return_test|^u$|^everybody$';
DROP SCHEMA return_test CASCADE;
