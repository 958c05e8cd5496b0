/*
 * compare_read.c: a source and what was published of it, read under one snapshot.
 */
#include "compat.h"
#include "assess/assess.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/dictionary.h"

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
	const char *name = quote_identifier(get_namespace_name(schema));
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
				" THEN (SELECT jsonb_object_agg(h.key, h.value) FROM jsonb_each(u.options -> 'hierarchies')"
				" AS h WHERE h.key = ANY ($2)) END FROM %s.kanon_usefulness AS u WHERE u.target_oid = $1"
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
				 errdetail("The figures take them for values of nobody: neither the call nor a record "
						   "that you may see names a hierarchy for them."),
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

Compared *
compare_read(Oid source, Oid target, ArrayType *qis, ArrayType *keep, Jsonb *hierarchies, const char *who)
{
	Compared *compared = palloc0(sizeof(Compared));
	Border *border = border_create(who);
	ArrayType *names = both_lists(qis, keep, &compared->nqis);

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
	compared->records = rowtypes_read(compared->target, border);
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
		double each = spread.n > 0 ? (double) compared->records->rows[i] / spread.n : 0;

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
