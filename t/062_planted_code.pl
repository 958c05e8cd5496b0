# Guards 12 and 23: code stands at every place that a query could call, one to four levels below what is read: in a view, a
# policy, an index, a check, statistics, a partition key or a child; as a function, an operator, a member of an operator's
# families, a cast, a domain, a part of an aggregate, a type's function (KanonPlants.pm has all kinds).  While all of it
# is the reader's own, nothing is refused.  Then the code is given to another role, and everything that reads is called:
# it is refused, or the code did not run.  Every kind is walked once, with places and levels in turn.
#   KANON_PLANTED=5 KANON_SEED=7          five walks from another beginning, with every publication in each case
#   KANON_PLANTED="operator domain"       these kinds alone, at each of their places
# test/mutants/run look takes each branch of the look out: this test has to fail.
use strict;
use warnings;
no warnings 'redundant';
use Test::More;
use KanonNode;
use KanonPlants;
use PostgreSQL::Test::Utils;

my $wanted = $ENV{KANON_PLANTED} // 1;
my $seed = $ENV{KANON_SEED} // 1;
my $brief = $wanted eq '1' || $ENV{KANON_BRIEF};
my $node = KanonNode::start('main', conf => "autovacuum = off\nkanon.skip_unchanged = on\nclient_min_messages = error\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner LOGIN;
CREATE ROLE enemy LOGIN;
CREATE SCHEMA own AUTHORIZATION owner;
CREATE SEQUENCE public.ran;
GRANT ALL ON public.ran TO PUBLIC;
GRANT CREATE ON DATABASE postgres TO owner;
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
GRANT USAGE ON FOREIGN SERVER files TO PUBLIC;
-- the SQLSTATE of a statement, whose work is undone
CREATE FUNCTION public.said(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE statement;
        RAISE EXCEPTION USING ERRCODE = 'UNDO1';
    EXCEPTION WHEN OTHERS THEN
        RETURN CASE SQLSTATE WHEN 'UNDO1' THEN '00000' ELSE SQLSTATE END || CASE WHEN SQLERRM ~ ' is not written: ' THEN ' not written' ELSE '' END;
    END;
END $$;
CREATE FUNCTION public.refreshed(name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT coalesce(error, status) FROM kanon_refresh(name));
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || CASE WHEN SQLERRM ~ ' is not written: ' THEN ' not written' ELSE '' END;
END $$;
CREATE FUNCTION public.runs() RETURNS bigint LANGUAGE sql AS 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.ran';
-- why a relation is not read, by the look alone
CREATE FUNCTION public.look(relation regclass) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(min(r.why_not), '') FROM pg_class c, kanon_internal.kanon_recorded(jsonb_build_array(jsonb_build_object('part', 'target',
        'name', format('%I.%I', c.relnamespace::regnamespace, c.relname), 'oid', c.oid::text, 'kind', c.relkind, 'owner', c.relowner::oid::text))) r
    WHERE c.oid = $1
$$;
E
$node->safe_psql('postgres', <<'E', extra_params => [ '-U', 'owner' ]);
CREATE TABLE own.person AS SELECT i AS id, i % 4 AS a, i % 3 AS b FROM generate_series(1, 60) i;
ALTER TABLE own.person ADD PRIMARY KEY (id);
CREATE TABLE own.visit AS SELECT i AS id, i % 60 + 1 AS person, i % 3 AS b FROM generate_series(1, 120) i;
ALTER TABLE own.visit ADD FOREIGN KEY (person) REFERENCES own.person;
CREATE TABLE own.levels AS SELECT i AS value, i / 2 AS level1, 0 AS level2 FROM generate_series(0, 3) i;
CREATE TABLE own.given AS SELECT 'a' AS column_name, '1' AS value, 1::bigint AS row_count LIMIT 0;
DO $$ BEGIN PERFORM kanon_pattern_guided('own.person', 'own.shown', '{a,b}', 3); END $$;
E

# ---- everything that reads: %1$s is the relation, %1$s_h a hierarchy of its column a, %2$s their schema ----

my @reads = map { "SELECT * FROM $_" } split /\n/, <<'E';
kanon_check('%1$s', '{a,b}')
kanon_check('%1$s', '{a,b}', known_columns => 1)
kanon_check_freeform('%1$s', 'own.shown', '{a,b}', 2)
kanon_check_freeform('own.person', '%1$s', '{a,b}', 2)
kanon_check_hierarchy('%1$s_h', 'own.person', 'a')
kanon_check_hierarchy('own.levels', '%1$s', 'a')
kanon_check_transactions('%1$s', 'b', transaction => 'id')
kanon_checksum('%1$s')
kanon_check_linked('%2$s.subject', '{"%2$s.subject": {"quasi_identifiers": ["a"]}, "%2$s.event": {"quasi_identifiers": ["b"]}}', 2)
kanon_risk('%1$s', '{a,b}')
kanon_risk('own.person', '{a,b}', population => '%1$s')
kanon_risk_columns('%1$s', '{a,b}')
kanon_suggest('%1$s')
kanon_suggest_call('%1$s')
kanon_suggest_call('%1$s', linked => true)
kanon_suggest_call('%2$s.event', linked => true)
kanon_special_uniques('%1$s', '{a,b}', 'id')
kanon_attack('%1$s', 'own.shown', 'id', '{a}')
kanon_attack('own.person', '%1$s', 'id', '{a}')
kanon_compare('%1$s', 'own.shown', '{a,b}')
kanon_compare('own.person', '%1$s', '{a,b}')
kanon_distributions('%1$s', 'own.shown', '{a,b}', 3)
kanon_distributions('own.person', '%1$s', '{a,b}', 3)
kanon_isolation('%1$s', 'own.person', '{a,b}', 2, 3)
kanon_isolation('own.person', '%1$s', '{a,b}', 2, 3)
kanon_pattern_guided('%1$s', NULL, '{a,b}', 3, dry_run => true)
kanon_pattern_guided('%1$s', 'own.target', '{a,b}', 3)
kanon_pattern_guided('own.person', NULL, '{a,b}', 3, privacy => ARRAY[kanon_k_map('%1$s')], dry_run => true)
kanon_pattern_clustering('%1$s', NULL, '{a,b}', 3, patterns => '{--,*-,-*,**}', dry_run => true)
kanon_cluster('%1$s', NULL, '{a,b}', 3, keep => '{id}', allow_identifying => '{id}', dry_run => true)
kanon_full_domain('own.person', NULL, '{a}', 3, hierarchies => '{"a": "%1$s_h"}', dry_run => true)
kanon_full_domain('%1$s', NULL, '{a}', 3, hierarchies => '{"a": "own.levels"}', dry_run => true)
kanon_subtree('%1$s', NULL, '{a}', 3, hierarchies => '{"a": "own.levels"}', dry_run => true)
kanon_freeform('%1$s', NULL, '{a,b}', 3, dry_run => true)
kanon_anatomy('%1$s', NULL, NULL, '{a}', 'b', 2, dry_run => true)
kanon_transactions('%1$s', NULL, 'b', k => 2, m => 1, transaction => 'id', dry_run => true)
kanon_frontier('%1$s', '{a,b}', '{2,3}')
kanon_estimate_bounds('%1$s', '{"a": 1}')
kanon_explain('%1$s', '{a,b}', 3)
kanon_explore('%1$s', '{a,b}', '{2}')
kanon_synthetic('%1$s', NULL, '{a,b}', 1, 1e-6, '{"a": [0, 1, 2, 3], "b": [0, 1, 2]}', dry_run => true)
kanon_alpha_beta('%1$s', NULL, '{a,b}', 0.1, 0.5, '{"a": {"from": 0, "to": 99}, "b": [0, 1, 2]}', dry_run => true)
kanon_cross_training('%1$s', NULL, '{a,b}', 3, dry_run => true)
kanon_dp('%1$s', 'count', 1)
kanon_hierarchy_interval('%1$s', 'a', 'own.intervals', '{2,4}')
kanon_hierarchy_quantile('%1$s', 'a', 'own.quantiles', '{2}')
kanon_linked('own.person', '{"own.person": {"quasi_identifiers": ["a"], "hierarchies": {"a": "%1$s_h"}}, "own.visit": {"quasi_identifiers": ["b"]}}', NULL, 3, dry_run => true)
kanon_linked('%2$s.subject', '{"%2$s.subject": {"quasi_identifiers": ["a"]}, "%2$s.event": {"quasi_identifiers": ["b"]}}', NULL, 3, dry_run => true)
kanon_linked_frontier('%2$s.subject', '{"%2$s.subject": {"quasi_identifiers": ["a"]}, "%2$s.event": {"quasi_identifiers": ["b"]}}', '{2,3}')
kanon_report((SELECT run FROM %2$s.reported WHERE NOT leveled), compare => true, read_target => true, read_population => true)
kanon_report_data((SELECT run FROM %2$s.reported WHERE leveled), compare => true, read_target => true)
E
my %publication = map { /^\w+\('%2\$s[_.](\w+)'/ ? ($1 => $_) : die } split /\n/, <<'E';
kanon_create_publication('%2$s.plain', '%1$s', '{a,b}', 3)
kanon_create_publication('%2$s.keyed', '%1$s', '{a,b}', 3, key => 'id')
kanon_create_publication('%2$s.protected', '%1$s', '{a,b}', 3, key => 'id', protect_successive => true)
kanon_create_publication('%2$s.appended', '%1$s', '{a,b}', 3, '{"keep": ["id"], "allow_identifying": ["id"]}', append => 'id', min_batch => 20)
kanon_create_publication('%2$s.leveled', 'own.person', '{a}', 3, '{"hierarchies": {"a": "%1$s_h"}}', model => 'full_domain')
kanon_create_linked_publication('%2$s_linked', '%2$s.subject', '{"%2$s.subject": {"quasi_identifiers": ["a"]}, "%2$s.event": {"quasi_identifiers": ["b"]}}', 3, private_schema => '%2$s')
kanon_create_linked_publication('%2$s_linked_leveled', 'own.person', '{"own.person": {"quasi_identifiers": ["a"], "hierarchies": {"a": "%1$s_h"}}, "own.visit": {"quasi_identifiers": ["b"]}}', 3, private_schema => '%2$s', protect_successive => true)
E

# ---- a case ----

my %walked;
sub run_sql
{
	my ($sql) = @_;
	my ($ret, $said, $errors) = $node->psql('postgres', $sql);
	diag($sql, $errors) if $ret != 0;
	return $ret == 0 ? "$said\n" : undef;
}
sub in_turn { my ($kind, @names) = @_; return $names[ ($walked{$kind}++ + $seed) % @names ]; }
sub lines { my ($said, $mark) = @_; return map { s/^\Q$mark\E\|//r } grep { /^\Q$mark\E\|/ } split /\n/, $said; }

sub run_case
{
	my ($n, $what, $where, @levels) = @_;
	my %is = KanonPlants::code($what);
	my $schema = "c_$n";
	my $name = 'r' . @levels;
	my $top = "$schema.$name";
	my $told = "$n: $what in $where" . join('', map { " in $_" } @levels);
	my $unseen = $is{unseen} || grep { $_ eq 'function' } @levels;
	my @publications = $brief ? in_turn('publication', sort keys %publication) : sort keys %publication;
	# (of a foreign table nobody knows which rows are new)
	@publications = grep { $_ ne 'appended' } @publications if $where eq 'foreign';
	my @named = map { /^linked/ ? "${schema}_$_" : "$schema.$_" } @publications;
	my $sql = $is{made} . KanonPlants::place($where, 'r0', $is{calls}) . join('', map { KanonPlants::level($levels[$_], 'r' . ($_ + 1), "r$_") } 0 .. $#levels);
	my @called = $brief ? map { in_turn('call', @reads) } 1 .. 9 : @reads;
	my $own = join('', map { my ($name) = /FROM (\w+)/; "SELECT 'own', said(\$q\$" . sprintf($_, $top, $schema) . "\$q\$), '$name';\n" } @called);
	my @altered = map { "SELECT kanon_alter_publication('$schema.$_', k => 4)" } grep { !/^linked/ } @publications;
	my $calls = join('', map { my $name = /FROM (\w+)/ ? $1 : 'alter'; "SELECT 'call', said(\$q\$" . sprintf($_, $top, $schema) . "\$q\$), runs(), '$name';\n" } @called, @altered);
	my $refresh = join('', map { "SELECT 'refresh', coalesce(error, status), runs() FROM kanon_refresh('$_');\n" } @named);
	my $create = join('', map { '    ' . ($_ =~ /^linked/ ? "CREATE SCHEMA ${schema}_$_;\n    " : '') . 'PERFORM ' . sprintf($publication{$_}, $top, $schema) . ";\n" } @publications);
	my $reported = grep({ /kanon_report/ } @called) ? <<"E" : '';
    PERFORM kanon_pattern_guided('$top', 'target', '{a,b}', 3);
    PERFORM kanon_full_domain('own.person', 'leveled_target', '{a}', 3, hierarchies => '{"a": "${top}_h"}');
E
	my ($made, $given) = map { s/SCHEMA SCHEMA/SCHEMA $schema/r =~ s/\bSCHEMA\./$schema./r } $sql, $is{given};

	my $said = run_sql(<<"E");
CREATE SCHEMA $schema AUTHORIZATION owner;
SET search_path = $schema, public;
SET SESSION AUTHORIZATION owner;
$made
CREATE VIEW ${name}_h AS SELECT DISTINCT a AS value, a / 2 AS level1, 0 AS level2 FROM $name WHERE a IS NOT NULL UNION SELECT 0, 0, 0 WHERE false;
CREATE TABLE subject AS SELECT i AS id, i % 4 AS a FROM generate_series(1, 60) i;
ALTER TABLE subject ADD PRIMARY KEY (id), ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON subject USING (id IN (SELECT s.id FROM $name s) OR id > 0);
CREATE TABLE event AS SELECT i AS id, i % 60 + 1 AS subject, i % 3 AS b FROM generate_series(1, 120) i;
ALTER TABLE event ADD FOREIGN KEY (subject) REFERENCES subject;
DO \$\$ BEGIN
$reported$create
END \$\$;
CREATE TABLE reported AS SELECT run, target LIKE '%leveled\\_target' AS leveled FROM kanon_usefulness WHERE target LIKE '$schema.%target' ORDER BY leveled LIMIT 2;
@{[ map { "SELECT 'strangers', strangers FROM $schema.${_}_publication;\n" } grep { !/^linked/ } @publications ]}
SET kanon.read_strangers = off;
SELECT 'look', look('$top');
$own
@{[ map { "SELECT 'status', status FROM kanon_refresh('$_');\n" } @named ]}
E
	my @refused = (grep({ $_ ne 'f' } lines($said, 'strangers')), grep({ $_ ne '' } lines($said, 'look')), grep({ !/^00000/ && !/kanon_dp$/ } lines($said, 'own')), grep({ !/^(current|unchanged)$/ } lines($said, 'status')));
	is("@refused", '', "$told: one's own is not refused");
	return fail("$told: it is made") if !defined $said;
	my $then = run_sql(<<"E");
SET search_path = $schema, public;
$given
SELECT setval('public.ran', 1, false);
SET search_path = public;
SET SESSION AUTHORIZATION owner;
SET kanon.read_strangers = off;
SELECT 'look', 'not', look('$top');
$calls${refresh}RESET SESSION AUTHORIZATION;
RESET kanon.read_strangers;
$refresh
SET kanon.read_strangers = off;
$calls
\\set ON_ERROR_STOP off
CALL kanon_refresh_all();
\\set ON_ERROR_STOP on
SELECT 'schedule', '', runs();
SET client_min_messages = error;
@{[ $is{after} // '' ]}
@{[ map { "SELECT kanon_drop_publication('$_');\n" } @named ]}
DROP SCHEMA $schema CASCADE;
E
	return fail("$told: it is given away") if !defined $then;
	$said .= $then;
	my @ran = grep { !/\|0(\||$)/ } map { lines($said, $_) } 'call', 'refresh', 'schedule';
	is("@ran[0 .. ($#ran < 1 ? $#ran : 1)]", '', "$told: another role's does not run");
	if (!$unseen)
	{
		# one of those that were given away, or what was asked for itself
		my $culprits = join('|', map { "\Q$_\E" } $is{given} =~ /^ALTER \w+ (?:public\.)?(\w+)/mg);
		like($said, $top eq "$schema.r0" ? qr/^look\|not\|./m : qr/^look\|not\|.*\b(?:$culprits)\b/m, "$told: and is seen, by its name");
		my @not = grep { !/^42501\|/ && !/^00000\|0\|kanon_report/ && !/kanon_dp$/ } map { lines($said, $_) } 'call', 'refresh';
		is("@not[0 .. ($#not < 1 ? $#not : 1)]", '', "$told: by everything that reads");
	}
	diag($sql, $is{given}, $said) if $ENV{KANON_TELL} && !Test::More->builder->is_passing;
	return;
}

# ---- what a refresh writes to ----

my $quiet = "CREATE FUNCTION quiet() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';\n";
my %written = (
	trigger => [ "CREATE FUNCTION f(int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true';\n" . KanonPlants::function('tells()', 'trigger', 'NEW', 'VOLATILE') . "CREATE TRIGGER x BEFORE INSERT OR UPDATE ON TABLE FOR EACH ROW EXECUTE FUNCTION tells();\n", 'tells()' ],
	condition => [ KanonPlants::function('f(int)', 'boolean', 'true') . $quiet . "CREATE TRIGGER x BEFORE INSERT OR UPDATE ON TABLE FOR EACH ROW WHEN (f(1)) EXECUTE FUNCTION quiet();\n", 'f(int)' ],
	default => [ KanonPlants::function('f(int)', 'boolean', 'true') . "ALTER TABLE TABLE ADD COLUMN extra boolean DEFAULT f(1);\n", 'f(int)' ],
	check => [ KanonPlants::function('f(int)', 'boolean', 'true') . "ALTER TABLE TABLE ADD CHECK (f(1));\n", 'f(int)' ],
	index => [ KanonPlants::function('f(int)', 'boolean', 'true') . "CREATE INDEX ON TABLE ((CASE WHEN f(1) THEN 1 END));\n", 'f(int)' ],
);

sub run_written
{
	my ($n, $what, $table) = @_;
	my ($schema, $told) = ("w_$n", "$n: $what of the written table $table");
	my ($made, $given) = @{ $written{$what} };
	my $reads = 'SET kanon.skip_unchanged = off;';
	$made =~ s/ON TABLE|ALTER TABLE TABLE/($& =~ s{TABLE$}{$table}r)/ge;
	my $said = run_sql(<<"E");
CREATE SCHEMA $schema AUTHORIZATION owner;
SET search_path = $schema, public;
SET SESSION AUTHORIZATION owner;
DO \$\$ BEGIN PERFORM kanon_create_publication('$schema.pub', 'own.person', '{a,b}', 3); END \$\$;
$made
SET kanon.read_strangers = off;
$reads
SELECT 'status', status FROM kanon_refresh('$schema.pub');
RESET SESSION AUTHORIZATION;
ALTER FUNCTION $given OWNER TO enemy;
SELECT setval('public.ran', 1, false);
SET SESSION AUTHORIZATION owner;
SELECT 'refresh', refreshed('$schema.pub'), runs();
SELECT 'alter', said('SELECT kanon_alter_publication(''$schema.pub'', k => 4)'), runs();
RESET SESSION AUTHORIZATION;
SELECT 'refresh', refreshed('$schema.pub'), runs();
SELECT 'alter', said('SELECT kanon_alter_publication(''$schema.pub'', k => 4)'), runs();
E
	return fail("$told: it is made") if !defined $said;
	is(join(' ', lines($said, 'status')), 'current', "$told: one's own is not refused");
	is(join(' ', grep { !/\|0$/ } lines($said, 'refresh'), lines($said, 'alter')), '', "$told: another role's does not run");
	# (the history is not written by an alteration, and before a table is written it is read)
	my $by = $table eq 'pub_publication' ? 'alter' : 'refresh';
	my $how = $what =~ /^(trigger|condition|default)$/ ? '42501 not written' : '42501';
	is(join(' ', grep { !/^$how\|0/ } lines($said, $by)), '', "$told: and is refused before it is written");
	return;
}

# ---- walks ----

my @cases;
my $walks = $wanted =~ /^\d+$/ ? $wanted : 0;
foreach my $one ($walks ? () : split ' ', $wanted)
{
	my ($what, $where, @levels) = split /@/, $one;
	if ($written{$what}) { push @cases, [ \&run_written, $what, $where ]; next; }
	push @cases, [ \&run_case, $what, $_, @levels ] foreach $where // KanonPlants::places(KanonPlants::code($what));
}
foreach my $walk (1 .. $walks)
{
	foreach my $what (KanonPlants::codes())
	{
		my @places = KanonPlants::places(KanonPlants::code($what));
		# the places that few kinds can have come first
		my ($where) = sort { ($walked{$a} // 0) <=> ($walked{$b} // 0) } map { $places[ ($_ + $seed + $walk) % @places ] } 0 .. $#places;
		$walked{$where}++;
		push @cases, [ \&run_case, $what, $where, map { in_turn('level', KanonPlants::levels()) } 1 .. $walked{case}++ % 4 ];
	}
	foreach my $what (sort keys %written) { push @cases, [ \&run_written, $what, in_turn('written', 'pub_publication', 'pub_history') ]; }
}
is(join(' ', grep { !$walked{$_} } KanonPlants::all_places()), '', 'every place is walked') if $walks;
foreach my $i (0 .. $#cases) { my ($run, @of) = @{ $cases[$i] }; $run->($i + 1, @of); }

$node->stop;
done_testing();
