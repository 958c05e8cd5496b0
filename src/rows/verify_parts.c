/*
 * verify_parts.c: privacy rules of a target whose row types do not fit into memory.
 *
 * Its rows are sorted, so that those of a class come one after the other.  Only the sensitive
 * values and persons of one class are in memory at a time.
 */
#include "compat.h"
#include "rows/verify.h"
#include "rows/dictionary.h"
#include "rows/row_types.h"

/* The dictionaries are looked at every so many rows. */
#define ROWS_BETWEEN 4096

typedef struct RowReader
{
	Source *written;
	Border *border;
	Keyed *rows;
	unsigned char *key;
	int64 nrows;
	Size dictionaries; /* bytes, as charged so far */
} RowReader;

static void
charge(RowReader *reader)
{
	Size now = 0;

	for (int c = 0; c < reader->written->ngrouped; c++)
		now += dictionary_memory(reader->written->qis[c].dictionary);
	border_charge(reader->border, reader->dictionaries, now);
	reader->dictionaries = now;
}

static void
receive_row(void *arg, const Datum *values, const bool *nulls)
{
	RowReader *reader = arg;
	unsigned char *next = reader->key;

	for (int c = 0; c < reader->written->ngrouped; c++)
		next = key_put(next, dictionary_add(reader->written->qis[c].dictionary, values[c], nulls[c]));
	keyed_put(reader->rows, reader->key, (int) (next - reader->key), 1, NULL, NULL);
	if (++reader->nrows % ROWS_BETWEEN == 0)
		charge(reader);
}

/* A class's counts: the rows of each combination of the values that rules look at. */
typedef struct Class
{
	KanonProblem problem; /* the rules', with these as its row types */
	KanonColumn *extra;
	uint32 **code; /* [nextra] */
	uint32 *members;
	int64 *rows;
	Size room;
	unsigned char *key; /* what it shows */
} Class;

static void
make_room(Class *class, Border *border)
{
	Size room;

	for (int e = 0; e < class->problem.nextra; e++)
	{
		room = class->room;
		class->code[e] =
			border_grow(border, class->code[e], &room, (Size) class->problem.ntypes + 1, sizeof(uint32));
		class->extra[e].code = class->code[e];
	}
	room = class->room;
	class->members =
		border_grow(border, class->members, &room, (Size) class->problem.ntypes + 1, sizeof(uint32));
	room = class->room;
	class->rows = border_grow(border, class->rows, &room, (Size) class->problem.ntypes + 1, sizeof(int64));
	class->problem.rows = class->rows;
	class->room = room;
}

static void
add_row(Class *class, uint32 *const *translated, const unsigned char *values, Border *border)
{
	uint32 last = class->problem.ntypes - 1;
	bool again = class->problem.ntypes > 0;

	for (int e = 0; e < class->problem.nextra && again; e++)
		again = class->code[e][last] == translated[e][key_get(values + 4 * (Size) e)];
	if (again)
	{
		class->rows[last]++;
		return;
	}
	make_room(class, border);
	for (int e = 0; e < class->problem.nextra; e++)
		class->code[e][last + 1] = translated[e][key_get(values + 4 * (Size) e)];
	class->members[last + 1] = last + 1;
	class->rows[last + 1] = 1;
	class->problem.ntypes++;
}

void
verify_privacy_sorted(Source *written, const Source *source, const KanonProblem *problem, Border *border)
{
	RowReader reader = {.written = written,
						.border = border,
						.rows = keyed_begin(NULL, 0, false),
						.key = palloc(4 * (Size) written->ngrouped)};
	RowsBeside columns = {written->qis, written->ngrouped, receive_row, &reader};
	Size shown = 4 * (Size) written->nqis;
	uint32 **translated = palloc(sizeof(uint32 *) * problem->nextra);
	Class class = {.problem = *problem,
				   .extra = palloc(sizeof(KanonColumn) * problem->nextra),
				   .code = palloc0(sizeof(uint32 *) * problem->nextra),
				   .key = palloc(shown)};
	const KeyedRow *row;

	/* (who a row is about the target need not show: such rules have all row types in memory) */
	if (written->ngrouped - written->nqis != problem->nextra)
		elog(ERROR, "the target does not have all columns that privacy rules look at");
	for (int c = 0; c < written->ngrouped; c++)
		written->qis[c].dictionary = dictionary_create(border->context, &written->qis[c]);
	rows_read_written(written->name, written->relid, &columns);
	charge(&reader);
	keyed_sort(reader.rows);
	memcpy(class.extra, problem->extra, sizeof(KanonColumn) * problem->nextra);
	class.problem.extra = class.extra;
	class.problem.ntypes = 0;
	for (int e = 0; e < problem->nextra; e++)
		translated[e] = verify_translate(written->qis[written->nqis + e].dictionary,
										 &source->qis[source->nqis + e], border);
	while ((row = keyed_next(reader.rows)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (class.problem.ntypes > 0 && memcmp(row->key, class.key, shown) != 0)
		{
			verify_class(&class.problem, source, class.members, class.problem.ntypes, false, border);
			class.problem.ntypes = 0;
		}
		memcpy(class.key, row->key, shown);
		add_row(&class, translated, row->key + shown, border);
	}
	if (class.problem.ntypes > 0)
		verify_class(&class.problem, source, class.members, class.problem.ntypes, false, border);
	keyed_end(reader.rows);
}
