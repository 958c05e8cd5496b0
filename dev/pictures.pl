# pictures.pl FOLDER: started by dev/pictures, on a throwaway server.
use strict;
use warnings;
use File::Temp qw(tempdir);
use KanonBrowser;

my ($images) = @ARGV;
my $dir = tempdir(CLEANUP => 1);
my $browser = KanonBrowser->start($dir);

sub page
{
	my ($name, $sql) = @_;

	system('psql', qw(-X -q -A -t -v ON_ERROR_STOP=1), '-o', "$dir/$name.html", '-c', $sql) == 0 or die "no page $name";
	return "file://$dir/$name.html";
}

# The upper part of a page, so high.
sub picture
{
	my ($name, $url, $width, $height) = @_;

	for my $scheme (qw(light dark))
	{
		$browser->screen($width, $scheme);
		$browser->open($url);
		my $data = $browser->devtools('Page.captureScreenshot', format => 'png', captureBeyondViewport => JSON::PP::true,
			clip => { x => 0, y => 0, width => $width, height => $height, scale => 1 })->{data};
		open my $out, '>:raw', "$images/$name-$scheme.png" or die "$images/$name-$scheme.png: $!";
		print $out MIME::Base64::decode_base64($data);
	}
}

mkdir $images;
system('psql', qw(-X -q -v ON_ERROR_STOP=1), '-c', 'SET client_min_messages = warning', '-c', 'CREATE EXTENSION kanon', '-f', 'examples/hospital.sql', '-c', <<'SQL') == 0 or die 'no tables';
	CREATE VIEW patients_by_year AS SELECT extract(year FROM birth_date)::int AS birth_year, * FROM patients;
	SELECT FROM kanon_pattern_guided('patients_by_year', 'patients_public', '{birth_year,zip,sex}', 5, keep => '{diagnosis}',
		hierarchies => '{"birth_year": {"interval": [5, 10, 20]}, "zip": {"prefix": [4, 3]}}');
SQL
picture('report', page('report', q{SELECT kanon_report(1, frontier => '{2,3,5,10,20}', metadata => '{"for whom": "Institute of Health"}')}), 1000, 1200);
picture('explore', page('explore', q{SELECT kanon_explore('patients_by_year', '{birth_year,zip,sex}', '{2,3,5,10,20}', '{greedy}',
	ARRAY[NULL, '{"birth_year": {"interval": [5, 10, 20]}, "zip": {"prefix": [4, 3]}}']::jsonb[])}), 1000, 900);
