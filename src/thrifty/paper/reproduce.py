"""The reproduction in one call: results, figures, claims and the page."""

import dataclasses
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from thrifty.errors import FileError, InvalidValue
from thrifty.paper.claim import Results
from thrifty.paper.claims import claims
from thrifty.paper.experiments import Experiment, experiments
from thrifty.paper.figures import Exhibit, exhibits
from thrifty.paper.report import report
from thrifty.paper.store import gather
from thrifty.report import figures
from thrifty.simulation import progress as progress_bar
from thrifty.simulation import storage
from thrifty.simulation.run import cores

THEORY = "theory"  # needs no simulation


def reproduce(
    out: Path,
    *,
    full: bool = False,
    seed: int = 0,
    workers: int | None = None,
    only: Sequence[str] | None = None,
    progress: bool = False,
) -> Path:
    """Simulate what is missing in ``out/results``, and write figures, claims.json and report.html from there.

    ``only`` names what to simulate (see ``names``); the page shows all that ``out`` has, from this call or an
    earlier one. Returns the path of the page.
    """
    everything = experiments(full=full)
    chosen = _chosen(everything, only)
    folder = _folder(out / "results")
    known = [one for one in everything if one in chosen or (folder / f"{one.name}.npz").exists()]
    results = gather(known, folder, seed, workers or cores(), progress=progress)
    whole = {name: results[name] for name in _whole(everything, results)}

    shown = exhibits(whole)
    drawings = _draw(shown, _folder(out / "figures"), progress=progress)
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


def _folder(path: Path) -> Path:
    """Make sure, before hours of work, that their results can be written."""
    for part in (*reversed(path.parents), path):
        if part.exists() and not part.is_dir():
            raise FileError(f"the folder for the reproduction must be a folder, and {part} is a file")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise FileError(f"cannot make or write to the folder {path}: {error.strerror}") from None
    return path


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
