"""Chunks on a Dask cluster: the same function, mapped over the workers of many machines."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from thrifty.errors import MissingExtra
from thrifty.simulation.run import Outcome
from thrifty.sweeps import chunks
from thrifty.sweeps.local import Job

RETRIES = 3  # of a chunk whose worker died


def play(jobs: Sequence[Job], scheduler: str) -> Iterator[tuple[int, list[Outcome]]]:
    """Yields the number and the outcomes of each job, in the order in which they end."""
    try:
        distributed: Any = import_module("dask.distributed")
    except ImportError:
        raise MissingExtra("a cluster needs Dask: pip install 'thrifty[dask]'") from None
    with distributed.Client(scheduler) as client:
        futures = [client.submit(chunks.play, *job, pure=False, retries=RETRIES) for job in jobs]
        number = {future.key: i for i, future in enumerate(futures)}
        for future, outcomes in distributed.as_completed(futures, with_results=True):
            yield number[future.key], outcomes
            future.release()
