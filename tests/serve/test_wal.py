"""The write-ahead log does not grow for ever."""

from pathlib import Path

import pytest

from tests.support.served import url_of
from thrifty.serve import store as module
from thrifty.serve.store import Store


def fill(store: Store) -> int:
    """Write some pages. Returns the size of the write-ahead log."""
    for i in range(20):
        with store.writing() as connection:
            query = "insert or replace into meta values (?, ?)"
            connection.exec_driver_sql(query, (f"filler {i}", "x" * 10_000))
    return Path(f"{store.path}-wal").stat().st_size


def test_it_begins_again_and_is_cut_only_if_it_is_very_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(url_of(tmp_path))
    store.open(0)
    with store.engine.connect():  # one stays open: the last one that closes would cut it
        before = fill(store)
        store.shorten()
        assert fill(store) >= before
        monkeypatch.setattr(module, "WAL_LIMIT", 0)
        longest = fill(store)
        for _ in range(5):
            store.shorten()
            assert fill(store) == longest
        monkeypatch.setattr(module, "WAL_FILE", 0)
        store.shorten()
        assert Path(f"{store.path}-wal").stat().st_size == 0
        assert len(store.query("select * from meta where name like 'filler%'")) == 20
    store.close()
