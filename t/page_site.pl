# The site of "make site": links, anchors and pictures lead somewhere, the search works from
# a file, axe-core finds no violation, and nothing is cut off on a phone or a desk.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find;
use File::Spec;
use KanonBrowser;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no site: see dev/check page' unless $ENV{KANON_AXE} && $ENV{KANON_SITE};

my $site = $ENV{KANON_SITE};
my %page;
find(sub { $page{ File::Spec->abs2rel($File::Find::name, $site) } = slurp_file($_) if /\.html$/ && $_ ne '404.html' }, $site);
cmp_ok(scalar keys %page, '>', 80, 'there are pages');

# What a link leads to: a file of the site, and an anchor of that page.
sub broken
{
	my ($from, $to) = @_;

	return if $to =~ /^(?:https?:|mailto:|data:|javascript:)/ || $to eq '';
	my ($file, $anchor) = split /#/, $to, 2;
	my $path = $file eq '' ? $from : File::Spec->canonpath(dirname($from) . "/$file");
	1 while $path =~ s{[^/]+/\.\./}{};
	$path =~ s{^\./}{};
	return "$to: no such file" unless -e "$site/$path";
	return if !defined $anchor || $anchor eq '' || $path !~ /\.html$/ || !defined $page{$path};
	return $page{$path} =~ /(?:id|name)="\Q$anchor\E"/ ? () : "$to: no such anchor";
}

ok(broken('index.html', 'nowhere.html') && broken('index.html', '#nowhere'), 'a broken link is found');
for my $name (sort keys %page)
{
	my %link = map { $_ => 1 } $page{$name} =~ /\b(?:href|src)="([^"]*)"/g;

	$link{$_} = 1 for map { s/\s.*//sr } $page{$name} =~ /\bsrcset="([^"]*)"/g;
	is_deeply([ map { broken($name, $_) } sort keys %link ], [], "$name: its links");
}

my $dir = PostgreSQL::Test::Utils::tempdir();
my $browser = KanonBrowser->start($dir);
my $axe = slurp_file($ENV{KANON_AXE}) . ";\nreturn axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; ')));";

for my $name (qw(index.html tutorial.html glossary.html reference/index.html reference/pattern_guided.html how-to/received-table.html))
{
	for my $scheme (qw(light dark))
	{
		for my $width (400, 1200)
		{
			$browser->screen($width, $scheme);
			$browser->open("file://$site/$name");
			is_deeply($browser->run($axe), [], "$name, $scheme, $width wide: no violations");
			cmp_ok($browser->run('return document.documentElement.scrollWidth'), '<=', $width, "$name, $scheme, $width wide: nothing is cut off");
		}
	}
}
is_deeply([ grep { !m{^(?:file|data|blob|chrome)} } $browser->requests ], [], 'nothing is loaded from elsewhere');

# (the index is built in a worker: wait for it)
$browser->screen(1200, 'light');
$browser->open("file://$site/index.html?q=hierarchy");
my $found = 0;
for (1 .. 600)
{
	$found = $browser->run('return document.querySelectorAll(".md-search-result__item").length');
	last if $found > 0;
	select undef, undef, undef, 0.1;
}
cmp_ok($found, '>', 3, 'the search finds pages, from a file');

done_testing();
