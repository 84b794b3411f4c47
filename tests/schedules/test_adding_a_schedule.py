"""The guide is followed to the letter, in a copy of the tree: a schedule is a file, a line, and a policy."""

import re

import pytest

from tests.support.tree import HOW, PAGES, Tree, files

PAGE = (PAGES / "adding-a-schedule.md").read_text()

PLAYED = """
import numpy as np
import thrifty

problem = thrifty.Bernoulli(np.linspace(0.2, 0.8, 12))
settings = {"horizon": 500, "runs": 2, "engine": "scan"}
once = thrifty.simulate(thrifty.HoldTS(rounds=1), problem, **settings)
fresh = thrifty.simulate(thrifty.ThompsonSampling(), problem, **settings)
assert np.array_equal(once.pulls, fresh.pulls) and np.array_equal(once.draws, fresh.draws)
held = thrifty.simulate(thrifty.HoldTS(rounds=20), problem, **settings)
assert held.draws.sum() < 0.2 * fresh.draws.sum()
"""

KEPT = """
import numpy as np
import thrifty

bandit = thrifty.Bandit(thrifty.HoldTS("beta", rounds=4), 6, seed=2)
rng = np.random.default_rng(1)
for _ in range(6):
    bandit.update(bandit.select(), float(rng.random() < 0.5))
age, before, arm = np.full(6, 4), np.full(6, -1.0), 0  # rounds since an arm's index was drawn
for step in range(300):
    chosen = bandit.select()
    index = bandit._player.core.memory.field("index").copy()
    assert np.array_equal(index != before, age == 4), step  # each is drawn when it is due, and then alone
    assert index[chosen] == index.max()
    age = np.where(age == 4, 1, age + 1)
    before = index
    bandit.update(chosen, float(rng.random() < 0.5))
    age[chosen] = 4
    if step == 100:
        bandit.save("bandit.npz")
        bandit = thrifty.Bandit.load("bandit.npz")
"""

REFUSED = """
import pytest
import thrifty

bandit = thrifty.Bandit(thrifty.HoldTS(rounds=4), 6, seed=2)
bandit.update(bandit.select(), 1.0)
for wrong in (-1, 4, 2**62):
    bandit._player.core.memory.field("held")[0] = wrong
    bandit.save("bandit.npz")
    with pytest.raises(thrifty.FileError, match="held must be counts below phi"):
        thrifty.Bandit.load("bandit.npz")
bandit._player.core.memory.field("held")[0] = 3
bandit.save("bandit.npz")
thrifty.Bandit.load("bandit.npz")
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tree"))
    for path, code in files("adding-a-schedule.md").items():
        made.write(path, code)
    for path, after, line in [
        ("schedules/__init__.py", "from thrifty.schedules import", "from thrifty.schedules import hold"),
        ("schedules/__init__.py", '"duel": duel,', '"hold": hold,'),
        (
            "policies/registry.py",
            "import EpsilonTS as",
            "from thrifty.policies.hold_ts import HoldTS as HoldTS",
        ),
        (
            "online/sound.py",
            'REPLACEMENTS = (Check("kept"',
            'HOLDS = (Check("held", "counts below phi", lambda x: within(x.state.held, 0, x.rule.phi - 1)),)',
        ),
        ("online/sound.py", "(state.best.size, DUELS),", "(state.held.size, HOLDS),"),
    ]:
        assert f"    {line}\n" in PAGE
        made.insert(path, after, line)
    return made


@HOW
def test_held_for_one_round_it_is_thompson_sampling(tree: Tree, compiled: bool) -> None:
    tree.python("-c", PLAYED, compiled=compiled)


def test_draws_are_kept_as_long_as_it_says_and_a_file_keeps_them(tree: Tree) -> None:
    tree.python("-c", KEPT)


def test_a_file_with_impossible_numbers_is_refused(tree: Tree) -> None:
    tree.python("-c", REFUSED)


def test_its_policy_passes_the_tests_that_every_policy_has_to_pass(tree: Tree) -> None:
    quiet = ("-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning")  # words of generators wrap around
    paths = ("tests/test_edges.py", "tests/policies/test_catalogue.py", "tests/online/test_cancel.py")
    printed = tree.python("-m", "pytest", "-v", "-n", "0", *quiet, "-k", "HoldTS and not gamma", *paths)
    for path in paths:
        assert re.search(rf"^{re.escape(path)}::.* PASSED", printed, re.MULTILINE), path
