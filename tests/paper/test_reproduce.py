"""The reproduction from end to end: whole on hand-made results, in part on small experiments."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.world import RUNS, world
from thrifty import storage
from thrifty.errors import FileError, InvalidValue
from thrifty.paper import reproduce as module
from thrifty.paper import store
from thrifty.paper.claim import FAILS, HOLDS, Claim
from thrifty.paper.experiments import Experiment, experiments
from thrifty.paper.reproduce import reproduce
from thrifty.paper.words import advice, findings
from thrifty.report import figures
from thrifty.simulation.plan import Plan
from thrifty.simulation.progress import Advance
from thrifty.simulation.result import Result

KEYS = ["id", "place", "claim", "paper", "measured", "error", "runs", "settings", "verdict"]
GROUPS = ("figure1", "draws-", "arms-", "cost-")
PANELS = 11  # four and the trade of Figure 1, Figures 2 and 3, arms, cost, and two of the lemma


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Played:
    """Notes the experiments that are really simulated; ``stop_at`` interrupts before one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stop_at: int | None = None) -> None:
        self.names: list[str] = []
        execute = store.execute

        def noted(ready: Plan, workers: int, advance: Advance) -> Result:
            if len(self.names) == stop_at:
                raise KeyboardInterrupt
            settings = ready.settings
            asked = (settings.problem, settings.horizon, settings.runs)
            self.names += [
                one.name
                for one in module.experiments(full=False)
                if (one.problem, one.horizon, one.runs) == asked
            ]
            return execute(ready, workers, advance)

        monkeypatch.setattr(store, "execute", noted)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[Experiment]:
    """The experiments of Figures 2 and 3 and with bounded rewards, for a thousand rounds, and no drawing."""
    chosen = [
        dataclasses.replace(one, horizon=1000, runs=2)
        for one in experiments(full=False)
        if one.name.startswith(("draws-", "bounded-"))
    ]
    monkeypatch.setattr(module, "experiments", lambda *, full: chosen)
    monkeypatch.setattr(module, "exhibits", lambda results: [])
    return chosen


@contextmanager
def hand_made(*beginnings: str) -> Iterator[None]:
    """Experiments of full size whose results are written down instead of simulated; small images."""
    results = world()
    rest = {
        "made": "2024-07-15T12:00:00+00:00",
        "machine": {"cores": 2, "processor": "x86_64", "system": "Linux"},
        "versions": {"python": "3.11.7", "thrifty": "0.1.0"},
    }

    def execute(ready: Plan, workers: int, advance: Advance) -> Result:
        result = next(one for one in results.values() if one.settings == ready.settings)
        return dataclasses.replace(result, provenance=result.provenance | rest)

    all_of_them = experiments(full=False)
    chosen = [dataclasses.replace(one, runs=RUNS) for one in all_of_them if one.name.startswith(beginnings)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "experiments", lambda *, full: chosen)
        patch.setattr(store, "execute", execute)
        patch.setattr(figures, "DPI", 30)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One reproduction of half of everything; drawing the other half would only take time."""
    out = tmp_path_factory.mktemp("whole") / "out"
    with hand_made(*GROUPS):
        assert reproduce(out) == out / "report.html"
    return out


def test_it_writes_results_figures_claims_and_the_page(whole: Path) -> None:
    written = files(whole)
    names = [one.name for one in experiments(full=False) if one.name.startswith(GROUPS)]
    assert {f"results/{name}.{kind}" for name in names for kind in ("npz", "json")} <= written.keys()
    drawn = {name.removeprefix("figures/") for name in written if name.startswith("figures/")}
    assert {"figure1-alpha0.9.svg", "figure2.png", "figure3.svg", "cost.svg", "trade.png"} < drawn
    assert len(drawn) == 2 * PANELS  # as SVG and PNG
    assert {name for name in written if "/" not in name} == {"claims.json", "report.html"}


def test_claims_json_is_a_list_of_objects_with_the_agreed_keys(whole: Path) -> None:
    rows = json.loads((whole / "claims.json").read_text())
    assert len(rows) > 30
    assert all(list(row) == KEYS for row in rows)


def test_the_page_shows_everything_and_loads_nothing(whole: Path) -> None:
    page = (whole / "report.html").read_text()
    for title in (
        "Figures",
        "Every claim",
        "The bounds, evaluated",
        "What to take from it",
        "How this page was made",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count("data:image/svg+xml;base64,") == PANELS
    assert "http" not in page.replace("http-equiv", "")
    rows = json.loads((whole / "claims.json").read_text())
    assert page.count('class="badge') == len(rows)  # a verdict in words and with a sign, for each claim
    assert page.count("✗ does not hold as stated") == sum(row["verdict"] == FAILS for row in rows)
    assert f"Of {len(rows)} claims, " in page
    assert "thrifty reproduce --quick --seed 1" in page


def test_again_nothing_is_simulated_and_every_byte_is_the_same(tmp_path: Path) -> None:
    with hand_made("draws-"):
        reproduce(tmp_path)
        before = files(tmp_path)
        assert len(before) == 3 * 2 + 4 * 2 + 2  # results, panels, claims and page
        with pytest.MonkeyPatch.context() as patch:
            played = Played(patch)
            patch.setattr(Result, "_check", lambda *_: None)  # numbers made by hand are those of no run
            reproduce(tmp_path, workers=1)
    assert played.names == []
    assert files(tmp_path) == before


def test_after_an_interruption_it_goes_on_where_it_stopped(
    tmp_path: Path, small: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [one.name for one in small]
    with monkeypatch.context() as patch:
        first = Played(patch, stop_at=4)
        with pytest.raises(KeyboardInterrupt):
            reproduce(tmp_path / "stopped", workers=2)
    assert first.names == names[:4]
    assert not (tmp_path / "stopped" / "report.html").exists()
    with monkeypatch.context() as patch:
        second = Played(patch)
        reproduce(tmp_path / "stopped", workers=1)
    assert second.names == names[4:]
    reproduce(tmp_path / "straight", workers=2)
    stopped, straight = (
        {n: data for n, data in files(tmp_path / f).items() if n.endswith(".npz")}
        for f in ("stopped", "straight")
    )
    assert len(stopped) == len(small)
    assert stopped == straight


def test_only_simulates_what_it_names_and_the_page_shows_what_is_there(
    tmp_path: Path, small: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played(monkeypatch)
    reproduce(tmp_path, only=["figure3"], workers=2)
    assert played.names == ["draws-m1", "draws-m5", "draws-m10"]
    identifiers = {row["id"] for row in json.loads((tmp_path / "claims.json").read_text())}
    assert "ts-td-0-draws" in identifiers
    assert "any-bounded-reward" not in identifiers
    reproduce(tmp_path, only=["theory"])
    assert len(played.names) == 3
    assert {row["id"] for row in json.loads((tmp_path / "claims.json").read_text())} == identifiers


def test_a_series_that_was_interrupted_is_not_shown(
    tmp_path: Path, small: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Played(patch, stop_at=4)
        with pytest.raises(KeyboardInterrupt):
            reproduce(tmp_path)
    reproduce(tmp_path, only=["theory"])
    identifiers = {row["id"] for row in json.loads((tmp_path / "claims.json").read_text())}
    assert "ts-td-0-draws" in identifiers  # all three of draws- were done
    assert "any-bounded-reward" not in identifiers  # one of three of bounded- was


def test_only_names_what_is_allowed(tmp_path: Path) -> None:
    allowed = "figure1, figure2, figure3, grid, growth, arms, bounded, worst-case, cost, theory"
    with pytest.raises(InvalidValue, match=f"only must name some of {allowed}, got 'figure4'"):
        reproduce(tmp_path / "out", only=["figure1", "figure4"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["out", "out/deeper"])
def test_an_out_that_is_a_file_is_refused(
    tmp_path: Path, small: list[Experiment], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "out").write_text("mine")
    played = Played(monkeypatch)
    with pytest.raises(FileError, match="out is a file"):
        reproduce(tmp_path / place)
    assert played.names == []
    assert files(tmp_path) == {"out": b"mine"}


def test_an_out_that_cannot_be_written_is_refused(
    tmp_path: Path, small: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    played = Played(monkeypatch)
    monkeypatch.setattr(storage.tempfile, "TemporaryFile", refuse)
    with pytest.raises(FileError, match=r"cannot make or write to the folder .*: Permission denied"):
        reproduce(tmp_path)
    assert played.names == []


def test_an_out_with_results_of_other_settings_is_refused(
    tmp_path: Path, small: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if what is asked for now is something else: one folder holds one reproduction."""
    reproduce(tmp_path, only=["figure2"], seed=1)
    before = files(tmp_path)
    played = Played(monkeypatch)
    for only in (None, ["figure2"], ["bounded"], ["theory"]):
        with pytest.raises(FileError, match=r"draws-m1\.npz was made with seed 1, .* this call has seed 2"):
            reproduce(tmp_path, only=only, seed=2)
    assert played.names == []
    assert files(tmp_path) == before


def test_findings_follow_from_the_verdicts() -> None:
    def claim(name: str, verdict: str, measured: str) -> Claim:
        return Claim(name, "", "", "", measured, None, None, "", verdict)

    names = ("ts-td-0.8-draws-m1", "ts-td-0.8-draws-m10", "ts-td-suboptimal-draws-negligible")
    (kept,) = findings([claim(name, HOLDS, "2.5e6") for name in names])
    (lost,) = findings([claim(name, FAILS, "1.9e7") for name in names])
    assert "are reproduced" in kept
    assert "are not reproduced by the algorithm as stated: TS-TD-0.8 draws 1.9e7 samples" in lost
    assert kept.endswith("are negligible.")
    assert lost.endswith("are not negligible.")
    assert findings([claim(names[0], HOLDS, "")]) == []  # the others are not known


def test_advice_has_the_numbers_of_the_results() -> None:
    """In the hand-made results TS-TD-1 draws 1.38e6 where TS-TD-0 draws 2e7, and loses 2200 to its 1500."""
    results = world()
    said = advice(results)
    assert len(said) == 5
    assert "93 % fewer draws for 1.5 times the regret at α = 1" in said[0]
    assert "divides the regret of Thompson sampling by 5.0" in said[2]
    assert advice({name: one for name, one in results.items() if name.startswith("draws-")}) == said[:1]
    lost = {name: dataclasses.replace(one, provenance={}) for name, one in results.items()}
    assert advice(lost) == said[:4]  # the last speaks of times
    assert advice({}) == []


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_must_be_a_number_from_1_up(tmp_path: Path, small: list[Experiment], workers: int) -> None:
    with pytest.raises(InvalidValue, match="workers must be at least 1"):
        reproduce(tmp_path, workers=workers)


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import thrifty.paper.reproduce"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MissingExtra: figures need matplotlib: pip install 'thrifty[plot]'" in done.stderr
