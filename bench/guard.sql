-- What the guard of kept columns costs: a call that keeps two columns, looked at and (named in
-- allow_identifying) not looked at.
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\echo
\echo 'guard: 3.26 million rows, 9 QIs, k = 10, two kept columns (medians; each line a ratio within one run)'

CREATE FUNCTION guarded_call(allowed text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 10, keep => %L, allow_identifying => %L)', 'big', 'bench_out',
        '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}', '{capital_gain,hours_per_week}', allowed) $$;
CALL compare('guard', 'kept columns looked at / allowed to identify', guarded_call('{}'), guarded_call('{capital_gain,hours_per_week}'), 1.05, 1.02);

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 3) AS ratio, must, aim
FROM result WHERE bench = 'guard' ORDER BY place;
\set to :results '/guard.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'guard' ORDER BY place;
\o
\pset format aligned
