package Privacy;

# Rules beyond k, as their papers have them: may some rows of a table be a class?

use strict;
use warnings;
use List::Util qw(max min sum0 uniq);
use Random;
use Names;
use Table;

my $EPS = 1e-9;

# How often values occur among rows: in rows, or in persons that have them.
sub counts
{
	my ($table, $column, $rows, $persons) = @_;
	my %seen;
	my %count;
	for my $i (@$rows)
	{
		my $v = Table::key($table->{$column}[$i]);
		$count{$v}++ if !$persons || !$seen{$v}{ $table->{person}[$i] }++;
	}
	return \%count;
}

sub size
{
	my ($table, $rows, $persons) = @_;
	return $persons ? scalar uniq(map { $table->{person}[$_] } @$rows) : scalar @$rows;
}

sub entropy
{
	my @n = values %{ $_[0] };
	my $sum = sum0(@n);
	return exp(-sum0(map { $_ / $sum * log($_ / $sum) } @n));
}

sub recursive
{
	my ($count, $l) = @_;
	my @r = sort { $b <=> $a } values %$count;
	my $tail = sum0(@r[ $l - 1 .. $#r ]);
	return $tail > 0 ? $r[0] / $tail : 9**9**9;
}

# In the order of the type, NULL last.
sub in_order
{
	my @keys = @_;
	return ((sort { my ($x, $y) = (substr($a, 1), substr($b, 1)); $x =~ /^\d/ ? $x <=> $y : $x cmp $y } grep { /^=/ } @keys),
		grep { $_ eq 'null' } @keys);
}

sub distance
{
	my ($class, $whole, $kind) = @_;
	my ($n, $all) = (sum0(values %$class), sum0(values %$whole));
	my %more = map { $_ => ($class->{$_} // 0) / $n - $whole->{$_} / $all } keys %$whole;
	my ($sum, $moved) = (0, 0);

	return 0.5 * sum0(map { abs } values %more) if $kind eq 'equal';
	for my $v (in_order(keys %more)) { $sum += $more{$v}; $moved += abs($sum); }
	return keys(%more) > 1 ? $moved / (keys(%more) - 1) : 0;
}

# Above the values of s: level by level what each is below; NULL is a branch of its own.
sub tree_above
{
	my ($table) = @_;
	my $db = $table->{db};

	return $table->{above_s} if $table->{above_s};
	my $line = Table::text_lines(undef, qw(p q r t));
	my @levels = 0 .. $#{ $line->{p} };
	$db->run('DROP TABLE IF EXISTS s_h');
	$db->run('CREATE TABLE s_h (value text' . join('', map { ", l$_ text" } @levels) . ')');
	$db->run('INSERT INTO s_h VALUES ' . join(', ', map { my $v = $_; "('$v'" . join('', map { ", '$_'" } @{ $line->{$v} }) . ')' } sort keys %$line));
	# the last level is suppression when it is one for all
	pop @levels if uniq(map { $_->[-1] } values %$line) < 2;
	$table->{above_s} = { map { my $v = $_; ("=$v" => [ map { $line->{$v}[$_] } @levels ]) } keys %$line };
	$table->{above_s}{null} = [ map { 'null' } @levels ];
	return $table->{above_s};
}

# Earth mover's distance where two values are as far apart as their common ancestor is high: along the edges of the
# tree, each of which is half a level long.
sub tree_distance
{
	my ($class, $whole, $above) = @_;
	my ($n, $all) = (sum0(values %$class), sum0(values %$whole));
	my $height = 1 + @{ $above->{null} };
	my $sum = 0;

	for my $h (0 .. $height - 1)
	{
		my %more;
		$more{ $h == 0 ? $_ : $above->{$_}[ $h - 1 ] } += ($class->{$_} // 0) / $n - $whole->{$_} / $all for keys %$whole;
		$sum += sum0(map { abs } values %more) / (2 * $height);
	}
	return $sum;
}

# ---- populations ----

# Everybody who could be in the table: its rows, and others with values that it has. Each is a row of the table for
# each column.
sub population
{
	my ($table, $k) = @_;
	my @columns = @{ $table->{columns} };
	my $db = $table->{db};
	my @everybody = map { my $i = $_; [ ($i) x @columns ] } 0 .. $table->{n} - 1;

	push @everybody, [ map { below($table->{n}) } @columns ] for 1 .. below(2 * $table->{n});
	# k persons at least
	push @{ $everybody[$_] }, $_ < $k ? $_ : below(scalar @everybody) for 0 .. $#everybody;
	$db->run('DROP TABLE IF EXISTS crowd');
	$db->run('CREATE TABLE crowd AS SELECT ' . join(', ', $table->names) . ', 0 AS who FROM src WITH NO DATA');
	$db->run('INSERT INTO crowd VALUES ' . join(', ', map {
				my $one = $_;
				'(' . join(', ', (map { $db->quote($columns[$_]{value}[ $one->[$_] ]) } 0 .. $#columns), $one->[@columns]) . ')'
	} @everybody));
	return \@everybody;
}

# How probable it is that so many rows by themselves and X others are between two bounds, X being how many of the
# others have what one has with the probability p: the binomial distribution, term by term.
sub likelihood
{
	my ($rows, $others, $p, $least, $most) = @_;
	my ($sum, $log) = (0, 0);
	for my $x (0 .. $others)
	{
		$log += log(($others - $x + 1) / $x) if $x > 0;
		my $term = ($p == 0 ? $x == 0 : $p >= 1 ? $x == $others : exp($log + $x * log($p) + ($others - $x) * log(1 - $p)));
		my $chance = $rows / ($rows + $x);
		$sum += $term if $chance >= $least - $EPS && $chance <= $most + $EPS;
	}
	return $sum;
}

# Shares of the values of each column, by row; what is left of 1 has values that the table does not have.
sub draw_shares
{
	my ($table) = @_;
	my $db = $table->{db};
	my @shares;

	$db->run('DROP TABLE IF EXISTS census');
	$db->run('CREATE TABLE census (column_name text, value text, share float8)');
	for my $column (@{ $table->{columns} })
	{
		my %value = map { (Table::key($_) => $_) } @{ $column->{value} };
		my %share = map { ($_ => 1 + below(9)) } keys %value;
		my $sum = sum0(values %share) + pick(0, 0, 5);
		$_ /= $sum for values %share;
		$db->run('INSERT INTO census VALUES ' . join(', ', map { "('$column->{name}', " . $db->quote($value{$_}) . ", $share{$_})" } sort keys %value));
		push @shares, \%share;
	}
	return \@shares;
}

# The same with shares instead of a population.
sub draw_presence
{
	my ($table, $k) = @_;
	my @columns = @{ $table->{columns} };
	my $shares = draw_shares($table);
	my $others = below(60);
	my $population = $table->{n} + $others;
	my ($least, $most, $confidence) = (pick(0, 0, 0.05, 0.2), pick(0.5, 0.75, 1), pick(0.3, 0.6, 0.95));
	my $matching = sub {
		my ($levels, $rows) = @_;
		my $product = 1;
		for my $c (0 .. $#columns)
		{
			my ($column, $level) = ($columns[$c], $levels->[$c]);
			next if $level == $column->{height};
			my %seen;
			$product *= sum0(map { $shares->[$c]{ Table::key($column->{value}[$_]) } }
				grep { Table::node($column, $level, $_) eq Table::node($column, $level, $rows->[0]) && !$seen{ Table::key($column->{value}[$_]) }++ } 0 .. $table->{n} - 1);
		}
		return $product;
	};
	my $within = sub { my ($r, $share) = @_; return $r == 0 || likelihood($r, $others, max(0, $share), $least, $most) >= $confidence - $EPS; };
	return {
		sql => "ARRAY[$Names::function{presence}('census', $population, $least, $most, $confidence)]",
		people => everyone($table, $shares), within => $within,
		allows => sub { my ($levels, $rows) = @_; return @$rows >= $k && $within->(scalar @$rows, $matching->($levels, $rows)); },
		# who matches no class may be among those that show nothing
		rest => sub { my ($levels, $classes, $rest) = @_; return $within->($rest, 1 - sum0(map { $matching->($levels, $_) } @$classes)); }
	};
}

# All rows that there could be, each with its share; undef: a value that the table does not have.
sub everyone
{
	my ($table, $shares) = @_;
	my @everyone = ([1]);
	for my $c (0 .. $#$shares)
	{
		my $column = $table->{columns}[$c];
		my %row = map { Table::key($column->{value}[$_]) => $_ } 0 .. $table->{n} - 1;
		my @values = map { [ $shares->[$c]{$_}, $row{$_} ] } sort keys %row;
		push @values, [ max(0, 1 - sum0(map { $_->[0] } @values)), undef ];
		@everyone = map { my ($share, @row) = @$_; map { [ $share * $_->[0], @row, $_->[1] ] } @values } @everyone;
	}
	return \@everyone;
}

# A rule about a population: { sql, k_map, allows(levels, rows), rest(levels, classes, rest) }; people, too (each its
# weight, by column a row of the table that has the value, and of k_map who it is).  About presence: within(rows,
# weight).  maps: one in so many is k_map.
sub draw_population
{
	my ($table, $k, $maps) = @_;
	return draw_map($table, $k) if $maps && chance($maps);
	return draw_presence($table, $k) if chance(0.5);
	my $everybody = population($table, $k);
	my $columns = @{ $table->{columns} };
	my $matching = sub { return scalar(my @matching = who_matches($table, $everybody, @_)); };
	my ($least, $most) = (pick(0, 0, 0.2, 0.4), pick(0.5, 0.75, 1));
	my $within = sub { my ($r, $of) = @_; return $of == 0 ? $r == 0 : $r / $of >= $least - $EPS && $r / $of <= $most + $EPS; };
	return {
		sql => "ARRAY[$Names::function{delta_presence}('crowd', $least, $most)]",
		people => [ map { [ 1, @$_[ 0 .. $columns - 1 ] ] } @$everybody ], within => $within,
		allows => sub { my ($levels, $rows) = @_; return @$rows >= $k && $within->(scalar @$rows, $matching->($levels, $rows)); },
		# who matches no class can only be among those that show nothing
		rest => sub { my ($levels, $classes, $rest) = @_; return $within->($rest, @$everybody - sum0(map { $matching->($levels, $_) } @$classes)); }
	};
}

# Of everybody those who show the same as some rows by these levels.
sub who_matches
{
	my ($table, $everybody, $levels, $rows) = @_;
	my @columns = @{ $table->{columns} };
	my $shows = sub { my ($one) = @_; return join('|', map { Table::node($columns[$_], $levels->[$_], $one->[$_]) } 0 .. $#columns); };
	my $shown = $shows->([ ($rows->[0]) x @columns ]);
	return grep { $shows->($_) eq $shown } @$everybody;
}

# k of the population: rows, or persons, of whom some have several rows.
sub draw_map
{
	my ($table, $k) = @_;
	my $everybody = population($table, $k);
	my $columns = @{ $table->{columns} };
	my $persons = chance(0.5);
	return {
		sql => "ARRAY[$Names::function{k_map}('crowd'" . ($persons ? ", 'who'" : '') . ')]', k_map => 1, persons => $persons,
		people => [ map { [ 1, @$_[ 0 .. $columns ] ] } @$everybody ],
		allows => sub {
			my @all = who_matches($table, $everybody, @_);
			my %who = map { $_->[$columns] => 1 } @all;
			return ($persons ? keys %who : @all) >= $k;
		},
		rest => sub { return 1; }
	};
}

# ---- rules: { sql, kind, test(rows) } ----

sub rule
{
	my ($table, $kind, $persons) = @_;
	my $f = \%Names::function;
	my @all = 0 .. $table->{n} - 1;

	if ($kind eq 'distinct')
	{
		my $l = pick(2, 2, 3);
		return { kind => $kind, sql => "$f->{distinct_l}('s', $l)", test => sub { keys %{ counts($table, 's', $_[0]) } >= $l } };
	}
	if ($kind eq 'several')
	{
		return {
			kind => $kind, sql => "$f->{distinct_l}(ARRAY['s', 'u'], 2)",
			test => sub {
				for my $pair ([ 's', 'u' ], [ 'u', 's' ])
				{
					my %group;
					push @{ $group{ Table::key($table->{ $pair->[1] }[$_]) } }, $_ for @{ $_[0] };
					return 0 if grep { keys %{ counts($table, $pair->[0], $_) } < 2 } values %group;
				}
				return 1;
			}
		};
	}
	if ($kind eq 'entropy')
	{
		my $l = pick(2, 2, 3);
		return { kind => $kind, sql => "$f->{entropy_l}('s', $l)",
			test => sub { entropy(counts($table, 's', $_[0], $persons)) >= $l - $EPS } };
	}
	if ($kind eq 'recursive')
	{
		my ($c, $l) = (pick(1.5, 2, 3), pick(2, 3));
		return { kind => $kind, sql => "$f->{recursive_cl}('s', $c, $l)",
			test => sub { recursive(counts($table, 's', $_[0], $persons), $l) < $c - $EPS } };
	}
	if ($kind eq 'alpha')
	{
		my $share = pick(0.5, 0.6, 2 / 3, 0.75);
		my %listed = map { ("=$_" => 1) } some(0.5, qw(p q r t));
		my $list = join(',', map { substr($_, 1) } sort keys %listed);
		return {
			kind => $kind, sql => "$f->{alpha}('s', $share" . (%listed ? ", '{$list}')" : ')'),
			test => sub {
				my $count = counts($table, 's', $_[0], $persons);
				my $size = size($table, $_[0], $persons);
				return !grep { (!%listed || $listed{$_}) && $count->{$_} > $share * $size + $EPS } keys %$count;
			}
		};
	}
	if ($kind eq 'closeness')
	{
		my ($t, $distance) = (pick(0.2, 0.35, 0.5), pick('equal', 'ordered', 'hierarchical'));
		my $whole = counts($table, 's', \@all, $persons);
		if ($distance eq 'hierarchical')
		{
			my $above = tree_above($table);
			return { kind => $kind, sql => "$f->{t_closeness}('s', $t, '$distance', 's_h')",
				test => sub { tree_distance(counts($table, 's', $_[0], $persons), $whole, $above) <= $t + $EPS } };
		}
		return { kind => $kind, sql => "$f->{t_closeness}('s', $t, '$distance')",
			test => sub { distance(counts($table, 's', $_[0], $persons), $whole, $distance) <= $t + $EPS } };
	}
	die $kind;
}

# Some rules that a method takes; { sql, persons, kinds, test(rows, few) } or undef.
sub draw
{
	my ($table, $k, @kinds) = @_;
	my $persons = (grep { $_ eq 'subject' } @kinds) && chance(0.4);
	my @wanted = (shuffled(grep { $_ ne 'subject' } @kinds))[ 0 .. pick(0, 0, 1) ];
	my @rules = map { rule($table, $_, $persons) } grep { defined } ($persons && chance(0.3) ? () : @wanted);

	return undef if !@rules && !$persons;
	return {
		sql => 'ARRAY[' . join(', ', ($persons ? "$Names::function{subject}('person')" : ()), map { $_->{sql} } @rules) . ']',
		persons => $persons,
		rules => \@rules,
		kinds => [ map { $_->{kind} } @rules ],
		test => sub {
			my ($rows, $few) = @_;
			return 0 if $persons && !$few && size($table, $rows, 1) < $k;
			return !grep { !$_->{test}->($rows) } @rules;
		}
	};
}

1;
