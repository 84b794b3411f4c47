"""The example of real logs, on a package that looks like the one that it reads."""

import importlib.util
import io
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import SIGMAS

HEADING = ",timestamp,item_id,position,click,propensity_score,user_feature_0\n"
ROWS = """\
0,2019-11-24 00:00:34.762830+00:00,14,3,0,0.6,x
1,2019-11-24 00:00:53.965051+00:00,9,1,1,0.4,y
2,2019-11-24 00:00:40.000000+00:00,14,2,1,0.6,z
"""


def load(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return load("open_bandit")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "obp-0.4.1.tar.gz"
    with tarfile.open(path, "w:gz") as package:
        for behaviour in ("random", "bts"):
            for campaign in ("all", "men"):
                rows = ROWS.replace("0.6", "0.999").replace("0.4", "0.001")
                if behaviour == "random":
                    rows = "".join(ROWS.replace(" 00:00:", f" 00:{i:02}:") for i in range(40))
                content = (HEADING + rows).encode()
                name = f"obp-0.4.1/obp/dataset/obd/{behaviour}/{campaign}/{campaign}.csv"
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                package.addfile(entry, io.BytesIO(content))
    return path


def test_the_sample_is_read_from_the_package(example: ModuleType, archive: Path) -> None:
    log = example.sample(archive, "bts", "men")
    assert log.arms == ("14", "9")
    assert log.arm.tolist() == [0, 0, 1]  # in the order of time
    assert log.reward.tolist() == [0.0, 1.0, 1.0]
    assert log.propensity.tolist() == [0.999, 0.999, 0.001]
    assert log.bad == ()


def test_the_sample_is_shown(example: ModuleType, archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example.show_sample(archive)
    out = capsys.readouterr().out
    assert out.count("Open Bandit Dataset, sample ") == 5
    assert "120 rows, 2 arms, propensities 0.4 to 0.6\n" in out
    assert out.count("the log ") == 5


def test_the_truth_of_a_synthetic_log(example: ModuleType) -> None:
    """With one arm in two, known: the log has the shares and the means that it should have."""
    means, shares = np.array([0.6, 0.2]), np.array([0.25, 0.75])
    log = example.synthetic(means, shares, 4000, seed=1)
    first = log.propensity == 0.25
    assert abs(first.mean() - 0.25) < SIGMAS * np.sqrt(0.25 * 0.75 / 4000)
    for chosen, mean in ((first, 0.6), (~first, 0.2)):
        error = np.sqrt(mean * (1.0 - mean) / chosen.sum())
        assert abs(log.reward[chosen].mean() - mean) < SIGMAS * error
    value, error = example.truth(thrifty.UCB1(), means, 100, runs=50)
    result = thrifty.simulate(thrifty.UCB1(), thrifty.Bernoulli(means), 100, runs=50)
    assert value == pytest.approx(0.6 - result.regret[0, :, -1].mean() / 100)
    assert error == pytest.approx(result.regret[0, :, -1].std() / 100 / np.sqrt(50))


def test_a_synthetic_log_is_shown(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(example, "ROWS", 400)
    monkeypatch.setattr(example, "POLICIES", (thrifty.UCB1(),))
    example.show_synthetic("few", np.array([0.6, 0.2]), np.array([0.25, 0.75]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "few: 400 rows, 2 arms"
    assert lines[3].startswith("UCB1 in truth, over 100 decisions: 0.5")
    assert [line for line in lines if line in ("rejection", "ips")] == ["rejection", "ips"]


class Double:
    """Answers as obp would, a little off for one estimator."""

    def ask(self, question: dict[str, Any]) -> dict[str, list[float]]:
        log = {name: question[name] for name in ("arm", "reward", "propensity")}
        shares = dict(enumerate(question["shares"]))
        found = {}
        for name in ("ips", "snips", "clipped", "direct", "dr"):
            one = thrifty.evaluate(
                log, probabilities=shares, arms=len(shares), estimator=name, clip=question["clip"]
            )
            found[name] = [one.value + 1e-3 * (name == "dr"), *one.interval]
        return found | {"dr, model": [0.25, 0.0, 1.0]}


def test_estimates_beside_those_of_obp(example: ModuleType) -> None:
    log = example.synthetic(np.array([0.6, 0.2]), np.array([0.25, 0.75]), 200, seed=2)
    rows, apart = example.beside(log, Double())
    assert apart == pytest.approx(1e-3)
    assert [row[:2] for row in rows[:2]] == [("every arm alike", "ips"), ("every arm alike", "snips")]
    assert rows[5][0].startswith("item ")
    assert rows[-1][:2] == ("TS (Beta), learnt", "dr")
    assert rows[-1][4] == "0.25000"
    for row in rows:
        assert (row[2] == row[3]) == (row[1] != "dr")
        assert row[5] == row[6]


def test_what_rows_can_prove(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    limits = load("log_limits")
    assert limits.told(0.01, 125) == pytest.approx(
        stats.binom.sf(2, 125, 0.01), abs=1e-12
    )  # three clicks are the least whose interval is above 0.5 %
    monkeypatch.setattr(limits.replays, "Player", limits.replays.Player)  # so that it is put back
    monkeypatch.setattr(limits, "POLICIES", limits.POLICIES[1:])
    limits.show_limits()
    limits.show_coverage(logs=3, decisions=20, runs=(1,))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "125 decisions at a click rate of 0.5%: 0.6 clicks are expected"
    assert [line.split()[0] for line in lines[-2:]] == ["UCB1", "UCB1"]
