# Nights without a DBA: the files of examples/nightly do what they say: the plugin for Nagios and Icinga, the units of
# systemd, and the queries of postgres_exporter where that is on the machine.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;
use IPC::Run ();

my $files = "$ENV{TESTDIR}/nightly";
my $node = KanonNode::start('main');
$node->safe_psql('postgres', <<'E');
CREATE ROLE monitoring LOGIN;
GRANT pg_read_all_stats TO monitoring;
CREATE TABLE visit AS SELECT i AS id, i % 5 AS zip, i % 4 AS age FROM generate_series(1, 200) i;
DO $$ BEGIN PERFORM kanon_create_publication('first', 'visit', '{zip,age}', 3); PERFORM kanon_create_publication('second', 'visit', '{zip}', 3); END $$;
E

# checked(WORDS): code and line of the plugin
sub checked
{
	my @words = ("$files/check_kanon", @_);
	my ($out, $err) = ('', '');
	IPC::Run::run(\@words, '<', \undef, '>', \$out, '2>', \$err);
	return ($? >> 8) . " $out$err" =~ s/oldest=\d+s/oldest=0s/r;
}
my @as = ('--', '-U', 'monitoring', '-h', $node->host, '-p', $node->port, '-d', 'postgres');
is(checked('-n', 2, @as), "0 KANON OK - 2 publications are fresh|publications=2;;2: oldest=0s;93600;180000\n", 'all is well');
like(checked('-n', 3, @as), qr/^2 KANON CRITICAL - 2 of 3 publications are there\|/, 'one too few');
like(checked('-n', 2, '-w', 0, @as), qr/^1 KANON WARNING - public.first is 0 hours old; public.second is 0 hours old\|/, 'too old for comfort');
like(checked('-n', 2, '-w', 0, '-c', 0, @as), qr/^2 KANON CRITICAL - public.first is 0 hours old/, 'too old');
$node->safe_psql('postgres', q(ALTER TABLE second_publication OWNER TO monitoring));
like(checked('-n', 2, @as), qr/^2 KANON CRITICAL - public.second fails: its definition .* belongs to role monitoring/, 'a publication with a fault');
$node->safe_psql('postgres', q(ALTER TABLE second_publication OWNER TO postgres; DELETE FROM visit WHERE id > 2));
$node->psql('postgres', 'CALL kanon_refresh_all()');
like(checked('-n', 2, @as), qr/^2 KANON CRITICAL - public.first fails: \w{5}; public.second fails: \w{5}\|/, 'refreshes that failed, with their states');
like(checked('-n', 2, @as[0 .. 4], '-p', 1, '-d', 'postgres'), qr/^3 KANON UNKNOWN - [^|]+$/, 'no server: one line, no figures');
like(checked('-n', 'x; DROP', @as), qr/^3 KANON UNKNOWN - x; DROP is no whole number$/, 'a number is one');

SKIP:
{
	my ($out, $err) = ('', '');
	skip 'no systemd here', 1 unless IPC::Run::run([ 'sh', '-c', 'command -v systemd-analyze' ], '>', \$out);
	IPC::Run::run([ 'systemd-analyze', 'verify', "$files/kanon-refresh.service", "$files/kanon-refresh.timer" ], '>', \$out, '2>', \$err);
	is($err =~ s/^(?!.*kanon).*\n//gmr, '', 'the units are right');
}
# the command of the unit is run as it stands
my ($command) = slurp_file("$files/kanon-refresh.service") =~ /^ExecStart=(.*)$/m;
my ($limit) = slurp_file("$files/kanon-refresh.service") =~ /^Environment=PGOPTIONS=(.*)$/m;
{
	local @ENV{qw(PGHOST PGPORT PGDATABASE PGOPTIONS)} = ($node->host, $node->port, 'postgres', $limit);
	my ($out, $err) = ('', '');
	isnt(IPC::Run::run([ 'sh', '-c', $command ], '>', \$out, '2>', \$err), 1, 'its command fails where publications do');
	like($err, qr/first/, 'and names them');
	$node->safe_psql('postgres', 'INSERT INTO visit SELECT i, i % 5, i % 4 FROM generate_series(300, 500) i');
	is(IPC::Run::run([ 'sh', '-c', $command ], '>', \$out, '2>', \$err), 1, 'and succeeds where they do');
}
is(checked('-n', 2, @as) =~ s/\|.*//sr, '0 KANON OK - 2 publications are fresh', 'which the plugin says');

# The queries of postgres_exporter are right, and so are their names, whether or not it is here.
my $yaml = slurp_file("$files/postgres_exporter.yaml");
my ($query) = $yaml =~ /query: \|\n(.*?)\n  metrics:/s;
my @names = $yaml =~ /^    - (\w+): \{usage/mg;
is($node->safe_psql('postgres', "SELECT string_agg(key, ' ' ORDER BY n) FROM (SELECT * FROM ($query) AS q LIMIT 1) AS r, json_object_keys(row_to_json(r)) WITH ORDINALITY AS k (key, n)"),
	join(' ', @names), 'each column has its metric');
SKIP:
{
	my $out = '';
	skip 'no postgres_exporter here', 1 unless IPC::Run::run([ 'sh', '-c', 'command -v prometheus-postgres-exporter' ], '>', \$out);
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	local $ENV{DATA_SOURCE_NAME} = 'user=monitoring dbname=postgres sslmode=disable host=' . $node->host . ' port=' . $node->port;
	my ($said, $page) = ('', '');
	my $exporter = IPC::Run::start([ 'prometheus-postgres-exporter', "--web.listen-address=127.0.0.1:$port", "--extend.query-path=$files/postgres_exporter.yaml", '--disable-default-metrics', '--disable-settings-metrics' ],
		'<', \undef, '>&', \$said);
	foreach (1 .. 100)
	{
		IPC::Run::run([ $^X, '-MIO::Socket::INET', '-e', "my \$s = IO::Socket::INET->new('127.0.0.1:$port') or exit 1; print \$s \"GET /metrics HTTP/1.0\\r\\n\\r\\n\"; print while <\$s>" ], '>', \$page);
		last if $page =~ /kanon_publication_fresh/;
		$exporter->pump_nb;
		select undef, undef, undef, 0.2;
	}
	$exporter->kill_kill;
	like($page, qr/^kanon_publication_fresh\{[^}]*publication_name="(public\.)?first"[^}]*\} 1$/m, 'postgres_exporter serves them') or note($said);
}
$node->stop;
done_testing();
