/*
 * ilp_privacy_model.c: privacy rules as linear constraints.
 *
 * As in program_model.h, u_f says whether instance f is a class and x_if how many rows of
 * type i it holds; a type has one value in each sensitive column and is of one
 * person.  The fully suppressed rows are an instance like any other, R:
 *
 *     sum_f x_if = n_i,   x_if <= n_i u_f,   sum_i x_if >= k u_f
 *
 * distinct l     y_fv in [0, 1] says that value v is in the class:
 *                y_fv <= sum of x_if over the types with v,  sum_v y_fv >= l u_f
 * alpha          with a/b the largest fraction up to alpha whose b is no more than
 *                the rows: shares of so few rows are above alpha just if above a/b
 *                b (sum of x_if over the types with v) <= a sum_i x_if
 * subject        z_fp in [0, 1] says that person p is in the class:
 *                z_fp <= sum of x_if over p's types,  sum_p z_fp >= k u_f
 * alpha in       q_fvp in {0, 1} says that p has v there: x_if <= n_i q_fvp over
 * persons        the types of both,  b sum_p q_fvp <= a sum_p z_fp
 * joined         the same for each combination g of the joined values, with w_fg in
 * columns        {0, 1} in u_f's place: x_if <= n_i w_fg over the types with g
 *
 * y and z are on the greater side of their rows only, so they need not be whole
 * where x is.  And x is whole by itself when the only rule is distinct l of one
 * column: then x_if flows from type i by (f, v), of which y_fv are counted, to f,
 * and a flow between whole bounds has whole extreme points.
 *
 * Pattern clustering: sum of u_f over the instances of a pattern is at most the number of times
 * that it is listed.
 *
 * Classes within a class that costs no more (KANON_INSTANCES_CLOSED) are left out
 * if two classes that keep the rules keep them as one, too.  Row types are not
 * merged and nothing is reduced: the model is for small tables.
 */
#include <math.h>

#include "model/model.h"
#include "pattern/exact/exact.h"
#include "privacy/rules.h"
#include "util/sort.h"

#ifdef HAVE_GLPK

static int
add_line(IlpPrivacy *model, IlpLines *lines, double low, double high)
{
	if (!KANON_GROW(&model->memory, &lines->room, lines->n + 2, KANON_ARRAY(lines->v)))
		return 1;
	lines->v[++lines->n] = (IlpLine){low, high, 0, false};
	return (int) lines->n;
}

static int
add_row(IlpPrivacy *model, double low, double high)
{
	return add_line(model, &model->rows, low, high);
}

static int
add_column(IlpPrivacy *model, double most, bool whole)
{
	int column = add_line(model, &model->columns, 0, most);

	if (!model->memory.failed)
		model->columns.v[column].whole = whole;
	return column;
}

static void
put(IlpPrivacy *model, int row, int column, double value)
{
	if (!KANON_GROW(&model->memory, &model->entries_room, model->nentries + 2, KANON_ARRAY(model->entry_row),
					KANON_ARRAY(model->entry_column), KANON_ARRAY(model->entry)))
		return;
	model->nentries++;
	model->entry_row[model->nentries] = row;
	model->entry_column[model->nentries] = column;
	model->entry[model->nentries] = value;
}

/* x_if <= n_i times the 0/1 column. */
static void
link_member(IlpPrivacy *model, uint32_t place, int column)
{
	int row = add_row(model, -INFINITY, 0);

	put(model, row, model->x + (int) place, 1);
	put(model, row, column, -(double) model->problem->rows[model->types[place]]);
}

/* The values by which a rule tells members apart. */
typedef struct Sorting
{
	const IlpPrivacy *model;
	uint64_t joined;
	int column[2]; /* of problem->extra, or -1 */
} Sorting;

static int
compare_members(const void *a, const void *b, void *arg)
{
	const Sorting *sorting = arg;
	const KanonColumn *extra = sorting->model->problem->extra;
	uint32_t left = sorting->model->types[*(const uint32_t *) a];
	uint32_t right = sorting->model->types[*(const uint32_t *) b];

	for (uint64_t rest = sorting->joined; rest != 0; rest &= rest - 1)
	{
		const uint32_t *code = extra[__builtin_ctzll(rest)].code;

		if (code[left] != code[right])
			return code[left] < code[right] ? -1 : 1;
	}
	for (int i = 0; i < 2; i++)
		if (sorting->column[i] >= 0 &&
			extra[sorting->column[i]].code[left] != extra[sorting->column[i]].code[right])
			return extra[sorting->column[i]].code[left] < extra[sorting->column[i]].code[right] ? -1 : 1;
	return 0;
}

/* The end of the members, in order, that agree with the one at `from` in what is given. */
static uint32_t
run_end(const Sorting *sorting, const uint32_t *order, uint32_t from, uint32_t end)
{
	Sorting equal = *sorting;
	uint32_t to = from + 1;

	while (to < end && compare_members(&order[from], &order[to], &equal) == 0)
		to++;
	return to;
}

/*
 * Counts what differs in a column among order[from .. to), which are sorted by it: a
 * column of at most 1 for each, no more than its rows; they go into `row` (0: none).
 */
static void
count_different(IlpPrivacy *model, int column, uint32_t from, uint32_t to, int row, double factor)
{
	Sorting sorting = {model, 0, {column, -1}};

	for (uint32_t next; from < to; from = next)
	{
		int there = add_column(model, 1, false);
		int bound = add_row(model, -INFINITY, 0);

		next = run_end(&sorting, model->order, from, to);
		put(model, bound, there, 1);
		for (uint32_t j = from; j < next; j++)
			put(model, bound, model->x + (int) model->order[j], -1);
		if (row > 0)
			put(model, row, there, factor);
	}
}

static void
sort_members(IlpPrivacy *model, uint64_t joined, int first, int second)
{
	Sorting sorting = {model, joined, {first, second}};

	for (uint32_t j = 0; j < model->n; j++)
		model->order[j] = j;
	kanon_sort(model->order, model->scratch, model->n, sizeof(uint32_t), compare_members, &sorting);
}

static void
add_distinct(IlpPrivacy *model, const KanonPrivacyRule *rule, int u)
{
	Sorting group = {model, rule->joined, {-1, -1}};

	sort_members(model, rule->joined, rule->column, -1);
	for (uint32_t from = 0, to; from < model->n; from = to)
	{
		int enough = add_row(model, 0, INFINITY);
		int open = u;

		to = run_end(&group, model->order, from, model->n);
		if (rule->joined != 0)
		{
			open = add_column(model, 1, true);
			for (uint32_t j = from; j < to; j++)
				link_member(model, model->order[j], open);
		}
		count_different(model, rule->column, from, to, enough, 1);
		put(model, enough, open, -rule->l);
	}
}

static void
add_subject(IlpPrivacy *model, const KanonPrivacyRule *rule, int u)
{
	int enough = add_row(model, 0, INFINITY);

	sort_members(model, 0, rule->column, -1);
	count_different(model, rule->column, 0, model->n, enough, 1);
	put(model, enough, u, -(double) model->problem->k);
}

/* Largest b that is looked for. */
#define MOST_DIVISOR 1e6

/* The largest a/b up to share, of 1 <= b <= most; false: there may be a larger one, with a larger b than are looked for. */
static bool
fraction_below(double share, int64_t most, double *a, double *b)
{
	*a = floor(share * (1 + 1e-12));
	*b = 1;
	for (double d = 2; d <= (double) most && d <= MOST_DIVISOR; d++)
	{
		double n = floor(share * (1 + 1e-12) * d);

		if (n * *b > *a * d)
		{
			*a = n;
			*b = d;
		}
	}
	return (double) most <= MOST_DIVISOR || *a >= share * *b * (1 - 1e-12);
}

/* A column for each person of order[from .. to), as count_different has them; reorders these. */
static void
add_persons(IlpPrivacy *model, int person, uint32_t from, uint32_t to)
{
	Sorting sorting = {model, 0, {person, -1}};

	kanon_sort(model->order + from, model->scratch, to - from, sizeof(uint32_t), compare_members, &sorting);
	count_different(model, person, from, to, 0, 0);
}

/* In one combination of joined values, order[from .. to), no value has more than a/b of the rows. */
static void
add_row_shares(IlpPrivacy *model, const KanonPrivacyRule *rule, uint32_t from, uint32_t to, double a,
			   double b)
{
	const uint32_t *code = model->problem->extra[rule->column].code;
	Sorting value = {model, 0, {rule->column, -1}};

	for (uint32_t at = from, next; at < to; at = next)
	{
		int row;

		next = run_end(&value, model->order, at, to);
		if (rule->listed != NULL && !rule->listed[code[model->types[model->order[at]]]])
			continue;
		row = add_row(model, -INFINITY, 0);
		for (uint32_t j = from; j < to; j++)
			put(model, row, model->x + (int) model->order[j], j >= at && j < next ? b - a : -a);
	}
}

/* The same of persons. */
static void
add_person_shares(IlpPrivacy *model, const KanonPrivacyRule *rule, int person, uint32_t from, uint32_t to,
				  double a, double b)
{
	const uint32_t *code = model->problem->extra[rule->column].code;
	Sorting value = {model, 0, {rule->column, -1}};
	Sorting both = {model, 0, {rule->column, person}};
	int first = (int) model->columns.n + 1;
	int end;

	add_persons(model, person, from, to);
	end = (int) model->columns.n + 1;
	kanon_sort(model->order + from, model->scratch, to - from, sizeof(uint32_t), compare_members, &both);
	for (uint32_t at = from, next; at < to; at = next)
	{
		int row;

		next = run_end(&value, model->order, at, to);
		if (rule->listed != NULL && !rule->listed[code[model->types[model->order[at]]]])
			continue;
		row = add_row(model, -INFINITY, 0);
		for (int z = first; z < end; z++)
			put(model, row, z, -a);
		for (uint32_t j = at, same; j < next; j = same)
		{
			int has = add_column(model, 1, true);

			same = run_end(&both, model->order, j, next);
			put(model, row, has, b);
			for (uint32_t i = j; i < same; i++)
				link_member(model, model->order[i], has);
		}
	}
}

static void
add_alpha(IlpPrivacy *model, const KanonPrivacyRule *rule, int person)
{
	Sorting group = {model, rule->joined, {-1, -1}};
	int64_t rows = 0;
	double a;
	double b;

	for (uint32_t j = 0; j < model->n; j++)
		rows += model->problem->rows[model->types[j]];
	if (!fraction_below(rule->share, rows, &a, &b))
		model->coarse = true;
	if (a >= b)
		return;
	sort_members(model, rule->joined, rule->column, -1);
	for (uint32_t from = 0, to; from < model->n; from = to)
	{
		to = run_end(&group, model->order, from, model->n);
		if (person < 0)
			add_row_shares(model, rule, from, to, a, b);
		else
			add_person_shares(model, rule, person, from, to, a, b);
	}
}

/*
 * An instance with its x from `x` on: its rows, and what the rules ask of a class.  few:
 * as what is left over; then there need not be k.  The column of u.
 */
static int
add_class(IlpPrivacy *model, const uint32_t *types, uint32_t n, int x, bool few)
{
	const KanonPrivacyRule *rules;
	KanonPrivacy *privacy = model->problem->privacy;
	int nrules = kanon_privacy_rules(privacy, &rules);
	int u = add_column(model, 1, true);

	model->types = types;
	model->n = n;
	model->x = x;
	for (uint32_t j = 0; j < n; j++)
		link_member(model, j, u);
	if (!few)
	{
		int enough = add_row(model, 0, INFINITY);

		for (uint32_t j = 0; j < n; j++)
			put(model, enough, x + (int) j, 1);
		put(model, enough, u, -(double) model->problem->k);
	}
	for (int r = 0; r < nrules; r++)
	{
		if (rules[r].kind == KANON_DISTINCT_L)
			add_distinct(model, &rules[r], u);
		else if (rules[r].kind == KANON_ALPHA)
			add_alpha(model, &rules[r], kanon_privacy_person(privacy));
		else if (rules[r].kind == KANON_SUBJECT && !few)
			add_subject(model, &rules[r], u);
	}
	return u;
}

/* Does x come out whole by itself? */
static bool
whole_anyway(const KanonProblem *problem)
{
	const KanonPrivacyRule *rules;

	return kanon_privacy_rules(problem->privacy, &rules) == 1 && rules[0].kind == KANON_DISTINCT_L &&
		   rules[0].joined == 0;
}

/* Pair p's row type; the last ntypes pairs are what is fully suppressed. */
static uint32_t
ilp_privacy_type(const IlpPrivacy *model, size_t p)
{
	size_t pairs = model->instances->start[model->instances->n];

	return p < pairs ? model->instances->type[p] : (uint32_t) (p - pairs);
}

/* A row for each pattern, which says how often it may be used; instances come pattern by pattern. */
static int
limit_of(IlpPrivacy *model, uint32_t f, int before)
{
	const KanonInstances *instances = model->instances;
	KanonPattern pattern =
		f < instances->n ? instances->pattern[f] : kanon_pattern_all(model->problem->ncolumns);

	if (f > 0 && f < instances->n && kanon_same(instances->pattern[f - 1], pattern))
		return before;
	return add_row(model, -INFINITY, kanon_mask_times(&model->problem->mask, pattern));
}

/* All classes but the rest. */
static bool
add_classes(IlpPrivacy *model)
{
	const KanonInstances *instances = model->instances;
	int limit = 0;

	for (uint32_t f = 0; f < instances->n && !model->memory.failed; f++)
	{
		size_t lo = instances->start[f];
		int u = add_class(model, instances->type + lo, (uint32_t) (instances->start[f + 1] - lo),
						  model->first_x + (int) lo, false);

		if (model->once)
		{
			limit = limit_of(model, f, limit);
			put(model, limit, u, 1);
		}
		if (kanon_step(model->pace, (int64_t) (instances->start[f + 1] - lo) * 16))
			model->cancelled = true;
		if (model->cancelled || model->nentries > ILP_PRIVACY_ENTRIES)
			return false;
	}
	return true;
}

void
ilp_privacy_build(IlpPrivacy *model)
{
	const KanonProblem *problem = model->problem;
	const KanonInstances *instances = model->instances;
	size_t pairs = instances->start[instances->n];
	int limit;
	bool whole = !whole_anyway(problem);

	for (uint32_t i = 0; i < problem->ntypes; i++)
		add_row(model, (double) problem->rows[i], (double) problem->rows[i]);
	model->first_x = (int) model->columns.n + 1;
	for (size_t p = 0; p < pairs + problem->ntypes; p++)
		add_column(model, (double) problem->rows[ilp_privacy_type(model, p)], whole);
	limit = add_row(model, -INFINITY, model->cutoff);
	for (uint32_t f = 0; f <= instances->n && !model->memory.failed; f++)
	{
		size_t end = f < instances->n ? instances->start[f + 1] : pairs + problem->ntypes;

		for (size_t p = instances->start[f]; p < end && !model->memory.failed; p++)
		{
			int column = model->first_x + (int) p;

			model->columns.v[column].cost = f < instances->n ? instances->cost[f] : instances->all_cost;
			put(model, (int) ilp_privacy_type(model, p) + 1, column, 1);
			if (model->cutoff < INFINITY)
				put(model, limit, column, model->columns.v[column].cost);
		}
	}
	if (!add_classes(model) || model->memory.failed)
		return;
	/* rows that are left out say nothing */
	if (problem->residual != KANON_RESIDUAL_DROP)
	{
		int u = add_class(model, model->all, problem->ntypes, model->first_x + (int) pairs,
						  problem->residual == KANON_RESIDUAL_SUPPRESS);

		if (model->once)
			put(model, limit_of(model, instances->n, 0), u, 1);
	}
}

#endif /* HAVE_GLPK */
