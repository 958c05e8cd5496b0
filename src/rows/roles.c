/*
 * roles.c: what the name of a column says of its role.
 */
#include "postgres.h"

#include <ctype.h>

#include "rows/source.h"

/* Names of persons, and ways to reach or find them. */
static const char *const identifier[] = {
	"firstname", "lastname", "fullname", "surname",   "forename",    "username",  "login", "nickname",
	"email",     "mail",     "phone",    "telephone", "mobile",      "fax",       "ssn",   "passport",
	"licence",   "license",  "iban",     "account",   "insurance",   "insured",   "mrn",   "guid",
	"uuid",      "url",      "homepage", "ip",        "imei",        "plate",     "vin",   "address",
	"street",    "photo",    "picture",  "signature", "fingerprint", "biometric", NULL};

/* Beside one of these a number or name is a person's. */
static const char *const person[] = {
	"patient", "person",  "customer",  "client",    "user",  "member",  "employee", "student", "pupil",
	"citizen", "subject", "household", "insured",   "first", "last",    "full",     "given",   "family",
	"middle",  "maiden",  "doctor",    "physician", "nurse", "contact", NULL};

/* Numbers and names of anything. */
static const char *const number[] = {"id", "no", "nr", "number", "num", "name", "key", "ref", NULL};

/* Texts in which somebody may have written a name. */
static const char *const prose[] = {"note", "notes",   "comment",     "comments", "remark", "remarks",
									"memo", "message", "description", "letter",   NULL};

static const char *const sensitive[] = {
	"diagnosis",  "icd",      "disease",      "illness",   "condition", "symptom",    "drug",
	"medication", "medicine", "prescription", "treatment", "therapy",   "procedure",  "surgery",
	"lab",        "test",     "result",       "hiv",       "cancer",    "disability", "blood",
	"genetic",    "genome",   "allergy",      "pregnancy", "salary",    "income",     "wage",
	"wages",      "earnings", "cost",         "price",     "amount",    "balance",    "debt",
	"loan",       "credit",   "tax",          "benefit",   "religion",  "political",  "party",
	"vote",       "union",    "orientation",  "sexual",    "crime",     "criminal",   "conviction",
	"offence",    "offense",  "arrest",       "grade",     "score",     "rating",     "complaint",
	NULL};

static const char *const quasi_identifier[] = {
	"birth",        "birthday",    "birthdate", "born",     "dob",       "age",        "sex",
	"gender",       "zip",         "zipcode",   "postcode", "postal",    "city",       "town",
	"municipality", "county",      "district",  "region",   "state",     "province",   "country",
	"nationality",  "citizenship", "native",    "origin",   "race",      "ethnicity",  "ethnic",
	"marital",      "married",     "education", "degree",   "school",    "occupation", "profession",
	"job",          "employer",    "workclass", "language", "height",    "weight",     "date",
	"year",         "month",       "day",       "admitted", "admission", "discharged", "discharge",
	"visit",        "visited",     "death",     "died",     "latitude",  "longitude",  "lat",
	"lon",          "location",    "place",     "children", NULL};

/* Words for flags about somebody's health, however they are joined. */
static const char *const health[] = {
	"diab",   "hypert", "asthma",    "pneum",  "anemi",  "anaemi", "renal",  "dialys", "depress",
	"psych",  "nutrit", "substance", "fibros", "iron",   "hemo",   "haemo",  "cancer", "tumor",
	"tumour", "carcin", "hepat",     "cardi",  "heart",  "stroke", "hiv",    "alcoh",  "smok",
	"drug",   "addict", "obes",      "dement", "alzhei", "epilep", "arthr",  "infect", "covid",
	"sepsis", "pregn",  "disord",    "diseas", "syndro", "transp", "allerg", "disab",  NULL};

/* Do so many bytes at `at` make one of the words? */
static bool
is_among(const char *at, size_t length, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strlen(*words) == length && pg_strncasecmp(*words, at, length) == 0)
			return true;
	return false;
}

/* Has the name one of the words in it?  Words end at what is no letter, and before a capital after a small one. */
static bool
has_word(const char *name, const char *const *words)
{
	const char *at = name;

	while (*at != '\0')
	{
		size_t length = 0;

		while (
			isalpha((unsigned char) at[length]) &&
			!(length > 0 && islower((unsigned char) at[length - 1]) && isupper((unsigned char) at[length])))
			length++;
		if (is_among(at, length, words))
			return true;
		at += Max(length, 1);
	}
	return false;
}

/* Has the name one of these in it, wherever? */
static bool
has_part(const char *name, const char *const *parts)
{
	for (; *parts != NULL; parts++)
		for (const char *at = name; *at != '\0'; at++)
			if (pg_strncasecmp(at, *parts, strlen(*parts)) == 0)
				return true;
	return false;
}

/* A value that many rows share names nobody, whatever the column is called. */
static ColumnRole
identifies_by_name(const char *name, const ColumnValues *values, const char **why)
{
	if (values->coarse)
		return ROLE_NONE;
	if (has_word(name, identifier) || (has_word(name, number) && has_word(name, person)))
	{
		*why = "its name suggests a name, number or address of persons";
		return ROLE_IDENTIFIER;
	}
	if (has_word(name, number) && values->few)
	{
		*why = "its name suggests a number or name, and few rows share a value";
		return ROLE_IDENTIFIER;
	}
	if (has_word(name, prose) && values->distinct > 10)
	{
		*why = "its name suggests free text, which may name persons";
		return ROLE_IDENTIFIER;
	}
	return ROLE_NONE;
}

ColumnRole
role_by_name(const char *name, const ColumnValues *values, const char **why)
{
	if (identifies_by_name(name, values, why) == ROLE_IDENTIFIER)
		return ROLE_IDENTIFIER;
	if (has_word(name, sensitive) || (values->flag && has_part(name, health)))
	{
		*why = "its name suggests a sensitive value";
		return ROLE_SENSITIVE;
	}
	if (has_word(name, quasi_identifier))
	{
		*why = "its name suggests a fact that others know";
		return ROLE_QUASI_IDENTIFIER;
	}
	*why = "";
	return ROLE_NONE;
}

const char *
role_name(ColumnRole role)
{
	static const char *const names[] = {"", "identifier", "quasi-identifier", "sensitive", "harmless"};

	return names[role];
}

const char *
role_label(ColumnRole role)
{
	return role == ROLE_HARMLESS ? "keep" : role_name(role);
}
