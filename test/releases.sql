-- What kanon publishes, as checksums: one line for each call, the same on every machine
-- and after every change that is not meant to change a release.  See releases.sh.
--   :data  the folder of the reference tables; empty: without them
\set VERBOSITY terse
\set ON_ERROR_STOP 1
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS kanon;
SET kanon.progress = off;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

-- ---- tables ----

-- h(i, salt, n): the same numbers everywhere; squared, so that low ones are frequent
CREATE FUNCTION h(i int, salt int, n int) RETURNS int LANGUAGE sql IMMUTABLE
AS $$ SELECT floor(n * power((hashint8(i * 31::bigint + salt)::bigint & 65535) / 65536.0, 2))::int $$;
CREATE TABLE people AS
SELECT i AS id, 20 + h(i, 1, 60) AS age, lpad((10000 + 37 * h(i, 2, 40))::text, 5, '0') AS zip,
       (ARRAY['f', 'm', 'x'])[1 + h(i, 3, 3)] AS sex, 'job ' || h(i, 4, 9) AS job,
       nullif(h(i, 5, 12), 7)::numeric(6, 2) AS income, date '1950-01-01' + 400 * h(i, 6, 40) AS born,
       'illness ' || h(i, 7, 8) AS ill, 'person ' || i % 700 AS who
FROM generate_series(1, 900) i;
CREATE TABLE few AS SELECT * FROM people WHERE id <= 60;
CREATE TABLE census AS SELECT age, zip, sex, job FROM people, generate_series(1, 3);
CREATE TABLE age_h AS SELECT v, int4range(v / 5 * 5, v / 5 * 5 + 5) AS five, int4range(v / 20 * 20, v / 20 * 20 + 20) AS twenty
FROM generate_series(0, 99) v;
CREATE TABLE zip_h AS SELECT v, left(v, 3) || '**' AS area, left(v, 2) || '***' AS region, '*' AS everything
FROM (SELECT DISTINCT zip AS v FROM people) z;
CREATE TABLE job_h AS SELECT 'job ' || v AS v, 'branch ' || v / 3 AS branch FROM generate_series(0, 9) v;
CREATE TABLE ill_h AS SELECT 'illness ' || v AS v, 'kind ' || v / 3 AS kind FROM generate_series(0, 9) v;

SELECT :'data' <> '' AS real_data, :'data' || '/adult.csv' AS adult_csv, :'data' || '/cmc.csv' AS cmc_csv,
       :'data' || '/nursery.csv' AS nursery_csv, :'data' || '/adult-arx.csv' AS arx_csv,
       :'data' || '/adult-hierarchies' AS arx_hierarchies \gset
CREATE TABLE adult (age int, workclass text, fnlwgt int, education text, education_num int, marital_status text,
    occupation text, relationship text, race text, sex text, capital_gain int, capital_loss int,
    hours_per_week int, native_country text, salary_class text);
CREATE TABLE cmc (id int, wife_age int, wife_education int, husband_education int, children int, religion int,
    wife_working int, husband_occupation int, living_standard int, media_exposure int, contraceptive int);
CREATE TABLE nursery (parents text, has_nurs text, form text, children text, housing text, finance text,
    social text, health text, class text);
CREATE TABLE arx (sex text, age int, race text, "marital-status" text, education text, "native-country" text,
    workclass text, occupation text, "salary-class" text);
\if :real_data
COPY adult FROM :'adult_csv' (FORMAT csv, DELIMITER ';');
COPY cmc FROM :'cmc_csv' (FORMAT csv, DELIMITER ';');
COPY nursery FROM :'nursery_csv' (FORMAT csv, DELIMITER ';');
COPY arx FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
SELECT format('CREATE TABLE %I (value %s, %s)', name || '_arx', CASE name WHEN 'age' THEN 'int' ELSE 'text' END,
              (SELECT string_agg('l' || i || ' text', ', ') FROM generate_series(1, levels) i)),
       format('COPY %I FROM %L (FORMAT csv, DELIMITER %L)', name || '_arx', :'arx_hierarchies' || '/' || name || '.csv', ';')
FROM (VALUES ('sex', 1), ('age', 4), ('race', 1), ('marital-status', 2), ('education', 3), ('native-country', 2),
             ('workclass', 2), ('occupation', 2), ('salary-class', 1)) h (name, levels) \gexec
\endif
ANALYZE;

-- ---- the calls ----

-- name; what comes before the arguments that all have; the others; needs the real tables
CREATE TABLE calls (place serial, big boolean, function text, relation text, qis text, k bigint, others text);
CREATE FUNCTION add(function text, relation text, qis text, k bigint, others text, big boolean DEFAULT false)
RETURNS void LANGUAGE sql AS $$ INSERT INTO calls (big, function, relation, qis, k, others) VALUES (big, function, relation, qis, k, others) $$;
\set levels 'hierarchies => ''{"age": "age_h", "zip": "zip_h"}'''
\set all_levels 'hierarchies => ''{"age": "age_h", "zip": "zip_h", "job": "job_h"}'''
\o /dev/null

-- pattern-guided: methods, seeds, masks, kept columns, hierarchies, rules
SELECT add('pattern_guided', 'people', '{age,zip,sex,job}', k, format('method => %L, seed => %s, keep => ''{ill}'', mark => true', m, seed))
FROM unnest('{greedy,improve,best}'::text[]) m, unnest('{2,5}'::int[]) k, unnest('{1,7}'::int[]) seed;
SELECT add('pattern_guided', 'few', '{age,zip,sex}', 3, format('method => %L, residual => %L, keep => ''{ill,income}''', m, r))
FROM unnest('{greedy,improve,best,ilp}'::text[]) m, unnest('{suppress,drop}'::text[]) r;
SELECT add('pattern_guided', 'few', '{sex,job}', 3, format('method => ''fpt'', patterns => ''{--,*-,**}'', residual => %L', r))
FROM unnest('{suppress,drop}'::text[]) r;
SELECT add('pattern_guided', 'people', '{age,zip,sex,job,income}', 4, o)
FROM unnest(ARRAY['rules => kanon_rules(max_suppressed => 2, never => ''{sex}'')', 'rules => kanon_rules(together => ''{"age,zip"}'', implies => ''{job->sex}'')',
    'rules => kanon_rules(at_most_one => ''{"age,zip,job"}''), residual => ''drop''', 'patterns => ''{-----,*----,**---,*****}''',
    'weights => ''{1,2,3,0.5,1}''', 'categorical => ''{age}'', class_column => ''ill'', keep => ''{ill}''', 'gap => 0.1, method => ''best''',
    'effort => 3, method => ''improve''', 'rules => kanon_rules(max_cost => 3), weights => ''{1,2,1,1,1}'', method => ''improve''']) o;
SELECT add('pattern_guided', 'people', '{age,zip,job}', k, format('%s, %s', :'levels', o))
FROM unnest('{2,10}'::int[]) k, unnest(ARRAY['method => ''greedy'', mark => true', 'method => ''improve''', 'level_cost => ''ncp''',
    'patterns => ''{---,1--,2--,11-,12*,2**}''', 'rules => kanon_rules(never => ''{job}'', max_suppressed => 1), keep => ''{ill}''', 'method => ''best'', seed => 3']) o;
SELECT add('pattern_guided', 'people', '{age,zip,sex}', 4, format('residual => %L, keep => ''{ill,who}'', %sprivacy => %s', r,
    CASE WHEN p ~ 'subject' THEN 'allow_identifying => ''{who}'', ' END, p))
FROM unnest('{suppress,drop}'::text[]) r, unnest(ARRAY['ARRAY[kanon_distinct_l(''ill'', 3)]', 'ARRAY[kanon_entropy_l(''ill'', 2)]',
    'ARRAY[kanon_recursive_cl(''ill'', 3, 2)]', 'ARRAY[kanon_alpha(''ill'', 0.7)]', 'ARRAY[kanon_t_closeness(''ill'', 0.5, ''equal'')]',
    'ARRAY[kanon_t_closeness(''ill'', 0.6, ''hierarchical'', ''ill_h'')]', 'ARRAY[kanon_subject(''who'')]',
    'ARRAY[kanon_subject(''who''), kanon_distinct_l(''ill'', 2), kanon_alpha(''ill'', 0.8, ''{illness 1,illness 2}'')]']) p;
SELECT add('pattern_guided', 'few', '{age,zip,sex}', 3, format('method => %L, residual => ''drop'', keep => ''{ill}'', privacy => ARRAY[%s]', m, p))
FROM unnest('{ilp,best}'::text[]) m, unnest(ARRAY['kanon_distinct_l(''ill'', 2)', 'kanon_alpha(''ill'', 0.6)', 'kanon_subject(''who'')']) p;

-- pattern clustering
SELECT add('pattern_clustering', 'few', '{age,zip,sex}', k, format('patterns => ''{*--,**-,*-*,***,***}'', method => %L', m))
FROM unnest('{greedy,exact}'::text[]) m, unnest('{1,3}'::int[]) k;

-- clusterings and relaxed methods
SELECT add('cluster', 'people', '{age,zip,sex,income,born}', k, format('method => %L, show => %L, keep => ''{ill}'', mark => true', m, s))
FROM unnest('{mondrian,mondrian_relaxed,forest,bottom_up,top_down,gather}'::text[]) m, unnest('{3,8}'::int[]) k, unnest('{auto,set,suppress}'::text[]) s;
SELECT add('cluster', 'few', '{age,zip,sex}', CASE m WHEN 'pairs' THEN 2 ELSE 3 END, format('method => %L', m))
FROM unnest('{pairs,triples,forest}'::text[]) m;
SELECT add('cluster', 'people', '{age,zip,job}', 5, format('method => %L, %s, level_cost => %L', m, :'all_levels', c))
FROM unnest('{mondrian,forest,bottom_up,top_down,gather}'::text[]) m, unnest('{height,ncp}'::text[]) c;
SELECT add('cluster', 'people', '{age,zip,job}', 5, format('method => %L, keep => ''{ill}'', residual => %L, privacy => ARRAY[kanon_distinct_l(''ill'', 3)]', m, r))
FROM unnest('{mondrian,mondrian_relaxed}'::text[]) m, unnest('{suppress,drop}'::text[]) r;
SELECT add('cluster', 'few', '{age,zip,sex}', 3, format('method => %L, keep => ''{ill}''', m)) FROM unnest('{one_k,k_one,k_k}'::text[]) m;

-- full-domain
SELECT add('full_domain', 'people', '{age,zip,job,sex}', k, format('%s, method => %L, metric => %L, suppression_limit => %s, mark => true, keep => ''{ill}''', :'all_levels', a, m, l))
FROM unnest('{samarati,incognito,flash,speedy}'::text[]) a, unnest('{loss,precision,discernibility,average_class_size,entropy,height}'::text[]) m,
     unnest('{4}'::int[]) k, unnest('{0,0.1}'::float8[]) l WHERE a <> 'samarati' OR m = 'height' OR l > 0;
SELECT add('full_domain', 'people', '{age,zip,job,sex}', 3, format('%s, suppression_limit => 0.5, residual => ''drop'', keep => ''{ill}'', privacy => ARRAY[%s]', :'all_levels', p))
FROM unnest(ARRAY['kanon_distinct_l(''ill'', 3)', 'kanon_t_closeness(''ill'', 0.6, ''equal'')', 'kanon_k_map(''census'')', 'kanon_delta_presence(''census'', 0, 0.4)']) p;

-- freeform
SELECT add('freeform', 'few', '{age,zip,sex}', 3, format('method => %L, seed => %s, keep => ''{ill}''', m, seed))
FROM unnest('{greedy,sort_greedy,hungarian,mip,min_cost_flow,ring,concealment}'::text[]) m, unnest('{1,2}'::int[]) seed;
SELECT add('freeform', 'few', '{age,zip,sex}', 3, format('method => %L, seed => 5, mutual => true, weights => ''{1,2,1}''', m))
FROM unnest('{greedy,sort_greedy,hungarian,ring}'::text[]) m;
SELECT add('freeform', 'people', '{age,zip,sex,born}', 5, format('partition_size => %s, seed => 9, keep => ''{ill}''', s)) FROM unnest('{50,150}'::int[]) s;

-- the real tables
SELECT add('pattern_guided', 'adult', '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}', k,
    format('method => %L, keep => ''{capital_gain}''', m), true)
FROM unnest('{greedy,improve}'::text[]) m, unnest('{2,25}'::int[]) k WHERE m = 'greedy' OR k > 2;
SELECT add('pattern_guided', 'nursery', '{parents,has_nurs,form,children,housing,finance,social,health}', k, format('method => %L, seed => %s', m, seed), true)
FROM unnest('{greedy,improve,ilp,best}'::text[]) m, unnest('{5,50}'::int[]) k, unnest('{1,2}'::int[]) seed;
SELECT add('pattern_guided', 'cmc', '{wife_age,wife_education,husband_education,children,religion,wife_working,husband_occupation,living_standard,media_exposure,contraceptive}', k,
    format('method => %L, rules => kanon_rules(max_suppressed => %s)', m, s), true)
FROM unnest('{greedy,improve,ilp,best}'::text[]) m, unnest('{2,5,10}'::int[]) k, unnest('{2}'::int[]) s;
SELECT add('cluster', 'cmc', '{wife_age,wife_education,husband_education,children,religion,wife_working}', 5, format('method => %L', m), true)
FROM unnest('{mondrian,forest,bottom_up,top_down,gather}'::text[]) m;
SELECT add('full_domain', 'arx', '{sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class}', 5,
    format('hierarchies => ''{"sex": "sex_arx", "age": "age_arx", "race": "race_arx", "marital-status": "\"marital-status_arx\"", "education": "education_arx", "native-country": "\"native-country_arx\"", "workclass": "workclass_arx", "occupation": "occupation_arx", "salary-class": "\"salary-class_arx\""}'', method => %L, suppression_limit => %s', a, l), true)
FROM unnest('{incognito,flash,speedy}'::text[]) a, unnest('{0,0.05}'::float8[]) l;
SELECT add('freeform', 'cmc', '{wife_age,wife_education,children,religion}', 5, 'partition_size => 100, seed => 4', true);
\o

-- ---- what they publish ----

CREATE TABLE releases (place int, name text, rows bigint, cost text, checksum text);
-- A relation's rows in the order of their text: as they were written they are shuffled.
-- Where rows alike go to different classes, which of them goes where is drawn: then the
-- quasi-identifiers and the columns beside them are looked at one by one.
CREATE FUNCTION checksum(relation regclass, qis name[], apart boolean, OUT rows bigint, OUT sum text) LANGUAGE plpgsql AS $$
DECLARE
    lists text[];
BEGIN
    SELECT array_agg(list ORDER BY list) INTO lists
    FROM (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS list FROM pg_attribute
          WHERE attrelid = relation AND attnum > 0 GROUP BY apart AND attname <> ALL (qis || 'kanon_pattern'::name)) l;
    FOR i IN 1..cardinality(lists) LOOP
        EXECUTE format('SELECT count(*), concat(%L, md5(coalesce(string_agg(md5(t::text), '''' ORDER BY t::text COLLATE "C"), '''')))'
            ' FROM (SELECT %s FROM %s) t', sum || ' ', lists[i], relation) INTO rows, sum;
    END LOOP;
END $$;
SET releases.real = :'real_data';
DO $$
DECLARE
    c calls;
    n bigint;
    sum text;
    lost text;
BEGIN
    FOR c IN SELECT * FROM calls WHERE NOT big OR current_setting('releases.real')::boolean ORDER BY place LOOP
        n := 0;
        lost := NULL;
        BEGIN
            EXECUTE format('SELECT FROM kanon_%s(source => %L, target => ''out'', quasi_identifiers => %L, k => %s, time_limit => NULL, %s)',
                c.function, c.relation, c.qis, c.k, c.others);
        EXCEPTION WHEN undefined_function THEN  -- one without a time limit
            EXECUTE format('SELECT FROM kanon_%s(source => %L, target => ''out'', quasi_identifiers => %L, k => %s, %s)',
                c.function, c.relation, c.qis, c.k, c.others);
        WHEN OTHERS THEN
            sum := SQLSTATE;
        END;
        IF to_regclass('out') IS NOT NULL THEN
            SELECT s.rows, s.sum INTO n, sum FROM checksum('out', c.qis::name[], c.others ~ 'improve|best|ilp|forest|bottom_up|top_down|gather') s;
            SELECT round(u.cost::numeric, 6)::text INTO lost FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
            DROP TABLE out;
        END IF;
        INSERT INTO releases VALUES (c.place, concat_ws(' ', c.function, c.relation, c.qis, 'k=' || c.k,
            c.others), n, lost, sum);
    END LOOP;
END $$;

-- what publications come to, release by release
CREATE TABLE visits AS SELECT * FROM people;
CREATE PROCEDURE publish(model text, stable boolean, protect boolean, by_key boolean, options jsonb) LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    sum text;
    lost text;
    later bigint;
BEGIN
    DELETE FROM visits;
    INSERT INTO visits SELECT * FROM people;
    PERFORM kanon_create_publication('pub', 'visits', '{age,zip,job}', 4, options, model, keep_releases => 3, stable => stable,
        protect_successive => protect, key => CASE WHEN by_key THEN 'id'::name END);
    FOR r IN 1..3 LOOP
        SELECT s.rows, s.sum INTO n, sum FROM checksum('pub', '{age,zip,job}', options::text ~ 'improve') s;
        SELECT l.cost::text, l.held_persons INTO lost, later FROM kanon_releases l WHERE status = 'current';
        INSERT INTO releases SELECT max(place) + 1, concat_ws(' ', 'publication', model, CASE WHEN stable THEN 'stable' END,
            CASE WHEN protect THEN 'protected' END, CASE WHEN by_key THEN 'key' END, options, 'release', r), n, NULL, sum FROM releases;
        DELETE FROM visits WHERE h(id, 100 + r, 9) = 3;
        UPDATE visits SET job = 'job ' || h(id, 200 + r, 9) WHERE h(id, 300 + r, 20) = 9;
        PERFORM kanon_refresh('pub');
    END LOOP;
    PERFORM kanon_drop_publication('pub');
END $$;
CALL publish('pattern_guided', false, false, false, '{"keep": ["ill"]}');
-- (which rows of a split type go where is by a secret, so nothing is kept where types are split)
CALL publish('pattern_guided', true, false, false, '{"method": "improve"}');
CALL publish('pattern_guided', true, false, false, '{"keep": ["ill"], "hierarchies": {"age": "age_h"}, "weights": [1, 3, 2]}');
CALL publish('pattern_guided', false, false, true, '{"keep": ["ill"], "mark": true}');
CALL publish('pattern_guided', true, true, true, '{"keep": ["ill"], "mark": true}');
CALL publish('pattern_guided', false, true, true, '{"keep": ["ill"], "residual": "drop"}');
CALL publish('cluster', false, false, true, '{"method": "mondrian", "keep": ["ill"]}');
CALL publish('cluster', false, true, true, '{"method": "mondrian"}');
CALL publish('full_domain', false, true, true, '{"suppression_limit": 0.3, "hierarchies": {"age": "age_h", "zip": "zip_h", "job": "job_h"}}');
CALL publish('full_domain', false, false, false, '{"suppression_limit": 0.3, "keep": ["ill"], "hierarchies": {"age": "age_h", "zip": "zip_h", "job": "job_h"}}');
-- (nor is there a key: which persons of a split type are where, and so whose class loses a row, is by the secret, too)
CALL publish('cluster', true, false, false, '{"method": "forest"}');
CALL publish('full_domain', true, false, true, '{"suppression_limit": 0.3, "hierarchies": {"age": "age_h", "zip": "zip_h", "job": "job_h"}}');
CALL publish('subtree', true, false, true, '{"method": "tds", "hierarchies": {"age": "age_h", "zip": "zip_h", "job": "job_h"}}');
CALL publish('pattern_clustering', true, false, true, '{"method": "greedy", "patterns": ["-**", "*-*", "**-", "***"]}');

\pset format unaligned
\pset tuples_only on
\pset fieldsep '\t'
SELECT name, rows, coalesce(cost, '-'), checksum FROM releases ORDER BY place;
