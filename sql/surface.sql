-- the functions and views as SQL sees them: one order and one default for what several functions have,
-- no name that needs quotes, a comment on everything
SET IntervalStyle = 'postgres';
CREATE VIEW ours AS SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
    AND d.refobjid = e.oid AND e.extname = 'kanon' AND d.deptype = 'e';

-- columns of views without a comment
SELECT a.attrelid::regclass, a.attname FROM pg_attribute a JOIN ours o ON o.classid = 'pg_class'::regclass AND o.objid = a.attrelid
JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'v'
WHERE a.attnum > 0 AND col_description(a.attrelid, a.attnum) IS NULL ORDER BY a.attrelid::regclass::text, a.attnum;

-- objects without one
SELECT pg_describe_object(o.classid, o.objid, 0) FROM ours o
WHERE obj_description(o.objid, (SELECT relname FROM pg_class WHERE oid = o.classid)) IS NULL
AND o.classid IN ('pg_proc'::regclass, 'pg_class'::regclass)
AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = o.objid AND o.classid = 'pg_class'::regclass AND c.relkind NOT IN ('r', 'v')) ORDER BY 1;

-- what only kanon calls is not among the functions that \df lists, and nothing else is hidden
SELECT p.oid::regprocedure FROM ours o JOIN pg_proc p ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid
WHERE pg_function_is_visible(p.oid) = (obj_description(p.oid, 'pg_proc') LIKE 'behind %');

-- names of arguments, results and columns that need quotes
SELECT what, name FROM (
    SELECT p.proname AS what, unnest(p.proargnames) AS name FROM ours o JOIN pg_proc p ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid
    UNION ALL
    SELECT a.attrelid::regclass::text, attname FROM pg_attribute a JOIN ours o ON o.classid = 'pg_class'::regclass AND o.objid = a.attrelid
    WHERE a.attnum > 0) n
WHERE name !~ '^[a-z_][a-z0-9_]*$' OR name IN (SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T'));

-- functions in SQL that run for longer than their plans take to compile
SELECT p.proname, p.proconfig FROM ours o JOIN pg_proc p ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid
WHERE p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql') AND length(pg_get_functiondef(p.oid)) > 2000 ORDER BY 1;

-- the options of the table in options.c are the arguments of the functions, in its order, with its types and defaults
SELECT f.function, f.arguments = p.arguments AS same,
       CASE WHEN f.arguments <> p.arguments THEN concat_ws(E'\n', f.arguments, p.arguments) END AS difference
FROM (SELECT function, string_agg(concat_ws(' ', option, type, 'DEFAULT', coalesce(initial, 'NULL')), ', ' ORDER BY place) AS arguments
      FROM kanon_option_list() GROUP BY function) f
LEFT JOIN LATERAL (
    SELECT string_agg(concat_ws(' ', name, t::regtype, 'DEFAULT', coalesce(substring(pg_get_function_arg_default(p.oid, i::int) FROM '^''(.*)''::'),
        regexp_replace(pg_get_function_arg_default(p.oid, i::int), '::.*', ''), 'NULL')), ', ' ORDER BY i) AS arguments
    FROM pg_proc p JOIN ours o ON o.classid = 'pg_proc'::regclass AND o.objid = p.oid,
         unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) WITH ORDINALITY a (name, t, i)
    WHERE p.proname = 'kanon_' || f.function AND i > array_position(p.proargnames, CASE f.function WHEN 'frontier' THEN 'ks' WHEN 'anatomy' THEN 'quasi_identifiers' WHEN 'alpha_beta' THEN 'domains' WHEN 'cross_training' THEN 'domains' WHEN 'synthetic' THEN 'rows' ELSE 'k' END)) p ON true
ORDER BY 1;

-- a library beside another version's SQL: columns that are not as many as it gives are an error
SELECT probin AS library FROM pg_proc JOIN ours o ON o.objid = pg_proc.oid WHERE proname = 'kanon_option_list' \gset
CREATE FUNCTION fewer() RETURNS TABLE (function text, option text) LANGUAGE C AS :'library', 'kanon_option_list';
CREATE FUNCTION more() RETURNS TABLE (function text, place int, option text, type text, initial text, sense text, one text, two text) LANGUAGE C AS :'library', 'kanon_option_list';
SELECT count(*) FROM fewer();
SELECT count(*) FROM more();
DROP FUNCTION fewer(), more();
DROP VIEW ours;
