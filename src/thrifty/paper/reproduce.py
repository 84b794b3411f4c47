"""The reproduction in one call: results, figures, claims and the page."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from thrifty import checks, storage
from thrifty.errors import InvalidValue
from thrifty.paper.claim import Results
from thrifty.paper.claims import claims
from thrifty.paper.experiments import Experiment, experiments
from thrifty.paper.figures import Exhibit, exhibits
from thrifty.paper.report import report
from thrifty.paper.store import gather
from thrifty.report import figures
from thrifty.simulation import progress as progress_bar
from thrifty.simulation.run import cores

THEORY = "theory"  # needs no simulation


def reproduce(
    out: Path,
    *,
    full: bool = False,
    seed: int = 1,
    workers: int | None = None,
    only: Sequence[str] | None = None,
    progress: bool = False,
    note: Callable[[str], None] = lambda line: None,
) -> Path:
    """Simulate what is missing in ``out/results``, and write figures, claims.json and report.html from there.

    ``only`` names what to simulate (see ``names``); the page shows all that ``out`` has, from this call or an
    earlier one. Returns the path of the page.
    """
    everything = experiments(full=full)
    chosen = _chosen(everything, only)
    folder = storage.writable(out / "results")
    known = [one for one in everything if one in chosen or (folder / f"{one.name}.npz").exists()]
    workers = cores() if workers is None else checks.integer("workers", workers, at_least=1)
    results = gather(known, folder, seed, workers, progress=progress, note=note)
    whole = {name: results[name] for name in _whole(everything, results)}

    note("drawing the figures and writing the page")
    shown = exhibits(whole)
    drawings = _draw(shown, storage.writable(out / "figures"), progress=progress)
    decided = claims(whole)
    text = json.dumps([dataclasses.asdict(claim) for claim in decided], indent=2, ensure_ascii=False) + "\n"
    _write(out / "claims.json", text)
    return _write(out / "report.html", report(whole, decided, shown, drawings, full=full, seed=seed))


def names(everything: Sequence[Experiment]) -> list[str]:
    """What ``only`` can name: the groups of the experiments, and theory."""
    groups = [group for one in everything for group in one.group.split(",")]
    return [*dict.fromkeys(groups), THEORY]


def _chosen(everything: Sequence[Experiment], only: Sequence[str] | None) -> Sequence[Experiment]:
    if only is None:
        return everything
    allowed = names(everything)
    for name in only:
        if name not in allowed:
            raise InvalidValue(f"only must name some of {', '.join(allowed)}, got {name!r}")
    return [one for one in everything if set(one.group.split(",")) & set(only)]


def _whole(everything: Sequence[Experiment], results: Results) -> list[str]:
    """The results of which no companion is missing: an earlier call may have been interrupted."""
    missing = {one.group for one in everything if one.name not in results}
    return [one.name for one in everything if one.group not in missing]


def _draw(shown: Sequence[Exhibit], folder: Path, *, progress: bool) -> dict[str, Path]:
    """Write every panel as PNG and SVG; the SVG files by the name of the panel."""
    panels = {name: panel for exhibit in shown for name, panel in exhibit.panels.items()}
    drawings = {}
    with progress_bar.bar(len(panels), "drawing", shown=progress) as advance:
        for name, panel in panels.items():
            figures.save(panel, folder / f"{name}.png")
            drawings[name] = figures.save(panel, folder / f"{name}.svg")
            advance(1)
    return drawings


def _write(path: Path, text: str) -> Path:
    storage.replace(path, lambda file: file.write(text.encode()))
    return path
