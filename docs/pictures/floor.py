"""The table of docs/theory.md on the floor: the entropy of a decision beside what engines spend on it.

    uv run python docs/pictures/floor.py

Vanilla TS with Gaussian samples. The best mean is 0.9, the others are spread evenly over [0, 0.85]. Printed
are bits per decision (exact, from the state of a run by quadrature), the mean of three runs, and evaluations
a round on sleepers from round t/2 to t.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

import thrifty

Floats = NDArray[np.float64]
SIZES = (20, 1000)
ROUNDS = (2_000, 10_000, 100_000)
RUNS = 3


def problem(arms: int) -> thrifty.Bernoulli:
    return thrifty.Bernoulli([0.9, *np.linspace(0.0, 0.85, arms - 1)])


def chances(means: Floats, pulls: Floats) -> Floats:
    """P(arm i has the largest of the samples N(mean, 1/pulls)), by the trapezoidal rule."""
    deviations = 1.0 / np.sqrt(pulls)
    leader = int(np.argmax(means))
    near = means[leader] + deviations[leader] * np.linspace(-9.0, 9.0, 2001)
    far = np.linspace(near[0], float((means + 9.0 * deviations).max()), 4001)
    grid = np.unique(np.concatenate([near, far]))
    z = (grid - means[:, None]) / deviations[:, None]
    below = log_ndtr(z)
    density = -0.5 * z * z - np.log(deviations[:, None] * math.sqrt(2.0 * math.pi))
    found = np.trapezoid(np.exp(density - below + below.sum(axis=0)), grid, axis=1)
    assert abs(found.sum() - 1.0) < 1e-3
    return np.asarray(found / found.sum())


def entropies(arms: int, seed: int) -> list[float]:
    """Bits of the decision after each of ROUNDS."""
    rng, means = np.random.default_rng(seed), problem(arms).expectations
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), arms, seed=seed)
    bits = []
    for t in range(1, ROUNDS[-1] + 1):
        arm = bandit.select()
        bandit.update(arm, float(rng.random() < means[arm]))
        if t in ROUNDS:
            state = bandit.statistics()
            p = chances(np.asarray(state["mean"], float), np.asarray(state["pulls"], float))
            bits.append(float(-np.sum(p * np.log2(np.maximum(p, 1e-300)))))
    return bits


def spent(arms: int) -> list[float]:
    """Evaluations a round on sleepers, from t/2 to t."""

    def until(horizon: int) -> float:
        result = thrifty.simulate(
            thrifty.ThompsonSampling(),
            problem(arms),
            horizon,
            RUNS,
            seed=1,
            engine="sleepers",
            progress=False,
        )
        return float(result.evaluations.mean())

    return [(until(t) - until(t // 2)) / (t - t // 2) for t in ROUNDS]


def main() -> None:
    print("| K | t | bits of the decision | evaluations on sleepers | evaluations on scan |")
    print("|---|---|---|---|---|")
    for arms in SIZES:
        bits = np.mean([entropies(arms, seed) for seed in range(RUNS)], axis=0)
        for t, one, draws in zip(ROUNDS, bits, spent(arms), strict=True):
            print(f"| {arms:,} | {t:,} | {one:.2f} | {draws:.1f} | {arms:,} |", flush=True)


if __name__ == "__main__":
    main()
