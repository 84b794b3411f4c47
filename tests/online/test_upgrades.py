"""Saved state survives upgrades: files of earlier versions load, and go on as they did there."""

import json
from pathlib import Path

import pytest
from recorded import FOLDER, NEXT, go_on

import thrifty

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
