/*
 * item_methods.c: the methods for transactions.
 */
#include <string.h>

#include "itemsets/transactions.h"

const KanonSetMethod kanon_set_methods[] = {
	{"apriori", KANON_MODEL_KM, true, kanon_recode_apriori},
	{"direct", KANON_MODEL_KM, true, kanon_recode_direct},
	{"optimal", KANON_MODEL_KM, true, kanon_recode_optimal},
	{"suppress", KANON_MODEL_COHERENCE, false, kanon_recode_suppress},
	{"suppress_control", KANON_MODEL_RHO, false, kanon_recode_suppress_control},
	{"td_control", KANON_MODEL_RHO, true, kanon_recode_td_control},
	{NULL, KANON_MODEL_KM, false, NULL},
};

const KanonSetMethod *
kanon_set_method_find(const char *name)
{
	for (const KanonSetMethod *method = kanon_set_methods; method->name != NULL; method++)
		if (strcmp(method->name, name) == 0)
			return method;
	return NULL;
}
