/*
 * label.c: kanon_label: writes the role of a column as a SECURITY LABEL.
 *
 * SECURITY LABEL FOR kanon needs the library in the session, which only a superuser loads by LOAD; a call of a function loads it.
 */
#include "compat.h"
#include "host/catalog.h"
#include "options/request.h"
#include "rows/target.h"

#include "executor/spi.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_label);

/* kanon_label(relation regclass, column_name name, role text): as the caller, who must own the relation */
Datum
kanon_label(PG_FUNCTION_ARGS)
{
	const char *relation, *column;

	refuse_read_only(fcinfo);
	refuse_null(fcinfo, 0, "relation", "Name the table that has the column.");
	refuse_null(fcinfo, 1, "column_name", "Name the column whose role it is.");
	relation = relation_name(PG_GETARG_OID(0));
	column = quote_identifier(NameStr(*PG_GETARG_NAME(1)));
	if (relation == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u is not there", PG_GETARG_OID(0)),
						errhint("Name a table, view or materialised view.")));
	SPI_connect();
	run_utility(
		psprintf("SECURITY LABEL FOR kanon ON COLUMN %s.%s IS %s", relation, column,
				 PG_ARGISNULL(2) ? "NULL" : quote_literal_cstr(text_to_cstring(PG_GETARG_TEXT_PP(2)))));
	SPI_finish();
	PG_RETURN_VOID();
}
