/*
 * request.h: the request: all that a caller asks of a run
 */
#ifndef KANON_REQUEST_H
#define KANON_REQUEST_H

#include "core/kanon.h"
#include "hierarchies/levels.h"
#include "options/privacy.h"
#include "rows/cell_values.h"

#include "fmgr.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

/*
 * ---- request: what is asked of a run: the source, the quasi-identifiers, k, and
 * options.  SQL arguments and a publication's jsonb are read by the same table of
 * options (options.c); what runs a request (run.h) does not know who filled it.
 */

/* In the order in which SQL functions have them, after k. */
typedef enum Option
{
	OPTION_METHOD,
	/* what only some models have */
	OPTION_PATTERNS,
	OPTION_RULES,
	OPTION_GAP,
	OPTION_EFFORT,
	OPTION_SHOW,
	OPTION_SUPPRESSION_LIMIT,
	OPTION_SCHEME,
	OPTION_METRIC,
	OPTION_WORKERS,
	OPTION_EXPLORE,
	OPTION_PARTITION_SIZE,
	OPTION_PARTITION_BY,
	OPTION_MUTUAL,
	OPTION_K_COLUMN,
	OPTION_WITH_VALUES,
	OPTION_M,
	OPTION_P,
	OPTION_H,
	OPTION_RHO,
	OPTION_TRANSACTION,
	OPTION_HIERARCHY,
	OPTION_SENSITIVE,
	OPTION_SENSITIVE_ITEMS,
	OPTION_SENSITIVE_COLUMN, /* SQL calls it `sensitive`, too: no model has both */
	OPTION_L,
	OPTION_VIEW,
	OPTION_KNOWN_COLUMNS,
	OPTION_COMBINATIONS,
	OPTION_MISSING,
	/* what nearly all have */
	OPTION_KEEP,
	OPTION_ALLOW_IDENTIFYING,
	OPTION_MASK,
	OPTION_WEIGHTS,
	OPTION_HIERARCHIES,
	OPTION_LEVEL_COST,
	OPTION_PRIVACY,
	OPTION_CATEGORICAL,
	OPTION_RESIDUAL,
	OPTION_CLASS_COLUMN,
	OPTION_MARK,
	OPTION_REPLACE,
	OPTION_DRY_RUN,
	OPTION_TIME_LIMIT,
	OPTION_SEED,
	/* whose options those of a function that writes nothing are */
	OPTION_MODEL,
	OPTION_OPTIONS,
	/* what a publication asks of its releases, whichever model makes them */
	OPTION_MIN_ROWS,
	OPTION_MAX_ROW_CHANGE,
	OPTION_MAX_GCP,
	OPTION_MAX_SUPPRESSED,
	OPTION_MAX_HELD,
	OPTION_COUNT_ROWS,
	OPTION_POLICY,
	/* of one that appends */
	OPTION_LAG,
	OPTION_MIN_BATCH,
	OPTION_MAX_BATCH,
	OPTION_HOLD,
	OPTION_EXPIRE,
	OPTION_ANY_KEY,
	OPTIONS
} Option;

/* A set of them. */
typedef uint64 OptionSet;

#define TAKES(option) (UINT64CONST(1) << OPTION_##option)

/* Those of publications that append have these alone. */
#define OF_BATCHES \
	(TAKES(LAG) | TAKES(MIN_BATCH) | TAKES(MAX_BATCH) | TAKES(HOLD) | TAKES(EXPIRE) | TAKES(ANY_KEY))

/* No function has these. */
#define OF_PUBLICATIONS                                                                                   \
	(TAKES(MIN_ROWS) | TAKES(MAX_ROW_CHANGE) | TAKES(MAX_GCP) | TAKES(MAX_SUPPRESSED) | TAKES(MAX_HELD) | \
	 TAKES(COUNT_ROWS) | TAKES(POLICY) | OF_BATCHES)

/* The options of all models but those without classes. */
#define TAKES_COMMON                                                                                \
	(TAKES(METHOD) | TAKES(KEEP) | TAKES(ALLOW_IDENTIFYING) | TAKES(MASK) | TAKES(WEIGHTS) |        \
	 TAKES(HIERARCHIES) | TAKES(PRIVACY) | TAKES(CATEGORICAL) | TAKES(CLASS_COLUMN) | TAKES(MARK) | \
	 TAKES(REPLACE) | TAKES(DRY_RUN))

/*
 * The options of pattern_guided for functions that read once, solve many times and write
 * nothing: kanon_frontier and kanon_explain.  They take every other model with its options
 * as JSON.
 */
#define TAKES_DRY                                                                                         \
	((pattern_guided_model.options & ~(TAKES(PARTITION_BY) | TAKES(KNOWN_COLUMNS) | TAKES(COMBINATIONS) | \
									   TAKES(MISSING) | TAKES(CLASS_COLUMN) | TAKES(ALLOW_IDENTIFYING) |  \
									   TAKES(MASK) | TAKES(MARK) | TAKES(REPLACE) | TAKES(DRY_RUN))) |    \
	 TAKES(MODEL) | TAKES(OPTIONS))

typedef struct Run Run;
typedef struct Request Request;
typedef struct Steps Steps;

/*
 * A family of methods: what it takes and what it does of its own on a request's
 * way.  Every hook may be NULL.
 */
typedef struct Model
{
	const char *name;   /* a publication's model; kanon_NAME is the function */
	KanonFamily family; /* of its methods, if it is one whose privacy rules may be refused */
	const char *method; /* by default; NULL: one must be named */
	const char *hint;   /* instead of a NULL method */
	int64 least_k;
	const char *k_hint; /* what k means */
	OptionSet options;
	bool secret_seed; /* a seed tells who is where: it is not recorded */
	bool of_sets;     /* one column with sets of items instead of quasi-identifiers; k may be NULL */

	/* The first arguments of its SQL function but the source, where they are none of the usual; how many there are. */
	int (*take)(Request *request, FunctionCallInfo fcinfo);
	/* The request alone: the method, and whether the options go with it; sets solve.  May be asked again for another k. */
	void (*check)(Request *request);
	/* There is a release for each k: raises where the promise is about something else; or NULL. */
	void (*check_ks)(const Request *request);
	/* The source's columns are known: the problem, how columns are shown. */
	void (*set_up)(Run *run);
	/* The row types are read.  k is 0 where it is to be taken later. */
	void (*ready)(Run *run);
	/* The largest k that a release of these rows can have; NULL: their number. */
	int64 (*most_k)(const Run *run);
	/* There is no release: raises what the core's own words do not say; or NULL. */
	void (*refuse)(const Run *run, KanonStatus status);
	/* Solves, staying near a release before; NULL: its releases cannot, and no_near says why. */
	KanonStatus (*near)(Run *run, const KanonPrevious *previous);
	const char *no_near;
	/* There is a release. */
	void (*solved)(Run *run);
	/* Where there are no row types and no release: its own ways to take the steps; or NULL. */
	const Steps *steps;
} Model;

/* In the order of their names; NULL ends them.  Those that no publication has are apart. */
extern const Model *const models[];
extern const Model *const unpublished_models[];

extern const Model pattern_guided_model;
extern const Model pattern_clustering_model;
extern const Model cluster_model;
extern const Model full_domain_model;
extern const Model freeform_model;
extern const Model subtree_model;
extern const Model transactions_model;
extern const Model anatomy_model; /* no publication has two tables */
extern const Model alpha_beta_model;
extern const Model synthetic_model;
extern const Model cross_training_model;

/* The state that tables share that are published together. */
typedef struct LinkedRequest
{
	struct SnapshotData *snapshot; /* under which all of them are read; or NULL */
	Border *border;                /* whose memory all of them share; or NULL */
	Privacy *rules;                /* of the values of known rows; or NULL */
	Oid held; /* read instead of the source, once that was looked at: a private copy; or InvalidOid */
	Oid named; /* what the record tells was read, where the source is a view of kanon's own, or a copy is read */
	List *referring; /* char *: kept columns that show the pseudonym of `key` */
	char *key;
	const char *person; /* kept column by which an unchanged row is known, whatever else is kept; or NULL */
	List *numbers;      /* char *: kept keys, of which the copy has numbers of its own */
	bool placed_later;  /* whoever asks calls run_place when all of them are written */
	ArrayType *told_apart; /* columns by which row types differ beside the quasi-identifiers; or NULL */
	const char *promise;   /* in words, for the target's comment; NULL: k in the quasi-identifiers */
	Jsonb *recorded;       /* what the record says of the release of several tables; or NULL */
} LinkedRequest;

/*
 * The state that a release takes from those before it.  Names of tables that the run makes are
 * quoted and qualified.
 */
typedef struct SeriesRequest
{
	char *key;                   /* the column that says who a row is about: read, not published; or NULL */
	const char *person;          /* whom k counts, where that is another column; or NULL */
	bool appends;                /* the rows are a batch, and no release before is asked */
	const char *persons;         /* with a key: who is in which class */
	struct Histories *histories; /* with a key: k holds over all releases (successive.h); or NULL */
	struct Values
		*values; /* with a key: a person stays among the same values in all releases (values.h); or NULL */
	bool stable; /* it is to stay near the release before: */
	const char *types; /* which row type is in which class; NULL: nobody asks */
	Oid like;          /* a table of the release before: this one is of the same kind; or InvalidOid */
	Oid previous;      /* types of the release before, or InvalidOid, */
	int64 rows_before; /* and its rows; 0: there is none */
	const char *
		definition; /* as text: what else decides about the release; NULL: nobody asks whether anything has changed */
	const bytea *seen;   /* the digest of the release before, or NULL */
	Jsonb *bounds;       /* of hierarchies, as releases before had them (run.h), or NULL */
	bool rehearsed;      /* nobody will see it: only what would come is asked */
	bool outlined;       /* its target is made, and no row is read */
	bool recorded_later; /* whoever asks calls run_record_last when all of it is done */
} SeriesRequest;

/* Options of kanon_pattern_guided and kanon_pattern_clustering. */
typedef struct PatternOptions
{
	ArrayType *patterns;
	Jsonb *rules;
	double gap;
	double effort;
	char *partition_by;      /* a quasi-identifier, or NULL: it is not cut */
	int known_columns;       /* that somebody knows of a person, at most; -1: not given */
	ArrayType *combinations; /* sets of columns that are known together, or NULL */
	char *missing;           /* what agrees with a blank cell, or NULL: nothing */
} PatternOptions;

/* Options of kanon_full_domain and kanon_subtree. */
typedef struct LevelOptions
{
	double suppression_limit;
	char *scheme;
	char *metric;
	bool explore;
} LevelOptions;

/* Options of kanon_freeform alone. */
typedef struct FreeformOptions
{
	bool mutual;
	char *k_column; /* that says what k each row wants, or NULL */
} FreeformOptions;

/* Options of kanon_transactions. */
typedef struct SetOptions
{
	int m;      /* items that are known, at most; 0: not given */
	int p;      /* the same of coherence */
	double h;   /* per cent; NaN: not given */
	double rho; /* NaN: not given */
	char *transaction;
	Oid hierarchy;
	ArrayType *sensitive;
	Oid sensitive_items;
} SetOptions;

/* Options of kanon_anatomy. */
typedef struct AnatomyOptions
{
	const char *sensitive_target; /* NULL: nothing is written */
	char *sensitive_column;
	int l;
	char *view;
} AnatomyOptions;

/* The columns' cells, and their counts. */
typedef struct ColumnOptions
{
	ArrayType *keep;
	ArrayType *allow_identifying;
	Jsonb *mask;
	bytea *mask_key; /* a publication's secret, of masks that last and of who is dealt where; or NULL */
	Jsonb *weights;  /* a list, or an object by columns */
	Jsonb *hierarchies;
	LevelCost level_cost;
	ArrayType *categorical;
	char *class_column;
	bool mark;
} ColumnOptions;

/* Bounds that a publication sets its releases. */
typedef struct LimitOptions
{
	int64 min_rows;
	double max_row_change; /* shares; INFINITY: not given */
	double max_gcp;
	double max_suppressed;
	int64 max_held; /* releases; 0: not given */
} LimitOptions;

/* The options of a publication that appends. */
typedef struct BatchOptions
{
	Interval *lag;    /* NULL: not given */
	int64 min_batch;  /* rows, and persons; 0: not given */
	int64 max_batch;  /* rows; 0: not given */
	int64 hold;       /* refreshes for which a row that fits no class may wait; 0: none */
	Interval *expire; /* NULL: batches stay */
	bool any_key;     /* the key need not grow */
} BatchOptions;

/* Options of functions that solve and write nothing. */
typedef struct DryOptions
{
	char *model;
	Jsonb *options;
	bool with_values;
} DryOptions;

/* The arguments of every run, then a struct for each model or use. */
struct Request
{
	const Model *model;
	const char *function; /* what it is called to whoever waits for it */
	Oid caller;           /* the SQL function that was called: of the extension's schema and library */
	Oid source;
	ArrayType *qis;
	int64 k;            /* 0: the caller sees to that */
	int64 most_k;       /* the largest of several ks, or another one by which labels are judged; 0: k alone */
	const char *target; /* NULL: nothing is written */
	const char *publication; /* whose release it is, or NULL */

	bool published; /* a publication asks; as k and stable there before the options are */
	char *policy;   /* of kanon_policies, which each release keeps; or NULL */

	/* options; NULL and so on where none was given and the model has no default */
	char *method;
	char *show;
	int workers;
	int partition_size; /* 0: the table is not cut */
	Privacy *privacy;
	KanonResidual residual;
	bool replace;
	bool dry_run;
	double time_limit; /* seconds, or INFINITY */
	uint64 seed;
	bool seeded;
	bool count_rows; /* k counts rows, although the key says that persons have several */

	LinkedRequest linked;
	SeriesRequest series;
	PatternOptions guided;
	LevelOptions levels;
	FreeformOptions freeform;
	SetOptions sets;
	AnatomyOptions anatomy;
	ColumnOptions columns;
	LimitOptions limits;
	BatchOptions batches;
	DryOptions dry;

	/* by the model's check */
	const char *recorded_method; /* what the record calls it, when not by `method` */
	KanonSolve solve;
	KanonStatus (*solve_run)(Run *run); /* instead, what takes more than the problem; or NULL */
	void *own;                          /* the model's */

	/* as they were given, for the record */
	Datum values[OPTIONS];
	bool given[OPTIONS]; /* and not NULL */
};

/*
 * From an SQL call: source, target, quasi_identifiers (of sets: items), k, or what the
 * model takes instead, then its options.  Everything that can be wrong with them before the source is looked at
 * raises an error.
 */
extern void request_of_call(Request *request, FunctionCallInfo fcinfo, const Model *model);

/*
 * The same of a function that writes nothing: source, quasi_identifiers, k or ks, then
 * options of pattern_guided, a model, and its options as JSON: of any other model all
 * of them are there.  k: the first of those that the request will be solved for.
 */
extern void request_of_dry_call(Request *request, FunctionCallInfo fcinfo, const char *function,
								OptionSet options, int64 k);

/* models.c: what its model says of the options, and which methods take rules about populations; raises. */
extern void request_check(Request *request);

/* Raises where the options do not go with this k, which the request has from now on. */
extern void request_take_k(Request *request, int64 k);

/*
 * From a JSON object of options, without replace and dry_run, but with those of
 * publications; k and stable are there, the rest of the request is left to the caller.
 */
extern void request_of_json(Request *request, const Model *model, Jsonb *options);

/* By the name of a publication's model; raises with the names there are. */
extern const Model *model_find(const char *name);

/* By that of anything with a k or an l that one can choose. */
extern const Model *model_find_dry(const char *name);
extern bool model_takes(const Model *model, Option option);

/* SQL's name of an option, its type, and its default as text, or NULL. */
extern const char *option_name(Option option);
extern Oid option_type(Option option);
extern Oid option_sql_type(Option option, Oid schema); /* of the arguments of functions in that schema */
extern const char *option_initial(const Model *model, Option option);

/* Values that the record tells of a request or a run.  Only what never holds data values may be given (names are none). */
typedef struct RecordedOption
{
	const char *name;
	Oid type;
	Datum value;
} RecordedOption;

/* The options that were given: rules of the game and names, never a data value. */
extern RecordedOption *request_recorded(const Request *request, int *n);

/*
 * Options (or, with a key, what an option of that name is) whose relations are named with
 * their schema, whatever the search_path.
 */
extern Jsonb *relations_resolved(Jsonb *options, char *key);

/*
 * Which relations options name, in their order, as regclass[]; and the options with the names that
 * those have now: none, when that of one that is gone was taken by somebody whom the publisher did not ask.
 */
extern ArrayType *relations_listed(Jsonb *options);

/*
 * [{"part": "source", "name": …, "oid": …, "kind": …, "owner": …}, …] of what a run read and wrote: its
 * source, its target, the second table of an anatomy ("beside"), and ("option") what its options name.
 */
extern Datum relations_recorded(Oid source, Oid target, Oid beside, Datum options);

extern Jsonb *relations_followed(Jsonb *options, ArrayType *relations, Oid publisher);

/* Could reading the source, or a relation that the options name, run code of another role? */
extern bool names_strangers(Oid source, Jsonb *options);

/* The word's place in a list that ends with NULL; raises with a hint, or (NULL) with those there are. */
/* The request's method; raises if the family has none of this name. */
extern const KanonMethod *method_among(const Request *request, KanonFamily family);
extern int word_among(const char *word, const char *option, const char *const *words, const char *hint);

/* ---- options_json.c: a JSON object of options as values of their types ---- */

/* May an object for the model name the option?  Those that it may, for a message. */
extern bool option_may_be_said(const Model *model, Option option);
extern char *options_known(const Model *model);

/* [OPTIONS] each; raises those that the model does not have, or in another form.  Not given: NULL. */
extern void options_of_json(const Model *model, Jsonb *options, Datum *values, bool *nulls, bool *given);

/*
 * ---- args.c: what SQL functions are called with, checked and in the core's form.
 * Each raises one clear error with a hint.
 */

/* For a function that writes, before anything else: on a standby, say. */
extern void refuse_read_only(FunctionCallInfo fcinfo);

/* Arguments by position; `hint` tells what to write instead of NULL. */
extern void refuse_null(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint);
extern char *text_arg(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint);
extern bool bool_arg(FunctionCallInfo fcinfo, int arg, const char *name);
extern ArrayType *array_arg(FunctionCallInfo fcinfo, int arg);      /* NULL for NULL */
extern ArrayType *name_array_arg(FunctionCallInfo fcinfo, int arg); /* a single name, as an array */
extern Jsonb *jsonb_arg(FunctionCallInfo fcinfo, int arg);          /* NULL for NULL */

/* A numeric as a whole number of 10^-digits; more digits, NaN and infinity are refused. */
extern int64 decimal_arg(FunctionCallInfo fcinfo, int arg, const char *name, int digits, const char *hint);

/* The other way, as text. */
extern char *decimal_text(int64 value, int digits);

/* The chance to be found above which rows are said to be at risk. */
extern double threshold_arg(FunctionCallInfo fcinfo, int arg);

/* The hint when no target is named. */
#define TARGET_HINT "Name the table to create, or say dry_run => true to write nothing."

/* `hint` tells what k means. */
#define K_HINT "Every published combination will occur at least k times; 5 is a usual choice."
/* Raises where a method is for one k and it is not this. */
extern void refuse_other_k(const KanonMethod *method, int64 k, const char *hint);
extern void refuse_small_k(int64 k, int64 least, const char *hint);
extern int64 k_arg(FunctionCallInfo fcinfo, int arg, int64 least, const char *hint);

/* [ncolumns], of a list in their order, or of an object by their names; 1 each for NULL and where none is named. */
extern double *weights_parse(Jsonb *weights, char *const *columns, int ncolumns);

/* The hint that tells what to write instead of NULL. */
#define LEVEL_COST_HINT \
	"It is 'height' (levels cost equal steps) or 'ncp' (the certainty penalty of each level)."

/* rules.c: what kanon_rules() made, as a mask over the source's quasi-identifiers. */
extern void rules_parse(Jsonb *rules, const Source *source, KanonMask *mask);

/* A NOTICE when the mask leaves only the all-suppressed pattern. */
extern void rules_notice_empty(const KanonProblem *problem);

/* ---- options.c: those by which a publication bounds its releases; publication/failure.c holds releases to them ---- */

#define MIN_ROWS_HINT "1 is the default; 0 lets a release be empty."
#define MAX_HELD_HINT "It is a number of releases: of a nightly publication 30 are a month."

extern void take_min_rows(Request *request, Datum value);
extern void check_max_row_change(Request *request, Datum value);
extern void check_max_gcp(Request *request, Datum value);
extern void take_max_held(Request *request, Datum value);
extern void check_max_suppressed(Request *request, Datum value);

/* ---- batch_options.c: those of a publication that appends ---- */

#define HOLD_HINT "It is a number of refreshes, such as '3 nights'."

extern void take_lag(Request *request, Datum value);
extern void check_min_batch(Request *request, Datum value);
extern void check_max_batch(Request *request, Datum value);
extern void take_hold(Request *request, Datum value);
extern void take_expire(Request *request, Datum value);

#endif
