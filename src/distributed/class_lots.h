/*
 * class_lots.h: row types whose rows go to several classes, on workers.
 */
#ifndef KANON_CLASS_LOTS_H
#define KANON_CLASS_LOTS_H

#include "core/kanon.h"
#include "host/border.h"
#include "rows/source.h"

/*
 * The least and largest lot, low[] and high[], of the rows of each flow, so that each class takes just the rows that
 * the release says; of a type that goes to one class these are all lots.  hash: [types], which all
 * differ; schema: of a table that is there meanwhile; of_row: how a query says the hash of the type of a row that was set aside, and lot, its lot.  Is
 * any type divided?
 */
extern bool divide_types(const Source *source, const char *schema, const KanonRelease *release,
						 const int64 *hash, const char *of_row, const char *lot, int64 *low, int64 *high,
						 Border *border);

#endif
