# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["obp==0.5.7", "numpy==1.26.4", "scipy==1.13.1", "scikit-learn==1.4.2", "pyyaml==6.0.3"]
# [tool.uv]
# override-dependencies = [
#     "numpy==1.26.4", "scipy==1.13.1", "scikit-learn==1.4.2", "pyyaml==6.0.3",
#     "torch; python_version < '3'", "pyieoe; python_version < '3'", "pingouin; python_version < '3'",
#     "pandas; python_version < '3'", "matplotlib; python_version < '3'", "seaborn; python_version < '3'",
#     "statsmodels; python_version < '3'", "pillow; python_version < '3'",
#     "mypy-extensions; python_version < '3'", "tqdm; python_version < '3'",
# ]
# ///
"""obp, the Open Bandit Pipeline: Thompson sampling of Beta(1 + successes, 1 + failures).

It asks for PyTorch and much else, some of it in versions that no Python of today can install. Its policies
without contexts need none of that, so all that they do not import is left out: the package is entered by
their file, past its ``__init__``, which would import everything.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from contest import Session, serve

spec = find_spec("obp")
assert spec is not None
assert spec.submodule_search_locations is not None
folder = Path(spec.submodule_search_locations[0])
for name, place in (("obp", folder), ("obp.policy", folder / "policy")):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(place)]

from obp.policy.contextfree import BernoulliTS  # noqa: E402


class Adapter:
    def __init__(self, arms: int, seed: int) -> None:
        self.policy = BernoulliTS(n_actions=arms, random_state=seed)
        self.update = self.policy.update_params

    def select(self) -> int:
        return int(self.policy.select_action()[0])


class OpenBandit(Session):
    packages = ("obp", "numpy")

    def _new(self, policy: str, arms: int, seed: int) -> Adapter:
        return Adapter(arms, seed)


serve(OpenBandit())
