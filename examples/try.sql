-- kanon from psql: what a k would cost, then a release, checked by plain SQL.  In a
-- database of your own (psql -f examples/try.sql); everything is in one schema, which
-- DROP SCHEMA kanon_try CASCADE takes out again.
-- prints: ^ 5 \| +
\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA kanon_try;
SET search_path = kanon_try, public;
\ir hospital.sql
CREATE VIEW admitted AS
SELECT extract(year FROM birth_date)::int AS birth_year, zip, sex, admitted, diagnosis FROM patients;

\set hierarchies '{"birth_year": {"interval": [5, 10, 20]}, "zip": {"prefix": [3]}, "admitted": {"date": ["month", "quarter"]}}'
SELECT k, round(gcp::numeric, 3) AS lost, classes
  FROM kanon_frontier('admitted', '{birth_year,zip,sex,admitted}', '{2,5,10}', hierarchies => :'hierarchies');

-- the same again, written; \gset keeps what came out for the next lines
SELECT count(*) AS patterns, sum(row_count) AS rows
  FROM kanon_pattern_guided('admitted', 'admitted_public', '{birth_year,zip,sex,admitted}', 5,
       keep => '{diagnosis}', hierarchies => :'hierarchies') \gset
\echo :rows rows under :patterns patterns
SELECT min(n) AS k, sum(n) AS rows
  FROM (SELECT count(*) AS n FROM admitted_public
         WHERE num_nonnulls(birth_year, zip, sex, admitted) > 0   -- rows that show nothing are nobody's
         GROUP BY birth_year, zip, sex, admitted) AS classes;
