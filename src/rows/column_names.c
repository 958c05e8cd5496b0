/*
 * column_names.c: the roles of columns, by their names.
 *
 * Words are English, German, French and Spanish, with and without the marks on letters.
 */
#include "compat.h"
#include "rows/source.h"

#include <ctype.h>

/* Names of persons, and ways to reach or find them. */
static const char *const identifier[] = {"firstname",
										 "lastname",
										 "fullname",
										 "surname",
										 "forename",
										 "username",
										 "login",
										 "nickname",
										 "email",
										 "mail",
										 "phone",
										 "telephone",
										 "mobile",
										 "fax",
										 "ssn",
										 "passport",
										 "licence",
										 "license",
										 "iban",
										 "account",
										 "insurance",
										 "insured",
										 "mrn",
										 "guid",
										 "uuid",
										 "url",
										 "homepage",
										 "ip",
										 "imei",
										 "plate",
										 "vin",
										 "address",
										 "street",
										 "photo",
										 "picture",
										 "signature",
										 "fingerprint",
										 "biometric",
										 "vorname",
										 "nachname",
										 "familienname",
										 "zuname",
										 "geburtsname",
										 "rufname",
										 "benutzername",
										 "telefon",
										 "telefonnummer",
										 "handy",
										 "handynummer",
										 "adresse",
										 "anschrift",
										 "strasse",
										 "straße",
										 "hausnummer",
										 "konto",
										 "kontonummer",
										 "versichertennummer",
										 "versicherungsnummer",
										 "personalnummer",
										 "patientennummer",
										 "kundennummer",
										 "matrikelnummer",
										 "ausweisnummer",
										 "steuernummer",
										 "unterschrift",
										 "kennzeichen",
										 "prenom",
										 "prénom",
										 "nomfamille",
										 "courriel",
										 "téléphone",
										 "rue",
										 "matricule",
										 "nir",
										 "passeport",
										 "apellido",
										 "apellidos",
										 "correo",
										 "teléfono",
										 "telefono",
										 "direccion",
										 "dirección",
										 "calle",
										 "domicilio",
										 "dni",
										 "nif",
										 "nie",
										 "pasaporte",
										 "firma",
										 "matricula",
										 "matrícula",
										 NULL};

/* Beside one of these a number or name is a person's. */
static const char *const person[] = {
	"patient",    "person",      "customer",     "client",    "user",       "member",       "employee",
	"student",    "pupil",       "citizen",      "subject",   "household",  "insured",      "first",
	"last",       "full",        "given",        "family",    "middle",     "maiden",       "doctor",
	"physician",  "nurse",       "contact",      "kunde",     "kundin",     "mitarbeiter",  "mitarbeiterin",
	"schueler",   "schüler",     "studierender", "buerger",   "bürger",     "versicherter", "arzt",
	"ärztin",     "mitglied",    "haushalt",     "patientin", "teilnehmer", "proband",      "patiente",
	"personne",   "utilisateur", "salarié",      "salarie",   "élève",      "eleve",        "étudiant",
	"etudiant",   "citoyen",     "assuré",       "assure",    "médecin",    "medecin",      "foyer",
	"famille",    "paciente",    "persona",      "cliente",   "usuario",    "empleado",     "alumno",
	"estudiante", "ciudadano",   "asegurado",    "médico",    "medico",     "socio",        "hogar",
	NULL};

/* The number of a person, or of a case, whatever else the table has. */
static const char *const own_number[] = {"id",     "pid",       "uid",      "ptid",   "patid",
										 "subjid", "subjectid", "personid", "caseid", "idno",
										 "idnr",   "respid",    "userid",   NULL};

/* Numbers and names of anything. */
static const char *const number[] = {"id",  "no",     "nr",      "number", "num",    "name",
									 "key", "ref",    "nummer",  "numero", "numéro", "número",
									 "nom", "nombre", "kennung", "clave",  NULL};

/* Texts in which somebody may have written a name. */
static const char *const prose[] = {
	"note",         "notes",       "comment",      "comments",      "remark",
	"remarks",      "memo",        "message",      "description",   "letter",
	"notiz",        "notizen",     "bemerkung",    "bemerkungen",   "kommentar",
	"anmerkung",    "nachricht",   "beschreibung", "freitext",      "commentaire",
	"commentaires", "remarque",    "remarques",    "texte",         "lettre",
	"comentario",   "comentarios", "observacion",  "observaciones", "mensaje",
	"descripcion",  "descripción", "nota",         "notas",         NULL};

static const char *const sensitive[] = {
	"diagnosis",  "icd",          "disease",      "illness",     "condition",
	"symptom",    "drug",         "medication",   "medicine",    "prescription",
	"treatment",  "therapy",      "procedure",    "surgery",     "lab",
	"test",       "result",       "hiv",          "cancer",      "disability",
	"blood",      "genetic",      "genome",       "allergy",     "pregnancy",
	"salary",     "income",       "wage",         "wages",       "earnings",
	"cost",       "price",        "amount",       "balance",     "debt",
	"loan",       "credit",       "tax",          "benefit",     "religion",
	"political",  "party",        "vote",         "union",       "orientation",
	"sexual",     "crime",        "criminal",     "conviction",  "offence",
	"offense",    "arrest",       "grade",        "score",       "rating",
	"complaint",  "diagnose",     "krankheit",    "erkrankung",  "befund",
	"medikament", "behandlung",   "therapie",     "operation",   "labor",
	"laborwert",  "blutgruppe",   "behinderung",  "allergie",    "schwangerschaft",
	"gehalt",     "lohn",         "einkommen",    "verdienst",   "kosten",
	"preis",      "betrag",       "schulden",     "kredit",      "steuer",
	"partei",     "wahl",         "gewerkschaft", "straftat",    "verurteilung",
	"zensur",     "punkte",       "maladie",      "diagnostic",  "symptôme",
	"symptome",   "médicament",   "medicament",   "traitement",  "chirurgie",
	"handicap",   "grossesse",    "salaire",      "revenu",      "revenus",
	"cout",       "coût",         "prix",         "montant",     "dette",
	"impot",      "impôt",        "parti",        "syndicat",    "condamnation",
	"résultat",   "resultat",     "diagnostico",  "diagnóstico", "enfermedad",
	"sintoma",    "síntoma",      "medicamento",  "tratamiento", "cirugia",
	"cirugía",    "discapacidad", "embarazo",     "sueldo",      "salario",
	"ingreso",    "ingresos",     "renta",        "coste",       "costo",
	"precio",     "importe",      "deuda",        "impuesto",    "religión",
	"partido",    "sindicato",    "delito",       "condena",     "resultado",
	NULL};

static const char *const quasi_identifier[] = {"birth",
											   "birthday",
											   "birthdate",
											   "born",
											   "dob",
											   "age",
											   "sex",
											   "gender",
											   "zip",
											   "zipcode",
											   "postcode",
											   "postal",
											   "city",
											   "town",
											   "municipality",
											   "county",
											   "district",
											   "region",
											   "state",
											   "province",
											   "country",
											   "nationality",
											   "citizenship",
											   "native",
											   "origin",
											   "race",
											   "ethnicity",
											   "ethnic",
											   "marital",
											   "married",
											   "education",
											   "degree",
											   "school",
											   "occupation",
											   "profession",
											   "job",
											   "employer",
											   "workclass",
											   "language",
											   "height",
											   "weight",
											   "date",
											   "year",
											   "month",
											   "day",
											   "admitted",
											   "admission",
											   "discharged",
											   "discharge",
											   "visit",
											   "visited",
											   "death",
											   "died",
											   "latitude",
											   "longitude",
											   "lat",
											   "lon",
											   "location",
											   "place",
											   "children",
											   "geburtsdatum",
											   "geburtstag",
											   "geburtsjahr",
											   "geburtsort",
											   "geboren",
											   "alter",
											   "geschlecht",
											   "plz",
											   "postleitzahl",
											   "ort",
											   "wohnort",
											   "stadt",
											   "gemeinde",
											   "kreis",
											   "landkreis",
											   "bezirk",
											   "bundesland",
											   "staat",
											   "herkunft",
											   "staatsangehoerigkeit",
											   "staatsangehörigkeit",
											   "nationalitaet",
											   "nationalität",
											   "familienstand",
											   "bildung",
											   "schulabschluss",
											   "abschluss",
											   "schule",
											   "beruf",
											   "arbeitgeber",
											   "sprache",
											   "groesse",
											   "größe",
											   "gewicht",
											   "datum",
											   "jahr",
											   "monat",
											   "tag",
											   "aufnahme",
											   "entlassung",
											   "sterbedatum",
											   "tod",
											   "kinder",
											   "breitengrad",
											   "längengrad",
											   "laengengrad",
											   "naissance",
											   "datenaissance",
											   "sexe",
											   "âge",
											   "codepostal",
											   "ville",
											   "commune",
											   "département",
											   "departement",
											   "région",
											   "pays",
											   "nationalité",
											   "nationalite",
											   "origine",
											   "etatcivil",
											   "étatcivil",
											   "matrimonial",
											   "diplome",
											   "diplôme",
											   "école",
											   "ecole",
											   "métier",
											   "metier",
											   "employeur",
											   "langue",
											   "taille",
											   "poids",
											   "année",
											   "annee",
											   "mois",
											   "jour",
											   "décès",
											   "deces",
											   "enfants",
											   "lieu",
											   "nacimiento",
											   "edad",
											   "sexo",
											   "genero",
											   "género",
											   "codigopostal",
											   "ciudad",
											   "municipio",
											   "provincia",
											   "región",
											   "comunidad",
											   "país",
											   "pais",
											   "nacionalidad",
											   "origen",
											   "estadocivil",
											   "estudios",
											   "escuela",
											   "profesion",
											   "profesión",
											   "ocupacion",
											   "ocupación",
											   "empleo",
											   "idioma",
											   "talla",
											   "altura",
											   "peso",
											   "fecha",
											   "año",
											   "mes",
											   "día",
											   "dia",
											   "fallecimiento",
											   "muerte",
											   "hijos",
											   "lugar",
											   "latitud",
											   "longitud",
											   NULL};

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

/* Letters with marks have bytes above 127 in every encoding of a server. */
static bool
is_letter(char c)
{
	return isalpha((unsigned char) c) || IS_HIGHBIT_SET(c);
}

/* Has the name one of the words in it?  Words end at what is no letter, and before a capital after a small one. */
static bool
has_word(const char *name, const char *const *words)
{
	const char *at = name;

	while (*at != '\0')
	{
		size_t length = 0;

		while (is_letter(at[length]) && !(length > 0 && islower((unsigned char) at[length - 1]) &&
										  isupper((unsigned char) at[length])))
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

/* The whole name is one of these words. */
static bool
is_one_of(const char *name, const char *const *words)
{
	return is_among(name, strlen(name), words);
}

bool
values_are_few(double rows, double distinct)
{
	return rows >= FEW_FROM && rows < FEW_ROWS_A_VALUE * distinct;
}

/* A value that many rows share names nobody, unless the column is called as persons are. */
static ColumnRole
identifies_by_name(const char *name, const ColumnValues *values, const char **why)
{
	bool names = values->texts && values->distinct > 2 && is_one_of(name, person);

	if (values->coarse && !names)
		return ROLE_NONE;
	if (names || has_word(name, identifier) || is_one_of(name, own_number) ||
		(has_word(name, number) && has_word(name, person)))
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
