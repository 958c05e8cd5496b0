#!/usr/bin/perl
# linked.pl [--cases N] [--nights N] [--seed S] [--seconds T] [--kinds K,…]: releases of several tables against every attacker there is.
#
# Random persons with rows in one or two further tables, beside each other or one below the other, are published by
# kanon_linked.  Persons or their rows may refer to a table whose columns somebody knows with them, so that each row has a copy.
# Rows of one table may also refer to rows of another, mostly of the same person, and what they show of that is known, too.
# Rows may hang on rows that several persons share: each person has a copy, or the owner alone.
# In some cases all keys have two columns, and so have the references to them.  A kept tag says which row of the source each published row is, so that what it shows can be compared.
# Asserted of each release:
# - every row belongs to the person whose it is, and shows what is true of it;
# - whoever knows a person's values in the subject's table and any set of at most m rows of each table, or of all (with which
#   rows hang together) finds nobody, or at least k persons who fit; of 'all' k persons agree in everything;
# - rules about a kept value hold: of all rows that may be one of the known rows, persons of the class counted; and of all
#   persons of the class who have the known rows, or agree in all, for a value of the subject's table;
# - no person has more rows than max_rows, and kanon_check_linked says that it is safe.
# Of the source kanon_check_linked says it is safe just where every combination is that of k persons.
# With --nights each case is a publication of so many nights with random changes, which readers keep whole. Asserted of
# each release is the same, and of two successive ones, unless the release says that it began anew:
# - unchanged persons lose no company but persons who left or changed, in a quasi-identifier: what else is kept of a person may
#   change;
# - a class in which no person and no row came, left or changed shows what it showed: costs of
#   publications do not depend on other rows. (Which of two rows of a person that are alike is left out is drawn anew.)
# Every second series is protected instead (protect_successive), with more changes. Its attacker follows all persons and rows
# through all releases, by their tags, and knows of a person at most m rows of each table in all of them together, as they were
# shown in each: of every such set at least k persons have rows that were shown in the same way in the same releases.
# (A row that changes or moves to another person, or whose parent does, is another row.)  Where keys last, the attacker follows
# rows by them, too.
# Shares no code with the extension. Of a case that fails the SQL is left in build/linked/.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../oracle/lib";
use Getopt::Long;
use JSON::PP;
use Time::HiRes qw(time);
use Db;
use Random;

my ($cases, $seed, $seconds, $nights, $protected, $kinds, %ever) = (100, 1, undef, 0, 0);
GetOptions('kinds=s' => \$kinds, 'cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds, 'nights=i' => \$nights)
  or die "usage: $0 [--cases N] [--seed S] [--nights N] [--seconds T] [--kinds K,…]\n";
my $json = JSON::PP->new->canonical;
my ($db, @failures, %done, $attackers, $left_out, $class_size, @most, $in_all, $composite);
$attackers = $left_out = 0;

# ---- random data ----

# Tables: columns (name => values), the parent by number; table 0 is the subject's.  To a table of copies the parent refers.
sub schema
{
	my @tables = ({ name => 's', columns => [ 'a', 'b' ], parent => undef });
	my $kind;
	$kind = pick(split(/,/, $kinds)) if defined $kinds;
	$kind //= pick('one', 'beside', 'below', 'below', 'two', 'shared', $nights > 0 ? () : ('refers', 'refers', 'refers below', 'refers below', 'refers alone'));
	push @tables, { name => 'h', columns => [ 'c', 'd' ], parent => 0, copies => 1 } if $kind eq 'refers alone';
	push @tables, { name => 'o', columns => chance(0.5) ? [ 'c', 'd' ] : ['c'], parent => 0 } if $kind ne 'refers alone';
	push @tables, { name => 'h', columns => [ pick('c', 'd') ], parent => 0, copies => 1 } if $kind eq 'refers';
	push @tables, { name => 'h', columns => [ pick('c', 'd') ], parent => 1, copies => 1 } if $kind eq 'refers below';
	push @tables, { name => 'h', columns => [ pick('c', 'd') ], parent => 1, copies => 1 }, { name => 'x', columns => [ pick('c', 'd') ], parent => 1, through => 2 } if $kind eq 'shared';
	push @tables, { name => 'v', columns => ['d'], parent => 0 } if $kind eq 'beside';
	push @tables, { name => 'l', columns => [ pick('c', 'd') ], parent => 0, joins => 1 } if $kind eq 'two';
	push @tables, { name => 'l', columns => [ pick('c', 'd') ], parent => 1 } if $kind eq 'below';
	# (some tables have no quasi-identifiers)
	for my $table (grep { defined $_->{parent} && !$_->{copies} } @tables)
	{
		next if !chance(0.15);
		$table->{columns} = [];
		$done{'no quasi-identifiers'}++;
	}
	# (the number of copies is known with a row, unless it is kept)
	if ($kind eq 'shared')
	{
		$tables[1]{owner} = chance(0.25);
		my $kept = chance(0.3);
		for my $table (@tables[ 2, 3 ])
		{
			$table->{own} = [ @{ $table->{columns} } ];
			push @{ $table->{columns} }, 'copies' if !$kept && !$tables[1]{owner};
			$table->{keeps} = $kept && !$tables[1]{owner} && chance(0.7);
		}
		$tables[3]{keeps} = 1 if $kept && !$tables[1]{owner} && !$tables[2]{keeps};
	}
	$done{$kind}++;
	return @tables;
}

sub value
{
	my ($column, $spread) = @_;
	return undef if chance(0.05);
	return $column eq 'a' || $column eq 'c' ? below($spread) : pick('x', 'y') . below($spread > 3 ? 3 : $spread);
}

# A row, mostly one of the same person.
sub refers_to
{
	my ($rows, $person) = @_;
	my @own = grep { defined $person && defined $_->{above} && $_->{above} == $person } @$rows;
	return undef if !@$rows || chance(0.3);
	return chance(0.1) ? pick(@$rows)->{id} : @own ? pick(@own)->{id} : undef;
}

sub type { return $_[0] eq 'a' || $_[0] eq 'c' || $_[0] eq 'copies' ? 'int' : 'text'; }

sub fill
{
	my (@tables) = @_;
	my $persons = 4 + below(18);
	my $spread = pick(2, 3, 6);
	for my $t (0 .. $#tables)
	{
		my $table = $tables[$t];
		my $above = $t == 0 ? undef : $tables[ $table->{parent} ]{rows};
		my $n = $t == 0 ? $persons : below(($t == 1 ? 3 : 2) * $persons + 1);
		$table->{rows} = [];
		last if $t > 0 && !@$above;
		$n = 1 + below($persons) if $table->{copies};
		for my $i (1 .. $n)
		{
			my %row = (id => $i, tag => "$table->{name}$i", val => chance(0.1) ? undef : 'w' . below(4), map { ($_ => value($_, $spread)) } own($table));
			$row{above} = $t == 0 || chance(0.03) ? undef : 1 + below(scalar @$above);
			$row{above} = 1 + below(scalar @{ $tables[ $table->{through} ]{shared} }) if defined $table->{through};
			$row{kind} = pick('A', 'B') if $table->{owner};
			$row{also} = refers_to($tables[ $table->{joins} ]{rows}, $row{above}) if defined $table->{joins};
			push @{ $table->{rows} }, \%row;
		}
		$table->{rows} = [ shuffled(@{ $table->{rows} }) ];
		$table->{shared} = $table->{rows} if defined $table->{through};
		next if !$table->{copies};
		$_->{ref} = chance(0.1) ? undef : 1 + below($n) for @$above;
		$table->{shared} = $table->{rows};
		# (of each row one alone is the owner)
		my %owned;
		for my $row (grep { exists $_->{kind} && defined $_->{ref} } @$above) { $row->{kind} = 'B' if $row->{kind} eq 'A' && $owned{ $row->{ref} }++; }
	}
	expand('rows', @tables);
}

# Columns that rows have, but the number of copies.
sub own { return @{ $_[0]{own} // $_[0]{columns} }; }

# Each row that refers to a table of copies has one; whatever rows share in the source.
sub expand
{
	my ($field, @tables) = @_;
	my %copies;
	for my $table (grep { defined $_->{through} } @tables)
	{
		my ($above, $shared) = @tables[ $table->{parent}, $table->{through} ];
		for my $row (@{ $above->{rows} }) { $copies{ $row->{ref} }++ if defined $row->{ref} && defined $row->{above}; }
		if ($field eq 'rows')
		{
			$table->{rows} = [];
			for my $between (grep { defined $_->{ref} && (!$above->{owner} || $_->{kind} eq 'A') } @{ $above->{rows} })
			{
				push @{ $table->{rows} }, map { +{ %$_, id => "$_->{id}\@$between->{id}", above => $between->{id}, tag => "$_->{tag}\@$between->{tag}", copies => $copies{ $between->{ref} } } }
				  grep { $_->{above} == $between->{ref} } @{ $table->{shared} };
			}
			next;
		}
		my %tag = map { ($_->{id} => $_->{tag}) } @{ $above->{$field} };
		$_->{tag} .= '@' . $tag{ $_->{above} } for @{ $table->{$field} };
	}
	for my $table (grep { $_->{copies} } @tables)
	{
		my %row = map { ($_->{id} => $_) } @{ $field eq 'rows' ? $table->{shared} : $table->{$field} };
		$table->{$field} = [
			map {
				my $copy = defined $_->{ref} && ($field ne 'rows' || !defined $_->{kind} || $_->{kind} eq 'A') ? $row{ $_->{ref} } : undef;
				+{ $field eq 'rows' && defined $_->{ref} ? (copies => $copies{ $_->{ref} }) : (), %{ $copy // {} }, id => "c$_->{id}", above => $_->{id}, tag => ($copy->{tag} // 'none') . "\@$_->{tag}" };
			} @{ $tables[ $table->{parent} ]{$field} }
		];
	}
}

# A key of two columns says the same: the second follows from the first.
sub keys_of
{
	my ($table, $above, $copies) = @_;
	return map { $composite ? ($_, "${_}_g") : $_ } 'id', $above ? 'above' : (), $copies ? 'ref' : (), defined $table->{joins} ? 'also' : ();
}

sub with_keys
{
	my ($row) = @_;
	return $row if !$composite;
	return { %$row, map { ("${_}_g" => defined $row->{$_} ? $row->{$_} % 2 : undef) } 'id', 'above', 'ref', 'also' };
}

# As it was published, under the names of the source.
sub written
{
	my ($table) = @_;
	my $rows = $db->rows("SELECT * FROM pub.$table->{name}");
	for my $row (@$rows)
	{
		for my $key (grep { exists $row->{"${_}_${_}_g"} } 'id', 'above', 'ref', 'also') { $row->{$key} = delete $row->{"${key}_${key}_g"}; }
		# (a key of several columns is not published where nothing refers to it)
		$row->{id} //= "of $row->{tag}";
	}
	return $rows;
}

sub create
{
	my (@tables) = @_;
	$db->run("DROP SCHEMA IF EXISTS src CASCADE; DROP SCHEMA IF EXISTS pub CASCADE; CREATE SCHEMA src; CREATE SCHEMA pub");
	for my $table ((grep { $_->{copies} } @tables), grep { !$_->{copies} } @tables)
	{
		my ($copies) = grep { $_->{copies} && $tables[ $_->{parent} ] == $table } @tables;
		my $above = defined $table->{parent} && !$table->{copies};
		my @columns = ($composite ? 'id int, id_g smallint, PRIMARY KEY (id, id_g)' : 'id int PRIMARY KEY', 'tag text', 'val text', "note text DEFAULT 'n'", map({ "$_ " . type($_) } own($table)), $table->{owner} ? 'kind text' : ());
		my $rows = $table->{shared} // $table->{rows};
		for my $key ($above ? [ 'above', $tables[ $table->{through} // $table->{parent} ]{name} ] : (), defined $copies ? [ 'ref', $copies->{name} ] : (), defined $table->{joins} ? [ 'also', $tables[ $table->{joins} ]{name} ] : ())
		{
			push @columns, $composite ? "$key->[0]_g smallint, $key->[0] int, FOREIGN KEY ($key->[0]_g, $key->[0]) REFERENCES src.$key->[1] (id_g, id)" : "$key->[0] int REFERENCES src.$key->[1]";
		}
		$db->run("CREATE TABLE src.$table->{name} (" . join(', ', @columns) . ')');
		next if !@$rows;
		my @names = (keys_of($table, $above, defined $copies), 'tag', 'val', own($table), $table->{owner} ? 'kind' : ());
		$db->run("INSERT INTO src.$table->{name} (" . join(', ', @names) . ') VALUES ' .
			join(', ', map { my $row = with_keys($_); '(' . join(', ', map { $db->quote($row->{$_}) } @names) . ')' } @$rows));
	}
}

sub options
{
	my ($k, $m, @tables) = @_;
	my %all;
	my @rules = ({ rule => 'distinct_l', l => 2 }, { rule => 'alpha', alpha => pick(0.5, 0.7) }, { rule => 'entropy_l', l => 2 }, { rule => 'recursive_cl', c => 2, l => 2 });
	for my $t (0 .. $#tables)
	{
		# (the number of copies is named, or not)
		my @named = chance(0.5) ? @{ $tables[$t]{columns} } : own($tables[$t]);
		my %one = (@named ? (quasi_identifiers => \@named) : (), keep => [ 'tag', $t == 0 ? 'note' : () ], allow_identifying => [ 'tag', $t == 0 ? 'note' : () ]);
		push @{ $one{$_} }, 'copies' for grep { $tables[$t]{keeps} } 'keep', 'allow_identifying';
		$one{owner} = { kind => 'A' } if $tables[$t]{owner};
		push @{ $one{keep} }, $composite ? ('also', 'also_g') : 'also' if defined $tables[$t]{joins};
		for my $column (own($tables[$t]))
		{
			$one{hierarchies}{$column} = type($column) eq 'int' ? { interval => [ 2, 4 ] } : { prefix => [1] } if chance(0.6);
		}
		$class_size = $k if $t == 0;
		$class_size = $one{class_size} = $k + below(8) if $t == 0 && chance(0.5);
		($class_size, $one{class_size}) = (0, 'auto') if $t == 0 && chance(0.15);
		$one{max_rows} = 1 + below(3) if $t > 0 && !$tables[$t]{copies} && chance(0.2);
		$tables[$t]{max_rows} = $one{max_rows};
		$tables[$t]{rule} = undef;
		if (($t == 0 || $m ne 'all') && !$protected && chance(0.4))
		{
			$tables[$t]{rule} = { column => 'val', %{ pick(@rules) } };
			$one{privacy} = [ $tables[$t]{rule} ];
			push @{ $one{$_} }, 'val' for 'keep', 'allow_identifying';
		}
		# (few persons may be left, and no row)
		$one{min_rows} = 0 if $nights > 0;
		$all{"src.$tables[$t]{name}"} = \%one;
	}
	return $json->encode(\%all);
}

# ---- who fits ----

# Could this be shown of the value?
sub covers
{
	my ($shown, $value) = @_;
	return 1 if !defined $shown;
	return 0 if !defined $value;
	return $value >= $1 && $value < $2 if $shown =~ /^\[(-?\d+),(-?\d+)\)$/;
	return $value =~ /^\Q$1\E/ if $shown =~ /^(.*?)\*+$/;
	return $shown eq $value;
}

sub row_covers
{
	my ($table, $shown, $row) = @_;
	for my $column (@{ $table->{columns} }) { return 0 if !covers($shown->{$column}, $row->{$column}); }
	return 1;
}

# The rows of a person, as [table, row], parents first.
sub rows_of
{
	my ($field, $person, @tables) = @_;
	my @rows;
	my %place = ();
	for my $t (1 .. $#tables)
	{
		for my $row (@{ $tables[$t]{$field} })
		{
			next if !defined $row->{above};
			# (a row that refers to one of another person hangs on the person alone)
			if ($tables[$t]{parent} == 0) { next if $row->{above} ne $person->{id}; push @rows, [ $t, $row, defined $row->{also} ? $place{ $row->{also} } : undef ]; }
			else
			{
				my $above = $place{ $row->{above} };
				next if !defined $above;
				push @rows, [ $t, $row, $above ];
			}
			$place{ $row->{id} } = $#rows if $t == 1;
		}
	}
	return @rows;
}

# Can the known rows be other ones of this person, hanging together in the same way?
sub fits
{
	my ($tables, $known, $rows, $of, $taken, $parents) = @_;
	return 1 if $of == @$known;
	my ($t, $row, $above) = @{ $known->[$of] };
	for my $i (0 .. $#$rows)
	{
		next if $taken->{$i} || $rows->[$i][0] != $t || !row_covers($tables->[$t], $rows->[$i][1], $row);
		my %parents = %$parents;
		# (a row that refers to none, as it is shown, may refer to any)
		my $above = $above;
		next if defined $tables->[$t]{joins} && defined $rows->[$i][2] && !defined $above;
		$above = undef if defined $tables->[$t]{joins} && !defined $rows->[$i][2];
		# places of the source's rows that are parents, to places of the release's
		if (defined $above)
		{
			my $there = $rows->[$i][2];
			next if exists $parents{$above} && $parents{$above} != $there;
			next if !exists $parents{$above} && grep { $_ == $there } values %parents;
			$parents{$above} = $there;
		}
		my $self = $known->[$of][3];
		next if $t == 1 && exists $parents{$self} && $parents{$self} != $i;
		next if $t == 1 && !exists $parents{$self} && grep { $_ == $i } values %parents;
		$parents{$self} = $i if $t == 1;
		return 1 if fits($tables, $known, $rows, $of + 1, { %$taken, $i => 1 }, \%parents);
	}
	return 0;
}

# What somebody may know: rows of each table, and of all together.
sub draw_known
{
	my (@tables) = @_;
	my $known = pick('1', '1', '2', 'all', '1 in all', '2 in all', 'each');
	$in_all = $known =~ /^(\d) in all$/ ? $1 : 99;
	@most = map { $known =~ /^(\d)/ ? $1 : 1 } @tables;
	if ($known eq 'each')
	{
		my %each;
		for my $t (grep { !$tables[$_]{copies} } 1 .. $#tables) { $each{ $tables[$t]{name} } = $most[$t] = below(3) if chance(0.7); }
		$each{'in all'} = $in_all = 1 + below(3) if chance(0.5);
		return $json->encode(\%each);
	}
	return $known;
}

# Every set of rows (of the first seven) with at most so many of each table, and with their copies and those of the person.
sub sets
{
	my ($tables, $m, $from, $chosen, @rows) = @_;
	my %is = map { ($_->[3] => 1) } @$chosen;
	my @copies = map { [ @{ $rows[$_] }, $_ ] } grep { $tables->[ $rows[$_][0] ]{copies} && (!defined $rows[$_][2] || $is{ $rows[$_][2] }) } 0 .. $#rows;
	my @sets = ([ @$chosen, @copies ]);
	for my $i ($from .. ($#rows < 6 ? $#rows : 6))
	{
		next if $tables->[ $rows[$i][0] ]{copies} || @$chosen >= $in_all || grep({ $_->[0] == $rows[$i][0] } @$chosen) >= $most[ $rows[$i][0] ];
		push @sets, sets($tables, $m, $i + 1, [ @$chosen, [ @{ $rows[$i] }, $i ] ], @rows);
	}
	return @sets;
}

sub attack
{
	my ($k, $m, @tables) = @_;
	my @released = map { [ $_, [ rows_of('written', $_, @tables) ] ] } @{ $tables[0]{written} };
	for my $person (@{ $tables[0]{rows} })
	{
		my @candidates = grep { row_covers($tables[0], $_->[0], $person) } @released;
		my @rows = rows_of('rows', $person, @tables);
		for my $known (sets(\@tables, $m, 0, [], @rows))
		{
			my $fit = grep { fits(\@tables, $known, $_->[1], 0, {}, {}) } @candidates;
			$attackers++;
			$left_out++ if $fit == 0;
			return "$fit persons fit who know " . $json->encode([ $person->{tag}, map { $_->[1]{tag} } @$known ]) if $fit > 0 && $fit < $k;
		}
	}
	return;
}

# Values of each of the rows that one of the known rows can be, with these rows instead.
sub images
{
	my ($tables, $known, $rows, $of, $mark, $taken, $parents, $found) = @_;
	if ($of == @$known) { $found->{ $rows->[ $taken->[$mark] ][1]{val} // 'none' } = 1; return; }
	my ($t, $row, $above, $self) = @{ $known->[$of] };
	for my $i (0 .. $#$rows)
	{
		my ($there, $other, $parent) = @{ $rows->[$i] };
		my %parents = %$parents;
		next if $there != $t || grep { $_ == $i } @$taken;
		next if grep { ($row->{$_} // "\0") ne ($other->{$_} // "\0") } @{ $tables->[$t]{columns} };
		next if defined $above xor defined $parent;
		my $hangs = 1;
		for my $pair (defined $above ? [ $above, $parent ] : (), $t == 1 ? [ $self, $i ] : ())
		{
			$hangs = 0 if exists $parents{ $pair->[0] } ? $parents{ $pair->[0] } != $pair->[1] : grep { $_ == $pair->[1] } values %parents;
			$parents{ $pair->[0] } = $pair->[1];
		}
		images($tables, $known, $rows, $of + 1, $mark, [ @$taken, $i ], \%parents, $found) if $hangs;
	}
}

sub keeps
{
	my ($rule, $persons, %count) = @_;
	my @counts = sort { $b <=> $a } values %count;
	my $sum = 0;
	$sum += $_ for @counts;
	return @counts >= $rule->{l} if $rule->{rule} eq 'distinct_l';
	return $counts[0] <= $rule->{alpha} * $persons + 1e-9 if $rule->{rule} eq 'alpha';
	return $counts[0] < $rule->{c} * ($sum - $counts[0]) if $rule->{rule} eq 'recursive_cl';
	my $entropy = 0;
	$entropy -= $_ / $sum * log($_ / $sum) for @counts;
	return exp($entropy) >= $rule->{l} - 1e-9;
}

# Does an attacker who knows rows as they are shown learn too much of the value of one of them?
sub values_told
{
	my ($m, @tables) = @_;
	my %class;
	for my $person (@{ $tables[0]{written} })
	{
		push @{ $class{ $json->encode([ map { $person->{$_} } @{ $tables[0]{columns} } ]) } }, [ rows_of('written', $person, @tables) ];
	}
	for my $class (values %class)
	{
		for my $rows (@$class)
		{
			for my $known (sets(\@tables, $m, 0, [], @$rows))
			{
				for my $mark (grep { $tables[ $known->[$_][0] ]{rule} } 0 .. $#$known)
				{
					my ($persons, %count) = (0);
					for my $others (@$class)
					{
						my %found;
						images(\@tables, $known, $others, 0, $mark, [], {}, \%found);
						$persons++ if %found;
						$count{$_}++ for keys %found;
					}
					$done{'known values'}++;
					my $rule = $tables[ $known->[$mark][0] ]{rule};
					return 'values of ' . $json->encode([ map { $_->[1]{tag} } @$known ]) . " at $mark break " . $json->encode($rule) . ': ' . $json->encode([ $persons, \%count ])
					  if !keeps($rule, $persons, %count);
				}
			}
		}
	}
	return;
}

# Is the person one of those who have such rows, as they are shown?
sub has
{
	my ($tables, $known, $rows, $of, $taken, $parents) = @_;
	return 1 if $of == @$known;
	my ($t, $row, $above, $self) = @{ $known->[$of] };
	for my $i (0 .. $#$rows)
	{
		my ($there, $other, $parent) = @{ $rows->[$i] };
		my %parents = %$parents;
		next if $there != $t || grep { $_ == $i } @$taken;
		next if grep { ($row->{$_} // "\0") ne ($other->{$_} // "\0") } @{ $tables->[$t]{columns} };
		next if defined $above xor defined $parent;
		my $hangs = 1;
		for my $pair (defined $above ? [ $above, $parent ] : (), $t == 1 ? [ $self, $i ] : ())
		{
			$hangs = 0 if exists $parents{ $pair->[0] } ? $parents{ $pair->[0] } != $pair->[1] : grep { $_ == $pair->[1] } values %parents;
			$parents{ $pair->[0] } = $pair->[1];
		}
		return 1 if $hangs && has($tables, $known, $rows, $of + 1, [ @$taken, $i ], \%parents);
	}
	return 0;
}

# Does an attacker who knows rows as they are shown, or none, learn too much of the person's own value?
sub persons_told
{
	my ($m, @tables) = @_;
	my $rule = $tables[0]{rule};
	my %class;
	return if !defined $rule;
	for my $person (@{ $tables[0]{written} })
	{
		my $rows = [ rows_of('written', $person, @tables) ];
		my $shown = $json->encode([ map { $person->{$_} } @{ $tables[0]{columns} } ]);
		push @{ $class{ $shown . ($m eq 'all' ? whole(\@tables, $rows, undef) : '') } }, [ $person, $rows ];
	}
	for my $class (values %class)
	{
		for my $one (@$class)
		{
			for my $known ($m eq 'all' ? [] : sets(\@tables, $m, 0, [], @{ $one->[1] }))
			{
				my @found = grep { has(\@tables, $known, $_->[1], 0, [], {}) } @$class;
				my %count;
				$count{ $_->[0]{val} // 'none' }++ for @found;
				$done{'persons\' values'}++;
				return 'persons\' values, known ' . $json->encode([ map { $_->[1]{tag} } @$known ]) . ', break ' . $json->encode($rule) . ': ' . $json->encode(\%count)
				  if !keeps($rule, scalar @found, %count);
			}
		}
	}
	return;
}

# What a person shows in everything.
sub whole
{
	my ($tables, $rows, $above) = @_;
	my @parts;
	for my $i (0 .. $#$rows)
	{
		my ($t, $row, $parent) = @{ $rows->[$i] };
		next if defined $above ? !defined $parent || $parent != $above || $t == 1 : defined $parent;
		push @parts, $json->encode([ $t, map({ $row->{$_} } @{ $tables->[$t]{columns} }), $t == 1 ? whole($tables, $rows, $i) : () ]);
	}
	return join(';', sort @parts);
}

sub agree
{
	my ($k, @tables) = @_;
	my %count;
	for my $person (@{ $tables[0]{written} })
	{
		$count{ $json->encode([ map { $person->{$_} } @{ $tables[0]{columns} } ]) . whole(\@tables, [ rows_of('written', $person, @tables) ], undef) }++;
	}
	for (values %count) { return "$_ persons agree in everything" if $_ < $k; }
	return;
}

# Each row is one of the source's, of the right person, and true.
sub truth
{
	my (@tables) = @_;
	my %source;
	for my $t (0 .. $#tables)
	{
		$source{ $_->{tag} } = [$_] for @{ $tables[$t]{rows} };
	}
	%source = %ever if $protected;
	my %key;
	for my $t (0 .. $#tables)
	{
		my (%seen, %rows);
		for my $row (@{ $tables[$t]{written} })
		{
			my ($true) = grep { row_covers($tables[$t], $row, $_) } @{ $source{ $row->{tag} } };
			return "row $row->{tag} is twice there" if $seen{ $row->{tag} }++;
			return "row $row->{tag} shows what is not true" if !defined $true;
			$key{ $row->{id} } = $true->{id} . $tables[$t]{name};
			next if $t == 0;
			my $above = $tables[ $tables[$t]{parent} ];
			return "row $row->{tag} refers to another row" if defined $row->{also} && ($key{ $row->{also} } // '') ne ($true->{also} // '') . $tables[ $tables[$t]{joins} ]{name};
			return "row $row->{tag} is another's" if !defined $true->{above} || ($key{ $row->{above} } // '') ne "$true->{above}$above->{name}";
			$rows{ $row->{above} }++;
		}
		if (defined $tables[$t]{max_rows} && $t > 0 && $tables[$t]{parent} == 0)
		{
			for (values %rows) { return "a person has $_ rows" if $_ > $tables[$t]{max_rows}; }
		}
	}
	return;
}

# ---- a case ----

sub check
{
	my ($schema, $k, $known, @tables) = @_;
	my %named = map {
		my @columns = $schema eq 'pub' ? @{ $_->{columns} } : own($_);
		("$schema.$_->{name}" => { @columns ? (quasi_identifiers => \@columns) : () })
	} @tables;
	# (what t-closeness and lists compare with is the source; none of these rules does)
	$named{"$schema.s"}{privacy} = [ $tables[0]{rule} ] if $schema eq 'pub' && defined $tables[0]{rule};
	return $db->rows("SELECT * FROM kanon_check_linked('$schema.s', " . $db->quote($json->encode(\%named)) . ", $k, '$known')")->[0];
}

sub one_case
{
	my @tables = schema();
	my $k = 2 + below(2);
	my $known = draw_known(@tables);
	my ($state, $rows, $problem);
	fill(@tables);
	$composite = chance(0.25);
	create(@tables);
	($state, $rows) = $db->try("SELECT * FROM kanon_linked('src.s', " . $db->quote(options($k, $known, @tables)) . ", 'pub', $k, '$known', seed => " . below(100) . ')');
	# (a class of more persons than there are)
	return if $state eq '22023' && $class_size > @{ $tables[0]{rows} };
	# (nobody owns)
	return if $state eq '22023' && grep { $_->{owner} && !grep { $_->{kind} eq 'A' } @{ $_->{rows} } } @tables;
	# (the column has too few values)
	return if $state eq '23514' && grep { $_->{rule} } @tables;
	return "$state" if $state ne '00000';
	for my $table (@tables)
	{
		$table->{written} = written($table);
	}
	expand('written', @tables);
	$done{ $known =~ /\{/ ? "known of each" : "known $known" }++;
	$problem = truth(@tables) // ($known eq 'all' ? agree($k, @tables) : attack($k, $known, @tables) // values_told($known, @tables)) // persons_told($known, @tables);
	return $problem if defined $problem;
	my $found = check('pub', $k, $known, @tables);
	return 'kanon_check_linked says that it is not safe' if !$found->{safe};
	$done{'composite keys'}++ if $composite;
	# (that function reads keys of one column)
	return if $composite;
	# a table of too few is found out, too
	for my $table (@tables) { $table->{written} = [ map { { %$_ } } @{ $table->{rows} } ]; }
	return if grep { defined $_->{parent} && grep { !defined $_->{above} } @{ $_->{rows} } } @tables;
	# (references to rows of other persons are not safe)
	for my $table (grep { defined $_->{joins} } @tables)
	{
		my %whose = map { ($_->{id} => $_->{above}) } @{ $tables[ $table->{joins} ]{rows} };
		return if grep { defined $_->{also} && ($whose{ $_->{also} } // 0) != ($_->{above} // 0) } @{ $table->{rows} };
	}
	# (nor rows that nobody has)
	return if grep { $_->{owner} } @tables;
	for my $table (grep { defined $_->{through} } @tables)
	{
		my %whose = map { ($_->{ref} // 0 => 1) } @{ $tables[ $table->{parent} ]{rows} };
		return if grep { !$whose{ $_->{above} } } @{ $table->{shared} };
	}
	$_->{columns} = [ own($_) ] for @tables;
	$found = check('src', $k, $known, @tables);
	return if $known ne 'all';
	return 'kanon_check_linked is wrong about the source' if !!$found->{safe} != !defined agree($k, @tables);
	return;
}

# ---- nights ----

sub changed { return join('|', map { $_ // '' } @{ $_[0] }{ 'above', 'also', @{ $_[1]{columns} } }); }

# Some rows come, go and change, in the source and in what we know of it.
sub mutate
{
	my ($next, @tables) = @_;
	for (1 .. 1 + below($protected ? pick(4, 12, 40) : 4))
	{
		my $t = below(scalar @tables);
		my $table = $tables[$t];
		my $rows = $table->{shared} // $table->{rows};
		my $on = $tables[ $table->{through} // $table->{parent} // 0 ];
		my ($copies) = grep { $_->{copies} && $_->{parent} == $t } @tables;
		my $what = pick('insert', 'insert', 'update', 'delete');
		if ($what eq 'insert')
		{
			my $above = $t == 0 || $table->{copies} ? undef : $on->{shared} // $on->{rows};
			next if defined $above && !@$above;
			my %row = (id => $$next, tag => "$table->{name}$$next", val => 'w' . below(4), map { ($_ => value($_, 3)) } own($table));
			$$next++;
			$row{kind} = 'B' if $table->{owner};
			$row{ref} = chance(0.2) ? undef : pick(@{ $copies->{shared} })->{id} if defined $copies && @{ $copies->{shared} };
			$row{above} = !defined $above ? undef : $above->[ below(scalar @$above) ]{id};
			$row{also} = refers_to($tables[ $table->{joins} ]{rows}, $row{above}) if defined $table->{joins};
			my @names = (keys_of($table, defined $above, defined $copies), 'tag', 'val', own($table), $table->{owner} ? 'kind' : ());
			my $full = with_keys(\%row);
			$db->run("INSERT INTO src.$table->{name} (" . join(', ', @names) . ') VALUES (' . join(', ', map { $db->quote($full->{$_}) } @names) . ')');
			push @$rows, \%row;
		}
		elsif (@$rows && $what eq 'update')
		{
			my $row = $rows->[ below(scalar @$rows) ];
			# (what is kept beside the quasi-identifiers decides nothing)
			my $column = pick(own($table), $t > 0 && !$table->{copies} ? 'above' : 'note');
			$row->{$column} = $column eq 'note' ? 'n' . below(5) : $column ne 'above' ? value($column, 3) : pick(@{ $on->{shared} // $on->{rows} })->{id};
			$row->{tag} = "$table->{name}$row->{id}." . $$next++ if $protected && $t > 0;
			$db->run("UPDATE src.$table->{name} SET $column = " . $db->quote($row->{$column}) . ($composite && $column eq 'above' ? ', above_g = ' . $row->{above} % 2 : '') . ", tag = '$row->{tag}' WHERE id = $row->{id}");
		}
		elsif (@$rows > 6)
		{
			my $gone = $rows->[ below(scalar @$rows) ]{id};
			drop_row($t, $gone, @tables);
		}
	}
	expand('rows', @tables);
}

sub drop_row
{
	my ($t, $id, @tables) = @_;
	for my $u ($t + 1 .. $#tables)
	{
		if (($tables[$u]{joins} // -1) == $t)
		{
			$db->run("UPDATE src.$tables[$u]{name} SET also = NULL" . ($composite ? ', also_g = NULL' : '') . " WHERE also = $id");
			$_->{also} = undef for grep { defined $_->{also} && $_->{also} == $id } @{ $tables[$u]{rows} };
		}
		next if ($tables[$u]{through} // $tables[$u]{parent}) != $t || $tables[$u]{copies};
		my @below = map { $_->{id} } grep { defined $_->{above} && $_->{above} == $id } @{ $tables[$u]{shared} // $tables[$u]{rows} };
		drop_row($u, $_, @tables) for @below;
	}
	if ($tables[$t]{copies})
	{
		my $between = $tables[ $tables[$t]{parent} ];
		$db->run("UPDATE src.$between->{name} SET ref = NULL" . ($composite ? ', ref_g = NULL' : '') . " WHERE ref = $id");
		$_->{ref} = undef for grep { defined $_->{ref} && $_->{ref} == $id } @{ $between->{rows} };
	}
	$db->run("DELETE FROM src.$tables[$t]{name} WHERE id = $id");
	my $rows = $tables[$t]{shared} // $tables[$t]{rows};
	@$rows = grep { $_->{id} != $id } @$rows;
}

# What a release shows and what it was made of, by tags.
sub picture
{
	my (@tables) = @_;
	my (%class, %of, %shows, %is, %whose);
	for my $t (0 .. $#tables)
	{
		$is{ $_->{tag} } = changed($_, $tables[$t]) for @{ $tables[$t]{rows} };
		push @{ $shows{"$t $is{$_->{tag}}"} }, changed({ %$_, above => undef, also => defined $_->{also} ? 1 : undef }, $tables[$t]) for @{ $tables[$t]{written} };
		$is{ $_->{tag} } = "$t $is{$_->{tag}}" for @{ $tables[$t]{rows} };
	}
	$_ = join(' ', sort @$_) for values %shows;
	for my $person (@{ $tables[0]{written} })
	{
		$of{ $person->{tag} } = $json->encode([ map { $person->{$_} } @{ $tables[0]{columns} } ]);
		push @{ $class{ $of{ $person->{tag} } } }, $person->{tag};
	}
	for my $person (@{ $tables[0]{rows} }) { $whose{ $person->{tag} } = [ map { $_->[1]{tag} } rows_of('rows', $person, @tables) ]; }
	return { class => \%class, of => \%of, shows => \%shows, is => \%is, whose => \%whose };
}

sub compare
{
	my ($before, $now) = @_;
	my %same = map { ($_ => 1) } grep { defined $before->{is}{$_} && $before->{is}{$_} eq $now->{is}{$_} } keys %{ $now->{is} };
	for my $person (grep { $same{$_} && defined $before->{of}{$_} && defined $now->{of}{$_} } keys %{ $now->{whose} })
	{
		my @old = @{ $before->{class}{ $before->{of}{$person} } };
		my @new = @{ $now->{class}{ $now->{of}{$person} } };
		my %with = map { ($_ => 1) } @new;
		my @lost = grep { $same{$_} && !$with{$_} } @old;
		return "$person lost the company of @lost" if @lost;
		next if join(' ', sort @old) ne join(' ', sort @new);
		my @rows = map { @{ $now->{whose}{$_} // [] } } @new;
		my @rows_before = map { @{ $before->{whose}{$_} // [] } } @new;
		next if join(' ', sort @rows) ne join(' ', sort @rows_before) || grep { !$same{$_} } @new, @rows;
		$done{'unchanged persons'}++;
		my @other = grep { ($before->{shows}{ $now->{is}{$_} } // 'nothing') ne ($now->{shows}{ $now->{is}{$_} } // 'nothing') } @rows;
		return "nothing changed in the class of $person, but what @other show" if @other;
	}
	return;
}

# How each person and row was shown in each release so far: of every set that somebody may know, as many persons as k.
sub follow
{
	my ($k, $known, $by, $seen, $night, @tables) = @_;
	my (%tag, @all);
	for my $t (0 .. $#tables)
	{
		for my $row (@{ $tables[$t]{written} })
		{
			my $above = $t == 0 ? undef : $tag{"$tables[ $tables[$t]{parent} ]{name}$row->{above}"};
			my $id = $by eq 'tag' ? join('|', $t, $row->{tag}, $above // ()) : "$t|$row->{id}";
			return "followed by $by: a row is another's" if exists $seen->{$id} && ($seen->{$id}{above} // '') ne ($above // '');
			$tag{"$tables[$t]{name}$row->{id}"} = $id;
			$seen->{$id}{above} = $above;
			$seen->{$id}{shown}[$night] = $json->encode([ map { $row->{$_} } @{ $tables[$t]{columns} } ]);
		}
		push @all, { name => $tables[$t]{name}, parent => $tables[$t]{parent}, columns => ['shown'], written => [] };
	}
	my %number;
	for my $id (sort keys %$seen)
	{
		my ($t) = split(/\|/, $id);
		my $shown = join(' ', map { $_ // '-' } @{ $seen->{$id}{shown} }[ 1 .. $night ]);
		push @{ $all[$t]{written} }, { id => $id, tag => $id, above => $seen->{$id}{above}, shown => 'T' . ($number{$shown} //= keys %number) };
		$done{'rows that came later'}++ if $t > 0 && !defined $seen->{$id}{shown}[1] && defined $seen->{$id}{shown}[$night] && !defined $seen->{$id}{shown}[ $night - 1 ];
	}
	$_->{rows} = $_->{written} for @all;
	my $problem = $known eq 'all' ? agree($k, @all) : attack($k, $known, @all);
	return defined $problem ? "followed by $by: $problem" : undef;
}

sub remember
{
	for my $table (@_) { push @{ $ever{ $_->{tag} } }, {%$_} for @{ $table->{rows} }; }
}

sub one_series
{
	my @tables = schema();
	my ($k, $next) = (2 + below(2), 1000);
	my $known = draw_known(@tables);
	my ($before, $problem, %seen);
	my $keys = pick('release', 'publication');
	$protected = chance(0.5) && !grep { defined $_->{joins} || defined $_->{through} } @tables;
	%ever = ();
	fill(@tables);
	$composite = !$protected && chance(0.25);
	create(@tables);
	$db->run('DROP SCHEMA IF EXISTS priv CASCADE; CREATE SCHEMA priv');
	my $options = options($k, $known, @tables);
	return if $class_size == 0;
	$options =~ s/"max_rows":\d,?//g;
	$options =~ s/,\}/}/g;
	$_->{max_rows} = undef for @tables;
	my ($state) = $db->try("SELECT kanon_create_linked_publication('pub', 'src.s', " . $db->quote($options) . ", $k, '$known', pseudonym => '$keys', protect_successive => " . ($protected ? 'true' : 'false') . ", private_schema => 'priv')");
	return if $state eq '22023' && ($class_size > @{ $tables[0]{rows} } || grep { $_->{owner} } @tables) || $state eq '23514' && grep { $_->{rule} } @tables;
	return "$state" if $state ne '00000';
	for my $night (1 .. $nights)
	{
		remember(@tables);
		$_->{written} = written($_) for @tables;
		expand('written', @tables);
		my $now = $protected ? undef : picture(@tables);
		my $message = $db->rows("SELECT coalesce(message, '') AS message FROM kanon_releases ORDER BY release DESC LIMIT 1")->[0]{message};
		$problem = truth(@tables) // ($known eq 'all' ? agree($k, @tables) : attack($k, $known, @tables) // values_told($known, @tables)) // persons_told($known, @tables);
		$problem //= compare($before, $now) if defined $before && $message eq '' && !$protected;
		for my $by ('tag', $keys eq 'publication' ? 'key' : ())
		{
			$problem //= follow($k, $known, $by, $seen{$by} //= {}, $night, @tables) if $protected;
		}
		return "night $night: $problem" if defined $problem;
		$done{ $protected ? 'protected nights' : "nights$message" }++;
		$before = $now;
		mutate(\$next, @tables);
		my ($failed, $lines) = $db->try("SELECT status, error, message FROM kanon_refresh('pub')");
		return "night $night: $failed" if $failed ne '00000';
		$done{"nights $lines->[0]{status}"}++ if $protected;
		next if $lines->[0]{status} ne 'failed';
		# (too few persons, or values, are left: readers keep the release of the night before)
		return if $lines->[0]{error} =~ /^(?:22023|23514)$/;
		return "night $night: $lines->[0]{error} $lines->[0]{message}";
	}
	return;
}

my $began = time;
mkdir 'build';
mkdir 'build/linked';
$db = Db->connect;
my $case = 0;
while ($case < $cases && (!defined $seconds || time - $began < $seconds))
{
	srand($seed + $case);
	$db->take_log;
	my $problem = eval { $nights > 0 ? one_series() : one_case() } // ($@ ? "died: $@" : undef);
	if (defined $problem)
	{
		open(my $file, '>', 'build/linked/' . ($seed + $case) . '.sql') or die $!;
		print $file $db->take_log, "-- $problem\n";
		push @failures, 'case ' . ($seed + $case) . ": $problem";
		print "not ok: $failures[-1]\n";
		$db = Db->connect if $problem =~ /^died: psql/;
	}
	$case++;
}
printf "%d releases of several tables (%s), %d attackers, of whom %d found nobody: %d failed\n", $case,
  join(', ', map { "$done{$_} $_" } sort keys %done), $attackers, $left_out, scalar @failures;
printf "# %s\n", @failures ? @failures . " of $case tests failed" : "All $case tests passed";
exit(@failures ? 1 : 0);
