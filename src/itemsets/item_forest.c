/*
 * item_forest.c: the hierarchy of items, and which of them are private.
 *
 * The lines of a hierarchy relation (hierarchy.h) are taken as paths: a level that
 * is NULL is not there, labels that repeat are one node.  So a branch is as deep as
 * it is.  A label is one node wherever it stands, whatever its level.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "itemsets/item_model.h"

#include "access/relation.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Counts of things that are no tree: how many labels, or items. */
typedef struct Faults
{
	int64 missing; /* items without a line */
	int64 parents; /* items and labels below two labels */
	int64 cycles;  /* labels above themselves */
	int64 mixed;   /* labels that are items elsewhere */
	int64 alike;   /* items whose text another item has */
} Faults;

typedef struct Builder
{
	const Transactions *transactions;
	const HierarchyLines *lines;
	const bool *sensitive;
	Border *border;
	uint32 nitems;
	char **item;        /* [nitems] text */
	uint32 *item_above; /* [nitems] label, or DICTIONARY_NONE */
	Dictionary *labels; /* by text */
	uint32 nlabels;
	uint32 *above; /* [nlabels] */
	bool *torn;    /* [nitems + nlabels] below two labels */
	Faults faults;
} Builder;

static const SourceColumn label_column = {
	.name = "label", .quoted = "label", .type = TEXTOID, .typmod = -1, .collation = C_COLLATION_OID};

static char *
label_text(Dictionary *labels, uint32 label)
{
	bool isnull;

	return TextDatumGetCString(dictionary_value(labels, label, &isnull));
}

/* All items as texts, in plain form. */
static char **
item_texts(const Transactions *transactions, Border *border)
{
	const SourceColumn *element = &transactions->from->element;
	char **texts = border_palloc(border, sizeof(char *) * transactions->sets.nitems);
	FmgrInfo output;
	int nest = plain_text_begin();

	type_output(element->type, &output);
	for (uint32 i = 0; i < transactions->sets.nitems; i++)
	{
		bool isnull;

		texts[i] = OutputFunctionCall(&output, dictionary_value(element->dictionary, i, &isnull));
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	plain_text_end(nest);
	return texts;
}

/* ---- the labels of all lines ---- */

/* The label that each node of each level is: its text. */
static uint32 **
label_levels(Builder *builder)
{
	const HierarchyLines *lines = builder->lines;
	uint32 **label = palloc(sizeof(uint32 *) * lines->nlevels);
	int nest = plain_text_begin();

	for (int h = 0; h < lines->nlevels; h++)
	{
		uint32 n = dictionary_size(lines->level[h]);
		FmgrInfo output;

		type_output(lines->hierarchy->levels[h].type, &output);
		label[h] = border_palloc(builder->border, sizeof(uint32) * n);
		for (uint32 node = 0; node < n; node++)
		{
			bool isnull;
			Datum value = dictionary_value(lines->level[h], node, &isnull);
			char *text = isnull ? NULL : OutputFunctionCall(&output, value);
			Datum datum = isnull ? (Datum) 0 : CStringGetTextDatum(text);

			label[h][node] = isnull ? DICTIONARY_NONE : dictionary_add(builder->labels, datum, false);
			if (!isnull)
			{
				pfree(DatumGetPointer(datum));
				pfree(text);
			}
		}
	}
	plain_text_end(nest);
	return label;
}

/* Labels ascend by their texts, whatever the order of lines. */
static void
sort_labels(Builder *builder, uint32 **label)
{
	uint32 *renumber = dictionary_sort(builder->labels);

	for (int h = 0; h < builder->lines->nlevels; h++)
		for (uint32 node = 0; node < dictionary_size(builder->lines->level[h]); node++)
			if (label[h][node] != DICTIONARY_NONE)
				label[h][node] = renumber[label[h][node]];
	pfree(renumber);
}

/* An item, or after the items a label, is below a label. */
static void
put_below(Builder *builder, uint32 number, uint32 label)
{
	uint32 *above =
		number < builder->nitems ? &builder->item_above[number] : &builder->above[number - builder->nitems];

	if (*above != DICTIONARY_NONE && *above != label && !builder->torn[number])
	{
		builder->torn[number] = true;
		builder->faults.parents++;
	}
	*above = label;
}

static void
take_lines(Builder *builder, uint32 **label)
{
	const HierarchyLines *lines = builder->lines;

	for (uint32 i = 0; i < lines->n; i++)
	{
		uint32 code = lines->code_of[lines->value[i]];
		uint32 last = DICTIONARY_NONE;

		for (int h = 0; h < lines->nlevels; h++)
		{
			uint32 next = label[h][lines->node[h][i]];

			if (next == DICTIONARY_NONE || next == last)
				continue;
			if (last != DICTIONARY_NONE)
				put_below(builder, builder->nitems + last, next);
			else if (code != DICTIONARY_NONE)
				put_below(builder, code, next);
			last = next;
		}
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static bool
is_sensitive(const Builder *builder, uint32 item)
{
	return builder->sensitive != NULL && builder->sensitive[item];
}

/*
 * Names that a reader could not tell apart: an item and a label of the same text,
 * unless the one is above the other, and two items of the same text.
 */
static void
find_mixed(Builder *builder)
{
	Dictionary *texts = dictionary_create(builder->border->context, &label_column);

	for (uint32 i = 0; i < builder->nitems; i++)
	{
		Datum text = CStringGetTextDatum(builder->item[i]);
		uint32 label = dictionary_find(builder->labels, text, false);
		uint32 v = builder->item_above[i];

		builder->faults.alike += dictionary_add(texts, text, false) != i;
		pfree(DatumGetPointer(text));
		if (label == DICTIONARY_NONE)
			continue;
		for (uint32 steps = 0; v != DICTIONARY_NONE && v != label && steps < builder->nlabels; steps++)
			v = builder->above[v];
		builder->faults.mixed += v != label || is_sensitive(builder, i);
	}
	dictionary_free(texts);
}

/* How far each label is from its top; labels that are above themselves are counted. */
static uint32 *
find_depths(Builder *builder)
{
	uint32 *depth = border_palloc(builder->border, sizeof(uint32) * builder->nlabels);

	for (uint32 v = 0; v < builder->nlabels; v++)
	{
		uint32 steps = 0;

		for (uint32 w = builder->above[v]; w != DICTIONARY_NONE && steps <= builder->nlabels;
			 w = builder->above[w])
			steps++;
		depth[v] = steps;
		builder->faults.cycles += steps > builder->nlabels;
		if (steps > builder->nlabels)
			break;
	}
	return depth;
}

static void
raise_faults(const Builder *builder)
{
	const Faults *faults = &builder->faults;
	StringInfoData detail;

	if (faults->missing + faults->parents + faults->cycles + faults->mixed + faults->alike == 0)
		return;
	initStringInfo(&detail);
	if (faults->missing > 0)
		appendStringInfo(&detail, " Items without a line: " INT64_FORMAT ".", faults->missing);
	if (faults->parents > 0)
		appendStringInfo(&detail, " Items and labels that lines put below two labels: " INT64_FORMAT ".",
						 faults->parents);
	if (faults->cycles > 0)
		appendStringInfoString(&detail, " A label is above itself.");
	if (faults->mixed > 0)
		appendStringInfo(&detail, " Items that are also labels, and not below these: " INT64_FORMAT ".",
						 faults->mixed);
	if (faults->alike > 0)
		appendStringInfo(&detail, " Items whose text another item has, too: " INT64_FORMAT ".",
						 faults->alike);
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("hierarchy %s does not fit the items", builder->lines->hierarchy->name),
		 errdetail("%s", detail.data + 1),
		 errhint(
			 "Each item needs a line, and each label one label above it at most, wherever it stands; a level that a branch does not have is NULL.")));
}

/* ---- the forest ---- */

typedef struct Ranked
{
	uint32 label;
	uint32 depth;
} Ranked;

/* The deepest first, so that parents have larger numbers; labels ascend by text. */
static int
compare_nodes(const void *a, const void *b)
{
	const Ranked *left = a;
	const Ranked *right = b;

	if (left->depth != right->depth)
		return left->depth > right->depth ? -1 : 1;
	return left->label < right->label ? -1 : left->label > right->label;
}

/* Labels above items that are not private, in the order of their numbers. */
static Ranked *
used_labels(const Builder *builder, const uint32 *depth, uint32 *n)
{
	bool *used = border_palloc(builder->border, sizeof(bool) * builder->nlabels);
	Ranked *nodes = border_palloc(builder->border, sizeof(Ranked) * builder->nlabels);

	memset(used, 0, sizeof(bool) * builder->nlabels);
	*n = 0;
	for (uint32 i = 0; i < builder->nitems; i++)
		for (uint32 v = is_sensitive(builder, i) ? DICTIONARY_NONE : builder->item_above[i];
			 v != DICTIONARY_NONE && !used[v]; v = builder->above[v])
		{
			used[v] = true;
			nodes[(*n)++] = (Ranked){v, depth[v]};
		}
	border_pfree(builder->border, used);
	qsort(nodes, *n, sizeof(Ranked), compare_nodes);
	return nodes;
}

static ItemForest *
number_nodes(const Builder *builder, const uint32 *depth)
{
	ItemForest *forest = palloc0(sizeof(ItemForest));
	uint32 n;
	Ranked *nodes = used_labels(builder, depth, &n);
	uint32 *number = border_palloc(builder->border, sizeof(uint32) * Max(builder->nlabels, 1));

	forest->nnodes = builder->nitems + n;
	forest->parent = border_palloc(builder->border, sizeof(uint32) * Max(forest->nnodes, 1));
	forest->label = border_palloc(builder->border, sizeof(char *) * Max(forest->nnodes, 1));
	for (uint32 i = 0; i < n; i++)
	{
		number[nodes[i].label] = builder->nitems + i;
		forest->label[builder->nitems + i] = label_text(builder->labels, nodes[i].label);
	}
	for (uint32 v = 0; v < forest->nnodes; v++)
	{
		uint32 above =
			v < builder->nitems ? builder->item_above[v] : builder->above[nodes[v - builder->nitems].label];

		if (v < builder->nitems)
			forest->label[v] = builder->item[v];
		if (above == DICTIONARY_NONE || (v < builder->nitems && is_sensitive(builder, v)))
			forest->parent[v] = KANON_NOTHING;
		else
			forest->parent[v] = number[above];
	}
	border_pfree(builder->border, nodes);
	border_pfree(builder->border, number);
	return forest;
}

/* Every item by itself. */
static ItemForest *
no_hierarchy(const Transactions *transactions, Border *border)
{
	ItemForest *forest = palloc0(sizeof(ItemForest));

	forest->nnodes = transactions->sets.nitems;
	forest->parent = border_palloc(border, sizeof(uint32) * Max(forest->nnodes, 1));
	for (uint32 v = 0; v < forest->nnodes; v++)
		forest->parent[v] = KANON_NOTHING;
	return forest;
}

ItemForest *
items_forest(const Transactions *transactions, const Hierarchy *hierarchy, const bool *sensitive,
			 Border *border)
{
	Builder builder = {.transactions = transactions, .sensitive = sensitive, .border = border};
	HierarchyLines *lines;
	ItemForest *forest;
	uint32 **label;

	if (hierarchy == NULL)
		return no_hierarchy(transactions, border);
	builder.lines = lines =
		hierarchy_lines_read(hierarchy, &transactions->from->element, NULL, false, border);
	builder.nitems = transactions->sets.nitems;
	builder.item = item_texts(transactions, border);
	builder.item_above = border_palloc(border, sizeof(uint32) * Max(builder.nitems, 1));
	builder.labels = dictionary_create(border->context, &label_column);
	label = label_levels(&builder);
	sort_labels(&builder, label);
	builder.nlabels = dictionary_size(builder.labels);
	builder.above = border_palloc(border, sizeof(uint32) * Max(builder.nlabels, 1));
	memset(builder.item_above, 0xff, sizeof(uint32) * builder.nitems);
	memset(builder.above, 0xff, sizeof(uint32) * builder.nlabels);
	builder.torn = border_palloc(border, sizeof(bool) * Max(builder.nitems + builder.nlabels, 1));
	memset(builder.torn, 0, sizeof(bool) * (builder.nitems + builder.nlabels));
	take_lines(&builder, label);
	for (uint32 i = 0; i < builder.nitems; i++)
		builder.faults.missing += lines->value_of[i] == DICTIONARY_NONE && !is_sensitive(&builder, i);
	find_mixed(&builder);
	{
		uint32 *depth = find_depths(&builder);

		raise_faults(&builder);
		forest = number_nodes(&builder, depth);
		border_pfree(border, depth);
	}
	dictionary_free(builder.labels);
	border_pfree(border, builder.torn);
	border_pfree(border, builder.above);
	border_pfree(border, builder.item_above);
	hierarchy_lines_free(lines);
	return forest;
}

/* ---- private items ---- */

Source *
items_sensitive_open(Oid relid)
{
	Relation rel = try_relation_open(relid, AccessShareLock);
	const char *name = NULL;
	Source *relation;

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid),
				 errhint("Name a table or view that exists.")));
	for (int i = 0; i < RelationGetNumberOfAttributes(rel) && name == NULL; i++)
		if (!TupleDescAttr(RelationGetDescr(rel), i)->attisdropped)
			name = pstrdup(NameStr(TupleDescAttr(RelationGetDescr(rel), i)->attname));
	relation_close(rel, NoLock);
	if (name == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("sensitive_items has no column"),
						errhint("Its first column has the private items.")));
	relation = source_open_columns(relid, name_list(&name, 1), "sensitive_items");
	source_lock(relation);
	return relation;
}

/* Items by their texts. */
typedef struct Marks
{
	Dictionary *texts; /* of the items, by code */
	bool *sensitive;
	int64 unknown; /* texts that no item has */
} Marks;

static void
mark_text(Marks *marks, Datum text)
{
	uint32 code = dictionary_find(marks->texts, text, false);

	if (code == DICTIONARY_NONE)
		marks->unknown++;
	else
		marks->sensitive[code] = true;
}

static bool
add_row(void *arg, TupleTableSlot *slot)
{
	(void) dictionary_add(arg, slot->tts_values[0], slot->tts_isnull[0]);
	return true;
}

static void
mark_relation(Marks *marks, Source *relation, Border *border)
{
	Gate *gate = gate_create(relation->name, relation->relid, 1);
	Dictionary *values = dictionary_create(border->context, &relation->qis[0]);
	FmgrInfo output;
	int nest;

	gate_columns(gate, relation->qis, 1);
	gate_select(gate, psprintf("SELECT %s FROM %s", relation->qis[0].quoted, relation->name), true, add_row,
				values);
	type_output(relation->qis[0].type, &output);
	nest = plain_text_begin();
	for (uint32 i = 0; i < dictionary_size(values); i++)
	{
		bool isnull;
		Datum value = dictionary_value(values, i, &isnull);
		char *text = isnull ? NULL : OutputFunctionCall(&output, value);

		if (isnull)
			continue;
		value = CStringGetTextDatum(text);
		mark_text(marks, value);
		pfree(DatumGetPointer(value));
		pfree(text);
	}
	plain_text_end(nest);
	dictionary_free(values);
}

static void
mark_list(Marks *marks, ArrayType *texts, bool strict)
{
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("sensitive must not contain NULL"),
					 errhint("It lists the private items.")));
		mark_text(marks, values[i]);
	}
	/* a misspelled item would be public unsaid */
	if (strict && marks->unknown > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(INT64_FORMAT " of the items in sensitive do not occur", marks->unknown),
			 errhint(
				 "Write them as the items are printed; a list of which not all occur can be given as a table in sensitive_items.")));
}

bool *
items_sensitive(const Transactions *transactions, ArrayType *texts, bool strict, Source *relation,
				Border *border)
{
	Marks marks = {0};
	char **items;

	if (texts == NULL && relation == NULL)
		return NULL;
	items = item_texts(transactions, border);
	marks.texts = dictionary_create(border->context, &label_column);
	marks.sensitive = border_palloc(border, sizeof(bool) * Max(transactions->sets.nitems, 1));
	memset(marks.sensitive, 0, sizeof(bool) * transactions->sets.nitems);
	for (uint32 i = 0; i < transactions->sets.nitems; i++)
	{
		Datum text = CStringGetTextDatum(items[i]);

		/* of items with one text all are meant: the codes of texts are those of items */
		if (dictionary_add(marks.texts, text, false) != i)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("two different items are printed alike"),
							errhint("Read the items through a view that casts them to text.")));
		pfree(DatumGetPointer(text));
	}
	if (texts != NULL)
		mark_list(&marks, texts, strict);
	if (relation != NULL)
		mark_relation(&marks, relation, border);
	dictionary_free(marks.texts);
	return marks.sensitive;
}
