"""The log, read by plain statements, wherever they are sent to: a process that starts often imports this, and
not what takes a while to import."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from thrifty.errors import InvalidValue
from thrifty.serve.events import Row

Query = Callable[..., Sequence[Any]]  # (statement, values): its rows, in a short transaction


def path_of(url: str) -> str:
    """The file of a store."""
    kind, found, path = url.partition(":///")
    if kind != "sqlite" or not found or path in ("", ":memory:"):
        raise InvalidValue(f"store must be the URL of a file, such as sqlite:///thrifty.db, got {url!r}")
    return path


def plain(url: str) -> Query:
    """Read a store that is there, without SQLAlchemy."""
    path = path_of(url)

    def query(statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        with closing(sqlite3.connect(path, timeout=5.0)) as connection:
            return connection.execute(statement, values).fetchall()

    return query


def note(query: Query, name: str) -> str | None:
    """What is noted under this name beside the log."""
    found = query("select value from meta where name = ?", (name,))
    return str(found[0][0]) if found else None


def streams(query: Query) -> dict[int, int]:
    """The number of every start that is known here, oldest first."""
    return dict(tuple(row) for row in query("select start, id from streams order by id"))


def rows(
    query: Query, stream: int, seq: int, limit: int = 10_000, experiment: int | None = None
) -> list[Row]:
    """So many rows of a stream behind a place, of one experiment or all."""
    which = "" if experiment is None else f"and experiment = {experiment:d} "
    statement = f"select * from log where stream = ? and seq > ? {which}order by seq limit ?"
    return [Row._make(row) for row in query(statement, (stream, seq, limit))]


def log(query: Query, after: Mapping[int, int] | None = None) -> Iterator[Row]:
    """The log behind the places that its streams are at, or all of it."""
    for stream in streams(query).values():
        seq = 0 if after is None else after.get(stream, 0)
        while found := rows(query, stream, seq):
            yield from found
            seq = found[-1].seq
