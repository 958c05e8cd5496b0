/*
 * lines.c: the lines of a set-returning function, column by column.
 */
#include "compat.h"
#include "host/lines.h"

#include "utils/builtins.h"

Lines *
lines_begin(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Lines *lines = palloc(sizeof(Lines));

	InitMaterializedSRF(fcinfo, 0);
	lines->store = rsinfo->setResult;
	lines->desc = rsinfo->setDesc;
	lines->n = 0;
	return lines;
}

void
line_value(Lines *lines, Datum value, bool known)
{
	if (lines->n == Min(lines->desc->natts, LINE_COLUMNS))
		elog(ERROR, "a line has more than %d columns", lines->n);
	lines->values[lines->n] = value;
	lines->nulls[lines->n++] = !known;
}

void
line_text(Lines *lines, const char *text)
{
	line_value(lines, text != NULL ? CStringGetTextDatum(text) : (Datum) 0, text != NULL);
}

void
line_name(Lines *lines, const char *name)
{
	line_value(lines, name != NULL ? DirectFunctionCall1(namein, CStringGetDatum(name)) : (Datum) 0,
			   name != NULL);
}

void
line_end(Lines *lines)
{
	if (lines->n != lines->desc->natts)
		elog(ERROR, "a line has %d of %d columns", lines->n, lines->desc->natts);
	tuplestore_putvalues(lines->store, lines->desc, lines->values, lines->nulls);
	lines->n = 0;
}

void
line_measure(Lines *lines, const char *measure, double value, bool known, const char *meaning)
{
	line_text(lines, measure);
	line_float8(lines, value, known);
	line_text(lines, meaning);
	line_end(lines);
}
