/*
 * mask_apply.h: masks of kept columns: reading, checking and applying them
 */
#ifndef KANON_MASK_APPLY_H
#define KANON_MASK_APPLY_H

#include "host/border.h"
#include "rows/row_types.h"
#include "rows/dictionary.h"
#include "rows/target.h"

#include "common/hmac.h"
#include "nodes/execnodes.h"
#include "utils/uuid.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/tuplesort.h"

/*
 * ---- mask_apply.c: kept columns as they are published: in one spelling per value, and masked by
 * pseudonyms, rounded and cut numbers, parts of texts, shifted dates, constants.
 *
 * A mask is applied to each row as it is written.  The target's values are then compared with the
 * masked ones; a NULL stays NULL, but for a constant.
 */

#define MASK_KEY_LENGTH 32
#define MASK_ROWS_AHEAD 16 /* a power of 2 */

typedef enum MaskKind
{
	MASK_PSEUDONYM,
	MASK_NUMBER, /* rounded, cut at the top and at the bottom */
	MASK_PARTIAL,
	MASK_SHIFT,
	MASK_CONSTANT,
	MASK_NOISE, /* these four know all of the column (mask_apply.h) */
	MASK_SWAP,
	MASK_PRAM,
	MASK_MICROAGGREGATE,
	MASK_ANON /* an expression with functions of the extension anon */
} MaskKind;

/* Readers see of a kept column's values: guards of other rooms ask for this, never for the kind. */
typedef enum MaskShows
{
	MASK_SHOWS_ALL,   /* the column is not masked */
	MASK_SHOWS_PART,  /* the value, coarser: whoever knows the value knows what is shown */
	MASK_SHOWS_MOVED, /* another one, so far away as the person's other values are: differences stay */
	MASK_SHOWS_DRAWN, /* another one, by chance */
	MASK_SHOWS_NAME,  /* one name for equal values, which nobody knows */
	MASK_SHOWS_NOTHING
} MaskShows;

/* Where a number or date is cut. */
typedef struct MaskBound
{
	bool given;
	double quantile; /* of the source's rows, between 0 and 1; 0: the value is known */
	Datum value;     /* when known */
	bool known;
	Tuplesortstate *sort; /* of a quantile, while the source is read: its values, from the bound's end */
	int64 rows;           /* of them that have one */
} MaskBound;

/* How likely each value becomes each other one. */
typedef struct MaskMatrix
{
	int n;
	Datum *value;   /* [n] */
	double *chance; /* [n * n] of a row's value, each of them; a row sums to 1 */
} MaskMatrix;

typedef struct MaskMemo MaskMemo;
typedef struct MaskTogether MaskTogether;
typedef struct MaskColumn MaskColumn;
struct IssuedPart;

/* The text that a mask hashes with its key, while rows are written. */
typedef struct MaskKeyed
{
	Oid type; /* of what is hashed, domains looked through */
	bool byval;
	int16 length;
	FmgrInfo output;
	MaskMemo *memo;            /* hashes of values that were met before */
	struct IssuedPart *issued; /* numbers, so that no two values have one; NULL: it gives uuids */
	uint64 hash[4];
	uint8 pseudonym[UUID_LEN];
} MaskKeyed;

typedef struct Mask
{
	MaskKind kind;
	const SourceColumn *column;
	Oid base;   /* its type, domains looked through */
	Oid type;   /* in the target */
	bool byval; /* of that type */
	int16 length;
	Oid collation; /* there */
	bool lasting;  /* the key is the publication's */
	bool number;   /* a pseudonym is a bigint, no uuid */
	char *group;   /* of a pseudonym: columns of one group have one for equal texts; NULL: the column's own.
					  For noise and means: columns that are looked at together. */
	char *
		person; /* of a pseudonym: the column of which it is one, NULL: its own; of a shift, or of what is drawn by the key: the column that says who a row is about */
	int place;  /* among the kept columns, once rows are written: its own, or that of what is hashed */
	int64 days; /* at most, either way */
	Numeric step;    /* to round to; NULL: not rounded */
	double fraction; /* the same, for floats and integers */
	bool decimal;    /* it is a power of ten, */
	int digits;      /* so many digits behind the point */
	MaskBound top;
	MaskBound bottom;
	double share; /* of noise, ranks or chance, or the least rows of a group; by the key: the deviation */
	double correlation;     /* of noise by the key, with other columns of its group; 0: it is drawn alone */
	bool number_type;       /* the column's values are numbers */
	bool median;            /* of a group, instead of the mean */
	MaskMatrix *matrix;     /* of pram, or NULL */
	MaskTogether *together; /* the columns of its group, or NULL */
	int first;              /* characters that are shown */
	int last;
	bool shows;  /* a text was long enough to show some of it */
	int longest; /* characters of the longest text that was too short, or 0 */
	Datum constant;
	bool isnull;
	Expr *expression;  /* of kept columns, by their places */
	MaskColumn *whole; /* what it knows of the column, or NULL */

	/* while rows are written */
	FmgrInfo *compare;
	MaskKeyed keyed;
	ExprState *state;
	ExprContext *econtext;
	TupleTableSlot *slot;
	uint64 sum;   /* of hashes of the values that were masked, in any order of rows */
	uint64 found; /* the same of the target */
} Mask;

typedef struct Masks
{
	uint8 key[2][MASK_KEY_LENGTH]; /* of the release, and the publication's */
	bool has_lasting;
	bool stay;                    /* refuse what follows from all values of the night */
	int n;                        /* columns, as source->kept */
	const SourceColumn **columns; /* [n] */
	Mask **keyed;                 /* [nkeyed] masks that hash with a key */
	int nkeyed;
	Mask **cut; /* [ncut] masks that look at the source first */
	int ncut;
	MaskTogether *together; /* groups of columns, the next one behind each */
	pg_hmac_ctx *hmac[2];   /* of each key that is used */
	bool hmac_keeps[2];     /* its key */
	Border *border;
	MemoryContext row;
	Spelling **spelling; /* [n] of columns whose equal values can look different, or NULL */
	Datum *spelled;      /* [n] the row at hand before it is masked */
	Datum *values;       /* [n] of the row at hand */
	bool *nulls;
	RowsBeside beside; /* masked columns of the target */
	bool summed;       /* it was read with them */
} Masks;

/*
 * {"column": {"pseudonym": "release"}, …}: sets the masks of the source's kept columns, and
 * the source's masks.  key: the column that says who a row is about, which is read beside
 * the kept ones, or NULL.  lasting: a publication's key, or NULL.  stay: what is shown of an unchanged row stays from
 * release to release.  Those that hide a value whole may be of a column that identifies.
 */
extern void masks_read(Source *source, Jsonb *masks, const char *key, const bytea *lasting, bool stay);

/* After masks_read: the pseudonyms in these columns (char *) are those of another kept column, in every row that has one. */
extern void masks_instead(Source *source, const List *columns, char *of);

/* After masks_read: of kept columns that can spell equal values differently one spelling is published. */
extern void masks_spell(Source *source);

/* Is a kept column masked? */
extern bool masks_any(const Source *source);

/* mask: that of a kept column, or NULL. */
extern MaskShows mask_shows(const Mask *mask);

/* The type of a masked column in the target; it has no typmod. */
extern Oid mask_type(const Mask *mask, Oid *collation);

/* Before rows are written.  rows: so many has the source; 0: that is not known. */
extern void masks_begin(const Source *source, int64 rows, int64 k, Border *border);

/*
 * Masks learn of the source before the first row is masked: either each of its rows' kept
 * values, and that it was the last, or all of it by a query of their own.  Where a quantile
 * is cut, at least k rows have the bound, or all.
 */
extern void masks_look(const Masks *masks, const Datum *values, const bool *nulls);
extern void masks_looked(const Masks *masks, int64 k);
extern void masks_read_source(const Source *source, int64 k);

/* The kept column that says whom rows are about, once rows are written: that of a shift, or -1. */
extern int masks_who(const Source *source);

/*
 * Rows from whose being known so many rows before they are masked time is won, which may become fewer; and what
 * tells of such a row.  1: there is none to win.
 */
extern int masks_ahead(const Source *source);
extern void masks_expect(const Masks *masks, const Datum *values, const bool *nulls);

/* A row's kept values, masked: masks->values and ->nulls, until the next row. */
extern void masks_apply(Masks *masks, const Datum *values, const bool *nulls);

/* So many rows with these values are put into the target. */
extern void masks_count(Masks *masks, int64 rows);

extern void masks_end(Masks *masks);

/*
 * For a caller that reads a whole target next: its masked columns, which are summed up; NULL:
 * there are none.
 */
extern const RowsBeside *masks_beside(const Source *source);

/* Raises unless the target has just these masked values; it is read, unless it was with masks_beside. */
extern void masks_verify(const Target *target, const Source *source);

/* ---- mask_key.c: by a key ---- */

/* Sets a mask's key up for the values of that column, when the keys are drawn. */
extern void mask_key_begin(Masks *masks, Mask *mask, const SourceColumn *column);

/* The keyed hash of a value, until the next one: of pseudonyms the first 16 bytes, of shifts 8. */
extern const uint64 *mask_key_hash(Masks *masks, Mask *mask, Datum value);

/*
 * Two numbers that are drawn by the key of a person's value, the same in every release.  length 0: of the person
 * alone, and the same in all columns of a group.
 */
extern void mask_key_draw(Masks *masks, Mask *mask, Datum person, const void *value, Size length,
						  uint64 *drawn);

/* It will be asked for in a moment: what is remembered of it, if anything is, is brought near. */
extern bool mask_key_remembers(const Mask *mask);
extern void mask_key_expect(const Mask *mask, Datum value);
extern void mask_key_end(Masks *masks, Mask *mask);
extern void mask_key_forget(Masks *masks);

/*
 * Pseudonyms of values as a lasting mask of that group gives them, without rows to write; between plain_text_begin
 * and _end.
 */
typedef struct Pseudonyms Pseudonyms;
extern Pseudonyms *pseudonyms_begin(const bytea *key, Oid type, const char *group);
extern void pseudonym_of(Pseudonyms *pseudonyms, Datum value, uint8 *pseudonym);

/* The same pseudonym as a bigint, from 0 on: 63 bits of the hash. */
extern int64 pseudonym_number(const void *pseudonym);
extern void pseudonyms_end(Pseudonyms *pseudonyms);

/* ---- mask_anon.c: by functions of the extension anon ---- */

/* Raises unless the expression calls these alone; nothing of it has run then. */
extern void mask_anon_read(Mask *mask, const Source *source, const char *text);

/* When all masks are read: what it names beside its own column is published as it is. */
extern void mask_anon_check(const Mask *mask, const Source *source);
extern MaskShows mask_anon_shows(const Mask *mask);
extern void mask_anon_begin(Masks *masks, Mask *mask);
extern Datum mask_anon_apply(Masks *masks, Mask *mask, const Datum *values, const bool *nulls, bool *isnull);
extern void mask_anon_end(Mask *mask);

/* ---- mask_column.c: masks that need to know all of a column: noise, values swapped or drawn anew, means of groups ---- */

/* A column, as it is known. */
struct MaskColumn
{
	Border *border;
	Tuplesortstate *sort; /* while the source is read */
	int64 rows;           /* that have a value */
	uint32 n;             /* different values, */
	Datum *value;         /* [n] ascending, */
	int64 *first;         /* [n + 1] and the rank of the first row with each */
	double deviation;     /* of a noise */
	int64 *partner;       /* [rows] whose value a rank shows; of a swap */
	int64 *next;          /* [n] the rank that the next row with a value has */
	Datum *mean;          /* [n] of its group */
	int *state;           /* [n] its row of the matrix */
	const double *drawn;  /* what a row's noise is, and */
	const Datum *shown;   /* its group shows; of columns together */
	RandomPool pool;
};

/* Is it one of these?  A mask that draws by the key need not know the column. */
extern bool mask_of_column(const Mask *mask);

/* From {"noise": 0.1} and so on; raises with `expected` where the number does not fit: what it must be, or NULL. */
extern const char *mask_column_read(Mask *mask, double number);

/* The same of {"pram": {"value": {"value": 0.9, …}, …}}. */
extern const char *mask_matrix_read(Mask *mask, JsonbContainer *object);

/* A JSON number, or NaN; a text as one of the column's values. */
extern double mask_json_number(const JsonbValue *value);
extern Datum mask_value_read(const Mask *mask, char *text);

extern void mask_column_begin(Mask *mask, Border *border);
extern void mask_column_note(Mask *mask, Datum value);
extern void mask_column_noted(Mask *mask);
extern Datum mask_column_apply(Mask *mask, Datum value);

/* The same by the key: of a person, or of nobody. */
extern Datum mask_column_draw(Masks *masks, Mask *mask, Datum value, Datum person, bool nobody);

/* A number as a value of the column's type; and a normal number. */
extern Datum mask_number_value(const Mask *mask, double number);
extern double mask_normal(RandomPool *pool);

/* ---- mask_together.c: columns of one group, of which noise or groups of rows are found together ---- */

/* Noise by the key: its correlation, or NULL; raises unless all columns of a group are drawn by one column. */
extern void mask_correlation_read(Mask *mask, const JsonbValue *value);
extern void masks_together_check(const Source *source);

/* Sets up the groups of the masks; to end with masks_together_look for each row and _looked. */
extern void masks_together_begin(Masks *masks);
extern void masks_together_look(const Masks *masks, const Datum *values, const bool *nulls);
extern void masks_together_looked(const Masks *masks);

/* Before a row's columns are masked: what they have in common is drawn or looked up. */
extern void masks_together_row(Masks *masks, const Datum *values, const bool *nulls);

#endif
