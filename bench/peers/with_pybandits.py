# /// script
# requires-python = ">=3.11"
# dependencies = ["pybandits==8.4.1", "numpy==2.4.6", "scipy==1.17.1"]
# ///
"""pybandits: Thompson sampling of Beta(1 + successes, 1 + failures). Arms are named by strings."""

from contest import Session, serve
from pybandits.smab import SmabBernoulli


class Adapter:
    def __init__(self, arms: int, seed: int) -> None:
        self.bandit = SmabBernoulli.cold_start(action_ids={str(i) for i in range(arms)}, random_seed=seed)

    def select(self) -> int:
        return int(self.bandit.predict(n_samples=1)[0][0])

    def update(self, arm: int, reward: float) -> None:
        self.bandit.update(actions=[str(arm)], rewards=[int(reward)])


class Pybandits(Session):
    packages = ("pybandits", "numpy")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(arms, seed)


serve(Pybandits())
