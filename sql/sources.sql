-- everything that can be selected from, and names that need quotes
CREATE SCHEMA source_test;
SET search_path = source_test, public;

CREATE TABLE plain (a int, b text, secret text);
INSERT INTO plain SELECT i % 3, 'x' || i % 2, 's' || i FROM generate_series(1, 60) i;
CREATE UNLOGGED TABLE unlogged AS TABLE plain;
CREATE TEMP TABLE temporary AS TABLE plain;
CREATE TABLE partitioned (LIKE plain) PARTITION BY LIST (a);
CREATE TABLE part_0 PARTITION OF partitioned FOR VALUES IN (0);
CREATE TABLE part_rest PARTITION OF partitioned DEFAULT;
INSERT INTO partitioned TABLE plain;
CREATE TABLE parent (LIKE plain);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT * FROM plain WHERE a = 0;
INSERT INTO child SELECT * FROM plain WHERE a > 0;
CREATE VIEW seen AS SELECT b, a, secret FROM plain WHERE a >= 0;
CREATE VIEW barrier WITH (security_barrier) AS TABLE plain;
CREATE MATERIALIZED VIEW materialized AS TABLE plain;

DO $$
DECLARE
    s text;
BEGIN
    FOREACH s IN ARRAY '{plain,unlogged,temporary,partitioned,part_rest,parent,seen,barrier,materialized}'::text[] LOOP
        PERFORM kanon_pattern_guided(s, s || '_public', '{a,b}', 5, keep => '{secret}', allow_identifying => '{secret}');
    END LOOP;
END $$;
SELECT target, row_count, classes, class_min FROM kanon_usefulness WHERE target LIKE 'source_test.%' ORDER BY run;
SELECT relpersistence FROM pg_class WHERE oid = 'unlogged_public'::regclass OR oid = 'temporary_public'::regclass;
-- each kept value belongs to its row
SELECT count(*) FROM partitioned_public p JOIN plain USING (a, b, secret);

-- a temporary target
SELECT * FROM kanon_pattern_guided('plain', 'pg_temp.short_lived', '{a,b}', 5);
SELECT count(*) FROM pg_temp.short_lived;
SELECT relpersistence FROM pg_class WHERE oid = 'pg_temp.short_lived'::regclass;

-- names: capitals, blanks, quotes, keywords, beyond ASCII, leading digits
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Sel""ect; DROP" ("Alter" int, "order" text, "größe in cm" numeric, "a,b" text, "1st" int, "名前" text);
INSERT INTO "Odd Schema"."Sel""ect; DROP" SELECT i % 2, 'o' || i % 2, 1.5 + i % 2, 'c' || i % 2, i % 2, 'n' || i FROM generate_series(1, 20) i;
SELECT * FROM kanon_pattern_guided('"Odd Schema"."Sel""ect; DROP"', '"Odd Schema"."Täble'' 2"',
    ARRAY['Alter', 'order', 'größe in cm', 'a,b', '1st'], 5, keep => ARRAY['名前'], allow_identifying => ARRAY['名前'], mark => true);
SELECT count(*), count(DISTINCT "名前") FROM "Odd Schema"."Täble' 2";
SELECT * FROM kanon_check('"Odd Schema"."Täble'' 2"', ARRAY['Alter', 'order', 'größe in cm', 'a,b', '1st']);
SELECT shown FROM kanon_equivalence_classes WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY class;
SELECT source, target FROM kanon_usefulness ORDER BY run DESC LIMIT 1;

-- a table of one column, of 64 quasi-identifiers, a dropped column before them
CREATE TABLE wide AS SELECT 1 AS gone;
DO $$
BEGIN
    FOR i IN 1..64 LOOP
        EXECUTE format('ALTER TABLE wide ADD c%s int', i);
    END LOOP;
END $$;
ALTER TABLE wide DROP gone;
INSERT INTO wide (c1, c64) SELECT 1, i % 2 FROM generate_series(1, 20) i;
SELECT * FROM kanon_pattern_guided('wide', 'wide_public', (SELECT array_agg('c' || i ORDER BY i) FROM generate_series(1, 64) i), 5);
SELECT c1, c64, count(*) FROM wide_public GROUP BY 1, 2 ORDER BY 1, 2;

-- the same answer whatever the physical order and the plan
CREATE TABLE forward AS SELECT i % 7 AS a, i % 11 AS b, i % 3 AS c FROM generate_series(1, 500) i;
CREATE TABLE backward AS SELECT * FROM forward ORDER BY c, b, a DESC;
SELECT count(*) FROM kanon_pattern_guided('forward', 'forward_public', '{a,b,c}', 4);
SET enable_hashagg = off;
SELECT count(*) FROM kanon_pattern_guided('backward', 'backward_public', '{a,b,c}', 4);
RESET enable_hashagg;
SELECT count(*) FROM (TABLE forward_public EXCEPT ALL TABLE backward_public) d;
SELECT count(*) FROM (
    (SELECT class, pattern, c.row_count, shown FROM kanon_equivalence_classes c JOIN kanon_usefulness u USING (run) WHERE u.target = 'source_test.forward_public')
    EXCEPT
    (SELECT class, pattern, c.row_count, shown FROM kanon_equivalence_classes c JOIN kanon_usefulness u USING (run) WHERE u.target = 'source_test.backward_public')) d;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA source_test CASCADE;
DROP SCHEMA "Odd Schema" CASCADE;
