"""Is a state that came from a file one that kernels can work on? One check for each thing that they rely on.

Kernels look up arms by number, follow lists and divide without asking, so a number that no run can leave
behind may crash them or keep them busy for ever. What follows from the rest is not in a file, and so there is
nothing to check about it. Each check looks at all arms at once: a million arms take about as
long as reading them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.engines.memory import Rule
from thrifty.engines.sleepers.duel import NEWEST, OLDEST
from thrifty.engines.sleepers.line import (
    AHEAD,
    ASKED,
    CERTAIN,
    DEMAND,
    DRAWN,
    GROUPS,
    HALF,
    NEW,
    OLD,
    SINCE,
    SLOPE,
    SWEEPING,
    SWEPT,
    TOTAL,
)
from thrifty.policies import (
    DMED,
    IMED,
    DirichletSampling,
    DiscountedTS,
    DiscountedUCB,
    ExploreThenCommit,
    FixedArm,
    IndexPolicy,
    Policy,
    UCBImproved,
)
from thrifty.state import stale, window
from thrifty.state.fading import LEAST, MADE, NEXT
from thrifty.state.header import State
from thrifty.state.history import ROOM, SIZE, START, TIMES, VALUE
from thrifty.state.lists import CURSOR, LEFT, STAGE
from thrifty.state.statistics import CLOCK, HANDED, REPLACED
from thrifty.state.window import COUNT, SEEN, SUM
from thrifty.state.young import EXPIRED, FIRST

DRAWS = 2**61  # the most that are counted
PHASES = 64  # UCB-Improved has fewer
TINY = 5e-324  # the least number above 0
FEWEST = 6  # entries of a history: what there is room for at the least
DEMAND_MOST = 1e9  # far above what sleepers want for as many arms
FORMER_MOST = 1e6  # far above any power of ln T that a law is tempered by
AHEAD_MOST = 1000.0  # far above what _look_ahead of sleepers sets


@dataclass(frozen=True)
class Facts:
    """A state, and what is known besides it."""

    policy: Policy
    rule: Rule
    engine: str
    state: Any
    t: int  # pulls until now
    bounds: tuple[float, float]  # of a reward, in the unit of the policy

    @property
    def number(self) -> Integers:
        count: Integers = self.state.count
        return count

    @property
    def arms(self) -> int:
        return int(self.state.pulls.size)

    @property
    def weight(self) -> NDArray[Any]:
        """What is left of the pulls."""
        left: NDArray[Any] = self.state.faded if self.state.faded.size else self.state.pulls
        return left

    @property
    def line(self) -> bool:
        """Whether arms sleep on a line."""
        return bool(self.state.ends.size)

    @property
    def committed(self) -> bool:
        """Whether an index is kept from one decision to the next, for arms that have a law."""
        return self.policy.schedule == "aggregate" or self.policy.changes == "when pulled"


def has_law(x: Facts) -> NDArray[np.bool_]:
    """Which arms have a reward or a prior to draw from."""
    known: NDArray[np.bool_] = x.weight > 0
    return known | (x.rule.prior_weight > 0.0 or x.state.prior.size > 0)


def evidence(x: Facts) -> tuple[Floats, Floats]:
    """Every arm's count and sum of rewards, the prior's pseudo-observations included."""
    mean, weight = x.state.prior.T if x.state.prior.size else (x.rule.prior_mean, x.rule.prior_weight)
    return x.weight + weight, x.state.sums + mean * weight


def on_line(state: Any) -> Integers:
    """Sleepers: the arms on the line, in its order."""
    arms: Integers = state.line[: state.ends[GROUPS], 1].astype(np.int64)
    return arms


class Check(NamedTuple):
    name: str  # of the field or number
    right: str  # what it must be
    holds: Callable[[Facts], Any]


def check(facts: Facts) -> None:
    """Raises a ValueError that names the first field that cannot be right."""
    state = facts.state
    asleep = SLEEPING_DUELS if state.queue.size else SLEEPING_FRESH
    parts: list[tuple[Any, tuple[Check, ...]]] = [
        (True, EVERYWHERE),
        (state.prior.size, PRIORS),
        (facts.committed, COMMITMENTS),
        (state.kept.size, REPLACEMENTS),
        (state.best.size, DUELS),
        (facts.line, SLEEPERS),
        (facts.line, asleep),
        (state.squares.size, SQUARES),
        (state.weights.size, WEIGHTS),
        (state.spans.size, HISTORIES),
        (state.window.size, WINDOWS),
        (state.last.size, LAST),
        (state.own.size, OWN.get(type(facts.policy), ())),
        (state.marks.size, LISTS.get(type(facts.policy), ())),
        (state.ring.size, YOUNG),
        (True, BARRED),
        (state.turn.size, FADING),
        (state.stale.size, STALE),
    ]
    for applies, part in parts:
        for name, right, holds in part if applies else ():
            if not holds(facts):
                raise ValueError(f"{name} must be {right}")
    if state.reserve_ends.size:
        reserve = replace(facts, state=State(state.reserve))
        new = not state.reserve_ends[GROUPS] and state.reserve_levels[NEW] == np.inf  # the file has none
        for name, right, holds in (*SLEEPERS, *RESERVE, *(() if new else SLEEPING_FRESH)):
            if not holds(reserve):
                raise ValueError(f"{name} must be {right}, in the reserve too")


def within(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether all are in this range: no NaN is."""
    return not values.size or bool(values.min() >= low and values.max() <= high)


def in_order(values: NDArray[Any]) -> bool:
    return bool((values[1:] >= values[:-1]).all())


# Every state --------------------------------------------------------------------------------------------


def _pulls_add_up(x: Facts) -> bool:
    total = x.state.pulls.sum(dtype=float) + x.state.pending[:, 0].sum(dtype=float)
    return within(x.state.pulls, 0, x.t) and within(x.state.pending[:, 0], 0, x.t) and bool(total <= x.t)


def _faded_fits(x: Facts) -> bool:
    left = x.weight
    return bool(((left == 0.0) | (left >= LEAST)).all() and (left <= x.state.pulls).all())


def _sums_fit(x: Facts) -> bool:
    low, high = x.bounds
    weight, sums = x.weight, x.state.sums
    return bool(((sums >= low * weight) & (sums <= high * weight)).all())


def _flags_fit(x: Facts) -> bool:
    pending, flags = x.state.pending.T
    spendable = x.committed or x.policy.schedule == "duel"
    return within(flags, 0, 3 if spendable else 0) and not ((flags > 0) & (pending == 0)).any()


def _handed_out(x: Facts) -> bool:
    """Arms before this one need no first pull."""
    handed = x.number[HANDED]
    ready = has_law(x) | (x.state.pending[:, 0] > 0) | (x.state.barred > 0)
    return bool(0 <= handed <= x.arms and ready[:handed].all())


EVERYWHERE = (
    Check("rng", "four words, not all of them 0", lambda x: x.state.rng.any()),
    Check("pulls and pending", "counts that add up to t at most", _pulls_add_up),
    Check("faded", "0, or from 1e-100 to pulls", _faded_fits),
    Check("sums", "what so many rewards can add up to", _sums_fit),
    Check("pending", "flagged only where a pull is pending and its index is kept", _flags_fit),
    Check("draws", "counts", lambda x: within(x.state.draws, 0, DRAWS)),
    Check("index", "numbers", lambda x: not np.isnan(x.state.index).any()),
    Check("evaluations", "a count", lambda x: within(x.state.evaluations, 0, DRAWS)),
    Check("count[CLOCK]", "a count", lambda x: 0 <= x.number[CLOCK] < checks.COUNT),
    Check("count[HANDED]", "an arm, and those before it handed out", _handed_out),
)


def _priors_fit(x: Facts) -> bool:
    means, weights = x.state.prior.T
    return within(means, *x.bounds) and within(weights, TINY, checks.LARGEST)


PRIORS = (Check("prior", "a possible mean and a weight above 0 for each arm", _priors_fit),)

# Indices that are kept ----------------------------------------------------------------------------------


def _indices_fit(x: Facts) -> bool:
    """Of the user's own, an index may be -inf."""
    there, lawful = x.state.index > -np.inf, has_law(x)
    return bool((there <= lawful if isinstance(x.policy, IndexPolicy) else there == lawful).all())


COMMITMENTS = (
    Check("index", "above -inf for arms with a reward or a prior, and for no others", _indices_fit),
)


def _kept_fit(x: Facts) -> bool:
    replaced = x.state.pending[:, 1] & REPLACED > 0
    return not np.isnan(x.state.kept).any() and bool((x.state.kept[replaced] > -np.inf).all())


REPLACEMENTS = (Check("kept", "numbers, above -inf where another index took its place", _kept_fit),)


def _flagged_in_phase_two(x: Facts) -> bool:
    second = x.state.index > -np.inf if x.line else x.state.age > x.rule.phi
    return bool(second[x.state.pending[:, 1] > 0].all())


DUELS = (
    Check("best", "numbers", lambda x: not np.isnan(x.state.best).any()),
    Check("age", "counts", lambda x: within(x.state.age, 0, checks.COUNT)),
    Check("pending", "flagged in phase II", _flagged_in_phase_two),
)

# Sleepers -----------------------------------------------------------------------------------------------


def _groups_end(x: Facts) -> bool:
    ends = x.state.ends
    return in_order(ends) and within(ends, 0, x.arms)


def _arms_on_line(x: Facts) -> bool:
    arms = x.state.line[: x.state.ends[GROUPS], 1]
    if not within(arms, 0, x.arms - 1) or (arms != np.floor(arms)).any():
        return False
    return not (np.bincount(on_line(x.state), minlength=1) > 1).any()


def _rates_fit(x: Facts) -> bool:
    """Each in the group that it is in."""
    rates = x.state.line[: x.state.ends[GROUPS], 0]
    if not within(rates, 0.0, CERTAIN):
        return False
    groups = np.where(rates < 0.5**GROUPS, GROUPS, np.maximum(0, -np.frexp(rates)[1]))
    return bool((groups == np.searchsorted(x.state.ends, np.arange(rates.size), side="right")).all())


def _total_fits(x: Facts) -> bool:
    """Within what the rounding of many changes adds up to."""
    rates = x.state.line[: x.state.ends[GROUPS], 0]
    total = (np.minimum(rates, HALF) if x.state.levels.size > DEMAND else rates).sum()
    return bool(abs(x.state.levels[TOTAL] - total) <= 1.0 + 1e-3 * total)


def _levels_fit(x: Facts) -> bool:
    new, old = x.state.levels[NEW], x.state.levels[OLD]
    return bool(new > -np.inf and old > -np.inf) and (new == old or bool(x.state.sweep[SWEEPING]))


SLEEPERS = (
    Check("ends", "where on the line each group ends, in order", _groups_end),
    Check("line", "different arms", _arms_on_line),
    Check("line", "rates in their groups", _rates_fit),
    Check("levels[TOTAL]", "the sum of the rates", _total_fits),
    Check("sweep[SWEEPING]", "0 or 1", lambda x: x.state.sweep[SWEEPING] in (0, 1)),
    Check(
        "sweep[SWEPT]",
        "a count, and 0 between sweeps",
        lambda x: 0 <= x.state.sweep[SWEPT] <= DRAWS * x.state.sweep[SWEEPING],
    ),
    Check("levels[NEW] and [OLD]", "above -inf, and equal between sweeps", _levels_fit),
    Check(
        "levels[SLOPE]",
        "above 0 once there is a level",
        lambda x: x.state.levels[NEW] == np.inf or x.state.levels[SLOPE] > 0.0,
    ),
    Check("levels[DRAWN]", "a count", lambda x: 0.0 <= x.state.levels[DRAWN] <= DRAWS),
    Check("levels[AHEAD]", "at least 0 and not large", lambda x: 0.0 <= x.state.levels[AHEAD] <= AHEAD_MOST),
    Check(
        "levels[SINCE]", "from 0 to count[CLOCK]", lambda x: 0.0 <= x.state.levels[SINCE] <= x.number[CLOCK]
    ),
    Check(
        "start",
        "from 0 to count[CLOCK]",
        lambda x: within(x.state.start[on_line(x.state)], 0, x.number[CLOCK]),
    ),
)


def _is_on_line(x: Facts) -> NDArray[np.bool_]:
    there = np.zeros(x.arms, bool)
    there[on_line(x.state)] = True
    return there


SLEEPING_FRESH = (
    Check(
        "line",
        "of all arms with a reward or a prior, and of no others",
        lambda x: (_is_on_line(x) == has_law(x) & (x.state.barred == 0)).all(),
    ),
)


def _demand_fits(x: Facts) -> bool:
    return within(x.state.levels[[DEMAND, ASKED]], 0.0, DEMAND_MOST)


RESERVE = (Check("levels[DEMAND] and [ASKED]", "at least 0 and not large", _demand_fits),)


def _phases_fit(x: Facts) -> bool:
    """An arm with a law is on the line in phase I, and in the tree in phase II, after phi rounds."""
    first, second = _is_on_line(x), x.state.index > -np.inf
    if (first & second).any() or (second.any() and x.rule.phi > x.number[CLOCK]):
        return False
    lawful, paused = has_law(x), x.state.barred > 0
    return bool(
        ((first | second) == lawful)[~paused].all() and ((first | (second & ~lawful))[paused] == 0).all()
    )


def _queue(x: Facts) -> bool:
    """From the oldest to the newest, every arm on the line once, and the same way back."""
    there = on_line(x.state)
    after = np.full(x.arms + 1, -1)  # from the end, which is -1, one comes to the end
    after[there] = x.state.newer[there]
    if not within(after, -1, x.arms - 1) or not -1 <= x.state.queue[OLDEST] < x.arms:
        return False
    newer = after.tolist()
    arm = int(x.state.queue[OLDEST])
    order = []
    for _ in range(x.state.ends[GROUPS]):
        order.append(arm)
        arm = newer[arm]
    if arm != -1 or -1 in order[-1:]:
        return False
    arms = np.array(order, np.int64)
    back = np.concatenate([[-1], arms])
    same_way = (x.state.older[arms] == back[:-1]).all() and x.state.queue[NEWEST] == back[-1]
    return bool(same_way and np.bincount(arms, minlength=x.arms)[there].all())


def _since_fits(x: Facts) -> bool:
    arms, clock = on_line(x.state), x.number[CLOCK]
    since = x.state.since[arms]
    return bool((since >= x.state.start[arms]).all()) and within(since, 0, clock)


def _best_fits(x: Facts) -> bool:
    """An arm that came to phase II without one would never be chosen again."""
    arms = on_line(x.state)
    drawn = (x.state.seen[arms] > 0) | (x.state.since[arms] > x.state.start[arms])
    return bool((x.state.best[arms[drawn]] > -np.inf).all())


SLEEPING_DUELS = (
    Check("line and index", "of arms with a reward or a prior, each in phase I or II", _phases_fit),
    Check("older, newer and queue", "the arms on the line in one row", _queue),
    Check("since", "from start to count[CLOCK]", _since_fits),
    Check("seen", "counts", lambda x: within(x.state.seen[on_line(x.state)], 0, checks.COUNT)),
    Check("best", "above -inf where a draw was seen", _best_fits),
)

# Formulas that need more than counts and sums -----------------------------------------------------------


def _weights_fit(x: Facts) -> bool:
    n = evidence(x)[0]
    return bool((abs(x.state.weights - n) <= 1e-6 * n).all())


def _largest_square(x: Facts) -> float:
    low, high = x.bounds
    return max(low * low, high * high)


SQUARES = (
    Check(
        "squares",
        "what so many squared rewards can add up to",
        lambda x: ((x.state.squares >= 0.0) & (x.state.squares <= _largest_square(x) * x.weight)).all(),
    ),
)
WEIGHTS = (
    Check(
        "weights",
        "pulls with the prior's weight",
        _weights_fit,
    ),
)
# It is after t, if pulls were cancelled.
LAST = (Check("last", "counts", lambda x: within(x.state.last, 0, checks.COUNT)),)


def _discounted_fit(x: Facts) -> bool:
    weights, sums = x.state.own.reshape(-1, 2).T
    return bool(((sums >= 0.0) & (sums <= weights) & (weights <= x.state.pulls)).all())


DISCOUNTED = (Check("own", "a weight up to pulls and a sum up to that for each arm", _discounted_fit),)
# Numbers of a policy's own; of the user's own, only its own functions see them.
OWN: dict[type, tuple[Check, ...]] = {
    IMED: (Check("own", "from 0 to 1", lambda x: within(x.state.own, 0.0, 1.0)),),
    DiscountedUCB: DISCOUNTED,
    DiscountedTS: DISCOUNTED,
}


def _spans_fit(x: Facts) -> bool:
    """Inside of what is used, and apart from each other."""
    start, size, room = x.state.spans.T
    used = x.state.used[0]
    if not 0 <= used <= len(x.state.history) or not within(start, 0, used) or not within(room, 0, used):
        return False
    if not ((size >= 0) & (size <= room) & (start + room <= used)).all():
        return False
    taken = x.state.spans[room > 0]
    taken = taken[np.argsort(taken[:, START])]
    return bool((taken[:-1, START] + taken[:-1, ROOM] <= taken[1:, START]).all())


def _rewards_fit(x: Facts) -> bool:
    """Of each arm different ones in order, as often as it was pulled, its prior included."""
    start, size = x.state.spans[:, START], x.state.spans[:, SIZE]
    first = np.cumsum(size) - size  # of each arm's, when all lie side by side
    arm = np.repeat(np.arange(x.arms), size)
    entries = x.state.history[np.arange(arm.size) + (start - first)[arm]]
    values, times = entries[:, VALUE], entries[:, TIMES]
    if not within(values, *x.bounds) or not within(times, TINY, np.finfo(float).max):
        return False
    if not ((values[1:] > values[:-1]) | (arm[1:] != arm[:-1])).all():
        return False
    n, s = evidence(x)
    counted, summed, size_of = (
        np.bincount(arm, weights=part, minlength=x.arms)
        for part in (times, times * values, times * abs(values))
    )
    return np.allclose(counted, n, rtol=1e-6, atol=0.0) and bool(
        (abs(summed - s) <= 1e-6 * (size_of + n)).all()
    )


HISTORIES = (
    Check("history", f"of at least {FEWEST} entries", lambda x: len(x.state.history) >= FEWEST),
    Check("spans and used", "parts of the history, apart from each other", _spans_fit),
    Check("history", "rewards that fit pulls and sums", _rewards_fit),
)

# The last rewards ---------------------------------------------------------------------------------------


def _entries(x: Facts) -> tuple[Integers, Floats]:
    """Whose the rewards in the window are, and what they are."""
    used = min(int(x.state.window[SEEN]), x.state.window_rewards.size)
    return x.state.window[window.FIRST :][:used], x.state.window_rewards[:used]


def _window_fits(x: Facts) -> bool:
    arms, rewards = _entries(x)
    return within(arms, -1, x.arms - 1) and within(rewards, *x.bounds)


def _recent_fits(x: Facts) -> bool:
    arms, rewards = _entries(x)
    there = arms >= 0
    count = np.bincount(arms[there], minlength=x.arms)
    total = np.bincount(arms[there], weights=rewards[there], minlength=x.arms)
    recent, pulls = x.state.recent, x.state.pulls
    fits = (recent[:, COUNT] == count) & (count <= pulls)
    return bool((fits & (abs(recent[:, SUM] - total) <= 1e-6 * (count + 1.0))).all())


WINDOWS = (
    Check("window", "a count first", lambda x: 0 <= x.state.window[SEEN] <= checks.COUNT),
    Check("window", "arms that are there, or -1, with their rewards", _window_fits),
    Check("recent", "how many rewards in the window an arm has, and their sum", _recent_fits),
)

# Lists --------------------------------------------------------------------------------------------------

CURSORS = (Check("lists[CURSOR]", "a count", lambda x: 0 <= x.state.lists[CURSOR] <= checks.COUNT),)
MARKED = (Check("marks", "0 or 1", lambda x: within(x.state.marks, 0, 1)),)
PASSES = (
    *CURSORS,
    Check("lists[STAGE]", "a count", lambda x: 0 <= x.state.lists[STAGE] <= checks.COUNT),
    Check("marks", "from 0 to the next stage", lambda x: within(x.state.marks, 0, x.state.lists[STAGE] + 1)),
)


def _arm_there(x: Facts) -> bool:
    """The arm that a policy stays with has one of the numbers: that of its field, or another one since."""
    moved = x.state.lists[STAGE] == 1
    return bool(0 <= (x.state.lists[CURSOR] if moved else getattr(x.policy, "arm", 0)) < x.arms)


LISTS: dict[type, tuple[Check, ...]] = {
    DMED: PASSES,
    UCBImproved: (
        *CURSORS,
        *MARKED,
        Check("lists[STAGE]", "a phase", lambda x: 0 <= x.state.lists[STAGE] <= PHASES),
    ),
    DirichletSampling: (
        *MARKED,
        Check("lists[LEFT]", "the number of marks", lambda x: x.state.lists[LEFT] == x.state.marks.sum()),
    ),
    FixedArm: (Check("lists[CURSOR]", "an arm", _arm_there),),
    ExploreThenCommit: (
        *CURSORS,
        Check("lists[LEFT]", "0, or an arm and 1", lambda x: 0 <= x.state.lists[LEFT] <= x.arms),
    ),
}

# Pulls that are too old to count ------------------------------------------------------------------------


def _ring_fits(x: Facts) -> bool:
    """As many entries of an arm as it has pulls that count, and others that were dealt with."""
    entries, (expired, closed) = x.state.ring[FIRST:], x.state.expired.T
    if not within(entries, -1, x.arms - 1) or not within(closed, 0, entries.size):
        return False
    young = x.state.pending[:, 0] - expired
    return bool((np.bincount(entries[entries >= 0], minlength=x.arms) == young + closed).all())


def _some_expired(x: Facts) -> bool:
    expired = x.state.expired[:, EXPIRED]
    return bool(((expired >= 0) & (expired <= x.state.pending[:, 0])).all())


BARRED = (
    Check("barred", "0, or 1 where an arm is paused", lambda x: within(x.state.barred, 0, 1)),
    Check("barred", "0 for an arm at least", lambda x: (x.state.barred == 0).any()),
    Check(
        "barred", "0 where all arms must be eligible", lambda x: x.policy.ranks or not x.state.barred.any()
    ),
)

YOUNG = (
    Check("expired", "some of the pending pulls", _some_expired),
    Check("ring", "counts first", lambda x: within(x.state.ring[:FIRST], 0, checks.COUNT)),
    Check("ring", "decisions whose pulls count or were dealt with", _ring_fits),
)

# Arms that follow the rule of before -----------------------------------------------------------------------


def _is_none_stale(x: Facts) -> bool:
    """Then it does not matter where they ended, and arms may have gone since."""
    return bool(x.state.stale[stale.NEXT] == x.state.stale[stale.END])


def _stale_fits(x: Facts) -> bool:
    return _is_none_stale(x) or bool(0 <= x.state.stale[stale.NEXT] <= x.state.stale[stale.END] <= x.arms)


def _former_fits(x: Facts) -> bool:
    return _is_none_stale(x) or bool(0.0 < x.state.former[0] <= FORMER_MOST)


STALE = (
    Check("stale", "arms in order", _stale_fits),
    Check("stale[STRIDE]", "a count", lambda x: 0 <= x.state.stale[stale.STRIDE] <= checks.COUNT),
    Check("former", "what a law was tempered by", _former_fits),
)

# What is forgotten ---------------------------------------------------------------------------------------

FADING = (
    Check("turn[NEXT]", "a count", lambda x: 0 <= x.state.turn[NEXT] <= checks.COUNT),
    Check("turn[MADE]", "fewer than the cycle has", lambda x: 0 <= x.state.turn[MADE] < max(x.rule.cycle, 1)),
)
