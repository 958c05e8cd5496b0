#!/usr/bin/perl
# renew.pl FILE BUILD MEASURE SUITE…: writes into FILE what the suites in BUILD come to now (exactly.h).
# What they do not ask for here, such as figures of another GLPK, stays as it is.
use strict;
use warnings;

my ($file, $build, $measure, @suites) = @ARGV;
my (@lines, %at);

for my $line (-e $file ? split(/\n/, do { open(my $in, '<', $file) or die "$file: $!"; local $/; <$in> // '' }) : ())
{
	$at{$1} = @lines if $line =~ /^\t\{"([^"]+)",/;
	push(@lines, $line);
}
for my $suite (@suites)
{
	my $said = `KANON_MEASURE=$measure $build/$suite 2>/dev/null`;

	die "$build/$suite fails\n" if $?;
	for my $line (grep { /^\t\{"/ } split(/\n/, $said))
	{
		my ($what) = $line =~ /^\t\{"([^"]+)",/;

		$lines[ $at{$what} //= @lines ] = $line;
	}
}
open(my $out, '>', $file) or die "$file: $!";
print $out map { "$_\n" } @lines;
close($out) or die "$file: $!";
