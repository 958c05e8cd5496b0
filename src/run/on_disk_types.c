/*
 * on_disk_types.c: partition_by of a source whose row types do not fit into memory.
 *
 * A value's row types are in memory while they are solved, and no others: a million row types of 40 values take 8 MB
 * instead of 112, and 2.7 times the time.  Without that the call is refused.  The tables on disk,
 * each time sorted by PostgreSQL:
 *
 *   source   the rows (without kept columns: groups), by the value, then by their codes
 *   left     those that no value's release has placed, by their codes
 *   flows    what was placed: a class, a row type, how many rows
 *   placed   the rows with what they keep, by their class, at random places in it
 *
 * A class is known by its pattern and by what it shows, so the same class of two values is one.
 * Classes, whole ones and all of one pattern, come back into memory a chunk at a time to be
 * checked, measured, recorded and written.
 */
#include "compat.h"
#include "run/on_disk_types.h"
#include "run/run.h"
#include "options/privacy.h"
#include "masks/mask_apply.h"
#include "rows/target.h"

#include <math.h>

/* ---- a part ---- */

typedef struct Part
{
	PartedRows *parted;
	PartedTypes types;
	bool rest; /* what other parts have left over */
	KanonProblem problem;
	KanonRelease release;
	size_t *first_flow; /* [types.n + 1] */
	int64 *to_come;     /* [nflows] */
} Part;

/* A release of nothing: all rows are left over. */
static void
place_nothing(Part *part)
{
	KanonRelease *release = &part->release;
	size_t room = 0;

	memset(release, 0, sizeof(*release));
	if (!kanon_enlarge(part->problem.env, &release->flows, &room, Max(part->types.n, 1), sizeof(KanonFlow)))
		border_check(part->parted->run->border, KANON_NO_MEMORY, "");
	release->nflows = part->types.n;
	for (uint32 i = 0; i < part->types.n; i++)
		release->flows[i] = (KanonFlow){.type = i, .class_ = KANON_DROPPED, .rows = part->types.rows[i]};
}

/* Wholly suppressed rows of a value are left over, like rows in no class. */
static void
take_back_suppressed(Part *part)
{
	KanonRelease *release = &part->release;
	KanonPattern all = kanon_pattern_all(part->problem.ncolumns);

	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED &&
			kanon_same(release->classes[release->flows[f].class_].pattern, all))
			release->flows[f].class_ = KANON_DROPPED;
}

static int
put_codes(unsigned char *key, const Part *part, uint32 type)
{
	unsigned char *next = key;

	for (int c = 0; c < part->parted->run->source->ngrouped; c++)
		next = key_put(next, part->types.code[c][type]);
	return (int) (next - key);
}

static unsigned char *
put_class_of(unsigned char *key, const Part *part, uint32 class_)
{
	return parted_put_class(key, &part->problem, part->release.classes[class_].pattern,
							part->release.cells + (size_t) class_ * part->problem.ncolumns);
}

static void
put_flows(Part *part)
{
	PartedRows *parted = part->parted;
	KanonPartitionFacts *facts = &parted->run->parted->facts;
	unsigned char key[MOST_KEY];

	for (size_t f = 0; f < part->release.nflows; f++)
	{
		const KanonFlow *flow = &part->release.flows[f];

		if (flow->class_ != KANON_DROPPED)
		{
			unsigned char *next = put_class_of(key, part, flow->class_);

			next += put_codes(next, part, flow->type);
			keyed_put(parted->flows, key, (int) (next - key), flow->rows, NULL, NULL);
			if (part->rest)
				facts->left_over_cost +=
					kanon_pattern_cost(&part->problem, part->release.classes[flow->class_].pattern) *
					(double) flow->rows;
		}
		else if (part->rest)
		{
			parted->dropped += flow->rows;
			for (int q = 0; q < parted->run->source->nqis; q++)
				parted->values
					.rows[q][(Size) (part->types.code[q][flow->type] + 1) * parted->values.kinds[q] - 1] +=
					flow->rows;
		}
		else
		{
			parted->nleft += flow->rows;
			if (!parted->kept)
				keyed_put(parted->left, key, put_codes(key, part, flow->type), flow->rows, NULL, NULL);
		}
	}
}

/* A row goes to a random place in a class, or is left over; each row left of its type is as likely as any other. */
static void
place_row(void *arg, uint32 type, const Deal *deal, const Datum *kept, const bool *nulls)
{
	Part *part = arg;
	PartedRows *parted = part->parted;
	size_t flow = part->first_flow[type];
	int64 total = 0;
	uint64 pick;
	uint32 class_;
	unsigned char key[MOST_KEY], *next;

	for (size_t f = flow; f < part->first_flow[type + 1]; f++)
		total += part->to_come[f];
	if (total <= 0)
		raise_source_changed();
	pick = deal->random % (uint64) total;
	while (pick >= (uint64) part->to_come[flow])
		pick -= (uint64) part->to_come[flow++];
	part->to_come[flow]--;
	class_ = part->release.flows[flow].class_;
	if (class_ != KANON_DROPPED)
	{
		uint64 place = random_draw(&parted->random);

		next = put_class_of(key, part, class_);
		next = key_put(key_put(next, (uint32) (place >> 32)), (uint32) place);
		keyed_put(parted->placed, key, (int) (next - key), 1, kept, nulls);
	}
	else if (!part->rest)
		keyed_put(parted->left, key, put_codes(key, part, type), 1, kept, nulls);
}

/* The part's rows once more, with what they keep. */
static void
place_rows(Part *part, Keyed *from, int64 nrows)
{
	const Source *source = part->parted->run->source;
	const KanonRelease *release = &part->release;
	Border *border = part->parted->run->border;
	Split *split = split_begin(keyed_columns(from), KEYED_BEFORE, source->nkept, part->problem.seed, NULL);
	const Deal alone = {.before = NO_CLASS_BEFORE};
	size_t flow = 0;
	uint32 type = 0;
	int64 of_type = 0;

	part->first_flow = border_palloc(border, sizeof(size_t) * ((Size) part->types.n + 1));
	part->to_come = border_palloc(border, sizeof(int64) * Max(release->nflows, 1));
	for (uint32 i = 0; i < part->types.n; i++)
	{
		part->first_flow[i] = flow;
		for (; flow < release->nflows && release->flows[flow].type == i; flow++)
			part->to_come[flow] = release->flows[flow].rows;
	}
	part->first_flow[part->types.n] = flow;
	for (int64 i = 0; i < nrows; i++)
	{
		const KeyedRow *row = keyed_next(from);

		if (row == NULL)
			raise_source_changed();
		if (of_type == part->types.rows[type])
		{
			type++;
			of_type = 0;
		}
		of_type++;
		if (part->first_flow[type + 1] - part->first_flow[type] > 1)
			split_put(split, type, row->kept, row->nulls);
		else
			place_row(part, type, &alone, row->kept, row->nulls);
	}
	split_end(split, place_row, part);
	border_pfree(border, part->first_flow);
	border_pfree(border, part->to_come);
}

static bool
goes_to_rest(KanonStatus status)
{
	return status == KANON_INFEASIBLE || status == KANON_NOT_FOUND || status == KANON_RESIDUAL ||
		   status == KANON_REST_FORBIDDEN;
}

static double
elapsed(const PartedRows *parted)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, parted->started);
	return INSTR_TIME_GET_DOUBLE(now);
}

/* A share of the time that is left. */
static double
time_for(const PartedRows *parted, double share)
{
	double limit = parted->run->problem.time_limit;

	return isinf(limit) ? limit : Max((limit - elapsed(parted)) * share, 1e-3);
}

/* Rows that were left over, of any value. */
#define ANY_VALUE (-1)

/* The row types of the next nrows rows of what is sorted, whose keys begin with that value, unless it is any. */
static void
read_types(PartedRows *parted, Keyed *from, int64 value, int64 nrows, PartedTypes *types)
{
	const Run *run = parted->run;
	int before = value == ANY_VALUE ? 0 : 4;

	for (int64 n = 0; n < nrows;)
	{
		const KeyedRow *row = keyed_next(from);

		if (row == NULL || row->rows > nrows - n || (before > 0 && key_get(row->key) != value))
			raise_source_changed();
		if (parted_is_type(types, run->source, row->key + before))
			types->rows[types->n - 1] += row->rows;
		else
			parted_add_type(types, run->source, row->key + before, row->rows, run->border);
		n += row->rows;
	}
}

/* The rows left over, together. */
static KanonStatus
solve_rest(PartedRows *parted)
{
	Run *run = parted->run;
	Part part = {.parted = parted, .rest = true};
	KanonStatus status;

	if (parted->kept)
		keyed_mark(parted->left);
	read_types(parted, parted->left, ANY_VALUE, parted->nleft, &part.types);
	part.problem = parted_open_problem(parted, &part.types);
	part.problem.time_limit = time_for(parted, 1);
	status = run->request->solve(&part.problem, &part.release, &run->report);
	if (status == KANON_OK)
	{
		put_flows(&part);
		if (parted->kept)
		{
			keyed_return(parted->left);
			place_rows(&part, parted->left, parted->nleft);
		}
	}
	kanon_release_free(&part.problem, &part.release);
	parted_close_problem(parted);
	parted_free_types(&part.types, run->source, run->border);
	return status;
}

/* ---- some values at a time ---- */

/* Their row types take one part in so many of all memory, unless one value's take more. */
#define BATCH_SHARE 16

typedef struct Batch
{
	PartedRows *parted;
	uint32 first;      /* value */
	const int64 *rows; /* of each value, from the first on */
	PartedTypes types;
	KanonProblem problem;
	Size *start; /* [values + 1] */
} Batch;

/* A value's release is there, or it has none. */
static KanonStatus
take_value(void *arg, uint32 code, KanonStatus status, KanonRelease *release)
{
	Batch *batch = arg;
	PartedRows *parted = batch->parted;
	Run *run = parted->run;
	Size first = batch->start[code];
	Part part = {.parted = parted, .problem = batch->problem};
	bool none = goes_to_rest(status);

	if (status != KANON_OK && !none)
		return status;
	if (!none && parted->held == (int64) batch->first + code &&
		kanon_value_lacks(&part.problem, release, parted->nleft + parted->later))
		none = true;
	part.types.n = (uint32) (batch->start[code + 1] - first);
	for (int c = 0; c < run->source->ngrouped; c++)
		part.types.code[c] = batch->types.code[c] + first;
	part.types.rows = batch->types.rows + first;
	part.release = *release;
	if (none)
		place_nothing(&part);
	take_back_suppressed(&part);
	put_flows(&part);
	if (parted->kept)
		place_rows(&part, parted->source, batch->rows[code]);
	if (none)
		kanon_release_free(&part.problem, &part.release);
	run->parted->facts.parts += batch->rows[code] >= run->problem.k;
	parted->solved += batch->rows[code];
	border_progress(run->border, "solving by parts", (double) parted->solved / run->types->nrows,
					run->types->nrows - parted->solved);
	return KANON_OK;
}

/* So many of the next `distinct` values, from `first` on, as one batch takes; how many that were. */
static KanonStatus
solve_batch(PartedRows *parted, uint32 first, const int64 *rows, uint32 distinct, uint32 *taken)
{
	Run *run = parted->run;
	Batch batch = {.parted = parted, .first = first, .rows = rows};
	Size most = run->border->limit / BATCH_SHARE / (sizeof(uint32) * run->source->ngrouped + sizeof(int64));
	KanonValueTypes values = {0};
	int64 nrows = 0;
	KanonStatus status;
	Size room = 0;

	if (parted->kept)
		keyed_mark(parted->source);
	while (values.distinct < distinct && (values.distinct == 0 || batch.types.n < most))
	{
		batch.start = border_grow(run->border, batch.start, &room, (Size) values.distinct + 2, sizeof(Size));
		batch.start[values.distinct] = batch.types.n;
		read_types(parted, parted->source, (int64) first + values.distinct, rows[values.distinct],
				   &batch.types);
		nrows += rows[values.distinct++];
		batch.start[values.distinct] = batch.types.n;
	}
	sizes_of_types(&run->parted->sizes, run->types->grouped, run->source->nqis, batch.types.code,
				   batch.types.rows, batch.types.n);
	batch.problem = parted_open_problem(parted, &batch.types);
	batch.problem.time_limit =
		time_for(parted, (double) nrows / (double) (run->types->nrows - parted->solved));
	values.type = border_palloc(run->border, sizeof(uint32) * (Size) batch.types.n);
	values.start = batch.start;
	for (uint32 i = 0; i < batch.types.n; i++)
		values.type[i] = i;
	if (parted->kept)
		keyed_return(parted->source);
	status = partition_values(run, &batch.problem, &values, take_value, &batch, &run->report);
	border_pfree(run->border, values.type);
	border_pfree(run->border, batch.start);
	parted_close_problem(parted);
	parted_free_types(&batch.types, run->source, run->border);
	*taken = values.distinct;
	return status;
}

/* ---- the steps ---- */

/* The quasi-identifier that partition_by names. */
static int
partition(const Run *run)
{
	int qi = 0;

	while (strcmp(run->request->guided.partition_by, run->source->qis[qi].name) != 0)
		qi++;
	return qi;
}

/* Why all row types are in memory with partition_by, too, and where it leaves them on disk. */
typedef struct Obstacle
{
	bool there;
	const char *why;
	const char *elsewhere;
} Obstacle;

bool
parted_may(Run *run)
{
	const Request *request = run->request;
	const Obstacle obstacles[] = {
		{!run->whole, "they are solved more than once", "in a dry run for one k"},
		{privacy_asks_population(request->privacy),
		 "rules about populations are asked of all classes together", "without rules about populations"},
		{privacy_find(request->privacy, PRIVACY_SUBJECT) >= 0,
		 "persons (kanon_subject) are counted in all classes at once", "without kanon_subject"},
		{request->series.key != NULL, "the key's persons are noted with the class that each row type goes to",
		 "in a publication without a key"},
		{request->series.types != NULL, "those of the next release are to stay in their classes",
		 "in a publication that is not stable"}};

	for (int i = 0; i < lengthof(obstacles); i++)
		if (obstacles[i].there)
		{
			run->border->why =
				psprintf("With partition_by, too, all row types are in memory here: %s.", obstacles[i].why);
			run->border->instead = psprintf("partition_by needs less memory %s.", obstacles[i].elsewhere);
			return false;
		}
	return true;
}

void
parted_read(Run *run)
{
	PartedRows *rows;

	run->types = rowtypes_read_within(run->source, run->border->limit / PARTED_SHARE, run->border);
	if (run->types != NULL)
		return;
	rows = palloc0(sizeof(PartedRows));
	run->parted = palloc0(sizeof(Parted));
	run->parted->qi = partition(run);
	run->parted->rows = rows;
	rows->run = run;
	run->border->why = psprintf(
		"Row types are read by parts: in memory at a time are those of one value of \"%s\", or those "
		"left over of all; and each value of every column once.",
		run->request->guided.partition_by);
	run->border->instead =
		"Or let partition_by name a column with more values, or one that would seldom be suppressed.";
	run->types = marginals_read(run->source, run->border, &rows->values);
}

static void
look(void *arg, const Datum *kept, const bool *nulls)
{
	masks_look(arg, kept, nulls);
}

static void
read_rows(PartedRows *parted)
{
	Run *run = parted->run;
	Source *source = run->source;
	int nkept = parted->kept ? source->nkept : 0;
	bool masked = parted->kept && source->masks != NULL;

	if (masked)
		masks_begin(source, run->types->nrows, run->problem.k, run->border);
	parted->source = keyed_begin(source->kept, nkept, parted->kept);
	parted->left = keyed_begin(source->kept, nkept, parted->kept);
	parted->flows = keyed_begin(NULL, 0, true);
	if (parted->kept)
		parted->placed = keyed_begin(source->kept, nkept, false);
	if (!marginals_rows(source, run->parted->qi, nkept, run->border, parted->source, masked ? look : NULL,
						source->masks))
		raise_source_changed();
	if (masked)
		masks_looked(source->masks, run->problem.k);
}

KanonStatus
parted_solve(Run *run)
{
	PartedRows *parted = run->parted->rows;
	int qi = run->parted->qi;
	uint32 distinct = run->types->grouped[qi].distinct;
	KanonStatus status = KANON_OK;
	int64 *rows = border_palloc(run->border, sizeof(int64) * Max((Size) distinct, 1));

	INSTR_TIME_SET_CURRENT(parted->started);
	parted->kept = run->target != NULL && run->source->nkept > 0;
	read_rows(parted);
	sizes_begin(&run->parted->sizes, run->problem.k);
	memcpy(rows, parted->values.rows[qi], sizeof(int64) * distinct);
	parted->held = -1;
	for (uint32 code = 0; code < distinct; code++)
	{
		bool enough = rows[code] >= run->problem.k;

		parted->held = enough ? code : parted->held;
		parted->later = enough ? 0 : parted->later + rows[code];
	}
	/* from now on what becomes of the rows is counted */
	for (int q = 0; q < run->source->nqis; q++)
	{
		Size kinds = run->source->levels.first[q + 1] - run->source->levels.first[q] + 2;
		Size size = sizeof(int64) * run->types->grouped[q].distinct * kinds;

		border_pfree(run->border, parted->values.rows[q]);
		parted->values.kinds[q] = (int) kinds;
		parted->values.rows[q] = border_palloc(run->border, Max(size, 1));
		memset(parted->values.rows[q], 0, size);
	}
	for (uint32 code = 0, taken; code < distinct && status == KANON_OK; code += taken)
		status = solve_batch(parted, code, rows + code, distinct - code, &taken);
	if (status == KANON_OK && keyed_next(parted->source) != NULL)
		raise_source_changed();
	border_pfree(run->border, rows);
	keyed_end(parted->source);
	keyed_sort(parted->left);
	run->parted->facts.left_over = parted->nleft;
	if (status == KANON_OK && parted->nleft > 0)
		status = solve_rest(parted);
	keyed_end(parted->left);
	if (status != KANON_OK)
		return status;
	keyed_sort(parted->flows);
	run->report.cost = 0;
	parted_measure(parted);
	run->report.lower_bound = -INFINITY;
	run->report.guarantee = 0;
	run->report.proven = false;
	run->report.seconds = elapsed(parted);
	if (run->target == NULL)
		keyed_end(parted->flows);
	return KANON_OK;
}
