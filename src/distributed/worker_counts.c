/*
 * worker_counts.c: what workers count of the rows that they have written, where they are.
 *
 * The target does not show who a row is about.  So the rows that were set aside are
 * counted, joined with their classes as they were to be written: how many of each row type,
 * which says the person, went to each class.  In some of them kanon looks for what kept columns tell.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "core/privacy/rules.h"
#include "host/gate.h"
#include "rows/cell_values.h"
#include "rows/verify.h"
#include "host/border.h"
#include "rows/dictionary.h"
#include "rows/row_types.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
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

/* ---- what kept columns tell ---- */

/* Rows that come to be looked at: a few times what the look remembers, so that there are some of which something is hidden. */
#define ROWS_LOOKED_AT 60000

typedef struct HashedType
{
	int64 hash;
	size_t flow; /* the type's first */
} HashedType;

typedef struct LookedAt
{
	TellsLook *look;
	const KanonProblem *problem;
	const KanonRelease *release;
	const int64 *low; /* [nflows] */
	HashedType *types;
	size_t ntypes;
	const uint32 *person; /* [types] or NULL */
} LookedAt;

static int
compare_types(const void *a, const void *b)
{
	int64 left = ((const HashedType *) a)->hash, right = ((const HashedType *) b)->hash;

	return left < right ? -1 : left > right;
}

static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	LookedAt *at = arg;
	const KanonRelease *release = at->release;
	HashedType key = {.hash = DatumGetInt64(slot->tts_values[0])};
	int64 lot = DatumGetInt64(slot->tts_values[1]);
	const HashedType *found = bsearch(&key, at->types, at->ntypes, sizeof(HashedType), compare_types);
	const KanonFlow *flow;
	size_t f;

	/* (whoever writes the rows finds that there are others than were counted) */
	if (found == NULL)
		return true;
	/* the flow of its type with the largest least lot that is not above the row's */
	f = found->flow;
	for (size_t i = f; i < release->nflows && release->flows[i].type == release->flows[f].type; i++)
		if (at->low[i] <= lot && at->low[i] >= at->low[f])
			f = i;
	flow = &release->flows[f];
	if (flow->class_ == KANON_DROPPED)
		return true;
	tells_class(at->look, &release->cells[(size_t) flow->class_ * at->problem->ncolumns]);
	tells_note(at->look, flow->type, slot->tts_values + 2, slot->tts_values + 2, slot->tts_isnull + 2,
			   slot->tts_isnull + 2, at->person != NULL ? at->person[flow->type] : KEPT_NOBODY);
	return true;
}

void
look_at_kept(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release,
			 const LotWords *words, const int64 *hash, const int64 *low, Border *border)
{
	const Source *source = types->source;
	LookedAt at = {
		.look = tells_begin(source, types, border), .problem = problem, .release = release, .low = low};
	double share = ROWS_LOOKED_AT / Max((double) types->nrows, 1);
	Gate *gate;

	if (at.look == NULL)
		return;
	if (counts_persons(problem))
		at.person = problem->extra[kanon_privacy_person(problem->privacy)].code;
	at.types = border_palloc(border, sizeof(HashedType) * Max(types->ntypes, 1));
	for (size_t f = 0; f < release->nflows; f++)
		if (f == 0 || release->flows[f].type != release->flows[f - 1].type)
			at.types[at.ntypes++] = (HashedType){hash[release->flows[f].type], f};
	qsort(at.types, at.ntypes, sizeof(HashedType), compare_types);
	gate = gate_create(source->name, source->relid, 2 + source->nkept);
	gate_computed(gate, "type", INT8OID);
	gate_computed(gate, "lot", INT8OID);
	gate_columns(gate, source->kept, source->nkept);
	/* shards are drawn at random for rows: those of the first numbers are a fair share of them */
	gate_select(
		gate,
		psprintf("SELECT %s, %s, %s FROM %s%s", words->of_row, words->lot,
				 column_list(source->kept, source->nkept), source->name,
				 share < 1 ? psprintf(" WHERE " SHARD_COLUMN " OPERATOR(pg_catalog.<) (%d)::pg_catalog.int4",
									  (int) (PG_INT32_MIN + share * PG_UINT32_MAX))
						   : ""),
		false, receive_row, &at);
	border_pfree(border, at.types);
	types->source->tells = at.look;
}

/* ---- Row types that Citus workers have reported so far (coordinator) ---- */

#define SH_PREFIX hashes
#define SH_ELEMENT_TYPE Told
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(table, key) ((uint32) (key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct ToldTypes
{
	Border *border;
	RandomPool random;
	uint64 seed;
	hashes_hash *hashes;
	Size charged;
	bool iterating;
	hashes_iterator at;
};

ToldTypes *
told_begin(Border *border)
{
	ToldTypes *types = palloc0(sizeof(ToldTypes));

	types->border = border;
	types->seed = random_draw(&types->random);
	types->hashes = hashes_create(border->context, FIRST_SLOTS, NULL);
	return types;
}

Told *
told_add(ToldTypes *types, bytea *value, int64 rows)
{
	bool found;
	Told *told = hashes_insert(types->hashes, packed_told(value), &found);

	border_charge(types->border, types->charged, types->hashes->size * sizeof(Told));
	types->charged = types->hashes->size * sizeof(Told);
	if (!found)
	{
		told->rows = 0;
		told->type = DICTIONARY_NONE;
	}
	told->rows += rows;
	return told;
}

uint64
told_bytes(const ToldTypes *types, bytea *value)
{
	return DatumGetUInt64(
		hash_any_extended((unsigned char *) VARDATA_ANY(value), (int) VARSIZE_ANY_EXHDR(value), types->seed));
}

Told *
told_next(ToldTypes *types)
{
	if (!types->iterating)
		hashes_start_iterate(types->hashes, &types->at);
	types->iterating = true;
	return hashes_iterate(types->hashes, &types->at);
}

void
told_end(ToldTypes *types)
{
	hashes_destroy(types->hashes);
	border_charge(types->border, types->charged, 0);
	pfree(types);
}
