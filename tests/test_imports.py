"""What takes long to import is imported when it is used."""

import subprocess
import sys

LATER = ("scipy.special", "scipy.stats", "matplotlib", "tqdm", "polars", "pandas", "distributed")


def test_simulations_and_bandits_do_without() -> None:
    program = f"""
import sys, thrifty
thrifty.simulate, thrifty.Bandit, thrifty.sweep, thrifty.replay, thrifty.Bernoulli
print([name for name in {LATER} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
