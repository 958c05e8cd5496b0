/*
 * spread.c: the release becomes rows on the workers that have the source's.
 *
 * The rows were set aside under random places (stage.c), each on a worker that was
 * drawn for it, and there they stay: one INSERT … SELECT, pushed down to each shard, joins
 * them with a mapping from row types to classes and with what classes show, which Citus
 * sends to every worker.  A row's type is found by a hash, with a seed under which all row
 * types that there are have different hashes: the one that was set aside with the row, or,
 * where workers have nothing of kanon, what PostgreSQL itself computes.
 *
 * Of a type that goes to several classes each takes the rows between two thresholds,
 * on lots that no other use of the place tells anything of.
 */
#include "compat.h"
#include "write/spread.h"
#include "core/privacy/rules.h"
#include "core/util/sort.h"
#include "host/catalog.h"
#include "host/citus.h"
#include "host/gate.h"
#include "host/random.h"
#include "host/settings.h"
#include "read/dictionary.h"
#include "read/stage.h"
#include "write/bulk.h"
#include "write/counted.h"
#include "write/kept.h"
#include "write/shown_class.h"
#include "write/verify.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/typcache.h"

/* Of the mapping, before what a class shows: hash of a row type, least and largest lot of its rows, class. */
#define MAPPING_BEFORE 4

/* With n types one seed in some 2^65 / n^2 will not do. */
#define MOST_SEEDS 8

typedef struct Spread
{
	const Target *target;
	const RowTypes *types;
	const KanonProblem *problem;
	const KanonRelease *release;
	Border *border;
	int64 seed;
	int64 *hash; /* [ntypes] */
	bool splits; /* a type goes to several classes */
	int64 *low;  /* [nflows] */
	int64 *high;
	char *bare; /* the mapping's name */
	char *name; /* the same, qualified and quoted */
} Spread;

/* ---- local or distributed ---- */

TableKind
spread_kind(const Source *source, Oid before)
{
	if (kanon_distribute == DISTRIBUTE_OFF)
		return TABLE_LOCAL;
	if (OidIsValid(before))
		return citus_kind(before);
	if (!OidIsValid(source->staged_from))
		return TABLE_LOCAL;
	return source->staged_rows < SPREAD_ROWS ? TABLE_REFERENCE : TABLE_DISTRIBUTED;
}

void
spread_not(const Target *target, const Source *source, const char *why)
{
	if (target->kind == TABLE_DISTRIBUTED && OidIsValid(source->staged_from))
		ereport(NOTICE, (errmsg("all rows of the target pass through this server, which writes them"),
						 errdetail("%s", why)));
}

/* Enums, and rows that may have some, are hashed by object identifiers, which each server gives for itself. */
static bool
hashes_differently(Oid type)
{
	Oid of = getBaseType(type);

	while (OidIsValid(type = get_element_type(of)) || OidIsValid(type = get_range_subtype(of)) ||
		   OidIsValid(type = get_multirange_range(of)))
		of = getBaseType(type);
	return type_is_enum(of) || type_is_rowtype(of);
}

/* Why workers cannot write it; NULL: they can. */
static const char *
obstacle(const Target *target, const Source *source, const KanonProblem *problem)
{
	if (source->masks != NULL)
		return "Kept columns are masked.";
	if (counts_persons(problem) && !target->mark && !kanon_privacy_monotone(problem->privacy))
		return "A privacy rule counts persons, and classes may look alike.";
	for (int c = 0; c < source->ngrouped; c++)
		if (!OidIsValid(
				lookup_type_cache(source->qis[c].type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
			return psprintf("Column \"%s\" is of a type without a hash function.", source->qis[c].name);
		else if (hashes_differently(source->qis[c].type))
			return psprintf("Column \"%s\" is of a type that each server hashes in its own way.",
							source->qis[c].name);
	return NULL;
}

bool
spread_takes(const Target *target, const Source *source, const KanonProblem *problem)
{
	const char *why;

	if (target->kind != TABLE_DISTRIBUTED || !OidIsValid(source->staged_from))
		return false;
	why = obstacle(target, source, problem);
	if (why != NULL)
		spread_not(target, source, why);
	return why == NULL;
}

/* ---- row types by their hashes ---- */

/* As workers have computed it, or will: of a record of what row types are made of. */
static char *
hash_of_row(const Spread *spread, const char *row)
{
	const Source *source = spread->types->source;
	StringInfoData sql;

	if (source->staged_packed)
		return psprintf("%s" TYPE_COLUMN, row);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "pg_catalog.hash_record_extended(ROW(");
	for (int c = 0; c < source->ngrouped; c++)
		appendStringInfo(&sql, "%s%s%s", c > 0 ? ", " : "", row, source->qis[c].quoted);
	appendStringInfo(&sql, "), " INT64_FORMAT "::pg_catalog.int8)", spread->seed);
	return sql.data;
}

/*
 * By what a type's rows are divided among classes: the place with its halves swapped.  The order within a class
 * follows the place's other half, and so does not tell which rows of the class came from where.
 */
static char *
lot_of_row(const char *row)
{
	return psprintf("(%s" PLACE_COLUMN " OPERATOR(pg_catalog.<<) 32 OPERATOR(pg_catalog.|)"
					" (%s" PLACE_COLUMN " OPERATOR(pg_catalog.>>) 32 OPERATOR(pg_catalog.&) 4294967295))",
					row, row);
}

static void
hash_types(Spread *spread)
{
	const Source *source = spread->types->source;
	TupleDesc desc = CreateTemplateTupleDesc(source->ngrouped);
	Datum *values = palloc(sizeof(Datum) * source->ngrouped);
	bool *nulls = palloc(sizeof(bool) * source->ngrouped);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon hashes", ALLOCSET_SMALL_SIZES);
	FmgrInfo function;

	for (int c = 0; c < source->ngrouped; c++)
	{
		TupleDescInitEntry(desc, c + 1, source->qis[c].name, source->qis[c].type, -1, 0);
		TupleDescInitEntryCollation(desc, c + 1, source->qis[c].collation);
	}
	TupleDescFinalize(desc);
	desc = BlessTupleDesc(desc);
	fmgr_info(F_HASH_RECORD_EXTENDED, &function);
	for (uint32 i = 0; i < spread->types->ntypes; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(scratch);

		CHECK_FOR_INTERRUPTS();
		for (int c = 0; c < source->ngrouped; c++)
			values[c] =
				dictionary_value(source->qis[c].dictionary, spread->types->grouped[c].code[i], &nulls[c]);
		spread->hash[i] = DatumGetInt64(FunctionCall2(
			&function, HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)), Int64GetDatum(spread->seed)));
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
}

static int
compare_hashes(const void *a, const void *b)
{
	int64 left = *(const int64 *) a, right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

static bool
hashes_differ(const Spread *spread)
{
	uint32 n = spread->types->ntypes;
	int64 *sorted = border_palloc(spread->border, sizeof(int64) * (Size) n);
	bool differ = true;

	memcpy(sorted, spread->hash, sizeof(int64) * (Size) n);
	qsort(sorted, n, sizeof(int64), compare_hashes);
	for (uint32 i = 1; i < n && differ; i++)
		differ = sorted[i] != sorted[i - 1];
	border_pfree(spread->border, sorted);
	return differ;
}

static void
find_hashes(Spread *spread)
{
	const Source *source = spread->types->source;
	RandomPool *random = palloc0(sizeof(RandomPool));
	int tries = 0;

	spread->hash = border_palloc(spread->border, sizeof(int64) * (Size) spread->types->ntypes);
	do
	{
		if (tries++ == MOST_SEEDS)
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR), errmsg("row types have equal hashes with every seed"),
					 errhint("A type's hash function may be bad; SET kanon.distribute = 'off'.")));
		spread->seed = source->staged_packed ? source->staged_seed : (int64) random_draw(random);
		hash_types(spread);
	} while (!hashes_differ(spread));
	pfree(random);
}

/* ---- types that go to several classes ---- */

typedef struct Split
{
	Spread *spread;
	int64 *hashes; /* of types that are split, ascending */
	size_t *flows; /* the first flow of each */
	size_t n;
	size_t at;   /* the type whose rows come in: n before the first */
	size_t flow; /* takes the next row, */
	int64 room;  /* and so many */
} Split;

static void
raise_other_rows(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("the rows that were set aside are others than they were"),
					errhint("Run the call again.")));
}

/* Rows come by type and hash of their place: where a class has its rows, the next one begins. */
static bool
receive_place(void *arg, TupleTableSlot *slot)
{
	Split *split = arg;
	Spread *spread = split->spread;
	const KanonRelease *release = spread->release;
	int64 hash = DatumGetInt64(slot->tts_values[0]);
	int64 place = DatumGetInt64(slot->tts_values[1]);

	if (split->at == split->n || split->hashes[split->at] != hash)
	{
		split->at = split->at == split->n ? 0 : split->at + 1;
		if (split->at == split->n || split->hashes[split->at] != hash)
			raise_other_rows();
		split->flow = split->flows[split->at];
		split->room = release->flows[split->flow].rows;
		spread->low[split->flow] = PG_INT64_MIN;
	}
	if (split->room == 0)
	{
		uint32 type = release->flows[split->flow].type;

		spread->high[split->flow] = place - 1;
		split->flow++;
		if (split->flow == release->nflows || release->flows[split->flow].type != type)
			raise_other_rows();
		split->room = release->flows[split->flow].rows;
		spread->low[split->flow] = place;
	}
	spread->high[split->flow] = PG_INT64_MAX;
	split->room--;
	return true;
}

static int
compare_flows_by_hash(const void *a, const void *b, void *arg)
{
	const Spread *spread = arg;
	int64 left = spread->hash[spread->release->flows[*(const size_t *) a].type];
	int64 right = spread->hash[spread->release->flows[*(const size_t *) b].type];

	return left < right ? -1 : left > right;
}

/* The first flow of each type that has several. */
static void
find_split_types(Split *split)
{
	const KanonRelease *release = split->spread->release;

	split->flows = border_palloc(split->spread->border, sizeof(size_t) * release->nflows);
	for (size_t f = 0; f + 1 < release->nflows; f++)
		if (release->flows[f].type == release->flows[f + 1].type &&
			(f == 0 || release->flows[f - 1].type != release->flows[f].type))
			split->flows[split->n++] = f;
	qsort_arg(split->flows, split->n, sizeof(size_t), compare_flows_by_hash, split->spread);
	split->hashes = border_palloc(split->spread->border, sizeof(int64) * Max(split->n, 1));
	for (size_t i = 0; i < split->n; i++)
		split->hashes[i] = split->spread->hash[release->flows[split->flows[i]].type];
	split->at = split->n;
}

/* The thresholds: all places of these types' rows are looked at, and nothing else of them. */
static void
find_thresholds(Spread *spread)
{
	const Source *source = spread->types->source;
	Split split = {.spread = spread};
	StringInfoData sql;
	Gate *gate;

	spread->low = border_palloc(spread->border, sizeof(int64) * spread->release->nflows);
	spread->high = border_palloc(spread->border, sizeof(int64) * spread->release->nflows);
	for (size_t f = 0; f < spread->release->nflows; f++)
	{
		spread->low[f] = PG_INT64_MIN;
		spread->high[f] = PG_INT64_MAX;
	}
	find_split_types(&split);
	spread->splits = split.n > 0;
	if (!spread->splits)
		return;
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s, %s FROM %s WHERE %s OPERATOR(pg_catalog.=) ANY ('{",
					 hash_of_row(spread, ""), lot_of_row(""), source->name, hash_of_row(spread, ""));
	for (size_t i = 0; i < split.n; i++)
		appendStringInfo(&sql, "%s" INT64_FORMAT, i > 0 ? "," : "", split.hashes[i]);
	appendStringInfoString(&sql, "}'::pg_catalog.int8[]) ORDER BY 1, 2");
	gate = gate_create(source->name, source->relid, 2);
	gate_computed(gate, "type", INT8OID);
	gate_computed(gate, "place", INT8OID);
	gate_select(gate, sql.data, true, receive_place, &split);
	if (split.at != split.n - 1 || split.room != 0)
		raise_other_rows();
	border_pfree(spread->border, split.flows);
	border_pfree(spread->border, split.hashes);
}

/* ---- the mapping ---- */

/* What it has from the target: what classes show, and the mark. */
static int
mapped_columns(const Spread *spread)
{
	return spread->types->source->nqis + (spread->target->mark ? 1 : 0);
}

/* The target's attribute that is the i-th of these. */
static int
target_attribute(const Spread *spread, int i)
{
	const Source *source = spread->types->source;

	return i < source->nqis ? i : source->nqis + source->nkept;
}

/* Rows are put into it past everything, as into a target. */
static bool
mapping_is_plain(const Spread *spread, Relation mapping, Relation target)
{
	static const Oid before[MAPPING_BEFORE] = {INT8OID, INT8OID, INT8OID, INT4OID};
	TupleDesc desc = RelationGetDescr(mapping);
	Form_pg_class form = mapping->rd_rel;
	int n = mapped_columns(spread);

	if (form->relkind != RELKIND_RELATION || form->relhasindex || form->relhastriggers || form->relhasrules ||
		form->relchecks > 0 || form->relrowsecurity || form->relispartition || form->relhassubclass ||
		desc->constr != NULL || desc->natts != MAPPING_BEFORE + n)
		return false;
	for (int i = 0; i < MAPPING_BEFORE; i++)
		if (TupleDescAttr(desc, i)->attisdropped || TupleDescAttr(desc, i)->atttypid != before[i])
			return false;
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, MAPPING_BEFORE + i);
		Form_pg_attribute shown = TupleDescAttr(RelationGetDescr(target), target_attribute(spread, i));

		if (att->attisdropped || att->atttypid != shown->atttypid || att->atttypmod != shown->atttypmod ||
			att->attcollation != shown->attcollation)
			return false;
	}
	return true;
}

static void
create_mapping(Spread *spread)
{
	const Source *source = spread->types->source;
	StringInfoData sql;
	uint64 random;

	if (!pg_strong_random(&random, sizeof(random)))
		elog(ERROR, "could not generate a random name");
	spread->bare = psprintf("kanon_mapping_" UINT64_FORMAT, random);
	spread->name = quote_qualified_identifier(spread->target->schema, spread->bare);
	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "CREATE UNLOGGED TABLE %s AS SELECT 0::pg_catalog.int8 AS type,"
					 " 0::pg_catalog.int8 AS low, 0::pg_catalog.int8 AS high, 0::pg_catalog.int4 AS class",
					 spread->name);
	for (int c = 0; c < source->nqis; c++)
		appendStringInfo(&sql, ", %s AS c%d", source->qis[c].quoted, c + 1);
	if (spread->target->mark)
		appendStringInfo(&sql, ", " KANON_MARK_COLUMN " AS c%d", source->nqis + 1);
	appendStringInfo(&sql, " FROM %s WITH NO DATA", spread->target->building);
	run_utility(sql.data);
}

/* The flows, those of a class together. */
static size_t *
flows_by_class(const Spread *spread)
{
	const KanonRelease *release = spread->release;
	size_t *next = border_palloc(spread->border, sizeof(size_t) * ((Size) release->nclasses + 1));
	size_t *flows = border_palloc(spread->border, sizeof(size_t) * release->nflows);

	memset(next, 0, sizeof(size_t) * ((Size) release->nclasses + 1));
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			next[release->flows[f].class_ + 1]++;
	for (uint32 i = 0; i < release->nclasses; i++)
		next[i + 1] += next[i];
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			flows[next[release->flows[f].class_]++] = f;
	border_pfree(spread->border, next);
	return flows;
}

static void
put_flow(const Spread *spread, BulkWriter *bulk, const ShownClass *shown, size_t flow)
{
	const Source *source = spread->types->source;
	const KanonFlow *of = &spread->release->flows[flow];
	TupleTableSlot *slot = bulk_slot(bulk);

	memset(slot->tts_isnull, false, sizeof(bool) * (MAPPING_BEFORE + mapped_columns(spread)));
	slot->tts_values[0] = Int64GetDatum(spread->hash[of->type]);
	slot->tts_values[1] = Int64GetDatum(spread->low[flow]);
	slot->tts_values[2] = Int64GetDatum(spread->high[flow]);
	slot->tts_values[3] = Int32GetDatum((int32) of->class_);
	memcpy(slot->tts_values + MAPPING_BEFORE, shown->values, sizeof(Datum) * source->nqis);
	memcpy(slot->tts_isnull + MAPPING_BEFORE, shown->nulls, sizeof(bool) * source->nqis);
	if (spread->target->mark)
		slot->tts_values[MAPPING_BEFORE + source->nqis] = shown->pattern;
	bulk_put(bulk);
}

static void
fill_mapping(const Spread *spread, Relation target)
{
	const KanonRelease *release = spread->release;
	ShownClass *shown = shown_class_create(spread->target, spread->types->source, spread->problem, release);
	Relation rel = table_open(get_relname_relid(spread->bare, spread->target->namespace), RowExclusiveLock);
	size_t *flows = flows_by_class(spread);
	size_t n = 0;
	BulkWriter *bulk;
	int nest;

	if (!mapping_is_plain(spread, rel, target))
		raise_unsafe("What tells rows their classes has other columns than it should.");
	bulk = bulk_begin(rel);
	nest = plain_text_begin();
	for (size_t f = 0; f < release->nflows; f++)
		n += release->flows[f].class_ != KANON_DROPPED;
	for (size_t i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (release->flows[flows[i]].class_ != shown->class_)
			shown_class_enter(shown, release->flows[flows[i]].class_);
		put_flow(spread, bulk, shown, flows[i]);
	}
	plain_text_end(nest);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	border_pfree(spread->border, flows);
	CommandCounterIncrement();
}

/* ---- the rows ---- */

/*
 * What rows are joined with is sent to every worker first, as Citus sends a query's own
 * intermediate results: so the INSERT … SELECT reads and writes within each shard alone.
 * Citus writes these files in a format that it chooses by the columns' types; a column
 * of a system table's row type leaves it no choice.
 */
#define FORMAT_COLUMN "NULL::pg_catalog.pg_am AS format"

/* "FROM (file) AS m (type, low, high, class)": which rows go to which class */
static char *
mapped_types(const Spread *spread)
{
	char *file = psprintf("%s_types", spread->bare);

	citus_broadcast(file, psprintf("SELECT type, low, high, class, " FORMAT_COLUMN " FROM %s", spread->name));
	return psprintf("pg_catalog.read_intermediate_result(%s, 'text'::pg_catalog.citus_copy_format) AS f(type"
					" pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8, class pg_catalog.int4,"
					" format pg_catalog.pg_am)",
					quote_literal_cstr(file));
}

/* The same of what each class shows. */
static char *
mapped_classes(const Spread *spread, Relation target)
{
	char *file = psprintf("%s_classes", spread->bare);
	StringInfoData columns, definitions;
	int nest = plain_text_begin();

	initStringInfo(&columns);
	initStringInfo(&definitions);
	for (int i = 0; i < mapped_columns(spread); i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(target), target_attribute(spread, i));

		appendStringInfo(&columns, "c%d, ", i + 1);
		appendStringInfo(&definitions, "c%d %s, ", i + 1,
						 format_type_extended(att->atttypid, att->atttypmod,
											  FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	}
	citus_broadcast(file, psprintf("SELECT DISTINCT ON (class) class, %s" FORMAT_COLUMN " FROM %s",
								   columns.data, spread->name));
	plain_text_end(nest);
	return psprintf("pg_catalog.read_intermediate_result(%s, 'text'::pg_catalog.citus_copy_format)"
					" AS f(class pg_catalog.int4, %sformat pg_catalog.pg_am)",
					quote_literal_cstr(file), definitions.data);
}

/*
 * The rows, each with its class.  Where a planner sees that each row finds one line it hashes
 * the lines, and does not sort all rows: hence DISTINCT ON, here and below.
 */
static char *
rows_with_classes(const Spread *spread, const char *types)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "%s AS s JOIN (SELECT %s* FROM %s) AS t ON t.type OPERATOR(pg_catalog.=) %s",
					 spread->types->source->name, spread->splits ? "" : "DISTINCT ON (type) ", types,
					 hash_of_row(spread, "s."));
	if (spread->splits)
		appendStringInfo(&sql, " AND %s OPERATOR(pg_catalog.>=) t.low AND %s OPERATOR(pg_catalog.<=) t.high",
						 lot_of_row("s."), lot_of_row("s."));
	return sql.data;
}

/*
 * In the order (class, place) within each shard: rows and shards of both tables go
 * together.  Both make one number, since numbers are sorted faster than rows.  Rows are sorted before they have what their class shows, so that they are
 * small.
 */
static int64
insert_rows(const Spread *spread, const char *rows, const char *classes)
{
	const Source *source = spread->types->source;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s SELECT ", spread->target->building);
	for (int c = 0; c < source->nqis; c++)
		appendStringInfo(&sql, "m.c%d, ", c + 1);
	for (int i = 0; i < source->nkept; i++)
		appendStringInfo(&sql, "r.k%d, ", i + 1);
	if (spread->target->mark)
		appendStringInfo(&sql, "m.c%d, ", source->nqis + 1);
	appendStringInfoString(&sql, "r.shard FROM (SELECT t.class, ");
	for (int i = 0; i < source->nkept; i++)
		appendStringInfo(&sql, "s.%s AS k%d, ", source->kept[i].quoted, i + 1);
	appendStringInfo(&sql,
					 "s." SHARD_COLUMN
					 " AS shard FROM %s ORDER BY t.class::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32"
					 " OPERATOR(pg_catalog.|) (s." PLACE_COLUMN " OPERATOR(pg_catalog.>>) 32"
					 " OPERATOR(pg_catalog.&) 4294967295), s." PLACE_COLUMN
					 ") AS r JOIN (SELECT DISTINCT ON (class) * FROM %s)"
					 " AS m ON m.class OPERATOR(pg_catalog.=) r.class",
					 rows, classes);
	border_progress(spread->border, "writing", 0, spread->types->nrows - spread->release->dropped);
	if (gate_execute(sql.data, false) != SPI_OK_INSERT)
		elog(ERROR, "could not write the rows on the workers");
	return (int64) SPI_processed;
}

int64
spread_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
			 const KanonRelease *release, Border *border)
{
	Spread spread = {
		.target = target, .types = types, .problem = problem, .release = release, .border = border};
	Relation rel = table_open(target->relid, RowExclusiveLock);
	KeptLook *look = kept_begin(types->source, -1, 0, border);
	char *rows, *classes;
	int64 written;

	if (!target_is_plain(rel, target, types->source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	find_hashes(&spread);
	find_thresholds(&spread);
	create_mapping(&spread);
	fill_mapping(&spread, rel);
	classes = mapped_classes(&spread, rel);
	table_close(rel, NoLock);
	citus_distribute(target->building, KANON_SHARD_COLUMN, types->source->name);
	rows = rows_with_classes(&spread, mapped_types(&spread));
	written = insert_rows(&spread, rows, classes);
	if (counts_persons(problem))
		counted_persons(types, problem, release, spread.hash, rows, border);
	run_utility(psprintf("DROP TABLE %s", spread.name));
	border_pfree(border, spread.hash);
	border_pfree(border, spread.low);
	border_pfree(border, spread.high);
	if (look != NULL)
		counted_kept(look, target, types->source, problem, rows, written);
	return written;
}
