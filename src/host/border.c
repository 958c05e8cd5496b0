/*
 * border.c: what the core asks of its host, answered by PostgreSQL: memory in a
 * named context under a budget, a clock, interrupts and progress.  Status codes
 * become errors here and nowhere else.
 */
#include "compat.h"
#include "host/border.h"
#include "host/settings.h"
#include "core/util/fault.h"

#include <sys/mman.h>

#include "lib/stringinfo.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#define PROGRESS_SECONDS 5.0

/* The size of a large page on x86, and on most of ARM. */
#define LARGE_PAGE (2 * 1024 * 1024)

/* Items of an array at first. */
#define FIRST_ROOM 64

static bool
has_room(const Border *border, Size size)
{
	return !(REFUSED || size > border->limit || border_used(border) > border->limit - size);
}

/*
 * The border holds more, or less; while memory is copied `more` bytes besides.  The memory that a library called by
 * the core may take is the rest of the budget; 0 would be no limit.
 */
static void
hold(Border *border, Size before, Size after, Size more)
{
	for (Border *each = border; each != NULL; each = each->above)
	{
		each->used = each->used - before + after;
		each->peak = Max(each->peak, each->used + more);
	}
	border->env.foreign = Max(border->limit - Min(border_used(border), border->limit), 1);
}

/* Memory that is met here and there is found sooner in large pages, where the system has them. */
static void
in_large_pages(void *ptr, Size size)
{
#ifdef MADV_HUGEPAGE
	char *first = (char *) TYPEALIGN(LARGE_PAGE, ptr);
	char *end = (char *) TYPEALIGN_DOWN(LARGE_PAGE, (char *) ptr + size);

	if (size >= 2 * LARGE_PAGE && end > first)
		(void) madvise(first, end - first, MADV_HUGEPAGE);
#endif
}

void *
zeroed_in_large_pages(MemoryContext context, Size size)
{
	void *ptr = MemoryContextAllocHuge(context, size);

	in_large_pages(ptr, size);
	return memset(ptr, 0, size);
}

/* Before the caller gives back its memory. */
static void *
refuse(Border *border)
{
	border->full = border_used(border);
	return NULL;
}

static void *
border_alloc(void *arg, size_t size)
{
	Border *border = arg;
	void *ptr;

	if (!has_room(border, size))
		return refuse(border);
	ptr = MemoryContextAllocExtended(border->context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (ptr == NULL)
		return refuse(border);
	in_large_pages(ptr, size);
	hold(border, 0, GetMemoryChunkSpace(ptr), 0);
#ifdef KANON_GARBAGE
	/* in tests nobody counts on zeros */
	memset(ptr, 0xa7, size);
#endif
	return ptr;
}

static void
border_free(void *arg, void *ptr)
{
	Border *border = arg;

	if (ptr == NULL)
		return;
	hold(border, GetMemoryChunkSpace(ptr), 0, 0);
	pfree(ptr);
}

/* The budget has room for both: the old memory may have to be copied. */
static void *
border_realloc(void *arg, void *ptr, size_t size)
{
	Border *border = arg;
	Size before;
	void *result;

	if (ptr == NULL)
		return border_alloc(arg, size);
	if (!has_room(border, size))
		return refuse(border);
	before = GetMemoryChunkSpace(ptr);
	result = kanon_repalloc(ptr, size);
	if (result == NULL)
		return refuse(border);
	in_large_pages(result, size);
	hold(border, before, GetMemoryChunkSpace(result), before);
	return result;
}

static double
border_now(void *arg)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	return INSTR_TIME_GET_DOUBLE(now);
}

/*
 * Nothing tells the server whether somebody reads along: a nightly job's psql looks
 * like anybody's.  A background worker's NOTICEs nobody does; and a refresh, which is
 * what jobs are for, turns them off (publication/refresh.c).
 */
static bool
progress_is_said(void)
{
	return kanon_progress == PROGRESS_ON || (kanon_progress == PROGRESS_AUTO && MyBackendType == B_BACKEND);
}

/* For other sessions, and every few seconds of a longer run a NOTICE. */
static void
say_progress(Border *border, const KanonProgress *progress)
{
	instr_time now, since;
	StringInfoData text;

	progress_say(progress->phase, progress->share, progress->rows_left);
	if (!progress_is_said())
		return;
	INSTR_TIME_SET_CURRENT(now);
	since = now;
	INSTR_TIME_SUBTRACT(since, border->said);
	if (INSTR_TIME_GET_DOUBLE(since) < PROGRESS_SECONDS && !FAULT(progress_told))
		return;
	border->said = now;
	INSTR_TIME_SUBTRACT(now, border->started);
	initStringInfo(&text);
	if (progress->share > 0)
		appendStringInfo(&text, ", %.0f %% done", progress->share * 100);
	if (progress->share > 0 && progress->rows_left >= 0)
		appendStringInfo(&text, ", " INT64_FORMAT " rows left", progress->rows_left);
	if (progress->bounded)
		appendStringInfo(&text, ", cost %.10g, at least %.10g", progress->cost, progress->lower_bound);
	ereport(NOTICE, (errmsg("kanon: %s%s, %.0f s so far", progress->phase, text.data,
							FAULT(progress_told) ? 0 : INSTR_TIME_GET_DOUBLE(now))));
	pfree(text.data);
}

/*
 * Only asks whether the statement is to end; the core unwinds by itself, and
 * border_check raises the error when it is back.
 */
static bool
border_poll(void *arg, const KanonProgress *progress)
{
	if (InterruptPending && (QueryCancelPending || ProcDiePending))
		return true;
	say_progress(arg, progress);
	return false;
}

Border *
border_create(const char *name)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon run", ALLOCSET_DEFAULT_SIZES);
	Border *border = MemoryContextAllocZero(context, sizeof(Border));

	MemoryContextSetIdentifier(context, MemoryContextStrdup(context, name));
	border->context = context;
	border->limit = kanon_memory_limit();
	border->env.arg = border;
	border->env.alloc = border_alloc;
	border->env.realloc = border_realloc;
	border->env.free = border_free;
	border->env.poll = border_poll;
	border->env.now = border_now;
	hold(border, 0, 0, 0);
	INSTR_TIME_SET_CURRENT(border->started);
	border->said = border->started;
	progress_enter(context);
	return border;
}

void
border_share(Border *border, Border *above)
{
	border->above = above;
	if (above != NULL)
		border->limit = above->limit;
}

void
border_delete(Border *border)
{
	hold(border, border->used, 0, 0);
	MemoryContextDelete(border->context);
}

void
border_progress(Border *border, const char *phase, double share, int64 left)
{
	KanonProgress progress = {.phase = phase, .share = share, .rows_left = left};

	say_progress(border, &progress);
}

static void
raise_no_memory(const Border *border, Size needed, Size used, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("kanon needs more memory than it may use"),
			 errdetail("%s asked for %zu kB more, with %zu kB in use and a limit of %zu kB.%s%s", what,
					   (needed + 1023) / 1024, used / 1024, border->limit / 1024,
					   border->why != NULL ? " " : "", border->why != NULL ? border->why : ""),
			 errhint("Raise \"kanon.max_memory\", or publish fewer or coarser quasi-identifiers.%s%s",
					 border->instead != NULL ? " " : "", border->instead != NULL ? border->instead : "")));
}

void *
border_palloc(Border *border, Size size)
{
	void *ptr = border_alloc(border, Max(size, 1));

	if (ptr == NULL)
		raise_no_memory(border, size, border_used(border), "Reading or writing the table");
	return ptr;
}

void
border_pfree(Border *border, void *ptr)
{
	border_free(border, ptr);
}

void *
border_grow(Border *border, void *array, Size *room, Size needed, Size item)
{
	Size larger = Max(needed, Max(2 * *room, FIRST_ROOM));

	if (needed <= *room)
		return array;
	array = border_realloc(border, array, mul_size(larger, item));
	if (array == NULL)
		raise_no_memory(border, mul_size(larger, item), border_used(border), "Reading or writing the table");
	*room = larger;
	return array;
}

void
border_charge(Border *border, Size from, Size to)
{
	if (to > from && !has_room(border, to - from))
		raise_no_memory(border, to - from, border_used(border), "The dictionaries of distinct values");
	hold(border, from, to, 0);
}

/* The core's short remarks ("rows are left over") as PostgreSQL prints details. */
static char *
sentence(const char *remark)
{
	char *text = psprintf("%s%s", remark, remark[0] == '\0' ? "" : ".");

	text[0] = pg_toupper((unsigned char) text[0]);
	return text;
}

/* Options of the function that let more rows into classes, or rows out of them. */
static char *
more_room(const Border *border)
{
	return psprintf("Allow more patterns or levels%s%s%s.",
					border->least_k       ? ""
					: border->no_residual ? ", or"
										  : ",",
					border->least_k ? "" : " lower k",
					border->no_residual ? "" : ", or let residual be 'fill'");
}

void
border_check(Border *border, KanonStatus status, const char *remark)
{
	const char *detail = status == KANON_OK ? "" : sentence(remark);

	switch (status)
	{
		case KANON_OK:
			return;
		case KANON_CANCELLED:
			CHECK_FOR_INTERRUPTS();
			/* the reason to stop went away while the core was unwinding */
			ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED),
							errmsg("canceling kanon's method due to user request")));
			break;
		case KANON_NO_MEMORY:
			raise_no_memory(border, border->env.refused, Max(border->full, border_used(border)),
							"The method");
			break;
		case KANON_RESIDUAL:
			ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION), errmsg("some rows fit no class of k rows"),
							detail[0] ? errdetail("%s", detail) : 0, errhint("%s", more_room(border))));
			break;
		case KANON_REST_FORBIDDEN:
			ereport(
				ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("the rows that fit no class may not be published fully suppressed"),
				 detail[0] ? errdetail("%s", detail) : 0,
				 errhint(
					 "Let residual be 'fill', or allow more patterns or levels. With 'drop' those rows are left out, which changes what the table says.")));
			break;
		case KANON_INFEASIBLE:
			ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION), errmsg("no release fulfils these rules"),
							detail[0] ? errdetail("%s", detail) : 0, errhint("%s", more_room(border))));
			break;
		case KANON_NOT_FOUND:
			ereport(
				ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("the heuristic found no release that fulfils these rules"),
				 errdetail("One may exist all the same."),
#ifdef HAVE_GLPK
				 errhint(
					 "Use an exact method (under rules about populations kanon_full_domain, or 'optimal' of kanon_subtree), or allow more patterns or levels.")));
#else
				 errhint(
					 "Allow more patterns or levels, or take kanon_full_domain, or 'optimal' of kanon_subtree; other exact methods take GLPK, which this build of kanon is without.")));
#endif
			break;
		case KANON_TOO_LARGE:
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							errmsg("the problem is too large for this method"),
							detail[0] ? errdetail("%s", detail) : 0,
							errhint("A method that proves nothing takes any size.")));
			break;
		case KANON_UNAVAILABLE:
			ereport(
				ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this method is not available in this build of kanon"),
				 detail[0] ? errdetail("%s", detail) : 0,
				 errhint(
					 "Build kanon with GLPK and LEMON, as its README says under Install, or use another method.")));
			break;
		case KANON_UNSUPPORTED:
			ereport(
				ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this method does not take one of the privacy rules"),
				 detail[0] ? errdetail("%s", detail) : 0,
				 errhint("The page on privacy rules has a table; kanon_full_domain takes most of them.")));
			break;
		case KANON_BROKEN:
			ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
							errmsg("the method's release failed kanon's check, nothing was published"),
							detail[0] ? errdetail("%s", detail) : 0,
							errhint("This is a defect of kanon; please report it.")));
			break;
	}
}

/* ---- Random numbers that nobody can foresee ---- */

void
random_fill(void *to, Size size)
{
	if (FAULT(no_random) || !pg_strong_random(to, size))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
}

uint64
random_number(void)
{
	uint64 number;

	random_fill(&number, sizeof(number));
	return number;
}

uint64
random_draw(RandomPool *pool)
{
	if (pool->left == 0)
	{
		random_fill(pool->number, sizeof(pool->number));
		pool->left = lengthof(pool->number);
	}
	return pool->number[--pool->left];
}
