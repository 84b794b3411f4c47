"""A policy made ready for an engine: which functions the engine calls, and what the state keeps."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from thrifty.arrays import Floats, Integers, Words
from thrifty.checks import COUNT, is_ours
from thrifty.engines import entries, front, late
from thrifty.engines.memory import Engine, Hooks, Memory, Rule, new_memory
from thrifty.engines.modules import MODULES
from thrifty.engines.sleepers import line
from thrifty.jit import compile_by, is_fresh, straight
from thrifty.policies import compiled
from thrifty.policies.base import Policy
from thrifty.schedules import SCHEDULES
from thrifty.state import bars, fading, history, ranks, stale, statistics, tokens
from thrifty.state.fields import Component
from thrifty.state.statistics import CLOCK

ONLINE = (bars.BARS, tokens.TOKENS)  # what every bandit keeps besides


class Program(NamedTuple):
    """A policy on an engine, whatever the number of arms and the horizon."""

    policy: Policy
    engine: str  # a key of MODULES
    hooks: Hooks
    components: frozenset[Component]

    def memory(
        self,
        rule: Rule,
        rng: Words,
        priors: Floats | None = None,
        beside: Iterable[Component] = (),
        sizes: dict[str, int] | None = None,
        capacity: int = 0,
    ) -> Memory:
        """The memory of a state before the first round. ``sizes`` has the rows of fields that need it; a
        history has enough entries for the horizon, unless it says otherwise. ``capacity``: see there."""
        numbers = compiled.parameters_of(self.policy.played)
        room = {"parameters": len(numbers), "own": self.policy.played.own_columns} | self.policy.played.room
        if history.HISTORY in self.components:
            room["history"] = history.entries(rule.arms, rule.horizon)
        wanted = {*self.components, *beside}
        memory = new_memory(rule, self.hooks, wanted, rng, priors, room | (sizes or {}), capacity)
        memory.field("parameters")[:] = numbers
        return memory

    @property
    def online(self) -> tuple[Component, ...]:
        """What a bandit keeps besides."""
        return (*ONLINE, *getattr(MODULES[self.engine], "BESIDE", ()))

    def entry(self, name: str) -> Any:
        """One of ``engines.entries``."""
        if name == "play":
            return entries.play_on(self.engine.replace("-", "_"), MODULES[self.engine])
        return getattr(entries, name)

    def called(self, name: str) -> Any:
        """The same, compiled, as a bandit calls it: straight, unless it is given arrays besides the block, as
        these may be of several types."""
        entry = self.entry(name)
        return entry if any(isinstance(value, np.ndarray) for value in IDLE[name]) else straight(entry)

    def compile(self, memory: Memory, *names: str) -> None:
        """Compile entries, and what they call of the engine, or load them from the cache on disk. The memory
        learns where that is."""
        called = {hook for name in names for hook in CALLED[name]}
        called |= {*getattr(MODULES[self.engine], "INSIDE", ())}
        if bars.BARS in memory.components and memory.field("bars")[bars.RESTING] > 0:
            called |= {"spare", "fallback"}
        if line.RESERVE in memory.components:
            called |= {"needed", "fallback"} if memory.arms >= line.MANY else {"needed"}
        if fading.FADING in self.components:
            called |= {"fade", "join", "place"}
        turns = memory.field("stale")
        if turns.size and (memory.arms > stale.AT_ONCE or turns[stale.NEXT] < turns[stale.END]):
            called |= {"renewal", "join", "place"}
        if front.FRONT in self.components and ("pick" in names or front.is_there(memory.state)):
            called.add("front")
        if memory.field("shares").any():
            called.add("share")
        if "play" in names and memory.field("late").any():
            called |= {"late", "handed", "place"}
        hooks = {hook: compiled.engine_hook(self.engine, MODULES[self.engine], hook) for hook in called}
        known = Engine(*memory.field("functions").tolist())
        memory.write(known._replace(**hooks))
        for name in names:
            entry = self.entry(name)
            if is_fresh(entry):
                compile_by([(entry, (_idle(self, hooks), *IDLE[name]))])

    def draws(self, memory: Memory) -> Integers:
        """Every arm's draws, as the paper counts them: of arms that sleep, those since their start too."""
        state = memory.state
        draws: Integers = state.draws.copy()
        if state.place.size:
            since = state.count[CLOCK] - state.start
            if state.queue.size:
                since = np.minimum(since, min(state.rule.phi, COUNT)).astype(np.int64)
            draws += np.where(state.place >= 0, since, 0)
        return draws


# The functions of an engine that an entry calls; and arguments behind the block with which it does nothing to
# two arms of which nothing is known.
CALLED = {
    "select": ("choose", "handed", "place"),
    "take": ("choose", "handed", "place"),
    "pick": ("pick", "handed", "place", "join", "enter"),
    "uniform": ("handed", "place", "join"),
    "chance": (),
    "pause": ("seat", "spare", "fallback"),
    "resume": ("seat",),
    "redeem": ("place", "join"),
    "observe": ("place", "join"),
    "select_many": ("choose", "handed", "place"),
    "update": ("place",),
    "update_many": ("place",),
    "rebuild": ("begin",),
    "restore": (),
    "cancel": ("place", "enter"),
    "renew": ("place",),
    "forget": ("begin", "leave"),
    "add": ("enter", "place"),
    "remove": ("leave", "move", "shrink"),
    "pull": (),
    "send": (),
    "arrive": (),
    "ahead": ("handed", "place", "join"),
    "play": (),
}
IDLE: dict[str, tuple[Any, ...]] = {
    "select": (0,),
    "take": (0,),
    "pick": (0, 0, 0, 0, 0),
    "uniform": (0, 0, 0, 0, 0),
    "chance": (),
    "pause": (0,),
    "resume": (0,),
    "redeem": (0, 0, 0.0),
    "observe": (0, 0, 0.0),
    "select_many": (0, np.empty(0, np.int64)),
    "update": (0, 0, 0.0),
    "update_many": (0, np.empty(0, np.int64), np.empty(0)),
    "rebuild": (),
    "restore": (),
    "cancel": (0, 0),
    "renew": (np.empty(0, np.int64),),
    "forget": (1.0,),
    "add": (np.empty((0, 2)),),
    "remove": (1,),
    "pull": (0, -1),
    "send": (0, -1, 0.0),
    "arrive": (0,),
    "ahead": (0,),
    "play": (1, 1, False),
}


def _idle(program: Program, hooks: dict[str, int]) -> Integers:
    """The block of a state of two arms."""
    sizes = late.Delays(0, 0, 0).sizes
    memory = program.memory(
        Rule(2, 2), np.ones(4, np.uint64), beside=(late.LATE, *program.online), sizes=sizes
    )
    memory.write(Engine(**hooks))
    return memory.block


def program(policy: Policy, engine: str) -> Program:
    """Compile what the engine calls, or load it from the cache on disk."""
    inner = policy.played
    name = f"sleepers-{inner.schedule}" if engine == "sleepers" else engine
    hooks, components = (_law if inner.drawn_from else _index)(inner, engine)
    for hook, component in (("keep", history.HISTORY), ("rank", ranks.RANKS)):
        if component in components:
            hooks[hook] = compiled.shared_hook(hook)
    there = {*MODULES[name].COMPONENTS, *components, *policy.components}
    if policy.needs_horizon and engine != "kinetic" and is_ours(type(inner)):
        there.add(stale.STALE)
    return Program(policy, name, Hooks(**hooks), frozenset(there))


def _law(policy: Any, engine: str) -> tuple[dict[str, int], set[Component]]:
    """Of a law and a schedule."""
    law, wanted = policy.drawn_from, {"parameters"}
    if engine == "sleepers":
        wanted |= {*MODULES[f"sleepers-{policy.schedule}"].LAW_HOOKS}
    hooks = {hook: compiled.law_hook(law, hook) for hook in wanted} | {"solved": int(law.solved)}
    events = ("renewed", "spends", "replace", *(("refresh",) if engine == "scan" else ()))
    variant = getattr(policy, "sampling", "")  # of TS-MA
    hooks |= {hook: compiled.schedule_hook(policy.schedule, hook, law, variant) for hook in events}
    return hooks, {statistics.LAW, *SCHEDULES[policy.schedule].COMPONENTS}


def _index(policy: Any, engine: str) -> tuple[dict[str, int], set[Component]]:
    """Of an index, or of a policy's own way to choose."""
    functions = policy.functions()
    asked = {name for function in functions.values() for name in compiled.asked(function)}
    components = {compiled.ASKED[name][1] for name in asked} - {None}
    events = ("observed", "returned", "moved", "left", "entered")
    wanted = [*(name for name in events if name in functions)]
    if "choose" in functions:
        wanted += [name for name in ("choose", "order") if name in functions]
    elif policy.changes == "when pulled":
        wanted.append("index")
    elif "refresh" in functions:
        wanted.append("refresh")
    hooks = {name: compiled.policy_hook(policy, name, functions[name]) for name in wanted}
    if engine == "kinetic":
        hooks |= {name: compiled.kinetic_hook(policy, name) for name in ("index", "compare")}
    if engine == "scan" and not {"choose", "refresh", "index"} & set(wanted):
        hooks["refresh"] = compiled.policy_hook(policy, "index", functions["index"], column=True)
    if policy.changes == "when pulled":
        spent = policy.counts_pending or "rng" in asked  # else its index would be the same again
        kept = ["renewed", "spends"] if spent else ["renewed"]
        hooks |= {name: compiled.schedule_hook("when pulled", name) for name in kept}
    hooks["pending"] = int(policy.changes in ("when pulled", "with time"))
    hooks["alike"] = int(not asked & {"own", "last", "rewards", "i", "state"})
    return hooks, {*components, *policy.components}
