package Table;

# A random table with NULLs, and hierarchies above its columns: text made up here, or what kanon's builders
# write, read back.  A column knows, per row: value (its text, or undef), number, and the node at each level.

use strict;
use warnings;
use List::Util qw(min max sum0 uniq);
use Random;
use Names;

my %sql_type = (int => 'int', num => 'numeric', date => 'date', text => 'text', float => 'float8');

sub make_value
{
	my ($type, $domain) = @_;
	my $v = below($domain);
	return $type eq 'int' ? $v * $v : $type eq 'num' ? $v + 0.5 : $type eq 'float' ? $v / 4
	  : $type eq 'date' ? sprintf('2020-%02d-%02d', 1 + $v % 4, 1 + 7 * ($v % 3)) : chr(97 + $v % 3) . chr(97 + int($v / 3));
}

# What stands for "not known" or "for ever", for dates with the days since December 2019.
my %far = ('9999-12-31' => 2914635, '0001-01-01' => -737423);
# (where ranges to these end)
my %end = ('10000-01-01' => 2914636, '0001-01-02' => -737422);
my %stands_for_none = (int => [ 999998, -1000000 ], num => [ '999998.5', '-999999.5' ], float => [ '1e+30', '-88888' ], date => [ sort keys %far ]);

sub number_of
{
	my ($type, $value) = @_;
	return undef if !defined $value || $type eq 'text';
	return $value if $type ne 'date';
	return $far{$value} // $end{$value} if exists $far{$value} || exists $end{$value};
	my ($m, $d) = $value =~ /-(\d+)-(\d+)$/;
	return (0, 0, 31, 60, 91, 121)[$m] + $d;
}

# options: rows, columns, hierarchies (chance of one)
sub new
{
	my ($class, $db, %o) = @_;
	my $self = bless { db => $db, n => $o{rows}, columns => [] }, $class;
	my $n = $o{rows};

	for my $c (1 .. $o{columns})
	{
		my $type = pick(qw(int num date text text float));
		my $domain = 1 + below(pick(2, 3, 5, 9));
		my $nulls = pick(0, 0, 0.25);
		my @far = chance(0.15) ? @{ $stands_for_none{$type} // [] } : ();
		$domain = 14 if @far;
		my @value = map { chance($nulls) ? undef : @far && chance(0.1) ? pick(@far) : make_value($type, $domain) } 1 .. $n;
		push @{ $self->{columns} },
		  {
			name => "c$c", type => $type, value => \@value, weight => 1,
			number => $type eq 'text' ? undef : [ map { number_of($type, $_) } @value ],
			levels => [], height => 1
		  };
	}
	$self->{s} = [ map { chance(0.1) ? undef : pick(qw(p q r t)) } 1 .. $n ];
	$self->{u} = [ map { pick(1, 2, 3) } 1 .. $n ];
	$self->{person} = [ map { below(max(2, int($n * 0.8))) } 1 .. $n ];
	$self->create('src', 0 .. $n - 1);
	if (chance(0.3))
	{
		# numbers that are to be categories
		for my $column (grep { $_->{number} } @{ $self->{columns} })
		{
			next if chance(0.5);
			$column->{categorical} = 1;
			$column->{number} = undef;
		}
	}
	for my $column (@{ $self->{columns} })
	{
		$self->add_hierarchy($column) if chance($o{hierarchies} // 0);
		$self->measure($column);
	}
	return $self;
}

sub create
{
	my ($self, $name, @rows) = @_;
	my $db = $self->{db};
	my @columns = @{ $self->{columns} };

	$db->run("DROP TABLE IF EXISTS $name");
	$db->run("CREATE TABLE $name (id int, " . join('', map { "$_->{name} $sql_type{$_->{type}}, " } @columns) .
		  "s text, u int, person int)");
	return if !@rows;
	$db->run("INSERT INTO $name VALUES " . join(', ', map {
				my $i = $_;
				'(' . join(', ', $i, (map { $db->quote($_->{value}[$i]) } @columns), $db->quote($self->{s}[$i]),
					$self->{u}[$i], $self->{person}[$i]) . ')'
			} @rows));
	return;
}

# ---- hierarchies ----

sub text_lines
{
	my ($column, @values) = @_;
	my %line = map { $_ => [] } @values;
	my %node = map { $_ => $_ } @values;
	my $levels = 1 + below(3);

	for my $h (1 .. $levels)
	{
		my @nodes = sort { $a cmp $b } uniq values %node;
		my $groups = max(1, int(@nodes * rand()));
		my %to = map { $_ => "l$h-" . below($groups) } @nodes;
		$node{$_} = $to{ $node{$_} } for @values;
		push @{ $line{$_} }, $node{$_} for @values;
	}
	if (chance(0.4)) { push @{ $line{$_} }, '*' for @values; }
	return \%line;
}

sub add_hierarchy
{
	my ($self, $column) = @_;
	my $db = $self->{db};
	my ($type, $name) = @$column{qw(type name)};
	my @values = sort { $a cmp $b } uniq grep { defined } @{ $column->{value} };
	my $h = "${name}_h";
	my %builder = (
		int => [ 'hierarchy_interval', pick('{3}', '{4,8}', '{2,10,20}') ],
		num => [ 'hierarchy_interval', pick('{2}', '{1.5,3}') ],
		text => [ 'hierarchy_prefix', pick('{1}', '{2,1}') ],
		date => [ 'hierarchy_date', pick('{month}', '{month,year}', '{month,quarter,year}') ]);
	my $state = 'none';

	return if !@values;
	$db->run("DROP TABLE IF EXISTS $h");
	$builder{$type} = [ 'hierarchy_quantile', pick('{2}', '{4,2}') ] if $type ne 'text' && chance(0.3);
	if ($builder{$type} && chance(0.5))
	{
		my ($function, $argument) = @{ $builder{$type} };
		($state) = $db->run("SELECT $Names::function{$function}('src', '$name', '$h', '$argument')");
		die "$state: $function" if $state ne '00000';
	}
	else
	{
		my $line = text_lines($column, @values, chance(0.3) && $type eq 'text' ? 'zz' : ());
		my ($some) = values %$line;
		$db->run("CREATE TABLE $h (value text" . join('', map { ", l$_ text" } 1 .. @$some) . ')');
		$db->run("INSERT INTO $h VALUES " .
			  join(', ', map { my $v = $_; '(' . join(', ', map { $db->quote($_) } $v, @{ $line->{$v} }) . ')' }
				sort(keys %$line), chance(0.3) ? (sort keys %$line)[0] : ()));
	}
	$self->read_hierarchy($column, $h);
	return;
}

# The lines as they stand; the nodes of NULL are NULL.
sub read_hierarchy
{
	my ($self, $column, $h) = @_;
	my $db = $self->{db};
	my $first = $db->rows("SELECT array_agg(attname ORDER BY attnum) AS names, array_agg(atttypid::regtype ORDER BY attnum) AS types
		FROM pg_attribute WHERE attrelid = '$h'::regclass AND attnum > 0")->[0];
	my ($value, @levels) = @{ $first->{names} };
	my $range = $first->{types}[1] =~ /range/ ? $first->{types}[1] : undef;
	my $list = join(', ', map { "$levels[$_]::text AS l$_" } 0 .. $#levels);
	my $shown = $range ? "$range($value, $value, '[]')::text" : "${value}::text";
	my $lines = $db->rows("SELECT ${value}::text AS value, $shown AS shown, $list FROM $h");
	my %last = map { $_->{"l$#levels"} => 1 } @$lines;
	my $n = @levels - (keys %last <= 1);
	my %line = map { ($column->{type} eq 'num' || $column->{type} eq 'float' ? $_->{value} + 0 : $_->{value}) => $_ } @$lines;

	# with no level left below the top the values stay as they are
	$column->{hierarchy} = $h;
	$column->{levels} = [ map { my $l = $_; [ map { defined $_ ? $line{$_}{"l$l"} : undef } @{ $column->{value} } ] } 0 .. $n - 1 ];
	$column->{height} = $n + 1;
	$column->{shown} = [ map { defined $_ ? $line{$_}{shown} : undef } @{ $column->{value} } ] if $n > 0;
	return;
}

# ---- what is known of a column ----

sub key { return defined $_[0] ? "=$_[0]" : 'null'; }

sub measure
{
	my ($self, $column) = @_;
	my @finite = $column->{number} ? grep { defined } @{ $column->{number} } : ();

	$column->{count} = {};
	$column->{count}{ key($_) }++ for @{ $column->{value} };
	$column->{distinct} = keys %{ $column->{count} };
	my ($low, $high) = data_of(@finite);
	$column->{number} = [ map { defined && $_ >= $low && $_ <= $high ? $_ : undef } @{ $column->{number} } ] if @finite;
	$column->{range} = @finite ? $high - $low : 0;
	return;
}

# The ends of the data: of ten different numbers or more the middle eight tenths, and what follows without a gap of
# more than three times all that is between the ends so far.
sub data_of
{
	my %seen = map { $_ => 1 } @_;
	my @data = sort { $a <=> $b } keys %seen;
	my (@below, @above);

	return @data[ 0, -1 ] if @data < 10;
	my $tenth = int(@data / 10);
	@below = reverse splice(@data, 0, $tenth);
	@above = splice(@data, -$tenth);
	for (my $more = 1; $more;)
	{
		$more = 0;
		if (@below && $data[0] - $below[0] <= 3 * ($data[-1] - $data[0])) { unshift @data, shift @below; $more = 1; }
		if (@above && $above[0] - $data[-1] <= 3 * ($data[-1] - $data[0])) { push @data, shift @above; $more = 1; }
	}
	return @data[ 0, -1 ];
}

# What row i shows at a level: a key for "the same"; undef at the top.
sub node
{
	my ($column, $level, $i) = @_;
	return key($column->{value}[$i]) if $level == 0;
	return $level < $column->{height} ? key($column->{levels}[ $level - 1 ][$i]) : 'top';
}

# The same as the target has it.
sub label
{
	my ($column, $level, $i) = @_;
	return undef if $level == $column->{height};
	return $level > 0 ? $column->{levels}[ $level - 1 ][$i] : $column->{shown} ? $column->{shown}[$i] : $column->{value}[$i];
}

# The rows of the table that a node of a row stands for.
sub below_node
{
	my ($self, $column, $level, $i) = @_;
	my $key = node($column, $level, $i);
	return $column->{below}{$level}{$key} //= [ grep { node($column, $level, $_) eq $key } 0 .. $self->{n} - 1 ];
}

# Share of the column that some rows' values cover, by range or number; 0 for one value.
sub covers
{
	my ($self, $column, $rows) = @_;
	my %value = map { key($column->{value}[$_]) => 1 } @$rows;

	return 0 if keys %value < 2;
	return keys(%value) / $column->{distinct} if !$column->{number};
	my @numbers = map { $column->{number}[$_] } @$rows;
	return 1 if grep { !defined } @numbers;
	return $column->{range} > 0 ? (max(@numbers) - min(@numbers)) / $column->{range} : 0;
}

# What showing level r instead of the value costs.
sub level_cost
{
	my ($self, $column, $level, $how) = @_;

	return $column->{weight} * $level / $column->{height} if $how eq 'height' || $level == 0 || $level == $column->{height};
	return $column->{weight} * ($column->{share}[$level] //= max(map {
			my $r = $_;
			sum0(map { $self->covers($column, $self->below_node($column, $r, $_)) } 0 .. $self->{n} - 1) / $self->{n}
	} 1 .. $level));
}

sub names { my ($self) = @_; return map { $_->{name} } @{ $self->{columns} }; }
sub array { my ($self) = @_; return "'{" . join(',', $self->names) . "}'"; }

sub hierarchies
{
	my ($self) = @_;
	my @list = map { "\"$_->{name}\": \"$_->{hierarchy}\"" } grep { $_->{hierarchy} } @{ $self->{columns} };
	return @list ? "'{" . join(', ', @list) . "}'" : undef;
}

sub weights { my ($self) = @_; return "'{" . join(',', map { $_->{weight} } @{ $self->{columns} }) . "}'"; }

sub categorical
{
	my ($self) = @_;
	return "'{" . join(',', map { $_->{name} } grep { $_->{categorical} } @{ $self->{columns} }) . "}'";
}

1;
