/*
 * risk_sensitive.c: what the classes of a relation give away of a sensitive
 * column.  A blank class counts like any other: who is in none of the others
 * must be in that one.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "hierarchies/hierarchy.h"
#include "assess/assess.h"

#include <math.h>

#include "utils/typcache.h"

/* With a subject a person counts once for each value that it has in a class. */
static int64
type_weight(const Risk *risk, const RowTypes *types, uint32 type)
{
	return risk->subject != NULL ? 1 : types->rows[type];
}

static int
compare_pairs(const void *a, const void *b)
{
	uint64 left = *(const uint64 *) a;
	uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/*
 * How often each value occurs in the whole relation, as the rules count it: with
 * a subject a person counts once for each value, in however many classes it has it.
 */
static int64 *
count_values(const Risk *risk, const RiskClasses *classes, const KanonColumn *values)
{
	const RowTypes *types = classes->types;
	Border *border = classes->border;
	int64 *count = border_palloc(border, sizeof(int64) * (Size) values->distinct);
	uint64 *pairs;

	memset(count, 0, sizeof(int64) * (Size) values->distinct);
	if (risk->subject == NULL)
	{
		for (uint32 type = 0; type < types->ntypes; type++)
			count[values->code[type]] += types->rows[type];
		return count;
	}
	pairs = border_palloc(border, sizeof(uint64) * (Size) types->ntypes);
	for (uint32 type = 0; type < types->ntypes; type++)
		pairs[type] = (uint64) values->code[type] << 32 | values[1].code[type];
	qsort(pairs, types->ntypes, sizeof(uint64), compare_pairs);
	for (uint32 i = 0; i < types->ntypes; i++)
		if (i == 0 || pairs[i] != pairs[i - 1])
			count[pairs[i] >> 32]++;
	border_pfree(border, pairs);
	return count;
}

/* The worst class in each respect. */
static void
measure_classes(const Risk *risk, const RiskClasses *classes, KanonDiversityMeter *meter,
				KanonDiversity *worst)
{
	const RowTypes *types = classes->types;
	const uint32 *codes = types->columns[risk->source->nqis].code;
	uint32 *code = border_palloc(classes->border, sizeof(uint32) * (Size) types->ntypes);
	int64 *count = border_palloc(classes->border, sizeof(int64) * (Size) types->ntypes);

	for (uint32 i = 0; i < classes->n; i++)
	{
		KanonDiversity diversity;
		uint32 n = 0;

		if (i % 256 == 0)
			CHECK_FOR_INTERRUPTS();
		for (uint32 type = classes->first[i]; type < classes->first[i + 1]; type++)
		{
			if (n == 0 || code[n - 1] != codes[type])
			{
				code[n] = codes[type];
				count[n++] = 0;
			}
			count[n - 1] += type_weight(risk, types, type);
		}
		kanon_diversity_class(meter, code, count, n, classes->size[i], &diversity);
		if (i == 0)
			*worst = diversity;
		else
			kanon_diversity_worse(worst, &diversity);
	}
}

/* Lines for one column; worst == NULL: there are no rows. */
static void
put_lines(Risk *risk, const SourceColumn *column, const KanonDiversity *worst, bool ordered,
		  bool hierarchical)
{
	static const KanonDiversity nothing = {0};
	const char *name = column->name;
	bool some = worst != NULL;

	if (!some)
		worst = &nothing;
	risk_put(risk, "distinct_l", name, worst->distinct, some,
			 "every class has at least so many different values");
	risk_put(risk, "entropy_l", name, worst->entropy, some,
			 "every class is as mixed as one of so many equally frequent values");
	for (int l = 2; l <= KANON_RECURSIVE_MOST; l++)
		risk_put(risk, psprintf("recursive_c_%d", l), name, worst->recursive[l],
				 some && isfinite(worst->recursive[l]),
				 "recursive (c,%d)-diversity holds for every c above this; NULL: for none", l);
	risk_put(risk, "alpha", name, worst->alpha, some,
			 "the most frequent value of a class has at most this share of its %s", risk->unit);
	risk_put(risk, "t_equal", name, worst->t_equal, some,
			 "largest distance of a class from the whole relation, with all values equally far apart");
	if (ordered)
		risk_put(risk, "t_ordered", name, worst->t_ordered, some,
				 "the same, with values as far apart as in their order (NULL last)");
	if (hierarchical)
		risk_put(risk, "t_hierarchical", name, worst->t_hierarchical, some,
				 "the same, with values as far apart as in their hierarchy");
}

void
risk_sensitive(Risk *risk, const SourceColumn *column, const HierarchyChoice *hierarchy)
{
	bool ordered = OidIsValid(lookup_type_cache(column->type, TYPECACHE_LT_OPR)->lt_opr);
	RiskClasses *classes = risk_classes_read(risk, column);
	const KanonColumn *values = &classes->types->columns[risk->source->nqis];
	KanonTaxonomy *taxonomy = NULL;
	KanonDiversityMeter *meter;
	KanonDiversity worst;

	if (hierarchy_chosen(hierarchy))
		taxonomy = taxonomy_read(hierarchy, classes->types, risk->source->nqis, classes->border);
	if (classes->n > 0)
	{
		border_check(classes->border,
					 kanon_diversity_open(&classes->border->env, count_values(risk, classes, values),
										  values->distinct, taxonomy, &meter),
					 "");
		measure_classes(risk, classes, meter, &worst);
	}
	put_lines(risk, column, classes->n > 0 ? &worst : NULL, ordered, hierarchy_chosen(hierarchy));
	risk_classes_free(classes);
}
