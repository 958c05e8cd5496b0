#!/usr/bin/perl
# nights.pl [--cases N] [--seed S] [--seconds T] [--only WORD]: publications over ten nights against brute force.
#
# Random sources change every night: rows come, go and change. A publication is made of each, by every model, method
# and option that publications take, and refreshed every night. The attacker keeps every release, knows everybody's
# quasi-identifiers, and knows each night the class of everybody (more than the released cells tell). Kept values
# identify the rows, so that the attacker intersects what a class shows from night to night.
#
# Asserted of a publication without protection:
# - what an unchanged row loses in candidates is only rows of its class that left or changed themselves;
# - an unchanged source makes no new release, whatever its physical order, and a changed one makes one;
# - kanon_compare_releases counts who joined, left, moved and changed, and among how few;
# - a release shows the source: each row once, in a class of at least k (blank rows aside, where residual is 'suppress').
# - a masked column shows of an unchanged row what it showed, or nothing that lasts (pseudonyms of a release).
# With protection: each history (classes, absences and changes of what is kept, over all releases) is that of at least
# k persons, and what is known of their values in any release keeps the rule. Where readers know by a column which rows are
# one person's, or by several which row is which, this is asked of all rows together that show one value of such a column.
# Shares no code with the extension. Of a series that fails the SQL is left in build/nights/.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../oracle/lib";
use Getopt::Long;
use JSON::PP;
use List::Util qw(sum0);
use Time::HiRes qw(time);
use Db;
use Random;

my ($cases, $seed, $seconds, $only) = (60, 1, undef, undef);

# Series that once did not hold: each first where time alone is the limit.  (Rows that readers know again after
# max_held; nights on which nobody can be published, which are held and do not fail.)
my @FOUND = (9000456, 9001090, 9008125, 9008748, 9009472, 9006973, 9010107);

GetOptions('cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds, 'only=s' => \$only)
  or die "usage: $0 [--cases N] [--seed S] [--seconds T] [--only WORD]\n";
my $NIGHTS = 10;
my $json = JSON::PP->new->canonical;
my ($db, @failures, %done, %told);
my $compared = 0;

# ---- what a publication can be ----

my @COLUMNS = qw(a b c);
my %HIERARCHIES = (
	a => [ undef, { interval => [ 2, 4 ] }, { quantile => [ 4, 2 ] } ],
	b => [ undef, { prefix => [ 1 ] } ],
	c => [ undef, undef, { interval => [ 10, 20, 40 ] }, { quantile => [ 8, 2 ] } ]);

sub hierarchies
{
	my ($all, @columns) = @_;
	my %chosen;
	for my $column (@columns)
	{
		my @list = grep { !$all || defined } @{ $HIERARCHIES{$column} };
		my $one = pick(@list);
		$chosen{$column} = $one if defined $one;
	}
	return %chosen ? (hierarchies => \%chosen) : ();
}

# Of each model: its methods, and options that go with them.
my %MODELS = (
	pattern_guided => sub {
		my $method = pick(qw(greedy greedy best improve ilp));
		return { method => $method, hierarchies(0, @_), residual => pick(qw(fill fill suppress drop error)),
			chance(0.2) ? (rules => { max_suppressed => 2 }) : (), chance(0.2) ? (partition_by => $_[0]) : (),
			chance(0.3) ? (seed => below(100)) : (), chance(0.3) ? (weights => [ map { 1 + below(3) } @_ ]) : () };
	},
	pattern_clustering => sub {
		my %seen;
		my @patterns = grep { !$seen{$_}++ } map { join '', map { pick('-', '*') } @_ } 1 .. 6;
		my $all = '*' x @_;
		return { method => pick(qw(greedy exact)), patterns => [ @patterns, $seen{$all} ? $all : ($all, $all) ], time_limit => '2 s' };
	},
	full_domain => sub {
		return { method => pick(qw(flash samarati incognito)), hierarchies(0, @_), suppression_limit => pick(0, 0.1, 0.1, 0.3),
			residual => pick(qw(fill fill suppress drop)) };
	},
	subtree => sub { return { method => pick(qw(top_down tds optimal)), hierarchies(1, @_), scheme => pick(qw(subtree sibling)) }; },
	cluster => sub {
		return { method => pick(qw(mondrian mondrian_relaxed top_down bottom_up forest gather pairs)), chance(0.6) ? hierarchies(0, @_) : (show => pick(qw(auto set suppress))),
			chance(0.3) ? (residual => 'drop') : () };
	});

# Rules beyond k, of the kept column `ill` and of persons.
sub privacy
{
	my ($model) = @_;
	return () if chance(0.6);
	return (rule => pick("kanon_k_map('pop')", "kanon_delta_presence('pop', 0, 0.9)")) if $model =~ /full_domain|subtree/ && chance(0.2);
	my $rule = pick("kanon_distinct_l('ill', 2)", "kanon_alpha('ill', 0.7)", "kanon_t_closeness('ill', 0.6)", "kanon_subject('who')", "kanon_distinct_l('ill', 3)",
		"kanon_entropy_l('ill', 2)", "kanon_recursive_cl('ill', 2, 2)");
	return (rule => $rule);
}

# Masks of columns that stay what they are.
my %MASKS = (
	num => [ { noise => 50, by => 'id' }, { noise => 50, by => 'id' }, { round => 10 }, { top => { value => 40 } }, { bottom => { value => 5 }, round => 4 }, { constant => 7 } ],
	tag => [ { pseudonym => 'publication' }, { pseudonym => 'release' }, { partial => [ 1, 2 ] } ],
	day => [ { shift => 'id', days => 20 }, { top => '2024-03-20' } ],
	flag => [ { pram => { yes => { yes => 0.8, no => 0.2 }, no => { no => 0.7, yes => 0.3 } }, by => 'id' } ]);

# ---- sources ----

sub new_row
{
	my ($case) = @_;
	my $id = ++$case->{last};
	my $row = { id => $id, who => chance($case->{many}) && $id > 1 ? 1 + below($id - 1) : $id, a => below(4) + 1, b => $case->{nulls} && chance(0.2) ? undef : pick(qw(xx xy yx yy)), c => below($case->{wide} ? 80 : 3),
		ill => 'ill' . below(5), aside => below(1000), tag => "person $id", day => sprintf('2024-03-%02d', 1 + $id % 28), flag => $id % 3 ? 'yes' : 'no' };
	$row->{whom} = $row->{who};
	return $row;
}

sub values_of { my ($row) = @_; return '(' . join(', ', @$row{qw(id id who a)}, defined $row->{b} ? "'$row->{b}'" : 'NULL', $row->{c}, "'$row->{ill}'", $row->{aside}, (map { "'$row->{$_}'" } qw(tag day flag)), $row->{whom}) . ')'; }

sub same { my ($case, $x, $y) = @_; return !grep { ($x->{$_} // 'NULL') ne ($y->{$_} // 'NULL') } @{ $case->{used} }; }

# All that the publication uses of the source.
sub used_of { my ($case) = @_; return join "\n", sort map { my $row = $_; join ' ', map { $row->{$_} // 'NULL' } @{ $case->{used} } } values %{ $case->{rows} }; }

sub add
{
	my ($case, @rows) = @_;
	$db->run('INSERT INTO src VALUES ' . join(', ', map { values_of($_) } @rows)) if @rows;
	for my $row (@rows)
	{
		$case->{rows}{ $row->{id} } = $row;
		$case->{person}{ $row->{id} } = ($case->{key} // '') eq 'who' ? $row->{who} : $row->{id};
	}
	return;
}

sub take_away
{
	my ($case, @ids) = @_;
	$db->run('DELETE FROM src WHERE id IN (' . join(', ', @ids) . ')') if @ids;
	delete $case->{rows}{$_} for @ids;
	return;
}

# One night: some come, go and change; or nothing does, though the table is written to. True: something used has changed.
sub pass_night
{
	my ($case) = @_;
	my @ids = sort { $a <=> $b } keys %{ $case->{rows} };
	my $before = used_of($case);

	if (chance(0.25))
	{
		my @again = some(0.3, @ids);
		my @rows = map { { %{ $case->{rows}{$_} }, aside => below(1000) } } shuffled(@again);
		take_away($case, @again);
		add($case, @rows);
		return 0;
	}
	my $share = pick(0.02, 0.05, 0.15);
	my @gone = @ids > 2 * $case->{k} + 8 ? some($share, @ids) : ();
	$case->{gone}{$_} = $case->{rows}{$_} for @gone;
	take_away($case, @gone);
	my @back = some($share, sort { $a <=> $b } keys %{ $case->{gone} });
	add($case, map { delete $case->{gone}{$_} } @back);
	for my $id (some($share, sort { $a <=> $b } keys %{ $case->{rows} }))
	{
		my $changed = { %{ $case->{rows}{$id} } };
		my $other = new_row($case);
		$case->{last}--;
		my $column = pick(qw(ill ill a b c));
		$changed->{$column} = $other->{$column};
		take_away($case, $id);
		add($case, $changed);
	}
	add($case, map { new_row($case) } 1 .. below(1 + int($share * 60)));
	return $before ne used_of($case);
}

# ---- what the attacker sees ----

# The class of every row that is published, as readers tell classes apart.
sub look
{
	my ($case) = @_;
	return look_marked($case) if $case->{marks};
	my $what = join ', ', @{ $case->{qis} }, $case->{options}{mark} ? 'kanon_pattern' : ();
	my $ill = (grep { $_ eq 'ill' } @{ $case->{options}{keep} }) ? 'ill' : "'' AS ill";
	my $cells = join ', ', @{ $case->{qis} }, $case->{masked} // (), $case->{known} ? 'kanon_pattern' : ();
	my $rows = $db->rows("SELECT id, row($what)::text AS class, $ill, $cells FROM pub");
	my (%seen, %ill, %cells);
	for my $row (@$rows)
	{
		complain($case, "row $row->{id} is published twice") if $seen{ $row->{id} };
		$seen{ $row->{id} } = $row->{class};
		$ill{ $row->{id} } = $row->{ill};
		$cells{ $row->{id} } = $row;
		my $true = $case->{rows}{ $row->{id} };
		complain($case, "row $row->{id} is not in the source") if !$true && !$case->{protect};
		next if !$case->{masked};
		my $shown = $row->{ $case->{masked} };
		if ($case->{forgets})
		{
			my $night = $case->{pseudonym}{$shown} //= $case->{night};
			complain($case, "row $row->{id} has a pseudonym of night $night again") if $night != $case->{night};
		}
		else
		{
			my $before = $case->{shown}{ $row->{id} } //= $shown;
			complain($case, "row $row->{id} shows $shown of $case->{masked} after $before") if $shown ne $before;
		}
	}
	@$case{qw(cells_before cells)} = ($case->{cells} // {}, \%cells);
	if ($case->{known})
	{
		fewest($case, 'shown', values %cells);
		$case->{ill} = \%ill;
		return \%seen;
	}
	my %size;
	$size{$_}++ for values %seen;
	for my $class (keys %size)
	{
		my $blank = $class =~ /^\((,)*([*-]*)\)$/ && ($case->{options}{residual} // '') eq 'suppress';
		my %persons = map { $case->{person}{$_} => 1 } grep { $seen{$_} eq $class } keys %seen;
		complain($case, 'a class of ' . keys(%persons) . ' persons') if keys %persons < $case->{k} && !$blank && ($case->{rule} // '') !~ /k_map/;
		complain($case, "a class of $size{$class} rows") if $size{$class} < $case->{k} && !$blank && ($case->{rule} // '') !~ /k_map/;
	}
	$case->{ill} = \%ill;
	return \%seen;
}

# A row's cells, one for each column: undef where nothing is shown. NULL of the source may be a value.
sub shown_of
{
	my ($case, $row) = @_;
	my $value = ($case->{options}{missing} // '') eq 'value';
	return map { $row->{ $case->{qis}[$_] } // ($value && substr($row->{kanon_pattern}, $_, 1) ne '*' ? 'NULL' : undef) } 0 .. $#{ $case->{qis} };
}

# Of each set of columns that the attacker may know: the combinations that rows show, each in k of them.
sub fewest
{
	my ($case, $which, @rows) = @_;
	my @shown = map { [ shown_of($case, $_) ] } @rows;
	for my $set (1 .. 2**@{ $case->{qis} } - 1)
	{
		my @columns = grep { $set >> $_ & 1 } 0 .. $#{ $case->{qis} };
		next if @columns > $case->{known};
		my %n;
		for my $row (@shown) { $n{ join '|', @$row[@columns] }++ if !grep { !defined } @$row[@columns]; }
		complain($case, "$which: @columns $_ in $n{$_} rows") for grep { $n{$_} < $case->{k} } sort keys %n;
	}
	return;
}

# How coarse a cell is: 0 for a value, more for blank than for any level.
sub level_of { my ($row, $c) = @_; return index('-123456789*', substr($row->{kanon_pattern}, $c, 1)); }

# The rows that are as they were: what they show tonight they showed the night before, and k of them show it.
sub judge_known
{
	my ($case, $then, $now) = @_;
	my ($old, $new) = @$case{qw(cells_before cells)};
	my @stayed = grep { $old->{$_} && $then->{$_} && same($case, $then->{$_}, $now->{$_}) } sort keys %$new;
	for my $id (@stayed)
	{
		my @then = shown_of($case, $old->{$id});
		my @now = shown_of($case, $new->{$id});
		for my $c (0 .. $#now)
		{
			complain($case, "row $id shows $case->{qis}[$c] again") if defined $now[$c] && !defined $then[$c];
			complain($case, "row $id shows $case->{qis}[$c] finer than before") if defined $now[$c] && level_of($new->{$id}, $c) < level_of($old->{$id}, $c);
		}
	}
	fewest($case, 'unchanged rows', map { $new->{$_} } @stayed);
	return;
}

sub complain
{
	my ($case, $text) = @_;
	push @failures, "case $case->{seed} night $case->{night} ($case->{what}): $text";
	$case->{failed} = 1;
	return;
}

# Candidates of each row since it last changed; what they lose must have left or changed.
sub intersect
{
	my ($case, $seen, $then, $now) = @_;
	my $candidates = $case->{candidates};
	my (%members, $lost);
	push @{ $members{ $seen->{$_} } }, $_ for keys %$seen;
	my $stayed = sub { my ($id) = @_; return $now->{$id} && $then->{$id} && same($case, $then->{$id}, $now->{$id}); };
	# (whoever is not shown for a while is remembered)
	for my $id (keys %$candidates)
	{
		if (!$stayed->($id)) { delete $candidates->{$id}; next; }
		delete $candidates->{$id}{$_} for grep { !$stayed->($_) && !$seen->{$id} } keys %{ $candidates->{$id} };
	}
	for my $id (keys %$seen)
	{
		my %company = map { $_ => 1 } @{ $members{ $seen->{$id} } };
		if (!$candidates->{$id})
		{
			$candidates->{$id} = \%company;
			next;
		}
		for my $other (keys %{ $candidates->{$id} })
		{
			next if $company{$other};
			delete $candidates->{$id}{$other};
			next if !$stayed->($other);
			$lost //= "row $id has lost row $other, and neither has changed (" . keys(%{ $candidates->{$id} }) . " candidates are left)";
		}
	}
	complain($case, $lost) if defined $lost;
	return;
}

# What kanon_compare_releases has to say of two releases of rows that are persons: a class became the one that looks the same,
# or else that most of it went to. NULL: it is open which.
sub differences
{
	my ($then, $now, $ill_then, $ill_now, $k) = @_;
	my (%pairs, %main, %label, %told);
	$pairs{ $then->{$_} }{ $now->{$_} }++ for grep { defined $now->{$_} } keys %$then;
	for my $class (keys %pairs)
	{
		my $to = $pairs{$class};
		my @most = sort { $to->{$b} <=> $to->{$a} } keys %$to;
		$main{$class} = $to->{$class} ? $class : $most[0];
		return if !$to->{$class} && @most > 1 && $to->{ $most[0] } == $to->{ $most[1] };
	}
	for my $id (keys %{ { %$then, %$now } })
	{
		my ($one, $two) = ($then->{$id}, $now->{$id});
		my $kind = !defined $one ? 'joined' : !defined $two ? 'departed' : $main{$one} ne $two ? 'moved' : $ill_then->{$id} ne $ill_now->{$id} ? 'changed' : next;
		$label{$kind}{ join '|', $one // '', $two // '' }++;
	}
	for my $kind (qw(joined departed moved changed))
	{
		my @n = values %{ $label{$kind} // {} };
		$told{$kind} = sum0(@n);
		$told{"${kind}_below_k"} = sum0(grep { $_ < $k } @n);
	}
	return \%told;
}

sub compare
{
	my ($case, $before, $release, $then, $now, $ill_then) = @_;
	return if $case->{what} =~ /"pseudonym":"release"/; # every row has another one then, and differs
	my $should = differences($then, $now, $ill_then, $case->{ill}, $case->{k}) // return;
	my ($state, $lines) = $db->try("SELECT * FROM kanon_compare_releases('pub', $before, $release)");
	return complain($case, "kanon_compare_releases: $state") if $state ne '00000';
	for my $what (sort keys %$should)
	{
		complain($case, "$what are $lines->[0]{$what} instead of $should->{$what}") if $lines->[0]{$what} != $should->{$what};
	}
	$compared++;
	return;
}

# What the refresh recorded, counted from hashes, is what the function counts from the values.
sub compare_smallest
{
	my ($case, $before, $release) = @_;
	my $rows = $db->rows("SELECT r.smallest_difference AS told, c.smallest_difference AS counted FROM kanon_releases r CROSS JOIN kanon_compare_releases('pub', $before, $release) c WHERE r.release = $release");
	my ($told, $counted) = map { $_ // 'none' } @{ $rows->[0] }{qw(told counted)};
	complain($case, "the smallest difference is $told instead of $counted") if $told ne $counted;
	return;
}

# ---- histories ----

my %BROKEN = (
	distinct_l => sub { my ($l, @n) = @_; return @n < $l; },
	alpha => sub { my ($alpha, @n) = @_; return $n[0] > $alpha * sum0(@n) + 1e-9; },
	entropy_l => sub { my ($l, @n) = @_; my $all = sum0(@n); return -sum0(map { $_ / $all * log($_ / $all) } @n) < log($l) - 1e-9; },
	recursive_cl => sub { my ($c, $l, @n) = @_; return @n < $l || $n[0] >= $c * sum0(@n[ $l - 1 .. $#n ]); });

# The rule on the values in words; none of persons and distances, which are of the whole table.
sub is_broken
{
	my ($rule, @values) = @_;
	my ($name, @numbers) = $rule =~ /^kanon_(\w+)\('ill'(?:, ([\d.]+))?(?:, ([\d.]+))?/;
	return 0 if !$name || !$BROKEN{$name};
	my %n;
	$n{$_}++ for @values;
	return $BROKEN{$name}->((grep { defined } @numbers), sort { $b <=> $a } values %n);
}

# One more release of all rows that were ever shown; then whoever has one history is counted.
sub judge_histories
{
	my ($case, $seen) = @_;
	my $nights = @{ $case->{nights} };
	my $rows = $case->{followed};

	push @{ $case->{nights} }, $case->{ill};
	$rows->{$_} //= { history => '- ' x $nights, ill => $case->{ill}{$_} } for keys %$seen;
	my %of;
	for my $id (keys %$rows)
	{
		my $row = $rows->{$id};
		if (defined $seen->{$id})
		{
			$row->{history} .= "$seen->{$id}" . ($row->{ill} eq $case->{ill}{$id} ? ' ' : '! ');
			$row->{ill} = $case->{ill}{$id};
		}
		else { $row->{history} .= '- '; }
		push @{ $of{ $row->{history} } }, $id;
	}
	for my $history (sort keys %of)
	{
		my %persons = map { $case->{person}{$_} => 1 } @{ $of{$history} };
		complain($case, 'a history of ' . keys(%persons) . " persons: $history (rows @{ $of{$history} })") if keys %persons < $case->{k};
		next if !$case->{rule};
		for my $night (0 .. $nights)
		{
			my $ill = $case->{nights}[$night];
			# (rules count a person once for each value)
			my %once = map { ("$case->{person}{$_} $ill->{$_}" => $ill->{$_}) } grep { defined $ill->{$_} } @{ $of{$history} };
			my @values = values %once;
			complain($case, "values @values in release $night of history $history (rows @{ $of{$history} })") if @values && is_broken($case->{rule}, @values);
		}
	}
	return;
}

# ---- a series ----

# Methods beside those of %MODELS.  (Drawn last, so that series that were found stay what they are.)
sub rare_methods
{
	my ($case) = @_;
	my ($model, $k) = @$case{qw(model k)};
	return $model eq 'pattern_guided' ? ('fpt', $k == 2 ? 'matching' : ()) : $model eq 'pattern_clustering' ? 'fpt' : $model eq 'full_domain' ? 'speedy'
	  : $model eq 'cluster' ? ($k == 2 ? 'pairs' : $k == 3 ? 'triples' : 'gather') : 'optimal';
}

sub draw_case
{
	my ($number) = @_;
	srand($number);
	my $case = { seed => $number, k => pick(2, 3, 3, 5), rows => {}, last => 0, night => 0, wide => chance(0.4), many => pick(0.1, 0.1, 0.4), candidates => {}, gone => {}, nights => [], followed => {} };
	my $model = pick(sort keys %MODELS);
	my @qis = @COLUMNS[ 0 .. (chance(0.3) ? 1 : 2) ];
	my %options = %{ $MODELS{$model}->(@qis) };
	my %privacy = privacy($model);

	# what identifies rows is kept, so that the attacker knows them again
	$options{keep} = chance(0.5) ? [ 'id', 'ill' ] : ['id'];
	$options{keep} = [ 'id', 'ill' ] if %privacy;
	$options{allow_identifying} = [ 'id' ];
	$options{mark} = \1 if chance(0.3);
	$options{min_rows} = 0;
	@$case{qw(model qis options rule)} = ($model, \@qis, \%options, $privacy{rule});
	$case->{key} = pick(undef, undef, 'num', 'who');
	$case->{protect} = $case->{key} && chance(0.6);
	$options{max_held} = pick(1, 3) if $case->{protect} && chance(0.3);
	# (a column that is called as a rule's argument is in the publication's view of the source)
	my %used = map { $_ => 1 } @qis, @{ $options{keep} }, ($case->{key} // '') eq 'who' ? 'who' : (), ($privacy{rule} // '') =~ /who/ ? 'who' : (), ($privacy{rule} // '') =~ /recursive_cl/ ? 'c' : ();
	$case->{used} = [ sort keys %used ];
	if (!grep { $_ == $number } @FOUND)
	{
		$options{method} = pick(rare_methods($case)) if chance(0.2);
		rare_options($case);
		known_persons($case);
	}
	$case->{what} = join ' ', $case->{model}, $options{method}, "k $case->{k}", $case->{key} ? "key $case->{key}" : 'no key', $case->{protect} ? 'protected' : (), $case->{rule} // '', $json->encode(\%options);
	return $case;
}

# Who knows few columns, of values with levels, of one level for all rows, and where NULL of the source is a value.
sub known_options
{
	my ($case) = @_;
	my $options = $case->{options};
	if (chance(0.3))
	{
		$case->{model} = 'full_domain';
		delete $options->{rules};
		@$options{qw(method suppression_limit)} = (pick(qw(flash samarati incognito speedy)), pick(0.2, 0.5, 1));
	}
	elsif (chance(0.4))
	{
		$options->{missing} = 'value';
	}
	%$options = (%$options, hierarchies(0, @{ $case->{qis} })) if chance(0.6);
	$case->{nulls} = $options->{missing} || chance(0.2);
	return;
}

# What goes with some of these only.  (Drawn last, too.)
sub rare_options
{
	my ($case) = @_;
	my $options = $case->{options};
	if ($case->{model} eq 'pattern_guided' && chance(0.2))
	{
		%$options = (method => pick(qw(greedy greedy improve)), known_columns => 1 + below(scalar @{ $case->{qis} }), chance(0.3) ? (rules => { max_suppressed => 2 }) : (), mark => \1,
			map { $_ => $options->{$_} } qw(keep allow_identifying min_rows));
		@$case{qw(key protect rule known)} = (undef, undef, undef, $options->{known_columns});
		$case->{used} = [ sort @{ $case->{qis} }, @{ $options->{keep} } ];
	}
	# (each person has one row at first)
	$case->{single} = ($case->{key} // '') eq 'who' && chance(0.4);
	if (!$case->{known} && chance(0.3))
	{
		my $column = pick(($case->{key} // '') ne 'num' ? ('num', 'num') : (), qw(tag tag day flag));
		my $mask = pick(@{ $MASKS{$column} });
		push @{ $options->{$_} }, $column for qw(keep allow_identifying);
		$options->{mask} = { $column => $mask };
		$case->{masked} = $column;
		$case->{forgets} = ($mask->{pseudonym} // '') eq 'release';
	}
	known_options($case) if $case->{known};
	return;
}

# Readers know which rows are one person's, by a pseudonym that lasts or by a column as it is; or rows by two columns.
sub known_persons
{
	my ($case) = @_;
	my $options = $case->{options};
	return if !$case->{protect} || $case->{key} ne 'who' || $case->{masked} || chance(0.4);
	my @marks = @{ pick([ 'whom' ], [ 'whom' ], [ 'id', 'whom' ], [ 'id', 'ill' ]) };
	$options->{keep} = [ @marks, 'ill' ];
	$options->{keep} = [ 'ill', 'id' ] if $marks[1] && $marks[1] eq 'ill';
	$options->{allow_identifying} = [@marks];
	$options->{mask} = { whom => { pseudonym => 'publication' } } if $marks[-1] eq 'whom' && chance(0.6);
	$case->{marks} = \@marks;
	my %used = map { $_ => 1 } @{ $case->{used} }, @{ $options->{keep} };
	$case->{used} = [ sort keys %used ];
	return;
}

# What each value of such a column shows: classes, and what is kept beside it.
sub look_marked
{
	my ($case) = @_;
	my $what = join ', ', @{ $case->{qis} }, $case->{options}{mark} ? 'kanon_pattern' : ();
	my $kept = join ', ', @{ $case->{options}{keep} };
	my $rows = $db->rows("SELECT row($what)::text AS class, $kept FROM pub");
	my (%seen, %times, %size);
	for my $row (@$rows)
	{
		$size{ $row->{class} }{ $row->{whom} // $case->{person}{ $row->{id} } } = 1;
		complain($case, "row $row->{id} is published twice") if defined $row->{id} && $times{ $row->{id} }++;
		push @{ $seen{$_}{ $row->{$_} } }, [ $row->{class}, join '|', map { $row->{$_} } @{ $case->{options}{keep} } ] for grep { $_ ne 'ill' } @{ $case->{marks} };
	}
	for my $class (sort keys %size)
	{
		my $blank = $class =~ /^\((,)*([*-]*)\)$/ && ($case->{options}{residual} // '') eq 'suppress';
		complain($case, 'a class of ' . keys(%{ $size{$class} }) . ' persons') if keys %{ $size{$class} } < $case->{k} && !$blank && ($case->{rule} // '') !~ /k_map/;
	}
	return \%seen;
}

# Whoever has one history, of all that a value of such a column shows, is counted.
sub judge_marked
{
	my ($case, $seen) = @_;
	my $nights = $case->{judged}++ // 0;
	for my $mark (grep { $_ ne 'ill' } @{ $case->{marks} })
	{
		my $followed = $case->{tokens}{$mark} //= {};
		my %of;
		$followed->{$_} //= { history => '- ' x $nights } for keys %{ $seen->{$mark} };
		for my $value (keys %$followed)
		{
			my $token = $followed->{$value};
			my $now = $seen->{$mark}{$value};
			my $kept = $now ? join ';', sort map { $_->[1] } @$now : undef;
			$token->{history} .= $now ? join('+', sort map { $_->[0] } @$now) . (defined $token->{kept} && $token->{kept} ne $kept ? '! ' : ' ') : '- ';
			$token->{kept} = $kept if $now;
			$of{ $token->{history} }{ $mark eq 'id' ? $case->{person}{$value} : $value } = 1;
		}
		# (whoever is alone with all of her rows in the first release goes on as she is, and nobody else goes with her)
		$case->{first}{$mark} //= { map { $_ => scalar keys %{ $of{$_} } } keys %of };
		for my $history (grep { keys %{ $of{$_} } < $case->{k} } sort keys %of)
		{
			my ($began) = $history =~ /^([^ ]* )/;
			complain($case, 'by ' . $mark . ' a history of ' . keys(%{ $of{$history} }) . " persons: $history") if $mark eq 'id' || $began eq '- ' || keys %{ $of{$history} } < $case->{first}{$mark}{$began};
		}
	}
	return;
}

sub judge
{
	my ($case, @what) = @_;
	return judge_marked($case, $what[0]) if $case->{marks};
	return judge_known($case, @what[ 1, 2 ]) if $case->{known};
	return $case->{protect} ? judge_histories($case, $what[0]) : intersect($case, @what);
}

sub run_case
{
	my ($case) = @_;
	$db->run('DROP TABLE IF EXISTS src');
	$db->run('CREATE TABLE src (id int, num int, who int, a int, b text, c int, ill text, aside int, tag text, day date, flag text, whom int)');
	$db->run('DROP TABLE IF EXISTS pop');
	$db->run("CREATE TABLE pop AS SELECT a, b, c FROM generate_series(1, 4) a, unnest('{xx,xy,yx,yy}'::text[]) b, generate_series(0, " . ($case->{wide} ? 79 : 2) . ") c, generate_series(1, 12)");
	my $many = $case->{many};
	$case->{many} = 0 if $case->{single};
	add($case, map { new_row($case) } 1 .. 20 + below(50));
	$case->{many} = $many;
	my $options = $db->quote($json->encode($case->{options})) . '::jsonb' . ($case->{rule} ? " || jsonb_build_object('privacy', jsonb_build_array($case->{rule}))" : '');
	my ($state) = $db->try("SELECT kanon_create_publication('pub', 'src', '{" . join(',', @{ $case->{qis} }) . "}', $case->{k}, options => $options, model => '$case->{model}'"
		  . ($case->{key} ? ", key => '$case->{key}'" : '') . ($case->{protect} ? ', protect_successive => true' : '') . ', keep_releases => 2)');
	$told{"$case->{model} $case->{options}{method}: created $state"}++ if $state ne '00000';
	complain($case, "creation: $state") if $state =~ /^XX/;
	return if $state ne '00000';
	$done{"$case->{model} $case->{options}{method}" . ($case->{known} ? ' known_columns' . join('', map { $case->{options}{$_} ? " $_" : () } qw(rules hierarchies missing)) : $case->{masked} ? ' ' . join('', sort keys %{ $case->{options}{mask}{ $case->{masked} } }) : '') . ($case->{single} ? ' second rows' : '') . ($case->{marks} ? " known by @{ $case->{marks} }" : '')}++;
	my ($seen, $then, $release) = (look($case), { %{ $case->{rows} } }, 1);
	judge($case, $seen, {}, $then);
	my ($changed, $held) = (0, $db->rows("SELECT coalesce(held_persons, 0) AS n FROM kanon_releases WHERE publication LIKE '%.pub' AND release = 1")->[0]{n});
	for my $night (1 .. $NIGHTS)
	{
		$case->{night} = $night;
		$changed |= pass_night($case);
		my ($state, $told) = $db->try("SELECT release, status, error, message, held_persons FROM kanon_refresh('pub')");
		my $line = $told && $told->[0];
		if (!$line) { complain($case, "refresh: $state"); last; }
		if ($line->{status} eq 'failed' || $line->{status} eq 'held')
		{
			$told{"$case->{model} $case->{options}{method}: $line->{status}, $line->{message}"}++;
			complain($case, "refresh: $line->{error} $line->{message}") if ($line->{error} // '') =~ /^XX/ || $case->{protect} && $line->{status} eq 'failed';
			next;
		}
		if (!$changed && !$held)
		{
			complain($case, "an unchanged source: $line->{status}, release $line->{release} after $release") if $line->{status} ne 'unchanged' || $line->{release} != $release;
			last if $case->{failed};
			next;
		}
		complain($case, "a changed source: $line->{status}") if $line->{status} ne 'current' && ($changed || $line->{status} ne 'unchanged');
		my ($before, $seen_before, $ill_before) = ($release, $seen, $case->{ill});
		$release = $line->{release};
		$held = $line->{held_persons};
		$seen = look($case);
		compare($case, $before, $release, $seen_before, $seen, $ill_before) if ($case->{key} // '') eq 'num';
		compare_smallest($case, $before, $release) if $case->{key} && !$case->{protect};
		judge($case, $seen, $then, $case->{rows});
		$then = { %{ $case->{rows} } };
		$changed = 0;
		last if $case->{failed};
	}
	$db->run("SELECT kanon_drop_publication('pub')");
	return;
}

# ---- all ----

sub leave
{
	my ($case) = @_;
	mkdir "$FindBin::Bin/../../build";
	mkdir "$FindBin::Bin/../../build/nights";
	open my $file, '>', "$FindBin::Bin/../../build/nights/$case->{seed}.sql" or die "$!\n";
	print $file $db->take_log;
	close $file;
	$db->run("DROP SCHEMA IF EXISTS nights CASCADE");
	return;
}

my ($begun, $held, $asked) = (time, 0, 0);
$db = Db->connect;
for my $number ((defined $seconds ? @FOUND : ()), $seed .. $seed + $cases - 1)
{
	last if defined $seconds && time - $begun > $seconds;
	my $case = draw_case($number);
	next if defined $only && $case->{what} !~ /$only/;
	$db->take_log;
	$db->run('DROP SCHEMA IF EXISTS nights CASCADE');
	$db->run('CREATE SCHEMA nights');
	$db->run('SET search_path = nights, public');
	run_case($case);
	$asked++;
	if ($case->{failed}) { leave($case); }
	else { $held++; }
}
printf "%s: %d series\n", $_, $done{$_} for sort keys %done;
printf "told %d times: %s\n", $told{$_}, $_ for sort keys %told;
print "FAILED $_\n" for @failures;
print "$compared pairs of releases compared\n";
printf "%d of %d series of %d nights hold (%d seconds)\n", $held, $asked, $NIGHTS, time - $begun;
printf "# %s\n", $held < $asked ? $asked - $held . " of $asked tests failed" : "All $asked tests passed";
exit($held < $asked);
