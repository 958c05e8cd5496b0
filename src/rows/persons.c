/*
 * persons.c: privacy rules that count persons, checked on the rows that were written.
 *
 * The target does not show who a row is about.  So the second read notes the person and the class
 * of each row as it is written, whatever the method said of it.
 *
 * Where a reader cannot tell two classes apart (one has a NULL where the other is
 * suppressed) the rows of both are checked together, too: rules in persons can be
 * kept by each and broken by both (core/privacy/rules.h).
 */
#include "compat.h"
#include "rows/cell_values.h"
#include "core/privacy/rules.h"
#include "host/catalog.h"
#include "rows/verify.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/lsyscache.h"
#include "utils/tuplesort.h"

struct Persons
{
	const KanonProblem *problem;
	const KanonRelease *release;
	Border *border;
	Tuplesortstate *sort;  /* of class << 32 | row type */
	const uint32 *looks;   /* [nclasses] the first class that looks the same; NULL: all differ */
	Tuplesortstate *alike; /* the same with the looks in place of classes */
	KanonFlow *written;    /* [nwritten] where somebody knows few columns: all of it */
	Size nwritten, room;
};

static Tuplesortstate *
begin_sort(void)
{
	return tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false, work_mem, NULL, 0);
}

Persons *
persons_begin(const KanonProblem *problem, const KanonRelease *release, Border *border)
{
	Persons *persons;

	if (problem->privacy == NULL || kanon_privacy_person(problem->privacy) < 0)
		return NULL;
	persons = palloc0(sizeof(Persons));
	persons->problem = problem;
	persons->release = release;
	persons->border = border;
	persons->sort = begin_sort();
	return persons;
}

/* ---- classes that look alike ---- */

void
persons_find_alike(Persons *persons, ShownClass *shown)
{
	persons->looks = shown_class_alike(shown, persons->border);
	if (persons->looks != NULL)
		persons->alike = begin_sort();
}

void
persons_note(Persons *persons, uint32 class_, uint32 type)
{
	tuplesort_putdatum(persons->sort, Int64GetDatum((int64) class_ << 32 | type), false);
	if (persons->looks != NULL)
		tuplesort_putdatum(persons->alike, Int64GetDatum((int64) persons->looks[class_] << 32 | type), false);
}

/* Rows of a class: what each row type has of them. */
typedef struct Noted
{
	uint32 *types;
	int64 *counts;
	uint32 n;
} Noted;

static bool
is_allowed(const Persons *persons, const Noted *noted, bool few)
{
	const KanonProblem *problem = persons->problem;
	bool allowed = kanon_privacy_allows(problem, noted->types, noted->counts, noted->n, few, NULL);

	if (kanon_privacy_failed(problem->privacy))
		border_check(persons->border, KANON_NO_MEMORY, "");
	return allowed;
}

static void
check_class(Persons *persons, uint32 class_, const Noted *noted)
{
	const KanonProblem *problem = persons->problem;
	bool few =
		problem->residual == KANON_RESIDUAL_SUPPRESS && kanon_class_blank(problem, persons->release, class_);

	if (problem->known != NULL)
		persons->written = border_grow(persons->border, persons->written, &persons->room,
									   persons->nwritten + noted->n, sizeof(KanonFlow));
	for (uint32 i = 0; i < noted->n && problem->known != NULL; i++)
		persons->written[persons->nwritten++] = (KanonFlow){noted->types[i], class_, noted->counts[i]};
	if (!is_allowed(persons, noted, few))
		raise_unsafe("A class breaks a privacy rule that counts persons.");
}

/* They are enough persons if the classes are. */
static void
check_alike(Persons *persons, uint32 look, const Noted *noted)
{
	if (!is_allowed(persons, noted, true))
		ereport(
			ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("classes that look alike break a privacy rule about persons together"),
			 errdetail("They differ only in whether a cell is suppressed or has no value to show."),
			 errhint("mark => true tells them apart; or replace NULL by a value in a view of the source.")));
}

/* Hands the rows over, those of one number together. */
static void
check_sorted(Persons *persons, Tuplesortstate *sort,
			 void (*check)(Persons *persons, uint32 class_, const Noted *noted))
{
	uint32 ntypes = persons->problem->ntypes;
	Noted noted = {.types = border_palloc(persons->border, sizeof(uint32) * (Size) ntypes),
				   .counts = border_palloc(persons->border, sizeof(int64) * (Size) ntypes)};
	uint32 class_ = 0;
	Datum datum;
	bool isnull;

	tuplesort_performsort(sort);
	while (kanon_getdatum(sort, &datum, &isnull))
	{
		uint32 type = (uint32) DatumGetInt64(datum);

		CHECK_FOR_INTERRUPTS();
		if (noted.n > 0 && class_ != (uint32) (DatumGetInt64(datum) >> 32))
		{
			check(persons, class_, &noted);
			noted.n = 0;
		}
		class_ = (uint32) (DatumGetInt64(datum) >> 32);
		if (noted.n == 0 || noted.types[noted.n - 1] != type)
		{
			noted.types[noted.n] = type;
			noted.counts[noted.n++] = 0;
		}
		noted.counts[noted.n - 1]++;
	}
	if (noted.n > 0)
		check(persons, class_, &noted);
	tuplesort_end(sort);
	border_pfree(persons->border, noted.types);
	border_pfree(persons->border, noted.counts);
}

/* Combinations are counted in all classes together. */
static void
check_known(const Persons *persons)
{
	if (persons->problem->known != NULL)
		verify_known_persons(persons->written, persons->nwritten, persons->problem, persons->release,
							 persons->border);
}

void
persons_end(Persons *persons)
{
	check_sorted(persons, persons->sort, check_class);
	check_known(persons);
	if (persons->alike != NULL)
		check_sorted(persons, persons->alike, check_alike);
}

/* ---- rows that were counted by others ---- */

static int
compare_by_class(const void *a, const void *b, void *arg)
{
	const KanonFlow *flows = arg;
	uint32 left = flows[*(const size_t *) a].class_, right = flows[*(const size_t *) b].class_;

	return left < right ? -1 : left > right;
}

void
persons_counted(const KanonProblem *problem, const KanonRelease *release, const int64 *rows, Border *border)
{
	Persons persons = {.problem = problem, .release = release, .border = border};
	size_t *order = border_palloc(border, sizeof(size_t) * Max(release->nflows, 1));
	Noted noted = {.types = border_palloc(border, sizeof(uint32) * (Size) problem->ntypes),
				   .counts = border_palloc(border, sizeof(int64) * (Size) problem->ntypes)};
	size_t n = 0;

	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			order[n++] = f;
	qsort_arg(order, n, sizeof(size_t), compare_by_class, release->flows);
	for (size_t i = 0; i < n; i++)
	{
		const KanonFlow *flow = &release->flows[order[i]];

		CHECK_FOR_INTERRUPTS();
		if (rows[order[i]] > 0)
		{
			noted.types[noted.n] = flow->type;
			noted.counts[noted.n++] = rows[order[i]];
		}
		if (i + 1 == n || release->flows[order[i + 1]].class_ != flow->class_)
		{
			check_class(&persons, flow->class_, &noted);
			noted.n = 0;
		}
	}
	check_known(&persons);
	border_pfree(border, order);
	border_pfree(border, noted.types);
	border_pfree(border, noted.counts);
}
