# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = [
#     "obp==0.5.7", "numpy==1.26.4", "scipy==1.13.1", "scikit-learn==1.4.2", "pandas==2.2.3", "pyyaml==6.0.3",
# ]
# [tool.uv]
# override-dependencies = [
#     "numpy==1.26.4", "scipy==1.13.1", "scikit-learn==1.4.2", "pandas==2.2.3", "pyyaml==6.0.3",
#     "torch; python_version < '3'", "pyieoe; python_version < '3'", "pingouin; python_version < '3'",
#     "matplotlib; python_version < '3'", "seaborn; python_version < '3'",
#     "statsmodels; python_version < '3'",
#     "pillow; python_version < '3'", "mypy-extensions; python_version < '3'", "tqdm; python_version < '3'",
# ]
# ///
"""The estimators of obp, the Open Bandit Pipeline, in an environment of its own: ``open_bandit.py --obp``
asks.

A question is a line of JSON on standard input: a log (arms as numbers, rewards, propensities), and the
policy's probability of each arm. The answer is a line with obp's estimates and bootstrap intervals. ``{}`` is
answered with the folder of the Open Bandit Dataset's sample.

obp asks for PyTorch and much else. Its estimators need none of it, so it is left out: the package is entered
by their files, past its ``__init__``, and what it calls a torch is a module with nothing in it.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

spec = find_spec("obp")
assert spec is not None
assert spec.submodule_search_locations is not None
folder = Path(spec.submodule_search_locations[0])
for name, place in (("obp", folder), ("obp.ope", folder / "ope")):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(place)]
sys.modules["torch"] = ModuleType("torch")
sys.modules["torch"].Tensor = sys.modules["torch"].tensor = type("Tensor", (), {})  # type: ignore[attr-defined]

from obp.ope.estimators import (  # noqa: E402
    DirectMethod,
    DoublyRobust,
    InverseProbabilityWeighting,
    SelfNormalizedInverseProbabilityWeighting,
)
from obp.ope.regression_model import RegressionModel  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402


def answer(
    arm: list[int], reward: list[float], propensity: list[float], shares: list[float], clip: float
) -> dict[str, Any]:
    """obp's estimates. direct and dr are given the rewards that thrifty expects of arms, the mean of each, in
    dr without the row itself; with "model", obp fits and cross-fits a logistic regression, as its users
    do."""
    a, x, n, arms = np.array(arm), np.array(reward), len(arm), len(shares)
    counts, sums = np.bincount(a, minlength=arms), np.bincount(a, x, minlength=arms)
    means = np.tile(np.where(counts > 0, sums / np.maximum(counts, 1), x.mean()), (n, 1))
    without = means.copy()
    others = (x.sum() - x) / (n - 1)
    without[np.arange(n), a] = np.where(counts[a] > 1, (sums[a] - x) / np.maximum(counts[a] - 1, 1), others)
    given = {
        "reward": x, "action": a, "pscore": np.array(propensity),
        "action_dist": np.tile(np.array(shares), (n, 1))[:, :, None],
    }  # fmt: skip
    model = RegressionModel(n_actions=arms, base_model=LogisticRegression(max_iter=1000, random_state=1))
    fitted = model.fit_predict(
        context=np.ones((n, 1)), action=a, reward=x.astype(int), n_folds=2, random_state=1
    )
    made = {
        "ips": (InverseProbabilityWeighting(), {}),
        "snips": (SelfNormalizedInverseProbabilityWeighting(), {}),
        "clipped": (InverseProbabilityWeighting(lambda_=clip), {}),
        "direct": (DirectMethod(), {"estimated_rewards_by_reg_model": means[:, :, None]}),
        "dr": (DoublyRobust(), {"estimated_rewards_by_reg_model": without[:, :, None]}),
        "direct, model": (DirectMethod(), {"estimated_rewards_by_reg_model": fitted}),
        "dr, model": (DoublyRobust(), {"estimated_rewards_by_reg_model": fitted}),
    }
    found = {}
    for name, (estimator, more) in made.items():
        value = float(estimator.estimate_policy_value(**given, **more))
        ends = estimator.estimate_interval(
            **given, **more, alpha=0.05, n_bootstrap_samples=1000, random_state=1
        )
        found[name] = [value, float(ends["95.0% CI (lower)"]), float(ends["95.0% CI (upper)"])]
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps(answer(**question) if question else str(folder / "dataset" / "obd")), flush=True)
