/*
 * linked_persons.c: the persons of a release, with their classes and the values that rules look at.
 *
 * They are read from the subject's table as it was published: a person is known by the pseudonym that the key becomes
 * there.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked.h"
#include "masks/mask_apply.h"
#include "rows/dictionary.h"
#include "rows/verify.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/uuid.h"

#define NOBODY LINKED_NOBODY

typedef struct Person
{
	uint8 pseudonym[UUID_LEN];
	uint32 class_;
	uint32 number; /* NOBODY: no row of theirs was met yet */
	uint32 values; /* a row type of the subject's with the values that rules look at */
} Person;

/* ---- persons ---- */

/* Persons are found by the pseudonym that the subject's table shows; a number is filled up with zeros. */
static void
put_number(uint8 *pseudonym, int64 number)
{
	memset(pseudonym, 0, UUID_LEN);
	memcpy(pseudonym, &number, sizeof(number));
}

/* One of an array of pseudonyms. */
static void
take_pseudonym(Oid type, Datum value, uint8 *pseudonym)
{
	if (type == INT8OID)
		put_number(pseudonym, DatumGetInt64(value));
	else
		memcpy(pseudonym, DatumGetUUIDP(value)->data, UUID_LEN);
}

static void
take_array(ArrayType *array, Datum **values, bool **nulls, int *n)
{
	if (ARR_ELEMTYPE(array) == INT8OID)
		deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, values, nulls, n);
	else
		deconstruct_array(array, UUIDOID, UUID_LEN, false, TYPALIGN_CHAR, values, nulls, n);
}

/* A class: the pseudonyms of all who are in it. */
static bool
receive_class(void *arg, TupleTableSlot *slot)
{
	Linked *linked = arg;
	ArrayType *array = DatumGetArrayTypeP(slot->tts_values[0]);
	uint8 pseudonym[UUID_LEN];
	Datum *values;
	bool *nulls;
	int n;

	take_array(array, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		bool found;
		Person *person = NULL;

		if (!nulls[i])
		{
			take_pseudonym(ARR_ELEMTYPE(array), values[i], pseudonym);
			person = hash_search(linked->persons, pseudonym, HASH_ENTER, &found);
		}
		if (person == NULL || found)
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("two persons have one key"),
							errhint("The primary key of the subject's table is broken.")));
		person->class_ = linked->nclasses;
		person->number = NOBODY;
		person->values = NOBODY;
	}
	linked->published += n;
	linked->nclasses++;
	pfree(values);
	pfree(nulls);
	return true;
}

/* ---- values that rules of the subject's table look at ---- */

typedef struct ValueReader
{
	Linked *linked;
	int n;       /* columns */
	HTAB *types; /* by their codes: a row type of the subject's that has them */
	uint32 codes[KANON_MAX_COLUMNS];
} ValueReader;

/* Persons who have the same values. */
static bool
receive_values(void *arg, TupleTableSlot *slot)
{
	ValueReader *reader = arg;
	const Source *source = reader->linked->tables[0].run->source;
	ArrayType *array = DatumGetArrayTypeP(slot->tts_values[0]);
	uint32 *type;
	Datum *values;
	bool *nulls;
	int n;

	for (int c = 0; c < reader->n; c++)
		reader->codes[c] = dictionary_find(source->qis[source->nqis + c].dictionary, slot->tts_values[1 + c],
										   slot->tts_isnull[1 + c]);
	type = hash_search(reader->types, reader->codes, HASH_FIND, NULL);
	if (type == NULL)
		raise_unsafe("A person has a value that the source does not have.");
	take_array(array, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		uint8 pseudonym[UUID_LEN];

		take_pseudonym(ARR_ELEMTYPE(array), values[i], pseudonym);
		((Person *) hash_search(reader->linked->persons, pseudonym, HASH_FIND, NULL))->values =
			type[reader->n];
	}
	pfree(values);
	pfree(nulls);
	return true;
}

/* By what the target shows, which are the source's own values. */
static void
read_values(Linked *linked)
{
	const Run *run = linked->tables[0].run;
	const Source *source = run->source;
	const SourceColumn *columns = source->qis + source->nqis;
	ValueReader reader = {.linked = linked, .n = source->ngrouped - source->nqis};
	HASHCTL control = {.keysize = sizeof(uint32) * reader.n,
					   .entrysize = sizeof(uint32) * (reader.n + 1),
					   .hcxt = linked->border->context};
	char *list = column_list(columns, reader.n);
	Gate *gate = gate_create(run->target->building, run->target->relid, 1 + reader.n);
	int nest = grouping_begin();

	reader.types = hash_create("kanon values", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (uint32 i = 0; i < run->types->ntypes; i++)
	{
		for (int c = 0; c < reader.n; c++)
			reader.codes[c] = run->types->grouped[source->nqis + c].code[i];
		((uint32 *) hash_search(reader.types, reader.codes, HASH_ENTER, NULL))[reader.n] = i;
	}
	gate_computed(gate, "array_agg", linked_number(&linked->tables[0]) ? INT8ARRAYOID : UUIDARRAYOID);
	gate_columns(gate, columns, reader.n);
	gate_select(gate,
				psprintf("SELECT pg_catalog.array_agg(%s), %s FROM %s GROUP BY %s",
						 quote_identifier(linked->tables[0].key), list, run->target->building, list),
				false, receive_values, &reader);
	grouping_end(nest);
	hash_destroy(reader.types);
	linked->values = border_palloc(linked->border, sizeof(uint32) * Max(linked->published, 1));
}

/* ---- all of them ---- */

void
linked_persons(Linked *linked)
{
	const LinkedTable *subject = &linked->tables[0];
	const Run *run = subject->run;
	HASHCTL control = {.keysize = UUID_LEN, .entrysize = sizeof(Person), .hcxt = linked->border->context};
	char *qis = column_list(run->source->qis, run->source->nqis);
	Gate *gate = gate_create(run->target->building, run->target->relid, 1);
	int nest = grouping_begin();

	linked->published = linked->npersons = linked->nclasses = 0;
	linked->persons = hash_create("kanon persons", (long) Max(run->types->nrows, 1024), &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	gate_computed(gate, "array_agg", linked_number(subject) ? INT8ARRAYOID : UUIDARRAYOID);
	gate_select(gate,
				psprintf("SELECT pg_catalog.array_agg(%s) FROM %s GROUP BY %s%s",
						 quote_identifier(subject->key), run->target->building, qis,
						 run->target->mark ? ", " KANON_MARK_COLUMN : ""),
				false, receive_class, linked);
	grouping_end(nest);
	border_charge(linked->border, 0, (Size) linked->published * 2 * sizeof(Person));
	linked->class_ = border_palloc(linked->border, sizeof(uint32) * Max(linked->published, 1));
	if (run->problem.privacy != NULL && run->types->nrows > 0)
		read_values(linked);
}

void
linked_forget_persons(Linked *linked)
{
	if (linked->class_ != NULL)
	{
		border_charge(linked->border, (Size) linked->published * 2 * sizeof(Person), 0);
		border_pfree(linked->border, linked->class_);
	}
	if (linked->values != NULL)
		border_pfree(linked->border, linked->values);
	if (linked->persons != NULL)
		hash_destroy(linked->persons);
	linked->class_ = linked->values = NULL;
	linked->persons = NULL;
}

/* ---- who they are ---- */

static Person *
find_person(const Linked *linked, Pseudonyms *pseudonyms, Datum key)
{
	uint8 pseudonym[UUID_LEN];

	pseudonym_of(pseudonyms, key, pseudonym);
	if (linked_number(&linked->tables[0]))
		put_number(pseudonym, pseudonym_number(pseudonym));
	return hash_search(linked->persons, pseudonym, HASH_FIND, NULL);
}

uint32 *
linked_class_of(const Linked *linked, Pseudonyms *pseudonyms, Datum key)
{
	Person *person = find_person(linked, pseudonyms, key);

	return person != NULL ? &person->class_ : NULL;
}

/* Numbers are given in the order of keys: nothing depends on the order of the target's rows. */
static void
number_person(Linked *linked, Person *person)
{
	if (person->number != NOBODY)
		return;
	linked->class_[linked->npersons] = person->class_;
	if (linked->values != NULL)
		linked->values[linked->npersons] = person->values;
	person->number = linked->npersons++;
}

uint32 *
linked_persons_of(Linked *linked, const LinkedTable *table)
{
	const SourceColumn *column = &table->run->source->qis[table->grouped.parent];
	uint32 n = dictionary_size(column->dictionary);
	uint32 *person = border_palloc(table->run->border, sizeof(uint32) * Max(n, 1));
	Pseudonyms *pseudonyms =
		pseudonyms_begin(linked->secret, column->type, linked_group(linked, &linked->tables[0]));
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_SMALL_SIZES);
	int nest = plain_text_begin();

	for (uint32 code = 0; code < n; code++)
	{
		MemoryContext old = MemoryContextSwitchTo(row);
		bool isnull;
		Datum value = dictionary_value(column->dictionary, code, &isnull);
		Person *found = isnull ? NULL : find_person(linked, pseudonyms, value);

		if (found != NULL)
			number_person(linked, found);
		person[code] = found == NULL ? NOBODY : found->number;
		MemoryContextSwitchTo(old);
		MemoryContextReset(row);
		CHECK_FOR_INTERRUPTS();
	}
	plain_text_end(nest);
	pseudonyms_end(pseudonyms);
	MemoryContextDelete(row);
	return person;
}

/* By the values that rules look at: no order but theirs decides with whom others agree. */
static int
compare_values(const void *a, const void *b, void *arg)
{
	const Linked *linked = arg;
	const Run *run = linked->tables[0].run;
	const Person *left = *(Person *const *) a, *right = *(Person *const *) b;

	for (int c = run->source->nqis; c < run->source->ngrouped && linked->values != NULL; c++)
	{
		uint32 one = run->types->grouped[c].code[left->values];
		uint32 other = run->types->grouped[c].code[right->values];

		if (one != other)
			return one < other ? -1 : 1;
	}
	return memcmp(left->pseudonym, right->pseudonym, UUID_LEN);
}

void
linked_number_others(Linked *linked)
{
	Person **others =
		border_palloc(linked->border, sizeof(Person *) * Max(linked->published - linked->npersons, 1));
	HASH_SEQ_STATUS scan;
	Person *person;
	Size n = 0;

	hash_seq_init(&scan, linked->persons);
	while ((person = hash_seq_search(&scan)) != NULL)
		if (person->number == NOBODY)
			others[n++] = person;
	qsort_arg(others, n, sizeof(Person *), compare_values, linked);
	for (Size i = 0; i < n; i++)
		number_person(linked, others[i]);
	border_pfree(linked->border, others);
}
