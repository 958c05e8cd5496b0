/*
 * builder_zip3.c: the first three digits of a ZIP code, or 000 where too few people
 * live, as HIPAA's safe harbor has it (45 CFR 164.514 (b) (2) (i) (B)): by a table of
 * populations, or by the list of the guidance of the Department of Health and Human
 * Services, from the census of 2000.
 */
#include "compat.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "rows/dictionary.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* No more people than this are too few. */
#define FEW 20000

#define PREFIXES 1000

static const int restricted[] = {36,  59,  63,  102, 203, 556, 692, 790, 821,
								 823, 830, 831, 878, 879, 884, 890, 893};

typedef struct Zips
{
	Source *population; /* NULL: the list */
	double people[PREFIXES];
} Zips;

static bool
is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* The first three digits of a code of three, five or nine; -1: it is none. */
static int
prefix_of(const char *text, bool number)
{
	char code[12];
	size_t length = strlen(text);
	size_t digits;

	/* a number has lost its leading zeros */
	if (number && length > 0 && length < 5)
		snprintf(code, sizeof(code), "%05d", atoi(text));
	else
		strlcpy(code, text, sizeof(code));
	length = Max(length, strlen(code));
	digits = strspn(code, "0123456789");
	if (length > 10 || digits < 3 ||
		!((digits == length && (length == 3 || length == 5 || length == 9)) ||
		  (digits == 5 && length == 10 && code[5] == '-' && strspn(code + 6, "0123456789") == 4)))
		return -1;
	return (code[0] - '0') * 100 + (code[1] - '0') * 10 + code[2] - '0';
}

static bool
add_people(void *arg, TupleTableSlot *slot)
{
	Zips *zips = arg;
	const SourceColumn *code = &zips->population->qis[0];
	Oid function;
	bool isvarlena;
	char *text;
	int prefix;
	double people;

	if (slot->tts_isnull[0] || slot->tts_isnull[1])
		return true;
	getTypeOutputInfo(code->type, &function, &isvarlena);
	text = OidOutputFunctionCall(function, slot->tts_values[0]);
	while (*text != '\0' && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	prefix = prefix_of(text, is_number(getBaseType(code->type)));
	people = value_as_number(zips->population->qis[1].type, slot->tts_values[1]);
	if (prefix >= 0 && people > 0)
		zips->people[prefix] += people;
	return true;
}

static void
prepare(LevelBuilder *builder, const Dictionary *values, const int64 *rows)
{
	Zips *zips = builder->own;

	for (int i = 0; i < PREFIXES; i++)
		zips->people[i] = zips->population == NULL ? FEW + 1 : 0;
	if (zips->population != NULL)
	{
		const Source *population = zips->population;
		Gate *gate = gate_create(population->name, population->relid, 2);

		gate_columns(gate, population->qis, 2);
		gate_select(gate, psprintf("SELECT %s FROM %s", column_list(population->qis, 2), population->name),
					true, add_people, zips);
		return;
	}
	for (int i = 0; i < (int) lengthof(restricted); i++)
		zips->people[restricted[i]] = 0;
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const Zips *zips = builder->own;
	int prefix = prefix_of(builder_text(builder, value), is_number(builder->type));

	if (prefix < 0)
		return BUILDER_UNKNOWN;
	nodes[0] = CStringGetTextDatum(psprintf("%03d", zips->people[prefix] > FEW ? prefix : 0));
	return 1;
}

LevelBuilder *
builder_zip3(const char *name, const SourceColumn *column, Oid population)
{
	LevelBuilder *builder = builder_create(name, column, 1);
	Zips *zips = palloc0(sizeof(Zips));

	if (!is_number(builder->type))
		builder_of_texts(builder, "hierarchy of ZIP codes");
	builder->words[0] = "the first 3 digits";
	builder->relation = population;
	if (OidIsValid(population))
	{
		zips->population = hierarchy_columns(population);
		if (!type_is_numerical(zips->population->qis[1].type))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the second column of population %s is no number", zips->population->name),
					 errhint("Its first column has ZIP codes or their first three digits, the second one how "
							 "many people live there.")));
	}
	builder->prepare = prepare;
	builder->levels = levels;
	builder->own = zips;
	return builder;
}
