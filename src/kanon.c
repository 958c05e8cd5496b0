/*
 * kanon.c: the module.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/settings.h"
#include "rows/source.h"

#include "miscadmin.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

/*
 * A cancel halfway would leave settings defined that the next attempt to load the library
 * defines again, which the server refuses for as long as the session lasts.
 */
void
_PG_init(void)
{
	HOLD_INTERRUPTS();
	settings_define();
	labels_register();
	progress_init();
	gate_init();
	trust_init();
	RESUME_INTERRUPTS();
}
