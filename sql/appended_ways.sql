-- publications that append: keys of all kinds, rows that wait, parts, and batches that expire
CREATE SCHEMA appended_test;
SET search_path = appended_test, public;
SET client_min_messages = warning;
CREATE VIEW now_is AS SELECT publication_name, status, waiting_rows, late_rows, corrected_rows, deleted_rows, problem FROM kanon_publication_status();
CREATE VIEW said AS SELECT publication, release, status, row_count, k, error, message, detail, hint FROM kanon_releases;

-- ---- times: a lag keeps back rows that may be followed by others of the same time ----
CREATE TABLE calls (at timestamptz, who int, zip int);
INSERT INTO calls SELECT timestamptz '2024-01-01 00:00+00' + i / 3 * interval '1 hour', i % 40, i % 6 FROM generate_series(0, 299) i;
SELECT kanon_create_publication('by_time', 'calls', '{zip}', 3, append => 'at');
SELECT count(*) FROM by_time;
INSERT INTO calls SELECT now() - interval '1 minute', i % 40, i % 6 FROM generate_series(1, 40) i;
INSERT INTO calls SELECT now() + interval '1 day', i % 40, i % 6 FROM generate_series(1, 40) i;
SELECT kanon_alter_publication('by_time', set_options => '{"lag": "1 hour"}');
SELECT status FROM kanon_refresh('by_time');
SELECT kanon_alter_publication('by_time', drop_options => '{lag}');
SELECT status, row_count FROM kanon_refresh('by_time');
SELECT status FROM kanon_refresh('by_time');
-- equal keys: as many rows as came since are late
INSERT INTO calls SELECT at, 1, 2 FROM calls WHERE at < '2024-01-01 03:00+00' LIMIT 5;
SELECT status FROM kanon_refresh('by_time', recount => true);
SELECT late_rows, corrected_rows, deleted_rows FROM now_is;
INSERT INTO calls SELECT now() - interval '2 s', i % 40, i % 6 FROM generate_series(1, 40) i;
SELECT status, row_count FROM kanon_refresh('by_time', publish_late => true);
SELECT late_rows FROM now_is;
SELECT kanon_drop_publication('by_time');

-- ---- other types ----
CREATE TABLE typed AS SELECT i AS number, i::numeric / 4 AS exact, DATE '2024-01-01' + i / 10 AS day, timestamp '2024-01-01' + i * interval '1 s' AS moment,
    'key ' || md5(i::text) AS word, md5(i::text)::uuid AS random, overlay(overlay((lpad(to_hex(1700000000000 + i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0')) placing '7' from 13) placing '8' from 17)::uuid AS seven,
    i % 5 AS a, i % 3 AS b, i / 4 AS patient FROM generate_series(1, 200) i;
DO $$
DECLARE kind text;
BEGIN
    FOREACH kind IN ARRAY ARRAY['number', 'exact', 'day', 'moment', 'word', 'random', 'seven'] LOOP
        PERFORM kanon_create_publication('by_' || kind, 'typed', '{a,b}', 4, append => kind);
    END LOOP;
END $$;
SELECT publication, append, marks FROM kanon_publications p, LATERAL (SELECT to_regclass(publication || '_marks') IS NOT NULL AS marks) m ORDER BY 1;
INSERT INTO typed SELECT 200 + number, 50 + exact, day + 20, moment + interval '1 h', 'other ' || word, md5(random::text)::uuid, overlay(seven::text placing '019' from 1)::uuid, a, b, patient FROM typed;
SELECT publication, r.status, r.row_count FROM kanon_publications p, kanon_refresh(p.publication) r ORDER BY 1;
SELECT publication, r.status, r.row_count FROM kanon_publications p, kanon_refresh(p.publication, recount => true) r ORDER BY 1;
SELECT * FROM now_is ORDER BY 1;
UPDATE typed SET a = 4 - a WHERE number = 7;
DELETE FROM typed WHERE number = 8;
SELECT r.status, count(*) FROM kanon_publications p, kanon_refresh(p.publication, recount => true) r GROUP BY 1;
SELECT count(*), late_rows, corrected_rows, deleted_rows FROM now_is GROUP BY 2, 3, 4;
SELECT count(kanon_drop_publication(publication)) FROM kanon_publications;
-- numbers that do not grow
SELECT kanon_create_publication('any', 'typed', '{a,b}', 4, '{"any_key": true}', append => 'number', max_batch => 150);
SELECT status, row_count FROM kanon_refresh('any');
INSERT INTO typed SELECT -number, exact, day, moment, word, random, seven, a, b, patient FROM typed WHERE number > 300;
CALL kanon_refresh_all();
SELECT status, row_count FROM said ORDER BY release;
INSERT INTO typed SELECT * FROM typed WHERE number = 1;
SELECT status, error, message FROM kanon_refresh('any', recount => true);
SELECT kanon_drop_publication('any');

-- ---- persons: a batch has as many as rows are asked ----
SELECT kanon_create_publication('persons', 'typed', '{a,b}', 4, append => 'moment', key => 'patient', min_batch => 60);
SELECT kanon_create_publication('persons', 'typed', '{a,b}', 4, append => 'moment', key => 'patient');
SELECT k >= 4 AS k FROM kanon_check('persons', '{a,b}');
SELECT release, options #>> '{privacy,0,rule}' AS counts FROM kanon_usefulness u, kanon_releases r WHERE u.target_oid = r.relation;
SELECT kanon_drop_publication('persons');

-- ---- parts ----
CREATE TABLE many AS SELECT i AS id, i % 10 AS a, i % 7 AS b FROM generate_series(1, 1000) i;
SELECT kanon_create_publication('parts', 'many', '{a,b}', 3, append => 'id', max_batch => 300);
SET client_min_messages = notice;
SELECT status, row_count FROM kanon_refresh('parts');
SET client_min_messages = warning;
CALL kanon_refresh_all();
SELECT release, status, row_count FROM said ORDER BY 2;
SELECT count(*) FROM parts;

-- ---- batches that expire ----
SELECT kanon_alter_publication('parts', set_options => '{"expire": "0 s"}');
SELECT status FROM kanon_refresh('parts');
SELECT release, status, row_count FROM said ORDER BY 2;
SELECT count(*) FROM parts;
SELECT kanon_drop_publication('parts');

-- ---- rows that fit no class wait ----
CREATE TABLE held AS SELECT i AS id, i % 4 AS a, i % 3 AS b FROM generate_series(1, 120) i;
INSERT INTO held VALUES (121, 70, 70), (122, 70, 70), (123, 70, 70), (124, 80, 80);
SELECT kanon_create_publication('holds', 'held', '{a,b}', 5, '{"patterns": ["--"], "residual": "drop"}', append => 'id', hold => '2 nights', min_batch => 20);
SELECT row_count FROM said;
SELECT waiting_rows FROM now_is;
INSERT INTO held SELECT i, i % 4, i % 3 FROM generate_series(201, 260) i;
INSERT INTO held VALUES (300, 70, 70), (301, 70, 70);
-- those of one night and of the next are a class together
SELECT status, row_count FROM kanon_refresh('holds');
SELECT waiting_rows FROM now_is;
SELECT count(*) FROM holds WHERE a = 70;
-- one waits in vain
INSERT INTO held SELECT i, i % 4, i % 3 FROM generate_series(401, 460) i;
SELECT status, row_count FROM kanon_refresh('holds');
SELECT waiting_rows, late_rows FROM now_is;
INSERT INTO held SELECT i, i % 4, i % 3 FROM generate_series(501, 560) i;
SELECT status, row_count FROM kanon_refresh('holds', recount => true);
SELECT waiting_rows, late_rows, corrected_rows, deleted_rows FROM now_is;
SELECT kanon_drop_publication('holds');

-- ---- refusals ----
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'nobody');
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', protect_successive => true, key => 'id');
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', keep_releases => 2);
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', model => 'freeform');
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', hold => 'a while');
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', lag => '-1 h');
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', lag => '1 h');
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', min_batch => 2);
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', min_batch => 20, max_batch => 10);
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, append => 'id', min_batch => 2000);
SELECT kanon_create_publication('no', 'many', '{a,b}', 3, min_batch => 2000);
SELECT kanon_create_publication('no', 'many', '{a}', 3, '{"keep": ["id"]}', append => 'id');
SELECT kanon_create_publication('whole', 'many', '{a,b}', 3);
SELECT kanon_refresh('whole', anew => true);
SELECT kanon_alter_publication('whole', set_options => '{"expire": "1 year"}');
SELECT kanon_drop_publication('whole');
SELECT kanon_create_publication('appends', 'many', '{a,b}', 3, append => 'id');
SELECT kanon_alter_publication('appends', protect_successive => true, key => 'id');
SELECT kanon_alter_publication('appends', quasi_identifiers => '{a}');
INSERT INTO many SELECT 2000 + i, i % 10, i % 7 FROM generate_series(1, 100) i;
SELECT kanon_alter_publication('appends', quasi_identifiers => '{a}');
SELECT kanon_alter_publication('appends', k => 5);
INSERT INTO many VALUES (NULL, 1, 1);
SELECT status, error, message FROM kanon_refresh('appends');
DELETE FROM many WHERE id IS NULL;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT status, error, message FROM kanon_refresh('appends');
ROLLBACK;
SELECT status, row_count FROM kanon_refresh('appends');
SELECT k FROM said WHERE status = 'current';
DROP TABLE appends_shown;
INSERT INTO many SELECT 3000 + i, i % 10, i % 7 FROM generate_series(1, 100) i;
SELECT status, error, message FROM kanon_refresh('appends');
SELECT kanon_drop_publication('appends');
SELECT relname FROM pg_class WHERE relnamespace = 'appended_test'::regnamespace AND relname ~ '^(no|appends|holds|parts|by|any|persons)' ORDER BY 1;
DROP SCHEMA appended_test CASCADE;
