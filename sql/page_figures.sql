-- A page says what the table shows, for the attacker of its promise.
\set VERBOSITY terse
SET timezone = 'UTC';
CREATE SCHEMA page_figures;
SET search_path = page_figures, public;
-- who is held back, waits, or is shown though gone: in figures, and in the promise
CREATE TABLE nightly AS SELECT i AS id, i % 9 AS a, i % 4 AS b FROM generate_series(1, 900) AS i;
SELECT kanon_create_publication('nightly_view', 'nightly', '{a,b}', 5, key => 'id', protect_successive => true);
INSERT INTO nightly VALUES (901, 1, 1), (902, 2, 2), (903, 2, 2);
DELETE FROM nightly WHERE id IN (10, 20);
UPDATE nightly SET a = 3 WHERE id = 7;
SELECT status, held_persons FROM kanon_refresh('nightly_view');
SELECT max(run) AS held FROM kanon_usefulness \gset
SELECT regexp_replace(s ->> 'says', 'on \d.*? UTC', 'on a day') AS says FROM jsonb_array_elements(kanon_report_data(:held) -> 'statements') s WHERE s ->> 'about' IN ('release', 'promise') OFFSET 1;
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data(:held) -> 'verdicts') v WHERE v ->> 'about' = 'held_back';
SELECT d #>> '{risk,source,row_count}' AS before, d #>> '{risk,target,row_count}' AS after FROM kanon_report_data(:held) d;

-- attribute disclosure is counted class by class, and persons by a kept column that repeats as they would
CREATE TABLE visits AS SELECT p AS pid, 'P' || p AS patient_id, p % 40 + 20 AS age, CASE WHEN p % 11 > 0 THEN p * 7 % 11 END AS zip,
    (ARRAY['flu', 'cold', 'cough'])[1 + (p * 31 + v * 17 + p * v) % 3] AS diagnosis, 'w' || (p * 13 + v) % 30 AS ward, p % 7 = 3 OR p < 5 AS hiv
    FROM generate_series(1, 2000) AS p, generate_series(1, 1 + p % 8) AS v;
CREATE FUNCTION by_sql(target text, qis text, kept text, k int, OUT classes bigint, OUT one_classes bigint, OUT one_rows bigint, OUT most_classes bigint, OUT most_rows bigint,
    OUT fewest bigint, OUT single bigint, OUT few bigint, OUT few_rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), count(*) FILTER (WHERE most = n), coalesce(sum(n) FILTER (WHERE most = n), 0), count(*) FILTER (WHERE 10 * most >= 9 * n), coalesce(sum(n) FILTER (WHERE 10 * most >= 9 * n), 0),
        least(min(d), %3$s), count(*) FILTER (WHERE d <= 1), count(*) FILTER (WHERE d < %3$s), coalesce(sum(n) FILTER (WHERE d < %3$s), 0)
        FROM (SELECT sum(c) AS n, max(c) AS most, count(v) AS d FROM (SELECT %1$s, %2$s AS v, count(*) AS c FROM %4$s GROUP BY %1$s, %2$s) x GROUP BY %1$s) y', qis, kept, k, target)
    INTO classes, one_classes, one_rows, most_classes, most_rows, fewest, single, few, few_rows;
END $$;
\set VERBOSITY default
SELECT classes FROM kanon_pattern_guided('visits', 'visits_masked', '{age,zip}', 5, keep => '{patient_id,diagnosis,ward,hiv}', mask => '{"patient_id": "pseudonym"}');
\set VERBOSITY terse
SELECT classes FROM kanon_pattern_guided('visits', 'visits_open', '{age,zip}', 5, keep => '{pid,diagnosis,hiv}', hierarchies => '{"age": {"interval": [5, 10]}}', allow_identifying => '{pid}');
-- persons are known: k counts them
SELECT count(*) FROM kanon_pattern_guided('visits', 'visits_subject', '{age,zip}', 5, keep => '{patient_id,hiv}', mask => '{"patient_id": "pseudonym"}', privacy => array[kanon_subject('patient_id')]);
-- the label says that it is nobody
SECURITY LABEL FOR kanon ON COLUMN visits.pid IS 'keep';
SELECT count(*) FROM kanon_cluster('visits', 'visits_labelled', '{age,zip}', 5, keep => '{pid,hiv}', allow_identifying => '{pid}');
SELECT u.target, d ->> 'column' AS column, (u.disclosure ->> 'classes')::int AS classes, d - 'column' AS figures,
       ARRAY[(u.disclosure ->> 'classes')::bigint, (d ->> 'one_classes')::bigint, (d ->> 'one_rows')::bigint, (d ->> 'most_classes')::bigint, (d ->> 'most_rows')::bigint]
           = ARRAY[s.classes, s.one_classes, s.one_rows, s.most_classes, s.most_rows]
       AND (d ->> 'least_persons' IS NULL OR ARRAY[(d ->> 'least_persons')::bigint, (d ->> 'single_classes')::bigint, (d ->> 'few_classes')::bigint, (d ->> 'few_rows')::bigint]
           = ARRAY[s.fewest, s.single, s.few, s.few_rows]) AS as_counted
    FROM kanon_usefulness u, jsonb_array_elements(u.disclosure -> 'columns') AS d, by_sql(u.target, 'age, zip', d ->> 'column', 5) AS s
    WHERE u.target LIKE 'page_figures.%visits%' ORDER BY u.run, d ->> 'column';
SELECT v ->> 'verdict' AS verdict, v ->> 'about' AS about, v ->> 'says' AS says FROM (SELECT run FROM kanon_usefulness WHERE target LIKE 'page_figures.%visits_masked') u, jsonb_array_elements(kanon_report_data(u.run) -> 'verdicts') v;
SELECT d #>> '{verdict,says}' AS headline, d #>> '{front,columns}' AS columns FROM (SELECT run FROM kanon_usefulness WHERE target LIKE 'page_figures.%visits_masked') u, kanon_report_data(u.run) d;
SELECT u.target, q ->> 'question' AS question, q ->> 'answer' AS answer FROM (SELECT run, target FROM kanon_usefulness WHERE target LIKE 'page_figures.%visits_%') u, jsonb_array_elements(kanon_report_data(u.run) -> 'questions') q;

-- classes and empty cells are those of the table, where a NULL of the source looks like a suppressed cell
CREATE TABLE missing AS SELECT i % 3 AS a, CASE WHEN i % 5 > 1 THEN 'x' || i % 4 END AS b, CASE WHEN i % 7 > 0 THEN i % 13 END AS c FROM generate_series(1, 300) AS i
    UNION ALL SELECT 1, NULL, NULL FROM generate_series(1, 4) UNION ALL SELECT 2, 'rare', NULL UNION ALL SELECT NULL, NULL, NULL FROM generate_series(1, 3);
SELECT count(*) FROM kanon_pattern_guided('missing', 'missing_open', '{a,b,c}', 4);
SELECT count(*) FROM kanon_pattern_guided('missing', 'missing_marked', '{a,b,c}', 4, mark => true);
SELECT count(*) FROM kanon_cluster('missing', 'missing_mondrian', '{a,b,c}', 4);
CREATE FUNCTION counted(query text) RETURNS bigint[] LANGUAGE plpgsql AS $$ DECLARE found bigint[]; BEGIN EXECUTE query INTO found; RETURN found; END $$;
-- (rows that show nothing are one class, marked or not)
SELECT u.target, u.classes, u.class_min, u.class_max, g.g = ARRAY[u.classes, u.class_min, u.class_max] AS as_in_table, k.classes = r.classes AS as_checked, k.k = r.k AS k
    FROM kanon_usefulness u JOIN kanon_run_risk r ON r.run = u.run AND r.stage = 'target',
         LATERAL (SELECT counted(format('SELECT ARRAY[count(*), min(n), max(n)] FROM (SELECT count(*) AS n FROM (SELECT *, num_nonnulls(a, b, c) = 0 AS blank FROM %s) t GROUP BY a, b, c, blank%s) g',
             u.target, CASE WHEN u.target LIKE '%marked' THEN ', CASE WHEN NOT blank THEN kanon_pattern END' ELSE '' END)) AS g) AS g,
         LATERAL kanon_check(u.target::regclass, '{a,b,c}') AS k
    WHERE u.target LIKE 'page_figures.%missing%' ORDER BY u.run;
SELECT c.run - min(c.run) OVER () AS run, c.column_name, c.kept, c.generalised, c.suppressed, c.nulls,
       ARRAY[c.suppressed] = counted(format('SELECT ARRAY[count(*) FILTER (WHERE %I IS NULL)] FROM %s', c.column_name, u.target)) AS as_in_table
    FROM kanon_columns c JOIN kanon_usefulness u USING (run) WHERE u.target LIKE 'page_figures.%missing%' AND NOT u.target LIKE '%mondrian' ORDER BY c.run, c.ordinal;

-- two classes of the release that look the same are one class, which has two values
CREATE TABLE alike AS SELECT 1 AS a, NULL::text AS b, 'u' AS d FROM generate_series(1, 6) UNION ALL SELECT 1, 'x' || i, 'v' FROM generate_series(1, 5) AS i;
SELECT classes FROM kanon_pattern_guided('alike', 'alike_open', '{a,b}', 5, keep => '{d}');
SELECT classes, disclosure FROM kanon_usefulness WHERE target LIKE 'page_figures.%alike_open';

-- a source that has grown since; a share that is rounded up; more columns than can be compared
CREATE TABLE growing AS SELECT i % 7 AS a, i % 2 AS b, 'd' || i % 3 AS d FROM generate_series(1, 1000) AS i;
SELECT classes FROM kanon_pattern_guided('growing', 'growing_open', '{a,b}', 5, keep => '{d}');
INSERT INTO growing SELECT i % 7, i % 2, 'd' || i % 3 FROM generate_series(1, 500) AS i;
SELECT g ->> 'column_name' AS column, round(sum((b ->> 'before_share')::numeric), 6) AS before, round(sum((b ->> 'after_share')::numeric), 6) AS after
    FROM (SELECT run FROM kanon_usefulness WHERE target LIKE 'page_figures.%growing_open') u, kanon_report_data(u.run, compare => true) d, jsonb_array_elements(d #> '{compared,distributions}') g, jsonb_array_elements(g -> 'bars') b GROUP BY 1 ORDER BY 1;
CREATE TABLE thirds AS SELECT CASE WHEN i <= 7 THEN 1 ELSE 2 END AS a, CASE WHEN i <= 3 THEN 'x' WHEN i <= 5 THEN 'y' WHEN i <= 7 THEN 'z' ELSE 'w' || i % 3 END AS d FROM generate_series(1, 1007) AS i;
SELECT classes FROM kanon_pattern_guided('thirds', 'thirds_open', '{a}', 5, keep => '{d}');
SELECT substring(kanon_report(u.run, read_target => true) FROM 'In some class [0-9.]+ %') AS most FROM (SELECT run FROM kanon_usefulness WHERE target LIKE 'page_figures.%thirds_open') u;
SELECT format('CREATE TABLE broad AS SELECT i %% 7 AS a, %s FROM generate_series(1, 100) i', string_agg(format('(i + %s) %% 2 AS q%s', j, j), ', ')) FROM generate_series(1, 256) AS j \gexec
SELECT format($$SELECT count(*) FROM kanon_pattern_guided('broad', 'broad_open', '{a}', 5, keep => '{%s}')$$, string_agg('q' || j, ',')) FROM generate_series(1, 256) AS j \gexec
SELECT kanon_report_data(u.run, compare => true) #>> '{compared,says}' AS says FROM (SELECT run FROM kanon_usefulness WHERE target LIKE 'page_figures.%broad_open') u;
SELECT format($$SELECT count(*) FROM kanon_compare('broad', 'broad_open', '{a}', keep => '{%s}')$$, string_agg('q' || j, ',')) FROM generate_series(1, 256) AS j \gexec

-- rows that are NULL in all quasi-identifiers are a class like any other: (1/2 + 1/2 + 1/2 + 1/2 + 1) / 5, and so on
CREATE TABLE survey (q int, w float8, person int, hh int);
INSERT INTO survey VALUES (NULL, 2, 1, 1), (NULL, 2.5, 2, 1), (1, 10, 3, 2), (1, 10, 4, 3), (2, 10, 5, 4);
CREATE TABLE everybody AS SELECT g % 3 AS q FROM generate_series(1, 12) AS g;
SELECT measure, round(value::numeric, 4) AS value FROM kanon_risk('survey', '{q}', weights => 'w', household => 'hh', population => 'everybody') WHERE measure ~ 'prosecutor|journalist|marketer|individual|household';

-- a date and a timestamp of one person are shifted alike
CREATE TABLE stays AS SELECT i AS rid, i / 4 AS person, i % 3 AS g, date '2020-01-01' + i AS a, timestamp '2020-01-01' + i * interval '1 day' AS c FROM generate_series(0, 399) AS i;
SELECT count(*) FROM kanon_pattern_guided('stays', 'stays_open', '{g}', 5, keep => '{rid,person,a,c}', allow_identifying => '{rid,person,a,c}', mask => '{"a": {"shift": "person", "days": 30}, "c": {"shift": "person", "days": 30}}');
SELECT count(*) FILTER (WHERE abs(extract(epoch FROM (t.a - x.a) * interval '1 day' - (t.c - x.c))) > 86400) AS apart, count(DISTINCT t.a - x.a) > 25 AS many, max(abs(t.a - x.a)) <= 30 AS bounded, count(*)
    FROM stays x JOIN stays_open t USING (rid);

SELECT kanon_drop_publication('nightly_view');
SET client_min_messages = warning;
DROP SCHEMA page_figures CASCADE;
