package Verdict;

# Is a release right?  Counted from the rows alone, as the pages say; shares no code with the extension.

use strict;
use warnings;
use Exporter 'import';
use JSON::PP;
use List::Util qw(max min sum0 uniq);
use POSIX qw(floor);
use Time::Local qw(timegm);
use Draw;
use Privacy;
our @EXPORT = qw(verdict label class_test whole_of);

my $EPS = 1e-9;
my $json = JSON::PP->new->canonical->allow_nonref;

sub days { my ($y, $m, $d) = $_[0] =~ /^(\d+)-(\d+)-(\d+)/ or return $_[0]; return timegm(0, 0, 0, $d, $m - 1, $y) / 86400; }

# ---- what a cell stands for ----

# The label of a value at a level, where that is known by the page; undef else.
sub label
{
	my ($call, $c, $level, $value) = @_;
	my $how = $call->{levels}[$c];
	return $value if $level == 0 || !defined $how;
	return ($Draw::above{$how}->($value))[ $level - 1 ] if !ref $how;
	my $kept = ref $how && $how->{prefix} ? $how->{prefix}[ $level - 1 ] : undef;
	return substr($value, 0, $kept) . '*' x (length($value) - $kept) if defined $kept;
	# (cells of these are ranges, and not compared with it)
	return 'from ' . floor(days($value) / $how->{interval}[ $level - 1 ]) if ref $how && $how->{interval};
	return substr($value, 0, { month => 7, year => 4 }->{ $how->{date}[ $level - 1 ] }) if ref $how && $how->{date};
	return undef;
}

# Could a cell be that of a row with this value?  symbol: of the pattern, where there is one.
sub stands
{
	my ($call, $c, $cell, $symbol, $value) = @_;
	return 1 if defined $symbol && $symbol eq '*';
	if (ref $cell) { return scalar grep { defined $_ ? defined $value && "$_" eq $value : !defined $value } @$cell; }
	if (!defined $cell) { return !defined $symbol || $symbol eq '~' || !defined $value; }
	return 0 if !defined $value;
	if ($cell =~ /^([\[(])([^,]*),([^,]*)([\])])$/)
	{
		my ($open, $low, $high, $close) = ($1, map({ $_ eq '' ? undef : days($_) } $2, $3), $4);
		my $v = days($value);
		return (!defined $low || ($open eq '[' ? $v >= $low : $v > $low)) && (!defined $high || ($close eq ']' ? $v <= $high : $v < $high));
	}
	return 1 if $cell eq $value && (!defined $symbol || $symbol eq '-' || $symbol eq '~');
	my $how = $call->{levels}[$c] // return 0;
	for my $level (!defined $symbol ? 1 .. 3 : $symbol =~ /[1-9]/ ? $symbol : ())
	{
		my $label = label($call, $c, $level, $value) // next;
		return 1 if $label eq $cell;
	}
	return 0;
}

sub shows
{
	my ($call, $row, $q) = @_;
	my @symbols = defined $row->{kanon_pattern} ? split(//, $row->{kanon_pattern}) : ();
	for my $c (0 .. $#$q) { return 0 if !stands($call, $c, $row->{"q" . ($c + 1)}, $symbols[$c], $q->[$c]); }
	return 1;
}

# ---- rules ----

sub size { my ($rows, $persons) = @_; return $persons ? scalar uniq(map { $_->{person} } @$rows) : scalar @$rows; }

sub counts
{
	my ($column, $rows, $persons) = @_;
	my (%count, %had);
	for (@$rows) { my $v = key($_->{$column}); $count{$v}++ if !$persons || !$had{$v}{ $_->{person} }++; }
	return \%count;
}

my %sensitive_above = ('=p' => 'g', '=q' => 'g', '=r' => 'h', '=t' => 'h', 'null' => 'null');

# Which rule about values a class breaks, or ''.  whole: the rows of the table.
sub broken
{
	my ($rule, $rows, $whole, $persons) = @_;
	my $kind = $rule->{kind};
	my $count = $rule->{columns}[0] ? counts('s', $rows, $persons) : {};
	my @sizes = sort { $b <=> $a } values %$count;
	my $all = sum0(@sizes);

	if ($kind eq 'distinct') { return @sizes < $rule->{l}; }
	if ($kind eq 'several')
	{
		for my $pair ([ 's', 'u' ], [ 'u', 's' ])
		{
			my %group;
			push @{ $group{ key($_->{ $pair->[1] }) } }, $_ for @$rows;
			return 1 if grep { keys %{ counts($pair->[0], $_, 0) } < 2 } values %group;
		}
		return 0;
	}
	if ($kind eq 'entropy') { return -sum0(map { $_ / $all * log($_ / $all) } @sizes) < log($rule->{l}) - $EPS; }
	if ($kind eq 'recursive') { my $tail = sum0(@sizes[ $rule->{l} - 1 .. $#sizes ]); return $tail == 0 || $sizes[0] >= $rule->{c} * $tail - $EPS; }
	if ($kind eq 'alpha')
	{
		my %listed = map { ("=$_" => 1) } @{ $rule->{listed} };
		my $size = size($rows, $persons);
		return scalar grep { (!%listed || $listed{$_}) && $count->{$_} > $rule->{alpha} * $size + $EPS } keys %$count;
	}
	if ($kind eq 'closeness')
	{
		my $table = counts('s', $whole, $persons);
		return 1 if grep { !$table->{$_} } keys %$count;
		my $distance;
		if ($rule->{distance} eq 'hierarchical') { $distance = Privacy::tree_distance($count, $table, { map { $_ => [ $sensitive_above{$_} ] } keys %sensitive_above }); }
		else { $distance = Privacy::distance($count, $table, $rule->{distance}); }
		return $distance > $rule->{t} + $EPS;
	}
	return 0;
}

sub has { my ($call, $kind) = @_; my ($rule) = grep { $_->{kind} eq $kind } @{ $call->{rules} }; return $rule; }

# May these rows be a class, populations aside?  few: k may be broken.
sub class_test
{
	my ($call, $rows, $whole, $persons, $few) = @_;
	return 'k' if !$few && !has($call, 'k_map') && size($rows, $persons) < $call->{k};
	for my $rule (@{ $call->{rules} }) { return $rule->{kind} if broken($rule, $rows, $whole, $persons); }
	return '';
}

# The whole table as one blank class: does it keep the rules?  What it breaks, or ''.
sub whole_of
{
	my ($call, $rows, $crowd, $persons) = @_;
	my $broken = class_test($call, $rows, $rows, $persons, 0);
	return $broken if $broken ne '';
	for my $rule (@{ $call->{rules} })
	{
		my $n = @$rows;
		if ($rule->{kind} eq 'k_map') { my $m = $rule->{who} ? uniq(map { $_->{person} } @$crowd) : @$crowd; return 'k_map' if $m < $call->{k}; }
		if ($rule->{kind} eq 'delta_presence') { my $share = $n / max(1, scalar @$crowd); return 'delta' if $share < $rule->{least} - $EPS || $share > $rule->{most} + $EPS; }
		if ($rule->{kind} eq 'presence') { return 'presence' if Privacy::likelihood($n, $call->{world}{others}, 1, $rule->{least}, $rule->{most}) < $rule->{sure} - $EPS; }
	}
	return '';
}

# ---- the release ----

sub look { my ($row, @columns) = @_; return $json->encode([ @$row{ @columns, qw(kanon_pattern kanon_batch) } ]); }

# now: { rows => { id => row }, crowd, was => { id => [rows] }, persons, dropped }; target: rows as JSON.  What is wrong, or ''.
sub verdict
{
	my ($call, $now, $target) = @_;
	my ($model, $method, $option) = @$call{qw(model method option)};
	my @source = map { $now->{rows}{$_} } sort { $a <=> $b } keys %{ $now->{rows} };
	my $whole = \@source;
	my @columns = map { $_->{name} } @{ $call->{world}{columns} };
	my $records = $model eq 'freeform' || $method =~ /^(one_k|k_one|k_k)$/;
	my $held = $call->{publication} =~ /protected|appended/;

	my %seen;
	for my $row (@$target)
	{
		return "row $row->{id} is there twice" if $seen{ $row->{id} }++;
		my @past = ($now->{rows}{ $row->{id} } // (), $held ? @{ $now->{was}{ $row->{id} } // [] } : ());
		return "row $row->{id} is not of the source" if !@past;
		return "row $row->{id} shows what it is not: " . $json->encode($row) if !$records && !grep { shows($call, $row, $_->{q}) } @past;
		return "row $row->{id} has other kept values" if !grep { my $p = $_; !grep { $_ ne ($call->{masked} // '') && key($row->{$_}) ne key($p->{$_}) } qw(s u person) } @past;
	}
	my $gone = @source - @$target;
	my $drops = !$call->{known} && $call->{residual} eq 'drop' && $model !~ /subtree|pattern_clustering|freeform/;
	return "$gone rows are left out" if $gone > 0 && !$held && !$drops;
	return "$gone rows are left out, k = $call->{k}" if $gone >= $call->{k} && !$held && !@{ $call->{rules} } && !$now->{persons} && $model !~ /full_domain/ && $method ne 'forest' && !$now->{later};
	return records($call, \@source, $target) if $records;
	return combinations($call, $target, $now->{persons}) || blank_in_vain($call, $now, $target) if $call->{known};
	my %class;
	push @{ $class{ look($_, @columns) } }, $_ for @$target;
	my @classes = map { $class{$_} } sort keys %class;
	for my $rows (@classes)
	{
		my $blank = defined $rows->[0]{kanon_pattern} ? $rows->[0]{kanon_pattern} =~ /^\*+$/ : !grep { defined $rows->[0]{$_} } @columns;
		my $few = $blank && $call->{residual} eq 'suppress' && $model =~ /pattern_guided|full_domain|cluster$/ && $model ne 'pattern_clustering';
		my $test = $held ? { %$call, rules => [ grep { $_->{kind} ne 'closeness' } @{ $call->{rules} } ] } : $call;
		my $broken = $call->{masked} && $call->{masked} =~ /^[su]$/ ? '' : class_test($test, $rows, $whole, $now->{persons}, $few);
		return 'a class of ' . @$rows . ($blank ? ' (blank)' : '') . " breaks $broken" if $broken ne '';
		return "pattern $rows->[0]{kanon_pattern} is not allowed"
			if $call->{patterns} && defined $rows->[0]{kanon_pattern} && !$blank && !grep { $_ eq $rows->[0]{kanon_pattern} } @{ $call->{patterns} };
	}
	my $answer = populations($call, $now, \@classes, \@columns);
	return $answer if $answer ne '';
	return one_node($call, $target) if $model eq 'full_domain';
	return one_cut($call, $now, $target) if $model eq 'subtree' && !$held;
	return '';
}

# A node is that of all rows; the others are suppressed, and no more than the limit has.
sub one_node
{
	my ($call, $target) = @_;
	return '' if !$call->{option}{mark} || $call->{publication} eq 'protected';
	my %nodes;
	$nodes{ join '.', $_->{kanon_batch} // '', $_->{kanon_pattern} }++ for @$target;
	my %batches;
	for (keys %nodes) { my ($b, $p) = /^([^.]*)\.(.*)$/; $batches{$b}{$p} = $nodes{$_}; }
	for my $patterns (values %batches)
	{
		my @nodes = grep { !/^\*+$/ } keys %$patterns;
		return "nodes @nodes" if @nodes > 1;
		next if !@nodes || $call->{publication} ne 'call';
		my $n = sum0(values %$patterns);
		my $rest = sum0(map { $patterns->{$_} } grep { /^\*+$/ } keys %$patterns);
		return "$rest of $n rows are suppressed, the limit is $call->{option}{suppression_limit}" if $call->{residual} ne 'drop' && $rest > int($call->{option}{suppression_limit} * $n * (1 + 1e-15) + 1e-12);
	}
	return '';
}

# Each value shows the same in every row.
sub one_cut
{
	my ($call, $now, $target) = @_;
	my @columns = map { $_->{name} } @{ $call->{world}{columns} };
	my %shown;
	for my $row (@$target)
	{
		for my $c (0 .. $#columns)
		{
			my $cell = $json->encode($row->{ $columns[$c] });
			my $value = key($now->{rows}{ $row->{id} }{q}[$c]);
			return "value $value of $columns[$c] shows $shown{$c}{$value} and $cell" if ($shown{$c}{$value} //= $cell) ne $cell;
		}
	}
	return '';
}

sub records
{
	my ($call, $source, $target) = @_;
	my ($k, $method) = @$call{qw(k method)};
	my @of_row = (0) x @$source;
	for my $record (@$target)
	{
		my $n = 0;
		for my $i (0 .. $#$source) { if (shows($call, $record, $source->[$i]{q})) { $n++; $of_row[$i]++; } }
		my $want = $call->{option}{k_column} ? max($k, map { $_->{u} } grep { $_->{id} == $record->{id} } @$source) : $k;
		return "the record of row $record->{id} matches $n rows" if $n < $want && $method ne 'one_k';
	}
	for my $i (0 .. $#$source)
	{
		my $want = $call->{option}{k_column} ? max($k, $source->[$i]{u}) : $k;
		return "row $source->[$i]{id} matches $of_row[$i] records" if $of_row[$i] < $want && $method ne 'k_one';
	}
	return '';
}

# What somebody who knows few columns can look up is in k rows (or of k persons).
sub combinations
{
	my ($call, $target, $persons) = @_;
	my @columns = map { $_->{name} } @{ $call->{world}{columns} };
	my $option = $call->{option};
	my %least;
	for my $set (1 .. 2**@columns - 1)
	{
		my @in = grep { $set >> $_ & 1 } 0 .. $#columns;
		$least{$set} = $call->{k} if @in <= ($option->{known_columns} // 0);
		for my $named (@{ $option->{combinations} // [] })
		{
			my ($names, $own) = split /=/, $named;
			my %named = map { $_ => 1 } split /,/, $names;
			next if grep { !$named{ $columns[$_] } } @in;
			$least{$set} = max($least{$set} // 0, $own // $call->{k});
		}
	}
	my $missing = $option->{missing} // 'aside';
	for my $set (sort { $a <=> $b } keys %least)
	{
		my @in = grep { $set >> $_ & 1 } 0 .. $#columns;
		# of each row what it tells by these columns: undef is a blank cell
		my @told = map {
			my $row = $_;
			my @symbols = split //, $row->{kanon_pattern} // '';
			[ map { my $cell = $row->{ $columns[$_] };
					defined $cell ? $json->encode([ $symbols[$_] // '', "$cell" ]) : $missing eq 'value' && ($symbols[$_] // '*') ne '*' ? 'null' : undef } @in ]
		} @$target;
		my %asked;
		for my $i (0 .. $#told)
		{
			next if $missing ne 'any' && grep { !defined } @{ $told[$i] };
			next if !grep { defined } @{ $told[$i] };
			next if $asked{ join '|', map { $_ // '' } @{ $told[$i] } }++;
			my @those = grep { my $j = $_; !grep { my $v = $told[$i][$_]; my $w = $told[$j][$_];
					$missing eq 'any' ? defined $v && defined $w && $v ne $w : !defined $w || $v ne $w } 0 .. $#in } 0 .. $#told;
			my $n = size([ map { $target->[$_] } @those ], $persons);
			return 'a combination of ' . join(',', @columns[@in]) . " has $n, k = $least{$set}" if $n < $least{$set};
		}
	}
	return '';
}

# A cell that is blank, though nothing would be rare if all rows that are alike showed it: by no method there is one.
sub blank_in_vain
{
	my ($call, $now, $target) = @_;
	my @columns = map { $_->{name} } @{ $call->{world}{columns} };
	return '' if $call->{model} ne 'pattern_guided' || !$call->{option}{mark} || $call->{publication} ne 'call' || $call->{patterns} || $call->{ruled} || grep { defined } @{ $call->{levels} };
	for my $c (0 .. $#columns)
	{
		my %tried;
		for my $row (@$target)
		{
			my $q = $now->{rows}{ $row->{id} }{q};
			my $like = join '|', map { key($_) } @$q;
			next if !defined $q->[$c] || substr($row->{kanon_pattern}, $c, 1) ne '*';
			next if $tried{$like}++;
			my @shown = map {
				my $pattern = $_->{kanon_pattern};
				$like eq (join '|', map { key($_) } @{ $now->{rows}{ $_->{id} }{q} })
					? { %$_, $columns[$c] => $q->[$c], kanon_pattern => substr($pattern, 0, $c) . '-' . substr($pattern, $c + 1) } : $_
			} @$target;
			return "cell $columns[$c] of row $row->{id} is blank in vain" if combinations($call, \@shown, $now->{persons}) eq '';
		}
	}
	return '';
}

# ---- populations ----

# Siblings: a node stands for those of its children alone that no other cell shows.  Does a finer one than the row's show the value?
sub finest
{
	my ($call, $classes, $columns) = @_;
	my $depth = sub { my ($symbol) = @_; return $symbol eq '-' ? 0 : $symbol eq '*' ? 99 : $symbol; };
	my @cells = map { my $c = $_; [ map { [ $_->[0]{ $columns->[$c] }, (split //, $_->[0]{kanon_pattern} // '')[$c] // '' ] } @$classes ] } 0 .. $#$columns;
	return sub {
		my ($row, $c, $value) = @_;
		return 0 if ($row->{kanon_pattern} // '') eq '';
		my $own = $depth->(substr($row->{kanon_pattern}, $c, 1));
		return scalar grep { $depth->($_->[1]) < $own && stands($call, $c, $_->[0], $_->[1], $value) } @{ $cells[$c] };
	};
}

sub populations
{
	my ($call, $now, $classes, $columns) = @_;
	my @crowd = @{ $now->{crowd} };
	my @rules = grep { $_->{kind} =~ /k_map|presence/ } @{ $call->{rules} };
	return '' if !@rules || $call->{publication} =~ /protected|appended/;
	my @of;
	my $finest = ($call->{option}{scheme} // '') eq 'sibling' ? finest($call, $classes, $columns) : undef;
	for my $c (0 .. $#$classes)
	{
		my $row = $classes->[$c][0];
		$of[$c] = [ grep { my $one = $crowd[$_]{q}; shows($call, $row, $one) && !($finest && grep { $finest->($row, $_, $one->[$_]) } 0 .. $#$columns) } 0 .. $#crowd ];
	}
	my $blank = sub { my ($c) = @_; my $row = $classes->[$c][0]; return defined $row->{kanon_pattern} ? $row->{kanon_pattern} =~ /^\*+$/ : !grep { defined $row->{$_} } @$columns; };
	for my $rule (@rules)
	{
		if ($rule->{kind} eq 'k_map')
		{
			for my $c (0 .. $#$classes)
			{
				next if $blank->($c);
				my $n = $rule->{who} ? uniq(map { $crowd[$_]{person} } @{ $of[$c] }) : @{ $of[$c] };
				return "a class matches $n of the population, k = $call->{k}" if $n < $call->{k};
			}
			next;
		}
		# (NULL or suppressed, nobody can tell)
		next if !$call->{option}{mark} || !@$classes;
		my %in;
		my ($rest, $left) = (0, scalar @crowd);
		for my $c (0 .. $#$classes)
		{
			if ($blank->($c)) { $rest = @{ $classes->[$c] }; next; }
			return 'somebody matches two classes' if grep { $in{$_}++ } @{ $of[$c] };
		}
		my @shown = grep { !$blank->($_) } 0 .. $#$classes;
		if ($rule->{kind} eq 'delta_presence')
		{
			$left -= keys %in;
			for my $pair ((map { [ scalar @{ $classes->[$_] }, scalar @{ $of[$_] } ] } @shown), [ $rest, $left ])
			{
				my ($r, $m) = @$pair;
				next if $m == 0 && $r == 0;
				return "$r rows, and $m match" if $m == 0 || $r / $m < $rule->{least} - $EPS || $r / $m > $rule->{most} + $EPS;
			}
			next;
		}
		# by shares: what a class matches of each column, as if columns were independent
		my $others = 0;
		my @p = map {
			my $row = $classes->[$_][0];
			my @symbols = split //, $row->{kanon_pattern};
			my $p = 1;
			for my $c (0 .. $#$columns)
			{
				next if $symbols[$c] eq '*' && !$finest;
				my $share = $call->{world}{share}[$c];
				# (what shows nothing stands for values that the table does not have, too)
				if ($symbols[$c] eq '*')
				{
					$p *= 1 - sum0(map { $share->{ key($_) } } grep { $finest->($row, $c, $_) } @{ $call->{world}{columns}[$c]{domain} }, undef);
					next;
				}
				$p *= sum0(map { $share->{ key($_) } } grep { stands($call, $c, $row->{ $columns->[$c] }, $symbols[$c], $_) && !($finest && $finest->($row, $c, $_)) } @{ $call->{world}{columns}[$c]{domain} }, undef);
			}
			$p
		} @shown;
		my $all = $call->{world}{others} + $call->{world}{n} - keys(%{ $now->{rows} });
		for my $pair ((map { [ scalar @{ $classes->[ $shown[$_] ] }, $p[$_] ] } 0 .. $#shown), [ $rest, max(0, 1 - sum0(@p)) ])
		{
			my ($r, $p) = @$pair;
			next if $r == 0;
			my $is = Privacy::likelihood($r, $all, $p < 1e-12 ? 0 : min($p, 1), $rule->{least}, $rule->{most});
			return "of $r rows and a share of $p the chance is within the bounds by $is" if $is < $rule->{sure} - 1e-7;
		}
	}
	return '';
}

1;
