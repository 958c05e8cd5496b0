-- masks of kept columns
CREATE SCHEMA mask_test;
SET search_path = mask_test, public;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s: %s%s\nHINT: %s', SQLSTATE, message, coalesce(E'\nDETAIL: ' || nullif(detail, ''), ''), hint);
END $$;

CREATE DOMAIN euros AS numeric(8, 2) CHECK (VALUE < 20000);
CREATE TABLE visit AS
SELECT i AS id, i % 200 AS patient, i % 5 AS age, 'z' || i % 4 AS zip, (i * 37 % 10007)::int AS cost, (i * 37 % 10007 * 1.25)::euros AS fee,
    ('anna' || i % 200 || '@example.org')::varchar(40) AS email, date '2020-01-01' + i % 300 AS admitted, timestamptz '2020-01-01 10:00+00' + i % 300 * interval '1 day' AS seen,
    'note ' || i AS note, i / 7.0::float8 AS weight, (i % 300)::smallint AS few, 'd' || i % 6 AS diagnosis
FROM generate_series(1, 2000) i;
INSERT INTO visit VALUES (0);

-- ---- what comes out ----

SELECT cost FROM kanon_pattern_guided('visit', 'masked', '{age,zip}', 5, keep => '{id,patient,cost,fee,email,admitted,seen,note,weight,few}', allow_identifying => '{weight}',
    mask => '{"id": {"pseudonym": "release"}, "patient": {"pseudonym": "release"}, "cost": {"round": 100, "top": 0.99}, "fee": {"bottom": {"quantile": 0.1}, "top": {"value": 12000}, "round": 0.5},
        "email": {"partial": [2, 4]}, "admitted": {"shift": "patient", "days": 30}, "seen": {"shift": "patient", "days": 30}, "note": {"constant": null}, "weight": {"round": 0.5}, "few": {"bottom": 20, "top": 250}}');
SELECT column_name, data_type, numeric_precision, character_maximum_length FROM information_schema.columns WHERE table_schema = 'mask_test' AND table_name = 'masked' ORDER BY ordinal_position;
-- one pseudonym a value, of each column its own; nothing of the value
SELECT count(*), count(DISTINCT id) AS ids, count(DISTINCT patient) AS patients, bool_and(id::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$') AS version_8, sum((id = patient)::int) AS alike FROM masked;
-- cut at the quantile, then rounded
SELECT max(m.cost) = round((SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY cost) FROM visit) / 100.0) * 100 AS top, bool_and(m.cost % 100 = 0) AS rounded FROM masked m;
SELECT (SELECT array_agg(x ORDER BY x) FROM (SELECT cost AS x FROM masked) m) =
    (SELECT array_agg(x ORDER BY x) FROM (SELECT (round(least(cost, (SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY cost) FROM visit)) / 100.0) * 100)::int AS x FROM visit WHERE cost IS NOT NULL UNION ALL SELECT NULL) v) AS costs;
SELECT (SELECT array_agg(x ORDER BY x) FROM (SELECT fee::numeric AS x FROM masked) m) =
    (SELECT array_agg(x ORDER BY x) FROM (SELECT round(greatest(least(fee, 12000), (SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY fee) FROM visit)) / 0.5) * 0.5 AS x
        FROM visit WHERE fee IS NOT NULL UNION ALL SELECT NULL) v) AS fees;
SELECT min(few), max(few), count(few) FROM masked;
SELECT bool_and(weight * 2 = round(weight * 2)) AS halves FROM masked;
SELECT email, count(*) FROM masked GROUP BY 1;
SELECT count(note) FROM masked;
-- shifted by days that are a patient's own, all of a patient's dates by the same; at most so many
CREATE VIEW shift AS SELECT m.patient, array_agg(DISTINCT m.admitted ORDER BY m.admitted) AS dates FROM masked m WHERE m.patient IS NOT NULL GROUP BY 1;
CREATE VIEW orig AS SELECT patient, array_agg(DISTINCT admitted ORDER BY admitted) AS dates FROM visit WHERE patient IS NOT NULL GROUP BY 1;
SELECT count(*) = (SELECT count(*) FROM shift) AS all_found FROM shift s WHERE EXISTS (SELECT FROM orig o, generate_series(-30, 30) AS by
    WHERE s.dates = (SELECT array_agg(d + by ORDER BY d) FROM unnest(o.dates) AS d));
SELECT count(*) > 20 AS many_shifts FROM (SELECT DISTINCT s.dates[1] - o.dates[1] FROM shift s, orig o WHERE (SELECT array_agg(d - s.dates[1] ORDER BY d) FROM unnest(s.dates) d) = (SELECT array_agg(d - o.dates[1] ORDER BY d) FROM unnest(o.dates) d)) q;
SELECT bool_and(abs(extract(epoch FROM m.seen - (m.admitted + time '10:00') AT TIME ZONE 'UTC')) < 60 * 86400) AS near, count(DISTINCT m.seen::time) > 50 AS by_seconds FROM masked m;
-- drawn anew for each release
SELECT FROM kanon_pattern_guided('visit', 'again', '{age,zip}', 5, keep => '{patient,admitted}', mask => '{"patient": {"pseudonym": "release"}, "admitted": {"shift": "patient", "days": 30}}');
SELECT count(*) FROM masked JOIN again USING (patient);
SELECT options -> 'mask' AS mask FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT obj_description('again'::regclass) ~ 'masked: patient, admitted' AS told;
SELECT s ->> 'says' AS says FROM kanon_usefulness u, LATERAL kanon_report_data(u.run) AS d, jsonb_array_elements(d -> 'statements') AS s
WHERE u.target = 'mask_test.again' AND s ->> 'says' LIKE 'Published beside%';
SELECT l ->> 'says' AS says FROM kanon_usefulness u, LATERAL kanon_report_data(u.run) AS d, jsonb_array_elements(d -> 'limits') AS l
WHERE u.target = 'mask_test.again' AND l ->> 'what' = 'Rows of one person.';
-- parts of texts: never all of it; characters, not bytes
CREATE TABLE words AS SELECT w, w::char(8) AS c, 1 AS a FROM unnest('{a,ab,abc,abcd,äöüß,ä,"",abcdefgh}'::text[]) AS w, generate_series(1, 2);
SELECT FROM kanon_pattern_guided('words', 'part', '{a}', 2, keep => '{w,c}', mask => '{"w": {"partial": [1, 2]}, "c": {"partial": [3, 0]}}');
SELECT w, c, count(*) FROM part GROUP BY 1, 2 ORDER BY 1, 2;
-- at least half and three characters stay hidden: of a text where they would not, all of it; of a column where that is every text, the mask is refused
CREATE TABLE codes AS SELECT 1 AS a, left('A123456789', n) AS w, 'A00000' || n % 2 AS c FROM generate_series(1, 10) n;
SELECT FROM kanon_pattern_guided('codes', 'code_parts', '{a}', 2, keep => '{w}', mask => '{"w": {"partial": [2, 2]}}');
SELECT w, count(*) FROM code_parts GROUP BY 1 ORDER BY 1;
SELECT try($$ kanon_pattern_guided('codes', 'no', '{a}', 2, keep => '{c}', mask => '{"c": {"partial": [2, 4]}}') $$);
-- and its hint leads out
SELECT FROM kanon_pattern_guided('codes', 'no', '{a}', 2, keep => '{c}', mask => '{"c": {"partial": [2, 1]}}');
SELECT min(c) FROM no;
DROP TABLE no;
CREATE VIEW short_codes AS SELECT a, left(c, 3) AS c FROM codes;
SELECT try($$ kanon_pattern_guided('short_codes', 'no', '{a}', 2, keep => '{c}', mask => '{"c": {"partial": [1, 1]}}') $$);
SELECT try($$ kanon_pattern_guided('codes', 'code_parts_2', '{a}', 2, keep => '{c}', mask => '{"c": {"partial": [1, 2]}}') $$);
SELECT DISTINCT c FROM code_parts_2 ORDER BY 1;
-- a type that is text without a cast has parts, which are text
CREATE EXTENSION IF NOT EXISTS citext;
CREATE TABLE mails AS SELECT 1 AS a, (CASE WHEN i = 3 THEN 'USER' ELSE 'user' END || i % 2 || '@example.org')::citext AS email FROM generate_series(1, 20) i;
SELECT FROM kanon_pattern_guided('mails', 'mail_parts', '{a}', 2, keep => '{email}', mask => '{"email": {"partial": [1, 4]}}');
SELECT email, pg_typeof(email), count(*) FROM mail_parts GROUP BY 1 ORDER BY 1;
-- no fraction of a second is left of a time that is shifted, before 2000 neither
CREATE TABLE moments AS SELECT i % 2 AS a, i AS person, timestamp '1999-12-31 23:00' + i * interval '7 min 3.123457 s' AS at, timestamptz '1999-12-31 23:00Z' + i * interval '7 min 3.123457 s' AS seen FROM generate_series(1, 40) i;
SELECT FROM kanon_pattern_guided('moments', 'moved', '{a}', 2, keep => '{person,at,seen}', mask => '{"person": "pseudonym", "at": {"shift": "person", "days": 2}, "seen": {"shift": "person", "days": 2}}', allow_identifying => '{at,seen}');
SELECT count(*) FILTER (WHERE at <> date_trunc('second', at) OR seen <> date_trunc('second', seen)) AS fractions, count(DISTINCT at) > 20 AS moved, bool_and(at = seen AT TIME ZONE 'UTC') AS together FROM moved;
-- at the ends of the type they are shifted the other way
CREATE TABLE last_days AS SELECT 1 AS a, i AS person, date '5874897-12-31' AS d, timestamp '294276-12-31 23:59:59' AS t FROM generate_series(1, 20) i;
SELECT FROM kanon_pattern_guided('last_days', 'last_moved', '{a}', 2, keep => '{person,d,t}', mask => '{"person": "pseudonym", "d": {"shift": "person", "days": 30}, "t": {"shift": "person", "days": 30}}', allow_identifying => '{d,t}');
SELECT count(DISTINCT d) > 5 AS days, count(DISTINCT t) > 15 AS times, bool_and(d <= '5874897-12-31' AND isfinite(d)) AS valid FROM last_moved;
-- what can be meant by one word
SELECT try($$ kanon_pattern_guided('moments', 'moved_too', '{a}', 2, keep => '{person}', mask => '{"person": "pseudonym"}') $$);
SELECT try($$ kanon_pattern_guided('moments', 'no', '{a}', 2, keep => '{person}', mask => '{"person": "shift"}') $$);
-- the last numbers of a type stay in it
CREATE TABLE ends AS SELECT 32767::smallint AS s, 2147483647::int AS i, 9223372036854775807::bigint AS b, 'infinity'::date AS d, 'NaN'::numeric AS n, 1 AS a UNION ALL
SELECT (-32768)::smallint, (-2147483648)::int, (-9223372036854775808)::bigint, '-infinity', 'Infinity', 1;
SELECT FROM kanon_pattern_guided('ends', 'ends_out', '{a}', 2, keep => '{s,i,b,d,n}',
    mask => '{"s": {"round": 100}, "i": {"round": 100}, "b": {"round": 100}, "n": {"round": 10}, "d": {"shift": "a2", "days": 9}}');
SELECT FROM kanon_pattern_guided('ends', 'ends_out', '{a}', 2, keep => '{s,i,b,d,n}',
    mask => '{"s": {"round": 100}, "i": {"round": 100}, "b": {"round": 100}, "n": {"round": 10}, "d": {"shift": "s", "days": 9}}');
SELECT s, i, b, d, n FROM ends_out ORDER BY 1;
-- constants
SELECT FROM kanon_pattern_guided('visit', 'constants', '{age}', 5, keep => '{note,cost,admitted}', mask => '{"note": {"constant": "gone"}, "cost": {"constant": -1}, "admitted": {"constant": "2000-01-01"}}');
SELECT note, cost, admitted, count(*) FROM constants GROUP BY 1, 2, 3;

-- ---- in every function ----

SELECT FROM kanon_pattern_clustering('visit', 'out_a', '{age,zip}', 5, 'greedy', '{--,**}', keep => '{email}', mask => '{"email": {"partial": [1, 0]}}');
SELECT FROM kanon_cluster('visit', 'out_b', '{age,zip}', 5, method => 'mondrian', keep => '{email}', mask => '{"email": {"partial": [1, 0]}}');
SELECT FROM kanon_full_domain('visit', 'out_c', '{age,zip}', 5, keep => '{email}', mask => '{"email": {"partial": [1, 0]}}');
SELECT FROM kanon_freeform('visit', 'out_d', '{age,cost}', 5, keep => '{email}', mask => '{"email": {"partial": [1, 0]}}', partition_size => 100);
SELECT email, count(*) FROM (SELECT email FROM out_a UNION ALL SELECT email FROM out_b UNION ALL SELECT email FROM out_c UNION ALL SELECT email FROM out_d) AS u GROUP BY 1;
CREATE TABLE basket AS SELECT i AS id, ARRAY['a', 'b', 'c' || i % 2] AS items, 'shop' || i % 3 AS shop FROM generate_series(1, 30) i;
CREATE TABLE line AS SELECT id, unnest(items) AS item, shop FROM basket;
SELECT transactions FROM kanon_transactions('basket', 'out_e', 'items', 5, keep => '{shop}', mask => '{"shop": {"pseudonym": "release"}}', method => 'suppress', h => 100, p => 2, sensitive => '{a}');
SELECT count(DISTINCT shop), bool_and(shop::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-8') FROM out_e;
SELECT transactions FROM kanon_transactions('line', 'out_f', 'item', 5, transaction => 'id', keep => '{shop}', mask => '{"shop": {"constant": "x"}}', method => 'suppress', h => 100, p => 2, sensitive => '{a}');
SELECT shop, count(*) FROM out_f GROUP BY 1;

-- ---- the guards see what is published ----

-- without a mask these identify
SELECT try($$ kanon_pattern_guided('visit', 'no', '{age}', 5, keep => '{note}') $$);
SELECT try($$ kanon_pattern_guided('visit', 'no', '{age}', 5, keep => '{note}', mask => '{"note": {"partial": [0, 4]}}') $$);
SELECT try($$ kanon_pattern_guided('visit', 'no', '{age}', 5, keep => '{note}', mask => '{"note": {"partial": [5, 0]}}') $$);
SELECT try($$ kanon_pattern_guided('visit', 'yes', '{age}', 5, keep => '{note}', mask => '{"note": {"partial": [3, 0]}}') $$);
SELECT try($$ kanon_pattern_guided('visit', 'yes2', '{age}', 5, keep => '{id}', mask => '{"id": {"round": 100}}') $$);
SECURITY LABEL FOR kanon ON COLUMN visit.email IS 'identifier';
SELECT try($$ kanon_pattern_guided('visit', 'no', '{age}', 5, keep => '{email}', mask => '{"email": {"partial": [1, 0]}}') $$);
SELECT try($$ kanon_pattern_guided('visit', 'yes3', '{age}', 5, keep => '{email}', mask => '{"email": {"pseudonym": "release"}}') $$);
SECURITY LABEL FOR kanon ON COLUMN visit.email IS NULL;
-- rules: of persons, who may have pseudonyms; not of what is masked
CREATE VIEW of_persons AS SELECT * FROM visit WHERE id > 0;
SELECT FROM kanon_pattern_guided('of_persons', 'persons', '{age,zip}', 5, keep => '{patient,diagnosis}', mask => '{"patient": {"pseudonym": "release"}}',
    privacy => ARRAY[kanon_subject('patient'), kanon_distinct_l('diagnosis', 2)], residual => 'drop');
SELECT bool_and(n >= 5) AS kept FROM (SELECT count(DISTINCT patient) AS n FROM persons GROUP BY age, zip) AS c;
SELECT try($$ kanon_pattern_guided('visit', 'no', '{age}', 5, keep => '{diagnosis}', mask => '{"diagnosis": {"partial": [1, 0]}}', privacy => ARRAY[kanon_distinct_l('diagnosis', 2)]) $$);
SELECT try($$ kanon_pattern_guided('visit', 'no', '{age}', 5, keep => '{diagnosis}', mask => '{"diagnosis": {"partial": [1, 0]}}', class_column => 'diagnosis') $$);
-- a publication, its rows and persons staged with their key
SELECT kanon_create_publication('nightly', 'visit', '{age,zip}', 5, '{"keep": ["email", "cost"], "mask": {"email": {"partial": [2, 4]}, "cost": {"round": 1000}}}', key => 'id', protect_successive => true);
UPDATE nightly_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('nightly');
SELECT email, count(*), bool_and(cost % 1000 = 0) AS rounded FROM nightly GROUP BY 1;
SELECT kanon_drop_publication('nightly');

-- pseudonyms and shifts that last from release to release, and no longer; whatever else is altered
CREATE VIEW known AS SELECT id, patient, age, zip, admitted FROM visit WHERE patient IS NOT NULL;
SELECT kanon_create_publication('lasting', 'known', '{age,zip}', 5, '{"keep": ["patient", "admitted"], "mask": {"patient": {"pseudonym": "publication"}, "admitted": {"shift": "patient", "days": 30}}}', keep_releases => 3);
UPDATE lasting_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('lasting');
CREATE TABLE first_release AS TABLE lasting;
SELECT kanon_alter_publication('lasting', k => 6);
UPDATE lasting_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('lasting');
SELECT count(*) AS differ FROM ((SELECT patient, admitted FROM lasting EXCEPT ALL SELECT patient, admitted FROM first_release)
    UNION ALL (SELECT patient, admitted FROM first_release EXCEPT ALL SELECT patient, admitted FROM lasting)) AS d;
-- the key: of 32 bytes, its publisher's alone, in no view
SELECT definition.relname ~ '^lasting_publication' AS of_publication, definition.relacl IS NULL AS private
FROM pg_class definition JOIN pg_attribute a ON a.attrelid = definition.oid WHERE a.attname = 'mask_key' AND definition.relnamespace = 'mask_test'::regnamespace;
SELECT length(mask_key) FROM lasting_publication;
SELECT count(*) FROM kanon_publications p WHERE p::text LIKE '%' || encode((SELECT mask_key FROM lasting_publication), 'hex') || '%';
-- pseudonyms are HMAC-SHA-256 with all of it (RFC 2104), of the column's name and the value's text
CREATE FUNCTION padded(key bytea, pad int) RETURNS bytea LANGUAGE sql
    RETURN (SELECT string_agg(set_byte('\x00', 0, CASE WHEN i < length(key) THEN get_byte(key, i) ELSE 0 END # pad), ''::bytea ORDER BY i) FROM generate_series(0, 63) AS i);
CREATE FUNCTION hmac(key bytea, message bytea) RETURNS bytea LANGUAGE sql RETURN sha256(padded(key, 92) || sha256(padded(key, 54) || message));
SELECT count(DISTINCT patient) AS pseudonyms, count(DISTINCT patient) FILTER (WHERE patient IN (
    SELECT encode(set_byte(set_byte(h, 6, get_byte(h, 6) & 15 | 128), 8, get_byte(h, 8) & 63 | 128), 'hex')::uuid
    FROM (SELECT substr(hmac(mask_key, 'patient'::bytea || '\x00' || known.patient::text::bytea), 1, 16) AS h FROM known, lasting_publication) AS hashed)) AS of_the_key FROM lasting;
SELECT kanon_drop_publication('lasting');
SELECT kanon_create_publication('lasting', 'known', '{age,zip}', 5, '{"keep": ["patient", "admitted"], "mask": {"patient": {"pseudonym": "publication"}, "admitted": {"shift": "patient", "days": 30}}}');
UPDATE lasting_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('lasting');
SELECT count(*) AS same FROM lasting JOIN first_release USING (patient);
SELECT kanon_drop_publication('lasting');

-- rows that are taken out to protect persons of releases before take their masked values with them
CREATE TABLE moving AS SELECT i AS id, i % 4 AS a, 'mail' || i % 30 AS email FROM generate_series(1, 40) i;
SELECT kanon_create_publication('protected', 'moving', '{a}', 5, '{"keep": ["email"], "mask": {"email": {"partial": [1, 1]}}, "residual": "drop"}', key => 'id', protect_successive => true);
UPDATE moving SET a = (a + 1) % 4 WHERE id % 7 = 0;
UPDATE protected_history SET digest = NULL; -- as if something had changed
SELECT status, row_count, held_persons FROM kanon_refresh('protected');
SELECT kanon_drop_publication('protected');
-- at least k rows have the bound that a quantile is, however few they are in all
CREATE TABLE incomes AS SELECT i % 2 AS a, i AS income, i::numeric AS wage FROM generate_series(1, 60) i UNION ALL SELECT 0, NULL, NULL FROM generate_series(1, 40);
SELECT FROM kanon_pattern_guided('incomes', 'cut', '{a}', 7, keep => '{income,wage}', mask => '{"income": {"top": 0.99, "bottom": 0.01}, "wage": {"top": {"quantile": 0.5}}}', allow_identifying => '{income,wage}');
SELECT max(income), count(*) FILTER (WHERE income = 54) AS top, min(income), count(*) FILTER (WHERE income = 7) AS bottom, max(wage), count(wage) FROM cut;
-- NaN is no bound: it does not count among the values of a quantile
CREATE TABLE nans AS SELECT i % 3 AS a, CASE WHEN i % 10 = 0 THEN float8 'NaN' ELSE i % 20 END AS x, CASE WHEN i % 10 = 0 THEN numeric 'NaN' ELSE i % 20 END AS y FROM generate_series(1, 200) i;
SELECT FROM kanon_pattern_guided('nans', 'nans_out', '{a}', 5, keep => '{x,y}', mask => '{"x": {"top": 0.95}, "y": {"top": 0.95, "bottom": 0.1}}');
SELECT (SELECT max(x) FROM nans_out) AS x, (SELECT max(y) FROM nans_out) AS y, (SELECT min(y) FROM nans_out) AS least;
-- quantiles of each type, whichever function reads the rows, with NULLs among them: one of the values, by its place
CREATE TABLE spread AS SELECT i AS id, i % 2 AS a, 'd' || i % 4 AS d, (i * 7919 % 401)::int AS n, CASE WHEN i % 10 > 0 THEN (i * 7919 % 401) / 8.0 END::numeric AS m,
    CASE WHEN i % 7 = 0 THEN 'NaN'::float8 ELSE i * 31 % 97 END AS f, date '2026-01-01' + i * 37 % 365 AS at, timestamptz '2026-01-01 00:00+00' + i * 37 % 365 * interval '7 h' AS seen,
    NULL::int AS none, ARRAY['a', 'b'] AS items
FROM generate_series(1, 400) i;
CREATE FUNCTION places(of_column text, of_table text DEFAULT 'spread') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT concat_ws('' '', (array_agg(x ORDER BY x DESC))[count(x) - ceil(0.9 * count(x)) + 1], (array_agg(x ORDER BY x))[ceil(0.2 * count(x))]) FROM (SELECT %I AS x FROM %I WHERE %1$I IS NOT NULL AND %1$I::text <> ''NaN'') AS t', of_column, of_table) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION ends(of_column text, of_table text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT concat_ws('' '', max(%I), min(%1$I)) FROM %I', of_column, of_table) INTO result;
    RETURN result;
END $$;
\set cut '{"n": {"top": 0.9, "bottom": 0.2}, "m": {"top": 0.9, "bottom": 0.2}, "f": {"top": 0.9, "bottom": 0.2}, "at": {"top": 0.9, "bottom": 0.2}, "seen": {"top": 0.9, "bottom": 0.2}, "none": {"top": 0.9, "bottom": 0.2}}'
SELECT FROM kanon_pattern_guided('spread', 'cut_a', '{a}', 5, keep => '{n,m,f,at,seen,none}', mask => :'cut', allow_identifying => '{n,m,f,at,seen}');
SELECT FROM kanon_anatomy('spread', 'cut_b', 'cut_b_values', '{a,n,m,f,at,seen,none}', 'd', 4, mask => :'cut', allow_identifying => '{n,m,f,at,seen}');
SELECT FROM kanon_transactions('spread', 'cut_c', 'items', 5, keep => '{n,m,f,at,seen,none}', mask => :'cut', allow_identifying => '{n,m,f,at,seen}', method => 'suppress', h => 100, p => 2, sensitive => '{a}');
SELECT c, ends(c, 'cut_a') = places(c) AS pattern_guided, ends(c, 'cut_b') = places(c) AS anatomy, ends(c, 'cut_c') = places(c) AS transactions FROM unnest('{n,m,f,at,seen,none}'::text[]) AS c;
-- of one row per item the rows count
CREATE TABLE spread_lines AS SELECT id, item, n FROM spread, unnest(CASE WHEN n > 300 THEN '{a,b,c,d,e,f}'::text[] ELSE '{a,b}' END) AS item;
SELECT FROM kanon_transactions('spread_lines', 'cut_d', 'item', 5, transaction => 'id', keep => '{n}', mask => '{"n": {"top": 0.9, "bottom": 0.2}}', allow_identifying => '{n}', method => 'suppress', h => 100, p => 2, sensitive => '{a}');
SELECT ends('n', 'cut_d') = places('n', 'spread_lines') AS of_rows, ends('n', 'cut_d') <> places('n') AS differs;
-- pseudonyms where nearly every row has a value of its own, which are too many to be remembered: those met again have theirs
CREATE TABLE own AS SELECT i % 58000 AS number, 'person ' || i % 58000 AS name, i / 58000 AS a FROM generate_series(0, 59999) i UNION ALL SELECT 7, 'person 7', 2 FROM generate_series(1, 20000);
SELECT kanon_create_publication('owned', 'own', '{a}', 5, '{"keep": ["number", "name"], "mask": {"number": {"pseudonym": "publication"}, "name": {"pseudonym": "publication"}}}');
SELECT count(*), count(DISTINCT number) AS numbers, count(DISTINCT name) AS names, count(DISTINCT (number, name)) AS pairs FROM owned;
SELECT count(DISTINCT number) AS of_the_key FROM owned WHERE number IN (SELECT encode(set_byte(set_byte(h, 6, get_byte(h, 6) & 15 | 128), 8, get_byte(h, 8) & 63 | 128), 'hex')::uuid
    FROM generate_series(7, 57999, 1000) AS i, owned_publication, substr(hmac(mask_key, 'number'::bytea || '\x00' || i::text::bytea), 1, 16) AS h);
SELECT kanon_drop_publication('owned');
-- numerics, to a power of ten and to others
CREATE TABLE amounts AS SELECT i % 2 AS a, (i * 7919 % 20011 - 10000) / 8.0 AS ten, (i * 7919 % 20011 - 10000) / 8.0 AS tenth, (i * 7919 % 20011 - 10000) / 8.0 AS quarter FROM generate_series(1, 900) i;
SELECT FROM kanon_pattern_guided('amounts', 'amounts_out', '{a}', 7, keep => '{ten,tenth,quarter}', mask => '{"ten": {"round": 10}, "tenth": {"round": 0.1}, "quarter": {"round": 0.25}}', allow_identifying => '{ten,tenth,quarter}');
SELECT count(*) AS differ FROM (SELECT ten, tenth, quarter FROM amounts_out EXCEPT ALL SELECT round(ten / 10) * 10, round(tenth / 0.1) * 0.1, round(quarter / 0.25) * 0.25 FROM amounts) AS d;
-- whole numbers of every size and sign: the half away from zero, but not beyond the type
CREATE TABLE signed AS SELECT i % 2 AS a, (i * 7 - 300)::smallint AS s, i * 13 - 500 AS i, (i * 7919 - 400000)::bigint AS b, ((i - 40) / 7.0)::real AS r FROM generate_series(1, 80) i;
INSERT INTO signed VALUES (1, 32767, 2147483647, 9223372036854775807, 'NaN'), (1, -32768, -2147483648, -9223372036854775808, 'Infinity');
SELECT FROM kanon_pattern_guided('signed', 'signed_out', '{a}', 7, keep => '{s,i,b,r}', mask => '{"s": {"round": 10}, "i": {"round": 10}, "b": {"round": 1000}, "r": {"round": 0.5}}', allow_identifying => '{s,i,b,r}');
SELECT count(*) AS differ FROM (SELECT s, i, b, r FROM signed_out EXCEPT ALL
    SELECT CASE WHEN abs(s::int) > 32760 THEN s / 10 * 10 ELSE round(s / 10.0) * 10 END, CASE WHEN abs(i::bigint) > 2147483640 THEN i / 10 * 10 ELSE round(i / 10.0) * 10 END,
        CASE WHEN abs(b::numeric) > 1e18 THEN b / 1000 * 1000 ELSE round(b / 1000.0) * 1000 END, (round(r / 0.5::float8) * 0.5)::real FROM signed) AS d;
-- a constant and a bound are read alike in every session, and so is what pseudonyms are of
CREATE TABLE dated AS SELECT i % 5 AS a, timestamptz '2024-01-01 12:00+00' + i % 20 * interval '1 day' AS at, date '2024-02-01' + i % 90 AS d, (i % 20) / 7.0::float8 AS f FROM generate_series(1, 400) i;
SELECT kanon_create_publication('dates', 'dated', '{a}', 5, '{"keep": ["at", "d", "f"], "mask": {"at": {"constant": "2024-05-04 10:00"}, "d": {"top": "2024-04-05", "bottom": "2024-02-11"}, "f": {"pseudonym": "publication"}}}');
CREATE TABLE dates_before AS TABLE dates;
SET DateStyle = 'German';
SET TimeZone = 'Asia/Tokyo';
SET extra_float_digits = 0;
UPDATE dates_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('dates');
RESET extra_float_digits;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SELECT count(*) AS differ FROM (TABLE dates EXCEPT ALL TABLE dates_before) AS d;
SELECT min(d), max(d), min(at) FROM dates;
SELECT kanon_drop_publication('dates');

-- ---- what is wrong with a mask ----

\pset format unaligned
\pset tuples_only on
-- (19 spells datestyle otherwise)
CREATE FUNCTION wrong(mask text) RETURNS text LANGUAGE sql AS $$
    SELECT mask || E'\n' || replace(try(format($c$ kanon_pattern_guided('visit', 'x', '{age}', 2, keep => '{patient,cost,email,admitted,diagnosis}', mask => %L) $c$, mask)), 'datestyle', 'DateStyle') $$;
SELECT wrong('[]');
SELECT wrong('{"costs": {"round": 10}}');
SELECT wrong('{"age": {"round": 10}}');
SELECT wrong('{"cost": "round"}');
SELECT wrong('{"cost": {}}');
SELECT wrong('{"cost": {"rond": 10}}');
SELECT wrong('{"cost": {"round": 0}}');
SELECT wrong('{"cost": {"round": 0.5}}');
SELECT wrong('{"cost": {"round": "ten"}}');
SELECT wrong('{"cost": {"round": 10, "constant": 1}}');
SELECT wrong('{"cost": {"top": "many"}}');
SELECT wrong('{"cost": {"top": null}}');
SELECT wrong('{"cost": {"top": 1.0}}');
SELECT wrong('{"cost": {"top": {"quantile": 2}}}');
SELECT wrong('{"cost": {"top": {"median": 2}}}');
SELECT wrong('{"cost": {"partial": [1, 1]}}');
SELECT wrong('{"email": {"round": 1}}');
SELECT wrong('{"email": {"top": 1}}');
SELECT wrong('{"email": {"partial": 1}}');
SELECT wrong('{"email": {"partial": [1]}}');
SELECT wrong('{"email": {"partial": [1, -1]}}');
SELECT wrong('{"email": {"shift": "patient", "days": 3}}');
SELECT wrong('{"admitted": {"shift": "patient"}}');
SELECT wrong('{"admitted": {"shift": "patient", "days": 0}}');
SELECT wrong('{"admitted": {"shift": "zip", "days": 3}}');
SELECT wrong('{"admitted": {"shift": 3, "days": 3}}');
SELECT wrong('{"admitted": {"days": 3}}');
SELECT wrong('{"patient": {"pseudonym": true}}');
SELECT wrong('{"patient": {"pseudonym": "publication"}}');
SELECT wrong('{"cost": {"constant": "many"}}');
SELECT wrong('{"cost": {"constant": []}}');
SELECT wrong('{"admitted": {"top": "yesterdays"}}');
SELECT wrong('{"admitted": {"top": "04/05/2024"}}');
SELECT wrong('{"admitted": {"top": "2020-06-01", "shift": "patient", "days": 3}}');
SELECT wrong('{"email": {"anon": "anon.fake_last_name()"}}');
\pset format aligned
\pset tuples_only off

\set VERBOSITY terse
-- dates and times of each type are shifted, by at most so many days, those of a person alike; what would leave time stays
CREATE TABLE shifts AS SELECT i, i % 20 AS who, 1 AS a, date '2024-01-01' + i AS day, timestamp '2024-01-01' + i * interval '1 hour' AS at,
    timestamptz '2024-01-01 00:00+00' + i * interval '1 hour' AS there FROM generate_series(1, 40) i;
INSERT INTO shifts VALUES (0, 1, 1, 'infinity', '-infinity', 'infinity'), (-1, 1, 1, NULL, NULL, NULL);
SELECT FROM kanon_pattern_guided('shifts', 'shifted', '{a}', 5, keep => '{i,who,day,at,there}', allow_identifying => '{i,who,day,at,there}',
    mask => '{"who": {"constant": 7}, "day": {"shift": "who", "days": 900}, "at": {"shift": "who", "days": 900}, "there": {"shift": "who", "days": 900}}');
SELECT count(*) FILTER (WHERE o.day <> s.day) > 30 AS days, count(*) FILTER (WHERE o.at <> s.at) > 30 AS times, count(*) FILTER (WHERE o.there <> s.there) > 30 AS zoned,
    bool_and(abs(o.day - s.day) <= 900 AND o.at - s.at BETWEEN interval '-900 days' AND interval '900 days' AND o.there - s.there BETWEEN interval '-900 days' AND interval '900 days') AS near,
    count(DISTINCT (s.who, o.day - s.day)) AS by_days, count(DISTINCT (s.who, o.at - s.at)) AS by_times, count(DISTINCT (s.who, o.there - s.there)) AS by_zoned
FROM shifts s JOIN shifted o USING (i) WHERE i > 0;
SELECT i, day, at, there FROM shifted WHERE i < 1 ORDER BY i;
SET client_min_messages = warning;
DROP SCHEMA mask_test CASCADE;
