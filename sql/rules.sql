-- pattern rules in words
CREATE SCHEMA rule_test;
SET search_path = rule_test, public;

-- the paper's Adult-2 user: 15 patterns from one call
SELECT * FROM kanon_patterns(
    '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}',
    max_suppressed => 2, never => '{education,salary_class}',
    together => '{"workclass,occupation"}', at_most_one => '{"age,race,sex"}');

-- cheapest first; of equal cost the earlier a column is listed, the longer it is kept
SELECT * FROM kanon_patterns('{a,b,c}');
SELECT * FROM kanon_patterns('{a,b,c}', weights => '{1,2,4}');
SELECT * FROM kanon_patterns('{a,b,c}', weights => '{0.1,0.2,0.3}');
SELECT * FROM kanon_patterns('{a,b,c}', max_cost => 3, weights => '{1,2,4}');
SELECT * FROM kanon_patterns('{a,b,c}', always => '{b}');
SELECT * FROM kanon_patterns('{a,b,c}', never => '{a,c}');
SELECT * FROM kanon_patterns('{city,zip,street}', implies => '{"city->zip","zip->street"}');
SELECT * FROM kanon_patterns('{a,b,c}', max_suppressed => 0);
SELECT * FROM kanon_patterns('{a}');
SELECT ARRAY(SELECT kanon_patterns('{a,b}'));
SELECT count(*), count(DISTINCT p), max(p) FROM kanon_patterns((SELECT array_agg('c' || i) FROM generate_series(1, 64) i), max_suppressed => 2) p;
SELECT count(*) FROM kanon_patterns((SELECT array_agg('c' || i) FROM generate_series(1, 20) i));

-- names with commas, arrows or capitals work when quoted as in SQL
SELECT * FROM kanon_patterns(ARRAY['a,b', 'x->y', 'City', 'zip'],
    together => ARRAY['"a,b",ZIP'], implies => ARRAY['"x->y"->"City"']);

-- rules handed over directly are never written out, and mean the same
CREATE TABLE t AS SELECT i % 5 AS a, i % 7 AS b, i % 3 AS c, i % 11 AS d FROM generate_series(1, 400) i;
SELECT kanon_rules(max_suppressed => 2, never => '{c}', together => '{"a,b"}');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b,c,d}', 10, dry_run => true,
    rules => kanon_rules(max_suppressed => 2, never => '{c}', together => '{"a,b"}'));
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b,c,d}', 10, dry_run => true,
    patterns => ARRAY(SELECT kanon_patterns('{a,b,c,d}', max_suppressed => 2, never => '{c}', together => '{"a,b"}')));
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b,c,d}', 10, dry_run => true, rules => kanon_rules());

-- in words
SELECT p, kanon_describe(p, '{age,zip,sex}') FROM kanon_patterns('{age,zip,sex}') p;

-- bad rules name themselves and the column
SELECT * FROM kanon_patterns('{a,b}', never => '{x}');
SELECT * FROM kanon_patterns('{a,b}', always => '{x}');
SELECT * FROM kanon_patterns('{a,b}', together => '{"a,x"}');
SELECT * FROM kanon_patterns('{a,b}', at_most_one => '{"x,b"}');
SELECT * FROM kanon_patterns('{a,b}', implies => '{"a->x"}');
SELECT * FROM kanon_patterns('{A,b}', together => '{"A,b"}');
SELECT * FROM kanon_patterns('{a,b}', together => '{"a"}');
SELECT * FROM kanon_patterns('{a,b}', together => '{""}');
SELECT * FROM kanon_patterns('{a,b}', at_most_one => '{" "}');
SELECT * FROM kanon_patterns('{a,b}', at_most_one => '{"a,a"}');
SELECT * FROM kanon_patterns('{a,b}', together => '{"a,,b"}');
SELECT * FROM kanon_patterns('{a,b}', together => ARRAY['"a,b']);
SELECT * FROM kanon_patterns('{a,b}', implies => '{"a"}');
SELECT * FROM kanon_patterns('{a,b}', implies => '{"a->"}');
SELECT * FROM kanon_patterns('{a,b}', implies => '{"->b"}');
SELECT * FROM kanon_patterns('{a,b}', implies => '{NULL}');
SELECT * FROM kanon_patterns('{a,b}', never => '{a}', always => '{a}');
SELECT * FROM kanon_patterns('{a,b}', never => '{b}', always => '{a}', implies => '{"a->b"}');
SELECT * FROM kanon_patterns('{a,b,c}', never => '{c}', always => '{a}', implies => '{"b->c"}', together => '{"a,b"}');
SELECT * FROM kanon_patterns('{a,b}', always => '{a,b}', at_most_one => '{"a,b"}');
SELECT * FROM kanon_patterns('{a,b,c}', always => '{a,b}', max_suppressed => 1);
SELECT * FROM kanon_patterns('{a,b}', max_suppressed => -1);
SELECT * FROM kanon_patterns('{a,b}', max_cost => -1);
SELECT * FROM kanon_patterns('{a,b}', max_cost => 'NaN');
SELECT * FROM kanon_patterns('{a,b}', weights => '{1}');
-- weights by name, and in the other ways that weights are written
SELECT * FROM kanon_patterns('{a,b,c}', max_cost => 3, weights => '{"c": 4, "b": 2}');
SELECT * FROM kanon_patterns('{a,b,c}', weights => '{"d": 4}');
SELECT * FROM kanon_patterns('{a,b}', weights => ARRAY[3, 1]);
SELECT * FROM kanon_patterns('{a,b}', weights => ARRAY[3, 0.5]);
SELECT w.way, (SELECT string_agg(p, ' ') FROM kanon_patterns('{a,b}', weights => w.weights) AS p) AS patterns
FROM (VALUES ('float8', ARRAY[3, 1]::float8[]::kanon_weights), ('numeric', ARRAY[3, 0.5]::numeric[]::kanon_weights), ('int', ARRAY[3, 1]::int[]::kanon_weights), ('json', '[3, 1]'::jsonb::kanon_weights), ('bounds', '[0:1]={3,1}')) AS w (way, weights);
SELECT * FROM kanon_patterns('{a,a}');
SELECT * FROM kanon_patterns('{}');
SELECT * FROM kanon_patterns(NULL);
SELECT * FROM kanon_patterns((SELECT array_agg('c' || i) FROM generate_series(1, 65) i));
SELECT * FROM kanon_patterns((SELECT array_agg('c' || i) FROM generate_series(1, 64) i));
SELECT kanon_describe('-*', '{a,b,c}');
SELECT kanon_describe('-x', '{a,b}');
-- the names of levels, and numbers where there are none
SELECT p, kanon_describe(p, '{age,zip}', l) FROM (VALUES ('12'), ('3-'), ('*1')) x (p),
    (VALUES ('{"age": ["ranges of 5", "ranges of 10"], "zip": ["the first 4 characters", null]}'::jsonb), ('[]'), ('{"age": "no", "zip": [[]]}')) y (l);
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, rules => '[]');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, rules => '{"no": 1}');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, rules => '{"never": "a"}');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, rules => '{"max_suppressed": "2"}');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, rules => '{}', patterns => '{--}');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, rules => kanon_rules(never => '{c}'));

-- rules that leave only the all-suppressed pattern: a notice
SELECT * FROM kanon_patterns('{a,b}', always => '{a}', max_cost => 0);
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, weights => '{3,3}',
    rules => kanon_rules(always => '{a}', max_cost => 1));

-- other options
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, time_limit => '0');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, time_limit => '-1 s');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, gap => 1);
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, gap => -0.1);
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, gap => 'NaN');
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, effort => -1);
SELECT * FROM kanon_pattern_guided('t', NULL, '{a,b}', 5, dry_run => true, seed => NULL);

DROP TABLE t;
DROP SCHEMA rule_test;
