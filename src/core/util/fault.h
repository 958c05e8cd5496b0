/*
 * fault.h: faults on purpose.
 *
 * A guard that never has anything to find may as well be gone.  In a build for tests
 * alone (make FAULTS=yes, see test/faults) the setting kanon.fault breaks one thing, and
 * the guard that is to find it has to.  In any other build FAULT is false, and nothing
 * of a fault is compiled.
 */
#ifndef KANON_FAULT_H
#define KANON_FAULT_H

#ifdef KANON_FAULTS

#define KANON_FAULT_LIST(X)                                                          \
	/* before the release is checked: what a method got wrong */                     \
	X(class_short)           /* a class may have one row less than k */              \
	X(rule_forgotten)        /* classes need not keep the privacy rules */           \
	X(known_forgotten)       /* combinations that lost rows are not counted again */ \
	X(population_miscounted) /* nor rules about populations */                       \
	X(graph_broken)          /* a record of a freeform release has a match twice */  \
	/* after it: what was written is not what was checked */                         \
	X(type_changed)     /* the target's columns have another type */                 \
	X(no_random)        /* the system gives no random numbers */                     \
	X(rows_skipped)     /* rows are not written */                                   \
	X(row_lost)         /* one row of a batch is written and not there */            \
	X(row_moved)        /* the first row shows what the second class shows */        \
	X(row_blank)        /* the first row shows nothing */                            \
	X(value_fine)       /* the last class shows the first value of a column */       \
	X(kept_changed)     /* the first kept column has the values of the last */       \
	X(mask_forgotten)   /* masked columns are written as they were */                \
	X(pseudonym_shared) /* all pseudonyms begin alike */                             \
	X(person_moved)     /* the first row type and the last change their classes */   \
	X(sets_many)        /* more sets of values than can be counted */                \
	X(item_fine)        /* transactions show their items as they were */             \
	X(item_changed)     /* the first item is written as the last one */              \
	X(target_replaced)  /* the table to be replaced is another one meanwhile */      \
	X(groups_reversed)  /* groups of two tables are written last to first */         \
	X(linked_lost)      /* the second of several tables loses a row */               \
	X(reference_shown)  /* rows show to which others they refer, asked or not */     \
	/* publications */                                                               \
	X(nobody_held)      /* persons who are alone are not held back */                \
	X(history_moved)    /* the first row has another row's history */                \
	X(signature_moved)  /* persons of the first signature have the second */         \
	X(signature_anew)   /* persons are as if nobody had been shown before */         \
	X(values_unequal)   /* a class of a signature has one row less */                \
	X(staged_limited)   /* the target has a constraint when rows come from there */  \
	X(release_changed)  /* a release loses a row after it was verified */            \
	X(release_moved)    /* or its first row shows in a column what its last does */  \
	X(view_renamed)     /* or its second column has another name */                  \
	X(types_changed)    /* the row types kept for the next release are text */       \
	X(history_reversed) /* the history is read from its end */                       \
	/* no fault, but what is told of long runs alone */                              \
	X(progress_told) /* at each step, and without the time */

#define KANON_FAULT_NAME(name) KANON_FAULT_##name,
enum
{
	KANON_FAULT_none,
	KANON_FAULT_LIST(KANON_FAULT_NAME)
};

extern int kanon_fault;

/* The allocation of a run that is refused, counted down; 0: none. */
extern int kanon_refuse;

#define REFUSED (kanon_refuse > 0 && --kanon_refuse == 0)
#define FAULT(name) (kanon_fault == KANON_FAULT_##name)
#define WITH_FAULTS true

#else

#define FAULT(name) false
#define WITH_FAULTS false
#define REFUSED false

#endif

#endif
