/*
 * rehearsal.c: what would be told of kept columns, of a release that nobody writes.
 *
 * Identifying and telling columns are found in rows with their classes.  Here rows wait since they were read, and are
 * dealt out to the flows of their types in the order in which they came.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "rows/target.h"
#include "rows/verify.h"

#include "miscadmin.h"

typedef struct Rehearsal
{
	const KanonProblem *problem;
	const KanonRelease *release;
	size_t *flow;         /* [ntypes] at hand, */
	int64 *left;          /* [ntypes] and rows still to come of it */
	const uint32 *person; /* [ntypes]; NULL: no rule says whom rows are about */
	KeptLook *look;
	TellsLook *tells;
} Rehearsal;

/* The class of the next row of a type: flows are sorted by types. */
static uint32
deal(Rehearsal *rehearsal, uint32 type)
{
	const KanonFlow *flows = rehearsal->release->flows;

	if (rehearsal->left[type] == 0)
	{
		rehearsal->flow[type]++;
		if (rehearsal->flow[type] >= rehearsal->release->nflows || flows[rehearsal->flow[type]].type != type)
			raise_source_changed();
		rehearsal->left[type] = flows[rehearsal->flow[type]].rows;
	}
	rehearsal->left[type]--;
	return flows[rehearsal->flow[type]].class_;
}

static void
begin_flows(Rehearsal *rehearsal, uint32 ntypes, Border *border)
{
	const KanonRelease *release = rehearsal->release;

	rehearsal->flow = border_palloc(border, sizeof(size_t) * Max(ntypes, 1));
	rehearsal->left = border_palloc(border, sizeof(int64) * Max(ntypes, 1));
	for (size_t f = release->nflows; f-- > 0;)
	{
		rehearsal->flow[release->flows[f].type] = f;
		rehearsal->left[release->flows[f].type] = release->flows[f].rows;
	}
}

static void
take_row(Rehearsal *rehearsal, uint32 type, const Datum *kept, const bool *nulls)
{
	uint32 class_ = deal(rehearsal, type), person = KEPT_NOBODY;

	if (class_ == KANON_DROPPED)
		return;
	if (rehearsal->person != NULL)
		person = rehearsal->person[type];
	else if (rehearsal->look != NULL)
		person = kept_person(rehearsal->look, kept, nulls);
	if (rehearsal->look != NULL)
		kept_note(rehearsal->look, kept, nulls, person);
	if (rehearsal->tells == NULL)
		return;
	tells_class(rehearsal->tells, &rehearsal->release->cells[(size_t) class_ * rehearsal->problem->ncolumns]);
	tells_note(rehearsal->tells, type, kept, kept, nulls, nulls, person);
}

void
target_rehearse(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release, bool keyed,
				Border *border)
{
	const Source *source = types->source;
	int persons = problem->privacy != NULL ? kanon_privacy_person(problem->privacy) : -1;
	Rehearsal rehearsal = {.problem = problem,
						   .release = release,
						   .person = persons >= 0 ? problem->extra[persons].code : NULL,
						   .look = kept_begin(source, keyed ? source->nkept - 1 : -1, types->nrows, border),
						   .tells = tells_begin(source, types, border)};
	const Datum *kept;
	const bool *nulls;
	uint32 type;

	begin_flows(&rehearsal, types->ntypes, border);
	source_lock(source);
	while (waiting_next(types->waiting, &type, &kept, &nulls))
	{
		CHECK_FOR_INTERRUPTS();
		take_row(&rehearsal, type, kept, nulls);
	}
	waiting_end(types->waiting);
	if (rehearsal.look != NULL)
		kept_end(rehearsal.look);
	if (rehearsal.tells != NULL)
		tells_end(rehearsal.tells);
}
