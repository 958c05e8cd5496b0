/*
 * anatomy_source.h: a relation whose rows are told apart by a sensitive column alone.
 */
#ifndef KANON_ANATOMY_SOURCE_H
#define KANON_ANATOMY_SOURCE_H

#include "host/border.h"
#include "rows/shuffle.h"
#include "rows/source.h"

/*
 * Finds the columns and locks the relation.  In what comes back the sensitive column is
 * the only one that is grouped; the quasi-identifiers are kept.
 */
extern Source *anatomy_open(Oid relid, ArrayType *qis, const char *sensitive);

/* What was read. */
typedef struct AnatomyRows
{
	Source *source;
	uint32 nrows;
	uint32 nvalues;    /* of the sensitive column: codes of its dictionary, NULL among them */
	int64 *rows;       /* [nvalues] with each */
	Shuffle *shuffled; /* quasi-identifiers, numbered by `code`; NULL: not asked for */
	uint32 *code;      /* [nvalues] from that number */
} AnatomyRows;

/* Under the active snapshot. */
extern AnatomyRows *anatomy_read(Source *source, bool shuffled, Border *border);

#endif
