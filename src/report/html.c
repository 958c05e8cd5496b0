/*
 * html.c: markup with figures and escaped text in it.
 */
#include "postgres.h"
#include "report/html.h"

#include <math.h>

#include "mb/pg_wchar.h"

/* One character reference for each character beyond ASCII. */
static void
append_other(StringInfo page, const unsigned char *utf8, int length)
{
	pg_wchar c = utf8_to_unicode(utf8);

	/* HTML has no name for control characters; a lone byte is none either */
	if (length == 1 || (c >= 0x80 && c < 0xa0))
		appendStringInfoString(page, "&#xfffd;");
	else
		appendStringInfo(page, "&#x%x;", (unsigned int) c);
}

static void
append_text(StringInfo page, const char *text)
{
	int length = strlen(text);
	const char *utf8 = text;

	/* bytes of a database without an encoding mean nothing that could be shown */
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		utf8 = pg_server_to_any(text, length, PG_UTF8);
	for (const unsigned char *p = (const unsigned char *) utf8; *p != '\0';)
	{
		switch (*p)
		{
			case '&':
				appendStringInfoString(page, "&amp;");
				break;
			case '<':
				appendStringInfoString(page, "&lt;");
				break;
			case '>':
				appendStringInfoString(page, "&gt;");
				break;
			case '"':
				appendStringInfoString(page, "&quot;");
				break;
			case '\'':
				appendStringInfoString(page, "&#39;");
				break;
			default:
				if (*p >= 0x80)
				{
					int n = GetDatabaseEncoding() == PG_SQL_ASCII ? 1 : pg_utf_mblen(p);

					append_other(page, p, n);
					p += n;
					continue;
				}
				if ((*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
					appendStringInfoString(page, "&#xfffd;");
				else
					appendStringInfoCharMacro(page, (char) *p);
		}
		p++;
	}
}

static void
append_count(StringInfo page, int64 count)
{
	char digits[32];
	int n = pg_snprintf(digits, sizeof(digits), UINT64_FORMAT, count < 0 ? -(uint64) count : (uint64) count);

	if (count < 0)
		appendStringInfoString(page, "&minus;");
	for (int i = 0; i < n; i++)
	{
		appendStringInfoChar(page, digits[i]);
		if (i < n - 1 && (n - 1 - i) % 3 == 0)
			appendStringInfoChar(page, ',');
	}
}

static void
append_number(StringInfo page, double number)
{
	if (!isfinite(number))
		appendStringInfoString(page, HTML_NOTHING);
	else if (fabs(number) >= 1e15)
		appendStringInfo(page, "%.4g", number);
	else if (fabs(number) >= 1000 || number == rint(number))
		append_count(page, (int64) rint(number));
	else if (fabs(number) < 0.001)
		appendStringInfo(page, "%.2g", number);
	else
		appendStringInfo(page, "%.*f", fabs(number) < 10 ? 4 : 2, number);
}

static void
append_mean(StringInfo page, double mean)
{
	if (fabs(mean) < 1000)
		appendStringInfo(page, "%.1f", mean);
	else
		append_number(page, mean);
}

/* What is not nothing never shows as 0 %, and what is not all never as 100 %. */
static void
append_share(StringInfo page, double share)
{
	if (!isfinite(share))
		appendStringInfoString(page, HTML_NOTHING);
	else if (share > 0 && share < 0.0005)
		appendStringInfoString(page, "&lt;&#8239;0.1&#8239;%");
	else if (share < 1 && share >= 0.9995)
		appendStringInfoString(page, "&gt;&#8239;99.9&#8239;%");
	else if (share == 0 || share == 1)
		appendStringInfo(page, "%.0f&#8239;%%", share * 100);
	else
		appendStringInfo(page, "%.1f&#8239;%%", share * 100);
}

static void
append_time(StringInfo page, double ms)
{
	if (ms >= 120000)
		appendStringInfo(page, "%.1f min", ms / 60000);
	else if (ms >= 1000)
		appendStringInfo(page, "%.1f s", ms / 1000);
	else
		appendStringInfo(page, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
}

void
html(StringInfo page, const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	for (const char *p = format; *p != '\0'; p++)
	{
		if (*p != '%')
		{
			appendStringInfoCharMacro(page, *p);
			continue;
		}
		switch (*++p)
		{
			case 's':
				text = va_arg(args, const char *);
				if (text != NULL)
					append_text(page, text);
				break;
			case 'h':
				appendStringInfoString(page, va_arg(args, const char *));
				break;
			case 'n':
				append_count(page, va_arg(args, int64));
				break;
			case 'd':
				appendStringInfo(page, INT64_FORMAT, va_arg(args, int64));
				break;
			case 'f':
				append_number(page, va_arg(args, double));
				break;
			case 'o':
				append_mean(page, va_arg(args, double));
				break;
			case 'p':
				append_share(page, va_arg(args, double));
				break;
			case 'c':
				appendStringInfo(page, "%.5g", va_arg(args, double));
				break;
			case 't':
				append_time(page, va_arg(args, double));
				break;
			case '%':
				appendStringInfoChar(page, '%');
				break;
			default:
				elog(ERROR, "unknown conversion in a page's markup");
		}
	}
	va_end(args);
}
