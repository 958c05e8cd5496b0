/*
 * successive.c: runs of a publication with a key.
 *
 * The rows are first written to a table beside the target, with the key, their row type and their class.
 * There kanon notes the persons of each class and counts the histories of a protected publication
 * (successive.h).  Only then the target is written, verified and recorded, without the key.
 */
#include "compat.h"
#include "options/together.h"
#include "core/util/fault.h"
#include "series/successive.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/border.h"
#include "rows/target.h"
#include "masks/mask_apply.h"
#include "distributed/distributed.h"
#include "rows/verify.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

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

char *
class_columns(const Run *run)
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
	text = psprintf("OPERATOR(%s.%s)", quote_identifier(name_schema(form->oprnamespace)),
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

void
raise_null_keys(const char *key)
{
	ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the key column \"%s\" has NULLs", key),
					errhint("Publish a view that leaves out rows in which the key is NULL.")));
}

/* ---- whom k counts ---- */

/*
 * Does an index say that no two rows have one key?  (An old snapshot can see rows from before the index, so that this is
 * for rehearsals alone.)
 */
static bool
is_unique(Oid relid, const char *key)
{
	AttrNumber attnum = get_attnum(relid, key);
	const TypeCacheEntry *entry = lookup_type_cache(get_atttype(relid, attnum), TYPECACHE_EQ_OPR);
	Relation rel = relation_open(relation_behind(relid, &attnum), AccessShareLock);
	bool unique = false;
	ListCell *lc;

	foreach (lc, rel->rd_rel->relkind == RELKIND_RELATION && !has_subclass(RelationGetRelid(rel))
					 ? RelationGetIndexList(rel)
					 : NIL)
	{
		Relation index = index_open(lfirst_oid(lc), AccessShareLock);
		const FormData_pg_index *form = index->rd_index;

		unique =
			unique || (form->indisunique && form->indisvalid && form->indimmediate &&
					   form->indnkeyatts == 1 && form->indkey.values[0] == attnum &&
					   heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) &&
					   index->rd_indcollation[0] == TupleDescAttr(rel->rd_att, attnum - 1)->attcollation &&
					   op_in_opfamily(entry->eq_opr, index->rd_opfamily[0]));
		index_close(index, AccessShareLock);
	}
	relation_close(rel, NoLock);
	return unique;
}

static bool
has_several_rows(const Source *source, const char *key)
{
	Gate *gate = gate_create(source->name, source->relid, 1);
	const char *column = quote_identifier(key);
	bool isnull;

	(void) key_equality(source->relid, key);
	gate_computed(gate, "several", BOOLOID);
	gate_query(gate,
			   psprintf("SELECT EXISTS (SELECT 1 FROM %s WHERE %s IS NOT NULL GROUP BY %s"
						" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1) AS several",
						source->name, column, column),
			   true);
	return DatumGetBool(gate_value(0, 1, BOOLOID, &isnull));
}

/* Did the release before count persons?  Then the key is among what told its row types apart. */
static bool
counted_before(const Source *source, const Request *request)
{
	if (!OidIsValid(request->series.previous))
		return false;
	for (int c = 0; c < source->ngrouped; c++)
		if (strcmp(source->qis[c].name, request->series.key) == 0)
			return false;
	return get_attnum(request->series.previous, request->series.key) != InvalidAttrNumber;
}

/* Some have several rows: what that asks of the request. */
static void
check_several_rows(const Request *request, const char *key)
{
	if (privacy_find(request->privacy, PRIVACY_DELTA_PRESENCE) >= 0 ||
		privacy_find(request->privacy, PRIVACY_PRESENCE) >= 0)
		together_refuse(TOGETHER_PRESENCE_KEY, key, NULL);
	if (request->series.values != NULL)
		together_refuse(TOGETHER_VALUES_SEVERAL, key, NULL);
	ereport(NOTICE,
			(errmsg("k counts persons by the key \"%s\", of whom some have several rows", key),
			 errdetail("Rules that count values count persons, too. Counted in rows, one person could fill a "
					   "class alone."),
			 errhint("{\"count_rows\": true} in options counts rows.")));
}

void
successive_count_persons(Run *run)
{
	Request *request = run->request;
	MemoryContext old;
	const char *key = request->series.person != NULL ? request->series.person : request->series.key;
	bool counted, several;

	/* of a population k counts what the rule says; others that stand beside it count persons */
	if (key == NULL || request->count_rows || (privacy_k_map(request->privacy) && request->privacy->n == 1) ||
		privacy_find(request->privacy, PRIVACY_SUBJECT) >= 0)
		return;
	/* (also on nights on which each has one row: else row types were told apart by other columns than before) */
	counted = counted_before(run->source, request);
	several = !(request->series.rehearsed && is_unique(run->source->relid, key)) &&
			  has_several_rows(run->source, key);
	if (!counted && !several)
		return;
	if (several)
		check_several_rows(request, key);
	/* the request outlives the run's queries, and what the model keeps of it, too */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(run));
	request->privacy = privacy_of_persons(request->privacy, run->source, key);
	request_check(request);
	MemoryContextSwitchTo(old);
}

/* ---- the way of the rows ---- */

/* The source with its key among the kept columns, whose last it is: a row's number is before it. */
static Source *
with_key(const Run *run)
{
	Source *copy = palloc(sizeof(Source));

	*copy = *run->source;
	copy->nkept += successive_columns(run->request);
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
	staged->beside = successive_columns(run->request);
	types.source = with_key(run);
	target_create(staged, types.source);
	if (run->request->series.types != NULL)
		stable_begin(run);
	written = target_write(staged, &types, &run->problem, &run->release, run->border);
	if (written != run->types->nrows - run->release.dropped)
		elog(ERROR, "wrote " INT64_FORMAT " rows", written);
	if (run->request->series.types != NULL)
		stable_end(run);
	CommandCounterIncrement();
	run->staged = staged;
}

static void
refuse_freeform(const Run *run)
{
	if (run->problem.freeform != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model \"%s\" makes no classes that persons could be in", run->request->model->name),
				 errhint("Leave out the key, or take another model.")));
}

bool
successive_is_staged(const Run *run)
{
	return run->request->series.key != NULL &&
		   (run->request->series.histories != NULL || run->request->series.persons == NULL ||
			run->target->kind != TABLE_LOCAL);
}

static int64
write_direct(Run *run)
{
	Target target = *run->target;
	RowTypes types = *run->types;
	PersonsTable *persons = persons_table_begin(run);
	int64 written;

	types.source = with_key(run);
	target.taker = persons_table_put;
	target.taker_arg = persons;
	target.beside = 1;
	written = target_write(&target, &types, &run->problem, &run->release, run->border);
	persons_table_end(persons);
	return written;
}

/* Puts the rows of the release with their key beside the target. */
static void
successive_stage(Run *run)
{
	refuse_freeform(run);
	stage(run);
	(void) key_equality(run->staged->relid, run->request->series.key); /* before anybody asks who is who */
	if (gate_execute(psprintf("SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", run->staged->building,
							  quote_identifier(run->request->series.key)),
					 false, SPI_OK_SELECT) > 0)
		raise_null_keys(run->request->series.key);
}

/* The key is one, and in each row. */
static void
check_key(const Source *source, const char *key)
{
	Gate *gate;
	bool isnull;

	(void) key_equality(source->relid, key);
	gate = gate_create(source->name, source->relid, 1);
	gate_computed(gate, "missing", BOOLOID);
	gate_query(gate,
			   psprintf("SELECT EXISTS (SELECT 1 FROM %s WHERE %s IS NULL) AS missing", source->name,
						quote_identifier(key)),
			   true);
	if (DatumGetBool(gate_value(0, 1, BOOLOID, &isnull)))
		raise_null_keys(key);
}

void
successive_rehearse(const Run *run)
{
	const char *key = run->request->series.key;
	RowTypes types = *run->types;

	if (key != NULL)
	{
		types.source = with_key(run);
		check_key(run->source, key);
	}
	if (run->types->waiting != NULL)
		target_rehearse(&types, &run->problem, &run->release, key != NULL, run->border);
}

bool
successive_protect(Run *run)
{
	bool settled;
	int nest;

	if (run->staged == NULL)
		successive_stage(run);
	border_progress(run->border, "comparing with releases before", 0, -1);
	nest = plain_text_begin();
	settled = histories_settle(run);
	plain_text_end(nest);
	if (settled)
		return true;
	run_utility(psprintf("DROP TABLE %s", run->staged->building));
	run_utility(psprintf("DROP TABLE %s", run->target->building));
	if (run->request->series.types != NULL)
		run_utility(psprintf("DROP TABLE %s", run->request->series.types));
	return false;
}

void
successive_settle(Run *run)
{
	if (!successive_is_staged(run))
	{
		refuse_freeform(run);
		return;
	}
	if (run->staged == NULL)
		successive_stage(run);
	border_progress(run->border, "taking out the key", 0, -1);
	if (run->request->series.histories != NULL)
		histories_keep(run);
}

/* Staged rows on their way: the columns of the target, the key and the class. */
typedef struct Unstage
{
	BulkWriter *bulk;
	PersonsTable *persons; /* NULL: nobody asks */
} Unstage;

static bool
unstage_row(void *arg, TupleTableSlot *slot)
{
	Unstage *unstage = arg;
	TupleTableSlot *row = bulk_slot(unstage->bulk);
	int n = slot->tts_tupleDescriptor->natts - 2;

	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * n);
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * n);
	if (unstage->persons != NULL)
		persons_table_put(unstage->persons, (uint32) DatumGetInt32(slot->tts_values[n + 1]), row,
						  slot->tts_values[n], slot->tts_isnull[n]);
	bulk_put(unstage->bulk);
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
	Unstage unstage = {0};
	Gate *gate;
	int64 written;

	if (!successive_is_staged(run))
		return write_direct(run);
	spread_not(run->target, source, "Persons of releases before are looked after here.");
	if (FAULT(staged_limited))
		run_utility(psprintf("ALTER TABLE %s ADD CHECK (true)", run->target->building));
	/* (it opens the target uncounted, and the target's rows are counted) */
	if (run->request->series.persons != NULL)
		unstage.persons = persons_table_begin(run);
	rel = target_open(run->target);
	gate = gate_create(run->staged->building, run->staged->relid, RelationGetNumberOfAttributes(rel) + 2);
	if (!target_is_plain(rel, run->target, source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	gate_table(gate, RelationGetDescr(rel));
	gate_columns(gate, &source->kept[source->nkept + successive_columns(run->request) - 1], 1);
	gate_computed(gate, KANON_CLASS_COLUMN, INT4OID);
	unstage.bulk = bulk_begin(rel);
	gate_select(gate,
				psprintf("SELECT %s, %s, " KANON_CLASS_COLUMN " FROM %s", columns,
						 quote_identifier(run->request->series.key), run->staged->building),
				false, unstage_row, &unstage);
	written = bulk_end(unstage.bulk);
	table_close(rel, NoLock);
	if (unstage.persons != NULL)
		persons_table_end(unstage.persons);
	run_utility(psprintf("DROP TABLE %s", run->staged->building));
	return written;
}
