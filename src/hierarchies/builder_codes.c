/*
 * builder_codes.c: hierarchies of codes that are the same everywhere: ZIP codes, ICD-10, countries.
 *
 * The first three digits of a ZIP code, or 000 where too few people
 * live, as HIPAA's safe harbor has it (45 CFR 164.514 (b) (2) (i) (B)): by a table of
 * populations, or by the list of the guidance of the Department of Health and Human
 * Services, from the census of 2000.
 */
#include "compat.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "rows/dictionary.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* No more people than this are too few. */
#define FEW 20000

#define PREFIXES 1000

static const int restricted[] = {36,  59,  63,  102, 203, 556, 692, 790, 821,
								 823, 830, 831, 878, 879, 884, 890, 893};

typedef struct Zips
{
	Source *population; /* NULL: the list */
	double people[PREFIXES];
} Zips;

static bool
is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* The first three digits of a code of three, five or nine; -1: it is none. */
static int
prefix_of(const char *text, bool number)
{
	char code[12];
	size_t length = strlen(text);
	size_t digits;

	/* a number has lost its leading zeros */
	if (number && length > 0 && length < 5)
		snprintf(code, sizeof(code), "%05d", atoi(text));
	else
		strlcpy(code, text, sizeof(code));
	length = Max(length, strlen(code));
	digits = strspn(code, "0123456789");
	if (length > 10 || digits < 3 ||
		!((digits == length && (length == 3 || length == 5 || length == 9)) ||
		  (digits == 5 && length == 10 && code[5] == '-' && strspn(code + 6, "0123456789") == 4)))
		return -1;
	return (code[0] - '0') * 100 + (code[1] - '0') * 10 + code[2] - '0';
}

static bool
add_people(void *arg, TupleTableSlot *slot)
{
	Zips *zips = arg;
	const SourceColumn *code = &zips->population->qis[0];
	Oid function;
	bool isvarlena;
	char *text;
	int prefix;
	double people;

	if (slot->tts_isnull[0] || slot->tts_isnull[1])
		return true;
	getTypeOutputInfo(code->type, &function, &isvarlena);
	text = OidOutputFunctionCall(function, slot->tts_values[0]);
	while (*text != '\0' && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	prefix = prefix_of(text, is_number(getBaseType(code->type)));
	people = value_as_number(zips->population->qis[1].type, slot->tts_values[1]);
	if (prefix >= 0 && people > 0)
		zips->people[prefix] += people;
	return true;
}

static void
prepare(LevelBuilder *builder, const Dictionary *values, const int64 *rows)
{
	Zips *zips = builder->own;

	for (int i = 0; i < PREFIXES; i++)
		zips->people[i] = zips->population == NULL ? FEW + 1 : 0;
	if (zips->population != NULL)
	{
		const Source *population = zips->population;
		Gate *gate = gate_create(population->name, population->relid, 2);

		gate_columns(gate, population->qis, 2);
		gate_select(gate, psprintf("SELECT %s FROM %s", column_list(population->qis, 2), population->name),
					true, add_people, zips);
		return;
	}
	for (int i = 0; i < (int) lengthof(restricted); i++)
		zips->people[restricted[i]] = 0;
}

static int
zip_levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const Zips *zips = builder->own;
	int prefix = prefix_of(builder_text(builder, value), is_number(builder->type));

	if (prefix < 0)
		return BUILDER_UNKNOWN;
	nodes[0] = CStringGetTextDatum(psprintf("%03d", zips->people[prefix] > FEW ? prefix : 0));
	return 1;
}

LevelBuilder *
builder_zip3(const char *name, const SourceColumn *column, Oid population)
{
	LevelBuilder *builder = builder_create(name, column, 1);
	Zips *zips = palloc0(sizeof(Zips));

	if (!is_number(builder->type))
		builder_of_texts(builder, "hierarchy of ZIP codes");
	builder->words[0] = "the first 3 digits";
	builder->relation = population;
	if (OidIsValid(population))
	{
		zips->population = hierarchy_columns(population);
		if (!type_is_numerical(zips->population->qis[1].type))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the second column of population %s is no number", zips->population->name),
					 errhint("Its first column has ZIP codes or their first three digits, the second one how "
							 "many people live there.")));
	}
	builder->prepare = prepare;
	builder->levels = zip_levels;
	builder->own = zips;
	return builder;
}

/*
 * ---- Codes of the International Classification of Diseases, tenth
 * revision, by how they are built: E11.9 is in category E11, that in the chapter of E00
 * to E90.  The chapters' ranges hold those of the national editions, too; blocks differ
 * among these and are left out.
 */

enum
{
	SUBCATEGORY,
	CATEGORY,
	CHAPTER
};

/* By the letter; from the number on, where a letter has two chapters. */
typedef struct Chapter
{
	const char *letters;
	int from;
	int to;
	const char *name;
} Chapter;

static const Chapter chapters[] = {
	{"AB", 0, 99, "A00-B99"},   {"C", 0, 99, "C00-D49"}, {"D", 0, 49, "C00-D49"}, {"D", 50, 99, "D50-D89"},
	{"E", 0, 99, "E00-E90"},    {"F", 0, 99, "F00-F99"}, {"G", 0, 99, "G00-G99"}, {"H", 0, 59, "H00-H59"},
	{"H", 60, 99, "H60-H95"},   {"I", 0, 99, "I00-I99"}, {"J", 0, 99, "J00-J99"}, {"K", 0, 99, "K00-K95"},
	{"L", 0, 99, "L00-L99"},    {"M", 0, 99, "M00-M99"}, {"N", 0, 99, "N00-N99"}, {"O", 0, 99, "O00-O99"},
	{"P", 0, 99, "P00-P96"},    {"Q", 0, 99, "Q00-Q99"}, {"R", 0, 99, "R00-R99"}, {"ST", 0, 99, "S00-T98"},
	{"VWXY", 0, 99, "V00-Y99"}, {"Z", 0, 99, "Z00-Z99"}, {"U", 0, 99, "U00-U99"}};

/* Some editions have a letter as third character; it sorts after the digits of the same ten. */
static const char *
chapter_of(const char *code)
{
	int number = (code[1] - '0') * 10 + (isdigit((unsigned char) code[2]) ? code[2] - '0' : 9);

	for (int i = 0; i < (int) lengthof(chapters); i++)
		if (strchr(chapters[i].letters, code[0]) != NULL && number >= chapters[i].from &&
			number <= chapters[i].to)
			return chapters[i].name;
	return NULL;
}

/* A letter, a digit, a digit or letter; then whatever the editions add to them. */
static bool
is_code(const char *code)
{
	return isupper((unsigned char) code[0]) && isdigit((unsigned char) code[1]) &&
		   isalnum((unsigned char) code[2]) &&
		   strspn(code + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.-*+!#") == strlen(code + 3);
}

static int
icd10_levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const int *level = builder->own;
	char *code = builder_text(builder, value);
	const char *further;

	for (char *at = code; *at != '\0'; at++)
		*at = pg_ascii_toupper(*at);
	if (!is_code(code))
		return BUILDER_UNKNOWN;
	further = code + 3 + (code[3] == '.');
	for (int h = 0; h < builder->nlevels; h++)
		nodes[h] = level[h] == CHAPTER ? CStringGetTextDatum(chapter_of(code))
				   : level[h] == CATEGORY || !isalnum((unsigned char) *further)
					   ? PointerGetDatum(cstring_to_text_with_len(code, 3))
					   : CStringGetTextDatum(psprintf("%.3s.%c", code, *further));
	return builder->nlevels;
}

LevelBuilder *
builder_icd10(const char *name, const SourceColumn *column, char **words, int n)
{
	static const char *const known[] = {"subcategory", "category", "chapter", NULL};
	LevelBuilder *builder = builder_of_words(name, column, known, words, n);

	builder_of_texts(builder, "hierarchy of diagnoses");
	builder->levels = icd10_levels;
	return builder;
}

/*
 * ---- Countries by ISO 3166-1, with two or three letters: the region of
 * the United Nations' M49, where it is divided the finest, and the continent.  Taiwan is
 * put where it lies; Antarctica has no region but itself.
 */

typedef struct Region
{
	const char *name;
	const char *continent;
	const char *countries; /* both codes of each */
} Region;

static const Region regions[] = {
	{"Eastern Africa", "Africa",
	 "BIBDI DJDJI ERERI ETETH IOIOT KEKEN KMCOM MGMDG MUMUS MWMWI MZMOZ REREU RWRWA SCSYC SOSOM SSSSD TFATF TZTZA UGUGA YTMYT ZMZMB ZWZWE"},
	{"Middle Africa", "Africa", "AOAGO CDCOD CFCAF CGCOG CMCMR GAGAB GQGNQ STSTP TDTCD"},
	{"Northern Africa", "Africa", "DZDZA EGEGY EHESH LYLBY MAMAR SDSDN TNTUN"},
	{"Southern Africa", "Africa", "BWBWA LSLSO NANAM SZSWZ ZAZAF"},
	{"Western Africa", "Africa",
	 "BFBFA BJBEN CICIV CVCPV GHGHA GMGMB GNGIN GWGNB LRLBR MLMLI MRMRT NENER NGNGA SHSHN SLSLE SNSEN TGTGO"},
	{"Caribbean", "Americas",
	 "AGATG AIAIA AWABW BBBRB BLBLM BQBES BSBHS CUCUB CWCUW DMDMA DODOM GDGRD GPGLP HTHTI JMJAM KNKNA KYCYM LCLCA MFMAF MQMTQ MSMSR PRPRI SXSXM TCTCA TTTTO VCVCT VGVGB VIVIR"},
	{"Central America", "Americas", "BZBLZ CRCRI GTGTM HNHND MXMEX NINIC PAPAN SVSLV"},
	{"Northern America", "Americas", "BMBMU CACAN GLGRL PMSPM USUSA"},
	{"South America", "Americas",
	 "ARARG BOBOL BRBRA BVBVT CLCHL COCOL ECECU FKFLK GFGUF GSSGS GYGUY PEPER PYPRY SRSUR UYURY VEVEN"},
	{"Antarctica", "Antarctica", "AQATA"},
	{"Central Asia", "Asia", "KGKGZ KZKAZ TJTJK TMTKM UZUZB"},
	{"Eastern Asia", "Asia", "CNCHN HKHKG JPJPN KPPRK KRKOR MNMNG MOMAC TWTWN"},
	{"South-eastern Asia", "Asia", "BNBRN IDIDN KHKHM LALAO MMMMR MYMYS PHPHL SGSGP THTHA TLTLS VNVNM"},
	{"Southern Asia", "Asia", "AFAFG BDBGD BTBTN ININD IRIRN LKLKA MVMDV NPNPL PKPAK"},
	{"Western Asia", "Asia",
	 "AEARE AMARM AZAZE BHBHR CYCYP GEGEO ILISR IQIRQ JOJOR KWKWT LBLBN OMOMN PSPSE QAQAT SASAU SYSYR TRTUR YEYEM"},
	{"Eastern Europe", "Europe", "BGBGR BYBLR CZCZE HUHUN MDMDA PLPOL ROROU RURUS SKSVK UAUKR"},
	{"Northern Europe", "Europe",
	 "AXALA DKDNK EEEST FIFIN FOFRO GBGBR GGGGY IEIRL IMIMN ISISL JEJEY LTLTU LVLVA NONOR SESWE SJSJM"},
	{"Southern Europe", "Europe",
	 "ADAND ALALB BABIH ESESP GIGIB GRGRC HRHRV ITITA MEMNE MKMKD MTMLT PTPRT RSSRB SISVN SMSMR VAVAT"},
	{"Western Europe", "Europe", "ATAUT BEBEL CHCHE DEDEU FRFRA LILIE LULUX MCMCO NLNLD"},
	{"Australia and New Zealand", "Oceania", "AUAUS CCCCK CXCXR HMHMD NFNFK NZNZL"},
	{"Melanesia", "Oceania", "FJFJI NCNCL PGPNG SBSLB VUVUT"},
	{"Micronesia", "Oceania", "FMFSM GUGUM KIKIR MHMHL MPMNP NRNRU PWPLW UMUMI"},
	{"Polynesia", "Oceania", "ASASM CKCOK NUNIU PFPYF PNPCN TKTKL TOTON TVTUV WFWLF WSWSM"},
};

/* Do these letters begin a country's five, or end them? */
static const Region *
find_region(const char *code, int length)
{
	for (int i = 0; i < (int) lengthof(regions); i++)
		for (const char *at = regions[i].countries; at != NULL; at = strchr(at, ' '))
		{
			at += *at == ' ';
			if (strncmp(length == 2 ? at : at + 2, code, length) == 0)
				return &regions[i];
		}
	return NULL;
}

static int
country_levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const int *level = builder->own;
	char *code = builder_text(builder, value);
	int length = (int) strlen(code);
	const Region *region;

	for (char *at = code; *at != '\0'; at++)
	{
		if (!isalpha((unsigned char) *at))
			return BUILDER_UNKNOWN;
		*at = pg_ascii_toupper(*at);
	}
	region = length == 2 || length == 3 ? find_region(code, length) : NULL;
	if (region == NULL)
		return BUILDER_UNKNOWN;
	for (int h = 0; h < builder->nlevels; h++)
		nodes[h] = CStringGetTextDatum(level[h] == 0 ? region->name : region->continent);
	return builder->nlevels;
}

LevelBuilder *
builder_country(const char *name, const SourceColumn *column, char **words, int n)
{
	static const char *const known[] = {"region", "continent", NULL};
	LevelBuilder *builder = builder_of_words(name, column, known, words, n);

	builder_of_texts(builder, "hierarchy of countries");
	builder->levels = country_levels;
	return builder;
}
