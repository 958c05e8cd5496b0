/*
 * fuzz_text.c: a libFuzzer target: the readers of patterns and pattern rules, which stand on
 * the server's side, over the little of a server that they need (below).
 *
 * Each line of the input is a text; its first byte says for which reader.  What they take
 * must be about columns that there are, and read the same when it is written again.
 */
#include "compat.h"

#include <math.h>
#include <setjmp.h>

#include "host/excerpt.h"
#include "../../../src/rows/pattern_text.c"
#include "../../../src/options/pattern_rules.c"

#define NQIS 5
#define LISTED 16

/* ---- a server ---- */

typedef struct Chunk
{
	struct Chunk *next;
	size_t size;
	max_align_t data[];
} Chunk;

static Chunk *chunks;
static jmp_buf refused;
static int sqlstate;

MemoryContext CurrentMemoryContext;
volatile sig_atomic_t InterruptPending;

void *
palloc(Size size)
{
	Chunk *chunk = malloc(sizeof(Chunk) + size);

	chunk->next = chunks;
	chunk->size = size;
	chunks = chunk;
	return chunk->data;
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void
pfree(void *pointer)
{
	(void) pointer;
}

static void
free_all(void)
{
	while (chunks != NULL)
	{
		Chunk *next = chunks->next;

		free(chunks);
		chunks = next;
	}
}

char *
pnstrdup(const char *in, Size len)
{
	char *out = palloc(strnlen(in, len) + 1);

	memcpy(out, in, strnlen(in, len));
	out[strnlen(in, len)] = '\0';
	return out;
}

char *
pstrdup(const char *in)
{
	return pnstrdup(in, strlen(in));
}

/* Messages and hints are for those who read them: none here. */
const char *
excerpt(const char *text)
{
	return text;
}

Nearest
nearest_to(const char *given)
{
	return (Nearest){.given = given};
}

void
nearest_try(Nearest *nearest, const char *known)
{
	(void) nearest;
	(void) known;
}

const char *
nearest_hint(const Nearest *nearest, const char *hint)
{
	(void) nearest;
	return hint;
}

/* Plain conversions only: what the readers use. */
#undef vsnprintf
char *
psprintf(const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return pstrdup(text);
}

bool
errstart(int elevel, const char *domain)
{
	(void) domain;
	return elevel >= ERROR;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

void
errfinish(const char *file, int line, const char *function)
{
	(void) file;
	(void) line;
	(void) function;
	longjmp(refused, 1);
}

int
errcode(int code)
{
	sqlstate = code;
	return 0;
}

/* The texts are made, so that what they read is looked at. */
static int
say(const char *format, va_list args)
{
	char text[65536];

	vsnprintf(text, sizeof(text), format, args);
	return 0;
}

#define SAYS(name)                    \
	int name(const char *format, ...) \
	{                                 \
		va_list args;                 \
		va_start(args, format);       \
		say(format, args);            \
		va_end(args);                 \
		return 0;                     \
	}
SAYS(errmsg)
SAYS(errdetail)
SAYS(errhint)

int
errmsg_internal(const char *format, ...)
{
	(void) format;
	sqlstate = ERRCODE_INTERNAL_ERROR;
	return 0;
}

/* UTF-8, as far as it goes. */
int
pg_mblen(const char *text)
{
	unsigned char c = (unsigned char) *text;
	int length = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return Min(length, Max((int) strnlen(text, 4), 1));
}

int
pg_mbstrlen(const char *text)
{
	int n = 0;

	for (; *text; text += pg_mblen(text))
		n++;
	return n;
}

/* Names between commas, some of them quoted; cut in place, in lower case. */
bool
SplitIdentifierString(char *text, char separator, List **names)
{
	static char *found[256];
	int n = 0;

	*names = NIL;
	for (;;)
	{
		char *to, *from;

		while (isspace((unsigned char) *text))
			text++;
		if (*text == '\0' && n == 0)
			return true;
		found[n] = to = from = text;
		if (*text == '"')
		{
			for (from++; *from != '"' || from[1] == '"'; from++)
			{
				if (*from == '\0')
					return false;
				from += *from == '"';
				*to++ = *from;
			}
			from++;
			if (to == text)
				return false;
		}
		else
		{
			while (*from && *from != separator && !isspace((unsigned char) *from))
				*to++ = (char) tolower((unsigned char) *from++);
			if (to == text)
				return false;
		}
		while (isspace((unsigned char) *from))
			from++;
		if (*from != '\0' && *from != separator)
			return false;
		text = from + (*from == separator);
		n++;
		if (*from == '\0')
		{
			*to = '\0';
			break;
		}
		*to = '\0';
		if (n == 255)
			return false;
	}
	{
		List *list = palloc(sizeof(List));

		list->type = T_List;
		list->length = list->max_length = n;
		list->elements = palloc(sizeof(ListCell) * n);
		for (int i = 0; i < n; i++)
			list->elements[i].ptr_value = found[i];
		*names = list;
	}
	return true;
}

/* As src/host/catalog.c has it, whose bound no input here reaches. */
bool
split_names(const char *list, List **names)
{
	return SplitIdentifierString(pstrdup(list), ',', names);
}

/* Long enough for a pattern: a character a column. */
#define TEXT_ROOM 1024

void
initStringInfo(StringInfo text)
{
	text->data = palloc0(TEXT_ROOM);
	text->len = 0;
	text->maxlen = TEXT_ROOM;
}

static void
append_bytes(StringInfo text, const void *data, int n)
{
	if (text->len + n >= TEXT_ROOM)
		abort();
	memcpy(text->data + text->len, data, n);
	text->len += n;
}

void
appendStringInfoString(StringInfo text, const char *more)
{
	append_bytes(text, more, (int) strlen(more));
}

#undef appendStringInfoChar
void
appendStringInfoChar(StringInfo text, char more)
{
	append_bytes(text, &more, 1);
}

/* What only the SQL functions around the readers call. */
#define ABSENT(declaration) \
	declaration             \
	{                       \
		abort();            \
	}
ABSENT(Datum DirectFunctionCall1Coll(PGFunction f, Oid c, Datum a))
ABSENT(void InitMaterializedSRF(FunctionCallInfo f, bits32 flags))
ABSENT(JsonbIterator *JsonbIteratorInit(JsonbContainer *c))
ABSENT(JsonbIteratorToken JsonbIteratorNext(JsonbIterator **it, JsonbValue *v, bool skip))
ABSENT(void MemoryContextDelete(MemoryContext c))
ABSENT(void ProcessInterrupts(void))
ABSENT(text *cstring_to_text(const char *s))
ABSENT(text *cstring_to_text_with_len(const char *s, int l))
ABSENT(char *text_to_cstring(const text *t))
ABSENT(void deconstruct_array(ArrayType *a, Oid t, int l, bool v, char al, Datum **e, bool **n, int *c))
ABSENT(List *lappend(List *l, void *d))
ABSENT(Datum numeric_float8_no_overflow(PG_FUNCTION_ARGS))
ABSENT(struct varlena *pg_detoast_datum(struct varlena *d))
ABSENT(struct varlena *pg_detoast_datum_packed(struct varlena *d))
ABSENT(void tuplestore_putvalues(Tuplestorestate *s, TupleDesc d, Datum *v, bool *n))
ABSENT(void border_check(Border *b, KanonStatus s, const char *d))
ABSENT(Border *border_create(const char *n))
ABSENT(ArrayType *array_arg(FunctionCallInfo f, int arg))
ABSENT(char **name_array(ArrayType *a, const char *w, int *n))
ABSENT(Jsonb *jsonb_arg(FunctionCallInfo f, int arg))
ABSENT(double *weights_parse(Jsonb *w, char *const *c, int n))

/* ---- what must hold ---- */

static void
broken(const char *what)
{
	fputs("BROKEN: ", stderr);
	fputs(what, stderr);
	fputs("\n", stderr);
	abort();
}

static void
read_pattern(const char *text, const Levels *levels)
{
	KanonPattern pattern = pattern_parse(text, levels, false);
	char *again = pattern_text(pattern, levels);

	if (strlen(again) != (size_t) levels->nqis || !kanon_same(pattern_parse(again, levels, false), pattern))
		broken("a pattern that reads another when it is written");
	for (int i = 0; i < levels->nqis; i++)
		if (text[i] != again[i] && !(text[i] == '0' && again[i] == '-'))
			broken("a symbol that means another");
}

static void
read_rules(const ColumnNames *columns, const RuleWords *words)
{
	KanonMask mask;
	KanonPattern all = kanon_span(0, columns->levels.first[columns->n]);

	build_mask(columns, words, &mask);
	if (!kanon_within(kanon_union(mask.never, mask.always), all) || kanon_meet(mask.never, mask.always))
		broken("columns that are not there");
	for (int i = 0; i < mask.nrules; i++)
		if (!kanon_within(kanon_union(mask.rules[i].columns, mask.rules[i].implied), all) ||
			kanon_is_none(mask.rules[i].columns) ||
			(mask.rules[i].kind == KANON_IMPLIES) == kanon_is_none(mask.rules[i].implied))
			broken("a rule of no columns");
}

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *names[NQIS] = {"a", "zip", "a b", "x,y", "a->b"};
	char *list[5][LISTED];
	int n[5] = {0};
	ColumnNames columns = {names, NQIS, no_levels(NQIS)};
	Levels levels = {.nqis = 3, .first = {0, 1, 4, 6}};
	RuleWords words = {.max_suppressed = NO_LIMIT, .max_cost = INFINITY};
	char *volatile all = malloc(size + 1);
	char *line;

	memcpy(all, data, size);
	all[size] = '\0';
	line = all;
	sqlstate = 0;
	if (setjmp(refused) == 0)
	{
		while (line < all + size)
		{
			size_t length = strcspn(line, "\n");
			char kind = line[0];
			char *rest = line + 1;
			char *end = line + length;

			if (length > 0)
			{
				const char *kinds = "nyatoi";
				const char *at = strchr(kinds, kind);

				*end = '\0';
				if (kind == 'p')
					read_pattern(rest, &levels);
				else if (kind == 'm' && rest[0] != '\0')
					words.max_suppressed = rest[0] % 7;
				else if (at != NULL && *at != '\0' && at - kinds < 5 && n[at - kinds] < LISTED)
					list[at - kinds][n[at - kinds]++] = rest;
			}
			line = end + 1;
		}
		words.never = list[0], words.nnever = n[0];
		words.always = list[1], words.nalways = n[1];
		words.at_most_one = list[2], words.nat_most_one = n[2];
		words.together = list[3], words.ntogether = n[3];
		words.implies = list[4], words.nimplies = n[4];
		read_rules(&columns, &words);
	}
	if (sqlstate == ERRCODE_INTERNAL_ERROR)
		broken("an internal error");
	free_all();
	free(all);
	return 0;
}
