/*
 * signatures.h: persons who stay among the same values in every release
 */
#ifndef KANON_SIGNATURES_H
#define KANON_SIGNATURES_H

#include "kanon.h"

#define KANON_NO_SIGNATURE UINT32_MAX

/* Signatures: sets of values, in ascending order.  Memory is env's. */
typedef struct KanonSignatures
{
	uint32_t n;
	size_t *first;   /* [n + 1] where the values of each begin */
	uint32_t *value; /* [first[n]] */
} KanonSignatures;

extern void kanon_signatures_free(KanonEnv *env, KanonSignatures *signatures);

/* One more; false when memory is refused. */
extern bool kanon_signatures_add(KanonEnv *env, KanonSignatures *signatures, const uint32_t *value,
								 uint32_t n);

/* Places of values in all of them; that of a value in one, SIZE_MAX: it is none of it. */
extern size_t kanon_signature_places(const KanonSignatures *signatures);
extern size_t kanon_signature_place(const KanonSignatures *signatures, uint32_t signature, uint32_t value);

/* Has a signature this value? */
extern bool kanon_signature_has(const KanonSignatures *signatures, uint32_t signature, uint32_t value);

/* The persons of a night. */
typedef struct KanonNight
{
	KanonEnv *env;
	uint32_t persons;
	uint32_t values;        /* their codes are below it; signatures may have others, too */
	uint32_t l;             /* values of a signature that is new */
	int64_t k;              /* least rows of a class */
	const uint32_t *value;  /* [persons] */
	const uint32_t *before; /* [persons] signature of the last release that showed the person, or none */
	const int64_t *since;   /* [persons] the release since which the person waits; INT64_MAX: does not */
} KanonNight;

/*
 * signatures.c: with which signature each person is shown; none: the person waits.  now[persons].  New signatures are added.
 *
 * As many persons of a signature are shown with each of its values, and so many that they can be classes.  A person with a
 * signature keeps it while the value is one of it.  If the value is another one, the new signature has no value in
 * common with the one before.
 */
extern KanonStatus kanon_signatures_assign(const KanonNight *night, KanonSignatures *signatures,
										   uint32_t *now);

/*
 * signature_classes.c: classes of the persons who are shown, each of one signature and with its values in equal numbers.
 * Row types are persons, and those who wait are left out.
 */
extern KanonStatus kanon_signatures_solve(const KanonProblem *problem, const KanonNight *night,
										  const KanonSignatures *signatures, const uint32_t *now,
										  KanonRelease *release, KanonReport *report);

/* Rows with each of so many values that a class has at least. */
static inline uint32_t
kanon_signature_least(int64_t k, size_t values)
{
	return (uint32_t) ((k + (int64_t) values - 1) / (int64_t) values);
}

#endif
