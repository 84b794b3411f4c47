# /// script
# requires-python = ">=3.11"
# dependencies = ["contextualbandits==0.3.30", "numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1"]
# ///
"""contextualbandits: linear Thompson sampling with a context that is always 1, for there is none.

An arm should draw from N(S/(n + 1), 1/(n + 1)): the Gaussian law with a prior of mean 0 and weight 1. It
does with ``sample_from="ci"``, which is ``gaussian`` here. With the default, ``gaussian default``, the
variance of a draw is n + 1 (release 0.3.30): it grows with what is known. Arms without a reward may never be
chosen, as its documentation says, so every arm is pulled once first.
"""

import numpy as np
from contest import Session, serve
from contextualbandits.online import LinTS

CONTEXT = np.ones((1, 1))


class Adapter:
    def __init__(self, policy: str, arms: int, seed: int) -> None:
        self.bandit = LinTS(
            nchoices=arms,
            lambda_=1.0,
            v_sq=1.0,
            fit_intercept=False,
            sample_from="coef" if policy == "gaussian default" else "ci",
            random_state=seed,
        )

    def select(self) -> int:
        return int(self.bandit.predict(CONTEXT)[0])

    def update(self, arm: int, reward: float) -> None:
        self.bandit.partial_fit(CONTEXT, np.array([arm]), np.array([reward]))


class ContextualBandits(Session):
    packages = ("contextualbandits", "numpy")
    pull_first = ("gaussian", "gaussian default")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(policy, arms, seed)

    def _pull_all(self, bandit: Adapter, rewards: list[float]) -> None:
        arms = len(rewards)
        bandit.bandit.partial_fit(np.ones((arms, 1)), np.arange(arms), np.array(rewards))


serve(ContextualBandits())
