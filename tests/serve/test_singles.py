"""Policies that need single rewards: coins come from decisions' ids, and the rest from the log."""

import random
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.support.served import COLOURS, check_memory, decide, kept, play, reward
from thrifty.serve import singles
from thrifty.serve.app import App
from thrifty.serve.arms import Arms, read_policy
from thrifty.serve.fold import Tally
from thrifty.serve.messages import Definition
from thrifty.serve.singles import coin, rounded

URL = "/v1/experiments/colours"
POLICIES: list[dict[str, Any]] = [
    {"name": "Binarised", "policy": {"name": "ThompsonSampling", "law": "beta"}},
    {"name": "Binarised", "policy": {"name": "NPTS"}},
    {"name": "MultinomialTS", "levels": 4},
    {"name": "NPTS"},
    {"name": "UCB1Tuned"},
    {"name": "UCBV"},
]


async def some(client: httpx.AsyncClient, count: int) -> None:
    made = await decide(client, count=count)
    sent = [{"decision": one["id"], "reward": i % 7 - 2.0} for i, one in enumerate(made)]
    await reward(client, *sent[: -count // 5])


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_what_is_in_memory_is_there_after_a_restart(tmp_path: Path, policy: dict[str, Any]) -> None:
    """Number by number, with a range that is not [0, 1], arms that come and go, and a restart."""

    async def first(client: httpx.AsyncClient, app: App) -> None:
        answer = await client.put(URL, json=COLOURS | {"policy": policy, "reward_range": [-2, 4]})
        assert answer.status_code == 201, answer.text
        await some(client, 60)
        await client.post(f"{URL}/arms", json={"arms": ["blue", "black"]})
        await some(client, 40)
        await client.delete(f"{URL}/arms/red")
        await some(client, 40)
        check_memory(app)

    async def second(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)
        await some(client, 40)
        check_memory(app)

    play(tmp_path, first)
    play(tmp_path, second)


@pytest.mark.parametrize("policy", POLICIES[:4], ids=str)
def test_another_policy_gets_the_rewards_of_before(
    tmp_path: Path, policy: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the log, while more of them come."""

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"reward_range": [-2, 4]})
        await some(client, 300)
        fetched = singles.fetched

        async def slowly(*asked: Any) -> Any:
            await some(client, 100)
            found = await fetched(*asked)
            await some(client, 100)
            return found

        monkeypatch.setattr(singles, "fetched", slowly)
        answer = await client.patch(URL, json={"policy": policy})
        assert answer.status_code == 200, answer.text
        check_memory(app)
        await some(client, 50)
        check_memory(app)
        assert (await client.patch(URL, json={"policy": {"name": "UCB1"}})).status_code == 200
        check_memory(app)

    play(tmp_path, scenario)


def test_the_order_of_rewards_does_not_matter() -> None:
    rng = random.Random(5)
    rows = [(rng.randrange(3), rng.randrange(8) / 7, rng.getrandbits(63), i) for i in range(300)]
    tally = Tally()
    tally.reach(3)
    for policy in POLICIES[:4]:
        found = []
        for _ in range(5):
            rng.shuffle(rows)
            given = singles.columns(rows)
            arms = Arms(
                read_policy(policy), Definition(policy={}, arms=3), np.arange(3), None, (), tally, 0, given
            )
            found.append((kept(arms), *(column.tolist() for column in arms.statistics()[1:2])))
            np.testing.assert_allclose(arms.statistics()[2].sum(), sum(row[1] for row in rows), rtol=0.3)
        assert all(one == found[0] for one in found)


def test_a_coin_is_fair_and_that_of_its_decision() -> None:
    """The mean of rounded rewards is that of the rewards: n = 20,000, within 4.5 standard errors."""
    keys = [(start, number) for start in (1, 2**63 - 1) for number in range(10_000)]
    coins = np.array([coin(key) for key in keys])
    assert coins.tolist() == [coin(key) for key in keys]
    assert 0.0 <= coins.min() < 0.001 < 0.999 < coins.max() < 1.0
    assert abs(coins.mean() - 0.5) < 4.5 * np.sqrt(1 / 12 / coins.size)
    for grid, unit in ((1, 0.3), (4, 0.3), (10, 0.77)):
        made = np.array([rounded(unit, grid, one) for one in coins])
        assert set(made * grid) == {np.floor(unit * grid), np.ceil(unit * grid)}
        assert abs(made.mean() - unit) < 4.5 * 0.5 / grid / np.sqrt(coins.size)
    assert [rounded(unit, 4, one) for unit in (0.0, 0.25, 1.0) for one in (0.0, 0.999)] == [
        0.0, 0.0, 0.25, 0.25, 1.0, 1.0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "more", "said"),
    [
        ({"name": "DMED"}, {}, "follows from the set of rewards, whatever their order"),
        ({"name": "UCBImproved"}, {"horizon": 100}, "follows from the set of rewards"),
        ({"name": "DirichletSampling"}, {}, "follows from the set of rewards"),
        ({"name": "SlidingWindowUCB"}, {}, "follows from the set of rewards"),
        ({"name": "DiscountedTS"}, {}, "follows from the set of rewards"),
        ({"name": "Forgetting"}, {}, "half_life is in seconds"),
        ({"name": "NPTS"}, {"half_life": 60.0}, "half_life must be null"),
        ({"name": "Binarised"}, {"half_life": 60.0}, "half_life must be null"),
    ],
    ids=str,
)
def test_who_cannot_be_folded_is_refused(
    tmp_path: Path, policy: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        answer = await client.put(URL, json=COLOURS | {"policy": policy} | more)
        assert answer.status_code == 422
        assert said in answer.json()["detail"]

    play(tmp_path, scenario)
