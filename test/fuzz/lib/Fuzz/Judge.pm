package Fuzz::Judge;

# Does a published table keep what was promised?  Plain SQL numbers the values of each
# column and tells which row matches which; the rest is counted here.  Nothing of kanon is
# asked.
use strict;
use warnings;
use List::Util qw(sum0 max min);
use Fuzz::Random;

my $tiny = 1e-9;

# judge(dbh, call, rows): '' or what is broken.  rows: what the call returned.
sub judge
{
	my ($dbh, $call, $rows) = @_;
	my $name = $call->{function}{name};
	my $val = $call->{val};
	return '' if $name eq 'kanon_check' && defined $val->{known_columns};
	return same_as_check($dbh, $val, $rows) if $name eq 'kanon_check';
	return same_as_freeform_check($dbh, $val, $rows, $call->{plan}{world}{shown}{ $val->{target} // '' }) if $name =~ /^kanon_check_freeform$/;
	return publication($dbh, $call, $rows) if $name =~ /^kanon_(create_publication|refresh)$/;
	return transactions($dbh, $call) if $name eq 'kanon_transactions';
	return anatomy($dbh, $val) if $name eq 'kanon_anatomy';
	return '' if $name !~ /^kanon_(pattern_guided|pattern_clustering|cluster|full_domain|subtree|freeform)$/;
	return '' if given($val, 'dry_run') || given($val, 'explore') && !defined $val->{target};
	return '' if ($val->{k_column} // '') eq 'absurd';
	return '' if grep { !ref } map { $val->{$_} // [] } qw(quasi_identifiers keep);    # an absurd list of columns that was taken all the same
	my $seen = look($dbh, $call) or return '';
	return $seen if !ref $seen;
	my $method = $call->{val}{method} // $call->{val}{algorithm} // '';
	$seen->{loose} = $name eq 'kanon_freeform' ? ($method eq 'concealment' ? 'conceal' : 'freeform')
		: $name eq 'kanon_cluster' && $method =~ /^(one_k|k_one|k_k)$/ ? $method : '';
	my $few = defined $val->{known_columns};
	for my $question (\&rows_add_up, \&rows_are_true, $seen->{loose} ? \&matches_suffice : $few ? \&combinations_suffice : (\&classes_suffice, \&rules_hold, \&populations_hold, \&presence_holds))
	{
		my $answer = $question->($dbh, $call, $seen, $rows);
		return $answer if $answer ne '';
	}
	return '';
}

# A publication's view is a release like any other, as long as nobody changed a thing.
sub publication
{
	my ($dbh, $call, $rows) = @_;
	my $world = $call->{plan}{world};
	my $val = $call->{val};
	if ($call->{function}{name} eq 'kanon_create_publication')
	{
		return '' if grep { !defined || $_ eq 'absurd' } @$val{qw(name source quasi_identifiers k)};
		my $options = $val->{options} // {};
		my $model = $val->{model} // 'pattern_guided';
		return '' if !ref $options || $model eq 'absurd';
		$world->{definition}{ $val->{name} } = { function => { name => "kanon_$model" }, plan => $call->{plan},
			val => { %$options, source => $val->{source}, target => $val->{name}, quasi_identifiers => $val->{quasi_identifiers}, k => $val->{k}, protect_successive => $val->{protect_successive} } };
	}
	my $definition = $world->{definition}{ $val->{name} // $val->{publication} // '' };
	return '' if !$definition || $world->{changed} || $world->{altered} || grep { defined $_->{error} } @$rows;
	return judge($dbh, $definition, []);
}

# Sets of items without hierarchies: every promise by counting sets in the table itself.
sub transactions
{
	my ($dbh, $call) = @_;
	my $val = $call->{val};
	return '' if given($val, 'dry_run') || !defined $val->{target} || $val->{target} eq 'absurd' || defined $val->{hierarchy} || defined $val->{transaction};
	return '' if grep { !defined || $_ eq 'absurd' } @$val{qw(source items)}, grep { defined } @$val{qw(k m p h rho)};
	my $items = ident($val->{items});
	my ($is, $was) = map { all($dbh, "SELECT $items\::text[] FROM $_") } @$val{qw(target source)};
	return 'rows: ' . @$is . ' transactions of ' . @$was if @$is != @$was;
	my @shown = map { my %set = map { $_ => 1 } grep { defined } @{ $_->[0] // [] }; \%set } @$is;
	my @had = map { my %set = map { $_ => 1 } grep { defined } @{ $_->[0] // [] }; \%set } @$was;
	my (@true, @of);
	for my $t (0 .. $#shown)
	{
		for my $s (0 .. $#had) { push @{ $true[$t] }, $s if !grep { !$had[$s]{$_} } keys %{ $shown[$t] } }
	}
	for my $t (0 .. $#shown) { return 'truth: a transaction that no row of the source could be' if !augment($t, \@true, \@of, {}) }

	my $method = $val->{method} // 'apriori';
	my %private = map { $_ => 1 } ref $val->{sensitive} ? @{ $val->{sensitive} } : ();
	my $most = $method =~ /control/ ? 20 : ($method eq 'suppress' ? $val->{p} : $val->{m}) // 2;
	my (%support, %with);
	for my $set (@shown)
	{
		my @known = sort grep { $method ne 'suppress' || !$private{$_} } keys %$set;
		for my $bits (0 .. 2**@known - 1)
		{
			my @some = map { $known[$_] } grep { $bits >> $_ & 1 } 0 .. $#known;
			next if @some > $most;
			my $key = join(',', @some);
			$support{$key}++;
			for my $item (grep { my $i = $_; $private{$i} && !grep { $_ eq $i } @some } keys %$set) { $with{$key}{$item}++ }
		}
	}
	for my $key (sort keys %support)
	{
		next if $key eq '' && $method !~ /control|suppress/;
		return "transactions: a set in $support{$key}, k = $val->{k}" if $key ne '' && $method !~ /control/ && $support{$key} < $val->{k};
		for my $item (sort keys %{ $with{$key} // {} })
		{
			my $share = $with{$key}{$item} / $support{$key};
			return "transactions: a private item in a share of $share, h = $val->{h}" if $method eq 'suppress' && $key ne '' && defined $val->{h} && $share > $val->{h} / 100 + $tiny;
			return "transactions: a confidence of $share, rho = $val->{rho}" if $method =~ /control/ && defined $val->{rho} && $share >= $val->{rho} + $tiny;
		}
	}
	return '';
}

# Two tables: the rows and the values are those of the source, and each group has l values, none of more than one in l of its rows.
sub anatomy
{
	my ($dbh, $val) = @_;
	return '' if given($val, 'dry_run') || grep { !defined || $_ eq 'absurd' } @$val{qw(source quasi_target sensitive_target sensitive l quasi_identifiers)};
	my ($source, $rows, $values, $l) = @$val{qw(source quasi_target sensitive_target l)};
	my $sensitive = ident($val->{sensitive});
	my ($had, $are) = map { row($dbh, "SELECT count(*) FROM $_") } $source, $rows;
	return "anatomy: $are rows of $had" if $had != $are;
	my ($was, $is) = ("SELECT $sensitive, count(*) FROM $source GROUP BY 1", "SELECT $sensitive, sum(kanon_count)::bigint FROM $values GROUP BY 1");
	my ($different) = row($dbh, "SELECT count(*) FROM (($was EXCEPT $is) UNION ALL ($is EXCEPT $was)) d");
	return "anatomy: of $different values another number than in the source" if $different;
	my ($bad) = row($dbh, "SELECT count(*) FROM (SELECT kanon_group, count(*) AS n FROM $rows GROUP BY 1) q FULL JOIN"
		  . ' (SELECT kanon_group, sum(n) AS n, count(*) AS different, max(n) AS most FROM'
		  . " (SELECT kanon_group, sum(kanon_count) AS n FROM $values GROUP BY kanon_group, $sensitive) v GROUP BY 1) s USING (kanon_group)"
		  . " WHERE (q.n = s.n AND s.different >= $l AND s.most * $l <= s.n) IS NOT TRUE");
	return "anatomy: $bad groups break their promise, l = $l" if $bad;
	return '';
}

# Is there something to be judged of a call that succeeded?
sub judged
{
	my ($call) = @_;
	return $call->{function}{name} =~ /^kanon_(pattern_guided|pattern_clustering|cluster|full_domain|subtree|freeform|transactions|anatomy|check|check_freeform|create_publication|refresh)$/;
}

sub given { my ($val, $name) = @_; return ($val->{$name} // 'false') eq 'true' }
sub row { my ($dbh, $sql) = @_; my $row = $dbh->selectrow_arrayref($sql) or die $dbh->errstr . "\n"; return @$row }
sub all { my ($dbh, $sql) = @_; return $dbh->selectall_arrayref($sql) // die $dbh->errstr . "\nin: $sql\n" }

# Columns of a relation: { name => type }.
sub columns
{
	my ($dbh, $relation) = @_;
	my $rows = all($dbh, 'SELECT attname, format_type(atttypid, NULL), typtype FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid WHERE attrelid = '
		. literal($relation) . '::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum');
	return ([ map { $_->[0] } @$rows ], { map { $_->[0] => $_->[1] } @$rows });
}

# Everything that is to be known of source and target.
sub look
{
	my ($dbh, $call) = @_;
	my $val = $call->{val};
	my ($source, $target) = @$val{qw(source target)};
	return if grep { !defined || $_ eq 'absurd' } $source, $target;
	my @qis = @{ $val->{quasi_identifiers} };
	my @kept = @{ $val->{keep} // [] };
	my ($order, $type) = columns($dbh, $target);
	my (undef, $source_type) = columns($dbh, $source);
	my @wanted = (@qis, @kept, given($val, 'mark') ? 'kanon_pattern' : ());
	return 'columns: not those that were named' if join("\0", sort @$order) ne join("\0", sort @wanted);

	my %seen = (qis => \@qis, kept => \@kept, type => $type, source_type => $source_type, source => $source, target => $target);
	$seen{of} = numbered($dbh, $target, @wanted);
	$seen{n} = @{ $seen{of}{ $wanted[0] } };
	($seen{source_n}) = row($dbh, "SELECT count(*) FROM $source");
	$seen{match} = matches($dbh, \%seen, $call, $source, $source_type);
	return \%seen;
}

# The rows of a relation in one order: per column [[number of the value, text], …].
sub numbered
{
	my ($dbh, $relation, @columns) = @_;
	my (undef, $type) = columns($dbh, $relation);
	my (@with, @select);
	for my $i (0 .. $#columns)
	{
		my $column = ident($columns[$i]);
		my $value = $column . ($type->{ $columns[$i] } =~ /^(json|xml|point|box)$/ ? '::text' : '');    # these have no equality
		push @with, "v$i AS MATERIALIZED (SELECT row_number() OVER () AS nr, v FROM (SELECT DISTINCT $value AS v FROM r) d)";
		push @select, "(SELECT nr FROM v$i WHERE v$i.v IS NOT DISTINCT FROM r.$value), r.$column\::text";
	}
	my $rows = all($dbh, "WITH r AS MATERIALIZED (SELECT row_number() OVER () AS \"fuzz nr\", * FROM $relation), "
			. join(', ', @with) . ' SELECT ' . join(', ', @select) . ' FROM r ORDER BY "fuzz nr"');
	return { map { my $i = $_; $columns[$i] => [ map { [ @$_[ 2 * $i, 2 * $i + 1 ] ] } @$rows ] } 0 .. $#columns };
}

# [target row][row of the other relation]: 1 where the one may stand for the other.
sub matches
{
	my ($dbh, $seen, $call, $other, $other_type, $only) = @_;
	my $marked = given($call->{val}, 'mark');
	my @conditions;
	for my $i ($only // (0 .. $#{ $seen->{qis} }))
	{
		my $name = $seen->{qis}[$i];
		my ($t, $s) = ('t.' . ident($name), 's.' . ident($name));
		my ($is, $was) = ($seen->{type}{$name}, $other_type->{$name});
		my $hierarchy = ref $call->{val}{hierarchies} eq 'HASH' ? $call->{val}{hierarchies}{$name} : undef;
		my $same;
		if ($hierarchy && !$hierarchy->{ranges} && $is eq 'text')
		{
			my $value = $hierarchy->{text} ? "h.value = $s\::text" : "h.value = $s";
			my @levels = map { "h.level$_" } 1 .. $hierarchy->{levels} + ($hierarchy->{star} ? 1 : 0);
			my $texts = $was eq 'boolean' ? "rtrim($s\::text), left($s\::text, 1)" : "rtrim(format('%s', $s))";
			$same = "(rtrim($t) IN ($texts) OR EXISTS (SELECT FROM $hierarchy->{relation} h WHERE $value AND $t IN (" . join(', ', @levels) . "))"
				. " OR EXISTS (SELECT FROM $seen->{source} e WHERE e." . ident($name) . " = $s AND rtrim($t) = rtrim(format('%s', e." . ident($name) . "))))";
		}
		elsif ($is eq $was) { $same = "$t = $s" }
		elsif ($is =~ /range$/)
		{
			my $of = { int4range => 'integer', int8range => 'bigint', numrange => 'numeric', daterange => 'date', tsrange => 'timestamp', tstzrange => 'timestamptz' }->{$is};
			# (a float's own decimals)
			my $value = $was =~ /^(real|double precision)$/ ? "$s\::text::numeric" : $of ? "$s\::$of" : $s;
			$same = "$t \@> $value";
		}
		elsif ($is =~ /\[\]$/) { $same = "($s = ANY ($t) OR $s IS NULL AND array_position($t, NULL) IS NOT NULL)" }
		else { $same = "$t = $s" }
		my $at = $i + 1;
		my $shows = $marked ? "substr(t.kanon_pattern, $at, 1)" : "'?'";
		# (IS NULL would take a composite of NULLs for one)  unmarked, an empty cell may be suppressed; marked it is the source's, or NULL beside numbers (~)
		push @conditions, "CASE WHEN $t IS NOT DISTINCT FROM NULL THEN $shows NOT IN ('-', '0') OR $s IS NOT DISTINCT FROM NULL ELSE coalesce($same, false) END";
	}
	# (a kept value comes out in the spelling that most rows of the class have)
	my %equal = map { $_->[0] => 1 } @{ all($dbh, 'SELECT a.attname FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = y.typbasetype'
			. ' JOIN pg_opclass o ON o.opcmethod = 403 AND o.opcdefault AND o.opcintype = CASE coalesce(b.typtype, y.typtype) WHEN \'r\' THEN \'anyrange\'::regtype WHEN \'m\' THEN \'anymultirange\'::regtype WHEN \'c\' THEN \'record\'::regtype'
			. ' ELSE CASE WHEN coalesce(b.typcategory, y.typcategory) = \'A\' THEN \'anyarray\'::regtype ELSE coalesce(b.oid, y.oid) END END WHERE a.attrelid = ' . $dbh->quote($seen->{target}) . '::regclass') };
	my $kept = join(' AND ', map { my $name = ident($_);
			$equal{$_} ? "t.$name IS NOT DISTINCT FROM s.$name" : "t.$name\::text IS NOT DISTINCT FROM s.$name\::text" } @{ $seen->{kept} }) || 'true';
	$kept = 'NULL::bool' if $other ne $seen->{source};
	my $rows = all($dbh, 'SELECT t."fuzz nr", s."fuzz nr", ' . "$kept FROM (SELECT row_number() OVER () AS \"fuzz nr\", * FROM $seen->{target}) t,"
			. " (SELECT row_number() OVER () AS \"fuzz nr\", * FROM $other) s WHERE " . join(' AND ', @conditions));
	my (@match, @true);
	for my $pair (@$rows)
	{
		$match[ $pair->[0] - 1 ][ $pair->[1] - 1 ] = 1;
		push @{ $true[ $pair->[0] - 1 ] }, $pair->[1] - 1 if $pair->[2];
	}
	$seen->{true} = \@true if $other eq $seen->{source};
	return \@match;
}

# Rows that must have come through.
sub rows_add_up
{
	my ($dbh, $call, $seen, $rows) = @_;
	my ($n, $source_n) = @$seen{qw(n source_n)};
	return "rows: $n of $source_n, more than there were" if $n > $source_n;
	# (who would stand alone waits)
	my $drops = ($call->{val}{residual} // '') eq 'drop' || ($call->{val}{protect_successive} // '') eq 'true';
	return "rows: $n of $source_n, and nothing was to be dropped" if $n != $source_n && !$drops;
	# a cut is told column by column
	my @told = grep { !exists $_->{column_name} || $_->{column_name} eq $rows->[0]{column_name} } @{ $rows // [] };
	my $said = @told && exists $told[0]{row_count} ? sum0(map { $_->{row_count} // 0 } @told) : $n;
	$said -= $rows->[0]{dropped_rows} if $rows && @$rows && defined $rows->[0]{dropped_rows} && $said == $source_n && $said != $n;
	return "rows: $n, and the call said $said" if $said != $n;
	return '';
}

# Each published row is a source row of its own with the same kept values.
sub rows_are_true
{
	my ($dbh, $call, $seen) = @_;
	my (@of, @for);
	for my $t (0 .. $seen->{n} - 1)
	{
		my %tried;
		return 'truth: a published row that no row of the source could be' if !augment($t, $seen->{true}, \@of, \%tried);
	}
	return '';
}

# One more for an assignment (Kuhn).
sub augment
{
	my ($t, $true, $of, $tried) = @_;
	for my $s (@{ $true->[$t] // [] })
	{
		next if $tried->{$s}++;
		if (!defined $of->[$s] || augment($of->[$s], $true, $of, $tried))
		{
			$of->[$s] = $t;
			return 1;
		}
	}
	return 0;
}

# Classes by what the target shows: { key => { rows => […], blank => bool } }.
sub classes
{
	my ($call, $seen, @more) = @_;
	my $marked = given($call->{val}, 'mark');
	my %class;
	for my $t (0 .. $seen->{n} - 1)
	{
		my $key = join(',', map { $seen->{of}{$_}[$t][0] } @{ $seen->{qis} }, @more, $marked ? 'kanon_pattern' : ());
		push @{ $class{$key}{rows} }, $t;
		$class{$key}{blank} = $marked ? $seen->{of}{kanon_pattern}[$t][1] =~ /^\**$/
			: !grep { defined $seen->{of}{$_}[$t][1] } @{ $seen->{qis} };
	}
	return map { $class{$_} } sort keys %class;
}

# The column of persons, where one was named.
sub subject
{
	my ($call) = @_;
	my ($rule) = grep { ref && $_->{kind} eq 'subject' } @{ ref $call->{val}{privacy} ? $call->{val}{privacy} : [] };
	return $rule ? $rule->{columns}[0] : undef;
}

sub size
{
	my ($seen, $person, @rows) = @_;
	return scalar @rows if !defined $person;
	my %persons = map { $seen->{of}{$person}[$_][0] => 1 } @rows;
	return scalar keys %persons;
}

sub classes_suffice
{
	my ($dbh, $call, $seen) = @_;
	my $k = $call->{val}{k};
	my $person = subject($call);
	my $k_map = grep { ref && $_->{kind} eq 'k_map' } @{ ref $call->{val}{privacy} ? $call->{val}{privacy} : [] };
	my $known = !defined $person || grep { $_ eq $person } @{ $seen->{kept} };
	my $exempt = $call->{function}{name} ne 'kanon_pattern_clustering' && ($call->{val}{residual} // 'fill') eq 'suppress';
	for my $class (classes($call, $seen))
	{
		for my $column (@{ $seen->{qis} })
		{
			my %texts = map { ($seen->{of}{$column}[$_][1] // '') => 1 } @{ $class->{rows} };
			return "spelling: a class with two spellings in \"$column\"" if keys %texts > 1;
		}
		next if $class->{blank} && $exempt || $k_map;
		my $size = $known ? size($seen, $person, @{ $class->{rows} }) : @{ $class->{rows} };
		return "k: a class of $size, k = $k" . ($class->{blank} ? ' (blank)' : '') . (defined $person ? ' (persons)' : '') if $size < $k;
	}
	return '';
}

# Somebody knows few columns: what so many of them show, blank cells aside, is shown by k rows.
sub combinations_suffice
{
	my ($dbh, $call, $seen) = @_;
	my ($k, $most) = @{ $call->{val} }{qw(k known_columns)};
	my @qis = @{ $seen->{qis} };
	my $rows = @{ $seen->{of}{ $qis[0] } };
	for my $set (grep { my $n = () = sprintf('%b', $_) =~ /1/g; $n <= $most } 1 .. 2**@qis - 1)
	{
		my @columns = map { $qis[$_] } grep { $set >> $_ & 1 } 0 .. $#qis;
		my %count;
		for my $row (0 .. $rows - 1)
		{
			next if grep { !defined $seen->{of}{$_}[$row][1] } @columns;
			$count{ join ',', map { $seen->{of}{$_}[$row][0] } @columns }++;
		}
		my $least = min(values %count) // $k;
		return "k: a combination of " . @columns . " columns has $least rows, k = $k" if $least < $k;
	}
	return '';
}

# Rules about sensitive values, class by class.
sub rules_hold
{
	my ($dbh, $call, $seen) = @_;
	my $rules = $call->{val}{privacy};
	return '' if ref $rules ne 'ARRAY';
	my $person = subject($call);
	return '' if defined $person && !grep { $_ eq $person } @{ $seen->{kept} };
	for my $rule (@$rules)
	{
		for my $column ($rule->{kind} =~ /^(distinct|entropy|recursive|alpha|t)$/ ? @{ $rule->{columns} } : ())
		{
			next if !$seen->{of}{$column};
			my @others = grep { $_ ne $column } @{ $rule->{columns} };
			my $table = $rule->{kind} eq 't' ? distribution($dbh, $seen, $rule, $column) : undef;
			for my $class (classes($call, $seen, @others))
			{
				my $broken = broken($seen, $rule, $column, $person, $table, $class->{rows});
				return "$rule->{kind}: $broken" . ($class->{blank} ? ' (blank)' : '') . (defined $person ? ' (persons)' : '') if $broken;
			}
		}
	}
	return '';
}

# How often each value occurs in these rows: once per person where there are persons.
sub counts
{
	my ($seen, $column, $person, @rows) = @_;
	my (%count, %had);
	for my $t (@rows)
	{
		my $value = $seen->{of}{$column}[$t][0];
		next if defined $person && $had{ $value . ' ' . $seen->{of}{$person}[$t][0] }++;
		$count{$value}++;
	}
	return \%count;
}

sub broken
{
	my ($seen, $rule, $column, $person, $table, $rows) = @_;
	my $count = counts($seen, $column, $person, @$rows);
	my @sizes = sort { $b <=> $a } values %$count;
	my $all = sum0(@sizes);
	if ($rule->{kind} eq 'distinct') { return @sizes < $rule->{l} ? @sizes . " values, l = $rule->{l}" : '' }
	if ($rule->{kind} eq 'entropy')
	{
		my $entropy = -sum0(map { $_ / $all * log($_ / $all) } @sizes);
		return $entropy < log($rule->{l}) - $tiny ? "exp " . exp($entropy) . ", l = $rule->{l}" : '';
	}
	if ($rule->{kind} eq 'recursive')
	{
		my $rest = sum0(@sizes[ $rule->{l} - 1 .. $#sizes ]);
		return $sizes[0] >= $rule->{c} * $rest + $tiny || $rest == 0 ? "$sizes[0] not below $rule->{c} * $rest" : '';
	}
	if ($rule->{kind} eq 'alpha')
	{
		my $share = $sizes[0] / size($seen, $person, @$rows);
		return $share > $rule->{alpha} + $tiny ? "a share of $share, alpha = $rule->{alpha}" : '';
	}
	return '' if defined $person || !$table;
	my $distance = $table->(map { [ $seen->{text_of}{$column}{$_}, $count->{$_} / $all ] } sort keys %$count);
	return $distance > $rule->{t} + $tiny ? "distance $distance, t = $rule->{t}" : '';
}

# The earth mover's distance to the source's distribution, as a function of a class's.
# Values are known by their text in the source: equal ones share the number, in their order.
sub distribution
{
	my ($dbh, $seen, $rule, $column) = @_;
	my $c = ident($column);
	my $order = $rule->{distance} eq 'ordered' ? "ORDER BY v NULLS LAST" : '';
	my $h = $rule->{hierarchy};
	my $levels = $rule->{distance} eq 'hierarchical'
		? join('', map { ", (SELECT h.level$_\::text FROM $h->{relation} h WHERE h.value = d.v" . ($h->{text} ? '::text' : '') . ' LIMIT 1)' } 1 .. $h->{levels})
		: '';
	my $rows = all($dbh, "WITH d AS (SELECT row_number() OVER ($order) AS nr, v, n FROM (SELECT $c AS v, count(*) AS n FROM $seen->{source} GROUP BY 1) g)"
			. " SELECT d.nr, d.n, CASE WHEN d.v IS NOT DISTINCT FROM NULL THEN 'no value' ELSE t.v END$levels FROM d LEFT JOIN (SELECT DISTINCT $c\::text AS v, $c AS w FROM (SELECT $c FROM $seen->{target}) t) t ON t.w IS NOT DISTINCT FROM d.v ORDER BY d.nr");
	return if $order eq '' && $rule->{distance} eq 'ordered';
	my (%nr, @share, @levels);
	my $all = 0;
	for my $row (@$rows)
	{
		my ($nr, $n, $text, @up) = @$row;
		$nr{$text} = $nr - 1 if defined $text;
		if (!defined $share[ $nr - 1 ]) { $share[ $nr - 1 ] = $n; $all += $n; $levels[ $nr - 1 ] = \@up }
	}
	# every number of the target's column has a text
	for my $t (0 .. $seen->{n} - 1)
	{
		my $cell = $seen->{of}{$column}[$t];
		$seen->{text_of}{$column}{ $cell->[0] } //= $cell->[1] // 'no value';
	}
	my @q = map { $_ / $all } @share;
	return sub {
		my @delta = map { -$_ } @q;
		for my $pair (@_) { die "a value that the source does not have\n" if !defined $nr{ $pair->[0] }; $delta[ $nr{ $pair->[0] } ] += $pair->[1] }
		return 0.5 * sum0(map { abs } @delta) if $rule->{distance} eq 'equal';
		if ($rule->{distance} eq 'ordered')
		{
			return 0 if @delta < 2;
			my ($sum, $carried) = (0, 0);
			for my $d (@delta) { $carried += $d; $sum += abs $carried }
			return $sum / (@delta - 1);
		}
		# a tree of even depth: each edge costs half a step of its height
		my $height = $h->{levels} + 1;
		my $sum = sum0(map { abs } @delta);
		for my $level (0 .. $h->{levels} - 1)
		{
			my %under;
			$under{ $levels[$_][$level] // "alone $_" } += $delta[$_] for 0 .. $#delta;
			$sum += sum0(map { abs } values %under);
		}
		return $sum / (2 * $height);
	};
}

# Does a row of the population that matches several classes belong to the first?  (k_map by greedy.)
sub in_turns { my ($call) = @_; return $call->{function}{name} eq 'kanon_pattern_guided'; }

# Classes whose populations are counted in turn: in the order of the patterns, those that show nothing last.
sub in_turn
{
	my ($call, $seen, $rows) = @_;
	my @told = map { $_->{pattern} } grep { defined $_->{pattern} } @{ $rows // [] };
	my %place = map { $told[$_] => $_ } 0 .. $#told;
	my $of = sub { my ($class) = @_; return $class->{blank} ? @told + 1 : $place{ $seen->{of}{kanon_pattern}[ $class->{rows}[0] ][1] } // 0; };
	my @classes = classes($call, $seen);
	return in_turns($call) ? sort { $of->($a) <=> $of->($b) } @classes : @classes;
}

# k-map and delta-presence, counted in the population.
sub populations_hold
{
	my ($dbh, $call, $seen, $told) = @_;
	for my $rule (@{ ref $call->{val}{privacy} ? $call->{val}{privacy} : [] })
	{
		next if !ref $rule || $rule->{kind} !~ /^(k_map|delta)$/;
		my $population = $call->{plan}{world}{population};
		my (undef, $type) = columns($dbh, $population);
		my $match = matches($dbh, $seen, $call, $population, $type);
		my ($all) = row($dbh, "SELECT count(*) FROM $population");
		# NULL or suppressed, who knows; of an empty source nobody is published
		next if $rule->{kind} eq 'delta' && (!given($call->{val}, 'mark') || $seen->{n} == 0);
		my (@classes, @matched);
		# without a mark nobody knows which class comes first: each is counted with all that match it
		my $turns = in_turns($call) && given($call->{val}, 'mark');
		for my $class (in_turn($call, $seen, $told))
		{
			my $row = $match->[ $class->{rows}[0] ] // [];
			my @these = grep { $row->[$_] && !($turns && $matched[$_]) } 0 .. $all - 1;
			return 'k_map: ' . @these . " of the population, k = $call->{val}{k}"
				if $rule->{kind} eq 'k_map' && @these < $call->{val}{k} && !$class->{blank};
			$matched[$_] = 1 for $class->{blank} ? () : @these;
			push @classes, [ $class, scalar @these ];
		}
		next if $rule->{kind} eq 'k_map';
		my $left = $all - grep { $_ } @matched;
		my $rest = 0;
		for my $pair (@classes)
		{
			my ($class, $there) = @$pair;
			$rest = @{ $class->{rows} } if $class->{blank};
			next if $class->{blank};
			my $chance = @{ $class->{rows} } / $there;
			return "delta: $chance is not between $rule->{dmin} and $rule->{dmax}" if $chance < $rule->{dmin} - $tiny || $chance > $rule->{dmax} + $tiny;
		}
		my $chance = $left > 0 ? $rest / $left : 0;
		return "delta: $chance of the rest is not between $rule->{dmin} and $rule->{dmax}"
			if $left > 0 && ($chance < $rule->{dmin} - $tiny || $chance > $rule->{dmax} + $tiny);
	}
	return '';
}

# How probable it is that so many rows by themselves and X of the others are between two bounds: the binomial
# distribution, term by term.
sub likelihood
{
	my ($rows, $others, $p, $rule) = @_;
	my ($sum, $log) = (0, 0);
	for my $x (0 .. $others)
	{
		$log += log(($others - $x + 1) / $x) if $x > 0;
		my $chance = $rows / ($rows + $x);
		next if $chance < $rule->{dmin} - $tiny || $chance > $rule->{dmax} + $tiny;
		$sum += $p <= 0 ? $x == 0 : $p >= 1 ? $x == $others : exp($log + $x * log($p) + ($others - $x) * log(1 - $p));
	}
	return $sum;
}

# c-confident delta-presence, by the shares of the columns' values.
sub presence_holds
{
	my ($dbh, $call, $seen, $told) = @_;
	return '' if $call->{plan}{function} !~ /full_domain|cluster/ || !given($call->{val}, 'mark') || $seen->{n} == 0;
	for my $rule (grep { ref $_ && $_->{kind} eq 'presence' } @{ ref $call->{val}{privacy} ? $call->{val}{privacy} : [] })
	{
		my $population = $call->{plan}{world}{population};
		my (undef, $type) = columns($dbh, $population);
		my ($all) = row($dbh, "SELECT count(*) FROM $population");
		my ($n) = row($dbh, "SELECT count(*) FROM $seen->{source}");
		my @match = map { matches($dbh, $seen, $call, $population, $type, $_) } 0 .. $#{ $seen->{qis} };
		my @classes = in_turn($call, $seen, $told);
		my @shown = grep { !$_->{blank} } @classes;
		# which classes somebody could be in, column by column, and what share of all can be in just these
		my %share = ('1' x @shown => 1);
		for my $column (@match)
		{
			my (%of, %next);
			for my $one (0 .. $all - 1) { $of{ join('', map { $column->[ $_->{rows}[0] ][$one] ? 1 : 0 } @shown) } += 1 / $all }
			for my $in (keys %share) { $next{ $in & $_ } += $share{$in} * $of{$_} for keys %of }
			%share = %next;
		}
		my ($others, $rest) = (0, 0);
		my @p = (0) x @shown;
		for my $in (keys %share)
		{
			my $first = index($in, '1');
			if ($first < 0) { $others += $share{$in} }
			else { $p[$first] += $share{$in} }
		}
		for my $class (@classes)
		{
			my $rows = @{ $class->{rows} };
			if ($class->{blank}) { $rest = $rows; next; }
			my $p = shift @p;
			my $is = likelihood($rows, $rule->{rows} - $n, $p, $rule);
			return "presence: of $rows rows and $p, within the bounds by $is" if $is < $rule->{confidence} - 1e-7;
		}
		my $is = $rest ? likelihood($rest, $rule->{rows} - $n, $others < 1e-12 ? 0 : $others, $rule) : 1;
		return "presence: of $rest rows that show nothing, within the bounds by $is" if $is < $rule->{confidence} - 1e-7;
	}
	return '';
}

# Freeform: matches on both sides, and whether k of each can be equally likely.
sub matches_suffice
{
	my ($dbh, $call, $seen) = @_;
	my $k = $call->{val}{k};
	my ($of_row, $of_record) = match_counts($seen);
	my $loose = $seen->{loose};
	my ($rows, $records) = (min(@$of_row) // $k, min(@$of_record) // $k);
	return "matches: a row matches $rows records, k = $k" if $rows < $k && $loose ne 'k_one';
	return "matches: a record shows $records rows, k = $k" if $records < $k && $loose ne 'one_k';
	return 'matches: no graph in which each has k' if $loose eq 'freeform' && !regular($seen, $k);
	return '' if !defined $call->{val}{k_column};
	my @own = map { $_->[0] } @{ all($dbh, 'SELECT ' . ident($call->{val}{k_column}) . " FROM $seen->{source}") };
	for my $s (0 .. $#own) { return "matches: a row matches $of_row->[$s] records, its own k is $own[$s]" if $of_row->[$s] < $own[$s] }
	return '';
}

sub match_counts
{
	my ($seen) = @_;
	my (@of_row, @of_record);
	@of_row = (0) x $seen->{source_n};
	for my $t (0 .. $seen->{n} - 1)
	{
		$of_record[$t] = 0;
		for my $s (0 .. $seen->{source_n} - 1) { if ($seen->{match}[$t][$s]) { $of_row[$s]++; $of_record[$t]++ } }
	}
	return (\@of_row, \@of_record);
}

# Is there a graph among the matches in which each record and each row has k?  By flow,
# one path after the other.
sub regular
{
	my ($seen, $k) = @_;
	my $n = $seen->{n};
	return 0 if $n != $seen->{source_n};
	my (@uses, @load);
	$load[$_] = 0 for 0 .. $n - 1;
	for my $t (0 .. $n - 1)
	{
		for (1 .. $k) { my %tried; return 0 if !one_more($seen->{match}, $t, $k, \@uses, \@load, \%tried, $n) }
	}
	return 1;
}

sub one_more
{
	my ($match, $t, $k, $uses, $load, $tried, $n) = @_;
	for my $s (0 .. $n - 1)
	{
		next if !$match->[$t][$s] || $uses->[$t][$s] || $tried->{$s}++;
		if ($load->[$s] < $k) { $uses->[$t][$s] = 1; $load->[$s]++; return 1 }
		for my $other (0 .. $n - 1)
		{
			next if !$uses->[$other][$s] || $tried->{"t$other"}++;
			$uses->[$other][$s] = 0;
			if (one_more($match, $other, $k, $uses, $load, $tried, $n)) { $uses->[$t][$s] = 1; return 1 }
			$uses->[$other][$s] = 1;
		}
	}
	return 0;
}

# What kanon_check says against a plain grouping.
sub same_as_check
{
	my ($dbh, $val, $rows) = @_;
	my ($relation, $qis) = @$val{qw(relation quasi_identifiers)};
	return '' if !defined $relation || $relation eq 'absurd' || ref $qis ne 'ARRAY' || !@$rows;
	my $of = numbered($dbh, $relation, @$qis);
	my (%size, %blank); # the blank rows are a class like any other
	for my $t (0 .. $#{ $of->{ $qis->[0] } })
	{
		my $key = join(',', map { $of->{$_}[$t][0] } @$qis);
		$size{$key}++;
		$blank{$key} = 1 if !grep { defined $of->{$_}[$t][1] } @$qis;
	}
	my %want = (k => min(values %size), classes => scalar keys %size, row_count => sum0(values %size), unique_rows => scalar(grep { $_ == 1 } values %size),
		blank_rows => sum0(map { $size{$_} } keys %blank));
	for my $measure (sort keys %want)
	{
		next if !exists $rows->[0]{$measure};
		my ($is, $want) = map { $_ // 'NULL' } $rows->[0]{$measure}, $want{$measure};
		return "kanon_check: $measure is $is, should be $want" if $is ne $want;
	}
	return '';
}

sub same_as_freeform_check
{
	my ($dbh, $val, $rows, $made) = @_;
	return '' if !@$rows || grep { !defined || $_ eq 'absurd' } @$val{qw(source target k)};
	return '' if ref $val->{quasi_identifiers} ne 'ARRAY';
	my (undef, $type) = columns($dbh, $val->{target});
	my (undef, $source_type) = columns($dbh, $val->{source});
	my @qis = @{ $val->{quasi_identifiers} };
	# a column kanon_pattern speaks of the columns of the call that made it; labels mean nothing without their hierarchy
	my $hierarchies = ref $val->{hierarchies} eq 'HASH' ? $val->{hierarchies} : {};
	return '' if $type->{kanon_pattern} && join("\0", @qis) ne join("\0", @{ $made // [] });
	return '' if grep { $type->{$_} eq 'text' && $source_type->{$_} ne 'text' && !$hierarchies->{$_} } @qis;
	my %seen = (qis => \@qis, kept => [], type => $type, source => $val->{source}, target => $val->{target});
	my %call = (val => { mark => ($type->{kanon_pattern} // '') eq 'text' ? 'true' : 'false', hierarchies => $hierarchies });
	($seen{n}) = row($dbh, "SELECT count(*) FROM $val->{target}");
	($seen{source_n}) = row($dbh, "SELECT count(*) FROM $val->{source}");
	$seen{match} = matches($dbh, \%seen, \%call, $val->{source}, $source_type);
	my ($of_row, $of_record) = match_counts(\%seen);
	my %want = (row_count => $seen{source_n}, record_count => $seen{n}, row_matches => min(@$of_row), record_matches => min(@$of_record));
	for my $measure (sort keys %want)
	{
		next if !$seen{n} || !$seen{source_n};
		return "kanon_check_freeform: $measure is " . ($rows->[0]{$measure} // 'NULL') . ", should be $want{$measure}" if ($rows->[0]{$measure} // -1) != $want{$measure};
	}
	return '' if defined $val->{k_column};
	my $regular = regular(\%seen, $val->{k}) ? 1 : 0;
	return "kanon_check_freeform: regular is $rows->[0]{regular}, should be $regular" if $val->{k} > 0 && $val->{k} < 100 && ($rows->[0]{regular} // 0) != $regular;
	return '';
}

1;
