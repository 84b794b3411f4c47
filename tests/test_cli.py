"""The command line, as a user meets it: what is printed, what is written, and what mistakes look like."""

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thrifty
from thrifty.cli import main
from thrifty.policies import POLICIES
from thrifty.simulation.spec import Spec

SPEC = """
horizon = 300
runs = 4
seed = 1
[problem]
kind = "bernoulli"
means = [0.9, 0.5, 0.4]
[[policies]]
name = "TSMA"
alpha = 0.8
[[policies]]
name = "EpsilonTS"
law = "beta"
"""
FILES = {"small.npz", "small.json", "small.svg", "small.png"}


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """A spec in the folder where the command is typed."""
    monkeypatch.chdir(tmp_path)
    path = Path("small.toml")
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder that ``thrifty simulate`` has filled."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(SPEC)
    assert main(["simulate", str(folder / "small.toml"), "--out", str(folder / "new" / "out")]) == 0
    return folder / "new" / "out"


@pytest.fixture
def no_work(monkeypatch):
    """Fails if a simulation is begun."""
    monkeypatch.setattr(Spec, "simulate", lambda *_, **__: pytest.fail("a simulation was begun"))


def error(capsys):
    """What was said about a mistake: one line, and nothing on standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("thrifty: error: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removeprefix("thrifty: error: ").rstrip("\n")


def names(folder):
    return {path.name for path in folder.iterdir()}


# ---- thrifty policies ----


def columns(heading, rule, *rows):
    """A table that lines up, by the name in its first column."""
    starts = [i for i, mark in enumerate(rule) if mark == "─" and (i == 0 or rule[i - 1] == " ")]
    ends = [*starts[1:], None]
    heading, *cut = [
        [row[a:b].strip() for a, b in zip(starts, ends, strict=True)] for row in (heading, *rows)
    ]
    return heading, {name: cells for name, *cells in cut}


def test_policies_are_listed_in_tables_that_line_up(capsys):
    assert main(["policies"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first, last = (i for i, line in enumerate(lines) if line.startswith("policy "))
    heading, table = columns(*lines[first:last])
    assert heading == ["policy", "index", "rewards", "index changes", "engines", "horizon"]
    assert table["TSMA"][1:] == ["by law", "aggregate", "scan, tournament", "known"]
    assert table["UCB1"] == ["m + √(2 ln t/n)", "[0, 1]", "with time", "scan, kinetic", "anytime"]
    heading, proven = columns(*lines[last:])
    assert heading == ["policy", "asymptotic", "minimax", "sub-UCB", "citation"]
    assert proven["KLUCBPlusPlus"] == ["Bernoulli", "yes", "–", "Ménard & Garivier 2017"]
    for name in POLICIES:
        assert name in table
        assert proven[name][3][-4:].isdigit()


def test_policies_as_a_page(capsys):
    assert main(["policies", "--markdown"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# Policies\n")
    assert all(f"\n### {name}\n" in page for name in POLICIES)


# ---- thrifty simulate ----


def test_simulate_writes_data_and_figures(finished):
    assert names(finished) == FILES
    result = thrifty.Result.load(finished / "small.npz")
    assert result.labels == ("TS-MA-0.8", "ε-TS (Beta, ε=1/K)")
    assert result.regret.shape[:2] == (2, 4)
    assert (finished / "small.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (finished / "small.svg").read_text()


def test_simulate_prints_the_summary_and_where_it_wrote(spec, capsys):
    assert main(["simulate", str(spec), "--horizon", "1e3", "--runs", "2", "--seed", "7"]) == 0
    result = thrifty.Result.load("out/small.npz")
    assert (result.settings.horizon, result.settings.runs, result.settings.seed) == (1000, 2, 7)
    out = capsys.readouterr().out
    assert str(result.summary()) in out
    assert "T = 1,000, 2 runs" in out
    assert "seed 7" in out
    wrote = [str(Path("out", f"small.{suffix}")) for suffix in ("npz", "json", "svg", "png")]
    assert out.endswith(f"\nwrote {', '.join(wrote)}\n")


def test_workers_change_nothing(spec, finished):
    assert main(["simulate", str(spec), "--workers", "1", "--engine", "scan"]) == 0
    for name in ("small.npz", "small.svg"):
        assert Path("out", name).read_bytes() == (finished / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--horizon", "2"], "small.toml: horizon must be at least the number of arms, 3, unless"),
        (["--engine", "tournament"], "small.toml: engine must be one of scan, sleepers for EpsilonTS"),
        (["--horizon", "1.5"], "argument --horizon: must be a whole number from 1 up, got '1.5'"),
        (["--horizon", "nan"], "argument --horizon: must be a whole number from 1 up, got 'nan'"),
        (["--horizon", "1e999"], "argument --horizon: must be a whole number from 1 up, got '1e999'"),
        (["--runs", "0"], "argument --runs: must be a whole number from 1 up, got '0'"),
        (["--seed", "-1"], "argument --seed: must be a whole number from 0 up, got '-1'"),
        (["--workers", "two"], "argument --workers: must be a whole number from 1 up, got 'two'"),
        (["--engine", "scna"], "argument --engine: invalid choice: 'scna'"),
        (["--rusn", "3"], "unrecognized arguments: --rusn 3"),
        (["--out", "small.toml"], "results need a folder, and small.toml is a file"),
        (["--out", "small.toml/out"], "results need a folder, and small.toml is a file"),
    ],
)
def test_a_wrong_argument_costs_no_work(spec, no_work, capsys, arguments, message):
    assert main(["simulate", str(spec), *arguments]) == 2
    assert error(capsys).startswith(message)
    assert names(Path()) == {"small.toml"}


def test_a_mistake_in_the_spec_costs_no_work(spec, no_work, capsys):
    spec.write_text(SPEC.replace("alpha", "alpah"))
    assert main(["simulate", str(spec)]) == 2
    assert error(capsys) == (
        "small.toml: policies[0].alpah is unknown; allowed: name, alpha, law, phi, anytime, sampling "
        "(did you mean alpha?)"
    )
    assert names(Path()) == {"small.toml"}


def test_a_missing_spec(capsys, tmp_path):
    assert main(["simulate", str(tmp_path / "none.toml")]) == 2
    assert error(capsys) == f"{tmp_path / 'none.toml'}: No such file or directory"


def test_missing_matplotlib_is_told_before_the_work(spec, no_work, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "thrifty.report.figures", raising=False)
    monkeypatch.delattr("thrifty.report.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["simulate", str(spec)]) == 2
    assert "thrifty[plot]" in error(capsys)


def test_an_interruption_is_no_fault(spec, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Spec, "simulate", interrupt)
    assert main(["simulate", str(spec)]) == 130
    assert capsys.readouterr().err == "thrifty: interrupted\n"
    assert names(Path("out")) == set()


@pytest.mark.usefixtures("finished")  # kernels are compiled, which is said once
@pytest.mark.parametrize("runs", ["1e14", "2e15", "9e15"])
def test_too_much_memory(spec, capsys, runs):
    assert main(["simulate", str(spec), "--runs", runs]) == 2
    assert error(capsys).startswith("not enough memory: ")


# ---- thrifty plot ----


def test_plot_redraws_the_same_figures_from_the_data_alone(finished, tmp_path, capsys):
    shutil.copy(finished / "small.npz", tmp_path)
    assert main(["plot", str(tmp_path / "small.npz")]) == 0
    assert names(tmp_path) == {"small.npz", "small.svg", "small.png"}
    assert (tmp_path / "small.svg").read_bytes() == (finished / "small.svg").read_bytes()
    wrote = [str(tmp_path / name) for name in ("small.svg", "small.png")]
    assert capsys.readouterr().out == f"wrote {', '.join(wrote)}\n"


def test_plot_several_into_a_folder(finished, tmp_path):
    other = shutil.copy(finished / "small.npz", tmp_path / "other.npz")
    folder = tmp_path / "figures"
    assert main(["plot", str(finished / "small.npz"), str(other), "--out", str(folder)]) == 0
    assert names(folder) == {"small.svg", "small.png", "other.svg", "other.png"}


def test_plot_every_result_of_a_folder(finished, tmp_path, capsys):
    for name in ("one", "two"):
        shutil.copy(finished / "small.npz", tmp_path / f"{name}.npz")
    assert main(["plot", str(tmp_path), "--out", str(tmp_path / "figures")]) == 0
    assert names(tmp_path / "figures") == {"one.svg", "one.png", "two.svg", "two.png"}
    (tmp_path / "empty").mkdir()
    for command in (["plot"], ["compare"], ["export", "--parquet"]):
        capsys.readouterr()
        assert main([command[0], str(tmp_path / "empty"), *command[1:]]) == 2
        assert error(capsys) == f"{tmp_path / 'empty'} must have results (.npz), and has none"


def test_plot_does_not_draw_two_results_to_one_file(finished, tmp_path, capsys):
    twin = shutil.copy(finished / "small.npz", tmp_path)
    assert main(["plot", str(finished / "small.npz"), str(twin), "--out", str(tmp_path / "f")]) == 2
    assert error(capsys).endswith(f"and {twin} would be drawn to the same files")


def test_plot_of_something_else(spec, capsys):
    assert main(["plot", str(spec)]) == 2
    assert "is not a whole result file of thrifty" in error(capsys)
    assert main(["plot", "none.npz"]) == 2
    assert error(capsys) == "none.npz: No such file or directory"


def test_plot_of_a_snapshot_says_what_it_is(tmp_path, capsys):
    snapshot = tmp_path / "bandit.npz"
    thrifty.Bandit(thrifty.TSMA(), 3).save(snapshot)
    capsys.readouterr()  # that kernels are being compiled, if nobody had needed them before
    assert main(["plot", str(snapshot)]) == 2
    right = f"{snapshot} is not a result file: it is a snapshot of a bandit, which Bandit.load reads"
    assert error(capsys) == right
    assert names(tmp_path) == {"bandit.npz"}


# ---- all commands ----


@pytest.mark.parametrize("command", [[], ["policies"], ["simulate"], ["plot"]])
def test_help_has_examples(capsys, command):
    with pytest.raises(SystemExit) as done:
        main([*command, "--help"])
    assert done.value.code == 0
    assert f"  {' '.join(['thrifty', *command])}" in capsys.readouterr().out.partition("example")[2]


def test_no_command(capsys):
    assert main([]) == 2
    assert error(capsys) == "the following arguments are required: COMMAND (see thrifty --help)"


def test_a_terminal_without_greek(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["policies"]) == 0
    assert b"M?nard & Garivier 2017" in terminal.buffer.getvalue()


def test_the_installed_script_is_quiet_when_its_reader_leaves():
    script = Path(sys.executable).with_name("thrifty")
    with subprocess.Popen([script, "policies"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
