"""Which policy is better, and how sure that is: differences over the same runs, with simultaneous intervals.

Run r of every policy has the same random stream for its rewards, so policies are compared run by run. With
differences d_r, r = 1, ..., R, of mean m and standard error s, the interval is

    m - q s - (the second policy's unseen regret)   to   m + q s + (the first policy's unseen regret).

For one difference q is Student's quantile. For several at once it is that of

    max over the differences of  |m* - m| / s*,

m* and s* being mean and standard error of R runs that are drawn from the R, with replacement: the bootstrap
of the largest t statistic.

Unseen regret: a policy's regret has a long tail that few runs show, so that their mean is mostly too low, and
nothing in them tells. But its shape is known: for optimal policies the share of runs whose regret is beyond x
falls like 1/x, up to the largest regret there is, t times the largest gap (Fan & Glynn 2025, The fragility of
optimized bandit algorithms). Let the worst of the R runs be y above the median, and that largest regret Y
above it. Then a share L y/(R x) is beyond x. L, how many of R runs are beyond y on average, has the
likelihood L exp(-L), whose mean is 2. From y to Y the share adds up to 2 (y/R) ln(Y/y).

Where all d_r are equal there is nothing to estimate, and the interval is a point.

Regrets are sums of gaps, in whatever order: differences that are smaller than ROUNDING of them are none.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.errors import InvalidValue
from thrifty.policies import Policy
from thrifty.table import Table, listed

if TYPE_CHECKING:
    from thrifty.simulation.result import Result


ROUNDING = 1e-9
SAMPLES, BATCH = 2000, 100  # of the bootstrap, and how many at a time
SHOWN = 12  # checkpoints in a printed table
FEW = 10  # with fewer runs intervals do not hold as often as they say


@dataclass(frozen=True, eq=False)
class Difference:
    """The regret of one policy minus that of another, over the same runs; prints as a table.

    Attributes:
        first, second: the labels of the two.
        level: how often the intervals are to hold.
        checkpoints: the rounds at which they are compared.
        mean: the mean difference at each checkpoint.
        error: its standard error.
        interval: (2, checkpoint), for each checkpoint by itself.
        band: (2, checkpoint), for all checkpoints at once.
        wins: the share of runs in which the first has less regret at the horizon.
        ties: the share in which both have the same.
        runs: how many there are.
    """

    first: str
    second: str
    level: float
    checkpoints: Integers
    mean: Floats
    error: Floats
    interval: Floats
    band: Floats
    wins: float
    ties: float
    runs: int

    @property
    def verdict(self) -> str:
        """What the interval at the horizon says."""
        low, high = self.interval[:, -1]
        if low <= 0.0 <= high:
            return f"no difference at the horizon that {100 * self.level:g} % intervals show"
        better, worse = (self.first, self.second) if high < 0.0 else (self.second, self.first)
        return f"{better} has less regret than {worse} at the horizon"

    def __str__(self) -> str:
        return self._table().text()

    def __repr__(self) -> str:
        low, high = self.interval[:, -1]
        at = f"{self.mean[-1]:,.2f}, {100 * self.level:g} % from {low:,.2f} to {high:,.2f}"
        return f"<Difference: {self.first} minus {self.second}, {at}, {self.runs:,} runs>"

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        shown = np.unique(np.linspace(0, self.checkpoints.size - 1, SHOWN).round().astype(int))
        rows = [
            (
                f"{self.checkpoints[c]:,}",
                *(f"{v:,.2f}" for v in (self.mean[c], self.error[c], *self.interval[:, c], *self.band[:, c])),
            )
            for c in shown
        ]
        heading = ("t", "difference", "± s.e.", "from", "to", "from, all t", "to, all t")
        share = f"{100 * self.wins:.0f} % of the runs have less regret with {self.first}"
        notes = [f"{self.verdict}; {share}, {100 * self.ties:.0f} % the same", _warning(self.runs)]
        return Table(heading, rows, f"{self.first} minus {self.second}", notes)


@dataclass(frozen=True)
class Rank:
    """One policy in a ranking.

    Attributes:
        policy: its label.
        regret: the mean at the horizon.
        excess: over the policy with the least mean regret.
        low, high: the interval of the excess.
        best, worst: the ranks that it may have.
    """

    policy: str
    regret: float
    excess: float
    low: float
    high: float
    best: int
    worst: int


@dataclass(frozen=True)
class Ranking:
    """Policies by mean regret at the horizon; prints as a table.

    Attributes:
        level: how often the intervals are to hold.
        ranks: one for each policy, the least regret first.
        runs: how many there are.
    """

    level: float
    ranks: tuple[Rank, ...]
    runs: int

    def __str__(self) -> str:
        return self._table().text()

    def __repr__(self) -> str:
        return f"<Ranking: {listed([f'{_places(r)} {r.policy}' for r in self.ranks])}>"

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            (
                r.policy,
                f"{r.regret:,.1f}",
                *(f"{value:,.1f}" for value in (r.excess, r.low, r.high)),
                _places(r),
            )
            for r in self.ranks
        ]
        heading = ("policy", "regret", "more than the first", "from", "to", "rank")
        return Table(heading, rows, notes=[_warning(self.runs)])


def _places(rank: Rank) -> str:
    return f"{rank.best}" if rank.best == rank.worst else f"{rank.best} to {rank.worst}"


def compare(result: "Result", first: str | Policy, second: str | Policy, level: float = 0.95) -> Difference:
    """The paired difference of two policies, by their labels or the calls that make them."""
    level = checks.level(level)
    a, b = (result.find(policy) for policy in (first, second))
    regrets = result.regret[[a, b]]
    rounding = ROUNDING * np.abs(regrets).max(axis=(0, 1))
    values = _difference(regrets[0], regrets[1], rounding)
    mean, error = _moments(values, rounding)
    runs = values.shape[0]
    reach = _quantile_of_t(runs, level) * error, _quantile_of_maximum(values, error, level) * error
    largest = result.checkpoints * result.settings.problem.gaps.max()
    above, below = (np.where(error > 0.0, _unseen(part, largest), 0.0) for part in regrets)
    interval, band = (np.stack([mean - part - below, mean + part + above]) for part in reach)
    return Difference(
        result.labels[a],
        result.labels[b],
        level,
        result.checkpoints,
        mean,
        error,
        interval,
        band,
        float((values[:, -1] < 0.0).mean()),
        float((values[:, -1] == 0.0).mean()),
        runs,
    )


def ranking(result: "Result", level: float = 0.95) -> Ranking:
    """All policies by their mean regret, with the ranks that intervals for all pairs at once leave open."""
    level = checks.level(level)
    final = result.final.T
    order = np.argsort(final.mean(axis=0), kind="stable")
    final = final[:, order]
    runs, policies = final.shape
    i, j = np.triu_indices(policies, 1)
    rounding = np.full(i.size, ROUNDING * np.abs(final).max())
    values = _difference(final[:, j], final[:, i], rounding)  # the later minus the earlier
    mean, error = _moments(values, rounding)
    reach = _quantile_of_maximum(values, error, level) * error
    unseen = _unseen(final, result.settings.horizon * result.settings.problem.gaps.max())
    low = mean - reach - np.where(error > 0.0, unseen[i], 0.0)
    high = mean + reach + np.where(error > 0.0, unseen[j], 0.0)
    surely = np.zeros((policies, policies), bool)  # [i, j]: i is better than j
    surely[i, j] = low > 0.0
    excess, lows, highs = (
        np.concatenate([[0.0], part[: policies - 1]])  # pairs with the first come first
        for part in (mean, low, high)
    )
    return Ranking(
        level,
        tuple(
            Rank(
                result.labels[order[p]],
                float(final[:, p].mean()),
                float(excess[p]),
                float(lows[p]),
                float(highs[p]),
                1 + int(surely[:, p].sum()),
                policies - int(surely[p].sum()),
            )
            for p in range(policies)
        ),
        runs,
    )


def _difference(first: Floats, second: Floats, rounding: Floats) -> Floats:
    """One minus the other, of which rounding is not a part."""
    values = first - second
    return np.where(np.abs(values) > rounding, values, 0.0)


def _moments(values: Floats, rounding: Floats) -> tuple[Floats, Floats]:
    """Means and standard errors over the runs; a spread that is rounding is none."""
    runs = values.shape[0]
    if runs < 2:
        raise InvalidValue(f"a comparison needs at least 2 runs, got {runs}")
    spread = values.std(axis=0, ddof=1)
    return values.mean(axis=0), np.where(spread > rounding, spread, 0.0) / math.sqrt(runs)


def _unseen(regrets: Floats, largest: Floats | float) -> Floats:
    """What runs that are worse than the worst one seen add to mean regrets: 2 (y/R) ln(Y/y)."""
    median = np.median(regrets, axis=0)
    y, beyond = regrets.max(axis=0) - median, largest - median
    ratio = np.divide(beyond, y, out=np.ones_like(y), where=y > 0.0)
    unseen: Floats = 2.0 * y / regrets.shape[0] * np.log(np.maximum(ratio, 1.0))
    return unseen


def _warning(runs: int) -> str:
    if runs >= FEW:
        return ""
    return f"{runs} runs are too few for intervals: they hold less often than they say below {FEW} runs"


def _quantile_of_t(runs: int, level: float) -> float:
    from scipy.special import stdtrit  # when it is needed: SciPy takes a quarter of a second to import

    return float(stdtrit(runs - 1, 0.5 + level / 2.0))


def _quantile_of_maximum(values: Floats, error: Floats, level: float) -> float:
    """q. At least the quantile of a single t: few runs can make all resampled ones alike."""
    runs, rng = values.shape[0], np.random.default_rng(0)
    least = _quantile_of_t(runs, level)
    spread = error > 0.0
    if not spread.any():
        return least
    units = (values - values.mean(axis=0))[:, spread] / error[spread]
    largest = []
    for _ in range(SAMPLES // BATCH):
        weights = rng.multinomial(runs, np.full(runs, 1.0 / runs), BATCH) / runs
        shift = weights @ units
        variance = (weights @ units**2 - shift**2) / (runs - 1)
        known = variance > ROUNDING  # otherwise one run was drawn R times
        t = np.abs(shift) / np.sqrt(np.where(known, variance, math.inf))
        largest.append(t.max(axis=1))
    return max(least, float(np.quantile(np.concatenate(largest), level)))
