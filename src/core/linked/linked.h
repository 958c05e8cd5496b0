/*
 * linked.h: rows of several tables that hang on persons, generalised class by class.
 *
 * (k, k^m)-anonymity: Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, "Anonymizing Data
 * with Relational and Transaction Attributes", ECML PKDD 2013.  Persons are in classes by what
 * the subject's table shows of them.  Inside each class every combination of at most m rows of
 * each table that one person has is what k persons have.  m = 0 stands for all rows: k persons
 * of the class agree in everything (Nergiz, Clifton, Nergiz, "Multirelational k-Anonymity", 2009).
 */
#ifndef KANON_LINKED_H
#define KANON_LINKED_H

#include "kanon.h"

/* Tables beside the subject's, and rows of each table that somebody may know. */
#define KANON_MAX_LINKED 16
#define KANON_MAX_KNOWN_ROWS 4

typedef struct KanonLinkedTable
{
	const KanonProblem
		*problem; /* columns with their weights, row types; types that agree in all columns are neighbours */
	int parent;   /* the table on whose rows its rows hang, a lesser number; -1: on persons */
	uint32_t nrows;
	const uint32_t *type;   /* [nrows] */
	const uint32_t *person; /* [nrows] */
	const uint32_t *above;  /* [nrows] the row of the parent; NULL: persons are */
	bool *gone;             /* [nrows] left out; in: those that are already; out: all */

	/* Out: what a row shows: row type `like[i]`, of quasi-identifier q from level[i * nqis + q] on. */
	int nqis;
	uint32_t *like;
	uint8_t *level;
} KanonLinkedTable;

typedef struct KanonLinked
{
	KanonEnv *env;
	int64_t k;
	int m; /* 0: all */
	int ntables;
	KanonLinkedTable *tables;
	uint32_t npersons;
	uint32_t nclasses;
	const uint32_t *class_; /* [npersons] */
} KanonLinked;

/* Fills in what rows show, and which are left out.  KANON_TOO_LARGE (detail): too many combinations. */
extern KanonStatus kanon_solve_linked(KanonLinked *linked, KanonReport *report);

#endif
