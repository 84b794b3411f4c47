"""A guessed horizon is doubled. Where arms are very many, some of them follow the new rule in each decision,
in the same order on every engine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY
from thrifty.policies import Policy
from thrifty.state import stale
from thrifty.state.stale import END, NEXT

ARMS = 40
POLICIES = [
    thrifty.TSMA(),
    thrifty.TSMA(0.5),
    thrifty.TSTD(0.5, phi=3),
    thrifty.KLUCBPlusPlus(),
    thrifty.MOSS(),
]


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten arms in a decision."""
    monkeypatch.setattr(stale, "AT_ONCE", 20)
    monkeypatch.setattr(stale, "FEW", 10)


def known(pulls: int, arms: int = ARMS) -> dict[str, Any]:
    """So many pulls of all arms together."""
    counts = np.full(arms, pulls // arms)
    counts[: pulls % arms] += 1
    return {"arm": range(arms), "pulls": counts, "mean": np.linspace(0.2, 0.8, arms)}


def about_to_double(policy: Policy, engine: str, seed: int = 1, arms: int = ARMS) -> thrifty.Bandit:
    """The horizon is reached by the next decision but one."""
    return thrifty.Bandit(policy, arms, seed=seed, statistics=known(1023, arms), engine=engine)


def state(bandit: thrifty.Bandit) -> Any:
    return bandit._player.core.memory.state  # type: ignore[union-attr]


def live(bandit: thrifty.Bandit, steps: int) -> list[Any]:
    """Decisions with rewards, arms that go and come."""
    script, chosen = np.random.default_rng(3), []
    for step in range(steps):
        chosen.append(bandit.select())
        if step % 3:
            bandit.update(chosen[-1], float(script.random() < 0.5))
        if step == 2:
            bandit.remove_arm(5)
            bandit.remove_arm(ARMS - 1)
            bandit.add_arm("new")
        if step == 4:
            chosen += bandit.rank(3, exclude=[1, 2])
    return chosen


@pytest.mark.parametrize("policy", [p for p in POLICIES if "tournament" in p.runs_on], ids=repr)
def test_tournament_and_scan_make_the_same_decisions_on_the_way(policy: Policy) -> None:
    bandits = [about_to_double(policy, engine) for engine in ("scan", "tournament")]
    first, second = (live(bandit, 12) for bandit in bandits)
    assert first == second
    assert bandits[0].horizon == 2048


@pytest.mark.parametrize("engine", ["scan", "tournament", "sleepers"])
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_after_some_decisions_every_arm_follows_the_new_rule(policy: Policy, engine: str) -> None:
    """Its parameters are those of the rule, and whoever was stale has a new index."""
    if engine not in policy.runs_on:
        return
    bandit = about_to_double(policy, engine)
    bandit.update(bandit.select(), 1.0)
    before = state(bandit).params.copy()
    followed = []
    for _ in range(4):
        bandit.update(bandit.select(), 1.0)
        followed.append(int(state(bandit).stale[NEXT]))
    assert followed == [10, 20, 30, 40]
    after = state(bandit)
    if after.params.size and getattr(policy, "alpha", 0.0) > 0.0:
        assert (after.params[:, 1] != before[:, 1]).all()
    again = after.params.copy()
    bandit._player.core.begin()
    np.testing.assert_array_equal(again, state(bandit).params)


@pytest.mark.parametrize("engine", ["scan", "tournament", "sleepers"])
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_snapshot_on_the_way_goes_on_as_the_bandit_does(
    policy: Policy, engine: str, tmp_path: Path
) -> None:
    """Also what follows from statistics by the rule of before."""
    if engine not in policy.runs_on:
        return
    bandit = about_to_double(policy, engine)
    for _ in range(3):
        bandit.update(bandit.select(), 1.0)
    assert state(bandit).stale[NEXT] < state(bandit).stale[END]
    bandit.save(tmp_path / "half.npz")
    loaded = thrifty.Bandit.load(tmp_path / "half.npz")
    np.testing.assert_array_equal(state(bandit).params, state(loaded).params)
    assert live(bandit, 10) == live(loaded, 10)


@pytest.mark.parametrize(
    ("policy", "runs"),
    [
        (thrifty.TSTD(0.5, phi=3), 600),
        pytest.param(thrifty.TSTD(0.5, phi=3), 3000, marks=pytest.mark.slow),
        pytest.param(thrifty.TSTD(0.9), 1500, marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_sleepers_decide_by_the_law_of_scan_on_the_way(policy: Policy, runs: int) -> None:
    """How often each arm is chosen in the first six decisions after the horizon was doubled, in many bandits:
    all of them have been through phase I, or none."""
    counts = np.zeros((2, ARMS))
    for row, engine in enumerate(("scan", "sleepers")):
        for seed in range(runs):
            bandit = about_to_double(policy, engine, seed)
            for _ in range(7):
                arm = bandit.select()
                bandit.update(arm, 0.5)
                counts[row, arm] += 1
    often = counts.sum(axis=0) >= 40
    table = np.column_stack([counts[:, often], counts[:, ~often].sum(axis=1)])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > UNLUCKY


def test_simulated_runs_double_as_bandits_do() -> None:
    """On tournament and scan, and in a bandit, the same pulls are made."""
    policy, means = thrifty.TSMA(0.5, anytime=True), np.arange(ARMS) % 3 / 2.0
    results = [
        thrifty.simulate(policy, thrifty.Bernoulli(np.ceil(means)), 2500, runs=1, seed=1, engine=engine)
        for engine in ("scan", "tournament")
    ]
    np.testing.assert_array_equal(results[0].pulls, results[1].pulls)
    bandit = thrifty.Bandit(policy, ARMS, seed=1, engine="tournament")
    for _ in range(2500):
        arm = bandit.select()
        bandit.update(arm, np.ceil(means)[arm])
    np.testing.assert_array_equal(results[0].pulls.ravel(), bandit.statistics()["pulls"])


def test_a_bandit_whose_arms_went_after_a_renewal_is_saved_and_loaded(tmp_path: Path) -> None:
    bandit = about_to_double(thrifty.TSMA(), "auto")
    for _ in range(2 + ARMS // 10):
        bandit.select()
    assert state(bandit).stale[NEXT] == state(bandit).stale[END] == ARMS  # it is over
    bandit.remove_arm(5)
    bandit.save(tmp_path / "bandit.npz")
    other = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert [other.select() for _ in range(20)] == [bandit.select() for _ in range(20)]
