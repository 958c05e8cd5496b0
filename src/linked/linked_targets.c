/*
 * linked_targets.c: the tables of a release take their places together, with the keys by which they join.
 *
 * Tables of the release before refer to each other, so that none of them can go alone: until all new ones are
 * written and counted readers have the old ones, then the old keys go, all tables are exchanged, and new keys are made.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "linked/linked.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* ---- before any work ---- */

static bool
is_replaced(const Oid *replaced, int n, Oid relid)
{
	for (int i = 0; i < n; i++)
		if (replaced[i] == relid)
			return true;
	return false;
}

/* A table that stays would refer to nothing. */
static void
check_referred(const LinkedTable *table, Oid relid, const Oid *replaced, int n)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(relid)};
	int nest = catalog_path_begin();
	uint64 found = gate_ask("SELECT conrelid FROM pg_constraint WHERE confrelid = $1 AND contype = 'f'", 1,
							types, values, NULL, false, 0);

	catalog_path_end(nest);
	for (uint64 i = 0; i < found; i++)
	{
		bool isnull;
		Oid from = DatumGetObjectId(gate_value(i, 1, OIDOID, &isnull));

		if (!is_replaced(replaced, n, from))
			ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
							errmsg("target \"%s\" cannot be replaced because %s refers to it", table->target,
								   name_relation(from)),
							errhint("Drop that table first, or name its source in tables, too.")));
	}
}

void
linked_check_targets(Linked *linked)
{
	Oid namespace = get_namespace_oid(linked->schema, true);
	Oid replaced[KANON_MAX_LINKED] = {0};

	for (int i = 0; i < linked->n; i++)
	{
		LinkedTable *table = &linked->tables[i];

		if (table->request.columns.mark)
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							errmsg("tables of one release are published without mark"),
							errhint("Leave \"mark\" out.")));
		table->request.replace = linked->replace;
		table->request.linked.placed_later = true;
		if (OidIsValid(namespace))
			replaced[i] = get_relname_relid(table->target, namespace);
		if (OidIsValid(replaced[i]) && !linked->replace)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_TABLE),
					 errmsg("relation \"%s\" already exists in the schema of the targets", table->target),
					 errhint("Take a schema of its own for each release, drop the tables of the last one, "
							 "or say replace => true.")));
	}
	for (int i = 0; i < linked->n; i++)
	{
		if (!OidIsValid(replaced[i]))
			continue;
		/* a run sees to its own source alone */
		for (int j = 0; j < linked->n; j++)
			target_spare(replaced[i], linked->tables[i].target, linked->tables[j].relid);
		check_referred(&linked->tables[i], replaced[i], replaced, linked->n);
	}
}

/* ---- keys ---- */

/* Foreign keys hold, as after VALIDATE CONSTRAINT: linked_recount has joined the tables. */
static void
mark_valid(Oid relid)
{
	Relation catalog = table_open(ConstraintRelationId, RowExclusiveLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	CommandCounterIncrement();
	ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		if (((Form_pg_constraint) GETSTRUCT(tuple))->contype == CONSTRAINT_FOREIGN)
		{
			HeapTuple copy = heap_copytuple(tuple);

			((Form_pg_constraint) GETSTRUCT(copy))->convalidated = true;
			CatalogTupleUpdate(catalog, &copy->t_self, copy);
		}
	systable_endscan(scan);
	table_close(catalog, RowExclusiveLock);
}

/* counted: the written rows were joined already, and none dangles. */
static void
add_foreign_key(const LinkedTable *from, const char *column, const LinkedTable *to, bool counted)
{
	const char *quoted = quote_identifier(column);

	run_utility(psprintf("ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s)%s",
						 from->run->target->qualified, quoted, to->run->target->qualified,
						 quote_identifier(to->key), counted ? " NOT VALID" : ""));
	if (counted)
		mark_valid(from->run->target->relid);
	run_utility(psprintf("CREATE INDEX ON %s (%s)", from->run->target->qualified, quoted));
}

bool
linked_publishes(const LinkedTable *table, const char *column)
{
	const Source *source = table->run->source;

	for (int i = 0; i < source->nqis; i++)
		if (strcmp(source->qis[i].name, column) == 0)
			return true;
	for (int i = 0; i < source->nkept; i++)
		if (strcmp(source->kept[i].name, column) == 0)
			return true;
	return false;
}

static void
add_keys(const Linked *linked)
{
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];

		if (table->key != NULL && table->role != LINKED_ALONE)
			run_utility(psprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", table->run->target->qualified,
								 quote_identifier(table->key)));
	}
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];
		ListCell *cell;

		if (table->reference != NULL)
			add_foreign_key(&linked->tables[table->parent], table->reference, table, true);
		else if (table->role == LINKED_ROWS)
			add_foreign_key(table, table->parent_column,
							&linked->tables[table->shared.any ? table->shared.through : table->parent], true);
		foreach (cell, table->keys)
		{
			const LinkedKey *key = lfirst(cell);

			if (linked_publishes(table, key->column))
				add_foreign_key(table, key->column, &linked->tables[key->table], false);
		}
	}
	CommandCounterIncrement();
}

/* $1 refers to $2. */
static const char *const drop_keys =
	"SELECT format('ALTER TABLE %I.%I DROP CONSTRAINT %I', n.nspname, c.relname, k.conname) FROM pg_constraint k"
	" JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
	" WHERE k.conrelid = $1 AND k.confrelid = $2 AND k.contype = 'f'";

/* Readers wait from now on. */
static void
drop_old_keys(const Linked *linked)
{
	List *replaced = NIL;

	for (int i = 0; i < linked->n; i++)
		if (OidIsValid(linked->tables[i].run->target->replaced))
			replaced = lappend_oid(replaced, linked->tables[i].run->target->replaced);
	lock_all_without_queue(replaced, "tables", NULL, NULL);
	for (int i = 0; i < linked->n; i++)
		for (int j = 0; j < linked->n; j++)
		{
			Oid from = linked->tables[i].run->target->replaced, to = linked->tables[j].run->target->replaced;

			if (OidIsValid(from) && OidIsValid(to))
				run_statements(drop_keys, from, to);
		}
}

void
linked_place(const Linked *linked)
{
	drop_old_keys(linked);
	for (int i = 0; i < linked->n; i++)
	{
		/* (as readers of the record know it) */
		linked->tables[i].run->record.source = relation_name(linked->tables[i].relid);
		run_place(linked->tables[i].run);
	}
	CommandCounterIncrement();
	add_keys(linked);
}
