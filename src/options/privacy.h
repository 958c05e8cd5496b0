/*
 * privacy.h: privacy rules beyond k, from SQL's JSON to the core's rules.
 */
#ifndef KANON_PRIVACY_H
#define KANON_PRIVACY_H

#include "core/privacy/rules.h"
#include "rows/row_types.h"
#include "hierarchies/hierarchy.h"

#include "utils/array.h"
#include "utils/jsonb.h"

/* The core's kinds, by their own numbers, and those about a population, which are not about a set of rows. */
typedef enum PrivacyKind
{
	PRIVACY_DISTINCT_L = KANON_DISTINCT_L,
	PRIVACY_ENTROPY_L = KANON_ENTROPY_L,
	PRIVACY_RECURSIVE_CL = KANON_RECURSIVE_CL,
	PRIVACY_ALPHA = KANON_ALPHA,
	PRIVACY_T_CLOSENESS = KANON_T_CLOSENESS,
	PRIVACY_SUBJECT = KANON_SUBJECT,
	PRIVACY_DELTA_PRESENCE,
	PRIVACY_K_MAP,
	PRIVACY_PRESENCE
} PrivacyKind;

#define PRIVACY_KINDS (PRIVACY_PRESENCE + 1)

/* The kinds of what a rule counts. */
typedef enum PrivacyAbout
{
	PRIVACY_OF_VALUES, /* of a sensitive column, in each class */
	PRIVACY_OF_PERSONS,
	PRIVACY_OF_POPULATION
} PrivacyAbout;

extern PrivacyAbout privacy_about(PrivacyKind kind);

/* A rule in words. */
typedef struct PrivacyWords
{
	PrivacyKind kind;
	char **columns; /* several: each is checked, the others joined to the quasi-identifiers */
	int ncolumns;
	int l;
	double number; /* c, alpha, t or dmin */
	double most;   /* dmax */
	int64 rows;    /* of the population */
	char *subject; /* the population's column that tells persons apart, or NULL: its rows count */
	double confidence;
	char *distance;
	Oid relation;   /* a population, or distributions of one, or the hierarchy of a distance */
	Jsonb *builder; /* that hierarchy as an object, {"prefix": [3, 1]}, instead, or NULL */
	char **values;  /* that alpha is about; none: all */
	int nvalues;
} PrivacyWords;

/* The rules of one call. */
typedef struct Privacy
{
	int n;
	PrivacyWords *words;              /* [n] */
	Source **population;              /* [n] that it is about, once opened, or NULL */
	HierarchyChoice *hierarchy;       /* [n] of its distance, once the column is known */
	int (*column)[KANON_MAX_COLUMNS]; /* [n] of each of its columns: place among the extra ones */
} Privacy;

/* privacy.c */

/* privacy => ARRAY[...] of rules as JSON objects; NULL for none. */
extern Privacy *privacy_read(ArrayType *rules);

/*
 * Finds the columns in an opened source, which will read row types by them, too;
 * before the target is made.  privacy: NULL, too.
 */
extern void privacy_columns(Privacy *privacy, Source *source);

/* The same rules, and one more: k and the others count persons by the column.  privacy: NULL, too. */
extern Privacy *privacy_of_persons(const Privacy *privacy, Source *source, const char *column);

/*
 * After rowtypes_read: sets the problem's rules, and raises those that no release
 * can fulfil.  persons: whose each type is, where no column of the source says it; or NULL.
 * leaves_out: the caller can say that rows may be left out (residual).
 * *too_few (or NULL) becomes true when what it raises is that the rows have too few persons or values.
 */
extern void privacy_rules(const Privacy *privacy, const RowTypes *types, const KanonColumn *persons,
						  KanonProblem *problem, bool leaves_out, bool *too_few, Border *border);

/*
 * privacy_population.c: opens and locks the populations, before the snapshot is
 * taken under which they are read.  privacy: NULL, too.
 */
extern void privacy_populations(Privacy *privacy, const Source *source);

/* Reads them and sets the problem's rules about them. */
extern void privacy_population_rules(const Privacy *privacy, const RowTypes *types, KanonProblem *problem,
									 Border *border);

/*
 * privacy_population.c: distributions of a population that nobody lists: a relation of (column_name, value, share).  Opened
 * and locked like a population; read into one.
 */
extern Source *shares_open(Oid relid, const Source *source);
extern void shares_read(const PrivacyWords *words, Source *distributions, const RowTypes *types,
						struct KanonPopulation *population, Border *border);

/* privacy_population.c: the population's (or distributions') row types in the codes of the source, one column of the problem. */
extern const uint32_t *population_codes(const RowTypes *types, int column, int level, const Source *source,
										int qi, Border *border);

/* How many of the source's values are less than those of these row types, in a column that shows ranges; NULL: it does not. */
extern const uint32_t *population_below(const RowTypes *types, int column, const Source *source, int qi,
										Border *border);

/* Is k asked of a population?  privacy: NULL, too. */
extern bool privacy_k_map(const Privacy *privacy);

/* Is anything?  privacy: NULL, too. */
extern bool privacy_asks_population(const Privacy *privacy);

/* The first rule of a kind, or -1.  privacy: NULL, too. */
extern int privacy_find(const Privacy *privacy, PrivacyKind kind);

/* Has the source rows, but fewer than k of them, or persons?  privacy: NULL, too. */
extern bool privacy_too_few(const Privacy *privacy, const RowTypes *types, int64 k);

/* For the record: {"privacy": [sentences without values]}. */
extern Datum privacy_recorded(const Privacy *privacy);

/* privacy_text.c */

/* The sentence, with the number of values in place of these. */
extern char *privacy_sentence(const PrivacyWords *words);

/* The rule for the record: as JSON, its sentence as "says", no values. */
extern Jsonb *privacy_rule_recorded(const PrivacyWords *words);

/* Raises what cannot be read or is out of bounds: invalid_parameter_value. */
extern void privacy_parse(Jsonb *rule, PrivacyWords *words);

/* The other way, with the same checks. */
extern Jsonb *privacy_json(PrivacyWords *words);

/* A relation's name as rules have it; raises when there is none. */
extern char *privacy_relation(Oid relid);

#endif
