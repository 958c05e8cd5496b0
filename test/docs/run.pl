#!/usr/bin/perl
# run.pl FILE.md…: runs what the documentation shows, each page in a database of
# its own, and compares what comes out with what the page prints.  Needs a server
# (PGHOST and so on) and a superuser; started by "make check-docs".
#
#   ```sql … ```       is run, by psql
#   ```sh … ```        is run, in a folder of its own; "mydb" is the page's database
#   ```crontab … ```   the same, without the five fields that say when
#   ``` … ``` after it is what it prints; a line "..." stands for any lines
#   ```text … ```      is neither: pictures, and what a file may have
#   <!-- run: … -->    is run and not shown (tables that a reader has)
#   <!-- not run: needs … --> before a block: what a throwaway server does not have
#   <!-- as: ROLE -->  the next block is run as this role
#
# Nothing else is a block: what looks like one and is not run fails the test.
#
# run.pl pages: only what can be told without running: blocks, links, calls, arguments,
# SQLSTATEs; run.pl examples: only examples/.
# A block without a result must run without an error.  With KANON_DOCS_UPDATE set,
# results that differ, calls and tables of arguments are written into the pages: look at the difference before you
# commit it.
use strict;
use warnings;
use File::Basename qw(basename);
use File::Temp qw(tempdir);
use Test::More;

my $scratch = tempdir(CLEANUP => 1);

# What pages may ask for that is not there; all else is run.
my $needs = qr/^needs (?:the data sets|pg_cron|Citus|the extension anon|another machine|a machine to install on)$/;

# The pieces of a page: [line, kind, text, result or undef, role, line of the result], [line, 'hidden', text];
# and what is wrong with its blocks.
sub pieces {
	my ($file) = @_;
	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
	my @lines = <$in>;
	my (@pieces, @wrong, $skip, $role);
	my $last = {};    # the block before: where it ended, whether a result may follow
	for (my $i = 0; $i < @lines; $i++) {
		if ($lines[$i] =~ /^<!-- (run|not run|as):\s*(.*)/) {
			my ($what, $text, $at) = ($1, $2, $i);
			$text .= "\n" . $lines[++$i] while $text !~ s/\s*-->\s*$//;
			if    ($what eq 'run')     { push @pieces, [$at + 1, 'hidden', $text] }
			elsif ($what eq 'not run') { $skip = $text }
			else                       { $role = $text }
		}
		elsif ($lines[$i] =~ /^( *)```(.*?)\s*$/) {
			my ($indent, $kind, $at, $text) = ($1, $2, $i + 1, '');
			$text .= $lines[$i] =~ s/^$indent//r while ++$i < @lines && $lines[$i] !~ /^ *```\s*$/;
			my $follows = defined $last->{piece} && join('', @lines[$last->{end} .. $at - 2]) !~ /\S/;
			my $before = $last;
			$last = { end => $i + 1 };
			if ($kind =~ /^(?:sql|sh|crontab)$/) {
				push @wrong, "line $at: is not run because it \"$skip\"" if defined $skip && $skip !~ $needs;
				if (!defined $skip) { push @pieces, [$at, $kind, $text, undef, $role]; $last->{piece} = $pieces[-1] }
				($skip, $role) = (undef, undef);
			}
			elsif ($kind eq '' && $follows) { @{ $before->{piece} }[3, 5] = ($text, $at) }
			elsif ($kind ne 'text')         { push @wrong, "line $at: is neither run nor the result of what is" }
			elsif ($text =~ /\b(?:SELECT|CREATE|CALL|GRANT)\b|\bpsql\b|\w => /) { push @wrong, "line $at: can be run" }
		}
		elsif ($lines[$i] =~ /^ *~~~|^\s*<pre|^(?: {4,}|\t)(?:SELECT|CREATE|CALL|GRANT|psql)\b/) { push @wrong, 'line ' . ($i + 1) . ': is a block of another form' }
	}
	push @wrong, '"' . ($skip // "as $role") . '" is of no block' if defined $skip || defined $role;
	return (\@pieces, \@wrong);
}

# Blank lines and spaces at the ends of lines say nothing.
sub plain { join "\n", grep { /\S/ } map { s/\s+$//r } split /\n/, $_[0] }

sub matches {
	my ($got, $expected) = @_;
	my $pattern = join "\n", map { /^\s*\.\.\.$/ ? '(?:.*\n)*?.*' : quotemeta } split /\n/, plain($expected);
	return plain($got) =~ /^$pattern$/;
}

# Commands for a shell, as a line for psql.
sub shell {
	my ($name, $db, $text) = @_;
	open my $out, '>:encoding(UTF-8)', $name or die $!;
	print $out $text =~ s/\bmydb\b/$db/gr;
	return "\\! cd $scratch/files && sh -e $name || echo ERROR: exit status \$?";
}

# Writes what was printed in place of what the page says, from its last piece to its first.
sub update {
	my ($file, $pieces, $got) = @_;
	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
	my @lines = <$in>;
	for my $n (reverse 0 .. $#$pieces) {
		my (undef, undef, undef, $result, undef, $at) = @{ $pieces->[$n] };
		next if !defined $result || matches($got->{$n}, $result);
		my ($indent) = $lines[ $at - 1 ] =~ /^( *)/;
		splice @lines, $at, scalar(() = $result =~ /\n/g), map { /\S/ ? $indent . s/\s+$//r . "\n" : "\n" } $got->{$n} =~ s/\n+\z/\n/r =~ /^.*\n/mg;
	}
	open my $out, '>:encoding(UTF-8)', $file or die "$file: $!";
	print $out @lines;
}

# Functions as the catalog has them: name => [[argument, 'type, default'], ...]; of overloads the arguments of all.
# (What is behind a view has no page.)
sub functions {
	my (%functions, %seen);
	system(qw(psql -X -q -d postgres -c), 'SET client_min_messages = warning', '-c', 'CREATE EXTENSION IF NOT EXISTS kanon') == 0 or die;
	for (qx(psql -X -q -A -t -F '|' -d postgres -c "
		SELECT p.proname, p.proargnames[i], format_type(t, NULL), regexp_replace(pg_get_function_arg_default(p.oid, i::int), '::[a-z_ ]+(\\[\\])?\$', '')
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'kanon'
		LEFT JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, i) ON true
		WHERE obj_description(p.oid, 'pg_proc') NOT LIKE 'behind %' ORDER BY p.proname, p.oid, i")) {
		chomp;
		my ($name, $argument, $type, $default) = split /\|/, $_, 4;
		$functions{$name} //= [];
		next if $argument eq '' || $seen{$name}{$argument}++;
		$type =~ s/double precision/float8/;
		$type =~ s/integer/int/;
		push @{ $functions{$name} }, [ $argument, $default eq '' ? $type : "$type, $default" ];
	}
	return \%functions;
}

my $heading = '| argument | type, default | meaning |';

# The meanings in a page's table of arguments, and all of its rows; with `rows` these are written instead.
sub arguments {
	my ($page, $rows) = @_;
	my ($table) = $page =~ /^\Q$heading\E\n\|[-|]+\n((?:\|.*\n)*)/m or return;
	$_[0] =~ s/^(\Q$heading\E\n\|[-|]+\n)(?:\|.*\n)*/$1 . join '', @$rows/me if $rows;
	return [ split /^/, $table ];
}

# The arguments that a page takes over from kanon_pattern_guided, with their types and defaults.
sub shared {
	my ($page) = @_;
	my ($list) = $page =~ /^The other arguments are those of \[kanon_pattern_guided\]\(pattern_guided\.md\):\s(.*?)\.$/ms;
	return map { $_ => 1 } ($list // '') =~ /`(\w+)`/g;
}

# Each function has a page, which begins with its call, and has a table of its arguments, their types and defaults.
sub check_pages {
	my $functions = functions();
	my %guided = map { ("@$_" => 1) } @{ $functions->{kanon_pattern_guided} };
	for my $name (sort keys %$functions) {
		my $file = 'doc/reference/' . $name =~ s/^kanon_//r . '.md';
		my ($page, @rows) = ('');
		if (open my $in, '<:encoding(UTF-8)', $file) { local $/; $page = <$in> }
		my $call = "$name(" . join(', ', map { $_->[0] } @{ $functions->{$name} }) . ')';
		my $told = arguments($page) // [];
		my %meaning = map { /^\| `(\w+)` \|.*?(?<!\\)\| (.*) \|$/ ? ($1 => $2) : () } @$told;
		my %shared = shared($page);
		for (@{ $functions->{$name} }) {
			my ($argument, $type) = @$_;
			next if $guided{"@$_"} && delete $shared{$argument};
			push @rows, "| `$argument` | $type | " . ($meaning{$argument} // '...') . " |\n";
		}
		if ($ENV{KANON_DOCS_UPDATE} && $page ne '') {
			my $wrapped = '';
			my $line = '`';
			for (split / /, "$call`") {
				if (length($line) + length > 118) { $wrapped .= "$line\n"; $line = '' }
				$line .= ($line =~ /^`?$/ ? '' : ' ') . $_;
			}
			$page =~ s/^`$name\([^`]*`/$wrapped$line/m;
			arguments($page, \@rows);
			open my $out, '>:encoding(UTF-8)', $file or die "$file: $!";
			print $out $page;
		}
		ok(index($page =~ s/\s+/ /gr, " `$call`") >= 0, "$file begins with the call of $name") or diag("not there: $call");
		is_deeply(arguments($page) // [], \@rows, "$file has the arguments of $name") if @rows;
		ok(!%shared, "$file takes over arguments that are those of kanon_pattern_guided") or diag(join ', ', sort keys %shared);
		ok(!grep({ /\.\.\. \|$/ } @rows), "$file says what the arguments of $name mean");
	}
}

# Every block is run, or the result of one that is; the few others say what they need.
sub check_blocks {
	for my $file (sort glob '*.md doc/*.md doc/*/*.md') {
		my (undef, $wrong) = pieces($file);
		is(join("\n", @$wrong), '', "$file: its blocks are run");
	}
}

# Who takes what: the table of the reference says what sql/privacy.sql has seen, of every method of the registry.
sub check_rules {
	my ($page, $seen, $registry) = map { open my $in, '<:encoding(UTF-8)', $_ or die "$_: $!"; local $/; <$in> }
		qw(doc/reference/privacy.md expected/privacy.out src/core/methods/methods.c);
	my %methods = map { my ($family) = /^(\w+)\[\]/; $family ? ($family => [/\{"(\w+)"/g]) : () } split /^static const KanonMethod /m, $registry;
	my ($names, $lines, $without) = $seen =~ /^(greedy \| ilp .*)\n[^:]*SELECT rule\.name.*?\nFROM rule, method.*?\n(.*?)^--.*?^WHERE rule\.rule.*?\n(.*?)^RESET/ms or die 'no table in expected/privacy.out';
	my @names = split / \| /, $names;
	my %takes = map { /^([^:]+): (.*)/ ? ($1 => [ split / \| /, $2 ]) : () } split /\n/, $lines;
	my %none = map { /^([^:]+): (.*)/ ? ($1 => [ split / \| /, $2 ]) : (k => ['yes']) } 'k', split /\n/, $without;
	my %walked = map { $_ => 1 } @names;
	ok($walked{$_}, "sql/privacy.sql walks method $_") foreach map { @{ $methods{$_} } } qw(pattern_guided cluster);
	my ($heads, $table) = $page =~ /^\| (\| k \|.*)\n\|[-|]+\n((?:\|.*\n)+)/m or die 'no table in doc/reference/privacy.md';
	my %rule = (k => 'k', 'distinct l' => 'distinct_l', 'entropy l' => 'entropy_l', recursive => 'recursive_cl', 't-closeness' => 't_closeness', "\x{3b4}-presence" => 'delta_presence');
	my @rules = map { $rule{$_} // $_ } grep { $_ ne '' } map { s/^\s+|\s+$//gr } split /\|/, $heads;
	is_deeply([ sort @rules ], [ sort keys %takes ], 'the table has every rule');
	for (split /\n/, $table) {
		my (undef, $who, @cells) = map { s/^\s+|\s+$//gr } split /\|/;
		my ($model, $method) = $who =~ /^`kanon_(\w+)`(?:, method `(\w+)`)?/;
		my @of = $method ? $method : $model eq 'pattern_clustering' ? ('pattern clustering', 'by rules') : $model eq 'full_domain' ? 'full-domain' : $model eq 'subtree' ? 'subtree' : @{ $methods{$model} };
		@of = grep { $table !~ /method `$_`/ } @of if $who =~ /the other methods/;
		for my $r (0 .. $#rules) {
			my @expected = map { $model eq 'freeform' ? @{ $none{ $rules[$r] } } : () } 1;
			@expected = map { my $m = $_; map { $takes{ $rules[$r] }[$_] } grep { $names[$_] eq $m } 0 .. $#names } @of if $model ne 'freeform';
			is($cells[$r] eq 'yes' ? 'yes' : '-', join(' ', sort keys %{ { map { $_ => 1 } @expected } }), "who takes what: $who, $rules[$r]");
		}
	}
}

# What is promised names the tests that show it, which are there: <!-- tests: NAME: file, … --> has each name
# that a line of these pages begins with.
sub check_tests {
	for my $file (map { "doc/explanation/$_.md" } qw(guarantees threats)) {
		open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
		my $page = do { local $/; <$in> };
		my ($block) = $page =~ /^<!-- tests:\n(.*?)^-->/ms;
		my %tests = ($block // '') =~ /^(.+?): (.+)$/mg;
		my @named = $page =~ /^(?:\| |\* )\*\*(.+?)\.?\*\*/mg;
		my ($guaranteed) = $page =~ /^Guaranteed,.*?\n\n(.*?)\n\n/ms;
		push @named, map { "Guaranteed $_" } 1 .. (() = ($guaranteed // '') =~ /^\* /mg);
		is(join(', ', grep { !$tests{$_} } @named), '', "$file: what it says names its tests");
		is(join(', ', grep { $_ ne 'nothing is promised' && !-e } map { split /, / } values %tests), '', "$file: these are there");
	}
}

# Every link goes somewhere: to a file of the tree, and to a heading that it has.
sub check_links {
	my (%anchors, %linked);
	my $headings = sub {
		my ($file) = @_;
		return $anchors{$file} //= do {
			my %is;
			open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
			while (<$in>) { $is{ lc($1) =~ s/[^\w\- ]//gr =~ tr/ /-/r } = 1 if /^#+ (.*?)\s*$/ }
			\%is;
		};
	};
	for my $file (sort glob '*.md doc/*.md doc/*/*.md') {
		open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
		my $page = do { local $/; <$in> };
		$page =~ s/^ *```.*?^ *```//msg;
		my @broken;
		for my $link ($page =~ /\]\(([^)\s]+)\)/g) {
			next if $link =~ m{^https?://};
			my ($to, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
			$to = $to eq '' ? $file : ($file =~ s{[^/]*$}{}r) . $to;
			1 while $to =~ s{[^/]+/\.\./}{};
			$linked{$to} = 1;
			push @broken, $link if !-e $to || $anchor ne '' && !$headings->($to)->{$anchor};
		}
		is("@broken", '', "$file: its links");
	}
	open my $in, '<', 'README.md' or die $!;
	my @lines = <$in>;
	cmp_ok(scalar @lines, '<=', 200, 'README.md can be read at one go');
	my @lonely = grep { !$linked{$_} } glob 'doc/*.md doc/*/*.md';
	is("@lonely", '', 'every page is linked to');
}

# Each view with its columns, and each setting, is told of.
sub check_views {
	my %pages = (view => '', setting => '');
	for ([ view => 'views' ], [ view => 'publications' ], [ setting => 'settings' ]) {
		open my $in, '<:encoding(UTF-8)', "doc/reference/$_->[1].md" or die $!;
		local $/;
		$pages{ $_->[0] } .= <$in>;
	}
	my %words = map { $_ => 1 } map { split /\W+/ } $pages{view} =~ s/^ *```.*?^ *```//msgr =~ /`([^`]+)`/g;
	my %columns;
	for (qx(psql -X -q -A -t -F '|' -d postgres -c "
		SELECT c.relname, a.attname FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'kanon' JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.relkind = 'v'")) {
		chomp;
		my ($view, $column) = split /\|/;
		push @{ $columns{$view} }, $column;
	}
	for my $view (sort keys %columns) {
		ok($pages{view} =~ /\b$view\b/, "the reference has view $view");
		is(join(' ', grep { !$words{$_} } @{ $columns{$view} }), '', "the columns of $view that the reference does not have");
	}
	my @settings = map { s/\s+$//r } qx(psql -X -q -A -t -d postgres -c "LOAD 'kanon'" -c "SELECT name FROM pg_settings WHERE name LIKE 'kanon.%' ORDER BY name");
	is_deeply([ sort $pages{setting} =~ /^\| `(kanon\.\w+)` \|/mg ], \@settings, 'doc/reference/settings.md has the settings');
}

# Each SQLSTATE that is raised anywhere in src is told of, and no other.
sub check_errors {
	my %code;
	chomp(my $include = qx(pg_config --includedir-server));
	open my $codes, '<', "$include/utils/errcodes.h" or die "$include: $!";
	while (<$codes>) { $code{$1} = "$2$3$4$5$6" if /^#define (ERRCODE_\w+) MAKE_SQLSTATE\('(.)','(.)','(.)','(.)','(.)'\)/ }
	my (%raised, %told);
	for my $file (glob 'src/*/*.[ch]') {
		open my $in, '<', $file or die $!;
		for (<$in>) {
			my $raises = /\berrcode\(/;
			# (a class of codes is compared with, not raised)
			$raised{$_} = 1 for grep { $raises || !/000$|^ERRCODE_TO_CATEGORY$/ } map { $code{$_} // $_ } /\b(ERRCODE_\w+)/g;
		}
	}
	open my $in, '<:encoding(UTF-8)', 'doc/reference/errors.md' or die $!;
	while (<$in>) { $told{$1} = 1 if /^\| ([0-9A-Z]{5}) \|/ }
	is_deeply([ sort keys %told ], [ sort keys %raised ], 'doc/reference/errors.md has the SQLSTATEs of src');
}

# No hint names an argument, or a method, that the function lacks: hints in src, which may name any function's, and
# those that the statements of the tests were given.
sub check_hints {
	my $functions = functions();
	my (%has, %any, %method, %all_methods, @wrong, $hints);
	for my $name (keys %$functions) { $any{$_} = $has{$name}{$_} = 1 for map { $_->[0] } @{ $functions->{$name} } }
	# the families of methods, by function
	my %family = (pattern_guided => 'kanon_pattern_guided', known_columns => 'kanon_pattern_guided', pattern_clustering => 'kanon_pattern_clustering', cluster => 'kanon_cluster',
		relaxed => 'kanon_cluster', full_domain => 'kanon_full_domain', subtree => 'kanon_subtree', freeform => 'kanon_freeform', item_sets => 'kanon_transactions');
	my $in;
	open $in, '<', 'src/core/methods/methods.c' or die $!;
	my ($of);
	while (<$in>) {
		$of = $family{$1} if /^static const KanonMethod (\w+)\[\]/;
		$method{$of}{$1} = $all_methods{$1} = 1 if defined $of && /\{"(\w+)"/;
		undef $of if /^\};|\}\};$/;
	}
	delete $all_methods{suppress};    # the word of other arguments, too
	# what a hint says of a function by name is that function's, and leaves the rest
	my $named = sub {
		my ($hint, $where) = @_;
		$hint =~ s{\b(kanon_\w+)(?: with| has| takes)? (\w+) =>}{push @wrong, "$where: $1 has no $2" if $has{$1} && !$has{$1}{$2}; ''}ge;
		$hint =~ s{\b(kanon_\w+)\(([^)]*)\)?}{my ($f, $call) = ($1, $2); push @wrong, map { "$where: $f has no $_" } grep { $has{$f} && !$has{$f}{$_} } $call =~ /(\w+) =>/g; ''}ge;
		return $hint =~ s/'\w+' of kanon_\w+|kanon_\w+ \(method '\w+'//gr;
	};
	for my $file (glob 'src/*/*.c src/sql/script/*.sql') {
		open $in, '<', $file or die $!;
		my $text = do { local $/; <$in> };
		for ($text =~ /errhint\w*\(((?:[^;]|;(?!\n))*?)\)+;/g, $text =~ /\bHINT = (.*)/g) {
			my $hint = join '', /"((?:[^"\\]|\\.)*)"/g, /'((?:[^']|'')*)'/g;
			$hints++;
			push @wrong, map { "$file: no function has $_" } grep { !$any{$_} } $named->($hint, $file) =~ /(\w+) =>/g;
		}
	}
	for my $file (glob 'expected/*.out') {
		open $in, '<:encoding(UTF-8)', $file or die $!;
		my $statement = '';
		while (<$in>) {
			if (/^(?:SELECT|WITH|CALL|INSERT|CREATE|UPDATE|DO|EXPLAIN|TABLE|select|with|call)\b/) { $statement = $_ }
			elsif (/^\s|^(?:FROM|WHERE|from)\b/) { $statement .= $_ }
			next unless s/^HINT:  // || s/^psql:.*?HINT:  //;
			# (a rule is asked for by whoever takes it)
			my @called = grep { $has{$_} && !/^kanon_(?:distinct_l|entropy_l|recursive_cl|alpha|t_closeness|subject|k_map|(?:delta_)?presence)$/ } $statement =~ /\b(kanon_\w+)\s*\(/g or next;
			my $where = "$file, " . join(' ', @called);
			my $own = $named->($_, $where);
			$hints++;
			push @wrong, map { my $a = $_; grep({ $has{$_}{$a} } @called) ? () : "$where: no $a, but a hint that says so" } grep { $any{$_} } $own =~ /(\w+) =>/g;
			push @wrong, map { my $a = $_; grep({ $has{$_}{$a} || $has{$_}{options} || /_(?:refresh|alter)/ } @called) ? () : "$where: no $a, but a hint that says so" } grep { $any{$_} } $own =~ /\b(\w+) be '/g;
			my @methods = grep { $method{$_} } @called;
			push @wrong, map { my $m = $_; grep({ $method{$_}{$m} } @methods) ? () : "$where: no method $m, but a hint that says so" } grep { @methods && $all_methods{$_} } $own =~ s/residual [^.;]*//r =~ /'(\w+)'/g;
		}
	}
	my %once;
	is(join("\n", grep { !$once{$_}++ } @wrong), '', 'no hint names an argument or a method that the function lacks');
	cmp_ok($hints, '>', 1000, "$hints hints");
}

# Examples run as they are, in a database with the tables of visits.sql, and print what they say.
sub check_examples {
	my $run = sub {
		my ($db, @command) = @_;
		local $ENV{PGDATABASE} = $db;
		my $out = qx(@command 2>&1);
		return ($?, $out);
	};
	for my $file (sort glob 'examples/*.sql examples/*.py') {
		(my $db = $file) =~ s/\W/_/g;
		open my $in, '<:encoding(UTF-8)', $file or die $!;
		my ($prints) = join('', <$in>) =~ /prints: (.*)/;
	SKIP: {
			skip "$file: no python3-psycopg or python3-pandas here", 2 if $file =~ /py$/ && system("/usr/bin/python3 -c 'import psycopg, pandas' 2>/dev/null") != 0;
			system(qw(psql -X -q -d postgres -c), "CREATE DATABASE $db") == 0 or die;
			$run->($db, qw(psql -X -q -c), "'CREATE EXTENSION kanon'", '-f', 'examples/visits.sql') if $file =~ /py$/;
			my ($code, $out) = $run->($db, $file =~ /py$/ ? "/usr/bin/python3 $file" : "psql -X -v ON_ERROR_STOP=1 -v report=$scratch/report.html -f $file");
			is($code, 0, "$file: runs") or diag($out);
			like($out, qr/${\($prints =~ s{\\\\}{\\}gr)}/m, "$file: prints what it says") if defined $prints;
		}
	}
}

if (!@ARGV || $ARGV[0] eq 'pages') {
	check_blocks();
	check_links();
	check_tests();
	check_rules();
	check_pages();
	check_views();
	check_errors();
	check_hints();
	if (@ARGV) { done_testing(); exit }
}
check_examples() if !@ARGV || $ARGV[0] eq 'examples';
if ("@ARGV" eq 'examples') { done_testing(); exit }
@ARGV = sort glob "README.md doc/*.md doc/*/*.md" if !@ARGV;
for my $file (@ARGV) {
	my @pieces = @{ (pieces($file))[0] } or next;
	(my $db = 'doc_' . lc basename($file, '.md')) =~ s/\W/_/g;
	my $script = "$scratch/$db.sql";
	open my $out, '>:encoding(UTF-8)', $script or die $!;
	print $out "\\pset footer off\n\\pset pager off\nSET client_min_messages = notice;\nSET kanon.progress = off;\n";
	for my $n (0 .. $#pieces) {
		my ($at, $kind, $text, undef, $role) = @{ $pieces[$n] };
		print $out "\\echo '<<<$n>>>'\n";
		print $out "SET SESSION AUTHORIZATION $role;\n" if defined $role;
		print $out $kind =~ /sql|hidden/ ? $text : shell("$scratch/$db.$n", $db, $kind eq 'crontab' ? $text =~ s/^(?:\S+ +){5}//mgr : $text), "\n";
		print $out "RESET SESSION AUTHORIZATION;\n" if defined $role;
	}
	close $out;
	system(qw(psql -X -q -d postgres -c), 'SET client_min_messages = warning', '-c', "DROP DATABASE IF EXISTS $db") == 0 or die;
	system(qw(psql -X -q -d postgres -c), "CREATE DATABASE $db") == 0 or die;
	mkdir "$scratch/files" if !-e "$scratch/files";
	my $all = do { local $ENV{PGDATABASE} = $db; qx(psql -X -q -d $db -f $script 2>&1) };
	utf8::decode($all);
	$all =~ s/^psql:\S+?:\d+: //mg;
	my %got = $all =~ /^<<<(\d+)>>>\n(.*?)(?=^<<<\d+>>>\n|\z)/msg;
	update($file, \@pieces, \%got) if $ENV{KANON_DOCS_UPDATE};
	for my $n (0 .. $#pieces) {
		my ($at, $kind, $text, $result) = @{ $pieces[$n] };
		my $got = $got{$n} // 'ERROR: psql did not come so far';
		if (defined $result) {
			ok(matches($got, $result), "$file, line $at: prints what it says")
			  or diag("expected:\n$result\ngot:\n$got");
		}
		else {
			ok($got !~ /^(ERROR|FATAL|PANIC):|server closed|syntax error/m, "$file, line $at: runs") or diag($got);
		}
	}
}
done_testing();
