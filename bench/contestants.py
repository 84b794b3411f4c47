"""The contestants: programs in bench/peers that are asked and answer, each in a process of its own."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from common import HERE, PRIOR, Row, keeping_bytecode
from peers.contest import KNOWN
from scipy import integrate
from scipy.stats import beta, norm

PATIENCE = 600.0  # seconds for an answer; the first one may have to wait for an environment
SAME = [sys.executable]  # the environment of this program
OLD = ["uv", "run", "--script"]  # one that uv makes, with all that the head of the program names
APART = [*OLD[:2], "--python", f"{sys.version_info.major}.{sys.version_info.minor}", *OLD[2:]]  # this Python
LIBRARIES = {
    "thrifty": SAME,
    "numpy": SAME,
    "smpybandits": OLD,
    "mabwiser": APART,
    "river": APART,
    "pybandits": APART,
    "contextualbandits": APART,
    "obp": OLD,
    "vowpalwabbit": APART,
}


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
            start_new_session=True, env=keeping_bytecode(),
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
        said = self._said.read().strip() or f"it ended with code {code} and said nothing"
        raise Failed(f"{do!r} took more than {patience:.0f} s" if self._late else reason(said))

    def _kill(self) -> None:
        self._late = True
        os.killpg(self._process.pid, signal.SIGKILL)  # its session: uv, and the program that uv runs

    def close(self) -> None:
        self._process.communicate()  # no more questions: it ends
        self._said.close()


def reason(said: str) -> str:
    """The last line of what a program said, or uv's error and its first cause; no addresses, no folders.

    >>> reason("Traceback\\n  File x\\nImportError: no y in /home/me/lib/z.py (https://a.b/c)")
    'ImportError: no y in z.py (an address)'
    >>> reason("error: No solution\\n  cause: there is no y==2\\n  cause: more")
    'error: No solution: there is no y==2'
    """
    lines = [line.strip() for line in said.splitlines()]
    errors = [i for i, line in enumerate(lines) if line.startswith("error:")]
    words = (
        [line.removeprefix("cause: ") for line in lines[errors[0] : errors[0] + 2]] if errors else lines[-1:]
    )
    plain = re.sub(r"\w+://[^\s)`]+", "an address", ": ".join(words))
    return re.sub(r"(?:/[\w.+-]+)+/([\w.+-]+)", r"\1", plain)


@dataclass
class Entrant:
    """A policy of a library, and what was found for each K."""

    label: str
    library: str
    policy: str  # as the library's program knows it
    algorithm: str
    share: float | None = None  # what ``check`` should find; None if the policy is not Thompson sampling
    rows: list[Row] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    environment: Row = field(default_factory=dict)  # seconds of its imports, the least of all starts; bytes
    failure: str = ""
    doubt: str = ""  # what is wrong with its decisions
    process: Process | None = None

    def ask(self, do: str, patience: float = PATIENCE, **details: Any) -> Any:
        """The answer, or None if there is none: then ``failure`` says why."""
        try:
            if self.process is None:
                program = HERE / "peers" / f"with_{self.library}.py"
                self.process = Process([*LIBRARIES[self.library], str(program)])
                found = self.process.ask("environment", PATIENCE)
                self.environment = min(found, self.environment or found, key=lambda start: start["seconds"])
            return self.process.ask(do, patience, **details)
        except Failed as failed:
            self.failure = str(failed)
            self.close()
            return None

    def must(self, do: str, **details: Any) -> Any:
        """The answer, or the end of everything."""
        answer = self.ask(do, **details)
        if self.failure:
            sys.exit(f"{self.label}: failed: {self.failure}")
        return answer

    def check(self, draws: int = 20_000, patience: float = PATIENCE) -> None:
        """Note it if its decisions are not those of the posterior that it should have."""
        if not self.failure:
            self.versions = self.ask("versions") or {}
        if self.share is None or self.failure:
            return
        found = self.ask("check", patience, policy=self.policy, draws=draws)
        error = math.sqrt(self.share * (1.0 - self.share) / draws)
        if found is not None and abs(found - self.share) > 5.0 * error:
            self.doubt = (
                f"not Thompson sampling: it chose the first of two arms in {found:.1%} of {draws:,} "
                f"decisions, and its posterior says {self.share:.1%}"
            )

    def hand_over(self, other: "Entrant") -> None:
        """Another policy of the same library goes on in the same process: imports take seconds.

        If there never was one, there is none for the other either.
        """
        other.process, self.process = self.process, None
        other.environment, other.versions = self.environment, self.versions
        other.failure = "" if self.versions else self.failure

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


GAUSSIAN, BETA, UCB1, KL_UCB, OTHER = ALGORITHMS = ("TS (Gaussian)", "TS (Beta)", "UCB1", "KL-UCB", "other")


def entrants() -> list[Entrant]:
    """For decisions one by one: four policies of thrifty, the first of which is what the others are compared
    with, and of each other library the one that is nearest to Thompson sampling."""
    gaussian, uniform = gaussian_share(*PRIOR), beta_share(0.0, 0.0)
    return [
        Entrant("thrifty, TS-MA", "thrifty", "TSMA", OTHER),
        Entrant("thrifty, KL-UCB++", "thrifty", "KLUCBPlusPlus", OTHER),
        Entrant("thrifty, TS (Gaussian)", "thrifty", "ThompsonSampling", GAUSSIAN, gaussian),
        Entrant("thrifty, TS (Beta)", "thrifty", "ThompsonSampling law=beta", BETA, beta_share(*PRIOR)),
        Entrant("NumPy, TS (Gaussian)", "numpy", "gaussian", GAUSSIAN, gaussian),
        Entrant("NumPy, its fastest", "numpy", "gaussian fastest", GAUSSIAN, gaussian),
        Entrant("obp, TS (Beta)", "obp", "beta", BETA, uniform),
        Entrant("river, TS (Beta)", "river", "beta", BETA, uniform),
        Entrant("SMPyBandits, TS (Beta)", "smpybandits", "beta", BETA, uniform),
        Entrant("MABWiser, TS (Beta)", "mabwiser", "beta", BETA, uniform),
        Entrant("pybandits, TS (Beta)", "pybandits", "beta", BETA, uniform),
        Entrant(
            "contextualbandits, LinTS", "contextualbandits", "gaussian", GAUSSIAN, gaussian_share(0.0, 1.0)
        ),
        Entrant("Vowpal Wabbit, a bag of 10", "vowpalwabbit", "bag", OTHER),
    ]


def peers() -> list[Entrant]:
    """Every policy of the other libraries, one library after the other; thrifty is not among them."""
    gaussian, no_prior, ridge = gaussian_share(*PRIOR), gaussian_share(0.0, 0.0), gaussian_share(0.0, 1.0)
    uniform = beta_share(0.0, 0.0)
    return [
        Entrant("NumPy", "numpy", "gaussian", GAUSSIAN, gaussian),
        Entrant("NumPy", "numpy", "beta", BETA, uniform),
        Entrant("NumPy", "numpy", "ucb1", UCB1),
        Entrant("NumPy", "numpy", "kl-ucb", KL_UCB),
        Entrant("SMPyBandits", "smpybandits", "gaussian", GAUSSIAN, no_prior),
        Entrant("SMPyBandits", "smpybandits", "beta", BETA, uniform),
        Entrant("SMPyBandits", "smpybandits", "ucb1", UCB1),
        Entrant("SMPyBandits", "smpybandits", "kl-ucb", KL_UCB),
        Entrant("MABWiser", "mabwiser", "beta", BETA, uniform),
        Entrant("MABWiser", "mabwiser", "ucb1", UCB1),
        Entrant("river", "river", "beta", BETA, uniform),
        Entrant("river", "river", "ucb1", UCB1),
        Entrant("pybandits", "pybandits", "beta", BETA, uniform),
        Entrant("contextualbandits, LinTS", "contextualbandits", "gaussian", GAUSSIAN, ridge),
        Entrant(
            "contextualbandits, LinTS by default", "contextualbandits", "gaussian default", GAUSSIAN, ridge
        ),
        Entrant("obp", "obp", "beta", BETA, uniform),
        Entrant("Vowpal Wabbit, a bag of 10", "vowpalwabbit", "bag", OTHER),
    ]
