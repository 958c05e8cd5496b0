/* ---- hierarchies: tables that say how the values of a column generalize ---- */

CREATE FUNCTION @extschema@.kanon_check_hierarchy(
    relation          regclass,
    source            regclass,
    column_name       name,
    with_values       boolean  DEFAULT false)
RETURNS TABLE (fault text, level int, fault_count bigint, row_count bigint, detail text, shown jsonb)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check_hierarchy';

COMMENT ON FUNCTION @extschema@.kanon_check_hierarchy(regclass, regclass, name, boolean)
IS 'faults of a hierarchy for a column of a source; if it lists unused lines only, the hierarchy can be used';

CREATE FUNCTION @extschema@.kanon_hierarchy_interval(
    source            regclass,
    column_name       name,
    target            text,
    widths            numeric[],
    origin            numeric  DEFAULT 0,
    lower             numeric  DEFAULT NULL,
    upper             numeric  DEFAULT NULL,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_interval';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_interval(regclass, name, text, numeric[], numeric, numeric, numeric, boolean)
IS 'writes a hierarchy of intervals of equal width for a column of numbers, dates or timestamps';

CREATE FUNCTION @extschema@.kanon_hierarchy_prefix(
    source            regclass,
    column_name       name,
    target            text,
    keep              int[],
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_prefix';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_prefix(regclass, name, text, int[], boolean)
IS 'writes a hierarchy of first characters (zip codes) or of networks (addresses) for a column';

CREATE FUNCTION @extschema@.kanon_hierarchy_date(
    source            regclass,
    column_name       name,
    target            text,
    levels            text[]   DEFAULT '{month,quarter,year,decade}',
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_date';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_date(regclass, name, text, text[], boolean)
IS 'writes a hierarchy of calendar units for a column of dates or timestamps';

CREATE FUNCTION @extschema@.kanon_hierarchy_quantile(
    source            regclass,
    column_name       name,
    target            text,
    groups            int[],
    k                 bigint   DEFAULT 5,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_quantile';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_quantile(regclass, name, text, int[], bigint, boolean)
IS 'writes a hierarchy of groups of equal frequency for a column whose values have an order';

CREATE FUNCTION @extschema@.kanon_hierarchy_from_fk(
    source            regclass,
    column_name       name,
    target            text,
    lookup            regclass DEFAULT NULL,
    key               name     DEFAULT NULL,
    parent            name     DEFAULT NULL,
    label             name     DEFAULT NULL,
    above             regclass DEFAULT NULL,
    above_key         name     DEFAULT NULL,
    above_label       name     DEFAULT NULL,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_from_fk';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_from_fk(regclass, name, text, regclass, name, name, name, regclass, name, name, boolean)
IS 'writes the hierarchy that a lookup table which points to its own parents or to another table, or a path of labels, has for a column';
