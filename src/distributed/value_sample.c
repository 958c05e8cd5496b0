/*
 * value_sample.c: values of kept columns as workers tell them: by hashes, and of all that there are a fair sample.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "host/row.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_sampled);

/* Numbers whose hashes are remembered of a column: some are frequent. */
#define RECENT 128

typedef struct Recent
{
	bool known;
	Datum value;
	uint64 hash;
} Recent;

struct Sampled
{
	FmgrInfo output;
	Recent *recent; /* [RECENT] where values are numbers, or NULL */
};

Sampled *
sampled_create(TupleDesc desc)
{
	Sampled *columns = palloc0(sizeof(Sampled) * Max(desc->natts, 1));

	for (int c = 0; c < desc->natts; c++)
	{
		Oid function;
		bool varlena;

		getTypeOutputInfo(TupleDescAttr(desc, c)->atttypid, &function, &varlena);
		fmgr_info(function, &columns[c].output);
		if (TupleDescAttr(desc, c)->attbyval)
			columns[c].recent = palloc0(sizeof(Recent) * RECENT);
	}
	return columns;
}

/* As hashtextextended has it of the text, in the collation "C". */
static uint64
text_hash(FmgrInfo *output, Datum value)
{
	const char *text;

	if (output->fn_oid == F_TEXTOUT || output->fn_oid == F_VARCHAROUT || output->fn_oid == F_BPCHAROUT)
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

		return DatumGetUInt64(hash_any_extended((const unsigned char *) VARDATA_ANY(packed),
												(int) VARSIZE_ANY_EXHDR(packed), 0));
	}
	text = OutputFunctionCall(output, value);
	return DatumGetUInt64(hash_any_extended((const unsigned char *) text, (int) strlen(text), 0));
}

static inline uint64
sampled_hash(Sampled *column, Datum value)
{
	Recent *recent;

	if (column->recent == NULL)
		return text_hash(&column->output, value);
	recent = &column->recent[value % RECENT];
	if (!recent->known || recent->value != value)
		*recent = (Recent){.known = true, .value = value, .hash = text_hash(&column->output, value)};
	return recent->hash;
}

bool
sampled_has(Sampled *columns, int c, Datum value, uint32 forgotten, uint32 *hash)
{
	uint64 all = sampled_hash(&columns[c], value);

	*hash = (uint32) (all >> 32);
	return (all & forgotten) == 0;
}

void
sampled_put(StringInfo out, int c, uint32 hash)
{
	if (out->data == NULL)
		pq_begintypsend(out);
	pq_sendint16(out, (uint16) c);
	pq_sendint32(out, hash);
}

static void *
prepare(const Row *row)
{
	return sampled_create(row->desc);
}

/* The values of a row whose hash has none of these bits; NULL when there are none. */
Datum
kanon_sampled(PG_FUNCTION_ARGS)
{
	HeapTupleHeader header;
	Row *row;
	uint32 forgotten, hash;
	StringInfoData out = {0};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	forgotten = (uint32) PG_GETARG_INT32(0);
	header = PG_GETARG_HEAPTUPLEHEADER(1);
	row = row_argument(fcinfo->flinfo, header, prepare);
	row_deform(row, header);
	for (int c = 0; c < row->desc->natts; c++)
		if (!row->nulls[c] && sampled_has(row->prepared, c, row->values[c], forgotten, &hash))
			sampled_put(&out, c, hash);
	if (out.data == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}
