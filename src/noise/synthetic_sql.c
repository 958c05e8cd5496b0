/*
 * synthetic_sql.c: kanon_alpha_beta, kanon_synthetic: a table of rows drawn by chance is published; what
 * became of the source's rows, for who published it alone, comes back.
 */
#include "compat.h"
#include "noise/models.h"
#include "run/run.h"

#include <math.h>

PG_FUNCTION_INFO_V1(kanon_alpha_beta);
PG_FUNCTION_INFO_V1(kanon_synthetic);

static void
put(Lines *lines, const char *measure, const char *column, double value, const char *meaning)
{
	line_text(lines, measure);
	if (column != NULL)
		line_name(lines, column);
	else
		line_value(lines, (Datum) 0, false);
	line_float8(lines, value, true);
	line_text(lines, meaning);
	line_end(lines);
}

static void
put_source(Lines *lines, const MadeRun *own)
{
	const Domains *domains = own->domains;

	put(lines, "domain", NULL, (double) domains->tuples, "combinations of values that a row may have");
	put(lines, "source_rows", NULL, (double) domains->rows.nrows, "rows of the source within the domain");
	put(lines, "outside_rows", NULL, (double) domains->outside,
		"rows of the source with a value that no domain has: they are left out");
}

static void
put_alpha_beta(Lines *lines, const Run *run)
{
	const MadeRun *own = run->request->own;
	const KanonTuples *rows = &own->domains->rows;
	double a = own->with.alpha + own->with.beta, n = (double) rows->n, m = (double) rows->domain;

	put(lines, "alpha", NULL, own->with.alpha,
		"a row that is there is published with probability alpha + beta");
	put(lines, "beta", NULL, own->with.beta, "any other of the domain with probability beta");
	put_source(lines, own);
	put(lines, "different_rows", NULL, n,
		"of these: equal rows count once, and are published once or not at all");
	put(lines, "kept_rows", NULL, (double) own->drawn.kept, "of these that are published");
	put(lines, "added_rows", NULL, (double) (own->drawn.n - own->drawn.kept), "others that are published");
	put(lines, "standard_error", NULL,
		sqrt(n * a * (1 - a) + (m - n) * own->with.beta * (1 - own->with.beta)) / own->with.alpha,
		"of kanon_estimate for all rows; for fewer it is less");
}

/* Half the sum of the differences of the shares of a column's values. */
static double
marginal_error(const MadeRun *own, int column, Border *border)
{
	const Domains *domains = own->domains;
	double *shares = border_palloc(border, sizeof(double) * domains->size[column]);
	double error = 0;

	memset(shares, 0, sizeof(double) * domains->size[column]);
	for (size_t i = 0; i < domains->rows.n; i++)
		shares[domains_code(domains, domains->rows.tuple[i], column)] +=
			(double) domains->rows.rows[i] / (double) domains->rows.nrows;
	for (size_t i = 0; i < own->drawn.n; i++)
		shares[domains_code(domains, own->drawn.tuple[i], column)] -= 1 / (double) own->drawn.n;
	for (uint32 v = 0; v < domains->size[column]; v++)
		error += fabs(shares[v]) / 2;
	border_pfree(border, shares);
	return error;
}

static void
put_synthetic(Lines *lines, const Run *run)
{
	const MadeRun *own = run->request->own;
	double n = (double) own->domains->rows.nrows, m = (double) own->domains->tuples;
	double noise = (double) own->noise / KANON_NOISE_ONE;

	put(lines, "noise", NULL, noise,
		"made-up rows that are added for each combination, the fewest that keep the promise");
	put(lines, "noise_share", NULL, noise > 0 ? noise * m / (n + noise * m) : 0,
		"their share among all rows that kanon draws from: 1 is noise alone");
	put_source(lines, own);
	put(lines, "published_rows", NULL, (double) own->drawn.n, "rows drawn");
	for (int c = 0; c < run->source->nkept && own->drawn.n > 0; c++)
		put(lines, "marginal_error", run->source->kept[c].name, marginal_error(own, c, run->border),
			"total variation distance between the column's values before and after; it is not part of the promise: do not publish it");
}

/* kanon_alpha_beta(source, target, columns, d, gamma, domains, …) */
Datum
kanon_alpha_beta(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &alpha_beta_model, put_alpha_beta);
}

/* kanon_synthetic(source, target, columns, epsilon, delta, domains, rows, …) */
Datum
kanon_synthetic(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &synthetic_model, put_synthetic);
}
