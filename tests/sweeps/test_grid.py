"""What a sweep consists of: the product of the lists in a spec, and every mistake by its key."""

import json
from pathlib import Path
from typing import Any

import pytest

import thrifty
from thrifty.errors import ThriftyError
from thrifty.policies import POLICIES, described, restored
from thrifty.simulation.spec import Spec
from thrifty.sweeps import chunks, estimate, grid
from thrifty.sweeps.chunks import Chunk

BERNOULLI = {"kind": "bernoulli", "means": [0.9, 0.8]}
GAUSSIAN = {"kind": "gaussian", "means": [0.5, 0.0], "sd": 2.0}
TABLE = {"horizon": 100, "problem": BERNOULLI, "policies": [{"name": "TSMA"}], "runs": 3}


def read(**changes: Any) -> list[grid.Case]:
    return grid.read(TABLE | changes)


def test_a_spec_without_lists_is_one_case() -> None:
    (case,) = read()
    assert case == ("bernoulli-T100", Spec.read(TABLE))


def test_cases_are_the_product_of_problems_and_horizons() -> None:
    cases = read(problem=[BERNOULLI, GAUSSIAN], horizon=[100, 1e3, 50])
    names = ["bernoulli-1-T100", "bernoulli-1-T1000", "bernoulli-1-T50"]
    assert [case.name for case in cases] == [*names, "gaussian-2-T100", "gaussian-2-T1000", "gaussian-2-T50"]
    problems = thrifty.Bernoulli([0.9, 0.8]), thrifty.Gaussian([0.5, 0.0], sd=2.0)
    expected = [
        Spec(horizon, problem, (thrifty.TSMA(),), runs=3)
        for problem in problems
        for horizon in (100, 1000, 50)
    ]
    assert [case.spec for case in cases] == expected


def test_policies_are_the_product_of_their_parameters() -> None:
    tables = [
        {"name": "TSMA", "alpha": [0.0, 0.5], "law": ["gaussian", "beta"]},
        {"name": "ThompsonSampling"},
        {"name": ["UCB1", "MOSS"]},
    ]
    (case,) = read(policies=tables)
    assert case.spec.policies == (
        thrifty.TSMA(alpha=0.0, law="gaussian"),
        thrifty.TSMA(alpha=0.0, law="beta"),
        thrifty.TSMA(alpha=0.5, law="gaussian"),
        thrifty.TSMA(alpha=0.5, law="beta"),
        thrifty.ThompsonSampling(),
        thrifty.UCB1(),
        thrifty.MOSS(),
    )


def test_a_policy_inside_a_policy_may_have_lists_too() -> None:
    inside = [{"name": "TSMA", "alpha": [0.0, 0.5], "law": "beta"}, {"name": "UCB1"}]
    (case,) = read(policies=[{"name": "Binarised", "policy": inside}])
    assert case.spec.policies == (
        thrifty.Binarised(thrifty.TSMA(alpha=0.0, law="beta")),
        thrifty.Binarised(thrifty.TSMA(alpha=0.5, law="beta")),
        thrifty.Binarised(thrifty.UCB1()),
    )


def test_the_other_keys_are_those_of_every_case() -> None:
    cases = read(horizon=[100, 200], seed=7, prior=[0.5, 2], checkpoints=[10, 50], delay=3, engine="scan")
    for case in cases:
        spec = case.spec
        assert (spec.seed, spec.prior, spec.checkpoints, spec.engine) == (7, (0.5, 2.0), (10, 50), "scan")
        assert spec.delay == thrifty.ConstantDelay(3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": []}, "horizon must have at least one value, got none"),
        ({"horizon": [100, 0]}, "horizon[1] must be at least 1, got 0"),
        ({"horizon": [100, [200]]}, "horizon[1] must be an integer, got [200]"),
        ({"horizon": [100, 1e2]}, "horizon[1] is the same as horizon[0], 100"),
        ({"horizon": "x"}, "horizon must be an integer, got 'x'"),
        ({"problem": []}, "problem must have at least one value, got none"),
        ({"problem": [BERNOULLI, {"kind": "gaussian"}]}, "problem[1].means is missing"),
        ({"problem": [BERNOULLI, 3]}, "problem[1] must be a table, got 3"),
        ({"problem": [BERNOULLI, GAUSSIAN, BERNOULLI]},
         "problem[2] is the same as problem[0], Bernoulli(means=(0.9, 0.8))"),
        ({"problem": [BERNOULLI | {"sd": 1.0}]}, "problem[0].sd is unknown; allowed: kind, means"),
        ({"problem": {"kind": "gaussian"}}, "problem.means is missing"),
        ({"policies": []}, "policies must have at least one policy, got none"),
        ({"policies": {"name": "TSMA"}}, "policies must be tables headed [[policies]], got {'name': 'TSMA'}"),
        ({"policies": ["TSMA"]}, "policies[0] must be a table, got 'TSMA'"),
        ({"policies": [{"name": "UCB1"}, {"name": "TSMA", "alpha": []}]},
         "policies[1].alpha must have at least one value, got none"),
        ({"policies": [{"name": "Binarised", "policy": {"name": "TSMA", "phi": []}}]},
         "policies[0].policy.phi must have at least one value, got none"),
        ({"policies": [{"name": "UCB1"}, {"name": "TSMA", "alpha": [0.0, 0.5, 2.0]}, {"name": "MOSS"}]},
         "policies[1].alpha must be in [0, 1], got 2.0"),
        ({"policies": [{"name": "TSMA", "alpha": [0.0, 0.5]}, {"name": "UCB1", "alfa": 1}]},
         "policies[1].alfa is unknown; allowed: name"),
        ({"policies": [{"name": "TSMA", "alpha": [0.5, 0.0, 0.5]}]},
         f"policies[0] has {thrifty.TSMA(alpha=0.5)!r}, which policies[0] has too"),
        ({"policies": [{"name": "TSMA", "alpha": [0.5, 1.0]}, {"name": "UCB1"},
                       {"name": "TSMA", "alpha": 1}]},
         f"policies[2] has {thrifty.TSMA(alpha=1.0)!r}, which policies[0] has too"),
        ({"runs": [3, 4]}, "runs must be an integer, got [3, 4]"),
        ({"horizons": [100]}, "horizons is unknown; allowed: horizon, problem, policies, runs, seed, prior, "
                              "engine, checkpoints, delay, control, control_arm, floor, burn_in "
                              "(did you mean horizon?)"),
        ({"horizon": [100, 20], "checkpoints": [50]},
         "checkpoints must increase and not exceed the horizon 20, got (50,)"),
        ({"horizon": [100, 1]}, "horizon must be at least the number of arms, 2, unless a prior replaces the "
                                "initial pulls, got 1"),
    ],
)  # fmt: skip
def test_mistakes_by_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ThriftyError) as caught:
        read(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize("key", ["horizon", "problem", "policies"])
def test_a_missing_key(key: str) -> None:
    with pytest.raises(thrifty.FileError, match=f"^{key} is missing$"):
        grid.read({name: value for name, value in TABLE.items() if name != key})


def test_a_file_is_named_by_its_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("horizon = [100, 100]\n")
    with pytest.raises(thrifty.InvalidValue) as caught:
        grid.load(path)
    assert str(caught.value) == f"{path}: horizon[1] is the same as horizon[0], 100"


# What determines the numbers ------------------------------------------------------------------------------

FULL = {
    "horizon": [100, 200],
    "problem": [BERNOULLI, GAUSSIAN],
    "policies": [{"name": "TSMA", "alpha": [0.0, 0.5]}],
    "runs": 3,
    "seed": 1,
    "prior": [0.5, 1.0],
    "checkpoints": [10],
    "engine": "scan",
    "delay": 3,
}


@pytest.mark.parametrize(
    "changes",
    [
        {"horizon": [100, 201]},
        {"horizon": [200, 100]},
        {"problem": [BERNOULLI, GAUSSIAN | {"sd": 1.0}]},
        {"problem": [GAUSSIAN, BERNOULLI]},
        {"policies": [{"name": "TSMA", "alpha": [0.0, 0.25]}]},
        {"policies": [{"name": "TSMA", "alpha": [0.0, 0.5]}, {"name": "ThompsonSampling"}]},
        {"runs": 4},
        {"seed": 2},
        {"prior": [0.5, 2.0]},
        {"checkpoints": [11]},
        {"engine": "tournament"},
        {"delay": {"kind": "uniform", "low": 3, "high": 3}},
    ],
    ids=lambda changes: "".join(changes),
)
def test_what_changes_the_numbers_changes_the_text(changes: dict[str, Any]) -> None:
    assert grid.written(grid.read(FULL)) != grid.written(grid.read(FULL | changes))


def test_what_is_only_written_in_another_way_does_not_change_the_text() -> None:
    other = {
        "delay": {"kind": "constant", "rounds": 3},
        "checkpoints": [1e1],
        "horizon": [1e2, 2e2],
        "policies": [{"alpha": [0, 0.5], "name": "TSMA", "law": "gaussian"}],
    }
    assert grid.written(grid.read(FULL)) == grid.written(grid.read(FULL | other))
    assert [case["horizon"] for case in json.loads(grid.written(grid.read(FULL)))["cases"]] == [100, 200] * 2


def test_every_policy_can_be_written() -> None:
    for kind in POLICIES.values():
        (case,) = read(policies=[described(kind())])
        (written,) = json.loads(grid.written([case]))["cases"]
        assert [restored(table) for table in written["policies"]] == [kind()]


# How the work is cut --------------------------------------------------------------------------------------


def runs_of(pieces: list[Chunk]) -> list[tuple[int, int, int]]:
    return [(chunk.case, chunk.policy, run) for chunk in pieces for run in chunk.runs]


@pytest.mark.parametrize("seconds", [1e-9, 3e-4, 1.0, 1e9, 1e99])
def test_every_run_of_every_policy_is_in_one_chunk(seconds: float) -> None:
    policies = [{"name": "TSMA", "alpha": [0.0, 0.5]}, {"name": "ThompsonSampling"}]
    cases = read(horizon=[100, 5000], problem=[BERNOULLI, GAUSSIAN], policies=policies, runs=7)
    pieces = runs_of(chunks.cut(cases, chunks.whole(cases), seconds))
    assert sorted(pieces) == [(c, p, run) for c in range(4) for p in range(3) for run in range(7)]


def test_chunks_are_of_so_many_seconds_or_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each policy, as it was measured, and also of what is left of a sweep that was cut in another way."""
    cases = read(runs=1000, policies=[{"name": "TSMA", "alpha": [0.0, 0.5]}, {"name": "UCB1"}])
    monkeypatch.setattr(estimate, "seconds", lambda spec: (20.0, 40_000.0, 0.0))
    for seconds, expected in ((1.0, [{50}, {1}, {1000}]), (90.0, [{1000}, {2}, {1000}])):
        pieces = chunks.cut(cases, chunks.whole(cases), seconds)
        assert [{len(chunk.runs) for chunk in pieces if chunk.policy == p} for p in range(3)] == expected
        assert pieces == sorted(pieces, key=lambda chunk: (chunk.first, chunk.policy))
    left = chunks.missing(
        chunks.whole(cases), [Chunk(0, 0, 0, 930), Chunk(0, 1, 3, 1000), Chunk(0, 2, 1, 999)]
    )
    assert chunks.cut(cases, left, 1.0) == [
        *(Chunk(0, 1, 0, 1), Chunk(0, 2, 0, 1), Chunk(0, 1, 1, 2), Chunk(0, 1, 2, 3)),
        *(Chunk(0, 0, 930, 980), Chunk(0, 0, 980, 1000), Chunk(0, 2, 999, 1000)),
    ]


def test_chunks_of_slow_policies_are_as_long_as_others() -> None:
    """But for a factor of twenty, by which a busy machine may be wrong."""
    policies = [{"name": "ThompsonSampling"}, {"name": "NPTS"}]
    problem = {"kind": "beta", "a": [2.0] * 10, "b": [3.0] * 10}
    cases, seconds = read(runs=5000, horizon=3000, problem=problem, policies=policies), 0.05
    for chunk in chunks.cut(cases, chunks.whole(cases), seconds)[:2]:
        outcomes = chunks.play(cases[0].spec, chunk)
        taken = [outcome.seconds for outcome in outcomes]
        assert seconds / 20.0 < sum(taken) < max(20.0 * seconds, 2.0 * max(taken))


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), "1"])
def test_chunks_of_no_time(seconds: Any) -> None:
    with pytest.raises(ThriftyError, match=r"^chunk must be"):
        chunks.cut(read(), [], seconds)


def test_what_is_missing_of_chunks_cut_in_another_way() -> None:
    everything = [Chunk(0, 0, 0, 10), Chunk(0, 1, 0, 10), Chunk(1, 0, 0, 4)]
    finished = [Chunk(0, 0, 2, 4), Chunk(0, 0, 7, 8), Chunk(0, 1, 0, 10), Chunk(1, 0, 3, 9)]
    left = [Chunk(0, 0, 0, 2), Chunk(0, 0, 4, 7), Chunk(0, 0, 8, 10), Chunk(1, 0, 0, 3)]
    assert chunks.missing(everything, finished) == left
    assert chunks.missing(everything, []) == everything
    assert chunks.missing(everything, everything) == []
