/*
 * linked_trials.c: releases that are made and undone, to see what they lose: classes of several sizes, where the
 * caller says "auto", and several ks and numbers of known rows.
 *
 * Rows are read once; the subject's table is published and undone each time.  Larger classes show less of persons
 * and more of their rows, since more persons of a class have rows that look alike.  Classes of k, 2k, 4k, … persons are
 * tried up to half of all.  No size ends the search: one may lose as much as the one before, or more, and the next far less.
 */
#include "compat.h"
#include "host/attempt.h"
#include "linked/linked.h"

#include <math.h>

#include "utils/guc.h"
#include "utils/snapmgr.h"

/* Times k, at most. */
#define LARGEST 1024

typedef struct Trial
{
	Linked *linked;
	int64 size;
} Trial;

/* Persons are counted in this table alone. */
static void
try_alone(const Linked *linked, LinkedTable *table)
{
	Request request = table->request;
	Run *run;

	request_take_k(&request, linked->k);
	run = run_begin(&request);
	run_solve(run);
	table->tally.loss = run->measures.gcp;
	table->tally.published = run->record.row_count - run->release.dropped;
	run_end(run);
}

static void
make(void *arg)
{
	const Trial *trial = arg;
	Linked *linked = trial->linked;
	LinkedTable *subject = &linked->tables[0];
	Request request = subject->request;

	request_take_k(&request, trial->size);
	subject->run = run_request(&request);
	linked_persons(linked);
	linked_solve(linked);
	linked_measure(linked);
	for (int i = 1; i < linked->n && linked->tries_all; i++)
		if (linked->tables[i].role == LINKED_ALONE)
			try_alone(linked, &linked->tables[i]);
	linked_forget(linked);
	run_end(subject->run);
	subject->run = NULL;
}

static void
try_size(void *arg)
{
	rehearse(make, arg);
}

/* No release keeps the rules, there are fewer persons, or more combinations than can be counted. */
static bool
is_none(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_CHECK_VIOLATION ||
		   error->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE ||
		   error->sqlerrcode == ERRCODE_PROGRAM_LIMIT_EXCEEDED;
}

/* False: there is no such release, or too little memory for it.  must: why not is raised. */
static bool
succeeds(Trial *trial, bool must)
{
	Linked *linked = trial->linked;
	Size used = linked->border->used;
	ErrorData *error = NULL;

	if (must)
		try_size(trial);
	else
		error = attempt(try_size, trial);
	if (error == NULL)
		return true;
	if (linked->tries_all && !(raised_by_kanon(error) && is_none(error)))
		ReThrowError(error);
	linked_forget(linked);
	linked->tables[0].run = NULL;
	/* (what the subject's run held is gone with it) */
	linked->border->used = used;
	return false;
}

static int
in_silence(void)
{
	int nest = NewGUCNestLevel();

	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	return nest;
}

static bool
has_rows(const Linked *linked)
{
	return linked->n > 1 && linked->tables[1].role == LINKED_ROWS;
}

/* The size of classes that lose least, in persons; 0: there are none. */
static int64
best_size(Linked *linked, bool must)
{
	Trial trial = {linked, linked->k};
	int64 size = linked->k, most;
	double best;

	/* what is wrong with the first is wrong with the release; the others may have too few persons, or break a rule */
	if (!succeeds(&trial, must))
		return 0;
	best = linked->loss;
	most = Min(linked->published / 2, LARGEST * linked->k);
	for (trial.size *= 2; trial.size <= most; trial.size *= 2)
		if (succeeds(&trial, false) && linked->loss < best)
		{
			best = linked->loss;
			size = trial.size;
		}
	return size;
}

void
linked_choose_size(Linked *linked)
{
	LinkedTable *subject = &linked->tables[0];
	int64 size;
	int nest;

	if (!subject->terms.tries_sizes || !has_rows(linked))
		return;
	nest = in_silence();
	size = best_size(linked, true);
	AtEOXact_GUC(true, nest);
	request_take_k(&subject->request, size);
}

/* ---- several ks and numbers of known rows ---- */

int64
linked_try(Linked *linked, int64 k, const char *known)
{
	const LinkedTable *subject = &linked->tables[0];
	Trial trial = {linked, Max(k, subject->terms.class_size)};
	int nest = in_silence();

	linked->k = k;
	linked_know(linked, known);
	if (subject->terms.tries_sizes && has_rows(linked))
		trial.size = best_size(linked, false);
	if (trial.size > 0 && !succeeds(&trial, false))
		trial.size = 0;
	AtEOXact_GUC(true, nest);
	return trial.size;
}

void
linked_read(Linked *linked)
{
	linked_requests(linked);
	linked_check_targets(linked);
	linked_make_shapes(linked);
	linked->tries_all = true;
	linked->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	linked_check_given(linked);
	linked_check_owners(linked);
	for (int i = 0; i < linked->n; i++)
	{
		linked->tables[i].request.linked.snapshot = linked->snapshot;
		if (linked->tables[i].role == LINKED_ROWS)
			linked->tables[i].run = run_begin(&linked->tables[i].request);
	}
}
