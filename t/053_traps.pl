# What a role's records, definitions and comments name is replaced by a trap: something that runs a
# function of that role as whoever reads it.  Then others with more rights (a superuser, a member of
# the role, the role itself where a population is somebody else's) call every function and read every
# view.  No trap springs.
use strict;
use warnings;
use Test::More;
use KanonNode;
use Time::HiRes qw(time);

my $node = KanonNode::start('main');
my $major = $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int / 10000");

$node->safe_psql('postgres', <<'E');
CREATE ROLE mallory LOGIN;
CREATE ROLE donor LOGIN;
CREATE ROLE officer LOGIN IN ROLE mallory;
E

# ---- traps ----

# Each takes a relation of its owner's, and leaves a trap in its place.
my %traps = (
	view => 'ALTER TABLE %1$s RENAME TO %2$s_was; CREATE VIEW %1$s AS SELECT * FROM %2$s_was WHERE %3$s_trap()',
	materialized_index => 'ALTER TABLE %1$s RENAME TO %2$s_was; CREATE MATERIALIZED VIEW %1$s AS SELECT * FROM %2$s_was; CREATE INDEX ON %1$s ((1)) WHERE %3$s_folded(1)',
	policy => 'ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON %1$s USING (%3$s_trap())',
	index => 'CREATE INDEX ON %1$s ((1)) WHERE %3$s_folded(1)',
	index_expression => 'CREATE INDEX ON %1$s ((%3$s_folded(2)))',
	operator => 'CREATE INDEX ON %1$s ((1)) WHERE OPERATOR(%3$s.@@@) 1',
	statistics => 'CREATE STATISTICS %3$s.%2$s_stats ON (%3$s_folded(3)), a FROM %1$s',
	domain => 'CREATE DOMAIN %3$s.%2$s_domain AS int; CREATE INDEX ON %1$s ((1::%3$s.%2$s_domain)); ALTER DOMAIN %3$s.%2$s_domain ADD CHECK (%3$s_folded(8)) NOT VALID',
	check => 'ALTER TABLE %1$s ADD CHECK (%3$s_folded(4))',
	child => 'CREATE TABLE %2$s_child () INHERITS (%1$s); CREATE INDEX ON %2$s_child ((1)) WHERE %3$s_folded(5)',
	other_table => 'ALTER TABLE %1$s RENAME TO %2$s_was; CREATE TABLE %1$s AS TABLE %2$s_was; CREATE INDEX ON %1$s ((1)) WHERE %3$s_folded(6)');
# until 16 a table can become a view
# (After TRUNCATE in the same transaction a server with assertions and wal_level = minimal falls.)
$traps{rule} = 'CREATE TABLE %2$s_was AS TABLE %1$s; DELETE FROM %1$s; CREATE RULE "_RETURN" AS ON SELECT TO %1$s DO INSTEAD SELECT * FROM %2$s_was WHERE %3$s_trap()' if $major < 16;

my $functions = join '', map { <<"E" } 'mallory', 'donor';
CREATE FUNCTION $_.${_}_trap() RETURNS bool LANGUAGE plpgsql COST 0.0001 AS \$\$ BEGIN
    IF current_user <> '$_' THEN RAISE WARNING 'sprung: code of $_ as %', current_user; END IF; RETURN true; END \$\$;
CREATE FUNCTION $_.${_}_folded(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql COST 0.0001 AS \$\$ BEGIN
    IF current_user <> '$_' THEN RAISE WARNING 'sprung: code of $_ as %', current_user; END IF; RETURN true; END \$\$;
ALTER FUNCTION $_.${_}_trap() OWNER TO $_;
ALTER FUNCTION $_.${_}_folded(int) OWNER TO $_;
CREATE OPERATOR $_.\@\@\@ (PROCEDURE = $_.${_}_folded, RIGHTARG = int);
ALTER OPERATOR $_.\@\@\@ (NONE, int) OWNER TO $_;
E

# ---- a database with records of mallory's ----

sub set_up
{
	my ($db) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $db OWNER mallory");
	$node->safe_psql($db, <<"E");
CREATE SCHEMA kanon; CREATE EXTENSION kanon SCHEMA kanon; GRANT USAGE ON SCHEMA kanon TO PUBLIC;
CREATE SCHEMA mallory AUTHORIZATION mallory; CREATE SCHEMA donor AUTHORIZATION donor;
GRANT USAGE ON SCHEMA mallory, donor TO PUBLIC;
$functions
CREATE SCHEMA safe; CREATE TABLE safe.persons AS SELECT i AS id, i % 5 AS a FROM generate_series(1, 100) i; ALTER TABLE safe.persons ADD PRIMARY KEY (id);
GRANT USAGE ON SCHEMA safe TO mallory; GRANT REFERENCES ON safe.persons TO mallory;
SET SESSION AUTHORIZATION donor;
SET search_path = donor;
CREATE TABLE written (n int);
CREATE TABLE pop AS SELECT i % 5 AS a, i % 3 AS b, i AS person FROM generate_series(1, 400) i;
GRANT SELECT ON pop TO mallory;
SET SESSION AUTHORIZATION mallory;
SET search_path = mallory, kanon;
CREATE TABLE src AS SELECT i AS id, i % 5 AS a, i % 3 AS b, 's' || i % 7 AS s, (1.5 * i)::float8 AS x, date '2020-01-01' + i AS d FROM generate_series(1, 200) i;
ALTER TABLE src ADD PRIMARY KEY (id);
CREATE TABLE own_pop AS SELECT a, b, id AS person FROM src;
CREATE TABLE levels AS SELECT i AS a, i / 2 AS level1 FROM generate_series(0, 4) i;
COMMENT ON TABLE src IS 'kanon: mallory.src_was';
SELECT FROM kanon_cluster('src', 't_map', '{a,b}', 3, privacy => ARRAY[kanon_k_map('own_pop')]);
SELECT FROM kanon_cluster('src', 't_donor', '{a,b}', 3, privacy => ARRAY[kanon_k_map('donor.pop')]);
SELECT FROM kanon_pattern_guided('src', 't_levels', '{a,b}', 5, keep => '{s}', hierarchies => '{"a": "levels"}');
SELECT FROM kanon_full_domain('src', 't_domain', '{a,b}', 5, hierarchies => '{"a": "levels"}');
SELECT FROM kanon_subtree('src', 't_subtree', '{a,b}', 5, hierarchies => '{"a": "levels"}');
SELECT FROM kanon_pattern_guided('src', 't_plain', '{a,b}', 5);
SELECT kanon_set_budget('src', 100, role => 'postgres');
SELECT FROM kanon_freeform('src', 't_free', '{a,b}', 5);
SELECT FROM kanon_anatomy('src', 't_anatomy', 't_sensitive', '{a,b}', 's', 2);
SELECT FROM kanon_transactions('src', 't_sets', 'a', 2, transaction => 'b');
SELECT FROM kanon_cross_training('src', 't_points', '{x}', 20);
SELECT kanon_create_publication('night', 'src', '{a,b}', 5, key => 'id', protect_successive => true, keep_releases => 5, options => '{"hierarchies": {"a": "levels"}}', model => 'full_domain');
SELECT kanon_refresh('night');
CREATE TABLE wards AS SELECT i AS id, 'ward ' || i AS name, i AS a, i AS b FROM generate_series(1, 3) i;
ALTER TABLE wards ADD PRIMARY KEY (id);
CREATE TABLE visits AS SELECT i AS id, 1 + i % 100 AS person, 1 + i % 3 AS ward, i % 2 AS a, i / 3 % 3 AS b FROM generate_series(1, 200) i;
ALTER TABLE visits ADD PRIMARY KEY (id), ADD FOREIGN KEY (person) REFERENCES safe.persons, ADD FOREIGN KEY (ward) REFERENCES wards;
GRANT SELECT ON ALL TABLES IN SCHEMA mallory TO donor;
RESET SESSION AUTHORIZATION;
E
}

# Everything of mallory's, and of the donor's, that a record names.
sub plant
{
	my ($db, $trap) = @_;
	my %names = (mallory => [ split ' ', $node->safe_psql($db, "SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'mallory'::regnamespace AND relkind IN ('r', 'v') AND relname !~ 'history|publication'") ],
		donor => ['pop']);
	my $planted = 0;

	foreach my $role (sort keys %names)
	{
		foreach my $name (@{ $names{$role} })
		{
			# a table may be in the way of some of them
			my ($ret) = $node->psql($db, "SET search_path = $role; " . sprintf($traps{$trap}, "$role.$name", $name, $role), extra_params => [ '-U', $role, '-1' ]);
			$planted++ if $ret == 0;
		}
	}
	return $planted;
}

# ---- everything that can be called ----

# The subject is the caller's own table; rows and lookups are mallory's.
sub linked_calls
{
	my ($persons, $visits, $wards) = ('"safe.persons": {"quasi_identifiers": ["a"]}', '"mallory.visits": {"quasi_identifiers": ["b"], "keep": ["ward"]}', '"mallory.wards": {"keep": ["name"]}');
	return ("SELECT count(*) FROM kanon_linked('safe.persons', '{$persons, $visits, $wards}', 'public', 5, replace => true)",
		"SELECT count(*) FROM kanon_linked('safe.persons', '{$persons, " . $visits =~ s/, "keep".*/, "linked": false}/r . "}', 'public', 5, replace => true)",
		"SELECT count(*) FROM kanon_linked_frontier('safe.persons', '{$persons, $visits, $wards}', '{5}', '{1,all}')",
		"SELECT count(*) FROM kanon_linked('safe.persons', '{$persons, $visits, $wards}', NULL, 5, dry_run => true)",
		"SELECT kanon_create_linked_publication('public', 'safe.persons', '{$persons, $visits, $wards}', 5)",
		"SELECT count(*) FROM kanon_check_linked('safe.persons', '{$persons, " . $visits =~ s/, "keep".*/}/r . "}', 5)");
}

my $all = "frontier => '{2,5}', compare => true, read_target => true, read_population => true";
my @by_record = (
	"SELECT length(kanon_report(run)) FROM kanon_usefulness",
	"SELECT length(kanon_report(run, with_values => true, sampling_fraction => 0.1)) FROM kanon_usefulness",
	map({ "SELECT length(kanon_report(run, $_)) FROM kanon_usefulness" } split(/, (?=[a-z])/, $all)),
	"SELECT length(kanon_report(run, $all)) FROM kanon_usefulness",
	"SELECT length(kanon_report_data(run, $all)::text) FROM kanon_usefulness",
	"SELECT kanon_internal.kanon_page_with_tables(jsonb_build_object('run', jsonb_build_object('tables', jsonb_build_object('tables', jsonb_agg(jsonb_build_object('run', run, 'target', target))))), 0.2, NULL, true, false) FROM (SELECT run, target FROM kanon_usefulness ORDER BY run DESC LIMIT 3) u",
	"SELECT count(*) FROM kanon_internal.kanon_recorded((SELECT jsonb_agg(jsonb_build_object('part', part, 'name', name, 'oid', relation::text, 'kind', kind, 'owner', owner::oid::text)) FROM kanon_run_relations))",
	"SELECT length(kanon_page(kanon_report_data(run))) FROM kanon_usefulness",
	map({ "SELECT count(*) FROM (SELECT * FROM $_) v" } qw(kanon_internal.kanon_publication_list() kanon_internal.kanon_release_list() kanon_internal.kanon_progress_list() kanon_publication_status()), qw(kanon_usefulness kanon_columns kanon_equivalence_classes kanon_class_sizes kanon_run_relations kanon_run_risk kanon_publications kanon_releases kanon_progress kanon_budget kanon_budget_answers)),
	"SELECT count(*) FROM kanon_publication_status('mallory.night')",
	"SELECT count(*) FROM kanon_compare_releases('mallory.night', 1, 2)");
my @by_record_last = ("SELECT status FROM kanon_refresh('mallory.night')", 'CALL kanon_refresh_all()', "SELECT kanon_alter_publication('mallory.night', k => 6)",
	"SELECT kanon_drop_publication('mallory.night')");
# what the caller names is refused, where the caller wants that
my @by_name = (
	map({ my $t = $_; ("SELECT count(*) FROM kanon_pattern_guided('$t', NULL, '{a,b}', 5, dry_run => true)", "SELECT count(*) FROM kanon_pattern_clustering('$t', NULL, '{a,b}', 5, method => 'greedy', patterns => '{*-,**}', dry_run => true)",
		"SELECT count(*) FROM kanon_cluster('$t', NULL, '{a,b}', 5, dry_run => true)", "SELECT count(*) FROM kanon_full_domain('$t', NULL, '{a,b}', 5, dry_run => true)",
		"SELECT count(*) FROM kanon_subtree('$t', NULL, '{a,b}', 5, dry_run => true)", "SELECT count(*) FROM kanon_freeform('$t', NULL, '{a,b}', 5, dry_run => true)",
		"SELECT count(*) FROM kanon_transactions('$t', NULL, 'a', 2, transaction => 'b', dry_run => true)", "SELECT count(*) FROM kanon_anatomy('$t', NULL, NULL, '{a,b}', 's', 2, dry_run => true)",
		"SELECT count(*) FROM kanon_alpha_beta('$t', NULL, '{a}', 0.9, 0.95, '{\"a\": [0,1,2,3,4,5,6,7,8,9,10,11]}', dry_run => true)", "SELECT count(*) FROM kanon_synthetic('$t', NULL, '{a}', 8, 0.01, '{\"a\": [0,1,2,3,4]}', dry_run => true)",
		"SELECT count(*) FROM kanon_cross_training('$t', NULL, '{x}', 20, dry_run => true)", "SELECT count(*) FROM kanon_isolation('$t', '$t', '{x}', 2, 3)",
		"SELECT count(*) FROM kanon_frontier('$t', '{a,b}', '{2,5}')", "SELECT count(*) FROM kanon_explain('$t', '{a,b}', 5)", "SELECT length(kanon_explore('$t', '{a,b}', '{5}'))", "SELECT length(kanon_budget_report('$t'))", "SELECT at_most FROM kanon_estimate_bounds('$t', '{\"a\": 1}')",
		"SELECT count(*) FROM kanon_check('$t', '{a,b}')", "SELECT count(*) FROM kanon_check('$t', '{a,b}', 1)", "SELECT count(*) FROM kanon_check_transactions('$t', 'a', transaction => 'b')", "SELECT count(*) FROM kanon_check_freeform('$t', 'mallory.t_free', '{a,b}', 5)",
		"SELECT count(*) FROM kanon_risk('$t', '{a,b}')", "SELECT count(*) FROM kanon_risk('$t', '{a,b}', weights => 'id', household => 's', special_uniques => 1)", "SELECT count(*) FROM kanon_risk('donor.pop', '{a,b}', population => '$t')", "SELECT count(*) FROM kanon_risk_columns('$t', '{a,b}')", "SELECT count(*) FROM kanon_special_uniques('$t', '{a,b}', 'id')", "SELECT count(*) FROM kanon_suggest('$t')", "SELECT count(*) FROM kanon_suggest_call('$t')", "SELECT kanon_label('$t', 'a', 'keep')", "SELECT kanon_create_policy('$t', '[]', '$t')", "SELECT k FROM kanon_policy_options('ema_0070', '$t', '{a,b}')",
		"SELECT kanon_hierarchy_interval('$t', 'a', 'public.h', '{2}')", "SELECT kanon_hierarchy_prefix('$t', 's', 'public.h', '{1}')", "SELECT kanon_hierarchy_quantile('$t', 'x', 'public.h', '{2}')", "SELECT kanon_hierarchy_from_fk('$t', 'a', 'public.h', lookup => 'mallory.levels', key => 'a', parent => 'level1')",
		"SELECT count(*) FROM kanon_attack('$t', 'mallory.t_plain', 'id', '{a,b}')", "SELECT count(*) FROM kanon_compare('$t', 'mallory.t_plain', '{a,b}')", "SELECT count(*) FROM kanon_distributions('$t', 'mallory.t_plain', '{a,b}', 5)",
		"SELECT kanon_hierarchy_date('$t', 'd', 'public.h')", "SELECT kanon_create_publication('public.p', '$t', '{a,b}', 5)", "SELECT kanon_set_budget('$t', 1, role => 'donor')", "SELECT count(*) FROM kanon_internal.kanon_shard_types('$t'::regclass) AS g (packed bytea, rows bigint)", "INSERT INTO donor.written SELECT g.n FROM kanon_internal.kanon_shard_write('$t'::regclass, '', ARRAY[ROW(1)]) AS g (n int)", "SELECT count(*) FROM kanon_internal.kanon_shard_rows('$t'::regclass) AS g (a int, b int, rows bigint)",
		"SELECT kanon_k_map('$t'), kanon_delta_presence('$t', 0, 0.5), kanon_presence('$t', 100, 0, 0.5, 0.9), kanon_t_closeness('s', 0.3, hierarchy => '$t')", "SELECT kanon_describe('*-', '{a,b}'), count(kanon_internal.kanon_row_type(1, ROW(1))) FROM kanon_option_list()",
		"SELECT kanon_checksum('$t')", "SELECT count(*) FROM kanon_linked('$t', '{\"mallory.src\": {\"quasi_identifiers\": [\"a\", \"b\"]}}', 'public', 5)", "SELECT kanon_create_linked_publication('public', '$t', '{\"mallory.src\": {\"quasi_identifiers\": [\"a\", \"b\"], \"target\": \"linked_src\"}}', 5)", "SELECT count(*) FROM kanon_check_linked('$t', '{\"mallory.src\": {\"quasi_identifiers\": [\"a\", \"b\"]}}', 5)", "SELECT count(*) FROM kanon_dp('$t', 'count', 1)") } 'mallory.src'),
	linked_calls(),
	"SELECT count(*) FROM kanon_check_hierarchy('mallory.levels', 'mallory.src', 'a')",
	"SELECT count(*) FROM kanon_pattern_guided('mallory.src', NULL, '{a,b}', 5, hierarchies => '{\"a\": \"mallory.levels\"}', dry_run => true)");

# What is said on stderr while a role makes these calls, one after the other, each after its text.
sub said
{
	my ($db, $role, $set, @calls) = @_;
	my $script = join '', map { my $name = s/'/''/gr; "\\warn '>>> $name'\n$_;\n" } @calls;
	my (undef, undef, $err) = $node->psql($db, "\\set VERBOSITY terse\nSET search_path = kanon; SET client_min_messages = warning; SET constraint_exclusion = on; SET statement_timeout = '60s'; $set\n$script",
		on_error_stop => 0, extra_params => [ '-U', $role ]);
	return split /^>>> /m, $err;
}

# Whom a trap has caught, by which of them.
sub caught
{
	return join '', grep { /sprung/ } said(@_);
}

# ---- first of all: they do spring ----

set_up('armed');
# what is called here does run where there is no trap
# (kanon_shard_… take rows that are packed on workers)
my @failed = grep { /ERROR/ && !/kanon_shard_/ } said('armed', 'postgres', 'SET kanon.read_strangers = off; BEGIN;', map { "SAVEPOINT s; $_; ROLLBACK TO s" } @by_record, @by_name);
is(join('', @failed), '', 'without traps no call fails');

# and it is everything that there is
my %called = map { $_ => 1 } map { /\b(kanon_\w+)/g } @by_record, @by_record_last, @by_name;
my $rest = join ' ', grep { !$called{$_} } split ' ', $node->safe_psql('armed', <<'E');
SELECT string_agg(DISTINCT proname, ' ') FROM pg_proc JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = pg_proc.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'kanon'
WHERE proname NOT IN ('kanon_page_asked', 'kanon_check_policy', 'kanon_rule_is_as_strict', 'kanon_mask_is_as_strict') AND EXISTS (SELECT FROM unnest(proallargtypes || proargtypes::oid[]) AS t WHERE t IN ('regclass'::regtype, 'oid'::regtype, 'text'::regtype, 'jsonb'::regtype))
E
is($rest, '', 'no function is left out');

# Each trap with each call; where a share is asked for, each of those that read all records with every third trap, by
# roles that have no more rights than the trap's owner with every sixth.
my $nth = 0;
sub share { my ($every, @calls) = @_; return $ENV{KANON_TEST_SHARE} ? @calls[ grep { ($_ + $nth) % $every == 0 } 0 .. $#calls ] : @calls; }
foreach my $trap (sort keys %traps)
{
	$nth++;
	$node->safe_psql('postgres', "CREATE DATABASE armed_$trap TEMPLATE armed");
	cmp_ok(plant("armed_$trap", $trap), '>', 5, "traps: $trap");
	like(join('', said("armed_$trap", $trap eq 'policy' ? 'donor' : 'officer', '', map { "SELECT count(*) FROM mallory.$_ WHERE b > 1" } 'src', 't_levels')), qr/sprung/, "a SELECT springs $trap");

	# nobody who asks for what a record names
	is(caught("armed_$trap", $_, '', share($_ eq 'postgres' ? 3 : 6, @by_record)), '', "$trap: $_ reads records of mallory's") foreach 'postgres', 'officer', 'mallory';
	is(caught("armed_$trap", 'postgres', 'SET kanon.read_strangers = off;', @by_name), '', "$trap: nor who names it, where strangers' are not read");
	is(caught("armed_$trap", 'postgres', '', @by_record_last), '', "$trap: refreshed, altered and dropped");
	$node->safe_psql('postgres', "DROP DATABASE armed_$trap");
}
# a lock of the publisher's stops nobody who asks for a page or a list for more than a second, in all
my $holder = $node->background_psql('armed', extra_params => [ '-U', 'mallory' ]);
$holder->query_safe(join ' ', 'BEGIN;', map { "LOCK TABLE mallory.$_ IN ACCESS EXCLUSIVE MODE;" } 'src', 'levels', 'own_pop', 'night_publication', 'night_history', 't_map');
foreach my $call ("SELECT length(kanon_report(run, $all)) FROM kanon_usefulness WHERE target ~ 't_map'", 'SELECT length(kanon_report(max(run))) FROM kanon_usefulness', 'SELECT count(*) FROM kanon_releases, kanon_publications')
{
	my $begun = time;
	said('armed', 'postgres', '', $call);
	cmp_ok(time - $begun, '<', 3, "not stopped: $call");
}
$holder->quit;

# what was somebody else's before has their functions in it still
$node->safe_psql('armed', 'CREATE INDEX ON mallory.t_plain ((mallory.mallory_folded(7))); ALTER TABLE mallory.t_plain OWNER TO postgres; CREATE VIEW public.handed AS SELECT * FROM mallory.src WHERE mallory.mallory_trap()');
like(join('', said('armed', 'postgres', 'SET kanon.read_strangers = off;', "SELECT count(*) FROM kanon_check('$_', '{a,b}')")), qr/ERROR:  relation \S+ is not read: it calls function \S+ of another role/, "$_ is not read by its owner") foreach 'mallory.t_plain', 'public.handed';
$node->stop;
done_testing();
