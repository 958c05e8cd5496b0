/*
 * synthetic_rows.h: rows that were drawn from a domain become a table, which is read again.
 */
#ifndef KANON_SYNTHETIC_ROWS_H
#define KANON_SYNTHETIC_ROWS_H

#include "noise/domains.h"
#include "rows/target.h"

/* In random order; sorts what was drawn. */
extern void made_write(const Target *target, const Domains *domains, KanonDrawn *drawn, Border *border);

/* Raises when the table does not have just those rows. */
extern void made_verify(const Target *target, const Domains *domains, const KanonDrawn *drawn,
						Border *border);

#endif
