"""Which versions of Numba the kernels were tried with.

What compiles them (``jit.py``, ``state/header.py``, ``numerics/arithmetic.py``) works below Numba's surface,
which may change with any release. Beyond the range that was tried, an error says so before anything is
compiled wrongly.
"""

import re

from thrifty.errors import Unsupported

FIRST, BEYOND = (0, 62), (0, 69)  # as in pyproject.toml


def check_numba(found: str) -> None:
    """Refuse a version, such as ``numba.__version__``, that was not tried."""
    parts = re.match(r"(\d+)\.(\d+)", found)
    if parts is None or not FIRST <= (int(parts[1]), int(parts[2])) < BEYOND:
        tried = ">={}.{},<{}.{}".format(*FIRST, *BEYOND)
        raise Unsupported(f"Numba {found} was not tried with this thrifty: pip install 'numba{tried}'")
