# /// script
# requires-python = ">=3.11"
# dependencies = ["vowpalwabbit==9.11.9"]
# ///
"""Vowpal Wabbit: ``--cb_explore`` without a context, exploring by a bag of ten bootstrapped models.

It has no Thompson sampling; a bag is the nearest to it. A cost is 1 - reward, so that an arm that nobody
knows looks better than it is; with the usual cost, -reward, the bag stays with the first arm that pays. The
table of weights has room for all of them: with its default size arms would share weights.
"""

import math
import random

from contest import Session, serve
from vowpalwabbit import Workspace

BAG = 10
EXAMPLE = "|"  # no feature but the constant that it adds


class Adapter:
    def __init__(self, arms: int, seed: int) -> None:
        bits = max(18, math.ceil(math.log2(4 * BAG * arms)))
        self.work = Workspace(f"--cb_explore {arms} --bag {BAG} -b {bits} --random_seed {seed} --quiet")
        self.random, self.arms = random.Random(seed), range(arms)
        self.chances: list[float] = []  # of the decision that is to be rewarded next

    def select(self) -> int:
        self.chances = self.work.predict(EXAMPLE)
        return self.random.choices(self.arms, self.chances)[0]

    def update(self, arm: int, reward: float) -> None:
        self.work.learn(f"{arm + 1}:{1.0 - reward}:{self.chances[arm]} {EXAMPLE}")


class VowpalWabbit(Session):
    packages = ("vowpalwabbit",)

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(arms, seed)


serve(VowpalWabbit())
