/*
 * option_list.c: kanon_option_list: the table of options as SQL and publications
 * have them.
 */
#include "compat.h"
#include "run/request.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_option_list);

#define LIST_COLUMNS 5

static void
put_options(ReturnSetInfo *rsinfo, const char *function, const Model *model, OptionSet options)
{
	int place = 0;

	for (Option option = 0; option < OPTIONS; option++)
	{
		const char *initial = option_initial(model, option);
		Datum values[LIST_COLUMNS];
		bool nulls[LIST_COLUMNS] = {false, false, false, false, initial == NULL};

		if ((options & UINT64CONST(1) << option) == 0)
			continue;
		values[0] = CStringGetTextDatum(function);
		values[1] = Int32GetDatum(++place);
		values[2] = CStringGetTextDatum(option_name(option));
		values[3] = ObjectIdGetDatum(option_type(option));
		values[4] = initial != NULL ? CStringGetTextDatum(initial) : (Datum) 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* kanon_option_list() */
Datum
kanon_option_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; models[i] != NULL; i++)
		put_options(rsinfo, models[i]->name, models[i], models[i]->options);
	put_options(rsinfo, "frontier", &pattern_guided_model, TAKES_DRY);
	put_options(rsinfo, "explain", &pattern_guided_model, TAKES_DRY | TAKES(WITH_VALUES));
	return (Datum) 0;
}
