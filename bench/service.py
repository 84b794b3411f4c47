"""The decision service: what a decision costs, how long one waits for it, and what one would write instead.

Every server is on one core and is asked by the same clients from another one. Contestants take turns, so that
what disturbs the machine for a while disturbs all of them.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import psutil
from load import as_fast_as_they_are_answered, at_a_rate

from thrifty.client import Client
from thrifty.table import aligned

HERE = Path(__file__).parent
POLICIES = {"TS-MA": {"name": "TSMA"}, "Beta TS": {"name": "ThompsonSampling", "law": "beta"}}
THRIFTY = "import sys; from thrifty.cli import main; sys.exit(main())"
SCRIPT = ["uv", "run", "--python", f"{sys.version_info.major}.{sys.version_info.minor}", "--script"]


class Server:
    """A server in a process of its own, on one core."""

    def __init__(self, name: str, command: Sequence[str], core: int) -> None:
        self.name = name
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert self._process.stdout is not None
        found = re.search(r"at (http://\S+)", self._process.stdout.readline())
        assert found, f"{name} does not start"
        self.url = found[1]
        self._root = psutil.Process(self._process.pid)
        for process in self._all():
            for thread in process.threads():  # what is begun later inherits it
                os.sched_setaffinity(thread.id, {core})

    def _all(self) -> list[psutil.Process]:
        return [self._root, *self._root.children(recursive=True)]

    @property
    def cpu(self) -> float:
        """Seconds of processor time, also of those that it started."""
        return sum(sum(process.cpu_times()[:4]) for process in self._all())

    def threads(self) -> dict[int, float]:
        """Seconds of processor time by thread: the first is the event loop's."""
        return {thread.id: thread.user_time + thread.system_time for thread in self._root.threads()}

    def begin_samples(self) -> None:
        self._root.send_signal(signal.SIGUSR1)

    def stop(self) -> None:
        others = self._root.children(recursive=True)
        self._root.terminate()
        self._process.wait(30)
        for process in psutil.wait_procs(others, timeout=10)[1]:
            process.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()


def thrifty(
    name: str, folder: Path, policy: dict[str, Any], arms: int, core: int, sample: Path | None
) -> Server:
    store = f"sqlite:///{folder / f'{len(list(folder.iterdir()))}.db'}"
    first = ["-c", THRIFTY] if sample is None else [str(HERE / "service.py"), "--sampled", str(sample)]
    server = Server(name, [sys.executable, *first, "serve", "--port", "0", "--store", store], core)
    with httpx.Client(base_url=server.url, timeout=600.0, trust_env=False) as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        answer = client.put("/v1/experiments/bench", json={"policy": policy, "arms": arms})
        assert answer.status_code == 201, answer.text
    return server


def empty(core: int) -> Server:
    return Server("empty endpoint", [sys.executable, str(HERE / "peers" / "service_empty.py")], core)


def fastapi(kind: str, folder: Path, arms: int, core: int) -> Server:
    file = folder / f"{len(list(folder.iterdir()))}.db"
    program = str(HERE / "peers" / "service_fastapi.py")
    return Server(f"FastAPI + {kind}", [*SCRIPT, program, kind, str(arms), str(file)], core)


def costs(servers: list[Server], count: int, options: argparse.Namespace) -> list[tuple[float, float]]:
    """Microseconds of the server's processor time for a decision, and decisions a second, as medians."""
    body = b"{}" if count == 1 else json.dumps({"count": count}).encode()
    found: list[list[tuple[float, float]]] = [[] for _ in servers]
    for i in range(options.repeats + 1):
        for server, slices in zip(servers, found, strict=True):
            before = server.cpu
            asked, took = as_fast_as_they_are_answered(server.url, body, options.connections, options.slice)
            if i > 0:  # the first is for warming up
                slices.append(((server.cpu - before) / (asked * count) * 1e6, asked * count / took))
    return [(median(cpu for cpu, _ in slices), median(rate for _, rate in slices)) for slices in found]


def cost_rows(
    arms: int, options: argparse.Namespace, folder: Path
) -> tuple[list[list[str]], list[list[str]]]:
    with ExitStack() as stack:
        servers = [empty(options.core)]
        stack.callback(servers[0].stop)
        for name in options.policies:
            server = thrifty(f"thrifty, {name}", folder, POLICIES[name], arms, options.core, None)
            servers.append(server)
            stack.callback(server.stop)
        kinds = (
            []
            if options.alone
            else ["numpy", "river"]
            if arms <= 100
            else ["numpy"]
            if arms <= 10_000
            else []
        )
        for kind in kinds:
            servers.append(fastapi(kind, folder, arms, options.core))
            stack.callback(servers[-1].stop)
        single = costs(servers, 1, options)
        one = [
            [server.name, f"{arms:,}", f"{cpu:.0f}", f"{cpu / single[0][0]:.2f}", f"{rate:,.0f}"]
            for server, (cpu, rate) in zip(servers, single, strict=True)
        ]
        batched = costs(servers[: 1 + len(options.policies)], 100, options)
        many = [
            [server.name, f"{arms:,}", f"{cpu:.2f}", f"{rate:,.0f}"]
            for server, (cpu, rate) in zip(servers, batched, strict=False)
        ]
    return one, many


def wait_rows(arms: int, options: argparse.Namespace, folder: Path) -> list[list[str]]:
    rows = []
    for name in options.policies:
        server = thrifty(f"thrifty, {name}", folder, POLICIES[name], arms, options.core, None)
        try:
            at_a_rate(server.url, 100, options.connections, 1.0)
            for rate in options.rates:
                rows.append([server.name, f"{arms:,}", *waits(server, rate, options)])
        finally:
            server.stop()
    for kind in () if options.alone or arms > 10_000 else ("numpy",):
        server = fastapi(kind, folder, arms, options.core)
        try:
            at_a_rate(server.url, 100, options.connections, 1.0)
            for rate in options.rates:
                rows.append([server.name, f"{arms:,}", *waits(server, rate, options)])
        finally:
            server.stop()
    return rows


WAITING = 128  # connections of those who ask at a rate, so that nobody waits for a free one


def waits(server: Server, rate: float, options: argparse.Namespace) -> list[str]:
    before, own, began = server.cpu, time.process_time(), time.perf_counter()
    found = at_a_rate(server.url, rate, WAITING, options.seconds)
    took = time.perf_counter() - began
    shown = [f"{rate:,.0f}", f"{found['decisions']:,.0f}", f"{found['rewards']:,.0f}"]
    for waited in (*found["times"].values(), found["own"]):
        times = quantiles(waited, n=100)
        shown += [f"{1e3 * times[49]:.1f}", f"{1e3 * times[98]:.1f}"]
    return [*shown, f"{(server.cpu - before) / took:.0%}", f"{(time.process_time() - own) / took:.0%}"]


def disk_rows(options: argparse.Namespace, folder: Path) -> list[list[str]]:
    """Bytes of the store for a decision, and when a disk is full."""
    rows = []
    for batch, rewards in ((1, False), (1, True), (100, False), (100, True)):
        server = thrifty("disk", folder, POLICIES["TS-MA"], 100, options.core, None)
        file = max(folder.glob("*.db"), key=lambda path: path.stat().st_mtime)
        with Client(server.url, decide_timeout=60.0, reward_timeout=60.0) as client:
            for _ in range(options.decisions // batch):
                made = client.decide("bench", count=batch)
                if rewards:
                    client.reward_many(made, [1.0] * batch)
        server.stop()
        size = file.stat().st_size / options.decisions
        days = [100e9 / (size * rate * 86400) for rate in (10, 100, 1000)]
        shown = "with their rewards" if rewards else "alone"
        rows.append([f"by {batch}, {shown}", f"{size:.0f}", *(f"{day:,.0f}" for day in days)])
    return rows


def profile(options: argparse.Namespace, folder: Path, arms: int) -> None:
    """Where the time goes, of decisions alone and of decisions with rewards."""
    name = options.policies[0]
    for what in ("decisions", "decisions and as many rewards"):
        file = folder / f"{what}.json"
        server = thrifty(name, folder, POLICIES[name], arms, options.core, file)
        at_a_rate(server.url, 100, options.connections, 1.0)
        server.begin_samples()
        before, cpu = server.threads(), server.cpu
        if what == "decisions":
            asked, _ = as_fast_as_they_are_answered(server.url, b"{}", options.connections, options.seconds)
        else:
            found = at_a_rate(server.url, options.rates[0], options.connections, options.seconds)
            asked = sum(map(len, found["times"].values()))
        after, total = server.threads(), server.cpu - cpu
        server.stop()
        loop, threads = after[min(after)] - before[min(before)], sum(after.values()) - sum(before.values())
        by = {
            "event loop": loop,
            "other threads": threads - loop,
            "other processes": max(0.0, total - threads),
        }
        print(f"\nWhere the time of {what} goes, {name}, {arms:,} arms, {asked:,} requests")
        rows = [(part, f"{1e6 * took / asked:.0f}") for part, took in by.items()]
        print(aligned(("part", "µs for a request"), rows))
        samples = json.loads(file.read_text())
        whole, count = sum(samples["itself"].values()), samples["count"]
        for title in ("package", "itself", "with what it calls"):
            rows = [(at, f"{took / whole:.1%}") for at, took in Counter(samples[title]).most_common(18)]
            print(f"\nThe event loop, {title}: {count:,} samples")
            print(aligned(("where", "share"), rows))


def sampled(file: Path, arguments: list[str]) -> None:
    """thrifty, with samples of where its main thread is, each weighed by the time that it took."""
    from thrifty.cli import main

    found: dict[str, Counter[str]] = {key: Counter() for key in ("itself", "package", "with what it calls")}
    count, last = 0, 0.0

    def look(number: int, frame: Any) -> None:
        nonlocal count, last
        now = time.thread_time()
        took, last, count = now - last, now, count + 1
        stack = [_place(one) for one, _ in traceback.walk_stack(frame)]
        if stack:
            found["itself"][stack[0]] += took
            found["package"][stack[0].partition("/")[0].partition(" ")[0]] += took
            for place in {place for place in stack if place.startswith("thrifty/serve")}:
                found["with what it calls"][place] += took

    def begin(number: int, frame: Any) -> None:
        nonlocal last
        last = time.thread_time()
        signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)

    signal.signal(signal.SIGPROF, look)
    signal.signal(signal.SIGUSR1, begin)
    code = main(arguments)
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    file.write_text(json.dumps({**found, "count": count}))
    sys.exit(code)


def _place(frame: Any) -> str:
    """A function, by the package that it is in."""
    path = frame.f_code.co_filename
    short = re.split(r"site-packages/|/src/|lib/python[\d.]+/", path)[-1]
    return f"{short} {frame.f_code.co_qualname}"


def read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="100 arms, one policy, short slices: half a minute"
    )
    parser.add_argument("--arms", type=int, nargs="+", default=[100, 10_000, 1_000_000])
    parser.add_argument("--policies", nargs="+", choices=[*POLICIES], default=[*POLICIES])
    parser.add_argument(
        "--rates",
        type=float,
        nargs="+",
        default=[2000.0, 1000.0, 500.0],
        help="decisions a second, and rewards",
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of each rate")
    parser.add_argument("--slice", type=float, default=2.0, help="seconds of each slice of costs")
    parser.add_argument("--repeats", type=int, default=5, help="slices")
    parser.add_argument("--decisions", type=int, default=100_000, help="on disk")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--core", type=int, default=0, help="of the servers; clients are on the others")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--folder", type=Path, help="where stores are: what a disk of another kind would do")
    parser.add_argument("--alone", action="store_true", help="without FastAPI")
    options = parser.parse_args()
    if options.quick:
        options.arms, options.policies, options.rates = [100], ["TS-MA"], [2000.0, 500.0]
        options.seconds, options.slice, options.repeats, options.decisions = 4.0, 0.5, 3, 5000
    return options


def synced(folder: Path) -> tuple[float, float]:
    """How long the disk takes to keep a page: the median, and what one in a hundred takes longer than."""
    times = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(1e3 * (time.perf_counter() - began))
    marks = quantiles(times, n=100)
    return marks[49], marks[98]


PARTS = ["cost", "wait", "disk", "profile"]
WAITS = (
    "server", "arms", "rate", "decided/s", "rewarded/s", "p50", "p99", "reward p50", "p99", "clients' own",
    "p99", "server's core", "clients'",
)  # fmt: skip


def run(options: argparse.Namespace) -> None:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores - {options.core} or cores)
    print(f"{len(cores)} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory(prefix="thrifty-bench-", dir=options.folder) as made:
        folder = Path(made)
        print("fdatasync of 4 KB, ms: p50 {:.2f}, p99 {:.2f}".format(*synced(folder)))
        if "cost" in options.parts:
            found = [cost_rows(arms, options, folder) for arms in options.arms]
            print(f"\nOne decision for a request, {options.connections} clients that wait for their answer")
            heading = ("server", "arms", "CPU, µs", "times empty", "decisions/s")
            print(aligned(heading, [row for one, _ in found for row in one]))
            print("\nA hundred decisions for a request")
            heading = ("server", "arms", "CPU of one, µs", "decisions/s")
            print(aligned(heading, [row for _, many in found for row in many]))
        if "wait" in options.parts:
            rows = [row for arms in options.arms for row in wait_rows(arms, options, folder)]
            print(
                "\nDecisions at a rate and as many rewards, each a request: milliseconds from when it was due"
            )
            print(aligned(WAITS, rows))
        if "disk" in options.parts:
            print("\nBytes of the store for a decision, and the day on which a disk of 100 GB is full")
            heading = ("decisions", "bytes", "at 10/s", "at 100/s", "at 1,000/s")
            print(aligned(heading, disk_rows(options, folder)))
        if "profile" in options.parts:
            profile(options, folder, options.arms[0])
    print(f"\nload {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--sampled"]:
        sampled(Path(sys.argv[2]), sys.argv[3:])
    run(read())
