package Fuzz::Calls;

# Calls of whatever functions the catalog says the extension has.  An argument is made by
# its name (what it means), else by its type; now and then it is absurd for its type.
# An argument is { sql => expression, val => what the judge is told }.
use strict;
use warnings;
use Fuzz::Random;
use Fuzz::Types;

# functions(dbh): [{ name, schema, kind, set, args => [{ name, type, default }] }]
sub functions
{
	my ($dbh) = @_;
	my $rows = $dbh->selectall_arrayref(<<'S', { Slice => {} });
SELECT p.oid, n.nspname AS schema, p.proname AS name, p.prokind AS kind, p.proretset AS "set", p.pronargs, p.pronargdefaults,
       to_json(p.proargnames)::text AS names,
       (SELECT coalesce(json_agg(format_type(t, NULL) ORDER BY o), '[]') FROM unnest(p.proargtypes) WITH ORDINALITY u(t, o))::text AS types
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'kanon') AND p.prokind IN ('f', 'p')
  AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
ORDER BY p.proname, p.oid::regprocedure::text
S
	my @functions;
	for my $row (@$rows)
	{
		my @names = ($row->{names} // '') =~ /"((?:[^"\\]|\\.)*)"/g;
		my @types = $row->{types} =~ /"((?:[^"\\]|\\.)*)"/g;
		s/\\"/"/g for @types;
		my @args = map { { name => $names[$_] // '', type => $types[$_], default => $_ >= $row->{pronargs} - $row->{pronargdefaults} } }
			0 .. $row->{pronargs} - 1;
		push @functions, { name => $row->{name}, schema => $row->{schema}, kind => $row->{kind}, set => $row->{set}, args => \@args };
	}
	return \@functions;
}

# How often each is called: what publishes, most.
sub weight
{
	my ($name) = @_;
	return 14 if $name =~ /^kanon_(pattern_guided|cluster|full_domain|subtree|freeform)$/;
	return 6 if $name =~ /^kanon_(pattern_clustering|transactions|anatomy)$/;
	return 3 if $name =~ /^kanon_(check|risk|explain|frontier|create_publication|refresh|report|cross_training|isolation)$|check/;
	return 2 if $name =~ /hierarchy|publication|patterns|risk_columns/;
	return 1;
}

sub choose
{
	my ($functions, $world) = @_;
	my $one = chosen($functions);
	# where there is no publication yet, mostly make one
	if (!@{ $world->{publications} } && grep({ $_->{name} eq 'publication' } @{ $one->{args} }) && chance(0.9))
	{
		$one = (grep { $_->{name} eq 'kanon_create_publication' } @$functions)[0] // $one;
	}
	# and sets of items only where there are some
	$one = chosen($functions) if $one->{name} =~ /transactions/ && !$world->{baskets} && chance(0.9);
	return $one;
}

sub chosen
{
	my ($functions) = @_;
	my $sum = 0;
	$sum += weight($_->{name}) for @$functions;
	my $at = rand $sum;
	for (@$functions) { return $_ if ($at -= weight($_->{name})) < 0 }
	return $functions->[-1];
}

sub array { my ($type, @texts) = @_; return 'ARRAY[' . join(', ', @texts) . "]::$type" . '[]' }
sub names { my (@columns) = @_; return { sql => array('name', map { literal($_->{name}) } @columns), val => [ map { $_->{name} } @columns ] } }
sub text { my ($text, $type) = @_; return { sql => literal($text) . ($type ? "::$type" : ''), val => $text } }
sub plain { my ($text) = @_; return { sql => "$text", val => $text eq 'NULL' ? undef : $text } }

my %methods = (
	kanon_pattern_guided     => [qw(greedy greedy greedy ilp improve best fpt matching)],
	kanon_frontier           => [qw(greedy greedy ilp improve best fpt matching)],
	kanon_explain            => [qw(greedy greedy ilp improve best fpt matching)],
	kanon_pattern_clustering => [qw(exact greedy fpt)],
	kanon_cluster            => [qw(mondrian mondrian mondrian_relaxed mondrian_relaxed forest pairs triples bottom_up top_down gather one_k k_one k_k)],
	kanon_full_domain        => [qw(samarati incognito flash flash speedy)],
	kanon_subtree            => [qw(top_down tds optimal)],
	kanon_transactions       => [qw(apriori apriori direct optimal suppress suppress_control td_control)],
	kanon_freeform           => [qw(greedy sort_greedy hungarian plain_sort_greedy plain_hungarian mip min_cost_flow ring concealment)]);

# make(world, function): { function, args => [[name, sql]], val => {name => …}, sql }
sub make
{
	my ($world, $function) = @_;
	my $mad = pick((0) x 6, 0.08, 0.08, 0.3, 1);
	my @qis = shuffled($world->qis);
	my @others = grep { $_->{role} ne 'qi' } @{ $world->{columns} };
	@qis = several(1 + upto(scalar @qis), @qis) if chance(0.3);
	my $plan = { world => $world, function => $function->{name}, qis => \@qis, others => \@others, k => pick(2, 2, 2, 3, 3, 4, 5),
		methods => $methods{ $function->{name} } // [qw(greedy)], dry => chance(0.1), kept => [] };
	$plan->{method} = pick(@{ $plan->{methods} });
	$plan->{k} = 2 if $plan->{method} =~ /^(pairs|matching)$/ && chance(0.9);
	$plan->{k} = 3 if $plan->{method} eq 'triples' && chance(0.9);
	$plan->{kept} = [ several(pick(0, 1, 1, 2, 3), grep { $_->{type}{note} ne 'no equality' || chance(0.2) } @others) ];
	$plan->{ruled} = rules_fit($plan) && chance(0.35);
	my ($sensitive) = grep { $_->{role} eq 'sensitive' && $_->{type}{note} ne 'no equality' } @{ $plan->{kept} };
	if ($plan->{ruled} && !$sensitive)
	{
		my @more = grep { $_->{role} eq 'sensitive' && $_->{type}{note} ne 'no equality' } @others;
		$plan->{kept} = [ @{ $plan->{kept} }, grep { defined } $more[0] ];
	}

	$plan->{keeps} = $plan->{ruled} || chance(0.6);

	my (@args, %val);
	for my $arg (@{ $function->{args} })
	{
		my $made;
		if (chance($mad) || $arg->{type} eq 'regclass' && chance(0.03)) { $made = absurd($arg, $plan) }
		else
		{
			next if $arg->{default} && !($arg->{name} eq 'hierarchy' && ($val{distance} // '') eq 'hierarchical') && !wanted($arg->{name}, $plan);
			$made = sane($arg, $plan) // ($arg->{default} ? next : absurd($arg, $plan));
		}
		$val{ $arg->{name} } = $made->{val};
		push @args, [ $arg->{name}, $made->{sql} ];
	}
	@args = shuffled(@args) if chance(0.1);
	push @{ $world->{targets} }, $val{target} if ($val{target} // 'absurd') ne 'absurd' && $function->{name} !~ /check/;
	$world->{shown}{ $val{target} } = $val{quasi_identifiers} if defined $val{target} && ref $val{quasi_identifiers} && $function->{name} !~ /check/;
	push @{ $world->{publications} }, $val{name} if $function->{name} eq 'kanon_create_publication' && ($val{name} // 'absurd') ne 'absurd';
	return { function => $function, args => \@args, val => \%val, plan => $plan };
}

# The statement of a call.
sub sql
{
	my ($call) = @_;
	my $function = $call->{function};
	my $unnamed = grep { $_->[0] eq '' } @{ $call->{args} };
	my $list = join(",\n    ", map { ($unnamed ? '' : ident($_->[0]) . ' => ') . $_->[1] } @{ $call->{args} });
	my $name = ident($function->{schema}) . '.' . ident($function->{name});
	return "CALL $name($list)" if $function->{kind} eq 'p';
	return $function->{set} ? "SELECT * FROM $name(\n    $list)" : "SELECT $name(\n    $list)";
}

# Is an argument that has a default given?
sub wanted
{
	my ($name, $plan) = @_;
	return 1 if $name =~ /^(time_limit|seed)$/;
	# a list, or rules
	return $name eq (($plan->{listed} //= chance(0.7) ? 1 : 0) ? 'patterns' : 'rules') if $name =~ /^(patterns|rules)$/ && $plan->{function} =~ /clustering/;
	return 1 if $plan->{function} =~ /transactions/ && $name =~ /^(k|m|p|h|rho|sensitive|method)$/;
	return $plan->{keeps} && chance(0.95) if $name eq 'allow_identifying';    # nearly everything identifies in so few rows
	return $plan->{keeps} if $name eq 'keep';
	return $plan->{ruled} if $name eq 'privacy';
	return chance(0.8) if $name eq 'mark' && $plan->{ruled};    # without it NULL may be anything
	return chance(0.5) if $name =~ /^(hierarchies|mark|method|algorithm)$/;
	return $plan->{dry} if $name eq 'dry_run';
	return chance((grep { $_->{role} eq 'own' } @{ $plan->{others} }) ? 0.6 : 0.03) if $name eq 'k_column';
	return chance(0.02) if $name eq 'partition_size' && $plan->{method} =~ /mondrian|top_down|_k|k_/;    # they take none
	return chance(0.1) if $name =~ /^(replace|effort)$/;
	return chance(0.25);
}

sub rules_fit
{
	my ($plan) = @_;
	# whatever has classes
	return 1 if $plan->{function} =~ /full_domain|subtree|guided|clustering|frontier|explain/;
	return 1 if $plan->{function} eq 'kanon_cluster' && $plan->{method} !~ /^(one_k|k_one|k_k)$/;
	return chance(0.05);
}

# A pattern over the quasi-identifiers.
sub pattern
{
	my ($plan) = @_;
	return join('', map { my $h = $plan->{hierarchies} && $_->{hierarchy}; pick('-', '-', '*', '0', $h ? (1 .. $h->{levels}) : ()) } @{ $plan->{qis} });
}

sub group { my ($plan) = @_; return join(',', map { ident($_->{name}) } several(2, @{ $plan->{qis} })) }

sub relation { my ($relation) = @_; return { sql => literal($relation) . '::regclass', val => $relation } }

# What an argument of this name means; undef: nothing to say of it.
sub sane
{
	my ($arg, $plan) = @_;
	my ($name, $type, $world) = ($arg->{name}, $arg->{type}, $plan->{world});
	my @qis = @{ $plan->{qis} };
	my $publication = @{ $world->{publications} } ? pick(@{ $world->{publications} }) : $world->relation('p');

	if ($plan->{function} =~ /transactions/)
	{
		my $made = transactions($name, $plan);
		return $made if $made;
		return if $name =~ /^(keep|allow_identifying|hierarchy|transaction|sensitive_items|k|m|p|h|rho|sensitive)$/;
	}
	return relation($world->{source}) if $name eq 'source' || $name eq 'relation' && $plan->{function} !~ /hierarchy/ && (!@{ $world->{targets} } || chance(0.5));
	if ($name eq 'relation' && $plan->{function} =~ /hierarchy/)
	{
		my ($column) = grep { $_->{hierarchy} } @{ $world->{columns} };
		$plan->{column} = $column if $column;
		return relation($column ? $column->{hierarchy}{relation} : $world->{source});
	}
	if ($name eq 'relation') { my $target = pick(@{ $world->{targets} }); return relation($target) }
	if ($name eq 'target' && $type eq 'regclass') { return relation(@{ $world->{targets} } ? pick(@{ $world->{targets} }) : $world->{source}) }
	if ($name eq 'target')
	{
		return plain('NULL') if $plan->{dry} && chance(0.7);
		return text(pick(@{ $world->{targets} })) if @{ $world->{targets} } && chance(0.1);
		return text($world->relation(pick('t', 'Target ', "it's ", 'pg_') . ++$world->{made}));
	}
	return names(@qis) if $name eq 'quasi_identifiers' || $name eq 'columns' && $plan->{function} eq 'kanon_risk_columns';
	return plain(($plan->{k})) if $name eq 'k';
	if ($name eq 'ks') { my @ks = map { 2 + upto(5) } 1 .. 1 + upto(3); return { sql => array('int', @ks), val => \@ks } }
	if ($name eq 'patterns') { my @p = map { pattern($plan) } 1 .. 1 + upto(4); return { sql => array('text', map { literal($_) } @p), val => \@p } }
	return text(pattern($plan)) if $name eq 'pattern';
	return names(@{ $plan->{kept} }) if $name =~ /^(keep|allow_identifying)$/ && $type eq 'name[]';
	if ($plan->{function} =~ /anatomy/)
	{
		my ($sensitive) = grep { $_->{role} eq 'sensitive' && $_->{type}{note} eq '' } @{ $plan->{others} };
		return text($world->relation(pick('q', 'Quasi ', "it's q") . ++$world->{made})) if $name =~ /^(quasi_target|sensitive_target|view)$/;
		return text($sensitive->{name}) if $name eq 'sensitive' && $sensitive;
		return plain(pick(2, 2, 2, 3)) if $name eq 'l';
		return names(@qis, $sensitive // ()) if $name eq 'allow_identifying';
	}
	return names(several(2, grep { $_->{type}{note} eq '' } @{ $plan->{others} })) if $name eq 'sensitive';
	if ($name eq 'weights')
	{
		my @w = map { pick(1, 1, 2, 0.5, 3, 0, 1e-9, 0.1) } @qis;
		# in their order, or by name
		return { sql => chance(0.5) ? array('float8', @w) : 'jsonb_build_object(' . join(', ', map { literal($qis[$_]{name}) . ", $w[$_]" } 0 .. $#qis) . ')', val => \@w };
	}
	return text($plan->{method}) if $name eq 'method' || $name eq 'algorithm';
	return names(several(1, @qis)) if $name =~ /^(categorical|never|always)$/;
	return text(pick(qw(suppress drop error))) if $name eq 'residual';
	return plain(pick('true', 'true', 'false')) if $name eq 'mark';
	return plain('true') if $name =~ /^(replace|dry_run)$/;
	return plain(pick('true', 'false')) if $name =~ /^(explore|mutual|stable|wait|with_values)$/ && $type eq 'boolean';
	return plain(pick('true', 'false', "'values'")) if $name eq 'protect_successive';
	return plain("public.kanon_rules(" . pick('max_suppressed => 1', 'max_cost => 2', 'never => ' . names($qis[0])->{sql}) . ')') if $name eq 'rules';
	return plain("'" . pick('150 ms', '50 ms', '1 ms') . "'::interval") if $name eq 'time_limit';
	return plain(pick(0, 0.01, 0.5)) if $name eq 'gap';
	return plain(pick(1, 2, 77, -1)) if $name eq 'seed';
	return plain(pick(1, 0.1, 2)) if $name eq 'effort';
	return text((map { $_->{name} } @{ $plan->{kept} })[0] // 'nothing') if $name eq 'class_column';
	if ($name eq 'hierarchies' && $type eq 'jsonb')
	{
		my @with = grep { $_->{hierarchy} } @qis or return;
		@with = several(pick(1, 2, 5), @with);
		$plan->{hierarchies} = { map { $_->{name} => $_->{hierarchy} } @with };
		return { sql => 'jsonb_build_object(' . join(', ', map { literal($_->{name}) . ', ' . literal($_->{hierarchy}{relation}) } @with) . ')',
			val => $plan->{hierarchies} };
	}
	return text(pick(qw(height ncp))) if $name eq 'level_cost';
	return text(pick(qw(auto suppress hierarchy range set set), join(',', map { pick(qw(auto suppress range set)) } @qis))) if $name eq 'show';
	return text(pick(qw(subtree sibling))) if $name eq 'scheme';
	return plain(pick(0, 0.1, 0.3, 1)) if $name eq 'suppression_limit';
	return text(pick(qw(loss precision entropy discernibility average_class_size height))) if $name eq 'metric';
	return plain(pick(0, 1, 2)) if $name eq 'workers';
	return relation($world->{population} // $world->{source}) if $name eq 'population';
	return plain(pick(0.2, 0, 1)) if $name eq 'threshold';
	return plain(pick(10, 12, 15)) if $name eq 'partition_size';
	return text((map { $_->{name} } @{ $plan->{qis} })[0] // 'nothing') if $name eq 'partition_by';
	return plain(pick(0, 1, 2)) if $name eq 'known';
	return plain(pick(1, 2, 2, 3)) if $name eq 'known_columns';
	return text(pick(qw(value any aside))) if $name eq 'missing';
	return if $name eq 'combinations';
	return text((map { $_->{name} } (grep { $_->{role} eq 'own' } @{ $plan->{others} }), @{ $plan->{kept} })[0] // 'nothing') if $name eq 'k_column';
	return privacy($plan) if $name eq 'privacy';
	return $world->{shares} ? plain('public.kanon_presence(' . literal($world->{shares}) . '::regclass, ' . pick(60, 200, 1000) . ', ' . pick(0, 0.05) . ', ' . pick(0.3, 0.6, 1) . ', 0.6)') : undef
		if $name eq 'presence';
	if ($plan->{function} =~ /^kanon_(dp|set_budget|alpha_beta|synthetic|estimate|cross_training|isolation)$/)
	{
		my $made = noise($name, $plan);
		return $made if $made;
	}
	return publications($name, $type, $plan, $publication) // simple($name, $type, $plan);
}

# Sets of items: each method its own promise.
sub transactions
{
	my ($name, $plan) = @_;
	my $method = $plan->{method};
	return relation($plan->{world}{baskets} // $plan->{world}{source}) if $name eq 'source' || $name eq 'relation';
	return text('items') if $name eq 'items';
	return plain($plan->{k}) if $name eq 'k' && $method !~ /control/;
	return plain(pick(1, 2, 2, 3)) if $name eq 'm' && $method =~ /^(apriori|direct|optimal)$/ || $name eq 'p' && $method eq 'suppress';
	return plain(pick(50, 80)) if $name eq 'h' && $method eq 'suppress';
	return plain(pick(0.3, 0.5, 0.7)) if $name eq 'rho' && $method =~ /control/;
	return { sql => "'{ZQXa,ZQXb}'::text[]", val => [qw(ZQXa ZQXb)] } if $name eq 'sensitive' && $method =~ /suppress|control/;
	return;
}

# Answers with noise, and rows drawn by chance.  (A budget of this transaction pays for nothing: most answers are refused.)
sub noise
{
	my ($name, $plan) = @_;
	my $points = $plan->{function} =~ /cross_training|isolation/;
	# of numbers, if there are any
	return names((grep { $_->{type}{name} =~ /^(int|numeric|float)/ } @{ $plan->{qis} })[0] // $plan->{qis}[0]) if $points && $name eq 'columns';
	return { sql => "jsonb_build_object(" . literal($plan->{qis}[0]{name}) . ", '{\"from\": -5, \"to\": 9.5}'::jsonb)", val => 'a' } if $points && $name eq 'domains';
	return plain(pick(1, 2, 10)) if $points && $name eq 't';
	return plain(pick(1, 1.5, 4)) if $points && $name eq 'c';
	return relation($plan->{world}{source}) if $points && $name eq 'released';
	return text(pick(qw(count count sum mean histogram))) if $name eq 'aggregate';
	return plain(pick(0.1, 1, 2.5, 50)) if $name eq 'epsilon';
	return plain(pick(0.0001, 0.1)) if $name =~ /^(delta|beta)$/;
	return plain(pick(0.2, 0.6)) if $name eq 'd';
	return plain(pick(0.5, 0.9)) if $name =~ /^(gamma|power)$/;
	return plain(pick(0, -5)) if $name eq 'lower';
	return plain(pick(10, 1e6)) if $name eq 'upper';
	return plain(pick(1, 3)) if $name =~ /^(bins|contributions)$/;
	return plain(pick(1, 20, 100)) if $name =~ /^(rows|queries|counted|domain)$/;
	return text((map { $_->{name} } @{ $plan->{qis} })[0]) if $name eq 'of';
	return names($plan->{qis}[0]) if $name =~ /^(by|columns)$/;
	return { sql => "jsonb_build_object(" . literal($plan->{qis}[0]{name}) . ", '" . pick('["1", "2", null]', '[1]', '{"from": 0, "to": 9}') . "'::jsonb)", val => 'a' } if $name =~ /^(groups|domains)$/;
	return relation($plan->{world}{source}) if $name eq 'relation';
	return;
}

sub publications
{
	my ($name, $type, $plan, $publication) = @_;
	my $world = $plan->{world};
	return text($world->relation('p' . upto(2))) if $name eq 'name' && $plan->{function} eq 'kanon_create_publication';
	return text($publication) if $name eq 'publication';
	return plain("'1 hour'::interval") if $name eq 'fail_if_older_than';
	return plain(pick(1, 2, 3)) if $name =~ /^(a|b|keep_releases|run_number)$/;
	return text(pick(qw(pattern_guided pattern_guided full_domain subtree cluster freeform pattern_clustering))) if $name eq 'model';
	if ($name eq 'options' || $name eq 'set_options')
	{
		my @kept = @{ $plan->{kept} };
		my @pairs = ((@kept ? "'keep', to_jsonb(" . names(@kept)->{sql} . "::text[]), 'allow_identifying', to_jsonb(" . names(@kept)->{sql} . '::text[])' : ()), chance(0.1) ? "'nonsense', 1" : ());
		my %val = (keep => [ map { $_->{name} } @kept ]);
		if (chance(0.3)) { push @pairs, "'mark', true"; $val{mark} = 'true' }
		if (chance(0.3)) { push @pairs, "'residual', 'drop'"; $val{residual} = 'drop' }
		my $rules = chance(0.4) ? privacy($plan) : undef;
		if ($rules) { push @pairs, "'privacy', to_jsonb($rules->{sql})"; $val{privacy} = $rules->{val} }
		return { sql => 'jsonb_build_object(' . join(', ', @pairs) . ')', val => \%val };
	}
	my ($person) = $world->of_role('person');
	return text(($person // $plan->{qis}[0])->{name}) if $name eq 'key' && $plan->{function} =~ /publication/;
	return text($world->{schema}) if $name eq 'private_schema';
	return plain('(SELECT max(run) FROM public.kanon_usefulness)') if $name eq 'run';
	return plain(pick("'{2,3}'::int[]", "'{5}'::int[]")) if $name eq 'frontier';
	return;
}

sub simple
{
	my ($name, $type, $plan) = @_;
	my @qis = @{ $plan->{qis} };
	my $column = $plan->{column} // pick(@{ $plan->{world}{columns} });
	return text($column->{name}, $type) if $name =~ /^(column|column_name|subject)$/ && $type eq 'name';
	return names(several(2, @{ $plan->{world}{columns} })) if $type eq 'name[]';
	return plain(pick("'{1,2}'::numeric[]", "'{2,4,8}'::numeric[]", "'{0.5}'::numeric[]", "'{10}'::numeric[]")) if $name eq 'widths';
	return plain(pick('0::numeric', '0.25::numeric', '-3::numeric')) if $name eq 'origin';
	return plain(pick("'{3,1}'::int[]", "'{2}'::int[]", "'{24,8}'::int[]")) if $name eq 'keep';
	return plain(pick("'{month,year}'::text[]", "'{day,month}'::text[]", "'{week}'::text[]", "'{quarter,decade}'::text[]")) if $name eq 'levels';
	return plain(pick("'{4,2}'::int[]", "'{2}'::int[]", "'{3}'::int[]")) if $name eq 'groups';
	if ($name eq 'hierarchy')
	{
		my ($with) = grep { $_->{hierarchy} } @{ $plan->{world}{columns} };
		return relation($with ? $with->{hierarchy}{relation} : $plan->{world}{source});
	}
	return relation($plan->{world}{lookup} // $plan->{world}{source}) if $name eq 'lookup';
	return text($name) if $name =~ /^(key|parent|label)$/;
	return plain(1 + upto(2)) if $name eq 'max_suppressed';
	return plain(2) if $name =~ /^(max_cost|l|c)$/;
	return plain(0.5) if $name =~ /^(alpha|t|dmax)$/;
	return plain(0.1) if $name eq 'dmin';
	return text(pick(qw(equal ordered hierarchical hierarchical))) if $name eq 'distance';
	return plain("'{x,y}'::text[]") if $name =~ /^(values|listed)$/;
	return { sql => array('text', literal(group($plan))) } if $name =~ /^(together|at_most_one)$/;
	return { sql => array('text', literal(ident($qis[0]{name}) . '->' . ident($qis[-1]{name}))) } if $name eq 'implies';
	return { sql => array('int', map { upto(3) } @qis) } if $name eq 'max_level';
	return plain('true') if $type eq 'boolean';
	return;
}

# Rules beyond k, by the functions that make them.
sub privacy
{
	my ($plan) = @_;
	my $world = $plan->{world};
	my @sensitive = grep { $_->{role} eq 'sensitive' && $_->{type}{note} eq '' } @{ $plan->{kept} };
	my @rules;
	for my $column (several(pick(1, 1, 2), @sensitive))
	{
		my $name = literal($column->{name}) . '::name';
		my $kind = pick(qw(distinct entropy recursive alpha alpha t t));
		if ($kind eq 'distinct' && @sensitive > 1 && chance(0.5))
		{
			push @rules, [ 'public.kanon_distinct_l(' . names(@sensitive)->{sql} . ', 2)', { kind => 'distinct', columns => [ map { $_->{name} } @sensitive ], l => 2 } ];
			next;
		}
		my $l = pick(2, 2, 3);
		push @rules, [ "public.kanon_distinct_l($name, $l)", { kind => 'distinct', columns => [ $column->{name} ], l => $l } ] if $kind eq 'distinct';
		push @rules, [ "public.kanon_entropy_l($name, $l)", { kind => 'entropy', columns => [ $column->{name} ], l => $l } ] if $kind eq 'entropy';
		my $c = pick(1, 2, 3, 0.5);
		push @rules, [ "public.kanon_recursive_cl($name, $c, $l)", { kind => 'recursive', columns => [ $column->{name} ], l => $l, c => $c } ] if $kind eq 'recursive';
		my $alpha = pick(0.4, 0.5, 0.67, 0.8, 1);
		push @rules, [ "public.kanon_alpha($name, $alpha)", { kind => 'alpha', columns => [ $column->{name} ], alpha => $alpha } ] if $kind eq 'alpha';
		next if $kind ne 't';
		my $t = pick(0.2, 0.4, 0.6);
		my $distance = pick('equal', 'equal', $column->{type}{ordered} ? 'ordered' : 'equal', $column->{hierarchy} ? 'hierarchical' : 'equal');
		push @rules, [ "public.kanon_t_closeness($name, $t, '$distance'" . ($distance eq 'hierarchical' ? ', ' . literal($column->{hierarchy}{relation}) . '::regclass' : '') . ')',
			{ kind => 't', columns => [ $column->{name} ], t => $t, distance => $distance, hierarchy => $column->{hierarchy} } ];
	}
	my ($person) = $world->of_role('person');
	if ($person && chance(0.5))
	{
		push @rules, [ 'public.kanon_subject(' . literal($person->{name}) . '::name)', { kind => 'subject', columns => [ $person->{name} ] } ];
		$plan->{kept} = [ (grep { $_ != $person } @{ $plan->{kept} }), $person ] if chance(0.7);
	}
	# (the methods of the last two that are drawn at times refuse)
	elsif ($world->{population} && $plan->{function} =~ /full_domain|subtree|guided|cluster$/ && chance(0.8))
	{
		my $maps = $plan->{function} =~ /guided/ ? 1 : 0.5;
		# in so few rows hardly anything keeps other rules, too
		@rules = () if chance(0.6);
		my $population = literal($world->{population}) . '::regclass';
		my ($rows, $least, $most, $confidence) = (pick(60, 200, 1000), pick(0, 0, 0.05), pick(0.3, 0.6, 1), pick(0.3, 0.6, 0.9));
		push @rules, $maps < 1 && chance(0.3) ? [ 'public.kanon_presence(' . literal($world->{shares}) . "::regclass, $rows, $least, $most, $confidence)",
				{ kind => 'presence', rows => $rows, dmin => $least, dmax => $most, confidence => $confidence } ]
			: chance($maps) ? [ "public.kanon_k_map($population)", { kind => 'k_map' } ]
			: [ "public.kanon_delta_presence($population, " . pick(0, 0, 0.1) . ', ' . pick(0.5, 0.8, 1) . ')', { kind => 'delta' } ];
		if ($rules[-1][1]{kind} eq 'delta') { @{ $rules[-1][1] }{qw(dmin dmax)} = $rules[-1][0] =~ /, ([\d.]+), ([\d.]+)\)/ }
	}
	return if !@rules;
	return { sql => 'ARRAY[' . join(', ', map { $_->[0] } @rules) . ']', val => [ map { $_->[1] } @rules ] };
}

# Something of the type that is hardly meant.
my %absurd = (
	'bigint'           => [qw(NULL 0 -1 1 2 9223372036854775807 (-9223372036854775807-1) 4294967296 2147483648)],
	'integer'          => [qw(NULL 0 -1 1 2147483647 (-2147483647-1) 65536)],
	'double precision' => [ "'NaN'", "'Infinity'", "'-Infinity'", qw(NULL 5e-324 1.7976931348623157e308 '-0' 0 -1 1e-300 0.9999999999999999 2) ],
	'numeric'          => [ "'NaN'", "'Infinity'", qw(NULL 0 -1 1e-300 1e300) ],
	'boolean'          => [qw(NULL true false)],
	'interval'         => [ 'NULL', "'0'", "'-1 day'", "'178000000 years'", "'-178000000 years'", "'1 microsecond'" ],
	'text'             => [ 'NULL', "''", "' '", "'null'", "'%s%n%s%n'", q{'''; --'}, "repeat('-', 64)", "repeat('*', 65)", "repeat('x', 100000)", q('{"'), "E'\\n'", "U&'\\+01F600'", "'ilp'", "'pg_catalog.pg_class'", q{'a.b.c.d'}, q{'"'}, q{'""'}, q{'public.'} ],
	'name'             => [ 'NULL', "''", "'ctid'", "'tableoid'", "'xmin'", "'*'", "repeat('n', 63)", "'nothing'", "'........pg.dropped.1........'" ],
	'regclass'         => [ 'NULL', '0', '999999', '4294967295', "'pg_class'", "'pg_statistic'", "'pg_class_oid_index'", "'public.kanon_usefulness'", "'public.kanon_run'", "'pg_toast.pg_toast_1255'", "'public.fuzz_pair'", "'information_schema.tables'", "'public.fuzz_sequence'" ],
	'jsonb'            => [ 'NULL', "'null'", "'[]'", "'{}'", "'1'", "'\"x\"'", "'{\"a\":null}'", "'[[[[]]]]'", "'{\"\":{\"\":[]}}'", "'{\"a\":1e400}'", "'true'", "('' || repeat('[', 500) || repeat(']', 500))",
		"'{\"k\":3}'", "'{\"keep\":null}'", "'{\"max_cost\":\"NaN\"}'", "'{\"never\":[1]}'", "'{\"max_suppressed\":-1}'" ],
);

sub absurd
{
	my ($arg, $plan) = @_;
	my $type = $arg->{type};
	if ($type =~ /^(.*)\[\]$/)
	{
		my $element = $1;
		my @of = map { pick(@{ $absurd{$element} // ['NULL'] }) } 1 .. pick(1, 1, 2, 3);
		my $sane = sane($arg, $plan);
		my @choice = ("NULL::$type", "'{}'::$type", "'{NULL}'::$type", "ARRAY[" . join(', ', map { "$_\::$element" } @of) . ']',
			"array_fill(NULL::$element, ARRAY[2,2])", "array_fill($of[0]::$element, ARRAY[" . pick(2, 65, 100) . '])', "array_fill($of[0]::$element, ARRAY[2], ARRAY[-3])");
		push @choice, "$sane->{sql} || $sane->{sql}", "ARRAY[$sane->{sql}, $sane->{sql}]", "array_append($sane->{sql}, $of[0]::$element)" if $sane && $sane->{sql} =~ /^ARRAY\[.*\[\]$/s;
		return { sql => pick(@choice), val => 'absurd' };
	}
	my $sql = pick(@{ $absurd{$type} // ['NULL'] });
	return { sql => "$sql\::$type", val => $sql eq 'NULL' ? undef : $sql =~ /^(-?\d[\d.e+-]*|true|false)$/ ? $sql : 'absurd' };
}

1;
