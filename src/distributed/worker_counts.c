/*
 * worker_counts.c: what workers count of the rows that they have written, where they are.
 *
 * The target does not show who a row is about.  So the rows that were set aside are
 * counted, joined with their classes as they were to be written: how many of each row type,
 * which says the person, went to each class.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "core/privacy/rules.h"
#include "host/gate.h"
#include "rows/cell_values.h"
#include "rows/verify.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

bool
counts_persons(const KanonProblem *problem)
{
	return problem->privacy != NULL && kanon_privacy_person(problem->privacy) >= 0;
}

typedef struct FlowKey
{
	int64 hash;
	uint32 class_;
	size_t flow;
} FlowKey;

typedef struct FlowCount
{
	const char *name; /* of what was counted */
	FlowKey *keys;    /* ascending */
	size_t n;
	int64 *rows; /* [nflows] */
} FlowCount;

static int
compare_keys(const void *a, const void *b)
{
	const FlowKey *left = a, *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->class_ < right->class_ ? -1 : left->class_ > right->class_;
}

static bool
receive_flow(void *arg, TupleTableSlot *slot)
{
	FlowCount *count = arg;
	FlowKey key = {.hash = DatumGetInt64(slot->tts_values[0]),
				   .class_ = (uint32) DatumGetInt32(slot->tts_values[1])};
	FlowKey *found = bsearch(&key, count->keys, count->n, sizeof(FlowKey), compare_keys);

	if (found == NULL)
		raise_unsafe("Rows went to other classes than the release says.");
	count->rows[found->flow] += gate_rows(count->name, slot, 2, count->rows[found->flow]);
	return true;
}

void
counted_persons(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release,
				const int64 *hash, const char *rows, Border *border)
{
	Gate *gate = gate_create(types->source->name, types->source->relid, 3);
	Size most = Max(release->nflows, 1);
	FlowCount count = {.name = types->source->name,
					   .keys = border_palloc(border, sizeof(FlowKey) * most),
					   .rows = border_palloc(border, sizeof(int64) * most)};

	memset(count.rows, 0, sizeof(int64) * most);
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			count.keys[count.n++] = (FlowKey){hash[release->flows[f].type], release->flows[f].class_, f};
	qsort(count.keys, count.n, sizeof(FlowKey), compare_keys);
	gate_computed(gate, "type", INT8OID);
	gate_computed(gate, "class", INT4OID);
	gate_computed(gate, "count", INT8OID);
	gate_select(
		gate, psprintf("SELECT t.type, t.class, pg_catalog.count(*) FROM %s GROUP BY t.type, t.class", rows),
		false, receive_flow, &count);
	persons_counted(problem, release, count.rows, border);
	border_pfree(border, count.keys);
	border_pfree(border, count.rows);
}

void
counted_kept(const Source *source, const KanonProblem *problem, const char *rows, int64 written,
			 Border *border)
{
	KeptLook *look = kept_begin(source, -1, 0, border);

	if (look == NULL)
		return;
	kept_count(look, source, source->functions, rows, "s.",
			   psprintf("pg_catalog.hash_record_extended(ROW(s.%s), 0)",
						source->qis[source->nqis + kanon_privacy_person(problem->privacy)].quoted),
			   written);
	kept_end(look);
}
