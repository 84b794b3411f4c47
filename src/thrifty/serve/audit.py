"""``thrifty audit``: the whole log is folded again, and all that is kept beside it is compared with that."""

from collections.abc import Iterator

import sqlalchemy as sa

from thrifty.serve import checkpoints, totals
from thrifty.serve.events import DECISION, OUTCOMES, read_decided
from thrifty.serve.fold import Fold
from thrifty.serve.store import Store

KINDS = ", ".join(f"'{kind}'" for kind in OUTCOMES)
LOGGED = f"select origin, number, kind, stream, seq from log where kind in ({KINDS})"
KEPT = "select origin, number, kind, stream, seq from outcomes"


def audit(store: Store) -> tuple[Fold, list[str]]:
    """The fold of the log, and a sentence for everything that does not agree with it."""
    faults: list[str] = []
    with store.engine.connect() as connection:
        for what, query in (
            ("an outcome that is not in the log", f"{KEPT} except {LOGGED}"),
            ("an outcome in the log that is kept otherwise", f"{LOGGED} except {KEPT}"),
        ):
            faults += [f"{what}: {tuple(row)}" for row in connection.exec_driver_sql(query)]
        faults += [f"an outcome without a decision: {key}" for key in _without(connection)]
        for stream, committed, last in connection.exec_driver_sql(
            "select id, committed, (select max(seq) from log where stream = streams.id) from streams"
        ):
            if last is not None and last > committed:
                faults.append(f"stream {stream} has a row at {last}, and its last commit was at {committed}")
    state, _ = checkpoints.state(store)
    rows = (row for row in store.log() if row.seq <= state.read.get(row.stream, 0))  # a server may run
    fold = Fold(store.changes()).add(rows)
    faults += [f"by the newest checkpoint, {fault}" for fault in state.difference(fold)]
    return fold, faults + totals.difference(store.query)


def _without(connection: sa.Connection) -> Iterator[tuple[int, int]]:
    """Outcomes whose decision is not in the log: both are walked in the order of their numbers."""
    decided = connection.exec_driver_sql(
        f"select origin, number, body from log where kind = '{DECISION}' order by origin, number"
    )
    first = end = (0, 0)
    for row in connection.exec_driver_sql("select origin, number from outcomes order by origin, number"):
        key = (int(row[0]), int(row[1]))
        while end <= key:
            found = decided.fetchone()
            if found is None:
                first = end = (2**63, 0)
                break
            first = (found[0], found[1])
            end = (found[0], found[1] + len(read_decided(found[2]).arms))
        if not first <= key < end:
            yield key
