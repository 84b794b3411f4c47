"""Three products, and what nobody but a simulation knows of them: how likely each arm is to please."""

import math
from typing import Any

import numpy as np

from thrifty.arrays import Floats

DAY = 60.0  # simulated, in seconds
NEWS = 10_000  # items at a time
CHURN, OFTEN = 50, 5  # so many items go, and as many come, every so many seconds
WHO = ("Mayor", "Minister", "Referee", "Baker", "Choir", "Robot", "Captain", "Teacher", "Pilot", "Judge")
DOES = ("praises", "denies", "finds", "loses", "wins", "paints", "sells", "visits", "repairs", "explains")
WHAT = ("bridge", "budget", "harbour", "cat", "final", "orchard", "theatre", "record", "railway", "moon")


class Product:
    """Visitors come, are shown ``slate`` arms each, and answer by 1 after a while, or do not.

    A visitor likes an arm with probability ``rates[arm]``, and it takes him seconds, exponential of mean
    ``delay``, to say so. What comes after the window does not count, so that the mean reward of an arm is

        means[arm] = rates[arm] (1 − exp(−window/delay)).

    ``refusals``: the product is told of a 0 too, after as long. Else the window closes on it.
    """

    name: str
    about: str  # in a sentence
    visitors: float  # a second, on average
    slate = 1
    delay: float
    refusals = False
    settings: dict[str, Any]  # of the experiment, its arms aside

    def __init__(self, arms: list[str], rates: Floats) -> None:
        self.arms, self.rates = arms, rates

    @property
    def window(self) -> float:
        return float(self.settings["reward_window"])

    @property
    def definition(self) -> dict[str, Any]:
        """Of the experiment, as it is created."""
        return {**self.settings, "arms": list(self.arms)}

    @property
    def means(self) -> Floats:
        return self.rates * -math.expm1(-self.window / self.delay)

    def advance(self, now: float) -> dict[int, str]:
        """Let time pass, until so many seconds after the start. Returns the arms that went, by their places:
        others are there now."""
        return {}


class Ad(Product):
    name = "ad"
    about = "Which of six ads to show? Few visitors click, and those who do take their time."
    visitors = 50.0
    delay = 1.0
    settings = {  # noqa: RUF012
        "policy": {"name": "TSMA", "law": "beta"},
        "prior": [0.05, 20.0],
        "control": 0.1,
        "reward_window": 3.0,
        "default_reward": 0.0,
    }

    def __init__(self, rng: np.random.Generator) -> None:
        arms = ["plain text", "blue banner", "free shipping", "only today", "a dog in a hat", "a smile"]
        super().__init__(arms, np.array([0.02, 0.03, 0.05, 0.04, 0.12, 0.06]))


class News(Product):
    name = "news"
    about = f"Which five of {NEWS:,} news items to put on the front page? {CHURN} go every {OFTEN} seconds."
    visitors = 50.0
    slate = 5
    delay = 0.5
    settings = {  # noqa: RUF012
        "policy": {"name": "ThompsonSampling", "law": "beta"},
        "prior": [0.0, 18.0],  # Beta(1, 19): 0.05 on average
        "control": 0.05,
        "reward_window": 3.0,
        "default_reward": 0.0,
    }

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self._made = rng, NEWS
        super().__init__([item(number) for number in range(NEWS)], self._interest(NEWS))

    def _interest(self, size: int) -> Floats:
        """0.05 on average: most items are dull, and a few are hits."""
        return self._rng.beta(0.25, 4.75, size)

    def advance(self, now: float) -> dict[int, str]:
        gone: dict[int, str] = {}
        while self._made < NEWS + CHURN * int(now / OFTEN) and len(gone) < NEWS:
            place = self._made % NEWS  # of the oldest
            gone[place], self.arms[place] = self.arms[place], item(self._made)
            self._made += 1
        self.rates[[*gone]] = self._interest(len(gone))
        return gone


def item(number: int) -> str:
    """A headline, which no other item has."""
    return f"{number:05d} {WHO[number % 10]} {DOES[number // 10 % 10]} {WHAT[number // 100 % 10]}"


class Shop(Product):
    name = "shop"
    about = "What to put in the window? Taste changes at noon, and a day takes a minute here."
    visitors = 100.0
    delay = 0.5
    refusals = True
    settings = {  # noqa: RUF012
        "policy": {"name": "ThompsonSampling", "law": "beta"},
        "half_life": 6.0,
        "control": 0.1,
        "reward_window": 60.0,
        "default_reward": 0.0,
    }
    tastes = (0.10, 0.15, 0.40, 0.10, 0.05, 0.20, 0.15, 0.10)  # before the first noon

    def __init__(self, rng: np.random.Generator) -> None:
        arms = ["soup", "novel", "coffee", "scarf", "umbrella", "ice cream", "bicycle", "lamp"]
        super().__init__(arms, np.array(self.tastes))

    def advance(self, now: float) -> dict[int, str]:
        noons = int(now / DAY + 0.5)
        self.rates = np.roll(self.tastes, 3 * noons)  # every taste moves on by three
        return {}


def products(rng: np.random.Generator) -> list[Product]:
    return [Ad(rng), News(rng), Shop(rng)]
