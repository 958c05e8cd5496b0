# Guard 7: no data value leaves through a message, the server log, the text of a
# query, a progress line or a table left over, however talkative the server is
# and however a run ends.
#
# Every value of the source carries a marker; the statements that this test sends
# never contain one.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

# Numbers, dates and UUIDs are marked too.
my $marker = 'SECRET|98765[0-9]{4}|31337[.]|9231-0|deadbeef';
# These two never are in a release either: a column not listed, and a cell that
# has to be suppressed.
my $unpublished = 'SECRETNAME|SECRETLONER';

my $node = KanonNode::new_node('main');
my $libdir = $node->config_data('--pkglibdir');
my @contrib = grep { -e "$libdir/$_.so" } qw(auto_explain pg_stat_statements);
my $explain = grep { $_ eq 'auto_explain' } @contrib;
my $statements = grep { $_ eq 'pg_stat_statements' } @contrib;
$node->append_conf('postgresql.conf', "shared_preload_libraries = '" . join(',', @contrib) . "'");
$node->append_conf('postgresql.conf', "autovacuum = off\nrestart_after_crash = on");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION kanon');
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements') if $statements;

$node->safe_psql('postgres', <<'E');
CREATE TYPE mood AS ENUM ('SECRETgood', 'SECRETbad');
CREATE TABLE src AS
SELECT 'SECRETNAME' || i AS name, 'SECRETVALUE' || i % 50 AS zip, 987650000 + i % 3 AS age,
       date '9231-01-01' + i % 2 AS born,
       CASE WHEN i % 4 < 2 THEN 31337.10 ELSE 31337.100 END AS bonus,
       ('deadbeef-0000-0000-0000-00000000000' || i % 2)::uuid AS device,
       (enum_range(NULL::mood))[1 + i % 2] AS mood,
       'SECRETVALUED' || i AS diagnosis, repeat('SECRETVALUE ' || i, 300) AS note
FROM generate_series(1, 3000) i;
INSERT INTO src SELECT 'SECRETNAME', 'SECRETLONER', age, born, bonus, device, mood, diagnosis, note FROM src LIMIT 1;
CREATE TABLE types AS SELECT 'SECRETVALUE' || i AS zip, i AS n FROM generate_series(1, 70000) i;

-- sources that make trouble
CREATE VIEW volatile AS SELECT * FROM src WHERE random() < 0.5;
CREATE FUNCTION take_time() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(5.05); RETURN true; END $$;
CREATE VIEW slow AS SELECT zip, n % 7 AS sevenths, zip || n AS kept FROM types WHERE (SELECT take_time());
CREATE FUNCTION mood_json(mood) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE 'no JSON for this'; END $$;

-- does what a setting says whenever a table "meddled" has been made
CREATE FUNCTION meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    deed text := current_setting('test.meddle', true);
BEGIN
    IF to_regclass('meddled') IS NOT NULL AND deed <> '' THEN
        PERFORM set_config('test.meddle', '', false);
        EXECUTE deed;
    END IF;
END $$;
CREATE EVENT TRIGGER meddle ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION meddle();
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'inserted %', NEW; RETURN NEW; END $$;
E

$node->append_conf('postgresql.conf', <<'E');
log_statement = all
log_duration = on
log_min_duration_statement = 0
log_parameter_max_length = -1
log_parameter_max_length_on_error = -1
log_error_verbosity = verbose
log_min_messages = debug1
log_min_error_statement = debug1
log_temp_files = 0
log_lock_waits = on
E
$node->append_conf('postgresql.conf', <<'E') if $explain;
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_verbose = on
auto_explain.log_triggers = on
auto_explain.log_settings = on
auto_explain.log_nested_statements = on
E
$node->append_conf('postgresql.conf', 'pg_stat_statements.track = all') if $statements;
$node->reload;
$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()') if $statements;

# The first lines with a value in them, shortened.
sub values_in
{
	# (the number that auto_explain gives a query may have any digits)
	my $text = $_[0] =~ s/Query Identifier: -?[0-9]+//gr;
	my @lines = grep { /$marker/ } split /\n/, $text;
	return join "\n", map { /(.{0,120}?)($marker)/ ? "$1$2" : '' } @lines[0 .. ($#lines < 2 ? $#lines : 2)];
}

# Whatever a run says, to the client and to the log, must not show a value.
sub run_ok_or
{
	my ($name, $expected, $sql) = @_;
	my $log_from = -s $node->logfile;
	my ($ret, $stdout, $stderr) = $node->psql('postgres', <<"E");
\\set VERBOSITY verbose
\\set SHOW_CONTEXT always
SET client_min_messages = debug1;
$sql;
E
	if (defined $expected)
	{
		my ($error) = $stderr =~ /ERROR:  (.*)/;
		like($error // 'no error', qr/^$expected/, "$name: refused");
	}
	else
	{
		is($ret, 0, "$name: succeeds") or diag($stderr);
	}
	is(values_in("$stdout\n$stderr"), '', "$name: the client is told no value");
	is(values_in(slurp_file($node->logfile, $log_from)), '', "$name: nothing in the log");
	return $stderr;
}

sub succeeds { my ($name, $sql) = @_; return run_ok_or($name, undef, $sql); }
sub fails { return run_ok_or(@_); }

sub publish
{
	my ($source, $target, $rest) = @_;
	return "SELECT * FROM kanon_pattern_guided('$source', '$target', $rest)";
}

my $qis = "'{zip,age,born,bonus,device,mood}'";
succeeds('all types, kept columns',
	publish('src', 'public1', "$qis, 5, keep => '{diagnosis,note}', allow_identifying => '{diagnosis,note}', mark => true"));
succeeds('a second time, replaced',
	publish('src', 'public1', "$qis, 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}', replace => true"));
succeeds('no kept columns', publish('src', 'public2', "$qis, 5"));
succeeds('patterns and weights', publish('src', 'public3',
		"'{zip,age}', 5, patterns => '{--,*-}', weights => '{2,1}', categorical => '{age}', residual => 'drop'"));
succeeds('dry run', publish('src', 'nowhere', "$qis, 5, dry_run => true"));
succeeds('spilling to disk',
	"SET work_mem = '64kB'; " . publish('types', 'public4', "'{zip}', 2, keep => '{n}', allow_identifying => '{n}'"));
succeeds('a volatile source, which is read once',
	publish('volatile', 'public6', "'{zip}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}'"));
succeeds('kanon_check', "SELECT * FROM kanon_check('src', $qis)");
succeeds('kanon_check of few columns', "SELECT * FROM kanon_check('src', $qis, 2)");
# (held for five seconds more before it writes)
my $holder = $node->background_psql('postgres');
$holder->query_safe('BEGIN; LOCK TABLE kanon_run_class IN SHARE MODE');
KanonGate::start($holder, 'SELECT pg_sleep(11); COMMIT');
my $progress = succeeds('progress lines',
	publish('slow', 'public5', "'{zip,sevenths}', 2, keep => '{kept}', allow_identifying => '{kept}'"));
$holder->quit;
like($progress, qr/NOTICE: .*kanon: reading/, 'the reading says how far it is');
like($progress, qr/NOTICE: .*kanon: placing rows.*rows left/, 'so does what puts rows into classes');


# Hierarchies
succeeds('hierarchy of intervals', "SELECT kanon_hierarchy_interval('src', 'age', 'h_age', '{10,100}')");
succeeds('hierarchy of intervals of numeric', "SELECT kanon_hierarchy_interval('src', 'bonus', 'h_bonus', '{0.5}')");
succeeds('hierarchy of prefixes', "SELECT kanon_hierarchy_prefix('src', 'zip', 'h_zip', '{8,1}')");
succeeds('hierarchy of dates', "SELECT kanon_hierarchy_date('src', 'born', 'h_born')");
succeeds('hierarchy of quantiles', "SELECT kanon_hierarchy_quantile('src', 'zip', 'h_quantile', '{8,4}')");
succeeds('hierarchy of a lookup', 'CREATE TABLE lookup AS SELECT DISTINCT zip AS k, left(zip, 11) AS p FROM src'
	  . ' UNION SELECT DISTINCT left(zip, 11), NULL FROM src WHERE length(zip) > 11;'
	  . " SELECT kanon_hierarchy_from_fk('src', 'zip', 'h_lookup', 'lookup', 'k', 'p')");
succeeds('a hierarchy is checked', "SELECT * FROM kanon_check_hierarchy('h_zip', 'src', 'zip')");
succeeds('a hierarchy with faults is checked', "SELECT * FROM kanon_check_hierarchy('h_zip', 'src', 'diagnosis')");
succeeds('a hierarchy is used', "SELECT * FROM kanon_risk('src', '{age}', '{zip}', hierarchies => '{\"zip\": \"h_zip\"}')");
my $levels = q(hierarchies => '{"zip": "h_zip", "age": "h_age", "born": "h_born", "bonus": "h_bonus"}');
succeeds('levels are published', "SELECT * FROM kanon_pattern_guided('src', 'levels_public', '{zip,age,born,bonus}', 20, keep => '{diagnosis}', allow_identifying => '{diagnosis}', mark => true, $levels)");
succeeds('levels are replaced', "SELECT * FROM kanon_pattern_guided('src', 'levels_public', '{zip,age,born,bonus}', 20, method => 'best', replace => true, level_cost => 'ncp', $levels)");
succeeds('levels for several ks', "SELECT * FROM kanon_frontier('src', '{zip,age,born,bonus}', '{5,20,50}', $levels)");
succeeds('levels are explained', "SELECT * FROM kanon_explain('src', '{zip,age,born,bonus}', 20, $levels)");
fails('levels that do not fit', '22023', qq(SELECT * FROM kanon_pattern_guided('src', 'failed', '{diagnosis}', 20, hierarchies => '{"diagnosis": "h_zip"}')));
fails('a hierarchy as target', '55006', "SELECT * FROM kanon_pattern_guided('src', 'h_zip', '{zip,age,born,bonus}', 20, replace => true, $levels)");
fails('a hierarchy that does not fit', '22023', "SELECT * FROM kanon_risk('src', '{age}', '{diagnosis}', hierarchies => '{\"diagnosis\": \"h_zip\"}')");
fails('a lookup that lacks values', '22023', "SELECT kanon_hierarchy_from_fk('src', 'diagnosis', 'failed', 'lookup', 'k', 'p')");
fails('a hierarchy with an index slipped in', '23000',
	"SET test.meddle = 'CREATE UNIQUE INDEX ON meddled (level1)'; SELECT kanon_hierarchy_prefix('src', 'zip', 'meddled', '{8,1}')");
# of the caller's own making, and for nobody else
$node->safe_psql('postgres', 'DROP TABLE h_age, h_bonus, h_zip, h_born, h_quantile, h_lookup, lookup, levels_public');

fails('k larger than the table', '22023', publish('src', 'failed', "'{zip}', 100000"));
fails('unknown column', '42703', publish('src', 'failed', "'{zip,ago}', 5"));
fails('malformed pattern', '22023', publish('src', 'failed', "'{zip,age}', 5, patterns => '{-x}'"));
fails('left-over rows', '23514',
	publish('src', 'failed', "'{zip,age}', 5, patterns => '{--}', residual => 'error'"));
fails('too little memory', '53200',
	"SET kanon.max_memory = '1MB'; " . publish('types', 'failed', "'{zip,n}', 5"));
fails('too little room for temporary files', '53400',
	"SET work_mem = '64kB'; SET temp_file_limit = '64kB'; " . publish('types', 'failed', "'{zip}', 2, keep => '{n}', allow_identifying => '{n}'"));
fails('no conversion to JSON', 'P0001', 'CREATE CAST (mood AS json) WITH FUNCTION mood_json(mood); '
	  . publish('src', 'failed', "'{mood}', 5"));
fails('out of time', '57014',
	"SET statement_timeout = '100ms'; " . publish('slow', 'failed', "'{zip}', 2"));
fails('read only', '25006', 'SET default_transaction_read_only = on; ' . publish('src', 'failed', "'{zip}', 5"));
fails('twice in one statement', '42P07',
	join(' UNION ALL ', (publish('src', 'failed', "'{zip}', 5")) x 2));

# Somebody meddles with the target.  That is refused, for a constraint as for a
# column: checked, it would print rows ("Key (zip)=(…) already exists"), and not
# checked, it would be broken.
my %meddling = (
	'a row too many' => 'INSERT INTO meddled SELECT zip FROM src LIMIT 1',
	'another column' => 'ALTER TABLE meddled ADD extra text DEFAULT current_user',
	'another length' => 'ALTER TABLE meddled ALTER zip TYPE varchar(5)',
	'a unique index' => 'CREATE UNIQUE INDEX ON meddled (zip)',
	'a check' => 'ALTER TABLE meddled ADD CHECK (length(zip) < 5)',
	'not null' => 'ALTER TABLE meddled ALTER zip SET NOT NULL',
	'a trigger' => 'CREATE TRIGGER touch BEFORE INSERT ON meddled FOR EACH ROW EXECUTE FUNCTION touch()',
	'another name' => 'ALTER TABLE meddled RENAME TO renamed',
	'no table' => 'DROP TABLE meddled');
foreach my $what (sort keys %meddling)
{
	fails("meddling, $what", '\w{5}:',
		"SET test.meddle = '$meddling{$what}'; " . publish('src', 'meddled', "'{zip}', 5"));
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS meddled');
}
# An index that forbids nothing is refused too, or else has the rows.
$node->psql('postgres',
	"SET test.meddle = 'CREATE INDEX ON meddled (zip)'; " . publish('src', 'meddled', "'{zip}', 5"));
is( $node->safe_psql('postgres', <<'E'), '', 'an index that was slipped in has all rows');
SET enable_seqscan = off;
SELECT 'it has none' FROM pg_class
WHERE oid = to_regclass('meddled')
  AND query_to_xml('SELECT FROM meddled WHERE zip > '''' LIMIT 1', false, true, '')::text = ''
E
$node->safe_psql('postgres', 'DROP TABLE IF EXISTS meddled');

# What is left
is( $node->safe_psql('postgres', <<'E'), '', 'failed runs leave no table');
SELECT relname FROM pg_class
WHERE relname IN ('failed', 'nowhere', 'renamed') OR relname LIKE 'kanon\_building\_%'
E
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'and no temporary file');
is( $node->safe_psql('postgres',
		"SELECT count(*) FROM kanon_usefulness WHERE target <> 'public.meddled'"),
	'9', 'what succeeded is recorded, and only that');
$node->safe_psql('postgres', <<'E');
CREATE FUNCTION occurs(pattern text, except_for text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    name text;
    found bigint;
BEGIN
    FOR name IN SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 'm') AND relname !~ except_for LOOP
        EXECUTE format('SELECT count(*) FROM %s t WHERE t::text ~ %L', name, pattern) INTO found;
        IF found > 0 THEN RETURN NEXT name; END IF;
    END LOOP;
END $$;
E
my $own = 'src|types|pg_proc|pg_rewrite|pg_enum';
is($node->safe_psql('postgres', "SELECT occurs('$marker', '^($own|public[0-9]|kanon_run_class)\$')"),
	'', 'values are in the targets and in what is recorded as shown, and in no other table');
is($node->safe_psql('postgres', "SELECT occurs('$unpublished', '^($own)\$')"),
	'', 'what must not be published is not even there');
is( $node->safe_psql('postgres',
		"SELECT count(*) FROM kanon_run_class c WHERE (to_jsonb(c) - 'shown')::text ~ '$marker'"),
	'0', 'the record has values in "shown" alone');
is( $node->safe_psql('postgres', <<'E'), '0', 'and only such as were published');
SELECT count(*) FROM kanon_equivalence_classes c JOIN kanon_usefulness r USING (run)
WHERE r.target = 'public.public2' AND shown ? 'zip'
  AND shown ->> 'zip' NOT IN (SELECT zip FROM public2 WHERE zip IS NOT NULL)
E
SKIP:
{
	skip 'pg_stat_statements is not installed', 1 unless $statements;
	is( $node->safe_psql('postgres', <<"E"), '', 'nor is one in the text of a query');
SELECT query FROM pg_stat_statements WHERE query ~ '$unpublished' OR query ~ 'SECRET(VALUE|good|bad)'
E
}

# Last, since it could bring the server down: text meets a column of integers.
fails('meddling, another type', '\w{5}:',
	"SET test.meddle = 'ALTER TABLE meddled ALTER zip TYPE int USING 1'; " . publish('src', 'meddled', "'{zip}', 5"));
$node->poll_query_until('postgres', 'SELECT true');
$node->stop;
done_testing();
