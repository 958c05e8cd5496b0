package Db;

# One psql at the other end of two pipes; answers come back as JSON.

use strict;
use warnings;
use IPC::Open2;
use JSON::PP;

my $json = JSON::PP->new->allow_nonref->allow_bignum(0);

sub connect
{
	my ($class) = @_;
	my $self = bless { log => [] }, $class;
	$self->{pid} = open2(my $out, my $in, 'psql -XqAt 2>/dev/null');
	$in->autoflush(1);
	@$self{qw(in out)} = ($in, $out);
	$self->run("SET client_min_messages = error");
	$self->run("SET kanon.progress = off");
	$self->run("CREATE EXTENSION IF NOT EXISTS kanon");
	return $self;
}

# Its lines; in list context the SQLSTATE comes first.
sub run
{
	my ($self, $sql) = @_;
	my ($in, $out) = @$self{qw(in out)};
	my @lines;

	push @{ $self->{log} }, $sql;
	print $in "$sql;\n\\echo @@ :SQLSTATE\n";
	while (defined(my $line = <$out>))
	{
		chomp $line;
		return wantarray ? ($1, @lines) : ($1 eq '00000' or die "$1 in: $sql\n") if $line =~ /^@@ (\S+)/;
		push @lines, $line;
	}
	die "psql is gone after: $sql\n";
}

# The rows of a query as hashes, and the SQLSTATE.
sub try
{
	my ($self, $sql) = @_;
	my ($state, @lines) =
	  $self->run("SELECT coalesce(json_agg(row_to_json(q)), '[]') FROM ($sql) q");
	return ($state, $state eq '00000' ? $json->decode(join("\n", @lines)) : undef);
}

sub rows
{
	my ($self, $sql) = @_;
	my ($state, $rows) = $self->try($sql);
	die "$state in: $sql\n" if $state ne '00000';
	return $rows;
}

sub quote
{
	my ($self, $text) = @_;
	return 'NULL' if !defined $text;
	$text =~ s/'/''/g;
	return "'$text'";
}

# Everything since the last call: what it takes to see a failure again.
sub take_log
{
	my ($self) = @_;
	my $log = join(";\n", @{ $self->{log} }) . ";\n";
	$self->{log} = [];
	return $log;
}

1;
