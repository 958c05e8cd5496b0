package Draw;

# Random tables, and releases of them by everything that publishes.

use strict;
use warnings;
use JSON::PP;
use Random;

my $json = JSON::PP->new->canonical;

sub maybe { my ($share, $value) = @_; return chance($share) ? 'NULL' : $value; }

# The table of the case: persons with several rows, NULLs, and hierarchies of what it has.
sub table
{
	my ($case) = @_;
	my $n = $case->{n} = 14 + below(70);
	my $nulls = pick(0, 0, 0.05, 0.25);
	my $spread = pick(3, 6, 20);
	my @rows;
	for my $id (1 .. $n)
	{
		my $ill = maybe($nulls / 2, "'i" . below(pick(2, 4)) . "'");
		push @rows, '(' . join(', ', $id, 1 + below(1 + $n / 2), maybe($nulls, 20 + below($spread) * 2), maybe($nulls, "'1" . below(3) . below(2) . "'"), maybe($nulls / 2, pick("'f'", "'m'")),
			1000 + below(40) * 50, $ill, "'t" . below(3) . "'", "date '2001-01-01' + " . below(800)) . ')';
	}
	return ('CREATE TABLE src (id int, person int, age int, zip text, sex text, income int, ill text, town text, seen date)',
		'INSERT INTO src VALUES ' . join(', ', @rows),
		"CREATE TABLE ages AS SELECT DISTINCT age AS value, age / 10 || '0s' AS decade, CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS half FROM src WHERE age IS NOT NULL",
		"CREATE TABLE zips AS SELECT DISTINCT zip AS value, left(zip, 2) || '*' AS zip2 FROM src WHERE zip IS NOT NULL",
		'CREATE TABLE pop AS SELECT age, zip, sex FROM src, generate_series(1, 2)',
		'CREATE TABLE everyone AS SELECT * FROM src', 'CREATE VIEW persons AS SELECT DISTINCT id, person FROM everyone', 'ANALYZE src');
}

sub list { return "'{" . join(',', @_) . "}'"; }

my %mask = (
	income => [ '{"round": 100}', '{"top": 2500, "bottom": 1200}', '{"noise": 0.1}', '{"swap": 10}', '{"microaggregate": 3}' ],
	seen => [ '{"shift": "person", "days": 30}' ],
	id => [ '{"pseudonym": "release"}' ],
	town => [ '{"constant": "somewhere"}', '{"partial": [1, 0]}' ]);

my %kinds = (pattern_guided => 7, full_domain => 4, subtree => 3, cluster => 5, pattern_clustering => 2, freeform => 3, transactions => 3, anatomy => 2, alpha_beta => 1,
	synthetic => 1, cross_training => 1, linked => 3, publication => 4, protected => 3, appended => 2);
sub kinds { return sort keys %kinds; }

# What is published, with which statements.
sub draw
{
	my ($number, $only) = @_;
	srand($number);
	my @turn = map { my $kind = $_; ($kind) x $kinds{$kind} } kinds();
	my %case = (number => $number, kind => $only // $turn[ $number % @turn ], k => 2 + below(4), nights => 1);
	my $kind = $case{kind};
	my @make = table(\%case);
	my @qis = $case{qis} = [ (shuffled(qw(age zip sex)))[ 0 .. 1 + below(2) ] ];
	@qis = @{ $case{qis} };
	my @kept = some(0.6, qw(ill income town seen));
	my $id = chance(0.5);
	my %option;

	my $release_of = sub {
		my ($model) = @_;
		$option{hierarchies} = { map { ($_ => $_ . 's') } grep { $_ ne 'sex' } @qis } if $model =~ /full_domain|subtree/ || $model =~ /pattern_guided|cluster$/ && chance(0.5);
		delete $option{hierarchies} if $option{hierarchies} && !%{ $option{hierarchies} };
		$option{residual} = pick(qw(suppress fill drop)) if $model =~ /pattern_guided|full_domain|cluster$/ && $model ne 'pattern_clustering';
		$option{method} = pick(qw(greedy improve)) if $model eq 'pattern_guided';
		$option{method} = pick(qw(mondrian mondrian_relaxed bottom_up top_down forest gather)) if $model eq 'cluster';
		$option{method} = pick(qw(flash incognito samarati)) if $model eq 'full_domain';
		$option{show} = [qw(range set suppress)] if $model eq 'cluster' && !$option{hierarchies} && chance(0.5);
		$option{suppression_limit} = pick(0.05, 0.2) if $model eq 'full_domain';
		$option{rules} = { max_suppressed => 1 } if $model eq 'pattern_guided' && chance(0.15);
		$option{weights} = { $qis[0] => 2.5 } if $model eq 'pattern_guided' && chance(0.2);
		$option{mark} = JSON::PP::true if $model eq 'pattern_guided' && chance(0.3);
		$option{patterns} = [ '*' x @qis, '-' . '*' x $#qis, '-' x @qis ] if $model eq 'pattern_clustering';
		$option{metric} = pick(qw(precision height discernibility)) if $model eq 'full_domain' && chance(0.3);
	};
	my $rules_of = sub {
		my ($model) = @_;
		my $rule = pick('none', 'none', 'subject', 'distinct_l', 'alpha', 'delta_presence', 'k_map');
		return if $rule eq 'none' || $rule =~ /delta|k_map/ && $model !~ /full_domain|subtree/ || $model !~ /pattern_guided|full_domain|subtree|cluster$/;
		return if $rule =~ /distinct|alpha/ && !grep { $_ eq 'ill' } @kept;
		$case{rule} = $rule;
		return { subject => "kanon_subject('person')", distinct_l => "kanon_distinct_l('ill', 2)", alpha => "kanon_alpha('ill', 0.8)", delta_presence => "kanon_delta_presence('pop', 0.1, 0.9)", k_map => "kanon_k_map('pop')" }->{$rule};
	};
	my $text = sub { my ($value) = @_; return ref $value eq 'ARRAY' ? "'{" . join(',', map { "\"$_\"" } @$value) . "}'" : ref $value eq 'HASH' ? "'" . $json->encode($value) . "'" : ref $value ? 'true' : $value =~ /^[\d.]+$/ ? $value : "'$value'"; };
	my $arguments = sub { return map { ", $_ => " . $text->($option{$_}) } sort keys %option; };

	push @kept, 'person' if chance(0.25);
	my %masked;
	if (chance(0.4))
	{
		$masked{$_} = pick(@{ $mask{$_} }) for grep { $mask{$_} && chance(0.5) } @kept, $id ? 'id' : ();
		# (masks that draw need as many rows as they say)
	}
	delete $masked{seen} if !grep { $_ eq 'person' } @kept;
	@kept = ('id', @kept) if $id;
	$case{kept} = [@kept];
	$case{masked} = {%masked};
	my @allowed = grep { !$masked{$_} } ($id ? 'id' : ()), grep { /person|seen|income/ } @kept;
	$case{allowed} = [@allowed];
	my $keep = (@kept ? ', keep => ' . list(@kept) : '') . (@allowed ? ', allow_identifying => ' . list(@allowed) : '')
	  . (%masked ? ", mask => '{" . join(', ', map { "\"$_\": $masked{$_}" } sort keys %masked) . "}'" : '');
	my $k = $case{k};

	if ($kind =~ /^(pattern_guided|full_domain|subtree|cluster|pattern_clustering)$/)
	{
		$release_of->($kind);
		my $rule = $rules_of->($kind);
		if ($kind eq 'pattern_guided' && @qis == 3 && !$case{rule} && chance(0.2))
		{
			delete @option{qw(rules weights)};
			delete $option{method};
			%option = (%option, known_columns => 2, missing => pick(qw(any value)));
			$option{method} = 'greedy';
		}
		push @make, "SELECT FROM kanon_$kind('src', 'out', " . list(@qis) . ", $k" . join('', $arguments->()) . ($rule ? ", privacy => ARRAY[$rule]" : '') . "$keep)";
	}
	elsif ($kind eq 'freeform')
	{
		$option{method} = pick(qw(greedy sort_greedy hungarian ring));
		push @make, "SELECT FROM kanon_freeform('src', 'out', " . list(@qis) . ", $k" . join('', $arguments->()) . "$keep)";
	}
	elsif ($kind eq 'transactions')
	{
		my $items = 6 + below(5);
		push @make, "CREATE TABLE baskets AS SELECT i AS nr, ARRAY(SELECT DISTINCT chr(97 + (i * j * j + i + j) % $items) FROM generate_series(1, 1 + i % 4) j) AS items, 'shop' || i % 3 AS shop FROM generate_series(1, $case{n}) i",
		  "CREATE TABLE goods AS SELECT chr(97 + g) AS value, 'group ' || chr(65 + g / 3) AS kind, 'everything' AS top FROM generate_series(0, $items - 1) g";
		$case{method} = pick(qw(apriori direct suppress));
		push @make, "SELECT FROM kanon_transactions('baskets', 'out', 'items', $k, method => '$case{method}'" . ($case{method} eq 'suppress' ? ', p => 2' : ", m => 2, hierarchy => 'goods'") . ", keep => '{shop}')";
	}
	elsif ($kind eq 'anatomy') { push @make, "SELECT FROM kanon_anatomy('src', 'out', 'out_values', " . list(@qis) . ", 'ill', l => 2)"; }
	elsif ($kind =~ /alpha_beta|synthetic/)
	{
		my $domains = q(domains => '{"age": {"from": 20, "to": 59}, "zip": "zips", "sex": ["f", "m"]}');
		push @make, "SELECT FROM kanon_$kind('src', 'out', '{age,zip,sex}', $domains, " . ($kind eq 'synthetic' ? 'epsilon => ' . pick(1, 2.5, 4) . ', delta => 0.01, rows => 50' : 'd => 0.1, gamma => 0.5') . ')';
		$case{kept} = [qw(age zip sex)];
	}
	elsif ($kind eq 'cross_training') { push @make, "SELECT FROM kanon_cross_training('src', 'out', '{income,person}', t => 3)"; }
	elsif ($kind eq 'linked')
	{
		push @make, 'CREATE TABLE who AS SELECT DISTINCT ON (person) person, age, sex, town FROM src ORDER BY person, id', 'ALTER TABLE who ADD PRIMARY KEY (person)',
		  'CREATE TABLE stay AS SELECT id AS stay, person, zip, ill FROM src', 'ALTER TABLE stay ADD PRIMARY KEY (stay), ADD FOREIGN KEY (person) REFERENCES who',
		  'CREATE SCHEMA linked';
		push @make, "SELECT FROM kanon_linked('who', '{\"who\": {\"quasi_identifiers\": [\"age\", \"sex\"], \"keep\": [\"town\"]}, \"stay\": {\"quasi_identifiers\": [\"zip\"], \"keep\": [\"ill\"]}}', 'linked', $k)";
	}
	else
	{
		my $model = pick(qw(pattern_guided full_domain cluster));
		my $protect = $kind eq 'protected';
		%option = ();
		$release_of->($model);
		delete @option{qw(mark rules)};
		$option{residual} = 'fill' if $kind eq 'appended' && $option{residual};
		$option{residual} = pick(qw(fill suppress)) if $protect && $option{residual};
		$option{keep} = [ 'id', 'ill' ];
		$option{allow_identifying} = ['id'];
		@$_{qw(kept masked allowed)} = ([ 'id', 'ill' ], {}, ['id']) for \%case;
		$case{nights} = 1 + below(3);
		$case{nights}++ if $protect;
		push @make, "SELECT kanon_create_publication('public.out', 'src', " . list(@qis) . ", $k, '" . $json->encode(\%option) . "', '$model'"
		  . ($protect ? ", protect_successive => true, key => 'person', keep_releases => " . ($case{keep_releases} = pick(1, 2)) : $kind eq 'appended' ? ", append => 'id', min_batch => " . 2 * $k : ', keep_releases => ' . ($case{keep_releases} = pick(1, 2, 3)) . (chance(0.3) ? ", key => 'person'" : '')) . ')';
		for my $night (2 .. $case{nights})
		{
			my $from = 1000 * $night;
			push @make, $kind eq 'appended' ? () : ("DELETE FROM src WHERE id % 11 = $night", "UPDATE src SET ill = 'i9' WHERE id % 13 = $night", "UPDATE src SET age = age + 2 WHERE id % 17 = $night"),
			  "INSERT INTO src SELECT $from + id, person + " . pick(0, 50) . ", age, zip, sex, income, ill, town, seen FROM src WHERE id % 3 = 1 AND id < 1000",
			  "INSERT INTO ages SELECT DISTINCT age, age / 10 || '0s', CASE WHEN age < 40 THEN 'young' ELSE 'old' END FROM src WHERE age IS NOT NULL AND age NOT IN (SELECT value FROM ages)",
			  'INSERT INTO everyone SELECT * FROM src EXCEPT SELECT * FROM everyone', "SELECT kanon_refresh('public.out')";
		}
		$case{publication} = 1;
	}
	$case{make} = \@make;
	$case{options} = \%option;
	return \%case;
}

1;
