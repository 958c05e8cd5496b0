# A year of nights: 365 refreshes of three publications over a source that changes as
# sources do, while readers read (where a share is asked for, those around what happens, and every eighth).  After each night plain SQL sees whether the promise is
# kept, every failure must be one that was to be expected and be told by name, and no
# reader may get an error or see anything below the promise at any time.
use strict;
use warnings;
use IPC::Run;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main');
my $pgbench = $node->config_data('--bindir') . '/pgbench';

$node->safe_psql('postgres', <<'E');
CREATE ROLE clinic LOGIN;
CREATE ROLE reader LOGIN;
CREATE SCHEMA ward AUTHORIZATION clinic;
SET SESSION AUTHORIZATION clinic;
SET search_path = ward, public;
CREATE TABLE visit (id int, age int, zip text, sex text, illness text);
-- the same numbers everywhere
CREATE FUNCTION draw(i int, salt int, n int) RETURNS int LANGUAGE sql IMMUTABLE
RETURN ((hashint8(i * 31::bigint + salt)::bigint & 65535) * n / 65536)::int;
CREATE FUNCTION arrive(first int, last int) RETURNS void LANGUAGE sql SET search_path = ward, public AS $$
    INSERT INTO visit SELECT i, 20 + draw(i, 1, 40), lpad((48000 + 10 * draw(i, 2, 8 + i / 200))::text, 5, '0'), (ARRAY['f', 'm'])[1 + draw(i, 3, 2)],
           'ill ' || draw(i, 4, 4) FROM generate_series(first, last) i
$$;
SELECT arrive(1, 160);
CREATE TABLE age_h AS SELECT a AS age, a / 10 * 10 || '+' AS ten, a / 30 * 30 || '+' AS thirty FROM generate_series(0, 120) a;
CREATE TABLE spare AS SELECT * FROM age_h;

SELECT kanon_create_publication('stays', 'visit', '{age,zip,sex}', 4, jsonb_build_object('keep', ARRAY['illness'],
    'privacy', ARRAY[kanon_distinct_l('illness', 2)], 'residual', 'drop', 'hierarchies', '{"zip": {"prefix": [3]}, "age": {"interval": [10, 20]}}'::jsonb,
    'max_row_change', 0.5, 'min_rows', 20));
SELECT kanon_create_publication('persons', 'visit', '{zip,sex}', 3, '{"keep": ["illness"]}', key => 'id', stable => true, protect_successive => true, keep_releases => 2);
SELECT kanon_create_publication('ages', 'visit', '{age,sex}', 5, '{"hierarchies": {"age": "ward.age_h"}, "suppression_limit": 0.3}', model => 'full_domain');
GRANT USAGE ON SCHEMA ward TO reader;
GRANT SELECT ON stays, persons, ages TO reader;

-- what a reader sees that is below the promise: classes that are too small, or of one illness; of persons, also together with
-- the release before (which only the publisher can see); a column that nobody named
CREATE FUNCTION seen() RETURNS TABLE (what text) LANGUAGE sql SET search_path = ward, public AS $$
    SELECT 'stays' FROM stays WHERE num_nonnulls(age, zip, sex) > 0 GROUP BY age, zip, sex HAVING count(*) < 4 OR count(DISTINCT illness) < 2
    UNION ALL SELECT 'persons' FROM persons WHERE num_nonnulls(zip, sex) > 0 GROUP BY zip, sex HAVING count(*) < 3
    UNION ALL SELECT 'ages' FROM ages WHERE num_nonnulls(age, sex) > 0 GROUP BY age, sex HAVING count(*) < 5
    UNION ALL SELECT 'columns' FROM (SELECT string_agg(attname, ',' ORDER BY attrelid::regclass::text, attnum) AS names FROM pg_attribute
        WHERE attrelid IN ('stays'::regclass, 'persons'::regclass, 'ages'::regclass) AND attnum > 0) c
        WHERE names <> 'age,sex,zip,sex,illness,age,zip,sex,illness'
$$;
CREATE FUNCTION together() RETURNS TABLE (what text) LANGUAGE plpgsql SET search_path = ward, public AS $$
DECLARE
    tables text[] := ARRAY(SELECT c.oid::regclass::text FROM pg_class c WHERE c.relname ~ '^persons_persons_' ORDER BY c.oid DESC LIMIT 2);
BEGIN
    IF cardinality(tables) = 2 THEN
        RETURN QUERY EXECUTE format('SELECT ''together''::text FROM %s a JOIN %s b USING (key) GROUP BY a.class, b.class HAVING count(*) < 3', tables[1], tables[2]);
    END IF;
END $$;
E

# ---- readers, from the first night to the last ----

my $dir = PostgreSQL::Test::Utils::tempdir;
# a division by zero where a class is too small
append_to_file("$dir/reader.sql", <<'E');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM pg_class WHERE relname = 'stays';
SELECT 1 / (count(*) > 0 AND coalesce(min(n) FILTER (WHERE shown > 0), 4) >= 4)::int FROM (SELECT count(*) AS n, num_nonnulls(age, zip, sex) AS shown FROM ward.stays GROUP BY age, zip, sex) c;
SELECT 1 / (count(*) > 0 AND coalesce(min(n) FILTER (WHERE shown > 0), 3) >= 3)::int FROM (SELECT count(*) AS n, num_nonnulls(zip, sex) AS shown FROM ward.persons GROUP BY zip, sex) c;
SELECT 1 / (count(*) > 0 AND coalesce(min(n) FILTER (WHERE shown > 0), 5) >= 5)::int FROM (SELECT count(*) AS n, num_nonnulls(age, sex) AS shown FROM ward.ages GROUP BY age, sex) c;
COMMIT;
E
my ($readers, $read_out, $read_err);

sub readers_start
{
	($read_out, $read_err) = ('', '');
	$readers = IPC::Run::start([ $pgbench, '-n', '-c', 2, '-R', 20, '-T', 3600, '-f', "$dir/reader.sql", '-U', 'reader', $node->connstr('postgres') ],
		'<', \undef, '>', \$read_out, '2>', \$read_err);
}

# They are still reading, have read, and have nothing to complain about.
sub readers_stop
{
	my ($name) = @_;
	ok($node->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_stat_activity WHERE usename = 'reader' AND state IS NOT NULL"), "$name: both readers are there");
	$readers->signal('TERM');
	$readers->finish;
	unlike($read_err, qr/error|abort|fail/i, "$name: and no reader got an error");
}

# ---- what happens in a year ----

my $changes = sub {
	my ($day) = @_;
	my ($first, $last) = (160 + 2 * $day - 1, 160 + 2 * $day);

	# two come, two go, one moves; every month somebody is much older, or from far away
	return "SELECT ward.arrive($first, $last); DELETE FROM ward.visit WHERE id <= $last - 160;"
	  . " UPDATE ward.visit SET age = (age + 7) % 60 WHERE id = $last - $day % 80;"
	  . ($day % 30 == 0 ? " UPDATE ward.visit SET age = 60 + $day % 50, illness = 'ill new $day' WHERE id = $first;" : '');
};
# night => [ what happens before it, and what of it is undone after it ], and who fails with what; '' is nobody
my %events = (
	20 => [ "ALTER TABLE ward.visit ADD COLUMN ssn text DEFAULT 'secret'", '' ],
	40 => [ 'ALTER TABLE ward.visit RENAME COLUMN zip TO postcode', 'ALTER TABLE ward.visit RENAME COLUMN postcode TO zip' ],
	60 => [ 'CREATE TABLE ward.away AS SELECT * FROM ward.visit; TRUNCATE ward.visit', 'INSERT INTO ward.visit SELECT * FROM ward.away; DROP TABLE ward.away',
		'ages 23514, persons 23514, stays 23514' ],
	# nearly empty is no better
	61 => [ 'CREATE TABLE ward.away AS SELECT * FROM ward.visit; DELETE FROM ward.visit WHERE id > (SELECT min(id) + 2 FROM ward.visit)',
		'DELETE FROM ward.visit; INSERT INTO ward.visit SELECT * FROM ward.away; DROP TABLE ward.away', 'ages 22023, stays 23514' ],
	100 => [ 'INSERT INTO ward.visit SELECT * FROM ward.visit', 'DELETE FROM ward.visit v USING ward.visit w WHERE v.id = w.id AND v.ctid > w.ctid', 'stays 23514' ],
	# a rule that cannot be kept
	130 => [ "CREATE TABLE ward.illness AS SELECT id, illness FROM ward.visit; UPDATE ward.visit SET illness = 'flu'",
		'UPDATE ward.visit v SET illness = i.illness FROM ward.illness i WHERE i.id = v.id; DROP TABLE ward.illness', 'stays 23514' ],
	# a hierarchy that loses lines, and one that is made coarser
	160 => [ 'DELETE FROM ward.age_h WHERE age BETWEEN 20 AND 40', 'DELETE FROM ward.age_h; INSERT INTO ward.age_h SELECT * FROM ward.spare', 'ages 22023' ],
	190 => [ "UPDATE ward.age_h SET ten = age / 15 * 15 || '+'", '' ],
	# nobody may read the source for a night
	220 => [ 'REVOKE SELECT ON ward.visit FROM clinic', 'GRANT SELECT ON ward.visit TO clinic', 'ages 42501, persons 42501, stays 42501' ],
	# an identifier that somebody labels
	250 => [ "SECURITY LABEL FOR kanon ON COLUMN ward.visit.illness IS 'identifier'", 'SECURITY LABEL FOR kanon ON COLUMN ward.visit.illness IS NULL',
		'persons 23514, stays 23514' ],
	# everybody's key is missing
	280 => [ 'UPDATE ward.visit SET id = NULL WHERE id = (SELECT max(id) FROM ward.visit)', 'DELETE FROM ward.visit WHERE id IS NULL', 'persons 22004' ],
	# the table is exchanged for a larger one
	310 => [ 'ALTER TABLE ward.visit ADD COLUMN note text, ADD COLUMN name text; UPDATE ward.visit SET note = repeat(ssn, 3)', '' ]);
my %restarts = (110 => 'fast', 240 => 'immediate');
my @nights = grep { !$ENV{KANON_TEST_SHARE} || $events{$_} || $events{ $_ - 1 } || $restarts{$_} || $_ % 8 == 5 } 1 .. 365;
my %refreshed = map { $_ => 1 } @nights;

my $job;

sub job_start
{
	$job = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'clinic', '-A', '-t' ]);
	$job->query_safe('SET search_path = ward, public');
}

# What it prints, and what it says beside.
sub job
{
	my ($sql) = @_;
	$job->{stderr} = '';
	my $out = $job->query($sql);
	(my $err = $job->{stderr}) =~ s/^background_psql: .*\n?//mg;
	return ($out, $err);
}

my ($bad_nights, $unnamed, $below, $fresh) = (0, 0, 0, 0);
my %failures;
readers_start();
job_start();
foreach my $day (1 .. 365)
{
	my ($before, $after, $expected) = @{ $events{$day} // [ '', '', '' ] };
	my ($out, $err);
	$expected //= '';

	if ($restarts{$day})
	{
		readers_stop("before night $day");
		$job->quit;
		$node->stop($restarts{$day});
		$node->start;
		readers_start();
		job_start();
	}
	(undef, $err) = job($changes->($day) . $before);
	is($err, '', "day $day: the source changes") if $err ne '';
	next unless $refreshed{$day};
	(undef, $err) = job('CALL kanon_refresh_all()');
	# the error names each, and why
	my @named = sort map { "$_->[0] $_->[1]" } map { [/ward\.(\w+): SQLSTATE (\w+)/] } grep { /ward\.\w+: SQLSTATE/ } split /\n/, ($err =~ /ERROR: .*/s ? $& : '');
	my $named = join ', ', @named;
	if ($named ne $expected || ($expected eq '' && $err ne ''))
	{
		$bad_nights++;
		is("$named\n$err", "$expected\n", "night $day: fails what must");
	}
	($out, $err) = job(<<"E");
SELECT 'below: ' || what FROM seen() UNION ALL SELECT 'below: ' || what FROM together();
SELECT 'failed: ' || string_agg(substr(publication, 6) || ' ' || error, ', ' ORDER BY publication) || CASE WHEN bool_and(message IS NOT NULL) THEN '' ELSE ', without a word' END
FROM kanon_releases r WHERE status = 'failed' AND started > (SELECT max(started) FROM kanon_releases) - interval '1 hour'
  AND release = (SELECT max(release) FROM kanon_releases s WHERE s.publication = r.publication);
SELECT 'status: ' || string_agg(status, ' ' ORDER BY publication_name) FROM kanon_publication_status();
$after
E
	my $told = $out =~ /failed: (.*)/ ? $1 : '';
	$failures{$day} = $told if $told ne '';
	if ($told ne $expected)
	{
		$unnamed++;
		is($told, $expected, "night $day: and is told by name");
	}
	if ($out =~ /below/ || $err ne '')
	{
		$below++;
		is("$out$err", '', "night $day: nothing below the promise");
	}
	my $status = join ' ', map { $expected =~ /$_/ ? 'failing' : 'fresh' } qw(ages persons stays);
	my $seen = $out =~ /status: (.*)/ ? $1 : '';
	$fresh += $seen eq $status;
	is($seen, $status, "night $day: and monitoring knows") if $seen ne $status;
}
readers_stop('after the last night');

is($bad_nights, 0, 'every night fails what must, and nothing else');
is($unnamed, 0, 'every failure is told by name and in words');
is($below, 0, 'nothing below the promise is ever seen');
is($fresh, scalar(@nights), 'and monitoring knows each night');
is(scalar(keys %failures), scalar(grep { @{ $events{$_} } > 2 } keys %events), 'each kind of failure was seen');
my ($out) = job("SELECT count(*) FILTER (WHERE status = 'failed'), count(DISTINCT publication), min(n), max(n) FROM (SELECT *, count(*) OVER (PARTITION BY publication) AS n FROM kanon_releases) r");
is($out, sprintf('14|3|%d|%1$d', @nights + 1), 'the history has them all');
($out) = job("SELECT relkind, count(*) FROM pg_class WHERE relname ~ '^(stays|persons|ages)' GROUP BY 1 ORDER BY 1");
# of each publication the history, itself, the release and its row types; of persons two releases, with their keys and rows
is($out, "r|17\nv|6", 'and nothing is left but what belongs there');
$job->quit;
$node->stop;
done_testing();
