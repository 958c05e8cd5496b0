# Eight sessions publish at once while writers change the source and readers look
# at a target that is replaced again and again.  Every target is of one moment:
# writers move amounts between people, and people between groups, but the number
# of people and the total of their amounts are the same after each transaction.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

use constant { SESSIONS => 8, RUNS => 6 };
my ($people, $total) = (4000, 400_000);

my $node = KanonNode::start('main', conf => "max_connections = 40\nfsync = off\n");
$node->safe_psql('postgres', <<"E");
CREATE TABLE person (id int PRIMARY KEY, zip int, age int, amount int, name text);
INSERT INTO person SELECT i, i % 20, i % 7, $total / $people, 'n' || i FROM generate_series(1, $people) i;
CREATE TABLE shared AS SELECT zip, age, amount FROM person;
CREATE SEQUENCE written;
E

sub script
{
	my ($name, $sql) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir . "/$name.sql";
	append_to_file($file, $sql);
	return $file;
}

# Each writes or reads until it is told to stop.
sub start_forever
{
	my ($clients, @scripts) = @_;
	my $said = '';
	my $run = IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-T', 170, (map { ('-f', $_) } @scripts),
			'-h', $node->host, '-p', $node->port, 'postgres' ], '>', '/dev/null', '2>', \$said);
	return { run => $run, said => \$said };
}

sub stop
{
	my ($forever) = @_;
	ok($forever->{run}->pumpable, 'they went on until now') or diag(${ $forever->{said} });
	$forever->{run}->kill_kill;
}

my $head = <<"E";
\\set one random(1, $people)
\\set two random(1, $people)
\\set sum random(-50, 50)
BEGIN;
SELECT pg_advisory_xact_lock(least(:one, :two));
SELECT pg_advisory_xact_lock(greatest(:one, :two));
E
my $writers = start_forever(2,
	script('transfer', <<"E"), script('renew', <<"E"));
$head
UPDATE person SET amount = amount + :sum, zip = (zip + :one) % 20 WHERE id = :one;
UPDATE person SET amount = amount - :sum, age = (age + :two) % 7 WHERE id = :two;
SELECT nextval('written');
COMMIT;
E
$head
WITH gone AS (DELETE FROM person WHERE id IN (:one, :two) RETURNING *)
INSERT INTO person SELECT id, (zip + 1) % 20, (age + 1) % 7, amount, 'new' FROM gone;
COMMIT;
E
my $readers = start_forever(1, script('read', <<"E"));
SELECT 1 / (count(*) = $people AND sum(amount) = $total)::int AS whole FROM shared;
E
$node->poll_query_until('postgres', 'SELECT last_value > 100 FROM written');

# Sessions with a target each, and some that share one.
my ($sessions, $runs) = (SESSIONS, RUNS);
my $before = $node->safe_psql('postgres', 'SELECT last_value FROM written');
my $publish = "SELECT count(*) FROM kanon_pattern_guided('person', %s, '{zip,age}', 5, keep => '{amount}', replace => true);";
my ($out, $err);
my $ok = IPC::Run::run([ 'pgbench', '-n', '-c', $sessions, '-j', 2, '-t', $runs,
		'-f', script('own', sprintf $publish, "'own_' || :client_id") . '@2',
		'-f', script('shared', sprintf $publish, "'shared'"),
		'-h', $node->host, '-p', $node->port, 'postgres' ], '>', \$out, '2>', \$err);
ok($ok, 'all sessions publish') or diag($err);
like($out, qr{transactions actually processed: (\d+)/\1\b}, 'all of their runs');
cmp_ok($node->safe_psql('postgres', 'SELECT last_value FROM written') - $before, '>', 0, 'while others write');
stop($_) foreach $writers, $readers;

is($node->safe_psql('postgres', "SELECT count(*) || ' ' || sum(amount) FROM person"), "$people $total",
	'the writers did as they should');
my @targets = split /\n/, $node->safe_psql('postgres',
	"SELECT relname FROM pg_class WHERE relname ~ '^own_|^shared\$' ORDER BY 1");
cmp_ok(scalar @targets, '>=', SESSIONS, 'there are the targets');
foreach my $target (@targets)
{
	is( $node->safe_psql('postgres', <<"E"), "t|$people|$total|0", "$target is k-anonymous and of one moment");
SELECT k >= 5, row_count, (SELECT sum(amount) FROM $target),
       (SELECT count(*) FROM (SELECT FROM $target GROUP BY zip, age HAVING count(*) < 5 AND (zip IS NOT NULL OR age IS NOT NULL)) AS small)
FROM kanon_check('$target', '{zip,age}')
E
}
is( $node->safe_psql('postgres', <<'E'), $sessions * $runs . '|t|t|0', 'each run is recorded, with its classes');
SELECT count(*), bool_and(class_min >= 5), bool_and(classes = (SELECT count(*) FROM kanon_equivalence_classes c WHERE c.run = u.run)),
       (SELECT count(*) FROM pg_class WHERE relname LIKE 'kanon\_building\_%')
FROM kanon_usefulness u
E
$node->stop;
done_testing();
