/*
 * pricing.c: parallel workers who share the core's Lagrangian bound, and its search of a large table.
 *
 * The core asks for them where passes over the instances are long, or rows are many; bound, prices
 * and release are the same with any number of them.
 */
#include "compat.h"
#include "core/search/member.h"
#include "host/pool.h"
#include "run/pricing.h"

#include "optimizer/cost.h"

static void *
open_member(Border *border, void *block, int number)
{
	SearchMember *member = search_member_open(&border->env, block, number);

	if (member == NULL)
		border_check(border, KANON_NO_MEMORY, "");
	return member;
}

static void
price_share(void *state)
{
	search_member_work(state);
}

static const PoolWork pricing = {"kanon_pricing_worker", "prices, parallel workers", open_member,
								 price_share};

void
kanon_pricing_worker(dsm_segment *segment, shm_toc *toc)
{
	pool_worker(toc, &pricing);
}

void
pricing_offer(Run *run)
{
	PoolTeam *team = palloc(sizeof(PoolTeam));

	pool_team_init(team, &pricing, run->request->caller, run->border, max_parallel_workers_per_gather, false);
	run->border->env.pricing = &team->team;
}
