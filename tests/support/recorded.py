"""Bandits saved by earlier versions, and what they decided next: every later version does the same.

``python tests/support/recorded.py`` writes those of the version at hand to FOLDER/VERSION. Files that are
there are never written again.
"""

import json
import sys
from collections import deque
from importlib.metadata import version
from pathlib import Path
from typing import Any

import thrifty
from thrifty import Bandit

FOLDER = Path(__file__).parents[1] / "online" / "fixtures"
NEXT = 60  # decisions that are recorded

TEXTS = [f"arm {i}" for i in range(90)]
PRIORS = ([i / 40.0 for i in range(40)], [1.0 + i % 3 for i in range(40)])

# By name: the policy, the arms, and what else; then how many rounds come before the file.
CASES: dict[str, tuple[Any, Any, dict[str, Any], int]] = {
    "scan-gaussian": (thrifty.ThompsonSampling(), 20, {"engine": "scan"}, 300),
    "scan-gamma": (thrifty.ThompsonSampling(law="gamma"), 10, {"reward_range": None}, 200),
    "scan-duel": (thrifty.TSTD(phi=4), 12, {"engine": "scan", "horizon": 2000}, 300),
    "scan-priors": (thrifty.ThompsonSampling(), 40, {"engine": "scan", "prior": PRIORS}, 200),
    "scan-variance": (thrifty.UCB1Tuned(), 12, {"engine": "scan"}, 300),
    "scan-binarised": (thrifty.Binarised(thrifty.BayesUCB()), 6, {"engine": "scan"}, 200),
    "ada-ucb": (thrifty.AdaUCB(), 20, {"horizon": 1000}, 300),
    "ada-ucb-priors": (thrifty.AdaUCB(anytime=True), 40, {"prior": PRIORS}, 300),
    "imed": (thrifty.IMED(), 10, {}, 200),
    "npts": (thrifty.NPTS(), 8, {"horizon": 60}, 300),
    "npts-prior": (thrifty.NPTS(), 6, {"horizon": 60, "prior": (0.5, 2.0)}, 200),
    "multinomial": (thrifty.MultinomialTS(), 6, {"horizon": 60}, 200),
    "imed-bounded": (thrifty.IMED(family="bounded"), 6, {"horizon": 60}, 200),
    "dirichlet-sampling": (thrifty.DirichletSampling(), 8, {"horizon": 60}, 300),
    "dmed": (thrifty.DMED(), 20, {}, 300),
    "ucb-improved": (thrifty.UCBImproved(), 12, {"horizon": 2000}, 300),
    "fixed-arm": (thrifty.FixedArm(5), 12, {}, 300),
    "explore-then-commit": (thrifty.ExploreThenCommit(4), 12, {}, 300),
    "discounted": (thrifty.DiscountedUCB(0.9), 12, {}, 300),
    "window": (thrifty.SlidingWindowUCB(40), 12, {}, 300),
    "tournament-ts-ma": (thrifty.TSMA(alpha=0.5), 100, {"engine": "tournament"}, 400),
    "tournament-texts": (thrifty.TSMA(), TEXTS, {"engine": "tournament", "horizon": 10_000}, 300),
    "tournament-kl-ucb-plus-plus": (thrifty.KLUCBPlusPlus(), 100, {"engine": "tournament"}, 1100),
    "sleepers-gaussian": (thrifty.ThompsonSampling(), 100, {"engine": "sleepers"}, 400),
    "sleepers-beta": (thrifty.ThompsonSampling(law="beta"), 100, {"engine": "sleepers"}, 400),
    "sleepers-texts": (thrifty.ExpTS(), TEXTS, {"engine": "sleepers", "prior": (0.5, 1.0)}, 300),
    "sleepers-epsilon": (thrifty.EpsilonTS(), 100, {"engine": "sleepers", "reward_range": (-1, 3)}, 400),
    "sleepers-duel": (thrifty.TSTD(phi=5), 80, {"engine": "sleepers", "horizon": 5000}, 400),
    "sleepers-duel-texts": (thrifty.TSTD(alpha=0.5), TEXTS, {"engine": "sleepers"}, 300),
    "kinetic-kl-ucb": (thrifty.KLUCB(), 80, {"engine": "kinetic"}, 300),
    "kinetic-ucb-v": (thrifty.UCBV(), TEXTS, {"engine": "kinetic", "prior": (0.25, 1.0)}, 300),
    "kinetic-forgetting": (thrifty.Forgetting(thrifty.UCB1(), 500.0), 80, {"engine": "kinetic"}, 300),
    "warm": (
        thrifty.KLUCBPlusPlus(),
        70,
        {"statistics": {"arm": [1, 5, 69], "pulls": [10, 300, 7], "mean": [0.5, 0.75, 1.0]}},
        200,
    ),
}


def reward(bandit: Bandit, arm: Any, step: int) -> float:
    """Of the id and the step alone: 0 or 1, or also a quarter, a half or three quarters of the range."""
    number = 7 * sum(str(arm).encode()) + step
    low, high = bandit._rewards.range or (0, 4)
    part = number % 2 if bandit.policy.rewards == "binary" else number % 5 / 4
    return float(low + (high - low) * part)


def go_on(bandit: Bandit, rounds: int, late: int = 3) -> list[Any]:
    """So many decisions: rewards are a few decisions late, and the last never come. Now and then a pull is
    cancelled, an arm comes, an arm goes."""
    flying: deque[Any] = deque()
    chosen = []
    for step in range(rounds):
        chosen.append(bandit.select())
        flying.append(chosen[-1])
        if len(flying) > late:
            arm = flying.popleft()
            bandit.update(arm, reward(bandit, arm, step))
        if step % 50 == 20:
            bandit.cancel(flying.pop())
        if step % 50 == 30:
            name = 1000 * bandit.decisions
            own = {"prior": (0.5, 1.0)} if bandit._player.core.has_priors else {}
            bandit.add_arm(name if isinstance(chosen[0], int) else str(name), **own)
        if step % 50 == 40:
            gone = flying.popleft()
            bandit.remove_arm(gone)
            flying = deque(arm for arm in flying if arm != gone)
    return chosen


def begun(name: str) -> Bandit:
    """The bandit of a case, at work, with pulls pending."""
    policy, arms, options, rounds = CASES[name]
    bandit = Bandit(policy, arms, seed=14, **options)
    go_on(bandit, rounds)
    bandit.select_many(5)
    return bandit


def record(folder: Path) -> None:
    """Every case that is not there yet: NAME.npz, and in decisions.json what comes next."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "decisions.json"
    decisions = json.loads(target.read_text()) if target.exists() else {}
    for name in CASES:
        if name not in decisions:
            file = folder / f"{name}.npz"
            begun(name).save(file)
            decisions[name] = go_on(Bandit.load(file), NEXT)
            print(f"{file.name}: {file.stat().st_size} bytes", file=sys.stderr)
    lines = (f"{json.dumps(name)}: {json.dumps(decisions[name])}" for name in sorted(decisions))
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record(FOLDER / version("thrifty"))
