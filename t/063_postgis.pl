# Points of PostGIS: geometry with its SRID, and geography; cells are judged by PostGIS's own functions.
use strict;
use warnings;
use lib 't/lib';
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = KanonNode::new_node('main');
$node->start;
my ($code) = $node->psql('postgres', 'CREATE EXTENSION postgis');
if ($code != 0) { $node->stop; plan skip_all => 'PostGIS is not installed' }
$node->safe_psql('postgres', <<'E');
CREATE EXTENSION kanon;
CREATE TABLE homes AS SELECT i AS id, ST_SetSRID(ST_MakePoint(13.1 + (i * 104729 % 991) / 1100.0, 52.3 + (i * 7919 % 997) / 1500.0), 4326) AS geom FROM generate_series(1, 3000) i;
CREATE VIEW forms AS SELECT id, geom, geom::geography AS geog, ST_Transform(geom, 3857) AS web, ST_Transform(geom, 25833) AS utm, ST_Y(geom) || ',' || ST_X(geom) AS txt, point(ST_X(geom), ST_Y(geom))::text AS pt FROM homes;
DO $$
DECLARE
    c text; s text;
BEGIN
    FOR c, s IN SELECT * FROM unnest('{geom,geog,web,utm,txt,pt}'::text[]) f (form), unnest('{polygon,code,geohash}'::text[]) w (show) WHERE form <> 'utm' OR show <> 'geohash' LOOP
        PERFORM kanon_pattern_guided('forms', format('%s_%s', c, s), ARRAY[c]::name[], 5, keep => '{id}', allow_identifying => '{id}', hierarchies => jsonb_build_object(c, jsonb_build_object('grid', '["500 m", "5 km", "50 km"]'::jsonb, 'show', s)));
    END LOOP;
END $$;
E
sub is_so { my ($query, $expected, $name) = @_; is($node->safe_psql('postgres', $query), $expected, $name); return; }
is_so('SELECT count(*), bool_and(ST_Covers(ST_GeomFromText(g.geom, 4326), h.geom)) FROM geom_polygon g JOIN homes h USING (id) WHERE g.geom IS NOT NULL', '3000|t', 'a cell in degrees covers its points');
is_so('SELECT count(*), bool_and(ST_Covers(ST_GeomFromEWKT(g.utm), ST_Transform(h.geom, 25833))) FROM utm_polygon g JOIN homes h USING (id) WHERE g.utm IS NOT NULL', '3000|t', 'a square of a projection covers its points');
is_so('SELECT count(*), bool_and(ST_GeoHash(h.geom, length(g.geom)) = g.geom) FROM geom_geohash g JOIN homes h USING (id)', '3000|t', 'a geohash is the one of PostGIS');
is_so('SELECT count(*), bool_and((g.geog, t.txt, p.pt) IS NOT DISTINCT FROM (c.geom, c.geom, c.geom)), avg((w.web = c.geom)::int) > 0.99 FROM geom_code c JOIN geog_code g USING (id) JOIN txt_code t USING (id) JOIN pt_code p USING (id) JOIN web_code w USING (id)',
	'3000|t|t', 'one cell, whatever the point is written as');
is_so('SELECT bool_and(n >= 5) FROM (SELECT count(*) AS n FROM utm_code GROUP BY utm) g', 't', 'k');

# Other shapes, no point at all, a third dimension, another order of bytes cannot come; no SRID is an error.
$node->safe_psql('postgres', <<'E');
CREATE TABLE odd AS SELECT id, CASE id % 5 WHEN 0 THEN 'SRID=4326;POLYGON((0 0,1 0,1 1,0 0))'::geometry WHEN 1 THEN 'SRID=4326;POINT EMPTY'::geometry WHEN 2 THEN NULL WHEN 3 THEN 'SRID=4326;POINT Z (13 52 9)'::geometry ELSE 'SRID=4326;POINT(13 95)'::geometry END AS geom FROM homes;
CREATE TABLE bare AS SELECT id, ST_SetSRID(geom, 0) AS geom FROM homes;
SELECT FROM kanon_pattern_guided('odd', 'odd_out', '{geom}', 601, hierarchies => '{"geom": {"grid": true}}', residual => 'drop');
SELECT FROM kanon_pattern_guided('odd', 'odd_cells', '{geom}', 5, hierarchies => '{"geom": {"grid": true, "show": "code"}}', patterns => '{1}');
E
is_so('SELECT count(*) FROM odd_out WHERE geom IS NOT NULL', '0', 'what is no place is blank where fewer than k rows have it');
is_so('SELECT geom IS NULL, count(*), min(geom) ~ \'^[0-9]+-[0-9]+/\' FROM odd_cells GROUP BY 1 ORDER BY 1', "f|600|t\nt|2400|", 'a point with a height is a point');
my ($ret, $stdout, $stderr) = $node->psql('postgres', q{SELECT FROM kanon_pattern_guided('bare', 'bare_out', '{geom}', 5, hierarchies => '{"geom": {"grid": true}}')});
like($stderr, qr/points of column "geom" have no SRID/, 'no SRID');
($ret, $stdout, $stderr) = $node->psql('postgres', q{SELECT FROM kanon_pattern_guided('forms', 'x', '{utm}', 5, hierarchies => '{"utm": {"grid": true, "show": "geohash"}}')});
like($stderr, qr/are of a projection, and a geohash is of degrees/, 'no geohash of a projection');
$node->safe_psql('postgres', <<'E');
SELECT kanon_create_publication('night', 'homes', '{geom}', 5, '{"hierarchies": {"geom": {"grid": ["500 m", "5 km"], "show": "polygon"}}}');
INSERT INTO homes SELECT id + 5000, ST_Translate(geom, 0.0001, 0) FROM homes WHERE id < 200;
E
is_so(q{SELECT status, k >= 5 FROM kanon_refresh('night')}, 'current|t', 'a publication of them is refreshed');

# Areas: a table of polygons, and the points in them.
$node->safe_psql('postgres', <<'E');
CREATE TABLE areas AS SELECT format('D%s%s', x, y) AS district, format('R%s', x / 2) AS region, ST_MakeEnvelope(13 + x * 0.25, 52.2 + y * 0.25, 13.25 + x * 0.25, 52.45 + y * 0.25, 4326) AS shape FROM generate_series(0, 4) x, generate_series(0, 3) y;
CREATE VIEW homes_in AS SELECT h.id, coalesce(a.district, 'outside') AS district FROM homes h LEFT JOIN LATERAL (SELECT district FROM areas WHERE ST_Covers(shape, h.geom) ORDER BY district LIMIT 1) a ON true;
CREATE TABLE area_levels AS SELECT district, region FROM areas UNION ALL SELECT 'outside', 'outside';
SELECT FROM kanon_pattern_guided('homes_in', 'areas_out', '{district}', 200, hierarchies => '{"district": "area_levels"}');
E
is_so('SELECT min(n) >= 200, count(*) FROM (SELECT count(*) AS n FROM areas_out WHERE district IS NOT NULL GROUP BY district) g', 't|' . $node->safe_psql('postgres', 'SELECT count(DISTINCT district) FROM areas_out'), 'points in polygons');
$node->stop;
done_testing();
