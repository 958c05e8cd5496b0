/*
 * linked_sizes.c: how many persons the classes of the subject's table have, where the caller says "auto".
 *
 * Larger classes show less of persons and more of their rows, since more persons of a class have rows that look
 * alike.  So releases with classes of k, 2k, 4k, … persons are made and undone, as long as they lose less in all
 * tables together.
 */
#include "compat.h"
#include "host/attempt.h"
#include "linked/linked.h"

#include <math.h>

#include "utils/guc.h"

/* Times k, at most. */
#define LARGEST 32

typedef struct Trial
{
	Linked *linked;
	int64 size;
	double loss;
} Trial;

static void
make(void *arg)
{
	Trial *trial = arg;
	Linked *linked = trial->linked;
	LinkedTable *subject = &linked->tables[0];
	Request request = subject->request;

	request_take_k(&request, trial->size);
	subject->run = run_request(&request);
	linked_persons(linked);
	linked_solve(linked);
	trial->loss = linked_loss(linked);
	linked_forget(linked);
	run_end(subject->run);
}

static void
try_size(void *arg)
{
	rehearse(make, arg);
}

static bool
has_rows(const Linked *linked)
{
	return linked->n > 1 && linked->tables[1].role == LINKED_ROWS;
}

void
linked_choose_size(Linked *linked)
{
	LinkedTable *subject = &linked->tables[0];
	Trial trial = {linked, linked->k, 0};
	double best = INFINITY;
	int64 size = linked->k;
	int nest;

	if (!subject->tries_sizes || !has_rows(linked))
		return;
	nest = NewGUCNestLevel();
	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	/* what is wrong with the first is wrong with the release; the others may have too few persons, or break a rule */
	try_size(&trial);
	while (trial.loss < best)
	{
		best = trial.loss;
		size = trial.size;
		if (trial.size >= LARGEST * linked->k || 4 * trial.size > linked->published)
			break;
		trial.size *= 2;
		if (attempt(try_size, &trial) != NULL)
			break;
	}
	AtEOXact_GUC(true, nest);
	request_take_k(&subject->request, size);
}
