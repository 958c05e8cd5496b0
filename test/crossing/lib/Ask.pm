package Ask;

# A drawn call as SQL, and what the server answers.

use strict;
use warnings;
use Exporter 'import';
use JSON::PP;
use Draw;
our @EXPORT = qw(steps_of);

my $json = JSON::PP->new->canonical->allow_nonref;

our $attempt = <<'SQL';
CREATE FUNCTION crossing.attempt(steps text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	answers jsonb := '[]';
	step text;
	lines jsonb;
	state text; message text; detail text; hint text;
BEGIN
	BEGIN
		FOREACH step IN ARRAY steps LOOP
			BEGIN
				lines := 'null';
				IF step LIKE 'SELECT%' THEN
					EXECUTE 'SELECT coalesce(jsonb_agg(to_jsonb(q)), ''[]'') FROM (' || step || ') q' INTO lines;
				ELSE
					EXECUTE step;
				END IF;
				answers := answers || jsonb_build_object('state', '', 'lines', lines);
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
				answers := answers || jsonb_build_object('state', state, 'message', message, 'detail', detail, 'hint', hint);
			END;
		END LOOP;
		RAISE EXCEPTION USING ERRCODE = 'ZZ999';
	EXCEPTION WHEN SQLSTATE 'ZZ999' THEN NULL;
	END;
	RETURN answers;
END $$
SQL

my %array = map { $_ => 1 } qw(keep allow_identifying categorical combinations patterns);

sub literal_of
{
	my ($name, $value) = @_;
	return $$value if ref $value eq 'SCALAR';
	return quoted('{' . join(',', map { "\"$_\"" } @$value) . '}') if ref $value eq 'ARRAY';
	return quoted($json->encode($value)) if ref $value;
	return $name =~ /^(mark|mutual)$/ ? 'true' : quoted($value);
}

sub privacy_of { my ($call) = @_; return 'ARRAY[' . join(', ', map { $_->{sql} } @{ $call->{rules} }) . ']'; }
sub columns_of { my ($call) = @_; return json_list(map { $_->{name} } @{ $call->{world}{columns} }); }

sub call_of
{
	my ($call, $dry) = @_;
	my %option = %{ $call->{option} };
	my @list = map { "$_ => " . literal_of($_, $option{$_}) } sort keys %option;
	push @list, 'privacy => ' . privacy_of($call) if @{ $call->{rules} };
	return "SELECT * FROM kanon_$call->{model}('src', " . ($dry ? 'NULL' : "'out'") . ", '" . columns_of($call) . "', $call->{k}, " . join(', ', @list) . ($dry ? ', dry_run => true' : '') . ')';
}

sub creation_of
{
	my ($call) = @_;
	my %option = %{ $call->{option} };
	my $rules = delete $option{rules};
	for (qw(mark mutual)) { $option{$_} = JSON::PP::true if $option{$_}; }
	$option{$_} += 0 for grep { defined $option{$_} } qw(known_columns suppression_limit partition_size effort seed min_batch);
	my $options = quoted($json->encode(\%option)) . '::jsonb';
	$options .= " || jsonb_build_object('privacy', to_jsonb(" . privacy_of($call) . '))' if @{ $call->{rules} };
	$options .= " || jsonb_build_object('rules', $$rules)" if $rules;
	return "SELECT kanon_create_publication('pub', 'src', '" . columns_of($call) . "', $call->{k}, options => $options, model => '$call->{model}'" . join('', map { ", $_" } @{ $call->{arguments} }) . ')';
}

# What is asked, in order: [what it is, SQL].
sub steps_of
{
	my ($call) = @_;
	my $read = sub { return "SELECT to_jsonb(t) AS v FROM $_[0] t"; };
	# (the view does not tell batches apart)
	my $view = $call->{publication} eq 'appended' ? 'pub_batches' : 'pub';
	return ([ dry => call_of($call, 1) ], [ call => call_of($call, 0) ], [ read => $read->('out') ]) if $call->{publication} eq 'call';
	my @steps = ([ create => creation_of($call) ], [ read => $read->($view) ]);
	for my $night (@{ $call->{nights} })
	{
		push @steps, (map { [ change => $_->{sql}, $_ ] } @$night), [ refresh => "SELECT * FROM kanon_refresh('pub')" ], [ read => $read->($view) ];
	}
	return @steps;
}

1;
