#!/usr/bin/python3
"""kanon from Python: what each k would cost, as a data frame.

Needs python3-psycopg and python3-pandas (as Debian calls them); connects as psql would
(PGHOST, PGDATABASE and so on).  Takes tables of examples/visits.sql; the data stays in
the database, and only figures come out.
prints: ^5 +0\\.0
"""
import json

import pandas
import psycopg

HIERARCHIES = {
    "age": {"interval": [5, 10, 20]},
    "zip": {"prefix": [4, 3]},
    "visited_on": {"date": ["month", "quarter", "year"]},
}
CALL = """
SELECT k, gcp AS lost, classes, class_avg, residual_rows
FROM kanon_frontier(%(source)s, %(columns)s, %(ks)s, hierarchies => %(hierarchies)s)
"""


def frontier(connection, source, columns, ks, hierarchies):
    """One line for each k."""
    cursor = connection.execute(CALL, {
        "source": source, "columns": columns, "ks": ks, "hierarchies": json.dumps(hierarchies)})
    names = [column.name for column in cursor.description]
    return pandas.DataFrame(cursor.fetchall(), columns=names).set_index("k")


def main():
    with psycopg.connect() as connection:
        table = frontier(connection, "clinic.visits_with_patients", ["age", "sex", "zip", "visited_on"],
                         [2, 3, 5, 11, 20], HIERARCHIES)
    table["dearer"] = table["lost"].diff()
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
