/*
 * found.h: what runs of greedy with several ks have in common.
 */
#ifndef KANON_FOUND_H
#define KANON_FOUND_H

#include "kanon.h"

/*
 * Groups that greedy found in the whole of a problem: runs with larger ks, one after the other, do not search for
 * them again.  A copy of the problem knows nothing of them.
 */
typedef struct KanonFound
{
	const KanonProblem *problem; /* NULL: they are no help */
	int64_t k;                   /* of the last run: those of smaller ks find nothing here */
	bool more;                   /* another k follows */
	size_t room;                 /* bytes at most */
	size_t needed;               /* of it, by groups for which there was too little */
	struct GreedyKept *kept;
} KanonFound;

extern void kanon_found_free(KanonEnv *env, KanonFound *found);

#endif
