"""What is known, computed beside decisions, is what a bandit with the same rewards says."""

import asyncio
import math
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.served import COLOURS, check_memory, decide, play, reward
from thrifty.online import outlook
from thrifty.serve import looks, views
from thrifty.serve.app import App
from thrifty.serve.arms import read_policy
from thrifty.serve.clock import SECOND
from thrifty.serve.experiments import Experiment

URL = "/v1/experiments/colours"
ARMS = ["red", "green", "blue", "grey"]
LOW, HIGH = -1.0, 3.0


async def taught(client: httpx.AsyncClient, bandit: thrifty.Bandit, count: int = 60) -> None:
    """Rewards of chosen arms, for the service and for a bandit."""
    rng = np.random.default_rng(4)
    means = dict(zip(ARMS, (0.2, 0.5, 0.45, 0.4), strict=True))
    sent = []
    for i in range(count):
        (made,) = await decide(client, among=[ARMS[i % 3 if i % 10 else 3]])
        value = HIGH if rng.random() < means[made["arm"]] else LOW
        bandit.observe(made["arm"], value)
        sent.append({"decision": made["id"], "reward": value})
    assert set(await reward(client, *sent)) == {"counted"}


async def looked(app: App) -> tuple[Experiment, looks.Look]:
    experiment = app.service.find("colours")
    experiment.watch = looks.Watch()
    await app.service.upkeep.look_at(experiment)
    assert experiment.watch.look is not None
    return experiment, experiment.watch.look


CASES: list[dict[str, Any]] = [
    {"policy": {"name": "ThompsonSampling", "law": "beta"}, "prior": [1.0, 2.0]},
    {"policy": {"name": "TSMA", "alpha": 0.5}},
    {"policy": {"name": "ExpTS"}},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["policy"]["name"])
def test_the_outlook_is_that_of_a_bandit(tmp_path: Path, case: dict[str, Any]) -> None:
    """In the unit of the rewards, with a prior, and without an arm that is paused."""
    policy = read_policy(case["policy"])
    prior = case.get("prior")
    bandit = thrifty.Bandit(
        policy, ARMS, prior=None if prior is None else tuple(prior), reward_range=(LOW, HIGH), seed=1
    )

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | case | {"arms": ARMS, "reward_range": [LOW, HIGH]})
        await taught(client, bandit)
        for paused in ([], ["green"]):
            for arm in paused:
                await client.patch(f"{URL}/arms/{arm}", json={"paused": True})
                bandit.pause(arm)
            experiment, look = await looked(app)
            wanted = bandit.outlook()
            shown = [experiment.roster.name(arm) for arm in look.arms]
            assert shown == wanted["arm"]
            np.testing.assert_allclose(look.probabilities, wanted["probability"], rtol=1e-9)
            np.testing.assert_allclose(look.losses, wanted["loss"], rtol=1e-9)
            known = views.known(app.service, experiment)
            assert (known.arm, known.probability) == (shown[0], look.probabilities[0])
            assert known.sentence.startswith(f"'{shown[0]}' is best with probability ")
            assert known.sentence.endswith(" a decision.")
            noted = app.service.store.query("select arm, probability, loss from outlooks")
            assert [tuple(row) for row in noted] == [(look.arms[0], look.probabilities[0], look.losses[0])]
            with app.service.store.writing() as connection:
                connection.exec_driver_sql("delete from outlooks")
        check_memory(app)

    play(tmp_path, scenario)


def test_rewards_that_fade_count_for_less(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        fading = {"policy": {"name": "ThompsonSampling", "law": "beta"}, "half_life": 0.2, "prior": [0.5, 2]}
        await client.put(URL, json=COLOURS | fading)
        ids = [(await decide(client, among=["red"]))[0]["id"] for _ in range(50)]
        await reward(client, *({"decision": one, "reward": 1.0} for one in ids))
        experiment, first = await looked(app)
        await asyncio.sleep(0.5)
        _, then = await looked(app)
        assert first.arms[0] == then.arms[0] == experiment.roster.get("red")
        weight = experiment.tally.left(np.array([0]), then.at)[0][0]
        assert then.probabilities[0] < first.probabilities[0]
        # Beta(S + 1, n - S + 1) with the prior's 1 of 2, against Beta(2, 2).
        x = np.linspace(0.0, 1.0, 20_001)
        wanted = np.trapezoid(stats.beta.pdf(x, weight + 2.0, 2.0) * stats.beta.cdf(x, 2.0, 2.0), x)
        assert then.probabilities[0] == pytest.approx(wanted, abs=1e-4)

    play(tmp_path, scenario)


def test_a_policy_without_a_law_has_means_with_intervals(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"policy": {"name": "UCB1"}, "arms": 20})
        experiment = app.service.find("colours")
        await app.service.upkeep.look_at(experiment)  # nothing is known, and it stays so
        assert views.known(app.service, experiment).sentence == "Nothing is known yet: no reward has come."
        assert views.densities(app.service, experiment) == views.Densities([], [], [])
        for arm, clicks, pulls in (("3", 20, 50), ("7", 2, 30), ("9", 0, 10)):
            ids = [(await decide(client, among=[arm]))[0]["id"] for _ in range(pulls)]
            await reward(
                client, *({"decision": one, "reward": float(i < clicks)} for i, one in enumerate(ids))
            )
        await looked(app)
        found = views.densities(app.service, experiment)
        assert (found.x, found.arms, [one[0] for one in found.intervals]) == ([], [], ["3", "7", "9"])
        for (_, mean, low, high), (clicks, pulls) in zip(
            found.intervals, ((20, 50), (2, 30), (0, 10)), strict=True
        ):
            wanted = stats.binomtest(clicks, pulls).proportion_ci(method="wilson")
            assert (mean, low, high) == pytest.approx((clicks / pulls, wanted.low, wanted.high), abs=1e-12)
        assert views.known(app.service, experiment).sentence == (
            "'3' was pulled most: its mean reward is 0.4, probably 0.28 to 0.54."
        )
        assert app.service.store.query("select * from outlooks") == []

    play(tmp_path, scenario)


@pytest.mark.parametrize("law", ["gaussian", "beta"])
def test_densities_are_those_of_the_laws(law: str) -> None:
    """One arm is known a thousand times better than another: both are shown whole."""
    pulls, means = [100_000, 3, 400], [0.31, 0.5, 0.3]
    table = {"arm": range(3), "pulls": pulls, "mean": means}
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=law), 3, statistics=table)
    core: Any = bandit._player.core
    edges, found = outlook.densities(core, outlook.read_law(None, bandit.policy), np.arange(3))
    assert edges.size <= 27 * 3 + 40
    for i, (n, mean) in enumerate(zip(pulls, means, strict=True)):
        exact = (
            stats.norm(mean, n**-0.5) if law == "gaussian" else stats.beta(n * mean + 1, n * (1 - mean) + 1)
        )
        assert (found[i] * np.diff(edges)).sum() == pytest.approx(1.0, abs=2e-4)
        np.testing.assert_allclose(
            found[i] * np.diff(edges), -np.diff(exact.sf(edges)), rtol=1e-9, atol=1e-12
        )
        middle = 0.5 * (edges[1:] + edges[:-1])
        peak = exact.pdf(middle).max()
        assert np.abs(found[i] - exact.pdf(middle)).max() < 0.15 * peak  # a curve that looks like it


def test_whoever_serves_comes_first() -> None:
    """A look beside decisions yields to them, and they stay what they are. On Linux, a thread has a priority
    of its own."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    found, _ = asyncio.run(looks.beside(lambda: os.getpriority(os.PRIO_PROCESS, 0)))
    assert found == (max(before, looks.YIELDING) if sys.platform == "linux" else before)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_numbers_are_copied_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn between them: what they change then is in the copy or not, arm by arm."""
    monkeypatch.setattr(looks, "TOGETHER", 2)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"arms": ["a", "b", "c", "d", "e"]})
        await client.patch(f"{URL}/arms/b", json={"paused": True})
        experiment = app.service.find("colours")
        copying = asyncio.create_task(looks.copied(experiment, app.service.now()))
        for turn in range(2):
            for arm in (0, 4):
                experiment.close((0, turn), arm, 0.5, 1, added=True)
            await asyncio.sleep(0)
        numbers = await copying
        assert numbers.serials.tolist() == [0, 2, 3, 4]
        assert numbers.pulls.tolist() == [1, 0, 0, 2]
        assert numbers.sums.tolist() == [0.5, 0.0, 0.0, 1.0]

    play(tmp_path, scenario)


def test_looks_take_their_share_of_time_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    watch, look = looks.Watch(), looks.Look(0, [], 0, 0, [], [], [], [], [])
    assert watch.is_due(1)
    watch.saw(look, 1, took=0.0, others=3, period=1)
    watch._next = 0.0
    assert not watch.is_due(1)
    assert watch.is_due(2)
    for took, others, period, pause in ((0.001, 1, 60, 5.0), (0.001, 1, 1, 1.0), (0.2, 3, 1, 60.0)):
        watch.saw(look, 1, took, others, period)
        assert watch._next - 1000.0 == pytest.approx(pause)
        assert not watch.is_due(2)


def test_a_look_that_fails_is_rare_and_numbers_that_are_none_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store takes no NaN: the writer would try again for ever."""
    tried = []

    def fails(*_: Any) -> looks.Look:
        tried.append(time.monotonic())
        raise ValueError("a law of the operator's own")

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        made = await decide(client, count=4)
        monkeypatch.setattr(looks, "look", fails)
        await reward(client, *({"decision": one["id"], "reward": 0.5} for one in made))
        await asyncio.sleep(2.5)  # two turns

    play(tmp_path, scenario)
    assert len(tried) == 1
    for chance, loss in ((math.nan, 0.1), (0.5, math.nan), (0.5, math.inf)):
        none = looks.Look(0, [1], 2, 2, [chance], [loss], [], [], [])
        assert looks.note(1, 60 * SECOND, 60, none) == []


@pytest.mark.parametrize(
    ("chance", "said"),
    [(0.97, "97 %"), (0.0213, "2 %"), (0.004, "0.4 %"), (0.00042, "0.04 %"), (1e-7, "less than 0.01 %"),
     (0.994, "99.4 %"), (0.9995, "99.95 %"), (1.0, "more than 99.99 %")],
)  # fmt: skip
def test_probabilities_are_said_with_the_digits_that_matter(chance: float, said: str) -> None:
    assert views._percent(chance) == said


def test_a_service_adds_up_and_looks_by_itself(tmp_path: Path) -> None:
    """With periods of a second: curves have decisions, the loss, and what was drawn."""

    async def scenario(client: httpx.AsyncClient, app: App) -> views.Curves:
        await client.put(URL, json=COLOURS | {"prior": [0.5, 1.0]})
        experiment = app.service.find("colours")
        for _ in range(300):
            made = await decide(client, count=20)
            await reward(client, *({"decision": one["id"], "reward": 0.5} for one in made))
            found = await asyncio.to_thread(views.curves, app.service, experiment)
            if len(found.times) >= 3 and any(found.loss) and any(found.draws):
                return found
            await asyncio.sleep(0.1)
        raise AssertionError(f"nothing is added up: {found}")

    found = play(tmp_path, scenario, period=1)
    assert np.diff(found.times).tolist() == [1] * (len(found.times) - 1)
    assert found.period == 1
    assert all(made % 20 == 0 for made in found.decisions)  # by twenty, and so is what dense sampling draws
    assert sum(found.dense) % 40 == 0 < sum(found.dense)
