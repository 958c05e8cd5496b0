-- hints that lead out, and what they lead to
CREATE SCHEMA ways_test;
SET search_path = ways_test, public;
\set SHOW_CONTEXT never
CREATE TYPE mood as enum ('low','high');
create table p as select i%5 as a, i % 60 as age, (i % 4 + 1) as city, 'm'||i%3 as zip, (case when i%2=0 then 'low' else 'high' end)::mood as m, date '2020-01-01' + i as born, (i%4)::numeric(5,1) as n from generate_series(1,200) i;
create table country(id int, name text); insert into country values (1,'France'),(2,'Italy');
create table city(id int, name text, country int); insert into city values (1,'Paris',1),(2,'Lyon',1),(3,'Rome',2),(4,'Turin',2);
select kanon_hierarchy_from_fk('p','city','city_h','city','id','country','name',above=>'country',above_key=>'id',above_label=>'name');
select * from city_h order by 1;
select kanon_hierarchy_from_fk('p','city','city_h','city','id','country','name',above=>'country',above_key=>'id', replace=>true);
select * from city_h order by 1;
select pattern, verdict, classes from kanon_full_domain('p','city_out','{city,a}',60,hierarchies=>'{"city":"city_h"}');
select kanon_hierarchy_interval('p','age','age_h','{5,10,20}', lower=>12, upper=>43);
select * from age_h where value in (3,11,12,14,15,19,39,40,42,43,59) order by 1;
select count(*) from kanon_pattern_guided('p','o1','{age,a}',5,hierarchies=>'{"age":{"interval":[5,10],"lower":12,"upper":43}}');
select count(*) from kanon_pattern_guided('p','o1','{age,a}',5,hierarchies=>'{"age":{"interval":[5,10],"lower":50,"upper":43}}');
select count(*) from kanon_pattern_guided('p','o1','{age,a}',5,hierarchies=>'{"age":{"prefix":[1],"upper":43}}');
select count(*) from kanon_pattern_guided('p','o1','{age,a}',5,hierarchies=>'{"age":{"interval":[5],"uper":43}}');
select count(*) from kanon_pattern_guided('p','o2','{born,a}',5,hierarchies=>'{"born":"date"}');
select count(*) from kanon_pattern_guided('p','o2','{m,a}',5,hierarchies=>'{"m":{"prefix":[1]}}');
create table nh as select distinct n::int as value, 'x'||(n::int/2) as l from p;
select count(*) from kanon_pattern_guided('p','o3','{n,a}',5,hierarchies=>'{"n":"nh"}');
create table nt as select distinct n::int::text as value, 'x'||(n::int/2) as l from p;
select count(*) from kanon_pattern_guided('p','o4','{n,a}',5,hierarchies=>'{"n":"nt"}');
select * from kanon_pattern_clustering('p','e9','{a,age}',1,'greedy','{--,**}'); 
select * from kanon_pattern_clustering('p','e10','{a,age,born}',50,'greedy','{---}'); 
select * from kanon_hierarchy_from_fk('p','city','city_h2','city','id','country','name',above=>'country');
create table loose(id int, name text, country int); insert into loose values (1,'Paris',1),(2,'Lyon',7),(3,'Rome',2),(4,'Turin',2);
select * from kanon_hierarchy_from_fk('p','city','city_h2','loose','id','country','name',above=>'country',above_key=>'id');
-- many rows at both ends, in dates and fractions, too
select kanon_hierarchy_interval('p','born','born_h','{10,30}', lower=>18300, upper=>18400);
select level1, level2, count(*) from born_h group by 1, 2 order by 1, 2;
select kanon_hierarchy_interval('p','n','n_h','{0.5,1}', upper=>2.5);
select * from n_h order by 1;
select kanon_hierarchy_interval('p','age','age_h','{5}', upper=>2.5, replace=>true);
-- prefixes that change nothing, and those of numbers, which follow the digits
create table codes as select 10000 + 7 * i as zip, i as n, ('10.0.' || i % 250 || '.' || i % 7)::inet as ip from generate_series(0, 99) i;
select from kanon_full_domain('codes', null, '{zip}', 5, hierarchies => '{"zip": {"prefix": [9]}}', suppression_limit => 1, dry_run => true);
select count(*) > 0 as some from kanon_pattern_guided('codes', null, '{zip,n,ip}', 5, hierarchies => '{"zip": {"prefix": [6,5,3]}, "n": {"prefix": [1]}, "ip": {"prefix": [32,16]}}', dry_run => true);
select kanon_hierarchy_prefix('codes', 'n', 'n_prefixes', '{1}');
-- what a rule can have is told on the side on which it is kept, where three decimals are not all
create table thirds as select i % 4 as a, 'v' || i % 3 as v from generate_series(1, 300) i;
create table towns as select a from thirds, generate_series(1, 3);
create function asks(rule jsonb, f text default 'kanon_pattern_guided') returns text language plpgsql as $$
declare told text; hint text;
begin
    execute format('select count(*) from %s(''thirds'', null, ''{a}'', 5, keep => ''{v}'', dry_run => true, privacy => array[%L::jsonb])', f, rule);
    return 'kept';
exception when check_violation then
    get stacked diagnostics told = pg_exception_detail, hint = pg_exception_hint;
    return told || ' ' || hint;
end $$;
select asks(kanon_alpha('v', 0.3)), asks(kanon_alpha('v', 0.334));
select asks(kanon_recursive_cl('v', 0.5, 2)), asks(kanon_recursive_cl('v', 0.501, 2));
select asks(kanon_delta_presence('towns', 0, 0.3), 'kanon_full_domain'), asks(kanon_delta_presence('towns', 0.333, 0.334), 'kanon_full_domain');
-- a rule that the whole table breaks: 'drop', which the hint names, leads out, whatever the method
create table most as select i % 40 as age, 'z' || i * 7 % 5 as zip, case when i % 10 < 8 then 'flu' else 'hiv' end as ill from generate_series(1, 400) i;
select count(*) from kanon_cluster('most', null, '{age,zip}', 5, keep => '{ill}', privacy => array[kanon_alpha('ill', 0.5)], dry_run => true);
select method, row_count, dropped_rows, class_min from unnest('{mondrian,mondrian_relaxed,top_down}'::text[]) method,
    kanon_cluster('most', null, '{age,zip}', 5, method => method, keep => '{ill}', privacy => array[kanon_alpha('ill', 0.5)], residual => 'drop', dry_run => true);
\set VERBOSITY terse
DROP SCHEMA ways_test CASCADE;
