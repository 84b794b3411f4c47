"""The grand comparison: four experiments that leave no policy out, and the page that shows them."""

import re
from pathlib import Path

import pytest

from thrifty.policies import POLICIES, Binarised, Policy
from thrifty.policies.catalogue import chosen
from thrifty.problems import REWARDS
from thrifty.simulation.spec import Spec

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "experiments").glob("comparison-*.toml"))
FORGET = ("DiscountedUCB", "SlidingWindowUCB", "DiscountedTS", "SlidingWindowTS", "Forgetting")
EACH = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def inside(policy: Policy) -> Policy:
    return policy.policy if isinstance(policy, Binarised) else policy


def can_play(policy: Policy, rewards: str) -> bool:
    """Whether it takes such rewards, if need be as coins."""
    return REWARDS.index(policy.rewards) >= REWARDS.index(rewards) or rewards == "unit"


@pytest.mark.release
@EACH
def test_every_policy_that_can_play_is_there(path: Path) -> None:
    spec = Spec.load(path)
    spec.plan()
    learning = [kind for kind in POLICIES.values() if kind().resolve(2, 2).first]  # from the rewards
    able = {k for k in learning if any(can_play(p, spec.problem.rewards) for p in chosen(k))}
    elsewhere = {POLICIES[name] for name in FORGET}
    assert {type(inside(policy)) for policy in spec.policies} == able - {Binarised} - elsewhere


@pytest.mark.parametrize("name", FORGET)
def test_what_forgets_is_compared_where_means_change(name: str) -> None:
    assert name in (ROOT / "docs" / "changing.md").read_text()


@EACH
def test_families_are_those_of_the_problem(path: Path) -> None:
    spec = Spec.load(path)
    for policy in map(inside, spec.policies):
        assert getattr(policy, "family", spec.problem.family) in {spec.problem.family, "bernoulli"}
        coins = getattr(policy, "law", "") == "beta" or policy.rewards == "binary"
        assert not coins or spec.problem.rewards in ("binary", "unit")


def test_coins_are_used_for_rewards_in_between_alone() -> None:
    assert len(FILES) == 4
    for path in FILES:
        spec = Spec.load(path)
        binarised = [policy for policy in spec.policies if isinstance(policy, Binarised)]
        assert bool(binarised) == (spec.problem.rewards == "unit")
        assert all(policy.policy.rewards == "binary" for policy in binarised)


@EACH
def test_the_page_has_a_row_for_every_policy_in_the_order_of_the_regret(path: Path) -> None:
    page = (ROOT / "docs" / "comparison.md").read_text()
    (table,) = re.findall(rf"^`experiments/{path.name}`\n\n((?:\|.*\n)+)", page, re.MULTILINE)
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert {name for name, *_ in rows} == {
        "asymptotic lower bound",
        *(policy.label for policy in Spec.load(path).policies),
    }
    means = [float(mean.replace(",", "")) for _, mean, *_ in rows]
    assert means == sorted(means)
