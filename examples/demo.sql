-- kanon in five minutes.  "make demo" runs this on a throwaway server; in a
-- database of your own (psql -f examples/demo.sql) it keeps to the schema
-- kanon_demo, and DROP SCHEMA kanon_demo CASCADE takes it out again.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
\pset null '*'
\encoding UTF8
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA kanon_demo;
SET search_path = kanon_demo, public;

\echo
\echo '== 1. A hospital has 20,000 patients on file (all of them invented) =='
\echo
\ir hospital.sql
SELECT full_name, birth_date, zip, sex, diagnosis, insurance_no
  FROM patients ORDER BY patient_no LIMIT 5;

\echo 'Researchers are to get the diagnoses, with year of birth, zip code and sex.'
\echo 'Leaving out the names is not enough:'
\echo

CREATE VIEW patients_by_year AS
SELECT extract(year FROM birth_date)::int AS birth_year, * FROM patients;

\echo '   SELECT * FROM kanon_check(''patients_by_year'', ''{birth_year,zip,sex}'');'
\echo
SELECT k, classes, row_count, unique_rows, round(avg_class::numeric, 1) AS avg_class, max_class
  FROM kanon_check('patients_by_year', '{birth_year,zip,sex}');

\echo 'unique_rows counts the patients who are alone with their year, zip and sex.'
\echo 'An attacker who knows these three of a neighbour can look up the diagnosis:'
\echo

-- the first such patient; the row is kept for later
CREATE TEMP TABLE neighbour AS
SELECT full_name, birth_year, zip, sex FROM patients_by_year
 WHERE (birth_year, zip, sex) IN
       (SELECT birth_year, zip, sex FROM patients_by_year GROUP BY 1, 2, 3 HAVING count(*) = 1)
 ORDER BY patient_no LIMIT 1;
SELECT n.full_name AS neighbour, p.birth_year, p.zip, p.sex, p.diagnosis
  FROM neighbour AS n JOIN patients_by_year AS p USING (birth_year, zip, sex);

\echo '== 2. Publish the table so that nobody stands among fewer than five =='
\echo
\echo '   SELECT * FROM kanon_pattern_guided('
\echo '       source            => ''patients_by_year'','
\echo '       target            => ''patients_public'','
\echo '       quasi_identifiers => ''{birth_year,zip,sex}'','
\echo '       k                 => 5,'
\echo '       keep              => ''{diagnosis}'');'
\echo
SELECT * FROM kanon_pattern_guided(
    source            => 'patients_by_year',
    target            => 'patients_public',
    quasi_identifiers => '{birth_year,zip,sex}',
    k                 => 5,
    keep              => '{diagnosis}');

\echo 'One line per pattern. "---" keeps all three columns, and most rows could keep'
\echo 'them; a "*" is a cell that had to be blanked for the row to be one of five or'
\echo 'more alike: the first stands for birth_year, the second for zip, the third for'
\echo 'sex. What nobody listed, such as names and insurance numbers, is not there.'
\echo
\echo '== 3. What was published (a few rows of each pattern; * is NULL) =='
\echo
SELECT birth_year, zip, sex, diagnosis
  FROM (SELECT *, num_nulls(birth_year, zip, sex) AS blanks,
               row_number() OVER (PARTITION BY birth_year IS NULL, zip IS NULL, sex IS NULL
                                  ORDER BY md5(concat(birth_year, zip, sex, diagnosis))) AS nr
          FROM (SELECT DISTINCT birth_year, zip, sex, diagnosis FROM patients_public) AS d) AS p
 WHERE nr <= 2
 ORDER BY blanks, birth_year IS NULL, zip IS NULL, sex IS NULL, nr;

\echo 'What it cost:'
\echo
SELECT row_count, suppressed_cells,
       round(100 * suppressed_share::numeric, 1) || ' %' AS share,
       classes, class_min, round(class_avg::numeric, 1) AS class_avg, class_max
  FROM kanon_usefulness
 ORDER BY run DESC LIMIT 1;

\echo 'Check it without trusting kanon''s own word:'
\echo
SELECT relation, k, classes, row_count, unique_rows, blank_rows
  FROM (SELECT 'patients_by_year' AS relation, * FROM kanon_check('patients_by_year', '{birth_year,zip,sex}')
        UNION ALL
        SELECT 'patients_public', * FROM kanon_check('patients_public', '{birth_year,zip,sex}')) AS c;

\echo 'blank_rows show none of the three columns (above, they count as one class); all'
\echo 'others stand among at least k.'
\echo
\echo '== 4. The neighbour again =='
\echo
SELECT n.full_name AS neighbour,
       count(*) AS rows_that_fit,
       count(DISTINCT p.diagnosis) AS diagnoses
  FROM neighbour AS n, patients_public AS p
 WHERE coalesce(p.birth_year, n.birth_year) = n.birth_year
   AND coalesce(p.zip, n.zip) = n.zip
   AND coalesce(p.sex, n.sex) = n.sex
 GROUP BY n.full_name;

\echo 'k-anonymity hides who is who. It does not help when all of a class share one'
\echo 'diagnosis; doc/explanation/guarantees.md says what is guaranteed.'
\echo
\echo '== 5. Would another k have been better? =='
\echo
\echo '   SELECT * FROM kanon_frontier(''patients_by_year'', ''{birth_year,zip,sex}'', ''{2,5,10,20,50}'');'
\echo
SELECT k, suppressed_cells, round(100 * suppressed_share::numeric, 1) || ' %' AS share,
       round(usefulness::numeric, 2) AS usefulness, classes, class_max, residual_rows
  FROM kanon_frontier('patients_by_year', '{birth_year,zip,sex}', '{2,5,10,20,50}');

\pset null ''
\echo 'What costs most, and what would help (kanon_explain, the first lines):'
\echo
SELECT aspect, subject, suppressed_cells, saved_cells, detail
  FROM kanon_explain('patients_by_year', '{birth_year,zip,sex}', 5)
 WHERE aspect IN ('release', 'column', 'left out');

\echo '== 6. A page for the person who signs =='
\echo
\if :{?report}
\else
\set report kanon-report.html
\endif
SELECT max(run) AS run FROM kanon_usefulness \gset
\pset format unaligned
\pset tuples_only on
\o :report
SELECT kanon_report(:run, read_target => true, frontier => '{2,3,4,5,7,10,15,20,30,50}');
\o
\pset tuples_only off
\pset format aligned
\echo 'What was done, under which rules, what was lost and which risk is left: one file,'
\echo 'without a data value in it, to be opened in any browser:'
\echo
\echo '  ' :report
\echo
