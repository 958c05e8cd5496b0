/* kanon--1.0.sql: what CREATE EXTENSION kanon makes. */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION kanon" to load this file. \quit

/*
 * The server runs this with the extension's schema in the search_path, and in that
 * may be anything: an operator that fits better than pg_catalog's where types are
 * mixed would be bound into a view and run by whoever reads it.  So names mean what
 * pg_catalog says, and everything of kanon's is written with its schema.
 */
SET LOCAL search_path TO pg_catalog, pg_temp;

/*
 * What only kanon's own queries, views and pages call is out of everybody's sight, and
 * nobody else can put anything beside it.  Servers with Citus have it, too.
 */
CREATE SCHEMA kanon_internal;
GRANT USAGE ON SCHEMA kanon_internal TO PUBLIC;
COMMENT ON SCHEMA kanon_internal IS 'functions behind those of kanon; nobody need call them';
