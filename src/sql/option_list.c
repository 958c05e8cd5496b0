/*
 * option_list.c: kanon_option_list: the table of options as SQL and publications
 * have them.
 */
#include "compat.h"
#include "host/lines.h"
#include "run/request.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_option_list);

static void
put_options(Lines *lines, const char *function, const Model *model, OptionSet options, Oid schema)
{
	int place = 0;

	for (Option option = 0; option < OPTIONS; option++)
		if ((options & UINT64CONST(1) << option) != 0)
		{
			line_text(lines, function);
			line_int4(lines, ++place, true);
			line_text(lines, option_name(option));
			line_value(lines, ObjectIdGetDatum(option_sql_type(option, schema)), true);
			line_text(lines, option_initial(model, option));
			line_end(lines);
		}
}

/* kanon_option_list() */
Datum
kanon_option_list(PG_FUNCTION_ARGS)
{
	Lines *lines = lines_begin(fcinfo);
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	for (int i = 0; models[i] != NULL; i++)
		put_options(lines, models[i]->name, models[i], models[i]->options, schema);
	for (int i = 0; unpublished_models[i] != NULL; i++)
		put_options(lines, unpublished_models[i]->name, unpublished_models[i], unpublished_models[i]->options,
					schema);
	put_options(lines, "frontier", &pattern_guided_model, TAKES_DRY, schema);
	put_options(lines, "explain", &pattern_guided_model, TAKES_DRY | TAKES(WITH_VALUES), schema);
	return (Datum) 0;
}
