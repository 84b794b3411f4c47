# /// script
# requires-python = ">=3.11"
# dependencies = ["river==0.26.1", "numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1"]
# ///
"""River: Thompson sampling with its Beta distribution, that of Beta(1 + successes, 1 + failures), and UCB1.

With its Gaussian distribution it is no peer: that is fitted to rewards and never narrows down to their mean.
"""

from contest import Session, serve
from river import bandit, proba

POLICIES = {
    "beta": lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(1, 1), seed=seed),
    "ucb1": lambda seed: bandit.UCB(delta=1, seed=seed),
}


class Adapter:
    def __init__(self, policy: str, arms: int, seed: int) -> None:
        self.policy = POLICIES[policy](seed)
        self.arms = range(arms)
        self.update = self.policy.update

    def select(self) -> int:
        arm: int = self.policy.pull(self.arms)
        return arm


class River(Session):
    packages = ("river", "numpy")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(policy, arms, seed)


serve(River())
