-- A bank in the shape of Berka's (PKDD'99): clients dispose of accounts, some of them two together; accounts have
-- transactions, permanent orders and loans, dispositions have cards.  All of it is invented, and the same for the same seed and number:
--   psql -v seed=7 -v clients=20000 -f examples/schemas/bank.sql
\if :{?seed}
\else
\set seed 1
\endif
\if :{?clients}
\else
\set clients 2000
\endif
CREATE SCHEMA bank;
\ir draw.sql

CREATE TABLE bank.districts (id int PRIMARY KEY, name text NOT NULL, region text NOT NULL, inhabitants int NOT NULL);
INSERT INTO bank.districts
SELECT i, 'District ' || i, (ARRAY['Prague', 'north', 'south', 'east', 'west'])[1 + i % 5], 20000 + 1000 * pg_temp.draw(i, 'size', 300) FROM generate_series(1, 77) AS i;

CREATE TABLE bank.clients (id int PRIMARY KEY, name text NOT NULL, birth date NOT NULL, sex text NOT NULL, district_id int NOT NULL REFERENCES bank.districts);
INSERT INTO bank.clients
SELECT i, 'Client ' || i, date '1985-12-31' - 365 * pg_temp.draw(i, 'age', 65) - pg_temp.draw(i, 'day', 365),
       CASE WHEN pg_temp.draw(i, 'sex', 2) = 0 THEN 'f' ELSE 'm' END, 1 + pg_temp.small(i, 'district', 77)
FROM generate_series(1, :clients) AS i;

-- five of six clients own an account; the sixth disposes of that of the client before
CREATE TABLE bank.accounts (id int PRIMARY KEY, district_id int NOT NULL REFERENCES bank.districts, opened date NOT NULL, frequency text NOT NULL);
INSERT INTO bank.accounts
SELECT c.id, c.district_id, date '1993-01-01' + pg_temp.draw(c.id, 'opened', 1500),
       (ARRAY['monthly', 'monthly', 'monthly', 'weekly', 'after each transaction'])[1 + pg_temp.small(c.id, 'frequency', 5)]
FROM bank.clients AS c WHERE c.id % 6 <> 0;

CREATE TABLE bank.dispositions (id int PRIMARY KEY, client_id int NOT NULL REFERENCES bank.clients, account_id int NOT NULL REFERENCES bank.accounts, type text NOT NULL);
INSERT INTO bank.dispositions
SELECT c.id, c.id, CASE WHEN c.id % 6 = 0 THEN c.id - 1 ELSE c.id END, CASE WHEN c.id % 6 = 0 THEN 'disponent' ELSE 'owner' END FROM bank.clients AS c;

CREATE TABLE bank.cards (id int PRIMARY KEY, disposition_id int NOT NULL REFERENCES bank.dispositions, type text NOT NULL, issued date NOT NULL);
INSERT INTO bank.cards
SELECT d.id, d.id, (ARRAY['classic', 'junior', 'gold'])[1 + pg_temp.small(d.id, 'card', 3)], date '1997-01-01' + pg_temp.draw(d.id, 'issued', 700)
FROM bank.dispositions AS d WHERE pg_temp.draw(d.id, 'has card', 6) = 0;

CREATE TABLE bank.loans (id int PRIMARY KEY, account_id int NOT NULL REFERENCES bank.accounts, granted date NOT NULL, amount int NOT NULL, months int NOT NULL, status text NOT NULL);
INSERT INTO bank.loans
SELECT a.id, a.id, date '1997-01-01' + pg_temp.draw(a.id, 'granted', 700), 1000 * (5 + pg_temp.draw(a.id, 'amount', 500)),
       12 * (1 + pg_temp.draw(a.id, 'months', 5)), (ARRAY['A', 'C', 'B', 'D'])[1 + pg_temp.small(a.id, 'status', 4)]
FROM bank.accounts AS a WHERE pg_temp.draw(a.id, 'has loan', 7) = 0;

CREATE TABLE bank.orders (id int PRIMARY KEY, account_id int NOT NULL REFERENCES bank.accounts, purpose text, amount int NOT NULL);
INSERT INTO bank.orders
SELECT a.id * 10 + nr, a.id, (ARRAY['household', 'loan', 'insurance', NULL, 'leasing'])[1 + pg_temp.small(a.id * 10 + nr, 'purpose', 5)], 100 * (1 + pg_temp.draw(a.id * 10 + nr, 'order', 100))
FROM bank.accounts AS a, generate_series(1, pg_temp.small(a.id, 'orders', 5)) AS nr;

CREATE TABLE bank.transactions (id int PRIMARY KEY, account_id int NOT NULL REFERENCES bank.accounts, booked date NOT NULL, type text NOT NULL, operation text,
                                amount int NOT NULL, balance int NOT NULL);
INSERT INTO bank.transactions
SELECT a.id * 100 + nr, a.id, date '1998-01-01' + pg_temp.draw(a.id * 100 + nr, 'booked', 365), CASE WHEN operation < 2 THEN 'credit' ELSE 'withdrawal' END,
       (ARRAY['in cash', 'from another bank', 'in cash', 'to another bank', 'by card'])[1 + operation], 100 * (1 + pg_temp.draw(a.id * 100 + nr, 'amount', 200)),
       100 * (50 + pg_temp.draw(a.id * 100 + nr, 'balance', 700))
FROM bank.accounts AS a, generate_series(1, 10 + pg_temp.draw(a.id, 'transactions', 50)) AS nr, LATERAL (SELECT pg_temp.draw(a.id * 100 + nr, 'operation', 5) AS operation) AS o;
ANALYZE;
SELECT count(*) || ' clients' AS bank FROM bank.clients;
