"""A policy of thrifty itself is one file and one line: everything else follows, in a copy of the tree."""

import re

import pytest

from tests.support.tree import HOW, PAGES, Tree, files

PAGE = (PAGES / "adding-a-policy.md").read_text()

PLAYED = """
import numpy as np
import thrifty

policy = thrifty.KLUCBH()
assert policy.engine_for(100) == "kinetic"
problem, rounds = thrifty.Bernoulli(np.linspace(0.1, 0.9, 20)), range(1, 301)
scan, kinetic = (
    thrifty.simulate(policy, problem, 300, runs=2, seed=3, engine=engine, checkpoints=rounds)
    for engine in policy.runs_on
)
assert np.array_equal(scan.regret, kinetic.regret)  # all gaps differ: the very pulls
other = thrifty.simulate(thrifty.UCB1(), problem, 300, runs=2, seed=3, checkpoints=rounds)
assert not np.array_equal(scan.regret, other.regret)
"""

NAMED = '''
import contextlib
import io
import re
from pathlib import Path

import thrifty
from thrifty import cli

assert "KLUCBH" in thrifty.__all__

def printed(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert cli.main([*arguments]) == 0
    return out.getvalue()

Path("spec.toml").write_text("""
horizon = 200
runs = 2
engine = "kinetic"
[problem]
kind = "bernoulli"
means = [0.5, 0.6, 0.7]
[[policies]]
name = "KLUCBH"
""")
assert "KL-UCB-H" in printed("simulate", "spec.toml")

row = r"^KLUCBH +max q: n kl\\(m, q\\) ≤ ln\\(1 \\+ t ln² t\\) +\\[0, 1\\] +with time +scan, kinetic +anytime"
assert re.search(row, printed("policies"), re.MULTILINE)
assert "### KLUCBH" in printed("policies", "--markdown")

bandit = thrifty.Bandit(thrifty.KLUCBH(), 10, seed=1, engine="kinetic")
for step in range(60):
    arm = bandit.select()
    if step % 7:  # else its reward never comes
        bandit.update(arm, arm % 4 / 3)
bandit.save("bandit.npz")
loaded = thrifty.Bandit.load("bandit.npz")
assert loaded.policy == thrifty.KLUCBH()
assert loaded.select_many(40) == bandit.select_many(40)
'''

# Of the tests that try every policy: those of arms that come and go, of edges and of the tables.
CONFORMANCE = (
    "tests/test_edges.py", "tests/policies/test_catalogue.py", "tests/online/test_cancel.py",
    "tests/online/test_arms_come_and_go.py", "src/thrifty/policies/kl_ucb_h.py",
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tree"))
    made.write("policies/kl_ucb_h.py", files("adding-a-policy.md")["kl_ucb_h.py"])
    (line,) = re.findall(r"^from thrifty\.policies\.kl_ucb_h import .*$", PAGE, re.MULTILINE)
    made.insert("policies/registry.py", "import KLUCB as KLUCB", line)
    return made


@HOW
def test_it_runs_on_kinetic_as_on_scan(tree: Tree, compiled: bool) -> None:
    tree.python("-c", PLAYED, compiled=compiled)


def test_specs_tables_and_snapshots_name_it(tree: Tree) -> None:
    tree.python("-c", NAMED)


def test_it_passes_the_tests_that_every_policy_has_to_pass(tree: Tree) -> None:
    which = "KLUCBH or kl_ucb_h or tables_fit or one_group"
    quiet = ("-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning")  # words of generators wrap around
    printed = tree.python("-m", "pytest", "-v", "-n", "0", *quiet, "-k", which, *CONFORMANCE)
    for file in CONFORMANCE:
        assert re.search(rf"^{re.escape(file)}::.* PASSED", printed, re.MULTILINE), file
