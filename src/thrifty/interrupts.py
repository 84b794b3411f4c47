"""Ctrl-C that waits for a moment."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C is heard when this is over: for what must not be left half done, and for code of others that
    loses it or turns it into another error.

    >>> try:
    ...     with uninterrupted():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("whole")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    whole
    interrupted
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield  # it is ignored, or some other thread hears it
        return
    heard: list[tuple[int, object]] = []
    signal.signal(signal.SIGINT, lambda *event: heard.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            handler(*heard[0])  # type: ignore[arg-type]
