"""How rounds are cut: by what they take, and never into more than a kernel may do before it hears Ctrl-C."""

from collections.abc import Callable

import pytest

from thrifty.slices import FIRST, GOAL, GROWING, MOST, REWARDS, slices


def played(
    stop: int,
    cost: int,
    seconds: Callable[[int, int], float],
    kept: Callable[[], int] | None = None,
    start: int = 0,
) -> tuple[list[tuple[int, int]], list[float]]:
    """The slices, and what each of them took, if the rounds from a to b take ``seconds(a, b)``."""
    parts: list[tuple[int, int]] = []
    took: list[float] = []
    for part in slices(start, stop, cost, kept, lambda: sum(took)):
        parts.append(part)
        took.append(seconds(*part))
    assert [start, *(end for _, end in parts)] == [*(begin for begin, _ in parts), stop]
    return parts, took


def lengths(parts: list[tuple[int, int]]) -> list[int]:
    return [end - start for start, end in parts]


def test_nothing_to_play_is_no_slice() -> None:
    assert list(slices(5, 5, 1)) == []


def test_they_double_until_they_take_what_they_should() -> None:
    """A round of 100 arms takes 20 µs: half of the work that a slice may be at most."""
    parts, took = played(10**5, 100, lambda a, b: 2e-5 * (b - a))
    assert lengths(parts)[:3] == [1000, 2000, 4000]
    assert lengths(parts)[3:-1] == pytest.approx([5000] * len(parts[3:-1]), abs=20)
    assert max(took) == pytest.approx(GOAL, rel=0.01)


@pytest.mark.parametrize("cost", [1, 20, 1000, 10**7])
def test_a_slice_of_fast_rounds_is_of_limited_work(cost: int) -> None:
    parts, _ = played(50 * MOST // cost + 50, cost, lambda a, b: 0.0)
    assert lengths(parts)[0] == max(1, FIRST // cost)
    assert max(lengths(parts)) == max(1, MOST // cost)


def test_rounds_that_get_slow_at_once_are_cut_short_at_once() -> None:
    """By a factor of 1000: one slice is too long, and the next as it should be."""
    parts, took = played(3 * 10**5, 100, lambda a, b: (2e-8 if a < 10**5 else 2e-5) * (b - a))
    first = next(i for i, (start, _) in enumerate(parts) if start >= 10**5)
    assert took[first] == pytest.approx(4 * GOAL)  # as much as a slice can be
    assert took[first + 1 : -1] == pytest.approx([GOAL] * len(took[first + 1 : -1]), rel=0.01)


def test_slow_rounds_are_played_one_by_one_and_a_single_slow_one_is_forgotten() -> None:
    parts, _ = played(60, 10**6, lambda a, b: (b - a) * (9.0 if a < 30 else 0.01))
    assert lengths(parts)[:30] == [1] * 30
    assert lengths(parts)[-2] == MOST // 10**6


def test_a_history_makes_rounds_slower_and_may_grow_in_every_round() -> None:
    """Each round keeps a reward, and takes 7 ns for each that is kept: as NPTS does."""
    t = 0

    def seconds(a: int, b: int) -> float:
        nonlocal t
        t = b
        return 3.5e-9 * (b**2 - a**2)

    parts, took = played(10**5, 2, seconds, lambda: t)
    assert max(lengths(parts)) <= GROWING
    assert max(took) < 2.0 * GOAL
    assert all(end - start <= max(1, MOST * REWARDS // (2 + start)) for start, end in parts)
    assert sum(took) / len(took) > 0.01  # nor are they so many that calling the kernel counts
