/*
 * builder_country.c: countries by ISO 3166-1, with two or three letters: the region of
 * the United Nations' M49, where it is divided the finest, and the continent.  Taiwan is
 * put where it lies; Antarctica has no region but itself.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"

#include <ctype.h>

#include "utils/builtins.h"

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
levels(LevelBuilder *builder, Datum value, Datum *nodes)
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
	builder->levels = levels;
	return builder;
}
