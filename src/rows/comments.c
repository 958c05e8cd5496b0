/*
 * comments.c: what a published table says of itself and its columns.
 *
 * Comments are put in the catalog without a statement: a statement would be logged and
 * could be answered by an event trigger, and nothing here is anybody's business.
 */
#include "compat.h"
#include "rows/comments.h"
#include "rows/origins.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
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

static bool
has_comment(Oid relid, AttrNumber attnum, void *arg)
{
	char **text = arg;

	*text = comment_of(relid, attnum);
	return *text != NULL;
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
			column_origins(source->relid, get_attnum(source->relid, column->name), has_comment, &comment))
			comment_set(target->relid, attnum, comment);
	}
}
