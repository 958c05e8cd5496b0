/*
 * test_release.c: a release is checked before it is trusted, and measured.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

/*
 * Three columns of 2, 3 and 2 values; six row types, ten rows; k = 2.  The
 * sample release has the classes 000, 110, 12*, 0*1 and ***; one row of type 0
 * is the residual.
 */
typedef struct Sample
{
	Host host;
	KanonColumn columns[3];
	KanonProblem problem;
	KanonRelease release;
	KanonReport report;
} Sample;

static const uint32_t code0[] = {0, 0, 0, 1, 1, 1};
static const uint32_t code1[] = {0, 0, 1, 1, 2, 2};
static const uint32_t code2[] = {0, 1, 1, 0, 0, 1};
static const int64_t sample_rows[] = {4, 1, 1, 2, 1, 1};

static const KanonClass sample_classes[] = {
	{KANON_NONE, 3}, {KANON_NONE, 2}, {KANON_BITS(4), 2}, {KANON_BITS(2), 2}, {KANON_BITS(7), 1}};
static const int sample_shown[5][3] = {{0, 0, 0}, {1, 1, 0}, {1, 2, -1}, {0, -1, 1}, {-1, -1, -1}};
static const KanonFlow sample_flows[] = {{0, 0, 3}, {0, 4, 1}, {1, 3, 1}, {2, 3, 1},
										 {3, 1, 2}, {4, 2, 1}, {5, 2, 1}};

static void
sample(Sample *self)
{
	KanonProblem *problem = &self->problem;

	memset(self, 0, sizeof(*self));
	host_init(&self->host);
	self->columns[0] = (KanonColumn){.code = code0, .distinct = 2, .weight = 1};
	self->columns[1] = (KanonColumn){.code = code1, .distinct = 3, .weight = 2.5};
	self->columns[2] = (KanonColumn){.code = code2, .distinct = 2, .weight = 1};
	problem->env = &self->host.env;
	problem->ncolumns = 3;
	problem->columns = self->columns;
	problem->ntypes = 6;
	problem->rows = sample_rows;
	problem->k = 2;
	problem->mask.order = KANON_ORDER_GIVEN;
	problem->mask.max_suppressed = -1;
	problem->mask.max_cost = INFINITY;
	self->release.nclasses = 5;
	self->release.classes = kanon_alloc(problem->env, 5, sizeof(KanonClass));
	self->release.cells = kanon_alloc0(problem->env, 15, sizeof(KanonCell));
	self->release.nflows = 7;
	self->release.flows = kanon_alloc(problem->env, 8, sizeof(KanonFlow));
	memcpy(self->release.classes, sample_classes, sizeof(sample_classes));
	memcpy(self->release.flows, sample_flows, sizeof(sample_flows));
	for (int i = 0; i < 15; i++)
	{
		int code = sample_shown[i / 3][i % 3];

		self->release.cells[i].show = code < 0 ? KANON_SHOW_NOTHING : KANON_SHOW_VALUE;
		self->release.cells[i].code = code < 0 ? 0 : (uint32_t) code & 7;
	}
}

/* Finishes, frees; the status. */
static KanonStatus
finish(Sample *self)
{
	KanonStatus status = kanon_release_finish(&self->problem, &self->release, &self->report);

	assert_true((status == KANON_BROKEN) == (self->report.detail[0] != '\0'));
	kanon_release_free(&self->problem, &self->release);
	assert_int_equal(self->host.blocks, 0);
	return status;
}

static void
test_right(void **state)
{
	Sample self;
	uint64_t before;

	(void) state;
	sample(&self);
	before = self.host.allocations;
	assert_int_equal(kanon_release_finish(&self.problem, &self.release, &self.report), KANON_OK);
	assert_int_equal(self.host.allocations, before + 1); /* the index: nothing was moved */
	assert_int_equal(self.release.nclasses, 5);
	assert_memory_equal(self.release.flows, sample_flows, sizeof(sample_flows));
	assert_memory_equal(self.release.classes, sample_classes, sizeof(sample_classes));
	assert_true(self.report.cost == 2 * 2.5 + 2 * 1 + 1 * 4.5);
	assert_int_equal(self.release.dropped, 0);
	kanon_release_free(&self.problem, &self.release);
	assert_int_equal(self.host.blocks, 0);
	assert_null(self.release.flows);
	kanon_release_free(&self.problem, &self.release);
}

/* Any order, equal instances, empty classes and flows: one form. */
static void
test_canonical(void **state)
{
	(void) state;
	for (int i = 0; i < 500; i++)
	{
		uint64_t random = (uint64_t) i;
		Sample self;
		KanonRelease messy = {0};
		uint32_t place[9];
		KanonFlow *flow;

		sample(&self);
		/* nine classes: the five, two of them twice, two empty */
		messy.nclasses = 9;
		messy.classes = kanon_alloc0(&self.host.env, 9, sizeof(KanonClass));
		messy.cells = kanon_alloc0(&self.host.env, 27, sizeof(KanonCell));
		messy.flows = kanon_alloc(&self.host.env, 20, sizeof(KanonFlow));
		for (uint32_t c = 0; c < 9; c++)
			place[c] = c;
		for (uint32_t c = 8; c > 0; c--)
		{
			uint32_t other = random_below(&random, c + 1);
			uint32_t swap = place[c];

			place[c] = place[other];
			place[other] = swap;
		}
		for (uint32_t c = 0; c < 9; c++)
		{
			uint32_t like = c < 5 ? c : c < 7 ? c - 3 : c - 7;

			messy.classes[place[c]].pattern = self.release.classes[like].pattern;
			messy.classes[place[c]].rows = 77;
			memcpy(&messy.cells[place[c] * 3], &self.release.cells[like * 3], 3 * sizeof(KanonCell));
		}
		for (size_t f = 0; f < 7; f++)
		{
			uint32_t like = sample_flows[f].class_;
			int64_t rows = sample_flows[f].rows;
			int64_t part = random_below(&random, (uint32_t) rows + 1);

			if (like == 2 || like == 3) /* part goes to the double */
			{
				messy.flows[messy.nflows++] = (KanonFlow){sample_flows[f].type, place[like + 3], part};
				rows -= part;
			}
			else if (part < rows && part > 0) /* two flows of one pair */
			{
				messy.flows[messy.nflows++] = (KanonFlow){sample_flows[f].type, place[like], part};
				rows -= part;
			}
			messy.flows[messy.nflows++] = (KanonFlow){sample_flows[f].type, place[like], rows};
		}
		messy.flows[messy.nflows++] = (KanonFlow){3, KANON_DROPPED, 0};
		messy.flows[messy.nflows++] = (KanonFlow){1, place[8], 0};
		for (size_t f = messy.nflows - 1; f > 0; f--)
		{
			size_t other = random_below(&random, (uint32_t) f + 1);
			KanonFlow swap = messy.flows[f];

			messy.flows[f] = messy.flows[other];
			messy.flows[other] = swap;
		}
		assert_int_equal(kanon_release_finish(&self.problem, &messy, &self.report), KANON_OK);
		assert_int_equal(messy.nclasses, 5);
		assert_int_equal(messy.nflows, 7);
		for (flow = messy.flows; flow < messy.flows + 7; flow++)
		{
			assert_int_equal(flow->type, sample_flows[flow - messy.flows].type);
			assert_int_equal(flow->class_, sample_flows[flow - messy.flows].class_);
			assert_int_equal(flow->rows, sample_flows[flow - messy.flows].rows);
		}
		assert_memory_equal(messy.classes, sample_classes, sizeof(sample_classes));
		assert_memory_equal(messy.cells, self.release.cells, 15 * sizeof(KanonCell));
		kanon_release_free(&self.problem, &messy);
		kanon_release_free(&self.problem, &self.release);
		assert_int_equal(self.host.blocks, 0);
	}
}

/* Every way of being wrong that there is a check for. */
#define BROKEN(...)                                    \
	do                                                 \
	{                                                  \
		sample(&self);                                 \
		__VA_ARGS__;                                   \
		assert_int_equal(finish(&self), KANON_BROKEN); \
	} while (0)
#define RIGHT(...)                                 \
	do                                             \
	{                                              \
		sample(&self);                             \
		__VA_ARGS__;                               \
		assert_int_equal(finish(&self), KANON_OK); \
	} while (0)

static void
test_broken(void **state)
{
	static const KanonPattern list[] = {KANON_NONE, KANON_BITS(2), KANON_BITS(4)};
	Sample self;

	(void) state;
	RIGHT((void) 0);
	/* patterns and cells */
	BROKEN(self.release.classes[1].pattern = KANON_BITS(1));
	BROKEN(self.release.classes[1].pattern = KANON_BITS(8));
	BROKEN(self.release.classes[1].pattern = kanon_only(KANON_MAX_COLUMNS - 1));
	BROKEN(self.release.cells[0].show = KANON_SHOW_NOTHING);
	BROKEN(self.release.cells[0].show = 5);
	BROKEN(self.release.cells[10].show = KANON_SHOW_VALUE);
	BROKEN(self.release.cells[10].code = 1);
	BROKEN(self.release.cells[4].code = 3);
	BROKEN(self.release.cells[4].code = 2);
	RIGHT(self.problem.mask.list = list; self.problem.mask.nlist = 3);
	BROKEN(self.problem.mask.list = list; self.problem.mask.nlist = 2);
	BROKEN(self.problem.mask.never = KANON_BITS(2));
	BROKEN(self.problem.mask.always = KANON_BITS(2));
	BROKEN(self.problem.mask.max_cost = 2);
	RIGHT(self.problem.mask.max_suppressed = 1);
	BROKEN(self.problem.mask.max_suppressed = 0);
	/* flows */
	BROKEN(self.release.flows[0].type = 6);
	BROKEN(self.release.flows[0].class_ = 5);
	BROKEN(self.release.flows[0].rows = 2);
	BROKEN(self.release.flows[0].rows = 4);
	BROKEN(self.release.flows[0].rows = -3);
	BROKEN(self.release.flows[0].rows = INT64_MAX);
	BROKEN(self.release.flows[0].rows = INT64_MAX; self.release.flows[1].class_ = 0;
		   self.release.flows[1].rows = INT64_MAX);
	BROKEN(self.release.nflows = 6);
	BROKEN(self.release.nflows = 0);
	BROKEN(self.release.flows[7] = (KanonFlow){5, 3, 1}; self.release.nflows = 8);
	BROKEN(self.release.flows[4].class_ = 0);
	BROKEN(self.release.flows[2].class_ = 2);
	BROKEN(self.release.flows[5].class_ = 3);
	/* classes too small, and what is left over */
	BROKEN(self.problem.k = 3);
	BROKEN(self.release.flows[6].class_ = 4);
	RIGHT(self.release.flows[5].class_ = 4; self.release.flows[6].class_ = 4);
	BROKEN(self.problem.residual = KANON_RESIDUAL_ERROR);
	BROKEN(self.problem.residual = KANON_RESIDUAL_DROP);
	RIGHT(self.problem.residual = KANON_RESIDUAL_DROP; self.release.flows[1].class_ = KANON_DROPPED);
	BROKEN(self.problem.residual = KANON_RESIDUAL_ERROR; self.release.flows[1].class_ = KANON_DROPPED);
	BROKEN(self.release.flows[1].class_ = KANON_DROPPED);
	BROKEN(self.problem.residual = KANON_RESIDUAL_DROP; self.release.flows[1].class_ = KANON_DROPPED;
		   self.release.flows[2].class_ = KANON_DROPPED; self.release.flows[3].class_ = KANON_DROPPED);
	RIGHT(self.problem.residual = KANON_RESIDUAL_ERROR; self.release.flows[1].class_ = 0);
}

/*
 * The sample, of which class 3 shows the range 0 - 1 in column 1 and class 2 the
 * set {0, 1} in column 2.
 */
static void
sample_several(Sample *self)
{
	static const uint32_t pool[] = {0, 1, 2, 0, 1};

	sample(self);
	self->release.npool = 5;
	self->release.pool = kanon_alloc(&self->host.env, 5, sizeof(uint32_t));
	memcpy(self->release.pool, pool, sizeof(pool));
	self->release.cells[10] = (KanonCell){KANON_SHOW_RANGE, 0};
	self->release.cells[8] = (KanonCell){KANON_SHOW_SET, 2};
}
#define SEVERAL(expected, ...)                     \
	do                                             \
	{                                              \
		sample_several(&self);                     \
		__VA_ARGS__;                               \
		assert_int_equal(finish(&self), expected); \
	} while (0)

static void
test_ranges_and_sets(void **state)
{
	static const uint32_t set_of_all[] = {3, 0, 1, 2};
	static const uint32_t set_first[] = {2, 0, 1, 0, 1};
	Sample self;

	(void) state;
	SEVERAL(KANON_OK, (void) 0);
	SEVERAL(KANON_OK, self.problem.mask.never = KANON_BITS(7)); /* which is about suppressing */
	SEVERAL(KANON_BROKEN, kanon_add(&self.release.classes[3].pattern, 3));
	/* the pattern has the column of a range or set */
	SEVERAL(KANON_BROKEN, self.release.classes[3].pattern = KANON_NONE);
	SEVERAL(KANON_BROKEN, self.release.classes[2].pattern = KANON_NONE);
	SEVERAL(KANON_BROKEN, self.release.cells[10].show = 5);
	/* places in the pool */
	SEVERAL(KANON_OK, self.release.cells[10].code = 3);
	SEVERAL(KANON_BROKEN, self.release.cells[10].code = 4);
	SEVERAL(KANON_BROKEN, self.release.cells[10].code = 5);
	SEVERAL(KANON_BROKEN, self.release.cells[10].code = 0x1fffffff);
	SEVERAL(KANON_BROKEN, self.release.cells[8].code = 4);
	SEVERAL(KANON_BROKEN, self.release.cells[8].code = 5);
	SEVERAL(KANON_BROKEN, self.release.npool = 0);
	SEVERAL(KANON_BROKEN, self.release.npool = 1);
	SEVERAL(KANON_BROKEN, self.release.pool[2] = 0);
	SEVERAL(KANON_BROKEN, self.release.pool[2] = 1);
	SEVERAL(KANON_BROKEN, self.release.pool[2] = 3);
	SEVERAL(KANON_BROKEN, self.release.pool[2] = UINT32_MAX);
	/* one value is no set, though there is a set of its number */
	for (int c = -1; c < 3; c++)
		SEVERAL(c < 0 ? KANON_OK : KANON_BROKEN, memcpy(self.release.pool, set_first, sizeof(set_first));
				self.release.cells[8].code = 0; self.release.cells[10].code = 3;
				self.release.cells[c < 0 ? 12 : 12 + c].show = c < 0 ? KANON_SHOW_NOTHING : KANON_SHOW_VALUE);
	/* codes */
	SEVERAL(KANON_OK, self.release.pool[1] = 2);
	SEVERAL(KANON_BROKEN, self.release.pool[1] = 3);
	SEVERAL(KANON_BROKEN, self.release.pool[1] = UINT32_MAX);
	SEVERAL(KANON_BROKEN, self.release.pool[1] = 0);
	SEVERAL(KANON_BROKEN, self.release.pool[0] = 2);
	SEVERAL(KANON_BROKEN, self.release.pool[4] = 2);
	SEVERAL(KANON_BROKEN, self.release.pool[3] = 1);
	SEVERAL(KANON_BROKEN, self.release.pool[3] = 1; self.release.pool[4] = 0);
	/* no range holds NULL, a set may */
	SEVERAL(KANON_OK, self.columns[1].has_null = true);
	SEVERAL(KANON_BROKEN, self.columns[1].has_null = true; self.release.pool[1] = 2);
	SEVERAL(KANON_OK, self.columns[2].has_null = true);
	/* rows that are not in it */
	SEVERAL(KANON_BROKEN, self.release.pool[0] = 1; self.release.pool[1] = 2);
	SEVERAL(KANON_BROKEN, self.columns[2].distinct = 3; self.release.pool[4] = 2);
	SEVERAL(KANON_BROKEN, self.columns[2].distinct = 4; self.release.pool[3] = 2; self.release.pool[4] = 3);
	/* nothing of it is in a level above the values, nor is that shown beside */
	SEVERAL(KANON_BROKEN, self.columns[1].level = 1; self.columns[2].level = 2);
	SEVERAL(KANON_BROKEN, self.columns[2].level = 1);
	SEVERAL(KANON_OK, self.columns[1].level = 1; self.release.cells[9] = self.release.cells[10];
			self.release.cells[10] = (KanonCell){KANON_SHOW_NOTHING, 0};
			self.release.classes[3].pattern = KANON_BITS(3));
	BROKEN(self.columns[1].level = 1); /* 0*1 keeps the level below */
	RIGHT(self.columns[1].level = 1; self.release.classes[3].pattern = KANON_BITS(1);
		  self.release.cells[9] = (KanonCell){KANON_SHOW_NOTHING, 0};
		  self.release.cells[10] = (KanonCell){KANON_SHOW_VALUE, 1};
		  self.release.cells[11] = (KanonCell){KANON_SHOW_VALUE, 1}; self.release.flows[2].class_ = 4;
		  self.problem.k = 1);

	/* {0, 1}, 0 - 2, {0, 1} has the pattern of the fully suppressed class, but is none */
	for (int swap = 0; swap < 2; swap++)
		for (int few = 0; few < 2; few++)
		{
			sample_several(&self);
			self.release.pool[1] = 2;
			self.release.classes[3].pattern = KANON_BITS(7);
			self.release.cells[9] = self.release.cells[11] = (KanonCell){KANON_SHOW_SET, 2};
			if (few)
				self.release.flows[3].class_ = 4;
			if (swap)
			{
				for (int c = 9; c < 12; c++)
				{
					KanonCell other = self.release.cells[c];

					self.release.cells[c] = self.release.cells[c + 3];
					self.release.cells[c + 3] = other;
				}
				for (int f = 0; f < 7; f++)
					if (self.release.flows[f].class_ >= 3)
						self.release.flows[f].class_ = 7 - self.release.flows[f].class_;
			}
			if (few)
			{
				assert_int_equal(finish(&self), KANON_BROKEN);
				continue;
			}
			assert_int_equal(kanon_release_finish(&self.problem, &self.release, &self.report), KANON_OK);
			assert_true(kanon_same(self.release.classes[3].pattern, KANON_BITS(7)));
			assert_false(kanon_class_blank(&self.problem, &self.release, 3));
			assert_int_equal(kanon_class_suppressed(&self.problem, &self.release, 3), 0);
			assert_true(kanon_class_blank(&self.problem, &self.release, 4));
			assert_int_equal(kanon_class_suppressed(&self.problem, &self.release, 4), 3);
			kanon_release_free(&self.problem, &self.release);
			assert_int_equal(self.host.blocks, 0);
		}

	/* the same at another place in the pool is the same; a set before a longer one */
	for (int longer = 0; longer < 2; longer++)
	{
		sample_several(&self);
		self.release.npool = 9;
		self.release.pool = kanon_realloc(&self.host.env, self.release.pool, 9, sizeof(uint32_t));
		memcpy(self.release.pool + 5, longer ? set_of_all : self.release.pool + 1, 4 * sizeof(uint32_t));
		self.columns[2].distinct = 3;
		/* class 0 becomes a second 12{...}, of type 5 */
		self.release.classes[0].pattern = KANON_BITS(4);
		self.release.cells[0] = self.release.cells[6];
		self.release.cells[1] = self.release.cells[7];
		self.release.cells[2] = (KanonCell){KANON_SHOW_SET, longer ? 5 : 6};
		self.release.flows[0] = (KanonFlow){0, 4, 3};
		self.release.flows[6].class_ = 0;
		self.problem.k = 1;
		assert_int_equal(kanon_release_finish(&self.problem, &self.release, &self.report), KANON_OK);
		assert_int_equal(self.release.nclasses, 4 + longer);
		for (uint32_t i = 0; i < self.release.nclasses; i++)
			if (kanon_same(self.release.classes[i].pattern, KANON_BITS(4)))
				assert_int_equal(self.release.cells[i * 3 + 2].code == 5, longer && i == 2);
		kanon_release_free(&self.problem, &self.release);
		assert_int_equal(self.host.blocks, 0);
	}
}

/* Out of memory and stopped wherever that can be. */
static void
test_memory_and_cancel(void **state)
{
	Sample self;
	KanonStatus status = KANON_NO_MEMORY;
	KanonMeasures measures;

	(void) state;
	for (uint64_t n = 1; status == KANON_NO_MEMORY; n++)
	{
		sample(&self);
		/* out of order, both ways */
		self.release.flows[0] = sample_flows[6];
		self.release.flows[6] = sample_flows[0];
		self.release.classes[2].pattern = KANON_BITS(2);
		self.release.classes[3].pattern = KANON_BITS(4);
		for (int c = 0; c < 3; c++)
		{
			KanonCell swap = self.release.cells[6 + c];

			self.release.cells[6 + c] = self.release.cells[9 + c];
			self.release.cells[9 + c] = swap;
		}
		for (int f = 0; f < 7; f++)
			if (self.release.flows[f].class_ == 2 || self.release.flows[f].class_ == 3)
				self.release.flows[f].class_ = 5 - self.release.flows[f].class_;
		self.host.allocations = 0;
		self.host.refuse_at = n;
		status = kanon_release_finish(&self.problem, &self.release, &self.report);
		if (status == KANON_OK)
			status = kanon_measure(&self.problem, &self.release, &measures, NULL);
		kanon_release_free(&self.problem, &self.release);
		assert_int_equal(self.host.blocks, 0);
	}
	assert_int_equal(status, KANON_OK);
	assert_true(self.host.allocations > 6);
	sample(&self);
	self.host.cancel_at = 1;
	assert_int_equal(finish(&self), KANON_CANCELLED);
}

/* ---- measures ---- */

static void
test_sample_measures(void **state)
{
	Sample self;
	KanonMeasures measures;
	double diversity[5];
	const double whole = 1;

	(void) state;
	sample(&self);
	assert_int_equal(kanon_release_finish(&self.problem, &self.release, &self.report), KANON_OK);
	assert_int_equal(kanon_measure(&self.problem, &self.release, &measures, diversity), KANON_OK);
	assert_int_equal(measures.rows, 10);
	assert_int_equal(measures.classes, 5);
	assert_int_equal(measures.suppressed_cells, 2 + 2 + 3);
	assert_int_equal(measures.class_min, 1);
	assert_int_equal(measures.class_max, 3);
	assert_true(measures.class_avg == 2);
	/* one of 2, of 3 and of 2 values is the least a class can have */
	assert_true(fabs(diversity[0] - (whole / 2 + whole / 3 + whole / 2)) < 1e-12);
	assert_true(fabs(diversity[3] - (whole / 2 + 2 * whole / 3 + whole / 2)) < 1e-12);
	assert_true(fabs(diversity[2] - (whole / 2 + whole / 3 + 1)) < 1e-12);
	assert_true(fabs(diversity[4] - diversity[0]) < 1e-12);
	assert_true(fabs(measures.usefulness -
					 (diversity[0] + diversity[1] + diversity[2] + diversity[3] + diversity[4]) / 5) < 1e-12);
	kanon_release_free(&self.problem, &self.release);
}

/* Diversity of one class of all values of one numerical column in a table of these. */
static double
range_of(size_t n, const double *class_values, size_t ntable, const double *table)
{
	Host host;
	uint32_t code[32];
	double number[32];
	int64_t rows[32];
	KanonColumn column = {.code = code, .distinct = (uint32_t) ntable, .weight = 1, .number = number};
	KanonProblem problem = {.env = &host.env,
							.ncolumns = 1,
							.columns = &column,
							.ntypes = (uint32_t) ntable,
							.rows = rows,
							.k = 1,
							.residual = KANON_RESIDUAL_DROP};
	KanonClass class = {KANON_BITS(1), 0};
	KanonCell cell = {KANON_SHOW_NOTHING, 0};
	KanonFlow flows[32];
	KanonRelease release = {.nclasses = 1, .classes = &class, .cells = &cell, .nflows = n, .flows = flows};
	KanonMeasures measures;
	double diversity = NAN;

	host_init(&host);
	for (size_t i = 0; i < ntable; i++)
	{
		code[i] = (uint32_t) i;
		number[i] = table[i];
		rows[i] = 1;
	}
	for (size_t i = 0; i < n; i++)
	{
		size_t at = 0;

		while (memcmp(&table[at], &class_values[i], sizeof(double)) != 0)
			assert_true(++at < ntable);
		flows[i] = (KanonFlow){(uint32_t) at, 0, 1};
		class.rows++;
	}
	assert_int_equal(kanon_measure(&problem, &release, &measures, &diversity), KANON_OK);
	assert_true(diversity == measures.usefulness);
	return diversity;
}
#define LIST(...)                                                \
	sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]) \
	{                                                            \
		__VA_ARGS__                                              \
	}

static void
test_ranges(void **state)
{
	(void) state;
	assert_true(range_of(LIST(2, 4), LIST(0, 2, 4, 10)) == 0.2);
	assert_true(range_of(LIST(0, 2, 4, 10), LIST(0, 2, 4, 10)) == 1);
	assert_true(range_of(LIST(4), LIST(0, 2, 4, 10)) == 0);
	assert_true(range_of(LIST(7), LIST(7)) == 0);
	/* NULL */
	assert_true(range_of(LIST(NAN), LIST(0, 2, NAN)) == 0);
	assert_true(range_of(LIST(0, NAN), LIST(0, 2, NAN)) == 1);
	assert_true(range_of(LIST(NAN, 0), LIST(0, NAN)) == 1);
	assert_true(range_of(LIST(0, 1), LIST(0, 1, 4, NAN)) == 0.25);
	assert_true(range_of(LIST(NAN), LIST(NAN)) == 0);
	/* infinities do not stretch the table's range, and are far from everything */
	assert_true(range_of(LIST(0, 1), LIST(-INFINITY, 0, 1, 4, INFINITY)) == 0.25);
	assert_true(range_of(LIST(4, INFINITY), LIST(-INFINITY, 0, 1, 4, INFINITY)) == 1);
	assert_true(range_of(LIST(-INFINITY, INFINITY), LIST(-INFINITY, INFINITY)) == 1);
	assert_true(range_of(LIST(INFINITY), LIST(0, INFINITY)) == 0);
	assert_true(range_of(LIST(0, INFINITY, NAN), LIST(0, INFINITY, NAN)) == 1);
	/* ranges that are no doubles */
	assert_true(range_of(LIST(-1e308, 1e308), LIST(-1e308, 0, 1e308)) == 1);
	assert_true(range_of(LIST(-1e308, 0), LIST(-1e308, 0, 1e308)) == 0.5);
	assert_true(range_of(LIST(0, 5e-324), LIST(0, 5e-324)) == 1);
}

/* Rows left out count for nothing; a class of a value has no range. */
static void
test_dropped_and_shown(void **state)
{
	Sample self;
	KanonMeasures measures;
	static const double number[] = {10, 20, 50};

	(void) state;
	sample(&self);
	self.problem.residual = KANON_RESIDUAL_DROP;
	self.release.flows[1].class_ = KANON_DROPPED;
	self.columns[1].number = number;
	assert_int_equal(kanon_release_finish(&self.problem, &self.release, &self.report), KANON_OK);
	assert_int_equal(self.release.dropped, 1);
	assert_int_equal(kanon_measure(&self.problem, &self.release, &measures, NULL), KANON_OK);
	assert_int_equal(measures.rows, 9);
	assert_int_equal(measures.classes, 4);
	assert_int_equal(measures.class_min, 2);
	/* halves of columns 0 and 2; column 1: 0, 0, a quarter and 0 */
	assert_true(fabs(measures.usefulness - (1 + 1 + 1.25 + 1.5) / 4) < 1e-12);
	kanon_release_free(&self.problem, &self.release);
	assert_int_equal(self.host.blocks, 0);
}

static void
test_method_table(void **state)
{
	(void) state;
	assert_non_null(kanon_method_find(KANON_PATTERN_GUIDED, "greedy"));
	assert_true(kanon_method_find(KANON_PATTERN_GUIDED, "greedy")->solve == kanon_solve_greedy);
	assert_null(kanon_method_find(KANON_PATTERN_GUIDED, "greed"));
	assert_null(kanon_method_find(KANON_PATTERN_GUIDED, ""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_ranges_and_sets),
		cmocka_unit_test(test_memory_and_cancel),
		cmocka_unit_test(test_sample_measures),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_dropped_and_shown),
		cmocka_unit_test(test_method_table),
	};

	return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
