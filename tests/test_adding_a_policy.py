"""The page on adding a policy is followed to the letter: its files are written, and its code runs."""

import contextlib
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from thrifty import cli

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding-a-policy.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(
    r"^```(python|toml|text)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
)
FILES = {found[1]: text for _, text in BLOCKS if (found := re.match(r"# ([\w.]+)\n", text))}
OURS = ("kl_ucb_h.py",)  # of thrifty itself: tests/policies/test_one_file.py
SCRIPTS = [
    text for kind, text in BLOCKS if kind == "python" and "import thrifty\n\n" in text and text[0] != "#"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the files of the page lie, and can be imported from."""
    path = tmp_path_factory.mktemp("mine")
    written = {name: text for name, text in FILES.items() if name not in OURS}
    for name, text in written.items():
        (path / name).write_text(text)
    sys.path.insert(0, str(path))
    yield path
    sys.path.remove(str(path))
    for name in written:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.fixture(scope="module")
def mine(folder: Path) -> Any:
    """The classes of the page, by name."""
    names = [name for name in FILES if name.endswith(".py") and name not in OURS]
    modules: list[ModuleType] = [__import__(name.removesuffix(".py")) for name in names]
    kinds = (value for module in modules for value in vars(module).values() if isinstance(value, type))
    return type("Mine", (), {kind.__name__: kind for kind in kinds})


@pytest.fixture(scope="module")
def scripts(folder: Path) -> list[dict[str, Any]]:
    """What each script of the page defines, and under "printed" the lines that it prints."""
    found = []
    with contextlib.chdir(folder):
        for script in SCRIPTS:
            printed: list[str] = []
            names: dict[str, Any] = {"__name__": "page", "print": printed.append, "printed": printed}
            exec(compile(script, "docs/adding-a-policy.md", "exec"), names)
            found.append(names)
    return found


MEANS = [0.2 + 0.6 * i / 11 for i in range(12)]  # all different, so that the regret tells who was pulled


def pulled(policy: thrifty.Policy, engine: str = "scan", horizon: int = 1500, **more: Any) -> Any:
    """Which arm was pulled in each round, in three runs."""
    result = thrifty.simulate(
        policy,
        thrifty.Bernoulli(MEANS),
        horizon,
        runs=3,
        seed=5,
        engine=engine,
        checkpoints=range(1, horizon + 1),
        **more,
    )
    gaps = np.diff(result.regret[0], axis=1, prepend=0.0)
    return np.rint(11 - gaps * 11 / 0.6).astype(int)


def test_the_page_shows_what_its_code_prints(scripts: list[dict[str, Any]]) -> None:
    printed = ["\n".join(names["printed"]) + "\n" for names in scripts if names["printed"]]
    assert printed == [text for kind, text in BLOCKS if kind == "text"]
    assert len(scripts) == 3


def test_the_rising_index_has_the_regret_of_ucb1(scripts: list[dict[str, Any]]) -> None:
    """592.9 (standard error 2.0) by independent code: K = 10, T = 10^4, one arm of 0.9, the others 0.8."""
    result: thrifty.Result = scripts[0]["result"]
    assert result.settings.problem == thrifty.Bernoulli([0.9] + 9 * [0.8])
    assert result.settings.horizon == 10**4
    assert result.settings.policies[0] == {"name": "rising:UCB", "width": 2.0}
    regret = result.regret[0, :, -1]
    error = regret.std(ddof=1) / math.sqrt(regret.size)
    assert abs(regret.mean() - 592.9) < 4.0 * math.hypot(error, 2.0)


def test_a_policy_of_the_page_is_a_policy_like_any_other(mine: Any, tmp_path: Path) -> None:
    make = mine.UCB
    assert eval(repr(make(0.25)), {"UCB": make}) == make(width=0.25) != make()
    problem, settings = thrifty.Bernoulli([0.3, 0.6]), {"horizon": 300, "runs": 3, "seed": 2}
    alone = thrifty.simulate(make(), problem, workers=1, **settings)
    company = thrifty.simulate([thrifty.TSMA(), make()], problem, workers=2, **settings)
    assert np.array_equal(alone.pulls[0], company.pulls[1])
    assert np.array_equal(alone.regret[0], company.regret[1])
    with pytest.raises(
        thrifty.InvalidValue, match=r"engine must be one of scan, kinetic for UCB\(width=2\.0\)"
    ):
        thrifty.simulate(make(), problem, 300, engine="tournament")
    started = thrifty.simulate(make(), problem, prior=(0.5, 1.0), **settings)
    assert started.pulls.sum() == 3 * 300
    loaded = thrifty.Result.load(alone.save(tmp_path / "ucb.npz"))
    assert loaded.labels == ("UCB(width=2.0)",)
    assert np.array_equal(loaded.regret, alone.regret)


def test_the_rising_index_runs_on_kinetic_as_on_scan(mine: Any) -> None:
    assert mine.UCB().runs_on == ("scan", "kinetic")
    for width in (0.1, 2.0):
        assert np.array_equal(pulled(mine.UCB(width)), pulled(mine.UCB(width), "kinetic"))
    late = thrifty.GeometricDelay(20)
    assert np.array_equal(pulled(mine.UCB(), delay=late), pulled(mine.UCB(), "kinetic", delay=late))
    assert np.array_equal(pulled(mine.UCB()), pulled(thrifty.UCB1()))


def test_the_committed_index_runs_on_tournament_as_on_scan(mine: Any) -> None:
    assert mine.Committed().runs_on == ("scan", "tournament")
    for power in (0.5, 1.0):
        assert np.array_equal(pulled(mine.Committed(power)), pulled(mine.Committed(power), "tournament"))
    late = thrifty.GeometricDelay(20)
    committed = mine.Committed()
    assert np.array_equal(pulled(committed, delay=late), pulled(committed, "tournament", delay=late))
    assert np.array_equal(pulled(committed), pulled(thrifty.MOSS()))


def test_helper_methods_are_called(mine: Any) -> None:
    assert np.array_equal(pulled(mine.Helped()), pulled(mine.UCB(width=0.5)))
    assert not np.array_equal(pulled(mine.Helped(careful=True)), pulled(mine.Helped()))


def test_the_index_with_a_variance_is_ucb_v(mine: Any) -> None:
    assert mine.Varied().runs_on == ("scan",)
    assert np.array_equal(pulled(mine.Varied(1.2)), pulled(thrifty.UCBV(1.2)))
    assert np.array_equal(pulled(mine.Varied(), prior=(0.5, 2.0)), pulled(thrifty.UCBV(), prior=(0.5, 2.0)))


def test_the_index_with_numbers_of_its_own_weighs_recent_rewards_more(mine: Any, tmp_path: Path) -> None:
    """Against the formula, by hand; and through a file, which keeps the numbers."""
    factor, width = 0.9, 0.5
    rng = np.random.default_rng(3)
    bandit = thrifty.Bandit(mine.Recent(factor, width), 6, seed=1)
    told: list[list[float]] = [[] for _ in range(6)]
    for t in range(400):
        arm = bandit.select()
        if t >= 6:
            sums = [[sum(r * factor**k for k, r in enumerate(x[::-1])) for x in told]]
            sums.append([sum(factor**k for k in range(len(x))) for x in told])
            index = np.divide(*sums) + np.sqrt(width * math.log(t) / np.array(sums[1]))
            assert index[arm] >= index.max() - 1e-12
        told[arm].append(round(rng.random() * (1.0 if arm == t // 100 else 0.7), 3))
        bandit.update(arm, told[arm][-1])
        if t == 200:
            bandit.save(tmp_path / "recent.npz")
            bandit = thrifty.Bandit.load(tmp_path / "recent.npz", policies=[mine.Recent])
    assert np.array_equal(pulled(mine.Recent(1.0, 2.0)), pulled(thrifty.UCB1()))


def test_the_index_that_sees_other_arms_is_imed(mine: Any) -> None:
    assert np.array_equal(pulled(mine.Relative(1.0)), pulled(thrifty.IMED("gaussian")))


def test_the_drawn_index_is_thompson_sampling_and_counts_its_draws(mine: Any) -> None:
    problem, settings = thrifty.Bernoulli([0.3, 0.6, 0.5]), {"horizon": 400, "runs": 3, "engine": "scan"}
    own = thrifty.simulate(mine.Drawn(), problem, **settings)
    ours = thrifty.simulate(thrifty.ThompsonSampling(), problem, **settings)
    assert np.array_equal(own.pulls, ours.pulls)
    assert np.array_equal(own.draws, ours.draws)
    assert own.draws.sum() == 3 * (400 - 3) * 3
    assert np.array_equal(own.evaluations, ours.evaluations)


def test_the_law_of_the_page_is_logistic(mine: Any) -> None:
    law = mine.Logistic(0.4)
    a, b = law.parameters(9.0, 6.0)
    known = stats.logistic(2.0 / 3.0, 0.4 / 3.0)
    for c in (-30.0, -1.0, 0.5, 0.7, 1.0, 5.0, 30.0):
        assert law.sf(a, b, c) == pytest.approx(known.sf(c), rel=1e-12)
    for p in (1e-300, 1e-20, 1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9):
        assert law.isf(a, b, p) == pytest.approx(known.isf(p), rel=1e-12)


@pytest.mark.parametrize("schedule", ["fresh", "epsilon", "duel"])
def test_the_law_of_the_page_runs_on_sleepers_with_every_schedule(mine: Any, schedule: str) -> None:
    """Decisions have the same law on scan: the mean regrets of 600 runs differ by less than four errors."""
    law = mine.Logistic(0.4)
    policy = {
        "fresh": thrifty.ThompsonSampling(law),
        "epsilon": thrifty.EpsilonTS(law, 0.2),
        "duel": thrifty.TSTD(0.5, law, phi=9),
    }[schedule]
    assert policy.runs_on == ("scan", "sleepers")
    assert policy.schedule == schedule
    regrets = [
        thrifty.simulate(policy, thrifty.Bernoulli(MEANS), 300, runs=600, seed=seed, engine=engine).regret[
            0, :, -1
        ]
        for seed, engine in enumerate(("scan", "sleepers"))
    ]
    difference = regrets[0].mean() - regrets[1].mean()
    error = math.hypot(*(regret.std(ddof=1) / math.sqrt(regret.size) for regret in regrets))
    assert abs(difference) < 4.0 * error
    assert error < 0.1 * regrets[0].mean()


def test_the_law_of_the_page_runs_on_tournament_as_on_scan(mine: Any) -> None:
    policy = thrifty.TSMA(0.8, mine.Logistic(0.4))
    assert np.array_equal(pulled(policy), pulled(policy, "tournament"))
    batch = thrifty.TSMA(0.8, mine.Logistic(0.4), phi=5, sampling="batch")
    assert np.array_equal(pulled(batch), pulled(batch, "tournament"))


def test_the_spec_of_the_page_runs(folder: Path, mine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", str(folder / "mine.toml")]) == 0
    printed = capsys.readouterr().out
    assert "UCB(width=0.5)" in printed
    assert "TS-MA-0 (Logistic)" in printed


def test_an_entry_point_gives_a_short_name(
    folder: Path, mine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an installed package has one: its metadata lie on the path."""
    (points,) = (text for kind, text in BLOCKS if kind == "toml" and "entry-points" in text)
    ((group, name, target),) = re.findall(r'entry-points\."(.*)"\]\n(\S+) = "(\S+)"\n', points)
    metadata = folder / "mine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    short = FILES["mine.toml"].replace("rising:UCB", name)
    assert f'`name = "{name}"`' in PAGE
    (folder / "short.toml").write_text(short)
    assert cli.main(["simulate", str(folder / "short.toml")]) == 0
    assert "UCB(width=0.5)" in capsys.readouterr().out
    (folder / "wrong.toml").write_text(short.replace(name, "UCB-with"))
    assert cli.main(["simulate", str(folder / "wrong.toml")]) != 0
    assert "UCB-with" in capsys.readouterr().err


def test_a_file_with_a_class_that_nobody_handed_over_is_refused(mine: Any, tmp_path: Path) -> None:
    for policy, name in [
        (mine.Committed(), "committed:Committed"),
        (thrifty.TSMA(law=mine.Logistic()), "logistic:Logistic"),
    ]:
        thrifty.Bandit(policy, 3, horizon=100, seed=1).save(tmp_path / "bandit.npz")
        with pytest.raises(thrifty.ThriftyError, match=name):
            thrifty.Bandit.load(tmp_path / "bandit.npz")
        loaded = thrifty.Bandit.load(tmp_path / "bandit.npz", policies=[mine.Committed, mine.Logistic])
        assert loaded.policy == policy
