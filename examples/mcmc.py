"""Posteriors that only a Markov chain can sample: what four policies draw, what it costs, what they lose.

    uv run python examples/mcmc.py

The rewards of an arm are its mean plus Student-t noise with NU degrees of freedom and a known SCALE, so
that a far-off reward says little about the mean. With the prior N(PRIOR_MEAN, PRIOR_SD^2) the posterior
of the mean is

    p(theta | x_1, ..., x_n)  proportional to  exp(-((theta - PRIOR_MEAN) / PRIOR_SD)^2 / 2)
                              * product over j of (1 + ((x_j - theta) / SCALE)^2 / NU)^(-(NU + 1) / 2)

It belongs to no family, and no statistic sums the rewards up: to evaluate it is to read them all.
``Chain`` samples it by random-walk Metropolis, one chain for each arm. A draw takes time, more of it for
an arm with many rewards, and the policies differ in how many draws they ask for:

- ThompsonSampling: one for each arm in each decision;
- EpsilonTS: one for each arm with probability 1/K; else the arm's average reward stands in;
- TSMA: phi for the arm that was pulled, of which it keeps the best until it is pulled again;
- TSTD: one for each arm in each of the phi decisions after its pull, from then on the best of those.

Two things to know. A chain is not restarted when a reward comes: it goes on from where it is, BURN steps
before the next draw is taken, and then THIN steps from draw to draw. Draws of one chain stay a little
dependent, so the best of phi of them is the best of somewhat fewer. And the paper's theorems are about
Gaussian posteriors and a phi in the thousands; here phi is a budget, and what it does to regret is
measured. tests/test_examples.py holds the chain against numerical integration.
"""

import math
import time
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import thrifty
from thrifty.table import aligned

Floats = NDArray[np.float64]

NU, SCALE = 3.0, 0.5  # of the noise
PRIOR_MEAN, PRIOR_SD = 0.5, 1.0
BURN, THIN = 30, 6  # steps before the first draw after a reward, and from one draw to the next
ARMS, HORIZON, RUNS = 20, 1000, 10
INFORMATION = (NU + 1.0) / ((NU + 3.0) * SCALE**2)  # of one reward about the mean (Fisher's)


class Chain:
    """A random-walk Metropolis chain on the posterior of one arm's mean."""

    def __init__(self) -> None:
        self._rewards = np.empty(16)
        self._count = 0
        self._theta = PRIOR_MEAN
        self._burnt = False

    def observe(self, reward: float) -> None:
        if self._count == self._rewards.size:
            self._rewards = np.append(self._rewards, np.empty(self._count))
        self._rewards[self._count] = reward
        self._count += 1
        self._burnt = False

    def draw(self, size: int, rng: np.random.Generator) -> Floats:
        """``size`` states of the chain, THIN steps apart."""
        lead = 0 if self._burnt else BURN
        path = self._walk(lead + size * THIN, rng)
        self._burnt = True
        return path[lead + THIN - 1 :: THIN]

    def _walk(self, steps: int, rng: np.random.Generator) -> Floats:
        # 2.4 standard deviations of the normal law that the posterior approaches: the best scale for
        # one dimension (Gelman, Roberts and Gilks, "Efficient Metropolis jumping rules", 1996).
        scale = 2.4 / math.sqrt(self._count * INFORMATION + PRIOR_SD**-2)
        moves = (scale * rng.standard_normal(steps)).tolist()
        thresholds = (-rng.standard_exponential(steps)).tolist()  # ln U
        theta, here = self._theta, self.log_density(self._theta)
        path = np.empty(steps)
        for step, (move, threshold) in enumerate(zip(moves, thresholds, strict=True)):
            there = self.log_density(theta + move)
            if there - here > threshold:
                theta, here = theta + move, there
            path[step] = theta
        self._theta = theta
        return path

    def log_density(self, theta: float) -> float:
        """ln p(theta | rewards), up to a constant."""
        residuals = self._rewards[: self._count] - theta
        misfit = np.log1p(residuals * residuals / (NU * SCALE**2)).sum()
        return -0.5 * ((theta - PRIOR_MEAN) / PRIOR_SD) ** 2 - 0.5 * (NU + 1.0) * float(misfit)


class StudentPosterior(thrifty.Posterior):
    """What ``Bandit`` asks of a posterior: ``observe`` and ``draw``, arm by arm."""

    def __init__(self) -> None:
        self._chains: dict[Hashable, Chain] = {}

    def observe(self, arm: Hashable, reward: float) -> None:
        self._chains.setdefault(arm, Chain()).observe(reward)

    def draw(self, arm: Hashable, size: int, rng: np.random.Generator) -> Floats:
        return self._chains[arm].draw(size, rng)


class Outcome(NamedTuple):
    """One run."""

    draws: int
    seconds: float  # of processor time
    regret: float


def policies() -> list[thrifty.Policy]:
    """The four, each with a posterior of its own that has seen nothing yet."""
    return [
        thrifty.ThompsonSampling(law=StudentPosterior()),
        thrifty.EpsilonTS(law=StudentPosterior()),
        thrifty.TSMA(law=StudentPosterior(), phi=10, sampling="batch"),
        thrifty.TSTD(law=StudentPosterior(), phi=20),
    ]


def play(policy: thrifty.Policy, means: Floats, horizon: int, run: int) -> Outcome:
    """One run: every policy meets the same noise."""
    noise = SCALE * np.random.default_rng([run, 1]).standard_t(NU, horizon)
    bandit = thrifty.Bandit(policy, means.size, horizon=horizon, seed=run, reward_range=None)
    began, regret = time.process_time(), 0.0
    for epsilon in noise.tolist():
        arm = bandit.select()
        bandit.update(arm, means[arm] + epsilon)
        regret += means.max() - means[arm]
    return Outcome(int(bandit.statistics()["draws"].sum()), time.process_time() - began, regret)


def experiment(arms: int, horizon: int, runs: int) -> list[tuple[str, list[Outcome]]]:
    """Every policy's outcomes, on arms with means in equal steps from 0 to 1."""
    means = np.linspace(0.0, 1.0, arms)
    tables = [[play(policy, means, horizon, run) for policy in policies()] for run in range(runs)]
    names = [policy.label for policy in policies()]
    return list(zip(names, map(list, zip(*tables, strict=True)), strict=True))


def table(results: Sequence[tuple[str, Sequence[Outcome]]]) -> str:
    """Means over the runs; regret with its standard error."""
    rows = []
    for name, outcomes in results:
        draws, seconds, regrets = (np.array(column, float) for column in zip(*outcomes, strict=True))
        error = regrets.std(ddof=1) / math.sqrt(regrets.size)
        rows.append(
            (name, f"{draws.mean():,.0f}", f"{seconds.mean():.2f}", f"{regrets.mean():.1f}", f"{error:.1f}")
        )
    return aligned(("policy", "draws", "seconds", "regret", "± s.e."), rows)


if __name__ == "__main__":
    print(f"{ARMS} arms, {HORIZON:,} decisions; means of {RUNS} runs\n")
    print(table(experiment(ARMS, HORIZON, RUNS)))
