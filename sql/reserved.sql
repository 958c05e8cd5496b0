-- Columns may have any name but those that begin with kanon__: kanon's own columns, and the names in its statements, give way.
CREATE EXTENSION IF NOT EXISTS kanon;
SET client_min_messages = warning;
-- The words of its statements, and those that its own columns had once.
SELECT array_agg(DISTINCT w ORDER BY w) AS words
FROM regexp_split_to_table($$s n o b p person x count e c w history m h l nr id d label part key t r unit class k f y g oid were state held v u row_number now who whole sum
    mark look kept hash st one min max blank two here few grantee gone since reads kind pair nth mask_key whose marks broken won lost known content alike was stays size
    persons nobody new missing i goes ended changed went value stayer status release one_way numbers number next newer name most main last difference deleted corrected came before
    weights waiting views types started ss several sc row rows parts others other nth_of_all late keep kanon held_persons grows finished does cost column checked bounds appended after
    above levels shown until past of type pattern place shard sampled packed excess moved changes user order select table group limit
    kanon_person kanon_hash kanon_nth kanon_key kanon_history kanon_whose kanon_of kanon_above kanon_rows kanon_row kanon_place kanon_part kanon_n kanon_class kanon_was
    kanon_since kanon_shown kanon_shard kanon_until kanon_type kanon_whole kanon_past kanon_number kanon_mark kanon_late kanon_kept kanon_gone kanon_levels kanon_id
    kanon_held kanon_who kanon_known kanon_unit kanon_look kanon_changes kanon_content$$, '\s+') AS w \gset
SELECT cardinality(:'words'::text[]);
CREATE TABLE words AS SELECT w, row_number() OVER (ORDER BY w)::int AS at FROM unnest(:'words'::text[]) AS w;
CREATE SCHEMA names;
SELECT format('CREATE TABLE names.source (%s)', string_agg(format('%I int', w), ', ' ORDER BY at)) FROM words \gexec
-- fill(seed): rows anew; each column has few values, but the one that is the key
CREATE FUNCTION fill(keyed text, seed int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE values text;
BEGIN
    TRUNCATE names.source;
    SELECT string_agg(CASE WHEN w = keyed THEN 'i' ELSE format('(hashint4(i * 10000 + %s) & 65535) %% %s', at + CASE WHEN at % 9 = 0 THEN seed * 1000 ELSE 0 END, 2 + at % 2) END, ', ' ORDER BY at)
    INTO values FROM words;
    EXECUTE format('INSERT INTO names.source SELECT %s FROM generate_series(1, 90) i', values);
END $$;
-- tried(kind, nth): a publication whose key, quasi-identifiers and kept columns are all called so, over three nights
CREATE FUNCTION tried(kind text, nth int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    keyed text := (SELECT w FROM words WHERE at = nth);
    qis text[] := (SELECT array_agg(w) FROM words WHERE at IN (nth + 1, nth + 2));
    kept text[] := (SELECT array_agg(w) FROM words WHERE at NOT BETWEEN nth AND nth + 2);
    said text := '';
    r record;
BEGIN
    PERFORM fill(keyed, 0);
    PERFORM kanon_create_publication('names.published', 'names.source', qis, 3, jsonb_build_object('keep', kept),
        key => CASE WHEN kind <> 'plain' AND kind <> 'appended' THEN keyed END, protect_successive => kind = 'protected',
        append => CASE WHEN kind = 'appended' THEN keyed END);
    FOR night IN 1 .. 2 LOOP
        PERFORM fill(keyed, night);
        SELECT status, error, message INTO r FROM kanon_refresh('names.published');
        said := concat_ws(' ', said, r.error, r.message);
    END LOOP;
    EXECUTE 'SELECT count(*) FROM names.published' INTO r;
    PERFORM kanon_drop_publication('names.published');
    RETURN CASE WHEN said = '' THEN 'published' ELSE format('%s: %s', keyed, said) END;
EXCEPTION WHEN OTHERS THEN
    RETURN format('%s %s: %s %s', keyed, qis, SQLSTATE, SQLERRM);
END $$;
SELECT kind, tried(kind, nth) AS outcome, count(*)
FROM unnest('{plain,keyed,protected,appended}'::text[]) AS kind, generate_series(1, 180, 20) AS nth GROUP BY 1, 2 ORDER BY 1, 2;
-- Two tables that are called like nothing else, with columns of all these names in both.
SELECT format('CREATE TABLE names.s (LIKE names.source); CREATE TABLE names.w (LIKE names.source)') \gexec
SELECT fill('person', 0);
INSERT INTO names.s TABLE names.source;
ALTER TABLE names.s ADD PRIMARY KEY (person);
SELECT fill('id', 5);
INSERT INTO names.w TABLE names.source;
UPDATE names.w SET kanon_person = 1 + id % 90;
ALTER TABLE names.w ADD PRIMARY KEY (id), ADD FOREIGN KEY (kanon_person) REFERENCES names.s;
SELECT format($${"names.s": {"quasi_identifiers": ["kanon_class", "part"], "keep": %s}, "names.w": {"quasi_identifiers": ["kanon_row", "key"], "keep": %s}}$$,
    (SELECT jsonb_agg(w) FROM words WHERE (at % 8 = 2 OR w ~ '^(nth|hash|look|kanon_.[eno])') AND w NOT IN ('person', 'kanon_class', 'part')),
    (SELECT jsonb_agg(w) FROM words WHERE (at % 8 = 5 OR w ~ '^(nth|hash|look|kanon_.[eno])') AND w NOT IN ('id', 'kanon_person', 'kanon_row', 'key'))) AS tables \gset
CREATE SCHEMA named;
SELECT kanon_create_linked_publication('named', 'names.s', :'tables', 3, protect_successive => true);
SELECT fill('id', 7);
TRUNCATE names.w;
UPDATE names.source SET kanon_person = 1 + id % 90;
INSERT INTO names.w TABLE names.source;
SELECT status, error, message FROM kanon_refresh('named');
SELECT kanon_drop_publication('named');
-- A column named like kanon's own is refused.
CREATE TABLE own AS SELECT i AS id, i % 4 AS kanon__class, i % 2 AS sex, i % 3 AS kanon__x FROM generate_series(1, 120) i;
\set VERBOSITY default
SELECT kanon_create_publication('own_p', 'own', '{kanon__class,sex}', 5);
SELECT kanon_create_publication('own_p', 'own', '{sex}', 5, '{"keep": ["kanon__x"]}');
SELECT classes FROM kanon_pattern_guided('own', 'own_p', '{kanon__class,sex}', 5);
SET client_min_messages = error;
DROP SCHEMA names, named CASCADE;
DROP TABLE own, own_p, words;
DROP FUNCTION fill, tried;
