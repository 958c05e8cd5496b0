/*
 * together.c: the registry of what cannot stand together.  dev/together makes the table of doc/reference/errors.md from it, and
 * a check compares them.  Nothing that is refused with feature_not_supported for two options of one call is refused elsewhere:
 * test/crossing meets every pair.
 */
#include "options/together.h"

#define KNOWN " cannot be given with known_columns or combinations"
#define VALUES " cannot be given with protect_successive => 'values'"
#define K_MAP_TAKERS                                                                                                     \
	"kanon_full_domain, kanon_subtree and method 'mondrian' of kanon_cluster take the rule; so does method 'greedy' of " \
	"kanon_pattern_guided."
#define PRESENCE_TAKERS \
	"kanon_full_domain, kanon_subtree and method 'mondrian' of kanon_cluster take the rule."

typedef struct Refusal
{
	const char *one, *other; /* for the page */
	const char *message;
	const char *why;
	const char *hint;
} Refusal;

static const Refusal refusals[] = {
	[TOGETHER_FREEFORM_RULES] =
		{"kanon_freeform", "privacy", "method \"%s\" takes no privacy rules",
		 "Rules are about classes, and kanon_freeform makes none.",
		 "kanon_pattern_guided, kanon_full_domain, kanon_subtree and kanon_cluster (method "
		 "'mondrian', say) take privacy rules."},
	[TOGETHER_RELAXED_RULES] =
		{"one_k, k_one, k_k", "privacy", "method \"%s\" takes no privacy rules",
		 "Each record has the kept values of its own row, and no match is as likely as another: a "
		 "share of their values would be no chance.",
		 "The methods of kanon_cluster that make classes take them, 'mondrian' say."},
	[TOGETHER_METHOD_K_MAP] = {"other methods than those that take it", "kanon_k_map", "%s",
							   "A person of the population may match several of its classes.", K_MAP_TAKERS},
	[TOGETHER_METHOD_PRESENCE] = {"other methods than those that take them", "rules about presence", "%s",
								  "A person of the population may match several of its classes.",
								  PRESENCE_TAKERS},
	[TOGETHER_PRESENCE_PERSONS] =
		{"rules about presence", "kanon_subject",
		 "rules about presence cannot be combined with kanon_subject",
		 "A person in several classes can be found in any of them, so the chance in one class is "
		 "not the person's chance.",
		 "Use a source and a population with one row per person, or take kanon_k_map, which "
		 "counts persons of a population."},
	[TOGETHER_PRESENCE_KEY] =
		{"rules about presence", "a key whose persons have several rows",
		 "persons of the key \"%s\" have several rows, and rules about presence count rows",
		 "A person in several classes can be found in any of them.",
		 "Publish a view with one row per person, or say {\"count_rows\": true} in options."},
	[TOGETHER_STABLE_POPULATIONS] =
		{"rules about populations", "stable publications of patterns and clusterings",
		 "under rules about populations model \"%s\" cannot keep unchanged rows together",
		 "The persons of a population who belong to a class depend on all other classes.",
		 "Take model 'full_domain' or 'subtree', or say stable => false."},
	[TOGETHER_METHOD_PARTS] =
		{"mondrian, mondrian_relaxed, top_down, microaggregate", "partition_size",
		 "method \"%s\" takes no partition_size", "It divides the table itself, whatever its size.",
		 "Leave it out, or take 'bottom_up', 'forest', 'gather', 'pairs' or 'triples'."},
	[TOGETHER_MICROAGGREGATE_OTHERS] =
		{"microaggregate", "NULL, hierarchies, other types than numbers and dates",
		 "method \"%s\" takes numbers and dates alone",
		 "Its groups are shown by sums of squares, which other values do not have.",
		 "Leave it out or keep it, or take another method, 'bottom_up' say."},
	[TOGETHER_RELAXED_CLASS_COLUMN] = {"one_k, k_one, k_k", "class_column",
									   "method \"%s\" makes no classes that could be classified",
									   "Its records are in no classes.", "Leave class_column out."},
	[TOGETHER_METHOD_MUTUAL] = {"mip, min_cost_flow, concealment", "mutual",
								"method \"%s\" makes no mutual release",
								"It chooses matches that go one way.",
								"Methods 'greedy', 'sort_greedy', 'hungarian' and 'ring' do."},
	[TOGETHER_CONCEALMENT_K_COLUMN] =
		{"concealment", "k_column", "method \"%s\" takes no k_column",
		 "Its matches are not equally likely, so no row could count on its own k.",
		 "Take another method, such as 'sort_greedy'."},
	[TOGETHER_RELAXED_PUBLICATION] = {"one_k, k_one, k_k", "publications",
									  "method \"%s\" cannot be published night after night",
									  "There are no classes that could be kept.",
									  "Take a method that makes classes, such as 'mondrian'."},
	[TOGETHER_FREEFORM_PUBLICATION] =
		{"freeform", "publications", "model \"%s\" cannot be published night after night",
		 "A reader who keeps several releases can intersect the records that match a person "
		 "in each.",
		 "Publish one release by kanon_freeform, or take model 'cluster', 'full_domain', "
		 "'pattern_clustering', 'pattern_guided' or 'subtree', which make classes."},
	[TOGETHER_FREEFORM_APPEND] =
		{"freeform, transactions", "append", "model \"%s\" cannot append",
		 "It makes no classes, which batches are told by.",
		 "Take model 'cluster', 'full_domain', 'pattern_clustering', 'pattern_guided' or "
		 "'subtree', which make classes."},
	[TOGETHER_KNOWN_METHOD] = {"known columns", "best, fpt, matching", "method '%s'" KNOWN,
							   "It looks for classes of all quasi-identifiers.",
							   "Methods are 'greedy', 'improve' and 'ilp'."},
	[TOGETHER_KNOWN_RULES] = {"known columns", "privacy rules but kanon_subject",
							  "privacy rules but kanon_subject" KNOWN,
							  "They count values in classes of all quasi-identifiers.",
							  "Leave known_columns and combinations out to have the rules kept."},
	[TOGETHER_KNOWN_RESIDUAL] = {"known columns", "residual", "another residual" KNOWN,
								 "Blank rows tell nothing, and there may be any number of them.",
								 "Leave it out."},
	[TOGETHER_KNOWN_PARTITION_BY] = {"known columns", "partition_by", "partition_by" KNOWN,
									 "Combinations are counted in the whole table.", "Leave it out."},
	[TOGETHER_KNOWN_ILP_PATTERNS] = {"known columns, ilp", "patterns, rules",
									 "patterns or rules and method '%s'" KNOWN,
									 "It proves the least of all patterns.",
									 "Take 'greedy' or 'improve', or leave them out."},
	[TOGETHER_KNOWN_ILP_HIERARCHIES] = {"known columns, ilp", "hierarchies",
										"hierarchies and method '%s'" KNOWN,
										"It proves the least of cells that are blank or not.",
										"Take 'greedy' or 'improve'."},
	[TOGETHER_KNOWN_ILP_ANY] = {"known columns, ilp", "missing => 'any'",
								"missing => 'any' and method '%s'" KNOWN,
								"A row's blank cells spare other rows theirs, which it does not count.",
								"Take 'greedy' or 'improve'."},
	[TOGETHER_KNOWN_ANY_HIERARCHIES] =
		{"missing => 'any'", "hierarchies", "hierarchies and missing => 'any'" KNOWN,
		 "A cell that agrees with every value would agree with a coarser one, too.",
		 "Leave one of them out."},
	[TOGETHER_KNOWN_ANY_LEVELS] = {"missing => 'any'", "kanon_full_domain",
								   "missing => 'any' with levels" KNOWN,
								   "A cell that agrees with every value would agree with a coarser one, too.",
								   "Take 'aside', or 'value'."},
	[TOGETHER_KNOWN_ANY_PERSONS] = {"missing => 'any'", "kanon_subject",
									"missing => 'any' and kanon_subject" KNOWN,
									"A blank cell would agree with every person.",
									"Take 'aside', or count rows."},
	[TOGETHER_KNOWN_ANY_STABLE] = {"missing => 'any'", "stable publications",
								   "missing => '%s' in a publication" KNOWN,
								   "No release stays near the one before so.",
								   "Leave missing out, or say stable => false."},
	[TOGETHER_KNOWN_VALUE_STABLE] = {"missing => 'value', kanon_full_domain", "stable publications",
									 "missing => '%s' in a publication" KNOWN,
									 "No release stays near the one before so.",
									 "Leave missing out, or say stable => false."},
	[TOGETHER_KNOWN_VALUE_UNMARKED] =
		{"missing => 'value'", "no mark", "missing => 'value' without mark" KNOWN,
		 "No reader could tell a blank cell from NULL of the source.",
		 "Take the option \"mark\", or replace NULL by a value in a view of the source."},
	[TOGETHER_KNOWN_KEY] =
		{"known columns", "key", "a publication with known_columns or combinations takes no key",
		 "kanon does not protect histories of persons against an attacker who knows few columns.",
		 "Leave the key out: kanon recognises unchanged rows without it."},
	[TOGETHER_VALUES_MODEL] = {"protect_successive => 'values'", "other models than cluster",
							   "model \"%s\"" VALUES,
							   "Classes have the same values equally often, and any shape.",
							   "Take model 'cluster'."},
	[TOGETHER_VALUES_METHOD] = {"protect_successive => 'values'", "other methods than mondrian",
								"method \"%s\"" VALUES,
								"Persons who stay among the same values are divided as Mondrian does.",
								"Take 'mondrian', which is the default."},
	[TOGETHER_VALUES_RULES] =
		{"protect_successive => 'values'", "more than one kanon_distinct_l of one column",
		 "other rules than one kanon_distinct_l of one column" VALUES,
		 "The values of one column are protected.",
		 "Give one rule in options: {\"privacy\": [{\"rule\": \"distinct_l\", \"column\": "
		 "\"diagnosis\", \"l\": 3}]}."},
	[TOGETHER_VALUES_KEEP] =
		{"protect_successive => 'values'", "other kept columns than that of the rule",
		 "the kept column \"%s\"" VALUES,
		 "A reader who finds one of its values in a person's class of each release has found the person's row, "
		 "and the value beside it.",
		 "Make it a quasi-identifier, or leave it out."},
	[TOGETHER_VALUES_MASK] = {"protect_successive => 'values'", "mask", "masks" VALUES,
							  "A mask may show two values as one.",
							  "Leave mask out, or publish a view that coarsens the values."},
	[TOGETHER_VALUES_RESIDUAL] = {"protect_successive => 'values'", "other residuals than drop",
								  "another residual than 'drop'" VALUES,
								  "Persons who cannot be shown among enough values wait.", "Leave it out."},
	[TOGETHER_VALUES_HELD] = {"protect_successive => 'values'", "max_held", "max_held" VALUES,
							  "Nobody is shown otherwise than in the source.",
							  "Leave it out: held_persons counts persons who wait."},
	[TOGETHER_VALUES_APPEND] = {"protect_successive => 'values'", "append", "append" VALUES,
								"Rows that were shown never change, so that there is nothing to protect.",
								"Leave one of them out."},
	[TOGETHER_VALUES_LINKED] = {"protect_successive => 'values'", "several tables", "several tables" VALUES,
								"The values of one table are protected.",
								"Say protect_successive => true, or publish one table."},
	[TOGETHER_VALUES_SEVERAL] =
		{"protect_successive => 'values'", "a key whose persons have several rows",
		 "persons of the key \"%s\" have several rows, and values are protected of one row each",
		 "Two rows of a person in one class would halve what hides each of them.",
		 "Publish a view with one row per person."},
};

void
together_refuse(Together which, const char *name, const char *detail)
{
	const Refusal *refusal = &refusals[which];
	const char *at = strstr(refusal->message, "%s");

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 at == NULL ? errmsg("%s", refusal->message)
						: errmsg("%.*s%s%s", (int) (at - refusal->message), refusal->message, name, at + 2),
			 errdetail("%s", detail != NULL ? detail : refusal->why), errhint("%s", refusal->hint)));
}
