/*
 * check_known.c: kanon_check with known_columns: combinations of few columns that fewer than k rows have.
 */
#include "compat.h"
#include "host/lines.h"
#include "rows/row_types.h"
#include "run/request.h"
#include "run/run.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_check_known);

/* In the order of the SQL declaration. */
enum
{
	ARG_RELATION,
	ARG_QIS,
	ARG_KNOWN,
	ARG_K,
	ARG_COMBINATIONS,
	ARG_MISSING,
	ARG_SUBJECT
};

/* The combinations below k, by the number of columns. */
typedef struct Below
{
	int64 combinations[KANON_MAX_QIS + 1];
	int64 least[KANON_MAX_QIS + 1];
	uint8 *columns; /* [ntypes] the fewest that tell a row type; 0: none do */
} Below;

static void
count_rare(void *arg, const KanonRare *rare)
{
	Below *below = arg;
	int n = rare->ncolumns;

	if (below->combinations[n]++ == 0 || rare->rows < below->least[n])
		below->least[n] = rare->rows;
	for (uint32_t i = 0; i < rare->ntypes; i++)
		if (below->columns[rare->type[i]] == 0 || below->columns[rare->type[i]] > n)
			below->columns[rare->type[i]] = (uint8) n;
}

static void
put_sizes(Lines *lines, const Below *below, const RowTypes *types, int most)
{
	int64 rows[KANON_MAX_QIS + 1] = {0};

	for (uint32 i = 0; i < types->ntypes; i++)
		rows[below->columns[i]] += types->rows[i];
	for (int n = 1; n <= most; n++)
	{
		if (n > 1)
			rows[n] += rows[n - 1];
		line_value(lines, Int32GetDatum(n), true);
		line_int8(lines, below->combinations[n], true);
		line_int8(lines, below->least[n], below->combinations[n] > 0);
		line_int8(lines, rows[n], true);
		line_end(lines);
	}
}

/* The subject says whose a row is: persons count. */
static void
open_subject(FunctionCallInfo fcinfo, Source *source, KanonMissing missing)
{
	Datum name = PG_GETARG_DATUM(ARG_SUBJECT);
	ArrayType *names = construct_array(&name, 1, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
	int n;
	SourceColumn *subject = source_columns(source, names, "subject", "the subject", &n);

	if (missing == KANON_MISSING_ANY)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("missing => 'any' counts rows, and subject counts persons"),
						errhint("Say missing => 'aside', or leave subject out.")));
	source_check_groupable(subject, 1);
	(void) source_group_by(source, subject);
}

/*
 * kanon_check(relation regclass, quasi_identifiers name[], known_columns int, k bigint, combinations text[],
 * missing text, subject name)
 */
Datum
kanon_check_known(PG_FUNCTION_ARGS)
{
	KanonProblem problem = {.time_limit = INFINITY};
	Below below = {0};
	KanonKnown known;
	Lines *lines;
	Border *border;
	Source *source;
	RowTypes *types;
	const char *missing = text_arg(fcinfo, ARG_MISSING, "missing", "It is 'value', 'any' or 'aside'.");
	int64 k = k_arg(fcinfo, ARG_K, 2, "Combinations that fewer rows have are counted.");

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name a table or view.");
	lines = lines_begin(fcinfo);
	SPI_connect();
	border = border_create("kanon_check");
	source =
		source_open_columns(PG_GETARG_OID(ARG_RELATION), array_arg(fcinfo, ARG_QIS), "quasi_identifiers");
	known = known_columns_parse(source, PG_ARGISNULL(ARG_KNOWN) ? -1 : Max(PG_GETARG_INT32(ARG_KNOWN), 0), k,
								array_arg(fcinfo, ARG_COMBINATIONS), missing);
	if (!PG_ARGISNULL(ARG_SUBJECT))
		open_subject(fcinfo, source, known.missing);
	source_snapshot(source);
	types = rowtypes_read(source, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	if (source->ngrouped > source->nqis)
	{
		known.person = types->grouped[source->nqis].code;
		known.npersons = types->grouped[source->nqis].distinct;
	}
	below.columns = border_palloc(border, Max(types->ntypes, 1));
	memset(below.columns, 0, Max(types->ntypes, 1));
	border_check(border, kanon_rare_find(&problem, &known, count_rare, &below), "");
	put_sizes(lines, &below, types, kanon_known_most(&known, source->nqis));
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
