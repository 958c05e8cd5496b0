/*
 * Default privileges of whoever makes this have given others what they say: on tables, too,
 * that have the runs of all roles, and the budgets.  The function is gone again: whoever may
 * call it would need nothing that it can do.  Scripts that update the extension end with
 * the same.
 */
CREATE FUNCTION @extschema@.kanon_close() RETURNS void LANGUAGE C AS 'MODULE_PATHNAME', 'kanon_close';
SELECT @extschema@.kanon_close();
DROP FUNCTION @extschema@.kanon_close();
