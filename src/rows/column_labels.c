/*
 * column_labels.c: the roles of columns, written next to them with SECURITY LABEL.
 *
 * PostgreSQL Anonymizer's labels for k_anonymity say which columns are
 * quasi-identifiers; kanon's own provider says the rest.  Reading takes nothing but
 * the catalog.  Only writing a label needs the provider's library to be loaded,
 * and dumping and restoring them is PostgreSQL's work.
 */
#include "compat.h"
#include "rows/source.h"
#include "host/excerpt.h"

#include <math.h>

#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "commands/seclabel.h"
#include "utils/lsyscache.h"

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
