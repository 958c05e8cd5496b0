-- every function of the extension with no rows, one row, fewer rows than k, a column of NULLs, one of a single value, and odd
-- names: it answers, or says in kanon's words what is wrong and what to do; nothing is an internal error
CREATE SCHEMA "Kinds of ""tables""";
SET search_path = "Kinds of ""tables""", public;
SET client_min_messages = error;
\set SHOW_CONTEXT never
CREATE TABLE usual_rows AS SELECT i AS id, i % 7 AS age, 'z' || i % 9 AS zip, 'd' || i % 5 AS ill, ARRAY['a', 'b' || i % 3] AS items, (i % 11)::float8 AS x, date '2026-01-01' + i % 40 AS born FROM generate_series(1, 60) AS i;
CREATE TABLE "no rows" AS SELECT * FROM usual_rows LIMIT 0;
CREATE TABLE "one row" AS SELECT * FROM usual_rows LIMIT 1;
CREATE TABLE "three rows" AS SELECT * FROM usual_rows LIMIT 3;
CREATE TABLE "all NULL" AS SELECT id, NULL::int AS age, zip, ill, items, x, born FROM usual_rows;
CREATE TABLE "one value" AS SELECT id, 5 AS age, zip, ill, items, x, born FROM usual_rows;
CREATE TABLE "Odd, ""quoted"" Names" AS SELECT id AS "Id", age AS "Age ""in"" years", zip AS "Zip Code", ill AS "select", items AS "Items", x AS "X", born AS "Born" FROM usual_rows;
CREATE TABLE sources (nr int, name text, id text, age text, zip text, ill text, items text, x text, born text);
INSERT INTO sources SELECT n, t, 'id', 'age', 'zip', 'ill', 'items', 'x', 'born' FROM unnest('{usual_rows,no rows,one row,three rows,all NULL,one value}'::text[]) WITH ORDINALITY AS s (t, n);
INSERT INTO sources VALUES (7, 'Odd, "quoted" Names', 'Id', 'Age "in" years', 'Zip Code', 'select', 'Items', 'X', 'Born');
CREATE TABLE functions AS
SELECT p.proname, p.proargnames[1:p.pronargs] AS names, ARRAY(SELECT format_type(o, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (o, n) ORDER BY n) AS types, p.pronargs - p.pronargdefaults AS needed, p.prokind
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'kanon'
WHERE p.proname ~ '^kanon_' AND pg_function_is_visible(p.oid) AND p.prokind IN ('f', 'p') AND cardinality(p.proargnames[1:p.pronargs]) > 0;
-- what an argument is given, of a source; the target of those that compare is a release of it
CREATE FUNCTION given(s sources, function text, argument text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE
        WHEN argument IN ('source', 'relation') THEN format('%L', format('%I', s.name))
        WHEN argument = 'target' AND function ~ 'compare|distributions|attack|check' THEN format('%L', format('%I', 'release of ' || s.nr))
        WHEN argument IN ('target', 'view', 'quasi_target', 'name') THEN format('%L', format('%I', 'Made by ' || function))
        WHEN argument = 'sensitive_target' THEN format('%L', format('%I', 'Made beside ' || function))
        WHEN function = 'kanon_cross_training' AND argument = 'columns' THEN format('ARRAY[%L]', s.x)
        WHEN argument IN ('quasi_identifiers', 'columns', 'known') THEN format('ARRAY[%L, %L]', s.age, s.zip)
        WHEN argument = 'k' THEN '5'
        WHEN argument = 'ks' THEN '''{2,5}'''
        WHEN argument = 'items' THEN format('%L', s.items)
        WHEN argument = 'transaction' AND function = 'kanon_transactions' THEN 'NULL'
        WHEN argument = 'sensitive' AND function = 'kanon_anatomy' THEN format('%L', s.ill)
        WHEN argument = 'sensitive' AND function = 'kanon_risk' THEN format('ARRAY[%L]', s.ill)
        WHEN argument IN ('key', 'subject') AND function = 'kanon_attack' THEN format('%L', s.id)
        WHEN argument = 'column_name' AND function ~ 'date' THEN format('%L', s.born)
        WHEN argument = 'column_name' THEN format('%L', s.age)
        WHEN argument = 'widths' THEN '''{2,4}''' WHEN argument = 'groups' THEN '''{2}''' WHEN argument IN ('l', 't', 'm') THEN '2'
        WHEN argument = 'patterns' THEN '''{--,*-,-*,**}'''
        WHEN argument = 'run' THEN '(SELECT max(run) FROM kanon_usefulness)'
        WHEN argument = 'domains' THEN jsonb_build_object(s.age, '[0,1,2,3,4,5,6]'::jsonb, s.zip, '["z0","z1","z2","z3","z4","z5","z6","z7","z8"]'::jsonb)::text::text END $$;
CREATE TABLE outcomes (function text, source int, call text, state text, said text, hint text);
CREATE FUNCTION try(function text, source int, call text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    said text; hint text; state text;
BEGIN
    BEGIN
        EXECUTE call;
        RAISE EXCEPTION USING ERRCODE = 'P0999';
    EXCEPTION
        WHEN SQLSTATE 'P0999' THEN state := 'answers';
        WHEN OTHERS THEN GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE;
    END;
    INSERT INTO outcomes VALUES (function, source, call, state, said, hint);
END $$;
-- releases of each that others are compared with
SELECT FROM sources s, LATERAL kanon_pattern_guided(format('%I', s.name)::regclass, format('%I', 'release of ' || s.nr), ARRAY[s.age, s.zip]::name[], 5, residual => 'drop');
DO $$
DECLARE
    f record; s sources; args text; needs boolean;
BEGIN
    FOR f IN SELECT * FROM functions ORDER BY proname, names LOOP
        FOR s IN SELECT * FROM sources ORDER BY nr LOOP
            SELECT string_agg(format('%I => %s', a.name, CASE WHEN a.name = 'domains' THEN format('%L::jsonb', given(s, f.proname, a.name)) ELSE given(s, f.proname, a.name) || '::' || f.types[a.n] END), ', ' ORDER BY a.n),
                   bool_or(a.n <= f.needed AND given(s, f.proname, a.name) IS NULL)
            INTO args, needs FROM unnest(f.names) WITH ORDINALITY AS a (name, n) WHERE a.n <= f.needed OR f.proname = 'kanon_pattern_clustering' AND a.name = 'patterns' OR f.proname = 'kanon_transactions' AND a.name IN ('k', 'm');
            -- (functions about something else than a table have tests of their own)
            CONTINUE WHEN needs OR f.proname IN ('kanon_check_hierarchy', 'kanon_hierarchy_from_fk') OR args !~ '(source|relation) =>';
            PERFORM try(f.proname, s.nr, format('%s %I(%s)', CASE f.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT * FROM' END, f.proname, args));
        END LOOP;
    END LOOP;
END $$;
SELECT count(DISTINCT function) AS functions, count(*) AS calls FROM outcomes;
-- an error is kanon's own, and says what to do
SELECT function, source, state, said, call FROM outcomes WHERE state <> 'answers' AND (state ~ '^(XX|P0|42883|42601|22P02)' OR coalesce(hint, '') = '') ORDER BY 1, 2;
-- as usual, and with odd names, all of them answer
SELECT function, source, state, said, call FROM outcomes WHERE source IN (1, 7) AND state <> 'answers' ORDER BY 1, 2;
SELECT (SELECT name FROM sources WHERE nr = source) AS source, state, said, string_agg(DISTINCT substr(function, 7), ' ' ORDER BY substr(function, 7)) AS functions FROM outcomes WHERE source NOT IN (1, 7) GROUP BY source, outcomes.source, state, said ORDER BY outcomes.source, state, said;
SET client_min_messages = warning;
DROP SCHEMA "Kinds of ""tables""" CASCADE;
