/*
 * look_objects.c: what a look follows through the catalogs: operators, functions, types.
 */
#include "compat.h"
#include "host/look.h"
#include "host/look_parts.h"
#include "host/catalog.h"

#include "access/amapi.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "access/genam.h"

#define AS_MADE ConstraintRelationId /* a type of which values are made */

/* ---- operators ---- */

bool
look_at_family(Oid family, Look *look)
{
	CatCList *list;
	bool stop = false;

	if (family < FirstNormalObjectId || !look_is_new(look, OperatorFamilyRelationId, family))
		return false;
	list = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	for (int i = 0; i < list->n_members && !stop; i++)
		stop = look_at_function(((Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple))->amproc, look);
	ReleaseCatCacheList(list);
	list = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	for (int i = 0; i < list->n_members && !stop; i++)
		stop = look_at_operator(((Form_pg_amop) GETSTRUCT(&list->members[i]->tuple))->amopopr, look);
	ReleaseCatCacheList(list);
	return stop;
}

static bool
look_at_class(Oid class, Look *look)
{
	return OidIsValid(class) && look_at_family(get_opclass_family(class), look);
}

bool
look_at_classes(Datum classes, Look *look)
{
	const oidvector *vector = (const oidvector *) DatumGetPointer(classes);
	bool stop = false;

	for (int i = 0; i < vector->dim1 && !stop; i++)
		stop = look_at_class(vector->values[i], look);
	return stop;
}

bool
look_at_operator(Oid operator, Look * look)
{
	HeapTuple tuple;
	FormData_pg_operator form;
	CatCList *list;
	bool stop = false;

	if (operator<FirstNormalObjectId || !look_is_new(look, OperatorRelationId, operator))
		return false;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	if (!HeapTupleIsValid(tuple))
		return look_refuse(look, "it has an operator that is gone");
	memcpy(&form, GETSTRUCT(tuple), sizeof(form));
	ReleaseSysCache(tuple);
	if (look_at_function(form.oprcode, look) || look_at_function(form.oprrest, look) ||
		look_at_function(form.oprjoin, look) || look_at_operator(form.oprcom, look) ||
		look_at_operator(form.oprnegate, look))
		return true;
	list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	for (int i = 0; i < list->n_members && !stop; i++)
		stop = look_at_family(((Form_pg_amop) GETSTRUCT(&list->members[i]->tuple))->amopfamily, look);
	ReleaseCatCacheList(list);
	return stop;
}

/* ---- functions ---- */

static bool
look_at_aggregate(Oid function, Look *look)
{
	HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	FormData_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		return look_refuse(look, "it has an aggregate that is gone");
	memcpy(&form, GETSTRUCT(tuple), offsetof(FormData_pg_aggregate, aggmtransspace) + sizeof(int32));
	ReleaseSysCache(tuple);
	return look_at_function(form.aggtransfn, look) || look_at_function(form.aggfinalfn, look) ||
		   look_at_function(form.aggcombinefn, look) || look_at_function(form.aggserialfn, look) ||
		   look_at_function(form.aggdeserialfn, look) || look_at_function(form.aggmtransfn, look) ||
		   look_at_function(form.aggminvtransfn, look) || look_at_function(form.aggmfinalfn, look) ||
		   look_at_operator(form.aggsortop, look) || look_at_type(form.aggtranstype, true, look) ||
		   look_at_type(form.aggmtranstype, true, look);
}

/* The types of its columns; that of one value is the expression's, of which the node that calls it is asked. */
static bool
look_at_columns(HeapTuple tuple, Look *look)
{
	Oid *types;
	char **names, *modes;
	int n = get_func_arg_info(tuple, &types, &names, &modes);
	bool stop = false;

	for (int i = 0; i < n && modes != NULL && !stop; i++)
		stop = modes[i] != FUNC_PARAM_IN && modes[i] != FUNC_PARAM_VARIADIC &&
			   look_at_type(types[i], true, look);
	return stop;
}

/* (With relations in it a body is a query of its own, and so is one that is parsed when it runs.) */
bool
function_is_seen(HeapTuple procedure)
{
	const FormData_pg_proc *form = (const FormData_pg_proc *) GETSTRUCT(procedure);

	return form->prolang == SQLlanguageId && !form->proretset && !form->prosecdef &&
		   !heap_attisnull(procedure, Anum_pg_proc_prosqlbody, NULL);
}

bool
look_at_function(Oid function, Look *look)
{
	HeapTuple tuple;
	const FormData_pg_proc *form;
	bool stop;

	if (function < FirstNormalObjectId || !look_is_new(look, ProcedureRelationId, function))
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return look_refuse(look, "it calls a function that is gone");
	form = (const FormData_pg_proc *) GETSTRUCT(tuple);
	/* (those in C are superusers') */
	look->bodies = look->bodies || !(form->prolang == INTERNALlanguageId || form->prolang == ClanguageId ||
									 function_is_seen(tuple));
	if (!role_is_trusted(form->proowner, look->reader))
		stop = look_refuse(
			look, psprintf("it calls function %s of another role", format_procedure_qualified(function)));
	else
		stop = look_at_function(form->prosupport, look) ||
			   look_walk_stored(PROCOID, tuple, Anum_pg_proc_proargdefaults, look) ||
			   look_at_columns(tuple, look) ||
			   (function_is_seen(tuple) && look_walk_stored(PROCOID, tuple, Anum_pg_proc_prosqlbody, look)) ||
			   (form->prokind == PROKIND_AGGREGATE && look_at_aggregate(function, look));
	ReleaseSysCache(tuple);
	return stop;
}

/* ---- types ---- */

static bool
look_at_checks(Oid domain, Look *look)
{
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	bool stop = false;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
	scan = systable_beginscan(constraints, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (!stop && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool isnull;
		Datum tree = heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(constraints), &isnull);

		stop = !isnull && look_walk(stringToNode(TextDatumGetCString(tree)), look);
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
	return stop;
}

static bool
look_at_attributes(Oid type, bool made, Look *look)
{
	TupleDesc desc = lookup_rowtype_tupdesc_copy(type, -1);
	bool stop = false;

	for (int i = 0; i < desc->natts && !stop; i++)
		stop = !TupleDescAttr(desc, i)->attisdropped &&
			   look_at_type(TupleDescAttr(desc, i)->atttypid, made, look);
	return stop;
}

static bool
look_at_range(Oid type, bool made, Look *look)
{
	HeapTuple tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
	FormData_pg_range form;

	if (!HeapTupleIsValid(tuple))
		return look_refuse(look, "it has a type that is gone");
	memcpy(&form, GETSTRUCT(tuple), sizeof(form));
	ReleaseSysCache(tuple);
	return look_at_class(form.rngsubopc, look) || look_at_function(form.rngcanonical, look) ||
		   look_at_function(form.rngsubdiff, look) || look_at_type(form.rngsubtype, made, look);
}

/* The types that it is made of. */
static bool
look_inside(Oid type, const FormData_pg_type *form, bool made, Look *look)
{
	switch (form->typtype)
	{
		case TYPTYPE_DOMAIN:
			if (made && !role_is_trusted(form->typowner, look->reader))
				return look_refuse(look, psprintf("it makes values of domain %s of another role",
												  format_type_be_qualified(type)));
			return (made && look_at_checks(type, look)) || look_at_type(form->typbasetype, made, look);
		case TYPTYPE_COMPOSITE:
			return look_at_attributes(type, made, look);
		case TYPTYPE_RANGE:
			return look_at_range(type, made, look);
		case TYPTYPE_MULTIRANGE:
			return look_at_type(get_multirange_range(type), made, look);
		default:
			return look_at_type(form->typelem, made, look);
	}
}

/* Made: values of it come to be; or else they are only handed on, compared and shown. */
bool
look_at_type(Oid type, bool made, Look *look)
{
	HeapTuple tuple;
	FormData_pg_type form;

	if (type < FirstNormalObjectId || !look_is_new(look, made ? AS_MADE : TypeRelationId, type))
		return false;
	check_stack_depth();
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		return look_refuse(look, "it has a type that is gone");
	memcpy(&form, GETSTRUCT(tuple), offsetof(FormData_pg_type, typcollation) + sizeof(Oid));
	ReleaseSysCache(tuple);
	return look_at_function(form.typinput, look) || look_at_function(form.typoutput, look) ||
		   look_at_function(form.typreceive, look) || look_at_function(form.typsend, look) ||
		   look_at_function(form.typmodin, look) || look_at_function(form.typmodout, look) ||
		   look_at_function(form.typsubscript, look) ||
		   look_at_class(GetDefaultOpClass(type, BTREE_AM_OID), look) ||
		   look_at_class(GetDefaultOpClass(type, HASH_AM_OID), look) || look_inside(type, &form, made, look);
}

/* Functions of the system that make json call a type's cast to it, if there is one. */
bool
look_at_json(Look *look)
{
	static const Oid targets[] = {JSONOID, JSONBOID};
	List *functions = NIL;
	HASH_SEQ_STATUS status;
	const Seen *seen;
	ListCell *lc;

	hash_seq_init(&status, look->seen);
	while (look->json && (seen = hash_seq_search(&status)) != NULL)
		for (int i = 0; i < lengthof(targets) && (seen->as == TypeRelationId || seen->as == AS_MADE); i++)
		{
			HeapTuple tuple = SearchSysCache2(CASTSOURCETARGET, ObjectIdGetDatum(seen->object),
											  ObjectIdGetDatum(targets[i]));

			if (!HeapTupleIsValid(tuple))
				continue;
			functions = lappend_oid(functions, ((Form_pg_cast) GETSTRUCT(tuple))->castfunc);
			ReleaseSysCache(tuple);
		}
	if (!look->json)
		hash_seq_term(&status);
	foreach (lc, functions)
		if (look_at_function(lfirst_oid(lc), look))
			return true;
	return false;
}
