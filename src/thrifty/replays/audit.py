"""Whether a log can be what it says: checks that cost nothing, before anything is concluded from it.

Wrong propensities, and arms that were not there when a policy wants them, make confident wrong answers. Three
things can be seen without the truth, with K arms to choose from in a row and p the propensity of its arm:

    the expectation of 1/p is K;
    p <= 1 - (K - 1) c, if no arm in any row has a propensity below c, the smallest one in the log;
    an arm whose propensity is at least q is absent for g rows with a probability of at most (1 - q)^g.

Only arms that have rows count for K: others may have a propensity that is too small for them. The first is
tested from either side with ``intervals.excludes``, 1/p being at most 1/c; an arm counts from its second row
on, as those that were never chosen are not known. The second assumes a c that was seen often: a policy that
learns has smaller and smaller propensities, most of which are never seen. For the third, q is the arm's
propensity if every arm has the same one in all of its rows, and c otherwise: a policy that learns may hardly
ever have chosen an arm before it liked it, or after. The probability is multiplied by the number of such
absences, one before, between and after the rows of each arm (Bonferroni). A log that is right by these
assumptions is refused in one of a million cases by each. Propensities that were rounded may be wrong by one
in a hundred. One that is right otherwise may be trusted.
"""

import math
from typing import NamedTuple

import numpy as np

from thrifty.arrays import Integers
from thrifty.errors import InvalidValue
from thrifty.replays import intervals
from thrifty.replays.log import Log

UNLUCKY = 1e-6
ROUNDED = 0.01
OFTEN = 10  # rows with the smallest propensity, from which on it counts as a floor


class Audit(NamedTuple):
    """What was found, a line for each thing; and of these what cannot be, and what to do about it."""

    found: tuple[str, ...]
    faults: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.found)


def audit(log: Log) -> Audit:
    """All the checks of a log."""
    made = [_mean(log), _largest(log), _absence(log)]
    return Audit(tuple(text for text, _ in made), tuple(text for text, wrong in made if wrong))


def admit(log: Log, trust: bool) -> Audit:
    """The checks of a log, which must pass unless it is trusted."""
    lost = len(log.bad) - log.elsewhere
    if lost > len(log) and not trust:
        raise InvalidValue(
            f"most rows of the log must be whole, got {lost:,} of {lost + len(log):,} that are not (a reward "
            f"of nothing is 0, not a blank); correct them, or trust the log (trust=True)\n{log.report()}"
        )
    made = audit(log)
    if made.faults and not trust:
        said = "its arms are said to be" if log.changing else f"all of its {len(log.arms):,} arms are"
        raise InvalidValue(
            f"the log must be one in which {said} there to be chosen, with these propensities, got\n"
            + "\n".join(made.faults)
            + "\nSay when arms were there (available_column, or spans={id: (first, last)}), correct the "
            "propensities, or trust the log (trust=True)"
        )
    return made


def _mean(log: Log) -> tuple[str, bool]:
    """The mean of 1/p over all rows; those of unknown arms have nothing to add to it."""
    rows = len(log) + log.elsewhere
    inverse = np.zeros(rows)
    inverse[: len(log)] = 1.0 / log.propensity
    choices, unseen = _choices(log)
    arms = float(choices.mean())  # rows of unknown arms have as many on average
    most = float(inverse.max())
    low = intervals.excludes(most - inverse, most - (1.0 - ROUNDED) * arms, UNLUCKY)
    mean = float(inverse.mean())
    inverse[np.unique(log.arm, return_index=True)[1]] = 0.0
    high = intervals.excludes(inverse, (1.0 + ROUNDED) * arms, UNLUCKY)
    text = f"the mean of 1/propensity is {mean:.4g}, and should be {arms:.4g}, the number of arms"
    return text + " with rows" * bool(unseen), low or high


def _choices(log: Log) -> tuple[Integers, int]:
    """How many of the arms that have rows there were to choose from in each row; and how many have none."""
    seen = np.bincount(log.arm, minlength=len(log.arms)) > 0
    return log.sets[:, seen].sum(axis=1)[log.which], int((~seen).sum())


def _largest(log: Log) -> tuple[str, bool]:
    choices, least = _choices(log)[0], float(log.propensity.min())
    often = np.count_nonzero(log.propensity <= (1.0 + ROUNDED) * least) >= OFTEN
    allowed = 1.0 - (choices - 1) * (least if often else 0.0)
    at = int(np.argmax(log.propensity - allowed))
    p, most = float(log.propensity[at]), max(float(allowed[at]), 0.0)
    text = f"the largest propensity for its row, {p:.4g} in line {log.line[at]}, may be up to {most:.4g}"
    wrong = p > most + ROUNDED
    if wrong:
        text = (
            f"the propensity {p:.4g} in line {log.line[at]} must be at most {most:.4g}, as there are "
            f"{choices[at]:,} arms, and each has one of at least {least:.4g}"
        )
    return text, wrong


def _absence(log: Log) -> tuple[str, bool]:
    worst, where = 0.0, (int(log.arm[0]), 0, 0)
    order = np.argsort(log.arm, kind="stable")
    ends = np.cumsum(np.bincount(log.arm, minlength=len(log.arms)))
    everywhere = not log.changing
    floor = None if _fixed(log) else float(log.propensity.min())
    for arm, rows in enumerate(np.split(order, ends[:-1])):
        if rows.size:
            begins, gaps = np.r_[0, rows + 1], np.diff(np.r_[-1, rows, len(log)]) - 1
            if not everywhere:  # rows in which the arm was there
                there = np.r_[0, np.cumsum(log.sets[log.which, arm])]
                gaps = there[np.r_[rows, len(log)]] - there[begins]
            longest = int(np.argmax(gaps))
            least = float(log.propensity[rows].min()) if floor is None else floor
            each = math.log1p(-least) if least < 1.0 else -math.inf
            chance = float(gaps[longest]) * each if gaps[longest] else 0.0
            if chance < worst:
                worst, where = chance, (arm, int(gaps[longest]), int(begins[longest]))
    arm, absent, begin = where
    chance = math.exp(min(worst + math.log(len(log) + len(log.arms)), 0.0))
    shown = f"{chance:.2g}" if chance > 0.0 else "below 1e-300"
    text = (
        f"the least likely absence: {absent:,} rows without arm {log.arms[arm]!r}, from line "
        f"{log.line[begin]} on; the chance of one like that is {shown}"
    )
    return text, chance < UNLUCKY


def _fixed(log: Log) -> bool:
    """Whether every arm has one propensity, as if the logging policy did not learn."""
    low, high = np.full(len(log.arms), np.inf), np.zeros(len(log.arms))
    np.minimum.at(low, log.arm, log.propensity)
    np.maximum.at(high, log.arm, log.propensity)
    return bool((high <= (1.0 + ROUNDED) * low).all())
