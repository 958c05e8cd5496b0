-- what releases of a publication tell together: who joined, left, moved or changed between two of them, by class
CREATE SCHEMA histories_test;
SET search_path = histories_test, public;
SET kanon.progress = off;
CREATE TABLE stays AS SELECT i AS id, 1950 + i % 4 * 10 AS born, 48100 + i % 3 AS zip, (ARRAY['flu', 'cold', 'hiv', 'ache', 'burn'])[1 + (i * 7 + i / 12) % 5] AS ill
FROM generate_series(1, 120) i;
SELECT kanon_create_publication('told', 'stays', '{born,zip}', 5, '{"keep": ["ill"]}', key => 'id', stable => true, keep_releases => 20);
-- one leaves; six of a class leave; one joins; six of a class join; one changes; one moves; a class moves
CREATE FUNCTION night(change text) RETURNS TABLE (joined text, departed text, moved text, changed text, smallest bigint, by_reader bigint) LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    EXECUTE change;
    UPDATE told_history SET digest = NULL;
    SELECT release INTO last FROM kanon_refresh('told');
    RETURN QUERY EXECUTE format($f$ SELECT format('%%s/%%s', c.joined_below_k, c.joined), format('%%s/%%s', c.departed_below_k, c.departed), format('%%s/%%s', c.moved_below_k, c.moved),
        format('%%s/%%s', c.changed_below_k, c.changed), c.smallest_difference,
        (SELECT min(n) FROM (SELECT count(*) AS n FROM (TABLE told_release_%1$s EXCEPT ALL TABLE told_release_%2$s) x GROUP BY born, zip
                   UNION ALL SELECT count(*) FROM (TABLE told_release_%2$s EXCEPT ALL TABLE told_release_%1$s) x GROUP BY born, zip) d)
        FROM kanon_compare_releases('told', %2$s, %1$s) c $f$, last, last - 1);
END $$;
SELECT * FROM night('');
SELECT * FROM night('DELETE FROM stays WHERE id = 13');
SELECT * FROM night('DELETE FROM stays WHERE id IN (24, 36, 48, 60, 72, 84)');
SELECT * FROM night($$INSERT INTO stays VALUES (999, 1950, 48100, 'rare')$$);
SELECT * FROM night($$INSERT INTO stays SELECT 1000 + i, 1960, 48102, 'rare' FROM generate_series(1, 6) i$$);
SELECT * FROM night($$UPDATE stays SET ill = 'rare' WHERE id = 96$$);
SELECT * FROM night('UPDATE stays SET zip = 48101 WHERE id = 12');
SELECT * FROM night('UPDATE stays SET zip = 48101 WHERE born = 1960 AND zip = 48102');
SELECT release, smallest_difference FROM kanon_releases ORDER BY release;
SELECT smallest_difference FROM kanon_publication_status('told');
SELECT kanon_drop_publication('told');
-- persons in several classes count once; of classes that are merged nobody has moved
CREATE TABLE visits AS SELECT i % 30 AS id, i % 3 AS ward, i / 30 % 2 AS floor FROM generate_series(0, 179) i;
SELECT kanon_create_publication('told', 'visits', '{ward,floor}', 5, key => 'id', stable => true, keep_releases => 20);
INSERT INTO visits SELECT 7, 2, 0;
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
SELECT joined, departed, moved, moved_below_k, changed FROM kanon_compare_releases('told', 1, 2);
SELECT kanon_alter_publication('told', set_options => '{"patterns": ["-*"]}');
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
SELECT joined, departed, moved, moved_below_k, changed FROM kanon_compare_releases('told', 2, 3);
SELECT kanon_drop_publication('told');
-- without a key rows are counted, of a release before that is gone as well
SELECT kanon_create_publication('told', 'stays', '{born,zip}', 5, '{"keep": ["ill"], "seed": 1}', stable => true);
UPDATE told_history SET digest = NULL;
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
DELETE FROM stays WHERE id IN (25, 37);
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
DELETE FROM stays WHERE id IN (38, 50, 62);
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
SELECT smallest_difference FROM kanon_publication_status('told');
SELECT kanon_drop_publication('told');

-- ---- protect_successive: whoever would be alone is held back ----

TRUNCATE stays;
INSERT INTO stays SELECT i, 1950 + i % 4 * 10, 48100 + i % 3, (ARRAY['flu', 'cold', 'hiv', 'ache', 'burn'])[1 + (i * 7 + i / 12) % 5] FROM generate_series(1, 120) i;
SELECT kanon_create_publication('told', 'stays', '{born,zip}', 5, '{"keep": ["ill"]}', key => 'id', protect_successive => true, keep_releases => 20);
CREATE FUNCTION held(change text) RETURNS TABLE (row_count bigint, held bigint, oldest bigint, by_reader bigint) LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    EXECUTE change;
    SELECT release INTO last FROM kanon_refresh('told');
    RETURN QUERY EXECUTE format($f$ SELECT r.row_count, r.held_persons, r.held_oldest, (SELECT count(*) FROM
        ((TABLE told_release_%1$s EXCEPT ALL TABLE told_release_%2$s) UNION ALL (TABLE told_release_%2$s EXCEPT ALL TABLE told_release_%1$s)) AS x)
        FROM kanon_releases r WHERE r.release = %1$s AND r.publication = 'histories_test.told' $f$, last, last - 1);
END $$;
SELECT * FROM held('DELETE FROM stays WHERE id = 13');
SELECT * FROM held($$INSERT INTO stays VALUES (999, 1950, 48100, 'rare')$$);
SELECT * FROM held($$UPDATE stays SET ill = 'hiv' WHERE id = 24$$);
SELECT * FROM held('UPDATE stays SET zip = 48101 WHERE id = 12');
-- until k can be shown together
SELECT * FROM held('DELETE FROM stays WHERE id IN (25, 37, 49)');
SELECT * FROM held('DELETE FROM stays WHERE id = 61');
SELECT * FROM held($$INSERT INTO stays SELECT 2000 + i, 1950, 48100, 'new' FROM generate_series(1, 4) i$$);
SELECT * FROM held($$UPDATE stays SET ill = 'hot' WHERE id IN (36, 48, 60, 72)$$);
-- who comes back as she was, while she is held back: nothing to hold any more
SELECT * FROM held('UPDATE stays SET zip = 48100 WHERE id = 12');
SELECT joined_below_k + departed_below_k + moved_below_k + changed_below_k AS below, smallest_difference FROM kanon_compare_releases('told', 1, 10);
SELECT smallest_difference, held_persons, held_oldest FROM kanon_publication_status('told');
-- no other table than the last has rows: and none of a person who is gone, but what nobody else has
SELECT relname FROM pg_class WHERE relname LIKE 'told\_rows%' AND relnamespace = 'histories_test'::regnamespace ORDER BY 1;
SELECT count(*), count(born), count(ill), count(DISTINCT kanon__history) FROM told_rows_10 WHERE kanon__gone;
-- the columns stay, or histories begin anew
SELECT kanon_alter_publication('told', set_options => '{"keep": []}');
SELECT kanon_alter_publication('told', protect_successive => false);
SELECT kanon_alter_publication('told', set_options => '{"keep": []}');
SELECT kanon_alter_publication('told', protect_successive => true);
SELECT kanon_drop_publication('told');
SELECT count(*) FROM pg_class WHERE relname LIKE 'told%' AND relnamespace = 'histories_test'::regnamespace;
-- bounded: what has been held back for two releases is not shown any longer, and others of the same history go along
SELECT kanon_create_publication('told', 'stays', '{born,zip}', 5, '{"keep": ["ill"], "max_held": 2}', key => 'id', protect_successive => true, keep_releases => 20);
SELECT * FROM held('DELETE FROM stays WHERE id = 14');
SELECT * FROM held($$UPDATE stays SET ill = 'other' WHERE id = 100$$);
SELECT * FROM held($$INSERT INTO stays VALUES (3000, 1960, 48101, 'any')$$);
SELECT * FROM held($$INSERT INTO stays VALUES (3001, 1960, 48102, 'any')$$);
SELECT kanon_drop_publication('told');
-- a mover whom a rule about persons used to stop for good
CREATE TABLE calls AS SELECT i % 300 AS pid, i % 4 AS dx, 20 + (i % 300) % 10 AS age, 'c' || (i % 300) / 10 % 4 AS city FROM generate_series(0, 1199) i;
SELECT kanon_create_publication('told', 'calls', '{age,city}', 3, jsonb_build_object('keep', ARRAY['dx'], 'privacy', ARRAY[kanon_subject('pid')]), key => 'pid', protect_successive => true, keep_releases => 20);
SELECT * FROM held($$UPDATE calls SET city = 'c3' WHERE pid = 1$$);
SELECT * FROM held('');
SELECT * FROM held($$UPDATE calls SET city = 'c3' WHERE pid % 40 = 1 AND pid < 200$$);
SELECT kanon_drop_publication('told');
-- three leave who are all ill alike: with a rule they stay until somebody else goes with them, and so does what changes
UPDATE stays SET ill = (ARRAY['flu', 'cold', 'hiv'])[1 + id / 12 % 3];
DELETE FROM stays WHERE id > 120;
-- (the method fits not all of what is left of a class: everybody is held back, and there is a release all the same)
SELECT kanon_create_publication('told', 'stays', '{born,zip}', 3, jsonb_build_object('keep', ARRAY['ill'], 'privacy', ARRAY[kanon_distinct_l('ill', 2)]), key => 'id', protect_successive => true, keep_releases => 20);
SELECT * FROM held($$DELETE FROM stays WHERE born = 1960 AND zip = 48101 AND ill = 'flu'$$);
SELECT * FROM held($$DELETE FROM stays WHERE id = (SELECT max(id) FROM stays WHERE born = 1960 AND zip = 48101 AND ill = 'cold')$$);
SELECT kanon_drop_publication('told');
SELECT kanon_create_publication('told', 'stays', '{born,zip}', 3, jsonb_build_object('residual', 'drop', 'keep', ARRAY['ill'], 'privacy', ARRAY[kanon_distinct_l('ill', 2)]), key => 'id', protect_successive => true, keep_releases => 20);
SELECT * FROM held($$UPDATE stays SET ill = 'one' WHERE born = 1970 AND zip = 48100 AND id < 40$$);
SELECT * FROM held($$UPDATE stays SET ill = 'two' WHERE born = 1970 AND zip = 48100 AND id BETWEEN 40 AND 60$$);
SELECT kanon_drop_publication('told');

-- by pseudonyms that last readers know rows again: one row of a person changes, while one leaves and one comes, as of another person
CREATE TABLE coming AS SELECT 10 * p + v AS visit, p AS who, 1 AS a, 'ill' || p % 2 AS ill FROM generate_series(1, 6) p, generate_series(1, 2) v;
SELECT kanon_create_publication('linked', 'coming', '{a}', 2, '{"keep": ["visit", "ill"], "mask": {"visit": {"pseudonym": "publication"}}}', key => 'who', protect_successive => true, keep_releases => 5);
DELETE FROM coming WHERE visit IN (12, 21, 22);
UPDATE coming SET ill = 'other' WHERE visit = 11;
INSERT INTO coming VALUES (13, 1, 1, 'ill1'), (23, 2, 1, 'ill0');
SELECT status, held_persons FROM kanon_refresh('linked');
SELECT count(*) FROM linked_release_1 x JOIN linked_release_2 y USING (visit) WHERE x.ill <> y.ill;
SELECT kanon_drop_publication('linked');

-- no release can be made without those who wait: readers keep the one they have, it ages, and it is no failure
CREATE TABLE few AS SELECT i AS id, 1 AS a FROM generate_series(1, 4) i;
SELECT kanon_create_publication('fewer', 'few', '{a}', 3, '{"max_held": 1}', key => 'id', protect_successive => true);
DELETE FROM few WHERE id = 1;
SELECT status, held_persons FROM kanon_refresh('fewer');
INSERT INTO few VALUES (5, 2), (6, 2);
SELECT release, status, row_count, error, message FROM kanon_refresh('fewer');
CALL kanon_refresh_all();
SELECT release, status, row_count, held_persons, held_oldest, error, message, detail FROM kanon_releases WHERE publication LIKE '%.fewer' ORDER BY release;
SELECT status, release, failures, error, held_persons, held_oldest FROM kanon_publication_status('fewer');
INSERT INTO few VALUES (7, 2);
SELECT release, status, row_count FROM kanon_refresh('fewer');
SELECT status, failures FROM kanon_publication_status('fewer');
-- a k that the source could not keep is one
SELECT kanon_alter_publication('fewer', k => 100, solve => false);
SELECT release, status, message FROM kanon_refresh('fewer');
SELECT kanon_drop_publication('fewer');

-- of private tables nothing is counted: queries about them sort, and are not cut into thousands of files
CREATE TABLE many AS SELECT i AS id, i % 50 AS a, i / 7 % 20 AS b, hashint4(i) & 31 AS c FROM generate_series(1, 10000) i;
SELECT kanon_create_publication('manies', 'many', '{a,b,c}', 5, key => 'id', keep_releases => 2);
UPDATE many SET a = 2 WHERE id % 300 = 1;
SET temp_file_limit = '4MB';
SELECT status FROM kanon_refresh('manies');
SELECT persons > 9000 AS persons FROM kanon_compare_releases('manies', 1, 2);
RESET temp_file_limit;
SELECT kanon_drop_publication('manies');

-- ---- by brute force ----

/*
 * Nights of inserts, updates and deletes.  A reader has all releases, and a tag tells which row is whose: so what is
 * published of each over all nights, and when it changed, is known.  Counted: histories of fewer than k persons (below), or
 * with fewer than l values in one night (broken); and what was shown, since who shows nothing hides everybody.
 */
CREATE TABLE seen (night int, tag text, class text, ill text);
CREATE FUNCTION judge(seed float8, nights int, k bigint, model text, options jsonb, many boolean DEFAULT false, l int DEFAULT 0,
    OUT below bigint, OUT broken bigint, OUT shown boolean, OUT waited boolean, OUT failed text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    r record;
    n int;
    told bigint := 0;
    held bigint := 0;
BEGIN
    PERFORM setseed(seed);
    below := 0;
    broken := 0;
    DROP TABLE IF EXISTS people CASCADE;
    TRUNCATE seen;
    CREATE TABLE people (id int, tag text, a int, b int, ill text);
    INSERT INTO people SELECT i, 't' || i || '.' || v, (random() * 2.5)::int, (random() * 2.2)::int, 'i' || (random() * 4)::int
    FROM generate_series(1, 40 + (random() * 40)::int) i, generate_series(1, CASE WHEN many THEN 1 + (random() * 1.4)::int ELSE 1 END) v;
    PERFORM kanon_create_publication('judged', 'people', '{a,b}', k, options || jsonb_build_object('keep', ARRAY['tag', 'ill'], 'allow_identifying', ARRAY['tag'], 'min_rows', 0)
        || CASE WHEN l > 0 THEN jsonb_build_object('privacy', CASE WHEN many THEN ARRAY[kanon_distinct_l('ill', l), kanon_subject('id')] ELSE ARRAY[kanon_distinct_l('ill', l)] END) ELSE '{}' END,
        model, key => 'id', protect_successive => true);
    INSERT INTO seen SELECT 1, p.tag, concat_ws('|', coalesce(p.a::text, '*'), coalesce(p.b::text, '*')), p.ill FROM judged p;
    FOR night_ IN 2..nights LOOP
        n := 1 + (random() * 8)::int;
        DELETE FROM people WHERE id IN (SELECT id FROM people ORDER BY CASE WHEN n % 2 = 0 THEN a END, random() LIMIT n);
        INSERT INTO people SELECT i, 't' || i || '.1', (random() * 2.5)::int, (random() * 2.2)::int, 'i' || (random() * 4)::int FROM generate_series(1, 100) i
        WHERE random() < 0.02 * n AND i NOT IN (SELECT id FROM people);
        INSERT INTO people SELECT 1000 * night_ + i, 't' || 1000 * night_ + i || '.1', 1, (random() * 0.6)::int, 'i' || (random() * 4)::int FROM generate_series(1, n) i;
        UPDATE people SET a = (a + 1) % 3 WHERE id IN (SELECT id FROM people ORDER BY CASE WHEN n % 3 = 0 THEN b END, random() LIMIT n);
        UPDATE people SET ill = 'i' || (random() * 4)::int WHERE id IN (SELECT id FROM people ORDER BY CASE WHEN n % 3 > 0 THEN a END, random() LIMIT n);
        IF many THEN
            INSERT INTO people SELECT id, 't' || id || '.' || night_ * 10, a, b, ill FROM people WHERE tag LIKE '%.1' AND random() < 0.05 * n;
        END IF;
        SELECT * INTO r FROM kanon_refresh('judged');
        IF r.status = 'failed' THEN
            failed := concat_ws(' ', failed, night_, r.error, r.message);
            CONTINUE;
        END IF;
        held := held + r.held_persons;
        INSERT INTO seen SELECT night_, p.tag, concat_ws('|', coalesce(p.a::text, '*'), coalesce(p.b::text, '*')), p.ill FROM judged p;
        CREATE TEMP TABLE told AS
        SELECT f.tag, split_part(substr(f.tag, 2), '.', 1) AS person, string_agg(f.state, ',' ORDER BY f.night) AS history FROM (
            SELECT x.tag, x.night, coalesce(x.class, '-') || CASE WHEN x.ill <> (SELECT y.ill FROM seen y WHERE y.tag = x.tag AND y.night < x.night ORDER BY y.night DESC LIMIT 1) THEN '!' ELSE '' END AS state
            FROM (SELECT t.tag, g AS night, s.class, s.ill FROM (SELECT DISTINCT tag FROM seen) t CROSS JOIN generate_series(1, night_) g LEFT JOIN seen s ON s.night = g AND s.tag = t.tag) x) f GROUP BY f.tag;
        below := below + (SELECT count(*) FROM (SELECT FROM told GROUP BY history HAVING count(DISTINCT person) < k) h);
        broken := broken + (SELECT count(*) FROM (SELECT FROM told JOIN seen USING (tag) GROUP BY history, night HAVING count(DISTINCT ill) < l) h);
        DROP TABLE told;
    END LOOP;
    told := (SELECT count(*) FROM (SELECT night, tag FROM seen s WHERE night > 1 AND (SELECT concat(p.class, p.ill) FROM seen p WHERE p.tag = s.tag AND p.night = s.night - 1) IS DISTINCT FROM concat(class, ill)) c);
    shown := told > 10;
    waited := held > 0;
    PERFORM kanon_drop_publication('judged');
END $$;
CREATE TABLE levels AS SELECT i AS v, i / 2 AS half, 0 AS top FROM generate_series(0, 3) i;
\set h '{"hierarchies": {"a": "histories_test.levels", "b": "histories_test.levels"}}'
SET client_min_messages = warning;
SELECT * FROM judge(0.1, 10, 3, 'pattern_guided', '{"residual": "suppress"}');
-- filled up by whole classes, which move seldom
SELECT * FROM judge(0.1, 10, 3, 'pattern_guided', '{}');
SELECT * FROM judge(0.32, 6, 3, 'pattern_guided', '{"residual": "drop", "method": "improve"}', l => 2);
SELECT * FROM judge(0.5, 6, 3, 'pattern_guided', '{"mark": true}', many => true);
SELECT * FROM judge(0.6, 5, 3, 'pattern_guided', '{"residual": "drop"}', many => true, l => 2);
SELECT * FROM judge(0.16, 6, 3, 'cluster', '{}', l => 2);
SELECT * FROM judge(0.17, 6, 3, 'full_domain', :'h'::jsonb || '{"suppression_limit": 0.1}');
SELECT * FROM judge(0.19, 6, 2, 'subtree', :'h');
-- of a person's rows that change at once a column that readers know them by tells which is which
SELECT * FROM judge(0.011, 6, 2, 'subtree', :'h', many => true, l => 2);
SELECT * FROM judge(0.22, 6, 3, 'pattern_clustering', '{"method": "greedy", "patterns": ["-*", "*-", "-*", "**", "*-"]}');
SELECT * FROM judge(0.63, 8, 3, 'pattern_guided', '{"max_held": 2}', many => true);
SELECT * FROM judge(0.64, 7, 3, 'pattern_guided', '{"max_held": 2, "residual": "drop"}', l => 2);

-- those who are held back may have left the population, too: the night is held; a source that is not in it fails
CREATE TABLE members AS SELECT i AS id, i % 4 AS a, i / 4 % 3 AS b, 'ill' || i % 5 AS ill FROM generate_series(1, 60) i;
CREATE TABLE town AS SELECT a, b FROM members;
SELECT kanon_create_publication('within', 'members', '{a,b}', 3, jsonb_build_object('keep', '["ill"]'::jsonb, 'privacy', jsonb_build_array(kanon_delta_presence('town', 0, 1))),
    model => 'full_domain', key => 'id', protect_successive => true);
DELETE FROM town WHERE (a, b) = (1, 0);
DELETE FROM members WHERE (a, b) = (1, 0) AND id > 1;
INSERT INTO town VALUES (1, 0);
SELECT release, status FROM kanon_refresh('within');
SELECT detail FROM kanon_releases WHERE publication = 'histories_test.within' AND release = 2;
INSERT INTO members SELECT 100 + i, 1, 0, 'ill' || i FROM generate_series(1, 4) i;
SET client_min_messages = error;
SELECT release, status, message FROM kanon_refresh('within');
SET client_min_messages = warning;
INSERT INTO town SELECT 1, 0 FROM generate_series(1, 8);
SELECT release, status FROM kanon_refresh('within');
-- two columns that tell rows apart, and say otherwise which row became which: all rows of a person change together, or none does
SET client_min_messages = error;
CREATE TABLE swaps AS SELECT * FROM (VALUES (1, 1, 'c', 'v4'), (1, 2, 'c', 'v0'), (4, 8, 'c', 'v2'), (4, 10, 'c', 'v2')) AS v (who, nr, a, tag);
SELECT kanon_create_publication('twice', 'swaps', '{a}', 2, '{"keep": ["tag", "nr"], "allow_identifying": ["nr", "tag"]}', protect_successive => true, key => 'who');
UPDATE swaps SET tag = 'v3' WHERE nr = 1;
UPDATE swaps SET tag = 'v4' WHERE nr IN (2, 8);
SELECT status, held_persons FROM kanon_refresh('twice');
SELECT nr, tag FROM twice ORDER BY nr;
SELECT kanon_drop_publication('twice');
-- persons whom readers know with several rows: who joins with a row, and who gets one more, is not told before another does the same
CREATE TABLE known AS SELECT i AS who, i AS again, 'c' AS a, 'v' || i % 2 AS v FROM generate_series(1, 6) i;
INSERT INTO known VALUES (6, 6, 'c', 'v0');
SELECT kanon_create_publication('persons', 'known', '{a}', 2, '{"keep": ["v", "again"], "mask": {"again": {"pseudonym": "publication"}}}', protect_successive => true, key => 'who', keep_releases => 9);
CREATE FUNCTION person_nights(change text) RETURNS TABLE (status text, row_count bigint, held bigint, smallest bigint, alone bigint) LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    EXECUTE change;
    SELECT r.status, r.row_count, r.held_persons, r.release INTO status, row_count, held, last FROM kanon_refresh('persons') r;
    SELECT smallest_difference INTO smallest FROM kanon_releases WHERE publication = 'histories_test.persons' AND release = last;
    -- persons who came, went or have other rows than before: those of whom only one did the same
    EXECUTE format($f$ SELECT count(*) FROM (SELECT x.n, y.n FROM (SELECT again, count(*) AS n FROM persons_release_%s GROUP BY again) x
        FULL JOIN (SELECT again, count(*) AS n FROM persons_release_%s GROUP BY again) y USING (again) WHERE x.n IS DISTINCT FROM y.n GROUP BY x.n, y.n HAVING count(*) < 2) d $f$, last - 1, last) INTO alone;
    RETURN NEXT;
END $$;
SELECT * FROM person_nights($$INSERT INTO known VALUES (7, 7, 'c', 'v1'), (1, 1, 'c', 'v0')$$);
SELECT * FROM person_nights($$INSERT INTO known VALUES (8, 8, 'c', 'v0')$$);
SELECT * FROM person_nights($$INSERT INTO known VALUES (2, 2, 'c', 'v0')$$);
SELECT * FROM person_nights('DELETE FROM known WHERE who = 6');
SELECT * FROM person_nights('DELETE FROM known WHERE who = 3');
SELECT * FROM person_nights('DELETE FROM known WHERE who = 4');
SELECT * FROM person_nights('DELETE FROM known WHERE who = 5');
SELECT kanon_drop_publication('persons');
-- known since more rows came than persons; and whoever has to leave one day is not alone from the beginning
DELETE FROM known WHERE who = 6 AND ctid = (SELECT max(ctid) FROM known WHERE who = 6);
SELECT kanon_create_publication('persons', 'known', '{a}', 2, '{"keep": ["v", "again"], "allow_identifying": ["again"], "max_held": 1}', protect_successive => true, key => 'who', keep_releases => 9);
SELECT row_count, held_persons FROM kanon_releases WHERE publication = 'histories_test.persons';
SELECT * FROM person_nights('DELETE FROM known WHERE who = 1');
SELECT * FROM person_nights('');
SELECT kanon_drop_publication('persons');
-- keys that do not last: a reload gives everybody the number of the next, or another one, and lacks exactly the person who left
CREATE TABLE reloaded AS SELECT i AS id, i % 3 AS a, 'v' || i % 4 AS v FROM generate_series(1, 60) i;
SELECT kanon_create_publication('loaded', 'reloaded', '{a}', 3, '{"keep": ["v"]}', protect_successive => true, key => 'id', keep_releases => 9);
CREATE TABLE as_it_was AS TABLE reloaded;
UPDATE reloaded SET id = r.nr FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS nr FROM reloaded) r WHERE r.id = reloaded.id;
DELETE FROM reloaded WHERE id = 0;
SELECT status, message FROM kanon_refresh('loaded');
SELECT status, detail, hint IS NOT NULL AS hint FROM kanon_releases WHERE publication = 'histories_test.loaded' AND release = 2;
UPDATE reloaded SET id = id + 1000;
SELECT status, message FROM kanon_refresh('loaded');
SELECT status, detail FROM kanon_releases WHERE publication = 'histories_test.loaded' AND release = 3;
TRUNCATE reloaded;
INSERT INTO reloaded SELECT * FROM as_it_was WHERE id > 1;
SELECT status, row_count, held_persons FROM kanon_refresh('loaded');
-- (all who are there change: their keys are those that they had)
UPDATE reloaded SET v = 'w' || v;
SELECT status, row_count, held_persons FROM kanon_refresh('loaded');
SELECT kanon_drop_publication('loaded');
-- fewer than k are left: those who went are shown still, and the alarm sees it
CREATE TABLE leaving AS SELECT i AS id, 1 AS a FROM generate_series(1, 12) i;
SELECT kanon_create_publication('left_alone', 'leaving', '{a}', 5, protect_successive => true, key => 'id');
DELETE FROM leaving WHERE id > 3;
SELECT status, row_count, held_persons FROM kanon_refresh('left_alone');
SELECT status, row_count, held_persons FROM kanon_refresh('left_alone');
SELECT held_persons, held_oldest FROM kanon_publication_status('left_alone');
SELECT kanon_drop_publication('left_alone');
-- without a release what can be tried is tried: columns of readers and of histories; and k of releases that were shown stays
CREATE TABLE tried AS SELECT i AS id, i % 2 AS a, i % 2 AS b, 'd' || i % 3 AS d FROM generate_series(1, 120) AS i;
SELECT kanon_create_publication('try', 'tried', '{a,b}', 4, '{"keep": ["d"]}', key => 'id', protect_successive => true);
SELECT kanon_alter_publication('try', quasi_identifiers => '{a}', solve => false);
SELECT kanon_alter_publication('try', quasi_identifiers => '{a}', protect_successive => false, solve => false);
SELECT kanon_alter_publication('try', k => 10, solve => false);
SELECT status, k >= 10 AS k FROM kanon_refresh('try');
-- histories that are gone: the status says it, and what mends it
DO $$ BEGIN EXECUTE 'DROP TABLE ' || (SELECT rows FROM try_history WHERE status = 'current'); END $$;
SELECT problem, remedy FROM kanon_publications WHERE publication = 'histories_test.try';
SELECT status, problem, remedy IS NOT NULL AS remedy FROM kanon_publication_status('try');
SELECT status, message FROM kanon_refresh('try');
SELECT remedy FROM kanon_publications WHERE publication = 'histories_test.try' \gexec
SELECT status FROM kanon_refresh('try');
SELECT problem FROM kanon_publications WHERE publication = 'histories_test.try';
SELECT kanon_drop_publication('try');

-- where memory is short persons are met by shares, in several readings: the same rows wait, and the same are held back
CREATE TABLE shares AS SELECT i AS id, i * 7919 % 40 AS a, i * 104729 % 9 AS b, i % 5 AS ill FROM generate_series(1, 6000) i;
SELECT kanon_create_publication('roomy', 'shares', '{a,b}', 4, '{"keep": ["ill"], "seed": 1}', key => 'id', protect_successive => true),
       kanon_create_publication('narrow', 'shares', '{a,b}', 4, '{"keep": ["ill"], "seed": 1}', key => 'id', protect_successive => true);
DELETE FROM shares WHERE id % 97 = 0;
UPDATE shares SET a = 3 WHERE id % 101 = 0;
UPDATE shares SET ill = 3 WHERE id % 103 = 0;
INSERT INTO shares SELECT i, i % 40, i % 9, i % 5 FROM generate_series(7000, 7050) i;
SELECT status, row_count, held_persons FROM kanon_refresh('roomy');
SET kanon.max_memory = '1100kB';
SELECT status, row_count, held_persons FROM kanon_refresh('narrow');
RESET kanon.max_memory;
SELECT count(*) FROM (SELECT id, a, b, ill, kanon__class IS NULL, kanon__since FROM roomy_rows_2 EXCEPT ALL SELECT id, a, b, ill, kanon__class IS NULL, kanon__since FROM narrow_rows_2) AS otherwise;
SELECT kanon_drop_publication('roomy'), kanon_drop_publication('narrow');
DROP SCHEMA histories_test CASCADE;
