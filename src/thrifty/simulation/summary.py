"""The summary of a result: one row per policy, with what a mean alone would hide."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from textwrap import fill

from thrifty.table import Table, listed


@dataclass(frozen=True)
class Row:
    """One policy at the horizon, over the runs.

    Attributes:
        policy: its label.
        regret: the mean.
        error: its standard error; NaN with one run.
        q05, median, q95: quantiles of the regret.
        stuck: the share of runs that gave more than half of their pulls to one bad arm; NaN if the problem
            changes.
        draws: the mean per run, as the paper counts them.
        evaluations: the mean per run of what the engine really drew.
        seconds: of processor time, all runs together; NaN if not known.
    """

    policy: str
    regret: float
    error: float
    q05: float
    median: float
    q95: float
    stuck: float
    draws: float
    evaluations: float
    seconds: float


HEADINGS = (
    "policy",
    "regret",
    "± s.e.",
    "5 %",
    "median",
    "95 %",
    "stuck",
    "draws",
    "evaluations",
    "seconds",
)


@dataclass(frozen=True)
class Summary:
    """A table that lines up when it is printed.

    Attributes:
        rows: one for each policy, in their order.
        notes: where the rewards are not what policies assume.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.table([fill(note, 110) for note in self.notes]).text()

    def __repr__(self) -> str:
        regrets = [f"{row.policy} {row.regret:,.1f} ± {row.error:,.1f}" for row in self.rows]
        return f"<Summary of regret: {listed(regrets)}>"

    def _repr_html_(self) -> str:
        return self.table(self.notes).html()

    def table(self, notes: Sequence[str], title: str = "") -> Table:
        """All of it, to be written in one way or another."""
        return Table(HEADINGS, [_cells(row) for row in self.rows], title, notes)


def _cells(row: Row) -> tuple[str, ...]:
    name, regret, error, q05, median, q95, stuck, draws, evaluations, seconds = astuple(row)
    spread = [f"{value:,.1f}" for value in (regret, error, q05, median, q95)]
    counts = [f"{value:.3g}" if value >= 1e9 else f"{value:,.0f}" for value in (draws, evaluations)]
    share = "–" if stuck != stuck else f"{100 * stuck:.0f} %"
    return (name, *spread, share, *counts, f"{seconds:.2f}")
