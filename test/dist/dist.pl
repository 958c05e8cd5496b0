#!/usr/bin/perl
# dist.pl ARCHIVE.zip: is it what PGXN takes?  Its name, its one folder, and META.json
# in it by https://pgxn.org/spec/: required fields, their forms, files that are there.
use strict;
use warnings;
use File::Basename qw(basename);
use IO::Uncompress::Unzip qw($UnzipError);
use JSON::PP;
use Test::More;

my ($zip) = @ARGV;
my (%file, $status);
my $in = IO::Uncompress::Unzip->new($zip) or die "$zip: $UnzipError";
for ($status = 1; $status > 0; $status = $in->nextStream) {
	my $name = $in->getHeaderInfo->{Name};
	local $/;
	$file{$name} = <$in> // '';
}
my $base = basename($zip, '.zip');
is(join(' ', grep { index($_, "$base/") != 0 } sort keys %file), '', 'all of it is in a folder of the same name');
my $meta = decode_json($file{"$base/META.json"} // '{}');
my $semver = qr/^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-?[A-Za-z][0-9A-Za-z-]*)?$/;
my $term = qr{^[^\s/\\[:cntrl:]]{2,}$};

ok(defined $meta->{$_}, "META.json has $_") for qw(name version abstract maintainer license provides meta-spec);
is($base, "$meta->{name}-$meta->{version}", 'the archive is called by name and version');
like($meta->{name}, $term, 'name');
like($meta->{version}, $semver, 'version');
cmp_ok(length $meta->{abstract}, '<=', 100, 'abstract: a short one');
like($meta->{license}, qr/^(?:agpl_3|apache_[12]_[01]|artistic_[12]|bsd|freebsd|gfdl_1_[23]|gpl_[123]|lgpl_[23]_[01]|mit|mozilla_1_[01]|openssl|perl_5|postgresql|qpl_1_0|ssleay|sun|zlib|open_source|restricted|unrestricted|unknown)$/,
	'license');
is($meta->{'meta-spec'}{version}, '1.0.0', 'of version 1.0.0 of the specification');
like($meta->{'meta-spec'}{url}, qr{^https?://pgxn\.org/meta/spec\.txt$}, 'which is there');
like($meta->{release_status} // 'stable', qr/^(?:stable|testing|unstable)$/, 'release_status');
ok(!grep({ ref || !/^[^\/\\[:cntrl:]]{2,255}$/ } @{ $meta->{tags} // [] }), 'tags');
for my $phase (keys %{ $meta->{prereqs} // {} }) {
	like($phase, qr/^(?:configure|build|test|runtime|develop)$/, "prereqs: $phase");
	for my $relation (keys %{ $meta->{prereqs}{$phase} }) {
		like($relation, qr/^(?:requires|recommends|suggests|conflicts)$/, "prereqs: $phase $relation");
		like($_, qr/^(?:0|(?:[<>=!]+ )?[0-9.]+)$/, "prereqs: a version") for values %{ $meta->{prereqs}{$phase}{$relation} };
	}
}
for my $extension (sort keys %{ $meta->{provides} }) {
	my $provided = $meta->{provides}{$extension};
	like($extension, $term, "provides $extension");
	like($provided->{version}, $semver, "$extension: version");
	ok(exists $file{"$base/$provided->{file}"}, "$extension: its file");
	ok(exists $file{"$base/$provided->{docfile}"}, "$extension: its page");
	my ($default) = ($file{"$base/$extension.control"} // '') =~ /^default_version = '(.*)'/m;
	like($provided->{version}, qr/^\Q$default\E\b/, "$extension: the version of the control file");
	is($provided->{file}, "$extension--$default.sql", "$extension: the script that it installs");
}
ok(!grep({ m{^[^/]+/(?:build|results)/|\.[oad]$} } keys %file), 'nothing in it was built');
done_testing();
