/*
 * builder_grid.c: cells of the earth's surface above points: texts of a latitude and a longitude, and PostGIS's geometry
 * and geography, which are read from their own text, so that nothing of PostGIS is called.
 *
 * The coarsest cells are bands of latitude of their size, each cut into as many cells as fit around the earth at its
 * middle; a cell is cut into as many finer ones of the next size.  So cells nest, and have about their size at any
 * latitude.  The earth counts as a sphere.  Points of a projection are cut into squares of its own unit.  A geohash is a cell
 * of its own.  A cell follows from the point alone, and tells nothing of other points.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "host/excerpt.h"

#include <ctype.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Metres of half a meridian: of a degree so many 180ths. */
#define HALF_MERIDIAN 20015114.0

/* Cells are no finer than this, and no coarser. */
#define FINEST 1.0
#define COARSEST 5e6

#define MOST_CHARACTERS 12

typedef enum GridShow
{
	GRID_CENTRE,
	GRID_POLYGON,
	GRID_CODE,
	GRID_GEOHASH
} GridShow;

typedef struct Grid
{
	double size[HIERARCHY_MAX_LEVELS];    /* metres, the finest first */
	int characters[HIERARCHY_MAX_LEVELS]; /* of geohashes */
	GridShow show;
	bool binary; /* the texts are of PostGIS: WKB, in hexadecimal digits */
} Grid;

/* A point: x is the longitude and y the latitude in degrees, or (srid) the coordinates of a projection. */
typedef struct Place
{
	double x, y;
	uint32 srid; /* 0: degrees */
} Place;

typedef struct Cell
{
	double south, north, west, east; /* degrees, or units of a projection */
} Cell;

/* "52.52,13.405", the latitude first, or "(13.405,52.52)", a point as PostgreSQL writes it; false: it is no such text. */
static bool
read_text(const char *text, Place *place)
{
	bool point = text[strspn(text, " ")] == '(';
	double one, other;
	char *end;

	text += point ? strspn(text, " ") + 1 : 0;
	one = strtod(text, &end);
	if (end == text)
		return false;
	text = end + strspn(end, " ,;");
	if (text == end)
		return false;
	other = strtod(text, &end);
	if (end == text)
		return false;
	end += strspn(end, " ");
	if (point && *end++ != ')')
		return false;
	*place = point ? (Place){one, other, 0} : (Place){other, one, 0};
	return *end == '\0';
}

/* A number of so many bytes, in either order of them; false: the text ends before. */
static bool
read_bytes(const char **text, bool little, int n, void *number)
{
	unsigned char bytes[8];

	for (int i = 0; i < n; i++)
	{
		const char *digits = *text + 2 * i;
		unsigned high, low;

		if (!isxdigit((unsigned char) digits[0]) || !isxdigit((unsigned char) digits[1]))
			return false;
		high = isdigit((unsigned char) digits[0]) ? digits[0] - '0' : toupper(digits[0]) - 'A' + 10;
		low = isdigit((unsigned char) digits[1]) ? digits[1] - '0' : toupper(digits[1]) - 'A' + 10;
#ifdef WORDS_BIGENDIAN
		bytes[little ? n - 1 - i : i] = 16 * high + low;
#else
		bytes[little ? i : n - 1 - i] = 16 * high + low;
#endif
	}
	memcpy(number, bytes, n);
	*text += 2 * n;
	return true;
}

#define WKB_POINT 1
#define WKB_HAS_SRID 0x20000000u
#define WKB_KIND 0x0fffffffu
#define WEB_MERCATOR 3857
#define SPHERE_OF_WEB 6378137.0

/* A point of PostGIS; false: it is of another shape, or empty. */
static bool
read_wkb(const LevelBuilder *builder, const char *text, Place *place)
{
	uint32 kind, srid = 0;
	bool little;

	if (text[0] != '0' || (text[1] != '0' && text[1] != '1'))
		return false;
	little = text[1] == '1';
	text += 2;
	if (!read_bytes(&text, little, 4, &kind) || (kind & WKB_KIND) % 1000 != WKB_POINT ||
		((kind & WKB_HAS_SRID) != 0 && !read_bytes(&text, little, 4, &srid)) ||
		!read_bytes(&text, little, 8, &place->x) || !read_bytes(&text, little, 8, &place->y) ||
		isnan(place->x) || isnan(place->y))
		return false;
	if (srid == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("points of column \"%s\" have no SRID", builder->column->name),
						errhint("Say in a view what they are: ST_SetSRID(%s, 4326) for degrees.",
								builder->column->quoted)));
	/* numbers of EPSG in the four thousands are of degrees */
	place->srid = srid >= 4000 && srid < 5000 ? 0 : srid;
	if (srid == WEB_MERCATOR)
		*place = (Place){place->x / SPHERE_OF_WEB * 180 / M_PI,
						 atan(sinh(place->y / SPHERE_OF_WEB)) * 180 / M_PI, 0};
	return true;
}

/* A point on the earth; false: it is none. */
static bool
read_place(LevelBuilder *builder, Datum value, Place *place)
{
	const Grid *grid = builder->own;
	const char *text = builder_text(builder, value);

	if (!(grid->binary ? read_wkb(builder, text, place) : read_text(text, place)))
		return false;
	if (place->srid != 0)
		return fabs(place->x) <= 1e9 && fabs(place->y) <= 1e9;
	/* the date line is one */
	if (place->x == 180)
		place->x = -180;
	return fabs(place->y) <= 90 && fabs(place->x) <= 180;
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

/* The same of a projection: the coarsest squares count from its origin. */
static void
find_square(Cell *cell, const Place *place, double size, StringInfo code)
{
	int64 row, column;

	if (code->len == 0)
	{
		row = (int64) floor(place->y / size);
		column = (int64) floor(place->x / size);
		*cell = (Cell){row * size, (row + 1) * size, column * size, (column + 1) * size};
		appendStringInfo(code, "%u:", place->srid);
	}
	else
	{
		double n = fmax(1, rint((cell->north - cell->south) / size));

		row = narrow(&cell->south, &cell->north, n, place->y);
		column = narrow(&cell->west, &cell->east, n, place->x);
		appendStringInfoChar(code, '/');
	}
	appendStringInfo(code, INT64_FORMAT "-" INT64_FORMAT, row, column);
}

/* The geohash of so many characters: five bits each, of the longitude and the latitude in turn. */
static char *
geohash(Cell *cell, const Place *place, int characters)
{
	static const char digits[] = "0123456789bcdefghjkmnpqrstuvwxyz";
	char *code = palloc0(MOST_CHARACTERS + 1);

	*cell = (Cell){-90, 90, -180, 180};
	for (int i = 0; i < characters; i++)
	{
		int digit = 0;

		for (int bit = 0; bit < 5; bit++)
			digit = 2 * digit + ((5 * i + bit) % 2 == 0 ? narrow(&cell->west, &cell->east, 2, place->x)
														: narrow(&cell->south, &cell->north, 2, place->y));
		code[i] = digits[digit];
	}
	return code;
}

static char *
size_text(double size)
{
	return size >= 1000 ? psprintf("%g km", size / 1000) : psprintf("%g m", size);
}

static char *
cell_text(const Grid *grid, const Cell *cell, double size, const char *code, uint32 srid)
{
	double x = (cell->west + cell->east) / 2, y = (cell->south + cell->north) / 2;
	int digits = srid != 0 ? 1 : 6;

	switch (grid->show)
	{
		case GRID_POLYGON:
			return psprintf("%sPOLYGON((%.*f %.*f,%.*f %.*f,%.*f %.*f,%.*f %.*f,%.*f %.*f))",
							srid != 0 ? psprintf("SRID=%u;", srid) : "", digits, cell->west, digits,
							cell->south, digits, cell->east, digits, cell->south, digits, cell->east, digits,
							cell->north, digits, cell->west, digits, cell->north, digits, cell->west, digits,
							cell->south);
		case GRID_CODE:
		case GRID_GEOHASH:
			return pstrdup(code);
		case GRID_CENTRE:
			break;
	}
	return srid != 0 ? psprintf("SRID=%u;POINT(%.1f %.1f) (%s)", srid, x, y, size_text(size))
					 : psprintf("%.5f,%.5f (%s)", y, x, size_text(size));
}

/* The cells of a place from the coarsest level down to this one; the text of the last, or NULL: nobody asks. */
static char *
descend(const LevelBuilder *builder, const Place *place, int to, Cell *cell, StringInfo code)
{
	const Grid *grid = builder->own;

	if (grid->show == GRID_GEOHASH)
	{
		if (place->srid != 0)
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							errmsg("points of column \"%s\" are of a projection, and a geohash is of degrees",
								   builder->column->name),
							errhint("Take ST_Transform(%s, 4326) in a view.", builder->column->quoted)));
		return geohash(cell, place, grid->characters[to]);
	}
	if (place->srid != 0)
		find_square(cell, place, grid->size[to], code);
	else
		find_cell(cell, place->y, place->x, grid->size[to], code);
	return cell_text(grid, cell, grid->size[to], code->data, place->srid);
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	Cell cell = {-90, 90, -180, 180};
	Place place;
	StringInfoData code;

	if (!read_place(builder, value, &place))
		return BUILDER_UNKNOWN;
	initStringInfo(&code);
	for (int h = builder->nlevels - 1; h >= 0; h--)
		nodes[h] = CStringGetTextDatum(descend(builder, &place, h, &cell, &code));
	return builder->nlevels;
}

/* Square metres, or square units. */
static int
areas(LevelBuilder *builder, Datum value, double *area)
{
	Cell cell = {-90, 90, -180, 180};
	Place place;
	StringInfoData code;

	if (!read_place(builder, value, &place))
		return BUILDER_UNKNOWN;
	initStringInfo(&code);
	for (int h = builder->nlevels - 1; h >= 0; h--)
	{
		(void) descend(builder, &place, h, &cell, &code);
		area[h] = place.srid != 0 ? (cell.north - cell.south) * (cell.east - cell.west)
								  : (sin(cell.north * M_PI / 180) - sin(cell.south * M_PI / 180)) *
										(cell.east - cell.west) / 180 / M_PI * HALF_MERIDIAN * HALF_MERIDIAN;
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

/* The length of geohash whose cells, at the equator, are the nearest to that size. */
static int
characters_for(double size)
{
	int best = 1;
	double nearest = INFINITY;

	for (int n = 1; n <= MOST_CHARACTERS; n++)
	{
		double degrees = sqrt(360.0 * 180.0 / pow(2, 5 * n));
		double off = fabs(log(degrees / 180 * HALF_MERIDIAN / size));

		if (off < nearest)
		{
			nearest = off;
			best = n;
		}
	}
	return best;
}

static GridShow
read_show(const LevelBuilder *builder, const char *show)
{
	static const char *const shows[] = {"centre", "polygon", "code", "geohash"};

	if (show == NULL)
		return GRID_CENTRE;
	for (int i = 0; i < (int) lengthof(shows); i++)
		if (strcmp(shows[i], show) == 0)
			return (GridShow) i;
	if (pg_strcasecmp(show, "h3") == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s for column \"%s\" does not show cells of H3", builder->name, builder->column->name),
			 errdetail("They do not nest: a cell of H3 reaches over the border of the cell above it."),
			 errhint(
				 "Take \"geohash\", \"code\", \"polygon\" or \"centre\"; or a view with h3_latlng_to_cell and a "
				 "hierarchy in a table of h3_cell_to_parent.")));
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("\"show\" of %s for column \"%s\" is not known", builder->name, builder->column->name),
		 errhint("A cell is shown by its \"centre\", as a \"polygon\", by a \"code\" or a \"geohash\".")));
}

/* Types of PostGIS write points as they lie in memory. */
static bool
is_of_postgis(Oid type)
{
	const char *name = format_type_be(type);
	const char *dot = strrchr(name, '.');

	name = dot != NULL ? dot + 1 : name;
	return type >= FirstNormalObjectId && (strcmp(name, "geometry") == 0 || strcmp(name, "geography") == 0);
}

LevelBuilder *
builder_grid(const char *name, const SourceColumn *column, char **sizes, int n, const char *show)
{
	LevelBuilder *builder = builder_create(name, column, n);
	Grid *grid = palloc0(sizeof(Grid));

	grid->binary = is_of_postgis(builder->type);
	if (!grid->binary)
		builder_of_texts(builder, "grid");
	grid->show = read_show(builder, show);
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
		grid->characters[i] = characters_for(grid->size[i]);
		if (grid->show == GRID_GEOHASH && i > 0 && grid->characters[i] == grid->characters[i - 1])
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("sizes %d and %d of %s for column \"%s\" are one length of geohash", i,
								   i + 1, name, column->name),
							errhint("Each character more makes cells about 5.7 times as fine.")));
		builder->words[i] = grid->show == GRID_GEOHASH
								? psprintf("geohashes of %d characters", grid->characters[i])
								: psprintf("cells of %s", size_text(grid->size[i]));
	}
	builder->levels = levels;
	builder->areas = areas;
	builder->own = grid;
	return builder;
}
