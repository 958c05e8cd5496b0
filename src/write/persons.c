/*
 * persons.c: rules that count persons, checked on what was written: the target
 * does not show who a row is about, so each row of the second read is noted with
 * its class when it is written, whatever the solver said of it.
 */
#include "compat.h"
#include "kanon_pg.h"
#include "write/persons.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "core/privacy.h"
#include "utils/tuplesort.h"

struct Persons
{
	const KanonProblem *problem;
	const KanonRelease *release;
	Border	   *border;
	Tuplesortstate *sort;		/* of class << 32 | row type */
};

Persons *
persons_begin(const KanonProblem *problem, const KanonRelease *release, Border *border)
{
	Persons    *persons;

	if (problem->privacy == NULL || kanon_privacy_person(problem->privacy) < 0)
		return NULL;
	persons = palloc(sizeof(Persons));
	persons->problem = problem;
	persons->release = release;
	persons->border = border;
	persons->sort = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false, work_mem, NULL, 0);
	return persons;
}

void
persons_note(Persons *persons, uint32 class_, uint32 type)
{
	tuplesort_putdatum(persons->sort, Int64GetDatum((int64) class_ << 32 | type), false);
}

/* Rows of a class: what each row type has of them. */
typedef struct Noted
{
	uint32	   *types;
	int64	   *counts;
	uint32		n;
} Noted;

static void
check_class(const Persons *persons, uint32 class_, const Noted *noted)
{
	const KanonProblem *problem = persons->problem;
	bool		few = problem->residual == KANON_RESIDUAL_SUPPRESS
		&& kanon_class_blank(problem, persons->release, class_);
	bool		allowed = kanon_privacy_allows(problem, noted->types, noted->counts, noted->n, few, NULL);

	if (kanon_privacy_failed(problem->privacy))
		border_check(persons->border, KANON_NO_MEMORY, "");
	if (!allowed)
		raise_unsafe("A class breaks a privacy rule that counts persons.");
}

void
persons_end(Persons *persons)
{
	uint32		ntypes = persons->problem->ntypes;
	Noted		noted = {
		.types = border_palloc(persons->border, sizeof(uint32) * (Size) ntypes),
		.counts = border_palloc(persons->border, sizeof(int64) * (Size) ntypes)
	};
	uint32		class_ = 0;
	Datum		datum;
	bool		isnull;

	tuplesort_performsort(persons->sort);
	while (kanon_getdatum(persons->sort, &datum, &isnull))
	{
		uint32		type = (uint32) DatumGetInt64(datum);

		CHECK_FOR_INTERRUPTS();
		if (noted.n > 0 && class_ != (uint32) (DatumGetInt64(datum) >> 32))
		{
			check_class(persons, class_, &noted);
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
		check_class(persons, class_, &noted);
	tuplesort_end(persons->sort);
	border_pfree(persons->border, noted.types);
	border_pfree(persons->border, noted.counts);
}
