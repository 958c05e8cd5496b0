# Guard 8: everybody works with their own rights and sees their own runs.  An
# ordinary role installs kanon into a database where it may create things, another
# one uses it; what they published survives a dump, and the extension goes as it came.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::new_node('main');
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE ROLE installer LOGIN;
CREATE ROLE maker LOGIN;
CREATE ROLE colleague LOGIN IN ROLE maker;
CREATE ROLE reserved LOGIN NOINHERIT IN ROLE maker;
CREATE ROLE stranger LOGIN;
CREATE ROLE leaver LOGIN;
CREATE DATABASE lab;
GRANT CREATE ON DATABASE lab TO installer, maker, stranger, leaver;
E

sub as { my ($role, $sql, $db) = @_; return KanonNode::as($node, $role, $db // 'lab', $sql); }

sub publish
{
	my ($source, $target, $rest) = @_;
	return "SELECT sum(row_count) FROM kanon_pattern_guided('$source', '$target', $rest)";
}

my $fill = "SELECT i % 5 AS a, i % 3 AS b, 'd' || i AS note, 'n' || i AS name FROM generate_series(1, 300) i";

# Installing takes no more than CREATE on the database.
is(as('installer', 'CREATE EXTENSION kanon SCHEMA public'), '', 'an ordinary role installs the extension');
is(as('stranger', 'DROP EXTENSION kanon'), '42501', 'which is not for everybody to drop');
is(as('installer', "CREATE SCHEMA installer; CREATE TABLE person AS $fill; " . publish('person', 'person_public', "'{a,b}', 5, keep => '{note}', allow_identifying => '{note}'")),
	'300', 'and publishes');

# Using it takes nothing at all.
is(as('maker', "CREATE SCHEMA maker; CREATE TABLE person AS $fill; " . publish('person', 'person_public', "'{a,b}', 5, keep => '{note}', allow_identifying => '{note}'")),
	'300', 'another role publishes');
is(as('maker', "SELECT k, row_count FROM kanon_check('person_public', '{a,b}')"), '20|300', 'and checks');
is(as('maker', "SELECT tableowner FROM pg_tables WHERE tablename = 'person_public' AND schemaname = 'maker'"),
	'maker', 'the target belongs to the caller');

# No more rights than the caller has.
is(as('stranger', 'CREATE SCHEMA stranger'), '', 'a schema of its own');
is(as('stranger', publish('maker.person', 'stolen', "'{a,b}', 5")), '42501', 'no source without a right to it');
$node->safe_psql('lab', 'GRANT USAGE ON SCHEMA maker TO stranger; GRANT SELECT (a, b) ON maker.person TO stranger');
is(as('stranger', publish('maker.person', 'mine', "'{a,b}', 5")), '300', 'columns that are granted');
is(as('stranger', publish('maker.person', 'stolen', "'{a,b}', 5, keep => '{note}', allow_identifying => '{note}'")), '42501', 'and one that is not');
is(as('stranger', publish('maker.person', 'maker.stolen', "'{a,b}', 5")), '42501', 'nor into a schema that is not');
is(as('stranger', publish('maker.person', 'maker.person_public', "'{a,b}', 5, replace => true")), '42501',
	'nor in place of a table of others');
is(as('stranger', "SELECT k FROM kanon_check('maker.person_public', '{a,b}')"), '42501', 'nor a check of it');
foreach my $model ('pattern_guided', 'cluster', 'full_domain', 'subtree', 'freeform', 'anatomy')
{
	# the sensitive column of anatomy is what others keep
	my ($mine, $theirs) = map { $model eq 'anatomy' ? qq('{"sensitive": "$_"}') : qq('{"keep": ["$_"], "allow_identifying": ["$_"]}') } 'b', 'note';
	is(as('stranger', "SELECT count(*) FROM kanon_frontier('maker.person', '{a}', '{2}', model => '$model', options => $mine)"), '1', "$model is tried on columns that are granted");
	is(as('stranger', "SELECT count(*) FROM kanon_frontier('maker.person', '{a}', '{2}', model => '$model', options => $theirs)"), '42501', 'and on none that is not');
	is(as('stranger', "SELECT count(*) FROM kanon_explain('maker.person', '{a}', 2, model => '$model', options => $theirs)"), '42501', 'nor explained');
}
$node->safe_psql('lab', <<'E');
CREATE FUNCTION maker.publish_for_all() RETURNS numeric LANGUAGE sql SECURITY DEFINER SET search_path = maker, public
AS $$ SELECT sum(row_count) FROM kanon_pattern_guided('person', 'person_again', '{a,b}', 5, replace => true) $$;
ALTER FUNCTION maker.publish_for_all OWNER TO maker;
E
is(as('stranger', 'SELECT maker.publish_for_all()'), '300', 'with the rights of a function\'s owner');

# Runs are seen by who made them, by members of that role, and by superusers.
my $seen = "SELECT string_agg(run_by || ':' || target, ' ' ORDER BY run) FROM kanon_usefulness";
my $classes = 'SELECT count(DISTINCT run) FROM kanon_equivalence_classes';
my %sees = (
	installer => [ 'installer:installer.person_public', 1 ],
	maker => [ 'maker:maker.person_public maker:maker.person_again', 2 ],
	colleague => [ 'maker:maker.person_public maker:maker.person_again', 2 ],
	reserved => [ 'maker:maker.person_public maker:maker.person_again', 2 ],
	stranger => [ 'stranger:stranger.mine', 1 ],
	leaver => [ '', 0 ]);
foreach my $role (sort keys %sees)
{
	is(as($role, $seen), $sees{$role}[0], "$role sees the right runs");
	is(as($role, $classes), $sees{$role}[1], "$role sees their classes");
	is(as($role, "SELECT count(*) FROM $_"), '42501', "$role does not see $_")
	  foreach 'kanon_run', 'kanon_run_class';
	is(as($role, "INSERT INTO $_"), '42501', "$role does not make up one in $_")
	  foreach 'kanon_run DEFAULT VALUES', 'kanon_usefulness (source) VALUES (1)';
	is(as($role, "SELECT nextval('kanon_run_run_seq')"), '42501', "$role does not touch the numbers");
}
is($node->safe_psql('lab', 'SELECT count(DISTINCT run_by) FROM kanon_usefulness'), '3', 'a superuser sees them all');

# A condition that is cheap and talks is not asked about the runs of others.
is( as('stranger', <<'E'), 'stranger.mine', 'a leaky function sees no other runs either');
CREATE FUNCTION stranger.tell(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE INFO 'told %', $1; RETURN true; END $$;
SELECT target FROM kanon_usefulness WHERE stranger.tell(target)
E
my ($ret, $stdout, $stderr) = $node->psql('lab',
	'SELECT count(*) FROM kanon_usefulness WHERE stranger.tell(target)', extra_params => [ '-U', 'stranger' ]);
unlike($stderr, qr/maker|installer/, 'nor hears of them');
($ret, $stdout, $stderr) = $node->psql('lab',
	'SELECT count(*) FROM kanon_equivalence_classes WHERE stranger.tell(run::text)', extra_params => [ '-U', 'stranger' ]);
is(scalar(() = $stderr =~ /told (\d+)/g), $stdout, 'nor of their classes');

# A role that leaves.
is(as('leaver', "CREATE SCHEMA leaver; CREATE TABLE person AS $fill; " . publish('person', 'person_public', "'{a}', 5")),
	'300', 'a role publishes');
$node->safe_psql('lab', 'DROP OWNED BY leaver CASCADE');
$node->safe_psql('postgres', 'DROP OWNED BY leaver; DROP ROLE leaver');
is(as($_, $seen), $sees{$_}[0], "and is dropped: $_ sees what it saw") foreach 'maker', 'stranger';
is($node->safe_psql('lab', 'SELECT count(*) FROM kanon_usefulness'), '5', 'and a superuser still sees all');

# The record stays where it was made: a dump, which any owner of a database can
# make, has what was published but not who published what.
my $dump = PostgreSQL::Test::Utils::tempdir . '/lab.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('lab') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
is(as('maker', 'SELECT count(*) FROM person_public', 'copy'), as('maker', 'SELECT count(*) FROM person_public'),
	'what was published is back');
is($node->safe_psql('copy', 'SELECT count(*) FROM kanon_usefulness'), '0', 'the record is not');
is(as('maker', publish('person', 'person_new', "'{a,b}', 5"), 'copy'), '300', 'publishing goes on');
$node->safe_psql('postgres', 'CREATE DATABASE own OWNER installer');
as('installer', 'CREATE EXTENSION kanon', 'own');
is(system('pg_dump', '-U', 'installer', '-f', "$dump.own", '-d', $node->connstr('own')), 0,
	'the owner of a database who installed kanon can dump it');

# In a schema of its own, which nobody's search_path has.
$node->safe_psql('postgres', 'CREATE DATABASE tidy; GRANT CREATE ON DATABASE tidy TO installer, maker');
is(as('installer', 'CREATE SCHEMA tools; CREATE EXTENSION kanon SCHEMA tools; GRANT USAGE ON SCHEMA tools TO PUBLIC', 'tidy'),
	'', 'installed in another schema');
is( as('maker', <<"E", 'tidy'), "300\n20\nmaker.person_public|15", 'works without that schema in the search_path');
CREATE SCHEMA maker;
CREATE TABLE person AS $fill;
SELECT sum(row_count) FROM tools.kanon_pattern_guided('person', 'person_public', '{a,b}', 5, keep => '{note}', allow_identifying => '{note}', mark => true);
SELECT k FROM tools.kanon_check('person_public', '{a,b}');
SELECT target, (SELECT count(*) FROM tools.kanon_equivalence_classes) FROM tools.kanon_usefulness
E
is(as('maker', "SET search_path = ''; " . "SELECT sum(row_count) FROM tools.kanon_pattern_guided('maker.person', 'maker.bare', '{a,b}', 5)", 'tidy'),
	'300', 'nor with any other');

# And away with it.
is(as('installer', 'DROP EXTENSION kanon', 'tidy'), '', 'its installer drops the extension');
is( $node->safe_psql('tidy', "SELECT relname FROM pg_class WHERE relname ~ 'kanon' UNION ALL SELECT proname FROM pg_proc WHERE proname ~ 'kanon'"),
	'', 'and nothing of it is left');
is(as('maker', 'SELECT count(*) FROM person_public', 'tidy'), '300', 'but what was published');
is(as('installer', 'CREATE EXTENSION kanon SCHEMA tools', 'tidy'), '', 'and it can be had again');
$node->stop;
done_testing();
