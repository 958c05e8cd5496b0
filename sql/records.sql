-- what each kind of call returns and what its run leaves in the views, figure by figure, for one table of all kinds of
-- columns. Nothing is shown to be right here (the other files do that), only to be what it was
CREATE SCHEMA records_test;
SET search_path = records_test, public;
SET client_min_messages = warning;
-- what is told does not depend on these, and they stay what they are
SET DateStyle = 'SQL, DMY';
SET bytea_output = 'escape';
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse

CREATE TABLE person AS
SELECT i AS id, CASE WHEN i % 11 > 0 THEN 20 + i * 7 % 41 END AS age, (ARRAY['bern', 'chur', 'davos', NULL])[1 + (i / 3) % 4] AS city,
       '80' || (i * 3) % 4 || (i / 2) % 3 AS zip, date '1970-01-01' + i * 37 % 400 AS born, i % 5 < 3 AS member,
       (i * 5 % 17)::numeric(4, 1) / 2 AS score, (ARRAY['flu', 'gout', 'cold', 'none', 'gout'])[1 + i * 3 % 7 % 5] AS ill, i / 2 AS who
FROM generate_series(1, 64) i;
CREATE TABLE age_h AS SELECT a AS age, a / 5 * 5 AS five, a / 20 * 20 AS twenty FROM generate_series(18, 64) a;
CREATE TABLE zip_h AS SELECT DISTINCT zip, left(zip, 3) AS three, left(zip, 2) AS two FROM person;
CREATE TABLE ill_h AS SELECT v AS ill, CASE WHEN v IN ('flu', 'cold') THEN 'airways' ELSE 'other' END AS kind FROM unnest('{flu,gout,cold,none}'::text[]) v;
CREATE TABLE everybody AS SELECT * FROM person UNION ALL SELECT id + 100, age, city, zip, born, member, score, ill, who + 50 FROM person WHERE id % 3 > 0;
CREATE TABLE item AS SELECT id, unnest(ARRAY['a' || id % 3, 'b' || id % 4, 'c' || id % 7] || CASE WHEN id % 2 = 0 THEN '{x}'::text[] ELSE '{}' END) AS code FROM person;
CREATE TABLE code_h AS SELECT DISTINCT code, left(code, 1) AS letter FROM item;
CREATE TABLE open_h AS SELECT code, CASE WHEN letter <> 'x' THEN 'some ' || letter END AS letter FROM code_h;

-- a row without what differs each time: numbers to seven digits, nothing that is null
CREATE FUNCTION figures(line jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(key || '=' || CASE jsonb_typeof(value) WHEN 'number' THEN trim_scale(round(value::numeric, digits))::text ELSE value #>> '{}' END, ' ' ORDER BY place)
    FROM jsonb_each(line) WITH ORDINALITY e (key, value, place),
         -- where a hill is highest, half the digits tell
         (SELECT CASE line ->> 'measure' WHEN 'population_uniques_pitman' THEN 1 ELSE 7 END) f (digits)
    WHERE value <> 'null' AND key <> ALL ('{run,started_at,run_by,source,target,target_oid,read_ms,solve_ms,write_ms,verify_ms,peak_memory,version,workers}')
$$;
CREATE FUNCTION digest(relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || left(md5(string_agg(t::text, E''\n'' ORDER BY t::text COLLATE "C")), 12) FROM %s t', relation) INTO result;
    RETURN result;
END $$;
-- what a call returns, what its run left, and the table; of a run that writes nothing the first alone
CREATE FUNCTION call(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := (SELECT coalesce(max(run), 0) FROM kanon_usefulness);
    this bigint;
    line jsonb;
    message text;
    hint text;
    settings text[] := array(SELECT name || '=' || setting FROM pg_settings WHERE name !~ '^kanon' ORDER BY 1);
BEGIN
    DROP TABLE IF EXISTS o, o_sensitive CASCADE;
    RETURN NEXT '== ' || what;
    BEGIN
        FOR line IN EXECUTE format('SELECT to_jsonb(f) FROM kanon_%s f', what) LOOP
            line := CASE jsonb_typeof(line) WHEN 'object' THEN line ELSE jsonb_build_object('result', line) END;
            RETURN NEXT '   ' || figures(line);
        END LOOP;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
        RETURN NEXT '   ' || concat_ws(' / ', SQLSTATE, message, nullif(hint, ''));
        RETURN;
    END;
    RETURN QUERY SELECT '   it was ' || was FROM (SELECT unnest(settings) EXCEPT SELECT name || '=' || setting FROM pg_settings) s (was) ORDER BY 1;
    SELECT max(run) INTO this FROM kanon_usefulness WHERE run > before;
    IF this IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT '   run: ' || figures(to_jsonb(u)) FROM kanon_usefulness u WHERE run = this;
    RETURN QUERY SELECT '   column: ' || figures(to_jsonb(c)) FROM kanon_columns c WHERE run = this ORDER BY ordinal;
    RETURN QUERY SELECT '   classes: ' || count(*) || ' ' || left(md5(string_agg(figures(to_jsonb(c)), E'\n' ORDER BY class)), 12) FROM kanon_equivalence_classes c
        WHERE run = this AND class IS NOT NULL;
    RETURN QUERY SELECT '   risk: ' || figures(to_jsonb(r)) FROM kanon_run_risk r WHERE run = this ORDER BY stage;
    RETURN QUERY SELECT '   sizes: ' || left(md5(string_agg(figures(to_jsonb(s)), E'\n' ORDER BY s::text)), 12) FROM kanon_class_sizes s WHERE run = this;
    RETURN NEXT '   table: ' || digest('o');
    IF to_regclass('o_sensitive') IS NOT NULL THEN
        RETURN NEXT '   beside: ' || digest('o_sensitive');
    END IF;
END $$;

-- patterns
SELECT call($$pattern_guided('person', 'o', '{age,city,zip}', 3, keep => '{ill}', class_column => 'ill')$$);
SELECT call($$pattern_guided('person', 'o', '{age,city,zip,born}', 2, hierarchies => '{"age": "age_h", "zip": "zip_h"}', level_cost => 'height', weights => '{1,2,3,1}', mark => true, keep => '{ill}')$$);
SELECT call($$pattern_guided('person', 'o', '{age,city,zip,member}', 3, hierarchies => '{"age": "age_h", "zip": "zip_h"}', residual => 'drop', rules => kanon_rules(max_suppressed => 2, never => '{member}'))$$);
SELECT call($$pattern_guided('person', 'o', '{city,zip,member}', 2, keep => '{ill}', privacy => ARRAY[kanon_subject('who'), kanon_distinct_l('ill', 2), kanon_alpha('ill', 0.8)])$$);
SELECT call($$pattern_guided('person', 'o', '{city,zip,member}', 2, keep => '{ill}', residual => 'drop', privacy => ARRAY[kanon_subject('who'), kanon_distinct_l('ill', 2), kanon_alpha('ill', 0.8)])$$);
SELECT call($$pattern_guided('person', 'o', '{city,member}', 4, keep => '{ill}', residual => 'drop', privacy => ARRAY[kanon_entropy_l('ill', 2), kanon_t_closeness('ill', 0.35, 'hierarchical', 'ill_h')])$$);
SELECT call($$pattern_guided('person', 'o', '{city,member}', 4, keep => '{score}', privacy => ARRAY[kanon_recursive_cl('score', 2, 2), kanon_t_closeness('score', 0.4)])$$);
SELECT call($$pattern_guided('person', 'o', '{age,score}', 5, patterns => '{--,-*}', residual => 'error')$$);
SELECT call($$pattern_guided('person', 'o', '{age,score}', 5, residual => 'error')$$);
SELECT call($$pattern_guided('person', 'o', '{age,score,id}', 5, keep => '{who}')$$);
SELECT call($$pattern_clustering('person', 'o', '{city,member,zip}', 3, method => 'greedy', patterns => '{--*,-**,***}', keep => '{ill}')$$);

SELECT call($$pattern_guided('person', 'o', '{city,member}', 4, keep => '{ill,score}', residual => 'drop', privacy => ARRAY[kanon_distinct_l('{ill,score}'::name[], 3), kanon_entropy_l('{ill,score}'::name[], 2), kanon_recursive_cl('{ill,score}'::name[], 3, 2), kanon_alpha('ill', 0.9, '{gout,none}')])$$);

SELECT call($$pattern_guided('person', 'o', '{city,member}', 4, keep => '{ill,score,zip,who}', mask => '{"score": {"round": 2}, "zip": {"partial": [1, 0]}, "who": {"top": 30, "bottom": 3}, "ill": {"constant": "x"}}')$$);

-- nodes
SELECT call(format($$full_domain('person', 'o', '{age,zip,city}', 3, hierarchies => '{"age": "age_h", "zip": "zip_h"}', suppression_limit => 0.1, metric => %L, method => %L, explore => %L, keep => '{ill}')$$, metric, method, metric = 'loss'))
FROM unnest('{loss,precision,discernibility,average_class_size,entropy,height}'::text[], '{flash,samarati,incognito,flash,incognito,samarati}'::text[]) f (metric, method);
SELECT call($$full_domain('person', 'o', '{age,zip}', 2, hierarchies => '{"age": "age_h", "zip": "zip_h"}', suppression_limit => 0.3, residual => 'drop', privacy => ARRAY[kanon_k_map('everybody')])$$);
SELECT call($$full_domain('person', 'o', '{age,zip}', 3, hierarchies => '{"age": "age_h", "zip": "zip_h"}', suppression_limit => 0.4, privacy => ARRAY[kanon_delta_presence('everybody', 0, 0.9)])$$);
SELECT call($$full_domain('person', 'o', '{age,zip,city}', 30)$$);

-- cuts
SELECT call(format($$subtree('person', 'o', '{age,zip}', 4, method => %L, scheme => %L, hierarchies => '{"age": "age_h", "zip": "zip_h"}', weights => '{1,2}', keep => '{ill}')$$, method, scheme))
FROM unnest('{top_down,optimal}'::text[]) method, unnest('{subtree,sibling}'::text[]) scheme;
SELECT call($$subtree('person', 'o', '{age,zip}', 4, hierarchies => '{"age": "age_h", "zip": "zip_h"}', keep => '{ill}', class_column => 'ill', privacy => ARRAY[kanon_distinct_l('ill', 2)])$$);

-- classes of any shape
SELECT call(format($$cluster('person', 'o', '{age,city,born,score}', 3, %L, show => %L, keep => '{ill}', mark => true, seed => 5)$$, method, show))
FROM unnest('{mondrian,mondrian_relaxed,forest,bottom_up,top_down,gather,one_k,k_one,k_k}'::text[], '{auto,suppress,auto,auto,suppress,auto,auto,auto,auto}'::text[]) f (method, show);
SELECT call($$cluster('person', 'o', '{age,zip}', 4, 'mondrian', hierarchies => '{"age": "age_h", "zip": "zip_h"}', weights => '{1,2.5}', categorical => '{zip}', keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)])$$);
SELECT call($$cluster('person', 'o', '{age,zip}', 4, 'bottom_up', hierarchies => '{"age": "age_h", "zip": "zip_h"}', level_cost => 'height')$$);

-- none
SELECT call(format($$freeform('person', 'o', '{age,city,score}', 3, method => %L, mutual => %L, partition_size => %L, keep => '{ill}', mark => true, seed => 3)$$, method, mutual, size))
FROM (VALUES ('greedy', true, NULL), ('sort_greedy', false, 20), ('hungarian', false, NULL), ('min_cost_flow', false, NULL), ('ring', true, NULL),
    ('concealment', false, NULL)) f (method, mutual, size);

-- sets, and two tables, whose numbers are drawn: of sets how many have which items
CREATE FUNCTION sets(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT line FROM call(what) line WHERE line !~ '^   table' AND line <> '';
    IF to_regclass('o') IS NOT NULL THEN
        RETURN QUERY SELECT '   items: ' || digest('(SELECT code, count(*) FROM o GROUP BY code)');
    END IF;
END $$;
SELECT sets($$transactions('item', 'o', 'code', 5, m => 2, transaction => 'id', hierarchy => 'code_h')$$);
SELECT sets($$transactions('item', 'o', 'code', 5, method => 'optimal', m => 2, transaction => 'id', hierarchy => 'code_h')$$);
SELECT sets($$transactions('item', 'o', 'code', 4, method => 'direct', m => 3, transaction => 'id')$$);
SELECT sets($$transactions('item', 'o', 'code', 4, method => 'suppress', p => 2, h => 60, transaction => 'id', sensitive => '{x}')$$);
SELECT sets($$transactions('item', 'o', 'code', method => 'suppress_control', rho => 0.6, transaction => 'id', sensitive => '{x}')$$);
SELECT sets($$transactions('item', 'o', 'code', method => 'td_control', rho => 0.6, transaction => 'id', sensitive => '{x}', hierarchy => 'open_h')$$);
SELECT call($$check_transactions('item', 'code', 4, 3, 'id', sensitive => '{x}', show_values => true)$$);
SELECT line FROM call($$anatomy('person', 'o', 'o_sensitive', '{age,city}', 'ill', 2)$$) line WHERE line !~ '^   (table|beside)';

-- what is read and nothing written
SELECT call($$risk('person', '{city,zip,member}', '{ill}', subject => 'who', population => 'everybody', threshold => 0.3, hierarchies => '{"ill": "ill_h"}')$$);
SELECT call($$risk('person', '{age,city}', '{ill,score}', sampling_fraction => 0.2)$$);
SELECT call($$risk_columns('person', '{age,city,zip,member}')$$);
SELECT call($$suggest('person')$$);
SELECT call($$check('person', '{city,member}')$$);
SELECT call($$check_hierarchy('age_h', 'person', 'age', true)$$);
CREATE TABLE wrong_h (age int, five text, twenty text);
INSERT INTO wrong_h VALUES (20, '20', 'young'), (21, '20', 'old'), (22, NULL, 'young'), (23, '20', 'young'), (23, '25', 'young'), (NULL, NULL, NULL), (NULL, NULL, 'young'), (24, '24', NULL), (99, '95', 'old');
SELECT call($$check_hierarchy('wrong_h', 'person', 'age', true)$$);
SELECT call($$check_hierarchy('zip_h', 'person', 'ill')$$);
SELECT call($$frontier('person', '{age,city,zip}', '{2,3,5,9}', hierarchies => '{"age": "age_h", "zip": "zip_h"}', keep => '{ill}')$$);
SELECT call($$frontier('person', '{city,zip}', '{2,6}', keep => '{ill}', residual => 'drop', privacy => ARRAY[kanon_distinct_l('ill', 2)])$$);
SELECT call($$explain('person', '{age,city,zip}', 3, hierarchies => '{"age": "age_h", "zip": "zip_h"}', with_values => true)$$);
SELECT call($$explain('person', '{city,zip,member}', 4, rules => kanon_rules(max_suppressed => 1), residual => 'drop', keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)])$$);

-- what was published, compared and attacked
SELECT FROM kanon_cluster('person', 'shown', '{age,city,score}', 3, 'bottom_up', keep => '{id,ill}', allow_identifying => '{id}');
SELECT FROM kanon_pattern_guided('person', 'leveled', '{age,city,zip}', 3, hierarchies => '{"age": "age_h", "zip": "zip_h"}', keep => '{id,ill}', allow_identifying => '{id}', mark => true);
SELECT call($$compare('person', 'shown', '{age,city,score}', '{ill}', queries => 60, seed => 2)$$);
SELECT call($$compare('person', 'leveled', '{age,city,zip}', '{ill}', hierarchies => '{"age": "age_h", "zip": "zip_h"}', queries => 60, selectivity => 0.2, seed => 2)$$);
SELECT call($$distributions('person', 'leveled', '{age,city,zip}', 3, '{ill}', hierarchies => '{"age": "age_h", "zip": "zip_h"}')$$);
SELECT call($$distributions('person', 'shown', '{age,city,score}', 3)$$);
SELECT call($$risk('leveled', '{age,city,zip}', '{ill}')$$);
SELECT line FROM call($$attack('person', 'leveled', 'id', '{age,city,zip}', 64, hierarchies => '{"age": "age_h", "zip": "zip_h"}')$$) line WHERE line !~ 'success_observed';
SELECT call($$check_freeform('person', 'shown', '{age,city,score}', 3)$$);
-- rows as COPY writes them, sorted by their bytes, as a shell would have it
SELECT kanon_checksum('open_h'), kanon_checksum('open_h') = encode(sha256(convert_to(string_agg(code || E'\t' || coalesce(letter, '\N') || E'\n', '' ORDER BY code COLLATE "C"), 'UTF8')), 'hex')
FROM open_h;

-- what a function sets while it reads is not left behind, in the same transaction neither: no block with an exception
-- here, whose end would take it back
CREATE FUNCTION left_behind(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    settings text[] := array(SELECT name || '=' || setting FROM pg_settings WHERE name !~ '^kanon') || (current_user || ' ' || current_schemas(true)::text);
BEGIN
    DROP TABLE IF EXISTS o, o_sensitive CASCADE;
    EXECUTE format('SELECT count(*) FROM kanon_%s', what);
    RETURN NEXT split_part(what, '(', 1);
    RETURN QUERY SELECT '   it was ' || was FROM (SELECT unnest(settings) EXCEPT
        SELECT unnest(array(SELECT name || '=' || setting FROM pg_settings) || (current_user || ' ' || current_schemas(true)::text))) s (was) ORDER BY 1;
END $$;
SELECT left_behind(what) FROM unnest(ARRAY[
    $$checksum('person')$$,
    $$check('person', '{city,member}')$$,
    $$check_hierarchy('age_h', 'person', 'age', true)$$,
    $$check_transactions('item', 'code', 4, 3, 'id', sensitive => '{x}', show_values => true)$$,
    $$check_freeform('person', 'shown', '{age,city,score}', 3)$$,
    $$suggest('person')$$,
    $$risk('person', '{city,zip,member}', '{ill}', subject => 'who', population => 'everybody', hierarchies => '{"ill": "ill_h"}')$$,
    $$risk_columns('person', '{age,city}')$$,
    $$pattern_guided('person', 'o', '{city,member}', 3, keep => '{ill,id}', privacy => ARRAY[kanon_distinct_l('ill', 2)], mask => '{"id": {"pseudonym": "release"}}', mark => true)$$,
    $$pattern_clustering('person', 'o', '{city,member}', 3, method => 'greedy', patterns => '{--,-*,**}')$$,
    $$cluster('person', 'o', '{age,city,born,score}', 3, keep => '{ill}')$$,
    $$full_domain('person', 'o', '{age,zip}', 3, hierarchies => '{"age": "age_h", "zip": {"prefix": [3, 2]}}', suppression_limit => 0.5, privacy => ARRAY[kanon_k_map('everybody')])$$,
    $$subtree('person', 'o', '{age,zip}', 3, hierarchies => '{"age": "age_h", "zip": "zip_h"}')$$,
    $$freeform('person', 'o', '{age,city}', 3, seed => 1)$$,
    $$transactions('item', 'o', 'code', 5, m => 2, transaction => 'id', hierarchy => 'code_h')$$,
    $$anatomy('person', 'o', 'o_sensitive', '{age,city}', 'ill', 2)$$,
    $$frontier('person', '{age,city}', '{2,3}')$$,
    $$explain('person', '{age,city,zip}', 3, hierarchies => '{"age": "age_h"}', with_values => true)$$,
    $$compare('person', 'shown', '{age,city,score}', '{ill}', queries => 5, seed => 2)$$,
    $$distributions('person', 'leveled', '{age,city,zip}', 3, '{ill}', hierarchies => '{"age": "age_h", "zip": "zip_h"}')$$,
    $$attack('person', 'leveled', 'id', '{age,city,zip}', 5, hierarchies => '{"age": "age_h", "zip": "zip_h"}')$$,
    $$hierarchy_interval('person', 'age', 'o', '{5,20}')$$,
    $$hierarchy_quantile('person', 'age', 'o', '{4,2}')$$,
    $$hierarchy_prefix('person', 'zip', 'o', '{3}')$$,
    $$hierarchy_date('person', 'born', 'o')$$]) what;

-- columns of types that can be neither grouped nor sorted, wherever a column is named
CREATE TABLE loose AS SELECT i, i % 2 AS a, to_json(i % 3) AS j, point(i, 1) AS p FROM generate_series(1, 12) i;
SELECT call($$pattern_guided('loose', 'o', '{a}', 2, keep => '{j,p}')$$);
SELECT call(replace(what, 'COLUMN', name)) FROM unnest('{j,p}'::text[]) WITH ORDINALITY n (name, nth), unnest(ARRAY[
    $$pattern_guided('loose', 'o', '{a,COLUMN}', 2)$$,
    $$pattern_guided('loose', 'o', '{a}', 2, keep => '{COLUMN}', class_column => 'COLUMN')$$,
    $$pattern_guided('loose', 'o', '{a}', 2, keep => '{COLUMN}', privacy => ARRAY[kanon_distinct_l('COLUMN', 2)])$$,
    $$pattern_guided('loose', 'o', '{a}', 2, privacy => ARRAY[kanon_subject('COLUMN')])$$,
    $$pattern_guided('loose', 'o', '{a}', 2, keep => '{COLUMN}', mask => '{"COLUMN": {"top": 0.9}}')$$,
    $$cluster('loose', 'o', '{a,COLUMN}', 2)$$,
    $$freeform('loose', 'o', '{a,COLUMN}', 2, seed => 1)$$,
    $$anatomy('loose', 'o', 'o_sensitive', '{a}', 'COLUMN', 2)$$,
    $$transactions('loose', 'o', 'COLUMN', 2, transaction => 'a')$$,
    $$transactions('loose', 'o', 'i', 2, transaction => 'COLUMN')$$,
    $$check_transactions('loose', 'COLUMN', 2, 2, 'a')$$,
    $$risk('loose', '{a,COLUMN}')$$,
    $$risk('loose', '{a}', '{COLUMN}')$$,
    $$risk('loose', '{a}', subject => 'COLUMN')$$,
    $$check('loose', '{a,COLUMN}')$$,
    $$hierarchy_quantile('loose', 'COLUMN', 'o', '{2}')$$,
    $$frontier('loose', '{a,COLUMN}', '{2}')$$]) WITH ORDINALITY c (what, place)
ORDER BY nth, place;
SELECT left(kanon_checksum('loose'), 12);

-- bounds of masks that are no numbers of a machine's word, of values and of quantiles, and several of them
SELECT call($$pattern_guided('person', 'o', '{city,member}', 2, keep => '{score,born,age,ill}', mask => '{"score": {"top": {"quantile": 0.9}, "bottom": {"quantile": 0.2}}, "born": {"top": {"quantile": 0.8}}, "age": {"bottom": {"value": 30}, "round": 10}}')$$);
SELECT DISTINCT score FROM o ORDER BY score;
SELECT min(born), max(born), min(age), max(age) FROM o;
SELECT call($$pattern_guided('person', 'o', '{city,member}', 2, keep => '{score,ill}', mask => '{"score": {"top": {"value": 6.5}, "bottom": {"value": 1.25}}}')$$);
SELECT DISTINCT score FROM o ORDER BY score;
SELECT call($$explain('person', '{city,zip,member}', 3, patterns => '{---,*--,-*-,--*,**-}')$$);
SELECT call($$explain('person', '{city,zip,member}', 3, rules => kanon_rules(never => '{member}', always => '{zip}'))$$);

-- what classes show is of the declared type
CREATE TABLE declared AS SELECT (i / 3)::numeric(6, 2) AS n, ('c' || i / 3)::char(5) AS c, (date '2024-01-01' + i / 3)::timestamp(0) AS t, ('v' || i / 3)::varchar(3) AS v, i % 2 = 0 AS odd
FROM generate_series(0, 8) i;
SELECT FROM kanon_pattern_guided('declared', 'o', '{n,c,t,v,odd}', 3, patterns => '{----*,***-*}');
SELECT class, pattern, row_count, shown FROM kanon_equivalence_classes WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY class;
SELECT FROM kanon_cluster('declared', 'o', '{n,c,t,v,odd}', 4, 'bottom_up', replace => true);
SELECT class, pattern, row_count, shown FROM kanon_equivalence_classes WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY class;

-- more bars than there is room for; dates as values of sets
CREATE TABLE letters AS SELECT chr(97 + i % 26) || i % 26 AS letter, i % 2 AS bit, date '2024-01-01' + i % 4 AS day, i AS t, i % 26 / 25.0::float8 AS part FROM generate_series(1, 156) i;
SELECT FROM kanon_cluster('letters', 'lettered', '{letter,bit}', 3, 'forest');
SELECT call($$distributions('letters', 'lettered', '{letter,bit}', 3)$$);
SELECT call($$distributions('letters', 'lettered', '{letter,bit}', 7)$$);
SELECT call($$check_transactions('letters', 'day', 2, 2, 't', show_values => true)$$);
SELECT call($$cluster('letters', 'o', '{part,letter,day}', 4, 'mondrian', weights => '{1,2,3}', mark => true)$$);
SELECT call($$cluster('letters', 'o', '{part,day}', 4, 'top_down')$$);
SELECT call($$explain('letters', '{day,bit,letter}', 8, with_values => true)$$);

-- hierarchies that are made
CREATE FUNCTION made(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS made_h;
    RETURN NEXT '== ' || what;
    RETURN QUERY EXECUTE format('SELECT ''   '' || kanon_hierarchy_%s || '' lines''', what);
    RETURN QUERY EXECUTE 'SELECT ''   '' || array_to_string(array(SELECT DISTINCT t::text COLLATE "C" FROM made_h t ORDER BY 1), '' '')';
END $$;
SELECT made($$interval('person', 'age', 'made_h', '{5,20}', 3)$$);
SELECT made($$interval('person', 'score', 'made_h', '{0.5,2,8}')$$);
SELECT made($$prefix('person', 'zip', 'made_h', '{3,2}')$$);
SELECT made($$quantile('person', 'age', 'made_h', '{8,4,2}')$$);
SELECT left(line, 400) FROM made($$date('person', 'born', 'made_h')$$) line;

-- hierarchies whose values are of another type than the column, of one level, of ranges
CREATE DOMAIN zip_code AS varchar(4);
CREATE TABLE typed AS SELECT age::smallint AS age, zip::zip_code AS zip, city::char(5) AS city FROM person;
CREATE TABLE age_ranges AS SELECT age::text, int4range(age / 10 * 10, age / 10 * 10 + 10) AS ten FROM age_h;
CREATE TABLE city_h AS SELECT DISTINCT city::varchar, left(city, 1)::varchar AS first FROM person WHERE city IS NOT NULL;
SELECT call($$full_domain('typed', 'o', '{age,zip,city}', 2, hierarchies => '{"age": "age_ranges", "zip": "zip_h", "city": "city_h"}', suppression_limit => 0.2)$$);
SELECT call($$pattern_guided('typed', 'o', '{age,zip,city}', 3, patterns => '{1--,12-,*11,-*-}', hierarchies => '{"age": "age_ranges", "zip": "zip_h", "city": "city_h"}')$$);
SELECT call($$pattern_guided('typed', 'o', '{zip,city}', 3, patterns => '{3-}', hierarchies => '{"zip": "zip_h"}')$$);
SELECT call($$cluster('typed', 'o', '{age,zip}', 3, 'forest', hierarchies => '{"age": "age_ranges", "zip": "zip_h"}')$$);
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'o'::regclass AND attnum > 0 ORDER BY attnum;

-- tables of no row, of one, of equal ones and of NULLs alone
CREATE TABLE nobody (a int, b text, s text, who int);
CREATE TABLE one AS SELECT 1 AS a, 'x' AS b, 'flu' AS s, 1 AS who;
CREATE TABLE same AS SELECT 1 AS a, 'x'::text AS b, CASE WHEN i > 2 THEN 'flu' ELSE 'gout' END AS s, i AS who FROM generate_series(1, 5) i;
CREATE TABLE nulls AS SELECT NULL::int AS a, NULL::text AS b, s, who FROM same;
SELECT call(replace(what, 'SOURCE', source)) FROM unnest('{nobody,one,same,nulls}'::text[]) WITH ORDINALITY t (source, nth), unnest(ARRAY[
    $$pattern_guided('SOURCE', 'o', '{a,b}', 2, keep => '{s}', class_column => 's')$$,
    $$pattern_guided('SOURCE', 'o', '{a,b}', 2, residual => 'drop', keep => '{s}', privacy => ARRAY[kanon_distinct_l('s', 2)])$$,
    $$pattern_guided('SOURCE', 'o', '{a,b}', 2, residual => 'error')$$,
    $$full_domain('SOURCE', 'o', '{a,b}', 2, metric => 'average_class_size', explore => true)$$,
    $$full_domain('SOURCE', 'o', '{a,b}', 2, metric => 'entropy', suppression_limit => 1)$$,
    $$full_domain('SOURCE', 'o', '{a,b}', 2, metric => 'precision', suppression_limit => 1)$$,
    $$cluster('SOURCE', 'o', '{a,b}', 2, residual => 'drop')$$,
    $$cluster('SOURCE', 'o', '{a,b}', 2, 'bottom_up')$$,
    $$freeform('SOURCE', 'o', '{a,b}', 2, seed => 1)$$,
    $$frontier('SOURCE', '{a,b}', '{2,3}')$$,
    $$explain('SOURCE', '{a,b}', 2)$$,
    $$risk('SOURCE', '{a,b}', '{s}', subject => 'who', population => 'SOURCE')$$,
    $$risk_columns('SOURCE', '{a,b}')$$,
    $$suggest('SOURCE')$$,
    $$check('SOURCE', '{a,b}')$$,
    $$check_freeform('SOURCE', 'SOURCE', '{a,b}', 2)$$,
    $$check_transactions('SOURCE', 's', 2, 2, 'who')$$,
    $$compare('SOURCE', 'SOURCE', '{a,b}', '{s}', queries => 5, seed => 1)$$,
    $$compare('one', 'SOURCE', '{a,b}', queries => 5, seed => 1)$$,
    $$distributions('SOURCE', 'SOURCE', '{a,b}', 2, '{s}')$$,
    $$hierarchy_interval('SOURCE', 'a', 'o', '{2,4}')$$,
    $$hierarchy_quantile('SOURCE', 'a', 'o', '{2}')$$,
    $$hierarchy_prefix('SOURCE', 'b', 'o', '{1}')$$]) WITH ORDINALITY c (what, place)
ORDER BY nth, place;
CREATE TABLE nothing AS SELECT * FROM item LIMIT 0;
SELECT sets($$transactions('nothing', 'o', 'code', 2, m => 2, transaction => 'id')$$);
SELECT kanon_checksum('nobody'), kanon_checksum('one');
DROP SCHEMA records_test CASCADE;
