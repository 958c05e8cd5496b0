/*
 * item_target.c: transactions are written as what their items became, and the target is
 * read again and counted.
 *
 * Rows come in the order of the random keys that they got when they were read; the
 * items of a transaction in the order of the type that they are shown in, whatever
 * they were in the source.
 */
#include "compat.h"
#include "itemsets/item_model.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "rows/dictionary.h"
#include "rows/target.h"
#include "rows/verify.h"
#include "masks/mask_apply.h"

#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/varlena.h"

/* Transactions between two looks at the clock. */
#define PROGRESS_TRANSACTIONS 65536

static SourceColumn
plain_column(const SourceColumn *like, Oid type, Oid collation)
{
	SourceColumn column = {
		.name = like->name, .quoted = like->quoted, .type = type, .typmod = -1, .collation = collation};

	return column;
}

/* The type that shows the items: as they were, or as text. */
static SourceColumn
items_column(const ItemSource *from, bool labels)
{
	const SourceColumn *items = &from->source->qis[0];
	Oid base = getBaseType(items->type);

	if (labels)
		return plain_column(items, from->by_row ? TEXTOID : TEXTARRAYOID, DEFAULT_COLLATION_OID);
	return plain_column(items, base, items->collation);
}

Source *
sets_target_columns(const ItemSource *from, bool labels)
{
	Source *columns = palloc0(sizeof(Source));
	int n = 0;

	*columns = *from->source;
	columns->nqis = columns->ngrouped = 0;
	columns->kept = palloc0(sizeof(SourceColumn) * (from->source->nkept + 2));
	if (from->by_row)
		columns->kept[n++] = plain_column(&from->source->qis[1], INT8OID, InvalidOid);
	columns->kept[n++] = items_column(from, labels);
	for (int i = 0; i < from->source->nkept; i++)
		columns->kept[n++] = from->source->kept[i];
	columns->nkept = n;
	return columns;
}

typedef struct SetsWriter
{
	const Transactions *transactions;
	const ItemForest *forest;
	const KanonRecoding *recoding;
	BulkWriter *bulk;
	SetsWritten written;
	uint32 *node_at; /* [nnodes] in the order of their texts; NULL: nodes are in order */
	uint32 *place;   /* [nnodes] where a node is there */
	uint32 *nodes;   /* what the transaction at hand shows */
	Datum *values;   /* the same as they are written */
	Oid type;        /* of values */
	int16 typlen;
	bool typbyval;
	char typalign;
	MemoryContext row;
	KeptLook *look;    /* NULL: kept columns may identify */
	const Datum *kept; /* of the transaction at hand, masked */
	const bool *kept_nulls;
} SetsWriter;

/* The items that a transaction shows, ascending; their number. */
static int
shown_nodes(SetsWriter *writer, uint32 transaction)
{
	const KanonSets *sets = &writer->transactions->sets;
	int n = 0;

	for (size_t i = sets->start[transaction]; i < sets->start[transaction + 1]; i++)
	{
		uint32 node = writer->recoding->shown[sets->item[i]];

		if (FAULT(item_fine))
			node = sets->item[i];
		if (node != KANON_NOTHING)
			writer->nodes[n++] = writer->place != NULL ? writer->place[node] : node;
	}
	n = (int) unique_codes(writer->nodes, n);
	for (int i = 0; i < n && writer->node_at != NULL; i++)
		writer->nodes[i] = writer->node_at[writer->nodes[i]];
	return n;
}

static int
compare_texts(const void *a, const void *b, void *label)
{
	const char *left = ((char **) label)[*(const uint32 *) a];
	const char *right = ((char **) label)[*(const uint32 *) b];

	CHECK_FOR_INTERRUPTS();
	return varstr_cmp(left, (int) strlen(left), right, (int) strlen(right), DEFAULT_COLLATION_OID);
}

/* Items and labels are nodes in the order that their hierarchy asks for, so their
 * texts want an order of their own. */
static void
order_by_text(SetsWriter *writer, Border *border)
{
	const ItemForest *forest = writer->forest;

	if (forest->label == NULL)
		return;
	writer->node_at = border_palloc(border, sizeof(uint32) * Max(forest->nnodes, 1));
	writer->place = border_palloc(border, sizeof(uint32) * Max(forest->nnodes, 1));
	for (uint32 v = 0; v < forest->nnodes; v++)
		writer->node_at[v] = v;
	qsort_arg(writer->node_at, forest->nnodes, sizeof(uint32), compare_texts, forest->label);
	for (uint32 i = 0; i < forest->nnodes; i++)
		writer->place[writer->node_at[i]] = i;
}

static Datum
node_value(const SetsWriter *writer, uint32 node)
{
	bool isnull;

	if (writer->forest->label != NULL)
		return CStringGetTextDatum(writer->forest->label[node]);
	return dictionary_value(writer->transactions->from->element.dictionary, node, &isnull);
}

/* One row: what is written of the items, then kept columns. */
static void
put_row(SetsWriter *writer, Datum value, bool isnull)
{
	const ItemSource *from = writer->transactions->from;
	TupleTableSlot *slot = bulk_slot(writer->bulk);
	int n = 0;

	if (from->by_row)
	{
		slot->tts_values[n] = Int64GetDatum(writer->written.transactions + 1);
		slot->tts_isnull[n++] = false;
	}
	slot->tts_values[n] = value;
	slot->tts_isnull[n++] = isnull;
	memcpy(slot->tts_values + n, writer->kept, sizeof(Datum) * from->source->nkept);
	memcpy(slot->tts_isnull + n, writer->kept_nulls, sizeof(bool) * from->source->nkept);
	if (FAULT(rows_skipped))
		return;
	bulk_put(writer->bulk);
	writer->written.rows++;
}

/* With the kept columns as the source has them. */
static void
put_transaction(SetsWriter *writer, uint32 transaction, const Datum *kept, const bool *kept_nulls)
{
	MemoryContext old = MemoryContextSwitchTo(writer->row);
	int n = shown_nodes(writer, transaction);
	Masks *masks = writer->transactions->from->source->masks;

	writer->kept = kept;
	writer->kept_nulls = kept_nulls;
	if (masks != NULL)
	{
		masks_apply(masks, kept, kept_nulls);
		masks_count(masks, writer->transactions->from->by_row && n > 0 ? n : 1);
		writer->kept = masks->values;
		writer->kept_nulls = masks->nulls;
	}
	if (writer->look != NULL)
		kept_note(writer->look, writer->kept, writer->kept_nulls,
				  kept_person(writer->look, kept, kept_nulls));
	if (FAULT(mask_forgotten))
	{
		writer->kept = kept;
		writer->kept_nulls = kept_nulls;
	}
	for (int i = 0; i < n; i++)
		writer->values[i] = node_value(writer, FAULT(item_changed) && writer->nodes[i] == 0
												   ? writer->transactions->sets.nitems - 1
												   : writer->nodes[i]);
	if (!writer->transactions->from->by_row)
		put_row(writer,
				PointerGetDatum(construct_array(writer->values, n, writer->type, writer->typlen,
												writer->typbyval, writer->typalign)),
				false);
	for (int i = 0; i < n && writer->transactions->from->by_row; i++)
		put_row(writer, writer->values[i], false);
	/* a transaction without items is one all the same */
	if (n == 0 && writer->transactions->from->by_row)
		put_row(writer, (Datum) 0, true);
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->row);
	writer->written.transactions++;
	writer->written.occurrences += n;
}

static uint32
longest(const KanonSets *sets)
{
	size_t most = 0;

	for (uint32 t = 0; t < sets->ntransactions; t++)
		most = Max(most, sets->start[t + 1] - sets->start[t]);
	return (uint32) most;
}

SetsWritten
sets_write(const Target *target, const Source *columns, Transactions *transactions, const ItemForest *forest,
		   const KanonRecoding *recoding, int64 k, Border *border)
{
	SetsWriter writer = {.transactions = transactions, .forest = forest, .recoding = recoding};
	uint32 most = longest(&transactions->sets);
	Relation rel = target_open(target);
	const Datum *kept;
	const bool *kept_nulls;
	int64 transaction;
	int nest;

	if (!target_is_plain(rel, target, columns))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	writer.nodes = border_palloc(border, sizeof(uint32) * most);
	writer.values = border_palloc(border, sizeof(Datum) * most);
	order_by_text(&writer, border);
	writer.type = forest->label != NULL ? TEXTOID : transactions->from->element.type;
	get_typlenbyvalalign(writer.type, &writer.typlen, &writer.typbyval, &writer.typalign);
	writer.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	writer.bulk = bulk_begin(rel);
	masks_begin(transactions->from->source, 0, k, border);
	masks_read_source(transactions->from->source, k);
	writer.look = kept_begin(transactions->from->source, masks_who(transactions->from->source), 0, border);
	shuffle_sort(transactions->shuffled);
	nest = plain_text_begin();
	while (shuffle_next(transactions->shuffled, &transaction, &kept, &kept_nulls))
	{
		put_transaction(&writer, (uint32) transaction, kept, kept_nulls);
		if (writer.written.transactions % PROGRESS_TRANSACTIONS == 0)
			border_progress(border, "writing",
							(double) writer.written.transactions / transactions->sets.ntransactions,
							transactions->sets.ntransactions - writer.written.transactions);
	}
	plain_text_end(nest);
	if (writer.look != NULL)
		kept_end(writer.look);
	masks_end(transactions->from->source->masks);
	(void) bulk_end(writer.bulk);
	MemoryContextDelete(writer.row);
	border_pfree(border, writer.nodes);
	border_pfree(border, writer.values);
	if (forest->label != NULL)
	{
		border_pfree(border, writer.node_at);
		border_pfree(border, writer.place);
	}
	table_close(rel, NoLock);
	return writer.written;
}

/* ---- verification ---- */

/* Which of the target's items are private ones of the source. */
static bool *
private_items(const Transactions *written, const Transactions *transactions, const ItemForest *forest,
			  const KanonRecoding *recoding, const bool *sensitive, Border *border)
{
	bool *result = border_palloc(border, sizeof(bool) * Max(written->sets.nitems, 1));
	SetsWriter shower = {.transactions = transactions, .forest = forest};

	memset(result, 0, sizeof(bool) * written->sets.nitems);
	for (uint32 i = 0; i < transactions->sets.nitems; i++)
	{
		uint32 code;

		if (!sensitive[i])
			continue;
		code = dictionary_find(written->from->element.dictionary, node_value(&shower, i), false);
		/* one that is suppressed and there all the same would be counted as public */
		if ((code == DICTIONARY_NONE) != (recoding->shown[i] == KANON_NOTHING))
			raise_unsafe(code == DICTIONARY_NONE ? "A private item that is not suppressed is missing."
												 : "A private item that was suppressed is there.");
		if (code != DICTIONARY_NONE)
			result[code] = true;
	}
	return result;
}

static void
check_supports(const Transactions *written, const bool *sensitive, const KanonTransactions *promise,
			   Border *border)
{
	KanonSupport supports[KANON_MAX_SET];
	KanonReport report = {0};
	KanonStatus status = kanon_recount_supports(&border->env, &written->sets, sensitive, promise->m,
												promise->k, supports, &report);

	border_check(border, status, report.detail);
	for (int i = 0; i < promise->m; i++)
	{
		const KanonSupport *support = &supports[i];

		if (support->below > 0)
			raise_unsafe(psprintf(INT64_FORMAT " sets of %d items are in fewer than " INT64_FORMAT
											   " transactions.",
								  support->below, i + 1, promise->k));
		if (sensitive != NULL && support->worst_cohort > 0 &&
			kanon_exceeds_h(support->worst_with, support->worst_cohort, promise->h))
			raise_unsafe(psprintf("Of " INT64_FORMAT " transactions with the same %d items, " INT64_FORMAT
								  " have one private item.",
								  support->worst_cohort, i + 1, support->worst_with));
	}
}

static void
check_rules(const Transactions *written, const bool *sensitive, const KanonTransactions *promise,
			Border *border)
{
	KanonRuleFound worst;
	KanonReport report = {0};

	border_check(border, kanon_recount_rules(&border->env, &written->sets, sensitive, &worst, &report),
				 report.detail);
	if (worst.cohort > 0 && kanon_reaches_rho(worst.with, worst.cohort, promise->rho))
		raise_unsafe(psprintf("Of " INT64_FORMAT " transactions with the same %d items, " INT64_FORMAT
							  " have one private item.",
							  worst.cohort, worst.known, worst.with));
}

void
sets_verify(const Target *target, const Transactions *transactions, const ItemForest *forest,
			const KanonRecoding *recoding, const KanonTransactions *promise, KanonSetModel model,
			const SetsWritten *expected, Border *border)
{
	const ItemSource *from = transactions->from;
	ItemSource *there =
		items_open(target->relid, from->element.name, from->by_row ? from->source->qis[1].name : NULL, NULL);
	Transactions *written = items_read(there, false, false, border);
	const KanonSets *sets = &written->sets;
	bool *sensitive = NULL;

	if (sets->ntransactions != transactions->sets.ntransactions ||
		sets->ntransactions != expected->transactions)
		raise_unsafe(psprintf("It has %u transactions instead of %u.", sets->ntransactions,
							  transactions->sets.ntransactions));
	if ((int64) sets->start[sets->ntransactions] != expected->occurrences)
		raise_unsafe(psprintf("It has %zu items in transactions instead of " INT64_FORMAT ".",
							  sets->start[sets->ntransactions], expected->occurrences));
	if (promise->sensitive != NULL)
		sensitive = private_items(written, transactions, forest, recoding, promise->sensitive, border);
	if (model == KANON_MODEL_RHO)
		check_rules(written, sensitive, promise, border);
	else
		check_supports(written, model == KANON_MODEL_COHERENCE ? sensitive : NULL, promise, border);
	if (sensitive != NULL)
		border_pfree(border, sensitive);
	items_free(written, border);
}
