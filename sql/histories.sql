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
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
DELETE FROM stays WHERE id IN (25, 37);
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
DELETE FROM stays WHERE id IN (38, 50, 62);
SELECT release, smallest_difference FROM kanon_refresh('told') r JOIN kanon_releases USING (release);
SELECT smallest_difference FROM kanon_publication_status('told');
SELECT kanon_drop_publication('told');

SET client_min_messages = warning;
DROP SCHEMA histories_test CASCADE;
