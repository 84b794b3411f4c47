"""How likely a bandit's policy is to choose an arm, given all that it knows: ``docs/probabilities.md``.

Where indices are drawn anew in every decision, the arms' laws say it: by levels that are kept, or by levels
that are made for one question, if it is about some arms or the policy is epsilon-TS. An index that is there
before the decision is the largest or it is not.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thrifty.arrays import Floats, Integers
from thrifty.engines import coming, largest
from thrifty.engines.levels import BROKEN
from thrifty.errors import InvalidCall, InvalidValue
from thrifty.jit import called
from thrifty.laws import Law
from thrifty.online import levels
from thrifty.online.core import Core
from thrifty.online.eligible import ALL, Eligible, has, integers, size
from thrifty.online.shares import Chances
from thrifty.policies import Policy
from thrifty.policies.compiled import law_hook

ROOM, GAP = 128, 0.3  # levels that are made for one question: at most, and how wide their cells may be
ATOMS = 64  # means of epsilon-TS that get levels of their own, at most
FEW = 64  # arms for which levels are made for each question, if their laws have bends
TIED = 4  # steps across an atom that several arms may have
NONE = np.empty(0, np.int64)


def check(policy: Policy, core: Any, *, mixed: bool) -> None:
    """Whether somebody can tell how likely a policy's choice is; ``mixed``: there is control or a floor."""
    if not isinstance(core, Core):
        raise InvalidCall("a posterior of your own only draws: nobody can tell how likely a decision is")
    inner = policy.played
    if inner.schedule in ("fresh", "epsilon"):
        return
    if not _is_settled(inner):
        raise InvalidCall(
            f"nobody can tell how likely a decision of {policy!r} is: it has no law that says so"
        )
    if not mixed:
        raise InvalidCall(
            f"{policy!r} has its indices before it decides, so no decision is a matter of chance: it has "
            "probabilities with control or a floor alone"
        )


def _is_settled(policy: Policy) -> bool:
    """Whether indices are there before a decision, or follow from what is known."""
    if policy.drawn_from is not None:
        return policy.schedule == "aggregate"
    chance = policy.draws_index or hasattr(type(policy), "choose") or policy.changes == "in every round"
    return not chance


def begin(core: Any) -> None:
    """Build now what the first question would."""
    if _is_kept(core) and (some := lawful(core, NONE, NONE)).size:
        _ask(core, int(some[0]), NONE)


def before(core: Core, t: int, who: Eligible) -> Chances:
    """Of the policy's next decision. It may be made before it is asked how likely it was."""
    among, exclude = _numbers(who)
    block = core.memory.block
    first = int(called(coming.coming, block, among, exclude))
    if first >= 0:
        return lambda arm: float(arm == first)
    if core.policy.played.schedule in ("fresh", "epsilon"):
        return lambda arm: _by_law(core, who, arm, among, exclude)
    best = _best(core, t, who, among, exclude)
    return lambda arm: float(arm in best) / best.size


def _numbers(who: Eligible) -> tuple[Integers, Integers]:
    among, exclude = who
    return (
        NONE if among is None else np.unique(integers(among)),
        NONE if exclude is None else np.unique(integers(exclude)),
    )


def lawful(core: Core, among: Integers, exclude: Integers) -> Integers:
    """The arms that may be chosen and have a law."""
    out = np.empty(among.size or core.memory.arms, np.int64)
    return out[: called(coming.lawful, core.memory.block, among, exclude, out)]


# By a law ------------------------------------------------------------------------------------------------


def _by_law(core: Core, who: Eligible, arm: int, among: Integers, exclude: Integers) -> float:
    if who != ALL and not has(who, core, arm):
        return 0.0
    if _is_kept(core) and who[0] is None:
        found = _ask(core, arm, exclude)
        if found >= 0.0:
            return found
    some = lawful(core, among, exclude)
    if some.size == 0:  # then all are alike
        return 1.0 / size(who, core, core.memory.arms) if has(who, core, arm) else 0.0
    if arm not in some:
        return 0.0
    return 1.0 if some.size == 1 else float(made(core, some).likely(core, np.array([arm]))[0])


def _is_kept(core: Core) -> bool:
    """Whether levels are: not if a few arms bend the curve R at their means, which levels do not follow."""
    policy = core.policy.played
    law: Any = policy.drawn_from
    return policy.schedule == "fresh" and not (law.bent and core.memory.arms <= FEW)


def _ask(core: Core, arm: int, exclude: Integers) -> float:
    core.memory = levels.kept(core.memory, core.program)
    law: Any = core.policy.played.drawn_from
    found = levels.ask(core.memory, arm, exclude, law)
    if found == BROKEN:
        _refuse(core.policy)
    return found


def _refuse(policy: Policy) -> None:
    raise InvalidValue(f"sf and isf of the law of {policy!r} must be numbers, got NaN or an error")


class Grid(NamedTuple):
    """Levels for some arms, made for one question."""

    sf: int
    params: Floats
    means: Floats
    epsilon: float
    xs: Floats
    us: Floats
    curve: Floats  # R
    weights: Floats

    def likely(self, core: Core, arms: Integers) -> Floats:
        """How likely each of these arms has the largest index."""
        out = np.empty(arms.size)
        block, size = core.memory.block, self.curve.size
        called(
            largest.likely,
            block,
            self.sf,
            self.params,
            self.means,
            self.epsilon,
            arms,
            self.xs,
            self.us,
            self.weights,
            size,
            out,
        )
        heed(core)
        return out


def made(core: Core, some: Integers) -> Grid:
    """For the policy's own indices."""
    policy, state = core.policy.played, core.memory.state
    law: Any = policy.drawn_from
    if policy.schedule == "fresh":
        kinks = np.array(levels.KINKS if law.sf_spread else ())
        return spread(
            core, law, "_spread", state.params, state.means, some, 1.0, kinks, np.zeros(kinks.size, int)
        )
    epsilon = float(state.rule.epsilon)
    tops, ties = _atoms(state.means[some], epsilon)
    if law.sf_spread is not None:  # it has atoms of its own at 0 and 1, which others' means may share
        tops = np.unique(np.append(tops, levels.KINKS))
        ties = np.full(tops.size, TIED)
    return spread(core, law, "", state.params, state.means, some, epsilon, tops, ties)


def _atoms(means: Floats, epsilon: float) -> tuple[Floats, Integers]:
    """The largest means, as far as they matter: below them G is less than 1e-9. And the steps across them."""
    if epsilon == 1.0:
        return np.empty(0), NONE
    few = 1 if epsilon == 0.0 else min(math.ceil(math.log(1e-9) / math.log(epsilon)), ATOMS)
    values, counts = np.unique(means, return_counts=True)
    return values[-few:], np.where(counts[-few:] > 1, TIED, 1)


def spread(
    core: Core,
    law: Law,
    kind: str,
    params: Floats,
    means: Floats,
    some: Integers,
    epsilon: float = 1.0,
    atoms: Floats = np.empty(0),  # noqa: B008
    ties: Integers = NONE,
    finest: float = largest.FINEST,
    room: int = ROOM,
) -> Grid:
    """Levels for these arms; ``kind`` is "_spread" for a law's functions without atoms."""
    room += int(ties.sum()) + 2 * ties.size
    xs, us, heights, curve, weights = *np.empty((4, room)), np.empty((room, 2))
    totals, size = np.empty((room, 2), np.int64), np.zeros(1, np.int64)
    sf, isf = law_hook(law, f"sf{kind}"), law_hook(law, f"isf{kind}")
    grid = xs, us, totals, heights, size, finest
    count = called(
        largest.fresh,
        core.memory.block,
        sf,
        isf,
        params,
        means,
        epsilon,
        some,
        atoms,
        ties,
        grid,
        GAP,
        curve,
        weights,
    )
    heed(core)
    return Grid(sf, params, means, epsilon, xs[:count], us[:count], curve[:count], weights[:count])


def heed(core: Core) -> None:
    """A law of the user's own may not have given a number."""
    fault = core.memory.field("fault")
    if fault[0]:
        fault[0] = 0
        _refuse(core.policy)


# By indices that are there -------------------------------------------------------------------------------


def _best(core: Core, t: int, who: Eligible, among: Integers, exclude: Integers) -> Integers:
    """The arms with the largest index, one of which is chosen."""
    core.pick(t, 1, who)  # a spent index is drawn anew, or counts its pending pulls
    some = lawful(core, among, exclude)
    if some.size == 0:
        there = np.setdiff1d(among if who[0] is not None else np.arange(core.memory.arms), exclude)
        return np.asarray(there[~core.is_paused(there)])
    index = np.empty(some.size)
    called(coming.indices, core.memory.block, t, some, index)
    return np.asarray(some[index == index.max()])
