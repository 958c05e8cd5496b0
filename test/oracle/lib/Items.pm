package Items;

# Sets of items: what was promised of the published table, counted over all sets there are; what every item became,
# and what that lost; the least loss over all cuts through a small hierarchy.

use strict;
use warnings;
use List::Util qw(max min sum0 uniq);
use Names;
use Random;

my $EPS = 1e-9;
my $NOTHING = '';

# Random transactions, and at times a tree above the items; chain: of each item what it may be shown as.
sub make
{
	my ($db) = @_;
	my @items = ('a' .. 'f')[ 0 .. 1 + below(5) ];
	my $density = pick(0.3, 0.5, 0.8);
	my @sets = map { [ some($density, @items) ] } 1 .. 3 + below(9);
	my $list = sub { return @_ ? "'{" . join(',', @_) . "}'" : pick("'{}'", 'NULL'); };
	my %used = map { ($_ => 1) } map { @$_ } @sets;
	my %chain = map { ($_ => [$_]) } grep { $used{$_} } @items;
	my %above;

	$db->run('DROP TABLE IF EXISTS baskets');
	$db->run('CREATE TABLE baskets (id int, items text[])');
	$db->run('INSERT INTO baskets VALUES ' . join(', ', map { "($_, " . $list->(@{ $sets[$_] }) . ')' } 0 .. $#sets));
	return { db => $db, sets => \@sets, items => [ sort keys %chain ], chain => \%chain } if chance(0.4) || !%used;
	# a label has one above it; some branches have a level less
	my %group = map { ($_ => 'g' . below(3)) } keys %chain;
	my %top = map { ("g$_" => chance(0.3) ? undef : 't' . below(2)) } 0 .. 2;
	$db->run('DROP TABLE IF EXISTS baskets_h');
	$db->run('CREATE TABLE baskets_h (item text, l1 text, l2 text)');
	for my $item (sort keys %chain)
	{
		my @labels = grep { defined } $group{$item}, $top{ $group{$item} };
		push @{ $chain{$item} }, @labels;
		$db->run("INSERT INTO baskets_h VALUES ('$item', '$labels[0]', " . $db->quote($labels[1]) . ')');
	}
	return { db => $db, sets => \@sets, items => [ sort keys %chain ], chain => \%chain, hierarchy => 'baskets_h' };
}

sub subsets
{
	my ($size, @of) = @_;
	my @all = map { my $set = $_; [ map { $of[$_] } grep { $set >> $_ & 1 } 0 .. $#of ] } 1 .. (1 << @of) - 1;
	return grep { @$_ <= $size } @all;
}

# In how many transactions each set of at most so many items is; private items aside.
sub supports
{
	my ($rows, $size, $private) = @_;
	my %count;
	for my $row (@$rows)
	{
		$count{ join(',', @$_) }++ for subsets($size, grep { !$private->{$_} } @$row);
	}
	return \%count;
}

# The largest share of those who have a set that have one further private item.  Who may know
# private items may know nothing at all, too: the rules of rho-uncertainty begin with nothing.
sub worst
{
	my ($rows, $size, $private, $may_know_private) = @_;
	my (%count, %with);

	for my $row (@$rows)
	{
		for my $set ($may_know_private ? [] : (), subsets($size, grep { $may_know_private || !$private->{$_} } @$row))
		{
			my $key = join(',', @$set);
			my %in = map { ($_ => 1) } @$set;
			$count{$key}++;
			$with{$key}{$_}++ for grep { $private->{$_} && !$in{$_} } @$row;
		}
	}
	return max(0, map { my $key = $_; map { $with{$key}{$_} / $count{$key} } keys %{ $with{$key} } } keys %with);
}

# What every item became, by the rows alone; undef for one that no way of showing explains.
sub became
{
	my ($table, $rows) = @_;
	my %shown;

	for my $item (@{ $table->{items} })
	{
		my @with = grep { my $t = $_; grep { $_ eq $item } @{ $table->{sets}[$t] } } 0 .. $#{ $table->{sets} };
		my ($first) = grep { my $label = $_; !grep { my $t = $_; !grep { $_ eq $label } @{ $rows->[$t] } } @with } @{ $table->{chain}{$item} };
		$shown{$item} = $first // $NOTHING;
	}
	return \%shown;
}

sub under
{
	my ($table, $label) = @_;
	return scalar grep { my $item = $_; grep { $_ eq $label } @{ $table->{chain}{$item} } } @{ $table->{items} };
}

# What is lost where items are shown so: by occurrences the share of all items that a label may stand for.
sub lost
{
	my ($table, $shown) = @_;
	my @all = map { @$_ } @{ $table->{sets} };
	return 0 if !@all;
	return sum0(map {
			my $label = $shown->{$_};
			$label eq $NOTHING ? 1 : $label eq $_ ? 0 : under($table, $label) / @{ $table->{items} }
	} @all) / @all;
}

# Every cut: each item is shown as itself, as a label whose other items are, too, or as nothing, like all of its tree.
sub cuts
{
	my ($table) = @_;
	my %below; # label: what is next below it
	my %tops;

	for my $item (@{ $table->{items} })
	{
		my @chain = @{ $table->{chain}{$item} };
		$below{ $chain[ $_ + 1 ] }{ $chain[$_] } = 1 for 0 .. $#chain - 1;
		$tops{ $chain[-1] } = 1;
	}
	my $items_of;
	$items_of = sub { my ($node) = @_; return $below{$node} ? map { $items_of->($_) } sort keys %{ $below{$node} } : $node; };
	my $cuts_of;
	$cuts_of = sub {
		my ($node) = @_;
		my @whole = { map { ($_ => $node) } $items_of->($node) };
		return @whole if !$below{$node};
		my @parts = ({});
		for my $child (sort keys %{ $below{$node} })
		{
			my @of = $cuts_of->($child);
			@parts = map { my $so_far = $_; map { { %$so_far, %$_ } } @of } @parts;
		}
		return (@whole, @parts);
	};
	my @cuts = ({});
	for my $top (sort keys %tops)
	{
		my @of = ({ map { ($_ => $NOTHING) } $items_of->($top) }, $cuts_of->($top));
		@cuts = map { my $so_far = $_; map { { %$so_far, %$_ } } @of } @cuts;
	}
	return @cuts;
}

sub recoded
{
	my ($table, $shown) = @_;
	return [ map { [ sort(uniq(grep { $_ ne $NOTHING } map { $shown->{$_} } @$_)) ] } @{ $table->{sets} } ];
}

sub keeps_km
{
	my ($rows, $k, $m) = @_;
	return !grep { $_ < $k } values %{ supports($rows, $m, {}) };
}

# One table by one method; returns what it was.
sub check
{
	my ($db, $complain, $done) = @_;
	my $table = make($db);
	my $n = @{ $table->{sets} };
	my $method = pick('apriori', 'direct', 'optimal', $table->{hierarchy} ? 'td_control' : qw(suppress suppress_control));
	my $km = $method =~ /apriori|direct|optimal/;
	my ($k, $m, $h, $rho) = (2 + below(min(3, $n - 1)), 1 + below(3), pick(30, 50, 80), pick(0.3, 0.5, 0.8));
	my @private = $km || !@{ $table->{items} } ? () : (shuffled(@{ $table->{items} }))[ 0 .. below(min(2, scalar @{ $table->{items} })) ];
	my %private = map { ($_ => 1) } @private;
	my @options = (hierarchy => $table->{hierarchy} && $method ne 'suppress' ? "'$table->{hierarchy}'" : undef, keep => "'{id}'", allow_identifying => "'{id}'", replace => 'true');

	return "items without any" if !$km && !@private;
	push @options, k => $k if $method !~ /control/;
	push @options, m => $m if $km;
	push @options, p => $m if $method eq 'suppress';
	push @options, h => $h if $method eq 'suppress';
	push @options, rho => $rho if $method =~ /control/;
	push @options, sensitive => "'{" . join(',', @private) . "}'" if @private;
	my $what = "transactions $method k=$k m=$m h=$h rho=$rho private=(@private)";
	my ($state, $lines) = $db->try('SELECT * FROM ' . Names::call('transactions', source => "'baskets'", target => "'baskets_out'", items => "'items'", method => "'$method'", @options));
	$done->{"transactions $method"}++;
	if ($state ne '00000') { $complain->("$what: refused with $state"); return $what; }

	my $line = $lines->[0];
	my @rows;
	$rows[ $_->{id} ] = $_->{items} // [] for @{ $db->rows('SELECT * FROM baskets_out') };
	my $say = sub { my ($name, $is, $should) = @_; $complain->("$what: $name is " . ($is // 'NULL') . ", should be $should") if !defined $is || abs($is - $should) > $EPS; };
	$complain->("$what: other transactions") if @rows != $n || grep { !defined } @rows;
	return $what if @rows != $n;

	# the promise
	my $support = supports(\@rows, $m, \%private);
	$complain->("$what: a set is in fewer than k") if $method !~ /control/ && grep { $_ < $k } values %$support;
	$complain->("$what: h does not hold") if $method eq 'suppress' && 100 * worst(\@rows, $m, \%private, 0) > $h + $EPS;
	$complain->("$what: rho does not hold") if $method =~ /control/ && worst(\@rows, 99, \%private, 1) >= $rho - $EPS;

	# what became of the items, and what that is said to have lost
	my $shown = became($table, \@rows);
	my $again = recoded($table, $shown);
	for my $t (0 .. $n - 1)
	{
		$complain->("$what: transaction $t shows (@{ $rows[$t] }), should be (@{ $again->[$t] })") if "@{ $rows[$t] }" ne "@{ $again->[$t] }";
	}
	my @before = map { @$_ } @{ $table->{sets} };
	$say->('transactions', $line->{transactions}, $n);
	$say->('empty_transactions', $line->{empty_transactions}, scalar grep { !@$_ } @rows);
	$say->('items_before', $line->{items_before}, scalar @{ $table->{items} });
	$say->('items_shown', $line->{items_shown}, scalar uniq(map { @$_ } @rows));
	$say->('occurrences', $line->{occurrences}, scalar @before);
	if ($method ne 'td_control')
	{
		$say->('items_suppressed', $line->{items_suppressed}, scalar grep { $_ eq $NOTHING } values %$shown);
		$say->('occurrences_suppressed', $line->{occurrences_suppressed}, scalar grep { $shown->{$_} eq $NOTHING } @before);
		$say->('ncp', $line->{ncp}, lost($table, $shown));
	}
	if ($km)
	{
		my $least = min(map { lost($table, $_) } grep { keeps_km(recoded($table, $_), $k, $m) } cuts($table));
		$complain->("$what: loses $line->{ncp}, the least is $least") if $line->{ncp} < $least - $EPS || ($method eq 'optimal' && $line->{proven} && $line->{ncp} > $least + $EPS);
		$complain->("$what: lower_bound $line->{lower_bound} is above $least") if $method eq 'optimal' && $line->{lower_bound} > $least + $EPS;
	}
	check_counts($db, \@rows, $k, $m, \@private, sub { $complain->("$what: @_"); });
	return $what;
}

# What is said of any table of sets.
sub check_counts
{
	my ($db, $rows, $k, $m, $private, $complain) = @_;
	my %private = map { ($_ => 1) } @$private;
	my $lines = $db->rows('SELECT * FROM ' . Names::call('check_transactions', relation => "'baskets_out'", items => "'items'", k => $k, m => $m,
			sensitive => @$private ? "'{" . join(',', @$private) . "}'" : undef));

	for my $line (@$lines)
	{
		if ($line->{promise} eq 'rho')
		{
			my $share = worst($rows, 99, \%private, 1);
			$complain->("rho is " . ($line->{share} // 'NULL') . ", should be $share") if abs(($line->{share} // 0) - $share) > $EPS;
			next;
		}
		my $support = supports($rows, $line->{size}, $line->{promise} eq 'coherence' ? \%private : {});
		my @counts = map { $support->{$_} } grep { (() = /,/g) + 1 == $line->{size} } keys %$support;
		my %should = (sets => scalar @counts, sets_below_k => scalar(grep { $_ < $k } @counts), smallest => @counts ? min(@counts) : undef);
		for (sort keys %should)
		{
			$complain->("$line->{promise} $line->{size} $_ is " . ($line->{$_} // 'NULL') . ', should be ' . ($should{$_} // 'NULL'))
			  if defined $line->{$_} != defined $should{$_} || (defined $should{$_} && $line->{$_} != $should{$_});
		}
	}
	return;
}

1;
