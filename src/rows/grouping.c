/*
 * grouping.c: the query that makes groups of a source's rows.
 *
 * One GROUP BY, as a rule.  In a partitioned table with foreign partitions each
 * partition is grouped by itself and the groups once more together: a foreign
 * data wrapper hands a whole grouping over to its server, but no part of one, and
 * would bring every row here.
 */
#include "compat.h"
#include "rows/row_types.h"
#include "host/catalog.h"
#include "distributed/citus.h"
#include "rows/dictionary.h"
#include "distributed/distributed.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "optimizer/cost.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* ---- spellings ---- */

/*
 * Send functions of text-like types convert to the client's encoding although they are marked
 * immutable: their output cannot be used to compare values.
 */
static bool
is_for_client(Oid send)
{
	return send == F_JSON_SEND || send == F_JSONB_SEND || send == F_JSONPATH_SEND || send == F_TSVECTORSEND ||
		   send == F_TSQUERYSEND;
}

char *
binary_form(Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid function = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		function = ((Form_pg_type) GETSTRUCT(tuple))->typsend;
		ReleaseSysCache(tuple);
	}
	if (!OidIsValid(function) || function >= FirstGenbkiObjectId || is_for_client(function) ||
		func_volatile(function) != PROVOLATILE_IMMUTABLE)
		return NULL;
	return get_func_name(function);
}

/*
 * The text that tells the spellings of equal values apart: the binary form, which
 * servers that have the rows can compute too, or the text. concat takes the type's own
 * output function, whatever functions have its name.
 */
static char *
spelling(const SourceColumn *column)
{
	char *function = binary_form(column->type);

	if (function != NULL)
		return psprintf("pg_catalog.%s(%s)", quote_identifier(function), column->quoted);
	return psprintf("pg_catalog.concat(%s) COLLATE pg_catalog.\"C\"", column->quoted);
}

static void
add_spelling(Gate *gate, const SourceColumn *column)
{
	SourceColumn text = {.name = "spelling", .type = TEXTOID, .typmod = -1, .collation = C_COLLATION_OID};

	if (binary_form(column->type) != NULL)
		gate_computed(gate, text.name, BYTEAOID);
	else
		gate_columns(gate, &text, 1);
}

Gate *
grouping_gate(const Source *source)
{
	int nspellings = 0;
	Gate *gate;

	for (int c = 0; c < source->ngrouped; c++)
		nspellings += dictionary_has_spellings(source->qis[c].dictionary);
	gate = gate_create(source->name, source->relid,
					   source->ngrouped + nspellings + (source->sample != NULL ? 1 : 0) + 1);
	gate_columns(gate, source->qis, source->ngrouped);
	for (int c = 0; c < source->ngrouped; c++)
		if (dictionary_has_spellings(source->qis[c].dictionary))
			add_spelling(gate, &source->qis[c]);
	if (source->sample != NULL)
		gate_computed(gate, SHARD_SAMPLED, BYTEAOID);
	gate_computed(gate, "count", INT8OID);
	return gate;
}

/* ---- partitions that are read one by one ---- */

/* Would reading the relation itself show the caller what reading it as a part shows? */
static bool
is_open_to_caller(Oid relid, const Source *source)
{
	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		return false;
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	for (int c = 0; c < source->ngrouped; c++)
		if (pg_attribute_aclcheck(relid, get_attnum(relid, source->qis[c].name), GetUserId(), ACL_SELECT) !=
			ACLCHECK_OK)
			return false;
	return true;
}

/* The partitions that have the rows, when some are foreign and all can be read by themselves; else NIL. */
static List *
separate_partitions(const Source *source)
{
	List *partitions = NIL;
	bool foreign = false;
	ListCell *lc;

	if (get_rel_relkind(source->relid) != RELKIND_PARTITIONED_TABLE)
		return NIL;
	foreach (lc, find_all_inheritors(source->relid, AccessShareLock, NULL))
	{
		char kind = get_rel_relkind(lfirst_oid(lc));

		if (!is_open_to_caller(lfirst_oid(lc), source))
			return NIL;
		foreign = foreign || kind == RELKIND_FOREIGN_TABLE;
		if (kind != RELKIND_PARTITIONED_TABLE)
			partitions = lappend_oid(partitions, lfirst_oid(lc));
	}
	return foreign ? partitions : NIL;
}

bool
source_is_stored(const Source *source)
{
	AttrNumber none = InvalidAttrNumber;
	Oid relid = relation_behind(source->relid, &none);
	char kind = get_rel_relkind(relid);
	ListCell *lc;

	if (citus_reads(source->relid))
		return false;
	if (kind == RELKIND_MATVIEW)
		return true;
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		return false;
	foreach (lc, find_all_inheritors(relid, AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			return false;
	return true;
}

/* Workers that group faster than one process does that compares rows by their bytes. */
#define WORKERS_THAT_WIN 3

bool
source_is_here(const Source *source)
{
	return max_parallel_workers_per_gather < WORKERS_THAT_WIN && source_is_stored(source);
}

/* ---- the query ---- */

/* "GROUP BY 1, 2, 3": all but the count, which is the last. */
static void
append_grouping(StringInfo query, int ncolumns)
{
	appendStringInfoString(query, " GROUP BY 1");
	for (int i = 2; i < ncolumns; i++)
		appendStringInfo(query, ", %d", i);
}

/*
 * Planners do not know how many groups a run has just written on workers, and guess ten times too
 * many, so that those of larger shards would sort their rows, by every column, which takes three times as long.  A column
 * (of nothing) that has no order leaves them no choice: groups that memory does not hold are spilled.
 */
static bool
is_hashed_alone(const Source *source)
{
	if (!source->scattered && !OidIsValid(source->staged_from))
		return false;
	for (int c = 0; c < source->ngrouped; c++)
		if (!OidIsValid(lookup_type_cache(source->qis[c].type, TYPECACHE_HASH_PROC)->hash_proc))
			return false;
	return true;
}

/*
 * Where equal values can be spelled differently, groups are split by spelling,
 * so that every spelling reaches the dictionary and the one it publishes does
 * not depend on the order of rows; equal groups are merged again afterwards.
 */
static void
append_groups(StringInfo query, const Source *source, const char *relation, int ncolumns)
{
	appendStringInfo(query, "SELECT %s, ", column_list(source->qis, source->ngrouped));
	for (int c = 0; c < source->ngrouped; c++)
		if (dictionary_has_spellings(source->qis[c].dictionary))
			appendStringInfo(query, "%s, ", spelling(&source->qis[c]));
	if (source->sample != NULL)
		appendStringInfoString(query, SHARD_SAMPLED ", ");
	if (shard_counts(source))
		appendStringInfo(query, "pg_catalog.sum(" SHARD_COUNT ")::pg_catalog.int8 FROM %s",
						 shard_rows(source));
	else
		appendStringInfo(query, "pg_catalog.count(*) FROM %s", relation);
	append_grouping(query, ncolumns);
	if (is_hashed_alone(source))
		appendStringInfoString(query, ", NULL::pg_catalog.xid");
}

char *
grouping_query(const Source *source, Gate *gate)
{
	List *partitions = separate_partitions(source);
	int ncolumns = gate->desc->natts;
	StringInfoData query, columns;
	ListCell *lc;

	initStringInfo(&query);
	if (partitions == NIL)
	{
		append_groups(&query, source, source->name, ncolumns);
		return query.data;
	}
	initStringInfo(&columns);
	for (int i = 1; i < ncolumns; i++)
		appendStringInfo(&columns, "c%d, ", i);
	appendStringInfo(&query, "SELECT %spg_catalog.sum(n)::pg_catalog.int8 FROM (", columns.data);
	foreach (lc, partitions)
	{
		if (lc != list_head(partitions))
			appendStringInfoString(&query, " UNION ALL ");
		append_groups(&query, source, gate_also(gate, lfirst_oid(lc)), ncolumns);
	}
	appendStringInfo(&query, ") AS g (%sn)", columns.data);
	append_grouping(&query, ncolumns);
	return query.data;
}

CountedRows
grouping_counted(const Source *source, Gate *gate)
{
	List *partitions = separate_partitions(source);
	CountedRows counted = {column_list(source->qis, source->nqis), source->name, "pg_catalog.count(*)",
						   blank_condition(source->qis, source->nqis)};
	StringInfoData from, columns, blank;
	ListCell *lc;

	if (partitions == NIL)
		return counted;
	initStringInfo(&columns);
	initStringInfo(&from);
	initStringInfo(&blank);
	for (int c = 0; c < source->nqis; c++)
	{
		appendStringInfo(&columns, "%sc%d", c > 0 ? ", " : "", c + 1);
		appendStringInfo(&blank, "%sc%d IS NOT DISTINCT FROM NULL", c > 0 ? " AND " : "", c + 1);
	}
	foreach (lc, partitions)
		appendStringInfo(&from, "%sSELECT %s, pg_catalog.count(*) FROM %s GROUP BY %s",
						 lc == list_head(partitions) ? "(" : " UNION ALL ", counted.columns,
						 gate_also(gate, lfirst_oid(lc)), counted.columns);
	appendStringInfo(&from, ") AS parts (%s, n)", columns.data);
	counted.columns = columns.data;
	counted.from = from.data;
	counted.blank = blank.data;
	counted.count = "pg_catalog.sum(n)::pg_catalog.int8";
	return counted;
}

int64
grouping_count(const Source *source, const TupleTableSlot *slot, int last, int64 before)
{
	return gate_rows(source->name, slot, last, before);
}

bool
grouping_sampled(const Source *source, const TupleTableSlot *slot, int last)
{
	const ShardSample *sample = source->sample;

	if (sample == NULL || slot->tts_isnull[last - 1])
		return false;
	sample->receive(sample->arg, DatumGetByteaPP(slot->tts_values[last - 1]),
					grouping_count(source, slot, last, 0));
	return true;
}
