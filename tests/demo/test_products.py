"""The products' truth, and the dense sampler beside two other implementations of its law."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.client import Decision
from thrifty.demo.dense import Dense, losses
from thrifty.demo.products import CHURN, DAY, NEWS, OFTEN, Ad, News, Product, Shop, products
from thrifty.demo.traffic import DENSE, THRIFTY, UNIFORM, Visits


class Chance:
    """A service that decides by chance, and notes the rewards that it is sent."""

    def __init__(self, product: Product) -> None:
        self._product, self._rng = product, np.random.default_rng(7)
        self.rewards: list[tuple[str, float]] = []

    def decide(self, name: str, rank: int = 1) -> Any:
        places = self._rng.choice(len(self._product.arms), rank, replace=False)
        made = [Decision("", self._product.arms[place], False, None) for place in places]
        return made if rank > 1 else made[0]

    def reward_many(self, decisions: list[Decision], rewards: list[float]) -> None:
        self.rewards += [(one.arm, reward) for one, reward in zip(decisions, rewards, strict=True)]


class Nobody:
    def replace(self, *_: Any) -> None:
        pass


def test_what_a_uniform_choice_loses_is_exact() -> None:
    means = np.array([0.1, 0.7, 0.2, 0.5, 0.3])
    for slate in (1, 2, 3):
        every = [sum(means[list(arms)]) for arms in combinations(range(means.size), slate)]
        best, lost = losses(means, slate)
        assert best == pytest.approx(max(every))
        assert lost == pytest.approx(max(every) - np.mean(every))


@pytest.mark.parametrize("kind", [Ad, News, Shop])
def test_regret_of_chance_is_that_of_a_uniform_choice(kind: type[Any]) -> None:
    """Each loss of a visit lies in [0, slate]; the tolerance is five standard deviations of their sum."""
    product = kind(np.random.default_rng(1))
    visits = Visits(product, Chance(product), Nobody(), 2)  # type: ignore[arg-type]
    variance = 0.0
    for tick in range(1, 81):
        seen = visits.report.visits
        visits.go_on(tick * 0.5, 0.05)
        variance += (visits.report.visits - seen) * product.slate * float(product.means.var())
    lost = visits.report.lost
    assert visits.report.visits > 80
    assert abs(lost[THRIFTY] - lost[UNIFORM]) < 5.0 * variance**0.5
    assert 0.0 < lost[DENSE] < lost[UNIFORM] + 5.0 * variance**0.5
    assert visits.report.draws == visits.report.visits * len(product.arms)


def test_answers_are_what_the_truth_says() -> None:
    """Clicks of the ad within its window have the mean rewards as their shares."""
    product = Ad(np.random.default_rng(1))
    service = Chance(product)
    visits = Visits(product, service, Nobody(), 2)  # type: ignore[arg-type]
    visits.go_on(0.0, 120.0)
    shown = visits.report.visits
    visits.go_on(product.window, 0.0)
    clicks = len(service.rewards)
    assert all(reward == 1.0 for _, reward in service.rewards)
    wanted = shown * float(product.means.mean())
    assert abs(clicks - wanted) < 5.0 * wanted**0.5
    visits.go_on(100.0, 0.0)  # the rest comes too late
    late = shown * float((product.rates - product.means).mean())
    assert abs(len(service.rewards) - clicks - late) < 5.0 * late**0.5
    learnt = visits._dense
    assert learnt.weights.sum() == visits.report.visits


def test_news_come_and_go() -> None:
    news = News(np.random.default_rng(1))
    before = list(news.arms)
    assert news.advance(OFTEN - 0.1) == {}
    gone = news.advance(3 * OFTEN + 0.1)
    assert [*gone.values()] == before[: 3 * CHURN]
    assert len(set(news.arms)) == NEWS
    assert not set(gone.values()) & set(news.arms)
    assert news.advance(3 * OFTEN + 0.9) == {}
    for hours in range(1, 4):  # however long nobody looked
        assert len(news.advance(7200.0 * hours)) == NEWS
        assert len(set(news.arms)) == NEWS


def test_taste_changes_at_noon() -> None:
    shop = Shop(np.random.default_rng(1))
    best = []
    for time in (0.0, 0.49 * DAY, 0.51 * DAY, 1.0 * DAY, 1.49 * DAY, 1.51 * DAY):
        shop.advance(time)
        best.append(shop.arms[int(shop.means.argmax())])
    assert best[0] == best[1] != best[2]
    assert best[2] == best[3] == best[4] != best[5]


def test_a_definition_has_names_that_differ() -> None:
    for product in products(np.random.default_rng(1)):
        arms = product.definition["arms"]
        assert len(set(arms)) == len(arms) == product.rates.size


def test_dense_sampling_has_the_law_of_simulated_thompson_sampling() -> None:
    """Mean regrets on a problem that stays: five standard errors of the difference."""
    means, horizon, runs = np.array([0.5, 0.4, 0.2]), 200, 300
    rng = np.random.default_rng(3)
    found = []
    for _ in range(runs):
        dense, lost = Dense(means.size, rng), 0.0
        for round_ in range(horizon):
            arm = round_ if round_ < means.size else int(dense.choose(0.0)[0])  # each arm once, as simulate
            dense.learn(arm, float(rng.random() < means[arm]), 0.0)
            lost += means.max() - means[arm]
        found.append(lost)
    policy = thrifty.ThompsonSampling("beta")
    final = thrifty.simulate([policy], thrifty.Bernoulli(means), horizon=horizon, runs=4000, seed=1).final[0]
    error = (np.var(found) / runs + np.var(final) / final.size) ** 0.5
    assert error < 0.05 * final.mean()
    assert abs(np.mean(found) - final.mean()) < 5.0 * error


@pytest.mark.parametrize("prior", [None, (0.1, 8.0)])
def test_dense_sampling_decides_as_likely_as_a_bandit_does(prior: tuple[float, float] | None) -> None:
    """With a prior, and when half is forgotten: a bandit knows exactly how likely each arm is."""
    rewards = [(0, 5, 1), (1, 9, 4), (2, 2, 0), (3, 7, 3)]
    bandit = thrifty.Bandit(thrifty.ThompsonSampling("beta"), 4, prior=prior, seed=1)
    dense = Dense(4, np.random.default_rng(4), prior or (0.0, 0.0), half_life=10.0)
    for arm, pulls, ones in rewards:
        for i in range(pulls):
            bandit.observe(arm, float(i < ones))
            dense.learn(arm, float(i < ones), 0.0)
    bandit.forget(0.5)
    size = 20_000
    chosen = np.bincount([int(dense.choose(10.0)[0]) for _ in range(size)], minlength=4)
    for arm in range(4):
        likely = bandit.probability(arm)
        assert abs(chosen[arm] / size - likely) < 5.0 * (likely * (1.0 - likely) / size) ** 0.5
    assert dense.draws == 4 * size


def test_a_slate_is_the_largest_draws() -> None:
    once, again = (Dense(50, np.random.default_rng(5)) for _ in range(2))
    drawn = np.random.default_rng(5).beta(np.ones(50), np.ones(50))
    assert set(once.choose(0.0, 7).tolist()) == set(np.argsort(drawn)[-7:].tolist())
    again.replace([3])
    assert again.choose(0.0)[0] == drawn.argmax()
