/*
 * stable_rows.c: rows that have not changed stay with those whose class they shared in the release before.
 *
 * With a release, its flows are written to a private table: what a row type is, its class, the
 * class's pattern and how many rows; and which rows of a type are in which of its classes
 * (write/company.h), as far as they could go elsewhere than others of it.  The next release starts
 * from there: how, the models know.
 */
#include "compat.h"
#include "run/successive.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"
#include "rows/target.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

/*
 * Beside the columns that tell row types apart.  A line of a flow has no marks; one of a row has neither values
 * nor a pattern and number of rows.
 */
#define CLASS_COLUMN "kanon_class"
#define PATTERN_COLUMN "kanon_pattern"
#define ROWS_COLUMN "kanon_rows"
#define NUMBER_COLUMN "kanon_number"
#define ROW_COLUMN "kanon_row"
#define KEY_COLUMN "kanon_key"

enum
{
	CLASS,
	PATTERN,
	ROWS,
	NUMBER,
	ROW,
	KEY,
	EXTRA_COLUMNS
};

/*
 * Columns that are read of the table of the release before: the columns of the source, and those
 * beside them.
 */
static Gate *
flows_gate(const Source *source, Oid relid)
{
	Gate *gate = gate_create(relation_name(relid), relid, source->ngrouped + EXTRA_COLUMNS);

	gate_columns(gate, source->qis, source->ngrouped);
	gate_computed(gate, CLASS_COLUMN, INT4OID);
	gate_computed(gate, PATTERN_COLUMN, TEXTOID);
	gate_computed(gate, ROWS_COLUMN, INT8OID);
	gate_computed(gate, NUMBER_COLUMN, INT4OID);
	gate_computed(gate, ROW_COLUMN, INT8OID);
	gate_computed(gate, KEY_COLUMN, INT8OID);
	return gate;
}

typedef struct Reader
{
	Run *run;
	TypeIndex *index;
	KanonPattern *pattern; /* [room_classes] */
	KanonFlow *flows;      /* [room_flows] */
	uint32 *type;          /* [room_numbers] what a row type of the release before is in this one */
	uint32 nclasses, nnumbers;
	Size nflows, room_classes, room_flows, room_numbers;
	int64 nlines; /* of flows of the release before */
	bool grown;   /* it cannot be read as persons are counted since tonight */

	/* which rows are there still */
	Size *first; /* [ntypes + 1] flows of a type */
	int64 *met;  /* [nflows] */
	bool *known; /* [ntypes] rows are known one by one */
	TupleDesc desc;
	RowBefore *changed; /* [nchanged] rows of known types that nobody has met */
	Size nchanged, room_changed;
} Reader;

/* Is the column of now one of then? */
static bool
has_column(TupleDesc before, Form_pg_attribute column)
{
	for (int i = 0; i < before->natts; i++)
	{
		Form_pg_attribute other = TupleDescAttr(before, i);

		if (!other->attisdropped && strcmp(NameStr(other->attname), NameStr(column->attname)) == 0)
			return other->atttypid == column->atttypid && other->atttypmod == column->atttypmod &&
				   other->attcollation == column->attcollation;
	}
	return false;
}

/*
 * Columns of rules that are gone are not read: rows that they told apart are of one type now.  Returns why the
 * table cannot be read, or NULL.
 */
static const char *
find_columns(Reader *reader, const Gate *gate)
{
	Relation rel = try_relation_open(gate->relid, AccessShareLock);
	const char *why = NULL;

	if (rel == NULL)
		return "Its private table of row types is gone.";
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		why = "Its private table of row types is no table any more.";
	for (int i = 0; i < gate->desc->natts && why == NULL; i++)
		if (!has_column(RelationGetDescr(rel), TupleDescAttr(gate->desc, i)))
		{
			const char *name = NameStr(TupleDescAttr(gate->desc, i)->attname);
			const char *key = reader->run->request->series.key;

			reader->grown =
				key != NULL && strcmp(name, key) == 0 && get_attnum(gate->relid, key) == InvalidAttrNumber;
			why = reader->grown
					  ? "Persons are counted from this release on, and rows were before."
					  : psprintf("Its row types do not have column \"%s\", or have it with another type.",
								 name);
		}
	relation_close(rel, NoLock);
	return why;
}

static int32
number_at(TupleTableSlot *slot, int column, int32 most)
{
	int32 number = slot->tts_isnull[column] ? -1 : DatumGetInt32(slot->tts_values[column]);

	return number < most ? number : -1;
}

/* A row type that is not in the source any more, or rows that make no sense, count for nothing. */
static bool
receive_flow(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	Border *border = reader->run->border;
	const Source *source = reader->run->source;
	int beside = source->ngrouped;
	uint32 type = type_index_find(reader->index, slot->tts_values, slot->tts_isnull);
	int32 class_ = number_at(slot, beside + CLASS, KANON_MAX_TYPES);
	int32 number = number_at(slot, beside + NUMBER, KANON_MAX_TYPES);
	char *pattern =
		slot->tts_isnull[beside + PATTERN] ? NULL : TextDatumGetCString(slot->tts_values[beside + PATTERN]);

	if (class_ < 0 || pattern == NULL || strlen(pattern) != source->nqis || slot->tts_isnull[beside + ROWS] ||
		DatumGetInt64(slot->tts_values[beside + ROWS]) <= 0)
		return true;
	reader->nlines++;
	if (type == DICTIONARY_NONE)
		return true;
	reader->pattern =
		border_grow(border, reader->pattern, &reader->room_classes, (Size) class_ + 1, sizeof(KanonPattern));
	while (reader->nclasses <= class_)
		reader->pattern[reader->nclasses++] = KANON_NONE;
	/* (classes that looked alike are one, and may have had several) */
	reader->pattern[class_] =
		kanon_union(reader->pattern[class_], pattern_parse(pattern, &source->levels, true));
	reader->flows =
		border_grow(border, reader->flows, &reader->room_flows, reader->nflows + 1, sizeof(KanonFlow));
	reader->flows[reader->nflows++] =
		(KanonFlow){type, (uint32) class_, DatumGetInt64(slot->tts_values[beside + ROWS])};
	if (number < 0)
		return true;
	reader->type =
		border_grow(border, reader->type, &reader->room_numbers, (Size) number + 1, sizeof(uint32));
	while (reader->nnumbers <= number)
		reader->type[reader->nnumbers++] = DICTIONARY_NONE;
	reader->type[number] = type;
	return true;
}

/* A row of the release before, of a type that is still there. */
static bool
receive_before(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	int32 class_ = number_at(slot, 0, (int32) reader->nclasses);
	int32 number = number_at(slot, 1, (int32) reader->nnumbers);
	RowMark mark;

	if (class_ < 0 || number < 0 || slot->tts_isnull[2] || slot->tts_isnull[3] ||
		reader->type[number] == DICTIONARY_NONE)
		return true;
	mark.row = (uint64) DatumGetInt64(slot->tts_values[2]);
	mark.key = (uint64) DatumGetInt64(slot->tts_values[3]);
	company_add(reader->run->company, &mark, reader->type[number], (uint32) class_);
	reader->known[reader->type[number]] = true;
	return true;
}

static void
read_rows(Reader *reader, const char *name, Oid relid)
{
	Gate *gate = gate_create(name, relid, 4);

	gate_computed(gate, CLASS_COLUMN, INT4OID);
	gate_computed(gate, NUMBER_COLUMN, INT4OID);
	gate_computed(gate, ROW_COLUMN, INT8OID);
	gate_computed(gate, KEY_COLUMN, INT8OID);
	gate_select(gate,
				psprintf("SELECT " CLASS_COLUMN ", " NUMBER_COLUMN ", " ROW_COLUMN ", " KEY_COLUMN
						 " FROM %s WHERE " ROWS_COLUMN " IS NULL",
						 name),
				true, receive_before, reader);
}

/* By type and class, each pair once. */
static void
order_flows(Reader *reader)
{
	Size n = 0;

	qsort_arg(reader->flows, reader->nflows, sizeof(KanonFlow), kanon_compare_flows, NULL);
	for (Size f = 0; f < reader->nflows; f++)
	{
		const KanonFlow *flow = &reader->flows[f];

		if (n > 0 && reader->flows[n - 1].type == flow->type && reader->flows[n - 1].class_ == flow->class_)
			reader->flows[n - 1].rows += flow->rows;
		else
			reader->flows[n++] = *flow;
	}
	reader->nflows = n;
}

static void
number_flows(Reader *reader)
{
	uint32 ntypes = reader->run->types->ntypes;
	Size f = 0;

	reader->first = border_palloc(reader->run->border, sizeof(Size) * ((Size) ntypes + 1));
	for (uint32 type = 0; type <= ntypes; type++)
	{
		reader->first[type] = f;
		while (f < reader->nflows && type < ntypes && reader->flows[f].type == type)
			f++;
	}
}

/* Why the release before cannot be read, or NULL. */
static const char *
read_before(Run *run, Reader *reader)
{
	const Request *request = run->request;
	const char *why;
	Gate *gate;

	if (!OidIsValid(request->series.previous) || relation_name(request->series.previous) == NULL)
		return "It has no private table of row types, as with stable => false.";
	gate = flows_gate(run->source, request->series.previous);
	if ((why = find_columns(reader, gate)) != NULL)
		return why;
	reader->index = type_index_create(run->types, run->border);
	gate_select(gate,
				psprintf("SELECT %s, " CLASS_COLUMN ", " PATTERN_COLUMN ", " ROWS_COLUMN ", " NUMBER_COLUMN
						 ", " ROW_COLUMN ", " KEY_COLUMN " FROM %s WHERE " ROWS_COLUMN " IS NOT NULL",
						 column_list(run->source->qis, run->source->ngrouped), gate->name),
				true, receive_flow, reader);
	if (reader->nlines == 0 && request->series.rows_before > 0)
		return "Its private table of row types has no line that fits the quasi-identifiers.";
	if (reader->nflows == 0)
		return NULL;
	order_flows(reader);
	number_flows(reader);
	reader->known = border_palloc(run->border, sizeof(bool) * run->types->ntypes);
	memset(reader->known, 0, sizeof(bool) * run->types->ntypes);
	if (run->company != NULL)
		read_rows(reader, gate->name, gate->relid);
	return NULL;
}

/* Unchanged rows are separated: that is told; and refused where histories hang on it. */
static void
begin_anew(Run *run, const char *why, bool grown)
{
	const Request *request = run->request;
	bool guarded = request->series.histories != NULL && OidIsValid(request->series.histories->before);

	/* (persons may have several rows since tonight, without any alteration; histories are verified all the same) */
	if (guarded && !grown)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the next release cannot go on from the one before, whose histories are protected"),
			 errdetail("%s", why),
			 errhint(
				 "Undo what was altered. Or begin new histories: kanon_alter_publication with "
				 "protect_successive => false, a refresh, and true again. Then readers who keep releases can tell who moved.")));
	ereport(NOTICE,
			(errmsg("unchanged rows of publication %s are separated", request->publication),
			 errdetail("The next release cannot go on from the one before. %s", why),
			 grown ? errhint("From this release on they stay together again.")
				   : errhint("Readers who keep releases can tell who moved. Undo what was altered before "
							 "the next refresh, and rows stay together.")));
	run->anew = why;
}

/* ---- which rows are there still ---- */

static void
count_met(Reader *reader, const RowBefore *before)
{
	for (Size f = reader->first[before->type]; f < reader->first[before->type + 1]; f++)
		if (reader->flows[f].class_ == before->class_)
			reader->met[f]++;
}

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	Run *run = reader->run;
	int ngrouped = run->source->ngrouped;
	uint32 type = type_index_find(reader->index, slot->tts_values, slot->tts_isnull);
	const RowBefore *before;
	RowMark mark;

	if (type == DICTIONARY_NONE || !reader->known[type])
		return true;
	mark = company_mark(run->company, reader->desc, ngrouped, reader->desc->natts - ngrouped,
						slot->tts_values + ngrouped, slot->tts_isnull + ngrouped);
	before = company_meet_row(run->company, type, &mark);
	if (before != NULL)
		count_met(reader, before);
	else if (run->company->keyed)
	{
		reader->changed = border_grow(run->border, reader->changed, &reader->room_changed,
									  reader->nchanged + 1, sizeof(RowBefore));
		reader->changed[reader->nchanged++] = (RowBefore){.mark = mark, .type = type};
	}
	return true;
}

/*
 * Flows have the rows that are there still; what has changed or come takes the places of those that are not,
 * but against somebody who knows few columns: what those show counts for itself.
 */
static void
fill_places(Reader *reader)
{
	bool fills = reader->run->problem.known == NULL;

	for (uint32 type = 0; type < reader->run->types->ntypes; type++)
	{
		int64 left = reader->run->types->rows[type];

		if (!reader->known[type])
			continue;
		for (Size f = reader->first[type]; f < reader->first[type + 1]; f++)
			left -= reader->met[f];
		for (Size f = reader->first[type]; f < reader->first[type + 1]; f++)
		{
			int64 filled = fills ? Max(Min(reader->flows[f].rows - reader->met[f], left), 0) : 0;

			reader->flows[f].rows = reader->met[f] + filled;
			left -= filled;
		}
	}
}

/* One more look at the source, if rows of the release before are known one by one. */
static void
meet_rows(Run *run, Reader *reader)
{
	const Source *source = run->source;
	int nkept = source->nkept + successive_columns(run->request);
	Gate *gate;

	if (run->company == NULL || run->company->n == 0)
		return;
	border_progress(run->border, "looking for rows of the release before", 0, -1);
	company_begin(run->company);
	reader->met = border_palloc(run->border, sizeof(int64) * reader->nflows);
	memset(reader->met, 0, sizeof(int64) * reader->nflows);
	gate = gate_create(source->name, source->relid, source->ngrouped + nkept);
	gate_columns(gate, source->qis, source->ngrouped);
	gate_columns(gate, source->kept, nkept);
	reader->desc = gate->desc;
	gate_select(gate,
				psprintf("SELECT %s, %s FROM %s", column_list(source->qis, source->ngrouped),
						 column_list(source->kept, nkept), source->name),
				true, receive_row, reader);
	for (Size i = 0; i < reader->nchanged; i++)
	{
		const RowBefore *before =
			company_meet_key(run->company, reader->changed[i].type, &reader->changed[i].mark);

		if (before != NULL)
			count_met(reader, before);
	}
	border_pfree(run->border, reader->changed);
	fill_places(reader);
}

/* ---- solving ---- */

void
stable_refuse_populations(const Request *request)
{
	if (!request->published || !request->series.stable || request->privacy == NULL ||
		(privacy_find(request->privacy, PRIVACY_DELTA_PRESENCE) < 0 &&
		 privacy_find(request->privacy, PRIVACY_PRESENCE) < 0 && !privacy_k_map(request->privacy)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("under rules about populations model \"%s\" cannot keep unchanged rows together",
					request->model->name),
			 errdetail("The persons of a population who belong to a class depend on all other classes."),
			 errhint("Take model 'full_domain' or 'subtree', or say stable => false.")));
}

/* Hierarchies may have changed: what the rows of a class do not have in common, it does not show. */
static void
look_at_patterns(Run *run, Reader *reader)
{
	const KanonProblem *problem = &run->problem;
	uint32 *sample = border_palloc(run->border, sizeof(uint32) * reader->nclasses);

	memset(sample, 0xff, sizeof(uint32) * reader->nclasses);
	for (Size f = 0; f < reader->nflows; f++)
	{
		const KanonFlow *flow = &reader->flows[f];

		if (sample[flow->class_] == PG_UINT32_MAX)
			sample[flow->class_] = flow->type;
		for (int c = 0; c < problem->ncolumns; c++)
			if (problem->columns[c].code[flow->type] != problem->columns[c].code[sample[flow->class_]])
				kanon_add(&reader->pattern[flow->class_], c);
	}
	border_pfree(run->border, sample);
}

/* Readers keep what they have, rather than get a release that divides classes. */
static void
refuse_unstable(const Run *run, KanonStatus status)
{
	const char *why = run->report.detail;
	const Histories *histories = run->request->series.histories;

	/* others can be held back first */
	if (histories != NULL && !*histories->none && status != KANON_BROKEN)
		return;
	if (status != KANON_INFEASIBLE && status != KANON_NOT_FOUND && status != KANON_RESIDUAL &&
		status != KANON_REST_FORBIDDEN && status != KANON_BROKEN)
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg("no release was found in which unchanged rows stay together"),
		 errdetail("Rows that shared a class in the release before must share one, unless they have "
				   "changed themselves%s%s.",
				   why[0] != '\0' ? ": " : "", why),
		 errhint(
			 "Lower k or the other rules, or let residual be 'suppress'. kanon_alter_publication with stable => false starts anew; then readers who keep releases can tell who moved.")));
}

/* Rows that are all alike need not be known. */
static bool
needs_company(const Run *run)
{
	return run->request->series.types != NULL && run->request->columns.mask_key != NULL &&
		   !run->source->staged_packed && (run->source->nkept > 0 || run->request->series.key != NULL);
}

static KanonStatus
solve_near(Run *run, Reader *reader)
{
	KanonPrevious previous;
	KanonStatus status;
	uint32 *became = border_palloc(run->border, sizeof(uint32) * reader->nclasses);

	meet_rows(run, reader);
	look_at_patterns(run, reader);
	if (run->source->nkept == 0 && run->request->series.key == NULL)
		memset(reader->known, true, sizeof(bool) * run->types->ntypes);
	previous.nclasses = reader->nclasses;
	previous.pattern = reader->pattern;
	previous.nflows = reader->nflows;
	previous.flows = reader->flows;
	previous.by_row = reader->known;
	previous.became = became;
	status = run->request->model->near(run, &previous);
	if (status != KANON_OK)
		refuse_unstable(run, status);
	if (run->company != NULL)
	{
		run->company->became = became;
		run->company->nclasses = reader->nclasses;
	}
	return status;
}

KanonStatus
stable_solve(Run *run)
{
	const Request *request = run->request;
	Reader reader = {.run = run};
	KanonStatus status;

	if (needs_company(run))
	{
		run->company = company_create(request->columns.mask_key, request->series.key != NULL, run->border);
		run->target->company = run->company;
	}
	/* (a first release has nothing to go on from, nor has one after a release of no rows) */
	if (request->series.stable && (OidIsValid(request->series.previous) || request->series.rows_before > 0))
	{
		const char *why = read_before(run, &reader);

		if (why != NULL)
			begin_anew(run, why, reader.grown);
		run->near = why == NULL && reader.nflows > 0;
	}
	status = run->near                    ? solve_near(run, &reader)
			 : request->solve_run != NULL ? request->solve_run(run)
										  : request->solve(&run->problem, &run->release, &run->report);
	if (reader.index != NULL)
	{
		border_pfree(run->border, reader.pattern);
		border_pfree(run->border, reader.flows);
	}
	return status;
}

/* ---- what the next release starts from ---- */

static Oid
create_table(const Source *source, const char *types)
{
	char *columns = column_list(source->qis, source->ngrouped);

	run_utility(psprintf("CREATE TABLE %s AS SELECT %s, 0 AS " CLASS_COLUMN
						 ", ''::pg_catalog.text AS " PATTERN_COLUMN ", 0::pg_catalog.int8 AS " ROWS_COLUMN
						 ", 0 AS " NUMBER_COLUMN ", 0::pg_catalog.int8 AS " ROW_COLUMN
						 ", 0::pg_catalog.int8 AS " KEY_COLUMN " FROM %s WITH NO DATA",
						 types, columns, source->name));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'which row type is in which class of a kanon release; never to be published'",
		types));
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(types))), NoLock,
							false);
}

/* A line of which nothing is there yet.  Classes that readers cannot tell apart are one. */
static TupleTableSlot *
new_line(const Run *run, uint32 class_, uint32 type)
{
	TupleTableSlot *slot = bulk_slot(run->state);
	int beside = run->source->ngrouped;

	memset(slot->tts_isnull, true, sizeof(bool) * (beside + EXTRA_COLUMNS));
	slot->tts_values[beside + CLASS] =
		Int32GetDatum((int32) (run->alike != NULL ? run->alike[class_] : class_));
	slot->tts_values[beside + NUMBER] = Int32GetDatum((int32) type);
	slot->tts_isnull[beside + CLASS] = slot->tts_isnull[beside + NUMBER] = false;
	return slot;
}

static void
note_row(void *arg, uint32 type, uint32 class_, const RowMark *mark)
{
	Run *run = arg;
	int beside = run->source->ngrouped;
	TupleTableSlot *slot = new_line(run, class_, type);

	slot->tts_values[beside + ROW] = Int64GetDatum((int64) mark->row);
	slot->tts_values[beside + KEY] = Int64GetDatum((int64) mark->key);
	slot->tts_isnull[beside + ROW] = slot->tts_isnull[beside + KEY] = false;
	bulk_put(run->state);
}

void
stable_begin(Run *run)
{
	const Source *source = run->source;
	const KanonRelease *release = &run->release;
	int beside = source->ngrouped;
	Oid relid;

	relid = create_table(source, run->request->series.types);
	keep_uncounted(relid);
	run->state_table = table_open(relid, RowExclusiveLock);
	run->state = bulk_begin(run->state_table);
	run->alike =
		shown_class_alike(shown_class_create(run->target, source, &run->problem, release), run->border);
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		TupleTableSlot *slot;

		if (flow->class_ == KANON_DROPPED)
			continue;
		slot = new_line(run, flow->class_, flow->type);
		for (int c = 0; c < source->ngrouped; c++)
			slot->tts_values[c] = dictionary_value(
				source->qis[c].dictionary, run->types->grouped[c].code[flow->type], &slot->tts_isnull[c]);
		slot->tts_values[beside + PATTERN] =
			CStringGetTextDatum(pattern_text(release->classes[flow->class_].pattern, &source->levels));
		slot->tts_values[beside + ROWS] = Int64GetDatum(flow->rows);
		slot->tts_isnull[beside + PATTERN] = slot->tts_isnull[beside + ROWS] = false;
		bulk_put(run->state);
	}
	if (run->company != NULL)
	{
		run->company->note = note_row;
		run->company->arg = run;
	}
}

void
stable_end(Run *run)
{
	(void) bulk_end(run->state);
	table_close(run->state_table, NoLock);
	if (run->alike != NULL)
		border_pfree(run->border, run->alike);
	run->alike = NULL;
	CommandCounterIncrement();
	if (FAULT(types_changed))
		run_utility(psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE pg_catalog.text",
							 run->request->series.types, run->source->qis[0].quoted));
}
