package Draw;

# Tables of a world, and calls over them in which everything that kanon takes is crossed with everything else.

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use lib "$FindBin::Bin/../oracle/lib";
use List::Util qw(max min sum0 uniq);
use Random;
our @EXPORT = qw(world tables draw quoted key json_list);

my %domain = (
	text => [qw(aa ab ba bb ca cb)], int => [ 0 .. 9 ],
	date => [ map { sprintf '2020-%02d-%02d', $_, 3 * $_ } 1 .. 6 ]);
my %sql_type = (text => 'text', int => 'int', date => 'date');

# Hierarchies by type of column: what it is called in the tally, and how it is given.
my %hierarchies = (
	text => [ [ 'labels', 'crossing.labels' ], [ 'labels up to *', 'crossing.stars' ], [ 'prefix', { prefix => [1] } ], [ 'one level of one label', 'crossing.one' ] ],
	int => [ [ 'interval', { interval => [3] } ], [ 'interval', { interval => [ 2, 6 ] } ], [ 'quantile', { quantile => [ 4, 2 ] } ], [ 'ranges', 'crossing.ranges' ], [ 'labels', 'crossing.numbers' ] ],
	date => [ [ 'date', { date => [ 'month', 'year' ] } ], [ 'interval', { interval => [60] } ] ]);

our @relations = (
	'CREATE SCHEMA crossing',
	q(CREATE TABLE crossing.labels AS SELECT v AS value, left(v, 1) AS l1, CASE WHEN v < 'ba' THEN 'low' ELSE 'high' END AS l2 FROM unnest('{aa,ab,ba,bb,ca,cb}'::text[]) v),
	q(CREATE TABLE crossing.stars AS SELECT v AS value, CASE WHEN v < 'c' THEN left(v, 1) ELSE v END AS l1, CASE WHEN v < 'b' THEN 'x' ELSE 'y' END AS l2, '*' AS l3 FROM unnest('{aa,ab,ba,bb,ca,cb}'::text[]) v),
	q(CREATE TABLE crossing.one AS SELECT v AS value, '*' AS l1 FROM unnest('{aa,ab,ba,bb,ca,cb}'::text[]) v),
	q(CREATE TABLE crossing.ranges AS SELECT v AS value, int4range(v - v % 5, v - v % 5 + 5) AS l1 FROM generate_series(0, 9) v),
	q(CREATE TABLE crossing.numbers AS SELECT v AS value, CASE WHEN v % 2 = 0 THEN 'even' ELSE 'odd' END AS l1 FROM generate_series(0, 9) v),
	q(CREATE TABLE crossing.sensitive AS SELECT v AS value, CASE WHEN v < 'r' THEN 'g' ELSE 'h' END AS l1 FROM unnest('{p,q,r,t}'::text[]) v));

our %above = (
	'crossing.labels' => sub { my ($v) = @_; return (substr($v, 0, 1), $v lt 'ba' ? 'low' : 'high'); },
	'crossing.stars' => sub { my ($v) = @_; return ($v lt 'c' ? substr($v, 0, 1) : $v, $v lt 'b' ? 'x' : 'y'); },
	'crossing.one' => sub { return (); },
	'crossing.numbers' => sub { my ($v) = @_; return ($v % 2 ? 'odd' : 'even'); },
	'crossing.ranges' => sub { my ($v) = @_; my $low = $v - $v % 5; return "[$low," . ($low + 5) . ')'; });

sub key { return defined $_[0] ? "=$_[0]" : 'null'; }
sub quoted { my ($text) = @_; return 'NULL' if !defined $text; $text =~ s/'/''/g; return "'$text'"; }
sub json_list { return '{' . join(',', @_) . '}'; }

# ---- tables ----

sub world
{
	my ($number) = @_;
	srand($number);
	my $n = chance(0.75) ? pick(2 .. 8) : chance(0.03) ? pick(0, 1) : 9 + below(16);
	my @nulls = pick([0], [0], [0.25], [ 0, 0.6 ]);
	my %world = (number => $number, n => $n, nulls => 0, columns => [], rows => []);
	my $few = pick(2, 3, 6);

	for my $c (1 .. pick(1, 1, 2, 2, 2, 3))
	{
		my $type = pick(qw(text text int int date));
		my @values = (shuffled(@{ $domain{$type} }))[ 0 .. min($few, scalar @{ $domain{$type} }) - 1 ];
		push @{ $world{columns} }, { name => "q$c", type => $type, values => \@values, domain => $domain{$type}, nulls => pick(@{ $nulls[0] }) };
	}
	my $persons = max(1, int($n * pick(0.4, 0.7, 1)));
	$world{rows} = [ map { row(\%world, $_, $persons) } 1 .. $n ];
	$world{nulls} = max(map { my $c = $_; scalar grep { !defined $_->{q}[$c] } @{ $world{rows} } } 0 .. $#{ $world{columns} }) / max(1, $n);
	# everybody who could be in it
	$world{crowd} = [ (map { { q => [ @{ $_->{q} } ], person => $_->{person} } } @{ $world{rows} }),
		map { my $one = row(\%world, 0, $persons); { q => $one->{q}, person => 1 + below($persons + 6) } } 1 .. below(3 * $n + 2) ];
	# and what is known of their values
	for my $c (0 .. $#{ $world{columns} })
	{
		my %share = map { key($_) => 1 + below(9) } @{ $world{columns}[$c]{domain} }, undef;
		my $sum = sum0(values %share) + pick(0, 0, 5);
		$world{share}[$c] = { map { ($_ => $share{$_} / $sum) } keys %share };
	}
	$world{others} = below(40);
	return \%world;
}

sub row
{
	my ($world, $id, $persons) = @_;
	return { id => $id, q => [ map { chance($_->{nulls}) ? undef : pick(@{ $_->{values} }) } @{ $world->{columns} } ],
		s => chance(0.1) ? undef : pick(qw(p q r t)), u => pick(1, 2, 3), person => 1 + below($persons) };
}

sub values_of
{
	my ($row) = @_;
	return '(' . join(', ', $row->{id}, (map { quoted($_) } @{ $row->{q} }), quoted($row->{s}), $row->{u}, $row->{person}, "'person number $row->{person}'", $row->{u} * 7, $row->{id}, $row->{person}) . ')';
}

sub tables
{
	my ($world) = @_;
	my @columns = @{ $world->{columns} };
	my $list = join(', ', map { "$_->{name} $sql_type{$_->{type}}" } @columns);
	my @steps = ("CREATE TABLE src (id int, $list, s text, u int, person int, m text, cost int, row_key int, person_key int)", "CREATE TABLE crowd ($list, who int)",
		'CREATE TABLE census (column_name text, value text, share float8)');
	push @steps, 'INSERT INTO src VALUES ' . join(', ', map { values_of($_) } @{ $world->{rows} }) if @{ $world->{rows} };
	push @steps, 'INSERT INTO crowd VALUES ' . join(', ', map { '(' . join(', ', (map { quoted($_) } @{ $_->{q} }), $_->{person}) . ')' } @{ $world->{crowd} }) if @{ $world->{crowd} };
	push @steps, 'INSERT INTO census VALUES ' . join(', ', map { my $c = $_;
			map { my $v = $_; "('q" . ($c + 1) . "', " . quoted($v eq 'null' ? undef : substr($v, 1)) . ", $world->{share}[$c]{$v})" } sort keys %{ $world->{share}[$c] } } 0 .. $#columns);
	return @steps;
}

# ---- calls ----

our %methods = (
	pattern_guided => [qw(greedy ilp improve best fpt matching)], pattern_clustering => [qw(exact greedy fpt)],
	full_domain => [qw(samarati incognito flash speedy)], subtree => [qw(top_down optimal tds)],
	cluster => [qw(mondrian mondrian_relaxed forest pairs triples bottom_up top_down gather microaggregate one_k k_one k_k)],
	freeform => [qw(greedy sort_greedy hungarian plain_sort_greedy plain_hungarian mip min_cost_flow ring concealment)]);
my @all = map { my $model = $_; map { [ $model, $_ ] } @{ $methods{$model} } } sort keys %methods;
push @all, ([ 'pattern_guided', 'greedy', 1 ], [ 'pattern_guided', 'ilp', 1 ], [ 'pattern_guided', 'improve', 1 ]) x 2;

our %rules = (
	distinct => sub { my $l = pick(2, 2, 3); return { l => $l, columns => ['s'], sql => "kanon_distinct_l('s', $l)" }; },
	several => sub { return { l => 2, columns => [ 's', 'u' ], sql => "kanon_distinct_l(ARRAY['s', 'u'], 2)" }; },
	entropy => sub { my $l = pick(2, 2, 3); return { l => $l, columns => ['s'], sql => "kanon_entropy_l('s', $l)" }; },
	recursive => sub { my ($c, $l) = (pick(1.5, 2, 3), pick(2, 3)); return { c => $c, l => $l, columns => ['s'], sql => "kanon_recursive_cl('s', $c, $l)" }; },
	alpha => sub { my $a = pick(0.5, 0.6, 0.75); my @listed = some(0.4, qw(p q r t)); return { alpha => $a, listed => \@listed, columns => ['s'], sql => "kanon_alpha('s', $a" . (@listed ? ", '" . json_list(@listed) . "')" : ')') }; },
	closeness => sub { my ($t, $d) = (pick(0.2, 0.35, 0.5), pick('equal', 'ordered', 'hierarchical'));
		return { t => $t, distance => $d, columns => ['s'], sql => "kanon_t_closeness('s', $t, '$d'" . ($d eq 'hierarchical' ? ", 'crossing.sensitive')" : ')') }; },
	subject => sub { return { columns => [], sql => "kanon_subject('person')" }; },
	k_map => sub { my $who = chance(0.5); return { columns => [], who => $who, sql => 'kanon_k_map(\'crowd\'' . ($who ? ", 'who')" : ')') }; },
	delta_presence => sub { my ($least, $most) = (pick(0, 0, 0.2), pick(0.6, 0.8, 1)); return { columns => [], least => $least, most => $most, sql => "kanon_delta_presence('crowd', $least, $most)" }; },
	presence => sub { my ($world) = @_; my ($least, $most, $sure) = (pick(0, 0, 0.05), pick(0.5, 0.8, 1), pick(0.3, 0.6, 0.95));
		my $all = $world->{n} + $world->{others};
		return { columns => [], least => $least, most => $most, sure => $sure, sql => "kanon_presence('census', $all, $least, $most, $sure)" }; });

my @masks = ([ 'partial', { m => { partial => [ 2, 1 ] } } ], [ 'pseudonym', { m => { pseudonym => 'release' } } ], [ 'round', { cost => { round => 10 } } ],
	[ 'constant', { m => { constant => undef } } ], [ 'noise', { cost => { noise => 0.1 } } ], [ 'swap', { cost => { swap => 20 } } ],
	[ 'pram', { u => { pram => 0.8 } } ], [ 'microaggregate', { cost => { microaggregate => 2 } } ], [ 'cut', { cost => { top => 0.9, bottom => 0.1 } } ]);

# takes: function => { argument => 1 }
sub draw
{
	my ($world, $takes) = @_;
	my ($model, $method, $known) = @{ pick(@all) };
	my $takes_it = $takes->{"kanon_$model"};
	my @columns = @{ $world->{columns} };
	my $k = $method =~ /^(pairs|matching)$/ ? 2 : $method eq 'triples' ? 3 : pick(2, 2, 2, 3, 4, $model eq 'pattern_clustering' ? 1 : 2);
	my %call = (world => $world, model => $model, method => $method, k => $k, rules => [], residual => 'fill', levels => [], features => []);
	my (%option, @rules);
	my $feature = sub { push @{ $call{features} }, @_; };
	my $given = sub { my ($name, $value, $feature) = @_; return 0 if !$takes_it->{$name}; $option{$name} = $value; $feature->("$name") if !defined $feature; $feature->($feature) if $feature; return 1; };

	$known ||= $takes_it->{known_columns} && chance($model eq 'full_domain' ? 0.25 : 0.05);
	$call{known} = $known;
	$feature->("$model $method");
	$option{method} = $method;
	$option{time_limit} = '00:00:05' if $takes_it->{time_limit};
	$option{mark} = 1 if chance(0.6);
	$feature->($option{mark} ? 'marked' : 'not marked');
	$feature->($world->{nulls} == 0 ? 'no NULL' : $world->{nulls} < 0.4 ? 'some NULLs' : 'many NULLs');
	# hierarchies
	if ($takes_it->{hierarchies} && chance($model eq 'subtree' ? 0.85 : 0.6))
	{
		my %given;
		for my $c (0 .. $#columns)
		{
			next if chance(0.3);
			my ($name, $how) = @{ pick(@{ $hierarchies{ $columns[$c]{type} } }) };
			$given{ $columns[$c]{name} } = $how;
			$call{levels}[$c] = $how;
			$feature->("hierarchy $name");
		}
		$option{hierarchies} = \%given if %given;
	}
	# rules: none, one or two
	my $none = $model eq 'freeform' || $method =~ /^(one_k|k_one|k_k)$/;
	if ($takes_it->{privacy} && chance($known ? 0.4 : $none ? 0.15 : 0.75))
	{
		my @kinds = (shuffled(sort keys %rules))[ 0 .. pick(0, 0, 1) ];
		@kinds = ('subject') if $known && chance(0.8);
		# (those that a method does not take, seldom)
		@kinds = grep { !/k_map|presence/ || "$model $method" =~ /full_domain|subtree|mondrian$|guided greedy/ || chance(0.2) } @kinds;
		for my $kind (@kinds)
		{
			push @{ $call{rules} }, { kind => $kind, %{ $rules{$kind}->($world) } };
			$feature->("rule $kind");
		}
	}
	if ($takes_it->{residual} && chance($known ? 0.05 : 0.75))
	{
		$call{residual} = $option{residual} = pick(qw(fill suppress drop error));
		$feature->("residual $option{residual}");
	}
	if ($known)
	{
		if (chance(0.6)) { $option{known_columns} = 1 + below(scalar @columns); $feature->('known_columns'); }
		if (!$option{known_columns} || chance(0.2))
		{
			my @names = some(0.7, map { $_->{name} } @columns);
			@names = ('q1') if !@names;
			$option{combinations} = [ join(',', @names) . (chance(0.3) ? '=' . ($k + 1) : '') ];
			$feature->('combinations');
		}
		my $missing = pick(undef, 'aside', $model eq 'full_domain' ? 'value' : 'any', 'value', 'any');
		if (defined $missing) { $option{missing} = $missing; $feature->("missing $missing"); }
		# (its target has to tell blank cells apart)
		$option{mark} = 1 if ($missing // '') eq 'value' && chance(0.8);
		$call{features} = [ map { /^(not )?marked$/ ? ($option{mark} ? 'marked' : 'not marked') : $_ } @{ $call{features} } ];
	}
	if ($takes_it->{weights} && chance(0.4)) { $option{weights} = { map { $_->{name} => pick(1, 2, 0.5, 3) } @columns }; $feature->('weights'); }
	if ($takes_it->{partition_by} && chance(0.15)) { $option{partition_by} = pick(@columns)->{name}; $feature->('partition_by'); }
	if ($takes_it->{partition_size} && chance(0.15)) { $option{partition_size} = 2 * $k; $feature->('partition_size'); }
	if ($takes_it->{mutual} && chance(0.15)) { $option{mutual} = 1; $feature->('mutual'); }
	if ($takes_it->{k_column} && chance(0.15)) { $option{k_column} = 'u'; $feature->('k_column'); }
	if ($takes_it->{scheme} && chance(0.5)) { $option{scheme} = 'sibling'; $feature->('sibling'); }
	if ($takes_it->{categorical} && chance(0.15)) { my @numbers = map { $_->{name} } grep { $_->{type} ne 'text' } @columns; if (@numbers) { $option{categorical} = \@numbers; $feature->('categorical'); } }
	if ($takes_it->{show} && chance(0.3)) { $option{show} = pick(qw(suppress hierarchy range set)); $feature->("show $option{show}"); }
	if ($takes_it->{level_cost} && chance(0.3)) { $option{level_cost} = 'height'; $feature->('level_cost height'); }
	if ($takes_it->{metric})
	{
		$option{metric} = pick(qw(loss precision entropy discernibility average_class_size height));
		$option{suppression_limit} = pick(0, 0.1, 0.3, 0.5, 1, 1);
		$feature->("metric $option{metric}", $option{suppression_limit} > 0 ? 'rows may be suppressed' : 'no row suppressed');
	}
	if ($takes_it->{class_column} && chance(0.2)) { $option{class_column} = 's'; $feature->('class_column'); }
	$option{effort} = 0.01 if $takes_it->{effort} && $method ne 'greedy';
	$option{seed} = 1 if $takes_it->{seed};
	draw_patterns(\%call, \%option, $feature) if $takes_it->{patterns};
	$option{keep} = [ 'id', 's', 'u', 'person' ];
	if (chance(0.25))
	{
		my ($name, $mask) = @{ pick(@masks) };
		$option{mask} = $mask;
		$option{keep} = [ uniq(@{ $option{keep} }, keys %$mask) ];
		$feature->("mask $name");
		$call{masked} = (keys %$mask)[0];
	}
	$option{allow_identifying} = [ @{ $option{keep} } ];
	$call{option} = \%option;
	publication(\%call, $feature);
	# each once
	$call{features} = [ uniq(@{ $call{features} }) ];
	return \%call;
}

# Symbols of all patterns of a column: kept, each level, suppressed.
sub height
{
	my ($call, $c) = @_;
	my $how = $call->{levels}[$c] // return 1;
	return ref $how ? 1 + @{ (values %$how)[0] } : { 'crossing.labels' => 3, 'crossing.stars' => 3, 'crossing.one' => 1, 'crossing.ranges' => 2, 'crossing.numbers' => 2 }->{$how};
}

sub draw_patterns
{
	my ($call, $option, $feature) = @_;
	my @columns = 0 .. $#{ $call->{world}{columns} };
	# (a quantile or an interval may have fewer levels than were asked for)
	my @lattice = ('');
	for my $c (@columns)
	{
		my $height = height($call, $c);
		@lattice = map { my $p = $_; map { $p . ($_ == 0 ? '-' : $_ == $height ? '*' : $_) } 0 .. $height } @lattice;
	}
	my $clustering = $call->{model} eq 'pattern_clustering';
	if ($clustering || chance(0.35))
	{
		my @list = (shuffled(@lattice))[ 0 .. min($#lattice, below(6)) ];
		push @list, map { pick(@lattice) } 1 .. 3 if $clustering;
		push @list, '*' x @columns if $clustering && chance(0.6);
		$option->{patterns} = \@list;
		$call->{patterns} = \@list;
		$feature->('patterns');
	}
	elsif (chance(0.2))
	{
		my $c = 'q' . (1 + pick(@columns));
		my $sql = 'kanon_rules(' . pick("never => '{$c}'", "always => '{$c}'", 'max_suppressed => 1') . ')';
		$option->{rules} = \$sql;
		$call->{ruled} = 1;
		$feature->('pattern rules');
	}
	return;
}

sub publication
{
	my ($call, $feature) = @_;
	my $kind = chance(0.82) ? 'call' : pick('stable', 'begun anew', 'protected', 'appended');
	my @arguments;
	$call->{publication} = $kind;
	$feature->($kind eq 'call' ? 'called' : $kind);
	return if $kind eq 'call';
	push @arguments, 'stable => false' if $kind eq 'begun anew';
	push @arguments, 'protect_successive => true' if $kind eq 'protected';
	if ($kind eq 'appended') { push @arguments, "append => 'id'"; $call->{option}{min_batch} = $call->{k}; }
	if ($kind eq 'protected' || chance(0.3))
	{
		$call->{key} = $kind eq 'appended' || chance(0.5) ? 'person' : 'row';
		push @arguments, "key => '$call->{key}_key'";
		$feature->("key $call->{key}");
	}
	$call->{arguments} = \@arguments;
	# what comes, goes and changes in between
	$call->{nights} = [ map { night($call) } 1 .. pick(1, 2) ];
	return;
}

sub night
{
	my ($call) = @_;
	my $world = $call->{world};
	my @steps;
	my $first = ($call->{last} // $world->{n}) + 1;
	$call->{last} = $first + 2;
	for my $id (map { $first + $_ } 0 .. below(4) - 1)
	{
		my $row = row($world, $id, max(1, $world->{n}));
		push @steps, { insert => $row, sql => 'INSERT INTO src VALUES ' . values_of($row) },
			{ join => $row, sql => 'INSERT INTO crowd VALUES (' . join(', ', (map { quoted($_) } @{ $row->{q} }), $row->{person}) . ')' };
	}
	my ($gone, $other) = (1 + below($world->{n} + 1), 1 + below($world->{n} + 1));
	push @steps, { delete => $gone, sql => "DELETE FROM src WHERE id = $gone" } if $call->{publication} ne 'appended' && chance(0.4);
	push @steps, { update => $other, sql => "UPDATE src SET s = 'q' WHERE id = $other" } if $call->{publication} ne 'appended' && chance(0.3);
	return \@steps;
}

1;
