-- Persons with their rows by three ways: together, each table alone with its keys, and one flat join of which persons
-- are counted.  Loss of each, and combinations of a person and one order that fewer than 5 persons have.
\echo
\echo 'linked_ways: 20,000 persons with 100,000 orders, k = 5, one order known'
SET client_min_messages = warning;
CREATE SCHEMA ways;
CREATE SCHEMA ways_linked;
CREATE SCHEMA ways_alone;
CREATE TABLE ways.persons (id bigint PRIMARY KEY, birth int, region int, sex text);
INSERT INTO ways.persons
SELECT i, 1940 + (hashint8(i) & 65535) % 65, (hashint8(i + 7) & 65535) % 40, (ARRAY['f', 'm'])[1 + (hashint8(i + 11) & 1)] FROM generate_series(1, 20000) AS i;
CREATE TABLE ways.orders (id bigint PRIMARY KEY, person_id bigint REFERENCES ways.persons, month int, city int);
INSERT INTO ways.orders
SELECT i, p.id, (p.region * 3 + (hashint8(i) & 65535) % 8) % 24, CASE WHEN (hashint8(i + 3) & 7) > 0 THEN p.region ELSE (hashint8(i + 5) & 65535) % 40 END
FROM (SELECT i, 1 + floor(20000 * power((hashint8(i * 31) & 16777215) / 16777216.0, 1.5))::bigint % 20000 AS person FROM generate_series(1, 100000) AS i) AS o
JOIN ways.persons AS p ON p.id = o.person;
CREATE TABLE ways.flat AS SELECT o.*, p.birth, p.region, p.sex FROM ways.orders AS o JOIN ways.persons AS p ON p.id = o.person_id;
VACUUM ANALYZE;
\set of_persons '{"birth": {"interval": [5, 20]}}'
\set of_orders '{"month": {"interval": [3, 12]}}'
SELECT table_name, published, round(gcp::numeric, 3) AS gcp FROM kanon_linked('ways.persons', format('{
  "ways.persons": {"quasi_identifiers": ["birth", "region", "sex"], "class_size": "auto", "hierarchies": %s},
  "ways.orders": {"quasi_identifiers": ["month", "city"], "hierarchies": %s}}', :'of_persons', :'of_orders')::jsonb, 'ways_linked', 5);
SELECT FROM kanon_pattern_guided('ways.persons', 'ways_alone.persons', '{birth,region,sex}', 5, keep => '{id}', allow_identifying => '{id}', hierarchies => :'of_persons');
SELECT FROM kanon_pattern_guided('ways.orders', 'ways_alone.orders', '{month,city}', 5, keep => '{id,person_id}', allow_identifying => '{id,person_id}', hierarchies => :'of_orders');
ALTER TABLE ways_alone.persons ADD PRIMARY KEY (id);
ALTER TABLE ways_alone.orders ADD FOREIGN KEY (person_id) REFERENCES ways_alone.persons;
SELECT FROM kanon_pattern_guided('ways.flat', 'ways_alone.flat', '{birth,region,sex,month,city}', 5, keep => '{person_id}', allow_identifying => '{person_id}',
    hierarchies => :'of_persons'::jsonb || :'of_orders'::jsonb, privacy => ARRAY[kanon_subject('person_id')]);
SELECT target, row_count - dropped_rows AS published, round(gcp::numeric, 3) AS gcp, round((read_ms + solve_ms + write_ms + verify_ms)::numeric) AS ms FROM kanon_usefulness WHERE target LIKE 'ways%' ORDER BY run;
-- of the flat join by table: the cells that come from it, in all rows of the join
SELECT table_name, round(avg(ncp)::numeric, 3) AS gcp, string_agg(column_name || ' ' || round(ncp::numeric, 3), ', ' ORDER BY column_name) AS columns
FROM (SELECT CASE WHEN column_name IN ('month', 'city') THEN 'orders' ELSE 'persons' END AS table_name, column_name, ncp
      FROM kanon_columns WHERE run = (SELECT max(run) FROM kanon_usefulness WHERE target = 'ways_alone.flat')) AS c GROUP BY 1 ORDER BY 1;
-- an attacker who knows a person and one order
SELECT way, combinations, smallest, below_k, round(below_k / combinations::numeric, 3) AS share
FROM (VALUES ('together', 'ways_linked'), ('each alone', 'ways_alone')) AS w (way, home),
     kanon_check_linked((home || '.persons')::regclass, format('{"%1$s.persons": {"quasi_identifiers": ["birth", "region", "sex"]}, "%1$s.orders": {"quasi_identifiers": ["month", "city"]}}', home)::jsonb, 5, '1');
-- of the flat join: persons whose rows do not show one and the same birth, region and sex
SELECT count(*) AS persons, count(*) FILTER (WHERE n > 1) AS shown_in_several_ways
FROM (SELECT person_id, count(DISTINCT (birth, region, sex)) AS n FROM ways_alone.flat GROUP BY 1) AS p;
DROP SCHEMA ways, ways_linked, ways_alone CASCADE;

-- Persons first (classes by the subject's columns, then their rows, as kanon_linked works) against rows first (persons in
-- the order of their rows, so many together, then what they show of the subject): k = 3, the sizes that lose least.
\echo
\echo 'linked_ways: both orders, 180 random data sets of 40 or 120 persons with three orders each'
CREATE SCHEMA ways;
CREATE SCHEMA ways_out;
CREATE TABLE ways.persons (id int PRIMARY KEY, together int, birth int, region int, sex text);
CREATE TABLE ways.orders (id int PRIMARY KEY, person int REFERENCES ways.persons, month int, city int);
CREATE TEMP TABLE seen (seed int, tie numeric, persons int, way text, loss float8);
CREATE FUNCTION pg_temp.draw(seed int, i int, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT (hashint8extended(i, seed) & 1073741823)::int % n $$;
CREATE PROCEDURE pg_temp.try(seed int, tie numeric, n int, way text, options text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kanon_linked('ways.persons', format('{"ways.persons": {"quasi_identifiers": ["birth", "region", "sex"%s, "hierarchies": {"birth": {"interval": [5, 20]}}},
      "ways.orders": {"quasi_identifiers": ["month", "city"], "hierarchies": {"month": {"interval": [3, 12]}}}}', options)::jsonb, 'ways_out', 3, replace => true);
    INSERT INTO seen SELECT seed, tie, n, way, avg(c.ncp) + (SELECT gcp FROM kanon_usefulness WHERE target = 'ways_out.orders' ORDER BY run DESC LIMIT 1)
    FROM kanon_columns AS c WHERE c.column_name <> 'together' AND c.run = (SELECT max(run) FROM kanon_usefulness WHERE target = 'ways_out.persons');
EXCEPTION WHEN invalid_parameter_value OR check_violation THEN
    NULL;       -- there are too few persons for such classes
END $$;
CREATE PROCEDURE pg_temp.try_orders(seed int, tie numeric, n int) LANGUAGE plpgsql AS $$
DECLARE
    size int;
BEGIN
    TRUNCATE ways.persons, ways.orders;
    INSERT INTO ways.persons SELECT i, 0, 1940 + pg_temp.draw(seed, i, 60), pg_temp.draw(seed, 1000 + i, 8), (ARRAY['f','m'])[1 + pg_temp.draw(seed, 2000 + i, 2)] FROM generate_series(1, n) AS i;
    -- so often the city is the person's region
    INSERT INTO ways.orders
    SELECT i, p.id, (p.region * 3 + pg_temp.draw(seed, 20000 + i, 6)) % 24, CASE WHEN pg_temp.draw(seed, 10000 + i, 100) < 100 * tie THEN p.region ELSE pg_temp.draw(seed, 30000 + i, 8) END
    FROM generate_series(1, 3 * n) AS i JOIN ways.persons AS p ON p.id = 1 + pg_temp.draw(seed, 40000 + i, n);
    FOREACH size IN ARRAY ARRAY[3, 6, 12, 24] LOOP
        CALL pg_temp.try(seed, tie, n, 'persons first', format('], "class_size": %s', size));
        UPDATE ways.persons AS p SET together = g.together
        FROM (SELECT id, least((row_number() OVER (ORDER BY rows, id) - 1) / size, n / size - 1) AS together
              FROM (SELECT p.id, array_agg(city * 100 + month / 3 ORDER BY city * 100 + month / 3) AS rows FROM ways.persons AS p LEFT JOIN ways.orders AS o ON o.person = p.id GROUP BY p.id) AS r) AS g
        WHERE g.id = p.id;
        CALL pg_temp.try(seed, tie, n, 'rows first', format(', "together"], "class_size": %s, "partition_by": "together"', size));
    END LOOP;
END $$;
SELECT format('CALL pg_temp.try_orders(%s, %s, %s)', seed, tie, n) FROM generate_series(1, 40) AS seed, unnest(ARRAY[0, 0.5, 0.9]) AS tie, unnest(ARRAY[40, 120]) AS n WHERE n = 40 OR seed <= 20
\gexec
SELECT tie, count(*) AS sets, round(avg(p)::numeric, 3) AS persons_first, round(avg(r)::numeric, 3) AS rows_first, count(*) FILTER (WHERE r < p) AS rows_first_wins
FROM (SELECT min(loss) FILTER (WHERE way = 'persons first') AS p, min(loss) FILTER (WHERE way = 'rows first') AS r, tie FROM seen GROUP BY seed, tie, persons) AS s GROUP BY tie ORDER BY tie;
DROP SCHEMA ways, ways_out CASCADE;
