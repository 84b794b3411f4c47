"""The names that ``import thrifty`` offers."""

from typing import TYPE_CHECKING

from thrifty.delays import (
    ConstantDelay,
    GeometricDelay,
    UniformDelay,
)
from thrifty.errors import (
    FileError,
    InvalidCall,
    InvalidType,
    InvalidValue,
    MissingExtra,
    ThriftyError,
)
from thrifty.laws import (
    Law,
)
from thrifty.online.bandit import (
    Bandit,
)
from thrifty.online.decisions import Decision
from thrifty.online.lift import Lift
from thrifty.policies import (
    POLICIES,
    IndexPolicy,
    Policy,
    Posterior,
    batch_size,
    register,
)
from thrifty.policies.registry import *  # noqa: F403
from thrifty.problems import (
    Bernoulli,
    Beta,
    Changing,
    ClippedGaussian,
    Discrete,
    Empirical,
    Exponential,
    Gaussian,
    Poisson,
    Problem,
)
from thrifty.replays.evaluate import evaluate
from thrifty.replays.log import read as read_log
from thrifty.replays.replay import replay
from thrifty.simulation.result import (
    Result,
)
from thrifty.simulation.run import simulate
from thrifty.sweeps.run import sweep

if TYPE_CHECKING:
    from thrifty.client import Client  # ``thrifty.Client`` asks for it: nothing else here needs HTTP

__all__ = [
    "Bandit",
    "Bernoulli",
    "Beta",
    "Changing",
    "Client",
    "ClippedGaussian",
    "ConstantDelay",
    "Decision",
    "Discrete",
    "Empirical",
    "Exponential",
    "FileError",
    "Gaussian",
    "GeometricDelay",
    "IndexPolicy",
    "InvalidCall",
    "InvalidType",
    "InvalidValue",
    "Law",
    "Lift",
    "MissingExtra",
    "Poisson",
    "Policy",
    "Posterior",
    "Problem",
    "Result",
    "ThriftyError",
    "UniformDelay",
    "batch_size",
    "evaluate",
    "read_log",
    "register",
    "replay",
    "simulate",
    "sweep",
    *POLICIES,
]
