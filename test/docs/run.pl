#!/usr/bin/perl
# run.pl FILE.md…: runs what the documentation shows, each page in a database of
# its own, and compares what comes out with what the page prints.  Needs a server
# (PGHOST and so on) and a superuser; started by "make check-docs".
#
#   ```sql … ```       is run, by psql
#   ``` … ``` after it is what psql prints; a line "..." stands for any lines
#   <!-- run: … -->    is run and not shown (tables that a reader has)
#   <!-- not run: … --> before a block: why it is left out
#   <!-- as: ROLE -->  the next block is run as this role
#
# A block without a result must run without an error.  With KANON_DOCS_UPDATE set,
# results that differ are written into the pages: look at the difference before you
# commit it.
use strict;
use warnings;
use File::Basename qw(basename);
use File::Temp qw(tempdir);
use Test::More;

my $scratch = tempdir(CLEANUP => 1);

# The pieces of a page: [line, 'sql', text, result or undef, role, line of the result], [line, 'hidden', text].
sub pieces {
	my ($file) = @_;
	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
	my @lines = <$in>;
	my (@pieces, $skip, $role);
	for (my $i = 0; $i < @lines; $i++) {
		if ($lines[$i] =~ /^<!-- (run|not run|as):\s*(.*)/) {
			my ($what, $text, $at) = ($1, $2, $i);
			$text .= "\n" . $lines[++$i] while $text !~ s/\s*-->\s*$//;
			if    ($what eq 'run')     { push @pieces, [$at + 1, 'hidden', $text] }
			elsif ($what eq 'not run') { $skip = $text }
			else                       { $role = $text }
		}
		elsif ($lines[$i] =~ /^```(\w*)\s*$/) {
			my ($kind, $at, $text) = ($1, $i + 1, '');
			$text .= $lines[$i] while $lines[++$i] !~ /^```\s*$/;
			if ($kind eq 'sql' && !defined $skip) { push @pieces, [$at, 'sql', $text, undef, $role] }
			elsif ($kind eq '' && @pieces && $pieces[-1][1] eq 'sql' && !defined $pieces[-1][3]) {
				my $between = join '', @lines[$pieces[-1][0] .. $at - 2];
				$between =~ s/.*?^```\s*$//ms;
				@{ $pieces[-1] }[3, 5] = ($text, $at) if $between !~ /\S/;
			}
			($skip, $role) = (undef, undef) if $kind eq 'sql';
		}
	}
	return @pieces;
}

# Blank lines and spaces at the ends of lines say nothing.
sub plain { join "\n", grep { /\S/ } map { s/\s+$//r } split /\n/, $_[0] }

sub matches {
	my ($got, $expected) = @_;
	my $pattern = join "\n", map { /^\s*\.\.\.$/ ? '(?:.*\n)*?.*' : quotemeta } split /\n/, plain($expected);
	return plain($got) =~ /^$pattern$/;
}

# Writes what was printed in place of what the page says, from its last piece to its first.
sub update {
	my ($file, $pieces, $got) = @_;
	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
	my @lines = <$in>;
	for my $n (reverse 0 .. $#$pieces) {
		my (undef, undef, undef, $result, undef, $at) = @{ $pieces->[$n] };
		next if !defined $result || matches($got->{$n}, $result);
		splice @lines, $at, scalar(() = $result =~ /\n/g), map { s/\s+$//r . "\n" } $got->{$n} =~ s/\n+\z/\n/r =~ /^.*\n/mg;
	}
	open my $out, '>:encoding(UTF-8)', $file or die "$file: $!";
	print $out @lines;
}

# The arguments that a page says a function has are those of kanon_option_list().
sub check_signatures {
	system(qw(psql -X -q -d postgres -c), 'SET client_min_messages = warning', '-c', 'CREATE EXTENSION IF NOT EXISTS kanon') == 0 or die;
	my @signatures = qx(psql -X -q -A -t -F ' ' -d postgres -c "
		SELECT function, format('kanon_%s(%s, %s)', function,
			CASE function WHEN 'frontier' THEN 'source, quasi_identifiers, ks' WHEN 'explain' THEN 'source, quasi_identifiers, k'
				WHEN 'transactions' THEN 'source, target, items, k'
				ELSE 'source, target, quasi_identifiers, k' END, string_agg(option, ', ' ORDER BY place))
		FROM kanon_option_list() GROUP BY function");
	is(scalar @signatures, 8, 'functions with options');
	for (@signatures) {
		my ($function, $signature) = /^(\w+) (.*)/;
		open my $in, '<:encoding(UTF-8)', "doc/reference/$function.md" or die $!;
		my $page = join ' ', map { s/\s+$//r } <$in>;
		ok(index($page, "`$signature`") >= 0, "doc/reference/$function.md has the arguments of kanon_$function") or diag("not there: $signature");
	}
}

check_signatures() if !@ARGV;
@ARGV = sort glob "README.md doc/*.md doc/*/*.md" if !@ARGV;
for my $file (@ARGV) {
	my @pieces = pieces($file) or next;
	(my $db = 'doc_' . lc basename($file, '.md')) =~ s/\W/_/g;
	my $script = "$scratch/$db.sql";
	open my $out, '>:encoding(UTF-8)', $script or die $!;
	print $out "\\pset footer off\n\\pset pager off\nSET client_min_messages = notice;\n";
	for my $n (0 .. $#pieces) {
		my ($at, $kind, $text, undef, $role) = @{ $pieces[$n] };
		print $out "\\echo '<<<$n>>>'\n";
		print $out "SET SESSION AUTHORIZATION $role;\n" if defined $role;
		print $out $text, "\n";
		print $out "RESET SESSION AUTHORIZATION;\n" if defined $role;
	}
	close $out;
	system(qw(psql -X -q -d postgres -c), 'SET client_min_messages = warning', '-c', "DROP DATABASE IF EXISTS $db") == 0 or die;
	system(qw(psql -X -q -d postgres -c), "CREATE DATABASE $db") == 0 or die;
	my $all = qx(psql -X -q -d $db -f $script 2>&1);
	utf8::decode($all);
	$all =~ s/^psql:\S+?:\d+: //mg;
	my %got = $all =~ /^<<<(\d+)>>>\n(.*?)(?=^<<<\d+>>>\n|\z)/msg;
	update($file, \@pieces, \%got) if $ENV{KANON_DOCS_UPDATE};
	for my $n (0 .. $#pieces) {
		my ($at, $kind, $text, $result) = @{ $pieces[$n] };
		my $got = $got{$n} // 'ERROR: psql did not come so far';
		if ($kind eq 'sql' && defined $result) {
			ok(matches($got, $result), "$file, line $at: prints what it says")
			  or diag("expected:\n$result\ngot:\n$got");
		}
		else {
			ok($got !~ /^(ERROR|FATAL|PANIC):|server closed|syntax error/m, "$file, line $at: runs") or diag($got);
		}
	}
}
done_testing();
