/*
 * library.h: which library a function is in, for parallel workers to load.
 */
#ifndef KANON_HOST_LIBRARY_H
#define KANON_HOST_LIBRARY_H

#include "fmgr.h"

/* The library that an SQL function is in, as it was named when that was created. */
extern char *library_of(Oid function);

#endif
