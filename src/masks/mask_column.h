/*
 * mask_column.h: masks that need to know all of a column: noise, values swapped or drawn anew, means of groups.
 */
#ifndef KANON_MASK_COLUMN_H
#define KANON_MASK_COLUMN_H

#include "masks/mask_apply.h"

/* Is it one of these? */
extern bool mask_of_column(const Mask *mask);

/* From {"noise": 0.1} and so on; raises with `expected` where the number does not fit: what it must be, or NULL. */
extern const char *mask_column_read(Mask *mask, double number);

extern void mask_column_begin(Mask *mask, Border *border);
extern void mask_column_note(Mask *mask, Datum value);
extern void mask_column_noted(Mask *mask);
extern Datum mask_column_apply(Mask *mask, Datum value);

#endif
