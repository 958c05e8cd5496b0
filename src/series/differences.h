/*
 * differences.h: what two releases tell of each other, counted from hashes: how few came, went or changed alike
 */
#ifndef KANON_DIFFERENCES_H
#define KANON_DIFFERENCES_H

#include "nodes/pg_list.h"

/*
 * Compares two tables of persons (key, look, kept): the fewest persons who joined, left, moved or changed alike, as
 * kanon_compare_releases counts them; 0: nobody did.
 */
extern int64 differences_of_persons(Oid before, Oid after);

/*
 * Compares two releases: the fewest rows of a class, told by the columns `classes` (names), that one has and the other has not, with
 * what is shown in `beside`; 0: there are none.
 */
extern int64 differences_of_rows(Oid before, Oid after, List *classes, List *beside);

#endif
