/*
 * attack.c: kanon_attack: tries to link rows of the source to records of the target.
 *
 * The attacker knows some columns of a person, finds the records of the target that may be that person's, and picks
 * one of them at random.  Records that show the same are looked at together.  A cell may show a value, a range, a
 * set, a level of a hierarchy, or nothing, which fits everybody.  Each is a range or a set of the source's values,
 * by their codes.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/lines.h"
#include "rows/dictionary.h"
#include "hierarchies/hierarchy.h"
#include "rows/source.h"
#include "options/request.h"
#include "assess/assess.h"
#include "rows/target.h"

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_attack);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_KEY,
	ARG_KNOWN,
	ARG_TRIALS,
	ARG_HIERARCHIES,
	ARG_KNOWLEDGE
};

#define NO_SET PG_UINT32_MAX

/* One column, as the records show it. */
typedef struct Shown
{
	uint32 *low;  /* [nrecords] codes of the source, from the least */
	uint32 *high; /* to the largest */
	uint32 *set;  /* [nrecords] where in the release's pool a set is that has not all of these, or NO_SET */
	bool sets;    /* there are some */
} Shown;

typedef struct Attack
{
	Border *border;
	Source *source;
	Source *target;
	RowTypes *persons;     /* by what is known of them, and the key */
	RowTypes *records;     /* by what they show, and the key where the target has it */
	KanonRelease *release; /* the records in codes of the source */
	Shown *shown;          /* [nqis] */
	uint32 *key;           /* [nrecords] codes of the source; NULL: the target does not have it */
	uint8 *fits;           /* [nrecords] */

	/* the outcome */
	int64 trials;
	int64 done;
	int64 least;
	double fitting;
	double found;
	double chances;
	double highest;
	double hits;
} Attack;

/* ---- what is known and what is shown ---- */

/* The source's column in the target, if that has one of its name and type. */
static SourceColumn *
same_column(const Source *target, const SourceColumn *column)
{
	AttrNumber attnum = get_attnum(target->relid, column->name);
	const char *name = column->name;
	int n;

	if (attnum <= 0 || get_atttype(target->relid, attnum) != column->type)
		return NULL;
	return source_columns(target, name_list(&name, 1), "key", "the key", &n);
}

/* A release's own hierarchies may be given, whichever of its columns are known. */
static Jsonb *
hierarchies_of_known(Jsonb *hierarchies, const Source *target, ArrayType *known)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	Jsonb *left = hierarchies;
	int n;
	char **names;

	if (hierarchies == NULL || known == NULL || !JB_ROOT_IS_OBJECT(hierarchies))
		return hierarchies;
	names = name_array(known, "known", &n);
	it = JsonbIteratorInit(&hierarchies->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		char *key;
		bool is_known = false;

		if (token != WJB_KEY)
			continue;
		key = pnstrdup(value.val.string.val, value.val.string.len);
		for (int i = 0; i < n && !is_known; i++)
			is_known = strcmp(names[i], key) == 0;
		if (!is_known && get_attnum(target->relid, key) != InvalidAttrNumber)
			left = DatumGetJsonbP(
				DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(left), CStringGetTextDatum(key)));
	}
	return left;
}

/* Both tables are read, each row type once. */
static void
read_both(Attack *attack, FunctionCallInfo fcinfo)
{
	ArrayType *known = array_arg(fcinfo, ARG_KNOWN);
	Source *source = source_open_columns(PG_GETARG_OID(ARG_SOURCE), known, "known");
	Source *target = source_open_columns(PG_GETARG_OID(ARG_TARGET), known, "known");
	int n;
	SourceColumn *key = source_columns(source, name_array_arg(fcinfo, ARG_KEY), "key", "the key", &n);
	SourceColumn *shown = same_column(target, key);

	source_hierarchies(source, hierarchies_of_known(hierarchies_asked(fcinfo, ARG_HIERARCHIES,
																	  PG_GETARG_OID(ARG_TARGET), known),
													target, known));
	source_lock(target);
	source_snapshot(source);
	source_levels(source);
	for (int c = 0; c < source->nqis; c++)
		written_match(&source->qis[c], &target->qis[c]);
	source_group_by(source, key);
	if (shown != NULL)
		source_group_by(target, shown);
	attack->source = source;
	attack->target = target;
	attack->persons = rowtypes_read(source, attack->border);
	rowtypes_levels(attack->persons, attack->border);
	attack->records = rowtypes_read(target, attack->border);
	attack->release = written_release(source, attack->records, false, attack->border);
	hierarchies_lacking(source, source->nqis, attack->release);
}

/*
 * The keys of the records, in codes of the source; a record that has none of its keys is nobody's,
 * and so is NULL.
 */
static uint32 *
keys_of(const Attack *attack)
{
	int c = attack->source->nqis;
	Dictionary *persons = attack->source->qis[c].dictionary;
	Dictionary *records;
	uint32 *code, *key;

	if (attack->target->ngrouped == c)
		return NULL;
	records = attack->target->qis[c].dictionary;
	code = border_palloc(attack->border, sizeof(uint32) * dictionary_size(records));
	for (uint32 i = 0; i < dictionary_size(records); i++)
	{
		bool isnull;
		Datum value = dictionary_value(records, i, &isnull);

		CHECK_FOR_INTERRUPTS();
		code[i] = isnull ? DICTIONARY_NONE : dictionary_find(persons, value, false);
	}
	key = border_palloc(attack->border, sizeof(uint32) * attack->records->ntypes);
	for (uint32 i = 0; i < attack->records->ntypes; i++)
		key[i] = code[attack->records->grouped[c].code[i]];
	border_pfree(attack->border, code);
	return key;
}

/*
 * The values that a cell shows, as codes from low to high, and where they are when some between
 * are not shown.
 */
static void
show_codes(const KanonRelease *release, KanonCell cell, uint32 *low, uint32 *high, uint32 *set)
{
	const uint32 *pool = release->pool;

	*set = NO_SET;
	switch (cell.show)
	{
		case KANON_SHOW_NOTHING:
			*low = 0;
			*high = PG_UINT32_MAX;
			break;
		case KANON_SHOW_VALUE:
			*low = *high = cell.code;
			break;
		case KANON_SHOW_RANGE:
			*low = pool[cell.code];
			*high = pool[cell.code + 1];
			break;
		case KANON_SHOW_SET:
			*low = pool[cell.code + 1];
			*high = pool[cell.code + pool[cell.code]];
			if (*high - *low + 1 != pool[cell.code])
				*set = cell.code;
			break;
	}
}

/* The last level of a hierarchy, if it says the same of all values: what shows nothing may be called so. */
static char *
top_label(const Hierarchy *hierarchy)
{
	const Source *levels;
	const SourceColumn *last;
	Gate *gate;
	char *label = NULL;
	int nest;

	if (hierarchy == NULL || hierarchy->from.builder != NULL || !OidIsValid(hierarchy->from.relation))
		return NULL;
	levels = hierarchy_columns(hierarchy->from.relation);
	if (hierarchy->nlevels >= levels->nqis - 1)
		return NULL;
	last = &levels->qis[levels->nqis - 1];
	gate = gate_create(levels->name, levels->relid, 1);
	gate_computed(gate, "label", TEXTOID);
	nest = plain_text_begin();
	gate_query(gate,
			   psprintf("SELECT %s FROM %s AS h LIMIT 1",
						text_expression(psprintf("h.%s", last->quoted), last->type), levels->name),
			   true);
	plain_text_end(nest);
	if (SPI_processed > 0)
		label = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	return label;
}

/* Which values of a column of the target are that label; NULL: none. */
static bool *
show_everybody(const Attack *attack, int c)
{
	const SourceColumn *shown = &attack->target->qis[c];
	char *label = top_label(attack->source->qis[c].hierarchy);
	bool *everybody;
	Oid function;
	bool isvarlena;

	if (label == NULL)
		return NULL;
	everybody = border_palloc(attack->border, sizeof(bool) * dictionary_size(shown->dictionary));
	getTypeOutputInfo(shown->type, &function, &isvarlena);
	for (uint32 code = 0; code < dictionary_size(shown->dictionary); code++)
	{
		bool isnull;
		Datum value = dictionary_value(shown->dictionary, code, &isnull);
		char *text = isnull ? NULL : OidOutputFunctionCall(function, value);

		CHECK_FOR_INTERRUPTS();
		everybody[code] = text != NULL && strcmp(text, label) == 0;
		if (text != NULL)
			pfree(text);
	}
	return everybody;
}

static void
show_columns(Attack *attack)
{
	uint32 n = attack->records->ntypes;
	int nqis = attack->source->nqis;

	attack->shown = palloc(sizeof(Shown) * nqis);
	for (int c = 0; c < nqis; c++)
	{
		Shown *shown = &attack->shown[c];
		const uint32 *code = attack->records->grouped[c].code;
		const bool *everybody = show_everybody(attack, c);

		*shown = (Shown){border_palloc(attack->border, sizeof(uint32) * n),
						 border_palloc(attack->border, sizeof(uint32) * n),
						 border_palloc(attack->border, sizeof(uint32) * n), false};
		for (uint32 i = 0; i < n; i++)
		{
			KanonCell cell = attack->release->cells[(Size) i * nqis + c];

			if (everybody != NULL && everybody[code[i]])
				cell.show = KANON_SHOW_NOTHING;
			show_codes(attack->release, cell, &shown->low[i], &shown->high[i], &shown->set[i]);
			shown->sets |= shown->set[i] != NO_SET;
		}
	}
	attack->fits = border_palloc(attack->border, n);
	attack->key = keys_of(attack);
}

/* ---- trials ---- */

static bool
set_has(const uint32 *set, uint32 code)
{
	uint32 low = 1, high = set[0];

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (set[middle] < code)
			low = middle + 1;
		else
			high = middle;
	}
	return set[low] == code;
}

/* Takes out the records that do not show a value of one column. */
static void
look_at_column(const Attack *attack, const Shown *shown, uint32 code)
{
	const uint32 *low = shown->low, *high = shown->high;
	uint8 *fits = attack->fits;
	uint32 n = attack->records->ntypes;

	for (uint32 i = 0; i < n; i++)
		fits[i] &= (low[i] <= code) & (code <= high[i]);
	if (!shown->sets)
		return;
	for (uint32 i = 0; i < n; i++)
		if (fits[i] && shown->set[i] != NO_SET)
			fits[i] = set_has(attack->release->pool + shown->set[i], code);
}

/* Looks for a person so often. */
static void
look_for(Attack *attack, uint32 person, int64 times)
{
	uint32 n = attack->records->ntypes;
	int nqis = attack->source->nqis;
	uint32 key = attack->persons->grouped[nqis].code[person];
	int64 fits = 0, own = 0;
	double chance;

	memset(attack->fits, 1, n);
	for (int c = 0; c < nqis; c++)
		look_at_column(attack, &attack->shown[c], attack->persons->grouped[c].code[person]);
	for (uint32 i = 0; i < n; i++)
		fits += attack->records->rows[i] & -(int64) attack->fits[i];
	/* what a release says of a row is so: its record is among them */
	if (attack->key == NULL)
		own = Min(fits, 1);
	else
		for (uint32 i = 0; i < n; i++)
			own += attack->fits[i] && attack->key[i] == key ? attack->records->rows[i] : 0;
	chance = fits > 0 ? (double) own / (double) fits : 0;
	attack->least = Min(attack->least, fits);
	attack->fitting += (double) fits * (double) times;
	attack->found += fits > 0 ? (double) times : 0;
	attack->chances += chance * (double) times;
	attack->highest = Max(attack->highest, chance);
	for (int64 i = 0; i < times; i++)
		attack->hits += pg_prng_double(&pg_global_prng_state) < chance;
	attack->done += times;
}

/* Random rows of the source, each once at most: of those that are left as many are taken as are wanted still. */
static void
look_for_all(Attack *attack, int64 trials)
{
	const RowTypes *persons = attack->persons;
	int64 left = persons->nrows;

	attack->trials = Min(trials, persons->nrows);
	attack->least = PG_INT64_MAX;
	for (uint32 i = 0; i < persons->ntypes; i++)
	{
		int64 times = 0;

		CHECK_FOR_INTERRUPTS();
		for (int64 row = 0; row < persons->rows[i]; row++, left--)
			times += pg_prng_double(&pg_global_prng_state) * (double) left <
					 (double) (attack->trials - attack->done - times);
		if (times == 0)
			continue;
		look_for(attack, i, times);
		border_progress(attack->border, "looking for persons",
						(double) attack->done / (double) attack->trials, attack->trials - attack->done);
	}
}
/* ---- the outcome ---- */

/* The chance that the table promised: 1/k of the run that wrote it; false: nothing about rows. */
static bool
promised(Oid schema, Oid target, double *chance)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(target)};
	int nest = catalog_path_begin();
	bool isnull = true;

	if (gate_ask(psprintf("SELECT 1 / u.k::float8 FROM %s.kanon_usefulness u WHERE u.target_oid = $1"
						  " AND u.transactions IS NULL AND u.method <> 'k_one'"
						  " AND NOT jsonb_path_exists(u.options, '$.privacy[*] ? (@.rule == \"k_map\")')"
						  " AND NOT jsonb_path_exists(u.options, '$.known_columns')"
						  " AND NOT jsonb_path_exists(u.options, '$.combinations')"
						  " ORDER BY u.run DESC LIMIT 1",
						  quote_identifier(name_schema(schema))),
				 1, types, values, NULL, true, 1) > 0)
		*chance = DatumGetFloat8(gate_value(0, 1, FLOAT8OID, &isnull));
	catalog_path_end(nest);
	return !isnull;
}

static void
put_outcome(const Attack *attack, Lines *lines)
{
	double n = (double) attack->trials;

	line_measure(lines, "trials", n, true, "persons who were looked for, by a random row of theirs");
	line_measure(lines, "found", attack->found, true, "of these, persons whom at least one record fits");
	line_measure(lines, "matches_least", (double) attack->least, n > 0,
				 "records that may be one person's, at least");
	line_measure(lines, "matches_average", n > 0 ? attack->fitting / n : 0, n > 0, "the same on average");
	line_measure(lines, "success_highest", attack->highest, n > 0,
				 "the best chance to pick the right record");
	line_measure(lines, "success_expected", n > 0 ? attack->chances / n : 0, n > 0, "the chance on average");
	line_measure(lines, "success_observed", n > 0 ? attack->hits / n : 0, n > 0,
				 "the share of trials in which the record that was picked was the right one");
}

/* Words of `knowledge`. */
enum
{
	KNOWS_COLUMNS,
	KNOWS_METHOD,
	KNOWS_DISTANCE
};

static int
knowledge(FunctionCallInfo fcinfo)
{
	static const char *const words[] = {"columns", "method", "distance", NULL};

	refuse_null(fcinfo, ARG_KNOWLEDGE, "knowledge", "'columns' is the default.");
	return word_among(
		text_arg(fcinfo, ARG_KNOWLEDGE, "knowledge", "'columns' is the default."), "knowledge", words,
		"It is 'columns' (what is known of a person), 'method' (how the table was published, too) or "
		"'distance' (values that a mask has moved).");
}

/* kanon_attack(source, target, key, known, trials, hierarchies, knowledge) */
Datum
kanon_attack(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Attack attack = {0};
	double chance = 0;
	bool about_rows;
	int trials, knows;

	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table that was published.");
	refuse_null(fcinfo, ARG_TARGET, "target", "Name what was published of it.");
	refuse_null(fcinfo, ARG_KEY, "key", "Name the column that says who a row of the source is about.");
	refuse_null(fcinfo, ARG_TRIALS, "trials", "1000 is the default.");
	trials = PG_GETARG_INT32(ARG_TRIALS);
	if (trials < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("trials must be at least 1"),
						errhint("It is how many persons are looked for; 1000 is the default.")));
	lines = lines_begin(fcinfo);
	SPI_connect();
	knows = knowledge(fcinfo);
	if (knows == KNOWS_DISTANCE)
	{
		attack_distance(lines, PG_GETARG_OID(ARG_SOURCE), PG_GETARG_OID(ARG_TARGET),
						name_array_arg(fcinfo, ARG_KEY), array_arg(fcinfo, ARG_KNOWN), trials);
		PopActiveSnapshot();
		SPI_finish();
		return (Datum) 0;
	}
	if (knows == KNOWS_METHOD)
	{
		attack_method(lines, fcinfo, PG_GETARG_OID(ARG_SOURCE), PG_GETARG_OID(ARG_TARGET),
					  array_arg(fcinfo, ARG_KNOWN));
		SPI_finish();
		return (Datum) 0;
	}
	attack.border = border_create("kanon_attack");
	read_both(&attack, fcinfo);
	about_rows = promised(schema, attack.target->relid, &chance);
	show_columns(&attack);
	look_for_all(&attack, trials);
	put_outcome(&attack, lines);
	line_measure(
		lines, "success_promised", chance, about_rows,
		"1 / k of the run that wrote the target, the highest chance, unless fewer than k rows are blank throughout; NULL: no such promise");
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
