# /// script
# requires-python = ">=3.11"
# dependencies = ["mabwiser==2.7.4", "numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1", "joblib==1.5.3"]
# ///
"""MABWiser: Thompson sampling, which is that of Beta(1 + successes, 1 + failures), and UCB1.

Its UCB1 takes an arm without rewards for one of value 0 and never tries it: such rewards are the caller's
business, and here every arm is pulled once first.
"""

from contest import Session, serve
from mabwiser.mab import MAB, LearningPolicy

POLICIES = {"beta": LearningPolicy.ThompsonSampling(), "ucb1": LearningPolicy.UCB1(alpha=1.0)}


class Adapter:
    def __init__(self, policy: str, arms: int, seed: int) -> None:
        self.bandit = MAB(list(range(arms)), POLICIES[policy], seed=seed)
        self.bandit.fit([], [])  # it must have been fitted before it predicts
        self.select = self.bandit.predict

    def update(self, arm: int, reward: float) -> None:
        self.bandit.partial_fit([arm], [reward])


class MABWiser(Session):
    packages = ("mabwiser", "numpy")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(policy, arms, seed)

    def _pull_all(self, bandit: Adapter, rewards: list[float]) -> None:
        bandit.bandit.fit(list(range(len(rewards))), rewards)


serve(MABWiser())
