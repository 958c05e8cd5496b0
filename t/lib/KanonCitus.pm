# A coordinator and two workers of Citus for TAP tests, where the server has Citus.
#
#   use KanonCitus;
#   my ($main, @workers) = KanonCitus::start();    # kanon on all of them, as Citus creates extensions, and a role doctor
#   KanonCitus::left_behind($name, $main, @workers);
package KanonCitus;

use strict;
use warnings;
use KanonNode;
use Test::More;

my $conf = <<'E';
shared_preload_libraries = 'citus'
citus.enable_version_checks = off
columnar.enable_version_checks = off
citus.node_conninfo = 'sslmode=disable'
citus.shard_count = 4
max_prepared_transactions = 50
kanon.progress = off
log_statement = all
log_min_messages = log
E

# Asked of a server that runs without it: listed or not (an extension may be staged), it
# is there if it can be loaded.
sub available
{
	my ($plain) = @_;
	my ($ret, $out, $err) = $plain->psql('postgres', "LOAD 'citus'");

	return $err !~ /could not access file|could not load library/;
}

sub start
{
	my ($main, @workers) = map { KanonNode::new_node($_, conf => $conf) } 'main', 'worker_1', 'worker_2';

	foreach my $node ($main, @workers)
	{
		$node->start;
		$node->safe_psql('postgres', 'CREATE EXTENSION citus');
		# (from 13.2 on tables of columns are an extension to ask for; before 11.1 there is none)
		$node->psql('postgres', 'CREATE EXTENSION IF NOT EXISTS citus_columnar');
	}
	$main->safe_psql('postgres', sprintf("SELECT citus_set_coordinator_host('%s', %d)", $main->host, $main->port));
	$main->safe_psql('postgres', sprintf("SELECT citus_add_node('%s', %d)", $_->host, $_->port)) foreach @workers;
	$main->safe_psql('postgres', <<'E');
CREATE EXTENSION kanon;
CREATE ROLE doctor LOGIN;
GRANT CREATE ON SCHEMA public TO doctor;
E
	return ($main, @workers);
}

# Tables that a run makes for itself, and what a commit in two steps begins with.
sub left_behind
{
	my ($name, @nodes) = @_;
	my @left = map { $_->safe_psql('postgres', "SELECT relname FROM pg_class WHERE relname ~ '^kanon_(staging|mapping|numbers|building|keyed)' UNION ALL SELECT gid FROM pg_prepared_xacts") } @nodes;

	is(join('', @left), '', "$name: nothing is left behind");
}

1;
