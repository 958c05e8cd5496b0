# Guard 12: nothing that kanon runs or binds can be supplied by somebody else.  A role
# that may create things fills a schema with operators, functions, casts, types and
# tables for whatever kanon could mean, and installs kanon into it.  Then a superuser
# reads every view and calls every function, with that schema in front of
# everything else.  Whatever of the planted runs, counts a sequence up.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::new_node('main');
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE ROLE planter LOGIN;
CREATE DATABASE lab;
GRANT CREATE ON DATABASE lab TO planter;
E

# ---- planting ----

# Every pair of the types that kanon has to do with, under every operator's name; what
# it returns would let the statement around it go on.
my $plant = <<'E';
CREATE SCHEMA s;
GRANT USAGE ON SCHEMA s TO PUBLIC;
CREATE SEQUENCE s.ran;
GRANT ALL ON s.ran TO PUBLIC;
CREATE FUNCTION s.note(what pg_catalog.text) RETURNS pg_catalog.bool LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_catalog.nextval('s.ran');
    RAISE WARNING 'planted % runs as %', what, current_user;
    RETURN true;
END $$;
CREATE TYPE s.evil AS (x pg_catalog.int4);
CREATE TABLE s.plantable AS
SELECT format_type(t, NULL) AS type, t FROM unnest('{bool,"\"char\"",name,int2,int4,int8,float4,float8,numeric,text,varchar,bpchar,
    oid,tid,regclass,regproc,regrole,regtype,regnamespace,json,jsonb,interval,timestamptz,timestamp,date,bytea,
    name[],text[],int4[],int8[],float8[],oid[],int2vector,oidvector,aclitem[],"\"char\"[]",anyelement,anyarray,anycompatible,s.evil}'::regtype[]) AS t;
-- functions of one name, told apart by their arguments, per kind of result
DO $$
DECLARE
    l record; r record; result text;
BEGIN
    FOR l IN SELECT * FROM s.plantable LOOP
        FOR r IN SELECT * FROM s.plantable LOOP
            CONTINUE WHEN (l.type LIKE 'anycomp%' AND r.type IN ('anyelement', 'anyarray'))
                OR (r.type LIKE 'anycomp%' AND l.type IN ('anyelement', 'anyarray'));
            FOREACH result IN ARRAY '{bool,float8,text,int8,jsonb}'::text[] LOOP
                EXECUTE format('CREATE FUNCTION s.plant_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L', result, l.type, r.type, result,
                    format('BEGIN PERFORM s.note(%L); RETURN NULL; END', format('operator on (%s, %s) for %s', l.type, r.type, result)));
            END LOOP;
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
-- every function of pg_catalog's again, and with arguments that fit better what is not exact
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT DISTINCT ON (p.proname, a.types) p.proname, a.types, CASE WHEN p.proretset THEN 'SETOF ' ELSE '' END || format_type(p.prorettype, NULL) AS result
        FROM pg_proc p, LATERAL (
            SELECT string_agg(format_type(t, NULL), ', ' ORDER BY nr) AS types FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, nr)
            UNION
            SELECT string_agg(CASE WHEN t IN ('float8'::regtype, 'numeric'::regtype) THEN 'bigint' WHEN t = 'int8'::regtype THEN 'integer'
                WHEN t = 'text'::regtype THEN 'name' WHEN t = 'name'::regtype THEN 'text' WHEN t = 'oid'::regtype THEN 'regclass'
                WHEN t = '"any"'::regtype THEN 'text' ELSE format_type(t, NULL) END, ', ' ORDER BY nr)
            FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, nr)
            UNION
            SELECT string_agg('text', ', ') FROM unnest(p.proargtypes) AS t) AS a
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.oid < 16384
            AND p.prorettype::regtype::text !~ '^("any"|any.*|trigger|event_trigger|.*_handler|internal|cstring|record|pg_ddl.*|unknown)$'
            AND coalesce(a.types, '') !~ '("any"|internal|cstring|any|trigger|_handler|record|unknown|pg_ddl)'
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION s.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.proname, coalesce(f.types, ''), f.result,
                CASE WHEN f.result LIKE 'SETOF%' THEN 'BEGIN PERFORM s.note(' || quote_literal(f.proname) || '); RETURN; END'
                     WHEN f.result = 'void' THEN 'BEGIN PERFORM s.note(' || quote_literal(f.proname) || '); END'
                     ELSE 'BEGIN PERFORM s.note(' || quote_literal(f.proname) || '); RETURN NULL; END' END);
        EXCEPTION WHEN OTHERS THEN NULL; -- what cannot be made in plpgsql; they are counted below
        END;
    END LOOP;
END $$;
-- casts from and to a type of one's own, and what takes that
DO $$
DECLARE
    p record;
BEGIN
    FOR p IN SELECT * FROM s.plantable WHERE type !~ '^(any|s\.)' AND type NOT IN ('regproc', 'int2vector', 'oidvector') LOOP
        EXECUTE format('CREATE FUNCTION s.to_evil(%s) RETURNS s.evil LANGUAGE plpgsql AS %L', p.type, 'BEGIN PERFORM s.note(''cast''); RETURN ROW(1); END');
        EXECUTE format('CREATE FUNCTION s.from_evil_%s(s.evil) RETURNS %s LANGUAGE plpgsql AS %L', p.t::oid, p.type, 'BEGIN PERFORM s.note(''cast''); RETURN NULL; END');
        EXECUTE format('CREATE CAST (%s AS s.evil) WITH FUNCTION s.to_evil(%s) AS IMPLICIT', p.type, p.type);
        EXECUTE format('CREATE CAST (s.evil AS %s) WITH FUNCTION s.from_evil_%s(s.evil) AS IMPLICIT', p.type, p.t::oid);
    END LOOP;
END $$;
CREATE FUNCTION s.note_state(s pg_catalog.int8, x pg_catalog.int8) RETURNS pg_catalog.int8 LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('aggregate'); RETURN 1; END $$;
CREATE FUNCTION s.note_state(s pg_catalog.int8) RETURNS pg_catalog.int8 LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('aggregate'); RETURN 1; END $$;
CREATE AGGREGATE s.count(*) (SFUNC = s.note_state, STYPE = pg_catalog.int8);
CREATE AGGREGATE s.sum(pg_catalog.int8) (SFUNC = s.note_state, STYPE = pg_catalog.int8);
CREATE AGGREGATE s.min(pg_catalog.int8) (SFUNC = s.note_state, STYPE = pg_catalog.int8);
CREATE AGGREGATE s.max(pg_catalog.int8) (SFUNC = s.note_state, STYPE = pg_catalog.int8);
-- types, catalogs and what kanon's own tables bring along, under their names
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{text,name,int8,int4,int,bigint,bool,boolean,float8,numeric,jsonb,interval,regclass,regrole,timestamptz,date,oid,_name,_text,tid}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION s.check_%s(pg_catalog.text) RETURNS pg_catalog.bool LANGUAGE plpgsql AS %L', name, 'BEGIN PERFORM s.note(''a domain''); RETURN true; END');
        EXECUTE format('CREATE DOMAIN s.%I AS pg_catalog.text CHECK (s.check_%s(VALUE))', name, name);
    END LOOP;
    FOREACH name IN ARRAY '{pg_class,pg_namespace,pg_attribute,pg_depend,pg_rewrite,pg_seclabel,pg_extension,pg_proc,pg_type,pg_inherits,pg_constraint}'::text[] LOOP
        EXECUTE format('CREATE VIEW s.%I AS SELECT %s, s.note(''a catalog'') FROM pg_catalog.%I', name,
            (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = ('pg_catalog.' || name)::regclass AND atttypid <> 'anyarray'::regtype AND (attnum > 0 OR attname = 'oid')), name);
        EXECUTE format('GRANT SELECT ON s.%I TO PUBLIC', name);
    END LOOP;
END $$;
CREATE COLLATION s."C" FROM pg_catalog."C";
CREATE SEQUENCE s.kanon_run_run_seq INCREMENT -1 CYCLE MINVALUE 1 MAXVALUE 2 START 1;
E
my ($ret, $stdout, $stderr) = $node->psql('lab', "SET client_min_messages = error;\n$plant", extra_params => [ '-U', 'planter' ], on_error_stop => 1);
is($stderr, '', 'planted');
# (as CREATE OPERATOR makes them, one after the other)
$node->safe_psql('lab', <<'E');
INSERT INTO pg_operator (oid, oprname, oprnamespace, oprowner, oprkind, oprcanmerge, oprcanhash, oprleft, oprright, oprresult, oprcom, oprnegate, oprcode, oprrest, oprjoin)
SELECT pg_nextoid('pg_operator', 'oid', 'pg_operator_oid_index'), o.name, 's'::regnamespace, 'planter'::regrole, 'b', false, false, l.t, r.t, p.prorettype, 0, 0, p.oid, 0, 0
FROM s.plantable l, s.plantable r, unnest('{=,<>,<,<=,>,>=,+,-,*,/,%,||,->,->>,#>>,@>,<@,&&,~,!~,~~,!~~,?}'::text[]) AS o (name), pg_proc p
WHERE p.pronamespace = 's'::regnamespace AND p.proargtypes = (l.t::oid || ' ' || r.t::oid)::oidvector
    AND p.proname = 'plant_' || CASE WHEN o.name ~ '^[<>=!~@?&]' THEN 'bool' WHEN o.name ~ '^(->)' THEN 'jsonb'
        WHEN o.name = '||' THEN 'text' WHEN l.type IN ('int8', 'bigint') AND r.type IN ('bigint', 'integer') THEN 'int8' ELSE 'float8' END
E
like(($node->psql('lab', "SET search_path = s, pg_catalog; SELECT 1 $_ 2::pg_catalog.int8"))[2], qr/planted operator/, "and $_ does run") foreach qw(= < -);
cmp_ok($node->safe_psql('lab', "SELECT count(*) FROM pg_proc WHERE pronamespace = 's'::regnamespace AND proname !~ '^(plant_|from_evil|check_)'"), '>', 4000, 'functions');
cmp_ok($node->safe_psql('lab', "SELECT count(*) FROM pg_operator WHERE oprnamespace = 's'::regnamespace"), '>', 30000, 'operators');

($ret, $stdout, $stderr) = $node->psql('lab', 'CREATE EXTENSION kanon SCHEMA s', extra_params => [ '-U', 'planter' ]);
is($stderr, '', 'kanon is installed among them');
is($node->safe_psql('lab', slurp_file("$ENV{TESTDIR}/t/lib/bindings.sql")), '', 'and binds nothing of it');

# ---- everything that can be read or called, in front of it what was planted ----

$node->safe_psql('lab', <<'E');
CREATE SCHEMA own;
CREATE TABLE own.person AS
SELECT i AS who, i % 5 AS a, ('z' || 100 + i % 4) COLLATE "C" AS zip, date '2020-01-01' + i % 50 AS born, 1.5 * (i % 6) AS num, 'd' || i % 3 AS note,
       i % 7 / 2.0::float8 AS f, 2 + i % 3 AS wanted, '{a,b}'::text[] AS items
FROM generate_series(1, 240) i;
CREATE TABLE own.shares AS SELECT 'a' AS column_name, i::text AS value, 0.2::float8 AS share FROM generate_series(0, 4) i
UNION ALL SELECT 'zip', 'z' || 100 + i, 0.25 FROM generate_series(0, 3) i;
CREATE TABLE own.population AS SELECT * FROM own.person UNION ALL SELECT * FROM own.person;
CREATE TABLE own.people AS SELECT 10000 + i AS zip, 30000 AS people FROM generate_series(1, 9) i;
CREATE TABLE own.place AS SELECT 'z' || 100 + i AS k, CASE WHEN i < 4 THEN 'z' || 104 END AS up FROM generate_series(0, 4) i;
ALTER TABLE own.place ADD PRIMARY KEY (k), ADD FOREIGN KEY (up) REFERENCES own.place;
E

# The calls say the types of all that they hand over: what a caller's own words
# mean is the caller's affair.
sub names { return "'{$_[0]}'::pg_catalog._name" }
sub text { return "'$_[0]'::pg_catalog.text" }
sub int8 { return "'$_[0]'::pg_catalog.int8" }
sub publish
{
	my ($function, $target, $qis, $rest) = @_;
	return "SELECT * FROM s.$function(source => 'own.person'::pg_catalog.regclass, target => " . text("own.$target") . ', quasi_identifiers => '
	  . names($qis) . ', k => ' . int8(3) . ($rest ? ", $rest" : '') . ')';
}
sub hierarchy
{
	my ($function, $column, $target, $rest) = @_;
	return "SELECT s.$function('own.person'::pg_catalog.regclass, '$column'::pg_catalog.name, " . text("own.$target") . ", $rest)";
}
my $replace = "replace => 'true'::pg_catalog.bool";
my $true = "'true'::pg_catalog.bool";
my $by_levels = q(hierarchies => '{"a": "own.h_interval", "zip": "own.h_prefix"}'::pg_catalog.jsonb);
my $person = "'own.person'::pg_catalog.regclass";
my $privacy = 'privacy => ARRAY[s.kanon_distinct_l(' . "'note'::pg_catalog.name, '2'::pg_catalog.int4)";
my @calls = (
	hierarchy('kanon_hierarchy_interval', 'a', 'h_interval', "'{2,4}'::pg_catalog._numeric, $replace"),
	hierarchy('kanon_hierarchy_interval', 'num', 'h_num', "'{2,4}'::pg_catalog._numeric, $replace"),
	hierarchy('kanon_hierarchy_interval', 'f', 'h_f', "'{1,2}'::pg_catalog._numeric, $replace"),
	hierarchy('kanon_hierarchy_interval', 'born', 'h_born', "'{7,28}'::pg_catalog._numeric, $replace"),
	hierarchy('kanon_hierarchy_prefix', 'zip', 'h_prefix', "'{3,2,1}'::pg_catalog._int4, $replace"),
	hierarchy('kanon_hierarchy_date', 'born', 'h_date', "'{month,quarter,year,decade}'::pg_catalog._text, $replace"),
	hierarchy('kanon_hierarchy_quantile', 'num', 'h_quantile', "'{4,2}'::pg_catalog._int4, $replace"),
	hierarchy('kanon_hierarchy_quantile', 'zip', 'h_quantile_zip', "'{4,2}'::pg_catalog._int4, $replace"),
	hierarchy('kanon_hierarchy_from_fk', 'zip', 'h_fk', "lookup => 'own.place'::pg_catalog.regclass, key => 'k'::pg_catalog.name, parent => 'up'::pg_catalog.name, $replace"),
	"SELECT * FROM s.kanon_check_hierarchy('own.h_prefix'::pg_catalog.regclass, $person, 'zip'::pg_catalog.name, $true)",
	"SELECT * FROM s.kanon_check($person, " . names('a,zip') . ')',
	publish('kanon_pattern_guided', 't_plain', 'a,zip,born', "$replace, class_column => 'note'::pg_catalog.name, keep => " . names('note') . ", mark => $true"),
	publish('kanon_pattern_guided', 't_levels', 'a,zip', "$replace, $by_levels"),
	map({ publish('kanon_pattern_guided', 't_weights', 'a,zip', "$replace, weights => $_") }
		q('{"zip": 2}'::s.kanon_weights), q('{"zip": 2}'::pg_catalog.jsonb), map({ "'{1,2}'::pg_catalog.$_" } qw(_float8 _numeric _int4))),
	publish('kanon_full_domain', 't_builders', 'a,zip,born,num', "$replace, hierarchies => " . q('{"a": {"interval": [2, 4]}, "zip": {"hipaa_zip3": true, "population": "own.people"}, "born": {"date": ["month", "year"]}, "num": {"quantile": [4, 2]}}'::pg_catalog.jsonb)),
	publish('kanon_full_domain', 't_ready', 'a,zip', "$replace, hierarchies => " . q('{"a": {"age": true}, "zip": {"prefix": [3, 1]}}'::pg_catalog.jsonb)),
	publish('kanon_pattern_guided', 't_masked', 'a,zip', "$replace, keep => " . names('who,num,born,note,f') . ", mask => "
		  . q('{"who": {"pseudonym": "release"}, "num": {"round": 1, "top": 0.9, "bottom": 0.1}, "born": {"shift": "who", "days": 9}, "note": {"constant": "x"}, "f": {"constant": null}}'::pg_catalog.jsonb)),
	publish('kanon_pattern_guided', 't_privacy', 'a,zip', "$replace, keep => " . names('note') . ", $privacy"
		  . ", s.kanon_t_closeness('note'::pg_catalog.name, '0.9'::pg_catalog.float8, " . text('equal') . ')]'),
	publish('kanon_pattern_guided', 't_subject', 'a,zip', "$replace, privacy => ARRAY[s.kanon_subject('who'::pg_catalog.name)]"),
	publish('kanon_pattern_clustering', 't_clustering', 'a,zip', "$replace, patterns => '{--,-*,**}'::pg_catalog._text, method => " . text('greedy')),
	publish('kanon_cluster', 't_mondrian', 'a,num,born,zip', "$replace, method => " . text('mondrian')),
	publish('kanon_cluster', 't_k_one', 'a,num', "$replace, method => " . text('k_one')),
	publish('kanon_full_domain', 't_domain', 'a,zip', "$replace, $by_levels, privacy => ARRAY[s.kanon_k_map('own.population'::pg_catalog.regclass)]"),
	publish('kanon_freeform', 't_freeform', 'a,num', $replace),
	"SELECT * FROM s.kanon_check_freeform($person, 'own.t_freeform'::pg_catalog.regclass, " . names('a,num') . ', ' . int8(3) . ')',
	"SELECT * FROM s.kanon_check('own.t_freeform'::pg_catalog.regclass, " . names('a,num') . ')',
	# rules that the method mends its classes for, and what has no classes
	map({ my ($function, $method, $rest) = @$_; publish($function, "t_$method", 'a,zip', "$replace, keep => " . names('note') . ", $privacy" . '], method => ' . text($method) . $rest) }
		[ 'kanon_pattern_guided', 'improve', '' ], [ 'kanon_cluster', 'gather', '' ], [ 'kanon_pattern_clustering', 'fpt', ", patterns => '{--,-*,**}'::pg_catalog._text" ]),
	publish('kanon_freeform', 't_own', 'a,num', "$replace, k_column => 'wanted'::pg_catalog.name"),
	"SELECT * FROM s.kanon_check_freeform($person, 'own.t_own'::pg_catalog.regclass, " . names('a,num') . ', ' . int8(2) . ", 'wanted'::pg_catalog.name, '0'::pg_catalog.int4)",
	"SELECT * FROM s.kanon_risk($person, " . names('a,zip') . ", presence => s.kanon_presence('own.shares'::pg_catalog.regclass, " . int8(5000) . ", '0'::pg_catalog.float8, '1'::pg_catalog.float8, '0.5'::pg_catalog.float8))",
	"SELECT * FROM s.kanon_cross_training($person, " . text('own.t_cross') . ', ' . names('num,f') . ', ' . int8(3) . ", $replace)",
	"SELECT * FROM s.kanon_isolation('own.t_cross'::pg_catalog.regclass, $person, " . names('num,f') . ", '2'::pg_catalog.float8, " . int8(3) . ')',
	"SELECT * FROM s.kanon_synthetic($person, " . text('own.t_synthetic') . ', ' . names('a') . ", '5'::pg_catalog.float8, '0.1'::pg_catalog.float8, "
	  . q('{"a": {"from": 0, "to": 4}}'::pg_catalog.jsonb) . ", $replace)",
	"SELECT * FROM s.kanon_alpha_beta($person, " . text('own.t_drawn') . ', ' . names('a') . ", '0.2'::pg_catalog.float8, '0.6'::pg_catalog.float8, "
	  . q('{"a": {"from": 0, "to": 40}}'::pg_catalog.jsonb) . ", $replace)",
	"SELECT * FROM s.kanon_anatomy($person, " . text('own.t_rows') . ', ' . text('own.t_values') . ', ' . names('a,zip') . ", 'note'::pg_catalog.name, '2'::pg_catalog.int4, $replace)",
	"SELECT * FROM s.kanon_transactions($person, " . text('own.t_items') . ", 'items'::pg_catalog.name, k => " . int8(2) . ", $replace)",
	"SELECT * FROM s.kanon_attack($person, 'own.t_plain'::pg_catalog.regclass, 'who'::pg_catalog.name, " . names('a,zip') . ')',
	"SELECT * FROM s.kanon_compare($person, 'own.t_plain'::pg_catalog.regclass, " . names('a,zip,born') . ', ' . names('note') . ')',
	"SELECT * FROM s.kanon_distributions($person, 'own.t_plain'::pg_catalog.regclass, " . names('a,zip,born') . ', ' . int8(3) . ')',
	"SELECT s.kanon_checksum('own.t_plain'::pg_catalog.regclass)",
	"SELECT s.kanon_set_budget($person, '100'::pg_catalog.numeric)",
	"SELECT * FROM s.kanon_dp($person, " . text('sum') . ", '1'::pg_catalog.numeric, 'num'::pg_catalog.name, lower => '0'::pg_catalog.numeric, upper => '9'::pg_catalog.numeric)",
	"SELECT * FROM s.kanon_patterns(" . names('a,zip') . ')',
	"SELECT s.kanon_rules(never => " . names('a') . ')',
	"SELECT s.kanon_describe(" . text('-*') . ', ' . names('a,zip') . ')',
	"SELECT * FROM s.kanon_frontier($person, " . names('a,zip,born') . ", '{2,5}'::pg_catalog._int4)",
	"SELECT * FROM s.kanon_explain($person, " . names('a,zip,born') . ', ' . int8(5) . ", with_values => $true)",
	map({ my ($model, $names, $options) = @$_;
		  ("SELECT * FROM s.kanon_frontier($person, " . names($names) . ", '{2,5}'::pg_catalog._int4, model => " . text($model) . ", options => '$options'::pg_catalog.jsonb)",
		   "SELECT * FROM s.kanon_explain($person, " . names($names) . ', ' . int8(2) . ", with_values => $true, model => " . text($model) . ", options => '$options'::pg_catalog.jsonb)") }
		[ 'cluster', 'a,zip', '{"show": "auto", "keep": ["note"]}' ], [ 'freeform', 'a,zip', '{}' ], [ 'full_domain', 'a,zip', '{"hierarchies": {"a": {"interval": [2, 4]}}}' ],
		[ 'transactions', 'items', '{}' ], [ 'anatomy', 'a,zip', '{"sensitive": "note"}' ]),
	"SELECT * FROM s.kanon_risk($person, " . names('a,zip') . ', ' . names('note') . ", 'who'::pg_catalog.name, 'own.population'::pg_catalog.regclass)",
	"SELECT * FROM s.kanon_risk($person, " . names('a,zip') . ')',
	"SELECT * FROM s.kanon_risk_columns($person, " . names('a,zip,born,note') . ')',
	"SELECT * FROM s.kanon_suggest($person)",
	"SELECT * FROM s.kanon_suggest_call($person)",
	"SELECT * FROM s.kanon_check_policy('1'::pg_catalog.int8, " . text('ema_0070') . ')',
	"SELECT * FROM s.kanon_policy_options(" . text('ema_0070') . ", $person, " . names('a,zip') . ')',
	"SELECT s.kanon_create_policy(pg_catalog.concat(pg_catalog.random()), '[]'::pg_catalog.jsonb, " . text('own') . ')',
	'SELECT s.kanon_entropy_l(' . names('note') . ", '2'::pg_catalog.int4), s.kanon_recursive_cl('note'::pg_catalog.name, '2'::pg_catalog.float8, '2'::pg_catalog.int4),"
	  . " s.kanon_alpha('note'::pg_catalog.name, '0.5'::pg_catalog.float8, '{d1}'::pg_catalog._text), s.kanon_delta_presence('own.population'::pg_catalog.regclass, '0'::pg_catalog.float8, '1'::pg_catalog.float8)",
	'SELECT s.kanon_create_publication(' . text('own.visits') . ", $person, " . names('a,zip') . ', ' . int8(3)
	  . q(, '{"keep": ["note", "born"], "mark": true, "hierarchies": {"a": {"interval": [2, 4]}}, "mask": {"note": {"pseudonym": "publication"}, "born": {"shift": "who", "days": 9}}}'::pg_catalog.jsonb, keep_releases => '3'::pg_catalog.int4,)
	  . " stable => $true, key => 'who'::pg_catalog.name)",
	'SELECT * FROM s.kanon_refresh(' . text('own.visits') . ')',
	'SELECT s.kanon_alter_publication(' . text('own.visits') . ", protect_successive => $true, k => " . int8(4) . ')',
	"UPDATE own.person SET a = (a OPERATOR(pg_catalog.+) '1'::pg_catalog.int4) OPERATOR(pg_catalog.%) '5'::pg_catalog.int4 WHERE who OPERATOR(pg_catalog.<) '30'::pg_catalog.int4",
	'SELECT * FROM s.kanon_refresh(' . text('own.visits') . ", $true)",
	'SELECT * FROM s.kanon_compare_releases(' . text('own.visits') . ', ' . int8(1) . ', ' . int8(3) . ')',
	'SELECT * FROM s.kanon_publication_status()',
	'SELECT * FROM s.kanon_publication_status(' . text('own.visits') . ", '1 hour'::pg_catalog.interval)",
	'CALL s.kanon_refresh_all()',
	'SELECT s.kanon_report(run, ' . "$true, '{2,4}'::pg_catalog._int8) FROM s.kanon_usefulness",
	map({ "SELECT * FROM s.$_" } split(/\n/, $node->safe_psql('lab', q{SELECT viewname FROM pg_views WHERE schemaname = 's' AND viewname ~ '^kanon' ORDER BY 1}))),
	'SELECT s.kanon_drop_publication(' . text('own.visits') . ')');

# (said in the same session as the call, in words that nobody can plant anything for)
my $ran = 'SELECT last_value, is_called FROM s.ran';
sub ran { return $node->safe_psql('lab', $ran); }

sub try_all
{
	my ($path, @calls) = @_;
	my $before = ran();
	foreach my $call (@calls)
	{
		my $name = $call =~ /(kanon_\w+)/ ? $1 : $call;
		($ret, $stdout, $stderr) = $node->psql('lab', "SET search_path = $path;\nSET client_min_messages = warning;\n$call;\nSET search_path = pg_catalog;\n$ran", on_error_stop => 0);
		is($stderr, '', "$path: $name works");
		my ($after) = $stdout =~ /([^\n]*)\z/;
		is($after, $before, "$path: $name runs nothing of what was planted");
		$before = $after;
	}
}

try_all($_, @calls) foreach '"$user", public', 's, public', 's, pg_catalog';

# Functions beside kanon's, or members of the extension by its owner's will, that fit what it calls of its own as well, or leave it undecided.
$node->safe_psql('lab', <<'E', extra_params => [ '-U', 'planter' ]);
CREATE FUNCTION s.kanon_frontier(regclass, name[], bigint[], text, text[], jsonb, float8, float8, name[], s.kanon_weights, jsonb, text, jsonb[], name[], text)
RETURNS SETOF s.evil LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('an overload'); END $$;
CREATE FUNCTION s.kanon_frontier(regclass, name[], bigint[], text, text[], jsonb, float8, float8, name[], s.kanon_weights, jsonb, text, jsonb[],
    name[], text, interval, bigint, x int DEFAULT 0) RETURNS SETOF s.evil LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('an overload'); END $$;
CREATE FUNCTION s.kanon_describe(text, name[], x int DEFAULT 0) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('an overload'); END $$;
CREATE FUNCTION s.kanon_describe(text, text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('an overload'); END $$;
CREATE FUNCTION s.kanon_pattern_guided(source regclass, target text, quasi_identifiers name[], k bigint, keep name[] DEFAULT '{}', mark boolean DEFAULT false)
RETURNS TABLE (cost float8) LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('an overload'); END $$;
ALTER EXTENSION kanon ADD FUNCTION s.kanon_describe(text, text[]);
ALTER EXTENSION kanon ADD FUNCTION s.kanon_pattern_guided(regclass, text, name[], bigint, name[], boolean);
E
try_all('public', grep { /kanon_report|publication|refresh/ || /FROM s\.\w+$/ } @calls);
is(KanonNode::as($node, 'planter', 'lab', "ALTER EXTENSION kanon DROP $_"), '42501', "its owner cannot take $_ out of it")
  foreach 'TABLE s.kanon_run', 'VIEW s.kanon_usefulness', 'DOMAIN s.kanon_options', 'FUNCTION s.kanon_check(regclass, name[])';

# What the SQL calls that workers of Citus run: values of whatever types are one ROW, which fits `record` and nothing else exactly.
foreach my $call ([ 'kanon_sampled', 'integer', 'bigint', '31' ], [ 'kanon_row_type', 'bigint', 'integer', "(SELECT ('{7}'::pg_catalog._int8)[1])" ])
{
	my ($function, $first, $other, $number) = @$call;
	my $body = q(RETURNS pg_catalog.bytea LANGUAGE plpgsql AS $$ BEGIN PERFORM s.note('an overload'); RETURN NULL; END $$);

	is(KanonNode::as($node, 'planter', 'lab', "CREATE FUNCTION kanon_internal.$function($_) $body"), '42501', "nobody plants $function($_)")
	  foreach map({ ("$first, $_", "$other, $_") } 'VARIADIC text[]', 'text', 'anyelement', 'VARIADIC anyarray', 's.evil', 'anycompatible'), "$other, record";
	is(KanonNode::as($node, 'planter', 'lab', "CREATE OR REPLACE FUNCTION kanon_internal.$function($first, record) $body"), '42501', "nobody replaces $function");
	foreach my $values ("'secret'::pg_catalog.text", "'secret'::pg_catalog.text, 'more'::pg_catalog.text", "'1'::pg_catalog.int4", "'{a}'::pg_catalog._text, NULL::pg_catalog.text")
	{
		my $before = ran();

		($ret, $stdout, $stderr) = $node->psql('lab', "SET search_path = '';\nSELECT kanon_internal.$function($number, ROW($values)) IS NULL");
		is($stderr, '', "$function of $values");
		is(ran(), $before, 'is that of kanon');
	}
}
foreach my $call ([ 'kanon_shard_rows', ', 0, $${}$$::pg_catalog.name[]', ', integer, name[]' ], [ 'kanon_shard_types', '', '' ], [ 'kanon_shard_write', ', $$$$::pg_catalog.bytea, ARRAY[ROW(1)]', ', bytea, record[]' ])
{
	my ($function, $arguments, $types) = @$call;
	my $before = ran();

	is(KanonNode::as($node, 'planter', 'lab', "CREATE FUNCTION kanon_internal.$function($_) RETURNS SETOF pg_catalog.record LANGUAGE plpgsql AS \$\$ BEGIN PERFORM s.note('an overload'); END \$\$"), '42501', "nobody plants $function($_)")
	  foreach 'VARIADIC oid[]', map { "$_$types" } 'regclass', 'anyelement', 'bigint';
	($ret, $stdout, $stderr) = $node->psql('lab', "SET search_path = '';\nSELECT pg_catalog.count(*) FROM pg_catalog.pg_am AS t, LATERAL kanon_internal.$function(t.tableoid$arguments) AS g (amname name, n pg_catalog.int8)");
	is(ran(), $before, "$function is that of kanon");
}
is($node->safe_psql('lab', q{SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'kanon') AND (p.provariadic <> 0 OR EXISTS (SELECT FROM pg_type t WHERE t.oid = ANY (p.proargtypes) AND t.typname ~ '^any'))}),
	'', 'no function of kanon is one that calls do not match exactly');
done_testing();
