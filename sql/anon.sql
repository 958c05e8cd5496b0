-- masks by functions of the extension anon: of a tiny one of that name, and of everything that looks like it
CREATE ROLE kanon_anon_owner;
CREATE ROLE kanon_anon_enemy;
CREATE SCHEMA own AUTHORIZATION kanon_anon_owner;
CREATE SCHEMA evil AUTHORIZATION kanon_anon_enemy;
CREATE SCHEMA anon AUTHORIZATION kanon_anon_enemy;
GRANT USAGE ON SCHEMA evil, anon TO kanon_anon_owner;
SET client_min_messages = warning;
SET ROLE kanon_anon_owner;
CREATE TABLE own.visit AS SELECT i % 5 AS age, 'name ' || i % 30 AS name, i % 10 AS cost, 'mail' || i % 30 || '@example.org' AS email, 'd' || i % 3 AS diagnosis,
    'n' || i AS secret FROM generate_series(1, 300) i;
-- What a call says, under a search_path that others write into; what it has published stays for a look.
CREATE FUNCTION own.masked(mask jsonb, privacy jsonb[] DEFAULT '{}', source regclass DEFAULT 'own.visit', keep name[] DEFAULT '{name,cost,email,diagnosis}') RETURNS text
LANGUAGE plpgsql SET search_path = evil, pg_catalog, public AS $$
DECLARE
    message text; detail text; hint text;
BEGIN
    DROP TABLE IF EXISTS own.out;
    PERFORM kanon_pattern_guided(source, 'own.out', '{age}', 5, keep => keep, mask => mask, privacy => privacy);
    RETURN 'published';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n  ', concat_ws(' ', SQLSTATE, message), nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION own.expression(text) RETURNS text LANGUAGE sql AS $$ SELECT own.masked(jsonb_build_object('name', jsonb_build_object('anon', $1))) $$;
-- The same in a few words; what PostgreSQL itself says is not ours.
CREATE FUNCTION own.brief(text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN said LIKE '0A000 %' THEN 'refused: ' || split_part(said, E'\n  ', 2) ELSE split_part(said, ' ', 1) END FROM own.expression($1) AS said
$$;
\pset format unaligned
\pset tuples_only on

-- a schema of that name, of somebody's own
SET ROLE kanon_anon_enemy;
CREATE FUNCTION evil.note(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the enemy ran: %', what; END $$;
CREATE FUNCTION anon.fake_last_name() RETURNS text LANGUAGE sql AS $$ SELECT evil.note('look-alike') $$;
SET ROLE kanon_anon_owner;
SELECT own.expression('anon.fake_last_name()');
RESET ROLE;
DROP SCHEMA anon CASCADE;

-- the extension, as far as the catalogs know (its files are not needed for that)
CREATE SCHEMA anon;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
SELECT pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'anon', usesysid, 'anon'::regnamespace, false, '1.0' FROM pg_user WHERE usename = current_user;
CREATE TABLE anon.last_name (name text);
INSERT INTO anon.last_name VALUES ('Kim'), ('Sato'), ('Silva');
CREATE FUNCTION anon.fake_last_name() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT name FROM anon.last_name ORDER BY random() LIMIT 1 $$;
CREATE FUNCTION anon.partial(t text, first int, padding text, last int DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT left(t, first) || padding || right(t, last) $$;
CREATE FUNCTION anon.noise(n anyelement, ratio float8) RETURNS anyelement LANGUAGE plpgsql AS $$ BEGIN RETURN n * (1 + ratio); END $$;
CREATE FUNCTION anon.who() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN current_user || ' ' || current_setting('search_path'); END $$;
CREATE FUNCTION anon.several() RETURNS SETOF text LANGUAGE sql AS $$ VALUES ('a'), ('b') $$;
CREATE FUNCTION anon.broken() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'anon says no' USING ERRCODE = '22023'; END $$;
CREATE FUNCTION anon.described(v anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'seen'; END $$;
CREATE FUNCTION anon.first(VARIADIC words text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT words[1] $$;
CREATE AGGREGATE anon.together(text) (SFUNC = textcat, STYPE = text);
SELECT format('ALTER EXTENSION anon ADD %s %s', CASE prokind WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END, oid::regprocedure) FROM pg_proc WHERE pronamespace = 'anon'::regnamespace ORDER BY 1 \gexec
ALTER EXTENSION anon ADD TABLE anon.last_name;
GRANT USAGE ON SCHEMA anon TO kanon_anon_owner;
GRANT SELECT ON anon.last_name TO kanon_anon_owner;
SET ROLE kanon_anon_owner;
SELECT own.expression('anon.fake_last_name()');
SELECT string_agg(DISTINCT name, ' ' ORDER BY name), min(pg_typeof(name)::text) FROM own.out;
SELECT own.masked('{"email": {"anon": "anon.partial(email, 2, ''***'', 4)"}, "cost": {"anon": "anon.noise(cost, 0.5)"}}');
SELECT string_agg(DISTINCT email, ' '), max(cost), string_agg(DISTINCT cost::text, ' '), count(DISTINCT name) FROM own.out;
-- columns that are published, operators, casts, defaults: of the row itself
SELECT own.expression($$anon.partial(name || ' of ' || diagnosis, 3, 'x'::varchar)$$);
SELECT DISTINCT name FROM own.out;
SELECT own.expression($$diagnosis || anon.partial(email, 0, cost::text)$$);
SELECT count(*), count(*) FILTER (WHERE name = diagnosis || cost) FROM own.out;
SELECT own.expression($$CAST(cost + 1 AS text)$$);
SELECT count(*), count(*) FILTER (WHERE name = (cost + 1)::text) FROM own.out;
-- what follows from a quasi-identifier by a function tells it as the column itself does; what is drawn does not
CREATE TABLE own.places AS SELECT 48000 + i * 7 % 61 AS zip, 'z' || 48000 + i * 7 % 61 AS zip_name, i * 31 % 97 AS age FROM generate_series(1, 1000) i;
CREATE FUNCTION own.beside(mask text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    PERFORM kanon_pattern_guided('own.places', 'own.places_out', '{zip,age}', 5, keep => '{zip_name}', mask => jsonb_build_object('zip_name', jsonb_build_object('anon', mask)));
    RETURN 'published';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN SQLSTATE || ': ' || message;
END $$;
SELECT own.beside('upper(zip_name)');
SELECT own.beside('anon.partial(zip_name, 0, '''', 3)');
SELECT own.beside('anon.fake_last_name()');
-- who runs it, and by which names
SELECT own.expression('anon.who()');
SELECT DISTINCT name FROM own.out;
SELECT options -> 'mask' FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT own.expression('anon.broken()');
-- under a rule, when classes are read grouped
-- a star is no column's name
SELECT own.masked('{"name": {"anon": "*"}}');
SELECT own.masked('{"name": {"anon": "anon.partial(visit.*, 1, ''x'')"}}');
SELECT own.masked('{"name": {"anon": "anon.partial(name, 1, ''*'')"}}', ARRAY[kanon_distinct_l('diagnosis', 2)]);
SELECT DISTINCT name FROM own.out;
-- the guard looks at what is published
UPDATE own.visit SET name = secret;
SELECT own.expression($$anon.partial(name, 200, '')$$);
SELECT own.expression('anon.fake_last_name()');
UPDATE own.visit SET name = 'name ' || cost;
-- a publication takes nothing that draws anew each night from a value
SELECT kanon_create_publication('own.nightly', 'own.visit', '{age}', 5, '{"keep": ["cost"], "mask": {"cost": {"anon": "anon.noise(cost, 0.1)"}}}');
SELECT kanon_create_publication('own.nightly', 'own.visit', '{age}', 5, '{"keep": ["email"], "mask": {"email": {"anon": "anon.partial(email, 1, ''*'')"}}, "allow_identifying": ["email"]}');
SELECT kanon_drop_publication('own.nightly');
-- and runs in its owner's name, whoever refreshes it
SELECT kanon_create_publication('own.nightly', 'own.visit', '{age}', 5, '{"keep": ["name"], "mask": {"name": {"anon": "anon.who()"}}}');
RESET ROLE;
UPDATE own.nightly_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('own.nightly');
SELECT DISTINCT name FROM own.nightly;

-- what is not the extension's
GRANT CREATE, USAGE ON SCHEMA anon TO kanon_anon_enemy;
CREATE FUNCTION anon.beside() RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;
SET ROLE kanon_anon_enemy;
CREATE FUNCTION anon.mine() RETURNS text LANGUAGE sql AS $$ SELECT evil.note('no member') $$;
CREATE FUNCTION anon.partial(t text, first int, padding text, last text) RETURNS text LANGUAGE sql AS $$ SELECT evil.note('overload') $$;
CREATE FUNCTION evil.fake_last_name() RETURNS text LANGUAGE sql AS $$ SELECT evil.note('search_path') $$;
CREATE FUNCTION evil.cat(text, text) RETURNS text LANGUAGE sql AS $$ SELECT evil.note('operator') $$;
CREATE OPERATOR evil.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.cat);
CREATE FUNCTION evil.checked(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.note('domain'); RETURN true; END $$;
CREATE DOMAIN evil.word AS text CHECK (evil.checked(VALUE));
CREATE TYPE evil.pair AS (word evil.word);
CREATE FUNCTION anon.takes(evil.word) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;
CREATE FUNCTION anon.reads(evil.pair) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;
SET ROLE kanon_anon_owner;
SELECT said || E'\n    ' || string_agg(expression, E'\n    ' ORDER BY n) FROM unnest(ARRAY[
    -- functions that somebody put into the schema, a superuser too, overloads, types that would read a literal by code of their own
    'anon.mine()', 'anon.beside()', $$anon.partial(name, 1, 'x', 'y')$$, $$anon.takes('x')$$, 'anon.takes(NULL)', $$'(x)'::evil.pair$$, $$'x'::evil.word$$, $$CAST('x' AS evil.word)$$, $$evil.word('x')$$,
    $$anon.reads('(x)')$$, $$anon.reads('(x)')::text$$, $$(ARRAY[anon.reads('(x)')])::text$$, $$anon.partial(t => anon.reads('(x)'), first => 1, padding => '*')$$,
    $$anon.reads('(x)') || name$$, $$name || anon.reads('(x)')$$, $$ARRAY['(x)']::evil.pair[]::text$$,
    -- functions and operators of other schemas, those that run queries, look beyond their arguments, read files, are volatile
    'evil.fake_last_name()', $$'a' OPERATOR(evil.||) 'b'$$, 'evil.cat(name, name)', $$pg_catalog.query_to_xml('SELECT 1', true, true, '')::text$$, $$pg_catalog.current_setting('search_path')$$, $$pg_catalog.pg_read_file('/etc/passwd')$$, 'random()::text', 'current_user', 'clock_timestamp()::text',
    -- several rows, aggregates with all that they may have, windows
    'anon.several()', 'anon.together(name)', 'count(*)', 'count(name)::text', 'string_agg(DISTINCT name, name)', 'string_agg(name, name ORDER BY name)', 'max(name) FILTER (WHERE true)', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY name)', 'row_number() OVER ()', 'upper(DISTINCT name)', 'generate_series(1, 2)::text',
    -- columns that are not kept, of other rows, subselects
    'secret', 'nothing', 'visit.name', 'own.visit.name', 'anon.partial((SELECT secret FROM own.visit LIMIT 1), 1, name)', 'ARRAY(SELECT secret FROM own.visit)::text', 'EXISTS (SELECT 1)::text', '*', 'name.*', '(ROW(name)).f1', '$1', 'name[1]', '(ARRAY[name])[1]',
    -- more than one expression
    '', ' ', 'name; DROP TABLE own.visit', 'name; SELECT name', 'name FROM own.visit', 'name WHERE true', 'name, email', '(name, email)', 'DISTINCT name', 'name INTO own.taken', 'name GROUP BY name', 'name HAVING true', 'name WINDOW w AS ()', 'name ORDER BY 1', 'name OFFSET 0', 'name LIMIT 1',
    'name FOR UPDATE', 'name UNION SELECT name', 'name UNION ALL SELECT name', 'name INTERSECT SELECT name', 'name AS email', 'name )', '''x',
    -- more than calls
    'CASE WHEN true THEN name END', 'COALESCE(name, email)', 'GREATEST(name, email)', 'NULLIF(name, email)', 'name IS NULL', 'name IS NOT DISTINCT FROM email', 'true AND false', 'NOT true', 'name IN (''a'')', 'name = ANY (ARRAY[email])', 'name LIKE ''x''', 'name BETWEEN ''a'' AND ''b''', 'name COLLATE "C"', 'cost IS TRUE', 'DEFAULT', 'name SIMILAR TO ''x''',
    -- other types and functions that are not there
    'cost', 'now()', 'anon.nothing()', 'anon.partial(name)', 'anon.partial(cost, 1, ''x'')', 'name + 1', 'name::nothing', '1', 'NULL', '''literal''', 'NULL::text', 'ARRAY[name]', '3.5', 'cost::text::int', '- cost', 'upper(name)', 'pg_catalog.upper(name)', 'name::varchar(3)', 'CAST(name AS varchar(2))', 'anon.first(name, email)', 'anon.first(VARIADIC ARRAY[email, name])']) WITH ORDINALITY AS e (expression, n), own.brief(expression) AS said
GROUP BY said ORDER BY min(n);
SELECT own.expression($$anon.partial(padding => '+', t => name, first => 2)$$);
SELECT DISTINCT name FROM own.out;
SELECT own.expression($$name || 'x'$$);
SELECT min(name) FROM own.out;
-- all that is said of a refusal
SELECT own.expression('anon.mine()');
SELECT own.masked('{"cost": {"anon": "anon.fake_last_name()"}}');
SELECT own.masked('{"name": {"anon": 3}}');
SELECT own.masked('{"name": {"anon": null}}');
SELECT own.masked('{"cost": {"anon": "cost + 0.5"}}');
SELECT string_agg(DISTINCT cost::text, ' ') FROM own.out;
SELECT own.masked('{"email": {"partial": [1, 1]}, "name": {"anon": "email"}}');
SELECT own.masked('{"email": {"partial": [1, 1]}, "name": {"anon": "upper(diagnosis || upper(email))"}}');
SELECT own.masked('{"email": {"anon": "email || cost"}, "name": {"partial": [1, 1]}}');
SELECT count(*), count(*) FILTER (WHERE email LIKE '%.org' || cost) FROM own.out;
-- NULL
SELECT own.masked('{"name": {"anon": "anon.partial(name, 1, NULL)"}}');
SELECT count(name), count(*) FROM own.out;
-- a published column of somebody's type: what an extension does with its values may run their owner's code
SET ROLE kanon_anon_enemy;
CREATE TYPE evil.mood AS ENUM ('low', 'high');
SET ROLE kanon_anon_owner;
CREATE TABLE own.moods AS SELECT i % 5 AS age, 'n' || i % 30 AS name, (ARRAY['low', 'high'])[1 + i % 2]::evil.mood AS mood FROM generate_series(1, 300) i;
SELECT argument || ': ' || own.masked(jsonb_build_object('name', jsonb_build_object('anon', format('anon.described(%s)', argument))), source => 'own.moods', keep => '{name,mood}') FROM unnest('{mood,ARRAY[mood],name}'::text[]) AS argument;
-- a key that is not published, in a definition that its owner wrote by hand
SELECT kanon_create_publication('own.keyed', 'own.visit', '{age}', 5, '{"keep": ["name"], "mask": {"name": {"constant": "x"}}}', key => 'secret');
UPDATE own.keyed_publication SET options = '{"keep": ["name"], "mask": {"name": {"anon": "secret"}}}';
SELECT status, error, message FROM kanon_refresh('own.keyed');
-- members that somebody else could replace, and that the caller may not call
RESET ROLE;
ALTER FUNCTION anon.who() OWNER TO kanon_anon_enemy;
SET ROLE kanon_anon_owner;
SELECT own.brief('anon.who()');
RESET ROLE;
-- a superuser is a member of all roles, and calls it no more
SELECT own.brief('anon.who()');
GRANT kanon_anon_enemy TO kanon_anon_owner;
SET ROLE kanon_anon_owner;
SELECT own.brief('anon.who()');
RESET ROLE;
REVOKE kanon_anon_enemy FROM kanon_anon_owner;
ALTER FUNCTION anon.who() OWNER TO CURRENT_USER;
REVOKE EXECUTE ON FUNCTION anon.who() FROM PUBLIC;
SET ROLE kanon_anon_owner;
SELECT own.expression('anon.who()');
RESET ROLE;
SELECT kanon_drop_publication('own.nightly'), kanon_drop_publication('own.keyed');
SET client_min_messages = error;
DROP EXTENSION anon CASCADE;
DROP SCHEMA own, evil, anon CASCADE;
DROP ROLE kanon_anon_owner, kanon_anon_enemy;
