/*
 * comments.c: the comments of a published table and of its columns.
 *
 * kanon puts them into the catalog without a statement.  The server would log a statement, and
 * an event trigger of another role could answer it.
 */
#include "compat.h"
#include "rows/target.h"
#include "hierarchies/hierarchy.h"
#include "rows/source.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "lib/stringinfo.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

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
