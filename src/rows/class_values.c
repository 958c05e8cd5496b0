/*
 * class_values.c: a class at a time, as the values that its rows are published with.
 */
#include "compat.h"
#include "rows/cell_values.h"
#include "core/util/fault.h"
#include "host/catalog.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

ShownClass *
shown_class_create(const Target *target, const Source *source, const KanonProblem *problem,
				   const KanonRelease *release)
{
	ShownClass *shown = palloc0(sizeof(ShownClass));

	shown->class_ = KANON_DROPPED;
	shown->values = palloc(sizeof(Datum) * source->nqis);
	shown->nulls = palloc(sizeof(bool) * source->nqis);
	shown->target = target;
	shown->source = source;
	shown->problem = problem;
	shown->release = release;
	shown->shower = shower_create(source);
	shown->context = AllocSetContextCreate(CurrentMemoryContext, "kanon shown", ALLOCSET_SMALL_SIZES);
	return shown;
}

void
shown_class_enter(ShownClass *shown, uint32 class_)
{
	const KanonRelease *release = shown->release;
	const KanonCell *cells = &release->cells[(size_t) class_ * shown->problem->ncolumns];
	MemoryContext old;

	MemoryContextReset(shown->context);
	old = MemoryContextSwitchTo(shown->context);
	for (int c = 0; c < shown->source->nqis; c++)
		shown->values[c] = show_cell(shown->shower, c, cells, release->pool, &shown->nulls[c]);
	if (FAULT(value_fine) && class_ == release->nclasses - 1)
		shown->values[0] =
			show_cell(shown->shower, 0, &(KanonCell){KANON_SHOW_VALUE, 0}, NULL, &shown->nulls[0]);
	if (shown->target->mark)
		shown->pattern = CStringGetTextDatum(class_text(release, class_, &shown->source->levels));
	MemoryContextSwitchTo(old);
	shown->class_ = class_;
}

/* ---- classes that look alike ---- */

/* The text of a class: two classes that look different to a reader have different texts. */
typedef struct Look
{
	char *text;
	uint32 class_;
} Look;

static int
compare_looks(const void *a, const void *b)
{
	const Look *left = a;
	const Look *right = b;
	int order = strcmp(left->text, right->text);

	return order != 0 ? order : left->class_ < right->class_ ? -1 : left->class_ > right->class_;
}

static char *
look_of(ShownClass *shown, FmgrInfo *output, uint32 class_)
{
	StringInfoData look;

	shown_class_enter(shown, class_);
	initStringInfo(&look);
	for (int c = 0; c < shown->source->nqis; c++)
	{
		char *value = shown->nulls[c] ? NULL : OutputFunctionCall(&output[c], shown->values[c]);

		if (value == NULL)
			appendStringInfoChar(&look, '-');
		else
		{
			appendStringInfo(&look, "%zu:%s", strlen(value), value);
			pfree(value);
		}
	}
	if (shown->target->mark)
		appendStringInfoString(&look, TextDatumGetCString(shown->pattern));
	return look.data;
}

static FmgrInfo *
find_output(const Source *source)
{
	FmgrInfo *output = palloc(sizeof(FmgrInfo) * source->nqis);

	for (int c = 0; c < source->nqis; c++)
	{
		Oid function;
		bool isvarlena;

		getTypeOutputInfo(shown_type(&source->qis[c]), &function, &isvarlena);
		fmgr_info(function, &output[c]);
	}
	return output;
}

uint32 *
shown_class_alike(ShownClass *shown, Border *border)
{
	uint32 n = shown->release->nclasses;
	Look *looks = border_palloc(border, sizeof(Look) * (Size) n);
	uint32 *first = border_palloc(border, sizeof(uint32) * (Size) n);
	FmgrInfo *output = find_output(shown->source);
	uint32 differ = 0;
	int nest = plain_text_begin();

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		looks[i] = (Look){look_of(shown, output, i), i};
	}
	plain_text_end(nest);
	shown->class_ = KANON_DROPPED;
	qsort(looks, n, sizeof(Look), compare_looks);
	for (uint32 i = 0; i < n; i++)
	{
		bool alike = i > 0 && strcmp(looks[i].text, looks[i - 1].text) == 0;

		first[looks[i].class_] = alike ? first[looks[i - 1].class_] : looks[i].class_;
		differ += alike ? 0 : 1;
	}
	for (uint32 i = 0; i < n; i++)
		pfree(looks[i].text);
	border_pfree(border, looks);
	if (differ == n)
	{
		border_pfree(border, first);
		return NULL;
	}
	return first;
}
