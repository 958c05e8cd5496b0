/*
 * check_freeform.c: kanon_check_freeform: how many records of a published table each row of the source matches, and
 * how many rows each record.
 */
#include "compat.h"
#include "assess/assess.h"
#include "host/lines.h"
#include "core/freeform/freeform_work.h"
#include "rows/cell_values.h"
#include "rows/target.h"
#include "options/request.h"
#include "run/run.h"

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
	ARG_K,
	ARG_K_COLUMN,
	ARG_KNOWN,
	ARG_SENSITIVE,
	ARG_HIERARCHIES
};

/* The quasi-identifiers of the target, its mark if it has one, and its sensitive column (or NULL). */
static ArrayType *
with_mark(Oid relid, ArrayType *qis, const NameData *sensitive, bool *mark)
{
	int n;
	char **names = name_array(qis, "quasi_identifiers", &n);
	AttrNumber attnum = get_attnum(relid, KANON_MARK_COLUMN);
	Datum *all = palloc(sizeof(Datum) * (n + 2));

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
	if (sensitive != NULL)
		all[n++] = NameGetDatum(sensitive);
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
			 "Raise \"kanon.max_memory\". kanon_freeform has checked its own releases already, part by part.")));
}

static int
known_arg(FunctionCallInfo fcinfo)
{
	int known = PG_ARGISNULL(ARG_KNOWN) ? -1 : PG_GETARG_INT32(ARG_KNOWN);

	if (known < 0 && !PG_ARGISNULL(ARG_KNOWN))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("known must be at least 0"),
			 errhint(
				 "known counts the rows whose records the attacker knows, beside the row that is looked for; 0 means none.")));
	return known;
}

static void
refuse_work(const KanonFreeformFacts *facts)
{
	if (facts->too_large == KANON_FACT_CANDIDATES)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("there are too many sets of rows that may be known"),
			 errhint("Lower known, or publish with a smaller partition_size: no part matters to another.")));
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("the ks of k_column have too large a common multiple"),
					errdetail("Chances of one by k are added up exactly, in whole numbers."),
					errhint("Take few different ks, such as 5, 10 and 20.")));
}

/* How the values of a column of the target spread over the records that a row matches. */
static KanonStatus
check_values(const KanonProblem *problem, const KanonRelease *release, const RowTypes *records, int column,
			 int64 *distinct, double *share)
{
	return kanon_freeform_check_values(problem, release, records->columns[column].code,
									   records->columns[column].distinct, distinct, share);
}

/*
 * kanon_check_freeform(source regclass, target regclass, quasi_identifiers name[], k bigint, k_column name,
 * known int, sensitive name, hierarchies jsonb)
 */
Datum
kanon_check_freeform(PG_FUNCTION_ARGS)
{
	Lines *lines;
	KanonProblem problem = {0};
	KanonFreeformFacts facts;
	KanonFreeformOptions options = {0};
	Source *source, *target;
	RowTypes *rows, *records;
	Border *border;
	bool mark;
	int64 k;
	int known = known_arg(fcinfo);
	int k_column = 0;
	const NameData *sensitive = PG_ARGISNULL(ARG_SENSITIVE) ? NULL : PG_GETARG_NAME(ARG_SENSITIVE);
	KanonRelease *release;
	int64 distinct = 0;
	double share = 0;
	KanonStatus status;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view that was published.");
	refuse_null(fcinfo, ARG_TARGET, "target", "Name the table that kanon_freeform has written.");
	k = k_arg(fcinfo, ARG_K, 1, "How many records each row is to match.");
	lines = lines_begin(fcinfo);
	border = border_create("kanon_check_freeform");
	SPI_connect();
	source = source_open(PG_GETARG_OID(ARG_SOURCE), array_arg(fcinfo, ARG_QIS), NULL, NULL);
	target = source_open(PG_GETARG_OID(ARG_TARGET),
						 with_mark(PG_GETARG_OID(ARG_TARGET), array_arg(fcinfo, ARG_QIS), sensitive, &mark),
						 NULL, NULL);
	source_hierarchies(source, hierarchies_asked(fcinfo, ARG_HIERARCHIES, PG_GETARG_OID(ARG_TARGET),
												 array_arg(fcinfo, ARG_QIS)));
	if (!PG_ARGISNULL(ARG_K_COLUMN))
	{
		k_column = own_k_column(source, NameStr(*PG_GETARG_NAME(ARG_K_COLUMN)));
		source_check_groupable(source->qis, source->ngrouped);
	}
	source_lock(target);
	source_snapshot(source);
	source_levels(source);
	for (int c = 0; c < source->nqis; c++)
	{
		source->qis[c].numerical = target->qis[c].numerical = false;
		written_match(&source->qis[c], &target->qis[c]);
	}
	rows = rowtypes_read(source, border);
	rowtypes_levels(rows, border);
	records = rowtypes_read(target, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = rows->grouped;
	problem.ntypes = rows->ntypes;
	problem.rows = rows->rows;
	problem.k = k;
	if (k_column > 0)
	{
		options.own_k = own_k_read(rows, k_column, border);
		problem.freeform = &options;
	}
	release = written_release(source, records, mark, border);
	hierarchies_lacking(source, source->nqis, release);
	status = kanon_freeform_check(&problem, release, k, known, &facts);
	if (status == KANON_TOO_LARGE)
		refuse_work(&facts);
	if (status == KANON_NO_MEMORY)
		refuse_matches(border);
	border_check(border, status, "");
	if (sensitive != NULL)
		border_check(border, check_values(&problem, release, records, source->nqis + mark, &distinct, &share),
					 "");
	line_int8(lines, rows->nrows, true);
	line_int8(lines, records->nrows, true);
	line_int8(lines, facts.row_matches, rows->nrows > 0);
	line_int8(lines, facts.record_matches, records->nrows > 0);
	line_bool(lines, facts.regular, true);
	line_int8(lines, facts.candidates, known >= 0 && rows->nrows > 0);
	line_int8(lines, distinct, sensitive != NULL && rows->nrows > 0);
	line_float8(lines, share, sensitive != NULL && rows->nrows > 0);
	line_end(lines);
	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(border->context);
	return (Datum) 0;
}
