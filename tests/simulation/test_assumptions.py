"""Notes where a problem's rewards are not what a policy assumes: when, what they say, and where."""

from itertools import chain
from pathlib import Path

import pytest

import thrifty
from tests.support.own import Sampler
from thrifty.policies import POLICIES, Policy
from thrifty.policies.catalogue import chosen
from thrifty.problems import REWARDS, Problem
from thrifty.simulation import assumptions

COINS = thrifty.Bernoulli([0.9, 0.1])
COUNTS = thrifty.Poisson([2.0, 1.0])
WAITS = thrifty.Exponential([2.0, 1.0])
TS = thrifty.ThompsonSampling


def normal(sd: float) -> thrifty.Gaussian:
    return thrifty.Gaussian([0.5, 0.0], sd=sd)


@pytest.mark.parametrize(
    ("policy", "problem", "text"),
    [
        (TS(), COINS, None),
        (TS(), thrifty.Beta([2.0, 1.0], [1.0, 1.0]), None),
        (TS(), normal(1.0), None),
        (TS(), normal(0.1), None),
        (TS(), normal(5.0), "in [0, 1] or of variance at most 1, these have 25, and nothing that is proven "
                            "holds; divide the rewards by 5"),
        (thrifty.TSMA(), COUNTS, "in [0, 1] or of variance at most 1, these are poisson, and nothing that is "
                                 "proven holds; take a law, a family or a policy for such rewards"),
        (thrifty.KLUCB(family="gaussian"), normal(2.0), "divide the rewards by 2"),
        (thrifty.AdaUCB(), COINS, None),
        (thrifty.AdaUCB(variance=0.01), COINS, "divide the rewards by 5, or set variance = 0.25"),
        (thrifty.AdaUCB(variance=0.01), thrifty.ClippedGaussian([0.5, 0.4], sd=0.1), None),
        (thrifty.MOTS(), normal(1.0), "of variance at most 0.25, these have 1, and nothing that is proven "
                                      "holds; divide the rewards by 2, or set variance = 1"),
        (thrifty.MaillardSampling(variance=1.0), normal(1.0), None),
        (TS("gamma"), COUNTS, None),
        (TS("gamma"), COINS, None),
        (TS("gamma"), WAITS, "that are Poisson or in [0, 1], these are exponential"),
        (TS("inverse-gamma"), WAITS, None),
        (thrifty.IMED("exponential"), COUNTS, "that are exponential, these are poisson"),
        (thrifty.IMED("bounded"), COINS, None),
        (thrifty.DirichletSampling("unknown-bound"), WAITS, "that are bounded, these are exponential"),
        (thrifty.DirichletSampling("quantile"), WAITS, None),
        (thrifty.DirichletSampling("quantile"), normal(1.0), "that are bounded below, these are gaussian"),
        (thrifty.DirichletSampling("robust"), normal(9.0), None),
    ],
)  # fmt: skip
def test_the_note(policy: Policy, problem: Problem, text: str | None) -> None:
    notes = assumptions.notes([("label", policy)], problem)
    assert len(notes) == (text is not None)
    for note in notes:
        assert note.startswith("label: made for rewards ")
        assert str(text) in note


def test_every_policy_has_words_and_its_own_family_is_no_surprise() -> None:
    problems = (COINS, COUNTS, WAITS, normal(0.5))
    for policy in chain.from_iterable(chosen(kind) for kind in POLICIES.values()):
        assert policy.assumes.kind in {"", *assumptions.MADE_FOR}
        fine = [p for p in problems if REWARDS.index(p.rewards) <= REWARDS.index(policy.rewards)]
        assert any(not assumptions.notes([("", policy)], problem) for problem in fine)


def test_one_note_for_all_who_assume_the_same() -> None:
    policies = [("a", TS()), ("b", thrifty.UCB1()), ("c", thrifty.AdaUCB()), ("d", thrifty.EpsilonTS())]
    first, second = assumptions.notes(policies, normal(5.0))
    assert first.startswith("a, d: made for")
    assert second.startswith("c: made for")


def test_summary_figure_and_file_have_it(tmp_path: Path) -> None:
    policies = [TS(), Sampler(), thrifty.DirichletSampling("robust")]
    result = thrifty.simulate(policies, normal(5.0), 20, runs=2)
    (note,) = result.notes
    assert note.startswith("TS (Gaussian): made for")
    loaded = thrifty.Result.load(result.save(tmp_path / "wide.npz"))
    for one in (result, loaded):
        assert " ".join(str(one.summary()).splitlines()[-2:]) == note
        assert one.plot().get_supxlabel().replace("\n", " ") == note
    fine = thrifty.simulate(policies, normal(1.0), 20, runs=2)
    assert fine.notes == fine.summary().notes == ()
    assert fine.plot().get_supxlabel() == ""
