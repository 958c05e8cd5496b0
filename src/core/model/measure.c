/*
 * measure.c: how much a release still says.
 *
 * Definitions 3 to 5 of Bredereck, Nichterlein, Niedermeier, "Pattern-Guided
 * k-Anonymity", Algorithms 6(4), 2013, after Loukides and Shao, "Capturing data
 * usefulness and privacy protection in k-anonymisation", SAC 2007.  For a
 * quasi-identifier with levels they look at its values: a class in which it is
 * generalized is as diverse as if it were suppressed.
 */
#include <math.h>
#include <string.h>

#include "model/measure.h"
#include "model/model.h"
#include "util/pace.h"

/* ---- the list ---- */

/* A measure that is not in the list does not get past the compiler. */
#define FIELD(type, name, of, when) type name;
typedef struct Listed
{
	KANON_MEASURE_LIST(FIELD)
} Listed;
_Static_assert(sizeof(Listed) == offsetof(KanonMeasures, columns), "a measure is not in KANON_MEASURE_LIST");

#define FORM(type, name, of, when) {#name, KANON_OF_##of, KANON_WHEN_##when, (type) 0.5 == 0},
static const KanonMeasureForm forms[] = {KANON_MEASURE_LIST(FORM)};

const KanonMeasureForm *
kanon_measure_next(const KanonMeasures *measures, int *i, double *value)
{
#define VALUE(type, name, of, when) (double) measures->name,
	const double values[] = {KANON_MEASURE_LIST(VALUE)};

	if (*i == (int) (sizeof(forms) / sizeof(forms[0])))
		return NULL;
	*value = values[*i];
	return &forms[(*i)++];
}

#define SUM_SIZES(name)
#define SUM_CELLS(name)
#define SUM_CLASSES(name) sum->name += part->name * part->classes;
#define SUM(type, name, of, when) SUM_##of(name)

void
kanon_measures_add(KanonMeasures *sum, const KanonMeasures *part)
{
	KANON_MEASURE_LIST(SUM)
	sum->classes += part->classes;
}

#define MEAN_SIZES(name)
#define MEAN_CELLS(name)
#define MEAN_CLASSES(name) measures->name = sum->classes > 0 ? sum->name / sum->classes : 0;
#define MEAN(type, name, of, when) MEAN_##of(name)

void
kanon_measures_put(const KanonMeasures *sum, KanonMeasures *measures)
{
	KANON_MEASURE_LIST(MEAN)
}

/* ---- of the sizes of classes ---- */

void
kanon_sizes_add(KanonClassSizes *sizes, int64_t rows, bool blank)
{
	if (sizes->n == 0 || rows < sizes->least)
		sizes->least = rows;
	if (rows > sizes->most)
		sizes->most = rows;
	sizes->n++;
	sizes->rows += rows;
	if (blank)
		sizes->blank += rows;
	else
		sizes->squares += (double) rows * (double) rows;
}

void
kanon_sizes_of(const KanonProblem *problem, const KanonRelease *release, KanonClassSizes *sizes)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	for (uint32_t i = 0; i < release->nclasses; i++)
		kanon_sizes_add(sizes, release->classes[i].rows,
						kanon_same(release->classes[i].pattern, all) &&
							kanon_class_blank(problem, release, i));
}

void
kanon_measure_sizes(const KanonClassSizes *sizes, int64_t dropped, int64_t k, KanonMeasures *measures)
{
	measures->rows = sizes->rows;
	measures->classes = sizes->n;
	measures->class_min = sizes->least;
	measures->class_max = sizes->most;
	measures->class_avg = sizes->n > 0 ? (double) sizes->rows / sizes->n : 0;
	measures->c_avg = measures->class_avg / (double) k;
	/* each row counts the rows that it cannot be told from: those that show nothing or are left out, all */
	measures->discernibility = sizes->squares + ((double) sizes->blank + (double) dropped) *
													((double) sizes->rows + (double) dropped);
}

/* ---- of what classes say ---- */

typedef struct Measure
{
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace pace;
	KanonMembers members;
	uint32_t *seen;    /* [distinct] last class (plus 1) that had a value */
	double *diversity; /* [nclasses] sum so far */
} Measure;

bool
kanon_is_far(double low, double high, double number)
{
	/* (halves, lest a difference is more than doubles can say) */
	double range = high / 2 - low / 2;

	return low / 2 - number / 2 > KANON_FAR * range || number / 2 - high / 2 > KANON_FAR * range;
}

void
kanon_data_range(const double *number, size_t n, double *low, double *high)
{
	size_t from = n < KANON_FEW_NUMBERS ? 0 : n / 10;
	size_t to = n - from;

	for (size_t before = 0; before != to - from;)
	{
		before = to - from;
		while (from > 0 && !kanon_is_far(number[from], number[to - 1], number[from - 1]))
			from--;
		while (to < n && !kanon_is_far(number[from], number[to - 1], number[to]))
			to++;
	}
	*low = n > 0 ? number[from] : 0;
	*high = n > 0 ? number[to - 1] : 0;
}

double
kanon_number_range(const KanonColumn *column, double *scale)
{
	double low = INFINITY;
	double high = -INFINITY;

	for (uint32_t v = 0; v < column->distinct; v++)
		if (isfinite(column->number[v]))
		{
			low = fmin(low, column->number[v]);
			high = fmax(high, column->number[v]);
		}
	/* -1e308 .. 1e308 is a range, too, though not a double */
	*scale = isfinite(high - low) ? 1 : 0.5;
	return high * *scale - low * *scale;
}

double
kanon_range_share(double range, double scale, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return 1;
	return range > 0 ? fmin((high * scale - low * scale) / range, 1) : 0;
}

/*
 * Attribute diversity of a class in a numerical column: the range of its
 * numbers as a share of the table's; none if all are the same value.
 */
static double
range_diversity(const Measure *measure, const KanonColumn *column, double range, double scale, size_t from,
				size_t to)
{
	uint32_t first = column->code[measure->members.type[from]];
	double low = INFINITY;
	double high = -INFINITY;
	bool differ = false;
	bool finite = true;

	for (size_t i = from; i < to; i++)
	{
		uint32_t code = column->code[measure->members.type[i]];
		double number = column->number[code];

		differ = differ || code != first;
		finite = finite && isfinite(number);
		low = fmin(low, number);
		high = fmax(high, number);
	}
	if (!differ)
		return 0;
	return finite ? kanon_range_share(range, scale, low, high) : 1;
}

/* Attribute diversity elsewhere: the share of the table's values that the class has. */
static double
value_diversity(const Measure *measure, const KanonColumn *column, uint32_t class, size_t from, size_t to)
{
	uint32_t distinct = 0;

	for (size_t i = from; i < to; i++)
	{
		uint32_t code = column->code[measure->members.type[i]];

		distinct += measure->seen[code] != class + 1;
		measure->seen[code] = class + 1;
	}
	return (double) distinct / column->distinct;
}

/* Adds one column's attribute diversity to each class. */
static KanonStatus
add_column(Measure *measure, int c)
{
	const KanonColumn *column = &measure->problem->columns[c];
	bool numerical = column->number != NULL;
	double range = 0;
	double scale = 1;
	size_t from = 0;

	if (numerical)
		range = kanon_number_range(column, &scale);
	else
		memset(measure->seen, 0, column->distinct * sizeof(uint32_t));
	for (uint32_t class = 0; class < measure->release->nclasses; class ++)
	{
		size_t to = measure->members.start[class + 1];
		size_t cell = class * (size_t) measure->problem->ncolumns + (size_t) c;

		if (kanon_stop(&measure->pace, to - from))
			return KANON_CANCELLED;
		if (measure->release->cells[cell].show == KANON_SHOW_VALUE)
			measure->diversity[class] += numerical ? 0 : 1.0 / column->distinct;
		else if (from < to)
			measure->diversity[class] += numerical ? range_diversity(measure, column, range, scale, from, to)
												   : value_diversity(measure, column, class, from, to);
		from = to;
	}
	return KANON_OK;
}

/* The mean of the classes' diversities. */
static double
mean(const double *diversity, uint32_t nclasses)
{
	double sum = 0;

	for (uint32_t i = 0; i < nclasses; i++)
		sum += diversity[i];
	return nclasses > 0 ? sum / nclasses : 0;
}

/* Sizes, suppressed cells and usefulness, once the diversities are known. */
static void
sum_up(const Measure *measure, KanonMeasures *measures)
{
	const KanonRelease *release = measure->release;
	KanonPattern last = kanon_last_levels(measure->problem);
	KanonClassSizes sizes = {0};

	memset(measures, 0, sizeof(*measures));
	kanon_sizes_of(measure->problem, release, &sizes);
	kanon_measure_sizes(&sizes, release->dropped, measure->problem->k, measures);
	for (uint32_t i = 0; i < release->nclasses; i++)
		measures->suppressed_cells +=
			release->classes[i].rows * (release->npool > 0
											? kanon_class_suppressed(measure->problem, release, i)
											: kanon_suppressed_whole(last, release->classes[i].pattern));
	measures->usefulness = mean(measure->diversity, release->nclasses);
}

/* The classes' diversities, in an array of the caller or one of the scratch. */
static KanonStatus
diversities(Measure *measure, KanonScratch *scratch, double *diversity)
{
	const KanonProblem *problem = measure->problem;
	const KanonRelease *release = measure->release;
	KanonStatus status;
	uint32_t distinct = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level == 0 && problem->columns[c].number == NULL &&
			problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	measure->seen = kanon_take(scratch, distinct, sizeof(uint32_t));
	measure->diversity =
		diversity != NULL ? diversity : kanon_take(scratch, release->nclasses, sizeof(double));
	status = kanon_release_members(release, scratch, &measure->members);
	for (uint32_t i = 0; i < release->nclasses && status == KANON_OK; i++)
		measure->diversity[i] = 0;
	if (status == KANON_OK && kanon_stop(&measure->pace, release->nflows * 4))
		status = KANON_CANCELLED;
	for (int c = 0; c < problem->ncolumns && status == KANON_OK; c++)
		if (problem->columns[c].level == 0)
		{
			measure->pace.share = (double) c / problem->ncolumns / 2;
			status = add_column(measure, c);
		}
	return status;
}

KanonStatus
kanon_usefulness(const KanonProblem *problem, const KanonRelease *release, double *usefulness)
{
	Measure measure = {.problem = problem, .release = release, .pace = kanon_pace(problem->env, "measure")};
	KanonScratch scratch = {.env = problem->env};
	KanonStatus status = diversities(&measure, &scratch, NULL);

	if (status == KANON_OK)
		*usefulness = mean(measure.diversity, release->nclasses);
	kanon_scratch_free(&scratch);
	return status;
}

KanonStatus
kanon_measure(const KanonProblem *problem, const KanonRelease *release, KanonMeasures *measures,
			  double *tuple_diversity)
{
	KanonEnv *env = problem->env;
	Measure measure = {.problem = problem, .release = release, .pace = kanon_pace_at_once(env, "measure")};
	KanonScratch scratch = {.env = env};
	KanonStatus status = diversities(&measure, &scratch, tuple_diversity);

	if (status == KANON_OK)
	{
		sum_up(&measure, measures);
		status = kanon_measure_loss(problem, release, measures);
	}
	kanon_scratch_free(&scratch);
	return status;
}
