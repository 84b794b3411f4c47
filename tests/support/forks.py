"""Programs forked from a process that has imported all that a server needs, kernels too: to start anew takes
more time than most tests do."""

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.support.loaded"])


class Forked:
    """A program with its arguments; the rest is as ``subprocess.Popen`` has it."""

    def __init__(self, program: str, arguments: list[str], stderr: IO[str] | None = None) -> None:
        read, write = FORKS.Pipe(duplex=False)
        said = None if stderr is None else stderr.name
        self._process = FORKS.Process(target=_run, args=(program, arguments, write, said), daemon=True)
        self._process.start()
        write.close()
        self.stdout = os.fdopen(os.dup(read.fileno()))
        read.close()
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        assert self._process.exitcode is not None
        return self._process.exitcode


def _run(program: str, arguments: list[str], stdout: Connection, stderr: str | None) -> None:
    os.dup2(stdout.fileno(), 1)
    stdout.close()
    sys.stdout = os.fdopen(1, "w", closefd=False)
    if stderr is not None:
        with Path(stderr).open("a") as file:
            os.dup2(file.fileno(), 2)
        sys.stderr = os.fdopen(2, "w", closefd=False)
    sys.argv = ["-c", *arguments]
    exec(program, {"__name__": "__main__"})
