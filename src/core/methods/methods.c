/*
 * methods.c: the registry: one line for each method of every function, and what else has to
 * know of it.  The families are in the order of their enum, each with a line without a name
 * at its end; within a family methods are in the order in which hints list them.
 */
#include <string.h>

#include "cluster/clustering.h"
#include "freeform/freeform_work.h"
#include "itemsets/transactions.h"
#include "known/known.h"
#include "lattice/full_domain.h"
#include "subtree/subtree.h"

#define POPULATIONS (KANON_TAKES_K_MAP | KANON_TAKES_PRESENCE)
#define METRIC .cost = KANON_COST_METRIC, .takes = POPULATIONS
#define ITEMS .cost = KANON_COST_ITEMS
#define OPTIMUM .proof = KANON_PROOF_OPTIMUM
#define FACTOR .proof = KANON_PROOF_FACTOR
#define BOUND .proof = KANON_PROOF_BOUND
#define PARTS .takes = KANON_TAKES_PARTS
#define FREEFORM .solve = kanon_solve_freeform, .takes = KANON_TAKES_PARTS

static const KanonMethod none[] = {{NULL}};

static const KanonMethod pattern_guided[] = {
	{"greedy", .solve = kanon_solve_greedy, FACTOR, .takes = KANON_TAKES_K_MAP},
	{"ilp", .solve = kanon_solve_ilp, OPTIMUM},
	{"improve", .solve = kanon_solve_improve, BOUND},
	{"best", .solve = kanon_solve_best, BOUND},
	{"fpt", .solve = kanon_solve_fpt, OPTIMUM},
	{"matching", .solve = kanon_solve_matching, OPTIMUM, .only_k = 2},
	{NULL}};

static const KanonMethod known_columns[] = {{"greedy", .solve = kanon_solve_known_greedy},
											{"ilp", .solve = kanon_solve_known_ilp, OPTIMUM},
											{"improve", .solve = kanon_solve_known_improve, BOUND},
											{NULL}};

static const KanonMethod pattern_clustering[] = {
	{"exact", .solve = kanon_solve_pattern_clustering, OPTIMUM},
	{"greedy", .solve = kanon_solve_pattern_clustering_greedy},
	{"fpt", .solve = kanon_solve_pattern_clustering_fpt, OPTIMUM},
	{NULL}};

static const KanonMethod cluster[] = {
	{"mondrian", .solve = kanon_solve_mondrian, .takes = POPULATIONS},
	{"mondrian_relaxed", .solve = kanon_solve_mondrian_relaxed},
	{"forest", .solve = kanon_solve_forest, FACTOR, .takes = KANON_TAKES_PARTS | KANON_DROPS_FAR},
	{"pairs", .solve = kanon_solve_pairs, FACTOR, PARTS, .only_k = 2},
	{"triples", .solve = kanon_solve_triples, FACTOR, PARTS, .only_k = 3},
	{"bottom_up", .solve = kanon_solve_bottom_up, PARTS},
	{"top_down", .solve = kanon_solve_top_down},
	{"gather", .solve = kanon_solve_gather, .cost = KANON_COST_RADIUS, FACTOR, PARTS},
	{"microaggregate", .solve = kanon_solve_microaggregate, .cost = KANON_COST_SQUARES},
	{NULL}};

static const KanonMethod relaxed[] = {{"one_k", KANON_FREEFORM_ONE_K, FREEFORM},
									  {"k_one", KANON_FREEFORM_K_ONE, FREEFORM},
									  {"k_k", KANON_FREEFORM_K_K, FREEFORM},
									  {NULL}};

static const KanonMethod full_domain[] = {{"samarati", KANON_SEARCH_SAMARATI, METRIC, OPTIMUM},
										  {"incognito", KANON_SEARCH_INCOGNITO, METRIC, OPTIMUM},
										  {"flash", KANON_SEARCH_FLASH, METRIC, OPTIMUM},
										  {"speedy", KANON_SEARCH_SPEEDY, METRIC, OPTIMUM},
										  {NULL}};

static const KanonMethod subtree[] = {{"top_down", KANON_SUBTREE_TOP_DOWN, .takes = POPULATIONS},
									  {"optimal", KANON_SUBTREE_OPTIMAL, .takes = POPULATIONS, OPTIMUM},
									  {"tds", KANON_SUBTREE_TDS, .takes = POPULATIONS},
									  {NULL}};

static const KanonMethod freeform[] = {{"greedy", KANON_FREEFORM_GREEDY, FREEFORM},
									   {"sort_greedy", KANON_FREEFORM_SORT_GREEDY, FREEFORM},
									   {"hungarian", KANON_FREEFORM_HUNGARIAN, FREEFORM},
									   {"plain_sort_greedy", KANON_FREEFORM_PLAIN_SORT_GREEDY, FREEFORM},
									   {"plain_hungarian", KANON_FREEFORM_PLAIN_HUNGARIAN, FREEFORM},
									   {"mip", KANON_FREEFORM_MIP, FREEFORM, OPTIMUM},
									   {"min_cost_flow", KANON_FREEFORM_MIN_COST_FLOW, FREEFORM},
									   {"ring", KANON_FREEFORM_RING, FREEFORM},
									   {"concealment", KANON_FREEFORM_CONCEALMENT, FREEFORM},
									   {NULL}};

static const KanonMethod item_sets[] = {
	{"apriori", KANON_MODEL_KM, .recode = kanon_recode_apriori, ITEMS, .takes = KANON_TAKES_HIERARCHY},
	{"direct", KANON_MODEL_KM, .recode = kanon_recode_direct, ITEMS, .takes = KANON_TAKES_HIERARCHY},
	{"optimal", KANON_MODEL_KM, .recode = kanon_recode_optimal, ITEMS, .takes = KANON_TAKES_HIERARCHY,
	 OPTIMUM},
	{"suppress", KANON_MODEL_COHERENCE, .recode = kanon_recode_suppress, ITEMS},
	{"suppress_control", KANON_MODEL_RHO, .recode = kanon_recode_suppress_control, ITEMS},
	{"td_control", KANON_MODEL_RHO, .recode = kanon_recode_td_control, ITEMS,
	 .takes = KANON_TAKES_HIERARCHY | KANON_ASKS_HIERARCHY},
	{NULL}};

static const KanonMethod *const families[] = {[KANON_NO_METHODS] = none,
											  [KANON_PATTERN_GUIDED] = pattern_guided,
											  [KANON_KNOWN_COLUMNS] = known_columns,
											  [KANON_PATTERN_CLUSTERING] = pattern_clustering,
											  [KANON_CLUSTER] = cluster,
											  [KANON_RELAXED] = relaxed,
											  [KANON_FULL_DOMAIN] = full_domain,
											  [KANON_SUBTREE] = subtree,
											  [KANON_FREEFORM] = freeform,
											  [KANON_ITEM_SETS] = item_sets};

const KanonMethod *
kanon_methods(KanonFamily family)
{
	return families[family];
}

const KanonMethod *
kanon_method_find(KanonFamily family, const char *name)
{
	for (const KanonMethod *method = families[family]; method->name != NULL; method++)
		if (strcmp(method->name, name) == 0)
			return method;
	return NULL;
}

/* A caller's own, which a test may be: nothing is claimed of it. */
static const KanonMethod unlisted;

const KanonMethod *
kanon_method_of(KanonSolve solve)
{
	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++)
		for (const KanonMethod *method = families[f]; method->name != NULL; method++)
			if (method->solve == solve)
				return method;
	return &unlisted;
}
