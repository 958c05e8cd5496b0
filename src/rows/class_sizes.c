/*
 * class_sizes.c: how many classes of each size a relation has.
 *
 * kanon groups rows of this server's own tables itself, as long as their row types fit into
 * memory: that takes two thirds of the executor's time.  The executor groups other sources, and
 * more row types than fit, since it can spill.  Its query gives the size of each class and no
 * value.  Nearly every row may be a class of its own, so the sizes are counted as they come.
 */
#include "compat.h"
#include "rows/row_types.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"
#include "core/util/fault.h"
#include "rows/target.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* The executor takes over when one part in so many of the memory limit is used. */
#define MEMORY_SHARE 4

typedef struct SizeEntry
{
	int64 size;
	int64 classes;
	int64 rows;
	char status;
} SizeEntry;

#define SH_PREFIX seen
#define SH_ELEMENT_TYPE SizeEntry
#define SH_KEY_TYPE int64
#define SH_KEY size
#define SH_HASH_KEY(table, key) murmurhash32((uint32) (key) ^ (uint32) ((uint64) (key) >> 32))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Sizes
{
	const char *name; /* of the source */
	const SourceColumn *subject;
	seen_hash *seen;
	SizeCount blank;
} Sizes;

/* Inside, the quasi-identifiers get names of their own. */
static char *
persons_query(const Source *source, const SourceColumn *subject)
{
	char *columns = column_list(source->qis, source->nqis);
	StringInfoData aliased, aliases;

	initStringInfo(&aliased);
	initStringInfo(&aliases);
	for (int c = 0; c < source->nqis; c++)
	{
		appendStringInfo(&aliased, "%s AS c%d, ", source->qis[c].quoted, c + 1);
		appendStringInfo(&aliases, "v.c%d, ", c + 1);
	}
	return psprintf("SELECT pg_catalog.count(*), v.blank, pg_catalog.sum(v.r)::pg_catalog.int8,"
					" pg_catalog.bool_or(v.nobody) FROM ("
					"SELECT %s %s AS blank,"
					" pg_catalog.count(*) AS r, pg_catalog.num_nulls(%s) OPERATOR(pg_catalog.=) 1 AS nobody"
					" FROM %s GROUP BY %s, %s) AS v GROUP BY %s v.blank",
					aliased.data, blank_condition(source->qis, source->nqis), subject->quoted, source->name,
					columns, subject->quoted, aliases.data);
}

static Gate *
sizes_gate(const Source *source, const SourceColumn *subject)
{
	Gate *gate = gate_create(source->name, source->relid, subject != NULL ? 4 : 2);

	gate_computed(gate, "size", INT8OID);
	gate_computed(gate, "blank", BOOLOID);
	if (subject != NULL)
	{
		gate_computed(gate, "rows", INT8OID);
		gate_computed(gate, "nobody", BOOLOID);
	}
	return gate;
}

static void
refuse_nobody(const SourceColumn *subject)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("subject column \"%s\" has NULLs", subject->name),
		 errhint("Every row needs its person: use a view that leaves the other rows out or numbers them.")));
}

static void
count_class(Sizes *sizes, int64 size, int64 rows, bool blank)
{
	if (blank)
		sizes->blank = (SizeCount){size, true, 1, rows};
	else
	{
		bool found;
		SizeEntry *entry = seen_insert(sizes->seen, size, &found);

		if (!found)
			entry->classes = entry->rows = 0;
		entry->classes++;
		entry->rows += rows;
	}
}

/* A class: its size, whether it is blank; with a subject its rows, and whether one of them has none. */
static bool
receive_class(void *arg, TupleTableSlot *slot)
{
	Sizes *sizes = arg;
	int64 size, rows;

	if (sizes->subject != NULL)
	{
		if (DatumGetBool(slot->tts_values[3]))
			refuse_nobody(sizes->subject);
		gate_refuse_null(sizes->name, slot, 3);
	}
	gate_refuse_null(sizes->name, slot, 1);
	size = gate_rows(sizes->name, slot, 0, 0);
	rows = sizes->subject != NULL ? gate_rows(sizes->name, slot, 2, 0) : size;
	count_class(sizes, size, rows, DatumGetBool(slot->tts_values[1]));
	return true;
}

static bool
is_blank(const RowTypes *types, const uint32 *null_code, uint32 type)
{
	for (int c = 0; c < types->source->nqis; c++)
		if (types->columns[c].code[type] != null_code[c])
			return false;
	return true;
}

/* False: there are too many row types. */
static bool
group_here(Sizes *sizes, Source *source)
{
	Border *border = border_create("kanon sizes");
	Size limit = border->limit / MEMORY_SHARE;
	/* (the first of them take a chunk) */
	RowTypes *types = limit > CHUNK_TYPES * (sizeof(uint32) * source->nqis + sizeof(int64))
						  ? rowtypes_read_unsorted(source, limit, border)
						  : NULL;
	uint32 *null_code = palloc(sizeof(uint32) * source->nqis);

	for (int c = 0; c < source->nqis && types != NULL; c++)
		null_code[c] = dictionary_find(source->qis[c].dictionary, (Datum) 0, true);
	for (uint32 i = 0; types != NULL && i < types->ntypes; i++)
		count_class(sizes, types->rows[i], types->rows[i], is_blank(types, null_code, i));
	MemoryContextDelete(border->context);
	return types != NULL;
}

static void
group_there(Sizes *sizes, const Source *source)
{
	Gate *gate = sizes_gate(source, sizes->subject);
	int nest = grouping_begin();
	char *query;

	if (sizes->subject == NULL)
	{
		CountedRows rows = grouping_counted(source, gate);

		query =
			psprintf("SELECT %s, %s FROM %s GROUP BY %s", rows.count, rows.blank, rows.from, rows.columns);
	}
	else
		query = persons_query(source, sizes->subject);
	gate_select(gate, query, true, receive_class, sizes);
	grouping_end(nest);
}

static int
compare_sizes(const void *a, const void *b)
{
	int64 left = ((const SizeCount *) a)->size, right = ((const SizeCount *) b)->size;

	return left < right ? -1 : left > right;
}

static SizeCount *
collect(Sizes *sizes, size_t *n)
{
	SizeCount *counts = palloc(sizeof(SizeCount) * (sizes->seen->members + 1));
	seen_iterator at;
	SizeEntry *entry;

	*n = 0;
	seen_start_iterate(sizes->seen, &at);
	while ((entry = seen_iterate(sizes->seen, &at)) != NULL)
		counts[(*n)++] = (SizeCount){entry->size, false, entry->classes, entry->rows};
	qsort(counts, *n, sizeof(SizeCount), compare_sizes);
	if (sizes->blank.classes > 0)
		counts[(*n)++] = sizes->blank;
	return counts;
}

SizeCount *
class_sizes(Source *source, const SourceColumn *subject, size_t *n)
{
	Sizes *sizes = palloc0(sizeof(Sizes));
	SizeCount *counts;

	sizes->name = source->name;
	sizes->subject = subject;
	sizes->seen = seen_create(CurrentMemoryContext, 64, NULL);
	if (subject != NULL || !source_is_here(source) || !group_here(sizes, source))
		group_there(sizes, source);
	counts = collect(sizes, n);
	seen_destroy(sizes->seen);
	pfree(sizes);
	return counts;
}

/* ---- A class at a time, as the values that its rows are published with ---- */

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

/*
 * ---- How well a published table still predicts one of its kept columns.
 *
 * V. S. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002:
 * a row is penalized when it is suppressed, or when its class mostly has another
 * value in that column than it has; CM is the mean penalty.
 */

/* The sign that a row is fully suppressed; only where nothing is marked may a NULL be any NULL. */
static char *
row_is_blank(const Target *target, const Source *source)
{
	return target->mark ? pstrdup("pg_catalog.btrim(" KANON_MARK_COLUMN ", '*') OPERATOR(pg_catalog.=) ''")
						: psprintf("pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.=) 0",
								   column_list(source->qis, source->nqis));
}

/*
 * Grouped as a reader of the table would group it.  The columns get names of
 * their own (c1, c2, …), so that none can be mistaken for another.
 */
double
target_classification(const Target *target, const Source *source, const SourceColumn *column, int64 dropped)
{
	StringInfoData columns, names, query;
	Gate *gate = gate_create(target->building, target->relid, 2);
	int nest = grouping_begin();
	double wrong, rows;
	bool isnull;

	initStringInfo(&columns);
	initStringInfo(&names);
	initStringInfo(&query);
	for (int c = 0; c < source->nqis; c++)
	{
		appendStringInfo(&columns, "%s AS c%d, ", source->qis[c].quoted, c + 1);
		appendStringInfo(&names, "c%d, ", c + 1);
	}
	appendStringInfo(
		&query,
		"SELECT pg_catalog.sum(CASE WHEN g.blank THEN g.n ELSE g.n OPERATOR(pg_catalog.-) g.most END)::pg_catalog.float8,"
		" pg_catalog.sum(g.n)::pg_catalog.float8"
		" FROM (SELECT pg_catalog.sum(v.n)::pg_catalog.int8 AS n, pg_catalog.max(v.n) AS most, v.blank"
		" FROM (SELECT %s%s AS mark, pg_catalog.count(*) AS n,"
		" %s AS blank"
		" FROM %s GROUP BY %s%s%s) AS v GROUP BY %smark, blank) AS g",
		columns.data, target->mark ? KANON_MARK_COLUMN : "0", row_is_blank(target, source), target->building,
		column_list(source->qis, source->nqis), target->mark ? ", " KANON_MARK_COLUMN ", " : ", ",
		column->quoted, names.data);
	gate_computed(gate, "wrong", FLOAT8OID);
	gate_computed(gate, "rows", FLOAT8OID);
	gate_query(gate, query.data, false);
	grouping_end(nest);
	wrong = DatumGetFloat8(gate_value(0, 1, FLOAT8OID, &isnull));
	rows = isnull ? 0 : DatumGetFloat8(gate_value(0, 2, FLOAT8OID, &isnull));
	if (isnull)
		wrong = 0;
	return rows + dropped > 0 ? (wrong + dropped) / (rows + dropped) : 0;
}
