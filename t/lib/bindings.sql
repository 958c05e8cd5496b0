-- What the extension's objects depend on beside each other, its schema and what every
-- server has (which no dependency is recorded of); and functions in SQL whose text means
-- what a caller's search_path says.  Nothing is as it should be.
WITH RECURSIVE own (classid, objid) AS (
    SELECT d.classid, d.objid
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_extension e ON d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.refobjid = e.oid
    WHERE d.deptype = 'e' AND e.extname = 'kanon'
  UNION
    -- what belongs to them: rules of views, indexes, sequences, types of rows
    SELECT d.classid, d.objid
    FROM own o
    JOIN pg_catalog.pg_depend d ON d.refclassid = o.classid AND d.refobjid = o.objid
    WHERE d.deptype IN ('i', 'a')
)
SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) AS of,
       pg_catalog.pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid) AS depends_on
FROM own o
JOIN pg_catalog.pg_depend d ON d.classid = o.classid AND d.objid = o.objid
WHERE (d.refclassid, d.refobjid) NOT IN (SELECT classid, objid FROM own)
    AND NOT (d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e')
    AND (d.refclassid, d.refobjid) NOT IN (
        SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass, e.extnamespace FROM pg_catalog.pg_extension e WHERE e.extname = 'kanon')
UNION ALL
SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text, 'the search_path of who calls it'
FROM own o
JOIN pg_catalog.pg_proc p ON o.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND o.objid = p.oid
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE l.lanname NOT IN ('c', 'internal') AND p.prosqlbody IS NULL
ORDER BY 1, 2;
