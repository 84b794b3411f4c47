"""Before thrifty is imported: kernels are compiled into a folder of this session, so that none is stale.

Set NUMBA_CACHE_DIR to keep them between sessions: the package names its folders by its code.
"""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

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

# A session makes many objects that stay, compilers most of them: to look through them again and again takes a
# twentieth of its time.
gc.set_threshold(50_000, 20, 100)
# The same examples in every session, and no deadline: the first example of a test may compile a kernel.
settings.register_profile("thrifty", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("thrifty")
