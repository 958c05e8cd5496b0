#!/usr/bin/perl
# oracle.pl [--cases N] [--seed S] [--seconds T]: kanon against definitions.
#
# Random tables with NULLs, weights, hierarchies and rules are published by every function and method. What was
# promised, what it cost and every measure are computed again from the rows alone; on tables of a few rows the
# optimum, too, by brute force over all ways to make classes. Shares no code with the extension. Of a case that
# fails the SQL is left in build/oracle/.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Getopt::Long;
use List::Util qw(min max sum0 uniq);
use Time::HiRes qw(time);
use Cuts;
use Db;
use Drawn;
use Groups;
use Items;
use Names;
use Optimum;
use Privacy;
use Random;
use Release;
use Risk;
use Table;

my ($cases, $seed, $seconds) = (60, 1, undef);
GetOptions('cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds) or die "usage: $0 [--cases N] [--seed S] [--seconds T]\n";
my $EPS = 1e-7;
my $INF = 9**9**9;
my ($db, $where, @failures, %done, %lacking);

sub complain
{
	my ($text) = @_;
	push @failures, "$where: $text";
	return;
}

sub close_to { my ($a, $b) = @_; return abs($a - $b) <= $EPS * (1 + abs($a) + abs($b)); }

# Publishes and reads what came of it; undef, and a state, where it was refused.
sub publish
{
	my ($case, $function, @arguments) = @_;
	my @all = (source => "'src'", target => "'out'", quasi_identifiers => $case->{table}->array, k => $case->{k}, @arguments,
		keep => "'{id,s,u,person}'", allow_identifying => "'{id,s,u,person}'", mark => 'true', replace => 'true', categorical => $case->{table}->categorical,
		weights => $case->{table}->weights);
	my ($state, $lines) = $db->try('SELECT * FROM ' . Names::call($function, @all));

	$done{"$function $case->{method}"}++;
	$where = "$where $function $case->{method}";
	# without the library that a method needs there is nothing to check of it
	$lacking{ $case->{method} } = 1 if $state eq '0A000' && !$case->{may_refuse};
	return ($state, undef, undef) if $state ne '00000';
	return ($state, $lines, Release->new($case, \&complain));
}

# Cost with the rows left out priced as if suppressed, as the optimum has it.
sub priced
{
	my ($release, $cost) = @_;
	return $cost + $release->{run}{dropped_rows} * sum0(map { $_->{weight} } @{ $release->{table}{columns} });
}

# What the method says of its cost against the true least.
sub check_optimum
{
	my ($release, $least, $is_optimal) = @_;
	my $run = $release->{run};
	my $cost = priced($release, $run->{cost});

	complain("costs $cost, the least is $least") if $cost < $least - $EPS * (1 + $least) || ($is_optimal && !close_to($cost, $least));
	complain("lower_bound $run->{lower_bound} is above the least cost $least")
	  if defined $run->{lower_bound} && priced($release, $run->{lower_bound}) > $least + 1e-9 * (1 + $least);
	complain('proven, and no optimum') if $run->{proven} && !close_to($cost, $least);
	complain("$run->{guarantee} times $least is less than the cost $cost")
	  if defined $run->{guarantee} && $run->{guarantee} > 0 && $cost > $run->{guarantee} * $least + $EPS;
	return;
}

# k is more than there is: an error whatever residual says.
sub too_few
{
	my ($case) = @_;
	return $case->{k} > Privacy::size($case->{table}, [ 0 .. $case->{table}{n} - 1 ], $case->{privacy} && $case->{privacy}{persons});
}

# Are all rows together a class that keeps the rules?  Then there is a release, and every method has to find one.
sub keeps_whole
{
	my ($case) = @_;
	my ($table, $privacy) = @$case{qw(table privacy)};
	return $table->{n} >= $case->{k} && (!$privacy || $privacy->{test}->([ 0 .. $table->{n} - 1 ], 0));
}

# ---- pattern_guided ----

# Which levels may stand together: all, a list, or rules about suppression.
sub draw_mask
{
	my ($table) = @_;
	my @lattice = Optimum::lattice($table);
	my @columns = @{ $table->{columns} };
	my ($top) = grep { Optimum::text($table, $_) =~ /^\*+$/ } @lattice;
	my $kind = pick(qw(all list list rules));
	my @names = $table->names;

	return (\@lattice) if $kind eq 'all';
	if ($kind eq 'list')
	{
		my @list = (shuffled(@lattice))[ 0 .. min($#lattice, 1 + below(8)) ];
		my @texts = map { Optimum::text($table, $_) } @list;
		return ([ @list, grep { my $t = Optimum::text($table, $_); $t =~ /^\*+$/ && !grep { $_ eq $t } @texts } $top ],
			pattern_list => "'{" . join(',', @texts) . "}'");
	}
	my $whole = sub { my ($p, $c) = @_; return $p->[$c] == $columns[$c]{height}; };
	my ($one, $other) = (shuffled(0 .. $#columns), 0)[ 0, 1 ];
	my %rule = (
		never => [ "'{$names[$one]}'", sub { !$whole->($_[0], $one) } ],
		always => [ "'{$names[$one]}'", sub { $whole->($_[0], $one) } ],
		max_suppressed => [ 1, sub { my $p = $_[0]; (grep { $whole->($p, $_) } 0 .. $#columns) <= 1 } ],
		at_most_one => [ "'{\"$names[$one],$names[$other]\"}'", sub { $one == $other || !($whole->($_[0], $one) && $whole->($_[0], $other)) } ],
		together => [ "'{\"$names[$one],$names[$other]\"}'", sub { !!$whole->($_[0], $one) == !!$whole->($_[0], $other) } ]);
	my $name = pick(sort keys %rule);
	return (\@lattice) if $one == $other && $name =~ /together|at_most/;
	my @kept = grep { $rule{$name}[1]->($_) } @lattice;
	return ([ @kept, (grep { $_ == $top } @kept) ? () : $top ], rules => Names::call('rules', $name => $rule{$name}[0]));
}

# Algorithm 1 of the paper with the patterns in their order, or undef where that is not ours to know.
sub greedy_cost
{
	my ($case, $patterns, $costs) = @_;
	my $table = $case->{table};
	my @order = sort { $costs->[$a] <=> $costs->[$b] || $a <=> $b } 0 .. $#$patterns;
	my @left = 0 .. $table->{n} - 1;
	my $sum = 0;

	for my $p (@order)
	{
		next if Optimum::text($table, $patterns->[$p]) =~ /^\*+$/;
		my %group;
		for my $i (@left)
		{
			push @{ $group{ join('|', map { Table::node($table->{columns}[$_], $patterns->[$p][$_], $i) } 0 .. $#{ $table->{columns} }) } }, $i;
		}
		my %taken;
		for my $rows (values %group)
		{
			next if @$rows < $case->{k} || ($case->{privacy} && !$case->{privacy}{test}->($rows, 0));
			$sum += @$rows * $costs->[$p];
			$taken{$_} = 1 for @$rows;
		}
		@left = grep { !$taken{$_} } @left;
	}
	return (scalar(@left), $sum + @left * sum0(map { $_->{weight} } @{ $table->{columns} }), \@left);
}

my @rules = qw(distinct several entropy recursive alpha closeness subject);

sub try_guided
{
	my ($table) = @_;
	my $small = $table->{n} <= 9;
	my $how = pick('height', 'ncp');
	my ($patterns, @mask) = draw_mask($table);
	my $all_cost = sum0(map { $_->{weight} } @{ $table->{columns} });
	my @costs = map { Optimum::pattern_cost($table, $_, $how) } @$patterns;
	my %allowed = map { (Optimum::text($table, $_) => 1) } @$patterns;
	my $before = $where;

	for my $method ($small ? qw(greedy ilp improve best) : qw(greedy improve), 'matching', $table->{n} <= 5 && @$patterns <= 4 ? 'fpt' : ())
	{
		my $k = $method eq 'matching' ? 2 : 2 + below(min(3, $table->{n} - 1));
		my $privacy = chance(0.4) ? Privacy::draw($table, $k, chance(0.5) ? qw(distinct several alpha subject) : @rules) : undef;
		# who is in the table at all: beside no other rule here
		my $crowd = !$privacy && $method eq 'greedy' && chance(0.4) ? Privacy::draw_map($table, $k) : undef;
		# rules that are linear are solved exactly, too; else a release is mended
		my $exact = $method =~ /ilp|best/ || (!$privacy && $method =~ /fpt|matching|improve/);
		$exact = 0 if $privacy && $privacy->{sql} =~ /entropy|recursive|t_closeness/ || $crowd;
		my $rules = $privacy ? $privacy->{sql} : $crowd ? $crowd->{sql} : undef;
		my $case = {
			table => $table, k => $k, method => $method, residual => pick(qw(fill fill suppress drop error)), privacy => $privacy,
			how => $how, allowed => \%allowed, class_column => 's', drops_many => $rules && 1, crowd => $crowd, overlap => 1
		};
		$where = "$before k=$k $case->{residual} $how (" . join(' ', @mask) . ') ' . ($rules // '');
		my $parts = chance(0.3) ? pick(@{ $table->{columns} })->{name} : undef;
		$where .= " by $parts" if $parts;
		my ($state, $lines, $release) = publish($case, 'pattern_guided', @mask, method => "'$method'", residual => "'$case->{residual}'", partition_by => $parts && "'$parts'",
			hierarchies => $table->hierarchies, level_cost => "'$how'", class_column => "'s'", privacy => $rules, effort => '0.01');
		# (of classes that look alike the sum may break what counts persons: the core's test knows those)
		my $known = $small && !($privacy && $privacy->{persons} && $privacy->{sql} =~ /entropy|recursive|alpha|t_closeness/);
		my $least = $known ? Optimum::guided($table, $k, $patterns, \@costs, $all_cost, $case->{residual}, $privacy) : undef;
		if (!$release)
		{
			next if $lacking{$method} || ($state eq '22023' && too_few($case));
			# (to leave out every row is no release)
			my $nothing = $case->{residual} eq 'drop' && $known && close_to($least, $table->{n} * $all_cost) && !keeps_whole($case);
			complain("refused with $state" . ($known ? ", though there is a release of cost $least" : ''))
			  if $state !~ /^(23514|22023|54000)$/ || ($known && $least < $INF && $exact && !$nothing);
			complain("refused with $state, though all rows together keep the rules")
			  if $state ne '54000' && $case->{residual} ne 'error' && !$parts && keeps_whole($case);
			complain("refused with $state") if $state eq '54000' && $method ne 'fpt' && !($rules && $method ne 'greedy');
			next;
		}
		$release->check_promise;
		$release->check_crowd if $crowd;
		$release->check_measures;
		check_optimum($release, $least, !$parts && $exact) if $known && !$crowd;
		complain("lower_bound $release->{run}{lower_bound} is above the cost $release->{run}{cost}")
		  if defined $release->{run}{lower_bound} && $release->{run}{lower_bound} > $release->{run}{cost} * (1 + 1e-9) && !$release->{run}{dropped_rows};
		my $shown = sum0(map { $_->{cost} * $_->{row_count} } @$lines);
		if ($method eq 'greedy' && !$parts && !$crowd && $mask[0] && $mask[0] eq 'pattern_list')
		{
			my ($rest, $cost) = greedy_cost($case, $patterns, \@costs);
			# (what is left over is filled up, or mended)
			complain('greedy costs ' . priced($release, $release->{run}{cost}) . ", the algorithm $cost") if !close_to(priced($release, $release->{run}{cost}), $cost) && !($rest > 0 && ($privacy || $case->{residual} eq 'fill'));
		}
	}
	return;
}

sub try_clustering
{
	my ($table) = @_;
	my @lattice = Optimum::lattice($table);
	my @list = map { pick(@lattice) } 0 .. 1 + below(2);
	push @list, ($lattice[0]) x $table->{n} if below(2);    # whoever has k rows may keep all
	my @mask = (pattern_list => "'{" . join(',', map { Optimum::text($table, $_) } @list) . "}'");
	# by rules: each pattern that they allow once
	if (chance(0.4))
	{
		my ($patterns, @rules) = draw_mask($table);
		if (@rules && $rules[0] eq "rules") { @list = @$patterns; @mask = @rules; }
	}
	my $how = pick('height', 'ncp');
	my @costs = map { Optimum::pattern_cost($table, $_, $how) } @list;
	my $k = 1 + below(3);
	my (%allowed, %times);
	for my $text (map { Optimum::text($table, $_) } @list) { $allowed{$text} = 1; $times{$text}++; }
	my $privacy = chance(0.5) ? Privacy::draw($table, $k, chance(0.3) ? @rules : grep { $_ ne 'subject' } @rules) : undef;
	# (of classes that look alike the sum may break what counts persons: the core's test knows those)
	my $small = $table->{n} <= (@list <= 40 ? 8 : 6) && !($privacy && $privacy->{persons} && @{ $privacy->{rules} });
	my $least = $small ? Optimum::clustering($table, $k, \@list, \@costs, $privacy) : $INF;
	my $before = $where;

	for my $method (qw(exact greedy fpt))
	{
		my $case = {
			table => $table, k => $k, method => $method, residual => 'error', how => $how, allowed => \%allowed, times => \%times,
			class_column => 's', privacy => $privacy
		};
		$where = "$before k=$k $how (" . join(' ', @mask) . ') ' . ($privacy ? $privacy->{sql} : '');
		my ($state, $lines, $release) = publish($case, 'pattern_clustering', @mask, method => "'$method'",
			hierarchies => $table->hierarchies, level_cost => "'$how'", class_column => "'s'", privacy => $privacy ? $privacy->{sql} : undef);
		if (!$release)
		{
			complain("refused with $state, though there is a release of cost $least")
			  if !$lacking{$method} && !($method eq 'fpt' && $state eq '54000')
			  && ($state !~ /^(23514|22023)$/ || ($method ne 'greedy' && $least < $INF));
			next;
		}
		$release->check_promise;
		$release->check_measures;
		check_optimum($release, $least, $method ne 'greedy') if $small;
	}
	return;
}

# ---- full_domain ----

# A node by the definitions: what it suppresses, whether it may be, and what it loses by each metric.
sub node_facts
{
	my ($case, $node, $metric) = @_;
	my $table = $case->{table};
	my @columns = @{ $table->{columns} };
	my $n = $table->{n};
	my (%group, @rest, @classes, $classes, $squares);
	my $weights = sum0(map { $_->{weight} } @columns);
	my $lost = 0;

	($classes, $squares) = (0, 0);
	for my $i (0 .. $n - 1) { push @{ $group{ join('|', map { Table::node($columns[$_], $node->[$_], $i) } 0 .. $#columns) } }, $i; }
	for my $rows (values %group)
	{
		my $allowed = $case->{crowd} ? $case->{crowd}{allows}->($node, $rows)
		  : @$rows >= $case->{k} && (!$case->{privacy} || $case->{privacy}{test}->($rows, 0));
		if (!$allowed) { push @rest, @$rows; next; }
		$classes++;
		push @classes, $rows;
		$squares += @$rows**2;
		$lost += sum0(map { cell_loss($table, $columns[$_], $metric, $node->[$_], $rows) } 0 .. $#columns);
	}
	for my $i (@rest) { $lost += sum0(map { cell_loss($table, $_, $metric, $_->{height}, [$i]) } @columns); }
	my $all = $metric eq 'entropy' ? sum0(map { my $c = $_; map { cell_loss($table, $c, $metric, $c->{height}, [$_]) } 0 .. $n - 1 } @columns) : $n * $weights;
	my %value = (
		loss => $all > 0 ? $lost / $all : 0, precision => $all > 0 ? $lost / $all : 0, entropy => $all > 0 ? $lost / $all : 0,
		discernibility => $squares + $n * @rest, average_class_size => $n / (($classes + (@rest > 0)) || 1), height => sum0(@$node));
	return {
		suppressed => scalar @rest, classes => $classes, value => $value{$metric}, height => sum0(@$node),
		fulfils => @rest <= $case->{limit} && ($case->{crowd} ? $case->{crowd}{rest}->($node, \@classes, scalar @rest)
			: Optimum::rest_allowed($case->{k}, \@rest, $case->{residual}, $case->{privacy}))
	};
}

# What some rows' cells lose at a level.
sub cell_loss
{
	my ($table, $column, $metric, $level, $rows) = @_;
	my $w = $column->{weight};

	return @$rows * $w * $level / $column->{height} if $metric eq 'precision';
	return sum0(map { $w * log(@{ $table->below_node($column, $level, $_) } / $column->{count}{ Table::key($column->{value}[$_]) }) } @$rows) if $metric eq 'entropy';
	return 0 if $metric ne 'loss';
	return @$rows * $w if $level == $column->{height};
	return sum0(map {
			my $below = $table->below_node($column, $level, $_);
			my $size = Release::distinct($column, $below);
			$size < 2 ? 0 : $w * ($column->{number} ? $table->covers($column, $below) : ($size - 1) / ($column->{distinct} - 1))
	} @$rows);
}

sub try_full_domain
{
	my ($table) = @_;
	my $k = 2 + below(min(3, $table->{n} - 1));
	my $share = pick(0, 0, 0.1, 0.3, 1);
	my $privacy = chance(0.4) ? Privacy::draw($table, $k, @rules) : undef;
	my @lattice = Optimum::lattice($table);
	my $before = $where;
	my $case = {
		table => $table, k => $k, residual => pick(qw(suppress drop error)), privacy => $privacy, how => 'height', class_column => 's',
		limit => int($share * $table->{n} * (1 + 1e-15)), drops_many => 1
	};
	if (!$privacy && chance(0.4))
	{
		$case->{crowd} = Privacy::draw_population($table, $k, 1);
		$case->{residual} = 'suppress';
	}
	my $rules = $privacy ? $privacy->{sql} : $case->{crowd} ? $case->{crowd}{sql} : undef;

	return if @lattice > 300;
	for my $metric (shuffled(qw(loss precision entropy discernibility average_class_size height)))
	{
		my $algorithm = pick(qw(samarati incognito flash speedy));
		my %facts = map { (Optimum::text($table, $_) => { node => $_, %{ node_facts($case, $_, $metric) } }) } @lattice;
		my @order = map { Optimum::text($table, $_) } @lattice;
		my $least = min(map { $_->{value} } grep { $_->{fulfils} } values %facts);
		my ($best) = sort { $facts{$a}{suppressed} <=> $facts{$b}{suppressed} || $facts{$a}{height} <=> $facts{$b}{height} || index_of($a, @order) <=> index_of($b, @order) }
		  grep { $facts{$_}{fulfils} && abs($facts{$_}{value} - $least) <= 1e-12 * (1 + abs $least) } @order;
		my $explore = chance(0.5);
		$case->{method} = $algorithm;
		$where = "$before k=$k $metric limit=$share $case->{residual} " . ($rules // '');
		my ($state, $lines, $release) = publish($case, 'full_domain', suppression_limit => $share, metric => "'$metric'", algorithm => "'$algorithm'",
			residual => "'$case->{residual}'", hierarchies => $table->hierarchies, class_column => "'s'", explore => $explore ? 'true' : 'false',
			privacy => $rules);
		if (!$release)
		{
			next if $state eq '22023' && too_few($case);
			complain("refused with $state, though $best fulfils the rules") if $state !~ /^(23514|22023)$/ || defined $best;
			next;
		}
		$release->check_promise;
		$release->check_measures;
		for my $line (@$lines)
		{
			my $node = $line->{ $Names::column{node} };
			my $f = $facts{$node};
			my $value = $line->{metric_value};
			$value = 1 - $value if defined $value && $metric eq 'precision';
			complain("$node is $line->{verdict}") if ($line->{verdict} ne 'fails') != !!$f->{fulfils};
			complain("$node is optimal, should be " . ($best // 'none')) if $line->{verdict} eq 'optimal' && $node ne ($best // '');
			complain("$node: $value, should be $f->{value}") if defined $value && !close_to($value, $f->{value});
			complain("$node suppresses $line->{suppressed_rows}, should be $f->{suppressed}") if defined $line->{suppressed_rows} && $line->{suppressed_rows} != $f->{suppressed};
			complain("$node has $line->{classes} classes, should be $f->{classes}") if defined $line->{classes} && $line->{classes} != $f->{classes};
		}
	}
	return;
}

sub index_of { my ($one, @list) = @_; for (0 .. $#list) { return $_ if $list[$_] eq $one; } return -1; }

# ---- subtree ----

# Every value shows the same, at levels that are a cut; what that costs; the optimum of small tables.
sub try_subtree
{
	my ($table) = @_;
	my @columns = @{ $table->{columns} };
	my $before = $where;

	for my $method (qw(top_down optimal tds))
	{
		my $k = 2 + below(min(3, $table->{n} - 1));
		my $scheme = pick(qw(subtree sibling));
		my $privacy = chance(0.4) ? Privacy::draw($table, $k, @rules) : undef;
		my $case = { table => $table, k => $k, method => $method, residual => 'error', privacy => $privacy, how => 'height', class_column => 's', own_cost => 1 };
		$where = "$before k=$k $scheme " . ($privacy ? $privacy->{sql} : '');
		my $allowed = sub { my ($rows) = @_; return @$rows >= $k && (!$privacy || $privacy->{test}->($rows, 0)); };
		my $least = Cuts::least($table, $scheme, $allowed);
		my ($state, $lines, $release) = publish($case, 'subtree', method => "'$method'", scheme => "'$scheme'", hierarchies => $table->hierarchies,
			class_column => "'s'", privacy => $privacy ? $privacy->{sql} : undef);
		if (!$release)
		{
			next if $state eq '22023' && too_few($case);
			# persons: a finer cut may be allowed where that at the top is not
			complain("refused with $state, though a cut costs $least")
			  if $state !~ /^(23514|22023)$/ || (defined $least && $least < $INF && ($method eq 'optimal' || $allowed->([ 0 .. $table->{n} - 1 ])));
			next;
		}
		$release->check_promise;
		$release->check_measures;
		my @level = map { {} } @columns;
		for my $class (@{ $release->{classes} })
		{
			my @levels = $release->levels($class);
			for my $i (@{ $class->{members} })
			{
				for my $c (0 .. $#columns)
				{
					my $value = Table::key($columns[$c]{value}[$i]);
					complain("$value of $columns[$c]{name} is shown at two levels") if ($level[$c]{$value} //= $levels[$c]) != $levels[$c];
				}
			}
		}
		for my $c (0 .. $#columns) { complain("$columns[$c]{name} shows no cut") if !Cuts::is_cut($table, $columns[$c], $level[$c], $scheme); }
		my $cost = sum0(map { Cuts::cost($table, $columns[$_], $level[$_]) } 0 .. $#columns);
		complain("costs $release->{run}{cost}, should be $cost") if !close_to($release->{run}{cost}, $cost);
		check_optimum($release, $least, $method eq 'optimal') if defined $least;
		my %told = map { ("$_->{column_name} $_->{level}" => 0) } @$lines;
		$told{"$_->{column_name} $_->{level}"} += $_->{row_count} for @$lines;
		my %is;
		for my $c (0 .. $#columns) { $is{"$columns[$c]{name} " . $level[$c]{ Table::key($columns[$c]{value}[$_]) }}++ for 0 .. $table->{n} - 1; }
		complain('the cut is told as ' . join(', ', map { "$_ $told{$_}" } sort keys %told)) if join(',', map { "$_ $told{$_}" } sort keys %told) ne join(',', map { "$_ $is{$_}" } sort keys %is);
	}
	return;
}

# ---- cluster and freeform ----

my %shown_as = (int => 'range', num => 'range', date => 'range');

sub try_cluster
{
	my ($table) = @_;
	my @columns = @{ $table->{columns} };
	my $how = pick('height', 'ncp');
	my @show = map { $_->{height} > 1 ? 'hierarchy' : $_->{number} && $shown_as{ $_->{type} } ? pick(qw(range set suppress)) : pick(qw(set suppress)) } @columns;
	my $before = $where;
	my $small = $table->{n} <= 8;

	for my $method ($small ? qw(mondrian mondrian_relaxed forest pairs triples bottom_up top_down gather) : qw(mondrian mondrian_relaxed forest bottom_up top_down))
	{
		my $k = $method eq 'pairs' ? 2 : $method eq 'triples' ? 3 : 2 + below(3);
		next if $k > $table->{n};
		my $privacy = chance(0.4) ? Privacy::draw($table, $k, @rules) : undef;
		$privacy = Privacy::draw($table, $k, 'distinct') if $method =~ /^(forest|gather)$/ && chance(0.3);
		my $crowd = $privacy || $method ne 'mondrian' || chance(0.5) ? undef : Privacy::draw_population($table, $k, 0.4);
		my $rules = $privacy ? $privacy->{sql} : $crowd ? $crowd->{sql} : undef;
		my $case = {
			table => $table, k => $k, method => $method, residual => $method eq 'forest' ? pick(qw(suppress drop)) : 'error', privacy => $privacy,
			class_column => 's', several => 1, drops_many => 1, crowd => $crowd, overlap => 1, wider => $crowd && 1
		};
		# by parts, of which the optimum of the whole is no more asked
		my $parts = $method =~ /^(forest|bottom_up|gather|pairs|triples)$/ && $table->{n} >= 4 * $k && chance(0.4) ? 2 * $k + below(3) : undef;
		$where = "$before k=$k $how (@show) " . ($rules // '') . ($parts ? " parts=$parts" : '');
		my ($state, $lines, $release) = publish($case, 'cluster', method => "'$method'", partition_size => $parts, hierarchies => $table->hierarchies, level_cost => "'$how'",
			show => "'" . join(',', @show) . "'", residual => "'$case->{residual}'", class_column => "'s'", privacy => $rules);
		if (!$release)
		{
			complain("refused with $state") if !$lacking{$method} && ($state !~ /^(23514|22023)$/ || (!$rules && $state ne '22023') || (!$crowd && keeps_whole($case)));
			next;
		}
		$release->check_promise;
		$release->check_crowd if $crowd;
		$release->check_measures;
		# (with a population a class shows what its region has, not what its rows have alone)
		next if $method eq 'gather' || $crowd;
		my $cost = sum0(map { @{ $_->{members} } * Optimum::hidden($table, $_->{members}, \@show, $how) } @{ $release->{classes} });
		complain("costs $release->{run}{cost}, should be $cost")
		  if !close_to($release->{run}{cost}, priced($release, $cost));
		next if !$small || $case->{residual} eq 'drop' || $privacy;
		$release->{run}{dropped_rows} = 0;
		check_optimum($release, Optimum::clusters($table, $k, \@show, $how), 0);
	}
	return;
}

# How many sets of k there are of n.
sub sets_of
{
	my ($n, $k) = @_;
	my $sets = 1;

	$sets *= ($n - $k + $_) / $_ for 1 .. $k;
	return $sets;
}

sub try_freeform
{
	my ($table) = @_;
	my $n = $table->{n};
	my $before = $where;

	for my $method (qw(greedy sort_greedy hungarian plain_sort_greedy plain_hungarian mip min_cost_flow ring concealment one_k k_one k_k))
	{
		my $relaxed = $method =~ /^(one_k|k_one|k_k)$/;
		my $most = $relaxed ? $n : int(($n + 2) / 2);
		next if $most < 2;
		my $k = min($most, 2 + below(2));
		# parts of their own, and matches that go both ways
		my $parts = !$relaxed && $n >= 4 * $k && chance(0.5) ? 2 * $k + below(3) : undef;
		my $mutual = !$relaxed && $method !~ /^(plain_|ring|concealment)/ && chance(0.25);
		# some rows want more
		my @own = map { chance(0.2) ? $k + below($most - $k + 1) : 1 } 1 .. $n if !$relaxed && $method ne 'concealment' && chance(0.4);
		$db->run('ALTER TABLE src ADD COLUMN IF NOT EXISTS own int') if @own;
		$db->run("UPDATE src SET own = (ARRAY[" . join(',', @own) . '])[id + 1]') if @own;
		my $case = { table => $table, k => $k, own => @own ? \@own : undef, method => $method, residual => 'error', several => 1, records => 1, weak => $method eq 'concealment' || $relaxed || $mutual,
			may_refuse => $mutual };
		$where = "$before k=$k" . ($mutual ? ' mutual' : '') . ($parts ? " parts=$parts" : '') . (@own ? " own=@own" : '');
		my ($state, $lines, $release) = publish($case, $relaxed ? 'cluster' : 'freeform', method => "'$method'", hierarchies => $table->hierarchies,
			$relaxed ? () : (seed => pick('NULL', 7), mutual => $mutual ? 'true' : undef, partition_size => $parts, k_column => @own ? "'own'" : undef));
		# not every method makes them
		next if $mutual && $state =~ /^(22023|0A000)$/;
		if (!$release)
		{
			# (more sets of the largest k than mip takes)
			complain("refused with $state") if !$lacking{$method} && !($method eq 'mip' && $state eq '54000' && sets_of($n, max($k, @own)) > 1e8);
			next;
		}
		$release->check_records($method ne 'k_one', $method ne 'one_k');
		$release->check_measures;
		my $cost = sum0(map { my $record = $_; @{ $record->{members} } * record_cost($release, $record) } @{ $release->{classes} });
		complain("costs $release->{run}{cost}, should be $cost") if !close_to($release->{run}{cost}, $cost);
		next if $n > 6 || $relaxed || $method eq 'concealment';
		my $least = Optimum::freeform($table, $k);
		complain("costs $release->{run}{cost}, the least is $least") if $release->{run}{cost} < $least - $EPS || ($method eq 'mip' && !$mutual && !$parts && !@own && !close_to($release->{run}{cost}, $least));
		my $bound = $release->{run}{lower_bound};
		complain("lower_bound $bound is above the least cost $least") if defined $bound && !$mutual && !$parts && !@own && $bound > $least + 1e-12 * (1 + $least);
	}
	return;
}

# What the cells of a record lose, by what they show.
sub record_cost
{
	my ($release, $record) = @_;
	my $table = $release->{table};
	my @symbols = split //, $record->{mark};
	my $sum = 0;

	for my $c (0 .. $#symbols)
	{
		my $column = $table->{columns}[$c];
		next if $symbols[$c] eq '-';
		if ($symbols[$c] =~ /[1-9]/)
		{
			$sum += $column->{weight} * $table->covers($column, $table->below_node($column, $symbols[$c], $record->{members}[0]));
			next;
		}
		my $shown = $symbols[$c] eq '*' ? undef : $release->stands_for($record, $c, '~', 0);
		$sum += $column->{weight} * (!$shown ? 1 : ref $record->{cells}[$c] ? ($column->{distinct} > 1 ? (@{ $record->{cells}[$c] } - 1) / ($column->{distinct} - 1) : 0) : $table->covers($column, $shown));
	}
	return $sum;
}

# ---- what would be lost, without a target ----

# Each k of a frontier is the release that would be published, and so is what is explained, column by column.
sub try_choosing
{
	my ($table) = @_;
	my $n = $table->{n};
	my @names = $table->names;
	my $how = pick('height', 'ncp');
	my $method = pick('greedy', 'greedy', 'ilp');
	my $residual = pick('fill', 'suppress', 'drop');
	my $privacy = chance(0.4) ? Privacy::draw($table, 2, grep { $_ ne 'subject' } @rules) : undef;
	my @ruled = $privacy ? (privacy => $privacy->{sql}) : ();
	my @options = (method => "'$method'", residual => "'$residual'", hierarchies => $table->hierarchies, level_cost => "'$how'",
		weights => $table->weights, categorical => $table->categorical, keep => "'{s,u}'", @ruled);
	my @ks = 2 .. min($n, 5);
	my $before = $where;
	my ($state, $frontier) = $db->try('SELECT * FROM ' . Names::call('frontier', source => "'src'", quasi_identifiers => $table->array,
			ks => "'{" . join(',', @ks) . "}'", @options));
	my %releases;

	$done{"frontier $method"}++;
	if ($state eq '0A000') { $lacking{$method} = 1; return; }
	$where = "$before frontier $method $residual $how " . ($privacy ? $privacy->{sql} : '');
	# (rules that the whole table breaks are an error before any k is tried)
	return if $privacy && $state =~ /^(22023|23514)$/ && !keeps_whole({ table => $table, k => 2, privacy => $privacy });
	return complain("refused with $state") if $state ne '00000';
	complain(@$frontier . ' lines for ' . @ks . ' ks') if @$frontier != @ks;
	for my $line (@$frontier)
	{
		my $case = { table => $table, k => $line->{k}, method => $method, residual => $residual, how => $how, class_column => 's', drops_many => 1, privacy => $privacy };
		$where = $before;
		my (undef, undef, $release) = publish($case, 'pattern_guided', method => "'$method'", residual => "'$residual'", hierarchies => $table->hierarchies,
			level_cost => "'$how'", class_column => "'s'", @ruled);
		$where .= " frontier k=$line->{k} $residual $how " . ($privacy ? $privacy->{sql} : '');
		complain('it says that there is ' . (defined $line->{cost} ? 'a' : 'no') . ' release') if !$release != !defined $line->{cost};
		next if !$release;
		$release->check_promise;
		$release->check_measures;
		my $run = $release->{run};
		my $blank = sum0(map { scalar @{ $_->{members} } } grep { $release->is_blank($_) } @{ $release->{classes} });
		$release->same($_, $line->{$_}, $run->{$_}) for $method eq 'greedy' ? qw(suppressed_cells suppressed_share usefulness gcp cost) : qw(cost);
		# (without a target NULL and a suppressed cell differ)
		my @sizes = map { scalar @{ $_->{members} } } @{ $release->{classes} };
		my %classes = @sizes ? (classes => scalar @sizes, class_min => min(@sizes), class_avg => sum0(@sizes) / @sizes, class_max => max(@sizes)) : ();
		$release->same($_, $line->{$_}, $classes{$_}) for $method eq 'greedy' ? sort keys %classes : ();
		# k or more of them are a class like any other
		$release->same('residual_rows', $line->{residual_rows}, ($blank < $line->{k} ? $blank : 0) + $run->{dropped_rows}) if $method eq 'greedy';
		complain("$blank rows show nothing") if $residual eq 'fill' && $blank > 0 && $blank < $line->{k};
		$releases{ $line->{k} } = $release;
	}
	return if $method ne 'greedy';
	my $k = 2;
	my $release = $releases{$k} or return;
	my $run = $release->{run};
	my $all = sum0(map { $_->{weight} } @{ $table->{columns} });
	$where = "$before explain k=$k $residual $how";
	$done{explain}++;
	my %aspect;
	push @{ $aspect{ $_->{aspect} } }, $_ for @{ $db->rows('SELECT * FROM ' . Names::call('explain', source => "'src'", quasi_identifiers => $table->array, k => $k, @options)) };
	$release->same('cells', $aspect{release}[0]{suppressed_cells}, $run->{suppressed_cells});
	$release->same('cost', $aspect{release}[0]{cost}, $run->{cost});
	my %column = map { ($_->{subject} => $_) } @{ $aspect{column} // [] };
	my $recorded = $db->rows("SELECT * FROM $Names::view{columns} WHERE run = $run->{run} ORDER BY ordinal");
	$release->same("cells of $names[$_]", $column{ $names[$_] }{suppressed_cells}, $recorded->[$_]{suppressed} - $recorded->[$_]{nulls}) for 0 .. $#names;
	$release->same('cost of the columns', sum0(map { $_->{cost} } values %column), $run->{cost});
	my %rows;
	$rows{ $_->{mark} } += @{ $_->{members} } for @{ $release->{classes} };
	my %pattern = map { ($_->{subject} => $_->{row_count}) } @{ $aspect{pattern} // [] };
	$release->same("rows of $_", $pattern{$_}, $rows{$_}) for keys %rows;
	$release->same('cost of the patterns', sum0(map { $_->{cost} } @{ $aspect{pattern} // [] }), $run->{cost});
	my %size;
	for my $i (0 .. $n - 1) { $size{ join('|', map { Table::key($_->{value}[$i]) } @{ $table->{columns} }) }++; }
	my @below = (sort { $b <=> $a } grep { $_ < $k } values %size);
	splice(@below, 10) if @below > 10;
	my @told = sort { $b <=> $a } map { $_->{row_count} } @{ $aspect{'below k'} // [] };
	complain("below k: (@told), should be (@below)") if "@told" ne "@below";
	return;
}

# ---- sets of items ----

sub try_items
{
	$where .= ' ' . Items::check($db, \&complain, \%done);
	return;
}

# ---- two tables ----

sub try_anatomy
{
	$where .= ' ' . Groups::check($db, \&complain, \%done);
	return;
}

# ---- rows drawn by chance ----

sub try_drawn
{
	$where .= ' ' . Drawn::check($db, \&complain, \%done);
	return;
}

# ---- what any relation gives away ----

sub try_risk
{
	my ($table) = @_;
	my @names = $table->names;
	my @everybody = map { below($table->{n}) } 0 .. 2 * $table->{n};

	$done{risk}++;
	for my $relation ('src', $db->rows("SELECT to_regclass('out') IS NOT NULL AS there")->[0]{there} ? 'out' : ())
	{
		Risk::check($db, $relation, \@names, \&complain);
		Risk::risk($db, $relation, \@names, chance(0.5), undef, \&complain);
	}
	Risk::columns($db, 'src', \@names, \&complain);
	$db->run('DROP TABLE IF EXISTS everybody');
	$db->run('CREATE TABLE everybody AS SELECT ' . join(', ', @names) . ' FROM src CROSS JOIN generate_series(1, 3) g WHERE (id + g) % 3 < 2');
	Risk::risk($db, 'src', \@names, 0, 'everybody', \&complain);
	Risk::presence($db, $table, chance(0.5), \&complain);
	return;
}

# ---- the run ----

$| = 1;
$db = Db->connect;
my $start = time;
my $failed = 0;
my $case;
for ($case = 0; $case < $cases && !($seconds && time - $start >= $seconds); $case++)
{
	# each case by itself can be seen again: --cases 1 --seed (seed + case)
	srand($seed + $case);
	my $small = chance(0.8);
	my $kind = pick(\&try_guided, \&try_guided, \&try_clustering, \&try_full_domain, \&try_full_domain, \&try_cluster, \&try_freeform,
		\&try_choosing, \&try_items, \&try_anatomy, \&try_drawn, \&try_subtree);
	my $free = $kind == \&try_freeform;
	my $table;

	my $began = time;
	@failures = ();
	$where = 'seed ' . ($seed + $case);
	$db->take_log;
	$db->run('DROP TABLE IF EXISTS out');
	eval {
		$table = Table->new($db, rows => $small ? 3 + below($free ? 4 : 5) : 12 + below(30), columns => 1 + below($small ? 3 : 4), hierarchies => $free ? 0.4 : 0.6);
		$_->{weight} = pick(1, 1, 2, 0.5, 3, 0.37) for chance(0.6) ? @{ $table->{columns} } : ();
		$kind->($table);
		$where = 'seed ' . ($seed + $case);
		try_risk($table);
		1;
	} or complain("stopped: $@");
	printf "%s: %.1f s\n", $where, time - $began if $ENV{ORACLE_TIMES};
	next if !@failures;
	$failed++;
	mkdir $_ for qw(build build/oracle);
	open(my $file, '>', 'build/oracle/' . ($seed + $case) . '.sql') or die $!;
	print $file map({ "-- $_\n" } @failures), $db->take_log;
	close $file;
	print map { "$_\n" } @failures[ 0 .. min($#failures, 4) ];
}
print join(', ', map { "$_ $done{$_}" } sort keys %done), "\n" if $failed || -t STDOUT;
print 'not in this build: ' . join(', ', sort keys %lacking) . "\n" if %lacking;
printf "# %s\n", $failed ? "$failed of $case tests failed" : "All $case tests passed";
exit($failed > 0);
