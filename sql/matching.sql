-- pairs and triples of kanon_cluster: the methods that need LEMON
\pset null '(null)'
CREATE TABLE guests (age int, height numeric(5,2), city text, sex char(1));
INSERT INTO guests
SELECT 20 + i * 7 % 50, 150 + (i * 13 % 400) / 10.0, (ARRAY['Bern', 'Bonn', 'Graz', 'Linz', 'Ulm'])[1 + i * i % 5],
       CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END
FROM generate_series(1, 60) AS i;
SELECT classes, class_min, class_max <= 3 AS small, guarantee FROM kanon_cluster('guests', 'guests_pairs', '{age,city,sex}', 2, 'pairs');
SELECT k >= 2 AS ok FROM kanon_check('guests_pairs', '{age,city,sex}');
SELECT class_min, class_max <= 5 AS small, guarantee FROM kanon_cluster('guests', 'guests_triples', '{age,height,city,sex}', 3, 'triples');
SELECT k >= 3 AS ok FROM kanon_check('guests_triples', '{age,height,city,sex}');
SELECT method, k, round(cost::numeric, 3) AS cost, lower_bound <= cost AS bound, guarantee FROM kanon_usefulness WHERE source = 'public.guests' ORDER BY run;
-- the factor is for two values in every column, or ranges
SELECT guarantee FROM kanon_cluster('guests', NULL, '{age,sex}', 2, 'pairs', dry_run => true);
SELECT guarantee FROM kanon_cluster('guests', NULL, '{age,sex}', 3, 'triples', dry_run => true);
-- all rows equal, every row distinct
CREATE TABLE same AS SELECT 1 AS a, 'x' AS b FROM generate_series(1, 6) AS i;
SELECT m, classes, cost FROM unnest('{pairs,triples}'::text[]) WITH ORDINALITY AS t (m, n), kanon_cluster('same', NULL, '{a,b}', n + 1, m, dry_run => true);
CREATE TABLE apart AS SELECT i AS id, 'note ' || i AS note FROM generate_series(1, 60) AS i;
SELECT m, class_min > n AS ok, gcp < 1 AS tells FROM unnest('{pairs,triples}'::text[]) WITH ORDINALITY AS t (m, n), kanon_cluster('apart', NULL, '{id}', n + 1, m, dry_run => true);
SELECT m, classes, class_min FROM unnest('{pairs,triples}'::text[]) WITH ORDINALITY AS t (m, n), kanon_cluster('apart', NULL, '{note}', n + 1, m, dry_run => true);
-- where rows may be left out, so may those of any other release: no bound is above what forest does
CREATE TABLE few (a int, b int);
INSERT INTO few VALUES (4, 5), (1, 0), (6, 1), (2, 0), (1, 0), (7, 0), (2, 0), (1, 0);
SELECT p.lower_bound <= f.cost AS below, p.guarantee IS NULL AS unproven, f.dropped_rows > 0 AS left_out
FROM kanon_cluster('few', NULL, '{a,b}', 2, method => 'pairs', residual => 'drop', dry_run => true) p,
 kanon_cluster('few', NULL, '{a,b}', 2, method => 'forest', residual => 'drop', dry_run => true) f;
DROP TABLE few, guests, guests_pairs, guests_triples, same, apart;
