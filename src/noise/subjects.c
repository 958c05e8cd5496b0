/*
 * subjects.c: rows by groups, one subject after the other.
 *
 * The server sorts by subject and numbers them; groups are told apart by the text of
 * their values, as JSON, whatever their types think of equality.
 */
#include "compat.h"
#include "noise/models.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

/* Groups that may be declared. */
#define MOST_GROUPS 100000

/* ---- columns ---- */

static void
check_number(const SourceColumn *column)
{
	if (type_is_number(column->type))
		return;
	ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" has no numbers", column->name),
					errdetail("It is of type %s.", format_type_be(column->type)),
					errhint("Query a view that converts it to a number; only count takes any type.")));
}

static void
check_order(const SourceColumn *column)
{
	if (!OidIsValid(lookup_type_cache(column->type, TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
						errmsg("column \"%s\" of type %s cannot be the subject", column->name,
							   format_type_be(column->type)),
						errdetail("The type has no order to sort by."),
						errhint("Ask a view that casts it to another type, such as text.")));
}

/* One column more, of a name that may be NULL. */
static const SourceColumn *
one_column(const Source *source, ArrayType *name, const char *argument)
{
	int n;

	return name == NULL ? NULL : source_columns(source, name, argument, argument, &n);
}

Subjects *
subjects_open(Oid relid, ArrayType *of, bool numbers, ArrayType *by, ArrayType *subject)
{
	Subjects *subjects = palloc0(sizeof(Subjects));
	Source *source = source_open_bare(relid);
	int n = 0;

	subjects->source = source;
	subjects->of = one_column(source, of, "of");
	subjects->subject = one_column(source, subject, "subject");
	if (by != NULL)
		subjects->by = source_columns(source, by, "by", "a column of groups", &subjects->nby);
	if (subjects->of != NULL && numbers)
		check_number(subjects->of);
	if (subjects->subject != NULL)
		check_order(subjects->subject);
	source->kept = palloc0(sizeof(SourceColumn) * (subjects->nby + 2));
	for (int i = 0; i < subjects->nby; i++)
		source->kept[n++] = subjects->by[i];
	if (subjects->of != NULL)
		source->kept[n++] = *subjects->of;
	if (subjects->subject != NULL)
		source->kept[n++] = *subjects->subject;
	source->nkept = n;
	return subjects;
}

/* ---- groups ---- */

static Dictionary *
groups_create(Border *border)
{
	static const SourceColumn text = {
		.name = "groups", .type = TEXTOID, .typmod = -1, .collation = C_COLLATION_OID};

	return dictionary_create(border->context, &text);
}

static void
raise_form(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("groups must list values for each column of \"by\", and no others"),
					errhint("Write it like '{\"sex\": [\"f\", \"m\", null], \"year\": [2024, 2025]}'.")));
}

/* A value as its text, as SQL casts it. */
static JsonbValue
as_text(const JsonbValue *value)
{
	JsonbValue text = {.type = jbvString};

	if (value->type == jbvNull || value->type == jbvString)
		return *value;
	if (value->type == jbvBool)
		text.val.string.val = value->val.boolean ? "true" : "false";
	else if (value->type == jbvNumeric)
		text.val.string.val =
			DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	else
		raise_form();
	text.val.string.len = strlen(text.val.string.val);
	return text;
}

/* Group number `number` of all combinations, the last column's values changing first. */
static Datum
combination(const Subjects *subjects, JsonbValue **values, const uint32 *counts, uint32 number)
{
	JsonbInState state = {0};
	Jsonb *json;
	uint32 rest = number;
	uint32 *choice = palloc(sizeof(uint32) * subjects->nby);

	for (int i = subjects->nby - 1; i >= 0; i--)
	{
		choice[i] = rest % counts[i];
		rest /= counts[i];
	}
	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < subjects->nby; i++)
	{
		JsonbValue key = {.type = jbvString};

		key.val.string.val = subjects->by[i].name;
		key.val.string.len = strlen(key.val.string.val);
		kanon_push_jsonb(&state, WJB_KEY, &key);
		kanon_push_jsonb(&state, WJB_VALUE, &values[i][choice[i]]);
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	json = JsonbValueToJsonb(state.result);
	return CStringGetTextDatum(JsonbToCString(NULL, &json->root, VARSIZE(json)));
}

/* The values of a column: [counts] of them. */
static JsonbValue *
declared_values(Jsonb *values, const char *column, uint32 *count)
{
	JsonbValue key = {.type = jbvString}, *list;
	JsonbValue *result;

	key.val.string.val = unconstify(char *, column);
	key.val.string.len = strlen(column);
	list = findJsonbValueFromContainer(&values->root, JB_FOBJECT, &key);
	if (list == NULL || list->type != jbvBinary || !JsonContainerIsArray(list->val.binary.data) ||
		JsonContainerIsScalar(list->val.binary.data) || JsonContainerSize(list->val.binary.data) == 0)
		raise_form();
	*count = JsonContainerSize(list->val.binary.data);
	result = palloc(sizeof(JsonbValue) * *count);
	for (uint32 i = 0; i < *count; i++)
		result[i] = as_text(getIthJsonbValueFromContainer(list->val.binary.data, i));
	return result;
}

void
subjects_declare(Subjects *subjects, Jsonb *values, Border *border)
{
	JsonbValue **lists = palloc(sizeof(JsonbValue *) * Max(subjects->nby, 1));
	uint32 *counts = palloc(sizeof(uint32) * Max(subjects->nby, 1));
	double n = 1;

	subjects->groups = groups_create(border);
	if (values == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(values) || JB_ROOT_COUNT(values) != subjects->nby)
		raise_form();
	subjects->declared = true;
	for (int i = 0; i < subjects->nby; i++)
	{
		lists[i] = declared_values(values, subjects->by[i].name, &counts[i]);
		n *= counts[i];
	}
	if (n > MOST_GROUPS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("%.0f groups are declared, more than %d", n, MOST_GROUPS),
						errhint("Declare fewer values, or ask for one column after the other.")));
	for (uint32 i = 0; i < (uint32) n; i++)
		if (dictionary_add(subjects->groups, combination(subjects, lists, counts, i), false) != i)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("groups has a value twice"),
							errhint("List each value of a column once.")));
	subjects->ngroups = (uint32) n;
}

char *
subjects_group(const Subjects *subjects, uint32 group)
{
	bool isnull;

	return TextDatumGetCString(dictionary_value(subjects->groups, group, &isnull));
}

/* ---- reading ---- */

/* {"column": text, …} */
static char *
group_expression(const Subjects *subjects)
{
	StringInfoData text;

	if (subjects->nby == 0)
		return "CAST('{}' AS pg_catalog.text)";
	initStringInfo(&text);
	appendStringInfoString(&text, "CAST(pg_catalog.jsonb_build_object(");
	for (int i = 0; i < subjects->nby; i++)
		appendStringInfo(&text, "%sCAST(%s AS pg_catalog.text), %s", i > 0 ? ", " : "",
						 quote_literal_cstr(subjects->by[i].name),
						 text_expression(psprintf("s.%s", subjects->by[i].quoted), subjects->by[i].type));
	appendStringInfoString(&text, ") AS pg_catalog.text)");
	return text.data;
}

/* Group, what is counted, subject; by subject. */
static char *
query_text(const Subjects *subjects)
{
	const SourceColumn *of = subjects->of, *subject = subjects->subject;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT %s", group_expression(subjects));
	if (of != NULL)
		appendStringInfo(&text, ", s.%s", of->quoted);
	if (subject != NULL)
		appendStringInfo(&text, ", pg_catalog.dense_rank() OVER (ORDER BY s.%s)", subject->quoted);
	appendStringInfo(&text, " FROM %s AS s WHERE true", subjects->source->name);
	if (of != NULL)
		appendStringInfo(&text, " AND s.%s IS NOT NULL", of->quoted);
	if (subject != NULL)
		appendStringInfo(&text, " AND s.%s IS NOT NULL ORDER BY s.%s", subject->quoted, subject->quoted);
	return text.data;
}

typedef struct Reader
{
	Subjects *subjects;
	KanonTally *tally;
	Border *border;
	MemoryContext row;
	uint64 rows;
	Size charged;
} Reader;

/* A row's contribution; false: nothing. */
static bool
value_of(const Subjects *subjects, Datum value, int64 *tallied)
{
	const KanonQuestion *question = subjects->question;
	double number;

	*tallied = 0;
	if (subjects->of == NULL || question->aggregate == KANON_AGGREGATE_COUNT)
		return true;
	number = value_as_number(subjects->of->type, value);
	if (isnan(number))
		return false;
	*tallied = question->aggregate == KANON_AGGREGATE_HISTOGRAM
				   ? kanon_grid_bin(number, subjects->lower, subjects->upper, question->bins)
				   : kanon_grid_step(number, subjects->step, question->lower, question->upper);
	return true;
}

static uint32
group_of(Reader *reader, Datum text)
{
	Subjects *subjects = reader->subjects;
	uint32 group;

	if (subjects->declared)
		return dictionary_find(subjects->groups, text, false);
	group = dictionary_add(subjects->groups, text, false);
	if (group == subjects->ngroups)
	{
		Size now = dictionary_memory(subjects->groups);

		subjects->ngroups++;
		border_charge(reader->border, reader->charged, now);
		reader->charged = now;
	}
	return group;
}

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	Subjects *subjects = reader->subjects;
	int subject_at = subjects->of != NULL ? 2 : 1;
	uint32 group = DICTIONARY_NONE;
	MemoryContext old = MemoryContextSwitchTo(reader->row);
	int64 value;
	uint64 subject;

	for (int c = 0; c < slot->tts_tupleDescriptor->natts; c++)
		gate_refuse_null(subjects->source->name, slot, c);
	subject =
		subjects->subject != NULL ? (uint64) DatumGetInt64(slot->tts_values[subject_at]) : reader->rows++;
	if (value_of(subjects, slot->tts_values[1], &value))
		group = group_of(reader, slot->tts_values[0]);

	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	if (group != DICTIONARY_NONE)
		border_check(reader->border, kanon_tally_row(reader->tally, subject, group, value), "");
	return true;
}

void
subjects_read(Subjects *subjects, KanonTally *tally, Border *border)
{
	const Source *source = subjects->source;
	Reader reader = {.subjects = subjects, .tally = tally, .border = border};
	int n = 1 + (subjects->of != NULL) + (subjects->subject != NULL);
	Gate *gate = gate_create(source->name, source->relid, n);
	int nest = plain_text_begin();

	reader.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	gate_computed(gate, "groups", TEXTOID);
	if (subjects->of != NULL)
		gate_columns(gate, subjects->of, 1);
	if (subjects->subject != NULL)
		gate_computed(gate, "subject", INT8OID);
	gate_watch(gate, border, "reading");
	gate_select(gate, query_text(subjects), true, receive_row, &reader);
	plain_text_end(nest);
	MemoryContextDelete(reader.row);
	border_check(border, kanon_tally_end(tally, subjects->ngroups), "");
}
