/*
 * freeform_flow.c: is there a k-regular graph among the matches of rows and records?
 *
 * It is a flow from records to rows, of k to and from each, with room for one on
 * every match.  Where rows have their own ks, all that flows is a multiple L of these,
 * and a match of a row has room for L / k of it: the flow is a chance for each match, all
 * of a row or record together 1, that falls apart into assignments (Birkhoff), so that one
 * of these can be drawn with no record being the row's own with more than 1/k.  Equal records are one node and equal rows are one, with as much
 * room on an arc as it has pairs: a whole flow can be shared out evenly among them.
 * It grows by blocking flows along shortest paths (Dinic, "Algorithm for solution of
 * a problem of maximum flow in networks with power estimation", Soviet Math. Dokl.
 * 11, 1970; what Hopcroft and Karp, SIAM J. Comput. 2, 1973, do for k = 1), so that
 * all matches are looked at a few times altogether, not once for every path.
 */
#include <string.h>

#include "freeform/freeform_work.h"
#include "util/scratch.h"

#define NO_ARC SIZE_MAX

typedef struct Flow
{
	KanonScratch scratch;
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace *pace;
	/* arcs: class by class, and by the types that they lead to */
	const size_t *start;  /* [nclasses + 1] */
	const uint32_t *type; /* [narcs] */
	uint32_t *class_;     /* [narcs] */
	size_t *by_start;     /* [ntypes + 2]; of a type from by_start[type] on */
	size_t *by_arc;       /* [narcs] */
	int64_t *flow;        /* [narcs] */
	int64_t whole;        /* that flows to and from each row and record: L, or k */
	int64_t *need;        /* [nclasses] that does not flow yet */
	int64_t *left;        /* [ntypes] */
	int64_t *each;        /* [ntypes] that may flow on a match of a row */
	/* layers of nodes that what is needed can reach; 0: not reached */
	uint32_t *class_layer; /* [nclasses] 1 where something is needed */
	uint32_t *type_layer;  /* [ntypes] that of the class before it */
	uint32_t *queue;       /* [nclasses] */
	/* arcs before these lead to nothing */
	size_t *class_next; /* [nclasses] */
	size_t *type_next;  /* [ntypes] */
	size_t *path;       /* [2 * nclasses] to a type, back to a class, … */
} Flow;

static KanonStatus
flow_open(Flow *f)
{
	KanonScratch *scratch = &f->scratch;
	uint32_t nclasses = f->release->nclasses;
	uint32_t ntypes = f->problem->ntypes;
	size_t narcs = f->start[nclasses];

	f->class_ = kanon_take(scratch, narcs, sizeof(uint32_t));
	f->by_start = kanon_take0(scratch, (size_t) ntypes + 2, sizeof(size_t));
	f->by_arc = kanon_take(scratch, narcs, sizeof(size_t));
	f->flow = kanon_take0(scratch, narcs, sizeof(int64_t));
	f->need = kanon_take(scratch, nclasses, sizeof(int64_t));
	f->left = kanon_take(scratch, ntypes, sizeof(int64_t));
	f->each = kanon_take(scratch, ntypes, sizeof(int64_t));
	f->class_layer = kanon_take(scratch, nclasses, sizeof(uint32_t));
	f->type_layer = kanon_take(scratch, ntypes, sizeof(uint32_t));
	f->queue = kanon_take(scratch, nclasses, sizeof(uint32_t));
	f->class_next = kanon_take(scratch, nclasses, sizeof(size_t));
	f->type_next = kanon_take(scratch, ntypes, sizeof(size_t));
	f->path = kanon_take(scratch, nclasses, 2 * sizeof(size_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (size_t a = 0; a < narcs; a++)
		f->by_start[f->type[a] + 2]++;
	for (size_t t = 2; t <= (size_t) ntypes + 1; t++)
		f->by_start[t] += f->by_start[t - 1];
	for (uint32_t i = 0; i < nclasses; i++)
		for (size_t a = f->start[i]; a < f->start[i + 1]; a++)
		{
			f->class_[a] = i;
			f->by_arc[f->by_start[f->type[a] + 1]++] = a;
		}
	return kanon_stop(f->pace, narcs * 4) ? KANON_CANCELLED : KANON_OK;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* More that can flow on an arc, of its pairs of equal rows and equal records. */
static int64_t
room_on(const Flow *f, size_t arc)
{
	uint32_t type = f->type[arc];
	int64_t room;

	if (__builtin_mul_overflow(f->problem->rows[type], f->release->classes[f->class_[arc]].rows, &room) ||
		__builtin_mul_overflow(room, f->each[type], &room))
		room = INT64_MAX;
	return room - f->flow[arc];
}

/* The least common multiple of what rows want, and what each match may have of it. */
static KanonStatus
find_room(Flow *f, int64_t k, bool own)
{
	int64_t rows = 0;

	f->whole = k;
	for (uint32_t type = 0; type < f->problem->ntypes; type++)
	{
		int64_t a = f->whole;
		int64_t b = own ? kanon_freeform_own_k(f->problem, type) : k;
		int64_t step = b;

		rows += f->problem->rows[type];
		while (a % b != 0)
		{
			int64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (__builtin_mul_overflow(f->whole, step / b, &f->whole) || f->whole > INT64_MAX / 4 / rows)
			return KANON_TOO_LARGE;
	}
	for (uint32_t type = 0; type < f->problem->ntypes; type++)
		f->each[type] = own ? f->whole / kanon_freeform_own_k(f->problem, type) : 1;
	return KANON_OK;
}

/* The flow for which nobody has to make room; what is needed beyond that. */
static int64_t
begin(Flow *f)
{
	int64_t needed = 0;

	for (uint32_t type = 0; type < f->problem->ntypes; type++)
		f->left[type] = f->whole * f->problem->rows[type];
	for (uint32_t i = 0; i < f->release->nclasses; i++)
	{
		f->need[i] = f->whole * f->release->classes[i].rows;
		for (size_t a = f->start[i]; a < f->start[i + 1]; a++)
		{
			f->flow[a] = least(least(f->need[i], f->left[f->type[a]]), room_on(f, a));
			f->need[i] -= f->flow[a];
			f->left[f->type[a]] -= f->flow[a];
		}
		needed += f->need[i];
	}
	return needed;
}

/* The classes that could take less of a type are the next layer. */
static uint32_t
reach_classes(Flow *f, uint32_t type, uint32_t tail)
{
	for (size_t b = f->by_start[type]; b < f->by_start[type + 1]; b++)
	{
		uint32_t class_ = f->class_[f->by_arc[b]];

		if (f->flow[f->by_arc[b]] == 0 || f->class_layer[class_] != 0)
			continue;
		f->class_layer[class_] = f->type_layer[type] + 1;
		f->queue[tail++] = class_;
	}
	return tail;
}

/* From the classes that need something, up to the first layer with a type that has it. */
static KanonStatus
make_layers(Flow *f, bool *reached)
{
	uint32_t nclasses = f->release->nclasses;
	uint32_t last = UINT32_MAX;
	uint32_t tail = 0;

	memset(f->type_layer, 0, f->problem->ntypes * sizeof(uint32_t));
	memcpy(f->type_next, f->by_start, f->problem->ntypes * sizeof(size_t));
	memcpy(f->class_next, f->start, nclasses * sizeof(size_t));
	for (uint32_t i = 0; i < nclasses; i++)
	{
		f->class_layer[i] = f->need[i] > 0;
		if (f->need[i] > 0)
			f->queue[tail++] = i;
	}
	for (uint32_t head = 0; head < tail && f->class_layer[f->queue[head]] <= last; head++)
	{
		uint32_t class_ = f->queue[head];

		for (size_t a = f->start[class_]; a < f->start[class_ + 1]; a++)
		{
			uint32_t type = f->type[a];

			if (f->type_layer[type] != 0 || room_on(f, a) == 0)
				continue;
			f->type_layer[type] = f->class_layer[class_];
			if (f->left[type] > 0)
				last = f->class_layer[class_];
			if (last < UINT32_MAX)
				continue;
			tail = reach_classes(f, type, tail);
			if (kanon_stop(f->pace, f->by_start[type + 1] - f->by_start[type]))
				return KANON_CANCELLED;
		}
		if (kanon_stop(f->pace, f->start[class_ + 1] - f->start[class_]))
			return KANON_CANCELLED;
	}
	*reached = last < UINT32_MAX;
	return KANON_OK;
}

/* The next arc from a class to a type of its layer. */
static size_t
arc_to_type(Flow *f, uint32_t class_)
{
	for (; f->class_next[class_] < f->start[class_ + 1]; f->class_next[class_]++)
	{
		size_t a = f->class_next[class_];

		if (f->type_layer[f->type[a]] == f->class_layer[class_] && room_on(f, a) > 0)
			return a;
	}
	return NO_ARC;
}

/* The next arc on which something flows from a class of the next layer to this type. */
static size_t
arc_to_class(Flow *f, uint32_t type)
{
	for (; f->type_next[type] < f->by_start[type + 1]; f->type_next[type]++)
	{
		size_t b = f->by_arc[f->type_next[type]];

		if (f->class_layer[f->class_[b]] == f->type_layer[type] + 1 && f->flow[b] > 0)
			return b;
	}
	return NO_ARC;
}

/* A path through the layers to a type that has something left: its arcs; none: 0. */
static KanonStatus
find_path(Flow *f, uint32_t class_, size_t *length)
{
	uint32_t type;
	size_t arc;

	*length = 0;
	for (;;)
	{
		uint64_t work = f->class_next[class_];

		arc = arc_to_type(f, class_);
		work = f->class_next[class_] - work;
		if (arc != NO_ARC)
			f->path[(*length)++] = arc;
		else if (*length == 0)
			return KANON_OK;
		else
			f->type_next[f->type[f->path[--*length]]]++;
		type = f->type[f->path[*length - 1]];
		if (f->left[type] > 0)
			return KANON_OK;
		work += f->by_start[type + 1] - f->type_next[type];
		arc = arc_to_class(f, type);
		work -= f->by_start[type + 1] - f->type_next[type];
		if (arc != NO_ARC)
		{
			f->path[(*length)++] = arc;
			class_ = f->class_[arc];
		}
		else
		{
			class_ = f->class_[f->path[--*length]];
			f->class_next[class_]++;
		}
		if (kanon_stop(f->pace, work + 4))
			return KANON_CANCELLED;
	}
}

/* As much as fits along a path: every second arc leads back. */
static int64_t
push(Flow *f, size_t length)
{
	uint32_t from = f->class_[f->path[0]];
	uint32_t end = f->type[f->path[length - 1]];
	int64_t amount = least(f->need[from], f->left[end]);

	for (size_t x = 0; x < length; x++)
		amount = least(amount, x % 2 == 0 ? room_on(f, f->path[x]) : f->flow[f->path[x]]);
	for (size_t x = 0; x < length; x++)
		f->flow[f->path[x]] += x % 2 == 0 ? amount : -amount;
	f->need[from] -= amount;
	f->left[end] -= amount;
	return amount;
}

/* All that gets through the layers. */
static KanonStatus
block(Flow *f, int64_t *needed)
{
	for (uint32_t i = 0; i < f->release->nclasses; i++)
		for (size_t length = 1; f->need[i] > 0 && length > 0;)
		{
			KanonStatus status = find_path(f, i, &length);

			if (status != KANON_OK)
				return status;
			if (length > 0)
				*needed -= push(f, length);
		}
	return KANON_OK;
}

KanonStatus
kanon_freeform_regular(const KanonProblem *problem, const KanonRelease *release, int64_t k, bool own,
					   FreeformMatches matches, KanonPace *pace, int64_t *flow, bool *regular)
{
	Flow f = {.scratch = {.env = problem->env},
			  .problem = problem,
			  .release = release,
			  .pace = pace,
			  .start = matches.start,
			  .type = matches.type};
	KanonStatus status = flow_open(&f);
	int64_t needed;

	if (status == KANON_OK)
		status = find_room(&f, k, own);
	needed = status == KANON_OK ? begin(&f) : 0;
	*regular = true;
	while (status == KANON_OK && needed > 0 && *regular)
	{
		status = make_layers(&f, regular);
		if (status == KANON_OK && *regular)
			status = block(&f, &needed);
	}
	for (size_t a = 0; status == KANON_OK && flow != NULL && a < matches.start[release->nclasses]; a++)
		flow[a] = f.flow[a];
	kanon_scratch_free(&f.scratch);
	return status;
}
