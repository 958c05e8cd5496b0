/*
 * check_known.c: kanon_check with known_columns: combinations of few columns that fewer than k rows have.
 */
#include "compat.h"
#include "host/lines.h"
#include "rows/row_types.h"
#include "rows/target.h"
#include "options/request.h"
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

/* A column that is read beside the quasi-identifiers. */
static SourceColumn *
find_beside(const Source *source, Datum name, const char *argument, const char *what)
{
	ArrayType *names = construct_array(&name, 1, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
	int n;

	return source_columns(source, names, argument, what, &n);
}

/* The subject says whose a row is: persons count. */
static void
open_subject(FunctionCallInfo fcinfo, Source *source, KanonMissing missing)
{
	SourceColumn *subject = find_beside(source, PG_GETARG_DATUM(ARG_SUBJECT), "subject", "the subject");

	if (missing == KANON_MISSING_ANY)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("missing => 'any' counts rows, and subject counts persons"),
						errhint("Say missing => 'aside', or leave subject out.")));
	source_check_groupable(subject, 1);
	(void) source_group_by(source, subject);
}

static void
open_marks(Source *source)
{
	SourceColumn *marks = find_beside(source, DirectFunctionCall1(namein, CStringGetDatum(KANON_MARK_COLUMN)),
									  "missing", "'marked'");

	if (marks->type != TEXTOID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"%s\" is no mark of a release", KANON_MARK_COLUMN),
						errhint("A release with mark => true has patterns in it, as text.")));
	(void) source_group_by(source, marks);
}

/* The cells that the marks say are blank. */
static const uint64 *const *
read_marks(const Source *source, const RowTypes *types, Border *border)
{
	int marks = source->ngrouped - 1;
	Size words = ((Size) types->ntypes + 63) / 64;
	uint64 **blank = palloc(sizeof(uint64 *) * source->nqis);

	for (int q = 0; q < source->nqis; q++)
	{
		blank[q] = border_palloc(border, sizeof(uint64) * Max(words, 1));
		memset(blank[q], 0, sizeof(uint64) * words);
		for (uint32 i = 0; i < types->ntypes; i++)
		{
			bool isnull;
			Datum mark =
				dictionary_value(source->qis[marks].dictionary, types->grouped[marks].code[i], &isnull);

			if (isnull || VARSIZE_ANY_EXHDR(DatumGetPointer(mark)) != (Size) source->nqis)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("column \"%s\" has no symbol for each quasi-identifier", KANON_MARK_COLUMN),
						 errhint("Name the quasi-identifiers of the release, in their order.")));
			if (VARDATA_ANY(DatumGetPointer(mark))[q] == '*')
				blank[q][i / 64] |= UINT64CONST(1) << i % 64;
		}
	}
	return (const uint64 *const *) blank;
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
	const char *missing =
		text_arg(fcinfo, ARG_MISSING, "missing", "It is 'value', 'any', 'aside' or 'marked'.");
	bool marked = strcmp(missing, "marked") == 0;
	int64 k = k_arg(fcinfo, ARG_K, 2, "Combinations that fewer rows have are counted.");

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name a table or view.");
	lines = lines_begin(fcinfo);
	SPI_connect();
	border = border_create("kanon_check");
	source =
		source_open_columns(PG_GETARG_OID(ARG_RELATION), array_arg(fcinfo, ARG_QIS), "quasi_identifiers");
	known = known_columns_parse(source, PG_ARGISNULL(ARG_KNOWN) ? -1 : Max(PG_GETARG_INT32(ARG_KNOWN), 0), k,
								array_arg(fcinfo, ARG_COMBINATIONS), marked ? "value" : missing);
	if (!PG_ARGISNULL(ARG_SUBJECT))
		open_subject(fcinfo, source, known.missing);
	if (marked)
		open_marks(source);
	source_snapshot(source);
	types = rowtypes_read(source, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	if (marked)
		known.blank = read_marks(source, types, border);
	if (!PG_ARGISNULL(ARG_SUBJECT))
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
