/*
 * suppress.h: the minimal moles of a table.
 */
#ifndef KANON_SUPPRESS_H
#define KANON_SUPPRESS_H

#include "itemsets/hit.h"
#include "itemsets/transactions.h"

/*
 * Adds the minimal moles of at most so many items, public and not suppressed, to
 * hit.  *complete is false when there are more than are gathered at once.
 */
extern KanonStatus kanon_find_moles(const KanonTransactions *problem, KanonPace *pace, const bool *suppressed,
									int size, KanonHit *hit, bool *complete, KanonReport *report);

#endif
