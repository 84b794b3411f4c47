"""What became of decisions, as the table that ``thrifty replay`` and ``thrifty evaluate`` read."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from thrifty.errors import InvalidValue
from thrifty.serve import checkpoints
from thrifty.serve.clock import moment
from thrifty.serve.events import DECISION, DEFAULT, REWARD, Decided, read_decided
from thrifty.serve.experiments import Experiment, restored
from thrifty.serve.store import Store

ROWS = 20_000  # of the log that are read at a time


def parts(store: Store, name: str) -> Iterator[dict[str, list[Any]]]:
    """The decisions of an experiment that have a reward, some at a time: arm, reward, propensity, and when
    they were made. A reward that was the default is one too."""
    experiment, after = _find(store, name), (0, -1)
    while decided := _decided(store, after):
        after = (decided[-1].origin, decided[-1].number)
        rewards = _rewards(store, (decided[0].origin, decided[0].number), after, len(decided[-1].made.arms))
        table: dict[str, list[Any]] = {"arm": [], "reward": [], "propensity": [], "time": []}
        for one in decided:
            for i, arm in enumerate(one.made.arms):
                reward = rewards.get((one.origin, one.number + i))
                if one.experiment == experiment.id and reward is not None:
                    chance = one.made.probability[i] if one.made.probability else None
                    row = (experiment.roster.name(arm), reward, chance, moment(one.made.decided or one.time))
                    for column, value in zip(table.values(), row, strict=True):
                        column.append(value)
        yield table


class _Made(NamedTuple):
    experiment: int
    time: int
    origin: int
    number: int
    made: Decided


def _decided(store: Store, after: tuple[int, int]) -> list[_Made]:
    """Decisions behind a place, by their numbers; a short transaction."""
    query = (
        f"select experiment, time, origin, number, body from log where kind = '{DECISION}' "
        f"and (origin, number) > (?, ?) order by origin, number limit {ROWS}"
    )
    with store.engine.connect() as connection:
        rows = connection.exec_driver_sql(query, after)
        return [_Made(row[0], row[1], row[2], row[3], read_decided(row[4])) for row in rows]


def _rewards(
    store: Store, first: tuple[int, int], last: tuple[int, int], count: int
) -> dict[tuple[int, int], float]:
    """Those of the decisions from one to another, behind which there are so many."""
    query = (
        f"select origin, number, reward from outcomes where kind in ('{REWARD}', '{DEFAULT}') "
        "and (origin, number) >= (?, ?) and (origin, number) < (?, ?)"
    )
    with store.engine.connect() as connection:
        rows = connection.exec_driver_sql(query, (*first, last[0], last[1] + count))
        return {(origin, number): reward for origin, number, reward in rows}


def _find(store: Store, name: str) -> Experiment:
    fold, _ = checkpoints.state(store)
    found = restored(store.experiments(), fold.tallies, fold.history)
    if name not in found:
        raise InvalidValue(
            f"NAME must be one of {', '.join(sorted(found)) or 'no'} experiments, got {name!r}"
        )
    return found[name]
