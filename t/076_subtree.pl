# kanon_subtree on Adult: a decision tree that scikit-learn trains on a release errs no more often than one
# trained on a full-domain release; and tds comes to the cuts that the papers' algorithm comes to.  Needs Adult (KANON_DATA) and Debian's python3-sklearn.
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
	my $repeats = $long ? 5 : 1;
	return map { [split] } `$python $dir/error.py $repeats @files`;
}

my $same = "keep => '{salary-class,nr}', allow_identifying => '{nr}', class_column => 'salary-class', hierarchies => '$hierarchies', replace => true";
for my $k ($long ? (2, 5, 10, 20, 50, 100) : (2, 20, 50))
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

# Method tds comes to the cuts of the papers' algorithm, done again from the rows in a few lines of another language
# (tds.py K TABLE CLASS [COLUMN HIERARCHY]...: column, level and rows of each node that is shown).
open($script, '>', "$dir/tds.py") or die $!;
print $script <<'P';
import csv, math, sys
from collections import Counter, defaultdict

k, table, klass = int(sys.argv[1]), list(csv.DictReader(open(sys.argv[2]), delimiter=';')), sys.argv[3]
columns = sys.argv[4::2]
path = []                                   # by column and value: from the root down to the value itself
for name in sys.argv[5::2]:
    path.append({row[0]: [(h, label) for h, label in reversed(list(enumerate(row)))] for row in csv.reader(open(name), delimiter=';')})
rows = Counter((tuple(r[c] for c in columns), r[klass]) for r in table)
root = [next(iter(p.values()))[0] for p in path]
cut = [{node: 0 for node in [root[c]]} for c in range(len(columns))]    # nodes shown, with their depth


def shown(c, value):
    return next((node, depth) for depth, node in enumerate(path[c][value]) if node in cut[c] and cut[c][node] == depth)


def entropy(counts):
    n = sum(counts.values())
    return -sum(x / n * math.log2(x / n) for x in counts.values() if x)


while True:
    groups, below = Counter(), [defaultdict(lambda: defaultdict(Counter)) for _ in columns]
    parts = [defaultdict(Counter) for _ in columns]
    for (values, label), n in rows.items():
        at = [shown(c, v) for c, v in enumerate(values)]
        group = tuple(at)
        groups[group] += n
        for c, v in enumerate(values):
            node, depth = at[c]
            if depth + 1 < len(path[c][v]):
                child = path[c][v][depth + 1]
                below[c][node, depth][child][label] += n
                parts[c][node, depth][group, child] += n
    least = min(groups.values())
    best = None
    for c in range(len(columns)):
        for node in below[c]:
            children = below[c][node]
            labels = sum(children.values(), Counter())
            # what is split into: the smallest of all groups then
            split = {group for group, _ in parts[c][node]}
            then = min(min(parts[c][node].values()), min((n for g, n in groups.items() if g not in split), default=math.inf))
            if then < k or len(labels) < 2:
                continue
            total = sum(labels.values())
            gain = entropy(labels) - sum(sum(x.values()) / total * entropy(x) for x in children.values())
            score = gain / (least - then + 1)
            if best is None or score > best[0] + 1e-12:
                best = score, c, node, list(children)
    if best is None:
        break
    _, c, (node, depth), children = best
    del cut[c][node]
    cut[c].update((child, depth + 1) for child in children)
for c, name in enumerate(columns):
    count = Counter()
    for (values, _), n in rows.items():
        node, _ = shown(c, values[c])
        count[node] += n
    for (level, label), n in count.items():
        print(name, level, n)
P
close $script;
for my $k ($long ? (2, 5, 20, 100) : ())
{
	my @files = map { ($_, "$data/adult-hierarchies/$_.csv") } @qis;
	my @again = sort split /\n/, `$python $dir/tds.py $k $data/adult-arx.csv salary-class @files`;
	my @is = sort split /\n/, $node->safe_psql('postgres', "SELECT concat_ws(' ', column_name, level, row_count) FROM kanon_subtree('adult', NULL, '$qis', $k, 'tds', class_column => 'salary-class', keep => '{salary-class}', hierarchies => '$hierarchies', dry_run => true)");
	is("@is", "@again", "tds, k = $k: the same cut of " . @is . ' nodes');
}
done_testing();
