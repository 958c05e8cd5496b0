#!/usr/bin/perl
# hostile.pl: two roles and a superuser against each other, by generated steps, against the
# server that PGHOST and so on point at.  The roles publish, replace what records and definitions
# name by traps, rename, lock, grant, put policies on, edit definitions and histories, and fill their schemas,
# which others have in their search_path, with operators, functions and types; the superuser, too, hands
# tables from one to the other.  All of them refresh, alter, drop, ask for pages and lists, check, attack and pay.  Some
# traps are set while others ask: in a transaction that stays open, or in the middle of the call.
#
#   dev/with-server test/fuzz/hostile.pl --steps 2000 --seed 1
#
# Three invariants, and that nothing crashes or ends in an internal error:
# no code of a role runs as another (all say kanon.read_strangers = off), no role is told
# what it may not read, and nobody's own run, page or list is stopped for more than a second.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use DBI;
use DBD::Pg ':async';
use Getopt::Long;
use Time::HiRes qw(time);
use Fuzz::Random;

my %option = (seed => 1, steps => 2000, seconds => 0, failures => 3);
GetOptions(\%option, qw(seed=i steps=i seconds=i failures=i verbose)) or die "usage: hostile.pl [--seed N] [--steps N | --seconds N] [--verbose]\n";
$| = 1;
srand $option{seed};

my @roles = qw(alice mallory);
my %other = (alice => 'mallory', mallory => 'alice');
# of all that can go wrong, what is no fault: an internal error, a crash and what is not known are
my $fault = qr/^(XX|58|08|P0|22P04|26000|42601)/;
# a second, and what a busy machine takes for the rest
use constant STOPPED => 3;

my (%dbh, %holder, @done, @said, $failures, %states, %count);
$SIG{__WARN__} = sub { push @said, $_[0] };

sub connected
{
	my ($role) = @_;
	my $dbh = DBI->connect('dbi:Pg:dbname=hostile', $role, '', { AutoCommit => 1, PrintError => 0, RaiseError => 0, PrintWarn => 1, pg_server_prepare => 0 })
	  or die "no connection as $role: $DBI::errstr\n";
	$dbh->do("SET statement_timeout = '20s'; SET kanon.read_strangers = off; SET constraint_exclusion = on");
	return $dbh;
}

my $first = DBI->connect('dbi:Pg:dbname=postgres', 'postgres', '', { AutoCommit => 1, RaiseError => 1, PrintWarn => 0 });
$first->do($_) foreach 'DROP DATABASE IF EXISTS hostile', map({ ("DROP ROLE IF EXISTS $_", "CREATE ROLE $_ LOGIN PASSWORD '$ENV{PGPASSWORD}'") } @roles), 'CREATE DATABASE hostile';
my $setup = DBI->connect('dbi:Pg:dbname=hostile', 'postgres', '', { AutoCommit => 1, RaiseError => 1, PrintWarn => 0 });
$setup->do('CREATE SCHEMA kanon; CREATE EXTENSION kanon SCHEMA kanon; GRANT USAGE ON SCHEMA kanon TO PUBLIC');
foreach my $role (@roles)
{
	$setup->do("CREATE SCHEMA $role AUTHORIZATION $role; GRANT USAGE ON SCHEMA $role TO PUBLIC");
	# (what it does itself means the same in everybody's search_path)
	foreach my $form ("trap() RETURNS bool", "folded(int) RETURNS bool IMMUTABLE")
	{
		$setup->do("SET ROLE $role; CREATE FUNCTION $role.$form LANGUAGE plpgsql COST 0.0001 AS \$\$ BEGIN IF current_user OPERATOR(pg_catalog.<>) '$role'::pg_catalog.name THEN RAISE WARNING 'sprung: code of $role as %', current_user; END IF; RETURN true; END \$\$; RESET ROLE");
	}
	# what fits kanon's queries better than pg_catalog's, or comes before it in a search_path
	$setup->do("SET ROLE $role; CREATE FUNCTION $role.planted(anyelement, anyelement) RETURNS bool LANGUAGE sql AS \$\$ SELECT $role.trap() \$\$;"
		  . join('', map { "CREATE FUNCTION $role.planted($_) RETURNS bool LANGUAGE sql AS \$\$ SELECT $role.trap() \$\$;" } 'int, bigint', 'bigint, int', 'name, text', 'text, name', '"char", text', 'oid, regclass')
		  . join('', map { my $o = $_; map { "CREATE OPERATOR $role.$o (PROCEDURE = $role.planted, LEFTARG = $_->[0], RIGHTARG = $_->[1]);" } [ 'anyelement', 'anyelement' ], [ 'int', 'bigint' ], [ 'bigint', 'int' ], [ 'name', 'text' ], [ 'text', 'name' ], [ '"char"', 'text' ], [ 'oid', 'regclass' ] } '=', '<>', '<', '>', '<=', '>=')
		  . join('', map { "CREATE FUNCTION $role.$_ LANGUAGE plpgsql AS \$\$ BEGIN PERFORM $role.trap(); RETURN NULL; END \$\$;" } 'sum(int) RETURNS bigint', 'format(text, name) RETURNS text', 'concat(text) RETURNS text', 'quote_ident(name) RETURNS text', 'pg_get_userbyid(bigint) RETURNS name')
		  . "CREATE DOMAIN $role.text AS pg_catalog.text CHECK ($role.trap()); CREATE DOMAIN $role.jsonb AS pg_catalog.jsonb CHECK ($role.trap()); CREATE DOMAIN $role.word AS pg_catalog.int4; RESET ROLE");
	# by whom nobody is granted anything
	$setup->do("SET ROLE $role; CREATE TABLE $role.secret AS SELECT 'SECRET-OF-$role'::text AS note, i % 5 AS a, i % 3 AS b, i AS id FROM generate_series(1, 60) i; RESET ROLE");
}

my @tables = qw(src pop levels t1 t2 t3);
sub plain
{
	my ($role, $name) = @_;
	return "CREATE TABLE $role.levels AS SELECT i AS a, i / 2 AS level1 FROM generate_series(0, 4) i" if $name eq 'levels';
	return "CREATE TABLE $role.$name AS SELECT i AS id, i % 5 AS a, i % 3 AS b, 's' || i % 7 AS s, 'SECRET-OF-$role'::text AS note FROM generate_series(1, 60) i";
}
my %traps = (
	view => 'ALTER TABLE %1$s RENAME TO %2$s_was; CREATE VIEW %1$s AS SELECT * FROM %3$s.%2$s_was WHERE %3$s.trap()',
	rule => 'CREATE TABLE %3$s.%2$s_was AS TABLE %1$s; TRUNCATE %1$s; CREATE RULE "_RETURN" AS ON SELECT TO %1$s DO INSTEAD SELECT * FROM %3$s.%2$s_was WHERE %3$s.trap()',
	policy => 'ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON %1$s USING (%3$s.trap())',
	index => 'CREATE INDEX ON %1$s ((1)) WHERE %3$s.folded(1)',
	expression => 'CREATE INDEX ON %1$s ((%3$s.folded(2)))',
	domain => 'CREATE INDEX ON %1$s ((1::%3$s.word)); ALTER DOMAIN %3$s.word DROP CONSTRAINT IF EXISTS c; ALTER DOMAIN %3$s.word ADD CONSTRAINT c CHECK (%3$s.folded(6)) NOT VALID',
	cast_view => 'ALTER TABLE %1$s RENAME TO %2$s_was; CREATE VIEW %1$s AS SELECT * FROM %3$s.%2$s_was WHERE id::%3$s.word > 0',
	forced => 'ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; DROP POLICY IF EXISTS q ON %1$s; CREATE POLICY q ON %1$s TO PUBLIC USING (%3$s.trap()) WITH CHECK (%3$s.trap())',
	check => 'ALTER TABLE %1$s ADD CHECK (%3$s.folded(4))',
	statistics => 'CREATE STATISTICS %3$s.%2$s_stats ON (%3$s.folded(3)), a FROM %1$s',
	child => 'CREATE TABLE %3$s.%2$s_child () INHERITS (%1$s); CREATE INDEX ON %3$s.%2$s_child ((1)) WHERE %3$s.folded(5)',
	trigger => 'CREATE FUNCTION %3$s.act() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM %3$s.trap(); RETURN NEW; END $f$; CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON %1$s FOR EACH ROW EXECUTE FUNCTION %3$s.act()',
	default => 'ALTER TABLE %1$s ADD extra bool DEFAULT %3$s.trap()');

# What is there of a role's, publications' own tables too.
sub there
{
	my ($role, $like) = @_;
	my $names = $setup->selectcol_arrayref("SELECT format('%I.%I', n.nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname = ? AND relkind IN ('r', 'v') AND relname ~ ? ORDER BY relname", undef, $role, $like // '.');
	return @$names ? pick(@$names) : "$role.src";
}

sub name_of { my ($role) = @_; return chance(0.7) ? "$role." . pick(@tables) : there($role) }

# A call that publishes, of a role's own relations and, now and then, the other's population or hierarchy.
sub publication
{
	my ($role) = @_;
	my ($source, $target) = (chance(0.85) ? "$role.src" : name_of(pick(@roles)), "$role." . pick('t1', 't2', 't3'));
	my $of = chance(0.5) ? $role : $other{$role};
	my $levels = chance(0.4) ? qq(, hierarchies => '{"a": "$of.levels"}') : '';
	return "SELECT count(*) FROM kanon.kanon_cluster('$source', '$target', '{a,b}', 3, privacy => ARRAY[kanon.kanon_k_map('$of.pop')], replace => true)" if chance(0.25);
	return "SELECT count(*) FROM kanon.kanon_pattern_guided('$source', '$target', '{a,b}', 3, keep => '{s}', replace => true$levels)" if chance(0.4);
	return "SELECT count(*) FROM kanon.kanon_full_domain('$source', '$target', '{a,b}', 3, replace => true$levels)" if chance(0.5);
	return "SELECT count(*) FROM kanon.kanon_freeform('$source', '$target', '{a,b}', 3, replace => true)" if chance(0.5);
	return "SELECT count(*) FROM kanon.kanon_anatomy('$source', '$target', '$role.t3', '{a,b}', 's', 2, replace => true)";
}

sub definition_edit
{
	my ($role) = @_;
	my $definition = there($role, '_publication$');
	my $named = literal(chance(0.5) ? there($other{$role}) : there($role)) . '::regclass';
	my $set = pick("published = $named", "source = $named", "history = $named", 'k = ' . pick(-1, 0, 2, 3, 70), "key = " . literal(pick('id', 'note', 'a')), "model = " . literal(pick('full_domain', 'cluster', 'pattern_guided', 'nothing')),
		"quasi_identifiers = '" . pick('{a}', '{a,b}', '{note}', '{}') . "'", qq(options = '{"keep": ["note"], "allow_identifying": ["note"]}'), qq(options = '{"hierarchies": {"a": "$other{$role}.levels"}}'),
		qq(options = '{"privacy": [{"rule": "k_map", "population": "$other{$role}.pop"}]}'), "relations = ARRAY[$named]", "name = " . literal("$other{$role}.p1"), 'keep_releases = ' . pick(-3, 1, 5), 'stable = NOT stable');
	return "UPDATE $definition SET $set";
}

sub history_edit
{
	my ($role) = @_;
	my $history = there($role, '_history$');
	my $named = literal(chance(0.6) ? there($other{$role}) : there($role)) . '::regclass';
	return "UPDATE $history SET " . pick("relation = $named", "persons = $named", "types = $named", "status = 'kept'", "status = 'current'", 'release = release + 1', "error = 'x'");
}

sub page
{
	my @options = grep { chance(0.4) } "frontier => '{2,5}'", 'compare => true', 'read_target => true', 'read_population => true', 'with_values => true';
	return 'SELECT kanon.' . pick('kanon_report', 'kanon_report_data') . '(' . join(', ', 'run', @options) . ') FROM (SELECT run FROM kanon.kanon_usefulness ORDER BY random() LIMIT 1) r';
}

sub list
{
	return 'SELECT l::pg_catalog.text FROM kanon.' . pick(qw(kanon_usefulness kanon_columns kanon_equivalence_classes kanon_run_relations kanon_class_sizes kanon_run_risk kanon_publications kanon_releases kanon_progress kanon_budget kanon_budget_answers kanon_publication_status())) . ' AS l LIMIT 200';
}

# A step: who, the statement, and whether somebody else's lock may not stop it.
sub step
{
	my $role = pick(@roles);
	my $p = "$role." . pick('p1', 'p2');
	my $any = pick(@roles) . '.' . pick('p1', 'p2');
	my $who = chance(0.3) ? 'postgres' : $role;
	my $table = name_of($role);
	my $bare = $table =~ s/.*\.//r;

	return @{ pick(
		([ $role, publication($role), 0 ]) x 4,
		[ $role, "SELECT kanon.kanon_create_publication('$p', '$role.src', '{a,b}', 3, options => '" . pick('{"keep": ["s"]}', '{}', qq({"hierarchies": {"a": "$other{$role}.levels"}})) . "'" . pick('', ", key => 'id', keep_releases => 3", ', stable => true') . ')', 0 ],
		([ $who, "SELECT r::pg_catalog.text FROM kanon.kanon_refresh('" . ($who eq 'postgres' ? $any : $p) . "') AS r", 0 ]) x 2,
		[ $who, 'CALL kanon.kanon_refresh_all()', 0 ],
		[ $who, "SELECT kanon.kanon_alter_publication('$p', k => " . pick(2, 3, 5) . ')', 0 ],
		[ chance(0.2) ? 'postgres' : $role, "SELECT kanon.kanon_drop_publication('" . (chance(0.3) ? $any : $p) . "')", 0 ],
		([ $who, page(), 1 ]) x 5,
		([ $who, list(), 1 ]) x 4,
		[ $who, "SELECT c::pg_catalog.text FROM kanon.kanon_compare_releases('" . ($who eq 'postgres' ? $any : $p) . "', 1, 2) AS c", 0 ],
		[ $who, "SELECT s::pg_catalog.text FROM kanon.kanon_publication_status('$any') AS s", 0 ],
		([ $role, sprintf($traps{ pick(sort keys %traps) }, $table, $bare, $role), 0 ]) x 3,
		# and a plain one again
		([ $role, "DO \$\$ BEGIN " . join(' ', map { "BEGIN DROP $_ $table CASCADE; EXCEPTION WHEN others THEN NULL; END;" } 'TABLE', 'VIEW') . " END \$\$; " . plain($role, $bare), 0 ]) x 5,
		[ $role, "DROP TABLE IF EXISTS $role.${bare}_was, $role.${bare}_child CASCADE", 0 ],
		[ $role, "ALTER TABLE $table RENAME TO ${bare}_was", 0 ],
		[ $role, "ALTER TABLE $role.${bare}_was RENAME TO $bare", 0 ],
		[ 'postgres', "ALTER TABLE " . there($role) . " OWNER TO $other{$role}", 0 ],
		[ 'postgres', 'ALTER TABLE ' . there($role) . " OWNER TO $role", 0 ],
		[ 'postgres', "ALTER TABLE " . there($role) . " SET SCHEMA $other{$role}", 0 ],
		[ $role, 'GRANT SELECT ON ' . pick("$role.pop", "$role.levels") . " TO $other{$role}", 0 ],
		[ $role, 'REVOKE SELECT ON ' . pick("$role.pop", "$role.levels") . " FROM $other{$role}", 0 ],
		([ $role, definition_edit($role), 0 ]) x 2,
		[ $role, history_edit($role), 0 ],
		[ $role, "CREATE TABLE $role.fake (name pg_catalog.text, published regclass, source regclass, history regclass, model pg_catalog.text, quasi_identifiers name[], k bigint, options kanon.kanon_options, keep_releases int, stable boolean, protect_successive boolean, key pg_catalog.text); "
			. "INSERT INTO $role.fake VALUES ('$other{$role}.p1', to_regclass('$other{$role}.p1'), to_regclass('$other{$role}.src'), to_regclass('$other{$role}.p1_history'), 'pattern_guided', '{a,b}', 2, '{}', 1, false, false, NULL)", 0 ],
		[ $role, "DROP TABLE IF EXISTS $role.fake", 0 ],
		[ $role, 'SELECT n::pg_catalog.text FROM kanon.' . pick("kanon_check('" . name_of($other{$role}) . "', '{a,b}') AS n", "kanon_risk('" . name_of($other{$role}) . "', '{a,b}') AS n", "kanon_suggest('" . name_of($other{$role}) . "') AS n"), 0 ],
		[ 'postgres', 'SELECT n::pg_catalog.text FROM kanon.' . pick("kanon_check('" . name_of($role) . "', '{a,b}') AS n", "kanon_frontier('" . name_of($role) . "', '{a,b}', '{2,3}') AS n", "kanon_suggest('" . name_of($role) . "') AS n", "kanon_compare('$role.src', '$role.t1', '{a,b}') AS n"), 0 ],
		[ $role, pick("ALTER TABLE $table DISABLE ROW LEVEL SECURITY", "ALTER TABLE $table NO FORCE ROW LEVEL SECURITY", "DROP POLICY IF EXISTS p ON $table", "CREATE POLICY r ON $table TO $other{$role} USING (true)"), 0 ],
		[ $role, 'GRANT ' . pick('INSERT, UPDATE, DELETE', 'TRUNCATE, REFERENCES', 'ALL') . " ON $role.levels TO " . pick($other{$role}, 'PUBLIC'), 0 ],
		[ $role, "REVOKE ALL ON $role.levels FROM PUBLIC, $other{$role}", 0 ],
		[ $role, "ALTER DEFAULT PRIVILEGES IN SCHEMA $role " . pick("GRANT INSERT, UPDATE ON TABLES TO $other{$role}", "REVOKE ALL ON TABLES FROM $other{$role}"), 0 ],
		([ pick(@roles, 'postgres'), 'SET search_path = ' . pick("$role, pg_catalog", "$role, public", "$other{$role}, $role, pg_catalog, public", '"$user", public'), 0 ]) x 2,
		[ $who, "SELECT a::pg_catalog.text FROM kanon.kanon_attack('$role.src', '" . name_of($role) . "', 'id', '{a,b}') AS a", 0 ],
		[ $role, pick("SELECT kanon.kanon_set_budget('$role.pop', 1000, role => '$other{$role}')", "SELECT d::pg_catalog.text FROM kanon.kanon_dp('" . name_of(pick(@roles)) . "', 'count', 0.1) AS d"), 0 ],
		[ $who, 'SELECT kanon.' . pick("kanon_hierarchy_interval('" . name_of($other{$role}) . "', 'a', '$role.levels', '{2}', replace => true)", "kanon_hierarchy_from_fk('$role.src', 'a', '$role.levels', lookup => '" . name_of($other{$role}) . "', key => 'a', parent => 'b', replace => true)"), 0 ],
		([ $role, 'hold ' . sprintf($traps{ pick(sort keys %traps) }, $table, $bare, $role), 0 ]) x 2,
		([ $role, 'race ' . sprintf($traps{ pick(grep { !/child|statistics/ } sort keys %traps) }, $table, $bare, $role), 0 ]) x 3,
		[ $role, "lock $table", 0 ],
		([ $role, 'unlock', 0 ]) x 2) };
}

sub finding
{
	my ($what) = @_;
	$failures++;
	print "\nFOUND (seed $option{seed}, step $count{steps}): $what\n", map { "  $_\n" } @done[ (@done > 40 ? @done - 40 : 0) .. $#done ];
}

# All that a statement gives back, as text.
sub run_statement
{
	my ($role, $sql) = @_;
	my $dbh = $dbh{$role} //= connected($role);
	my $begun = time;
	my $text = '';

	@said = ();
	if ($sql =~ /^SELECT/)
	{
		my $rows = $dbh->selectall_arrayref($sql);
		$text = join "\n", map { join '|', map { $_ // '' } @$_ } @$rows if $rows;
	}
	else
	{
		$dbh->do($sql);
	}
	my $state = $dbh->err ? $dbh->state : '';
	$text .= $dbh->errstr // '' if $state ne '';
	return ($text . join('', @said), $state, time - $begun);
}

# What somebody asks while a trap is set, at whatever moment of it: a page, what a superuser names, a refresh.
sub race
{
	my ($role, $trap) = @_;
	my $asker = chance(0.7) ? 'postgres' : $other{$role};
	my $sql = pick(page(), "SELECT n::pg_catalog.text FROM kanon.kanon_check('" . name_of($role) . "', '{a,b}') AS n", "SELECT r::pg_catalog.text FROM kanon.kanon_refresh('" . ($asker eq 'postgres' ? pick(@roles) : $asker) . "." . pick('p1', 'p2') . "') AS r",
		"SELECT count(*) FROM kanon.kanon_cluster('" . ($asker eq 'postgres' ? "$role.src" : "$asker.src") . "', NULL, '{a,b}', 3, privacy => ARRAY[kanon.kanon_k_map('$role.pop')], dry_run => true)");
	my $dbh = $dbh{$asker} //= connected($asker);
	my $setter = $dbh{"$role again"} //= connected($role);

	@said = ();
	$setter->do("SET lock_timeout = '200ms'");
	my $sth = $dbh->prepare($sql, { pg_async => PG_ASYNC });
	$sth->execute;
	Time::HiRes::sleep(rand() * 0.02);
	# (what it runs itself is no matter)
	{ local $SIG{__WARN__} = sub { }; $setter->do($trap); }
	my $done = $dbh->pg_result;
	my $state = $dbh->err ? $dbh->state : '';
	my $text = join('', $dbh->errstr // '', @said);
	$text .= join "\n", map { join '|', map { $_ // '' } @$_ } @{ $sth->fetchall_arrayref } if $state eq '' && $done;
	return ($asker, $sql, $text, $state);
}

my $end = time + $option{seconds};
while ($option{seconds} ? time < $end : ($count{steps} // 0) < $option{steps})
{
	my ($role, $sql, $free) = step();

	$count{steps}++;
	push @done, "$role: $sql";
	if ($sql =~ /^(un)?lock ?(.*)/)
	{
		my ($un, $table) = ($1, $2);
		if ($holder{$role} && !$holder{$role}{AutoCommit}) { $un && chance(0.5) ? $holder{$role}->commit : $holder{$role}->rollback; }
		next if $un;
		$holder{$role} //= connected($role);
		$holder{$role}->begin_work;
		$holder{$role}->do("SET LOCAL lock_timeout = '100ms'");
		$holder{$role}->do("LOCK TABLE $table IN ACCESS EXCLUSIVE MODE") or $holder{$role}->rollback;
		next;
	}
	if ($sql =~ /^hold (.*)/s)
	{
		$holder{$role}->rollback if $holder{$role} && !$holder{$role}{AutoCommit};
		$holder{$role} //= connected($role);
		$holder{$role}->begin_work;
		$holder{$role}->do("SET LOCAL lock_timeout = '100ms'");
		$holder{$role}->do($1) or $holder{$role}->rollback;
		next;
	}
	if ($sql =~ /^race (.*)/s)
	{
		$_ && !$_->{AutoCommit} && $_->rollback foreach values %holder;
		my ($asker, $asked, $text, $state) = race($role, $1);
		$states{$state}++;
		push @done, "  beside it $asker: $asked";
		finding("$1 in a race with: $asked") if $text =~ /(sprung: code of \w+ as \w+)/;
		finding("SQLSTATE $state, $text: $asked") if $state =~ $fault && $text !~ /sprung/;
		last if ($failures // 0) >= $option{failures};
		next;
	}
	# what may be stopped by a lock is not what is looked at
	if (!$free)
	{
		$_ && !$_->{AutoCommit} && $_->rollback foreach values %holder;
	}
	my ($text, $state, $took) = run_statement($role, $sql);
	my $whom = $role eq 'postgres' ? '' : $other{$role};
	$states{$state}++;
	print "$role $state $sql\n" if $option{verbose};
	finding("$1 in: $sql") if $sql =~ /kanon\.kanon_/ && $text =~ /(sprung: code of \w+ as \w+)/;
	finding("$role is told of $whom: $sql") if $whom ne '' && $text =~ /SECRET-OF-$whom/ && $sql !~ /SECRET-OF|SELECT\b.*\bFROM $whom/ && !may_read($role, $whom, $sql);
	finding("SQLSTATE $state, $text: $sql") if $state =~ $fault && $text !~ /sprung/;
	if (!$dbh{$role}->ping) { finding("the session is gone after: $sql"); delete $dbh{$role}; }
	if ($free && $took > STOPPED)
	{
		my (undef, undef, $again) = run_statement($role, $sql);
		finding(sprintf('%.1f s, and again %.1f s: %s', $took, $again, $sql)) if $again > STOPPED;
	}
	last if ($failures // 0) >= $option{failures};
}

# The superuser hands tables over, and with them what is in them.
sub may_read
{
	my ($role, $whom) = @_;
	return scalar @{ $setup->selectcol_arrayref("SELECT 1 FROM pg_class WHERE relkind IN ('r', 'v') AND relname <> 'secret' AND (relowner = '$role'::regrole AND relnamespace = '$whom'::regnamespace OR relowner = '$whom'::regrole AND relnamespace = '$role'::regnamespace OR relowner = '$role'::regrole AND relname ~ '_was|src|pop|t[123]' AND relnamespace <> '$role'::regnamespace) LIMIT 1") };
}

$_->disconnect foreach grep { $_ } values %dbh, values %holder, $setup, $first;
my $ok = $states{''} // 0;
printf "hostile: %d steps with seed %d, %d went well, %d findings; refused: %s\n", $count{steps}, $option{seed}, $ok, $failures // 0, join(' ', map { "$_=$states{$_}" } grep { $_ ne '' } sort keys %states);
exit(($failures // 0) > 0);
