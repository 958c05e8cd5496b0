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

-- nights: what is kept beside the quasi-identifiers decides nothing about classes
DROP SCHEMA alike_public CASCADE;
CREATE SCHEMA alike_public;
CREATE SCHEMA alike_private;
CREATE TABLE alike.client (id int PRIMARY KEY, city text, segment text);
CREATE TABLE alike.orders (id int PRIMARY KEY, client int REFERENCES alike.client, what text);
CREATE FUNCTION alike.alone(OUT blank text, OUT later text) LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE alike.client, alike.orders;
    INSERT INTO alike.client SELECT i, CASE WHEN i <= 4 THEN 'B' END, 'seg' || i FROM generate_series(1, 5) AS i;
    INSERT INTO alike.orders SELECT i, i, 'X' FROM generate_series(1, 5) AS i;
    PERFORM kanon_create_linked_publication('alike_public', 'alike.client', '{"alike.client": {"quasi_identifiers": ["city"], "keep": ["segment"], "allow_identifying": ["segment"]}, "alike.orders": {"quasi_identifiers": ["what"]}}', 2, private_schema => 'alike_private');
    blank := (SELECT string_agg(segment, ' ' ORDER BY segment) FROM alike_public.client WHERE city IS NULL);
    INSERT INTO alike.client VALUES (6, 'B', 'seg6'), (7, 'B', 'seg7');
    UPDATE alike.client SET segment = segment || 'new' WHERE segment = (SELECT min(segment) FROM alike_public.client WHERE city IS NULL);
    PERFORM kanon_refresh('alike_public');
    later := (SELECT string_agg(replace(segment, 'new', ''), ' ' ORDER BY segment) FROM alike_public.client WHERE city IS NULL);
    PERFORM kanon_drop_publication('alike_public');
END $$;
DO $$
DECLARE
    night record;
BEGIN
    FOR i IN 1 .. 6 LOOP
        SELECT * INTO night FROM alike.alone();
        ASSERT night.blank = night.later, 'unchanged persons were separated';
    END LOOP;
END $$;

-- names that agree in all that there is room for: releases, private tables of persons and of rows
DO $$
BEGIN
    EXECUTE format('CREATE TABLE alike.%1$s_persons (id int PRIMARY KEY, s int); CREATE TABLE alike.%1$s_visits (id int PRIMARY KEY, p int REFERENCES alike.%1$s_persons, b int);
        CREATE TABLE alike.%1$s_viewing (id int PRIMARY KEY, p int REFERENCES alike.%1$s_persons, b int);
        INSERT INTO alike.%1$s_persons SELECT i, i %% 2 FROM generate_series(1, 40) i; INSERT INTO alike.%1$s_visits SELECT i, 1 + i %% 40, i %% 3 FROM generate_series(1, 80) i;
        INSERT INTO alike.%1$s_viewing SELECT i, 1 + i %% 40, i %% 3 FROM generate_series(1, 80) i', repeat('t', 55));
    EXECUTE format($q$SELECT kanon_create_linked_publication('alike_public', 'alike.%1$s_persons', '{"alike.%1$s_persons": {"quasi_identifiers": ["s"]}, "alike.%1$s_visits": {"quasi_identifiers": ["b"]}, "alike.%1$s_viewing": {"quasi_identifiers": ["b"]}}', 3,
        protect_successive => true, private_schema => 'alike_private')$q$, repeat('t', 55));
    EXECUTE format('INSERT INTO alike.%s_visits VALUES (100, 1, 1)', repeat('t', 55));
END $$;
SELECT status FROM kanon_refresh('alike_public');
SELECT count(*) AS tables, max(length(relname)) <= 63 AS fit FROM pg_class WHERE relnamespace = 'alike_private'::regnamespace AND relkind = 'r';
SELECT kanon_drop_publication('alike_public');
DROP SCHEMA alike, alike_public, alike_private CASCADE;
