/*
 * ilp_privacy.c: the exact solver under privacy rules that are linear.
 *
 * As in ilp.h, u_f says whether instance f is a class and x_if how many rows of
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
 * Classes within a class that costs no more (KANON_INSTANCES_CLOSED) are left out
 * if two classes that keep the rules keep them as one, too.  Row types are not
 * merged and nothing is reduced: the model is for small tables.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ilp.h"

#ifdef HAVE_GLPK
#include <glpk.h>
#include <limits.h>
#include <setjmp.h>

/* Kinds of rules that are linear. */
#define TAKEN (1u << KANON_DISTINCT_L | 1u << KANON_ALPHA | 1u << KANON_SUBJECT)

/* Row types of all instances together, and entries of the matrix, at most. */
#define MAX_PAIRS ((size_t) 500 * 1000)
#define MAX_ENTRIES ((size_t) 20 * 1000 * 1000)

/* Milliseconds of simplex between two polls. */
#define SLICE 100

/* A row or column of the model. */
typedef struct Line
{
	int			type;			/* GLP_LO, … */
	double		low;
	double		high;
	double		cost;			/* of a column */
	bool		whole;
} Line;

typedef struct Lines
{
	Line	   *v;				/* from 1 on */
	size_t		n;
	size_t		room;
} Lines;

typedef struct Model
{
	jmp_buf		escape;
	const KanonProblem *problem;
	const KanonInstances *instances;
	KanonWatch *watch;
	KanonReport *report;
	bool		no_memory;		/* ours */
	Lines		rows;
	Lines		columns;
	int		   *entry_row;		/* from 1 on */
	int		   *entry_column;
	double	   *entry;
	size_t		nentries;
	size_t		entries_room;
	int			first_x;		/* column of the first pair; pairs as in instances, then the rest */

	/* members of an instance at hand, by what a rule tells apart */
	const uint32_t *types;
	int			x;				/* column of the first */
	uint32_t	n;
	uint32_t   *order;			/* [ntypes] places among the types */
	uint32_t   *scratch;
	uint32_t   *all;			/* [ntypes] every type */

	double		cutoff;			/* solutions above do not count */
	double	   *solution;		/* [pairs] of the best solution */
	bool		found;
	bool		complete;
	double		cost;
	double		bound;
	int64_t		nodes;
	char		text[120];		/* GLPK's last words */
	bool		spent;			/* they were about memory */
	bool		cancelled;
} Model;

/* ---- building ---- */

static int
add_line(Model *model, Lines *lines, int type, double low, double high)
{
	if (lines->n + 1 >= lines->room)
	{
		size_t		room = lines->room * 2 + 1024;
		Line	   *v = kanon_realloc(model->problem->env, lines->v, room, sizeof(Line));

		if (v == NULL)
		{
			model->no_memory = true;
			return 1;
		}
		lines->v = v;
		lines->room = room;
	}
	lines->v[++lines->n] = (Line) {type, low, high, 0, false};
	return (int) lines->n;
}

static int
add_row(Model *model, int type, double bound)
{
	return add_line(model, &model->rows, type, bound, bound);
}

static int
add_column(Model *model, double most, bool whole)
{
	int			column = add_line(model, &model->columns, GLP_DB, 0, most);

	if (!model->no_memory)
		model->columns.v[column].whole = whole;
	return column;
}

static void
put(Model *model, int row, int column, double value)
{
	if (model->nentries + 1 >= model->entries_room)
	{
		KanonEnv   *env = model->problem->env;
		size_t		room = model->entries_room * 2 + 4096;
		int		   *i = kanon_realloc(env, model->entry_row, room, sizeof(int));
		int		   *j;
		double	   *v;

		if (i != NULL)
			model->entry_row = i;
		j = kanon_realloc(env, model->entry_column, room, sizeof(int));
		if (j != NULL)
			model->entry_column = j;
		v = kanon_realloc(env, model->entry, room, sizeof(double));
		if (v != NULL)
			model->entry = v;
		if (i == NULL || j == NULL || v == NULL)
		{
			model->no_memory = true;
			return;
		}
		model->entries_room = room;
	}
	model->nentries++;
	model->entry_row[model->nentries] = row;
	model->entry_column[model->nentries] = column;
	model->entry[model->nentries] = value;
}

/* x_if <= n_i times the 0/1 column. */
static void
link_member(Model *model, uint32_t place, int column)
{
	int			row = add_row(model, GLP_UP, 0);

	put(model, row, model->x + (int) place, 1);
	put(model, row, column, -(double) model->problem->rows[model->types[place]]);
}

/* What a rule tells members apart by. */
typedef struct Sorting
{
	const Model *model;
	uint64_t	joined;
	int			column[2];		/* of problem->extra, or -1 */
} Sorting;

static int
compare_members(const void *a, const void *b, void *arg)
{
	const Sorting *sorting = arg;
	const KanonColumn *extra = sorting->model->problem->extra;
	uint32_t	left = sorting->model->types[*(const uint32_t *) a];
	uint32_t	right = sorting->model->types[*(const uint32_t *) b];

	for (uint64_t rest = sorting->joined; rest != 0; rest &= rest - 1)
	{
		const uint32_t *code = extra[__builtin_ctzll(rest)].code;

		if (code[left] != code[right])
			return code[left] < code[right] ? -1 : 1;
	}
	for (int i = 0; i < 2; i++)
		if (sorting->column[i] >= 0 && extra[sorting->column[i]].code[left] != extra[sorting->column[i]].code[right])
			return extra[sorting->column[i]].code[left] < extra[sorting->column[i]].code[right] ? -1 : 1;
	return 0;
}

/* The end of the members, in order, that agree with the one at `from` in what is given. */
static uint32_t
run_end(const Sorting *sorting, const uint32_t *order, uint32_t from, uint32_t end)
{
	Sorting		equal = *sorting;
	uint32_t	to = from + 1;

	while (to < end && compare_members(&order[from], &order[to], &equal) == 0)
		to++;
	return to;
}

/*
 * Counts what differs in a column among order[from .. to), which are sorted by it: a
 * column of at most 1 for each, no more than its rows; they go into `row`.
 */
static void
count_different(Model *model, int column, uint32_t from, uint32_t to, int row, double factor)
{
	Sorting		sorting = {model, 0, {column, -1}};

	for (uint32_t next; from < to; from = next)
	{
		int			there = add_column(model, 1, false);
		int			bound = add_row(model, GLP_UP, 0);

		next = run_end(&sorting, model->order, from, to);
		put(model, bound, there, 1);
		for (uint32_t j = from; j < next; j++)
			put(model, bound, model->x + (int) model->order[j], -1);
		put(model, row, there, factor);
	}
}

static void
sort_members(Model *model, uint64_t joined, int first, int second)
{
	Sorting		sorting = {model, joined, {first, second}};

	for (uint32_t j = 0; j < model->n; j++)
		model->order[j] = j;
	kanon_sort(model->order, model->scratch, model->n, sizeof(uint32_t), compare_members, &sorting);
}

static void
add_distinct(Model *model, const KanonPrivacyRule *rule, int u)
{
	Sorting		group = {model, rule->joined, {-1, -1}};

	sort_members(model, rule->joined, rule->column, -1);
	for (uint32_t from = 0, to; from < model->n; from = to)
	{
		int			enough = add_row(model, GLP_LO, 0);
		int			open = u;

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
add_subject(Model *model, const KanonPrivacyRule *rule, int u)
{
	int			enough = add_row(model, GLP_LO, 0);

	sort_members(model, 0, rule->column, -1);
	count_different(model, rule->column, 0, model->n, enough, 1);
	put(model, enough, u, -(double) model->problem->k);
}

/* The largest a/b up to share, of 1 <= b <= most. */
static void
fraction_below(double share, int64_t most, double *a, double *b)
{
	*a = floor(share * (1 + 1e-12));
	*b = 1;
	for (double d = 2; d <= (double) most && d <= 1e6; d++)
	{
		double		n = floor(share * (1 + 1e-12) * d);

		if (n * *b > *a * d)
		{
			*a = n;
			*b = d;
		}
	}
}

/* A column for each person of order[from .. to), as count_different has them; reorders these. */
static void
add_persons(Model *model, int person, uint32_t from, uint32_t to)
{
	Sorting		sorting = {model, 0, {person, -1}};

	kanon_sort(model->order + from, model->scratch, to - from, sizeof(uint32_t), compare_members, &sorting);
	for (uint32_t next; from < to; from = next)
	{
		int			there = add_column(model, 1, false);
		int			bound = add_row(model, GLP_UP, 0);

		next = run_end(&sorting, model->order, from, to);
		put(model, bound, there, 1);
		for (uint32_t j = from; j < next; j++)
			put(model, bound, model->x + (int) model->order[j], -1);
	}
}

/* Of one combination of joined values, order[from .. to): no value has more than a/b of the rows. */
static void
add_row_shares(Model *model, const KanonPrivacyRule *rule, uint32_t from, uint32_t to, double a, double b)
{
	const uint32_t *code = model->problem->extra[rule->column].code;
	Sorting		value = {model, 0, {rule->column, -1}};

	for (uint32_t at = from, next; at < to; at = next)
	{
		int			row;

		next = run_end(&value, model->order, at, to);
		if (rule->listed != NULL && !rule->listed[code[model->types[model->order[at]]]])
			continue;
		row = add_row(model, GLP_UP, 0);
		for (uint32_t j = from; j < to; j++)
			put(model, row, model->x + (int) model->order[j], j >= at && j < next ? b - a : -a);
	}
}

/* The same of persons. */
static void
add_person_shares(Model *model, const KanonPrivacyRule *rule, int person, uint32_t from, uint32_t to, double a,
				  double b)
{
	const uint32_t *code = model->problem->extra[rule->column].code;
	Sorting		value = {model, 0, {rule->column, -1}};
	Sorting		both = {model, 0, {rule->column, person}};
	int			first = (int) model->columns.n + 1;
	int			end;

	add_persons(model, person, from, to);
	end = (int) model->columns.n + 1;
	kanon_sort(model->order + from, model->scratch, to - from, sizeof(uint32_t), compare_members, &both);
	for (uint32_t at = from, next; at < to; at = next)
	{
		int			row;

		next = run_end(&value, model->order, at, to);
		if (rule->listed != NULL && !rule->listed[code[model->types[model->order[at]]]])
			continue;
		row = add_row(model, GLP_UP, 0);
		for (int z = first; z < end; z++)
			put(model, row, z, -a);
		for (uint32_t j = at, same; j < next; j = same)
		{
			int			has = add_column(model, 1, true);

			same = run_end(&both, model->order, j, next);
			put(model, row, has, b);
			for (uint32_t i = j; i < same; i++)
				link_member(model, model->order[i], has);
		}
	}
}

static void
add_alpha(Model *model, const KanonPrivacyRule *rule, int person)
{
	Sorting		group = {model, rule->joined, {-1, -1}};
	int64_t		rows = 0;
	double		a;
	double		b;

	for (uint32_t j = 0; j < model->n; j++)
		rows += model->problem->rows[model->types[j]];
	fraction_below(rule->share, rows, &a, &b);
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
 * as what is left over; then there need not be k.
 */
static void
add_class(Model *model, const uint32_t *types, uint32_t n, int x, bool few)
{
	const KanonPrivacyRule *rules;
	KanonPrivacy *privacy = model->problem->privacy;
	int			nrules = kanon_privacy_rules(privacy, &rules);
	int			u = add_column(model, 1, true);

	model->types = types;
	model->n = n;
	model->x = x;
	for (uint32_t j = 0; j < n; j++)
		link_member(model, j, u);
	if (!few)
	{
		int			enough = add_row(model, GLP_LO, 0);

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
}

/* Does x come out whole by itself? */
static bool
whole_anyway(const KanonProblem *problem)
{
	const KanonPrivacyRule *rules;

	return kanon_privacy_rules(problem->privacy, &rules) == 1 && rules[0].kind == KANON_DISTINCT_L
		&& rules[0].joined == 0;
}

/* Pair p's row type; the last ntypes pairs are what is fully suppressed. */
static uint32_t
pair_type(const Model *model, size_t p)
{
	size_t		pairs = model->instances->start[model->instances->n];

	return p < pairs ? model->instances->type[p] : (uint32_t) (p - pairs);
}

static void
build(Model *model)
{
	const KanonProblem *problem = model->problem;
	const KanonInstances *instances = model->instances;
	size_t		pairs = instances->start[instances->n];
	int			limit;
	bool		whole = !whole_anyway(problem);

	for (uint32_t i = 0; i < problem->ntypes; i++)
		add_row(model, GLP_FX, (double) problem->rows[i]);
	model->first_x = (int) model->columns.n + 1;
	for (size_t p = 0; p < pairs + problem->ntypes; p++)
		add_column(model, (double) problem->rows[pair_type(model, p)], whole);
	limit = add_row(model, GLP_UP, model->cutoff);
	for (uint32_t f = 0; f <= instances->n && !model->no_memory; f++)
	{
		size_t		end = f < instances->n ? instances->start[f + 1] : pairs + problem->ntypes;

		for (size_t p = instances->start[f]; p < end && !model->no_memory; p++)
		{
			int			column = model->first_x + (int) p;

			model->columns.v[column].cost = f < instances->n ? instances->cost[f] : instances->all_cost;
			put(model, (int) pair_type(model, p) + 1, column, 1);
			if (model->cutoff < INFINITY)
				put(model, limit, column, model->columns.v[column].cost);
		}
	}
	if (model->cutoff == INFINITY && !model->no_memory)
		model->rows.v[limit].type = GLP_FR;
	for (uint32_t f = 0; f < instances->n && !model->no_memory; f++)
	{
		size_t		lo = instances->start[f];

		add_class(model, instances->type + lo, (uint32_t) (instances->start[f + 1] - lo),
				  model->first_x + (int) lo, false);
		if (kanon_watch(model->watch, (int64_t) (instances->start[f + 1] - lo) * 16))
			model->cancelled = true;
		if (model->cancelled || model->nentries > MAX_ENTRIES)
			return;
	}
	/* rows that are left out say nothing */
	if (problem->residual != KANON_RESIDUAL_DROP && !model->no_memory)
		add_class(model, model->all, problem->ntypes, model->first_x + (int) pairs,
				  problem->residual == KANON_RESIDUAL_SUPPRESS);
}

/* ---- GLPK ---- */

/* All that GLPK says comes here: nothing is printed, and cancel is looked for. */
static int
on_text(void *info, const char *text)
{
	Model	   *model = info;

	if (strstr(text, "memory") != NULL)
		model->spent = true;
	if (text[0] != '\n' && text[0] != '\0')
		snprintf(model->text, sizeof(model->text), "%.*s", (int) strcspn(text, "\n"), text);
	if (kanon_watch_poll(model->watch))
	{
		model->cancelled = true;
		longjmp(model->escape, 1);
	}
	return 1;
}

static void
on_error(void *info)
{
	longjmp(((Model *) info)->escape, 1);
}

static void
load(const Model *model, glp_prob *lp)
{
	glp_set_obj_dir(lp, GLP_MIN);
	glp_add_rows(lp, (int) model->rows.n);
	glp_add_cols(lp, (int) model->columns.n);
	for (int i = 1; i <= (int) model->rows.n; i++)
		glp_set_row_bnds(lp, i, model->rows.v[i].type, model->rows.v[i].low, model->rows.v[i].high);
	for (int j = 1; j <= (int) model->columns.n; j++)
	{
		const Line *column = &model->columns.v[j];

		glp_set_col_bnds(lp, j, GLP_DB, 0, column->high);
		glp_set_obj_coef(lp, j, column->cost);
		glp_set_col_kind(lp, j, column->whole ? GLP_IV : GLP_CV);
	}
	glp_load_matrix(lp, (int) model->nentries, model->entry_row, model->entry_column, model->entry);
}

static void
on_tree(glp_tree *tree, void *info)
{
	Model	   *model = info;
	int			node = glp_ios_best_node(tree);
	int			total;

	glp_ios_tree_size(tree, NULL, NULL, &total);
	model->nodes = total;
	if (node != 0)
		model->bound = fmax(model->bound, glp_ios_node_bound(tree, node));
	if (kanon_watch(model->watch, KANON_WATCH_STEPS / 8))
		model->cancelled = true;
	if (model->cancelled || model->watch->late)
		glp_ios_terminate(tree);
}

/* What runs inside the frame of the jump: calls to GLPK only. */
static KanonStatus
run_glpk(Model *model)
{
	size_t		npairs = model->instances->start[model->instances->n] + model->problem->ntypes;
	glp_prob   *lp = glp_create_prob();
	glp_smcp	simplex;
	glp_iocp	parm;
	int			rc;

	load(model, lp);
	glp_init_smcp(&simplex);
	simplex.meth = GLP_DUALP;
	simplex.tm_lim = SLICE;
	simplex.out_frq = 500;
	do
	{
		rc = glp_simplex(lp, &simplex);
		if (kanon_watch_poll(model->watch))
			return KANON_CANCELLED;
		if (model->watch->late)
			return KANON_OK;
	} while (rc == GLP_ETMLIM);
	if (rc == 0 && glp_get_status(lp) == GLP_NOFEAS)
	{
		model->complete = true;
		return KANON_OK;
	}
	if (rc != 0 || glp_get_status(lp) != GLP_OPT)
	{
		snprintf(model->text, sizeof(model->text), "simplex ended with code %d, status %d", rc, glp_get_status(lp));
		return KANON_BROKEN;
	}
	model->bound = glp_get_obj_val(lp);
	glp_init_iocp(&parm);
	parm.out_frq = 500;
	parm.out_dly = 0;
	parm.br_tech = GLP_BR_PCH;
	parm.bt_tech = GLP_BT_BLB;
	parm.gmi_cuts = GLP_ON;
	parm.mir_cuts = GLP_ON;
	parm.mip_gap = model->problem->gap;
	parm.cb_func = on_tree;
	parm.cb_info = model;
	if (model->watch->deadline < INFINITY)
	{
		double		left = model->watch->deadline - model->watch->env->now(model->watch->env->arg);

		parm.tm_lim = left * 1000 < 1 ? 1 : left * 1000 < INT_MAX ? (int) (left * 1000) : INT_MAX;
	}
	rc = glp_intopt(lp, &parm);
	if (model->cancelled)
		return KANON_CANCELLED;
	if (rc != 0 && rc != GLP_ESTOP && rc != GLP_ETMLIM && rc != GLP_EMIPGAP)
	{
		snprintf(model->text, sizeof(model->text), "branch and cut ended with code %d", rc);
		return KANON_BROKEN;
	}
	model->complete = rc == 0;
	model->found = glp_mip_status(lp) == GLP_OPT || glp_mip_status(lp) == GLP_FEAS;
	for (size_t p = 0; p < npairs && model->found; p++)
		model->solution[p] = rint(glp_mip_col_val(lp, model->first_x + (int) p));
	return KANON_OK;
}

/* The frame that fatal errors return to; nothing in it changes after setjmp. */
static KanonStatus
guarded(Model *model)
{
	KanonStatus status;

	if (setjmp(model->escape) == 0)
	{
		if (glp_init_env() == 2)
			return KANON_NO_MEMORY;
		glp_term_out(GLP_ON);
		glp_term_hook(on_text, model);
		glp_error_hook(on_error, model);
		if (model->watch->env->foreign > 0)
		{
			size_t		megabytes = model->watch->env->foreign >> 20;

			glp_mem_limit(megabytes < 1 ? 1 : megabytes < INT_MAX ? (int) megabytes : INT_MAX);
		}
		status = run_glpk(model);
	}
	else if (model->cancelled)
		status = KANON_CANCELLED;
	else if (model->spent)
	{
		model->watch->env->refused = model->watch->env->foreign;
		status = KANON_NO_MEMORY;
	}
	else
		status = KANON_BROKEN;
	glp_free_env();
	return status;
}

/* ---- the release ---- */

/* The fully suppressed rows: a class if they may be one, or left out. */
static bool
rest_is_class(Model *model, const int64_t *counts, int64_t rows)
{
	const KanonProblem *problem = model->problem;

	return problem->residual != KANON_RESIDUAL_DROP
		|| kanon_class_allowed(problem, model->all, counts, problem->ntypes, rows);
}

static KanonStatus
make_release(Model *model, KanonRelease *release)
{
	const KanonProblem *problem = model->problem;
	const KanonInstances *instances = model->instances;
	KanonEnv   *env = problem->env;
	size_t		pairs = instances->start[instances->n];
	size_t		width = (size_t) problem->ncolumns;
	int64_t    *counts = kanon_alloc0(env, problem->ntypes, sizeof(int64_t));
	int64_t		rest = 0;
	uint32_t	f = 0;
	bool		suppressed;

	memset(release, 0, sizeof(*release));
	release->classes = kanon_alloc0(env, (size_t) instances->n + 1, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, (size_t) instances->n + 1, width * sizeof(KanonCell));
	release->flows = kanon_alloc(env, pairs + problem->ntypes, sizeof(KanonFlow));
	if (counts == NULL || release->classes == NULL || release->cells == NULL || release->flows == NULL)
	{
		kanon_free(env, counts);
		return KANON_NO_MEMORY;
	}
	release->nclasses = instances->n + 1;
	release->nflows = pairs + problem->ntypes;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rest += counts[i] = (int64_t) model->solution[pairs + i];
	suppressed = rest_is_class(model, counts, rest);
	kanon_free(env, counts);
	for (size_t p = 0; p < pairs + problem->ntypes; p++)
	{
		while (f < instances->n && p >= instances->start[f + 1])
			f++;
		release->flows[p] = (KanonFlow) {
			pair_type(model, p), f == instances->n && !suppressed ? KANON_DROPPED : f, (int64_t) model->solution[p]
		};
	}
	for (f = 0; f <= instances->n; f++)
	{
		KanonPattern pattern = f < instances->n ? instances->pattern[f] : kanon_pattern_all(problem->ncolumns);

		release->classes[f].pattern = pattern;
		for (int c = 0; c < problem->ncolumns; c++)
			if ((pattern & KANON_BIT(c)) == 0)
				release->cells[f * width + (size_t) c] = (KanonCell) {
					KANON_SHOW_VALUE, problem->columns[c].code[instances->type[instances->start[f]]] & 0x1fffffff
				};
	}
	return KANON_OK;
}

static void
free_model(Model *model)
{
	KanonEnv   *env = model->problem->env;

	kanon_free(env, model->rows.v);
	kanon_free(env, model->columns.v);
	kanon_free(env, model->entry_row);
	kanon_free(env, model->entry_column);
	kanon_free(env, model->entry);
	kanon_free(env, model->order);
	kanon_free(env, model->scratch);
	kanon_free(env, model->all);
	kanon_free(env, model->solution);
}

/* Solves for what costs less than *result, which takes its place; *bound is proven. */
static KanonStatus
solve_model(const KanonProblem *problem, const KanonInstances *instances, KanonWatch *watch,
			KanonReport *report, IlpResult *result, double *bound, int64_t *nodes)
{
	KanonEnv   *env = problem->env;
	size_t		npairs = instances->start[instances->n] + problem->ntypes;
	Model		model = {
		.problem = problem,
		.instances = instances,
		.watch = watch,
		.report = report,
		.bound = -INFINITY,
		.cutoff = instances->integral ? result->cost - 1 : result->cost - 1e-9 * fmax(1, fabs(result->cost))
	};
	KanonStatus status = KANON_OK;

	if (result->cost == INFINITY)
		model.cutoff = INFINITY;
	model.order = kanon_alloc(env, problem->ntypes, sizeof(uint32_t));
	model.scratch = kanon_alloc(env, problem->ntypes, sizeof(uint32_t));
	model.all = kanon_alloc(env, problem->ntypes, sizeof(uint32_t));
	model.solution = kanon_alloc(env, npairs, sizeof(double));
	if (model.order == NULL || model.scratch == NULL || model.all == NULL || model.solution == NULL)
		status = KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		model.all[i] = i;
	if (status == KANON_OK)
	{
		build(&model);
		status = model.no_memory ? KANON_NO_MEMORY : model.cancelled ? KANON_CANCELLED : KANON_OK;
	}
	if (status == KANON_OK && model.nentries > MAX_ENTRIES)
	{
		snprintf(report->detail, sizeof(report->detail), "the model has more than %zu entries", MAX_ENTRIES);
		status = KANON_TOO_LARGE;
	}
	if (status == KANON_OK && !watch->late)
	{
		status = guarded(&model);
		if (status == KANON_BROKEN)
			snprintf(report->detail, sizeof(report->detail), "GLPK: %s", model.text);
	}
	*nodes = model.nodes;
	*bound = instances->integral ? ceil(model.bound - 1e-4) : model.bound;
	if (status == KANON_OK && model.complete && !model.found)
		*bound = result->cost;
	if (status == KANON_OK && model.found)
	{
		kanon_release_free(problem, &result->release);
		status = make_release(&model, &result->release);
		result->cost = 0;
		for (size_t p = 0; p < npairs; p++)
			result->cost += model.solution[p] * model.columns.v[model.first_x + (int) p].cost;
		if (model.complete)
			*bound = result->cost;
		*bound = fmin(*bound, result->cost);
	}
	free_model(&model);
	return status;
}

KanonStatus
ilp_solve_privacy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv   *env = problem->env;
	KanonInstances instances = {0};
	IlpResult	result = {0};
	KanonWatch	watch;
	double		bound = -INFINITY;
	int64_t		nodes = 0;
	KanonStatus status;

	if ((kanon_privacy_kinds(problem->privacy) & ~TAKEN) != 0)
	{
		snprintf(report->detail, sizeof(report->detail), "it takes k, persons, distinct l and alpha");
		return KANON_UNSUPPORTED;
	}
	kanon_watch_init(&watch, problem, "greedy");
	kanon_instances_grid(problem, &instances);
	status = ilp_greedy(problem, &instances, &result, report);
	watch.phase = "instances";
	if (status == KANON_OK)
		status = kanon_instances_build(problem, kanon_privacy_monotone(problem->privacy)
									   ? KANON_INSTANCES_CLOSED : KANON_INSTANCES_ALL,
									   INFINITY, MAX_PAIRS, &watch, &instances, report);
	if (status == KANON_TOO_LARGE)
		snprintf(report->detail, sizeof(report->detail),
				 "the model has more than %zu variables, or the mask too many patterns", MAX_PAIRS);
	watch.phase = "solve";
	if (status == KANON_OK)
		status = solve_model(problem, &instances, &watch, report, &result, &bound, &nodes);
	if (status == KANON_OK && result.cost == INFINITY)
	{
		snprintf(report->detail, sizeof(report->detail), "the privacy rules cannot be kept by all rows");
		status = bound == INFINITY ? KANON_INFEASIBLE : KANON_NOT_FOUND;
	}
	if (status == KANON_OK)
		status = ilp_conclude(problem, &instances, &result, bound, release, report);
	report->nodes = nodes;
	kanon_release_free(problem, &result.release);
	kanon_instances_free(env, &instances);
	return status;
}

#else							/* HAVE_GLPK */

KanonStatus
ilp_solve_privacy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	(void) problem;
	(void) release;
	snprintf(report->detail, sizeof(report->detail), "built without GLPK");
	return KANON_UNAVAILABLE;
}

#endif							/* HAVE_GLPK */
