package Fuzz::Random;

# Choices that depend on the seed alone.  (Perl's own generator is the same on every
# machine; nothing here walks a hash.)
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(chance pick upto several shuffled literal ident);

# true with this probability
sub chance { my ($p) = @_; return rand() < $p }

# a number from 0 to n - 1
sub upto { my ($n) = @_; return int rand $n }

# one of the arguments
sub pick { return $_[ int rand @_ ] }

sub shuffled
{
	my @list = @_;
	for (my $i = @list - 1; $i > 0; $i--)
	{
		my $j = int rand($i + 1);
		@list[ $i, $j ] = @list[ $j, $i ];
	}
	return @list;
}

# n of the others, or as many as there are
sub several
{
	my ($n, @list) = @_;
	@list = shuffled(@list);
	return @list[ 0 .. ($n < @list ? $n : scalar @list) - 1 ];
}

# as SQL writes a string and a name
sub literal { my ($text) = @_; return 'NULL' if !defined $text; $text =~ s/'/''/g; return $text =~ /\\/ ? do { $text =~ s/\\/\\\\/g; "E'$text'" } : "'$text'" }
sub ident { my ($name) = @_; $name =~ s/"/""/g; return qq("$name") }

1;
