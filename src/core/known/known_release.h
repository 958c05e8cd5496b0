/*
 * known_release.h: a release that shows what is not blank.
 */
#ifndef KANON_KNOWN_RELEASE_H
#define KANON_KNOWN_RELEASE_H

#include "known/shown_cells.h"

/* Row types that show the same are a class.  Whatever the status, the release is the caller's to free. */
extern KanonStatus kanon_known_release(const KanonShownCells *cells, KanonRelease *release,
									   KanonReport *report);

#endif
