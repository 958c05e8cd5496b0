/*
 * args.h: what SQL functions are called with, checked and in the core's form.
 * Each raises one clear error with a hint.
 */
#ifndef KANON_ARGS_H
#define KANON_ARGS_H

#include "rows/pattern_text.h"
#include "run/request.h"

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

/* What is written, if not to be tried only. */
#define TARGET_HINT "Name the table to create, or say dry_run => true to write nothing."

/* `hint` tells what k means. */
#define K_HINT "Every published combination will occur at least k times; 5 is a usual choice."
/* Raises where a method is for one k and it is not this. */
extern void refuse_other_k(const KanonMethod *method, int64 k, const char *hint);
extern void refuse_small_k(int64 k, int64 least, const char *hint);
extern int64 k_arg(FunctionCallInfo fcinfo, int arg, int64 least, const char *hint);

/* [ncolumns]; 1 each for NULL. */
extern double *weights_parse(ArrayType *weights, int ncolumns);

/* What to write instead of NULL. */
#define LEVEL_COST_HINT \
	"It is 'height' (levels cost equal steps) or 'ncp' (the certainty penalty of each level)."

/* rules.c: what kanon_rules() made, as a mask over the source's quasi-identifiers. */
extern void rules_parse(Jsonb *rules, const Source *source, KanonMask *mask);

/* A NOTICE when the mask leaves only the all-suppressed pattern. */
extern void rules_notice_empty(const KanonProblem *problem);

#endif
