/*
 * class_lots.c: row types whose rows go to several classes, on workers: each class takes
 * the rows between two thresholds, on lots that no other use of the place tells anything of.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "distributed/citus.h"
#include "host/gate.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"

typedef struct Split
{
	const KanonRelease *release;
	const int64 *hash; /* of types */
	int64 *low;        /* of flows */
	int64 *high;
	int64 *hashes; /* of types that are split, ascending */
	size_t *flows; /* the first flow of each */
	size_t n;
	size_t at;   /* the type whose rows come in: n before the first */
	size_t flow; /* takes the next row, */
	int64 room;  /* and so many */
} Split;

static void
raise_other_rows(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("the rows that were set aside have changed"), errhint("Run the call again.")));
}

/* Rows come by type and hash of their place: where a class has its rows, the next one begins. */
static bool
receive_place(void *arg, TupleTableSlot *slot)
{
	Split *split = arg;
	const KanonRelease *release = split->release;
	int64 hash = DatumGetInt64(slot->tts_values[0]);
	int64 place = DatumGetInt64(slot->tts_values[1]);

	if (split->at == split->n || split->hashes[split->at] != hash)
	{
		split->at = split->at == split->n ? 0 : split->at + 1;
		if (split->at == split->n || split->hashes[split->at] != hash)
			raise_other_rows();
		split->flow = split->flows[split->at];
		split->room = release->flows[split->flow].rows;
		split->low[split->flow] = PG_INT64_MIN;
	}
	if (split->room == 0)
	{
		uint32 type = release->flows[split->flow].type;

		split->high[split->flow] = place - 1;
		split->flow++;
		if (split->flow == release->nflows || release->flows[split->flow].type != type)
			raise_other_rows();
		split->room = release->flows[split->flow].rows;
		split->low[split->flow] = place;
	}
	split->high[split->flow] = PG_INT64_MAX;
	split->room--;
	return true;
}

static int
compare_flows_by_hash(const void *a, const void *b, void *arg)
{
	const Split *split = arg;
	int64 left = split->hash[split->release->flows[*(const size_t *) a].type];
	int64 right = split->hash[split->release->flows[*(const size_t *) b].type];

	return left < right ? -1 : left > right;
}

/* The first flow of each type that has several. */
static void
find_split_types(Split *split, Border *border)
{
	const KanonRelease *release = split->release;

	split->flows = border_palloc(border, sizeof(size_t) * release->nflows);
	for (size_t f = 0; f + 1 < release->nflows; f++)
		if (release->flows[f].type == release->flows[f + 1].type &&
			(f == 0 || release->flows[f - 1].type != release->flows[f].type))
			split->flows[split->n++] = f;
	qsort_arg(split->flows, split->n, sizeof(size_t), compare_flows_by_hash, split);
	split->hashes = border_palloc(border, sizeof(int64) * Max(split->n, 1));
	for (size_t i = 0; i < split->n; i++)
		split->hashes[i] = split->hash[release->flows[split->flows[i]].type];
	split->at = split->n;
}

/* The places of all of these types' rows are looked at, and nothing else of them. */
static void
find_thresholds(Split *split, const Source *source, const LotWords *words, Border *border)
{
	StringInfoData sql;
	Gate *gate;

	if (split->n > CITUS_MOST_NUMBERS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("more than %d row types go to several classes each", CITUS_MOST_NUMBERS),
						errhint("SET kanon.distribute = 'off', and all rows pass through this server.")));
	border_charge(border, 0, CITUS_NUMBER * split->n);
	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "SELECT %s, %s FROM %s WHERE %s OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.int8[])"
					 " ORDER BY 1, 2",
					 words->of_row, words->lot, source->name, words->of_row,
					 citus_send_numbers(words->schema, split->hashes, (int) split->n));
	border_charge(border, CITUS_NUMBER * split->n, 0);
	gate = gate_create(source->name, source->relid, 2);
	gate_computed(gate, "type", INT8OID);
	gate_computed(gate, "place", INT8OID);
	gate_select(gate, sql.data, true, receive_place, split);
	if (split->at != split->n - 1 || split->room != 0)
		raise_other_rows();
}

bool
divide_types(const Source *source, const LotWords *words, const KanonRelease *release, const int64 *hash,
			 int64 *low, int64 *high, Border *border)
{
	Split split = {.release = release, .hash = hash, .low = low, .high = high};

	for (size_t f = 0; f < release->nflows; f++)
	{
		low[f] = PG_INT64_MIN;
		high[f] = PG_INT64_MAX;
	}
	find_split_types(&split, border);
	if (split.n > 0)
		find_thresholds(&split, source, words, border);
	border_pfree(border, split.flows);
	border_pfree(border, split.hashes);
	return split.n > 0;
}
