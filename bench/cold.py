"""Cold start: what somebody waits for who has just installed thrifty, and in every new process after that.

Imports are timed in fresh interpreters: of the package, and with the first name that is used, which brings in
NumPy and Numba. The first ``simulate`` of an engine is timed in a process that finds nothing compiled,
then in processes that find it in the cache; imports are no part of it. Of later processes the least time
counts, because nothing but disturbances makes it longer. The environment whose size is shown is made by uv
for the purpose, with what thrifty itself needs and no more.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import HERE, Row, keeping_bytecode, progress
from contestants import reason

LATER_ONLY = ("scipy.special", "matplotlib", "tqdm", "polars", "pandas")  # imported when used, if at all

IMPORT = """
import json, sys, time
began = time.perf_counter()
import thrifty
imported = time.perf_counter()
thrifty.simulate
used = time.perf_counter()
loaded = [name for name in sys.argv[1:] if name in sys.modules]
print(json.dumps([imported - began, used - began, loaded]))
"""
SIMULATE = """
import json, sys, time
import thrifty
policy, simulate = getattr(thrifty, sys.argv[1])(), thrifty.simulate
problem = thrifty.Bernoulli([0.9] + [0.8] * 999)
wall, processor = time.perf_counter(), time.process_time()
simulate(policy, problem, horizon=2000, runs=1, engine=sys.argv[2])
print(json.dumps([time.perf_counter() - wall, time.process_time() - processor]))
"""
ENGINES = {
    "tournament": "TSMA",
    "scan": "ThompsonSampling",
    "sleepers": "ThompsonSampling",
    "kinetic": "UCB1",
}


class Extent(NamedTuple):
    """How much is measured."""

    engines: tuple[str, ...]
    repeats: int


def cold(extent: Extent) -> Row:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {
            "import": imports(folder, extent.repeats),
            "simulate": [first(engine, folder, extent.repeats) for engine in extent.engines],
            "installed": installed(folder),
        }


def child(program: str, arguments: Sequence[str], folder: Path) -> tuple[Any, str]:
    """What a program answers and says in a fresh interpreter, which may keep its bytecode as usual."""
    places = {"NUMBA_CACHE_DIR": str(folder / "numba"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=keeping_bytecode() | places
    )
    return json.loads(done.stdout), done.stderr


def imports(folder: Path, repeats: int) -> Row:
    """Seconds of ``import thrifty`` and of that with its first use: without bytecode, and later on."""
    progress("cold start: import thrifty")
    first, *later = (child(IMPORT, LATER_ONLY, folder)[0] for _ in range(1 + repeats))
    packages, uses, loaded = zip(*later, strict=True)
    return {
        "package": {"empty": first[0], "warm": min(packages)},
        "used": {"empty": first[1], "warm": min(uses)},
        "loaded": loaded[0],
    }


def first(engine: str, folder: Path, repeats: int) -> Row:
    """Seconds of the first ``simulate`` of a process: nothing compiled yet, and compiled."""
    progress(f"cold start: the first simulate on {engine}, nothing compiled")
    arguments = (ENGINES[engine], engine)
    (empty, processor), said = child(SIMULATE, arguments, folder)
    warm = min(child(SIMULATE, arguments, folder)[0][0] for _ in range(repeats))
    return {"engine": engine, "empty": empty, "processor": processor, "warm": warm, "says": said.strip()}


def installed(folder: Path) -> Row:
    """The bytes of an environment with thrifty and what it needs, and of the parts that are largest."""
    progress("cold start: an environment with thrifty alone")
    target = folder / "environment"
    if shutil.which("uv") is None:
        return {"failed": "there is no program 'uv', which makes the environment"}
    done = subprocess.run(
        ["uv", "sync", "--frozen", "--no-dev", "--no-editable", "--project", str(HERE.parent)],
        env=os.environ | {"UV_PROJECT_ENVIRONMENT": str(target)}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        return {"failed": reason(done.stderr)}
    packages = next(target.glob("lib/*/site-packages"), None) or target / "Lib" / "site-packages"
    parts = {path.name: size(path) for path in packages.iterdir()}
    largest = sorted(parts, key=lambda name: -parts[name])[:6]
    return {"bytes": sum(parts.values()), "largest": {name: parts[name] for name in largest}}


def size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if not file.is_dir())
