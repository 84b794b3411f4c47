"""The smoke set on every other supported CPython that uv or pyenv has installed, and on the oldest libraries.

``uv run python .ci/pythons.py``, after ``uv run pytest``: the Python of both is taken for tested. Of each
minor version the newest release is run, in an environment of its own. The exit code is 0 if all that should
run has run and passed. A Python for which the lock file has no wheel of Numba is reported, and no failure.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SMOKE = ("pytest", "tests/test_smoke.py")

# Asked of every interpreter, however old.
ASK = """
import os, platform, sys, sysconfig
print(platform.python_implementation())
print(".".join(map(str, sys.version_info[:3])))
print(os.path.realpath(sys.executable))
print(sysconfig.get_config_var("Py_GIL_DISABLED") or 0)
"""


class Python(NamedTuple):
    """An interpreter, as it describes itself."""

    version: tuple[int, ...]
    path: str
    implementation: str = "CPython"
    free_threaded: bool = False

    def __str__(self) -> str:
        return f"{self.implementation} {'.'.join(map(str, self.version))}{'t' * self.free_threaded}"


def installed() -> set[str]:
    """The paths of all interpreters that uv or pyenv knows. uv sees pyenv's shims, but not behind them."""
    listing = ["uv", "python", "list", "--only-installed", "--output-format", "json"]
    known = subprocess.run(listing, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    paths = {one["path"] for one in json.loads(known.stdout)}
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        paths |= {str(path) for path in Path(root, "versions").glob("*/bin/python")}
    return paths


def ask(path: str) -> Python:
    """What an interpreter says about itself."""
    asked = subprocess.run([path, "-c", ASK], check=True, stdout=subprocess.PIPE, text=True)
    implementation, version, real, free_threaded = asked.stdout.split("\n")[:4]
    return Python(tuple(map(int, version.split("."))), real, implementation, free_threaded != "0")


def oldest(project: str) -> tuple[int, ...]:
    """The first Python that pyproject.toml allows."""
    bound = re.fullmatch(r">=(\d+)\.(\d+)", tomllib.loads(project)["project"]["requires-python"])
    assert bound is not None
    return tuple(map(int, bound.groups()))


def wheels(lock: str) -> set[tuple[int, ...]]:
    """The minor versions of CPython for which uv.lock has a wheel of Numba."""
    (numba,) = (package for package in tomllib.loads(lock)["package"] if package["name"] == "numba")
    tags = (re.search(r"-cp(\d)(\d+)-cp\1\2-", wheel["url"]) for wheel in numba["wheels"])
    return {(int(tag[1]), int(tag[2])) for tag in tags if tag}


def choose(
    pythons: Iterable[Python], tested: Python, first: tuple[int, ...], wheels: set[tuple[int, ...]]
) -> tuple[list[Python], list[str]]:
    """Those to run, oldest first; and of all others, why they are not."""
    chosen = {tested.version[:2]: tested}
    others = [f"{tested}: ran the whole suite"]
    for python in sorted(set(pythons) - {tested}, reverse=True):
        minor = python.version[:2]
        if python.implementation != "CPython":
            others.append(f"{python}: not supported, it is not CPython")
        elif minor < first:
            others.append(f"{python}: not supported, it is too old")
        elif python.free_threaded:
            others.append(f"{python}: not supported, it is free-threaded")
        elif minor not in wheels:
            others.append(f"{python}: not supported yet, Numba has no wheel for it")
        elif minor in chosen:
            others.append(f"{python}: {chosen[minor]} stands for it")
        else:
            chosen[minor] = python
    return sorted(set(chosen.values()) - {tested}), others


def run(*command: str) -> bool:
    """Whether a command succeeds, in the tree and outside of the environment that this script is in."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


def smoke(python: Python) -> bool:
    """With the libraries of the lock file."""
    return run("uv", "run", "--locked", "--isolated", "--python", python.path, *SMOKE)


def smoke_lowest(python: Python) -> bool:
    """With the oldest libraries that pyproject.toml allows, of those with a wheel."""
    install = ("uv", "pip", "install", "--quiet", "--resolution", "lowest-direct", "--group", "dev")
    compiled = [f"--only-binary={name}" for name in ("numba", "numpy", "scipy", "matplotlib", "polars")]
    with tempfile.TemporaryDirectory() as folder:
        there = f"{folder}/bin/python"
        return (
            run("uv", "venv", "--quiet", "--python", python.path, folder)
            and run(*install, *compiled, "--python", there, "--editable", ".")
            and run(there, "-m", *SMOKE)
        )


def main(tested: Python) -> int:
    """Run all that should run, and say what was run; ``tested`` has run the whole suite."""
    failures, pythons = [], []
    for path in sorted(installed()):
        try:
            pythons.append(ask(path))
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            failures.append(f"{path} was found and cannot be run: {error}")
    first = oldest((ROOT / "pyproject.toml").read_text())
    chosen, report = choose(pythons, tested, first, wheels((ROOT / "uv.lock").read_text()))
    jobs = [(str(python), smoke, python) for python in chosen]
    bottom = min([tested, *chosen])
    jobs.append((f"{bottom} with the oldest libraries", smoke_lowest, bottom))
    for name, job, python in jobs:
        print(f"\n{name}, {python.path}", flush=True)
        began = time.monotonic()
        passed = job(python)
        line = f"{name}: the smoke set {'passed' if passed else 'FAILED'}, {time.monotonic() - began:.0f} s"
        (report if passed else failures).append(line)
    print("\nPythons:", *report, *failures, sep="\n  ", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(ask(sys.executable)))
