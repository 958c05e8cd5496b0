/*
 * synthetic_model.c: the models of rows that are drawn from a domain: kanon_alpha_beta,
 * kanon_synthetic.  Their promise is about how rows are drawn, and not about the rows that come
 * out.
 */
#include "compat.h"
#include "noise/models.h"
#include "options/request.h"
#include "run/run.h"
#include "rows/target.h"
#include "core/util/fault.h"
#include "rows/verify.h"

#include <math.h>

#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/* Rows that a table may come to have. */
#define MOST_ROWS 1e9

#define DOMAINS_HINT \
	"List the values that each column may have. Take them from your knowledge of the subject: a list made from the rows reveals who is there."
#define D_HINT \
	"It is the attacker's prior probability that any one row is in the table: at least rows / combinations of values."
#define GAMMA_HINT "It is the attacker's probability after seeing the release: above d, below 1."
#define SYNTHETIC_EPSILON_HINT \
	"An outcome is at most exp(epsilon) times as likely with one row as with another in its place; 1 to 10 are usual here."
#define SYNTHETIC_DELTA_HINT \
	"It is the chance of an outcome that tells more than epsilon: far below 1 / rows, such as 0.000001."

/* ---- what is asked for ---- */

static double
number_arg(FunctionCallInfo fcinfo, int arg, const char *name, double most, const char *hint)
{
	double value;

	refuse_null(fcinfo, arg, name, hint);
	value = PG_GETARG_FLOAT8(arg);
	if (!(value > 0 && value < most))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be above 0 and below %g", name, most), errhint("%s", hint)));
	return value;
}

static MadeRun *
take_columns(Request *request, FunctionCallInfo fcinfo, int domains)
{
	MadeRun *own = palloc0(sizeof(MadeRun));

	request->own = own;
	request->qis = array_arg(fcinfo, 2);
	refuse_null(fcinfo, domains, "domains", DOMAINS_HINT);
	own->json = PG_GETARG_JSONB_P(domains);
	return own;
}

/* source, target, columns, d, gamma, domains */
static int
take_alpha_beta(Request *request, FunctionCallInfo fcinfo)
{
	MadeRun *own = take_columns(request, fcinfo, 5);

	own->d = number_arg(fcinfo, 3, "d", 1, D_HINT);
	own->gamma = number_arg(fcinfo, 4, "gamma", 1, GAMMA_HINT);
	if (!kanon_alpha_beta_find(own->d, own->gamma, &own->with))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("gamma must be above d"),
			 errhint(
				 "The attacker's belief starts at d, so gamma must be larger. A gamma just above d publishes little but noise.")));
	return 6;
}

/* source, target, columns, epsilon, delta, domains, rows */
static int
take_synthetic(Request *request, FunctionCallInfo fcinfo)
{
	MadeRun *own = take_columns(request, fcinfo, 5);

	own->epsilon = number_arg(fcinfo, 3, "epsilon", 100, SYNTHETIC_EPSILON_HINT);
	own->delta = number_arg(fcinfo, 4, "delta", 1, SYNTHETIC_DELTA_HINT);
	own->wanted = PG_ARGISNULL(6) ? -1 : PG_GETARG_INT64(6);
	if (!PG_ARGISNULL(6) && (own->wanted < 1 || own->wanted > MOST_ROWS))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("rows must be between 1 and %.0f", MOST_ROWS),
						errhint("NULL draws as many as the source has.")));
	return 7;
}

static void
check_request(Request *request)
{
	request->recorded_method = request->model->name;
}

static bool
is_alpha_beta(const Run *run)
{
	return run->request->model == &alpha_beta_model;
}

static char *
promise_text(const Run *run)
{
	const MadeRun *own = run->request->own;

	if (is_alpha_beta(run))
		return psprintf(
			"alpha-beta, about how rows are drawn: an attacker who gives each row a probability of at most %.15g beforehand, independently of the others, gives it at most %.15g afterwards, and at least %.3g times the one before",
			own->d, own->gamma, own->d / own->gamma);
	return psprintf(
		"synthetic, about how rows are drawn: with a probability of at least 1 - %.15g the outcome is at most "
		"exp(%.15g) times more or less likely than if any one row were replaced",
		own->delta, own->epsilon);
}

/* ---- the steps ---- */

static void
open_source(Run *run)
{
	MadeRun *own = run->request->own;

	own->domains = domains_open(run->request->source, run->request->qis);
	run->source = own->domains->source;
}

static void
open_beside(Run *run)
{
	MadeRun *own = run->request->own;

	domains_resolve(own->domains, own->json);
}

static void
set_up(Run *run)
{
	MadeRun *own = run->request->own;

	domains_values(own->domains, own->json, run->border);
	run->columns = run->source;
}

static void
read_rows(Run *run)
{
	MadeRun *own = run->request->own;

	domains_read(own->domains, run->border);
	run->record.row_count = own->domains->rows.nrows;
}

/* Anybody's belief is at least the share of the domain that there is. */
static void
check_d(const MadeRun *own)
{
	const KanonTuples *rows = &own->domains->rows;
	double share = (double) rows->n / (double) rows->domain;
	double expected = (double) rows->n * own->with.alpha + (double) rows->domain * own->with.beta;

	if (share > own->d)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("d is below the share of combinations that the source has"),
						errdetail("%zu of " UINT64_FORMAT
								  " possible combinations of values are in the source, a share of %.6g.",
								  rows->n, rows->domain, share),
						errhint("Raise d above that, or publish more columns or a larger domain.")));
	if (expected > MOST_ROWS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("about %.6g rows would be published, more than %.0f", expected, MOST_ROWS),
						errhint("Lower d, raise gamma, or publish a smaller domain.")));
}

static uint64_t
draw(void *pool)
{
	return random_draw(pool);
}

static void
ready(Run *run)
{
	MadeRun *own = run->request->own;
	KanonSynthesis synthesis;

	if (is_alpha_beta(run))
	{
		check_d(own);
		return;
	}
	if (own->wanted < 0)
		own->wanted = own->domains->rows.nrows;
	synthesis = (KanonSynthesis){own->domains->rows.nrows, own->domains->tuples, own->wanted, own->epsilon,
								 own->delta};
	if (own->wanted > 0)
		border_check(run->border, kanon_synthesis_noise(&run->border->env, &synthesis, &own->noise),
					 "Ask for fewer rows, a larger epsilon or a smaller domain.");
}

static KanonStatus
solve(Run *run)
{
	MadeRun *own = run->request->own;
	KanonEnv *env = &run->border->env;
	KanonChance chance = {draw, &own->random};
	KanonStatus status = KANON_OK;

	if (is_alpha_beta(run))
		status = kanon_alpha_beta_draw(env, &chance, &own->domains->rows, &own->with, &own->drawn);
	else if (own->wanted > 0)
		status = kanon_synthesize(env, &chance, &own->domains->rows, own->wanted, own->noise, &own->drawn);
	run->report.lower_bound = INFINITY;
	return status;
}

static void
write_rows(Run *run)
{
	MadeRun *own = run->request->own;

	made_write(run->target, own->domains, &own->drawn, run->border);
}

static void
verify_rows(Run *run)
{
	const MadeRun *own = run->request->own;

	made_verify(run->target, own->domains, &own->drawn, run->border);
}

/* Nothing here is counted of the rows but what the table itself shows. */
static Datum
measures_json(const Run *run)
{
	const MadeRun *own = run->request->own;
	RecordedOption measures[8];
	int n = 0;

	measures[n++] = (RecordedOption){"promise", TEXTOID, CStringGetTextDatum(promise_text(run))};
	measures[n++] = (RecordedOption){"domain", INT8OID, Int64GetDatum((int64) own->domains->tuples)};
	measures[n++] = (RecordedOption){"domains", JSONBOID, JsonbPGetDatum(own->json)};
	measures[n++] = (RecordedOption){"rows", INT8OID, Int64GetDatum((int64) own->drawn.n)};
	if (is_alpha_beta(run))
	{
		measures[n++] = (RecordedOption){"d", FLOAT8OID, Float8GetDatum(own->d)};
		measures[n++] = (RecordedOption){"gamma", FLOAT8OID, Float8GetDatum(own->gamma)};
		measures[n++] = (RecordedOption){"alpha", FLOAT8OID, Float8GetDatum(own->with.alpha)};
		measures[n++] = (RecordedOption){"beta", FLOAT8OID, Float8GetDatum(own->with.beta)};
	}
	else
	{
		measures[n++] = (RecordedOption){"epsilon", FLOAT8OID, Float8GetDatum(own->epsilon)};
		measures[n++] = (RecordedOption){"delta", FLOAT8OID, Float8GetDatum(own->delta)};
		measures[n++] =
			(RecordedOption){"noise", FLOAT8OID, Float8GetDatum((double) own->noise / KANON_NOISE_ONE)};
	}
	return recorded_options(measures, n);
}

static void
record_rows(Run *run)
{
	const MadeRun *own = run->request->own;
	const char *promise = promise_text(run);

	run->number = run_record_classless(run->schema, &run->record, run->source, &run->report,
									   &(ClasslessRun){1, NAN, 0, "mechanism", measures_json(run)});
	/* what it takes to estimate counts */
	if (is_alpha_beta(run))
		promise = psprintf("%s; alpha %.17g, beta %.17g, domain " UINT64_FORMAT, promise, own->with.alpha,
						   own->with.beta, own->domains->tuples);
	comments_write(run->target, run->source, run_words(run, promise));
}

static const Steps steps = {open_source, open_beside, set_up,      read_rows,  ready,
							solve,       write_rows,  verify_rows, record_rows};

#define OPTIONS_OF_MADE (TAKES(ALLOW_IDENTIFYING) | TAKES(REPLACE) | TAKES(DRY_RUN))

const Model alpha_beta_model = {.name = "alpha_beta",
								.options = OPTIONS_OF_MADE,
								.take = take_alpha_beta,
								.check = check_request,
								.steps = &steps};

const Model synthetic_model = {.name = "synthetic",
							   .options = OPTIONS_OF_MADE,
							   .take = take_synthetic,
							   .check = check_request,
							   .steps = &steps};

/*
 * ---- Rows that were drawn from a domain become a table, which is read again.
 *
 * The promise is of how they were drawn, which no table shows; what can be checked is
 * that the table has them, and nothing else.
 */

void
made_write(const Target *target, const Domains *domains, KanonDrawn *drawn, Border *border)
{
	const Source *source = domains->source;
	Relation rel = target_open(target);
	Shuffle *shuffle;
	BulkWriter *bulk;
	const Datum *values;
	const bool *nulls;
	int64 number;

	if (!target_is_plain(rel, target, source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	shuffle = shuffle_numbers((int64) drawn->n);
	bulk = bulk_begin(rel);
	bulk_tell(bulk, border, 0, (int64) drawn->n);
	while (shuffle_next(shuffle, &number, &values, &nulls))
	{
		TupleTableSlot *slot = bulk_slot(bulk);
		uint64 tuple = drawn->tuple[number];

		if (FAULT(value_fine) && bulk_empty(bulk))
			tuple = tuple == 0 ? 1 : 0;
		for (int c = 0; c < source->nkept; c++)
			slot->tts_values[c] = domains_value(domains, tuple, c, &slot->tts_isnull[c]);
		if (FAULT(row_blank) && bulk_empty(bulk))
			memset(slot->tts_isnull, true, source->nkept);
		if (!FAULT(rows_skipped))
			bulk_put(bulk);
	}
	shuffle_end(shuffle);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
}

static int
compare_tuples(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a, y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

void
made_verify(const Target *target, const Domains *domains, const KanonDrawn *drawn, Border *border)
{
	int64 n, inside, outside;
	uint64 *found = domains_tuples(domains, target->building, target->relid, false, "verifying", &inside,
								   &outside, border);

	n = inside + outside;
	if (n != (int64) drawn->n)
		raise_unsafe(
			psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".", n, (int64) drawn->n));
	if (n > 0)
		qsort(drawn->tuple, drawn->n, sizeof(uint64), compare_tuples);
	/* a value that is in no domain was not drawn */
	for (int64 i = 0; i < n; i++)
		if (outside > 0 || found[i] != drawn->tuple[i])
			raise_unsafe("It has other rows than those that were drawn.");
}

/*
 * ---- Kanon_alpha_beta, kanon_synthetic: a table of rows drawn by chance is published; what
 * became of the source's rows, for who published it alone, comes back.
 */

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
