/*
 * Risk before and after a run, from what was recorded: neither the source nor
 * the target needs to be there any more.
 */
CREATE VIEW @extschema@.kanon_class_sizes WITH (security_barrier) AS
SELECT r.run, s.size_from,
       pg_catalog.lead(s.size_from) OVER (PARTITION BY r.run ORDER BY s.size_from) - 1 AS size_to,
       s.source_classes, s.source_rows,
       CASE WHEN r.matches IS NULL THEN s.target_classes END AS target_classes,
       CASE WHEN r.matches IS NULL THEN s.target_rows END AS target_rows
FROM @extschema@.kanon_run r
CROSS JOIN LATERAL ROWS FROM (
    pg_catalog.unnest(r.size_from), pg_catalog.unnest(r.source_size_classes), pg_catalog.unnest(r.source_size_rows),
    pg_catalog.unnest(r.target_size_classes), pg_catalog.unnest(r.target_size_rows))
    AS s (size_from, source_classes, source_rows, target_classes, target_rows)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

-- named as in kanon_risk
CREATE VIEW @extschema@.kanon_run_risk WITH (security_barrier) AS
SELECT r.run, v.stage, v.row_count, s.classes + b.classes AS classes,
       b.k, s.unique_rows + b.unique_rows AS unique_rows, v.blank_rows, s.below_k + b.below_k AS below_k,
       (s.below_k + b.below_k)::float8 / nullif(v.row_count, 0) AS share_below_k,
       1 / b.k::float8 AS prosecutor_highest, (s.classes + b.classes)::float8 / nullif(v.row_count, 0) AS prosecutor_average
FROM @extschema@.kanon_run r
CROSS JOIN LATERAL (VALUES
    ('source', r.row_count, r.source_class_min, r.source_blank_rows, r.source_size_classes, r.source_size_rows),
    ('target', r.row_count - r.dropped_rows, r.target_class_min, r.target_blank_rows, r.target_size_classes, r.target_size_rows))
    AS v (stage, row_count, k, blank_rows, classes, class_rows)
CROSS JOIN LATERAL (
    SELECT pg_catalog.sum(u.classes)::bigint AS classes,
           pg_catalog.sum(u.class_rows) FILTER (WHERE u.size_from = 1)::bigint AS unique_rows,
           coalesce(pg_catalog.sum(u.class_rows) FILTER (WHERE u.size_from < r.k), 0)::bigint AS below_k
    FROM ROWS FROM (pg_catalog.unnest(r.size_from), pg_catalog.unnest(v.classes), pg_catalog.unnest(v.class_rows))
         AS u (size_from, classes, class_rows)) s
-- the blank rows are a class like any other
CROSS JOIN LATERAL (
    SELECT least(v.k, nullif(v.blank_rows, 0)) AS k, CASE WHEN v.blank_rows > 0 THEN 1 ELSE 0 END AS classes,
           CASE WHEN v.blank_rows = 1 THEN 1 ELSE 0 END AS unique_rows,
           CASE WHEN v.blank_rows < r.k THEN v.blank_rows ELSE 0 END AS below_k) b
-- what is told by classes does not hold for a freeform release
WHERE (v.stage OPERATOR(pg_catalog.=) 'source' OR r.matches IS NULL) AND pg_catalog.pg_has_role(r.run_by, 'MEMBER');

GRANT SELECT ON @extschema@.kanon_class_sizes, @extschema@.kanon_run_risk TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_class_sizes IS 'how many classes and rows of which size the source had and the target has, of the runs in kanon_usefulness; rows that show nothing aside';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.size_from IS 'least rows of the classes that are counted';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.size_to IS 'most rows of them; NULL: no limit';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.source_classes IS 'how many the source had';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.source_rows IS 'rows in them';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.target_classes IS 'how many the target has; NULL for a run without classes';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.target_rows IS 'rows in them';
COMMENT ON VIEW @extschema@.kanon_run_risk IS 'the risk of being singled out before and after the runs in kanon_usefulness, as kanon_risk would have told then';
COMMENT ON COLUMN @extschema@.kanon_run_risk.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_run_risk.stage IS 'source or target';
COMMENT ON COLUMN @extschema@.kanon_run_risk.row_count IS 'rows';
COMMENT ON COLUMN @extschema@.kanon_run_risk.classes IS 'equivalence classes';
COMMENT ON COLUMN @extschema@.kanon_run_risk.k IS 'rows of the smallest one';
COMMENT ON COLUMN @extschema@.kanon_run_risk.unique_rows IS 'rows alone in their class';
COMMENT ON COLUMN @extschema@.kanon_run_risk.blank_rows IS 'rows that show nothing';
COMMENT ON COLUMN @extschema@.kanon_run_risk.below_k IS 'rows in classes of fewer than k';
COMMENT ON COLUMN @extschema@.kanon_run_risk.share_below_k IS 'their share of all rows';
COMMENT ON COLUMN @extschema@.kanon_run_risk.prosecutor_highest IS 'the highest chance of telling which row is a person''s';
COMMENT ON COLUMN @extschema@.kanon_run_risk.prosecutor_average IS 'the average chance';
