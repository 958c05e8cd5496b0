/*
 * successive.c: what a release gives away together with those before it, and who a
 * row is about.
 *
 * Who knows in which class a person is in one release and in which in another has
 * only the persons that are in both to choose from.  With a key, the column that
 * says who a row is about, the rows are written to a table beside the target first,
 * with the key, their row type and their class.  There the rows of persons who would
 * be too few are taken from their classes, the release follows, and only then the
 * target is written, verified and recorded: without the key.  Rows that show nothing
 * are in no class here, as everywhere.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "run/successive.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/random.h"
#include "write/bulk.h"
#include "write/mask.h"
#include "write/spread.h"
#include "write/verify.h"
#include "write/write.h"

#include <math.h>

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

static const char *const changed_rows = "Rows were changed before they were published.";

/* "a, b, c" of the quasi-identifiers, quoted, with something after each. */
static char *
qi_list(const Run *run, const char *each)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < run->source->nqis; i++)
		appendStringInfo(&list, "%s%s%s", i > 0 ? ", " : "", run->source->qis[i].quoted, each);
	return list.data;
}

/* What tells classes apart, as readers see them. */
static char *
class_list(const Run *run)
{
	return psprintf("%s%s", qi_list(run, ""), run->target->mark ? ", " KANON_MARK_COLUMN : "");
}

/* The equality that makes two keys one person, as an operator in SQL. */
char *
key_equality(Oid relid, const char *key)
{
	Oid type = get_atttype(relid, get_attnum(relid, key));
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
	HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(entry->eq_opr));
	Form_pg_operator form;
	char *text;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of type %s cannot be a key", key, format_type_be(type)),
				 errhint("A key's values must be comparable: cast it in a view, or take another column.")));
	/* where the operator is: its function may be elsewhere */
	form = (Form_pg_operator) GETSTRUCT(tuple);
	text = psprintf("OPERATOR(%s.%s)", quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return text;
}

void
check_keys(Oid relid, const char *key, Oid persons)
{
	AttrNumber before = get_attnum(persons, "key");

	if (before <= 0 || get_atttype(relid, get_attnum(relid, key)) != get_atttype(persons, before))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("releases have their persons by keys of different types"),
						errhint("They cannot be compared: create the publication anew.")));
}

/*
 * The classes of the release that readers cannot tell apart, under one number: number (in the release), class,
 * and a hash of what it shows.  What shows nothing has a number below 0.
 */
static char *
looks(const Run *run)
{
	return psprintf(
		"SELECT u.number, g.class, g.look FROM (SELECT pg_catalog.array_agg(DISTINCT " KANON_CLASS_COLUMN
		") AS numbers,"
		" CASE WHEN pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.>) 0 THEN 1 ELSE -1 END"
		" OPERATOR(pg_catalog.*) pg_catalog.row_number() OVER () AS class,"
		" pg_catalog.md5(CAST(ROW(%s) AS pg_catalog.text)) AS look FROM %s GROUP BY %s) AS g"
		" CROSS JOIN LATERAL pg_catalog.unnest(g.numbers) AS u (number)",
		qi_list(run, ""), class_list(run), run->staged->building, class_list(run));
}

/* Rows that show something with their class, as readers tell classes apart, and their place: class, key, id. */
static char *
members(const Run *run)
{
	return psprintf("SELECT l.class, s.%s AS key, s.ctid AS id FROM %s AS s JOIN (%s) AS l"
					" ON l.number OPERATOR(pg_catalog.=) s." KANON_CLASS_COLUMN
					" WHERE l.class OPERATOR(pg_catalog.>) 0",
					quote_identifier(run->request->key), run->staged->building, looks(run));
}

/* What is published beside the quasi-identifiers, as one text; NULL: nothing is. */
static char *
kept_text(const Source *source, const char *of)
{
	StringInfoData list;

	if (source->nkept == 0)
		return NULL;
	initStringInfo(&list);
	for (int i = 0; i < source->nkept; i++)
		appendStringInfo(&list, "%s%s.%s", i > 0 ? ", " : "", of, source->kept[i].quoted);
	return psprintf("CAST(ROW(%s) AS pg_catalog.text)", list.data);
}

static void
refuse_null_keys(const Run *run)
{
	if (gate_execute(psprintf("SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", run->staged->building,
							  quote_identifier(run->request->key)),
					 false, SPI_OK_SELECT) > 0)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("the key column \"%s\" has NULLs", run->request->key),
						errhint("Every row must say who it is about: leave others out in a view.")));
}

/* ---- protection ---- */

/* How a row is taken from the class it is in. */
/* The class of rows that show nothing: the last, or one more. */
static uint32
blank_class(const Run *run)
{
	uint32 n = run->release.nclasses;

	return n > 0 && kanon_class_blank(&run->problem, &run->release, n - 1) ? n - 1 : n;
}

/*
 * What is done to rows, up to its WHERE, as `residual` says: suppressed whole, or left out; NULL:
 * neither is allowed.
 * Nor where classes keep other rules, which those who are left could break.
 */
static const char *
find_remedy(const Run *run)
{
	char *mark = palloc(run->source->nqis + 1);

	if (run->problem.residual == KANON_RESIDUAL_ERROR || run->request->privacy != NULL)
		return NULL;
	if (run->problem.residual == KANON_RESIDUAL_DROP)
		return psprintf("DELETE FROM %s", run->staged->building);
	memset(mark, '*', run->source->nqis);
	mark[run->source->nqis] = '\0';
	return psprintf("UPDATE %s SET %s, " KANON_CLASS_COLUMN " = %u%s", run->staged->building,
					qi_list(run, " = NULL"), blank_class(run),
					run->target->mark ? psprintf(", " KANON_MARK_COLUMN " = '%s'", mark) : "");
}

/* Rows of persons who are too few with somebody in a class of an older release. */
static char *
exposed(const Run *run, const char *persons)
{
	char *equal = key_equality(run->staged->relid, run->request->key);

	return psprintf(
		"WITH member AS MATERIALIZED (%s), pair AS ("
		"SELECT m.class, o.class AS old FROM member AS m JOIN %s AS o ON m.key %s o.key AND o.class OPERATOR(pg_catalog.>) 0"
		" GROUP BY m.class, o.class"
		" HAVING pg_catalog.count(DISTINCT m.key) OPERATOR(pg_catalog.<) " INT64_FORMAT ")"
		" SELECT m.id FROM member AS m JOIN %s AS o ON m.key %s o.key AND o.class OPERATOR(pg_catalog.>) 0"
		" JOIN pair AS p ON p.class OPERATOR(pg_catalog.=) m.class AND p.old OPERATOR(pg_catalog.=) o.class",
		members(run), persons, equal, run->problem.k, persons, equal);
}

/* Rows of classes that are too small, because others were taken out. */
static char *
stranded(const Run *run)
{
	return psprintf("SELECT pg_catalog.unnest(pg_catalog.array_agg(ctid)) FROM %s"
					" WHERE pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.>) 0 GROUP BY " KANON_CLASS_COLUMN
					" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.<) " INT64_FORMAT,
					run->staged->building, qi_list(run, ""), run->problem.k);
}

static int64
take_out(const char *remedy, const char *whom)
{
	if (remedy != NULL)
		return (int64) gate_execute(
			psprintf("%s WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(%s))", remedy, whom), false, 0);
	if (gate_execute(psprintf("SELECT 1 FROM (%s) AS m LIMIT 1", whom), false, SPI_OK_SELECT) > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("the release would break k together with one before it"),
			 errhint("Without privacy rules, and when residual is 'suppress' or 'drop', the rows in question "
					 "are suppressed or left out; or keep fewer releases.")));
	return 0;
}

/* Raises, or takes rows from their classes, where k is broken against releases before; returns how many. */
static int64
protect(const Run *run)
{
	const char *remedy = find_remedy(run);
	int64 total = 0, changed;

	/* each round takes rows out of their classes, so it comes to an end */
	do
	{
		ListCell *lc;

		changed = 0;
		foreach (lc, run->request->earlier)
		{
			check_keys(run->staged->relid, run->request->key, lfirst_oid(lc));
			changed += take_out(remedy, exposed(run, relation_name(lfirst_oid(lc))));
		}
		if (changed > 0)
			changed += take_out(remedy, stranded(run));
		total += changed;
		/* nobody is taken out twice */
		if (total > run->types->nrows)
			raise_unsafe(changed_rows);
	} while (changed > 0);
	return total;
}

/* ---- the release as it is now ---- */

typedef struct Recount
{
	const Run *run;
	uint32 nclasses; /* the one that shows nothing among them */
	KanonFlow *flows;
	size_t nflows;
	size_t room;
	int64 *rows; /* [ntypes] that are in a class */
} Recount;

static bool
receive_flow(void *arg, TupleTableSlot *slot)
{
	Recount *recount = arg;
	const RowTypes *types = recount->run->types;
	KanonFlow flow = {.type = (uint32) DatumGetInt32(slot->tts_values[0]),
					  .class_ = (uint32) DatumGetInt32(slot->tts_values[1]),
					  .rows = DatumGetInt64(slot->tts_values[2])};

	/* what older releases' tables were made into can run functions, and those find this table */
	if (slot->tts_isnull[0] || slot->tts_isnull[1] || flow.type >= types->ntypes ||
		flow.class_ >= recount->nclasses || recount->nflows == recount->room ||
		flow.rows > types->rows[flow.type] - recount->rows[flow.type])
		raise_unsafe(changed_rows);
	recount->flows[recount->nflows++] = flow;
	recount->rows[flow.type] += flow.rows;
	return true;
}

/* Counts the rows of the classes anew; those that lost all of theirs go, one that shows nothing may come. */
static void
rebuild_classes(Run *run, uint32 blank)
{
	KanonRelease *release = &run->release;
	int ncolumns = run->problem.ncolumns;
	uint32 n = Max(release->nclasses, blank + 1);
	KanonClass *classes = border_palloc(run->border, sizeof(KanonClass) * n);
	KanonCell *cells = border_palloc(run->border, sizeof(KanonCell) * (Size) n * ncolumns);
	uint32 *number = border_palloc(run->border, sizeof(uint32) * n);
	uint32 kept = 0;

	memcpy(classes, release->classes, sizeof(KanonClass) * release->nclasses);
	memcpy(cells, release->cells, sizeof(KanonCell) * (Size) release->nclasses * ncolumns);
	if (blank == release->nclasses)
	{
		classes[blank].pattern = kanon_pattern_all(ncolumns);
		memset(&cells[(Size) blank * ncolumns], 0, sizeof(KanonCell) * ncolumns);
		for (int c = 0; c < ncolumns; c++)
			cells[(Size) blank * ncolumns + c].show = KANON_SHOW_NOTHING;
	}
	for (uint32 i = 0; i < n; i++)
		classes[i].rows = 0;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			classes[release->flows[f].class_].rows += release->flows[f].rows;
	for (uint32 i = 0; i < n; i++)
	{
		number[i] = kept;
		if (classes[i].rows == 0)
			continue;
		classes[kept] = classes[i];
		memmove(&cells[(Size) kept * ncolumns], &cells[(Size) i * ncolumns], sizeof(KanonCell) * ncolumns);
		kept++;
	}
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			release->flows[f].class_ = number[release->flows[f].class_];
	border_pfree(run->border, number);
	border_pfree(run->border, release->classes);
	border_pfree(run->border, release->cells);
	release->classes = classes;
	release->cells = cells;
	release->nclasses = kept;
}

/* The release follows what became of the rows. */
static void
follow(Run *run, uint32 blank)
{
	KanonRelease *release = &run->release;
	uint32 ntypes = run->types->ntypes;
	Recount recount = {.run = run, .nclasses = Max(release->nclasses, blank + 1)};
	Gate *gate = gate_create(run->staged->building, run->staged->relid, 3);

	/* a type has at most its flows of before, one to the class that shows nothing, and one that is left out */
	recount.room = release->nflows + (Size) ntypes;
	recount.flows = border_palloc(run->border, sizeof(KanonFlow) * (recount.room + (Size) ntypes));
	recount.rows = border_palloc(run->border, sizeof(int64) * (Size) ntypes);
	memset(recount.rows, 0, sizeof(int64) * (Size) ntypes);
	gate_computed(gate, KANON_TYPE_COLUMN, INT4OID);
	gate_computed(gate, KANON_CLASS_COLUMN, INT4OID);
	gate_computed(gate, "rows", INT8OID);
	if (FAULT(staged_twice))
		run_utility(
			psprintf("INSERT INTO %s SELECT * FROM %s", run->staged->building, run->staged->building));
	gate_select(gate,
				psprintf("SELECT " KANON_TYPE_COLUMN ", " KANON_CLASS_COLUMN
						 ", pg_catalog.count(*) FROM %s GROUP BY 1, 2",
						 run->staged->building),
				false, receive_flow, &recount);
	release->dropped = 0;
	for (uint32 i = 0; i < ntypes; i++)
		if (recount.rows[i] < run->types->rows[i])
		{
			int64 left = run->types->rows[i] - recount.rows[i];

			recount.flows[recount.nflows++] = (KanonFlow){i, KANON_DROPPED, left};
			release->dropped += left;
		}
	qsort_arg(recount.flows, recount.nflows, sizeof(KanonFlow), kanon_compare_flows, NULL);
	border_pfree(run->border, recount.rows);
	border_pfree(run->border, release->flows);
	release->flows = recount.flows;
	release->nflows = recount.nflows;
	rebuild_classes(run, blank);
}

/* What it costs and shows now; nothing that was proven of it before holds but the bound. */
static void
measure_again(Run *run)
{
	KanonReport *report = &run->report;
	bool by_ncp =
		run->problem.cluster != NULL && fabs(report->cost - run->measures.ncp) <= 1e-9 * Max(report->cost, 1);

	run_measure(run);
	if (by_ncp)
		report->cost = run->measures.ncp;
	else if (run->problem.cluster == NULL)
	{
		report->cost = 0;
		for (uint32 i = 0; i < run->release.nclasses; i++)
			report->cost += kanon_pattern_cost(&run->problem, run->release.classes[i].pattern) *
							run->release.classes[i].rows;
	}
	report->proven = false;
	report->guarantee = 0;
}

/* ---- the way of the rows ---- */

/* The source with its key among the kept columns, whose last it is. */
static Source *
with_key(const Source *source)
{
	Source *copy = palloc(sizeof(Source));

	*copy = *source;
	copy->nkept++;
	return copy;
}

static void
stage(Run *run)
{
	Target *staged = palloc(sizeof(Target));
	RowTypes types = *run->types;
	int64 written;

	*staged = *run->target;
	staged->name = psprintf("kanon_keyed_" UINT64_FORMAT, random_number());
	staged->qualified = quote_qualified_identifier(staged->schema, staged->name);
	staged->replaced = InvalidOid;
	staged->kind = TABLE_LOCAL;
	staged->numbered = true;
	types.source = with_key(run->source);
	target_create(staged, types.source);
	written = target_write(staged, &types, &run->problem, &run->release, run->border);
	if (written != run->types->nrows - run->release.dropped)
		elog(ERROR, "wrote " INT64_FORMAT " rows", written);
	CommandCounterIncrement();
	run->staged = staged;
}

/* Who is in which class, and what is published there of each beside the quasi-identifiers: as one hash. */
static void
note_persons(const Run *run)
{
	const char *persons = run->request->persons;
	const char *kept = kept_text(run->source, "s");
	const char *hash =
		kept == NULL ? "NULL::pg_catalog.text"
					 : psprintf("pg_catalog.md5(pg_catalog.string_agg(pg_catalog.md5(%s), ''::pg_catalog.text"
								" ORDER BY pg_catalog.md5(%s) COLLATE pg_catalog.\"C\"))",
								kept, kept);
	int nest = plain_text_begin();

	run_utility(psprintf(
		"CREATE TABLE %s AS SELECT s.%s AS key, l.class, l.look, %s AS kept FROM %s AS s JOIN (%s) AS l"
		" ON l.number OPERATOR(pg_catalog.=) s." KANON_CLASS_COLUMN " GROUP BY s.%s, l.class, l.look",
		persons, quote_identifier(run->request->key), hash, run->staged->building, looks(run),
		quote_identifier(run->request->key)));
	plain_text_end(nest);
	keep_uncounted(RangeVarGetRelid(
		makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(persons))), NoLock, false));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'who is in which class of a kanon release; never to be published'", persons));
}

void
successive_settle(Run *run)
{
	uint32 blank = blank_class(run);

	if (run->problem.freeform != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("solver \"%s\" makes no classes that persons could be in", run->request->model->name),
				 errhint("Leave out the key, or take another solver.")));
	stage(run);
	(void) key_equality(run->staged->relid, run->request->key); /* before anybody asks who is who */
	refuse_null_keys(run);
	if (run->request->protect)
	{
		border_progress(run->border, "comparing with releases before", 0, -1);
		masks_verify(run->staged, run->source);
		run->suppressed_later = protect(run);
	}
	if (run->suppressed_later > 0)
	{
		CommandCounterIncrement();
		follow(run, blank);
		measure_again(run);
		masks_recount(run->staged, run->source);
	}
	border_progress(run->border, "taking out the key", 0, -1);
	note_persons(run);
}

static bool
copy_row(void *arg, TupleTableSlot *slot)
{
	BulkWriter *bulk = arg;
	TupleTableSlot *row = bulk_slot(bulk);
	int n = slot->tts_tupleDescriptor->natts;

	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * n);
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * n);
	bulk_put(bulk);
	return true;
}

int64
successive_write(Run *run)
{
	const Source *source = run->source;
	char *columns =
		psprintf("%s%s%s%s%s", column_list(source->qis, source->nqis), source->nkept > 0 ? ", " : "",
				 column_list(source->kept, source->nkept), run->target->mark ? ", " KANON_MARK_COLUMN : "",
				 run->target->kind == TABLE_DISTRIBUTED
					 ? ", pg_catalog.uuid_hash(pg_catalog.gen_random_uuid()) AS " KANON_SHARD_COLUMN
					 : "");
	Relation rel;
	BulkWriter *bulk;
	Gate *gate;
	int64 written;

	spread_not(run->target, source, "Persons of releases before are looked after here.");
	if (FAULT(staged_limited))
		run_utility(psprintf("ALTER TABLE %s ADD CHECK (true)", run->target->building));
	rel = target_open(run->target);
	bulk = bulk_begin(rel);
	gate = gate_create(run->staged->building, run->staged->relid, RelationGetNumberOfAttributes(rel));
	if (!target_is_plain(rel, run->target, source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	gate_table(gate, RelationGetDescr(rel));
	gate_select(gate,
				psprintf("SELECT %s FROM %s ORDER BY " KANON_CLASS_COLUMN ", pg_catalog.gen_random_uuid()",
						 columns, run->staged->building),
				false, copy_row, bulk);
	written = bulk_end(bulk);
	table_close(rel, NoLock);
	run_utility(psprintf("DROP TABLE %s", run->staged->building));
	return written;
}
