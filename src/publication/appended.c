/*
 * appended.c: what a publication that appends is made of: its definition, its private tables, and the partitioned
 * table of its batches.
 */
#include "compat.h"
#include "options/together.h"
#include "host/attempt.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "publication/appended.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

enum
{
	APPENDED_BATCHES,
	APPENDED_MARKS,
	APPENDED_SHOWN,
	APPENDED_WAITING,
	APPENDED_TABLES
};

static Oid
own(const KanonPublication *publication, List *relids, int n, char relkind)
{
	Oid relid = n < list_length(relids) ? list_nth_oid(relids, n) : InvalidOid;

	return publication_owns(publication, relid, relkind) ? relid : InvalidOid;
}

void
appended_read(KanonPublication *publication, const Row *row)
{
	List *relids = row_relations(row, "appended");

	publication->append = row_text(row, "append");
	publication->grows = row_bool(row, "grows");
	publication->batches = own(publication, relids, APPENDED_BATCHES, RELKIND_PARTITIONED_TABLE);
	publication->marks = own(publication, relids, APPENDED_MARKS, RELKIND_RELATION);
	publication->shown = own(publication, relids, APPENDED_SHOWN, RELKIND_RELATION);
	publication->waiting = own(publication, relids, APPENDED_WAITING, RELKIND_RELATION);
}

void
appended_store(const KanonPublication *publication, Parameters *parameters)
{
	parameter_text(parameters, publication->append);
	parameter(parameters, BOOLOID, BoolGetDatum(publication->grows), false);
	parameter_relations(parameters, publication->append == NULL
										? NIL
										: list_make4_oid(publication->batches, publication->marks,
														 publication->shown, publication->waiting));
}

Oid
publication_shows(const KanonPublication *publication, const Release *release)
{
	return publication->append != NULL ? publication->batches : release->relation;
}

List *
appended_tables(const KanonPublication *publication)
{
	Oid all[] = {publication->batches, publication->marks, publication->shown, publication->waiting};
	List *tables = NIL;

	for (int i = 0; i < lengthof(all); i++)
		if (OidIsValid(all[i]))
			tables = lappend_oid(tables, all[i]);
	return tables;
}

/* Rows of a batch that becomes a partition are checked by the conditions of the table. */
static void
refuse_conditions(const KanonPublication *publication)
{
	Relation rel =
		OidIsValid(publication->batches) ? relation_open(publication->batches, AccessShareLock) : NULL;
	bool plain = rel == NULL || (rel->trigdesc == NULL &&
								 (rel->rd_att->constr == NULL || rel->rd_att->constr->num_check == 0));

	if (rel != NULL)
		relation_close(rel, NoLock);
	if (!plain)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the table of all batches of publication %s has triggers or constraints",
							   publication->name),
						errhint("Take them away: batches stay as they were verified.")));
}

void
appended_trust(const KanonPublication *publication)
{
	ListCell *lc;

	if (!OidIsValid(publication->shown) || !OidIsValid(publication->waiting) ||
		(publication->grows && !OidIsValid(publication->marks)))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("a private table of publication %s is gone", publication->name),
						errdetail("It was dropped, or belongs to another role. Without it nobody knows which "
								  "rows were shown."),
						errhint("Give it back, or drop the publication and create it anew.")));
	/* (batches are not read, and a look at the table of all of them would be one at each) */
	foreach (lc, list_delete_oid(appended_tables(publication), publication->batches))
		relation_trust_written(lfirst_oid(lc));
	refuse_conditions(publication);
}

/* ---- definitions ---- */

static void
refuse(const char *what, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("a publication that appends takes no %s", what), errhint("%s", hint)));
}

static const char *
option_of_batches(const Request *request)
{
	for (Option option = 0; option < OPTIONS; option++)
		if ((OF_BATCHES & UINT64CONST(1) << option) != 0 && request->given[option] &&
			option != OPTION_ANY_KEY)
			return option_name(option);
	return request->batches.any_key ? option_name(OPTION_ANY_KEY) : NULL;
}

void
appended_check(const KanonPublication *publication)
{
	const Model *model = model_find(publication->model);
	Request request = {.k = publication->k, .published = true};
	const char *option;

	request_of_json(&request, model, publication->options);
	option = option_of_batches(&request);
	if (publication->append == NULL && option != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s is for publications that append", option),
			 errhint(
				 "Create the publication with append, the column by which new rows are known, or leave %s out.",
				 option)));
	if (publication->append == NULL)
		return;
	if (model->of_sets || model->near == NULL)
		together_refuse(TOGETHER_FREEFORM_APPEND, publication->model, NULL);
	if (publication->protect_values)
		together_refuse(TOGETHER_VALUES_APPEND, NULL, NULL);
	if (publication->protect_successive)
		refuse("protect_successive",
			   "Rows that were shown never change, so that there is nothing to protect.");
	if (publication->keep_releases != 1)
		refuse("keep_releases", "All batches stay: expire => '2 years' drops old ones.");
	if (request.batches.hold > 0 && (model->options & TAKES(RESIDUAL)) == 0)
		refuse(psprintf("hold with model \"%s\"", publication->model),
			   "Its releases leave no rows over that could wait.");
	if (request.batches.hold > 0 &&
		(request.guided.known_columns >= 0 || request.guided.combinations != NULL))
		refuse("hold with known_columns or combinations",
			   "Their releases leave no rows over that could wait.");
}

void
appended_tell(const KanonPublication *publication, bool joined)
{
	ereport(
		NOTICE,
		(errmsg("each batch of publication %s keeps its promise by itself", publication->name),
		 errdetail(
			 "A reader who knows the nights on which a person came has a class for each of them, and can "
			 "intersect kept values that stay the same with the person."),
		 errhint(
			 "Keep no values that stay with a person, or coarse ones. See kanon_publication_status for late and "
			 "waiting rows.")));
	if (joined)
		ereport(
			NOTICE,
			(errmsg("pseudonyms that last join the batches of publication %s", publication->name),
			 errdetail(
				 "A pseudonym that is there on the same nights as a person whom somebody knows may be that "
				 "person's."),
			 errhint("{\"pseudonym\": \"release\"} has other pseudonyms in each batch.")));
}

Jsonb *
appended_options(Jsonb *options, FunctionCallInfo fcinfo, int first)
{
	static const struct
	{
		Oid type;
		const char *name;
	} arguments[] = {{INTERVALOID, "lag"},
					 {INT8OID, "min_batch"},
					 {INT8OID, "max_batch"},
					 {TEXTOID, "hold"},
					 {INTERVALOID, "expire"}};

	for (int i = 0; i < lengthof(arguments); i++)
	{
		Oid type[3] = {JSONBOID, TEXTOID, arguments[i].type};
		Datum value[3];
		bool isnull;
		int nest;

		if (PG_ARGISNULL(first + i))
			continue;
		value[0] = JsonbPGetDatum(options);
		value[1] = CStringGetTextDatum(arguments[i].name);
		value[2] = PG_GETARG_DATUM(first + i);
		nest = catalog_path_begin();
		(void) gate_ask("SELECT $1 || jsonb_build_object($2, $3)", 3, type, value, NULL, true, 1);
		catalog_path_end(nest);
		options = DatumGetJsonbPCopy(gate_value(0, 1, JSONBOID, &isnull));
	}
	return options;
}

/* ---- the tables ---- */

/* Keys that are numbers or times grow, and so do uuids of version 7, if nobody says otherwise. */
static bool
may_grow(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case UUIDOID:
			return true;
	}
	return false;
}

/* Uuids of other versions are random, or begin with what changes fastest. */
static bool
all_of_version_7(Oid source, const char *column)
{
	Gate *gate = gate_create(relation_name(source), source, 1);
	bool isnull;

	gate_computed(gate, "other", BOOLOID);
	gate_query(
		gate,
		psprintf(
			"SELECT EXISTS (SELECT 1 FROM %s AS s WHERE pg_catalog.substr(CAST(s.%s AS pg_catalog.text), 15, 1)"
			" OPERATOR(pg_catalog.<>) '7'::pg_catalog.text) AS other",
			relation_name(source), quote_identifier(column)),
		true);
	return !DatumGetBool(gate_value(0, 1, BOOLOID, &isnull));
}

static Oid
make_table(KanonPublication *publication, const char *name, const char *what, Oid namespace,
		   const char *columns, const char *comment)
{
	char *bare;
	char *qualified = private_name(name, what, namespace, &bare);
	Oid relid;

	run_utility(psprintf("CREATE TABLE %s (%s)", qualified, columns));
	relid = get_relname_relid(bare, namespace);
	keep_uncounted(relid);
	rows_identify(relid);
	run_utility(psprintf("COMMENT ON TABLE %s IS '%s; never publish this table'", qualified, comment));
	return relid;
}

static void
check_column(const KanonPublication *publication, AttrNumber attnum)
{
	if (attnum > 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the column \"%s\" by which rows are to be appended does not exist", publication->append),
			 errhint("%s", nearest_column(publication->source, publication->append,
										  "Names are taken exactly as written, capitals included."))));
}

void
appended_create(KanonPublication *publication, const char *name, Oid namespace)
{
	AttrNumber attnum = get_attnum(publication->source, publication->append);
	Request request = {.k = publication->k, .published = true};
	Oid type;
	const char *typed;

	check_column(publication, attnum);
	request_of_json(&request, model_find(publication->model), publication->options);
	type = getBaseType(get_atttype(publication->source, attnum));
	publication->grows = !request.batches.any_key && may_grow(type) &&
						 (type != UUIDOID || all_of_version_7(publication->source, publication->append));
	typed = publication->grows ? format_type_be_qualified(type) : "pg_catalog.bytea";
	if (publication->grows)
		publication->marks =
			make_table(publication, name, "marks", namespace,
					   psprintf(BATCH_RELEASE " pg_catalog.int8 NOT NULL, " BATCH_MARK " %s, " BATCH_UNTIL
											  " %s, " BATCH_ROWS " pg_catalog.int8",
								typed, typed),
					   "up to where each batch of a kanon publication goes");
	publication->shown =
		make_table(publication, name, "shown", namespace,
				   psprintf(BATCH_ID " %s NOT NULL, " BATCH_CONTENT
									 " pg_catalog.bytea NOT NULL, " BATCH_RELEASE " pg_catalog.int8 NOT NULL",
							typed),
				   "which rows a kanon publication has shown");
	publication->waiting =
		make_table(publication, name, "waiting", namespace,
				   psprintf(BATCH_ID " %s NOT NULL, " BATCH_SINCE " pg_catalog.int8 NOT NULL, " BATCH_LATE
									 " pg_catalog.bool NOT NULL",
							typed),
				   "which rows wait for a batch of a kanon publication");
}

/* ---- batches ---- */

/* A batch that has other columns than those before cannot stand beside them. */
static void
check_columns(const KanonPublication *publication, Oid relid)
{
	int natts = relation_natts(publication->batches) - 1;
	bool same = relation_natts(relid) == natts;

	for (AttrNumber attnum = 1; attnum <= natts && same; attnum++)
	{
		Oid before, type, before_collation, collation;
		int32 before_typmod, typmod;

		get_atttypetypmodcoll(publication->batches, attnum, &before, &before_typmod, &before_collation);
		get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
		same =
			before == type && before_typmod == typmod && before_collation == collation &&
			strcmp(get_attname(publication->batches, attnum, false), get_attname(relid, attnum, false)) == 0;
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("the batch has other columns than those that readers have"),
				 errhint("kanon_refresh(..., anew => true) makes all batches anew with the new columns.")));
}

static void
make_batches(KanonPublication *publication, Oid first)
{
	char *bare;
	List *names = textToQualifiedNameList(cstring_to_text(publication->name));
	Oid namespace = get_rel_namespace(publication->definition);
	char *qualified = private_name(strVal(llast(names)), "batches", namespace, &bare);

	run_utility(psprintf("CREATE TABLE %s (LIKE %s INCLUDING COMMENTS, " KANON_BATCH_COLUMN
						 " pg_catalog.int8 NOT NULL) PARTITION BY LIST (" KANON_BATCH_COLUMN ")",
						 qualified, relation_name(first)));
	publication->batches = get_relname_relid(bare, namespace);
	keep_private(publication->batches);
}

/* Readers are kept from nothing while it is attached; whoever reads next sees the whole batch. */
void
appended_attach(KanonPublication *publication, Release *release)
{
	char *batch = relation_name(release->relation);
	bool first = !OidIsValid(publication->batches);
	char *text = comment_of(release->relation, 0);

	if (first)
		make_batches(publication, release->relation);
	else
		check_columns(publication, release->relation);
	run_utility(psprintf("ALTER TABLE %s ADD COLUMN " KANON_BATCH_COLUMN
						 " pg_catalog.int8 NOT NULL DEFAULT " INT64_FORMAT,
						 batch, release->number));
	run_utility(psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES IN (" INT64_FORMAT ")",
						 relation_name(publication->batches), batch, release->number));
	if (text != NULL)
		comment_renew(publication->batches, text);
	if (text != NULL && OidIsValid(publication->published))
		comment_renew(publication->published, text);
	CommandCounterIncrement();
	if (first)
		view_show(publication, publication->batches);
}

typedef struct Expiry
{
	const KanonPublication *publication;
	const Release *release;
} Expiry;

static void
drop_batch(void *arg)
{
	const Expiry *expiry = arg;

	/* dropping a partition locks the table of all of them */
	lock_without_queue(expiry->publication->batches, "table", NULL, NULL);
	drop_relations("TABLE", list_make1_oid(expiry->release->relation));
}

void
appended_expire(const KanonPublication *publication, List *releases)
{
	Request request = {.k = publication->k, .published = true};
	TimestampTz until;
	ListCell *lc;

	request_of_json(&request, model_find(publication->model), publication->options);
	if (request.batches.expire == NULL)
		return;
	until = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
													TimestampTzGetDatum(GetCurrentTimestamp()),
													IntervalPGetDatum(request.batches.expire)));
	foreach (lc, releases)
	{
		Release *release = lfirst(lc);
		Expiry expiry = {publication, release};

		if (release->status != RELEASE_KEPT || release->finished > until ||
			(OidIsValid(release->relation) && attempt(drop_batch, &expiry) != NULL))
			continue;
		release->status = RELEASE_DROPPED;
		release->relation = InvalidOid;
		release_update(publication, release);
	}
}

Oid
appended_forget(KanonPublication *publication)
{
	Oid before = publication->batches;
	Oid tables[] = {publication->marks, publication->shown, publication->waiting};

	for (int i = 0; i < lengthof(tables); i++)
		if (OidIsValid(tables[i]))
			history_sql("DELETE FROM %s", relation_name(tables[i]));
	publication->batches = InvalidOid;
	return before;
}

List *
appended_drop_before(const KanonPublication *publication, Oid before, List *releases)
{
	ListCell *lc;

	drop_relations("TABLE", list_make1_oid(before));
	foreach (lc, releases)
	{
		Release *release = lfirst(lc);

		release->status = RELEASE_DROPPED;
		release->relation = InvalidOid;
		release_update(publication, release);
	}
	ereport(
		WARNING,
		(errmsg("all batches of publication %s were made anew", publication->name),
		 errdetail("A reader who kept those before can compare them with the new one: the difference is the "
				   "rows that were corrected, deleted or late."),
		 errhint("Say anew => true as rarely as rows must change.")));
	return NIL;
}

/* ---- what a refresh is asked for, and what it finds ---- */

void
appended_ask(KanonPublication *publication, bool anew, bool publish_late, bool recount)
{
	if (publication->append == NULL && (anew || publish_late || recount))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anew, publish_late and recount are for publications that append"),
				 errhint("Each refresh makes publication %s whole: leave them out.", publication->name)));
	publication->anew = anew;
	publication->publish_late = publish_late || anew;
	publication->recount = recount && !anew;
}

void
appended_take_recount(Release *release, const Release *from)
{
	if (release->recounted >= from->recounted)
		return;
	release->corrected = from->corrected;
	release->deleted = from->deleted;
	release->recounted = from->recounted;
}

void
appended_take_counts(Release *release, const Release *from)
{
	release->waiting = from->waiting;
	release->late = from->late;
	appended_take_recount(release, from);
}
