"""Where a problem's rewards are not what a policy assumes: one note for each assumption, with what to do."""

from collections.abc import Iterable

from thrifty.policies import Policy
from thrifty.problems import BOUNDED, Problem

ROUNDING = 1e-9

MADE_FOR = {
    "sub-Gaussian": "in [0, 1] or of variance at most {variance:g}",
    "sub-Gaussian, v": "of variance at most {variance:g}",
    "Poisson": "that are Poisson or in [0, 1]",
    "exponential": "that are exponential",
    "bounded": "that are bounded",
    "bounded below": "that are bounded below",
}


def notes(policies: Iterable[tuple[str, Policy]], problem: Problem) -> tuple[str, ...]:
    """The notes for policies with these labels.

    >>> from thrifty import UCB1, Gaussian, ThompsonSampling
    >>> [note] = notes([("TS", ThompsonSampling())], Gaussian([0.5, 0.0], sd=5.0))
    >>> print(note)
    TS: made for rewards in [0, 1] or of variance at most 1, these have 25, and nothing that is proven holds;
    divide the rewards by 5
    """
    broken: dict[str, list[str]] = {}
    for label, policy in policies:
        if not _holds(policy, problem):
            broken.setdefault(_text(policy, problem), []).append(label)
    return tuple(f"{', '.join(labels)}: {text}" for text, labels in broken.items())


def _holds(policy: Policy, problem: Problem) -> bool:
    kind, variance = policy.assumes
    if kind.startswith("sub-Gaussian"):
        return problem.sub_gaussian <= variance * (1.0 + ROUNDING)
    bounded = problem.rewards in BOUNDED
    return {
        "": True,
        "Poisson": bounded or problem.family == "poisson",
        "exponential": problem.family == "exponential",
        "bounded": bounded,
        "bounded below": problem.rewards != "any",
    }[kind]


def _text(policy: Policy, problem: Problem) -> str:
    """What is assumed, what there is, and what to do about it."""
    kind, least = policy.assumes
    variance = problem.sub_gaussian
    if kind.startswith("sub-Gaussian") and variance < float("inf"):
        are, cure = f"have {variance:g}", f"divide the rewards by {(variance / least) ** 0.5:.3g}"
        cure += f", or set variance = {variance:g}" if kind.endswith("v") else ""
    else:
        are, cure = f"are {problem.kind}", "take a law, a family or a policy for such rewards"
    assumed = MADE_FOR[kind].format(variance=least)
    return f"made for rewards {assumed}, these {are}, and nothing that is proven holds; {cure}"
