/*
 * settings.c: what a session sets.
 */
#include "compat.h"
#include "host/settings.h"
#include "core/util/fault.h"

#define MIN_MAX_MEMORY 1024 /* kB */

/* Unset, kanon may use as much as this many maintenance operations. */
#define MAINTENANCE_SHARES 16

int kanon_progress = PROGRESS_AUTO;
static int kanon_max_memory = -1; /* kB; -1: from maintenance_work_mem */
int kanon_distribute = DISTRIBUTE_AUTO;
bool kanon_read_strangers = true;
bool kanon_skip_unchanged = true;

/* As PostgreSQL's own settings of this kind, with every word that a boolean has. */
static const struct config_enum_entry progress_settings[] = {
	{"auto", PROGRESS_AUTO, false}, {"on", PROGRESS_ON, false},
	{"off", PROGRESS_OFF, false},   {"true", PROGRESS_ON, true},
	{"yes", PROGRESS_ON, true},     {"1", PROGRESS_ON, true},
	{"false", PROGRESS_OFF, true},  {"no", PROGRESS_OFF, true},
	{"0", PROGRESS_OFF, true},      {NULL, 0, false}};

static const struct config_enum_entry distribute_settings[] = {
	{"auto", DISTRIBUTE_AUTO, false}, {"off", DISTRIBUTE_OFF, false}, {NULL, 0, false}};

#ifdef KANON_FAULTS
#define FAULT_ENTRY(name) {#name, KANON_FAULT_##name, false},
static const struct config_enum_entry faults[] = {{"none", KANON_FAULT_none, false},
												  KANON_FAULT_LIST(FAULT_ENTRY){NULL, 0, false}};
#endif

static bool
check_max_memory(int *newval, void **extra, GucSource source)
{
	if (*newval != -1 && *newval < MIN_MAX_MEMORY)
	{
		GUC_check_errdetail("\"kanon.max_memory\" must be -1 or at least %d kB.", MIN_MAX_MEMORY);
		return false;
	}
	return true;
}

void
settings_define(void)
{
	DefineCustomEnumVariable("kanon.progress", "Says every five seconds how far a long run is.",
							 "auto: in what a session calls itself, not in refreshes and background workers.",
							 &kanon_progress, PROGRESS_AUTO, progress_settings, PGC_USERSET, 0, NULL, NULL,
							 NULL);
	DefineCustomEnumVariable("kanon.distribute",
							 "Distributes the release of a table that Citus has distributed, too.",
							 "auto: unless it takes the place of a table that is not.", &kanon_distribute,
							 DISTRIBUTE_AUTO, distribute_settings, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"kanon.read_strangers", "Reads relations that could run code of another role with your rights.",
		"off: refused are views, foreign tables and tables with policies or rules, unless you or a superuser own them, and whatever calls functions of another role or makes values of its domains.",
		&kanon_read_strangers, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("kanon.skip_unchanged", "A refresh makes no release where nothing has changed.",
							 "off: each refresh reads the source once, and makes a release.",
							 &kanon_skip_unchanged, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("kanon.max_memory", "Most memory that kanon's own state may take in a session.",
							"Row types, dictionaries and methods count; the executor's grouping and "
							"sorting follow work_mem. -1 means 16 times maintenance_work_mem.",
							&kanon_max_memory, -1, -1, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB,
							check_max_memory, NULL, NULL);
#ifdef KANON_FAULTS
	DefineCustomEnumVariable("kanon.fault", "What is broken on purpose.", NULL, &kanon_fault,
							 KANON_FAULT_none, faults, PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("kanon.refuse", "The allocation that is refused, counted from now on.", NULL,
							&kanon_refuse, 0, 0, INT_MAX, PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
#endif
	MarkGUCPrefixReserved("kanon");
}

Size
kanon_memory_limit(void)
{
	if (kanon_max_memory >= 0)
		return (Size) kanon_max_memory * 1024;
	return (Size) maintenance_work_mem * 1024 * MAINTENANCE_SHARES;
}
