/* Several tables as one publication whose persons are protected over all releases. */
\pset null '~'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA guild;
CREATE SCHEMA guild_public;
CREATE SCHEMA guild_private;
CREATE TABLE guild.members (id int PRIMARY KEY, birth int);
CREATE TABLE guild.tools (id int PRIMARY KEY, name text);
CREATE TABLE guild.orders (id int PRIMARY KEY, member int REFERENCES guild.members, city text, tag text);
CREATE TABLE guild.lines (order_id int REFERENCES guild.orders, tool int REFERENCES guild.tools);
INSERT INTO guild.members SELECT i, 1940 + 10 * ((i + 11) / 12) FROM generate_series(1, 24) AS i;
INSERT INTO guild.tools VALUES (1, 'saw'), (2, 'axe');
INSERT INTO guild.orders SELECT i, i, CASE WHEN i % 2 = 0 THEN 'Aarau' ELSE 'Basel' END, 't' || i FROM generate_series(1, 24) AS i;
INSERT INTO guild.lines SELECT i, CASE WHEN i BETWEEN 13 AND 18 THEN 2 ELSE 1 END FROM generate_series(1, 24) AS i;
CREATE TABLE guild_told (tables jsonb);
INSERT INTO guild_told VALUES ('{"guild.members": {"quasi_identifiers": ["birth"]},
  "guild.orders": {"quasi_identifiers": ["city"], "keep": ["tag"], "allow_identifying": ["tag"]},
  "guild.lines": {"quasi_identifiers": ["tool"]}, "guild.tools": {"keep": ["name"]}}');
SET client_min_messages = notice;
SELECT kanon_create_linked_publication('guild_public', 'guild.members', tables, 3, protect_successive => true, private_schema => 'guild_private') FROM guild_told;
SET client_min_messages = warning;
SELECT protect_successive, stable, key FROM kanon_publications;
SELECT relname FROM pg_class WHERE relnamespace = 'guild_private'::regnamespace AND relkind = 'r' ORDER BY 1;
SELECT obj_description('guild_private.orders_held_1'::regclass) AS says, obj_description('guild_private.orders_rows_1'::regclass) AS of_rows;
CREATE VIEW guild_shown AS SELECT m.birth, o.city, o.tag, t.name FROM guild_public.members AS m LEFT JOIN guild_public.orders AS o ON o.member = m.id
LEFT JOIN guild_public.lines AS l ON l.order_id = o.id LEFT JOIN guild_public.tools AS t ON t.id = l.tool;
CREATE FUNCTION guild_night(OUT status text, OUT held bigint, OUT oldest bigint, OUT persons bigint, OUT "left" bigint, OUT came bigint, OUT safe boolean) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE before AS TABLE guild_shown;
    SELECT r.status, r.held_persons FROM kanon_refresh('guild_public') AS r INTO status, held;
    SELECT held_oldest FROM kanon_publication_status('guild_public') INTO oldest;
    SELECT count(*) FROM guild_public.members INTO persons;
    SELECT count(*) FROM (TABLE before EXCEPT ALL TABLE guild_shown) AS x INTO "left";
    SELECT count(*) FROM (TABLE guild_shown EXCEPT ALL TABLE before) AS x INTO came;
    SELECT c.safe FROM kanon_check_linked('guild_public.members', '{"guild_public.members": {"quasi_identifiers": ["birth"]},
      "guild_public.orders": {"quasi_identifiers": ["city"]}, "guild_public.lines": {"quasi_identifiers": ["tool"]}}', 3) AS c INTO safe;
    DROP TABLE before;
END
$$;
SELECT birth, city, name, count(*) FROM guild_shown GROUP BY 1, 2, 3 ORDER BY 1, 2;

-- nothing has changed; one order comes, another changes: the class shows what it showed
SELECT * FROM guild_night();
INSERT INTO guild.orders VALUES (101, 1, 'Chur', 'c1');
SELECT * FROM guild_night();
UPDATE guild.orders SET city = 'Davos' WHERE id = 14;
SELECT * FROM guild_night();
-- enough have changed: three of each city, and three are left; their old orders are in the new class, too
INSERT INTO guild.orders SELECT 100 + i, i, 'Chur', 'c' || i FROM generate_series(2, 5) AS i;
SELECT * FROM guild_night();
INSERT INTO guild.orders VALUES (106, 6, 'Chur', 'c6');
SELECT * FROM guild_night();
SELECT birth, city, name, count(*) FROM guild_shown GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- new persons wait for others of their class
INSERT INTO guild.members SELECT i, 1950 FROM generate_series(31, 32) AS i;
SELECT * FROM guild_night();
INSERT INTO guild.members VALUES (33, 1950), (34, 1960);
SELECT * FROM guild_night();
-- persons who leave stay, as do the lookup's rows to which theirs refer, until enough have left
DELETE FROM guild.lines WHERE tool = 2;
DELETE FROM guild.tools WHERE id = 2;
DELETE FROM guild.orders WHERE id BETWEEN 13 AND 16;
DELETE FROM guild.members WHERE id BETWEEN 13 AND 16;
SELECT * FROM guild_night();
SELECT name, count(*) FROM guild_shown WHERE birth = 1960 GROUP BY 1 ORDER BY 1;
DELETE FROM guild.orders WHERE id IN (17, 18);
DELETE FROM guild.members WHERE id IN (17, 18);
SELECT * FROM guild_night();
SELECT name, count(*) FROM guild_shown WHERE birth = 1960 GROUP BY 1 ORDER BY 1;
SELECT count(*) AS tools FROM guild_public.tools;
-- who comes back alone is not shown
INSERT INTO guild.members VALUES (13, 1960);
INSERT INTO guild.orders VALUES (13, 13, 'Basel', 't13');
SELECT * FROM guild_night();
SELECT release, held_persons, held_oldest FROM kanon_releases ORDER BY 1;

-- what decides about rows that are held back stays
SELECT kanon_alter_publication('guild_public', k => 4);
SELECT kanon_alter_publication('guild_public', set_options => '{"known_rows": "2"}');
SELECT kanon_alter_publication('guild_public', keep_releases => 2);
BEGIN;
ALTER TABLE guild.orders ALTER COLUMN city TYPE varchar;
SELECT status, message, detail FROM kanon_refresh('guild_public') JOIN kanon_releases USING (release, status, message);
ROLLBACK;
BEGIN;
DO $$ BEGIN EXECUTE 'DROP TABLE guild_private.orders_rows_' || (SELECT max(release) FROM kanon_releases); END $$;
SELECT status, message FROM kanon_refresh('guild_public');
ROLLBACK;
-- its owner can write into a private table
DO $$ BEGIN EXECUTE format('CREATE VIEW guild_rows AS TABLE guild_private.orders_rows_%1$s; CREATE VIEW guild_held AS TABLE guild_private.members_held_%1$s; CREATE VIEW guild_persons AS TABLE guild_private.members_persons_%1$s', (SELECT max(release) FROM kanon_releases)); END $$;
CREATE FUNCTION guild_altered(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    EXECUTE sql;
    SELECT format('%s: %s', status, message) FROM kanon_refresh('guild_public') INTO said;
    RAISE EXCEPTION '%', said USING ERRCODE = 'KA000';
EXCEPTION WHEN SQLSTATE 'KA000' THEN
    RETURN sqlerrm;
END
$$;
SET client_min_messages = error;
SELECT guild_altered('UPDATE guild_rows SET kanon__levels = NULL');
SELECT guild_altered($$UPDATE guild_rows SET kanon__levels = ''$$);
SELECT guild_altered($$UPDATE guild_rows SET kanon__levels = '\xff'$$);
SELECT guild_altered('UPDATE guild_rows SET kanon__row = NULL, kanon__person = NULL');
SELECT guild_altered('UPDATE guild_held SET id = NULL');
SELECT guild_altered('UPDATE guild_held SET kanon__part = NULL, kanon__person = NULL');
SELECT guild_altered('UPDATE guild_persons SET history = NULL WHERE id = 1');
DO $$ BEGIN EXECUTE format('DROP VIEW guild_rows; ALTER TABLE guild_private.orders_rows_%1$s ALTER kanon__levels TYPE int8 USING 7; CREATE VIEW guild_rows AS TABLE guild_private.orders_rows_%1$s', (SELECT max(release) FROM kanon_releases)); END $$;
SELECT guild_altered('SELECT 1');
DROP VIEW guild_rows, guild_held, guild_persons;
DROP FUNCTION guild_altered;
SET client_min_messages = warning;
-- new histories
SELECT kanon_alter_publication('guild_public', k => 4, protect_successive => false);
SELECT status, held_persons FROM kanon_refresh('guild_public');
SET client_min_messages = notice;
SELECT kanon_alter_publication('guild_public', protect_successive => true, solve => false);
SET client_min_messages = warning;
SELECT status, held_persons FROM kanon_refresh('guild_public');
SELECT history, count(*) FROM guild_private.members_persons_12 GROUP BY 1 ORDER BY 1;
DROP FUNCTION guild_night;
DROP VIEW guild_shown;
SELECT kanon_drop_publication('guild_public');
SELECT relname FROM pg_class WHERE relnamespace IN ('guild_private'::regnamespace, 'guild_public'::regnamespace);

-- what the options name says what is shown of rows that are held back: it stays
CREATE TABLE guild.areas (city text, area text);
INSERT INTO guild.areas VALUES ('Aarau', 'west'), ('Basel', 'west'), ('Chur', 'east'), ('Davos', 'east');
CREATE SCHEMA guild_areas;
SELECT kanon_create_linked_publication('guild_areas', 'guild.members', '{"guild.members": {"quasi_identifiers": ["birth"]},
  "guild.orders": {"quasi_identifiers": ["city"], "hierarchies": {"city": "guild.areas"}}}', 3, protect_successive => true, private_schema => 'guild_private');
UPDATE guild.areas SET area = city WHERE city = 'Aarau';
SELECT status FROM kanon_refresh('guild_areas');
SELECT message, detail, hint FROM kanon_releases WHERE status = 'failed';
SET kanon.skip_unchanged = off;
SELECT status FROM kanon_refresh('guild_areas');
RESET kanon.skip_unchanged;
UPDATE guild.areas SET area = 'west' WHERE city = 'Aarau';
SELECT status FROM kanon_refresh('guild_areas');
SELECT kanon_alter_publication('guild_areas', protect_successive => false);
UPDATE guild.areas SET area = city WHERE city = 'Aarau';
SELECT status FROM kanon_refresh('guild_areas');
SELECT kanon_drop_publication('guild_areas');

-- a row that moves to another person is another row there, with another key, while the first person is held back
CREATE TABLE guild.crew (id int PRIMARY KEY, sex text);
CREATE TABLE guild.papers (crew_id int PRIMARY KEY REFERENCES guild.crew, port text);
CREATE TABLE guild.stamps (id int PRIMARY KEY, paper int REFERENCES guild.papers, port text);
CREATE TABLE guild.trips (id int PRIMARY KEY, crew_id int REFERENCES guild.crew, city text);
CREATE TABLE guild.legs (id int PRIMARY KEY, trip int REFERENCES guild.trips, ship text, miles int);
INSERT INTO guild.crew SELECT i, CASE WHEN i <= 2 THEN 'f' ELSE 'm' END FROM generate_series(1, 4) AS i;
INSERT INTO guild.papers SELECT id, 'Chur' FROM guild.crew;
INSERT INTO guild.stamps SELECT id, id, 'Bari' FROM guild.crew;
INSERT INTO guild.trips SELECT id, id, 'Aarau' FROM guild.crew;
INSERT INTO guild.legs SELECT id, id, 'ark', 100 FROM guild.crew;
CREATE SCHEMA guild_crew;
SELECT kanon_create_linked_publication('guild_crew', 'guild.crew', '{"guild.crew": {"quasi_identifiers": ["sex"]}, "guild.papers": {"quasi_identifiers": ["port"]},
  "guild.stamps": {"quasi_identifiers": ["port"]}, "guild.trips": {"quasi_identifiers": ["city"]}, "guild.legs": {"quasi_identifiers": ["ship"], "keep": ["miles"]}}',
  2, protect_successive => true, pseudonym => 'publication', private_schema => 'guild_private');
CREATE TABLE guild_crew_before AS SELECT t.id AS trip, l.id AS leg, s.id AS stamp, s.paper, c.id, c.sex FROM guild_crew.crew AS c JOIN guild_crew.trips AS t ON t.crew_id = c.id
  JOIN guild_crew.legs AS l ON l.trip = t.id JOIN guild_crew.stamps AS s ON s.paper = c.id;
SELECT count(*) FROM guild_crew_before;
UPDATE guild.trips SET crew_id = 3 WHERE id = 1;
INSERT INTO guild.trips VALUES (5, 4, 'Aarau');
INSERT INTO guild.legs VALUES (5, 5, 'ark', 100);
SELECT status, held_persons FROM kanon_refresh('guild_crew');
SELECT c.sex, count(DISTINCT c.id) AS crew, count(*) AS legs, count(DISTINCT t.id) AS trips, count(b.leg) AS as_before
FROM guild_crew.crew AS c JOIN guild_crew.trips AS t ON t.crew_id = c.id JOIN guild_crew.legs AS l ON l.trip = t.id LEFT JOIN guild_crew_before AS b ON b.leg = l.id AND b.trip = t.id
GROUP BY 1 ORDER BY 1;
-- keys that last are new in what changes, and in all that hangs on it: nobody follows the line that stayed below a changed trip
UPDATE guild.trips SET city = 'Basel' WHERE crew_id IN (3, 4);
DELETE FROM guild.legs WHERE id = 3;
INSERT INTO guild.legs VALUES (6, 3, 'ark', 100);
UPDATE guild.papers SET port = 'Davos' WHERE crew_id > 2;
SELECT status, held_persons FROM kanon_refresh('guild_crew');
SELECT c.sex, count(*) AS legs, count(b.leg) AS legs_before, count(bt.trip) AS trips_before, count(bs.stamp) AS stamps_before, count(c.id) AS crew
FROM guild_crew.crew AS c JOIN guild_crew.trips AS t ON t.crew_id = c.id JOIN guild_crew.legs AS l ON l.trip = t.id JOIN guild_crew.papers AS p ON p.crew_id = c.id
JOIN guild_crew.stamps AS s ON s.paper = p.crew_id LEFT JOIN guild_crew_before AS b ON b.leg = l.id LEFT JOIN guild_crew_before AS bt ON bt.trip = t.id
LEFT JOIN guild_crew_before AS bs ON bs.stamp = s.id GROUP BY 1 ORDER BY 1;
SELECT safe FROM kanon_check_linked('guild_crew.crew', '{"guild_crew.crew": {"quasi_identifiers": ["sex"]}, "guild_crew.trips": {"quasi_identifiers": ["city"]}, "guild_crew.legs": {"quasi_identifiers": ["ship"]},
  "guild_crew.papers": {"quasi_identifiers": ["port"]}, "guild_crew.stamps": {"quasi_identifiers": ["port"]}}', 2);
SELECT kanon_drop_publication('guild_crew');
DROP TABLE guild_crew_before;

-- what is not protected
\set VERBOSITY terse
SELECT kanon_create_linked_publication('guild_public', 'guild.members', tables - 'guild.lines' - 'guild.tools' || '{"guild.orders": {"quasi_identifiers": ["city"], "linked": false}}', 3, protect_successive => true) FROM guild_told;
SELECT kanon_create_linked_publication('guild_public', 'guild.members', jsonb_set(tables, '{guild.orders,privacy}', '[{"rule": "distinct_l", "l": 2, "column": "tag"}]'), 3, protect_successive => true) FROM guild_told;
SELECT kanon_create_linked_publication('guild_public', 'guild.members', jsonb_set(tables, '{guild.orders,max_held}', '3'), 3, protect_successive => true) FROM guild_told;
SELECT kanon_create_linked_publication('guild_public', 'guild.members', tables, 3, protect_successive => NULL) FROM guild_told;
SET client_min_messages = error;
DROP SCHEMA guild, guild_public, guild_private, guild_crew CASCADE;
DROP TABLE guild_told;
