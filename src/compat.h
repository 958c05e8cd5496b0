/*
 * compat.h: every difference between PostgreSQL 13 and 18, and nothing else.
 */
#ifndef KANON_COMPAT_H
#define KANON_COMPAT_H

#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/portal.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#if PG_VERSION_NUM < 130000
#error "kanon needs PostgreSQL 13 or later"
#endif

/* 15 renamed the reservation of a setting's prefix. */
#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

/* 14 renamed the predefined roles. */
#if PG_VERSION_NUM < 140000
#define ROLE_PG_READ_ALL_STATS DEFAULT_ROLE_READ_ALL_STATS
#endif

/* 15 asks for shared memory in a hook, older ones while the library is loaded. */
#if PG_VERSION_NUM >= 150000
#define KANON_AT_SHMEM_REQUEST(request)              \
	static shmem_request_hook_type previous_request; \
	static void request_hook(void)                   \
	{                                                \
		if (previous_request != NULL)                \
			previous_request();                      \
		request();                                   \
	}                                                \
	static void on_shmem_request(void)               \
	{                                                \
		previous_request = shmem_request_hook;       \
		shmem_request_hook = request_hook;           \
	}
#else
#define KANON_AT_SHMEM_REQUEST(request) \
	static void on_shmem_request(void)  \
	{                                   \
		request();                      \
	}
#endif

/* 16 lets it report an error instead of raising it. */
#if PG_VERSION_NUM < 160000
#define kanon_make_range(typcache, lower, upper) make_range(typcache, lower, upper, false)
#else
#define kanon_make_range(typcache, lower, upper) make_range(typcache, lower, upper, false, NULL)
#endif

/* 16 made one ownership and one privilege check of many. */
#if PG_VERSION_NUM < 160000
#include "utils/acl.h"
#define kanon_owns_relation(relid, roleid) pg_class_ownercheck(relid, roleid)
#define kanon_schema_aclcheck(nspid, roleid, mode) pg_namespace_aclcheck(nspid, roleid, mode)
#else
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "utils/acl.h"
#define kanon_owns_relation(relid, roleid) object_ownercheck(RelationRelationId, relid, roleid)
#define kanon_schema_aclcheck(nspid, roleid, mode) object_aclcheck(NamespaceRelationId, nspid, roleid, mode)
#endif

/*
 * Sends the rows of a SELECT to a receiver, under the active snapshot when
 * read_only.  13 can only do so through a portal, which never goes parallel.
 */
static inline void
kanon_spi_select(const char *sql, bool read_only, DestReceiver *dest)
{
#if PG_VERSION_NUM >= 140000
	SPIExecuteOptions options;
	int rc;

	memset(&options, 0, sizeof(options));
	options.read_only = read_only;
	options.dest = dest;
	rc = SPI_execute_extended(sql, &options);
	if (rc < 0)
		elog(ERROR, "SPI_execute_extended failed: %s", SPI_result_code_string(rc));
#else
	Portal portal = SPI_cursor_open_with_args(NULL, sql, 0, NULL, NULL, NULL, read_only, 0);

	PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, dest);
	SPI_cursor_close(portal);
#endif
}

/* 16 lets the caller say whether a datum outlives the sort. */
static inline bool
kanon_getdatum(Tuplesortstate *sort, Datum *datum, bool *isnull)
{
#if PG_VERSION_NUM >= 160000
	return tuplesort_getdatum(sort, true, false, datum, isnull, NULL);
#else
	return tuplesort_getdatum(sort, true, datum, isnull, NULL);
#endif
}

/* 15 brought InitMaterializedSRF (as SetSingleFuncCall until 15.1). */
static inline void
kanon_begin_srf(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;
	TupleDesc desc;
	Oid type;

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) || (rsinfo->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("set-returning function called in a place that cannot accept a set"),
						errhint("Call it in the FROM clause.")));
	old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	if (get_call_result_type(fcinfo, &type, &desc) == TYPEFUNC_SCALAR)
	{
		desc = CreateTemplateTupleDesc(1);
		TupleDescInitEntry(desc, 1, "value", type, -1, 0);
	}
	rsinfo->returnMode = SFRM_Materialize;
	rsinfo->setDesc = CreateTupleDescCopy(desc);
	rsinfo->setResult =
		tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
	MemoryContextSwitchTo(old);
}

#endif
