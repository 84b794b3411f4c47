"""Chunks on the cores of this machine, in processes of their own: the death of one costs its chunk alone."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import connection
from typing import Any

from thrifty.errors import ThriftyError
from thrifty.simulation.run import Outcome, compile_for
from thrifty.simulation.spec import Spec
from thrifty.sweeps import chunks

Job = tuple[Spec, chunks.Chunk]
Played = Iterator[tuple[int, list[Outcome]]]  # numbers of jobs and their outcomes
DEATHS = 3  # of workers in a row, with nothing finished in between: then it is not chance


class Processes:
    """So many of them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def play(self, jobs: Sequence[Job]) -> Played:
        """Yields the number and the outcomes of each job, in the order in which they end."""
        for spec in dict.fromkeys(spec for spec, _ in jobs):  # here, once, and not in each process
            compile_for(spec.plan())
        left, deaths = deque(range(len(jobs))), 0
        idle: list[_Worker] = []
        busy: dict[Any, tuple[_Worker, int]] = {}
        ended: list[tuple[int, list[Outcome]]] = []
        try:
            while left or busy:
                while left and len(busy) < self.workers:
                    worker, number = idle.pop() if idle else _Worker(), left.popleft()
                    busy[worker.pipe] = worker, number
                    worker.give(jobs[number])
                yield from ended  # while the processes are at work
                ended.clear()
                for pipe in connection.wait(list(busy)):
                    worker, number = busy.pop(pipe)
                    outcomes = worker.take()
                    if outcomes is None:
                        worker.end()
                        left.appendleft(number)
                        deaths += 1
                        _check(deaths)
                    else:
                        idle.append(worker)
                        ended.append((number, outcomes))
                        deaths = 0
            yield from ended
        finally:
            for worker in (*idle, *(worker for worker, _ in busy.values())):
                worker.end()


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, its = context.Pipe()
        self._process = context.Process(target=_work, args=(its,), daemon=True)
        self._process.start()
        its.close()  # so that the pipe ends with the process

    def give(self, job: Job) -> None:
        with contextlib.suppress(OSError):  # it is dead, and ``take`` will notice
            self.pipe.send(job)

    def take(self) -> list[Outcome] | None:
        """The outcomes of the job, or None if the process has died."""
        try:
            answer: list[Outcome] | Exception = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, Exception):
            self.end()
            raise answer
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Any) -> None:
    """The life of a process: jobs come, outcomes go, until nobody wants any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent decides
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()
    while True:
        job = pipe.recv()
        try:
            answer: list[Outcome] | Exception = chunks.play(*job)
        except Exception as error:
            answer = error
        pipe.send(answer)


def _leave_with(sentinel: int) -> None:
    """A worker whose parent is gone, however that happened, must not stay."""
    connection.wait([sentinel])
    os._exit(1)


def _check(deaths: int) -> None:
    if deaths >= DEATHS:
        raise ThriftyError(
            f"{deaths} workers in a row died before they finished anything: is there enough memory? "
            "(In a script, sweep must be called under if __name__ == '__main__'.)"
        )
