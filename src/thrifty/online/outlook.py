"""What if we stopped now: how likely each arm is the best, and what taking it for ever would cost.

The means of the arms are distributed as the law says, given all rewards. With r_i and R as in
``engines.largest``, arm i is the best with probability p_i, and always taking it costs on average, for each
decision,

    E[max_j mu_j - mu_i] = E[W(mu_i)],    W(y) = int_y^inf 1 - exp(-(R - r_i)) dx,

in which nothing is subtracted from its like.
"""

from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from thrifty.arrays import Floats, Integers
from thrifty.engines import largest
from thrifty.errors import InvalidCall, InvalidValue
from thrifty.jit import called
from thrifty.laws import LAWS, Law
from thrifty.online import levels, probabilities
from thrifty.online.core import Core
from thrifty.policies import Policy
from thrifty.policies.compiled import law_hook
from thrifty.policies.law_policy import check_law

BEST = 10  # arms, unless some are asked for
FINEST = 1e-6  # an R above which the integral is over
ROOM = 320
QUANTILES = np.array([NormalDist().cdf(z) for z in np.linspace(3.9, -3.9, 27)])  # of each law
EVENLY, FINE = 40, 4000  # points that are the same for all, and how many cells there could be at most
NODES = 96


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Gauss's nodes and weights on (0, 1)."""
    nodes, weights = legendre.leggauss(NODES)
    return 0.5 * nodes + 0.5, 0.5 * weights


def read_law(law: object, policy: Policy) -> Law:
    """The law that was given, or the policy's."""
    if law is None:
        own = policy.played.drawn_from
        if own is None:
            raise InvalidValue(f"law must be given for {policy!r}, which has none, got None")
        return own
    check_law(law)
    found = LAWS[law] if isinstance(law, str) else law
    if not isinstance(found, Law):
        raise InvalidValue(f"law must have sf and isf, and not only draw, got {law!r}")
    return found


def look(core: Any, law: Law, asked: Integers | None) -> tuple[Integers, Floats, Floats]:
    """Of the arms that are asked for, or of the best: their probabilities of being the best, and losses."""
    if not isinstance(core, Core):
        raise InvalidCall("a posterior of your own only draws: it has no outlook")
    some = probabilities.lawful(core, probabilities.NONE, probabilities.NONE)
    missing = core.memory.arms - core.resting - some.size
    if asked is not None:  # one that is paused may be asked for
        missing += int(np.count_nonzero((_counts(core)[asked] == 0.0) & core.is_paused(asked)))
    if missing:
        raise InvalidCall(
            f"every arm needs a reward or a prior before there is an outlook: {missing} have none"
        )
    params = _params(core, law)
    kinks = np.array(levels.KINKS if law.sf_spread else ())
    grid = probabilities.spread(
        core, law, "", params, core.memory.field("means"), some, 1.0, kinks,
        np.full(kinks.size, probabilities.TIED), FINEST, ROOM,
    )  # fmt: skip
    if asked is None:
        likely = grid.likely(core, some)
        best = np.lexsort((some, -likely))[:BEST]
        asked, chances = some[best], likely[best]
    else:
        member = ~core.is_paused(asked)
        chances = np.zeros(asked.size)
        chances[member] = grid.likely(core, asked[member])
    out = np.empty(asked.size)
    called(largest.losses, core.memory.block, grid.sf, law_hook(law, "isf"), params, asked,
        core.is_paused(asked).astype(np.int64), grid.xs, grid.us, grid.curve,
        np.empty((grid.xs.size, 2)), *_quadrature(), out,
    )  # fmt: skip
    probabilities.heed(core)
    return asked, chances, out


def densities(core: Core, law: Law, asked: Integers) -> tuple[Floats, Floats]:
    """Of the laws of these arms, over cells that are narrow where one of them is: the edges of the cells, and
    a row of densities for each arm, each the mean over its cell. Next to nothing lies beyond them."""
    params = _params(core, law)
    block, found = core.memory.block, np.empty((asked.size, QUANTILES.size))
    called(largest.quantiles, block, law_hook(law, "isf"), params, asked, QUANTILES, found)
    probabilities.heed(core)
    known = found[np.isfinite(found)]
    low, high = known.min(), known.max()
    edges = np.unique(np.concatenate([known, np.linspace(low, high, EVENLY)]))
    least = max((high - low) / FINE, 1e-12 * max(abs(low), abs(high)), 1e-300)
    apart = np.concatenate([[True], np.diff(np.floor((edges - low) / least)) > 0.0])  # one of those alike
    edges = edges[apart] if apart.sum() > 1 else np.array([low, low + least])
    above = np.empty((asked.size, edges.size))
    called(largest.tails, block, law_hook(law, "sf"), params, asked, edges, above)
    probabilities.heed(core)
    return edges, np.maximum(above[:, :-1] - above[:, 1:], 0.0) / np.diff(edges)


def _params(core: Core, law: Law) -> Floats:
    """Of every arm that has a law: of what is known of it, whatever a policy makes of that to explore."""
    state, policy = core.memory.state, core.policy.played
    if law == policy.drawn_from and state.rule.temper == 1.0:
        return core.memory.field("params")
    mean, weight = _prior(core)
    counts, sums = _counts(core), core.sums + mean * weight
    parameters, params = law.function("parameters"), np.full((core.memory.arms, 2), np.nan)
    try:
        for i in np.flatnonzero(counts > 0.0).tolist():
            params[i] = parameters(counts[i], sums[i])
    except Exception as error:
        raise InvalidValue(f"parameters of {law!r} must return two numbers, got an error: {error}") from error
    if np.isnan(params[counts > 0.0]).any():
        raise InvalidValue(f"parameters of {law!r} must return two numbers, got NaN")
    return params


def _prior(core: Core) -> Any:
    """Means and weights, of each arm or of all."""
    state = core.memory.state
    return state.prior.T if state.prior.size else (state.rule.prior_mean, state.rule.prior_weight)


def _counts(core: Core) -> Floats:
    """What is known of each arm, in pulls; one of which nothing is known has no law."""
    counts: Floats = core.weight + _prior(core)[1]
    return counts
