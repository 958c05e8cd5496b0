package Groups;

# kanon_anatomy: rows, groups and values of random tables counted again, and whether it had to be refused.

use strict;
use warnings;
use List::Util qw(max min sum0);
use Names;
use Random;

# One table; returns what it was.
sub check
{
	my ($db, $complain, $done) = @_;
	my $n = 2 + below(30);
	my $l = 2 + below(4);
	my @values = map { chance(0.1) ? 'NULL' : below(1 + below(9)) } 1 .. $n;
	my %rows;
	$rows{$_}++ for @values;
	my $what = "anatomy l=$l (@values)";

	$db->run("DROP TABLE IF EXISTS patients, patients_rows, patients_values CASCADE");
	$db->run('CREATE TABLE patients (id int, value int)');
	$db->run('INSERT INTO patients VALUES ' . join(', ', map { "($_, $values[$_ - 1])" } shuffled(1 .. $n)));
	my ($state, $lines) = $db->try('SELECT * FROM ' . Names::call('anatomy', source => "'patients'", quasi_target => "'patients_rows'",
			sensitive_target => "'patients_values'", quasi_identifiers => "'{id}'", sensitive => "'value'", l => $l, view => "'patients_view'", allow_identifying => "'{id,value}'"));
	$done->{anatomy}++;
	my $possible = max(values %rows) * $l <= $n;
	$complain->("$what: " . ($possible ? "refused with $state" : "published with $state")) if $state ne ($possible ? '00000' : '23514');
	return $what if $state ne '00000';

	my $line = $lines->[0];
	my (%size, %of, %total);
	my $say = sub { my ($name, $is, $should) = @_; $complain->("$what: $name is $is, should be $should") if $is != $should; };
	for my $row (@{ $db->rows('SELECT * FROM patients_values') })
	{
		my $value = $row->{value} // 'NULL';
		$of{ $row->{kanon_group} }{$value} += $row->{kanon_count};
		$total{$value} += $row->{kanon_count};
	}
	my @rows = @{ $db->rows('SELECT * FROM patients_rows') };
	for my $row (@rows)
	{
		$size{ $row->{kanon_group} }++;
		$complain->("$what: row $row->{id} is in a group without its value") if !$of{ $row->{kanon_group} }{ $values[$row->{id} - 1] };
	}
	$say->('ids', scalar keys %{ { map { ($_->{id} => 1) } @rows } }, $n);
	$say->("rows of $_", $total{$_} // 0, $rows{$_}) for keys %rows;
	for my $group (keys %of)
	{
		my @counts = values %{ $of{$group} };
		$say->("rows of group $group", $size{$group} // 0, sum0(@counts));
		$complain->("$what: group $group has (@counts)") if @counts < $l || max(@counts) * $l > sum0(@counts);
	}
	$say->('row_count', $line->{row_count}, $n);
	$say->('sensitive_values', $line->{sensitive_values}, scalar keys %rows);
	$say->('groups', $line->{groups}, scalar keys %size);
	$say->('group_min', $line->{group_min}, min(values %size));
	$say->('group_max', $line->{group_max}, max(values %size));

	# the paper's measure, row by row: how far what is believed of it is from what it has
	my $error = 0;
	for my $row (@rows)
	{
		my $group = $row->{kanon_group};
		$error += ($of{$group}{$_} / $size{$group} - ($_ eq $values[$row->{id} - 1]))**2 for keys %{ $of{$group} };
	}
	$complain->("$what: reconstruction_error is $line->{reconstruction_error}, should be $error") if abs($line->{reconstruction_error} - $error) > 1e-7;

	# what is expected of some rows and one value
	my $until = 1 + below($n);
	my ($value) = shuffled(keys %rows);
	my $expected = sum0(map { ($of{ $_->{kanon_group} }{$value} // 0) / $size{ $_->{kanon_group} } } grep { $_->{id} <= $until } @rows);
	my $told = $db->rows("SELECT coalesce(sum(kanon_expected), 0) AS n FROM patients_view WHERE id <= $until AND value IS NOT DISTINCT FROM $value")->[0]{n};
	$complain->("$what: expects $told rows, should be $expected") if abs($told - $expected) > 1e-7;
	return $what;
}

1;
