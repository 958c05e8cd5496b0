/*
 * publish_request.c: a request from the arguments of an SQL function, and the rows that it returns
 */
#include "compat.h"
#include "run/run.h"

Datum
publish_request(FunctionCallInfo fcinfo, Request *request, PutRun put)
{
	Lines *lines = lines_begin(fcinfo);
	Run *run;

	if (!request->dry_run)
		refuse_read_only(fcinfo);
	run = run_request(request);
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
