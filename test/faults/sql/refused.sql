-- memory that is refused, at one allocation after the other: every call says so, or does without
-- and gives what it gives with it, and the table that was there stays what it was
CREATE SCHEMA refused_test;
SET search_path = refused_test, public;
SET client_min_messages = error;
CREATE TABLE t AS SELECT i * i % 11 AS a, 'b' || i * 7 % 5 AS b, i % 4 AS n, 'd' || i / 3 % 4 AS ill, i % 13 AS person, ARRAY['x' || i % 3, 'y' || i % 2, 'z'] AS items FROM generate_series(1, 60) i;
CREATE TABLE bs AS SELECT DISTINCT b, left(b, 1) || CASE WHEN b < 'b3' THEN '1' ELSE '2' END AS half FROM t;
CREATE TABLE above AS SELECT DISTINCT item, left(item, 1) AS kind FROM t, unnest(items) AS item;
CREATE TABLE o AS SELECT 'as it was' AS what;
CREATE TABLE people AS SELECT t.* FROM t, generate_series(1, 3);

-- what a call gives, written or not, with the N-th allocation refused; 0: none
CREATE FUNCTION given(call text, n int, OUT said text, OUT used int) LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    PERFORM set_config('kanon.refuse', n::text, true);
    BEGIN
        EXECUTE format('SELECT string_agg((to_jsonb(r) - ''solve_ms'')::text, E''\n'' ORDER BY (to_jsonb(r) - ''solve_ms'')::text) FROM %s AS r', call) INTO said;
        used := n - current_setting('kanon.refuse')::int;
        PERFORM set_config('kanon.refuse', '0', true);
        SELECT concat_ws(E'\n', said, string_agg(o::text, E'\n' ORDER BY o::text)) INTO said FROM o;
        RAISE EXCEPTION '%', md5(said) USING ERRCODE = 'ZZ001';
    EXCEPTION
        WHEN SQLSTATE 'ZZ001' THEN said := sqlerrm;
        WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS message = PG_EXCEPTION_DETAIL;
            said := concat_ws(' ', SQLSTATE, SQLERRM);
    END;
    PERFORM set_config('kanon.refuse', '0', true);
    IF (SELECT string_agg(what, ' ') FROM o) <> 'as it was' THEN
        said := said || ' AND THE TABLE IS ANOTHER ONE';
    END IF;
END $$;
-- so many of a call's allocations, evenly, or all: what was said, where it was not what is given with all of them
CREATE FUNCTION refused(call text, most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    usual record;
    result text;
BEGIN
    SELECT * INTO usual FROM given(call, 1000000000);
    IF usual.used IS NULL THEN
        RETURN usual.said;
    END IF;
    SELECT string_agg(DISTINCT CASE WHEN g.said = usual.said THEN NULL WHEN g.said ~ '^[0-9a-f]{32}$' THEN 'ANOTHER RELEASE' ELSE g.said END, '; ') INTO result
    FROM generate_series(1, usual.used, greatest(usual.used / most, 1)) AS n, given(call, n) AS g;
    RETURN result;
END $$;
-- (check-long has eight times as many)
\set most 125
\getenv most KANON_REFUSED
\pset format unaligned
\pset tuples_only on
SELECT call || E'\n  ' || refused(replace(call, 'replace => true', 'replace => true, dry_run => true'), :most) || E'\n  ' || refused(call, 12) FROM unnest(ARRAY[
    $$ kanon_pattern_guided('t', 'o', '{a,b}', 4, effort => 0, replace => true) $$,
    $$ kanon_pattern_guided('t', 'o', '{a,b}', 4, keep => '{ill,n}', mark => true, replace => true, hierarchies => '{"b": "bs", "a": {"interval": [3, 6]}}', class_column => 'ill', privacy => ARRAY[kanon_distinct_l('ill', 2), kanon_t_closeness('n', 0.9)]) $$,
    $$ kanon_pattern_guided('t', 'o', '{a,b,n}', 3, keep => '{ill}', partition_by => 'n', mask => '{"ill": {"constant": "z"}}', replace => true, privacy => ARRAY[kanon_subject('person')]) $$,
    $$ kanon_pattern_guided('t', 'o', '{a,b}', 3, replace => true, privacy => ARRAY[kanon_k_map('people')]) $$,
    $$ kanon_pattern_guided('t', 'o', '{a,b,n}', 4, keep => '{ill}', known_columns => 2, replace => true) $$,
    $$ kanon_full_domain('t', 'o', '{a,b,n}', 4, hierarchies => '{"b": "bs", "a": {"interval": [3, 6]}}', suppression_limit => 0.3, replace => true) $$,
    $$ kanon_full_domain('t', 'o', '{a,b}', 4, keep => '{ill}', hierarchies => '{"b": "bs"}', suppression_limit => 1, replace => true, privacy => ARRAY[kanon_delta_presence('people', 0, 0.9)]) $$,
    $$ kanon_subtree('t', 'o', '{a,b}', 4, hierarchies => '{"b": "bs", "a": {"interval": [3, 6]}}', replace => true) $$,
    $$ kanon_cluster('t', 'o', '{a,b,n}', 4, method => 'mondrian', keep => '{ill}', replace => true) $$,
    $$ kanon_cluster('t', 'o', '{a,b,n}', 4, method => 'gather', keep => '{ill}', mark => true, replace => true, privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$,
    $$ kanon_freeform('t', 'o', '{a,b}', 3, method => 'greedy', replace => true) $$,
    $$ kanon_transactions('t', 'o', 'items', 12, m => 2, hierarchy => 'above', replace => true) $$,
    $$ kanon_anatomy('t', 'o', 'values_of', '{a,b}', 'ill', 3, replace => true) $$,
    $$ kanon_frontier('t', '{a,b}', '{2,4,8}', effort => 0) $$,
    $$ kanon_explain('t', '{a,b}', 4, effort => 0, with_values => true) $$,
    $$ kanon_risk('t', '{a,b}', '{ill}') $$,
    $$ kanon_compare('t', 't', '{a,b}', '{n}', seed => 1) $$,
    $$ kanon_risk('t', '{a,b}', household => 'n', special_uniques => 2) $$,
    $$ kanon_check('t', '{a,b,n}', 2, k => 4, missing => 'any') $$,
    $$ kanon_check_transactions('t', 'items') $$]) AS call;
-- greedy keeps the first order's release where memory is short in a further order
SELECT refused($$ kanon_pattern_guided('t', 'o', '{a,b}', 4, replace => true) $$, :most);
-- and of every other method
SELECT call || ': ' || refused(call, 12) FROM unnest(ARRAY[
    $$ kanon_cluster('t', NULL, '{a,b,n}', 3, method => 'bottom_up', keep => '{ill}', dry_run => true, privacy => ARRAY[kanon_entropy_l('ill', 2)]) $$,
    $$ kanon_cluster('t', NULL, '{a,b,n}', 2, method => 'pairs', keep => '{ill}', dry_run => true) $$,
    $$ kanon_cluster('t', NULL, '{a,b,n}', 3, method => 'mondrian', keep => '{ill}', dry_run => true, privacy => ARRAY[kanon_k_map('people')]) $$,
    $$ kanon_cluster('t', NULL, '{a,b,n}', 3, method => 'k_k', dry_run => true) $$,
    $$ kanon_cluster('t', NULL, '{a,b,n}', 3, method => 'k_one', dry_run => true) $$,
    $$ kanon_pattern_guided('t', NULL, '{a,b}', 3, method => 'ilp', dry_run => true) $$,
    $$ kanon_pattern_guided('t', NULL, '{a,b}', 3, method => 'ilp', keep => '{ill}', dry_run => true, privacy => ARRAY[kanon_recursive_cl('ill', 3, 2)]) $$,
    $$ kanon_pattern_guided('t', NULL, '{a,b}', 3, method => 'fpt', dry_run => true) $$,
    $$ kanon_pattern_guided('t', NULL, '{a,b}', 2, method => 'matching', dry_run => true) $$,
    $$ kanon_pattern_guided('t', NULL, '{a,b}', 3, keep => '{ill}', dry_run => true, privacy => ARRAY[kanon_alpha('ill', 0.6), kanon_subject('person')]) $$,
    $$ kanon_pattern_clustering('t', NULL, '{a,b}', 3, patterns => '{--,-*,**}', dry_run => true) $$,
    $$ kanon_subtree('t', NULL, '{a,b}', 3, method => 'top_down', keep => '{ill}', hierarchies => '{"b": "bs", "a": {"interval": [3, 6]}}', dry_run => true, privacy => ARRAY[kanon_entropy_l('ill', 2)]) $$,
    $$ kanon_subtree('t', NULL, '{a,b}', 3, method => 'optimal', hierarchies => '{"b": "bs", "a": {"interval": [3, 6]}}', dry_run => true) $$,
    $$ kanon_freeform('t', NULL, '{a,b}', 3, method => 'sort_greedy', dry_run => true) $$,
    $$ kanon_freeform('t', NULL, '{a,b}', 3, method => 'ring', keep => '{ill}', seed => 1, dry_run => true) $$,
    $$ kanon_freeform('t', NULL, '{a,b}', 3, method => 'hungarian', dry_run => true) $$,
    $$ kanon_freeform('t', NULL, '{a,b}', 3, method => 'concealment', dry_run => true) $$,
    $$ kanon_transactions('t', NULL, 'items', 9, m => 2, method => 'optimal', hierarchy => 'above', dry_run => true) $$,
    $$ kanon_transactions('t', NULL, 'items', 9, m => 2, method => 'direct', hierarchy => 'above', dry_run => true) $$]) AS call;
DROP SCHEMA refused_test CASCADE;
