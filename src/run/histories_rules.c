/*
 * histories_rules.c: do the values of the persons of one history keep the privacy rules?
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"
#include "run/successive.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

static bool
is_of_values(const PrivacyWords *words)
{
	return words->kind <= PRIVACY_SUBJECT;
}

/* The rules that are not about a population; NULL: there are none. */
static Privacy *
rules_of_values(const Privacy *privacy)
{
	Privacy *copy = palloc0(sizeof(Privacy));

	if (privacy == NULL)
		return NULL;
	copy->words = palloc(sizeof(PrivacyWords) * privacy->n);
	copy->population = palloc0(sizeof(Source *) * privacy->n);
	copy->hierarchy = palloc(sizeof(HierarchyChoice) * privacy->n);
	copy->column = palloc(sizeof(privacy->column[0]) * privacy->n);
	for (int r = 0; r < privacy->n; r++)
		if (is_of_values(&privacy->words[r]))
		{
			copy->words[copy->n] = privacy->words[r];
			copy->hierarchy[copy->n] = privacy->hierarchy[r];
			memcpy(copy->column[copy->n++], privacy->column[r], sizeof(privacy->column[0]));
		}
	return copy->n > 0 ? copy : NULL;
}

bool
history_has_rules(const Run *run)
{
	for (int r = 0; run->request->privacy != NULL && r < run->request->privacy->n; r++)
		if (is_of_values(&run->request->privacy->words[r]))
			return true;
	return false;
}

char *
history_ruled(const Source *source, const char *of)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int c = source->nqis; c < source->ngrouped; c++)
		appendStringInfo(&list, ", %s.%s", of, source->qis[c].quoted);
	return list.data;
}

/* As a source whose one quasi-identifier is the label. */
static Source *
labelled_source(const Source *source, const char *name)
{
	Source *copy = palloc0(sizeof(Source));

	copy->relid = history_oid(name);
	copy->name = pstrdup(name);
	copy->nqis = 1;
	copy->ngrouped = 1 + source->ngrouped - source->nqis;
	copy->qis = palloc0(sizeof(SourceColumn) * copy->ngrouped);
	copy->qis[0].name = HISTORY_NUMBER;
	copy->qis[0].quoted = HISTORY_NUMBER;
	copy->qis[0].type = INT8OID;
	copy->qis[0].typmod = -1;
	memcpy(copy->qis + 1, source->qis + source->nqis, sizeof(SourceColumn) * (copy->ngrouped - 1));
	for (int c = 1; c < copy->ngrouped; c++)
		copy->qis[c].dictionary = NULL;
	copy->levels = no_levels(1);
	return copy;
}

char *
histories_break_rules(Run *run, const char *labelled)
{
	Source *source = labelled_source(run->source, labelled);
	KanonProblem problem = {.env = &run->border->env, .k = run->problem.k, .residual = KANON_RESIDUAL_DROP};
	RowTypes *types;
	StringInfoData broken;
	uint32 *order, *first;
	uint32 nlabels;

	initStringInfo(&broken);
	types = rowtypes_read_written(source, NULL, run->border);
	if (types->ntypes == 0)
		return NULL;
	problem.ncolumns = 1;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	privacy_rules(rules_of_values(run->request->privacy), types, NULL, &problem, true,
				  run->request->series.histories->none, run->border);
	nlabels = dictionary_size(source->qis[0].dictionary);
	first = border_palloc(run->border, sizeof(uint32) * ((Size) nlabels + 1));
	order = border_palloc(run->border, sizeof(uint32) * (Size) types->ntypes);
	memset(first, 0, sizeof(uint32) * ((Size) nlabels + 1));
	for (uint32 i = 0; i < types->ntypes; i++)
		first[types->grouped[0].code[i] + 1]++;
	for (uint32 i = 0; i < nlabels; i++)
		first[i + 1] += first[i];
	for (uint32 i = 0; i < types->ntypes; i++)
		order[first[types->grouped[0].code[i]]++] = i;
	for (uint32 label = 0; label < nlabels; label++)
	{
		uint32 from = label == 0 ? 0 : first[label - 1];
		bool isnull;

		CHECK_FOR_INTERRUPTS();
		if (first[label] > from &&
			!kanon_privacy_allows(&problem, order + from, NULL, first[label] - from, false, NULL))
			appendStringInfo(&broken, "%s" INT64_FORMAT, broken.len > 0 ? ", " : "",
							 DatumGetInt64(dictionary_value(source->qis[0].dictionary, label, &isnull)));
		if (kanon_privacy_failed(problem.privacy))
			border_check(run->border, KANON_NO_MEMORY, "");
	}
	kanon_privacy_close(problem.privacy);
	border_pfree(run->border, first);
	border_pfree(run->border, order);
	return broken.len > 0 ? broken.data : NULL;
}
