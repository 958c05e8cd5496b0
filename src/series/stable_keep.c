/*
 * stable_keep.c: what a publication keeps for its next release: the classes from which it starts, in a private table,
 * and the bounds of hierarchies.
 *
 * A line has a row type, its class, the pattern of the class and the number of rows.  If a row type is in
 * several classes, the table also says which of its rows are in which (rows/row_split.c).
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "series/successive.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"
#include "rows/target.h"
#include "distributed/citus.h"
#include "host/settings.h"
#include "rows/row_types.h"
#include "run/run.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

static Oid
create_table(const Source *source, const char *types)
{
	char *columns = column_list(source->qis, source->ngrouped);

	run_utility(psprintf("CREATE TABLE %s AS SELECT %s, 0 AS " STABLE_CLASS_COLUMN
						 ", ''::pg_catalog.text AS " STABLE_PATTERN_COLUMN
						 ", 0::pg_catalog.int8 AS " STABLE_ROWS_COLUMN ", 0 AS " STABLE_NUMBER_COLUMN
						 ", 0::pg_catalog.int8 AS " STABLE_ROW_COLUMN
						 ", 0::pg_catalog.int8 AS " STABLE_KEY_COLUMN " FROM %s WITH NO DATA",
						 types, columns, source->name));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'which row type is in which class of a kanon release; never to be published'",
		types));
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(types))), NoLock,
							false);
}

/* A line of which nothing is there yet.  Classes that readers cannot tell apart are one. */
static TupleTableSlot *
new_line(const Run *run, uint32 class_, uint32 type)
{
	TupleTableSlot *slot = bulk_slot(run->state);
	int beside = run->source->ngrouped;

	memset(slot->tts_isnull, true, sizeof(bool) * (beside + STABLE_COLUMNS));
	slot->tts_values[beside + STABLE_CLASS] = Int32GetDatum(
		(int32) (run->alike != NULL && class_ < run->release.nclasses ? run->alike[class_] : class_));
	slot->tts_values[beside + STABLE_NUMBER] = Int32GetDatum((int32) type);
	slot->tts_isnull[beside + STABLE_CLASS] = slot->tts_isnull[beside + STABLE_NUMBER] = false;
	return slot;
}

static void
note_row(void *arg, uint32 type, uint32 class_, const RowMark *mark)
{
	Run *run = arg;
	int beside = run->source->ngrouped;
	TupleTableSlot *slot = new_line(run, class_, type);

	slot->tts_values[beside + STABLE_ROW] = Int64GetDatum((int64) mark->row);
	slot->tts_values[beside + STABLE_KEY] = Int64GetDatum((int64) mark->key);
	slot->tts_isnull[beside + STABLE_ROW] = slot->tts_isnull[beside + STABLE_KEY] = false;
	bulk_put(run->state);
}

/* Classes of rows that are dropped have numbers behind those of the release, from `first` on. */
static void
put_flow(const Run *run, const KanonFlow *flow, uint32 first, KanonPattern pattern)
{
	const Source *source = run->source;
	int beside = source->ngrouped;
	TupleTableSlot *slot = new_line(run, first + flow->class_, flow->type);

	for (int c = 0; c < source->ngrouped; c++)
		slot->tts_values[c] = dictionary_value(source->qis[c].dictionary,
											   run->types->grouped[c].code[flow->type], &slot->tts_isnull[c]);
	slot->tts_values[beside + STABLE_PATTERN] = CStringGetTextDatum(pattern_text(pattern, &source->levels));
	slot->tts_values[beside + STABLE_ROWS] = Int64GetDatum(flow->rows);
	slot->tts_isnull[beside + STABLE_PATTERN] = slot->tts_isnull[beside + STABLE_ROWS] = false;
	bulk_put(run->state);
}

void
stable_begin(Run *run)
{
	const Source *source = run->source;
	const KanonRelease *release = &run->release;
	Oid relid;

	relid = create_table(source, run->request->series.types);
	keep_uncounted(relid);
	run->state_table = table_open(relid, RowExclusiveLock);
	run->state = bulk_begin(run->state_table);
	run->alike =
		shown_class_alike(shown_class_create(run->target, source, &run->problem, release), run->border);
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			put_flow(run, &release->flows[f], 0, release->classes[release->flows[f].class_].pattern);
	for (Size f = 0; run->company != NULL && f < run->company->ndropped; f++)
		put_flow(run, &run->company->dropped[f], release->nclasses,
				 run->company->pattern[run->company->dropped[f].class_]);
	if (run->company != NULL)
	{
		run->company->note = note_row;
		run->company->arg = run;
	}
}

void
stable_end(Run *run)
{
	(void) bulk_end(run->state);
	table_close(run->state_table, NoLock);
	if (run->alike != NULL)
		border_pfree(run->border, run->alike);
	run->alike = NULL;
	CommandCounterIncrement();
	if (FAULT(types_changed))
		run_utility(psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE pg_catalog.text",
							 run->request->series.types, run->source->qis[0].quoted));
}

/* ---- Has anything changed since the release before? ---- */

/*
 * All that decides about the release, in one pass.  Rows that Citus has distributed are not
 * brought here for that.
 */
void
look_for_changes(Run *run)
{
	const Request *request = run->request;
	List *read = list_concat(list_make1_oid(run->source->relid), run->source->beside);
	ListCell *lc;

	if (!kanon_skip_unchanged || request->series.rehearsed || request->series.appends ||
		request->series.definition == NULL || request->columns.mask_key == NULL)
		return;
	foreach (lc, read)
		if (citus_reads(lfirst_oid(lc)))
			return;
	border_progress(run->border, "looking for changes", 0, -1);
	run->digest = relations_digest(read, request->series.definition, request->columns.mask_key);
	/* (a build with faults makes each release, to break it) */
	run->unchanged = !WITH_FAULTS && request->series.seen != NULL &&
					 VARSIZE_ANY(request->series.seen) == VARSIZE_ANY(run->digest) &&
					 memcmp(request->series.seen, run->digest, VARSIZE_ANY(run->digest)) == 0;
}

/*
 * ---- A publication keeps the bounds of hierarchies that follow from the values
 * (quantile).
 *
 * Worked out anew each night, the bounds would move with every row that comes or goes.  A reader who
 * keeps two releases could then tell rows of one class apart that share a class in both.
 */

static JsonbValue *
member(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString,
					  .val.string = {.val = unconstify(char *, name), .len = strlen(name)}};

	return JsonContainerIsObject(object) ? findJsonbValueFromContainer(object, JB_FOBJECT, &key) : NULL;
}

/* The builder of a column, as the request has it. */
static JsonbValue *
builder_of(const Run *run, const char *column)
{
	return run->request->columns.hierarchies != NULL
			   ? member(&run->request->columns.hierarchies->root, column)
			   : NULL;
}

static LevelBuilder *
bounded(const SourceColumn *column)
{
	LevelBuilder *builder = column->hierarchy != NULL ? column->hierarchy->from.builder : NULL;

	return builder != NULL && builder->bounds != NULL ? builder : NULL;
}

static char **
texts_of(const JsonbValue *array, int *n)
{
	JsonbContainer *list = array->val.binary.data;
	char **texts = palloc(sizeof(char *) * Max(JsonContainerSize(list), 1));

	*n = (int) JsonContainerSize(list);
	for (int i = 0; i < *n; i++)
	{
		const JsonbValue *value = getIthJsonbValueFromContainer(list, i);

		texts[i] = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : NULL;
	}
	return texts;
}

static void
take(const Run *run, const SourceColumn *column, LevelBuilder *builder)
{
	const JsonbValue *kept = member(&run->request->series.bounds->root, column->name);
	const JsonbValue *now = builder_of(run, column->name);
	const JsonbValue *by, *bounds;
	char **texts;
	int n;

	if (kept == NULL || kept->type != jbvBinary || now == NULL || now->type != jbvBinary)
		return;
	by = member(kept->val.binary.data, "by");
	bounds = member(kept->val.binary.data, "bounds");
	if (by == NULL || by->type != jbvBinary || bounds == NULL || bounds->type != jbvBinary ||
		!JsonContainerIsArray(bounds->val.binary.data) ||
		compareJsonbContainers(by->val.binary.data, now->val.binary.data) != 0)
		return;
	texts = texts_of(bounds, &n);
	builder->keep(builder, texts, n);
}

void
kept_bounds_take(Run *run)
{
	if (run->request->series.bounds == NULL)
		return;
	for (int c = 0; c < run->source->nqis; c++)
		if (bounded(&run->source->qis[c]) != NULL)
			take(run, &run->source->qis[c], bounded(&run->source->qis[c]));
}

static void
push_text(JsonbInState *state, JsonbIteratorToken token, const char *text)
{
	JsonbValue value = {.type = text != NULL ? jbvString : jbvNull};

	if (text != NULL)
	{
		value.val.string.val = unconstify(char *, text);
		value.val.string.len = strlen(text);
	}
	kanon_push_jsonb(state, token, &value);
}

Jsonb *
kept_bounds_tell(Run *run)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	for (int c = 0; c < run->source->nqis; c++)
	{
		const SourceColumn *column = &run->source->qis[c];
		LevelBuilder *builder = bounded(column);
		JsonbValue *by = builder_of(run, column->name);
		char **texts;
		int n;

		if (builder == NULL || !builder->prepared || by == NULL)
			continue;
		texts = builder->bounds(builder, &n);
		push_text(&state, WJB_KEY, column->name);
		kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
		push_text(&state, WJB_KEY, "by");
		kanon_push_jsonb(&state, WJB_VALUE, by);
		push_text(&state, WJB_KEY, "bounds");
		kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
		for (int i = 0; i < n; i++)
			push_text(&state, WJB_ELEM, texts[i]);
		kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
		kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(state.result);
}
