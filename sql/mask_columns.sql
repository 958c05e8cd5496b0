-- masks that know all of a column: noise, swapped ranks, values drawn anew, means of groups
CREATE SCHEMA mask_columns_test;
SET search_path = mask_columns_test, public;
SET client_min_messages = warning;
CREATE TABLE pay AS SELECT i AS nr, i % 4 AS age, (1000 + i * i % 997 + i / 7.0)::numeric(10,2) AS wage, (i * 37 % 2000)::float8 AS points, CASE WHEN i % 10 > 0 THEN i * 13 % 50 END AS years,
    (ARRAY['none','none','none','one','one','two'])[1 + i % 6] AS children FROM generate_series(1, 2000) AS i;
CREATE FUNCTION masked(mask jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kanon_pattern_guided('pay', 'out', '{age}', 5, keep => ARRAY['nr'] || ARRAY(SELECT jsonb_object_keys(mask))::name[], mask => mask, allow_identifying => ARRAY['nr'] || ARRAY(SELECT jsonb_object_keys(mask))::name[], replace => true);
END $$;

-- no seed is fixed: the source is the strong one, so every bound here is at least five standard errors away (once in two million runs)
-- noise: the mean stays within five of its standard errors, the variance grows by the share's square
SELECT FROM masked('{"wage": {"noise": 0.5}, "points": {"noise": 0.2}, "years": {"noise": 1}}');
SELECT abs(avg(o.wage) - avg(p.wage)) < 5 * 0.5 * stddev(p.wage) / sqrt(2000) AS mean, abs(var_samp(o.wage) / var_samp(p.wage) - 1.25) < 0.15 AS variance,
    abs(corr(o.wage, p.wage) - 1 / sqrt(1.25)) < 0.05 AS correlation, count(*) FILTER (WHERE o.wage = p.wage) < 20 AS changed, max(scale(o.wage)) AS scale FROM pay p JOIN out o USING (nr);
SELECT abs(stddev(o.points - p.points) / stddev(p.points) - 0.2) < 0.02 AS deviation, abs(avg(o.points - p.points)) < 5 * 0.2 * stddev(p.points) / sqrt(2000) AS mean,
    -- of a normal distribution 68 % are within one deviation, 95 % within two
    abs(avg((abs(o.points - p.points) < 0.2 * (SELECT stddev(points) FROM pay))::int) - 0.6827) < 0.055 AS one,
    abs(avg((abs(o.points - p.points) < 0.4 * (SELECT stddev(points) FROM pay))::int) - 0.9545) < 0.025 AS two FROM pay p JOIN out o USING (nr);
SELECT count(*) FILTER (WHERE o.years IS NULL) = 200 AND bool_and((o.years IS NULL) = (p.years IS NULL)) AS nulls, pg_typeof(min(o.years)) AS type FROM pay p JOIN out o USING (nr);

-- swap: the same values, each from a rank that is near enough
SELECT FROM masked('{"wage": {"swap": 5}, "children": {"swap": 50}, "points": {"swap": 0.01}}');
SELECT array_agg(o.wage ORDER BY o.wage) = (SELECT array_agg(wage ORDER BY wage) FROM pay) AS wages, array_agg(o.children ORDER BY o.children) = (SELECT array_agg(children ORDER BY children) FROM pay) AS children FROM out o;
WITH ranks AS (SELECT wage, min(r) AS least, max(r) AS most FROM (SELECT wage, row_number() OVER (ORDER BY wage) AS r FROM pay) v GROUP BY wage)
SELECT bool_and(b.least <= a.most + 100 AND b.most >= a.least - 100) AS near, count(*) FILTER (WHERE o.wage <> p.wage) > 1800 AS moved, avg(abs(b.least - a.least)) BETWEEN 30 AND 70 AS far
FROM pay p JOIN out o USING (nr) JOIN ranks a ON a.wage = p.wage JOIN ranks b ON b.wage = o.wage;
SELECT count(*) FILTER (WHERE o.children <> p.children) > 300 AS moved FROM pay p JOIN out o USING (nr);

-- pram: a value stays, or is drawn from the column: so many are as they were, and the distribution is as it was
SELECT FROM masked('{"children": {"pram": 0.7}, "years": {"pram": 0}}');
SELECT abs(avg((o.children = p.children)::int) - (0.7 + 0.3 * (0.25 + 1/9.0 + 1/36.0))) < 0.06 AS stayed FROM pay p JOIN out o USING (nr);
SELECT children, abs(count(*) / 2000.0 - (SELECT count(*) / 2000.0 FROM pay p WHERE p.children = o.children)) < 0.06 AS share FROM out o GROUP BY children ORDER BY 1;
SELECT abs(corr(o.years, p.years)) < 0.12 AS independent, count(*) FILTER (WHERE o.years IS NULL) AS nulls FROM pay p JOIN out o USING (nr);

-- the report says what became of each column
SELECT FROM masked('{"wage": {"noise": 0.5}, "points": {"swap": 5}, "years": {"microaggregate": 10, "show": "median"}, "children": {"pram": 0.7}}');
SELECT k ->> 'name' AS name, k ->> 'done' AS done FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'kept') AS k FROM kanon_usefulness) AS x WHERE k ->> 'done' <> ''
UNION ALL SELECT l ->> 'what', l ->> 'says' FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'limits') AS l FROM kanon_usefulness) AS x WHERE l ->> 'what' ~ 'moved';

-- microaggregation by hand: 1 2 3 | 10 11 12 13, and a tie stays together
CREATE TABLE small AS SELECT row_number() OVER () AS nr, 1 AS age, v AS n, v::int AS i FROM unnest('{1,2,3,10,11,12,13}'::numeric[]) AS v;
SELECT FROM kanon_pattern_guided('small', 'small_out', '{age}', 2, keep => '{n,i}', mask => '{"n": {"microaggregate": 3}, "i": {"microaggregate": 4}}', allow_identifying => '{n,i}');
SELECT n, count(*), array_agg(DISTINCT i) AS i FROM small_out GROUP BY n ORDER BY 1;
-- the optimum by all ways to divide fourteen values, and k rows of each mean
CREATE TABLE fourteen AS SELECT row_number() OVER (ORDER BY v) AS nr, 1 AS age, v::float8 AS n FROM unnest('{1,2,4,7,9,10,14,15,16,25,27,28,40,41}'::int[]) AS v;
SELECT FROM kanon_pattern_guided('fourteen', 'fourteen_out', '{age}', 2, keep => '{nr,n}', mask => '{"n": {"microaggregate": 3}}', allow_identifying => '{nr,n}');
WITH RECURSIVE cuts AS (SELECT 0::bigint AS upto, 0::float8 AS squares
    UNION ALL SELECT g.upto, c.squares + g.squares FROM cuts c, LATERAL (SELECT t AS upto, (SELECT var_pop(n) * count(*) FROM fourteen WHERE nr > c.upto AND nr <= t) AS squares FROM generate_series(c.upto + 3, 14) AS t) g)
SELECT round((SELECT sum((s.n - o.n) ^ 2) FROM fourteen s JOIN fourteen_out o USING (nr))::numeric, 6) = round(min(squares)::numeric, 6) AS least FROM cuts WHERE upto = 14;
SELECT min(c) >= 3 AS rows, count(*) > 2 AS groups FROM (SELECT count(*) AS c FROM fourteen_out GROUP BY n) g;
-- the mean stays; values of a large table in groups of five and more
SELECT FROM masked('{"wage": {"microaggregate": 5}, "years": {"microaggregate": 10}}');
SELECT abs(avg(o.wage) - avg(p.wage)) < 1e-6 AS mean, var_samp(o.wage) < var_samp(p.wage) AS variance, corr(o.wage, p.wage) > 0.9999 AS correlation FROM pay p JOIN out o USING (nr);
SELECT (SELECT min(c) FROM (SELECT count(*) AS c FROM out GROUP BY wage) g) >= 5 AS wages, (SELECT min(c) FROM (SELECT count(*) AS c FROM out GROUP BY years) g) >= 10 AS years;

-- noise of columns together has their covariances: by what was added, each correlation is that of the columns
CREATE TABLE related AS SELECT nr, age, x, (3 * x + 40 * y)::numeric(12,3) AS sum, -x AS minus, y AS other FROM (SELECT i AS nr, i % 4 AS age, (i * 37 % 2003)::float8 AS x, (i * 1009 % 1999) / 10.0::float8 AS y FROM generate_series(1, 4000) AS i) v;
CREATE FUNCTION masked_related(mask jsonb) RETURNS void LANGUAGE sql AS $$ SELECT FROM kanon_pattern_guided('related', 'related_out', '{age}', 5, keep => ARRAY['nr'] || ARRAY(SELECT jsonb_object_keys(mask))::name[], mask => mask, allow_identifying => ARRAY['nr'] || ARRAY(SELECT jsonb_object_keys(mask))::name[], replace => true) $$;
SELECT FROM masked_related('{"x": {"noise": 0.2, "group": "money"}, "sum": {"noise": 0.2, "group": "money"}, "minus": {"noise": 0.4, "group": "money"}, "other": {"noise": 0.2}}');
SELECT abs(stddev(o.x - r.x) / stddev(r.x) - 0.2) < 0.015 AS x, abs(stddev(o.sum - r.sum) / stddev(r.sum) - 0.2) < 0.015 AS sum, abs(stddev(o.minus - r.minus) / stddev(r.minus) - 0.4) < 0.03 AS minus,
    abs(corr(o.x - r.x, o.sum - r.sum) - corr(r.x, r.sum)) < 0.06 AS together, corr(o.x - r.x, o.minus - r.minus) < -0.999999 AS follows, abs(corr(o.x - r.x, o.other - r.other)) < 0.09 AS alone,
    abs(corr(o.x, o.sum) - corr(r.x, r.sum)) < 0.03 AS correlation FROM related r JOIN related_out o USING (nr);

-- pram by a matrix: who is "two" becomes anything, nobody else does
SELECT FROM masked('{"children": {"pram": {"none": {"none": 0.9, "one": 0.1}, "one": {"one": 1}, "two": {"none": 0.25, "one": 0.25, "two": 0.5}}}, "years": {"pram": {"0": {"0": 1}, "1": {"2": 1}, "2": {"1": 1}, "3": {"3": 1}}}}');
SELECT FROM masked('{"children": {"pram": {"none": {"none": 0.9, "one": 0.1}, "one": {"one": 1}, "two": {"none": 0.25, "one": 0.25, "two": 0.5}}}}');
SELECT p.children AS was, o.children AS is, abs(count(*)::float8 / sum(count(*)) OVER (PARTITION BY p.children) - CASE p.children WHEN 'none' THEN CASE o.children WHEN 'none' THEN 0.9 WHEN 'one' THEN 0.1 END WHEN 'one' THEN 1 ELSE CASE o.children WHEN 'two' THEN 0.5 ELSE 0.25 END END) < 0.16 AS chance
FROM pay p JOIN out o USING (nr) GROUP BY 1, 2 ORDER BY 1, 2;

-- MDAV by hand: the corner groups first, what is left between them
CREATE TABLE corners AS SELECT row_number() OVER () AS nr, 1 AS age, x, y FROM (VALUES (0, 0), (0, 1), (1, 0), (100, 100), (100, 99), (99, 100), (50, 50), (50, 51), (51, 50)) AS v(x, y);
SELECT FROM kanon_pattern_guided('corners', 'corners_out', '{age}', 2, keep => '{nr,x,y}', mask => '{"x": {"microaggregate": 3, "group": "place"}, "y": {"microaggregate": 3, "group": "place", "show": "median"}}', allow_identifying => '{nr,x,y}');
SELECT o.x, o.y, array_agg(c.x || '/' || c.y ORDER BY c.nr) AS rows FROM corners c JOIN corners_out o USING (nr) GROUP BY 1, 2 ORDER BY 1;
SELECT FROM masked_related('{"x": {"microaggregate": 5, "group": "g"}, "sum": {"microaggregate": 5, "group": "g"}, "other": {"microaggregate": 5, "group": "g"}}');
SELECT (SELECT min(c) FROM (SELECT count(*) AS c FROM related_out GROUP BY x, sum, other) g) >= 5 AS rows, (SELECT max(c) FROM (SELECT count(*) AS c FROM related_out GROUP BY x, sum, other) g) < 15 AS most,
    abs(avg(o.x) - avg(r.x)) < 1e-6 AS mean, corr(o.x, r.x) > 0.95 AND corr(o.other, r.other) > 0.95 AS near, abs(corr(o.x, o.sum) - corr(r.x, r.sum)) < 0.03 AS correlation FROM related r JOIN related_out o USING (nr);

-- medians, of types that have no mean, too: a value that a row of the group has
SELECT FROM kanon_pattern_guided('small', 'small_out', '{age}', 2, keep => '{n,i}', mask => '{"n": {"microaggregate": 3, "show": "median"}, "i": {"microaggregate": 4, "show": "median"}}', allow_identifying => '{n,i}', replace => true);
SELECT n, i, count(*) FROM small_out GROUP BY 1, 2 ORDER BY 1;
CREATE TABLE words AS SELECT nr, 1 AS age, chr(96 + nr) || 'x' AS word, date '2026-01-01' + nr AS day FROM generate_series(1, 7) AS nr;
SELECT FROM kanon_pattern_guided('words', 'words_out', '{age}', 2, keep => '{word,day}', mask => '{"word": {"microaggregate": 3, "show": "median"}, "day": {"microaggregate": 7, "show": "median"}}', allow_identifying => '{word,day}');
SELECT word, day::text, count(*) FROM words_out GROUP BY 1, 2 ORDER BY 1;

\set VERBOSITY terse
-- errors
SELECT FROM masked('{"wage": {"noise": 0}}');
SELECT FROM masked('{"wage": {"noise": "much"}}');
SELECT FROM masked('{"children": {"noise": 0.1}}');
SELECT FROM masked('{"wage": {"swap": 101}}');
SELECT FROM masked('{"wage": {"pram": 1}}');
SELECT FROM masked('{"wage": {"microaggregate": 1.5}}');
SELECT FROM masked('{"children": {"microaggregate": 3}}');
SELECT FROM masked('{"years": {"microaggregate": 3000}}');
SELECT FROM masked('{"wage": {"noise": 0.1, "swap": 5}}');
SELECT FROM masked('{"wage": {"swap": 5, "group": "g"}}');
SELECT FROM masked('{"wage": {"noise": 0.1, "show": "median"}}');
SELECT FROM masked('{"wage": {"microaggregate": 5, "show": "mode"}}');
SELECT FROM masked('{"wage": {"microaggregate": 5, "group": "g"}, "points": {"microaggregate": 6, "group": "g"}}');
SELECT FROM masked('{"wage": {"microaggregate": 5, "group": "g"}, "years": {"microaggregate": 5, "group": "g"}}');
SELECT FROM masked('{"wage": {"microaggregate": 5, "group": "g"}, "children": {"microaggregate": 5, "group": "g", "show": "median"}}');
SELECT FROM masked('{"wage": {"microaggregate": 2001, "group": "g"}, "points": {"microaggregate": 2001, "group": "g"}}');
SELECT FROM masked('{"children": {"pram": {"none": {"none": 1}}}}');
SELECT FROM masked('{"children": {"pram": {"none": {"none": 0.5}, "one": {"one": 1}, "two": {"two": 1}}}}');
SELECT FROM masked('{"children": {"pram": {"none": {"four": 1}, "one": {"one": 1}, "two": {"two": 1}}}}');
SELECT FROM masked('{"children": {"pram": {"none": 1, "one": {"one": 1}, "two": {"two": 1}}}}');
SELECT FROM masked('{"children": {"pram": {"none": {"none": -1, "one": 2}, "one": {"one": 1}, "two": {"two": 1}}}}');
\set VERBOSITY default
UPDATE pay SET points = 'NaN' WHERE nr = 7;
SELECT FROM masked('{"points": {"noise": 0.1}}');
SELECT FROM masked('{"points": {"swap": 5}}');
SELECT kanon_create_publication('drawn', 'pay', '{age}', 5, options => '{"keep": ["wage"], "mask": {"wage": {"noise": 0.1}}, "allow_identifying": ["wage"]}');
-- by a key: a person's value has the same noise in every release, another value another; a state is a person's
SELECT FROM masked('{"wage": {"noise": 200, "by": "nr"}, "years": {"noise": 3, "by": "nr"}, "children": {"pram": {"none": {"none": 0.9, "one": 0.1}, "one": {"one": 1}, "two": {"none": 0.25, "one": 0.25, "two": 0.5}}, "by": "nr"}}');
SELECT abs(stddev(o.wage - p.wage) / 200 - 1) < 0.08 AS deviation, abs(avg(o.wage - p.wage)) < 23 AS mean, abs(corr(o.wage - p.wage, o.years - p.years)) < 0.12 AS apart, count(*) FILTER (WHERE o.years IS NULL) AS nulls FROM pay p JOIN out o USING (nr);
SELECT p.children AS was, o.children AS is, abs(count(*)::float8 / sum(count(*)) OVER (PARTITION BY p.children) - CASE p.children WHEN 'none' THEN CASE o.children WHEN 'none' THEN 0.9 WHEN 'one' THEN 0.1 END WHEN 'one' THEN 1 ELSE CASE o.children WHEN 'two' THEN 0.5 ELSE 0.25 END END) < 0.16 AS chance
FROM pay p JOIN out o USING (nr) GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TABLE paid AS SELECT nr, age, wage, children, nr / 2 AS person FROM pay;
SELECT kanon_create_publication('sticky', 'paid', '{age}', 5, options => '{"keep": ["nr", "person", "wage", "children"], "mask": {"wage": {"noise": 100, "by": "person"}, "children": {"pram": {"none": {"none": 0.5, "one": 0.5}, "one": {"one": 1}, "two": {"none": 0.5, "two": 0.5}}, "by": "nr"}}, "allow_identifying": ["nr", "person", "wage", "children"]}');
CREATE TABLE night_1 AS SELECT * FROM sticky;
UPDATE paid SET wage = wage + 1 WHERE nr % 4 = 0;
INSERT INTO paid SELECT nr + 10000, age, 1000000, 'one', -nr FROM paid WHERE nr < 50;
SELECT status FROM kanon_refresh('sticky');
SELECT p.nr % 4 = 0 AS changed, count(*) > 50 AS rows, avg((s.wage = n.wage)::int)::numeric(3,2) AS wage, avg((s.wage - n.wage = 1)::int)::numeric(3,2) AS difference, avg((s.children = n.children)::int)::numeric(3,2) AS children
FROM sticky s JOIN night_1 n USING (nr) JOIN paid p USING (nr) GROUP BY 1 ORDER BY 1;
-- two persons with one value have two numbers, and the rows of a person with it have one
SELECT count(*) FILTER (WHERE a.wage - p.wage = b.wage - q.wage) < 5 AS apart FROM sticky a JOIN paid p USING (nr), sticky b JOIN paid q USING (nr) WHERE p.wage = q.wage AND p.person < q.person;
-- the report says so
SELECT k ->> 'name' AS name, k ->> 'done' AS done FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'kept') AS k FROM kanon_usefulness) AS x WHERE k ->> 'done' <> ''
UNION ALL SELECT l ->> 'what', l ->> 'says' FROM (SELECT jsonb_array_elements(kanon_report_data(max(run)) -> 'limits') AS l FROM kanon_usefulness) AS x WHERE l ->> 'what' ~ 'moved';
UPDATE paid SET person = NULL WHERE nr = 7;
SELECT status, message FROM kanon_refresh('sticky');
SELECT kanon_drop_publication('sticky');
-- columns of a group: correlated as they are told to be, and a value keeps its noise where the other one changes
CREATE TABLE pairs AS SELECT nr, age, wage, (nr * 37 % 2000)::float8 AS points, years FROM pay;
SELECT kanon_create_publication('joint', 'pairs', '{age}', 5, options => '{"keep": ["nr", "wage", "points", "years"], "allow_identifying": ["nr", "wage", "points", "years"], "mask": {"wage": {"noise": 100, "by": "nr", "group": "g", "correlation": 0.8},
    "points": {"noise": 40, "by": "nr", "group": "g", "correlation": 0.8}, "years": {"noise": 20, "by": "nr", "group": "g", "correlation": -0.5}}}');
SELECT abs(corr(o.wage - p.wage, o.points - p.points) - 0.8) < 0.05 AS together, abs(corr(o.wage - p.wage, o.years - p.years) + sqrt(0.4)) < 0.08 AS against, abs(stddev(o.wage - p.wage) / 100 - 1) < 0.08 AS wage,
    abs(stddev(o.points - p.points) / 40 - 1) < 0.08 AS points, abs(stddev(o.years - p.years) / 20 - 1) < 0.1 AS years, count(o.years) AS years FROM pairs p JOIN joint o USING (nr);
CREATE TABLE joint_1 AS SELECT * FROM joint;
UPDATE pairs SET wage = wage + 1 WHERE nr % 4 = 0;
SELECT status FROM kanon_refresh('joint');
-- of the difference of the wages, 1, the part that is not shared hides: twice a fifth of the variance
SELECT p.nr % 4 = 0 AS changed, count(*) AS rows, bool_and(s.wage = n.wage) AS wage, count(*) FILTER (WHERE s.wage - n.wage = 1) < 8 AS difference, bool_and(s.points = n.points) AS points, bool_and(s.years IS NOT DISTINCT FROM n.years) AS years,
    abs(stddev(s.wage - n.wage) / (100 * sqrt(2 * 0.2)) - 1) < 0.18 AS hidden FROM joint s JOIN joint_1 n USING (nr) JOIN pairs p USING (nr) GROUP BY 1 ORDER BY 1;
SELECT kanon_drop_publication('joint');
\set VERBOSITY terse
SELECT FROM masked('{"wage": {"noise": 200, "by": 1}}');
SELECT FROM masked('{"wage": {"noise": 200, "by": "nobody"}}');
SELECT FROM masked('{"wage": {"noise": -1, "by": "nr"}}');
SELECT FROM masked('{"wage": {"noise": 200, "by": "nr", "group": "g"}}');
SELECT FROM masked('{"wage": {"noise": 200, "by": "nr", "group": "g", "correlation": 0.96}}');
SELECT FROM masked('{"wage": {"noise": 200, "by": "nr", "group": "g", "correlation": 0}}');
SELECT FROM masked('{"wage": {"noise": 200, "by": "nr", "group": "g", "correlation": "high"}}');
SELECT FROM masked('{"wage": {"noise": 200, "by": "nr", "correlation": 0.5}}');
SELECT FROM masked('{"wage": {"noise": 0.2, "group": "g", "correlation": 0.5}}');
SELECT FROM masked('{"wage": {"noise": 20, "by": "nr", "group": "g", "correlation": 0.5}, "points": {"noise": 20, "by": "wage", "group": "g", "correlation": 0.5}}');
SELECT FROM masked('{"wage": {"noise": 20, "by": "nr", "group": "g", "correlation": 0.5}, "points": {"noise": 0.2, "group": "g"}}');
SELECT FROM masked('{"wage": {"noise": 20, "by": "years", "group": "g", "correlation": 0.5}, "years": {"constant": null}}');
SELECT FROM masked('{"wage": {"swap": 5, "by": "nr"}}');
SELECT FROM masked('{"children": {"pram": 0.5, "by": "nr"}}');
SELECT FROM masked('{"wage": {"round": 5, "by": "nr"}}');
SELECT FROM masked('{"points": {"noise": 5, "by": "nr"}}');
\set VERBOSITY default
-- groups and quantiles of each night: 9 joins, and the sums of two nights tell that one who was there before has 20
CREATE TABLE means (id int, age int, wage int);
INSERT INTO means VALUES (1, 30, 10), (2, 30, 20), (3, 30, 24), (4, 30, 28);
SELECT kanon_create_publication('night', 'means', '{age}', 2, options => '{"keep": ["id", "wage"], "mask": {"wage": {"microaggregate": 2}}, "allow_identifying": ["id", "wage"]}');
SELECT kanon_create_publication('night', 'means', '{age}', 2, options => '{"keep": ["wage"], "mask": {"wage": {"top": 0.9}}, "allow_identifying": ["wage"]}');
SELECT kanon_create_publication('night', 'means', '{age}', 2, options => '{"keep": ["wage"], "mask": {"wage": {"bottom": {"quantile": 0.1}}}, "allow_identifying": ["wage"]}');
\set VERBOSITY terse
SELECT kanon_create_publication('night', 'means', '{age}', 2, options => '{"keep": ["wage"], "mask": {"wage": {"top": {"value": 22}}}, "allow_identifying": ["wage"]}');
SELECT kanon_alter_publication('night', set_options => '{"mask": {"wage": {"microaggregate": 2}}}');
SELECT kanon_drop_publication('night');
SELECT kanon_create_publication('night', 'means', '{age}', 2, options => '{"keep": ["id", "wage"], "mask": {"wage": {"microaggregate": 2}}, "allow_identifying": ["id", "wage"]}', stable => false);
SELECT id, wage FROM night ORDER BY id;
INSERT INTO means VALUES (5, 30, 9);
SELECT status FROM kanon_refresh('night');
SELECT id, wage FROM night ORDER BY id;
SELECT kanon_alter_publication('night', stable => true);
SELECT kanon_drop_publication('night');
DROP SCHEMA mask_columns_test CASCADE;
