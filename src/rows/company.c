/*
 * company.c: a row type that goes to several classes, in a publication: each of its rows goes to the
 * class that it had in the release before.
 */
#include "compat.h"
#include "core/util/number.h"
#include "rows/row_types.h"
#include "rows/target.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

enum
{
	SEED_ROW,
	SEED_KEY,
	SEED_DRAW
};

Company *
company_create(const bytea *secret, bool keyed, Border *border)
{
	Company *company = palloc0(sizeof(Company));

	company->border = border;
	company->keyed = keyed;
	company->scratch = AllocSetContextCreate(border->context, "kanon company", ALLOCSET_SMALL_SIZES);
	secret_seeds(secret, "company", company->seeds, lengthof(company->seeds));
	return company;
}

RowMark
company_mark(const Company *company, TupleDesc desc, int first, int nkept, const Datum *values,
			 const bool *nulls)
{
	RowMark mark = {company->seeds[SEED_ROW], 0};
	MemoryContext old = MemoryContextSwitchTo(company->scratch);

	for (int i = 0; i < nkept; i++)
		mark.row = value_hash(TupleDescAttr(desc, first + i), values[i], nulls[i], mark.row);
	if (company->keyed)
		mark.key = value_hash(TupleDescAttr(desc, first + nkept - 1), values[nkept - 1], nulls[nkept - 1],
							  company->seeds[SEED_KEY]);
	MemoryContextSwitchTo(old);
	MemoryContextReset(company->scratch);
	return mark;
}

void
company_add(Company *company, const RowMark *mark, uint32 type, uint32 class_)
{
	company->rows =
		border_grow(company->border, company->rows, &company->room, company->n + 1, sizeof(RowBefore));
	company->rows[company->n++] = (RowBefore){.mark = *mark, .type = type, .class_ = class_};
}

static int
compare_marks(uint32 left_type, uint64 left, uint32 right_type, uint64 right)
{
	if (left_type != right_type)
		return left_type < right_type ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int
compare_rows(const void *a, const void *b)
{
	const RowBefore *left = a, *right = b;
	int order = compare_marks(left->type, left->mark.row, right->type, right->mark.row);

	return order != 0 ? order : left->class_ < right->class_ ? -1 : left->class_ > right->class_;
}

static int
compare_keys(const void *a, const void *b, void *arg)
{
	const Company *company = arg;
	const RowBefore *left = &company->rows[*(const uint32 *) a];
	const RowBefore *right = &company->rows[*(const uint32 *) b];
	int order = compare_marks(left->type, left->mark.key, right->type, right->mark.key);

	return order != 0 ? order : left < right ? -1 : left > right;
}

void
company_begin(Company *company)
{
	if (company->n > PG_UINT32_MAX - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many rows of the release before are known one by one")));
	if (company->n > 0)
		qsort(company->rows, company->n, sizeof(RowBefore), compare_rows);
	for (Size i = 0; i < company->n; i++)
	{
		company->rows[i].met = false;
		company->rows[i].skip[0] = company->rows[i].skip[1] = 0;
	}
	if (!company->keyed || company->n == 0 || company->by_key != NULL)
		return;
	company->by_key = border_palloc(company->border, sizeof(uint32) * company->n);
	for (uint32 i = 0; i < company->n; i++)
		company->by_key[i] = i;
	qsort_arg(company->by_key, company->n, sizeof(uint32), compare_keys, company);
}

/* The first place of that type and mark, or where it would be; of rows themselves, or by their keys. */
static Size
find_first(const Company *company, bool by_key, uint32 type, uint64 mark)
{
	Size low = 0, high = company->n;

	while (low < high)
	{
		Size middle = low + (high - low) / 2;
		const RowBefore *row = &company->rows[by_key ? company->by_key[middle] : middle];

		if (compare_marks(row->type, by_key ? row->mark.key : row->mark.row, type, mark) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first of them that nobody has met. */
static RowBefore *
meet(Company *company, bool by_key, uint32 type, uint64 mark)
{
	Size first;
	uint32 *skip;

	type = company->was != NULL ? company->was[type] : type;
	first = find_first(company, by_key, type, mark);
	if (first == company->n)
		return NULL;
	skip = &company->rows[by_key ? company->by_key[first] : first].skip[by_key];
	for (Size i = first + *skip; i < company->n; i++)
	{
		RowBefore *row = &company->rows[by_key ? company->by_key[i] : i];

		if (row->type != type || (by_key ? row->mark.key : row->mark.row) != mark)
			break;
		(*skip)++;
		if (row->met)
			continue;
		row->met = true;
		return row;
	}
	return NULL;
}

RowBefore *
company_meet_row(Company *company, uint32 type, const RowMark *mark)
{
	return meet(company, false, type, mark->row);
}

RowBefore *
company_meet_key(Company *company, uint32 type, const RowMark *mark)
{
	return company->by_key != NULL ? meet(company, true, type, mark->key) : NULL;
}

uint64
company_draw(const Company *company, const RowMark *mark)
{
	uint64 words[] = {mark->row, mark->key};

	return hash_bytes_extended((const unsigned char *) words, sizeof(words), company->seeds[SEED_DRAW]);
}
