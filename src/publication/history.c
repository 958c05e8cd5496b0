/*
 * history.c: the releases of a publication, in a table of its publisher.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "publication/appended.h"
#include "publication/publication_rows.h"
#include "rows/target.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

static const char *const status_names[] = {"current", "kept", "dropped", "failed", "unchanged", "held"};

const char *
release_status_name(ReleaseStatus status)
{
	return status_names[status];
}

/* Columns that the history of an older version of kanon lacks. */
static void
bring_up_to_date(Oid history)
{
	static const char *const names[] = {"held_persons pg_catalog.int8",
										"held_oldest pg_catalog.int8",
										"smallest_difference pg_catalog.int8",
										"rows pg_catalog.regclass",
										"digest pg_catalog.bytea",
										"checked pg_catalog.timestamptz",
										"others pg_catalog._regclass",
										"held pg_catalog._regclass",
										"waiting pg_catalog.int8",
										"late pg_catalog.int8",
										"corrected pg_catalog.int8",
										"deleted pg_catalog.int8",
										"recounted pg_catalog.timestamptz"};

	for (int i = 0; i < lengthof(names) && OidIsValid(history); i++)
		if (get_attnum(history, pnstrdup(names[i], strcspn(names[i], " "))) == InvalidAttrNumber)
			run_utility(psprintf("ALTER TABLE %s ADD COLUMN %s", name_relation(history), names[i]));
	rows_identify(history);
}

static void
parameter_waits(Parameters *p, const Release *release)
{
	parameter(p, INT8OID, Int64GetDatum(release->waiting), false);
	parameter(p, INT8OID, Int64GetDatum(release->late), false);
	parameter(p, INT8OID, Int64GetDatum(release->corrected), release->recounted == 0);
	parameter(p, INT8OID, Int64GetDatum(release->deleted), release->recounted == 0);
	parameter(p, TIMESTAMPTZOID, TimestampTzGetDatum(release->recounted), release->recounted == 0);
}

bool
release_tells_held(const Release *release)
{
	return release->status == RELEASE_HELD ? release->held_oldest > 0 : release->status != RELEASE_FAILED;
}

void
release_add(const KanonPublication *publication, const Release *release)
{
	bool failed = release->status == RELEASE_FAILED || release->status == RELEASE_HELD;
	Parameters p = {0};

	parameter(&p, INT8OID, Int64GetDatum(release->number), false);
	parameter(&p, TIMESTAMPTZOID, TimestampTzGetDatum(release->started), false);
	parameter(&p, TIMESTAMPTZOID, TimestampTzGetDatum(release->finished), false);
	parameter_text(&p, status_names[release->status]);
	parameter(&p, INT8OID, Int64GetDatum(release->row_count), failed);
	parameter(&p, INT8OID, Int64GetDatum(release->k), failed || release->k == 0);
	parameter(&p, FLOAT8OID, Float8GetDatum(release->cost), failed);
	parameter(&p, INT8OID, Int64GetDatum(release->held_persons), !release_tells_held(release));
	parameter(&p, INT8OID, Int64GetDatum(release->held_oldest), !release_tells_held(release));
	parameter(&p, INT8OID, Int64GetDatum(release->difference), failed || release->difference == 0);
	parameter_text(&p, release->error);
	parameter_text(&p, release->message);
	parameter_text(&p, release->detail);
	parameter_text(&p, release->hint);
	parameter_relation(&p, release->relation);
	parameter_relation(&p, release->persons);
	parameter_relation(&p, release->types);
	parameter_relation(&p, release->rows);
	parameter(&p, BYTEAOID, PointerGetDatum(release->digest), release->digest == NULL);
	parameter_relations(&p, release->others);
	parameter_relations(&p, release->held);
	parameter_waits(&p, release);
	bring_up_to_date(publication->history);
	row_write(
		"INSERT INTO %s (release, started, finished, status, row_count, k, cost, held_persons, held_oldest,"
		" smallest_difference, error, message, detail, hint, relation, persons, types, rows, digest, others, held, waiting, late, corrected, deleted, recounted)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,"
		" $22, $23, $24, $25, $26)",
		publication->history, &p, SPI_OK_INSERT);
}

void
release_update(const KanonPublication *publication, const Release *release)
{
	Parameters p = {0};

	parameter(&p, INT8OID, Int64GetDatum(release->number), false);
	parameter_text(&p, status_names[release->status]);
	parameter_relation(&p, release->relation);
	parameter_relation(&p, release->persons);
	parameter_relation(&p, release->types);
	parameter_relation(&p, release->rows);
	parameter(&p, TIMESTAMPTZOID, TimestampTzGetDatum(release->checked), release->checked == 0);
	parameter_relations(&p, release->others);
	parameter_relations(&p, release->held);
	parameter_waits(&p, release);
	bring_up_to_date(publication->history);
	row_write(
		"UPDATE %s SET status = $2, relation = $3, persons = $4, types = $5, rows = $6, checked = $7, others = $8, held = $9,"
		" waiting = $10, late = $11, corrected = $12, deleted = $13, recounted = $14 WHERE release = $1",
		publication->history, &p, SPI_OK_UPDATE);
}

static int
compare_releases(const ListCell *a, const ListCell *b)
{
	int64 left = ((Release *) lfirst(a))->number;
	int64 right = ((Release *) lfirst(b))->number;

	return left < right ? -1 : left > right;
}

/* A table of the owner's, or nothing. */
static Oid
get_own_table(const KanonPublication *publication, const Row *row, const char *name)
{
	Oid relid = row_relation(row, name);

	return publication_owns(publication, relid, RELKIND_RELATION) ? relid : InvalidOid;
}

static List *
get_own_tables(const KanonPublication *publication, const Row *row, const char *name)
{
	List *relids = row_relations(row, name);
	ListCell *lc;

	foreach (lc, relids)
		if (!publication_owns(publication, lfirst_oid(lc), RELKIND_RELATION))
			lfirst_oid(lc) = InvalidOid;
	return relids;
}

typedef struct Visit
{
	const KanonPublication *publication;
	void (*visit)(const Release *release, void *arg);
	void *arg;
} Visit;

static bool
read_release(const Row *row, void *arg)
{
	Visit *visit = arg;
	Release release = {.status = RELEASE_FAILED};
	char *status = row_text(row, "status");
	bool isnull;
	Datum value = row_value(row, "cost", FLOAT8OID, &isnull);

	release.cost = isnull ? 0 : DatumGetFloat8(value);
	value = row_value(row, "digest", BYTEAOID, &isnull);
	release.digest = isnull ? NULL : DatumGetByteaP(value);
	release.checked = row_time(row, "checked");
	release.number = row_int8(row, "release");
	release.started = row_time(row, "started");
	release.finished = row_time(row, "finished");
	release.row_count = row_int8(row, "row_count");
	release.k = row_int8(row, "k");
	release.held_persons = row_int8(row, "held_persons");
	release.held_oldest = row_int8(row, "held_oldest");
	release.difference = row_int8(row, "smallest_difference");
	release.waiting = row_int8(row, "waiting");
	release.late = row_int8(row, "late");
	release.corrected = row_int8(row, "corrected");
	release.deleted = row_int8(row, "deleted");
	release.recounted = row_time(row, "recounted");
	release.error = row_text(row, "error");
	release.message = row_text(row, "message");
	release.detail = row_text(row, "detail");
	release.hint = row_text(row, "hint");
	release.relation = get_own_table(visit->publication, row, "relation");
	release.persons = get_own_table(visit->publication, row, "persons");
	release.types = get_own_table(visit->publication, row, "types");
	release.rows = get_own_table(visit->publication, row, "rows");
	release.others = get_own_tables(visit->publication, row, "others");
	release.held = get_own_tables(visit->publication, row, "held");
	(void) row_value(row, "rows", REGCLASSOID, &isnull);
	release.histories_lost =
		(!isnull && !OidIsValid(release.rows)) || list_member_oid(release.held, InvalidOid);
	for (int i = 0; status != NULL && i < lengthof(status_names); i++)
		if (strcmp(status, status_names[i]) == 0)
			release.status = (ReleaseStatus) i;
	visit->visit(&release, visit->arg);
	return true;
}

void
releases_visit(const KanonPublication *publication, void (*visit)(const Release *release, void *arg),
			   void *arg)
{
	Visit state = {.publication = publication, .visit = visit, .arg = arg};

	(void) rows_visit(publication->history, publication->owner, publication->patience, read_release, &state);
}

typedef struct Standing
{
	List *list;
	int64 last;
	MemoryContext context;
} Standing;

static Release *
release_copy(const Release *release)
{
	Release *copy = palloc(sizeof(Release));

	*copy = *release;
	copy->error = release->error != NULL ? pstrdup(release->error) : NULL;
	copy->message = release->message != NULL ? pstrdup(release->message) : NULL;
	copy->detail = release->detail != NULL ? pstrdup(release->detail) : NULL;
	copy->hint = release->hint != NULL ? pstrdup(release->hint) : NULL;
	copy->others = list_copy(release->others);
	copy->held = list_copy(release->held);
	copy->digest = release->digest != NULL ? DatumGetByteaPCopy(PointerGetDatum(release->digest)) : NULL;
	return copy;
}

static void
add_standing(const Release *release, void *arg)
{
	Standing *standing = arg;
	MemoryContext old = MemoryContextSwitchTo(standing->context);

	standing->last = Max(standing->last, release->number);
	if (release->status == RELEASE_CURRENT || release->status == RELEASE_KEPT)
		standing->list = FAULT(history_reversed) ? lcons(release_copy(release), standing->list)
												 : lappend(standing->list, release_copy(release));
	MemoryContextSwitchTo(old);
}

List *
releases(const KanonPublication *publication, int64 *last)
{
	Standing standing = {.context = CurrentMemoryContext};

	releases_visit(publication, add_standing, &standing);
	list_sort(standing.list, compare_releases);
	if (last != NULL)
		*last = standing.last;
	return standing.list;
}

TimestampTz
release_known(const Release *release)
{
	return Max(release->finished, release->checked);
}

Release *
release_current(List *releases)
{
	ListCell *lc;

	foreach (lc, releases)
		if (((Release *) lfirst(lc))->status == RELEASE_CURRENT)
			return lfirst(lc);
	return NULL;
}

/* ---- the tables of a release ---- */

/* All of them: whoever drops, closes, forgets or looks at those of a release goes by this list. */
static const struct
{
	size_t place;
	bool many;    /* a List of OIDs, or one */
	bool of_rows; /* what protects the next release: older ones do without */
} parts[] = {{offsetof(Release, relation), false, false}, {offsetof(Release, others), true, false},
			 {offsetof(Release, persons), false, false},  {offsetof(Release, types), false, false},
			 {offsetof(Release, rows), false, true},      {offsetof(Release, held), true, true}};

List *
release_tables(const Release *release, bool rows_alone)
{
	List *tables = NIL;

	for (int i = 0; i < lengthof(parts); i++)
	{
		const char *place = (const char *) release + parts[i].place;
		List *found = parts[i].many ? *(List *const *) place : list_make1_oid(*(const Oid *) place);
		ListCell *lc;

		foreach (lc, rows_alone && !parts[i].of_rows ? NIL : found)
			if (OidIsValid(lfirst_oid(lc)))
				tables = lappend_oid(tables, lfirst_oid(lc));
	}
	return tables;
}

static List *
add_objects(List *objects, PublicationPart part, List *relids)
{
	ListCell *lc;

	foreach (lc, relids)
		if (OidIsValid(lfirst_oid(lc)))
		{
			PublicationObject *object = palloc(sizeof(PublicationObject));

			*object = (PublicationObject){lfirst_oid(lc), part};
			objects = lappend(objects, object);
		}
	return objects;
}

List *
publication_objects(const KanonPublication *publication, List *history)
{
	List *objects = add_objects(NIL, PART_VIEW, list_make1_oid(publication->published));
	ListCell *lc;

	objects = add_objects(objects, PART_VIEW, publication->views);
	objects = add_objects(objects, PART_ROWS, appended_tables(publication));
	foreach (lc, history)
	{
		const Release *release = lfirst(lc);
		List *tables = release_tables(release, false);

		objects = add_objects(objects, PART_RELEASE, list_make1_oid(release->relation));
		objects = add_objects(objects, PART_ROWS, list_delete_oid(tables, release->relation));
	}
	return add_objects(objects, PART_OWNER,
					   list_make3_oid(publication->source, publication->history, publication->definition));
}

void
release_forget(Release *release, bool rows_alone)
{
	for (int i = 0; i < lengthof(parts); i++)
	{
		char *place = (char *) release + parts[i].place;

		if (rows_alone && !parts[i].of_rows)
			continue;
		if (parts[i].many)
			*(List **) place = NIL;
		else
			*(Oid *) place = InvalidOid;
	}
}
