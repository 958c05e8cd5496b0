/*
 * mask_together.c: masks of several columns together: noise that is correlated as they are, and means of rows
 * that are near in all of them.
 *
 * noise: normal numbers with a share of the columns' covariances (J. J. Kim, 1986, section 2.3 of "Statistical
 * Disclosure Control", A. Hundepool et al., 2012), by the covariances' Cholesky factor.  By a key
 * the correlations are given: mask_column.c.
 * microaggregate: MDAV (core/cluster/microaggregate.c); equal rows share a group.
 */
#include "compat.h"
#include "core/cluster/clustering.h"
#include "masks/mask_apply.h"
#include "rows/dictionary.h"

#include <math.h>

struct MaskTogether
{
	MaskTogether *next;
	Border *border;
	int n; /* columns */
	Mask **mask;
	double *row;   /* [n] the row at hand */
	double *drawn; /* [n] its noise, */
	Datum *shown;  /* [n] or what its group shows */

	/* noise */
	int64 rows;      /* that have all values, */
	double *mean;    /* [n] their means */
	double *squares; /* [n * n] and sums of products of what they are away from these; then the factor */
	double *z;       /* [n] */
	RandomPool pool;

	/* groups of rows */
	Size room;
	uint32 npoints;
	double *point;  /* [npoints * n] different ones, ascending, */
	int64 *weight;  /* [npoints] how many rows each stands for, */
	double *scaled; /* [npoints * n] in deviations from the mean, */
	uint32 *group;  /* [npoints] and its group */
	Datum *value;   /* [groups * n] */
};

/* ---- by the key ---- */

/* Above it two values of a person would have nearly one noise. */
#define CORRELATION_MOST 0.95

void
mask_correlation_read(Mask *mask, const JsonbValue *value)
{
	bool needs = mask->kind == MASK_NOISE && mask->group != NULL && mask->person != NULL;

	mask->correlation = mask_json_number(value);
	if (needs && fabs(mask->correlation) > 0 && fabs(mask->correlation) <= CORRELATION_MOST)
		return;
	mask->correlation = 0;
	if (needs || value != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"correlation\" of column \"%s\" in mask must be a number up to %g, or down to %g, "
					"beside \"noise\", \"group\" and \"by\"",
					mask->column->name, CORRELATION_MOST, -CORRELATION_MOST),
			 errdetail("Noise by a key takes none from the table, where it changes from release to release."),
			 errhint("Write it like '{\"%s\": {\"noise\": 250, \"by\": \"patient_id\", \"group\": \"pay\", "
					 "\"correlation\": 0.8}}', in each column of the group.",
					 mask->column->name)));
}

/* (the part that they share is a person's) */
void
masks_together_check(const Source *source)
{
	const Mask *first, *mask;

	for (int i = 0; i < source->nkept; i++)
		for (int j = 0; j < i; j++)
		{
			first = source->kept[j].mask;
			mask = source->kept[i].mask;
			if (first != NULL && mask != NULL && first->kind == MASK_NOISE && mask->kind == MASK_NOISE &&
				first->group != NULL && mask->group != NULL && strcmp(first->group, mask->group) == 0 &&
				(first->person == NULL ? mask->person != NULL
									   : mask->person == NULL || strcmp(first->person, mask->person) != 0))
				ereport(
					ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("masked columns \"%s\" and \"%s\" are of one group, drawn by different columns",
							first->column->name, mask->column->name),
					 errhint("Name one column in \"by\", in each column of the group.")));
		}
}

/* ---- set up ---- */

static MaskTogether *
find_together(Masks *masks, Mask *mask)
{
	MaskTogether *t;

	for (t = masks->together; t != NULL; t = t->next)
		if (strcmp(t->mask[0]->group, mask->group) == 0 && t->mask[0]->kind == mask->kind)
			return t;
	t = MemoryContextAllocZero(masks->border->context, sizeof(MaskTogether));
	t->border = masks->border;
	t->mask = MemoryContextAlloc(masks->border->context, sizeof(Mask *) * masks->n);
	t->next = masks->together;
	masks->together = t;
	return t;
}

static void
add_column(MaskTogether *t, Mask *mask)
{
	if (t->n > 0 && mask->kind == MASK_MICROAGGREGATE && t->mask[0]->share != mask->share)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("masked columns \"%s\" and \"%s\" are of one group, with different numbers of rows",
						t->mask[0]->column->name, mask->column->name),
				 errhint("Give \"microaggregate\" one number in all columns of a group.")));
	if (!mask->number_type)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("column \"%s\" in mask is of a group, and no number", mask->column->name),
						errhint("Only numbers have a distance in several columns: leave out \"group\".")));
	t->mask[t->n++] = mask;
	mask->together = t;
}

void
masks_together_begin(Masks *masks)
{
	masks->together = NULL;
	for (int i = 0; i < masks->n; i++)
	{
		Mask *mask = masks->columns[i]->mask;

		if (mask == NULL || mask->group == NULL || !mask_of_column(mask))
			continue;
		add_column(find_together(masks, mask), mask);
	}
	for (MaskTogether *t = masks->together; t != NULL; t = t->next)
	{
		Size n = t->n;

		t->row = border_palloc(t->border, sizeof(double) * n);
		t->drawn = border_palloc(t->border, sizeof(double) * n);
		t->shown = border_palloc(t->border, sizeof(Datum) * n);
		t->mean = border_palloc(t->border, sizeof(double) * n);
		t->z = border_palloc(t->border, sizeof(double) * n);
		t->squares = border_palloc(t->border, sizeof(double) * n * n);
		memset(t->mean, 0, sizeof(double) * n);
		memset(t->squares, 0, sizeof(double) * n * n);
		for (int c = 0; c < t->n; c++)
		{
			t->mask[c]->whole->drawn = &t->drawn[c];
			t->mask[c]->whole->shown = &t->shown[c];
		}
	}
}

/* ---- rows of the source ---- */

/* The row's numbers; false: one is NULL. */
static bool
read_row(MaskTogether *t, const Datum *values, const bool *nulls)
{
	for (int c = 0; c < t->n; c++)
	{
		const Mask *mask = t->mask[c];

		if (nulls[mask->place])
			return false;
		t->row[c] = value_as_number(mask->base, values[mask->place]);
	}
	return true;
}

/* (B. P. Welford, "Note on a method for calculating corrected sums of squares and products", 1962) */
static void
add_products(MaskTogether *t)
{
	t->rows++;
	for (int c = 0; c < t->n; c++)
		t->z[c] = t->row[c] - t->mean[c];
	for (int c = 0; c < t->n; c++)
		t->mean[c] += t->z[c] / (double) t->rows;
	for (int c = 0; c < t->n; c++)
		for (int d = 0; d <= c; d++)
			t->squares[c * t->n + d] += t->z[c] * (t->row[d] - t->mean[d]);
}

static void
add_point(MaskTogether *t)
{
	Size n = t->n;

	t->point = border_grow(t->border, t->point, &t->room, (t->npoints + (Size) 1) * n, sizeof(double));
	memcpy(&t->point[t->npoints * n], t->row, sizeof(double) * n);
	t->npoints++;
}

static const char *
first_null(const MaskTogether *t, const bool *nulls)
{
	int c = 0;

	while (!nulls[t->mask[c]->place])
		c++;
	return t->mask[c]->column->name;
}

void
masks_together_look(const Masks *masks, const Datum *values, const bool *nulls)
{
	for (MaskTogether *t = masks->together; t != NULL; t = t->next)
	{
		bool whole = read_row(t, values, nulls);

		if (!whole && t->mask[0]->kind == MASK_MICROAGGREGATE)
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("columns that \"microaggregate\" masks together have NULL"),
							errdetail("Column \"%s\" has.", first_null(t, nulls)),
							errhint("Leave such rows out in a view of the source, or leave out \"group\".")));
		if (!whole)
			continue;
		add_products(t);
		if (t->mask[0]->kind == MASK_MICROAGGREGATE)
			add_point(t);
	}
}

/* ---- noise ---- */

/* The factor of the covariances, in place; a column that follows from those before it has nothing of its own. */
static void
factorize(MaskTogether *t)
{
	int n = t->n;

	for (int c = 0; c < n; c++)
		for (int d = 0; d <= c; d++)
			t->squares[c * n + d] *= t->mask[c]->share * t->mask[d]->share / (double) Max(t->rows - 1, 1);
	for (int c = 0; c < n; c++)
	{
		double own = t->squares[c * n + c];

		for (int d = 0; d <= c; d++)
		{
			double rest = t->squares[c * n + d];

			for (int e = 0; e < d; e++)
				rest -= t->squares[c * n + e] * t->squares[d * n + e];
			if (d == c)
				t->squares[c * n + d] = rest > 1e-12 * own ? sqrt(rest) : 0;
			else
				t->squares[c * n + d] = t->squares[d * n + d] > 0 ? rest / t->squares[d * n + d] : 0;
		}
	}
}

static void
draw_noise(MaskTogether *t)
{
	for (int c = 0; c < t->n; c++)
		t->z[c] = mask_normal(&t->pool);
	for (int c = 0; c < t->n; c++)
	{
		t->drawn[c] = 0;
		for (int d = 0; d <= c; d++)
			t->drawn[c] += t->squares[c * t->n + d] * t->z[d];
	}
}

/* ---- groups of rows ---- */

static int
compare_points(const void *a, const void *b, void *arg)
{
	const double *x = a, *y = b;
	int n = *(const int *) arg;

	for (int c = 0; c < n; c++)
		if (x[c] != y[c])
			return x[c] < y[c] ? -1 : 1;
	return 0;
}

/* Equal rows become one point. */
static void
merge_points(MaskTogether *t)
{
	Size n = t->n;
	uint32 to = 0;

	qsort_arg(t->point, t->npoints, sizeof(double) * n, compare_points, &t->n);
	t->weight = border_palloc(t->border, sizeof(int64) * (Size) Max(t->npoints, 1));
	for (uint32 i = 0; i < t->npoints; i++)
		if (to > 0 && compare_points(&t->point[(to - 1) * n], &t->point[i * n], &t->n) == 0)
			t->weight[to - 1]++;
		else
		{
			memmove(&t->point[to * n], &t->point[i * n], sizeof(double) * n);
			t->weight[to++] = 1;
		}
	t->npoints = to;
	t->scaled = border_palloc(t->border, sizeof(double) * n * (Size) Max(to, 1));
	for (uint32 i = 0; i < to; i++)
		for (int c = 0; c < t->n; c++)
		{
			double deviation = sqrt(t->squares[c * n + c] / (double) Max(t->rows - 1, 1));

			t->scaled[i * n + c] = deviation > 0 ? (t->point[i * n + c] - t->mean[c]) / deviation : 0;
		}
}

typedef struct Weighed
{
	double number;
	int64 rows;
} Weighed;

static int
compare_weighed(const void *a, const void *b)
{
	double x = ((const Weighed *) a)->number, y = ((const Weighed *) b)->number;

	return x < y ? -1 : x > y;
}

/* The mean of a group's values in a column, or the lower one of the numbers in the middle. */
static double
middle_of(Weighed *member, uint32 n, bool median)
{
	int64 rows = 0, upto = 0;
	double mean = 0;
	uint32 i = 0;

	for (uint32 m = 0; m < n; m++)
		rows += member[m].rows;
	for (uint32 m = 0; m < n; m++)
		mean += (member[m].number - member[0].number) * (double) member[m].rows / (double) rows;
	if (!median)
		return member[0].number + mean;
	qsort(member, n, sizeof(Weighed), compare_weighed);
	while ((upto += member[i].rows) < (rows + 1) / 2)
		i++;
	return member[i].number;
}

/* The values that each group shows. */
static void
show_groups(MaskTogether *t, uint32 ngroups)
{
	Size n = t->n;
	uint32 *begin = border_palloc(t->border, sizeof(uint32) * ((Size) ngroups + 2));
	uint32 *point = border_palloc(t->border, sizeof(uint32) * (Size) Max(t->npoints, 1));
	Weighed *member = border_palloc(t->border, sizeof(Weighed) * (Size) Max(t->npoints, 1));

	t->value = border_palloc(t->border, sizeof(Datum) * n * (Size) Max(ngroups, 1));
	memset(begin, 0, sizeof(uint32) * ((Size) ngroups + 2));
	for (uint32 i = 0; i < t->npoints; i++)
		begin[t->group[i] + 2]++;
	for (uint32 g = 0; g < ngroups; g++)
		begin[g + 2] += begin[g + 1];
	for (uint32 i = 0; i < t->npoints; i++)
		point[begin[t->group[i] + 1]++] = i;
	for (uint32 g = 0; g < ngroups; g++)
		for (int c = 0; c < t->n; c++)
		{
			uint32 m = 0;
			MemoryContext old = MemoryContextSwitchTo(t->border->context);

			for (uint32 i = begin[g]; i < begin[g + 1]; i++)
				member[m++] = (Weighed){t->point[point[i] * n + c], t->weight[point[i]]};
			t->value[g * n + c] = mask_number_value(t->mask[c], middle_of(member, m, t->mask[c]->median));
			MemoryContextSwitchTo(old);
		}
	border_pfree(t->border, begin);
	border_pfree(t->border, point);
	border_pfree(t->border, member);
}

static void
find_rows(MaskTogether *t)
{
	int64 least = (int64) t->mask[0]->share;
	KanonPoints points;
	uint32 ngroups;

	if (t->rows > 0 && t->rows < least)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("masked column \"%s\" has fewer values than a group must have",
							   t->mask[0]->column->name),
						errhint("Lower \"microaggregate\", or mask it by {\"constant\": null}.")));
	merge_points(t);
	t->group = border_palloc(t->border, sizeof(uint32) * (Size) Max(t->npoints, 1));
	points = (KanonPoints){t->npoints, t->n, t->scaled, t->weight};
	border_check(t->border, kanon_mdav(&t->border->env, &points, least, t->group, &ngroups), "");
	show_groups(t, ngroups);
}

void
masks_together_looked(const Masks *masks)
{
	for (MaskTogether *t = masks->together; t != NULL; t = t->next)
		if (t->mask[0]->kind == MASK_NOISE)
			factorize(t);
		else
			find_rows(t);
}

/* ---- a row ---- */

static uint32
point_of(const MaskTogether *t)
{
	uint32 low = 0, high = t->npoints;

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;
		int order = compare_points(&t->point[middle * (Size) t->n], t->row, unconstify(int *, &t->n));

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	elog(ERROR, "masked columns have other rows than before");
}

void
masks_together_row(Masks *masks, const Datum *values, const bool *nulls)
{
	for (MaskTogether *t = masks->together; t != NULL; t = t->next)
	{
		uint32 group;

		if (t->mask[0]->kind == MASK_NOISE)
		{
			draw_noise(t);
			continue;
		}
		if (!read_row(t, values, nulls))
			elog(ERROR, "masked columns have other rows than before");
		group = t->group[point_of(t)];
		memcpy(t->shown, &t->value[group * (Size) t->n], sizeof(Datum) * t->n);
	}
}
