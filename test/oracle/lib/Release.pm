package Release;

# A published table, held against its source row by row (by the kept id): the promise, and every measure of its run.

use strict;
use warnings;
use JSON::PP;
use List::Util qw(min max sum0 uniq);
use Names;
use Privacy;
use Table;

my $json = JSON::PP->new->canonical->allow_nonref;

# case: table, k, method, residual, privacy, how (level cost), records (no classes), dropped_any
sub new
{
	my ($class, $case, $complain) = @_;
	my $self = bless { case => $case, table => $case->{table}, complain => $complain }, $class;
	my $db = $self->{table}{db};

	$self->{rows} = $db->rows("SELECT * FROM out");
	$self->{run} = $db->rows("SELECT * FROM $Names::view{runs} ORDER BY run DESC LIMIT 1")->[0];
	$self->group;
	return $self;
}

sub say { my ($self, @text) = @_; $self->{complain}->(join('', @text)); return; }

sub same
{
	my ($self, $what, $is, $should) = @_;
	my $fine = defined $is && defined $should
	  ? abs($is - $should) <= 1e-9 * (1 + abs($is) + abs($should))
	  : !defined $is && !defined $should;
	$self->say("$what: ", $is // 'NULL', ', should be ', $should // 'NULL') if !$fine;
	return;
}

# Rows that look alike, marks and all, are a class; its members are rows of the source.
sub group
{
	my ($self) = @_;
	my @names = $self->{table}->names;
	my %class;

	for my $row (@{ $self->{rows} })
	{
		my $key = $json->encode([ map { $row->{$_} } @names, $Names::mark_column ]);
		$class{$key} //= { mark => $row->{$Names::mark_column}, cells => [ map { $row->{$_} } @names ], members => [] };
		push @{ $class{$key}{members} }, $row->{id};
	}
	$self->{classes} = [ map { $class{$_} } sort keys %class ];
	return;
}

# The level of each column of a class; '~' for ranges and sets.
sub levels
{
	my ($self, $class) = @_;
	my @columns = @{ $self->{table}{columns} };
	my @symbols = split //, $class->{mark};
	return map { $symbols[$_] eq '-' ? 0 : $symbols[$_] eq '*' ? $columns[$_]{height} : $symbols[$_] } 0 .. $#columns;
}

sub is_blank { my ($self, $class) = @_; return $class->{mark} =~ /^\*+$/; }

sub is_number { my ($text) = @_; return defined $text && $text =~ /^-?\d+(\.\d+)?$/; }

sub same_text
{
	my ($is, $should) = @_;
	return !defined $is && !defined $should if !defined $is || !defined $should;
	return is_number($is) && is_number($should) ? $is == $should : $is eq $should;
}

# What a cell shows that is a range or a set of its rows' values.
sub several
{
	my ($self, $column, $members) = @_;
	my $db = $self->{table}{db};
	my @values = uniq map { $column->{value}[$_] } @$members;
	my %range = (int => 'int4range', num => 'numrange', date => 'daterange');
	my $type = { int => 'int', num => 'numeric', date => 'date', text => 'text', float => 'float8' }->{ $column->{type} };
	my $list = 'ARRAY[' . join(', ', map { $db->quote($_) } @values) . "]::${type}[]";

	return ($db->rows("SELECT (SELECT json_agg(v ORDER BY v) FROM unnest($list) v) AS set"
			. ($range{ $column->{type} }
				? ", (SELECT $range{$column->{type}}(min(v), max(v), '[]')::text FROM unnest($list) v) AS range"
				: ''))->[0], scalar(grep { !defined } map { $column->{value}[$_] } @$members));
}

sub check_cell
{
	my ($self, $class, $c, $level) = @_;
	my $column = $self->{table}{columns}[$c];
	my $cell = $class->{cells}[$c];
	my @members = @{ $class->{members} };
	my $place = "$column->{name} of class $class->{mark}";

	if ($level eq '~' || ref $cell || ($self->{case}{several} && $level eq '0'))
	{
		# of a region of the population it may be more than its rows need
		if ($self->{case}{wider} && $level eq '~')
		{
			my %shown = map { $_ => 1 } @{ $self->shown_rows($class, $c) };
			$self->say("$place shows ", $json->encode($cell), ', and not all its rows') if grep { !$shown{$_} } @members;
			return;
		}
		my ($shown, $nulls) = $self->several($column, \@members);
		my $set = ref $cell ? $json->encode($cell) : undef;
		my $fine = ref $cell ? $set eq $json->encode($shown->{set})
		  : $level eq '0' && !defined $cell ? $nulls == @members
		  : defined $cell && !$nulls && same_text($cell, $shown->{range})
		  || $level eq '0' && same_text($cell, $column->{value}[ $members[0] ]);
		$self->say("$place shows ", $json->encode($cell), ' for ', $json->encode($shown)) if !$fine;
		return;
	}
	for my $i (@members)
	{
		my $label = Table::label($column, $level, $i);
		$self->say("$place shows ", $cell // 'NULL', ' for ', $label // 'NULL') if !same_text($cell, $label);
	}
	return;
}

# Every row is there once, shows what it is, and is in a class that keeps the rules.
sub check_promise
{
	my ($self) = @_;
	my ($case, $table) = @$self{qw(case table)};
	my %seen;
	my $left_out = $table->{n} - @{ $self->{rows} };

	$seen{ $_->{id} }++ for @{ $self->{rows} };
	$self->say('a row is there twice') if grep { $_ > 1 } values %seen;
	for my $row (@{ $self->{rows} })
	{
		my $i = $row->{id};
		$self->say("row $i has other kept values")
		  if !same_text($row->{s}, $table->{s}[$i]) || $row->{u} != $table->{u}[$i] || $row->{person} != $table->{person}[$i];
	}
	$self->say("$left_out rows are left out")
	  if $left_out > 0 && ($case->{residual} ne 'drop' || ($left_out >= $case->{k} && !$case->{drops_many}));
	for my $class (@{ $self->{classes} })
	{
		my @levels = $self->levels($class);
		$self->check_cell($class, $_, $levels[$_]) for 0 .. $#levels;
		my $few = $self->is_blank($class) && $case->{residual} eq 'suppress';
		my $n = @{ $class->{members} };
		$self->say("class $class->{mark} has $n rows") if $n < $case->{k} && !$few && !($case->{crowd} && $case->{crowd}{k_map});
		$self->say("class $class->{mark} breaks a rule about a population")
		  if $case->{crowd} && !$case->{overlap} && !$self->is_blank($class) && !$case->{crowd}{allows}->(\@levels, $class->{members});
		$self->say("class $class->{mark} breaks a rule")
		  if $case->{privacy} && !$case->{privacy}{test}->($class->{members}, $few);
		$self->say("pattern $class->{mark} is not allowed")
		  if $case->{allowed} && !$self->is_blank($class) && !$case->{allowed}{ $class->{mark} };
	}
	if ($case->{times})
	{
		my %used;
		$used{ $_->{mark} }++ for @{ $self->{classes} };
		$self->say("pattern $_ is used by $used{$_} classes") for grep { $used{$_} > ($case->{times}{$_} // 0) } sort keys %used;
	}
	return;
}

# What greedy (k_map) and Mondrian promise about a population.
sub check_crowd
{
	my ($self) = @_;
	return $self->{case}{crowd}{k_map} ? $self->check_map : $self->check_presence;
}

# Which classes somebody of the population matches: a function of its rows by column.
sub matcher
{
	my ($self, @classes) = @_;
	my @columns = @{ $self->{table}{columns} };
	my @shown = map { my $class = $_; [ map { my %in = map { $_ => 1 } @{ $self->shown_rows($class, $_) }; \%in } 0 .. $#columns ] } @classes;
	return sub {
		my @row = @_;
		return grep { my $i = $_; !grep { defined $row[$_] ? !$shown[$i][$_]{ $row[$_] } : substr($classes[$i]{mark}, $_, 1) ne '*' } 0 .. $#columns } 0 .. $#classes;
	};
}

# k_map: the population's rows can be divided among the classes, each to one that it matches, so that each gets k and
# as many as it publishes: a matching, by augmenting paths.  In persons, each class matches k of them.
sub check_map
{
	my ($self) = @_;
	my ($case, $crowd) = @{ $self->{case} }{qw(residual crowd)};
	my $k = $self->{case}{k};
	my $columns = @{ $self->{table}{columns} };
	my @classes = grep { !($self->is_blank($_) && $case =~ /^(fill|suppress)$/) } @{ $self->{classes} };
	my $matcher = $self->matcher(@classes);
	my @people = @{ $crowd->{people} };
	my @matched = map { my (undef, @row) = @$_; [ $matcher->(@row[ 0 .. $columns - 1 ]) ] } @people;
	my (@of, @takes);

	for my $i (0 .. $#people) { push @{ $of[$_] }, $i for @{ $matched[$i] }; }
	for my $c (0 .. $#classes)
	{
		my $needs = max($k, scalar @{ $classes[$c]{members} });
		if ($crowd->{persons})
		{
			my %who = map { $people[$_][ $columns + 1 ] => 1 } @{ $of[$c] };
			$self->say("class $classes[$c]{mark} matches " . keys(%who) . ' persons of the population') if keys %who < $k;
			next;
		}
		for (1 .. $needs)
		{
			my %seen;
			my $find;
			$find = sub {
				my ($class) = @_;
				for my $i (grep { !$seen{$_}++ } @{ $of[$class] })
				{
					next if defined $takes[$i] && !$find->($takes[$i]);
					$takes[$i] = $class;
					return 1;
				}
				return 0;
			};
			next if $find->($c);
			$self->say("the population does not suffice for class $classes[$c]{mark} of " . @{ $classes[$c]{members} } . ' rows');
			return;
		}
	}
	return;
}

# Rules about presence under Mondrian: nobody matches two classes.  Who matches none is among those that show nothing.
sub check_presence
{
	my ($self) = @_;
	my $crowd = $self->{case}{crowd};
	my @classes = grep { !$self->is_blank($_) } @{ $self->{classes} };
	my ($blank) = grep { $self->is_blank($_) } @{ $self->{classes} };
	my $matcher = $self->matcher(@classes);
	my @belong = (0) x @classes;
	my $rest = 0;

	for my $person (@{ $crowd->{people} })
	{
		my ($weight, @row) = @$person;
		my @matched = $matcher->(@row);
		if (@matched) { $belong[ $matched[0] ] += $weight; }
		else { $rest += $weight; }
		$self->say('somebody matches two classes') if @matched > 1;
	}
	for my $i (0 .. $#classes)
	{
		my $n = @{ $classes[$i]{members} };
		$self->say("class $classes[$i]{mark} has $n rows, and $belong[$i] belong to it") if !$crowd->{within}->($n, $belong[$i]);
	}
	my $n = $blank ? @{ $blank->{members} } : 0;
	$self->say("$n rows show nothing, and $rest match no class") if !$crowd->{within}->($n, $rest);
	return;
}

# Each record has k rows that match it, each row k records.
sub matches
{
	my ($self, $record, $i) = @_;
	my @columns = @{ $self->{table}{columns} };
	my @symbols = split //, $record->{mark};
	for my $c (0 .. $#columns)
	{
		my ($column, $cell) = ($columns[$c], $record->{cells}[$c]);
		next if $symbols[$c] eq '*';
		my $value = $column->{value}[$i];
		if ($column->{height} > 1)
		{
			return 0 if !same_text($cell, Table::label($column, $symbols[$c] eq '-' ? 0 : $symbols[$c], $i));
			next;
		}
		if (ref $cell) { return 0 if !grep { same_text($_, $value) } @$cell; next; }
		if (!defined $cell || !defined $value) { return 0 if defined $cell || defined $value; next; }
		if ($cell =~ /^([\[(])(.*),(.*)([\])])$/)
		{
			my ($open, $low, $high, $close) = ($1, $2, $3, $4);
			my $number = Table::number_of($column->{type}, $value);
			($low, $high) = map { Table::number_of($column->{type}, $_) } $low, $high;
			return 0 if $number < $low || ($open eq '(' && $number == $low) || $number > $high || ($close eq ')' && $number == $high);
			next;
		}
		return 0 if !same_text($cell, $value);
	}
	return 1;
}

sub check_records
{
	my ($self, $rows_promised, $records_promised) = @_;
	my ($case, $table) = @$self{qw(case table)};
	my $db = $table->{db};
	my @records = map { my $class = $_; map { { %$class, own => $_ } } @{ $class->{members} } } @{ $self->{classes} };
	my @of_row = (0) x $table->{n};
	my @of_record;
	my $own = $case->{own};

	$self->say(scalar(@records) . ' records') if @records != $table->{n};
	for my $record (@records)
	{
		$self->say("record of row $record->{own} does not match it") if !$self->matches($record, $record->{own});
		my @rows = grep { $self->matches($record, $_) } 0 .. $table->{n} - 1;
		push @of_record, scalar @rows;
		$self->say("the record of row $record->{own} matches " . @rows . " rows, it wants $own->[$record->{own}]") if $own && @rows < $own->[ $record->{own} ];
		$of_row[$_]++ for @rows;
	}
	$self->say('a row matches ' . min(@of_row) . ' records') if $rows_promised && min(@of_row) < $case->{k};
	$self->say('a record matches ' . min(@of_record) . ' rows') if $records_promised && min(@of_record) < $case->{k};
	if ($own)
	{
		$self->say("row $_ matches $of_row[$_] records, it wants $own->[$_]") for grep { $of_row[$_] < $own->[$_] } 0 .. $#of_row;
	}
	# what somebody who matches the records can be told: more records add values
	my @owners = map { my $row = $_; [ map { $_->{own} } grep { $self->matches($_, $row) } @records ] } 0 .. $table->{n} - 1;
	for my $rule (grep { $_->{kind} eq 'distinct' } @{ $case->{privacy}{rules} // [] })
	{
		$self->say("the records that row $_ matches break $rule->{sql}") for grep { !$rule->{test}->($owners[$_]) } 0 .. $#owners;
	}
	my $facts = $db->rows('SELECT * FROM ' . Names::call('check_freeform', source => "'src'", target => "'out'",
			quasi_identifiers => $table->array, k => $case->{k}, k_column => $own ? "'own'" : undef, sensitive => "'s'",
			hierarchies => $table->hierarchies))->[0];
	my @kinds = map { Privacy::counts($table, 's', $_, 0) } @owners;
	$self->same('row_matches', $facts->{row_matches}, min(@of_row));
	$self->same('sensitive_values', $facts->{sensitive_values}, min(map { scalar keys %$_ } @kinds));
	$self->same('sensitive_share', $facts->{sensitive_share}, max(map { max(0, values %$_) / max(1, sum0(values %$_)) } @kinds));
	$self->same('record_matches', $facts->{record_matches}, min(@of_record));
	$self->say('not regular') if $rows_promised && $records_promised && !$case->{weak} && !$facts->{regular};
	return;
}

# ---- measures ----

# What a cell of a class stands for: rows of the table that have one of its values.
sub stands_for
{
	my ($self, $class, $c, $level, $i) = @_;
	my $table = $self->{table};
	my $column = $table->{columns}[$c];
	if ($level ne '~') { return $table->below_node($column, $level, $i); }
	my @members = $self->{case}{records} || $self->{case}{wider} ? @{ $self->shown_rows($class, $c) } : @{ $class->{members} };
	if (!ref $class->{cells}[$c])
	{
		my @all = map { Table::number_of($column->{type}, $_) } @{ $column->{value} };
		my @numbers = @all[@members];
		my ($low, $high) = (min(@numbers), max(@numbers));
		return [ grep { my $v = $all[$_]; defined $v && $v >= $low && $v <= $high } 0 .. $table->{n} - 1 ];
	}
	my %value = map { Table::key($column->{value}[$_]) => 1 } @members;
	return [ grep { $value{ Table::key($column->{value}[$_]) } } 0 .. $table->{n} - 1 ];
}

# Whose values a cell shows; of a record only that says whose it has.
sub shown_rows
{
	my ($self, $class, $c) = @_;
	my $one = { %$class, mark => ('*' x $c) . substr($class->{mark}, $c, 1) . ('*' x (@{ $self->{table}{columns} } - $c - 1)) };
	return [ grep { $self->matches($one, $_) } 0 .. $self->{table}{n} - 1 ];
}

sub distinct { my ($column, $rows) = @_; return scalar uniq(map { Table::key($column->{value}[$_]) } @$rows); }

sub check_measures
{
	my ($self) = @_;
	my ($case, $table, $run) = @$self{qw(case table run)};
	my @columns = @{ $table->{columns} };
	my ($n, $published) = ($table->{n}, scalar @{ $self->{rows} });
	my @all = 0 .. $n - 1;
	my %there = map { $_->{id} => 1 } @{ $self->{rows} };

	# nothing is published: nothing is measured
	if ($published == 0)
	{
		$self->same($_, $run->{$_}, undef) for qw(iloss ncp gcp precision entropy entropy_share suppressed_share);
		return;
	}
	my $dropped = $n - $published;
	my $several = 0;
	my %sum = map { $_ => 0 } qw(iloss ncp heights entropy entropy_all cells cost dm cm);
	my @measured;

	for my $c (0 .. $#columns)
	{
		my $column = $columns[$c];
		my $d = $column->{distinct};
		my %m = (ncp => 0, suppressed => 0, nulls => 0, shown => {});
		my $bits = sub { my ($i, $of) = @_; return log(@$of / $column->{count}{ Table::key($column->{value}[$i]) }) / log(2); };
		my $lost = sub {
			my ($i, $of, $level) = @_;
			my $size = distinct($column, $of);
			$sum{iloss} += $column->{weight} * ($size - 1) / $d;
			$m{ncp} += $level ne '~' && $level == $column->{height} ? $d > 1 : !ref $_[3] ? $table->covers($column, $of) : $size > 1 ? $size / $d : 0;
			$sum{entropy} += $bits->($i, $of);
			$sum{heights} += $level / $column->{height} if $level ne '~';
		};
		for my $class (@{ $self->{classes} })
		{
			my $level = ($self->levels($class))[$c];
			my $cell = $class->{cells}[$c];
			$several ||= $level eq '~';
			$m{suppressed} += @{ $class->{members} } if $level ne '~' && $level == $column->{height};
			$m{nulls} += @{ $class->{members} } if !defined $cell && $level ne '~' && $level < $column->{height};
			$m{shown}{ defined $cell ? $json->encode([ $level, $cell ]) : 'null' } = 1 if $level eq '~' || $level < $column->{height};
			$lost->($_, $self->stands_for($class, $c, $level, $_), $level, $level eq '~' ? $cell : '') for @{ $class->{members} };
		}
		$lost->($_, \@all, $column->{height}, '') for grep { !$there{$_} } @all;
		$sum{entropy_all} += $bits->($_, \@all) for @all;
		$sum{ncp} += $column->{weight} * $m{ncp};
		$sum{cells} += $m{suppressed};
		push @measured, \%m;
	}
	my $weights = sum0(map { $_->{weight} } @columns);
	$self->same('row_count', $run->{row_count}, $n);
	$self->same('dropped_rows', $run->{dropped_rows}, $dropped);
	$self->same('row_types', $run->{row_types}, scalar uniq(map { my $i = $_; join('|', map { Table::key($_->{value}[$i]) } @columns) } @all));
	$self->same('suppressed_cells', $run->{suppressed_cells}, $sum{cells});
	$self->same('suppressed_share', $run->{suppressed_share}, $published ? $sum{cells} / ($published * @columns) : 0);
	$self->same('iloss', $run->{iloss}, $sum{iloss});
	$self->same('ncp', $run->{ncp}, $sum{ncp});
	$self->same('gcp', $run->{gcp}, $weights > 0 ? $sum{ncp} / ($n * $weights) : 0);
	$self->same('precision', $run->{precision}, $several ? undef : 1 - $sum{heights} / ($n * @columns));
	$self->same('entropy', $run->{entropy}, $sum{entropy});
	$self->same('entropy_share', $run->{entropy_share}, $sum{entropy_all} > 0 ? $sum{entropy} / $sum{entropy_all} : 0);
	$self->check_columns(\@measured, $published);
	$self->check_classes($dropped) if !$case->{records};
	$self->check_risk;
	return;
}

sub check_columns
{
	my ($self, $measured, $published) = @_;
	my $table = $self->{table};
	my $lines = $table->{db}->rows("SELECT * FROM $Names::view{columns} WHERE run = $self->{run}{run} ORDER BY ordinal");

	$self->say('columns recorded: ' . @$lines) if @$lines != @$measured;
	for my $c (0 .. $#$lines)
	{
		my ($line, $m, $column) = ($lines->[$c], $measured->[$c], $table->{columns}[$c]);
		my $name = "column $c";
		$self->same("$name suppressed", $line->{suppressed}, $m->{suppressed} + $m->{nulls});
		$self->same("$name nulls", $line->{nulls}, $m->{nulls});
		$self->same("$name share", $line->{share}, $published ? ($m->{suppressed} + $m->{nulls}) / $published : 0);
		$self->same("$name distinct_before", $line->{distinct_before}, $column->{distinct});
		$self->same("$name distinct_after", $line->{distinct_after}, scalar keys %{ $m->{shown} });
		$self->same("$name ncp", $line->{ncp}, $m->{ncp} / $table->{n});
		$self->say("$name numerical") if !!$line->{numerical} != !!$column->{number};
	}
	return;
}

sub diversity
{
	my ($self, $class) = @_;
	my @columns = @{ $self->{table}{columns} };
	my @levels = $self->levels($class);
	my $sum = 0;

	for my $c (0 .. $#columns)
	{
		my $column = $columns[$c];
		my $shown = $levels[$c] eq '0';
		$sum += $column->{number} ? ($shown ? 0 : $self->{table}->covers($column, $class->{members}))
		  : $shown ? 1 / $column->{distinct} : distinct($column, $class->{members}) / $column->{distinct};
	}
	return $sum;
}

sub recorded_classes
{
	my ($self) = @_;
	return $self->{table}{db}->rows("SELECT * FROM $Names::view{classes} WHERE run = $self->{run}{run} ORDER BY class");
}

# (a float's 1e+30 is a jsonb's 1 with 30 zeros)
sub text_of { my ($value) = @_; return $value =~ /^-?\d[\d.]*(e[+-]?\d+)?$/ && abs($value) >= 1e15 ? sprintf('%.17g', $value) : "$value"; }

sub strings { my ($h) = @_; return { map { ($_ => ref $h->{$_} ? $h->{$_} : defined $h->{$_} ? text_of($h->{$_}) : undef) } keys %$h }; }

# What the record has of a class's cells.
sub shown_as_told
{
	my ($self, $class) = @_;
	my @names = $self->{table}->names;
	my @levels = $self->levels($class);
	my @columns = @{ $self->{table}{columns} };
	return strings({ map { ($names[$_] => $class->{cells}[$_]) } grep { $levels[$_] eq '~' || $levels[$_] != $columns[$_]{height} } 0 .. $#levels });
}

sub check_classes
{
	my ($self, $dropped) = @_;
	my ($case, $table, $run) = @$self{qw(case table run)};
	my @classes = @{ $self->{classes} };
	my @sizes = map { scalar @{ $_->{members} } } @classes;
	my $published = sum0(@sizes);
	# (a reader cannot tell rows of NULLs from suppressed ones: what shows nothing is one class)
	my @empty = grep { !grep { defined } @{ $_->{cells} } } @classes;
	@sizes = ((map { scalar @{ $_->{members} } } grep { grep { defined } @{ $_->{cells} } } @classes), @empty ? sum0(map { scalar @{ $_->{members} } } @empty) : ());
	my $dm = $dropped * $table->{n};
	my $wrong = $dropped;
	my ($cost, $diversity) = (0, 0);
	my @should;

	for my $class (@classes)
	{
		my $n = @{ $class->{members} };
		my @levels = $self->levels($class);
		my $own = $self->diversity($class);
		my @count = values %{ Privacy::counts($table, 's', $class->{members}) };
		$diversity += $own;
		$dm += $n * ((grep { defined } @{ $class->{cells} }) ? $n : $table->{n});
		$wrong += $self->is_blank($class) ? $n : $n - max(@count);
		$cost += $n * sum0(map { $table->level_cost($table->{columns}[$_], $levels[$_], $case->{how} // 'height') } 0 .. $#levels)
		  if !$case->{several};
		my $cells = grep { $levels[$_] ne '~' && $levels[$_] == $table->{columns}[$_]{height} } 0 .. $#levels;
		push @should, [ $class->{mark}, $n, $n * $cells, sprintf('%.9f', $own), $self->shown_as_told($class) ];
	}
	$self->same('classes', $run->{classes}, scalar @sizes);
	$self->same('class_min', $run->{class_min}, @sizes ? min(@sizes) : $run->{class_min});
	$self->same('class_max', $run->{class_max}, @sizes ? max(@sizes) : $run->{class_max});
	$self->same('class_avg', $run->{class_avg}, @sizes ? $published / @sizes : $run->{class_avg});
	$self->same('usefulness', $run->{usefulness}, @classes ? $diversity / @classes : $run->{usefulness});
	$self->same('discernibility', $run->{discernibility}, $dm);
	$self->same('c_avg', $run->{c_avg}, @sizes ? $published / @sizes / $case->{k} : $run->{c_avg});
	$self->same('classification', $run->{classification}, $wrong / $table->{n}) if $case->{class_column};
	$self->same('cost', $run->{cost}, $cost) if !$case->{several} && !$case->{own_cost};
	my $lines = $self->recorded_classes;
	my $text = sub { join("\n", sort map { $json->encode($_) } @_) };
	my $is = $text->(map { [ $_->{pattern}, $_->{row_count} + 0, $_->{suppressed_cells} + 0, sprintf('%.9f', $_->{tuple_diversity}), strings($_->{shown}) ] } @$lines);
	my $want = $text->(@should);
	$self->say("classes recorded:\n$is\nshould be:\n$want") if $is ne $want;
	$self->check_sizes;
	return;
}

# How many classes and rows there are of which size, by plain SQL; rows that show nothing aside.
sub check_sizes
{
	my ($self) = @_;
	my $db = $self->{table}{db};
	my @names = $self->{table}->names;
	my %group = (source => 'src GROUP BY ' . join(', ', @names), target => 'out GROUP BY ' . join(', ', @names, $Names::mark_column));

	for my $stage (sort keys %group)
	{
		my $list = join(', ', @names);
		my $lines = $db->rows("SELECT s.size_from, s.${stage}_classes AS classes, s.${stage}_rows AS rows, coalesce(g.classes, 0) AS should, coalesce(g.rows, 0) AS rows_should
			FROM $Names::view{sizes} s LEFT JOIN LATERAL (SELECT count(*) AS classes, sum(n) AS rows FROM (SELECT count(*) AS n, num_nonnulls($list) AS shown FROM $group{$stage}, num_nonnulls($list)) AS c
			WHERE shown > 0 AND n >= s.size_from AND (s.size_to IS NULL OR n <= s.size_to)) AS g ON true WHERE s.run = $self->{run}{run}");
		for (@$lines)
		{
			$self->same("$stage classes from $_->{size_from}", $_->{classes}, $_->{should});
			$self->same("$stage rows of classes from $_->{size_from}", $_->{rows}, $_->{rows_should});
		}
	}
	return;
}

# The stages of the run's risk and the sizes of its classes, as plain groupings have them.
sub check_risk
{
	my ($self) = @_;
	my ($case, $table, $run) = @$self{qw(case table run)};
	my $db = $table->{db};
	my %size;
	my @names = $table->names;
	my %stage = (source => [ map { my $i = $_; join('|', map { Table::key($_->{value}[$i]) } @{ $table->{columns} }) } 0 .. $table->{n} - 1 ]);

	return if $case->{records};
	# rows that show nothing are one class, like any other; others are told apart by their marks, too
	$stage{target} = [ map {
			my $row = $_;
			(grep { defined $row->{$_} } @names) ? $json->encode([ map { $row->{$_} } @names, $Names::mark_column ]) : 'null'
	} @{ $self->{rows} } ];
	for my $line (@{ $db->rows("SELECT * FROM $Names::view{risk} WHERE run = $run->{run}") })
	{
		my %count;
		my @rows = @{ $stage{ $line->{stage} } };
		$count{$_}++ for @rows;
		my %shown = map { ($_ => $count{$_}) } grep { !/^(null\|?)*$/ } keys %count;
		my ($k, $telling) = (min(values %count), sum0(values %shown));
		my $below = sum0(grep { $_ < $case->{k} } values %count);
		my %should = (
			row_count => scalar @rows, classes => scalar keys %count, k => $k, unique_rows => scalar(grep { $_ == 1 } values %count),
			blank_rows => @rows - $telling, below_k => $below, share_below_k => @rows ? $below / @rows : undef,
			prosecutor_highest => @rows ? 1 / $k : undef, prosecutor_average => @rows ? keys(%count) / @rows : undef);
		$self->same("$line->{stage} $_", $line->{$_}, $should{$_}) for sort keys %should;
	}
	return;
}

1;
