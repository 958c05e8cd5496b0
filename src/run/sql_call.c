/*
 * sql_call.c: a request goes in by a function's arguments, lines about the outcome come back.
 */
#include "compat.h"
#include "run/run.h"

Datum
publish_request(FunctionCallInfo fcinfo, Request *request, PutRun put)
{
	Lines *lines = lines_begin(fcinfo);
	Run *run = run_request(request);

	put(lines, run);
	run_end(run);
	return (Datum) 0;
}

Datum
publish(FunctionCallInfo fcinfo, const Model *model, PutRun put)
{
	Request request;

	request_of_call(&request, fcinfo, model);
	return publish_request(fcinfo, &request, put);
}
