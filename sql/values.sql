-- protect_successive => 'values': a person stays among the same l values in every release
CREATE SCHEMA values_test;
SET search_path = values_test, public;
SET client_min_messages = warning;

CREATE TABLE patients (id int PRIMARY KEY, age int, zip int, ill text, note text);
INSERT INTO patients SELECT i, 20 + i * 7 % 60, 10000 + i * 37 % 900, (ARRAY['flu', 'asthma', 'cold', 'ulcer', 'gout'])[1 + i % 5], 'n' || i % 3 FROM generate_series(1, 200) i;
CREATE FUNCTION protect(name text, with_l int DEFAULT 3, more jsonb DEFAULT '{}', k bigint DEFAULT 2, model text DEFAULT 'cluster', what text DEFAULT 'values', key name DEFAULT 'id', source regclass DEFAULT 'patients') RETURNS void LANGUAGE sql AS
$$ SELECT kanon_create_publication(name, source, '{age,zip}', k, model => model, key => key, protect_successive => what,
       options => jsonb_build_object('keep', ARRAY['ill'], 'allow_identifying', ARRAY['ill'], 'privacy', ARRAY[kanon_distinct_l('ill', with_l)]) || more) $$;
-- what a class shows: its values in equal numbers, l of them at least, and k rows
CREATE FUNCTION classes_of(name text, with_l int, k int, OUT classes bigint, OUT unequal bigint, OUT few_values bigint, OUT few_rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), count(*) FILTER (WHERE least <> most), count(*) FILTER (WHERE n < %s), count(*) FILTER (WHERE n_rows < %s)
        FROM (SELECT min(n) AS least, max(n) AS most, count(*) AS n, sum(n) AS n_rows FROM (SELECT age, zip, ill, count(*) AS n FROM %s GROUP BY 1, 2, 3) x GROUP BY age, zip) y', with_l, k, name)
    INTO classes, unequal, few_values, few_rows;
END $$;
CREATE VIEW said AS SELECT publication_name, status, release, held_persons, held_oldest, problem FROM kanon_publication_status();

-- ---- nights: who is shown stays among the same values; what is kept of it is private ----
SET client_min_messages = notice;
SELECT protect('ward');
SET client_min_messages = warning;
SELECT count(*) AS published FROM ward;
SELECT unequal, few_values, few_rows FROM classes_of('ward', 3, 2);
SELECT protect_successive, stable FROM kanon_publications;
CREATE TABLE seen AS SELECT 1 AS night, p.key AS id, p.class, s.ill, v.kanon__signature AS signature FROM ward_persons_1 p JOIN patients s ON s.id = p.key JOIN ward_values_1 v ON v.id = p.key AND v.kanon__is_person;
CREATE PROCEDURE night(n int) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM patients WHERE id % 23 = n;
    INSERT INTO patients SELECT 1000 * n + i, 20 + i * 7 % 60, 10000 + i * 37 % 900, (ARRAY['flu', 'asthma', 'cold', 'ulcer', 'gout'])[1 + (i * i + n) % 5], 'n' FROM generate_series(1, 8) i;
    UPDATE patients SET age = age + 1 WHERE id % 17 = n;
    UPDATE patients SET ill = (ARRAY['flu', 'asthma', 'cold', 'ulcer', 'gout'])[1 + (id + n) % 5] WHERE id % 37 = n;
    PERFORM kanon_refresh('ward');
    EXECUTE format('INSERT INTO seen SELECT %s, p.key, p.class, s.ill, v.kanon__signature FROM ward_persons_%s p JOIN patients s ON s.id = p.key JOIN ward_values_%s v ON v.id = p.key AND v.kanon__is_person', n + 1, n + 1, n + 1);
END $$;
CALL night(1);
CALL night(2);
CALL night(3);
CALL night(4);
SELECT release, status, error FROM kanon_releases ORDER BY release;
SELECT unequal, few_values, few_rows FROM classes_of('ward', 3, 2);
SELECT count(*) = (SELECT count(*) FROM patients) - (SELECT held_persons FROM said) AS others_are_shown, (SELECT count(*) FROM patients) > count(*) AS some_wait FROM ward;
-- in no two nights another signature, unless the value has changed; and then they have no value in common
WITH signatures AS (SELECT kanon__signature AS signature, array_agg(ill ORDER BY ill) AS ills FROM ward_values_5 WHERE NOT kanon__is_person GROUP BY 1)
SELECT count(*) FILTER (WHERE a.ill = b.ill AND a.signature <> b.signature) AS moved, count(*) FILTER (WHERE a.signature <> b.signature AND x.ills && y.ills) AS overlapping,
    count(*) FILTER (WHERE a.signature = b.signature) > 500 AS many_stay
FROM seen a JOIN seen b ON b.id = a.id AND b.night > a.night JOIN signatures x ON x.signature = a.signature JOIN signatures y ON y.signature = b.signature;
-- the private table says of nobody which of the values it is
SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE relname = 'ward_values_5';
SELECT count(DISTINCT ill) AS told FROM ward_values_5 v WHERE v.kanon__is_person AND v.kanon__signature = 1;
SELECT to_regclass('ward_values_4') AS dropped_with_the_next;
-- on the page
SELECT max(run) AS run FROM kanon_usefulness \gset
CREATE TABLE page AS SELECT s ->> 'says' AS says, s -> 'claim' AS claim FROM kanon_report_data(:run) d, jsonb_array_elements(d -> 'statements') s;
SELECT says, claim FROM page WHERE says ~ 'Over all releases';
SELECT regexp_replace(says, '[0-9]+', 'n', 'g') AS waiting, claim -> 'held_back' ->> 'persons' = (SELECT held_persons::text FROM said) AS as_many FROM page WHERE says ~ 'to be shown';
SELECT count(*) FROM page WHERE says ~ 'history|held back';

-- ---- a place is taken by a joiner with the same value; until then the others wait ----
CREATE TABLE few (id int, age int, zip int, ill text);
INSERT INTO few VALUES (1, 20, 1, 'flu'), (2, 21, 1, 'cold'), (3, 22, 1, 'gout'), (4, 60, 9, 'flu'), (5, 61, 9, 'cold'), (6, 62, 9, 'gout');
SELECT protect('small', source => 'few');
DELETE FROM few WHERE id = 3;
SELECT status, row_count, held_persons FROM kanon_refresh('small');
SELECT status, row_count, held_persons FROM kanon_refresh('small');
SELECT held_persons, held_oldest FROM said WHERE publication_name ~ 'small';
-- (they take turns) one with another value takes no place; nor does a person whose value has changed, among others that were excluded
INSERT INTO few VALUES (7, 23, 1, 'flu');
UPDATE few SET ill = 'ulcer' WHERE id = 4;
SELECT status, row_count, held_persons FROM kanon_refresh('small');
UPDATE few SET ill = 'flu' WHERE id = 4;
INSERT INTO few VALUES (8, 24, 1, 'gout');
SELECT status, row_count, held_persons FROM kanon_refresh('small');
-- who comes back is among the values of before
INSERT INTO few VALUES (3, 22, 1, 'gout'), (9, 25, 1, 'cold');
SELECT status, row_count, held_persons FROM kanon_refresh('small');
SELECT id, kanon__signature FROM small_values_6 WHERE kanon__is_person ORDER BY id;
SELECT kanon_drop_publication('small');
SELECT count(*) FROM pg_class WHERE relname ~ '^small';

-- ---- k holds, too; NULL is a value; nobody at all ----
UPDATE patients SET ill = NULL WHERE ill = 'gout';
SELECT protect('wide', 2, k => 7);
SELECT unequal, few_values, few_rows FROM classes_of('wide', 2, 7);
SELECT count(*) > 0 AS nulls FROM wide WHERE ill IS NULL;
SELECT kanon_alter_publication('wide', k => 9);
SELECT status, k >= 9 AS k FROM kanon_refresh('wide');
SELECT kanon_drop_publication('wide');
UPDATE patients SET ill = 'gout' WHERE ill IS NULL;
SELECT protect('nobody', more => '{"min_rows": 0}', source => 'few');
CREATE TABLE aside AS TABLE few;
DELETE FROM few;
SELECT status, row_count FROM kanon_refresh('nobody');
SELECT count(*), count(DISTINCT kanon__signature) FROM nobody_values_2 WHERE kanon__is_person;
INSERT INTO few TABLE aside;
SELECT status, row_count FROM kanon_refresh('nobody');
SELECT count(*), count(DISTINCT kanon__signature) FROM nobody_values_3 WHERE kanon__is_person;
SELECT kanon_drop_publication('nobody');

-- ---- other ways, and back ----
SELECT kanon_alter_publication('ward', protect_successive => true);
SELECT kanon_alter_publication('ward', set_options => jsonb_build_object('privacy', ARRAY[kanon_distinct_l('ill', 4)]));
SELECT kanon_alter_publication('ward', set_options => jsonb_build_object('keep', ARRAY['note'], 'allow_identifying', ARRAY['note'], 'privacy', ARRAY[kanon_distinct_l('note', 3)]));
SELECT kanon_alter_publication('ward', set_options => jsonb_build_object('privacy', ARRAY[kanon_distinct_l('ill', 2)]));
SELECT status FROM kanon_refresh('ward');
ALTER TABLE ward_values_6 RENAME TO elsewhere;
INSERT INTO patients SELECT 9000 + i, 30, 10000, (ARRAY['flu', 'asthma'])[i] FROM generate_series(1, 2) i;
SELECT status FROM kanon_refresh('ward');
SELECT to_regclass('elsewhere') IS NULL AS found_and_dropped;
DROP TABLE ward_values_7;
SELECT status, error, message FROM kanon_refresh('ward');
SELECT problem, remedy FROM kanon_publication_status('ward');
SET client_min_messages = notice;
SELECT kanon_alter_publication('ward', protect_successive => false);
SELECT status FROM kanon_refresh('ward');
SELECT kanon_alter_publication('ward', protect_successive => 'values');
SET client_min_messages = warning;
SELECT status FROM kanon_refresh('ward');
SELECT unequal, few_values, few_rows FROM classes_of('ward', 2, 2);
SELECT problem FROM kanon_publication_status('ward');

-- ---- what is refused ----
SELECT protect('no', what => 'persons');
SELECT protect('no', what => NULL);
SELECT protect('no', key => NULL);
SELECT kanon_create_publication('no', 'patients', '{age,zip}', 2, model => 'cluster', key => 'id', protect_successive => 'values', options => '{"keep": ["ill"]}');
SELECT protect('no', model => 'pattern_guided');
SELECT protect('no', more => '{"method": "forest"}');
SELECT protect('no', more => jsonb_build_object('privacy', ARRAY[kanon_distinct_l('ill', 3), kanon_alpha('ill', 0.5)]));
SELECT protect('no', more => jsonb_build_object('privacy', ARRAY[kanon_entropy_l('ill', 3)]));
SELECT protect('no', more => '{"keep": ["ill", "note"]}');
SELECT protect('no', more => '{"mask": {"ill": {"constant": "x"}}}');
SELECT protect('no', more => '{"residual": "suppress"}');
SELECT protect('no', more => '{"residual": "drop", "max_held": 3}');
SELECT kanon_create_publication('no', 'patients', '{age,zip}', 2, model => 'cluster', key => 'id', protect_successive => 'values', append => 'id', options => '{"keep": ["ill"], "privacy": [{"rule": "distinct_l", "column": "ill", "l": 3}]}');
SELECT protect('no', key => 'note');
SELECT protect('no', key => 'note', more => '{"count_rows": true}');
SELECT protect('no', with_l => 6);
CREATE TABLE wards (id int PRIMARY KEY, age int);
CREATE TABLE stays (id int PRIMARY KEY, ward int REFERENCES wards, day date);
INSERT INTO wards SELECT i, i % 4 FROM generate_series(1, 20) i;
SELECT kanon_create_linked_publication('no', 'wards', '{"wards": {"quasi_identifiers": ["age"]}, "stays": {"quasi_identifiers": ["day"]}}', 2, protect_successive => 'values');
CREATE TABLE many AS SELECT i AS id, i AS age, i AS zip, 'ill ' || i AS ill FROM generate_series(1, 1001) i;
SELECT protect('no', source => 'many');
SELECT kanon_drop_publication('ward');
DROP SCHEMA values_test CASCADE;
