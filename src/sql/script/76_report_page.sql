CREATE FUNCTION @extschema@.kanon_page(document jsonb)
RETURNS text
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_page';

COMMENT ON FUNCTION @extschema@.kanon_page(jsonb)
IS 'a document of kanon_report_data as a self-contained HTML page';

-- of a release of several tables the page has each of them; the worst of what there is to say comes first
CREATE FUNCTION kanon_internal.kanon_page_with_tables(page jsonb, threshold float8, sampling_fraction float8, read_target boolean, read_population boolean)
RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET jit = off
BEGIN ATOMIC
WITH parts AS (
    SELECT e.nr, e.t ->> 'target' AS title, @extschema@.kanon_report_data((e.t ->> 'run')::bigint, false, NULL::bigint[], threshold, sampling_fraction, NULL::jsonb, false, read_target, read_population) AS page
    FROM jsonb_array_elements(kanon_page_with_tables.page #> '{run,tables,tables}') WITH ORDINALITY AS e (t, nr) WHERE e.t ? 'run'),
verdicts AS (
    SELECT x.v || jsonb_build_object('says', p.title || ': ' || (x.v ->> 'says')) AS v, p.nr, x.place FROM parts p, jsonb_array_elements(p.page -> 'verdicts') WITH ORDINALITY AS x (v, place)
    UNION ALL
    SELECT x.v, 0, x.place FROM jsonb_array_elements(kanon_page_with_tables.page -> 'verdicts') WITH ORDINALITY AS x (v, place)),
-- the worst first, and none of the worst kind folded
ranked AS (
    SELECT x.v, row_number() OVER (ORDER BY array_position('{no,caution,yes}'::text[], x.v ->> 'verdict'),
               coalesce(array_position('{quasi_identifiers,presence,identifiers,persons,counts,kept,held_back,releases,left_out,nearly_empty}'::text[], x.v ->> 'about'), 99), x.nr, x.place) AS at,
           rank() OVER (ORDER BY array_position('{no,caution,yes}'::text[], x.v ->> 'verdict')) AS kind
    FROM verdicts x)
SELECT kanon_page_with_tables.page || jsonb_build_object(
    'parts', (SELECT jsonb_agg(p.page || jsonb_build_object('title', p.title) ORDER BY p.nr) FROM parts p),
    'verdict', (SELECT x.v FROM (SELECT kanon_page_with_tables.page -> 'verdict' AS v UNION ALL SELECT p.page -> 'verdict' FROM parts p) x
                ORDER BY array_position('{no,caution,yes}'::text[], x.v ->> 'verdict') LIMIT 1),
    'front', kanon_page_with_tables.page -> 'front' || jsonb_build_object(
        'verdicts', (SELECT jsonb_agg(y.v ORDER BY y.at) FROM ranked y WHERE y.at <= 5 OR y.kind = 1 AND y.v ->> 'verdict' <> 'yes'),
        'more', (SELECT nullif(count(*) - greatest(least(5, count(*)), count(*) FILTER (WHERE y.kind = 1 AND y.v ->> 'verdict' <> 'yes')), 0) FROM ranked y)))
WHERE kanon_page_with_tables.page #> '{run,tables}' <> 'null'
UNION ALL
SELECT kanon_page_with_tables.page WHERE kanon_page_with_tables.page #> '{run,tables}' = 'null';
END;

COMMENT ON FUNCTION kanon_internal.kanon_page_with_tables(jsonb, float8, float8, boolean, boolean)
IS 'behind kanon_report: adds to the document of a release of several tables those of its tables';

CREATE FUNCTION @extschema@.kanon_report(
    run               bigint,
    with_values       boolean  DEFAULT false,
    frontier          bigint[] DEFAULT NULL,
    threshold         float8   DEFAULT 0.2,
    sampling_fraction float8   DEFAULT NULL,
    metadata          jsonb    DEFAULT NULL,
    compare           boolean  DEFAULT false,
    read_target       boolean  DEFAULT false,
    read_population   boolean  DEFAULT false)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.kanon_page(kanon_internal.kanon_page_with_tables(
    @extschema@.kanon_report_data(run, with_values, frontier, threshold, sampling_fraction, metadata, compare, read_target, read_population),
    threshold, sampling_fraction, read_target, read_population));

COMMENT ON FUNCTION @extschema@.kanon_report(bigint, boolean, bigint[], float8, float8, jsonb, boolean, boolean, boolean)
IS 'a run of yours as one self-contained HTML page, without data values unless they are asked for';
