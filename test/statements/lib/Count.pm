package Count;

# What pages tell, counted again by SQL over the source and the table; and how a page writes a number.

use strict;
use warnings;
use Exporter 'import';
use POSIX qw(ceil floor);
our @EXPORT = qw(commas share risk number up);

sub commas { my ($n) = @_; return 'n/a' if !defined $n; $n = sprintf('%.0f', $n); my $sign = $n =~ s/^-// ? '-' : ''; 1 while $n =~ s/^(\d+)(\d{3})/$1,$2/; return $sign . $n; }

# Shares above nothing are not 0 %, and those below all not 100 %.  What ends in a five may be rounded either way.
sub share
{
	my ($s) = @_;
	return 'n/a' if !defined $s;
	return '0 %' if abs($s) < 1e-12;
	return [ '100 %', '100.0 %' ] if abs($s - 1) < 1e-12;
	return '< 0.1 %' if $s < 0.0005 && $s > 0;
	return '> 99.9 %' if $s >= 0.9995 && $s < 1;
	return [ map { sprintf('%.1f %%', 100 * $s + $_) } 0, 1e-7, -1e-7 ];
}

sub risk { my ($s) = @_; return !defined $s ? 'n/a' : $s <= 1e-12 ? '0 %' : $s >= 1 - 1e-12 ? '100 %' : ceil(1000 * $s - 1e-7) >= 1000 ? '100 %' : sprintf('%.1f %%', ceil(1000 * $s - 1e-7) / 10); }
# of the sentences
sub up { my ($part, $whole) = @_; return sprintf('%.1f %%', $whole > 0 ? ceil(1000 * $part / $whole - 1e-9) / 10 : 0); }

sub number
{
	my ($n) = @_;
	return 'n/a' if !defined $n;
	my @all;
	for my $x ($n, $n * (1 + 1e-9), $n * (1 - 1e-9))
	{
		push @all, abs($x) < 9999.5 && abs($x) >= 999.5 ? (sprintf('%.0f', $x), commas($x)) : abs($x) >= 999.5 || $x == int($x) ? commas($x) : sprintf('%.3g', $x);
	}
	return \@all;
}

sub new
{
	my ($class, %self) = @_;
	return bless { memo => {}, %self }, $class;
}

sub value { my ($self, $sql) = @_; return $self->{memo}{$sql} if exists $self->{memo}{$sql}; my $rows = $self->{db}->rows("SELECT ($sql) AS v"); return $self->{memo}{$sql} = $rows->[0]{v}; }
sub list { my ($self, $sql) = @_; return $self->{lists}{$sql} //= [ map { $_->{v} } @{ $self->{db}->rows($sql) } ]; }

sub rows { my ($self, $side) = @_; return $self->value("SELECT count(*) FROM $self->{$side}"); }

# What tells rows apart: the quasi-identifiers, and of the table the mark; rows that show nothing are one class.
sub sizes
{
	my ($self, $side) = @_;
	my $by = join(', ', @{ $self->{qis} });
	my $mark = $side eq 'target' && $self->{marked} ? ", CASE WHEN num_nonnulls($by) > 0 THEN kanon_pattern END" : '';
	return $self->list("SELECT count(*) AS v FROM $self->{$side} GROUP BY $by$mark");
}

# A mark tells rows apart that look alike.
sub readers_sizes { my ($self) = @_; my $by = join(', ', @{ $self->{qis} }, $self->{marked} ? 'kanon_pattern' : ()); return $self->list("SELECT count(*) AS v FROM $self->{target} GROUP BY $by"); }

# What the record says: a column of it, or a member of one.
sub told
{
	my ($self, $name) = @_;
	my ($column, $member) = split /\./, $name;
	my $value = $self->{rec}{$column};
	return defined $member ? $value->{$member} : $value;
}

sub told_of_tables { my ($self, $name) = @_; return sum(map { $_->{$name} // 0 } @{ $self->{rec}{tables}{tables} }); }

sub sum { my $sum = 0; $sum += $_ for @_; return $sum; }
sub least { my ($least) = sort { $a <=> $b } @_; return $least; }
sub most { my ($most) = sort { $b <=> $a } @_; return $most; }

sub blank { my ($self, $side) = @_; return $self->value("SELECT count(*) FROM $self->{$side} WHERE num_nonnulls(" . join(', ', @{ $self->{qis} }) . ') = 0'); }

sub type { my ($self, $column) = @_; return $self->value("SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = '$self->{target}'::regclass AND attname = '$column'"); }

# Of the cells of a column: as they were, coarser, empty.
sub cells
{
	my ($self, $column) = @_;
	return @{ $self->{cells}{$column} } if $self->{cells}{$column};
	my $type = $self->type($column);
	my $ends = "CASE WHEN upper_inc($column) THEN upper($column) ELSE upper($column) - 1 END";
	my $kept = $type =~ /range/ ? "lower($column) = $ends" : $type =~ /\[\]/ ? "cardinality($column) = 1" : "$column\::text IN (SELECT s.$column\::text FROM $self->{all_sources} s WHERE s.$column IS NOT NULL)";
	my $row = $self->{db}->rows("SELECT count(*) FILTER (WHERE $column IS NOT NULL AND $kept) AS a, count(*) FILTER (WHERE $column IS NOT NULL AND NOT ($kept)) AS b, count(*) FILTER (WHERE $column IS NULL) AS c FROM $self->{target}")->[0];
	return @{ $self->{cells}{$column} = [ @$row{qw(a b c)} ] };
}

# The values of a column that a cell of the table (t) stands for, as a condition on a row of the source (s).
sub stands
{
	my ($self, $column) = @_;
	my $type = $self->type($column);
	return "t.$column IS NULL OR t.$column @> s.$column" if $type =~ /range/;
	return "t.$column IS NULL OR s.$column = ANY (t.$column) OR s.$column IS NULL AND array_position(t.$column, NULL) IS NOT NULL" if $type =~ /\[\]/;
	my $plain = "t.$column IS NULL OR t.$column\::text = s.$column\::text";
	return $plain if !$self->{levels}{$column};
	return "$plain OR EXISTS (SELECT FROM $self->{levels}{$column}[0] h WHERE h.value = s.$column AND t.$column\::text IN (" . join(', ', map { "h.$_" } @{ $self->{levels}{$column} }[ 1 .. $#{ $self->{levels}{$column} } ]) . '))';
}

# The shares of the values before and after, each cell spread evenly over what it stands for.
sub spread
{
	my ($self, $column) = @_;
	# (what is kept is as it is, and NULL is NULL)
	my $stands = (grep { $_ eq $column } @{ $self->{qis} }) ? $self->stands($column) : "t.$column IS NOT DISTINCT FROM s.$column";
	return "(SELECT v.value, v.n::float8 / sum(v.n) OVER () AS p, coalesce(q.w, 0) / (SELECT count(*) FROM $self->{target}) AS q
		FROM (SELECT $column AS value, count(*) AS n FROM $self->{source} GROUP BY 1) v
		LEFT JOIN (SELECT value, sum(1.0::float8 / n) AS w FROM (SELECT s.value, count(*) OVER (PARTITION BY t.nr) AS n
			FROM (SELECT *, row_number() OVER () AS nr FROM $self->{target}) t JOIN (SELECT DISTINCT $column, $column AS value FROM $self->{source}) s ON $stands) x GROUP BY value) q ON q.value IS NOT DISTINCT FROM v.value)";
}

1;
