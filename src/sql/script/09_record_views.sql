CREATE VIEW @extschema@.kanon_usefulness WITH (security_barrier) AS
SELECT run, started_at, run_by, source, target, k, method, row_count, row_types, patterns,
       suppressed_cells,
       suppressed_cells::float8 / nullif((row_count - dropped_rows) * quasi_identifiers, 0) AS suppressed_share,
       usefulness, classes, class_min, class_avg, class_max,
       read_ms, solve_ms, write_ms, verify_ms, dropped_rows, cost, lower_bound, guarantee, gap, proven, nodes,
       peak_memory, discernibility, c_avg, iloss, ncp, coalesce(gcp, (tables OPERATOR(pg_catalog.->>) 'gcp')::float8) AS gcp, precision, entropy, entropy_share, classification,
       kept, options, version, matches,
       CASE WHEN transactions IS NOT NULL THEN transactions OPERATOR(pg_catalog.->>) 'promise'
            WHEN anatomy IS NOT NULL THEN anatomy OPERATOR(pg_catalog.->>) 'promise'
            WHEN mechanism IS NOT NULL THEN mechanism OPERATOR(pg_catalog.->>) 'promise'
            WHEN tables IS NOT NULL THEN tables OPERATOR(pg_catalog.->>) 'promise'
            WHEN matches IS NOT NULL THEN pg_catalog.format(
           CASE method
               WHEN 'one_k' THEN 'freeform: no classes; every row matches at least %s records, a record may show one row alone'
               WHEN 'k_one' THEN 'freeform: no classes; every record shows at least %s rows, a row may match one record alone'
               ELSE 'freeform: no classes; every row matches at least %s records, every record shows at least %s rows'
           END, matches, matches) END AS note,
       transactions, model, publication, target_oid, anatomy, mechanism, tables, disclosure
FROM @extschema@.kanon_run
WHERE pg_catalog.pg_has_role(run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_columns WITH (security_barrier) AS
SELECT c.run, c.name AS column_name, c.type, c.suppressed + c.nulls AS suppressed,
       (c.suppressed + c.nulls)::float8 / nullif(r.row_count - r.dropped_rows, 0) AS share,
       c.distinct_before, c.distinct_after, c.ncp, c.ordinal, c.numerical, c.kept,
       r.row_count - r.dropped_rows - c.kept - c.suppressed - c.nulls AS generalised, c.levels, c.nulls
FROM @extschema@.kanon_run_column c
JOIN @extschema@.kanon_run r USING (run)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_equivalence_classes WITH (security_barrier) AS
SELECT r.run, c.class, c.pattern, c.row_count, c.suppressed_cells, c.tuple_diversity, c.shown,
       CASE WHEN r.transactions IS NOT NULL THEN 'sets of items have no classes; see kanon_check_transactions'
            WHEN r.tables IS NOT NULL THEN 'a release of several tables has classes in each; see their runs'
            WHEN r.mechanism IS NOT NULL THEN 'rows that are drawn by chance have no classes; the promise is of how they are drawn'
            WHEN r.anatomy IS NOT NULL THEN 'the rows of two tables have no classes; they are in groups by their sensitive values'
            WHEN r.matches IS NOT NULL THEN 'a freeform release has no classes; see kanon_check_freeform' END AS note
FROM @extschema@.kanon_run r
LEFT JOIN @extschema@.kanon_run_class c USING (run)
WHERE (c.run IS NOT NULL OR r.matches IS NOT NULL OR r.transactions IS NOT NULL OR r.anatomy IS NOT NULL OR r.mechanism IS NOT NULL OR r.tables IS NOT NULL) AND pg_catalog.pg_has_role(r.run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_run_relations WITH (security_barrier) AS
SELECT r.run, e.relation ->> 'part' AS part, e.relation ->> 'name' AS name, (e.relation ->> 'oid')::oid AS relation,
       (e.relation ->> 'kind')::"char" AS kind, (e.relation ->> 'owner')::oid::regrole AS owner
FROM @extschema@.kanon_run r CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(r.relations) AS e (relation)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

GRANT SELECT ON @extschema@.kanon_usefulness, @extschema@.kanon_columns, @extschema@.kanon_equivalence_classes, @extschema@.kanon_run_relations TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_usefulness IS 'one row per run that you or a role of yours made: its loss, the sizes of its classes, its times';
COMMENT ON COLUMN @extschema@.kanon_usefulness.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_usefulness.started_at IS 'when it began';
COMMENT ON COLUMN @extschema@.kanon_usefulness.run_by IS 'the role that made it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.source IS 'the published relation, qualified';
COMMENT ON COLUMN @extschema@.kanon_usefulness.target IS 'the table that was written, qualified';
COMMENT ON COLUMN @extschema@.kanon_usefulness.k IS 'rows that every class has at least';
COMMENT ON COLUMN @extschema@.kanon_usefulness.method IS 'how the release was found';
COMMENT ON COLUMN @extschema@.kanon_usefulness.row_count IS 'rows of the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.row_types IS 'different combinations of quasi-identifiers in the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.patterns IS 'patterns that were allowed; NULL: more than were counted';
COMMENT ON COLUMN @extschema@.kanon_usefulness.suppressed_cells IS 'cells of quasi-identifiers that the release has emptied, not those that show a NULL of the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.suppressed_share IS 'their share of all cells of quasi-identifiers of the target';
COMMENT ON COLUMN @extschema@.kanon_usefulness.usefulness IS 'mean tuple diversity: in how many columns rows of a class agree';
COMMENT ON COLUMN @extschema@.kanon_usefulness.classes IS 'equivalence classes; NULL for a run without classes';
COMMENT ON COLUMN @extschema@.kanon_usefulness.class_min IS 'rows of the smallest class';
COMMENT ON COLUMN @extschema@.kanon_usefulness.class_avg IS 'rows of a class on average';
COMMENT ON COLUMN @extschema@.kanon_usefulness.class_max IS 'rows of the largest class';
COMMENT ON COLUMN @extschema@.kanon_usefulness.read_ms IS 'milliseconds for reading the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.solve_ms IS 'milliseconds for finding the release';
COMMENT ON COLUMN @extschema@.kanon_usefulness.write_ms IS 'milliseconds for writing the target';
COMMENT ON COLUMN @extschema@.kanon_usefulness.verify_ms IS 'milliseconds for reading it again and checking it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.dropped_rows IS 'rows of the source that were left out';
COMMENT ON COLUMN @extschema@.kanon_usefulness.cost IS 'the loss, as the method counts it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.lower_bound IS 'no release under the same rules costs less; NULL: not known';
COMMENT ON COLUMN @extschema@.kanon_usefulness.guarantee IS 'cost is at most so many times the optimum; NULL: not promised';
COMMENT ON COLUMN @extschema@.kanon_usefulness.gap IS 'how far cost may be above the optimum, as a share of the bound';
COMMENT ON COLUMN @extschema@.kanon_usefulness.proven IS 'whether no release under the same rules costs less';
COMMENT ON COLUMN @extschema@.kanon_usefulness.nodes IS 'nodes of the search';
COMMENT ON COLUMN @extschema@.kanon_usefulness.peak_memory IS 'most bytes that kanon itself held';
COMMENT ON COLUMN @extschema@.kanon_usefulness.discernibility IS 'discernibility metric: rows that each row cannot be told from';
COMMENT ON COLUMN @extschema@.kanon_usefulness.c_avg IS 'normalized average class size';
COMMENT ON COLUMN @extschema@.kanon_usefulness.iloss IS 'information loss by ILoss';
COMMENT ON COLUMN @extschema@.kanon_usefulness.ncp IS 'normalized certainty penalty';
COMMENT ON COLUMN @extschema@.kanon_usefulness.gcp IS 'global certainty penalty: its share of the most there could be';
COMMENT ON COLUMN @extschema@.kanon_usefulness.precision IS 'precision: share of the hierarchies that is left';
COMMENT ON COLUMN @extschema@.kanon_usefulness.entropy IS 'non-uniform entropy lost';
COMMENT ON COLUMN @extschema@.kanon_usefulness.entropy_share IS 'its share of what suppressing everything would lose';
COMMENT ON COLUMN @extschema@.kanon_usefulness.classification IS 'classification metric of class_column';
COMMENT ON COLUMN @extschema@.kanon_usefulness.kept IS 'columns that were written beside the quasi-identifiers, unchanged or masked';
COMMENT ON COLUMN @extschema@.kanon_usefulness.options IS 'the arguments of the call, without data values, and which kept columns are called like names of persons';
COMMENT ON COLUMN @extschema@.kanon_usefulness.version IS 'the version of kanon that made it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.matches IS 'runs without classes: records that each row matches, or rows that each record matches';
COMMENT ON COLUMN @extschema@.kanon_usefulness.note IS 'runs without classes: a remark on how to read it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.transactions IS 'runs over sets of items: what the sets lost';
COMMENT ON COLUMN @extschema@.kanon_usefulness.anatomy IS 'runs that published two tables: the second table and its groups';
COMMENT ON COLUMN @extschema@.kanon_usefulness.mechanism IS 'runs that drew rows at random: the parameters of the draw';
COMMENT ON COLUMN @extschema@.kanon_usefulness.tables IS 'releases of several tables: these with their runs, and what was counted over all of them';
COMMENT ON COLUMN @extschema@.kanon_usefulness.model IS 'the function that made it, without kanon_';
COMMENT ON COLUMN @extschema@.kanon_usefulness.publication IS 'the publication whose release it was; NULL: none';
COMMENT ON COLUMN @extschema@.kanon_usefulness.target_oid IS 'the table itself, whatever has its name today';
COMMENT ON COLUMN @extschema@.kanon_usefulness.disclosure IS 'of each kept column: classes in which all rows, or nine of ten, have one value; classes of fewer than k persons, where it repeats as a person would';
COMMENT ON VIEW @extschema@.kanon_columns IS 'one row per quasi-identifier of the runs in kanon_usefulness: the cells that it shows, generalises and suppresses';
COMMENT ON COLUMN @extschema@.kanon_columns.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_columns.column_name IS 'the quasi-identifier';
COMMENT ON COLUMN @extschema@.kanon_columns.type IS 'its type in the source';
COMMENT ON COLUMN @extschema@.kanon_columns.suppressed IS 'cells of it that are empty in the target, those that were NULL in the source among them';
COMMENT ON COLUMN @extschema@.kanon_columns.nulls IS 'of these the ones that were NULL in the source, and show just that';
COMMENT ON COLUMN @extschema@.kanon_columns.share IS 'their share of the rows of the target';
COMMENT ON COLUMN @extschema@.kanon_columns.distinct_before IS 'different values in the source';
COMMENT ON COLUMN @extschema@.kanon_columns.distinct_after IS 'different values in the target';
COMMENT ON COLUMN @extschema@.kanon_columns.ncp IS 'normalized certainty penalty of the column';
COMMENT ON COLUMN @extschema@.kanon_columns.ordinal IS 'its place among the quasi-identifiers, from 1';
COMMENT ON COLUMN @extschema@.kanon_columns.numerical IS 'whether it is measured as a number';
COMMENT ON COLUMN @extschema@.kanon_columns.kept IS 'cells of it that show their value';
COMMENT ON COLUMN @extschema@.kanon_columns.generalised IS 'cells of it that show something coarser: a level, a range, a set';
COMMENT ON COLUMN @extschema@.kanon_columns.levels IS 'names of its hierarchy''s levels, from 1';
COMMENT ON VIEW @extschema@.kanon_run_relations IS 'relations that the runs in kanon_usefulness read and wrote, as they were then';
COMMENT ON COLUMN @extschema@.kanon_run_relations.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_run_relations.part IS 'source, target, or option: named by an option, as a hierarchy or a population is';
COMMENT ON COLUMN @extschema@.kanon_run_relations.name IS 'its name then, qualified';
COMMENT ON COLUMN @extschema@.kanon_run_relations.relation IS 'its number (OID): another relation may have the name today';
COMMENT ON COLUMN @extschema@.kanon_run_relations.kind IS 'as in pg_class.relkind: r a table, v a view, m a materialized view, f a foreign, p a partitioned table';
COMMENT ON COLUMN @extschema@.kanon_run_relations.owner IS 'its owner then';
COMMENT ON VIEW @extschema@.kanon_equivalence_classes IS 'one row per equivalence class of the runs in kanon_usefulness; a run without classes has one row with a note';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.class IS 'number of the class within the run';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.pattern IS 'pattern of the class: a symbol for each quasi-identifier';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.row_count IS 'its rows';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.suppressed_cells IS 'cells of them that show nothing';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.tuple_diversity IS 'in how many columns its rows agree, by weight';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.shown IS 'values that its rows show';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.note IS 'says that the run has no classes';
