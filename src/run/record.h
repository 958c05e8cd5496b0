/*
 * record.h: the record of runs, behind the views.
 */
#ifndef KANON_RUN_RECORD_H
#define KANON_RUN_RECORD_H

#include "read/rowtypes.h"

#include "datatype/timestamp.h"

typedef struct RunRecord
{
	TimestampTz started_at;
	const char *source;
	const char *target;
	Oid target_oid;
	const char *publication; /* whose release it is, or NULL */
	const char *model;
	const char *method;
	int64 row_count;
	int64 patterns;                     /* -1: not counted */
	Size peak_memory;                   /* bytes of kanon's own state, at most */
	double classification;              /* Iyengar's metric; NaN: no class column was named */
	Datum options;                      /* jsonb of recorded_options */
	const KanonColumnMeasures *columns; /* [nqis] */
	double read_ms;
	double solve_ms;
	double write_ms;
	double verify_ms;
} RunRecord;

/*
 * What each class shows, before anything is written: it may be more than a record
 * can hold.  Returns the number of the run, whose other rows follow when all is done.
 */
extern int64 run_record_classes(Oid schema, const RowTypes *types, const KanonProblem *problem,
								const KanonRelease *release, const double *tuple_diversity);
extern void run_record(Oid schema, int64 run, const RunRecord *record, const RowTypes *types,
					   const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
					   const KanonMeasures *measures);

/*
 * The same of a run without row types, whose measures are a JSON object in a column of
 * their own; source: the columns that were kept; ncp NaN: nothing is measured so.
 */
extern int64 run_record_classless(Oid schema, const RunRecord *record, const Source *source, int64 k,
								  const KanonReport *report, double ncp, int64 suppressed, const char *column,
								  Datum measures);

/* {"name": value, ...} for the record.  Only what never holds data values may be given (names are none). */
typedef struct RecordedOption
{
	const char *name;
	Oid type;
	Datum value;
} RecordedOption;

extern Datum recorded_options(const RecordedOption *options, int n);

/*
 * {"column": what it shows, ...} of a class, without the columns that show
 * nothing; made as the caller.  pool: the release's.
 */
typedef struct ShownJson ShownJson;
extern ShownJson *shown_json_open(const Source *source);
extern Datum shown_json(ShownJson *json, const KanonCell *cells, const uint32 *pool);

/* How far the cost may be above the optimum, as a share of the bound. */
extern double report_gap(const KanonReport *report);

#endif
