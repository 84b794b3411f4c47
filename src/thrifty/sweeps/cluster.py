"""Chunks on a Dask cluster: the same function, mapped over the workers of many machines."""

from collections.abc import Sequence
from importlib import import_module
from types import TracebackType
from typing import Any

from thrifty.errors import InvalidValue, MissingExtra, ThriftyError
from thrifty.sweeps import chunks
from thrifty.sweeps.local import Job, Played


class Cluster:
    """A client of a Dask scheduler: of the one with this address, or the client that there is already."""

    def __init__(self, scheduler: str | None) -> None:
        try:
            self._dask: Any = import_module("dask.distributed")
        except ImportError:
            raise MissingExtra("a cluster needs Dask: pip install 'thrifty[dask]'") from None
        self._own = scheduler is not None
        try:
            self._client = self._dask.Client(scheduler) if self._own else self._dask.Client.current()
        except OSError as error:
            raise ThriftyError(f"cannot reach a Dask scheduler at {scheduler}: {error}") from None
        except (ValueError, AssertionError) as error:  # the second from addresses that are none
            right = "the address of a Dask scheduler, or a dask.distributed.Client must be there"
            raise InvalidValue(f"scheduler must be {right}, got {scheduler!r} ({error})") from None

    @property
    def workers(self) -> int:
        """How many chunks are played at a time, now."""
        return sum(self._client.nthreads().values())

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own:
            self._client.close()

    def play(self, jobs: Sequence[Job]) -> Played:
        """Yields the number and the outcomes of each job, in the order in which they end.

        Jobs of a worker that is lost go to others.
        """
        futures = [self._client.submit(chunks.play, *job, pure=False) for job in jobs]
        number = {future.key: i for i, future in enumerate(futures)}
        try:
            for future, outcomes in self._dask.as_completed(futures, with_results=True):
                if isinstance(outcomes, BaseException):  # how a lost connection shows: all is cancelled
                    raise ThriftyError("lost the Dask scheduler; once it is back, the same command goes on")
                yield number[future.key], outcomes
                future.release()
        except self._dask.KilledWorker as error:
            raise ThriftyError(f"a chunk was given up, since its workers died: {error}") from None
        finally:  # after Ctrl-C nobody plays on for nobody
            for future in futures:
                future.release()
