"""thrifty: Thompson sampling that spends posterior draws only where they matter."""

from thrifty.errors import (
    FileError,
    InvalidType,
    InvalidValue,
    MissingExtra,
    ThriftyError,
)
from thrifty.policies import (
    TSMA,
    TSTD,
    EpsilonTS,
    ExpTS,
    ExpTSPlus,
    IndexPolicy,
    KLUCBPlusPlus,
    ThompsonSampling,
    batch_size,
)
from thrifty.problems import Bernoulli, Beta, ClippedGaussian, Discrete, Gaussian
from thrifty.simulation.result import Result
from thrifty.simulation.run import simulate

__all__ = [
    "TSMA",
    "TSTD",
    "Bernoulli",
    "Beta",
    "ClippedGaussian",
    "Discrete",
    "EpsilonTS",
    "ExpTS",
    "ExpTSPlus",
    "FileError",
    "Gaussian",
    "IndexPolicy",
    "InvalidType",
    "InvalidValue",
    "KLUCBPlusPlus",
    "MissingExtra",
    "Result",
    "ThompsonSampling",
    "ThriftyError",
    "batch_size",
    "simulate",
]
