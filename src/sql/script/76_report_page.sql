CREATE FUNCTION @extschema@.kanon_page(document jsonb)
RETURNS text
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_page';

COMMENT ON FUNCTION @extschema@.kanon_page(jsonb)
IS 'a document of kanon_report_data as a self-contained HTML page';

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
RETURN @extschema@.kanon_page(@extschema@.kanon_report_data(run, with_values, frontier, threshold, sampling_fraction, metadata, compare, read_target, read_population));

COMMENT ON FUNCTION @extschema@.kanon_report(bigint, boolean, bigint[], float8, float8, jsonb, boolean, boolean, boolean)
IS 'a run of yours as one self-contained HTML page, without data values unless they are asked for';
