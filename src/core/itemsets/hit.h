/*
 * hit.h: sets that must not stay whole, and which items to suppress for that.
 */
#ifndef KANON_HIT_H
#define KANON_HIT_H

#include "util/pace.h"
#include "util/scratch.h"

/* Sets that are gathered at once; when there are more, these are hit first. */
#ifndef KANON_HIT_MOST
#define KANON_HIT_MOST 4000000
#endif

/* Sets of items, one after the other, and a hash of them. */
typedef struct KanonHit
{
	KanonScratch scratch;
	uint32_t *item;
	size_t nitem;
	size_t item_room;
	size_t *start; /* [n + 1] */
	size_t n;
	size_t room;
	uint32_t *slot; /* [nslots] sets by hash, UINT32_MAX: none; a power of two */
	size_t nslots;
} KanonHit;

/* Adds a set of items, ascending, unless it is there. */
extern KanonStatus kanon_hit_add(KanonHit *hit, const uint32_t *set, int size);

/* Is it there?  Or, of a set, any part of it? */
extern bool kanon_hit_has(const KanonHit *hit, const uint32_t *set, int size);
extern bool kanon_hit_has_part(const KanonHit *hit, const uint32_t *set, int size);
extern void kanon_hit_clear(KanonHit *hit);
extern void kanon_hit_free(KanonHit *hit);

/*
 * Suppresses items until every set has one: always the one that is in most sets for
 * what it loses (loss[nitems], >= 0); in the end, those that
 * turn out not to be needed come back.
 */
extern KanonStatus kanon_hit_suppress(KanonHit *hit, KanonPace *pace, uint32_t nitems, const int64_t *loss,
									  bool *suppressed);

#endif
