/*
 * test_linked.c: rows of persons, class by class: what rows show is true, and every combination of few rows that a person
 * of a class has is that of k persons, counted from all combinations written down as texts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "linked/linked.h"

#define TABLES 2
#define CASES 1500
#define MOST_ROWS 40
#define MOST_PERSONS 24
#define MOST_FORM 400

typedef struct Case
{
	Host host;
	KanonProblem *problem[TABLES];
	KanonLinkedTable table[TABLES];
	KanonLinked linked;
	uint32_t class_[MOST_PERSONS];
	uint32_t type[TABLES][MOST_ROWS];
	uint32_t person[TABLES][MOST_ROWS];
	uint32_t above[MOST_ROWS]; /* … or joined */
	bool apart[MOST_ROWS];
	bool gone[TABLES][MOST_ROWS];
	uint32_t like[TABLES][MOST_ROWS];
	uint8_t level[TABLES][MOST_ROWS * KANON_MAX_QIS];
} Case;

/* Some rows of the second table refer to one of the first, too, of the same person. */
static void
join_rows(Case *c, uint64_t *random)
{
	c->table[1].joins = 0;
	c->table[1].joined = c->above;
	c->table[1].apart = c->apart;
	for (uint32_t r = 0; r < c->table[1].nrows; r++)
	{
		c->above[r] = KANON_NO_ROW;
		for (uint32_t i = 0; i < c->table[0].nrows; i++)
			if (c->person[0][i] == c->person[1][r] && !c->gone[0][i] && random_below(random, 2) == 0)
				c->above[r] = i;
		c->apart[r] = c->above[r] == KANON_NO_ROW || random_below(random, 5) == 0;
	}
}

/* The row of the first table on which one of the second hangs, as it is shown; KANON_NO_ROW: none. */
static uint32_t
hangs_on(const Case *c, uint32_t r)
{
	if (c->table[1].joined != NULL)
		return c->apart[r] ? KANON_NO_ROW : c->above[r];
	return c->linked.ntables > 1 && c->table[1].parent == 0 ? c->above[r] : KANON_NO_ROW;
}

static void
case_make(Case *c, uint64_t seed)
{
	uint64_t random = seed;

	memset(c, 0, sizeof(*c));
	host_init(&c->host);
	c->linked = (KanonLinked){.env = &c->host.env,
							  .k = 2 + random_below(&random, 3),
							  .m = (int) random_below(&random, 3),
							  .in_all = (int) random_below(&random, 4),
							  .ntables = 1 + (int) random_below(&random, TABLES),
							  .tables = c->table,
							  .npersons = 1 + random_below(&random, MOST_PERSONS),
							  .nclasses = 1 + random_below(&random, 3),
							  .class_ = c->class_};
	for (uint32_t p = 0; p < c->linked.npersons; p++)
		c->class_[p] = random_below(&random, c->linked.nclasses);
	for (int t = 0; t < c->linked.ntables; t++)
	{
		KanonLinkedTable *table = &c->table[t];
		bool below = t > 0 && c->table[0].nrows > 0 && random_below(&random, 2) == 0;

		c->problem[t] = problem_random_levels(&c->host, &random, 1 + random_below(&random, MOST_ROWS),
											  1 + (int) random_below(&random, 3), 3, 1);
		/* (of some tables nothing is known) */
		table->known = random_below(&random, 5) == 0 ? 0 : c->linked.m;
		table->problem = c->problem[t];
		table->nqis = kanon_count_qis(c->problem[t]);
		table->parent = below ? 0 : -1;
		table->nrows = random_below(&random, MOST_ROWS);
		for (uint32_t r = 0; r < table->nrows; r++)
		{
			c->type[t][r] = random_below(&random, c->problem[t]->ntypes);
			c->above[r] = below ? random_below(&random, c->table[0].nrows) : 0;
			c->person[t][r] = below ? c->person[0][c->above[r]] : random_below(&random, c->linked.npersons);
			c->gone[t][r] = below ? c->gone[0][c->above[r]] : random_below(&random, 10) == 0;
		}
		table->type = c->type[t];
		table->person = c->person[t];
		table->above = below ? c->above : NULL;
		table->gone = c->gone[t];
		table->like = c->like[t];
		table->level = c->level[t];
	}
	if (c->linked.ntables > 1 && c->table[1].parent < 0 && random_below(&random, 2) == 0)
		join_rows(c, &random);
}

static void
case_free(Case *c)
{
	for (int t = 0; t < c->linked.ntables; t++)
		problem_free(c->problem[t]);
	assert_int_equal(c->host.blocks, 0);
}

/* ---- what came out ---- */

static void
check_true(const Case *c, bool gone[TABLES][MOST_ROWS])
{
	for (int t = 0; t < c->linked.ntables; t++)
		for (uint32_t r = 0; r < c->table[t].nrows; r++)
		{
			const KanonProblem *problem = c->problem[t];

			assert_true(c->gone[t][r] || !gone[t][r]);
			if (c->gone[t][r])
				continue;
			assert_true(t == 0 || hangs_on(c, r) == KANON_NO_ROW || !c->gone[0][hangs_on(c, r)]);
			for (int q = 0; q < c->table[t].nqis; q++)
				for (int column =
						 kanon_first_column(problem, q) + c->level[t][(int) r * c->table[t].nqis + q];
					 column < kanon_first_column(problem, q + 1); column++)
					assert_int_equal(problem->columns[column].code[c->type[t][r]],
									 problem->columns[column].code[c->like[t][r]]);
		}
}

typedef struct Form
{
	uint32_t class_;
	uint32_t person;
	char text[MOST_FORM];
} Form;

typedef struct Forms
{
	size_t n;
	Form *form;
} Forms;

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
show_row(const Case *c, int t, uint32_t r, bool known, char *text)
{
	const KanonProblem *problem = c->problem[t];
	int n = sprintf(text, "%d", t);

	for (int q = 0; q < c->table[t].nqis && known; q++)
	{
		int column = kanon_first_column(problem, q) + c->level[t][(int) r * c->table[t].nqis + q];

		if (column < kanon_first_column(problem, q + 1))
			n += sprintf(text + n, ",%d=%u", column, problem->columns[column].code[c->like[t][r]]);
	}
}

/* Parts of one text, in one order. */
static void
join(char part[][100], int n, char *text)
{
	qsort(part, (size_t) n, sizeof(part[0]), compare_texts);
	for (int i = 0; i < n; i++)
		text += sprintf(text, "%s;", part[i]);
	*text = '\0';
}

/* The rows chosen of each table, as bits. */
static void
put_form(const Case *c, uint32_t person, const uint64_t *chosen, Forms *forms)
{
	Form *form = &forms->form[forms->n++];
	char part[2 * MOST_ROWS][100];
	uint32_t below = c->linked.ntables > 1 ? c->table[1].nrows : 0;
	int n = 0;

	memset(form, 0, sizeof(*form));
	form->class_ = c->class_[person];
	form->person = person;
	for (uint32_t r = 0; r < c->table[0].nrows; r++)
	{
		bool known = (chosen[0] >> r & 1) != 0, inside = known;
		char child[MOST_ROWS][100], children[MOST_FORM] = "";
		int nchildren = 0;

		for (uint32_t l = 0; l < below; l++)
			if ((chosen[1] >> l & 1) != 0 && hangs_on(c, l) == r)
			{
				show_row(c, 1, l, true, child[nchildren++]);
				inside = true;
			}
		if (!inside)
			continue;
		join(child, nchildren, children);
		show_row(c, 0, r, known, part[n]);
		snprintf(part[n] + strlen(part[n]), 100 - strlen(part[n]), "%s(%.70s)", known ? "" : "?", children);
		n++;
	}
	for (uint32_t l = 0; l < below; l++)
		if ((chosen[1] >> l & 1) != 0 && hangs_on(c, l) == KANON_NO_ROW)
			show_row(c, 1, l, true, part[n++]);
	join(part, n, form->text);
}

static void
choose(const Case *c, uint32_t person, int t, uint32_t from, int n, int all, uint64_t *chosen, Forms *forms)
{
	if (c->linked.in_all > 0 && all == c->linked.in_all)
		return;
	for (; t < c->linked.ntables; t++, from = 0, n = 0)
		for (uint32_t r = from; r < c->table[t].nrows && n < c->table[t].known; r++)
			if (c->person[t][r] == person && !c->gone[t][r])
			{
				chosen[t] |= UINT64_C(1) << r;
				put_form(c, person, chosen, forms);
				choose(c, person, t, r + 1, n + 1, all + 1, chosen, forms);
				chosen[t] &= ~(UINT64_C(1) << r);
			}
}

static int
compare_forms(const void *a, const void *b)
{
	const Form *left = a, *right = b;
	int c = strcmp(left->text, right->text);

	if (left->class_ != right->class_)
		return left->class_ < right->class_ ? -1 : 1;
	return c != 0 ? c : left->person < right->person ? -1 : left->person > right->person;
}

static void
check_promise(const Case *c)
{
	Forms forms = {0, malloc(sizeof(Form) * 400000)};
	uint32_t size[3] = {0};

	for (uint32_t p = 0; p < c->linked.npersons; p++)
	{
		uint64_t chosen[TABLES] = {0};

		size[c->class_[p]]++;
		if (c->linked.m > 0)
			choose(c, p, 0, 0, 0, 0, chosen, &forms);
		for (int t = 0; t < c->linked.ntables; t++)
			for (uint32_t r = 0; c->linked.m == 0 && r < c->table[t].nrows; r++)
				if (c->person[t][r] == p && !c->gone[t][r])
					chosen[t] |= UINT64_C(1) << r;
		if (c->linked.m == 0)
			put_form(c, p, chosen, &forms);
		assert_true(forms.n < 400000);
	}
	qsort(forms.form, forms.n, sizeof(Form), compare_forms);
	for (size_t i = 0, next; i < forms.n; i = next)
	{
		int64_t persons = 1;

		for (next = i + 1; next < forms.n && forms.form[next].class_ == forms.form[i].class_ &&
						   strcmp(forms.form[next].text, forms.form[i].text) == 0;
			 next++)
			persons += forms.form[next].person != forms.form[next - 1].person;
		/* of a class of too few nothing can be promised but that no row is there; of all rows they agree */
		if (persons < c->linked.k && !(c->linked.m == 0 && size[forms.form[i].class_] < c->linked.k))
			fail_msg("%lld persons have %s, k is %lld", (long long) persons, forms.form[i].text,
					 (long long) c->linked.k);
	}
	free(forms.form);
}

static void
test_promise(void **state)
{
	(void) state;
	for (int i = 0; i < cases(CASES); i++)
	{
		Case c;
		bool gone[TABLES][MOST_ROWS];
		KanonReport report = {0};

		case_make(&c, 1000 + (uint64_t) i);
		memcpy(gone, c.gone, sizeof(gone));
		assert_int_equal(kanon_solve_linked(&c.linked, &report), KANON_OK);
		check_true(&c, gone);
		check_promise(&c);
		case_free(&c);
	}
}

/* Rows that every person of a class has stay as they are. */
static void
test_nothing_lost(void **state)
{
	(void) state;
	for (int m = 0; m <= 2; m++)
	{
		Case c;
		KanonReport report = {0};
		int ntables;

		case_make(&c, 5);
		ntables = c.linked.ntables;
		c.linked.m = c.table[0].known = m;
		c.linked.in_all = 0;
		c.linked.k = 3;
		c.linked.npersons = 6;
		c.linked.nclasses = 1;
		c.linked.ntables = 1;
		memset(c.class_, 0, sizeof(c.class_));
		c.table[0].nrows = 12;
		for (uint32_t r = 0; r < 12; r++)
		{
			c.person[0][r] = r / 2;
			c.type[0][r] = r % 2 * (c.problem[0]->ntypes - 1);
			c.gone[0][r] = false;
		}
		assert_int_equal(kanon_solve_linked(&c.linked, &report), KANON_OK);
		for (uint32_t r = 0; r < 12; r++)
		{
			assert_false(c.gone[0][r]);
			for (int q = 0; q < c.table[0].nqis; q++)
				assert_int_equal(c.level[0][(int) r * c.table[0].nqis + q], 0);
		}
		c.linked.ntables = ntables;
		case_free(&c);
	}
}

static void
test_failures(void **state)
{
	(void) state;
	for (int i = 0; i < cases(12); i++)
		for (int how = 0; how < 2; how++)
		{
			Failure failure = {.how = how == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			while (fails_again(&failure))
			{
				Case c;
				KanonReport report = {0};

				case_make(&c, 77 + (uint64_t) i);
				fail_at(&c.host, &failure);
				failure.status = kanon_solve_linked(&c.linked, &report);
				c.host.refuse_at = c.host.cancel_at = 0;
				case_free(&c);
			}
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_promise),
		cmocka_unit_test(test_nothing_lost),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
