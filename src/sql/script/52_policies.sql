/*
 * Policies: what laws and houses ask of a release, as points that can be looked up in the record of a run.  A row is
 * data and nothing else: nobody's code is in it, and nothing is called by it.
 */
CREATE TABLE @extschema@.kanon_policy (
    policy      text    PRIMARY KEY,
    description text    NOT NULL,
    points      jsonb   NOT NULL CHECK (pg_catalog.jsonb_typeof(points) OPERATOR(pg_catalog.=) 'array'),
    built_in    boolean NOT NULL DEFAULT false
);

INSERT INTO @extschema@.kanon_policy VALUES
    ('hipaa_safe_harbor', 'HIPAA, Safe Harbor (45 CFR 164.514 (b) (2)), as far as a record can show it', '[
        {"point": "names and numbers of persons", "asks": "identifiers", "law": "45 CFR 164.514 (b) (2) (i) (A), (D) to (R)"},
        {"point": "places", "asks": "absent", "names": "city|town|county|district|parish|municipal|street|address|latitude|longitude|^lat$|^lon$", "law": "(b) (2) (i) (B)"},
        {"point": "ZIP codes", "asks": "shown_by", "names": "zip|postal|post_?code", "builder": "hipaa_zip3", "law": "(b) (2) (i) (B)"},
        {"point": "dates", "asks": "shown_by", "names": "date|birth|^dob$|admi|discharg|death|died", "types": "^date$|^timestamp", "builder": "date", "finest": ["year", "decade", "century", "millennium"], "law": "(b) (2) (i) (C)"},
        {"point": "ages", "asks": "shown_by", "names": "(^|_)age($|_)", "builder": "age", "law": "(b) (2) (i) (C)"}]', true),
    ('ema_0070', 'EMA Policy 0070: a risk of at most 0.09 for each person', '[
        {"point": "risk", "asks": "k", "least": 12, "nearly": 11, "law": "external guidance on Policy 0070: 0.09, which is 1/12 or less; 1/11 is commonly taken"},
        {"point": "persons", "asks": "persons", "law": "the risk is that of a person"},
        {"point": "names and numbers of persons", "asks": "identifiers", "law": "direct identifiers"}]', true),
    ('health_canada', 'Health Canada, public release of clinical information: a risk of at most 0.09 for each person', '[
        {"point": "risk", "asks": "k", "least": 12, "nearly": 11, "law": "guidance document: 0.09; groups of 11 are commonly taken"},
        {"point": "persons", "asks": "persons", "law": "the risk is that of a person"},
        {"point": "names and numbers of persons", "asks": "identifiers", "law": "direct identifiers"}]', true),
    ('gdpr_wp216', 'GDPR, recital 26, by the three risks of Opinion 05/2014 (WP216)', '[
        {"point": "singling out", "asks": "k", "least": 2, "law": "WP216, 2.2"},
        {"point": "identifiers", "asks": "identifiers", "law": "recital 26"},
        {"point": "linking", "asks": "pseudonyms", "law": "WP216, 2.2"},
        {"point": "inference", "asks": "inference", "law": "WP216, 2.2"}]', true),
    ('small_numbers_5', 'small numbers: no count below 5', '[{"point": "least count", "asks": "k", "least": 5, "law": "practice of offices of statistics"}]', true),
    ('small_numbers_10', 'small numbers: no count below 10', '[{"point": "least count", "asks": "k", "least": 10, "law": "practice of offices of statistics"}]', true),
    ('school_10', 'school data: groups of 10 students', '[
        {"point": "least group", "asks": "k", "least": 10, "law": "34 CFR 99.31 (b); 10 is common practice of states"},
        {"point": "persons", "asks": "persons", "law": "students, not rows"},
        {"point": "identifiers", "asks": "identifiers", "law": "34 CFR 99.3"}]', true);

COMMENT ON TABLE @extschema@.kanon_policy IS 'one row per policy; read kanon_policies instead';

-- of a house's own ones: whoever restores a dump owns the extension there, and may write them (kanon_close)
SELECT pg_catalog.pg_extension_config_dump(p.tableoid, 'WHERE NOT built_in') FROM @extschema@.kanon_policy AS p LIMIT 1;

CREATE VIEW @extschema@.kanon_policies WITH (security_barrier) AS
SELECT policy, description, points, built_in FROM @extschema@.kanon_policy;

GRANT SELECT ON @extschema@.kanon_policies TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_policies IS 'named sets of points that laws and houses ask of a release; kanon_check_policy looks them up in the record of a run';
COMMENT ON COLUMN @extschema@.kanon_policies.policy IS 'its name';
COMMENT ON COLUMN @extschema@.kanon_policies.description IS 'the law or house that they are of';
COMMENT ON COLUMN @extschema@.kanon_policies.points IS 'its points: what each asks, and the place in the law';
COMMENT ON COLUMN @extschema@.kanon_policies.built_in IS 'whether it came with kanon';

CREATE FUNCTION @extschema@.kanon_create_policy(policy text, points jsonb, description text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
INSERT INTO @extschema@.kanon_policy (policy, description, points) VALUES (kanon_create_policy.policy, kanon_create_policy.description, kanon_create_policy.points);
END;

COMMENT ON FUNCTION @extschema@.kanon_create_policy(text, jsonb, text)
IS 'adds a policy to kanon_policies, for a role that may write to the table kanon_policy';

CREATE FUNCTION kanon_internal.kanon_rule_is_as_strict(given jsonb, asked jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(given ->> 'rule' = asked ->> 'rule' AND NOT given ? 'listed' AND coalesce(given -> 'column', given -> 'columns') = coalesce(asked -> 'column', asked -> 'columns')
    AND (given - '{says,l,c,t,alpha}'::text[]) = (asked - '{says,l,c,t,alpha}'::text[])
    AND coalesce((given ->> 'l')::numeric >= (asked ->> 'l')::numeric, NOT asked ? 'l')
    AND coalesce((given ->> 'c')::numeric <= (asked ->> 'c')::numeric, NOT asked ? 'c')
    AND coalesce((given ->> 't')::numeric <= (asked ->> 't')::numeric, NOT asked ? 't')
    AND coalesce((given ->> 'alpha')::numeric <= (asked ->> 'alpha')::numeric, NOT asked ? 'alpha'), false);

COMMENT ON FUNCTION kanon_internal.kanon_rule_is_as_strict(jsonb, jsonb)
IS 'behind kanon_check_policy: whether a privacy rule is one that a policy asks for, or stricter';

CREATE FUNCTION kanon_internal.kanon_mask_is_as_strict(given jsonb, asked jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(given = asked OR given ? 'constant'
    OR jsonb_typeof(given) = 'object' AND jsonb_typeof(asked) = 'object' AND given - 'round' = asked - 'round' AND jsonb_typeof(given -> 'round') = 'number' AND jsonb_typeof(asked -> 'round') = 'number'
        AND (asked ->> 'round')::numeric > 0 AND (given ->> 'round')::numeric % (asked ->> 'round')::numeric = 0, false);

COMMENT ON FUNCTION kanon_internal.kanon_mask_is_as_strict(jsonb, jsonb)
IS 'behind kanon_check_policy: whether a mask is one that a policy asks for, or hides more: a constant, or a multiple of a rounding';

CREATE FUNCTION @extschema@.kanon_check_policy(run bigint, policy text)
RETURNS TABLE (point text, verdict text, says text, law text)
LANGUAGE sql STABLE PARALLEL SAFE
SET jit = off
BEGIN ATOMIC
WITH r AS (
    SELECT u.k, u.kept, u.options, u.target_oid, coalesce(u.options -> 'hierarchies', '{}') AS hierarchies, coalesce(u.options -> 'mask', '{}') AS mask,
           jsonb_path_exists(u.options, '$.privacy[*] ? (@.rule == "subject")') AS persons, u.disclosure, u.published
    FROM (SELECT v.*, v.class_min IS NOT NULL OR v.matches IS NOT NULL AS published FROM @extschema@.kanon_usefulness v WHERE v.run = kanon_check_policy.run) u),
p AS (
    SELECT x.e AS point, x.nr FROM @extschema@.kanon_policies y, jsonb_array_elements(y.points) WITH ORDINALITY AS x (e, nr) WHERE y.policy = kanon_check_policy.policy),
-- columns that a point is about: quasi-identifiers with the cells that they show as they were, and kept ones by name
about AS (
    SELECT p.nr, c.column_name AS name, CASE
               WHEN c.kept = 0 AND c.generalised = 0 THEN 'hidden'
               WHEN c.kept > 0 THEN 'as it was'
               WHEN NOT coalesce(jsonb_typeof(r.hierarchies -> c.column_name::text) = 'object' AND r.hierarchies -> c.column_name::text ? (p.point ->> 'builder'), false) THEN 'otherwise'
               WHEN p.point ? 'finest' AND NOT coalesce(p.point -> 'finest' ? (r.hierarchies -> c.column_name::text -> (p.point ->> 'builder') ->> 0), false) THEN 'too fine'
               ELSE 'coarse' END AS shown
    FROM r, p JOIN @extschema@.kanon_columns c ON c.run = kanon_check_policy.run
    WHERE c.column_name::text ~* (p.point ->> 'names') OR c.type ~* (p.point ->> 'types')
    UNION ALL
    SELECT p.nr, k.name, CASE WHEN r.mask -> k.name::text ? 'constant' THEN 'hidden' WHEN r.mask ? k.name::text THEN 'masked' ELSE 'as it was' END
    FROM p CROSS JOIN r CROSS JOIN unnest(r.kept) AS k (name) LEFT JOIN pg_attribute a ON a.attrelid = r.target_oid AND a.attname = k.name AND NOT a.attisdropped
    WHERE k.name::text ~* (p.point ->> 'names') OR format_type(a.atttypid, NULL) ~* (p.point ->> 'types')),
-- kept columns with their masks and rules, for points about these
asked AS (
    SELECT p.nr, string_agg(quote_ident(k.name), ', ' ORDER BY k.name) AS columns,
           string_agg(quote_ident(k.name), ', ' ORDER BY k.name) FILTER (WHERE NOT CASE p.point ->> 'asks'
               WHEN 'masked_by' THEN kanon_internal.kanon_mask_is_as_strict(r.mask -> k.name::text, p.point -> 'mask')
               ELSE EXISTS (SELECT FROM jsonb_array_elements(coalesce(r.options -> 'privacy', '[]')) AS x
                            WHERE kanon_internal.kanon_rule_is_as_strict(x, p.point -> 'rule' || jsonb_build_object('column', k.name))) END) AS bad
    FROM p CROSS JOIN r CROSS JOIN unnest(r.kept) AS k (name) LEFT JOIN pg_attribute a ON a.attrelid = r.target_oid AND a.attname = k.name AND NOT a.attisdropped
    WHERE (k.name::text ~* (p.point ->> 'names') OR format_type(a.atttypid, NULL) ~* (p.point ->> 'types') OR p.point ->> 'asks' = 'rule' AND NOT p.point ?| '{names,types}')
        AND (p.point ->> 'asks' = 'masked_by' OR p.point ->> 'asks' = 'rule' AND NOT p.point -> 'rule' ? 'column' AND NOT coalesce(r.mask -> k.name::text ? 'constant', false)) GROUP BY p.nr),
told AS (
    SELECT p.nr, p.point, CASE
        WHEN r.k IS NULL THEN 'no'
        WHEN p.point ->> 'asks' = 'k' THEN CASE WHEN r.k >= (p.point ->> 'least')::bigint THEN 'yes' WHEN r.k >= (p.point ->> 'nearly')::bigint THEN 'caution' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'persons' THEN CASE WHEN r.persons THEN 'yes' ELSE 'caution' END
        WHEN p.point ->> 'asks' = 'identifiers' THEN CASE WHEN coalesce(r.options -> 'may_name_persons', '[]') <> '[]' OR coalesce(r.options -> 'allow_identifying', '[]') <> '[]' THEN 'no'
                                                          WHEN r.options ? 'identify_together' OR r.options ? 'tell' THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'absent' THEN CASE WHEN a.shown IS NULL OR a.hidden THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'shown_by' THEN CASE WHEN a.bad IS NOT NULL THEN 'no' WHEN a.masked IS NOT NULL THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'pseudonyms' THEN CASE WHEN jsonb_path_exists(r.mask, '$.* ? (@.pseudonym == "publication")') THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'inference' THEN CASE WHEN r.kept = '{}' THEN 'yes' WHEN r.disclosure IS NULL OR jsonb_path_exists(r.disclosure, '$.columns[*] ? (@.one_rows > 0)') THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'masked_by' THEN CASE WHEN w.bad IS NULL THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'rule' AND p.point -> 'rule' ? 'column' THEN CASE WHEN EXISTS (
            SELECT FROM jsonb_array_elements(coalesce(r.options -> 'privacy', '[]')) AS x WHERE kanon_internal.kanon_rule_is_as_strict(x, p.point -> 'rule')) THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'rule' THEN CASE WHEN w.bad IS NULL THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'options' THEN CASE WHEN r.options @> (p.point -> 'options') THEN 'yes' ELSE 'no' END
        ELSE 'no' END AS verdict, r.k, r.persons, a.*, r.options, w.columns AS asked, w.bad AS unasked
    FROM p LEFT JOIN r ON true LEFT JOIN LATERAL (
        SELECT string_agg(quote_ident(about.name), ', ' ORDER BY about.name) AS shown, bool_and(about.shown = 'hidden') AS hidden,
               string_agg(quote_ident(about.name), ', ' ORDER BY about.name) FILTER (WHERE about.shown NOT IN ('coarse', 'hidden', 'masked')) AS bad,
               string_agg(quote_ident(about.name), ', ' ORDER BY about.name) FILTER (WHERE about.shown = 'masked') AS masked
        FROM about WHERE about.nr = p.nr) a ON true LEFT JOIN asked w ON w.nr = p.nr)
SELECT t.point ->> 'point', t.verdict, CASE
        WHEN t.k IS NULL THEN 'You see no such run.'
        WHEN t.point ->> 'asks' = 'k' THEN format('k is %s; %s or more is asked for.', t.k, t.point ->> 'least')
        WHEN t.point ->> 'asks' = 'persons' THEN CASE WHEN t.persons THEN 'k counts persons (kanon_subject).' ELSE 'k counts rows. If a person can have several, name the column that tells persons apart: kanon_subject.' END
        WHEN t.point ->> 'asks' = 'identifiers' THEN CASE t.verdict WHEN 'yes' THEN 'No kept column is nearly unique, labelled or called like an identifier.' WHEN 'no' THEN 'Columns that may identify are published: see the page''s verdict on identifiers.' ELSE 'Kept columns identify together, or tell what is hidden: see the page.' END
        WHEN t.point ->> 'asks' = 'absent' THEN CASE t.verdict WHEN 'yes' THEN 'No column is called so, or it is empty.' ELSE format('Published: %s.', t.shown) END
        WHEN t.point ->> 'asks' = 'shown_by' THEN CASE WHEN t.shown IS NULL THEN 'No column is of this kind by name or type.' WHEN t.bad IS NOT NULL THEN format('Not only by the levels of "%s"%s: %s.', t.point ->> 'builder', coalesce(' from ' || (t.point -> 'finest' ->> 0) || ' on', ''), t.bad)
                                                       WHEN t.masked IS NOT NULL THEN format('Masked: %s. Whether the mask is enough is for you to say.', t.masked) ELSE format('Only by the levels of "%s", or not at all: %s.', t.point ->> 'builder', t.shown) END
        WHEN t.point ->> 'asks' = 'pseudonyms' THEN CASE t.verdict WHEN 'yes' THEN 'No pseudonym is the same in other releases.' ELSE 'Pseudonyms are the same in every release of the publication: readers can link them.' END
        WHEN t.point ->> 'asks' = 'inference' THEN CASE t.verdict WHEN 'yes' THEN 'In no class do all rows have one value of a kept column.' ELSE 'In some classes all rows have one value of a kept column, or that was not counted: ask for a rule, such as kanon_distinct_l.' END
        WHEN t.point ->> 'asks' = 'masked_by' THEN CASE WHEN t.unasked IS NOT NULL THEN format('Not masked so, or more: %s.', t.unasked) WHEN t.asked IS NULL THEN 'No kept column is of this kind by name or type.' ELSE format('Masked so, or more: %s.', t.asked) END
        WHEN t.point ->> 'asks' = 'rule' THEN CASE WHEN t.verdict = 'yes' THEN format('The rule "%s" holds, or a stricter one.', t.point -> 'rule' ->> 'rule') ELSE format('The rule "%s" is not asked for%s, or a weaker one.', t.point -> 'rule' ->> 'rule', ' of ' || t.unasked) END
        WHEN t.point ->> 'asks' = 'options' THEN CASE t.verdict WHEN 'yes' THEN 'The options are those.' ELSE 'Options are others: ' || (SELECT string_agg(o.key, ', ' ORDER BY o.key) FROM jsonb_each(t.point -> 'options') AS o WHERE NOT coalesce(t.options -> o.key = o.value, false)) || '.' END
        ELSE format('kanon does not know what "%s" asks.', t.point ->> 'asks') END, t.point ->> 'law'
FROM told t
UNION ALL
SELECT 'policy', 'no', 'There is no policy of that name in kanon_policies, or it has no points.', NULL WHERE NOT EXISTS (SELECT FROM p);
END;

COMMENT ON FUNCTION @extschema@.kanon_check_policy(bigint, text)
IS 'the points of a policy with their verdicts on a run: yes, caution or no';

/*
 * The options of a publication that keep a policy: what it asks for is added where the caller has said nothing, and
 * what the caller has said stays where it is as strict.  refused: points that the caller's own words leave.
 */
CREATE FUNCTION @extschema@.kanon_policy_options(
    policy            text,
    source            regclass,
    quasi_identifiers name[],
    k                 bigint DEFAULT NULL,
    options           jsonb  DEFAULT '{}',
    model             text   DEFAULT 'pattern_guided')
RETURNS TABLE (k bigint, options jsonb, refused text)
LANGUAGE sql STABLE PARALLEL SAFE
SET jit = off
BEGIN ATOMIC
WITH p AS (
    SELECT x.e AS point, x.e ->> 'asks' AS asks, x.nr FROM @extschema@.kanon_policies y, jsonb_array_elements(y.points) WITH ORDINALITY AS x (e, nr) WHERE y.policy = kanon_policy_options.policy),
g AS (
    SELECT coalesce(nullif(kanon_policy_options.options -> 'hierarchies', 'null'), '{}') AS hierarchies, coalesce(nullif(kanon_policy_options.options -> 'mask', 'null'), '{}') AS mask,
           coalesce(nullif(kanon_policy_options.options -> 'privacy', 'null'), '[]') AS privacy, coalesce(nullif(kanon_policy_options.options -> 'rules', 'null'), '{}') AS rules,
           coalesce(kanon_policy_options.options -> 'patterns', 'null') <> 'null' AS listed,
           coalesce(kanon_policy_options.k, (SELECT max((p.point ->> 'least')::bigint) FROM p WHERE p.asks = 'k')) AS k),
c AS (
    SELECT a.attname::text AS name, a.attnum, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) AS type, a.attname = ANY (kanon_policy_options.quasi_identifiers) AS is_qi
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = kanon_policy_options.source AND a.attnum > 0 AND NOT a.attisdropped
        AND (a.attname = ANY (kanon_policy_options.quasi_identifiers) OR coalesce(kanon_policy_options.options -> 'keep', '[]') ? a.attname::text)),
about AS (
    SELECT p.nr, p.point, p.asks, c.* FROM p, c
    WHERE c.name ~* (p.point ->> 'names') OR c.type ~* (p.point ->> 'types') OR p.asks = 'rule' AND NOT p.point ?| '{names,types}'),
-- builders that columns get, and whether what they have is one that the policy asks for
built AS (
    SELECT b.nr, b.name, b.attnum, b.point ->> 'builder' AS builder, CASE WHEN NOT g.hierarchies ? b.name THEN jsonb_build_object(b.point ->> 'builder', CASE WHEN b.point ? 'finest' THEN jsonb_build_array(b.point -> 'finest' -> 0) ELSE 'true' END) END AS added,
           coalesce(jsonb_typeof(g.hierarchies -> b.name) = 'object' AND g.hierarchies -> b.name ? (b.point ->> 'builder')
               AND (NOT b.point ? 'finest' OR b.point -> 'finest' ? (g.hierarchies -> b.name -> (b.point ->> 'builder') ->> 0)), false) AS kept
    FROM about b, g WHERE b.asks = 'shown_by' AND b.is_qi),
masked AS (
    SELECT b.nr, b.name, CASE WHEN NOT g.mask ? b.name THEN b.point -> 'mask' END AS added, kanon_internal.kanon_mask_is_as_strict(g.mask -> b.name, b.point -> 'mask') AS kept
    FROM about b, g WHERE b.asks = 'masked_by' AND NOT b.is_qi),
ruled AS (
    SELECT w.nr, w.name, w.rule, EXISTS (SELECT FROM jsonb_array_elements(g.privacy) AS x WHERE kanon_internal.kanon_rule_is_as_strict(x, w.rule)) AS kept,
           EXISTS (SELECT FROM jsonb_array_elements(g.privacy) AS x WHERE x ->> 'rule' = w.rule ->> 'rule' AND (x -> 'column' = w.rule -> 'column' OR w.rule ->> 'rule' = 'subject')) AS other
    FROM (SELECT b.nr, b.name, b.point -> 'rule' || jsonb_build_object('column', b.name) AS rule FROM about b, g WHERE b.asks = 'rule' AND NOT b.is_qi AND NOT b.point -> 'rule' ? 'column' AND NOT coalesce(g.mask -> b.name ? 'constant', false)
          UNION ALL SELECT p.nr, p.point -> 'rule' ->> 'column', p.point -> 'rule' FROM p WHERE p.asks = 'rule' AND p.point -> 'rule' ? 'column') w, g),
bad AS (
    SELECT 0 AS nr, 'there is no policy of that name in kanon_policies, or it has no points' AS says WHERE NOT EXISTS (SELECT FROM p)
    UNION ALL SELECT p.nr, CASE WHEN g.k IS NULL THEN 'the policy names no k' ELSE format('k is %s, and the policy asks for %s or more', g.k, p.point ->> 'least') END FROM p, g
    WHERE p.asks = 'k' AND coalesce(g.k < coalesce((p.point ->> 'nearly')::bigint, (p.point ->> 'least')::bigint), true)
    UNION ALL SELECT p.nr, 'allow_identifying must be empty' FROM p WHERE p.asks = 'identifiers' AND coalesce(nullif(kanon_policy_options.options -> 'allow_identifying', 'null'), '[]') <> '[]'
    UNION ALL SELECT b.nr, format('column %I may not be published', b.name) FROM about b, g WHERE b.asks = 'absent' AND NOT (NOT b.is_qi AND coalesce(g.mask -> b.name ? 'constant', false))
    UNION ALL SELECT b.nr, format('column %I is kept as it is: name it as a quasi-identifier, mask it, or leave it out', b.name) FROM about b, g WHERE b.asks = 'shown_by' AND NOT b.is_qi AND NOT g.mask ? b.name
    UNION ALL SELECT b.nr, format('the hierarchy of column %I is no "%s"%s', b.name, b.builder, coalesce(' from ' || (p.point -> 'finest' ->> 0) || ' on', '')) FROM built b JOIN p USING (nr) WHERE b.added IS NULL AND NOT b.kept
    UNION ALL SELECT m.nr, format('the mask of column %I hides less than the policy asks for', m.name) FROM masked m WHERE m.added IS NULL AND NOT m.kept
    UNION ALL SELECT w.nr, format('the rule "%s" of column %I is weaker than the policy asks for', w.rule ->> 'rule', w.name) FROM ruled w WHERE NOT w.kept AND w.other
    UNION ALL SELECT p.nr, format('option "%s" is another than the policy asks for', o.key) FROM p, jsonb_each(CASE WHEN p.asks = 'options' THEN p.point -> 'options' ELSE '{}' END) AS o
    WHERE kanon_policy_options.options ? o.key AND kanon_policy_options.options -> o.key <> o.value)
SELECT g.k, kanon_policy_options.options
        || coalesce((SELECT jsonb_object_agg(o.key, o.value) FROM p, jsonb_each(CASE WHEN p.asks = 'options' THEN p.point -> 'options' ELSE '{}' END) AS o), '{}')
        || CASE WHEN b.added IS NULL THEN '{}' ELSE jsonb_build_object('hierarchies', g.hierarchies || b.added) END
        || CASE WHEN m.added IS NULL THEN '{}' ELSE jsonb_build_object('mask', g.mask || m.added) END
        || CASE WHEN w.added IS NULL THEN '{}' ELSE jsonb_build_object('privacy', g.privacy || w.added) END
        || CASE WHEN b.coarsened IS NULL OR g.listed OR kanon_policy_options.model NOT IN ('pattern_guided', 'pattern_clustering') THEN '{}'
                ELSE jsonb_build_object('rules', g.rules || jsonb_build_object('coarsen', (SELECT jsonb_agg(DISTINCT x.name) FROM (SELECT jsonb_array_elements(b.coarsened) UNION ALL SELECT jsonb_array_elements(coalesce(g.rules -> 'coarsen', '[]'))) AS x (name)))) END
        || jsonb_build_object('policy', kanon_policy_options.policy),
       (SELECT string_agg(concat_ws(': ', p.point ->> 'point', bad.says), '; ' ORDER BY bad.nr, bad.says) FROM bad LEFT JOIN p USING (nr))
FROM g, (SELECT jsonb_object_agg(built.name, built.added) FILTER (WHERE built.added IS NOT NULL) AS added, jsonb_agg(built.name) AS coarsened FROM built) b,
    (SELECT jsonb_object_agg(masked.name, masked.added) FILTER (WHERE masked.added IS NOT NULL) AS added FROM masked) m,
    (SELECT jsonb_agg(ruled.rule) FILTER (WHERE NOT ruled.kept AND NOT ruled.other) AS added FROM ruled) w;
END;

COMMENT ON FUNCTION @extschema@.kanon_policy_options(text, regclass, name[], bigint, jsonb, text)
IS 'the k and the options that keep a policy: those given, and what it asks for beside them; refused: points that those given leave';
