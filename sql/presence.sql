-- kanon_presence: c-confident delta-presence, by shares of values instead of a population.
\set VERBOSITY default
SET client_min_messages = notice;
SELECT kanon_presence('pg_class', 1000, 0, 0.5, 0.95);
-- one is enough of a population, none is not
SELECT kanon_presence('pg_class', 1, 0, 0.5, 0.95) ->> 'population_rows' AS rows;
SELECT kanon_presence('pg_class', 0, 0, 0.5, 0.95);
CREATE TABLE patients AS SELECT i AS id, CASE WHEN i < 33 THEN 20 + i % 12 ELSE 40 + i % 30 END AS age, CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex,
    CASE WHEN i % 8 > 0 THEN 'city ' || i % 4 END AS town, 'd' || i % 5 AS ill FROM generate_series(1, 48) i;
CREATE TABLE age_h AS SELECT a AS value, (a / 5 * 5) || '-' || (a / 5 * 5 + 4) AS five, (a / 20 * 20) || '-' || (a / 20 * 20 + 19) AS twenty FROM generate_series(0, 99) a;
CREATE TABLE census (column_name text, value text, share numeric);
INSERT INTO census SELECT 'age', a::text, 0.0125 FROM generate_series(10, 89) a UNION ALL VALUES ('sex', 'm', 0.45), ('sex', 'f', 0.5),
    ('town', 'city 1', 0.2), ('town', 'city 2', 0.2), ('town', 'city 3', 0.1), ('town', 'city 3', 0.1), ('town', 'elsewhere', 0.1), ('town', NULL, 0.2), ('unknown', 'x', 2);
-- X of n rows, each with the probability p: how probable is it that r / (r + X) is within the bounds?
CREATE FUNCTION likelihood(r bigint, n int, p float8, dmin float8, dmax float8) RETURNS float8 LANGUAGE sql AS $$
    WITH RECURSIVE t AS (SELECT 0 AS x, n * ln(1 - least(p, 1 - 1e-12)) AS q UNION ALL SELECT x + 1, q + ln((n - x) / (x + 1)::float8) + ln(p / (1 - p)) FROM t WHERE x < n)
    SELECT CASE WHEN p >= 1 - 1e-12 THEN (r / (r + n)::float8 BETWEEN dmin - 1e-9 AND dmax + 1e-9)::int
           ELSE (SELECT coalesce(sum(exp(q)), 0) FROM t WHERE r / (r + x)::float8 BETWEEN dmin - 1e-9 AND dmax + 1e-9 AND q > -100) END $$;
-- the share of the population that shows what a cell of the target shows, and of what stands in no cell where it shows nothing
CREATE FUNCTION shown(q text, cell text, target regclass) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    sum float8;
    label text := format('CASE WHEN %1$s IN (SELECT %2$I FROM %3$s) THEN %1$s %4$s END', 'c.value', q, target,
        CASE q WHEN 'age' THEN format('WHEN h.five IN (SELECT age FROM %1$s) THEN h.five WHEN h.twenty IN (SELECT age FROM %1$s) THEN h.twenty', target) ELSE '' END);
BEGIN
    EXECUTE format('SELECT coalesce(sum(share) FILTER (WHERE label IS NOT DISTINCT FROM $1), 0) + CASE WHEN $1 IS NULL THEN 1 - sum(share) ELSE 0 END
        FROM (SELECT c.share, %s AS label FROM census c LEFT JOIN age_h h ON c.column_name = ''age'' AND h.value::text = c.value WHERE column_name = $2) x', label) INTO sum USING cell, q;
    RETURN sum;
END $$;
CREATE FUNCTION least_likelihood(n int, dmin float8, dmax float8) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT round(min(likelihood(r, n - 48, p, dmin, dmax))::numeric, 6)
            FROM (SELECT count(*) AS r, shown('age', age, 'out') * shown('sex', sex, 'out') AS p FROM out GROUP BY age, sex) c);
END $$;

-- the bounds hold, counted again by their definition; a finer cut is found where they are wider
CREATE TABLE tried (nr serial, population int, dmin float8, dmax float8, confidence float8);
INSERT INTO tried (population, dmin, dmax, confidence) VALUES (2000, 0, 1, 1), (2000, 0, 0.2, 0.9), (2000, 0, 0.2, 0.999), (500, 0, 0.2, 0.9), (500, 0.05, 0.3, 0.5), (480, 0.05, 0.15, 0.95);
CREATE TABLE results (method text, nr int, classes bigint, least numeric);
DO $d$
DECLARE
    t record;
    m text;
BEGIN
    FOR t IN SELECT * FROM tried LOOP
        FOREACH m IN ARRAY '{top_down,optimal,sibling,full_domain}'::text[] LOOP
            IF m = 'full_domain' THEN
                PERFORM kanon_full_domain('patients', 'out', '{age,sex}', 2, hierarchies => '{"age": "age_h"}', replace => true,
                    privacy => ARRAY[kanon_presence('census', t.population, t.dmin, t.dmax, t.confidence)]);
            ELSE
                PERFORM kanon_subtree('patients', 'out', '{age,sex}', 2, CASE m WHEN 'sibling' THEN 'optimal' ELSE m END, CASE m WHEN 'sibling' THEN m ELSE 'subtree' END,
                    hierarchies => '{"age": "age_h"}', replace => true, privacy => ARRAY[kanon_presence('census', t.population, t.dmin, t.dmax, t.confidence)]);
            END IF;
            INSERT INTO results SELECT m, t.nr, (SELECT classes FROM kanon_usefulness ORDER BY run DESC LIMIT 1), least_likelihood(t.population, t.dmin, t.dmax);
        END LOOP;
    END LOOP;
END $d$;
SELECT nr, population, dmin, dmax, confidence, string_agg(method || ' ' || classes, ', ' ORDER BY method) AS classes, min(least) >= confidence - 1e-6 AS kept FROM results JOIN tried USING (nr) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1;
-- a key whose persons have several rows: these rules count rows, and say so
CREATE TABLE stays AS SELECT i / 2 AS person, age, sex, town FROM (SELECT row_number() OVER () AS i, * FROM patients) p;
SELECT kanon_create_publication('stays_public', 'stays', '{age,sex}', 2, jsonb_build_object('privacy', ARRAY[kanon_presence('census', 1000, 0, 0.9, 0.5)]), model => 'full_domain', key => 'person', stable => false);
SELECT kanon_create_publication('stays_public', 'stays', '{age,sex}', 2, jsonb_build_object('privacy', ARRAY[kanon_presence('census', 1000, 0, 0.9, 0.5)], 'count_rows', true), model => 'full_domain', key => 'person', stable => false);
SELECT k >= 2 AS enough FROM kanon_releases WHERE publication = 'public.stays_public';
SELECT kanon_drop_publication('stays_public');
-- suppressed rows of a node stand for all who match no class; NULL is a value with its share
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('patients', 'out', '{town,sex}', 2, suppression_limit => 1, replace => true, metric => 'discernibility',
    privacy => ARRAY[kanon_presence('census', 1000, 0, 0.06, 0.5)]);
SELECT town, sex, count(*) FROM out GROUP BY 1, 2 ORDER BY 1, 2;
SELECT options -> 'privacy' FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT s ->> 'says' FROM jsonb_array_elements(kanon_report_data((SELECT max(run) FROM kanon_usefulness)) -> 'statements') s WHERE s ->> 'says' LIKE '%distributed%';

CREATE TABLE everybody AS SELECT age, sex FROM patients UNION ALL SELECT 15 + i % 60, CASE WHEN i % 4 < 3 THEN 'f' ELSE 'm' END FROM generate_series(1, 150) i;
-- values may be of any type
CREATE VIEW ages AS SELECT column_name::name, value::int, share::float8 FROM census WHERE column_name = 'age';
SELECT r.* FROM unnest('{ages,census}'::regclass[]) v, LATERAL (SELECT count(*) AS nodes, sum(classes) AS classes FROM kanon_full_domain('patients', NULL, '{age}', 2, hierarchies => '{"age": "age_h"}', explore => true,
    dry_run => true, privacy => ARRAY[kanon_presence(v, 500, 0, 0.5, 0.9)]) WHERE verdict <> 'fails') r;
-- Mondrian: nobody matches two classes; who is between the table's values matches a range all the same
SELECT classes, row_count FROM kanon_cluster('patients', 'out', '{age,sex}', 2, replace => true, privacy => ARRAY[kanon_delta_presence('everybody', 0, 0.6)]);
SELECT max(n) AS most, bool_and(fine) AS kept FROM (SELECT count(*) OVER (PARTITION BY e.ctid) AS n, c.r <= 0.6 * count(*) OVER (PARTITION BY c.*) AS fine
    FROM everybody e JOIN (SELECT age, sex, count(*) AS r FROM out GROUP BY 1, 2) c ON coalesce(c.age @> e.age, true) AND coalesce(c.sex = e.sex, true)) x;
SELECT classes, row_count FROM kanon_cluster('patients', 'out', '{age,sex}', 2, hierarchies => '{"age": "age_h"}', show => 'auto', replace => true, privacy => ARRAY[kanon_delta_presence('everybody', 0.05, 0.6), kanon_presence('census', 500, 0, 0.5, 0.9)]);
SELECT age, sex, count(*) FROM out GROUP BY 1, 2 ORDER BY 1, 2;
SELECT sum(n) = (SELECT count(*) FROM everybody) AS everybody, bool_and(r BETWEEN 0.05 * n AND 0.6 * n) AS kept FROM (SELECT c.r, count(*) AS n FROM everybody e JOIN age_h h ON h.value = e.age
    JOIN (SELECT age, sex, count(*) AS r FROM out GROUP BY 1, 2) c ON coalesce(c.age IN (e.age::text, five, twenty), true) AND coalesce(c.sex = e.sex, true) GROUP BY c.*, c.r) x;
SELECT classes, row_count FROM kanon_cluster('patients', 'out', '{age,sex}', 2, replace => true, privacy => ARRAY[kanon_presence('census', 1000, 0, 0.2, 0.9)]);
SELECT bool_and(likelihood(r, 1000 - 48, ((SELECT sum(share) FROM census WHERE column_name = 'age' AND coalesce(c.age @> value::int, true)) * CASE WHEN sex IS NULL THEN 1 ELSE (SELECT share FROM census WHERE column_name = 'sex' AND value = sex) END)::float8, 0, 0.2) >= 0.9 - 1e-6) AS kept
FROM (SELECT age, sex, count(*) AS r FROM out GROUP BY 1, 2) c;

-- bad input
CREATE FUNCTION refuses(distributions regclass, population_rows bigint DEFAULT 1000, dmin float8 DEFAULT 0, dmax float8 DEFAULT 0.5, confidence float8 DEFAULT 0.9, method text DEFAULT 'full_domain') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    detail text;
BEGIN
    EXECUTE format('SELECT FROM kanon_%s(''patients'', NULL, ''{age,sex}'', 2, dry_run => true, privacy => ARRAY[kanon_presence($1, $2, $3, $4, $5)])', method) USING distributions, population_rows, dmin, dmax, confidence;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(E'\n', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), hint);
END $$;
CREATE VIEW unnamed AS SELECT column_name, value FROM census;
CREATE VIEW texts AS SELECT column_name, value, share::text AS share FROM census;
CREATE VIEW negative AS SELECT column_name, value, -share AS share FROM census;
CREATE VIEW unknown AS SELECT column_name, value, NULL::float8 AS share FROM census;
CREATE VIEW too_much AS SELECT column_name, value, share * 1.2 AS share FROM census WHERE column_name <> 'unknown';
CREATE VIEW ageless AS SELECT * FROM census WHERE column_name <> 'age';
CREATE VIEW wrong AS SELECT column_name, value || ' years' AS value, share FROM census;
SELECT refuses(v) FROM unnest('{unnamed,texts,negative,unknown,too_much,ageless,wrong}'::regclass[]) v;
CREATE VIEW long_lines AS SELECT 'age' AS column_name, repeat('9', 1000000) || i AS value, 0.0::float8 AS share FROM generate_series(1, 40) i;
SET kanon.max_memory = '16MB';
SELECT left(refuses('long_lines'), 45);
RESET kanon.max_memory;
SELECT refuses('census', 47);
SELECT refuses('census', 0);
SELECT refuses('census', NULL);
SELECT refuses('census', 1000, 0.5, 0.1);
SELECT refuses('census', 1000, 0, 0.5, 0);
SELECT refuses('census', 1000, 0, 0.5, 1.1);
SELECT refuses('census', 1000, 0, 0.5, 'NaN');
SELECT refuses(NULL);
SELECT refuses('census', 1000, 0, 0.01, 0.9, 'subtree');
SELECT refuses('census', 1000, 0, 0.01, 0.9);
SELECT refuses('census', 1000, 0, 0.5, 0.9, 'pattern_guided');
-- (the hint tells what this build has)
SELECT split_part(refuses('census', 1000, 0.5, 0.6, 0.9, 'cluster'), E'\n', 1) AS refuses;
-- kanon_risk asks of any table how probable the bounds are, class by class, again by the definition; NULL tells nothing
CREATE VIEW sparse AS SELECT CASE WHEN id % 5 > 0 THEN age END AS age, CASE WHEN id % 7 > 0 THEN sex END AS sex, id FROM patients UNION ALL SELECT NULL, NULL, 100;
CREATE FUNCTION risk_again(n int, dmin float8, dmax float8, confidence float8, OUT lowest float8, OUT share float8) LANGUAGE sql AS $$
    SELECT min(l) FILTER (WHERE NOT blank), coalesce(sum(r) FILTER (WHERE NOT blank AND l < confidence), 0) / sum(r)
    FROM (SELECT count(*) AS r, age IS NULL AND sex IS NULL AS blank, likelihood(count(*), n - (SELECT count(*)::int FROM sparse),
        CASE WHEN age IS NULL THEN 1 ELSE (SELECT coalesce(sum(c.share), 0) FROM census c WHERE column_name = 'age' AND value = age::text) END
        * CASE WHEN sex IS NULL THEN 1 ELSE (SELECT coalesce(sum(c.share), 0) FROM census c WHERE column_name = 'sex' AND value = sex) END::float8, dmin, dmax) AS l
        FROM sparse GROUP BY age, sex) q $$;
SELECT v.*, round(max(k.value) FILTER (WHERE measure = 'presence_confidence')::numeric, 6) AS least, round(max(k.value) FILTER (WHERE measure = 'presence_share')::numeric, 6) AS share,
       max(abs(k.value - CASE measure WHEN 'presence_confidence' THEN a.lowest ELSE a.share END)) < 1e-6 AS as_again
FROM (VALUES (2000, 0::float8, 0.2::float8, 0.9::float8), (500, 0, 0.2, 0.9), (400, 0.05, 0.5, 0.5), (49, 0, 1, 1)) v (n, dmin, dmax, confidence),
     risk_again(n, dmin, dmax, confidence) a, kanon_risk('sparse', '{age,sex}', presence => kanon_presence('census', n, dmin, dmax, confidence)) k
WHERE measure LIKE 'presence_%' GROUP BY 1, 2, 3, 4 ORDER BY 1;
SELECT measure, round(value::numeric, 4) AS value, meaning FROM kanon_risk('sparse', '{age,sex}', subject => 'id', presence => kanon_presence('census', 2000, 0, 0.2, 0.9)) WHERE measure LIKE 'presence_%';
CREATE VIEW nobody AS SELECT * FROM sparse WHERE false;
SELECT measure, value FROM kanon_risk('nobody', '{age,sex}', presence => kanon_presence('census', 2000, 0, 0.2, 0.9)) WHERE measure LIKE 'presence_%';
SELECT count(*) FROM kanon_risk('sparse', '{age,sex}', presence => kanon_presence('census', 48, 0, 0.2, 0.9));
SELECT count(*) FROM kanon_risk('sparse', '{age,sex}', presence => kanon_delta_presence('patients', 0, 0.2));
SELECT count(*) FROM kanon_risk('sparse', '{age,sex}', presence => '{}');
SELECT count(*) FROM kanon_risk('sparse', '{age,id}', presence => kanon_presence('census', 2000, 0, 0.2, 0.9));
-- groups of a source without values have no bounds: the shares' values are all in one
CREATE TABLE empty_cells AS SELECT NULL::int AS age FROM generate_series(1, 3);
CREATE VIEW with_values AS SELECT age FROM empty_cells UNION ALL VALUES (10), (20);
SELECT level, shown, row_count FROM kanon_subtree('empty_cells', NULL, '{age}', 2, hierarchies => '{"age": {"quantile": [4, 2]}}', dry_run => true, privacy => ARRAY[kanon_presence('census', 40, 0, 1, 0.5)]);
SELECT level, shown, row_count FROM kanon_subtree('empty_cells', NULL, '{age}', 2, hierarchies => '{"age": {"quantile": [4, 2]}}', dry_run => true, privacy => ARRAY[kanon_delta_presence('with_values', 0, 1)]);
-- sets leave most of the population out, so that whoever matches is nearly sure to be in the table; everybody matches a class that shows nothing
CREATE TABLE six AS SELECT * FROM (VALUES (10), (20), (30), (40), (50), (60)) v (age);
CREATE TABLE evenly AS SELECT 'age' AS column_name, v::text AS value, 0.01 AS share FROM generate_series(1, 99) v;
SELECT classes, row_count FROM kanon_cluster('six', 'six_public', '{age}', 2, show => 'set', mark => true, privacy => ARRAY[kanon_presence('evenly', 100, 0, 0.3, 0.9)]);
SELECT count(*), age, kanon_pattern FROM six_public GROUP BY 2, 3;
-- the page has a verdict on presence, counts it again, and its check counts it
CREATE TABLE town AS SELECT i % 3 AS a FROM generate_series(1, 60) i;
CREATE TABLE ill AS SELECT i % 3 AS a FROM generate_series(1, 18) i;
CREATE FUNCTION on_presence() RETURNS TABLE (verdict text, says text, headline text, "check" text) LANGUAGE sql AS $$
    SELECT v ->> 'verdict', v ->> 'says', d #>> '{verdict,verdict}', d ->> 'check_says' || ' ' || (d ->> 'check')
    FROM (SELECT kanon_report_data(max(run), read_target => true, read_population => true) AS d FROM kanon_usefulness) r, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'presence' $$;
SELECT classes FROM kanon_cluster('ill', 'ill_public', '{a}', 2, method => 'mondrian', show => 'suppress', privacy => ARRAY[kanon_delta_presence('town', 0.1, 0.4)]);
SELECT * FROM on_presence();
SELECT measure, value FROM kanon_risk('ill_public', '{a}', population => 'town') WHERE measure LIKE 'presence%';
DELETE FROM town WHERE a = 1;
INSERT INTO town VALUES (1);
SELECT * FROM on_presence();
SELECT count(*) > 0 AS some FROM kanon_full_domain('ill', 'ill_public', '{a}', 2, replace => true, hierarchies => '{"a": {"interval": [2]}}', privacy => ARRAY[kanon_delta_presence('ill', 0, 1)]);
SELECT * FROM on_presence();
DROP TABLE town, ill, ill_public;
DROP FUNCTION on_presence;
DROP VIEW with_values;
DROP TABLE empty_cells, six, evenly, six_public;
DROP VIEW nobody, sparse;
DROP FUNCTION risk_again;
DROP FUNCTION refuses, likelihood, shown, least_likelihood;
DROP VIEW ages, unnamed, texts, negative, unknown, too_much, ageless, wrong, long_lines;
DROP TABLE patients, age_h, census, everybody, tried, results, out;
