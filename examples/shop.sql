-- A shop: customers with their orders, orders with their lines, and products that they name.  The same each time.
CREATE SCHEMA shop;

CREATE TABLE shop.products (id int PRIMARY KEY, name text, price numeric);
INSERT INTO shop.products
SELECT i, (ARRAY['tea', 'coffee', 'bread', 'cheese', 'wine', 'jam', 'salt', 'oil'])[i], 2 * i FROM generate_series(1, 8) AS i;

CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text, birth date, zip text, sex text, segment text);
INSERT INTO shop.customers
SELECT i, 'Customer ' || i, date '1950-01-01' + (i * 7919 % 18000)::int, '4' || 8100 + i * i % 7 * 10, (ARRAY['f', 'm'])[1 + i * 31 / 7 % 2],
       (ARRAY['home', 'office', 'farm'])[1 + i * 13 % 3]
FROM generate_series(1, 600) AS i;

CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL REFERENCES shop.customers, placed date, city text, amount int);
INSERT INTO shop.orders
SELECT i, 1 + (i * 7 + i / 600) % 590, date '2024-01-01' + (i * 37 % 730)::int, (ARRAY['Ann Arbor', 'Detroit', 'Flint'])[1 + i * i % 3], 10 * (1 + i % 9)
FROM generate_series(1, 1800) AS i;

CREATE TABLE shop.lines (order_id bigint NOT NULL REFERENCES shop.orders, line int, product_id int REFERENCES shop.products, quantity int,
                         PRIMARY KEY (order_id, line));
INSERT INTO shop.lines
SELECT o.id, n, 1 + (o.id * n * 3 + o.id / 7) % 8, 1 + (o.id + n) % 4 FROM shop.orders AS o, generate_series(1, 2) AS n WHERE n = 1 OR o.id % 3 = 0;
