-- the risk of any relation: by hand, by independent SQL, and with bad input
CREATE SCHEMA risk_test;
SET search_path = risk_test, public;
SET extra_float_digits = 0;

CREATE TABLE visits (patient int, age int, zip text, diagnosis text);
INSERT INTO visits VALUES
    (1, 30, 'A', 'flu'), (1, 30, 'A', 'flu'), (1, 30, 'A', 'gout'), (2, 30, 'A', 'flu'),
    (3, 40, 'A', 'cold'), (4, 40, 'A', 'cold'), (5, 40, 'A', 'flu'),
    (6, 50, 'B', 'gout'),
    (7, 60, 'B', NULL), (7, 60, 'B', NULL);

-- Classes of 4, 3, 1 and 2 rows: k 1, one row alone; of the 10 rows 1 is in a class
-- below 2, 3 below 3, all below 5. Risk: highest 1/1, average 4 classes / 10 rows,
-- above 0.3 where the class has fewer than 4: 6 of 10.
-- Diagnosis (flu 4, cold 2, gout 2, NULL 2 in the table; in order cold, flu, gout, NULL):
--   distinct        {flu, gout}: 2, {cold, flu}: 2, {gout}: 1, {NULL}: 1; least 1
--   entropy         least exp(0) = 1
--   recursive (c,2) r1 / (r2 + ...): 3/1, 2/1, then none
--   alpha           most: 1
--   t, equal        {NULL}: 1 - 2/10 = 0.8; {gout} the same; {flu 3, gout 1}: (3/4 - 4/10)
--                   + (1/4 - 2/10) = 0.4; {cold 2, flu 1}: 2/3 - 2/10 = 0.467
--   t, ordered      sums of the table .2 .6 .8 of the class {NULL} 0 0 0: 1.6 / 3 = 0.5333;
--                   {gout} 0 0 1: 1/3; {flu, gout} 0 .75 1: .55/3; {cold, flu} .667 1 1: 1.067/3
SELECT measure, sensitive_column AS sensitive, round(value::numeric, 4) AS value, meaning
FROM kanon_risk('visits', '{age,zip}', '{diagnosis}', threshold => 0.3);
SELECT * FROM kanon_check('visits', '{age,zip}');

-- In persons: classes of 2, 3, 1 and 1; patient 1 counts once as flu and once as
-- gout. Highest 1, average 4/7; above 0.4: 2 + 1 + 1 of 7. Alpha of the first class
-- 2 of 2 persons have flu; t is taken from 8 pairs: flu 3, cold 2, gout 2, NULL 1.
SELECT measure, sensitive_column AS sensitive, round(value::numeric, 4) AS value, meaning
FROM kanon_risk('visits', '{age,zip}', '{diagnosis}', subject => 'patient', threshold => 0.4);
-- what a person adds by coming again: nothing but rows
CREATE TEMP TABLE once AS SELECT * FROM kanon_risk('visits', '{age,zip}', '{diagnosis}', subject => 'patient');
INSERT INTO visits VALUES (6, 50, 'B', 'gout'), (6, 50, 'B', 'gout');
SELECT measure, once.value AS before, again.value AS after
FROM once JOIN kanon_risk('visits', '{age,zip}', '{diagnosis}', subject => 'patient') again USING (measure, meaning)
WHERE once.value IS DISTINCT FROM again.value ORDER BY 1;

-- A population of 40: the classes (4, 3, 3, 2 rows) fit 20, 10, 5 and 1 of it: the
-- last has fewer there than here, so its own 2 are taken.
--   journalist      highest 1/2; average the more of 4 classes / (20 + 10 + 5 + 2) = 0.1081
--                   and marketer; above 0.15: 3 + 2 of 12
--   marketer        (4/20 + 3/10 + 3/5 + 2/2) / 12 = 0.175
--   presence        2/2 and 4/20
CREATE TABLE registry (name text, age int, zip text);
INSERT INTO registry SELECT 'n', 30, 'A' FROM generate_series(1, 20);
INSERT INTO registry SELECT 'n', 40, 'A' FROM generate_series(1, 10);
INSERT INTO registry SELECT 'n', 50, 'B' FROM generate_series(1, 5);
INSERT INTO registry VALUES ('n', 60, 'B'), ('n', 70, 'A'), ('n', 70, 'B'), ('n', NULL, 'A'), ('n', 80, NULL);
SELECT measure, round(value::numeric, 4) AS value, meaning
FROM kanon_risk('visits', '{age,zip}', population => 'registry', threshold => 0.15) WHERE measure ~ 'population|journalist|marketer|presence';
-- In the relation NULL says nothing: 'A' alone fits 32 (the one of unknown age too),
-- 40 alone 10, and who shows nothing is nobody. Marketer: (2/32 + 1/10) / 4 = 0.0406.
CREATE VIEW told AS SELECT * FROM (VALUES (NULL::int, 'A'), (NULL, 'A'), (40, NULL), (NULL, NULL)) v (age, zip);
SELECT measure, round(value::numeric, 4) AS value
FROM kanon_risk('told', '{age,zip}', population => 'registry') WHERE sensitive_column IS NULL;
-- the relation as its own population: the journalist is a prosecutor
SELECT a.measure, a.value = b.value AS same
FROM kanon_risk('visits', '{age,zip}') a
JOIN kanon_risk('visits', '{age,zip}', population => 'visits') b
    ON b.measure = replace(a.measure, 'prosecutor', 'journalist') WHERE a.measure LIKE 'prosecutor%' ORDER BY 1;

-- l-diversity's inpatients (Machanavajjhala et al., figure 3): 3-diverse; the most
-- frequent condition of each class has 2 of 4 rows
CREATE TABLE inpatients (zip text, age text, condition text);
INSERT INTO inpatients VALUES
    ('1305*', '<=40', 'heart disease'), ('1305*', '<=40', 'viral infection'), ('1305*', '<=40', 'cancer'), ('1305*', '<=40', 'cancer'),
    ('1485*', '>40', 'cancer'), ('1485*', '>40', 'heart disease'), ('1485*', '>40', 'viral infection'), ('1485*', '>40', 'viral infection'),
    ('1306*', '<=40', 'heart disease'), ('1306*', '<=40', 'viral infection'), ('1306*', '<=40', 'cancer'), ('1306*', '<=40', 'cancer');
SELECT measure, round(value::numeric, 4) AS value FROM kanon_risk('inpatients', '{zip,age}', '{condition}')
WHERE measure ~ '^(k|distinct|entropy|recursive|alpha)';

-- t-closeness (Li et al., sections 4 and 5): with the classes of their table 3 the
-- salaries {3,4,5} are at 0.375 from all nine, with those of table 5 none is further
-- than 0.167. Diseases, three levels (organ, system, top) at costs 1/3, 2/3 and 1:
--   table 3: stomach diseases alone have 4/9 too much, all from the other system: 4/9
--   table 5: {gastritis, flu, bronchitis} move 1/9 + 1/9 within an organ and 2/9 between
--   the systems: (2/9) / 3 + 2/9 = 8/27 = 0.296; the others 7/27 and 5/27
--   (the paper calls its table 5 0.278-close; its definition gives what is here)
CREATE TABLE salaries (class3 int, class5 int, salary int, disease text);
INSERT INTO salaries VALUES
    (1, 1, 3, 'gastric ulcer'), (1, 3, 4, 'gastritis'), (1, 1, 5, 'stomach cancer'),
    (2, 2, 6, 'gastritis'), (2, 2, 11, 'flu'), (2, 2, 8, 'bronchitis'),
    (3, 3, 7, 'bronchitis'), (3, 1, 9, 'pneumonia'), (3, 3, 10, 'stomach cancer');
CREATE TABLE diseases (disease text, organ text, system text, top text);
INSERT INTO diseases VALUES
    ('flu', 'respiratory infection', 'respiratory system', '*'), ('pneumonia', 'respiratory infection', 'respiratory system', '*'),
    ('bronchitis', 'respiratory infection', 'respiratory system', '*'), ('pulmonary edema', 'vascular lung', 'respiratory system', '*'),
    ('gastric ulcer', 'stomach', 'digestive system', '*'), ('gastritis', 'stomach', 'digestive system', '*'),
    ('stomach cancer', 'stomach', 'digestive system', '*'), ('colitis', 'colon', 'digestive system', '*');
SELECT measure, sensitive_column AS sensitive, round(value::numeric, 3) AS value
FROM kanon_risk('salaries', '{class3}', '{salary,disease}', hierarchies => '{"disease": "diseases"}') WHERE measure LIKE 't\_%';
SELECT measure, sensitive_column AS sensitive, round(value::numeric, 3) AS value
FROM kanon_risk('salaries', '{class5}', '{salary,disease}', hierarchies => '{"disease": "diseases"}') WHERE measure LIKE 't\_%';
-- By hand: classes {a, b} and {c}. With a, b under p and c under q all moves through the
-- top, at cost 1: {a, b} 1/3, {c} 2/3. With a under p and b, c under q: {c} takes 1/3
-- from b at cost 1/2 and 1/3 from a at cost 1: 1/2; {a, b}: 1/6 * 1/2 + 1/6 = 1/4.
CREATE TABLE leaves (class int, v text);
INSERT INTO leaves VALUES (1, 'a'), (1, 'b'), (2, 'c');
CREATE TABLE h_ab (v text, l1 text, top text);
INSERT INTO h_ab VALUES ('a', 'p', '*'), ('b', 'p', '*'), ('c', 'q', '*'), ('z', 'zz', '*');
CREATE TABLE h_bc (v varchar(9), dropped int, l1 text, top text);
ALTER TABLE h_bc DROP dropped;
INSERT INTO h_bc VALUES ('a', 'p', '*'), ('b', 'q', '*'), ('c', 'q', '*');
SELECT round(value::numeric, 4) AS ab FROM kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_ab"}') WHERE measure = 't_hierarchical';
SELECT round(value::numeric, 4) AS bc FROM kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_bc"}') WHERE measure = 't_hierarchical';
-- the top need not be there
CREATE VIEW h_bc_low AS SELECT v, l1 FROM h_bc;
SELECT round(value::numeric, 4) AS bc FROM kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_bc_low"}') WHERE measure = 't_hierarchical';
-- a NULL without a line is a branch of its own below the top: {NULL} is at 3/4
INSERT INTO leaves VALUES (3, NULL);
SELECT measure, value FROM kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_ab"}') WHERE measure LIKE 't\_%';

-- everything again by SQL, on a table with many classes, NULLs and uneven values
CREATE TABLE mixed AS
SELECT (i * i) % 3 AS a, nullif(i % 4, 0) AS b, 'v' || i / 121 AS c,
       nullif(i * 7919 % 1009 % 5, 4) AS s, i % 97 AS person
FROM generate_series(1, 700) i;
CREATE TEMP TABLE ours AS SELECT measure, value FROM kanon_risk('mixed', '{a,b,c}', '{s}');
WITH class AS (SELECT a, b, c, count(*)::float8 AS n FROM mixed GROUP BY a, b, c),
value AS (SELECT a, b, c, s, count(*)::float8 AS n FROM mixed GROUP BY a, b, c, s),
whole AS (SELECT s, count(*) / (SELECT count(*)::float8 FROM mixed) AS q FROM mixed GROUP BY s),
share AS (
    SELECT c.a, c.b, c.c, w.s, c.n AS size, w.q, coalesce(v.n, 0) / c.n AS p, coalesce(v.n, 0) AS n,
           row_number() OVER (PARTITION BY c.a, c.b, c.c ORDER BY v.n DESC NULLS LAST) AS rank
    FROM class c CROSS JOIN whole w LEFT JOIN value v ON v.s IS NOT DISTINCT FROM w.s
        AND v.a = c.a AND v.b IS NOT DISTINCT FROM c.b AND v.c = c.c),
sums AS (SELECT *, sum(p - q) OVER (PARTITION BY a, b, c ORDER BY s NULLS LAST) AS d FROM share),
per_class AS (
    SELECT count(*) FILTER (WHERE n > 0) AS distinct_l, exp(-sum(CASE WHEN p > 0 THEN p * ln(p) ELSE 0 END)) AS entropy_l,
           max(n) / nullif(sum(n) FILTER (WHERE rank >= 2), 0) AS c2, max(n) / nullif(sum(n) FILTER (WHERE rank >= 3), 0) AS c3,
           max(p) AS alpha, sum(abs(p - q)) / 2 AS t_equal, sum(abs(d)) / (count(*) - 1) AS t_ordered
    FROM sums GROUP BY a, b, c),
theirs AS (
    SELECT 'rows' AS measure, sum(n) AS value FROM class
    UNION ALL SELECT 'classes', count(*) FROM class
    UNION ALL SELECT 'k', min(n) FROM class
    UNION ALL SELECT 'unique_rows', count(*) FROM class WHERE n = 1
    UNION ALL SELECT 'blank_rows', 0
    UNION ALL SELECT 'share_below_' || below, coalesce(sum(n) FILTER (WHERE n < below), 0) / sum(n) FROM class, unnest('{2,3,5,10}'::int[]) below GROUP BY below
    UNION ALL SELECT 'prosecutor_highest', max(1 / n) FROM class
    UNION ALL SELECT 'prosecutor_average', sum(n * (1 / n)) / sum(n) FROM class
    UNION ALL SELECT 'prosecutor_share', coalesce(sum(n) FILTER (WHERE 1 / n > 0.2), 0) / sum(n) FROM class
    UNION ALL SELECT 'distinct_l', min(distinct_l) FROM per_class
    UNION ALL SELECT 'entropy_l', min(entropy_l) FROM per_class
    UNION ALL SELECT 'recursive_c_2', CASE WHEN count(c2) = count(*) THEN max(c2) END FROM per_class
    UNION ALL SELECT 'recursive_c_3', CASE WHEN count(c3) = count(*) THEN max(c3) END FROM per_class
    UNION ALL SELECT 'alpha', max(alpha) FROM per_class
    UNION ALL SELECT 't_equal', max(t_equal) FROM per_class
    UNION ALL SELECT 't_ordered', max(t_ordered) FROM per_class)
SELECT measure, round(ours.value::numeric, 4) AS value,
       coalesce(abs(ours.value - theirs.value) < 1e-9, ours.value IS NULL AND theirs.value IS NULL) AS same
FROM ours FULL JOIN theirs USING (measure) WHERE measure !~ 'recursive_c_[45]' ORDER BY measure;
-- in persons, by counting them
SELECT r.measure, r.value = CASE r.measure
    WHEN 'persons' THEN (SELECT count(*) FROM (SELECT DISTINCT a, b, c, person FROM mixed) p)
    WHEN 'k' THEN (SELECT min(n) FROM (SELECT count(DISTINCT person) AS n FROM mixed GROUP BY a, b, c) k)
    WHEN 'unique_rows' THEN (SELECT count(*) FROM (SELECT FROM mixed GROUP BY a, b, c HAVING count(DISTINCT person) = 1) u)
    WHEN 'alpha' THEN (SELECT max(v.n::float8 / k.n)
        FROM (SELECT a, b, c, s, count(DISTINCT person) AS n FROM mixed GROUP BY a, b, c, s) v
        JOIN (SELECT a, b, c, count(DISTINCT person) AS n FROM mixed GROUP BY a, b, c) k
            ON v.a = k.a AND v.b IS NOT DISTINCT FROM k.b AND v.c = k.c) END AS same
FROM kanon_risk('mixed', '{a,b,c}', '{s}', subject => 'person') r WHERE r.measure IN ('persons', 'k', 'unique_rows', 'alpha');

-- identifying columns. Of 4 rows (1,x,p) (1,y,p) (2,y,p) (2,y,p): b has 2 values and
-- parts 3 of the 6 pairs, a 2 values and 4 pairs, c nothing; a with b 3 values and 5 pairs.
CREATE TABLE four (a int, b text, c text);
INSERT INTO four VALUES (1, 'x', 'p'), (1, 'y', 'p'), (2, 'y', 'p'), (2, 'y', 'p');
SELECT subset, classes, unique_rows, distinction, round(separation::numeric, 4) AS separation FROM kanon_risk_columns('four', '{a,b,c}', supersets => true);
SELECT count(*), count(DISTINCT subset), max(cardinality(subset)) FROM kanon_risk_columns('mixed', '{a,b,c,s,person}', supersets => true);
-- names are filled up with zeros, as PostgreSQL's own, not with what lies behind them in memory
SELECT count(*) FROM kanon_risk_columns('mixed', '{a,b,c,s,person}', supersets => true) WHERE record_image_ne(ROW(subset), ROW(subset::text::name[]));
-- each by SQL: pairs of rows that differ
CREATE FUNCTION pairs_apart(columns name[], OUT classes bigint, OUT distinction float8, OUT separation float8) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), count(*) / sum(n)::float8, 1 - sum(n * (n - 1))::float8 / (sum(n) * (sum(n) - 1))::float8
                    FROM (SELECT count(*) AS n FROM mixed GROUP BY %s) g',
                   (SELECT string_agg(quote_ident(c), ',') FROM unnest(columns) c)) INTO classes, distinction, separation;
END $$;
SELECT count(*) AS subsets, bool_and(k.classes = p.classes AND abs(k.distinction - p.distinction) < 1e-12 AND abs(k.separation - p.separation) < 1e-12) AS same,
       bool_and(k.distinction <= k.before) AS in_order
FROM (SELECT *, lag(distinction, 1, 1.0::float8) OVER () AS before FROM kanon_risk_columns('mixed', '{a,b,c,s,person}', supersets => true)) k, pairs_apart(k.subset) p;

-- what a release leaves: the blank row shows nothing and is nobody's risk
CREATE TABLE people (age int, zip text, sex text);
INSERT INTO people VALUES (30, '12345', 'f'), (30, '12345', 'f'), (30, '12346', 'm'), (30, '12346', 'm'),
    (40, '12345', 'f'), (40, '12347', 'f'), (50, '99999', 'm');
SELECT count(*) FROM kanon_pattern_guided('people', 'people_public', '{age,zip,sex}', 2);
SELECT measure, round(b.value::numeric, 4) AS before, round(a.value::numeric, 4) AS after
FROM kanon_risk('people', '{age,zip,sex}', population => 'people') b
JOIN kanon_risk('people_public', '{age,zip,sex}', population => 'people') a USING (measure) ORDER BY 1;

-- the ends: no rows, one class, one row, only blank rows
CREATE TABLE nobody (LIKE visits);
SELECT measure, value FROM kanon_risk('nobody', '{age,zip}', '{diagnosis}', population => 'registry');
SELECT measure, value FROM kanon_risk('nobody', '{age,zip}', '{diagnosis}', subject => 'patient') WHERE measure IN ('persons', 'k');
SELECT * FROM kanon_risk_columns('nobody', '{age,zip}');
CREATE VIEW one_class AS SELECT 1 AS a, i % 3 AS s FROM generate_series(1, 9) i;
SELECT measure, value FROM kanon_risk('one_class', '{a}', '{s}');
CREATE VIEW one_row AS SELECT 1 AS a, 2 AS b, 'x'::text AS s;
SELECT measure, value FROM kanon_risk('one_row', '{a,b}', '{s}');
SELECT * FROM kanon_risk_columns('one_row', '{a,b}', true);
CREATE VIEW blank AS SELECT NULL::int AS a, NULL::text AS b, i % 2 AS s FROM generate_series(1, 4) i;
SELECT measure, value FROM kanon_risk('blank', '{a,b}', '{s}', population => 'blank');

-- values that are equal but spelled differently are one value
CREATE TABLE spelled (q numeric, s numeric, p numeric);
INSERT INTO spelled VALUES (1.0, 2.0, 3.0), (1.00, 2.00, 3.00), (1, 2, 3), (1, 5, 4);
SELECT measure, round(value::numeric, 4) AS value FROM kanon_risk('spelled', '{q}', '{s}') WHERE measure IN ('classes', 'k', 'distinct_l', 'alpha');
SELECT measure, value FROM kanon_risk('spelled', '{q}', '{s}', subject => 'p') WHERE measure IN ('persons', 'distinct_l', 'alpha');
-- names that kanon's own queries use, and odd ones
CREATE TABLE named (n int, blank text, "C1" int, c1 int, "größe; DROP" text, r int, nobody int);
INSERT INTO named VALUES (1, 'x', 1, 1, 'a', 1, 1), (1, 'x', 1, 1, 'b', 2, 2), (2, 'x', 1, 1, 'b', 3, 3);
SELECT measure, value FROM kanon_risk('named', '{n,blank,C1,c1,r}', ARRAY['größe; DROP'], subject => 'nobody', population => 'named') WHERE measure IN ('classes', 'k', 'distinct_l', 'marketer');
SELECT subset FROM kanon_risk_columns('named', ARRAY['größe; DROP', 'C1'], true);

-- in a transaction that may not write; as somebody with few rights; under row-level security
BEGIN READ ONLY;
SELECT count(*) FROM kanon_risk('visits', '{age,zip}', '{diagnosis}', subject => 'patient', population => 'registry', hierarchies => '{}');
SELECT count(*) FROM kanon_risk_columns('visits', '{age,zip}');
COMMIT;
CREATE ROLE kanon_test_reader;
GRANT USAGE ON SCHEMA risk_test TO kanon_test_reader;
GRANT SELECT (age, zip) ON visits TO kanon_test_reader;
GRANT SELECT ON four TO kanon_test_reader;
ALTER TABLE four ENABLE ROW LEVEL SECURITY;
CREATE POLICY ones ON four USING (a = 1);
\set SHOW_CONTEXT never
SET ROLE kanon_test_reader;
SELECT value FROM kanon_risk('visits', '{age,zip}') WHERE measure = 'rows';
SELECT value FROM kanon_risk('four', '{a,b}') WHERE measure = 'rows';
SELECT subset, classes FROM kanon_risk_columns('four', '{a,b}', true);
SELECT * FROM kanon_risk('visits', '{age}', '{diagnosis}');
SELECT * FROM kanon_risk('visits', '{age}', subject => 'patient');
SELECT * FROM kanon_risk('visits', '{age,zip}', population => 'registry');
SELECT * FROM kanon_risk('four', '{a}', '{b}', hierarchies => '{"b": "h_ab"}');
SELECT * FROM kanon_risk_columns('visits', '{age,diagnosis}');
RESET ROLE;
-- nothing is found through the caller's search_path
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.count() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION hostile.sum(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION hostile.num_nulls(VARIADIC "any") RETURNS int LANGUAGE internal AS 'pg_num_nonnulls';
CREATE FUNCTION hostile.eq(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR hostile.= (LEFTARG = int, RIGHTARG = int, FUNCTION = hostile.eq);
SET search_path = hostile, pg_catalog, risk_test, public;
SELECT measure, value FROM kanon_risk('risk_test.visits', '{age,zip}', '{diagnosis}', subject => 'patient') WHERE measure IN ('rows', 'persons', 'k');
SET search_path = risk_test, public;

-- bad input
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
CREATE TABLE typed (a int, j json, m money, x xid, p int);
INSERT INTO typed VALUES (1, '{}', 1, '1', NULL);
CREATE TABLE other (age text, zip text);
CREATE TABLE h_lacks (v text, top text);
INSERT INTO h_lacks VALUES ('a', '*');
CREATE TABLE h_loose (v text, l1 text, top text);
INSERT INTO h_loose VALUES ('a', 'p', '*'), ('b', 'q', '*'), ('c', 'q', '*'), ('a', 'q', '*');
CREATE TABLE h_int (v int, top text);
CREATE TABLE h_single (v text);
CREATE SEQUENCE seq;
\pset format unaligned
\pset tuples_only on
SELECT try($$ kanon_risk(NULL, '{age}') $$);
SELECT try($$ kanon_risk(4294967295, '{age}') $$);
SELECT try($$ kanon_risk('seq', '{last_value}') $$);
SELECT try($$ kanon_risk('visits', NULL) $$);
SELECT try($$ kanon_risk('visits', '{}') $$);
SELECT try($$ kanon_risk('visits', '{nope}') $$);
SELECT try($$ kanon_risk('visits', '{age,age}') $$);
SELECT try($$ kanon_risk('visits', '{ctid}') $$);
SELECT try($$ kanon_risk('visits', '{age,NULL}') $$);
SELECT try($$ kanon_risk('visits', '{{age},{zip}}') $$);
SELECT try($$ kanon_risk('typed', '{j}') $$);
SELECT try($$ kanon_risk('typed', '{m,x}') $$);
SELECT try($$ kanon_risk('typed', '{m}', '{x}') $$);
SELECT try($$ kanon_risk('typed', '{m}', subject => 'x') $$);
SELECT try($$ kanon_risk('typed', '{a}', '{m}', subject => 'x') $$);
SELECT try($$ kanon_risk('visits', '{age}', '{nope}') $$);
SELECT try($$ kanon_risk('visits', '{age}', '{age}') $$);
SELECT try($$ kanon_risk('visits', '{age}', '{zip,zip}') $$);
SELECT try($$ kanon_risk('typed', '{a}', '{j}') $$);
SELECT try($$ kanon_risk('visits', '{age}', subject => 'nope') $$);
SELECT try($$ kanon_risk('visits', '{age}', subject => 'age') $$);
SELECT try($$ kanon_risk('visits', '{age}', '{zip}', subject => 'zip') $$);
SELECT try($$ kanon_risk('typed', '{a}', subject => 'p') $$);
SELECT try($$ kanon_risk('typed', '{a}', subject => 'j') $$);
SELECT try($$ kanon_risk('visits', '{age,zip}', population => 4294967295) $$);
SELECT try($$ kanon_risk('visits', '{age,zip}', population => 'four') $$);
SELECT try($$ kanon_risk('visits', '{age,zip}', population => 'other') $$);
SELECT try($$ kanon_risk('visits', '{age}', threshold => 0) $$);
SELECT try($$ kanon_risk('visits', '{age}', threshold => 1.5) $$);
SELECT try($$ kanon_risk('visits', '{age}', threshold => 'NaN') $$);
SELECT try($$ kanon_risk('visits', '{age}', threshold => NULL) $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '["h_ab"]') $$);
SELECT try($$ kanon_risk('leaves', '{class}', hierarchies => '{"v": "h_ab"}') $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": ["h_ab"]}') $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": 4294967295}') $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_lacks"}') $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_loose"}') $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_int"}') $$);
SELECT try($$ kanon_risk('leaves', '{class}', '{v}', hierarchies => '{"v": "h_single"}') $$);
SELECT try($$ kanon_risk_columns(NULL, '{age}') $$);
SELECT try($$ kanon_risk_columns('visits', NULL) $$);
SELECT try($$ kanon_risk_columns('visits', '{}') $$);
SELECT try($$ kanon_risk_columns('visits', '{nope}') $$);
SELECT try($$ kanon_risk_columns('visits', '{age,age}') $$);
SELECT try($$ kanon_risk_columns('typed', '{j}') $$);
-- memory
CREATE TABLE large AS SELECT i AS a, i % 1000 AS s FROM generate_series(1, 100000) i;
SET kanon.max_memory = '1MB';
SELECT left(try($$ kanon_risk('large', '{a}', '{s}') $$), 50);
SELECT left(try($$ kanon_risk_columns('large', '{a,s}') $$), 50);
-- sizes alone need none
SELECT measure, value FROM kanon_risk('large', '{a}') WHERE measure = 'k';
RESET kanon.max_memory;

-- a sample: 7 alone, 3 pairs, 1 class of 5; by Zayatz's formula written out, the chance that one of i is drawn of N = 36, 18 drawn
CREATE TABLE sample AS SELECT i AS a FROM generate_series(1, 7) i UNION ALL SELECT 10 + i % 3 FROM generate_series(1, 6) i UNION ALL SELECT 20 FROM generate_series(1, 5);
WITH c (size, classes) AS (VALUES (1, 7), (2, 3), (5, 1)),
h AS (SELECT size, classes, classes / 11.0 * size * (SELECT exp(sum(ln(36 - size - x)) - sum(ln(x + 1))) FROM generate_series(0, 16) x) AS p FROM c)
SELECT measure, round(value::numeric, CASE measure WHEN 'population_uniques_pitman' THEN 3 ELSE 6 END) AS value, -- where a hill is highest, half the digits tell
       CASE measure WHEN 'population_uniques_zayatz' THEN round((SELECT 7 * p / (SELECT sum(p) FROM h) / 0.5 FROM h WHERE size = 1)::numeric, 6) END AS by_hand
FROM kanon_risk('sample', '{a}', sampling_fraction => 0.5) WHERE measure LIKE 'population_uni%';
-- all of the population: those who are alone here are; nobody is alone; all are
SELECT value FROM kanon_risk('sample', '{a}', sampling_fraction => 1) WHERE measure = 'population_uniques_zayatz';
SELECT measure, value FROM kanon_risk('large', '{s}', sampling_fraction => 0.1) WHERE measure LIKE 'population_uni%zayatz';
SELECT measure, value FROM kanon_risk('large', '{a}', sampling_fraction => 0.1) WHERE measure LIKE 'population_uni%';
SELECT try($$ kanon_risk('large', '{a}', sampling_fraction => 0) $$);
SELECT try($$ kanon_risk('large', '{a}', sampling_fraction => 1.5) $$);
SELECT count(*) FROM kanon_risk('large', '{a}') WHERE measure LIKE 'population_uni%';

-- The ten records of "Statistical Disclosure Control: A Practice Guide" (Benschop, Machingauta, Welch, 2019), which sdcMicro
-- is shown with. Printed there: risk .0054 .0054 .0251 .0126 .0282 .0126 .0290 .0251 .0074 .0074; SUDA scores, of sets of at
-- most three columns, 0 0 6 0 12 0 6 10 0 0.
CREATE TABLE guide (nr int, residence text, gender text, education text, labour text, weight numeric, hid text);
INSERT INTO guide VALUES (1, 'urban', 'f', 'secondary incomplete', 'employed', 180, 'a'), (2, 'urban', 'f', 'secondary incomplete', 'employed', 180, 'a'),
    (3, 'urban', 'f', 'primary incomplete', 'non-lf', 215, 'a'), (4, 'urban', 'm', 'secondary complete', 'employed', 76, 'b'),
    (5, 'rural', 'f', 'secondary complete', 'unemployed', 186, 'b'), (6, 'urban', 'm', 'secondary complete', 'employed', 76, NULL),
    (7, 'urban', 'f', 'primary complete', 'non-lf', 180, 'c'), (8, 'urban', 'm', 'post-secondary', 'unemployed', 215, 'c'),
    (9, 'urban', 'f', 'secondary incomplete', 'non-lf', 186, NULL), (10, 'urban', 'f', 'secondary incomplete', 'non-lf', 76, NULL);
SELECT measure, round(value::numeric, 4) AS value, meaning
FROM kanon_risk('guide', '{residence,gender,education,labour}', weights => 'weight', household => 'hid', special_uniques => 3, threshold => 0.02)
WHERE measure ~ 'weighted|individual|household|uniques_|special|suda';
-- the risk of each record: its class alone
CREATE FUNCTION risk_of(record int) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TEMP VIEW one AS SELECT g.* FROM guide g JOIN guide h USING (residence, gender, education, labour) WHERE h.nr = %s', record);
    RETURN (SELECT round(r.value::numeric, 4) FROM kanon_risk('one', '{residence,gender,education,labour}', weights => 'weight') AS r WHERE measure = 'individual_highest');
END $$;
SELECT string_agg(risk_of(nr)::text, ' ' ORDER BY nr) AS risks FROM guide;
-- three rows of a class, by the closed form of Benedetti and Franconi (sdcMicro takes p / (3 - q)); six, by the sum written out
CREATE TABLE alike AS SELECT 'three' AS class, 100 AS weight FROM generate_series(1, 3) UNION ALL SELECT 'six', 4 FROM generate_series(1, 6);
CREATE VIEW three_alike AS SELECT * FROM alike WHERE class = 'three';
CREATE VIEW six_alike AS SELECT * FROM alike WHERE class = 'six';
SELECT c.relation, round(r.value::numeric, 6) AS value, round(CASE c.f WHEN 3 THEN p / (2 * (1 - p) ^ 3) * ((1 - p) * (1 - 3 * p) - 2 * p ^ 2 * ln(p))
    ELSE (SELECT sum(p ^ 6 * (1 - p) ^ (h - 6) * (h - 1) * (h - 2) * (h - 3) * (h - 4) * (h - 5) / 120 / h) FROM (SELECT i::float8 AS h FROM generate_series(6, 600) AS i) AS i) END::numeric, 6) AS by_hand, round((p / (f - 1 + p))::numeric, 6) AS approximated
FROM (VALUES ('three_alike'::regclass, 3, 0.01::float8), ('six_alike', 6, 0.25)) AS c (relation, f, p), kanon_risk(c.relation, '{class}', weights => 'weight') AS r WHERE r.measure = 'individual_average';
-- sdcMicro's francdat; printed there: risk .017144 .022042 .022042 .177076 .011654 .297063 .402359 .017144; SUDA scores 0 0 0 8 6 4 8 0
CREATE TABLE francdat (nr int, key1 int, key2 int, key3 int, key4 int, w numeric);
INSERT INTO francdat VALUES (1, 1, 2, 5, 1, 18), (2, 1, 2, 1, 1, 45.5), (3, 1, 2, 1, 1, 39), (4, 3, 3, 1, 5, 17), (5, 4, 3, 1, 4, 541), (6, 4, 3, 1, 1, 8), (7, 6, 2, 1, 5, 5), (8, 1, 2, 5, 1, 92);
SELECT measure, round(value::numeric, 6) AS value, round(CASE measure WHEN 'individual_highest' THEN .402359 WHEN 'individual_expected' THEN 2 * .017144262 + 2 * .022042326 + .177075834 + .011654480 + .297063077 + .402359478 END, 6) AS printed
FROM kanon_risk('francdat', '{key1,key2,key3,key4}', weights => 'w') WHERE measure ~ 'individual_(highest|expected)';
SELECT * FROM kanon_special_uniques('francdat', '{key1,key2,key3,key4}', 'nr', 4) ORDER BY key_value::int;
-- households without weights: 1/f of each; b has 1/2 and 1, the single ones 1/2 each
SELECT measure, round(value::numeric, 4) AS value FROM kanon_risk('guide', '{residence,gender,education,labour}', household => 'hid') WHERE measure ~ 'household|weighted|individual';
-- all columns together: the last factor is left out
SELECT measure, value FROM kanon_risk('guide', '{residence,gender,education,labour}', special_uniques => 4) WHERE measure ~ 'uniques_|special|suda';
-- rows that show nothing have no risk of their own, but that of their household
SELECT measure, round(value::numeric, 4) AS value FROM kanon_risk('told', '{age,zip}', special_uniques => 2) WHERE measure ~ 'uniques_|special|suda';
CREATE VIEW told_homes AS SELECT t.*, 10 AS weight, 'one home' AS hid FROM told t;
SELECT measure, round(value::numeric, 4) AS value FROM kanon_risk('told_homes', '{age,zip}', weights => 'weight', household => 'hid') WHERE measure ~ 'individual|household';
-- row by row, for the owner alone: the same sums
SELECT * FROM kanon_special_uniques('guide', '{residence,gender,education,labour}', 'nr') ORDER BY suda_score DESC, key_value::int;
SELECT r.measure, r.value = CASE r.measure WHEN 'special_uniques' THEN s.rows WHEN 'minimal_uniques_1' THEN s.one WHEN 'minimal_uniques_2' THEN s.two WHEN 'minimal_uniques_3' THEN s.three WHEN 'suda_highest' THEN s.highest END AS same
FROM kanon_risk('guide', '{residence,gender,education,labour}', special_uniques => 3) AS r, (SELECT count(*) AS rows, sum(minimal_uniques[1]) AS one, sum(minimal_uniques[2]) AS two, sum(minimal_uniques[3]) AS three, max(suda_score) AS highest
    FROM kanon_special_uniques('guide', '{residence,gender,education,labour}', 'nr')) AS s WHERE r.measure ~ 'uniques_|special|suda_highest';
SELECT * FROM kanon_special_uniques('told', '{age,zip}', 'age');
SELECT * FROM kanon_special_uniques('guide', '{residence,gender}', 'nr', 0);
SELECT * FROM kanon_special_uniques('guide', '{residence,gender}', NULL);
CREATE ROLE kanon_test_curious;
GRANT USAGE ON SCHEMA risk_test TO kanon_test_curious;
GRANT SELECT ON guide TO kanon_test_curious;
SET ROLE kanon_test_curious;
SELECT count(*) > 0 AS asks FROM kanon_risk('guide', '{residence,gender}', special_uniques => 2);
SELECT * FROM kanon_special_uniques('guide', '{residence,gender}', 'nr');
RESET ROLE;
DROP OWNED BY kanon_test_curious;
DROP ROLE kanon_test_curious;
SELECT measure, value FROM kanon_risk('guide', '{residence}', weights => 'weight', household => 'hid', special_uniques => 1) AS r
WHERE r.value IS NULL OR r.value < 0 OR r.value = 'NaN';
CREATE VIEW no_guide AS SELECT * FROM guide WHERE false;
SELECT measure, value FROM kanon_risk('no_guide', '{residence}', weights => 'weight', household => 'hid', special_uniques => 1) WHERE measure ~ 'weighted|individual|household|uniques_|special|suda';
SELECT try($$ kanon_risk('guide', '{residence}', weights => 'gender') $$);
SELECT try($$ kanon_risk('guide', '{residence}', weights => 'residence') $$);
SELECT try($$ kanon_risk('guide', '{residence}', household => 'nope') $$);
SELECT try($$ kanon_risk('guide', '{residence}', subject => 'nr', weights => 'weight') $$);
SELECT try($$ kanon_risk('guide', '{residence,gender}', special_uniques => 3) $$);
SELECT try($$ kanon_risk('guide', '{residence,gender}', special_uniques => 0) $$);
CREATE VIEW weightless AS SELECT residence, nullif(weight, 76) AS none, weight - 76 AS zero, weight::float8 / (weight - 76.5)::float8 * 'Infinity'::float8 AS endless FROM guide;
SELECT try($$ kanon_risk('weightless', '{residence}', weights => 'none') $$);
SELECT try($$ kanon_risk('weightless', '{residence}', weights => 'zero') $$);
SELECT try($$ kanon_risk('weightless', '{residence}', weights => 'endless') $$);

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA risk_test, hostile CASCADE;
DROP ROLE kanon_test_reader;
