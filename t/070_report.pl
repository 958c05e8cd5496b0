# kanon_report in a browser: the page loads without a word on the console and
# without asking anybody for anything, its figures are the views', and it can be
# read on a phone and in the dark.
use strict;
use warnings;
use JSON::PP;
use KanonBrowser;
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = KanonNode::start('report');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $browser = KanonBrowser->start($dir);

$node->safe_psql('postgres', <<'SQL');
	CREATE TABLE people AS
	SELECT 1940 + i % 67 AS birth_year, 'zip' || i % 11 AS zip, CASE WHEN i % 9 = 0 THEN 'x' ELSE 'f' END AS sex,
	       'diagnosis' || i % 5 AS diagnosis
	FROM generate_series(1, 3000) i;
	COMMENT ON TABLE people IS 'All of them, & <more>';
	SELECT FROM kanon_pattern_guided('people', 'people_public', '{birth_year,zip,sex}', 5, keep => '{diagnosis}');
	CREATE TABLE "<script>window.hit = 1</script>" ("<script>window.hit = 2</script>" text, "'><img src=http://127.0.0.1:9/>" int, "größe" int);
	INSERT INTO "<script>window.hit = 1</script>" SELECT '<script>window.hit = 3</script>' || i % 3, i % 2, i % 5 FROM generate_series(1, 100) i;
	COMMENT ON COLUMN "<script>window.hit = 1</script>"."größe" IS '<img src=x onerror="window.hit = 4">';
	SELECT FROM kanon_pattern_guided('"<script>window.hit = 1</script>"', '"</title><script>window.hit = 5</script>"',
		ARRAY['<script>window.hit = 2</script>', '''><img src=http://127.0.0.1:9/>', 'größe'], 5);
	CREATE TABLE nobody (a int, b int);
	SELECT FROM kanon_pattern_guided('nobody', 'nobody_public', '{a,b}', 5);
	CREATE TABLE differ AS SELECT i AS a, -i AS b FROM generate_series(1, 20) i;
	SELECT FROM kanon_pattern_guided('differ', 'differ_public', '{a,b}', 5, weights => '{1,2.5}');
SQL

# As the README makes it; returns the page's address.
sub report
{
	my ($name, $call) = @_;
	my $file = "$dir/$name.html";

	run_log([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', "SELECT $call", '-o', $file ])
	  or die "no report";
	return "file://$file";
}

sub json { return decode_json($node->safe_psql('postgres', shift)); }

my $page = report('people', "kanon_report(1, read_target => true, frontier => '{2,3,5,10,20,50}')");

# ---- can these tests fail? ----

append_to_file("$dir/bad.html", "<!DOCTYPE html><title>bad</title><img src='http://127.0.0.1:9/x.png'><script>nonsense()</script>");
$browser->open("file://$dir/bad.html");
ok((grep { m{127\.0\.0\.1:9/x\.png} } $browser->requests), 'a request to the outside is seen');
ok((grep { /nonsense/ } $browser->console), 'an error on the console is seen');

# ---- quiet ----

for my $case (
	[ 'people', $page ],
	[ 'with values', report('values', 'kanon_report(1, with_values => true, read_target => true)') ],
	[ 'hostile names', report('hostile', "kanon_report(2, true, '{2,5}')") ],
	[ 'no rows', report('nobody', 'kanon_report(3)') ],
	[ 'all suppressed', report('differ', "kanon_report(4, true, '{2,5,100}')") ])
{
	my ($what, $url) = @$case;

	$browser->open($url);
	is_deeply([ $browser->console ], [], "$what: nothing on the console");
	is_deeply([ grep { $_ ne $url && !/^data:,/ } $browser->requests ], [], "$what: nothing is loaded");
	is_deeply(
		$browser->run('return [document.scripts.length, document.images.length, typeof window.hit]'),
		[ 0, 0, 'undefined' ],
		"$what: no script, no image");
	is_deeply($browser->run(<<'JS'), [], "$what: figures and tables have titles, headings follow one another");
		const bad = [];
		for (const figure of document.querySelectorAll('figure'))
			if (!figure.querySelector('figcaption').textContent || ![...figure.querySelectorAll('[role=img]')].every(e => e.ariaLabel))
				bad.push('figure ' + figure.outerHTML.slice(0, 80));
		for (const table of document.querySelectorAll('table'))
			if (!table.caption || !table.caption.textContent)
				bad.push('table');
		for (const th of document.querySelectorAll('th'))
			if (!th.scope)
				bad.push('th ' + th.textContent);
		let level = 0;
		for (const h of document.querySelectorAll('h1, h2, h3')) {
			if (h.tagName[1] - level > 1)
				bad.push('heading ' + h.textContent);
			level = h.tagName[1];
		}
		for (const a of document.querySelectorAll('nav a'))
			if (!document.querySelector(a.getAttribute('href')))
				bad.push('link ' + a.textContent);
		return bad;
JS
}

$browser->open("file://$dir/hostile.html");
is($browser->run("return document.querySelector('h1').textContent"),
	'What was published as public."</title><script>window.hit = 5</script>"',
	'a hostile name is shown as it is');
is_deeply(
	$browser->run("return [...document.querySelectorAll('#columns th.name')].map(th => th.parentElement.dataset.key)"),
	[ '<script>window.hit = 2</script>', q('><img src=http://127.0.0.1:9/>), "gr\x{f6}\x{df}e" ],
	'and comes out of an attribute as it went in');

# ---- the figures are the document's (sql/report.sql: which are the views') ----

$browser->open($page);
my $figures = $browser->run(<<'JS');
	return [...document.querySelectorAll('data')].map(d => ({ of: d.dataset.of, value: d.value, text: d.textContent }));
JS
my $document = json("SELECT kanon_report_data(1, read_target => true, frontier => '{2,3,5,10,20,50}')");
my @differ;
for my $figure (@$figures)
{
	my $expected = $document;

	# the time that solving took is another one each time
	next if $figure->{of} =~ /solve_ms/;
	$expected = ref $expected eq 'ARRAY' ? $expected->[$_] : $expected->{$_} for split /\./, $figure->{of};
	$expected //= '';
	push @differ, "$figure->{of}: $figure->{value} is not $expected"
	  if $figure->{value} ne $expected
	  && !($figure->{value} =~ /^[-+.e\d]+$/ && abs($figure->{value} - $expected) <= 1e-12 * abs($expected));
	# a count is shown to the last digit
	(my $digits = $figure->{text}) =~ s/,//g;
	push @differ, "$figure->{of} shows $figure->{text} for $figure->{value}"
	  if $digits =~ /^\d+$/ && $figure->{value} =~ /^\d+$/ && $digits ne $figure->{value};
}
is_deeply(\@differ, [], 'figures in the page equal the document');
cmp_ok(scalar(@$figures), '>=', 150, @$figures . ' figures compared');

# Bars are as long as what they stand for, as far as a pixel tells.
is_deeply($browser->run(<<'JS'), [], 'bars are as long as their shares');
	const wide = e => e.getBoundingClientRect().width;
	return [...document.querySelectorAll('.bar i, .stackbar i')].map(i => {
		const n = Number(getComputedStyle(i).getPropertyValue('--n')), whole = wide(i.parentElement) * (i.parentElement.matches('.bar') ? 0.82 : 1);
		return [n, wide(i), n * whole];
	}).filter(([n, is, should]) => Math.abs(is - should) > 4);
JS
is($browser->run("return document.querySelectorAll('#risk .bar').length"), 2 * @{ $document->{sizes} }, 'one bar for each size, before and after');
is_deeply([ map { sprintf '%.9f %.9f', split /,/ } @{ $browser->run(<<'JS') } ], [ map { sprintf '%.9f %.9f', $_->{place}, $_->{target_riskier} } @{ $document->{sizes} } ],
	return document.querySelectorAll('#risk polyline')[1].getAttribute('points').trim().split(' ');
JS
	'the curve goes through its points');

# ---- exploring: a click shows the call, and the call does what was tried ----

$browser->open(report('explore', "kanon_explore('people', '{birth_year,zip,sex}', '{2,5,10,5000}', '{greedy,improve}', keep => '{diagnosis}')"));
is_deeply([ $browser->console ], [], 'exploring: nothing on the console');
is_deeply($browser->run('return [document.scripts.length, document.images.length]'), [ 0, 0 ], 'exploring: no script, no image');
is($browser->run("return document.querySelectorAll('a.point').length"), 6, 'a point for each k that has a release, and method');
my $seen = "return [...document.querySelectorAll('.call')].filter(e => getComputedStyle(e).display !== 'none').map(e => [e.querySelector('pre').textContent, e.querySelector('data').value])";
is_deeply($browser->run($seen), [], 'no call is shown at first');
$browser->run(q{[...document.querySelectorAll('a.point')].find(a => a.textContent == 'A, k = 5').click()});
my ($shown, @more) = @{ $browser->run($seen) };
is(scalar(@more), 0, 'a click shows one call');
like($shown->[0], qr/^SELECT \* FROM public\.kanon_pattern_guided\('public\.people', 'people_public'/, 'which publishes');
$node->safe_psql('postgres', "DROP TABLE people_public; $shown->[0]");
is($node->safe_psql('postgres', "SELECT k || ' ' || method || ' ' || (gcp = $shown->[1]) || ' ' || kept::text FROM kanon_usefulness ORDER BY run DESC LIMIT 1"),
	'5 greedy true {diagnosis}', 'what was tried');

# ---- what is signed is on the first sheet, alone ----

$browser->paper(673);
for my $name (qw(people values hostile nobody differ))
{
	$browser->open("file://$dir/$name.html");
	# A4 without its margins of 16 mm
	cmp_ok($browser->run("return document.querySelector('.front').getBoundingClientRect().height"), '<=', 1001, "$name: the first page has room for it");
	is($browser->run("return getComputedStyle(document.querySelector('.front')).breakAfter"), 'page', "$name: the rest begins on the next");
	is($browser->run("return document.querySelectorAll('.front .sign span').length + document.querySelectorAll('.front .box').length"), 6, "$name: it is decided and signed there");
}

# ---- to be read by everyone ----

my $contrast = <<'JS';
	const number = c => c.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = number(c).slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (number(c)[3] !== 0) return c; } return 'rgb(255,255,255)'; };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const bad = [];
	for (const e of document.querySelectorAll('body *')) {
		const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
		const svg = e instanceof SVGElement;
		if (svg && e.matches('polyline') && ratio(getComputedStyle(e).stroke, behind(e)) < 3)
			bad.push(e.outerHTML);
		if (e.matches('.s0, .s1, .dot') && ratio(getComputedStyle(e).backgroundColor, behind(e.parentElement)) < 3)
			bad.push(e.outerHTML);
		if (own && !['TITLE', 'STYLE', 'title', 'desc'].includes(e.tagName)
			&& ratio(svg ? getComputedStyle(e).fill : getComputedStyle(e).color, behind(e)) < 4.5)
			bad.push(e.outerHTML.slice(0, 100));
	}
	return bad;
JS
my %background;
for my $scheme (qw(light dark))
{
	for my $width (400, 1200)
	{
		$browser->screen($width, $scheme);
		$browser->open($page);
		$background{$scheme} = $browser->run('return getComputedStyle(document.body).backgroundColor');
		cmp_ok($browser->run('return document.documentElement.scrollWidth'), '<=', $width, "$width px, $scheme: nothing sticks out");
		is_deeply($browser->run(<<'JS'), [], "$width px, $scheme: no text leaves its figure");
			return [...document.querySelectorAll('figure span')].filter(t => {
				const box = t.getBoundingClientRect(), figure = t.closest('figure').getBoundingClientRect();
				return box.left < figure.left - 1 || box.right > figure.right + 1;
			}).map(t => t.textContent);
JS
		is_deeply($browser->run($contrast), [], "$width px, $scheme: text and bars have contrast");
		my $png = $browser->screenshot;
		ok(substr($png, 1, 3) eq 'PNG' && length($png) > 50_000, "$width px, $scheme: a screenshot of " . length($png) . ' bytes');
	}
}
isnt($background{light}, $background{dark}, 'the dark page is another one');

$browser->stop;
$node->stop;
done_testing();
