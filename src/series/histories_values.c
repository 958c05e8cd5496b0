/*
 * histories_values.c: values and numbers of private rows: hashes of what is seen of values, and numbers that an owner may have altered.
 */
#include "compat.h"
#include "core/util/number.h"
#include "rows/verify.h"
#include "series/histories_rows.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ---- hashes of values ---- */

ValueHash *
value_hashes(const SourceColumn *columns, int n)
{
	ValueHash *hashes = palloc0(sizeof(ValueHash) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		Oid base = getBaseType(columns[i].type), output;
		bool varlena;

		hashes[i].text = base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
		if (hashes[i].text || get_typbyval(base))
			continue;
		getTypeOutputInfo(columns[i].type, &output, &varlena);
		hashes[i].output = palloc(sizeof(FmgrInfo));
		fmgr_info(output, hashes[i].output);
	}
	return hashes;
}

uint64
hash_values(const ValueHash *hashes, const Datum *values, const bool *nulls, int n, uint64 secret)
{
	uint64 all = secret;

	for (int i = 0; i < n; i++)
	{
		uint64 hash = 1;

		if (nulls[i])
			;
		else if (hashes[i].text)
		{
			struct varlena *text = PG_DETOAST_DATUM_PACKED(values[i]);

			hash = DatumGetUInt64(hash_any_extended((unsigned char *) VARDATA_ANY(text),
													(int) VARSIZE_ANY_EXHDR(text), secret));
			if ((Pointer) text != DatumGetPointer(values[i]))
				pfree(text);
		}
		else if (hashes[i].output != NULL)
		{
			char *text = OutputFunctionCall(hashes[i].output, values[i]);

			hash = DatumGetUInt64(hash_any_extended((unsigned char *) text, (int) strlen(text), secret));
			pfree(text);
		}
		else
			hash = kanon_mix((uint64) values[i] ^ secret);
		all = kanon_mix(hash_combine64(all, hash) + nulls[i]);
	}
	return all;
}

/* ---- numbers in private tables ---- */

void
raise_altered(void)
{
	raise_unsafe("The private table of its rows was altered.");
}

/* Numbers are from 1 on, and a table has not that many rows. */
#define MOST_NUMBER (INT64CONST(1) << 40)

int64
number_or_none(const TupleTableSlot *slot, int column)
{
	int64 number = slot->tts_isnull[column] ? 0 : DatumGetInt64(slot->tts_values[column]);

	if (number < 0 || number > MOST_NUMBER)
		raise_altered();
	return number;
}

int64
number_at(const TupleTableSlot *slot, int column)
{
	int64 number = number_or_none(slot, column);

	if (number == 0)
		raise_altered();
	return number;
}

bool
flag_at(const TupleTableSlot *slot, int column)
{
	return !slot->tts_isnull[column] && DatumGetBool(slot->tts_values[column]);
}
