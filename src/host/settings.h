/*
 * settings.h: settings and progress
 */
#ifndef KANON_SETTINGS_H
#define KANON_SETTINGS_H

#include "postgres.h"

/* ---- settings.c: what a session sets ---- */

/* NOTICEs of how far a run is: in what a session calls itself, but not where nobody may be watching. */
typedef enum ProgressSetting
{
	PROGRESS_OFF,
	PROGRESS_ON,
	PROGRESS_AUTO
} ProgressSetting;

/* The treatment of a source that Citus has distributed. */
typedef enum DistributeSetting
{
	DISTRIBUTE_OFF,
	DISTRIBUTE_AUTO
} DistributeSetting;

extern int kanon_distribute; /* kanon.distribute */
extern int kanon_progress;   /* kanon.progress */

/* Relations that could run code of another role are read: kanon.read_strangers (see catalog.h). */
extern bool kanon_read_strangers;

/* A refresh looks for changes first: kanon.skip_unchanged. */
extern bool kanon_skip_unchanged;

/* When the library is loaded. */
extern void settings_define(void);

/* Bytes that kanon's own state may take in this session. */
extern Size kanon_memory_limit(void);

/* ---- progress.c: how far a run is, for other sessions: see kanon_progress ---- */

/* When the library is loaded. */
extern void progress_init(void);

/* The backend is seen until this context goes. */
extern void progress_enter(MemoryContext context);

/* share: 0..1, 0 not known; left: rows, or -1. */
extern void progress_say(const char *phase, double share, int64 left);

/* Says whose refresh it is, until the current memory context goes. */
extern void progress_publication(const char *name, Oid owner);

#endif
