# What kanon_dp has told is paid for, whatever becomes of the transaction, the session and the
# server; nobody gets more than there is by asking at the same time.
use strict;
use warnings;
use Test::More;
use IPC::Run;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => "max_prepared_transactions = 4\nmax_worker_processes = 12\nautovacuum = off\n",
	init => { allows_streaming => 1 });
$node->safe_psql('postgres', <<'E');
CREATE TABLE visits AS SELECT i AS id, i % 10 AS age FROM generate_series(1, 1000) i;
SELECT kanon_set_budget('visits', 1);
E

sub ask { my ($epsilon, $on) = @_; return KanonNode::as($on // $node, 'postgres', 'postgres', "SELECT value IS NOT NULL FROM kanon_dp('visits', 'count', $epsilon)"); }
sub left { return $node->safe_psql('postgres', "SELECT epsilon_left FROM kanon_budget WHERE relation = 'visits'::regclass"); }

# All at once: three of ten can be paid.
my @sessions;
for (1 .. 10)
{
	my $one = { out => '', err => '' };
	$one->{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SELECT value IS NOT NULL FROM kanon_dp('visits', 'count', 0.3)" ],
		'>', \$one->{out}, '2>', \$one->{err});
	push @sessions, $one;
}
$_->{handle}->finish for @sessions;
is(scalar(grep { $_->{out} eq "t\n" } @sessions), 3, 'sessions that ask at the same time take turns');
is(left(), '0.1', 'and none of them gets more than there was');

# Two that have to wait at the same time, for a row that somebody writes beside, do not get into each other's way.
my $writer = $node->background_psql('postgres');
$writer->query_safe("BEGIN; INSERT INTO kanon_budget_spent SELECT relation, role, 4, asked_by, asked_at, aggregate, epsilon, delta, queries FROM kanon_budget_spent WHERE answer = 3");
@sessions = ();
for (1 .. 2)
{
	my $one = { out => '', err => '' };
	$one->{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SELECT value IS NOT NULL FROM kanon_dp('visits', 'count', 0.01)" ],
		'>', \$one->{out}, '2>', \$one->{err});
	push @sessions, $one;
}
ok($node->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'kanon budget' AND wait_event_type = 'Lock'"), 'two workers wait');
$writer->query_safe('ROLLBACK');
$_->{handle}->finish for @sessions;
is(join('', map { $_->{out} . $_->{err} } @sessions), "t\nt\n", 'both are charged, one after the other');
$writer->quit;
$node->safe_psql('postgres', "SELECT kanon_set_budget('visits', 1.02)");

# A server that dies has not forgotten what it has told, whatever the defaults are.
$node->safe_psql('postgres', "ALTER DATABASE postgres SET synchronous_commit = off; ALTER DATABASE postgres SET default_transaction_isolation = serializable;
	ALTER DATABASE postgres SET default_transaction_read_only = on");
is(ask(0.04), 't', 'an answer, with defaults that are in the way');
$node->stop('immediate');
$node->start;
is(left(), '0.06', 'is still paid after a crash');
$node->safe_psql('postgres', 'SET default_transaction_read_only = off; ALTER DATABASE postgres RESET ALL');

# Prepared, and rolled back later; an error at the commit, when the answer has been seen.
$node->safe_psql('postgres', "BEGIN; CREATE TABLE copy AS SELECT * FROM kanon_dp('visits', 'count', 0.01); PREPARE TRANSACTION 'x'");
$node->safe_psql('postgres', "ROLLBACK PREPARED 'x'");
is(left(), '0.05', 'a prepared transaction that is rolled back');
$node->safe_psql('postgres', 'CREATE TABLE late (a int UNIQUE DEFERRABLE INITIALLY DEFERRED, b numeric)');
my ($ret, $seen) = $node->psql('postgres', "INSERT INTO late SELECT 1, value FROM generate_series(1, 2), kanon_dp('visits', 'count', 0.01) RETURNING b IS NOT NULL");
isnt($ret, 0, 'a commit that fails');
is(left(), '0.04', 'when the answer has been seen');

# A worker that waits for a lock of the session that waits for it gives up.
is($node->safe_psql('postgres', "BEGIN; LOCK TABLE kanon_budget_spent IN ACCESS EXCLUSIVE MODE; SAVEPOINT s;
\\set ON_ERROR_STOP off
SELECT value FROM kanon_dp('visits', 'count', 0.01);
ROLLBACK TO s;
SELECT 'over'"), 'over', 'a lock in the way');
is(left(), '0.04', 'and nothing was told');

# What is read of kanon's own tables has to be what it was, whatever a superuser has made of them.
for my $names ([ 'queries TO other' ], [ 'epsilon TO other', 'set_at TO epsilon' ])
{
	my $end = -s $node->logfile;
	my $rename = sub { $node->safe_psql('postgres', join(';', map { "ALTER TABLE kanon_budget_limit RENAME $_" } @_)) };

	$rename->(@$names);
	is(ask(0.01), '55000', 'a column that is ' . (@$names > 1 ? 'of another type' : 'not there'));
	$rename->(map { join(' TO ', reverse(split(/ TO /, $_))) } reverse(@$names));
	like(slurp_file($node->logfile, $end), qr/is not what it was/, 'is not read');
}
is(left(), '0.04', 'and nothing is spent');

# A standby cannot pay.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
is(ask(0.01, $standby), '25006', 'a standby');
$standby->stop;

# No worker, no answer.
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->restart;
is(ask(0.01), '53400', 'without a background worker');
is(left(), '0.04', 'nothing is spent');
$node->append_conf('postgresql.conf', 'max_worker_processes = 12');
$node->restart;
is(ask(0.04), 't', 'the last of it');
is(ask(0.000001), '53400', 'is the last');

# A dump has tables and no budgets: a copy's owner says anew what may be told.
$node->safe_psql('postgres', 'CREATE DATABASE copied');
my $dump = $node->backup_dir . '/dump.sql';
command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'a dump');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copied'), '-f', $dump ], 'restored');
is(KanonNode::as($node, 'postgres', 'copied', "SELECT value FROM kanon_dp('visits', 'count', 0.01)"), '42501', 'has no budget');
$node->stop;
done_testing();
