package Random;

# What every file draws from: the same for the same seed.

use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(below chance pick some shuffled);

sub below { return int(rand($_[0])); }
sub chance { return rand() < $_[0]; }
sub pick { return $_[ below(scalar @_) ]; }
sub some { my ($share, @list) = @_; return grep { chance($share) } @list; }

sub shuffled
{
	my @list = @_;
	for (my $i = @list; $i > 1; $i--)
	{
		my $j = below($i);
		@list[$i - 1, $j] = @list[$j, $i - 1];
	}
	return @list;
}

1;
