-- every option of a publication, of every model, in every form that JSON has: what each says
CREATE SCHEMA option_test;
SET search_path = option_test, public;
SET client_min_messages = warning;
CREATE TABLE t AS SELECT i % 3 AS a, 'b' || i % 4 AS b, i % 5 AS kept, i AS person, ARRAY['x' || i % 2, 'y'] AS items FROM generate_series(1, 40) i;

-- Publishes, takes all of it back, and tells how it went.
CREATE FUNCTION said(model text, options jsonb, stable bool DEFAULT false, protect bool DEFAULT false, key name DEFAULT NULL) RETURNS text LANGUAGE plpgsql SET client_min_messages = error AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    PERFORM kanon_create_publication('p', 't', CASE model WHEN 'transactions' THEN '{items}' ELSE '{a,b}' END::name[], 5,
        CASE model WHEN 'pattern_clustering' THEN '{"patterns": ["--", "**"]}' ELSE '{}' END::jsonb || options, model,
        stable => stable, protect_successive => protect, key => key);
    SELECT INTO message concat_ws(' ', 'fits: ' || method, classes, class_min, suppressed_cells, dropped_rows, round(cost::numeric, 4), kept) FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
    RAISE EXCEPTION '%', message;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    -- (the list of all options is told once, below)
    RETURN concat_ws(' | ', nullif(SQLSTATE, 'P0001'), message, nullif(detail, ''), CASE WHEN hint NOT LIKE '%Known options%' THEN nullif(hint, '') END);
END $$;
\pset format unaligned
\pset tuples_only on

-- which there are
CREATE FUNCTION options(model text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    PERFORM kanon_create_publication('p', 't', '{a}', 5, '{"*": 1}', model);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN substring(hint FROM 'Known options: (.*)\.$');
END $$;
CREATE TEMP TABLE known AS SELECT model, options(model) AS list FROM unnest('{cluster,full_domain,pattern_clustering,pattern_guided,subtree,transactions}'::text[]) AS model;
TABLE known;
CREATE TEMP TABLE option AS SELECT option, min(model) AS model FROM known, unnest(string_to_array(list, ', ')) AS option GROUP BY option;

-- each in each form, of the first model that takes it
SELECT option || ': ' || string_agg(left(value::text, 16), ' ' ORDER BY n) || E'\n  ' || said
FROM option, unnest(ARRAY['null', 'true', '0', '2', '-1', '0.5', '3000000000', '1e30', '1e400', '"x"', '""', '"60 s"', '[]', '[1]', '["a"]', '["x"]', '[null]', '[[]]', '[{}]',
    '[0.5, 1e400]', '{}', '{"a": 1}', '{"a": "x"}']::jsonb[]) WITH ORDINALITY AS v (value, n),
    said(model, jsonb_build_object(option, value))
GROUP BY option, said ORDER BY option COLLATE "C", min(n);

-- what each model says of one that fits its form
SELECT option || E'\n  ' || string_agg(models || ': ' || said, E'\n  ' ORDER BY models COLLATE "C", said COLLATE "C")
FROM (SELECT option, said, string_agg(model, ' ' ORDER BY model COLLATE "C") AS models
      FROM known, (VALUES ('keep', '["kept"]'::jsonb), ('keep', '["kept", "person"]'), ('allow_identifying', '["kept"]'), ('allow_identifying', '["b"]'), ('mask', '{"a": {"null": true}}'),
                          ('weights', '[1, 2]'), ('weights', '[1]'), ('weights', '[0, 1]'), ('weights', '[1, -1]'), ('hierarchies', '{"b": {"prefix": [1]}}'), ('hierarchies', '{"kept": {"prefix": [1]}}'), ('categorical', '["b"]'),
                          ('privacy', '[{"rule": "distinct_l", "column": "kept", "l": 2}]'), ('privacy', '[{"rule": "distinct_l", "column": "a", "l": 2}]'), ('privacy', '[{"rule": "subject", "column": "person"}]'),
                          ('residual', '"drop"'), ('residual', '"error"'), ('class_column', '"kept"'), ('class_column', '"a"'), ('mark', 'true'), ('time_limit', '"00:00:00"'), ('time_limit', '"1 day"'),
                          ('seed', '3'), ('min_rows', '41'), ('min_rows', '40'), ('min_rows', '0'), ('max_row_change', '-0.1'), ('max_gcp', '0'), ('max_gcp', '1.5'), ('max_suppressed', '0'), ('max_suppressed', '-1'),
                          ('rules', '[{"columns": ["a"]}]'), ('patterns', '["**"]'), ('partition_by', '"a"'), ('partition_size', '9'), ('partition_size', '20'), ('method', '"greedy"'), ('method', '"optimal"'), ('workers', '1')) AS v (option, value),
          said(model, jsonb_build_object(option, value))
      WHERE option = ANY (string_to_array(list, ', ')) GROUP BY option, value, said) AS s
GROUP BY option ORDER BY option COLLATE "C";
-- and of a publication that knows who is who, or stays near the release before
SELECT concat_ws(' ', stable::text, protect::text, coalesce(key, 'no key')) || E'\n  ' || string_agg(models || ': ' || said, E'\n  ' ORDER BY models COLLATE "C", said COLLATE "C")
FROM (SELECT stable, protect, key, said, string_agg(model, ' ' ORDER BY model COLLATE "C") AS models
      FROM known, unnest('{f,t}'::bool[]) AS stable, unnest('{f,t}'::bool[]) AS protect, unnest('{NULL,person,a}'::name[]) AS key, said(model, '{}', stable, protect, key)
      GROUP BY stable, protect, key, said) AS s
GROUP BY stable, protect, key ORDER BY stable, protect, key NULLS FIRST;

-- what is recorded of each method, and of each of its columns; times, memory and steps aside
CREATE TABLE u AS SELECT nullif(i * i % 7, 4) AS a, nullif('b' || (i * i + i / 5) % 4, 'b3') AS b, i % 2 = 0 AS c, i % 3 + 1 AS kept, CASE WHEN i < 20 THEN ARRAY['x' || i % 3, 'y' || i % 2, 'z'] ELSE ARRAY['y' || i % 4] END AS items FROM generate_series(1, 36) i;
CREATE TABLE private AS SELECT 'z' AS item;
CREATE FUNCTION rounded(j jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(key || '=' || CASE jsonb_typeof(value) WHEN 'number' THEN trim_scale(round(value::numeric, 5))::text ELSE value #>> '{}' END, ' ' ORDER BY key COLLATE "C") FROM jsonb_each(jsonb_strip_nulls(j))
$$;
CREATE FUNCTION recorded(model text, k bigint, options jsonb) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    -- what makes no classes makes no publication
    IF model = 'freeform' OR options ->> 'method' = 'k_k' THEN
        EXECUTE format('SELECT 1 FROM kanon_%s(''u'', ''p'', ''{a,b,c}'', %s%s)', model, k, (SELECT string_agg(format(', %I => %L', key,
            CASE jsonb_typeof(value) WHEN 'array' THEN translate(value::text, '[]"', '{}') ELSE value #>> '{}' END), '') FROM jsonb_each(options)));
    ELSE
        PERFORM kanon_create_publication('p', 'u', CASE model WHEN 'transactions' THEN '{items}' ELSE '{a,b,c}' END::name[], k, options, model, stable => model <> 'transactions');
    END IF;
    SELECT max(run) INTO last FROM kanon_usefulness;
    RETURN QUERY SELECT rounded(to_jsonb(r) - '{run,started_at,run_by,source,target,target_oid,version,publication,read_ms,solve_ms,write_ms,verify_ms,peak_memory,nodes,model,options}'::text[])
        FROM kanon_usefulness r WHERE run = last;
    RETURN QUERY SELECT '  ' || rounded(to_jsonb(c) - '{run,ordinal}'::text[]) FROM kanon_columns c WHERE run = last ORDER BY ordinal;
    RETURN QUERY SELECT '  ' || string_agg(rounded(to_jsonb(c) - '{run,note}'::text[]), '; ' ORDER BY class) FROM kanon_equivalence_classes c WHERE run = last AND c.class IS NOT NULL HAVING count(*) > 0;
    IF model = 'freeform' OR options ->> 'method' = 'k_k' THEN
        DROP TABLE p;
    ELSE
        PERFORM kanon_drop_publication('p');
    END IF;
EXCEPTION WHEN OTHERS THEN
    RETURN NEXT concat_ws(' ', SQLSTATE, SQLERRM);
END $$;
SELECT format(E'%s %s %s\n', model, k, options) || (SELECT string_agg(line, E'\n' ORDER BY n) FROM recorded(model, k, options) WITH ORDINALITY AS r (line, n))
FROM (VALUES ('cluster', 3, '{}'::jsonb), ('cluster', 3, '{"method": "gather", "mark": true, "show": "range, set, auto"}'), ('cluster', 3, '{"method": "k_k"}'), ('cluster', 2, '{"method": "pairs", "keep": ["kept"], "class_column": "kept"}'),
             ('cluster', 3, '{"method": "bottom_up", "weights": [2, 1, 0.5], "categorical": ["a"], "residual": "drop"}'),
             ('freeform', 3, '{}'), ('freeform', 3, '{"method": "greedy", "mark": true}'), ('freeform', 3, '{"method": "ring", "seed": 1, "keep": ["kept"]}'), ('freeform', 2, '{"k_column": "kept", "method": "hungarian"}'),
             ('full_domain', 3, '{}'), ('full_domain', 3, '{"suppression_limit": 0.4, "hierarchies": {"b": {"prefix": [1]}, "a": {"interval": [3, 6]}}, "mark": true, "metric": "precision"}'), ('full_domain', 3, '{"suppression_limit": 0.4, "residual": "drop", "metric": "discernibility"}'),
             ('pattern_clustering', 3, '{"patterns": ["---", "**-", "***"], "mark": true}'), ('pattern_clustering', 3, '{"patterns": ["-*-", "***"], "method": "greedy", "weights": [1, 3, 1]}'),
             ('pattern_guided', 3, '{}'), ('pattern_guided', 3, '{"method": "ilp", "hierarchies": {"b": {"prefix": [1]}, "a": {"interval": [3, 6]}}}'), ('pattern_guided', 4, '{"residual": "drop", "patterns": ["---", "*--"], "weights": [2, 1, 0.5]}'),
             ('pattern_guided', 3, '{"partition_by": "c", "keep": ["kept"], "class_column": "kept", "mark": true}'), ('pattern_guided', 3, '{"keep": ["kept"], "privacy": [{"rule": "distinct_l", "column": "kept", "l": 2}]}'),
             ('subtree', 3, '{"hierarchies": {"b": {"prefix": [1]}, "a": {"interval": [3, 6]}}}'), ('subtree', 3, '{"method": "optimal", "scheme": "sibling", "mark": true, "hierarchies": {"a": {"interval": [3, 6]}}}'),
             ('transactions', 12, '{}'), ('transactions', 10, '{"method": "optimal", "m": 1, "keep": ["kept"]}'), ('transactions', 3, '{"method": "suppress_control", "sensitive_items": "private", "rho": 0.6}'), ('transactions', 3, '{"method": "suppress", "sensitive_items": "private", "h": 80, "p": 1}')) AS v (model, k, options);
DROP SCHEMA option_test CASCADE;
