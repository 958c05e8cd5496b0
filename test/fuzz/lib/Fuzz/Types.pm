package Fuzz::Types;

# Types that rows can be grouped by, and some that they cannot, each with values.  A
# value is a list of its spellings: texts that are equal for the type.  Nearly every value
# has a marker, so that one in a message is seen (marker()).
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(types type_setup marker extensions);

# name, SQL type, values; then: extension it needs, 1 if it has an order
my @types = (
	[ int2      => 'smallint',    [ ['7717'], ['7718'], ['-7717'], ['0'], ['32767'], ['-32768'] ] ],
	[ int4      => 'integer',     [ map { ["77177$_"] } 0 .. 6 ], [ ['-2147483648'], ['2147483647'], ['0'] ] ],
	[ int8      => 'bigint',      [ map { ["7717700000$_"] } 0 .. 4 ], [ ['-9223372036854775808'], ['9223372036854775807'] ] ],
	[ numeric   => 'numeric',     [ [ '77177.0', '77177.00', '77177' ], [ '77177.5', '77177.500' ], ['7.7177'], ['NaN'] ], [ ['Infinity'], ['-Infinity'], [ '0', '0.000' ], ['1e-300'], ['77177e300'] ] ],
	[ scaled    => 'numeric(8,2)', [ map { ["77177.2$_"] } 0 .. 5 ] ],
	[ float4    => 'real',        [ ['77177.25'], ['77177.5'], [ '0', '-0' ], ['NaN'] ], [ ['Infinity'], ['1e-45'], ['3.4e38'] ] ],
	[ float8    => 'float8',      [ ['77177.25'], ['77177.5'], [ '0', '-0' ], ['NaN'] ], [ ['-Infinity'], ['5e-324'], ['1.7e308'], ['-1.7e308'] ] ],
	[ text      => 'text',        [ map { ["ZQX$_"] } 'a' .. 'f' ], [ [''], [' '], [ 'ZQX' . 'long' x 700 ], ["ZQX'\"\\\n\t,{}()"], ['ZQX%s%n'], ['*'], ['NULL'], ["ZQX\x{e9}\x{1F600}"] ] ],
	[ varchar   => 'varchar(12)', [ map { ["ZQX$_"] } 'a' .. 'f' ], [ [''], ['ZQX '] ] ],
	[ bpchar    => 'char(6)',     [ [ 'ZQXa', 'ZQXa ', 'ZQXa  ' ], ['ZQXb'], ['ZQXc'] ], [ [ '', '  ' ] ] ],
	[ quoted    => '"char"',      [ ['Z'], ['Q'], ['X'] ] ],
	[ name      => 'name',        [ map { ["ZQX$_"] } 'a' .. 'd' ], [ [''], [ 'ZQX' . 'y' x 60 ] ] ],
	[ citext    => 'public.citext',      [ [ 'ZQXa', 'zqxA', 'ZQXA' ], [ 'ZQXb', 'zqxb' ], ['ZQXc'] ], [], 'citext' ],
	[ nocase    => 'text COLLATE public.fuzz_nocase', [ [ 'ZQXa', 'zqxA' ], [ 'ZQXb', 'ZQXB' ], ["ZQX\x{e9}"] ], [ [''] ], 'icu' ],
	[ noaccent  => 'varchar COLLATE public.fuzz_noaccent', [ [ "ZQX\x{e9}", 'ZQXe' ], ['ZQXb'], ['ZQXc'] ], [], 'icu' ],
	[ date      => 'date',        [ map { ["4177-01-0$_"] } 1 .. 6 ], [ ['infinity'], ['-infinity'], ['4713-01-01 BC'] ] ],
	[ timestamp => 'timestamp',   [ map { ["4177-01-01 0$_:00"] } 1 .. 5 ], [ ['infinity'], ['-infinity'] ] ],
	[ timestamptz => 'timestamptz', [ [ '4177-01-01 01:00+00', '4177-01-01 02:00+01' ], ['4177-06-01 00:00+00'], ['4177-12-31 23:59+00'] ], [ ['infinity'] ] ],
	[ time      => 'time',        [ ['07:17:17.7'], ['24:00'], ['00:00'] ] ],
	[ timetz    => 'timetz',      [ ['07:17:17.7+00'], ['07:17:17.7+01'], ['08:17:17.7+00'] ] ],
	[ interval  => 'interval',    [ [ '77177 days', '1852248 hours' ], [ '1 mon', '30 days', '720:00' ], ['0'] ], [ ['-178000000 years'], ['178000000 years'] ] ],
	[ boolean   => 'boolean',     [ ['true'], ['false'] ] ],
	[ bytea     => 'bytea',       [ map { ["ZQX$_"] } 'a' .. 'c' ], [ [''] ] ],
	[ uuid      => 'uuid',        [ map { ["a7a71771-7717-4717-8717-77177000000$_"] } 0 .. 4 ] ],
	[ oid       => 'oid',         [ ['77177'], ['4294967295'], ['0'] ] ],
	[ xid       => 'xid',         [ ['77177'], ['771771'], ['0'] ], [], undef, 0 ],
	[ xid8      => 'xid8',        [ ['77177'], ['771771'] ] ],
	[ lsn       => 'pg_lsn',      [ ['77177/0'], ['0/77177'] ] ],
	[ tid       => 'tid',         [ ['(77177,1)'], ['(77177,2)'] ] ],
	[ money     => 'money',       [ ['77177.10'], ['77177.20'], ['0'] ] ],
	[ inet      => 'inet',        [ ['77.177.1.1'], ['77.177.1.0/24'], ['77.177.0.0/16'], ['::77'] ] ],
	[ cidr      => 'cidr',        [ ['77.177.1.0/24'], ['77.177.0.0/16'] ] ],
	[ macaddr   => 'macaddr',     [ ['77:17:77:17:77:01'], ['77:17:77:17:77:02'] ] ],
	[ macaddr8  => 'macaddr8',    [ ['77:17:77:17:77:17:77:01'], ['77:17:77:17:77:17:77:02'] ] ],
	[ bit       => 'bit(4)',      [ ['1010'], ['0101'], ['0000'] ] ],
	[ varbit    => 'varbit',      [ ['1010'], ['10'], [''] ] ],
	[ jsonb     => 'jsonb',       [ [ '{"a":"ZQX","b":1.0}', '{"b":1.00,"a":"ZQX"}' ], ['"ZQX"'], ['null'], ['[]'] ] ],
	[ tsvector  => 'tsvector',    [ ['zqxa:1'], ['zqxb:2'], [''] ] ],
	[ enum      => 'public.fuzz_enum',   [ ['ZQXe'], ['ZQXf'], ['ZQXg'] ] ],
	[ composite => 'public.fuzz_pair',   [ [ '(77177,1.0)', '(77177,1.00)' ], ['(77178,2)'], ['(,)'] ] ],
	[ domain    => 'public.fuzz_domain', [ [ '77177.0', '77177.00' ], ['771775'] ] ],
	[ needed    => 'public.fuzz_needed', [ ['ZQXa'], ['ZQXb'], ['ZQXc'] ], [], undef, 1, 'never null' ],
	[ int4array => 'integer[]',   [ ['{77177,1}'], ['{77177}'], ['{}'], ['{NULL}'] ], [ ['[0:1]={77177,1}'], ['{{1,2},{77177,4}}'] ] ],
	[ textarray => 'text[]',      [ ['{ZQXa}'], ['{ZQXb,"ZQX,c"}'], ['{}'] ] ],
	[ int4range => 'int4range',   [ [ '[77177,77180)', '[77177,77179]' ], ['empty'], ['(,)'], ['[77177,)'] ] ],
	[ numrange  => 'numrange',    [ [ '[77177.0,77178)', '[77177.00,77178)' ], ['empty'], ['(,77177]'] ] ],
	[ daterange => 'daterange',   [ ['[4177-01-01,4177-02-01)'], ['empty'] ] ],
	[ multirange => 'int4multirange', [ ['{[77177,77180),[77190,77200)}'], ['{}'] ] ],
	[ ltree     => 'public.ltree',       [ ['zqx.a.b'], ['zqx.a'], ['zqx.b'] ], [], 'ltree' ],
	[ hstore    => 'public.hstore',      [ ['a=>zqx'], ['b=>zqx'] ], [], 'hstore' ],
	[ json      => 'json',        [ ['{"a":"ZQX"}'], ['1'] ], [], undef, 0, 'no equality' ],
	[ xml       => 'xml',         [ ['<ZQX/>'] ], [], undef, 0, 'no equality' ],
	[ point     => 'point',       [ ['(77177,1)'] ], [], undef, 0, 'no equality' ],
	[ box       => 'box',         [ ['(77177,1),(0,0)'], ['(77177,1),(1,1)'] ], [], undef, 0, 'no equality' ],
	[ tsquery   => 'tsquery',     [ ['zqxa'], ['zqxb & zqxc'] ] ]);

# What must be there for the types; without what a server lacks.
sub type_setup
{
	my ($has) = @_;
	return (
		"CREATE TYPE public.fuzz_enum AS ENUM ('ZQXg', 'ZQXe', 'ZQXf')",
		'CREATE TYPE public.fuzz_pair AS (a integer, b numeric)',
		'CREATE DOMAIN public.fuzz_domain AS numeric CHECK (value > 0)',
		'CREATE DOMAIN public.fuzz_needed AS text NOT NULL',
		$has->{icu}
		? ("CREATE COLLATION public.fuzz_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
			"CREATE COLLATION public.fuzz_noaccent (provider = icu, locale = 'und-u-ks-level1-kc-true', deterministic = false)")
		: ());
}

sub extensions { return qw(citext ltree hstore) }

# all types of this server: name, sql, values, ordered, note
sub types
{
	my ($has) = @_;
	return map { {
			name    => $_->[0],
			sql     => $_->[1],
			values  => [ @{ $_->[2] }, @{ $_->[3] // [] } ],
			ordered => $_->[5] // 1,
			note    => $_->[6] // '',
	} } grep { !defined $_->[4] || $has->{ $_->[4] } } @types;
}

# does a text show a value?
sub marker
{
	my ($text) = @_;
	return $text =~ /(zqx\S{0,20}|77177\S{0,12}|77\.177\.\S*|4177-\S+|5a5158\S*|77:17:\S+|07:17:17\S*)/i ? $1 : undef;
}

1;
