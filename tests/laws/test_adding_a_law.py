"""The guide is followed to the letter, in a copy of the tree: a law is one file and two lines."""

import pytest

from tests.support.tree import HOW, PAGES, Tree, files

PAGE = (PAGES / "adding-a-law.md").read_text()

PLAYED = """
import math
import numpy as np
import thrifty

problem, policy = thrifty.Bernoulli(np.linspace(0.2, 0.8, 12)), thrifty.ThompsonSampling("logistic")
regrets = [
    thrifty.simulate(policy, problem, 120, runs=100, seed=seed, engine=engine).regret[0, :, -1]
    for seed, engine in enumerate(policy.runs_on)
]
error = math.hypot(*(regret.std(ddof=1) / math.sqrt(regret.size) for regret in regrets))
assert abs(regrets[0].mean() - regrets[1].mean()) < 4.0 * error  # decisions of the same law
assert error < 0.05 * regrets[0].mean()
"""

CHECKED = """
from scipy import stats
import numpy as np
import thrifty
from thrifty.laws import LAWS
from thrifty.numerics import random
from thrifty.policies import catalogue

law = LAWS["logistic"]
a, b = law.parameters(16.0, 12.0)
known = stats.logistic(0.75, np.sqrt(3.0) / np.pi / 4.0)
assert np.isclose(known.std(), 0.25)
for p in (1e-300, 1e-9, 0.2, 0.5, 0.99):
    assert np.isclose(law.isf(a, b, p), known.isf(p), rtol=1e-12)
    assert np.isclose(law.sf(a, b, known.isf(p)), p, rtol=1e-9)
rng = random.generator(1, 0, 0)
with np.errstate(over="ignore"):
    draws = [law.draw(a, b, rng) for _ in range(2000)]
assert stats.kstest(draws, known.cdf).pvalue > 1e-4

assert "logistic" in thrifty.TSMA.choices
assert "Logistic(S/n, √(3/n)/π)" in catalogue.text()
assert "src/thrifty/laws/logistic.py" in catalogue.page()

problem = thrifty.Bernoulli(np.linspace(0.2, 0.8, 12))
for make in (thrifty.EpsilonTS, thrifty.TSMA, thrifty.TSTD):
    for engine in make(law="logistic").runs_on:
        result = thrifty.simulate(make(law="logistic"), problem, 200, runs=2, engine=engine)
        assert result.pulls.sum() == 400

bandit = thrifty.Bandit(thrifty.ThompsonSampling("logistic"), 30, seed=1, engine="sleepers")
for _ in range(100):
    bandit.update(bandit.select(), 0.5)
bandit.save("bandit.npz")
assert thrifty.Bandit.load("bandit.npz").select_many(30) == bandit.select_many(30)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tree"))
    for path, code in files("adding-a-law.md").items():
        made.write(path, code)
    for after, line in [
        ("from thrifty.laws.law import Law", "from thrifty.laws.logistic import Logistic"),
        ("InverseGammaFlat(),", "Logistic(),"),
    ]:
        assert f"    {line}\n" in PAGE
        made.insert("laws/__init__.py", after, line)
    return made


@HOW
def test_decisions_have_the_same_law_on_scan_and_sleepers(tree: Tree, compiled: bool) -> None:
    tree.python("-c", PLAYED, compiled=compiled)


def test_the_law_is_what_it_says_with_every_schedule_and_in_tables_and_files(tree: Tree) -> None:
    tree.python("-c", CHECKED)
