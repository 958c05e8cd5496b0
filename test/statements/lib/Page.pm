package Page;

# The words of a page, without its tags: a line for each paragraph, row of a table, bar or tile, and the heading that it stands under.

use strict;
use warnings;

my %entity = (amp => '&', lt => '<', gt => '>', quot => '"', ldquo => '"', rdquo => '"', rsquo => "'", middot => '.', rarr => '->', minus => '-');

sub decode
{
	my ($text) = @_;
	$text =~ s/&#8239;/ /g;
	$text =~ s/&#x([0-9a-f]+);/chr hex $1/ge;
	$text =~ s/&#(\d+);/chr $1/ge;
	$text =~ s/&(\w+);/$entity{$1} \/\/ die "an entity of its own: $1"/ge;
	return $text;
}

# [ heading, caption, text ] of each line.
sub lines
{
	my ($html) = @_;
	my ($heading, $caption, @lines) = ('', '');
	$html =~ s/<style>.*?<\/style>//gs;
	$html =~ s/\s+/ /g;
	# bars: one line each
	$html =~ s/<span class='gap'><\/span>/<\/p>/g;
	$html =~ s/<\/t[hd]>/ | /g;
	$html =~ s/<span class='(?:[xy]|axis)'/<\/p><span/g;
	while ($html =~ /(.*?)<\/(tr|p|li|h1|h2|h3|figcaption|caption|pre|text|title|summary|header|thead|nav)>/gs)
	{
		my ($text, $end) = ($1, $2);
		$text =~ s/<[^>]*>/ /g;
		$text = decode($text);
		$text =~ s/\s+/ /g;
		$text =~ s/^ | $//g;
		($heading, $caption) = ($text, '') if $end eq 'h2';
		$caption = $text if $end =~ /caption/;
		push @lines, [ $heading, $caption, $text ] if $text ne '';
	}
	return @lines;
}

1;
