/*
 * builder_grid.c: cells of the earth's surface above points, which are texts of a latitude and a longitude.
 *
 * The coarsest cells are bands of latitude of their size, each cut into as many cells as fit around the earth at its
 * middle; a cell is cut into as many finer ones of the next size.  So cells nest, and have about their size at any
 * latitude.  The earth counts as a sphere.  A cell follows from the point alone, and tells nothing of other points.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "host/excerpt.h"

#include <ctype.h>
#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"

/* Metres of half a meridian: of a degree so many 180ths. */
#define HALF_MERIDIAN 20015114.0

/* Cells are no finer than this, and no coarser. */
#define FINEST 1.0
#define COARSEST 5e6

typedef enum GridShow
{
	GRID_CENTRE,
	GRID_POLYGON,
	GRID_CODE
} GridShow;

typedef struct Grid
{
	double size[HIERARCHY_MAX_LEVELS]; /* metres, the finest first */
	GridShow show;
} Grid;

typedef struct Cell
{
	double south, north, west, east; /* degrees */
} Cell;

/* "52.52,13.405": the latitude first; false: it is no such text, or not on the earth. */
static bool
read_point(const char *text, double *latitude, double *longitude)
{
	char *end;

	*latitude = strtod(text, &end);
	if (end == text)
		return false;
	text = end + strspn(end, " ,;");
	if (text == end)
		return false;
	*longitude = strtod(text, &end);
	return end > text && end[strspn(end, " ")] == '\0' && fabs(*latitude) <= 90 && fabs(*longitude) <= 180;
}

/* How many cells of that size a stretch of so many degrees has, on a circle that is so long. */
static double
parts(double degrees, double shrunk, double size)
{
	return fmax(1, rint(degrees / 180 * HALF_MERIDIAN * shrunk / size));
}

/* The part of from .. to, of so many, in which a place is; it becomes them. */
static int
narrow(double *from, double *to, double n, double place)
{
	double width = (*to - *from) / n, at = fmin(fmax(floor((place - *from) / width), 0), n - 1);

	*to = at + 1 == n ? *to : *from + (at + 1) * width;
	*from += at * width;
	return (int) at;
}

/* The cell of a point within one that is coarser, or within all of the earth; it becomes it, and its place is told. */
static void
find_cell(Cell *cell, double latitude, double longitude, double size, StringInfo code)
{
	int row = narrow(&cell->south, &cell->north, parts(cell->north - cell->south, 1, size), latitude);
	double shrunk = cos((cell->south + cell->north) / 2 * M_PI / 180);
	int column = narrow(&cell->west, &cell->east, parts(cell->east - cell->west, shrunk, size), longitude);

	appendStringInfo(code, "%s%d-%d", code->len > 0 ? "/" : "", row, column);
}

static char *
size_text(double size)
{
	return size >= 1000 ? psprintf("%g km", size / 1000) : psprintf("%g m", size);
}

static char *
cell_text(const Grid *grid, const Cell *cell, double size, const char *code)
{
	switch (grid->show)
	{
		case GRID_POLYGON:
			return psprintf("POLYGON((%.6f %.6f,%.6f %.6f,%.6f %.6f,%.6f %.6f,%.6f %.6f))", cell->west,
							cell->south, cell->east, cell->south, cell->east, cell->north, cell->west,
							cell->north, cell->west, cell->south);
		case GRID_CODE:
			return pstrdup(code);
		default:
			return psprintf("%.5f,%.5f (%s)", (cell->south + cell->north) / 2, (cell->west + cell->east) / 2,
							size_text(size));
	}
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const Grid *grid = builder->own;
	Cell cell = {-90, 90, -180, 180};
	double latitude, longitude;
	StringInfoData code;

	if (!read_point(builder_text(builder, value), &latitude, &longitude))
		return BUILDER_UNKNOWN;
	/* the date line is one */
	if (longitude == 180)
		longitude = -180;
	initStringInfo(&code);
	for (int h = builder->nlevels - 1; h >= 0; h--)
	{
		find_cell(&cell, latitude, longitude, grid->size[h], &code);
		nodes[h] = CStringGetTextDatum(cell_text(grid, &cell, grid->size[h], code.data));
	}
	return builder->nlevels;
}

/* "500 m", "5 km"; NaN: none. */
static double
read_size(const char *word)
{
	char *end;
	double size = strtod(word, &end);

	if (end == word)
		return NAN;
	end += strspn(end, " ");
	return strcmp(end, "km") == 0 ? 1000 * size : strcmp(end, "m") == 0 ? size : NAN;
}

LevelBuilder *
builder_grid(const char *name, const SourceColumn *column, char **sizes, int n, const char *show)
{
	static const char *const shows[] = {"centre", "polygon", "code"};
	LevelBuilder *builder = builder_create(name, column, n);
	Grid *grid = palloc0(sizeof(Grid));
	int chosen = 0;

	builder_of_texts(builder, "grid");
	for (int i = 0; i < n; i++)
	{
		grid->size[i] = read_size(sizes[i]);
		if (!(grid->size[i] >= FINEST && grid->size[i] <= COARSEST))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("size \"%s\" of %s for column \"%s\" is not between 1 m and 5000 km",
								   excerpt(sizes[i]), name, column->name),
							errhint("Write sizes like \"500 m\" and \"5 km\", the finest first.")));
		if (i > 0 && grid->size[i] < 2 * grid->size[i - 1])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("size %d of %s for column \"%s\" is not twice size %d or more", i + 1, name,
							column->name, i),
					 errhint("Cells nest in coarser ones: \"500 m\", then \"5 km\", then \"50 km\".")));
		builder->words[i] = psprintf("cells of %s", size_text(grid->size[i]));
	}
	while (chosen < (int) lengthof(shows) && show != NULL && strcmp(shows[chosen], show) != 0)
		chosen++;
	if (chosen == (int) lengthof(shows))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("\"show\" of %s for column \"%s\" is not known", name, column->name),
						errhint("A cell is shown by its \"centre\", as a \"polygon\" or by a \"code\".")));
	grid->show = (GridShow) chosen;
	builder->levels = levels;
	builder->own = grid;
	return builder;
}
