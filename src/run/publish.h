/*
 * publish.h: what the functions that publish a table have in common: arguments
 * that they all take, and the way from these to the table.
 *
 * Such a function calls publish_args, reads its own arguments, and then
 * publish_begin, publish_read, run_solve, publish_end and run_end, filling the
 * run's problem in between.
 */
#ifndef KANON_PUBLISH_H
#define KANON_PUBLISH_H

#include "run/args.h"
#include "run/run.h"

/*
 * Where a function has those arguments (source, target, quasi_identifiers and k
 * are always its first), and what it says of itself.  0: it has no such argument.
 */
typedef struct PublishSignature
{
	const char *function;
	int64 least_k;
	const char *k_hint; /* what k means */
	int keep;
	int mark;
	int replace;
	int dry_run;
	int weights;
	int categorical;
	int limits; /* time_limit, gap, seed, effort */
	int class_column;
	int hierarchies;
	int level_cost;
	int privacy;
	const int *recorded; /* [nrecorded] arguments for the record; see call_options */
	int nrecorded;
} PublishSignature;

/* What all of them have, by the names in their enum and of their list. */
#define PUBLISH_COMMON                                                                  \
	.keep = ARG_KEEP, .mark = ARG_MARK, .replace = ARG_REPLACE, .dry_run = ARG_DRY_RUN, \
	.weights = ARG_WEIGHTS, .categorical = ARG_CATEGORICAL, .recorded = recorded,       \
	.nrecorded = lengthof(recorded)

#define PUBLISH_SOURCE 0
#define PUBLISH_TARGET 1
#define PUBLISH_QIS 2
#define PUBLISH_K 3

typedef struct Publish
{
	const PublishSignature *signature;
	FunctionCallInfo fcinfo;
	int64 k;
	const char *target; /* NULL: a dry run */
	bool mark;
	bool replace;
	Limits limits;
	double *weights; /* [nqis] after publish_begin */
	LevelCost level_cost;
	Privacy *privacy; /* NULL, or for privacy_supported before publish_begin */
	Run *run;         /* after publish_begin */
} Publish;

/* Everything that can be wrong with the arguments before the source is looked at. */
extern void publish_args(Publish *publish, FunctionCallInfo fcinfo, const PublishSignature *signature);

/* Opens the source and checks what depends on its columns; sets the problem's limits. */
extern Run *publish_begin(Publish *publish);

/* Makes the table to fill, unless it is a dry run, and reads the row types. */
extern void publish_read(Publish *publish);

/* Publishes and records, unless it is a dry run. */
extern void publish_end(Publish *publish);

#endif
