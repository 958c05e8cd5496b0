/* ---- publications ---- */

-- restoring the labels of columns needs the library, and nothing else calls for it then
LOAD 'MODULE_PATHNAME';

/*
 * A publication's definition and history are tables of its publisher, and only a
 * definition has a column of this type: so it is found, and the extension cannot
 * be dropped under it.
 */
CREATE DOMAIN @extschema@.kanon_options AS jsonb;

COMMENT ON DOMAIN @extschema@.kanon_options IS 'options of a kanon publication; the table with such a column is its definition';

-- true, false or 'values'.  Text in memory.
CREATE TYPE @extschema@.kanon_protection;

CREATE FUNCTION kanon_internal.kanon_protection_in(cstring) RETURNS @extschema@.kanon_protection
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
AS 'textin';

COMMENT ON FUNCTION kanon_internal.kanon_protection_in(cstring) IS 'behind protect_successive: a word, as text';

CREATE FUNCTION kanon_internal.kanon_protection_out(@extschema@.kanon_protection) RETURNS cstring
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
AS 'textout';

COMMENT ON FUNCTION kanon_internal.kanon_protection_out(@extschema@.kanon_protection) IS 'behind protect_successive: its text';

CREATE TYPE @extschema@.kanon_protection (
    INPUT = kanon_internal.kanon_protection_in,
    OUTPUT = kanon_internal.kanon_protection_out,
    LIKE = text);

COMMENT ON TYPE @extschema@.kanon_protection
IS 'protection over all releases of a publication: ''false'' (none), ''true'' (histories) or ''values''';

CREATE CAST (boolean AS @extschema@.kanon_protection) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS @extschema@.kanon_protection) WITH INOUT AS IMPLICIT;

CREATE FUNCTION @extschema@.kanon_create_publication(
    name               text,
    source             regclass,
    quasi_identifiers  name[],
    k                  bigint,
    options            jsonb   DEFAULT '{}',
    model              text    DEFAULT 'pattern_guided',
    keep_releases      int     DEFAULT 1,
    stable             boolean DEFAULT true,
    protect_successive @extschema@.kanon_protection DEFAULT 'false',
    key                name    DEFAULT NULL,
    private_schema     name    DEFAULT NULL,
    append             name    DEFAULT NULL,
    lag                interval DEFAULT NULL,
    min_batch          bigint  DEFAULT NULL,
    max_batch          bigint  DEFAULT NULL,
    hold               text    DEFAULT NULL,
    expire             interval DEFAULT NULL,
    policy             text    DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_create_publication';

COMMENT ON FUNCTION @extschema@.kanon_create_publication(text, regclass, name[], bigint, jsonb, text, int, boolean, @extschema@.kanon_protection, name, name, name, interval, bigint, bigint, text, interval, text)
IS 'makes a view over the first k-anonymous release of a source; kanon_refresh makes the next ones';

CREATE FUNCTION @extschema@.kanon_create_linked_publication(
    name           text,
    subject        regclass,
    tables         jsonb,
    k              bigint,
    known_rows     @extschema@.kanon_known_rows DEFAULT '1',
    keep_releases  int     DEFAULT 1,
    stable         boolean DEFAULT true,
    protect_successive @extschema@.kanon_protection DEFAULT 'false',
    pseudonym      text    DEFAULT 'release',
    private_schema name    DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_create_linked_publication';

COMMENT ON FUNCTION @extschema@.kanon_create_linked_publication(text, regclass, jsonb, bigint, @extschema@.kanon_known_rows, int, boolean, @extschema@.kanon_protection, text, name)
IS 'makes views, in a schema, over the first release of several tables that join; kanon_refresh makes the next ones';

CREATE FUNCTION @extschema@.kanon_alter_publication(
    publication        text,
    quasi_identifiers  name[]  DEFAULT NULL,
    k                  bigint  DEFAULT NULL,
    options            jsonb   DEFAULT NULL,
    model              text    DEFAULT NULL,
    keep_releases      int     DEFAULT NULL,
    stable             boolean DEFAULT NULL,
    protect_successive @extschema@.kanon_protection DEFAULT NULL,
    key                name    DEFAULT NULL,
    set_options        jsonb   DEFAULT NULL,
    drop_options       name[]  DEFAULT NULL,
    dry_run            boolean DEFAULT false,
    solve              boolean DEFAULT true,
    renew_bounds       boolean DEFAULT false)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_alter_publication';

COMMENT ON FUNCTION @extschema@.kanon_alter_publication(text, name[], bigint, jsonb, text, int, boolean, @extschema@.kanon_protection, name, jsonb, name[], boolean, boolean, boolean)
IS 'changes a publication from its next refresh on, when a release can be made so; NULL leaves as it is';

CREATE FUNCTION @extschema@.kanon_drop_publication(publication text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_drop_publication';

COMMENT ON FUNCTION @extschema@.kanon_drop_publication(text)
IS 'drops a publication: its view, releases and history';

CREATE FUNCTION @extschema@.kanon_refresh(
    publication  text,
    wait         boolean DEFAULT false,
    anew         boolean DEFAULT false,
    publish_late boolean DEFAULT false,
    recount      boolean DEFAULT false)
RETURNS TABLE (publication_name text, release bigint, status text, row_count bigint, k bigint, cost float8,
               held_persons bigint, error text, message text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_refresh';

COMMENT ON FUNCTION @extschema@.kanon_refresh(text, boolean, boolean, boolean, boolean)
IS 'makes the next release of a publication and switches its view, if its source has changed; a failure is recorded and returned';

CREATE PROCEDURE @extschema@.kanon_refresh_all()
LANGUAGE C
AS 'MODULE_PATHNAME', 'kanon_refresh_all';

COMMENT ON PROCEDURE @extschema@.kanon_refresh_all()
IS 'refreshes every publication of yours, each in a transaction of its own; fails in the end if one of them did';

CREATE FUNCTION @extschema@.kanon_publication_status(
    publication        text     DEFAULT NULL,
    fail_if_older_than interval DEFAULT NULL)
RETURNS TABLE (publication_name text, status text, k bigint, release bigint, refreshed_at timestamptz, age interval,
               failures bigint, error text, allow_identifying name[], smallest_difference bigint,
               held_persons bigint, held_oldest bigint, waiting_rows bigint, late_rows bigint, corrected_rows bigint,
               deleted_rows bigint, recounted_at timestamptz, problem text, remedy text, policy text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_publication_status';

COMMENT ON FUNCTION @extschema@.kanon_publication_status(text, interval)
IS 'whether a publication is fresh, stale, held or failing';

CREATE FUNCTION @extschema@.kanon_compare_releases(publication text, a bigint, b bigint)
RETURNS TABLE (persons bigint, persons_below_k bigint, k bigint, smallest bigint, joined bigint, joined_below_k bigint,
               departed bigint, departed_below_k bigint, moved bigint, moved_below_k bigint, changed bigint,
               changed_below_k bigint, smallest_difference bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_compare_releases';

COMMENT ON FUNCTION @extschema@.kanon_compare_releases(text, bigint, bigint)
IS 'risk of two releases read together: persons hidden among fewer than k; persons who joined, left, moved or changed';

CREATE FUNCTION kanon_internal.kanon_publication_list()
RETURNS TABLE (publication text, owner regrole, published regclass, source regclass, quasi_identifiers name[],
               k bigint, model text, options jsonb, keep_releases int, stable boolean, protect_successive @extschema@.kanon_protection,
               key text, append text, release bigint, refreshed_at timestamptz, problem text, remedy text)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_publication_list';

COMMENT ON FUNCTION kanon_internal.kanon_publication_list() IS 'behind kanon_publications';

CREATE FUNCTION kanon_internal.kanon_release_list()
RETURNS TABLE (publication text, release bigint, started timestamptz, finished timestamptz, status text,
               row_count bigint, k bigint, cost float8, held_persons bigint, held_oldest bigint, smallest_difference bigint, error text,
               message text, detail text, hint text, relation regclass, checked timestamptz)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_release_list';

COMMENT ON FUNCTION kanon_internal.kanon_release_list() IS 'behind kanon_releases';

CREATE VIEW @extschema@.kanon_publications WITH (security_barrier) AS
SELECT * FROM kanon_internal.kanon_publication_list();

CREATE VIEW @extschema@.kanon_releases WITH (security_barrier) AS
SELECT * FROM kanon_internal.kanon_release_list();

GRANT SELECT ON @extschema@.kanon_publications, @extschema@.kanon_releases TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_publications IS 'publications of yours and of roles you belong to';
COMMENT ON COLUMN @extschema@.kanon_publications.publication IS 'name of the view that readers see';
COMMENT ON COLUMN @extschema@.kanon_publications.owner IS 'its owner';
COMMENT ON COLUMN @extschema@.kanon_publications.published IS 'the view';
COMMENT ON COLUMN @extschema@.kanon_publications.source IS 'the relation that is published';
COMMENT ON COLUMN @extschema@.kanon_publications.quasi_identifiers IS 'columns that could be joined with outside knowledge';
COMMENT ON COLUMN @extschema@.kanon_publications.k IS 'rows that every class has at least';
COMMENT ON COLUMN @extschema@.kanon_publications.model IS 'how releases are made: kanon_MODEL';
COMMENT ON COLUMN @extschema@.kanon_publications.options IS 'options of the model, and limits of releases';
COMMENT ON COLUMN @extschema@.kanon_publications.keep_releases IS 'releases that are kept, the current one among them';
COMMENT ON COLUMN @extschema@.kanon_publications.stable IS 'whether row types stay in their classes';
COMMENT ON COLUMN @extschema@.kanon_publications.protect_successive IS 'true: at least k persons share each person''s history over all releases; values: each person stays among l values';
COMMENT ON COLUMN @extschema@.kanon_publications.key IS 'the column that says whom a row is about; it is not published';
COMMENT ON COLUMN @extschema@.kanon_publications.append IS 'the column by which new rows are known that are appended batch by batch; NULL: each release has all rows';
COMMENT ON COLUMN @extschema@.kanon_publications.release IS 'number of the current release';
COMMENT ON COLUMN @extschema@.kanon_publications.refreshed_at IS 'when it was made, or last compared with an unchanged source';
COMMENT ON COLUMN @extschema@.kanon_publications.problem IS 'the fault of its view, definition, history or source; NULL: none';
COMMENT ON COLUMN @extschema@.kanon_publications.remedy IS 'the statement that mends it';
COMMENT ON VIEW @extschema@.kanon_releases IS 'releases of the publications in kanon_publications, failed refreshes among them';
COMMENT ON COLUMN @extschema@.kanon_releases.publication IS 'name of the view that readers see';
COMMENT ON COLUMN @extschema@.kanon_releases.release IS 'number of the release';
COMMENT ON COLUMN @extschema@.kanon_releases.started IS 'when its refresh began';
COMMENT ON COLUMN @extschema@.kanon_releases.finished IS 'when it ended';
COMMENT ON COLUMN @extschema@.kanon_releases.status IS 'current, kept, dropped, failed or held (nobody could be shown with enough others)';
COMMENT ON COLUMN @extschema@.kanon_releases.row_count IS 'rows that were published';
COMMENT ON COLUMN @extschema@.kanon_releases.k IS 'rows of the smallest class that shows something, NULL: none does; the k that was promised where it does not count rows of a class, but persons, say';
COMMENT ON COLUMN @extschema@.kanon_releases.cost IS 'the loss, as the method counts it';
COMMENT ON COLUMN @extschema@.kanon_releases.held_persons IS 'persons who left, moved, changed or joined and are held back until k of one history can be shown together; or who wait for others of their values (protect_successive)';
COMMENT ON COLUMN @extschema@.kanon_releases.held_oldest IS 'releases for which the first of them has been held back';
COMMENT ON COLUMN @extschema@.kanon_releases.smallest_difference IS 'fewest persons (without a key: rows of a class) that joined, left, moved or changed alike since the release before; NULL: none';
COMMENT ON COLUMN @extschema@.kanon_releases.error IS 'SQLSTATE of a refresh that failed';
COMMENT ON COLUMN @extschema@.kanon_releases.message IS 'text of the error, or what a release has lost, without data values';
COMMENT ON COLUMN @extschema@.kanon_releases.detail IS 'its detail, when kanon raised it';
COMMENT ON COLUMN @extschema@.kanon_releases.hint IS 'the remedy';
COMMENT ON COLUMN @extschema@.kanon_releases.relation IS 'the table of the release; NULL: it is dropped, failed or held';
COMMENT ON COLUMN @extschema@.kanon_releases.checked IS 'when a refresh last found the source unchanged since; NULL: none has';
