/*
 * domains.c: the values that columns may have, and rows as numbers of their combinations.
 */
#include "compat.h"
#include "noise/models.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "hierarchies/hierarchy.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/* Values of one column. */
#define MOST_VALUES 1000000

static void
raise_form(const SourceColumn *column)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("domains must say which values column \"%s\" may have", column->name),
					errhint("Write it like '{\"sex\": [\"f\", \"m\"], \"age\": {\"from\": 0, \"to\": 99}, "
							"\"zip\": \"zip_levels\"}': values, a range of whole numbers, or a relation "
							"whose first column has them.")));
}

static void
raise_many(const char *what, double n, double most)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("%s has %.0f values, more than %.0f", what, n, most),
					errhint("Publish fewer columns, or a view in which they are coarser.")));
}

Domains *
domains_open(Oid relid, ArrayType *columns)
{
	Domains *domains = palloc0(sizeof(Domains));
	Source *source = source_open_kept(relid, columns);

	domains->source = source;
	domains->relations = palloc0(sizeof(Oid) * source->nkept);
	domains->size = palloc0(sizeof(uint32) * source->nkept);
	return domains;
}

/* ---- which values ---- */

static JsonbValue *
member(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString};

	key.val.string.val = unconstify(char *, name);
	key.val.string.len = strlen(name);
	return findJsonbValueFromContainer(object, JB_FOBJECT, &key);
}

static bool
is_object(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);
}

static bool
is_list(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
}

void
domains_resolve(Domains *domains, Jsonb *json)
{
	Source *source = domains->source;

	if (json == NULL || !JB_ROOT_IS_OBJECT(json))
		raise_form(&source->kept[0]);
	for (int c = 0; c < source->nkept; c++)
	{
		JsonbValue *value = member(&json->root, source->kept[c].name);

		if (value == NULL || (value->type != jbvString && !is_object(value) && !is_list(value)))
			raise_form(&source->kept[c]);
		if (value->type != jbvString)
			continue;
		domains->relations[c] =
			relation_to_read("domain", pnstrdup(value->val.string.val, value->val.string.len));
		source->beside = lappend_oid(source->beside, domains->relations[c]);
	}
	if (JB_ROOT_COUNT(json) != source->nkept)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("domains names a column that is not published"),
				 errhint("Give a domain to each of the columns, and to no other.")));
}

/* A value as it is written, of the column's type; kept as one of its domain. */
static void
add_text(const SourceColumn *column, const char *text)
{
	(void) dictionary_add(column->dictionary, text_as_value(text, column->type, column->typmod), false);
}

static void
add_json(const SourceColumn *column, const JsonbValue *value)
{
	switch ((int) value->type)
	{
		case jbvNull:
			(void) dictionary_add(column->dictionary, (Datum) 0, true);
			break;
		case jbvString:
			add_text(column, pnstrdup(value->val.string.val, value->val.string.len));
			break;
		case jbvBool:
			add_text(column, value->val.boolean ? "true" : "false");
			break;
		case jbvNumeric:
			add_text(column,
					 DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric))));
			break;
		default:
			raise_form(column);
	}
}

/* A bound of a range of whole numbers. */
static int64
bound(const SourceColumn *column, JsonbContainer *object, const char *name)
{
	JsonbValue *value = member(object, name);
	int64 result;

	if (value == NULL || value->type != jbvNumeric || JsonContainerSize(object) != 2)
		raise_form(column);
	result = DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(value->val.numeric)));
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(value->val.numeric),
										  NumericGetDatum(int64_to_numeric(result)))))
		raise_form(column);
	return result;
}

static void
add_range(const SourceColumn *column, JsonbContainer *object)
{
	int64 from = bound(column, object, "from"), to = bound(column, object, "to");

	if (from > to)
		raise_form(column);
	if ((double) to - (double) from >= MOST_VALUES)
		raise_many(psprintf("the domain of column \"%s\"", column->name), (double) to - (double) from + 1,
				   MOST_VALUES);
	for (int64 i = 0; i <= to - from; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_text(column, psprintf(INT64_FORMAT, from + i));
	}
}

typedef struct Listed
{
	const SourceColumn *column;
	JsonbContainer *values;
} Listed;

static void
add_listed(void *arg)
{
	const Listed *listed = arg;

	if (JsonContainerIsObject(listed->values))
	{
		add_range(listed->column, listed->values);
		return;
	}
	for (uint32 i = 0; i < JsonContainerSize(listed->values); i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_json(listed->column, getIthJsonbValueFromContainer(listed->values, i));
	}
}

/* A type's error about a text that is none of its values may have the text in it. */
static void
try_listed(const SourceColumn *column, JsonbContainer *values)
{
	Listed listed = {column, values};
	ErrorData *error = attempt(add_listed, &listed);

	if (error == NULL)
		return;
	raise_unless_of_value(error);
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("domains has a value for column \"%s\" that is none of type %s", column->name,
						   format_type_be(column->type)),
					errhint("Write values as text that the type understands, or as numbers.")));
}

/* Values of a domain, as they come in. */
typedef struct ValueReader
{
	Dictionary *dictionary;
	Border *border;
	Size charged;
} ValueReader;

static bool
receive_value(void *arg, TupleTableSlot *slot)
{
	ValueReader *reader = arg;
	uint32 before = dictionary_size(reader->dictionary);

	(void) dictionary_add(reader->dictionary, slot->tts_values[0], slot->tts_isnull[0]);
	if (dictionary_size(reader->dictionary) > before)
	{
		Size now = dictionary_memory(reader->dictionary);

		border_charge(reader->border, reader->charged, now);
		reader->charged = now;
	}
	return dictionary_size(reader->dictionary) <= MOST_VALUES;
}

static void
add_relation(SourceColumn *column, Oid relid, Border *border)
{
	Source *source = source_open_all(relid);
	const SourceColumn *listed = &source->kept[0];
	Gate *gate = gate_create(source->name, relid, 1);
	ValueReader reader = {column->dictionary, border, 0};

	if (source->nkept == 0 || listed->type != column->type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the first column of %s is not of the type of \"%s\"", source->name, column->name),
				 errhint("Name a view that casts it.")));
	gate_columns(gate, listed, 1);
	gate_watch(gate, border, "reading");
	gate_select(gate, psprintf("SELECT %s FROM %s", listed->quoted, source->name), true, receive_value,
				&reader);
	border_charge(border, reader.charged, 0); /* the caller charges the whole */
}

void
domains_values(Domains *domains, Jsonb *json, Border *border)
{
	Source *source = domains->source;

	domains->tuples = 1;
	for (int c = 0; c < source->nkept; c++)
	{
		SourceColumn *column = &source->kept[c];
		JsonbValue *value = member(&json->root, column->name);

		column->dictionary = dictionary_create(border->context, column);
		if (OidIsValid(domains->relations[c]))
			add_relation(column, domains->relations[c], border);
		else
			try_listed(column, value->val.binary.data);
		domains->size[c] = dictionary_size(column->dictionary);
		border_charge(border, 0, dictionary_memory(column->dictionary));
		if (domains->size[c] == 0)
			raise_form(column);
		if (domains->size[c] > MOST_VALUES)
			raise_many(psprintf("the domain of column \"%s\"", column->name), domains->size[c], MOST_VALUES);
		if ((double) domains->tuples * domains->size[c] > (double) KANON_MOST_TUPLES)
			raise_many("the domain", (double) domains->tuples * domains->size[c], (double) KANON_MOST_TUPLES);
		domains->tuples *= domains->size[c];
	}
	domains->rows.domain = domains->tuples;
}

/* ---- tuples ---- */

uint32
domains_code(const Domains *domains, uint64 tuple, int column)
{
	for (int c = domains->source->nkept - 1; c > column; c--)
		tuple /= domains->size[c];
	return (uint32) (tuple % domains->size[column]);
}

Datum
domains_value(const Domains *domains, uint64 tuple, int column, bool *isnull)
{
	return dictionary_value(domains->source->kept[column].dictionary, domains_code(domains, tuple, column),
							isnull);
}

typedef struct Reader
{
	const Domains *domains;
	Border *border;
	MemoryContext row;
	uint64 *tuples;
	Size room;
	int64 n;
	int64 outside;
} Reader;

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	const Source *source = reader->domains->source;
	MemoryContext old = MemoryContextSwitchTo(reader->row);
	uint64 tuple = 0;
	bool inside = true;

	for (int c = 0; c < source->nkept && inside; c++)
	{
		uint32 code = dictionary_find(source->kept[c].dictionary, slot->tts_values[c], slot->tts_isnull[c]);

		inside = code != DICTIONARY_NONE;
		tuple = tuple * reader->domains->size[c] + code;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	if (!inside)
	{
		reader->outside++;
		return true;
	}
	reader->tuples =
		border_grow(reader->border, reader->tuples, &reader->room, reader->n + 1, sizeof(uint64));
	reader->tuples[reader->n++] = tuple;
	return true;
}

static int
compare_tuples(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a, y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

uint64 *
domains_tuples(const Domains *domains, const char *name, Oid relid, bool read_only, const char *phase,
			   int64 *n, int64 *outside, Border *border)
{
	const Source *source = domains->source;
	Reader reader = {.domains = domains, .border = border};
	Gate *gate = gate_create(name, relid, source->nkept);

	reader.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	gate_columns(gate, source->kept, source->nkept);
	gate_watch(gate, border, phase);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), name),
				read_only, receive_row, &reader);
	MemoryContextDelete(reader.row);
	if (reader.n > 0)
		qsort(reader.tuples, reader.n, sizeof(uint64), compare_tuples);
	*n = reader.n;
	*outside = reader.outside;
	return reader.tuples;
}

void
domains_read(Domains *domains, Border *border)
{
	KanonTuples *rows = &domains->rows;
	int64 n;
	uint64 *tuples = domains_tuples(domains, domains->source->name, domains->source->relid, true, "reading",
									&n, &domains->outside, border);
	int64 *counts = border_palloc(border, sizeof(int64) * Max(n, 1));

	rows->nrows = n;
	for (int64 i = 0; i < n; i++)
		if (rows->n > 0 && tuples[rows->n - 1] == tuples[i])
			counts[rows->n - 1]++;
		else
		{
			tuples[rows->n] = tuples[i];
			counts[rows->n++] = 1;
		}
	rows->tuple = tuples;
	rows->rows = counts;
}
