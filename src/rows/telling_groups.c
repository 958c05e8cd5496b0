/*
 * telling_groups.c: kept columns that each tell nothing, or identify nobody, and do so together.
 *
 * Groups grow fast with columns: those that were not compared are named.
 */
#include "compat.h"
#include "rows/telling.h"
#include "core/privacy/rules.h"
#include "masks/mask_apply.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Kept columns of which groups are tried: those with the most values. */
#define MOST_GROUPED 16
#define MOST_TOLD 10

/* Rows that are compared to find groups that tell of a quasi-identifier; pairs come first. */
#define MOST_COMPARED (1 << 25)

double
tells_own(const TellsLook *look, int64 n, const Attribute *columns)
{
	double share = (double) look->rows / (double) n, shared = 0;

	for (uint32 v = 0; v < columns->distinct; v++)
	{
		int64 rows = 0;
		uint32 first = KEPT_NOBODY;
		bool others = false;

		for (uint32 at = columns->start[v]; at < columns->start[v + 1]; at++)
		{
			uint32 person = look->numbers[(Size) columns->order[at] * look->width + look->nqis + PERSON];

			/* (the rows after the sample are there for what they hide) */
			if (columns->order[at] >= n)
				continue;
			others = others || (rows > 0 && (person == KEPT_NOBODY || person != first));
			first = person;
			rows++;
		}
		/*
		 * A row that shares a combination with one other row meets that row in the sample once in `share` times;
		 * a combination of three rows of the sample is shared by many.
		 */
		if (others)
			shared += rows * (rows > 2 ? 1 : share);
	}
	return 1 - Min(shared / (double) n, 1);
}

static char *
names_of(const TellsLook *look, const int *columns, int n, bool quoted)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < n; i++)
		appendStringInfo(&names, quoted ? "%s\"%s\"" : "%s%s", i > 0 ? ", " : "",
						 look->source->kept[columns[i]].name);
	return names.data;
}

void
tells_remember(const Source *source, List **list, const char *what)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(source->told));

	*list = lappend(*list, pstrdup(what));
	MemoryContextSwitchTo(old);
}

void
kept_tell_name(const Source *source, const char *name)
{
	tells_remember(source, &source->told->names, name);
}

static void
tell_group(TellsLook *look, const int *columns, int n, double own)
{
	KeptTold *told = look->source->told;

	if (list_length(told->together) < MOST_TOLD)
		ereport(
			NOTICE,
			(errmsg("kept columns %s identify together", names_of(look, columns, n, true)),
			 errdetail("%.0f %% of the rows have a combination of their values that no other %s has.",
					   100 * own, look->numbers[look->nqis + PERSON] == KEPT_NOBODY ? "row" : "person"),
			 errhint(
				 "Leave one of them out or mask it. If nobody outside can know them, name them in allow_identifying.")));
	tells_remember(look->source, &told->together, names_of(look, columns, n, false));
}

static void
tell_group_of(TellsLook *look, const int *columns, int n, const SourceColumn *qi)
{
	KeptTold *told = look->source->told;
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < n; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? " with " : "", look->source->kept[columns[i]].name);
	if (list_length(told->tells) < MOST_TOLD)
		ereport(
			NOTICE,
			(errmsg("kept columns %s together tell of \"%s\", a quasi-identifier",
					names_of(look, columns, n, true), qi->name),
			 errdetail(
				 "Nearly all rows that agree in all of them agree in the quasi-identifier, which some rows hide."),
			 errhint(
				 "Leave one of them out or mask it. If readers may know them, name them in allow_identifying.")));
	tells_remember(look->source, &told->tells, psprintf("%s: %s", names.data, qi->name));
}

bool
tells_known(const SourceColumn *column)
{
	return mask_shows(column->mask) <= MASK_SHOWS_PART;
}

/* Columns whose published values somebody may know, those with the most values first; *left: names of further ones. */
static int
grouped_columns(const TellsLook *look, const Attribute *kept, int *columns, List **left)
{
	int n = 0;

	for (int i = 0; i < look->nkept; i++)
	{
		const SourceColumn *column = &look->source->kept[i];
		int at;

		if (column->answered || kept[i].distinct < 2 || !tells_known(column))
			continue;
		if (n == MOST_GROUPED)
		{
			bool more = kept[columns[n - 1]].distinct < kept[i].distinct;

			*left = lappend(*left, look->source->kept[more ? columns[n - 1] : i].name);
		}
		for (at = Min(n, MOST_GROUPED - 1); at > 0 && kept[columns[at - 1]].distinct < kept[i].distinct; at--)
			columns[at] = columns[at - 1];
		if (at < MOST_GROUPED && (at < n || n < MOST_GROUPED))
			columns[at] = i;
		n = Min(n + 1, MOST_GROUPED);
	}
	return n;
}

/* The columns of a group that were told. */
typedef struct GroupTold
{
	bool identify;
	uint64 tells; /* of these quasi-identifiers */
} GroupTold;

/* Further groups are not asked what they tell of quasi-identifiers: that is told. */
static bool
may_compare(Sample *sample)
{
	sample->ended = sample->ended || sample->compared >= MOST_COMPARED;
	return !sample->ended;
}

/* The quasi-identifiers of which hidden values follow from the columns together, told now or `before`. */
static uint64
tell_together(Sample *sample, const Attribute *values, const int *columns, int n, uint64 before)
{
	const TellsLook *look = sample->look;
	uint64 tells = before;

	for (int q = 0; q < look->nqis; q++)
	{
		Determined there;

		if ((sample->some_hidden & ~tells & UINT64CONST(1) << q) == 0)
			continue;
		if (!may_compare(sample))
			break;
		there = determines(values, &sample->qis[q], sample->hidden[q], BY_CHANCE + sample->tries);
		sample->compared += sample->more;
		if (!there.hidden && !there.all)
			continue;
		tell_group_of(sample->look, columns, n, &look->source->qis[q]);
		tells |= UINT64CONST(1) << q;
	}
	return tells;
}

static GroupTold
try_group(Sample *sample, const int *columns, int ncolumns, uint64 before)
{
	TellsLook *look = sample->look;
	const Attribute *of[KANON_SUBSET_MOST];
	GroupTold told = {.tells = before};
	double combinations = 1, own;
	bool may_identify, may_tell = (sample->some_hidden & ~before) != 0 && may_compare(sample);
	Attribute values;

	for (int c = 0; c < ncolumns; c++)
	{
		of[c] = &sample->kept[columns[c]];
		combinations *= of[c]->distinct + 1.0;
	}
	/* (rows of one person may share them) */
	may_identify = look->numbers[look->nqis + PERSON] != KEPT_NOBODY ||
				   combinations >= KANON_IDENTIFYING * (double) sample->n;
	if (!may_identify && !may_tell)
		return told;
	CHECK_FOR_INTERRUPTS();
	values = attributes_together(of, ncolumns, sample->more);
	own = may_identify ? tells_own(look, sample->n, &values) : 0;
	told.identify = own >= KANON_IDENTIFYING;
	if (told.identify)
		tell_group(look, columns, ncolumns, own);
	else if (may_tell)
		told.tells = tell_together(sample, &values, columns, ncolumns, before);
	attribute_forget(&values);
	return told;
}

/* A NOTICE says what was not asked. */
static void
tell_left(const Sample *sample, List *left)
{
	KeptTold *told = sample->look->source->told;
	StringInfoData detail;
	ListCell *lc;

	initStringInfo(&detail);
	foreach (lc, left)
	{
		const char *name = lfirst(lc);

		if (told->alone == NIL)
			appendStringInfo(&detail, "Pairs and threes are of the %d columns with the most values. Alone: ",
							 MOST_GROUPED);
		appendStringInfo(&detail, "%s\"%s\"", told->alone == NIL ? "" : ", ", name);
		tells_remember(sample->look->source, &told->alone, name);
	}
	if (left != NIL)
		appendStringInfoString(&detail, sample->ended ? ". " : ".");
	told->ended = sample->ended;
	if (sample->ended)
		appendStringInfoString(
			&detail,
			"Of hidden quasi-identifiers not all groups were asked, pairs first: there are too many.");
	ereport(NOTICE,
			(errmsg("kept columns were compared with each other only in part"), errdetail("%s", detail.data),
			 errhint("Judge whether they identify a person, or tell of a quasi-identifier, together. Leave "
					 "out columns that nobody needs; name in allow_identifying what nobody outside can "
					 "know.")));
}

void
tells_groups(Sample *sample)
{
	int columns[MOST_GROUPED];
	GroupTold told[MOST_GROUPED][MOST_GROUPED] = {0};
	List *left = NIL;
	int m = grouped_columns(sample->look, sample->kept, columns, &left);
	const uint64 *alone = sample->tells;

	sample->tries = log(m * (m - 1) / 2.0 * (1 + (m - 2) / 3.0) * sample->look->nqis);
	for (int i = 0; i < m; i++)
		for (int j = i + 1; j < m; j++)
			told[i][j] =
				try_group(sample, (int[]){columns[i], columns[j]}, 2, alone[columns[i]] | alone[columns[j]]);
	for (int i = 0; i < m; i++)
		for (int j = i + 1; j < m; j++)
			for (int l = j + 1; l < m && !told[i][j].identify; l++)
				if (!told[i][l].identify && !told[j][l].identify)
					(void) try_group(sample, (int[]){columns[i], columns[j], columns[l]}, 3,
									 told[i][j].tells | told[i][l].tells | told[j][l].tells);
	if (left != NIL || sample->ended)
		tell_left(sample, left);
}
