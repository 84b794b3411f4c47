"""A bandit in a file: complete, so that it goes on as if nothing had happened; and whole, or refused."""

import copy
import io
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support import own
from tests.support.live import EVERYWHERE, Coins, lasting, state
from tests.support.own import Sampler
from thrifty import storage
from thrifty.engines.sleepers.line import SWEEPING, SWEPT
from thrifty.errors import FileError
from thrifty.online import snapshot
from thrifty.online.snapshot import _digest
from thrifty.policies import Policy

MEANS = [0.2, 0.5, 0.9, 0.7, 0.85, 0.1, 0.4]


def saved(bandit: thrifty.Bandit, folder: Path) -> thrifty.Bandit:
    """The same bandit, by way of a file."""
    bandit.save(folder / "bandit.npz")
    return thrifty.Bandit.load(folder / "bandit.npz")


def assert_go_on_alike(bandits: list[thrifty.Bandit], means: list[float], rounds: int) -> None:
    """Decision by decision, with rewards that come a little later."""
    coins, flying = Coins(means, 1), deque()
    for _ in range(rounds):
        first, second = (bandit.select() for bandit in bandits)
        assert first == second
        flying.append((first, coins.toss(bandits[0]._ids.number(first))))
        if len(flying) > 5:
            arm, reward = flying.popleft()
            for bandit in bandits:
                bandit.update(arm, reward)
    assert lasting(bandits[0]) == lasting(bandits[1])


@EVERYWHERE
def test_ten_thousand_decisions_after_load(policy: Policy, engine: str, tmp_path: Path) -> None:
    """Saved while rewards are pending; the guess of the horizon is doubled on the way."""
    bandit = thrifty.Bandit(policy, len(MEANS), seed=4, engine=engine)
    arms = bandit.select_many(60)
    bandit.update_many(arms[10:40], [float(i % 3 == 0) for i in range(30)])
    copy = saved(bandit, tmp_path)
    assert lasting(copy) == lasting(bandit)
    assert (repr(copy), copy.horizon, copy.engine) == (repr(bandit), bandit.horizon, bandit.engine)
    assert state(copy).pending.sum() > 0
    assert_go_on_alike([bandit, copy], MEANS, 10_000)


@pytest.mark.parametrize(
    "options",
    [
        {"prior": (0.5, 2.0)},
        {"prior": ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 1.5)},
        {"horizon": 500},
        {"statistics": {"arm": [1, 2, 4], "pulls": [400, 500, 600], "mean": [0.2, 0.3, 0.4]}},
        {"reward_range": (-3.0, 5.0)},
        {"reward_range": None},
    ],
    ids=lambda options: next(iter(options)),
)
@pytest.mark.parametrize("policy", [thrifty.TSMA(anytime=True), thrifty.TSTD(phi=5)], ids=repr)
def test_every_setting_is_kept(policy: Policy, options: dict[str, Any], tmp_path: Path) -> None:
    """Also for arms that come later."""
    bandit = thrifty.Bandit(policy, len(MEANS), seed=5, **options)
    bandit.select_many(20)
    pair = [bandit, saved(bandit, tmp_path)]
    assert pair[0]._rewards.__dict__ == pair[1]._rewards.__dict__
    for each in pair:
        each.add_arm("new", *([(0.9, 3.0)] if np.ndim(options.get("prior", (0,))[0]) else []))
        each.remove_arm(0)
    assert_go_on_alike(pair, MEANS, 2000)
    assert pair[0].decisions == pair[1].decisions == 2020


@pytest.mark.parametrize("policy", [thrifty.ThompsonSampling(), thrifty.TSTD(phi=50)], ids=repr)
def test_in_the_middle_of_a_sweep(policy: Policy, tmp_path: Path) -> None:
    bandit = thrifty.Bandit(policy, 400, seed=6, engine="sleepers")
    coins, means = Coins([0.5] * 400, 2), [0.5] * 400
    while not (state(bandit).sweep[SWEEPING] and state(bandit).sweep[SWEPT]):
        arm = bandit.select()
        bandit.update(arm, coins.toss(arm))
    assert_go_on_alike([bandit, saved(bandit, tmp_path)], means, 2000)


def test_after_arms_have_come_and_gone(tmp_path: Path) -> None:
    """Where the block has room for more arms than there are, and more of them come."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 70, seed=7)
    for i in range(80):
        bandit.add_arm(f"arm {i}")
    for i in range(0, 70, 2):
        bandit.remove_arm(i)
    copy = saved(bandit, tmp_path)
    for each in (bandit, copy):
        each.add_arm("late")
        each.remove_arm("arm 3")
    assert copy.statistics()["arm"] == bandit.statistics()["arm"]
    assert_go_on_alike([bandit, copy], [0.5] * 200, 500)


@pytest.mark.parametrize(
    "arms",
    [
        3,
        ["a", "b", 'quotes " and \\ and ☃ and \ud800'],
        [5, -1, 10**30],
        ["1", 1],
        np.array(["x", "y"]),
        np.arange(4, 7),
    ],
    ids=repr,
)
def test_ids_come_back_as_they_were(arms: Any, tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.KLUCBPlusPlus(), arms)
    names = saved(bandit, tmp_path).statistics()["arm"]
    assert names == bandit.statistics()["arm"]
    assert list(map(type, names)) == list(map(type, bandit.statistics()["arm"]))


@pytest.mark.parametrize("name", [("a", 1), 1.5, True, None, frozenset(), b"x"], ids=repr)
def test_ids_that_a_file_cannot_hold(name: Any, tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), ["a", name])
    with pytest.raises(thrifty.InvalidType, match="ids must be texts or integers to be saved, got"):
        bandit.save(tmp_path / "bandit.npz")
    assert not list(tmp_path.iterdir())


class Coin:
    """A posterior that learns nothing."""

    def observe(self, arm: Any, reward: float) -> None:
        pass

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.random(size)


def test_a_posterior_cannot_be_saved(tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=Coin()), 3)
    with pytest.raises(thrifty.InvalidType, match="a posterior of your own cannot be saved, got"):
        bandit.save(tmp_path / "bandit.npz")
    assert not list(tmp_path.iterdir())


def test_a_hundred_thousand_arms(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for policy in (thrifty.TSMA(), thrifty.ThompsonSampling()):
        bandit = thrifty.Bandit(policy, 100_000, prior=(0.5, 1.0), seed=8)
        for _ in range(30):
            bandit.update_many(bandit.select_many(100), rng.random(100))
        copy = saved(bandit, tmp_path)
        assert lasting(copy) == lasting(bandit)
        assert copy.select_many(1000) == bandit.select_many(1000)


# Files that are not what they should be ------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    bandit = thrifty.Bandit(thrifty.TSMA(), ["a", "b", "c"], seed=1)
    bandit.update_many(bandit.select_many(3), [0.0, 1.0, 0.5])
    bandit.save(tmp_path / "bandit.npz")
    return tmp_path / "bandit.npz"


def assert_refused(file: Path, match: str | None = None) -> None:
    """By an error that names the file."""
    with pytest.raises(FileError, match=match) as caught:
        thrifty.Bandit.load(file)
    assert str(file) in str(caught.value)


def test_truncated(file: Path) -> None:
    whole = file.read_bytes()
    for size in {*range(0, len(whole), 37), *range(40), *range(len(whole) - 40, len(whole))}:
        file.write_bytes(whole[:size])
        assert_refused(file, "is not a whole snapshot of a bandit")


def test_any_byte_changed(file: Path) -> None:
    """An error that names the file; or, where it is of no importance, nothing is different."""
    whole, bandit = file.read_bytes(), lasting(thrifty.Bandit.load(file))
    harmless, said = 0, set()
    for at in range(0, len(whole), 5):
        changed = bytearray(whole)
        changed[at] ^= 0x41
        file.write_bytes(changed)
        try:
            assert lasting(thrifty.Bandit.load(file)) == bandit
            harmless += 1
        except FileError as refused:
            said.add(str(refused))
    assert all(str(file) in one for one in said)
    assert harmless < 0.05 * len(whole)  # dates of entries, and the like


def rewritten(file: Path, header: dict[str, Any] | None = None, **arrays: Any) -> None:
    """The same file with other contents, honest in every other way."""
    old_header, old_arrays = storage.read(file, "bandit")
    storage.write(file, old_header | (header or {}), old_arrays | arrays, compressed=False)


def signed(file: Path, header: dict[str, Any] | None = None, **arrays: Any) -> None:
    """And with a digest that fits."""
    old_header, old_arrays = storage.read(file, "bandit")
    del old_header["format"], old_header["digest"]
    header, arrays = old_header | (header or {}), old_arrays | arrays
    storage.write(file, header | {"digest": _digest(header, arrays)}, arrays, compressed=False)


@pytest.mark.parametrize(
    "change",
    [
        {"header": {"engine": "scan-"}},
        {"header": {"components": {"arms": 2}}},
        {"header": {"policy": {"name": "KLUCBPlusPlus"}}},
        {"header": {"more": 1}},
        {"header": {"digest": "0"}},
        {"pulls": np.arange(3)},
        {"ids": np.frombuffer(b'["a","b","d"]', np.uint8)},
        {"more": np.zeros(3)},
    ],
    ids=str,
)
def test_tampered_with(file: Path, change: dict[str, Any]) -> None:
    rewritten(file, **change)
    assert_refused(file, "was changed after it was saved: its digest does not fit")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"policy": {"name": "Guessing"}}, "Guessing"),
        ({"policy": {"name": "TSMA", "depth": 3}}, "depth"),
        ({"policy": {"name": "TSMA", "alpha": 7}}, r"alpha must be in \[0, 1\], got 7"),
        (
            {"policy": {"name": "KLUCBPlusPlus"}},
            "components has an entry 'kept', which this bandit does not have",
        ),
        ({"policy": 5}, "policy must be a dict, got 5"),
        ({"policy": {"name": ["TSMA"]}}, "unhashable"),
        ({"policy": {"name": "TSMA", "phi": [1]}}, "phi must be a number"),
        ({"engine": "sleepers"}, "engine must be one of scan, tournament"),
        ({"engine": "abacus"}, "engine must be one of scan, tournament, sleepers, kinetic, got 'abacus'"),
        ({"engine": "auto"}, "engine must be one of scan"),
        ({"engine": 3}, "engine must be a str, got 3"),
        ({"more": 3}, "header has an entry 'more', which this version does not know"),
        ({"settings": {}}, "settings has no entry 'reward_range'"),
        ({"settings": None}, "settings must be a dict, got None"),
        ({"components": {}}, "the state has an entry .*, which this version does not know"),
        ({"components": {"arms": 1, "tail": 1}}, "an entry 'tail', which this version does not know"),
        ({"components": {"arms": 2}}, "arms must be of version 1 at most, got 2"),
        ({"components": {"arms": True}}, "arms must be of version 1 at most, got True"),
        ({"components": {"arms": "1"}}, "arms must be of version 1 at most, got '1'"),
        ({"components": None}, "components must be a dict, got None"),
    ],
    ids=str,
)
def test_tampered_with_and_signed(file: Path, change: dict[str, Any], match: str) -> None:
    """Even then it is an error of the file, not of the program."""
    signed(file, change)
    assert_refused(file, f"is not a whole snapshot of a bandit: .*{match}")


@pytest.mark.parametrize(
    ("setting", "value", "match"),
    [
        ("t", 2.5, "t must be an integer"),
        ("t", True, "t must be an integer"),
        ("t", 2, "pulls and pending must be counts that add up to t at most"),
        ("t", 2**60, "t must be at most"),
        ("before", 4, "before must be at most 3, got 4"),
        ("horizon", 0, "horizon must be at least 1"),
        ("horizon", "1024", "horizon must be an integer"),
        ("guessed", 1, "guessed must be True or False"),
        ("prior", [0.5], r"prior must be None or \(mean, weight\)"),
        ("prior", [7.0, 1.0], "prior mean must be from 0.0 to 1.0, got 7.0"),
        ("prior", [0.5, 0.0], "prior weight must be above 0"),
        ("prior", [0.5, math.inf], "prior weight must be finite"),
        ("reward_range", [1.0, 0.0], "reward_range must be"),
        ("reward_range", {"low": 0}, "reward_range must be"),
        ("colour", 1, "settings has an entry 'colour', which this version does not know"),
    ],
)
def test_impossible_settings(file: Path, setting: str, value: Any, match: str) -> None:
    settings = storage.read(file, "bandit")[0]["settings"]
    signed(file, {"settings": settings | {setting: value}})
    assert_refused(file, match)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"ids": np.frombuffer(b'["a","b"]', np.uint8)}, "pulls must be those of 2 arms, got 3"),
        ({"ids": np.frombuffer(b'["a","b","b"]', np.uint8)}, "must be a new one, got 'b' again"),
        ({"ids": np.frombuffer(b'["a","b",true]', np.uint8)}, "ids must be a number, or a list of texts"),
        ({"ids": np.frombuffer(b"1000000000", np.uint8)}, "pulls must be those of 1000000000 arms, got 3"),
        ({"ids": np.frombuffer(b'{"a":1}', np.uint8)}, "ids must be a number, or a list of texts"),
        ({"pulls": np.zeros(4, np.int64)}, "pulls must be those of 3 arms, got 4"),
        ({"pulls": np.zeros(3)}, "pulls must be int64 of shape .*, got float64"),
        ({"pulls": np.array([1, 1, -1])}, "pulls and pending must be counts"),
        ({"sums": np.array([0.0, 1.0, 1.5])}, "sums must be what so many rewards can add up to"),
        ({"sums": np.array([0.0, 1.0, np.nan])}, "sums must be what so many rewards can add up to"),
        ({"index": np.array([0.0, np.nan, 1.0])}, "index must be numbers"),
        ({"rng": np.zeros(4, np.uint64)}, "rng must be four words, not all of them 0"),
        ({"best": np.zeros(3)}, "the state has an entry 'best', which this version does not know"),
    ],
    ids=str,
)
def test_impossible_arrays(file: Path, arrays: dict[str, Any], match: str) -> None:
    signed(file, **arrays)
    assert_refused(file, match)


def test_a_field_is_missing(file: Path) -> None:
    header, arrays = storage.read(file, "bandit")
    del header["format"], header["digest"], arrays["sums"]
    storage.write(file, header | {"digest": _digest(header, arrays)}, arrays, compressed=False)
    assert_refused(file, "the state has no entry 'sums'")


def test_no_more_memory_than_the_file_has(file: Path) -> None:
    """An array that says that it is huge, and one that is huge because it was compressed."""
    header, arrays = storage.read(file, "bandit")
    huge = io.BytesIO()
    np.save(huge, arrays["pulls"])
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("more.npy", huge.getvalue().replace(b"(3,), }     ", b"(999999,), }"))
    assert_refused(file, "is not a whole snapshot of a bandit")
    storage.write(file, header, arrays | {"more": np.zeros(10**6)}, compressed=True)
    assert_refused(file, "is not a whole snapshot of a bandit")


def test_another_layout(file: Path) -> None:
    for version, advice in ((snapshot.VERSION + 1, ": upgrade thrifty"), (1, "$"), ("two", "$"), (None, "$")):
        signed(file, {"version": version})
        assert_refused(file, f"was written by another version of thrifty{advice}")


def test_newer(file: Path) -> None:
    with np.load(file) as arrays:
        contents = dict(arrays)
    header = json.loads(str(contents["header"]))
    contents["header"] = np.array(json.dumps(header | {"format": storage.FORMAT + 1}))
    np.savez(file, **contents)
    assert_refused(
        file, f"has format {storage.FORMAT + 1}, this version of thrifty reads .*: upgrade thrifty"
    )


def test_foreign(tmp_path: Path) -> None:
    result = tmp_path / "result.npz"
    thrifty.simulate(thrifty.TSMA(), thrifty.Bernoulli([0.5, 0.4]), 10, 1).save(result)
    assert_refused(result, "is not a snapshot of a bandit: it is a result file, which Result.load reads")
    arrays, text, archive, nothing = (tmp_path / name for name in ("a.npz", "b.npz", "c.npz", "d.npz"))
    np.savez(arrays, block=np.zeros(3))
    text.write_text("a,b,c\n1,2,3\n")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("header.npy", "{}")
    nothing.touch()
    for path in (arrays, text, archive, nothing):
        assert_refused(path, "is not a whole snapshot of a bandit")


def test_a_pickle_is_not_read(tmp_path: Path) -> None:
    """Loading one could run any program."""
    np.savez(tmp_path / "pickle.npz", header=np.array([{"format": storage.FORMAT}], object))
    assert_refused(tmp_path / "pickle.npz", "is not a whole snapshot of a bandit")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        thrifty.Bandit.load(tmp_path / "none.npz")


@pytest.mark.parametrize("name", ["bandit", "bandit.npy", "bandit.npz.gz", ".npz"])
def test_a_snapshot_is_an_npz_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a snapshot must be a \.npz file, got") as caught:
        thrifty.Bandit(thrifty.TSMA(), 3).save(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        thrifty.Bandit(thrifty.TSMA(), 3).save(tmp_path / "nowhere" / "bandit.npz")


# A kill during save --------------------------------------------------------------------------------------

STALL = """
import sys, time
import numpy as np
import thrifty

save = np.savez

def stall(file, **arrays):
    save(file, **arrays)
    file.seek(file.tell() // 2)
    file.truncate()
    file.flush()
    print("half", flush=True)
    time.sleep(600)

bandit = thrifty.Bandit.load(sys.argv[1])
bandit.add_arm("more")
np.savez = stall
bandit.save(sys.argv[1])
"""

OVER_AND_OVER = """
import sys
import thrifty

bandits = [thrifty.Bandit(thrifty.TSMA(), 20_000, seed=seed) for seed in (1, 2)]
bandits[0].save(sys.argv[1])
print("saved", flush=True)
while True:
    for bandit in bandits:
        bandit.save(sys.argv[1])
"""


def test_killed_in_the_middle_of_writing(file: Path) -> None:
    """Half of the new file is on the disk: the old one is as it was."""
    before = file.read_bytes()
    with subprocess.Popen([sys.executable, "-c", STALL, file], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(signal.SIGKILL)
    assert file.read_bytes() == before
    (part,) = file.parent.glob("bandit.npz*.part")
    assert 0 < part.stat().st_size < len(before) + 1000


def test_killed_at_any_moment(tmp_path: Path) -> None:
    file = tmp_path / "bandit.npz"
    states = {lasting(thrifty.Bandit(thrifty.TSMA(), 20_000, seed=seed))[0] for seed in (1, 2)}
    for wait in (0.0, 0.011, 0.037):
        with subprocess.Popen([sys.executable, "-c", OVER_AND_OVER, file], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"saved\n"
            time.sleep(wait)
            child.send_signal(signal.SIGKILL)
        assert lasting(thrifty.Bandit.load(file))[0] in states


def test_a_failed_save_leaves_nothing_behind(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, bandit = file.read_bytes(), thrifty.Bandit.load(file)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        bandit.save(file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


# Copies without a file -----------------------------------------------------------------------------------


def copied(bandit: thrifty.Bandit) -> thrifty.Bandit:
    return copy.deepcopy(bandit)


def pickled(bandit: thrifty.Bandit) -> thrifty.Bandit:
    other: thrifty.Bandit = pickle.loads(pickle.dumps(bandit))
    return other


@pytest.mark.parametrize("copy_of", [copied, pickled, copy.copy])
@pytest.mark.parametrize(
    "policy",
    [thrifty.TSMA(), thrifty.ThompsonSampling(), thrifty.UCB1(), thrifty.NPTS(), Sampler()],
    ids=repr,
)
def test_a_copy_goes_its_own_way(policy: Policy, copy_of: Callable[[thrifty.Bandit], thrifty.Bandit]) -> None:
    bandit = thrifty.Bandit(policy, 5, seed=1)
    for _ in range(40):
        bandit.update(bandit.select(), 1.0)
    other = copy_of(bandit)
    before = bandit.statistics()["pulls"].tolist()
    chosen = []
    for _ in range(40):
        chosen.append(other.select())
        other.update(chosen[-1], 0.0)
    assert bandit.statistics()["pulls"].tolist() == before
    assert sum(other.statistics()["pulls"]) == 80
    for arm in chosen:
        assert bandit.select() == arm
        bandit.update(arm, 0.0)


ELSEWHERE = """
import pickle, sys
bandit = pickle.load(open(sys.argv[1], "rb"))
print([bandit.select() for _ in range(20)])
"""


@pytest.mark.parametrize("policy", [thrifty.TSMA(), Sampler()], ids=repr)
def test_a_pickled_bandit_works_in_another_process(policy: Policy, tmp_path: Path) -> None:
    bandit = thrifty.Bandit(policy, 5, seed=1)
    bandit.update_many(bandit.select_many(5), [0.0, 1.0, 0.0, 1.0, 1.0])
    (tmp_path / "bandit.pickle").write_bytes(pickle.dumps(bandit))
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    environment = os.environ | {"PYTHONPATH": str(Path(own.__file__).parents[2])}
    found = subprocess.run(
        [sys.executable, tmp_path / "elsewhere.py", tmp_path / "bandit.pickle"],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert found.stdout == f"{[bandit.select() for _ in range(20)]}\n"
