"""thrifty: Thompson sampling that spends posterior draws only where they matter."""

from thrifty.delays import ConstantDelay, GeometricDelay, UniformDelay
from thrifty.errors import (
    FileError,
    InvalidType,
    InvalidValue,
    MissingExtra,
    ThriftyError,
)
from thrifty.online.bandit import Bandit
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
from thrifty.problems import Bernoulli, Beta, ClippedGaussian, Discrete, Exponential, Gaussian, Poisson
from thrifty.simulation.result import Result
from thrifty.simulation.run import simulate

__all__ = [
    "TSMA",
    "TSTD",
    "Bandit",
    "Bernoulli",
    "Beta",
    "ClippedGaussian",
    "ConstantDelay",
    "Discrete",
    "EpsilonTS",
    "ExpTS",
    "ExpTSPlus",
    "Exponential",
    "FileError",
    "Gaussian",
    "GeometricDelay",
    "IndexPolicy",
    "InvalidType",
    "InvalidValue",
    "KLUCBPlusPlus",
    "MissingExtra",
    "Poisson",
    "Result",
    "ThompsonSampling",
    "ThriftyError",
    "UniformDelay",
    "batch_size",
    "simulate",
]
