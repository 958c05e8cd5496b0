-- A view is read once, whatever is published of it: each row is worked out one time, and what is
-- published is that reading.
CREATE SCHEMA once_test;
SET search_path = once_test, public;
SET client_min_messages = warning;
CREATE TABLE visit (who int, zip text, age int, ill text, fee numeric);
INSERT INTO visit SELECT i, 'z' || i % 7, 20 + i % 11, 'ill ' || i % 5, (i % 3)::numeric(9,2) FROM generate_series(1, 600) i;
UPDATE visit SET fee = fee::numeric(9,1) WHERE who % 2 = 0;
CREATE SEQUENCE worked;
CREATE VIEW dear AS SELECT who, zip, age, ill, fee, nextval('worked') AS at FROM visit;
-- which calls read it how often, row by row
CREATE TABLE called (call text, rows bigint, published bigint, same boolean);
CREATE PROCEDURE called(call text) LANGUAGE plpgsql AS $$
DECLARE
    rows bigint;
BEGIN
    PERFORM setval('worked', 1, false);
    EXECUTE format('SELECT FROM ' || call, 'dear', 'from_view');
    rows := nextval('worked') - 1;
    EXECUTE format('SELECT FROM ' || call, 'visit', 'from_table');
    INSERT INTO called SELECT call, rows, (SELECT count(*) FROM from_view),
        NOT EXISTS (TABLE from_view EXCEPT ALL TABLE from_table) AND NOT EXISTS (TABLE from_table EXCEPT ALL TABLE from_view);
    DROP TABLE from_view, from_table;
END $$;
CALL called($$kanon_pattern_guided(%L, %L, '{zip,age}', 5)$$);
CALL called($$kanon_pattern_guided(%L, %L, '{zip,age,fee}', 20, keep => '{ill}', mark => true)$$);
CALL called($$kanon_pattern_guided(%L, %L, '{zip,age}', 25, method => 'fpt', keep => '{ill}', seed => 3)$$);
CALL called($$kanon_pattern_guided(%L, %L, '{zip,age}', 5, privacy => ARRAY[kanon_subject('who')])$$);
CALL called($$kanon_pattern_guided(%L, %L, '{zip,age}', 5, keep => '{ill,fee}', privacy => ARRAY[kanon_distinct_l('ill', 2)])$$);
CALL called($$kanon_full_domain(%L, %L, '{age}', 5, hierarchies => '{"age": {"interval": [5, 10]}}', keep => '{ill}')$$);
CALL called($$kanon_cluster(%L, %L, '{age,fee}', 7, keep => '{ill}')$$);
SELECT rows, published, same, call FROM called;

-- what a row shows besides is what it was when its class was found
SELECT setval('worked', 1, false);
CREATE VIEW moody AS SELECT CASE WHEN nextval('worked') <= 300 THEN zip ELSE 'later' END AS zip, ill, currval('worked') AS at FROM visit;
SELECT FROM kanon_pattern_guided('moody', 'from_mood', '{zip}', 5, keep => '{ill,at}', allow_identifying => '{at}');
SELECT count(*), count(DISTINCT at), max(at), bool_and((zip = 'later') = (at > 300)) FROM from_mood;
-- more than there is memory for
SET work_mem = '64kB';
CREATE VIEW many AS SELECT who, zip, age, ill, nextval('worked') AS at FROM visit, generate_series(1, 20);
SELECT FROM kanon_pattern_guided('many', 'spilled', '{zip,age}', 5, keep => '{who,ill,at}', allow_identifying => '{who,at}');
SELECT count(*), count(DISTINCT at), bool_and(ill = 'ill ' || who % 5 AND coalesce(zip, 'z' || who % 7) = 'z' || who % 7 AND coalesce(age, 20 + who % 11) = 20 + who % 11) FROM spilled;
RESET work_mem;
-- a value that is stored beside its row waits itself: what others' functions do to its table meanwhile is nothing to it
CREATE TABLE letters AS SELECT i AS who, i % 3 AS a, repeat('letter ' || i, 400) AS said FROM generate_series(1, 30) i;
ALTER TABLE letters ALTER COLUMN said SET STORAGE EXTERNAL;
UPDATE letters SET said = said || '.';
CREATE VIEW kept AS SELECT * FROM letters WHERE who > 0;
CREATE TABLE crowd AS SELECT who, a FROM letters;
CREATE FUNCTION empty_letters() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN TRUNCATE letters; RETURN true; END $$;
CREATE VIEW crowds AS SELECT who, a FROM crowd WHERE (SELECT empty_letters());
SELECT FROM kanon_full_domain('kept', 'from_kept', '{a}', 5, keep => '{who,said}', allow_identifying => '{who,said}', privacy => ARRAY[kanon_k_map('crowds')]);
SELECT count(*), bool_and(said = repeat('letter ' || who, 400) || '.') AS whole, (SELECT count(*) FROM letters) AS left FROM from_kept;
DROP SCHEMA once_test CASCADE;
