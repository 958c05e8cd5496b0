# From an older release of PostgreSQL to this one, with publications, their history,
# grants and labels: by pg_dump and by pg_upgrade.  (From one version to itself: t/081.)
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
SELECT md5(string_agg(v::text, ',' ORDER BY v::text)) FROM own.visits v;
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
	is( $node->safe_psql('lab', "SELECT persons, persons_below_k FROM kanon_compare_releases('own.visits',"
			  . " (SELECT max(release) - 1 FROM kanon_releases), (SELECT max(release) FROM kanon_releases))"),
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
SECURITY LABEL FOR kanon ON COLUMN own.patients.name IS 'identifier';
E
	my $before = $old->safe_psql('lab', $seen);
	like($before, qr/^own\.visits\|owner\|.*identifier/s, "$version: published and labelled");

	# the newer one's pg_dump, as the manual has it
	my $restored = KanonNode::new_node("restored_$version");
	$restored->start;
	$restored->command_ok([ 'pg_dumpall', '-f', "$dir/$version.sql", '-d', $old->connstr('postgres') ], "$version: pg_dumpall");
	# (all but the superuser, who is there already)
	$restored->psql('postgres', "\\i $dir/$version.sql", on_error_stop => 0);
	goes_on($restored, $before, "$version: restored");
	$restored->stop;
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
