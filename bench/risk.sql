-- kanon_risk and kanon_risk_columns against one plain GROUP BY of the same columns.
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\set attacked_columns '{age,workclass,education,marital_status,occupation,race,sex,native_country}'
\echo
\echo 'risk: 3.26 million rows, 9 QIs (medians; each line a ratio within one run)'

SELECT format('SELECT count(*) FROM (SELECT count(*) FROM big GROUP BY %s) g', :'adult2') AS plain \gset
CALL compare('risk', 'kanon_risk / GROUP BY', format('SELECT FROM kanon_risk(%L, %L)', 'big', '{' || :'adult2' || '}'),
    :'plain', 1.3, 1.0);
CALL compare('risk', 'kanon_risk with a sensitive column / GROUP BY',
    format('SELECT FROM kanon_risk(%L, %L, %L)', 'big', '{' || :'adult2' || '}', '{hours_per_week}'), :'plain', NULL, NULL);
CALL compare('risk', 'kanon_risk_columns, 129 subsets / GROUP BY',
    format('SELECT FROM kanon_risk_columns(%L, %L)', 'big', '{' || :'adult2' || '}'), :'plain', NULL, NULL);

-- in seconds, of 20,000 rows of Adult
CREATE TABLE attacked AS SELECT row_number() OVER () AS nr, * FROM adult LIMIT 20000;
SELECT FROM kanon_pattern_guided('attacked', 'attacked_public', :'attacked_columns', 5);
CALL compare('risk', 'kanon_attack, 3,000 trials on 20,000 rows / 1 s', format('SELECT FROM kanon_attack(%L, %L, %L, %L, 3000)', 'attacked', 'attacked_public', 'nr', :'attacked_columns'),
    'SELECT pg_sleep(1)', 1, 0.3);

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'risk' ORDER BY place;
\set to :results '/risk.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'risk' ORDER BY place;
\o
\pset format aligned
