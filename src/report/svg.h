/*
 * svg.h: figures as inline SVG.  Places along the width are percentages, so that
 * a figure fills whatever width it is given while its text keeps its size: as
 * readable on a phone as on paper.  Colours are the page's, by class.
 */
#ifndef KANON_SVG_H
#define KANON_SVG_H

#include "lib/stringinfo.h"

/* What every figure says to who cannot see it; `id` is unique in the page. */
typedef struct SvgCaption
{
	const char *id;
	const char *title;
	const char *description;
} SvgCaption;

#define SVG_SERIES 2

typedef struct SvgBar
{
	const char *label;
	double share[SVG_SERIES]; /* NaN: no bar */
} SvgBar;

typedef struct SvgBars
{
	SvgCaption caption;
	int nseries;                    /* 1 .. SVG_SERIES; drawn with classes s0, s1 */
	const char *series[SVG_SERIES]; /* their names; needed for two */
	int nbars;
	const SvgBar *bars;
	bool full;  /* the width is all (share 1), not the longest bar */
	int border; /* a line before this bar, 0: none */
	const char *border_label;
} SvgBars;

/* Horizontal bars of shares, each with its value beside it. */
extern void svg_bars(StringInfo page, const SvgBars *chart);

typedef struct SvgPoint
{
	double x; /* > 0; drawn on a logarithmic axis */
	double share;
	const char *label; /* of x */
} SvgPoint;

typedef struct SvgLine
{
	SvgCaption caption;
	const char *x_name;
	int npoints;
	const SvgPoint *points; /* ascending */
	double mark;            /* an x to point out, NaN: none */
	const char *mark_label;
} SvgLine;

/* Shares over a positive quantity. */
extern void svg_line(StringInfo page, const SvgLine *chart);

#endif
