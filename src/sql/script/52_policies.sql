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

CREATE FUNCTION @extschema@.kanon_check_policy(run bigint, policy text)
RETURNS TABLE (point text, verdict text, says text, law text)
LANGUAGE sql STABLE PARALLEL SAFE
SET jit = off
BEGIN ATOMIC
WITH r AS (
    SELECT u.k, u.kept, u.options, coalesce(u.options -> 'hierarchies', '{}') AS hierarchies, coalesce(u.options -> 'mask', '{}') AS mask,
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
    FROM r, p, unnest(r.kept) AS k (name) WHERE k.name::text ~* (p.point ->> 'names')),
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
        ELSE 'no' END AS verdict, r.k, r.persons, a.*, r.options
    FROM p LEFT JOIN r ON true LEFT JOIN LATERAL (
        SELECT string_agg(quote_ident(about.name), ', ' ORDER BY about.name) AS shown, bool_and(about.shown = 'hidden') AS hidden,
               string_agg(quote_ident(about.name), ', ' ORDER BY about.name) FILTER (WHERE about.shown NOT IN ('coarse', 'hidden', 'masked')) AS bad,
               string_agg(quote_ident(about.name), ', ' ORDER BY about.name) FILTER (WHERE about.shown = 'masked') AS masked
        FROM about WHERE about.nr = p.nr) a ON true)
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
        ELSE format('kanon does not know what "%s" asks.', t.point ->> 'asks') END, t.point ->> 'law'
FROM told t
UNION ALL
SELECT 'policy', 'no', 'There is no policy of that name in kanon_policies, or it has no points.', NULL WHERE NOT EXISTS (SELECT FROM p);
END;

COMMENT ON FUNCTION @extschema@.kanon_check_policy(bigint, text)
IS 'the points of a policy with their verdicts on a run: yes, caution or no';
