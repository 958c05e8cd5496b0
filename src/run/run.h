/*
 * run.h: the run: its five steps, and the state that they share
 */
#ifndef KANON_RUN_H
#define KANON_RUN_H

#include "core/kanon.h"
#include "host/border.h"
#include "rows/row_types.h"
#include "rows/target.h"
#include "record/record.h"
#include "options/request.h"
#include "core/lattice/full_domain.h"
#include "host/lines.h"
#include "rare/rare.h"
#include "rows/source.h"
#include "core/freeform/freeform_work.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

/* ---- run_words.c: what is told of a release that is not written ---- */

/* Negative, NaN: it has none of this, or there is no release. */
typedef struct Figures
{
	int64 suppressed_cells;
	double suppressed; /* share of the cells that the source's published rows have */
	double usefulness;
	double gcp;
	int64 classes;
	int64 class_min;
	double class_avg;
	int64 class_max;
	int64 residual; /* rows that fit no class: dropped, or blank and fewer than k */
	double cost;
	bool proven;
} Figures;

/* No figure at all; those of a release by the methods of row types. */
extern Figures figures_none(void);
extern Figures figures_of(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
						  const KanonMeasures *measures);

/* Shares of suppressed cells, those of rows that are left out among them; the same of each column, with a NOTICE of those that show nothing. */
extern double run_suppressed_share(const Run *run);
extern const KanonColumnMeasures *run_measure_columns(const Run *run);

/*
 * ---- run.c: a request goes in, an outcome comes out: the five steps from a source to a
 * published target, and nobody else knows them.
 */

/*
 * How the steps are taken.  run.c alone knows their order, and what is the same for
 * all: snapshot, target, clock, installation, record.
 */
struct Steps
{
	void (*open)(Run *run);   /* the source */
	void (*beside)(Run *run); /* what else is read, found and locked: source->beside */
	void (*set_up)(Run *run); /* under the snapshot, before a target is made: its columns */
	void (*read)(Run *run);
	void (*ready)(Run *run);        /* the problem */
	KanonStatus (*solve)(Run *run); /* and measure */
	void (*write)(Run *run);
	void (*verify)(Run *run);
	void (*record)(Run *run);

	/* for those who solve more than once, each time for another k */
	bool (*take_k)(Run *run, int64 k);              /* false: no release of the rows can have it */
	void (*figures)(const Run *run, Figures *told); /* of a release */
	void (*forget)(Run *run);                       /* the release */
};

struct Run
{
	Request *request;
	Oid schema; /* the extension's */
	Border *border;
	Source *source;
	const Source *columns; /* of the target: the source's own, but of sets of items */
	Target *target;        /* NULL: nothing is written */
	double *weights;       /* [nqis] */
	RowTypes *types;       /* once they are read */
	KanonProblem problem;  /* the model sets mask, residual and what is its own */

	/* the outcome */
	KanonRelease release;
	KanonReport report;
	KanonMeasures measures;
	double suppressed; /* share of the cells (of sets: occurrences), rows that are left out among them */
	double *diversity; /* [release.nclasses] tuple diversity */
	RunRecord record;
	FoundClasses found;         /* in the target */
	ArrayType *may_name;        /* kept columns that are called like names of persons; NULL: there are none */
	bool near;                  /* it has stayed near the release before: of all others nothing is known */
	const char *anew;           /* why it could not, although it was to: a sentence without values; or NULL */
	const double *metric_bound; /* of a lattice whose best node is not proven; NULL: no such */
	struct Company *company;    /* which rows were where, of a release that stays near others; or NULL */
	struct BulkWriter *state;   /* what the next release starts from, while it is written */
	struct RelationData *state_table;
	uint32 *alike;  /* [nclasses] the first class that looks the same to readers; NULL: all differ */
	Jsonb *bounds;  /* of hierarchies, for the next release; or NULL */
	bytea *digest;  /* of all that was read, when the request has a definition; or NULL */
	bool unchanged; /* it is that of the release before: nothing was made */
	bool unwritten; /* it was rehearsed, and its target stays empty */
	bool none;      /* the source has fewer than k rows, or persons, and all of them are left out */

	int64 number;                     /* of the run, once its classes are recorded */
	bool whole;                       /* it goes through all steps */
	struct Parted *parted;            /* row types are on disk (on_disk_types.h); or NULL */
	Target *staged;                   /* the rows with their key, beside the target; or NULL */
	const SourceColumn *class_column; /* kept, for the classification metric, or NULL */
	instr_time clock;
};

/*
 * Reads, solves, measures, and unless the request has no target, writes, verifies
 * and records; nothing of that when the run is `unchanged` or `unwritten`.  Until run_end the outcome stands, and SPI is connected.
 */
extern Run *run_request(Request *request);

/* A target that is written takes an older table's place, and is recorded: of a request that is placed later. */
extern void run_place(Run *run);

/* Writes the run's record: the last thing, where the request says recorded_later, when all has been checked that is. */
extern void run_record_last(Run *run);
extern void run_end(Run *run);

/* Had its method nothing to do: are there no rows, or are all of them left out? */
static inline bool
run_is_empty(const Run *run)
{
	return run->types->nrows == 0 || run->none;
}

/* The first step alone, for those who solve what was read more than once. */
extern Run *run_read(Request *request);

/*
 * The first step of a run that will be finished, once others are read that it is solved with; and the
 * others.  Runs that are begun end in the opposite order.
 */
extern Run *run_begin(Request *request);
extern void run_finish(Run *run);

/* The second and third; raises what the method refuses. */
extern void run_solve(Run *run);

/*
 * The same for another k, after run_read with k = 0.  That there is no release for it is told and not
 * raised; of one that there is, the figures are.
 */
extern bool run_solve_for(Run *run, int64 k, Figures *told);

/* The second and third of a problem made from the run's: false when it has no release. */
extern bool run_solve_changed(Run *run);

/* The outcome goes, so that another can come. */
extern void run_forget(Run *run);

/*
 * For a model's set_up, to refuse early: has the source more rows than that?  No more of them
 * are read than it takes to know.
 */
extern bool run_has_more_rows(const Run *run, int64 most);

/* The third alone, of a release that has changed. */
extern void run_measure(Run *run);

/* A NOTICE when an exact method stopped before its proof; does the function take a gap? */
extern void run_notice_unproven(const Run *run, bool takes_gap, const char *takes);

/* The needs of a proof: of any search, and of one that goes by a linear program. */
#define PROOF_BY_SEARCH "Raise time_limit."
extern const char *const run_proof_by_glpk;

/* Finds the kept column that says what a row is to be classified as (run_words.c). */
extern void run_find_class_column(Run *run, const char *name);

/* The arguments of a run, and what was told of them, as jsonb for its record (run_words.c). */
extern Datum recorded_arguments(const Run *run);

/* How a protected release differs from the source, as an object. */
struct HeldBack;
extern Datum held_back_json(const struct HeldBack *held);

/* ---- models.c: what models have to tell beside a run's outcome ---- */

/* The result and the effort of the search of a full-domain run. */
extern const KanonOutcome *full_domain_outcome(const Run *run);

/* Where the workers of a full-domain run begin. */
extern PGDLLEXPORT void kanon_full_domain_worker(dsm_segment *segment, shm_toc *toc);

/* ---- run_words.c: what a run has published, in words ---- */

/*
 * For whoever finds the table: k, rules, when and by which run; no data value.
 * promise: of sets what holds instead of k in quasi-identifiers, or NULL.
 */
extern char *run_words(const Run *run, const char *promise);

/* Rows that are left out, and those that time was too short for. */
extern void run_notice_rest(const Run *run);

/* ---- publish_request.c: what the functions that publish have in common ---- */

/* The results. */
typedef void (*PutRun)(Lines *lines, const Run *run);

/* Runs a request; and one of the call's arguments. */
extern Datum publish_request(FunctionCallInfo fcinfo, Request *request, PutRun put);
extern Datum publish(FunctionCallInfo fcinfo, const Model *model, PutRun put);

/* ---- partition_by.c: partition_by, whose values parallel workers share ---- */

/* Solves the run's problem by the values of a column of it. */
extern KanonStatus partition_solve(Run *run, int column, KanonPartitionFacts *facts);

/*
 * Takes what kanon_solve_value gave of a value, or KANON_NOT_FOUND where it has fewer than k rows; the release
 * is not its own.
 */
typedef KanonStatus (*TakeValue)(void *arg, uint32 code, KanonStatus status, KanonRelease *release);

/* Solves values whose row types alone the problem has, by parallel workers where that is faster; they are taken in their order. */
extern KanonStatus partition_values(const Run *run, const KanonProblem *problem,
									const KanonValueTypes *values, TakeValue take, void *arg,
									KanonReport *report);

/* Where parallel workers begin. */
extern PGDLLEXPORT void kanon_partition_worker(dsm_segment *segment, shm_toc *toc);

/* ---- staging_policy.c: whether a run's rows are set aside, on the workers of Citus or here, and how ---- */

/* Before the source is read; says what kind of table the target will be. */
extern void set_rows_aside(Run *run);

/* Once more, under another seed, as two row types had the same hash; so many times that was so. */
extern void set_rows_aside_again(Run *run, int tries);

/* ---- stable_keep.c: has anything changed since the release before? ---- */

/* Under the run's snapshot: fills run->digest and run->unchanged, when the request has a definition. */
extern void look_for_changes(Run *run);

/* ---- known_columns.c: what somebody may know of a person: any few columns, or sets of them that are named ---- */

/* Columns of a set that is named, at most: each part of it is looked at. */
#define KNOWN_SET_MOST 16

/*
 * known_columns, and each element of combinations: names between commas, and "=k" behind them for a k of their own.
 * NULL and -1: not said.
 */
extern KanonKnown known_columns_parse(const Source *source, int known_columns, int64 k,
									  ArrayType *combinations, const char *missing);

/* Does somebody know few columns?  Raises if the request has something beside that cannot be. */
extern bool known_check(const Request *request);

/* Sets up the run's problem so, if somebody does. */
extern void known_set(Run *run);

/* Once row types are there: k is asked of persons, if the request has them. */
extern void known_ready(Run *run);

/* ---- identifiers.c: may the columns be published as they are? ---- */

/*
 * After masks were read, before anything else is.  Raises check_violation for columns that identify by
 * their labels or types and that allow_identifying does not name; says which kept columns are called like
 * names, in a NOTICE and in run->may_name.
 */
extern void identifiers_check(Run *run);

/* ---- model_freeform.c: a column of the source that says how many matches each row wants ---- */

/* Finds the column, by which row types are then told apart, too; its place among the grouped ones. */
extern int own_k_column(Source *source, char *name);

/* [ntypes] of rows that were read; raises where they are no k, with how many rows that is. */
extern const int64 *own_k_read(const RowTypes *types, int column, Border *border);

/* ---- model_freeform.c: what kanon_freeform and kanon_check_freeform have in common ---- */

/* Why releases without classes do not stay near one another. */
#define NO_CLASSES_TO_KEEP \
	"Its records are in no classes: who matches whom changes with every row that comes or goes."

/* request->own: problem->freeform, and what came of it. */
typedef struct FreeformCall
{
	KanonFreeformOptions options;
	int k_column;   /* of the grouped ones; 0: there is none */
	double matches; /* of all rows, about */
	int workers;    /* parallel workers that took part */
	uint32 parts;
} FreeformCall;

/*
 * Decides how each quasi-identifier is shown, and raises where one cannot be: by its
 * hierarchy, if it has one, ranges for numbers and dates, arrays for the rest.
 */
extern void freeform_columns(Source *source);

/* Bytes of the release, about, whatever the size of its parts. */
extern double freeform_release_memory(const Run *run, int64 rows);

/* freeform_parallel.c: kanon_solve_freeform, the parts shared out among parallel workers. */
extern KanonStatus freeform_solve(Run *run);

/* The entry of a parallel worker. */
extern PGDLLEXPORT void kanon_freeform_worker(dsm_segment *segment, shm_toc *toc);

/*
 * ---- stable_keep.c: bounds of hierarchies that follow from the values that are there, as a publication keeps them from
 * release to release.
 */

/* Once the source has its hierarchies: those of the request are taken, as far as they are of the same builders. */
extern void kept_bounds_take(Run *run);

/* Once they are prepared: {"column": {"by": builder, "bounds": [...]}, ...} */
extern Jsonb *kept_bounds_tell(Run *run);

#endif
