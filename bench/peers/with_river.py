# /// script
# requires-python = ">=3.11"
# dependencies = ["river==0.26.1", "numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1"]
# ///
"""River: Thompson sampling with its Beta distribution, that of Beta(1 + successes, 1 + failures), and UCB1.

``gaussian`` is its Thompson sampling with its Gaussian distribution, which is fitted to rewards and does not
narrow down to their mean: not the posterior of a mean, and the check says so.
"""

from contest import Session, serve
from river import bandit, proba

POLICIES = {
    "beta": lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(1, 1), seed=seed),
    "gaussian": lambda seed: bandit.ThompsonSampling(reward_obj=proba.Gaussian(), seed=seed),
    "ucb1": lambda seed: bandit.UCB(delta=1, seed=seed),
}


class Adapter:
    def __init__(self, policy: str, arms: int, seed: int) -> None:
        self.policy = POLICIES[policy](seed)
        self.arms = range(arms)
        self.update = self.policy.update

    def select(self) -> int:
        return self.policy.pull(self.arms)


class River(Session):
    packages = ("river", "numpy")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(policy, arms, seed)


serve(River())
