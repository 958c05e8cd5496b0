/*
 * comments.h: what a published table says of itself and its columns.
 */
#ifndef KANON_COMMENTS_H
#define KANON_COMMENTS_H

#include "rows/target.h"

/* A table's comment that begins so is kanon's, and may be renewed; any other stays. */
#define COMMENT_PREFIX "kanon: "

/* A relation's comment (attnum 0), or a column's; NULL: none. */
extern char *comment_of(Oid relid, AttrNumber attnum);

/* Sets it; the caller has made or owns the relation. */
extern void comment_set(Oid relid, AttrNumber attnum, const char *text);

/* What a relation says of itself, unless somebody has said something else. */
extern void comment_renew(Oid relid, const char *text);

/* Comments of a table that is replaced stay: somebody may have written them. */
extern void comments_take_over(Oid old, Oid new);

/* What quasi-identifiers show in the target, by the names of their levels, after what the source says of them. */
extern void comments_columns(const Target *target, const Source *source);

/*
 * What the target is, and the comments of the source's columns, below views, too, where
 * it has none of its own.
 */
extern void comments_write(const Target *target, const Source *source, const char *text);

#endif
