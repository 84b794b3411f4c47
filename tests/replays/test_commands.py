"""``thrifty evaluate``, and what both commands on logs share: columns, separators, spans."""

from pathlib import Path

import numpy as np
import polars
import pytest

import thrifty
from thrifty.cli import main
from thrifty.replays import evaluate as evaluations
from thrifty.replays import replay as replays
from thrifty.replays.log import Log


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three arms, of which the last one begins in the middle; columns with names of their own."""
    rng = np.random.default_rng(41)
    lines = []
    for row in range(400):
        arms = "ab" if row < 200 else "abc"
        arm = int(rng.integers(len(arms)))
        reward = bool(rng.random() < 0.2 + 0.2 * arm)
        lines.append(f"{row};{arms[arm]};{reward};{1 / len(arms)};{'|'.join(arms)};{0.5 if arm else 0.0}\n")
    path = tmp_path / "clicks.csv"
    path.write_text("at;item;click;p;on;new\n" + "".join(lines))
    return path


COLUMNS = ["--separator", ";", "--arm-column", "item", "--reward-column", "click", "--propensity-column", "p"]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def read(file: Path, **options: str) -> Log:
    named = {"arm_column": "item", "reward_column": "click", "propensity_column": "p", "separator": ";"}
    return thrifty.read_log(file, **{**named, **options})  # type: ignore[arg-type]


def test_columns_and_availability(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = read(file, available_column="on", time_column="at")
    found = [thrifty.evaluate(log, arm=arm, estimator=name) for arm in "ac" for name in ("snips", "dr")]
    columns = [*COLUMNS, "--available-column", "on", "--time-column", "at"]
    options = ["--arm", "a", "--arm", "c", "--estimator", "snips", "--estimator", "dr"]
    out = said(capsys, "evaluate", str(file), *columns, *options)
    assert out == f"{evaluations.table(found)}\n\n{found[0].checks}\n400 rows, 3 arms\n"
    assert [line.split()[:4] for line in out.splitlines()[6:8]] == [
        ["the", "log,", "for", "arm"], ["the", "log,", "for", "arm"],
    ]  # fmt: skip
    spans = ["--time-column", "at", "--span", "c=200.."]
    assert said(capsys, "evaluate", str(file), *COLUMNS, *spans, *options) == out
    lines = ["--span", "c=202..401"]
    assert said(capsys, "evaluate", str(file), *COLUMNS, *lines, *options) == out


def test_probabilities_and_targets(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = read(file, available_column="on", target_column="new")
    columns = [*COLUMNS, "--available-column", "on"]
    out = said(capsys, "evaluate", str(file), *columns, "--target-column", "new", "--estimator", "all")
    found = [thrifty.evaluate(log, estimator=name) for name in ("ips", "snips", "clipped")]
    assert out.startswith(evaluations.table(found))
    log = read(file, available_column="on")
    out = said(capsys, "evaluate", str(file), *columns, "--probabilities", "a=0.25,b=0.75", "--clip", "1.2",
               "--estimator", "clipped", "--level", "0.9")  # fmt: skip
    one = thrifty.evaluate(
        log, probabilities={"a": 0.25, "b": 0.75}, estimator="clipped", clip=1.2, level=0.9
    )
    assert out.startswith(evaluations.table([one]))
    assert "too low by up to" in out


def test_policies_that_learn(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = read(file, available_column="on")
    columns = [*COLUMNS, "--available-column", "on"]
    out = said(
        capsys, "evaluate", str(file), *columns, "--policy", "UCB1()", "--prior", "0.5,2", "--learn", "0.7"
    )
    one = thrifty.evaluate(log, policy=thrifty.UCB1(), prior=(0.5, 2.0), learn=0.7)
    assert out.startswith(evaluations.table([one]))
    out = said(capsys, "replay", str(file), *columns, "--policy", "UCB1()", "--prior", "0.5,2", "--runs", "2")
    two = thrifty.replay(thrifty.UCB1(), log, prior=(0.5, 2.0), runs=2)
    assert out.startswith(f"{replays.table([two])}\n\n{two.checks}\n400 rows, 3 arms, rejection, 2 runs each")


def test_tabulators_and_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm\treward\tpropensity\n" + "1\tTrue\t0.5\n2\tfalse\t0.5\n" * 20)
    out = said(capsys, "evaluate", str(path), "--separator", "tab", "--arm", "1")
    assert out.splitlines()[2].split()[:4] == ["arm", "'1'", "dr", "1.00000"]
    table = {"arm": [1, 2] * 20, "reward": [True, False] * 20, "propensity": [0.5] * 40}
    polars.DataFrame(table).write_parquet(tmp_path / "log.parquet")
    out = said(capsys, "evaluate", str(tmp_path / "log.parquet"), "--arm", "1", "--span", "2=1..")
    assert out.splitlines()[2].split()[:4] == ["arm", "1", "dr", "1.00000"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of --arm, --probabilities, --policy and --target-column must be given"),
        (
            ["--arm", "a", "--policy", "UCB1()"],
            "one of --arm, --probabilities, --policy and --target-column must",
        ),
        (["--arm", "x"], "arm must be one of the log's 3 arms, got 'x'"),
        (["--arm", "a"], "the mean of 1/propensity is 2.5, and should be 3, the number of arms"),
        (["--arm", "a", "--span", "c"], "--span must be written like c=5001..9000 or c=5001.., got 'c'"),
        (
            ["--arm", "a", "--span", "c=noon.."],
            "spans must be in the lines of the log, got {'c': ('noon', None)}",
        ),
        (["--arm", "a", "--span", "x=1..2"], "spans must name arms of the log, got 'x'"),
        (["--probabilities", "a"], "--probabilities must be written like red=0.7,green=0.3, got 'a'"),
        (["--probabilities", "a=0.5,a=0.5"], "--probabilities must name every arm once, got 'a=0.5,a=0.5'"),
        (["--probabilities", "a=0.5,b=0.6"], "probabilities must sum to 1, got 1.1"),
        (["--arm", "a", "--prior", "0.5,1"], "prior must be None without a policy that learns"),
        (["--arm", "a", "--estimator", "best"], "argument --estimator: invalid choice: 'best'"),
        (["--arm", "a", "--separator", "::"], "separator must be a single character such as ';', got '::'"),
    ],
)
def test_mistakes(file: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = arguments if "--separator" in arguments else [*arguments, "--separator", ";"]
    trusted = ["--trust"] if "0.6" in str(arguments) or "'x'" in message or "prior" in message else []
    assert main(["evaluate", str(file), *COLUMNS[2:], *given, *trusted]) == 2
    assert message in capsys.readouterr().err
