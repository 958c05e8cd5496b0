-- kanon_suggest against truth.tsv, by hand: is a column an identifier (a name or number of persons), or a fact?
CREATE TEMP TABLE truth (relation text, column_name name, truth text);
\copy truth FROM 'test/advice/truth.tsv'
CREATE TEMP TABLE advice AS SELECT t.*, s.role, s.why, s.distinct_values
FROM (SELECT DISTINCT relation FROM truth) AS r, LATERAL kanon_suggest(format('sets.%I', r.relation)::regclass) AS s JOIN truth t ON t.column_name = s.column_name WHERE t.relation = r.relation;
SELECT truth, count(*) AS columns, count(*) FILTER (WHERE role = 'identifier') AS as_identifier,
       count(*) FILTER (WHERE (truth = 'identifier') = (role = 'identifier')) AS "right" FROM advice GROUP BY truth ORDER BY truth;
SELECT relation, column_name, truth, role, why FROM advice WHERE (truth = 'identifier') <> (role = 'identifier') ORDER BY 1, 2;
