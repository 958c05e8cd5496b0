/*
 * full_domain_check.c: counts the classes of a node.
 *
 * It counts row types, not rows, and not always all of them: a node's groups are made
 * of the groups of a lower node where a history has some (roll-up: LeFevre et al.,
 * SIGMOD 2005; the bounded history buffer, in which what was not used for longest
 * gives way: Kohlmayer, Prasser, Eckert, Kemper, Kuhn, "Flash: efficient, stable and
 * optimal k-anonymity", PASSAT 2012).
 *
 * A team divides the row types by the highest level of one quasi-identifier, so
 * that as long as this is not suppressed no group is in two parts, and each
 * member works on his own.  When it is suppressed, the members' groups are
 * merged: there are fewer then.
 */
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"

/* ---- checks ---- */

/* A blank cell that is a value must be that of k rows, or persons. */
static bool
shows_enough_blank(Checker *checker, size_t ntypes, int64_t rows)
{
	const KanonKnown *known = checker->problem->known;
	int64_t persons = 0;

	if (known == NULL || known->missing != KANON_MISSING_VALUE)
		return true;
	if (checker->met == NULL)
		return rows >= checker->metric->blank;
	checker->stamp++;
	for (size_t i = 0; i < ntypes && persons < checker->metric->blank; i++)
	{
		uint64_t *met = &checker->met[known->person[checker->rest[i]]];

		persons += *met != checker->stamp;
		*met = checker->stamp;
	}
	return persons >= checker->metric->blank;
}

/*
 * The fate of the suppressed rows: a class if they may be one, or what residual says;
 * which may not do.
 */
static void
judge_rest(Checker *checker, const int64_t *counts, size_t ntypes, Count *count)
{
	const KanonProblem *problem = checker->problem;
	bool enough = shows_enough_blank(checker, ntypes, count->suppressed);
	bool present = enough && kanon_presence_rest(checker->presence, count->suppressed);

	count->rest_is_class = count->suppressed > 0 && present &&
						   kanon_class_allowed(problem, checker->rest, counts, ntypes, count->suppressed);
	count->left_over = count->suppressed > 0 && !count->rest_is_class &&
					   (kanon_rest_strict(problem) ||
						(problem->residual == KANON_RESIDUAL_SUPPRESS &&
						 !(present && kanon_rest_allowed(problem, checker->rest, counts, ntypes))));
	/* no fully suppressed row is published */
	count->absent =
		(count->suppressed == 0 || (problem->residual == KANON_RESIDUAL_DROP && !count->rest_is_class)) &&
		!kanon_presence_rest(checker->presence, 0);
}

/* Lets all who take part do the block's task, and adds up what they have. */
static KanonStatus
do_task(Checker *checker, Count *count)
{
	Block *block = checker->block;
	bool done = true;

	if (block->members > 1)
		checker->team->start(checker->team->arg);
	kanon_member_work(checker->self);
	if (block->members > 1)
		done = checker->team->wait(checker->team->arg);
	if (!done)
		return KANON_CANCELLED;
	if (block->task == TASK_KEEP)
		return KANON_OK;
	memset(count, 0, sizeof(*count));
	for (int m = 0; m < block->members; m++)
	{
		const Result *result = &block->result[m];

		if (result->status != KANON_OK)
		{
			checker->problem->env->refused = result->refused;
			return result->status;
		}
		count->groups += result->count.groups;
		count->classes += result->count.classes;
		count->suppressed += result->count.suppressed;
		count->squares += result->count.squares;
		count->class_squares += result->count.class_squares;
		count->kept += result->count.kept;
	}
	if (!kanon_by_types(checker->problem))
		judge_rest(checker, NULL, 0, count);
	return KANON_OK;
}

/* Words that the members' groups take. */
static size_t
words_of_groups(const Checker *checker)
{
	size_t total = 0;

	for (int m = 0; m < checker->block->members; m++)
		total += (size_t) checker->block->result[m].count.groups;
	return total * ((size_t) checker->block->words + 1);
}

/* Puts the members' groups into the history; there must be room. */
static KanonStatus
keep(Checker *checker, Groups **kept)
{
	Block *block = checker->block;
	size_t stride = (size_t) block->words + 1;
	size_t words = words_of_groups(checker);
	size_t at;
	Groups *groups = history_reserve(checker, words, &at);

	memcpy(groups->level, block->level, sizeof(groups->level));
	groups->nparts = block->members;
	groups->total = words / stride;
	groups->age = ++checker->age;
	for (int m = 0; m < block->members; m++)
	{
		groups->at[m] = block->keep[m] = at;
		groups->count[m] = (size_t) block->result[m].count.groups;
		at += groups->count[m] * stride;
	}
	*kept = groups;
	block->task = TASK_KEEP;
	return do_task(checker, NULL);
}

/* Remembers the node's groups, if that makes the next checks much shorter: else *groups stays as it is. */
static KanonStatus
remember(Checker *checker, Groups **groups)
{
	size_t words = words_of_groups(checker);

	if (words > checker->block->from.total / 4 * 3 * ((size_t) checker->block->words + 1) ||
		words > checker->arena_words / 4)
		return KANON_OK;
	return keep(checker, groups);
}

/* Lets a team, or the caller alone if that is quicker, make the groups of the block's level. */
static KanonStatus
make_groups(Checker *checker, const Groups *from, bool by_part, Count *count)
{
	Block *block = checker->block;

	block->task = TASK_COUNT;
	block->from = *from;
	block->members = from->total >= FULL_DOMAIN_SHARED ? checker->members : 1;
	block->by_part = by_part && block->members > 1;
	return do_task(checker, count);
}

/* Merges what the members have made of their parts. */
static KanonStatus
merge_parts(Checker *checker, Count *count)
{
	Groups *groups;
	Groups from = checker->block->from;
	KanonStatus status;

	/* without room for them, all begin again, each with the hashes that are his */
	if (words_of_groups(checker) > checker->arena_words / 2)
		return make_groups(checker, &from, false, count);
	status = keep(checker, &groups);
	return status == KANON_OK ? make_groups(checker, groups, false, count) : status;
}

static void
set_levels(Checker *checker, KanonPattern node)
{
	lattice_levels_of(checker->lattice, node, checker->block->level);
	/* what rules look at is told apart until they are asked */
	if (checker->block->values >= 0)
		checker->block->level[checker->block->values] = 0;
}

/* Groups the row types themselves; where each went: checker->group. */
static KanonStatus
group_types(Checker *checker, KanonPattern node)
{
	KanonStatus status;

	checker->self->pace.share = checker->pace->share;
	set_levels(checker, node);
	if (checker->block->values >= 0)
		checker->block->level[checker->block->values] = 1;
	checker->block->from = checker->base;
	checker->block->members = 1;
	checker->block->by_part = false;
	checker->self->position = checker->order != NULL ? checker->member : checker->group;
	status = member_make_groups(checker->self);
	checker->self->position = NULL;
	for (uint32_t i = 0; checker->order != NULL && status == KANON_OK && i < checker->problem->ntypes; i++)
		checker->group[checker->order[i]] = checker->member[i];
	return status;
}

/* Lists the row types (or entries) of each group: member[start[g]] .. member[start[g + 1] - 1]. */
static void
list_types(Checker *checker, uint32_t ntypes)
{
	uint32_t ngroups = checker->self->count;

	memset(checker->start, 0, ((size_t) ngroups + 2) * sizeof(uint32_t));
	for (uint32_t type = 0; type < ntypes; type++)
		checker->start[checker->group[type] + 2]++;
	for (uint32_t g = 0; g < ngroups; g++)
		checker->start[g + 2] += checker->start[g + 1];
	/* the start of the group after it grows to its own */
	for (uint32_t type = 0; type < ntypes; type++)
		checker->member[checker->start[checker->group[type] + 1]++] = type;
}

/* The persons of the populations that match each group. */
static KanonStatus
count_populations(Checker *checker, KanonPattern node)
{
	uint32_t *type;

	if (checker->presence == NULL)
		return KANON_OK;
	type = kanon_presence_types(checker->presence);
	for (uint32_t g = 0; g < checker->self->count; g++)
		type[g] = checker->member[checker->start[g]];
	return kanon_presence_count(checker->presence, node, checker->self->count);
}

/*
 * Rows that are no class: could no part of them be one either?  Where there are fewer than k
 * of them, or too few values.
 */
static bool
is_hopeless(Checker *checker, const uint32_t *types, size_t ntypes, int64_t rows)
{
	uint64_t stamp = ++checker->stamp;
	uint32_t have = 0;

	if (rows < kanon_least_rows(checker->problem))
		return true;
	if (checker->code == NULL)
		return false;
	for (size_t i = 0; i < ntypes && have < checker->needed; i++)
		if (checker->seen[checker->code[types[i]]] != stamp)
		{
			checker->seen[checker->code[types[i]]] = stamp;
			have++;
		}
	return have < checker->needed;
}

/* May further rows be suppressed, so that the rest becomes a class? */
static bool
is_to_fill(const Checker *checker, const Count *count)
{
	return checker->metric->fill > 0 && count->left_over;
}

static bool
is_to_mend(const Checker *checker, const Count *count)
{
	return count->left_over && checker_mends(checker);
}

/* The same under rules, of groups of row types. */
static KanonStatus
mend_types(Checker *checker, const uint32_t *class_of, size_t nrest, Count *count)
{
	const uint64_t *entry = checker->self->entries;
	KanonStatus status = checker_mend_begin(checker);

	for (uint32_t g = 0; g < checker->self->count && status == KANON_OK;
		 g++, entry += checker->block->words + 1)
		if (class_of[g] != UINT32_MAX)
			status = checker_mend_class(checker, entry, class_of[g], checker->member + checker->start[g],
										NULL, checker->start[g + 1] - checker->start[g]);
	return status == KANON_OK ? checker_mend(checker, checker->rest, NULL, nrest, count) : status;
}

/* The classes of groups of row types; class_of is filled, and take as in checker_classes. */
static KanonStatus
ask_by_types(Checker *checker, KanonPattern node, Count *count, uint32_t *class_of, int64_t *take)
{
	const Block *block = checker->block;
	const uint64_t *entry = checker->self->entries;
	size_t nrest = 0;
	KanonStatus status;

	list_types(checker, checker->problem->ntypes);
	status = count_populations(checker, node);
	if (status == KANON_OK && checker->dead != NULL)
		status = checker_find_dead(checker, node);
	if (status != KANON_OK)
		return status;
	memset(count, 0, sizeof(*count));
	for (uint32_t g = 0; g < checker->self->count; g++, entry += block->words + 1)
	{
		uint32_t from = checker->start[g];
		uint32_t ntypes = checker->start[g + 1] - from;
		int64_t rows = (int64_t) entry[block->words];
		bool allowed = checker_shows(checker, checker->member[from]) &&
					   kanon_class_allowed(checker->problem, checker->member + from, NULL, ntypes, rows) &&
					   (FAULT(population_miscounted) || kanon_presence_allows(checker->presence, g, rows));

		if (kanon_stop(checker->pace, ntypes))
			return KANON_CANCELLED;
		if (allowed)
			kanon_presence_take(checker->presence, g);
		class_of[g] = allowed ? (uint32_t) count->classes : UINT32_MAX;
		member_count_group(block, entry, allowed, count);
		for (uint32_t i = 0; i < ntypes && !allowed; i++)
			checker->rest[nrest++] = checker->member[from + i];
	}
	judge_rest(checker, NULL, nrest, count);
	if (is_to_mend(checker, count))
		return mend_types(checker, class_of, nrest, count);
	return is_to_fill(checker, count) ? checker_fill(checker, class_of, take, count) : KANON_OK;
}

/* The same; class_of has them by group. */
static KanonStatus
classes_by_types(Checker *checker, KanonPattern node, uint32_t *class_of, int64_t *take, Count *count)
{
	KanonStatus status = checker_take_lists(checker);

	if (status == KANON_OK)
		status = group_types(checker, node);
	return status == KANON_OK ? ask_by_types(checker, node, count, class_of, take) : status;
}

/* Rows to take of each class become those of its first types. */
static KanonStatus
take_by_type(const KanonProblem *problem, const uint32_t *class_of, int64_t *take)
{
	int64_t *of_class = kanon_alloc(problem->env, problem->ntypes, sizeof(int64_t));

	if (of_class == NULL)
		return KANON_NO_MEMORY;
	memcpy(of_class, take, problem->ntypes * sizeof(int64_t));
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint32_t class = class_of[type];
		int64_t more = class == UINT32_MAX ? 0 : of_class[class];

		take[type] = more < problem->rows[type] ? more : problem->rows[type];
		if (class != UINT32_MAX)
			of_class[class] -= take[type];
	}
	kanon_free(problem->env, of_class);
	return KANON_OK;
}

KanonStatus
checker_classes(Checker *checker, KanonPattern node, uint32_t *class_of, int64_t *take, Count *count)
{
	const KanonProblem *problem = checker->problem;
	KanonStatus status = classes_by_types(checker, node, class_of, take, count);

	if (status != KANON_OK)
		return status;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		checker->group[type] = class_of[checker->group[type]];
	memcpy(class_of, checker->group, problem->ntypes * sizeof(uint32_t));
	if (count->more > 0 && checker_mends(checker))
		checker_mend_take(checker, class_of, take);
	else if (count->more > 0)
		status = take_by_type(problem, class_of, take);
	return status;
}

/* The types that are typical of what some entries have, with the rows of each. */
static void
describe_entries(const Checker *checker, const Groups *from, const uint32_t *entries, uint32_t n,
				 uint32_t *types, int64_t *counts)
{
	const Block *block = checker->block;
	size_t stride = (size_t) block->words + 1;
	int q = block->values;

	for (uint32_t i = 0; i < n; i++)
	{
		const uint64_t *entry = words_at(block, from->at[0]) + entries[i] * stride;

		types[i] = checker->typical[entry[block->word[q]] >> block->shift[q] & block->mask[q]];
		counts[i] = (int64_t) entry[block->words];
	}
}

/* The same by what each group's entry shows. */
static KanonStatus
count_shown(Checker *checker, KanonPattern node)
{
	const Block *block = checker->block;
	const uint64_t *entry = checker->self->entries;
	int nqis = checker->lattice->nqis;
	uint32_t *codes;

	if (checker->presence == NULL)
		return KANON_OK;
	codes = kanon_presence_codes(checker->presence);
	if (codes == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t g = 0; g < checker->self->count; g++, entry += block->words + 1)
		for (int q = 0; q < nqis; q++)
			*codes++ = (uint32_t) (entry[block->word[q]] >> block->shift[q] & block->mask[q]);
	return kanon_presence_count(checker->presence, node, checker->self->count);
}

/* Fills the suppressed rows up, of groups whose entries have so many rows of each combination of values. */
static KanonStatus
mend_values(Checker *checker, const Groups *from, size_t nrest, Count *count)
{
	const Block *block = checker->block;
	const uint64_t *group = checker->self->entries;
	uint32_t class = 0;
	KanonStatus status = checker_mend_begin(checker);

	for (uint32_t g = 0; g < checker->self->count && status == KANON_OK; g++, group += block->words + 1)
	{
		uint32_t n = checker->start[g + 1] - checker->start[g];

		describe_entries(checker, from, checker->member + checker->start[g], n, checker->class_types,
						 checker->class_counts);
		if (kanon_class_allowed(checker->problem, checker->class_types, checker->class_counts, n,
								(int64_t) group[block->words]))
			status =
				checker_mend_class(checker, group, class ++, checker->class_types, checker->class_counts, n);
	}
	return status == KANON_OK ? checker_mend(checker, checker->rest, checker->rest_counts, nrest, count)
							  : status;
}

/*
 * By rules that look at more than numbers of rows: groups that differ in the values that they look
 * at, but agree in all else, are one, and say how many rows of it have which.
 */
static KanonStatus
ask_by_values(Checker *checker, KanonPattern node, const Groups *from, Count *count)
{
	Block *block = checker->block;
	const uint64_t *group;
	size_t nrest = 0;
	KanonStatus status;

	block->from = *from;
	block->members = 1;
	block->by_part = false;
	if (block->values >= 0)
		block->level[block->values] = 1;
	checker->self->position = checker->group;
	status = member_make_groups(checker->self);
	checker->self->position = NULL;
	if (status == KANON_OK)
		status = count_shown(checker, node);
	if (status != KANON_OK)
		return status;
	list_types(checker, (uint32_t) from->total);
	memset(count, 0, sizeof(*count));
	group = checker->self->entries;
	for (uint32_t g = 0; g < checker->self->count; g++, group += block->words + 1)
	{
		const uint32_t *entries = checker->member + checker->start[g];
		uint32_t n = checker->start[g + 1] - checker->start[g];
		bool allowed;

		if (block->values >= 0)
			describe_entries(checker, from, entries, n, checker->class_types, checker->class_counts);
		allowed = kanon_class_allowed(checker->problem, checker->class_types, checker->class_counts, n,
									  (int64_t) group[block->words]) &&
				  (FAULT(population_miscounted) ||
				   kanon_presence_allows(checker->presence, g, (int64_t) group[block->words]));
		if (kanon_stop(checker->pace, n))
			return KANON_CANCELLED;
		member_count_group(block, group, allowed, count);
		if (allowed)
		{
			kanon_presence_take(checker->presence, g);
			continue;
		}
		if (is_hopeless(checker, checker->class_types, n, (int64_t) group[block->words]))
			count->hopeless += (int64_t) group[block->words];
		if (block->values < 0)
			continue;
		describe_entries(checker, from, entries, n, checker->rest + nrest, checker->rest_counts + nrest);
		nrest += n;
	}
	judge_rest(checker, checker->rest_counts, nrest, count);
	return is_to_mend(checker, count) ? mend_values(checker, from, nrest, count) : KANON_OK;
}

/* Counts the groups of the block's level, and remembers them if that pays: *groups, else as it was. */
static KanonStatus
count_from(Checker *checker, const Groups *from, Count *count, Groups **groups)
{
	const Block *block = checker->block;
	KanonStatus status = make_groups(checker, from, true, count);

	if (status == KANON_OK && block->by_part &&
		block->level[checker->divider] == block->height[checker->divider])
		status = merge_parts(checker, count);
	return status == KANON_OK ? remember(checker, groups) : status;
}

/* Fills up the rest of the node whose groups were counted; this process has all of them then. */
static KanonStatus
fill_counted(Checker *checker, const Groups *from, Count *count)
{
	Block *block = checker->block;
	KanonStatus status = KANON_OK;

	if (!is_to_fill(checker, count))
		return KANON_OK;
	if (block->members > 1)
	{
		block->from = *from;
		block->members = 1;
		block->by_part = false;
		status = member_make_groups(checker->self);
	}
	return status == KANON_OK ? checker_fill(checker, NULL, NULL, count) : status;
}

/*
 * A node with few groups is near others: lowers the levels, always by the step that makes the
 * fewest groups of each, as long as there are far fewer than those to begin with.  Groups that are
 * made for one node in this way serve the next ones, too.
 */
static bool
lower_levels(const Block *block, const Groups *from, uint16_t *level)
{
	double most = (double) from->total / FULL_DOMAIN_FEWER;
	double groups = 1;
	int best = -1;

	if (from->total < FULL_DOMAIN_LOWERED)
		return false;
	for (int q = 0; q < block->nqis; q++)
		if (level[q] < block->height[q])
			groups *= block->distinct[block->first[q] + level[q]];
	for (bool lowered = false;; lowered = true)
	{
		double least = most / groups;

		best = -1;
		for (int q = 0; q < block->nqis; q++)
		{
			const uint32_t *distinct = block->distinct + block->first[q] + level[q];
			double factor;

			if (level[q] <= from->level[q])
				continue;
			factor = distinct[-1] / (level[q] < block->height[q] ? (double) distinct[0] : 1);
			if (factor <= least)
			{
				least = factor;
				best = q;
			}
		}
		if (best < 0)
			return lowered;
		level[best]--;
		groups *= least;
	}
}

KanonStatus
checker_count(Checker *checker, KanonPattern node, Count *count)
{
	Block *block = checker->block;
	Groups *groups, *found;
	KanonStatus status = KANON_OK;

	if (checker->dead != NULL)
		return classes_by_types(checker, node, checker->of_group, NULL, count);
	set_levels(checker, node);
	groups = history_find(checker, block->level);
	checker->rolled_up += groups != &checker->base;
	checker->self->pace.share = checker->pace->share;
	if (lower_levels(block, groups, block->level))
	{
		status = count_from(checker, groups, count, &groups);
		set_levels(checker, node);
	}
	found = groups;
	if (status == KANON_OK)
		status = count_from(checker, found, count, &groups);
	if (status == KANON_OK)
	{
		/* (those that were found may have given way to what was merged of them) */
		Groups last = groups != found ? *groups : block->from;

		status = kanon_by_types(checker->problem) ? ask_by_values(checker, node, &last, count)
												  : fill_counted(checker, &last, count);
	}
	return status;
}

int64_t
checker_rolled_up(const Checker *checker)
{
	return checker->rolled_up;
}

int
checker_members(const Checker *checker)
{
	return checker->members;
}
