/*
 * variables.c: the types of PL/pgSQL's variables.
 *
 * The language makes the values of its variables itself: their first ones, and what is assigned, are cast to their
 * type without a query, and checks of domains run.  A plugin of the language is told of each function before that.
 * Another plugin, a debugger say, goes on as if this one were not there.
 */
#include "compat.h"
#include "host/variables.h"

#include "fmgr.h"
#include "plpgsql.h"

static PLpgSQL_plugin plugin;
static PLpgSQL_plugin *previous;
static const void *watcher = NULL;
static void (*look_at)(Oid type);

/* (a field of a record is cast to what the record's type says) */
static Oid
type_of(const PLpgSQL_datum *datum)
{
	switch ((int) datum->dtype)
	{
		case PLPGSQL_DTYPE_VAR:
		case PLPGSQL_DTYPE_PROMISE:
			return ((const PLpgSQL_var *) datum)->datatype->typoid;
		case PLPGSQL_DTYPE_REC:
			return ((const PLpgSQL_rec *) datum)->rectypeid;
		default:
			return InvalidOid;
	}
}

static void
look_at_function_called(PLpgSQL_execstate *estate, PLpgSQL_function *function)
{
	for (int i = 0; i < function->ndatums; i++)
		look_at(type_of(function->datums[i]));
	if (previous == NULL || previous->func_setup == NULL)
		return;
	/* the language has filled in what it offers to plugins */
	plugin.func_setup = previous->func_setup;
	*previous = plugin;
	plugin.func_setup = look_at_function_called;
	previous->func_setup(estate, function);
}

void
variables_watch(const void *by, void (*look)(Oid type))
{
	void **place = find_rendezvous_variable("PLpgSQL_plugin");

	if (watcher != NULL)
		return;
	watcher = by;
	look_at = look;
	previous = *place;
	plugin = previous != NULL ? *previous : (PLpgSQL_plugin){0};
	plugin.func_setup = look_at_function_called;
	*place = &plugin;
}

void
variables_leave(const void *by)
{
	void **place = find_rendezvous_variable("PLpgSQL_plugin");

	if (watcher != by)
		return;
	watcher = NULL;
	if (*place == &plugin)
		*place = previous;
}
