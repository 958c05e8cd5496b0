/*
 * distributed_write.c: the release becomes rows on the workers that have the source's.
 *
 * The rows were set aside under random places (worker_stage.c), each on a worker that was
 * drawn for it, and there they stay: one statement, pushed down to each shard, writes them with what
 * their classes show; types with their classes, and these, are sent to every worker by Citus.  A
 * row's type is found by a hash, with a seed under which all row types that there are have different
 * hashes: the one that was set aside with the row, which a worker looks up as it writes its shard
 * (shard_write.c), or, where workers have nothing of kanon, what PostgreSQL itself computes, and an
 * INSERT … SELECT joins rows with their classes.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "core/privacy/rules.h"
#include "host/catalog.h"
#include "distributed/citus.h"
#include "host/gate.h"
#include "host/border.h"
#include "host/settings.h"
#include "rows/dictionary.h"
#include "rows/target.h"
#include "masks/mask_apply.h"
#include "rows/cell_values.h"
#include "rows/verify.h"

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

/*
 * Columns of the mapping, before those that a class shows: hash of a row type, least and largest
 * lot of its rows, class; or, where these are looked up, all of them in the first line alone, and
 * the class.
 */
static const Oid before_joined[] = {INT8OID, INT8OID, INT8OID, INT4OID};
static const Oid before_looked_up[] = {BYTEAOID, INT4OID};

/* With n row types a random seed gives a hash collision with probability about n^2 / 2^65: another seed is drawn. */
#define MOST_SEEDS 8

typedef struct Spread
{
	const Target *target;
	const RowTypes *types;
	const KanonProblem *problem;
	const KanonRelease *release;
	Border *border;
	int64 seed;
	char *seed_sql; /* what queries on workers say for it, where rows were not packed under it */
	int64 *hash;    /* [ntypes] */
	bool splits;    /* a type goes to several classes */
	int64 *low;     /* [nflows] */
	int64 *high;
	bytea *lookup;     /* NULL: rows are joined with classes */
	const Oid *before; /* [nbefore] types of columns */
	int nbefore;
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

/*
 * Enums, names of objects, and rows that may have some, are hashed by object identifiers, which each server gives for
 * itself.
 */
static bool
hashes_differently(Oid type)
{
	Oid of = getBaseType(type);

	while (OidIsValid(type = get_element_type(of)) || OidIsValid(type = get_range_subtype(of)) ||
		   OidIsValid(type = get_multirange_range(of)))
		of = getBaseType(type);
	return type_is_enum(of) || type_is_rowtype(of) || is_hashed_apart(of);
}

/* Why workers cannot write it; NULL: they can. */
static const char *
obstacle(const Target *target, const Source *source, const KanonProblem *problem)
{
	if (target->company != NULL)
		return "Which rows were in which class of the release before is known here.";
	if (source->masks != NULL)
		return masks_any(source) ? "Kept columns are masked."
								 : "Equal values of a kept column can look different.";
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
		return psprintf("%s.kanon_row_type_hash(%s" PACKED_COLUMN ")", source->functions, row);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "pg_catalog.hash_record_extended(ROW(");
	for (int c = 0; c < source->ngrouped; c++)
		appendStringInfo(&sql, "%s%s%s", c > 0 ? ", " : "", row, source->qis[c].quoted);
	appendStringInfo(&sql, "), %s)", spread->seed_sql);
	return sql.data;
}

/*
 * By what a type's rows are divided among classes: a lot of its own, or the place with its halves swapped.  The
 * order within a class follows what is random otherwise, and so does not tell which rows of the class came from
 * where.
 */
static char *
lot_of_row(const Spread *spread, const char *row)
{
	if (spread->types->source->staged_packed)
		return psprintf("%s.kanon_row_type_lot(%s" PACKED_COLUMN ", %s" SHARD_COLUMN ")",
						spread->types->source->functions, row, row);
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
	if (!source->staged_packed)
		spread->seed_sql = citus_send_number(spread->target->schema, spread->seed);
	pfree(random);
}

/* ---- the mapping ---- */

/* Its columns from the target: the columns that classes show, and the mark. */
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
	TupleDesc desc = RelationGetDescr(mapping);
	Form_pg_class form = mapping->rd_rel;
	int n = mapped_columns(spread);

	if (form->relkind != RELKIND_RELATION || form->relhasindex || form->relhastriggers || form->relhasrules ||
		form->relchecks > 0 || form->relrowsecurity || form->relispartition || form->relhassubclass ||
		desc->constr != NULL || desc->natts != spread->nbefore + n)
		return false;
	for (int i = 0; i < spread->nbefore; i++)
		if (TupleDescAttr(desc, i)->attisdropped || TupleDescAttr(desc, i)->atttypid != spread->before[i])
			return false;
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, spread->nbefore + i);
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

	spread->bare = psprintf("kanon_mapping_" UINT64_FORMAT, random_number());
	spread->name = quote_qualified_identifier(spread->target->schema, spread->bare);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE UNLOGGED TABLE %s AS SELECT %s, 0::pg_catalog.int4 AS class", spread->name,
					 spread->lookup != NULL ? "NULL::pg_catalog.bytea AS types"
											: "0::pg_catalog.int8 AS type, 0::pg_catalog.int8 AS low,"
											  " 0::pg_catalog.int8 AS high");
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

/* The line at hand, with what the class shows. */
static void
put_line(const Spread *spread, BulkWriter *bulk, TupleTableSlot *slot, const ShownClass *shown)
{
	int nqis = spread->types->source->nqis;

	slot->tts_values[spread->nbefore - 1] = Int32GetDatum((int32) shown->class_);
	memcpy(slot->tts_values + spread->nbefore, shown->values, sizeof(Datum) * nqis);
	memcpy(slot->tts_isnull + spread->nbefore, shown->nulls, sizeof(bool) * nqis);
	if (spread->target->mark)
		slot->tts_values[spread->nbefore + nqis] = shown->pattern;
	bulk_put(bulk);
}

static TupleTableSlot *
new_line(const Spread *spread, BulkWriter *bulk)
{
	TupleTableSlot *slot = bulk_slot(bulk);

	memset(slot->tts_isnull, false, sizeof(bool) * (spread->nbefore + mapped_columns(spread)));
	return slot;
}

/* A line for each flow. */
static void
put_flows(const Spread *spread, BulkWriter *bulk, ShownClass *shown)
{
	const KanonRelease *release = spread->release;
	size_t *flows = flows_by_class(spread);
	size_t n = 0;

	for (size_t f = 0; f < release->nflows; f++)
		n += release->flows[f].class_ != KANON_DROPPED;
	for (size_t i = 0; i < n; i++)
	{
		const KanonFlow *of = &release->flows[flows[i]];
		TupleTableSlot *slot = new_line(spread, bulk);

		CHECK_FOR_INTERRUPTS();
		if (of->class_ != shown->class_)
			shown_class_enter(shown, of->class_);
		slot->tts_values[0] = Int64GetDatum(spread->hash[of->type]);
		slot->tts_values[1] = Int64GetDatum(spread->low[flows[i]]);
		slot->tts_values[2] = Int64GetDatum(spread->high[flows[i]]);
		put_line(spread, bulk, slot, shown);
	}
	border_pfree(spread->border, flows);
}

/* A line for each class. */
static void
put_classes(const Spread *spread, BulkWriter *bulk, ShownClass *shown)
{
	for (uint32 i = 0; i < spread->release->nclasses; i++)
	{
		TupleTableSlot *slot = new_line(spread, bulk);

		CHECK_FOR_INTERRUPTS();
		shown_class_enter(shown, i);
		slot->tts_values[0] = PointerGetDatum(spread->lookup);
		slot->tts_isnull[0] = i > 0;
		put_line(spread, bulk, slot, shown);
	}
}

static void
fill_mapping(const Spread *spread, Relation target)
{
	ShownClass *shown =
		shown_class_create(spread->target, spread->types->source, spread->problem, spread->release);
	Relation rel = table_open(get_relname_relid(spread->bare, spread->target->namespace), RowExclusiveLock);
	BulkWriter *bulk;
	int nest;

	if (!mapping_is_plain(spread, rel, target))
		raise_unsafe("The table that gives rows their classes has other columns than it should.");
	bulk = bulk_begin(rel);
	nest = plain_text_begin();
	if (spread->lookup != NULL)
		put_classes(spread, bulk, shown);
	else
		put_flows(spread, bulk, shown);
	plain_text_end(nest);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* ---- the rows ---- */

/*
 * The relation that rows are joined with is sent to every worker first, as Citus sends a
 * query's own intermediate results: so the INSERT … SELECT reads and writes within each
 * shard alone.
 */

/* "(file) AS f (types)": which rows go to which class, as one value to look up */
static char *
looked_up_types(const Spread *spread)
{
	char *file = psprintf("%s_types", spread->bare);
	int nest = plain_text_begin();

	citus_broadcast(
		file, psprintf("SELECT types, " CITUS_TEXT_COLUMN " FROM %s WHERE types IS NOT NULL", spread->name));
	plain_text_end(nest);
	return psprintf("pg_catalog.read_intermediate_result(%s, 'text'::pg_catalog.citus_copy_format)"
					" AS f(types pg_catalog.bytea, format pg_catalog.pg_am)",
					quote_literal_cstr(file));
}

/* "(file) AS f (type, low, high, class)": the same to join with */
static char *
mapped_types(const Spread *spread)
{
	char *file = psprintf("%s_types", spread->bare);

	citus_broadcast(file,
					psprintf("SELECT type, low, high, class, " CITUS_TEXT_COLUMN " FROM %s", spread->name));
	return psprintf("pg_catalog.read_intermediate_result(%s, 'text'::pg_catalog.citus_copy_format) AS f(type"
					" pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8, class pg_catalog.int4,"
					" format pg_catalog.pg_am)",
					quote_literal_cstr(file));
}

/* The same for the cells of each class. */
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
	citus_broadcast(file, psprintf("SELECT DISTINCT ON (class) class, %s" CITUS_TEXT_COLUMN " FROM %s",
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
rows_with_classes(const Spread *spread)
{
	StringInfoData sql;
	char *types = mapped_types(spread);
	char *lot = lot_of_row(spread, "s.");

	initStringInfo(&sql);
	appendStringInfo(&sql, "%s AS s JOIN (SELECT %s* FROM %s) AS t ON t.type OPERATOR(pg_catalog.=) %s",
					 spread->types->source->name, spread->splits ? "" : "DISTINCT ON (type) ", types,
					 hash_of_row(spread, "s."));
	if (spread->splits)
		appendStringInfo(&sql, " AND %s OPERATOR(pg_catalog.>=) t.low AND %s OPERATOR(pg_catalog.<=) t.high",
						 lot, lot);
	return sql.data;
}

/*
 * Class and place of a row as one number, since numbers are sorted faster than rows.  The place is the number by
 * which the row is on its worker, which is published as well, where the row has no other.
 */
static char *
order_of_row(const Spread *spread)
{
	return psprintf("(t.class::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32 OPERATOR(pg_catalog.|)"
					" (%s OPERATOR(pg_catalog.&) 4294967295))",
					spread->types->source->staged_packed ? "s." SHARD_COLUMN "::pg_catalog.int8"
														 : "(s." PLACE_COLUMN " OPERATOR(pg_catalog.>>) 32)");
}

/*
 * In the order (class, place) within each shard: rows and shards of both tables go
 * together.  Rows are sorted before they have what their class shows, so that they are
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
	appendStringInfo(&sql, "r.shard FROM (SELECT %s AS place, ", order_of_row(spread));
	for (int i = 0; i < source->nkept; i++)
		appendStringInfo(&sql, "s.%s AS k%d, ", source->kept[i].quoted, i + 1);
	appendStringInfo(&sql,
					 "s." SHARD_COLUMN " AS shard FROM %s ORDER BY 1%s) AS r JOIN"
					 " (SELECT DISTINCT ON (class) * FROM %s) AS m ON m.class OPERATOR(pg_catalog.=)"
					 " (r.place OPERATOR(pg_catalog.>>) 32)",
					 rows, source->staged_packed ? "" : ", s." PLACE_COLUMN, classes);
	border_progress(spread->border, "writing", 0, spread->types->nrows - spread->release->dropped);
	return (int64) gate_execute(sql.data, false, SPI_OK_INSERT);
}

/*
 * The same where types are looked up: the query inserts nothing itself, since each shard is written by the function that it
 * calls.  How many rows come of it is counted when the target is verified.
 */
static int64
write_shards(const Spread *spread, const char *classes)
{
	int64 rows = spread->types->nrows - spread->release->dropped;
	StringInfoData cells;

	initStringInfo(&cells);
	for (int i = 0; i < mapped_columns(spread); i++)
		appendStringInfo(&cells, ", f.c%d", i + 1);
	border_progress(spread->border, "writing", 0, rows);
	(void) gate_execute(psprintf("INSERT INTO %s (" KANON_SHARD_COLUMN ") SELECT t." SHARD_COLUMN " FROM %s",
								 spread->target->building,
								 shard_call(spread->types->source,
											psprintf("kanon_shard_write(t.tableoid, (SELECT types FROM %s),"
													 " ARRAY(SELECT ROW(f.class%s) FROM %s))"
													 " AS g (none pg_catalog.bool)",
													 looked_up_types(spread), cells.data, classes))),
						false, SPI_OK_INSERT);
	return rows;
}

static void
prepare_mapping(Spread *spread)
{
	const RowTypes *types = spread->types;
	const KanonRelease *release = spread->release;
	LotWords words = {.schema = spread->target->schema};

	find_hashes(spread);
	words.of_row = hash_of_row(spread, "");
	words.lot = lot_of_row(spread, "");
	spread->low = border_palloc(spread->border, sizeof(int64) * Max(release->nflows, 1));
	spread->high = border_palloc(spread->border, sizeof(int64) * Max(release->nflows, 1));
	spread->splits =
		divide_types(types->source, &words, release, spread->hash, spread->low, spread->high, spread->border);
	look_at_kept(types, spread->problem, release, &words, spread->hash, spread->low, spread->border);
	if (types->source->staged_packed)
		spread->lookup = lookup_create(release, spread->hash, spread->low, spread->border);
	spread->before = spread->lookup != NULL ? before_looked_up : before_joined;
	spread->nbefore = spread->lookup != NULL ? lengthof(before_looked_up) : lengthof(before_joined);
	create_mapping(spread);
}

int64
spread_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
			 const KanonRelease *release, Border *border)
{
	Spread spread = {
		.target = target, .types = types, .problem = problem, .release = release, .border = border};
	Relation rel = target_open(target);
	char *rows, *classes;
	int64 written;

	if (!target_is_plain(rel, target, types->source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	prepare_mapping(&spread);
	fill_mapping(&spread, rel);
	classes = mapped_classes(&spread, rel);
	table_close(rel, NoLock);
	citus_distribute(target->building, KANON_SHARD_COLUMN, types->source->name);
	rows = spread.lookup != NULL ? NULL : rows_with_classes(&spread);
	written = spread.lookup != NULL ? write_shards(&spread, classes) : insert_rows(&spread, rows, classes);
	if (counts_persons(problem))
	{
		counted_persons(types, problem, release, spread.hash, rows, border);
		counted_kept(types->source, problem, rows, written, border);
	}
	else
		types->source->kept_unseen = true;
	run_utility(psprintf("DROP TABLE %s", spread.name));
	border_pfree(border, spread.hash);
	border_pfree(border, spread.low);
	border_pfree(border, spread.high);
	return written;
}
