"""Bandit problems: what a pull of an arm pays, and what it pays on average."""

from thrifty.problems import standard
from thrifty.problems.base import BOUNDED, REWARDS, Arms, Problem, checked
from thrifty.problems.changing import Along, Changing, Of, Timed
from thrifty.problems.compiled import address_of
from thrifty.problems.empirical import Empirical, pull_empirical
from thrifty.problems.standard import (
    Bernoulli,
    Beta,
    ClippedGaussian,
    Discrete,
    Exponential,
    Gaussian,
    Poisson,
)
from thrifty.problems.tables import PROBLEMS, described, own, restored

PULLS = (*standard.PULLS, pull_empirical)

__all__ = [
    "BOUNDED",
    "PROBLEMS",
    "PULLS",
    "REWARDS",
    "Along",
    "Arms",
    "Bernoulli",
    "Beta",
    "Changing",
    "ClippedGaussian",
    "Discrete",
    "Empirical",
    "Exponential",
    "Gaussian",
    "Of",
    "Poisson",
    "Problem",
    "Timed",
    "address_of",
    "checked",
    "described",
    "own",
    "restored",
]
