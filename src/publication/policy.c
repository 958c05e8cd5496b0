/*
 * policy.c: policies of kanon_policies that a publication keeps: their options join its own, and each release is
 * looked up in the record before readers see it.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "publication/publication.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

char *
publication_policy(const KanonPublication *publication)
{
	JsonbValue key = {.type = jbvString, .val.string = {.val = "policy", .len = 6}};
	const JsonbValue *value = publication->options != NULL && JB_ROOT_IS_OBJECT(publication->options)
								  ? findJsonbValueFromContainer(&publication->options->root, JB_FOBJECT, &key)
								  : NULL;

	return value != NULL && value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len)
													 : NULL;
}

/* written: with what this transaction has recorded by now */
static uint64
ask(Oid schema, const char *query, int n, Oid *types, Datum *values, const char *nulls, bool written)
{
	int nest = catalog_path_begin();
	uint64 rows = gate_ask(psprintf(query, quote_identifier(name_schema(schema))), n, types, values, nulls,
						   !written, 1);

	catalog_path_end(nest);
	return rows;
}

static char *
text_at(int column)
{
	bool isnull;
	Datum value = gate_value(0, column, TEXTOID, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

const char *
policy_points(const KanonPublication *publication)
{
	char *policy = publication_policy(publication);
	Oid type = TEXTOID;
	Datum value;

	if (policy == NULL)
		return "";
	value = CStringGetTextDatum(policy);
	if (ask(publication->extension, "SELECT points::text FROM %s.kanon_policies WHERE policy = $1", 1, &type,
			&value, NULL, false) == 0)
		return " no policy";
	return psprintf(" %s", text_at(1));
}

void
policy_apply(KanonPublication *publication, Oid source, const char *policy)
{
	Oid types[6] = {TEXTOID, REGCLASSOID, NAMEARRAYOID, INT8OID, JSONBOID, TEXTOID};
	Datum values[6];
	char nulls[7] = "      ";
	char *refused, *named = publication_policy(publication);
	bool isnull;

	if (policy != NULL && named != NULL && strcmp(policy, named) != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("policy and options name two policies"), errhint("Name one of them.")));
	policy = policy != NULL ? policy : named;
	if (policy == NULL)
		return;
	values[0] = CStringGetTextDatum(policy);
	values[1] = ObjectIdGetDatum(source);
	values[2] = PointerGetDatum(publication->qis);
	values[3] = Int64GetDatum(publication->k);
	nulls[3] = publication->k == 0 ? 'n' : ' ';
	values[4] = JsonbPGetDatum(publication->options);
	values[5] = CStringGetTextDatum(publication->model);
	(void) ask(publication->extension,
			   "SELECT o.k, o.options, o.refused FROM %s.kanon_policy_options($1, $2, $3, $4, $5, $6) AS o",
			   6, types, values, nulls, false);
	refused = text_at(3);
	if (refused != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the publication leaves the policy \"%s\"", excerpt(policy)),
			 errdetail("%c%s.", pg_toupper((unsigned char) refused[0]), refused + 1),
			 errhint(
				 "Say it as the policy does, or more strictly; what you do not say the policy says. See kanon_policies.")));
	publication->k = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("k must not be NULL"),
				 errdetail("The policy \"%s\" names none.", excerpt(policy)),
				 errhint("Every published combination will occur at least k times; 5 is a usual choice.")));
	publication_check_k(publication->k);
	publication->options = DatumGetJsonbPCopy(gate_value(0, 2, JSONBOID, &isnull));
}

void
policy_check(const Run *run)
{
	Oid types[2] = {INT8OID, TEXTOID};
	Datum values[2] = {Int64GetDatum(run->number), CStringGetTextDatum(run->request->policy)};
	char *left;

	(void) ask(
		run->schema,
		"SELECT string_agg(c.point || ': ' || c.says, ' ') FROM %s.kanon_check_policy($1, $2) AS c WHERE c.verdict = 'no'",
		2, types, values, NULL, true);
	left = text_at(1);
	if (left != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("the release leaves the policy \"%s\"", excerpt(run->request->policy)),
			 errdetail("%s", left),
			 errhint(
				 "Change the options by kanon_alter_publication; kanon_policies has what the policy asks.")));
}
