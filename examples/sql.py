"""SQL: a question becomes a query under the shipped grammar `sql`, and sqlite3 runs it.

    python examples/sql.py

Under the grammar every query parses. Whether its tables and columns are there the grammar does not
know, so what the database says against a query goes into the next attempt. The database is opened
for reading only: a grammar says what a text looks like, not what it may do.
"""

from __future__ import annotations

import sqlite3
import sys

import guided

TABLE = """\
CREATE TABLE planets (name TEXT, moons INTEGER, radius_km REAL);
INSERT INTO planets VALUES ('Mercury', 0, 2440), ('Venus', 0, 6052), ('Earth', 1, 6371),
    ('Mars', 2, 3390), ('Jupiter', 95, 69911), ('Saturn', 146, 58232);
"""

EXAMPLES = """\
Table planets: name, moons, radius_km.
Question: How many planets are there?
SQL: SELECT count(*) FROM planets;
Question: Which planets have a radius below 3000 km?
SQL: SELECT name FROM planets WHERE radius_km < 3000;
Question: Which planets have 1 moon?
SQL: SELECT name FROM planets WHERE moons = 1;
"""
QUESTIONS = [
    "Which planets have more than 50 moons?",
    "Which planets have a radius above 50000 km?",
]


def open_database() -> sqlite3.Connection:
    """Make the table in memory, then allow nothing but reading."""
    database = sqlite3.connect(":memory:")
    database.executescript(TABLE)
    database.execute("PRAGMA query_only = ON")
    return database


def write_query(
    model: guided.Model, question: str, complaint: str = "", *, max_tokens: int = 40
) -> str:
    """Have the model write one query, and stop it where that ends.

    The grammar lets blanks follow the semicolon, and a small model likes to write them.
    """
    note = f"(Not so: {complaint})\n" if complaint else ""
    prompt = f"{EXAMPLES}{note}Question: {question}\nSQL:"
    grammar = guided.Grammar.from_file("sql")
    query = ""
    for piece in guided.stream(model, prompt, grammar=grammar, max_tokens=max_tokens):
        query += piece
        if sqlite3.complete_statement(query):
            break
    return query.rstrip()


def answer(
    model: guided.Model, database: sqlite3.Connection, question: str, *, attempts: int = 3
) -> tuple[str, list[tuple[object, ...]]]:
    """Return a query that runs, and its rows.

    Raises:
        sqlite3.Error: none of the attempts ran; this is what the database said of the last one.
    """
    complaint: sqlite3.Error | None = None
    for _ in range(attempts):
        query = write_query(model, question, str(complaint or ""))
        try:
            return query, database.execute(query).fetchall()
        except sqlite3.Error as error:
            complaint = error
    raise complaint or ValueError("at least one attempt is needed")


def main() -> int:
    """Ask the questions above."""
    model, database = guided.load(), open_database()
    for question in QUESTIONS:
        try:
            query, rows = answer(model, database, question)
        except sqlite3.Error as error:
            query, rows = f"no query that runs: {error}", []
        print(f"{question}\n  {query}\n  {rows}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
