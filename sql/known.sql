-- publishing against somebody who knows few columns of a person
CREATE SCHEMA known_test;
SET search_path = known_test, public;
SET client_min_messages = warning;
CREATE TABLE people AS SELECT 20 + i * i % 29 AS age, 'z' || (i * i + i) / 3 % 9 AS zip, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex,
    CASE WHEN i % 11 > 0 THEN 'job ' || i * i * i / 7 % 5 END AS job, 'ill ' || i % 4 AS ill, i AS nr FROM generate_series(1, 300) AS i;

-- what is rare in the target by plain SQL: every combination of at most n of the columns that is shown, blank cells aside
CREATE FUNCTION shown(relation regclass, columns name[], n int) RETURNS TABLE (fewest bigint, sets bigint) LANGUAGE plpgsql AS $$
DECLARE
    part name[];
    found bigint;
BEGIN
    sets := 0;
    FOR part IN WITH RECURSIVE sets AS (SELECT ARRAY[c] AS names, i FROM unnest(columns) WITH ORDINALITY AS u (c, i)
        UNION ALL SELECT s.names || u.c, u.i FROM sets s, unnest(columns) WITH ORDINALITY AS u (c, i) WHERE u.i > s.i AND cardinality(s.names) < n)
        SELECT s.names FROM sets s
    LOOP
        EXECUTE format('SELECT min(c) FROM (SELECT count(*) AS c FROM %s WHERE num_nulls(%s) = 0 GROUP BY %2$s) AS g', relation, (SELECT string_agg(quote_ident(c), ', ') FROM unnest(part) AS c)) INTO found;
        fewest := least(fewest, found);
        sets := sets + 1;
    END LOOP;
    RETURN NEXT;
END $$;

SELECT * FROM kanon_check('people', '{age,zip,sex,job}', 2, k => 4, missing => 'aside');
SELECT count(*) AS patterns, sum(row_count) AS rows, sum(suppressed_cells) AS cells FROM kanon_pattern_guided('people', 'out', '{age,zip,sex,job}', 4, known_columns => 2, keep => '{ill}');
SELECT * FROM shown('out', '{age,zip,sex,job}', 2);
SELECT * FROM kanon_check('out', '{age,zip,sex,job}', 2, k => 4, missing => 'aside');
-- when time is up some cells are not shown again, which is said
SET client_min_messages = notice;
CREATE TABLE hurried AS SELECT i * i % 29 AS a, i::bigint * i * i % 31 AS b, i * 7 % 37 AS c, i % 41 AS d, (i * i + i) % 23 AS e FROM generate_series(1, 3000) AS i;
SELECT count(*) > 0 AS patterns FROM kanon_pattern_guided('hurried', NULL, '{a,b,c,d,e}', 4, known_columns => 3, time_limit => '1 us', dry_run => true);
SET client_min_messages = warning;
-- somebody who knows more finds more
SELECT fewest < 4 AS found FROM shown('out', '{age,zip,sex,job}', 3);
-- what is shown is true: each row of the target is one of the source
SELECT count(*) FROM out o WHERE NOT EXISTS (SELECT FROM people p WHERE p.ill = o.ill AND (o.age IS NULL OR o.age = p.age) AND (o.zip IS NULL OR o.zip = p.zip) AND (o.sex IS NULL OR o.sex = p.sex) AND (o.job IS NULL OR o.job = p.job));
-- said with the table, and recorded
SELECT regexp_replace(obj_description('out'::regclass), '; run .*', '') AS comment;
SELECT options -> 'known_columns' AS known_columns, options -> 'combinations' AS combinations, k, class_min < k AS small_classes, suppressed_cells FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT s ->> 'about' AS about, s ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'statements') AS s FROM kanon_usefulness) AS x WHERE s ->> 'about' = 'promise';
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'verdicts') AS v FROM kanon_usefulness) AS x WHERE v ->> 'about' = 'quasi_identifiers';
SELECT kanon_report_data(max(run)) ->> 'check' AS "check" FROM kanon_usefulness;

-- weights: what may not be lost is worth more
SELECT sum(suppressed_cells) AS cells FROM kanon_pattern_guided('people', 'heavy', '{age,zip,sex,job}', 4, known_columns => 2, weights => '{1,1,1,100}');
SELECT (SELECT count(*) FROM heavy WHERE job IS NULL) < (SELECT count(*) FROM out WHERE job IS NULL) AS fewer_jobs;
-- all columns known: every row shares what it shows with three others, and so does every part of it
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'whole', '{age,zip,sex,job}', 4, known_columns => 4);
SELECT * FROM shown('whole', '{age,zip,sex,job}', 4);
-- sets that are named
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'named', '{age,zip,sex,job}', 4, combinations => '{"age,job","zip,sex=25"}', mark => true);
SELECT * FROM kanon_check('named', '{age,zip,sex,job}', NULL, 4, '{"age,job","zip,sex=25"}', missing => 'aside');
SELECT regexp_replace(obj_description('named'::regclass), '; run .*', '') AS comment;
SELECT s ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'statements') AS s FROM kanon_usefulness) AS x WHERE s ->> 'about' = 'promise';
SELECT sum(suppressed_cells) AS cells FROM kanon_pattern_guided('people', NULL, '{age,zip,sex,job}', 4, known_columns => 1, combinations => '{"age,zip,sex,job=2"}', dry_run => true);
-- a blank cell agrees with every value: fewer are blank
SELECT sum(suppressed_cells) AS cells FROM kanon_pattern_guided('people', 'agreeing', '{age,zip,sex,job}', 4, known_columns => 2, missing => 'any');
SELECT * FROM kanon_check('agreeing', '{age,zip,sex,job}', 2, k => 4, missing => 'any');
SELECT count(*) FROM (SELECT a.age, a.zip, count(*) FROM (SELECT DISTINCT age, zip FROM agreeing WHERE age IS NOT NULL AND zip IS NOT NULL) AS a, agreeing b WHERE coalesce(b.age, a.age) = a.age AND coalesce(b.zip, a.zip) = a.zip GROUP BY 1, 2 HAVING count(*) < 4) AS few;
SELECT regexp_replace(obj_description('agreeing'::regclass), '; run .*', '') AS comment;
SELECT s ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'statements') AS s FROM kanon_usefulness) AS x WHERE s ->> 'about' = 'promise';
SELECT kanon_report_data(max(run)) ->> 'check' AS "check" FROM kanon_usefulness;
-- NULL of the source is a value, as 'none' is in a view; the mark tells it from a blank cell
SELECT sum(suppressed_cells) AS cells FROM kanon_pattern_guided('people', 'valued', '{age,zip,sex,job}', 4, known_columns => 2, missing => 'value', mark => true);
SELECT job IS NULL AS "null", substr(kanon_pattern, 4, 1) AS mark, count(*) > 0 AS rows FROM valued GROUP BY 1, 2 ORDER BY 1, 2;
CREATE VIEW told AS SELECT age, zip, sex, coalesce(job, 'none') AS job FROM people;
SELECT sum(suppressed_cells) AS cells FROM kanon_pattern_guided('told', 'told_out', '{age,zip,sex,job}', 4, known_columns => 2);
CREATE VIEW valued_told AS SELECT age, zip, sex, CASE WHEN kanon_pattern NOT LIKE '___*' THEN coalesce(job, 'none') END AS job FROM valued;
SELECT (SELECT array_agg(v::text ORDER BY v::text) FROM valued_told AS v) = (SELECT array_agg(t::text ORDER BY t::text) FROM told_out AS t) AS same;
SELECT * FROM shown('valued_told', '{age,zip,sex,job}', 2);
SELECT rows_below_k FROM kanon_check('valued', '{age,zip,sex,job}', 2, 4, missing => 'marked');
SELECT s ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'statements') AS s FROM kanon_usefulness WHERE target LIKE '%.valued') AS x WHERE s ->> 'about' = 'promise';
SELECT kanon_report_data(max(run)) ->> 'check' AS "check" FROM kanon_usefulness WHERE target LIKE '%.valued';
-- where the marks say that no NULL is blank, and that all are
CREATE VIEW all_values AS SELECT age, zip, sex, job, '----' AS kanon_pattern FROM people;
CREATE VIEW all_blank AS SELECT age, zip, sex, job, CASE WHEN job IS NULL THEN '---*' ELSE '----' END AS kanon_pattern FROM people;
SELECT v.relation, (SELECT max(rows_below_k) FROM kanon_check(v.relation, '{age,zip,sex,job}', 2, 4, missing => 'marked')) = (SELECT max(rows_below_k) FROM kanon_check('people', '{age,zip,sex,job}', 2, 4, missing => v.missing)) AS same
FROM (VALUES ('all_values'::regclass, 'value'), ('all_blank', 'aside')) AS v (relation, missing);
-- with levels, rules and persons
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'valued_too', '{age,zip,sex,job}', 4, 'improve', known_columns => 2, missing => 'value', mark => true, hierarchies => '{"age": {"interval": [5, 10]}}', replace => true);
SELECT job IS NULL AS "null", substr(kanon_pattern, 4, 1) AS mark, count(*) > 0 AS rows FROM valued_too GROUP BY 1, 2 ORDER BY 1, 2;
SELECT rows_below_k FROM kanon_check('valued_too', '{age,zip,sex,job}', 2, 4, missing => 'marked');
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'valued_too', '{age,zip,sex,job}', 4, known_columns => 2, missing => 'value', mark => true, rules => kanon_rules(never => '{sex}'), replace => true);
SELECT rows_below_k FROM kanon_check('valued_too', '{age,zip,sex,job}', 2, 4, missing => 'marked');
CREATE TABLE twice AS SELECT p.*, p.nr AS person FROM people p, generate_series(1, 2);
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('twice', 'valued_too', '{age,zip,sex,job}', 4, known_columns => 2, missing => 'value', mark => true, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}', replace => true);
SELECT rows_below_k FROM kanon_check('valued_too', '{age,zip,sex,job}', 2, 4, missing => 'marked', subject => 'person');
-- and night after night
CREATE TABLE valued_nightly AS SELECT * FROM people;
SELECT kanon_create_publication('valued_nights', 'valued_nightly', '{age,zip,job}', 4, options => '{"known_columns": 2, "missing": "value", "mark": true, "keep": ["nr"], "allow_identifying": ["nr"]}');
CREATE TABLE valued_before AS SELECT * FROM valued_nights;
DELETE FROM valued_nightly WHERE nr % 9 = 1;
UPDATE valued_nightly SET job = NULL WHERE nr % 17 = 2;
SELECT status FROM kanon_refresh('valued_nights');
SELECT rows_below_k FROM kanon_check('valued_nights', '{age,zip,job}', 2, 4, missing => 'marked');
SELECT count(*) AS again FROM valued_nights n JOIN valued_before b USING (nr) WHERE nr % 17 <> 2 AND translate(n.kanon_pattern, '-*', '01')::bit(3) & translate(b.kanon_pattern, '-*', '01')::bit(3) <> translate(b.kanon_pattern, '-*', '01')::bit(3);
SELECT kanon_drop_publication('valued_nights');
SELECT k, suppressed_cells FROM kanon_frontier('people', '{age,zip,sex,job}', '{4}', options => '{"known_columns": 2, "missing": "value"}');
-- what may be blank: rules, and patterns in a list; a row whose pattern is none of them is blank in all
CREATE FUNCTION patterns(relation regclass) RETURNS TABLE (pattern text, n bigint) LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT kanon_pattern, count(*) FROM %s GROUP BY 1 ORDER BY 1', relation); END $$;
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'ruled', '{age,zip,sex,job}', 4, known_columns => 2, rules => kanon_rules(never => '{sex}', together => '{"age,zip"}'), mark => true);
SELECT * FROM patterns('ruled');
SELECT fewest >= 4 AS k4 FROM shown('ruled', '{age,zip,sex,job}', 2);
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'listed', '{age,zip,sex,job}', 4, known_columns => 2, patterns => '{*---,**-*,-*-*}', mark => true, method => 'improve');
SELECT * FROM patterns('listed');
SELECT fewest >= 4 AS k4 FROM shown('listed', '{age,zip,sex,job}', 2);
-- several turns lose less than one; the least of all of a small table, proven
CREATE VIEW few AS SELECT age % 4 AS age, zip, sex, job FROM people WHERE nr <= 40;
CREATE FUNCTION blank(how text, source regclass DEFAULT 'few') RETURNS numeric LANGUAGE sql AS $$ SELECT sum(suppressed_cells) FROM kanon_pattern_guided(source, 'by_' || how, '{age,zip,sex,job}', 3, how, known_columns => 2, replace => true) $$;
SELECT blank('greedy') >= blank('improve') AS improve, blank('improve') >= blank('ilp') AS ilp, blank('greedy', 'people') AS greedy, blank('improve', 'people') AS several;
SELECT method, proven, lower_bound <= cost AS bound FROM kanon_usefulness WHERE target LIKE '%by_%' ORDER BY run DESC LIMIT 4;
SELECT blank('ilp');
SELECT proven, cost, lower_bound > cost - 0.001 AS bound FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT * FROM shown('by_ilp', '{age,zip,sex,job}', 2);
SELECT kanon_pattern_guided('hurried', NULL, '{a,b,c,d,e}', 4, 'ilp', known_columns => 3, dry_run => true);
-- for several ks; what each of them costs is what publishing costs
SELECT k, suppressed_cells, classes > 0 AS classes FROM kanon_frontier('people', '{age,zip,sex,job}', '{2,4,9,400}', options => '{"known_columns": 2}');
SELECT k, suppressed_cells FROM kanon_frontier('people', '{age,zip,sex,job}', '{2,4}', options => '{"combinations": ["age,job", "zip,sex=25"]}');
SELECT k, suppressed_cells = (SELECT sum(suppressed_cells) FROM kanon_pattern_guided('people', NULL, '{age,zip,sex,job}', 9, known_columns => 2, dry_run => true)) AS same
FROM kanon_frontier('people', '{age,zip,sex,job}', '{9}', options => '{"known_columns": 2}');
-- which columns known together cost most: of each set by plain SQL the rows whose combination is rare, of those that occur in no smaller set
SELECT aspect, subject, row_count, suppressed_cells, cost, saved_cells, detail FROM kanon_explain('people', '{age,zip,sex,job}', 4, options => '{"known_columns": 2}') WHERE aspect <> 'pattern';
SELECT count(*) FILTER (WHERE c < 4) AS rows, count(DISTINCT (zip, job)) FILTER (WHERE c < 4) AS combinations FROM (SELECT zip, job, count(*) OVER (PARTITION BY zip, job) AS c FROM people WHERE job IS NOT NULL) AS g;
-- nobody
CREATE VIEW nobody AS SELECT * FROM people WHERE false;
SELECT count(*) FROM kanon_pattern_guided('nobody', 'none', '{age,zip,sex,job}', 4, known_columns => 2);
SELECT count(*) FROM none;
-- night after night: rows that have not changed show no more than before, and each combination that they show is shown by four of them
CREATE TABLE nightly AS SELECT * FROM people;
SELECT kanon_create_publication('nights', 'nightly', '{age,zip,sex,job}', 4, options => '{"known_columns": 2, "keep": ["nr"], "allow_identifying": ["nr"]}', keep_releases => 2);
CREATE FUNCTION night(n int) RETURNS TABLE (status text, changed bigint, fewest bigint, k4 boolean, shown_again bigint, unchanged bigint, fewest_unchanged bigint) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS before, source_before, both_nights;
    CREATE TEMP TABLE before AS SELECT * FROM nights;
    CREATE TEMP TABLE source_before AS SELECT * FROM nightly;
    -- some leave, some change, some come
    DELETE FROM nightly WHERE hashint4(nr * 31 + (SELECT count(*)::int FROM nightly)) % 15 = 0;
    UPDATE nightly SET age = age + 1 WHERE hashint4(nr * 37 + (SELECT count(*)::int FROM nightly)) % 15 = 0;
    INSERT INTO nightly SELECT age, zip, sex, job, ill, (SELECT max(nr) FROM nightly) + row_number() OVER (ORDER BY nr) FROM (SELECT * FROM people ORDER BY hashint4(nr * 41 + (SELECT count(*)::int FROM nightly)) LIMIT 25) AS p;
    status := (SELECT r.status FROM kanon_refresh('nights') AS r);
    -- the rows that are there still as they were, as both nights show them
    CREATE TEMP TABLE both_nights AS SELECT n.age, n.zip, n.sex, n.job, (n.age IS NOT NULL AND b.age IS NULL)::int + (n.zip IS NOT NULL AND b.zip IS NULL)::int + (n.sex IS NOT NULL AND b.sex IS NULL)::int + (n.job IS NOT NULL AND b.job IS NULL)::int AS again
    FROM nights n JOIN before b USING (nr) JOIN source_before s USING (nr) JOIN nightly t USING (nr) WHERE (s.*)::text = (t.*)::text;
    SELECT x.fewest INTO night.fewest FROM shown('nights', '{age,zip,sex,job}', 2) AS x;
    k4 := night.fewest >= 4;
    SELECT count(*), sum(again) INTO unchanged, shown_again FROM both_nights;
    SELECT x.fewest INTO fewest_unchanged FROM shown('both_nights', '{age,zip,sex,job}', 2) AS x;
    changed := (SELECT count(*) FROM nightly) - unchanged;
    RETURN NEXT;
END $$;
SELECT n, x.* FROM generate_series(1, 4) AS n, LATERAL night(n) AS x;
SELECT status, row_count, k FROM kanon_releases WHERE publication LIKE '%nights' ORDER BY release;
SELECT problem FROM kanon_publication_status();
-- with another number of known columns it goes on
SELECT kanon_alter_publication('nights', set_options => '{"known_columns": 3}');
SELECT status FROM kanon_refresh('nights');
SELECT fewest >= 4 AS k4 FROM shown('nights', '{age,zip,sex,job}', 3);
SELECT kanon_drop_publication('nights');
-- and with rules, which it keeps from release to release
DELETE FROM nightly;
INSERT INTO nightly SELECT * FROM people;
SELECT kanon_create_publication('nights', 'nightly', '{age,zip,sex,job}', 4, options => '{"known_columns": 2, "keep": ["nr"], "allow_identifying": ["nr"], "rules": {"never": ["sex"]}, "mark": true}', keep_releases => 2);
SELECT n, x.* FROM generate_series(1, 2) AS n, LATERAL night(n) AS x;
SELECT count(*) FROM nights WHERE (sex IS NULL) AND kanon_pattern <> '****';
SELECT kanon_drop_publication('nights');
-- where values have levels, blank cells are shown coarser if that is enough: fewer are blank, and combinations of what is shown have four rows
SELECT sum(suppressed_cells) < (SELECT count(*) FILTER (WHERE age IS NULL) + count(*) FILTER (WHERE zip IS NULL) + count(*) FILTER (WHERE sex IS NULL) + count(*) FILTER (WHERE job IS NULL) - (SELECT count(*) FROM people WHERE job IS NULL) FROM out) AS fewer
FROM kanon_pattern_guided('people', 'coarser', '{age,zip,sex,job}', 4, known_columns => 2, hierarchies => '{"age": {"interval": [5, 10]}}', mark => true);
SELECT * FROM shown('coarser', '{age,zip,sex,job}', 2);
SELECT left(kanon_pattern, 1) AS level, count(*) > 0 AS rows, min(age::text) AS age FROM coarser GROUP BY 1 ORDER BY 1;
-- rules and patterns say what may be coarser or blank
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'ruled', '{age,zip,sex,job}', 4, known_columns => 2, hierarchies => '{"age": {"interval": [5, 10]}}', rules => kanon_rules(never => '{zip}'), mark => true, replace => true);
SELECT count(*) FILTER (WHERE zip IS NULL AND kanon_pattern <> '****') AS zips, count(*) FILTER (WHERE kanon_pattern ~ '^[12]') > 0 AS coarser FROM ruled;
SELECT fewest >= 4 AS k4 FROM shown('ruled', '{age,zip,sex,job}', 2);
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('people', 'listed', '{age,zip,sex,job}', 4, known_columns => 2, hierarchies => '{"age": {"interval": [5, 10]}}', patterns => '{1---,1-*-,2**-,*---,**-*}', mark => true, replace => true);
SELECT * FROM patterns('listed');
SELECT fewest >= 4 AS k4 FROM shown('listed', '{age,zip,sex,job}', 2);
SELECT count(*) > 0 AS patterns FROM kanon_pattern_guided('people', 'turns', '{age,zip,sex,job}', 4, 'improve', known_columns => 2, hierarchies => '{"age": {"interval": [5, 10]}}');
SELECT t.cost <= c.cost AS less, t.lower_bound <= t.cost AS bound FROM kanon_usefulness c, kanon_usefulness t WHERE c.target LIKE '%.coarser' AND t.target LIKE '%.turns';
SELECT k, suppressed_cells IS NOT NULL AS found FROM kanon_frontier('people', '{age,zip,sex,job}', '{2,4}', options => '{"known_columns": 2, "hierarchies": {"age": {"interval": [5, 10]}}}');
SELECT subject, row_count, suppressed_cells > 0 AS cells FROM kanon_explain('people', '{age,zip,sex,job}', 4, options => '{"known_columns": 2, "hierarchies": {"age": {"interval": [5, 10]}}}') WHERE aspect = 'known together';
-- one level for all rows: the best node of which enough rows are left, once rows with a rare combination are suppressed whole
SELECT pattern, suppressed_rows FROM kanon_full_domain('people', 'levels', '{age,zip,sex,job}', 4, suppression_limit => 0.2, known_columns => 2, hierarchies => '{"age": {"interval": [5, 10]}}');
SELECT * FROM shown('levels', '{age,zip,sex,job}', 2);
SELECT s ->> 'about' AS about, s ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'statements') AS s FROM kanon_usefulness) AS x WHERE s ->> 'about' IN ('promise', 'model');
SELECT pattern, suppressed_rows FROM kanon_full_domain('people', 'sets', '{age,zip,sex,job}', 4, combinations => '{"age,job","zip,sex=25"}', hierarchies => '{"age": {"interval": [5, 10]}, "zip": {"prefix": [1]}}');
SELECT rows_below_k FROM kanon_check('sets', '{age,zip,sex,job}', NULL, 4, '{"age,job","zip,sex=25"}', missing => 'aside');
-- where NULL is a value, k rows show each NULL with whatever is beside it
SELECT pattern, suppressed_rows FROM kanon_full_domain('people', 'nulls', '{age,zip,sex,job}', 4, suppression_limit => 0.2, known_columns => 2, missing => 'value', hierarchies => '{"age": {"interval": [5, 10]}}');
SELECT rows_below_k FROM kanon_check('nulls', '{age,zip,sex,job}', 2, 4, missing => 'value');
SELECT min(n) FROM (SELECT count(*) AS n FROM nulls GROUP BY job, zip) AS g;
SELECT k, suppressed_cells FROM kanon_frontier('people', '{age,zip,sex,job}', '{2,4}', model => 'full_domain', options => '{"known_columns": 2, "suppression_limit": 0.2, "hierarchies": {"age": {"interval": [5, 10]}}}');
SELECT subject, row_count, suppressed_cells FROM kanon_explain('people', '{age,zip,sex,job}', 4, model => 'full_domain', options => '{"known_columns": 2, "suppression_limit": 0.2, "hierarchies": {"age": {"interval": [5, 10]}}}') WHERE aspect = 'known together';
-- night after night, too
CREATE FUNCTION nights_of(model text, options jsonb) RETURNS TABLE (status text, k4 boolean, again bigint, unchanged4 boolean) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM nightly;
    INSERT INTO nightly SELECT * FROM people;
    PERFORM kanon_create_publication('nights', 'nightly', '{age,zip,sex,job}', 4, model => model, options => '{"keep": ["nr"], "allow_identifying": ["nr"], "known_columns": 2, "hierarchies": {"age": {"interval": [5, 10]}}}' || options, keep_releases => 2);
    FOR n IN 1..3 LOOP
        DROP TABLE IF EXISTS before, source_before, both_nights;
        CREATE TEMP TABLE before AS SELECT * FROM nights;
        CREATE TEMP TABLE source_before AS SELECT * FROM nightly;
        DELETE FROM nightly WHERE hashint4(nr * 31 + n) % 15 = 0;
        UPDATE nightly SET age = age + 1 WHERE hashint4(nr * 37 + n) % 15 = 0;
        INSERT INTO nightly SELECT age, zip, sex, job, ill, (SELECT max(nr) FROM nightly) + row_number() OVER (ORDER BY nr) FROM (SELECT * FROM people ORDER BY hashint4(nr * 41 + n) LIMIT 25) AS p;
        status := (SELECT r.status FROM kanon_refresh('nights') AS r);
        CREATE TEMP TABLE both_nights AS SELECT n.age, n.zip, n.sex, n.job, (n.age IS NOT NULL AND (b.age IS NULL OR n.age <@ b.age AND n.age <> b.age) OR n.zip IS NOT NULL AND b.zip IS NULL OR n.sex IS NOT NULL AND b.sex IS NULL OR n.job IS NOT NULL AND b.job IS NULL)::int AS again
        FROM nights n JOIN before b USING (nr) JOIN source_before s USING (nr) JOIN nightly t USING (nr) WHERE (s.*)::text = (t.*)::text;
        k4 := (SELECT fewest >= 4 FROM shown('nights', '{age,zip,sex,job}', 2));
        again := (SELECT sum(x.again) FROM both_nights AS x);
        unchanged4 := (SELECT fewest >= 4 FROM shown('both_nights', '{age,zip,sex,job}', 2));
        RETURN NEXT;
    END LOOP;
    PERFORM kanon_drop_publication('nights');
END $$;
SELECT * FROM nights_of('pattern_guided', '{}');
SELECT * FROM nights_of('pattern_guided', '{"rules": {"never": ["zip"]}}');
SELECT * FROM nights_of('full_domain', '{"suppression_limit": 0.5}');
-- the report says what one release keeps of another
SELECT kanon_create_publication('followed', 'nightly', '{age,zip,sex,job}', 4, options => '{"known_columns": 2}');
UPDATE nightly SET age = age + 1 WHERE hashint4(nr) % 15 = 0;
SELECT status FROM kanon_refresh('followed');
SELECT s ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'statements') AS s FROM kanon_usefulness WHERE publication LIKE '%followed') AS x WHERE s ->> 'about' = 'method'
UNION ALL SELECT s ->> 'says' FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'limits') AS s FROM kanon_usefulness WHERE publication LIKE '%followed') AS x WHERE s ->> 'what' = 'Several releases.';
SELECT kanon_drop_publication('followed');
-- persons with several rows: each combination is of four of them
CREATE TABLE visits AS SELECT p.*, p.nr AS person FROM people p, generate_series(1, 2);
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('visits', 'by_persons', '{age,zip,sex,job}', 4, known_columns => 2, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}');
SELECT min(n) FROM (SELECT count(DISTINCT person) AS n FROM by_persons WHERE num_nulls(age, zip) = 0 GROUP BY age, zip UNION ALL SELECT count(DISTINCT person) FROM by_persons WHERE num_nulls(zip, job) = 0 GROUP BY zip, job
    UNION ALL SELECT count(DISTINCT person) FROM by_persons WHERE num_nulls(age, job) = 0 GROUP BY age, job UNION ALL SELECT count(DISTINCT person) FROM by_persons WHERE age IS NOT NULL GROUP BY age) AS g;
SELECT rows_below_k FROM kanon_check('by_persons', '{age,zip,sex,job}', 2, 4, missing => 'aside', subject => 'person');
-- the printed call counts persons, where the table shows them; the page does so again
SELECT kanon_report_data(max(run)) ->> 'check' AS "check", kanon_report_data(max(run)) ->> 'check_says' AS says FROM kanon_usefulness;
SELECT kanon_report_data(max(run)) ->> 'check' FROM kanon_usefulness \gexec
SELECT s -> 'claim' AS claim FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'statements') AS s FROM kanon_usefulness) AS x WHERE s ->> 'about' = 'promise';
UPDATE by_persons SET person = 1;
SELECT rows_below_k FROM kanon_check('by_persons', '{age,zip,sex,job}', 2, 4, missing => 'aside') WHERE size = 2;
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'verdicts') AS v FROM kanon_usefulness) AS x WHERE v ->> 'about' = 'quasi_identifiers';
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('visits', 'by_hidden', '{age,zip,sex,job}', 4, known_columns => 2, privacy => ARRAY[kanon_subject('person')]);
SELECT kanon_report_data(max(run)) ->> 'check' AS "check", kanon_report_data(max(run)) ->> 'check_says' AS says FROM kanon_usefulness;
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('visits', 'by_masked', '{age,zip,sex,job}', 4, known_columns => 2, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}', mask => '{"person": {"round": 10}}');
SELECT kanon_report_data(max(run)) ->> 'check' AS "check" FROM kanon_usefulness;
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('visits', 'by_pseudonyms', '{age,zip,sex,job}', 4, known_columns => 2, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}', mask => '{"person": "pseudonym"}');
SELECT kanon_report_data(max(run)) ->> 'check' FROM kanon_usefulness \gexec
SELECT v ->> 'verdict' AS verdict FROM (SELECT jsonb_array_elements(kanon_report_data(max(run), read_target => true) -> 'verdicts') AS v FROM kanon_usefulness) AS x WHERE v ->> 'about' = 'quasi_identifiers';
SELECT pattern, suppressed_rows > 0 AS some FROM kanon_full_domain('visits', 'by_persons', '{age,zip,sex,job}', 4, suppression_limit => 0.5, known_columns => 2, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}', hierarchies => '{"age": {"interval": [5, 10]}}', replace => true);
SELECT rows_below_k FROM kanon_check('by_persons', '{age,zip,sex,job}', 2, 4, missing => 'aside', subject => 'person');
-- the least of a small table for persons, proven
CREATE VIEW few_visits AS SELECT age % 4 AS age, zip, sex, job, person / 2 AS person FROM visits WHERE nr <= 24;
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('few_visits', 'by_persons', '{age,zip,sex,job}', 3, 'greedy', known_columns => 2, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}', replace => true);
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('few_visits', 'by_persons', '{age,zip,sex,job}', 3, 'ilp', known_columns => 2, privacy => ARRAY[kanon_subject('person')], keep => '{person}', allow_identifying => '{person}', replace => true);
SELECT rows_below_k FROM kanon_check('by_persons', '{age,zip,sex,job}', 2, 3, missing => 'aside', subject => 'person');
SELECT proven, cost <= lag(cost) OVER (ORDER BY run) AS least FROM kanon_usefulness WHERE target LIKE '%.by_persons' ORDER BY run DESC LIMIT 1;
-- that many rows show it is not enough
SELECT sum(suppressed_cells) > 0 AS cells FROM kanon_pattern_guided('visits', 'by_persons', '{age,zip,sex,job}', 4, known_columns => 2, keep => '{person}', allow_identifying => '{person}', replace => true);
SELECT rows_below_k FROM kanon_check('by_persons', '{age,zip,sex,job}', 2, 4, missing => 'aside');
SELECT rows_below_k > 0 AS found FROM kanon_check('by_persons', '{age,zip,sex,job}', 2, 4, missing => 'aside', subject => 'person');
-- a table that was changed later does not keep it any more
UPDATE out SET zip = 'new' WHERE ctid = (SELECT min(ctid) FROM out);
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM (SELECT jsonb_array_elements(kanon_report_data(min(run), read_target => true) -> 'verdicts') AS v FROM kanon_usefulness WHERE target LIKE 'known_test.%out%') AS x WHERE v ->> 'about' = 'quasi_identifiers';

-- errors
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 0);
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 3);
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, combinations => '{}');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, combinations => '{"age,job"}');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, method => 'fpt');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, patterns => '{*-}', method => 'ilp');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, hierarchies => '{"age": {"interval": [10]}}', method => 'ilp');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, hierarchies => '{"age": {"interval": [10]}}', missing => 'any');
SELECT kanon_full_domain('people', 'no', '{age,zip}', 4, known_columns => 2, missing => 'any');
SELECT kanon_full_domain('people', 'no', '{age,zip}', 4, missing => 'value');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, privacy => ARRAY[kanon_subject('nr')], missing => 'any');
SELECT kanon_check('people', '{age,zip}', 2, missing => 'any', subject => 'nr');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, privacy => ARRAY[kanon_distinct_l('ill', 2)], keep => '{ill}');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, partition_by => 'zip');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, residual => 'drop');
SELECT kanon_create_publication('no', 'people', '{age,zip}', 4, options => '{"known_columns": 2}', key => 'nr');
SELECT kanon_create_publication('no', 'people', '{age,zip}', 4, options => '{"known_columns": 2, "missing": "any"}');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, missing => 'any', method => 'ilp');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, missing => 'value');
SELECT kanon_pattern_guided('people', NULL, '{age,zip}', 4, known_columns => 2, missing => 'value', dry_run => true);
-- each row shows a value or NULL, and there are fewer than such a combination's own k
SELECT pattern FROM kanon_full_domain('people', 'no', '{age,zip}', 4, combinations => '{age=1000000}', missing => 'value', suppression_limit => 1);
SELECT pattern FROM kanon_full_domain('people', NULL, '{age,zip}', 4, combinations => '{age=1000000}', suppression_limit => 1, dry_run => true);
SELECT kanon_create_publication('no', 'people', '{age,zip}', 4, options => '{"known_columns": 2, "missing": "value"}');
SELECT kanon_create_publication('no', 'people', '{age,zip}', 4, model => 'full_domain', options => '{"known_columns": 2, "missing": "value"}');
SELECT kanon_check('people', '{age,zip}', 2, missing => 'marked');
SELECT kanon_check('all_blank', '{age,zip}', 2, missing => 'marked');
SELECT kanon_check('all_blank', '{age,zip,sex,job}', 2, missing => 'some');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, known_columns => 2, missing => 'some');
SELECT kanon_pattern_guided('people', 'no', '{age,zip}', 4, missing => 'any');
SELECT kanon_create_publication('no', 'people', '{age,zip}', 4, options => '{"known_columns": 2}', key => 'nr', protect_successive => true);
-- suppressed rows are those of k persons where a blank cell is a value
CREATE TABLE few_persons (person int, q text);
INSERT INTO few_persons VALUES (3, 'b'), (1, 'b'), (3, 'a'), (3, 'c');
SELECT pattern, suppressed_rows FROM kanon_full_domain('few_persons', 'few_out', '{q}', 2, known_columns => 1, missing => 'value', suppression_limit => 1, mark => true, privacy => ARRAY[kanon_subject('person')]);
-- a combination of 17 columns is rare of which all parts are not: it is counted, and a method that lists 16 does not begin
CREATE TABLE wide AS SELECT r AS nr FROM generate_series(0, 17) r;
SELECT format('ALTER TABLE wide ADD COLUMN c%s int; UPDATE wide SET c%s = (nr = %s)::int', i, i, i) FROM generate_series(1, 17) i \gexec
INSERT INTO wide SELECT * FROM wide WHERE nr > 0;
SELECT size, combinations_below_k, smallest FROM kanon_check('wide', (SELECT array_agg('c' || i)::name[] FROM generate_series(1, 17) i), 17) WHERE size > 15;
SELECT kanon_pattern_guided('wide', 'no', (SELECT array_agg('c' || i)::name[] FROM generate_series(1, 17) i), 2, known_columns => 17);
SELECT kanon_full_domain('wide', 'no', (SELECT array_agg('c' || i)::name[] FROM generate_series(1, 17) i), 2, known_columns => 17);
SELECT sum(row_count) FROM kanon_pattern_guided('wide', 'narrow', (SELECT array_agg('c' || i)::name[] FROM generate_series(1, 17) i), 2, known_columns => 2);
-- the page does not ask kanon_frontier for what it does not take
SELECT kanon_report_data(max(run), frontier => '{2,5}') -> 'frontier' ->> 'says' AS says FROM kanon_usefulness WHERE options ? 'known_columns';
\set VERBOSITY terse
DROP SCHEMA known_test CASCADE;
