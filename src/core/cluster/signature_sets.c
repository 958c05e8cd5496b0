/*
 * signature_sets.c: sets of values among which persons stay
 */
#include <string.h>

#include "cluster/signatures.h"

void
kanon_signatures_free(KanonEnv *env, KanonSignatures *signatures)
{
	kanon_free(env, signatures->first);
	kanon_free(env, signatures->value);
	memset(signatures, 0, sizeof(*signatures));
}

bool
kanon_signatures_add(KanonEnv *env, KanonSignatures *signatures, const uint32_t *value, uint32_t n)
{
	size_t from = signatures->n > 0 ? signatures->first[signatures->n] : 0;
	size_t *first = kanon_realloc(env, signatures->first, (size_t) signatures->n + 2, sizeof(size_t));
	uint32_t *values;

	if (first == NULL)
		return false;
	signatures->first = first;
	values = kanon_realloc(env, signatures->value, from + n, sizeof(uint32_t));
	if (values == NULL)
		return false;
	signatures->value = values;
	memcpy(values + from, value, sizeof(uint32_t) * n);
	first[signatures->n] = from;
	first[++signatures->n] = from + n;
	return true;
}

size_t
kanon_signature_places(const KanonSignatures *signatures)
{
	return signatures->n > 0 ? signatures->first[signatures->n] : 0;
}

/* The place of a value in a signature; SIZE_MAX: it is none of it. */
size_t
kanon_signature_place(const KanonSignatures *signatures, uint32_t signature, uint32_t value)
{
	size_t low = signatures->first[signature], high = signatures->first[signature + 1];

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (signatures->value[middle] == value)
			return middle;
		if (signatures->value[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

bool
kanon_signature_has(const KanonSignatures *signatures, uint32_t signature, uint32_t value)
{
	return kanon_signature_place(signatures, signature, value) != SIZE_MAX;
}
