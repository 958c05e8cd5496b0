# What a report says is so: for every function, method, rule and kind of residual, each
# sentence's claim is compared with what plain SQL says of the table.
use strict;
use warnings;
use DBI;
use JSON::PP;
use KanonNode;
use Test::More;

my $node = KanonNode::start('statements');
my $db = DBI->connect('dbi:Pg:dbname=postgres;host=' . $node->host . ';port=' . $node->port, 'postgres', '',
	{ RaiseError => 1, PrintError => 0, PrintWarn => 0, AutoCommit => 1 });
my $json = JSON::PP->new->allow_nonref->canonical;

$db->do(<<'SQL');
	SET client_min_messages = error;
	CREATE TABLE visits AS SELECT i AS nr, i % 25 AS person, 20 + i * 7 % 8 * 3 AS age, '10' || i % 2 || i / 2 % 3 AS zip,
		CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex, 'd' || i * i % 7 AS diagnosis FROM generate_series(1, 50) i;
	INSERT INTO visits VALUES (51, 3, 99, '999', 'x', 'd1'), (52, 4, 99, '998', 'x', 'd2');
	CREATE TABLE zips AS SELECT DISTINCT zip AS value, left(zip, 2) || '*' AS zip2, 'all of them' AS country FROM visits;
	CREATE TABLE ages AS SELECT DISTINCT age AS value, age / 10 || '0s' AS decade, CASE WHEN age < 32 THEN 'young' ELSE 'old' END AS half, 'any' AS top FROM visits;
	UPDATE ages SET half = 'old' WHERE decade = '30s';
	CREATE TABLE diagnoses AS SELECT DISTINCT diagnosis AS value, CASE WHEN diagnosis IN ('d0', 'd1') THEN 'a' ELSE 'b' END AS kind, 'ill' AS top FROM visits;
	CREATE TABLE everybody AS SELECT age, zip, sex FROM visits, generate_series(1, 3);
	CREATE TABLE marginals AS SELECT 'age' AS column_name, age::text AS value, count(*) / 52.0 AS share FROM visits GROUP BY age
		UNION ALL SELECT 'zip', zip, count(*) / 52.0 FROM visits GROUP BY zip UNION ALL SELECT 'sex', sex, count(*) / 52.0 FROM visits GROUP BY sex;
	CREATE TABLE baskets AS SELECT i AS nr, ARRAY(SELECT chr(97 + (i * j + j) % 9) FROM generate_series(1, 1 + i % 4) j GROUP BY 1) AS items, i % 3 AS shop FROM generate_series(1, 40) i;
	CREATE TABLE goods AS SELECT chr(97 + g) AS value, 'group ' || g / 3 AS kind, 'everything' AS top FROM generate_series(0, 8) g;
SQL

my @qis = qw(age zip sex);
my %hierarchy = (
	age => [ 'ages', qw(decade half) ],
	zip => [ 'zips', 'zip2' ]);
my $hierarchies = q(hierarchies => '{"age": "ages", "zip": "zips"}');

sub value { return ($db->selectrow_array($_[0]))[0]; }

# ---- what is published ----

my %privacy = (
	none => undef,
	distinct_l => "kanon_distinct_l('diagnosis', 2)",
	distinct_l_two => "kanon_distinct_l('{diagnosis,nr}'::name[], 2)",
	entropy_l => "kanon_entropy_l('diagnosis', 2)",
	recursive_cl => "kanon_recursive_cl('diagnosis', 3, 2)",
	alpha => "kanon_alpha('diagnosis', 0.7)",
	alpha_listed => "kanon_alpha('diagnosis', 0.5, '{d1,d2}')",
	t_equal => "kanon_t_closeness('diagnosis', 0.5)",
	t_ordered => "kanon_t_closeness('diagnosis', 0.4, 'ordered')",
	t_hierarchical => "kanon_t_closeness('diagnosis', 0.4, 'hierarchical', 'diagnoses')",
	delta_presence => "kanon_delta_presence('everybody', 0.1, 0.9)",
	k_map => "kanon_k_map('everybody')",
	presence => "kanon_presence('marginals', 400, 0, 0.5, 0.9)",
	subject => "kanon_subject('person')");
my %mask = (
	patterns => "patterns => '{---,*--,**-,-**}'",
	max_suppressed => 'rules => kanon_rules(max_suppressed => 2)',
	max_cost => 'rules => kanon_rules(max_cost => 1)',
	never_always => "rules => kanon_rules(never => '{sex}', always => '{age}')",
	together => "rules => kanon_rules(together => '{\"age,zip\"}')",
	at_most_one => "rules => kanon_rules(at_most_one => '{\"age,zip\"}')",
	implies => "rules => kanon_rules(implies => '{\"age->zip\"}')",
	weights => "weights => '{1,2.5,0.5}'");
my $keep = "keep => '{diagnosis,person,nr}', allow_identifying => '{nr,person}'";
# Rows drawn by chance, and what with.
my $domains = q(domains => '{"age": {"from": 20, "to": 59}, "zip": "zips", "sex": ["f", "m", "x"]}');
my %chance = (
	alpha_beta => { d => 0.1, gamma => 0.5, domain => 40 * 8 * 3 },
	synthetic => { epsilon => 2, delta => 0.01, domain => 40 * 8 * 3 },
	cross_training => { t => 3 });
my (@calls, $n, %turn, %place);

sub chance_columns { return $_[0] eq 'cross_training' ? qw(age person) : @qis; }

sub call
{
	my ($function, $group, $method, $rule, $residual, @options) = @_;
	my $source = $function eq 'transactions' ? "'baskets', 'TARGET', 'items', %s"
	  : $function eq 'anatomy' ? "'visits', 'TARGET', 'TARGET_values', '{age,zip,sex}', 'diagnosis', l => %s - 1"
	  : $chance{$function} ? "'visits', 'TARGET', '{" . join(',', chance_columns($function)) . "}'"
	  : "'visits', 'TARGET', '{age,zip,sex}', %s";

	my $nth = $turn{"$function $group $rule"}++ + ($place{$rule} //= keys %place);
	return if $ENV{KANON_TEST_SHARE} && $rule ne 'none' && $nth % 3 && $method ne 'greedy';
	# only these take rules about populations
	return if $rule =~ /presence|k_map/ && !($function =~ /full_domain|subtree/ || $method eq 'mondrian' || $method eq 'greedy' && $rule eq 'k_map');
	push @options, "method => '$method'" unless $function eq 'anatomy' || $chance{$function};
	push @options, "residual => '$residual'" if $residual;
	push @options, "privacy => ARRAY[$privacy{$rule}]" if $privacy{$rule};
	push @calls, { function => $function, method => $method, rule => $rule, residual => $residual, group => "$function $group $rule " . ($residual // ''),
		target => 't' . ++$n, sql => "SELECT FROM kanon_$function(" . join(', ', $source, @options) . ')' };
}

# A share of them: rows dropped, refused or joined by others under a quarter of the rules each, and under none;
# and of the methods every third one under each rule, others under the next.
for my $residual (qw(suppress fill drop error))
{
	my $nth = { drop => 0, fill => 1, error => 2 }->{$residual};
	my $taken = sub {
		my @rules = @_;
		return @rules if !$ENV{KANON_TEST_SHARE} || !defined $nth;
		return map { $rules[$_] } grep { $_ % 4 == $nth || $rules[$_] eq 'none' } 0 .. $#rules;
	};

	for my $rule ($taken->(sort keys %privacy))
	{
		for my $method (qw(greedy ilp improve best fpt))
		{
			call('pattern_guided', 'plain', $method, $rule, $residual, $keep);
			call('pattern_guided', 'levels', $method, $rule, $residual, $keep, $hierarchies, 'mark => true') if $method =~ /greedy|ilp/ && $rule ne 'distinct_l_two';
		}
		call('full_domain', 'levels', $_, $rule, $residual, $keep, $hierarchies, 'suppression_limit => 0.1') for qw(flash samarati incognito speedy);
		call('full_domain', 'plain', $_, $rule, $residual, $keep, 'suppression_limit => 0.05', "metric => 'precision'") for qw(flash);
		for my $scheme (qw(subtree sibling))
		{
			last if $residual ne 'suppress';
			call('subtree', $scheme, $_, $rule, undef, $keep, $hierarchies, "scheme => '$scheme'") for qw(top_down optimal);
		}
		call('cluster', 'plain', $_, $rule, $residual, $keep) for qw(mondrian mondrian_relaxed forest bottom_up top_down gather one_k k_one k_k);
		call('cluster', 'levels', $_, $rule, $residual, $keep, $hierarchies) for qw(mondrian bottom_up);
	}
	for my $rule ($taken->(sort keys %mask))
	{
		call('pattern_guided', $_, $_, $rule, $residual, $keep, $mask{$rule}) for qw(greedy ilp improve best fpt);
	}
	call('cluster', 'sets', $_, 'none', $residual, $keep, "show => 'range,set,suppress'") for qw(mondrian forest);
	call('pattern_guided', 'two', 'matching', 'none', $residual, $keep);
	call('cluster', 'two', 'pairs', 'none', $residual, $keep);
	call('cluster', 'three', 'triples', 'none', $residual, $keep);
}
# published masked; and as a publication, whose private names are nobody's business
call($_, 'masked', $_ eq 'pattern_guided' ? 'greedy' : $_ eq 'cluster' ? 'mondrian' : 'flash', 'none', 'suppress', $_ eq 'full_domain' ? ($hierarchies, 'suppression_limit => 0.1') : (),
	"keep => '{diagnosis,nr}'", q(mask => '{"nr": {"pseudonym": "release"}, "diagnosis": {"constant": "ill"}}')) for qw(pattern_guided cluster full_domain);
push @calls, { function => 'publication', method => $_, rule => 'none', group => "publication $_", target => 't' . ++$n,
	sql => "SELECT kanon_create_publication('public.TARGET', 'visits', '{age,zip,sex}', %s, model => '$_', options => '{\"keep\": [\"diagnosis\"]"
	  . ($_ eq 'full_domain' ? ', "hierarchies": {"age": "ages", "zip": "zips"}, "suppression_limit": 0.1' : '') . "}')" } for qw(pattern_guided cluster full_domain subtree);
call('pattern_clustering', 'plain', $_, 'none', undef, $keep, "patterns => '{**-,*--,***}'") for qw(exact greedy);
call('freeform', 'plain', $_, 'none', undef, $keep, $_ eq 'greedy' ? 'mutual => true' : 'mutual => false', 'seed => 1')
  for qw(greedy sort_greedy hungarian plain_sort_greedy plain_hungarian min_cost_flow ring concealment);
call('transactions', $_, $_, 'none', undef, 'm => 2', "hierarchy => 'goods'", "keep => '{shop}'") for qw(apriori direct optimal);
call('transactions', 'plain', 'suppress', 'none', undef, 'p => 2');
call('transactions', 'private', 'suppress', 'none', undef, 'p => 1', 'h => 60', "sensitive => '{a}'");
call('transactions', 'rho', 'suppress_control', 'none', undef, 'rho => 0.7', "sensitive => '{a}'");
call('transactions', 'rho', 'td_control', 'none', undef, 'rho => 0.7', "sensitive => '{a}'", "hierarchy => 'goods'");

call('anatomy', 'plain', 'anatomy', 'none', undef);
call('alpha_beta', 'plain', 'alpha_beta', 'none', undef, 'd => 0.1', 'gamma => 0.5', $domains);
call('synthetic', 'plain', 'synthetic', 'none', undef, 'epsilon => 2', 'delta => 0.01', $domains, 'rows => 70');
call('cross_training', 'plain', 'cross_training', 'none', undef, 't => 3');

# What is published before anything is compared: bounds are of all methods alike.
my %refused;
for my $call (@calls)
{
	my $k = $call->{method} =~ /pairs|matching/ ? 2 : $call->{method} eq 'triples' ? 3 : 4;

	$k = 'NULL' if $call->{method} =~ /_control$/;
	($call->{sql} = $chance{ $call->{function} } ? $call->{sql} : sprintf $call->{sql}, $k) =~ s/TARGET/$call->{target}/g;
	$call->{ran} = eval { $db->do($call->{sql}); 1 };
	$call->{state} = $db->state unless $call->{ran};
	# what is too large for a method is so for fpt alone
	$refused{ $call->{state} }++ unless $call->{ran} || $call->{method} eq 'fpt' && $call->{state} eq '54000';
	$call->{run} = value('SELECT max(run) FROM kanon_usefulness') if $call->{ran};
}
# a rule that the method does not take; nothing that fulfils the rules; rows that fit nowhere
is_deeply([ sort grep { !/^(0A000|23514|P0002)$/ } keys %refused ], [], 'calls are refused for their rules alone');

# ---- each claim, and what SQL says ----

my ($call, $target, $run);
my $shown = join ', ', @qis;
my $blank = join ' AND ', map { "$_ IS NULL" } @qis;

sub type { return value("SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = '$target'::regclass AND attname = '$_[0]'"); }

# Does a cell of the target (t) show a value of a row (s)?
sub matches
{
	my ($column) = @_;
	my $type = type($column);
	my ($table, @levels) = @{ $hierarchy{$column} // [] };

	return "t.$column IS NULL OR t.$column @> s.$column" if $type =~ /range/;
	return "t.$column IS NULL OR t.$column @> ARRAY[s.$column]" if $type =~ /\[\]/;
	return "t.$column IS NULL OR t.$column = s.$column" unless $table && $type eq 'text' && $call->{sql} =~ /hierarchies/;
	return "t.$column IS NULL OR t.$column = s.$column\::text OR EXISTS (SELECT FROM $table h WHERE h.value = s.$column AND t.$column IN ("
	  . join(', ', map { "h.$_" } @levels) . '))';
}

# Of siblings shown one by one: the finest that any row of the target shows of a value of s.
sub finest
{
	my ($column) = @_;
	my ($table, @levels) = @{ $hierarchy{$column} // [] };
	my @texts = ("s.$column\::text", map { "(SELECT DISTINCT h.$_\::text FROM $table h WHERE h.value = s.$column)" } @levels);
	return 'CASE ' . join(' ', map { "WHEN $_ IN (SELECT $column\::text FROM $target) THEN $_" } @texts) . ' END';
}

# What a cell is: kept, blank, or else generalised.
sub counts
{
	my ($column) = @_;
	my $type = type($column);
	my $kept = $type =~ /range/ ? "upper($column) - lower($column) = 1"
	  : $type =~ /\[\]/ ? "cardinality($column) = 1"
	  : "$column\::text IN (SELECT $column\::text FROM visits)";

	return $db->selectrow_array("SELECT count(*) FILTER (WHERE $kept), count(*) FILTER (WHERE $column IS NOT NULL AND NOT ($kept)), count(*) FILTER (WHERE $column IS NULL) FROM $target");
}

# Of the rows that a SELECT has, the least of something by class, blank ones among them.
sub least { return value("SELECT min(g.least) FROM (SELECT $_[0] AS least FROM $target GROUP BY $shown) g"); }

# The shares of a column's values by class (p), beside those of the table (q).
sub shares
{
	my ($column) = @_;
	return "(SELECT c.class, v.value, coalesce(f.n, 0)::float8 / c.n AS p, v.n::float8 / (SELECT count(*) FROM visits) AS q
		FROM (SELECT dense_rank() OVER (ORDER BY $shown) AS class, count(*) AS n FROM $target GROUP BY $shown) c
		CROSS JOIN (SELECT $column AS value, count(*) AS n FROM visits GROUP BY 1) v
		LEFT JOIN (SELECT class, value, count(*) AS n FROM (SELECT dense_rank() OVER (ORDER BY $shown) AS class, $column AS value FROM $target) r GROUP BY 1, 2) f
		  ON f.class = c.class AND f.value = v.value)";
}

# Of each class the rows, and what of a population matches it.
sub belong
{
	my ($population) = @_;
	my $fits = join ' AND ', map { $call->{sql} =~ /sibling/ ? "t.$_\::text IS NOT DISTINCT FROM " . finest($_) : '(' . matches($_) . ')' } @qis;
	return @{ $db->selectall_arrayref("SELECT t.n, (SELECT coalesce(sum(s.weight), 0) FROM $population s WHERE $fits) FROM (SELECT $shown, count(*) AS n FROM $target WHERE NOT ($blank) GROUP BY $shown) t") };
}

my %rule = (
	distinct_l => sub {
		my ($r) = @_;
		my ($first, @others) = $r->{columns} ? @{ $r->{columns} } : ($r->{column});
		for my $column ($first, @others)
		{
			my $by = join ', ', $shown, grep { $_ ne $column } $first, @others;
			return 0 if (value("SELECT min(n) FROM (SELECT count(DISTINCT $column) AS n FROM $target GROUP BY $by) g") // $r->{l}) < $r->{l};
		}
		return 1;
	},
	entropy_l => sub { my ($r) = @_; return value('SELECT min(e) FROM (SELECT exp(-sum(CASE WHEN p > 0 THEN p * ln(p) ELSE 0 END)) AS e FROM ' . shares($r->{column}) . ' x GROUP BY class) g') >= $r->{l} - 1e-9; },
	recursive_cl => sub {
		my ($r) = @_;
		return value("SELECT bool_and(r1 < $r->{c} * rest) FROM (SELECT max(p) AS r1, coalesce(sum(p) FILTER (WHERE nr >= $r->{l}), 0) AS rest
			FROM (SELECT *, row_number() OVER (PARTITION BY class ORDER BY p DESC) AS nr FROM " . shares($r->{column}) . ' x) y GROUP BY class) g');
	},
	alpha => sub {
		my ($r) = @_;
		# the list itself is not recorded
		my $of = $r->{listed} ? "WHERE value IN ('d1', 'd2')" : '';
		return value('SELECT max(p) FROM ' . shares($r->{column}) . " x $of") <= $r->{alpha} + 1e-9;
	},
	t_closeness => sub {
		my ($r) = @_;
		my $shares = shares($r->{column});
		my %distance = (
			equal => "SELECT max(d) FROM (SELECT sum(abs(p - q)) / 2 AS d FROM $shares x GROUP BY class) g",
			ordered => "SELECT max(d) FROM (SELECT sum(abs(c)) / (count(*) - 1) AS d FROM (SELECT class, sum(p - q) OVER (PARTITION BY class ORDER BY value COLLATE \"C\") AS c FROM $shares x) y GROUP BY class) g",
			# what moves within a branch goes half of the way that what moves between them goes
			hierarchical => "SELECT max(d) FROM (SELECT sum(within) / 2 + sum(greatest(extra, 0)) AS d FROM (SELECT class, kind,
				least(sum(greatest(p - q, 0)), sum(greatest(q - p, 0))) AS within, sum(p - q) AS extra
				FROM $shares x JOIN diagnoses d USING (value) GROUP BY class, kind) y GROUP BY class) g");
		return value($distance{ $r->{distance} }) <= $r->{t} + 1e-9;
	},
	presence => sub {
		my ($r) = @_;
		my $n = $r->{population_rows} - value('SELECT count(*) FROM visits');
		# everybody who could be, by the shares of the columns
		for my $class (belong('(SELECT a.value::int AS age, z.value AS zip, x.value AS sex, a.share * z.share * x.share AS weight FROM marginals a, marginals z, marginals x'
			  . " WHERE a.column_name = 'age' AND z.column_name = 'zip' AND x.column_name = 'sex')"))
		{
			my ($rows, $p) = @$class;
			my ($sum, $term) = (0, (1 - $p)**$n);
			for my $x (0 .. $n)
			{
				my $chance = $rows / ($rows + $x);
				$sum += $term if $chance >= $r->{dmin} - 1e-9 && $chance <= $r->{dmax} + 1e-9;
				$term *= ($n - $x) / ($x + 1) * $p / (1 - $p) if $p < 1;
			}
			return 0 if $sum < $r->{confidence} - 1e-6;
		}
		return 1;
	},
	delta_presence => sub {
		my ($r) = @_;
		return !grep { $_->[0] < $r->{dmin} * $_->[1] - 1e-9 || $_->[0] > $r->{dmax} * $_->[1] + 1e-9 } belong('(SELECT age, zip, sex, 1 AS weight FROM everybody)');
	});

# A pattern of the mask, or rows that are blank as a whole.
sub cells { my ($what) = @_; return value("SELECT coalesce(bool_and($what), true) FROM (SELECT *, num_nulls($shown) AS blanks FROM $target WHERE NOT ($blank)) t"); }

my %mask_claim = (
	max_suppressed => sub { return cells("blanks <= $_[0]"); },
	max_cost => sub { return cells("blanks <= $_[0]"); },
	never => sub { return cells(join ' AND ', map { "$_ IS NOT NULL" } split /, /, $_[0]); },
	always => sub { return cells(join ' AND ', map { "$_ IS NULL" } split /, /, $_[0]); },
	together => sub { my ($a, $b) = split /,/, $_[0]; return cells("($a IS NULL) = ($b IS NULL)"); },
	at_most_one => sub { my ($a, $b) = split /,/, $_[0]; return cells("NOT ($a IS NULL AND $b IS NULL)"); },
	implies => sub { my ($a, $b) = split /->/, $_[0]; return cells("$a IS NOT NULL OR $b IS NULL"); });

sub columns_of { return $db->selectcol_arrayref("SELECT attname FROM pg_attribute WHERE attrelid = '$target'::regclass AND attnum > 0 ORDER BY attnum"); }

sub least_matches
{
	my ($of, $by) = @_;
	my $fits = join ' AND ', map { '(' . matches($_) . ')' } @qis;
	return value("SELECT min(n) FROM (SELECT (SELECT count(*) FROM $by WHERE $fits) AS n FROM $of) g");
}

# Sets of one and two items, with their support.
my $sets = "(SELECT s, count(*) AS n FROM (SELECT ARRAY[x] AS s FROM TARGET t, unnest(t.items) x UNION ALL SELECT ARRAY[x, y] FROM TARGET t, unnest(t.items) x, unnest(t.items) y WHERE x < y) a GROUP BY s)";
my %promise = (
	km => sub { my ($claim) = @_; (my $of = $sets) =~ s/TARGET/$target/g; return value("SELECT min(n) FROM $of g WHERE cardinality(s) <= $claim->{m}") >= $claim->{k}; },
	coherence => sub {
		my ($claim) = @_;
		return $promise::km->($claim) unless defined $claim->{h};
		return value("SELECT min(n) >= $claim->{k} AND max(ill / n) <= $claim->{h} / 100.0 FROM (SELECT x, count(*)::float8 AS n, count(*) FILTER (WHERE 'a' = ANY (t.items)) AS ill FROM $target t, unnest(t.items) x WHERE x <> 'a' GROUP BY x) g");
	},
	rho => sub {
		my ($claim) = @_;
		# whoever knows all the other items of a transaction, one, or two of them
		return value("SELECT coalesce(max(ill / n), 0) < $claim->{rho} FROM (SELECT (SELECT count(*) FROM $target u WHERE u.items \@> k.known AND 'a' = ANY (u.items))::float8 AS ill,
			(SELECT count(*) FROM $target u WHERE u.items \@> k.known) AS n FROM (SELECT array_remove(items, 'a') AS known FROM $target UNION SELECT ARRAY[x] FROM $target t, unnest(t.items) x WHERE x <> 'a') k WHERE k.known <> '{}') g WHERE n > 0");
	});
$promise::km = $promise{km};

# The parameters of a mechanism; and its domain, counted.
sub as_called
{
	my ($c) = @_;
	my $asked = $chance{ $call->{function} };
	return !grep { $c->{$_} != $asked->{$_} } keys %$asked;
}

# The claims, by what a claim has; every claim has one of these.
my @claims = (
	[ rows => sub { my ($c) = @_; return value("SELECT count(*) FROM $target") == $c->{rows}; } ],
	[ readers_see => sub { my ($c) = @_; return $c->{readers_see} eq "public.$target" && value("SELECT relkind FROM pg_class WHERE oid = '$target'::regclass") eq 'v'; } ],
	[ as_of => sub { my ($c) = @_; return value("SELECT to_char(started_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' FROM kanon_usefulness WHERE run = $run") eq $c->{as_of}; } ],
	[ transactions => sub { my ($c) = @_; return value("SELECT count(*) FROM $target") == $c->{transactions}; } ],
	[ left_out => sub { my ($c) = @_; return value("SELECT (SELECT count(*) FROM visits) - (SELECT count(*) FROM $target)") == $c->{left_out}; } ],
	[ quasi_identifiers => sub { my ($c) = @_; return "@{$c->{quasi_identifiers}}" eq "@qis"; } ],
	[ marked => sub {
		my ($c) = @_;
		my @own = $call->{function} eq 'transactions' ? 'items' : $call->{function} eq 'anatomy' || $chance{ $call->{function} } ? () : @qis;
		my @kept = @{ $c->{kept} };
		my %masked = map { $_ => 1 } @{ $c->{masked} // [] };
		my $kept;
		my $source = $call->{function} eq 'transactions' ? 'baskets' : 'visits';
		return 0 if "@{columns_of()}" ne join ' ', @own, @kept, ($call->{function} eq 'anatomy' ? 'kanon_group' : ()), ($c->{marked} ? 'kanon_pattern' : ());
		# no row need be one of the source
		return "@kept" eq join ' ', chance_columns($call->{function}) if $chance{ $call->{function} };
		# of what is masked nothing is left
		return 0 if (join ' ', sort keys %masked) ne ($call->{group} =~ /masked/ ? 'diagnosis nr' : '');
		return 0 if grep { value("SELECT count(*) FROM $target WHERE $_\::text IN (SELECT $_\::text FROM $source)") } keys %masked;
		@kept = grep { !$masked{$_} } @kept;
		$kept = join ', ', @kept;
		return !@kept || value("SELECT count(*) FROM (SELECT $kept FROM $target EXCEPT ALL SELECT $kept FROM $source) x") == 0; } ],
	# ends and elements of its cells that fewer rows, or persons, have than k
	[ shows_few => sub {
		my ($c) = @_;
		my ($k, $person) = (value("SELECT k FROM kanon_usefulness WHERE run = $run"), value("SELECT jsonb_path_query_first(options, '\$.privacy[*] ? (@.rule == \"subject\").column') #>> '{}' FROM kanon_usefulness WHERE run = $run"));
		my $holders = $person ? "count(DISTINCT $person)" : 'count(*)';
		for my $column (@qis)
		{
			my $type = type($column);
			my $ends = $type =~ /\[\]$/ ? $column : $type =~ /range$/ ? "ARRAY[lower($column), CASE WHEN upper_inc($column) THEN upper($column) ELSE upper($column) - 1 END]" : next;
			my $cells = value("SELECT count(*) FROM (SELECT $ends AS ends FROM $target WHERE $column IS NOT NULL) t WHERE ends[1] IS DISTINCT FROM ends[cardinality(ends)] AND EXISTS (SELECT FROM unnest(ends) e WHERE e IS NOT NULL AND (SELECT $holders FROM visits s WHERE s.$column = e) < $k)");
			return 0 if $cells != ($c->{shows_few}{$column} // 0);
		}
		return 1; } ],
	[ shows => sub {
		my ($c) = @_;
		return value("SELECT bool_and(x IN (SELECT value FROM goods UNION SELECT kind FROM goods UNION SELECT top FROM goods)) FROM $target t, unnest(t.items) x") if $c->{shows} eq 'items';
		# every value is one of the domain, and true rows are there once at most; or every number has noise
		return value("SELECT count(*) FROM $target t JOIN visits s USING (age, person)") < 26 && value("SELECT bool_and(age IS NOT NULL AND person IS NOT NULL) AND stddev(age) > 0 FROM $target") if $call->{function} eq 'cross_training';
		return value("SELECT bool_and(age BETWEEN 20 AND 59 AND zip IN (SELECT value FROM zips) AND sex IN ('f', 'm', 'x')) FROM $target")
		  && ($call->{function} eq 'synthetic' || value("SELECT count(*) = count(DISTINCT (age, zip, sex)) FROM $target")) if $c->{shows} eq 'chance';
		# all rows stand as they were, and have the values that they had
		return value("SELECT count(*) FROM (SELECT age, zip, sex FROM visits EXCEPT ALL SELECT age, zip, sex FROM $target) x") == 0
		  && value("SELECT count(*) FROM (SELECT diagnosis, count(*) FROM visits GROUP BY 1 EXCEPT SELECT diagnosis, sum(kanon_count) FROM ${target}_values GROUP BY 1) x") == 0 if $c->{shows} eq 'groups';
		# each cell stands for somebody's value
		for my $column (@qis)
		{
			return 0 if value("SELECT count(*) FROM $target t WHERE NOT EXISTS (SELECT FROM visits s WHERE " . matches($column) . ')');
			return 0 if $c->{shows} eq 'values' && (counts($column))[1];
			# rows that had the same value show the same
			return 0 if $c->{shows} eq 'cut' && grep({ $_ eq 'nr' } @{ columns_of() }) && value("SELECT count(*) FROM (SELECT FROM $target t JOIN visits s USING (nr) GROUP BY s.$column HAVING count(DISTINCT coalesce(t.$column\::text, '')) > 1) x");
		}
		return 1; } ],
	[ levels => sub {
		my ($c) = @_;
		return 1 if exists $c->{column};
		for my $column (@qis)
		{
			my ($table, @levels) = @{ $hierarchy{$column} // [] };
			my $level = $c->{levels}{$column};
			my $wrong = !defined $level ? 'true' : $level == 0 ? "$column\::text NOT IN (SELECT $column\::text FROM visits)" : "$column NOT IN (SELECT $levels[$level - 1] FROM $table)";
			return 0 if value("SELECT count(*) FROM $target WHERE $column IS NOT NULL AND $wrong");
			# blank as a whole, or not at all
			return 0 if defined $level && value("SELECT count(*) FROM $target WHERE $column IS NULL AND NOT ($blank)");
		}
		return 1; } ],
	[ classes_at_most => sub { my ($c) = @_; return value("SELECT count(*) FROM (SELECT DISTINCT $shown FROM $target) x") <= $c->{classes_at_most}; } ],
	[ class_rows => sub { my ($c) = @_; return (value("SELECT min(n) FROM (SELECT count(*) AS n FROM $target WHERE NOT ($blank) GROUP BY $shown) g") // $c->{class_rows}) >= $c->{class_rows}; } ],
	[ class_persons => sub { my ($c) = @_; return (value("SELECT min(n) FROM (SELECT count(DISTINCT $c->{person}) AS n FROM $target WHERE NOT ($blank) GROUP BY $shown) g") // $c->{class_persons}) >= $c->{class_persons}; } ],
	[ population_rows => sub {
		my ($c) = @_;
		my $fits = join ' AND ', map { '(' . matches($_) . ')' } @qis;
		return value("SELECT min((SELECT count(*) FROM $c->{population} s WHERE $fits)) FROM (SELECT DISTINCT $shown FROM $target WHERE NOT ($blank)) t") >= $c->{population_rows}; } ],
	[ row_matches => sub { my ($c) = @_; return least_matches('visits s', "$target t") >= $c->{row_matches}; } ],
	[ record_matches => sub { my ($c) = @_; return least_matches("$target t", 'visits s') >= $c->{record_matches}; } ],
	# a regular graph among the matches takes a flow to find, which no SQL does
	[ regular => sub { my ($c) = @_; return value("SELECT regular FROM kanon_check_freeform('visits', '$target', '{age,zip,sex}', $c->{row_matches})"); } ],
	[ transactions_promise => sub { my ($c) = @_; my $m = $c->{transactions_promise}; return $promise{ $m =~ /_control/ ? 'rho' : $m eq 'suppress' ? 'coherence' : 'km' }->($c); } ],
	[ groups => sub {
		my ($c) = @_;
		return value("SELECT count(*) = $c->{groups} AND min(s.values) >= $c->{l} AND max(s.most * $c->{l} - q.n) <= 0 AND sum(q.n) = (SELECT count(*) FROM $target)
			FROM (SELECT kanon_group, count(DISTINCT $c->{sensitive}) AS values, max(kanon_count) AS most FROM $c->{sensitive_target} GROUP BY 1) s
			FULL JOIN (SELECT kanon_group, count(*) AS n FROM $target GROUP BY 1) q USING (kanon_group)"); } ],
	# what rows were drawn with is what was asked for, and follows from it
	[ alpha => sub {
		my ($c) = @_;
		my ($d, $gamma, $beta, $there) = (@$c{qw(d gamma beta)}, $c->{alpha} + $c->{beta});
		return as_called($c) && abs($d * $there / ($d * $there + (1 - $d) * $beta) - $gamma) < 1e-9 && abs((1 - $there) / (1 - $beta) - $d / $gamma) < 1e-9; } ],
	# (with so much noise that no outcome tells more than epsilon there is no delta)
	[ noise => sub { my ($c) = @_; return as_called($c) && $c->{noise} > 0 && $c->{noise} <= 70 / (exp($c->{epsilon}) - 1) + 0.001; } ],
	[ t => sub { my ($c) = @_; return as_called($c); } ],
	[ rule => sub { my ($c) = @_; return $rule{ $c->{rule}{rule} }->($c->{rule}); } ],
	[ patterns => sub { my ($c) = @_; my $pattern = join ' || ', map { "CASE WHEN $_ IS NULL THEN '*' ELSE '-' END" } @qis;
		return cells("$pattern IN (" . join(', ', map { "'$_'" } @{ $c->{patterns} }) . ')'); } ],
	[ mask => sub { my ($c) = @_; my ($what) = keys %{ $c->{mask} }; return $mask_claim{$what}->($c->{mask}{$what}); } ],
	[ column => sub { my ($c) = @_; my @is = counts($c->{column});
		my ($table, @levels) = @{ $hierarchy{ $c->{column} } // [] };
		for my $level (@{ $c->{levels} // [] })
		{
			return 0 if $level->{name} ne $levels[ $level->{level} - 1 ];
			return 0 if value("SELECT count(*) FROM $target WHERE $c->{column} IN (SELECT $level->{name} FROM $table)") != $level->{cells};
		}
		return "@is" eq "$c->{kept} $c->{generalised} $c->{blank}"; } ],
	[ weights => sub { my ($c) = @_; my @w = @{ $c->{weights} }; return abs(value('SELECT sum(' . join(' + ', map { "CASE WHEN $qis[$_] IS NULL THEN $w[$_] ELSE 0 END" } 0 .. 2) . ") FROM $target") - $c->{cost}) < 1e-9; } ],
	[ method => sub {
		my ($c) = @_;
		my @alike = grep { $_->{ran} && $_->{group} eq $call->{group} && $_->{method} !~ /gather|_k$|k_one/ } @calls;
		my ($least) = sort { $a <=> $b } map { value("SELECT cost FROM kanon_usefulness WHERE run = $_->{run}") } @alike, $call;

		if ($call->{function} eq 'full_domain')
		{
			(my $explore = $call->{sql}) =~ s/SELECT FROM/SELECT verdict, metric_value FROM/;
			$explore =~ s/\)$/, explore => true, dry_run => true)/;
			my $nodes = $db->selectall_arrayref($explore);
			my ($own) = map { $_->[1] } grep { $_->[0] eq 'optimal' } @$nodes;
			my $sign = $c->{best} eq 'precision' ? -1 : 1;
			return !grep { $_->[0] eq 'fulfils' && $sign * $_->[1] < $sign * $own - 1e-9 } @$nodes;
		}
		return 0 if $c->{best} && $c->{cost} > $least + 1e-9;
		return 0 if defined $c->{lower_bound} && $c->{lower_bound} > $least + 1e-9 && $call->{method} ne 'gather';
		return !defined $c->{guarantee} || $call->{method} eq 'gather' || $c->{cost} <= $c->{guarantee} * $least + 1e-9; } ],
	[ blank_rows => sub { my ($c) = @_; my $rows = value("SELECT count(*) FROM $target WHERE $blank"); return $rows == $c->{blank_rows}; } ],
	[ smallest_class => sub { my ($c) = @_; return (value("SELECT min(n) FROM (SELECT count(*) AS n FROM $target GROUP BY $shown) g") // '') eq ($c->{smallest_class} // ''); } ],
	[ kept_column => sub { my ($c) = @_; return !defined $c->{least_values} || least("count(DISTINCT $c->{kept_column})") == $c->{least_values}; } ],
	# the largest share of one value in a class
	[ most_of_one_value => sub {
		my ($c) = @_;
		return 1 unless defined $c->{most_of_one_value};
		return abs(value("SELECT max(most / n) FROM (SELECT max(c)::float8 AS most, sum(c)::float8 AS n FROM (SELECT class, value, count(*) AS c
			FROM (SELECT dense_rank() OVER (ORDER BY $shown) AS class, $c->{kept_column} AS value FROM $target) r GROUP BY 1, 2) v GROUP BY class) g") - $c->{most_of_one_value}) < 1e-9; } ],
	# what classes give away was counted while they were written
	[ one_classes => sub {
		my ($c) = @_;
		return 1 unless defined $c->{one_classes};
		my ($is) = $db->selectrow_array("SELECT concat_ws(' ', count(*) FILTER (WHERE most = n), coalesce(sum(n) FILTER (WHERE most = n), 0), count(*) FILTER (WHERE 10 * most >= 9 * n), coalesce(sum(n) FILTER (WHERE 10 * most >= 9 * n), 0))
			FROM (SELECT sum(c) AS n, max(c) AS most FROM (SELECT dense_rank() OVER (ORDER BY $shown) AS class, value, count(*) AS c FROM (SELECT *, $c->{kept_column} AS value FROM $target) t GROUP BY $shown, value) x GROUP BY class) g");
		return $is eq "$c->{one_classes} $c->{one_rows} $c->{most_classes} $c->{most_rows}"; } ],
	[ nearly_empty => sub { my ($c) = @_; return value("SELECT count(*) FILTER (WHERE $c->{nearly_empty} IS NULL)::float8 / count(*) FROM $target") >= 0.9; } ],
	[ domain => sub { my ($c) = @_; return !$chance{ $call->{function} }{domain} || $c->{domain} == $chance{ $call->{function} }{domain}; } ],
	# presence: the rule's own bounds, kept, and how near it comes to them
	[ dmin => sub {
		my ($c) = @_;
		my ($rule) = grep { ($_->{dmin} // '') ne '' } @{ $json->decode(value("SELECT coalesce(options -> 'privacy', '[]') FROM kanon_usefulness WHERE run = $run")) };
		return 0 if $rule->{dmin} != $c->{dmin} || $rule->{dmax} != $c->{dmax} || !$rule{ $rule->{rule} }->($rule);
		return 1 unless defined $c->{highest};
		my $fits = join ' AND ', map { "(t.$_ IS NULL OR t.$_ = s.$_)" } @qis;
		my ($highest, $lowest) = $db->selectrow_array("SELECT max(share), min(share) FROM (SELECT count(*)::float8 / (SELECT count(*) FROM everybody s WHERE $fits) AS share FROM $target t WHERE NOT ($blank) GROUP BY $shown) g");
		return abs($highest - $c->{highest}) < 1e-9 && abs($lowest - $c->{lowest}) < 1e-9; } ],
	[ allowed => sub { my ($c) = @_; return "@{$c->{allowed}}" eq ($call->{sql} =~ /allow_identifying/ ? 'nr person' : ''); } ]);

sub escaped { my ($text) = @_; $text =~ s/&/&amp;/g; $text =~ s/</&lt;/g; $text =~ s/>/&gt;/g; $text =~ s/"/&quot;/g; $text =~ s/'/&#39;/g; return $text; }

my (%seen, %compared);
my ($checked, $bars) = (0, 0);
$db->do('CREATE ROLE reader');
for my $ran (grep { $_->{ran} } @calls)
{
	$call = $ran;
	($target, $run) = @$call{qw(target run)};
	my ($document, $page) = $db->selectrow_array("SELECT d, kanon_page(d) FROM (SELECT kanon_report_data($run, compare => true, read_target => true, read_population => true) AS d OFFSET 0) x");
	my @wrong;

	$document = $json->decode($document);
	for my $statement (@{ $document->{statements} }, @{ $document->{verdicts} })
	{
		my $claim = $statement->{claim};
		my @of = grep { exists $claim->{ $_->[0] } } @claims;

		push @wrong, "nobody checks: $statement->{says}" unless @of || !%$claim;
		push @wrong, "not in the page: $statement->{says}" if index($page, escaped($statement->{says})) < 0;
		for my $of (@of)
		{
			$compared{ $of->[0] }++;
			push @wrong, "not so ($of->[0]): $statement->{says}" unless eval { $of->[1]->($claim) };
			push @wrong, "$of->[0]: $@" if $@;
		}
	}
	push @wrong, 'private names' if $call->{function} eq 'publication' && $page =~ /_release_|_source\b/;
	# whoever may read the table (and, of a graph, the source) can run what the page shows them
	if (defined(my $check = $document->{check}))
	{
		$db->do("GRANT SELECT ON $_ TO reader") for $target, $call->{function} eq 'anatomy' ? "${target}_values" : ();
		$db->do('GRANT SELECT ON visits, everybody TO reader');
		$db->do('REVOKE SELECT ON visits FROM reader') if $check !~ /freeform/;
		push @wrong, "cannot be run: $check: $@" unless eval { $db->do("SET ROLE reader"); $db->do($check); };
		$db->do('RESET ROLE');
		$checked++;
	}
	# no bar stands for fewer than five, or k
	for my $figure (grep { $_->{column_name} =~ /zip|sex|diagnosis/ } @{ $document->{compared}{distributions} // [] })
	{
		for my $bar (grep { $_->{bar} !~ /^all / } @{ $figure->{bars} })
		{
			my ($rows) = $db->selectrow_array("SELECT count(*) FROM visits WHERE $figure->{column_name} = ?", undef, $bar->{bar});
			push @wrong, "bar $figure->{column_name} $bar->{bar}: $rows, not $bar->{before}" if $rows != $bar->{before} || $rows < 5;
			$bars++;
		}
	}
	is(join("\n", @wrong), '', "$call->{function} $call->{method} $call->{rule} " . ($call->{residual} // '')) or diag $call->{sql};
	$seen{ $call->{function} }{ $call->{method} }++;
	$seen{rule}{ $call->{rule} }++;
	$seen{residual}{ $call->{residual} }++ if $call->{residual};
}

# ---- was there everything? ----

is_deeply([ sort keys %{ $seen{rule} } ], [ sort keys %privacy, keys %mask ], 'each rule was published under');
is_deeply([ map { "$_->[0]" } grep { !$compared{ $_->[0] } } @claims ], [], 'each kind of claim was compared');
my %methods;
$methods{ $_->{function} }{ $_->{method} } = 1 for @calls;
is_deeply([ sort keys %{ $seen{$_} } ], [ sort keys %{ $methods{$_} } ], "each method of $_") for sort keys %methods;
is_deeply([ sort keys %{ $seen{residual} } ], [qw(drop error fill suppress)], 'each kind of residual');

cmp_ok($checked, '>', 300, "$checked checks were run");
cmp_ok($bars, '>', 1000, "$bars bars were counted");

# ---- can it fail? ----

($call) = grep { $_->{ran} && $_->{function} eq 'pattern_guided' && $_->{rule} eq 'none' && $_->{sql} !~ /hierarch/ } @calls;
$target = $call->{target};
my ($statement) = grep { exists $_->{claim}{class_rows} } @{ $json->decode(value("SELECT kanon_report_data($call->{run}, read_target => true)"))->{statements} };
my ($check) = map { $_->[1] } grep { $_->[0] eq 'class_rows' } @claims;
$db->do("DELETE FROM $target WHERE ctid NOT IN (SELECT min(ctid) FROM $target GROUP BY $shown)");
ok(!$check->($statement->{claim}), 'a class that is too small is found');
my $changed = $json->decode(value("SELECT kanon_report_data($call->{run}, read_target => true)"))->{verdict};
is($changed->{verdict}, 'no', 'and the report says that the table is another one');

# a bound that was not asked for, and a figure that is another one
for my $of (grep { $_->{ran} && $_->{rule} =~ /presence/ } @calls)
{
	($call) = $of;
	($target, $run) = @$of{qw(target run)};
	next unless $of->{function} eq 'full_domain';
	my ($says) = grep { exists $_->{claim}{dmin} } @{ $json->decode(value("SELECT kanon_report_data($run, read_population => true)"))->{verdicts} };
	($check) = map { $_->[1] } grep { $_->[0] eq 'dmin' } @claims;
	my $claim = $says->{claim};
	next unless $check->($claim);
	ok(!$check->({ %$claim, dmin => $claim->{dmin} + 0.01 }) && !$check->({ %$claim, dmax => $claim->{dmax} - 0.01 }), "another bound of $of->{rule} is found");
	ok(!$check->({ %$claim, highest => $claim->{highest} + 0.01 }) && !$check->({ %$claim, lowest => $claim->{lowest} - 0.01 }), 'another share is found') if defined $claim->{highest};
}

$db->disconnect;
$node->stop;
done_testing();
