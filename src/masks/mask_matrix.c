/*
 * mask_matrix.c: how likely each value becomes each other one, as JSON has it.
 */
#include "compat.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "utils/builtins.h"

#define MATRIX_MOST 1000

static char *
text_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* A value's chances, of the matrix' values by their texts. */
static const char *
read_chances(const Mask *mask, JsonbContainer *row, char **names, double *chance)
{
	static const char expected[] =
		"a matrix: for each value the chances of values that the matrix names, which sum to 1";
	JsonbIterator *it = JsonbIteratorInit(row);
	JsonbIteratorToken token;
	JsonbValue value;
	double sum = 0;
	int to = 0;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			char *name = text_of(&value);

			to = 0;
			while (to < mask->matrix->n && strcmp(names[to], name) != 0)
				to++;
			if (to == mask->matrix->n)
				return expected;
		}
		if (token != WJB_VALUE)
			continue;
		chance[to] = mask_json_number(&value);
		if (!(chance[to] >= 0 && chance[to] <= 1))
			return expected;
		sum += chance[to];
	}
	if (fabs(sum - 1) > 1e-9)
		return expected;
	return NULL;
}

const char *
mask_matrix_read(Mask *mask, JsonbContainer *object)
{
	MaskMatrix *matrix = mask->matrix = palloc0(sizeof(MaskMatrix));
	int most = JsonContainerSize(object), row = 0;
	char **names = palloc(sizeof(char *) * Max(most, 1));
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	const char *expected = NULL;

	if (!JsonContainerIsObject(object) || most < 2 || most > MATRIX_MOST)
		return psprintf("a matrix of 2 to %d values", MATRIX_MOST);
	matrix->value = palloc(sizeof(Datum) * most);
	matrix->chance = palloc0(sizeof(double) * most * most);
	it = JsonbIteratorInit(object);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
		if (token == WJB_KEY)
		{
			names[matrix->n] = text_of(&value);
			matrix->value[matrix->n++] = mask_value_read(mask, text_of(&value));
		}
	it = JsonbIteratorInit(object);
	while (expected == NULL && (token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token != WJB_VALUE)
			continue;
		if (value.type != jbvBinary || !JsonContainerIsObject(value.val.binary.data))
			return "a matrix: for each value an object of chances";
		expected = read_chances(mask, value.val.binary.data, names, &matrix->chance[row++ * most]);
	}
	return expected;
}
