# ARX's hierarchy files, loaded with plain \copy, are hierarchies as they are.
use strict;
use warnings;
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;

my $data = KanonNode::data();
my $node = KanonNode::start('hierarchies', conf => 'kanon.progress = off');

# column of the table, file, columns of the file
my @hierarchies = (
	[ 'age', 'age', 5 ], [ 'sex', 'sex', 2 ], [ 'race', 'race', 2 ], [ 'marital_status', 'marital-status', 3 ],
	[ 'education', 'education', 4 ], [ 'native_country', 'native-country', 3 ], [ 'workclass', 'workclass', 3 ],
	[ 'occupation', 'occupation', 3 ], [ 'salary_class', 'salary-class', 2 ]);

$node->safe_psql('postgres', <<"SQL");
CREATE TABLE adult (sex text, age int, race text, marital_status text, education text, native_country text,
	workclass text, occupation text, salary_class text);
\\copy adult FROM '$data/adult-arx.csv' (FORMAT csv, DELIMITER ';', HEADER)
SQL

foreach (@hierarchies)
{
	my ($column, $file, $ncolumns) = @$_;
	my $columns = join ', ', map { "c$_ text" } 0 .. $ncolumns - 1;

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE ${column}_h ($columns);
\\copy ${column}_h FROM '$data/adult-hierarchies/$file.csv' (FORMAT csv, DELIMITER ';')
SQL
	is($node->safe_psql('postgres', "SELECT fault FROM kanon_check_hierarchy('${column}_h', 'adult', '$column') WHERE fault <> 'unused line'"),
		'', "$column: no fault");
}
is($node->safe_psql('postgres', "SELECT fault, fault_count, row_count FROM kanon_check_hierarchy('age_h', 'adult', 'age')"),
	'unused line|28|0', 'ages that nobody has are ignored');

# The earth mover's distance along the tree, by SQL: of each sex how much more or less
# of each occupation and group of occupations there is than in the whole table.
is($node->safe_psql('postgres', <<'SQL'), 't', 'occupations by sex: the distance along the tree, by SQL');
WITH leaf AS (
	SELECT s.sex, h.c0 AS v, h.c1 AS p,
		(SELECT count(*) FROM adult a WHERE a.sex = s.sex AND a.occupation = h.c0)::float8 / (SELECT count(*) FROM adult a WHERE a.sex = s.sex)
		- (SELECT count(*) FROM adult a WHERE a.occupation = h.c0)::float8 / (SELECT count(*) FROM adult) AS extra
	FROM (SELECT DISTINCT sex FROM adult) s, occupation_h h),
node AS (SELECT sex, p, sum(extra) AS extra, sum(greatest(extra, 0)) AS more, sum(greatest(-extra, 0)) AS less FROM leaf GROUP BY sex, p),
distance AS (
	-- within a node the lesser side moves at half the cost; what is left, through the top
	SELECT sex, sum(least(more, less)) * 0.5 + sum(greatest(extra, 0)) AS d FROM node GROUP BY sex)
SELECT abs(max(d) - (SELECT value FROM kanon_risk('adult', '{sex}', '{occupation}', hierarchies => '{"occupation": "occupation_h"}') WHERE measure = 't_hierarchical')) < 1e-9
FROM distance
SQL

# Ranges of years instead, made by kanon.  ARX's labels are off by one: 5 is in "0-4".
is($node->safe_psql('postgres', "SELECT kanon_hierarchy_interval('adult', 'age', 'age_i', '{5,10,20}', 1)"), '72', 'intervals for every age');
is($node->safe_psql('postgres', <<'SQL'), 't|t', 'as ARX has them');
SELECT bool_and(format('%s-%s', lower(level1) - 1, upper(level1) - 2) = c1
	AND format('%s-%s', lower(level2) - 1, upper(level2) - 2) = c2
	AND format('%s-%s', lower(level3) - 1, upper(level3) - 2) = c3),
	bool_and(level1 @> value AND level2 @> value AND level3 @> value)
FROM age_i JOIN age_h ON value::text = c0
SQL

done_testing();
