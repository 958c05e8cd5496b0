/*
 * verify.c: the last word before a target is published: the table itself is
 * read and grouped again, whatever the method and the writer believed.
 */
#include "compat.h"
#include "rows/verify.h"
#include "core/freeform/freeform_work.h"
#include "core/model/model.h"
#include "core/privacy/population.h"
#include "core/privacy/rules.h"
#include "rows/dictionary.h"
#include "hierarchies/hierarchy.h"
#include "rows/cell_values.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "distributed/distributed.h"
#include "masks/mask_apply.h"
#include "rows/target.h"

#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/rel.h"

void
raise_unsafe(const char *detail)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
		 errmsg("the written table does not keep what was promised, nothing was published"),
		 errdetail("%s", detail),
		 errhint("A trigger or event trigger may have changed it; otherwise this is a defect of kanon.")));
}

static void
raise_row_count(int64 rows, int64 expected)
{
	raise_unsafe(psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".", rows, expected));
}

/* A class of too few rows, which must show nothing. */
static void
check_few(int64 rows, bool blank, int64 k)
{
	if (!blank)
		raise_unsafe(psprintf("A class has " INT64_FORMAT " rows, k is " INT64_FORMAT ".", rows, k));
}

static void
check_blank(int64 blank, const KanonProblem *problem)
{
	if (blank > 0 && problem->residual != KANON_RESIDUAL_SUPPRESS)
		raise_unsafe(psprintf("It has " INT64_FORMAT " fully suppressed rows, k is " INT64_FORMAT ".", blank,
							  problem->k));
}

/* The place among the target's kept columns of a column that privacy rules look at, or -1: not there as it was. */
static int
kept_place(const Source *source, int grouped)
{
	for (int i = 0; i < source->nkept; i++)
		if (strcmp(source->kept[i].name, source->qis[grouped].name) == 0 && source->kept[i].mask == NULL)
			return i;
	return -1;
}

/* (Of others nobody knows whether their first row is at the beginning of the first page.) */
static bool
is_heap(Oid relid)
{
	Relation rel = table_open(relid, NoLock);
	bool heap = rel->rd_rel->relam == HEAP_TABLE_AM_OID;

	table_close(rel, NoLock);
	return heap;
}

/*
 * As a source: the columns a reader could join on, the mark among them, and what
 * of the further ones that tell row types apart is published.
 */
static Source *
target_as_source(const Target *target, const Source *source)
{
	Source *copy = palloc0(sizeof(Source));

	copy->relid = target->relid;
	copy->name = target->building;
	copy->nqis = source->nqis;
	copy->qis = palloc0(sizeof(SourceColumn) * (source->ngrouped + 1));
	memcpy(copy->qis, source->qis, sizeof(SourceColumn) * source->nqis);
	for (int c = 0; c < source->nqis; c++)
	{
		SourceColumn *column = &copy->qis[c];

		column->numerical = false;
		target_column(column);
		column->show_as = SHOW_AS_VALUE;
		column->hierarchy = NULL;
	}
	if (target->mark)
	{
		SourceColumn *mark = &copy->qis[copy->nqis++];

		mark->name = KANON_MARK_COLUMN;
		mark->quoted = KANON_MARK_COLUMN;
		mark->type = TEXTOID;
		mark->typmod = -1;
		mark->collation = DEFAULT_COLLATION_OID;
	}
	copy->ngrouped = copy->nqis;
	for (int c = source->nqis; c < source->ngrouped; c++)
		if (kept_place(source, c) >= 0)
			copy->qis[copy->ngrouped++] = source->kept[kept_place(source, c)];
	copy->levels = no_levels(copy->nqis);
	copy->scattered = target->kind == TABLE_DISTRIBUTED;
	if (copy->scattered && is_heap(target->relid))
		copy->functions = source->functions;
	return copy;
}

/* Each direction that the method promises, counted from the source and the target alone. */
static void
verify_matches(const KanonProblem *problem, const KanonRelease *written, Border *border)
{
	KanonFreeformMethod method = problem->freeform->method;
	KanonFreeformFacts facts;

	border_check(border, kanon_freeform_check(problem, written, 0, -1, &facts), "");
	if (kanon_freeform_promises_rows(method) && facts.row_matches < problem->k)
		raise_unsafe(psprintf("A row matches " INT64_FORMAT " records, k is " INT64_FORMAT ".",
							  facts.row_matches, problem->k));
	if (kanon_freeform_promises_records(method) && facts.record_matches < problem->k)
		raise_unsafe(psprintf("A record matches " INT64_FORMAT " rows, k is " INT64_FORMAT ".",
							  facts.record_matches, problem->k));
}

uint32 *
verify_translate(const struct Dictionary *from, const SourceColumn *original, Border *border)
{
	uint32 n = dictionary_size(from);
	uint32 *translated = border_palloc(border, sizeof(uint32) * (Size) n);

	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(from, code, &isnull);

		translated[code] = dictionary_find(original->dictionary, value, isnull);
		if (translated[code] == DICTIONARY_NONE)
			raise_unsafe(
				psprintf("Column \"%s\" has a value that the source does not have.", original->name));
	}
	return translated;
}

/* The target's codes of a column as the source's, whose distribution rules compare with. */
static uint32 *
source_codes(const RowTypes *types, int column, const SourceColumn *original, Border *border)
{
	uint32 *translated = verify_translate(types->source->qis[column].dictionary, original, border);
	uint32 *codes = border_palloc(border, sizeof(uint32) * (Size) types->ntypes);

	for (uint32 i = 0; i < types->ntypes; i++)
		codes[i] = translated[types->grouped[column].code[i]];
	border_pfree(border, translated);
	return codes;
}

/* The rows that are read back show values, and no levels of them. */
static KanonProblem
without_levels(const KanonProblem *problem, const Source *source)
{
	KanonProblem flat = *problem;
	KanonColumn *columns = palloc(sizeof(KanonColumn) * source->nqis);

	for (int c = 0; c < source->nqis; c++)
		columns[c] = problem->columns[source->levels.first[c]];
	flat.columns = columns;
	flat.ncolumns = source->nqis;
	return flat;
}

/* Reads the target's row types; raises if a kept column identifies or tells that workers have written. */
static RowTypes *
read_target(const Target *target, const Source *source, int64 expected_rows, Border *border)
{
	Source *copy = target_as_source(target, source);
	KeptLook *look = source->kept_unseen ? kept_begin(source, -1, 0, border) : NULL;
	RowTypes *types;

	if (look != NULL && shard_counts(copy))
		kept_count_beside(look, copy, expected_rows);
	else if (look != NULL)
		kept_count(look, copy, source->functions, copy->name, "", NULL, expected_rows);
	types = rowtypes_read_written(copy, masks_beside(source), border);
	if (look != NULL)
		kept_end(look);
	if (source->tells != NULL)
		tells_end(source->tells);
	return types;
}

void
target_verify_freeform(const Target *target, const Source *source, const KanonProblem *problem,
					   const KanonRelease *release, int64 expected_rows, Border *border)
{
	RowTypes *types = read_target(target, source, expected_rows, border);
	KanonProblem flat = without_levels(problem, source);
	KanonRelease promised;
	KanonRelease *written;
	char detail[160];

	written = written_release(source, types, target->mark, border);
	if (kanon_freeform_relaxed(problem->freeform->method) && expected_rows > 0)
		verify_matches(&flat, written, border);
	if (types->nrows != expected_rows)
		raise_row_count(types->nrows, expected_rows);
	promised = written_promise(release, source, problem, target->mark, border);
	border_check(border, kanon_freeform_confirm(&flat, &promised, written, detail, sizeof(detail)), detail);
	border_pfree(border, promised.cells);
	border_pfree(border, promised.pool);
}

bool
verify_same_class(const RowTypes *types, uint32 a, uint32 b)
{
	for (int c = 0; c < types->source->nqis; c++)
		if (types->grouped[c].code[a] != types->grouped[c].code[b])
			return false;
	return true;
}

bool
verify_is_blank(const RowTypes *types, int nqis, uint32 type)
{
	for (int c = 0; c < nqis; c++)
	{
		bool isnull;

		(void) dictionary_value(types->source->qis[c].dictionary, types->columns[c].code[type], &isnull);
		if (!isnull)
			return false;
	}
	return true;
}

void
verify_class(const KanonProblem *shown, const Source *source, const uint32 *members, uint32 n, bool few,
			 Border *border)
{
	const KanonPrivacyRule *rules;
	int broken;
	bool allowed = kanon_privacy_allows(shown, members, NULL, n, few, &broken);

	if (kanon_privacy_failed(shown->privacy))
		border_check(border, KANON_NO_MEMORY, "");
	(void) kanon_privacy_rules(shown->privacy, &rules);
	if (!allowed)
		raise_unsafe(psprintf("A class breaks a privacy rule about column \"%s\".",
							  source->qis[source->nqis + rules[broken].column].name));
}

/*
 * The rules beyond k, of classes as the target shows them.  The target need not show a
 * row's person: persons.c has counted them.
 */
static void
verify_privacy(const RowTypes *types, const Source *source, const KanonProblem *problem, Border *border)
{
	KanonProblem shown = *problem;
	KanonColumn *extra = palloc(sizeof(KanonColumn) * problem->nextra);
	uint32 *members = border_palloc(border, sizeof(uint32) * (Size) types->ntypes);
	int column = types->source->nqis;

	shown.extra = extra;
	shown.ntypes = types->ntypes;
	shown.rows = types->rows;
	for (int e = 0; e < problem->nextra; e++)
	{
		const SourceColumn *original = &source->qis[source->nqis + e];

		extra[e] = problem->extra[e];
		extra[e].code =
			kept_place(source, source->nqis + e) < 0 ? NULL : source_codes(types, column++, original, border);
	}
	for (uint32 first = 0, next; first < types->ntypes; first = next)
	{
		bool few =
			problem->residual == KANON_RESIDUAL_SUPPRESS && verify_is_blank(types, source->nqis, first);

		CHECK_FOR_INTERRUPTS();
		for (next = first; next < types->ntypes && verify_same_class(types, first, next); next++)
			members[next - first] = next;
		verify_class(&shown, source, members, next - first, few, border);
	}
	border_pfree(border, members);
}

/* ---- exact sizes ---- */

/* Classes of the target: a reader's, so that a NULL and a suppressed cell are alike without a mark. */
typedef struct Groups
{
	const RowTypes *types;
	uint32 n;
	uint32 *first; /* [n] a type of each, ascending in codes */
	int64 *rows;   /* [n] */
} Groups;

static Groups
group_types(const RowTypes *types, Border *border)
{
	Groups groups = {.types = types,
					 .first = border_palloc(border, sizeof(uint32) * (Size) Max(types->ntypes, 1)),
					 .rows = border_palloc(border, sizeof(int64) * (Size) Max(types->ntypes, 1))};

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		if (i == 0 || !verify_same_class(types, groups.first[groups.n - 1], i))
		{
			groups.first[groups.n] = i;
			groups.rows[groups.n++] = 0;
		}
		groups.rows[groups.n - 1] += types->rows[i];
	}
	return groups;
}

/* The one with these codes, or n. */
static uint32
find_group(const Groups *groups, const uint32 *codes)
{
	uint32 low = 0, high = groups->n;

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;
		int c = 0;

		while (c < groups->types->source->nqis &&
			   groups->types->grouped[c].code[groups->first[middle]] == codes[c])
			c++;
		if (c == groups->types->source->nqis)
			return middle;
		if (groups->types->grouped[c].code[groups->first[middle]] < codes[c])
			low = middle + 1;
		else
			high = middle;
	}
	return groups->n;
}

/* Is what a cell of the target says of the source's values what a class shows of a quasi-identifier? */
static bool
says_the_same(const Source *source, const KanonProblem *problem, const KanonRelease *release, uint32 class,
			  int qi, const KanonRelease *written, KanonCell cell)
{
	int first = source->levels.first[qi], c = first;
	const KanonCell *shown = &release->cells[(Size) class * problem->ncolumns];
	const KanonColumn *column;

	while (c < source->levels.first[qi + 1] && shown[c].show == KANON_SHOW_NOTHING)
		c++;
	if (c == source->levels.first[qi + 1])
		return cell.show == KANON_SHOW_NOTHING;
	column = &problem->columns[c];
	if (cell.show == KANON_SHOW_NOTHING)
		return shown[c].show == KANON_SHOW_VALUE && column->has_null && shown[c].code == column->distinct - 1;
	for (uint32 code = 0; code < problem->columns[first].distinct; code++)
	{
		uint32 above = c == first ? code : source->qis[qi].hierarchy->node[c - first - 1][code];

		if (kanon_cell_matches(release, shown[c], above) != kanon_cell_matches(written, cell, code))
			return false;
	}
	return true;
}

/* The same where a value shows alike in every row: then a label may be a value of another level, too, and the code must be that of the cell. */
static bool
is_shown_as(Shower *shower, const KanonRelease *release, uint32 class, int ncolumns, int qi,
			const RowTypes *types, uint32 code)
{
	bool isnull, same;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon verify", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Datum value = show_cell(shower, qi, &release->cells[(Size) class * ncolumns], release->pool, &isnull);

	same = dictionary_find(types->source->qis[qi].dictionary, value, isnull) == code;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return same;
}

/*
 * Each class has just the rows that the release says: workers wrote them, and nobody
 * here saw which; or which class a row of a population belongs to follows from them all.  Then
 * it says the same, too.
 */
static void
verify_sizes(const Target *target, const RowTypes *types, const Source *source, const KanonProblem *problem,
			 const KanonRelease *release, Border *border)
{
	bool global = kanon_global_recoding(problem);
	const KanonRelease *written =
		problem->npopulations > 0 && !global ? written_release(source, types, target->mark, border) : NULL;
	Shower *shower = shower_create(source);
	Groups groups = group_types(types, border);
	ShownClass *shown = shown_class_create(target, source, problem, release);
	uint32 *codes = palloc(sizeof(uint32) * types->source->nqis);
	int nest = plain_text_begin();
	bool same = true;

	for (uint32 i = 0; i < release->nclasses && same; i++)
	{
		uint32 group;

		CHECK_FOR_INTERRUPTS();
		shown_class_enter(shown, i);
		for (int c = 0; c < source->nqis; c++)
			codes[c] = dictionary_find(types->source->qis[c].dictionary, shown->values[c], shown->nulls[c]);
		if (target->mark)
			codes[source->nqis] =
				dictionary_find(types->source->qis[source->nqis].dictionary, shown->pattern, false);
		group = find_group(&groups, codes);
		same = group < groups.n;
		for (int qi = 0; qi < source->nqis && same && written != NULL; qi++)
			same = says_the_same(source, problem, release, i, qi, written,
								 written->cells[(Size) groups.first[group] * source->nqis + qi]);
		for (int qi = 0; qi < source->nqis && same && global; qi++)
			same = is_shown_as(shower, release, i, problem->ncolumns, qi, types, codes[qi]);
		if (same)
			groups.rows[group] -= release->classes[i].rows;
	}
	plain_text_end(nest);
	for (uint32 i = 0; i < groups.n && same; i++)
		same = groups.rows[i] == 0;
	if (!same)
		raise_unsafe("A class has other rows than the release gave it.");
	border_pfree(border, groups.first);
	border_pfree(border, groups.rows);
}

/* The target has the release's classes with their rows: populations are counted anew for them. */
static void
verify_populations(const KanonProblem *problem, const KanonRelease *release, Border *border)
{
	uint32 class;

	border_check(border, kanon_presence_check(problem, release, &class), "");
	if (class <= release->nclasses)
		raise_unsafe("A class breaks a rule about a population.");
}

typedef struct GroupsFound
{
	const char *name;
	int nqis;
	int count; /* attribute */
	int64 k;
	int64 rows;
	int64 blank; /* of those that show nothing, where they are few */
	NoteClass note;
	void *arg;
} GroupsFound;

static bool
receive_found(void *arg, TupleTableSlot *slot)
{
	GroupsFound *found = arg;
	int64 rows = gate_rows(found->name, slot, found->count, found->rows);
	bool blank = true;

	found->rows += rows;
	for (int c = 0; c < found->nqis && blank; c++)
		blank = slot->tts_isnull[c];
	found->note(found->arg, rows, blank);
	if (rows >= found->k)
		return true;
	check_few(rows, blank, found->k);
	found->blank += rows;
	return true;
}

void
target_verify_groups(const Target *target, const Source *source, const KanonProblem *problem,
					 int64 expected_rows, NoteClass note, void *arg, Border *border)
{
	Source *copy = target_as_source(target, source);
	GroupsFound found = {.name = copy->name,
						 .nqis = source->nqis,
						 .count = copy->nqis,
						 .k = problem->k,
						 .note = note,
						 .arg = arg};
	Gate *gate = gate_create(copy->name, copy->relid, copy->nqis + 1);
	char *columns = column_list(copy->qis, copy->nqis);
	int nest = grouping_begin();

	gate_columns(gate, copy->qis, copy->nqis);
	gate_computed(gate, "count", INT8OID);
	gate_select(gate,
				psprintf("SELECT %s, pg_catalog.count(*) FROM %s GROUP BY %s", columns, copy->name, columns),
				false, receive_found, &found);
	grouping_end(nest);
	if (found.rows != expected_rows)
		raise_row_count(found.rows, expected_rows);
	check_blank(found.blank, problem);
	if (problem->privacy != NULL)
		verify_privacy_sorted(copy, source, problem, border);
}

void
target_verify(const Target *target, const Source *source, const KanonProblem *problem,
			  const KanonRelease *release, int64 expected_rows, NoteClass note, void *arg, Border *border)
{
	RowTypes *types;
	/* k is verified in the population, or of combinations */
	int64 least = problem->k_map || problem->known != NULL ? 1 : problem->k;
	int64 blank = 0;

	types = read_target(target, source, expected_rows, border);
	if (types->nrows != expected_rows)
		raise_row_count(types->nrows, expected_rows);
	for (uint32 first = 0, next; first < types->ntypes; first = next)
	{
		int64 rows = 0;

		for (next = first; next < types->ntypes && verify_same_class(types, first, next); next++)
			rows += types->rows[next];
		note(arg, rows, verify_is_blank(types, source->nqis, first));
		if (rows >= least)
			continue;
		check_few(rows, verify_is_blank(types, source->nqis, first), problem->k);
		blank += rows;
	}
	check_blank(blank, problem);
	if (target->kind == TABLE_DISTRIBUTED || problem->npopulations > 0)
		verify_sizes(target, types, source, problem, release, border);
	if (problem->known != NULL)
		verify_known(types, source, problem, border);
	if (problem->privacy != NULL)
		verify_privacy(types, source, problem, border);
	if (problem->npopulations > 0)
		verify_populations(problem, release, border);
}
