/*
 * made.h: rows that were drawn from a domain become a table, which is read again.
 */
#ifndef KANON_WRITE_MADE_H
#define KANON_WRITE_MADE_H

#include "read/domains.h"
#include "write/target.h"

/* In random order; sorts what was drawn. */
extern void made_write(const Target *target, const Domains *domains, KanonDrawn *drawn, Border *border);

/* Raises when the table does not have just those rows. */
extern void made_verify(const Target *target, const Domains *domains, const KanonDrawn *drawn,
						Border *border);

#endif
