/*
 * record.h: the record of a run
 */
#ifndef KANON_RECORD_H
#define KANON_RECORD_H

#include "rows/row_types.h"
#include "core/model/measure.h"
#include "options/request.h"

#include "datatype/timestamp.h"
#include "postgres.h"
#include "catalog/indexing.h"
#include "utils/rel.h"

/* ---- record.c: the record of runs, behind the views ---- */

/*
 * How many classes, with how many rows, are of about which size: for histograms
 * and risks that outlive the source.  The sizes that matter to readers of risk
 * figures below k, then k and its doublings, so that k is always a border.
 */
#define MOST_SIZES 64

typedef struct Sizes
{
	int n;
	int64 from[MOST_SIZES];
	int64 classes[MOST_SIZES];
	int64 rows[MOST_SIZES];
	int64 least; /* of a class; 0: there is none */
} Sizes;

/* Sizes of source and target; wholly blank rows are not counted, as in kanon_check. */
typedef struct RunSizes
{
	Sizes source;
	Sizes target;
	int64 source_blank;
	int64 target_blank;
	int64 combinations; /* of quasi-identifiers, in the source */
} RunSizes;

/* The classes of the table as readers see it: they cannot tell a NULL of the source from a cell that shows nothing. */
typedef struct FoundClasses
{
	Sizes sizes;             /* but for blank rows */
	KanonClassSizes classes; /* the same */
	int64 blank;             /* rows that show nothing: a class like any other */
	int64 sum;               /* rows */
	uint64 digest;           /* kanon_mix of each class's size, added up; with marks blank rows are several */
} FoundClasses;

extern const FoundClasses *found_begin(FoundClasses *found, int64 k); /* returns it */
extern void found_class(void *found, int64 rows, bool blank);

typedef struct RunRecord
{
	TimestampTz started_at;
	const char *source;
	const char *target;
	Oid target_oid;
	Oid beside_oid;          /* the second table of an anatomy, or InvalidOid */
	const char *publication; /* whose release it is, or NULL */
	const char *model;
	const char *method;
	int64 row_count;
	int64 patterns;                     /* -1: not counted */
	Size peak_memory;                   /* bytes of kanon's own state, at most */
	double classification;              /* Iyengar's metric; NaN: no class column was named */
	Datum options;                      /* jsonb of recorded_options */
	const KanonColumnMeasures *columns; /* [nqis] */
	const RunSizes *sizes;              /* NULL: those of the row types and the release */
	const FoundClasses *found;          /* in the target; NULL, or no rows: those of the release */
	double read_ms;
	double solve_ms;
	double write_ms;
	double verify_ms;
} RunRecord;

/*
 * Records each class's cells, before anything is written: it may be more than a record
 * can hold.  Returns the number of the run, whose other rows follow when all is done.
 */
extern int64 run_record_classes(Oid schema, const RowTypes *types, const KanonProblem *problem,
								const KanonRelease *release, const double *tuple_diversity);
extern void run_record(Oid schema, int64 run, const RunRecord *record, const RowTypes *types,
					   const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
					   const KanonMeasures *measures);

/* The classes of a release of which some are at hand at a time. */
typedef struct ClassRecorder ClassRecorder;
extern ClassRecorder *run_record_begin(Oid schema, const Source *source, int64 *run);
extern void run_record_chunk(ClassRecorder *recorder, const KanonRelease *release,
							 const double *tuple_diversity);
extern void run_record_end(ClassRecorder *recorder);

/* And their sizes, and those of the source's row types: each quasi-identifier's codes, ascending. */
extern void sizes_begin(RunSizes *sizes, int64 k);
extern void sizes_of_types(RunSizes *sizes, const KanonColumn *columns, int nqis, uint32 *const *code,
						   const int64 *rows, uint32 n);
extern void sizes_of_classes(RunSizes *sizes, const Source *source, const KanonProblem *problem,
							 const KanonRelease *release);

/* The record of a run without row types. */
typedef struct ClasslessRun
{
	int64 k;
	double ncp; /* NaN: nothing is measured so */
	int64 suppressed;
	const char *column; /* which has */
	Datum measures;     /* as a JSON object */
} ClasslessRun;

/* source: the columns that were kept */
extern int64 run_record_classless(Oid schema, const RunRecord *record, const Source *source,
								  const KanonReport *report, const ClasslessRun *classless);

/* {"name": value, ...} of those. */
extern Datum recorded_options(const RecordedOption *options, int n);

/* The counts of classes that were made while they were written, as an object. */
struct ClassesTold;
extern Datum recorded_classes(const struct ClassesTold *told);

/*
 * {"column": what it shows, ...} of a class, without the columns that show
 * nothing; made as the caller.  pool: the release's.
 */
typedef struct ShownJson ShownJson;
extern ShownJson *shown_json_open(const Source *source);
extern Datum shown_json(ShownJson *json, const KanonCell *cells, const uint32 *pool);

/* How far the cost may be above the optimum, as a share of the bound. */
extern double report_gap(const KanonReport *report);

/*
 * ---- own_tables.c: rows of kanon's own tables, put there without a query.
 *
 * A query's parameters, and plans that hold them, can be logged, and a query would need
 * to run as the tables' owner.
 */

/* One of kanon's tables, and the row that is being put together for it. */
typedef struct RecordTable
{
	Relation rel;
	CatalogIndexState indexes;
	MemoryContext row; /* what a row leaves behind */
	Datum *values;
	bool *nulls;
} RecordTable;

/* Opens a table in the extension's schema; raises when the table no longer belongs to the extension. */
extern void record_open(RecordTable *table, Oid schema, const char *name);

/* A column of the row; those that were not set since the last row are NULL. */
extern void record_set(RecordTable *table, const char *name, Datum value, bool isnull);
extern void record_set_text(RecordTable *table, const char *name, const char *value);
extern void record_set_int8(RecordTable *table, const char *name, int64 value, bool isnull);
extern void record_set_float8(RecordTable *table, const char *name, double value, bool isnull);

/* The row is whole: a new one, or in place of one that is there. */
extern void record_insert(RecordTable *table);
extern void record_put(RecordTable *table, ItemPointer instead);
extern void record_close(RecordTable *table);

/* Others than a superuser who owns it may write into it, by a GRANT on it or on a column. */
extern bool record_is_open(const RecordTable *table);

#endif
