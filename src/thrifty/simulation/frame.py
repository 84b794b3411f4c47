"""A result as a table in long format: one row per policy, run and checkpoint, the settings as columns."""

import json
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from thrifty.errors import MissingExtra

if TYPE_CHECKING:
    from thrifty.simulation.result import Result

LIBRARIES = ("polars", "pandas")


def columns(result: "Result") -> dict[str, Any]:
    """Equal-length columns, in the order policy, run, checkpoint."""
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
        "parameters": by_policy([json.dumps(table) for table in settings.policies]),
        "engine": by_policy(list(settings.engines)),
        "problem": [settings.problem.kind] * rows,
        "arms": np.full(rows, settings.problem.gaps.size),
        "horizon": np.full(rows, settings.horizon),
        "seed": np.full(rows, settings.seed),
        "prior_mean": np.full(rows, mean),
        "prior_weight": np.full(rows, weight),
        "delay": [repr(settings.delay)] * rows,
    }


def library() -> Any:
    """Polars, or else pandas."""
    for name in LIBRARIES:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra("tables need polars or pandas: pip install 'thrifty[frames]'")


def to_frame(result: "Result", **more: Any) -> Any:
    """A polars or pandas DataFrame; ``more`` are columns with one value each, which come first."""
    table = columns(result)
    rows = len(table["policy"])
    return library().DataFrame({name: [value] * rows for name, value in more.items()} | table)
