"""What a newcomer waits for: processor seconds from an empty cache.

    uv run python bench/first.py            # every policy with 10 and 100,000 arms: about ten minutes
    uv run python bench/first.py --quick    # README's lines, the import, and five policies

README's first program; ``import thrifty`` with its first name, warm; and for every policy a bandit's first
``select`` and ``update``, on the engine that ``auto`` picks. Each is a process of its own with a cache of its
own; its processor time, the import included, is what the operating system says. Python's own cache, of
bytecode, is filled before, as an installation does it.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from thrifty.policies import POLICIES, Policy
from thrifty.table import aligned

ROOT = Path(__file__).parents[1]
NUMBERS = (10, 100_000)
BYTECODE = tempfile.TemporaryDirectory()  # of all of these processes
FEW = ("ThompsonSampling", "TSMA", "KLUCBPlusPlus", "UCB1", "TSTD")


def seconds(program: str, cache: str) -> float:
    """Processor time of a process that runs it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {"NUMBA_CACHE_DIR": cache, "MPLBACKEND": "agg", "PYTHONPYCACHEPREFIX": BYTECODE.name}
    environment = os.environ | settings | {"PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryDirectory() as folder:  # README's program writes a figure
        subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=folder, check=True, capture_output=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold(program: str) -> float:
    with tempfile.TemporaryDirectory() as cache:
        return seconds(program, cache)


def warm(program: str) -> float:
    """The least of five."""
    with tempfile.TemporaryDirectory() as cache:
        return min(seconds(program, cache) for _ in range(6))


def readme() -> str:
    """Its first program."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    return found[1]


def first_decision(policy: Policy, arms: int) -> str:
    named = re.sub(r"\b(?=[A-Z]\w*\()", "thrifty.", repr(policy))  # and so is a policy inside of it
    return (
        f"import thrifty; bandit = thrifty.Bandit({named}, {arms}, seed=1)\n"
        "bandit.update(bandit.select(), 1.0)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="five policies")
    online = tuple(name for name, kind in POLICIES.items() if not kind.told)
    names = FEW if parser.parse_args().quick else online
    print(f"{date.today()}, {os.cpu_count()} cores; seconds of processor time\n")
    warm("import thrifty; thrifty.simulate; import matplotlib.pyplot")
    print(f"import numba alone, warm            {warm('import numba'):6.2f}")
    print(f"import thrifty; thrifty.Bandit      {warm('import thrifty; thrifty.Bandit'):6.2f}")
    print(f"README's first program, empty cache {cold(readme()):6.2f}", flush=True)
    rows = []
    for name in names:
        policy = POLICIES[name]()
        engines = [policy.engine_for(arms) for arms in NUMBERS]
        took = [f"{cold(first_decision(policy, arms)):.1f}" for arms in NUMBERS]
        rows.append((name, *(part for pair in zip(engines, took, strict=True) for part in pair)))
        print(f"  {name}: {', '.join(took)}", file=sys.stderr)
    heading = ("first select + update", f"K = {NUMBERS[0]}", "s", f"K = {NUMBERS[1]:,}", "s")
    print("\n" + aligned(heading, rows, left=2))


if __name__ == "__main__":
    main()
