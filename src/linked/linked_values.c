/*
 * linked_values.c: the values that the subject's table keeps, of those whom an attacker of the promise finds.
 *
 * Somebody who knows a person and some rows finds those persons of a class who have such rows.  Rules about values of the
 * subject's table hold for them; and how alike their values are is what the page of a release tells.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "host/gate.h"
#include "linked/linked_recount.h"
#include "rows/row_types.h"
#include "rows/verify.h"
#include "options/privacy.h"

#include "utils/builtins.h"

/* ---- rules ---- */

/* The columns of the rules of a check, as if they were kept. */
static ArrayType *
rule_columns(const Privacy *privacy)
{
	const char *names[KANON_MAX_COLUMNS];
	int n = 0;

	for (int r = 0; r < privacy->n; r++)
		for (int i = 0; i < privacy->words[r].ncolumns; i++)
		{
			int c = 0;

			while (c < n && strcmp(names[c], privacy->words[r].columns[i]) != 0)
				c++;
			if (c == KANON_MAX_COLUMNS)
				ereport(ERROR,
						(errcode(ERRCODE_TOO_MANY_COLUMNS), errmsg("the privacy rules name too many columns"),
						 errhint("Leave out rules.")));
			if (c == n)
				names[n++] = privacy->words[r].columns[i];
		}
	return name_list(names, n);
}

/* The rules of a release that is there: its own values are the whole that some of them compare with. */
static const Source *
open_rules_of_check(Recount *recount)
{
	const LinkedTable *like = recount->tables[0].like;
	Privacy *privacy = like->request.privacy;
	KanonProblem *problem = &recount->ruled;
	Source *source;
	RowTypes *types;

	for (int r = 0; r < privacy->n; r++)
		if (privacy_about(privacy->words[r].kind) != PRIVACY_OF_VALUES)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("kanon_check_linked does not count the rule \"%s\"",
							privacy_sentence(&privacy->words[r])),
					 errhint("It counts distinct l, entropy l, recursive (c,l), alpha and t-closeness.")));
	source = source_open(like->relid, like->qis, rule_columns(privacy), NULL);
	privacy_columns(privacy, source);
	types = rowtypes_read(source, recount->border);
	*problem = (KanonProblem){.env = &recount->border->env,
							  .k = 1,
							  .residual = KANON_RESIDUAL_DROP,
							  .ncolumns = source->nqis,
							  .columns = types->columns,
							  .ntypes = types->ntypes,
							  .rows = types->rows};
	if (types->ntypes > 0)
		privacy_rules(privacy, types, NULL, problem, true, NULL, recount->border);
	return source;
}

/* The source whose dictionaries the rules are about; NULL: there are none. */
static const Source *
open_rules(Recount *recount)
{
	const LinkedTable *like = recount->tables[0].like;
	const Source *source = NULL;

	if (like->run != NULL && like->run->problem.privacy != NULL)
	{
		recount->ruled = like->run->problem;
		source = like->run->source;
	}
	else if (like->run == NULL && like->request.privacy != NULL)
		source = open_rules_of_check(recount);
	return recount->ruled.privacy != NULL ? source : NULL;
}

/* ---- values ---- */

typedef struct ValueReader
{
	Recount *recount;
	const Source *rules; /* or NULL */
	int nrules;          /* columns that rules look at; they come first */
	uint32 **codes;      /* [nrules][persons] */
} ValueReader;

static bool
receive_values(void *arg, TupleTableSlot *slot)
{
	ValueReader *reader = arg;
	Recount *recount = reader->recount;
	uint32 person = slot->tts_isnull[0]
						? DICTIONARY_NONE
						: dictionary_find(recount->tables[0].keys, slot->tts_values[0], false);

	if (person == DICTIONARY_NONE)
		raise_unsafe("A person has another key than before.");
	for (int c = 0; c < reader->nrules; c++)
	{
		uint32 code = dictionary_find(reader->rules->qis[reader->rules->nqis + c].dictionary,
									  slot->tts_values[1 + c], slot->tts_isnull[1 + c]);

		if (code == DICTIONARY_NONE)
			raise_unsafe("A person has a value that the source does not have.");
		reader->codes[c][person] = code;
	}
	for (int c = 0; c < recount->nkept; c++)
	{
		int at = 1 + reader->nrules + c;

		recount->kept[(Size) person * recount->nkept + c] =
			tells_number(TupleDescAttr(slot->tts_tupleDescriptor, at)->atttypid, slot->tts_values[at],
						 slot->tts_isnull[at]);
	}
	return true;
}

static bool
is_key(const LinkedTable *table, const char *name)
{
	ListCell *cell;

	foreach (cell, table->replaced)
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	return strcmp(table->key, name) == 0;
}

/* The key, columns of rules, and all that is kept beside keys. */
static Source *
open_values(Recount *recount, const Source *rules, int nrules)
{
	const LinkedTable *like = recount->tables[0].like;
	const Source *of = like->run != NULL ? like->run->source : rules;
	const char **names = palloc(sizeof(char *) * (1 + nrules + of->nkept));
	int n = 0;
	Source *source;

	names[n++] = like->key;
	for (int c = 0; c < nrules; c++)
		names[n++] = rules->qis[rules->nqis + c].name;
	recount->found.worst = palloc(sizeof(LinkedWorst) * Max(of->nkept, 1));
	for (int i = 0; i < of->nkept; i++)
		if (!is_key(like, of->kept[i].name))
		{
			recount->found.worst[recount->nkept++] = (LinkedWorst){of->kept[i].name, 0, PG_INT64_MAX};
			names[n++] = of->kept[i].name;
		}
	recount->found.nworst = recount->nkept;
	source = source_open_bare(like->relid);
	source->kept = palloc(sizeof(SourceColumn) * n);
	for (int i = 0; i < n; i++)
		source->kept[source->nkept++] = source_open_kept(like->relid, name_list(&names[i], 1))->kept[0];
	return source;
}

static void
put_persons(Recount *recount, const ValueReader *reader)
{
	KanonColumn *extra = palloc(sizeof(KanonColumn) * Max(recount->ruled.nextra, 1));
	int64 *ones = border_palloc(recount->border, sizeof(int64) * Max(recount->tables[0].n, 1));

	memcpy(extra, recount->ruled.extra, sizeof(KanonColumn) * recount->ruled.nextra);
	for (int c = 0; c < reader->nrules; c++)
		extra[c].code = reader->codes[c];
	for (uint32 p = 0; p < recount->tables[0].n; p++)
		ones[p] = 1;
	recount->ruled.extra = extra;
	recount->ruled.rows = ones;
	recount->ruled.ntypes = recount->tables[0].n;
}

void
linked_read_values(Recount *recount)
{
	uint32 persons = recount->tables[0].n;
	ValueReader reader = {.recount = recount, .rules = open_rules(recount)};
	Source *source;
	Gate *gate;

	reader.nrules = reader.rules != NULL ? reader.rules->ngrouped - reader.rules->nqis : 0;
	if (persons == 0 || (recount->tables[0].like->run == NULL && reader.rules == NULL))
		return;
	source = open_values(recount, reader.rules, reader.nrules);
	if (source->nkept == 1)
		return;
	recount->sort = border_palloc(recount->border, sizeof(uint32) * persons);
	recount->kept = border_palloc(recount->border, sizeof(uint32) * persons * Max(recount->nkept, 1));
	reader.codes = palloc(sizeof(uint32 *) * Max(reader.nrules, 1));
	for (int c = 0; c < reader.nrules; c++)
		reader.codes[c] = border_palloc(recount->border, sizeof(uint32) * persons);
	gate = gate_create(source->name, source->relid, source->nkept);
	gate_columns(gate, source->kept, source->nkept);
	gate_select(gate, psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name),
				false, receive_values, &reader);
	if (reader.rules != NULL)
		put_persons(recount, &reader);
}

/* ---- who is found ---- */

static int
compare_numbers(const void *a, const void *b)
{
	uint32 left = *(const uint32 *) a, right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

static void
look_at_column(Recount *recount, int c, const uint32 *persons, uint32 *numbers, Size n)
{
	LinkedWorst *worst = &recount->found.worst[c];
	Size most = 0;
	int64 values = 0;

	for (Size i = 0; i < n; i++)
		numbers[i] = recount->kept[(Size) persons[i] * recount->nkept + c];
	qsort(numbers, n, sizeof(uint32), compare_numbers);
	for (Size from = 0, to; from < n; from = to)
	{
		for (to = from; to < n && numbers[to] == numbers[from];)
			to++;
		most = Max(most, to - from);
		values++;
	}
	worst->share = Max(worst->share, (double) most / (double) n);
	worst->values = Min(worst->values, values);
}

void
linked_look_at_values(Recount *recount, uint32 *persons, Size n)
{
	uint32 *numbers;

	if (recount->sort == NULL || n == 0)
		return;
	if (recount->ruled.privacy != NULL)
	{
		recount->found.broken += !kanon_privacy_allows(&recount->ruled, persons, NULL, n, true, NULL);
		if (kanon_privacy_failed(recount->ruled.privacy))
			border_check(recount->border, KANON_NO_MEMORY, "");
	}
	if (recount->nkept == 0)
		return;
	numbers = palloc_extended(sizeof(uint32) * n, MCXT_ALLOC_HUGE);
	for (int c = 0; c < recount->nkept; c++)
		look_at_column(recount, c, persons, numbers, n);
	pfree(numbers);
}
