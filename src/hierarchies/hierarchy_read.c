/*
 * hierarchy_read.c: the lines of a hierarchy become the nodes above a column's
 * values.
 *
 * All lines of a relation are read, and checked, also those of values that the column does not
 * have: a hierarchy's faults are its own, whatever the data is today.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "core/privacy/rules.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Bytes of the dictionaries, as far as they are not yet counted. */
static void
charge_dictionaries(HierarchyLines *lines)
{
	Size now = lines->hierarchy->from.builder == NULL ? dictionary_memory(lines->values) : 0;

	for (int h = 0; h < lines->nlevels; h++)
		now += dictionary_memory(lines->level[h]);
	border_charge(lines->border, lines->charged, now);
	lines->charged = now;
}

/* For one more line. */
static void
make_room(HierarchyLines *lines)
{
	Size room = lines->room;

	if (lines->n < lines->room)
		return;
	if (lines->n > KANON_MAX_TYPES / 2)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("hierarchy %s has more than %u lines", lines->hierarchy->name, lines->n),
						errhint("Use a view of the lines whose values the data has.")));
	charge_dictionaries(lines);
	lines->value = border_grow(lines->border, lines->value, &room, lines->n + 1, sizeof(uint32));
	for (int h = 0; h < lines->nlevels; h++)
	{
		room = lines->room;
		lines->node[h] = border_grow(lines->border, lines->node[h], &room, lines->n + 1, sizeof(uint32));
	}
	lines->room = room;
}

static bool
add_line(void *arg, TupleTableSlot *slot)
{
	HierarchyLines *lines = arg;

	make_room(lines);
	lines->value[lines->n] = dictionary_add(lines->values, slot->tts_values[0], slot->tts_isnull[0]);
	for (int h = 0; h < lines->nlevels; h++)
		lines->node[h][lines->n] =
			dictionary_add(lines->level[h], slot->tts_values[h + 1], slot->tts_isnull[h + 1]);
	lines->n++;
	return true;
}

static void
fetch_lines(HierarchyLines *lines)
{
	const Hierarchy *hierarchy = lines->hierarchy;
	Gate *gate = gate_create(hierarchy->name, hierarchy->from.relation, 1 + hierarchy->nlevels);

	gate_columns(gate, &hierarchy->value, 1);
	gate_columns(gate, hierarchy->levels, hierarchy->nlevels);
	gate_select(gate,
				psprintf("SELECT %s, %s FROM %s", hierarchy->value.quoted,
						 column_list(hierarchy->levels, hierarchy->nlevels), hierarchy->name),
				true, add_line, lines);
}

/* The last of a line's levels that has a node, or -1. */
static int
last_node(const HierarchyLines *lines, uint32 i)
{
	int h = lines->nlevels - 1;
	bool isnull = true;

	for (; h >= 0; h--)
	{
		(void) dictionary_value(lines->level[h], lines->node[h][i], &isnull);
		if (!isnull)
			break;
	}
	return h;
}

/* Branches may end early: then the last node stands for the levels above; not of a NULL, which stays NULL. */
static void
fill_lines(HierarchyLines *lines)
{
	uint32 null_value = dictionary_find(lines->values, (Datum) 0, true);

	for (uint32 i = 0; i < lines->n; i++)
	{
		int last = lines->value[i] == null_value ? -1 : last_node(lines, i);
		bool isnull;

		for (int h = last + 1; last >= 0 && h < lines->nlevels; h++)
			lines->node[h][i] = dictionary_add(
				lines->level[h], dictionary_value(lines->level[last], lines->node[last][i], &isnull), false);
	}
}

static uint32
nodes_but_null(Dictionary *dictionary)
{
	return dictionary_size(dictionary) - (dictionary_find(dictionary, (Datum) 0, true) != DICTIONARY_NONE);
}

/* As levels_below_top of hierarchy.c asks in SQL: lines that end before the last level do not agree with others. */
static bool
all_agree(const HierarchyLines *lines)
{
	int last = lines->nlevels - 1;
	uint32 null_value = dictionary_find(lines->values, (Datum) 0, true);
	uint32 null_node = dictionary_find(lines->level[last], (Datum) 0, true);
	bool open = false;

	for (uint32 i = 0; i < lines->n && null_node != DICTIONARY_NONE && !open; i++)
		open = lines->node[last][i] == null_node && lines->value[i] != null_value;
	return nodes_but_null(lines->level[last]) + open <= 1;
}

/* From now on codes ascend, so that nothing depends on the order of lines. */
static void
sort_codes(HierarchyLines *lines)
{
	/* a builder's values are the column's, which is sorted */
	for (int h = lines->hierarchy->from.builder != NULL ? 0 : -1; h < lines->nlevels; h++)
	{
		uint32 *codes = h < 0 ? lines->value : lines->node[h];
		uint32 *renumber = dictionary_sort(h < 0 ? lines->values : lines->level[h]);

		for (uint32 i = 0; i < lines->n; i++)
			codes[i] = renumber[codes[i]];
		pfree(renumber);
	}
	charge_dictionaries(lines);
}

/*
 * A cast to text that is not the type's output: true for t, 10.0.0.1/32 for 10.0.0.1.  The owner of
 * a type can make one at any time: only a superuser's runs.
 */
static bool
find_text_cast(Oid type, FmgrInfo *cast)
{
	Oid function;

	if (find_coercion_pathway(TEXTOID, getBaseType(type), COERCION_EXPLICIT, &function) !=
			COERCION_PATH_FUNC ||
		get_func_nargs(function) != 1 || !superuser_arg(function_owner(function)))
		return false;
	fmgr_info(function, cast);
	return true;
}

/* The line that has this text. */
static uint32
find_text(HierarchyLines *lines, text *value)
{
	uint32 found = dictionary_find(lines->values, PointerGetDatum(value), false);

	pfree(value);
	return found;
}

/* The lines' labels of each code of the column; as text where the lines have text. */
static void
match_codes(HierarchyLines *lines)
{
	Dictionary *column = lines->column->dictionary;
	FmgrInfo output, cast;
	bool has_cast = lines->by_text && find_text_cast(lines->column->type, &cast);
	int nest = plain_text_begin();

	lines->ncodes = dictionary_size(column);
	lines->nvalues = dictionary_size(lines->values);
	lines->value_of = border_palloc(lines->border, sizeof(uint32) * (Size) lines->ncodes);
	lines->code_of = border_palloc(lines->border, sizeof(uint32) * (Size) lines->nvalues);
	memset(lines->code_of, 0xff, sizeof(uint32) * (Size) lines->nvalues);
	type_output(lines->column->type, &output);
	for (uint32 code = 0; code < lines->ncodes; code++)
	{
		bool isnull;
		Datum value = dictionary_value(column, code, &isnull);
		uint32 found;

		CHECK_FOR_INTERRUPTS();
		if (lines->by_text && !isnull)
		{
			char *out = OutputFunctionCall(&output, value);

			found = find_text(lines, cstring_to_text(out));
			pfree(out);
			if (found == DICTIONARY_NONE && has_cast)
				found = find_text(lines, DatumGetTextP(FunctionCall1(&cast, value)));
		}
		else
			found = dictionary_find(lines->values, value, isnull);
		lines->value_of[code] = found;
		if (found != DICTIONARY_NONE)
			lines->code_of[found] = code;
	}
	plain_text_end(nest);
}

/* A line for each value but NULL that the builder knows, by its code. */
static void
make_lines(HierarchyLines *lines, const int64 *rows)
{
	LevelBuilder *builder = lines->hierarchy->from.builder;
	uint32 size = lines->ncodes = lines->nvalues = dictionary_size(lines->values);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon lines", ALLOCSET_SMALL_SIZES);
	int nest = plain_text_begin();

	if (builder->prepare != NULL && !builder->prepared)
		builder->prepare(builder, lines->values, rows);
	builder->prepared = true;
	builder->begun = false;
	lines->value_of = border_palloc(lines->border, sizeof(uint32) * (Size) size);
	lines->code_of = border_palloc(lines->border, sizeof(uint32) * (Size) size);
	memset(lines->value_of, 0xff, sizeof(uint32) * (Size) size);
	memset(lines->code_of, 0xff, sizeof(uint32) * (Size) size);
	for (uint32 code = 0; code < size; code++)
	{
		bool isnull;
		Datum value = dictionary_value(lines->values, code, &isnull);
		Datum nodes[HIERARCHY_MAX_LEVELS];
		MemoryContext old;
		int changed;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		MemoryContextReset(scratch);
		old = MemoryContextSwitchTo(scratch);
		changed = builder->levels(builder, value, nodes);
		MemoryContextSwitchTo(old);
		if (changed == BUILDER_UNKNOWN)
			continue;
		builder->begun = true;
		make_room(lines);
		lines->value[lines->n] = lines->value_of[code] = lines->code_of[code] = code;
		for (int h = 0; h < lines->nlevels; h++)
			lines->node[h][lines->n] =
				h < changed ? dictionary_add(lines->level[h], nodes[h], false) : lines->node[h][lines->n - 1];
		lines->n++;
	}
	plain_text_end(nest);
	MemoryContextDelete(scratch);
}

HierarchyLines *
hierarchy_lines_read(const Hierarchy *hierarchy, const SourceColumn *column, const int64 *rows, bool fill,
					 Border *border)
{
	HierarchyLines *lines = MemoryContextAllocZero(border->context, sizeof(HierarchyLines));

	lines->hierarchy = hierarchy;
	lines->column = column;
	lines->border = border;
	lines->nlevels = hierarchy->nlevels;
	for (int h = 0; h < lines->nlevels; h++)
		lines->level[h] = dictionary_create(border->context, &hierarchy->levels[h]);
	if (hierarchy->from.builder != NULL)
	{
		lines->values = column->dictionary;
		make_lines(lines, rows);
		sort_codes(lines);
		return lines;
	}
	lines->by_text = hierarchy_matches_text(hierarchy, column);
	/* two lines are of one value when the column's equality says so */
	lines->values = dictionary_create(border->context, lines->by_text ? &hierarchy->value : column);
	fetch_lines(lines);
	lines->topped = all_agree(lines);
	if (fill)
		fill_lines(lines);
	sort_codes(lines);
	match_codes(lines);
	return lines;
}

/* Levels below a last one in which all lines agree. */
static int
levels_below_top(const HierarchyLines *lines)
{
	int n = lines->nlevels - lines->topped;

	if (n > HIERARCHY_MAX_LEVELS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("hierarchy %s has more than %d levels", lines->hierarchy->name, HIERARCHY_MAX_LEVELS),
				 errhint("Use a view of the levels that matter.")));
	return n;
}

/* The nodes of one level that are above values of the column, in order. */
static void
read_level(Hierarchy *hierarchy, const HierarchyLines *lines, const uint32 *line_of, int h)
{
	Border *border = lines->border;
	Dictionary *nodes = dictionary_create(border->context, &hierarchy->levels[h]);
	uint32 *node = border_palloc(border, sizeof(uint32) * (Size) lines->ncodes);
	uint32 *renumber;

	for (uint32 code = 0; code < lines->ncodes; code++)
	{
		uint32 value = lines->value_of[code];
		bool isnull = true;
		Datum datum = (Datum) 0;

		/* only a NULL can be without a line here */
		if (value != DICTIONARY_NONE)
			datum = dictionary_value(lines->level[h], lines->node[h][line_of[value]], &isnull);
		node[code] = dictionary_add(nodes, datum, isnull);
	}
	renumber = dictionary_sort(nodes);
	for (uint32 code = 0; code < lines->ncodes; code++)
		node[code] = renumber[node[code]];
	pfree(renumber);
	border_charge(border, 0, dictionary_memory(nodes));
	hierarchy->dictionary[h] = nodes;
	hierarchy->node[h] = node;
}

/* The levels below suppression: what the column's codes generalize to. */
static void
read_levels(Hierarchy *hierarchy, const HierarchyLines *lines)
{
	uint32 *line_of = border_palloc(lines->border, sizeof(uint32) * (Size) lines->nvalues);

	for (uint32 i = 0; i < lines->n; i++)
		line_of[lines->value[i]] = i;
	hierarchy->nlevels = levels_below_top(lines);
	if (hierarchy->nlevels == 0)
		hierarchy->range = InvalidOid;
	hierarchy->dictionary = border_palloc(lines->border, sizeof(Dictionary *) * hierarchy->nlevels);
	hierarchy->node = border_palloc(lines->border, sizeof(uint32 *) * hierarchy->nlevels);
	for (int h = 0; h < hierarchy->nlevels; h++)
		read_level(hierarchy, lines, line_of, h);
	border_pfree(lines->border, line_of);
}

void
hierarchy_lines_free(HierarchyLines *lines)
{
	Border *border = lines->border;

	border_pfree(border, lines->value_of);
	border_pfree(border, lines->code_of);
	border_pfree(border, lines->value);
	if (lines->hierarchy->from.builder == NULL)
		dictionary_free(lines->values);
	for (int h = 0; h < lines->nlevels; h++)
	{
		border_pfree(border, lines->node[h]);
		dictionary_free(lines->level[h]);
	}
	border_charge(border, lines->charged, 0);
	pfree(lines);
}

int64 *
rows_of_codes(const RowTypes *types, int column, Border *border)
{
	const KanonColumn *values = &types->grouped[column];
	int64 *rows = border_palloc(border, sizeof(int64) * (Size) values->distinct);

	if (types->totals != NULL && column >= types->source->nqis)
	{
		memcpy(rows, types->totals[column - types->source->nqis], sizeof(int64) * (Size) values->distinct);
		return rows;
	}
	memset(rows, 0, sizeof(int64) * (Size) values->distinct);
	for (uint32 i = 0; i < types->ntypes; i++)
		rows[values->code[i]] += types->rows[i];
	return rows;
}

static int
compare_counts(const void *a, const void *b)
{
	int64 left = *(const int64 *) a, right = *(const int64 *) b;

	return left > right ? -1 : left < right;
}

int64
rows_of_persons(const RowTypes *types, int64 k, Border *border)
{
	int column = types->source->persons;
	uint32 n = column > 0 ? types->grouped[column].distinct : 0;
	int64 *rows, sum = 1;

	if (column == 0)
		return k;
	rows = rows_of_codes(types, column, border);
	qsort(rows, n, sizeof(int64), compare_counts);
	for (uint32 i = 0; i < n && (int64) i < k - 1; i++)
		sum += rows[i];
	border_pfree(border, rows);
	return sum;
}

static int
compare_pairs(const void *a, const void *b)
{
	uint64 left = *(const uint64 *) a;
	uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* The persons who have each value. */
static void
find_persons(Holders *holders, const RowTypes *types, int column, Border *border)
{
	const KanonColumn *values = &types->grouped[column], *persons = &types->grouped[types->source->persons];
	uint64 *pairs = border_palloc(border, sizeof(uint64) * (Size) Max(types->ntypes, 1));
	Size *first = border_palloc(border, sizeof(Size) * ((Size) values->distinct + 1));
	uint32 *person = border_palloc(border, sizeof(uint32) * (Size) Max(types->ntypes, 1));
	Size n = 0;
	uint32 at = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
		pairs[i] = (uint64) values->code[i] << 32 | persons->code[i];
	qsort(pairs, types->ntypes, sizeof(uint64), compare_pairs);
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		if (i > 0 && pairs[i] == pairs[i - 1])
			continue;
		while (at <= (uint32) (pairs[i] >> 32))
			first[at++] = n;
		person[n++] = (uint32) pairs[i];
	}
	while (at <= values->distinct)
		first[at++] = n;
	border_pfree(border, pairs);
	holders->first = first;
	holders->person = person;
	holders->persons = persons->distinct;
}

Holders *
holders_find(const RowTypes *types, int column, int64 least, Border *border)
{
	Holders *holders = MemoryContextAllocZero(border->context, sizeof(Holders));

	holders->least = least;
	holders->rows = rows_of_codes(types, column, border);
	if (types->source->persons > 0)
		find_persons(holders, types, column, border);
	return holders;
}

bool
holders_are_few(const Holders *holders, uint32 code)
{
	return (holders->person == NULL
				? holders->rows[code]
				: (int64) (holders->first[code + 1] - holders->first[code])) < holders->least;
}

/* Also an empty column's hierarchy is read: it may be wrong all the same. */
void
hierarchy_read(Hierarchy *hierarchy, const RowTypes *types, Border *border)
{
	const SourceColumn *column = &types->source->qis[hierarchy->column];
	LevelBuilder *builder = hierarchy->from.builder;
	bool counted = builder != NULL && builder->prepare != NULL;
	int64 *rows = counted ? rows_of_codes(types, hierarchy->column, border) : NULL;
	HierarchyLines *lines;

	if (counted && !builder->prepared && Max(types->source->k, builder->least) > 0)
		builder->holders =
			holders_find(types, hierarchy->column, Max(types->source->k, builder->least), border);
	lines = hierarchy_lines_read(hierarchy, column, rows, true, border);
	hierarchy_lines_check(lines);
	read_levels(hierarchy, lines);
	hierarchy_lines_free(lines);
	if (rows != NULL)
		border_pfree(border, rows);
}

/*
 * ---- The tree that a hierarchy makes above a column's values, as the
 * measures of t-closeness want it: up to one node.
 */

KanonTaxonomy *
taxonomy_read(const HierarchyChoice *choice, const RowTypes *types, int column, Border *border)
{
	const Source *source = types->source;
	uint32 values = dictionary_size(source->qis[column].dictionary);
	KanonTaxonomy *taxonomy = palloc0(sizeof(KanonTaxonomy));
	Hierarchy hierarchy;
	uint32 **parent;
	uint32 *nodes;
	int top;

	hierarchy_open(&hierarchy, choice, source, column);
	hierarchy_read(&hierarchy, types, border);
	top = hierarchy.nlevels;
	parent = palloc(sizeof(uint32 *) * (top + 1));
	nodes = palloc(sizeof(uint32) * (top + 1));
	for (int h = 0; h <= top; h++)
	{
		uint32 below = h == 0 ? values : nodes[h - 1];

		nodes[h] = h < top ? dictionary_size(hierarchy.dictionary[h]) : 1;
		parent[h] = border_palloc(border, sizeof(uint32) * (Size) below);
		memset(parent[h], 0, sizeof(uint32) * (Size) below);
		for (uint32 code = 0; h < top && code < values; code++)
			parent[h][h == 0 ? code : hierarchy.node[h - 1][code]] = hierarchy.node[h][code];
	}
	taxonomy->height = top + 1;
	taxonomy->nodes = nodes;
	taxonomy->parent = (const uint32 *const *) parent;
	return taxonomy;
}
