-- A shop that rents films, in the shape of Sakila: customers with an address, rentals and payments; films, copies of them, languages, cities.
-- All of it is invented, and the same for the same seed and number:
--   psql -v seed=7 -v customers=6000 -f examples/schemas/sakila.sql
\if :{?seed}
\else
\set seed 1
\endif
\if :{?customers}
\else
\set customers 600
\endif
CREATE SCHEMA sakila;
\ir draw.sql

CREATE TABLE sakila.countries (country_id int PRIMARY KEY, country text NOT NULL);
INSERT INTO sakila.countries SELECT i, 'Country ' || i FROM generate_series(1, 20) AS i;
CREATE TABLE sakila.cities (city_id int PRIMARY KEY, city text NOT NULL, country_id int NOT NULL REFERENCES sakila.countries);
INSERT INTO sakila.cities SELECT i, 'City ' || i, 1 + pg_temp.small(i, 'country', 20) FROM generate_series(1, 100) AS i;
CREATE TABLE sakila.addresses (address_id int PRIMARY KEY, street text NOT NULL, postal_code text NOT NULL, phone text NOT NULL, city_id int NOT NULL REFERENCES sakila.cities);
INSERT INTO sakila.addresses
SELECT i, i || ' Main Street', lpad((1000 * pg_temp.small(i, 'postal', 90) + pg_temp.draw(i, 'rest', 1000))::text, 5, '0'), '555-' || i, 1 + pg_temp.small(i, 'city', 100) FROM generate_series(1, :customers) AS i;
CREATE TABLE sakila.customers (customer_id int PRIMARY KEY, name text NOT NULL, address_id int NOT NULL REFERENCES sakila.addresses, active boolean NOT NULL, created date NOT NULL);
INSERT INTO sakila.customers SELECT i, 'Customer ' || i, i, pg_temp.draw(i, 'active', 10) > 0, date '2020-01-01' + pg_temp.draw(i, 'created', 1000) FROM generate_series(1, :customers) AS i;

CREATE TABLE sakila.films (film_id int PRIMARY KEY, title text NOT NULL, rating text NOT NULL, minutes int NOT NULL);
INSERT INTO sakila.films SELECT i, 'Film ' || i, (ARRAY['G', 'PG', 'PG-13', 'R'])[1 + pg_temp.draw(i, 'rating', 4)], 60 + pg_temp.draw(i, 'minutes', 120) FROM generate_series(1, 200) AS i;
CREATE TABLE sakila.inventory (inventory_id int PRIMARY KEY, film_id int NOT NULL REFERENCES sakila.films, store int NOT NULL);
INSERT INTO sakila.inventory SELECT i, 1 + pg_temp.small(i, 'film', 200), 1 + i % 2 FROM generate_series(1, 900) AS i;
CREATE TABLE sakila.rentals (rental_id int PRIMARY KEY, rented date NOT NULL, inventory_id int NOT NULL REFERENCES sakila.inventory, customer_id int NOT NULL REFERENCES sakila.customers, days int);
INSERT INTO sakila.rentals
SELECT c.customer_id * 100 + nr, date '2023-01-01' + pg_temp.draw(c.customer_id * 100 + nr, 'rented', 365), 1 + pg_temp.small(c.customer_id * 100 + nr, 'copy', 900), c.customer_id,
       CASE WHEN pg_temp.draw(c.customer_id * 100 + nr, 'lost', 50) > 0 THEN 1 + pg_temp.small(c.customer_id * 100 + nr, 'days', 9) END
FROM sakila.customers AS c, generate_series(1, 5 + pg_temp.draw(c.customer_id, 'rentals', 25)) AS nr;
CREATE TABLE sakila.payments (payment_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES sakila.customers, rental_id int REFERENCES sakila.rentals, amount int NOT NULL, paid date NOT NULL);
INSERT INTO sakila.payments
SELECT r.rental_id, r.customer_id, r.rental_id, 1 + 2 * pg_temp.small(r.rental_id, 'amount', 5), r.rented + coalesce(r.days, 30) FROM sakila.rentals AS r;
ANALYZE;
SELECT count(*) || ' customers' AS sakila FROM sakila.customers;
