# Guards 12 and 23: a generator plants code at a random place that a query could call, one to four levels below what is
# read: in a view, a policy, an index, a check, statistics, a partition key or a child; as a function, an operator, a cast,
# a domain, a part of an aggregate, an operator class, a default, a function's body.  While all of it is the reader's
# own, nothing is refused.  Then the code is given to another role, and everything that reads is called: it is refused, or
# the code did not run.  KANON_PLANTED=300 KANON_SEED=7 make check-tap PROVE_TESTS=t/062_planted_code.pl
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $seed = $ENV{KANON_SEED} // 1;
srand($seed);
my $node = KanonNode::start('main', conf => "autovacuum = off\nkanon.skip_unchanged = on\nclient_min_messages = error\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner LOGIN;
CREATE ROLE enemy LOGIN;
CREATE SCHEMA own AUTHORIZATION owner;
CREATE SEQUENCE public.ran;
GRANT ALL ON public.ran TO PUBLIC;
GRANT CREATE ON DATABASE postgres TO owner;
-- the SQLSTATE of a statement, whose work is undone
CREATE FUNCTION public.said(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE statement;
        RAISE EXCEPTION USING ERRCODE = 'UNDO1';
    EXCEPTION WHEN OTHERS THEN
        RETURN CASE SQLSTATE WHEN 'UNDO1' THEN '00000' ELSE SQLSTATE END;
    END;
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
CREATE TABLE own.person AS SELECT i AS id, i % 4 AS a FROM generate_series(1, 60) i;
ALTER TABLE own.person ADD PRIMARY KEY (id);
CREATE TABLE own.visit AS SELECT i AS id, i % 60 + 1 AS person, i % 3 AS b FROM generate_series(1, 120) i;
ALTER TABLE own.visit ADD FOREIGN KEY (person) REFERENCES own.person;
E

# ---- code: what an expression calls, and the statement that gives it to the other role ----

my $body = q(LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''public.ran''); RETURN %s; END');
sub function { my ($name, $returns, $result, $kind) = @_; return "CREATE FUNCTION $name RETURNS $returns " . ($kind // 'IMMUTABLE') . ' ' . sprintf($body, $result) . ";\n"; }
sub give { return join('', map { "ALTER $_ OWNER TO enemy;\n" } @_); }

# fixed: it may stand in an index; seen: by the look, before anything runs
my %code = (
	function => sub { ([ function('f(int)', 'boolean', 'true') ], 'f(1)', give('FUNCTION f(int)'), fixed => 1) },
	operator => sub { ([ function('g(int, int)', 'boolean', 'true'), "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = g);\n" ], '1 === 1', give('FUNCTION g(int, int)'), fixed => 1) },
	negator => sub {
		([ function('g(int, int)', 'boolean', 'false'), "CREATE FUNCTION same(int, int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT \$1 = \$2';\nCREATE OPERATOR !== (LEFTARG = int, RIGHTARG = int, FUNCTION = g);\nCREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = same, NEGATOR = !==);\n" ],
			'1 === 1', give('FUNCTION g(int, int)'), fixed => 1)
	},
	cast => sub { ([ "CREATE TYPE t AS (x int);\n", function('bool_of(t)', 'boolean', 'true'), "CREATE CAST (t AS boolean) WITH FUNCTION bool_of(t);\n" ], '(ROW(1)::t)::boolean', give('FUNCTION bool_of(t)'), fixed => 1) },
	to_json => sub { ([ "CREATE TYPE e AS ENUM ('a');\n", function('json_of(e)', 'json', q(''1''::json)), "CREATE CAST (e AS json) WITH FUNCTION json_of(e);\n" ], q{to_jsonb('a'::e) IS NOT NULL}, give('FUNCTION json_of(e)')) },
	argument => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE FUNCTION h(b boolean DEFAULT f(1)) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN b; END';\n" ], 'h()', give('FUNCTION f(int)'), fixed => 1) },
	body_sql => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE sql SET search_path FROM CURRENT AS 'SELECT f(\$1)';\n" ], 'h(1)', give('FUNCTION f(int)'), fixed => 1, unseen => 1) },
	body_inlined => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN f(\$1);\n" ], 'h(1)', give('FUNCTION f(int)'), fixed => 1, unseen => 1) },
	body_pl => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS 'BEGIN RETURN f(\$1); END';\n" ], 'h(1)', give('FUNCTION f(int)'), fixed => 1, unseen => 1) },
	domain_check => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE DOMAIN d AS int CHECK (f(VALUE));\n" ], '1::d IS NOT NULL', give('FUNCTION f(int)'), fixed => 1) },
	domain => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE DOMAIN d AS int CHECK (f(VALUE));\n" ], '1::d IS NOT NULL', give('DOMAIN d', 'FUNCTION f(int)'), fixed => 1) },
	domain_alone => sub { ([ "CREATE DOMAIN d AS int CHECK (nextval('public.ran') > VALUE - 2);\n" ], '1::d IS NOT NULL', give('DOMAIN d'), fixed => 1) },
	state => sub { ([ function('s(boolean, boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = s, STYPE = boolean);\n" ], '(SELECT agg(x) FROM (VALUES (true)) v (x)) IS NOT FALSE', give('FUNCTION s(boolean, boolean)')) },
	final => sub { ([ function('s(boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, FINALFUNC = s);\n" ], '(SELECT agg(x) FROM (VALUES (true)) v (x)) IS NOT FALSE', give('FUNCTION s(boolean)')) },
	combine => sub { ([ function('s(boolean, boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, COMBINEFUNC = s);\n" ], '(SELECT agg(x) FROM (VALUES (true)) v (x)) IS NOT FALSE', give('FUNCTION s(boolean, boolean)')) },
	inverse => sub {
		([ function('s(boolean, boolean)', 'boolean', 'true', 'IMMUTABLE STRICT'), "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, MSFUNC = booland_statefunc, MINVFUNC = s, MSTYPE = boolean);\n" ],
			'(SELECT bool_and(w) FROM (SELECT agg(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w FROM (VALUES (true), (true), (true)) v (x)) u) IS NOT FALSE', give('FUNCTION s(boolean, boolean)'))
	},
	state_type => sub { ([ function('f(int)', 'boolean', 'true'), "CREATE DOMAIN d AS int CHECK (f(VALUE));\nCREATE FUNCTION s(d, int) RETURNS d IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN \$2; END';\nCREATE AGGREGATE agg(int) (SFUNC = s, STYPE = d);\n" ], '(SELECT agg(x) FROM (VALUES (1)) v (x)) IS NOT NULL', give('FUNCTION f(int)')) },
	class => sub {
		my @names = ([ 1, '<<', '<' ], [ 2, '<<=', '<=' ], [ 3, '===', '=' ], [ 4, '>>=', '>=' ], [ 5, '>>', '>' ]);
		([ "CREATE TYPE t AS (x int);\n", function('order_of(t, t)', 'int', '($1).x - ($2).x'),
				map({ "CREATE FUNCTION is_$_->[0](t, t) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT (\$1).x $_->[2] (\$2).x';\nCREATE OPERATOR $_->[1] (LEFTARG = t, RIGHTARG = t, FUNCTION = is_$_->[0]);\n" } @names),
				"RESET SESSION AUTHORIZATION;\nCREATE OPERATOR CLASS ops DEFAULT FOR TYPE t USING btree AS " . join(', ', map { "OPERATOR $_->[0] $_->[1]" } @names) . ", FUNCTION 1 order_of(t, t);\nSET SESSION AUTHORIZATION owner;\n" ],
			'(SELECT count(*) FROM (SELECT DISTINCT x FROM (VALUES (ROW(1)::t), (ROW(2)::t)) v (x)) d) > 0', give('FUNCTION order_of(t, t)'))
	},
);

# A value of a type over a domain: arrays, rows, ranges and domains of it, one to three of them.
$code{types} = sub {
	my $type = 'd';
	my $value = '1';
	my @made = (function('f(int)', 'boolean', 'true'), "CREATE DOMAIN d AS int CHECK (f(VALUE));\n");
	my @kinds = ('domain', 'array', 'row', 'range');
	foreach my $level (1 .. 1 + int(rand 3))
	{
		my $kind = $kinds[ int(rand($type eq 'd' ? 4 : 3)) ];
		my $quoted = $value =~ /^\w+$/ ? $value : '"' . $value =~ s/(["\\])/\\$1/gr . '"';
		if ($kind eq 'domain') { push @made, "CREATE DOMAIN over_$level AS $type;\n"; }
		if ($kind eq 'array') { ($value) = ('{' . $quoted . '}'); push @made, "CREATE DOMAIN over_$level AS $type\[];\n"; }
		if ($kind eq 'row') { $value = "($quoted)"; push @made, "CREATE TYPE over_$level AS (x $type);\n"; }
		if ($kind eq 'range') { $value = '[1,2)'; push @made, "CREATE TYPE over_$level AS RANGE (SUBTYPE = $type);\n"; }
		$type = "over_$level";
	}
	return (\@made, "'$value'::text::$type IS NOT NULL", give(rand() < 0.5 ? 'FUNCTION f(int)' : ('DOMAIN d', 'FUNCTION f(int)')));
};

# ---- places: relations of id, a, b that have an expression ----

my $rows = 'SELECT i AS id, i % 4 AS a, i % 3 AS b FROM generate_series(1, 60) i';
my %place = (
	view => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, a, b FROM ${r}_t WHERE $x;\n" },
	column => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, CASE WHEN $x THEN a END AS a, b FROM ${r}_t;\n" },
	grouped => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, a, max(b) AS b FROM ${r}_t GROUP BY id, a HAVING $x;\n" },
	policy => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nALTER TABLE $r ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\nCREATE POLICY p ON $r USING ($x);\n" },
);
my %fixed_place = (
	index => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE INDEX ON $r ((CASE WHEN $x THEN 1 END));\n" },
	predicate => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE INDEX ON $r (a) WHERE $x;\n" },
	check => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nALTER TABLE $r ADD CHECK ($x);\n" },
	statistics => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE STATISTICS ${r}_s ON (CASE WHEN $x THEN a END), b FROM $r;\n" },
	key => sub { my ($r, $x) = @_; "CREATE TABLE $r (id int, a int, b int) PARTITION BY LIST ((CASE WHEN $x THEN a END));\nCREATE TABLE ${r}_1 PARTITION OF $r FOR VALUES IN (1, 2);\nCREATE TABLE ${r}_d PARTITION OF $r DEFAULT;\nINSERT INTO $r $rows;\n" },
	of_key => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_p (id int, a int, b int) PARTITION BY LIST ((CASE WHEN $x THEN a END));\nCREATE TABLE $r PARTITION OF ${r}_p DEFAULT;\nINSERT INTO ${r}_p $rows;\n" },
	child => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE TABLE ${r}_c () INHERITS ($r);\nCREATE INDEX ON ${r}_c (a) WHERE $x;\n" },
);

# ---- levels: relations that read another one ----

my %level = (
	view => sub { my ($r, $s) = @_; "CREATE VIEW $r AS SELECT id, a, b FROM $s;\n" },
	union => sub { my ($r, $s) = @_; "CREATE VIEW $r AS SELECT id, a, b FROM $s WHERE a < 2 UNION ALL SELECT id, a, b FROM $s WHERE a >= 2;\n" },
	with => sub { my ($r, $s) = @_; "CREATE VIEW $r AS WITH w AS MATERIALIZED (SELECT * FROM $s) SELECT id, a, b FROM w;\n" },
	policy => sub { my ($r, $s) = @_; "CREATE TABLE $r AS $rows;\nALTER TABLE $r ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\nCREATE POLICY p ON $r USING (id IN (SELECT s.id FROM $s s));\n" },
	function => sub { my ($r, $s) = @_; "CREATE FUNCTION ${r}_f() RETURNS TABLE (id int, a int, b int) STABLE LANGUAGE sql BEGIN ATOMIC SELECT id, a, b FROM $s; END;\nCREATE VIEW $r AS SELECT id, a, b FROM ${r}_f();\n" },
);

# ---- a case ----

my @reads = (
	"SELECT * FROM kanon_check('%s', '{a,b}')", "SELECT * FROM kanon_risk('%s', '{a,b}')", "SELECT * FROM kanon_suggest('%s')",
	"SELECT * FROM kanon_pattern_guided('%s', NULL, '{a,b}', 3, dry_run => true)", "SELECT * FROM kanon_cluster('%s', NULL, '{a,b}', 3, keep => '{id}', allow_identifying => '{id}', dry_run => true)",
	"SELECT * FROM kanon_full_domain('own.person', NULL, '{a}', 3, hierarchies => '{\"a\": \"%s_h\"}', dry_run => true)");
sub pick { my (%of) = @_; my @names = sort keys %of; return $names[ int(rand @names) ]; }

sub run_case
{
	my ($n) = @_;
	my $schema = "c_$n";
	my $what = pick(%code);
	my ($made, $expression, $given, %is) = $code{$what}->();
	my %places = $is{fixed} ? (%place, %fixed_place) : %place;
	my $where = pick(%places);
	my $sql = join('', @$made) . $places{$where}->('r0', $expression);
	my @levels = map { pick(%level) } 1 .. int(rand 4);
	my $unseen = $is{unseen};
	my $name = 'r0';
	foreach my $i (0 .. $#levels)
	{
		$sql .= $level{ $levels[$i] }->('r' . ($i + 1), "r$i");
		$unseen ||= $levels[$i] eq 'function';
		$name = 'r' . ($i + 1);
	}
	my $top = "$schema.$name";
	my $told = "$n: $what in $where" . join('', map { " in $_" } @levels);
	my $set = "SET kanon.read_strangers = off;\n";
	my $linked = qq({"own.person": {"quasi_identifiers": ["a"], "hierarchies": {"a": "${top}_h"}}, "own.visit": {"quasi_identifiers": ["b"]}});
	my $said = $node->safe_psql('postgres', <<"E");
CREATE SCHEMA $schema AUTHORIZATION owner;
SET search_path = $schema, public;
SET SESSION AUTHORIZATION owner;
$sql
CREATE VIEW ${name}_h AS SELECT DISTINCT a AS value, a / 2 AS level1, 0 AS level2 FROM $name;
CREATE TABLE strangers AS SELECT false AS found;
DO \$\$ BEGIN
    PERFORM kanon_create_publication('$schema.pub', '$top', '{a,b}', 3);
    PERFORM kanon_create_publication('$schema.leveled', 'own.person', '{a}', 3, '{"hierarchies": {"a": "${top}_h"}}', model => 'full_domain');
    CREATE SCHEMA ${schema}_v;
    PERFORM kanon_create_linked_publication('${schema}_v', 'own.person', '$linked', 3, private_schema => '$schema');
END \$\$;
SELECT strangers FROM $schema.pub_publication;
SELECT strangers FROM $schema.leveled_publication;
SELECT strangers FROM $schema.person_publication;
$set
SELECT look('$top');
@{[ map { "SELECT said(\$q\$" . sprintf($_, $top) . "\$q\$);\n" } @reads ]}
SELECT status FROM kanon_refresh('$schema.pub') UNION ALL SELECT status FROM kanon_refresh('$schema.leveled') UNION ALL SELECT status FROM kanon_refresh('${schema}_v');
E
	my @refused = grep { !/^(f|00000|current|unchanged|)$/ } split /\n/, $said;
	is("@refused", '', "$told: one's own is not refused");
	my $calls = join('', map { "SELECT said(\$q\$" . sprintf($_, $top) . "\$q\$), runs();\n" } @reads);
	my $refresh = join('', map { "SELECT coalesce(error, status), runs() FROM kanon_refresh('$_');\n" } "$schema.pub", "$schema.leveled", "${schema}_v");
	$said = $node->safe_psql('postgres', <<"E");
SET search_path = $schema, public;
$given
SELECT setval('public.ran', 1, false);
SET search_path = public;
SET SESSION AUTHORIZATION owner;
${set}SELECT 'look', look('$top');
$calls${refresh}RESET SESSION AUTHORIZATION;
RESET kanon.read_strangers;
$refresh$set$calls
E
	my @ran = grep { /\|([1-9]\d*)$/ } split /\n/, $said;
	is("@ran[0 .. ($#ran < 1 ? $#ran : 1)]", '', "$told: another role's does not run");
	like($said, qr/^look\|./m, "$told: and is seen") unless $unseen;
	diag($sql, $given, $said) if $ENV{KANON_TELL} && !Test::More->builder->is_passing;
	return;
}
run_case($_) foreach 1 .. ($ENV{KANON_PLANTED} // ($ENV{KANON_TEST_SHARE} ? 12 : 40));

$node->stop;
done_testing();
