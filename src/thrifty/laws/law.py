"""What a law is: from which distribution an arm's index is drawn, given its count n and sum S of rewards."""

import inspect
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from thrifty.jit import GUARDS, kernel


@dataclass(frozen=True)
class Law:
    """A law: ``parameters(n, S)``, two numbers kept per arm so that nothing is computed twice, and of these
    ``draw``, ``sf`` and ``isf``.

    A law of your own is a frozen dataclass with numbers for fields, and with these methods, which are
    compiled, so they may only compute:

        def parameters(self, n, s): ...   two numbers, of the count and the sum of rewards
        def sf(self, a, b, c): ...        P(index > c), continuous and strictly falling where it is not 0 or 1
        def isf(self, a, b, p): ...       the c with P(index > c) = p
        def draw(self, a, b, rng): ...    a draw; without this method it is isf of a uniform number
    """

    name: ClassVar[str] = "your own"
    formula: ClassVar[str] = "your own"  # in a line
    rewards: ClassVar[str] = "any"  # the widest kind of rewards it takes, one of ``problems.REWARDS``
    family: ClassVar[str] = ""  # of rewards, that it is the posterior for
    tempered: ClassVar[bool] = True  # whether it can be tempered: whether any n above 0 will do
    proper: ClassVar[bool] = False  # whether there is a law without any reward: it has a prior of its own
    least: ClassVar[float] = 0.0  # a count up to which there is no law: the arm is tried again at once
    solved: ClassVar[bool] = False  # whether isf is solved for, which takes several times as long as sf
    bent: ClassVar[bool] = False  # whether the distribution function has a bend, at the mean
    sleeps: ClassVar[bool] = True  # whether sleepers run it: not if an index may be infinite
    sleeps_from: ClassVar[dict[str, int]] = {}  # by schedule: from so many arms on they beat scan

    # Where the law has atoms: the same with the atoms spread out and the order kept, so that nothing ties.
    draw_spread: ClassVar[Any] = None
    sf_spread: ClassVar[Any] = None
    isf_spread: ClassVar[Any] = None
    # (params, rng, out): a draw for every arm, of which it returns the largest, if faster than one by one.
    column: ClassVar[Any] = None

    def function(self, name: str) -> Any:
        """One of the functions above as a kernel, or None."""
        static = inspect.getattr_static(type(self), name, None)
        if static is None or isinstance(static, staticmethod):
            return getattr(self, name, None)
        return _with_self(static, self)


def _with_self(method: Callable[..., Any], law: Law) -> Any:
    """A method of the user's as a kernel: the fields are constants in it."""
    values = {field.name: getattr(law, field.name) for field in fields(law)}
    itself = namedtuple(type(law).__name__, values)(**values)
    compiled: Any = kernel(method, **GUARDS)

    def call(a, b, *rest):
        return compiled(itself, a, b, *rest)

    return kernel(call)
