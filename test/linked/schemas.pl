#!/usr/bin/perl
# schemas.pl [--cases N] [--seed S] [--seconds T] [--tell]: random schemas for what reads and publishes several tables.
#
# Tables have primary keys of one or several columns, deferrable ones, none, or unique indexes that stand in for them (partial,
# of expressions).  They refer to each other, to themselves, in circles, by keys of several columns, NOT VALID, deferrable, also
# to unique columns.  They are partitioned, inherit, are views, have identities, generated and dropped columns, and names
# of 63 bytes with quotes, dots, percent signs, line ends and letters of several bytes; now and then there are 300 of them.
# Options name columns and tables that fit, and some that do not.  Called are kanon_linked, kanon_linked_frontier,
# kanon_check_linked, kanon_create_linked_publication with its refreshes, its alteration and its end, and kanon_hierarchy_from_fk.
# Asserted: an answer, or an error of kanon that is no internal one; the server goes on; what was published has
# all of its tables, and nothing is left of what failed.  Of a case that fails the SQL is left in build/linked/.
use strict;
use warnings;
use utf8;
use DBI;
use FindBin;
use lib "$FindBin::Bin/../oracle/lib";
use Getopt::Long;
use JSON::PP;
use Time::HiRes qw(time);
use Random;

my ($cases, $seed, $seconds, $tell) = (100, 1, undef, 0);
GetOptions('cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds, 'tell' => \$tell) or die "usage: $0 [--cases N] [--seed S] [--seconds T] [--tell]\n";
my $json = JSON::PP->new->canonical;
# (no bytes of UTF-8 twice: the connection takes characters)
binmode STDOUT, ':utf8';
my ($dbh, @log, @failures, %done);

sub connected
{
	for (1 .. 240)
	{
		$dbh = DBI->connect('dbi:Pg:', '', '', { AutoCommit => 1, PrintError => 0, PrintWarn => 0, RaiseError => 0, pg_server_prepare => 0, pg_enable_utf8 => 1 });
		last if $dbh;
		select undef, undef, undef, 0.5;
	}
	$dbh or die "no connection: $DBI::errstr\n";
	$dbh->do("SET client_min_messages = error; SET kanon.progress = off; SET statement_timeout = '100s'; CREATE EXTENSION IF NOT EXISTS kanon");
	return;
}

# The SQLSTATE; of what kanon raised itself, that is, or else with the server's file.
my %kanon = map { s{.*/}{}r => 1 } glob("$FindBin::Bin/../../src/*/*.c $FindBin::Bin/../../src/*.c");
sub state_of
{
	my ($sql) = @_;
	push @log, $sql;
	my $ok = $dbh->do($sql);
	return '' if $ok;
	my ($message, $state) = ($dbh->errstr // '', $dbh->state);
	my $file = $dbh->pg_error_field('source_file') // '';
	if (!$dbh->ping) { connected(); return 'lost: ' . $message }
	print "# $state $file $message\n" if $tell;
	return $kanon{$file =~ s{.*/}{}r} ? $state : "$state in $file: $message";
}
sub must { my ($sql) = @_; my $state = state_of($sql); die "$state in: $sql\n" if $state ne ''; return }
sub value { my ($sql) = @_; push @log, $sql; my ($value) = $dbh->selectrow_array($sql); return $value }
sub name { my ($name) = @_; return '"' . $name =~ s/"/""/gr . '"' }
sub text { my ($text) = @_; return "'" . $text =~ s/'/''/gr . "'" }

# Errors that say what to do; the last guards and what nobody thought of are none.
my %clear = map { $_ => 1 } qw(22023 0A000 42P10 42704 42703 42P07 42P01 42809 42501 23514 23502 23503 23505 55000 54000 54011 42701 42804 42P16 42710 53200 22000);

# ---- names ----

# A case has odd names, and how wild its tables are.
my ($odd, $wild);
sub a_name
{
	my ($plain) = @_;
	return $plain if !$odd;
	my $long = sub { my ($piece, $n) = @_; return substr($plain . '_' . $piece x 63, 0, $n) };
	return pick(
		$plain, uc $plain, $plain . ' of "quotes"', $plain . "'s", "$plain.$plain", "$plain%s%n", "$plain\\n\\", $plain . "\n--", "select $plain", $plain . ';/*',
		$long->('x', 63), $long->('y"', 63), "$plain " . 'ü' x int((62 - length $plain) / 2), "$plain " . '漢' x int((62 - length $plain) / 3), $plain . ' 😀', "${plain}_rows_1", "${plain}_release_1", "kanon_$plain");
}

# ---- schemas ----

my @types = ([ 'int', 'i' ], [ 'bigint', 'i' ], [ 'text', "'k' || i" ], [ 'varchar(9)', "'k' || i" ], [ 'uuid', "md5(i::text)::uuid" ], [ 'numeric', 'i' ], [ 'date', "date '2000-01-01' + i" ], [ 'smallint', 'i' ], [ 'char(5)', "'k' || i" ]);

# A table: its key's columns with their types, further columns, and whom it refers to.
sub a_table
{
	my ($n, $rows, @others) = @_;
	my %t = (name => a_name("t$n"), rows => $rows, columns => [], refers => [], kind => chance($wild / 2) ? pick('partitioned', 'partitioned', 'inherits', 'unlogged') : 'plain');
	my $nkey = chance($wild / 2) ? pick(1, 2, 3) : 1;
	$t{key} = [ map { { name => a_name("k$_"), type => pick(@types) } } 1 .. $nkey ];
	$t{unique} = chance($wild / 2) ? pick('deferrable', 'unique', 'partial', 'expression', 'none') : 'primary';
	$t{unique} = 'primary' if $t{kind} eq 'partitioned';
	$t{identity} = $t{key}[0]{type}[0] eq 'int' && chance(0.3);
	foreach my $c (1 .. 1 + below(3)) { push @{ $t{columns} }, { name => a_name("c$c"), type => pick('int', 'int', 'text', 'dropped', 'generated', 'date') } }
	foreach my $other (@others, chance($wild / 3) ? \%t : ())
	{
		next if @{ $t{refers} } && !chance($wild / 2);
		push @{ $t{refers} }, { to => $other, how => chance($wild) ? pick(' NOT VALID', ' DEFERRABLE INITIALLY DEFERRED', ' ON DELETE CASCADE') : '', columns => [ map { { name => a_name("r$_" . @{ $t{refers} }), type => $other->{key}[$_]{type} } } 0 .. $#{ $other->{key} } ] };
	}
	return \%t;
}

sub made
{
	my ($t) = @_;
	my $table = name('src') . '.' . name($t->{name});
	my (@columns, @names, @values);
	my $expression = sub { my ($type, $i) = @_; return '(' . ($type->[1] =~ s/\bi\b/$i/r) . ')::' . $type->[0] };
	foreach my $key (@{ $t->{key} })
	{
		push @columns, name($key->{name}) . ' ' . $key->{type}[0] . ($t->{identity} && $key == $t->{key}[0] ? ' GENERATED BY DEFAULT AS IDENTITY' : '');
		push @names, name($key->{name});
		push @values, $expression->($key->{type}, 'i');
	}
	foreach my $c (@{ $t->{columns} })
	{
		my $type = $c->{type} eq 'dropped' ? 'int' : $c->{type} eq 'generated' ? 'int GENERATED ALWAYS AS (1) STORED' : $c->{type};
		push @columns, name($c->{name}) . " $type";
		next if $c->{type} eq 'generated';
		push @names, name($c->{name});
		push @values, $type eq 'int' ? 'i % 3' : $type eq 'text' ? "'v' || i % 4" : "date '2020-01-01' + i % 5";
	}
	foreach my $r (@{ $t->{refers} })
	{
		my $n = $r->{to}{rows} || 1;
		my $i = $r->{to} == $t ? "(1 + i % $t->{rows})" : "(1 + i * 7 % $n)";
		foreach my $c (@{ $r->{columns} })
		{
			push @columns, name($c->{name}) . ' ' . $c->{type}[0];
			push @names, name($c->{name});
			push @values, ($t->{nulls} // 0) ? "CASE WHEN i % 5 > 0 THEN " . $expression->($c->{type}, $i) . ' END' : $expression->($c->{type}, $i);
		}
	}
	my $keys = join(', ', map { name($_->{name}) } @{ $t->{key} });
	my $unique = $t->{unique} eq 'primary' ? ", PRIMARY KEY ($keys)" : $t->{unique} eq 'deferrable' ? ", PRIMARY KEY ($keys) DEFERRABLE" : $t->{unique} eq 'unique' ? ", UNIQUE ($keys)" : '';
	my $columns = join(', ', @columns);
	my $head = $t->{kind} eq 'unlogged' ? 'CREATE UNLOGGED TABLE' : 'CREATE TABLE';
	my $first = name($t->{key}[0]{name});
	my @sql;
	if ($t->{kind} eq 'partitioned')
	{
		push @sql, "$head $table ($columns$unique) PARTITION BY HASH ($first)";
		push @sql, "CREATE TABLE src.p$t->{number}_$_ PARTITION OF $table FOR VALUES WITH (MODULUS 2, REMAINDER $_)" foreach 0, 1;
	}
	else { push @sql, "$head $table ($columns$unique)"; }
	push @sql, "CREATE UNIQUE INDEX ON $table ($keys) WHERE " . $first . ' IS NOT NULL' if $t->{unique} eq 'partial';
	push @sql, "CREATE UNIQUE INDEX ON $table ((coalesce($first, $first)))" if $t->{unique} eq 'expression';
	push @sql, "INSERT INTO $table (" . join(', ', @names) . ') SELECT ' . join(', ', @values) . " FROM generate_series(1, $t->{rows}) i";
	push @sql, "CREATE TABLE src.child$t->{number} () INHERITS ($table)", "INSERT INTO src.child$t->{number} SELECT * FROM ONLY $table WHERE false" if $t->{kind} eq 'inherits';
	push @sql, map { "ALTER TABLE $table DROP COLUMN " . name($_->{name}) } grep { $_->{type} eq 'dropped' } @{ $t->{columns} };
	return @sql;
}

# References after all tables are there; those that the server does not take are tried, and left out.
sub refer
{
	my ($t) = @_;
	my $number = 0;
	foreach my $r (@{ $t->{refers} })
	{
		my ($from, $to) = map { name('src') . '.' . name($_->{name}) } $t, $r->{to};
		my $constraint = name(a_name('fk' . $number++));
		my $state = state_of("ALTER TABLE $from ADD CONSTRAINT $constraint FOREIGN KEY (" . join(', ', map { name($_->{name}) } @{ $r->{columns} }) . ") REFERENCES $to (" . join(', ', map { name($_->{name}) } @{ $r->{to}{key} }) . ")$r->{how}");
		$r->{there} = $state eq '';
		$r->{constraint} = $constraint;
		pop @log if $state ne '';
		$done{'references'} += $state eq '';
	}
	return;
}

# ---- options ----

sub a_column { my ($t) = @_; my @there = grep { $_->{type} ne 'dropped' || chance($wild / 3) } @{ $t->{columns} }; return pick(map { $_->{name} } @there ? @there : @{ $t->{columns} }, chance($wild / 3) ? (@{ $t->{key} }, map { @{ $_->{columns} } } @{ $t->{refers} }) : ()) }

sub options
{
	my ($t, $subject, $lookup) = @_;
	my %o;
	my %drawn = map { a_column($t) => 1 } 1 .. 1 + below(2);
	$o{quasi_identifiers} = [ sort keys %drawn ] if !$lookup || chance(0.2);
	my ($kept) = grep { !$drawn{$_} || !$o{quasi_identifiers} || chance($wild / 10) } map { a_column($t) } 1 .. 3;
	$o{keep} = [$kept] if defined $kept && (chance(0.2) || !$o{quasi_identifiers});
	$o{keep} = [ pick('nothing', 'ctid', 'tableoid', '') ] if chance(0.02);
	$o{allow_identifying} = $o{keep} if $o{keep} && chance(0.5);
	$o{max_rows} = 1 + below(3) if !$lookup && !$subject && chance(0.1);
	$o{class_size} = pick(3, 5, 'auto') if $subject && chance(0.1);
	$o{linked} = JSON::PP::false if chance($wild / 10);
	$o{key} = chance(0.8) ? $t->{key}[0]{name} : a_column($t) if $t->{unique} ne 'primary' && chance(0.6) || chance(0.03);
	my ($r) = @{ $t->{refers} } ? pick(@{ $t->{refers} }) : ();
	$o{references} = { $r->{columns}[0]{name} => 'src.' . name($r->{to}{name}) } if $r && (!$r->{there} && chance(0.6) || chance(0.05));
	$o{foreign_key} = $r->{constraint} =~ s/^"|"$//gr =~ s/""/"/gr if $r && $r->{there} && (!$subject || chance($wild / 10)) && chance(0.3);
	$o{referenced} = JSON::PP::true if $lookup && chance(0.2);
	$o{target} = a_name('g' . ($wild ? 1 : $t->{number})) if chance(0.1);
	$o{hierarchies} = { $o{quasi_identifiers}[0] => { interval => [ 2, 4 ] } } if $o{quasi_identifiers} && chance(0.1);
	$o{privacy} = [ { rule => 'distinct_l', column => $o{keep}[0], l => 2 } ] if $o{keep} && chance(0.05);
	$o{pick('no_such', 'quasi_identifiers', 'keep')} = pick(1, 'x', {}, [ [] ], undef) if chance(0.02);
	return \%o;
}

# ---- a case ----

sub one_case
{
	$odd = chance(0.5);
	$wild = pick(0, 0, 0.2, 0.6);
	must('DROP SCHEMA IF EXISTS src, pub, priv, kept CASCADE; CREATE SCHEMA src; CREATE SCHEMA pub; CREATE SCHEMA priv; CREATE SCHEMA kept');
	my $many = chance(0.02);
	my @tables = (a_table(0, 40));
	my $number = 1 + below(4);
	foreach my $n (1 .. $number) { push @tables, a_table($n, pick(0, 1, 20, 80, 80), shuffled(@tables)) }
	# a table that others refer to, and which refers to nobody: a lookup
	my $lookup;
	if (chance(0.5))
	{
		$lookup = a_table(9, 6);
		push @{ $_->{refers} }, { to => $lookup, how => '', columns => [ map { { name => a_name("l$_"), type => $lookup->{key}[$_]{type} } } 0 .. $#{ $lookup->{key} } ] } foreach some(0.6, @tables);
		unshift @tables, $lookup;
	}
	# a circle
	push @{ $tables[0]{refers} }, { to => $tables[-1], how => pick('', ' NOT VALID'), columns => [ map { { name => a_name("z$_"), type => $tables[-1]{key}[$_]{type} } } 0 .. $#{ $tables[-1]{key} } ] } if chance($wild / 4);
	my $at = 0;
	$_->{number} = $at++ foreach @tables;
	$_->{nulls} = chance(0.3) foreach @tables;
	foreach my $t (@tables)
	{
		foreach my $sql (made($t))
		{
			my $state = state_of($sql);
			# (two columns of one name, a key of a generated column: the server takes no such table)
			return if $state ne '';
		}
	}
	refer($_) foreach @tables;
	if ($many) { must("CREATE TABLE src.many$_ (id int PRIMARY KEY, r int REFERENCES src.many" . ($_ > 1 ? $_ - 1 : 1) . ', a int)') foreach 1 .. 300; $done{'300 tables'}++ }
	$done{schemas}++;

	my ($subject) = grep { !defined $lookup || $_ != $lookup } @tables;
	my %referred = map { $_->{to} => 1 } grep { $_->{there} } map { @{ $_->{refers} } } @tables;
	my @named = grep { $_ == $subject || $referred{$_} || @{ $_->{refers} } || chance($wild) } grep { $_ == $subject || chance($wild > 0 ? 0.85 : 0.95) } @tables;
	my %options = map { 'src.' . name($_->{name}) => options($_, $_ == $subject, defined $lookup && $_ == $lookup) } @named;
	$options{"src.many$_"} = { quasi_identifiers => ['a'] } foreach $many ? (1 .. pick(5, 15, 299)) : ();
	my $tables = text($json->encode(\%options));
	my $relation = text('src.' . name($subject->{name}));
	my $known = pick('1', '1', '2', 'all', '1 in all', '2 in all');
	my $k = pick(2, 2, 3, 5);
	my @calls = (
		[ published => "SELECT * FROM kanon_linked($relation, $tables, 'pub', $k, '$known')" ],
		[ replaced => "SELECT * FROM kanon_linked($relation, $tables, 'pub', $k, '$known', replace => true)" ],
		[ checked => "SELECT * FROM kanon_check_linked($relation, $tables, $k, '$known')" ],
		[ frontier => "SELECT * FROM kanon_linked_frontier($relation, $tables, '{2,3}', '{1}')" ],
		[ publication => "SELECT kanon_create_linked_publication('kept', $relation, $tables, $k, '1', private_schema => 'priv', protect_successive => " . (chance(0.5) ? 'true' : 'false') . ')' ],
	);
	my ($t) = pick(@tables);
	push @calls, [ hierarchy => 'SELECT kanon_hierarchy_from_fk(' . text('src.' . name($t->{name})) . ', ' . text($t->{refers}[0]{columns}[0]{name}) . ", 'pub.hierarchy')" ] if @{ $t->{refers} };
	push @calls, [ suggested => 'SELECT * FROM kanon_suggest(' . text('src.' . name($t->{name})) . ')' ];
	foreach my $call (@calls)
	{
		my ($what, $sql) = @$call;
		my $before = value('SELECT count(*) FROM pg_class');
		my $problem = verdict($sql);
		return "$what: $problem" if length $problem > 5;
		$done{ $problem eq '' ? $what : "refused $what" }++;
		return "$what: something is left of what failed" if $problem ne '' && value('SELECT count(*) FROM pg_class') != $before;
		if ($what eq 'published' && $problem eq '')
		{
			my $there = value("SELECT count(*) FROM pg_class WHERE relnamespace = 'pub'::regnamespace AND relkind = 'r'");
			return "$there tables for " . keys %options if $there != keys %options;
		}
		next if $what ne 'publication' || $problem ne '';
		foreach my $next ("SELECT * FROM kanon_refresh('kept')", "SELECT kanon_alter_publication('kept', k => 4)", "SELECT * FROM kanon_publication_status('kept')", "SELECT kanon_report(max(run)) FROM kanon_usefulness")
		{
			$problem = verdict($next);
			return "$what: $problem in $next" if length $problem > 5;
		}
		my ($state) = $dbh->selectrow_array("SELECT error FROM kanon_releases WHERE status = 'failed' AND error !~ '^(22023|23514|23503|23505|55000|0A000)\$' LIMIT 1");
		return "$what: a refresh failed: $state" if defined $state;
		must("SELECT kanon_drop_publication('kept')");
	}
	return;
}

# '' of an answer, a SQLSTATE of a clear error, or a problem.
sub verdict
{
	my ($sql) = @_;
	my $state = state_of($sql);
	return $state if $state eq '' || $clear{$state};
	return "error $state";
}

my $began = time;
mkdir 'build';
mkdir 'build/linked';
connected();
my $case = 0;
while ($case < $cases && (!defined $seconds || time - $began < $seconds))
{
	srand($seed + $case);
	@log = ();
	my $problem = eval { one_case() } // ($@ ? "died: $@" : undef);
	if (defined $problem)
	{
		open(my $file, '>:utf8', 'build/linked/schema' . ($seed + $case) . '.sql') or die $!;
		print $file map({ "$_;\n" } @log), "-- $problem\n";
		push @failures, 'case ' . ($seed + $case) . ": $problem";
		print "not ok: $failures[-1]\n";
	}
	$case++;
}
printf "%d schemas (%s): %d failed\n", $case, join(', ', map { "$done{$_} $_" } sort keys %done), scalar @failures;
printf "# %s\n", @failures ? @failures . " of $case tests failed" : "All $case tests passed";
exit(@failures ? 1 : 0);
