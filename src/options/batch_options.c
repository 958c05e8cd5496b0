/*
 * batch_options.c: the options of a publication that appends, checked.
 */
#include "compat.h"
#include "options/request.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

static Interval *
duration(Datum value, const char *name)
{
	Interval *copy = palloc(sizeof(Interval));
	Interval none = {0};

	*copy = *DatumGetIntervalP(value);
	if (DatumGetBool(DirectFunctionCall2(interval_lt, PointerGetDatum(copy), PointerGetDatum(&none))))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must not be negative", name),
						errhint("It is an interval such as '2 hours'.")));
	return copy;
}

void
take_lag(Request *request, Datum value)
{
	request->batches.lag = duration(value, "lag");
}

void
take_expire(Request *request, Datum value)
{
	request->batches.expire = duration(value, "expire");
}

static void
check_size_of_batch(int64 size, int64 k, const char *name)
{
	if (size < Max(k, 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be at least k", name),
				 errhint("Each batch is anonymised by itself: with fewer rows than k nothing of it can be "
						 "shown.")));
}

void
check_min_batch(Request *request, Datum value)
{
	check_size_of_batch(request->batches.min_batch, request->k, "min_batch");
}

void
check_max_batch(Request *request, Datum value)
{
	check_size_of_batch(request->batches.max_batch, request->k, "max_batch");
	if (request->batches.max_batch < request->batches.min_batch)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("max_batch must not be smaller than min_batch"),
						errhint("Raise max_batch, or lower min_batch.")));
}

/* "3", or "3" and what is counted. */
void
take_hold(Request *request, Datum value)
{
	static const char *const words[] = {"", "night", "nights", "refresh", "refreshes"};
	char *word = TextDatumGetCString(value);
	char *end;
	long n = strtol(word, &end, 10);
	bool known = false;

	while (*end == ' ')
		end++;
	for (int i = 0; i < lengthof(words); i++)
		known = known || strcmp(end, words[i]) == 0;
	if (end == word || !known || n < 1 || n > 10000)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("hold must be a number of refreshes, at least 1"), errhint(HOLD_HINT)));
	request->batches.hold = n;
}
