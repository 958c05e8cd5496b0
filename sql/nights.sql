-- publications from night to night: changed with care, held to floors and ceilings, and what is said of failures
CREATE SCHEMA night_test;
SET search_path = night_test, public;
CREATE ROLE kanon_night_reader;
CREATE TABLE stay AS
SELECT i AS id, 1950 + i % 40 AS birth, 10000 + i % 7 AS zip, 'd' || i % 5 AS diagnosis, 'n' || i AS note FROM generate_series(1, 600) i;
SELECT kanon_create_publication('stays', 'stay', '{birth,zip}', 5,
    jsonb_build_object('keep', ARRAY['diagnosis'], 'privacy', ARRAY[kanon_distinct_l('diagnosis', 2)], 'weights', '[1, 2]'::jsonb));
CREATE VIEW now_is AS SELECT k, model, quasi_identifiers, options FROM kanon_publications WHERE publication = 'night_test.stays';
CREATE VIEW said AS SELECT release, status, row_count, error, message, detail, hint FROM kanon_releases WHERE publication = 'night_test.stays';

-- ---- changes ----

-- options by name: the others stay
SELECT kanon_alter_publication('stays', set_options => jsonb_build_object('privacy', ARRAY[kanon_distinct_l('note', 2)]));
SELECT * FROM now_is;
SELECT kanon_alter_publication('stays', drop_options => '{weights}', set_options => '{"method": "greedy", "mark": true}');
SELECT * FROM now_is;
-- all of them, and what went with that
SELECT kanon_alter_publication('stays', options => '{"keep": ["diagnosis"]}', k => 6, keep_releases => 3);
SELECT * FROM now_is;
-- nothing
SELECT kanon_alter_publication('stays', k => 6, set_options => '{"keep": ["diagnosis"]}');
-- tried and left as it is
SELECT kanon_alter_publication('stays', k => 7, set_options => '{"residual": "drop"}', dry_run => true);
SELECT * FROM now_is;
-- mistakes are found at once, by a release that is made and undone
SELECT kanon_alter_publication('stays', k => 100000);
SELECT kanon_alter_publication('stays', k => 1);
SELECT kanon_alter_publication('stays', set_options => '{"method": "ilpp"}');
SELECT kanon_alter_publication('stays', set_options => '{"keep": ["nobody"]}');
SELECT kanon_alter_publication('stays', set_options => '{"keep": ["diagnosys"]}');
SELECT kanon_alter_publication('stays', set_options => '{"keep": ["diagnosis", "note"]}');
SELECT kanon_alter_publication('stays', quasi_identifiers => '{nobody}');
SELECT kanon_alter_publication('stays', model => 'nobody');
SELECT kanon_alter_publication('stays', model => 'cluster', set_options => '{"method": "pairs"}');
SELECT kanon_alter_publication('stays', set_options => '{"hierarchies": {"zip": "night_test.stay"}}');
SELECT kanon_alter_publication('stays', key => 'nobody');
SELECT kanon_alter_publication('stays', quasi_identifiers => '{zip}');
SELECT kanon_alter_publication('stays', set_options => '["mark"]');
SELECT kanon_alter_publication('stays', set_options => '{"marc": true}');
SELECT kanon_alter_publication('stays', drop_options => '{mark}');
SELECT kanon_alter_publication('stays', dry_run => NULL);
SELECT * FROM now_is;
SELECT relname FROM pg_class WHERE relnamespace = 'night_test'::regnamespace AND relname ~ '^stays' ORDER BY 1;
SELECT count(*) FROM kanon_usefulness WHERE target LIKE 'night\_test.%';
-- unless one says so
SELECT kanon_alter_publication('stays', k => 100000, dry_run => true, solve => false);
SELECT kanon_alter_publication('stays', k => 100000, solve => false);
SELECT status, error, message FROM kanon_refresh('stays');
SELECT kanon_alter_publication('stays', k => 5);
SELECT status, row_count FROM kanon_refresh('stays');

-- ---- floors and ceilings ----

CREATE TABLE away AS SELECT * FROM stay;
TRUNCATE stay;
SELECT status, error, message FROM kanon_refresh('stays');
SELECT detail, hint FROM said ORDER BY release DESC LIMIT 1;
SELECT count(*) FROM stays;
SELECT kanon_alter_publication('stays', set_options => '{"min_rows": 0}');
SELECT status, row_count FROM kanon_refresh('stays');
SELECT count(*) FROM stays;
INSERT INTO stay SELECT * FROM away;
SELECT kanon_alter_publication('stays', set_options => '{"min_rows": 500, "max_row_change": 0.25, "max_gcp": 0.9, "max_suppressed": 0.9}');
-- a release before without rows is no measure
SELECT status, row_count FROM kanon_refresh('stays');
SELECT * FROM now_is;
DELETE FROM stay WHERE id % 10 = 0;
SELECT status, row_count FROM kanon_refresh('stays');
DELETE FROM stay WHERE id <= 100;
SELECT status, error, message FROM kanon_refresh('stays');
SELECT detail, hint FROM said ORDER BY release DESC LIMIT 1;
INSERT INTO stay SELECT * FROM away;
SELECT status, error, message FROM kanon_refresh('stays');
SELECT detail FROM said ORDER BY release DESC LIMIT 1;
DELETE FROM stay WHERE ctid NOT IN (SELECT min(ctid) FROM stay GROUP BY id);
SELECT kanon_alter_publication('stays', set_options => '{"max_gcp": 0.1}');
SELECT kanon_alter_publication('stays', set_options => '{"max_gcp": 0.1}', solve => false);
SELECT status, error, message FROM kanon_refresh('stays');
SELECT detail, hint FROM said ORDER BY release DESC LIMIT 1;
SELECT kanon_alter_publication('stays', drop_options => '{max_gcp}', set_options => '{"max_suppressed": 0.01}', solve => false);
SELECT status, error, message FROM kanon_refresh('stays');
SELECT detail FROM said ORDER BY release DESC LIMIT 1;
SELECT round(suppressed_share::numeric, 6) > 0.01 AS beyond FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT kanon_alter_publication('stays', k => 5, options => '{"keep": ["diagnosis"], "max_row_change": null}');
SELECT status, row_count FROM kanon_refresh('stays');
-- a first release is held to them, too; what is left out is suppressed
CREATE TABLE odd AS SELECT i % 6 AS a, 'b' AS b FROM generate_series(1, 300) i UNION ALL SELECT -i, 'x' FROM generate_series(1, 3) i;
SELECT kanon_create_publication('odds', 'odd', '{a,b}', 5, '{"residual": "drop", "max_suppressed": 0.0099}');
SELECT kanon_create_publication('odds', 'odd', '{a,b}', 5, '{"residual": "drop", "max_suppressed": 0.01}');
SELECT count(*), 3 / 303.0 FROM odds;
SELECT kanon_drop_publication('odds');
CREATE TABLE nothing AS SELECT * FROM stay LIMIT 0;
SELECT kanon_create_publication('nothings', 'nothing', '{birth,zip}', 5);
SELECT kanon_create_publication('nothings', 'nothing', '{birth,zip}', 5, '{"min_rows": 0}');
SELECT count(*) FROM nothings;
SELECT kanon_drop_publication('nothings');
SELECT kanon_create_publication('x', 'stay', '{birth,zip}', 5, options::jsonb) FROM unnest(ARRAY['{"min_rows": -1}']) options;
SELECT kanon_create_publication('x', 'stay', '{birth,zip}', 5, '{"min_rows": null}');
SELECT kanon_create_publication('x', 'stay', '{birth,zip}', 5, '{"max_row_change": -0.5}');
SELECT kanon_create_publication('x', 'stay', '{birth,zip}', 5, '{"max_row_change": "NaN"}');
SELECT kanon_create_publication('x', 'stay', '{birth,zip}', 5, '{"max_gcp": 1.5}');
SELECT kanon_create_publication('x', 'stay', '{birth,zip}', 5, '{"max_suppressed": -1}');
-- sets of items have them, too
CREATE TABLE basket AS SELECT i AS id, ARRAY['a' || i % 3, 'b' || i % 2] AS items FROM generate_series(1, 60) i;
SELECT kanon_create_publication('baskets', 'basket', '{items}', 5, '{"min_rows": 50, "max_gcp": 0.5}', model => 'transactions', stable => false);
DELETE FROM basket WHERE id > 40;
SELECT status, error, message FROM kanon_refresh('baskets');
SELECT kanon_drop_publication('baskets');

-- ---- what failed ----

-- kanon's own words in full, no matter who is told; the server's where they name what is there
REVOKE SELECT ON stay FROM CURRENT_USER;
CREATE ROLE kanon_night_owner;
GRANT CREATE, USAGE ON SCHEMA night_test TO kanon_night_owner;
GRANT SELECT ON stay TO kanon_night_owner;
SET ROLE kanon_night_owner;
SELECT kanon_create_publication('lent', 'stay', '{birth,zip}', 5);
RESET ROLE;
REVOKE SELECT ON stay FROM kanon_night_owner;
SELECT status, error, message FROM kanon_refresh('lent');
SELECT kanon_drop_publication('lent');
-- a function of the source that has kanon raise an error about a value gets it into no history
CREATE FUNCTION telling(zip int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF zip = 10006 THEN
        PERFORM kanon_refresh('secret ' || zip);
    END IF;
    RETURN zip;
END $$;
CREATE VIEW quiet AS SELECT birth, zip FROM stay WHERE id <= 100;
SELECT kanon_create_publication('quiets', 'quiet', '{birth,zip}', 2);
CREATE OR REPLACE VIEW quiet AS SELECT birth, telling(zip) AS zip FROM stay WHERE id <= 100;
SELECT status, error, message FROM kanon_refresh('quiets');
-- nor one by a catalog's name
CREATE OR REPLACE FUNCTION telling(zip int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF zip = 10006 THEN
        EXECUTE format('SELECT 1 FROM %I', 'secret ' || zip);
    END IF;
    RETURN zip;
END $$;
SELECT status, error, message FROM kanon_refresh('quiets');
-- nor does a code make an error kanon's
CREATE OR REPLACE FUNCTION telling(zip int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'secret %', zip USING ERRCODE = '23514', DETAIL = 'secret', HINT = 'secret';
END $$;
SELECT status, error, message FROM kanon_refresh('quiets');
SELECT count(*), count(detail), count(hint) FROM kanon_releases WHERE publication = 'night_test.quiets' AND status = 'failed';
SELECT count(*) FROM quiets_history h WHERE h::text ~ 'secret|10006';
-- all failures by name
UPDATE stay SET birth = NULL, zip = id;
SELECT kanon_alter_publication('stays', set_options => '{"max_suppressed": 0}', solve => false);
CALL kanon_refresh_all();
SELECT kanon_drop_publication('quiets');

-- ---- who asks ----

GRANT USAGE ON SCHEMA night_test TO kanon_night_reader;
SET ROLE kanon_night_reader;
SELECT publication_name FROM kanon_publication_status('stays');
RESET ROLE;
GRANT SELECT (zip) ON stays TO kanon_night_reader;
SELECT kanon_alter_publication('stays', set_options => '{"allow_identifying": ["diagnosis"]}', solve => false);
SELECT publication_name, status, k, release > 1 AS release, refreshed_at IS NOT NULL AS refreshed, age IS NOT NULL AS age, failures, error, allow_identifying
FROM kanon_publication_status('stays');
SET ROLE kanon_night_reader;
SELECT publication_name, status, k, release, refreshed_at IS NOT NULL AS refreshed, age IS NOT NULL AS age, failures, error, allow_identifying
FROM kanon_publication_status('stays');
SELECT count(*) FROM kanon_publication_status();
SELECT count(*) FROM kanon_releases;
SELECT kanon_alter_publication('stays', set_options => '{"min_rows": 0}');
RESET ROLE;

-- ---- comments ----

COMMENT ON COLUMN away.zip IS 'where they live';
COMMENT ON COLUMN away.diagnosis IS 'ICD-10, o''er the years';
CREATE VIEW commented AS SELECT * FROM away;
COMMENT ON COLUMN commented.birth IS 'of the view itself';
CREATE FUNCTION comments(relation regclass) RETURNS TABLE (name text, comment text) LANGUAGE sql AS $$
    SELECT coalesce(attname, '(itself)'), regexp_replace(description, 'run \d+, .*', 'run ...')
    FROM pg_description LEFT JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid
    WHERE objoid = relation AND classoid = 'pg_class'::regclass ORDER BY objsubid
$$;
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('commented', 'out', '{birth,zip}', 5, keep => '{diagnosis,note}', allow_identifying => '{note}',
    privacy => ARRAY[kanon_distinct_l('diagnosis', 2)]);
SELECT * FROM comments('out');
-- replaced: what somebody wrote stays
COMMENT ON COLUMN out.zip IS 'mine';
COMMENT ON COLUMN out.diagnosis IS NULL;
SELECT count(*) > 0 AS published FROM kanon_cluster('commented', 'out', '{birth,zip}', 7, keep => '{diagnosis}', replace => true);
SELECT * FROM comments('out');
COMMENT ON TABLE out IS 'mine, too';
SELECT count(*) > 0 AS published FROM kanon_cluster('commented', 'out', '{birth,zip}', 8, keep => '{diagnosis}', replace => true);
SELECT * FROM comments('out');
-- a publication's view says what its release does, and follows the source
SELECT kanon_create_publication('told', 'commented', '{birth,zip}', 5, '{"keep": ["diagnosis"]}');
SELECT * FROM comments('told');
SELECT regexp_replace(obj_description('told'::regclass), '.*(run \d+, ).*', '\1') = format('run %s, ', max(run)) AS run FROM kanon_usefulness;
COMMENT ON COLUMN told.birth IS 'for readers';
COMMENT ON COLUMN away.zip IS 'where they lived';
SELECT kanon_alter_publication('told', k => 9);
UPDATE told_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('told');
SELECT * FROM comments('told');
COMMENT ON VIEW told IS 'for readers';
UPDATE told_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('told');
SELECT * FROM comments('told') WHERE name = '(itself)';
SELECT kanon_drop_publication('told');
SELECT count(*) FROM kanon_transactions('basket', 'basket_out', 'items', 5);
SELECT * FROM comments('basket_out');

-- ---- keys ----

-- a type that somebody can alter is no key: persons are known by it for as long as releases are kept
CREATE TYPE pair AS (a int, b int);
CREATE DOMAIN named_pair AS pair;
CREATE TABLE paired AS SELECT i % 3 AS a, (i, i)::pair AS who, (i, i)::pair::named_pair AS named, ARRAY[(i, i)::pair] AS several FROM generate_series(1, 60) i;
SELECT kanon_create_publication('pairs', 'paired', '{a}', 3, key => 'who');
SELECT kanon_create_publication('pairs', 'paired', '{a}', 3, key => 'named');
SELECT kanon_create_publication('pairs', 'paired', '{a}', 3, key => 'several');
SELECT kanon_create_publication('pairs', 'paired', '{a}', 3);
SELECT kanon_alter_publication('pairs', key => 'who');
SELECT kanon_drop_publication('pairs');

-- ---- hierarchies that are renamed ----

CREATE SCHEMA night_else;
CREATE TABLE leveled AS SELECT i % 12 AS zip, 'd' || i % 3 AS ill FROM generate_series(1, 240) i;
CREATE TABLE zip_h AS SELECT z AS value, z / 6 AS level1, 0 AS level2 FROM generate_series(0, 11) z;
CREATE TABLE ill_h AS SELECT 'd' || i AS value, CASE WHEN i < 2 THEN 'x' ELSE 'y' END AS kind, '*' AS top FROM generate_series(0, 2) i;
SELECT kanon_create_publication('renamed', 'leveled', '{zip}', 30, format('{"keep": ["ill"], "hierarchies": {"zip": "zip_h"}, "privacy": [%s]}', kanon_t_closeness('ill', 0.6, 'hierarchical', 'ill_h'))::jsonb, model => 'full_domain', stable => false);
SELECT zip, count(*) FROM renamed GROUP BY 1 ORDER BY 1;
ALTER TABLE zip_h RENAME TO zip_levels;
ALTER TABLE ill_h SET SCHEMA night_else;
ALTER TABLE zip_levels SET SCHEMA night_else;
UPDATE renamed_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('renamed');
-- stored anew by their names
SELECT kanon_alter_publication('renamed', set_options => '{"suppression_limit": 0.1}');
SELECT options -> 'hierarchies' AS hierarchies, options #>> '{privacy,0,hierarchy}' AS of_rule FROM kanon_publications WHERE publication = 'night_test.renamed';
-- a table that takes the place of one, as it is made anew; somebody else's does not
ALTER TABLE night_else.zip_levels RENAME TO zip_before;
CREATE TABLE night_else.zip_levels AS SELECT z AS value, z / 4 AS level1, 0 AS level2 FROM generate_series(0, 11) z;
SELECT status FROM kanon_refresh('renamed');
SELECT zip, count(*) FROM renamed GROUP BY 1 ORDER BY 1;
ALTER TABLE night_else.zip_levels OWNER TO kanon_night_owner;
SELECT status FROM kanon_refresh('renamed');
SELECT zip, count(*) FROM renamed GROUP BY 1 ORDER BY 1;
-- what is gone fails by name
DROP TABLE night_else.zip_levels, night_else.zip_before;
SELECT status FROM kanon_refresh('renamed');
SELECT message FROM kanon_releases WHERE publication = 'night_test.renamed' ORDER BY release DESC LIMIT 1;
SELECT kanon_drop_publication('renamed');
DROP TABLE night_else.ill_h;
DROP SCHEMA night_else;

-- ---- refused before they are read ----

-- (the 60000th row cannot be read at all)
CREATE VIEW endless AS SELECT i AS a, 1 / (60000 - i) AS b FROM generate_series(1, 70000) i;
SELECT * FROM kanon_cluster('endless', NULL, '{a,b}', 3, 'k_k', dry_run => true);
SELECT * FROM kanon_cluster('endless', NULL, '{a,b}', 3, 'mondrian', dry_run => true);
SET kanon.max_memory = '8MB';
SELECT * FROM kanon_freeform('endless', NULL, '{a,b}', 3, dry_run => true);
RESET kanon.max_memory;

-- ---- all time is in a phase: the recorded ones add up to the call, but for the switch of the view ----

CREATE TABLE long AS SELECT i AS id, hashint4(i) % 50 AS a, hashint4(i + 7) % 40 AS b, hashint4(i + 11) % 9 AS c, 'd' || i % 5 AS d FROM generate_series(1, 20000) i;
CREATE FUNCTION in_phases(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz := clock_timestamp();
    before bigint := coalesce((SELECT max(run) FROM kanon_usefulness), 0);
    took float8;
    share float8;
BEGIN
    EXECUTE call;
    took := 1000 * extract(epoch FROM clock_timestamp() - since);
    share := (SELECT sum(read_ms + solve_ms + write_ms + verify_ms) FROM kanon_usefulness WHERE run > before) / took;
    RETURN CASE WHEN share BETWEEN 0.75 AND 1 THEN 'ok' ELSE format('%s of %s ms', share, took) END;
END $$;
SET client_min_messages = warning;
SELECT in_phases($$SELECT kanon_pattern_guided('long', 'long_once', '{a,b,c}', 5, keep => '{d}')$$) AS direct,
       in_phases($$SELECT kanon_create_publication('long_plain', 'long', '{a,b,c}', 5, '{"keep": ["d"]}')$$) AS plain,
       in_phases($$SELECT kanon_create_publication('long_keyed', 'long', '{a,b,c}', 5, '{"keep": ["d"]}', key => 'id')$$) AS keyed,
       in_phases($$SELECT kanon_create_publication('long_protected', 'long', '{a,b,c}', 5, '{"keep": ["d"]}', key => 'id', protect_successive => true)$$) AS protected;
SELECT kanon_create_publication('long_appended', 'long', '{a,b,c}', 5, '{"keep": ["d"]}', append => 'id');
UPDATE long SET a = 3 WHERE id % 1000 = 1;
INSERT INTO long SELECT i, i % 50, i % 40, i % 9, 'd1' FROM generate_series(20001, 30000) i;
SELECT in_phases($$SELECT kanon_refresh('long_plain')$$) AS plain, in_phases($$SELECT kanon_refresh('long_keyed')$$) AS keyed,
       in_phases($$SELECT kanon_refresh('long_protected')$$) AS protected, in_phases($$SELECT kanon_refresh('long_appended')$$) AS appended;
SELECT kanon_drop_publication(publication) FROM kanon_publications WHERE publication LIKE 'night_test.long%';
RESET client_min_messages;

SET client_min_messages = warning;
DROP OWNED BY kanon_night_reader, kanon_night_owner;
DROP SCHEMA night_test CASCADE;
DROP ROLE kanon_night_reader, kanon_night_owner;
