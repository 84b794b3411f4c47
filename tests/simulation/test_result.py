"""Results: what the arrays hold, what the summary says, and files that survive everything but a pickle."""

import contextlib
import dataclasses
import io
import json
import math
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty import storage
from thrifty.delays import Delay
from thrifty.policies import Policy
from thrifty.problems import PROBLEMS, Beta, Changing, ClippedGaussian, Discrete, Problem
from thrifty.simulation.result import Settings

ARMS, HORIZON, RUNS = 4, 1500, 6
PROBLEM = thrifty.Bernoulli([0.2, 0.6, 0.5, 0.6])
POLICIES: list[Policy] = [
    thrifty.ThompsonSampling(),
    thrifty.EpsilonTS(epsilon=0.3),
    thrifty.TSMA(0.8),
    thrifty.TSMA(0.8, phi=7.2, sampling="batch"),
    thrifty.TSTD(),
    thrifty.TSTD(0.5, phi=3),
    thrifty.KLUCBPlusPlus(),
]
ARRAYS = ("checkpoints", "regret", "pulls", "draws", "evaluations")


def play(**changes: Any) -> thrifty.Result:
    settings: dict[str, Any] = {"horizon": HORIZON, "runs": RUNS, "seed": 11}
    return thrifty.simulate(POLICIES, PROBLEM, **settings | changes)


@pytest.fixture(scope="module")
def result() -> thrifty.Result:
    return play()


@pytest.fixture(scope="module")
def with_prior() -> thrifty.Result:
    return play(prior=(0.5, 2.0))


# Arrays -------------------------------------------------------------------------------------------------


def test_shapes_and_types(result: thrifty.Result) -> None:
    policies, points = len(POLICIES), result.checkpoints.size
    expected = {
        "checkpoints": ((points,), np.int64),
        "regret": ((policies, RUNS, points), np.float64),
        "pulls": ((policies, RUNS, ARMS), np.int64),
        "draws": ((policies, RUNS, ARMS), np.int64),
        "evaluations": ((policies, RUNS), np.int64),
    }
    for name, (shape, dtype) in expected.items():
        assert getattr(result, name).shape == shape
        assert getattr(result, name).dtype == dtype
    assert result.labels == tuple(policy.label for policy in POLICIES)


@pytest.mark.parametrize("name", ["result", "with_prior"])
def test_regret_is_the_gaps_of_the_pulls(name: str, request: pytest.FixtureRequest) -> None:
    result: thrifty.Result = request.getfixturevalue(name)
    assert np.all(result.pulls.sum(axis=2) == HORIZON)
    assert np.all(np.diff(result.regret, axis=2) >= 0.0)
    # The sum over rounds and the sum over arms round differently, by at most an ulp a round.
    assert np.allclose(
        result.regret[:, :, -1], result.pulls @ PROBLEM.gaps, rtol=HORIZON * 2.0**-52, atol=0.0
    )


def test_initial_pulls_are_counted(result: thrifty.Result) -> None:
    first = np.cumsum(PROBLEM.gaps)
    assert result.checkpoints[:ARMS].tolist() == [1, 2, 3, 4]
    assert np.all(result.regret[:, :, :ARMS] == first)


def test_draws_are_what_the_paper_counts(result: thrifty.Result, with_prior: thrifty.Result) -> None:
    """Vanilla TS draws K a round after the initial pulls, and so does TS-TD while phi >= T; TS-MA draws once
    for every pull ("batch": phi, rounded up), and with a prior once for every arm before the first round;
    KL-UCB++ never draws."""
    for got, rounds, begun in [(result, HORIZON - ARMS, 0), (with_prior, HORIZON, 1)]:
        draws = dict(zip(POLICIES, got.draws, strict=True))
        assert np.all(draws[POLICIES[0]] == rounds)
        assert np.array_equal(draws[POLICIES[2]], got.pulls[2] + begun)
        assert np.array_equal(draws[POLICIES[3]], 8 * (got.pulls[3] + begun))
        assert thrifty.batch_size(HORIZON, 0.0) >= HORIZON
        assert np.all(draws[POLICIES[4]] == rounds)
        assert np.all(draws[POLICIES[6]] == 0)


def test_ts_td_draws_at_most_phi_times_between_pulls(result: thrifty.Result) -> None:
    """An arm draws in the round of its pull, so at least once a pull but for the initial one, and at most phi
    times for each of its pulls."""
    draws, pulls = result.draws[5], result.pulls[5]
    assert np.all(draws >= pulls - 1)
    assert np.all(draws <= 3 * pulls)


def test_epsilon_ts_draws_when_the_coin_says_so(result: thrifty.Result) -> None:
    """Draws are Binomial(T - K, epsilon) for every arm and run, independently."""
    trials = HORIZON - ARMS
    z = (result.draws[1] - 0.3 * trials) / math.sqrt(trials * 0.3 * 0.7)
    assert abs(z.mean()) < 4.0 / math.sqrt(z.size)
    assert abs(z).max() < 5.0


def test_evaluations_are_the_random_numbers_really_drawn(result: thrifty.Result) -> None:
    draws = result.draws.sum(axis=2)
    coins = ARMS * (HORIZON - ARMS)
    assert np.array_equal(result.evaluations[1], draws[1] + coins)
    for p in (0, 2, 3, 4, 5, 6):
        assert np.array_equal(result.evaluations[p], draws[p])


# The summary --------------------------------------------------------------------------------------------


def made_by_hand(regret: list[list[float]], pulls: list[list[list[int]]]) -> thrifty.Result:
    final = np.array(regret)
    return thrifty.Result(
        settings=Settings(
            policies=tuple({"name": f"P{p}"} for p in range(len(regret))),
            labels=tuple(f"policy {p}" for p in range(len(regret))),
            engines=tuple("scan" for _ in regret),
            problem=thrifty.Bernoulli([0.5, 0.9, 0.9, 0.1]),
            horizon=100,
            runs=final.shape[1],
            seed=0,
            prior=None,
            delay=thrifty.ConstantDelay(0),
        ),
        checkpoints=np.array([100]),
        regret=final[:, :, None],
        pulls=np.array(pulls),
        draws=np.array(pulls) * 2,
        evaluations=np.full(final.shape, 7),
    )


def test_summary_of_a_case_made_by_hand() -> None:
    stuck = [[51, 49, 0, 0], [50, 50, 0, 0], [30, 10, 10, 50], [0, 0, 49, 51]]  # yes, no, no, yes
    best = 4 * [[1, 98, 0, 1]]
    result = made_by_hand([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0]], [stuck, best])
    first, second = result.summary().rows
    assert result.stuck.tolist() == [[True, False, False, True], 4 * [False]]
    assert (first.policy, first.regret, first.median) == ("policy 0", 2.5, 2.5)
    assert first.error == pytest.approx(math.sqrt(5.0 / 3.0) / 2.0)  # variance 5/3 (by n - 1), 4 runs
    assert (first.q05, first.q95) == (pytest.approx(1.15), pytest.approx(3.85))
    assert (first.stuck, first.draws, first.evaluations) == (0.5, 200.0, 7.0)
    assert math.isnan(first.seconds)
    assert (second.regret, second.error, second.q05, second.q95, second.stuck) == (5.0, 0.0, 5.0, 5.0, 0.0)


def test_one_run_has_no_standard_error() -> None:
    row = made_by_hand([[3.0]], [[[0, 100, 0, 0]]]).summary().rows[0]
    assert math.isnan(row.error)
    assert (row.regret, row.q05, row.median, row.q95) == (3.0, 3.0, 3.0, 3.0)


def test_the_table_lines_up(result: thrifty.Result) -> None:
    heading, rule, *rows = str(result.summary()).splitlines()
    assert len(rows) == len(POLICIES)
    assert {len(line) for line in (heading, rule, *rows)} == {len(heading)}
    edges = [i for i, character in enumerate(rule) if character == " "]
    assert all(line[i] == " " for line in (heading, *rows) for i in edges)
    for row, line in zip(result.summary().rows, rows, strict=True):
        assert line.startswith(row.policy)
        assert f"{row.regret:,.1f}" in line
    assert all(row.seconds >= 0.0 for row in result.summary().rows)


# Files --------------------------------------------------------------------------------------------------


def turning(t: int) -> Problem:
    """The two arms take turns."""
    return thrifty.Bernoulli([0.2, 0.6] if t % 20 < 10 else [0.6, 0.2])


PROBLEMS_TO_SAVE: list[Problem] = [
    thrifty.Bernoulli([0.2, 0.6]),
    thrifty.Gaussian([-1.0, 2.5], sd=0.3),
    Beta([0.5, 2.0], [1.5, 1.0]),
    ClippedGaussian([0.4, 0.6], sd=0.1),
    Discrete([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]),
    thrifty.Poisson([0.5, 3.0]),
    thrifty.Exponential([0.5, 3.0]),
    thrifty.Gaussian([-1.0, 2.5], sd=[0.3, 0.1]),
    thrifty.Empirical([[0.5, 1.0, 0.0], [0.25]]),
    Changing({1: thrifty.Bernoulli([0.2, None, 0.1]), 20: thrifty.Empirical([[1.0], [0.0, 0.5], None])}),
    Changing.along(thrifty.Bernoulli([0.2, 0.6]), thrifty.Bernoulli([0.6, 0.1]), 30),
    Changing.of(turning, 2),
]


def equal(a: thrifty.Result, b: thrifty.Result) -> bool:
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)
    types = all(getattr(a, name).dtype == getattr(b, name).dtype for name in ARRAYS)
    return arrays and types and a.settings == b.settings and a.provenance == b.provenance


def test_a_file_gives_back_what_was_saved(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "night.run.npz")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["night.run.json", "night.run.npz"]
    loaded = thrifty.Result.load(path)
    assert equal(loaded, result)
    assert str(loaded.summary()) == str(result.summary())
    assert equal(thrifty.Result.load(str(path)), result)


@pytest.mark.parametrize("problem", PROBLEMS_TO_SAVE, ids=lambda problem: problem.kind)
def test_every_problem_survives(problem: Problem, tmp_path: Path) -> None:
    assert {type(p) for p in PROBLEMS_TO_SAVE} == set(PROBLEMS.values())
    result = thrifty.simulate(thrifty.ThompsonSampling(), problem, 50, runs=2, prior=(0.4, 1.5), seed=2**100)
    loaded = thrifty.Result.load(result.save(tmp_path / "r.npz"), problems=[turning])
    assert equal(loaded, result)
    assert str(loaded.summary()) == str(result.summary())
    assert loaded.settings.problem == problem
    assert loaded.settings.prior == (0.4, 1.5)
    assert loaded.settings.seed == 2**100


@pytest.mark.parametrize(
    "delay", [thrifty.ConstantDelay(7), thrifty.UniformDelay(1, 9), thrifty.GeometricDelay(2.5)], ids=repr
)
def test_every_delay_survives(delay: Delay, tmp_path: Path) -> None:
    result = thrifty.simulate(thrifty.TSMA(), PROBLEM, 50, runs=2, delay=delay)
    loaded = thrifty.Result.load(result.save(tmp_path / "r.npz"))
    assert equal(loaded, result)
    assert loaded.settings.delay == delay


def test_numpy_parameters_can_be_saved(tmp_path: Path) -> None:
    policy = thrifty.TSMA(np.float32(0.5), phi=np.int64(10))  # type: ignore[arg-type]
    result = thrifty.simulate(policy, PROBLEM, np.int64(50), runs=np.int32(1), seed=np.uint64(1))  # type: ignore[arg-type]
    assert equal(thrifty.Result.load(result.save(tmp_path / "r.npz")), result)


def test_a_file_is_read_by_another_process(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    code = (
        "import sys, thrifty; r = thrifty.Result.load(sys.argv[1]);"
        "print(repr((r.labels, r.settings.problem.means, float(r.regret.sum()), int(r.draws.sum()))))"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    expected = (result.labels, PROBLEM.means, float(result.regret.sum()), int(result.draws.sum()))
    assert done.stdout.strip() == repr(expected)


def test_equal_runs_give_equal_bytes_and_other_runs_do_not(result: thrifty.Result, tmp_path: Path) -> None:
    files = [
        made.save(tmp_path / f"{name}.npz").read_bytes()
        for name, made in {
            "first": result,
            "again": play(),
            "one worker": play(workers=1),
            "two workers": play(workers=2),
            "loaded": thrifty.Result.load(result.save(tmp_path / "r.npz")),
            "other seed": play(seed=12),
            "more runs": play(runs=RUNS + 1),
        }.items()
    ]
    assert [file == files[0] for file in files] == [True] * 5 + [False] * 2


def test_provenance_lies_beside_the_data_and_not_inside(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    told = json.loads(path.with_suffix(".json").read_text())
    assert told == result.provenance
    assert told.keys() >= {"made", "command", "seconds", "workers", "machine", "versions"}
    assert len(told["seconds"]) == len(POLICIES)
    assert told["versions"].keys() >= {"python", "thrifty", "numpy", "numba"}
    header, _ = storage.read(path)
    assert header.keys() == {"format", "settings"}
    assert header["settings"].keys() == {f.name for f in dataclasses.fields(Settings)}
    assert not header["settings"].keys() & told.keys()


def test_a_file_needs_no_pickle_and_describes_itself(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    with np.load(path, allow_pickle=False) as file:
        contents = {name: file[name] for name in file.files}
    assert contents.keys() == {"header", *ARRAYS, "problem.means"}
    header = json.loads(str(contents["header"]))
    assert header["format"] == storage.FORMAT
    settings = header["settings"]
    assert (settings["seed"], settings["horizon"], settings["runs"]) == (11, HORIZON, RUNS)
    assert settings["policies"][2] == {
        "name": "TSMA",
        "alpha": 0.8,
        "law": "gaussian",
        "phi": None,
        "anytime": False,
        "sampling": "maximum",
    }
    assert settings["delay"] == {"kind": "constant", "rounds": 0}
    assert settings["problem"] == {"kind": "bernoulli", "means": {"array": "problem.means"}}
    assert contents["problem.means"].tolist() == list(PROBLEM.means)


def test_without_its_json_a_file_is_still_whole(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    path.with_suffix(".json").unlink()
    loaded = thrifty.Result.load(path)
    assert loaded.provenance == {}
    assert equal(loaded, dataclasses.replace(result, provenance={}))
    assert math.isnan(loaded.summary().rows[0].seconds)


def test_a_damaged_json_is_named(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    for damage in (b'{"made": "2026', b"\xff\xfe\x00"):
        path.with_suffix(".json").write_bytes(damage)
        with pytest.raises(
            thrifty.FileError, match=r"r\.json must be the JSON file that was saved with r\.npz"
        ):
            thrifty.Result.load(path)


@pytest.mark.parametrize("name", ["r.json", "r", "r.npz.gz", "r.NPY", ".npz"])
def test_a_wrong_ending_is_refused_and_nothing_is_written(
    name: str, result: thrifty.Result, tmp_path: Path
) -> None:
    with pytest.raises(thrifty.FileError) as error:
        result.save(tmp_path / name)
    assert str(error.value) == f"a result file must end in .npz, got {name!r}"
    assert list(tmp_path.iterdir()) == []


def refused(path: Path, text: str) -> None:
    with pytest.raises(thrifty.FileError) as error:
        thrifty.Result.load(path)
    assert str(error.value).startswith(f"{path} {text}")


NOT_WHOLE = "is not a whole result file of thrifty (.npz)"


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.9999])
def test_truncated_files_are_refused(share: float, result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(path, NOT_WHOLE)


def test_a_flipped_bit_is_noticed(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as file:
        entry = file.getinfo("regret.npy")
    for place in (entry.header_offset + 200, entry.header_offset + entry.compress_size // 2):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        refused(path, NOT_WHOLE)


def foreign() -> dict[str, bytes]:
    """Files that are not ours, some of them in NumPy's own formats."""

    def saved(save: Any, *args: Any, **kwargs: Any) -> bytes:
        buffer = io.BytesIO()
        save(buffer, *args, **kwargs)
        return buffer.getvalue()

    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("hello.txt", "hello")
    return {
        "text": b"horizon = 100\n",
        "an array": saved(np.save, np.zeros(3)),
        "a pickle": saved(np.save, np.array([{}]), allow_pickle=True),
        "a pickle inside": saved(np.savez, header=np.array([{}], object)),
        "other arrays": saved(np.savez, x=np.zeros(3)),
        "a header of numbers": saved(np.savez, header=np.zeros(3)),
        "a header of text": saved(np.savez, header=np.array("hello")),
        "a header of JSON, not an object": saved(np.savez, header=np.array("[1, 2]")),
        "a header without a format": saved(np.savez, header=np.array("{}")),
        "a zip file": zipped.getvalue(),
    }


@pytest.mark.parametrize("kind", foreign())
def test_foreign_files_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "r.npz"
    path.write_bytes(foreign()[kind])
    refused(path, NOT_WHOLE)


def rewritten(path: Path, header: dict[str, Any], *without: str) -> Path:
    """The file again, with another header or without some of its arrays."""
    _, arrays = storage.read(path)
    text = np.array(json.dumps(header))
    np.savez(path, header=text, **{name: a for name, a in arrays.items() if name not in without})
    return path


def test_a_newer_file_says_to_upgrade(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    header, _ = storage.read(path)
    newer = storage.FORMAT + 1
    rewritten(path, header | {"format": newer})
    refused(path, f"has format {newer}, this version of thrifty reads {storage.FORMAT}: upgrade thrifty")


def test_a_file_with_something_missing_names_it(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    header, _ = storage.read(path)
    rewritten(path, header, "draws")
    refused(path, "is not a whole simulation result of thrifty: 'draws'")

    path = result.save(tmp_path / "r.npz")
    settings = {key: value for key, value in header["settings"].items() if key != "seed"}
    rewritten(path, header | {"settings": settings})
    refused(path, "is not a whole simulation result of thrifty: 'seed'")

    path = result.save(tmp_path / "r.npz")
    rewritten(path, header | {"settings": header["settings"] | {"problem": {"kind": "levy"}}})
    refused(path, "cannot be read: 'levy' is a problem that this program does not know")


def test_a_snapshot_is_named_as_one(tmp_path: Path) -> None:
    path = tmp_path / "bandit.npz"
    thrifty.Bandit(thrifty.TSMA(), 3).save(path)
    refused(path, "is not a result file: it is a snapshot of a bandit, which Bandit.load reads")


IMPOSSIBLE: dict[str, tuple[str, Any, str]] = {
    "negative": ("pulls", -1, "pulls must be counts that add up to the horizon"),
    "too many": ("pulls", 10**6, "pulls must be counts that add up to the horizon"),
    "NaN": ("regret", math.nan, "regret must be finite and never fall"),
    "infinite": ("regret", math.inf, "regret must be finite and never fall"),
    "falling": ("regret", 1e6, "regret must be finite and never fall"),
    "below 0": ("regret", -1.0, "regret must be finite and never fall"),
    "no draws": ("draws", -3, "draws must be counts"),
    "no evaluations": ("evaluations", -3, "evaluations must be counts"),
    "disorder": ("checkpoints", 2**40, "checkpoints must be rounds in order"),
    "round 0": ("checkpoints", 0, "checkpoints must be rounds in order"),
}


@pytest.mark.parametrize(("name", "value", "words"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_numbers_are_refused(
    name: str, value: Any, words: str, result: thrifty.Result, tmp_path: Path
) -> None:
    path = result.save(tmp_path / "r.npz")
    header, arrays = storage.read(path)
    changed = arrays[name].copy()
    changed[(0,) * changed.ndim] = value
    storage.write(path, header, arrays | {name: changed})
    refused(path, f"has impossible numbers: {words}")


def test_regret_is_that_of_the_pulls(result: thrifty.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "r.npz")
    header, arrays = storage.read(path)
    storage.write(path, header, arrays | {"pulls": arrays["pulls"][:, :, ::-1]})
    refused(path, "has impossible numbers: regret must be that of its pulls")


@pytest.mark.parametrize("value", [None, "2", 2.5, [2], -1, {}], ids=repr)
@pytest.mark.parametrize("name", ["horizon", "runs", "seed", "labels", "problem", "delay", "policies"])
def test_wrong_settings_are_errors_of_the_file(
    name: str, value: Any, result: thrifty.Result, tmp_path: Path
) -> None:
    path = result.save(tmp_path / "r.npz")
    header, _ = storage.read(path)
    rewritten(path, header | {"settings": header["settings"] | {name: value}})
    refused(path, "")


@pytest.mark.parametrize("label", [None, 2, ["x"], {}], ids=repr)
def test_a_label_that_is_no_text_is_an_error_of_the_file(
    label: Any, result: thrifty.Result, tmp_path: Path
) -> None:
    path = result.save(tmp_path / "r.npz")
    header, _ = storage.read(path)
    settings = header["settings"]
    rewritten(path, header | {"settings": settings | {"labels": [label, *settings["labels"][1:]]}})
    refused(path, "is not a whole simulation result of thrifty: a label must be a text, got")


def test_problems_in_problems_without_end_are_an_error_of_the_file(
    result: thrifty.Result, tmp_path: Path
) -> None:
    path = result.save(tmp_path / "r.npz")
    header, _ = storage.read(path)
    deep: dict[str, Any] = {}
    for _ in range(450):
        deep = {"kind": "changing-along", "first": deep}
    rewritten(path, header | {"settings": header["settings"] | {"problem": deep}})
    refused(path, "is not a whole simulation result")


def test_a_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        thrifty.Result.load(tmp_path / "none.npz")


def test_a_failed_save_leaves_the_old_file_and_no_parts(
    result: thrifty.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = result.save(tmp_path / "r.npz")
    before = path.read_bytes()

    def full_disk(file: Any, **arrays: Any) -> None:
        file.write(b"half of")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    with pytest.raises(OSError, match="no space left"):
        play(runs=1).save(path)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.json", "r.npz"]


@pytest.fixture
def path(result: thrifty.Result, tmp_path: Path) -> Path:
    return result.save(tmp_path / "r.npz")


def test_arrays_that_do_not_fit_the_settings_are_refused(path: Path) -> None:
    """A table made of them would be wrong without a word, or end in a traceback."""
    whole = dict(np.load(path))
    header = json.loads(str(whole["header"]))
    for name in ("regret", "pulls", "draws", "evaluations"):
        np.savez(path, **whole | {name: whole[name][0]})
        refused(path, f"does not fit together: {name} must be numbers of shape")
    np.savez(path, **whole | {"regret": whole["regret"].astype(str)})
    refused(path, "does not fit together: regret must be numbers of shape")
    for key, value in (("horizon", 5), ("labels", ["one"])):
        changed = header | {"settings": header["settings"] | {key: value}}
        np.savez(path, **whole | {"header": np.array(json.dumps(changed))})
        refused(path, "does not fit together: its settings are not those of its data")


@pytest.mark.parametrize("provenance", ["null", "[]", "5", '"x"', '{"seconds": [1]}', '{"seconds": "x"}'])
def test_a_foreign_provenance_is_refused_or_ignored(path: Path, provenance: str) -> None:
    path.with_suffix(".json").write_text(provenance)
    if provenance.startswith("{"):
        assert math.isnan(thrifty.Result.load(path).summary().rows[0].seconds)
    else:
        with pytest.raises(thrifty.FileError, match="must be the JSON file that was saved with"):
            thrifty.Result.load(path)


def test_a_changed_byte_is_found_or_harmless(path: Path) -> None:
    """Whatever byte is changed, the file is refused as damaged or still holds the same numbers."""
    whole, expected = path.read_bytes(), thrifty.Result.load(path)
    places = np.random.default_rng(0).integers(len(whole), size=300)
    for place in places.tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with contextlib.suppress(thrifty.FileError):
            assert np.array_equal(thrifty.Result.load(path).regret, expected.regret)
