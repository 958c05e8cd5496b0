-- The tables of TPC-H at a scale of :scale (0.01: 1,500 customers, 15,000 orders, some 60,000 lines), by a script of our own.  All of it is invented,
-- and the same for the same seed and scale:
--   psql -v seed=7 -v scale=0.1 -f examples/schemas/tpch.sql
\if :{?seed}
\else
\set seed 1
\endif
\if :{?scale}
\else
\set scale 0.01
\endif
CREATE SCHEMA tpch;
\ir draw.sql

CREATE TABLE tpch.region (r_regionkey int PRIMARY KEY, r_name text NOT NULL);
INSERT INTO tpch.region SELECT i, (ARRAY['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'])[1 + i] FROM generate_series(0, 4) AS i;
CREATE TABLE tpch.nation (n_nationkey int PRIMARY KEY, n_name text NOT NULL, n_regionkey int NOT NULL REFERENCES tpch.region);
INSERT INTO tpch.nation SELECT i, 'NATION ' || i, i % 5 FROM generate_series(0, 24) AS i;
CREATE TABLE tpch.part (p_partkey int PRIMARY KEY, p_name text NOT NULL, p_type text NOT NULL, p_retailprice int NOT NULL);
INSERT INTO tpch.part SELECT i, 'Part ' || i, 'TYPE ' || pg_temp.draw(i, 'type', 25), 900 + pg_temp.draw(i, 'price', 1200) FROM generate_series(1, (200000 * :scale)::int) AS i;
CREATE TABLE tpch.customer (c_custkey int PRIMARY KEY, c_name text NOT NULL, c_nationkey int NOT NULL REFERENCES tpch.nation, c_acctbal int NOT NULL, c_mktsegment text NOT NULL);
INSERT INTO tpch.customer
SELECT i, 'Customer#' || i, pg_temp.draw(i, 'nation', 25), pg_temp.draw(i, 'balance', 11000) - 1000, (ARRAY['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'])[1 + pg_temp.draw(i, 'segment', 5)]
FROM generate_series(1, (150000 * :scale)::int) AS i;
CREATE TABLE tpch.orders (o_orderkey int PRIMARY KEY, o_custkey int NOT NULL REFERENCES tpch.customer, o_orderstatus text NOT NULL, o_orderdate date NOT NULL, o_orderpriority text NOT NULL);
INSERT INTO tpch.orders
SELECT i, 1 + pg_temp.draw(i, 'customer', (150000 * :scale)::int), (ARRAY['F', 'O', 'P'])[1 + pg_temp.small(i, 'status', 3)], date '1992-01-01' + pg_temp.draw(i, 'date', 2406), (1 + pg_temp.draw(i, 'priority', 5))::text
FROM generate_series(1, (1500000 * :scale)::int) AS i;
CREATE TABLE tpch.lineitem (l_orderkey int NOT NULL REFERENCES tpch.orders, l_linenumber int NOT NULL, l_partkey int NOT NULL REFERENCES tpch.part, l_quantity int NOT NULL, l_returnflag text NOT NULL,
                            l_shipmode text NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber));
INSERT INTO tpch.lineitem
SELECT o.o_orderkey, nr, 1 + pg_temp.draw(o.o_orderkey * 10 + nr, 'part', (200000 * :scale)::int), 1 + pg_temp.draw(o.o_orderkey * 10 + nr, 'quantity', 50), (ARRAY['N', 'R', 'A'])[1 + pg_temp.draw(o.o_orderkey * 10 + nr, 'flag', 3)],
       (ARRAY['AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB', 'REG AIR'])[1 + pg_temp.draw(o.o_orderkey * 10 + nr, 'mode', 7)]
FROM tpch.orders AS o, generate_series(1, 1 + pg_temp.draw(o.o_orderkey, 'lines', 7)) AS nr;
ANALYZE;
SELECT count(*) || ' customers' AS tpch FROM tpch.customer;
