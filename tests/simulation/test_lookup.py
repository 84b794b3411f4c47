"""A policy of a result by its name: the label, the call that makes it, or the policy itself."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import Policy, described
from thrifty.simulation import lookup

ARRAYS = ("regret", "pulls", "draws", "evaluations")
POLICIES: list[Policy] = [
    thrifty.TSMA(),
    thrifty.TSMA(law="beta"),
    thrifty.Binarised(thrifty.TSMA(0.5, law="beta")),
    thrifty.UCB1(),
]


@dataclasses.dataclass(frozen=True)
class Mine(thrifty.IndexPolicy):
    """UCB with a bonus of one's own."""

    second: float = 1.0
    first: float = 2.0

    @staticmethod
    def index(arm: Any, t: int) -> float:
        return float(arm.mean)


@pytest.fixture(scope="module")
def result() -> thrifty.Result:
    return thrifty.simulate(POLICIES, thrifty.Bernoulli([0.9, 0.5, 0.4]), 50, runs=4, seed=2)


@pytest.mark.parametrize("p", range(len(POLICIES)))
def test_one_policy_by_any_name_is_what_it_is_alone(result: thrifty.Result, p: int, tmp_path: Path) -> None:
    policy = POLICIES[p]
    alone = thrifty.simulate(policy, thrifty.Bernoulli([0.9, 0.5, 0.4]), 50, runs=4, seed=2)
    alone.save(tmp_path / "alone.npz")
    result.save(tmp_path / "all.npz")
    for kept in (result, thrifty.Result.load(tmp_path / "all.npz")):
        for name in (policy.label, repr(policy), f"thrifty.{policy!r}", policy):
            one = kept[name]
            assert one.labels == (policy.label,)
            for array in ARRAYS:
                assert np.array_equal(getattr(one, array), getattr(alone, array))
            assert one.provenance["seconds"] == [result.provenance["seconds"][p]]
            one.save(tmp_path / "one.npz")
            assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "alone.npz").read_bytes()
            again = thrifty.Result.load(tmp_path / "one.npz")
            assert again.summary() == one.summary()
            assert json.loads((tmp_path / "one.json").read_text()) == one.provenance


def test_defaults_may_be_left_out(result: thrifty.Result) -> None:
    calls = {"TSMA()": 0, "TSMA(alpha=0.0)": 0, "TSMA( 0, law = 'beta')": 1, "UCB1()": 3}
    calls["Binarised(policy=TSMA(law='beta', alpha=0.5))"] = 2
    assert {call: result.find(call) for call in calls} == calls
    default = [described(thrifty.UCB1()), described(thrifty.Binarised())]
    assert lookup.find("Binarised()", ["a", "b"], default) == 1


def test_a_policy_of_ones_own_has_all_its_fields_in_any_order() -> None:
    """A file keeps the fields in the order of the alphabet, and its repr in that of the class."""
    table = json.loads(json.dumps(described(Mine()), sort_keys=True))
    tables = [described(thrifty.UCB1()), table, described(Mine(second=3.0))]
    for name in (Mine(), repr(Mine()), "Mine(first=2, second=1)", "tests.Mine(first=2, second=1)"):
        assert lookup.find(name, ["a", "b", "c"], tables) == 1
    with pytest.raises(InvalidValue, match=r"'b', 'c', or the call that makes one of them, got 'Mine\(\)'"):
        lookup.find("Mine()", ["a", "b", "c"], tables)


def test_what_is_known_of_nobody_is_refused_by_name(result: thrifty.Result) -> None:
    known = "policy must be one of 'TS-MA-0', 'TS-MA-0 (Beta)', "
    wrong = ("TSMA(0.25)", "TSMA", "", "TSMA(*x)", "TSMA(__import__('os'))", "(" * 5000, "UCB1(**{'x': 1})")
    wrong += ("UCB1(2.0)", "TSMA(0.0, 'gaussian', None, False, 'maximum', 7)")  # fields that nobody has
    for name in wrong:
        with pytest.raises(InvalidValue) as refused:
            result[name]
        assert str(refused.value).startswith(known)
        assert str(refused.value).endswith(f", got {name!r}")
    for thing in (0, None, ["UCB1"], slice(None)):
        with pytest.raises(InvalidType, match="named by its label, such as 'TS-MA-0', or by the call"):
            result[thing]  # type: ignore[index]
    with pytest.raises(TypeError, match="not iterable"):
        iter(result)  # type: ignore[call-overload]


def test_one_name_for_two_is_nobodys() -> None:
    tables = [described(thrifty.UCB1())] * 2
    with pytest.raises(InvalidValue, match="got 'a'"):
        lookup.find("a", ["a", "a"], tables)
    with pytest.raises(InvalidValue, match="got 'UCB1"):
        lookup.find("UCB1()", ["a", "a"], tables)


def test_comparisons_know_the_same_names(result: thrifty.Result) -> None:
    by_label, by_call = result.compare("TS-MA-0", "UCB1"), result.compare("TSMA()", thrifty.UCB1())
    assert (by_call.first, by_call.second) == ("TS-MA-0", "UCB1")
    assert str(by_call) == str(by_label)


def test_regret_at_the_horizon_and_mean_regret(result: thrifty.Result) -> None:
    assert result.final.shape == (4, 4)
    assert np.allclose(result.final, result.pulls @ result.settings.problem.gaps, rtol=1e-9)
    means = result.mean()
    assert means.shape == (4, result.checkpoints.size)
    assert means[1, 7] == np.mean([result.regret[1, run, 7] for run in range(4)])


def test_a_result_without_provenance_gets_none(result: thrifty.Result) -> None:
    assert dataclasses.replace(result, provenance={})["UCB1"].provenance == {}
