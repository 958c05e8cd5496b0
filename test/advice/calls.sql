-- kanon_suggest_call of every loaded table: does the call publish at the first try, and at what loss?
CREATE TABLE tried (relation text, rows bigint, qis int, gcp float8, seconds float8, why text);
DO $$
DECLARE
    name text; call text; before bigint; begun timestamptz; n bigint;
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'sets'::regnamespace AND relkind = 'r' AND relname !~ '_public$' ORDER BY 1 LOOP
        begun := clock_timestamp();
        before := coalesce((SELECT max(run) FROM kanon_usefulness), 0);
        EXECUTE format('SELECT count(*) FROM sets.%I', name) INTO n;
        BEGIN
            SELECT kanon_suggest_call(format('sets.%I', name)::regclass) INTO call;
            EXECUTE call;
            INSERT INTO tried SELECT name, n, jsonb_array_length(options -> 'quasi_identifiers'), gcp, extract(epoch FROM clock_timestamp() - begun), CASE WHEN run IS NULL THEN 'nothing to publish' END
                FROM (SELECT) o LEFT JOIN LATERAL (SELECT * FROM kanon_usefulness WHERE run > before ORDER BY run DESC LIMIT 1) u ON true;
        EXCEPTION WHEN others THEN
            INSERT INTO tried VALUES (name, n, NULL, NULL, extract(epoch FROM clock_timestamp() - begun), sqlerrm);
        END;
    END LOOP;
END $$;
SELECT count(*) AS tables, sum(rows) AS rows, count(gcp) AS published, round(avg(gcp)::numeric, 3) AS mean_gcp, count(*) FILTER (WHERE why IS NOT NULL) AS not FROM tried;
SELECT relation, rows, qis, round(gcp::numeric, 3) AS gcp, round(seconds::numeric, 1) AS seconds, left(why, 90) AS why FROM tried ORDER BY why NULLS LAST, relation;
