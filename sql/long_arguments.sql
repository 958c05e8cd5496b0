-- Long arguments do not fill messages and logs: each function is called with long texts in each argument that takes any.
SET client_min_messages = error;
CREATE SCHEMA long_arguments;
SET search_path = long_arguments, public;
CREATE TABLE long_rows AS SELECT i AS id, i % 4 AS a, i % 3 AS b, 'x' || i % 5 AS c, ARRAY[i % 4] AS s FROM generate_series(1, 60) i;
ALTER TABLE long_rows ADD PRIMARY KEY (id);
SELECT FROM kanon_pattern_guided('long_rows', 'long_shown', '{a,b}', 3);
SELECT kanon_create_publication('long_view', 'long_rows', '{a,b}', 3);
CREATE FUNCTION long_said(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text; context text;
BEGIN
    EXECUTE statement;
    RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || SQLERRM || ' ' || detail || ' ' || hint;
END $$;
-- each function, and each argument that may be long: the others are such as make sense, or left out
CREATE TABLE long_calls AS
WITH argument AS (
    SELECT p.oid, p.pronamespace, p.proname, p.prokind, a.ordinality AS place, a.type, p.proargnames[a.ordinality] AS name, a.ordinality <= p.pronargs - p.pronargdefaults AS needed
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'kanon', unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, ordinality)),
usual(name, value) AS (VALUES ('source', '''long_rows'''), ('relation', '''long_rows'''), ('subject', '''long_rows'''), ('population', '''long_rows'''), ('released', '''long_shown'''), ('target', '''long_shown'''), ('distributions', '''long_rows'''),
    ('quasi_identifiers', '''{a,b}'''), ('columns', '''{a,b}'''), ('known', '''{a}'''), ('k', '3'), ('l', '2'), ('key', '''id'''), ('items', '''s'''), ('column_name', '''c'''), ('column_names', '''{c}'''), ('sensitive', '''c'''), ('publication', '''long_view'''), ('name', '''long_new'''),
    ('tables', '''{"long_rows": {"quasi_identifiers": ["a"]}}'''), ('run', '1'), ('pattern', '''--'''), ('levels', '''{}'''), ('aggregate', '''count'''), ('epsilon', '1'), ('delta', '1e-6'), ('ks', '''{2}'''), ('domains', '''{"a": [0, 1, 2, 3], "b": [0, 1, 2]}'''),
    ('document', '''{}'''), ('role', '''name'''), ('target_schema', 'NULL'), ('quasi_target', '''q'''), ('sensitive_target', '''r'''), ('d', '0.1'), ('gamma', '0.5'), ('t', '3'), ('c', '2'), ('a', '1'), ('b', '2'), ('dmin', '0.1'), ('dmax', '0.5'), ('alpha', '0.5'), ('beta', '0.5'), ('counted', '5'), ('domain', '5'),
    ('widths', '''{2}'''), ('groups', '''{2}'''), ('keep', '''{1}'''), ('population_rows', '100'), ('confidence', '0.5'), ('relations', '''[]'''), ('page', '''{}''')),
long(type, kind, value) AS (VALUES ('text'::regtype, 'text', 'repeat(''x'', 100000)'), ('text', 'quoted', '''"'' || repeat(''x'', 4000) || ''"'''), ('text[]', 'text', 'ARRAY[repeat(''y'', 100000)]'), ('text[]', 'set', 'ARRAY[''a,'' || repeat(''y'', 100000)]'), ('text[]', 'equals', 'ARRAY[''a='' || repeat(''y'', 100000)]'), ('jsonb', 'key', 'jsonb_build_object(repeat(''k'', 100000), 1)'), ('jsonb', 'value', 'jsonb_build_object(''a'', repeat(''v'', 100000))'),
    ('jsonb', 'deep', 'jsonb_build_object(''a'', jsonb_build_object(repeat(''w'', 100000), 1))'), ('jsonb', 'table', 'jsonb_build_object(''long_rows'', jsonb_build_object(repeat(''w'', 100000), 1))'), ('jsonb', 'column', 'jsonb_build_object(''long_rows'', jsonb_build_object(''keep'', jsonb_build_array(repeat(''w'', 100000))))'), ('jsonb', 'list', 'jsonb_build_array(repeat(''u'', 100000))'), ('jsonb[]', 'rule', 'ARRAY[jsonb_build_object(''rule'', repeat(''r'', 100000))]'), ('jsonb[]', 'of', 'ARRAY[jsonb_build_object(''rule'', ''distinct_l'', ''column'', repeat(''r'', 100000), ''l'', 2)]'),
    ('kanon_weights', 'weights', '(''{"'' || repeat(''x'', 100000) || ''": 1}'')::kanon_weights'), ('kanon_known_rows', 'known', 'repeat(''1'', 100000)::kanon_known_rows'))
SELECT format('%s(%s => %s)', p.proname, l.name, g.kind) AS told,
    format(CASE p.prokind WHEN 'p' THEN 'CALL %I.%I(%s)' ELSE 'SELECT * FROM %I.%I(%s)' END, p.pronamespace::regnamespace, p.proname, string_agg(format('%I => %s', o.name, CASE WHEN o.place = l.place THEN g.value ELSE coalesce(u.value, 'NULL') END), ', ' ORDER BY o.place)) AS statement
FROM argument l JOIN long g ON g.type = l.type JOIN argument o ON o.oid = l.oid AND (o.needed OR o.place = l.place) LEFT JOIN usual u ON u.name = o.name JOIN pg_proc p ON p.oid = l.oid
WHERE l.name IS NOT NULL GROUP BY p.pronamespace, p.proname, p.prokind, l.oid, l.name, g.kind, g.value;
SELECT count(*) > 400 AS many FROM long_calls;
SELECT told, length(said) AS length, left(said, 130) AS said FROM long_calls, LATERAL long_said(statement) said WHERE length(said) > 1500 ORDER BY 1;
SELECT kanon_drop_publication('long_view');
DROP SCHEMA long_arguments CASCADE;
