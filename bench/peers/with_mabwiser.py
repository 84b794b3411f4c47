# /// script
# requires-python = ">=3.11"
# dependencies = ["mabwiser==2.7.4", "numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1", "joblib==1.5.3"]
# ///
"""MABWiser's Thompson sampling, which is that of Beta(1 + successes, 1 + failures)."""

from contest import Session, serve
from mabwiser.mab import MAB, LearningPolicy


class Adapter:
    def __init__(self, arms: int) -> None:
        self.bandit = MAB(list(range(arms)), LearningPolicy.ThompsonSampling(), seed=1)
        self.bandit.fit([], [])  # it must have been fitted before it predicts
        self.select = self.bandit.predict

    def update(self, arm: int, reward: float) -> None:
        self.bandit.partial_fit([arm], [reward])


class MABWiser(Session):
    packages = ("mabwiser", "numpy")

    def _new(self, arms: int) -> Adapter:
        return Adapter(arms)


serve(MABWiser())
