/*
 * persons.h: counts the persons of each class while its rows are written.
 */
#ifndef KANON_PERSONS_H
#define KANON_PERSONS_H

#include "host/border.h"
#include "rows/class_values.h"

typedef struct Persons Persons;

/* NULL if no rule is about persons. */
extern Persons *persons_begin(const KanonProblem *problem, const KanonRelease *release, Border *border);

/*
 * Before any row: finds the classes that readers cannot tell apart without a mark.  Only rules in persons
 * need to know: two classes together keep every other rule that each keeps.
 */
extern void persons_find_alike(Persons *persons, ShownClass *shown);

/* A row of this type was put into that class. */
extern void persons_note(Persons *persons, uint32 class_, uint32 type);

/* Raises if a class that was written breaks a rule, or those that look alike do together. */
extern void persons_end(Persons *persons);

/* The same of so many rows of each flow [nflows]; of classes that look alike nothing is asked. */
extern void persons_counted(const KanonProblem *problem, const KanonRelease *release, const int64 *rows,
							Border *border);

#endif
