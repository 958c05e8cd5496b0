/*
 * item_model.c: the model of sets of items, which takes the steps of a run in ways of
 * its own, since there are no row types and no release.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "itemsets/item_model.h"
#include "rows/target.h"
#include "run/run.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

/* ---- what is asked for ---- */

#define KNOWN_HINT "It is how many items of a person somebody may know; 2 is a usual choice."
#define K_OF_SETS "Every set of few items that occurs will do so k times at least; 5 is a usual choice."

static void
raise_missing(const Request *request, const char *what, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("method \"%s\" needs %s", request->method, what), errhint("%s", hint)));
}

static void
refuse(const Request *request, bool given, const char *what, const char *hint)
{
	if (given)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("method \"%s\" takes no %s", request->method, what), errhint("%s", hint)));
}

static bool
has_private_items(const Request *request)
{
	return request->given[OPTION_SENSITIVE] || request->given[OPTION_SENSITIVE_ITEMS];
}

static void
check_coherence(const Request *request)
{
	if (has_private_items(request) && !request->given[OPTION_H])
		raise_missing(
			request, "h",
			"At most so many per cent of the transactions with the same public items may have one private item.");
	if (!has_private_items(request) && request->given[OPTION_H])
		raise_missing(request, "private items for h", "Say in sensitive or sensitive_items which they are.");
}

static void
check_rho(const Request *request, const KanonMethod *method)
{
	if (!has_private_items(request))
		raise_missing(request, "private items", "Say in sensitive or sensitive_items which they are.");
	if (!request->given[OPTION_RHO])
		raise_missing(request, "rho",
					  "It is the confidence that no rule to a private item may reach, such as 0.5.");
	if ((method->takes & KANON_ASKS_HIERARCHY) != 0 && !request->given[OPTION_HIERARCHY])
		raise_missing(request, "a hierarchy", "Without one, method 'suppress_control' suppresses items.");
}

static void
check_request(Request *request)
{
	SetRun *own = palloc0(sizeof(SetRun));
	const KanonMethod *method = method_among(request, KANON_ITEM_SETS);
	KanonSetModel model = method->number;

	refuse(request, (method->takes & KANON_TAKES_HIERARCHY) == 0 && request->given[OPTION_HIERARCHY],
		   "hierarchy", "It only suppresses items.");
	refuse(request, model == KANON_MODEL_KM && has_private_items(request), "private items",
		   "In k^m-anonymity every item may be known, and every one is protected.");
	refuse(request, model != KANON_MODEL_KM && request->given[OPTION_M], "m",
		   "It is for methods 'apriori', 'direct' and 'optimal'.");
	refuse(request, model != KANON_MODEL_COHERENCE && request->given[OPTION_P], "p",
		   "It is for method 'suppress'.");
	refuse(request, model != KANON_MODEL_COHERENCE && request->given[OPTION_H], "h",
		   "It is for method 'suppress'.");
	refuse(request, model != KANON_MODEL_RHO && request->given[OPTION_RHO], "rho",
		   "It is for methods 'suppress_control' and 'td_control'.");
	if (model != KANON_MODEL_RHO && request->k == 0)
		raise_missing(request, "k", K_OF_SETS);
	if (model == KANON_MODEL_COHERENCE)
		check_coherence(request);
	if (model == KANON_MODEL_RHO)
		check_rho(request, method);
	own->method = method;
	own->problem.m = request->sets.m > 0 ? request->sets.m : request->sets.p > 0 ? request->sets.p : 2;
	own->problem.h = request->given[OPTION_H] ? request->sets.h : 100;
	own->problem.rho = request->sets.rho;
	own->problem.time_limit = request->time_limit;
	request->own = own;
}

static void
check_ks(const Request *request)
{
	const SetRun *own = request->own;

	refuse(request, own->method->number == KANON_MODEL_RHO, "k", "Its promise is rho alone.");
}

/* The promise, in a sentence. */
static char *
promise_text(const Request *request)
{
	const SetRun *own = request->own;
	int m = own->problem.m;
	const char *items = m == 1 ? "item" : "items";

	switch (own->method->number)
	{
		case KANON_MODEL_KM:
			return psprintf("k^m-anonymity: every set of at most %d %s is in at least " INT64_FORMAT
							" transactions or in none",
							m, items, request->k);
		case KANON_MODEL_COHERENCE:
			if (!has_private_items(request))
				return psprintf("coherence: every set of at most %d %s is in at least " INT64_FORMAT
								" transactions or in none",
								m, items, request->k);
			return psprintf(
				"(h,k,p)-coherence: every set of at most %d public %s is in at least " INT64_FORMAT
				" transactions or in none, and of these at most %.10g per cent have one private item",
				m, items, request->k, own->problem.h);
		case KANON_MODEL_RHO:
			break;
	}
	return psprintf(
		"rho-uncertainty: an attacker who knows items of a transaction, few or many, infers no private one with a confidence of %.10g or more",
		request->sets.rho);
}

/* ---- the steps ---- */

void
set_check(Border *border, KanonStatus status, const KanonReport *report)
{
	if (status == KANON_TOO_LARGE)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("there are more sets of items than can be counted"), errdetail("%s", report->detail),
			 errhint(
				 "Lower m, publish a view without the longest transactions or the rarest items, or take a method that looks at fewer sets: 'apriori' instead of 'direct' or 'optimal'.")));
	border_check(border, status, report->detail);
}

static char *
only_name(ArrayType *names)
{
	int n;
	char **name = name_array(names, "items", &n);

	if (n != 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("sets of items are in one column, not in %d", n),
						errhint("Name the column that has the items.")));
	return name[0];
}

static void
open_source(Run *run)
{
	const Request *request = run->request;
	SetRun *own = request->own;

	own->from = items_open(request->source, only_name(request->qis), request->sets.transaction,
						   request->columns.keep);
	run->source = own->from->source;
	/* what tells transactions apart is read, not published */
	if (own->from->by_row)
		run->source->qis[1].may_identify = true;
}

static void
open_beside(Run *run)
{
	const Request *request = run->request;
	SetRun *own = request->own;
	List **beside = &run->source->beside;

	if (request->given[OPTION_HIERARCHY])
	{
		Source *items = palloc0(sizeof(Source));

		items->qis = &own->from->element;
		items->nqis = 1;
		own->hierarchy = palloc0(sizeof(Hierarchy));
		hierarchy_open(own->hierarchy, &(HierarchyChoice){.relation = request->sets.hierarchy}, items, 0);
		*beside = lappend_oid(*beside, request->sets.hierarchy);
	}
	if (request->given[OPTION_SENSITIVE_ITEMS])
	{
		own->private_items = items_sensitive_open(request->sets.sensitive_items);
		*beside = lappend_oid(*beside, request->sets.sensitive_items);
	}
}

static void
set_up(Run *run)
{
	SetRun *own = run->request->own;

	run->columns = sets_target_columns(own->from, own->hierarchy != NULL);
}

static void
read_sets(Run *run)
{
	SetRun *own = run->request->own;
	KanonTransactions *problem = &own->problem;

	own->transactions = items_read(own->from, true, run->target != NULL, run->border);
	problem->sensitive = items_sensitive(own->transactions, run->request->sets.sensitive, true,
										 own->private_items, run->border);
	own->forest = items_forest(own->transactions, own->hierarchy, problem->sensitive, run->border);
	problem->env = &run->border->env;
	problem->sets = own->transactions->sets;
	problem->nnodes = own->forest->nnodes;
	problem->parent = own->forest->parent;
	run->record.row_count = problem->sets.ntransactions;
}

static void
check_k(Run *run)
{
	SetRun *own = run->request->own;
	uint32 n = own->problem.sets.ntransactions;

	own->problem.k = run->request->k;
	if (n > 0 && own->method->number != KANON_MODEL_RHO && own->problem.k > n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is larger than the table"),
				 errdetail("k is " INT64_FORMAT ", the source has %u transactions.", own->problem.k, n),
				 errhint("Lower k: nothing could ever be in that many transactions.")));
}

static KanonStatus
solve(Run *run)
{
	SetRun *own = run->request->own;
	KanonStatus status;

	run->report.lower_bound = -INFINITY;
	status = own->method->recode(&own->problem, &own->recoding, &run->report);
	if (status == KANON_OK)
		status = kanon_measure_sets(&own->problem, &own->recoding, &own->measures);
	if (status != KANON_OK)
		return status;
	run->measures.gcp = own->measures.ncp;
	run->suppressed =
		own->measures.occurrences > 0 ? (double) own->measures.suppressed / own->measures.occurrences : 0;
	return KANON_OK;
}

static void
refuse_sets(const Run *run, KanonStatus status)
{
	set_check(run->border, status, &run->report);
}

/* ---- the same for several ks ---- */

static bool
take_k(Run *run, int64 k)
{
	SetRun *own = run->request->own;

	run->request->k = own->problem.k = k;
	return own->problem.sets.ntransactions == 0 || k <= own->problem.sets.ntransactions;
}

static void
figures(const Run *run, Figures *told)
{
	const SetRun *own = run->request->own;

	*told = figures_none();
	told->suppressed_cells = own->measures.suppressed;
	told->suppressed = run->suppressed;
	told->gcp = own->measures.ncp;
	told->cost = run->report.cost;
	told->proven = run->report.proven;
}

static void
forget(Run *run)
{
	SetRun *own = run->request->own;

	kanon_recoding_free(&own->problem, &own->recoding);
	memset(&own->recoding, 0, sizeof(own->recoding));
}

static void
notice_unproven(Run *run)
{
	const SetRun *own = run->request->own;

	if (own->method->proof == KANON_PROOF_OPTIMUM && !run->report.proven)
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its NCP is %.10g, no release has less than %.10g.", run->report.cost,
								   run->report.lower_bound),
						 errhint("Raise time_limit.")));
}

static void
write_sets(Run *run)
{
	SetRun *own = run->request->own;

	own->written = sets_write(run->target, run->columns, own->transactions, own->forest, &own->recoding,
							  run->request->k, run->border);
	shuffle_end(own->transactions->shuffled);
	own->transactions->shuffled = NULL;
}

static void
verify_sets(Run *run)
{
	const SetRun *own = run->request->own;

	sets_verify(run->target, own->transactions, own->forest, &own->recoding, &own->problem,
				own->method->number, &own->written, run->border);
}

/* ---- the record ---- */

static void
push_key(JsonbInState *state, const char *name)
{
	JsonbValue key = {.type = jbvString};

	key.val.string.val = unconstify(char *, name);
	key.val.string.len = strlen(name);
	kanon_push_jsonb(state, WJB_KEY, &key);
}

static Datum
measures_json(const Run *run)
{
	const SetRun *own = run->request->own;
	const KanonSetMeasures *measures = &own->measures;
	const struct
	{
		const char *name;
		int64 value;
	} counts[] = {
		{"transactions", own->problem.sets.ntransactions},
		{"empty_before", measures->empty_before},
		{"empty_after", measures->empty_after},
		{"items_before", measures->items_before},
		{"items_shown", measures->shown_after},
		{"items_suppressed", measures->items_suppressed},
		{"occurrences", measures->occurrences},
		{"occurrences_suppressed", measures->suppressed},
		{"frequent_sets", measures->frequent},
		{"frequent_preserved", measures->frequent_preserved},
	};
	JsonbInState state = {0};
	JsonbValue value = {.type = jbvString};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	push_key(&state, "promise");
	value.val.string.val = promise_text(run->request);
	value.val.string.len = strlen(value.val.string.val);
	kanon_push_jsonb(&state, WJB_VALUE, &value);
	for (int i = 0; i < lengthof(counts); i++)
	{
		push_key(&state, counts[i].name);
		value.type = jbvNumeric;
		value.val.numeric = int64_to_numeric(counts[i].value);
		kanon_push_jsonb(&state, WJB_VALUE, &value);
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(state.result));
}

static void
record_sets(Run *run)
{
	const SetRun *own = run->request->own;

	run->number =
		run_record_classless(run->schema, &run->record, run->source, &run->report,
							 &(ClasslessRun){Max(own->problem.k, 1), own->measures.ncp,
											 own->measures.suppressed, "transactions", measures_json(run)});
	comments_write(run->target, run->source, run_words(run, promise_text(run->request)));
}

static const Steps steps = {open_source, open_beside, set_up,      read_sets, check_k, solve,
							write_sets,  verify_sets, record_sets, take_k,    figures, forget};

const Model transactions_model = {
	.name = "transactions",
	.family = KANON_ITEM_SETS,
	.method = "apriori",
	.hint = "'apriori' is the default.",
	.least_k = 2,
	.k_hint = K_OF_SETS,
	.options = TAKES(METHOD) | TAKES(M) | TAKES(P) | TAKES(H) | TAKES(RHO) | TAKES(TRANSACTION) |
			   TAKES(HIERARCHY) | TAKES(SENSITIVE) | TAKES(SENSITIVE_ITEMS) | TAKES(KEEP) |
			   TAKES(ALLOW_IDENTIFYING) | TAKES(MASK) | TAKES(REPLACE) | TAKES(DRY_RUN) | TAKES(TIME_LIMIT),
	.of_sets = true,
	.check = check_request,
	.check_ks = check_ks,
	.refuse = refuse_sets,
	.no_near =
		"Transactions are in no classes: which of them look alike depends on the items that one knows.",
	.solved = notice_unproven,
	.steps = &steps};

/*
 * ---- kanon_transactions: sets of items are published, and one row that
 * sums up comes back.
 */

PG_FUNCTION_INFO_V1(kanon_transactions);

static void
put_summary(Lines *lines, const Run *run)
{
	const SetRun *own = run->request->own;
	const KanonSetMeasures *measures = &own->measures;

	line_int8(lines, own->problem.sets.ntransactions, true);
	line_int8(lines, measures->empty_after, true);
	line_int8(lines, measures->items_before, true);
	line_int8(lines, measures->shown_after, true);
	line_int8(lines, measures->items_suppressed, true);
	line_int8(lines, measures->occurrences, true);
	line_int8(lines, measures->suppressed, true);
	line_float8(lines, measures->ncp, true);
	line_float8(lines, run->report.lower_bound, !isinf(run->report.lower_bound));
	line_bool(lines, run->report.proven, true);
	line_int4(lines, measures->frequent, true);
	line_int4(lines, measures->frequent_preserved, true);
	line_end(lines);
}

Datum
kanon_transactions(PG_FUNCTION_ARGS)
{
	Request request;

	request_of_call(&request, fcinfo, &transactions_model);
	if (request.given[OPTION_RHO] && request.k > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" takes no k", request.method),
				 errhint("Its promise is rho alone.")));
	return publish_request(fcinfo, &request, put_summary);
}
