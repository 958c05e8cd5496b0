/*
 * settings.h: what a session sets.
 */
#ifndef KANON_HOST_SETTINGS_H
#define KANON_HOST_SETTINGS_H

#include "postgres.h"

extern bool kanon_progress;  /* kanon.progress */
extern int kanon_max_memory; /* kanon.max_memory, kB; -1: from maintenance_work_mem */

/* When the library is loaded. */
extern void settings_define(void);

/* Bytes that kanon's own state may take in this session. */
extern Size kanon_memory_limit(void);

#endif
