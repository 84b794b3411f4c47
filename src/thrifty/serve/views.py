"""What the page shows, as data: no HTML and no HTTP. It reads memory and the totals by the period, and never
the log."""

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from thrifty import checks
from thrifty.serve.clock import SECOND
from thrifty.serve.experiments import Experiment
from thrifty.serve.history import Details, Points, Side
from thrifty.serve.intervals import Sums, interval, lift
from thrifty.serve.latest import WORDS

if TYPE_CHECKING:
    from thrifty.serve.service import Service

SPARKS = 60  # points of a sparkline
LEADING = 6  # arms
OTHERS = "other arms"
NOTHING = Side(0, Sums())


class Lift(Struct):
    """The policy's mean reward minus control's, with an interval that holds with probability 95 %."""

    difference: float
    low: float
    high: float
    rewards: int  # of control
    enough: bool  # whether the interval can be relied on
    since: int | None  # seconds since 1970: the share of control was changed then, and this counts from there


class Row(Struct):
    """An experiment among others."""

    name: str
    state: str  # running, paused or archived
    policy: str
    arms: int
    decisions: int
    rewards: int
    mean: float | None
    decided_rate: float  # a minute, in the last one
    reward_rate: float
    lift: Lift | None
    sparkline: list[float | None]  # mean reward by the period, or by some that are joined


class Series(Struct):
    """Mean rewards by the point, with intervals that hold with probability 95 %."""

    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]


class Curves(Struct):
    """An experiment over time: lists of equal length, a point for each period or for some, joined."""

    times: list[int]  # seconds since 1970: when each point begins
    period: int  # seconds that each lasts
    decisions: list[int]
    rewards: list[int]
    policy: Series
    control: Series | None
    shares: list[tuple[str, list[float]]]  # of decisions, by the arms that lead, and then all others
    loss: list[float | None]  # for each decision, if the best arm were taken always
    draws: list[int]  # posterior draws that were spent
    dense: list[int]  # those that one for each arm in each decision would have been


class Densities(Struct):
    """What is known of the arms that lead: densities over ``x``, or means with intervals."""

    x: list[float]
    arms: list[tuple[str, list[float]]]
    intervals: list[tuple[str, float, float, float]]  # arm, mean, low, high


class Known(Struct):
    """What is known now, in a sentence."""

    sentence: str
    arm: str | None
    probability: float | None  # of being the best
    loss: float | None  # for each decision, if it were taken always
    at: int | None  # seconds since 1970


class Event(Struct):
    """A decision or an outcome."""

    time: int  # milliseconds since 1970
    what: str
    arm: str
    reward: float | None
    control: bool


class Changed(Struct):
    """Who changed what, when."""

    time: int  # milliseconds since 1970
    author: str
    what: str


def overview(service: "Service") -> list[Row]:
    """All experiments, by their names."""
    return [row(service, experiment) for _, experiment in sorted(service.all().items())]


def row(service: "Service", experiment: Experiment) -> Row:
    """One experiment among others."""
    counts = experiment.decisions, experiment.pulls
    gained, sparkline = _summary(service, experiment)
    decided_rate, reward_rate = experiment.pace.rates(service.now(), *counts)
    return Row(
        name=experiment.name,
        state="archived" if experiment.archived else "paused" if experiment.paused else "running",
        policy=experiment.policy.label,
        arms=len(experiment.roster),
        decisions=counts[0],
        rewards=counts[1],
        mean=experiment.gained / counts[1] if counts[1] else None,
        decided_rate=decided_rate,
        reward_rate=reward_rate,
        lift=gained,
        sparkline=sparkline,
    )


def _summary(service: "Service", experiment: Experiment) -> tuple[Lift | None, list[float | None]]:
    """Lift and sparkline, made when there are new totals or settings."""
    history = experiment.history
    points, made = history.points, history.summary
    if made is None or made[0] is not points or made[1] != experiment.version:
        sparks = range(max(points.first, points.end - SPARKS), points.end)
        sparkline = [_mean(points, point) for point in sparks]
        made = history.summary = points, experiment.version, (_lift(service, experiment, points), sparkline)
    return made[2]  # type: ignore[no-any-return]


def _lift(service: "Service", experiment: Experiment, points: Points) -> Lift | None:
    """From the first point on in which the share of control was what it is now."""
    if not experiment.now.control:
        return None
    shared, length = experiment.shared, points.width * service.period
    begin = 0 if shared is None else -(-shared // (length * SECOND))
    found = lift(points.sums(False, begin), points.sums(True, begin), experiment.range.rewards)
    if found is None:
        return None
    one, enough = found
    since = None if shared is None else begin * length
    return Lift(one.difference, one.low, one.high, one.control_rewards, enough, since)


def _mean(points: Points, point: int) -> float | None:
    rewards = [points.sides[key].rewards for key in ((point, False), (point, True)) if key in points.sides]
    count = sum(one.pulls for one in rewards)
    return sum(one.total for one in rewards) / count if count else None


def curves(service: "Service", experiment: Experiment) -> Curves:
    """An experiment over time. May be called in a thread; it is made once for each period."""
    history, over = experiment.history, service.upkeep.over
    shown = history.shown
    if shown is not None and shown[0] is history.points and shown[1] == over and not history.is_behind:
        return shown[2]  # type: ignore[no-any-return]
    points = history.read(service.store.query, over)
    made = _curves(service, experiment, points, history.details(service.store.query))
    history.shown = points, over, made
    return made


def _curves(service: "Service", experiment: Experiment, points: Points, details: Details) -> Curves:
    where = range(points.first, points.end)
    sides = {
        control: [points.sides.get((point, control), NOTHING) for point in where] for control in (False, True)
    }
    both = list(zip(*sides.values(), strict=True))
    decisions = [policy.decided + control.decided for policy, control in both]
    controlled = any(control.decided or control.rewards.pulls for control in sides[True])
    length, draws = points.width * service.period, [details.draws.get(point, (0, 0)) for point in where]
    return Curves(
        times=[point * length for point in where],
        period=length,
        decisions=decisions,
        rewards=[int(policy.rewards.pulls + control.rewards.pulls) for policy, control in both],
        policy=_series(sides[False], experiment),
        control=_series(sides[True], experiment) if controlled else None,
        shares=_shares([details.arms.get(point, {}) for point in where], decisions, experiment),
        loss=[details.loss.get(point) for point in where],
        draws=[spent for spent, _ in draws],
        dense=[dense for _, dense in draws],
    )


def _series(sides: list[Side], experiment: Experiment) -> Series:
    rewards, whole = experiment.range.rewards, Sums()
    for side in sides:
        whole = whole.plus(*side.rewards)
    others = whole.side(rewards) if whole.pulls else None
    found = [
        interval(side.rewards, others, rewards) if others and side.rewards.pulls else None for side in sides
    ]
    mean, low, high = ([None if one is None else one[i] for one in found] for i in range(3))
    return Series(mean, low, high)


def _shares(
    arms: list[dict[int, int]], decisions: list[int], experiment: Experiment
) -> list[tuple[str, list[float]]]:
    total: Counter[int] = Counter()
    for point in arms:
        total.update(point)
    leading = [arm for arm, _ in total.most_common(LEADING)]
    shares = [
        [point.get(arm, 0) / max(1, made) for point, made in zip(arms, decisions, strict=True)]
        for arm in leading
    ]
    named = [(experiment.roster.name(arm), share) for arm, share in zip(leading, shares, strict=True)]
    if experiment.roster.size > len(leading):
        rest = [1.0 - sum(point) if made else 0.0 for *point, made in zip(*shares, decisions, strict=True)]
        named.append((OTHERS, [max(0.0, share) for share in rest]))
    return named


def known(service: "Service", experiment: Experiment) -> Known:
    """What is known now."""
    look = experiment.watch.look
    if not experiment.pulls:
        return Known("Nothing is known yet: no reward has come.", None, None, None, None)
    if look is None:
        return Known("What is known will be here in a moment.", None, None, None, None)
    at = look.at // SECOND
    if not look.arms:
        return Known("Nothing is known of the arms that may be chosen.", None, None, None, at)
    name = experiment.roster.name(look.arms[0])
    if not look.probabilities:
        mean, low, high = (_number(end) for end in look.intervals[0])
        sentence = (
            f"{checks.shown(name)} was pulled most: its mean reward is {mean}, probably {low} to {high}."
        )
        return Known(sentence, name, None, None, at)
    chance, loss = look.probabilities[0], look.losses[0]
    which = "" if look.known == look.there else f"Of the {look.known:,} arms with a reward "
    sentence = (
        f"{which}{checks.shown(name)} is best with probability {_percent(chance)}; "
        f"stopping now would cost {_small(loss)} a decision."
    )
    return Known(sentence, name, chance, loss, at)


def _percent(chance: float) -> str:
    """Never 0 % or 100 %: nothing is that certain."""
    if chance < 0.0001:
        return "less than 0.01 %"
    if chance > 0.9999:
        return "more than 99.99 %"
    digits = 2 if not 0.001 <= chance <= 0.999 else 1 if not 0.01 <= chance <= 0.99 else 0
    return f"{100.0 * chance:.{digits}f} %"


def _small(loss: float) -> str:
    """In plain digits: nobody reads 5.2e-05.

    >>> _small(0.0123), _small(0.000052), _small(7.2e-13), _small(1234.5)
    ('0.012', '0.000052', 'less than 0.000001', '1,234')
    """
    if loss < 1e-6:
        return "less than 0.000001"
    return _number(loss) if loss >= 0.001 else f"{loss:.6f}".rstrip("0")


def _number(value: float) -> str:
    """In few digits."""
    return f"{value:.2g}" if abs(value) < 100.0 else f"{value:,.0f}"


def densities(service: "Service", experiment: Experiment) -> Densities:
    """Of the arms that lead, as of the last look."""
    look = experiment.watch.look
    if look is None:
        return Densities([], [], [])
    names = [experiment.roster.name(arm) for arm in look.arms]
    intervals = [(name, *ends) for name, ends in zip(names, look.intervals, strict=False)]
    return Densities(look.x, list(zip(names, look.densities, strict=False)), intervals)


def latest(service: "Service", experiment: Experiment, limit: int = 20) -> list[Event]:
    """The last decisions and outcomes, newest first."""
    name = experiment.roster.name
    return [
        Event(one.time // 1000, WORDS[one.kind], name(one.arm), one.reward, one.control)
        for one in experiment.latest.newest(limit)
    ]


def changes(service: "Service", experiment: Experiment, limit: int = 50) -> list[Changed]:
    """Who changed what, newest first."""
    newest = list(experiment.changed)[::-1][:limit]
    return [Changed(one.time // 1000, one.author, one.what) for one in newest]
