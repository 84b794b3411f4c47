"""A progress bar with the time left, on standard error so that standard output stays clean."""

import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from thrifty import checks
from thrifty.errors import InvalidType

Advance = Callable[[int], None]
AFTER = 2.0  # seconds of work without a bar, unless one was asked for


def wanted(progress: object) -> bool | None:
    """Whether a bar is to be shown: always, never, or of work that takes long."""
    if not isinstance(progress, bool | None):
        raise InvalidType(f"progress must be True, False or None, got {checks.shown(progress)}")
    return progress


def _seen() -> bool:
    """Whether somebody looks: at a terminal, or at a notebook, which has a kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    try:
        return sys.stderr.isatty() or hasattr(shell, "kernel")
    except (AttributeError, ValueError):  # there is no standard error, or it was closed
        return False


@contextmanager
def bar(total: int, description: str, *, shown: bool | None, done: int = 0) -> Iterator[Advance]:
    """Yields a function to call with the work just done. Safe to call from several threads.

    Nothing is shown unless this is a terminal or a notebook; and if ``shown`` is None, only of work that
    takes more than two seconds. ``done`` was done before, and does not count for the time left.
    """
    if wanted(shown) is False or not _seen():
        yield lambda more: None
        return
    if importlib.util.find_spec("ipywidgets"):
        from tqdm.auto import tqdm
    else:  # a bar of text, in a notebook too; tqdm.auto would complain there
        from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0  # no thread that stays

    lock = threading.RLock()
    Bar.set_lock(lock)  # instead of one for processes too
    look = "{desc} {bar} {percentage:3.0f}% elapsed {elapsed} left {remaining}"
    delay = AFTER if shown is None else 0.0
    settings = {"bar_format": look, "dynamic_ncols": True, "smoothing": 0.01, "miniters": 1, "delay": delay}
    with Bar(desc=description, total=total, initial=done, **settings) as shown_bar:

        def advance(more: int) -> None:
            with lock:
                shown_bar.update(more)

        yield advance
