/*
 * item_control.c: SuppressControl of Cao, Karras, Raïssi and Tan, "rho-uncertainty:
 * Inference-Proof Transaction Anonymization", PVLDB 3, 2010: the rules x -> s of
 * confidence rho or more, with none, one, two … items in x, and the items to
 * suppress so that none of them is left.
 *
 * Rules with few items first: when they are gone, those with one more are minimal,
 * and fewer.  The supports of rules that have no suppressed item never change, so
 * that what was hit stays hit.  Items that every transaction of x has make no new
 * rule, and are not gone through (item_walk.c).
 */
#include <stdio.h>
#include <string.h>

#include "itemsets/transactions.h"

KanonStatus
kanon_control_open(KanonControl *control, const KanonTransactions *problem, KanonReport *report)
{
	KanonScratch *scratch = &control->cut.scratch;
	KanonStatus status;

	memset(control, 0, sizeof(*control));
	control->hit.scratch.env = problem->env;
	control->report = report;
	status = kanon_cut_open(&control->cut, problem);
	control->gone = kanon_take0(scratch, control->cut.forest.nall, sizeof(bool));
	control->node = kanon_take(scratch, problem->nnodes, sizeof(uint32_t));
	control->loss = kanon_take(scratch, problem->nnodes, sizeof(int64_t));
	control->suppress = kanon_take(scratch, problem->nnodes, sizeof(bool));
	if (status == KANON_OK)
		status = kanon_taken(scratch);
	return status;
}

void
kanon_control_close(KanonControl *control)
{
	KanonEnv *env = control->hit.scratch.env;

	kanon_rows_free(env, &control->rows);
	kanon_hit_free(&control->hit);
	kanon_cut_close(&control->cut);
}

static bool
is_private(const KanonControl *control, uint32_t v)
{
	const KanonTransactions *problem = control->cut.problem;

	return v < problem->sets.nitems && problem->sensitive != NULL && problem->sensitive[v];
}

static void
give_rank(KanonControl *control, uint32_t v)
{
	control->cut.rank[v] = control->nranks;
	control->node[control->nranks++] = v;
}

KanonStatus
kanon_control_look(KanonControl *control, uint32_t v, const uint32_t *first, uint32_t nfirst)
{
	KanonCut *cut = &control->cut;
	const KanonForest *forest = &cut->forest;
	KanonEnv *env = cut->problem->env;
	const uint32_t *tids = v == KANON_NOTHING ? NULL : forest->tid + forest->tid_start[v];

	kanon_rows_free(env, &control->rows);
	control->nranks = 0;
	for (uint32_t w = 0; w < forest->nall; w++)
		cut->rank[w] = KANON_NOTHING;
	for (uint32_t i = 0; i < nfirst; i++)
		give_rank(control, first[i]);
	for (int private_items = 0; private_items < 2; private_items++)
	{
		control->nprivate = control->nranks; /* in the end, where private ones begin */
		for (uint32_t w = 0; w < forest->nnodes; w++)
			if (cut->in[w] && !control->gone[w] && cut->rank[w] == KANON_NOTHING &&
				is_private(control, w) == (private_items == 1))
				give_rank(control, w);
	}
	control->nprivate = control->nranks - control->nprivate;
	control->nfirst = v == KANON_NOTHING ? control->nranks : nfirst;
	for (uint32_t r = 0; r < control->nranks; r++)
	{
		uint32_t w = control->node[r];

		control->loss[r] = forest->occurs[w] * forest->nitems - forest->cost[w];
		control->suppress[r] = false;
	}
	return kanon_rows_make(&cut->pace, &cut->problem->sets, cut->shown, cut->rank, tids,
						   v == KANON_NOTHING ? 0 : kanon_support(forest, v), &control->rows);
}

/* Takes what is suppressed out of the rows. */
static KanonStatus
drop_suppressed(KanonControl *control)
{
	KanonRows *rows = &control->rows;
	size_t from = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < rows->nrows; i++)
	{
		size_t to = rows->start[i + 1];

		for (; from < to; from++)
			if (!control->suppress[rows->item[from]])
				rows->item[n++] = rows->item[from];
		rows->start[i + 1] = n;
	}
	return kanon_stop(&control->cut.pace, from) ? KANON_CANCELLED : KANON_OK;
}

/* One walk for the rules with so many items on the left. */
typedef struct Rules
{
	KanonControl *control;
	int size;
	uint32_t *with; /* [nranks] zero between uses */
	uint32_t *rule; /* [size + 1] */
	bool reached;   /* sets of that size */
	KanonStatus status;
} Rules;

static bool
has(const uint32_t *set, int size, uint32_t rank)
{
	for (int i = size; i-- > 0 && set[i] >= rank;)
		if (set[i] == rank)
			return true;
	return false;
}

static void
note_rule(Rules *rules, const uint32_t *set, int size, uint32_t rank)
{
	int n = 0;

	while (n < size && set[n] < rank)
	{
		rules->rule[n] = set[n];
		n++;
	}
	rules->rule[n] = rank;
	memcpy(rules->rule + n + 1, set + n, sizeof(uint32_t) * (size_t) (size - n));
	if (rules->status == KANON_OK)
		rules->status = kanon_hit_add(&rules->control->hit, rules->rule, size + 1);
}

/*
 * Private ranks are at the end of each row: counts them, notes the rules of a whole
 * set, and forgets the counts.  Is there any beside those of the set?
 */
static bool
count_private(Rules *rules, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	KanonControl *control = rules->control;
	const KanonRows *rows = &control->rows;
	uint32_t from = control->nranks - control->nprivate;
	bool any = false;

	for (uint32_t i = 0; i < count; i++)
		for (size_t j = rows->start[places[i].row + 1];
			 j > rows->start[places[i].row] && rows->item[j - 1] >= from; j--)
			rules->with[rows->item[j - 1]]++;
	for (uint32_t i = 0; i < count; i++)
		for (size_t j = rows->start[places[i].row + 1];
			 j > rows->start[places[i].row] && rows->item[j - 1] >= from; j--)
		{
			uint32_t rank = rows->item[j - 1];
			uint32_t with = rules->with[rank];

			rules->with[rank] = 0;
			if (with == 0 || has(set, size, rank))
				continue;
			any = true;
			if (size == rules->size && kanon_reaches_rho(with, count, control->cut.problem->rho))
				note_rule(rules, set, size, rank);
		}
	if (kanon_stop(&control->cut.pace, 4 * (uint64_t) count))
		rules->status = KANON_CANCELLED;
	return any;
}

static KanonVisit
note_rules(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	Rules *rules = arg;
	bool any = count_private(rules, set, size, places, count);

	if (rules->status != KANON_OK || rules->control->hit.n >= KANON_HIT_MOST)
		return KANON_VISIT_STOP;
	if (any && size == rules->size)
		rules->reached = true;
	return any ? KANON_VISIT_GO : KANON_VISIT_PRUNE;
}

/* Private items that are in rho or more of all transactions: rules with nothing on the left. */
static KanonStatus
find_plain(KanonControl *control)
{
	const KanonForest *forest = &control->cut.forest;
	KanonStatus status = KANON_OK;

	for (uint32_t r = control->nranks - control->nprivate; r < control->nranks && status == KANON_OK; r++)
		if (kanon_reaches_rho(kanon_support(forest, control->node[r]),
							  control->cut.problem->sets.ntransactions, control->cut.problem->rho))
			status = kanon_hit_add(&control->hit, &r, 1);
	return status;
}

static KanonStatus
find_rules(KanonControl *control, int size, bool *complete, bool *reached)
{
	KanonEnv *env = control->cut.problem->env;
	Rules rules = {.control = control, .size = size};
	KanonStatus status = KANON_NO_MEMORY;
	KanonWalk walk = {.pace = &control->cut.pace,
					  .nitems = control->nranks,
					  .nrows = control->rows.nrows,
					  .start = control->rows.start,
					  .item = control->rows.item,
					  .first = control->nfirst,
					  .depth = size,
					  .places = true,
					  .skip_implied = true,
					  .limit = KANON_RULE_SETS,
					  .visit = note_rules,
					  .arg = &rules};

	kanon_hit_clear(&control->hit);
	*complete = true;
	*reached = true;
	if (size == 0)
		return find_plain(control);
	if ((rules.with = kanon_alloc0(env, control->nranks, sizeof(uint32_t))) != NULL &&
		(rules.rule = kanon_alloc(env, (size_t) size + 1, sizeof(uint32_t))) != NULL)
		status = kanon_walk_sets(&walk);
	if (status == KANON_TOO_LARGE)
		snprintf(control->report->detail, sizeof(control->report->detail),
				 "More than %d sets of items occur together with private items.", KANON_RULE_SETS);
	if (status == KANON_OK)
		status = rules.status;
	*complete = !walk.stopped;
	*reached = rules.reached;
	kanon_free(env, rules.with);
	kanon_free(env, rules.rule);
	return status;
}

/* How many walks it takes is not known: each is half of what is left of this part of the phase. */
KanonStatus
kanon_control_hit(KanonControl *control, bool *rules)
{
	KanonPace *pace = &control->cut.pace;
	double end = pace->from + pace->span;
	bool reached = true;
	KanonStatus status = KANON_OK;

	*rules = false;
	/* with nodes to look for, rules have one on the left */
	for (int size = control->nfirst < control->nranks; reached && status == KANON_OK; size++)
	{
		bool complete = false;

		while (!complete && status == KANON_OK)
		{
			kanon_pace_part(pace, pace->share, end, 0, 2);
			status = find_rules(control, size, &complete, &reached);
			*rules |= control->hit.n > 0;
			control->report->nodes += (int64_t) control->hit.n;
			if (status == KANON_OK)
				status = kanon_hit_suppress(&control->hit, pace, control->nranks, control->loss,
											control->suppress);
			if (status == KANON_OK)
				status = drop_suppressed(control);
		}
	}
	return status;
}

int64_t
kanon_control_cost(const KanonControl *control)
{
	int64_t sum = 0;

	for (uint32_t r = 0; r < control->nranks; r++)
		sum += control->suppress[r] ? control->loss[r] : 0;
	return sum;
}

void
kanon_control_apply(KanonControl *control)
{
	for (uint32_t r = 0; r < control->nranks; r++)
		if (control->suppress[r])
			control->gone[control->node[r]] = true;
}

static uint32_t
most_costly(const KanonControl *control, const bool *tried)
{
	const KanonForest *forest = &control->cut.forest;
	uint32_t best = KANON_NOTHING;

	for (uint32_t v = 0; v < forest->nnodes; v++)
		if (control->gone[v] && control->cut.in[v] && !tried[v] && !is_private(control, v) &&
			(best == KANON_NOTHING || forest->occurs[v] > forest->occurs[best]))
			best = v;
	return best;
}

KanonStatus
kanon_control_restore(KanonControl *control)
{
	const KanonForest *forest = &control->cut.forest;
	KanonEnv *env = control->cut.problem->env;
	bool *tried = kanon_alloc0(env, forest->nall, sizeof(bool));
	KanonStatus status = tried == NULL ? KANON_NO_MEMORY : KANON_OK;
	double from = control->cut.pace.share;
	uint32_t n = 0, done = 0;
	uint32_t v;

	for (v = 0; v < forest->nnodes; v++)
		n += control->gone[v] && control->cut.in[v];
	while (status == KANON_OK && (v = most_costly(control, tried)) != KANON_NOTHING)
	{
		bool rules;

		tried[v] = true;
		kanon_pace_part(&control->cut.pace, from, 1, done++, n);
		status = kanon_control_look(control, v, &v, 1);
		if (status == KANON_OK)
			status = kanon_control_hit(control, &rules);
		if (status == KANON_OK && !rules)
			control->gone[v] = false;
	}
	kanon_free(env, tried);
	return status;
}

KanonStatus
kanon_control_recoding(const KanonControl *control, KanonRecoding *recoding)
{
	const KanonForest *forest = &control->cut.forest;
	KanonStatus status = kanon_cut_recoding(&control->cut, recoding, control->report);
	int64_t cost = 0;

	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < forest->nitems; i++)
		if (recoding->shown[i] != KANON_NOTHING && control->gone[recoding->shown[i]])
			recoding->shown[i] = KANON_NOTHING;
	for (uint32_t v = 0; v < forest->nall; v++)
		if (control->cut.in[v])
			cost += !kanon_is_suppression(forest, v) && control->gone[v] ? forest->occurs[v] * forest->nitems
																		 : forest->cost[v];
	control->report->cost =
		cost == 0 ? 0 : (double) cost / ((double) forest->occurrences * (double) forest->nitems);
	return KANON_OK;
}

/*
 * ---- rho-uncertainty by suppression alone (SuppressControl) of Cao,
 * Karras, Raïssi and Tan, "rho-uncertainty: Inference-Proof Transaction
 * Anonymization", PVLDB 3, 2010.  The steps are in item_control.c.
 */

KanonStatus
kanon_recode_suppress_control(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonControl control;
	bool rules;
	KanonStatus status = kanon_control_open(&control, problem, report);

	if (status == KANON_OK)
		status = kanon_control_look(&control, KANON_NOTHING, NULL, 0);
	kanon_pace_part(&control.cut.pace, 0, 1, 0, 2);
	if (status == KANON_OK)
		status = kanon_control_hit(&control, &rules);
	if (status == KANON_OK)
	{
		kanon_control_apply(&control);
		status = kanon_control_restore(&control);
	}
	if (status == KANON_OK)
		status = kanon_control_recoding(&control, recoding);
	kanon_control_close(&control);
	return status;
}
