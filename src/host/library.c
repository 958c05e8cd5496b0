/*
 * library.c: which library a function is in, for parallel workers to load.
 */
#include "compat.h"
#include "host/library.h"

#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

char *
library_of(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Datum path;
	bool isnull;
	char *result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	path = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (isnull)
		elog(ERROR, "function %u has no library", function);
	result = TextDatumGetCString(path);
	ReleaseSysCache(tuple);
	return result;
}
