# A publication on another server: each release follows the one before in the server's publications for logical
# replication, and a subscriber that fetches the new table's definition each night has what readers see here.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => "wal_level = logical\nmax_wal_senders = 8\nmax_replication_slots = 8\n");
my $far = KanonNode::start('far', conf => "wal_level = logical\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE publisher LOGIN;
CREATE SCHEMA own AUTHORIZATION publisher;
GRANT CREATE ON DATABASE postgres TO publisher;
SET SESSION AUTHORIZATION publisher;
CREATE SCHEMA shown;
CREATE TABLE own.person (id int PRIMARY KEY, zip int, age int);
INSERT INTO own.person SELECT i, i % 5, i % 4 FROM generate_series(1, 240) i;
CREATE TABLE own.visit (id int PRIMARY KEY, person int REFERENCES own.person, ward int);
INSERT INTO own.visit SELECT i, 1 + i % 240, i % 3 FROM generate_series(1, 400) i;
E
$far->safe_psql('postgres', 'CREATE SCHEMA own; CREATE SCHEMA shown');
sub said { my ($sql) = @_; return KanonNode::as($node, 'publisher', 'postgres', $sql); }

my %publications = (
	'own.plain' => "kanon_create_publication('own.plain', 'own.person', '{zip,age}', 3)",
	'own.keyed' => "kanon_create_publication('own.keyed', 'own.person', '{zip,age}', 3, key => 'id', protect_successive => true, keep_releases => 2)",
	'shown' => "kanon_create_linked_publication('shown', 'own.person', '{\"own.person\": {\"quasi_identifiers\": [\"zip\", \"age\"]}, \"own.visit\": {\"quasi_identifiers\": [\"ward\"]}}', 3)");
my @views = ('own.plain', 'own.keyed', 'shown.person', 'shown.visit');

# table_of(VIEW): the release that it shows now
sub table_of
{
	my ($view) = @_;

	return $node->safe_psql('postgres', "SELECT DISTINCT d.refobjid::regclass FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid AND d.refclassid = 'pg_class'::regclass"
		  . " WHERE r.ev_class = '$view'::regclass AND d.refobjid <> r.ev_class");
}

# fetch: what a nightly job on the subscriber does
sub fetch
{
	my %tables = map { $_ => table_of($_) } @views;

	foreach my $table (values %tables)
	{
		my $file = $node->basedir . '/table.sql';

		run_log([ 'pg_dump', '-s', '--no-owner', '--no-privileges', '--no-publications', '--no-security-labels', '-t', $table, '-f', $file, $node->connstr('postgres') ])
			or die 'no definition';
		run_log([ 'psql', '-Xq', '-d', $far->connstr('postgres'), '-f', $file ]);
	}
	$far->safe_psql('postgres', 'ALTER SUBSCRIPTION taken REFRESH PUBLICATION');
	$far->poll_query_until('postgres', "SELECT count(*) > 0 AND bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel") or die 'not in step';
	$far->safe_psql('postgres', "CREATE OR REPLACE VIEW $_ AS TABLE $tables{$_}") foreach keys %tables;
	return;
}

is(said("SELECT $publications{$_}"), '', "$_ is made") foreach sort keys %publications;
# tables are named once: what each view shows then
said('CREATE PUBLICATION given FOR TABLE ' . join ', ', map { table_of($_) } @views);
$far->safe_psql('postgres', "CREATE SUBSCRIPTION taken CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION given WITH (connect = false)");
$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('taken', 'pgoutput')");
$far->safe_psql('postgres', 'ALTER SUBSCRIPTION taken ENABLE');
foreach my $night (1 .. 3)
{
	said("DELETE FROM own.visit WHERE id <= 5 * $night; UPDATE own.person SET zip = (zip + 1) % 5 WHERE id % 7 = $night;"
		  . " INSERT INTO own.person SELECT (SELECT max(id) FROM own.person) + i, i % 5, i % 4 FROM generate_series(1, 60) i");
	is(said("SELECT status FROM kanon_refresh('$_')"), 'current', "night $night: $_ is refreshed") foreach sort keys %publications;
	fetch();
	foreach my $view (@views)
	{
		my $sql = "SELECT count(*), md5(string_agg(v::text, ',' ORDER BY v::text COLLATE \"C\")) FROM $view AS v";
		my $here = $node->safe_psql('postgres', $sql);

		is($far->safe_psql('postgres', $sql), $here, "night $night: $view has the same rows there: $here");
	}
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_publication_rel WHERE prrelid::regclass::text ~ '_(persons|types|rows|held|history|publication|source)'"), '0', 'private tables are given to nobody');
is(said('ALTER PUBLICATION given DROP TABLE ' . table_of('own.plain') . "; UPDATE own.person SET zip = (zip + 1) % 5 WHERE id < 30; SELECT status FROM kanon_refresh('own.plain')"), 'current', 'what is taken out stays out');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_publication_rel WHERE prrelid = '" . table_of('own.plain') . "'::regclass"), '0', 'of the next release, too');

SKIP:
{
	skip 'publications of all tables leave none out before 19', 4 if $node->safe_psql('postgres', 'SHOW server_version_num') < 190000;
	my $left_out = "SELECT count(*) FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE pubname = 'rest' AND prexcept AND prrelid = ";

	$node->safe_psql('postgres', 'CREATE TABLE mine (a int); CREATE PUBLICATION rest FOR ALL TABLES EXCEPT (TABLE mine, TABLE ' . table_of('own.keyed') . '), ALL SEQUENCES');
	$node->safe_psql('postgres', "ALTER ROLE publisher SUPERUSER; UPDATE own.person SET zip = (zip + 1) % 5 WHERE id < 40; SELECT FROM kanon_refresh('own.keyed'); ALTER ROLE publisher NOSUPERUSER");
	is($node->safe_psql('postgres', $left_out . "'" . table_of('own.keyed') . "'::regclass"), '1', 'what is left out of all tables stays out');
	is($node->safe_psql('postgres', $left_out . "'mine'::regclass"), '1', 'others that are left out stay out, too');
	is($node->safe_psql('postgres', "SELECT puballtables, puballsequences FROM pg_publication WHERE pubname = 'rest'"), 't|t', 'nothing else of it changes');
	my (undef, undef, $notice) = $node->psql('postgres', "SET SESSION AUTHORIZATION publisher; UPDATE own.person SET zip = (zip + 1) % 5 WHERE id < 50; SELECT FROM kanon_refresh('own.keyed')");
	like($notice, qr/Not made again: being left out of publication rest \(42501\)/, 'a role that may not leave it out is told');
}
$far->stop;
$node->stop;
done_testing();
