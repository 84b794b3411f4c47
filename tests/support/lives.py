"""The life of a bandit among many arms, by a seed: what an engine has to stand."""

import copy
import pickle

import numpy as np

import thrifty


def life(policy, engine, seed, *, slates, tied=False, count=300, steps=150, look=None):
    """Decisions of all kinds, rewards at once or late, arms that come, go and rest, and copies. Returns who
    was chosen. ``look`` is called with the bandit after each step."""
    rng = np.random.default_rng(seed)
    means = rng.choice([0.1, 0.2, 0.8], count) if tied else rng.random(count)
    bandit = thrifty.Bandit(policy, count, seed=seed, engine=engine, prior=(means, np.full(count, 5.0)))
    chosen, open_ = [], []
    for step in range(steps):
        kind, new, awake = rng.integers(14), [], [arm for arm in bandit.arms if arm not in bandit.paused]
        many = min(int(rng.choice([1, 3, 10, 40, 100])), len(awake) - 3)
        if kind < 2:
            chosen += bandit.preview(rank=many if slates else 1)
        if kind < 4:
            new = bandit.rank(many if slates else 1)
        elif kind < 7:
            out = rng.permutation(awake)[:many].tolist() + [arm for arm in chosen[-2:] if arm in bandit]
            new = [bandit.select(exclude=out)]
        elif kind == 7 and len(bandit.paused) < 20:
            for arm in {arm for arm in chosen[-3:] if arm in bandit}:
                bandit.pause(arm)
        elif kind == 8 and bandit.paused:
            bandit.resume(bandit.paused[int(rng.integers(len(bandit.paused)))])
        elif kind == 9:
            bandit.add_arm(10_000 + step, prior=(0.9 if tied else rng.random(), 5.0))
        elif kind == 10:
            arms = chosen[-1:] if chosen and rng.random() < 0.5 else bandit.arms
            gone = arms[int(rng.integers(len(arms)))]
            if gone in bandit:
                bandit.remove_arm(gone)
                open_ = [arm for arm in open_ if arm != gone]
        else:
            new = [bandit.select()]
        chosen += new
        open_ += new
        while open_ and rng.random() < 0.8:
            arm = open_.pop(int(rng.integers(len(open_))))
            if rng.random() < 0.1:
                bandit.cancel(arm)
            else:
                bandit.update(arm, float(rng.random() < 0.3))
        if step % 50 == 20:
            bandit = copy.deepcopy(bandit) if rng.random() < 0.5 else pickle.loads(pickle.dumps(bandit))
        if look is not None:
            look(bandit)
    return chosen
