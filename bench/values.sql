-- Publications that protect values (protect_successive => 'values'): Adult with `occupation` as the value. Night after night 2 % of the persons leave,
-- as many join, 2 % move and one in a thousand has another value. Who waits, and what is lost beside a fresh release.
\echo
\echo 'values: nights of Adult that protect occupation, six quasi-identifiers, k = 5'
CREATE TABLE pool AS SELECT row_number() OVER () AS n, age, education_num, marital_status, race, sex, hours_per_week, occupation FROM adult;
ALTER TABLE pool ADD PRIMARY KEY (n);
CREATE TABLE value_nights (l int, night int, waiting float8, loss float8, fresh float8, ms float8, fresh_ms float8);
CREATE PROCEDURE value_nights(with_l int, nights int) LANGUAGE plpgsql AS $$
DECLARE
    qis constant name[] := '{age,education_num,marital_status,race,sex,hours_per_week}';
    rule constant jsonb := kanon_distinct_l('occupation', with_l);
    rows constant int := (SELECT count(*) FROM pool);
    since float8;
    ms float8;
    lost float8;
    fresh float8;
BEGIN
    PERFORM setseed(0.5);
    CREATE TABLE persons AS SELECT * FROM pool;
    PERFORM kanon_create_publication('valued', 'persons', qis, 5, jsonb_build_object('keep', ARRAY['occupation'], 'privacy', ARRAY[rule]), 'cluster', key => 'n', protect_successive => 'values');
    COMMIT;
    FOR night IN 1..nights LOOP
        DELETE FROM persons WHERE random() < 0.02;
        INSERT INTO persons SELECT 1000000 * night + x.nr, p.age, p.education_num, p.marital_status, p.race, p.sex, p.hours_per_week, p.occupation
        FROM (SELECT nr, 1 + floor(random() * rows)::int AS n FROM generate_series(1, rows / 50) nr) x JOIN pool p ON p.n = x.n;
        UPDATE persons SET age = age + 1 WHERE random() < 0.02;
        UPDATE persons SET occupation = p.occupation FROM pool p WHERE p.n = 1 + (hashint8(persons.n + night) & 16383) AND random() < 0.001;
        COMMIT;
        since := stopwatch();
        PERFORM kanon_refresh('valued');
        COMMIT;
        ms := stopwatch() - since;
        lost := (SELECT gcp FROM kanon_usefulness ORDER BY run DESC LIMIT 1);
        since := stopwatch();
        fresh := (SELECT gcp FROM kanon_cluster('persons', 'bench_out', qis, 5, keep => '{occupation}', privacy => ARRAY[rule], replace => true));
        COMMIT;
        INSERT INTO value_nights SELECT with_l, night, held_persons::float8 / (SELECT count(*) FROM persons), lost, fresh, ms, stopwatch() - since FROM kanon_publication_status('valued');
        COMMIT;
    END LOOP;
    PERFORM kanon_drop_publication('valued');
    DROP TABLE persons, bench_out;
    COMMIT;
END $$;
\if :{?nights}
\else
\set nights 30
\endif
CALL value_nights(3, :nights);
CALL value_nights(5, :nights);
SELECT l, count(*) AS nights, round(100 * max(waiting)::numeric, 2) AS most_waiting, round(avg(loss)::numeric, 3) AS loss, round(avg(fresh)::numeric, 3) AS fresh,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)) AS ms, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms / fresh_ms)::numeric, 1) AS ratio
FROM value_nights GROUP BY l ORDER BY l;
