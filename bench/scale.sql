-- Beyond one machine: processor time of the backend that publishes a table whose rows are on
-- three foreign servers (this one, three times; what they take is theirs), grouped there and,
-- for a role that may not read the partitions by themselves, here.
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\echo
\echo 'scale: processor time of the backend, 3.26 million rows on three foreign servers (medians)'
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
\getenv user PGUSER
\getenv password PGPASSWORD
SELECT coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), 'localhost') AS host,
       current_setting('port') AS port, current_database() AS dbname \gset
CREATE SERVER shards FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'host', port :'port', dbname :'dbname', async_capable 'true');
CREATE USER MAPPING FOR PUBLIC SERVER shards OPTIONS (user :'user', password :'password', password_required 'false');
CREATE TABLE spread (shard int, LIKE big) PARTITION BY LIST (shard);
CREATE ROLE bench_guest;
GRANT SELECT ON spread TO bench_guest;
DO $$
BEGIN
    FOR i IN 0..2 LOOP
        EXECUTE format('CREATE TABLE shard_%s AS SELECT %s AS shard, b.* FROM big b WHERE age %% 3 = %s', i, i, i);
        EXECUTE format('ANALYZE shard_%s', i);
        EXECUTE format('CREATE FOREIGN TABLE spread_%s PARTITION OF spread FOR VALUES IN (%s) SERVER shards OPTIONS (table_name %L)', i, i, 'shard_' || i);
    END LOOP;
END $$;

-- user and system time of this very process, in milliseconds
CREATE FUNCTION processor_ms() RETURNS float8 LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT 10 * (f[13]::float8 + f[14]::float8)
    FROM (SELECT string_to_array(substr(s, strpos(s, ')')), ' ') FROM pg_read_file('/proc/self/stat') AS s) AS t (f) $$;
CREATE FUNCTION processor_of(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    since float8 := processor_ms();
BEGIN
    EXECUTE statement;
    RETURN processor_ms() - since;
END $$;
CREATE PROCEDURE compare_foreign(call text) LANGUAGE plpgsql AS $$
DECLARE
    there float8[] := '{}';
    here float8[] := '{}';
BEGIN
    FOR i IN 0..3 LOOP
        there := there || processor_of(call);
        SET LOCAL ROLE bench_guest;
        here := here || processor_of(call);
        RESET ROLE;
    END LOOP;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT 'scale', 'whole dry run, grouped on the servers / grouped here',
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(0.5) WITHIN GROUP (ORDER BY y),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x / y), 0.05, 0.03
    FROM unnest(there[2:], here[2:]) AS t (x, y);
END $$;
SELECT format('SELECT FROM kanon_pattern_guided(%L, NULL, %L, 10, dry_run => true)', 'spread', '{' || :'adult2' || '}') AS call \gset
CALL compare_foreign(:'call');

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 3) AS ratio, must, aim
FROM result WHERE bench = 'scale' ORDER BY place;
\set to :results '/scale.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'scale' ORDER BY place;
\o
\pset format aligned
