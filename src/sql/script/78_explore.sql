/* ---- choosing among ks, methods and hierarchies ---- */

CREATE FUNCTION @extschema@.kanon_explore(
    source            regclass,
    quasi_identifiers name[],
    ks                bigint[] DEFAULT '{2,3,5,10,20,50}',
    methods           text[]   DEFAULT '{greedy}',
    hierarchies       jsonb[]  DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    time_limit        interval DEFAULT '60 seconds')
RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET jit = off
SET client_min_messages = warning
BEGIN ATOMIC
WITH -- what the schema of these functions is called today
home AS (
    SELECT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'kanon'),
tried AS (
    SELECT chr(64 + s.nr::int) AS letter, s.nr AS series, s.method, s.hierarchies, f.*,
           s.method || coalesce(': ' || (
               SELECT string_agg(format('%s by %s', e.key, CASE jsonb_typeof(e.value) WHEN 'object'
                                 THEN (SELECT string_agg(b.key || ' ' || translate(b.value::text, '[]{}"', ''), ', ') FROM jsonb_each(e.value) AS b)
                                 ELSE e.value #>> '{}' END), '; ')
               FROM jsonb_each(CASE jsonb_typeof(s.hierarchies) WHEN 'object' THEN s.hierarchies END) AS e), ', no hierarchies') AS what
    FROM (SELECT m.method, h.hierarchies, row_number() OVER (ORDER BY m.nr, h.nr) AS nr
          FROM unnest(methods) WITH ORDINALITY AS m (method, nr),
               unnest(coalesce(kanon_explore.hierarchies, ARRAY[NULL]::jsonb[])) WITH ORDINALITY AS h (hierarchies, nr)
          ORDER BY 3 LIMIT 26) s,
         LATERAL @extschema@.kanon_frontier(source, quasi_identifiers, ks, method => s.method, patterns => NULL::text[], rules => NULL::jsonb,
            gap => 0::float8, effort => 1::float8, keep => kanon_explore.keep, weights => NULL::@extschema@.kanon_weights, hierarchies => s.hierarchies,
            level_cost => 'ncp'::text, privacy => NULL::jsonb[], categorical => '{}'::name[], residual => 'drop'::text,
            time_limit => kanon_explore.time_limit, seed => NULL::bigint,
            model => 'pattern_guided'::text, options => NULL::jsonb) f),
points AS (
    SELECT t.*, row_number() OVER (ORDER BY t.series, t.k) AS nr, 1 / t.class_min::float8 AS risk, 1 / t.class_avg AS average_risk,
           coalesce((ln(1 / t.class_min::float8) - min(ln(1 / t.class_min::float8)) OVER ())
                    / nullif(max(ln(1 / t.class_min::float8)) OVER () - min(ln(1 / t.class_min::float8)) OVER (), 0), 0.5) * 0.9 + 0.05 AS x,
           coalesce(t.gcp / nullif(max(t.gcp) OVER (), 0), 0) AS y,
           format('SELECT * FROM %I.kanon_pattern_guided(%L, %L, %L, %s, method => %L%s%s, residual => ''drop'');', (SELECT h.name FROM home h),
                  format('%I.%I', n.nspname, c.relname), c.relname || '_public', quasi_identifiers::text, t.k, t.method,
                  ', keep => ' || quote_literal(nullif(kanon_explore.keep::text, '{}')), ', hierarchies => ' || quote_literal(t.hierarchies)) AS call
    FROM tried t, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = source AND t.class_min > 0)
SELECT @extschema@.kanon_page(jsonb_build_object(
    'source', format('%I.%I', n.nspname, c.relname),
    'version', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'kanon'),
    'says', format('Quasi-identifiers: %s. kanon tried them on the table as it was when this page was made, and wrote nothing.', (SELECT string_agg(quote_ident(q), ', ') FROM unnest(quasi_identifiers) AS q))
        || (SELECT CASE WHEN n.combinations > 26 THEN format(' Of %s combinations of method and hierarchies it tried the first 26.', n.combinations) ELSE '' END
            FROM (SELECT cardinality(methods) * coalesce(cardinality(kanon_explore.hierarchies), 1) AS combinations) AS n),
    'has_points', EXISTS (SELECT FROM points),
    'most_lost', (SELECT max(p.gcp) FROM points p), 'least_risk', (SELECT min(p.risk) FROM points p), 'most_risk', (SELECT max(p.risk) FROM points p),
    'series', coalesce((SELECT jsonb_agg(jsonb_build_object('letter', s.letter, 'what', s.what,
                  'dash', ('{none,7 4,2 3,10 3 2 3}'::text[])[1 + (s.series - 1) % 4],
                  'points', coalesce((SELECT jsonb_agg(to_jsonb(p) ORDER BY p.k) FROM points p WHERE p.series = s.series), '[]'),
                  'without', (SELECT jsonb_agg(t.k ORDER BY t.k) FROM tried t WHERE t.series = s.series AND t.class_min IS NULL)) ORDER BY s.series)
              FROM (SELECT DISTINCT t.series, t.letter, t.what FROM tried t) s), '[]')))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = source AND kanon_internal.kanon_page_asked(NULL::bigint[], 1::float8, NULL::jsonb, kanon_explore.methods);
END;

COMMENT ON FUNCTION @extschema@.kanon_explore(regclass, name[], bigint[], text[], jsonb[], name[], interval)
IS 'a self-contained page over ks, methods and hierarchies: loss against risk, and the call that publishes each; writes nothing';
