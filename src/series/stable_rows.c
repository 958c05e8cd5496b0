/*
 * stable_rows.c: rows that have not changed stay together in a class.
 *
 * kanon reads the release before from its private table (stable_keep.c).  Each model says how its next release
 * starts from there.
 */
#include "compat.h"
#include "options/together.h"
#include "series/successive.h"
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
 * Columns that are read of the table of the release before: the first columns of the source, and those
 * beside them.
 */
static Gate *
flows_gate(const Source *source, int ngrouped, Oid relid)
{
	Gate *gate = gate_create(name_relation(relid), relid, ngrouped + STABLE_COLUMNS);

	gate_columns(gate, source->qis, ngrouped);
	gate_computed(gate, STABLE_CLASS_COLUMN, INT4OID);
	gate_computed(gate, STABLE_PATTERN_COLUMN, TEXTOID);
	gate_computed(gate, STABLE_ROWS_COLUMN, INT8OID);
	gate_computed(gate, STABLE_NUMBER_COLUMN, INT4OID);
	gate_computed(gate, STABLE_ROW_COLUMN, INT8OID);
	gate_computed(gate, STABLE_KEY_COLUMN, INT8OID);
	return gate;
}

typedef struct Reader
{
	Run *run;
	const RowTypes *types; /* the run's, or */
	uint32 *
		was; /* [the run's types] without the key, which of those each is: persons are counted since tonight */
	TypeIndex *index;
	KanonPattern *pattern; /* [room_classes] */
	KanonFlow *flows;      /* [room_flows] */
	uint32 *type;          /* [room_numbers] what a row type of the release before is in this one */
	uint32 nclasses, nnumbers;
	Size nflows, room_classes, room_flows, room_numbers;
	int64 nlines; /* of flows of the release before */

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
find_columns(const Gate *gate)
{
	Relation rel = try_relation_open(gate->relid, AccessShareLock);
	const char *why = NULL;

	if (rel == NULL)
		return "Its private table of row types is gone.";
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		why = "Its private table of row types is no table any more.";
	for (int i = 0; i < gate->desc->natts && why == NULL; i++)
		if (!has_column(RelationGetDescr(rel), TupleDescAttr(gate->desc, i)))
			why = psprintf("Its row types do not have column \"%s\", or have it with another type.",
						   NameStr(TupleDescAttr(gate->desc, i)->attname));
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
	const Source *source = reader->types->source;
	int beside = source->ngrouped;
	uint32 type = type_index_find(reader->index, slot->tts_values, slot->tts_isnull);
	int32 class_ = number_at(slot, beside + STABLE_CLASS, KANON_MAX_TYPES);
	int32 number = number_at(slot, beside + STABLE_NUMBER, KANON_MAX_TYPES);
	char *pattern = slot->tts_isnull[beside + STABLE_PATTERN]
						? NULL
						: TextDatumGetCString(slot->tts_values[beside + STABLE_PATTERN]);

	if (class_ < 0 || pattern == NULL || strlen(pattern) != source->nqis ||
		slot->tts_isnull[beside + STABLE_ROWS] || DatumGetInt64(slot->tts_values[beside + STABLE_ROWS]) <= 0)
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
		(KanonFlow){type, (uint32) class_, DatumGetInt64(slot->tts_values[beside + STABLE_ROWS])};
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

	gate_computed(gate, STABLE_CLASS_COLUMN, INT4OID);
	gate_computed(gate, STABLE_NUMBER_COLUMN, INT4OID);
	gate_computed(gate, STABLE_ROW_COLUMN, INT8OID);
	gate_computed(gate, STABLE_KEY_COLUMN, INT8OID);
	gate_select(gate,
				psprintf("SELECT " STABLE_CLASS_COLUMN ", " STABLE_NUMBER_COLUMN ", " STABLE_ROW_COLUMN
						 ", " STABLE_KEY_COLUMN " FROM %s WHERE " STABLE_ROWS_COLUMN " IS NULL",
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
	uint32 ntypes = reader->types->ntypes;
	Size f = 0;

	reader->first = border_palloc(reader->run->border, sizeof(Size) * ((Size) ntypes + 1));
	for (uint32 type = 0; type <= ntypes; type++)
	{
		reader->first[type] = f;
		while (f < reader->nflows && type < ntypes && reader->flows[f].type == type)
			f++;
	}
}

/* Tonight persons are counted, and rows were before: the key did not tell row types apart. */
static bool
counts_persons_since(const Run *run)
{
	const Source *source = run->source;
	const char *key = run->request->series.key;

	return key != NULL && strcmp(source->qis[source->ngrouped - 1].name, key) == 0 &&
		   get_attnum(run->request->series.previous, key) == InvalidAttrNumber;
}

/*
 * A type of the release before has become one for each person.  Each is where all of it was, or where its rows are met.  False:
 * it was in several classes, and nobody knows whose rows were where.
 */
static bool
tell_persons_apart(Reader *reader)
{
	Run *run = reader->run;
	const bool *known = reader->known;
	const KanonFlow *flows = reader->flows;
	uint32 ntypes = run->types->ntypes;

	reader->flows = NULL;
	reader->nflows = reader->room_flows = 0;
	reader->known = border_palloc(run->border, sizeof(bool) * Max(ntypes, 1));
	for (uint32 type = 0; type < ntypes; type++)
	{
		uint32 was = reader->was[type];
		Size n = reader->first[was + 1] - reader->first[was];

		reader->known[type] = known[was];
		if (n > 1 && !known[was])
			return false;
		reader->flows = border_grow(run->border, reader->flows, &reader->room_flows, reader->nflows + n,
									sizeof(KanonFlow));
		for (Size f = reader->first[was]; f < reader->first[was + 1]; f++)
			reader->flows[reader->nflows++] =
				(KanonFlow){type, flows[f].class_, known[was] ? 0 : run->types->rows[type]};
	}
	run->company->was = reader->was;
	reader->types = run->types;
	reader->index = type_index_create(run->types, run->border);
	number_flows(reader);
	return true;
}

/* Why the release before cannot be read, or NULL. */
static const char *
read_before(Run *run, Reader *reader)
{
	const Request *request = run->request;
	const char *why;
	Gate *gate;
	int ngrouped;

	if (!OidIsValid(request->series.previous) || relation_name(request->series.previous) == NULL)
		return "It has no private table of row types, as with stable => false.";
	if (run->company != NULL && counts_persons_since(run))
	{
		reader->was = border_palloc(run->border, sizeof(uint32) * Max(run->types->ntypes, 1));
		reader->types = rowtypes_without_last(run->types, reader->was, run->border);
	}
	ngrouped = reader->types->source->ngrouped;
	gate = flows_gate(run->source, ngrouped, request->series.previous);
	if ((why = find_columns(gate)) != NULL)
		return why;
	reader->index = type_index_create(reader->types, run->border);
	gate_select(gate,
				psprintf("SELECT %s, " STABLE_CLASS_COLUMN ", " STABLE_PATTERN_COLUMN ", " STABLE_ROWS_COLUMN
						 ", " STABLE_NUMBER_COLUMN ", " STABLE_ROW_COLUMN ", " STABLE_KEY_COLUMN
						 " FROM %s WHERE " STABLE_ROWS_COLUMN " IS NOT NULL",
						 column_list(run->source->qis, ngrouped), gate->name),
				true, receive_flow, reader);
	if (reader->nlines == 0 && request->series.rows_before > 0)
		return "Its private table of row types has no line that fits the quasi-identifiers.";
	if (reader->nflows == 0)
		return NULL;
	order_flows(reader);
	number_flows(reader);
	reader->known = border_palloc(run->border, sizeof(bool) * reader->types->ntypes);
	memset(reader->known, 0, sizeof(bool) * reader->types->ntypes);
	if (run->company != NULL)
		read_rows(reader, gate->name, gate->relid);
	if (reader->was != NULL && !tell_persons_apart(reader))
		return "Its private table does not tell whose rows were in which class.";
	return NULL;
}

/* Unchanged rows are separated: that is told; and refused where histories hang on it. */
static void
begin_anew(Run *run, const char *why)
{
	const Request *request = run->request;

	if (request->series.histories != NULL && OidIsValid(request->series.histories->before))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the next release cannot go on from the one before, whose histories are protected"),
			 errdetail("%s", why),
			 errhint(
				 "Undo what was altered. Or begin new histories: kanon_alter_publication with "
				 "protect_successive => false, a refresh, and true again. Then readers who keep releases can tell who moved.")));
	ereport(NOTICE, (errmsg("unchanged rows of publication %s are separated", request->publication),
					 errdetail("The next release cannot go on from the one before. %s", why),
					 errhint("Readers who keep releases can tell who moved. Undo what was altered before "
							 "the next refresh, and rows stay together.")));
	run->anew = why;
}

/* ---- which rows are there still ---- */

static void
count_met(Reader *reader, uint32 type, const RowBefore *before)
{
	for (Size f = reader->first[type]; f < reader->first[type + 1]; f++)
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
		count_met(reader, type, before);
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
			count_met(reader, reader->changed[i].type, before);
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
	together_refuse(TOGETHER_STABLE_POPULATIONS, request->model->name, NULL);
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

/* Finds where the rows of each class are now; dropped rows will come back together, or not at all. */
static void
follow_rows(Run *run, const Reader *reader, const uint32 *became)
{
	Company *company = run->company;
	const KanonRelease *release = &run->release;
	int64 *left = border_palloc(run->border, sizeof(int64) * Max(run->types->ntypes, 1));

	company->became = became;
	company->nclasses = reader->nclasses;
	company->pattern = reader->pattern;
	company->dropped = border_palloc(run->border, sizeof(KanonFlow) * Max(reader->nflows, 1));
	memset(left, 0, sizeof(int64) * run->types->ntypes);
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ == KANON_DROPPED)
			left[release->flows[f].type] += release->flows[f].rows;
	for (Size f = 0; f < reader->nflows; f++)
	{
		KanonFlow flow = reader->flows[f];

		flow.rows = Min(flow.rows, left[flow.type]);
		if (became[flow.class_] != KANON_DROPPED || flow.rows == 0)
			continue;
		left[flow.type] -= flow.rows;
		company->dropped[company->ndropped++] = flow;
	}
	border_pfree(run->border, left);
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
	if (run->none)
	{
		memset(became, 0xff, sizeof(uint32) * reader->nclasses);
		status = kanon_release_nobody(&run->problem, &run->release, &run->report);
	}
	else
		status = run->request->model->near(run, &previous);
	if (status != KANON_OK)
		refuse_unstable(run, status);
	if (run->company != NULL && status == KANON_OK)
		follow_rows(run, reader, became);
	return status;
}

/* The kept column that alone says which row it is; -1: there is none. */
static int
find_person(const Run *run)
{
	const char *person = run->request->linked.person;

	for (int i = 0; i < run->source->nkept && person != NULL; i++)
		if (strcmp(run->source->kept[i].name, person) == 0)
			return i;
	return -1;
}

KanonStatus
stable_solve(Run *run)
{
	const Request *request = run->request;
	Reader reader = {.run = run, .types = run->types};
	KanonStatus status;

	if (needs_company(run))
	{
		run->company = company_create(request->columns.mask_key, request->series.key != NULL,
									  find_person(run), run->border);
		run->target->company = run->company;
	}
	/* (a first release has nothing to go on from, nor has one after a release of no rows) */
	if (request->series.stable && (OidIsValid(request->series.previous) || request->series.rows_before > 0))
	{
		const char *why = read_before(run, &reader);

		if (why != NULL)
			begin_anew(run, why);
		run->near = why == NULL && reader.nflows > 0;
	}
	status = run->near                    ? solve_near(run, &reader)
			 : run->none                  ? kanon_release_nobody(&run->problem, &run->release, &run->report)
			 : request->solve_run != NULL ? request->solve_run(run)
										  : request->solve(&run->problem, &run->release, &run->report);
	run->near = run->near && !run->none;
	if (reader.index != NULL)
	{
		if (run->company == NULL)
			border_pfree(run->border, reader.pattern);
		border_pfree(run->border, reader.flows);
	}
	return status;
}
