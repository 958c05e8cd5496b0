/*
 * publish.c: what the functions that publish a table have in common.
 */
#include "compat.h"
#include "run/publish.h"

#include <math.h>

#include "utils/fmgrprotos.h"

void
publish_args(Publish *publish, FunctionCallInfo fcinfo, const PublishSignature *signature)
{
	memset(publish, 0, sizeof(*publish));
	publish->signature = signature;
	publish->fcinfo = fcinfo;
	refuse_null(fcinfo, PUBLISH_SOURCE, "source", "Name the table or view to publish.");
	publish->k = k_arg(fcinfo, PUBLISH_K, signature->least_k, signature->k_hint);
	publish->mark = bool_arg(fcinfo, signature->mark, "mark");
	publish->replace = bool_arg(fcinfo, signature->replace, "replace");
	if (signature->limits > 0)
		publish->limits = limits_arg(fcinfo, signature->limits);
	else
		publish->limits = (Limits){.time_limit = INFINITY, .seed = 1, .effort = 1};
	if (signature->level_cost > 0)
		publish->level_cost = level_cost_arg(fcinfo, signature->level_cost);
	if (signature->privacy > 0)
		publish->privacy = privacy_arg(fcinfo, signature->privacy);
	if (!bool_arg(fcinfo, signature->dry_run, "dry_run"))
		publish->target = text_arg(fcinfo, PUBLISH_TARGET, "target",
								   "Name the table to create, or say dry_run => true to write nothing.");
}

/* NULL for an argument that was not given or that the function has not. */
static ArrayType *
optional_array(const Publish *publish, int arg)
{
	return arg > 0 ? array_arg(publish->fcinfo, arg) : NULL;
}

Run *
publish_begin(Publish *publish)
{
	const PublishSignature *signature = publish->signature;
	FunctionCallInfo fcinfo = publish->fcinfo;
	int class_column = signature->class_column;
	Run *run;

	InitMaterializedSRF(fcinfo, 0);
	publish->run = run =
		run_begin(fcinfo, signature->function, PG_GETARG_OID(PUBLISH_SOURCE), array_arg(fcinfo, PUBLISH_QIS),
				  array_arg(fcinfo, signature->keep), optional_array(publish, signature->categorical));
	/* what rules read, too, before the last snapshot, which a function that takes rules takes with its hierarchies */
	privacy_populations(publish->privacy, run->source);
	run_privacy(run, publish->privacy);
	if (signature->hierarchies > 0)
		run_hierarchies(run, jsonb_arg(fcinfo, signature->hierarchies));
	set_limits(&run->problem, &publish->limits);
	if (class_column > 0 && !PG_ARGISNULL(class_column))
		run_class_column(run, NameStr(*PG_GETARG_NAME(class_column)));
	publish->weights = weights_parse(optional_array(publish, signature->weights), run->source->nqis);
	return run;
}

void
publish_read(Publish *publish)
{
	if (publish->target != NULL)
		run_target(publish->run, publish->target, publish->replace, publish->mark);
	run_read(publish->run, publish->k, publish->weights, publish->level_cost);
}

void
publish_end(Publish *publish)
{
	const PublishSignature *signature = publish->signature;

	run_notice_dropped(publish->run);
	if (publish->target == NULL)
		return;
	publish->run->record.options = call_options(publish->fcinfo, signature->recorded, signature->nrecorded);
	if (publish->privacy != NULL)
		publish->run->record.options = DirectFunctionCall2(jsonb_concat, publish->run->record.options,
														   privacy_recorded(publish->privacy));
	(void) run_publish(publish->run);
}
