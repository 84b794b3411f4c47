"""Real and synthetic logs: what 10,000 logged decisions can tell about a policy.

    uv run python examples/open_bandit.py                      # synthetic logs: there, the truth is known
    pip download obp==0.4.1 --no-deps --no-binary :all:
    uv run python examples/open_bandit.py obp-0.4.1.tar.gz     # and real ones
    uv run python examples/open_bandit.py --obp                # our estimators beside those of obp

The source package of the Open Bandit Pipeline has the small sample of the Open Bandit Dataset in it: of a
fashion shop's recommendations, 10,000 rows for each of two logging policies ("random", and "bts", a Bernoulli
Thompson sampling) and three campaigns. Saito, Aihara, Matsutani and Narita, "Open Bandit Dataset and
Pipeline", NeurIPS 2021, Datasets and Benchmarks. With --obp, uv makes an environment with obp in it, whose
sample is read.
"""

import csv
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import thrifty
from thrifty.replays.log import Log, Reading
from thrifty.replays.replay import METHODS, replay, table
from thrifty.table import aligned

Floats = NDArray[np.float64]

COLUMNS: Reading = {
    "arm_column": "item_id",
    "reward_column": "click",
    "propensity_column": "propensity_score",
    "time_column": "timestamp",
}
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
    return thrifty.read_log(
        {str(name): [row[str(name)] for row in rows] for name in COLUMNS.values()}, **COLUMNS
    )


def synthetic(means: Floats, shares: Floats, rows: int, seed: int) -> Log:
    """Decisions of a policy that chooses at random, with these shares; a reward is 0 or 1."""
    rng = np.random.default_rng(seed)
    arm = rng.choice(means.size, rows, p=shares)
    reward = rng.random(rows) < means[arm]
    return thrifty.read_log({"arm": arm, "reward": reward, "propensity": shares[arm]})


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


# Beside obp ------------------------------------------------------------------------------------------------


class Obp:
    """obp's estimators, in a process with an environment of its own."""

    def __init__(self) -> None:
        command = ["uv", "run", "--script", str(Path(__file__).with_name("obp_estimates.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, question: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def tables(log: Log) -> Iterator[tuple[str, Log, dict[Any, float]]]:
    """What is evaluated: a name, rows, and the probability of each arm."""
    yield "every arm alike", log, dict.fromkeys(log.arms, 1.0 / len(log.arms))
    most = log.arms[int(np.bincount(log.arm).argmax())]
    yield f"item {most}", log, {most: 1.0}
    half = round(len(log) / 2)
    learnt = thrifty.evaluate(log, policy=POLICIES[0], learn=0.5)
    yield learnt.policy, log.part(half, len(log)), learnt.probabilities


def beside(log: Log, obp: Obp) -> tuple[list[tuple[str, ...]], float]:
    """Rows of a table, and by how much the values differ at most where there is no chance in them."""
    rows, apart = [], 0.0
    for label, part, shares in tables(log):
        clip = 5.0
        question = {
            "arm": part.arm.tolist(),
            "reward": part.reward.tolist(),
            "propensity": part.propensity.tolist(),
            "shares": [shares.get(arm, 0.0) for arm in log.arms],
            "clip": clip,
        }
        theirs = obp.ask(question)
        for name in ("ips", "snips", "clipped", "direct", "dr"):
            ours = thrifty.evaluate(part, probabilities=shares, estimator=name, clip=clip)
            apart = max(apart, abs(ours.value - theirs[name][0]))
            fitted = f"{theirs[f'{name}, model'][0]:.5f}" if f"{name}, model" in theirs else ""
            rows.append(
                (
                    label, name, f"{ours.value:.5f}", f"{theirs[name][0]:.5f}", fitted,
                    f"{ours.interval[0]:.4f} to {ours.interval[1]:.4f}",
                    f"{theirs[name][1]:.4f} to {theirs[name][2]:.4f}",
                )
            )  # fmt: skip
    return rows, apart


def show_beside() -> None:
    obp = Obp()
    folder = Path(obp.ask({}))
    heading = ("", "estimator", "thrifty", "obp", "its model", "thrifty, 95 %", "obp, 95 %, bootstrap")
    worst = 0.0
    for behaviour, campaign in (("random", "all"), ("bts", "men"), ("bts", "women")):
        log = thrifty.read_log(folder / behaviour / campaign / f"{campaign}.csv", **COLUMNS)
        rows, apart = beside(log, obp)
        print(f'\nOpen Bandit Dataset, sample "{behaviour}", "{campaign}"\n{aligned(heading, rows, left=2)}')
        worst = max(worst, apart)
    obp.close()
    print(f"\nlargest difference of values where there is no chance in them: {worst:.1e}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--obp"]:
        show_beside()
        sys.exit()
    show_synthetic(
        "four arms, the best one rare", np.array([0.6, 0.4, 0.3, 0.5]), np.array([0.1, 0.4, 0.3, 0.2])
    )
    clicks = np.random.default_rng(0).uniform(0.0, 0.01, 80)
    show_synthetic("clicks", clicks, np.full(80, 1 / 80))
    if len(sys.argv) > 1:
        show_sample(Path(sys.argv[1]))
