/*
 * identifiers.c: decides whether columns may be published as they are, before any row is read.
 *
 * Labels, names, types and the catalogs answer.  The values are looked at while they are written
 * (rows/identifying_columns.c, rows/telling_columns.c).
 */
#include "compat.h"
#include "run/run.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/excerpt.h"
#include "rows/source.h"
#include "options/request.h"
#include "rows/verify.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Rows whose values nobody can call equal would come out as they were written, each in its own way. */
static void
refuse_spellings(const Run *run)
{
	const Source *source = run->source;

	for (int i = 0; i < source->nkept && run->whole; i++)
		if (!source->kept[i].may_identify && spelling_unknown(&source->kept[i]))
			ereport(
				ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("kept column \"%s\" of type %s may be spelled differently in each row",
						source->kept[i].name, format_type_be(source->kept[i].type)),
				 errdetail(
					 "The type has no equality operator, or has times with zones within, so that equal values "
					 "cannot be written alike."),
				 errhint(
					 "Read it through a view that casts it to another type, such as jsonb or text; or, if "
					 "readers may know whom each row is about, name it in allow_identifying.")));
}

/* Columns that are labelled as identifiers are refused, but for those that the caller answers for. */
static void
refuse_labelled(Run *run)
{
	Source *source = run->source;
	int n = 0;
	char **allowed = run->request->columns.allow_identifying != NULL
						 ? name_array(run->request->columns.allow_identifying, "allow_identifying", &n)
						 : NULL;

	for (int i = 0; i < n; i++)
	{
		Nearest nearest = nearest_to(allowed[i]);
		bool found = false;

		for (int c = 0; c < source->nqis + source->nkept; c++)
		{
			SourceColumn *column = c < source->nqis ? &source->qis[c] : &source->kept[c - source->nqis];

			nearest_try(&nearest, column->name);
			if (strcmp(column->name, allowed[i]) == 0)
				found = column->may_identify = column->answered = true;
		}
		if (!found)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("allow_identifying names \"%s\", which is not published", allowed[i]),
					 errhint("%s", nearest_hint(&nearest,
												"Name columns of keep or quasi_identifiers, or nothing."))));
	}
	labels_refuse_identifiers(source->relid, source->qis, source->nqis, false);
	labels_refuse_identifiers(source->relid, source->kept, source->nkept, true);
}

/* ---- keys, and what quasi-identifiers are computed from ---- */

/* A key of a table that references another one, or that another one references; a label settles that it is nobody's. */
static OriginFound
is_in_foreign_key(Oid relid, AttrNumber attnum, void *arg)
{
	static const char *query =
		"SELECT 1 FROM pg_constraint WHERE contype = 'f' AND"
		" (conrelid = $1 AND $2 = ANY (conkey) OR confrelid = $1 AND $2 = ANY (confkey))";
	Oid types[2] = {OIDOID, INT2OID};
	Datum values[2] = {ObjectIdGetDatum(relid), Int16GetDatum(attnum)};
	int nest;
	bool found;

	if (label_settles(relid, attnum))
		return ORIGIN_SETTLED;
	nest = catalog_path_begin();
	found = gate_ask(query, 2, types, values, NULL, true, 1) > 0;
	catalog_path_end(nest);
	return found ? ORIGIN_HERE : ORIGIN_BELOW;
}

/* A reader who knows a person's key, or finds it in the other table, knows whose row it is. */
static void
refuse_keys(const Source *source, const SourceColumn *column, AttrNumber attnum)
{
	bool copied = column_origins(source->relid, attnum, ORIGINS_COPIED, is_in_foreign_key, NULL);

	if (!copied && !column_origins(source->relid, attnum, ORIGINS_COMPUTED, is_in_foreign_key, NULL))
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 copied ? errmsg("kept column \"%s\" is a key", column->name)
				: errmsg("kept column \"%s\" is computed from a key", column->name),
		 errdetail(
			 "It references a key of another table, or another table references it: anybody who knows the key, or may read that table, knows whose the row is."),
		 errhint("%s", kept_way_out(NULL, &column, 1,
									"Leave it out, or label it 'keep' or 'sensitive' if the key is of "
									"something else than persons."))));
}

typedef struct Makings
{
	List *relids;
	List *attnums;
} Makings;

static OriginFound
note_making(Oid relid, AttrNumber attnum, void *arg)
{
	Makings *makings = arg;

	makings->relids = lappend_oid(makings->relids, relid);
	makings->attnums = lappend_int(makings->attnums, attnum);
	return ORIGIN_BELOW;
}

static OriginFound
is_making(Oid relid, AttrNumber attnum, void *arg)
{
	const Makings *makings = arg;
	ListCell *r, *a;

	forboth (r, makings->relids, a, makings->attnums)
		if (lfirst_oid(r) == relid && lfirst_int(a) == attnum)
			return ORIGIN_HERE;
	return ORIGIN_BELOW;
}

static void
refuse_computed(const Source *source, const SourceColumn *column, AttrNumber attnum)
{
	Makings makings = {0};

	(void) column_origins(source->relid, attnum, ORIGINS_ALL, note_making, &makings);
	for (int q = 0; q < source->nqis; q++)
		if (column_origins(source->relid, get_attnum(source->relid, source->qis[q].name), ORIGINS_ALL,
						   is_making, &makings))
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("kept column \"%s\" and the quasi-identifier \"%s\" are computed from one column",
							column->name, source->qis[q].name),
					 errdetail("A reader could find hidden values of \"%s\" from it, whole or in part.",
							   source->qis[q].name),
					 errhint("%s", kept_way_out(NULL, &column, 1,
												"Leave it out, or name it as a quasi-identifier."))));
}

/* Looks at columns that are kept unmasked and that the publisher has not allowed. */
static void
refuse_functions(const Run *run)
{
	const Source *source = run->source;

	if (run->request->columns.keep == NULL || !run->whole)
		return;
	for (int i = 0; i < source->nkept; i++)
	{
		const SourceColumn *column = &source->kept[i];
		AttrNumber attnum = get_attnum(source->relid, column->name);

		if (column->answered || column->mask != NULL)
			continue;
		refuse_computed(source, column, attnum);
		refuse_keys(source, column, attnum);
	}
}

/*
 * A name that several rows share is no value of their own, and it names somebody all the same.  A
 * column's name is not enough to refuse it: it is told, and recorded.
 */
static void
look_for_names(Run *run)
{
	const Source *source = run->source;
	const char **found = palloc(sizeof(char *) * Max(source->nkept, 1));
	StringInfoData names;
	int n = 0;

	if (run->request->target == NULL)
		return;
	initStringInfo(&names);
	for (int i = 0; i < source->nkept; i++)
	{
		const SourceColumn *column = &source->kept[i];
		ColumnValues values = {0};
		bool preferred;
		char category;
		const char *why;

		get_type_category_preferred(getBaseType(column->type), &category, &preferred);
		/* free text is text; yes and no, or one of a list, name nobody */
		values.texts = category == TYPCATEGORY_STRING;
		values.distinct = values.texts ? INFINITY : 0;
		values.coarse = category == TYPCATEGORY_BOOLEAN || category == TYPCATEGORY_ENUM;
		if (column->may_identify || column->mask != NULL ||
			role_by_name(column->name, &values, &why) != ROLE_IDENTIFIER ||
			label_answers(source->relid, get_attnum(source->relid, column->name)))
			continue;
		appendStringInfo(&names, "%s\"%s\"", n > 0 ? ", " : "", column->name);
		found[n++] = column->name;
	}
	if (n > 0)
	{
		run->may_name = name_list(found, n);
		ereport(
			NOTICE,
			(errmsg_plural("kept column %s may name persons", "kept columns %s may name persons", n,
						   names.data),
			 errdetail_plural(
				 "It is called like a name, number or address of persons, or like free text.",
				 "They are called like names, numbers or addresses of persons, or like free text.", n),
			 errhint(
				 "Leave out or mask columns that name persons. Label a column 'keep' if it names nobody; name it in allow_identifying if readers may know the persons.")));
	}
	pfree(names.data);
	pfree(found);
}

/* Kept columns that are labelled as known to others. */
static void
tell_labelled(Run *run)
{
	const Source *source = run->source;

	for (int i = 0; i < source->nkept && run->request->target != NULL; i++)
	{
		const SourceColumn *column = &source->kept[i];

		if (column->mask == NULL && !column->answered &&
			label_role(source->relid, get_attnum(source->relid, column->name)).quasi_identifier)
			ereport(NOTICE, (errmsg("kept column \"%s\" is labelled as a quasi-identifier", column->name),
							 errdetail("It is published as it is: k does not count it."),
							 errhint("Name it in quasi_identifiers, mask it, or leave it out.")));
	}
}

void
identifiers_check(Run *run)
{
	refuse_labelled(run);
	refuse_functions(run);
	refuse_spellings(run);
	masks_spell(run->source);
	if (run->request->target != NULL)
		run->source->told = palloc0(sizeof(KeptTold));
	look_for_names(run);
	tell_labelled(run);
}
