"""What Thompson sampling has to evaluate, and to toss, at most: docs/theory.md, Theorems J and M. Ours."""

import math

from thrifty import checks


def sleepers_draws(arms: int) -> float:
    """4 ln K + 3: index draws in a round, on average, whatever the rewards. With fewer than 14 arms to draw
    all of them is less.

    >>> round(sleepers_draws(10**6), 1)
    58.3
    """
    arms = checks.integer("arms", arms, at_least=1)
    return 4.0 * math.log(arms) + 3.0


def sleepers_evaluations(arms: int) -> float:
    """4 ln K + log2(K) + 6: evaluations of sf and isf in a round, on average, levels included.

    >>> round(sleepers_evaluations(10**6), 1)
    81.2
    """
    arms = checks.integer("arms", arms, at_least=2)
    return 4.0 * math.log(arms) + math.log2(arms) + 6.0


def tosses(pulls: float, arms: int, horizon: float) -> float:
    """n log2(e (K-1) T/n): the entropy of all decisions of a run is at most this, in bits.

    ``pulls`` is n, the expected pulls of all arms but one, or a bound on them, at most (K-1) T.

    >>> round(tosses(187, 2, 1e6))
    2586
    """
    arms = checks.integer("arms", arms, at_least=2)
    most = (arms - 1) * checks.at_least("horizon", horizon, 1.0)
    pulls = checks.at_least("pulls", checks.positive("pulls", pulls), 0.0, at_most=most)
    return pulls * math.log2(math.e * most / pulls)
