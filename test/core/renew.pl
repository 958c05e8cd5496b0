#!/usr/bin/perl
# renew.pl EXACTLY TRACE BUILD SHARE SUITE…: writes into EXACTLY what the suites in BUILD come to now (exactly.h), and
# into TRACE which way they went (trace.h).  What is not asked for here, such as figures of another GLPK, stays as it is.
use strict;
use warnings;

my ($exactly, $trace, $build, $share, @suites) = @ARGV;

sub lines
{
	my ($file) = @_;

	open(my $in, '<', $file) or return ();
	return grep { /^\t\{"/ } map { s/\n//r } <$in>;
}

sub name { return $_[0] =~ /^\t\{"([^"]+)",/ ? $1 : '' }

my @figures = lines($exactly);
my %at = map { name($figures[$_]) => $_ } 0 .. $#figures;
my %ways;

# (of a suite that is gone nothing stays)
for my $line (lines($trace))
{
	my ($suite) = name($line) =~ /^(\w+)\.c:/;

	push(@{ $ways{$suite} }, $line) if -e "$suite.c";
}
$ENV{KANON_TEST_SHARE} = $share;
$ENV{KANON_MEASURE} = 'yes';
for my $suite (@suites)
{
	my @said = grep { /^\t\{"/ } split(/\n/, `$build/$suite 2>/dev/null`);

	die "$build/$suite fails\n" if $?;
	$ways{$suite} = [ grep { name($_) =~ /^\Q$suite\E\.c:/ } @said ];
	die "$suite: such digests are not recorded here (trace.h)\n" if !@{ $ways{$suite} };
	next if $suite !~ /^test_exactly/;
	for my $line (grep { name($_) !~ /\.c:/ } @said)
	{
		$figures[ $at{ name($line) } //= @figures ] = $line;
	}
}
for my $new ([ $exactly, @figures ], [ $trace, map { @{ $ways{$_} } } sort keys %ways ])
{
	my ($file, @lines) = @$new;

	open(my $out, '>', $file) or die "$file: $!";
	print $out map { "$_\n" } @lines;
	close($out) or die "$file: $!";
}
