"""The guide is followed to the letter, in a copy of the tree: an engine is one file and three lines."""

import pytest

from tests.support.tree import HOW, PAGES, Tree, files

PAGE = (PAGES / "adding-an-engine.md").read_text()

PLAYED = """
import numpy as np
import thrifty

problems = [thrifty.Bernoulli(means) for means in (np.linspace(0.1, 0.9, 70), [0.0] * 40 + [1.0] * 30)]
for policy, delay in ((thrifty.MOSS(), 0), (thrifty.TSMA(0.5), thrifty.GeometricDelay(10))):
    for problem in problems:
        scan, blocks = (
            thrifty.simulate(policy, problem, 500, runs=2, seed=1, engine=engine, delay=delay)
            for engine in ("scan", "blocks")
        )
        assert np.array_equal(scan.pulls, blocks.pulls) and np.array_equal(scan.regret, blocks.regret)
"""

ONLINE = """
import numpy as np
import thrifty

for policy in (thrifty.MOSS(), thrifty.TSMA(0.5)):
    rng = np.random.default_rng(4)
    pair = [thrifty.Bandit(policy, 20, 5000, seed=6, engine=engine) for engine in ("scan", "blocks")]
    names, flying = list(range(20)), []
    for step in range(400):
        first, second = (bandit.select_many(1 + step % 3) for bandit in pair)
        assert first == second, step
        flying += first
        first, second = ([bandit.select(exclude=names[:2]), *bandit.rank(2)] for bandit in pair)
        assert first == second, step
        flying += first
        for bandit in pair:
            rested = bandit.paused if step % 7 else []
            [bandit.resume(arm) for arm in rested] if rested else bandit.pause(names[step % len(names)])
        while flying and rng.random() < 0.7:
            arm, reward = flying.pop(rng.integers(len(flying))), float(rng.random() < 0.5)
            for bandit in pair:
                bandit.cancel(arm) if reward and step % 9 == 0 else bandit.update(arm, reward)
        grow, shrink = (0.6, 0.05) if step < 200 else (0.05, 0.7)
        if rng.random() < grow:
            names.append(1000 + step)
            for bandit in pair:
                bandit.add_arm(1000 + step)
        if rng.random() < shrink and len(names) > 4:
            gone = names.pop(rng.integers(len(names)))
            flying = [arm for arm in flying if arm != gone]
            for bandit in pair:
                bandit.remove_arm(gone)
        if step % 100 == 50:
            pair[1].save("bandit.npz")
            pair[1] = thrifty.Bandit.load("bandit.npz")
    assert np.array_equal(*(bandit._player.core.memory.field("rng") for bandit in pair))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tree"))
    for path, code in files("adding-an-engine.md").items():
        made.write(path, code)
    for after, line in [
        ("from thrifty.engines import", "from thrifty.engines import blocks"),
        ('"tournament": tournament,', '"blocks": blocks,'),
    ]:
        assert f"       {line}\n" in PAGE
        made.insert("engines/modules.py", after, line)
    made.replace("engines/__init__.py", 'ENGINES = ("scan", ', 'ENGINES = ("scan", "blocks", ')
    made.replace("engines/__init__.py", "FASTER_FROM = {", 'FASTER_FROM = {"blocks": 48, ')
    for policy in ("moss", "ts_ma"):
        made.replace(f"policies/{policy}.py", '("scan", "tournament")', '("scan", "tournament", "blocks")')
    return made


@HOW
def test_simulations_pull_the_arms_that_scan_pulls(tree: Tree, compiled: bool) -> None:
    tree.python("-c", PLAYED, compiled=compiled)


def test_bandits_pull_the_arms_that_scan_pulls_whatever_comes_and_goes(tree: Tree) -> None:
    tree.python("-c", ONLINE)
