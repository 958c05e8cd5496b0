package Refusals;

# What may be refused, and the sentence of a page that says so.  A refusal that is not here is a defect, and so is a
# sentence that its page does not have any more.

use strict;
use warnings;
use FindBin;

my $known = 'with known_columns or combinations$';
my $guided = 'pattern_guided';
# SQLSTATE, message, page, sentence.
our @refusals = (
	[ '0A000', qr/^method ".*" takes no privacy rules$/, freeform => 'kanon refuses `privacy` (0A000)' ],
	[ '0A000', qr/^method ".*" of kanon_\w+ does not take the rule/, privacy => 'Other functions refuse a rule by name (0A000)' ],
	[ '0A000', qr/^rules about presence cannot be combined with kanon_subject$/, privacy => 'Rules about presence count rows and refuse `kanon_subject` (0A000)' ],
	[ '0A000', qr/^persons of the key ".*" have several rows, and rules about presence count rows$/, publications => 'Rules about presence refuse such persons' ],
	[ '0A000', qr/^method ".*" takes no partition_size$/, cluster => 'Only `bottom_up`, `forest`, `gather`, `pairs`, `triples` and the methods without classes take `partition_size` (0A000)' ],
	[ '0A000', qr/^method "microaggregate" takes numbers and dates alone$/, cluster => 'numbers and dates alone: groups of k rows' ],
	[ '0A000', qr/^method ".*" makes no classes that could be classified$/, cluster => '**Refused**: `class_column` and `privacy`' ],
	[ '0A000', qr/^method ".*" makes no mutual release$/, freeform => '`mip`, `min_cost_flow` and `concealment` refuse `mutual` (0A000)' ],
	[ '0A000', qr/^method "concealment" takes no k_column$/, freeform => 'Not with `concealment`' ],
	[ '0A000', qr/^(privacy rules but kanon_subject|another residual|partition_by|patterns or rules and method 'ilp') cannot be given $known/, $guided => 'kanon refuses other privacy rules, `partition_by`, another `residual`, and patterns with `ilp` (0A000)' ],
	[ '0A000', qr/^hierarchies and (missing => 'any'|method 'ilp') cannot be given $known/, $guided => '`ilp` and `missing => \'any\'` take no hierarchies here' ],
	[ '0A000', qr/^missing => 'any' and method 'ilp' cannot be given $known/, $guided => '`ilp` and stable publications refuse it' ],
	[ '0A000', qr/^missing => 'any' in a publication cannot be given $known/, $guided => '`ilp` and stable publications refuse it' ],
	[ '0A000', qr/^missing => 'any' and kanon_subject cannot be given $known/, $guided => '`missing => \'any\'` refuses the rule' ],
	[ '0A000', qr/^method '.*' cannot be given $known/, $guided => 'Other methods are refused with known columns (0A000)' ],
	[ '0A000', qr/^missing => 'value' without mark cannot be given $known/, $guided => 'it needs `mark => true`' ],
	[ '0A000', qr/^missing => 'any' with levels cannot be given $known/, full_domain => '`missing => \'any\'` is refused' ],
	[ '0A000', qr/^missing => 'value' in a publication cannot be given $known/, full_domain => 'Stable publications refuse `\'value\'`' ],
	[ '0A000', qr/^a publication with known_columns or combinations takes no key$/, $guided => 'A publication takes both among its `options`, and no key' ],
	[ '0A000', qr/^(model|method) ".*" cannot be published night after night$/, publications => '*Refused*: `freeform`, and `one_k`, `k_one` and `k_k` of `cluster`' ],
	[ '0A000', qr/^model ".*" cannot append$/, publications => '**Refused**: several tables, sets of items, `freeform`' ],
	[ '0A000', qr/^under rules about populations model ".*" cannot keep unchanged rows together$/, publications => 'rules about populations need it with pattern and cluster methods' ],
	[ '0A000', qr/^a publication does not take the mask ".*" like that$/, masks => 'In a publication `noise` and `pram` need `by`, and others are refused' ],
	[ '22023', qr/^k is larger than (the table|the number of persons)$/, $guided => 'otherwise every function refuses k' ],
	[ '22023', qr/^k is larger than the population$/, privacy => 'k is at most the population\'s rows' ],
	[ '22023', qr/^k is too large for this table$/, freeform => 'must be below (rows + 3) / 2' ],
	[ '22023', qr/^\d+ rows? wants? more matches than this table has$/, freeform => 'must be below (rows + 3) / 2' ],
	[ '22023', qr/^k must be at least 2$/, $guided => 'least number of rows that look alike; 2 or more' ],
	[ '22023', qr/^show does not fit column/, cluster => '`show` says how a class shows a column' ],
	[ '22023', qr/^a privacy rule names ".*", which is masked$/, masks => 'kanon refuses a privacy rule about a masked column' ],
	[ '54000', qr/^the problem is too large for this method$/, errors => 'than the method takes' ],
	[ '23514', qr/^no release of this table can fulfil the rule/, privacy => 'kanon refuses a rule that no release could keep before it solves' ],
	[ '23514', qr/^(no release fulfils these rules|the heuristic found no release that fulfils these rules|some rows fit no class of k rows|the rows that fit no class may not be published fully suppressed|no release was found in which unchanged rows stay together)$/,
		errors => 'rows fit no class and `residual` forbids them; no release keeps the rules, or none was found' ],
	[ '23514', qr/^no cut fulfils the rules$/, subtree => 'The call is refused (23514) when all rows together' ],
	[ '23514', qr/^no node of the lattice fulfils the rules within the suppression limit$/, errors => 'no node of the lattice is within `suppression_limit`' ],
	[ '23514', qr/^the release has fewer rows than min_rows of the publication$/, errors => 'a release is beyond `min_rows`' ],
	[ '23514', qr/^the source has too few rows for a first batch$/, errors => 'the source has too few rows for a first batch' ],
	# (a dry run does not see these)
	[ '23514', qr/^masked column ".*" has fewer values than a group must have$/, $guided => 'A dry run reads no kept columns' ],
	[ '22023', qr/^the population has fewer rows than the source$/, errors => 'a population lacks rows of the source' ],
	[ '23514', qr/^a mask .* would show/, errors => 'would show more than half of every text' ]);

# Messages of the registry in the code.
my @registry;
sub registry
{
	return @registry if @registry;
	open(my $file, '<:encoding(UTF-8)', "$FindBin::Bin/../../src/options/together.c") or die "no registry: $!\n";
	local $/ = undef;
	my ($body) = <$file> =~ /refusals\[\] = \{(.*?)\n\};/s or die "no registry\n";
	while ($body =~ /\{\s*"(?:[^"\\]|\\.)*",\s*"(?:[^"\\]|\\.)*",\s*"((?:[^"\\]|\\.)*)"\s*(KNOWN)?/g)
	{
		my $text = ($1 . ($2 ? ' cannot be given with known_columns or combinations' : '')) =~ s/\\"/"/gr;
		next if $text eq '%s';
		push @registry, qr/^\Q@{[ ($text =~ s{%s}{\x01}gr) ]}\E$/;
	}
	@registry = map { my $pattern = "$_"; $pattern =~ s/\\?\x01/.*/g; qr/$pattern/ } @registry;
	return @registry;
}

# The page that names a refusal; undef: none does.
sub page
{
	my ($state, $message) = @_;
	# (masks have a registry of their own: their forms)
	return undef if $state eq '0A000' && $message !~ /mask|does not take the rule/ && !grep { $message =~ $_ } registry();
	for (@refusals) { return $_->[2] if $_->[0] eq $state && $message =~ $_->[1]; }
	return undef;
}

# Sentences that their pages do not have.
sub lost
{
	my ($folder) = @_;
	my (%text, @lost);
	for (@refusals)
	{
		my (undef, undef, $page, $sentence) = @$_;
		$text{$page} //= do
		{
			open(my $file, '<:encoding(UTF-8)', "$folder/$page.md") or die "$folder/$page.md: $!\n";
			local $/ = undef;
			<$file> =~ s/\s+/ /gr;
		};
		push @lost, "$page.md: $sentence" if index($text{$page}, $sentence) < 0;
	}
	return @lost;
}

1;
