/*
 * svg.c: bars and a line, drawn for any width.
 */
#include "postgres.h"
#include "report/svg.h"
#include "report/html.h"

#include <math.h>

/* Heights are in pixels. */
#define BAR_HEIGHT 14
#define BAR_GAP 3
#define LABEL_HEIGHT 18
#define GROUP_GAP 12
#define KEY_HEIGHT 26
#define BORDER_HEIGHT 26

/* The longest bar ends here, to leave room for its value. */
#define BAR_WIDTH 82.0

static void
svg_begin(StringInfo page, const SvgCaption *caption, const char *class_, int height)
{
	html(page,
		 "<svg class='%s' width='100%%' height='%d' role='img' aria-labelledby='%s-t %s-d'>"
		 "<title id='%s-t'>%s</title><desc id='%s-d'>%s</desc>\n",
		 class_, (int64) height, caption->id, caption->id, caption->id, caption->title, caption->id,
		 caption->description);
}

/* Names of the series beside their colours. */
static void
svg_key(StringInfo page, const SvgBars *chart)
{
	for (int s = 0; s < chart->nseries; s++)
	{
		double x = s * 50.0;

		html(page,
			 "<rect class='s%d' x='%c%%' y='1' width='14' height='14' rx='2'/>"
			 "<text x='%c%%' y='13' dx='20'>%s</text>\n",
			 (int64) s, x, x, chart->series[s]);
	}
}

void
svg_bars(StringInfo page, const SvgBars *chart)
{
	int y = chart->nseries > 1 ? KEY_HEIGHT : 0;
	int height = y + chart->nbars * (LABEL_HEIGHT + GROUP_GAP) + (chart->border > 0 ? BORDER_HEIGHT : 0);
	double most = chart->full ? 1 : 0;

	for (int i = 0; i < chart->nbars; i++)
		for (int s = 0; s < chart->nseries; s++)
			if (!isnan(chart->bars[i].share[s]))
			{
				height += BAR_HEIGHT + BAR_GAP;
				most = Max(most, chart->bars[i].share[s]);
			}
	svg_begin(page, &chart->caption, "bars", height);
	if (chart->nseries > 1)
		svg_key(page, chart);
	for (int i = 0; i < chart->nbars; i++)
	{
		if (chart->border > 0 && i == chart->border)
		{
			html(page,
				 "<line class='border' x1='0' x2='100%%' y1='%d' y2='%d'/>"
				 "<text class='border' x='100%%' y='%d' text-anchor='end'>%s</text>\n",
				 (int64) y + 2, (int64) y + 2, (int64) y + 17, chart->border_label);
			y += BORDER_HEIGHT;
		}
		html(page, "<text x='0' y='%d'>%s</text>", (int64) y + 13, chart->bars[i].label);
		y += LABEL_HEIGHT;
		for (int s = 0; s < chart->nseries; s++)
		{
			double share = chart->bars[i].share[s];
			double width = most > 0 ? share / most * BAR_WIDTH : 0;

			if (isnan(share))
				continue;
			if (chart->full)
				html(page, "<rect class='track' x='0' y='%d' width='%c%%' height='%d' rx='2'/>", (int64) y,
					 BAR_WIDTH, (int64) BAR_HEIGHT);
			/* never too thin to be seen */
			if (share > 0)
				html(page, "<rect class='s%d' x='0' y='%d' width='%c%%' height='%d' rx='2'/>",
					 (int64) s + SVG_SERIES - chart->nseries, (int64) y, Max(width, 0.4), (int64) BAR_HEIGHT);
			html(page, "<text class='value' x='%c%%' dx='6' y='%d'>%p</text>\n",
				 chart->full ? BAR_WIDTH : Max(width, share > 0 ? 0.4 : 0), (int64) y + 12, share);
			y += BAR_HEIGHT + BAR_GAP;
		}
		y += GROUP_GAP;
	}
	html(page, "</svg>\n");
}

/* A round step that divides the axis into about four. */
static double
tick_step(double most)
{
	double rough = most / 4;
	double ten = pow(10, floor(log10(rough)));

	if (rough / ten > 5)
		return 10 * ten;
	if (rough / ten > 2)
		return 5 * ten;
	return rough / ten > 1 ? 2 * ten : ten;
}

/* The plot lies between these, in per cent of the width and in pixels. */
#define PLOT_LEFT 13.0
#define PLOT_RIGHT 96.0
#define PLOT_TOP 26.0
#define PLOT_BOTTOM 216.0
#define LINE_HEIGHT 258

/* Labels below the axis keep at least this distance, in per cent. */
#define LABEL_DISTANCE 9.0

typedef struct Axes
{
	double low, /* logarithms of the least and greatest x */
		high;
	double top; /* the share at the upper end */
} Axes;

static double
place_x(const Axes *axes, double x)
{
	double share = axes->high > axes->low ? (log(x) - axes->low) / (axes->high - axes->low) : 0.5;

	return PLOT_LEFT + 3 + share * (PLOT_RIGHT - PLOT_LEFT - 6);
}

static double
place_y(const Axes *axes, double share)
{
	return PLOT_BOTTOM - share / axes->top * (PLOT_BOTTOM - PLOT_TOP);
}

void
svg_line(StringInfo page, const SvgLine *chart)
{
	Axes axes = {INFINITY, -INFINITY, 0};
	double step;
	double labelled = -INFINITY;

	for (int i = 0; i < chart->npoints; i++)
	{
		axes.low = Min(axes.low, log(chart->points[i].x));
		axes.high = Max(axes.high, log(chart->points[i].x));
		axes.top = Max(axes.top, chart->points[i].share);
	}
	if (axes.top == 0)
		axes.top = 0.01;
	step = tick_step(axes.top);
	axes.top = ceil(axes.top / step - 1e-9) * step;

	svg_begin(page, &chart->caption, "line", LINE_HEIGHT);
	for (int i = 0; i * step <= axes.top + step / 2; i++)
	{
		double y = place_y(&axes, i * step);

		html(page,
			 "<line class='grid' x1='%c%%' x2='%c%%' y1='%c' y2='%c'/>"
			 "<text class='tick' x='%c%%' dx='-6' y='%c' dy='4' text-anchor='end'>%c&#8239;%%</text>\n",
			 PLOT_LEFT, PLOT_RIGHT, y, y, PLOT_LEFT, y, i * step * 100);
	}
	if (!isnan(chart->mark) && log(chart->mark) >= axes.low && log(chart->mark) <= axes.high)
	{
		double x = place_x(&axes, chart->mark);

		html(page,
			 "<line class='border' x1='%c%%' x2='%c%%' y1='%c' y2='%c'/>"
			 "<text class='border' x='%c%%' y='14' text-anchor='%s'>%s</text>\n",
			 x, x, PLOT_TOP - 6, PLOT_BOTTOM, x,
			 x > 75   ? "end"
			 : x < 30 ? "start"
					  : "middle",
			 chart->mark_label);
	}
	/* the line in a box of its own, stretched to any width */
	html(page,
		 "<svg x='0' y='0' width='100%%' height='%d' viewBox='0 0 100 %d' preserveAspectRatio='none'>"
		 "<polyline class='curve' vector-effect='non-scaling-stroke' points='",
		 (int64) LINE_HEIGHT, (int64) LINE_HEIGHT);
	for (int i = 0; i < chart->npoints; i++)
		html(page, "%c,%c ", place_x(&axes, chart->points[i].x), place_y(&axes, chart->points[i].share));
	html(page, "'/></svg>\n");
	for (int i = 0; i < chart->npoints; i++)
	{
		double x = place_x(&axes, chart->points[i].x);

		html(page, "<circle class='s1' cx='%c%%' cy='%c' r='4'><title>%s %s: %p</title></circle>", x,
			 place_y(&axes, chart->points[i].share), chart->x_name, chart->points[i].label,
			 chart->points[i].share);
		if (x - labelled < LABEL_DISTANCE)
			continue;
		labelled = x;
		html(page, "<text class='tick' x='%c%%' y='%c' text-anchor='middle'>%s</text>\n", x, PLOT_BOTTOM + 18,
			 chart->points[i].label);
	}
	html(page, "<text class='tick' x='%c%%' y='%c' text-anchor='middle'>%s</text></svg>\n",
		 (PLOT_LEFT + PLOT_RIGHT) / 2, PLOT_BOTTOM + 38, chart->x_name);
}
