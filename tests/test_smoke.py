"""What every supported Python runs: the engines against recorded numbers, a bandit, a snapshot, the commands.

``.ci/pythons.py`` runs this file by itself, in an environment of its own for each Python.
"""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import thrifty
from thrifty.policies import Policy

PROBLEM = thrifty.Bernoulli([0.9 - 0.05 * i for i in range(12)])
SPEC = """
horizon = 2000
runs = 1
seed = 1
engine = "scan"
[problem]
kind = "bernoulli"
means = [0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35]
[[policies]]
name = "MaillardSampling"
"""


@pytest.mark.parametrize(
    ("engine", "policy", "pulls"),
    [
        ("tournament", thrifty.TSMA(), [924, 241, 216, 136, 69, 111, 85, 72, 43, 31, 42, 30]),
        ("sleepers", thrifty.ThompsonSampling(law="beta"), [1811, 5, 39, 55, 18, 13, 20, 13, 5, 13, 4, 4]),
        ("kinetic", thrifty.KLUCB(), [1580, 99, 89, 50, 53, 40, 53, 11, 7, 3, 12, 3]),
    ],
)
def test_an_engine_gives_the_recorded_pulls(engine: str, policy: Policy, pulls: list[int]) -> None:
    result = thrifty.simulate(policy, PROBLEM, horizon=2000, runs=1, seed=1, engine=engine)
    assert result.pulls[0, 0].tolist() == pulls


def test_the_command_line_gives_the_recorded_pulls_on_scan(tmp_path: Path) -> None:
    (tmp_path / "smoke.toml").write_text(SPEC)
    command = Path(sys.executable).with_name("thrifty")
    for arguments in ("simulate smoke.toml --out .", "export smoke.npz --parquet smoke.parquet"):
        subprocess.run([command, *arguments.split()], cwd=tmp_path, check=True)
    pulls = [1148, 398, 101, 140, 36, 48, 36, 39, 17, 11, 12, 14]
    assert thrifty.Result.load(tmp_path / "smoke.npz").pulls[0, 0].tolist() == pulls
    assert (tmp_path / "smoke.png").stat().st_size > 0
    assert pl.read_parquet(tmp_path / "smoke.parquet").height > 0


def decisions(bandit: thrifty.Bandit, count: int) -> list[int]:
    """What it chooses, if every third arm pays, in each decision others."""
    chosen = []
    for _ in range(count):
        arm = bandit.select()
        bandit.update(arm, float((arm + bandit.decisions) % 3 == 1))
        chosen.append(arm)
    return chosen


def test_a_bandit_and_its_snapshot_make_the_recorded_decisions(tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), arms=5, seed=1, engine="tournament")
    assert decisions(bandit, 20) == [0, 1, 2, 3, 4, 0, 3, 2, 1, 3, 4, 3, 2, 0, 1, 1, 4, 0, 3, 3]
    bandit.save(tmp_path / "bandit.npz")
    for one in (bandit, thrifty.Bandit.load(tmp_path / "bandit.npz")):
        assert decisions(one, 20) == [2, 1, 2, 0, 1, 4, 3, 3, 2, 2, 0, 3, 1, 1, 0, 4, 4, 4, 1, 2]
