# A server of one's own loads the extension, and takes it out again.
use strict;
use warnings;
use Test::More;
use KanonNode;

my $node = KanonNode::start('main');

is( $node->safe_psql('postgres',
		"SELECT extversion FROM pg_extension WHERE extname = 'kanon'"),
	'1.0',
	'CREATE EXTENSION installs version 1.0');
is($node->safe_psql('postgres', 'SHOW listen_addresses'),
	'', 'the server listens on its socket only');
ok($node->safe_psql('postgres', "LOAD 'kanon'; SELECT true"),
	'the library loads by its plain name');
{
	my (undef, $out, $told) = $node->psql('postgres', 'SELECT * FROM kanon_progress');
	is($out, '', 'nobody can see progress where the library is not preloaded');
	like($told, qr/NOTICE:  kanon_progress shows nothing: kanon is not in shared_preload_libraries\nHINT/m, 'which is said');
}
SKIP:
{
	skip 'builds for sanitizers keep their debug information', 1 if $ENV{SANITIZE};
	# (a library path of the tests stands before the server's)
	my ($library) = grep { -e } map { "$_/kanon.so" } split /:/, $node->safe_psql('postgres', 'SHOW dynamic_library_path');
	$library //= $node->config_data('--pkglibdir') . '/kanon.so';
	unlike(`readelf -SW '$library'`, qr/\.debug_info/, 'what is installed has no debug information');
}

# The script is ASCII, whatever the database's encoding is.
for my $encoding (qw(EUC_KR EUC_JP EUC_TW LATIN1))
{
	$node->safe_psql('postgres', "CREATE DATABASE other TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	my ($code, undef, $told) = $node->psql('other', 'CREATE EXTENSION kanon');
	is("$code $told", '0 ', "CREATE EXTENSION in a database in $encoding");
	$node->safe_psql('postgres', 'DROP DATABASE other');
}
$node->safe_psql('postgres', 'DROP EXTENSION kanon');
is( $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_proc WHERE proname LIKE 'kanon\\_%'"),
	'0',
	'DROP EXTENSION leaves nothing behind');
$node->stop;

done_testing();
