"""Chunks on the cores of this machine, in processes of their own: the death of one costs its chunk alone."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import connection
from typing import Any

from thrifty.errors import ThriftyError
from thrifty.interrupts import uninterrupted
from thrifty.simulation.run import Outcome, compile_for
from thrifty.simulation.spec import Spec
from thrifty.sweeps import chunks

Job = tuple[Spec, chunks.Chunk]
News = tuple[int, list[Outcome] | int]  # the number of a job, and its outcomes or how much more of it is done
Played = Iterator[News]
EVERY = 0.1  # seconds: so often a worker tells how much it has done
DEATHS = 3  # of workers in a row, with nothing finished in between: then it is not chance


class Processes:
    """So many of them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def play(self, jobs: Sequence[Job]) -> Played:
        """Yields the number and the outcomes of each job, in the order in which they end, and before that how
        much of it was done since the last time, in arms looked at."""
        for spec in dict.fromkeys(spec for spec, _ in jobs):  # here, once, and not in each process
            compile_for(spec.plan())
        left, deaths = deque(range(len(jobs))), 0
        idle: list[_Worker] = []
        busy: dict[Any, tuple[_Worker, int]] = {}
        news: list[News] = []
        try:
            while left or busy:
                while left and len(busy) < self.workers:
                    worker, number = idle.pop() if idle else _Worker(), left.popleft()
                    busy[worker.pipe] = worker, number
                    worker.give(jobs[number])
                yield from news  # while the processes are at work
                news.clear()
                for pipe in connection.wait(list(busy)):
                    worker, number = busy.pop(pipe)
                    answer = worker.take()
                    if answer is None:
                        worker.end()
                        left.appendleft(number)
                        deaths += 1
                        _check(deaths)
                        continue
                    news.append((number, answer))
                    if isinstance(answer, int):
                        busy[pipe] = worker, number
                    else:
                        idle.append(worker)
                        deaths = 0
            yield from news
        finally:
            for worker in (*idle, *(worker for worker, _ in busy.values())):
                worker.end()


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, its = context.Pipe()
        self._process = context.Process(target=_work, args=(its,), daemon=True)
        try:
            with _deaf():
                self._process.start()
            its.close()  # so that the pipe ends with the process
        except BaseException:
            self.end()
            raise

    def give(self, job: Job) -> None:
        with contextlib.suppress(OSError):  # it is dead, and ``take`` will notice
            self.pipe.send(job)

    def take(self) -> list[Outcome] | int | None:
        """The outcomes of the job, how much more of it is done, or None if the process has died."""
        try:
            answer: list[Outcome] | int | Exception = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, Exception):
            self.end()
            raise answer
        return answer

    def end(self) -> None:
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()
        self.pipe.close()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """To start a process: Ctrl-C waits until this is over, and the new one does not hear it until it can say
    so."""
    with uninterrupted(), contextlib.ExitStack() as after:
        if hasattr(signal, "pthread_sigmask"):  # not on Windows
            multiprocessing.get_context("spawn").Lock()  # starts the resource tracker, which would unblock
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            after.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        yield


def _work(pipe: Any) -> None:
    """The life of a process: jobs come, outcomes go, until nobody wants any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent decides
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()
    done, told = 0, time.monotonic()

    def advance(more: int) -> None:
        nonlocal done, told
        done += more
        if time.monotonic() - told >= EVERY:
            pipe.send(done)
            done, told = 0, time.monotonic()

    while True:
        try:
            (spec, chunk), done = pipe.recv(), 0
        except EOFError:
            return
        except Exception as error:  # a class that is not to be found here
            pipe.send(ThriftyError(f"a worker cannot read what it is to play: {error}"))
            continue
        try:
            answer: list[Outcome] | Exception = chunks.play(spec, chunk, advance)
        except Exception as error:
            answer = _sendable(error)
        pipe.send(answer)


def _sendable(error: Exception) -> Exception:
    """An error, or what it says if pickle cannot take it from here to there: a policy may raise anything."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return ThriftyError(f"a worker met {type(error).__name__}: {error}")


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
