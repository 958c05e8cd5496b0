# From an older release of PostgreSQL to this one, with publications of all kinds, their history,
# grants and labels: by pg_dump, by pg_restore with several jobs and by pg_upgrade; a refresh there ends in a
# crash, and the next one goes on.  (From one version to itself: t/081.)
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my @older = KanonNode::older();
plan skip_all => 'no older server beside this one' unless @older;

my $seen = <<'E';
SELECT publication, owner, published, source, quasi_identifiers, k, model, options, keep_releases, stable, key, release, refreshed_at
FROM kanon_publications ORDER BY 1;
SELECT * FROM kanon_releases ORDER BY 1, 2;
SELECT count(*), has_table_privilege('reader', 'own.visits', 'SELECT') FROM own.visits;
SELECT 'visits', md5(string_agg(v::text, ',' ORDER BY v::text)) FROM own.visits v;
SELECT 'guarded', md5(string_agg(v::text, ',' ORDER BY v::text)) FROM own.guarded v;
SELECT 'added', md5(string_agg(v::text, ',' ORDER BY v::text)) FROM own.added v;
SELECT 'person', md5(string_agg(v::text, ',' ORDER BY v::text)) FROM shown.person v;
SELECT 'visit', md5(string_agg(v::text, ',' ORDER BY v::text)) FROM shown.visit v;
SELECT publication_name, status, problem FROM kanon_publication_status() ORDER BY 1;
SELECT objname, provider, label FROM pg_seclabels ORDER BY 1;
E
my $dir = PostgreSQL::Test::Utils::tempdir;

# All is there, and goes on.
sub goes_on
{
	my ($node, $before, $name) = @_;
	my $stderr;

	is($node->safe_psql('lab', $seen), $before, "$name: publications, history, rows and labels are there");
	is($node->safe_psql('lab', "SET ROLE owner; SELECT status, row_count FROM kanon_refresh('own.visits')"),
		'current|700', "$name: refreshed");
	$node->safe_psql('lab', "UPDATE own.patients SET birth = (birth + 1) % 7 WHERE id <= 20; UPDATE own.person SET zip = 1 WHERE id % 50 = 0;"
		. " INSERT INTO own.patients SELECT i, i % 5, i % 7, 'd1' FROM generate_series(801, 900) i; DELETE FROM own.patients WHERE id > 850");
	is($node->safe_psql('lab', "SET ROLE owner; SELECT string_agg(status, ' ') FROM (VALUES ('own.guarded'), ('own.added'), ('shown')) AS v (p), kanon_refresh(p)"),
		'current current current', "$name: protected, appended and several tables are refreshed");
	is($node->safe_psql('lab', "SELECT count(*) FROM kanon_publication_status() WHERE status <> 'fresh'"), '0', "$name: all of them are fresh");
	my $rows = $node->safe_psql('lab', $seen);
	my $session = $node->background_psql('lab', on_error_stop => 0);
	$session->query_safe("UPDATE own.patients SET birth = (birth + 1) % 7 WHERE id <= 30");
	$session->query_safe("BEGIN; SET ROLE owner; SELECT status FROM kanon_refresh('own.guarded'), pg_sleep(0); SELECT status FROM kanon_refresh('shown')");
	$node->stop('immediate');
	eval { $session->quit };
	$node->start;
	is($node->safe_psql('lab', $seen), $rows, "$name: a refresh that a crash ended has left nothing");
	is($node->safe_psql('lab', "SET ROLE owner; SELECT string_agg(status, ' ') FROM (VALUES ('own.guarded'), ('shown')) AS v (p), kanon_refresh(p)"),
		'current current', "$name: and the next goes on");
	$node->safe_psql('lab', "DELETE FROM own.patients WHERE id > 700; UPDATE own.patients SET birth = id % 7; SET ROLE owner; SELECT kanon_refresh('own.visits')");
	is( $node->safe_psql('lab', "SELECT persons, persons_below_k FROM kanon_compare_releases('own.visits',"
			  . " (SELECT max(release) - 1 FROM kanon_releases WHERE publication = 'own.visits'), (SELECT max(release) FROM kanon_releases WHERE publication = 'own.visits'))"),
		'700|0', "$name: compared with a release from before");
	$node->psql('lab', 'ALTER TABLE own.patients DROP COLUMN zip', stderr => \$stderr);
	like($stderr, qr/visits_source depends on column zip/, "$name: the source still belongs to it");
	is( $node->safe_psql('lab', "SELECT sum(row_count) FROM kanon_pattern_guided('own.patients', NULL, '{zip,birth}', 5, dry_run => true)"),
		'700', "$name: and other functions work");
}

# Checksums are on by default in some releases, and pg_upgrade wants both alike.
my @init = (init => { extra => [ '--locale=C.UTF-8', '--encoding=UTF8', '--username=postgres', '--data-checksums' ] });

foreach my $server (@older)
{
	my ($version) = $server->{path} =~ /(\d+)$/;
	my $old = KanonNode::new_node("old_$version", %$server, @init);

	$old->start;
	$old->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE reader; CREATE DATABASE lab; GRANT CREATE ON DATABASE lab TO owner');
	$old->safe_psql('lab', <<'E');
CREATE EXTENSION kanon;
SET ROLE owner;
CREATE SCHEMA own;
CREATE TABLE own.patients AS SELECT i AS id, i % 5 AS zip, i % 7 AS birth, 'd' || i % 3 AS diagnosis, 'n' || i AS name FROM generate_series(1, 700) i;
SELECT kanon_create_publication('own.visits', 'own.patients', '{zip,birth}', 4, '{"keep": ["diagnosis"]}', keep_releases => 2, key => 'id', stable => true);
GRANT USAGE ON SCHEMA own TO reader;
GRANT SELECT ON own.visits TO reader;
SELECT kanon_refresh('own.visits');
CREATE SCHEMA shown;
CREATE TABLE own.person AS SELECT i AS id, i % 5 AS zip FROM generate_series(1, 200) i;
ALTER TABLE own.person ADD PRIMARY KEY (id);
CREATE TABLE own.visit AS SELECT i AS id, 1 + i % 200 AS person, i % 3 AS ward FROM generate_series(1, 400) i;
ALTER TABLE own.visit ADD FOREIGN KEY (person) REFERENCES own.person;
SELECT kanon_create_publication('own.guarded', 'own.patients', '{zip,birth}', 4, key => 'id', protect_successive => true);
SELECT kanon_create_publication('own.added', 'own.patients', '{zip,birth}', 4, append => 'id');
SELECT kanon_create_linked_publication('shown', 'own.person', '{"own.person": {"quasi_identifiers": ["zip"]}, "own.visit": {"quasi_identifiers": ["ward"]}}', 4);
SECURITY LABEL FOR kanon ON COLUMN own.patients.name IS 'identifier';
E
	my $before = $old->safe_psql('lab', $seen);
	like($before, qr/^own\.visits\|owner\|.*identifier/ms, "$version: published and labelled");

	# the newer one's pg_dump, as the manual has it
	my $restored = KanonNode::new_node("restored_$version");
	$restored->start;
	$restored->command_ok([ 'pg_dumpall', '-f', "$dir/$version.sql", '-d', $old->connstr('postgres') ], "$version: pg_dumpall");
	# (all but the superuser, who is there already)
	$restored->psql('postgres', "\\i $dir/$version.sql", on_error_stop => 0);
	goes_on($restored, $before, "$version: restored");
	$restored->stop;

	# several jobs: labels need the library in each of their sessions; and one table alone takes its labels along
	my $several = KanonNode::new_node("several_$version");
	$several->append_conf('postgresql.conf', "session_preload_libraries = 'kanon'\n");
	$several->start;
	$old->command_ok([ 'pg_dump', '-Fd', '-j', 2, '-f', "$dir/$version.several", $old->connstr('lab') ], "$version: pg_dump with jobs");
	$several->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE reader; CREATE DATABASE lab; CREATE DATABASE other; GRANT CREATE ON DATABASE lab TO owner');
	$several->command_ok([ 'pg_restore', '--exit-on-error', '-j', 3, '-d', $several->connstr('lab'), "$dir/$version.several" ], "$version: pg_restore with jobs");
	goes_on($several, $before, "$version: by several jobs");
	$old->command_ok([ 'pg_dump', '-t', 'own.patients', '-f', "$dir/$version.table", $old->connstr('lab') ], "$version: pg_dump of a table");
	$several->safe_psql('other', 'CREATE EXTENSION kanon; CREATE SCHEMA own');
	$several->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/$version.table", '-d', $several->connstr('other') ], "$version: which goes where the extension is");
	is($several->safe_psql('other', 'SELECT objname, label FROM pg_seclabels'), 'own.patients.name|identifier', "$version: with its label");
	$several->stop;
	$old->stop;

	my $new = KanonNode::new_node("new_$version", @init);
	my $bin = $new->config_data('--bindir');
	$new->command_ok([ 'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir,
			'-b', "$server->{path}/bin", '-B', $bin, '-s', $new->host, '-p', $old->port, '-P', $new->port ], "$version: pg_upgrade");
	$new->start;
	goes_on($new, $before, "$version: upgraded");
	$new->stop;
}
done_testing();
