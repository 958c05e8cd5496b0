/*
 * shim.c: preloaded into a server beside libasan.  With libasan before it, glibc 2.36 waits
 * for ever for locks of its own in these two, when PostgreSQL starts and when psql ends.
 * Messages stay English without the one, and the other only frees.
 */
#include <locale.h>

extern char *bindtextdomain(const char *domain, const char *folder);

char *
bindtextdomain(const char *domain, const char *folder)
{
	(void) domain;
	return (char *) folder;
}

void
freelocale(locale_t locale)
{
	(void) locale;
}
