-- The cost of a refresh: one that keeps company (stable), and one that protects histories (protect_successive).
-- Night after night one row in a hundred of Adult leaves, changes or joins; each publication is refreshed in turn.
\echo
\echo 'series: refreshes of Adult, 1 % of the rows changed; medians of five nights, ratios within each night'
CREATE TABLE staying AS
SELECT row_number() OVER () AS id, age, workclass, education, marital_status, occupation, race, sex, native_country, salary_class FROM adult;
CREATE PROCEDURE series(what text, model text, options jsonb) LANGUAGE plpgsql AS $$
DECLARE
    kinds constant text[] := '{anew,stable,protected}';
    qis constant name[] := '{age,workclass,education,marital_status,occupation,race,sex,native_country}';
    since float8;
    ms float8[];
    held bigint;
BEGIN
    CREATE TABLE night_ms (kind text, night int, ms float8);
    FOR k IN 1..3 LOOP
        PERFORM kanon_create_publication('series_' || kinds[k], 'staying', qis, 5, options || '{"keep": ["salary_class"]}', model,
            key => 'id', stable => k > 1, protect_successive => k = 3);
        COMMIT;
    END LOOP;
    FOR night IN 1..5 LOOP
        DELETE FROM staying WHERE hashint8(id + night) % 300 = 0;
        UPDATE staying SET marital_status = 'Divorced' WHERE hashint8(id + 7 * night) % 300 = 1;
        INSERT INTO staying SELECT 100000 * night + row_number() OVER (), age, workclass, education, marital_status, occupation, race, sex, native_country, salary_class
        FROM staying WHERE hashint8(id + 11 * night) % 300 = 2;
        COMMIT;
        FOR k IN 1..3 LOOP
            since := stopwatch();
            PERFORM kanon_refresh('series_' || kinds[k]);
            COMMIT;
            INSERT INTO night_ms VALUES (kinds[k], night, stopwatch() - since);
        END LOOP;
    END LOOP;
    held := (SELECT held_persons FROM kanon_publication_status('series_protected'));
    since := stopwatch();
    PERFORM kanon_refresh('series_stable');
    COMMIT;
    INSERT INTO night_ms SELECT 'unchanged', night, stopwatch() - since FROM generate_series(1, 5) night;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT 'series', format('%s: %s / %s', what, a.kind, 'anew') || CASE WHEN a.kind = 'protected' THEN format(' (%s of %s persons held in the end)', held, (SELECT count(*) FROM staying)) ELSE '' END,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY a.ms), percentile_cont(0.5) WITHIN GROUP (ORDER BY b.ms), percentile_cont(0.5) WITHIN GROUP (ORDER BY a.ms / b.ms), NULL, NULL
    FROM night_ms a JOIN night_ms b USING (night) WHERE a.kind <> 'anew' AND b.kind = 'anew' GROUP BY a.kind ORDER BY a.kind;
    FOR k IN 1..3 LOOP
        PERFORM kanon_drop_publication('series_' || kinds[k]);
    END LOOP;
    DROP TABLE night_ms;
    COMMIT;
END $$;
CALL series('greedy, k = 5', 'pattern_guided', '{}');
CALL series('greedy, k = 5, distinct_l 2', 'pattern_guided', jsonb_build_object('privacy', ARRAY[kanon_distinct_l('salary_class', 2)]));
CALL series('Mondrian, k = 5', 'cluster', '{"method": "mondrian"}');
SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio FROM result WHERE bench = 'series' ORDER BY place;
\set to :results '/series.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio FROM result WHERE bench = 'series' ORDER BY place;
\o
\pset format aligned
