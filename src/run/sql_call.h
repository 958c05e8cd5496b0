/*
 * sql_call.h: what the functions that publish have in common.
 */
#ifndef KANON_SQL_CALL_H
#define KANON_SQL_CALL_H

#include "host/lines.h"
#include "run/run.h"

/* What comes back. */
typedef void (*PutRun)(Lines *lines, const Run *run);

/* Runs a request; and one of the call's arguments. */
extern Datum publish_request(FunctionCallInfo fcinfo, Request *request, PutRun put);
extern Datum publish(FunctionCallInfo fcinfo, const Model *model, PutRun put);

#endif
