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

-- The loss and the time of the default under l = 2, where one value is common: Adult with ARX's hierarchies, and
-- tables of the shapes of COMPAS and Titanic, against improve.
CREATE FUNCTION chance(i int, salt int) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT (hashint8(i * 31::bigint + salt)::bigint & 65535) / 65536.0 $$;
CREATE TABLE compas_like AS
SELECT (18 + 60 * power(chance(i, 1), 2))::int AS age, CASE WHEN chance(i, 2) < 0.81 THEN 'm' ELSE 'f' END AS sex,
       (ARRAY['a','a','a','b','b','c','d'])[1 + floor(7 * chance(i, 3))::int] AS race, floor(30 * power(chance(i, 4), 4))::int AS priors,
       CASE WHEN chance(i, 5) < 0.65 THEN 'F' ELSE 'M' END AS degree, chance(i, 6) < 0.2 + 0.5 * chance(i, 4) AS again
FROM generate_series(1, 7214) i;
CREATE TABLE titanic_like AS
SELECT (ARRAY[1,2,3,3])[1 + floor(4 * chance(i, 1))::int] AS class, CASE WHEN chance(i, 2) < 0.65 THEN 'm' ELSE 'f' END AS sex,
       floor(70 * power(chance(i, 3), 1.3))::int AS age, floor(4 * power(chance(i, 4), 3))::int AS siblings, floor(4 * power(chance(i, 5), 4))::int AS parents,
       (ARRAY['S','S','S','C','Q'])[1 + floor(5 * chance(i, 6))::int] AS port, chance(i, 7) < CASE WHEN chance(i, 2) < 0.65 THEN 0.19 ELSE 0.74 END AS survived
FROM generate_series(1, 891) i;

-- The figure of the last run, over that of the call b (NULL: 1).
CREATE PROCEDURE loses(name text, figure text, a text, b text, must float8, aim float8) LANGUAGE plpgsql AS $$
DECLARE
    lost float8[] := '{}';
    one float8;
BEGIN
    FOR i IN 1..CASE WHEN b IS NULL THEN 1 ELSE 2 END LOOP
        EXECUTE CASE i WHEN 1 THEN a ELSE b END;
        EXECUTE format('SELECT %s FROM kanon_usefulness ORDER BY run DESC LIMIT 1', figure) INTO one;
        lost := lost || one;
        DROP TABLE bench_out;
    END LOOP;
    INSERT INTO result (bench, name, ratio, must, aim) VALUES ('privacy', name, lost[1] / coalesce(lost[2], 1), must, aim);
    COMMIT;
END $$;
CREATE FUNCTION shape_call(source text, qis text, sensitive text, method text) RETURNS text LANGUAGE sql
AS $$ SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 5, keep => %L, privacy => ARRAY[kanon_distinct_l(%L, 2)], method => %L)', source, 'bench_out', qis, '{' || sensitive || '}', sensitive, method) $$;
CALL loses('COMPAS-like, l = 2: cost, greedy / improve', 'cost', shape_call('compas_like', '{age,sex,race,priors,degree}', 'again', 'greedy'),
    shape_call('compas_like', '{age,sex,race,priors,degree}', 'again', 'improve'), 1.15, NULL);
CALL loses('Titanic-like, l = 2: cost, greedy / improve', 'cost', shape_call('titanic_like', '{class,sex,age,siblings,parents,port}', 'survived', 'greedy'),
    shape_call('titanic_like', '{class,sex,age,siblings,parents,port}', 'survived', 'improve'), 1.15, NULL);
\if :real_data
CREATE TABLE common (sex text, age text, race text, "marital-status" text, education text,
    "native-country" text, workclass text, occupation text, "salary-class" text);
SELECT :'data' || '/adult-arx.csv' AS arx_csv, :'data' || '/adult-hierarchies' AS arx_hierarchies \gset
COPY common FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
SELECT format('CREATE TABLE %I (value text, %s)', 'common_' || name, (SELECT string_agg('l' || i || ' text', ', ') FROM generate_series(1, levels) i)),
       format('COPY %I FROM %L (FORMAT csv, DELIMITER %L)', 'common_' || name, :'arx_hierarchies' || '/' || name || '.csv', ';')
FROM (VALUES ('sex', 1), ('age', 4), ('race', 1), ('marital-status', 2), ('education', 3), ('native-country', 2), ('workclass', 2), ('occupation', 2)) h (name, levels) \gexec
ANALYZE;
CREATE FUNCTION common_call(rules text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 5, keep => %L, hierarchies => %L%s)', 'common', 'bench_out',
        '{' || string_agg(quote_ident(attname), ',' ORDER BY attnum) || '}', '{salary-class}', json_object_agg(attname, quote_ident('common_' || attname)), rules)
    FROM pg_attribute WHERE attrelid = 'common'::regclass AND attnum BETWEEN 1 AND 8 $$;
CALL compare('privacy', 'Adult by levels, l = 2 / k alone', common_call($$, privacy => ARRAY[kanon_distinct_l('salary-class', 2)]$$), common_call(''), 3, NULL);
CALL compare('privacy', 'Adult by levels, t = 0.2 / k alone', common_call($$, privacy => ARRAY[kanon_t_closeness('salary-class', 0.2, 'equal')]$$), common_call(''), 3, 1.5);
CALL compare('privacy', 'Adult by levels, alpha 0.5 of one value / k alone', common_call($$, privacy => ARRAY[kanon_alpha('salary-class', 0.5, '{>50K}')]$$), common_call(''), 3, 1.5);
CALL loses('Adult by levels, l = 2: gcp', 'gcp', common_call($$, privacy => ARRAY[kanon_distinct_l('salary-class', 2)]$$), NULL, 0.150, 0.135);
\endif

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 3) AS ratio, must, aim
FROM result WHERE bench = 'privacy' ORDER BY place;
\set to :results '/privacy.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'privacy' ORDER BY place;
\o
\pset format aligned
