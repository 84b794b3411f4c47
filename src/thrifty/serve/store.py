"""The store: its schema, how it is opened, and what is read from it. Rows are written by ``log`` alone.

SQLAlchemy Core has the schema and the rare queries. What every reward needs are plain statements with tuples,
which in large commits cost what the sqlite3 module itself does; with dictionaries, Core takes more than twice
that.
"""

import logging
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from thrifty.errors import FileError, InvalidCall, InvalidValue
from thrifty.serve import reading
from thrifty.serve.clock import SECOND
from thrifty.serve.events import CHANGE, DECISION, Row
from thrifty.serve.migrations import migrate
from thrifty.serve.tokens import SECRET
from thrifty.serve.totals import PERIOD

LOGGER = logging.getLogger("thrifty.serve")
SCHEMA = 3
START_BITS = 63
SECRETS = 256  # their numbers are a byte; 0 is one from the environment
DAY = 86400 * SECOND
BUSY = 5.0  # seconds that one waits for another to write
PAGE = 4096  # bytes
WAL_LIMIT = 64 * 2**20  # bytes: a longer one begins again
WAL_FILE = 4 * WAL_LIMIT  # a longer file is cut

META = sa.MetaData()
meta = sa.Table("meta", META, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text))
secret_table = sa.Table(
    "secrets",
    META,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("until", sa.BigInteger),  # it reads ids, if another one signs them now
)
keys = sa.Table(
    "keys",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    sa.Column("scopes", sa.Text, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("revoked", sa.BigInteger),
)
streams = sa.Table(
    "streams",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("start", sa.BigInteger, nullable=False, unique=True),
    sa.Column("opened", sa.BigInteger, nullable=False),
    sa.Column("committed", sa.BigInteger, nullable=False),  # the last place that a commit reached
)
experiments = sa.Table(
    "experiments",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("uid", sa.BigInteger, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
)
log = sa.Table(
    "log",
    META,
    sa.Column("stream", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("experiment", sa.Integer, nullable=False),
    sa.Column("time", sa.BigInteger, nullable=False),
    sa.Column("origin", sa.Integer),
    sa.Column("number", sa.BigInteger),
    sa.Column("due", sa.BigInteger),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
_decisions = sa.text(f"kind = '{DECISION}'")
sa.Index("log_decisions", log.c.origin, log.c.number, sqlite_where=_decisions, postgresql_where=_decisions)
sa.Index("log_due", log.c.due, log.c.stream, log.c.seq, sqlite_where=_decisions, postgresql_where=_decisions)
_changes = sa.text(f"kind = '{CHANGE}'")
sa.Index("log_changes", log.c.stream, log.c.seq, sqlite_where=_changes, postgresql_where=_changes)
checkpoints = sa.Table(  # written when all of its pieces are
    "checkpoints",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("pieces", sa.Integer, nullable=False),
)
pieces = sa.Table(
    "pieces",
    META,
    sa.Column("checkpoint", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("piece", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
totals = sa.Table(  # by the period
    "totals",
    META,
    sa.Column("experiment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("period", sa.BigInteger, primary_key=True, autoincrement=False),  # since 1970
    sa.Column("control", sa.Boolean, primary_key=True),
    sa.Column("decided", sa.BigInteger, nullable=False),
    sa.Column("pulls", sa.BigInteger, nullable=False),
    sa.Column("sum", sa.Float, nullable=False),
    sa.Column("squares", sa.Float, nullable=False),
    sqlite_with_rowid=False,
)
arm_totals = sa.Table(  # of those that led
    "arm_totals",
    META,
    sa.Column("experiment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("period", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("arm", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("decided", sa.BigInteger, nullable=False),
    sa.Column("pulls", sa.BigInteger, nullable=False),
    sa.Column("sum", sa.Float, nullable=False),
    sqlite_with_rowid=False,
)
draw_totals = sa.Table(  # posterior draws; they are not in the log
    "draw_totals",
    META,
    sa.Column("experiment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("period", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("draws", sa.BigInteger, nullable=False),
    sa.Column("dense", sa.BigInteger, nullable=False),  # a draw for each arm in each decision
    sqlite_with_rowid=False,
)
outlooks = sa.Table(  # what was known of the best arm; not in the log either
    "outlooks",
    META,
    sa.Column("experiment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("period", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("arm", sa.BigInteger, nullable=False),
    sa.Column("probability", sa.Float, nullable=False),  # of being the best
    sa.Column("loss", sa.Float, nullable=False),  # for each decision, if it were taken always
    sqlite_with_rowid=False,
)
outcomes = sa.Table(  # one for each decision that is closed: whoever writes it first
    "outcomes",
    META,
    sa.Column("origin", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("reward", sa.Float),
    sa.Column("stream", sa.Integer, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)


class Store:
    """An open store. ``url`` is that of a file of SQLite, such as ``sqlite:///thrifty.db``."""

    def __init__(self, url: str) -> None:
        self.url, self.path = url, reading.path_of(url)
        self.engine = sa.create_engine(f"sqlite:///{self.path}", connect_args={"timeout": BUSY})
        sa.event.listen(self.engine, "connect", _prepare)
        sa.event.listen(self.engine, "begin", _begin)
        self._lock: sqlite3.Connection | None = None
        self._closed = False

    def open(self, now: int, period: int = PERIOD) -> None:
        """Make what is not there, and bring an older schema up to date: that is for whoever has the lock. A
        store of a newer thrifty is refused, and one whose totals are by another ``period``, in seconds."""
        try:
            with self.writing() as connection:
                found = _version(connection)
                if found is None:
                    META.create_all(connection)
                    connection.execute(meta.insert().values(name="schema", value=str(SCHEMA)))
                    connection.execute(meta.insert().values(name="period", value=str(period)))
                    connection.execute(
                        secret_table.insert().values(id=1, secret=secrets.token_bytes(SECRET), created=now)
                    )
                elif found < SCHEMA:
                    migrate(connection, found, SCHEMA)
                    LOGGER.info("%s: its schema was %d, and is %d now", self.path, found, SCHEMA)
                else:
                    self._check_schema(found)
                query = sa.select(meta.c.value).where(meta.c.name == "period")
                kept = int(connection.execute(query).scalar_one())
        except sa.exc.DatabaseError as error:
            raise FileError(f"{self.path} cannot be opened as a store: {error.orig}") from None
        if kept != period:
            raise InvalidValue(f"period must be {kept} s, by which {self.path} has its totals, got {period}")

    def check(self) -> None:
        """It is there, and of a schema that is read here."""
        if not Path(self.path).is_file():
            raise FileError(f"there is no store {self.path}: thrifty serve makes one")
        try:
            with self.engine.connect() as connection:
                found = _version(connection)
        except sa.exc.DatabaseError as error:
            raise FileError(f"{self.path} cannot be opened as a store: {error.orig}") from None
        if found is None:
            raise FileError(f"{self.path} is no store: thrifty serve makes one")
        self._check_schema(found)

    def _check_schema(self, found: int) -> None:
        if found > SCHEMA:
            raise FileError(f"{self.path} has schema {found}, this version reads {SCHEMA}: upgrade thrifty")
        if found < SCHEMA:  # a server of an older thrifty may be at work
            raise FileError(
                f"{self.path} has schema {found}, this version reads {SCHEMA}: thrifty serve brings it up to "
                "date"
            )

    def lock(self) -> None:
        """One server for each store: a lock that dies with its process."""
        lock = sqlite3.connect(
            f"{self.path}-lock", timeout=0.0, isolation_level=None, check_same_thread=False
        )
        try:
            lock.execute("begin exclusive")
        except sqlite3.OperationalError as error:
            lock.close()
            raise InvalidCall(
                f"{self.path} must have one server at a time, and another has it open ({error})"
            ) from None
        self._lock = lock

    def close(self) -> None:
        """Whoever reads the log in another thread comes to an end."""
        self._closed = True
        self.engine.dispose()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that may write."""
        with self.engine.connect() as connection:
            immediate = connection.execution_options(immediate=True)
            with immediate.begin():
                yield immediate

    def secrets(self, now: int) -> dict[int, bytes]:
        """Those that hold, by their numbers, with the one that signs last."""
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(secret_table).order_by(secret_table.c.created)).all()
        return {row.id: row.secret for row in rows if row.until is None or row.until > now}

    def rotate(self, now: int) -> None:
        """Another secret signs from now on. The one before reads ids until a day after its last is due."""
        with self.writing() as connection:
            used = set(connection.execute(sa.select(secret_table.c.id)).scalars())
            free = next((number for number in range(1, SECRETS) if number not in used), None)
            if free is None:
                query = sa.select(secret_table.c.id).where(secret_table.c.until < now)
                free = connection.execute(query.order_by(secret_table.c.until)).scalars().first()
            if free is None:
                raise InvalidCall(
                    f"there must be at most {SECRETS - 1} secrets that hold: wait until one is old"
                )
            connection.execute(secret_table.delete().where(secret_table.c.id == free))
            query = sa.select(sa.func.max(log.c.due)).where(log.c.kind == DECISION)
            last = connection.execute(query).scalar() or 0
            old = secret_table.update().where(secret_table.c.until.is_(None))
            connection.execute(old.values(until=max(now, last) + DAY))
            values = {"id": free, "secret": secrets.token_bytes(SECRET), "created": now}
            connection.execute(secret_table.insert().values(**values))

    def open_stream(self, now: int) -> tuple[int, int]:
        """A new stream: its number in this store, and its start, which nobody ever had."""
        start = secrets.randbits(START_BITS)
        with self.writing() as connection:
            number = connection.execute(
                streams.insert().values(start=start, opened=now, committed=0).returning(streams.c.id)
            ).scalar_one()
        return int(number), start

    def query(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        """The rows of a plain statement, in a short transaction."""
        if self._closed:
            raise InvalidCall(f"{self.path} must be open to be read, and was closed")
        with self.engine.connect() as connection:
            return connection.exec_driver_sql(statement, tuple(values)).all()

    def streams(self) -> dict[int, int]:
        """The number of every start that is known here, oldest first."""
        return reading.streams(self.query)

    def experiments(self) -> list[Any]:
        """Rows (id, uid, name)."""
        with self.engine.connect() as connection:
            return list(connection.execute(sa.select(experiments).order_by(experiments.c.id)))

    def rows(self, stream: int, seq: int, limit: int = 10_000, experiment: int | None = None) -> list[Row]:
        """So many rows of a stream behind a place, of one experiment or all, in a short transaction."""
        return reading.rows(self.query, stream, seq, limit, experiment)

    def log(self, after: Mapping[int, int] | None = None) -> Iterator[Row]:
        """The log behind the places that its streams are at, or all of it."""
        return reading.log(self.query, after)

    def changes(self) -> list[Row]:
        """Every change that was ever made to an experiment."""
        query = f"select * from log where kind = '{CHANGE}' order by stream, seq"
        with self.engine.connect() as connection:
            return [Row._make(row) for row in connection.exec_driver_sql(query)]

    def backup(self, path: Path) -> None:
        """All of it as it is now, in a new file, while others write."""
        if path.exists():
            raise FileError(f"{path} must be a new file, and is there")
        part = path.with_name(f"{path.name}.part")
        part.unlink(missing_ok=True)
        with self.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.execute("vacuum into ?", (str(part),))
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.rename(path)

    def shorten(self) -> None:
        """Bring the write-ahead log into the file, and when it is long, have it begin again. It is cut only
        if a long reader made it much longer: commits wait for that, 50 ms."""
        with self.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            _, pages, _ = raw.execute("pragma wal_checkpoint(passive)").fetchone()
            if pages * PAGE > WAL_LIMIT:
                mode = "truncate" if Path(f"{self.path}-wal").stat().st_size > WAL_FILE else "restart"
                raw.execute("pragma busy_timeout = 0")  # a long reader must not keep the writer waiting
                try:
                    raw.execute(f"pragma wal_checkpoint({mode})").fetchall()
                finally:
                    raw.execute(f"pragma busy_timeout = {round(1000 * BUSY)}")


def _prepare(raw: Any, _: object) -> None:
    raw.isolation_level = None  # transactions begin where we say so
    for pragma in ("journal_mode=wal", "synchronous=full", "wal_autocheckpoint=0"):
        raw.execute(f"pragma {pragma}").fetchall()


def _begin(connection: sa.Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("begin immediate" if immediate else "begin")


def _version(connection: sa.Connection) -> int | None:
    if not sa.inspect(connection).has_table("meta"):
        return None
    return int(connection.execute(sa.select(meta.c.value).where(meta.c.name == "schema")).scalar_one())
