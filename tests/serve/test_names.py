"""A page of arms is what Python's own sorting and searching would show."""

import random

import numpy as np
import pytest

from thrifty.serve.events import Change
from thrifty.serve.experiments import Experiment
from thrifty.serve.names import Names

LETTERS = ["a", "b", "ab", "\0", "é", "日本", "\U0001f600", " ", "\x7f", "aaaaaaa", "product-"]


def some_names(rng: random.Random, count: int) -> list[str]:
    names = {"".join(rng.choices(LETTERS, k=rng.randint(1, 6))) for _ in range(count)}
    return rng.sample(sorted(names), len(names))


@pytest.mark.parametrize("seed", range(20))
def test_names_are_sorted_and_found(seed: int) -> None:
    """With plain ones in front, and more that come later."""
    rng = random.Random(seed)
    plain, names = rng.choice([0, 1, 9, 10, 11, 123]), some_names(rng, 200)
    known = Names(plain, lambda first, end: names[first - plain : end - plain])
    whole = [str(i) for i in range(plain)] + names
    for size in (plain, plain + 3, len(whole) // 2 + plain // 2, len(whole)):
        wanted = sorted(range(size), key=whole.__getitem__)
        assert known.order(size).tolist() == wanted
        for part in ("a", "b\0", "é", "1", "product-product-", "本", "\xa9", "nobody", *whole[:3]):
            assert known.having(part, size).tolist() == [i for i in range(size) if part in whole[i]]


def test_a_page_is_that_of_plain_python() -> None:
    """Every sort, both ways, with arms that went, came back and tie, with a search, from page to page."""
    rng = random.Random(1)
    experiment = Experiment(1, 1, "many")
    definition = {"policy": {"name": "TSMA"}, "arms": 40}
    changes = [
        ("create", {"created": 0, "definition": definition}),
        ("add", some_names(rng, 60)),
        *(("remove", arm) for arm in rng.sample(range(40), 12)),
        ("add", [f"again {i}" for i in range(5)]),
        ("pause", 50),
    ]
    for version, (what, value) in enumerate(changes, 1):
        experiment.apply(Change(version, "local", what, value), version)
    tally, size = experiment.tally, experiment.roster.size
    tally.pulls[:size] = np.random.default_rng(1).integers(0, 4, size)
    tally.sums[:size] = tally.pulls[:size] * np.random.default_rng(2).integers(0, 3, size) / 2
    tally.decided[:size] = tally.pulls[:size] + np.random.default_rng(3).integers(0, 2, size)
    tally.closed[:size] = tally.pulls[:size]
    rows = [experiment.row(serial) for serial in experiment.roster.serials().tolist()]
    for by in ("arm", "pulls", "mean", "pending"):
        for search in ("", "a", "1", "again 3", "nobody"):
            found = [row for row in rows if search in row.arm]
            wanted = sorted(found, key=lambda row: -1.0 if (key := getattr(row, by)) is None else key)
            for sort, order in ((by, wanted), (f"-{by}", wanted[::-1])):
                for limit in (1, 7, 1000):
                    shown, after = [], None
                    while True:
                        some, after = experiment.page(sort, search, limit, after)
                        shown += some
                        if after is None:
                            break
                    assert shown == order
    assert experiment.page("-pulls", "", 10, "5000") == ([], None)
    for column in ("decided", "pulls"):  # arms are being added, and this is another thread
        setattr(tally, column, np.append(getattr(tally, column), 0))
    for sort in ("-pending", "mean"):
        assert len(experiment.page(sort, "", 10, None)[0]) == 10
