-- cells of the earth: points that are texts of a latitude and a longitude
CREATE SCHEMA places_test;
SET search_path = places_test, public;
SET client_min_messages = warning;
CREATE TABLE homes AS SELECT i AS id, round((52.3 + (i * 7919 % 997) / 1500.0)::numeric, 5) AS latitude, round((13.1 + (i * 104729 % 991) / 1100.0)::numeric, 5) AS longitude, i % 3 AS ill FROM generate_series(1, 3000) i;
CREATE VIEW placed AS SELECT *, latitude || ',' || longitude AS place FROM homes;
SELECT pattern, classes, row_count FROM kanon_pattern_guided('placed', 'out_centre', '{place}', 5, keep => '{ill}', hierarchies => '{"place": {"grid": ["500 m", "5 km", "50 km"]}}');
SELECT place, count(*) FROM out_centre GROUP BY place ORDER BY 2 DESC, 1 LIMIT 2;
SELECT min(n) >= 5 AS k FROM (SELECT count(*) AS n FROM out_centre GROUP BY place) g;
SELECT FROM kanon_full_domain('placed', 'out_polygon', '{place}', 5, hierarchies => '{"place": {"grid": ["5 km", "50 km"], "show": "polygon"}}', suppression_limit => 0.1);
SELECT place FROM out_polygon WHERE place IS NOT NULL GROUP BY place ORDER BY place LIMIT 1;
-- by the cells alone: each holds its points, cells nest, and are about as large as asked for, at any latitude
CREATE TABLE world AS SELECT i AS id, round((i * 7919 % 17999 / 100.0 - 89.99)::numeric, 4) AS latitude, round((i * 104729 % 35999 / 100.0 - 179.99)::numeric, 4) AS longitude FROM generate_series(1, 2000) i;
CREATE VIEW round AS SELECT id, latitude || ' ' || longitude AS place FROM world;
CREATE FUNCTION cells(sizes jsonb, level text) RETURNS TABLE (id int, w float8, s float8, e float8, n float8, code text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE twice AS SELECT 2 * id + d AS id, place FROM round, generate_series(0, 1) d');
    PERFORM kanon_pattern_guided('twice', 'polygons', '{place}', 2, keep => '{id}', allow_identifying => '{id}', hierarchies => jsonb_build_object('place', jsonb_build_object('grid', sizes, 'show', 'polygon')), patterns => ARRAY[level]);
    PERFORM kanon_pattern_guided('twice', 'codes', '{place}', 2, keep => '{id}', allow_identifying => '{id}', hierarchies => jsonb_build_object('place', jsonb_build_object('grid', sizes, 'show', 'code')), patterns => ARRAY[level]);
    RETURN QUERY SELECT p.id / 2, m[1]::float8, m[2]::float8, m[3]::float8, m[6]::float8, c.place FROM polygons p JOIN codes c USING (id),
        LATERAL (SELECT array_agg(x[1] ORDER BY nr) AS m FROM regexp_matches(p.place, '-?[0-9.]+', 'g') WITH ORDINALITY AS y (x, nr)) q WHERE p.id % 2 = 0;
    DROP TABLE twice, polygons, codes;
END $$;
CREATE TABLE fine AS SELECT * FROM cells('["50 km", "500 km"]', '1');
CREATE TABLE coarse AS SELECT * FROM cells('["50 km", "500 km"]', '2');
SELECT count(*) AS points, bool_and(latitude BETWEEN s - 1e-5 AND n + 1e-5 AND longitude BETWEEN w - 1e-5 AND e + 1e-5) AS holds FROM fine JOIN world USING (id);
SELECT bool_and(f.s >= c.s - 1e-5 AND f.n <= c.n + 1e-5 AND f.w >= c.w - 1e-5 AND f.e <= c.e + 1e-5 AND f.code LIKE c.code || '/%') AS nests FROM fine f JOIN coarse c USING (id);
SELECT bool_and((n - s) * 111.2 BETWEEN 40 AND 62) AS high, avg(((e - w) * 111.2 * cos(radians((n + s) / 2)) BETWEEN 35 AND 70)::int) > 0.97 AS wide FROM fine;
SELECT count(DISTINCT code) = count(DISTINCT (w, s, e, n)) AS one_code_a_cell FROM fine;
-- what is no place is shown as it is, or not at all; or ends the call
CREATE TABLE odd AS SELECT unnest(ARRAY['52.5,13.4', '52.5,13.4', 'Berlin', 'Berlin', '91,0', '52.5', '52.5,13.4,7', '90,180', '90,-180', NULL, NULL]) AS place;
SELECT FROM kanon_pattern_guided('odd', 'odd_out', '{place}', 2, hierarchies => '{"place": {"grid": true}}');
SELECT place, count(*) FROM odd_out GROUP BY place ORDER BY place;
\set SHOW_CONTEXT never
SELECT FROM kanon_pattern_guided('odd', 'odd_out', '{place}', 2, hierarchies => '{"place": {"grid": true, "missing": "error"}}', replace => true);
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": ["5 km", "6 km"]}}');
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": ["5 miles"]}}');
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": ["0.5 m"]}}');
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": ["5 km"], "show": "map"}}');
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": [5]}}');
SELECT FROM kanon_pattern_guided('homes', 'x', '{latitude}', 2, hierarchies => '{"latitude": {"grid": ["5 km"]}}');
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": ["5 km"], "show": "h3"}}');
SELECT FROM kanon_pattern_guided('odd', 'x', '{place}', 2, hierarchies => '{"place": {"grid": ["500 m", "1 km"], "show": "geohash"}}');
-- a point as PostgreSQL writes it has x, the longitude, first; geohashes are those that everybody has
CREATE TABLE known AS SELECT unnest(ARRAY['57.64911,10.40744', '57.64911,10.40744', '(10.40744,57.64911)', '(10.40744, 57.64911) ', '(10.40744,57.64911', '42.6,-5.6', '42.6,-5.6', '-25.382708,-49.265506', '-25.382708,-49.265506']) AS place;
SELECT FROM kanon_pattern_guided('known', 'known_out', '{place}', 2, hierarchies => '{"place": {"grid": ["1 m", "150 m", "5 km", "150 km"], "show": "geohash"}}', patterns => '{1}');
SELECT place, count(*) FROM known_out GROUP BY place ORDER BY place;
SELECT levels FROM kanon_columns WHERE run = (SELECT max(run) FROM kanon_usefulness);
SELECT FROM kanon_full_domain('known', 'known_out', '{place}', 3, hierarchies => '{"place": {"grid": ["150 m", "5 km"], "show": "geohash"}}', suppression_limit => 1, replace => true);
SELECT place, count(*) FROM known_out GROUP BY place ORDER BY place;
-- loss is by area: a level's cells among the coarsest ones that there are, as recounted from the polygons
CREATE VIEW town AS SELECT id, place, ill FROM placed WHERE id <= 1000;
CREATE FUNCTION share(sizes jsonb, level text, method text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    IF method = 'pattern' THEN
        PERFORM kanon_pattern_guided('town', 'area', '{place}', 2, hierarchies => jsonb_build_object('place', jsonb_build_object('grid', sizes, 'show', 'polygon')), patterns => ARRAY[level], replace => true);
    ELSE
        EXECUTE format('SELECT count(*) FROM kanon_%s(''town'', ''area'', ''{place}'', 2, hierarchies => %L, replace => true)', method, jsonb_build_object('place', jsonb_build_object('grid', sizes, 'show', 'polygon')));
    END IF;
    RETURN (SELECT gcp FROM kanon_usefulness ORDER BY run DESC LIMIT 1);
END $$;
CREATE FUNCTION area(polygon text) RETURNS float8 LANGUAGE sql RETURN (SELECT (sin(radians(m[6]::float8)) - sin(radians(m[2]::float8))) * (m[3]::float8 - m[1]::float8) FROM (SELECT array_agg(x[1] ORDER BY nr) AS m FROM regexp_matches(polygon, '-?[0-9.]+', 'g') WITH ORDINALITY AS y (x, nr)) q);
SELECT share('["5 km", "50 km"]', '2', 'pattern') BETWEEN 0.2 AND 0.5 AS coarse;
CREATE TABLE coarse_area AS SELECT sum(area(place)) AS whole FROM (SELECT DISTINCT place FROM area WHERE place IS NOT NULL) c;
SELECT share('["5 km", "50 km"]', '1', 'pattern') AS told \gset
SELECT abs(:told - avg(coalesce(area(place) / whole, 1))) < 1e-4 AS fine, :told < 0.2 AS less FROM area, coarse_area;
SELECT share('["5 km", "50 km"]', '', 'full_domain') AS told \gset
SELECT abs(:told - avg(coalesce(area(place) / whole, 1))) < 1e-4 AS full_domain FROM area, coarse_area;
SELECT share('["5 km", "50 km"]', '', 'subtree') AS told \gset
SELECT abs(:told - avg(coalesce(area(place) / whole, 1))) < 1e-4 AS subtree FROM area, coarse_area;
DROP SCHEMA places_test CASCADE;
