-- The same quasi-identifiers and k as kanon_suggest_call has, with hierarchies and methods chosen by hand, on ten tables; after calls.sql.
CREATE TABLE hand (relation text, qis name[], hierarchies jsonb, method text);
INSERT INTO hand VALUES
    ('vega.airports', '{state,latitude,longitude,city,country}', '{"latitude": {"interval": [1, 2, 4, 8]}, "longitude": {"interval": [2, 4, 8, 16]}, "city": {"prefix": [1]}}', 'best'),
    ('vega.barley', '{year,variety,yield,site}', '{"yield": {"interval": [5, 10, 20]}}', 'best'),
    ('vega.birdstrikes', '{"Flight Date","Origin State","Time of day","Wildlife Size","Phase of flight","Wildlife Species","Aircraft Airline Operator","Airport Name","Speed IAS in knots","Aircraft Make Model"}',
        '{"Flight Date": {"date": ["quarter", "year"]}, "Speed IAS in knots": {"interval": [25, 50, 100]}, "Aircraft Make Model": {"prefix": [4, 2]}, "Wildlife Species": {"prefix": [4]}, "Airport Name": {"prefix": [3]}}', 'greedy'),
    ('vega.cars', '{"Cylinders","Origin","Year","Horsepower","Weight_in_lbs","Displacement","Acceleration","Miles_per_Gallon"}',
        '{"Weight_in_lbs": {"interval": [250, 500, 1000]}, "Year": {"interval": [1461]}, "Displacement": {"interval": [25, 50, 100]}, "Horsepower": {"interval": [10, 20, 40]}, "Acceleration": {"interval": [2, 4, 8]}, "Miles_per_Gallon": {"interval": [2, 4, 8]}}', 'best'),
    ('vega.gapminder', '{cluster,year,fertility,life_expect,pop,country}', '{"year": {"interval": [10, 20]}, "fertility": {"interval": [0.5, 1, 2]}, "life_expect": {"interval": [5, 10, 20]}, "pop": {"quantile": [12, 6, 3]}}', 'best'),
    ('vega.movies', '{"Release Date","Creative Type","Major Genre","Source","Running Time min","Distributor","Production Budget","US DVD Sales","IMDB Votes","US Gross","Worldwide Gross"}',
        '{"Running Time min": {"interval": [10, 20, 40]}, "Production Budget": {"interval": [10000000, 20000000, 40000000]}, "US DVD Sales": {"interval": [10000000, 20000000, 40000000]}, "IMDB Votes": {"interval": [10000, 50000, 100000]}, "US Gross": {"interval": [10000000, 50000000, 100000000]}, "Worldwide Gross": {"interval": [20000000, 100000000, 200000000]}, "Release Date": {"prefix": [3]}}', 'greedy'),
    ('vega.penguins', '{"Species","Island","Sex","Flipper Length (mm)","Beak Depth (mm)","Body Mass (g)","Beak Length (mm)"}',
        '{"Flipper Length (mm)": {"interval": [5, 10, 20]}, "Beak Depth (mm)": {"interval": [1, 2, 4]}, "Body Mass (g)": {"interval": [250, 500, 1000]}, "Beak Length (mm)": {"interval": [2, 4, 8]}}', 'best'),
    ('vega.seattle_weather', '{weather,date,temp_min,temp_max,wind,precipitation}',
        '{"date": {"date": ["month", "quarter", "year"]}, "temp_min": {"interval": [2, 4, 8]}, "temp_max": {"interval": [3, 6, 12]}, "wind": {"interval": [1, 2, 4]}, "precipitation": {"interval": [1, 5, 20]}}', 'best'),
    ('vega.stocks', '{symbol,date}', '{"date": {"prefix": [3]}}', 'best'),
    ('vega.income', '{group,region,pct,total,name}', '{"total": {"quantile": [12, 6, 3]}, "pct": {"interval": [0.02, 0.04, 0.08]}}', 'best');
CREATE TABLE chosen (relation text, gcp float8, why text);
DO $$
DECLARE
    h hand;
BEGIN
    FOR h IN SELECT * FROM hand LOOP
        EXECUTE format('DROP TABLE IF EXISTS sets.%I', h.relation || '_hand');
        BEGIN
            PERFORM kanon_pattern_guided(format('sets.%I', h.relation)::regclass, format('sets.%I', h.relation || '_hand'), h.qis, 5, hierarchies => h.hierarchies, method => h.method, time_limit => '20 s', known_columns => CASE WHEN h.relation ~ 'movies' THEN 3 END);
            INSERT INTO chosen SELECT h.relation, gcp FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
        EXCEPTION WHEN others THEN
            INSERT INTO chosen VALUES (h.relation, NULL, sqlerrm);
        END;
    END LOOP;
END $$;
SELECT relation, round(t.gcp::numeric, 3) AS suggested, round(c.gcp::numeric, 3) AS by_hand, round((t.gcp / c.gcp)::numeric, 2) AS ratio, left(c.why, 90) AS why FROM tried t JOIN chosen c USING (relation) ORDER BY 1;
SELECT round(exp(avg(ln(t.gcp / c.gcp)))::numeric, 2) AS mean_ratio, count(*) FILTER (WHERE t.gcp <= c.gcp * 4 / 3) AS within_a_third, count(c.gcp) AS tables FROM tried t JOIN chosen c USING (relation);
