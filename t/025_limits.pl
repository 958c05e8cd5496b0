# What is too long to be recorded is refused before it is written.
use strict;
use warnings;
use Test::More;
use KanonNode;

my $node = KanonNode::start('main');

$node->safe_psql('postgres', q{
	CREATE SEQUENCE seen;
	CREATE TABLE wide AS SELECT repeat('x', 135000000) AS a, repeat('y', 135000000) AS b FROM generate_series(1, 2);
	CREATE VIEW watched AS SELECT a, b, nextval('seen') > 0 AS kept FROM wide;
});
my (undef, $out, $error) = $node->psql('postgres', q{
	SET kanon.max_memory = '2GB';
	SELECT * FROM kanon_pattern_guided('watched', 'target', '{a,b}', 2, keep => '{kept}');
});
like($error, qr/ERROR:  the cells of a class are too long to be recorded/, 'the error says so');
like($error, qr/HINT:  Publish a view/, 'and what to do');
is($node->safe_psql('postgres', q{SELECT last_value, to_regclass('target') IS NULL FROM seen}),
	'2|t', 'the rows were not read again to be written');
$node->stop;

done_testing();
