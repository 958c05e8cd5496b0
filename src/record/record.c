/*
 * record.c: what a run did, kept for kanon_usefulness, kanon_columns and
 * kanon_equivalence_classes.
 *
 * Rows go straight into kanon's tables, without a query: a query's parameters,
 * and plans that hold them, can be logged, and a query would need to run as the
 * tables' owner.  Values become JSON as the caller.
 */
#include "compat.h"
#include "core/util/number.h"
#include "record/record.h"
#include "options/request.h"
#include "rows/verify.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "rows/cell_values.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* kanon's version as it is installed in this database. */
static Datum
extension_version(void)
{
	int nest = catalog_path_begin();
	char *version;

	if (gate_ask("SELECT extversion FROM pg_extension WHERE extname = 'kanon'", 0, NULL, NULL, NULL, true,
				 1) != 1)
		elog(ERROR, "extension kanon is missing");
	version = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	catalog_path_end(nest);
	return CStringGetTextDatum(version);
}

/* Names of columns as text[]. */
static Datum
column_names(const SourceColumn *columns, int n)
{
	Datum *names = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		names[i] = CStringGetTextDatum(columns[i].name);
	return PointerGetDatum(construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* How far the cost may be above the optimum: cost / bound - 1. */
double
report_gap(const KanonReport *report)
{
	if (report->proven || report->cost <= report->lower_bound)
		return 0;
	return report->lower_bound > 0 ? report->cost / report->lower_bound - 1 : INFINITY;
}

#define MOST_DOUBLINGS 10

static void
sizes_init(Sizes *sizes, int64 k)
{
	static const int steps[] = {1, 2, 3, 5};

	memset(sizes, 0, sizeof(*sizes));
	for (int64 ten = 1; ten < k && sizes->n < MOST_SIZES - MOST_DOUBLINGS - lengthof(steps); ten *= 10)
		for (int i = 0; i < lengthof(steps) && steps[i] * ten < k; i++)
			/* 30 and 300 would be too fine, 3 is a usual threshold */
			if (steps[i] != 3 || ten == 1)
				sizes->from[sizes->n++] = steps[i] * ten;
	for (int i = 0; i <= MOST_DOUBLINGS && k <= PG_INT64_MAX >> i; i++)
		sizes->from[sizes->n++] = k << i;
}

static void
sizes_add(Sizes *sizes, int64 rows)
{
	int i = sizes->n - 1;

	while (rows < sizes->from[i])
		i--;
	sizes->classes[i]++;
	sizes->rows[i] += rows;
	if (sizes->least == 0 || rows < sizes->least)
		sizes->least = rows;
}

static void
record_set_int8s(RecordTable *table, const char *name, const int64 *values, int n)
{
	Datum *datums = palloc(sizeof(Datum) * n);

	for (int i = 0; i < n; i++)
		datums[i] = Int64GetDatum(values[i]);
	record_set(
		table, name,
		PointerGetDatum(construct_array(datums, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)),
		false);
}

static inline bool
is_null_code(const KanonColumn *column, uint32 code)
{
	return column->has_null && code == column->distinct - 1;
}

/* NULL, suppressed or not, looks like nothing in the target; an array of NULL does not. */
static bool
class_looks_empty(const Source *source, const KanonProblem *problem, const KanonCell *cells)
{
	for (int d = 0; d < problem->ncolumns; d++)
		if (cells[d].show != KANON_SHOW_NOTHING &&
			(cells[d].show != KANON_SHOW_VALUE || !is_null_code(&problem->columns[d], cells[d].code)))
			return false;
	for (int c = 0; c < source->nqis; c++)
		if (source->qis[c].show_as == SHOW_AS_SET && !shows_nothing(&source->levels, c, cells))
			return false;
	return true;
}

void
sizes_begin(RunSizes *sizes, int64 k)
{
	memset(sizes, 0, sizeof(*sizes));
	sizes_init(&sizes->source, k);
	sizes_init(&sizes->target, k);
}

const FoundClasses *
found_begin(FoundClasses *found, int64 k)
{
	memset(found, 0, sizeof(*found));
	sizes_init(&found->sizes, k);
	return found;
}

void
found_class(void *arg, int64 rows, bool blank)
{
	FoundClasses *found = arg;

	found->sum += rows;
	found->digest += kanon_mix((uint64) rows);
	if (blank)
	{
		found->blank += rows;
		return;
	}
	kanon_sizes_add(&found->classes, rows, false);
	sizes_add(&found->sizes, rows);
}

/* The measures of the release whose classes readers count otherwise. */
static KanonMeasures
measures_found(const KanonMeasures *measures, const FoundClasses *found, int64 dropped, int64 k)
{
	KanonMeasures copy = *measures;
	KanonClassSizes sizes = found->classes;

	if (found->blank > 0)
		kanon_sizes_add(&sizes, found->blank, true);
	kanon_measure_sizes(&sizes, dropped, k, &copy);
	return copy;
}

/* Row types may differ in what is beside the quasi-identifiers; they are sorted by these first. */
void
sizes_of_types(RunSizes *sizes, const KanonColumn *columns, int nqis, uint32 *const *code, const int64 *rows,
			   uint32 n)
{
	for (uint32 first = 0, next; first < n; first = next)
	{
		bool same = true, empty = true;
		int64 sum = rows[first];

		for (int c = 0; c < nqis; c++)
			empty = empty && is_null_code(&columns[c], code[c][first]);
		for (next = first + 1; next < n; next++)
		{
			for (int c = 0; c < nqis && same; c++)
				same = code[c][next] == code[c][first];
			if (!same)
				break;
			sum += rows[next];
		}
		sizes->combinations++;
		if (empty)
			sizes->source_blank += sum;
		else
			sizes_add(&sizes->source, sum);
	}
}

void
sizes_of_classes(RunSizes *sizes, const Source *source, const KanonProblem *problem,
				 const KanonRelease *release)
{
	for (uint32 i = 0; i < release->nclasses; i++)
		if (class_looks_empty(source, problem, &release->cells[(size_t) i * problem->ncolumns]))
			sizes->target_blank += release->classes[i].rows;
		else
			sizes_add(&sizes->target, release->classes[i].rows);
}

static RunSizes
sizes_of(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release)
{
	int nqis = types->source->nqis;
	uint32 **code = palloc(sizeof(uint32 *) * nqis);
	RunSizes sizes;

	for (int c = 0; c < nqis; c++)
		code[c] = unconstify(uint32 *, types->grouped[c].code);
	sizes_begin(&sizes, problem->k);
	sizes_of_types(&sizes, types->grouped, nqis, code, types->rows, types->ntypes);
	/* records of a freeform release are no classes */
	if (problem->freeform == NULL)
		sizes_of_classes(&sizes, types->source, problem, release);
	pfree(code);
	return sizes;
}

static void
set_sizes(RecordTable *table, const RunSizes *sizes, int64 k)
{
	const Sizes *source = &sizes->source, *target = &sizes->target;
	int n;

	/* up to the largest class, and no less than k */
	for (n = source->n; source->from[n - 1] > k; n--)
		if (source->classes[n - 1] > 0 || target->classes[n - 1] > 0)
			break;
	record_set_int8s(table, "size_from", source->from, n);
	record_set_int8s(table, "source_size_classes", source->classes, n);
	record_set_int8s(table, "source_size_rows", source->rows, n);
	record_set_int8s(table, "target_size_classes", target->classes, n);
	record_set_int8s(table, "target_size_rows", target->rows, n);
	record_set_int8(table, "source_class_min", source->least, source->least == 0);
	record_set_int8(table, "target_class_min", target->least, target->least == 0);
	record_set_int8(table, "source_blank_rows", sizes->source_blank, false);
	record_set_int8(table, "target_blank_rows", sizes->target_blank, false);
}

/* A run's number, from the column's own sequence: a name that it might have can be somebody else's. */
static int64
next_run(Oid schema)
{
	RecordTable table;
	int64 run;

	record_open(&table, schema, "kanon_run");
	run = nextval_internal(
		kanon_identity_sequence(table.rel, SPI_fnumber(RelationGetDescr(table.rel), "run")), false);
	record_close(&table);
	return run;
}

/* The columns that every run has. */
static void
set_run(RecordTable *table, int64 run, const RunRecord *record, const Source *source, int64 k)
{
	record_set_int8(table, "run", run, false);
	record_set(table, "started_at", TimestampTzGetDatum(record->started_at), false);
	record_set(table, "run_by", ObjectIdGetDatum(GetUserId()), false);
	record_set_text(table, "source", record->source);
	record_set_text(table, "target", record->target);
	record_set(table, "target_oid", ObjectIdGetDatum(record->target_oid), false);
	if (record->publication != NULL)
		record_set_text(table, "publication", record->publication);
	record_set_int8(table, "k", k, false);
	record_set_text(table, "model", record->model);
	record_set_text(table, "method", record->method);
	record_set_int8(table, "row_count", record->row_count, false);
	record_set_int8(table, "peak_memory", (int64) record->peak_memory, false);
	record_set_float8(table, "read_ms", record->read_ms, false);
	record_set_float8(table, "solve_ms", record->solve_ms, false);
	record_set_float8(table, "write_ms", record->write_ms, false);
	record_set_float8(table, "verify_ms", record->verify_ms, false);
	record_set(table, "kept", column_names(source->kept, source->nkept), false);
	record_set(table, "options", record->options, record->options == (Datum) 0);
	if (source->told != NULL && source->told->classes != NULL)
		record_set(table, "disclosure", recorded_classes(source->told->classes), false);
	record_set(table, "relations",
			   relations_recorded(source->relid, record->target_oid, record->beside_oid, record->options),
			   false);
	record_set(table, "version", extension_version(), false);
}

/* Those of the core's list, each in the column of its name. */
static void
set_measures(RecordTable *table, const KanonMeasures *measures, bool none, bool classless)
{
	const KanonMeasureForm *form;
	double value;

	for (int i = 0; (form = kanon_measure_next(measures, &i, &value)) != NULL;)
	{
		bool isnull = (none && form->when != KANON_WHEN_ALWAYS) ||
					  (classless && form->of != KANON_OF_CELLS) || isnan(value);

		if (form->when == KANON_WHEN_ASIDE)
			continue;
		if (form->whole)
			record_set_int8(table, form->name, isnull ? 0 : (int64) value, isnull);
		else
			record_set_float8(table, form->name, value, isnull);
	}
}

static void
record_run(Oid schema, int64 run, const RunRecord *record, const RowTypes *types, const KanonProblem *problem,
		   const KanonRelease *release, const KanonReport *report, const KanonMeasures *measures)
{
	RecordTable table;
	bool none = release->nclasses == 0;
	bool classless = problem->freeform != NULL;
	bool unbounded = none || isinf(report->lower_bound);
	RunSizes sizes = record->sizes != NULL ? *record->sizes : sizes_of(types, problem, release);
	KanonMeasures seen;

	if (record->found != NULL && record->found->sum > 0 && !classless)
	{
		sizes.target = record->found->sizes;
		sizes.target_blank = record->found->blank;
		seen = measures_found(measures, record->found, release->dropped, problem->k);
		measures = &seen;
	}
	record_open(&table, schema, "kanon_run");
	set_run(&table, run, record, types->source, problem->k);
	record_set(&table, "quasi_identifiers", Int32GetDatum(types->source->nqis), false);
	record_set_int8(&table, "dropped_rows", release->dropped, false);
	record_set_int8(&table, "row_types", sizes.combinations, false);
	record_set_int8(&table, "patterns", record->patterns, record->patterns < 0);
	record_set_int8(&table, "matches", problem->k, !classless);
	set_measures(&table, measures, none, classless);
	record_set_float8(&table, "cost", report->cost, false);
	record_set_float8(&table, "lower_bound", report->lower_bound, unbounded);
	record_set_float8(&table, "guarantee", report->guarantee, none || report->guarantee == 0);
	record_set_float8(&table, "gap", unbounded ? 0 : report_gap(report), unbounded);
	record_set(&table, "proven", BoolGetDatum(report->proven), none);
	record_set_int8(&table, "nodes", report->nodes, none);
	record_set_float8(&table, "classification", record->classification,
					  none || isnan(record->classification));
	set_sizes(&table, &sizes, problem->k);
	record_insert(&table);
	record_close(&table);
}

static void
record_columns(Oid schema, int64 run, const Source *source, const KanonProblem *problem,
			   const KanonColumnMeasures *measures, bool none)
{
	RecordTable table;

	record_open(&table, schema, "kanon_run_column");
	for (int c = 0; c < source->nqis; c++)
	{
		const SourceColumn *column = &source->qis[c];
		/* (an array of NULL is not empty) */
		bool set = column->show_as == SHOW_AS_SET;

		record_set_int8(&table, "run", run, false);
		record_set(&table, "ordinal", Int32GetDatum(c + 1), false);
		record_set_text(&table, "name", column->name);
		record_set_text(&table, "type", format_type_with_typemod(column->type, column->typmod));
		record_set(&table, "numerical", BoolGetDatum(column->numerical), false);
		record_set(&table, "levels",
				   column_names(column->hierarchy != NULL ? column->hierarchy->levels : NULL,
								column->hierarchy != NULL ? column->hierarchy->nlevels : 0),
				   false);
		record_set_int8(&table, "kept", measures[c].kept - (set ? 0 : measures[c].kept_nulls), false);
		record_set_int8(&table, "suppressed", measures[c].suppressed, false);
		record_set_int8(&table, "nulls", set ? 0 : measures[c].nulls, false);
		record_set_int8(&table, "distinct_before", problem->columns[source->levels.first[c]].distinct, false);
		record_set_int8(&table, "distinct_after", measures[c].shown, false);
		record_set_float8(&table, "ncp", measures[c].ncp, none);
		record_insert(&table);
	}
	record_close(&table);
}

/* jsonb takes no more than 256 MB, in all and in each string. */
static Datum
shown_or_hint(ShownJson *json, const KanonCell *cells, const uint32 *pool)
{
	MemoryContext context = CurrentMemoryContext;
	Datum shown = (Datum) 0;

	PG_TRY();
	{
		shown = shown_json(json, cells, pool);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the cells of a class are too long to be recorded"),
			 errdetail("As text the quasi-identifiers of one class can have 256 MB."),
			 errhint("Publish a view that shortens the values: nobody outside knows any of that length.")));
	}
	PG_END_TRY();
	return shown;
}

struct ClassRecorder
{
	RecordTable table;
	const Source *source;
	ShownJson *json;
	int64 run;
	uint32 classes; /* so far */
};

ClassRecorder *
run_record_begin(Oid schema, const Source *source, int64 *run)
{
	ClassRecorder *recorder = palloc0(sizeof(ClassRecorder));

	*run = recorder->run = next_run(schema);
	recorder->source = source;
	recorder->json = shown_json_open(source);
	record_open(&recorder->table, schema, "kanon_run_class");
	return recorder;
}

void
run_record_chunk(ClassRecorder *recorder, const KanonRelease *release, const double *diversity)
{
	const Levels *levels = &recorder->source->levels;
	RecordTable *table = &recorder->table;
	int nest = plain_text_begin();

	for (uint32 i = 0; i < release->nclasses; i++)
	{
		const KanonClass *class_ = &release->classes[i];
		MemoryContext old = MemoryContextSwitchTo(table->row);

		CHECK_FOR_INTERRUPTS();
		record_set_int8(table, "run", recorder->run, false);
		record_set(table, "class", Int32GetDatum((int32) ++recorder->classes), false);
		record_set_text(table, "pattern", class_text(release, i, levels));
		record_set_int8(table, "row_count", class_->rows, false);
		record_set_int8(table, "suppressed_cells", class_->rows * class_suppressed(release, i, levels),
						false);
		record_set_float8(table, "tuple_diversity", diversity[i], false);
		record_set(table, "shown",
				   shown_or_hint(recorder->json,
								 &release->cells[(size_t) i * levels->first[recorder->source->nqis]],
								 release->pool),
				   false);
		record_insert(table);
		MemoryContextSwitchTo(old);
	}
	plain_text_end(nest);
}

void
run_record_end(ClassRecorder *recorder)
{
	record_close(&recorder->table);
}

int64
run_record_classes(Oid schema, const RowTypes *types, const KanonProblem *problem,
				   const KanonRelease *release, const double *diversity)
{
	int64 run;
	ClassRecorder *recorder;

	if (problem->freeform != NULL)
		return next_run(schema);
	recorder = run_record_begin(schema, types->source, &run);
	run_record_chunk(recorder, release, diversity);
	run_record_end(recorder);
	return run;
}

void
run_record(Oid schema, int64 run, const RunRecord *record, const RowTypes *types, const KanonProblem *problem,
		   const KanonRelease *release, const KanonReport *report, const KanonMeasures *measures)
{
	record_run(schema, run, record, types, problem, release, report, measures);
	record_columns(schema, run, types->source, problem, record->columns, release->nclasses == 0);
}

/* No quasi-identifiers that show something else, no row types, no classes. */
int64
run_record_classless(Oid schema, const RunRecord *record, const Source *source, const KanonReport *report,
					 const ClasslessRun *classless)
{
	static const char *const none[] = {"size_from", "source_size_classes", "source_size_rows",
									   "target_size_classes", "target_size_rows"};
	static const char *const zero[] = {"dropped_rows", "row_types", "source_blank_rows", "target_blank_rows"};
	bool unbounded = isinf(report->lower_bound);
	RecordTable table;
	int64 run = next_run(schema);

	record_open(&table, schema, "kanon_run");
	set_run(&table, run, record, source, classless->k);
	record_set(&table, "quasi_identifiers", Int32GetDatum(0), false);
	for (int i = 0; i < lengthof(none); i++)
		record_set_int8s(&table, none[i], NULL, 0);
	for (int i = 0; i < lengthof(zero); i++)
		record_set_int8(&table, zero[i], 0, false);
	record_set_int8(&table, "suppressed_cells", classless->suppressed, false);
	record_set_float8(&table, "cost", report->cost, false);
	record_set_float8(&table, "lower_bound", report->lower_bound, unbounded);
	record_set_float8(&table, "gap", unbounded ? 0 : report_gap(report), unbounded);
	record_set(&table, "proven", BoolGetDatum(report->proven), false);
	record_set_int8(&table, "nodes", report->nodes, false);
	record_set_float8(&table, "ncp", classless->ncp, isnan(classless->ncp));
	record_set(&table, classless->column, classless->measures, false);
	record_insert(&table);
	record_close(&table);
	return run;
}
