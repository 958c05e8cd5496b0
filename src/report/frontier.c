/*
 * frontier.c: the section on other ks, which alone reads the source.
 */
#include "compat.h"
#include "core/kanon.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "report/report.h"
#include "report/svg.h"

#include <math.h>

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* kanon_frontier's arguments, as kanon--1.0.sql declares them. */
static const Oid frontier_types[] = {REGCLASSOID, NAMEARRAYOID, INT8ARRAYOID,  TEXTOID,      TEXTARRAYOID,
									 JSONBOID,    FLOAT8OID,    FLOAT8OID,     NAMEARRAYOID, FLOAT8ARRAYOID,
									 JSONBOID,    TEXTOID,      JSONBARRAYOID, NAMEARRAYOID, TEXTOID,
									 INTERVALOID, INT8OID};

#define FRONTIER_ARGS ((int) lengthof(frontier_types))

/* Its entry in the catalog, which says what it returns: nobody else's has these very types. */
static Oid
frontier_oid(Oid schema)
{
	Oid oid = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("kanon_frontier"),
							  PointerGetDatum(buildoidvector(frontier_types, FRONTIER_ARGS)),
							  ObjectIdGetDatum(schema));

	if (!OidIsValid(oid))
		elog(ERROR, "function kanon_frontier is missing");
	return oid;
}

static Rows *
call_frontier(const Report *report, const NullableDatum *args)
{
	Rows *rows = palloc(sizeof(Rows));
	ReturnSetInfo result = {.type = T_ReturnSetInfo, .allowedModes = SFRM_Materialize};
	FmgrInfo function = {.fn_addr = kanon_frontier,
						 .fn_oid = frontier_oid(report->schema_oid),
						 .fn_nargs = FRONTIER_ARGS,
						 .fn_retset = true,
						 .fn_mcxt = CurrentMemoryContext};
	LOCAL_FCINFO(fcinfo, FRONTIER_ARGS);
	TupleTableSlot *slot;

	result.econtext = CreateStandaloneExprContext();
	InitFunctionCallInfoData(*fcinfo, &function, FRONTIER_ARGS, InvalidOid, NULL, (Node *) &result);
	memcpy(fcinfo->args, args, sizeof(NullableDatum) * FRONTIER_ARGS);
	(void) FunctionCallInvoke(fcinfo);

	rows->view = "kanon_frontier";
	rows->n = (int) tuplestore_tuple_count(result.setResult);
	rows->table = palloc0(sizeof(SPITupleTable));
	rows->table->tupdesc = result.setDesc;
	rows->table->vals = palloc(sizeof(HeapTuple) * rows->n);
	slot = MakeSingleTupleTableSlot(result.setDesc, &TTSOpsMinimalTuple);
	for (int i = 0; tuplestore_gettupleslot(result.setResult, true, false, slot); i++)
		rows->table->vals[i] = ExecCopySlotHeapTuple(slot);
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(result.setResult);
	return rows;
}

/*
 * The recorded call again, for other ks.  Its arguments are read with kanon's own
 * search_path; the source's views may rely on the caller's.
 */
static Rows *
select_frontier(Report *report)
{
	NullableDatum args[lengthof(frontier_types)];
	int nest = catalog_path_begin();

	(void) select_rows(report, "options",
					   "SELECT c.oid::regclass,"
					   " ARRAY(SELECT x::name FROM jsonb_array_elements_text(o -> 'quasi_identifiers') AS x),"
					   " $2, o ->> 'method',"
					   " CASE WHEN o ? 'patterns' THEN"
					   "  ARRAY(SELECT x FROM jsonb_array_elements_text(o -> 'patterns') AS x) END,"
					   " o -> 'rules', (o ->> 'gap')::float8, (o ->> 'effort')::float8, ARRAY[]::name[],"
					   " CASE WHEN o ? 'weights' THEN"
					   "  ARRAY(SELECT x::float8 FROM jsonb_array_elements_text(o -> 'weights') AS x) END,"
					   " o -> 'hierarchies', coalesce(o ->> 'level_cost', 'ncp'), NULL::jsonb[],"
					   " ARRAY(SELECT x::name FROM jsonb_array_elements_text(o -> 'categorical') AS x),"
					   " o ->> 'residual', (o ->> 'time_limit')::interval, (o ->> 'seed')::bigint"
					   " FROM {}.kanon_usefulness u, LATERAL (SELECT u.options AS o) o,"
					   " pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
					   " WHERE u.run = $1 AND format('%I.%I', n.nspname, c.relname) = u.source");
	catalog_path_end(nest);
	for (int i = 0; i < FRONTIER_ARGS; i++)
		args[i].value = gate_value(0, i + 1, frontier_types[i], &args[i].isnull);
	return call_frontier(report, args);
}

void
put_frontier(Report *report)
{
	StringInfo page = &report->page;
	Rows *ks;
	SvgPoint *points;
	SvgLine chart = {.caption = {"frontier-chart", "Share of blank cells by k", NULL}, .x_name = "k"};

	if (report->ks == (Datum) 0)
		return;
	html(page, "<section id='frontier'><h2>What other ks would cost</h2>\n");
	if (value_of(report->run_row, 0, "source_oid") == NULL)
	{
		html(page, "<p>The source is not there any more, so other ks cannot be tried.</p></section>\n");
		return;
	}
	if (kanon_solver_find(value_of(report->run_row, 0, "method")) == NULL)
	{
		html(
			page,
			"<p>Other ks can be tried only for what <code>kanon_pattern_guided</code> published.</p></section>\n");
		return;
	}
	ks = select_frontier(report);
	points = palloc(sizeof(SvgPoint) * ks->n);
	for (int i = 0; i < ks->n; i++)
	{
		SvgPoint point = {count_of(ks, i, "k"), number_of(ks, i, "suppressed_share"), value_of(ks, i, "k")};

		/* not for a k that has no release */
		if (!isnan(point.share))
			points[chart.npoints++] = point;
	}
	chart.points = points;
	chart.mark = count_of(report->run_row, 0, "k");
	chart.mark_label = psprintf("published: k = %s", value_of(report->run_row, 0, "k"));
	html(page,
		 "<p>With the same rules, tried on the source as it was when this page was made. A larger k hides "
		 "every row among more, and leaves more cells blank.</p>\n");
	if (chart.npoints > 0)
	{
		chart.caption.description =
			psprintf("From %.1f per cent at k = %s to %.1f per cent at k = %s.", 100 * points[0].share,
					 points[0].label, 100 * points[chart.npoints - 1].share, points[chart.npoints - 1].label);
		html(page, "<figure><figcaption>Share of blank cells by k</figcaption>\n");
		svg_line(page, &chart);
		html(page, "</figure>\n");
	}
	TABLE_BEGIN(page, "", "Releases for several ks", {"k", true}, {"Blank cells", true}, {"Share", true},
				{"Usefulness", true}, {"GCP", true}, {"Classes", true}, {"Average class", true},
				{"Largest class", true}, {"Left over", true});
	for (int i = 0; i < ks->n; i++)
		html(
			page,
			"<tr data-key='%s'%h><th scope='row' class='num'>%s</th><td class='num'>%h</td><td class='num'>%h</td>"
			"<td class='num'>%h</td><td class='num'>%h</td><td class='num'>%h</td><td class='num'>%h</td>"
			"<td class='num'>%h</td><td class='num'>%h</td></tr>\n",
			value_of(ks, i, "k"), count_of(ks, i, "k") == chart.mark ? " class='here'" : "",
			value_of(ks, i, "k"), figure(ks, i, "suppressed_cells", COUNT),
			figure(ks, i, "suppressed_share", SHARE), figure(ks, i, "usefulness", NUMBER),
			figure(ks, i, "gcp", SHARE), figure(ks, i, "classes", COUNT), figure(ks, i, "class_avg", MEAN),
			figure(ks, i, "class_max", COUNT), figure(ks, i, "residual_rows", COUNT));
	table_end(page);
	html(page, "</section>\n");
}
