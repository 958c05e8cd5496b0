# Masks by functions of the extension anon: of a tiny one of that name, and of everything
# that looks like it.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

plan skip_all => 'for a staged install: make check-tap' unless $ENV{KANON_SERVER_CONF};
my ($found, $folder) = KanonNode::staged_copy();

append_to_file("$folder/anon.control", "comment = 'stands in for PostgreSQL Anonymizer'\ndefault_version = '1.0'\nschema = anon\nrelocatable = false\n");
append_to_file("$folder/anon--1.0.sql", <<'E');
CREATE TABLE last_name (name text);
INSERT INTO last_name VALUES ('Kim'), ('Sato'), ('Silva');
CREATE FUNCTION fake_last_name() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT name FROM anon.last_name ORDER BY random() LIMIT 1 $$;
CREATE FUNCTION partial(t text, first int, padding text, last int DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT left(t, first) || padding || right(t, last) $$;
CREATE FUNCTION noise(n anyelement, ratio float8) RETURNS anyelement LANGUAGE plpgsql AS $$ BEGIN RETURN n * (1 + ratio); END $$;
CREATE FUNCTION who() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN current_user || ' ' || current_setting('search_path'); END $$;
CREATE FUNCTION several() RETURNS SETOF text LANGUAGE sql AS $$ VALUES ('a'), ('b') $$;
CREATE FUNCTION broken() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'anon says no' USING ERRCODE = '22023'; END $$;
CREATE FUNCTION described(v anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'seen'; END $$;
CREATE AGGREGATE together(text) (SFUNC = textcat, STYPE = text);
E
my $node = KanonNode::new_node('main', found => $found);
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE EXTENSION kanon;
CREATE ROLE owner LOGIN;
CREATE ROLE enemy LOGIN;
CREATE SCHEMA own AUTHORIZATION owner;
CREATE SCHEMA evil AUTHORIZATION enemy;
CREATE SCHEMA anon AUTHORIZATION enemy;
GRANT USAGE ON SCHEMA evil, anon TO owner;
SET ROLE owner;
CREATE TABLE own.visit AS SELECT i % 5 AS age, 'name ' || i % 30 AS name, i % 10 AS cost, 'mail' || i % 30 || '@example.org' AS email, 'd' || i % 3 AS diagnosis,
    'n' || i AS secret FROM generate_series(1, 300) i;
E

# What a call says.
sub masked
{
	my ($mask, $more) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', "SET search_path = evil, pg_catalog, public; DROP TABLE IF EXISTS own.out;"
		  . " SELECT FROM public.kanon_pattern_guided('own.visit', 'own.out', '{age}', 5, keep => '{name,cost,email,diagnosis}', mask => \$m\${$mask}\$m\$" . ($more // '') . ');',
		extra_params => [ '-U', 'owner' ]);

	return $ret == 0 ? 'published' : $err =~ /ERROR:  (.*)/ ? $1 : $err;
}
sub expression { return masked(qq("name": {"anon": "$_[0]"})); }
sub seen { return $node->safe_psql('postgres', $_[0]); }

# ---- a schema of that name, of somebody's own ----

$node->safe_psql('postgres', <<'E');
SET ROLE enemy;
CREATE FUNCTION evil.note(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the enemy ran: %', what; END $$;
CREATE FUNCTION anon.fake_last_name() RETURNS text LANGUAGE sql AS $$ SELECT evil.note('look-alike') $$;
E
like(expression('anon.fake_last_name()'), qr/needs the extension anon, which is not installed/, 'without the extension nothing is called');
$node->safe_psql('postgres', 'DROP SCHEMA anon CASCADE');

# ---- the extension ----

$node->safe_psql('postgres', 'CREATE EXTENSION anon; GRANT USAGE ON SCHEMA anon TO owner; GRANT SELECT ON anon.last_name TO owner');
is(expression('anon.fake_last_name()'), 'published', 'a function of the extension');
is(seen("SELECT string_agg(DISTINCT name, ' ' ORDER BY name), min(pg_typeof(name)::text) FROM own.out"), 'Kim Sato Silva|text', 'drawn for each row');
is(masked(q("email": {"anon": "anon.partial(email, 2, '***', 4)"}, "cost": {"anon": "anon.noise(cost, 0.5)"})), 'published', 'arguments, polymorphic functions');
is(seen("SELECT string_agg(DISTINCT email, ' '), max(cost) FROM own.out"), 'ma***.org|14', 'what they give');
is(expression("anon.partial(name || ' of ' || diagnosis, 3, 'x'::varchar)"), 'published', 'columns that are published, operators, casts, defaults');
is(seen('SELECT DISTINCT name FROM own.out'), 'namx', 'of the row');
is(expression('anon.who()'), 'published', 'a function that says who runs it');
is(seen('SELECT DISTINCT name FROM own.out'), 'owner pg_catalog, pg_temp', 'the caller does, and no search_path comes between');
is(seen("SELECT options -> 'mask' FROM kanon_usefulness ORDER BY run DESC LIMIT 1"), '{"name": {"anon": "anon.who()"}}', 'recorded');
is(expression('anon.broken()'), 'anon says no', 'an error of a function ends the call');
is(seen("SELECT to_regclass('own.out') IS NULL"), 't', 'and nothing is published');
is(masked(q("name": {"anon": "anon.partial(name, 1, '*')"}), ", privacy => ARRAY[public.kanon_distinct_l('diagnosis', 2)]"), 'published', 'under a rule, when classes are read grouped');
$node->safe_psql('postgres', 'UPDATE own.visit SET name = secret');
like(expression("anon.partial(name, 200, '')"), qr/^kept column "name" identifies/, 'the guard looks at what is published');
is(expression('anon.fake_last_name()'), 'published', 'and lets through what hides it');
$node->safe_psql('postgres', "UPDATE own.visit SET name = 'name ' || cost");

# a publication, in its owner's name
is(KanonNode::as($node, 'owner', 'postgres', q(SELECT kanon_create_publication('own.nightly', 'own.visit', '{age}', 5, '{"keep": ["name"], "mask": {"name": {"anon": "anon.who()"}}}'))),
	'', 'a publication');
is(seen("SELECT status FROM kanon_refresh('own.nightly')"), 'current', 'refreshed by a superuser');
is(seen('SELECT DISTINCT name FROM own.nightly'), 'owner pg_catalog, pg_temp', 'it runs as the owner all the same');

# ---- what is not the extension's ----

$node->safe_psql('postgres', <<'E');
GRANT CREATE ON SCHEMA anon TO enemy;
CREATE FUNCTION anon.beside() RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;
SET ROLE enemy;
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
E
my %refused = (
	'anon.mine()' => 'a function that somebody put into the schema',
	'anon.beside()' => 'the same of a superuser',
	"anon.partial(name, 1, 'x', 'y')" => 'an overload there',
	"anon.takes('x')" => 'one of a type that would read a literal by code of its own',
	'anon.takes(NULL)' => 'the same of NULL',
	"'(x)'::evil.pair" => 'a type that runs code of its own as it reads a literal',
	"'x'::evil.word" => 'a type with code of its own',
	"CAST('x' AS evil.word)" => 'the same as a cast',
	"evil.word('x')" => 'the same as a call',
	'evil.fake_last_name()' => 'a function of another schema',
	"'a' OPERATOR(evil.||) 'b'" => 'an operator of another schema',
	'anon.partial((SELECT secret FROM own.visit LIMIT 1), 1, name)' => 'a subselect',
	'ARRAY(SELECT secret FROM own.visit)' => 'an array of one',
	"pg_catalog.query_to_xml('SELECT 1', true, true, '')::text" => 'a function that runs queries',
	"pg_catalog.current_setting('search_path')" => 'one that looks beyond its arguments',
	"pg_catalog.pg_read_file('/etc/passwd')" => 'one that reads files',
	'anon.several()' => 'several rows',
	'anon.together(name)' => 'an aggregate',
	'count(*)' => 'another one',
	'row_number() OVER ()' => 'a window',
	'secret' => 'a column that is not kept',
	'visit.name' => 'a column of another row',
	'name; DROP TABLE own.visit' => 'a second statement',
	'name FROM own.visit' => 'another relation',
	'name WHERE true' => 'a condition',
	'name, email' => 'two values',
	'(name, email)' => 'a row',
	'DISTINCT name' => 'a value once',
	'name INTO own.taken' => 'a table to be made',
	'name GROUP BY name' => 'a grouping',
	'name HAVING true' => 'a condition of groups',
	'name WINDOW w AS ()' => 'the name of a window',
	'name ORDER BY 1' => 'an order',
	'name OFFSET 0' => 'an offset',
	'name LIMIT 1' => 'a limit',
	'name FOR UPDATE' => 'a lock',
	'name UNION SELECT name' => 'a union',
	'name AS email' => 'a value with a name',
	'CASE WHEN true THEN name END' => 'more than calls');
foreach my $expression (sort keys %refused)
{
	like(expression($expression), qr/is no masking function of the extension anon/, "refused: $refused{$expression}");
}
foreach my $call ("anon.reads('(x)')", "anon.reads('(x)')::text", "(ARRAY[anon.reads('(x)')])::text", "anon.partial(t => anon.reads('(x)'), first => 1, padding => '*')")
{
	unlike(expression($call), qr/the enemy ran|published/, "a literal is not read by the type of whatever takes it: $call");
}
is(expression("anon.partial(padding => '+', t => name, first => 2)"), 'published', 'arguments by name');
is(seen('SELECT DISTINCT name FROM own.out'), 'na+', 'each in its place');
is(expression("name || 'x'"), 'published', 'an operator is that of pg_catalog, whatever the search_path has');
# a published column of somebody's type: what an extension does with its values may run their owner's code
$node->safe_psql('postgres', <<'E');
SET ROLE enemy;
CREATE TYPE evil.mood AS ENUM ('low', 'high');
SET ROLE owner;
CREATE TABLE own.moods AS SELECT i % 5 AS age, 'n' || i % 30 AS name, (ARRAY['low', 'high'])[1 + i % 2]::evil.mood AS mood FROM generate_series(1, 300) i;
E
foreach my $argument ('mood', 'ARRAY[mood]')
{
	my (undef, undef, $err) = $node->psql('postgres',
		qq(SELECT FROM kanon_pattern_guided('own.moods', 'own.moods_out', '{age}', 5, keep => '{name,mood}', mask => '{"name": {"anon": "anon.described($argument)"}}');),
		extra_params => [ '-U', 'owner' ]);

	like($err, qr/is no masking function.*has a value of a type that is not one of pg_catalog/s, "a value of somebody's type: $argument");
}
is(expression('anon.described(cost)'), 'published', 'of a type of pg_catalog');
like(masked('"email": {"partial": [1, 1]}, "name": {"anon": "email"}'), qr/is no masking function/, 'what a mask hides, another does not show');
like(masked('"cost": {"anon": "anon.fake_last_name()"}'), qr/is of type text, the column of type integer/, 'of another type');
like(masked('"name": {"anon": 3}'), qr/must be an expression/, 'of another form');
like(expression('anon.nothing()'), qr/function anon\.nothing\(\) does not exist/, 'a function that is not there');
# (a definition that its owner wrote by hand: nothing else lets it get that far)
is(KanonNode::as($node, 'owner', 'postgres', <<'E'), "\nfailed|0A000", 'a key that is not published');
SELECT kanon_create_publication('own.keyed', 'own.visit', '{age}', 5, '{"keep": ["name"], "mask": {"name": {"constant": "x"}}}', key => 'secret');
UPDATE own.keyed_publication SET options = '{"keep": ["name"], "mask": {"name": {"anon": "secret"}}}';
SELECT status, error FROM kanon_refresh('own.keyed');
E

# members that somebody else could replace, and that the caller may not call
$node->safe_psql('postgres', 'ALTER FUNCTION anon.who() OWNER TO enemy');
like(expression('anon.who()'), qr/is no masking function/, 'a member of an owner who is not trusted');
like(($node->psql('postgres', q(SELECT kanon_pattern_guided('own.visit', 'own.root', '{age}', 5, keep => '{name}', mask => '{"name": {"anon": "anon.who()"}}'))))[2],
	qr/is no masking function/, 'nor does a superuser call it, who is a member of all roles');
$node->safe_psql('postgres', 'ALTER FUNCTION anon.who() OWNER TO postgres; REVOKE EXECUTE ON FUNCTION anon.who() FROM PUBLIC');
like(expression('anon.who()'), qr/permission denied for function who/, 'without the right to');

done_testing();
