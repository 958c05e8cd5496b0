-- kept columns that only together determine a hidden quasi-identifier are told; wide and large tables are looked at, too
CREATE SCHEMA together_test;
SET search_path = together_test, public;
\set SHOW_CONTEXT never
CREATE FUNCTION draw(i int, salt int) RETURNS int LANGUAGE sql IMMUTABLE RETURN abs(hashint8(i * 1000::bigint + salt)) % 1000000;
CREATE TABLE people AS SELECT i AS id, draw(i, 1) % 60 AS age, 10000 + draw(i, 2) % 40 AS zip, draw(i, 3) % 2 AS sex, draw(i, 4) % 5 AS ill FROM generate_series(1, 3000) AS i;
ALTER TABLE people ADD high int, ADD low int, ADD x int, ADD y int, ADD z int, ADD nearly int;
UPDATE people SET high = (zip - 10000) / 7, low = (zip - 10000) % 7, x = (zip - 10000) & 3, y = (zip - 10000) >> 2 & 3, z = (zip - 10000) >> 4,
    nearly = CASE WHEN draw(id, 5) % 10 < 3 THEN draw(id, 6) % 7 ELSE (zip - 10000) % 7 END;
CREATE FUNCTION told(kept text, more text DEFAULT '', qis text DEFAULT '{age,zip,sex}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    EXECUTE format('SELECT FROM kanon_pattern_guided(''people'', ''out'', %L, 5, keep => %L, replace => true %s)', qis, '{' || kept || '}', more);
    RETURN coalesce((SELECT options ->> 'tell' FROM kanon_usefulness ORDER BY run DESC LIMIT 1), 'nothing');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN format('%s: %s', SQLSTATE, message);
END $$;

-- two, three; the pair is told, and not each three that it is in
SELECT told('ill,high,low');
SET client_min_messages = warning;
SELECT kept, told(kept) FROM (VALUES ('ill,high'), ('ill,low'), ('ill,x,y,z'), ('x,y'), ('high,low,x,y,z'), ('ill,high,nearly')) AS k (kept);
-- masked or allowed there is nothing to be told, nor where nothing is hidden; a mask that readers see through is none
SELECT told('ill,high,low', $$, mask => '{"low": "pseudonym"}'$$), told('ill,high,low', $$, allow_identifying => '{low}'$$), told('ill,high,low', qis => '{zip}'),
    told('ill,high,low', $$, mask => '{"low": {"round": 1}}'$$);
-- ranges hide, too
SELECT told('ill,high,low', $$, hierarchies => '{"zip": {"interval": [20]}}', privacy => ARRAY[kanon_distinct_l('ill', 2)]$$);
-- the page
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'identifiers';
-- by chance nothing is told of many columns
CREATE TABLE chance AS SELECT draw(i, 1) % 20 AS age, draw(i, 2) % 20 AS zip, draw(i, 3) % 2 AS sex, draw(i, 11) % 2 AS c1, draw(i, 12) % 3 AS c2, draw(i, 13) % 4 AS c3, draw(i, 14) % 5 AS c4, draw(i, 15) % 6 AS c5, draw(i, 16) % 7 AS c6,
    draw(i, 17) % 8 AS c7, draw(i, 18) % 9 AS c8, draw(i, 19) % 10 AS c9, draw(i, 20) % 12 AS c10, draw(i, 21) % 14 AS c11, draw(i, 22) % 16 AS c12 FROM generate_series(1, 2000) AS i;
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('chance', 'out', '{age,zip,sex}', 5, keep => '{c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12}', replace => true);
SELECT options -> 'tell' AS tell FROM kanon_usefulness ORDER BY run DESC LIMIT 1;

-- a wide table: 300 kept columns, one of them a copy
DO $$ BEGIN
    EXECUTE 'CREATE TABLE wide AS SELECT draw(i, 1) % 50 AS zip, draw(i, 2) % 3 AS sex, ' || (SELECT string_agg(format('draw(i, %s) %% 5 AS c%1$s', c), ', ') FROM generate_series(3, 301) AS c) || ' FROM generate_series(1, 1500) AS i';
    EXECUTE 'ALTER TABLE wide ADD copy text'; UPDATE wide SET copy = 'z' || zip;
END $$;
SELECT count(*) FROM kanon_pattern_guided('wide', 'out', '{zip,sex}', 20, keep => (SELECT array_agg(attname) FROM pg_attribute WHERE attrelid = 'wide'::regclass AND attnum > 2), replace => true);
-- a large one, of which few rows hide anything: those are looked at
CREATE TABLE large AS SELECT CASE WHEN i <= 120 THEN 1000 + i / 3 ELSE draw(i, 1) % 20 END AS street, CASE WHEN i <= 120 THEN 'p' || i / 3 ELSE 'q' || draw(i, 2) % 5 END AS place, draw(i, 3) % 3 AS ill FROM generate_series(1, 60000) AS i;
SELECT count(*) FROM kanon_pattern_guided('large', 'out', '{street}', 5, keep => '{ill,place}', replace => true);
DROP SCHEMA together_test CASCADE;
