-- Greedy under privacy rules against greedy with k alone: Adult-2 without its
-- sensitive column occupation, k = 5, published with that column in both.
\set adult2 'age,workclass,education,marital_status,race,sex,native_country,salary_class'
\echo
\echo 'privacy: Adult-2, 8 QIs, occupation sensitive, k = 5 (medians; each line a ratio within one run)'

CREATE FUNCTION adult2_call(rules text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 5, keep => %L, residual => %L%s)', 'adult', 'bench_out',
        '{age,workclass,education,marital_status,race,sex,native_country,salary_class}', '{occupation}', 'drop',
        coalesce(', privacy => ARRAY[' || rules || ']', '')) $$;

CALL compare('privacy', 'distinct l = 3 / k alone', adult2_call($$kanon_distinct_l('occupation', 3)$$), adult2_call(NULL), 2, 1.5);
CALL compare('privacy', 'entropy l = 3 / k alone', adult2_call($$kanon_entropy_l('occupation', 3)$$), adult2_call(NULL), 2, 1.5);
CALL compare('privacy', 'recursive (3,3) / k alone', adult2_call($$kanon_recursive_cl('occupation', 3, 3)$$), adult2_call(NULL), 2, 1.5);
CALL compare('privacy', 't = 0.2, equal / k alone', adult2_call($$kanon_t_closeness('occupation', 0.2, 'equal')$$), adult2_call(NULL), 2, 1.5);

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'privacy' ORDER BY place;
\set to :results '/privacy.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'privacy' ORDER BY place;
\o
\pset format aligned
