# /// script
# requires-python = ">=3.11"
# dependencies = ["river==0.26.1", "numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1"]
# ///
"""River's Thompson sampling with its Beta distribution: that of Beta(1 + successes, 1 + failures).

With its Gaussian distribution it is no peer: that is fitted to rewards and never narrows down to their mean.
"""

from contest import Session, serve
from river import bandit, proba


class Adapter:
    def __init__(self, arms: int) -> None:
        self.policy = bandit.ThompsonSampling(reward_obj=proba.Beta(1, 1), seed=1)
        self.arms = range(arms)
        self.update = self.policy.update

    def select(self) -> int:
        return self.policy.pull(self.arms)


class River(Session):
    packages = ("river", "numpy")

    def _new(self, arms: int) -> Adapter:
        return Adapter(arms)


serve(River())
