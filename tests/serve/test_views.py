"""What the page shows is what happened."""

import math
import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from scipy.stats import binom

import thrifty
from tests.support.served import COLOURS, check_memory, decide, play, reward, untended, url_of
from thrifty.online.decisions import Open
from thrifty.online.lift import Sides
from thrifty.online.rewards import Rewards
from thrifty.serve import totals, views
from thrifty.serve.app import App
from thrifty.serve.clock import SECOND, Clock
from thrifty.serve.history import History
from thrifty.serve.intervals import Sums, interval, lift
from thrifty.serve.store import Store

URL = "/v1/experiments/colours"


START = 1_700_000_040  # seconds: a minute begins


async def _fold(app: App, now: int) -> None:
    """Totals of the periods that are over, as the service adds them."""
    check_memory(app)
    service = app.service
    for note in totals.notes(service.store.query, now):
        await service.log.note(note)
        for statement, values in note:
            if statement == totals.ADD:
                service.by_id[values[0]].history.add(values[1])
    service.upkeep.over = now // (service.period * SECOND)
    await service.upkeep.read_totals()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Microseconds since 1970, as the service has it."""
    time = [START * SECOND]
    monkeypatch.setattr(Clock, "now", lambda _: time[0])
    with untended():
        yield time


def test_curves_and_rows_follow_from_totals(tmp_path: Path, now: list[int]) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"control": 0.5})
        service, experiment = app.service, app.service.find("colours")
        await _fold(app, now[0])
        assert views.known(service, experiment).sentence.startswith("Nothing is known yet")
        assert views.curves(service, experiment).times == []
        counts = []
        for minute in (0, 2):
            now[0] = (START + 60 * minute) * SECOND
            experiment.pace.note(now[0], experiment.decisions, experiment.pulls)
            made = await decide(client, count=30)
            rewards = [float(i % 2) for i in range(10)]
            sent = [{"decision": one["id"], "reward": r} for one, r in zip(made, rewards, strict=False)]
            await reward(client, *sent)
            counts.append(made)
            await service.upkeep.note_draws(now[0] // (60 * SECOND))
        await _fold(app, now[0] + 60 * SECOND)
        found = views.curves(service, experiment)
        assert found.times == [START, START + 60, START + 120]
        assert (found.decisions, found.rewards, found.period) == ([30, 0, 30], [10, 0, 10], 60)
        for control, series in ((False, found.policy), (True, found.control)):
            assert series is not None
            for point, made in ((0, counts[0]), (2, counts[1])):
                paid = [float(i % 2) for i in range(10) if made[i]["control"] == control]
                assert series.mean[point] == pytest.approx(np.mean(paid))
                low, high = _wilson(sum(paid), len(paid))
                assert (series.low[point], series.high[point]) == pytest.approx((low, high))
            assert (series.mean[1], series.low[1], series.high[1]) == (None, None, None)
        shares = dict(found.shares)
        assert set(shares) == {"red", "green"}
        for name, share in shares.items():
            assert share == [
                sum(one["arm"] == name for one in made) / 30 for made in (counts[0], [], counts[1])
            ]
        assert found.dense == [
            2 * sum(not one["control"] for one in made) for made in (counts[0], [], counts[1])
        ]
        assert found.draws[0] > 0
        (row,) = views.overview(service)
        assert (row.name, row.state, row.decisions, row.rewards) == ("colours", "running", 60, 20)
        assert (row.mean, row.sparkline) == (0.5, [0.5, None, 0.5])
        now[0] += 60 * SECOND
        (row,) = views.overview(service)
        assert (row.decided_rate, row.reward_rate) == (pytest.approx(20.0), pytest.approx(20 / 3))
        assert views.curves(service, experiment) is found
        await _fold(app, now[0] + 60 * SECOND)
        assert views.curves(service, experiment) == found

    play(tmp_path, scenario)


def _wilson(sum_: float, n: int) -> tuple[float, float]:
    """Wilson's interval, as it is in textbooks."""
    z, p = 1.959963984540054, sum_ / n
    middle, reach = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)


@pytest.mark.parametrize(("n", "p"), [(20, 0.02), (20, 0.3), (100, 0.01), (100, 0.5), (1000, 0.003)])
def test_intervals_of_a_period_hold(n: int, p: float) -> None:
    """Of a period with n rewards of 0 and 1, exactly: what Wilson's hold, at least 92 %. And of rewards of
    other sizes among many, by 2,000 samples: 95 %, less 3 standard errors."""
    rewards = Rewards(thrifty.TSMA(), (0.0, 1.0))
    k = np.arange(n + 1)
    many = Sums(10 * n, 10 * n * p, 10 * n * p).side(rewards)
    ends = [interval(Sums(n, one, one), many, rewards) for one in k.tolist()]
    chances = binom.pmf(k, n, p)
    assert sum(chances[i] for i, (_, low, high) in enumerate(ends) if low <= p <= high) >= 0.92
    rng, wide, mean = np.random.default_rng(1), Rewards(thrifty.TSMA(), (-2.0, 8.0)), -2.0 + 10.0 * p
    drawn = -2.0 + 10.0 * rng.beta(2 * p, 2 * (1 - p), (2000, n))  # few are large
    square = mean * mean + 100.0 * p * (1 - p) / 3.0
    many, held = Sums(10 * n, 10 * n * mean, 10 * n * square).side(wide), 0
    for one in drawn:
        _, low, high = interval(Sums(n, one.sum(), (one * one).sum()), many, wide)
        held += low <= mean <= high
    assert held / 2000 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)


@pytest.mark.parametrize("width", [5e-324, 1e-300, 1e-160, 1e-9, 1e100])
def test_intervals_are_in_a_range_however_narrow(width: float) -> None:
    """One experiment must not take the page of all of them away."""
    rewards = Rewards(thrifty.TSMA(), (0.0, width))
    sums = Sums(300, 100 * width, 100 * width * width)
    for ends in (interval(sums, sums.side(rewards), rewards), interval(Sums(1), sums.side(rewards), rewards)):
        assert all(-1e-9 * width <= end <= 1.000001 * width for end in ends)
    found = lift(sums, sums, rewards)
    assert found is not None
    assert found[0].low <= found[0].difference == 0.0 <= found[0].high


def test_lift_counts_since_the_share_was_changed(tmp_path: Path, now: list[int]) -> None:
    """It is that of a bandit with the same rewards; with few of them it says so."""

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"reward_range": [-1, 3]})
        service = app.service
        await _traffic(client, now, 100)
        await _fold(app, now[0] + 60 * SECOND)
        assert views.overview(service)[0].lift is None
        now[0] += 61 * SECOND
        await client.patch(URL, json={"control": 0.3})
        await _traffic(client, now, 50)
        now[0] += 60 * SECOND
        sides = await _traffic(client, now, 100)
        await _fold(app, now[0] + 60 * SECOND)
        found = views.overview(service)[0].lift
        assert found is not None
        assert found.since == START + 120
        assert not found.enough
        assert found.rewards == len(sides[True])
        now[0] += 60 * SECOND
        more = await _traffic(client, now, 900)
        await _fold(app, now[0] + 60 * SECOND)
        found = views.overview(service)[0].lift
        assert found is not None
        assert found.enough
        table = Sides()
        for control in (False, True):
            for one in sides[control] + more[control]:
                opened = Open(None, 0.0, control, 0.3, None)  # type: ignore[arg-type]
                table = table.plus(opened, (one + 1.0) / 4.0)
        wanted = table.lift(0.95, Rewards(thrifty.TSMA(), (-1, 3)))
        got = (found.difference, found.low, found.high, found.rewards)
        assert got == pytest.approx((wanted.difference, wanted.low, wanted.high, wanted.control_rewards))
        await client.patch(URL, json={"control": 0.3, "floor": 0.01})  # the share stays
        assert views.overview(service)[0].lift == found
        await client.patch(URL, json={"control": 0.0})
        assert views.overview(service)[0].lift is None

    play(tmp_path, scenario)


async def _traffic(client: httpx.AsyncClient, now: list[int], count: int) -> dict[bool, list[float]]:
    """Decisions with rewards: those of the policy and of control."""
    made = await decide(client, count=count)
    sides: dict[bool, list[float]] = {False: [], True: []}
    for i, one in enumerate(made):
        sides[one["control"]].append(float(i % 4) - 1.0)
    await reward(
        client, *({"decision": one["id"], "reward": float(i % 4) - 1.0} for i, one in enumerate(made))
    )
    return sides


def test_points_are_joined_when_there_are_many(tmp_path: Path) -> None:
    """However they come, the points are those of all rows read at once."""
    store = Store(url_of(tmp_path))
    store.open(0)
    rng, history = random.Random(3), History(7)
    for end in (1001, 1100, 1299, 1301, 1700, 1701, 5000):
        begin = max(1000, history.points.end * history.points.width - 3)
        with store.writing() as connection:
            for period in sorted(rng.sample(range(begin, max(begin + 1, end)), min(40, max(1, end - begin)))):
                row = (7, period, rng.random() < 0.5, 2, 1, 0.5, 0.25)
                connection.exec_driver_sql(totals.ADD, row)
                connection.exec_driver_sql(totals.ADD_ARM, (7, period, period % 5, 2, 1, 0.5))
                connection.exec_driver_sql(totals.ADD_DRAWS, (7, period, 3, 9))
                connection.exec_driver_sql(
                    "insert or replace into outlooks values (7, ?, 1, 0.5, 0.25)", (period,)
                )
                history.add(period)
        points, details = history.read(store.query, end), history.details(store.query)
        fresh = History(7)
        assert fresh.read(store.query, end).sides == points.sides
        assert fresh.details(store.query) == details
        assert points.end - points.first <= 300
        assert points.end <= -(-end // points.width)
        assert sum(side.decided for side in points.sides.values()) == sum(
            row[0] for row in store.query("select decided from totals")
        )
        assert sum(dense for _, dense in details.draws.values()) == sum(
            row[0] for row in store.query("select dense from draw_totals")
        )
        assert set(details.loss.values()) <= {0.25}
    assert points.width == 16
    store.close()


def test_there_are_few_points_also_where_the_clock_was_ahead(tmp_path: Path) -> None:
    store = Store(url_of(tmp_path))
    store.open(0)
    with store.writing() as connection:
        for period in (1000, 1001, 40_000_000):  # of minutes: two now, and one in 76 years
            connection.exec_driver_sql(totals.ADD, (7, period, False, 2, 1, 0.5, 0.25))
    for until in (1000, 1002, 1003):
        points = History(7).read(store.query, until)
        assert 0 < points.end - points.first <= 301
        assert sum(side.decided for side in points.sides.values()) == 6
    store.close()


def test_the_latest_and_the_changes(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        experiment = app.service.find("colours")
        made = await decide(client, count=300)
        await reward(
            client, {"decision": made[0]["id"], "reward": 0.25}, {"decision": made[1]["id"], "cancel": True}
        )
        found = views.latest(app.service, experiment)
        assert len(found) == 20
        assert sorted({one.what for one in found}) == ["cancelled", "decision", "reward"]
        (paid,) = [one for one in found if one.what == "reward"]
        assert (paid.arm, paid.reward, paid.control) == (made[0]["arm"], 0.25, False)
        decided = [one.arm for one in found if one.what == "decision"]
        assert decided == [one["arm"] for one in made[:-19:-1]]
        await client.post(f"{URL}/arms", json={"arms": [f"arm {i}" for i in range(30)]})
        await client.post(f"{URL}/arms", json={"arms": ["blue"]})
        await client.patch(f"{URL}/arms/green", json={"paused": True})
        await client.delete(f"{URL}/arms/blue")
        await client.patch(URL, json={"policy": {"name": "UCB1"}, "control": 0.1, "default_reward": None})
        for i in range(3):
            await client.delete(f"{URL}/arms/arm%20{i}")
        await client.patch(URL, json={"paused": True})

    said = [
        "paused it",
        "removed 3 arms, 'arm 2' last",
        "set policy to UCB1, set default reward to none, set control to 0.1",
        "removed 'blue'",
        "paused 'green'",
        "added 'blue'",
        "added 30 arms",
        "created it: TSMA, 2 arms",
    ]

    async def again(client: httpx.AsyncClient, app: App) -> None:
        experiment = app.service.find("colours")
        found = views.changes(app.service, experiment)
        assert [one.what for one in found] == said
        assert {one.author for one in found} == {"local"}
        times = [one.time for one in found]
        assert times == sorted(times, reverse=True)
        assert views.changes(app.service, experiment, 2) == found[:2]
        assert views.overview(app.service)[0].state == "paused"

    async def both(client: httpx.AsyncClient, app: App) -> list[views.Changed]:
        await scenario(client, app)
        await again(client, app)
        return views.changes(app.service, app.service.find("colours"))

    before = play(tmp_path, both)

    async def later(client: httpx.AsyncClient, app: App) -> None:
        await again(client, app)
        assert views.changes(app.service, app.service.find("colours")) == before

    play(tmp_path, later)
