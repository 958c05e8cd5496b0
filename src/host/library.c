/*
 * library.c: which library a function is in, for parallel workers to load.
 */
#include "compat.h"
#include "host/library.h"

#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

char *
library_of(FunctionCallInfo fcinfo)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Datum path;
	bool isnull;
	char *result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	path = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (isnull)
		elog(ERROR, "function %u has no library", fcinfo->flinfo->fn_oid);
	result = TextDatumGetCString(path);
	ReleaseSysCache(tuple);
	return result;
}
