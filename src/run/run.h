/*
 * run.h: a request goes in, an outcome comes out: the five steps from a source to a
 * published target, and nobody else knows them.
 */
#ifndef KANON_RUN_H
#define KANON_RUN_H

#include "host/border.h"
#include "rows/row_types.h"
#include "rows/target.h"
#include "run/figures.h"
#include "run/record.h"
#include "run/request.h"

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

	int64 number;                     /* of the run, once its classes are recorded */
	bool whole;                       /* it goes through all steps */
	struct Parted *parted;            /* row types are on disk (on_disk_types.h); or NULL */
	Target *staged;                   /* the rows with their key, beside the target; or NULL */
	const SourceColumn *class_column; /* kept, for the classification metric, or NULL */
	instr_time clock;
};

/*
 * Reads, solves, measures, and unless the request has no target, writes, verifies
 * and records; nothing of that when the run is `unchanged`.  Until run_end the outcome stands, and SPI is connected.
 */
extern Run *run_request(Request *request);

/* A target that is written takes an older table's place, and is recorded: of a request that is placed later. */
extern void run_place(Run *run);
extern void run_end(Run *run);

/* The first step alone, for those who solve what was read more than once. */
extern Run *run_read(Request *request);

/*
 * The first step of a run that will be finished, once others are read that it is solved with; and the
 * others.  Runs that are begun end in the opposite order.
 */
extern Run *run_begin(Request *request);
extern void run_finish(Run *run);

/* The second and third; raises what the solver refuses. */
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

/* What a proof takes: of any search, and of one that goes by a linear program. */
#define PROOF_BY_SEARCH "Raise time_limit."
#ifdef HAVE_GLPK
#define PROOF_BY_GLPK PROOF_BY_SEARCH
#else
#define PROOF_BY_GLPK "A proof takes GLPK, which this build of kanon is without."
#endif

/* record_json.c: the arguments of a run, and what was told of them, as jsonb for its record. */
extern Datum recorded_arguments(const Run *run);

#endif
