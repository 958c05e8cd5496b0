# Kinds of code that a query could run, and of places for it: for t/062_planted_code.pl.
#
# code(NAME) returns a hash:
#   made   statements by which the owner makes it (super(…): a superuser does)
#   calls  an expression of type boolean that leads to it
#   given  statements that give it to the role enemy
#   fixed  the expression may stand in an index
#   unseen the look cannot see it, since a function's body or a text calls it: the door stops it
#   where  the only place of it; or else it goes to every place
# place(NAME, RELATION, EXPRESSION) and level(NAME, RELATION, BELOW) return statements that make a relation of id, a, b.
package KanonPlants;

use strict;
use warnings;

my ($version) = qx(pg_config --version) =~ /(\d+)/;

my $body = q(LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''public.ran''); RETURN %s; END');
sub function { my ($name, $returns, $result, $kind) = @_; return "CREATE FUNCTION $name RETURNS $returns " . ($kind // 'IMMUTABLE') . ' ' . sprintf($body, $result) . ";\n"; }
sub plain { my ($name, $returns, $result) = @_; return "CREATE FUNCTION $name RETURNS $returns IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $result; END';\n"; }
sub give { return join('', map { "ALTER $_ OWNER TO enemy;\n" } @_); }
sub super { return "RESET SESSION AUTHORIZATION;\n" . join('', @_) . "SET SESSION AUTHORIZATION owner;\n"; }
# a function of the server, under a name of its own
sub internal { my ($name, $returns, $symbol, $kind) = @_; return "CREATE FUNCTION $name RETURNS $returns LANGUAGE internal " . ($kind // 'IMMUTABLE STRICT') . " AS '$symbol';\n"; }
sub owned { return join('', map { "ALTER FUNCTION $_ OWNER TO owner;\n" } @_); }

my $f = function('f(int)', 'boolean', 'true');
my $domain = $f . "CREATE DOMAIN d AS int CHECK (f(VALUE));\n";
my $telling = "CREATE DOMAIN d AS int CHECK (nextval('public.ran') > VALUE - 2);\n";
my $give_f = give('FUNCTION f(int)');
my @order = ([ 1, '<<<', '<' ], [ 2, '<<<=', '<=' ], [ 3, '===', '=' ], [ 4, '>>>=', '>=' ], [ 5, '>>>', '>' ]);

# A class of operators for btrees of which one function or operator tells that it ran.
sub class
{
	my ($type, $value, $default, $telling) = @_;
	my $args = "$type, $type";
	my ($x, $y) = map { sprintf($value, $_) } '$1', '$2';
	my $order = "CASE WHEN $x < $y THEN -1 WHEN $x > $y THEN 1 ELSE 0 END";
	my @made = ($telling eq 'order' ? function("order_of($args)", 'int', $order) : plain("order_of($args)", 'int', $order));
	foreach my $o (@order)
	{
		my $name = "is_$o->[0]($args)";
		push @made, $telling eq $o->[1] ? function($name, 'boolean', "$x $o->[2] $y") : "CREATE FUNCTION $name RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $x $o->[2] $y';\n";
		push @made, "CREATE OPERATOR $o->[1] (LEFTARG = $type, RIGHTARG = $type, FUNCTION = is_$o->[0]);\n";
	}
	push @made, super("CREATE OPERATOR CLASS ops $default FOR TYPE $type USING btree AS " . join(', ', map { "OPERATOR $_->[0] $_->[1]" } @order) . ", FUNCTION 1 order_of($args);\n");
	return join('', @made);
}
sub class_of_t { return "CREATE TYPE t AS (x int);\n" . class('t', '(%s).x', 'DEFAULT', @_); }
sub class_of_int { return class('int', '%s', '', @_); }
my $two_t = "(VALUES ('(1)'::t), ('(2)'::t)) v (x)";

# A type of the server's under a name of its own.
my @base = ([ 'base_in(cstring)', 'base', 'int4in' ], [ 'base_out(base)', 'cstring', 'int4out' ], [ 'base_recv(internal)', 'base', 'int4recv' ],
	[ 'base_send(base)', 'bytea', 'int4send' ], [ 'base_modin(cstring[])', 'int', 'varchartypmodin' ], [ 'base_modout(int)', 'cstring', 'varchartypmodout' ]);
my $base = super("CREATE TYPE base;\n", map({ internal(@$_) } @base),
	"CREATE TYPE base (INPUT = base_in, OUTPUT = base_out, RECEIVE = base_recv, SEND = base_send, TYPMOD_IN = base_modin, TYPMOD_OUT = base_modout, LIKE = int4);\n", owned(map { $_->[0] } @base));

sub aggregate
{
	my ($calls, $given, @made) = @_;
	return (made => join('', @made), calls => $calls, given => give(map { "FUNCTION $_" } ref $given ? @$given : $given));
}
my $over_true = '(SELECT agg(x) FROM (VALUES (true)) v (x)) IS NOT FALSE';
my $moving = '(SELECT bool_and(w) FROM (SELECT agg(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w FROM (VALUES (true), (true), (true)) v (x)) u) IS NOT FALSE';
my $sum = super(internal('ser(internal)', 'bytea', 'int8_avg_serialize'), internal('deser(bytea, internal)', 'internal', 'int8_avg_deserialize'),
	"CREATE AGGREGATE agg(int8) (SFUNC = int8_avg_accum, STYPE = internal, FINALFUNC = numeric_poly_sum, COMBINEFUNC = int8_avg_combine, SERIALFUNC = ser, DESERIALFUNC = deser, PARALLEL = SAFE);\n", owned('ser(internal)', 'deser(bytea, internal)'));

sub operator
{
	my ($given, $made, $options, $calls) = @_;
	return (made => "CREATE FUNCTION same(int, int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT \$1 = \$2';\n$made" . "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = same, $options);\n",
		calls => $calls // '1 === 1', given => give("FUNCTION $given"), fixed => 1);
}
sub operator_of_super
{
	my ($given, $symbol, $option) = @_;
	return (made => plain('same(int, int)', 'boolean', '$1 = $2') . super(internal($given, 'float8', $symbol, 'STABLE STRICT'), "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = same, $option = est);\n", owned($given)),
		calls => '1 === 1', given => give("FUNCTION $given"), fixed => 1);
}
sub expression { my ($calls, $given, @made) = @_; return (made => join('', @made), calls => $calls, given => $given, fixed => $calls !~ /SELECT|::text::/); }

my %code = (
	# expressions
	function => sub { expression('f(1)', $give_f, $f) },
	function_from => sub { expression('(SELECT count(*) FROM f(1)) > 0', $give_f, $f) },
	function_deep => sub { expression('EXISTS (SELECT 1 FROM (VALUES (1)) v (x) WHERE x IN (SELECT y FROM (VALUES (1)) w (y) WHERE f(y)))', $give_f, $f) },
	window => sub { aggregate('(SELECT bool_and(w) FROM (SELECT agg(x) OVER () AS w FROM (VALUES (true)) v (x)) u)', 's(boolean, boolean)', function('s(boolean, boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = s, STYPE = boolean);\n") },
	operator => sub { expression('1 === 1', give('FUNCTION g(int, int)'), function('g(int, int)', 'boolean', 'true'), "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = g);\n") },
	distinct => sub { expression("NOT ('(1)'::t IS DISTINCT FROM '(1)'::t)", give('FUNCTION g(t, t)'), "CREATE TYPE t AS (x int);\n", function('g(t, t)', 'boolean', 'true'), "CREATE OPERATOR = (LEFTARG = t, RIGHTARG = t, FUNCTION = g);\n") },
	nullif => sub { expression("NULLIF('(1)'::t, '(1)'::t) IS NULL", give('FUNCTION g(t, t)'), "CREATE TYPE t AS (x int);\n", function('g(t, t)', 'boolean', 'true'), "CREATE OPERATOR = (LEFTARG = t, RIGHTARG = t, FUNCTION = g);\n") },
	any_operator => sub { expression('1 === ANY (ARRAY[1, 2])', give('FUNCTION order_of(int, int)'), class_of_int('order')) },
	rows_compared => sub { expression('ROW(1, 2) <<< ROW(2, 3)', give('FUNCTION order_of(int, int)'), class_of_int('order')) },
	sorted => sub { expression('(SELECT count(*) FROM (SELECT x FROM (VALUES (2), (1)) v (x) ORDER BY x USING <<< OFFSET 0) s) > 0', give('FUNCTION order_of(int, int)'), class_of_int('order')) },
	grouped => sub { expression("(SELECT count(*) FROM (SELECT DISTINCT x FROM $two_t) s) > 0", give('FUNCTION order_of(t, t)'), class_of_t('order')) },
	united => sub { expression("(SELECT count(*) FROM (SELECT '(1)'::t UNION SELECT '(2)'::t) s) > 0", give('FUNCTION order_of(t, t)'), class_of_t('order')) },
	greatest => sub { expression("GREATEST('(1)'::t, '(2)'::t) IS NOT NULL", give('FUNCTION order_of(t, t)'), class_of_t('order')) },
	cycle => sub {
		expression("(WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x % 2 + 1 FROM r) CYCLE x SET c TO t '(1)' DEFAULT t '(2)' USING p SELECT count(*) FROM r) > 0", give('FUNCTION is_not(t, t)'),
			class_of_t(''), function('is_not(t, t)', 'boolean', '($1).x <> ($2).x'), "CREATE OPERATOR !== (LEFTARG = t, RIGHTARG = t, FUNCTION = is_not, NEGATOR = ===);\n")
	},
	in_range => sub {
		my $add = "RESET SESSION AUTHORIZATION;\nALTER OPERATOR FAMILY ops USING btree ADD FUNCTION 3 (int, int) near(int, int, int, boolean, boolean);\nSET SESSION AUTHORIZATION owner;\n";
		expression('(SELECT sum(n) FROM (SELECT count(*) OVER (ORDER BY x USING <<< RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM (VALUES (1), (2), (3)) v (x)) s) > 0', give('FUNCTION near(int, int, int, boolean, boolean)'),
			class_of_int(''), function('near(int, int, int, boolean, boolean)', 'boolean', 'CASE WHEN $5 THEN $1 <= $2 ELSE $1 >= $2 END'), $add)
	},
	sample => sub { (made => super(internal('sample(internal)', 'tsm_handler', 'tsm_bernoulli_handler', 'STRICT'), owned('sample(internal)')), calls => '(SELECT count(*) FROM own.person TABLESAMPLE sample(100)) > 0', given => give('FUNCTION sample(internal)')) },
	array_cast => sub { (expression('(ARRAY[ROW(1)::t])::boolean[] IS NOT NULL', give('FUNCTION bool_of(t)'), "CREATE TYPE t AS (x int);\n", function('bool_of(t)', 'boolean', 'true'), "CREATE CAST (t AS boolean) WITH FUNCTION bool_of(t);\n"), fixed => 0) },
	cast => sub { expression('(ROW(1)::t)::boolean', give('FUNCTION bool_of(t)'), "CREATE TYPE t AS (x int);\n", function('bool_of(t)', 'boolean', 'true'), "CREATE CAST (t AS boolean) WITH FUNCTION bool_of(t);\n") },
	to_json => sub { my %is = expression("to_jsonb('a'::e) IS NOT NULL", give('FUNCTION json_of(e)'), "CREATE TYPE e AS ENUM ('a');\n", function('json_of(e)', 'json', q(''1''::json)), "CREATE CAST (e AS json) WITH FUNCTION json_of(e);\n"); (%is, fixed => 0) },
	to_json_made => sub { my %is = expression("to_jsonb('a'::text::e) IS NOT NULL", give('FUNCTION json_of(e)'), "CREATE TYPE e AS ENUM ('a');\n", function('json_of(e)', 'json', q(''1''::json)), "CREATE CAST (e AS json) WITH FUNCTION json_of(e);\n"); (%is, fixed => 0) },
	to_json_row => sub { my %is = expression("row_to_json(ROW('a'::e)) IS NOT NULL", give('FUNCTION json_of(e)'), "CREATE TYPE e AS ENUM ('a');\n", function('json_of(e)', 'json', q(''1''::json)), "CREATE CAST (e AS json) WITH FUNCTION json_of(e);\n"); (%is, fixed => 0) },
	xml_table => sub { expression("(SELECT count(x) FROM XMLTABLE('/r' PASSING xml '<r>1</r>' COLUMNS x d PATH '.')) > 0", $give_f, $domain) },
	column_list => sub { expression("(SELECT count(x) FROM json_to_record('{\"x\": 1}') AS r (x d)) > 0", $give_f, $domain) },
	populated => sub { my %is = expression("json_populate_record(NULL::t, '{\"x\": 1}') IS NOT NULL", $give_f, $domain, "CREATE TYPE t AS (x d);\n"); (%is, fixed => 0) },
	# operators
	negator => sub { operator('g(int, int)', function('g(int, int)', 'boolean', 'false') . "CREATE OPERATOR !== (LEFTARG = int, RIGHTARG = int, FUNCTION = g);\n", 'NEGATOR = !==') },
	commutator => sub { operator('g(int, int)', function('g(int, int)', 'boolean', 'false') . "CREATE OPERATOR =~= (LEFTARG = int, RIGHTARG = int, FUNCTION = g);\n", 'COMMUTATOR = =~=') },
	restrict => sub { operator_of_super('est(internal, oid, internal, int)', 'eqsel', 'RESTRICT') },
	join => sub { operator_of_super('est(internal, oid, internal, smallint, internal)', 'eqjoinsel', 'JOIN') },
	family_function => sub { expression('1 === 1', give('FUNCTION order_of(int, int)'), class_of_int('order')) },
	family_operator => sub { expression('1 === 1', give('FUNCTION is_1(int, int)'), class_of_int('<<<')) },
	class => sub { expression("'(1)'::t IS NOT NULL", give('FUNCTION order_of(t, t)'), class_of_t('order')) },
	class_operator => sub { expression("'(1)'::t IS NOT NULL", give('FUNCTION is_5(t, t)'), class_of_t('>>>')) },
	class_hash => sub {
		expression("'(1)'::t IS NOT NULL", give('FUNCTION hash_of(t)'), "CREATE TYPE t AS (x int);\nCREATE FUNCTION same(t, t) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT (\$1).x = (\$2).x';\nCREATE OPERATOR === (LEFTARG = t, RIGHTARG = t, FUNCTION = same, HASHES);\n",
			function('hash_of(t)', 'int', '($1).x'), super("CREATE OPERATOR CLASS ops DEFAULT FOR TYPE t USING hash AS OPERATOR 1 ===, FUNCTION 1 hash_of(t);\n"))
	},
	index_class => sub { (made => class_of_int('order'), calls => 'true', given => give('FUNCTION order_of(int, int)'), where => 'index_of_class') },
	key_class => sub { (made => class_of_int('order'), calls => 'true', given => give('FUNCTION order_of(int, int)'), where => 'key_of_class') },
	# functions
	argument => sub { expression('h()', $give_f, $f, "CREATE FUNCTION h(b boolean DEFAULT f(1)) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN b; END';\n") },
	support => sub { expression('h(1)', give('FUNCTION sup(internal)'), super(internal('sup(internal)', 'internal', 'textlike_support', 'STRICT'), owned('sup(internal)'), plain('h(int)', 'boolean', 'true'), "ALTER FUNCTION h(int) SUPPORT sup;\n", owned('h(int)'))) },
	out_column => sub { expression('(SELECT count(y) FROM h()) > 0', $give_f, $domain, "CREATE FUNCTION h(OUT x int, OUT y d) IMMUTABLE LANGUAGE plpgsql AS 'BEGIN x := 1; y := 1; END';\n") },
	result => sub { expression('h() IS NOT NULL', $give_f, $domain, plain('h()', 'd', '1')) },
	body_sql => sub { (expression('h(1)', $give_f, $f, "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE sql SET search_path FROM CURRENT AS 'SELECT f(\$1)';\n"), unseen => 1) },
	body_inlined => sub { (expression('h(1)', $give_f, $f, "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN f(\$1);\n"), unseen => 1) },
	body_pl => sub { (expression('h(1)', $give_f, $f, "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS 'BEGIN RETURN f(\$1); END';\n"), unseen => 1) },
	body_assigned => sub { (expression('h(1)', give('FUNCTION to_t(int)'), "CREATE TYPE t AS (x int);\n", function('to_t(int)', 't', 'ROW($1)::t'), "CREATE CAST (int AS t) WITH FUNCTION to_t(int) AS ASSIGNMENT;\nCREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS 'DECLARE v t; BEGIN v := \$1; RETURN v IS NOT NULL; END';\n"), unseen => 1) },
	# (the language makes this call itself, with no query: fmgr_hook alone sees it)
	body_cast => sub { (expression('h(1) IS NOT NULL', give('FUNCTION to_e(int)'), "CREATE TYPE e AS ENUM ('a');\n", function('to_e(int)', 'e', "''a''"), "CREATE CAST (int AS e) WITH FUNCTION to_e(int) AS ASSIGNMENT;\nCREATE FUNCTION h(int) RETURNS e IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS 'BEGIN RETURN \$1; END';\n"), unseen => 1) },
	# a domain's check calls the system's functions alone, which nobody stops
	body_domain => sub { expression('h(1)', give('DOMAIN d'), $telling, "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN \$1::d IS NOT NULL;\n") },
	body_domain_text => sub { (expression('(SELECT bool_and(h(x)) FROM (VALUES (1), (2)) v (x))', give('DOMAIN d'), $telling, "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT \$1::SCHEMA.d IS NOT NULL';\n"), unseen => 1) },
	body_domain_rows => sub { (expression('(SELECT sum(x) FROM h() AS r (x)) > 0', give('DOMAIN d'), $telling, "CREATE FUNCTION h() RETURNS SETOF int STABLE LANGUAGE sql AS 'SELECT 1::SCHEMA.d::int';\n"), unseen => 1) },
	variable => sub { (expression('h(1)', give('DOMAIN d'), $telling, "CREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'DECLARE v SCHEMA.d; BEGIN RETURN true; END';\n"), unseen => 1) },
	variable_row => sub { (expression('h(1)', give('DOMAIN d'), $telling, "CREATE TYPE t AS (x d);\nCREATE FUNCTION h(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'DECLARE v SCHEMA.t; BEGIN SELECT 1 INTO v; RETURN true; END';\n"), unseen => 1) },
	body_call => sub { (expression('h(1)', give('DOMAIN d'), $telling, "CREATE PROCEDURE p(int) LANGUAGE plpgsql AS 'BEGIN END';\nCREATE FUNCTION h(int) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS 'BEGIN CALL p((\$1::d)::int); RETURN true; END';\n"), fixed => 0, unseen => 1) },
	text_run => sub { (expression("query_to_xml('SELECT SCHEMA.f(1)', true, true, '') IS NOT NULL", $give_f, $f), fixed => 0, unseen => 1) },
	domain_of_text => sub { (expression("query_to_xml('SELECT 1::SCHEMA.d', true, true, '') IS NOT NULL", give('DOMAIN d'), $telling), fixed => 0, unseen => 1) },
	# aggregates
	state => sub { aggregate($over_true, 's(boolean, boolean)', function('s(boolean, boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = s, STYPE = boolean);\n") },
	final => sub { aggregate($over_true, 's(boolean)', function('s(boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, FINALFUNC = s);\n") },
	combine => sub { aggregate($over_true, 's(boolean, boolean)', function('s(boolean, boolean)', 'boolean', 'true'), "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, COMBINEFUNC = s);\n") },
	serialize => sub { aggregate('(SELECT agg(x) FROM (VALUES (1::int8)) v (x)) > 0', 'ser(internal)', $sum) },
	deserialize => sub { aggregate('(SELECT agg(x) FROM (VALUES (1::int8)) v (x)) > 0', 'deser(bytea, internal)', $sum) },
	moving => sub { aggregate($moving, 's(boolean, boolean)', function('s(boolean, boolean)', 'boolean', 'true', 'IMMUTABLE STRICT'), plain('i(boolean, boolean)', 'boolean', 'true') =~ s/IMMUTABLE/IMMUTABLE STRICT/r, "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, MSFUNC = s, MINVFUNC = i, MSTYPE = boolean);\n") },
	inverse => sub { aggregate($moving, 's(boolean, boolean)', function('s(boolean, boolean)', 'boolean', 'true', 'IMMUTABLE STRICT'), "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, MSFUNC = booland_statefunc, MINVFUNC = s, MSTYPE = boolean);\n") },
	moving_final => sub { aggregate($moving, 's(boolean)', function('s(boolean)', 'boolean', 'true'), plain('i(boolean, boolean)', 'boolean', 'true') =~ s/IMMUTABLE/IMMUTABLE STRICT/r, "CREATE AGGREGATE agg(boolean) (SFUNC = booland_statefunc, STYPE = boolean, MSFUNC = booland_statefunc, MINVFUNC = i, MSTYPE = boolean, MFINALFUNC = s);\n") },
	sort_operator => sub { aggregate('(SELECT agg(x) FROM (VALUES (1)) v (x)) > 0', 'is_1(int, int)', class_of_int('<<<'), "CREATE AGGREGATE agg(int) (SFUNC = int4smaller, STYPE = int, SORTOP = <<<);\n") },
	state_type => sub { (aggregate('(SELECT agg(x) FROM (VALUES (1)) v (x)) IS NOT NULL', 'f(int)', $domain, "CREATE FUNCTION s(d, int) RETURNS d IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN \$2; END';\nCREATE FUNCTION t(d) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';\nCREATE AGGREGATE agg(int) (SFUNC = s, STYPE = d, FINALFUNC = t);\n")) },
	state_start => sub { (aggregate('(SELECT agg(x) FROM (VALUES (1)) v (x)) IS NOT NULL', 'f(int)', $domain, "CREATE TYPE t AS (x d);\nCREATE FUNCTION s(t, int) RETURNS t IMMUTABLE LANGUAGE sql AS 'SELECT \$1';\nCREATE FUNCTION u(t) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';\nCREATE AGGREGATE agg(int) (SFUNC = s, STYPE = t, FINALFUNC = u, INITCOND = '(1)');\n")) },
	moving_start => sub {
		aggregate('(SELECT count(w) FROM (SELECT agg(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w FROM (VALUES (1), (2), (3)) v (x)) u) >= 0', 'f(int)', $domain, "CREATE TYPE t AS (x d);\nCREATE FUNCTION s(t, int) RETURNS t IMMUTABLE LANGUAGE sql AS 'SELECT \$1';\nCREATE FUNCTION u(t) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';\n",
			"CREATE AGGREGATE agg(int) (SFUNC = int4smaller, STYPE = int, MSFUNC = s, MINVFUNC = s, MSTYPE = t, MFINALFUNC = u, MINITCOND = '(1)');\n")
	},
	# types
	(map { my $of = $_->[0]; ($of =~ /^(\w+)/)[0] => sub { (expression($of =~ /^base_in/ ? "'1'::text::base IS NOT NULL" : "'1'::base IS NOT NULL", give("FUNCTION $of"), $base), fixed => 0) } } @base),
	# (the array's own input leads there, which the tree of the expression does not name)
	base_in_array => sub { (expression("'{1}'::text::base[] IS NOT NULL", give('FUNCTION base_in(cstring)'), $base), fixed => 0) },
	subscripts => sub {
		my @of = ([ 'subs_in(cstring)', 'subs', 'point_in' ], [ 'subs_out(subs)', 'cstring', 'point_out' ], [ 'subs_at(internal)', 'internal', 'raw_array_subscript_handler' ]);
		(expression("('(1,2)'::subs)[0] IS NOT NULL", give('FUNCTION subs_at(internal)'), super("CREATE TYPE subs;\n", map({ internal(@$_) } @of), "CREATE TYPE subs (INPUT = subs_in, OUTPUT = subs_out, LIKE = point, ELEMENT = float8, SUBSCRIPT = subs_at);\n", owned(map { $_->[0] } @of))), fixed => 0)
	},
	domain_check => sub { expression('1::d IS NOT NULL', $give_f, $domain) },
	domain => sub { expression('1::d IS NOT NULL', give('DOMAIN d') . $give_f, $domain) },
	domain_alone => sub { expression('1::d IS NOT NULL', give('DOMAIN d'), $telling) },
	domain_of_domain => sub { expression("'1'::text::o IS NOT NULL", give('DOMAIN d') . $give_f, $domain, "CREATE DOMAIN o AS d;\n") },
	array => sub { expression("'{1}'::text::d[] IS NOT NULL", $give_f, $domain) },
	row => sub { expression("'(1)'::text::t IS NOT NULL", $give_f, $domain, "CREATE TYPE t AS (x d);\n") },
	row_of_table => sub { expression("'(1,1)'::text::t IS NOT NULL", $give_f, $domain, "CREATE TABLE t (z int, y d);\n") },
	range => sub { expression("'[1,2)'::text::r IS NOT NULL", $give_f, $domain, "CREATE TYPE r AS RANGE (SUBTYPE = d);\n") },
	multirange => sub { expression("'{[1,2)}'::text::m IS NOT NULL", $give_f, $domain, "CREATE TYPE r AS RANGE (SUBTYPE = d, MULTIRANGE_TYPE_NAME = m);\n") },
	range_class => sub { expression("'[1,2)'::r IS NOT NULL", give('FUNCTION order_of(int, int)'), class_of_int('order'), "CREATE TYPE r AS RANGE (SUBTYPE = int, SUBTYPE_OPCLASS = ops);\n") },
	range_difference => sub { expression("'[1,2)'::r IS NOT NULL", give('FUNCTION diff(int, int)'), function('diff(int, int)', 'float8', '$1 - $2'), "CREATE TYPE r AS RANGE (SUBTYPE = int, SUBTYPE_DIFF = diff);\n") },
	canonical => sub { expression("'[1,2)'::r IS NOT NULL", give('FUNCTION canon(r)'), super("CREATE TYPE r;\n", internal('canon(r)', 'r', 'int4range_canonical'), "CREATE TYPE r AS RANGE (SUBTYPE = int, CANONICAL = canon);\n", owned('canon(r)'))) },
	# relations
	view_of_another => sub { (made => '', calls => "nextval('public.ran') > 0", where => 'view', given => "GRANT SELECT ON r0_t TO enemy;\nALTER VIEW r0 OWNER TO enemy;\nGRANT SELECT ON r0 TO owner;\nGRANT USAGE ON SCHEMA SCHEMA TO enemy;\n") },
	policy_of_another => sub { (made => '', calls => "nextval('public.ran') > 0", where => 'policy', given => "ALTER TABLE r0 OWNER TO enemy;\nGRANT SELECT ON r0 TO owner;\n") },
	rule_of_another => sub { (made => '', calls => "nextval('public.ran') > 0", where => 'rule', given => "ALTER TABLE r0 OWNER TO enemy;\nGRANT SELECT ON r0 TO owner;\n") },
	foreign_of_another => sub { (made => '', calls => 'true', where => 'foreign', given => "ALTER TABLE r0 OWNER TO enemy;\nGRANT SELECT ON r0 TO owner;\n") },
	child_of_another => sub { (made => '', calls => "nextval('public.ran') > 0", where => 'child_policy', given => "ALTER TABLE r0_c OWNER TO enemy;\nGRANT SELECT ON r0_c TO owner;\n") },
	handler => sub { (made => '', calls => 'true', where => 'foreign', given => give('FUNCTION public.file_fdw_handler()'), after => "ALTER FUNCTION public.file_fdw_handler() OWNER TO postgres;\n") },
);
if ($version >= 16)
{
	$code{json_constructor} = sub { my %is = expression("JSON_ARRAY('a'::e RETURNING json) IS NOT NULL", give('FUNCTION json_of(e)'), "CREATE TYPE e AS ENUM ('a');\n", function('json_of(e)', 'json', q(''1''::json)), "CREATE CAST (e AS json) WITH FUNCTION json_of(e);\n"); (%is, fixed => 0) };
}

# ---- places: relations of id, a, b that have an expression ----

my $rows = 'SELECT i AS id, i % 4 AS a, i % 3 AS b FROM generate_series(1, 60) i';
my %place = (
	view => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, a, b FROM ${r}_t WHERE $x;\n" },
	column => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, CASE WHEN $x THEN a END AS a, b FROM ${r}_t;\n" },
	grouped => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, a, max(b) AS b FROM ${r}_t GROUP BY id, a HAVING $x;\n" },
	policy => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nALTER TABLE $r ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\nCREATE POLICY p ON $r USING ($x);\n" },
);
my %fixed = (
	index => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE INDEX ON $r ((CASE WHEN $x THEN 1 END));\n" },
	predicate => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE INDEX ON $r (a) WHERE $x;\n" },
	stored_index => sub { my ($r, $x) = @_; "CREATE MATERIALIZED VIEW $r AS $rows;\nCREATE INDEX ON $r ((CASE WHEN $x THEN 1 END));\n" },
	check => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nALTER TABLE $r ADD CHECK ($x);\n" },
	statistics => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE STATISTICS ${r}_s ON (CASE WHEN $x THEN a END), b FROM $r;\n" },
	key => sub { my ($r, $x) = @_; "CREATE TABLE $r (id int, a int, b int) PARTITION BY LIST ((CASE WHEN $x THEN a END));\nCREATE TABLE ${r}_1 PARTITION OF $r FOR VALUES IN (1, 2);\nCREATE TABLE ${r}_d PARTITION OF $r DEFAULT;\nINSERT INTO $r $rows;\n" },
	of_key => sub { my ($r, $x) = @_; "CREATE TABLE ${r}_p (id int, a int, b int) PARTITION BY LIST ((CASE WHEN $x THEN a END));\nCREATE TABLE $r PARTITION OF ${r}_p DEFAULT;\nINSERT INTO ${r}_p $rows;\n" },
	child => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE TABLE ${r}_c () INHERITS ($r);\nCREATE INDEX ON ${r}_c (a) WHERE $x;\n" },
);
# (Virtual columns are no place: PostgreSQL refuses functions and types of users there.)
my %alone = (
	index_of_class => sub { my ($r) = @_; "CREATE TABLE $r AS $rows;\nCREATE INDEX ON $r (a ops);\n" },
	key_of_class => sub { my ($r) = @_; "CREATE TABLE $r (id int, a int, b int) PARTITION BY LIST (a ops);\nCREATE TABLE ${r}_d PARTITION OF $r DEFAULT;\nINSERT INTO $r $rows;\n" },
	rule => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE RULE also AS ON UPDATE TO $r WHERE $x DO ALSO SELECT 1;\n" },
	child_policy => sub { my ($r, $x) = @_; "CREATE TABLE $r AS $rows;\nCREATE TABLE ${r}_c () INHERITS ($r);\nALTER TABLE ${r}_c ENABLE ROW LEVEL SECURITY;\nCREATE POLICY p ON ${r}_c USING ($x);\n" },
	foreign => sub { my ($r) = @_; super("CREATE FOREIGN TABLE $r (id int, a int, b int) SERVER files OPTIONS (program 'seq 1 60 | awk ''{ print \$1 \",\" \$1 % 4 \",\" \$1 % 3 }''', format 'csv');\nALTER TABLE $r OWNER TO owner;\n") },
);

# ---- levels: relations that read another one ----

my %level = (
	view => sub { my ($r, $s) = @_; "CREATE VIEW $r AS SELECT id, a, b FROM $s;\n" },
	invoker => sub { my ($r, $s) = @_; "CREATE VIEW $r WITH (security_invoker = true) AS SELECT id, a, b FROM $s;\n" },
	union => sub { my ($r, $s) = @_; "CREATE VIEW $r AS SELECT id, a, b FROM $s WHERE a < 2 UNION ALL SELECT id, a, b FROM $s WHERE a >= 2;\n" },
	with => sub { my ($r, $s) = @_; "CREATE VIEW $r AS WITH w AS MATERIALIZED (SELECT * FROM $s) SELECT id, a, b FROM w;\n" },
	sublink => sub { my ($r, $s) = @_; "CREATE TABLE ${r}_t AS $rows;\nCREATE VIEW $r AS SELECT id, a, (SELECT max(s.b) FROM $s s WHERE s.id = t.id) AS b FROM ${r}_t t;\n" },
	policy => sub { my ($r, $s) = @_; "CREATE TABLE $r AS $rows;\nALTER TABLE $r ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\nCREATE POLICY p ON $r USING (id IN (SELECT s.id FROM $s s));\n" },
	function => sub { my ($r, $s) = @_; "CREATE FUNCTION ${r}_f() RETURNS TABLE (id int, a int, b int) STABLE LANGUAGE sql BEGIN ATOMIC SELECT id, a, b FROM $s; END;\nCREATE VIEW $r AS SELECT id, a, b FROM ${r}_f();\n" },
);

sub codes { return sort keys %code; }
sub code { my ($name) = @_; die "no code $name" if !$code{$name}; return $code{$name}->(); }
sub levels { return sort keys %level; }
sub level { my ($name, @of) = @_; return $level{$name}->(@of); }
sub places { my (%is) = @_; return $is{where} ? ($is{where}) : sort keys %place, $is{fixed} ? keys %fixed : (); }
sub place { my ($name, @of) = @_; return ($place{$name} // $fixed{$name} // $alone{$name})->(@of); }
sub all_places { return sort keys %place, keys %fixed; }

1;
