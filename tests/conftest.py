"""Before thrifty is imported: kernels are compiled into a folder of this session, so that none is stale.

Set NUMBA_CACHE_DIR to keep them between sessions: the package names its folders by its code.
"""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# Tests start hundreds of processes. Where bytecode is not to be written beside the code, each would compile
# Numba and SciPy anew, 1.5 s, and each worker the tests, 10 s: they find it in a folder that stays instead.
# Python sees by itself what is stale there. That of files which tests write goes with the session.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    _bytecode = Path(__file__).parents[1] / ".pytest_cache" / "bytecode"
    _passing = _bytecode.joinpath(*Path(tempfile.gettempdir()).resolve().parts[1:])
    atexit.register(
        lambda: [shutil.rmtree(folder, ignore_errors=True) for folder in _passing.glob("pytest-*")]
    )
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(_bytecode)
    os.environ["PYTHONPYCACHEPREFIX"] = str(_bytecode)

if not os.environ.get("NUMBA_CACHE_DIR"):
    _folder = tempfile.TemporaryDirectory(prefix="thrifty-kernels-", ignore_cleanup_errors=True)
    atexit.register(_folder.cleanup)
    os.environ["NUMBA_CACHE_DIR"] = _folder.name

# A job in a shell's background ignores Ctrl-C, and so would every process that it starts. Tests need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A session makes many objects that stay, compilers most of them: to look through them again and again takes a
# twentieth of its time.
gc.set_threshold(50_000, 20, 100)
# The same examples in every session, and no deadline: the first example of a test may compile a kernel.
settings.register_profile("thrifty", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("thrifty")


# Tests that compile next to nothing that others need: of numbers, of figures, and of copies of the tree.
APART = (
    "tests/numerics/", "tests/paper/", "tests/report/", "tests/policies/test_one_file.py",
    "tests/laws/test_adding_a_law.py", "tests/engines/test_adding_an_engine.py",
    "tests/schedules/test_adding_a_schedule.py",
)  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples in docstrings are those of the package. There are none in tests, and to look for them would
    import what only tests with servers need, and compile it."""
    return [one for one in (yield) if not isinstance(one, DoctestModule)]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two workers begin with the first test and with the one in the middle. There are tests that compile
    little: else both would want the same kernels at once, and one waits while the other one compiles."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        apart = [item for item in items if item.nodeid.startswith(APART)]
        others = [item for item in items if not item.nodeid.startswith(APART)]
        half = min(len(items) // 2, len(others))
        items[:] = others[:half] + apart + others[half:]
    gc.freeze()  # what was imported stays: tests that look for garbage do not look there
