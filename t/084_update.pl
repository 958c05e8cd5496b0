# ALTER EXTENSION UPDATE: what was made with an older version of kanon is there and goes
# on, and the extension is what a fresh install of the new version makes.  Every update
# script of the tree is tested; and, so that the test is there before the first one, a
# version 9.9 that it makes up: once as it should be, once (9.8) with something forgotten.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

plan skip_all => 'for a staged install: make check-tap' unless $ENV{KANON_SERVER_CONF};
my ($found, $folder) = KanonNode::staged_copy();
my ($current) = slurp_file("$folder/kanon.control") =~ /^default_version = '(.*)'/m;

# A column more in the record, another comment, a function more.
my $function = "CREATE FUNCTION \@extschema\@.kanon_weather(day date DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 'fair';\n"
  . "COMMENT ON FUNCTION \@extschema\@.kanon_weather(date) IS 'of a day';\n";
my $comment = "COMMENT ON VIEW \@extschema\@.kanon_columns IS 'columns of 9.9';\n";
my $new = slurp_file("$folder/kanon--$current.sql") . $function;
$new =~ s/(CREATE TABLE \@extschema\@\.kanon_run \(.*?)\n\);/$1,\n    weather text\n);/s or die;
$new =~ s/COMMENT ON VIEW \@extschema\@\.kanon_columns IS '.*?';\n/$comment/ or die;
for ([ '9.9', $comment ], [ '9.8', '' ])
{
	my ($version, $remembered) = @$_;
	append_to_file("$folder/kanon--$version.sql", $new);
	append_to_file("$folder/kanon--$current--$version.sql",
		"ALTER TABLE \@extschema\@.kanon_run ADD COLUMN weather text;\n$remembered$function");
}

my $node = KanonNode::new_node('main', found => $found);
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE reader');

# What pg_dump writes of the extension's members, but for the numbers of objects.
sub members
{
	my ($db) = @_;
	my ($out, $err) = run_command([ 'pg_dump', '--binary-upgrade', '--schema-only', '-h', $node->host, '-p', $node->port, '-U', 'postgres', $db ]);

	die $err if $err;
	return join "\n", sort grep { /\S/ && !/binary_upgrade|^--|^\\|setval|relfrozenxid|^WHERE oid =/ } map { s/[,;]?\s*$//r } split /\n/, $out;
}

# Lines that only one of them has.
sub difference
{
	my ($one, $other) = @_;
	my %count;

	$count{$_}++ for split /\n/, $one;
	$count{$_}-- for split /\n/, $other;
	return join "\n", map { ($count{$_} > 0 ? '+' : '-') . $_ } grep { $count{$_} != 0 } sort keys %count;
}

my $made = <<'E';
SET ROLE owner;
CREATE SCHEMA own;
CREATE TABLE own.patients AS SELECT i AS id, i % 5 AS zip, i % 7 AS birth, 'd' || i % 3 AS diagnosis FROM generate_series(1, 700) i;
SELECT FROM kanon_pattern_guided('own.patients', 'own.patients_public', '{zip,birth}', 4, keep => '{diagnosis}');
SELECT FROM kanon_freeform('own.patients', 'own.freeform', '{zip,birth}', 4);
SELECT kanon_create_publication('own.visits', 'own.patients', '{zip,birth}', 4, '{"keep": ["diagnosis"]}', keep_releases => 2, key => 'id', stable => true);
GRANT USAGE ON SCHEMA own TO reader;
GRANT SELECT ON own.visits TO reader;
SELECT status FROM kanon_refresh('own.visits');
SECURITY LABEL FOR kanon ON COLUMN own.patients.id IS 'identifier';
E
my $seen = <<'E';
SELECT run, run_by, source, target, k, method, row_count, cost, gcp, options FROM kanon_usefulness ORDER BY run;
SELECT run, column_name, suppressed, ncp FROM kanon_columns ORDER BY run, ordinal;
SELECT count(*), md5(string_agg(c::text, ',' ORDER BY c::text)) FROM kanon_equivalence_classes c;
SELECT publication, owner, published, source, quasi_identifiers, k, model, options, release FROM kanon_publications;
SELECT publication, release, status, row_count, k, cost, relation FROM kanon_releases ORDER BY 1, 2;
SELECT md5(string_agg(v::text, ',' ORDER BY v::text)), has_table_privilege('reader', 'own.visits', 'SELECT') FROM own.visits v;
SELECT objname, provider, label FROM pg_seclabels ORDER BY 1;
E

for my $script (sort glob "$folder/kanon--*--*.sql")
{
	my ($from, $to) = $script =~ /kanon--(.+)--(.+)\.sql$/;
	my $name = "from $from to $to";
	(my $db = $name) =~ s/\W/_/g;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql('postgres', "CREATE DATABASE new_$db");
	$node->safe_psql('postgres', "GRANT CREATE ON DATABASE $db TO owner");
	$node->safe_psql("new_$db", "CREATE EXTENSION kanon VERSION '$to'");
	$node->safe_psql($db, "CREATE EXTENSION kanon VERSION '$from'");
	my $fresh = members("new_$db");
	like($fresh, qr/CREATE VIEW public\.kanon_usefulness/, "$name: pg_dump writes the members");
	isnt(members($db), $fresh, "$name: the new version is another one");
	$node->safe_psql($db, $made);
	my $before = $node->safe_psql($db, $seen);
	my $runs = $node->safe_psql($db, 'SELECT count(*) FROM kanon_usefulness');
	$node->safe_psql($db, "ALTER EXTENSION kanon UPDATE TO '$to'");
	is($node->safe_psql($db, "SELECT extversion FROM pg_extension WHERE extname = 'kanon'"), $to, "$name: updated");
	is($node->safe_psql($db, $seen), $before, "$name: runs, publications, releases and labels are there");
	is($node->safe_psql($db, "SET ROLE owner; SELECT status, row_count FROM kanon_refresh('own.visits')"), 'current|700',
		"$name: a publication is refreshed");
	is($node->safe_psql($db, "SET ROLE owner; SELECT persons FROM kanon_compare_releases('own.visits', 2, 3)"), '700',
		"$name: releases from before are known");
	is($node->safe_psql($db, 'SELECT count(*) FROM kanon_usefulness'), $runs + 1, "$name: runs are recorded");
	# what users made goes, the extension remains
	$node->safe_psql($db, "DROP SCHEMA own CASCADE; REVOKE CREATE ON DATABASE $db FROM owner");
	if   ($to eq '9.8') { like(difference(members($db), $fresh), qr/^-COMMENT ON VIEW .*columns of 9\.9.*$/m, "$name: what an update script forgets is seen") }
	else                { is(difference(members($db), $fresh), '', "$name: as a fresh install, by pg_dump") }
}
$node->stop;
done_testing();
