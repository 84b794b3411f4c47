"""How likely an arm is to have the largest index, from sums over all arms that are kept at a few levels.

With independent indices, F_j their distribution functions and r_j = -ln F_j, the largest of them is at most x
with probability G = exp(-R), R = sum_j r_j. Arm i has the largest with probability

    p_i = int G d(ln F_i) = int_0^inf e^(-R) (dr_i / dR) dR.

At levels x_0 < x_1 < ... both R and r_i are known. In between r_i is a cubic in R through four neighbours:
it is linear in the values of r_i, and right if r_i = R. So p_i = sum_m w_m r_i(x_m), the weights w are of R
alone, and the p_i sum to int e^(-R) dR = 1, whatever the levels. Beyond the ends r_i is in proportion to R.

R is kept in whole numbers, units of 2^-32 and of 2^-70 apart: what is added and subtracted leaves no trace.

A level is a pair (x, u): u is 1, but where laws have atoms. There F runs from its limit from the left at
u = 0 to its value at u = 1 in a straight line: ties are broken uniformly at random, as if by a second draw.
"""

import math

import numpy as np

from thrifty.jit import entry, hot, kernel
from thrifty.state import calls
from thrifty.state.header import opened

ADD, TAKE = 1, -1
CAP = 32.0  # of an r
NEARLY = 1.0 - math.exp(-CAP)
WHOLE, REST = 2.0**32, 2.0**38
ENOUGH = 60.0  # an R where G is 0, with some to spare: most arms only get worse
FINEST = 0.01  # an R above which the arms do not get into each other's way
STEPS, FASTER = 24, 4.0  # to either side, when looking for the ends: each so many times as long as the last
STILL = 5  # a step that changes nothing counts for so many: some atoms are at infinity
SMALL = 0.1  # cubics that give less than this share of what lines give have gone astray
UNEVEN = 50.0  # gaps of R between neighbours that differ by more are crossed in a straight line

# Sums at a level -----------------------------------------------------------------------------------------


@hot
def amount(state, sf, a, b, mean, epsilon, x, u):
    """r of a law with these parameters; with probability 1 - epsilon it is at its mean instead."""
    above = calls.sf(sf, (state, a, b, x))
    if u < 1.0:
        above += (1.0 - u) * (calls.sf(sf, (state, a, b, np.nextafter(x, -np.inf))) - above)
    if epsilon < 1.0:
        stays = 1.0 if mean > x else 1.0 - u if mean == x else 0.0
        above = epsilon * above + (1.0 - epsilon) * stays
    return -math.log1p(-above) if above < NEARLY else CAP


@hot
def put(totals, m, r, sign):
    """Add r at level m, or subtract it."""
    scaled = r * WHOLE
    whole = math.floor(scaled)
    totals[m, 0] += sign * int(whole)
    totals[m, 1] += sign * int((scaled - whole) * REST)


@hot
def total(totals, m):
    """R at level m."""
    return totals[m, 0] / WHOLE + totals[m, 1] / (WHOLE * REST)


@hot
def follow(leaders, lead, i, r):
    """Arm i has this r in the middle: is it one of those that lead? They are in rising order."""
    p = 0
    while p < leaders.size and leaders[p] != i:
        p += 1
    if p == leaders.size:
        if p == 0 or r <= lead[0]:
            return
        p = 0
    leaders[p], lead[p] = i, r
    while p + 1 < leaders.size and lead[p] > lead[p + 1]:
        leaders[p], leaders[p + 1], lead[p], lead[p + 1] = leaders[p + 1], leaders[p], lead[p + 1], lead[p]
        p += 1
    while p > 0 and lead[p] < lead[p - 1]:
        leaders[p], leaders[p - 1], lead[p], lead[p - 1] = leaders[p - 1], leaders[p], lead[p - 1], lead[p]
        p -= 1


@hot
def height(whole, aside, finest):
    """Levels are spread evenly in this: by what all arms make of R, and all but the leaders."""
    others = max(whole - aside, 0.0)
    return math.log(min(whole, ENOUGH) + finest) + math.log(min(others, ENOUGH) + finest)


# A set of levels, from nothing ---------------------------------------------------------------------------


@hot
def led(arms, x, u):
    """What the leaders make of R."""
    state, sf, _, params, means, epsilon, _, leaders, _ = arms
    aside = 0.0
    for p in range(leaders.size):
        i = leaders[p]
        if 0 <= i < len(params):
            aside += amount(state, sf, params[i, 0], params[i, 1], means[i], epsilon, x, u)
    return aside


@kernel
def insert(arms, grid, x, u):
    """One more level. ``arms`` is (state, sf, isf, params, means, epsilon, who, leaders, lead), ``grid`` is
    (xs, us, totals, heights, size, finest)."""
    state, sf, _, params, means, epsilon, who, _, _ = arms
    xs, us, totals, heights, size, finest = grid
    m = size[0]
    while m > 0 and (xs[m - 1] > x or (xs[m - 1] == x and us[m - 1] > u)):
        xs[m], us[m], heights[m] = xs[m - 1], us[m - 1], heights[m - 1]
        totals[m, 0], totals[m, 1] = totals[m - 1, 0], totals[m - 1, 1]
        m -= 1
    totals[m, 0] = totals[m, 1] = 0
    for p in range(who.size):
        i = who[p]
        put(totals, m, amount(state, sf, params[i, 0], params[i, 1], means[i], epsilon, x, u), ADD)
    xs[m], us[m] = x, u
    heights[m] = height(total(totals, m), led(arms, x, u), finest)
    size[0] += 1


@kernel
def spread(arms, grid, atoms, ties, gap):
    """Levels from where G is about 0 to where R is about ``finest``; at each of the atoms so many steps, and
    two levels that are the same for 0, where there is a kink; then one in the middle of the widest cell,
    until there is no room or no cell is wider than ``gap``. Leaders are looked for half-way, if there are
    to be any."""
    state, _, isf, params, _, _, who, leaders, _ = arms
    xs, _, totals, _, size, finest = grid
    start, step = -math.inf, 1.0
    for p in range(0, who.size, max(who.size // 1000, 1)):
        i = who[p]
        upper = calls.isf(isf, (state, params[i, 0], params[i, 1], 0.25))
        lower = calls.isf(isf, (state, params[i, 0], params[i, 1], 0.75))
        if math.isfinite(upper) and upper > start:
            start = upper
            step = upper - lower if math.isfinite(lower) else 1.0
    if not math.isfinite(start):
        start = 0.0
    step = max(step, 1e-12 * max(abs(start), 1e-300))
    for p in range(atoms.size):
        for q in range(max(ties[p], 1) + 1):
            insert(arms, grid, atoms[p], q / ties[p] if ties[p] > 0 else 1.0)
    for p in range(leaders.size):
        leaders[p] = -1
    insert(arms, grid, start, 1.0)
    further, tries = step, 0
    while finest < total(totals, size[0] - 1) and tries < STEPS and size[0] < xs.size:
        before = total(totals, size[0] - 1)
        insert(arms, grid, xs[size[0] - 1] + further, 1.0)
        further, tries = FASTER * further, tries + (1 if total(totals, size[0] - 1) < before else STILL)
    go_down(arms, grid, step)
    if leaders.size > 0:
        refine(arms, grid, gap, max(xs.size // 2, size[0]))
        find_leaders(arms, grid)
        go_down(arms, grid, max(xs[1] - xs[0], step))
    refine(arms, grid, gap, xs.size)


@kernel
def go_down(arms, grid, step):
    """Levels below the others, until R is large."""
    xs, us, totals, _, size, _ = grid
    tries = 0
    while total(totals, 0) - led(arms, xs[0], us[0]) < ENOUGH and tries < STEPS and size[0] < xs.size:
        before = total(totals, 0)
        insert(arms, grid, xs[0] - step, 1.0)
        step, tries = FASTER * step, tries + (1 if total(totals, 0) > before else STILL)


@kernel
def refine(arms, grid, gap, room):
    """Levels in the middle of the widest cells."""
    xs, _, _, heights, size, _ = grid
    while size[0] < room:
        widest, best = gap, -1
        for m in range(size[0] - 1):
            middle = 0.5 * xs[m] + 0.5 * xs[m + 1]
            if heights[m] - heights[m + 1] > widest and xs[m] < middle < xs[m + 1]:
                widest, best = heights[m] - heights[m + 1], m
        if best < 0:
            return
        insert(arms, grid, 0.5 * xs[best] + 0.5 * xs[best + 1], 1.0)


@hot
def middle(totals, size):
    """The level where R is next to 1."""
    best = 0
    for m in range(size):
        if abs(math.log(total(totals, m) + 1e-9)) < abs(math.log(total(totals, best) + 1e-9)):
            best = m
    return best


@kernel
def find_leaders(arms, grid):
    """The arms with the largest r in the middle. The heights of levels change by that."""
    state, sf, _, params, means, epsilon, who, leaders, lead = arms
    xs, us, totals, heights, size, finest = grid
    m = middle(totals, size[0])
    for p in range(leaders.size):
        lead[p] = 0.0
    for p in range(who.size):
        i = who[p]
        follow(
            leaders, lead, i, amount(state, sf, params[i, 0], params[i, 1], means[i], epsilon, xs[m], us[m])
        )
    for m in range(size[0]):
        heights[m] = height(total(totals, m), led(arms, xs[m], us[m]), finest)


# Weights -------------------------------------------------------------------------------------------------


@hot
def moments(d):
    """int_0^d t^k e^-t dt, for k = 0, 1, 2."""
    zeroth = -math.expm1(-d)
    if d > 0.3:
        rest = math.exp(-d)
        return zeroth, 1.0 - (1.0 + d) * rest, 2.0 - (2.0 + 2.0 * d + d * d) * rest
    first, second, term = 0.0, 0.0, 1.0
    for k in range(9):
        first += term / (k + 2)
        second += term / (k + 3)
        term *= -d / (k + 1)
    return zeroth, first * d * d, second * d * d * d


@kernel
def weigh(curve, xs, size, weights):
    """Of each level, so that p_i is the sum of weights times r_i: by cubics, and by straight lines. ``curve``
    has R."""
    last = size - 1
    for m in range(size):
        weights[m, 0] = weights[m, 1] = 0.0
    for k in range(2):
        if curve[0] > 0.0:
            weights[0, k] += math.exp(-curve[0]) / curve[0]
        if curve[last] > 0.0:
            weights[last, k] += -math.expm1(-curve[last]) / curve[last]
    begin = 0  # of a stretch without an atom, or of one at an atom
    for m in range(last):
        if m > 0 and (xs[m] == xs[m + 1]) != (xs[m - 1] == xs[m]):
            begin = m
        end = m + 1
        while end < last and end < m + 3 and (xs[end] == xs[end + 1]) == (xs[m] == xs[m + 1]):
            end += 1
        drop = curve[m] - curve[m + 1]
        if drop > 0.0:
            scale = math.exp(-curve[m + 1])
            share = -scale * math.expm1(-drop) / drop
            weights[m, 1] += share
            weights[m + 1, 1] -= share
            first = max(min(m - 1, end - 3), begin)
            if first + 3 <= end and _is_even(curve, first):
                _cubic(curve, first, m, scale, weights)
            else:
                weights[m, 0] += share
                weights[m + 1, 0] -= share


@hot
def chance(by_cubics, by_lines):
    """A cubic may go astray where next to nothing is left: lines never make less than 0."""
    return min(by_cubics if by_cubics > SMALL * by_lines else by_lines, 1.0)


@hot
def _is_even(curve, first):
    """Whether a cubic through four points is fine."""
    low, high = math.inf, 0.0
    for m in range(first, first + 3):
        gap = curve[m] - curve[m + 1]
        low, high = min(low, gap), max(high, gap)
    return low * UNEVEN > high


@hot
def _cubic(curve, first, m, scale, weights):
    """The cell below level m + 1: the derivative of each of the four polynomials, times e^-t."""
    base = curve[m + 1]
    zeroth, one, two = moments(curve[m] - base)
    for s in range(first, first + 4):
        product, linear, pairs = 1.0, 0.0, 0.0
        for o in range(first, first + 4):
            if o != s:
                t = curve[o] - base
                product *= curve[s] - curve[o]
                pairs += t * linear
                linear += t
        weights[s, 0] += scale * (3.0 * two - 2.0 * linear * one + pairs * zeroth) / product


@hot
def coarsest(curve, xs, size):
    """The largest mass of a cell, those beyond the ends included, as far as it is not an atom's."""
    found = max(100.0 * math.exp(-curve[0]), 2.0 * curve[size - 1])
    for m in range(size - 1):
        if xs[m] < xs[m + 1]:
            found = max(found, math.exp(-curve[m + 1]) * -math.expm1(curve[m + 1] - curve[m]))
    return found


# A question about some arms, from nothing ----------------------------------------------------------------


@entry
def fresh(block, sf, isf, params, means, epsilon, who, atoms, ties, grid, gap, curve, weights):
    """Levels for these arms alone, R at them, and weights. Returns how many levels there are. ``grid`` is as
    in ``insert``."""
    arms = opened(block), sf, isf, params, means, epsilon, who, who[:0], curve[:0]
    spread(arms, grid, atoms, ties, gap)
    xs, _, totals, _, sizes, _ = grid
    size = sizes[0]
    for m in range(size):
        curve[m] = total(totals, m)
    weigh(curve, xs, size, weights)
    return size


@entry
def likely(block, sf, params, means, epsilon, who, xs, us, weights, size, out):
    """Fill ``out`` with the probabilities of these arms."""
    state = opened(block)
    for p in range(who.size):
        i, curved, straight = who[p], 0.0, 0.0
        for m in range(size):
            r = amount(state, sf, params[i, 0], params[i, 1], means[i], epsilon, xs[m], us[m])
            curved += weights[m, 0] * r
            straight += weights[m, 1] * r
        out[p] = chance(curved, straight)


@entry
def losses(block, sf, isf, params, who, apart, xs, us, curve, room, nodes, weights, out):
    """Fill ``out`` with what it costs to take each of these arms always: E[W(mu_i)], where W(y) is how far
    the largest of the others is above y on average, the integral of 1 - exp(-(R - r_i)) from y on. ``apart``
    is 1 for an arm that is not in R; ``room`` is for W and its slope; ``nodes`` in (0, 1) have weights."""
    state = opened(block)
    for p in range(who.size):
        a, b, own, cost = params[who[p], 0], params[who[p], 1], 1 - apart[p], 0.0
        for m in range(xs.size - 1, -1, -1):
            r = amount(state, sf, a, b, 0.0, 1.0, xs[m], us[m])
            room[m, 0], room[m, 1] = 0.0, math.expm1(-max(curve[m] - own * r, 0.0))
        for m in range(xs.size - 2, -1, -1):
            room[m, 0] = room[m + 1, 0] - area(xs, room, m)
        for k in range(nodes.size):
            v = nodes[k]
            y = calls.isf(isf, (state, a, b, 1.0 - v * v * v * (10.0 - 15.0 * v + 6.0 * v * v)))
            cost += weights[k] * 30.0 * (v * (1.0 - v)) ** 2 * ahead(xs, room, y)
        out[p] = cost


@hot
def area(xs, room, m):
    """Of the slope from level m to the next, by a cubic through four levels if it is fine."""
    x1, x2 = xs[m], xs[m + 1]
    line = 0.5 * (x2 - x1) * (room[m, 1] + room[m + 1, 1])
    if m == 0 or m + 2 >= xs.size:
        return line
    x0, x3 = xs[m - 1], xs[m + 2]
    low, high = min(x1 - x0, x2 - x1, x3 - x2), max(x1 - x0, x2 - x1, x3 - x2)
    if low * UNEVEN <= high:
        return line
    middle, value = 0.5 * (x1 + x2), 0.0
    for s in range(m - 1, m + 3):
        part = room[s, 1]
        for o in range(m - 1, m + 3):
            if o != s:
                part *= (middle - xs[o]) / (xs[s] - xs[o])
        value += part
    return (2.0 * line + 4.0 * (x2 - x1) * value) / 6.0


@hot
def ahead(xs, room, y):
    """W(y): between levels the cubic that has the right values and slopes, below them a straight line."""
    last = xs.size - 1
    if y >= xs[last]:
        return 0.0
    if y <= xs[0]:
        return room[0, 0] + xs[0] - y
    low, high = 0, last
    while high - low > 1:
        m = (low + high) // 2
        if xs[m] <= y:
            low = m
        else:
            high = m
    width = xs[high] - xs[low]
    t = (y - xs[low]) / width
    left = (1.0 + 2.0 * t) * (1.0 - t) ** 2 * room[low, 0] + t * (1.0 - t) ** 2 * width * room[low, 1]
    right = t * t * (3.0 - 2.0 * t) * room[high, 0] - t * t * (1.0 - t) * width * room[high, 1]
    return max(left + right, 0.0)


# Laws as they are ----------------------------------------------------------------------------------------


@entry
def quantiles(block, isf, params, who, ps, out):
    """Fill ``out``, a row for each of these arms, with what its law exceeds with probabilities ``ps``."""
    state = opened(block)
    for p in range(who.size):
        for m in range(ps.size):
            out[p, m] = calls.isf(isf, (state, params[who[p], 0], params[who[p], 1], ps[m]))


@entry
def tails(block, sf, params, who, xs, out):
    """Fill ``out``, a row for each of these arms, with the probabilities that its law exceeds ``xs``."""
    state = opened(block)
    for p in range(who.size):
        for m in range(xs.size):
            out[p, m] = calls.sf(sf, (state, params[who[p], 0], params[who[p], 1], xs[m]))
