"""Work that another process does: it comes second, ends with who waits, and says what went wrong."""

import asyncio
import os
import sys
import threading
import time

import pytest

from thrifty.errors import ThriftyError
from thrifty.serve import apart


def other(program: str, sent: bytes = b"") -> apart._Other:
    return apart._Other([sys.executable, "-c", program], sent)


def test_whoever_serves_comes_first() -> None:
    code, written, said = other("import os, sys; print(sys.stdin.read(), os.nice(0))", b"hello").run()
    assert (code, said) == (0, b"")
    assert written.split() == [b"hello", str(max(os.nice(0), apart.YIELDING)).encode()]


def test_nobody_waits_for_it_any_more() -> None:
    """It ends at once, whether it has begun or not."""
    begun, early = other("import time; time.sleep(600)"), other("import time; time.sleep(600)")
    early.end()
    assert early.run()[0] < 0
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(begun.run()[0]))
    thread.start()
    while begun._process is None:
        time.sleep(0.001)
    begun.end()
    thread.join()
    assert codes[0] < 0


def test_what_went_wrong_is_said() -> None:
    with pytest.raises(ThriftyError, match=r"No module named thrifty\.serve\.nothing"):
        asyncio.run(apart.run("thrifty.serve.nothing"))


def test_ctrl_c_in_a_terminal_is_not_for_it() -> None:
    _, group, _ = other("import os; print(os.getpgrp())").run()
    assert int(group) != os.getpgrp()
