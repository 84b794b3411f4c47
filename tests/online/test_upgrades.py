"""Saved state survives upgrades: files of earlier versions load, and go on as they did there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thrifty
from tests.support.recorded import FOLDER, NEXT, begun, go_on

SAVED = sorted(FOLDER.glob("*/*.npz"))


def test_every_version_has_its_files() -> None:
    for folder in FOLDER.iterdir():
        decisions = json.loads((folder / "decisions.json").read_text())
        assert decisions.keys() == {file.stem for file in folder.glob("*.npz")}


@pytest.mark.parametrize("file", SAVED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_file_of_an_earlier_version_makes_the_same_next_decisions(file: Path) -> None:
    bandit = thrifty.Bandit.load(file)
    assert bandit.statistics()["pending"].sum() > 0
    decisions = json.loads((file.parent / "decisions.json").read_text())[file.stem]
    assert len(decisions) == NEXT
    assert go_on(bandit, NEXT) == decisions


# How a later version adds a component to every state: the texts that are replaced, and by what.
LATER = {
    "state/statistics.py": {
        "\nCOMPONENTS = (": (
            '\nNEWBORN = Component("newborn", (Field("newborn", np.int64, start=7),))'
            "\nCOMPONENTS = (NEWBORN, "
        ),
    },
    "engines/memory.py": {"PARAMETERS, statistics.CORE)": "PARAMETERS, statistics.CORE, statistics.NEWBORN)"},
}

AFTERWARDS = """
import sys
import numpy as np
from tests.support.recorded import NEXT, go_on
import thrifty
from thrifty import storage
from thrifty.online import snapshot

for name in sys.argv[1:-1]:
    bandit = thrifty.Bandit.load(name)
    assert (bandit._player.core.memory.state.newborn == 7).all()
    bandit._player.core.memory.state.newborn[0] = 8
    bandit.save(sys.argv[-1])
    assert thrifty.Bandit.load(sys.argv[-1])._player.core.memory.state.newborn[0] == 8
    print(go_on(bandit, NEXT))

header, arrays = storage.read(snapshot.Path(sys.argv[-1]), "bandit")
del header["format"], header["digest"], arrays["newborn"]
header["digest"] = snapshot._digest(header, arrays)
storage.write(snapshot.Path("without.npz"), header, arrays, compressed=False)
try:
    thrifty.Bandit.load("without.npz")
except thrifty.FileError as error:
    print(error)
"""


def test_a_component_that_comes_later_refuses_no_file_of_before(tmp_path: Path) -> None:
    """In a copy of the package that has another component, files of today get its start. Today's refuses that
    one's files."""
    package = Path(thrifty.__file__).parent
    shutil.copytree(package, tmp_path / "thrifty", ignore=shutil.ignore_patterns("__pycache__"))
    for name, changes in LATER.items():
        text = (tmp_path / "thrifty" / name).read_text()
        for old, new in changes.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (tmp_path / "thrifty" / name).write_text(text)
    bandits = {name: begun(name) for name in ("sleepers-duel", "kinetic-ucb-v", "ada-ucb-priors", "npts")}
    for name, bandit in bandits.items():
        bandit.save(tmp_path / f"{name}.npz")
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    files = [*(f"{name}.npz" for name in bandits), FOLDER / "0.1.0" / "tournament-ts-ma.npz", "later.npz"]
    done = subprocess.run(
        [sys.executable, "-c", AFTERWARDS, *files],
        env=os.environ | {"PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *decisions, refusal = done.stdout.splitlines()
    bandits["0.1.0"] = thrifty.Bandit.load(files[-2])
    assert decisions == [str(go_on(bandit, NEXT)) for bandit in bandits.values()]
    assert refusal.endswith("the state has no entry 'newborn'")
    with pytest.raises(thrifty.FileError, match="an entry 'newborn', which this version does not know"):
        thrifty.Bandit.load(tmp_path / "later.npz")
