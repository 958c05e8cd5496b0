-- draw(i, what, n): a number from 0 to n - 1, evenly spread over the rows i; small(i, what, n): small ones are commoner.  By :seed.
SELECT format('CREATE OR REPLACE FUNCTION pg_temp.draw(i bigint, what text, n int) RETURNS int LANGUAGE sql IMMUTABLE AS
    ''SELECT ((hashint8extended(i, hashtextextended(what, %s)) & 2147483647) %% n)::int''', :seed) \gexec
CREATE OR REPLACE FUNCTION pg_temp.small(i bigint, what text, n int) RETURNS int LANGUAGE sql IMMUTABLE AS
    'SELECT least(pg_temp.draw(i, what, n), pg_temp.draw(i, what || '' again'', n))';
