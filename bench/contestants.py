"""The contestants of bench/online.py: programs that are asked and answer, each in a process of its own."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from common import HERE, PRIOR, Row
from peers.contest import KNOWN
from scipy import integrate
from scipy.stats import beta, norm

PATIENCE = 600.0  # seconds for an answer
SAME = [sys.executable]  # the environment of this program
APART = ["uv", "run", "--python", f"{sys.version_info.major}.{sys.version_info.minor}", "--script"]


class Failed(Exception):
    """A contestant could not be measured; says why."""


class Process:
    """A program of bench/peers, while it runs."""

    def __init__(self, command: Sequence[str]) -> None:
        if shutil.which(command[0]) is None:
            raise Failed(f"there is no program {command[0]!r}, which makes its environment")
        self._late = False
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (``close`` closes it)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True,
            start_new_session=True,
        )  # fmt: skip

    def ask(self, do: str, patience: float, **details: Any) -> Any:
        """A line of JSON there, and one back."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(patience, self._kill)
        timer.start()
        try:
            self._process.stdin.write(json.dumps({"do": do} | details) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            timer.cancel()
        if answer:
            return json.loads(answer)
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().strip().splitlines() or [f"it ended with code {code} and said nothing"]
        raise Failed(f"{do!r} took more than {patience:.0f} s" if self._late else said[-1])

    def _kill(self) -> None:
        self._late = True
        os.killpg(self._process.pid, signal.SIGKILL)  # its session: uv, and the program that uv runs

    def close(self) -> None:
        self._process.communicate()  # no more questions: it ends
        self._said.close()


@dataclass
class Entrant:
    """A contestant, and what was found for each K."""

    label: str
    library: str
    command: list[str]
    share: float | None = None  # what ``check`` should find; None if the policy is not Thompson sampling
    rows: list[Row] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    process: Process | None = None

    def ask(self, do: str, patience: float = PATIENCE, **details: Any) -> Any:
        """The answer, or None if there is none: then ``failure`` says why."""
        try:
            if self.process is None:
                self.process = Process(self.command)
            return self.process.ask(do, patience, **details)
        except Failed as reason:
            self.failure = str(reason)
            self.close()
            return None

    def must(self, do: str, **details: Any) -> Any:
        """The answer, or the end of everything."""
        answer = self.ask(do, **details)
        if self.failure:
            sys.exit(f"{self.label}: failed: {self.failure}")
        return answer

    def check(self, draws: int = 20_000) -> None:
        """Fail if its decisions are not those of the posterior that it should have."""
        self.versions = self.ask("versions") or {}
        if self.share is None or self.failure:
            return
        found = self.ask("check", draws=draws)
        error = math.sqrt(self.share * (1.0 - self.share) / draws)
        if found is not None and abs(found - self.share) > 5.0 * error:
            self.failure = f"it chose the first of two arms in {found:.2%} of decisions, not {self.share:.2%}"
            self.close()

    def close(self) -> None:
        if self.process is not None:
            self.process.close()
            self.process = None


def gaussian_share(mean: float, weight: float) -> float:
    """The chance that the first of ``KNOWN`` arms wins, if an arm draws from N(S/n, 1/n)."""
    counts = [weight + len(rewards) for rewards in KNOWN]
    means = [(mean * weight + sum(rewards)) / n for rewards, n in zip(KNOWN, counts, strict=True)]
    return float(norm.cdf((means[0] - means[1]) / math.sqrt(1.0 / counts[0] + 1.0 / counts[1])))


def beta_share(mean: float, weight: float) -> float:
    """The same, if an arm draws from Beta(1 + S, 1 + n - S)."""
    first, second = (
        beta(1.0 + mean * weight + sum(rewards), 1.0 + (1.0 - mean) * weight + len(rewards) - sum(rewards))
        for rewards in KNOWN
    )
    return float(integrate.quad(lambda x: first.pdf(x) * second.cdf(x), 0.0, 1.0)[0])


def entrants() -> list[Entrant]:
    """Four policies of thrifty, the first of which is what the others are compared with, and the peers."""

    def program(library: str) -> str:
        return str(HERE / "peers" / f"with_{library}.py")

    def thrifty(label: str, policy: str, share: float | None = None) -> Entrant:
        return Entrant(f"thrifty, {label}", "thrifty", [*SAME, program("thrifty"), policy], share)

    gaussian, uniform = gaussian_share(*PRIOR), beta_share(0.0, 0.0)
    return [
        thrifty("TS-MA", "TSMA"),
        thrifty("KL-UCB++", "KLUCBPlusPlus"),
        thrifty("TS (Gaussian)", "ThompsonSampling", gaussian),
        thrifty("TS (Beta)", "ThompsonSampling law=beta", beta_share(*PRIOR)),
        Entrant("NumPy, TS (Gaussian)", "numpy", [*SAME, program("numpy")], gaussian),
        Entrant("NumPy, its fastest", "numpy", [*SAME, program("numpy"), "fastest"], gaussian),
        Entrant("MABWiser, TS (Beta)", "mabwiser", [*APART, program("mabwiser")], uniform),
        Entrant("river, TS (Beta)", "river", [*APART, program("river")], uniform),
    ]
