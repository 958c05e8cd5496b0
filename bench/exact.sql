-- The paper's section 3.6 anew: greedy, improve, ilp and (k = 2) matching side by side, and improve
-- with every combination allowed.  Method times as the runs' records have them; each
-- run may take :seconds (KANON_BENCH_SECONDS, 60), which improve uses where there is a gap to close.
\if :real_data
SELECT :'data' || '/cmc.csv' AS cmc_csv, :'data' || '/nursery.csv' AS nursery_csv \gset
CREATE TABLE cmc (id int, wife_age int, wife_education int, husband_education int, children int, religion int,
    wife_working int, husband_occupation int, living_standard int, media_exposure int, contraceptive int);
CREATE TABLE nursery (parents text, has_nurs text, form text, children text, housing text, finance text,
    social text, health text, class text);
COPY cmc FROM :'cmc_csv' (FORMAT csv, DELIMITER ';');
COPY nursery FROM :'nursery_csv' (FORMAT csv, DELIMITER ';');

-- rows enough for `matching`, which has a minute for them
CREATE TABLE adult_2000 AS SELECT * FROM adult LIMIT 2000;

CREATE TABLE exact_case (name text, source regclass, qis name[], rules jsonb, ks int[], methods text[],
    effort float8);
INSERT INTO exact_case VALUES
    ('Nursery, all 256 patterns', 'nursery', '{parents,has_nurs,form,children,housing,finance,social,health}', NULL,
     '{2,3,4,5,6,7,8,9,10,25,50,75,100}', '{greedy,improve,ilp}', 1),
    ('CMC, 57 patterns', 'cmc', '{wife_age,wife_education,husband_education,children,religion,wife_working,husband_occupation,living_standard,media_exposure,contraceptive}',
     kanon_rules(max_suppressed => 2), '{2,3,4,5,6,7,8,9,10,25,50,75,100}', '{greedy,improve,ilp}', 1),
    ('Adult-2, 15 patterns', 'adult', '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}',
     kanon_rules(max_suppressed => 2, never => '{education,salary_class}', together => '{"workclass,occupation"}',
                 at_most_one => '{"age,race,sex"}'), '{2,3,4,5,6,7,8,9,10,25,50,75,100}', '{greedy,improve,ilp}', 1),
    ('CMC, all 1,024 patterns', 'cmc', '{wife_age,wife_education,husband_education,children,religion,wife_working,husband_occupation,living_standard,media_exposure,contraceptive}',
     NULL, '{2}', '{greedy,improve,ilp,matching}', 1),
    ('CMC, all 1,024 patterns', 'cmc', '{wife_age,wife_education,husband_education,children,religion,wife_working,husband_occupation,living_standard,media_exposure,contraceptive}',
     NULL, '{5,10}', '{greedy,improve}', 3),
    ('Adult-2, all 512 patterns', 'adult', '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}',
     NULL, '{2,10,100}', '{greedy,improve}', 3),
    ('2,000 rows of Adult-2, all 512 patterns', 'adult_2000', '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}',
     NULL, '{2}', '{greedy,improve,matching}', 1),
    ('Adult, all 16,384 patterns', 'adult', '{age,workclass,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,salary_class}',
     NULL, '{10}', '{greedy,improve}', 1);

CREATE TABLE exact_result (place serial, name text, k int, method text, cost float8, bound float8, proven boolean, ms float8, peak bigint);
SET bench.seconds = :seconds;
DO $$
DECLARE
    c exact_case;
    each_k int;
    each_method text;
BEGIN
    FOR c IN SELECT * FROM exact_case LOOP
        FOREACH each_k IN ARRAY c.ks LOOP
            FOREACH each_method IN ARRAY c.methods LOOP
                PERFORM FROM kanon_pattern_guided(c.source, 'bench_out', c.qis, each_k, rules => c.rules,
                    method => each_method, effort => c.effort,
                    time_limit => make_interval(secs => current_setting('bench.seconds')::float8));
                INSERT INTO exact_result (name, k, method, cost, bound, proven, ms, peak)
                SELECT c.name, each_k, each_method, u.cost, u.lower_bound, u.proven, u.solve_ms, u.peak_memory
                FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
                DROP TABLE bench_out;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;

\echo
\echo 'exact: cells lost by greedy, improve, ilp and matching; seconds in the method, at most' :seconds
CREATE VIEW exact_table AS
SELECT min(place) AS place, name, k,
       max(cost) FILTER (WHERE method = 'greedy') AS greedy,
       max(cost) FILTER (WHERE method = 'improve') AS improve,
       max(cost) FILTER (WHERE method = 'ilp') AS ilp,
       max(cost) FILTER (WHERE method = 'matching') AS matching,
       max(bound) AS bound,
       bool_or(proven) AS proven,
       max(ms) FILTER (WHERE method = 'greedy') / 1000 AS greedy_s,
       max(ms) FILTER (WHERE method = 'improve') / 1000 AS improve_s,
       max(ms) FILTER (WHERE method = 'ilp') / 1000 AS ilp_s,
       max(ms) FILTER (WHERE method = 'matching') / 1000 AS matching_s,
       max(peak) AS peak
FROM exact_result GROUP BY name, k;
SELECT name, k, greedy, improve, ilp, matching, round(bound::numeric, 1) AS bound, proven,
       round((100 * (least(improve, ilp, matching) / nullif(bound, 0) - 1))::numeric, 2) AS gap_percent,
       round(greedy_s::numeric, 3) AS greedy_s, round(improve_s::numeric, 1) AS improve_s,
       round(ilp_s::numeric, 2) AS ilp_s, round(matching_s::numeric, 2) AS matching_s, pg_size_pretty(peak) AS peak
FROM exact_table ORDER BY place;

\pset format unaligned
\pset fieldsep '\t'
\set to :results '/exact.tsv'
\o :to
SELECT name, k, greedy, improve, ilp, bound, proven, greedy_s, improve_s, ilp_s, peak, matching, matching_s FROM exact_table ORDER BY place;
\o
\pset format aligned
\endif
