"""Policies of the user's own in a bandit: saved by name, loaded when the program knows them, and refused when
an index is not a number."""

import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import thrifty
from tests.support import own
from tests.support.live import refused
from tests.support.own import Fading, Latest, Sampler, Steady
from tests.support.recorded import NEXT, go_on
from thrifty import Bandit, policies, storage
from thrifty.online import snapshot

# Saved by name ------------------------------------------------------------------------------------------


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is not for others."""
    monkeypatch.setattr(policies, "_registered", {})


def begun(policy: thrifty.Policy) -> Bandit:
    bandit = Bandit(policy, 6, seed=3)
    go_on(bandit, 100)
    return bandit


class TSMA(thrifty.TSMA):
    """Not the one of that name."""


@dataclass(frozen=True)
class Half(thrifty.Law):
    """Uniform around the mean."""

    def parameters(self, n: float, s: float) -> tuple[float, float]:
        return s / n, 1.0 / n

    def sf(self, a: float, b: float, c: float) -> float:
        return min(1.0, max(0.0, (a + b - c) / (2.0 * b)))

    def isf(self, a: float, b: float, p: float) -> float:
        return a + b - 2.0 * b * p


OWN: list[tuple[thrifty.Policy, list[type]]] = [
    (Sampler(width=0.5), [Sampler]),
    (Fading(), [Fading]),
    (Steady(), [Steady]),
    (Latest(), [Latest]),
    (thrifty.Binarised(TSMA(alpha=0.5, law="beta")), [TSMA]),
    (thrifty.ThompsonSampling(law=Half()), [Half]),
]


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(("policy", "kinds"), OWN, ids=repr)
def test_a_file_has_the_name_and_the_program_the_class(
    policy: thrifty.Policy, kinds: list[type], tmp_path: Path
) -> None:
    """The same next decisions, whether it is handed over or registered; otherwise it is refused by name."""
    bandit, file = begun(policy), tmp_path / "bandit.npz"
    bandit.save(file)
    name = f"{kinds[0].__module__}:{kinds[0].__qualname__}"
    with pytest.raises(thrifty.FileError, match=f"'{name}' is a policy that this program does not know"):
        Bandit.load(file)
    loaded = Bandit.load(file, policies=kinds)
    assert loaded.policy == policy
    for kind in kinds:
        assert thrifty.register(kind) is kind
    expected = go_on(bandit, NEXT)
    assert go_on(loaded, NEXT) == go_on(Bandit.load(file), NEXT) == expected


def test_rewards_of_any_size_come_back(tmp_path: Path) -> None:
    """Their squares too, which are larger than their number."""
    bandit = Bandit(Steady(), 3, seed=1, reward_range=None)
    bandit.update_many([0, 1, 2, 0, 1], [5.0, -30.0, 20.0, 7.0, 1.0])
    bandit.save(tmp_path / "bandit.npz")
    assert Bandit.load(tmp_path / "bandit.npz", policies=[Steady]).select_many(9) == bandit.select_many(9)


@pytest.mark.parametrize(("policy", "span"), [(Latest(), (0.0, 1.0)), (Steady(), None)], ids=str)
def test_statistics_that_do_not_say_enough(policy: thrifty.Policy, span: tuple[float, float] | None) -> None:
    """Pulls and means tell neither what a policy counts itself, nor squares of rewards of any size."""
    known = {"arm": [0], "pulls": [3], "mean": [0.5]}
    with pytest.raises(thrifty.InvalidValue, match="which needs every reward: use update_many"):
        Bandit(policy, 3, reward_range=span, statistics=known)
    bandit = Bandit(policy, 3, reward_range=span)
    with refused(thrifty.InvalidValue, "which needs every reward: use update_many", bandit):
        bandit.merge(known)


ELSEWHERE = """
import sys
import thrifty
try:
    thrifty.Bandit.load(sys.argv[1])
except thrifty.FileError as error:
    print(error)
print("tests.support.own" in sys.modules)
from tests.support.own import Sampler
from tests.support.recorded import NEXT, go_on
print(go_on(thrifty.Bandit.load(sys.argv[1], policies=[Sampler]), NEXT))
"""


def test_another_process_has_to_hand_it_over(tmp_path: Path) -> None:
    bandit = begun(Sampler())
    bandit.save(tmp_path / "bandit.npz")
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path / "bandit.npz")],
        cwd=Path(own.__file__).parents[2], check=True, capture_output=True, text=True,
    )  # fmt: skip
    refusal, imported, decisions = done.stdout.splitlines()
    assert "'tests.support.own:Sampler' is a policy that this program does not know" in refusal
    assert imported == "False"
    assert decisions == str(go_on(bandit, NEXT))


@pytest.mark.parametrize(
    "name", ["os:system", "wave:open", "wave", "wave:Wave_read", "tests.support.own:Bell"]
)
@pytest.mark.parametrize("inside", [False, True], ids=["policy", "inside"])
def test_a_file_never_makes_us_import_anything(name: str, inside: bool, tmp_path: Path) -> None:
    file = tmp_path / "bandit.npz"
    Bandit(thrifty.Binarised(thrifty.KLUCB()), 2).save(file)
    header, arrays = storage.read(file, "bandit")
    del header["format"], header["digest"]
    table = {"name": name, "command": "true"}
    header["policy"] = {"name": "Binarised", "policy": table} if inside else table
    header["digest"] = snapshot._digest(header, arrays)
    storage.write(file, header, arrays, compressed=False)
    before = {*sys.modules}
    assert "wave" not in before
    with pytest.raises(thrifty.FileError, match=f"'{name}' is a policy that this program does not know"):
        Bandit.load(file)
    assert {*sys.modules} == before


@pytest.mark.parametrize("name", ["os:system", "wave:open"])
def test_nor_does_a_result(name: str, tmp_path: Path) -> None:
    """Its numbers are shown under its label; nothing is known of the policy."""
    file = tmp_path / "result.npz"
    thrifty.simulate(thrifty.TSMA(), thrifty.Bernoulli([0.9, 0.8]), 10, 2).save(file)
    header, arrays = storage.read(file)
    del header["format"]
    header["settings"]["policies"] = [{"name": name, "command": "true"}]
    storage.write(file, header, arrays)
    before = {*sys.modules}
    assert "wave" not in before
    result = thrifty.Result.load(file)
    assert result.notes == ()
    assert "TS-MA-0" in str(result.summary())
    assert {*sys.modules} == before


@pytest.mark.parametrize("kind", [Sampler(), "Sampler", int, None], ids=repr)
def test_only_classes_of_policies_and_laws_are_registered_and_handed_over(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(thrifty.InvalidType, match="kind must be a class of policies, laws or problems, got"):
        thrifty.register(kind)
    Bandit(thrifty.TSMA(), 2).save(tmp_path / "bandit.npz")
    with pytest.raises(
        thrifty.InvalidType, match=r"policies\[0\] must be a class of policies, laws or problems, got"
    ):
        Bandit.load(tmp_path / "bandit.npz", policies=[kind])


# Indices that are not numbers ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Committed(thrifty.IndexPolicy):
    """It changes only when its arm is pulled, and from ``until`` pulls of an arm on it is not a number."""

    until: float = 4.0
    changes = "when pulled"

    def index(self, n: float, mean: float) -> float:
        return mean + 1.0 / n if n < self.until else math.nan


@dataclass(frozen=True)
class Rising(thrifty.IndexPolicy):
    """It rises with t, and is not a number any more from ``until`` on."""

    until: float = 12.0
    changes = "with time"

    def index(self, n: float, mean: float, t: int) -> float:
        return mean + math.log(t + 1.0) / n if t < self.until else math.nan

    def reach(self, n: float, mean: float, level: float) -> float:
        return math.exp(min((level - mean) * n, 700.0)) - 1.0


@dataclass(frozen=True)
class Ending(thrifty.IndexPolicy):
    """Not a number if the horizon is as long as this."""

    length: float = 2048.0
    changes = "when pulled"

    def index(self, n: float, mean: float) -> float:
        return mean + 1.0 / n if self.horizon < self.length else math.nan


NAN = "must be a number, got NaN or an error"
CASES = [(Committed(), "scan"), (Committed(), "tournament"), (Rising(), "scan"), (Rising(), "kinetic")]


@pytest.mark.parametrize(("policy", "engine"), CASES, ids=str)
def test_the_call_that_meets_it_is_refused_and_changes_nothing(policy: thrifty.Policy, engine: str) -> None:
    bandit = Bandit(policy, 3, seed=1, engine=engine)
    calls = 0
    for _ in range(20):
        arm = None
        try:
            arm = bandit.select()
            bandit.update(arm, 0.5)
        except thrifty.InvalidValue:
            break
        calls += 1
    assert 9 <= calls <= 12
    call = bandit.select if arm is None else lambda: bandit.update(arm, 0.5)
    for _ in range(2):
        with refused(thrifty.InvalidValue, f"the index of {type(policy).__name__}.* {NAN} after", bandit):
            call()
    bandit.add_arm("new")
    assert bandit.select() == "new"


@pytest.mark.parametrize(("policy", "engine"), CASES, ids=str)
def test_simulate_refuses_it_by_name(policy: thrifty.Policy, engine: str) -> None:
    name = type(policy).__name__
    with pytest.raises(thrifty.InvalidValue, match=f"the index of {name}.* {NAN} in round (9|13)$"):
        thrifty.simulate(policy, thrifty.Bernoulli([0.5, 0.4, 0.6]), 100, 2, engine=engine)


@pytest.mark.parametrize("engine", ["scan", "tournament"])
def test_whatever_call_it_is(engine: str) -> None:
    """One that changes statistics, brings arms with a prior, counts fewer pulls, or more of them."""
    known = {"arm": [0, 1], "pulls": [2, 7], "mean": [0.5, 0.5]}
    with pytest.raises(thrifty.InvalidValue, match=NAN):
        Bandit(Committed(), 3, statistics=known, engine=engine)
    bandit = Bandit(Committed(), 3, seed=1, prior=([0.5] * 3, 1.0), engine=engine)
    with refused(thrifty.InvalidValue, NAN, bandit):
        bandit.merge(known)
    with refused(thrifty.InvalidValue, NAN, bandit):
        bandit.update_many([0, 1, 0, 0, 0], [0.5] * 5)
    with refused(thrifty.InvalidValue, NAN, bandit):
        bandit.add_arms(["a", "b"], ([0.5, 0.5], [1.0, 9.0]))
    with refused(thrifty.InvalidValue, NAN, bandit):
        bandit.select_many(30)
    assert len(bandit.select_many(3)) == 3


@pytest.mark.parametrize("engine", ["scan", "tournament"])
def test_a_horizon_that_would_be_too_long(engine: str) -> None:
    """It is doubled by a decision, or by arms that come; and is not, if that is refused."""
    bandit = Bandit(Ending(), 3, seed=1, prior=(0.5, 1.0), engine=engine)
    bandit.update_many([0] * 1024, [0.5] * 1024)
    for call in (bandit.select, lambda: bandit.select_many(2), lambda: bandit.add_arms(range(10, 1000))):
        with refused(thrifty.InvalidValue, NAN, bandit):
            call()
    assert bandit.horizon == 1024
    assert len(bandit) == 3


@dataclass(frozen=True)
class Known(thrifty.IndexPolicy):
    """Not a number for an arm of which nothing is known."""

    changes = "with time"

    def index(self, n: float, mean: float, log_t: float) -> float:
        return n / n * mean + math.sqrt(log_t / n)

    def reach(self, level: float) -> float:
        return 0.0


def test_kinetic_does_not_ask_for_the_index_of_an_arm_that_is_gone() -> None:
    """Though it led a side of its tree, and others changed before it went."""
    known = {"arm": range(64), "pulls": [1] * 64, "mean": [0.5] * 64}
    bandits = [Bandit(Known(), 64, 1000, seed=1, statistics=known, engine=e) for e in ("scan", "kinetic")]
    for number in range(63, 20, -1):
        for bandit in bandits:
            bandit.update(number, 1.0)
            bandit.select()
            bandit.update(number - 3, 0.0)
            bandit.remove_arm(number)
        assert len({bandit.select() for bandit in bandits}) == 1


def test_a_bandit_is_saved_whose_last_pull_was_cancelled(tmp_path: Path) -> None:
    """So that an arm was last pulled later than now."""
    bandit = Bandit(Fading(), 3, 100, seed=1, prior=(0.5, 1.0))
    for _ in range(5):
        bandit.update(bandit.select(), 1.0)
    for arm in [bandit.select(), bandit.select()]:
        bandit.cancel(arm)
    bandit.save(tmp_path / "bandit.npz")
    again = Bandit.load(tmp_path / "bandit.npz", policies=[Fading])
    assert [again.select() for _ in range(9)] == [bandit.select() for _ in range(9)]


@dataclass(frozen=True)
class ByArms(thrifty.IndexPolicy):
    """The more arms, the larger every index."""

    changes = "with time"

    def index(self, n: float, mean: float, log_t: float) -> float:
        return mean + math.sqrt((log_t + self.arms) / n)

    def reach(self, level: float) -> float:
        return 0.0


def test_kinetic_knows_that_an_index_may_ask_for_the_number_of_arms() -> None:
    """Nobody stays ahead by an index that was made when there were fewer arms, or more."""
    bandits = [Bandit(ByArms(), 3, 1000, seed=1, prior=(0.5, 1.0), engine=e) for e in ("scan", "kinetic")]
    for number in range(30):
        for bandit in bandits:
            bandit.cancel(bandit.select())
            bandit.add_arm(f"a{number}")
        assert len({bandit.select() for bandit in bandits}) == 1
        for bandit in bandits:
            bandit.remove_arm(f"a{number}")
        assert len({bandit.select() for bandit in bandits}) == 1
