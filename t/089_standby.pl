# On a standby every function of the extension gives an answer, or says by 25006 that it writes, in plain words.
use strict;
use warnings;
use Test::More;
use KanonNode;

my $node = KanonNode::new_node('main', init => { allows_streaming => 1 });
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE EXTENSION kanon;
SET client_min_messages = error;
CREATE TABLE rows AS SELECT i AS id, i % 4 AS a, i % 3 AS b, 'x' || i % 5 AS c, ARRAY[i % 4] AS s FROM generate_series(1, 60) i;
ALTER TABLE rows ADD PRIMARY KEY (id);
CREATE TABLE visits AS SELECT i AS id, 1 + i % 60 AS row, i % 2 AS d, date '2020-01-01' + i % 9 AS day FROM generate_series(1, 120) i;
ALTER TABLE visits ADD PRIMARY KEY (id), ADD FOREIGN KEY (row) REFERENCES rows;
CREATE TABLE levels AS SELECT i AS value, i / 2 AS level1 FROM generate_series(0, 3) i;
CREATE SCHEMA kept; CREATE SCHEMA priv;
SELECT FROM kanon_pattern_guided('rows', 'shown', '{a,b}', 3);
SELECT kanon_create_publication('pub', 'rows', '{a,b}', 3, keep_releases => 2);
SELECT kanon_create_linked_publication('kept', 'rows', '{"rows": {"quasi_identifiers": ["a"]}, "visits": {"quasi_identifiers": ["d"]}}', 3, private_schema => 'priv');
SELECT status FROM kanon_refresh('pub');
SELECT kanon_set_budget('rows', 10);
-- each function with the arguments that it needs
CREATE TABLE calls AS
WITH usual(name, value) AS (VALUES ('source', '''rows'''), ('relation', '''rows'''), ('subject', '''rows'''), ('population', '''rows'''), ('released', '''shown'''), ('target', '''made'''), ('distributions', '''rows'''),
    ('quasi_identifiers', '''{a,b}'''), ('columns', '''{a,b}'''), ('known', '''{a}'''), ('k', '3'), ('l', '2'), ('key', '''id'''), ('items', '''s'''), ('column_name', '''a'''), ('column_names', '''{c}'''), ('sensitive', '''c'''), ('publication', '''pub'''), ('name', '''new'''),
    ('tables', '''{"rows": {"quasi_identifiers": ["a"]}, "visits": {"quasi_identifiers": ["d"]}}'''), ('run', '1'), ('pattern', '''--'''), ('levels', '''{}'''), ('aggregate', '''count'''), ('epsilon', '1'), ('delta', '1e-6'), ('ks', '''{2}'''), ('domains', '''{"a": {"from": 0, "to": 99}, "b": [0, 1, 2]}'''),
    ('document', '''{}'''), ('role', '''postgres'''), ('target_schema', '''priv'''), ('quasi_target', '''q'''), ('sensitive_target', '''r'''), ('d', '0.1'), ('gamma', '0.5'), ('t', '3'), ('c', '2'), ('a', '1'), ('b', '2'), ('dmin', '0.1'), ('dmax', '0.5'), ('alpha', '0.5'), ('beta', '0.5'), ('counted', '5'), ('domain', '5'),
    ('widths', '''{2}'''), ('groups', '''{2}'''), ('keep', '''{1}'''), ('population_rows', '100'), ('confidence', '0.5'), ('relations', '''[]'''), ('page', '''{}'''), ('known_columns', '1'))
SELECT row_number() OVER (ORDER BY p.proname, p.oid) AS number, p.proname AS told,
    format(CASE p.prokind WHEN 'p' THEN 'CALL %I.%I(%s)' ELSE 'SELECT * FROM %I.%I(%s)' END, p.pronamespace::regnamespace, p.proname,
        (SELECT string_agg(format('%I => %s', n.name, CASE WHEN p.proname = 'kanon_label' AND n.name = 'role' THEN '''sensitive''' WHEN p.proname = 'kanon_hierarchy_date' AND n.name = 'source' THEN '''visits''' WHEN p.proname = 'kanon_hierarchy_date' AND n.name = 'column_name' THEN '''day''' WHEN p.proname IN ('kanon_hierarchy_from_fk', 'kanon_hierarchy_prefix') AND n.name = 'column_name' THEN '''c''' WHEN p.proname = 'kanon_t_closeness' AND n.name = 't' THEN '0.5' WHEN p.proname = 'kanon_create_linked_publication' AND n.name = 'name' THEN '''priv''' WHEN p.proname LIKE 'kanon\_check\_hierarchy' AND n.name = 'relation' THEN '''levels''' WHEN n.name = 'target' AND p.pronargs - p.pronargdefaults > n.place AND 'target' = ANY (p.proargnames) AND p.proargtypes[n.place - 1] = 'regclass'::regtype THEN '''shown''' ELSE coalesce(u.value, 'NULL') END), ', ' ORDER BY n.place)
         FROM unnest(p.proargnames[1 : p.pronargs - p.pronargdefaults]) WITH ORDINALITY n (name, place) LEFT JOIN usual u ON u.name = n.name)) AS statement
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'kanon'
WHERE p.pronamespace <> 'kanon_internal'::regnamespace;
INSERT INTO calls SELECT 1000 + row_number() OVER (ORDER BY number), told || ' dry', replace(statement, ')', ', dry_run => true)') FROM calls
WHERE EXISTS (SELECT FROM pg_proc p WHERE p.proname = told AND 'dry_run' = ANY (p.proargnames)) AND statement NOT LIKE '%)%)%';
INSERT INTO calls SELECT 2000 + row_number() OVER (ORDER BY table_name), table_name, format('SELECT count(*) FROM %I', table_name) FROM information_schema.views WHERE table_name LIKE 'kanon\_%';
E
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my @calls = split /\n/, $standby->safe_psql('postgres', 'SELECT told, statement FROM calls ORDER BY number');
cmp_ok(scalar(@calls), '>', 90, 'every function and view is called');
my (undef, undef, $errors) = $standby->psql('postgres', "\\set VERBOSITY verbose\n" . join('', map { (split /\|/, $_, 2)[1] . ";\n" } @calls), on_error_stop => 0);
# (a function in SQL is named by its context)
# without what no value fits that another function takes: these say so
my %other = (kanon_pattern_clustering => '22004', kanon_estimate_bounds => '22004', kanon_transactions => '22023', kanon_page => '22023', kanon_compare_releases => '55000');
my (%wrote, @raw);
foreach my $error (split /^(?=psql:<stdin>:\d+: )/m, $errors)
{
	my ($line, $state, $message) = $error =~ /^psql:<stdin>:(\d+): ERROR:  (\w+): (.*)/ or next;
	my ($told) = split /\|/, $calls[ $line - 2 ];
	if ($state eq '25006') { $wrote{$told} = $message; push @raw, "$told: $message" if $message !~ /\bkanon_\w+\(?\)?|standby/ && $told ne 'kanon_create_policy'; next; }
	push @raw, "$told: $state $message" if ($other{ ($told =~ /(\w+)/)[0] } // '') ne $state;
}
is(join("\n", @raw), '', 'an answer, or 25006 in words about the function');
is($wrote{$_} // '', "cannot execute $_ in a read-only transaction", "$_ writes") foreach 'kanon_refresh', 'kanon_refresh_all', 'kanon_set_budget', 'kanon_create_publication', 'kanon_linked_frontier';
is($wrote{$_}, undef, "$_ answers") foreach 'kanon_check', 'kanon_risk', 'kanon_suggest', 'kanon_frontier', 'kanon_report', 'kanon_publication_status', 'kanon_usefulness', 'kanon_check_linked';
$standby->stop;
$node->stop;
done_testing();
