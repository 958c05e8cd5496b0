-- what a release has lost: every measure by hand, and again by SQL over the target
CREATE SCHEMA measure_test;
SET search_path = measure_test, public;
SET extra_float_digits = 0;

CREATE TABLE people (name text, age int, zip text, sex text, diagnosis text);
INSERT INTO people VALUES
    ('Ann', 30, '12345', 'f', 'flu'),
    ('Bea', 30, '12345', 'f', 'flu'),
    ('Cid', 30, '12346', 'm', 'flu'),
    ('Dan', 30, '12346', 'm', 'gout'),
    ('Eve', 40, '12345', 'f', 'flu'),
    ('Fay', 40, '12347', 'f', 'cold'),
    ('Gus', 50, '99999', 'm', 'gout');

-- Three pairs: Ann and Bea, Cid and Dan whole, Eve and Fay without their zip; Gus
-- is fully suppressed.  Distinct values: age 3, zip 4, sex 2.
--   discernibility  2*2 + 2*2 + 2*2 + 1*7 (suppressed: one of all seven) = 19
--   c_avg           7 rows / 4 classes / k 2 = 0.875
--   iloss           age 1 * 2/3 + zip 3 * 3/4 + sex 1 * 1/2 = 3.416667
--   ncp             five suppressed cells, each standing for its whole column: 5
--   gcp             5 / (7 rows * 3 columns) = 0.238095
--   precision       1 - 5/21 = 0.761905
--   entropy         Gus' age (1 of 7), zip (1 of 7), sex (3 of 7); Eve's zip (3 of
--                   7), Fay's (1 of 7): 3 log2 7 + 2 log2 (7/3) = 10.866850
--   entropy_share   of age 4 log2 (7/4) + 2 log2 (7/2) + log2 7 = 9.651484, zip
--                   3 log2 (7/3) + 2 log2 (7/2) + 2 log2 7 = 12.896597,
--                   sex 4 log2 (7/4) + 3 log2 (7/3) = 6.896597: 0.369060
--   classification  Ann and Bea are both flu: 0; Cid or Dan: 1; Eve or Fay: 1; Gus
--                   is suppressed: 1; 3/7 = 0.428571
SELECT * FROM kanon_pattern_guided('people', 'people_public', '{age,zip,sex}', 2, residual => 'suppress',
    keep => '{diagnosis}', mark => true, class_column => 'diagnosis');
CREATE VIEW loss AS
SELECT discernibility AS dm, c_avg, round(iloss::numeric, 6) AS iloss, round(ncp::numeric, 6) AS ncp,
       round(gcp::numeric, 6) AS gcp, round(precision::numeric, 6) AS precision, round(entropy::numeric, 6) AS entropy,
       round(entropy_share::numeric, 6) AS entropy_share, round(classification::numeric, 6) AS cm, target, run
FROM kanon_usefulness;
SELECT * FROM loss WHERE target = 'measure_test.people_public' \gset last_
SELECT dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE run = :last_run;

-- per column; ncp is the mean over the column's cells
SELECT column_name, type, suppressed, round(share::numeric, 4) AS share, distinct_before, distinct_after,
       round(ncp::numeric, 4) AS ncp, ordinal, numerical
FROM kanon_columns WHERE run = :last_run ORDER BY ordinal;

-- the same by SQL: cells of the marked target, values and their shares in the source
WITH n AS (SELECT count(*)::float8 AS rows FROM people),
cell AS (
    SELECT c.ordinal, substr(t.kanon_pattern, c.ordinal, 1) = '*' AS gone FROM people_public t, generate_series(1, 3) AS c(ordinal)),
domain AS (
    SELECT 1 AS ordinal, count(DISTINCT age)::float8 AS d FROM people
    UNION ALL SELECT 2, count(DISTINCT zip) FROM people UNION ALL SELECT 3, count(DISTINCT sex) FROM people),
class AS (
    SELECT count(*)::float8 AS size, kanon_pattern = '***' AS gone FROM people_public GROUP BY age, zip, sex, kanon_pattern)
SELECT (SELECT sum(size * CASE WHEN gone THEN rows ELSE size END) FROM class, n) AS dm,
       (SELECT rows / (SELECT count(*) FROM class) / 2 FROM n) AS c_avg,
       (SELECT sum((d - 1) / d) FROM cell JOIN domain USING (ordinal) WHERE gone)::numeric(9,6) AS iloss,
       (SELECT count(*) FROM cell WHERE gone) AS ncp,
       (SELECT 1 - avg(gone::int) FROM cell)::numeric(9,6) AS precision;
-- non-uniform entropy: each original row joined with what became of it
WITH original AS (
    SELECT -log(2, (count(*) OVER (PARTITION BY age))::numeric / count(*) OVER ()) AS age,
           -log(2, (count(*) OVER (PARTITION BY zip))::numeric / count(*) OVER ()) AS zip,
           -log(2, (count(*) OVER (PARTITION BY sex))::numeric / count(*) OVER ()) AS sex,
           CASE WHEN name = 'Gus' THEN '***' WHEN name IN ('Eve', 'Fay') THEN '-*-' ELSE '---' END AS pattern
    FROM people)
SELECT round(sum(age * (substr(pattern, 1, 1) = '*')::int + zip * (substr(pattern, 2, 1) = '*')::int
               + sex * (substr(pattern, 3, 1) = '*')::int), 6) AS entropy,
       round(sum(age + zip + sex), 6) AS all
FROM original;
-- classification: rows that are not of their class's most frequent diagnosis
SELECT round(sum(CASE WHEN kanon_pattern = '***' THEN n ELSE n - most END) / sum(n), 6) AS cm
FROM (SELECT kanon_pattern, sum(n) AS n, max(n) AS most
      FROM (SELECT age, zip, sex, kanon_pattern, diagnosis, count(*) AS n FROM people_public GROUP BY 1, 2, 3, 4, 5) d
      GROUP BY age, zip, sex, kanon_pattern) c;

-- weights: iloss, ncp and gcp take them: iloss 2 * 2/3 + 1 * 9/4 + 5 * 1/2 = 6.083333,
-- ncp 2 + 3 + 5 = 10, gcp 10 / (7 * 8) = 0.178571; the others do not
SELECT count(*) FROM kanon_pattern_guided('people', 'people_weighted', '{age,zip,sex}', 2, weights => '{2,1,5}');
SELECT dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE target = 'measure_test.people_weighted';

-- rows left out count as if they were fully suppressed, but for the cells that are
-- published and c_avg, which looks at the published classes: 6 / 3 / 2 = 1
SELECT count(*) FROM kanon_pattern_guided('people', 'people_drop', '{age,zip,sex}', 2, residual => 'drop',
    keep => '{diagnosis}', class_column => 'diagnosis');
SELECT dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE target = 'measure_test.people_drop';
SELECT column_name, suppressed, round(share::numeric, 4) AS share, distinct_after, round(c.ncp::numeric, 4) AS ncp
FROM kanon_columns c JOIN loss USING (run) WHERE target = 'measure_test.people_drop' ORDER BY ordinal;

-- nothing lost: one class that shows everything; a column of one value
CREATE TABLE same AS SELECT 1 AS a, 'x'::text AS b FROM generate_series(1, 10);
SELECT count(*) FROM kanon_pattern_guided('same', 'same_public', '{a,b}', 10);
SELECT dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE target = 'measure_test.same_public';

-- everything lost: dm = n^2, gcp 1, precision 0, entropy_share 1, iloss 2 * 4 * 3/4 = 6;
-- with a column of one value, which nobody misses: ncp 4, gcp 4/8, iloss 3
CREATE TABLE apart AS SELECT i AS a, 'v' || i AS b, 1 AS c FROM generate_series(1, 4) i;
SELECT count(*) FROM kanon_pattern_guided('apart', 'apart_public', '{a,b}', 2, patterns => '{**}');
SELECT count(*) FROM kanon_pattern_guided('apart', 'apart_const', '{a,c}', 2, patterns => '{**}');
SELECT target, dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE target LIKE '%.apart%' ORDER BY run;
SELECT column_name, suppressed, share, distinct_before, distinct_after, c.ncp
FROM kanon_columns c JOIN loss USING (run) WHERE target LIKE '%.apart%' ORDER BY run, ordinal;

-- nothing at all: no measure, no column
CREATE TABLE nobody (LIKE people);
SELECT count(*) FROM kanon_pattern_guided('nobody', 'nobody_public', '{age,zip}', 5, keep => '{diagnosis}', class_column => 'diagnosis');
SELECT dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE target = 'measure_test.nobody_public';
SELECT column_name, suppressed, share, distinct_before, distinct_after, c.ncp
FROM kanon_columns c JOIN loss USING (run) WHERE target = 'measure_test.nobody_public' ORDER BY ordinal;

-- NULL, not-a-number and infinities are values: a suppressed cell stands for the
-- whole column whatever is in it, and every measure stays finite
CREATE TABLE odd (f float8, n numeric, d date);
INSERT INTO odd VALUES ('NaN', 'NaN', 'infinity'), ('NaN', 'NaN', 'infinity'), ('Infinity', 'Infinity', '-infinity'),
    ('-Infinity', 1, 'infinity'), (1, 1, '2020-01-01'), (2, 2, NULL), (NULL, NULL, NULL);
SELECT count(*) FROM kanon_pattern_guided('odd', 'odd_public', '{f,n,d}', 2);
SELECT dm, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, cm FROM loss WHERE target = 'measure_test.odd_public';
SELECT usefulness BETWEEN 0 AND 3 AS finite FROM kanon_usefulness WHERE target = 'measure_test.odd_public';
SELECT column_name, suppressed, distinct_before, distinct_after, round(c.ncp::numeric, 4) AS ncp
FROM kanon_columns c JOIN loss USING (run) WHERE target = 'measure_test.odd_public' ORDER BY ordinal;

-- cells per column add up to the run's; types as declared
SELECT u.target, u.suppressed_cells = sum(c.suppressed) AS adds_up
FROM kanon_usefulness u JOIN kanon_columns c USING (run) WHERE u.target LIKE 'measure_test.%' GROUP BY u.run, u.target, u.suppressed_cells ORDER BY u.run;
CREATE DOMAIN plz AS varchar(5);
CREATE TABLE typed (z plz, v varchar(7), n numeric(5,2), t timestamp(0), "Größe" text[]);
INSERT INTO typed VALUES ('1', 'a', 1, '2020-01-01', '{a}'), ('1', 'a', 1, '2020-01-01', '{a}');
SELECT count(*) FROM kanon_pattern_guided('typed', 'typed_public', '{z,v,n,t,Größe}', 2, categorical => '{n}');
SELECT column_name, type, numerical FROM kanon_columns JOIN loss USING (run) WHERE target = 'measure_test.typed_public' ORDER BY ordinal;

-- the call is recorded: names and rules, never a value
SELECT kept, version, options FROM kanon_usefulness WHERE target = 'measure_test.people_public';
SELECT count(*) FROM kanon_pattern_guided('people', 'people_rules', '{age,zip,sex}', 2, keep => '{diagnosis,name}',
    rules => kanon_rules(max_suppressed => 1), residual => 'drop', seed => 7, time_limit => NULL);
SELECT kept, options->'rules' AS rules, options->'residual' AS residual, options->'seed' AS seed, options ? 'time_limit' AS limited
FROM kanon_usefulness WHERE target = 'measure_test.people_rules';

-- by clusters: of four women one has not flu, of three men one has not gout: 2/7
SELECT * FROM kanon_pattern_clustering('people', 'people_teams', '{age,zip,sex}', 3, patterns => '{**-,**-}', method => 'greedy',
    keep => '{diagnosis}', class_column => 'diagnosis');
SELECT cm FROM loss WHERE target = 'measure_test.people_teams';
SELECT options->'class_column' AS recorded FROM kanon_usefulness WHERE target = 'measure_test.people_teams';
SELECT * FROM kanon_pattern_clustering('people', 'o', '{age}', 2, patterns => '{-}', class_column => 'diagnosis');

-- a class column must be kept and comparable; without writing it is only checked
SELECT * FROM kanon_pattern_guided('people', 'o', '{age}', 2, class_column => 'diagnosis');
SELECT * FROM kanon_pattern_guided('people', 'o', '{age}', 2, keep => '{diagnosis}', class_column => 'nope');
SELECT * FROM kanon_pattern_guided('people', 'o', '{age}', 2, keep => '{diagnosis}', class_column => 'age');
ALTER TABLE people ADD j json;
SELECT * FROM kanon_pattern_guided('people', 'o', '{age}', 2, keep => '{j}', class_column => 'j');
SELECT count(*) FROM kanon_pattern_guided('people', NULL, '{age}', 2, keep => '{diagnosis}', class_column => 'diagnosis', dry_run => true);
-- columns named like those of kanon's own query, and unmarked NULLs, which a reader
-- of the target takes for suppressed: the row of NULLs throughout counts as blank
CREATE TABLE named (n text, blank int, c1 int, mark text, most text);
INSERT INTO named VALUES ('a', 1, 1, 'p', 'x'), ('a', 1, 1, 'q', 'y'), (NULL, NULL, NULL, 'r', 'x'), (NULL, NULL, NULL, 'r', 'x');
SELECT count(*) FROM kanon_pattern_guided('named', 'named_public', '{n,blank,c1}', 2, keep => '{mark,most}', class_column => 'most');
SELECT cm FROM loss WHERE target = 'measure_test.named_public';

-- other people's runs stay theirs
CREATE ROLE kanon_test_other;
SET ROLE kanon_test_other;
SELECT count(*) FROM kanon_columns;
SELECT count(*) FROM kanon_run_column;
RESET ROLE;
DROP ROLE kanon_test_other;
-- in one spelling, whatever that of the session is
SET IntervalStyle = 'iso_8601';
SELECT count(*) FROM kanon_pattern_guided('people', 'people_iso', '{age}', 2, time_limit => 'PT1M30S');
SET IntervalStyle = 'sql_standard';
SELECT count(*) FROM kanon_pattern_guided('people', 'people_sql', '{age}', 2, time_limit => '0:01:30');
RESET IntervalStyle;
SELECT DISTINCT options->'time_limit' AS time_limit FROM kanon_usefulness WHERE target IN ('measure_test.people_iso', 'measure_test.people_sql');
\set VERBOSITY terse
SET client_min_messages = warning;

-- Values that stand for nothing measured are far from the data, and leave its range as it is: each of these tables has
-- lost about the same, and no method makes years of days for nothing.
CREATE TABLE stays AS SELECT i AS id, date '2020-01-01' + i * 37 % 700 AS day, i * 7 % 90 AS age, 'c' || i * 7 % 20 AS city FROM generate_series(1, 500) AS i;
CREATE FUNCTION lost(call text, day text, age text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW sentinels AS SELECT CASE WHEN id %% 25 = 0 THEN %L ELSE day END AS day, CASE WHEN id %% 25 = 1 THEN %L ELSE age END AS age, city FROM stays', day, age);
    EXECUTE format('SELECT FROM kanon_%s, replace => true)', format(call, $q$'sentinels', 'lost_target', '{day,age,city}', 5$q$,
        $q$hierarchies => '{"day": {"date": ["month", "quarter", "year"]}, "age": {"interval": [5, 10, 20]}}'$q$));
    RETURN (SELECT round(u.gcp::numeric, 4) FROM kanon_usefulness u ORDER BY run DESC LIMIT 1);
END $$;
SELECT call, round(without, 1) AS without, (SELECT bool_and(abs(lost(call, day, age) / without - 1) < 0.2)
        FROM (VALUES ('9999-12-31', NULL), ('0001-01-01', '999998'), ('infinity', '-99999')) AS v (day, age)) AS alike
    FROM (SELECT call, lost(call, NULL, NULL) AS without
    FROM unnest('{"pattern_guided(%s, %s","pattern_guided(%s, %s, method => ''improve'', effort => 0.001","full_domain(%s, %s","subtree(%s, %s","cluster(%s","cluster(%s, method => ''gather''","freeform(%s, %s, method => ''ring''"}'::text[]) AS call OFFSET 0) AS c;
-- and of means
CREATE VIEW for_ever AS SELECT CASE WHEN id % 25 = 0 THEN '9999-12-31' ELSE day END AS day, city FROM stays;
SELECT count(*) FROM kanon_cluster('for_ever', 'for_ever_target', '{day,city}', 5);
SELECT measure, abs(after - before) < 86400 * 40 AS near, before BETWEEN 86400 * 150 AND 86400 * 20000::numeric AS days FROM kanon_compare('for_ever', 'for_ever_target', '{day}', queries => 0)
    WHERE measure IN ('mean', 'standard_deviation') ORDER BY measure;
DROP SCHEMA measure_test CASCADE;
