"""A progress bar with the time left, on standard error so that standard output stays clean."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


@contextmanager
def bar(total: int, description: str, *, shown: bool, done: int = 0) -> Iterator[Advance]:
    """Yields a function to call with the work just done. Safe to call from several threads.

    Nothing is shown unless this is a terminal or a notebook. ``done`` was done before, and does not count for
    the time left.
    """
    if not shown or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda more: None
        return
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0  # no thread that stays

    lock = threading.RLock()
    Bar.set_lock(lock)  # instead of one for processes too
    look = "{desc} {bar} {percentage:3.0f}% elapsed {elapsed} left {remaining}"
    settings = {"bar_format": look, "dynamic_ncols": True, "smoothing": 0.01, "miniters": 1}
    with Bar(desc=description, total=total, initial=done, **settings) as shown_bar:

        def advance(more: int) -> None:
            with lock:
                shown_bar.update(more)

        yield advance
