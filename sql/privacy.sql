-- rules beyond k: sensitive values, persons; each as its paper has it, and what methods take
CREATE SCHEMA privacy_test;
SET search_path = privacy_test, public;
-- a number is what was said, however the session likes to see floats
SET extra_float_digits = -15;
SELECT kanon_alpha('ill', 0.67), kanon_t_closeness('ill', 0.25), kanon_presence('pg_class', 1000, 0, 0.34, 0.96);
RESET extra_float_digits;
CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s: %s%s\nHINT: %s', SQLSTATE, message, coalesce(E'\nDETAIL: ' || nullif(detail, ''), ''), hint);
END $$;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse

-- rules are readable sentences
CREATE TABLE everybody (zip text, age text);
CREATE TABLE ladder (ill text, kind text, "all" text);
SELECT kanon_distinct_l('ill', 3);
SELECT kanon_distinct_l(ARRAY['ill', 'Pay, gross'], 3);
SELECT kanon_entropy_l('ill', 4);
SELECT kanon_recursive_cl('ill', 0.5, 3);
SELECT kanon_alpha('ill', 0.5);
SELECT kanon_alpha('ill', 0.25, '{"it''s bad",hiv}');
SELECT kanon_t_closeness('pay', 0.2, 'ordered');
SELECT kanon_t_closeness('ill', 0.2, 'hierarchical', 'ladder');
SELECT kanon_delta_presence('everybody', 0.1, 0.5);
SELECT kanon_k_map('everybody');
SELECT kanon_subject('who');

-- what they refuse
SELECT try($$ kanon_distinct_l('ill', 1) $$);
SELECT try($$ kanon_distinct_l(NULL::name, 2) $$);
SELECT try($$ kanon_distinct_l('{}'::name[], 2) $$);
SELECT try($$ kanon_distinct_l('{ill,ill}'::name[], 2) $$);
SELECT try($$ kanon_entropy_l('ill', 0) $$);
SELECT try($$ kanon_recursive_cl('ill', 0, 3) $$);
SELECT try($$ kanon_recursive_cl('ill', 2, 1) $$);
SELECT try($$ kanon_alpha('ill', 0) $$);
SELECT try($$ kanon_alpha('ill', 1.01) $$);
SELECT try($$ kanon_alpha('ill', 'NaN') $$);
SELECT try($$ kanon_alpha('ill', 0.5, '{}') $$);
SELECT try($$ kanon_alpha('ill', 0.5, '{NULL}') $$);
SELECT try($$ kanon_t_closeness('ill', 0, 'equal') $$);
SELECT try($$ kanon_t_closeness('ill', 2, 'equal') $$);
SELECT try($$ kanon_t_closeness('ill', 0.2, 'near') $$);
SELECT try($$ kanon_t_closeness('ill', 0.2, 'hierarchical') $$);
SELECT try($$ kanon_t_closeness('ill', 0.2, 'equal', 'ladder') $$);
SELECT try($$ kanon_delta_presence('everybody', 0.5, 0.1) $$);
SELECT try($$ kanon_delta_presence(NULL, 0.5, 0.1) $$);
SELECT try($$ kanon_k_map(4294967295) $$);
SELECT try($$ kanon_k_map(0) $$);
SELECT try($$ kanon_t_closeness('ill', 0.2, 'hierarchical', 4294967295) $$);

-- a table as in the papers' introductions: the 4-anonymous inpatients of Machanavajjhala et al., Figure 2
CREATE TABLE inpatient (zip text, age text, nationality text, ill text, who int, ssn text);
INSERT INTO inpatient VALUES
    ('130**', '<30', '*', 'heart disease', 1), ('130**', '<30', '*', 'heart disease', 2),
    ('130**', '<30', '*', 'viral infection', 3), ('130**', '<30', '*', 'viral infection', 4),
    ('1485*', '>=40', '*', 'cancer', 5), ('1485*', '>=40', '*', 'heart disease', 6),
    ('1485*', '>=40', '*', 'viral infection', 7), ('1485*', '>=40', '*', 'viral infection', 8),
    ('130**', '3*', '*', 'cancer', 9), ('130**', '3*', '*', 'cancer', 10),
    ('130**', '3*', '*', 'cancer', 11), ('130**', '3*', '*', 'cancer', 12);
CREATE FUNCTION classes(relation text, qis name[], k bigint, keep name[], rules jsonb[], residual text DEFAULT 'suppress')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    SELECT string_agg(pattern || ' ' || classes || ' class(es) ' || row_count || ' rows', ', ' ORDER BY cost)
    INTO found FROM kanon_pattern_guided(relation, 'out', qis, k, keep => keep, privacy => rules, residual => residual);
    DROP TABLE out;
    RETURN coalesce(found, 'nothing');
END $$;

-- bad input
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => '{NULL}') $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['"be careful"'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "magic"}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "distinct_l", "column": "ill"}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "distinct_l", "column": "ill", "l": "3"}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "distinct_l", "column": "ill", "l": 2.5}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "distinct_l", "column": "ill", "l": 1}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "distinct_l", "columns": [], "l": 2}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY['{"rule": "subject", "columns": ["who", "ill"]}'::jsonb]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2) || '{"alpha": 1}']) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, privacy => ARRAY[kanon_distinct_l('age', 2)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, privacy => ARRAY[kanon_distinct_l('nope', 2)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('{ill,who}', 2)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, privacy => ARRAY[kanon_subject('zip')]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, privacy => ARRAY[kanon_subject('ssn')]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, privacy => ARRAY[kanon_subject('who'), kanon_subject('who')]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_t_closeness('ill', 0.2, 'hierarchical', 'ladder')]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_k_map('everybody') || '{"population": "nobody"}']) $$);
SELECT to_regclass('o');

-- impossible, and what would be possible
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 4)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', residual => 'drop', privacy => ARRAY[kanon_distinct_l('ill', 4)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_entropy_l('ill', 3)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_recursive_cl('ill', 0.5, 2)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_recursive_cl('ill', 2, 5)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_alpha('ill', 0.25)]) $$);
SELECT try($$ kanon_pattern_guided('inpatient', 'o', '{zip,age}', 9, keep => '{ill}', privacy => ARRAY[kanon_subject('nationality')]) $$);

-- 1. homogeneity attack (Machanavajjhala et al.): k = 4 tells that everybody in his thirties has cancer
SELECT classes('inpatient', '{zip,age}', 4, '{ill}', NULL);
SELECT classes('inpatient', '{zip,age}', 4, '{ill}', ARRAY[kanon_distinct_l('ill', 2)]);
-- 2. background knowledge (same paper): who cannot have heart disease has a viral infection, unless there are three
SELECT classes('inpatient', '{zip,age}', 4, '{ill}', ARRAY[kanon_distinct_l('ill', 3)]);
SELECT classes('inpatient', '{zip,age}', 4, '{ill}', ARRAY[kanon_recursive_cl('ill', 2, 3)]);
SELECT classes('inpatient', '{zip,age}', 4, '{ill}', ARRAY[kanon_entropy_l('ill', 2)]);
-- 3. skewness attack (Li et al.): one in a hundred is positive in the table, one in two in a class
CREATE TABLE tested AS SELECT CASE WHEN i <= 4 THEN 'a' ELSE 'b' END AS zip,
    CASE WHEN i <= 2 OR i = 5 THEN 'positive' ELSE 'negative' END AS test FROM generate_series(1, 200) i;
SELECT classes('tested', '{zip}', 4, '{test}', ARRAY[kanon_distinct_l('test', 2)]);
SELECT classes('tested', '{zip}', 4, '{test}', ARRAY[kanon_entropy_l('test', 2)], 'drop');
SELECT classes('tested', '{zip}', 4, '{test}', ARRAY[kanon_t_closeness('test', 0.1, 'equal')]);
-- 4. similarity attack (Li et al., Tables 3 to 5): three low salaries are distinct, and all low; three diseases, all of the stomach
CREATE TABLE salaries (zip text, age text, salary int, ill text);
INSERT INTO salaries VALUES ('476**', '2*', 3, 'gastric ulcer'), ('476**', '2*', 4, 'gastritis'), ('476**', '2*', 5, 'stomach cancer'),
    ('4790*', '>=40', 6, 'gastritis'), ('4790*', '>=40', 11, 'flu'), ('4790*', '>=40', 8, 'bronchitis'),
    ('476**', '3*', 7, 'bronchitis'), ('476**', '3*', 9, 'pneumonia'), ('476**', '3*', 10, 'stomach cancer');
SELECT classes('salaries', '{zip,age}', 3, '{salary}', ARRAY[kanon_distinct_l('salary', 3)]);
SELECT classes('salaries', '{zip,age}', 3, '{salary}', ARRAY[kanon_t_closeness('salary', 0.374, 'ordered')]);
SELECT classes('salaries', '{zip,age}', 3, '{salary}', ARRAY[kanon_t_closeness('salary', 0.376, 'ordered')]);
INSERT INTO ladder VALUES ('gastric ulcer', 'stomach', '*'), ('gastritis', 'stomach', '*'), ('stomach cancer', 'stomach', '*'),
    ('flu', 'lung', '*'), ('bronchitis', 'lung', '*'), ('pneumonia', 'lung', '*');
SELECT classes('salaries', '{zip,age}', 3, '{ill}', ARRAY[kanon_distinct_l('ill', 3)]);
SELECT classes('salaries', '{zip,age}', 3, '{ill}', ARRAY[kanon_t_closeness('ill', 0.4, 'hierarchical', 'ladder')]);
-- 5. (alpha, k)-anonymity (Wong et al.): hiv is sensitive, flu is not
CREATE TABLE visits (job text, born int, ill text);
INSERT INTO visits VALUES ('it', 1975, 'hiv'), ('it', 1975, 'flu'), ('it', 1980, 'hiv'), ('it', 1980, 'hiv'),
    ('law', 1975, 'flu'), ('law', 1975, 'flu'), ('law', 1980, 'flu'), ('law', 1980, 'flu');
SELECT classes('visits', '{job,born}', 2, '{ill}', ARRAY[kanon_alpha('ill', 0.5, '{hiv}')]);
SELECT classes('visits', '{job,born}', 2, '{ill}', ARRAY[kanon_alpha('ill', 0.7)]);
SELECT classes('visits', '{job,born}', 2, '{ill}', ARRAY[kanon_alpha('ill', 0.5, '{hiv,plague}')]);
-- 6. p-sensitivity (Truta, Vinay): two attributes, each with p values
CREATE TABLE patients (zip text, sex text, ill text, income int);
INSERT INTO patients VALUES ('1', 'f', 'a', 10), ('1', 'f', 'a', 20), ('1', 'm', 'b', 10), ('1', 'm', 'c', 10),
    ('2', 'f', 'a', 10), ('2', 'f', 'b', 20);
SELECT classes('patients', '{zip,sex}', 2, '{ill,income}', ARRAY[kanon_distinct_l('ill', 2), kanon_distinct_l('income', 2)]);
-- 7. several sensitive attributes (Machanavajjhala et al., section 4.2): each is diverse, but who knows one infers the other
CREATE TABLE pairs (zip text, ill text, drug text);
INSERT INTO pairs VALUES ('1', 'a', 'x'), ('1', 'b', 'y'), ('2', 'a', 'x'), ('2', 'a', 'y'), ('2', 'b', 'x'), ('2', 'b', 'y');
SELECT classes('pairs', '{zip}', 2, '{ill,drug}', ARRAY[kanon_distinct_l('ill', 2), kanon_distinct_l('drug', 2)]);
SELECT classes('pairs', '{zip}', 2, '{ill,drug}', ARRAY[kanon_distinct_l(ARRAY['ill', 'drug'], 2)], 'drop');
-- 8. one patient with ten visits is one person
CREATE TABLE many AS SELECT 'a' AS zip, 1 AS who, 'flu' AS ill FROM generate_series(1, 10)
    UNION ALL SELECT 'b', i, CASE WHEN i % 2 = 0 THEN 'flu' ELSE 'gout' END FROM generate_series(2, 6) i;
SELECT classes('many', '{zip}', 5, '{ill}', NULL);
SELECT classes('many', '{zip}', 5, '{}', ARRAY[kanon_subject('who')]);
SELECT classes('many', '{zip}', 5, '{ill}', ARRAY[kanon_subject('who'), kanon_alpha('ill', 0.7)]);
-- 9. what is left over is a class, too: one row that is fully suppressed tells its value
CREATE TABLE leftover AS SELECT 'a' AS zip, 'v' || i AS ill FROM generate_series(1, 5) i UNION ALL SELECT 'b', 'v1';
SELECT classes('leftover', '{zip}', 2, '{ill}', NULL);
SELECT classes('leftover', '{zip}', 2, '{ill}', ARRAY[kanon_distinct_l('ill', 2)]);
SELECT classes('leftover', '{zip}', 2, '{ill}', ARRAY[kanon_distinct_l('ill', 2)], 'drop');
SELECT try($$ kanon_pattern_guided('leftover', 'o', '{zip}', 2, keep => '{ill}', residual => 'error', privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);
-- 10. NULL is a value of its own
CREATE TABLE unknown AS SELECT 'a' AS zip, NULLIF('v' || i, 'v2') AS ill FROM generate_series(1, 2) i
    UNION ALL SELECT 'b', NULL FROM generate_series(1, 2);
SELECT classes('unknown', '{zip}', 2, '{ill}', ARRAY[kanon_distinct_l('ill', 2)], 'drop');
-- 11. equal values in two spellings are one value, in the table and in the target
CREATE TABLE spelled AS SELECT 'a' AS zip, n FROM unnest('{1.0,1.00,1}'::numeric[]) n
    UNION ALL SELECT 'b', n FROM unnest('{1.0,2,2.00}'::numeric[]) n;
SELECT classes('spelled', '{zip}', 2, '{n}', ARRAY[kanon_distinct_l('n', 2)], 'drop');

-- a class of persons is counted while it is written, with nothing to keep
SELECT count(*) FROM kanon_pattern_guided('many', 'o', '{zip}', 5, privacy => ARRAY[kanon_subject('who')], mark => true);
\d o
SELECT kanon_pattern, count(*) FROM o GROUP BY 1 ORDER BY 1;
DROP TABLE o;

-- the record has the rules, and no value that they list
SELECT count(*) FROM kanon_pattern_guided('visits', 'o', '{job,born}', 2, keep => '{ill}', residual => 'drop', privacy => ARRAY[kanon_alpha('ill', 0.5, '{hiv}')]);
SELECT options->'privacy' FROM kanon_usefulness WHERE target = 'privacy_test.o' ORDER BY run DESC LIMIT 1;
DROP TABLE o;

-- dry runs take them
SELECT k, classes, residual_rows FROM kanon_frontier('inpatient', '{zip,age}', '{2,4,12}', keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 3)]);
-- a k without a release is answered by nothing, the others all the same
SELECT k, classes FROM kanon_frontier('inpatient', '{zip,age}', '{4,12,13}', keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)]);
SELECT count(*) > 0 FROM kanon_explain('inpatient', '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 3)]);

-- which method takes which rule, the table of the reference: tables by chance are published, and plain SQL recounts the promise
CREATE TABLE ward (zip text, age int, ill text, drug text, who int);
CREATE TABLE crowd (zip text, age int, who int);
CREATE TABLE marginals (column_name text, value text, share float8);
CREATE FUNCTION draw_ward(seed float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(seed);
    TRUNCATE ward, crowd, marginals;
    INSERT INTO ward SELECT 'z' || floor(random() * 3), 20 + floor(random() * 4), (ARRAY['flu', 'gout', 'flu', 'cancer'])[1 + floor(random() * 4)::int],
        'd' || floor(random() * 2), 1 + floor(random() * 12) FROM generate_series(1, 36);
    INSERT INTO crowd SELECT zip, age, who FROM ward UNION ALL SELECT zip, age, who + 100 FROM ward WHERE who < 5;
    INSERT INTO marginals SELECT 'zip', zip, 0.3 FROM ward GROUP BY zip UNION ALL SELECT 'age', age::text, 0.2 FROM ward GROUP BY age;
END $$;
-- of each rule, what says that a class `c` of what was published (o) breaks it
CREATE TABLE rule (n serial, name text, rule jsonb, breaks text);
INSERT INTO rule (name, rule, breaks) VALUES ('k', NULL, 'count(*) < 2'),
    ('distinct_l', kanon_distinct_l('ill', 3), 'count(DISTINCT ill) < 3'),
    ('several columns', kanon_distinct_l(ARRAY['ill', 'drug'], 2), 'count(DISTINCT ill) FILTER (WHERE drug = ''d0'') = 1 OR count(DISTINCT ill) FILTER (WHERE drug = ''d1'') = 1
        OR count(DISTINCT drug) FILTER (WHERE ill = ''flu'') = 1 OR count(DISTINCT drug) FILTER (WHERE ill = ''gout'') = 1 OR count(DISTINCT drug) FILTER (WHERE ill = ''cancer'') = 1'),
    ('entropy_l', kanon_entropy_l('ill', 2), '(SELECT -sum(s * ln(s)) FROM (SELECT count(*)::float8 / n AS s FROM unnest(ills) i, cardinality(ills) n GROUP BY i, n) p) < ln(2) - 1e-9'),
    ('recursive_cl', kanon_recursive_cl('ill', 2, 2), '(SELECT max(s) >= 2 * (sum(s) - max(s)) FROM (SELECT count(*) AS s FROM unnest(ills) i GROUP BY i) p)'),
    ('alpha', kanon_alpha('ill', 0.6), '(SELECT max(s) > 0.6 * sum(s) FROM (SELECT count(*) AS s FROM unnest(ills) i GROUP BY i) p)'),
    ('t_closeness', kanon_t_closeness('ill', 0.35, 'equal'), '(SELECT sum(abs(coalesce(s, 0) - whole)) / 2 FROM (SELECT ill, count(*)::float8 / sum(count(*)) OVER () AS whole FROM ward GROUP BY ill) w
        LEFT JOIN (SELECT i, count(*)::float8 / n AS s FROM unnest(ills) i, cardinality(ills) n GROUP BY i, n) p ON i = ill) > 0.35 + 1e-9'),
    ('subject', kanon_subject('who'), 'count(DISTINCT who) < 2'),
    ('k_map', kanon_k_map('crowd'), '(SELECT count(*) FROM crowd WHERE coalesce(crowd.zip = min(c.zip), true) AND coalesce(crowd.age = min(c.age), true)) < 2'),
    ('delta_presence', kanon_delta_presence('crowd', 0, 0.9), 'min(c.zip) IS NOT NULL AND count(*) > 0.9 * (SELECT count(*) FROM crowd WHERE coalesce(crowd.zip = min(c.zip), true) AND coalesce(crowd.age = min(c.age), true))'),
    -- of what matches a class some may belong to one before, which makes the chance higher
    ('presence', kanon_presence('marginals', 100, 0, 0.9, 0.5), '(SELECT sum(ways * power(p, x) * power(1 - p, 64 - x)) FILTER (WHERE x < r / 9.0) > 0.5 + 1e-9 FROM (VALUES (0, 1.0), (1, 64), (2, 2016), (3, 41664)) v (x, ways),
        (SELECT CASE WHEN min(c.zip) IS NULL THEN 1 ELSE 0.3 END * CASE WHEN min(c.age) IS NULL THEN 1 ELSE 0.2 END AS p, count(c.ill) AS r) s)');
CREATE FUNCTION takes(call text, promise text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    published int := 0;
    wrong int;
    why text;
BEGIN
    FOR i IN 1..4 LOOP
        PERFORM draw_ward(i / 10.0);
        BEGIN
            EXECUTE 'SELECT FROM ' || call;
            published := published + 1;
            EXECUTE 'SELECT count(*) FROM (SELECT ' || promise || ' AS breaks FROM (SELECT zip, age::text AS shown, array_agg(ill) AS ills FROM o GROUP BY 1, 2) AS classes
                JOIN o AS c ON c.zip IS NOT DISTINCT FROM classes.zip AND c.age::text IS NOT DISTINCT FROM shown GROUP BY classes.zip, shown, ills) AS asked WHERE breaks' INTO wrong;
            IF wrong > 0 THEN
                RETURN format('%s classes break it', wrong);
            END IF;
            DROP TABLE o;
        EXCEPTION WHEN feature_not_supported THEN
            IF SQLERRM ~ 'in this build' THEN
                RETURN 'yes'; -- the rules are asked before the library
            END IF;
            GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
            RETURN CASE WHEN why <> '' THEN '-' ELSE 'no, and nobody says why' END;
        WHEN check_violation THEN
            why := SQLERRM; -- it was asked, and found no release of this table
        END;
    END LOOP;
    RETURN CASE WHEN published > 0 THEN 'yes' ELSE why END;
END $$;
CREATE TABLE method AS SELECT * FROM (VALUES
    (1, 'greedy', 'kanon_pattern_guided(%s, method => ''greedy'', residual => ''drop'', privacy => %L)'),
    (2, 'ilp', 'kanon_pattern_guided(%s, method => ''ilp'', residual => ''drop'', privacy => %L, effort => 0.001)'),
    (3, 'best', 'kanon_pattern_guided(%s, method => ''best'', residual => ''drop'', privacy => %L, effort => 0.001)'),
    (4, 'improve', 'kanon_pattern_guided(%s, method => ''improve'', residual => ''drop'', privacy => %L, effort => 0.001)'),
    (5, 'fpt', 'kanon_pattern_guided(%s, method => ''fpt'', residual => ''drop'', privacy => %L, patterns => ''{-*,*-}'')'),
    (6, 'matching', 'kanon_pattern_guided(%s, method => ''matching'', residual => ''drop'', privacy => %L)'),
    (7, 'pattern clustering', 'kanon_pattern_clustering(%s, method => ''greedy'', patterns => ''{-*,-*,-*,*-,**}'', privacy => %L)'),
    (8, 'by rules', 'kanon_pattern_clustering(%s, rules => kanon_rules(max_suppressed => 2), privacy => %L)'),
    (9, 'full-domain', 'kanon_full_domain(%s, suppression_limit => 1, residual => ''drop'', privacy => %L)'),
    (10, 'subtree', 'kanon_subtree(%s, privacy => %L)')) m (n, name, call)
UNION ALL SELECT 10 + n, name, format('kanon_cluster(%%s, method => %L, show => ''suppress'', privacy => %%L)', name)
    FROM unnest('{mondrian,mondrian_relaxed,forest,pairs,triples,bottom_up,top_down,gather,microaggregate}'::text[]) WITH ORDINALITY AS c (name, n);
-- of which the last takes numbers alone
CREATE VIEW ward_numbers AS SELECT substr(zip, 2)::int AS zip, age, ill, drug, who FROM ward;
SET client_min_messages = warning;
SELECT string_agg(name, ' | ' ORDER BY n) FROM method;
SELECT rule.name || ': ' || string_agg(takes(format(call, format($$%L, 'o', '{zip,age}', %s, keep => '{ill,drug,who}', allow_identifying => '{who}'$$, CASE method.name WHEN 'microaggregate' THEN 'ward_numbers' ELSE 'ward' END, CASE method.name WHEN 'triples' THEN 3 ELSE 2 END), CASE WHEN rule IS NOT NULL THEN ARRAY[rule] END), breaks), ' | ' ORDER BY method.n)
FROM rule, method GROUP BY rule.n, rule.name ORDER BY rule.n;
-- two rules about one population: k of its persons match a class, who count in each, and its rows belong to one
SELECT string_agg(name || ': ' || takes(format(call, $$'ward', 'o', '{zip,age}', 2, keep => '{ill,drug,who}', allow_identifying => '{who}'$$,
    ARRAY[kanon_k_map('crowd', 'who'), kanon_delta_presence('crowd', 0, 0.9)]), (SELECT breaks FROM rule WHERE rule.name = 'delta_presence')
    || $$ OR (SELECT count(DISTINCT crowd.who) FROM crowd WHERE coalesce(crowd.zip = min(c.zip), true) AND coalesce(crowd.age = min(c.age), true)) < 2$$), ' | ' ORDER BY n)
FROM method WHERE name IN ('greedy', 'full-domain', 'subtree', 'mondrian');
-- without classes they take k alone, and say why
SELECT rule.name || ': ' || string_agg(takes(format(call, method.name, rule.rule), NULL), ' | ' ORDER BY method.n) FROM rule, (
    SELECT n, name, 'kanon_freeform(''ward'', ''o'', ''{zip,age}'', 2, method => %L, keep => ''{ill,drug}'', privacy => ARRAY[%L]::jsonb[])' AS call
    FROM unnest('{ring,sort_greedy,hungarian,mip,concealment}'::text[]) WITH ORDINALITY AS f (name, n)
    UNION ALL SELECT 10 + n, name, 'kanon_cluster(''ward'', ''o'', ''{zip,age}'', 2, method => %L, keep => ''{ill,drug}'', privacy => ARRAY[%L]::jsonb[])'
    FROM unnest('{one_k,k_one,k_k}'::text[]) WITH ORDINALITY AS c (name, n)) method
WHERE rule.rule IS NOT NULL GROUP BY rule.n, rule.name ORDER BY rule.n;
RESET client_min_messages;
SELECT try($$ kanon_freeform('inpatient', 'o', '{zip,age}', 2, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)]) $$);

-- greedy leaves rows that may not be published, and mends what it has
SELECT classes('inpatient', '{zip,age}', 4, '{ill}', ARRAY[kanon_distinct_l('ill', 2)], residual) FROM unnest('{fill,suppress}'::text[]) residual;
SELECT try($$ kanon_pattern_guided('leftover', 'o', '{zip}', 2, keep => '{ill}', method => 'ilp', residual => 'error', patterns => '{-}', privacy => ARRAY[kanon_alpha('ill', 0.3)]) $$);

-- forest and gather with distinct values, and their factors: forest's is the rows of its largest class
SET client_min_messages = warning;
SELECT m, c.class_min, c.cost <= c.guarantee * c.lower_bound AS kept, CASE m WHEN 'gather' THEN c.guarantee = 2 ELSE c.guarantee = c.class_max END AS factor
FROM unnest('{forest,gather}'::text[]) m, kanon_cluster('inpatient', 'values_' || m, '{zip,age}', 2, method => m, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 3)]) c;
SELECT min(n) AS values FROM (SELECT count(DISTINCT ill) AS n FROM values_forest GROUP BY zip, age UNION ALL SELECT count(DISTINCT ill) FROM values_gather GROUP BY zip, age) x;
DROP TABLE values_forest, values_gather;
RESET client_min_messages;

-- every row at the same levels, and Mondrian's parts: each class keeps the rule, in the target, too
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('salaries', 'o', '{zip,age}', 3, keep => '{salary}',
    privacy => ARRAY[kanon_t_closeness('salary', 0.374, 'ordered')]);
SELECT zip, age, count(*) FROM o GROUP BY zip, age ORDER BY zip, age;
DROP TABLE o;
SELECT classes, class_min FROM kanon_cluster('inpatient', 'o', '{zip,age}', 4, method => 'mondrian', keep => '{ill}',
    privacy => ARRAY[kanon_distinct_l('ill', 3)]);
SELECT min(n) FROM (SELECT count(DISTINCT ill) n FROM o GROUP BY zip, age) c;
DROP TABLE o;
SELECT try($$ kanon_cluster('pairs', 'o', '{zip}', 2, method => 'mondrian', keep => '{ill,drug}', privacy => ARRAY[kanon_distinct_l(ARRAY['ill', 'drug'], 3)]) $$);

-- populations: k rows that match what a class shows (Sweeney), the chance to be in the release (Nergiz et al.)
CREATE TABLE sample (zip text, age int, ill text);
INSERT INTO sample VALUES ('4711', 30, 'flu'), ('4711', 31, 'gout'), ('4712', 30, 'flu'), ('5711', 70, 'flu'), (NULL, 70, 'gout');
CREATE TABLE census AS SELECT zip, age FROM sample
    UNION ALL SELECT '4711', 30 FROM generate_series(1, 2) UNION ALL SELECT '4712', 31 FROM generate_series(1, 2)
    UNION ALL SELECT '5711', 71 FROM generate_series(1, 2) UNION ALL SELECT NULL, 70 FROM generate_series(1, 2);
CREATE TABLE zips (zip text, near text);
INSERT INTO zips VALUES ('4711', '47'), ('4712', '47'), ('5711', '57'), ('5712', '57');
CREATE TABLE ages AS SELECT age, int4range(age / 10 * 10, age / 10 * 10 + 10) AS decade FROM generate_series(20, 79) age;
CREATE FUNCTION nodes(rules jsonb[], "limit" float8 DEFAULT 0, residual text DEFAULT 'suppress', k bigint DEFAULT 3) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s %s: %s suppressed, %s classes', pattern, verdict, suppressed_rows, classes)
    FROM kanon_full_domain('sample', NULL, '{zip,age}', k, hierarchies => '{"zip": "zips", "age": "ages"}', keep => '{ill}', suppression_limit => "limit",
        residual => residual, explore => true, method => 'incognito', dry_run => true, privacy => rules) WHERE verdict <> 'fails'
$$;
SELECT nodes(NULL, 0.4);
SELECT nodes(ARRAY[kanon_k_map('census')]);
SELECT nodes(ARRAY[kanon_k_map('census')], 0.4);
SELECT nodes(ARRAY[kanon_k_map('census')], k => 13);
SELECT nodes(ARRAY[kanon_k_map('census'), kanon_distinct_l('ill', 2)]);
SELECT nodes(ARRAY[kanon_delta_presence('census', 0, 0.5)], k => 2);
SELECT nodes(ARRAY[kanon_delta_presence('census', 0.2, 0.5)], 0.4, k => 2);
SELECT nodes(ARRAY[kanon_delta_presence('census', 0.2, 0.5)], 0.4, 'drop', 2);
SELECT nodes(ARRAY[kanon_k_map('census'), kanon_delta_presence('census', 0.1, 0.6)]);
-- as it is published: classes of fewer than k rows, each with k in the population
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('sample', 'o', '{zip,age}', 3, hierarchies => '{"zip": "zips", "age": "ages"}',
    keep => '{ill}', suppression_limit => 0.4, privacy => ARRAY[kanon_k_map('census')]);
SELECT zip, age, count(*), (SELECT count(*) FROM census c LEFT JOIN zips z USING (zip)
    WHERE (o.zip IN (c.zip, z.near) OR o.zip IS NULL) AND (c.age <@ o.age OR o.age IS NULL)) AS population FROM o GROUP BY zip, age ORDER BY zip, age;
SELECT options->'privacy' FROM kanon_usefulness WHERE target = 'privacy_test.o' ORDER BY run DESC LIMIT 1;
DROP TABLE o;
-- fully suppressed rows are in the place of all of the population that matches no class
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('sample', 'o', '{zip}', 2, suppression_limit => 0.6, metric => 'height',
    privacy => ARRAY[kanon_delta_presence('census', 0.25, 0.5)], mark => true);
SELECT zip, kanon_pattern, count(*) FROM o GROUP BY zip, kanon_pattern ORDER BY zip;
DROP TABLE o;
-- what rules read is never replaced
SELECT try($$ kanon_full_domain('sample', 'census', '{zip,age}', 2, keep => '{ill}', replace => true, privacy => ARRAY[kanon_k_map('census')]) $$);
SELECT try($$ kanon_pattern_guided('salaries', 'ladder', '{zip,age}', 3, keep => '{ill}', replace => true, privacy => ARRAY[kanon_t_closeness('ill', 0.4, 'hierarchical', 'ladder')]) $$);
CREATE VIEW empty_sample AS SELECT * FROM sample WHERE false;
SELECT count(*) FROM kanon_full_domain('empty_sample', NULL, '{zip}', 2, dry_run => true, privacy => ARRAY[kanon_k_map('census')]);
-- bad input
CREATE VIEW ageless AS SELECT zip FROM census;
CREATE VIEW retyped AS SELECT zip, age::text FROM census;
CREATE VIEW few AS SELECT * FROM census WHERE age <> 31 AND zip IS NOT NULL;
CREATE VIEW wide AS SELECT * FROM census UNION ALL SELECT '9999', 30;
CREATE VIEW nobody AS SELECT * FROM census WHERE false;
CREATE FUNCTION refuses(rules jsonb[], k bigint DEFAULT 2, residual text DEFAULT 'suppress') RETURNS text LANGUAGE sql AS $$
    SELECT try(format('kanon_full_domain(''sample'', ''o'', ''{zip,age}'', %s, hierarchies => ''{"zip": "zips"}'', keep => ''{ill}'', residual => %L, privacy => %L)', k, residual, rules))
$$;
SELECT refuses(ARRAY[kanon_k_map('ageless')]);
SELECT refuses(ARRAY[kanon_k_map('retyped')]);
SELECT refuses(ARRAY[kanon_k_map('few')]);
SELECT refuses(ARRAY[kanon_delta_presence('few', 0, 1)]);
SELECT refuses(ARRAY[kanon_k_map('wide')]);
-- the population's own value has no line in the hierarchy, as the context says
CREATE FUNCTION context(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    context text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
    RETURN split_part(context, E'\n', 1);
END $$;
SELECT context($$ kanon_full_domain('sample', 'o', '{zip,age}', 2, hierarchies => '{"zip": "zips"}', privacy => ARRAY[kanon_k_map('wide')]) $$);
SELECT refuses(ARRAY[kanon_k_map('nobody')]);
SELECT refuses(ARRAY[kanon_k_map('census'), kanon_k_map('census')]);
SELECT refuses(ARRAY[kanon_delta_presence('census', 0, 1), kanon_subject('ill')]);
SELECT refuses(ARRAY[kanon_k_map('census')], 14);
SELECT refuses(ARRAY[kanon_delta_presence('census', 0.5, 1)]);
SELECT refuses(ARRAY[kanon_delta_presence('census', 0, 0.2)]);
SELECT refuses(ARRAY[kanon_delta_presence('census', 0.5, 1)], residual => 'drop');
SELECT try($$ kanon_full_domain('sample', 'o', '{zip,age}', 2, suppression_limit => 1, residual => 'drop', privacy => ARRAY[kanon_delta_presence('census', 0.38, 0.38)]) $$);
SELECT to_regclass('o');

-- what greedy publishes may overlap, and each class has three of the population for itself: three are (a, b), all published, and one is (a, c)
CREATE TABLE overlap (x text, y text);
INSERT INTO overlap SELECT 'a', 'b' FROM generate_series(1, 3) UNION ALL SELECT 'a', 'c';
CREATE TABLE hamlet AS TABLE overlap;
SELECT try($$ kanon_pattern_guided('overlap', 'o', '{x,y}', 3, residual => 'error', privacy => ARRAY[kanon_k_map('hamlet')]) $$);
-- two more of (a, c), and one is enough
INSERT INTO hamlet VALUES ('a', 'c'), ('a', 'c');
SELECT p.classes, p.row_count, p.cost FROM kanon_pattern_guided('overlap', 'o', '{x,y}', 3, residual => 'error', privacy => ARRAY[kanon_k_map('hamlet')]) p;
SELECT * FROM o ORDER BY x, y;
DROP TABLE o;
SELECT c.classes, c.row_count, c.cost, c.lower_bound FROM kanon_cluster('overlap', 'o', '{x,y}', 3, privacy => ARRAY[kanon_k_map('hamlet')]) c;
SELECT * FROM o ORDER BY x, y;
DROP TABLE o;
-- the other methods refuse before any work, and name those that take the rule; so do publications, frontiers and explanations
CREATE FUNCTION refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'done';
EXCEPTION WHEN feature_not_supported THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLERRM || E'\n  ' || hint;
END $$;
SELECT refused(format(call, 'kanon_k_map(''hamlet'')')), split_part(refused(format(call, 'kanon_delta_presence(''hamlet'', 0, 1)')), E'\n', 2) AS presence FROM unnest(ARRAY[
    $$ kanon_pattern_guided('overlap', 'o', '{x,y}', 3, method => 'improve', privacy => ARRAY[%s]) $$,
    $$ kanon_pattern_clustering('overlap', 'o', '{x,y}', 3, method => 'greedy', patterns => '{--,--,-*}', privacy => ARRAY[%s]) $$,
    $$ kanon_cluster('overlap', 'o', '{x,y}', 3, method => 'bottom_up', privacy => ARRAY[%s]) $$,
    $$ kanon_frontier('overlap', '{x,y}', '{2,3}', model => 'cluster', options => jsonb_build_object('method', 'forest', 'privacy', ARRAY[%s])) $$,
    $$ kanon_explain('overlap', '{x,y}', 3, model => 'pattern_guided', options => jsonb_build_object('method', 'best', 'privacy', ARRAY[%s])) $$,
    $$ kanon_create_publication('o', 'overlap', '{x,y}', 3, model => 'cluster', options => jsonb_build_object('method', 'mondrian_relaxed', 'privacy', ARRAY[%s])) $$]) AS call;
SELECT refused($$ kanon_pattern_guided('overlap', 'o', '{x,y}', 3, privacy => ARRAY[kanon_k_map('hamlet'), kanon_delta_presence('hamlet', 0, 1)]) $$);

-- the target itself is checked: values that have another order once they are written
CREATE TYPE mood AS (v int);
CREATE FUNCTION mood_cmp(a mood, b mood) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('privacy_test.moody_out') IS NOT NULL THEN
        IF EXISTS (SELECT FROM privacy_test.moody_out) THEN
            RETURN 0;
        END IF;
    END IF;
    IF to_regclass('privacy_test.moody_thin') IS NOT NULL THEN
        IF EXISTS (SELECT FROM privacy_test.moody_thin) THEN
            RETURN 1;
        END IF;
    END IF;
    RETURN sign((a).v - (b).v);
END $$;
CREATE FUNCTION mood_eq(a mood, b mood) RETURNS bool LANGUAGE sql AS 'SELECT privacy_test.mood_cmp(a, b) = 0';
CREATE FUNCTION mood_lt(a mood, b mood) RETURNS bool LANGUAGE sql AS 'SELECT privacy_test.mood_cmp(a, b) < 0';
CREATE FUNCTION mood_le(a mood, b mood) RETURNS bool LANGUAGE sql AS 'SELECT privacy_test.mood_cmp(a, b) <= 0';
CREATE FUNCTION mood_ge(a mood, b mood) RETURNS bool LANGUAGE sql AS 'SELECT privacy_test.mood_cmp(a, b) >= 0';
CREATE FUNCTION mood_gt(a mood, b mood) RETURNS bool LANGUAGE sql AS 'SELECT privacy_test.mood_cmp(a, b) > 0';
CREATE FUNCTION mood_hash(a mood) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR < (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_lt);
CREATE OPERATOR <= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_le);
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_eq, HASHES, MERGES);
CREATE OPERATOR >= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_ge);
CREATE OPERATOR > (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_gt);
CREATE OPERATOR CLASS mood_ops DEFAULT FOR TYPE mood USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 mood_cmp(mood, mood);
CREATE OPERATOR CLASS mood_hash_ops DEFAULT FOR TYPE mood USING hash AS OPERATOR 1 =, FUNCTION 1 mood_hash(mood);
CREATE TABLE moody AS SELECT 'a' AS zip, ROW(i % 3)::mood AS m FROM generate_series(1, 6) i;
-- values that are no longer equal when they are written, not even to themselves: classes of one row, which k alone forbids
SELECT try($$ kanon_pattern_guided('moody', 'moody_thick', '{m}', 2, keep => '{zip}', privacy => ARRAY[kanon_alpha('zip', 1)]) $$);
SELECT try($$ kanon_pattern_guided('moody', 'moody_thin', '{m}', 2, keep => '{zip}', privacy => ARRAY[kanon_alpha('zip', 1)]) $$);
-- values that turn out equal
SELECT try($$ kanon_pattern_guided('moody', 'moody_other', '{zip}', 2, keep => '{m}', privacy => ARRAY[kanon_distinct_l('m', 3)]) $$);
SELECT try($$ kanon_pattern_guided('moody', 'moody_out', '{zip}', 2, keep => '{m}', privacy => ARRAY[kanon_distinct_l('m', 3)]) $$);
SELECT try($$ kanon_pattern_guided('moody', 'moody_out', '{zip}', 2, keep => '{m}') $$);
\set VERBOSITY terse
-- in persons, two classes can keep what both break: one has NULL where the other is suppressed
CREATE TABLE alike (person int, a text, b text, finding text);
INSERT INTO alike VALUES (1, 'a', NULL, 'no'), (2, 'a', NULL, 'yes'), (1, 'a', 'x', 'no'), (3, 'a', 'y', 'yes');
SELECT pattern, row_count FROM kanon_pattern_guided('alike', 'alike_out', '{a,b}', 2, patterns => '{--,-*}', keep => '{finding}',
    privacy => ARRAY[kanon_alpha('finding', 0.5, '{yes}'), kanon_subject('person')]);
SELECT to_regclass('alike_out');
SELECT pattern, row_count FROM kanon_pattern_guided('alike', 'alike_out', '{a,b}', 2, patterns => '{--,-*}', keep => '{finding}',
    privacy => ARRAY[kanon_alpha('finding', 0.5, '{yes}'), kanon_subject('person')], mark => true);
SELECT pattern, row_count FROM kanon_pattern_guided('alike', 'alike_more', '{a,b}', 2, patterns => '{--,-*}', keep => '{finding}',
    privacy => ARRAY[kanon_alpha('finding', 0.7, '{yes}'), kanon_subject('person')]);

-- nor is it a defect when a clustering makes two classes that come out as one
CREATE TABLE drawn (person int, a text, b int, c text, finding text);
CREATE FUNCTION draws(n int) RETURNS TABLE (state text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(0.1);
    FOR i IN 1..n LOOP
        TRUNCATE drawn;
        INSERT INTO drawn
        SELECT 1 + random() * 21, (ARRAY['x', 'y', 'z', NULL])[1 + floor(random() * 4)::int],
               (ARRAY[1, 2, 3, NULL])[1 + floor(random() * 4)::int], (ARRAY['c1', 'c2', 'd1', 'd2'])[1 + floor(random() * 4)::int],
               (ARRAY['yes', 'yes', 'no', 'perhaps', NULL])[1 + floor(random() * 5)::int]
        FROM generate_series(1, 30);
        BEGIN
            PERFORM kanon_cluster('drawn', NULL, '{a,b,c}', 3, 'mondrian_relaxed', show => 'suppress', keep => '{finding}',
                privacy => ARRAY[kanon_alpha('finding', 0.5, '{yes}'), kanon_subject('person')], dry_run => true);
            state := 'published';
        EXCEPTION WHEN check_violation THEN
            state := CASE SQLERRM WHEN 'the heuristic found no release that fulfils these rules' THEN 'not found' ELSE 'impossible' END;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT DISTINCT state FROM draws(40) ORDER BY 1;

-- a publication under k_map: classes of fewer rows than k, which the population hides
CREATE TABLE town AS SELECT i % 4 AS a, i % 3 AS b FROM generate_series(1, 48) i;
CREATE TABLE surveyed AS SELECT a, b, 'x' AS c FROM town ORDER BY a, b LIMIT 6;
SELECT kanon_create_publication('hidden', 'surveyed', '{a,b}', 4, model => 'full_domain',
    options => jsonb_build_object('keep', ARRAY['c'], 'privacy', ARRAY[kanon_k_map('town')]));
UPDATE hidden_history SET digest = NULL; -- as if something had changed
SELECT status, row_count, k FROM kanon_refresh('hidden');
SELECT a, b, count(*) FROM hidden GROUP BY a, b ORDER BY a, b;
-- with fewer people like them there more is generalized
DELETE FROM town WHERE a = 0 AND b = 1;
INSERT INTO town SELECT 0, 1 FROM generate_series(1, 2);
UPDATE hidden_history SET digest = NULL; -- as if something had changed
SELECT status, row_count, k FROM kanon_refresh('hidden');
SELECT a, b, count(*) FROM hidden GROUP BY a, b ORDER BY a, b;
SELECT kanon_drop_publication('hidden');

-- rules about several columns: each speaks of its own
CREATE TABLE staffed AS SELECT i % 6 AS ward, 'd' || i / 7 % 4 AS ill, 'j' || i / 6 % 3 AS job, (i % 5)::float8 AS pay, nullif(i, 7) AS person FROM generate_series(1, 60) i;
CREATE TABLE jobs AS SELECT 'j' || i AS job, CASE WHEN i = 2 THEN 'other' ELSE 'same' END AS kind FROM generate_series(0, 2) i;
SELECT count(*) FROM kanon_pattern_guided('staffed', NULL, '{ward}', 3, dry_run => true, keep => '{ill,job,pay}',
    privacy => ARRAY[kanon_distinct_l('ill', 2), kanon_alpha('job', 0.7, '{j1,j9}'), kanon_t_closeness('pay', 0.9, 'ordered')]);
SELECT count(*) FROM kanon_pattern_guided('staffed', NULL, '{ward}', 3, dry_run => true, keep => '{ill,job}', privacy => ARRAY[kanon_distinct_l('ill', 2), kanon_subject('person')]);
SELECT kanon_pattern_guided('staffed', 'close', '{ward}', 3, keep => '{ill,job,pay}', mark => true, replace => false,
    privacy => ARRAY[kanon_distinct_l('ill', 2), kanon_t_closeness('job', 0.2, 'hierarchical', 'jobs'), kanon_t_closeness('pay', 0.3, 'ordered'), kanon_alpha('job', 0.45, '{j2}')]);
SELECT kanon_pattern, ward, count(*), count(*) FILTER (WHERE job = 'j2') AS j2, count(DISTINCT ill) AS ill, avg(pay) FROM close GROUP BY 1, 2 ORDER BY 1, 2;

SET client_min_messages = warning;
DROP SCHEMA privacy_test CASCADE;
