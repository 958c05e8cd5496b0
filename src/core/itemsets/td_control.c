/*
 * td_control.c: rho-uncertainty by top-down specialization with suppression
 * (TDControl) of Cao, Karras, Raïssi and Tan, "rho-uncertainty: Inference-Proof
 * Transaction Anonymization", PVLDB 3, 2010.
 *
 * All public items start as the tops of the hierarchy; private ones are shown as
 * they are.  The node whose children would tell most more is split first, what must
 * then be suppressed for the rules that have one of its children is chosen (the
 * others have not changed), and the split stays if the table tells more all in all.
Where splitting a node into all of its items gains more, it is that split: below a
node that costs much, one step alone seldom gains.  In the end, nodes are shown
instead of what is suppressed below them, where that gains.
 */
#include <string.h>

#include "itemsets/transactions.h"

/* Shares of the phase: rules of the tops alone; nodes are split; nodes are restored. */
#define SPLIT_FROM 0.2
#define RESTORE_FROM 0.8

/* The cost of a node as it is now: suppressed, or shown. */
static int64_t
cost_now(const KanonControl *control, uint32_t v)
{
	const KanonForest *forest = &control->cut.forest;

	return control->gone[v] ? forest->occurs[v] * forest->nitems : forest->cost[v];
}

/* The gain of a split if nothing must be suppressed for it. */
static int64_t
most_gain(const KanonControl *control, uint32_t v)
{
	const KanonForest *forest = &control->cut.forest;
	int64_t gain = cost_now(control, v);

	for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
		gain -= forest->cost[c];
	return gain;
}

static uint32_t
best_split(const KanonControl *control, const bool *tried)
{
	const KanonForest *forest = &control->cut.forest;
	uint32_t best = KANON_NOTHING;

	for (uint32_t v = forest->nitems; v < forest->nnodes; v++)
		if (control->cut.in[v] && !tried[v] &&
			(best == KANON_NOTHING || most_gain(control, v) > most_gain(control, best)))
			best = v;
	return best;
}

/* v of the cut becomes its children, or (deep) its items; first has room for them. */
static uint32_t
split(KanonControl *control, uint32_t v, bool deep, uint32_t *first)
{
	KanonCut *cut = &control->cut;
	const KanonForest *forest = &cut->forest;
	uint32_t n = 0;

	if (!deep)
	{
		kanon_cut_split(cut, v);
		for (uint32_t c = forest->child[v]; c != KANON_NOTHING; c = forest->sibling[c])
		{
			control->gone[c] = false;
			first[n++] = c;
		}
		return n;
	}
	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
	{
		first[n] = forest->leaf[i];
		while (cut->shown[first[n]] != first[n])
			kanon_cut_split(cut, cut->shown[first[n]]);
		control->gone[first[n]] = false;
		n++;
	}
	return n;
}

/*
 * The gain of such a split in the end, when the suppressions that it takes are made; it is left as
 * it is then.
 */
static KanonStatus
try_split(KanonControl *control, uint32_t v, bool deep, uint32_t *first, int64_t *gain)
{
	const KanonForest *forest = &control->cut.forest;
	uint32_t nfirst = split(control, v, deep, first);
	bool rules;
	KanonStatus status;

	*gain = cost_now(control, v);
	for (uint32_t i = 0; i < nfirst; i++)
		*gain -= forest->cost[first[i]];
	status = kanon_control_look(control, v, first, nfirst);
	if (status == KANON_OK)
		status = kanon_control_hit(control, &rules);
	*gain -= kanon_control_cost(control);
	return status;
}

/* Splits a node in the way that gains more, if one does. */
static KanonStatus
split_best(KanonControl *control, uint32_t v, uint32_t *first)
{
	int64_t items, children;
	KanonStatus status = try_split(control, v, true, first, &items);

	if (status != KANON_OK)
		return status;
	kanon_cut_raise(&control->cut, v);
	status = try_split(control, v, false, first, &children);
	if (status == KANON_OK && items > children)
	{
		kanon_cut_raise(&control->cut, v);
		status = try_split(control, v, true, first, &children);
	}
	if (status == KANON_OK && children > 0)
		kanon_control_apply(control);
	else
		kanon_cut_raise(&control->cut, v);
	return status;
}

/* The cost of what is below a node that the cut is below. */
static int64_t
cost_below(const KanonControl *control, uint32_t v)
{
	const KanonForest *forest = &control->cut.forest;
	int64_t sum = 0;

	for (uint32_t i = forest->low[v]; i < forest->high[v];)
	{
		uint32_t shown = control->cut.shown[forest->leaf[i]];

		sum += cost_now(control, shown);
		i = forest->high[shown];
	}
	return sum;
}

/* Shows what is below v as v if that gains: what was suppressed is shown again.  was: room for its items. */
static KanonStatus
try_merge(KanonControl *control, uint32_t v, uint32_t *was)
{
	KanonCut *cut = &control->cut;
	const KanonForest *forest = &cut->forest;
	int64_t before = cost_below(control, v);
	bool rules;
	KanonStatus status;

	for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
		was[i - forest->low[v]] = cut->shown[forest->leaf[i]];
	kanon_cut_raise(cut, v);
	control->gone[v] = false;
	status = kanon_control_look(control, v, &v, 1);
	if (status == KANON_OK)
		status = kanon_control_hit(control, &rules);
	if (status == KANON_OK && forest->cost[v] + kanon_control_cost(control) < before)
		kanon_control_apply(control);
	else
		for (uint32_t i = forest->low[v]; i < forest->high[v]; i++)
			while (cut->shown[forest->leaf[i]] != was[i - forest->low[v]])
				kanon_cut_split(cut, cut->shown[forest->leaf[i]]);
	return status;
}

/* From the items up: nodes instead of the suppressed ones below them.  Up to that share of the phase. */
static KanonStatus
merge(KanonControl *control, uint32_t *was, double to)
{
	const KanonForest *forest = &control->cut.forest;
	double from = control->cut.pace.share;
	KanonStatus status = KANON_OK;

	for (uint32_t v = forest->nitems; v < forest->nnodes && status == KANON_OK; v++)
	{
		uint32_t shown = control->cut.shown[forest->leaf[forest->low[v]]];

		kanon_pace_part(&control->cut.pace, from, to, v - forest->nitems, forest->nnodes - forest->nitems);
		if (shown != v && kanon_below(forest, shown, v) && cost_below(control, v) > forest->cost[v])
			status = try_merge(control, v, was);
	}
	return status;
}

/* Each node of the cut once, and those that come of it; *split: one was.  Up to that share of the phase. */
static KanonStatus
specialize_once(KanonControl *control, bool *tried, uint32_t *first, bool *split, double to)
{
	const KanonForest *forest = &control->cut.forest;
	double from = control->cut.pace.share;
	uint32_t done = 0;
	KanonStatus status = KANON_OK;
	uint32_t v;

	*split = false;
	memset(tried, 0, sizeof(bool) * forest->nall);
	while (status == KANON_OK && (v = best_split(control, tried)) != KANON_NOTHING)
	{
		tried[v] = true;
		kanon_pace_part(&control->cut.pace, from, to, done++, forest->nnodes - forest->nitems);
		status = split_best(control, v, first);
		*split |= !control->cut.in[v];
	}
	return status;
}

static KanonStatus
specialize(KanonControl *control)
{
	const KanonForest *forest = &control->cut.forest;
	KanonEnv *env = control->cut.problem->env;
	bool *tried = kanon_alloc(env, forest->nall, sizeof(bool));
	uint32_t *first = kanon_alloc(env, forest->nnodes, sizeof(uint32_t));
	KanonStatus status = tried == NULL || first == NULL ? KANON_NO_MEMORY : KANON_OK;
	bool split = true;

	/*
	 * Suppressions for one split may let others be split that could not before.  How often
	 * is not known: each round is half of what is left up to where nodes are restored.
	 */
	while (status == KANON_OK && split)
	{
		double from = control->cut.pace.share;
		double to = from + (RESTORE_FROM - from) / 2;

		status = specialize_once(control, tried, first, &split, from + (to - from) / 2);
		if (status == KANON_OK && split)
			status = merge(control, first, to);
	}
	kanon_free(env, tried);
	kanon_free(env, first);
	return status;
}

KanonStatus
kanon_recode_td_control(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonControl control;
	const KanonForest *forest = &control.cut.forest;
	bool rules;
	KanonStatus status = kanon_control_open(&control, problem, report);

	if (status == KANON_OK)
	{
		for (uint32_t v = 0; v < forest->nnodes; v++)
			if (kanon_is_suppression(forest, forest->parent[v]))
				kanon_cut_raise(&control.cut, v);
		status = kanon_control_look(&control, KANON_NOTHING, NULL, 0);
	}
	kanon_pace_part(&control.cut.pace, 0, SPLIT_FROM, 0, 1);
	if (status == KANON_OK)
		status = kanon_control_hit(&control, &rules);
	control.cut.pace.share = SPLIT_FROM;
	if (status == KANON_OK)
	{
		kanon_control_apply(&control);
		status = specialize(&control);
	}
	control.cut.pace.share = RESTORE_FROM;
	if (status == KANON_OK)
		status = kanon_control_restore(&control);
	if (status == KANON_OK)
		status = kanon_control_recoding(&control, recoding);
	kanon_control_close(&control);
	return status;
}
