"""The experiments behind the reproduction, as data: what is simulated, at which size, and why.

The setting of the paper is K = 20 Bernoulli arms, m of them with mean 0.9 and the others with 0.8. Everything
that the page shows comes from these results; nothing else is simulated.
"""

import math
from dataclasses import dataclass

from thrifty.policies import (
    TSMA,
    TSTD,
    EpsilonTS,
    ExpTS,
    ExpTSPlus,
    KLUCBPlusPlus,
    Policy,
    ThompsonSampling,
)
from thrifty.problems import Bernoulli, Beta, ClippedGaussian, Discrete, Problem

ARMS = 20
ALPHAS = (0.0, 0.8, 0.9, 1.0)
OPTIMAL = (1, 5, 10)  # m, the numbers of optimal arms in Figures 2 and 3
LONGER = (1_500_000, 1_750_000, 2_000_000)  # other T for Figure 3, for which the paper states none
GRID_SIZES = (35.0, 50.0, 71.5, 100.0, 150.0, 300.0, 591.0, 1183.0)  # phi; the last is the stated one
PRIOR = (0.5, 1.0)  # for the cost per round at many arms, where no time is spent on initial pulls


@dataclass(frozen=True)
class Experiment:
    """One call of ``simulate``, and the figure or claim that needs it."""

    name: str  # also the name of its result file
    group: str  # what --only selects
    policies: tuple[Policy, ...]
    problem: Problem
    horizon: int
    runs: int
    prior: tuple[float, float] | None = None
    engine: str = "auto"


def paper_problem(arms: int = ARMS, optimal: int = 1) -> Bernoulli:
    """The first ``optimal`` arms have mean 0.9, the others 0.8."""
    return Bernoulli([0.9] * optimal + [0.8] * (arms - optimal))


def hard_problem(arms: int, horizon: int) -> Bernoulli:
    """The instance of the worst-case bounds: one arm better than the others by sqrt(K ln K / T)."""
    gap = math.sqrt(arms * math.log(arms) / horizon)
    return Bernoulli([0.5 + gap / 2.0] + [0.5 - gap / 2.0] * (arms - 1))


def experiments(*, full: bool) -> tuple[Experiment, ...]:
    """All of them: ``full`` has the horizons of the paper with 100 runs (20 at T = 10^6)."""
    return (
        *_figure1(full),
        *_figures2and3(full),
        *_shares(full),
        *_grid(full),
        *_growth(full),
        *_arms(full),
        *_bounded(full),
        *_worst_case(full),
        *_cost(full),
    )


def _figure1(full: bool) -> tuple[Experiment, ...]:
    """Regret: the policies of Figure 1, and ours in the empty cells of the table law x schedule."""
    root = 1.0 / math.sqrt(ARMS)
    policies = (
        *(TSMA(alpha) for alpha in ALPHAS),
        *(TSTD(alpha) for alpha in ALPHAS),
        *(ThompsonSampling(law) for law in ("gaussian", "beta")),
        *(EpsilonTS(law, epsilon) for law in ("gaussian", "beta") for epsilon in (None, root, 1.0)),
        ExpTSPlus(),
        KLUCBPlusPlus(),
        ExpTS(),
        TSMA(0.0, "beta"),
        TSMA(0.8, "beta"),
        TSMA(0.0, "beta", phi=1000.0),
        TSTD(0.8, "beta"),
        TSTD(1.0, "beta"),
    )
    return (Experiment("figure1", "figure1", policies, paper_problem(), 100_000, 100 if full else 20),)


def _figures2and3(full: bool) -> tuple[Experiment, ...]:
    """Draws of TS-TD (Figure 2) and of TS-MA (Figure 3), with Vanilla TS and epsilon-TS beside them."""
    policies = (
        *(TSTD(alpha) for alpha in ALPHAS),
        *(TSMA(alpha) for alpha in ALPHAS),
        ThompsonSampling(),
        EpsilonTS(),
    )
    return tuple(
        Experiment(
            f"draws-m{m}", "figure2,figure3", policies, paper_problem(optimal=m), 10**6, 20 if full else 4
        )
        for m in OPTIMAL
    )


def _shares(full: bool) -> tuple[Experiment, ...]:
    """Figure 3 has no stated T: its two published shares at longer horizons than that of Figure 2."""
    return tuple(
        Experiment(
            f"share-T{t / 1e6:g}e6-m{m}",
            "figure2,figure3",
            (TSMA(0.8),),
            paper_problem(optimal=m),
            t,
            20 if full else 2,
        )
        for t in LONGER
        for m in (1, 10)
    )


def _grid(full: bool) -> tuple[Experiment, ...]:
    """Which phi and variance would give the published draws: V = ln^0.8 T or 1, phi over a grid."""
    policies = tuple(
        kind(alpha, phi=phi) for kind in (TSTD, TSMA) for alpha in (0.8, 0.0) for phi in GRID_SIZES
    )
    return tuple(
        Experiment(f"grid-m{m}", "grid", policies, paper_problem(optimal=m), 10**6, 20 if full else 2)
        for m in (1, 10)
    )


def _growth(full: bool) -> tuple[Experiment, ...]:
    """How the draws of TS-TD and TS-MA grow with the horizon."""
    policies = tuple(kind(alpha) for kind in (TSTD, TSMA) for alpha in (0.0, 0.5, 0.8, 1.0))
    runs = {3: 100, 4: 100, 5: 100, 6: 20, 7: 10} if full else {3: 20, 4: 20, 5: 20, 6: 4}
    return tuple(
        Experiment(f"growth-T1e{e}", "growth", policies, paper_problem(), 10**e, count)
        for e, count in runs.items()
    )


def _arms(full: bool) -> tuple[Experiment, ...]:
    """How the draws depend on the number of arms, at one horizon."""
    policies = (TSMA(0.8), TSMA(1.0, sampling="batch"), TSTD(0.8), ThompsonSampling(), EpsilonTS())
    return tuple(
        Experiment(f"arms-K{k}", "arms", policies, paper_problem(arms=k), 10_000, 100 if full else 5)
        for k in (10, 30, 100, 300, 1000)
    )


def _bounded(full: bool) -> tuple[Experiment, ...]:
    """Rewards that are bounded but not Bernoulli: one arm has mean 0.6, the others 0.5.

    Beta rewards with a U shape, four values, and a Gaussian of which a fifth and more is cut off: 0.628... is
    the mean before the cut that leaves 0.6.
    """
    others = ARMS - 1
    policies = (
        ThompsonSampling(),
        EpsilonTS(),
        TSMA(0.0),
        TSMA(0.8),
        TSTD(0.8),
        TSTD(1.0),
        KLUCBPlusPlus(),
    )
    problems: tuple[Problem, ...] = (
        Beta([0.3] + [0.25] * others, [0.2] + [0.25] * others),
        Discrete([0.0, 0.25, 0.5, 1.0], [[0.1, 0.2, 0.3, 0.4]] + [[0.2, 0.2, 0.3, 0.3]] * others),
        ClippedGaussian([0.6280477153050529] + [0.5] * others, sd=0.4),
    )
    return tuple(
        Experiment(f"bounded-{problem.kind}", "bounded", policies, problem, 100_000, 100 if full else 5)
        for problem in problems
    )


def _worst_case(full: bool) -> tuple[Experiment, ...]:
    """Regret on the hard instance, against T at K = 20 and against K at T = 10^5."""
    policies = (ThompsonSampling(), TSMA(0.0), TSMA(1.0), TSTD(1.0))
    largest = 6 if full else 5
    sizes = [(ARMS, 10**e) for e in range(3, largest + 1)] + [(k, 100_000) for k in (5, 10, 50, 100)]
    return tuple(
        Experiment(
            f"hard-K{k}-T1e{round(math.log10(t))}",
            "worst-case",
            policies,
            hard_problem(k, t),
            t,
            (20 if t == 10**6 else 100) if full else 5,
        )
        for k, t in sizes
    )


def _cost(full: bool) -> tuple[Experiment, ...]:
    """Seconds per round against the number of arms (the times lie in the provenance beside the data).

    The dense ones as the paper writes them, with a look at every arm: on scan.
    """
    largest = 6 if full else 5
    dense = (ThompsonSampling(), TSTD(0.8))
    thrifty = (TSMA(0.8), KLUCBPlusPlus())
    return tuple(
        Experiment(
            f"cost-{kind}-K1e{e}",
            "cost",
            policies,
            paper_problem(arms=10**e),
            max(200, 2_000_000 // 10**e) if kind == "dense" else max(200_000, 5 * 10**e),
            1,
            PRIOR,
            engine,
        )
        for e in range(1, largest + 1)
        for kind, policies, engine in (("dense", dense, "scan"), ("committed", thrifty, "auto"))
    )
