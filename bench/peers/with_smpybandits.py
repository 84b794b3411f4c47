# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["SMPyBandits==0.9.7", "numpy==1.26.4", "scipy==1.11.4", "numba==0.59.1"]
# ///
"""SMPyBandits: Thompson sampling with its Beta and its Gaussian posterior, UCB1 and KL-UCB.

Its last release imports a function that SciPy has removed since (``scipy.special.btdtri``), so it gets an old
SciPy, with the NumPy and the Python that go with it. It finds Numba under a name that Numba gave up
(``numba.decorators``), and does without it otherwise: then its KL-UCB takes many times as long. So that name
is made again.
"""

import sys

import numba
from contest import Session, serve

sys.stdout = sys.stderr  # it prints when it is imported
sys.modules["numba.decorators"] = numba

import numpy as np  # noqa: E402
from SMPyBandits.Policies import UCB, Thompson, klUCB  # noqa: E402
from SMPyBandits.Policies.Posterior import Gauss  # noqa: E402

POLICIES = {
    "beta": Thompson,
    "gaussian": lambda arms: Thompson(arms, posterior=Gauss),
    "ucb1": UCB,
    "kl-ucb": klUCB,
}


class Adapter:
    def __init__(self, policy: str, arms: int, seed: int) -> None:
        np.random.seed(seed)  # noqa: NPY002 (it draws from the global generator)
        self.policy = POLICIES[policy](arms)
        self.policy.startGame()
        self.select, self.update = self.policy.choice, self.policy.getReward


class SMPyBandits(Session):
    packages = ("SMPyBandits", "numpy", "scipy", "numba")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(policy, arms, seed)


serve(SMPyBandits())
