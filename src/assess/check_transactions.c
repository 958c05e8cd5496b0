/*
 * check_transactions.c: kanon_check_transactions: what a table of sets of items
 * keeps, counted from the table alone; values only where they are asked for.
 */
#include "compat.h"
#include "host/catalog.h"
#include "hierarchies/hierarchy.h"
#include "options/request.h"
#include "itemsets/item_model.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check_transactions);

enum
{
	ARG_RELATION,
	ARG_ITEMS,
	ARG_K,
	ARG_M,
	ARG_TRANSACTION,
	ARG_SENSITIVE,
	ARG_SENSITIVE_ITEMS,
	ARG_SHOW_VALUES
};

/* Columns of the result. */
enum
{
	OUT_PROMISE,
	OUT_SIZE,
	OUT_SETS,
	OUT_BELOW,
	OUT_SMALLEST,
	OUT_TRANSACTIONS,
	OUT_SHARE,
	OUT_COHORT,
	OUT_KNOWN,
	OUT_ITEM,
	OUT_COLUMNS
};

typedef struct Check
{
	ReturnSetInfo *rsinfo;
	Border *border;
	Transactions *transactions;
	bool *sensitive;
	bool show_values;
	FmgrInfo output;
	Datum values[OUT_COLUMNS];
	bool nulls[OUT_COLUMNS];
} Check;

static void
begin_row(Check *check, const char *promise, int size)
{
	memset(check->nulls, true, sizeof(check->nulls));
	check->values[OUT_PROMISE] = CStringGetTextDatum(promise);
	check->values[OUT_SIZE] = Int32GetDatum(size);
	check->nulls[OUT_PROMISE] = check->nulls[OUT_SIZE] = false;
}

static void
set_value(Check *check, int column, Datum value)
{
	check->values[column] = value;
	check->nulls[column] = false;
}

static Datum
item_text(Check *check, uint32 item)
{
	bool isnull;

	return CStringGetTextDatum(OutputFunctionCall(
		&check->output, dictionary_value(check->transactions->from->element.dictionary, item, &isnull)));
}

/* Known items, and the private item that follows (KANON_NOTHING: none). */
static void
set_example(Check *check, const uint32 *known, int n, uint32 item)
{
	Datum *texts = palloc(sizeof(Datum) * Max(n, 1));
	int nest;

	if (!check->show_values)
		return;
	nest = plain_text_begin();
	for (int i = 0; i < n; i++)
		texts[i] = item_text(check, known[i]);
	set_value(check, OUT_KNOWN, PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT)));
	if (item != KANON_NOTHING)
		set_value(check, OUT_ITEM, item_text(check, item));
	plain_text_end(nest);
}

static void
put_row(Check *check)
{
	tuplestore_putvalues(check->rsinfo->setResult, check->rsinfo->setDesc, check->values, check->nulls);
}

/* Sets by size, and how many of a cohort have one private item. */
static void
put_supports(Check *check, int m, int64 k, const bool *sensitive, const char *promise)
{
	KanonSupport supports[KANON_MAX_SET];
	KanonReport report = {0};

	set_check(check->border,
			  kanon_recount_supports(&check->border->env, &check->transactions->sets, sensitive, m, k,
									 supports, &report),
			  &report);
	for (int i = 0; i < m; i++)
	{
		const KanonSupport *support = &supports[i];

		begin_row(check, promise, i + 1);
		set_value(check, OUT_SETS, Int64GetDatum(support->sets));
		set_value(check, OUT_BELOW, Int64GetDatum(support->below));
		if (support->sets > 0)
		{
			set_value(check, OUT_SMALLEST, Int64GetDatum(support->smallest));
			set_value(check, OUT_TRANSACTIONS, Int64GetDatum(support->transactions));
		}
		if (sensitive == NULL && support->sets > 0)
			set_example(check, support->set, i + 1, KANON_NOTHING);
		if (sensitive != NULL && support->worst_cohort > 0)
		{
			set_value(check, OUT_SHARE,
					  Float8GetDatum((double) (100 * support->worst_with) / (double) support->worst_cohort));
			set_value(check, OUT_COHORT, Int64GetDatum(support->worst_cohort));
			set_example(check, support->worst_set, i + 1, support->worst_item);
		}
		put_row(check);
	}
}

/* The rule to a private item of the largest confidence. */
static void
put_rules(Check *check)
{
	KanonRuleFound worst;
	KanonReport report = {0};

	set_check(check->border,
			  kanon_recount_rules(&check->border->env, &check->transactions->sets, check->sensitive, &worst,
								  &report),
			  &report);
	begin_row(check, "rho", worst.known);
	if (worst.cohort > 0)
	{
		set_value(check, OUT_SHARE, Float8GetDatum((double) worst.with / (double) worst.cohort));
		set_value(check, OUT_COHORT, Int64GetDatum(worst.cohort));
		set_example(check, worst.left, Min(worst.known, KANON_MAX_KNOWN), worst.item);
	}
	put_row(check);
}

static int
size_arg(FunctionCallInfo fcinfo)
{
	refuse_null(fcinfo, ARG_M, "m", "Sets of so many items are counted; 2 is usual.");
	if (PG_GETARG_INT32(ARG_M) < 1 || PG_GETARG_INT32(ARG_M) > KANON_MAX_SET)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("m must be between 1 and %d", KANON_MAX_SET),
						errhint("Sets of so many items are counted; 2 is usual.")));
	return PG_GETARG_INT32(ARG_M);
}

static void
read_table(Check *check, FunctionCallInfo fcinfo)
{
	const char *transaction =
		PG_ARGISNULL(ARG_TRANSACTION) ? NULL : NameStr(*PG_GETARG_NAME(ARG_TRANSACTION));
	Source *private_items = NULL;
	ItemSource *from;

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name the table or view to look at.");
	refuse_null(fcinfo, ARG_ITEMS, "items", "Name the column that has the items.");
	from = items_open(PG_GETARG_OID(ARG_RELATION), NameStr(*PG_GETARG_NAME(ARG_ITEMS)), transaction, NULL);
	source_lock(from->source);
	if (!PG_ARGISNULL(ARG_SENSITIVE_ITEMS))
		private_items = items_sensitive_open(PG_GETARG_OID(ARG_SENSITIVE_ITEMS));
	PushActiveSnapshot(GetTransactionSnapshot());
	check->transactions = items_read(from, true, false, check->border);
	check->sensitive = items_sensitive(check->transactions, array_arg(fcinfo, ARG_SENSITIVE), false,
									   private_items, check->border);
	type_output(from->element.type, &check->output);
}

Datum
kanon_check_transactions(PG_FUNCTION_ARGS)
{
	Check check = {.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo};
	int64 k = k_arg(fcinfo, ARG_K, 1, "Sets in fewer than k transactions are counted.");
	int m = size_arg(fcinfo);

	check.show_values = bool_arg(fcinfo, ARG_SHOW_VALUES, "show_values");
	InitMaterializedSRF(fcinfo, 0);
	check.border = border_create("kanon_check_transactions");
	SPI_connect();
	read_table(&check, fcinfo);
	put_supports(&check, m, k, NULL, "k^m");
	if (check.sensitive != NULL)
	{
		put_supports(&check, m, k, check.sensitive, "coherence");
		put_rules(&check);
	}
	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(check.border->context);
	return (Datum) 0;
}
