package Fuzz::World;

# The tables of a round: a source of any kind with columns of any type, hierarchies, a
# population, a lookup table; and the statements that make them.
use strict;
use warnings;
use Fuzz::Random;

my @hostile = (
	'a', 'b', 'Zip', 'select', 'a b', 'a"b', "a'b", 'a,b', 'a->b', 'a;--', '%s%n', 'a\\b', "a\nb", '$1', '*', 'null', '{a}',
	'level1', 'value', 'k', 'kanon_pattern', 'row_count', 'x' x 63, "\x{e4}\x{1F600}", 'user', 'count', 'person', 'class');

# new(types, has, round): a world that is not there yet
sub new
{
	my ($class, $types, $has, $round) = @_;
	my $self = bless { steps => [], targets => [], publications => [], made => 0 }, $class;
	my @types = grep { $_->{note} eq '' || chance(0.2) } @$types;
	my @names = chance(0.3) ? shuffled(@hostile) : map { "c$_" } 0 .. 12;

	$self->{schema} = chance(0.1) ? pick('Fuzz "it"', 'fuzz it', "fuzz'it", 'fuzz%s') : 'fuzz_it';
	$self->{role} = chance(0.15) ? 'fuzz_role' : undef;
	$self->{open} = chance(0.06);    # no transaction around it
	push @{ $self->{steps} }, 'SET ROLE ' . $self->{role} if $self->{role};
	push @{ $self->{steps} }, 'CREATE SCHEMA ' . ident($self->{schema});
	push @{ $self->{steps} }, settings() if chance(0.3);
	push @{ $self->{steps} }, 'SET search_path = ' . ident($self->{schema}) . ', public' if chance(0.3);

	# columns: mostly with few values, or nothing could be published
	my $n = pick(1, 2, 2, 3, 3, 3, 4, 5);
	my @simple = grep { $_->{name} =~ /^(int4|text|numeric|date|varchar|float8)$/ } @types;
	for my $i (0 .. $n - 1)
	{
		push @{ $self->{columns} }, column(shift @names, chance(0.4) ? pick(@simple) : pick(@types), 'qi');
	}
	for (1 .. pick(0, 1, 1, 1, 2))
	{
		push @{ $self->{columns} }, column(shift @names, chance(0.5) ? pick(@simple) : pick(@types), 'sensitive');
	}
	my ($int) = grep { $_->{name} eq 'int4' } @types;
	if (chance(0.3))
	{
		my $person = column(shift @names, $int, 'person');
		$person->{values} = [ map { [ 7717700 + $_ ] } 0 .. pick(5, 12, 25) ];
		$person->{nulls} = 0;
		push @{ $self->{columns} }, $person;
	}
	# how many matches each row wants
	if (chance(0.3))
	{
		my $own = column(shift @names, $int, 'own');
		$own->{values} = [ map { [$_] } 1 .. pick(2, 3, 4, 6) ];
		$own->{nulls} = pick(0, 0, 0, 0.1);
		push @{ $self->{columns} }, $own;
	}
	if (chance(0.15))
	{
		push @{ $self->{columns} }, column(shift @names, pick(@types), 'other');
	}
	$self->tables($names[0] // 'source');
	return $self;
}

sub column
{
	my ($name, $type, $role) = @_;
	my @values = several(pick(1, 2, 2, 3, 3, 4, 6), @{ $type->{values} });
	return { name => $name, type => $type, role => $role, values => \@values,
		nulls => $type->{note} eq 'never null' ? 0 : pick(0, 0, 0.1, 0.3) };
}

sub settings
{
	my $parallel = pick('force_parallel_mode', 'debug_parallel_query');    # its name before and from 16 on
	my @all = (
		"kanon.max_memory = " . pick('64kB', '100kB', '200kB', '1MB', '4MB'),
		"work_mem = '64kB'",
		"DateStyle = " . pick("'German, DMY'", "'SQL, MDY'", "'Postgres'"),
		"TimeZone = " . pick("'Pacific/Apia'", "'Asia/Kolkata'", "'America/St_Johns'"),
		"IntervalStyle = " . pick("'sql_standard'", "'iso_8601'", "'postgres_verbose'"),
		"extra_float_digits = " . pick(-15, 0, 3),
		"bytea_output = 'escape'", "xmlbinary = 'hex'", "quote_all_identifiers = on", "row_security = off",
		"enable_hashagg = off", "enable_sort = off", "enable_seqscan = off",
		"max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0",
		"$parallel = regress", "jit = on; SET jit_above_cost = 0", "search_path = ''", "search_path = pg_temp, pg_catalog, public",
		"lc_monetary = 'C'", "lc_numeric = 'C'", "default_with_oids = off", "default_tablespace = ''",
		"default_table_access_method = heap", "check_function_bodies = off", "transform_null_equals = on",
		"standard_conforming_strings = off", "escape_string_warning = off", "client_min_messages = debug1",
		"statement_timeout = '100s'", "lock_timeout = '1s'", "idle_in_transaction_session_timeout = '100s'",
		"plan_cache_mode = force_generic_plan", "default_toast_compression = pglz");
	return map { "SET $_" } grep { !/default_with_oids|^jit/ } several(pick(1, 1, 2, 4), @all);
}

# the literal of a value, in one of its spellings, and sometimes NULL
sub value
{
	my ($column, $never_null) = @_;
	return 'NULL' if !$never_null && chance($column->{nulls});
	return literal(pick(@{ pick(@{ $column->{values} }) }));
}

sub relation { my ($self, $name) = @_; return ident($self->{schema}) . '.' . ident($name) }

sub rows
{
	my ($self, $n, @columns) = @_;
	return map { '(' . join(', ', map { value($_) } @columns) . ')' } 1 .. $n;
}

sub tables
{
	my ($self, $name) = @_;
	my @columns = @{ $self->{columns} };
	my $n = pick(0, 1, 3, 8, 12, 20, 20, 30, 30, 40, 60);
	my $base = $self->relation('base');
	my $body = '(' . join(', ', map { ident($_->{name}) . ' ' . $_->{type}{sql} } @columns) . ')';
	my $kind = pick(('table') x 6, qw(view view barrier matview partitioned temp unlogged dropped child policy));
	my $steps = $self->{steps};

	push @$steps, ($kind eq 'unlogged' ? 'CREATE UNLOGGED TABLE ' : 'CREATE TABLE ') . "$base $body" if $kind !~ /^(partitioned|temp)$/;
	if ($kind eq 'temp')
	{
		$base = 'pg_temp.fuzz_base' . $$;
		push @$steps, "CREATE TEMP TABLE $base $body";
	}
	if ($kind eq 'partitioned')
	{
		my $key = ident($columns[0]{name});
		push @$steps, "CREATE TABLE $base $body PARTITION BY LIST (($key IS NULL))",
			'CREATE TABLE ' . $self->relation('part 1') . " PARTITION OF $base FOR VALUES IN (true)",
			'CREATE TABLE ' . $self->relation('part 2') . " PARTITION OF $base FOR VALUES IN (false)";
	}
	if ($kind eq 'dropped')
	{
		push @$steps, "ALTER TABLE $base ADD \"gone\" int", "ALTER TABLE $base DROP \"gone\"";
	}
	push @$steps, { head => "INSERT INTO $base VALUES ", rows => [ $self->rows($n, @columns) ] } if $n > 0;
	if ($kind eq 'child')
	{
		my $child = $self->relation('child');
		push @$steps, "CREATE TABLE $child () INHERITS ($base)",
			{ head => "INSERT INTO $child VALUES ", rows => [ $self->rows(5, @columns) ] };
	}
	if ($kind eq 'policy')
	{
		push @$steps, "ALTER TABLE $base ENABLE ROW LEVEL SECURITY", "ALTER TABLE $base FORCE ROW LEVEL SECURITY",
			"CREATE POLICY p ON $base USING (" . ident($columns[0]{name}) . ' IS NOT NULL)';
	}
	$self->{base} = $self->{source} = $base;
	my $view = $self->relation($name);
	push @$steps, "CREATE VIEW $view AS SELECT * FROM $base" if $kind eq 'view';
	push @$steps, "CREATE VIEW $view WITH (security_barrier) AS SELECT * FROM $base ORDER BY 1 LIMIT 50" if $kind eq 'barrier';
	push @$steps, "CREATE MATERIALIZED VIEW $view AS SELECT * FROM $base" if $kind eq 'matview';
	$self->{source} = $view if $kind =~ /view|barrier/;
	$self->{kind} = $kind;

	# everybody of the source, and others
	if (chance(0.5))
	{
		$self->{population} = $self->relation('population');
		push @$steps, "CREATE TABLE $self->{population} AS SELECT * FROM $self->{source}",
			{ head => "INSERT INTO $self->{population} VALUES ", rows => [ $self->rows(pick(3, 40, 80), @columns) ] };
		# and of what is known of them column by column
		$self->{shares} = $self->relation('shares');
		push @$steps, "CREATE TABLE $self->{shares} AS " . join(' UNION ALL ', map {
				'SELECT ' . literal($_->{name}) . ' AS column_name, v AS value, count(*)::float8 / sum(count(*)) OVER () AS share FROM (SELECT ' . ident($_->{name}) . "::text AS v FROM $self->{population}) p GROUP BY v"
		} @columns);
	}
	# sets of items
	if (chance(0.2))
	{
		$self->{baskets} = $self->relation('baskets');
		my @items = map { "ZQX$_" } 'a' .. pick('c', 'e', 'g');
		push @$steps, "CREATE TABLE $self->{baskets} (id int, items text[])",
			{ head => "INSERT INTO $self->{baskets} VALUES ",
				rows => [ map { "($_, " . (chance(0.05) ? 'NULL' : literal('{' . join(',', (map { chance(0.1) ? 'NULL' : $_ } several(upto(5), @items))) . '}')) . ')' } 1 .. pick(5, 15, 30) ] };
	}
	for my $column (@columns)
	{
		$self->hierarchy($column) if chance(0.35) && $column->{role} ne 'person' && $column->{type}{note} ne 'no equality';
	}
	if (chance(0.05))
	{
		$self->{lookup} = $self->relation('lookup');
		push @$steps, "CREATE TABLE $self->{lookup} (key text, parent text, label text)",
			{ head => "INSERT INTO $self->{lookup} VALUES ",
				rows => [ map { my $i = $_; '(' . join(', ', map { literal($_) } $columns[0]{values}[$i][0], pick(undef, 'up', 'top'), "l$i") . ')' } 0 .. $#{ $columns[0]{values} } ] },
			"INSERT INTO $self->{lookup} VALUES ('up', 'top', 'up'), ('top', NULL, 'top')";
	}
	return;
}

# A hierarchy of labels, or of ranges where the type has some.
sub hierarchy
{
	my ($self, $column) = @_;
	my $i = $self->{made}++;
	my $table = $self->relation("h$i");
	my $levels = pick(1, 2, 2, 3);
	my $steps = $self->{steps};
	my @values = @{ $column->{values} };
	if ($column->{type}{name} eq 'int4' && chance(0.5))
	{
		@values = grep { abs($_->[0]) < 1e9 } @values;
		my @levels = map { my $w = 2**$_; "int4range(v - mod(v, $w), v - mod(v, $w) + $w) AS level$_" } 1 .. $levels;
		push @$steps, "CREATE TABLE $table AS SELECT v AS value, " . join(', ', @levels)
			. ' FROM unnest(\'{' . join(',', map { $_->[0] } @values) . '}\'::int[]) v';
		$column->{hierarchy} = { relation => $table, levels => $levels, ranges => 1, uniform => 0 };
		return;
	}
	my $star = chance(0.6) ? 1 : 0;
	my $of_text = $column->{type}{name} =~ /^(text|int4|varchar|date|uuid|boolean)$/ && chance(0.5);
	push @$steps, "CREATE TABLE $table (value " . ($of_text ? 'text' : $column->{type}{sql}) . ', '
		. join(', ', map { "level$_ text" } 1 .. $levels + $star) . ')';
	my @lines;
	for my $v (0 .. $#values)
	{
		push @lines, '(' . join(', ', literal($values[$v][0]), (map { literal('g' . $_ . '_' . int($v / 2**$_)) } 1 .. $levels), $star ? "'*'" : ()) . ')';
	}
	splice @lines, upto(scalar @lines), 1 if @lines > 1 && chance(0.05);
	push @$steps, { head => "INSERT INTO $table VALUES ", rows => \@lines };
	$column->{hierarchy} = { relation => $table, levels => $levels, star => $star, ranges => 0, text => $of_text };
	return;
}

# What owners do to their tables between two calls.
sub mischief
{
	my ($self) = @_;
	my $column = ident(pick(@{ $self->{columns} })->{name});
	my $base = $self->{base};
	my @with = grep { $_->{hierarchy} } @{ $self->{columns} };
	my $hierarchy = @with ? pick(@with)->{hierarchy}{relation} : $base;
	my $type = pick('int8 USING 4096', 'text USING \'x\'', 'bytea USING NULL', 'text[] USING NULL', 'numeric USING 1', 'point USING NULL', 'int2 USING 1');
	$self->{changed} = 1;
	return pick(
		"ALTER TABLE $base ALTER $column TYPE text USING $column\::text",
		"ALTER TABLE $base ALTER $column TYPE $type",
		"ALTER TABLE $base RENAME $column TO " . pick('renamed', '"re named"'),
		"ALTER TABLE $base DROP $column CASCADE",
		"ALTER TABLE $base ADD extra int DEFAULT 77177",
		"UPDATE $base SET $column = NULL",
		"DELETE FROM $base WHERE ctid IN (SELECT ctid FROM $base LIMIT " . pick(1, 5, 100) . ')',
		"INSERT INTO $base SELECT * FROM $base",
		"UPDATE $hierarchy SET level1 = " . pick('NULL', "'ZQXother'"),
		"ALTER TABLE $hierarchy ALTER level1 TYPE " . pick('int USING 1', 'bytea USING NULL'),
		"DROP TABLE $hierarchy CASCADE",
		(tampered($self->{schema}, upto(8), upto(12), pick("ALTER TABLE %1\$s ALTER %2\$I TYPE $type", 'ALTER TABLE %1$s DROP %2$I', 'UPDATE %1$s SET %2$I = NULL',
			'DELETE FROM %1$s', 'ALTER TABLE %1$s RENAME %2$I TO renamed', 'DROP TABLE %1$s', 'ALTER TABLE %1$s ALTER %2$I DROP NOT NULL',
			'INSERT INTO %1$s SELECT * FROM %1$s', 'ALTER TABLE %1$s SET SCHEMA public', 'REVOKE ALL ON %1$s FROM current_user'))) x 5);
}

# The nth column of the nth table of publications in a schema.
sub tampered
{
	my ($schema, $table, $column, $change) = @_;
	my $name = literal($schema);
	return "DO \$do\$ DECLARE x text; BEGIN SELECT format(\$f\$$change\$f\$, c.oid::regclass, a.attname) INTO x FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
		. " WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $name) AND c.relname ~ '^p[01]' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped"
		. " ORDER BY c.relname, a.attnum OFFSET " . ($table * 5 + $column) . " LIMIT 1; EXECUTE coalesce(x, 'SELECT'); EXCEPTION WHEN OTHERS THEN END \$do\$";
}

sub qis { my ($self) = @_; return grep { $_->{role} eq 'qi' } @{ $self->{columns} } }
sub of_role { my ($self, $role) = @_; return grep { $_->{role} eq $role } @{ $self->{columns} } }

1;
