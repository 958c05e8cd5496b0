# Small doors: names that are cut, a library that is loaded while somebody cancels, and a
# schema whose name needs quotes, or is another one today.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;

my $e = "\xc3\xa9"; # a character of two bytes
my $node = KanonNode::start('main', conf => "shared_preload_libraries = 'kanon'\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE odd LOGIN;
CREATE ROLE monitor LOGIN IN ROLE pg_read_all_stats;
CREATE TABLE patient AS SELECT i % 5 AS a, i % 3 AS b FROM generate_series(1, 300) i;
CREATE FUNCTION gate() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_lock_shared(1);
    PERFORM pg_advisory_unlock_shared(1);
    RETURN true;
END $$;
CREATE VIEW gated AS SELECT * FROM patient WHERE (SELECT gate());
GRANT SELECT ON patient, gated TO odd;
DO $$ BEGIN EXECUTE format('CREATE SCHEMA %I AUTHORIZATION odd', repeat('"', 63)); END $$;
E

# ---- texts in buffers of a fixed size ----

# One role's names, as long as names can be when they are quoted, and of characters of two bytes
# that begin at an odd or an even place: others see them whole.
foreach my $before ('', 'x')
{
	my $publication = '"' . '""' x 63 . qq(".") . $before . $e x 31 . '"';
	my $holder = $node->background_psql('postgres');
	my $runner = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'odd' ]);
	my $pid = $runner->query('SELECT pg_backend_pid()');

	$holder->query_safe('SELECT pg_advisory_lock(1)');
	KanonGate::start($runner, "SELECT kanon_create_publication(\$n\$$publication\$n\$, 'gated', '{a,b}', 5)");
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = $pid");
	is(KanonNode::as($node, 'monitor', 'postgres', "SELECT length(publication), position(\$n\$$before$e\$n\$ IN publication), right(publication, 2) FROM kanon_progress"),
		(128 + 3 + length($before) + 31) . "|131|$e\"", 'a long name is whole');
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	$runner->query("SELECT 'over'");
	$runner->quit;
	$holder->quit;
	# a code that is none, written into the history by its owner
	my $history = $node->safe_psql('postgres', "SELECT oid::regclass FROM pg_class WHERE relname LIKE '%history' ORDER BY oid DESC LIMIT 1");
	is(KanonNode::as($node, 'odd', 'postgres', "INSERT INTO $history (release, started, finished, status, error) VALUES (2, now(), now(), 'failed', '$before" . $e x 7 . "')"), '', 'an odd code in a history');
	is($node->safe_psql('postgres', "SELECT octet_length(error), error FROM kanon_publication_status(\$n\$$publication\$n\$)"), (length($before) + 4) . "|$before$e$e", 'is cut between characters'); # (psql drops half a character at the end by itself)
}
$node->stop;

# ---- a cancel while the library is loaded ----

# A bad value is set before there is anybody to refuse it; the WARNING that follows is where a cancel is noticed.
$node = KanonNode::start('session');
my ($loaded, $bricked) = (0, 0);
foreach my $try (1 .. 8)
{
	my (undef, $out, $err) = $node->psql('postgres', <<'E', on_error_stop => 0);
SET client_min_messages = error;
SET kanon.max_memory = '300kB';
BEGIN;
SET LOCAL statement_timeout = '1ms';
SELECT kanon_describe('*-', '{a,b}');
ROLLBACK; -- (may be cancelled itself on a busy machine; then the next is not)
ROLLBACK;
SELECT 'next', kanon_describe('*-', '{a,b}');
DISCARD ALL;
SELECT 'last', count(*) FROM kanon_publications;
E
	$loaded++ if $out =~ /^next\|/m && $out =~ /^last\|0$/m;
	$bricked++ if $err =~ /redefine/;
}
is("$loaded loaded, $bricked not", '8 loaded, 0 not', 'a cancel while the library is loaded leaves the session whole');

# ---- a schema by any name ----

$node->safe_psql('postgres', <<'E');
CREATE DATABASE quoted;
\c quoted
CREATE SCHEMA "My Schema";
CREATE EXTENSION kanon SCHEMA "My Schema";
CREATE TABLE patient AS SELECT i % 5 AS a, i % 3 AS b FROM generate_series(1, 300) i;
SELECT FROM "My Schema".kanon_pattern_guided('patient', 'shown', '{a,b}', 5);
SELECT FROM "My Schema".kanon_freeform('patient', 'free', '{a,b}', 5);
SELECT FROM "My Schema".kanon_transactions('patient', 'sets', 'a', 2, transaction => 'b');
E
foreach my $schema ('"My Schema"', 'moved', '"Two ""words"')
{
	$node->safe_psql('quoted', 'ALTER SCHEMA "My Schema" RENAME TO moved') if $schema eq 'moved';
	$node->safe_psql('quoted', 'ALTER SCHEMA moved RENAME TO "Two ""words"') if $schema eq '"Two ""words"';
	my @calls = split /\n/, $node->safe_psql('quoted', "SELECT $schema.kanon_report_data(run) ->> 'check' FROM $schema.kanon_usefulness ORDER BY run");
	push @calls, $node->safe_psql('quoted', "SELECT replace(replace(replace(m[1], '&quot;', '\"'), '&#39;', ''''), '&gt;', '>') FROM regexp_matches($schema.kanon_explore('patient', '{a,b}', '{5}'), '(SELECT \\* FROM [^<]*;)<') AS m");
	is(scalar @calls, 4, 'calls for readers');
	foreach my $call (@calls)
	{
		like($call, qr/FROM \Q$schema\E\.kanon_/, "are of $schema");
		is(($node->psql('quoted', "BEGIN; $call; ROLLBACK"))[0], 0, 'and run') or diag $call;
	}
}
$node->stop;
done_testing();
