"""Chunks on the cores of this machine: one process each, so that the death of one costs its chunk alone."""

import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection

from thrifty.errors import ThriftyError
from thrifty.simulation.run import Outcome
from thrifty.simulation.spec import Spec
from thrifty.sweeps import chunks

Job = tuple[Spec, chunks.Chunk]
DEATHS = 3  # of workers in a row, with nothing finished in between: then it is not chance


def play(jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, list[Outcome]]]:
    """Yields the number and the outcomes of each job, in the order in which they end."""
    left, deaths = dict(enumerate(jobs)), 0
    while left:
        try:
            for number, outcomes in _play(left, workers):
                del left[number]
                deaths = 0
                yield number, outcomes
        except BrokenProcessPool:
            deaths += 1
            if deaths >= DEATHS:
                raise ThriftyError(
                    f"{deaths} workers in a row died before they finished anything: is there enough memory?"
                ) from None


def _play(left: dict[int, Job], workers: int) -> Iterator[tuple[int, list[Outcome]]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_follow_parent) as pool:
        waiting: dict[Future[list[Outcome]], int] = {}
        order = iter(list(left.items()))
        try:
            while True:
                for number, (spec, chunk) in order:
                    waiting[pool.submit(chunks.play, spec, chunk)] = number
                    if len(waiting) >= 2 * workers:
                        break
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _follow_parent() -> None:
    """A worker whose parent is gone, however that happened, must not stay."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
