/*
 * spelling.c: kept columns come out in one spelling per value.
 *
 * Each spelling that the rows have is stored once, found by its bytes, with the number of its rows
 * and the code of its value, which a dictionary gives by the type's own equality.
 */
#include "compat.h"
#include "rows/dictionary.h"
#include "host/catalog.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "parser/parse_type.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

typedef struct Form
{
	Datum value;
	uint32 code; /* of its value */
	int64 rows;
} Form;

/* A form's slot, found by the hash of its bytes; the key AT_HAND is the value at hand. */
typedef struct FormSlot
{
	uint32 form;
	uint32 hash;
	char status;
} FormSlot;

#define AT_HAND PG_UINT32_MAX
#define FIRST_FORMS 64

struct Spelling
{
	MemoryContext context;
	Border *border;
	Size charged;
	Oid base;
	bool byval;
	int16 length;
	Dictionary *values;
	Form *forms;
	uint32 nforms;
	uint32 room;
	struct forms_hash *slots;
	Datum at_hand;
	uint32 *shown;  /* [values] the form that stands for each, once it was asked for; NULL: not yet */
	uint32 nvalues; /* of shown */
};

static inline bool
is_form(Spelling *spelling, uint32 form)
{
	return datum_image_eq(spelling->forms[form].value, spelling->at_hand, spelling->byval, spelling->length);
}

static inline uint32
hash_at_hand(const Spelling *spelling)
{
	return datum_image_hash(spelling->at_hand, spelling->byval, spelling->length);
}

#define SH_PREFIX forms
#define SH_ELEMENT_TYPE FormSlot
#define SH_KEY_TYPE uint32
#define SH_KEY form
#define SH_HASH_KEY(tb, key) hash_at_hand((tb)->private_data)
#define SH_EQUAL(tb, a, b) is_form((tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, slot) (slot)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static bool
is_float(Oid base)
{
	return base == FLOAT4OID || base == FLOAT8OID;
}

/* Values of the type have times with zones in them, which PostgreSQL compares, and not the dictionary. */
static bool
has_zones_within(Oid type)
{
	Oid part = get_base_element_type(type);
	Oid relid = typeOrDomainTypeRelid(type);
	TupleDesc fields;
	bool found = false;

	check_stack_depth();
	type = getBaseType(type);
	if (!OidIsValid(part) && type_is_multirange(type))
		part = get_multirange_range(type);
	else if (!OidIsValid(part) && type_is_range(type))
		part = get_range_subtype(type);
	if (OidIsValid(part))
		return getBaseType(part) == TIMETZOID || has_zones_within(part);
	if (!OidIsValid(relid))
		return false;
	fields = lookup_rowtype_tupdesc_copy(type, -1);
	for (int i = 0; i < fields->natts && !found; i++)
		found = !TupleDescAttr(fields, i)->attisdropped &&
				(getBaseType(TupleDescAttr(fields, i)->atttypid) == TIMETZOID ||
				 has_zones_within(TupleDescAttr(fields, i)->atttypid));
	return found;
}

bool
spelling_unknown(const SourceColumn *column)
{
	return !OidIsValid(lookup_type_cache(column->type, TYPECACHE_EQ_OPR)->eq_opr) ||
		   has_zones_within(column->type);
}

bool
spelling_varies(const SourceColumn *column)
{
	int32 typmod = column->typmod;
	Oid base = getBaseTypeAndTypmod(column->type, &typmod);

	/* a precision and scale, or a length, leave one spelling */
	if (base == NUMERICOID && typmod >= 0)
		return false;
	if (base == BPCHAROID && typmod >= 0)
		return OidIsValid(column->collation) && !get_collation_isdeterministic(column->collation);
	return !spelling_unknown(column) && !equal_is_identical(column->type, column->collation);
}

Datum
spelling_plain(Oid base, Datum value)
{
	if (base == FLOAT8OID)
	{
		float8 number = DatumGetFloat8(value);

		return Float8GetDatum(isnan(number) ? get_float8_nan() : number == 0 ? 0 : number);
	}
	if (base == FLOAT4OID)
	{
		float4 number = DatumGetFloat4(value);

		return Float4GetDatum(isnan(number) ? get_float4_nan() : number == 0 ? 0 : number);
	}
	return value;
}

Spelling *
spelling_begin(const SourceColumn *column, Border *border)
{
	MemoryContext context = AllocSetContextCreate(border->context, "kanon spellings", ALLOCSET_DEFAULT_SIZES);
	Spelling *spelling = MemoryContextAllocZero(context, sizeof(Spelling));

	spelling->context = context;
	spelling->border = border;
	spelling->base = getBaseType(column->type);
	get_typlenbyval(column->type, &spelling->length, &spelling->byval);
	if (is_float(spelling->base))
		return spelling;
	spelling->values = dictionary_create(context, column);
	spelling->room = FIRST_FORMS;
	spelling->forms = MemoryContextAlloc(context, sizeof(Form) * spelling->room);
	spelling->slots = forms_create(context, FIRST_FORMS, spelling);
	return spelling;
}

static uint32
add_form(Spelling *spelling, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(spelling->context);
	Form *form;
	Size now;

	if (spelling->nforms == spelling->room)
	{
		spelling->room *= 2;
		spelling->forms = repalloc_huge(spelling->forms, sizeof(Form) * (Size) spelling->room);
	}
	form = &spelling->forms[spelling->nforms];
	form->value = spelling->length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
										 : datumCopy(value, spelling->byval, spelling->length);
	form->code = dictionary_add(spelling->values, form->value, false);
	form->rows = 0;
	MemoryContextSwitchTo(old);
	now = MemoryContextMemAllocated(spelling->context, true);
	if (now != spelling->charged)
	{
		border_charge(spelling->border, spelling->charged, now);
		spelling->charged = now;
	}
	return spelling->nforms++;
}

void
spelling_note(Spelling *spelling, Datum value)
{
	FormSlot *slot;
	bool found;

	if (spelling->slots == NULL)
		return;
	spelling->at_hand = value;
	slot = forms_insert(spelling->slots, AT_HAND, &found);
	if (!found)
		slot->form = add_form(spelling, value);
	spelling->forms[slot->form].rows++;
}

/* Some order of bytes, the shorter first, so that what is shown does not depend on the order of rows. */
static bool
is_less(const Spelling *spelling, Datum a, Datum b)
{
	Size la, lb;

	if (spelling->byval)
		return a < b;
	la = datumGetSize(a, false, spelling->length);
	lb = datumGetSize(b, false, spelling->length);
	return la != lb ? la < lb : memcmp(DatumGetPointer(a), DatumGetPointer(b), la) < 0;
}

static void
choose(Spelling *spelling)
{
	spelling->nvalues = dictionary_size(spelling->values);
	spelling->shown =
		MemoryContextAllocHuge(spelling->context, sizeof(uint32) * Max((Size) spelling->nvalues, 1));
	memset(spelling->shown, 0xff, sizeof(uint32) * (Size) spelling->nvalues);
	for (uint32 f = 0; f < spelling->nforms; f++)
	{
		uint32 *shown = &spelling->shown[spelling->forms[f].code];
		const Form *form = &spelling->forms[f];

		if (*shown == PG_UINT32_MAX || form->rows > spelling->forms[*shown].rows ||
			(form->rows == spelling->forms[*shown].rows &&
			 is_less(spelling, form->value, spelling->forms[*shown].value)))
			*shown = f;
	}
}

Datum
spelling_of(Spelling *spelling, Datum value)
{
	const FormSlot *slot;

	if (spelling->slots == NULL)
		return spelling_plain(spelling->base, value);
	if (spelling->shown == NULL)
		choose(spelling);
	spelling->at_hand = value;
	slot = forms_lookup(spelling->slots, AT_HAND);
	if (slot == NULL)
		elog(ERROR, "a value was not noted before its spelling was asked for");
	return spelling->forms[spelling->shown[spelling->forms[slot->form].code]].value;
}

void
spelling_end(Spelling *spelling)
{
	border_charge(spelling->border, spelling->charged, 0);
	MemoryContextDelete(spelling->context);
}
