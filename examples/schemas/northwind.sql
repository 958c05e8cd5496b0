-- A wholesaler in the shape of Northwind: customers with orders and their details; products, categories, suppliers, employees and shippers
-- are named by these.  All of it is invented, and the same for the same seed and number:
--   psql -v seed=7 -v wholesale=10000 -f examples/schemas/northwind.sql
\if :{?seed}
\else
\set seed 1
\endif
\if :{?customers}
\else
\set wholesale 1000
\endif
CREATE SCHEMA northwind;
\ir draw.sql

CREATE TABLE northwind.categories (category_id smallint PRIMARY KEY, category_name text NOT NULL);
INSERT INTO northwind.categories SELECT i, (ARRAY['Beverages', 'Condiments', 'Confections', 'Dairy', 'Grains', 'Meat', 'Produce', 'Seafood'])[i] FROM generate_series(1, 8) AS i;
CREATE TABLE northwind.suppliers (supplier_id smallint PRIMARY KEY, company_name text NOT NULL, country text NOT NULL);
INSERT INTO northwind.suppliers SELECT i, 'Supplier ' || i, (ARRAY['UK', 'USA', 'Japan', 'Spain', 'Germany'])[1 + i % 5] FROM generate_series(1, 29) AS i;
CREATE TABLE northwind.products (product_id smallint PRIMARY KEY, product_name text NOT NULL, supplier_id smallint NOT NULL REFERENCES northwind.suppliers,
                                 category_id smallint NOT NULL REFERENCES northwind.categories, unit_price int NOT NULL);
INSERT INTO northwind.products SELECT i, 'Product ' || i, 1 + i % 29, 1 + i % 8, 2 + pg_temp.small(i, 'price', 100) FROM generate_series(1, 77) AS i;
CREATE TABLE northwind.employees (employee_id smallint PRIMARY KEY, name text NOT NULL, reports_to smallint REFERENCES northwind.employees);
INSERT INTO northwind.employees SELECT i, 'Employee ' || i, CASE WHEN i > 1 THEN 1 + i / 5 END FROM generate_series(1, 9) AS i;
CREATE TABLE northwind.shippers (shipper_id smallint PRIMARY KEY, company_name text NOT NULL);
INSERT INTO northwind.shippers SELECT i, 'Shipper ' || i FROM generate_series(1, 3) AS i;

CREATE TABLE northwind.customers (customer_id varchar(8) PRIMARY KEY, company_name text NOT NULL, city text NOT NULL, country text NOT NULL, title text NOT NULL);
INSERT INTO northwind.customers
SELECT 'C' || lpad(i::text, 6, '0'), 'Customer ' || i, 'City ' || pg_temp.small(i, 'country', 10) || '.' || pg_temp.small(i, 'city', 12), 'Country ' || pg_temp.small(i, 'country', 10),
       (ARRAY['Owner', 'Sales', 'Marketing', 'Accounting'])[1 + pg_temp.small(i, 'title', 4)]
FROM generate_series(1, :wholesale) AS i;

CREATE TABLE northwind.orders (order_id int PRIMARY KEY, customer_id varchar(8) NOT NULL REFERENCES northwind.customers, employee_id smallint NOT NULL REFERENCES northwind.employees,
                               ordered date NOT NULL, ship_via smallint NOT NULL REFERENCES northwind.shippers, freight int NOT NULL);
INSERT INTO northwind.orders
SELECT c.n * 20 + nr, c.customer_id, 1 + pg_temp.draw(c.n * 20 + nr, 'employee', 9), date '2022-01-01' + pg_temp.draw(c.n * 20 + nr, 'ordered', 730), 1 + pg_temp.draw(c.n * 20 + nr, 'via', 3),
       5 * (1 + pg_temp.small(c.n * 20 + nr, 'freight', 60))
FROM (SELECT substr(customer_id, 2)::bigint AS n, customer_id FROM northwind.customers) AS c, generate_series(1, 1 + pg_temp.small(c.n, 'orders', 15)) AS nr;

CREATE TABLE northwind.order_details (order_id int NOT NULL REFERENCES northwind.orders, product_id smallint NOT NULL REFERENCES northwind.products, quantity int NOT NULL,
                                      PRIMARY KEY (order_id, product_id));
INSERT INTO northwind.order_details
SELECT DISTINCT ON (o.order_id, product) o.order_id, product, 1 + pg_temp.small(o.order_id * 10 + nr, 'quantity', 50)
FROM northwind.orders AS o, generate_series(1, 1 + pg_temp.small(o.order_id, 'details', 5)) AS nr, LATERAL (SELECT 1 + pg_temp.small(o.order_id * 10 + nr, 'product', 77) AS product) AS p;
ANALYZE;
SELECT count(*) || ' customers' AS northwind FROM northwind.customers;
