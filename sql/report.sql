-- a run as a page: its structure, its figures, and that nothing gets out of its text
CREATE SCHEMA report_test;
SET search_path = report_test, public;

-- what a page says under "data-of": figures by their place in the document
CREATE FUNCTION figures(page text) RETURNS TABLE (of text, value text) LANGUAGE sql AS $$
    SELECT m[1], m[2] FROM regexp_matches(page, 'data-of=''([^'']*)'' value=''([^'']*)''', 'g') AS m
$$;
CREATE FUNCTION counted(page text, piece text) RETURNS bigint LANGUAGE sql AS
$$ SELECT (length(page) - length(replace(page, piece, ''))) / length(piece) $$;

CREATE TABLE people AS
SELECT i AS id, 20 + i % 30 AS age, 'city' || i % 4 AS city, CASE WHEN i % 9 = 0 THEN 'x' ELSE 'f' END AS sex, 'flu' || i % 5 AS diagnosis
FROM generate_series(1, 300) i;
SELECT * FROM kanon_pattern_guided('people', 'people_public', '{age,city,sex}', 5, keep => '{diagnosis}', effort => 0);
SELECT max(run) AS run FROM kanon_usefulness \gset
SELECT kanon_report(:run, read_target => true) AS page \gset

-- one page, complete, with nothing from outside and no script
SELECT left(:'page', 32), right(:'page', 24), :'page' ~ '^[\x01-\x7f]*$' AS ascii;
SELECT :'page' ~* '<script|\shref=''?https?:|src=|@import|url\(|javascript:' AS outside, :'page' LIKE '%default-src &#39;none&#39;%' OR :'page' LIKE '%default-src ''none''%' AS forbidden;
SELECT m[1] AS heading FROM regexp_matches(:'page', '<h[12][^>]*>([^<]*)<', 'g') AS m;
SELECT m[1] AS caption FROM regexp_matches(:'page', '<caption>([^<]*)<', 'g') AS m;
SELECT counted(:'page', '<' || tag || ' ') + counted(:'page', '<' || tag || '>') = counted(:'page', '</' || tag || '>') AS closed, tag
FROM unnest('{html,head,body,main,section,table,thead,tbody,tr,td,svg,g,span,figure,p,ul,li,data,code,h1,h2,h3}'::text[]) AS tag;
SELECT count(*) = count(DISTINCT m[1]) AS unique_ids FROM regexp_matches(:'page', ' id=''([^'']*)''', 'g') AS m;

-- the figures are the document's, and those the views'
SELECT kanon_report_data(:run, read_target => true) AS document \gset
SELECT count(*) > 60 AS many, bool_and(f.value = coalesce(:'document'::jsonb #>> string_to_array(f.of, '.'), '')) AS same FROM figures(:'page') f;
SELECT count(*) > 40 AS many, bool_and(:'document'::jsonb -> 'run' -> u.key = u.value) AS same
FROM (SELECT to_jsonb(r) AS j FROM kanon_usefulness r WHERE run = :run) r, jsonb_each(r.j) AS u (key, value);
SELECT jsonb_agg(x #- '{kept_share}' #- '{name}' #- '{comment}' #- '{levels_shown}' #- '{generalised_share}') = (SELECT jsonb_agg(to_jsonb(c) - 'run' ORDER BY ordinal) FROM kanon_columns c WHERE run = :run) AS same
FROM jsonb_array_elements(:'document'::jsonb -> 'columns') AS x;
SELECT :'document'::jsonb -> 'risk' = (SELECT jsonb_object_agg(stage, to_jsonb(x)) FROM kanon_run_risk x WHERE run = :run) AS same;
SELECT :'document'::jsonb -> 'now' -> 'measures' = (SELECT jsonb_agg(to_jsonb(x)) FROM kanon_risk('people_public', '{age,city,sex}', '{diagnosis}') x) AS same;
SELECT x ->> 'about' AS about, regexp_replace(x ->> 'says', '^On .* role ', 'On a day the role ') AS says, x -> 'claim' AS claim FROM jsonb_array_elements(:'document'::jsonb -> 'statements') AS x WHERE x ->> 'about' <> 'release';
SELECT x ->> 'verdict' AS verdict, x ->> 'says' AS says FROM jsonb_array_elements(:'document'::jsonb -> 'verdicts') AS x;

-- who asks for another threshold, and says what for
SELECT x ->> 'measure' AS measure, x ->> 'meaning' AS meaning FROM jsonb_array_elements(kanon_report_data(:run, threshold => 0.09, read_target => true) #> '{now,measures}') AS x WHERE x ->> 'measure' = 'prosecutor_share';
SELECT page LIKE '%<th scope=''row'' class=''name''>for &lt;whom&gt;</th><td class=''name''>an institute</td>%' AS said
FROM kanon_report(:run, metadata => '{"for <whom>": "an institute"}') AS page;
SELECT page LIKE '%<td class=''name''>&quot;Bread &amp; Roses&quot;&#39; institute</td>%' AS said
FROM kanon_report(:run, metadata => '{"whom": "\"Bread & Roses\"'' institute"}') AS page;

-- the checksum: whatever the order of rows, as COPY has them, and another one for other rows
SELECT kanon_checksum('people_public') = encode(sha256(convert_to(string_agg(concat_ws(E'\t', coalesce(age::text, '\N'), coalesce(city, '\N'), coalesce(sex, '\N'), diagnosis) || E'\n', ''
    ORDER BY concat_ws(E'\t', coalesce(age::text, '\N'), coalesce(city, '\N'), coalesce(sex, '\N'), diagnosis) COLLATE "C"), 'UTF8')), 'hex') AS same,
    :'document'::jsonb ->> 'checksum' = kanon_checksum('people_public') AS said FROM people_public;
CREATE TABLE odd_texts (a text, b timestamptz, gone int, c float8);
ALTER TABLE odd_texts DROP gone;
INSERT INTO odd_texts VALUES (E'tab\there\nand\\there\r', '2020-02-03 04:05:06+07', 0.1), (NULL, NULL, 'NaN'), ('ä', NULL, NULL);
SELECT kanon_checksum('odd_texts') = encode(sha256(convert_to(E'\\N\t\\N\tNaN\ntab\\there\\nand\\\\there\\r\t2020-02-02 21:05:06+00\t0.1\nä\t\\N\t\\N\n', 'UTF8')), 'hex') AS same;
SELECT kanon_checksum('odd_texts') AS before \gset
UPDATE odd_texts SET c = 0.1 WHERE c = 'NaN';
SELECT kanon_checksum('odd_texts') = :'before' AS same;
CREATE TABLE no_columns ();
SELECT kanon_checksum('no_columns') = encode(sha256(''), 'hex') AS same;
SELECT kanon_checksum('kanon_run_run_seq');

-- risk before and after, as the tables themselves tell
SELECT stage, row_count, classes, k, unique_rows, blank_rows, below_k, round(share_below_k::numeric, 4) AS share,
       round(prosecutor_highest::numeric, 4) AS highest, round(prosecutor_average::numeric, 4) AS average
FROM kanon_run_risk WHERE run = :run ORDER BY stage;
SELECT r.stage, (r.row_count, r.classes, r.k, r.unique_rows, r.blank_rows) = (c.row_count, c.classes, c.k, c.unique_rows, c.blank_rows) AS same
FROM kanon_run_risk r, LATERAL kanon_check(CASE r.stage WHEN 'source' THEN 'people' ELSE 'people_public' END, '{age,city,sex}') c
WHERE r.run = :run ORDER BY 1;
SELECT size_from, size_to, source_classes, source_rows, target_classes, target_rows FROM kanon_class_sizes WHERE run = :run ORDER BY 1;

-- numbers of every size, texts that HTML has no name for, documents that are no run's
SELECT place, value, (regexp_match(kanon_page(jsonb_set(:'document', string_to_array(place, '.'), value::jsonb)), 'data-of=''' || place || ''' value=''[^'']*''>([^<]*)<'))[1] AS shown
FROM unnest('{run.published_rows,run.gcp,measures.3.number,run.read_ms}'::text[]) place,
    unnest('{-1234567,-0.5,0,0.00049,0.0005,0.0012,0.9994,0.9995,1,9.9999,10.5,999.4,1000,1e15,1e400,"null"}'::text[]) value;
SELECT (regexp_match(kanon_page(jsonb_set(:'document', '{columns,0,column_name}', to_jsonb(name))), 'class=''label one''>(a[^z]*z)<'))[1] AS shown
FROM unnest(ARRAY[E'a\u0001z', E'a\u007fz', E'a\u0085z', E'a\u00e4z', E'a\U0001f600z', E'a\t\nz', 'a"''&<>z']) name;
\set VERBOSITY terse
SELECT length(kanon_page(:'document'::jsonb - 'run'));
SELECT length(kanon_page(jsonb_set(:'document', '{run}', (:'document'::jsonb -> 'run') - 'k')));
SELECT length(kanon_page(jsonb_set(:'document', '{run,published_rows}', '[1]')));
SELECT kanon_page(jsonb_set(:'document', '{run,published_rows}', 'true')) ~ 'value=''true''' AS shown;
SELECT length(kanon_page('[]'));
\set VERBOSITY default

-- no data value without being asked for; names of columns are none
SELECT counted(:'page', 'city') > 0 AS column_named, :'page' ~ 'city[0-3]|flu[0-4]|>x<|>f<' AS value_shown;
SELECT kanon_report(:run, true) ~ 'city[0-3]' AS value_shown, kanon_report(:run, with_values => true) ~ 'flu[0-4]' AS kept_value_shown;

-- values before and after, when asked for: the figures are those of kanon_compare and kanon_distributions
SELECT kanon_report_data(:run, compare => true) AS beside \gset
SELECT kanon_page(:'beside') AS beside_page \gset
SELECT count(*) AS same FROM jsonb_array_elements(:'beside'::jsonb #> '{compared,columns}') AS c, kanon_compare('people', 'people_public', '{age,city,sex}', '{diagnosis}') AS x
WHERE c ->> 'column_name' = x.column_name AND (x.measure = 'distribution_distance' AND (c -> 'distance')::float8 = x.value
   OR x.measure = 'mean' AND c #> '{numbers,mean}' = to_jsonb(x) OR x.measure = 'standard_deviation' AND c #> '{numbers,spread}' = to_jsonb(x));
SELECT jsonb_agg(jsonb_build_array(d -> 'column_name', b -> 'bar', b -> 'before', b -> 'after') ORDER BY d.ordinality, b.ordinality) =
       (SELECT jsonb_agg(jsonb_build_array(column_name, bar, before, after)) FROM kanon_distributions('people', 'people_public', '{age,city,sex}', 5, '{diagnosis}')) AS same, count(*) > 15 AS many
FROM jsonb_array_elements(:'beside'::jsonb #> '{compared,distributions}') WITH ORDINALITY AS d (d, ordinality), jsonb_array_elements(d.d -> 'bars') WITH ORDINALITY AS b (b, ordinality);
SELECT counted(:'beside_page', 'not for readers of the table') AS said, kanon_report_data(:run) -> 'compared' = 'null' AS not_asked_for;

-- the frontier when it is asked for
SELECT counted(kanon_report(:run), '<polyline') AS lines, counted(kanon_report(:run, frontier => '{2,5,10}'), '<polyline') AS lines_asked_for;
SELECT array_agg(nullif(f.value, '')::bigint) = (SELECT array_agg(suppressed_cells) FROM kanon_frontier('people', '{age,city,sex}', '{2,5,10,1000}')) AS same
FROM figures(kanon_report(:run, frontier => '{2,5,10,1000}')) f WHERE of ~ '^frontier.ks.*suppressed_cells';
SELECT kanon_report(:run, frontier => '{1}');
-- what is wrong is called as it is here
SELECT kanon_report(:run, frontier => '{}');
SELECT kanon_report(:run, frontier => '{2,NULL}');
SELECT kanon_report(:run, threshold => 7);
SELECT kanon_report(:run, threshold => NULL);
SELECT kanon_report(:run, metadata => '[1]');
SELECT kanon_report(:run, metadata => 'null');

-- under the rules of the run, hierarchies among them
CREATE TABLE regions AS SELECT 'city' || i AS value, CASE WHEN i < 2 THEN 'north' ELSE 'south' END AS region FROM generate_series(0, 3) i;
SELECT count(*) FROM kanon_pattern_guided('people', 'people_regions', '{age,city,sex}', 5, hierarchies => '{"city": "regions"}');
SELECT max(run) AS levels FROM kanon_usefulness \gset
SELECT array_agg(f.value::bigint) = (SELECT array_agg(suppressed_cells) FROM kanon_frontier('people', '{age,city,sex}', '{2,5,10}', hierarchies => '{"city": "regions"}')) AS same
FROM figures(kanon_report(:levels, frontier => '{2,5,10}')) f WHERE of ~ '^frontier.ks.*suppressed_cells';
SELECT page LIKE '%some cells are as they were, some are coarser, some are empty.%' AS rules, kanon_report_data(:levels) #> '{columns,1,levels}' AS levels,
       page ~ 'north|south' AS value_shown FROM kanon_report(:levels) AS page;
SELECT count(*) FROM kanon_pattern_clustering('people', 'people_teams', '{age,city,sex}', 1, patterns => '{*--,*--,**-,***}', method => 'greedy');
SELECT page LIKE '%Each of the 4 listed patterns belongs to at most one class of rows%' AS rules, page LIKE '%occurs in at least 1 row.%' AS k,
       page LIKE '%Releases for several ks%' AS other_ks
FROM (SELECT kanon_report(max(run), frontier => '{2,5}') AS page FROM kanon_usefulness) r;

-- source and target gone: the report is the same, but for other ks
ALTER TABLE people RENAME TO people_gone;
DROP TABLE people_public;
-- (but for what the table says by itself)
SELECT kanon_report_data(:run, read_target => true) - '{now,checksum,verdicts,verdict,front,kept,not_read}'::text[] = :'document'::jsonb - '{now,checksum,verdicts,verdict,front,kept,not_read}'::text[] AS same, kanon_report_data(:run, read_target => true) -> 'not_read' AS not_read;
SELECT x ->> 'verdict' AS verdict, x ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data(:run) -> 'verdicts') AS x;
SELECT kanon_report(:run, frontier => '{2,5}') LIKE '%The source was not read: another relation has its name, or it has another one.%' AS said, kanon_report(:run, compare => true) LIKE '%The source was not read: another relation has its name%' AS compared;
ALTER TABLE people_gone RENAME TO people;

-- everything that can be named says what it is and does nothing
CREATE TABLE "<script>alert(1)</script>" ("<script>" text, "a'b""&amp;" int, "größe" int, "<i>kept</i>" text);
INSERT INTO "<script>alert(1)</script>" SELECT '</td><script>alert(2)</script>' || i % 2, i % 3, i % 2, '<b>' FROM generate_series(1, 60) i;
COMMENT ON TABLE "<script>alert(1)</script>" IS '</p><script>alert(3)</script>';
COMMENT ON COLUMN "<script>alert(1)</script>"."<script>" IS '<img src=x onerror=alert(4)>';
SELECT * FROM kanon_pattern_guided('"<script>alert(1)</script>"', '"</title><script>"', ARRAY['<script>', 'a''b"&amp;', 'größe'], 5,
    keep => ARRAY['<i>kept</i>'], weights => '{1,2,0.5}', rules => kanon_rules(implies => ARRAY['"<script>"->"a''b""&amp;"'], never => ARRAY['größe']));
SELECT max(run) AS odd FROM kanon_usefulness \gset
SELECT kanon_report(:odd, true, '{2,5}', compare => true) AS page \gset
SELECT :'page' ~* '<script|<i>|<b>alert|<img|onerror=alert\(4\)>' AS alive, counted(:'page', '&lt;script&gt;') > 10 AS named,
       counted(:'page', '&lt;/title&gt;') > 0 AS target_named, counted(:'page', 'a&#39;b&quot;&amp;amp;') > 0 AS quoted,
       counted(:'page', 'gr&#xf6;&#xdf;e') > 0 AS not_ascii, :'page' ~ '^[\x01-\x7f]*$' AS ascii;
SELECT :'page' LIKE '%described as: &ldquo;&lt;/p&gt;&lt;script&gt;alert(3)%' AS comment, :'page' LIKE '%&lt;img src=x%' AS column_comment;

-- no rows, one class, all cells suppressed, rows dropped, NULLs
CREATE TABLE nobody (a int, b int);
CREATE TABLE same AS SELECT 1 AS a, 2 AS b FROM generate_series(1, 20);
CREATE TABLE differ AS SELECT i AS a, -i AS b FROM generate_series(1, 20) i;
CREATE TABLE odd_one AS SELECT i / 10 AS a, 1 AS b FROM generate_series(10, 30) i;
CREATE TABLE nulls AS SELECT NULL::int AS a, CASE WHEN i > 4 THEN i % 2 END AS b FROM generate_series(1, 20) i;
SELECT count(*) FROM kanon_pattern_guided('nobody', 'nobody_public', '{a,b}', 5);
SELECT count(*) FROM kanon_pattern_guided('same', 'same_public', '{a,b}', 5);
SELECT count(*) FROM kanon_pattern_guided('differ', 'differ_public', '{a,b}', 5);
SELECT count(*) FROM kanon_pattern_guided('odd_one', 'odd_one_public', '{a}', 5, residual => 'drop');
SELECT count(*) FROM kanon_pattern_guided('nulls', 'nulls_public', '{a,b}', 4);
SELECT u.source, r.stage, r.row_count, r.classes, r.k, r.unique_rows, r.blank_rows, r.below_k, r.prosecutor_highest AS highest, r.prosecutor_average AS average
FROM kanon_run_risk r JOIN kanon_usefulness u USING (run) WHERE u.source ~ '^report_test.(nobody|same|differ|odd_one|nulls)$' ORDER BY run, stage;
SELECT source, m[1] AS verdict, page ~* '\y(nan|inf|infinity)\y' AS odd_number
FROM (SELECT source, kanon_report(run, true, compare => true) AS page FROM kanon_usefulness WHERE source ~ '^report_test.(nobody|same|differ|odd_one|nulls)$' ORDER BY run) p,
     regexp_matches(page, 'class=''verdict ([^<]*<strong>[^<]*</strong>[^<]*)<', 'g') AS m;

-- large: as many patterns as there are, and the page stays small
CREATE TABLE large AS
SELECT g % 251 AS a, g % 61 AS b, CASE i % 7 WHEN 1 THEN i ELSE 0 END AS c, CASE i % 11 WHEN 2 THEN i ELSE 0 END AS d,
       CASE i % 13 WHEN 3 THEN i ELSE 0 END AS e, CASE i % 17 WHEN 4 THEN i ELSE 0 END AS f
FROM generate_series(1, 75000) i, LATERAL (SELECT i / 5 AS g) g;
SELECT count(*) > 25 AS many FROM kanon_pattern_guided('large', 'large_public', '{a,b,c,d,e,f}', 2);
SELECT max(run) AS large FROM kanon_usefulness \gset
SELECT classes > 15000 AS many, length(kanon_report(run)) < 300000 AS small FROM kanon_usefulness WHERE run = :large;

-- exploring: the figures are kanon_frontier's, whatever names there are
SELECT kanon_explore('people', '{age,city,sex}', '{2,5,10,1000}', '{greedy}', ARRAY[NULL, '{"city": "regions"}']::jsonb[]) AS page \gset
SELECT array_agg(f.value ORDER BY f.of) = (SELECT array_agg(x.gcp::text ORDER BY x.h, x.k) FROM (
    SELECT 0 AS h, k, gcp FROM kanon_frontier('people', '{age,city,sex}', '{2,5,10}', residual => 'drop') UNION ALL
    SELECT 1, k, gcp FROM kanon_frontier('people', '{age,city,sex}', '{2,5,10}', residual => 'drop', hierarchies => '{"city": "regions"}')) x) AS same
FROM (SELECT DISTINCT of, value FROM figures(:'page') WHERE of LIKE '%.gcp') f;
SELECT counted(:'page', 'class=''point''') AS points, :'page' LIKE '%A: no release with k = 1000%' AS without, :'page' ~* '<script|src=|url\(' AS outside, :'page' ~ 'city[0-3]|>x<|>f<' AS value_shown;
SELECT kanon_explore('"<script>alert(1)</script>"', ARRAY['<script>', 'größe'], '{2}') ~* '<script' AS alive;
SELECT kanon_explore('nobody', '{a,b}') LIKE '%no release with k = 2%' AS without;
-- what is beyond the 26 combinations that are tried is said, and nothing where all are
SELECT m, substring(kanon_explore('people', '{sex}', '{2}', array_fill('greedy'::text, ARRAY[m])) from 'Of \d+ combinations[^.]*\.') AS left_out FROM unnest('{26,27}'::int[]) AS m;
SELECT kanon_explore('people', '{age,nothing}');
SELECT kanon_explore('people', '{age}', methods => '{}');
SELECT kanon_explore('people', '{age}', methods => NULL);

-- of a publication: its view and source, and no private names
SELECT kanon_create_publication('report_test.people_view', 'people', '{age,city,sex}', 5, options => '{"keep": ["diagnosis"], "effort": 0}', key => 'id', keep_releases => 2);
DELETE FROM people WHERE age = 20;
SELECT release FROM kanon_refresh('report_test.people_view');
SELECT max(run) AS released FROM kanon_usefulness \gset
COMMENT ON TABLE people IS 'all of them';
SELECT kanon_report(:released, true, '{2,5}', compare => true) AS page \gset
SELECT :'page' ~ 'people_view_|_release_|_source' AS private_named, :'page' LIKE '%rows of report_test.people as release 2 of the publication report_test.people_view, which readers see as that view.%' AS named,
       :'page' LIKE '%&ldquo;all of them&rdquo;%' AS comment, kanon_report_data(:released) ->> 'check' AS check;
SELECT l ->> 'release' AS release, l ->> 'status' AS status, (l -> 'gcp')::float8 = (SELECT gcp FROM kanon_usefulness u WHERE u.target_oid = r.relation::oid) AS gcp,
       (l ->> 'persons_below_k')::bigint = (SELECT persons_below_k FROM kanon_compare_releases('report_test.people_view', 1, 2)) AS compared
FROM jsonb_array_elements(kanon_report_data(:released, read_target => true) -> 'releases') AS l JOIN kanon_releases r ON r.publication = 'report_test.people_view' AND r.release = (l ->> 'release')::bigint;
SELECT kanon_drop_publication('report_test.people_view');
SELECT kanon_report(:released) ~ 'people_view_|_release_|_source' AS private_named;

-- a run that is not there, or not the caller's
SELECT kanon_report(NULL);
SELECT kanon_report(987654321);
CREATE ROLE kanon_test_reader;
SET ROLE kanon_test_reader;
\set VERBOSITY sqlstate
SELECT kanon_report(:run);
SELECT kanon_report(987654321);
SELECT count(*) FROM kanon_run_risk;
SELECT count(*) FROM kanon_class_sizes;
RESET ROLE;
\set VERBOSITY default

-- the first page: the worst verdicts first, one promise, an example of made-up values
SELECT counted(:'page', 'class=''front''') AS fronts, counted(:'page', 'Signature') AS signatures, position('Signature' IN :'page') < position('id=''what''' IN :'page') AS before_the_rest;
CREATE TABLE cases AS SELECT 20 + i % 40 AS age, '481' || lpad((i % 9)::text, 2, '0') AS zip, CASE WHEN i % 5 = 0 THEN 'yes' ELSE 'no' END AS hiv, i AS day FROM generate_series(1, 400) i;
SELECT FROM kanon_pattern_guided('cases', 'cases_levels', '{age,zip}', 20, keep => '{hiv}', hierarchies => '{"age": {"interval": [5, 10]}, "zip": {"prefix": [4]}}', patterns => '{11,21}');
SELECT max(run) AS coarser FROM kanon_usefulness \gset
SELECT kanon_report_data(:coarser) ->> 'example' AS example;
SELECT attname, col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'cases_levels'::regclass AND attnum > 0 ORDER BY attnum;
-- what somebody wrote stays before kanon's words, and these are renewed
COMMENT ON COLUMN cases_levels.zip IS 'where they live; kanon: old';
COMMENT ON COLUMN cases_levels.age IS 'by hand';
SELECT FROM kanon_pattern_guided('cases', 'cases_levels', '{age,zip}', 20, keep => '{hiv}', replace => true, hierarchies => '{"age": {"interval": [5, 10]}, "zip": {"prefix": [4, 3]}}');
SELECT attname, col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'cases_levels'::regclass AND attnum > 0 ORDER BY attnum;

-- rows that are left out: a caution from one in a hundred on, and whose they were
CREATE TABLE lonely AS SELECT 1 AS a, CASE WHEN i % 10 = 0 THEN 'yes' ELSE 'no' END AS hiv FROM generate_series(1, 200) i UNION ALL SELECT 100 + i, 'yes' FROM generate_series(1, 40) i;
SELECT FROM kanon_pattern_guided('lonely', 'lonely_public', '{a}', 5, keep => '{hiv}', residual => 'drop', privacy => ARRAY[kanon_distinct_l('hiv', 2)]);
SELECT max(run) AS dropped FROM kanon_usefulness \gset
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data(:dropped) -> 'verdicts') v WHERE v ->> 'about' = 'left_out';
SELECT d #>> '{front,verdicts,0,verdict}' AS worst, v ->> 'says' AS says FROM kanon_report_data(:dropped, compare => true) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'left_out';

-- a column that shows next to nothing, and a promise of two values one of which has nearly all
SELECT FROM kanon_pattern_guided('cases', 'cases_empty', '{day,zip}', 5, keep => '{hiv}', privacy => ARRAY[kanon_distinct_l('hiv', 2)]);
SELECT max(run) AS nearly FROM kanon_usefulness \gset
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data(:nearly, read_target => true) -> 'verdicts') v WHERE v ->> 'about' IN ('nearly_empty', 'kept');

-- from level 10 on patterns have letters
SELECT count(*) FROM kanon_full_domain('cases', 'cases_wide', '{day}', 150, hierarchies => '{"day": {"interval": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]}}');
SELECT d #>> '{patterns,0,pattern}' AS pattern, d #>> '{patterns,0,words}' AS words, s ->> 'says' AS says
FROM (SELECT kanon_report_data(max(run)) AS d FROM kanon_usefulness) r, jsonb_array_elements(d -> 'statements') s WHERE s ->> 'about' = 'column';
-- no two bullets of one name, whichever function published (of the runs of other files one of each kind)
SELECT u.model, count(*) = count(DISTINCT l ->> 'what') AS told_apart
FROM (SELECT DISTINCT ON (model, matches IS NULL, publication IS NULL, options ? 'mask', options ? 'privacy', options ? 'known_columns') model, run FROM kanon_usefulness) u,
     jsonb_array_elements(kanon_report_data(u.run) -> 'limits') l GROUP BY u.run, u.model HAVING count(*) <> count(DISTINCT l ->> 'what');
-- who can check what
SELECT FROM kanon_freeform('cases', 'cases_freeform', '{age,zip}', 5);
SELECT kanon_report_data(max(run)) ->> 'check_says' AS says FROM kanon_usefulness;
-- both tables of an anatomy have their checksum
SELECT FROM kanon_anatomy('cases', 'cases_rows', 'cases_values', '{age}', 'zip', 3);
SELECT d -> 'beside' ->> 'table' AS beside, d -> 'beside' ->> 'checksum' = kanon_checksum('cases_values') AS same, kanon_page(d) LIKE '%SHA-256 of report_test.cases_values%' AS shown
FROM (SELECT kanon_report_data(max(run), read_target => true) AS d FROM kanon_usefulness) d;
-- values that a column may have, as the caller said
SELECT FROM kanon_synthetic('cases', 'cases_drawn', '{age,hiv}', 1, 0.001, domains => '{"age": {"from": 0, "to": 99}, "hiv": ["yes", "no"]}');
SELECT s ->> 'says' AS says FROM (SELECT max(run) AS run FROM kanon_usefulness) r, jsonb_array_elements(kanon_report_data(r.run) -> 'statements') s WHERE s ->> 'about' IN ('domains', 'promise');
SELECT d ->> 'check_says' AS says, d ->> 'check' AS "check" FROM (SELECT kanon_report_data(max(run)) AS d FROM kanon_usefulness) r;
-- what a publication adds to the call
SELECT kanon_create_publication('cases_seen', 'cases', '{age,zip}', 5, key => 'day', options => '{"max_gcp": 0.9, "min_rows": 10, "keep": ["hiv"], "privacy": [{"rule": "distinct_l", "l": 2, "column": "hiv"}]}');
SELECT o ->> 'option' AS option, o ->> 'value' AS value FROM (SELECT max(run) AS run FROM kanon_usefulness) r, jsonb_array_elements(kanon_report_data(r.run) -> 'options') o WHERE o ->> 'option' IN ('key', 'keep_releases', 'max_gcp', 'min_rows', 'stable', 'privacy');

-- a hostile object early in the caller's search_path is not met
CREATE SCHEMA report_hostile;
CREATE FUNCTION report_hostile.format(text, name, name) RETURNS text LANGUAGE sql AS $$ SELECT 'stolen' $$;
CREATE FUNCTION report_hostile.kanon_describe(text, name[]) RETURNS text LANGUAGE sql AS $$ SELECT 'stolen' $$;
CREATE FUNCTION report_hostile.kanon_frontier(regclass, name[], int[]) RETURNS int LANGUAGE sql AS $$ SELECT 1 / 0 $$;
CREATE VIEW report_hostile.kanon_usefulness AS SELECT 1 / 0 AS run;
SET search_path = report_hostile, pg_catalog, report_test, public;
SELECT public.kanon_report(:run, true, '{2}') LIKE '%stolen%' AS stolen;
SET search_path = report_test, public;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA report_test, report_hostile CASCADE;
DROP ROLE kanon_test_reader;
