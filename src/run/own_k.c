/*
 * own_k.c: k_column, the column that says how many matches each row wants.
 */
#include "compat.h"
#include "rows/dictionary.h"
#include "run/run.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

int
own_k_column(Source *source, char *name)
{
	SourceColumn *column;
	int n;
	Oid type;

	column = source_columns(source, name_list((const char *const *) &name, 1), "k_column",
							"the column of each row's k", &n);
	type = getBaseType(column->type);
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of k_column has type %s", column->name, format_type_be(column->type)),
				 errhint("It says how many records each row is to match: smallint, integer or bigint.")));
	return source_group_by(source, column);
}

const int64 *
own_k_read(const RowTypes *types, int column, Border *border)
{
	const SourceColumn *of = &types->source->qis[column];
	Oid type = getBaseType(of->type);
	int64 *own_k = border_palloc(border, sizeof(int64) * (Size) Max(types->ntypes, 1));
	int64 refused = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		bool isnull;
		Datum value = dictionary_value(of->dictionary, types->grouped[column].code[i], &isnull);

		own_k[i] = isnull            ? 0
				   : type == INT2OID ? DatumGetInt16(value)
				   : type == INT4OID ? DatumGetInt32(value)
									 : DatumGetInt64(value);
		if (own_k[i] < 1)
			refused += types->rows[i];
	}
	if (refused > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of k_column has no k for every row", of->name),
				 errdetail("It is NULL or below 1 in " INT64_FORMAT " of " INT64_FORMAT " rows.", refused,
						   types->nrows),
				 errhint("A row that wants no more than the others has a 1: k is the least for all.")));
	return own_k;
}

int64
own_k_above(const RowTypes *types, const int64 *own_k, int64 most)
{
	int64 rows = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
		if (own_k[i] > most)
			rows += types->rows[i];
	return rows;
}
