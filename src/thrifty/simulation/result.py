"""The result of a simulation: arrays, the settings that determine them, and where they came from."""

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks, storage
from thrifty import problems as known_problems
from thrifty.arrays import Floats, Integers
from thrifty.delays import DELAYS, NO_DELAY, Delay
from thrifty.errors import FileError, InvalidCall, InvalidValue, MissingExtra, ThriftyError
from thrifty.online.shares import read_options
from thrifty.policies import Policy, registered, restored
from thrifty.problems import Problem, Timed
from thrifty.simulation import assumptions, comparison, lookup
from thrifty.simulation.comparison import Difference, Ranking
from thrifty.simulation.summary import Row, Summary
from thrifty.table import listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARRAYS = ("checkpoints", "regret", "pulls", "draws", "evaluations")
OTHERS = ("control", "control_arm", "floor", "burn_in")  # who makes decisions beside the policy


@dataclass(frozen=True)
class Settings:
    """Everything that determines the data, and nothing else.

    Attributes:
        policies: the name and the parameters of each policy.
        labels: what tables and figures call it.
        engines: which engine ran it.
        problem, horizon, runs, seed, prior, delay, control, control_arm, floor, burn_in: as given to
            ``simulate``.
    """

    policies: tuple[dict[str, Any], ...]
    labels: tuple[str, ...]
    engines: tuple[str, ...]
    problem: Problem
    horizon: int
    runs: int
    seed: int
    prior: tuple[float, float] | None
    delay: Delay
    control: float = 0.0
    control_arm: int | None = None
    floor: float = 0.0
    burn_in: int = 0

    @property
    def others(self) -> str:
        """Who makes decisions beside the policy, in words; empty if nobody does."""
        shares = {
            "control": self.control or None,
            "control arm": self.control_arm if self.control else None,
            "floor": self.floor or None,
            "burn-in": self.burn_in or None,
        }
        return ", ".join(f"{name} {value:g}" for name, value in shares.items() if value is not None)


@dataclass(frozen=True, eq=False)
class Result:
    """What ``simulate`` returns. The axes are policy, run, and then checkpoint or arm.

    Attributes:
        settings: what determines the data: policies, problem, horizon, runs, seed, prior and so on.
        checkpoints: the rounds at which regret was recorded; the last is the horizon.
        regret: (policy, run, checkpoint), cumulative, initial pulls included.
        pulls: (policy, run, arm).
        draws: (policy, run, arm), as the paper counts them.
        evaluations: (policy, run), what the engine really drew.
        provenance: when, how and with which versions it was made, how long it took: not part of the data.
    """

    settings: Settings
    checkpoints: Integers
    regret: Floats
    pulls: Integers
    draws: Integers
    evaluations: Integers
    provenance: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Result: {listed(self.labels)}; {self._setting()}>"

    def _repr_html_(self) -> str:
        """The summary and, if matplotlib is there, the figure."""
        summary = self.summary()
        table = summary.table(summary.notes, self._setting()).html()
        try:
            from thrifty.report import figures
        except MissingExtra:
            return table
        return table + figures.image(self)

    def _setting(self) -> str:
        """What was simulated, in a line."""
        one = self.settings
        arms, runs = one.problem.size, f"{one.runs:,} run{'s' if one.runs > 1 else ''}"
        others = f", {one.others}" if one.others else ""
        return f"{one.problem.kind}, K = {arms:,}, T = {one.horizon:,}, {runs}, seed {one.seed}{others}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The policies' names, in the order of the first axis."""
        return self.settings.labels

    @property
    def final(self) -> Floats:
        """(policy, run): the regret at the horizon."""
        return self.regret[:, :, -1]

    def mean(self) -> Floats:
        """(policy, checkpoint): the mean regret over the runs."""
        means: Floats = self.regret.mean(axis=1)
        return means

    def find(self, policy: str | Policy) -> int:
        """Where ``policy`` is on the first axis, by its label or by the call that makes it."""
        return lookup.find(policy, self.labels, self.settings.policies)

    def __getitem__(self, policy: str | Policy) -> "Result":
        """The result of one policy alone: ``result["TS-MA-0"]``, or by the call that makes the policy,
        ``result["TSMA(alpha=0.0)"]``."""
        p = self.find(policy)
        one = {name: getattr(self.settings, name)[p : p + 1] for name in ("policies", "labels", "engines")}
        arrays = {name: getattr(self, name)[p : p + 1] for name in ARRAYS if name != "checkpoints"}
        seconds = {"seconds": self._seconds()[p : p + 1].tolist()} if "seconds" in self.provenance else {}
        settings = dataclasses.replace(self.settings, **one)
        return dataclasses.replace(self, settings=settings, provenance=self.provenance | seconds, **arrays)

    __iter__ = None  # it has policies, runs and checkpoints: which of them would it be?

    @property
    def stuck(self) -> NDArray[np.bool_]:
        """(policy, run): whether one bad arm got more than half of the pulls.

        Bad is an arm whose gap is at least half of what pulls at random would lose: to stay with an arm that
        is nearly the best of a thousand is not to be stuck.
        """
        if isinstance(self.settings.problem, Timed):
            raise InvalidCall("who is stuck cannot be said of a problem that changes")
        gaps = self.settings.problem.gaps
        worst = np.where((gaps > 0.0) & (gaps >= gaps.mean() / 2.0), self.pulls, 0).max(axis=2)
        stuck: NDArray[np.bool_] = 2 * worst > self.settings.horizon
        return stuck

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the problem's rewards are not what policies assume, and what to do; of thrifty's own ones."""
        tables = zip(self.labels, self.settings.policies, strict=True)
        policies = ((label, _policy(table)) for label, table in tables)
        known = [(label, policy) for label, policy in policies if policy is not None]
        return assumptions.notes(known, self.settings.problem)

    def summary(self) -> Summary:
        """One row per policy; ``print`` it for a table."""
        final = self.final
        policies, runs = final.shape
        changes = isinstance(self.settings.problem, Timed)
        columns = (
            final.mean(axis=1),
            final.std(axis=1, ddof=1) / np.sqrt(runs) if runs > 1 else np.full(policies, np.nan),
            *np.quantile(final, [0.05, 0.5, 0.95], axis=1),
            np.full(policies, np.nan) if changes else self.stuck.mean(axis=1),
            self.draws.sum(axis=2).mean(axis=1),
            self.evaluations.mean(axis=1),
            self._seconds(),
        )
        values = np.column_stack(columns).tolist()
        rows = tuple(Row(label, *row) for label, row in zip(self.labels, values, strict=True))
        return Summary(rows, self.notes)

    def compare(self, first: str | Policy, second: str | Policy, level: float = 0.95) -> Difference:
        """The regret of one policy minus that of another, over the same runs.

        Parameters:
            first: the one, by its label or by the call that makes it.
            second: the other.
            level: how often the intervals are to hold.
        """
        return comparison.compare(self, first, second, level)

    def ranking(self, level: float = 0.95) -> Ranking:
        """The policies by mean regret at the horizon, with the ranks that are still open if intervals are to
        hold as often as ``level`` says."""
        return comparison.ranking(self, level)

    def to_frame(self) -> Any:
        """A polars or pandas table, whichever is installed: a row for each policy, run and checkpoint."""
        from thrifty.simulation import frame

        return frame.to_frame(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Regret against t, and regret against draws; written to ``path`` (.svg, .png, .pdf) if given."""
        from thrifty.report import figures

        return figures.overview(self, path)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the data to ``path`` (.npz) and the provenance beside it (.json); equal runs, equal bytes."""
        target = Path(path)
        if target.suffix != ".npz":
            raise FileError(f"a result file must end in .npz, got {target.name!r}")
        plain = {f.name: getattr(self.settings, f.name) for f in dataclasses.fields(self.settings)}
        arrays = {name: getattr(self, name) for name in ARRAYS}
        plain["problem"] = known_problems.described(self.settings.problem, arrays)
        plain["delay"] = {"kind": self.settings.delay.kind} | vars(self.settings.delay)
        storage.write(target, {"settings": plain}, arrays)
        text = json.dumps(self.provenance, indent=2, sort_keys=True) + "\n"
        storage.replace(target.with_suffix(".json"), lambda file: file.write(text.encode()))
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str], problems: Iterable[Any] = ()) -> "Result":
        """The result that ``save`` wrote to ``path``. Provenance is read if its file is still there. A
        problem, or a function of the round, that is neither thrifty's own, nor among ``problems``, nor
        registered is refused: a file never makes us import anything."""
        source = Path(path)
        header, arrays = storage.read(source)
        try:
            plain = header["settings"]
            delay = dict(plain["delay"])
            problem = _problem(plain["problem"], arrays, problems)
            others = {name: plain[name] for name in OTHERS if name in plain}  # older files have none
            settings = Settings(
                policies=tuple(plain["policies"]),
                labels=tuple(_text(label) for label in plain["labels"]),
                engines=tuple(plain["engines"]),
                problem=problem,
                horizon=checks.integer("horizon", plain["horizon"], at_least=1),
                runs=checks.integer("runs", plain["runs"], at_least=1),
                seed=checks.integer("seed", plain["seed"], at_least=0),
                prior=None if plain["prior"] is None else tuple(plain["prior"]),
                delay=DELAYS[delay.pop("kind")](**delay),
                **read_options(problem.size, **others),
            )
            data: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
            result = cls(settings=settings, **data)
        except InvalidValue as error:
            raise FileError(f"{source} cannot be read: {error}") from None
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, ThriftyError) as error:
            raise FileError(f"{source} is not a whole simulation result of thrifty: {error}") from None
        result._check(source)
        beside = source.with_suffix(".json")
        try:
            provenance = json.loads(beside.read_text()) if beside.exists() else {}
            result.provenance.update(**provenance)
        except (TypeError, ValueError):  # not JSON, not text, or not a table
            raise FileError(f"{beside} must be the JSON file that was saved with {source.name}") from None
        return result

    def _check(self, source: Path) -> None:
        """Settings and arrays must fit together, or a table would be wrong without a word."""
        one = self.settings
        policies, arms = len(one.policies), one.problem.size
        shapes = {
            "checkpoints": self.checkpoints.shape[:1],
            "regret": (policies, one.runs, self.checkpoints.size),
            "pulls": (policies, one.runs, arms),
            "draws": (policies, one.runs, arms),
            "evaluations": (policies, one.runs),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype.kind not in ("f" if name == "regret" else "i"):
                raise FileError(f"{source} does not fit together: {name} must be numbers of shape {shape}")
        if not len(one.labels) == len(one.engines) == policies or one.horizon not in self.checkpoints[-1:]:
            raise FileError(f"{source} does not fit together: its settings are not those of its data")
        changes = isinstance(one.problem, Timed)  # then gaps are of some rounds only
        gaps = np.zeros(arms) if changes else one.problem.gaps
        late = one.horizon - self.pulls.sum(axis=2)  # pulls whose reward did not come in time
        lost, final = (self.pulls * gaps).sum(axis=2), self.regret[:, :, -1]
        most, rounding = lost + late * gaps.max(), 1e-4 * final + 1e-9
        right = {
            "checkpoints must be rounds in order": (np.diff(self.checkpoints, prepend=0) > 0).all(),
            "pulls must be counts that add up to the horizon": (self.pulls >= 0).all()
            and (late >= 0).all()
            and (one.delay != NO_DELAY or not late.any()),
            "draws must be counts": (self.draws >= 0).all(),
            "evaluations must be counts": (self.evaluations >= 0).all(),
            "regret must be finite and never fall": np.isfinite(self.regret).all()
            and (np.diff(self.regret, prepend=0.0) >= 0.0).all(),
            "regret must be that of its pulls": (lost <= final + rounding).all()
            and (changes or (final <= most + rounding).all()),
        }
        for words, holds in right.items():
            if not holds:
                raise FileError(f"{source} has impossible numbers: {words}")

    def _seconds(self) -> Floats:
        """Processor time of each policy, as far as the provenance tells."""
        seconds = self.provenance.get("seconds")
        known = isinstance(seconds, list) and len(seconds) == len(self.labels)
        return np.array(seconds if known else [np.nan] * len(self.labels), float)


def _text(label: object) -> str:
    if not isinstance(label, str):
        raise TypeError(f"a label must be a text, got {checks.shown(label)}")
    return label


def _policy(table: dict[str, Any]) -> Policy | None:
    """The policy that a table describes, or None: it is the user's own, perhaps with a name of ours."""
    try:
        policy: Policy = restored(table)
        return policy
    except (LookupError, TypeError, ValueError):
        return None


def _problem(table: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], own: Iterable[Any]) -> Problem:
    """Files of version 0.1.0 have the numbers of a problem beside its table, and rows as a matrix."""
    before = {
        name.removeprefix("problem."): tuple(map(tuple, value.tolist())) if value.ndim > 1 else value
        for name, value in arrays.items()
        if name.startswith("problem.") and name.count(".") == 1
    }
    return known_problems.restored(before | dict(table), arrays, [*registered(), *own])
