/*
 * freeform_check.c: kanon_check_freeform: what a table and a published one say of
 * each other.
 */
#include "compat.h"
#include "host/lines.h"
#include "core/freeform/graph.h"
#include "write/show.h"
#include "write/target.h"
#include "write/written.h"
#include "run/args.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check_freeform);

enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_QIS,
	ARG_K
};

/* The quasi-identifiers of the target, and its mark if it has one. */
static ArrayType *
with_mark(Oid relid, ArrayType *qis, bool *mark)
{
	int n;
	char **names = name_array(qis, "quasi_identifiers", &n);
	AttrNumber attnum = get_attnum(relid, KANON_MARK_COLUMN);
	Datum *all = palloc(sizeof(Datum) * (n + 1));

	*mark = attnum > 0 && get_atttype(relid, attnum) == TEXTOID;
	for (int i = 0; i < n; i++)
	{
		NameData *name = palloc0(sizeof(NameData));

		namestrcpy(name, names[i]);
		all[i] = NameGetDatum(name);
		if (strcmp(names[i], KANON_MARK_COLUMN) == 0)
			*mark = false;
	}
	if (*mark)
	{
		NameData *name = palloc0(sizeof(NameData));

		namestrcpy(name, KANON_MARK_COLUMN);
		all[n++] = NameGetDatum(name);
	}
	return construct_array(all, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

/* The matches are held in memory, and there may be many times k of them for a row. */
static void
refuse_matches(const Border *border)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("kanon needs more memory than it may use"),
		 errdetail("The matches between rows and records take more than the limit of %zu kB.",
				   border->limit / 1024),
		 errhint(
			 "Raise \"kanon.max_memory\". What kanon_freeform publishes it has checked already, part by part.")));
}

/* kanon_check_freeform(source regclass, target regclass, quasi_identifiers name[], k bigint) */
Datum
kanon_check_freeform(PG_FUNCTION_ARGS)
{
	Lines *lines;
	KanonProblem problem = {0};
	KanonFreeformFacts facts;
	Source *source, *target;
	RowTypes *rows, *records;
	Border *border;
	bool mark;
	int64 k;
	KanonStatus status;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view that was published.");
	refuse_null(fcinfo, ARG_TARGET, "target", "Name the table that kanon_freeform has written.");
	k = k_arg(fcinfo, ARG_K, 1, "How many records each row is to match.");
	lines = lines_begin(fcinfo);
	border = border_create("kanon_check_freeform");
	SPI_connect();
	source = source_open(PG_GETARG_OID(ARG_SOURCE), array_arg(fcinfo, ARG_QIS), NULL, NULL);
	target = source_open(PG_GETARG_OID(ARG_TARGET),
						 with_mark(PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_QIS), &mark), NULL, NULL);
	for (int c = 0; c < source->nqis; c++)
	{
		source->qis[c].numerical = target->qis[c].numerical = false;
		written_match(&source->qis[c], &target->qis[c]);
	}
	source_lock(target);
	source_snapshot(source);
	rows = rowtypes_read(source, border);
	records = rowtypes_read(target, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = rows->columns;
	problem.ntypes = rows->ntypes;
	problem.rows = rows->rows;
	status = kanon_freeform_check(&problem, written_release(source, records, mark, border), k, &facts);
	if (status == KANON_NO_MEMORY)
		refuse_matches(border);
	border_check(border, status, "");
	line_int8(lines, rows->nrows, true);
	line_int8(lines, records->nrows, true);
	line_int8(lines, facts.row_matches, rows->nrows > 0);
	line_int8(lines, facts.record_matches, records->nrows > 0);
	line_bool(lines, facts.regular, true);
	line_end(lines);
	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(border->context);
	return (Datum) 0;
}
