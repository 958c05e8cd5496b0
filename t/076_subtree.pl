# kanon_subtree on Adult: a decision tree that scikit-learn trains on a release errs no more often than one
# trained on a full-domain release.  Needs Adult (KANON_DATA) and Debian's python3-sklearn.
use strict;
use warnings;
use File::Temp qw(tempdir);
use KanonNode;
use Test::More;

my $data = $ENV{KANON_DATA} // '';
my $long = !$ENV{KANON_TEST_SHARE};
my $python = (grep { -x && system("$_ -c 'import sklearn' 2>/dev/null") == 0 } '/usr/bin/python3')[0];
plan skip_all => 'no reference data' if !-e "$data/adult-arx.csv";
plan skip_all => 'no python3-sklearn' if !$python;

my $node = KanonNode::start('subtree', conf => "kanon.progress = off\n");
my $dir = tempdir(CLEANUP => 1);
my %levels = (sex => 1, age => 4, race => 1, 'marital-status' => 2, education => 3, 'native-country' => 2, workclass => 2, occupation => 2);
my @qis = sort keys %levels;
my $qis = '{' . join(',', @qis) . '}';
my $hierarchies = '{' . join(', ', map { qq("$_": "\\"${_}_h\\"") } @qis) . '}';

$node->safe_psql('postgres', qq(CREATE TABLE adult (sex text, age int, race text, "marital-status" text, education text,
	"native-country" text, workclass text, occupation text, "salary-class" text, nr serial)));
$node->safe_psql('postgres', qq(\\copy adult (${\ join ', ', map { qq("$_") } qw(sex age race marital-status education native-country workclass occupation salary-class) }) FROM '$data/adult-arx.csv' (FORMAT csv, DELIMITER ';', HEADER)));
for my $name (@qis)
{
	my $columns = join ', ', map { "l$_ text" } 1 .. $levels{$name};
	my $type = $name eq 'age' ? 'int' : 'text';
	$node->safe_psql('postgres', qq(CREATE TABLE "${name}_h" (value $type, $columns)));
	$node->safe_psql('postgres', qq(\\copy "${name}_h" FROM '$data/adult-hierarchies/$name.csv' (FORMAT csv, DELIMITER ';')));
}

# Each release's error, cross-validated on the same folds of the same persons (that is what the kept number is for), so that
# differences have an error of their own.  (That of overlapping training sets: Nadeau, Bengio, Machine Learning 52, 2003.)
open(my $script, '>', "$dir/error.py") or die $!;
print $script <<'P';
import csv, sys
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
repeats, folds, first = int(sys.argv[1]), 5, None
for name in sys.argv[2:]:
    rows = sorted(csv.reader(open(name)), key=lambda r: int(r[-1]))
    cells, labels = OneHotEncoder().fit_transform([r[:-2] for r in rows]), [r[-2] for r in rows]
    errors = np.concatenate([1 - cross_val_score(DecisionTreeClassifier(min_samples_leaf=20, random_state=0), cells, labels,
                             cv=StratifiedKFold(folds, shuffle=True, random_state=seed)) for seed in range(repeats)])
    first = errors if first is None else first
    more = errors - first
    print(errors.mean(), more.mean(), (more.var(ddof=1) * (1 / len(more) + 1 / (folds - 1))) ** 0.5)
P
close $script;

# The error of each call's release, how much more it is than that of the first, and how uncertain that is.
sub errors_of
{
	my (@calls) = @_;
	my @files = map { "$dir/$_.csv" } 0 .. $#calls;
	for my $i (0 .. $#calls)
	{
		$node->safe_psql('postgres', "SELECT FROM $calls[$i]");
		$node->safe_psql('postgres', "\\copy release TO '$files[$i]' (FORMAT csv)");
	}
	my $repeats = $long ? 10 : 1;
	return map { [split] } `$python $dir/error.py $repeats @files`;
}

my $same = "keep => '{salary-class,nr}', allow_identifying => '{nr}', class_column => 'salary-class', hierarchies => '$hierarchies', replace => true";
for my $k ($long ? (2, 3, 5, 10, 20, 50, 100) : (2, 20, 50))
{
	my @schemes = qw(subtree sibling);
	my ($full, @errors) = errors_of("kanon_full_domain('adult', 'release', '$qis', $k, $same)",
		map { "kanon_subtree('adult', 'release', '$qis', $k, scheme => '$_', $same)" } @schemes);
	for my $scheme (@schemes)
	{
		my ($error, $more, $uncertain) = @{ shift @errors };
		cmp_ok($more, '<=', 0, sprintf '%s, k = %d: %.4f, full-domain %.4f, by %.4f (+- %.4f) more', $scheme, $k, $error, $full->[0], $more, $uncertain);
	}
}
done_testing();
