# Publications and who may do what with them: every function and view for the
# owner, a member of the owner, a reader of the view, an outsider and a superuser.
# And what a publication lives through: a dump, an upgrade, another owner.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::new_node('main');
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE ROLE installer LOGIN;
CREATE ROLE owner LOGIN;
CREATE ROLE member LOGIN IN ROLE owner;
CREATE ROLE reserved LOGIN NOINHERIT IN ROLE owner;
CREATE ROLE reader LOGIN;
CREATE ROLE outsider LOGIN;
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
CREATE ROLE keeper LOGIN;
CREATE DATABASE lab OWNER installer;
E

sub as { my ($role, $sql, $db) = @_; return KanonNode::as($node, $role, $db // 'lab', $sql); }

is(as('installer', 'CREATE EXTENSION kanon'), '', 'an ordinary role installs the extension');
$node->safe_psql('lab', 'GRANT CREATE ON DATABASE lab TO owner, outsider, keeper');
my $visits = "'own.visits', 'own.patients', '{zip,birth}', 4, '{\"keep\": [\"diagnosis\"]}', keep_releases => 2, key => 'id', stable => true";
is(as('owner', <<"E"), '', 'an ordinary role makes a publication of its table');
CREATE SCHEMA own;
CREATE TABLE own.patients AS SELECT i AS id, i % 5 AS zip, i % 7 AS birth, 'd' || i % 3 AS diagnosis, current_user AS name FROM generate_series(1, 700) i;
SELECT kanon_create_publication($visits);
GRANT USAGE ON SCHEMA own TO reader, outsider, monitor;
GRANT SELECT ON own.visits TO reader;
SELECT status FROM kanon_refresh('own.visits') WHERE status <> 'current';
E

# role => what each action comes to; '' is success without a row
my @roles = ('owner', 'member', 'reserved', 'reader', 'outsider', 'monitor', 'postgres');
my @matrix = (
	[ "SELECT count(*) FROM own.visits",
		700, 700, '42501', 700, '42501', '42501', 700 ],
	[ "SELECT count(*) FROM kanon_publications WHERE owner = 'owner'::regrole", 1, 1, 1, 0, 0, 0, 1 ],
	[ "SELECT count(*) > 1 FROM kanon_releases", 't', 't', 't', 'f', 'f', 'f', 't' ],
	[ "SELECT count(*) > 1 FROM kanon_internal.kanon_release_list()", 't', 't', 't', 'f', 'f', 'f', 't' ],
	[ "SELECT count(*) FROM kanon_internal.kanon_publication_list()", 1, 1, 1, 0, 0, 0, 1 ],
	[ "SELECT count(*) FROM kanon_progress", 0, 0, 0, 0, 0, 0, 0 ],
	[ "SELECT count(*) FROM kanon_internal.kanon_progress_list()", 0, 0, 0, 0, 0, 0, 0 ],
	[ "SELECT status FROM kanon_publication_status('own.visits', '1 hour')",
		'fresh', 'fresh', '42501', 'fresh', '42501', 'fresh', 'fresh' ],
	[ "SELECT k, release IS NULL, error IS NULL, allow_identifying IS NULL FROM kanon_publication_status('own.visits')",
		'4|f|t|f', '4|f|t|f', '42501', '4|t|t|t', '42501', '4|f|t|f', '4|f|t|f' ],
	[ "SELECT count(*) FROM kanon_publication_status()", 1, 1, 1, 0, 0, 1, 1 ],
	[ "SELECT status FROM kanon_refresh('own.visits')",
		'current', 'current', '42501', '42501', '42501', '42501', 'current' ],
	[ "SELECT persons FROM kanon_compare_releases('own.visits', (SELECT max(release) - 1 FROM kanon_releases), (SELECT max(release) FROM kanon_releases))",
		700, 700, '42501', '22004', '22004', '22004', 700 ],
	[ "SELECT persons FROM kanon_compare_releases('own.visits', 1, 2)", '55000', '55000', '42501', '42501', '42501', '42501', '55000' ],
	[ "SELECT kanon_alter_publication('own.visits', k => 4)", '', '', '42501', '42501', '42501', '42501', '' ],
	[ "SELECT kanon_drop_publication('own.visits')", undef, undef, '42501', '42501', '42501', '42501', undef ],
	[ "CALL kanon_refresh_all()", '', '', '42704', '42704', '42704', '42704', '' ],
	[ "BEGIN; SELECT kanon_create_publication('own.other', 'own.patients', '{zip}', 4); ROLLBACK",
		'', '', '42501', '42501', '42501', '42501', '' ],
	[ "SELECT count(*) > 0 FROM own.visits_source", 't', 't', '42501', '42501', '42501', '42501', 't' ],
	[ "SELECT count(*) > 0 FROM own.visits_publication", 't', 't', '42501', '42501', '42501', '42501', 't' ],
	[ "SELECT count(*) > 0 FROM own.visits_history", 't', 't', '42501', '42501', '42501', '42501', 't' ]);
foreach my $i (0 .. $#roles)
{
	foreach my $line (@matrix)
	{
		my $role = $roles[$i];
		my ($sql, $expected) = ($line->[0], $line->[ $i + 1 ]);
		next unless defined $expected;
		is(as($role, $sql), $expected, "$role: $sql");
	}
}
foreach my $table (split /\n/, $node->safe_psql('lab', q{SELECT oid::regclass FROM pg_class WHERE relname ~ '^visits_(release|persons|types)'}))
{
	is(as($_, "SELECT count(*) > 0 FROM $table"), $_ eq 'owner' || $_ eq 'member' ? 't' : '42501', "$_: $table")
	  foreach 'owner', 'member', 'reader', 'outsider';
}
# who drops one
foreach my $role ('owner', 'member', 'postgres')
{
	is(as($role, "BEGIN; SELECT kanon_drop_publication('own.visits'); SELECT count(*) FROM pg_class WHERE relname ~ '^visits'; ROLLBACK"),
		"\n0", "$role drops it, with all that belongs to it");
}

# Whoever starts a refresh lends it no rights: the source is read as the owner.
is( as('owner', <<'E'), "\nowner", 'the source is read as the owner');
CREATE VIEW own.who AS SELECT zip, current_user::text AS who FROM own.patients;
SELECT kanon_create_publication('own.asked', 'own.who', '{zip}', 4, '{"keep": ["who"]}');
SELECT DISTINCT who FROM own.asked;
E
is(as($_, "SELECT status FROM kanon_refresh('own.asked'); SELECT DISTINCT who FROM own.asked"), "current\nowner", "refreshed by $_, too")
  foreach 'member', 'postgres';
as('owner', "CREATE OR REPLACE VIEW own.who AS SELECT zip, set_config('role', 'postgres', true) COLLATE \"C\" AS who FROM own.patients");
is($node->safe_psql('lab', "SELECT status, error FROM kanon_refresh('own.asked')"), 'failed|42501', 'nor can it take any');
is(as('owner', "SELECT kanon_drop_publication('own.asked')"), '', 'dropped');

# Whatever is logged: no value of the source or the options while refreshing.
is( as('owner', <<'E'), "\n", 'a publication with all that can be asked for');
CREATE TABLE own.telling AS SELECT 'tell-' || i AS who, 'tale-' || i % 3 AS zip, 'so-' || i AS note FROM generate_series(1, 90) i;
SELECT kanon_create_publication('own.told', 'own.telling', '{zip}', 4, '{"keep": ["note"], "allow_identifying": ["note"], "weights": [77.125]}', key => 'who', stable => true);
SELECT kanon_alter_publication('own.told', protect_successive => true);
E
my $offset = -s $node->logfile;
my $status = $node->safe_psql('lab', <<'E');
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET auto_explain.log_verbose = on;
SET auto_explain.log_analyze = on;
SET log_statement = 'all';
SET log_parameter_max_length_on_error = -1;
SET debug_print_plan = off;
SELECT status FROM kanon_refresh('own.told');
SELECT status FROM kanon_refresh('own.told');
SELECT persons FROM kanon_compare_releases('own.told', 3, 3);
E
is($status, "current\ncurrent\n90", 'refreshed with everything logged');
my $log = slurp_file($node->logfile, $offset);
like($log, qr/told_release_/, 'the log says what was done');
unlike($log, qr/tell-|tale-|so-\d|77\.125/, 'and has no value');
is(as('owner', "SELECT kanon_drop_publication('own.told')"), '', 'dropped');

# A table that says it defines somebody else's view is not believed.
is(as('outsider', <<'E'), '', 'an outsider makes up a definition');
CREATE SCHEMA fake;
CREATE TABLE fake.history (release bigint);
CREATE VIEW fake.source AS SELECT 1 AS zip;
CREATE TABLE fake.visits_publication (name text, published regclass, source regclass, history regclass, model text,
    quasi_identifiers name[], k bigint, options kanon_options, keep_releases int, stable boolean, protect_successive boolean, key text);
INSERT INTO fake.visits_publication SELECT 'own.visits', 'own.visits', 'fake.source', 'fake.history', 'pattern_guided', '{zip}', 2, '{}', 1, false, false;
E
is($node->safe_psql('lab', 'SELECT count(*) FROM kanon_publications'), '1', 'which is not listed');
is(as('owner', "SELECT status, row_count FROM kanon_refresh('own.visits')"), 'current|700', 'nor used');
is(as('outsider', 'DROP SCHEMA fake CASCADE'), '', 'and gone');

# Rights at the source are those of the owner, now.
$node->safe_psql('lab', <<'E');
CREATE SCHEMA kept AUTHORIZATION keeper;
CREATE TABLE kept.patients AS SELECT * FROM own.patients;
ALTER TABLE kept.patients OWNER TO keeper;
GRANT USAGE ON SCHEMA kept TO owner;
GRANT SELECT (zip, birth) ON kept.patients TO owner;
E
is(as('owner', "SELECT kanon_create_publication('own.lent', 'kept.patients', '{zip,birth}', 4, '{\"keep\": [\"diagnosis\"]}')"), '42501',
	'no column without a right to it');
is(as('owner', "SELECT kanon_create_publication('own.lent', 'kept.patients', '{zip,birth}', 4)"), '', 'columns that are granted');
$node->safe_psql('lab', 'ALTER TABLE kept.patients ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON kept.patients TO owner USING (id <= 350)');
# It is another role's policy: no refresh runs it before the publication's owner has accepted that.
is(as($_, "SELECT status, error FROM kanon_refresh('own.lent')"), 'failed|42501', "row-level security that is new is refused, asked by $_")
  foreach 'owner', 'postgres';
is(as('owner', 'SELECT count(*) FROM own.lent'), '700', 'readers have what was published');
is(as('owner', "SELECT kanon_alter_publication('own.lent', set_options => '{}')"), '', 'its owner accepts it');
is(as($_, "SELECT status, row_count FROM kanon_refresh('own.lent')"), 'current|350', "row-level security of the owner applies, asked by $_")
  foreach 'owner', 'postgres';
$node->safe_psql('lab', 'REVOKE SELECT (zip, birth) ON kept.patients FROM owner');
is(as('owner', "SELECT status, error FROM kanon_refresh('own.lent')"), 'failed|42501', 'a right that was taken away is missed');
is(as('owner', "SELECT count(*) FROM own.lent"), '350', 'readers have what was published');
is(as('owner', "SELECT kanon_drop_publication('own.lent')"), '', 'dropped');

# ---- dumps ----

my $seen = <<'E';
SELECT publication, owner, published, source, quasi_identifiers, k, model, options, keep_releases, stable, protect_successive, key, release, refreshed_at
FROM kanon_publications ORDER BY 1;
SELECT * FROM kanon_releases ORDER BY 1, 2;
SELECT count(*), has_table_privilege('reader', 'own.visits', 'SELECT') FROM own.visits;
SELECT objname, provider, label FROM pg_seclabels ORDER BY 1;
E
my $dir = PostgreSQL::Test::Utils::tempdir;
is(as('owner', <<'E'), '', 'a hierarchy that has another name since');
CREATE TABLE own.zips AS SELECT DISTINCT zip, 0 AS top FROM own.patients;
SELECT kanon_create_publication('own.leveled', 'own.patients', '{zip}', 4, '{"hierarchies": {"zip": "own.zips"}}', model => 'full_domain');
ALTER TABLE own.zips RENAME TO zip_levels;
E
is(as('owner', <<'E'), '', 'persons who stay among the same values');
CREATE TABLE own.staff AS SELECT i AS id, i AS age, 'v' || i % 5 AS ill FROM generate_series(1, 60) i;
SELECT kanon_create_publication('own.valued', 'own.staff', '{age}', 3, '{"keep": ["ill"], "privacy": [{"rule": "distinct_l", "column": "ill", "l": 3}]}', 'cluster', key => 'id', protect_successive => 'values');
CREATE TABLE own.stayed AS SELECT id, kanon__signature FROM own.valued_values_1 WHERE kanon__is_person;
DELETE FROM own.staff WHERE id IN (1, 6, 8);
E
$node->safe_psql('lab', "LOAD 'kanon'; SECURITY LABEL FOR kanon ON COLUMN own.patients.name IS 'identifier'");
my $before = $node->safe_psql('lab', $seen);
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_dump', '-f', "$dir/lab.sql", $node->connstr('lab') ], 'pg_dump');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', "$dir/lab.sql", $node->connstr('copy') ],
	'into a new database');

# All is there, and goes on, in a database.
sub goes_on
{
	my ($on, $db, $name) = @_;
	is($on->safe_psql($db, $seen), $before, "$name: publications, history, view and labels are there");
	is($on->safe_psql($db, "SET ROLE owner; SELECT status, row_count FROM kanon_refresh('own.visits')"), 'current|700', "$name: refreshed");
	is($on->safe_psql($db, "SET ROLE owner; SELECT status FROM kanon_refresh('own.leveled')"), 'current', "$name: with the hierarchy that it had");
	is($on->safe_psql($db, "SET ROLE owner; SELECT status FROM kanon_refresh('own.valued')"), 'current', "$name: with the values among which persons stay");
	is($on->safe_psql($db, "SELECT count(*), count(*) FILTER (WHERE s.kanon__signature <> v.kanon__signature) FROM own.stayed s JOIN own.valued_values_2 v ON v.id = s.id AND v.kanon__is_person"),
		'60|0', "$name: as before");
	is( $on->safe_psql($db, "SELECT persons, persons_below_k FROM kanon_compare_releases('own.visits',"
			  . " (SELECT max(release) - 1 FROM kanon_releases WHERE publication = 'own.visits'), (SELECT max(release) FROM kanon_releases WHERE publication = 'own.visits'))"),
		'700|0', "$name: compared with a release from before");
	is($on->safe_psql($db, "SELECT count(*) FROM pg_class WHERE relname ~ '^visits_release'"), '2', "$name: and old releases go");
	my ($ret, $stdout, $stderr) = $on->psql($db, 'DROP EXTENSION kanon');
	like($stderr, qr/cannot drop extension kanon because other objects depend on it/, "$name: the extension stays");
	$on->psql($db, 'ALTER TABLE own.patients DROP COLUMN zip', stderr => \$stderr);
	like($stderr, qr/visits_source depends on column zip/, "$name: and so does the source");
}
goes_on($node, 'copy', 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/lab.dump", $node->connstr('lab') ], 'pg_dump -Fc');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('other'), "$dir/lab.dump" ], 'pg_restore');
goes_on($node, 'other', 'restore');

# The owner of a database, who is nobody special, dumps what is in it.
$node->safe_psql('postgres', 'CREATE DATABASE small OWNER installer; CREATE DATABASE small_copy OWNER installer');
is(as('installer', <<'E', 'small'), '', 'a publication in a database of one\'s own');
CREATE EXTENSION kanon;
CREATE SCHEMA mine;
CREATE TABLE mine.t AS SELECT i % 3 AS a FROM generate_series(1, 30) i;
DO $$ BEGIN PERFORM kanon_create_policy('ours', '[{"point": "class", "asks": "k", "least": 4}]', 'our rules'); END $$;
SELECT kanon_create_publication('mine.p', 'mine.t', '{a}', NULL, policy => 'ours');
E
is(system('pg_dump', '-U', 'installer', '-f', "$dir/small.sql", '-d', $node->connstr('small')), 0, 'its owner can dump it');
is(system('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-U', 'installer', '-f', "$dir/small.sql", '-d', $node->connstr('small_copy')), 0,
	'and restore it');
is(as('installer', "SELECT status FROM kanon_refresh('mine.p'); SELECT count(*) FROM kanon_releases", 'small_copy'), "current\n2",
	'with publication and history');
is(as('installer', "SELECT policy FROM kanon_publication_status('mine.p'); SELECT c.verdict FROM kanon_check_policy((SELECT max(run) FROM kanon_usefulness), 'ours') c; SELECT count(*) FROM kanon_policies WHERE built_in", 'small_copy'),
	"ours\nyes\n7", 'and the policy of the house, beside those that came with kanon');

# Another owner.
$node->safe_psql('copy', 'REASSIGN OWNED BY owner TO keeper');
is(as('keeper', "SELECT status FROM kanon_refresh('own.visits')", 'copy'), 'current', 'a publication goes to another owner');
is(as('owner', "SELECT status FROM kanon_refresh('own.visits')", 'copy'), '42501', 'and is no longer the old one\'s');
$node->safe_psql('copy', 'DROP OWNED BY keeper CASCADE');
is($node->safe_psql('copy', 'SELECT count(*) FROM kanon_publications; DROP EXTENSION kanon'), '0', 'or goes with all that is theirs');
$node->safe_psql('postgres', "DROP DATABASE $_") foreach 'copy', 'other', 'small', 'small_copy';

# ---- pg_upgrade (of one version to itself: the same way through dump and restore) ----

my $new = KanonNode::new_node('new', conf => "session_preload_libraries = 'kanon'\n");
$node->stop;
chdir $dir or die;
my $bin = $node->config_data('--bindir');
$node->command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin,
		'-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
$before = $new->safe_psql('lab', $seen);
like($before, qr/(?m)^own\.visits\|owner\|own\.visits\|own\.patients\|/, 'the publication has come along');
goes_on($new, 'lab', 'upgrade');
$new->stop;
done_testing();
