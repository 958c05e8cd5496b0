/* kanon_suggest_call for tables that join: the subject, the role of each table, and a call that runs. */
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
\pset tuples_only on
\pset format unaligned
CREATE SCHEMA club;
CREATE SCHEMA club_public;
CREATE TABLE club.towns (id int PRIMARY KEY, name text, land text);
CREATE TABLE club.places (id int PRIMARY KEY, zip text, phone text, town_id int REFERENCES club.towns);
CREATE TABLE club.members (id int PRIMARY KEY, name text, born int, sex text, place_id int REFERENCES club.places);
CREATE TABLE club.teams (id int PRIMARY KEY, league text);
CREATE TABLE club.plays (id int PRIMARY KEY, member_id int REFERENCES club.members, team_id int REFERENCES club.teams, role text);
CREATE TABLE club.games (id int PRIMARY KEY, team_id int REFERENCES club.teams, goals int);
CREATE TABLE club.fees (id int PRIMARY KEY, member_id int REFERENCES club.members, plays_id int REFERENCES club.plays, paid date, amount int);
CREATE TABLE club.visits (member_id int REFERENCES club.members, at date, PRIMARY KEY (member_id, at));
CREATE TABLE club.alone (id int PRIMARY KEY);
INSERT INTO club.towns SELECT i, 'town ' || i, 'land ' || i % 2 FROM generate_series(1, 8) AS i;
INSERT INTO club.places SELECT i, 10000 + 13 * i, 'phone ' || i, 1 + i % 8 FROM generate_series(1, 200) AS i;
INSERT INTO club.members SELECT i, 'name ' || i, 1950 + i % 50, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, i FROM generate_series(1, 200) AS i;
INSERT INTO club.teams SELECT i, 'league ' || i % 3 FROM generate_series(1, 100) AS i;
INSERT INTO club.plays SELECT i, i, 1 + i % 100, 'role ' || i % 3 FROM generate_series(1, 200) AS i;
INSERT INTO club.games SELECT i, 1 + i % 100, i % 4 FROM generate_series(1, 300) AS i;
INSERT INTO club.fees SELECT i, 1 + i % 200, CASE WHEN i % 2 = 0 THEN 1 + i % 200 END, date '2026-01-01' + i % 40, 10 * (i % 3) FROM generate_series(1, 400) AS i;
INSERT INTO club.visits SELECT 1 + i % 200, date '2026-02-01' + i / 200 FROM generate_series(1, 400) AS i;
SELECT kanon_suggest_call('club.fees', linked => true) AS call \gset
\echo :call
SELECT 'CREATE TABLE club_called AS ' || :'call' \gexec
SELECT table_name, target, role, row_count, published, round(suppressed::numeric, 4) AS suppressed FROM club_called;
DROP TABLE club_called;
-- a label decides
SELECT kanon_label('club.places', 'zip', 'identifier');
SELECT kanon_suggest_call('club.members', 'club_public', 3, true);
-- what the caller may not read is not looked at; a table without keys is published alone; no column is known to others
CREATE ROLE club_guest;
GRANT USAGE ON SCHEMA club TO club_guest;
GRANT SELECT ON club.members, club.fees, club.alone TO club_guest;
SET ROLE club_guest;
SELECT kanon_suggest_call('club.fees', linked => true);
SELECT kanon_suggest_call('club.alone', linked => true);
SELECT kanon_suggest_call('club.plays', linked => true);
RESET ROLE;
-- more tables than a release has
DO $$ BEGIN FOR i IN 1..20 LOOP EXECUTE format('CREATE TABLE club.more_%s (id int PRIMARY KEY, member_id int REFERENCES club.members, kind text)', i); END LOOP; END $$;
SELECT regexp_count(kanon_suggest_call('club.members', linked => true), 'rows of persons') > 10, kanon_suggest_call('club.members', linked => true) ~ 'more than 17 tables';
DROP SCHEMA club, club_public CASCADE;
DROP ROLE club_guest;
