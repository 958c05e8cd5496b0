/*
 * team.h: parallel workers that check a node of a lattice together.
 */
#ifndef KANON_RUN_TEAM_H
#define KANON_RUN_TEAM_H

#include "core/full_domain/full_domain.h"
#include "host/border.h"

#include "storage/dsm.h"
#include "storage/shm_toc.h"

typedef struct Team Team;

/*
 * A team of the caller and so many workers, who are started when the core wants
 * them; they share the caller's memory limit.  Where some cannot be had (they
 * are taken, shared memory is short), the others work without them, with a
 * NOTICE when `say`.
 */
extern Team *team_create(Oid caller, Border *border, int workers, bool say);
extern const KanonTeam *team_of(const Team *team);

/* Sends the workers home. */
extern void team_end(Team *team);

/* Where the workers begin. */
extern PGDLLEXPORT void kanon_full_domain_worker(dsm_segment *segment, shm_toc *toc);

#endif
