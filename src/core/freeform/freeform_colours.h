/*
 * freeform_colours.h: groups of rows that keep rules beyond k whichever rows are in them.
 */
#ifndef FREEFORM_COLOURS_H
#define FREEFORM_COLOURS_H

#include "freeform/freeform_ruled.h"

/* Groups that are larger than so many times k: rings are better. */
#define FREEFORM_MOST_WIDTH 4

/* Some rows of a kind (all that rules look at is the same) have a colour. */
typedef struct FreeformPiece
{
	uint32_t kind;
	uint32_t colour;
	uint32_t rows;
} FreeformPiece;

/* A code of a rule, or a colour, by how many there are of it. */
typedef struct FreeformTally
{
	int32_t code;
	uint32_t n;
} FreeformTally;

typedef struct FreeformColours
{
	FreeformRules rules;
	uint32_t width;    /* rows of a group; 0: no colours do, the rows are for rings */
	uint32_t ncolours; /* a group has as many rows of each */
	uint32_t ngroups;
	uint32_t ntail; /* rows in none of them: a ring of their own */
	uint32_t
		*slot;     /* [n] of its group, which is its colour and a multiple of ncolours; FREEFORM_NONE: tail */
	uint32_t *row; /* [n] kind by kind, in each in random order */
	uint32_t nkinds;
	uint32_t *start; /* [nkinds + 1] */
	uint32_t *head;  /* [nkinds] rows in groups */

	/* while colours are looked for */
	uint32_t *total;      /* [n] by code */
	uint32_t *worst;      /* [n] */
	bool *used;           /* [n] */
	uint32_t *kind;       /* [2 * n] kinds as they are packed */
	uint32_t *room;       /* [n] of each colour */
	FreeformTally *tally; /* [2 * n] */
	FreeformTally *order; /* [2 * n] */
	FreeformPiece *piece; /* [2 * 3 * n] */
	uint32_t npieces;
} FreeformColours;

/* Gives rows their colours and slots; work->n, k and part are there.  In memory of the work's scratch. */
extern KanonStatus freeform_colours_open(FreeformColours *colours, FreeformWork *work);

/* freeform_groups.c: the records of slot 0 have taken rows: the graph, and what was drawn. */
extern KanonStatus freeform_groups_graph(FreeformColours *colours, KanonFreeformGraph *graph);

#endif
