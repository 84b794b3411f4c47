"""From each schema of a store to the next. A step runs in one transaction with the note of its number: one
that is killed has changed nothing, and is made again.

A step is written in the statements of its day, and never changed: the tables in ``store`` are those of now.
"""

from collections.abc import Callable

import sqlalchemy as sa

Step = Callable[[sa.Connection], None]
NOTE = "update meta set value = ? where name = 'schema'"


def _draws(connection: sa.Connection) -> None:
    """Posterior draws by the minute."""
    connection.exec_driver_sql(
        "create table draw_totals (experiment integer not null, minute bigint not null, "
        "draws bigint not null, primary key (experiment, minute)) without rowid"
    )


def _periods(connection: sa.Connection) -> None:
    """Totals by a period that need not be a minute, with squares of rewards; they are made again from the
    log. Posterior draws beside what a draw for each arm would have been, which nobody knows of those before.
    What was known by the period."""
    for name in ("totals", "arm_totals", "draw_totals"):
        connection.exec_driver_sql(f"drop table {name}")
    key = "experiment integer not null, period bigint not null"
    for name, columns, more in (
        ("totals", "control boolean not null, decided bigint not null, pulls bigint not null, "
         "sum float not null, squares float not null", ", control"),
        ("arm_totals", "arm bigint not null, decided bigint not null, pulls bigint not null, "
         "sum float not null", ", arm"),
        ("draw_totals", "draws bigint not null, dense bigint not null", ""),
        ("outlooks", "arm bigint not null, probability float not null, loss float not null", ""),
    ):  # fmt: skip
        connection.exec_driver_sql(
            f"create table {name} ({key}, {columns}, primary key (experiment, period{more})) without rowid"
        )
    connection.exec_driver_sql("delete from meta where name = 'totals'")
    connection.exec_driver_sql("insert into meta values ('period', '60')")


STEPS: dict[int, Step] = {1: _draws, 2: _periods}  # by the schema that they begin with


def migrate(connection: sa.Connection, found: int, wanted: int) -> None:
    """In the transaction that is open: all that is missing."""
    for schema in range(found, wanted):
        STEPS[schema](connection)
        connection.exec_driver_sql(NOTE, (str(schema + 1),))
