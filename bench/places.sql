-- A map of a release of made-up homes, as SVG: dev/with-server psql -XAtq -f bench/places.sql > doc/images/places.svg
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION kanon;
-- three towns and the land between them; the same homes whenever it runs
CREATE TABLE homes AS SELECT i AS id, round((52.4 + y)::numeric, 5) AS latitude, round((13.2 + x)::numeric, 5) AS longitude
FROM generate_series(1, 1500) i, LATERAL (SELECT sqrt(-2 * ln((i * 7919 % 1499 + 1) / 1500.0)) AS r, i * 0.6180339887 * 2 * pi() AS a) g,
    LATERAL (SELECT 0.02 * CASE i % 3 WHEN 0 THEN 1 WHEN 1 THEN 1.6 ELSE 6 END AS wide) w,
    LATERAL (SELECT CASE i % 3 WHEN 0 THEN 0.05 WHEN 1 THEN 0.3 ELSE 0.2 END + wide * r * cos(a) AS x, CASE i % 3 WHEN 0 THEN 0.18 WHEN 1 THEN 0.06 ELSE 0.12 END + wide * 0.6 * r * sin(a) AS y) p;
CREATE VIEW placed AS SELECT latitude || ',' || longitude AS place FROM homes;
SELECT FROM kanon_pattern_guided('placed', 'released', '{place}', 5, hierarchies => '{"place": {"grid": ["1 km", "4 km", "16 km"], "show": "polygon"}}');
CREATE TABLE cell AS
SELECT m[1] AS west, m[2] AS south, m[3] AS east, m[6] AS north, count(*) AS homes
FROM released, LATERAL (SELECT array_agg(x[1]::float8 ORDER BY nr) AS m FROM regexp_matches(place, '-?[0-9.]+', 'g') WITH ORDINALITY AS y (x, nr)) p
WHERE place IS NOT NULL GROUP BY 1, 2, 3, 4;
CREATE TABLE frame AS SELECT min(west) AS west, max(north) AS north, 720 / (max(east) - min(west)) AS x, 720 / (max(east) - min(west)) / cos(radians(avg(north))) AS y, (max(north) - min(south)) AS high FROM cell;
SELECT format($svg$<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 740 %1$s' width='740' height='%1$s' role='img' aria-label='A map of a release: cells of 1, 4 and 16 km, with the number of homes in each'>
	<title>A map of a release: cells of 1, 4 and 16 km, with the number of homes in each</title>
<style>
	text { font: 10px system-ui, sans-serif; fill: #1f2933; text-anchor: middle; }
	rect { fill: #0b6bcb; stroke: #52606d; stroke-width: 0.7; } circle { fill: #b5530a; }
	@media (prefers-color-scheme: dark) { text { fill: #e4e7eb; } rect { fill: #6cb6ff; stroke: #9aa5b1; } circle { fill: #f0a35e; } }
</style>$svg$, round(high * y + 20)) FROM frame;
SELECT format($svg$	<rect x='%s' y='%s' width='%s' height='%s' fill-opacity='%s'/>$svg$, round((10 + (c.west - f.west) * f.x)::numeric, 1), round((10 + (f.north - c.north) * f.y)::numeric, 1),
    round(((c.east - c.west) * f.x)::numeric, 1), round(((c.north - c.south) * f.y)::numeric, 1), round(least(0.75, 0.06 + 4 * c.homes / ((c.east - c.west) * f.x * (c.north - c.south) * f.y))::numeric, 2))
FROM cell c, frame f ORDER BY (c.east - c.west) DESC, c.south, c.west;
SELECT format($svg$	<circle cx='%s' cy='%s' r='1'/>$svg$, round((10 + (h.longitude - f.west) * f.x)::numeric, 1), round((10 + (f.north - h.latitude) * f.y)::numeric, 1)) FROM homes h, frame f ORDER BY h.id;
SELECT format($svg$	<text x='%s' y='%s'>%s</text>$svg$, round((10 + ((c.west + c.east) / 2 - f.west) * f.x)::numeric, 1), round((14 + (f.north - (c.north + c.south) / 2) * f.y)::numeric, 1), c.homes)
FROM cell c, frame f WHERE (c.east - c.west) * f.x > 25 ORDER BY c.south, c.west;
SELECT '</svg>';
