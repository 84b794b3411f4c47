"""A result as a table in long format: one row per policy, run and checkpoint, the settings as columns."""

import hashlib
import json
import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thrifty import storage
from thrifty.errors import FileError, MissingExtra
from thrifty.problems import Problem, described

if TYPE_CHECKING:
    from thrifty.simulation.result import Result

LIBRARIES = ("polars", "pandas")
SPELT_OUT = 100  # arms whose parameters are in every row


def columns(result: "Result") -> dict[str, Any]:
    """Columns of one length, in the order policy, run, checkpoint; or a text that all rows share."""
    settings = result.settings
    policies, runs, moments = result.regret.shape
    rows = policies * runs * moments

    def by_policy(values: list[Any]) -> list[Any]:
        return [value for value in values for _ in range(runs * moments)]

    mean, weight = settings.prior or (math.nan, math.nan)
    return {
        "policy": by_policy(list(settings.labels)),
        "run": np.tile(np.repeat(np.arange(runs), moments), policies),
        "t": np.tile(result.checkpoints, policies * runs),
        "regret": result.regret.reshape(rows),
        "parameters": by_policy([json.dumps(table, sort_keys=True) for table in settings.policies]),
        "engine": by_policy(list(settings.engines)),
        "problem": settings.problem.kind,
        "problem_parameters": parameters(settings.problem),
        "arms": np.full(rows, settings.problem.size),
        "horizon": np.full(rows, settings.horizon),
        "seed": [settings.seed if settings.seed < 2**63 else str(settings.seed)] * rows,
        "prior_mean": np.full(rows, mean),
        "prior_weight": np.full(rows, weight),
        "delay": json.dumps({"kind": settings.delay.kind} | vars(settings.delay)),
        "control": np.full(rows, settings.control),
        "control_arm": np.full(rows, math.nan if settings.control_arm is None else settings.control_arm),
        "floor": np.full(rows, settings.floor),
        "burn_in": np.full(rows, settings.burn_in),
    }


def parameters(problem: Problem) -> str:
    """A problem's parameters as JSON; if it has many arms, how many, and a digest that tells it from others.

    >>> from thrifty import Gaussian
    >>> parameters(Gaussian([0.5, 0.0]))
    '{"means":[0.5,0.0],"sd":1.0}'
    >>> parameters(Gaussian([0.5] * 1000))
    '{"arms":1000,"digest":"bf843d51b01c5a66"}'
    """
    table = {name: value for name, value in described(problem).items() if name != "kind"}
    text = json.dumps(table, separators=(",", ":"))
    arms = problem.size
    if arms <= SPELT_OUT:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return json.dumps({"arms": arms, "digest": digest}, separators=(",", ":"))


def library() -> Any:
    """Polars, or else pandas."""
    for name in LIBRARIES:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra("tables need polars or pandas: pip install 'thrifty[frames]'")


def to_frame(result: "Result", **more: Any) -> Any:
    """A polars or pandas DataFrame; ``more`` are columns with one value each, which come first.

    What is not there is null, which is NaN in pandas.
    """
    table = columns(result)
    rows = len(table["policy"])
    kind = library()
    options = {"nan_to_null": True} if kind.__name__ == "polars" else {}
    return kind.DataFrame({name: [value] * rows for name, value in more.items()} | table, **options)


def write(tables: Sequence[Any], target: Path) -> int:
    """Write tables of one library below each other into a Parquet file; returns how many rows there are."""
    kind = library()
    if kind.__name__ == "polars":
        table = kind.concat(tables, how="vertical_relaxed")
        fill = table.write_parquet
    else:
        table = kind.concat(tables, ignore_index=True)
        fill = table.to_parquet
    try:
        storage.replace(target, fill)
    except ImportError:
        raise MissingExtra("pandas cannot write Parquet here: pip install 'thrifty[frames]'") from None
    return len(table)


def read(source: Path) -> Any:
    """A Parquet file as a table."""
    kind = library()
    with source.open("rb") as file:
        try:
            return kind.read_parquet(file)
        except ImportError:
            raise MissingExtra("pandas cannot read Parquet here: pip install 'thrifty[frames]'") from None
        except Exception as error:  # each library has its own
            raise FileError(f"{source} must be a Parquet file: {error}") from None
