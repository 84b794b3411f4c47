"""What was decided, and what it has cost, beside what others would have lost."""

import time

from thrifty.demo.products import Product
from thrifty.demo.traffic import DENSE, THRIFTY, UNIFORM, Report
from thrifty.serve.experiments import Experiment
from thrifty.serve.service import Service
from thrifty.table import aligned

TRIED = 200  # decisions that are timed
LABELS = (
    "decisions", "rewards", "mean reward",
    "true regret: thrifty", "  dense TS", "  uniform choice",
    "posterior draws: thrifty", "  dense TS",
    "µs of a decision: thrifty", "  dense TS",
)  # fmt: skip
NOTES = """\
Rewards are those that count, with the zeros of windows that closed. True regret is what the best
arms give on average, minus what those that were chosen give. Dense TS is Thompson sampling as
people write it, a draw for each arm in each decision, for as many visitors, with the same delays,
changes and share of control. A decision is timed in memory; over HTTP a visitor waited {asking:.1f} ms
on average."""


def text(service: Service, shown: list[Product], reports: dict[str, Report]) -> str:
    """A table of all products. The service has stopped."""
    columns = [
        _column(service.experiments[product.name], product.slate, reports[product.name]) for product in shown
    ]
    table = aligned(["", *(product.name for product in shown)], [*zip(LABELS, *columns, strict=True)])
    visits = sum(report.visits for report in reports.values())
    asking = 1e3 * sum(report.asking for report in reports.values()) / max(1, visits)
    return f"{table}\n\n{NOTES.format(asking=asking)}"


def _column(experiment: Experiment, slate: int, report: Report) -> list[str]:
    assert experiment.arms is not None
    draws = experiment.arms.draws
    return [
        f"{experiment.decisions:,}",
        f"{experiment.pulls:,}",
        f"{experiment.gained / experiment.pulls:.4f}" if experiment.pulls else "–",
        *(f"{report.lost[one]:,.1f}" for one in (THRIFTY, DENSE, UNIFORM)),
        f"{draws:,}",
        f"{report.draws:,}",
        f"{1e6 * _took(experiment, slate):.0f}",
        f"{1e6 * report.choosing / report.chosen:.0f}" if report.chosen else "–",
    ]


def _took(experiment: Experiment, slate: int) -> float:
    """Seconds of processor time that a choice takes now. Nobody is shown these."""
    assert experiment.arms is not None
    began = time.process_time()
    for _ in range(TRIED):
        experiment.arms.decide(1, slate, None, None)
    return (time.process_time() - began) / TRIED
