/*
 * anatomy_target.c: groups of rows become two tables, which are read again.
 *
 * The rows come out in the order of random keys, and which of the places for its value a
 * row gets was drawn apart from that; the values come out by group, whose numbers were
 * drawn, too.  So where a row lies says nothing of which value of its group it has.
 */
#include "compat.h"
#include "anatomy/anatomy_model.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/target.h"
#include "rows/verify.h"
#include "masks/mask_apply.h"
#include "rows/cell_values.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* ---- columns ---- */

static SourceColumn
own_column(const char *name)
{
	return (SourceColumn){
		.name = pstrdup(name), .quoted = name, .type = INT8OID, .typmod = -1, .may_identify = true};
}

static void
refuse_own(const SourceColumn *column, const char *name)
{
	if (strcmp(column->name, name) == 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
						errmsg("column \"%s\" has the name of a column that kanon_anatomy writes", name),
						errhint("Publish a view in which the column has another name.")));
}

Source *
anatomy_quasi_columns(const Source *source)
{
	Source *columns = palloc0(sizeof(Source));

	*columns = *source;
	columns->nqis = columns->ngrouped = 0;
	columns->kept = palloc0(sizeof(SourceColumn) * (source->nkept + 1));
	for (int i = 0; i < source->nkept; i++)
	{
		refuse_own(&source->kept[i], KANON_GROUP_COLUMN);
		refuse_own(&source->kept[i], KANON_EXPECTED_COLUMN);
		columns->kept[i] = source->kept[i];
	}
	columns->kept[columns->nkept++] = own_column(KANON_GROUP_COLUMN);
	return columns;
}

Source *
anatomy_sensitive_columns(const Source *source)
{
	Source *columns = palloc0(sizeof(Source));

	refuse_own(&source->qis[0], KANON_GROUP_COLUMN);
	refuse_own(&source->qis[0], KANON_COUNT_COLUMN);
	refuse_own(&source->qis[0], KANON_EXPECTED_COLUMN);
	*columns = *source;
	columns->nqis = columns->ngrouped = 0;
	columns->nkept = 3;
	columns->kept = palloc0(sizeof(SourceColumn) * 3);
	columns->kept[0] = own_column(KANON_GROUP_COLUMN);
	columns->kept[1] = source->qis[0];
	columns->kept[2] = own_column(KANON_COUNT_COLUMN);
	columns->masks = NULL;
	return columns;
}

/* ---- writing ---- */

static Relation
open_plain(const Target *target, const Source *columns)
{
	Relation rel = target_open(target);

	if (!target_is_plain(rel, target, columns))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	return rel;
}

/* The quasi-identifiers, as they are or masked, with the next group of the row's value. */
static void
write_quasi(const AnatomyTargets *targets, AnatomyRows *rows, const KanonAnatomy *anatomy, int64 l,
			Border *border)
{
	const Source *source = rows->source;
	Relation rel = open_plain(targets->quasi, targets->quasi_columns);
	BulkWriter *bulk = bulk_begin(rel);
	KeptLook *look;
	Masks *masks = source->masks;
	uint32 *next = border_palloc(border, sizeof(uint32) * Max(rows->nvalues, 1));
	const Datum *values;
	const bool *nulls;
	int64 number;

	bulk_tell(bulk, border, 0, 2 * (int64) rows->nrows);
	memcpy(next, anatomy->start, sizeof(uint32) * rows->nvalues);
	masks_begin(source, (int64) rows->nrows, l, border);
	masks_read_source(source, l);
	look = kept_begin(source, masks_who(source), rows->nrows, border);
	shuffle_sort(rows->shuffled);
	while (shuffle_next(rows->shuffled, &number, &values, &nulls))
	{
		TupleTableSlot *slot = bulk_slot(bulk);
		const Datum *shown = values;
		const bool *shown_nulls = nulls;
		uint32 group = anatomy->group[next[rows->code[number]]++];

		if (masks != NULL)
		{
			masks_apply(masks, values, nulls);
			masks_count(masks, 1);
			shown = masks->values;
			shown_nulls = masks->nulls;
		}
		if (look != NULL)
			kept_note(look, shown, shown_nulls, kept_person(look, values, nulls));
		if (FAULT(mask_forgotten))
		{
			shown = values;
			shown_nulls = nulls;
		}
		if (FAULT(row_moved) && bulk_empty(bulk))
			group = (group + 1) % anatomy->ngroups;
		memcpy(slot->tts_values, shown, sizeof(Datum) * source->nkept);
		memcpy(slot->tts_isnull, shown_nulls, sizeof(bool) * source->nkept);
		slot->tts_values[source->nkept] = Int64GetDatum((int64) group + 1);
		slot->tts_isnull[source->nkept] = false;
		if (!FAULT(rows_skipped))
			bulk_put(bulk);
	}
	if (look != NULL)
		kept_end(look);
	masks_end(masks);
	border_pfree(border, next);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
}

/* Each value of each group: of one row. */
static void
write_sensitive(const AnatomyTargets *targets, const AnatomyRows *rows, const KanonAnatomy *anatomy,
				Border *border)
{
	const Dictionary *dictionary = rows->source->qis[0].dictionary;
	Relation rel = open_plain(targets->sensitive, targets->sensitive_columns);
	BulkWriter *bulk = bulk_begin(rel);
	KeptLook *look = kept_begin(targets->sensitive_columns, -1, rows->nrows, border);

	bulk_tell(bulk, border, (int64) rows->nrows, 2 * (int64) rows->nrows);
	for (uint32 nth = 0; nth < anatomy->ngroups; nth++)
	{
		uint32 g = FAULT(groups_reversed) ? anatomy->ngroups - 1 - nth : nth;

		for (uint32 i = anatomy->first[g]; i < anatomy->first[g + 1]; i++)
		{
			TupleTableSlot *slot = bulk_slot(bulk);
			uint32 code = anatomy->value[FAULT(value_fine) && i == 1 ? 0 : i];

			if (FAULT(kept_changed))
				code = (code + 1) % rows->nvalues;
			slot->tts_values[0] = Int64GetDatum((int64) g + 1);
			slot->tts_values[1] = dictionary_value(dictionary, code, &slot->tts_isnull[1]);
			slot->tts_values[2] = Int64GetDatum(1);
			slot->tts_isnull[0] = slot->tts_isnull[2] = false;
			if (look != NULL)
				kept_note(look, slot->tts_values, slot->tts_isnull, KEPT_NOBODY);
			bulk_put(bulk);
		}
	}
	if (look != NULL)
		kept_end(look);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
}

void
anatomy_write(const AnatomyTargets *targets, AnatomyRows *rows, const KanonAnatomy *anatomy, int64 l,
			  Border *border)
{
	int nest = plain_text_begin();

	write_quasi(targets, rows, anatomy, l, border);
	write_sensitive(targets, rows, anatomy, border);
	plain_text_end(nest);
}

/* ---- verification ---- */

typedef struct Check
{
	const AnatomyRows *rows;
	uint32 ngroups;
	int64 l;
	uint32 *left; /* [ngroups] rows of the group that the other table is still to have */
	int64 *found; /* [nvalues] rows with the value */

	/* the group at hand */
	uint32 group;  /* from 1; 0: none yet */
	int64 *count;  /* [nvalues] its rows with the value, */
	uint32 *stamp; /* [nvalues] if this is the group */
	int64 values;
	int64 most;
	bool ordered; /* groups were asked for one after the other */
	bool mixed;   /* they did not come so */
} Check;

static uint32
group_of(const Check *check, TupleTableSlot *slot)
{
	int64 group = slot->tts_isnull[0] ? 0 : DatumGetInt64(slot->tts_values[0]);

	if (group < 1 || group > check->ngroups)
		raise_unsafe("A row has the number of a group that there is not.");
	return (uint32) group;
}

/*
 * Is the group at hand as it must be?  Where they may come mixed it may only be a part of it.
 */
static bool
check_group(const Check *check)
{
	bool fine = check->group == 0 ||
				(check->values >= check->l && check->most * check->l <= check->left[check->group - 1]);

	if (!fine && check->ordered)
		raise_unsafe(psprintf("A group of %u rows has " INT64_FORMAT " values, and one of them " INT64_FORMAT
							  " times.",
							  check->left[check->group - 1], check->values, check->most));
	return fine;
}

/* The group, a value, its count; in the order of groups, or no more are wanted. */
static bool
check_value(void *arg, TupleTableSlot *slot)
{
	Check *check = arg;
	uint32 group = group_of(check, slot);
	uint32 code =
		dictionary_find(check->rows->source->qis[0].dictionary, slot->tts_values[1], slot->tts_isnull[1]);
	int64 count = slot->tts_isnull[2] ? 0 : DatumGetInt64(slot->tts_values[2]);

	if (code == DICTIONARY_NONE || count < 1 || count > check->rows->nrows - check->found[code])
		raise_unsafe("A sensitive value has another number of rows than in the source.");
	if (group != check->group)
	{
		if (group < check->group || !check_group(check))
		{
			check->mixed = true;
			return false;
		}
		check->group = group;
		check->values = check->most = 0;
	}
	if (check->stamp[code] != group)
	{
		check->stamp[code] = group;
		check->count[code] = 0;
		check->values++;
	}
	check->count[code] += count;
	check->found[code] += count;
	check->left[group - 1] += (uint32) count;
	check->most = Max(check->most, check->count[code]);
	return true;
}

/* The group of a row. */
static bool
check_row(void *arg, TupleTableSlot *slot)
{
	Check *check = arg;
	uint32 group = group_of(check, slot);

	if (check->left[group - 1]-- == 0)
		raise_unsafe("A group has more rows than values.");
	return true;
}

static void
start_check(Check *check)
{
	memset(check->left, 0, sizeof(uint32) * check->ngroups);
	memset(check->found, 0, sizeof(int64) * check->rows->nvalues);
	memset(check->stamp, 0, sizeof(uint32) * check->rows->nvalues);
	check->group = 0;
}

static void
read_values(const AnatomyTargets *targets, const SourceColumn *value, Border *border, Check *check)
{
	Gate *values = gate_create(targets->sensitive->building, targets->sensitive->relid, 3);

	gate_computed(values, KANON_GROUP_COLUMN, INT8OID);
	gate_columns(values, value, 1);
	gate_computed(values, KANON_COUNT_COLUMN, INT8OID);
	gate_watch(values, border, "verifying");
	gate_select(values,
				psprintf("SELECT kanon_group, %s, kanon_count FROM %s%s", value->quoted,
						 targets->sensitive->building, check->ordered ? " ORDER BY 1" : ""),
				false, check_value, check);
}

void
anatomy_verify(const AnatomyTargets *targets, const AnatomyRows *rows, uint32 ngroups, int64 l,
			   Border *border)
{
	const SourceColumn *value = &rows->source->qis[0];
	Check check = {.rows = rows, .ngroups = ngroups, .l = l};
	Gate *groups = gate_create(targets->quasi->building, targets->quasi->relid, 1);

	check.left = border_palloc(border, sizeof(uint32) * ngroups);
	check.found = border_palloc(border, sizeof(int64) * rows->nvalues);
	check.count = border_palloc(border, sizeof(int64) * rows->nvalues);
	check.stamp = border_palloc(border, sizeof(uint32) * rows->nvalues);
	start_check(&check);
	/* they were written by group, which no table access method promises to keep */
	read_values(targets, value, border, &check);
	if (check.mixed || !check_group(&check))
	{
		start_check(&check);
		check.ordered = true;
		read_values(targets, value, border, &check);
		(void) check_group(&check);
	}
	for (uint32 v = 0; v < rows->nvalues; v++)
		if (check.found[v] != rows->rows[v])
			raise_unsafe("A sensitive value has another number of rows than in the source.");
	gate_computed(groups, KANON_GROUP_COLUMN, INT8OID);
	gate_watch(groups, border, "verifying");
	gate_select(groups, psprintf("SELECT kanon_group FROM %s", targets->quasi->building), false, check_row,
				&check);
	for (uint32 g = 0; g < ngroups; g++)
		if (check.left[g] != 0)
			raise_unsafe("A group has fewer rows than values.");
	border_pfree(border, check.left);
	border_pfree(border, check.found);
	border_pfree(border, check.count);
	border_pfree(border, check.stamp);
}

/* ---- the view ---- */

/* Readers find the columns that they know, and PostgreSQL takes no others in their place. */
static void
check_view_columns(Oid relid, const char *name, const Source *source)
{
	int n = source->nkept + 2;
	bool same = get_attname(relid, n + 1, true) == NULL;

	for (int i = 0; i < n && same; i++)
	{
		const char *expected = i < source->nkept    ? source->kept[i].name
							   : i == source->nkept ? source->qis[0].name
													: KANON_EXPECTED_COLUMN;
		const char *name_there = get_attname(relid, i + 1, true);

		same = name_there != NULL && strcmp(name_there, expected) == 0;
	}
	if (!same)
		ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
						errmsg("view \"%s\" has other columns than what is published", name),
						errhint("Drop it or choose another name.")));
}

AnatomyView *
anatomy_view_resolve(const char *name, const Source *source, bool replace)
{
	AnatomyView *view = palloc0(sizeof(AnatomyView));
	Oid namespace;
	char *relation = relation_to_create(name, "view", &namespace);

	view->qualified = quote_qualified_identifier(name_schema(namespace), relation);
	lock_name(namespace, relation);
	view->existing = get_relname_relid(relation, namespace);
	if (!OidIsValid(view->existing))
		return view;
	if (relation_reads(source->relid, view->existing))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE), errmsg("view \"%s\" is what the source reads", relation),
				 errhint("Choose another name; the source itself is never changed.")));
	if (!replace)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation %s already exists", view->qualified),
				 errhint("Choose another view, drop it, or say replace => true.")));
	if (get_rel_relkind(view->existing) != RELKIND_VIEW)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a view", relation),
						errhint("Drop it or choose another name.")));
	if (!kanon_owns_relation(view->existing, GetUserId()))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of view %s", relation),
						errhint("Only its owner can replace a view; choose another name.")));
	check_view_columns(view->existing, relation, source);
	return view;
}

/* As REPLACE leaves grants and comments alone, and takes only the columns that were there. */
void
anatomy_view_make(const AnatomyTargets *targets, const Source *source)
{
	const char *value = source->qis[0].quoted;
	StringInfoData columns;

	if (targets->view == NULL)
		return;
	initStringInfo(&columns);
	for (int i = 0; i < source->nkept; i++)
		appendStringInfo(&columns, "q.%s, ", source->kept[i].quoted);
	run_utility(psprintf(
		"CREATE %sVIEW %s AS SELECT %ss.%s, s.kanon_expected FROM %s q JOIN (SELECT kanon_group, %s,"
		" kanon_count::pg_catalog.float8 OPERATOR(pg_catalog./)"
		" pg_catalog.sum(kanon_count::pg_catalog.float8) OVER (PARTITION BY kanon_group) AS kanon_expected"
		" FROM %s) s ON q.kanon_group OPERATOR(pg_catalog.=) s.kanon_group",
		OidIsValid(targets->view->existing) ? "OR REPLACE " : "", targets->view->qualified, columns.data,
		value, targets->quasi->building, value, targets->sensitive->building));
}

/*
 * ---- Rows read once: how many there are with each sensitive value, and their
 * quasi-identifiers set aside until their groups are known.
 */

/* Rows between two looks at the dictionary's memory. */
#define CHARGE_ROWS 4096

Source *
anatomy_open(Oid relid, ArrayType *qis, const char *sensitive)
{
	ArrayType *also = name_list(&sensitive, 1);
	Source *source = source_open_with(relid, qis, "quasi_identifiers", also);
	SourceColumn *column = source_columns(source, also, "sensitive", "a sensitive column", &source->ngrouped);

	source->kept = source->qis;
	source->nkept = source->nqis;
	source->qis = column;
	source->nqis = source->ngrouped;
	source->levels = no_levels(source->nqis);
	return source;
}

typedef struct Reader
{
	AnatomyRows *into;
	Border *border;
	MemoryContext row; /* what a row leaves behind */
	Size room;         /* of into->rows */
	Size charged;      /* bytes of the dictionary */
} Reader;

static void
charge_dictionary(Reader *reader)
{
	Size now = dictionary_memory(reader->into->source->qis[0].dictionary);

	border_charge(reader->border, reader->charged, now);
	reader->charged = now;
}

/* The sensitive value, then the quasi-identifiers. */
static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	AnatomyRows *into = reader->into;
	MemoryContext old = MemoryContextSwitchTo(reader->row);
	uint32 code = dictionary_add(into->source->qis[0].dictionary, slot->tts_values[0], slot->tts_isnull[0]);

	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	if (into->nrows == PG_UINT32_MAX - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("the source has more than %u rows", PG_UINT32_MAX - 1),
						errhint("Publish it in parts.")));
	into->nrows++;
	if (code == into->nvalues)
	{
		into->rows = border_grow(reader->border, into->rows, &reader->room, code + 1, sizeof(int64));
		into->rows[into->nvalues++] = 0;
	}
	into->rows[code]++;
	if (into->shuffled != NULL)
		shuffle_put(into->shuffled, code, slot->tts_values + 1, slot->tts_isnull + 1);
	if (into->nrows % CHARGE_ROWS == 0)
		charge_dictionary(reader);
	return true;
}

/* From now on codes ascend in the type's order. */
static void
sort_codes(AnatomyRows *into, Border *border)
{
	int64 *rows = border_palloc(border, sizeof(int64) * Max(into->nvalues, 1));

	into->code = dictionary_sort(into->source->qis[0].dictionary);
	for (uint32 v = 0; v < into->nvalues; v++)
		rows[into->code[v]] = into->rows[v];
	if (into->rows != NULL)
		border_pfree(border, into->rows);
	into->rows = rows;
}

AnatomyRows *
anatomy_read(Source *source, bool shuffled, Border *border)
{
	AnatomyRows *into = palloc0(sizeof(AnatomyRows));
	Reader reader = {.into = into, .border = border};
	Gate *gate = gate_create(source->name, source->relid, 1 + source->nkept);

	into->source = source;
	source->qis[0].dictionary = dictionary_create(border->context, &source->qis[0]);
	reader.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	gate_columns(gate, source->qis, 1);
	gate_columns(gate, source->kept, source->nkept);
	gate_watch(gate, border, "reading");
	if (shuffled)
		into->shuffled = shuffle_begin(gate->desc, 1);
	gate_select(gate,
				psprintf("SELECT %s, %s FROM %s", source->qis[0].quoted,
						 column_list(source->kept, source->nkept), source->name),
				true, receive_row, &reader);
	MemoryContextDelete(reader.row);
	sort_codes(into, border);
	charge_dictionary(&reader);
	return into;
}
