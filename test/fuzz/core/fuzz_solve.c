/*
 * fuzz_solve.c: a libFuzzer target: bytes become a small problem, every method that takes
 * it solves it, and what comes out is counted again here, without the core's own checks.
 *
 * Also: methods that prove something must agree, no bound is above what another found,
 * and with an allocation refused or a poll answered nothing is left behind.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "cluster/clustering.h"
#include "freeform/freeform_work.h"
#include "lattice/full_domain.h"

#define MAX_ROWS 20
#define MAX_QIS 4

typedef struct Case
{
	Fuzz in;
	Host host;
	KanonProblem *problem;
	int nqis;
	int levels[MAX_QIS];
	KanonPattern list[4];
	KanonRule rules[2];
	KanonPrivacyRule privacy[2];
	int nprivacy;
	KanonClusterShow show[MAX_QIS];
	KanonFullDomainOptions full_domain;
	KanonFreeformOptions freeform;
	struct KanonClusterOptions cluster;
} Case;

/* ---- the problem ---- */

static void
make_table(Case *c)
{
	size_t nrows = 1 + fuzz_below(&c->in, MAX_ROWS);
	int ncolumns = 0;
	int nextra = (int) fuzz_below(&c->in, 3);
	uint32_t values[MAX_QIS + 2];
	int level[KANON_MAX_COLUMNS] = {0};
	uint32_t *code;

	c->nqis = 1 + (int) fuzz_below(&c->in, MAX_QIS);
	for (int q = 0; q < c->nqis; q++)
	{
		c->levels[q] = (int) fuzz_below(&c->in, 3);
		values[q] = 1 + fuzz_below(&c->in, 5);
		for (int l = 0; l <= c->levels[q]; l++)
			level[ncolumns++] = l;
	}
	code = malloc(nrows * (size_t) (ncolumns + nextra) * sizeof(uint32_t));
	for (size_t i = 0; i < nrows; i++)
	{
		uint32_t *row = code + i * (size_t) (ncolumns + nextra);
		int at = 0;

		for (int q = 0; q < c->nqis; q++)
		{
			uint32_t value = fuzz_below(&c->in, values[q]);

			for (int l = 0; l <= c->levels[q]; l++)
				row[at++] = value >> l;
		}
		for (int e = 0; e < nextra; e++)
			row[at++] = fuzz_below(&c->in, e == 0 ? 3 : 8);
	}
	c->problem =
		problem_from_codes(&c->host, code, nrows, ncolumns + nextra, 1 + (int64_t) fuzz_below(&c->in, 5));
	free(code);
	/* what rules look at stands behind */
	c->problem->ncolumns = ncolumns;
	c->problem->nextra = nextra;
	c->problem->extra = c->problem->columns + ncolumns;
	for (int e = 0; e < nextra; e++)
		dense((KanonColumn *) &c->problem->extra[e], c->problem->ntypes);
	for (int i = 0; i < ncolumns; i++)
		((KanonColumn *) c->problem->columns)[i].level = level[i];
}

/* Codes without gaps, in the same order. */
void
dense(KanonColumn *column, uint32_t ntypes)
{
	uint32_t *code = (uint32_t *) column->code;
	uint32_t rank[256] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < ntypes; i++)
		rank[code[i]] = 1;
	for (uint32_t v = 0; v < 256; v++)
		rank[v] = rank[v] ? n++ : 0;
	for (uint32_t i = 0; i < ntypes; i++)
		code[i] = rank[code[i]];
	column->distinct = n;
	column->weight = 0;
}

static void
make_options(Case *c)
{
	static const double weights[] = {1, 1, 1, 2, 0.5, 3, 0, 1e-9, 1e6, 0.1, 1.0 / 3, 5e-324};
	static const double numbers[] = {0, 1, 2, 3.5, -1, 1e308, -1e308, 5e-324, INFINITY, -INFINITY};
	static const double gaps[] = {0, 0, 0, 0.01, 0.5, 1e300};
	KanonProblem *problem = c->problem;
	KanonColumn *columns = (KanonColumn *) problem->columns;
	bool weighed = fuzz_below(&c->in, 2);
	bool many = fuzz_below(&c->in, 8) == 0;

	for (int i = 0; i < problem->ncolumns; i++)
	{
		if (weighed)
			columns[i].weight = weights[fuzz_below(&c->in, 12)];
		columns[i].has_null = fuzz_below(&c->in, 4) == 0;
		if (columns[i].level == 0 && fuzz_below(&c->in, 3) == 0)
		{
			double *number = malloc((columns[i].distinct + 1) * sizeof(double));

			for (uint32_t v = 0; v < columns[i].distinct; v++)
				number[v] = numbers[fuzz_below(&c->in, 10)];
			qsort(number, columns[i].distinct, sizeof(double), fuzz_ascending);
			if (columns[i].has_null)
				number[columns[i].distinct - 1] = NAN;
			columns[i].number = number;
		}
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
		if (many)
			((int64_t *) problem->rows)[t] += INT64_C(1) << fuzz_below(&c->in, 40);
	problem->residual = (KanonResidual) fuzz_below(&c->in, 3);
	problem->gap = gaps[fuzz_below(&c->in, 6)];
	problem->seed = fuzz_below(&c->in, 4);
	problem->effort = fuzz_below(&c->in, 2) ? 0.02 : 0.1;
	problem->time_limit = fuzz_below(&c->in, 4) == 0 ? 0.005 : 0.1;
	problem->mask.order = (KanonOrder) fuzz_below(&c->in, 3);
	if (fuzz_below(&c->in, 3) == 0)
	{
		problem->mask.list = c->list;
		problem->mask.nlist = 1 + fuzz_below(&c->in, 4);
		for (size_t i = 0; i < problem->mask.nlist; i++)
			c->list[i] =
				kanon_both(KANON_BITS(fuzz_below(&c->in, 256)), kanon_pattern_all(problem->ncolumns));
		return;
	}
	if (fuzz_below(&c->in, 3) == 0)
		problem->mask.max_suppressed = (int) fuzz_below(&c->in, 4);
	if (fuzz_below(&c->in, 4) == 0)
		problem->mask.max_cost = fuzz_below(&c->in, 4);
	if (fuzz_below(&c->in, 4) == 0)
		kanon_add(&problem->mask.never, (int) fuzz_below(&c->in, (uint32_t) problem->ncolumns));
}

static void
make_rules(Case *c)
{
	KanonProblem *problem = c->problem;

	c->nprivacy = problem->nextra > 0 ? (int) fuzz_below(&c->in, 3) : 0;
	for (int r = 0; r < c->nprivacy; r++)
	{
		KanonPrivacyRule *rule = &c->privacy[r];

		rule->kind = (KanonPrivacyKind) fuzz_below(&c->in, KANON_PRIVACY_KINDS);
		rule->column = (int) fuzz_below(&c->in, (uint32_t) problem->nextra);
		/* persons are the last column, and nothing else */
		if (rule->kind == KANON_SUBJECT)
			rule->column = problem->nextra - 1;
		rule->l = 2 + fuzz_below(&c->in, 2);
		rule->c = (1 + fuzz_below(&c->in, 6)) / 2.0;
		rule->share = (1 + fuzz_below(&c->in, 12)) / 12.0;
		rule->distance = (KanonDistance) fuzz_below(&c->in, 2);
	}
	if (c->nprivacy > 0 &&
		kanon_privacy_open(problem, c->privacy, c->nprivacy, &problem->privacy) != KANON_OK)
		fuzz_fail("rules cannot be opened");
}

/* ---- counted again ---- */

/* Does a class show something that a row type has? */
static bool
shows(const Case *c, const KanonRelease *release, uint32_t class_, uint32_t type)
{
	const KanonProblem *problem = c->problem;

	for (int i = 0; i < problem->ncolumns; i++)
	{
		KanonCell cell = release->cells[(size_t) class_ * (size_t) problem->ncolumns + (size_t) i];
		uint32_t code = problem->columns[i].code[type];
		bool in = false;

		switch ((KanonShow) cell.show)
		{
			case KANON_SHOW_NOTHING:
				in = true;
				break;
			case KANON_SHOW_VALUE:
				in = cell.code == code;
				break;
			case KANON_SHOW_RANGE:
				in = release->pool[cell.code] <= code && code <= release->pool[cell.code + 1];
				break;
			case KANON_SHOW_SET:
				for (uint32_t s = 0; s < release->pool[cell.code]; s++)
					in = in || release->pool[cell.code + 1 + s] == code;
				break;
		}
		if (!in)
			return false;
	}
	return true;
}

static bool
shows_nothing(const Case *c, const KanonRelease *release, uint32_t class_)
{
	for (int i = 0; i < c->problem->ncolumns; i++)
		if (release->cells[(size_t) class_ * (size_t) c->problem->ncolumns + (size_t) i].show !=
			KANON_SHOW_NOTHING)
			return false;
	return true;
}

static bool
same_class(const Case *c, const KanonRelease *release, uint32_t a, uint32_t b)
{
	size_t n = (size_t) c->problem->ncolumns;

	for (size_t i = 0; i < n; i++)
	{
		KanonCell left = release->cells[a * n + i], right = release->cells[b * n + i];

		if (left.show != right.show || left.show == KANON_SHOW_RANGE || left.show == KANON_SHOW_SET ||
			(left.show == KANON_SHOW_VALUE && left.code != right.code))
			return false;
	}
	return true;
}

static bool
in_list(const Case *c, KanonPattern pattern)
{
	const KanonMask *mask = &c->problem->mask;

	if (mask->list == NULL || kanon_same(pattern, kanon_pattern_all(c->problem->ncolumns)))
		return true;
	for (size_t i = 0; i < mask->nlist; i++)
		if (kanon_same(mask->list[i], pattern))
			return true;
	return false;
}

/* One rule for the rows of a class. */
static bool
rule_holds(const Case *c, const KanonPrivacyRule *rule, int person, const int64_t *rows)
{
	const KanonProblem *problem = c->problem;
	const uint32_t *value = problem->extra[rule->column].code;
	uint32_t distinct = problem->extra[rule->column].distinct;
	double count[256] = {0}, table[256] = {0};
	bool had[256][256] = {{false}};
	double sum = 0, all = 0, most = 0, size = 0, carried = 0, distance = 0, entropy = 0;
	int n = 0;

	for (uint32_t t = 0; t < problem->ntypes; t++)
	{
		table[value[t]] += (double) problem->rows[t];
		all += (double) problem->rows[t];
		if (rows[t] == 0)
			continue;
		if (person < 0)
			count[value[t]] += (double) rows[t];
		else
		{
			uint32_t who = problem->extra[person].code[t];

			count[value[t]] += !had[value[t]][who];
			size += !had[255][who];
			had[value[t]][who] = had[255][who] = true;
		}
	}
	for (uint32_t v = 0; v < distinct; v++)
	{
		sum += count[v];
		most = fmax(most, count[v]);
		n += count[v] > 0;
	}
	if (person < 0)
		size = sum;
	switch (rule->kind)
	{
		case KANON_DISTINCT_L:
			return n >= rule->l;
		case KANON_ENTROPY_L:
			for (uint32_t v = 0; v < distinct; v++)
				entropy -= count[v] > 0 ? count[v] / sum * log(count[v] / sum) : 0;
			return entropy >= log(rule->l) - 1e-9;
		case KANON_RECURSIVE_CL:
			qsort(count, distinct, sizeof(double), fuzz_ascending);
			for (uint32_t v = 0; v + (uint32_t) rule->l - 1 < distinct; v++)
				carried += count[v];
			return carried > 0 && most < rule->c * carried + 1e-9 * sum;
		case KANON_ALPHA:
			return most <= rule->share * size * (1 + 1e-9);
		case KANON_T_CLOSENESS:
			if (person >= 0)
				return true;
			for (uint32_t v = 0; v < distinct; v++)
			{
				double off = count[v] / sum - table[v] / all;

				carried += off;
				distance += fabs(rule->distance == KANON_DISTANCE_ORDERED ? carried : off);
			}
			if (rule->distance == KANON_DISTANCE_ORDERED)
				distance = distinct > 1 ? distance / (distinct - 1) : 0;
			else
				distance /= 2;
			return distance <= rule->share + 1e-9;
		case KANON_SUBJECT:
			return true;
	}
	return true;
}

static int64_t
persons(const Case *c, int person, const int64_t *rows)
{
	bool had[256] = {false};
	int64_t n = 0;

	for (uint32_t t = 0; t < c->problem->ntypes; t++)
		if (rows[t] > 0 && !had[c->problem->extra[person].code[t]])
		{
			had[c->problem->extra[person].code[t]] = true;
			n++;
		}
	return n;
}

typedef struct Promise
{
	bool classes;  /* of k rows each */
	bool patterns; /* the mask's, and the cost is theirs */
	bool limited;  /* each listed pattern for one class; no row is left over */
	bool dropping; /* rows may be left out whatever residual says */
} Promise;

static void
count_again(const Case *c, const char *name, const KanonRelease *release, const KanonReport *report,
			Promise promise)
{
	const KanonProblem *problem = c->problem;
	int person = -1;
	double cost = 0;
	int64_t dropped = 0, *placed = calloc(problem->ntypes, sizeof(int64_t));
	int64_t *rows = calloc(problem->ntypes, sizeof(int64_t));

	for (int r = 0; r < c->nprivacy; r++)
		if (c->privacy[r].kind == KANON_SUBJECT)
			person = c->privacy[r].column;
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];

		if (flow->type >= problem->ntypes || flow->rows <= 0 ||
			(flow->class_ != KANON_DROPPED && flow->class_ >= release->nclasses))
			fuzz_fail("%s: a flow of nothing", name);
		placed[flow->type] += flow->rows;
		if (flow->class_ == KANON_DROPPED)
			dropped += flow->rows;
		else if (!shows(c, release, flow->class_, flow->type))
			fuzz_fail("%s: a row that its class does not show", name);
		else
			for (int i = 0; i < problem->ncolumns; i++)
				cost += kanon_has(release->classes[flow->class_].pattern, i)
							? (double) flow->rows * problem->columns[i].weight
							: 0;
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
	{
		if (placed[t] != problem->rows[t])
			fuzz_fail("%s: rows are lost", name);
	}
	if (dropped != release->dropped)
		fuzz_fail("%s: %lld rows dropped, said %lld", name, (long long) dropped,
				  (long long) release->dropped);
	if (dropped > 0 && (promise.limited || (problem->residual != KANON_RESIDUAL_DROP && !promise.dropping)))
		fuzz_fail("%s: rows dropped that may not be", name);
	if (dropped >= problem->k && !promise.dropping && problem->residual == KANON_RESIDUAL_DROP &&
		problem->privacy == NULL)
		fuzz_fail("%s: k rows dropped", name);
	for (uint32_t j = 0; j < release->nclasses && promise.classes; j++)
	{
		int64_t size = 0;
		bool exempt =
			shows_nothing(c, release, j) && problem->residual == KANON_RESIDUAL_SUPPRESS && !promise.limited;

		memset(rows, 0, problem->ntypes * sizeof(int64_t));
		for (size_t f = 0; f < release->nflows; f++)
			if (release->flows[f].class_ == j)
			{
				rows[release->flows[f].type] += release->flows[f].rows;
				size += release->flows[f].rows;
			}
		if (size != release->classes[j].rows || size == 0)
			fuzz_fail("%s: a class of %lld rows, said %lld", name, (long long) size,
					  (long long) release->classes[j].rows);
		if (size < problem->k && !exempt)
			fuzz_fail("%s: a class of %lld rows, k = %lld", name, (long long) size, (long long) problem->k);
		if (person >= 0 && persons(c, person, rows) < problem->k && !exempt)
			fuzz_fail("%s: a class of too few persons", name);
		for (int r = 0; r < c->nprivacy; r++)
			if (!rule_holds(c, &c->privacy[r], person, rows))
				fuzz_fail("%s: a class breaks rule %d of kind %d", name, r, (int) c->privacy[r].kind);
		if (promise.patterns && !in_list(c, release->classes[j].pattern))
			fuzz_fail("%s: a pattern that is not listed", name);
		if (promise.patterns && kanon_meet(release->classes[j].pattern, problem->mask.never) &&
			!kanon_same(release->classes[j].pattern, kanon_pattern_all(problem->ncolumns)))
			fuzz_fail("%s: a column suppressed that never may be", name);
		for (uint32_t other = 0; other < j && !promise.limited; other++)
			if (same_class(c, release, j, other))
				fuzz_fail("%s: two classes that look alike", name);
	}
	if (promise.patterns && fabs(cost - report->cost) > 1e-9 * fmax(1, fabs(cost)))
		fuzz_fail("%s: the cost is %.17g, said %.17g", name, cost, report->cost);
	if (report->lower_bound > report->cost + 1e-6 * fmax(1e-9, fabs(report->cost)))
		fuzz_fail("%s: the bound %.17g is above the cost %.17g", name, report->lower_bound, report->cost);
	free(placed);
	free(rows);
}

/* A freeform release: k rows to each record, k records to each row, counted in its graph. */
static void
count_graph(const Case *c, const KanonRelease *release)
{
	const KanonProblem *problem = c->problem;
	int64_t *shown = calloc(problem->ntypes, sizeof(int64_t));
	KanonFreeformMethod method = problem->freeform->method;

	for (uint32_t j = 0; j < release->nclasses; j++)
	{
		int64_t n = (int64_t) (release->graph_start[j + 1] - release->graph_start[j]);

		if (kanon_freeform_promises_records(method) && n < problem->k * release->classes[j].rows)
			fuzz_fail("freeform %d: a record shows too few rows", (int) method);
		for (size_t g = release->graph_start[j]; g < release->graph_start[j + 1]; g++)
		{
			if (!shows(c, release, j, release->graph[g]))
				fuzz_fail("freeform %d: a match that is none", (int) method);
			shown[release->graph[g]]++;
		}
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
		if (kanon_freeform_promises_rows(method) && shown[t] < problem->k * problem->rows[t])
			fuzz_fail("freeform %d: a row is shown too seldom", (int) method);
	free(shown);
}

/* ---- methods ---- */

/* Runs a method; false where it had no release.  What it leaves is freed by release_free. */
static bool
solved(Case *c, const char *name, KanonSolve solve, Promise promise, KanonRelease *release,
	   KanonReport *report, KanonStatus *status)
{
	memset(release, 0, sizeof(*release));
	*status = solve(c->problem, release, report);
	if (*status == KANON_BROKEN)
		fuzz_fail("%s: %s", name, report->detail);
	if (*status != KANON_OK)
		return false;
	count_again(c, name, release, report, promise);
	return true;
}

static unsigned
rule_bits(const Case *c)
{
	unsigned bits = 0;

	for (int r = 0; r < c->nprivacy; r++)
		bits |= 1u << c->privacy[r].kind;
	return bits;
}

/* What several methods say of one least cost. */
typedef struct Least
{
	double found; /* the least of all */
	double bound; /* the greatest of all */
	bool impossible;
} Least;

static void
pattern_guided(Case *c)
{
	Least least = {INFINITY, -INFINITY, false};
	uint32_t chosen = fuzz_below(&c->in, 8);

	for (int s = 0; kanon_methods(KANON_PATTERN_GUIDED)[s].name != NULL; s++)
	{
		KanonRelease release;
		KanonReport report;
		KanonStatus status;

		if (chosen >= 2 && (uint32_t) s != chosen - 2)
			continue;
		if (solved(c, kanon_methods(KANON_PATTERN_GUIDED)[s].name,
				   kanon_methods(KANON_PATTERN_GUIDED)[s].solve,
				   (Promise){.classes = true, .patterns = true, .dropping = c->nprivacy > 0}, &release,
				   &report, &status))
		{
			double dropped = 0;

			/* (rows left out are priced as if suppressed) */
			for (int i = 0; i < c->problem->ncolumns; i++)
				dropped += (double) release.dropped * c->problem->columns[i].weight;
			least.found = fmin(least.found, report.cost + dropped);
			least.bound = fmax(least.bound, report.lower_bound + dropped);
			kanon_release_free(c->problem, &release);
		}
		else
			least.impossible = least.impossible || status == KANON_INFEASIBLE;
	}
	if (least.impossible && least.found < INFINITY)
		fuzz_fail("a release where there is none");
	if (least.bound > least.found + 1e-6 * fmax(1e-9, fabs(least.found)))
		fuzz_fail("a bound of %.17g above a cost of %.17g", least.bound, least.found);
}

static void
clusterings(Case *c)
{
	int n = 0;
	const KanonMethod *method;
	KanonRelease release;
	KanonReport report;
	KanonStatus status;

	while (kanon_methods(KANON_CLUSTER)[n].name != NULL)
		n++;
	method = &kanon_methods(KANON_CLUSTER)[fuzz_below(&c->in, (uint32_t) n)];
	c->problem->mask = (KanonMask){.max_suppressed = -1, .max_cost = INFINITY};
	for (int q = 0; q < c->nqis; q++)
	{
		c->show[q] = (KanonClusterShow) fuzz_below(&c->in, 4);
		if (c->show[q] == KANON_CLUSTER_HIERARCHY && c->levels[q] == 0)
			c->show[q] = KANON_CLUSTER_SET;
		if (c->show[q] == KANON_CLUSTER_RANGE &&
			c->problem->columns[kanon_first_column(c->problem, q)].number == NULL)
			c->show[q] = KANON_CLUSTER_SUPPRESS;
		/* ranges and sets are in columns without levels */
		if (c->show[q] >= KANON_CLUSTER_RANGE && c->levels[q] > 0)
			c->show[q] = KANON_CLUSTER_HIERARCHY;
	}
	c->cluster.show = c->show;
	c->problem->cluster = &c->cluster;
	if (solved(c, method->name, method->solve, (Promise){.classes = true, .dropping = true}, &release,
			   &report, &status))
		kanon_release_free(c->problem, &release);
}

/* What the last full-domain search has found. */
static KanonOutcome outcome;

static KanonStatus
solve_full_domain(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	return kanon_solve_full_domain(problem, &outcome, release, report);
}

static void
full_domains(Case *c)
{
	KanonPattern best = KANON_NONE;
	double metric = 0;
	int taken = -1;

	c->problem->mask = (KanonMask){.max_suppressed = -1, .max_cost = INFINITY};
	c->full_domain.suppression_limit = fuzz_below(&c->in, 4) / 3.0;
	c->full_domain.metric = (KanonMetric) fuzz_below(&c->in, 6);
	c->full_domain.explore = fuzz_below(&c->in, 4) == 0;
	c->problem->full_domain = &c->full_domain;
	for (int s = 0; s < (c->full_domain.explore ? 4 : 5); s++)
	{
		/* the last: without something for each node */
		const char *name = s < 4 ? kanon_methods(KANON_FULL_DOMAIN)[s].name : "the search of a wide lattice";
		KanonRelease release;
		KanonReport report;
		KanonStatus status;
		bool is;

		c->full_domain.search = s < 4 ? (KanonSearch) s : KANON_SEARCH_FLASH;
		c->full_domain.most_nodes = s < 4 ? 0 : 0.5;
		is = solved(c, name, solve_full_domain,
					(Promise){.classes = true,
							  .dropping = c->nprivacy > 0 || c->problem->residual == KANON_RESIDUAL_DROP},
					&release, &report, &status);
		kanon_free(&c->host.env, outcome.all);
		if (status == KANON_CANCELLED || status == KANON_NO_MEMORY)
			return;
		if (is)
			kanon_release_free(c->problem, &release);
		if (status == KANON_NOT_FOUND || (is && !outcome.proven))
			continue;
		if (s > 0 && (is != (taken == 1) ||
					  (is && (!kanon_same(outcome.best.pattern, best) ||
							  fabs(outcome.best.metric - metric) > 1e-9 * fmax(1, fabs(metric))))))
			fuzz_fail("%s finds another node than samarati", name);
		taken = is;
		best = outcome.best.pattern;
		metric = outcome.best.metric;
	}
}

static void
freeforms(Case *c)
{
	KanonRelease release;
	KanonReport report;
	KanonStatus status;

	for (int q = 0; q < c->nqis; q++)
		if (c->levels[q] > 0)
			return;
	c->problem->mask = (KanonMask){.max_suppressed = -1, .max_cost = INFINITY};
	c->freeform.method = (KanonFreeformMethod) fuzz_below(&c->in, KANON_FREEFORM_K_K + 1);
	c->freeform.partition_size =
		fuzz_below(&c->in, 2) ? (uint32_t) (2 * c->problem->k) + fuzz_below(&c->in, 8) : 0;
	c->freeform.symmetric = fuzz_below(&c->in, 3) == 0 && c->freeform.method < KANON_FREEFORM_MIP;
	if (kanon_freeform_relaxed(c->freeform.method))
		c->freeform.partition_size = 0;
	c->problem->freeform = &c->freeform;
	for (uint32_t t = 0; t < c->problem->ntypes; t++)
		if (c->problem->rows[t] > MAX_ROWS)
			return;
	if (rule_bits(c) == 0 && c->problem->k >= 2 &&
		solved(c, "freeform", kanon_solve_freeform, (Promise){0}, &release, &report, &status))
	{
		count_graph(c, &release);
		kanon_release_free(c->problem, &release);
	}
}

/* A pattern has as many classes as it is listed, at most; by rules one. */
static void
count_patterns(const Case *c, const KanonRelease *release)
{
	const KanonMask *mask = &c->problem->mask;

	for (uint32_t j = 0; j < release->nclasses; j++)
	{
		size_t used = 0, listed = mask->list == NULL;

		for (uint32_t other = 0; other < release->nclasses; other++)
			used += kanon_same(release->classes[j].pattern, release->classes[other].pattern);
		for (size_t i = 0; i < mask->nlist && mask->list != NULL; i++)
			listed += kanon_same(release->classes[j].pattern, mask->list[i]);
		if (used > listed)
			fuzz_fail("a pattern for %zu classes that is listed %zu times", used, listed);
	}
}

static void
pattern_clusterings(Case *c)
{
	KanonRelease release;
	KanonReport report;
	KanonStatus status, greedy;

	if (solved(c, "pattern clustering, greedy", kanon_solve_pattern_clustering_greedy,
			   (Promise){.classes = true, .patterns = true, .limited = true}, &release, &report, &greedy))
	{
		count_patterns(c, &release);
		kanon_release_free(c->problem, &release);
	}
	if (solved(c, "pattern clustering", kanon_solve_pattern_clustering,
			   (Promise){.classes = true, .patterns = true, .limited = true}, &release, &report, &status))
	{
		count_patterns(c, &release);
		kanon_release_free(c->problem, &release);
	}
	if (status == KANON_INFEASIBLE && greedy == KANON_OK)
		fuzz_fail("pattern clustering: a release where there is none");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Case c = {.in = {data, size}};
	uint32_t family;

	host_init(&c.host);
	fuzz_clock(&c.host);
	family = fuzz_below(&c.in, 8);
	/* memory that ends, and a caller who has enough */
	if (fuzz_below(&c.in, 6) == 0)
		c.host.refuse_at = 1 + fuzz_below(&c.in, 256);
	if (fuzz_below(&c.in, 6) == 0)
		c.host.cancel_at = 1 + fuzz_below(&c.in, 64);
	make_table(&c);
	make_options(&c);
	{
		uint64_t refuse_at = c.host.refuse_at;

		c.host.refuse_at = 0;
		make_rules(&c);
		c.host.refuse_at = refuse_at == 0 ? 0 : c.host.allocations + refuse_at;
	}
	if (family < 3)
		pattern_guided(&c);
	else if (family < 5)
		clusterings(&c);
	else if (family == 5)
		full_domains(&c);
	else if (family == 6)
		freeforms(&c);
	else
		pattern_clusterings(&c);
	kanon_privacy_close(c.problem->privacy);
	c.problem->privacy = NULL;
	c.problem->ncolumns += c.problem->nextra;
	problem_free(c.problem);
	if (c.host.blocks != 0)
		fuzz_fail("%zu blocks of memory are left", c.host.blocks);
	return 0;
}
