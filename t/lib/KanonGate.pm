# Places at which a TAP test holds what runs in a session of its own, and crashes
# that end it there.
#
#   KanonGate::create($node);                      # over the table "person", or one that is named
#   my ($pid, $holder, $runner) = KanonGate::start_held($node, $statement, $lock, @before);
#   KanonGate::crash($node, 'kill -9', $pid, $holder, $runner);    # or 'immediate shutdown'
#
# gate(key) waits while somebody has that advisory lock; the view "gated" goes
# through gate 1 when it is read first (a run that publishes it reads it once) and gate 2 when it is read a second time.
package KanonGate;

use strict;
use warnings;

sub create
{
	my ($node, $table) = @_;
	$table //= 'person';
	$node->safe_psql('postgres', <<"E");
CREATE FUNCTION gate(key int) RETURNS bool LANGUAGE plpgsql AS \$\$
BEGIN
    PERFORM pg_advisory_lock_shared(key);
    PERFORM pg_advisory_unlock_shared(key);
    RETURN true;
END \$\$;
CREATE SEQUENCE ticket;
CREATE VIEW gated AS SELECT * FROM $table WHERE (SELECT gate(nextval('ticket')::int));
E
}

# Starts a statement in a session and does not wait for what it says.
sub start
{
	my ($session, $sql) = @_;
	$session->{stdin} .= "$sql;\n";
	$session->{run}->pump_nb while length $session->{stdin};
}

# The same in a session of its own (in which @before was said first), and waits
# until a lock of another one holds it.
sub start_held
{
	my ($node, $sql, $lock, @before) = @_;
	my $holder = $node->background_psql('postgres', on_error_stop => 0);
	my $runner = $node->background_psql('postgres', on_error_stop => 0);
	$holder->query_safe("SELECT setval('ticket', 1, false); BEGIN; $lock");
	my $pid = $runner->query('SELECT pg_backend_pid()');
	$runner->query_safe($_) foreach @before;
	start($runner, $sql);
	$node->poll_query_until('postgres',
		"SELECT wait_event_type = 'Lock' OR state LIKE 'idle%' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'it is not held';
	return ($pid, $holder, $runner);
}

# Kills the backend or stops the server at once, ends the sessions, and has the
# server back.
sub crash
{
	my ($node, $how, $pid, @sessions) = @_;
	if ($how eq 'kill -9')
	{
		my $log = -s $node->logfile;
		kill 'KILL', $pid;
		$node->wait_for_log(qr/database system is ready to accept connections/, $log);
	}
	else
	{
		$node->stop('immediate');
	}
	foreach my $session (@sessions)
	{
		eval { $session->{run}->finish };
	}
	$node->start unless $how eq 'kill -9';
	$node->poll_query_until('postgres', 'SELECT true');
}

1;
