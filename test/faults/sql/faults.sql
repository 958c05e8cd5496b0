-- faults on purpose (src/core/util/fault.h): each last guard finds what only it is left to
-- find, and the table that was there stays what it was
CREATE SCHEMA fault_test;
SET search_path = fault_test, public;
CREATE TABLE o AS SELECT 'as it was' AS what;

-- a call with one thing broken: what comes of it, and what is in o then
CREATE FUNCTION broken(fault text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
    detail text;
    there text;
BEGIN
    PERFORM set_config('kanon.fault', fault, true);
    BEGIN
        EXECUTE 'SELECT count(*) FROM ' || call;
        said := 'published';
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
        said := format('%s %s: %s', SQLSTATE, SQLERRM, detail);
    END;
    PERFORM set_config('kanon.fault', 'none', true);
    SELECT string_agg(o::text, ' ') INTO there FROM o;
    RETURN format(E'%s\n%s', said, there);
END $$;
-- and nothing broken: the same call publishes, and o is put back
CREATE FUNCTION sound(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text := broken('none', call);
BEGIN
    DROP TABLE o;
    CREATE TABLE o AS SELECT 'as it was' AS what;
    RETURN split_part(said, E'\n', 1);
END $$;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on

-- what a method got wrong: the release is checked (core/model/release.c)
CREATE TABLE t AS
SELECT i, CASE WHEN i <= 4 THEN 'a' ELSE 'b' END AS zip, i % 3 AS n, CASE i % 4 WHEN 0 THEN 'x' ELSE 'y' END AS ill,
       'y' AS same, 'q' AS odd
FROM generate_series(1, 7) i;
SELECT sound($$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', replace => true) $$);
SELECT broken('class_short', $$ kanon_full_domain('t', 'o', '{zip}', 4, keep => '{ill}', replace => true) $$);
SELECT broken('rule_forgotten', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
-- graphs, where they are put together (core/freeform/freeform_release.c)
SELECT sound($$ kanon_freeform('t', 'o', '{n}', 2, replace => true) $$);
SELECT broken('graph_broken', $$ kanon_freeform('t', 'o', '{n}', 2, replace => true) $$);

-- what a mask was forgotten for is still there (write/mask.c); values that share a pseudonym
SELECT sound($$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', mask => '{"ill": {"constant": "z"}}', replace => true) $$);
SELECT broken('mask_forgotten', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', mask => '{"ill": {"constant": "z"}}', replace => true) $$);
SELECT broken('mask_forgotten', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', mask => '{"ill": {"pseudonym": "release"}}', replace => true) $$);
SELECT sound($$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', mask => '{"ill": {"pseudonym": "release"}}', replace => true) $$);
SELECT broken('no_random', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', mask => '{"ill": {"pseudonym": "release"}}', replace => true) $$);
SELECT broken('pseudonym_shared', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', mask => '{"ill": {"pseudonym": "release", "type": "bigint"}}', replace => true) $$);

-- a column beside that identifies, if not rows then persons, as a key of shifts says who they are (write/kept.c)
CREATE TABLE stays AS SELECT i % 30 AS who, 'p' || i % 30 AS email, i % 2 AS zip, date '2024-01-01' + i AS day, i AS visit FROM generate_series(1, 120) i;
SELECT broken('none', $$ kanon_pattern_guided('stays', 'o', '{zip}', 3, keep => '{visit}', replace => true) $$);
SELECT broken('none', $$ kanon_pattern_guided('stays', 'o', '{zip}', 3, keep => '{email,day,who}', replace => true,
    mask => '{"who": {"constant": "1"}, "day": {"shift": "who", "days": 9}}') $$);

-- the target is made (write/target.c, write/write.c)
SELECT broken('type_changed', $$ kanon_pattern_guided('t', 'o', '{n}', 2, replace => true) $$);
SELECT broken('no_random', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, keep => '{ill}', replace => true) $$);

-- rows that were written are counted (run/run.c), rows that are there, too (write/verify.c)
SELECT broken('rows_skipped', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, replace => true) $$);
SELECT broken('row_lost', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, replace => true) $$);
SELECT broken('row_lost', $$ kanon_freeform('t', 'o', '{n}', 2, replace => true) $$);
-- the classes that are there: k, what shows nothing, the rules
SELECT broken('row_moved', $$ kanon_pattern_guided('t', 'o', '{zip}', 4, keep => '{ill}', replace => true, patterns => '{-}', residual => 'suppress') $$);
SELECT sound($$ kanon_pattern_guided('t', 'o', '{zip}', 3, residual => 'error', replace => true) $$);
SELECT broken('row_blank', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, residual => 'error', replace => true) $$);
-- of row types that are on disk, part by part, the groups that the server makes
CREATE TABLE parts AS SELECT i % 24 AS site, hashint4(i) & 31 AS a, hashint4(i + 1000000) & 15 AS b, hashint4(i + 2000000) & 31 AS c,
    i / 5 % 7 AS ill, 1 AS same, 9 AS odd, CASE i % 24 WHEN 23 THEN 1 ELSE i / 5 % 7 END AS late FROM generate_series(1, 16000) i;
SET kanon.max_memory = '1MB';
SELECT sound($$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', residual => 'drop', replace => true) $$);
SELECT broken('rows_skipped', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', replace => true) $$);
SELECT broken('row_lost', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', patterns => '{-***}', replace => true) $$);
SELECT broken('row_blank', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', patterns => '{-***}', residual => 'drop', replace => true) $$);
SELECT broken('class_short', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', replace => true) $$);
-- and under privacy rules its rows, sorted (write/verify_parts.c)
SELECT sound($$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', keep => '{ill,same}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
SELECT broken('rule_forgotten', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', keep => '{ill}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
SELECT broken('kept_changed', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', keep => '{ill,same}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
-- (the last class alone)
SELECT broken('kept_changed', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', keep => '{ill,late}', patterns => '{-***}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
SELECT broken('kept_changed', $$ kanon_pattern_guided('parts', 'o', '{site,a,b,c}', 3, partition_by => 'site', keep => '{ill,odd}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
RESET kanon.max_memory;
CREATE TABLE ills AS SELECT zip, n AS ill, 1 AS same, 9 AS odd FROM t;
SELECT sound($$ kanon_pattern_guided('ills', 'o', '{zip}', 3, keep => '{ill,same}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
SELECT broken('kept_changed', $$ kanon_pattern_guided('ills', 'o', '{zip}', 3, keep => '{ill,same}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
SELECT broken('kept_changed', $$ kanon_pattern_guided('ills', 'o', '{zip}', 3, keep => '{ill,odd}', replace => true,
    privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);

-- persons, whom the target does not show, are counted as their rows are written (write/persons.c)
CREATE TABLE visits (zip text, who int);
INSERT INTO visits VALUES ('a', 1), ('a', 2), ('b', 1), ('b', 2);
SELECT sound($$ kanon_pattern_guided('visits', 'o', '{zip}', 2, replace => true, privacy => ARRAY[kanon_subject('who')]) $$);
SELECT broken('person_moved', $$ kanon_pattern_guided('visits', 'o', '{zip}', 2, replace => true, privacy => ARRAY[kanon_subject('who')]) $$);

-- combinations that somebody may know are counted in the target (rows/verify_known.c)
CREATE TABLE known_pairs (x int, y text);
INSERT INTO known_pairs VALUES (1, 'a'), (1, 'b'), (2, 'b'), (2, 'c');
SELECT sound($$ kanon_pattern_guided('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2) $$);
SELECT broken('known_forgotten', $$ kanon_pattern_guided('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2) $$);
SELECT broken('known_forgotten', $$ kanon_pattern_guided('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2, missing => 'any') $$);
CREATE TABLE pair_levels (y text, l1 text);
INSERT INTO pair_levels VALUES ('a', 'ab'), ('b', 'ab'), ('c', 'c');
SELECT sound($$ kanon_pattern_guided('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2, hierarchies => '{"y": "pair_levels"}') $$);
SELECT broken('known_forgotten', $$ kanon_pattern_guided('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2, hierarchies => '{"y": "pair_levels"}') $$);
SELECT sound($$ kanon_full_domain('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2, suppression_limit => 0.5, hierarchies => '{"y": "pair_levels"}') $$);
SELECT broken('known_forgotten', $$ kanon_full_domain('known_pairs', 'o', '{x,y}', 2, replace => true, known_columns => 2, suppression_limit => 0.5, hierarchies => '{"y": "pair_levels"}') $$);
-- NULL of the source is such a value, too: once the first row has lost its own, the second alone has NULL with p
CREATE TABLE known_nulls (x int, y text, z text);
INSERT INTO known_nulls VALUES (NULL, 'a', 'p'), (NULL, 'b', 'p'), (NULL, 'b', 'q'), (NULL, 'b', 'q'), (1, 'a', 'p'), (1, 'a', 'p'), (1, 'b', 'p'), (1, 'b', 'p');
SELECT sound($$ kanon_pattern_guided('known_nulls', 'o', '{x,y,z}', 2, replace => true, known_columns => 2, missing => 'value', mark => true, weights => '{1,2,2}') $$);
SELECT broken('known_forgotten', $$ kanon_pattern_guided('known_nulls', 'o', '{x,y,z}', 2, replace => true, known_columns => 2, missing => 'value', mark => true, weights => '{1,2,2}') $$);
-- and counted in persons as the rows are written
CREATE TABLE known_visits AS SELECT x, y, who FROM known_pairs, (VALUES (1), (2)) v (who);
SELECT sound($$ kanon_pattern_guided('known_visits', 'o', '{x,y}', 2, replace => true, known_columns => 2, privacy => ARRAY[kanon_subject('who')]) $$);
SELECT broken('person_moved', $$ kanon_pattern_guided('known_visits', 'o', '{x,y}', 2, replace => true, known_columns => 2, privacy => ARRAY[kanon_subject('who')]) $$);
SELECT broken('person_moved', $$ kanon_full_domain('known_visits', 'o', '{x,y}', 2, replace => true, known_columns => 2, privacy => ARRAY[kanon_subject('who')]) $$);

-- populations are counted anew for the classes that the target has (rows/verify.c)
CREATE TABLE census (age int);
INSERT INTO census VALUES (31), (32), (33), (34), (41), (42), (43);
CREATE TABLE ages AS SELECT age, age / 10 * 10 AS decade FROM census;
CREATE TABLE few AS SELECT * FROM census WHERE age IN (31, 32, 41);
SELECT sound($$ kanon_full_domain('few', 'o', '{age}', 3, hierarchies => '{"age": "ages"}', replace => true,
    privacy => ARRAY[kanon_k_map('census')]) $$);
SELECT broken('population_miscounted', $$ kanon_full_domain('few', 'o', '{age}', 3, hierarchies => '{"age": "ages"}', replace => true,
    privacy => ARRAY[kanon_k_map('census')]) $$);
SELECT broken('value_fine', $$ kanon_full_domain('few', 'o', '{age}', 3, hierarchies => '{"age": "ages"}', replace => true,
    privacy => ARRAY[kanon_k_map('census')]) $$);
-- (of greedy's classes, which may overlap, each has k of its own)
SELECT sound($$ kanon_pattern_guided('few', 'o', '{age}', 3, replace => true, privacy => ARRAY[kanon_k_map('census')]) $$);
SELECT broken('population_miscounted', $$ kanon_pattern_guided('few', 'o', '{age}', 3, replace => true, privacy => ARRAY[kanon_k_map('census')]) $$);
-- and so are those of them that match no class: one row that shows nothing in the place of nobody
CREATE TABLE half AS SELECT * FROM census WHERE age NOT IN (34);
SELECT sound($$ kanon_full_domain('half', 'o', '{age}', 2, hierarchies => '{"age": "ages"}', replace => true,
    suppression_limit => 0.5, privacy => ARRAY[kanon_delta_presence('census', 0.1, 1)]) $$);
SELECT broken('row_blank', $$ kanon_full_domain('half', 'o', '{age}', 2, hierarchies => '{"age": "ages"}', residual => 'suppress', replace => true,
    suppression_limit => 0.5, privacy => ARRAY[kanon_delta_presence('census', 0.1, 1)]) $$);

-- which class of greedy's or Mondrian's a row of a population belongs to follows from all that were checked, so that the
-- target's have their rows, and say what they say of the values (write/verify.c)
CREATE TABLE twice AS SELECT zip FROM t, generate_series(1, 2);
SELECT sound($$ kanon_pattern_guided('t', 'o', '{zip}', 4, replace => true, privacy => ARRAY[kanon_k_map('twice')]) $$);
SELECT broken('value_fine', $$ kanon_pattern_guided('t', 'o', '{zip}', 4, replace => true, privacy => ARRAY[kanon_k_map('twice')]) $$);
SELECT broken('row_moved', $$ kanon_pattern_guided('t', 'o', '{zip}', 4, keep => '{ill}', replace => true, privacy => ARRAY[kanon_k_map('twice')]) $$);
SELECT sound($$ kanon_cluster('half', 'o', '{age}', 3, replace => true, privacy => ARRAY[kanon_delta_presence('census', 0.1, 1)]) $$);
SELECT broken('value_fine', $$ kanon_cluster('half', 'o', '{age}', 3, replace => true, privacy => ARRAY[kanon_delta_presence('census', 0.1, 1)]) $$);

-- records of a freeform release are those whose matches were checked (core/freeform/freeform_check.c)
SELECT broken('value_fine', $$ kanon_freeform('t', 'o', '{i}', 2, replace => true) $$);
-- and of nodes of a hierarchy
CREATE TABLE pairs AS SELECT i AS value, 'p' || i / 2 AS level1, 'all' AS level2 FROM generate_series(1, 7) i;
SELECT sound($$ kanon_freeform('t', 'o', '{i}', 2, hierarchies => '{"i": "pairs"}', replace => true) $$);
SELECT broken('value_fine', $$ kanon_freeform('t', 'o', '{i}', 2, hierarchies => '{"i": "pairs"}', replace => true) $$);
SELECT broken('value_fine', $$ kanon_cluster('t', 'o', '{i}', 2, method => 'one_k', hierarchies => '{"i": "pairs"}', replace => true) $$);
-- where only one direction is promised, it is counted anew (write/verify.c)
SELECT sound($$ kanon_cluster('t', 'o', '{i}', 2, method => 'one_k', replace => true) $$);
SELECT broken('value_fine', $$ kanon_cluster('t', 'o', '{i}', 2, method => 'one_k', replace => true) $$);
SELECT sound($$ kanon_cluster('t', 'o', '{i}', 2, method => 'k_one', replace => true) $$);
SELECT broken('value_fine', $$ kanon_cluster('t', 'o', '{i}', 2, method => 'k_one', replace => true) $$);
SELECT sound($$ kanon_freeform('t', 'o', '{odd,ill}', 2, replace => true) $$);
SELECT broken('sets_many', $$ kanon_freeform('t', 'o', '{odd,ill}', 4, replace => true) $$);

-- what is replaced is what was there at first (write/target.c)
SELECT broken('target_replaced', $$ kanon_pattern_guided('t', 'o', '{zip}', 3, replace => true) $$);

-- publications: the last look before readers see a release (publication/refresh.c, source_view.c)
SELECT kanon_create_publication('p', 't', '{zip}', 3, '{"keep": ["ill"]}', keep_releases => 2);
CREATE TABLE seen AS SELECT * FROM p;
CREATE FUNCTION refreshed(fault text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
    same boolean;
BEGIN
    PERFORM set_config('kanon.fault', fault, true);
    SELECT format('%s %s %s', status, error, message) INTO said FROM kanon_refresh('p');
    PERFORM set_config('kanon.fault', 'none', true);
    SELECT count(*) = 0 INTO same FROM (SELECT * FROM p EXCEPT ALL SELECT * FROM seen) AS more;
    RETURN format('%s, %s', said, CASE WHEN same AND (SELECT count(*) FROM p) = (SELECT count(*) FROM seen)
                                       THEN 'readers see what they saw' ELSE 'readers see something else' END);
END $$;
SET client_min_messages = error;
INSERT INTO t SELECT i, 'a', 1, 'x', 'y', 'q' FROM generate_series(8, 9) i;
DELETE FROM t WHERE i IN (1, 2, 3);
SELECT refreshed('release_changed');
SELECT refreshed('release_moved');
SELECT refreshed('view_renamed');
SELECT refreshed('none');
-- the oldest release goes, in whatever order the history is read (publication/history.c)
SELECT refreshed('history_reversed');
SELECT string_agg(release || ' ' || status, ', ' ORDER BY release) FROM kanon_releases;
-- rows that are staged with their key, and those that come from there (series/successive.c)
CREATE TABLE keyed AS SELECT i, (i > 4)::int AS zip FROM generate_series(1, 8) i;
SELECT kanon_create_publication('by_key', 'keyed', '{zip}', 3, key => 'i', protect_successive => true);
CREATE FUNCTION keyed(fault text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    PERFORM set_config('kanon.fault', fault, true);
    SELECT format('%s %s %s', status, error, message) INTO said FROM kanon_refresh('by_key');
    PERFORM set_config('kanon.fault', 'none', true);
    RETURN said || ', ' || (SELECT string_agg(format('%s:%s', zip, n), ' ' ORDER BY zip) FROM (SELECT zip, count(*) AS n FROM by_key GROUP BY zip) AS seen);
END $$;
SELECT keyed('type_changed');
SELECT keyed('staged_limited');
SELECT keyed('rows_skipped');
SELECT keyed('row_lost');
SELECT keyed('release_changed');
SELECT keyed('none');
-- who would be alone is held back, and that is looked at again (series/histories_keep.c)
UPDATE keyed SET zip = (i > 5)::int;
SELECT keyed('nobody_held');
SELECT keyed('history_moved');
SELECT keyed('none');
SELECT kanon_drop_publication('by_key');
-- with masks
CREATE TABLE hidden AS SELECT i, (i > 4)::int AS zip, 'v' || i % 2 AS ill FROM generate_series(1, 8) i;
SELECT kanon_create_publication('by_key', 'hidden', '{zip}', 3, '{"keep": ["ill"], "mask": {"ill": {"constant": "z"}}}', key => 'i', protect_successive => true);
UPDATE hidden SET zip = (i > 5)::int;
SELECT keyed('mask_forgotten');
SELECT keyed('none');
SELECT DISTINCT ill FROM by_key;
-- persons stay among the same values, in equal numbers (series/values.c)
CREATE TABLE valued AS SELECT i, i AS age, 'v' || i % 4 AS ill FROM generate_series(1, 36) i;
SELECT kanon_create_publication('by_value', 'valued', '{age}', 5, '{"keep": ["ill"], "privacy": [{"rule": "distinct_l", "column": "ill", "l": 3}]}', 'cluster', key => 'i',
    protect_successive => 'values');
CREATE FUNCTION valued(fault text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('kanon.fault', fault, true);
    PERFORM kanon_refresh('by_value');
    PERFORM set_config('kanon.fault', 'none', true);
    RETURN (SELECT format('%s %s %s', status, error, detail) FROM kanon_releases WHERE publication ~ 'by_value' ORDER BY release DESC LIMIT 1);
END $$;
UPDATE valued SET age = age + 1 WHERE i = 7;
SELECT valued('values_unequal');
SELECT valued('signature_moved');
-- (so that others are together)
DELETE FROM valued WHERE i % 4 = 1 AND i < 20;
SELECT valued('signature_anew');
SELECT valued('none');
SELECT kanon_drop_publication('by_value');
SELECT kanon_drop_publication('by_key');
-- row types of another type are no start for the next release (publication/stable.c)
SELECT kanon_drop_publication('p');
CREATE TABLE numbers AS SELECT i % 2 AS n FROM generate_series(1, 10) i;
SELECT kanon_create_publication('p', 'numbers', '{n}', 3, stable => true);
SELECT string_agg(format('%s %s', release, status), ', ') FROM kanon_releases;
CREATE OR REPLACE FUNCTION again(fault text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    PERFORM set_config('kanon.fault', fault, true);
    SELECT format('%s %s rows k %s', status, row_count, k) INTO said FROM kanon_refresh('p');
    PERFORM set_config('kanon.fault', 'none', true);
    RETURN said;
END $$;
SELECT again('types_changed');
SELECT again('none');

-- sets of items: what was written is counted again (write/sets.c)
CREATE TABLE sets AS SELECT ARRAY['a' || i % 2, 'b' || i] AS items FROM generate_series(1, 8) i;
CREATE TABLE above AS SELECT DISTINCT u.item, left(u.item, 1) AS label FROM sets, unnest(items) AS u(item);
SELECT sound($$ kanon_transactions('sets', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
SELECT broken('item_fine', $$ kanon_transactions('sets', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
-- a single item that is too rare
CREATE TABLE one_rare AS SELECT CASE i WHEN 1 THEN ARRAY['a0', 'b1'] ELSE ARRAY['a0'] END AS items FROM generate_series(1, 8) i;
SELECT broken('item_fine', $$ kanon_transactions('one_rare', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
SELECT broken('row_lost', $$ kanon_transactions('sets', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
SELECT broken('rows_skipped', $$ kanon_transactions('sets', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
SELECT broken('no_random', $$ kanon_transactions('sets', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
-- one row an item: items are counted, too
CREATE TABLE by_row AS SELECT t, item FROM generate_series(1, 4) t, unnest('{a,b}'::text[]) item;
SELECT sound($$ kanon_transactions('by_row', 'o', 'item', 3, transaction => 't', replace => true) $$);
SELECT broken('row_lost', $$ kanon_transactions('by_row', 'o', 'item', 3, transaction => 't', replace => true) $$);
-- private items: how many of those who share items have one, and that those and only those which may be shown are there
CREATE TABLE private AS SELECT CASE WHEN i < 4 THEN '{p,x}' ELSE '{x}' END::text[] AS items FROM generate_series(1, 4) i;
SELECT sound($$ kanon_transactions('private', 'o', 'items', 3, 'suppress', p => 1, h => 50, sensitive => '{p}', replace => true) $$);
SELECT broken('item_fine', $$ kanon_transactions('private', 'o', 'items', 3, 'suppress', p => 1, h => 50, sensitive => '{p}', replace => true) $$);
SELECT sound($$ kanon_transactions('private', 'o', 'items', method => 'suppress_control', rho => 0.5, sensitive => '{p}', replace => true) $$);
SELECT broken('item_fine', $$ kanon_transactions('private', 'o', 'items', method => 'suppress_control', rho => 0.5, sensitive => '{p}', replace => true) $$);
CREATE TABLE linked AS SELECT CASE WHEN i < 3 THEN '{p,x}' WHEN i = 3 THEN '{p}' ELSE '{y}' END::text[] AS items FROM generate_series(1, 8) i;
SELECT sound($$ kanon_transactions('linked', 'o', 'items', method => 'suppress_control', rho => 0.5, sensitive => '{p}', replace => true) $$);
SELECT broken('item_fine', $$ kanon_transactions('linked', 'o', 'items', method => 'suppress_control', rho => 0.5, sensitive => '{p}', replace => true) $$);
CREATE TABLE rare AS SELECT CASE WHEN i = 1 THEN '{a,x}' WHEN i < 5 THEN '{x,z}' ELSE '{x}' END::text[] AS items FROM generate_series(1, 9) i;
SELECT sound($$ kanon_transactions('rare', 'o', 'items', 3, 'suppress', p => 1, h => 50, sensitive => '{a}', replace => true) $$);
SELECT broken('item_changed', $$ kanon_transactions('rare', 'o', 'items', 3, 'suppress', p => 1, h => 50, sensitive => '{a}', replace => true) $$);
CREATE TABLE sets_of_numbers AS SELECT ARRAY[1] AS items FROM generate_series(1, 4) i;
SELECT broken('type_changed', $$ kanon_transactions('sets_of_numbers', 'o', 'items', 3, replace => true) $$);
SELECT broken('target_replaced', $$ kanon_transactions('sets', 'o', 'items', 3, hierarchy => 'above', replace => true) $$);
-- several tables: the rows of persons are counted, even where nobody stands alone without one
CREATE TABLE whole (id int PRIMARY KEY, zip text);
CREATE TABLE part (whole int REFERENCES whole, what text);
INSERT INTO whole SELECT i, '10' FROM generate_series(1, 8) i;
INSERT INTO part SELECT i, 'a' FROM generate_series(1, 8) i, generate_series(1, 2);
SELECT broken('none', $$ kanon_linked('whole', '{"whole": {"quasi_identifiers": ["zip"]}, "part": {"quasi_identifiers": ["what"]}}', NULL, 3, dry_run => true) $$);
SELECT broken('linked_lost', $$ kanon_linked('whole', '{"whole": {"quasi_identifiers": ["zip"]}, "part": {"quasi_identifiers": ["what"]}}', NULL, 3, dry_run => true) $$);
-- (labs of two persons alone are in a stay)
CREATE TABLE stay (id int PRIMARY KEY, whole int REFERENCES whole);
CREATE TABLE lab (whole int REFERENCES whole, stay int REFERENCES stay, what text);
INSERT INTO stay SELECT i, i FROM generate_series(1, 8) i;
INSERT INTO lab SELECT i, CASE WHEN i < 3 THEN i END, 'a' FROM generate_series(1, 8) i;
SELECT broken('none', $$ kanon_linked('whole', '{"whole": {"quasi_identifiers": ["zip"]}, "stay": {}, "lab": {"quasi_identifiers": ["what"], "keep": ["stay"]}}', NULL, 3, dry_run => true) $$);
SELECT broken('reference_shown', $$ kanon_linked('whole', '{"whole": {"quasi_identifiers": ["zip"]}, "stay": {}, "lab": {"quasi_identifiers": ["what"], "keep": ["stay"]}}', NULL, 3, dry_run => true) $$);
-- two tables: their rows, the values of groups and the rows of values are counted again (write/anatomy.c)
CREATE TABLE ana AS SELECT i % 3 AS i, CASE WHEN i > 8 THEN 1 ELSE i END AS v FROM generate_series(1, 10) i;
SELECT sound($$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('type_changed', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('no_random', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('rows_skipped', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('row_lost', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('row_moved', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('value_fine', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('kept_changed', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
SELECT broken('target_replaced', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', replace => true) $$);
-- (in whatever order groups are found)
SET kanon.fault = 'groups_reversed';
SELECT groups, group_min, group_max FROM kanon_anatomy('ana', 'by_group', 'by_group_values', '{i}', 'v', 2, allow_identifying => '{v}');
SELECT bool_and(number = kanon_group) AS as_written FROM (SELECT 6 - dense_rank() OVER (ORDER BY ctid) AS number, kanon_group FROM (SELECT min(ctid) AS ctid, kanon_group FROM by_group_values GROUP BY 2) g) n;
RESET kanon.fault;
DROP TABLE by_group, by_group_values;
SELECT broken('mask_forgotten', $$ kanon_anatomy('ana', 'o', 'o_values', '{i}', 'v', 2, allow_identifying => '{v}', mask => '{"i": {"round": 5}}', replace => true) $$);
-- rows drawn by chance: the table has just those (write/made.c)
SELECT sound($$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('type_changed', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('no_random', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('rows_skipped', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('row_lost', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('value_fine', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('row_blank', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
SELECT broken('target_replaced', $$ kanon_synthetic('ana', 'o', '{i}', 1, 0.1, '{"i": [0, 1, 2]}', replace => true) $$);
-- rows with noise: the table has just those (write/points.c)
SELECT sound($$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('type_changed', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('no_random', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('rows_skipped', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('row_lost', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('value_fine', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('row_blank', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);
SELECT broken('target_replaced', $$ kanon_cross_training('ana', 'o', '{i}', 2, replace => true) $$);

-- a hierarchy that is built has the columns that it was to have (sql/hierarchy_build.c)
SELECT broken('type_changed', $$ kanon_hierarchy_interval('t', 'n', 'n_levels', '{2}') $$);
SELECT to_regclass('n_levels');
