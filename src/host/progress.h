/*
 * progress.h: how far a run is, for other sessions: see kanon_progress.
 */
#ifndef KANON_PROGRESS_H
#define KANON_PROGRESS_H

#include "postgres.h"

/* When the library is loaded. */
extern void progress_init(void);

/* The backend is seen until this context goes. */
extern void progress_enter(MemoryContext context);

/* share: 0..1, 0 not known; left: rows, or -1. */
extern void progress_say(const char *phase, double share, int64 left);

/* Says whose refresh it is, until the current memory context goes. */
extern void progress_publication(const char *name, Oid owner);

#endif
