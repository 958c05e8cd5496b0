/*
 * suggest.h: what kanon_suggest finds of each column, for it and for the call that is made of it.
 */
#ifndef KANON_SUGGEST_H
#define KANON_SUGGEST_H

#include "rows/source.h"
#include "rows/verify.h"

#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

/* Rows in which columns are compared with each other, and columns that are. */
#define SUGGEST_SAMPLE 5000
#define SUGGEST_COMPARED 64

typedef struct Suggestion
{
	const SourceColumn *column;
	Oid base;       /* its type, below domains */
	bool varlen;    /* text: its length is looked at */
	bool fractions; /* a number that has some behind the point: it was measured */
	double least;   /* of numbers */
	double most;
	int16 length;
	bool by_value;
	int64 nulls;
	double bytes;
	KeptFigures figures;
	uint32 *sample; /* [SUGGEST_SAMPLE] hashes of its values in the rows of the sample */
	ColumnRole role;
	bool known;   /* its name, type or label says that others know it */
	Oid equality; /* an operator by which it can be grouped, or InvalidOid */
	const char *why;
	const struct SurveyUse
		*survey; /* what it is in a survey, by its name, and as far as its values go; or NULL */
	const char *tells[SUGGEST_COMPARED]; /* columns that can be guessed from it */
	int ntells;
} Suggestion;

typedef struct Suggest
{
	const Source *source;
	KeptLook *look;
	Suggestion *columns; /* [source->nkept] */
	int64 rows;
	pg_prng_state random;
	MemoryContext scratch;
	const char *label; /* kanon_label, qualified */
} Suggest;

/*
 * Reads a relation, as the caller, and finds the role of each column; its snapshot is the active one until
 * PopActiveSnapshot.
 */
extern Suggest *suggest_read(Oid relid, Border *border);

/* The parts of a call, in JSON or as elements of arrays. */
typedef struct SuggestedCall
{
	StringInfoData qis, keep, masks, hierarchies, out;
	int nqis;
	bool
		known; /* what others know, and the builders have a hierarchy for, is no identifier, however few rows share it */
} SuggestedCall;

/* suggest_call.c: columns by their roles, but those that are skipped (char *). */
extern void suggest_begin(SuggestedCall *call);
extern void suggest_collect(SuggestedCall *call, Suggest *suggest, const List *skipped);

/* suggest_linked.c: a call of kanon_linked for all tables to which a table has foreign keys, over any number of steps. */
extern text *suggest_linked(Oid relid, const char *target, int64 k, const char *schema);

#endif
