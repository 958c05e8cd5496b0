/*
 * kanon.c: the module.
 */
#include "compat.h"
#include "host/gate.h"
#include "host/progress.h"
#include "host/settings.h"
#include "read/labels.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	settings_define();
	labels_register();
	progress_init();
	gate_init();
}
