/* Several tables as one release: rows that look alike to readers, and persons who are alike to the method. */
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA alike;
CREATE SCHEMA alike_public;

-- NULL of the source looks like a cell that shows nothing: of both kinds together half the persons at most have one value
CREATE TABLE alike.person (id int PRIMARY KEY, sex text, hiv text);
CREATE TABLE alike.stay (id int PRIMARY KEY, person int REFERENCES alike.person, place text, ill text);
INSERT INTO alike.person SELECT i, 'f', 'v' || i FROM generate_series(1, 4) AS i;
INSERT INTO alike.stay VALUES (1, 1, NULL, 'a'), (2, 2, NULL, 'b'), (3, 1, 'x', 'a'), (4, 3, 'y', 'b');
SELECT table_name, published FROM kanon_linked('alike.person', '{"alike.person": {"quasi_identifiers": ["sex"]},
    "alike.stay": {"quasi_identifiers": ["place"], "keep": ["ill"], "privacy": [{"rule": "alpha", "column": "ill", "alpha": 0.5}]}}', 'alike_public', 2);
-- so it is with values of persons, and where a label is the text of another level
INSERT INTO alike.stay VALUES (5, 4, 'z', 'c'), (6, 4, 'z', 'a');
UPDATE alike.person SET hiv = CASE id WHEN 1 THEN 'a' WHEN 4 THEN 'c' ELSE 'b' END;
UPDATE alike.stay SET place = coalesce(place, 'none');
CREATE TABLE alike.places (place text, region text, land text);
INSERT INTO alike.places VALUES ('none', 'here', 'all'), ('x', 'south', 'none'), ('y', 'south', 'none'), ('z', 'north', 'other');
UPDATE alike.places SET region = CASE place WHEN 'none' THEN 'here' WHEN 'z' THEN 'north' ELSE 'none' END;
SELECT table_name, published FROM kanon_linked('alike.person', '{"alike.person": {"quasi_identifiers": ["sex"], "keep": ["hiv"], "privacy": [{"rule": "alpha", "column": "hiv", "alpha": 0.5}]},
    "alike.stay": {"quasi_identifiers": ["place"], "hierarchies": {"place": "alike.places"}}}', 'alike_public', 2, replace => true);
SELECT broken, safe FROM kanon_check_linked('alike_public.person', '{"alike_public.person": {"quasi_identifiers": ["sex"], "privacy": [{"rule": "alpha", "column": "hiv", "alpha": 0.5}]},
    "alike_public.stay": {"quasi_identifiers": ["place"]}}', 2);

-- persons without rows: by their values, not by keys of a release, it is decided with whom they agree
TRUNCATE alike.person, alike.stay;
INSERT INTO alike.person SELECT i, 'f', (string_to_array('0 1 2 2 1 2 1 2 0 4 2 2', ' '))[i] FROM generate_series(1, 12) AS i;
INSERT INTO alike.stay VALUES (2, 7, '2', 'c'), (3, 3, '2', 'c'), (4, 7, '1', 'c'), (5, 12, '1', 'c'), (6, 1, '3', 'c');
CREATE TABLE alike.shown (night int, rows text);
DO $$
BEGIN
    FOR night IN 1 .. 12 LOOP
        DROP SCHEMA alike_public CASCADE;
        CREATE SCHEMA alike_public;
        PERFORM kanon_linked('alike.person', '{"alike.person": {"quasi_identifiers": ["sex"], "keep": ["hiv"], "privacy": [{"rule": "recursive_cl", "column": "hiv", "c": 2, "l": 2}]},
            "alike.stay": {"quasi_identifiers": ["place"]}}', 'alike_public', 2, 'all');
        INSERT INTO alike.shown SELECT night, string_agg(coalesce(place, '-'), ' ' ORDER BY place) FROM alike_public.stay;
    END LOOP;
END $$;
SELECT count(DISTINCT coalesce(rows, 'none')) AS ways FROM alike.shown;
DROP SCHEMA alike, alike_public CASCADE;
