#!/usr/bin/perl
# hazards.pl: what goes wrong around a call: memory that ends in every phase, real memory that
# ends, parallel workers that are ended, event triggers, foreign tables, prepared
# transactions.  A call then succeeds and keeps its promise, or fails with a designed error
# and leaves nothing; the server goes on.  Against the server that PGHOST and so on point at.
use strict;
use warnings;
use DBI;
use Test::More;

my %designed = map { $_ => 1 } qw(23000 23514 40001 42P01 42703 42P07 53200 54000 55000 57014 57P01 08006 0A000 P0001 22023 55006 25001 42501 42704);
my $sanitized = $ENV{SANITIZE};

sub connected
{
	my $dbh;
	for (1 .. 240)
	{
		$dbh = DBI->connect('dbi:Pg:', '', '', { AutoCommit => 1, PrintError => 0, PrintWarn => 0, RaiseError => 0, pg_server_prepare => 0 });
		last if $dbh;
		select undef, undef, undef, 0.5;
	}
	$dbh or BAIL_OUT("no connection: $DBI::errstr");
	$dbh->do('SET client_min_messages = error');
	$dbh->do("SET statement_timeout = '120s'");
	return $dbh;
}

my $dbh = connected();
sub must { my ($sql) = @_; $dbh->do($sql) // BAIL_OUT("$sql: " . $dbh->errstr); return }
sub value { my ($sql) = @_; my ($value) = $dbh->selectrow_array($sql); return $value }

# The SQLSTATE of a statement, '' where it went well, 'lost' where the connection is gone.
sub state_of
{
	my ($sql) = @_;
	my $ok = $dbh->do($sql);
	my $state = $ok ? '' : $dbh->state;
	if (!$dbh->ping) { $dbh = connected(); return 'lost' }
	return $state;
}

sub fine { my ($state) = @_; return $state eq '' || $designed{$state} }

must('CREATE EXTENSION IF NOT EXISTS kanon');
must('DROP SCHEMA IF EXISTS hazards CASCADE; CREATE SCHEMA hazards; SET search_path = hazards, public');
must(q{CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 60 AS age, 'z' || i * 11 % 40 AS zip, i * 13 % 5 AS class, 'd' || i * 17 % 9 AS ill
	FROM generate_series(1, 1500) i});
must(q{CREATE TABLE zips AS SELECT DISTINCT zip AS value, left(zip, 2) AS level1 FROM people});
my $qis = q('{age,zip,class}');
my %call = (
	greedy => "kanon_pattern_guided('people', 't', $qis, 5, keep => '{ill}', replace => true)",
	hierarchy => qq(kanon_pattern_guided('people', 't', $qis, 5, keep => '{ill}', hierarchies => '{"zip": "zips"}', replace => true)),
	privacy => "kanon_pattern_guided('people', 't', $qis, 5, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2), kanon_t_closeness('ill', 0.5, 'equal')], replace => true)",
	ilp => "kanon_pattern_guided('people', 't', $qis, 5, method => 'ilp', time_limit => '1 s', replace => true)",
	improve => "kanon_pattern_guided('people', 't', $qis, 5, method => 'improve', effort => 0.01, time_limit => '1 s', replace => true)",
	full_domain => qq(kanon_full_domain('people', 't', $qis, 5, hierarchies => '{"zip": "zips"}', keep => '{ill}', suppression_limit => 0.5, replace => true)),
	(map { $_ => "kanon_cluster('people', 't', $qis, 5, method => '$_', keep => '{ill}', replace => true)" } qw(mondrian mondrian_relaxed forest bottom_up top_down gather)),
	pairs => "kanon_cluster('people', 't', $qis, 2, method => 'pairs', keep => '{ill}', time_limit => '5 s', replace => true)",
	triples => "kanon_cluster('people', 't', $qis, 3, method => 'triples', keep => '{ill}', time_limit => '5 s', replace => true)",
	freeform => "kanon_freeform('people', 't', $qis, 5, method => 'greedy', keep => '{ill}', partition_size => 100, replace => true)",
	risk => "kanon_risk('people', $qis, '{ill}')",
	columns => "kanon_risk_columns('people', $qis)",
	explain => "kanon_explain('people', $qis, 5)",
	frontier => "kanon_frontier('people', $qis, '{2,5,10}')");

# What a release must show, by plain SQL: classes of 5 (2, 3), rows all there.
sub kept
{
	my ($name) = @_;
	return 1 if $name =~ /^(freeform|risk|columns|explain|frontier)$/;
	my $k = $name eq 'pairs' ? 2 : $name eq 'triples' ? 3 : 5;
	return value("SELECT bool_and(n >= $k OR age IS NULL AND zip IS NULL AND class IS NULL) FROM (SELECT age, zip, class, count(*) AS n FROM t GROUP BY 1, 2, 3) g")
		&& value('SELECT count(*) FROM t') == 1500;
}

# ---- kanon's own memory ends: at every size from too little to enough ----

for my $name (sort keys %call)
{
	my (%seen, $broken, $done);
	for (my $kb = 64; $kb < 200000 && !$done; $kb = int($kb * 1.25))
	{
		$dbh->do("SET kanon.max_memory = '${kb}kB'") or next;
		$dbh->do('DROP TABLE IF EXISTS t');
		my $state = state_of("SELECT count(*) FROM $call{$name}");
		$dbh->do('SET search_path = hazards, public') if $state eq 'lost';
		$seen{$state}++;
		$broken //= "at $kb kB: $state" if $state eq 'lost' || !fine($state);
		$broken //= "at $kb kB: a promise" if $state eq '' && !kept($name);
		$broken //= "at $kb kB: something left" if $state ne '' && value("SELECT to_regclass('t')");
		$done = ($state eq '' && $seen{''} > 2);
	}
	is($broken, undef, "$name: kanon.max_memory from 64 kB on (" . join(', ', map { ($_ || 'ok') . " $seen{$_}" } sort keys %seen) . ')');
}
must('RESET kanon.max_memory');

# ---- the system's memory ends: a limit of the backend's address space ----

SKIP: {
	skip 'the sanitizer needs all of the address space', 1 if $sanitized;
	my @as_server = $< == 0 ? qw(runuser -u postgres --) : ();    # root's servers run as postgres
	skip 'no prlimit', 1 if system('command -v prlimit >/dev/null') != 0;
	for my $name (sort keys %call)
	{
		my (%seen, $broken);
		for my $mb (1, 2, 4, 8, 12, 16, 24, 32, 64)
		{
			$dbh = connected();
			$dbh->do('SET search_path = hazards, public');
			state_of("SELECT count(*) FROM kanon_check('people', $qis)");
			my $pid = $dbh->{pg_pid};
			open my $status, '<', "/proc/$pid/status" or next;
			my ($size) = map { /^VmSize:\s+(\d+)/ ? $1 : () } <$status>;
			close $status;
			system(@as_server, 'prlimit', "--pid=$pid", '--as=' . ($size + $mb * 1024) * 1024 . ':') == 0 or BAIL_OUT('prlimit fails');
			my $state = state_of("SELECT count(*) FROM $call{$name}");
			$dbh->do('SET search_path = hazards, public');
			$seen{$state}++;
			$broken //= "with $mb MB: $state" if $state eq 'lost' || !fine($state);
			$broken //= "with $mb MB: a promise" if $state eq '' && !kept($name);
		}
		is($broken, undef, "$name: address space that ends (" . join(', ', map { ($_ || 'ok') . " $seen{$_}" } sort keys %seen) . ')');
	}
	$dbh = connected();
	must('SET search_path = hazards, public');
}

# ---- parallel workers that are ended ----

{
	my %workers = (
		freeform => "kanon_freeform('many', 't', $qis, 5, method => 'sort_greedy', partition_size => 100, replace => true)",
		full_domain => qq(kanon_full_domain('many', 't', $qis, 5, hierarchies => '{"zip": "zips"}', algorithm => 'speedy', workers => 2, replace => true)),
		frontier => "kanon_frontier('many', $qis, '{2,3,4,5,6,7,8,9,10}', method => 'improve', time_limit => '2 s')");
	must('CREATE TABLE many AS SELECT p.* FROM people p CROSS JOIN generate_series(1, 4)');
	$workers{full_domain} =~ s/algorithm/method/ if !value("SELECT 'algorithm' = ANY (proargnames) FROM pg_proc WHERE proname = 'kanon_full_domain'");
	must('SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0');
	for my $name (sort keys %workers)
	{
		my (%seen, $broken);
		my $ended = 0;
		for my $try (1 .. 6)
		{
			my $pid = fork;
			if ($pid == 0)
			{
				$dbh->{InactiveDestroy} = 1;
				my $own = connected();
				my $n = 0;
				for (1 .. 60)
				{
					$n += $own->selectrow_array("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'parallel worker'");
					select undef, undef, undef, 0.01 * $try;
				}
				$own->disconnect;
				require POSIX;
				POSIX::_exit($n > 0 ? 1 : 0);
			}
			my $state = state_of("SELECT count(*) FROM $workers{$name}");
			waitpid $pid, 0;
			$ended += $? >> 8;
			$dbh->do('SET search_path = hazards, public') if $state eq 'lost';
			$seen{$state}++;
			$broken //= $state if $state eq 'lost' || !fine($state);
		}
		is($broken, undef, "$name: workers ended in $ended of 6 runs (" . join(', ', map { ($_ || 'ok') . " $seen{$_}" } sort keys %seen) . ')');
	}
	must('RESET ALL');
	must(q{SET client_min_messages = error; SET statement_timeout = '120s'; SET search_path = hazards, public});
}

# ---- event triggers that fail, look, change and drop ----

{
	my %does = (
		fails  => q(RAISE EXCEPTION 'no'),
		cancels => q(RAISE EXCEPTION USING ERRCODE = 'query_canceled', MESSAGE = 'no'),
		looks  => qq(PERFORM * FROM kanon_check('people', $qis)),
		drops  => q(DROP TABLE IF EXISTS t),
		alters => q(ALTER TABLE people ALTER zip TYPE varchar(20)),
		fills  => q(BEGIN INSERT INTO t SELECT 1, 'x', 1; EXCEPTION WHEN OTHERS THEN END),
		empties => q(BEGIN EXECUTE 'UPDATE t SET age = 1'; EXCEPTION WHEN OTHERS THEN END));
	for my $event (qw(ddl_command_start ddl_command_end sql_drop table_rewrite))
	{
		for my $what (sort keys %does)
		{
			must('DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS people CASCADE');
			must(q{CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 60 AS age, 'z' || i * 11 % 40 AS zip, i * 13 % 5 AS class, 'd' || i * 17 % 9 AS ill FROM generate_series(1, 1500) i});
			must("CREATE OR REPLACE FUNCTION event() RETURNS event_trigger LANGUAGE plpgsql AS \$f\$ BEGIN IF pg_trigger_depth() < 2 AND coalesce(current_setting('hazards.off', true), '') = '' THEN PERFORM set_config('hazards.off', 'on', false); $does{$what}; PERFORM set_config('hazards.off', '', false); END IF; END \$f\$");
			must("SET hazards.off = ''");
			must("CREATE EVENT TRIGGER hazard ON $event EXECUTE FUNCTION event()");
			my @states;
			for my $name (qw(greedy greedy freeform))
			{
				push @states, state_of("SELECT count(*) FROM $call{$name}");
				$dbh->do("SET hazards.off = ''");
			}
			push @states, state_of("SELECT kanon_create_publication('pub', 'people', $qis, 5)");
			$dbh->do("SET hazards.off = ''");
			push @states, state_of("SELECT count(*) FROM kanon_refresh('pub')");
			$dbh->do(q(SET hazards.off = 'on'));
			must('DROP EVENT TRIGGER IF EXISTS hazard');
			$dbh->do("SELECT kanon_drop_publication('pub')");
			ok(!(grep { $_ eq 'lost' || !fine($_) } @states), "event trigger that $what at $event (" . join(', ', map { $_ || 'ok' } @states) . ')');
			$dbh->do('SET search_path = hazards, public');
		}
	}
}

# ---- foreign tables ----

SKIP: {
	my $host = value('SHOW unix_socket_directories');
	$dbh->do('CREATE EXTENSION IF NOT EXISTS postgres_fdw') or skip 'no postgres_fdw', 1;
	must('CREATE SERVER IF NOT EXISTS here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host \'localhost\', port \'' . value('SHOW port') . "', dbname '" . value('SELECT current_database()') . "')");
	must("CREATE USER MAPPING IF NOT EXISTS FOR CURRENT_USER SERVER here OPTIONS (user '" . value('SELECT current_user') . "', password '" . ($ENV{PGPASSWORD} // '') . "')");
	must('DROP TABLE IF EXISTS t');
	must(q{CREATE FOREIGN TABLE far (age int, zip text, class int, ill text) SERVER here OPTIONS (schema_name 'hazards', table_name 'people')});
	must(q{CREATE FOREIGN TABLE far_zips (value text, level1 text) SERVER here OPTIONS (schema_name 'hazards', table_name 'zips')});
	must(q{CREATE FOREIGN TABLE wrong (age text, zip int, class int, ill text) SERVER here OPTIONS (schema_name 'hazards', table_name 'people')});
	must(q{CREATE FOREIGN TABLE gone (age int, zip text, class int, ill text) SERVER here OPTIONS (schema_name 'hazards', table_name 'nowhere')});
	$designed{$_} = 1 for qw(22P02 HV000 HV00B 42P01);
	for my $name (qw(hierarchy privacy full_domain mondrian freeform risk columns explain))
	{
		(my $far = $call{$name}) =~ s/'people'/'far'/;
		$far =~ s/"zips"/"far_zips"/;
		my $state = state_of("SELECT count(*) FROM $far");
		ok($state eq '' && kept($name), "$name of a foreign table ($state)");
		for my $table (qw(wrong gone))
		{
			(my $bad = $call{$name}) =~ s/'people'/'$table'/;
			$state = state_of("SELECT count(*) FROM $bad");
			ok($state ne '' && $state ne 'lost' && fine($state), "$name of a foreign table that is $table ($state)");
		}
	}
}

# ---- prepared transactions ----

SKIP: {
	skip 'max_prepared_transactions is 0', 1 if !value("SELECT current_setting('max_prepared_transactions')::int > 0");
	for my $end ('COMMIT', 'ROLLBACK')
	{
		for my $name (qw(greedy full_domain freeform))
		{
			must('DROP TABLE IF EXISTS t');
			must('BEGIN');
			my $state = state_of("SELECT count(*) FROM $call{$name}");
			my $prepared = state_of("PREPARE TRANSACTION 'hazard'");
			$dbh->do('ROLLBACK') if $prepared ne '';
			my $ended = $prepared eq '' ? state_of("$end PREPARED 'hazard'") : '';
			ok($state eq '' && fine($prepared) && $ended eq '' && ($end eq 'ROLLBACK' || $prepared ne '' || kept($name))
				&& ($end eq 'COMMIT' || !value("SELECT to_regclass('t')")), "$name, prepared, $end ($state $prepared $ended)");
		}
		must('BEGIN');
		my $state = state_of("SELECT kanon_create_publication('pub', 'people', $qis, 5)");
		my $prepared = state_of("PREPARE TRANSACTION 'hazard'");
		$dbh->do('ROLLBACK') if $prepared ne '';
		my $ended = $prepared eq '' ? state_of("$end PREPARED 'hazard'") : '';
		my $refreshed = state_of(q{SELECT count(*) FROM kanon_refresh('pub')});
		ok(fine($state) && fine($prepared) && $ended eq '' && ($refreshed eq '' || $refreshed eq '42704'), "a publication, prepared, $end ($state $prepared $ended $refreshed)");
		$dbh->do("SELECT kanon_drop_publication('pub')");
	}
}

$dbh->do('DROP SCHEMA hazards CASCADE');
done_testing();
