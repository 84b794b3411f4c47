"""Before thrifty is imported: kernels are compiled into a folder of this session, so that none is stale.

Set NUMBA_CACHE_DIR to keep them between sessions: the package names its folders by its code.
"""

import atexit
import os
import tempfile

from hypothesis import settings

if not os.environ.get("NUMBA_CACHE_DIR"):
    _folder = tempfile.TemporaryDirectory(prefix="thrifty-kernels-", ignore_cleanup_errors=True)
    atexit.register(_folder.cleanup)
    os.environ["NUMBA_CACHE_DIR"] = _folder.name

# The same examples in every session, and no deadline: the first example of a test may compile a kernel.
settings.register_profile("thrifty", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("thrifty")
