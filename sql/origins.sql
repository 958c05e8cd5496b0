-- what a kept column comes from is found behind whatever stands between: children, CTEs, unions, groups, functions, rules
CREATE SCHEMA origins_test;
SET search_path = origins_test, public;
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE FUNCTION try(relation text, kept text, qis text DEFAULT '{age}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    EXECUTE format('SELECT FROM kanon_pattern_guided(%L, ''out'', %L, 5, keep => %L, replace => true)', relation, qis, '{' || kept || '}');
    RETURN 'published';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN format('%s: %s', SQLSTATE, message);
END $$;
CREATE FUNCTION draw(i int, salt int) RETURNS int LANGUAGE sql IMMUTABLE RETURN abs(hashint8(i * 1000::bigint + salt)) % 1000000;
SELECT count(*) > 0 AS loaded FROM kanon_check('pg_catalog.pg_am', '{amname}');
CREATE TABLE wards (id int PRIMARY KEY, floor int);
INSERT INTO wards SELECT i, i / 4 FROM generate_series(0, 9) AS i;

-- ---- children: a foreign key, a label that only one of the tables has ----

CREATE TABLE family (age int, ill int, ward int, name text);
CREATE TABLE child (FOREIGN KEY (ward) REFERENCES wards (id)) INHERITS (family);
CREATE TABLE grandchild () INHERITS (child);
CREATE TABLE stepchild (hint int) INHERITS (family);
INSERT INTO grandchild SELECT i % 6, draw(i, 2) % 4, draw(i, 1) % 10, 'n' || draw(i, 3) % 5 FROM generate_series(1, 300) AS i;
SECURITY LABEL FOR kanon ON COLUMN stepchild.name IS 'identifier';
CREATE VIEW family_view AS SELECT * FROM family;
CREATE VIEW family_only AS SELECT * FROM ONLY family;
SELECT relation, kept, try(relation, kept) FROM unnest('{family,family_view,family_only,child,grandchild}'::text[]) WITH ORDINALITY AS r (relation, nr), unnest('{ward,name}'::text[]) AS k (kept) ORDER BY nr, kept;
-- a label of the parent settles it for its children; that of a child for this child alone
SECURITY LABEL FOR kanon ON COLUMN child.ward IS 'keep';
SELECT try('family', 'ward'), try('child', 'ward');
ALTER TABLE stepchild ADD FOREIGN KEY (ward) REFERENCES wards;
SELECT try('family', 'ward'), try('child', 'ward');
SECURITY LABEL FOR kanon ON COLUMN family.ward IS 'keep';
SELECT try('family', 'ward'), try('family_view', 'ward');
-- partitions: the key of one counts for the whole, and the label of the whole for each
CREATE TABLE parts (age int, ill int, ward int, name text) PARTITION BY LIST (ill);
CREATE TABLE part_0 PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE part_2 (gone text, age int, ill int, FOREIGN KEY (ward) REFERENCES wards (id), ward int, name text);
ALTER TABLE part_2 DROP gone;
ALTER TABLE parts ATTACH PARTITION part_2 DEFAULT;
INSERT INTO parts SELECT i % 6, draw(i, 2) % 4, draw(i, 1) % 10, 'n' || draw(i, 3) % 5 FROM generate_series(1, 300) AS i;
SECURITY LABEL FOR kanon ON COLUMN parts.name IS 'identifier';
SELECT relation, kept, try(relation, kept) FROM unnest('{parts,part_0,part_2}'::text[]) WITH ORDINALITY AS r (relation, nr), unnest('{ward,name}'::text[]) AS k (kept) ORDER BY nr, kept;

-- ---- views ----

CREATE TABLE stays AS SELECT i AS id, i % 6 AS age, draw(i, 2) % 4 AS ill, draw(i, 1) % 10 AS ward, 'n' || draw(i, 3) % 5 AS name, draw(i, 4) % 7 AS zip FROM generate_series(1, 300) AS i;
ALTER TABLE stays ADD FOREIGN KEY (ward) REFERENCES wards;
SECURITY LABEL FOR kanon ON COLUMN stays.name IS 'identifier';
CREATE TYPE stay AS (ward int, name text, zip int);
CREATE FUNCTION same(ward int, name text, zip int) RETURNS SETOF stay LANGUAGE sql AS 'SELECT ward, name, zip';
CREATE TABLE ways (nr serial, way text, query text);
INSERT INTO ways (way, query) VALUES
('plain', 'SELECT age, ill, ward, name, zip FROM stays'),
('a CTE', 'WITH c AS (SELECT * FROM stays) SELECT age, ill, ward, name, zip FROM c'),
('a CTE of a CTE', 'WITH c AS MATERIALIZED (SELECT * FROM stays), d AS (SELECT * FROM c) SELECT age, ill, ward, name, zip FROM (SELECT * FROM d) AS s'),
('a CTE that is seen from a sub-query', 'WITH c AS (SELECT * FROM stays) SELECT s.age, s.ill, s.ward, s.name, s.zip FROM (WITH other AS (SELECT * FROM c) SELECT * FROM other) AS s'),
('a CTE within a sub-query', 'SELECT s.age, s.ill, s.ward, s.name, s.zip FROM (WITH c AS (SELECT * FROM stays) SELECT * FROM c) AS s'),
('a recursive CTE', 'WITH RECURSIVE c AS (SELECT 0 AS n, id, 0 AS age, 0 AS ill, 0 AS ward, NULL::text AS name, 0 AS zip FROM stays UNION ALL SELECT n + 1, c.id, s.age, s.ill, s.ward, s.name, s.zip FROM c JOIN stays s ON s.id = c.id WHERE n < 1) SELECT age, ill, ward, name, zip FROM c WHERE n = 1'),
('a CTE with columns that change their places', 'WITH RECURSIVE c (n, age, ill, a, b) AS (SELECT 0, age, ill, ward, zip FROM stays UNION ALL SELECT n + 1, age, ill, b, a FROM c WHERE n < 1) SELECT age, ill, b AS ward, ''x''::text AS name, a AS zip FROM c WHERE n = 1'),
('a union', 'SELECT 0 AS age, 0 AS ill, 0 AS ward, ''x''::text AS name, 0 AS zip WHERE false UNION ALL SELECT age, ill, ward, name, zip FROM stays'),
('a union in a union', '(SELECT 0 AS age, 0 AS ill, 0 AS ward, ''x''::text AS name, 0 AS zip WHERE false INTERSECT SELECT 1, 1, 1, ''y'', 1) UNION ALL (SELECT 0, 0, 0, ''x'', 0 WHERE false UNION ALL SELECT age, ill, ward, name, zip FROM stays)'),
('DISTINCT', 'SELECT age, ill, ward, name, zip FROM (SELECT DISTINCT * FROM stays) AS s'),
('groups', 'SELECT age, ill, ward, name, zip FROM stays GROUP BY id, age, ill, ward, name, zip'),
('groups by an expression', 'SELECT age, ill, w AS ward, n AS name, z AS zip FROM (SELECT id, age, ill, ward + 0 AS w, name || '''' AS n, zip * 1 AS z FROM stays GROUP BY id, age, ill, 4, 5, 6) AS s'),
('aggregates of single rows', 'SELECT min(age) AS age, min(ill) AS ill, max(ward) AS ward, string_agg(name, '''') AS name, max(zip) AS zip FROM stays GROUP BY id'),
('windows of single rows', 'SELECT age, ill, first_value(ward) OVER w AS ward, first_value(name) OVER w AS name, first_value(zip) OVER w AS zip FROM stays WINDOW w AS (PARTITION BY id)'),
('LATERAL', 'SELECT age, ill, l.ward, l.name, l.zip FROM stays s, LATERAL (SELECT s.ward, s.name, s.zip) AS l'),
('LATERAL twice', 'SELECT age, ill, l.ward, l.name, l.zip FROM stays s, LATERAL (SELECT k.* FROM (SELECT 1) AS o, LATERAL (SELECT s.ward, s.name, s.zip) AS k) AS l'),
('VALUES', 'SELECT age, ill, v.ward, v.name, v.zip FROM stays s, LATERAL (VALUES (s.ward, s.name, s.zip)) AS v (ward, name, zip)'),
('a function', 'SELECT s.age, s.ill, f.ward, f.name, f.zip FROM stays s, same(s.ward, s.name, s.zip) AS f'),
('unnest', 'SELECT age, ill, u.ward, u.name, u.zip FROM stays s, unnest(ARRAY[s.ward], ARRAY[s.name], ARRAY[s.zip]) AS u (ward, name, zip)'),
('XMLTABLE', 'SELECT age, ill, x.ward, x.name, x.zip FROM stays s, XMLTABLE(''/s'' PASSING xmlelement(NAME s, xmlattributes(s.ward AS w, s.name AS n, s.zip AS z)) COLUMNS ward int PATH ''@w'', name text PATH ''@n'', zip int PATH ''@z'') AS x'),
('a sub-query of the row', 'SELECT age, ill, (SELECT s.ward) AS ward, (SELECT s.name) AS name, (SELECT s.zip) AS zip FROM stays s'),
('a full join', 'SELECT age, ill, ward, name, zip FROM (SELECT age, ill, ward FROM stays WHERE id > 0) AS a FULL JOIN (SELECT DISTINCT ward, ''n0''::text AS name, 0 AS zip FROM stays) AS b USING (ward)'),
('the whole row', 'SELECT age, ill, (w).ward, (w).name, (w).zip FROM (SELECT age, ill, ROW(ward, name, zip)::stay AS w FROM stays) AS s'),
('the row as json', 'SELECT age, ill, (j ->> ''ward'')::int AS ward, j ->> ''name'' AS name, (j ->> ''zip'')::int AS zip FROM (SELECT age, ill, to_jsonb(s) AS j FROM stays s) AS s'),
('expressions', 'SELECT age, ill, CASE ward WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE ward END AS ward, upper(name) AS name, coalesce(zip, 0) AS zip FROM stays'),
('conditions', 'SELECT age, ill, CASE WHEN ward = 1 THEN 1 ELSE 0 END AS ward, CASE WHEN name = ''n1'' THEN ''one'' ELSE ''other'' END AS name, CASE WHEN zip < 3 THEN 1 ELSE 0 END AS zip FROM stays'),
('yes or no', 'SELECT age, ill, ward = 1 AS ward, name IS NULL AS name, zip < 3 AS zip FROM stays'),
('counts', 'SELECT age, ill, count(ward) AS ward, count(DISTINCT name) AS name, count(zip) AS zip FROM stays GROUP BY age, ill, id % 60'),
('one value for all', 'SELECT age, ill, (SELECT max(ward) FROM stays) AS ward, (SELECT max(name) FROM stays) AS name, (SELECT max(zip) FROM stays) AS zip FROM stays'),
('something else', 'SELECT age, ill, id % 3 AS ward, ''n'' || ill AS name, ill + 1 AS zip FROM stays');
DO $$ DECLARE w record; BEGIN FOR w IN SELECT * FROM ways LOOP
    EXECUTE format('CREATE VIEW v%s AS %s', w.nr, w.query);
    EXECUTE format('CREATE MATERIALIZED VIEW m%s AS SELECT * FROM v%1$s', w.nr);
END LOOP; END $$;
CREATE TABLE results AS SELECT nr, way, kind, kept, try(kind || nr, kept) AS result FROM ways, unnest('{v,m}'::text[]) AS kind, unnest('{ward,name}'::text[]) AS kept;
SELECT way, max(result) FILTER (WHERE kept = 'ward') AS ward, max(result) FILTER (WHERE kept = 'name') AS name FROM results WHERE kind = 'v' GROUP BY nr, way ORDER BY nr;
SELECT way, kept, r.result, s.result FROM results r JOIN results s USING (nr, way, kept) WHERE r.kind = 'v' AND s.kind = 'm' AND r.result <> s.result;
-- a quasi-identifier from the same column, on either side
DO $$ DECLARE w record; BEGIN FOR w IN SELECT * FROM ways LOOP
    EXECUTE format('CREATE VIEW z%s AS SELECT v.*, zip AS same FROM v%1$s AS v', w.nr);
END LOOP; END $$;
SELECT way, try('z' || nr, 'same', '{age,zip}') AS kept FROM ways WHERE way IN ('a CTE', 'a recursive CTE', 'a union in a union', 'groups by an expression', 'LATERAL twice', 'a function', 'XMLTABLE', 'yes or no') ORDER BY nr;
CREATE VIEW partition_names AS SELECT *, tableoid AS of FROM parts;
SELECT try('partition_names', 'of', '{age}'), try('partition_names', 'of', '{ill}');
-- a rule of others beside that of the view
CREATE VIEW ruled AS SELECT age, ill, ward, name, zip FROM stays;
CREATE RULE another AS ON INSERT TO ruled DO INSTEAD NOTHING;
SELECT try('ruled', 'ward'), try('ruled', 'name');
-- a label of the view's own column says what it is: of what is computed, not of the identifier itself
SECURITY LABEL FOR kanon ON COLUMN v25.ward IS 'keep';
SECURITY LABEL FOR kanon ON COLUMN v25.name IS 'sensitive';
SECURITY LABEL FOR kanon ON COLUMN v1.ward IS 'keep';
SECURITY LABEL FOR kanon ON COLUMN v1.name IS 'keep';
SELECT way, try('v' || nr, 'ward') AS ward, try('v' || nr, 'name') AS name FROM ways WHERE nr IN (1, 25) ORDER BY nr;
-- in a union the label of one branch settles nothing of the other
CREATE TABLE stays_2 (LIKE stays);
SECURITY LABEL FOR kanon ON COLUMN stays_2.ward IS 'keep';
CREATE VIEW both_stays AS SELECT * FROM stays_2 UNION ALL SELECT * FROM stays;
SELECT try('both_stays', 'ward');
-- allowed by name, or masked
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('v2', 'allowed', '{age}', 5, keep => '{ward,name}', allow_identifying => '{ward,name}');
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('v2', 'masked', '{age}', 5, keep => '{ward,name}', mask => '{"ward": "pseudonym", "name": {"constant": "x"}}');
DROP SCHEMA origins_test CASCADE;
