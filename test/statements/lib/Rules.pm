package Rules;

# Each kind of line that a page has, and what its numbers must be. A number that no rule takes is one that nobody counted.
# A rule has a heading (or what stands there instead), a pattern whose groups are the numbers, and what counts them.

use strict;
use warnings;
use Count;

# A number as a page has it; no end of a sentence.
my $N = qr/-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?/;
my $P = qr/(?:[<>] )?-?\d+(?:\.\d+)? %/;
my $NA = qr/$N|n\/a/;
my $PA = qr/$P|n\/a/;
my $T = qr/[1-3]?\d \w+ \d{4}, \d\d:\d\d UTC/;

sub blank_where { my ($c) = @_; return 'num_nonnulls(' . join(', ', @{ $c->{qis} }) . ') = 0'; }

# classes of the target with the values of a kept column
sub classes_with
{
	my ($c, $column) = @_;
	my $by = join(', ', @{ $c->{qis} }) . ($c->{marked} ? ', kanon_pattern' : '');
	return "(SELECT class, sum(n) AS n, max(n) AS most, count(*) AS d FROM (SELECT class, value, count(*) AS n FROM (SELECT dense_rank() OVER (ORDER BY $by) AS class, $column AS value FROM $c->{target}) r GROUP BY 1, 2) v GROUP BY class)";
}

my %figure = (
	'Rows that stand alone' => sub { my ($c, $side) = @_; return commas(scalar grep { $_ == 1 } @{ $c->sizes($side) }); },
	'Rows in classes below k' => sub { my ($c, $side) = @_; return commas(Count::sum(grep { $_ < $c->{k} } @{ $c->sizes($side) })); },
	'Their share' => sub { my ($c, $side) = @_; my $n = $c->rows($side); return risk($n ? Count::sum(grep { $_ < $c->{k} } @{ $c->sizes($side) }) / $n : undef); },
	'Smallest class' => sub { my ($c, $side) = @_; return commas(Count::least(@{ $c->sizes($side) })); },
	'Highest risk' => sub { my ($c, $side) = @_; my $least = Count::least(@{ $c->sizes($side) }); return risk($least ? 1 / $least : undef); },
	'Average risk' => sub { my ($c, $side) = @_; my $n = $c->rows($side); return risk($n ? @{ $c->sizes($side) } / $n : undef); },
	'Classes' => sub { my ($c, $side) = @_; return commas(scalar @{ $c->sizes($side) }); },
	'Rows' => sub { my ($c, $side) = @_; return commas($c->rows($side)); },
	'Empty rows' => sub { my ($c, $side) = @_; return commas($c->blank($side)); });

my %measure = (
	'Suppressed cells' => sub { my ($c) = @_; return commas($c->told('suppressed_cells')) if $c->{kind} eq 'transactions' || $c->{nulls}; return commas($c->value('SELECT (SELECT coalesce(sum(num_nulls(age, sex)), 0) FROM linked.who) + (SELECT count(*) FROM linked.stay WHERE zip IS NULL)')) if $c->{kind} eq 'linked'; return commas(Count::sum(map { ($c->cells($_))[2] } @{ $c->{qis} })); },
	'Suppressed share' => sub { my ($c) = @_; my $cells = $c->rows('target') * @{ $c->{qis} }; return share($c->{kind} eq 'transactions' || $c->{nulls} ? $c->told('suppressed_share') : Count::sum(map { ($c->cells($_))[2] } @{ $c->{qis} }) / $cells); },
	'Classes' => sub { my ($c) = @_; return commas(scalar @{ $c->sizes('target') }); },
	'Average class' => sub { my ($c) = @_; return number($c->rows('target') / @{ $c->sizes('target') }); },
	'Largest class' => sub { my ($c) = @_; return commas(Count::most(@{ $c->sizes('target') })); },
	'C_avg' => sub { my ($c) = @_; return number($c->rows('target') / @{ $c->sizes('target') } / $c->{k}); },
	'Discernibility' => sub {
		my ($c) = @_;
		my ($n, $blank) = ($c->rows('source'), $c->blank('target'));
		return number($c->told('discernibility')) if $c->{held};
		return number(Count::sum(map { $_ * $_ } @{ $c->sizes('target') }) - $blank**2 + ($blank + $n - $c->rows('target')) * $n);
	},
	'Items before' => sub { my ($c) = @_; return commas($c->value('SELECT count(DISTINCT x) FROM baskets b, unnest(b.items) x')); },
	'Items and labels after' => sub { my ($c) = @_; return commas($c->value('SELECT count(DISTINCT x) FROM out b, unnest(b.items) x')); },
	'Items suppressed' => sub { my ($c) = @_; return commas($c->value("SELECT count(*) FROM (SELECT DISTINCT x FROM baskets b, unnest(b.items) x) i WHERE NOT EXISTS (SELECT FROM out o, unnest(o.items) y WHERE y = i.x" . ($c->{levels}{items} ? " OR EXISTS (SELECT FROM goods g WHERE g.value = i.x AND y IN (g.kind, g.top))" : '') . ')')); },
	'Occurrences' => sub { my ($c) = @_; return commas($c->value('SELECT sum(cardinality(items)) FROM baskets')); },
	'Occurrences suppressed' => sub { my ($c) = @_; return commas($c->value("SELECT coalesce(sum(n), 0) FROM (SELECT x, count(*) AS n FROM baskets b, unnest(b.items) x GROUP BY 1) i WHERE NOT EXISTS (SELECT FROM out o, unnest(o.items) y WHERE y = i.x" . ($c->{levels}{items} ? " OR EXISTS (SELECT FROM goods g WHERE g.value = i.x AND y IN (g.kind, g.top))" : '') . ')')); },
	'Empty before' => sub { my ($c) = @_; return commas($c->value("SELECT count(*) FROM baskets WHERE items = '{}'")); },
	'Empty after' => sub { my ($c) = @_; return commas($c->value("SELECT count(*) FROM out WHERE items = '{}'")); },
	'Groups' => sub { my ($c) = @_; return commas($c->value('SELECT count(DISTINCT kanon_group) FROM out')); },
	'Sensitive values' => sub { my ($c) = @_; return commas($c->value('SELECT count(*) FROM (SELECT DISTINCT ill FROM src) v')); },
	'Persons' => sub { my ($c) = @_; return commas($c->value('SELECT count(*) FROM linked.who')); },
	'Classes of persons' => sub { my ($c) = @_; return commas($c->value('SELECT count(*) FROM (SELECT DISTINCT age, sex FROM linked.who) g')); },
	# by the formulas of test/oracle, which counts these again for every kind of release
	(map { my ($what, $column, $how) = @$_; ($what => sub { my ($c) = @_; return ($how eq 'share' ? share($c->told($column)) : $how eq 'count' ? commas($c->told($column)) : number($c->told($column))); }) }
		[ 'Cost', 'cost', '' ], [ 'Lower bound', 'lower_bound', '' ], [ 'Usefulness (a loss)', 'usefulness', '' ], [ 'ILoss', 'iloss', '' ], [ 'NCP', 'ncp', '' ], [ 'GCP', 'gcp', 'share' ], [ 'Precision', 'precision', 'share' ],
		[ 'Entropy lost', 'entropy', '' ], [ 'Entropy lost, share', 'entropy_share', 'share' ], [ 'Classification metric', 'classification', 'share' ], [ 'Frequent sets preserved', 'transactions.frequent_preserved', 'count' ],
		[ 'Most frequent sets', 'transactions.frequent_sets', 'count' ], [ 'Combinations of rows', 'tables.combinations', 'count' ]));

# The words of a mask have the mask's own numbers.
sub of_masks
{
	my ($c) = @_;
	return map { /"(?:days|round|swap|microaggregate|top|bottom|noise)": ([\d.]+)/g, /\[(\d), (\d)\]/ } values %{ $c->{masked} };
}

# Is a number one of those of the call?
sub of_call { my ($c, $n) = @_; $n =~ s/,//g; return scalar grep { $_ == $n } map { my $x = $_; $x =~ s/'\{[^']*\}'::name//g; $x =~ /\d+(?:\.\d+)?/g } @{ $c->{calls} }; }

sub held { my ($c) = @_; return $c->{held} // {}; }

my @rules;
sub rule { my ($where, $pattern, $counts) = @_; push @rules, [ $where, $pattern, $counts ]; return; }

# ---- the first page ----
rule(qr//, qr/run (\d+)\b/i, sub { my ($c) = @_; return [ grep { $_ == $c->{run} || $c->{kind} eq 'linked' } @{ $c->{runs} } ]; });
rule(qr/^$/, qr/kanon ($N)/, sub { my ($c) = @_; return $c->value("SELECT extversion FROM pg_extension WHERE extname = 'kanon'"); });
rule(qr/^$/, qr/($N) k that was asked for/, sub { my ($c) = @_; return commas($c->{k}); });
rule(qr/^$/, qr/($N) rows published/, sub { my ($c) = @_; return commas($c->rows('target')); });
rule(qr/^$/, qr/($N) (?:transactions|records) published/, sub { my ($c) = @_; return commas($c->rows('target')); });
rule(qr/^$/, qr/($N) rows of all tables published/, sub { my ($c) = @_; return commas($c->value('SELECT (SELECT count(*) FROM linked.who) + (SELECT count(*) FROM linked.stay)')); });
rule(qr/^$/, qr/($N) rows of all tables/, sub { my ($c) = @_; return commas($c->value('SELECT (SELECT count(*) FROM linked.who) + (SELECT count(*) FROM linked.stay)')); });
rule(qr/^$/, qr/($N) persons$/, sub { my ($c) = @_; return commas($c->value('SELECT count(*) FROM linked.who')); });
rule(qr//, qr/($PA) of the information in the quasi-identifiers lost \(GCP\)/, sub { my ($c) = @_; return share($c->told('gcp')); });
rule(qr//, qr/The loss to quote is GCP, ($P)/, sub { my ($c) = @_; return share($c->told('gcp')); });
rule(qr/^$/, qr/($N) -> ($N) rows that stand alone/, sub { my ($c) = @_; return (before($c, 'Rows that stand alone'), $figure{'Rows that stand alone'}->($c, 'target')); });
rule(qr//, qr/($T)/, sub { my ($c) = @_; return $c->{times}; });
rule(qr//, qr/release (\d+)(?: of the publication)?(?= \(| of the pub)/, sub { my ($c) = @_; return $c->value("SELECT max(release) FROM kanon_releases WHERE status = 'current'"); });
rule(qr/^$/, qr/($N) more under Verdicts/, sub { my ($c) = @_; my ($more) = $c->{verdicts} - $c->{front}; return commas($more); });

# ---- questions ----
rule(qr//, qr/($N) of ($N) rows stand alone; the smallest class has ($N) rows?/, sub { my ($c) = @_; return ($figure{'Rows that stand alone'}->($c, 'target'), commas($c->rows('target')), commas(Count::least(@{ $c->sizes('target') }))); });
rule(qr//, qr/rows, of at least ($N) persons/, sub { my ($c) = @_; return persons_kept($c); });
rule(qr//, qr/Counted by (\w+): (at least )?($N)\./, sub { my ($c, $column, $least, $n) = @_; my $is = persons_in_class($c, $column); return (undef, undef, $least ? $is >= $n && $n == $c->{k} ? $n : "less: $is" : commas($is)); });
rule(qr//, qr/At least ($N) records fit every row/, sub { my ($c) = @_; return matches_at_least($c, 'rows'); });
rule(qr//, qr/By ($N) items: at least ($N) transactions share them/, sub { my ($c) = @_; return items_at_least($c); });
rule(qr//, qr/No value of \w+ is more likely than 1 in ($N) in any group/, sub { my ($c) = @_; return groups_l($c); });
rule(qr//, qr/(\w+): for ($N) rows \(($P)\)/, sub { my ($c, $column) = @_; my $n = $c->value('SELECT coalesce(sum(n) FILTER (WHERE most = n), 0) FROM ' . classes_with($c, $column) . ' g'); return (undef, commas($n), up($n, $c->rows('target'))); });
rule(qr//, qr/Between releases: ($N) persons stand with fewer than k in two of them/, sub { my ($c) = @_; return commas($c->value('SELECT persons_below_k FROM kanon_compare_releases(\'public.out\', ' . $c->{earlier} . ", $c->{release})")); });
rule(qr//, qr/keeps release (\d+) can compare it with this one: ($N) persons? (?:is|are)/, sub { my ($c) = @_; return ($c->{earlier}, commas($c->value('SELECT persons_below_k FROM kanon_compare_releases(\'public.out\', ' . $c->{earlier} . ", $c->{release})"))); });
rule(qr//, qr/at least ($N) persons share each history/, sub { my ($c) = @_; return $c->{k}; });
rule(qr//, qr/At least ($N) persons fit what somebody may know/, sub { my ($c) = @_; return linked_least($c) >= $c->{k} ? $c->{k} : 'fewer'; });

# ---- statements ----
rule(qr//, qr/published ($N) (?:rows?|made-up rows|transactions)/, sub { my ($c) = @_; return commas($c->{kind} eq 'linked' && !$c->{part} ? $c->value('SELECT (SELECT count(*) FROM linked.who) + (SELECT count(*) FROM linked.stay)') : $c->rows('target')); });
rule(qr//, qr/as (\d) tables that join/, sub { return 2; });
rule(qr//, qr/(\w+) as linked\.(\w+): ($N) of ($N) rows/, sub { my ($c, $t) = @_; my ($n) = $t; return (undef, undef, commas($c->value("SELECT count(*) FROM linked.$n")), commas($c->value("SELECT count(*) FROM $n"))); });
rule(qr//, qr/left out: ($N) of nobody who is published/, sub { my ($c) = @_; return commas($c->told_of_tables('of_nobody')); });
rule(qr//, qr/($N) over max_rows/, sub { my ($c) = @_; return commas($c->told_of_tables('over_max_rows')); });
rule(qr//, qr/($N) that too few persons have/, sub { my ($c) = @_; return commas($c->value('SELECT (SELECT count(*) FROM stay) - (SELECT count(*) FROM linked.stay)') - $c->told_of_tables('of_nobody') - $c->told_of_tables('over_max_rows')); });
rule(qr//, qr/($N) rows? (?:was|were) left out(?: \(($P) of the source\))?/, sub { my ($c) = @_; my $n = $c->rows('source') - $c->rows('target'); return (commas($n), sprintf('%.1f %%', 100 * $n / $c->rows('source'))); });
rule(qr//, qr/($P) of the rows of (?:public\.)?(\w+) were left out/, sub { my ($c, undef, $t) = @_; return (sprintf('%.1f %%', 100 * (1 - $c->value("SELECT count(*) FROM linked.$t") / $c->value("SELECT count(*) FROM $t"))), undef); });
rule(qr//, qr/(\w+), ($N) cells: /, sub { my ($c) = @_; return (undef, commas($c->rows('target'))); });
rule(qr//, qr/(\w+), $N cells: (?:.*, )?($N) as they were/, sub { my ($c, $column) = @_; return (undef, commas(($c->cells($column))[0])); });
rule(qr//, qr/(\w+), $N cells: (?:.*, )?($N) as a range or a set/, sub { my ($c, $column) = @_; return (undef, commas(($c->cells($column))[1])); });
rule(qr//, qr/(\w+), $N cells: (?:.*, )?($N) empty/, sub { my ($c, $column) = @_; return (undef, commas(($c->cells($column))[2])); });
rule(qr//, qr/(\w+), $N cells: .*\(($N) of them were not emptied: the source has no value there\)/, sub { my ($c, $column, $n) = @_; return (undef, no_value($c, $column, $n)); });
for my $level (qw(decade half zip2))
{
	rule(qr//, qr/(\w+), $N cells: (?:.*, )?($N) as $level\b/, sub { my ($c, $column) = @_; return (undef, commas($c->value("SELECT count(*) FROM out WHERE $column\::text IN (SELECT h.$level FROM $c->{levels}{$column}[0] h)"))); });
}
rule(qr//, qr/At most (\d+) of these columns are empty in a row/, sub { my ($c) = @_; my $list = join(', ', @{ $c->{qis} }); return $c->value("SELECT coalesce(max(num_nulls($list)), 0) FROM out WHERE NOT " . blank_where($c)) <= $c->{options}{rules}{max_suppressed} || $c->{nulls} ? $c->{options}{rules}{max_suppressed} : 'more'; });
rule(qr//, qr/Each of the (\d+) listed patterns/, sub { my ($c) = @_; return scalar @{ $c->{options}{patterns} }; });
rule(qr//, qr/(?:occurs in|has) at least ($N) rows?\./, sub { my ($c) = @_; my ($least) = Count::least(grep { defined } @{ $c->{told_classes} // $c->list('SELECT count(*) AS v FROM out WHERE NOT ' . blank_where($c) . ' GROUP BY ' . join(', ', @{ $c->{qis} })) }); return !defined $least || $least >= $c->{k} ? $c->{k} : "fewer: $least"; });
rule(qr//, qr/The table shows occurs in at least ($N) rows|that the table shows occurs in at least ($N) rows/, sub { my ($c) = @_; return map { $_, $_ } few_known($c); });
rule(qr//, qr/By any (\d) or fewer columns: at least ($N) rows/, sub { my ($c) = @_; return ($c->{options}{known_columns}, few_known($c)); });
rule(qr//, qr/kanon_check\(.*, ($N), ($N), missing/, sub { my ($c) = @_; return ($c->{options}{known_columns}, $c->{k}); });
rule(qr//, qr/any (\d) or fewer/, sub { my ($c) = @_; return $c->{options}{known_columns}; });
rule(qr//, qr/is shared by at least ($N) different persons/, sub { my ($c) = @_; return persons_kept($c); });
rule(qr//, qr/fits at least ($N) (?:rows|different persons) of the population/, sub { my ($c) = @_; return population_least($c) >= $c->{k} ? $c->{k} : 'fewer'; });
rule(qr//, qr/at least ($N) distinct values of (\w+)/, sub { my ($c, $l, $column) = @_; my $least = $c->value('SELECT min(d) FROM ' . classes_with($c, $column) . ' g'); return (!defined $least || $least >= 2 ? 2 : "fewer: $least", undef); });
rule(qr//, qr/no value of (\w+) in more than a share of ($N)/, sub { my ($c, $column) = @_; my $most = $c->value('SELECT max(most / n::float8) FROM ' . classes_with($c, $column) . ' g'); return (undef, !defined $most || $most <= 0.8 + 1e-9 ? 0.8 : "more: $most"); });
rule(qr//, qr/(?:with a probability|a chance) between ($N) and ($N)/, sub { my ($c) = @_; my ($low, $high) = presence($c); return (!defined $low || $low >= 0.1 - 1e-9 ? 0.1 : "less: $low", !defined $high || $high <= 0.9 + 1e-9 ? 0.9 : "more: $high"); });
rule(qr//, qr/counted again for this page: from ($N) to ($N)/, sub { my ($c) = @_; my ($low, $high) = presence($c); return (sprintf('%.4f', POSIX::floor($low * 10000 + 1e-7) / 10000), sprintf('%.4f', POSIX::ceil($high * 10000 - 1e-7) / 10000)); });
rule(qr//, qr/presence in population [\w.]+ between ($N) and ($N)/, sub { return (0.1, 0.9); });
rule(qr//, qr/(?:^|caution\. |In the table )($N) rows? (?:is|are) (?:empty in all)/, sub { my ($c) = @_; return commas($c->blank('target')); });
rule(qr//, qr/An empty cell costs: (.*)\.$/, sub { return undef; });
rule(qr//, qr/empty cell costs[:,\w\s.\d]*?(\w+) ($N)(?=[,.]|$)/, sub { my ($c, $column) = @_; return (undef, $c->{options}{weights}{$column} // 1); });
rule(qr//, qr/($P) of the rows have this pattern/, sub { my ($c) = @_; return sprintf('%.1f %%', 100 * $c->value("SELECT max(n) FROM (SELECT sum(row_count) AS n FROM kanon_equivalence_classes WHERE run = $c->{run} AND pattern !~ '^-+\$' AND class IS NOT NULL GROUP BY pattern) p") / $c->rows('target')); });
rule(qr//, qr/It costs ($N)[;.]/, sub { my ($c) = @_; return trimmed($c->told('cost')); });
rule(qr//, qr/costs less than ($N)/, sub { my ($c) = @_; return trimmed($c->told('lower_bound')); });
rule(qr//, qr/none are better than ($N)/, sub { my ($c, $n) = @_; return $n; });
rule(qr//, qr/never costs more than ($N) times/, sub { my ($c) = @_; return $c->told('cost') <= $c->told('guarantee') * ($c->told('lower_bound') // 9e99) + 1e-9 ? sprintf('%.2f', $c->told('guarantee')) + 0 : 'more'; });
rule(qr//, qr/with at most ($N) % of the rows empty as a whole/, sub { my ($c) = @_; return 100 * $c->{options}{suppression_limit}; });
rule(qr//, qr/which fewer than ($N) (?:rows|persons) have/, sub { my ($c) = @_; return $c->{k}; });
rule(qr//, qr/(?:have: |, )($N) of (\w+)(?=[,.])/, sub { my ($c, undef, $column) = @_; return (commas(ends_of_few($c, $column)), undef); });
rule(qr//, qr/($N) persons? (?:is|are) held back, so that no difference between two releases points at fewer than ($N) persons; the first of them for ($N) release/, sub { my ($c) = @_; my $h = held($c); return (commas($h->{persons}), $c->{k}, $h->{oldest}); });
rule(qr//, qr/source has them no more: ($N)(?: \(($N) rows?\))?/, sub { my ($c) = @_; my $h = held($c); return (commas($c->value("SELECT count(DISTINCT k.person) FROM out o JOIN persons k USING (id) WHERE k.person NOT IN (SELECT person FROM src)")), commas($c->value("SELECT count(*) FROM out o JOIN persons k USING (id) WHERE k.person NOT IN (SELECT person FROM src)"))); });
rule(qr//, qr/In the source and not shown: ($N)/, sub { my ($c) = @_; return commas($c->value("SELECT count(DISTINCT person) FROM src WHERE person NOT IN (SELECT k.person FROM out o JOIN persons k USING (id))")); });
rule(qr//, qr/Shown as they were before: ($N)/, sub { my ($c) = @_; my $h = held($c); return commas($h->{persons} - $h->{gone} - $h->{waiting}); });

# masks, by the call
rule(qr//, qr/\((?:[^()]*, )?rounded to ($N)/, sub { my ($c, $n) = @_; return grep({ $_ == $n } of_masks($c)) ? $n : 'none'; });
rule(qr//, qr/cut above ($N), cut below ($N)/, sub { return (2500, 1200); });
rule(qr//, qr/swapped within ($N) % of the ranks/, sub { return 10; });
rule(qr//, qr/the mean of at least ($N) rows/, sub { return 3; });
rule(qr//, qr/shifted by up to ($N) days/, sub { return 30; });
rule(qr//, qr/its first ($N) and last ($N) characters/, sub { return (1, 0); });
rule(qr//, qr/kanon_check_freeform\(.*, ($N)\);/, sub { my ($c) = @_; return $c->{k}; });
rule(qr//, qr/with noise of ($N)/, sub { return 0.1; });

# ---- what is drawn ----
rule(qr//, qr/\(domains\): ($N) combinations/, sub { my ($c) = @_; return commas(40 * $c->value('SELECT count(*) FROM zips') * 2); });
rule(qr//, qr/in the table with probability ($N), and each other combination of values with probability ($N)/, sub { my ($c) = @_; my $m = $c->{rec}{mechanism}; return (trimmed($m->{alpha} + $m->{beta}), sprintf('%.*f', 3 - POSIX::floor(log($m->{beta}) / log(10)), $m->{beta}) + 0); });
rule(qr//, qr/probability of at most ($N) beforehand, independently of the others, gives it at most ($N) afterwards, and at least ($N) times the one before/, sub { my ($c) = @_; my $m = $c->{rec}{mechanism}; return (0.1, 0.5, [ map { $_, sprintf('%.4g', $_), sprintf('%.3g', $_), sprintf('%.2g', $_), sprintf('%.6g', $_) } 0.1 / 0.5 ]); });
rule(qr//, qr/divided while it had more than ($N) rows/, sub { return [ 6, 3 ]; });
rule(qr//, qr/at least (?:1 - )($N) the outcome is at most exp\(($N)\) times/, sub { my ($c) = @_; return ($c->{rec}{mechanism}{delta}, $c->{rec}{mechanism}{epsilon}); });
rule(qr//, qr/by a factor of up to ($N) if one row/, sub { my ($c) = @_; my $e = $c->{rec}{mechanism}{epsilon}; return $e < 3 ? sprintf('%.2f', POSIX::ceil(100 * exp($e)) / 100) : commas(POSIX::ceil(exp($e))); });

# ---- what matches, groups and sets ----
rule(qr//, qr/matches at least ($N) records of the table(?:, and every record at least ($N) rows)?/, sub { my ($c) = @_; return (matches_at_least($c, 'rows'), matches_at_least($c, 'records')); });
rule(qr//, qr/Every row and every record has at least ($N) matches/, sub { my ($c) = @_; my ($a, $b) = (matches_at_least($c, 'rows'), matches_at_least($c, 'records')); return $a eq $b ? $a : 'not both'; });
rule(qr//, qr/Every group of rows has at least ($N) values of \w+, and none of them has more than 1\/($N) of its rows/, sub { my ($c) = @_; return (groups_values($c), groups_l($c)); });
rule(qr//, qr/set of at most ($N) items is in at least ($N) transactions or in none/, sub { my ($c) = @_; return items_at_least($c); });
rule(qr//, qr/(?:knows|of) at most ($N) items/, sub { my ($c) = @_; return 2; });
rule(qr//, qr/any ($N) items? that the table shows|at most ($N) items? (?:of|that)/, sub { my ($c) = @_; return map { $_, $_ } 2; });

# ---- verdicts ----
rule(qr//, qr/smallest class has ($N) rows; at least ($N) were promised/, sub { my ($c) = @_; return (commas(Count::least(@{ $c->sizes('target') })), $c->{k}); });
rule(qr//, qr/(?:In rows|In the table itself) the smallest has ($N)/, sub { my ($c) = @_; return commas(Count::least(@{ $c->sizes('target') })); });
rule(qr//, qr/The column (\w+) is nearly empty: ($P) of its cells/, sub { my ($c, $column) = @_; return (undef, sprintf('%.1f %%', POSIX::floor(1000 * $c->value("SELECT avg(($column IS NULL)::int)" . ' FROM out') + 1e-9) / 10)); });
rule(qr//, qr/In ($N) of ($N) classes all rows have the same value: it can be read off for ($N) rows \(($P)\)/, sub {
	my ($c) = @_;
	my $row = $c->{db}->rows('SELECT count(*) FILTER (WHERE most = n) AS a, count(*) AS b, coalesce(sum(n) FILTER (WHERE most = n), 0) AS c FROM ' . classes_with($c, $c->{column}) . ' g')->[0];
	return (commas($row->{a}), commas($row->{b}), commas($row->{c}), up($row->{c}, $c->rows('target')));
});
rule(qr//, qr/In ($N) classes, with ($N) rows, at least nine rows of ten have one value/, sub {
	my ($c) = @_;
	my $row = $c->{db}->rows('SELECT count(*) FILTER (WHERE 10 * most >= 9 * n) AS a, coalesce(sum(n) FILTER (WHERE 10 * most >= 9 * n), 0) AS c FROM ' . classes_with($c, $c->{column}) . ' g')->[0];
	return (commas($row->{a}), commas($row->{c}));
});
rule(qr//, qr/Every class has at least ($N) different values of it/, sub { my ($c) = @_; return commas($c->value('SELECT min(d) FROM ' . classes_with($c, $c->{column}) . ' g')); });
rule(qr//, qr/In some class ($P) of the rows have the same value/, sub { my ($c) = @_; return up($c->value('SELECT max(most / n::float8) FROM ' . classes_with($c, $c->{column}) . ' g'), 1); });
rule(qr//, qr/Counted by them, ($N) of ($N) classes have fewer than ($N); these hold ($N) rows \(($P)\)/, sub {
	my ($c) = @_;
	my $row = $c->{db}->rows("SELECT count(*) FILTER (WHERE d < $c->{k}) AS a, count(*) AS b, coalesce(sum(n) FILTER (WHERE d < $c->{k}), 0) AS c FROM " . classes_with($c, $c->{column}) . ' g')->[0];
	return (commas($row->{a}), commas($row->{b}), $c->{k}, commas($row->{c}), up($row->{c}, $c->rows('target')));
});
rule(qr//, qr/Fewer than ($N) persons share a class, it seems, although ($N) rows do: counted by (\w+), this is so for ($N) rows \(($P)\)/, sub { my ($c, undef, undef, $column) = @_; my $n = $c->value("SELECT coalesce(sum(n) FILTER (WHERE d < $c->{k}), 0) FROM " . classes_with($c, $column) . ' g'); return ($c->{k}, $c->{k}, undef, commas($n), up($n, $c->rows('target'))); });
rule(qr//, qr/($N) class(?:es)? (?:is|are) of one alone/, sub { my ($c) = @_; return commas($c->value('SELECT count(*) FILTER (WHERE d = 1) FROM ' . classes_with($c, $c->{column}) . ' g')); });
rule(qr//, qr/The smallest has ($N)\./, sub { my ($c) = @_; return commas($c->value('SELECT min(d) FROM ' . classes_with($c, $c->{column}) . ' g')); });
rule(qr//, qr/Counted by them, every class has at least ($N)/, sub { my ($c) = @_; my $d = $c->value('SELECT min(d) FROM ' . classes_with($c, $c->{column}) . ' g'); return $d >= $c->{k} ? $c->{k} : "fewer: $d"; });
rule(qr//, qr/The column (\w+) has other shares of values since: ($P) of the rows/, sub { my ($c, $column) = @_; return (undef, share1($c->value('SELECT 1 - sum(least(p, q)) FROM ' . $c->spread($column) . ' x'))); });
rule(qr//, qr/The column (\w+) has other shares of values since: .*? One value or range of it has ($N) % of the rows that are missing/, sub { my ($c, $column) = @_; return (undef, of_one_bar($c, $column)); });

# ---- risk ----
rule(qr/^Risk/, qr/^($N)(?: %)?$/, sub { my ($c, $n) = @_; return $n; });
rule(qr/^Risk/, qr/^(Rows that stand alone|Rows in classes below k|Their share|Smallest class|Highest risk|Average risk|Classes|Rows|Empty rows) \| ($NA|$PA) \| ($NA|$PA) \|/,
	sub { my ($c, $what) = @_; return (undef, $what eq 'Rows' ? $figure{$what}->($c, 'source') : before($c, $what), $figure{$what}->($c, 'target')); });
rule(qr/^Risk/, qr/(?:k = ($N): from here on )?(?:source, before table, after )?($N)(?: to ($N))? rows?( or more)? ($PA) ($PA)/, sub {
	my ($c, $k, $from, $to, $more) = @_;
	my @share = map { my $side = $_; my $n = $side eq 'target' ? $c->rows('target') : $c->rows('source'); $n ? share(Count::sum(grep { $_ >= $from && ($more || $_ <= ($to // $from)) } @{ $c->{"shown_$side"} //= shown_sizes($c, $side) }) / $n) : 'n/a' } 'source', 'target';
	$share[0] = undef if $c->{held};
	return ($c->{k}, undef, undef, undef, @share);
});
rule(qr/^Risk/, qr/^($N)(?: to ($N))? rows?( or more)? \| ($N) \| ($N) \| ($N) \| ($N)/, sub {
	my ($c, $from, $to, $more) = @_;
	my @four = map { my @in = grep { $_ >= $from && ($more || $_ <= ($to // $from)) } @{ $c->{"shown_$_"} //= shown_sizes($c, $_) }; (commas(scalar @in), commas(Count::sum(@in))) } 'source', 'target';
	@four[ 0, 1 ] = (undef, undef) if $c->{held};
	return (undef, undef, undef, @four);
});
rule(qr/^Risk/, qr/It counts chances above ($P)/, sub { return '20.0 %'; });
rule(qr/^Risk/, qr/^Prosecutor share \| ($PA) \| Share of rows whose chance of being picked is above 20/, sub { my ($c) = @_; return risk(Count::sum(grep { $_ < 5 } @{ $c->readers_sizes }) / $c->rows('target')); });
rule(qr/^Risk/, qr/^Share below ($N) \| ($PA) \| Share of rows in classes of fewer than ($N)/, sub { my ($c, $n) = @_; return (undef, risk(Count::sum(grep { $_ < $n } @{ $c->readers_sizes }) / $c->rows('target')), $n); });
rule(qr/^Risk/, qr/^(\w+) \| ($N) \| ($NA) \| ($NA) \| ($P) \| ($NA) \| ($NA) \|/, sub { my ($c, $column) = @_; return (undef, sensitive($c, $column)); });
rule(qr/^Risk/, qr/^(Presence|Journalist|Marketer|Population)[\w ]* \| ($PA|$NA) \|/, sub { my ($c, $what) = @_; return undef; });

# ---- what was lost ----
rule(qr/./, qr/^(\w+) (?:integer|text|int4range|integer\[\]|text\[\]|date) \| ($N) \| ($N) \| ($N) \| ($N) \| ($N) \| ($PA)/, sub {
	my ($c, $column) = @_;
	my ($kept, $coarser, $empty) = $c->cells($column);
	my $before = $c->value("SELECT count(*) FROM (SELECT DISTINCT $column FROM $c->{source}) v");
	return (undef, commas($kept), commas($coarser), commas($empty), $c->{held} ? undef : commas($before), $c->{nulls} || $c->{kind} eq 'linked' ? undef : commas($c->value("SELECT count(DISTINCT $column) FROM out")), share($c->value("SELECT ncp FROM kanon_columns WHERE run = $c->{run} AND column_name = '$column'")));
});
rule(qr/^What was lost/, qr/^([A-Z][\w ,()]+?) \| ($PA|$NA) \| [A-Z1]/, sub { my ($c, $what) = @_; return (undef, $measure{$what} ? $measure{$what}->($c) : "nobody counts $what"); });

# ---- patterns ----
rule(qr/^Patterns/, qr/^(\S+) \| .* \| ($N) \| ($PA) \| ($N) \| ($N) \|$/, sub { my ($c, $p) = @_; return (undef, pattern($c, $p)); });
rule(qr/^Patterns/, qr/($N) more patterns have ($N) rows together/, sub { my ($c) = @_; my $row = $c->{db}->rows("SELECT count(*) AS a, sum(n) AS b FROM (SELECT sum(row_count) AS n FROM kanon_equivalence_classes WHERE run = $c->{run} AND class IS NOT NULL GROUP BY pattern ORDER BY 1 DESC, min(class) OFFSET 25) x")->[0]; return (commas($row->{a}), commas($row->{b})); });
rule(qr/^Patterns/, qr/Allowed: ($N)/, sub { my ($c) = @_; return commas($c->told('patterns')); });

# ---- before and after ----
rule(qr/^Values/, qr/^($N) random counts.* off by ($PA) of the source's on average, by ($PA) in the median/, sub { my ($c) = @_; my %m = map { $_->{measure} => $_->{value} } @{ compared($c) }; return (commas($m{queries}), share($m{query_error_average}), share($m{query_error_median})); });
rule(qr/^Values/, qr/the same, to 100 %: ($PA)/, sub { my ($c) = @_; my %m = map { $_->{measure} => $_->{value} } @{ compared($c) }; return share($m{correlation_matrix_distance}); });
rule(qr/^Values/, qr/^(\w+) \| ($PA) \| ($NA|[\d-]{10}) \| ($NA|[\d-]{10}) \| ($NA|[\d-]{10}) \| ($NA)(?: days)? \| ($NA)(?: days)? \|/, sub { my ($c, $column) = @_; return (undef, spread($c, $column)); });
rule(qr/^Values/, qr/^(\w+) \| ($PA) \|(?: \|)+$/, sub { my ($c, $column) = @_; return (undef, share($c->value('SELECT 1 - sum(least(p, q)) FROM ' . $c->spread($column) . ' x'))); });
rule(qr/^Values/, qr/(?:source, before table, after )?(.+) ($PA) ($PA)$/, sub { my ($c, $bar) = @_; return (undef, bar($c, $bar)); });
rule(qr/^Values/, qr/stands for at least ($N) rows/, sub { my ($c) = @_; return $c->{k} > 5 ? $c->{k} : 5; });

# ---- other ks ----
rule(qr/^What other/, qr/^(\d+) \| ($NA) \| ($PA) \| ($NA) \| ($PA) \| ($NA) \| ($NA) \| ($NA) \| ($NA) \| ($NA) \|/, sub { my ($c, $k) = @_; my $f = frontier($c, $k); return (undef, commas($f->{suppressed_cells}), share($f->{suppressed_share}), number($f->{usefulness}), share($f->{gcp}), number($f->{cost}), commas($f->{classes}), number($f->{class_avg}), commas($f->{class_max}), commas($f->{residual_rows})); });
rule(qr/^What other/, qr/^([\d.]+)(?: [kl] .*)?$|^($P)$|^[kl] = (\d+): no release/, sub { return (undef, undef, undef); });
rule(qr/^What other/, qr/^(\d+) [kl] Releases for several/, sub { return undef; });

# ---- smallest classes ----
rule(qr/^The smallest/, qr/^(\d+) \| ($N) \| (\S+) \| (\{.*\}) \|$/, sub { my ($c, $class, $n, $p, $shown) = @_; return (undef, commas(class_of($c, $shown, $p)), undef, undef); });

# ---- releases, certificate ----
rule(qr/^Releases/, qr/^(\d+) \| [^|]* \| (\w+) \| ($NA) \| ($NA) \| ($NA) \| ($NA) \| ($PA) \|(?: ($NA) \|)?$/, sub { my ($c, $release, $status) = @_; return (undef, undef, release($c, $release, $status)); });
rule(qr/^Certificate/, qr/^SHA-256(?: of \S+)? \| ([0-9a-f]{64})/, sub { my ($c) = @_; return $c->{hashes}; });
rule(qr//, qr/SHA-256 of the rows: ([0-9a-f]{64})/, sub { my ($c) = @_; return $c->{hashes}; });
rule(qr/^$/, qr/^SHA-256(?: of \S+)? \| ([0-9a-f]{64})/, sub { my ($c) = @_; return $c->{hashes}; });
rule(qr/^Certificate/, qr/kanon ($N); this page by PostgreSQL (.*) \|/, sub { my ($c) = @_; return ($c->value("SELECT extversion FROM pg_extension WHERE extname = 'kanon'"), $c->value('SELECT current_setting(\'server_version\')')); });
rule(qr/^Certificate/, qr/read ([\d.]+ \w+) ?, solve ([\d.]+ \w+) ?, write ([\d.]+ \w+) ?, check ([\d.]+ \w+)/, sub { my ($c) = @_; return map { time_of($c->told($_)) } qw(read_ms solve_ms write_ms verify_ms); });
rule(qr/^Certificate/, qr/^([a-z]\w*) \| (.*) \|$/, sub { my ($c, $option, $value) = @_; my %other = (gap => 0, effort => 1, time_limit => '00:01:00', keep_releases => 1, k => $c->{k}, level_cost => 1); return (undef, option_is($c, $option, $value) ? $value : "not of the call ($option)"); });

# ---- linked ----
rule(qr/tables/, qr/^(?:public\.)?(\w+) \| (?:linked\.)?(\w+) \| ([\w ]+) \| ([\w ]*)\| ($N) \| ($N) \| (as it was|$P) \| (\d*) \|/, sub { my ($c, $t) = @_; return (undef, undef, undef, undef, commas($c->value("SELECT count(*) FROM $t")), commas($c->value("SELECT count(*) FROM linked.$t")), undef, undef); });
rule(qr/tables/, qr/(subject|rows), ($N) rows$/, sub { my ($c, $role) = @_; return (undef, commas($c->value('SELECT count(*) FROM linked.' . ($role eq 'subject' ? 'who' : 'stay')))); });
rule(qr//, qr/those of (?:at most )?(\d) rows? of the person|(\d) rows? of the person in each other table/, sub { return (1, 1); });
rule(qr//, qr/Either at least ($N) persons of the release fit/, sub { my ($c) = @_; return linked_least($c) >= $c->{k} ? $c->{k} : 'fewer'; });
rule(qr//, qr/At least ($N) persons were promised/, sub { my ($c) = @_; return $c->{k}; });
rule(qr//, qr/The smallest class has ($N) persons(?:, and the rarest combination of rows ($N))?/, sub { my ($c) = @_; return (commas($c->value('SELECT min(n) FROM (SELECT count(*) AS n FROM linked.who GROUP BY age, sex) g')), commas(linked_rarest($c))); });
rule(qr//, qr/again for this page: ($N) combinations of rows, the rarest of ($N) persons/, sub { my ($c) = @_; return (commas(linked_combinations($c)), commas(linked_rarest($c))); });
rule(qr//, qr/($N) persons? ha(?:s|ve) (?:a number|numbers) of rows that nobody else/, sub { my ($c) = @_; return commas($c->value('SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY age, sex, n) AS alike FROM (SELECT w.age, w.sex, w.person, (SELECT count(*) FROM linked.stay s WHERE s.person = w.person) AS n FROM linked.who w) x) y WHERE alike = 1')); });
rule(qr//, qr/have at least ($N) different values of it/, sub { my ($c) = @_; return undef; });
rule(qr//, qr/such an attacker finds, ($P) have the same value at most/, sub { my ($c) = @_; return undef; });

# ---- what these count ----

sub trimmed { my ($n) = @_; return defined $n ? sprintf('%.4f', $n) + 0 : undef; }
sub share1 { my ($s) = @_; return [ map { sprintf('%.1f %%', 100 * $s + $_) } 0, 1e-7, -1e-7 ]; }
sub time_of { my ($ms) = @_; return $ms >= 120000 ? sprintf('%.1f min', $ms / 60000) : $ms >= 1000 ? sprintf('%.1f s', $ms / 1000) : sprintf($ms < 10 ? '%.1f ms' : '%.0f ms', $ms); }

sub persons_in_class { my ($c, $column) = @_; return $c->value('SELECT min(d) FROM ' . classes_with($c, $column) . ' g'); }

# of persons who are not in the table the rows of the source that a class may be of; a kept person is counted
sub persons_kept
{
	my ($c) = @_;
	return $c->{k} if !grep { $_ eq 'person' || $_ eq 'id' } @{ $c->{kept} };
	my $by = join(', ', map { "o.$_" } @{ $c->{qis} });
	my $who = (grep { $_ eq 'person' } @{ $c->{kept} }) && !$c->{masked}{person} ? 'o.person' : $c->{masked}{id} ? return $c->{k} : '(SELECT e.person FROM everyone e WHERE e.id = o.id LIMIT 1)';
	my $least = $c->value("SELECT min(n) FROM (SELECT count(DISTINCT $who) AS n FROM out o WHERE NOT (" . blank_where($c) . ") GROUP BY $by) g");
	return !defined $least || $least >= $c->{k} ? $c->{k} : "fewer: $least";
}

sub matches_at_least
{
	my ($c, $of) = @_;
	my $fits = join(' AND ', map { '(' . $c->stands($_) . ')' } @{ $c->{qis} });
	# (a NULL of the source is matched by a NULL alone, or by an empty cell)
	my ($a, $b) = $of eq 'rows' ? ('src s', 'out t') : ('out t', 'src s');
	my $least = $c->value("SELECT min(n) FROM (SELECT (SELECT count(*) FROM $b WHERE $fits) AS n FROM $a) g");
	return $least >= $c->{k} ? $c->{k} : "fewer: $least";
}

sub items_at_least
{
	my ($c) = @_;
	my $least = $c->value('SELECT min(n) FROM (SELECT count(*) AS n FROM (SELECT ARRAY[x] AS s FROM out t, unnest(t.items) x UNION ALL SELECT ARRAY[x, y] FROM out t, unnest(t.items) x, unnest(t.items) y WHERE x < y) a GROUP BY s) g');
	return (2, !defined $least || $least >= $c->{k} ? $c->{k} : "fewer: $least");
}

sub groups_values { my ($c) = @_; my $l = $c->value('SELECT min(n) FROM (SELECT count(*) AS n FROM out_values GROUP BY kanon_group) g'); return $l >= 2 ? 2 : "fewer: $l"; }
sub groups_l { my ($c) = @_; my $l = $c->value('SELECT min(n / most::float8) FROM (SELECT sum(kanon_count) AS n, max(kanon_count) AS most FROM out_values GROUP BY kanon_group) g'); return $l >= 2 - 1e-9 ? 2 : "fewer: $l"; }

# The source as the release was made of it; with persons held back only the record knows these rows.
sub before
{
	my ($c, $what) = @_;
	return $figure{$what}->($c, 'source') if !$c->{held};
	my %column = ('Rows that stand alone' => 'unique_rows', 'Rows in classes below k' => 'below_k', 'Their share' => 'share_below_k', 'Smallest class' => 'k', 'Highest risk' => 'prosecutor_highest', 'Average risk' => 'prosecutor_average', Classes => 'classes', 'Empty rows' => 'blank_rows');
	my $is = $c->value("SELECT $column{$what} FROM kanon_run_risk WHERE run = $c->{run} AND stage = 'source'");
	return $what =~ /share|risk/ ? risk($is) : commas($is);
}

# a level of a hierarchy matches by what it stands for
sub population_least
{
	my ($c) = @_;
	my $fits = join(' AND ', map { '(' . $c->stands($_) . ')' } @{ $c->{qis} });
	return $c->value("SELECT min(n) FROM (SELECT (SELECT count(*) FROM pop s WHERE $fits) AS n FROM (SELECT DISTINCT " . join(', ', @{ $c->{qis} }) . ' FROM out WHERE NOT ' . blank_where($c) . ') t) g') // $c->{k};
}

sub presence
{
	my ($c) = @_;
	# of siblings one by one a label stands for what has no finer one
	my $fits = join(' AND ', map { '(' . $c->stands($_) . ')' } @{ $c->{qis} });
	my $row = $c->{db}->rows("SELECT min(share) AS low, max(share) AS high FROM (SELECT n / nullif((SELECT count(*) FROM pop s WHERE $fits), 0)::float8 AS share FROM (SELECT " . join(', ', @{ $c->{qis} }) . ', count(*) AS n FROM out WHERE NOT ' . blank_where($c) . ' GROUP BY ' . join(', ', @{ $c->{qis} }) . ') t) g')->[0];
	return @$row{qw(low high)};
}

sub few_known
{
	my ($c) = @_;
	my ($least) = $c->value("SELECT rows_below_k FROM kanon_check('out', '{" . join(',', @{ $c->{qis} }) . "}', $c->{options}{known_columns}, $c->{k}, missing => '" . ($c->{marked} && $c->{options}{missing} eq 'value' ? 'marked' : $c->{options}{missing}) . "') ORDER BY 1 DESC LIMIT 1");
	return $least ? "some fewer" : $c->{k};
}

sub ends_of_few
{
	my ($c, $column) = @_;
	my $type = $c->type($column);
	my $ends = $type =~ /\[\]$/ ? $column : "ARRAY[lower($column), CASE WHEN upper_inc($column) THEN upper($column) ELSE upper($column) - 1 END]";
	my $whom = ($c->{rule} // '') eq 'subject' || $c->{options}{key} ? 'count(DISTINCT person)' : 'count(*)';
	return $c->value("SELECT count(*) FROM (SELECT $ends AS ends FROM out WHERE $column IS NOT NULL) t WHERE ends[1] IS DISTINCT FROM ends[cardinality(ends)] AND EXISTS (SELECT FROM unnest(ends) e WHERE e IS NOT NULL AND (SELECT $whom FROM $c->{source} s WHERE s.$column = e) < $c->{k})");
}

# cells that are empty though the method did not empty them: a mark tells; without one they are at most those of rows without a value
sub no_value
{
	my ($c, $column, $n) = @_;
	my ($place) = grep { $c->{qis}[ $_ - 1 ] eq $column } 1 .. @{ $c->{qis} };
	return commas($c->value("SELECT count(*) FROM out WHERE $column IS NULL AND substr(kanon_pattern, $place, 1) <> '*'")) if $c->{marked};
	return undef if $c->{part} || $c->{held} || $c->{kind} eq 'freeform';
	my $all = $c->value("SELECT count(*) FROM src WHERE $column IS NULL");
	my $is = $c->value("SELECT nulls FROM kanon_columns WHERE run = $c->{run} AND column_name = '$column'");
	return $is <= $all ? commas($is) : "at most $all";
}

# rows that show nothing aside
sub shown_sizes
{
	my ($c, $side) = @_;
	my $by = join(', ', @{ $c->{qis} });
	my $mark = $side eq 'target' && $c->{marked} ? ', kanon_pattern' : '';
	return $c->list("SELECT count(*) AS v FROM $c->{$side} WHERE num_nonnulls($by) > 0 GROUP BY $by$mark");
}

sub sensitive
{
	my ($c, $column) = @_;
	my $qis = join(',', @{ $c->{qis} });
	my %m;
	my $by = join(', ', @{ $c->{qis} }, $c->{marked} ? 'kanon_pattern' : ());
	my $p = "(SELECT k.class, v.value, coalesce(f.n, 0)::float8 / k.n AS p, v.n::float8 / (SELECT count(*) FROM out) AS q
		FROM (SELECT dense_rank() OVER (ORDER BY $by) AS class, count(*) AS n FROM out GROUP BY $by) k
		CROSS JOIN (SELECT $column AS value, count(*) AS n FROM out GROUP BY 1) v
		LEFT JOIN (SELECT class, value, count(*) AS n FROM (SELECT dense_rank() OVER (ORDER BY $by) AS class, $column AS value FROM out) r GROUP BY 1, 2) f ON f.class = k.class AND f.value IS NOT DISTINCT FROM v.value)";
	my $row = $c->{db}->rows("SELECT min(d) AS d, min(exp(e)) AS e, max(top) AS top, max(t) AS t, max(o) AS o, min(CASE WHEN rest > 0 THEN NULL ELSE 1 END) AS none, max(CASE WHEN rest > 0 THEN top / rest END) AS cl FROM (
		SELECT class, count(*) FILTER (WHERE p > 0) AS d, -sum(CASE WHEN p > 0 THEN p * ln(p) ELSE 0 END) AS e, max(p) AS top, sum(abs(p - q)) / 2 AS t, sum(p) - max(p) AS rest,
			sum(abs(c)) / nullif(count(*) - 1, 0) AS o FROM (SELECT x.*, sum(p - q) OVER (PARTITION BY class ORDER BY value) AS c FROM $p x) x GROUP BY class) g")->[0];
	return (commas($row->{d}), number($row->{e}), $row->{none} ? 'n/a' : number($row->{cl}), risk($row->{top}), number($row->{t}), defined $row->{o} ? number($row->{o}) : [ '0', 'n/a' ]);
}

sub pattern
{
	my ($c, $p) = @_;
	my $row = $c->{db}->rows("SELECT sum(row_count) AS n, count(*) AS classes, sum(suppressed_cells) AS cells FROM kanon_equivalence_classes WHERE run = $c->{run} AND pattern = '$p' AND class IS NOT NULL")->[0];
	# the table's own marks say the same
	my $n = $c->{marked} ? $c->value("SELECT count(*) FROM out WHERE kanon_pattern = '$p'") : $row->{n};
	return (commas($n), share($n / $c->rows('target')), commas($row->{classes}), commas(($p =~ tr/*//) * $n));
}

sub compared
{
	my ($c) = @_;
	my @keep = @{ $c->{compared_kept} };
	return $c->{compared} //= $c->{db}->rows("SELECT * FROM kanon_compare('$c->{source_name}', '$c->{target_name}', '{" . join(',', @{ $c->{qis} }) . "}', keep => '{" . join(',', @keep) . "}', queries => 1000, selectivity => 0.05, seed => 1)");
}

sub spread
{
	my ($c, $column) = @_;
	my %m = map { ($_->{measure} => $_) } grep { ($_->{column_name} // '') eq $column } @{ compared($c) };
	my $from = $c->spread($column);
	my $number = $column eq 'seen' ? 'extract(epoch FROM value)::float8' : 'value::float8';
	my $row = $c->{db}->rows("SELECT 1 - sum(least(p, q)) AS distance, sum(p * $number) FILTER (WHERE value IS NOT NULL) / sum(p) FILTER (WHERE value IS NOT NULL) AS before,
		sum(q * $number) FILTER (WHERE value IS NOT NULL) / nullif(sum(q) FILTER (WHERE value IS NOT NULL), 0) AS after FROM $from x")->[0];
	return $column eq 'seen' ? (share($row->{distance}), (undef) x 5)
	  : (share($row->{distance}), number($row->{before}), number($row->{after}), number($m{mean_of_shown_cells}{after}), number($m{standard_deviation}{before}), number($m{standard_deviation}{after}));
}

# the rows of a bar, as a condition
sub bar_where
{
	my ($bar) = @_;
	return $bar eq '(empty)' ? 'value IS NULL' : $bar =~ /^(\d+) to (\d+)$/ ? "value::float8 BETWEEN $1 AND $2" : $bar =~ /^(\d+) or more$/ ? "value::float8 >= $1" : $bar =~ /^below (\d+)$/ ? "value::float8 < $1"
	  : $bar =~ /^([\d-]{10}) to ([\d-]{10})$/ ? "value::date BETWEEN '$1' AND '$2'" : undef;
}

# of the rows that are missing those of the bar that lost most
sub of_one_bar
{
	my ($c, $column) = @_;
	my ($n, $m) = ($c->rows('source'), $c->rows('target'));
	my ($most) = sort { $b <=> $a } map { my $where = bar_conditions($c, $column)->{$_}; $c->value("SELECT sum(p) FILTER (WHERE $where) * $n - sum(q) FILTER (WHERE $where) * $m FROM " . $c->spread($column) . ' x') // 0 } @{ $c->{bars}{$column} };
	return [ map { sprintf('%.0f', 100 * ($most / ($n - $m) > 1 ? 1 : $most / ($n - $m)) + $_) } 1e-7, -1e-7 ];
}

# a bar of the figure, as a share of all that are in it
sub bar
{
	my ($c, $bar) = @_;
	my $column = $c->{bar_of};
	return (undef, undef) if !defined $column;
	my %where = %{ bar_conditions($c, $column) };
	my $row = $c->{db}->rows("SELECT sum(p) FILTER (WHERE $where{$bar}) / sum(p) FILTER (WHERE b) AS a, sum(q) FILTER (WHERE $where{$bar}) / nullif(sum(q) FILTER (WHERE b), 0) AS b FROM (SELECT *, " . join(' OR ', map { "coalesce(($_), false)" } values %where) . ' AS b FROM ' . $c->spread($column) . ' y) x')->[0];
	return map { share($_) } @$row{qw(a b)};
}

# the rows of each bar
sub bar_conditions
{
	my ($c, $column) = @_;
	my @bars = @{ $c->{bars}{$column} };
	my %where = map { ($_ => /^all / ? undef : $_ ne '(empty)' && $c->{$column eq 'age' || $column eq 'income' || $column eq 'seen' ? 'ranges' : 'none'} ? bar_where($_) // "value::text = '$_'" : $_ eq '(empty)' ? 'value IS NULL' : "value::text = '$_'") } @bars;
	my @alone = map { "($_)" } grep { defined } values %where;
	# the others are all others
	$where{$_} //= 'coalesce(NOT (' . join(' OR ', @alone, 'false') . '), true)' for @bars;
	return \%where;
}

sub frontier
{
	my ($c, $k) = @_;
	return $c->{frontier}{$k} // {};
}

sub class_of
{
	my ($c, $shown, $pattern) = @_;
	my $list = join(', ', map { "'$_', $_" } @{ $c->{qis} });
	$shown =~ s/'/''/g;
	return count_shown($c, $shown, $pattern, "SELECT count(*) FROM out WHERE jsonb_build_object($list) @> '$shown'" . ($c->{marked} ? " AND kanon_pattern = '$pattern'" : '')
		. join('', map { my $q = $c->{qis}[$_]; substr($pattern, $_, 1) eq '*' ? " AND $q IS NULL" : substr($pattern, $_, 1) eq '-' && $shown =~ /"$q": null/ ? " AND $q IS NULL" : '' } 0 .. $#{ $c->{qis} }));
}

# a NULL that is shown and an empty cell look alike without a mark: then the class is at most what a reader sees
sub count_shown
{
	my ($c, $shown, $pattern, $sql) = @_;
	my $n = $c->value($sql);
	return $n if $c->{marked} || $shown !~ /null/ && !$c->{nulls};
	my $is = $c->value("SELECT row_count FROM kanon_equivalence_classes WHERE run = $c->{run} AND pattern = '$pattern' AND shown = '$shown'");
	return defined $is && $is <= $n ? $is : $n;
}

sub release
{
	my ($c, $release, $status) = @_;
	my $line = $c->{db}->rows("SELECT * FROM kanon_releases WHERE release = $release AND status = '$status'")->[0];
	return (commas($c->rows('target')), commas(Count::least(@{ $c->sizes('target') })), number($line->{cost}), number($line->{cost} / $c->rows('target')), share($c->told('gcp')), undef) if $status eq 'current';
	my $rows = $line->{relation} && $c->{db}->rows("SELECT count(*) AS n FROM $line->{relation}")->[0]{n};
	my $k = $line->{relation} && $c->{db}->rows("SELECT min(n) AS k FROM (SELECT count(*) AS n FROM $line->{relation} GROUP BY " . join(', ', @{ $c->{qis} }) . ') g')->[0]{k};
	return ($rows ? commas($rows) : undef, commas($k), number($line->{cost}), number($line->{row_count} ? $line->{cost} / $line->{row_count} : undef), undef, undef);
}

sub option_is
{
	my ($c, $option, $value) = @_;
	return 1 if $value !~ /\d/;
	my @numbers = $value =~ /\d+(?:\.\d+)?/g;
	my %own = (gap => 0, effort => 1, time_limit => '00:01:00', keep_releases => $c->{keep_releases} // 1, m => 2, p => 2, d => 0.1, gamma => 0.5, delta => 0.01, k => $c->{k}, l => 2, t => 3, class_size => $c->{k}, known_rows => 1, min_batch => 2 * $c->{k});
	return $own{$option} eq $value if defined $own{$option};
	return !grep { !of_call($c, $_) } grep { !/^0+$/ } @numbers;
}

sub linked_combinations { my ($c) = @_; return $c->value('SELECT count(*) FROM (SELECT DISTINCT w.age, w.sex, s.zip FROM linked.who w JOIN linked.stay s USING (person)) x'); }
sub linked_rarest { my ($c) = @_; return $c->value('SELECT min(n) FROM (SELECT count(DISTINCT person) AS n FROM linked.who w JOIN linked.stay s USING (person) GROUP BY w.age, w.sex, s.zip) x'); }
sub linked_least { my ($c) = @_; return $c->value('SELECT least((SELECT min(n) FROM (SELECT count(DISTINCT person) AS n FROM linked.who w JOIN linked.stay s USING (person) GROUP BY w.age, w.sex, s.zip) x), (SELECT min(n) FROM (SELECT count(*) AS n FROM linked.who GROUP BY age, sex) y))') // $c->{k}; }

# ---- a line of a page ----

# What is wrong with it; and what nobody counted is left with its digits.
sub look
{
	my ($c, $heading, $line) = @_;
	my @wrong;
	my $left = $line;
	my %names = map { ($_ => 1) } qw(zip2);
	($c->{column}) = $line =~ /kept column (\w+)/;
	for my $rule (@rules)
	{
		my ($where, $pattern, $counts) = @$rule;
		next if $heading !~ $where;
		while ($line =~ /$pattern/g)
		{
			my @place = map { [ $-[$_], $+[$_] ] } 1 .. $#-;
			my @is = map { defined $_->[0] ? substr($line, $_->[0], $_->[1] - $_->[0]) : undef } @place;
			my @should = eval { $counts->($c, @is) };
			push @wrong, "$line: $@" if $@;
			for my $i (0 .. $#is)
			{
				next if !defined $is[$i];
				my $want = $should[$i];
				my @any = ref $want ? @$want : $want;
				$c->{counted}++ if defined $want;
				push @wrong, "\"$is[$i]\" should be \"" . join('" or "', map { $_ // 'none' } @any) . "\": $line" if defined $want && !grep { defined && same($is[$i], $_) } @any;
				substr($left, $place[$i][0], $place[$i][1] - $place[$i][0]) =~ s/\d/#/g;
			}
		}
	}
	return ($left, @wrong);
}

sub same { my ($a, $b) = @_; return 1 if $a eq $b; return $a =~ /^-?[\d.]+$/ && $b =~ /^-?[\d.]+$/ && $a == $b; }

1;
