/* ---- the page: a document that says what a run did, and its template ---- */

/*
 * Bound when it is made: nothing in the caller's search_path is met, but by kanon_frontier
 * and kanon_risk, which read relations as the caller.  A sentence says what is so of the
 * run at hand, whichever function, method and rules made it; its claim says the same to a
 * program, so that it can be compared with the table.
 */
-- what the functions below are asked; before anything is looked at
CREATE FUNCTION kanon_internal.kanon_page_asked(frontier bigint[], threshold float8, metadata jsonb, methods text[])
RETURNS boolean
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_page_asked';

COMMENT ON FUNCTION kanon_internal.kanon_page_asked(bigint[], float8, jsonb, text[])
IS 'behind kanon_report, kanon_report_data and kanon_explore: raises what is wrong with their arguments';

/*
 * The page is about the record.  What a run has read and written is read again when the caller asks for that,
 * and only where it is still what the run has recorded, and nobody else's code can run.
 */
CREATE FUNCTION kanon_internal.kanon_recorded(relations jsonb)
RETURNS TABLE (part text, name text, relation regclass, why_not text)
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_recorded';

COMMENT ON FUNCTION kanon_internal.kanon_recorded(jsonb)
IS 'behind kanon_report_data: relations as a run has recorded them, and why one of them is not to be read';

-- a number as people read it, and a share; that of a risk is never told lower than it is
CREATE FUNCTION kanon_internal.kanon_counted(number bigint)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(number, 'FM999,999,999,999,999,990');

COMMENT ON FUNCTION kanon_internal.kanon_counted(bigint)
IS 'behind kanon_report_data: a number with commas';

CREATE FUNCTION kanon_internal.kanon_share_up(part float8, whole float8)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(CASE WHEN whole > 0 THEN least(ceil(1000 * part / whole - 1e-9) / 10, 100) ELSE 0 END, 'FM990.0') || ' %';

COMMENT ON FUNCTION kanon_internal.kanon_share_up(float8, float8)
IS 'behind kanon_report_data: a share in percent, rounded up';

-- an epsilon as the factor that it stands for, never told lower than it is: nobody reads an exponent
CREATE FUNCTION kanon_internal.kanon_factor(epsilon float8)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN CASE WHEN epsilon > 27 THEN 'more than 500,000,000,000' WHEN epsilon < 3 THEN 'up to ' || to_char(ceil(100 * exp(epsilon) - 1e-9) / 100, 'FM990.00')
            ELSE 'up to ' || to_char(ceil(exp(epsilon) - 1e-9), 'FM999,999,999,999,990') END;

COMMENT ON FUNCTION kanon_internal.kanon_factor(float8)
IS 'behind kanon_report_data and kanon_budget_report: exp(epsilon) in words, rounded up';

CREATE FUNCTION @extschema@.kanon_report_data(
    run               bigint,
    with_values       boolean  DEFAULT false,
    frontier          bigint[] DEFAULT NULL,
    threshold         float8   DEFAULT 0.2,
    sampling_fraction float8   DEFAULT NULL,
    metadata          jsonb    DEFAULT NULL,
    compare           boolean  DEFAULT false,
    read_target       boolean  DEFAULT false,
    read_population   boolean  DEFAULT false)
RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
-- whatever is read in the end is looked at again when it is opened
SET kanon.read_strangers = off
-- compiling the plan takes many times as long as the page, and no cancel ends it
SET jit = off
-- what a figure needs is read several times, and each time would say the same
SET client_min_messages = warning
BEGIN ATOMIC
WITH -- what the schema of these functions is called today
home AS (
    SELECT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'kanon'),
r AS (
    SELECT u.*, coalesce((u.mechanism ->> 'rows')::bigint, (u.tables ->> 'published')::bigint, u.row_count - u.dropped_rows) AS published_rows,
           to_char(u.started_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS started,
           coalesce(u.options -> 'privacy', '[]') AS privacy,
           u.transactions IS NULL AND u.matches IS NULL AND u.anatomy IS NULL AND u.mechanism IS NULL AND u.tables IS NULL AS has_classes,
           -- k is counted in a population, or in persons, instead of rows
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "k_map").population') #>> '{}' AS population,
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "k_map" || @.rule == "delta_presence").population') #>> '{}' AS any_population,
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "k_map").subject') #>> '{}' AS population_subject,
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "subject").column') #>> '{}' AS subject,
           -- or asked of what somebody may know together
           concat_ws(', or ', 'any ' || (u.options ->> 'known_columns') || ' or fewer',
                     (SELECT string_agg(x.word, ' or ' ORDER BY x.nr) FROM jsonb_array_elements_text(u.options -> 'combinations') WITH ORDINALITY AS x (word, nr))) AS known,
           u.options ?| ARRAY['known_columns', 'combinations'] AS few_known,
           CASE WHEN u.options ->> 'missing' = 'value' AND u.model = 'pattern_guided' THEN 'marked' ELSE coalesce(u.options ->> 'missing', 'aside') END AS few_missing,
           -- or of persons, over the tables of one release
           CASE WHEN u.tables IS NOT NULL THEN u.options WHEN u.options #> '{linked,promised}' = 'true' THEN u.options -> 'linked' END AS linked,
           l.source_now, l.source_not,
           -- of a protected publication, who is shown otherwise than in the source
           coalesce(u.options -> 'held_back', u.tables -> 'held_back') AS held,
           -- of a publication, what it is made of: its own relations have private names
           d.oid AS described, obj_description(d.oid, 'pg_class') AS comment,
           CASE WHEN u.publication IS NULL THEN u.source ELSE d.name END AS made_of,
           l.target_now, l.target_not, l.beside_now, l.beside_not, l.named_now, l.named_not,
           p.release, p.status AS release_status, to_char(p.checked AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS checked
    FROM @extschema@.kanon_usefulness u
    -- what is asked for beside the record
    LEFT JOIN LATERAL (
        SELECT max(x.relation::oid) FILTER (WHERE x.part = 'source')::regclass AS source_now, max(x.why_not) FILTER (WHERE x.part = 'source') AS source_not,
               max(x.relation::oid) FILTER (WHERE x.part = 'target')::regclass AS target_now, max(x.why_not) FILTER (WHERE x.part = 'target') AS target_not,
               max(x.relation::oid) FILTER (WHERE x.part = 'beside')::regclass AS beside_now, max(x.why_not) FILTER (WHERE x.part = 'beside') AS beside_not,
               jsonb_object_agg(x.name, x.relation::oid) FILTER (WHERE x.part = 'option' AND x.relation IS NOT NULL) AS named_now,
               jsonb_object_agg(x.name, x.why_not) FILTER (WHERE x.part = 'option' AND x.why_not IS NOT NULL) AS named_not
        FROM kanon_internal.kanon_recorded((
            SELECT jsonb_agg(jsonb_build_object('part', e.part, 'name', e.name, 'oid', e.relation::text, 'kind', e.kind, 'owner', e.owner::oid::text))
            FROM @extschema@.kanon_run_relations e
            -- (rows of persons without quasi-identifiers have no classes to count)
            WHERE e.run = u.run AND NOT (e.part = 'target' AND u.options #> '{linked,promised}' = 'true' AND NOT EXISTS (SELECT FROM @extschema@.kanon_columns c WHERE c.run = u.run))
              AND CASE e.part WHEN 'source' THEN kanon_report_data.compare OR kanon_report_data.frontier IS NOT NULL
                                  WHEN 'target' THEN kanon_report_data.compare OR kanon_report_data.read_target OR kanon_report_data.read_population
                                  WHEN 'beside' THEN kanon_report_data.read_target
                                  ELSE kanon_report_data.compare OR kanon_report_data.frontier IS NOT NULL OR kanon_report_data.read_population END)) AS x) l ON true
    LEFT JOIN LATERAL (
        SELECT v.source::oid AS oid FROM @extschema@.kanon_publications v
        WHERE u.publication IS NOT NULL AND v.publication = u.publication) v ON true
    LEFT JOIN LATERAL (
        SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = CASE WHEN u.publication IS NULL THEN (
                SELECT e.relation FROM @extschema@.kanon_run_relations e WHERE e.run = u.run AND e.part = 'source' AND e.name = format('%I.%I', n.nspname, c.relname))
            ELSE v.oid END) d ON true
    LEFT JOIN LATERAL (
        SELECT l.release, l.status, l.checked FROM @extschema@.kanon_releases l
        WHERE u.publication IS NOT NULL AND l.relation::oid = u.target_oid) p ON true
    WHERE u.run = kanon_report_data.run
      AND kanon_internal.kanon_page_asked(kanon_report_data.frontier, kanon_report_data.threshold, kanon_report_data.metadata, '{any}'::text[])),
-- who is shown as before, not at all, or though gone
held AS (
    SELECT h.*, CASE WHEN h.among IS NOT NULL AND h.persons = 0 THEN 'Nobody waits to be shown.'
               WHEN h.among IS NOT NULL THEN format('%s to be shown, until others are there with the values among which a person stays; the first for %s.',
                      CASE h.persons WHEN 1 THEN '1 person waits' ELSE to_char(h.persons, 'FM999,999,999,999,999,990') || ' persons wait' END, CASE h.oldest WHEN 1 THEN '1 release' ELSE h.oldest || ' releases' END)
               WHEN h.persons = 0 THEN 'Nobody is held back.' ELSE
               format('%s held back, so that no difference between two releases points at fewer than %s persons; the first of them for %s. ',
                      CASE h.persons WHEN 1 THEN '1 person is' ELSE to_char(h.persons, 'FM999,999,999,999,999,990') || ' persons are' END, h.k, CASE h.oldest WHEN 1 THEN '1 release' ELSE h.oldest || ' releases' END)
               || format('Still shown though the source has them no more: %s%s. In the source and not shown: %s. Shown as they were before: %s.',
                      to_char(h.gone, 'FM999,999,999,999,999,990'), CASE WHEN h.gone_rows > 0 THEN ' (' || to_char(h.gone_rows, 'FM999,999,999,999,999,990') || CASE h.gone_rows WHEN 1 THEN ' row)' ELSE ' rows)' END ELSE '' END,
                      to_char(h.waiting, 'FM999,999,999,999,999,990'), to_char(h.persons - h.gone - h.waiting, 'FM999,999,999,999,999,990')) END AS says
    FROM (SELECT (r.held ->> 'persons')::bigint AS persons, (r.held ->> 'oldest')::bigint AS oldest, (r.held ->> 'waiting')::bigint AS waiting, (r.held ->> 'gone')::bigint AS gone,
                 (r.held ->> 'gone_rows')::bigint AS gone_rows, (r.held ->> 'source_rows')::bigint AS source_rows, coalesce((r.linked ->> 'k')::bigint, r.k) AS k,
                 (r.held ->> 'among')::int AS among, jsonb_path_query_first(r.privacy, '$[*] ? (@.rule == "distinct_l").column') #>> '{}' AS protected
          FROM r WHERE r.held IS NOT NULL) h),
columns AS (
    SELECT c.*, d.levels_shown, col_description(a.attrelid, a.attnum) AS comment,
           quote_ident(c.column_name) AS name
    FROM r JOIN @extschema@.kanon_columns c ON c.run = r.run
    LEFT JOIN pg_attribute a ON a.attrelid = r.described AND a.attname = c.column_name AND a.attnum > 0
    -- what its cells show, from the patterns of the classes
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('level', l.nr, 'name', l.name, 'cells', coalesce(e.cells, 0),
                                            'share', coalesce(e.cells, 0) / nullif(r.published_rows, 0)::float8)
                         ORDER BY l.nr) AS levels_shown
        FROM unnest(c.levels) WITH ORDINALITY AS l (name, nr),
             LATERAL (SELECT sum(q.row_count)::bigint AS cells FROM @extschema@.kanon_equivalence_classes q
                      WHERE q.run = r.run AND strpos('123456789ABCDEFGHIJKLMNOPQRSTUVW', substr(q.pattern, c.ordinal, 1)) = l.nr
                        -- (a level of NULL is an empty cell)
                        AND q.shown ->> c.column_name::text IS NOT NULL) e) d ON true),
kept AS (
    SELECT k.name, k.nr, quote_ident(k.name) AS quoted,
           coalesce(r.options -> 'allow_identifying', '[]') ? k.name AS allowed,
           ARRAY(SELECT x ->> 'says' FROM jsonb_array_elements(r.privacy) AS x
                 WHERE x ->> 'column' = k.name OR x -> 'columns' ? k.name) AS rules,
           coalesce(r.options #> '{linked,keys}' ? k.name::text, false) AS is_key,
           -- what became of its values; NULL: nothing
           CASE WHEN r.options #> '{linked,keys}' ? k.name::text THEN 'a pseudonym in place of the key'
                WHEN m.mask IS NULL THEN NULL
                ELSE coalesce(nullif(concat_ws(', ',
                    CASE WHEN m.mask = '"pseudonym"' OR m.mask ? 'pseudonym' THEN 'a pseudonym, ' || CASE m.mask ->> 'pseudonym' WHEN 'publication' THEN 'the same in every release' ELSE 'for this release alone' END END,
                    'rounded to ' || (m.mask ->> 'round'),
                    'cut above ' || CASE WHEN m.mask -> 'top' < '1' AND m.mask -> 'top' > '0' THEN 'the quantile ' ELSE '' END || (m.mask ->> 'top'),
                    'cut below ' || CASE WHEN m.mask -> 'bottom' < '1' AND m.mask -> 'bottom' > '0' THEN 'the quantile ' ELSE '' END || (m.mask ->> 'bottom'),
                    'its first ' || (m.mask -> 'partial' ->> 0) || ' and last ' || (m.mask -> 'partial' ->> 1) || ' characters',
                    'shifted by up to ' || (m.mask ->> 'days') || ' days',
                    'with noise of ' || (m.mask ->> 'noise') || CASE WHEN m.mask ? 'by' THEN '' ELSE ' of its standard deviation' END,
                    'swapped within ' || (m.mask ->> 'swap') || ' % of the ranks',
                    CASE WHEN m.mask ? 'pram' THEN 'changed by chance' END,
                    'the ' || coalesce(m.mask ->> 'show', 'mean') || ' of at least ' || (m.mask ->> 'microaggregate') || ' rows' || CASE m.mask ->> 'show' WHEN 'median' THEN ', the exact value of one of them' ELSE '' END,
                    'the same for one value of one ' || quote_ident(m.mask ->> 'by') || ' in every release',
                    CASE WHEN m.mask ? 'constant' THEN 'the same in every row' END), ''), 'masked: ' || m.mask::text) END AS done,
           -- can its values be compared?
           EXISTS (SELECT FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
                   LEFT JOIN pg_type b ON b.oid = y.typbasetype
                   WHERE a.attrelid = r.target_now AND a.attname = k.name AND a.attnum > 0
                     AND (coalesce(b.typtype, y.typtype) = 'e' OR EXISTS (
                          SELECT FROM pg_opclass o WHERE o.opcmethod = 403 AND o.opcdefault
                             AND (o.opcintype = coalesce(b.oid, y.oid)
                               OR coalesce(b.oid, y.oid) = 'varchar'::regtype AND o.opcintype = 'text'::regtype)))) AS comparable
    FROM r, unnest(r.kept) WITH ORDINALITY AS k (name, nr), LATERAL (SELECT r.options -> 'mask' -> k.name::text AS mask) m),
-- what classes give away of each, counted when they were written
disclosed AS (
    SELECT d.e ->> 'column' AS name, quote_ident(d.e ->> 'column') AS quoted, (r.disclosure ->> 'classes')::bigint AS classes,
           (d.e ->> 'one_classes')::bigint AS one_classes, (d.e ->> 'one_rows')::bigint AS one_rows, (d.e ->> 'most_classes')::bigint AS most_classes, (d.e ->> 'most_rows')::bigint AS most_rows,
           -- where it repeats as a person would
           (d.e ->> 'least_persons')::bigint AS least, (d.e ->> 'single_classes')::bigint AS single_classes, (d.e ->> 'few_classes')::bigint AS few_classes, (d.e ->> 'few_rows')::bigint AS few_rows
    FROM r, jsonb_array_elements(r.disclosure -> 'columns') AS d (e)),
-- whom the table itself tells apart
persons AS (
    SELECT k.name::name, k.comparable FROM r JOIN kept k ON k.name = r.subject AND (k.done IS NULL OR k.done LIKE 'a pseudonym%')),
risk AS (
    SELECT jsonb_object_agg(x.stage, to_jsonb(x)) AS stages,
           max(x.k) FILTER (WHERE x.stage = 'target') AS least,
           max(x.blank_rows) FILTER (WHERE x.stage = 'target') AS blank
    FROM r JOIN @extschema@.kanon_run_risk x ON x.run = r.run),
sizes AS (
    SELECT s.*, s.size_from || CASE WHEN s.size_to IS NULL THEN ' rows or more' WHEN s.size_to > s.size_from THEN ' to ' || s.size_to || ' rows' WHEN s.size_from = 1 THEN ' row' ELSE ' rows' END AS label,
           row_number() OVER (ORDER BY s.size_from) = 1 OR s.size_to IS NULL OR s.size_from = r.k AS marked,
           ln(s.size_from) / nullif(ln(max(s.size_from) OVER ()), 0) AS place,
           coalesce(sum(s.source_rows) OVER before, 0) / nullif(r.row_count, 0)::float8 AS source_riskier,
           coalesce(sum(s.target_rows) OVER before, 0) / nullif(r.published_rows, 0)::float8 AS target_riskier
    FROM r JOIN @extschema@.kanon_class_sizes s ON s.run = r.run
    WINDOW before AS (ORDER BY s.size_from ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
patterns AS (
    SELECT p.*, p.row_count / nullif(r.published_rows, 0)::float8 AS share,
           row_number() OVER (ORDER BY p.row_count DESC, p.first) AS place,
           coalesce((SELECT string_agg(c.name || CASE substr(p.pattern, c.ordinal, 1)
                                       WHEN '*' THEN ' empty' WHEN '~' THEN ' as a range or a set'
                                       ELSE ' as ' || c.levels[strpos('123456789ABCDEFGHIJKLMNOPQRSTUVW', substr(p.pattern, c.ordinal, 1))] END, '; ' ORDER BY c.ordinal)
                     FROM columns c WHERE substr(p.pattern, c.ordinal, 1) <> '-'), 'every column as it was') AS words
    FROM r, LATERAL (
        SELECT q.pattern, count(*) AS classes, sum(q.row_count)::bigint AS row_count,
               sum(q.suppressed_cells)::bigint AS suppressed_cells, min(q.class) AS first
        FROM @extschema@.kanon_equivalence_classes q WHERE q.run = r.run AND q.class IS NOT NULL GROUP BY q.pattern) p),
-- what the commonest pattern that changes something makes of made-up values
example AS (
    SELECT c.ordinal, c.name, CASE WHEN x.shown IS NOT NULL THEN x.value END AS value,
           CASE l.symbol WHEN '-' THEN 'as it was' WHEN '*' THEN 'empty' WHEN '~' THEN 'in a range or a set' ELSE coalesce(x.shown, 'as ' || l.level) END AS shown,
           l.share, l.changes
    FROM r, columns c,
         LATERAL (SELECT substr(p.pattern, c.ordinal, 1) AS symbol, CASE WHEN substr(p.pattern, c.ordinal, 1) ~ '[1-9A-W]' THEN c.levels[strpos('123456789ABCDEFGHIJKLMNOPQRSTUVW', substr(p.pattern, c.ordinal, 1))]::text END AS level,
                         p.share, p.pattern !~ '^-+$' AS changes
                  FROM patterns p ORDER BY p.pattern ~ '^-+$', p.place LIMIT 1) l,
         LATERAL (SELECT CASE WHEN c.column_name ~* 'year|birth|born' THEN 1947 ELSE 47 END AS number) n,
         -- widths begin at 0 unless the call says otherwise
         LATERAL (SELECT CASE WHEN jsonb_typeof(r.options #> ARRAY['hierarchies', c.column_name::text]) = 'object' AND NOT r.options #> ARRAY['hierarchies', c.column_name::text] ?| '{origin,lower,upper}'
                              THEN substring(l.level FROM '^ranges of ([0-9]{1,4})$')::int END AS width,
                         nullif(least(substring(l.level FROM '^the first ([0-9]{1,4}) characters$')::int, 5), 5) AS digits) w,
         LATERAL (SELECT CASE WHEN w.width > 1 THEN n.number::text WHEN w.digits > 0 THEN '48103' WHEN l.level IN ('month', 'quarter', 'year', 'decade') THEN '17 May 1977' END AS value,
                         CASE WHEN w.width > 1 THEN format(CASE WHEN c.type ~ '^(small|big)?int' THEN '%s to %s' ELSE '%s to below %s' END, n.number / w.width * w.width,
                                                           (n.number / w.width + 1) * w.width - CASE WHEN c.type ~ '^(small|big)?int' THEN 1 ELSE 0 END)
                              WHEN w.digits > 0 THEN left('48103', w.digits) || repeat('*', 5 - w.digits)
                              WHEN l.level = 'month' THEN 'May 1977' WHEN l.level = 'quarter' THEN 'April to June 1977' WHEN l.level = 'year' THEN '1977' WHEN l.level = 'decade' THEN '1970 to 1979' END AS shown) x),
-- what the table at hand says: it can have been changed since
now AS (
    SELECT (SELECT to_jsonb(x) FROM @extschema@.kanon_check(r.target_now, q.names) AS x) AS grouped,
           CASE WHEN r.few_known THEN (SELECT max(z.rows_below_k) FROM @extschema@.kanon_check(r.target_now, q.names, (r.options ->> 'known_columns')::int, r.k,
                CASE WHEN r.options ? 'combinations' THEN ARRAY(SELECT jsonb_array_elements_text(r.options -> 'combinations')) END, r.few_missing, (SELECT p.name FROM persons p WHERE p.comparable)) AS z) END AS few_rare,
           -- (a mark tells rows apart, too, which look alike)
           (SELECT jsonb_agg(to_jsonb(y)) FROM @extschema@.kanon_risk(r.target_now, q.names || CASE WHEN r.options -> 'mark' = 'true' AND r.any_population IS NULL THEN '{kanon_pattern}'::name[] ELSE '{}' END,
                sensitive => ARRAY(SELECT x.name::name FROM kept x WHERE x.comparable ORDER BY x.nr),
                -- one that can be compared, as the columns are shown
                population => (SELECT c.oid::regclass FROM pg_class c
                    WHERE kanon_report_data.read_population AND c.oid = (r.named_now ->> r.any_population)::oid
                      AND NOT EXISTS (SELECT FROM pg_attribute a LEFT JOIN pg_attribute b ON b.attrelid = c.oid AND b.attname = a.attname
                                      WHERE a.attrelid = r.target_now AND a.attname = ANY (q.names) AND a.atttypid IS DISTINCT FROM b.atttypid)),
                -- with every argument of its type, nothing fits better
                subject => NULL::name, threshold => kanon_report_data.threshold, hierarchies => NULL::jsonb, sampling_fraction => kanon_report_data.sampling_fraction, presence => NULL::jsonb,
                weights => NULL::name, household => NULL::name, special_uniques => NULL::int) AS y) AS measures
    FROM r, LATERAL (SELECT ARRAY(SELECT c.column_name::name FROM columns c ORDER BY c.ordinal) AS names) q
    WHERE r.has_classes AND r.target_now IS NOT NULL AND (kanon_report_data.read_target OR kanon_report_data.read_population)),
rule_words AS (
    SELECT e.nr, v.nr AS part, e.key, v.item, e.value,
           CASE e.key WHEN 'max_suppressed' THEN format('At most %s of these columns are empty in a row.', v.item)
                      WHEN 'max_cost' THEN format('The empty cells of a row cost at most %s.', v.item)
                      WHEN 'never' THEN format('Never empty: %s.', v.item)
                      WHEN 'always' THEN format('Always empty: %s.', v.item)
                      WHEN 'together' THEN format('All of these are empty in a row, or none: %s.', v.item)
                      WHEN 'at_most_one' THEN format('At most one of these is empty in a row: %s.', v.item)
                      WHEN 'implies' THEN format('If the left column is empty in a row, so is the right one: %s.', v.item)
                      ELSE e.key || ': ' || v.item END AS says
    FROM r, jsonb_each(CASE jsonb_typeof(r.options -> 'rules') WHEN 'object' THEN r.options -> 'rules' ELSE '{}' END) WITH ORDINALITY AS e (key, value, nr),
         LATERAL (SELECT t.item, t.nr FROM jsonb_array_elements_text(
            CASE WHEN jsonb_typeof(e.value) = 'array' AND e.key IN ('never', 'always')
                 THEN CASE WHEN e.value = '[]' THEN '[]' ELSE jsonb_build_array(
                      (SELECT string_agg(quote_ident(n), ', ') FROM jsonb_array_elements_text(e.value) AS n)) END
                 WHEN jsonb_typeof(e.value) = 'array' THEN e.value
                 ELSE jsonb_build_array(e.value) END) WITH ORDINALITY AS t (item, nr)) AS v),
-- tables of a release as a whole, and where each stands in the picture: to the right of what it refers to
linked_tables AS (
    SELECT t.*, 20 + 250 * t.depth AS x, 20 + 84 * (row_number() OVER (PARTITION BY t.depth ORDER BY t.nr) - 1) AS y,
           format('%s as %s: %s of %s rows', t.source, t.target, to_char(t.published, 'FM999,999,999,999,999,990'), to_char(t.row_count, 'FM999,999,999,999,999,990'))
           || CASE t.role WHEN 'subject' THEN ', one for each person' WHEN 'rows' THEN ', rows of persons' WHEN 'lookup' THEN ', a lookup, published as named' WHEN 'copies' THEN ', columns of the rows that refer to it, a copy for each' ELSE ', without a key to the person; persons are counted in this table alone' END
           || coalesce('; left out: ' || nullif(concat_ws(', ', nullif(t.of_nobody, 0) || ' of nobody who is published', nullif(t.over_max_rows, 0) || ' over max_rows', nullif(t.rare, 0) || ' that too few persons have, or that hang on these'), ''), '') || '.' AS says,
           jsonb_build_object('table', t.source, 'role', t.role, 'rows', t.row_count, 'published', t.published) AS claim,
           CASE WHEN t.publication IS NULL THEN t.target ELSE (SELECT quote_ident(n.nspname) FROM pg_namespace n WHERE n.oid = t.home) || '.' || quote_ident(t.target) END AS shown,
           (SELECT jsonb_agg(c.column_name ORDER BY c.ordinal) FROM @extschema@.kanon_columns c WHERE c.run = t.run) AS names
    FROM (SELECT r.publication, (e.t ->> 'place')::int + 1 AS nr, e.t ->> 'table' AS source, e.t ->> 'target' AS target, e.t ->> 'role' AS role, e.t -> 'refers' AS refers,
                 (e.t ->> 'row_count')::bigint AS row_count, (e.t ->> 'published')::bigint AS published, (e.t ->> 'of_nobody')::bigint AS of_nobody, (e.t ->> 'over_max_rows')::bigint AS over_max_rows,
                 (e.t ->> 'rare')::bigint AS rare, (e.t ->> 'gcp')::float8 AS gcp, (e.t ->> 'suppressed')::float8 AS suppressed, (e.t ->> 'run')::bigint AS run,
                 left(e.t ->> 'target', 24) AS label, (e.t ->> 'role') || ', ' || to_char((e.t ->> 'published')::bigint, 'FM999,999,999,999,999,990') || ' rows' AS words, l.depth,
                 (SELECT c.relnamespace FROM @extschema@.kanon_publications p JOIN pg_class c ON c.oid = p.published WHERE p.publication = r.publication) AS home
          FROM r, jsonb_array_elements(r.tables -> 'tables') AS e (t),
               LATERAL (WITH RECURSIVE up (place, depth) AS (
                   SELECT e.t -> 'place', 0
                   UNION ALL
                   -- (along the first key: that to the person, of tables that have one)
                   SELECT o.t #> '{refers,0,to}', up.depth + 1 FROM up, jsonb_array_elements(r.tables -> 'tables') AS o (t) WHERE o.t -> 'place' = up.place AND o.t ->> 'role' = 'rows' AND up.depth < 20)
                   SELECT CASE e.t ->> 'role' WHEN 'lookup' THEN 0 WHEN 'copies' THEN 0 WHEN 'not linked' THEN 1 ELSE max(up.depth) END AS depth FROM up WHERE up.place IS NOT NULL) l) t),
-- the promise over all of them, counted again by the tables as they are now, if they can be read and still hang together
counted AS (
    SELECT c.*
    FROM r, LATERAL (
            SELECT max(x.relation::oid) FILTER (WHERE t.role = 'subject')::regclass AS subject, bool_and(k.constrained) AS whole,
                   jsonb_object_agg(k.name, jsonb_build_object('quasi_identifiers', t.names)) FILTER (WHERE k.name IS NOT NULL) AS tables
            FROM linked_tables t
            LEFT JOIN @extschema@.kanon_run_relations e ON e.run = t.run AND e.part = 'target'
            LEFT JOIN LATERAL kanon_internal.kanon_recorded(jsonb_build_array(jsonb_build_object('part', e.part, 'name', e.name, 'oid', e.relation::text, 'kind', e.kind, 'owner', e.owner::oid::text))) AS x ON e.run IS NOT NULL
            LEFT JOIN LATERAL (
                SELECT format('%I.%I', n.nspname, c.relname) AS name,
                       EXISTS (SELECT FROM pg_constraint o WHERE o.conrelid = c.oid AND CASE WHEN t.role IN ('subject', 'copies') THEN o.contype = 'p'
                               ELSE o.contype = 'f' AND o.confrelid <> c.oid AND o.confrelid IN (SELECT f.relation::oid FROM linked_tables u JOIN @extschema@.kanon_run_relations f ON f.run = u.run AND f.part = 'target' WHERE u.role IN ('subject', 'rows')) END) AS constrained
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = x.relation::oid) k ON true
            WHERE kanon_report_data.read_target AND r.tables IS NOT NULL AND t.role IN ('subject', 'rows', 'copies')
            HAVING coalesce(bool_and(k.constrained), false) AND count(*) = count(k.name)) AS a,
        LATERAL @extschema@.kanon_check_linked(a.subject, a.tables, r.k, (r.options ->> 'known_rows')::@extschema@.kanon_known_rows) AS c),
statements AS (
    SELECT * FROM (
        SELECT 10 AS nr, 0 AS part, 'release' AS about,
               format('On %s the role %s published %s ' || CASE
                          WHEN r.transactions IS NOT NULL THEN 'transactions of %s'
                          WHEN r.mechanism IS NOT NULL THEN CASE r.model WHEN 'cross_training' THEN 'rows of %s with noise' WHEN 'alpha_beta' THEN 'rows, some of %s and some made up,' ELSE 'made-up rows that follow %s' END
                          WHEN r.tables IS NOT NULL THEN 'rows about the persons of %s' WHEN r.published_rows = 1 THEN 'row of %s' ELSE 'rows of %s' END || ' as ',
                      r.started, r.run_by, to_char(r.published_rows, 'FM999,999,999,999,999,990'), coalesce(r.made_of, 'its source'))
               || CASE WHEN r.tables IS NOT NULL THEN format('%s tables that join, %s %s.', jsonb_array_length(r.tables -> 'tables'), CASE WHEN r.publication IS NULL THEN 'in the schema' ELSE 'a release of the publication' END, coalesce(r.publication, r.target))
                       WHEN r.publication IS NULL THEN format('the table %s', r.target)
                            || CASE WHEN r.anatomy IS NOT NULL THEN format(', and their values of %I as the table %s', r.anatomy ->> 'sensitive', r.anatomy ->> 'sensitive_target') || coalesce('. The view ' || (r.anatomy ->> 'view') || ' joins both', '') ELSE '' END
                            || CASE WHEN r.options ? 'linked' THEN format(', one table of a release of several about the persons of %s', r.options #>> '{linked,subject}') ELSE '' END || '.'
                       WHEN r.release IS NULL THEN format('a release of the publication %s that is not there any more.', r.publication)
                       ELSE format('release %s of the publication %s, %s.', r.release, r.publication,
                                   CASE r.release_status WHEN 'current' THEN 'which readers see as that view' ELSE 'which readers saw as that view' END) END AS says,
               jsonb_build_object(CASE WHEN r.transactions IS NULL THEN 'rows' ELSE 'transactions' END, r.published_rows)
               || CASE r.release_status WHEN 'current' THEN jsonb_build_object('readers_see', r.publication) ELSE '{}' END AS claim
        FROM r
        UNION ALL
        SELECT 15, 0, 'release', format('The rows are those of the source as it was on %s%s.', r.started, CASE WHEN h.persons > 0 AND h.among IS NOT NULL THEN ', but for persons who wait' WHEN h.persons > 0 THEN ', but for persons who are held back' ELSE '' END)
               || coalesce(' A refresh last looked at the source on ' || CASE r.release_status WHEN 'current' THEN r.checked END || ' and found it unchanged.', ''),
               jsonb_build_object('as_of', r.started)
        FROM r LEFT JOIN held h ON true WHERE r.publication IS NOT NULL
        UNION ALL
        SELECT 17, 0, 'release', h.says, jsonb_build_object('held_back', r.held)
        FROM r, held h
        UNION ALL
        SELECT 20, 0, 'release', CASE WHEN r.dropped_rows > 0 AND h.among IS NOT NULL THEN format('Left out so: %s.', CASE r.dropped_rows WHEN 1 THEN '1 row' ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows' END)
                                 WHEN r.dropped_rows > 0 AND h.persons > 0 THEN format('Beside them, %s left out.', CASE r.dropped_rows WHEN 1 THEN '1 row was' ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows were' END)
                                 WHEN r.dropped_rows = 0 AND h.persons > 0 THEN 'Of all others no row was left out.'
                                 WHEN r.dropped_rows = 0 THEN 'No row was left out.' WHEN r.dropped_rows = 1 THEN '1 row was left out.'
                                 ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows were left out.' END,
               jsonb_build_object('left_out', r.dropped_rows)
        FROM r LEFT JOIN held h ON true WHERE r.transactions IS NULL AND r.mechanism IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 25, t.nr, 'tables', t.says, t.claim FROM linked_tables t
        UNION ALL
        SELECT 30, 0, 'columns', format('Quasi-identifiers, the columns that an attacker could know about a person: %s.',
                                        (SELECT string_agg(c.name, ', ' ORDER BY c.ordinal) FROM columns c)),
               jsonb_build_object('quasi_identifiers', (SELECT jsonb_agg(c.column_name ORDER BY c.ordinal) FROM columns c))
        FROM r WHERE r.transactions IS NULL AND r.anatomy IS NULL AND r.mechanism IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 40, 0, 'columns',
               CASE WHEN r.kept = '{}' THEN 'No other column of the source is in the table.'
                    WHEN r.mechanism IS NOT NULL THEN format('The rows have the columns %s, and no other column of the source.', (SELECT string_agg(k.quoted, ', ' ORDER BY k.nr) FROM kept k))
                    ELSE format('Published%s, unchanged%s: %s. No other column of the source is in the table.',
                                CASE WHEN r.transactions IS NOT NULL THEN ' beside the items' WHEN r.anatomy IS NULL THEN ' beside them' ELSE ' with the number of their group' END,
                                CASE WHEN EXISTS (SELECT FROM kept k WHERE k.done IS NOT NULL) THEN ' unless said in brackets' ELSE '' END,
                                (SELECT string_agg(k.quoted || coalesce(' (' || k.done || ')', ''), ', ' ORDER BY k.nr) FROM kept k)) END
               || CASE WHEN r.options -> 'mark' = 'true' THEN ' Its column kanon_pattern says what was done to each row.' ELSE '' END,
               jsonb_build_object('kept', to_jsonb(r.kept), 'marked', coalesce(r.options -> 'mark', 'false'))
               || CASE WHEN r.options ? 'mask' THEN jsonb_build_object('masked', (SELECT jsonb_agg(m) FROM jsonb_object_keys(r.options -> 'mask') AS m)) ELSE '{}' END
        FROM r WHERE r.tables IS NULL
        UNION ALL
        SELECT 50, 0, 'model',
               CASE WHEN r.transactions IS NOT NULL THEN 'Each transaction is a set of items. The table shows an item as it was, by a label that stands for several items, or not at all. An item is shown in the same way in every transaction.'
                    WHEN r.mechanism IS NOT NULL AND r.model = 'alpha_beta' THEN format('Each row of the source is in the table with probability %s, and each other combination of values with probability %s. So nobody can tell whether a single row is true.', trim_scale(round(((r.mechanism ->> 'alpha')::float8 + (r.mechanism ->> 'beta')::float8)::numeric, 4)), (SELECT trim_scale(round(b, 3 - floor(log(b))::int)) FROM (SELECT (r.mechanism ->> 'beta')::numeric AS b) b))
                    WHEN r.mechanism IS NOT NULL AND r.model = 'cross_training' THEN 'Each row is a row of the source with noise in every column.'
                    WHEN r.mechanism IS NOT NULL THEN 'No row was copied from the source. All rows were drawn from a noisy model of the source.'
                    WHEN r.anatomy IS NOT NULL THEN format('The rows stand as they were. Each has the number of a group that was drawn at random. The other table lists the values of %I in each group, but not which row has which.', r.anatomy ->> 'sensitive')
                    WHEN r.tables IS NOT NULL THEN 'Persons who look alike in the table of persons are a class. Inside each class the rows of the other tables show what several persons have in common. Keys are pseudonyms that agree in all tables.'
                    WHEN r.matches IS NOT NULL THEN 'There are no classes. Each record shows, column by column, what several rows have in common; records overlap.'
                    WHEN r.model = 'full_domain' THEN 'Every row is generalised to the same levels, or empty as a whole: '
                         || coalesce((SELECT string_agg(c.name || ' ' || CASE WHEN c.kept > 0 THEN 'as it was'
                                          WHEN c.generalised > 0 THEN 'as ' || (SELECT x ->> 'name' FROM jsonb_array_elements(c.levels_shown) AS x ORDER BY (x ->> 'cells')::bigint DESC LIMIT 1)
                                          ELSE 'empty' END, ', ' ORDER BY c.ordinal) FROM columns c), '') || '.'
                    WHEN r.model = 'subtree' THEN 'A value is shown in the same way in every row: as it was, by a level of its column''s hierarchy, or not at all. Different values may have different levels.'
                         || CASE r.options ->> 'scheme' WHEN 'sibling' THEN ' A level stands for the values below it that have no finer level.' ELSE '' END
                    WHEN r.model = 'pattern_clustering' THEN format('Each of the %s listed patterns belongs to at most one class of rows.', jsonb_array_length(r.options -> 'patterns'))
                    WHEN r.model = 'cluster' THEN 'Rows near one another form a class. A class shows what its rows have in common: a value, a range, a set, a level of a hierarchy, or nothing.'
                    WHEN EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') THEN 'Each row has its own pattern: some cells are as they were, some are coarser, some are empty.'
                    ELSE 'Each row has its own pattern: some cells are as they were, some are empty.' END,
               CASE WHEN r.transactions IS NOT NULL THEN '{"shows": "items"}'
                    WHEN r.mechanism IS NOT NULL THEN '{"shows": "chance"}'
                    WHEN r.anatomy IS NOT NULL THEN '{"shows": "groups"}'
                    WHEN r.tables IS NOT NULL THEN '{"shows": "persons"}'
                    WHEN r.matches IS NOT NULL THEN '{"shows": "records"}'
                    WHEN r.model = 'full_domain' THEN jsonb_build_object('levels', (SELECT jsonb_object_agg(c.column_name, CASE WHEN c.kept > 0 THEN 0
                                          WHEN c.generalised > 0 THEN (SELECT (x ->> 'level')::int FROM jsonb_array_elements(c.levels_shown) AS x ORDER BY (x ->> 'cells')::bigint DESC LIMIT 1)
                                          END) FROM columns c))
                    WHEN r.model = 'subtree' THEN '{"shows": "cut"}'
                    WHEN r.model = 'pattern_clustering' THEN jsonb_build_object('classes_at_most', jsonb_array_length(r.options -> 'patterns'))
                    WHEN r.model = 'cluster' THEN '{"shows": "several"}'
                    WHEN EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') THEN '{"shows": "levels"}'
                    ELSE '{"shows": "values"}' END
        FROM r
        UNION ALL
        SELECT 52, 0, 'ends', format('Ranges end in values of the source, and sets are lists of them. Cells that show a value which fewer than %s have: %s. An attacker reads from such a cell that somebody has just that value.',
                                     kanon_internal.kanon_counted(r.k) || CASE WHEN r.subject IS NULL THEN ' rows' ELSE ' persons' END,
                                     (SELECT string_agg(kanon_internal.kanon_counted(x.value::bigint) || ' of ' || quote_ident(x.key), ', ' ORDER BY x.key) FROM jsonb_each_text(r.options -> 'shows_few') AS x)),
               jsonb_build_object('shows_few', r.options -> 'shows_few')
        FROM r WHERE r.options ? 'shows_few'
        UNION ALL
        SELECT 55, 0, 'domains', format('The caller said which values each column may have (domains): %s combinations of values in all. Rows of the source with other values have no part in the table.', to_char((r.mechanism ->> 'domain')::numeric, 'FM999,999,999,999,999,999,990')),
               jsonb_build_object('domain', r.mechanism -> 'domain')
        FROM r WHERE r.model IN ('alpha_beta', 'synthetic') AND r.mechanism ? 'domain'
        UNION ALL
        SELECT 60, 0, 'promise',
               CASE WHEN r.transactions IS NOT NULL OR r.mechanism IS NOT NULL OR r.anatomy IS NOT NULL
                    THEN (SELECT upper(left(n.says, 1)) || substr(n.says, 2) || '. ' FROM (SELECT substr(r.note, strpos(r.note, ': ') + 2) AS says) n)
                         -- in words, as nobody reads an exponent
                         || CASE WHEN r.mechanism ? 'epsilon' THEN format('In plain words: whatever somebody sees or concludes from the table is more or less likely by a factor of %s if one row of the source is another one. ',
                                     kanon_internal.kanon_factor((r.mechanism ->> 'epsilon')::float8)) ELSE '' END
                         || CASE WHEN r.mechanism IS NOT NULL THEN format('(That is the promise of %s. It is about how %s drawn, and cannot be verified from the table itself.)', split_part(r.note, ',', 1), CASE r.model WHEN 'cross_training' THEN 'noise was' ELSE 'the rows were' END)
                                 ELSE format('(That is %s, counted in the %s.)', split_part(r.note, ':', 1), CASE WHEN r.anatomy IS NULL THEN 'table itself' ELSE 'tables themselves' END) END
                    WHEN r.matches IS NOT NULL THEN CASE r.method
                         WHEN 'one_k' THEN format('Every row of the source matches at least %s records of the table. A record may match a single row.', r.matches)
                         WHEN 'k_one' THEN format('Every record of the table matches at least %s rows of the source. A row may match a single record.', r.matches)
                         ELSE format('Every row of the source matches at least %1$s records of the table, and every record at least %1$s rows', r.matches)
                              || CASE WHEN r.method IN ('k_k', 'concealment') THEN ', which need not be equally likely.' ELSE ', each of them equally likely to be the true one.' || coalesce(' A row with a larger number in ' || quote_ident(r.options ->> 'k_column') || ' has that many.', '') END END
                    WHEN r.linked IS NOT NULL THEN format('Somebody may know the quasi-identifiers of a person, and those of %s. Either at least %s persons of the release fit, or none.',
                         CASE WHEN r.linked ->> 'known_rows' = 'all' THEN 'all rows of the person in each other table' WHEN r.linked ->> 'known_rows' = '1' THEN '1 row of the person in each other table'
                              WHEN r.linked ->> 'known_rows' ~ '^[0-9]$' THEN 'at most ' || (r.linked ->> 'known_rows') || ' rows of the person in each other table' ELSE r.linked ->> 'known' END, r.linked ->> 'k')
                         || ' kanon counted that over all tables before anybody could see them; kanon_check_linked counts it again.'
                    WHEN r.few_known THEN format('Every combination of values in %s of these columns that the table shows occurs in %s. %s%s Nothing is promised against somebody who knows more columns.', r.known, CASE WHEN r.subject IS NULL THEN format('at least %s rows', r.k) ELSE format('rows of at least %s persons, whom column %s tells apart', r.k, r.subject) END, CASE r.options ->> 'missing' WHEN 'any' THEN 'An empty cell counts as any value.' WHEN 'value' THEN CASE r.few_missing WHEN 'marked' THEN 'An empty cell that kanon_pattern does not mark as emptied is a value like others.' ELSE 'An empty cell is a value like others.' END ELSE 'Empty cells are no values.' END, CASE WHEN r.known ~ '=' THEN ' A number behind a set is its own least number of rows.' ELSE '' END)
                    WHEN r.population IS NOT NULL THEN format('Every combination of these columns in the table fits at least %s %s of the population %s%s.', r.k, CASE WHEN r.population_subject IS NULL THEN 'rows' ELSE 'different persons' END, r.population, coalesce(', counted by ' || quote_ident(r.population_subject), ''))
                    WHEN r.subject IS NOT NULL THEN format('Every combination of these columns in the table is shared by at least %s different persons (counted by %s).', r.k, quote_ident(r.subject))
                    ELSE format('Every combination of these columns in the table occurs in at least %s %s.', r.k, CASE r.k WHEN 1 THEN 'row' ELSE 'rows' END) END,
               CASE WHEN r.transactions IS NOT NULL THEN jsonb_build_object('transactions_promise', r.method, 'k', r.k, 'm', coalesce(r.options -> 'm', r.options -> 'p', '2'), 'h', r.options -> 'h', 'rho', r.options -> 'rho')
                    WHEN r.mechanism IS NOT NULL THEN r.mechanism - '{promise,domains}'::text[]
                    WHEN r.anatomy IS NOT NULL THEN r.anatomy - 'promise'
                    WHEN r.matches IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
                         'row_matches', CASE WHEN r.method <> 'k_one' THEN r.matches END, 'record_matches', CASE WHEN r.method <> 'one_k' THEN r.matches END,
                         'regular', CASE WHEN r.model = 'freeform' AND r.method <> 'concealment' THEN true END, 'k_column', r.options -> 'k_column'))
                    WHEN r.linked IS NOT NULL THEN jsonb_build_object('linked_persons', r.linked -> 'k', 'known_rows', r.linked -> 'known_rows')
                    WHEN r.few_known THEN jsonb_strip_nulls(jsonb_build_object(CASE WHEN r.subject IS NULL THEN 'combination_rows' ELSE 'combination_persons' END, r.k, 'person', r.subject, 'known_columns', r.options -> 'known_columns', 'combinations', r.options -> 'combinations', 'missing', r.options -> 'missing'))
                    WHEN r.population IS NOT NULL THEN jsonb_build_object(CASE WHEN r.population_subject IS NULL THEN 'population_rows' ELSE 'population_persons' END, r.k, 'population', r.population) || CASE WHEN r.population_subject IS NULL THEN '{}' ELSE jsonb_build_object('person', r.population_subject) END
                    WHEN r.subject IS NOT NULL THEN jsonb_build_object('class_persons', r.k, 'person', r.subject)
                    ELSE jsonb_build_object('class_rows', r.k) END
        FROM r
        UNION ALL
        SELECT 65, 0, 'promise', CASE WHEN h.among IS NULL THEN format('Over all releases: at least %s persons share each history, that is what readers were shown of somebody in which release, or when nothing.', h.k)
                    ELSE format('Over all releases: a person stays among the same %s values of %I, so that nobody who compares releases is surer of the value than 1 in %s. Who came, left or moved can be told.', h.among, h.protected, h.among) END,
               CASE WHEN h.among IS NULL THEN jsonb_build_object('history_persons', h.k) ELSE jsonb_build_object('history_values', h.among, 'column', h.protected) END
        FROM r, held h
        UNION ALL
        SELECT 70, x.nr, 'rules',
               CASE x.rule ->> 'rule'
                    WHEN 'delta_presence' THEN format('A reader can tell of a person of the population %s only that the person is in the table with a probability between %s and %s.', x.rule ->> 'population', x.rule ->> 'dmin', x.rule ->> 'dmax')
                    WHEN 'presence' THEN format('Take a population of %s persons whose values are distributed as in %s, independently of one another. A reader can tell of such a person only that the person is in the table with a probability between %s and %s. For each class this holds with a probability of at least %s.',
                              x.rule ->> 'population_rows', x.rule ->> 'distributions', x.rule ->> 'dmin', x.rule ->> 'dmax', x.rule ->> 'confidence')
                    ELSE format(CASE WHEN r.model = 'linked' THEN 'Of the rows that may be one that somebody knows of a person, counted by persons: %s.' WHEN r.linked IS NOT NULL THEN 'Of the persons whom somebody finds who knows that: %s.' ELSE 'In every class: %s.' END, x.rule ->> 'says') END,
               jsonb_build_object('rule', x.rule - 'says')
        FROM r, jsonb_array_elements(r.privacy) WITH ORDINALITY AS x (rule, nr) WHERE x.rule ->> 'rule' NOT IN ('k_map', 'subject')
        UNION ALL
        SELECT 80, 0, 'patterns', format('Each row has one of the %s listed patterns, or is empty as a whole.', jsonb_array_length(r.options -> 'patterns')),
               jsonb_build_object('patterns', r.options -> 'patterns')
        FROM r WHERE r.model = 'pattern_guided' AND jsonb_typeof(r.options -> 'patterns') = 'array'
        UNION ALL
        SELECT 80, w.nr::int * 100 + w.part::int, 'patterns', w.says || ' (If no such pattern fits, the row is empty as a whole.)', jsonb_build_object('mask', jsonb_build_object(w.key, w.item))
        FROM rule_words w
        UNION ALL
        SELECT 90, c.ordinal, 'column',
               CASE WHEN r.published_rows = 0 THEN format('%s: no cells.', c.name)
                    ELSE format('%s, %s cells: %s', c.name, to_char(r.published_rows, 'FM999,999,999,999,999,990'), array_to_string(ARRAY[
                        CASE WHEN c.kept > 0 THEN to_char(c.kept, 'FM999,999,999,999,999,990') || ' as they were' END,
                        CASE WHEN c.generalised > 0 AND c.levels_shown IS NOT NULL THEN (SELECT string_agg(to_char((x ->> 'cells')::bigint, 'FM999,999,999,999,999,990') || ' as ' || (x ->> 'name'), ', ' ORDER BY x -> 'level') FROM jsonb_array_elements(c.levels_shown) AS x WHERE x -> 'cells' <> '0')
                             WHEN c.generalised > 0 THEN to_char(c.generalised, 'FM999,999,999,999,999,990') || ' as a range or a set' END,
                        CASE WHEN c.suppressed > 0 THEN to_char(c.suppressed, 'FM999,999,999,999,999,990') || ' empty' || CASE WHEN c.nulls > 0 THEN ' (' || to_char(c.nulls, 'FM999,999,999,999,999,990') || ' of them were not emptied: the source has no value there)' ELSE '' END END], ', ') || '.') END,
               jsonb_build_object('column', c.column_name, 'kept', c.kept, 'generalised', c.generalised, 'blank', c.suppressed, 'levels', c.levels_shown)
        FROM r, columns c
        UNION ALL
        SELECT 100, 0, 'weights', format('An empty cell costs: %s.', (SELECT string_agg(c.name || ' ' || CASE jsonb_typeof(r.options -> 'weights') WHEN 'array' THEN r.options -> 'weights' ->> (c.ordinal - 1)::int
                        ELSE coalesce(r.options -> 'weights' ->> c.column_name::text, '1') END, ', ' ORDER BY c.ordinal) FROM columns c)),
               jsonb_build_object('weights', r.options -> 'weights', 'cost', r.cost)
        FROM r WHERE jsonb_typeof(r.options -> 'weights') IN ('array', 'object')
        UNION ALL
        SELECT 110, 0, 'method', format('The release was found by the method %s', r.method)
               || CASE WHEN r.options ? 'stayed_near' AND r.few_known THEN '. It shows nothing of an unchanged row that the release before did not show; another release may lose less.'
                       WHEN r.options ? 'stayed_near' THEN '. It keeps rows in the classes of the release before; another release may lose less.'
                       WHEN r.model = 'full_domain' AND r.options ? 'metric_bound' THEN format(': the best levels by the metric %s that it reached within its time and memory. A bound proves that none are better than %s.',
                            r.options ->> 'metric', round((r.options ->> 'metric_bound')::numeric, 4))
                       WHEN r.model = 'full_domain' THEN format(': no levels are better by the metric %2$s, among all that keep the rules with at most %1$s %% of the rows empty as a whole.',
                            100 * (r.options ->> 'suppression_limit')::numeric, r.options ->> 'metric')
                       WHEN r.model = 'subtree' AND r.proven THEN ': no such release under these rules costs less (proven).'
                       WHEN r.model = 'subtree' AND r.lower_bound > 0 THEN format('. It costs %s; no such release under these rules costs less than %s.', trim_scale(round(r.cost::numeric, 4)), trim_scale(round(r.lower_bound::numeric, 4)))
                       WHEN r.proven AND r.gap = 0 THEN ': no release under these rules costs less (proven).'
                       WHEN r.lower_bound > 0 THEN format('. It costs %s; no release under these rules costs less than %s.', trim_scale(round(r.cost::numeric, 4)), trim_scale(round(r.lower_bound::numeric, 4)))
                       ELSE ', a fast heuristic; another release may lose less.' END
               || CASE WHEN r.guarantee > 1 AND r.guarantee <= 10 AND r.proven IS NOT TRUE THEN format(' The method never costs more than %s times the least.', trim_scale(round(r.guarantee::numeric, 2))) ELSE '' END,
               jsonb_build_object('method', r.method, 'cost', r.cost, 'best', CASE WHEN r.model = 'full_domain' AND NOT r.options ?| '{metric_bound,stayed_near}' THEN to_jsonb(r.options ->> 'metric') ELSE to_jsonb(coalesce(r.proven AND r.gap = 0, false)) END,
                                  'lower_bound', r.lower_bound, 'guarantee', r.guarantee, 'suppression_limit', r.options -> 'suppression_limit')
        FROM r WHERE r.mechanism IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 120, 0, 'residual',
               CASE WHEN k.blank = 0 THEN 'No row is empty in all of these columns.'
                    ELSE format('%s %s empty in all of these columns.', to_char(k.blank, 'FM999,999,999,999,999,990'), CASE k.blank WHEN 1 THEN 'row is' ELSE 'rows are' END)
                         || CASE WHEN k.blank < r.k THEN ' That is fewer than k: an attacker who knows that a person is in the table can tell that the person is one of them.' ELSE '' END END
               || CASE r.options ->> 'residual' WHEN 'drop' THEN ' Rows that fit nowhere are left out.'  WHEN 'error' THEN ' Had rows fit nowhere, nothing would have been published.' ELSE '' END,
               jsonb_build_object('blank_rows', k.blank, 'residual', r.options -> 'residual')
        FROM r, risk k WHERE r.has_classes AND r.published_rows > 0) AS s),
-- the source and the table side by side, as they are now; what is masked has other values on purpose
sides AS (
    SELECT r.run, r.source_now, r.target_now, r.options -> 'hierarchies' AS hierarchies,
           -- where k is 1, a bar would be a person
           greatest(r.k, 5) AS least,
           ARRAY(SELECT c.column_name::name FROM columns c ORDER BY c.ordinal) AS names,
           ARRAY(SELECT k.name::name FROM kept k WHERE k.comparable AND NOT k.allowed AND k.done IS NULL ORDER BY k.nr LIMIT 256 - (SELECT count(*) FROM columns)) AS kept,
           (SELECT count(*) FROM kept k WHERE k.comparable AND NOT k.allowed AND k.done IS NULL) AS could
    FROM r WHERE kanon_report_data.compare AND r.transactions IS NULL AND r.anatomy IS NULL AND r.mechanism IS NULL AND r.published_rows > 0 AND r.source_now IS NOT NULL AND r.target_now IS NOT NULL AND r.named_not IS NULL),
compared AS (
    SELECT x.* FROM sides s, LATERAL @extschema@.kanon_compare(s.source_now, s.target_now, s.names, keep => s.kept, hierarchies => s.hierarchies,
        queries => 1000, selectivity => 0.05::float8, seed => 1::bigint) AS x),
bars AS (
    SELECT d.column_name, d.nr, d.bar, d.before, d.after,
           -- of the rows that were read: the source may have others by now
           d.before / nullif(sum(d.before) OVER w, 0)::float8 AS before_share, d.after / nullif(sum(d.after) OVER w, 0)::float8 AS after_share
    FROM (SELECT d.*, row_number() OVER () AS nr
          FROM sides s, LATERAL @extschema@.kanon_distributions(s.source_now, s.target_now, s.names, s.least, keep => s.kept, hierarchies => s.hierarchies) AS d) d
    WINDOW w AS (PARTITION BY d.column_name)),
-- whose values the rows had that were left out: the bar that lost most, as a share of them
moved AS (
    SELECT x.column_name AS name, x.value AS distance,
           (SELECT max(b.before - b.after) / nullif(r.dropped_rows, 0) FROM bars b WHERE b.column_name = x.column_name) AS of_one_bar,
           row_number() OVER (ORDER BY x.value DESC, x.column_name) AS place
    FROM r, sides s, compared x
    WHERE r.dropped_rows > 0 AND x.measure = 'distribution_distance' AND x.column_name = ANY (s.kept) AND x.value >= 0.01),
-- what two releases give away together can be told while both are there
releases AS (
    SELECT l.*, CASE WHEN kanon_report_data.read_target AND l.key IS NOT NULL AND l.relation IS NOT NULL AND l.earlier IS NOT NULL
                     THEN (SELECT c.persons_below_k FROM @extschema@.kanon_compare_releases(l.publication, l.earlier, l.release) AS c) END AS persons_below_k
    FROM (SELECT l.*, p.key, lag(CASE WHEN l.relation IS NOT NULL THEN l.release END) OVER (ORDER BY l.release) AS earlier
          FROM r, @extschema@.kanon_releases l JOIN @extschema@.kanon_publications p ON p.publication = l.publication
          WHERE l.publication = r.publication AND l.status <> 'failed') l),
verdicts AS (
    SELECT * FROM (
        SELECT 10 AS nr, 'quasi_identifiers' AS about,
               CASE WHEN n.grouped IS NOT NULL AND ((n.grouped ->> 'row_count')::bigint <> r.published_rows OR r.population IS NULL AND NOT r.few_known AND (n.grouped ->> 'k')::bigint < r.k AND NOT (k.blank < r.k AND n.grouped -> 'k' = n.grouped -> 'blank_rows')) THEN 'no'
                    WHEN NOT l.safe THEN 'no'
                    WHEN r.matches IS NOT NULL AND r.method IN ('one_k', 'k_one', 'k_k', 'concealment') THEN 'caution'
                    WHEN r.anatomy IS NOT NULL OR r.mechanism IS NOT NULL THEN 'caution'
                    WHEN n.few_rare > 0 THEN 'no'
                    WHEN r.few_known THEN 'caution'
                    WHEN k.blank > 0 AND k.blank < r.k THEN 'caution'
                    -- a promise about who does not know that the person is in the table
                    WHEN r.population IS NOT NULL AND k.least < r.k THEN 'caution'
                    ELSE 'yes' END AS verdict,
               CASE WHEN r.published_rows = 0 THEN 'Nothing to protect: the table has no rows.'
                    WHEN n.grouped IS NOT NULL AND (n.grouped ->> 'row_count')::bigint <> r.published_rows THEN 'The table has been changed since it was published: it has another number of rows.'
                    WHEN n.grouped IS NOT NULL AND r.population IS NULL AND NOT r.few_known AND (n.grouped ->> 'k')::bigint < r.k AND NOT (k.blank < r.k AND n.grouped -> 'k' = n.grouped -> 'blank_rows') THEN 'The table has been changed since it was published: its smallest class is too small.'
                    WHEN r.transactions IS NOT NULL THEN 'The promise was kept when the table was published: it was counted in the table before anybody could see it.'
                    WHEN r.matches IS NOT NULL AND r.method IN ('one_k', 'k_one', 'k_k', 'concealment') THEN 'The promise was kept when the table was published, but it is weaker than k-anonymity.'
                    WHEN r.mechanism IS NOT NULL THEN CASE r.model WHEN 'cross_training' THEN 'Noise was' ELSE 'The rows were' END || ' drawn with a secure random generator. That cannot be verified from the table itself. kanon checked that the table has the rows that were drawn, and no others.'
                    WHEN r.anatomy IS NOT NULL THEN 'The promise was kept when the tables were published, but it protects the sensitive values alone. Somebody who knows a person''s other values finds the row, and knows that the person is in the table.'
                    WHEN r.matches IS NOT NULL THEN format('Every row and every record has at least %s matches, and each is as likely the true one as the others. kanon counted the matches in the table before anybody could see it.', r.matches)
                    WHEN NOT l.safe THEN format('The tables have been changed since they were published: %s combinations of rows have fewer than %s persons, %s rows belong to nobody, and the smallest class has %s persons.', l.below_k, r.k, l.dangling, coalesce(l.smallest_class, 0))
                    WHEN r.linked IS NOT NULL THEN format('At least %s persons were promised for what somebody may know of a person. kanon counted them over all tables of the release before anybody could see them.', r.linked ->> 'k')
                         || coalesce(' The smallest class has ' || (r.tables ->> 'smallest_class') || ' persons' || coalesce(', and the rarest combination of rows ' || nullif(r.tables ->> 'smallest', '0'), '') || '.', '')
                         || CASE WHEN l.safe THEN format(' kanon_check_linked counted the tables again for this page: %s combinations of rows, the rarest of %s persons.', l.combinations, coalesce(l.smallest, 0)) ELSE '' END
                    WHEN n.few_rare > 0 THEN format('The table has been changed since it was published: a combination that somebody may know has too few %s.', CASE WHEN EXISTS (SELECT FROM persons p WHERE p.comparable) THEN 'persons' ELSE 'rows' END)
                    WHEN r.few_known THEN 'The combinations were counted in the table before anybody could see it. The promise is weaker than k-anonymity: it is about somebody who knows few columns, and a person can still be found as the only one with an empty cell.'
                    WHEN k.blank > 0 AND k.blank < r.k THEN format('%s empty in all of these columns, fewer than k: an attacker who knows that a person is in the table can tell that the person is one of them. With residual => ''fill'' there would be none, or at least k.',
                        CASE k.blank WHEN 1 THEN '1 row is' ELSE k.blank || ' rows are' END)
                    WHEN k.least IS NULL THEN 'No row shows any of the quasi-identifiers, so these do not tell rows apart.'
                    WHEN r.population IS NOT NULL THEN format('Every class was counted in the population before anybody could see the table. In the table itself the smallest has %s%s.', k.least, CASE WHEN k.least < r.k THEN ', fewer than k: nothing was promised against those who know that a person is in it' ELSE '' END)
                    WHEN r.subject IS NOT NULL THEN format('Every class was counted in persons before anybody could see the table. In rows the smallest has %s.', k.least)
                    ELSE format('The smallest class has %s rows; at least %s were promised. kanon counted them in the table before anybody could see it.', k.least, r.k) END AS says,
               CASE WHEN r.has_classes THEN jsonb_build_object('smallest_class', k.least) WHEN r.tables IS NOT NULL THEN r.tables - '{tables,promise,gcp}'::text[] ELSE '{}' END AS claim
        FROM r LEFT JOIN risk k ON true LEFT JOIN now n ON true LEFT JOIN counted l ON true
        UNION ALL
        SELECT 12, 'counts', 'caution', CASE r.tables ->> 'count_alone' WHEN '1' THEN '1 person has a number' ELSE (r.tables ->> 'count_alone') || ' persons have numbers' END || ' of rows that nobody else of the class has. Somebody who knows how many rows a person has can tell the person apart.',
               jsonb_build_object('count_alone', r.tables -> 'count_alone')
        FROM r WHERE (r.tables ->> 'count_alone')::bigint > 0
        UNION ALL
        SELECT 15, 'held_back', 'caution', h.says, jsonb_build_object('held_back', r.held)
        FROM r, held h WHERE h.persons > 0
        UNION ALL
        SELECT 13, 'left_out', 'caution', format('%s of the rows of %s were left out.', to_char(100 * (1 - t.published / t.row_count::float8), 'FM990.0') || ' %', t.source), jsonb_build_object('table', t.source, 'left_out', t.row_count - t.published)
        FROM linked_tables t WHERE t.role IN ('subject', 'rows') AND t.row_count - t.published >= 0.01 * t.row_count AND t.row_count > t.published
        UNION ALL
        SELECT 14, 'left_out', 'caution',
               format('%s left out (%s %% of the source).', CASE r.dropped_rows WHEN 1 THEN '1 row was' ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows were' END,
                      to_char(100 * r.dropped_rows / r.row_count::float8, 'FM990.0'))
               || coalesce((SELECT string_agg(format(' The column %I has other shares of values since: %s %% of the rows would have to change theirs.', m.name, to_char(100 * m.distance, 'FM990.0'))
                                   || CASE WHEN m.of_one_bar >= 0.5 THEN format(' One value or range of it has %s %% of the rows that are missing.', to_char(100 * least(m.of_one_bar, 1), 'FM990')) ELSE '' END, '' ORDER BY m.place)
                            FROM moved m),
                           CASE WHEN r.kept = '{}' OR r.published_rows = 0 OR EXISTS (SELECT FROM sides) THEN '' ELSE ' These rows may differ from the others: compare => true shows whether a kept column changed.' END),
               jsonb_build_object('left_out', r.dropped_rows)
        FROM r WHERE r.transactions IS NULL AND r.mechanism IS NULL AND (r.dropped_rows >= 0.01 * r.row_count AND r.dropped_rows > 0 OR EXISTS (SELECT FROM moved))
        UNION ALL
        SELECT 16, 'nearly_empty', 'caution', CASE WHEN c.share = 1 THEN format('The column %s is empty: none of its cells shows anything.', c.name) ELSE format('The column %s is nearly empty: %s %% of its cells show nothing.', c.name, to_char(floor(1000 * c.share) / 10, 'FM990.0')) END,
               jsonb_build_object('nearly_empty', c.column_name)
        FROM r, columns c WHERE r.published_rows > 0 AND c.share >= 0.9
        UNION ALL
        -- presence has a verdict of its own: k says nothing of it
        SELECT 17, 'presence', CASE WHEN m.highest > m.dmax + 1e-9 OR m.lowest < m.dmin - 1e-9 THEN 'no' WHEN m.dmax >= 1 THEN 'caution' ELSE 'yes' END,
               format('Whether somebody of the population %s is in the table: a chance between %s and %s was promised%s. ', m.named, m.dmin, m.dmax, coalesce(', for each class with a probability of at least ' || m.confidence, ''))
               || CASE WHEN m.highest > m.dmax + 1e-9 OR m.lowest < m.dmin - 1e-9 THEN format('It was counted again for this page: from %s to %s. The table or the population has changed since.', trim_scale(floor(10000 * m.lowest::numeric + 0.000001) / 10000), trim_scale(ceil(10000 * m.highest::numeric - 0.000001) / 10000))
                       WHEN m.highest IS NOT NULL THEN format('It was counted again for this page: from %s to %s.', trim_scale(floor(10000 * m.lowest::numeric + 0.000001) / 10000), trim_scale(ceil(10000 * m.highest::numeric - 0.000001) / 10000))
                       ELSE 'kanon counted it for every class before anybody could see the table.' END
               || CASE WHEN m.dmax >= 1 THEN ' A chance of 1 is certainty: of some persons it can be told that they are in the table.' ELSE '' END,
               jsonb_build_object('dmin', m.dmin, 'dmax', m.dmax, 'highest', m.highest, 'lowest', m.lowest)
        FROM (SELECT coalesce(x.rule ->> 'population', x.rule ->> 'distributions') AS named, (x.rule ->> 'dmin')::float8 AS dmin, (x.rule ->> 'dmax')::float8 AS dmax, x.rule ->> 'confidence' AS confidence,
                     CASE WHEN x.rule ->> 'rule' = 'delta_presence' THEN (SELECT (y ->> 'value')::float8 FROM now n, jsonb_array_elements(n.measures) AS y WHERE y ->> 'measure' = 'presence_highest') END AS highest,
                     CASE WHEN x.rule ->> 'rule' = 'delta_presence' THEN (SELECT (y ->> 'value')::float8 FROM now n, jsonb_array_elements(n.measures) AS y WHERE y ->> 'measure' = 'presence_lowest') END AS lowest
              FROM r, jsonb_array_elements(r.privacy) AS x (rule) WHERE x.rule ->> 'rule' IN ('delta_presence', 'presence') AND r.published_rows > 0) m
        UNION ALL
        SELECT 18, 'releases', 'caution', format('Somebody who keeps release %s can compare it with this one: %s in two classes with fewer than k persons in common.',
                   l.earlier, CASE l.persons_below_k WHEN 1 THEN '1 person is' ELSE to_char(l.persons_below_k, 'FM999,999,999,999,999,990') || ' persons are' END),
               '{}'::jsonb
        FROM r, releases l WHERE l.relation::oid = r.target_oid AND l.persons_below_k > 0
        UNION ALL
        SELECT 11, 'persons', CASE WHEN d.few_classes > 0 THEN 'no' ELSE 'yes' END,
               CASE WHEN d.few_classes > 0
                    THEN format('k counts rows, not persons. The values of the kept column %s repeat within classes, as those of persons with several rows do. Counted by them, %s of %s classes have fewer than %s; these hold %s rows (%s). ',
                                d.quoted, kanon_internal.kanon_counted(d.few_classes), kanon_internal.kanon_counted(d.classes), r.k, kanon_internal.kanon_counted(d.few_rows), kanon_internal.kanon_share_up(d.few_rows, r.published_rows))
                         || CASE WHEN d.single_classes > 0 THEN kanon_internal.kanon_counted(d.single_classes) || CASE d.single_classes WHEN 1 THEN ' class is' ELSE ' classes are' END || ' of one alone.' ELSE format('The smallest has %s.', d.least) END
                    ELSE format('The values of the kept column %s repeat within classes, as those of persons with several rows do. Counted by them, every class has at least %s.', d.quoted, r.k) END,
               jsonb_build_object('persons_by', d.name, 'few_classes', d.few_classes, 'few_rows', d.few_rows, 'single_classes', d.single_classes, 'least_persons', d.least)
        FROM r, disclosed d WHERE d.least IS NOT NULL
        UNION ALL
        SELECT 20, 'kept', CASE WHEN x.rules = '{}' AND (x.known = 1 OR x.one_classes > 0) THEN 'no' WHEN x.rules <> '{}' AND coalesce(x.top, 0) < 0.8 THEN 'yes' ELSE 'caution' END,
               format('The kept column %s: ', x.quoted)
               || CASE WHEN x.rules <> '{}' THEN 'the rules about it were counted in the table before anybody could see it.'
                       WHEN x.known = 1 AND x.attacked THEN 'nothing was promised, and all persons have the same value whom somebody finds who knows what the promise assumes.'
                       WHEN x.known > 1 AND x.attacked THEN format('nothing was promised; persons whom somebody finds who knows what the promise assumes have at least %s different values of it.', x.known)
                       WHEN NOT r.has_classes OR r.few_known THEN 'nothing was promised about it.'
                       WHEN x.one_classes IS NULL AND x.known = 1 THEN 'nothing was promised, and in some class all rows have the same value.'
                       WHEN x.one_classes IS NULL THEN 'nothing was promised about its values within a class.'
                       WHEN x.one_classes = 0 AND x.most_classes = 0 THEN 'nothing was promised, but in no class do nine rows of ten have the same value.'
                       WHEN x.one_classes = 0 THEN 'nothing was promised, but in no class do all rows have the same value.'
                       ELSE 'nothing was promised.' END
               || CASE WHEN x.one_classes > 0 THEN format(' In %s of %s classes all rows have the same value: it can be read off for %s rows (%s).', kanon_internal.kanon_counted(x.one_classes), kanon_internal.kanon_counted(x.classes), kanon_internal.kanon_counted(x.one_rows), kanon_internal.kanon_share_up(x.one_rows, r.published_rows)) ELSE '' END
               || CASE WHEN x.most_classes > x.one_classes THEN format(' In %s classes, with %s rows, at least nine rows of ten have one value%s.', kanon_internal.kanon_counted(x.most_classes), kanon_internal.kanon_counted(x.most_rows), CASE WHEN x.one_classes > 0 THEN ' (those among them)' ELSE '' END) ELSE '' END
               || CASE WHEN x.known > 1 AND x.rules = '{}' AND NOT x.attacked THEN format(' Every class has at least %s different values of it.', x.known) ELSE '' END
               || CASE WHEN x.known > 1 OR x.rules <> '{}' AND x.top IS NOT NULL THEN format(CASE WHEN x.attacked THEN ' Of the persons whom such an attacker finds, %s have the same value at most.' ELSE ' In some class %s of the rows have the same value.' END, kanon_internal.kanon_share_up(x.top, 1)) ELSE '' END,
               jsonb_build_object('kept_column', x.name, 'least_values', x.known, 'most_of_one_value', x.top, 'one_classes', x.one_classes, 'one_rows', x.one_rows, 'most_classes', x.most_classes, 'most_rows', x.most_rows)
        FROM r, LATERAL (
            SELECT k.*, d.classes, d.one_classes, d.one_rows, d.most_classes, d.most_rows, r.linked #> ARRAY['worst', k.name] IS NOT NULL AS attacked,
                   coalesce((r.linked #>> ARRAY['worst', k.name, 'values'])::bigint, (SELECT (m ->> 'value')::float8::bigint FROM now n, jsonb_array_elements(n.measures) AS m
                         WHERE m ->> 'measure' = 'distinct_l' AND m ->> 'sensitive_column' = k.name)) AS known,
                   coalesce((r.linked #>> ARRAY['worst', k.name, 'share'])::float8, (SELECT (m ->> 'value')::float8 FROM now n, jsonb_array_elements(n.measures) AS m
                         WHERE m ->> 'measure' = 'alpha' AND m ->> 'sensitive_column' = k.name)) AS top
            FROM kept k LEFT JOIN disclosed d ON d.name = k.name WHERE NOT k.is_key AND d.least IS NULL ORDER BY k.nr) AS y,
            -- (classes of rows by themselves are larger than what somebody finds who knows the person, too)
            LATERAL (SELECT y.name, y.quoted, y.rules, y.attacked, y.classes, y.one_classes, y.one_rows, y.most_classes, y.most_rows, CASE WHEN r.model <> 'linked' OR y.known = 1 THEN y.known END AS known, CASE WHEN r.model <> 'linked' THEN y.top END AS top) AS x
        WHERE r.published_rows > 0 AND r.anatomy IS NULL AND r.mechanism IS NULL
        UNION ALL
        SELECT 40, 'policy', x.verdict, format('Policy %s, %s: %s', m.value, x.point, x.says), jsonb_build_object('policy', m.value, 'point', x.point, 'law', x.law)
        FROM r, (SELECT r.options ->> 'policy' FROM r WHERE r.options ? 'policy' UNION SELECT j.value FROM jsonb_each_text(kanon_report_data.metadata) AS j WHERE lower(j.key) = 'policy') AS m (value),
            LATERAL @extschema@.kanon_check_policy(r.run, m.value) AS x
        UNION ALL
        SELECT 30, 'identifiers', CASE WHEN coalesce(a.unmasked, a.like_names) IS NOT NULL AND r.has_classes THEN 'no' WHEN coalesce(a.names, a.like_names, a.together, a.tell) IS NULL THEN 'yes' ELSE 'caution' END,
               CASE WHEN coalesce(a.names, a.like_names, a.together, a.tell) IS NOT NULL
                    THEN concat_ws(' ', 'Columns that can tell readers whom a row is about, published because the caller allowed it: ' || a.names || '.',
                                   'Columns whose name says that they identify persons, published unchanged: ' || a.like_names || '. kanon cannot tell whether they name persons. Look at them, then leave them out, mask them, or label them ''keep''.',
                                   'In nine of ten rows these kept columns together have values that no other row has: ' || a.together || '.',
                                   'Kept columns that tell of what is hidden or masked: ' || a.tell || '.')
                    WHEN r.kept = '{}' THEN format('No column is published beside the %s.', CASE WHEN r.transactions IS NULL THEN 'quasi-identifiers' ELSE 'items' END)
                    WHEN r.model = 'cross_training' AND r.mechanism IS NOT NULL THEN 'No column is labelled as an identifier; values are those of the source with noise.'
                    WHEN r.mechanism IS NOT NULL THEN 'No column is labelled as an identifier; values are those of the domains, whether they are in the source or not.'
                    ELSE 'No kept column is nearly unique, and none is labelled as an identifier. kanon checked both'
                         || CASE WHEN r.options ? 'mask' THEN ' (of masked columns after masking; pseudonyms and constants aside).' ELSE '.' END END
               || coalesce(' These kept columns were compared with no other one: ' || a.alone || '.', '')
               || CASE WHEN r.options ? 'compared_in_part' THEN ' Not all groups of kept columns were asked what they tell of hidden quasi-identifiers: there are too many.' ELSE '' END,
               jsonb_build_object('allowed', coalesce(r.options -> 'allow_identifying', '[]'), 'may_name_persons', coalesce(r.options -> 'may_name_persons', '[]'),
                                  'identify_together', coalesce(r.options -> 'identify_together', '[]'), 'tell', coalesce(r.options -> 'tell', '[]'))
        FROM r, LATERAL (SELECT (SELECT string_agg(quote_ident(x) || CASE WHEN coalesce(r.options -> 'mask', '{}') ? x THEN ' (masked)' ELSE '' END, ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'allow_identifying', '[]')) AS x) AS names,
                                (SELECT max(x) FROM jsonb_array_elements_text(coalesce(r.options -> 'allow_identifying', '[]')) AS x WHERE NOT coalesce(r.options -> 'mask', '{}') ? x) AS unmasked,
                                (SELECT string_agg(quote_ident(x), ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'may_name_persons', '[]')) AS x) AS like_names,
                                (SELECT string_agg(x, '; ') FROM jsonb_array_elements_text(coalesce(r.options -> 'identify_together', '[]')) AS x) AS together,
                                (SELECT string_agg(quote_ident(x), ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'compared_alone', '[]')) AS x) AS alone,
                                (SELECT string_agg(format('%s (of %s)', split_part(x, ': ', 1), split_part(x, ': ', 2)), ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'tell', '[]')) AS x) AS tell) AS a
        WHERE r.tables IS NULL) AS v),
-- the worst first: what says who somebody is, then what is said of them
ranked AS (
    SELECT v.*, row_number() OVER (ORDER BY array_position('{no,caution,yes}'::text[], v.verdict),
               coalesce(array_position('{quasi_identifiers,presence,identifiers,persons,counts,kept,held_back,releases,left_out,nearly_empty}'::text[], v.about), 99),
               -(v.claim ->> 'one_rows')::bigint, v.nr, v.says) AS severity
    FROM verdicts v),
measures AS (
    SELECT m.* FROM r, LATERAL (VALUES
        (1, 'Suppressed cells', 'count', 'suppressed_cells', CASE WHEN r.anatomy IS NULL AND r.mechanism IS NULL THEN r.suppressed_cells END::float8, 'Cells of the quasi-identifiers that were emptied; for sets, items left out. Fewer is better.'),
        (2, 'Suppressed share', 'share', 'suppressed_share', r.suppressed_share, 'Their share of all published cells of quasi-identifiers.'),
        (3, 'Cost', 'number', 'cost', CASE WHEN r.mechanism IS NULL AND r.tables IS NULL THEN r.cost END, 'The method''s own score; compare only runs of the same method.'),
        (4, 'Lower bound', 'number', 'lower_bound', r.lower_bound, 'Proven: no release under these rules costs less.'),
        (5, 'Usefulness (a loss)', 'number', 'usefulness', r.usefulness, 'How different the original rows of a class are: a loss, which Bredereck et al. call usefulness. Smaller is better.'),
        (6, 'Classes', 'count', 'classes', r.classes, 'Groups of rows that show the same.'),
        (7, 'Average class', 'number', 'class_avg', r.class_avg, 'Rows of a class. Close to k is better for use.'),
        (8, 'Largest class', 'count', 'class_max', r.class_max, 'Rows of the largest class.'),
        (9, 'C_avg', 'number', 'c_avg', r.c_avg, 'Average class in units of k. 1 is best.'),
        (10, 'Discernibility', 'number', 'discernibility', r.discernibility, 'For each row, the number of rows in its class, added up. Smaller is better.'),
        (11, 'ILoss', 'number', 'iloss', r.iloss, 'Information lost over all cells, weighted. Smaller is better.'),
        (12, 'NCP', 'number', 'ncp', r.ncp, 'Certainty lost, added up over all rows; for sets, the share over all occurrences. Smaller is better.'),
        (13, 'GCP', 'share', 'gcp', r.gcp, 'The same as a share: 0 nothing lost, 100 % everything.'),
        (14, 'Precision', 'share', 'precision', r.precision, '100 % nothing lost, 0 everything.'),
        (15, 'Entropy lost', 'number', 'entropy', r.entropy, 'Bits that the cells held and do not show. Smaller is better.'),
        (16, 'Entropy lost, share', 'share', 'entropy_share', r.entropy_share, 'As a share of what emptying every cell would lose.'),
        (17, 'Classification metric', 'share', 'classification', r.classification, 'Share of rows that differ from the majority of their class in the class column. Smaller is better.'),
        (18, 'Items before', 'count', 'items_before', (r.transactions ->> 'items_before')::float8, 'Different items in the source.'),
        (19, 'Items and labels after', 'count', 'items_shown', (r.transactions ->> 'items_shown')::float8, 'Different things that the table shows.'),
        (20, 'Items suppressed', 'count', 'items_suppressed', (r.transactions ->> 'items_suppressed')::float8, 'Items that are nowhere in the table.'),
        (21, 'Occurrences', 'count', 'occurrences', (r.transactions ->> 'occurrences')::float8, 'Items in all transactions of the source.'),
        (22, 'Occurrences suppressed', 'count', 'occurrences_suppressed', (r.transactions ->> 'occurrences_suppressed')::float8, 'Occurrences of suppressed items.'),
        (23, 'Empty before', 'count', 'empty_before', (r.transactions ->> 'empty_before')::float8, 'Transactions without items in the source.'),
        (24, 'Empty after', 'count', 'empty_after', (r.transactions ->> 'empty_after')::float8, 'Transactions that show nothing. They are in the table all the same.'),
        (25, 'Most frequent sets', 'count', 'frequent_sets', (r.transactions ->> 'frequent_sets')::float8, 'The most frequent sets of items of the source, 100 at most.'),
        (27, 'Groups', 'count', 'groups', (r.anatomy ->> 'groups')::float8, 'Groups of rows that share their sensitive values.'),
        (28, 'Sensitive values', 'count', 'sensitive_values', (r.anatomy ->> 'values')::float8, 'Different ones in the source.'),
        (29, 'Persons', 'count', 'persons', (r.tables ->> 'persons')::float8, 'Rows of the table of persons.'),
        (30, 'Classes of persons', 'count', 'person_classes', (r.tables ->> 'classes')::float8, 'Persons who look alike in their own table.'),
        (31, 'Combinations of rows', 'count', 'combinations', (r.tables ->> 'combinations')::float8, 'Different ones that somebody may know, in all classes.'),
        (26, 'Frequent sets preserved', 'count', 'frequent_preserved', (r.transactions ->> 'frequent_preserved')::float8, 'Sets that are among the most frequent of the table, too. More is better.'))
        AS m (nr, what, kind, measure, value, reading)
    WHERE m.value IS NOT NULL),
-- the same call for other ks; listed values of rules and items are not recorded, so such a call cannot be repeated
again AS (
    SELECT r.source_now, r.model, ARRAY(SELECT x::name FROM jsonb_array_elements_text(coalesce(r.options -> 'quasi_identifiers', r.options -> 'items')) AS x) AS names,
           CASE WHEN r.model = 'pattern_guided' THEN '{"level_cost": "height"}'::jsonb ELSE '{}' END
               || (r.options - '{quasi_identifiers,items,k,l,sensitive_target,view,replace,mask,may_name_persons,identify_together,tell,compared_alone,compared_in_part,shows_few,metric_bound,stayed_near,held_back}'::text[])
               || CASE WHEN r.privacy <> '[]' THEN jsonb_build_object('privacy', (SELECT jsonb_agg(x - 'says') FROM jsonb_array_elements(r.privacy) AS x)) ELSE '{}' END AS options
    FROM r
    WHERE kanon_report_data.frontier IS NOT NULL AND r.source_now IS NOT NULL AND r.named_not IS NULL AND r.mechanism IS NULL AND r.tables IS NULL AND NOT r.options ?| '{h,rho,linked}'
      AND NOT jsonb_path_exists(r.privacy, '$[*].listed')),
ks AS (
    SELECT f.* FROM again a, LATERAL @extschema@.kanon_frontier(a.source_now, a.names, kanon_report_data.frontier, method => 'greedy'::text, patterns => NULL::text[],
        rules => NULL::jsonb, gap => 0::float8, effort => 1::float8, keep => '{}'::name[], weights => NULL::@extschema@.kanon_weights, hierarchies => NULL::jsonb,
        level_cost => 'ncp'::text, privacy => NULL::jsonb[], categorical => '{}'::name[], residual => 'fill'::text,
        time_limit => '60 seconds'::interval, seed => NULL::bigint, model => a.model, options => a.options) AS f)
SELECT jsonb_build_object(
    'run', to_jsonb(r) - '{source_now,source_not,target_now,target_not,beside_now,beside_not,named_now,named_not,any_population,described}'::text[] || jsonb_build_object('server', current_setting('server_version'),
        -- nobody asked for one where the promise is another
        'k', CASE WHEN r.linked IS NOT NULL THEN (r.linked ->> 'k')::bigint WHEN r.anatomy IS NULL AND r.mechanism IS NULL AND NOT r.options ? 'rho' THEN r.k END),
    -- documents of its tables, which kanon_report adds
    'parts', NULL,
    'title', CASE WHEN r.publication IS NULL THEN r.target ELSE r.publication END,
    'linked', (SELECT jsonb_build_object('tables', jsonb_agg(to_jsonb(t) - '{says,claim,names}'::text[] ORDER BY t.nr), 'width', max(t.x) + 220, 'height', max(t.y) + 64,
                      'lines', (SELECT jsonb_agg(jsonb_build_object('x1', a.x + 10, 'y1', a.y + 30, 'x2', b.x + 200, 'y2', b.y + 30) ORDER BY a.nr, b.nr) FROM linked_tables a, jsonb_array_elements(a.refers) AS e, linked_tables b WHERE b.nr = (e ->> 'to')::int + 1))
               FROM linked_tables t HAVING count(*) > 0),
    'classes', r.has_classes,
    'records', r.transactions IS NULL AND r.tables IS NULL,
    'statements', (SELECT jsonb_agg(to_jsonb(s) - 'nr' - 'part' ORDER BY s.nr, s.part) FROM statements s),
    'verdict', CASE WHEN EXISTS (SELECT FROM verdicts v WHERE v.nr IN (10, 17) AND v.verdict = 'no') THEN '{"verdict": "no", "says": "The table is not what was published."}'
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict = 'no' AND v.about = 'persons')
                    THEN (SELECT jsonb_build_object('verdict', 'no', 'says', format('Fewer than %s persons share a class, it seems, although %s rows do: counted by %s, this is so for %s rows (%s).', r.k, r.k, d.quoted, kanon_internal.kanon_counted(d.few_rows), kanon_internal.kanon_share_up(d.few_rows, r.published_rows)))
                          FROM disclosed d WHERE d.few_classes > 0 ORDER BY d.few_rows DESC, d.name LIMIT 1)
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict = 'no') THEN '{"verdict": "no", "says": "Something is given away, although the promise was kept: read the verdicts below."}'
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict <> 'yes' AND v.about = 'kept') THEN '{"verdict": "caution", "says": "The promise was kept. Some columns were published without a promise: read the verdicts below."}'
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict <> 'yes') THEN '{"verdict": "caution", "says": "The promise was kept, with cautions: read the verdicts below."}'
                    ELSE '{"verdict": "yes", "says": "The promise was kept."}'::jsonb END,
    -- the first page: the worst first, and no more than it has room for
    'front', jsonb_build_object(
        'columns', nullif(concat_ws('; ',
            CASE WHEN r.transactions IS NOT NULL THEN quote_ident(r.options -> 'items' ->> 0) ELSE (SELECT string_agg(c.name, ', ' ORDER BY c.ordinal) FROM columns c) END,
            (SELECT CASE WHEN r.anatomy IS NULL AND r.mechanism IS NULL THEN 'kept: ' ELSE '' END
                    || string_agg(k.quoted || CASE WHEN r.mechanism IS NULL THEN format(' (%s)', coalesce(k.done, 'as it was')) ELSE '' END, ', ' ORDER BY k.nr) FROM kept k),
            'in the second table: ' || quote_ident(r.anatomy ->> 'sensitive')), ''),
        'promise', (SELECT jsonb_agg(s.says ORDER BY s.nr, s.part) FROM (SELECT s.* FROM statements s WHERE s.about IN ('promise', 'rules') ORDER BY s.nr, s.part LIMIT 4) s),
        'verdicts', (SELECT jsonb_agg(to_jsonb(v) - '{nr,place,severity,kind}'::text[] ORDER BY v.place) FROM (
            SELECT v.*, row_number() OVER (ORDER BY v.severity) AS place, rank() OVER (ORDER BY array_position('{no,caution,yes}'::text[], v.verdict)) AS kind FROM ranked v) v WHERE v.place <= 5 OR v.kind = 1 AND v.verdict <> 'yes'),
        'more', (SELECT nullif(count(*) - greatest(least(5, count(*)), count(*) FILTER (WHERE v.kind = 1 AND v.verdict <> 'yes')), 0)
                 FROM (SELECT v.verdict, rank() OVER (ORDER BY array_position('{no,caution,yes}'::text[], v.verdict)) AS kind FROM verdicts v) v),
        'for_whom', (SELECT m.value FROM jsonb_each_text(kanon_report_data.metadata) AS m WHERE lower(m.key) = 'for whom' LIMIT 1),
        'until', (SELECT m.value FROM jsonb_each_text(kanon_report_data.metadata) AS m WHERE lower(m.key) IN ('until', 'valid until') LIMIT 1)),
    -- Article 29 Working Party, Opinion 05/2014 on anonymisation techniques
    'questions', (SELECT jsonb_agg(jsonb_build_object('question', q.question, 'asks', q.asks, 'answer', coalesce(q.answer, 'Not answered.')) ORDER BY q.nr) FROM (VALUES
        (1, 'Singling out', 'Can a person''s row be found?',
            CASE WHEN r.published_rows = 0 THEN 'No rows.'
                 WHEN r.anatomy IS NOT NULL THEN 'Yes: rows stand as they were.'
                 WHEN r.transactions IS NOT NULL THEN CASE WHEN r.options ? 'rho' THEN NULL ELSE format('By %s items: at least %s transactions share them.', coalesce(r.options ->> 'm', r.options ->> 'p', '2'), r.k) END
                 WHEN r.mechanism IS NOT NULL THEN CASE r.model WHEN 'cross_training' THEN NULL ELSE 'Whether a row is true cannot be told for certain.' END
                 WHEN r.matches IS NOT NULL THEN CASE r.method WHEN 'k_one' THEN NULL ELSE format('At least %s records fit every row.', r.matches) || CASE WHEN r.method IN ('one_k', 'k_k', 'concealment') THEN ' They need not be equally likely.' ELSE '' END END
                 WHEN r.linked IS NOT NULL THEN format('At least %s persons fit what somebody may know.', r.linked ->> 'k')
                 WHEN r.few_known THEN format('By %s columns: at least %s %s. By more: not answered.', r.known, r.k, CASE WHEN r.subject IS NULL THEN 'rows' ELSE 'persons' END)
                 ELSE (SELECT format('%s of %s rows stand alone; the smallest class has %s%s.', kanon_internal.kanon_counted(coalesce((k.stages #>> '{target,unique_rows}')::bigint, 0)), kanon_internal.kanon_counted(r.published_rows), k.least,
                              CASE WHEN r.subject IS NOT NULL THEN format(' rows, of at least %s persons', r.k) ELSE CASE k.least WHEN 1 THEN ' row' ELSE ' rows' END END)
                              || coalesce((SELECT string_agg(format(' Counted by %s: %s.', d.quoted, CASE WHEN d.few_classes > 0 THEN d.least::text ELSE 'at least ' || r.k END), '' ORDER BY d.name) FROM disclosed d WHERE d.least IS NOT NULL), '') FROM risk k) END),
        (2, 'Linking', 'Can rows of one person be joined, here, between releases or with other tables?',
            nullif(concat_ws(' ',
                (SELECT format('Within the table: by %s.', string_agg(k.quoted, ', ' ORDER BY k.nr)) FROM kept k WHERE k.allowed OR k.done LIKE 'a pseudonym%' OR k.is_key HAVING count(*) > 0),
                (SELECT CASE WHEN h.among IS NULL THEN format('Between releases: at least %s persons share each history.', h.k) ELSE 'Between releases: who came, left or moved can be told.' END FROM held h),
                (SELECT format('Between releases: %s persons stand with fewer than k in two of them.', kanon_internal.kanon_counted(l.persons_below_k)) FROM releases l WHERE l.relation::oid = r.target_oid AND l.persons_below_k IS NOT NULL),
                'With other tables: not answered.'), '')),
        (3, 'Inference', 'Can a value be read off without finding the row?',
            CASE WHEN r.published_rows = 0 THEN 'No rows.'
                 WHEN r.anatomy IS NOT NULL THEN format('No value of %I is more likely than 1 in %s in any group.', r.anatomy ->> 'sensitive', r.anatomy ->> 'l')
                 WHEN r.transactions IS NOT NULL THEN CASE WHEN r.options ? 'rho' THEN format('No private item is more likely than %s.', r.options ->> 'rho') WHEN r.options ? 'h' THEN format('No private item is in more than %s %% of the transactions that fit.', r.options ->> 'h') END
                 WHEN r.mechanism IS NOT NULL OR r.matches IS NOT NULL OR r.few_known OR r.linked IS NOT NULL THEN NULL
                 WHEN r.kept = '{}' THEN 'No column is published beside those that attackers may know.'
                 ELSE coalesce((SELECT string_agg(format('%s: for %s rows (%s).', d.quoted, kanon_internal.kanon_counted(d.one_rows), kanon_internal.kanon_share_up(d.one_rows, r.published_rows)), ' ' ORDER BY d.one_rows DESC, d.name)
                                FROM (SELECT d.* FROM disclosed d WHERE d.one_rows > 0 AND d.least IS NULL ORDER BY d.one_rows DESC, d.name LIMIT 3) d),
                               CASE WHEN r.disclosure IS NOT NULL THEN 'In no class do all rows have one value of a kept column.' END) END)) AS q (nr, question, asks, answer)),
    'example', (SELECT CASE WHEN count(e.value) > 0
                            THEN format('An example with made-up values: a row with %s is shown with %s.', string_agg(e.name || ' ' || e.value, ', ' ORDER BY e.ordinal) FILTER (WHERE e.value IS NOT NULL), e.words)
                            ELSE format('An example: a row is shown with %s.', e.words) END
                       || CASE WHEN e.share = 1 THEN ' All rows have this pattern.' ELSE format(' %s %% of the rows have this pattern, the commonest of those that change something.', to_char(100 * e.share, 'FM990.0')) END
                FROM (SELECT e.*, string_agg(e.name || ' ' || e.shown, ', ') OVER (ORDER BY e.ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS words FROM example e) e
                WHERE e.changes GROUP BY e.words, e.share),
    'verdicts', (SELECT jsonb_agg(to_jsonb(v) - '{nr,severity}'::text[] ORDER BY v.severity) FROM ranked v),
    'check', CASE WHEN r.transactions IS NOT NULL THEN format('SELECT * FROM %I.kanon_check_transactions(%L, %L%s%s%s);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), r.options -> 'items' ->> 0,
                         CASE WHEN r.options ? 'rho' THEN '' ELSE format(', k => %s, m => %s', r.k, coalesce(r.options ->> 'm', r.options ->> 'p', '2')) END,
                         CASE WHEN r.options ? 'transaction' THEN format(', transaction => %L', r.options ->> 'transaction') ELSE '' END,
                         CASE WHEN r.options ? 'sensitive_items' THEN format(', sensitive_items => %L', r.options ->> 'sensitive_items') WHEN r.options ?| '{h,rho}' THEN ', sensitive => ''{...}''' ELSE '' END)
                  WHEN r.tables IS NOT NULL THEN (
                         SELECT format('SELECT * FROM %I.kanon_check_linked(%L, %L, k => %s, known_rows => %L);', (SELECT h.name FROM home h), min(t.shown) FILTER (WHERE t.role = 'subject'),
                                       jsonb_object_agg(t.shown, jsonb_build_object('quasi_identifiers', t.names)) FILTER (WHERE t.shown IS NOT NULL), r.k, r.options ->> 'known_rows')
                         FROM linked_tables t WHERE t.role IN ('subject', 'rows', 'copies') HAVING bool_and(t.shown IS NOT NULL))
                  WHEN r.model = 'linked' THEN NULL
                  WHEN r.mechanism IS NOT NULL THEN format('SELECT %I.kanon_checksum(%L);', (SELECT h.name FROM home h), coalesce(r.publication, r.target))
                  WHEN r.anatomy IS NOT NULL THEN format('SELECT min(n / most) AS l FROM (SELECT sum(c) AS n, max(c) AS most FROM (SELECT kanon_group, sum(kanon_count) AS c FROM %s GROUP BY kanon_group, %I) v GROUP BY kanon_group) g;', r.anatomy ->> 'sensitive_target', r.anatomy ->> 'sensitive')
                  WHEN r.matches IS NOT NULL THEN format('SELECT * FROM %I.kanon_check_freeform(%L, %L, %L, %s%s);', (SELECT h.name FROM home h), coalesce(r.made_of, r.source), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text, r.matches, coalesce(', k_column => ' || quote_literal(r.options ->> 'k_column'), '') || coalesce(', hierarchies => ' || quote_literal(r.options ->> 'hierarchies'), ''))
                  -- what is generalised, or a range or set, cannot be compared with a population as it is
                  WHEN r.population IS NOT NULL AND (EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') OR (r.model = 'cluster' AND r.options ->> 'show' IS DISTINCT FROM 'suppress')) THEN NULL
                  WHEN r.any_population IS NOT NULL AND NOT (EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') OR (r.model = 'cluster' AND r.options ->> 'show' IS DISTINCT FROM 'suppress'))
                  THEN format('SELECT * FROM %I.kanon_risk(%L, %L, population => %L);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text, r.any_population)
                  WHEN r.few_known THEN format('SELECT * FROM %I.kanon_check(%L, %L, %s, %s%s, missing => %L%s);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text, coalesce(r.options ->> 'known_columns', 'NULL'), r.k,
                         CASE WHEN r.options ? 'combinations' THEN ', combinations => ' || quote_literal(ARRAY(SELECT jsonb_array_elements_text(r.options -> 'combinations'))::text) ELSE '' END, r.few_missing, (SELECT format(', subject => %L', p.name) FROM persons p))
                  ELSE format('SELECT * FROM %I.kanon_check(%L, %L);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text) END,
    'check_says', CASE WHEN r.matches IS NOT NULL THEN 'The table alone does not show whether the promise was kept: the call compares it with the source. Only somebody who may read both can check it:'
                       WHEN r.anatomy IS NOT NULL THEN 'Anybody who may read the second table can check it without this page:'
                       WHEN r.options ?| '{h,rho}' AND NOT r.options ? 'sensitive_items' THEN 'Anybody who may read the table can check it. Write the private items in place of the dots: they are not recorded.'
                       WHEN r.mechanism IS NOT NULL THEN 'No count in the table shows whether the promise was kept. Anybody who may read the table can check that it is the one of this page, by its SHA-256:'
                       WHEN r.any_population IS NOT NULL AND (r.population IS NOT NULL OR NOT (EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') OR (r.model = 'cluster' AND r.options ->> 'show' IS DISTINCT FROM 'suppress')))
                       THEN 'Anybody who may read the table and the population can check it without this page:'
                       WHEN jsonb_path_exists(r.privacy, '$[*] ? (@.rule == "delta_presence" || @.rule == "presence")') THEN 'Anybody who may read the table can count the rows of its classes. This call does not count presence:'
                       WHEN r.subject IS NOT NULL AND NOT (r.few_known AND EXISTS (SELECT FROM persons)) THEN format('Anybody who may read the table can count the rows of its classes. Only somebody who may read %s can count persons.', quote_ident(r.subject))
                       WHEN r.tables IS NOT NULL THEN 'Anybody who may read the tables can check it without this page:'
                       WHEN r.linked IS NOT NULL THEN 'Anybody who may read the table can count the rows of its classes. kanon_check_linked counts the promise over all tables.'
                       ELSE 'Anybody who may read the table can check it without this page:' END,
    'columns', coalesce((SELECT jsonb_agg(to_jsonb(c) - 'run' || jsonb_build_object(
                   'kept_share', c.kept / nullif(r.published_rows, 0)::float8, 'generalised_share', c.generalised / nullif(r.published_rows, 0)::float8) ORDER BY c.ordinal) FROM columns c), '[]'),
    'kept', coalesce((SELECT jsonb_agg(to_jsonb(x) - 'nr' ORDER BY x.nr) FROM kept x), '[]'),
    'risk', (SELECT jsonb_set(k.stages, '{source,row_count}', coalesce(r.held -> 'source_rows', k.stages #> '{source,row_count}')) FROM risk k WHERE r.has_classes),
    'now', (SELECT to_jsonb(n) || jsonb_build_object(
                'without_population', NOT EXISTS (SELECT FROM jsonb_array_elements(n.measures) AS m WHERE m ->> 'measure' LIKE 'journalist%'),
                -- but what is told above
                'risks', (SELECT jsonb_agg(m || jsonb_build_object('what', upper(left(m ->> 'measure', 1)) || replace(substr(m ->> 'measure', 2), '_', ' '), 'meaning', upper(left(m ->> 'meaning', 1)) || substr(m ->> 'meaning', 2),
                              'share', CASE WHEN y.share THEN m -> 'value' END, 'number', CASE WHEN NOT y.share THEN m -> 'value' END) ORDER BY nr)
                          FROM jsonb_array_elements(n.measures) WITH ORDINALITY AS x (m, nr),
                               LATERAL (SELECT m ->> 'measure' ~ '^(share|prosecutor|journalist|marketer|presence|population_unique_share)' AS share) y
                          WHERE m -> 'sensitive_column' = 'null' AND m ->> 'measure' NOT IN ('rows', 'classes', 'k', 'unique_rows', 'blank_rows', 'prosecutor_highest', 'prosecutor_average')),
                'has_sensitive', EXISTS (SELECT FROM jsonb_array_elements(n.measures) AS m WHERE m -> 'sensitive_column' <> 'null'),
                'sensitive', (SELECT jsonb_agg(s.measures ORDER BY s.nr) FROM (
                    SELECT min(nr) AS nr, '{"distinct_l": null, "entropy_l": null, "recursive_c_2": null, "alpha": null, "t_equal": null, "t_ordered": null}'
                           || jsonb_object_agg(m ->> 'measure', m -> 'value') || jsonb_build_object('column_name', m ->> 'sensitive_column') AS measures
                    FROM jsonb_array_elements(n.measures) WITH ORDINALITY AS x (m, nr) WHERE m -> 'sensitive_column' <> 'null' GROUP BY m ->> 'sensitive_column') s)) FROM now n),
    'threshold', kanon_report_data.threshold,
    'sizes', (SELECT jsonb_agg(to_jsonb(s) - 'run' || jsonb_build_object('risk', 1 / s.size_from::float8,
                  'source_share', s.source_rows / nullif(r.row_count, 0)::float8, 'target_share', s.target_rows / nullif(r.published_rows, 0)::float8,
                  'border', s.size_from = r.k) ORDER BY s.size_from) FROM sizes s WHERE r.has_classes AND r.row_count > 0),
    'patterns', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.place) FROM patterns p WHERE p.place <= 25),
    'more_patterns', (SELECT jsonb_build_object('patterns', count(*), 'row_count', sum(p.row_count)) FROM patterns p WHERE p.place > 25 HAVING count(*) > 0),
    'measures', (SELECT jsonb_agg(to_jsonb(m) - 'nr' || jsonb_build_object('count', CASE m.kind WHEN 'count' THEN m.value END,
                     'number', CASE m.kind WHEN 'number' THEN m.value END, 'share', CASE m.kind WHEN 'share' THEN m.value END) ORDER BY m.nr) FROM measures m),
    'frontier', CASE WHEN kanon_report_data.frontier IS NOT NULL AND r.tables IS NULL THEN jsonb_build_object('says',
                    CASE WHEN r.mechanism IS NOT NULL THEN 'Rows that are drawn by chance, or have noise, hide nobody among k others.'
                         WHEN r.options ? 'linked' THEN 'This is one table of a release of several, so other ks cannot be tried for it alone.'
                         WHEN r.options ? 'rho' THEN 'The promise is about a confidence: there is no k.'
                         WHEN r.options ? 'h' THEN 'Which items are private was not recorded where they were listed, so other ks cannot be tried.'
                         WHEN r.source_now IS NULL THEN format('The source was not read: %s. So other ks were not tried.', coalesce(r.source_not, 'it is not there any more'))
                         WHEN r.named_not IS NOT NULL THEN (SELECT format('%s was not read: %s. So other ks were not tried.', e.key, e.value) FROM jsonb_each_text(r.named_not) AS e ORDER BY e.key LIMIT 1)
                         WHEN jsonb_path_exists(r.privacy, '$[*].listed') THEN 'A rule lists values, which were not recorded, so other ks cannot be tried.'
                         ELSE 'With the same rules, tried on the source as it was when this page was made. A larger k hides every row among more.' END,
                    'what', CASE WHEN r.anatomy IS NOT NULL THEN 'Reconstruction error by l' WHEN r.model = 'pattern_guided' THEN 'Share of empty cells by k' ELSE 'Information lost (GCP) by k' END,
                    'letter', CASE WHEN r.anatomy IS NOT NULL THEN 'l' ELSE 'k' END,
                    'ks', (SELECT jsonb_agg(to_jsonb(f) || jsonb_build_object('here', f.k = coalesce((r.anatomy ->> 'l')::bigint, r.k), 'number', CASE WHEN r.anatomy IS NOT NULL THEN f.lost END,
                               'solved', f.lost IS NOT NULL, 'highest', f.height = 1) ORDER BY f.k)
                           FROM (SELECT k.*, coalesce((row_number() OVER (ORDER BY k.k) - 1) / nullif(count(*) OVER () - 1, 0)::float8, 0.5) AS place,
                                        coalesce(k.lost / nullif(max(k.lost) OVER (), 0), 0) AS height
                                 FROM (SELECT k.*, CASE WHEN r.anatomy IS NOT NULL THEN k.cost WHEN r.model = 'pattern_guided' THEN k.suppressed_share ELSE k.gcp END AS lost FROM ks k) k) f)) END,
    'compared', CASE WHEN kanon_report_data.compare AND r.tables IS NULL THEN jsonb_build_object(
        'says', CASE WHEN r.transactions IS NOT NULL THEN 'Sets of items cannot be compared by column.'
                     WHEN r.mechanism IS NOT NULL THEN 'A comparison with the source would tell of it what the table does not.'
                     WHEN r.anatomy IS NOT NULL THEN 'The rows stand as they were; their sensitive values are in the other table.'
                     WHEN r.source_now IS NULL THEN format('The source was not read: %s.', coalesce(r.source_not, 'it is not there any more'))
                     WHEN r.target_now IS NULL THEN format('The table was not read: %s.', coalesce(r.target_not, 'it is not there any more'))
                     WHEN r.named_not IS NOT NULL THEN (SELECT format('%s was not read: %s.', e.key, e.value) FROM jsonb_each_text(r.named_not) AS e ORDER BY e.key LIMIT 1)
                     WHEN NOT EXISTS (SELECT FROM sides) THEN 'The table has no rows.'
                     WHEN (SELECT s.could > cardinality(s.kept) FROM sides s) THEN (SELECT format('Of the kept columns the first %s are compared here; kanon_compare takes the others.', cardinality(s.kept)) FROM sides s) END,
        'least', (SELECT s.least FROM sides s),
        'columns', coalesce((SELECT jsonb_agg(jsonb_build_object('column_name', v.name, 'distance', v.distance,
                       'numbers', CASE WHEN v.mean IS NOT NULL AND NOT v.date THEN jsonb_build_object('mean', v.mean, 'spread', v.spread, 'shown', v.shown) END,
                       -- seconds say nothing to anybody
                       'dates', CASE WHEN v.date THEN jsonb_build_object(
                           'before', to_char(to_timestamp((v.mean -> 'before')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                           'after', to_char(to_timestamp((v.mean -> 'after')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                           'shown', to_char(to_timestamp((v.shown -> 'after')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                           'days_before', round(((v.spread -> 'before')::float8 / 86400)::numeric, 1), 'days_after', round(((v.spread -> 'after')::float8 / 86400)::numeric, 1)) END) ORDER BY v.nr)
                   FROM (SELECT n.name, n.nr, (SELECT x.value FROM compared x WHERE x.column_name = n.name AND x.measure = 'distribution_distance') AS distance,
                                (SELECT to_jsonb(x) FROM compared x WHERE x.column_name = n.name AND x.measure = 'mean') AS mean,
                                (SELECT to_jsonb(x) FROM compared x WHERE x.column_name = n.name AND x.measure = 'mean_of_shown_cells') AS shown,
                                (SELECT to_jsonb(x) FROM compared x WHERE x.column_name = n.name AND x.measure = 'standard_deviation') AS spread,
                                EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = s.source_now AND a.attname = n.name AND a.atttypid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)) AS date
                         FROM sides s, unnest(s.names || s.kept) WITH ORDINALITY AS n (name, nr)) v), '[]'),
        'queries', (SELECT jsonb_object_agg(x.measure, x.value) FROM compared x WHERE x.measure LIKE 'quer%'),
        'correlations', (SELECT jsonb_build_object('distance', x.value) FROM compared x WHERE x.measure = 'correlation_matrix_distance' AND x.value IS NOT NULL),
        'distributions', (SELECT jsonb_agg(g.x ORDER BY g.nr) FROM (
            SELECT min(b.nr) AS nr, jsonb_build_object('column_name', b.column_name, 'bars', jsonb_agg(
                to_jsonb(b) - '{column_name,nr}'::text[] || jsonb_build_object('before_length', b.before_share / b.longest, 'after_length', b.after_share / b.longest) ORDER BY b.nr)) AS x
            FROM (SELECT b.*, greatest(max(b.before_share) OVER w, max(b.after_share) OVER w) AS longest FROM bars b WINDOW w AS (PARTITION BY b.column_name)) b
            GROUP BY b.column_name) g)) END,
    'releases', (SELECT jsonb_agg(to_jsonb(l) - '{relation,key}'::text[] || jsonb_build_object('gcp', (SELECT max(g.gcp) FROM @extschema@.kanon_usefulness g WHERE g.target_oid = l.relation::oid AND g.publication = r.publication),
                     -- in rows, of what is there: what a release has reached may be persons
                     'smallest_class', (SELECT max(x.k) FROM @extschema@.kanon_usefulness g JOIN @extschema@.kanon_run_risk x ON x.run = g.run AND x.stage = 'target' WHERE g.target_oid = l.relation::oid AND g.publication = r.publication),
                     'here', coalesce(l.relation::oid = r.target_oid, false),
                     'finished', to_char(l.finished AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC', 'cost_a_row', l.cost / nullif(l.row_count, 0)) ORDER BY l.release)
                 FROM releases l),
    'options', (SELECT jsonb_agg(jsonb_build_object('option', o.key, 'value', CASE WHEN o.key = 'privacy' THEN (SELECT string_agg(coalesce(x ->> 'says', (x)::text), '; ') FROM jsonb_array_elements(o.value) AS x)
                    WHEN jsonb_typeof(o.value) = 'string' THEN o.value #>> '{}'
                    WHEN o.key = 'domains' AND length(o.value::text) > 400 THEN left(o.value::text, 400) || ' ...' ELSE o.value::text END) ORDER BY o.key COLLATE "C")
                FROM jsonb_each(coalesce((SELECT jsonb_object_agg(m.key, m.value) FROM jsonb_each(r.mechanism) AS m WHERE m.key IN ('d', 'delta', 'domains', 'epsilon', 'gamma', 't')), '{}') || (r.options - '{may_name_persons,identify_together,tell,compared_alone,compared_in_part,shows_few,metric_bound,linked,held_back}'::text[] - CASE WHEN r.mechanism IS NULL THEN '' ELSE 'quasi_identifiers' END)
                    || CASE WHEN r.mechanism IS NULL THEN '{}' ELSE jsonb_build_object('columns', r.options -> 'quasi_identifiers') END
                    || CASE WHEN r.linked IS NOT NULL THEN r.linked - '{promised,keys,worst}'::text[] || CASE WHEN r.model <> 'linked' THEN jsonb_build_object('class_size', r.k) ELSE '{}' END ELSE '{}' END
                    -- of a publication, what no run of it is told
                    || coalesce((SELECT jsonb_strip_nulls(jsonb_build_object('key', p.key, 'keep_releases', p.keep_releases, 'stable', p.stable, 'protect_successive', CASE p.protect_successive::text WHEN 'values' THEN to_jsonb('values'::text) ELSE to_jsonb(p.protect_successive::text::boolean) END)) || (p.options - CASE WHEN r.privacy <> '[]' THEN 'privacy' ELSE '' END)
                                 FROM @extschema@.kanon_publications p WHERE p.publication = r.publication), '{}')) AS o),
    'metadata', (SELECT jsonb_agg(jsonb_build_object('name', m.key, 'value', m.value) ORDER BY m.key COLLATE "C") FROM jsonb_each_text(kanon_report_data.metadata) AS m),
    'checksum', CASE WHEN kanon_report_data.read_target AND r.target_now IS NOT NULL THEN @extschema@.kanon_checksum(r.target_now) END,
    'beside', CASE WHEN r.anatomy IS NOT NULL THEN jsonb_build_object('table', r.anatomy -> 'sensitive_target',
                  'checksum', CASE WHEN kanon_report_data.read_target AND r.beside_now IS NOT NULL THEN @extschema@.kanon_checksum(r.beside_now) END) END,
    -- what the page does without
    'not_read', (SELECT jsonb_agg(n.says ORDER BY n.nr) FROM (
        SELECT 1 AS nr, format('The table was not read: %s.', coalesce(r.target_not, 'it is not there any more')) AS says WHERE (kanon_report_data.read_target OR kanon_report_data.read_population) AND r.target_now IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 2, format('The table %s was not read: %s.', r.anatomy ->> 'sensitive_target', coalesce(r.beside_not, 'it is not there any more')) WHERE kanon_report_data.read_target AND r.anatomy IS NOT NULL AND r.beside_now IS NULL
        UNION ALL
        SELECT 3, format('The population %s was not read: %s.', r.any_population, coalesce(r.named_not ->> r.any_population, 'it is not there any more'))
        WHERE kanon_report_data.read_population AND r.any_population IS NOT NULL AND r.named_now ->> r.any_population IS NULL) AS n),
    'values', CASE WHEN with_values AND r.has_classes THEN jsonb_build_object('smallest', (SELECT jsonb_agg(jsonb_build_object('class', q.class, 'pattern', q.pattern, 'row_count', q.row_count, 'shown', q.shown::text) ORDER BY q.row_count, q.class)
                  FROM (SELECT * FROM @extschema@.kanon_equivalence_classes e WHERE e.run = r.run AND e.shown <> '{}' ORDER BY e.row_count, e.class LIMIT 10) q)) END,
    'limits', (SELECT jsonb_agg(jsonb_build_object('what', l.what, 'says', l.says) ORDER BY l.nr) FROM (VALUES
        (1, r.has_classes AND EXISTS (SELECT FROM kept k WHERE k.rules = '{}'), 'Classes that agree.', 'If all rows of a class share a value in an unchanged column, anybody who finds the class knows it for every person in it.'),
        (2, r.transactions IS NULL AND r.anatomy IS NULL AND r.mechanism IS NULL AND r.subject IS NULL AND r.linked IS NULL, 'Persons with several rows.',
            CASE WHEN r.matches IS NULL THEN 'k counts rows. A person with many rows can fill a class alone.' ELSE 'k counts rows. A person with many rows can be behind all matches of a record.' END),
        (16, EXISTS (SELECT FROM @extschema@.kanon_publications p WHERE p.publication = r.publication AND p.options ->> 'pseudonym' LIKE 'group:%'), 'Publications that join.',
            'Publications of the same owner have the same keys, for a reader to join them. Such a reader sees what all of them show of a person.'),
        (15, r.linked ->> 'known_rows' <> 'all', 'More knowledge than was assumed.', 'An attacker who knows more rows of a person in a table, or how many rows the person has, may tell the person apart.'),
        (3, r.matches IS NOT NULL AND r.method IN ('one_k', 'k_one', 'k_k', 'concealment'), 'Matches that can be ruled out.', 'The matches of a row need not be equally likely. An attacker who knows the method, or everybody''s quasi-identifiers, can do better than one in k.'),
        (4, r.transactions IS NOT NULL, 'More knowledge than was assumed.', 'The promise holds against somebody who knows at most ' || coalesce(r.options ->> 'm', r.options ->> 'p', '2') || ' items of a person.'),
        (5, r.transactions IS NOT NULL, 'Knowing what is missing.', 'An attacker who knows an item that a person does not have knows more than was counted.'),
        (6, r.mechanism IS NULL, 'Columns that were not named.', 'If attackers know an unchanged column, it identifies as well as a birth date.'),
        (7, r.mechanism IS NULL, 'Several releases.', 'Two tables about the same persons can identify them when joined, though each keeps its promise.'
            || CASE WHEN r.few_known AND r.publication IS NOT NULL THEN ' Rows that come or leave between two releases are not protected against somebody who keeps both, and over three releases fewer than k rows may be left.' ELSE '' END),
        (17, jsonb_path_exists(r.options, '$.mask.* ? (exists(@.noise) || exists(@.swap) || exists(@.pram))'), 'Values that were moved.', 'Noise, swapped values and values changed by chance are no k-anonymity. A value far from all others stays far, and a swapped one is in the table.'
            || CASE WHEN jsonb_path_exists(r.options, '$.mask.*.by') AND r.publication IS NOT NULL THEN ' Somebody who keeps two releases can see which values changed in the source.' ELSE '' END),
        (9, r.anatomy IS NOT NULL, 'Columns that tell the value.', 'A published column that goes with the sensitive one, such as a drug with a diagnosis, can tell which value of a group is a row''s own. So can patterns of the whole table.'),
        (10, r.anatomy IS NOT NULL, 'Persons with several rows.', 'An attacker who knows which rows are of one person can compare the values of their groups.'),
        (11, r.mechanism IS NOT NULL, 'Persons with several rows.', 'The promise is about one row. It is weaker for a person with several rows, by each of them.'),
        (12, r.mechanism IS NOT NULL, 'Several releases.', 'Each release of the same source tells a little more: an attacker can compare the draws.'),
        (14, r.model = 'cross_training', 'Rows close together.', 'Its authors prove that nobody is isolated when rows are spread evenly over a cube of very many columns. Nothing is proven for other rows. Where many rows of a few columns lie close together, each is published nearly as it is. kanon_isolation counts those that stand alone.'),
        (13, r.model = 'alpha_beta', 'Rows that depend on one another.', 'The promise holds against attackers who take the rows to be independent of one another.'),
        (8, jsonb_path_exists(r.options, '$.mask.*.pseudonym'), 'Rows of one person.', 'A pseudonym shows which rows are of one person, across classes. An attacker who knows two of them may find the others.')) AS l (nr, so, what, says) WHERE l.so),
    'has', jsonb_build_object('sizes', r.has_classes AND r.row_count > 0, 'columns', EXISTS (SELECT FROM columns) AND r.published_rows > 0,
        'loss', EXISTS (SELECT FROM columns) AND r.published_rows > 0 OR EXISTS (SELECT FROM measures m WHERE m.value IS NOT NULL),
        'patterns', EXISTS (SELECT FROM patterns), 'ks', EXISTS (SELECT FROM ks), 'releases', r.publication IS NOT NULL,
        'key', EXISTS (SELECT FROM @extschema@.kanon_publications p WHERE p.publication = r.publication AND p.key IS NOT NULL)))
FROM r;
END;

COMMENT ON FUNCTION @extschema@.kanon_report_data(bigint, boolean, bigint[], float8, float8, jsonb, boolean, boolean, boolean)
IS 'the content of kanon_report as one document: statements of a run of yours with their claims, verdicts, risk, loss';
