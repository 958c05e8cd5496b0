# The pages under axe-core, which dev/check page fetches: no violations, whoever reads them and
# on whatever.
use strict;
use warnings;
use KanonBrowser;
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no axe-core: see dev/check page' unless $ENV{KANON_AXE};

my $node = KanonNode::start('page');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $browser = KanonBrowser->start($dir);
my $axe = slurp_file($ENV{KANON_AXE}) . ";\nreturn axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; ')));";

$node->safe_psql('postgres', <<'SQL');
	CREATE TABLE visits AS SELECT i AS nr, 20 + i * 7 % 30 AS age, '10' || i * 3 % 4 || i % 3 AS zip, CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex,
		'd' || i * i % 5 AS diagnosis, ARRAY['i' || i % 5, 'j' || i % 3] AS items FROM generate_series(1, 400) i;
	CREATE TABLE zips AS SELECT DISTINCT zip AS value, left(zip, 3) || '*' AS zip3, 'all of them' AS country FROM visits;
	SELECT FROM kanon_pattern_guided('visits', 'p1', '{age,zip,sex}', 5, keep => '{diagnosis}', hierarchies => '{"zip": "zips"}');
	SELECT FROM kanon_full_domain('visits', 'p2', '{age,zip,sex}', 5, suppression_limit => 0.2, hierarchies => '{"zip": "zips"}');
	SELECT FROM kanon_cluster('visits', 'p3', '{age,zip,sex}', 5);
	SELECT FROM kanon_freeform('visits', 'p4', '{age,zip,sex}', 5);
	SELECT FROM kanon_transactions('visits', 'p5', 'items', 5);
	SELECT FROM kanon_pattern_guided('visits', 'p6', '{age,zip,sex}', 5, keep => '{diagnosis,nr}', allow_identifying => '{nr}', mask => '{"nr": {"pseudonym": "release"}}');
	SELECT kanon_create_publication('public.seen', 'visits', '{age,zip,sex}', 5, options => '{"keep": ["diagnosis"]}', key => 'nr', keep_releases => 2);
	SELECT kanon_refresh('public.seen');
SQL

sub page
{
	my ($name, $call) = @_;
	my $file = "$dir/$name.html";

	run_log([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', "SELECT $call", '-o', $file ]) or die "no page";
	return "file://$file";
}

my %pages = map { ("run $_" => page("run$_", "kanon_report($_, true, '{2,5,10}', compare => true, read_target => true, metadata => '{\"for whom\": \"an institute\"}')")) } 1 .. 8;
$pages{explore} = page('explore', q{kanon_explore('visits', '{age,zip,sex}', '{2,5,10}', '{greedy,improve}', ARRAY[NULL, '{"zip": "zips"}']::jsonb[])});
$pages{'explore, a release'} = "$pages{explore}#release-2";

# can it fail?
append_to_file("$dir/bad.html", "<!DOCTYPE html><title></title><img src='data:,'><p style='color:#eee'>pale</p>");
$browser->open("file://$dir/bad.html");
cmp_ok(scalar @{ $browser->run($axe) }, '>=', 3, 'a bad page has violations');

for my $name (sort keys %pages)
{
	$browser->paper(700);
	$browser->open($pages{$name});
	is_deeply($browser->run($axe), [], "$name, on paper: no violations");
	cmp_ok($browser->run('return document.documentElement.scrollWidth'), '<=', 700, "$name, on paper: nothing is cut off");
	for my $scheme (qw(light dark))
	{
		for my $width (400, 1200)
		{
			$browser->screen($width, $scheme);
			$browser->open($pages{$name});
			is_deeply($browser->run($axe), [], "$name, $width px, $scheme: no violations");
		}
	}
}
$browser->stop;
$node->stop;
done_testing();
