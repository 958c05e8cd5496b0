/*
 * labels.h: kanon as a provider of security labels.
 */
#ifndef KANON_LABELS_H
#define KANON_LABELS_H

/* When the library is loaded. */
extern void labels_register(void);

#endif
