"""Replays of real and of synthetic logs: what 10,000 logged decisions can tell about a policy.

    pip download obp==0.4.1 --no-deps --no-binary :all:
    uv run python examples/open_bandit.py obp-0.4.1.tar.gz

The first command fetches the source package of the Open Bandit Pipeline, which has the small sample of the
Open Bandit Dataset in it: of a fashion shop's recommendations, 10,000 rows for each of two logging policies
("random", and "bts", a Bernoulli Thompson sampling) and three campaigns. Saito, Aihara, Matsutani and
Narita, "Open Bandit Dataset and Pipeline", NeurIPS 2021, Datasets and Benchmarks. Without an argument, only
synthetic logs are replayed: there, simulate knows the truth.
"""

import csv
import io
import sys
import tarfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import thrifty
from thrifty.replays import log as logs
from thrifty.replays.log import Log
from thrifty.replays.replay import METHODS, replay, table

Floats = NDArray[np.float64]

COLUMNS = {"arm": "item_id", "reward": "click", "propensity": "propensity_score", "time": "timestamp"}
POLICIES: tuple[thrifty.Policy, ...] = (
    thrifty.ThompsonSampling(law="beta"),
    thrifty.TSMA(law="beta"),
    thrifty.KLUCB(),
)
ROWS, RUNS = 10_000, 10


def sample(archive: Path, behaviour: str, campaign: str) -> Log:
    """One log of the sample, from the source package as it was downloaded."""
    with tarfile.open(archive) as package:
        ending = f"/obp/dataset/obd/{behaviour}/{campaign}/{campaign}.csv"
        (name,) = (name for name in package.getnames() if name.endswith(ending))
        file = package.extractfile(name)
        assert file is not None
        rows = list(csv.DictReader(io.TextIOWrapper(file, "utf-8")))
    return logs.read({ours: [row[theirs] for row in rows] for ours, theirs in COLUMNS.items()})


def synthetic(means: Floats, shares: Floats, rows: int, seed: int) -> Log:
    """Decisions of a policy that chooses at random, with these shares; a reward is 0 or 1."""
    rng = np.random.default_rng(seed)
    arm = rng.choice(means.size, rows, p=shares)
    reward = rng.random(rows) < means[arm]
    return logs.read({"arm": arm, "reward": reward, "propensity": shares[arm]})


def truth(policy: thrifty.Policy, means: Floats, decisions: int, runs: int = 400) -> tuple[float, float]:
    """The policy's mean reward over so many decisions, and its standard error, from simulation."""
    result = thrifty.simulate(policy, thrifty.Bernoulli(means), decisions, runs=runs)
    rewards = means.max() - result.regret[0, :, -1] / decisions
    return float(rewards.mean()), float(rewards.std() / np.sqrt(runs))


def show(log: Log, method: str) -> None:
    print(table([replay(policy, log, method, runs=RUNS) for policy in POLICIES]))


def show_synthetic(title: str, means: Floats, shares: Floats) -> None:
    decisions = round(ROWS * shares.min())
    print(f"\n{title}: {ROWS:,} rows, {means.size} arms\n")
    for policy in POLICIES:
        value, error = truth(policy, means, decisions)
        print(f"{policy.label} in truth, over {decisions:,} decisions: {value:.5f} ± {error:.5f}")
    print(f"the best arm: {means.max():.5f}")
    log = synthetic(means, shares, ROWS, seed=1)
    for method in METHODS:
        print(f"\n{method}")
        show(log, method)


def show_sample(archive: Path) -> None:
    for behaviour, campaign, method in (
        ("random", "all", "rejection"),
        ("random", "all", "ips"),
        ("random", "men", "rejection"),
        ("bts", "men", "rejection"),
        ("bts", "men", "ips"),
    ):
        log = sample(archive, behaviour, campaign)
        print(f'\nOpen Bandit Dataset, sample "{behaviour}", "{campaign}", {method}')
        p = log.propensity
        print(f"{len(log):,} rows, {len(log.arms)} arms, propensities {p.min():g} to {p.max():g}")
        show(log, method)


if __name__ == "__main__":
    show_synthetic(
        "four arms, the best one rare", np.array([0.6, 0.4, 0.3, 0.5]), np.array([0.1, 0.4, 0.3, 0.2])
    )
    clicks = np.random.default_rng(0).uniform(0.0, 0.01, 80)
    show_synthetic("clicks", clicks, np.full(80, 1 / 80))
    if len(sys.argv) > 1:
        show_sample(Path(sys.argv[1]))
