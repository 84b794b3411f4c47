"""Trajectories of every policy on every engine, as short digests of the arms that were pulled.

They are recorded once, so that a change of the engine room shows whether it changed a decision:
``uv run python tests/trajectories/record.py`` writes them anew, which is right only for a change that says
so. Only the public interface is used.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import thrifty
from thrifty.policies import POLICIES, Policy

FILE = Path(__file__).with_name("trajectories.json")

VARIANTS: list[Policy] = [
    *(policy() for policy in POLICIES.values()),
    *(thrifty.ThompsonSampling(law) for law in ("beta", "gamma", "inverse-gamma", "inverse-gamma-flat")),
    thrifty.EpsilonTS(epsilon=0.3),
    thrifty.EpsilonTS("beta", epsilon=0.5),
    thrifty.EpsilonTS("inverse-gamma-flat"),
    *(thrifty.ExpTS(family) for family in ("gaussian", "poisson", "exponential")),
    thrifty.TSMA(alpha=0.5, law="beta"),
    thrifty.TSMA(alpha=0.8, anytime=True),
    thrifty.TSMA(law="gamma"),
    thrifty.TSMA(phi=4.5, sampling="batch"),
    thrifty.TSTD(alpha=0.3, phi=3),
    thrifty.TSTD(law="beta", phi=2.5),
    thrifty.TSTD(alpha=0.9, anytime=True),
    thrifty.MaillardSampling(plus=True),
    *(thrifty.KLUCB(family=family) for family in ("gaussian", "poisson", "exponential")),
    thrifty.KLUCB(c=3.0),
    thrifty.BayesUCB(c=3.0),
    *(thrifty.IMED(family) for family in ("gaussian", "poisson", "exponential", "bounded")),
    thrifty.DMED(rule="log-t"),
    thrifty.DirichletSampling("quantile"),
    thrifty.DirichletSampling("robust"),
    thrifty.FixedArm(3),
    thrifty.ExploreThenCommit(pulls=4),
    thrifty.KLUCBPlusPlus(anytime=True),
    thrifty.MOSS(anytime=True),
    thrifty.AdaUCB(variance=1.0),
    thrifty.Binarised(thrifty.KLUCB()),
    thrifty.Binarised(thrifty.TSMA(law="beta")),
    thrifty.Forgetting(thrifty.UCB1(), 100.0),
    thrifty.Forgetting(thrifty.KLUCB(), 30.0),
    thrifty.Forgetting(thrifty.EpsilonTS("beta"), 250.0),
]
MEANS = [0.5, 0.2, 0.9, 0.85, 0.0, 0.4, 1.0]
BINARY = thrifty.Bernoulli(MEANS)
UNIT = thrifty.Beta([1.0, 2.0, 3.0, 0.5], [2.0, 1.0, 1.5, 2.0])
PRIOR = (0.5, 1.0)


def cases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Names, and what gives the digest."""
    for policy in VARIANTS:
        for engine in policy.runs_on:
            name = f"{policy!r} on {engine}"
            yield f"{name}, Bernoulli", partial(simulated, policy, engine, BINARY, 400)
            yield f"{name}, delay", partial(simulated, policy, engine, BINARY, 300, delay=7)
            yield f"{name}, prior", partial(simulated, policy, engine, BINARY, 300, prior=PRIOR)
            if not policy.told:
                yield f"{name}, online", partial(lived, policy, engine, None)
                yield f"{name}, online with a prior", partial(lived, policy, engine, PRIOR)
            if policy.rewards != "binary":
                yield f"{name}, Beta", partial(simulated, policy, engine, UNIT, 300)
    for policy in (thrifty.ThompsonSampling(), thrifty.TSTD(phi=50), thrifty.TSMA(), thrifty.KLUCB()):
        for engine in policy.runs_on:
            many = thrifty.Bernoulli(np.linspace(0.1, 0.9, 700))
            yield f"{policy!r} on {engine}, 700 arms", partial(simulated, policy, engine, many, 3000)


def simulated(policy: Policy, engine: str, problem: thrifty.Bernoulli, horizon: int, **options) -> str:
    """Of two runs: every pull and every count."""
    result = thrifty.simulate(
        policy, problem, horizon, runs=2, seed=5, workers=1, engine=engine,
        checkpoints=range(1, horizon + 1), **options,
    )  # fmt: skip
    return digest(result.regret, result.pulls, result.draws, result.evaluations)


def lived(policy: Policy, engine: str, prior: tuple[float, float] | None) -> str:
    """Of a bandit with late rewards, cancelled pulls, and arms that come and go."""
    bandit = thrifty.Bandit(policy, [*"abcdefg"], seed=3, prior=prior, engine=engine)
    script = np.random.default_rng(1)
    worth = dict(zip("abcdefghij", [*MEANS, 0.3, 0.95, 0.6], strict=True))
    here, new, waiting, chosen = [*"abcdefg"], [*"hij"], [], []
    for step in range(250):
        waiting.append(bandit.select())
        chosen.append(waiting[-1])
        while waiting and script.random() < 0.55:
            arm = waiting.pop(script.integers(len(waiting)))
            if script.random() < 0.1:
                bandit.cancel(arm)
            else:
                bandit.update(arm, float(script.random() < worth[arm]))
        if step % 60 == 30 and new:
            here.append(new.pop(0))
            bandit.add_arm(here[-1])
        if step % 60 == 55:
            gone = here.pop(script.integers(len(here)))
            bandit.remove_arm(gone)
            waiting = [arm for arm in waiting if arm != gone]
    table = bandit.statistics()
    return digest(np.array([ord(arm) for arm in chosen]), table["pulls"], table["draws"], table["pending"])


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[
        :16
    ]


if __name__ == "__main__":
    found = {}
    for name, make in cases():
        print(name, file=sys.stderr)
        found[name] = make()
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
