-- linkage tried out: the counts are those of plain SQL, whatever cells show
CREATE SCHEMA attack_test;
SET search_path = attack_test, public;
CREATE TABLE visits AS SELECT i AS nr, i % 25 AS person, 20 + i * 7 % 8 * 3 AS age, '10' || i % 2 || i / 2 % 3 AS zip,
    CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex, 'd' || i % 5 AS diagnosis FROM generate_series(1, 60) i;
INSERT INTO visits VALUES (61, 3, NULL, '109', 'x', 'd1');
CREATE TABLE zips AS SELECT DISTINCT zip AS value, left(zip, 2) || '*' AS zip2, left(zip, 1) || '**' AS zip1 FROM visits;
SELECT FROM kanon_pattern_guided('visits', 'kept', '{age,zip,sex}', 4, keep => '{diagnosis}');
SELECT FROM kanon_pattern_guided('visits', 'dropped', '{age,zip,sex}', 4, residual => 'drop');
SELECT FROM kanon_pattern_guided('visits', 'levels', '{age,zip,sex}', 4, hierarchies => '{"zip": "zips"}');
SELECT FROM kanon_cluster('visits', 'ranges', '{age,zip,sex}', 4);
SELECT FROM kanon_freeform('visits', 'sets', '{age,zip,sex}', 4);
-- a copy that has the key
SELECT FROM kanon_pattern_guided('visits', 'copy', '{age,zip,sex}', 4, keep => '{nr}', allow_identifying => '{nr}');

-- as many trials as rows look for each once
CREATE FUNCTION attacked(target regclass, hierarchies jsonb DEFAULT NULL) RETURNS TABLE (measure text, value numeric) LANGUAGE sql AS $$
    SELECT measure, round(value::numeric, 9) FROM kanon_attack('visits', target, 'nr', '{age,zip,sex}', 100, hierarchies) WHERE measure <> 'success_observed'
$$;
CREATE FUNCTION by_hand(target regclass, fits text, own text DEFAULT 'least(count(*), 1)') RETURNS TABLE (measure text, value numeric) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT v.measure, round(v.value::numeric, 9) FROM (
            SELECT count(*) AS trials, count(*) FILTER (WHERE fits > 0) AS found, min(fits) AS least, avg(fits) AS mean,
                   max(coalesce(own::float8 / nullif(fits, 0), 0)) AS highest, avg(coalesce(own::float8 / nullif(fits, 0), 0)) AS expected
            FROM (SELECT (SELECT count(*) FROM %1$s t WHERE %2$s) AS fits, (SELECT %3$s FROM %1$s t WHERE %2$s) AS own FROM visits s) r) r,
        LATERAL (VALUES ('trials', r.trials::float8), ('found', r.found), ('matches_least', r.least), ('matches_average', r.mean), ('success_highest', r.highest),
                        ('success_expected', r.expected), ('success_promised', 0.25)) AS v (measure, value)$q$, target, fits, own);
END $$;
SELECT * FROM attacked('kept');
SELECT count(*) AS same FROM attacked('kept') JOIN by_hand('kept', '(t.age IS NULL OR t.age = s.age) AND (t.zip IS NULL OR t.zip = s.zip) AND (t.sex IS NULL OR t.sex = s.sex)') USING (measure, value);
SELECT count(*) AS same FROM attacked('levels', '{"zip": "zips"}') JOIN by_hand('levels', '(t.age IS NULL OR t.age = s.age) AND (t.sex IS NULL OR t.sex = s.sex)
    AND (t.zip IS NULL OR t.zip IN (s.zip, left(s.zip, 2) || ''*'', left(s.zip, 1) || ''**''))') USING (measure, value);
SELECT count(*) AS same FROM attacked('levels', '{"zip": "zips"}') a JOIN attacked('levels', '{"zip": {"prefix": [2, 1]}}') b USING (measure, value);
-- the run knows its hierarchies
SELECT count(*) AS same FROM attacked('levels', '{"zip": "zips"}') a JOIN attacked('levels') b USING (measure, value);
SELECT count(*) AS same FROM attacked('ranges') JOIN by_hand('ranges', '(t.age IS NULL OR t.age @> s.age) AND (t.zip IS NULL OR t.zip = s.zip) AND (t.sex IS NULL OR t.sex = s.sex)') USING (measure, value);
SELECT count(*) AS same FROM attacked('sets') JOIN by_hand('sets', '(t.age IS NULL OR t.age @> s.age) AND (t.zip IS NULL OR s.zip = ANY (t.zip)) AND (t.sex IS NULL OR s.sex = ANY (t.sex))') USING (measure, value);
SELECT count(*) AS same FROM attacked('copy') JOIN by_hand('copy', '(t.age IS NULL OR t.age = s.age) AND (t.zip IS NULL OR t.zip = s.zip) AND (t.sex IS NULL OR t.sex = s.sex)', 'count(*) FILTER (WHERE t.nr = s.nr)') USING (measure, value);
-- nobody does better than promised, but where a blank row is all that fits the odd one; who attacks the source itself does
SELECT t, (SELECT value FROM attacked(t::regclass, CASE t WHEN 'levels' THEN '{"zip": "zips"}'::jsonb END) WHERE measure = 'success_highest') <= 0.25 AS kept FROM unnest('{kept,levels,ranges,sets,copy,dropped}'::text[]) t;
SELECT measure, value FROM attacked('dropped') WHERE measure IN ('trials', 'found', 'success_highest');
SELECT x ->> 'verdict' AS verdict, x ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(run) -> 'verdicts') AS x WHERE target IN ('attack_test.kept', 'attack_test.dropped') AND x ->> 'about' = 'quasi_identifiers' ORDER BY run;
SELECT measure, value FROM attacked('visits') WHERE measure LIKE 'success%';
-- what was drawn is near what was expected
SELECT abs(max(value) FILTER (WHERE measure = 'success_observed') - max(value) FILTER (WHERE measure = 'success_expected')) < 0.2 AS near
FROM (SELECT measure, avg(value) AS value FROM generate_series(1, 20), kanon_attack('visits', 'kept', 'nr', '{age,zip,sex}', 61) GROUP BY measure) a;
SELECT value FROM kanon_attack('visits', 'kept', 'nr', '{age,zip,sex}', 7) WHERE measure = 'trials';
-- a promise that is not about rows; nothing that was recorded
CREATE TABLE everybody AS SELECT age, zip, sex FROM visits, generate_series(1, 4);
SELECT FROM kanon_full_domain('visits', 'mapped', '{age,zip,sex}', 4, privacy => ARRAY[kanon_k_map('everybody')]);
SELECT value FROM kanon_attack('visits', 'mapped', 'nr', '{age,zip,sex}') WHERE measure = 'success_promised';
CREATE VIEW renamed AS SELECT * FROM kept;
SELECT value FROM kanon_attack('visits', 'renamed', 'nr', '{age,zip,sex}') WHERE measure = 'success_promised';

-- sets with gaps; a level that is none of the source's; somebody's NULL fits nothing but what shows nothing, or NULL
CREATE TABLE gaps AS SELECT ARRAY[20, 26, 41] AS age, ARRAY['100', '102'] AS zip, 'f' AS sex UNION ALL SELECT ARRAY[20, 23], NULL, NULL UNION ALL SELECT '{}', NULL, NULL UNION ALL SELECT NULL, ARRAY['109', NULL], 'x';
SELECT count(*) AS same FROM attacked('gaps') JOIN by_hand('gaps', '(t.age IS NULL OR t.age @> ARRAY[s.age]) AND (t.zip IS NULL OR s.zip = ANY (t.zip)) AND (t.sex IS NULL OR s.sex = ANY (ARRAY[t.sex]))') USING (measure, value);
SELECT * FROM attacked('gaps');
CREATE TABLE levels_gone AS SELECT age, 'nowhere' AS zip, sex FROM visits;
SELECT measure, value FROM attacked('levels_gone', '{"zip": "zips"}') WHERE measure IN ('found', 'matches_least', 'success_highest');
-- what other tools write for nothing
CREATE TABLE zips_top AS SELECT *, '*'::text AS top FROM zips;
CREATE TABLE starred AS SELECT age, coalesce(zip, '*') AS zip, sex FROM levels;
SELECT count(*) AS same FROM attacked('starred', '{"zip": "zips_top"}') a JOIN attacked('levels', '{"zip": "zips"}') b USING (measure, value);
CREATE TABLE nobody AS SELECT age, zip, sex FROM visits LIMIT 0;
SELECT measure, value FROM attacked('nobody') WHERE measure IN ('found', 'matches_least', 'success_highest');
CREATE TABLE no_visits AS SELECT * FROM visits LIMIT 0;
SELECT measure, value FROM kanon_attack('no_visits', 'kept', 'nr', '{age,zip,sex}');

-- by distance, against the same in plain SQL: numbers in standard deviations, other values the same or not, NULL apart from all others
CREATE TABLE wages AS SELECT i AS nr, CASE WHEN i <> 7 THEN i * i % 37 END AS wage, i * 13 % 29 / 4.0 AS hours, 'j' || i % 4 AS job FROM generate_series(1, 40) AS i;
CREATE TABLE wages_moved AS SELECT nr, (wage + (nr * 7 % 5 - 2) * 2)::float8 AS wage, hours + nr * 11 % 3 - 1 AS hours, CASE WHEN nr % 5 = 0 THEN 'j1' ELSE job END AS job FROM wages WHERE nr <> 11;
CREATE FUNCTION linked_by_hand() RETURNS TABLE (measure text, value numeric) LANGUAGE sql AS $$
    WITH spread AS (SELECT stddev(wage) AS wage, stddev(hours) AS hours FROM wages),
    apart AS (SELECT s.nr, t.nr AS other, (coalesce((t.wage - s.wage) / d.wage, num_nulls(s.wage, t.wage) % 2) ^ 2 + ((t.hours - s.hours) / d.hours) ^ 2 + (s.job <> t.job)::int)::numeric(30, 9) AS square FROM wages s, wages_moved t, spread d),
    ranked AS (SELECT a.nr, count(*) FILTER (WHERE b.square < a.square) AS nearer, count(*) FILTER (WHERE b.square = a.square) AS equal FROM apart a JOIN apart b USING (nr) WHERE a.nr = a.other GROUP BY a.nr)
    SELECT 'linked_nearest', round(sum(CASE WHEN nearer = 0 THEN 1.0 / equal ELSE 0 END) / 40, 6) FROM ranked UNION ALL SELECT 'linked_two', round(sum(least(1, greatest(0, 2.0 - nearer) / equal)) / 40, 6) FROM ranked $$;
SELECT a.measure, round(a.value::numeric, 6) AS value, h.value = round(a.value::numeric, 6) AS by_hand FROM kanon_attack('wages', 'wages_moved', 'nr', '{wage,hours,job}', 100, knowledge => 'distance') a LEFT JOIN linked_by_hand() h USING (measure);
-- who publishes values as they are is found; means of ten give one of ten away, and swapped or redrawn values little
CREATE TABLE payroll AS SELECT i AS nr, (i * 7919 % 1009) AS wage, i * 104729 % 997 AS age, 'j' || i % 9 AS job FROM generate_series(1, 500) AS i;
CREATE FUNCTION linked(mask jsonb, columns name[] DEFAULT '{wage,age}') RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kanon_pattern_guided('payroll', 'masked', '{job}', 2, keep => '{nr,wage,age}', allow_identifying => '{nr,wage,age}', mask => mask, replace => true);
    RETURN round((SELECT value FROM kanon_attack('payroll', 'masked', 'nr', columns, knowledge => 'distance') WHERE measure = 'linked_nearest')::numeric, 1);
END $$;
SELECT linked('{}') AS unmasked, linked('{"wage": {"microaggregate": 10, "group": "g"}, "age": {"microaggregate": 10, "group": "g"}}') AS means,
       linked('{"wage": {"noise": 0.5}, "age": {"noise": 0.5}}') < 0.3 AS noise, linked('{"wage": {"swap": 50}, "age": {"swap": 50}}') < 0.1 AS swapped, linked('{"wage": {"pram": 0.1}, "age": {"pram": 0.1}}') < 0.2 AS redrawn;
SELECT measure, value FROM kanon_attack('no_visits', 'visits', 'nr', '{age,zip,sex}', knowledge => 'distance');

-- errors
SELECT * FROM kanon_attack('visits', 'kept', 'nr', '{age}', knowledge => 'distance');
SELECT * FROM kanon_attack('visits', 'visits', 'nr', '{age}', knowledge => 'anything');
SELECT * FROM kanon_attack('wages', 'visits', 'nr', '{wage}', knowledge => 'distance');
CREATE VIEW wages_text AS SELECT nr, wage::text AS wage FROM wages;
SELECT * FROM kanon_attack('wages', 'wages_text', 'nr', '{wage}', knowledge => 'distance');
SELECT * FROM kanon_attack('visits', 'kept', 'nr', '{age,name}');
SELECT * FROM kanon_attack('visits', 'kept', 'age', '{age}');
SELECT * FROM kanon_attack('visits', 'kept', 'nr', '{age}', 0);
SELECT * FROM kanon_attack('visits', 'kept', NULL, '{age}');
SELECT * FROM kanon_attack('visits', 'everybody', 'nr', '{age}', hierarchies => '{"age": "nothing"}');
-- a release's own hierarchies, of which one column is known
SELECT measure, value FROM kanon_attack('visits', 'levels', 'nr', '{age}', 100, hierarchies => '{"zip": "zips"}') WHERE measure = 'found';
SELECT measure, value FROM kanon_attack('visits', 'levels', 'nr', '{age}', 100, hierarchies => '{"nope": "zips"}') WHERE measure = 'found';
ALTER TABLE everybody ALTER age TYPE text;
SELECT * FROM kanon_attack('visits', 'everybody', 'nr', '{age}');
-- as the caller
CREATE ROLE kanon_test_attacker;
GRANT USAGE ON SCHEMA attack_test TO kanon_test_attacker;
GRANT SELECT ON visits TO kanon_test_attacker;
SET ROLE kanon_test_attacker;
\set VERBOSITY sqlstate
SELECT * FROM kanon_attack('visits', 'kept', 'nr', '{age}');
RESET ROLE;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA attack_test CASCADE;
DROP ROLE kanon_test_attacker;
