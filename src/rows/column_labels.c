/*
 * column_labels.c: the roles of columns, by SECURITY LABEL.
 *
 * PostgreSQL Anonymizer's labels for k_anonymity say which columns are
 * quasi-identifiers; kanon's own provider says the rest.  Reading takes nothing but
 * the catalog.  Only writing a label needs the provider's library to be loaded,
 * and dumping and restoring them is PostgreSQL's work.
 */
#include "compat.h"
#include "rows/source.h"
#include "host/excerpt.h"
#include "rows/target.h"
#include "hierarchies/hierarchy.h"

#include <math.h>

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "commands/seclabel.h"
#include "lib/stringinfo.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#define PROVIDER "kanon"
#define ANON_PROVIDER "k_anonymity"

/* Compares without case and the blanks around. */
static bool
is_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	text += strspn(text, " \t\n");
	return pg_strncasecmp(text, word, length) == 0 && text[length + strspn(text + length, " \t\n")] == '\0';
}

/* One word of a label of kanon's; false: not one. */
static bool
read_word(const char *word, LabelledRole *role)
{
	const char *weight = strchr(word, '=');
	char *end;

	if (is_word(word, "quasi-identifier") || is_word(word, "quasi identifier"))
		return role->quasi_identifier = true;
	if (is_word(word, "sensitive"))
		return role->sensitive = true;
	if (is_word(word, "keep"))
		return role->keep = true;
	if (is_word(word, "identifier"))
		return role->identifier = true;
	if (weight == NULL || !is_word(pnstrdup(word, weight - word), "weight"))
		return false;
	role->weight = strtod(weight + 1, &end);
	return end > weight + 1 && end[strspn(end, " \t\n")] == '\0' && isfinite(role->weight) &&
		   role->weight >= 0;
}

/* False for what makes no sense; text NULL takes a label away. */
static bool
read_label(const char *text, LabelledRole *role)
{
	char *words = pstrdup(text);
	char *rest;

	for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest))
		if (!read_word(word, role))
			return false;
	return !((role->quasi_identifier || !isnan(role->weight)) && (role->keep || role->sensitive)) &&
		   !(role->identifier &&
			 (role->quasi_identifier || role->keep || role->sensitive || !isnan(role->weight)));
}

static void
check_label(const ObjectAddress *object, const char *label)
{
	LabelledRole role = {.weight = NAN};

	if (object->classId != RelationRelationId || object->objectSubId == 0)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("kanon labels columns only"),
						errhint("SECURITY LABEL FOR kanon ON COLUMN table.column IS 'keep'")));
	if (label != NULL && (label[strspn(label, " \t\n,")] == '\0' || !read_label(label, &role)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("\"%s\" is not a label that kanon knows", excerpt(label)),
				 errhint("Labels are 'quasi-identifier', 'weight=2', both with a comma between them, 'keep', "
						 "'sensitive' and 'identifier'.")));
}

void
labels_register(void)
{
	register_label_provider(PROVIDER, check_label);
}

LabelledRole
label_role(Oid relid, AttrNumber attnum)
{
	ObjectAddress column = {RelationRelationId, relid, attnum};
	LabelledRole role = {.weight = NAN};
	char *label = GetSecurityLabel(&column, PROVIDER);

	if (label != NULL)
		(void) read_label(label, &role);
	label = GetSecurityLabel(&column, ANON_PROVIDER);
	if (label != NULL && (is_word(label, "quasi identifier") || is_word(label, "indirect identifier")))
		role.quasi_identifier = true;
	return role;
}

static OriginFound
is_labelled_identifier(Oid relid, AttrNumber attnum, void *arg)
{
	return label_role(relid, attnum).identifier ? ORIGIN_HERE : ORIGIN_BELOW;
}

bool
label_identifies(Oid relid, AttrNumber attnum)
{
	return column_origins(relid, attnum, ORIGINS_COPIED, is_labelled_identifier, NULL);
}

bool
label_settles(Oid relid, AttrNumber attnum)
{
	LabelledRole role = label_role(relid, attnum);

	return role.keep || role.sensitive || role.quasi_identifier;
}

static OriginFound
is_settled(Oid relid, AttrNumber attnum, void *arg)
{
	return label_settles(relid, attnum) ? ORIGIN_HERE : ORIGIN_BELOW;
}

bool
label_answers(Oid relid, AttrNumber attnum)
{
	return column_origins(relid, attnum, ORIGINS_WORDED, is_settled, NULL);
}

static void
refuse_computed(Oid relid, const SourceColumn *column)
{
	AttrNumber attnum = get_attnum(relid, column->name);

	if (label_settles(relid, attnum) ||
		!column_origins(relid, attnum, ORIGINS_COMPUTED, is_labelled_identifier, NULL))
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg("kept column \"%s\" is computed from a column that is labelled as an identifier",
				column->name),
		 errdetail("A reader who knows the identifier can compute it, too."),
		 errhint(
			 "Leave it out or mask it. Label it 'keep' or 'sensitive' if it names nobody; or, if readers may "
			 "know whom each row is about, name it in allow_identifying.")));
}

void
labels_refuse_identifiers(Oid relid, const SourceColumn *columns, int n, bool kept)
{
	for (int i = 0; i < n; i++)
	{
		if (columns[i].may_identify)
			continue;
		if (label_identifies(relid, get_attnum(relid, columns[i].name)))
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("column \"%s\" is labelled as an identifier and cannot be published",
							columns[i].name),
					 errhint("Leave it out, take its label away, or, if readers may know whom each row is "
							 "about, name it in allow_identifying.")));
		if (kept && columns[i].mask == NULL)
			refuse_computed(relid, &columns[i]);
	}
}

/*
 * ---- The comments of a published table and of its columns.
 *
 * kanon puts them into the catalog without a statement.  The server would log a statement, and
 * an event trigger of another role could answer it.
 */

char *
comment_of(Oid relid, AttrNumber attnum)
{
	return GetComment(relid, RelationRelationId, attnum);
}

void
comment_set(Oid relid, AttrNumber attnum, const char *text)
{
	CreateComments(relid, RelationRelationId, attnum, text);
}

void
comment_renew(Oid relid, const char *text)
{
	char *before = comment_of(relid, 0);

	if (before == NULL || strncmp(before, COMMENT_PREFIX, strlen(COMMENT_PREFIX)) == 0)
		comment_set(relid, 0, text);
}

void
comments_take_over(Oid old, Oid new)
{
	Relation rel = relation_open(new, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	char *text = comment_of(old, 0);

	if (text != NULL)
		comment_set(new, 0, text);
	for (int i = 0; i < desc->natts; i++)
	{
		AttrNumber attnum = get_attnum(old, NameStr(TupleDescAttr(desc, i)->attname));

		text = attnum > 0 ? comment_of(old, attnum) : NULL;
		if (text != NULL)
			comment_set(new, i + 1, text);
	}
	relation_close(rel, AccessShareLock);
}

static OriginFound
has_comment(Oid relid, AttrNumber attnum, void *arg)
{
	char **text = arg;

	*text = comment_of(relid, attnum);
	return *text != NULL ? ORIGIN_HERE : ORIGIN_BELOW;
}

/* "zip code; kanon: as it was, the first 4 characters or NULL: suppressed, or missing in the source" */
static char *
column_words(const SourceColumn *column, const char *source_says)
{
	StringInfoData text;
	int nlevels = column->hierarchy != NULL ? column->hierarchy->nlevels : 0;

	initStringInfo(&text);
	if (source_says != NULL && source_says[0] != '\0')
		appendStringInfo(&text, "%s; ", source_says);
	appendStringInfoString(&text, COMMENT_PREFIX "as it was");
	for (int i = 0; i < nlevels; i++)
		appendStringInfo(&text, ", %s", column->hierarchy->levels[i].name);
	if (column->show_as == SHOW_AS_SET)
		appendStringInfoString(&text, ", a set");
	else if (column->show_as == SHOW_AS_RANGE && nlevels == 0)
		appendStringInfoString(&text, ", a range");
	appendStringInfoString(&text, " or NULL: suppressed, or missing in the source");
	return text.data;
}

/* The comment before kanon's words, which are the last; NULL: somebody has written all of it. */
static char *
before_words(char *comment)
{
	char *own = strstr(comment, COMMENT_PREFIX);

	if (own == NULL)
		return NULL;
	return pnstrdup(comment, own - comment >= 2 ? own - comment - 2 : 0);
}

void
comments_columns(const Target *target, const Source *source)
{
	for (int i = 0; i < source->nqis; i++)
	{
		const SourceColumn *column = &source->qis[i];
		AttrNumber attnum = get_attnum(target->relid, column->name);
		char *comment = attnum > 0 ? comment_of(target->relid, attnum) : NULL;
		bool written = comment != NULL;

		if (written)
			comment = before_words(comment);
		else
			(void) column_origins(source->relid, get_attnum(source->relid, column->name), ORIGINS_WORDED,
								  has_comment, &comment);
		if (attnum > 0 && (comment != NULL || !written))
			comment_set(target->relid, attnum, column_words(column, comment));
	}
	/* comments_write looks which are there */
	CommandCounterIncrement();
}

void
comments_write(const Target *target, const Source *source, const char *text)
{
	comment_renew(target->relid, text);
	for (int i = 0; i < source->nqis + source->nkept; i++)
	{
		const SourceColumn *column = i < source->nqis ? &source->qis[i] : &source->kept[i - source->nqis];
		AttrNumber attnum = get_attnum(target->relid, column->name);
		char *comment;

		if (attnum > 0 && comment_of(target->relid, attnum) == NULL &&
			column_origins(source->relid, get_attnum(source->relid, column->name), ORIGINS_WORDED,
						   has_comment, &comment))
			comment_set(target->relid, attnum, comment);
	}
}

/* ---- roles ---- */

const char *
role_name(ColumnRole role)
{
	static const char *const names[] = {"", "identifier", "quasi-identifier", "sensitive", "harmless"};

	return names[role];
}

const char *
role_label(ColumnRole role)
{
	return role == ROLE_HARMLESS ? "keep" : role_name(role);
}
