"""From a policy to what engines call: the functions of its law, schedule or index, each compiled when it is
first used.

The functions here are templates. ``jit.bound`` puts the policy's own functions in the place of the names that
are set to None, and gives the result a name under which it is cached.
"""

import inspect
import math
import re
from collections import namedtuple
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.engines import fade, front, kinetic, late, renewal, scan, shares
from thrifty.engines.memory import OWN
from thrifty.errors import InvalidValue
from thrifty.jit import GUARDS, address, bound, config, hot, kernel, with_methods
from thrifty.laws import Law
from thrifty.numerics import random
from thrifty.schedules import SCHEDULES
from thrifty.state import history, ranks, statistics
from thrifty.state.calls import SIGNATURES
from thrifty.state.rows import array, readable

# What an index may ask for by name, of the arm i at time t: where it comes from, and which component has it.
ASKED: dict[str, tuple[str, Any]] = {
    "n": ("COUNT(state, i)", None),
    "mean": ("state.means[i]", None),
    "variance": ("statistics.variance(state, i)", statistics.SQUARES),
    "best": ("best", None),
    "log_t": ("log_t", None),
    "h": ("state.spread[i]", ranks.RANKS),
    "rewards": ("history.of(state, i)", history.HISTORY),
    "last": ("state.last[i]", statistics.LAST),
    "own": ("state.own[i * WIDTH : (i + 1) * WIDTH]", OWN),
    "i": ("i", None),
    "pulls": ("state.pulls", None),
    "means": ("state.means", None),
    "state": ("state", None),  # not for functions of the user's own
    "t": ("t", None),
    "level": ("level", None),
    "reward": ("reward", None),
    "to": ("to", None),
    "rng": ("state.rng", None),
}
SHARED = ("pulls", "means")  # arrays that functions of the user's own may read and not write


# Templates -----------------------------------------------------------------------------------------------

law_parameters: Any = None
law_draw: Any = None
law_column: Any = None
law_sf: Any = None
law_isf: Any = None
formula: Any = None
inside: Any = None
WIDTH, SEES_BEST, DRAWS, EVALUATES = 0, False, False, False


def parameters(state, i, n, s):
    a, b = law_parameters(n, s)
    state.params[i, 0] = a
    state.params[i, 1] = b


def draw(state, a, b):
    return law_draw(a, b, state.rng)


def sf(state, a, b, c):
    return law_sf(a, b, c)


def isf(state, a, b, p):
    return law_isf(a, b, p)


def column(state):
    """A draw for every arm, one by one. Returns the largest."""
    top = -math.inf
    for i in range(state.index.size):
        state.index[i] = law_draw(state.params[i, 0], state.params[i, 1], state.rng)
        top = max(top, state.index[i])
    return top


def whole_column(state):
    return law_column(state.params, state.rng, state.index)


def index(state, i, t):
    if DRAWS:
        state.draws[i] += 1
        state.evaluations[0] += 1
    return formula(inside(state), state, i, t, 0.0, math.log(max(t, 1.0)))


def event(state, i):
    formula(inside(state), state, i)


def observed(state, i, reward, t):
    formula(inside(state), state, i, reward, t)


def moved(state, i, to):
    formula(inside(state), state, i, to)


def choose(state, t):
    return formula(inside(state), state, t)


def refresh(state, t):
    """Every arm's index, made anew. Returns the largest."""
    itself, best, top, log_t = inside(state), 0.0, -math.inf, math.log(max(t, 1.0))
    if SEES_BEST:
        best = statistics.best_mean(state)
    for i in range(state.index.size):
        if not statistics.has_law(state, i):
            state.index[i] = -math.inf
            continue
        if DRAWS:
            state.draws[i] += 1
        if EVALUATES:
            state.evaluations[0] += 1
        state.index[i] = formula(itself, state, i, t, best, log_t)
        top = max(top, state.index[i])
    return top


# Around functions of the user's own, which may raise errors and return what is not a number.


def own_parameters(state, i, n, s):
    """Where they are not numbers, no draw is one."""
    try:
        a, b = law_parameters(n, s)
        state.params[i, 0], state.params[i, 1] = 1.0 * a, 1.0 * b
    except Exception:
        state.params[i, 0] = state.params[i, 1] = math.nan


def own_draw(state, a, b):
    try:
        x = float(1.0 * law_draw(a, b, array(state.rng)))
    except Exception:
        x = math.nan
    if math.isnan(x):
        state.fault[0] = 1
        return -math.inf
    return x


def own_column(state):
    top = -math.inf
    for i in range(state.index.size):
        state.index[i] = law_draw(state, state.params[i, 0], state.params[i, 1])
        top = max(top, state.index[i])
    return top


def own_sf(state, a, b, c):
    try:
        p = float(1.0 * law_sf(a, b, c))
    except Exception:
        p = math.nan
    if math.isnan(p):
        state.fault[0] = 1
        return 0.0
    return min(max(p, 0.0), 1.0)


def own_isf(state, a, b, p):
    try:
        x = float(1.0 * law_isf(a, b, p))
    except Exception:
        x = math.nan
    if math.isnan(x):
        state.fault[0] = 1
        return -math.inf
    return x


def safe_index(itself, state, i, t, best, log_t):
    try:
        value = float(1.0 * formula(itself, state, i, t, best, log_t))  # a text cannot be multiplied
    except Exception:
        value = math.nan
    if math.isnan(value):
        state.fault[0] = 1
        return -math.inf
    return value


def safe_reach(itself, state, i, level):
    """A time at which to look again: now, if it is not known."""
    try:
        value = float(1.0 * formula(itself, state, i, level))
    except Exception:
        value = 0.0
    return value if value >= 0.0 else 0.0


def safe_observed(itself, state, i, reward, t):
    try:
        formula(itself, state, i, reward, t)
    except Exception:
        state.fault[0] = 1


OWN_LAW: dict[str, Any] = {
    "parameters": own_parameters,
    "draw": own_draw,
    "sf": own_sf,
    "isf": own_isf,
}
SAFE: dict[str, Any] = {
    "index": safe_index,
    "reach": safe_reach,
    "settled": safe_reach,
    "observed": safe_observed,
}


# The functions of a law -----------------------------------------------------------------------------------

LAW_NAMES = ("law_parameters", "law_draw", "law_column", "law_sf", "law_isf")  # a template calls one of these


class Exactly:
    """A law by its class and fields, whatever it takes for equal itself."""

    def __init__(self, law: Law) -> None:
        self.law, self.key = law, (type(law), *(repr(getattr(law, field.name)) for field in fields(law)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exactly) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def law_hook(law: Law, hook: str) -> int:
    """The address of one of a law's functions."""
    return _law_hook(Exactly(law), hook)


@cache
def _law_hook(exactly: Exactly, hook: str) -> int:
    law = exactly.law
    ours = checks.is_ours(type(law))
    return _compiled(_law_function(law, hook), hook, f"{hook.removesuffix('_spread')} of {law!r}", ours=ours)


def _law_function(law: Law, hook: str) -> Any:
    """One of a law's functions, for a state."""
    name, method = f"{type(law).__name__}_{hook}", hook.removesuffix("_spread")
    found = law.function(hook) or law.function(method)
    if checks.is_ours(type(law)):
        template: Any = {"parameters": parameters, "draw": draw, "sf": sf, "isf": isf}.get(method)
        if hook == "column":
            template, found = (whole_column, found) if found else (column, _draws(law))
        return bound(template, name, **dict.fromkeys(LAW_NAMES, found))
    if hook == "column":
        return bound(own_column, name, law_draw=kernel(_law_function(law, "draw")))
    found = found or _draws(law)
    made = bound(OWN_LAW[method], name, **dict.fromkeys(LAW_NAMES, found))
    return np.errstate(all="ignore")(made) if config.DISABLE_JIT else made


def _draws(law: Law) -> Any:
    """``draw``, or what takes its place: isf of a uniform number."""
    return law.function("draw") or kernel(bound(_by_isf, "draw", law_isf=law.function("isf")))


def _by_isf(a, b, rng):
    return law_isf(a, b, random.uniform(rng))


def _compiled(function: Callable[..., Any], hook: str, what: str, *, ours: bool) -> int:
    """The address. What Numba refuses is refused by name, with the reason."""
    try:
        return address(function, SIGNATURES[hook], cached=ours)
    except Exception as error:  # Numba's own errors, and those of the functions that it calls
        if ours:
            raise
        raise InvalidValue(
            f"the {what} cannot be compiled: {_reason(error)} "
            "(it may only compute, and must return a number; import modules outside of it)"
        ) from error


def _reason(error: Exception) -> str:
    """The first line of the innermost of Numba's errors, and the function that it is about."""
    text = str(error)
    lines = re.split(r"\(step: [\w ]+\)\n", text.partition("During:")[0])[-1].split("\n")
    told = (line.strip() for line in lines if not line.startswith("- Resolution failure"))
    reason = next(filter(None, told), repr(error))
    called = re.search(r"<function (?:\S+\.)?(\w+) at", text.partition("During: resolving")[2])
    return f"{reason} in {called[1]}" if called and called[1] not in SIGNATURES else reason


# The functions of a schedule ------------------------------------------------------------------------------


def schedule_hook(schedule: str, hook: str, law: Law | None = None, variant: str = "") -> int:
    """The address of one of a schedule's functions, 0 if it has none of that name. The law's functions are
    compiled into it. With a ``variant`` it is the function ``hook_variant``, if there is one."""
    return _schedule_hook(schedule, hook, None if law is None else Exactly(law), variant)


@cache
def _schedule_hook(schedule: str, hook: str, exactly: Exactly | None, variant: str) -> int:
    law, module = exactly.law if exactly else None, SCHEDULES[schedule]
    function = getattr(module, f"{hook}_{variant}", None) or getattr(module, hook, None)
    if function is None:
        return 0
    name, ours = f"{schedule.replace(' ', '_')}_{function.__name__}", True
    called = {"draw", "column", "sf", "isf"} & {*function.__code__.co_names}
    kernels: dict[str, Any] = {}
    if law is not None and called:
        name, ours = f"{type(law).__name__}_{name}", checks.is_ours(type(law))
        kernels = {each: hot(_law_function(law, each)) for each in called}
    return _compiled(bound(function, name, **kernels), hook, f"law {law!r}", ours=ours)


@cache
def engine_hook(name: str, engine: ModuleType, hook: str) -> int:
    """The address of one of an engine's functions; 0 if it has nothing to do there."""
    if hook in SHARED_HOOKS:
        return shared_hook(hook)
    function = getattr(engine, hook, scan.place)
    if function in (scan.place, scan.move):
        return 0
    return address(bound(function, f"{name}_{hook}"), SIGNATURES[hook])


SHARED_HOOKS: dict[str, Any] = {
    "keep": history.keep, "rank": ranks.rank, "fade": fade.step, "renewal": renewal.step,
    "share": shares.share, "late": late.step, "front": front.change,
}  # fmt: skip


@cache
def shared_hook(hook: str) -> int:
    """The address of a function that is the same for all policies and engines."""
    return address(bound(SHARED_HOOKS[hook], hook), SIGNATURES[hook])


# The functions of a policy --------------------------------------------------------------------------------

# What the functions of a policy are given in any case, behind ``self``.
GIVEN = {
    "index": "state, i, t, best, log_t", "refresh": "state, t", "reach": "state, i, level",
    "settled": "state, i, level", "choose": "state, t", "order": "state, t",
    "observed": "state, i, reward, t", "returned": "state, i", "left": "state, i", "entered": "state, i",
    "moved": "state, i, to",
}  # fmt: skip
TEMPLATES: dict[str, Any] = {
    "index": index, "choose": choose, "observed": observed,
    "returned": event, "left": event, "entered": event, "moved": moved, "refresh": choose,
    "order": event,
}  # fmt: skip


def asked(function: Callable[..., Any]) -> list[str]:
    """What a function of a policy asks for by name."""
    plain = getattr(function, "py_func", function)
    names = [*inspect.signature(plain).parameters][1:]
    allowed = [name for name in ASKED if checks.is_ours(plain) or name not in ("state", "to")]
    for name in names:
        if name not in allowed:
            raise InvalidValue(
                f"{plain.__qualname__} must ask for some of {', '.join(allowed)}, got {name!r}"
            )
    return names


def values(policy: Any) -> dict[str, float]:
    """A policy's parameters as numbers: of a choice, which one."""
    found = {field.name: getattr(policy, field.name) for field in fields(policy) if field.name != "anytime"}
    return {name: policy.choices.index(v) if isinstance(v, str) else v for name, v in found.items()}


def parameters_of(policy: Any) -> list[float]:
    """What its functions find in ``self``."""
    return [] if policy.drawn_from else [float(value) for value in values(policy).values()]


def policy_hook(policy: Any, hook: str, function: Callable[..., Any], *, column: bool = False) -> int:
    """The address of one of a policy's functions; with ``column``, of the loop over all arms around it."""
    kinds = tuple((name, type(value)) for name, value in values(policy).items())
    flags = (policy.counts_pending, policy.draws_index, policy.own_columns)
    kind: Any = type(policy)
    return _policy_hook(kind, kinds, flags, hook, function, column)


@cache
def _policy_hook(
    kind: type, kinds: Any, flags: Any, hook: str, function: Callable[..., Any], column: bool
) -> int:
    pending, draws, columns = flags
    ours, names = checks.is_ours(kind), asked(function)
    formula = _adapted(kind, function, hook, pending, columns)
    known = {
        "inside": _inside(kind, kinds),
        "formula": formula if ours else _guarded(formula, hook),
        "SEES_BEST": "best" in names,
        "DRAWS": draws,
        "EVALUATES": draws or "rewards" in names,
    }
    template, hook = (refresh, "refresh") if column else (TEMPLATES[hook], hook)
    name = f"{kind.__name__}_{function.__name__}_{hook}"
    return _compiled(bound(template, name, **known), hook, f"index of {kind.__name__}", ours=ours)


def kinetic_hook(policy: Any, hook: str) -> int:
    """The address of one of the functions that kinetic has for each policy."""
    functions = {name: policy.functions().get(name) for name in ("index", "reach", "settled")}
    kinds = tuple((name, type(value)) for name, value in values(policy).items())
    flags = (policy.counts_pending, policy.own_columns)
    kind: Any = type(policy)
    return _kinetic_hook(hook, kind, kinds, flags, *functions.values())


@cache
def _kinetic_hook(hook: str, kind: type, *parts: Any) -> int:
    template: Any = {"index": kinetic.computed, "compare": kinetic.compare}[hook]
    function = bound(template, f"{kind.__name__}_kinetic_{hook}", **_kinetic_kernels(kind, *parts))
    return _compiled(function, hook, f"index of {kind.__name__}", ours=checks.is_ours(kind))


@cache
def _kinetic_kernels(kind: type, kinds: Any, flags: Any, index: Any, reach: Any, settled: Any) -> Any:
    """What both of them call."""
    ours = checks.is_ours(kind)
    made: dict[str, Any] = {"inside": _inside(kind, kinds)}
    for name, function in (("index", index), ("reach", reach), ("settled", settled)):
        if function is not None:
            adapted = _adapted(kind, function, name, *flags)
            made[name] = adapted if ours else _guarded(adapted, name)
    for each in (kinetic.value, kinetic.compared, kinetic.contest, kinetic.compute_rivals):
        made[each.__name__] = hot(bound(each, each.__name__, **made))
    return made


def _adapted(kind: type, function: Any, hook: str, pending: bool, columns: int) -> Any:
    """A kernel that looks up what the function asks for."""
    names = asked(function)
    looked_up = {name: ASKED[name][0] for name in names}
    if "last" in names and "t" in GIVEN[hook].split(", "):  # after it, if pulls were cancelled
        looked_up["last"] = "min(state.last[i], t)"
    if not checks.is_ours(kind):
        writes = ("rng", "own") if hook == "observed" else ("rng",)
        for name in (*SHARED, "own", "rng"):
            if name in names:
                looked_up[name] = f"{'array' if name in writes else 'readable'}({looked_up[name]})"
        if "rewards" in names:
            looked_up["rewards"] = "both_readable(history.of(state, i))"
    found = ", ".join(["itself", *looked_up.values()])
    count = statistics.counted if pending else _count
    options = {} if checks.is_ours(kind) else GUARDS
    compiled = function if hasattr(function, "py_func") else kernel(function, forceinline=True, **options)
    space = {
        "compiled": compiled,
        "statistics": statistics,
        "history": history,
        "COUNT": count,
        "WIDTH": columns,
        "array": array,
        "readable": readable,
        "both_readable": _both_readable,
    }
    adapter: Any = eval(f"lambda itself, {GIVEN[hook]}: compiled({found})", space)
    return hot(adapter)


@hot
def _both_readable(rewards):
    return readable(rewards[0]), readable(rewards[1])


@hot
def _count(state, i):
    """Arm i's pulls, the prior's included, pending ones not."""
    n, _ = statistics.evidence(state, i)
    return n


def _inside(kind: type, kinds: Any) -> Any:
    """A kernel that makes what ``self`` is inside of a function: the parameters, ``arms`` and ``horizon``."""
    plain = namedtuple(kind.__name__, [*(name for name, _ in kinds), "arms", "horizon"])  # type: ignore[misc]
    made = plain if checks.is_ours(kind) else with_methods(plain, _helpers(kind))
    shape = {
        float: "state.parameters[{}]",
        int: "int(state.parameters[{}])",
        bool: "state.parameters[{}] != 0.0",
    }
    parts = [shape[of].format(place) for place, (_, of) in enumerate(kinds)]
    source = ", ".join([*parts, "state.rule.arms", "state.rule.horizon"])
    return hot(eval(f"lambda state: made({source})", {"made": made}))


def _helpers(kind: type) -> dict[str, Any]:
    """The methods of a class of the user's own, which its functions may call."""
    theirs = [base for base in reversed(kind.__mro__) if not checks.is_ours(base) and base is not object]
    found = {name: part for base in theirs for name, part in vars(base).items() if name[:2] != "__"}
    kernels = {}
    for name, part in found.items():
        plain = getattr(part, "__func__", part) if isinstance(part, staticmethod) else part
        plain = getattr(plain, "py_func", plain)
        if inspect.isfunction(plain):
            made = kernel(plain, **GUARDS)
            kernels[name] = staticmethod(made) if isinstance(part, staticmethod) else made
    return kernels


def _guarded(formula: Any, hook: str) -> Any:
    made = bound(SAFE[hook], f"safe_{hook}", formula=formula)
    return np.errstate(all="ignore")(made) if config.DISABLE_JIT else kernel(made)
