"""What takes long to import is imported when it is used."""

import subprocess
import sys
import tomllib
from pathlib import Path

import thrifty

LATER = ("scipy.special", "scipy.stats", "matplotlib", "tqdm", "polars", "pandas", "distributed")


def test_simulations_and_bandits_do_without() -> None:
    program = f"""
import sys, thrifty
thrifty.simulate, thrifty.Bandit, thrifty.sweep, thrifty.replay, thrifty.Bernoulli
print([name for name in {LATER} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_the_version_is_that_of_the_project_and_needs_no_other_name() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    assert thrifty.__version__ == project["project"]["version"]
    program = "import sys, thrifty; thrifty.__version__; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
