/*
 * settings.h: what a session sets.
 */
#ifndef KANON_SETTINGS_H
#define KANON_SETTINGS_H

#include "postgres.h"

/* NOTICEs of how far a run is: in what a session calls itself, but not where nobody may be watching. */
typedef enum ProgressSetting
{
	PROGRESS_OFF,
	PROGRESS_ON,
	PROGRESS_AUTO
} ProgressSetting;

/* What is done with a source that Citus has distributed. */
typedef enum DistributeSetting
{
	DISTRIBUTE_OFF,
	DISTRIBUTE_AUTO
} DistributeSetting;

extern int kanon_distribute; /* kanon.distribute */
extern int kanon_progress;   /* kanon.progress */

/* Relations that could run code of another role are read: kanon.read_strangers (see trust.h). */
extern bool kanon_read_strangers;

/* A refresh looks for changes first: kanon.skip_unchanged. */
extern bool kanon_skip_unchanged;

/* When the library is loaded. */
extern void settings_define(void);

/* Bytes that kanon's own state may take in this session. */
extern Size kanon_memory_limit(void);

#endif
