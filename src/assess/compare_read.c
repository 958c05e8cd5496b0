/*
 * compare_read.c: a source and what was published of it, read under one snapshot.
 */
#include <math.h>

#include "compat.h"
#include "assess/assess.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "util/number.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*
 * The last run that wrote the table, or the one that the view shows, has them, if the caller may see its record.
 * Relations that are no longer what they were are not read.
 */
static Jsonb *
recorded_hierarchies(Oid schema, Oid target, ArrayType *names)
{
	const char *name = quote_identifier(name_schema(schema));
	Oid types[2] = {OIDOID, NAMEARRAYOID};
	Datum values[2] = {ObjectIdGetDatum(target), PointerGetDatum(names)};
	Jsonb *found = NULL;
	int nest = catalog_path_begin();
	bool isnull = true;

	if (gate_ask(
			psprintf(
				"SELECT CASE WHEN NOT EXISTS (SELECT FROM " INTERNAL_SCHEMA ".kanon_recorded((SELECT"
				" jsonb_agg(jsonb_build_object('part', e.part, 'name', e.name, 'oid', e.relation::text, 'kind',"
				" e.kind, 'owner', e.owner::oid::text)) FROM %s.kanon_run_relations AS e WHERE e.run = u.run"
				" AND e.part = 'option')) AS r WHERE r.why_not IS NOT NULL)"
				" THEN (SELECT jsonb_object_agg(h.key, CASE WHEN jsonb_typeof(h.value) = 'object'"
				" AND h.value ? 'quantile' THEN jsonb_build_object('k', u.k) || h.value ELSE h.value END)"
				" FROM jsonb_each(u.options -> 'hierarchies') AS h WHERE h.key = ANY ($2)) END FROM %s.kanon_usefulness AS u WHERE u.target_oid = $1"
				" OR u.target_oid IN (SELECT d.refobjid FROM pg_rewrite AS w JOIN pg_depend AS d"
				" ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid ="
				" 'pg_class'::regclass WHERE w.ev_class = $1) ORDER BY u.run DESC LIMIT 1",
				name, name),
			2, types, values, NULL, true, 1) > 0)
	{
		Datum value = gate_value(0, 1, JSONBOID, &isnull);

		found = isnull ? NULL : DatumGetJsonbPCopy(value);
	}
	catalog_path_end(nest);
	return found;
}

Jsonb *
hierarchies_asked(FunctionCallInfo fcinfo, int arg, Oid target, ArrayType *names)
{
	if (!PG_ARGISNULL(arg) || names == NULL)
		return jsonb_arg(fcinfo, arg);
	return recorded_hierarchies(get_func_namespace(fcinfo->flinfo->fn_oid), target, names);
}

void
hierarchies_lacking(const Source *source, int nqis, const KanonRelease *release)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int c = 0; c < nqis; c++)
	{
		bool lacks = false;

		for (uint32 i = 0; i < release->nclasses && source->qis[c].hierarchy == NULL && !lacks; i++)
		{
			KanonCell cell = release->cells[(Size) i * source->nqis + c];

			lacks = cell.show == KANON_SHOW_VALUE && cell.code == WRITTEN_NOTHING_OF_IT;
		}
		if (lacks)
			appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", source->qis[c].quoted);
	}
	if (names.len > 0)
		ereport(NOTICE,
				(errmsg("the target shows values that the source does not have: %s", names.data),
				 errdetail(
					 "The figures count each such cell as a value that no row of the source has: neither the "
					 "call nor a record that you may see names a hierarchy for it."),
				 errhint("If they are labels, name the hierarchies of the call that published.")));
}

/* Quasi-identifiers, and what was kept beside them. */
static ArrayType *
both_lists(ArrayType *qis, ArrayType *keep, int *nqis)
{
	int nkept = 0;
	char **names = name_array(qis, "quasi_identifiers", nqis);
	char **kept = keep != NULL ? name_array(keep, "keep", &nkept) : NULL;
	const char **all = palloc(sizeof(char *) * Max(*nqis + nkept, 1));

	for (int i = 0; i < *nqis; i++)
		all[i] = names[i];
	for (int i = 0; i < nkept; i++)
		all[*nqis + i] = kept[i];
	return name_list(all, *nqis + nkept);
}

/* ---- copies ---- */

#define COPIES "copies"

/* The place of the column that says how many copies there are; -1: the target has none, or the source has it, too. */
static int
group_by_copies(Compared *compared)
{
	const char *name = COPIES;
	int n;

	if (get_attnum(compared->source->relid, name) != InvalidAttrNumber ||
		get_attnum(compared->target->relid, name) <= 0 ||
		get_atttype(compared->target->relid, get_attnum(compared->target->relid, name)) != INT8OID)
		return -1;
	return source_group_by(compared->target,
						   source_columns(compared->target, name_list(&name, 1), "copies", "a number", &n));
}

/* Rows that do not say it count as others do on the average. */
static void
weigh_copies(Compared *compared, int place)
{
	const RowTypes *records = compared->records;
	Dictionary *dictionary = compared->target->qis[place].dictionary;
	double rows = 0, parts = 0;

	compared->weight = border_palloc(compared->border, sizeof(double) * Max(records->ntypes, 1));
	for (uint32 i = 0; i < records->ntypes; i++)
	{
		bool isnull;
		Datum copies = dictionary_value(dictionary, records->grouped[place].code[i], &isnull);

		compared->weight[i] = isnull ? 0 : 1.0 / Max(DatumGetInt64(copies), 1);
		rows += isnull ? 0 : (double) records->rows[i];
		parts += compared->weight[i] * (double) records->rows[i];
	}
	for (uint32 i = 0; i < records->ntypes; i++)
		if (compared->weight[i] == 0)
			compared->weight[i] = rows > 0 ? parts / rows : 1;
}

double
compare_weight(const Compared *compared, uint32 record)
{
	return (double) compared->records->rows[record] *
		   (compared->weight != NULL ? compared->weight[record] : 1);
}

double
compare_records(const Compared *compared)
{
	double all = 0;

	for (uint32 i = 0; i < compared->records->ntypes && compared->weight != NULL; i++)
		all += compare_weight(compared, i);
	return compared->weight != NULL ? all : (double) compared->records->nrows;
}

Compared *
compare_read(Oid source, Oid target, ArrayType *qis, ArrayType *keep, Jsonb *hierarchies, bool copies,
			 const char *who)
{
	Compared *compared = palloc0(sizeof(Compared));
	Border *border = border_create(who);
	ArrayType *names = both_lists(qis, keep, &compared->nqis);
	int place;

	compared->border = border;
	compared->source = source_open_beside(source, names, "quasi_identifiers");
	compared->target = source_open_beside(target, names, "quasi_identifiers");
	compared->n = compared->source->nqis;
	source_hierarchies(compared->source, hierarchies);
	source_lock(compared->target);
	source_snapshot(compared->source);
	source_levels_beside(compared->source, compared->nqis);
	for (int c = 0; c < compared->n; c++)
		written_match(&compared->source->qis[c], &compared->target->qis[c]);
	compared->rows = rowtypes_read(compared->source, border);
	rowtypes_levels(compared->rows, border);
	place = copies ? group_by_copies(compared) : -1;
	compared->records = rowtypes_read(compared->target, border);
	if (place >= 0)
		weigh_copies(compared, place);
	compared->release = written_release(compared->source, compared->records, false, border);
	hierarchies_lacking(compared->source, compared->nqis, compared->release);
	return compared;
}

Spread
compare_spread(const Compared *compared, uint32 record, int column)
{
	KanonCell cell = compared->release->cells[(Size) record * compared->n + column];
	const KanonColumn *values = &compared->rows->grouped[column];
	const uint32 *pool = compared->release->pool;

	switch (cell.show)
	{
		case KANON_SHOW_NOTHING:
			if (column < compared->nqis)
				return (Spread){values->distinct, 0, NULL};
			/* of a kept column it is NULL */
			return (Spread){values->has_null, values->distinct - 1, NULL};
		case KANON_SHOW_VALUE:
			return (Spread){cell.code != WRITTEN_NOTHING_OF_IT, cell.code, NULL};
		case KANON_SHOW_RANGE:
			return (Spread){pool[cell.code + 1] - pool[cell.code] + 1, pool[cell.code], NULL};
		case KANON_SHOW_SET:
			return (Spread){pool[cell.code], 0, &pool[cell.code + 1]};
	}
	return (Spread){0, 0, NULL};
}

void
compare_shares(const Compared *compared, int column, double *before, double *after)
{
	const KanonColumn *values = &compared->rows->grouped[column];
	double *begins = border_palloc(compared->border, sizeof(double) * ((Size) values->distinct + 1));
	double running = 0;

	memset(begins, 0, sizeof(double) * ((Size) values->distinct + 1));
	for (uint32 v = 0; v < values->distinct; v++)
		before[v] = after[v] = 0;
	for (uint32 i = 0; i < compared->rows->ntypes; i++)
		before[values->code[i]] += (double) compared->rows->rows[i];
	for (uint32 i = 0; i < compared->records->ntypes; i++)
	{
		Spread spread = compare_spread(compared, i, column);
		double each = spread.n > 0 ? compare_weight(compared, i) / spread.n : 0;

		CHECK_FOR_INTERRUPTS();
		if (spread.n == 1)
			after[spread.codes != NULL ? spread.codes[0] : spread.first] += each;
		else if (spread.n > 0 && spread.codes == NULL)
		{
			begins[spread.first] += each;
			begins[spread.first + spread.n] -= each;
		}
		else
			for (uint32 j = 0; j < spread.n; j++)
				after[spread.codes[j]] += each;
	}
	for (uint32 v = 0; v < values->distinct; v++)
	{
		running += begins[v];
		after[v] += Max(running, 0);
	}
	border_pfree(compared->border, begins);
}

/*
 * ---- The workload of the anatomy paper (section 6.1 there): how many rows have, in
 * each of some columns, one of b values?  With |A| values of a column and d columns asked about, b
 * = |A| * selectivity ^ (1 / d), rounded up.  A query's values of a column of numbers or dates
 * follow one another, as in a range; of others they are any.  A query asks about one kept column
 * at most, like the paper's sensitive one.
 */

/* A query's values of a column: below[v] of the values before v. */
typedef struct Asked
{
	int column;
	uint32 *below; /* [distinct + 1] */
} Asked;

static uint32
draw(uint64 *state, uint32 n)
{
	return (uint32) (kanon_random_split(state) % n);
}

/* Some b of the first n values. */
static void
ask(Asked *asked, const Compared *compared, double share, uint32 *codes, uint64 *state)
{
	const KanonColumn *values = &compared->rows->grouped[asked->column];
	bool numerical = compared->source->qis[asked->column].numerical;
	uint32 n = values->distinct - (numerical && values->has_null && values->distinct > 1);
	uint32 b = (uint32) Min(ceil(n * share), n);

	memset(asked->below, 0, sizeof(uint32) * ((Size) values->distinct + 1));
	if (numerical)
	{
		uint32 first = draw(state, n - b + 1);

		for (uint32 v = first; v < first + b; v++)
			asked->below[v + 1] = 1;
	}
	else
	{
		for (uint32 v = 0; v < n; v++)
			codes[v] = v;
		for (uint32 v = 0; v < b; v++)
		{
			uint32 other = v + draw(state, n - v);
			uint32 code = codes[other];

			codes[other] = codes[v];
			codes[v] = code;
			asked->below[code + 1] = 1;
		}
	}
	for (uint32 v = 0; v < values->distinct; v++)
		asked->below[v + 1] += asked->below[v];
}

/* The share of a cell's values that are asked about. */
static double
answer(const Asked *asked, Spread spread)
{
	uint32 fitting = 0;

	if (spread.n == 0)
		return 0;
	if (spread.codes == NULL)
		fitting = asked->below[spread.first + spread.n] - asked->below[spread.first];
	else
		for (uint32 j = 0; j < spread.n; j++)
			fitting += asked->below[spread.codes[j] + 1] - asked->below[spread.codes[j]];
	return (double) fitting / spread.n;
}

static double
count_rows(const Compared *compared, const Asked *asked, int n)
{
	double rows = 0;

	for (uint32 i = 0; i < compared->rows->ntypes; i++)
	{
		bool fits = true;

		for (int d = 0; d < n && fits; d++)
			fits = answer(&asked[d], (Spread){1, compared->rows->grouped[asked[d].column].code[i], NULL}) > 0;
		if (fits)
			rows += (double) compared->rows->rows[i];
	}
	return rows;
}

static double
estimate_rows(const Compared *compared, const Asked *asked, int n)
{
	double rows = 0;

	for (uint32 i = 0; i < compared->records->ntypes; i++)
	{
		double share = compare_weight(compared, i);

		for (int d = 0; d < n && share > 0; d++)
			share *= answer(&asked[d], compare_spread(compared, i, asked[d].column));
		rows += share;
	}
	return rows;
}

/* A query asks about some quasi-identifiers, and about one column that was kept. */
static int
choose(const Compared *compared, const Asked *all, int *order, Asked *query, uint64 *state)
{
	int n = 1 + (int) draw(state, compared->nqis);
	int nkept = compared->n - compared->nqis;

	for (int d = 0; d < n; d++)
	{
		int other = d + (int) draw(state, compared->nqis - d);
		int column = order[other];

		order[other] = order[d];
		order[d] = column;
		query[d] = all[column];
	}
	if (nkept > 0)
		query[n++] = all[compared->nqis + (int) draw(state, nkept)];
	return n;
}

int
compare_queries(const Compared *compared, int queries, double selectivity, uint64 seed, double *errors)
{
	Border *border = compared->border;
	uint64 state = seed;
	uint32 most = 1;
	uint32 *codes;
	Asked *all = border_palloc(border, sizeof(Asked) * compared->n);
	Asked *query = border_palloc(border, sizeof(Asked) * compared->n);
	int *order = border_palloc(border, sizeof(int) * compared->n);
	int found = 0;

	if (compared->rows->nrows == 0)
		return 0;
	for (int c = 0; c < compared->n; c++)
	{
		uint32 distinct = compared->rows->grouped[c].distinct;

		order[c] = c;
		all[c] = (Asked){c, border_palloc(border, sizeof(uint32) * ((Size) distinct + 1))};
		most = Max(most, distinct);
	}
	codes = border_palloc(border, sizeof(uint32) * (Size) most);
	for (int q = 0; q < queries; q++)
	{
		int n = choose(compared, all, order, query, &state);
		double rows;

		CHECK_FOR_INTERRUPTS();
		for (int d = 0; d < n; d++)
			ask(&query[d], compared, pow(selectivity, 1.0 / n), codes, &state);
		rows = count_rows(compared, query, n);
		if (rows > 0)
			errors[found++] = fabs(estimate_rows(compared, query, n) - rows) / rows;
	}
	return found;
}
