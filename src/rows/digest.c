/*
 * digest.c: a digest of relations, by which a later look finds out that nothing has changed.
 *
 * The digest of rows is the sum of their keyed hashes (AdHash; Bellare and Micciancio, "A new paradigm for
 * collision-free hashing", EUROCRYPT 1997), so that order does not matter and each row counts as often as it
 * occurs.  Sum, columns and text go through SHA-256 with the secret.
 */
#include "compat.h"
#include "rows/row_types.h"
#include "rows/source.h"
#include "host/catalog.h"
#include "host/gate.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define SUMS 2
#define SHA256_BYTES 32

uint64
value_hash(Form_pg_attribute attribute, Datum value, bool isnull, uint64 seed)
{
	if (isnull)
		return hash_bytes_extended(NULL, 0, seed + 1);
	if (attribute->attbyval)
		return hash_bytes_extended((unsigned char *) &value, sizeof(Datum), seed);
	if (attribute->attlen == -1)
	{
		struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

		return hash_bytes_extended((unsigned char *) VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), seed);
	}
	/* (columns of tables have no type of attlen -2) */
	return hash_bytes_extended((unsigned char *) DatumGetPointer(value), attribute->attlen, seed);
}

static bytea *
sha256(const StringInfo input)
{
	bytea *bytes = palloc(VARHDRSZ + input->len);

	SET_VARSIZE(bytes, VARHDRSZ + input->len);
	memcpy(VARDATA(bytes), input->data, input->len);
	return DatumGetByteaP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(bytes)));
}

void
secret_seeds(const bytea *secret, const char *purpose, uint64 *seeds, int n)
{
	StringInfoData input;
	bytea *hash;

	Assert(n * sizeof(uint64) <= SHA256_BYTES);
	initStringInfo(&input);
	appendBinaryStringInfo(&input, VARDATA_ANY(secret), VARSIZE_ANY_EXHDR(secret));
	appendStringInfoString(&input, purpose);
	hash = sha256(&input);
	memcpy(seeds, VARDATA_ANY(hash), n * sizeof(uint64));
}

typedef struct Digest
{
	TupleDesc desc;
	uint64 seeds[SUMS];
	uint64 sums[SUMS];
	uint64 rows;
	MemoryContext scratch; /* values while they are hashed */
} Digest;

static bool
add_row(void *arg, TupleTableSlot *slot)
{
	Digest *digest = arg;
	MemoryContext old = MemoryContextSwitchTo(digest->scratch);

	for (int s = 0; s < SUMS; s++)
	{
		uint64 hash = digest->seeds[s];

		for (int i = 0; i < digest->desc->natts; i++)
			hash = value_hash(TupleDescAttr(digest->desc, i), slot->tts_values[i], slot->tts_isnull[i], hash);
		digest->sums[s] += hash;
	}
	digest->rows++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(digest->scratch);
	return true;
}

/* Columns that the caller may read, and their names in *list. */
static TupleDesc
readable_columns(Oid relid, StringInfo list)
{
	Relation rel = relation_open(relid, AccessShareLock);
	TupleDesc all = RelationGetDescr(rel);
	bool whole = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
	int *places = palloc(sizeof(int) * Max(all->natts, 1));
	TupleDesc desc;
	int n = 0;

	for (int i = 0; i < all->natts; i++)
		if (!TupleDescAttr(all, i)->attisdropped &&
			(whole || pg_attribute_aclcheck(relid, i + 1, GetUserId(), ACL_SELECT) == ACLCHECK_OK))
			places[n++] = i;
	desc = CreateTemplateTupleDesc(n);
	for (int i = 0; i < n; i++)
	{
		TupleDescCopyEntry(desc, i + 1, all, places[i] + 1);
		appendStringInfo(list, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(NameStr(TupleDescAttr(all, places[i])->attname)));
	}
	TupleDescFinalize(desc);
	relation_close(rel, NoLock);
	return desc;
}

static void
add_relation(Digest *digest, Oid relid, StringInfo text)
{
	StringInfoData list;
	char *name = relation_name(relid);
	Gate *gate;

	if (name == NULL)
		return;
	relation_trust(relid);
	initStringInfo(&list);
	digest->desc = readable_columns(relid, &list);
	memset(digest->sums, 0, sizeof(digest->sums));
	digest->rows = 0;
	if (digest->desc->natts > 0)
	{
		gate = gate_create(name, relid, digest->desc->natts);
		gate_table(gate, digest->desc);
		gate_select(gate, psprintf("SELECT %s FROM %s", list.data, name), true, add_row, digest);
	}
	appendStringInfo(text, "\n%s", list.data);
	for (int i = 0; i < digest->desc->natts; i++)
		appendStringInfo(text, " %u %d", TupleDescAttr(digest->desc, i)->atttypid,
						 TupleDescAttr(digest->desc, i)->atttypmod);
	appendStringInfo(text, " " UINT64_FORMAT " ", digest->rows);
	appendBinaryStringInfo(text, (const char *) digest->sums, sizeof(digest->sums));
}

bytea *
relations_digest(List *relations, const char *text, const bytea *secret)
{
	Digest digest = {.desc = NULL};
	StringInfoData input;
	ListCell *lc;

	secret_seeds(secret, "digest", digest.seeds, SUMS);
	digest.scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon digest", ALLOCSET_SMALL_SIZES);
	initStringInfo(&input);
	appendBinaryStringInfo(&input, VARDATA_ANY(secret), VARSIZE_ANY_EXHDR(secret));
	appendStringInfoString(&input, text);
	foreach (lc, relations)
		add_relation(&digest, lfirst_oid(lc), &input);
	MemoryContextDelete(digest.scratch);
	return sha256(&input);
}
