"""Each verdict can go each way, on results that are written down and not simulated."""

import dataclasses
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support.world import changed, redrawn, timed, world
from thrifty.paper.claim import DIRECTION, FAILS, HOLDS, UNTESTABLE, VERDICTS, Claim, Results
from thrifty.paper.claims import BESIDE, COMPUTED, SIMULATED, claims
from thrifty.paper.claims.grid import figure3_setting, one_setting_for_both
from thrifty.paper.experiments import GRID_SIZES, experiments
from thrifty.paper.store import gather
from thrifty.policies import TSMA, TSTD, EpsilonTS, ExpTSPlus, KLUCBPlusPlus, Policy, ThompsonSampling
from thrifty.simulation.result import Result
from thrifty.theory import epsilon_ts_sharp

KEYS = ["id", "place", "claim", "paper", "measured", "error", "runs", "settings", "verdict"]
BATCH = TSMA(1.0, sampling="batch")
Change = Callable[[Result], Result]


@pytest.fixture(scope="module")
def truth() -> dict[str, Result]:
    return world()


@pytest.fixture(scope="module")
def verdicts(truth: dict[str, Result]) -> dict[str, str]:
    return {one.id: one.verdict for one in claims(truth)}


def decide(results: Results, name: str) -> Claim:
    """One claim, from the results of its group and those beside it alone."""
    for beginning, them in SIMULATED.items():
        starts = (beginning, *BESIDE.get(beginning, ()))
        group = {key: one for key, one in results.items() if key.startswith(starts)}
        if any(key.startswith(beginning) for key in group):
            for one in them:
                if (claim := one(group)).id == name:
                    return claim
    raise AssertionError(name)


def scale(policy: Policy, **factors: float) -> Change:
    return lambda result: changed(result, policy, **factors)


def redraw(policy: Policy, optimal: float, others: float) -> Change:
    return lambda result: redrawn(result, policy, optimal=optimal, others=others)


def forget(result: Result) -> Result:
    return dataclasses.replace(result, provenance={})


def stuck(result: Result) -> Result:
    pulls = np.zeros_like(result.pulls)
    pulls[:, :, -1] = result.settings.horizon
    return dataclasses.replace(result, pulls=pulls)


def linear(result: Result) -> Result:
    return dataclasses.replace(
        result, regret=result.regret[:, :, -1:] * result.checkpoints / result.checkpoints[-1]
    )


def steeper(power: float) -> Change:
    """Regret that grows faster with the size of the problem, K T."""
    return lambda result: dataclasses.replace(
        result, regret=result.regret * (result.settings.problem.gaps.size * result.settings.horizon) ** power
    )


def slower(policy: Policy) -> Change:
    """Time per round proportional to K T for one policy, and constant for the others."""
    return lambda result: timed(
        result,
        lambda one: (
            1e-9 * result.settings.problem.gaps.size * result.settings.horizon if one == policy else 1e-6
        ),
    )


def noisy(policy: Policy, size: float) -> Change:
    """Regret or draws of the same mean, but so different from run to run that nothing about it is clear."""

    def change(result: Result) -> Result:
        row = result.labels.index(policy.label)
        regret, draws = result.regret.copy(), result.draws.astype(float)
        runs = result.settings.runs
        wave = 1.0 + size * np.resize([1.0, -1.0], runs)
        regret[row] *= wave[:, None]
        draws[row] *= wave[:, None]
        return dataclasses.replace(result, regret=regret, draws=draws)

    return change


def test_in_the_world_of_the_paper_its_claims_hold(verdicts: dict[str, str]) -> None:
    exceptions = {
        "ts-td-regret-order": UNTESTABLE,  # the bound says nothing at these horizons
        "ts-td-suboptimal-draws-negligible": DIRECTION,  # with the paper's 0.25e7 draws, only for larger T
        "vanilla-worst-case-K": UNTESTABLE,  # whatever the data
        "ts-ma-ts-td-worst-case-K": UNTESTABLE,
        "ts-td-proof": FAILS,  # computed
        "savings-cost": FAILS,
        "epsilon-ts-guarantee": FAILS,  # it has one
    }
    assert {name: verdict for name, verdict in verdicts.items() if verdict != HOLDS} == exceptions


CASES: list[tuple[str, str, Change, str]] = [
    ("ts-td-0-is-vanilla", "figure1", scale(TSTD(0.0), regret=1.0001), FAILS),
    ("epsilon-1-is-ts", "figure1", scale(EpsilonTS("beta", 1.0), regret=1.1), FAILS),
    ("order-of-figure-1", "figure1", scale(TSMA(0.0), regret=0.1), FAILS),
    ("order-of-figure-1", "figure1", noisy(ExpTSPlus(), 50.0), DIRECTION),
    ("law-over-schedule", "figure1", scale(TSMA(0.8, "beta"), regret=10.0), FAILS),
    ("law-over-schedule", "figure1", noisy(TSTD(0.8), 5.0), DIRECTION),
    ("little-reward-given-up", "figure1", scale(TSTD(1.0), regret=1.5), DIRECTION),
    ("little-reward-given-up", "figure1", scale(TSTD(1.0), regret=3.0), FAILS),
    ("ts-td-0-basically-vanilla", "draws-m1", scale(TSTD(0.0), draws=0.99), FAILS),
    ("ts-td-0-draws", "draws-m5", scale(TSTD(0.0), draws=0.9), FAILS),
    ("ts-td-0.8-draws-m1", "draws-m1", scale(TSTD(0.8), draws=1.3), FAILS),
    ("ts-td-0.8-draws-m10", "draws-m10", scale(TSTD(0.8), draws=1.3), FAILS),
    ("ts-td-draws-grow-with-m", "draws-m5", scale(TSTD(0.9), draws=0.3), DIRECTION),
    ("ts-td-draws-grow-with-m", "draws-m10", scale(TSTD(0.9), draws=0.1), FAILS),
    ("ts-td-two-phases", "draws-m1", redraw(TSTD(0.9), 1e6, 8e5), DIRECTION),
    ("ts-td-two-phases", "draws-m1", redraw(TSTD(0.9), 8e5, 9e5), FAILS),
    ("alpha-trades-ts-td", "draws-m1", scale(TSTD(0.9), regret=2.0), DIRECTION),
    ("alpha-trades-ts-td", "draws-m1", scale(TSTD(1.0), draws=20.0), FAILS),
    ("ts-ma-over-90-percent", "draws-m5", redraw(TSMA(0.9), 1.7e5, 1e4), DIRECTION),
    ("ts-ma-over-90-percent", "draws-m5", redraw(TSMA(0.9), 1e5, 3e4), FAILS),
    ("ts-ma-0.8-share-m1", "draws-m1", redraw(TSMA(0.8), 9e5, 1e5 / 19), DIRECTION),  # as at another T
    ("ts-ma-0.8-share-m10", "draws-m1", redraw(TSMA(0.8), 9e5, 1e5 / 19), DIRECTION),
    ("ts-ma-0.8-share-m10", "draws-m10", redraw(TSMA(0.8), 9e4, 1e4), DIRECTION),
    ("ts-ma-share-grows-with-m", "draws-m5", redraw(TSMA(0.8), 1e5, 3e4), DIRECTION),
    ("ts-ma-share-grows-with-m", "draws-m10", redraw(TSMA(0.8), 5e4, 5e4), FAILS),
    ("alpha-trades-ts-ma", "draws-m1", scale(TSMA(0.9), regret=0.9), DIRECTION),
    ("alpha-trades-ts-ma", "draws-m1", scale(TSMA(1.0), regret=0.1), FAILS),
    ("vanilla-share", "draws-m5", redraw(ThompsonSampling(), 2.0, 1.0), FAILS),
    ("epsilon-ignores-m", "draws-m10", scale(EpsilonTS(), draws=1.1), FAILS),
    ("vanilla-draws", "arms-K100", scale(ThompsonSampling(), draws=1.01), FAILS),
    ("epsilon-draws", "arms-K100", scale(EpsilonTS(), draws=1.03), FAILS),
    ("ts-ma-draws", "arms-K30", scale(TSMA(0.8), draws=2.0), FAILS),
    ("ts-ma-draws", "arms-K30", scale(TSMA(0.8), evaluations=2.0), FAILS),
    ("ts-ma-batch-draws", "arms-K30", scale(BATCH, draws=2.0), FAILS),
    ("ts-ma-draws-free-of-arms", "arms-K1000", scale(BATCH, draws=2.0), FAILS),
    ("batch-pays", "arms-K100", scale(BATCH, draws=0.5), FAILS),
    ("ts-td-many-arms", "arms-K1000", scale(TSTD(0.8), draws=10.0), DIRECTION),
    ("ts-td-many-arms", "arms-K1000", scale(TSTD(0.8), draws=1e4), FAILS),
    ("ts-td-0-growth-of-draws", "growth-T1e6", redraw(TSTD(0.0), 1e6, 1e6), UNTESTABLE),
    ("ts-td-1-growth-of-draws", "growth-T1e6", scale(TSTD(1.0), draws=1.5), DIRECTION),
    ("ts-td-1-growth-of-draws", "growth-T1e6", scale(TSTD(1.0), draws=50.0), FAILS),
    ("ts-ma-regret-order", "growth-T1e6", scale(TSMA(0.0), regret=20.0), FAILS),
    ("steady-with-volume", "growth-T1e6", slower(TSMA(0.8)), FAILS),
    ("steady-with-volume", "growth-T1e6", forget, UNTESTABLE),
    ("vanilla-worst-case-T", "hard-", steeper(0.2), FAILS),
    ("vanilla-worst-case-T", "hard-", steeper(0.07), DIRECTION),
    ("vanilla-worst-case-K", "hard-", steeper(0.5), UNTESTABLE),
    ("ts-ma-ts-td-worst-case-T", "hard-", steeper(0.3), FAILS),
    ("any-bounded-reward", "bounded-beta", scale(TSMA(0.8), regret=3.0), DIRECTION),
    ("any-bounded-reward", "bounded-discrete", linear, FAILS),
    ("any-bounded-reward", "bounded-clipped-gaussian", stuck, FAILS),
    ("steady-with-arms", "cost-", slower(TSTD(0.8)), DIRECTION),
    ("steady-with-arms", "cost-", slower(TSMA(0.8)), FAILS),
    ("steady-with-arms", "cost-committed-K1e5", forget, UNTESTABLE),
]


@pytest.mark.parametrize(
    ("name", "where", "change", "verdict"), CASES, ids=[f"{c[0]}: {c[3]}" for c in CASES]
)
def test_a_claim_follows_the_data(
    truth: dict[str, Result], name: str, where: str, change: Change, verdict: str
) -> None:
    results = {key: change(result) if key.startswith(where) else result for key, result in truth.items()}
    assert decide(results, name).verdict == verdict


def test_negligible_draws_hold_when_they_are(truth: dict[str, Result]) -> None:
    result = truth["draws-m1"]
    for alpha in (0.8, 0.9, 1.0):
        result = redrawn(result, TSTD(alpha), optimal=1e6, others=1e3)
    assert decide(truth | {"draws-m1": result}, "ts-td-suboptimal-draws-negligible").verdict == HOLDS


def test_negligible_draws_fail_if_the_share_does_not_fall_with_the_horizon(truth: dict[str, Result]) -> None:
    short = truth["growth-T1e6"]
    longer = dataclasses.replace(short, settings=dataclasses.replace(short.settings, horizon=10**7))
    verdicts = {}
    for others in (1e4, 1e6):
        for alpha in (0.8, 1.0):
            longer = redrawn(longer, TSTD(alpha), optimal=1e6, others=others)
        claim = decide(truth | {"growth-T1e7": longer}, "ts-td-suboptimal-draws-negligible")
        assert f"{100 * 19 * others / (1e6 + 19 * others):.0f} % (α=1) at T=1e7" in claim.measured
        verdicts[others] = claim.verdict
    assert verdicts == {1e4: DIRECTION, 1e6: FAILS}


def test_a_published_share_fails_if_no_horizon_gives_both(truth: dict[str, Result]) -> None:
    """The share of m = 10 is met alone at T = 10^6; that of m = 1 nowhere."""
    results = {
        name: redrawn(one, TSMA(0.8), optimal=9e5, others=1e5 / 19)
        if name == "draws-m1" or (name.startswith("share-") and name.endswith("-m1"))
        else one
        for name, one in truth.items()
    }
    one, ten = (decide(results, f"ts-ma-0.8-share-m{m}") for m in (1, 10))
    assert (one.verdict, ten.verdict) == (FAILS, DIRECTION)
    assert "T=" not in one.measured.replace("at T=1e6", "")


def test_a_published_share_names_the_horizon_that_would_give_both(truth: dict[str, Result]) -> None:
    results = truth | {"draws-m1": redrawn(truth["draws-m1"], TSMA(0.8), optimal=9e5, others=1e5 / 19)}
    for name in ("share-T1.5e6-m10", "share-T2e6-m10"):
        results[name] = redrawn(results[name], TSMA(0.8), optimal=9e4, others=1e4)
    claim = decide(results, "ts-ma-0.8-share-m1")
    assert claim.measured.startswith("90.0 %; T=1.75e6 would give 94.0 % and 97.0 %; φ=35 with")
    assert "T is not stated" in claim.settings


def test_the_grid_names_the_cell_that_would_give_the_figures(truth: dict[str, Result]) -> None:
    """One cell is given the published numbers."""
    grids = {name: truth[name] for name in ("grid-m1", "grid-m10")}
    for phi in GRID_SIZES:
        for alpha in (0.8, 0.0):
            hit = (alpha, phi) == (0.8, 100.0)
            per_arm = {"grid-m1": (1e6, 1.5e6 / 19 if hit else 1e6), "grid-m10": (9e5, 1e5 if hit else 1e6)}
            for name, (optimal, others) in per_arm.items():
                grids[name] = redrawn(grids[name], TSTD(alpha, phi=phi), optimal=optimal, others=others)
    cell = "φ=100 with variance ln^0.8(T)/n"
    claim = decide(truth | grids, "ts-td-0.8-draws-m1")
    assert claim.measured.endswith(f"; {cell} would give 2.5e6 and 1e7 (m = 1, 10)")
    assert one_setting_for_both(grids).startswith(cell)
    ten = redrawn(grids["grid-m10"], TSMA(0.8, phi=100.0), optimal=9e4, others=1e4)
    assert one_setting_for_both(grids | {"grid-m10": ten}).startswith("none on the grid; the closest is")
    assert cell in figure3_setting(grids)
    assert cell not in figure3_setting(grids | {"grid-m10": ten})


def test_each_claim_has_the_nine_keys_in_order_and_survives_json(truth: dict[str, Result]) -> None:
    found = claims(truth)
    plain = [dataclasses.asdict(one) for one in found]
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert all(list(one) == KEYS for one in plain)
    assert len({one.id for one in found}) == len(found) >= 20
    assert {one.verdict for one in found} <= set(VERDICTS)
    for one in found:
        assert all(isinstance(getattr(one, key), str) and getattr(one, key) for key in KEYS[:5] + KEYS[7:])
        assert not re.search(r"\bnan\b", f"{one.measured} {one.error}")


def test_without_results_only_the_theorems_are_decided(truth: dict[str, Result]) -> None:
    assert [one.id for one in claims({})] == [one().id for one in COMPUTED]
    only = claims({"figure1": truth["figure1"]})
    assert len(only) == len(COMPUTED) + len(SIMULATED["figure1"])


def test_every_experiment_serves_a_claim() -> None:
    names = [one.name for full in (False, True) for one in experiments(full=full)]
    needed = (*SIMULATED, *(start for starts in BESIDE.values() for start in starts))
    assert all(name.startswith(needed) for name in names)


def test_a_verdict_of_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match=r"verdict must be one of holds, .* got 'true'"):
        Claim("a", "b", "c", "d", "e", None, None, "f", "true")


def test_one_run_is_never_clear(truth: dict[str, Result]) -> None:
    """The standard error of one run is not known; a claim about an order then holds in direction at most."""
    result = truth["figure1"]
    one = dataclasses.replace(
        result,
        settings=dataclasses.replace(result.settings, runs=1),
        **{name: getattr(result, name)[:, :1] for name in ("regret", "pulls", "draws", "evaluations")},
    )
    decided = decide({"figure1": one}, "order-of-figure-1")
    assert decided.verdict == DIRECTION
    assert decided.error is None


def test_the_slopes_of_the_conjecture_are_those_of_the_data(truth: dict[str, Result]) -> None:
    """Regret c (t/T)^0.2 gains c (1 - 10^-0.2) over the last decade."""
    result = truth["figure1"]
    row = result.labels.index(KLUCBPlusPlus().label)
    end = result.regret[row, :, -1].mean()
    start = result.checkpoints[np.abs(result.checkpoints - 1e4).argmin()]
    slope = end * (1.0 - (start / 1e5) ** 0.2) / math.log(1e5 / start)
    measured = decide(truth, "gaussian-never-optimal").measured
    assert measured.endswith(f"KL-UCB++ {slope:.0f}")
    assert "tends to 380 here, where 42.8 is optimal" in measured


def test_what_became_of_the_open_questions() -> None:
    found = {one.id: one for one in claims({})}
    limits = found["not-asymptotically-optimal"].measured
    assert "100 per unit of ln T in the limit, where 22.5 is optimal" in limits  # 1/gap^2 and 1/kl(0.8, 0.9)
    assert "is 1.98 at T=1e6 and 1.56 at 1e12" in limits
    start = found["epsilon-ts-guarantee"].measured.split("T = ")[1].split(" on for")[0]
    regret = [19 * epsilon_ts_sharp(0.1, float(start) * near, 0.05).pulls for near in (0.98, 1.02)]
    assert regret[0] > float(start) * 0.98
    assert regret[1] < float(start) * 1.02
    assert "fewer than 58.3 draws a round" in found["savings-cost"].measured


def test_end_to_end_on_a_tiny_experiment(tmp_path: Path) -> None:
    small = [one for one in experiments(full=False) if one.name in ("arms-K10", "arms-K30")]
    results = gather(
        [dataclasses.replace(one, horizon=1000, runs=2) for one in small], tmp_path, 1, 1, progress=False
    )
    decided = {one.id: one for one in claims(results)}
    counted = (
        "vanilla-draws",
        "epsilon-draws",
        "ts-ma-draws",
        "ts-ma-batch-draws",
        "ts-ma-draws-free-of-arms",
    )
    assert all(decided[name].verdict == HOLDS for name in counted)
    assert decided["batch-pays"].measured.startswith("φ = 115; fewer draws than Vanilla TS at no K of these")
    assert decided["vanilla-draws"].runs == 2
    assert decided["vanilla-draws"].settings == "K = 10, 30, T=1e3, m=1"
