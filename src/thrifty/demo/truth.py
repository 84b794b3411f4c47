"""True regret over time, as it is reported, for the page."""

from thrifty.demo.traffic import Report
from thrifty.serve.truth import Truth

MOST = 600  # points of a curve


class Truths:
    """The curves of all products. When one has too many points, every second of them goes."""

    def __init__(self) -> None:
        self._found: dict[str, Truth] = {}
        self._step: dict[str, float] = {}  # seconds between two points
        self.last: dict[str, Report] = {}

    def add(self, report: Report) -> None:
        name = self.last.setdefault(report.product, report).product
        self.last[name] = report
        truth = self._found.setdefault(name, Truth([], {curve: [] for curve in report.lost}))
        step = self._step.setdefault(name, 0.5)
        if truth.times and report.seconds < truth.times[-1] + step:
            return
        truth.times.append(report.seconds)
        for curve, lost in report.lost.items():
            truth.curves[curve].append(lost)
        if len(truth.times) > MOST:
            self._step[name] = 2.0 * step
            self._found[name] = Truth(
                truth.times[::2], {curve: values[::2] for curve, values in truth.curves.items()}
            )

    def __call__(self, name: str) -> Truth | None:
        return self._found.get(name)
