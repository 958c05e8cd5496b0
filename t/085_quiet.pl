# Who is left in peace: readers of a table that is replaced, and whoever gets the mail of
# a nightly job.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main');
$node->safe_psql('postgres', <<'E');
CREATE TABLE person AS SELECT i % 20 AS a, i % 3 AS b, 'd' || i % 7 AS d FROM generate_series(1, 600) i;
SELECT kanon_pattern_guided('person', 'published', '{a,b}', 5);
E

# ---- replace => true ----

my $replace = "SELECT kanon_pattern_guided('person', 'published', '{a}', 5, replace => true)";
my $columns = "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'published'::regclass AND attnum > 0";
my $queues = "SELECT count(*) FROM pg_locks WHERE relation = 'published'::regclass AND NOT granted";

my $keeper = $node->background_psql('postgres');
$keeper->query_safe('BEGIN; SELECT count(*) FROM published');
my $runner = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $runner->query_safe('SELECT pg_backend_pid()');
my $runs = "(SELECT state = 'active' FROM pg_stat_activity WHERE pid = $pid)";
KanonGate::start($runner, $replace);

# It waits for its turn, and does not: between two tries nobody is in anybody's way.
ok($node->poll_query_until('postgres', "SELECT ($queues) = 1 AND $runs"), 'it waits for the reader');
ok($node->poll_query_until('postgres', "SELECT ($queues) = 0 AND $runs"), 'and lets others go before');
ok($node->poll_query_until('postgres', "SELECT ($queues) = 1 AND $runs"), 'again');
# (In a queue behind it they would wait for the first reader, who never goes.)
my $seen = 0;
foreach (1 .. 20)
{
	my ($ret, $stdout) = $node->psql('postgres', "SET lock_timeout = '30s'; SELECT count(*) FROM published");
	last if $ret != 0;
	$seen++ if $stdout eq '600';
}
is($seen, 20, 'twenty readers come and go');
is($node->safe_psql('postgres', "SELECT $runs"), 't', 'while it waits on');
is($node->safe_psql('postgres', $columns), 'a,b', 'for the table that they see');
$keeper->query_safe('COMMIT');
ok($node->poll_query_until('postgres', "SELECT NOT $runs"), 'when the reader is gone it is done');
is($node->safe_psql('postgres', $columns), 'a', 'and the new table is there');

$keeper->query_safe('BEGIN; SELECT count(*) FROM published');
my ($ret, $stdout, $stderr) = $node->psql('postgres',
	"SET lock_timeout = '300ms'; SELECT kanon_pattern_guided('person', 'published', '{a,b}', 5, replace => true)");
like($stderr, qr/ERROR:  readers kept the table for longer than lock_timeout/, 'not for longer than lock_timeout');
is($node->safe_psql('postgres', $columns), 'a', 'and then nothing has happened');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname ~ '^kanon_building'"), '0', 'nor is anything left');
$keeper->quit;
$runner->quit;

# ---- kanon.progress, and all else that is said ----

# Reading takes longer than it takes until a run says how far it is.
$node->safe_psql('postgres', <<'E');
CREATE ROLE nightly LOGIN;
CREATE SCHEMA nightly AUTHORIZATION nightly;
CREATE VIEW slow AS SELECT * FROM person WHERE (SELECT pg_sleep(6)) IS NOT NULL;
CREATE TABLE switch (n int);
CREATE VIEW soon AS SELECT * FROM person WHERE (SELECT pg_sleep(6 * count(*)) FROM switch) IS NOT NULL;
GRANT SELECT ON person, switch, soon TO nightly;
SELECT kanon_create_publication('quiet', 'soon', '{a,b}', 5);
SELECT kanon_create_publication('loud', 'soon', '{a,b}', 5);
SET SESSION AUTHORIZATION nightly;
-- one that has something to say each time: rows that are left out
SELECT kanon_create_publication('nightly.job', 'soon', '{a,b}', 6, jsonb_build_object('residual', 'drop', 'keep', ARRAY['d'],
    'patterns', ARRAY['--'], 'privacy', ARRAY[kanon_distinct_l('d', 2)]));
RESET SESSION AUTHORIZATION;
INSERT INTO person SELECT 100, i, 'd' || i FROM generate_series(1, 5) i;
INSERT INTO switch VALUES (1);
E
my $dir = PostgreSQL::Test::Utils::tempdir;
my %sessions = (
	direct => [ 'postgres', "SELECT kanon_pattern_guided('slow', 'o1', '{a,b}', 5)" ],
	off => [ 'postgres', 'SET kanon.progress = off', "SELECT kanon_pattern_guided('slow', 'o2', '{a,b}', 5)" ],
	refresh => [ 'postgres', "SELECT kanon_refresh('quiet')" ],
	asked => [ 'postgres', 'SET kanon.progress = on', "SELECT kanon_refresh('loud')" ],
	# the line of the reference
	crontab => [ 'nightly', 'CALL kanon_refresh_all()' ]);
my %pid;
foreach my $name (sort keys %sessions)
{
	my ($role, @sql) = @{ $sessions{$name} };

	$pid{$name} = fork() // die;
	next if $pid{$name};
	open STDOUT, '>', "$dir/$name.out" or die;
	open STDERR, '>', "$dir/$name.err" or die;
	exec 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-U', $role, '-d', $node->connstr('postgres'), map { ('-c', $_) } @sql;
}
my %said;
foreach my $name (sort keys %sessions)
{
	waitpid $pid{$name}, 0;
	is($?, 0, "$name: done");
	$said{$name} = slurp_file("$dir/$name.err");
}
like($said{$_}, qr/^NOTICE:  kanon: reading, (?:\d+ % done, )?\d+ s so far/m, "$_: says how far it is") foreach 'direct', 'asked';
unlike($said{$_}, qr/kanon: /, "$_: does not") foreach 'off', 'refresh';
is($said{crontab}, '', 'the line of crontab says nothing at all');
is($node->safe_psql('postgres', "SELECT status, row_count FROM kanon_releases WHERE publication = 'nightly.job' ORDER BY release DESC LIMIT 1"),
	'current|600', 'and has done its work, rows left out as before');
is($node->safe_psql('postgres', "LOAD 'kanon'; SHOW kanon.progress"), 'auto', 'auto is the default');
$node->stop;
done_testing();
