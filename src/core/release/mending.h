/*
 * mending.h: the clusters of repair.c, for it and for the rest that is left of them (repair_rest.c).
 */
#ifndef KANON_MENDING_H
#define KANON_MENDING_H

#include "release/merged_rows.h"
#include "release/repair.h"
#include "util/heap.h"
#include "util/pace.h"

/* Rows that are looked at for one broken cluster, or one that is to join the rest: of large ones fewer are asked. */
#define LOOKED_AT ((uint64_t) 1 << 20)

/* Rows that leave a cluster for the rest. */
typedef struct Draw
{
	uint32_t cluster; /* KANON_NO_CLUSTER: none do */
	int64_t *rows;    /* [held.values.n] by what rules look at */
} Draw;

typedef struct Repair
{
	const KanonShape *shape;
	const KanonProblem *problem;
	KanonScratch scratch;
	KanonPace pace;
	size_t width; /* columns */
	uint32_t n;   /* clusters; number n is the rest */
	KanonParts *parts;
	Held held; /* their rows */
	Draw draw;

	/* [n + 1] by cluster */
	KanonHull *hull; /* [* width] */
	double *charge;
	KanonPattern *pattern;
	uint32_t *before; /* in the order of what they show */
	uint32_t *after;
	uint32_t head;
	bool *broken;

	uint32_t *types; /* [2 * nflows] of clusters at hand */
	int64_t *counts;
	KanonHeap queue; /* broken ones */
	uint32_t alive;
	bool cancelled;
	bool hurried; /* time was up before all were mended */
} Repair;

/* Do the rows of a, and of b unless that is KANON_NO_CLUSTER, keep the rules of a class? */
extern bool repair_keeps(Repair *r, uint32_t a, uint32_t b);

/* What two clusters as one would show; false: a row of it would lose `limit` or more. */
extern bool repair_unite(const Repair *r, uint32_t a, uint32_t b, double limit, KanonHull *hull);

extern void repair_to_rest(Repair *r, uint32_t cluster);

/* repair_rest.c: where the rest may not be published as it is, it is mended, too; *changed: clusters are not what they were. */
extern KanonStatus repair_rest(Repair *r, bool *changed);

#endif
