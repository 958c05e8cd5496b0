/*
 * args.h: what SQL functions are called with, checked and in the core's form.
 * Each raises one clear error with a hint.
 */
#ifndef KANON_ARGS_H
#define KANON_ARGS_H

#include "kanon_pg.h"

/* Arguments by position; `hint` tells what to write instead of NULL. */
extern void refuse_null(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint);
extern char *text_arg(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint);
extern bool bool_arg(FunctionCallInfo fcinfo, int arg, const char *name);
extern ArrayType *array_arg(FunctionCallInfo fcinfo, int arg);	/* NULL for NULL */
extern int64 k_arg(FunctionCallInfo fcinfo, int arg);	/* >= 2 */
extern double time_limit_arg(FunctionCallInfo fcinfo, int arg); /* seconds; NULL: INFINITY */
extern double gap_arg(FunctionCallInfo fcinfo, int arg);
extern double effort_arg(FunctionCallInfo fcinfo, int arg);

extern KanonPattern pattern_parse(const char *text, int ncolumns);
extern KanonPattern *patterns_parse(ArrayType *patterns, int ncolumns, size_t *n);

/* [ncolumns]; 1 each for NULL. */
extern double *weights_parse(ArrayType *weights, int ncolumns);
extern KanonResidual residual_parse(const char *word);
extern KanonSolve method_parse(const char *word);

/* api/rules.c: what kanon_rules() made, as a mask over the source's quasi-identifiers. */
extern void rules_parse(Jsonb *rules, const Source *source, KanonMask *mask);

/* A NOTICE when the mask leaves only the all-suppressed pattern. */
extern void rules_notice_empty(const KanonProblem *problem);

#endif
