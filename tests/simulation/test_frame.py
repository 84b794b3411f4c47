"""Results as tables in long format, and as Parquet files that others can open."""

import itertools
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars
import pytest

import thrifty
from thrifty.cli import main
from thrifty.problems import PROBLEMS, Problem
from thrifty.simulation import frame

POLICIES = [thrifty.TSMA(alpha=0.8), thrifty.ThompsonSampling(law="beta")]


@pytest.fixture(scope="module")
def result() -> thrifty.Result:
    problem = thrifty.Bernoulli([0.9, 0.5, 0.4])
    return thrifty.simulate(POLICIES, problem, 40, runs=3, seed=8, checkpoints=[5, 20])


def test_a_row_for_each_policy_run_and_checkpoint(result: thrifty.Result) -> None:
    table = result.to_frame()
    assert isinstance(table, polars.DataFrame)
    assert table.height == 2 * 3 * 3
    every = list(itertools.product(result.labels, range(3), (5, 20, 40)))
    assert table.select("policy", "run", "t").rows() == every
    regrets = {
        (label, run, t): regret
        for label, run, t, regret in table.select("policy", "run", "t", "regret").rows()
    }
    for p, r, c in itertools.product(range(2), range(3), range(3)):
        key = result.labels[p], r, int(result.checkpoints[c])
        assert regrets[key] == result.regret[p, r, c]


def test_the_settings_are_columns(result: thrifty.Result) -> None:
    table = result.to_frame()
    assert dict(table.schema) == {
        "policy": polars.String,
        "run": polars.Int64,
        "t": polars.Int64,
        "regret": polars.Float64,
        "parameters": polars.String,
        "engine": polars.String,
        "problem": polars.String,
        "problem_parameters": polars.String,
        "arms": polars.Int64,
        "horizon": polars.Int64,
        "seed": polars.Int64,
        "prior_mean": polars.Float64,
        "prior_weight": polars.Float64,
        "delay": polars.String,
        "control": polars.Float64,
        "control_arm": polars.Float64,
        "floor": polars.Float64,
        "burn_in": polars.Int64,
    }
    one = table.select("problem", "arms", "horizon", "seed", "prior_mean", "prior_weight", "delay").unique()
    assert one.rows() == [("bernoulli", 3, 40, 8, None, None, '{"kind": "constant", "rounds": 0}')]
    pairs = table.select("policy", "parameters", "engine").unique(maintain_order=True).rows()
    assert [label for label, _, _ in pairs] == list(result.labels)
    assert [json.loads(parameters) for _, parameters, _ in pairs] == list(result.settings.policies)
    assert [engine for _, _, engine in pairs] == list(result.settings.engines)


@pytest.mark.parametrize(
    "problem",
    [
        thrifty.Bernoulli([0.9, 0.5]),
        thrifty.Gaussian([0.1] * 100, sd=0.3),
        thrifty.Beta([1.0, 2.0], [3.0, 4.0]),
        thrifty.Discrete([0.0, 0.5, 1.0], [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]),
    ],
    ids=lambda problem: problem.kind,
)
def test_the_problem_can_be_made_again_from_its_row(problem: Problem) -> None:
    result = thrifty.simulate(thrifty.TSMA(), problem, 100, runs=1, checkpoints=[])
    (row,) = result.to_frame().select("problem", "problem_parameters").rows()
    assert PROBLEMS[row[0]](**json.loads(row[1])) == problem


def test_problems_with_many_arms_are_told_apart_and_rows_stay_short() -> None:
    problems = [
        thrifty.Gaussian([0.1] * 200 + [last], sd) for last, sd in ((0.2, 1.0), (0.3, 1.0), (0.2, 2.0))
    ]
    texts = [frame.parameters(problem) for problem in problems]
    assert [json.loads(text)["arms"] for text in texts] == [201] * 3
    assert len(set(texts)) == 3
    assert max(map(len, texts)) < 50
    assert frame.parameters(thrifty.Gaussian(np.array([0.1] * 200 + [0.2]))) == texts[0]


def test_priors_delays_and_seeds_of_any_size() -> None:
    problem, delay = thrifty.Gaussian([0.5, 0.0]), thrifty.GeometricDelay(3)
    result = thrifty.simulate(thrifty.TSMA(), problem, 9, runs=1, seed=2**80, prior=(0.5, 2.0), delay=delay)
    row = result.to_frame().row(-1, named=True)
    assert (row["prior_mean"], row["prior_weight"], row["seed"]) == (0.5, 2.0, str(2**80))
    assert json.loads(row["delay"]) == {"kind": "geometric", "mean": 3.0}


# Parquet ---------------------------------------------------------------------------------------------------


def test_export_of_a_folder(
    result: thrifty.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results of different problems, with a prior and without, become one table."""
    problem = thrifty.Gaussian([0.5, 0.0])
    other = thrifty.simulate(thrifty.TSMA(), problem, 9, runs=2, seed=1, prior=(0.5, 2.0), checkpoints=[])
    (tmp_path / "chunks").mkdir()
    result.save(tmp_path / "a.npz")
    result.save(tmp_path / "chunks" / "no.npz")
    other.save(tmp_path / "b.npz")
    target = tmp_path / "all.parquet"
    assert main(["export", str(tmp_path), "--parquet", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote 20 rows of 2 results to {target}\n"
    table = polars.read_parquet(target)
    assert table.columns == ["case", *result.to_frame().columns]
    for case, one in (("a", result), ("b", other)):
        assert table.filter(case=case).drop("case").equals(one.to_frame())
    query = "select policy, avg(regret) as mean from self where t = horizon and prior_mean is null group by 1"
    means = dict(table.sql(query).rows())
    finals = dict(zip(result.labels, result.regret[:, :, -1].mean(axis=1).tolist(), strict=True))
    assert means == pytest.approx(finals)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".part") == []


def test_export_of_one_result(result: thrifty.Result, tmp_path: Path) -> None:
    source = result.save(tmp_path / "one.npz")
    assert main(["export", str(source), "--parquet", str(tmp_path / "one.parquet")]) == 0
    table = polars.read_parquet(tmp_path / "one.parquet")
    assert table.equals(frame.to_frame(result, case="one"))
    assert table["case"].unique().to_list() == ["one"]


def test_export_without_a_name_is_beside_the_results(
    result: thrifty.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = result.save(tmp_path / "one.npz"), tmp_path / "results.parquet"
    for given in (tmp_path, source):
        assert main(["export", str(given), "--parquet"]) == 0
        assert capsys.readouterr().out == f"wrote 18 rows of 1 results to {target}\n"
        assert polars.read_parquet(target).equals(frame.to_frame(result, case="one"))
        target.unlink()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("empty", "x.parquet", "{}/empty must have results (.npz), and has none"),
        ("nowhere", "x.parquet", "{}/nowhere: No such file or directory"),
        ("foreign", "x.parquet", "{}/foreign/x.npz is not a whole result file of thrifty (.npz)"),
        ("right", "no/x.parquet", "cannot write {0}/no/x.parquet: there is no folder {0}/no"),
    ],
)
def test_exports_that_fail(
    result: thrifty.Result,
    source: str,
    target: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("empty", "foreign", "right"):
        (tmp_path / name).mkdir()
    (tmp_path / "foreign" / "x.npz").write_bytes(b"something else")
    result.save(tmp_path / "right" / "x.npz")
    assert main(["export", str(tmp_path / source), "--parquet", str(tmp_path / target)]) == 2
    assert capsys.readouterr().err == f"thrifty: error: {message.format(tmp_path)}\n"


# Other libraries -------------------------------------------------------------------------------------------


class Frame(dict[str, Any]):
    """As much of pandas as is needed: columns that are lists."""

    engine = True

    @staticmethod
    def concat(tables: list["Frame"], ignore_index: bool) -> "Frame":
        assert ignore_index
        return Frame({name: [value for table in tables for value in table[name]] for name in tables[0]})

    def __len__(self) -> int:
        return len(self["run"])

    def to_parquet(self, file: Any) -> None:
        if not self.engine:
            raise ImportError("no pyarrow, no fastparquet")
        file.write(b"parquet")


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> type[Frame]:
    """Only pandas is installed."""
    module: Any = ModuleType("pandas")
    module.DataFrame, module.concat = Frame, Frame.concat
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", module)
    return Frame


def test_pandas_if_there_is_no_polars(pandas: type[Frame], result: thrifty.Result, tmp_path: Path) -> None:
    assert isinstance(result.to_frame(), pandas)
    result.save(tmp_path / "a.npz")
    result.save(tmp_path / "b.npz")
    assert main(["export", str(tmp_path), "--parquet", str(tmp_path / "x.parquet")]) == 0
    assert (tmp_path / "x.parquet").read_bytes() == b"parquet"


def test_pandas_that_cannot_write_parquet(
    pandas: type[Frame],
    result: thrifty.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pandas, "engine", False)
    source = result.save(tmp_path / "a.npz")
    assert main(["export", str(source), "--parquet", str(tmp_path / "x.parquet")]) == 2
    said = "pandas cannot write Parquet here: pip install 'thrifty[frames]'"
    assert capsys.readouterr().err == f"thrifty: error: {said}\n"
    assert not (tmp_path / "x.parquet").exists()


def test_neither(
    result: thrifty.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("polars", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    said = "tables need polars or pandas: pip install 'thrifty[frames]'"
    with pytest.raises(thrifty.MissingExtra) as caught:
        result.to_frame()
    assert str(caught.value) == said
    source = result.save(tmp_path / "a.npz")
    assert main(["export", str(source), "--parquet", str(tmp_path / "x.parquet")]) == 2
    assert capsys.readouterr().err == f"thrifty: error: {said}\n"
