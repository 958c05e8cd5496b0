/*
 * hierarchy_faults.c: what is wrong with the lines of a hierarchy.  The same
 * checks end in one error before a solve, and in a list for who looks for it.
 */
#include "compat.h"
#include "host/catalog.h"
#include "hierarchies/hierarchy.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

/* Four kinds without a level, three with. */
#define MAX_FAULTS (4 + 3 * (HIERARCHY_MAX_LEVELS + 1))

typedef struct Search
{
	const HierarchyLines *lines;
	const int64 *rows; /* [ncodes], or NULL */
	int n;
	HierarchyFault *faults;  /* [MAX_FAULTS] */
	HierarchyFault *current; /* the one that is being looked for */
	bool *concerned;         /* [nvalues] values whose lines it concerns */
	uint32 *first;           /* [nvalues] the first line of each value */
} Search;

void
type_output(Oid type, FmgrInfo *function)
{
	Oid output;
	bool isvarlena;

	getTypeOutputInfo(type, &output, &isvarlena);
	fmgr_info(output, function);
}

const char *
hierarchy_fault_name(HierarchyFaultKind kind)
{
	switch (kind)
	{
		case HIERARCHY_MISSING:
			return "missing value";
		case HIERARCHY_PARENTS:
			return "two parents";
		case HIERARCHY_UNNESTED:
			return "not nested";
		case HIERARCHY_UNEQUAL:
			return "unequal levels";
		case HIERARCHY_OUTSIDE:
			return "outside range";
		case HIERARCHY_REPEATED:
			return "repeated line";
		case HIERARCHY_UNUSED:
			return "unused line";
	}
	return NULL;
}

char *
hierarchy_fault_text(const HierarchyFault *fault)
{
	switch (fault->kind)
	{
		case HIERARCHY_MISSING:
			return "values of the column without a line";
		case HIERARCHY_PARENTS:
			return "values with two parents";
		case HIERARCHY_UNNESTED:
			return psprintf("nodes of level %d with two parents in level %d", fault->level, fault->level + 1);
		case HIERARCHY_UNEQUAL:
			return psprintf("lines without a node in level %d", fault->level);
		case HIERARCHY_OUTSIDE:
			return psprintf("lines whose range in level %d does not hold the value", fault->level);
		case HIERARCHY_REPEATED:
			return "lines that say what another one says";
		case HIERARCHY_UNUSED:
			return "lines of values that the column does not have";
	}
	return NULL;
}

static void
begin_fault(Search *search, HierarchyFaultKind kind, int level)
{
	search->current = &search->faults[search->n];
	memset(search->current, 0, sizeof(HierarchyFault));
	search->current->kind = kind;
	search->current->level = level;
	memset(search->concerned, 0, sizeof(bool) * (Size) search->lines->nvalues);
	CHECK_FOR_INTERRUPTS();
}

/* Counts one, shown as the code of a dictionary. */
static void
count_one(Search *search, const Dictionary *dictionary, Oid type, uint32 code)
{
	HierarchyFault *fault = search->current;
	FmgrInfo output;
	bool isnull;
	Datum value;

	fault->count++;
	if (fault->nexamples == HIERARCHY_EXAMPLES)
		return;
	value = dictionary_value(dictionary, code, &isnull);
	type_output(type, &output);
	fault->examples[fault->nexamples++] = isnull ? NULL : OutputFunctionCall(&output, value);
}

static void
count_value(Search *search, uint32 value)
{
	const HierarchyLines *lines = search->lines;

	search->concerned[value] = true;
	count_one(search, lines->values, lines->by_text ? lines->hierarchy->value.type : lines->column->type,
			  value);
}

static void
end_fault(Search *search)
{
	const HierarchyLines *lines = search->lines;

	for (uint32 code = 0; search->rows != NULL && code < lines->ncodes; code++)
		if (lines->value_of[code] != DICTIONARY_NONE && search->concerned[lines->value_of[code]])
			search->current->rows += search->rows[code];
	if (search->current->count > 0)
		search->n++;
}

static bool
is_null(const Dictionary *dictionary, uint32 code)
{
	bool isnull;

	(void) dictionary_value(dictionary, code, &isnull);
	return isnull;
}

/* A NULL without a line is a branch of its own. */
static void
find_missing(Search *search)
{
	const HierarchyLines *lines = search->lines;
	const Dictionary *dictionary = lines->column->dictionary;

	begin_fault(search, HIERARCHY_MISSING, 0);
	for (uint32 code = 0; code < lines->ncodes; code++)
	{
		if (lines->value_of[code] != DICTIONARY_NONE || is_null(dictionary, code))
			continue;
		count_one(search, dictionary, lines->column->type, code);
		if (search->rows != NULL)
			search->current->rows += search->rows[code];
	}
	end_fault(search);
}

/* Values whose lines differ in level 1. */
static void
find_parents(Search *search)
{
	const HierarchyLines *lines = search->lines;
	bool *differs = border_palloc(lines->border, sizeof(bool) * (Size) lines->nvalues);

	memset(differs, 0, sizeof(bool) * (Size) lines->nvalues);
	for (uint32 i = 0; i < lines->n; i++)
		if (lines->node[0][i] != lines->node[0][search->first[lines->value[i]]])
			differs[lines->value[i]] = true;
	begin_fault(search, HIERARCHY_PARENTS, 0);
	for (uint32 value = 0; value < lines->nvalues; value++)
		if (differs[value])
			count_value(search, value);
	end_fault(search);
	border_pfree(lines->border, differs);
}

/* Lines that agree in everything with the first of their value; others have two parents somewhere. */
static void
find_repeated(Search *search)
{
	const HierarchyLines *lines = search->lines;

	begin_fault(search, HIERARCHY_REPEATED, 0);
	for (uint32 i = 0; i < lines->n; i++)
	{
		uint32 first = search->first[lines->value[i]];
		bool same = first != i;

		for (int h = 0; h < lines->nlevels && same; h++)
			same = lines->node[h][i] == lines->node[h][first];
		if (same)
			count_value(search, lines->value[i]);
	}
	end_fault(search);
}

/* Nodes of level h + 1 (the h-th of the arrays) whose lines differ in the next one. */
static void
find_unnested(Search *search, int h)
{
	const HierarchyLines *lines = search->lines;
	const Dictionary *nodes = lines->level[h];
	uint32 n = dictionary_size(nodes);
	uint32 *parent = border_palloc(lines->border, sizeof(uint32) * (Size) n);
	bool *differs = border_palloc(lines->border, sizeof(bool) * (Size) n);

	memset(parent, 0xff, sizeof(uint32) * (Size) n);
	memset(differs, 0, sizeof(bool) * (Size) n);
	for (uint32 i = 0; i < lines->n; i++)
	{
		uint32 node = lines->node[h][i];

		if (parent[node] == DICTIONARY_NONE)
			parent[node] = lines->node[h + 1][i];
		else if (parent[node] != lines->node[h + 1][i])
			differs[node] = true;
	}
	begin_fault(search, HIERARCHY_UNNESTED, h + 1);
	/* lines without a node are another fault */
	for (uint32 node = 0; node < n; node++)
		if (is_null(nodes, node))
			differs[node] = false;
		else if (differs[node])
			count_one(search, nodes, lines->hierarchy->levels[h].type, node);
	for (uint32 i = 0; i < lines->n; i++)
		if (differs[lines->node[h][i]])
			search->concerned[lines->value[i]] = true;
	end_fault(search);
	border_pfree(lines->border, parent);
	border_pfree(lines->border, differs);
}

/* Only NULL itself may stay NULL, from level 1 up to some level. */
static void
find_unequal(Search *search, int h)
{
	const HierarchyLines *lines = search->lines;

	begin_fault(search, HIERARCHY_UNEQUAL, h + 1);
	for (uint32 i = 0; i < lines->n; i++)
	{
		bool stays = h == 0 ? is_null(lines->values, lines->value[i])
							: is_null(lines->values, lines->value[i]) &&
								  is_null(lines->level[h - 1], lines->node[h - 1][i]);

		if (is_null(lines->level[h], lines->node[h][i]) && !stays)
			count_value(search, lines->value[i]);
	}
	end_fault(search);
}

/* The value of a line as the range type's subtype has it; false: not known. */
static bool
line_element(const HierarchyLines *lines, uint32 i, Datum *element, bool *isnull)
{
	uint32 code = lines->code_of[lines->value[i]];

	if (!lines->by_text)
		*element = dictionary_value(lines->values, lines->value[i], isnull);
	else if (code != DICTIONARY_NONE)
		*element = dictionary_value(lines->column->dictionary, code, isnull);
	else
		return false;
	if (!*isnull && getBaseType(lines->column->type) == INT2OID)
		*element = Int32GetDatum(DatumGetInt16(*element));
	return true;
}

static void
find_outside(Search *search, int h)
{
	const HierarchyLines *lines = search->lines;
	TypeCacheEntry *range = lookup_type_cache(lines->hierarchy->range, TYPECACHE_RANGE_INFO);

	begin_fault(search, HIERARCHY_OUTSIDE, h + 1);
	for (uint32 i = 0; i < lines->n; i++)
	{
		Datum element;
		bool value_null, node_null;
		Datum node = dictionary_value(lines->level[h], lines->node[h][i], &node_null);

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (node_null || !line_element(lines, i, &element, &value_null))
			continue;
		if (value_null || !range_contains_elem_internal(range, DatumGetRangeTypeP(node), element))
			count_value(search, lines->value[i]);
	}
	end_fault(search);
}

static void
find_unused(Search *search)
{
	const HierarchyLines *lines = search->lines;

	begin_fault(search, HIERARCHY_UNUSED, 0);
	for (uint32 i = 0; i < lines->n; i++)
		if (lines->code_of[lines->value[i]] == DICTIONARY_NONE)
			count_value(search, lines->value[i]);
	end_fault(search);
}

static void
mark_first_lines(Search *search)
{
	const HierarchyLines *lines = search->lines;

	for (uint32 i = lines->n; i-- > 0;)
		search->first[lines->value[i]] = i;
}

/* Every fault there is, by kind, then level. */
static HierarchyFault *
find_faults(const HierarchyLines *lines, const int64 *rows, int *n)
{
	Search search = {.lines = lines, .rows = rows};
	int nest = plain_text_begin();

	search.faults = palloc(sizeof(HierarchyFault) * MAX_FAULTS);
	search.concerned = border_palloc(lines->border, sizeof(bool) * (Size) lines->nvalues);
	search.first = border_palloc(lines->border, sizeof(uint32) * (Size) lines->nvalues);
	mark_first_lines(&search);
	if (!lines->hierarchy->from.suppress)
		find_missing(&search);
	find_parents(&search);
	for (int h = 0; h < lines->nlevels - 1; h++)
		find_unnested(&search, h);
	for (int h = 0; h < lines->nlevels; h++)
		find_unequal(&search, h);
	for (int h = 0; OidIsValid(lines->hierarchy->range) && h < lines->nlevels; h++)
		find_outside(&search, h);
	find_repeated(&search);
	find_unused(&search);
	border_pfree(lines->border, search.concerned);
	border_pfree(lines->border, search.first);
	plain_text_end(nest);
	*n = search.n;
	return search.faults;
}

HierarchyFault *
hierarchy_faults(const Hierarchy *hierarchy, const Source *source, const int64 *rows, Border *border, int *n)
{
	HierarchyLines *lines =
		hierarchy_lines_read(hierarchy, &source->qis[hierarchy->column], rows, true, border);
	HierarchyFault *faults = find_faults(lines, rows, n);

	hierarchy_lines_free(lines);
	return faults;
}

/* In words that are whole without what was filled in: a publication's record has them so. */
static int
say_fault(const HierarchyLines *lines, const HierarchyFault *fault)
{
	const char *name = lines->hierarchy->name, *column = lines->column->name;

	switch (fault->kind)
	{
		case HIERARCHY_MISSING:
			return lines->hierarchy->from.builder == NULL
					   ? errmsg("hierarchy %s has no line for values of column \"%s\": " INT64_FORMAT, name,
								column, fault->count)
					   : errmsg("builder %s does not know values of column \"%s\": " INT64_FORMAT, name,
								column, fault->count);
		case HIERARCHY_PARENTS:
			return errmsg("hierarchy %s has two parents for values of column \"%s\": " INT64_FORMAT, name,
						  column, fault->count);
		case HIERARCHY_UNNESTED:
			return errmsg(
				"hierarchy %s of column \"%s\" has two parents in level %d for nodes of level %d: " INT64_FORMAT,
				name, column, fault->level + 1, fault->level, fault->count);
		case HIERARCHY_UNEQUAL:
			return errmsg("hierarchy %s of column \"%s\" has lines without a node in level %d: " INT64_FORMAT,
						  name, column, fault->level, fault->count);
		case HIERARCHY_OUTSIDE:
		case HIERARCHY_REPEATED:
		case HIERARCHY_UNUSED:
			break;
	}
	return errmsg("hierarchy %s of column \"%s\" has lines whose range in level %d does not hold the "
				  "value: " INT64_FORMAT,
				  name, column, fault->level, fault->count);
}

static int
say_remedy(const HierarchyLines *lines, HierarchyFaultKind kind)
{
	if (lines->hierarchy->from.builder != NULL)
		return errhint(
			"Write \"missing\": \"suppress\" beside it: such values are then shown as they are, or suppressed.");
	if (kind == HIERARCHY_MISSING && lines->by_text)
		return errhint(
			"Its values are text, and kanon compares them digit by digit with the column's, as type %s writes them: cast them to that "
			"type in a view of the hierarchy. Or add the lines, or name it as {\"table\": \"%s\", \"missing\": \"suppress\"}; "
			"kanon_check_hierarchy with with_values => true shows the values.",
			format_type_with_typemod(lines->column->type, lines->column->typmod), lines->hierarchy->name);
	if (kind == HIERARCHY_MISSING)
		return errhint(
			"Add the lines, or name the hierarchy as {\"table\": \"%s\", \"missing\": \"suppress\"}; "
			"kanon_check_hierarchy with with_values => true shows the values.",
			lines->hierarchy->name);
	return errhint(
		"Mend its lines; kanon_check_hierarchy lists all faults, with_values => true shows where%s.",
		kind == HIERARCHY_UNEQUAL ? ". A line may end early, but have no gaps" : "");
}

void
hierarchy_lines_check(const HierarchyLines *lines)
{
	StringInfoData others;
	int n;
	HierarchyFault *faults = find_faults(lines, NULL, &n);

	if (n == 0 || faults[0].kind >= HIERARCHY_HARMLESS)
		return;
	initStringInfo(&others);
	for (int i = 1; i < n && faults[i].kind < HIERARCHY_HARMLESS; i++)
		appendStringInfo(&others, "%s%s: " INT64_FORMAT, i > 1 ? "; " : "", hierarchy_fault_text(&faults[i]),
						 faults[i].count);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), say_fault(lines, &faults[0]),
			 others.len > 0 ? errdetail("Besides, %s.", others.data) : 0, say_remedy(lines, faults[0].kind)));
}
