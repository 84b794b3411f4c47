"""``/metrics``: what Prometheus reads. Labels are experiments, never arms."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from thrifty.serve.service import Service

MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class _Collector(Collector):
    def __init__(self, service: "Service") -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        service = self._service
        decided = CounterMetricFamily("thrifty_decisions", "decisions that were made", labels=["experiment"])
        closed = CounterMetricFamily(
            "thrifty_closed", "decisions that have an outcome", labels=["experiment"]
        )
        rewards = CounterMetricFamily("thrifty_rewards", "rewards that count", labels=["experiment"])
        answers = CounterMetricFamily(
            "thrifty_reward_answers", "what was answered since the start", labels=["status"]
        )
        total = 0
        for name, experiment in list(service.experiments.items()):
            decided.add_metric([name], experiment.decisions)
            closed.add_metric([name], experiment.closed)
            rewards.add_metric([name], experiment.pulls)
            total += experiment.decisions
        for status, count in list(service.answered.items()):
            answers.add_metric([status], count)
        yield from (decided, closed, rewards, answers)
        size = sum(path.stat().st_size for path in files(service.store.path))
        for name, said, value in (
            ("thrifty_ready", "whether state and kernels are there", service.ready),
            ("thrifty_store_away", "whether the store cannot be written to", service.log.away),
            ("thrifty_queue", "rows that wait to be written", service.log.queued),
            ("thrifty_due_stopped", "whether nothing that is due is closed", bool(service.due.stopped)),
            ("thrifty_store_bytes", "the size of the store", size),
            ("thrifty_bytes_per_decision", "the size of the store by its decisions", size / max(1, total)),
        ):
            yield GaugeMetricFamily(name, said, float(value))


def files(path: str) -> list[Path]:
    """Those of a store that are there."""
    return [found for end in ("", "-wal") if (found := Path(path + end)).exists()]


def exposed(service: "Service") -> bytes:
    registry = CollectorRegistry()
    registry.register(_Collector(service))
    return generate_latest(registry)
