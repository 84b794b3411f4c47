"""A bandit in a file: a JSON header and its arrays by name. No pickle, versioned, checked, atomic.

A field that is new in a later version gets the value that it starts with when an older file is loaded; what
is unknown, or of a newer version, is refused by name.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty import checks, storage
from thrifty.engines import ENGINES, sleepers, state, young
from thrifty.engines.state import COLUMNS, Memory, Rule, State, new_memory
from thrifty.errors import FileError, InvalidType, ThriftyError
from thrifty.online import derived, sound, version_0_1_0
from thrifty.online.core import Core
from thrifty.online.ids import MOST, Ids
from thrifty.online.posterior import PosteriorCore
from thrifty.online.rewards import Rewards
from thrifty.policies import POLICIES, Policy, described, restored

KIND = "bandit"
VERSION = 2  # 1 is thrifty 0.1.0's, see there

# Fields, numbers and settings that came later, each with the first version that has it.
ADDED = dict.fromkeys(("pending_for", "ring", "expired"), 2)

FAR = 1.001 * checks.LARGEST  # rewards are no larger, whatever was rounded

# The single numbers of a state, by name: the field, and where in it.
NUMBERS: dict[str, tuple[str, int]] = {
    **{name: ("count", getattr(state, name.upper())) for name in (
        "handed", "clock", "swept", "sweeping", "oldest", "newest", "used", "stage", "cursor", "left",
    )},
    "evaluations": ("evaluations", 0),
    **{f"level_{name}": ("levels", getattr(sleepers, name.upper())) for name in (
        "new", "old", "total", "slope", "drawn", "ahead", "since",
    )},
}  # fmt: skip

# What a header or an array that is not what it should be may raise.
IMPOSSIBLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    ThriftyError,
)


class Settings(NamedTuple):
    """What a bandit knows besides its policy, its ids and its state."""

    reward_range: tuple[float, float] | None
    prior: tuple[float, float] | None
    horizon: int
    guessed: bool
    before: int
    t: int
    pending_for: int | None = None


def save(
    path: str | os.PathLike[str], policy: Policy, ids: Ids, core: Core | PosteriorCore, settings: Settings
) -> None:
    target = Path(path)
    if target.suffix != ".npz":
        raise FileError(f"a snapshot must be a .npz file, got {target}")
    if not _is_ours(policy) or not isinstance(core, Core):
        raise InvalidType(f"only policies and laws of thrifty itself can be saved, got {policy!r}")
    now = core.memory.state
    header: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "policy": described(policy),
        "engine": core.engine,
        "settings": settings._asdict(),
        "numbers": {
            name: getattr(now, field)[place].item() for name, (field, place) in _numbers(now).items()
        },
    }
    rule = policy.resolve(len(ids), settings.horizon)
    arrays = {"ids": _pack(ids)} | {name: getattr(now, name) for name in _fields(now, rule, core.engine)}
    storage.write(target, header | {"digest": _digest(header, arrays)}, arrays, compressed=False)


def load(path: str | os.PathLike[str]) -> tuple[Policy, Ids, Memory, Settings]:
    source = Path(path)
    header, arrays = storage.read(source, KIND, compressed=False)
    version = header.get("version", header.get("layout"))
    old = version == version_0_1_0.LAYOUT
    if not old and version not in range(2, VERSION + 1):
        advice = ": upgrade thrifty" if type(version) is int and version > VERSION else ""
        raise FileError(f"{source} was written by another version of thrifty{advice}")
    digest = header.pop("digest", None)
    del header["format"]
    if digest != (version_0_1_0.digest if old else _digest)(header, arrays):
        raise FileError(f"{source} was changed after it was saved: its digest does not fit")
    try:
        if old:
            header, arrays = version_0_1_0.converted(header, **arrays)
        with np.errstate(all="ignore"):  # numbers from a file may be anything, until they are checked
            return _restored(header, arrays)
    except IMPOSSIBLE as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
        raise FileError(f"{source} is not a whole {storage.KINDS[KIND]}: {reason}") from None


def _restored(header: dict[str, Any], arrays: storage.Arrays) -> tuple[Policy, Ids, Memory, Settings]:
    parts = {"policy": dict, "engine": str, "settings": dict, "numbers": dict}
    version = header["version"]
    _match("header", header, [*parts, "kind", "version"], version)
    for name, kind in parts.items():
        if type(header[name]) is not kind:
            raise TypeError(f"{name} must be a {kind.__name__}, got {checks.shown(header[name])}")
    policy = restored(header["policy"])
    ids = _unpack(arrays.pop("ids"))
    settings, bounds = _read_settings(header["settings"], policy, version)
    engine = policy.engine_for(len(ids), checks.choice("engine", header["engine"], ENGINES))
    mean, weight = settings.prior or (0.0, 0.0)
    rule = policy.resolve(len(ids), settings.horizon)._replace(prior_mean=mean, prior_weight=weight)
    if arrays["pulls"].shape != (len(ids),):  # before there is any memory for so many arms
        raise ValueError(f"pulls must be those of {len(ids)} arms, got {arrays['pulls'].size}")
    entries = len(arrays["history"]) if rule.history else 0
    if "prior" in arrays and settings.prior is not None:
        raise ValueError("prior must be one for all arms or one for each, got both")
    pending_for = settings.pending_for
    if pending_for is not None and arrays["ring"].shape != (young.words(pending_for),):
        raise ValueError(f"ring must be that of pending_for={pending_for}, got {arrays['ring'].size} words")
    memory = new_memory(
        rule,
        np.ones(4, np.uint64),
        engine,
        priors="prior" in arrays,
        entries=entries,
        pending_for=pending_for,
    )
    now = memory.state
    now.count[state.ENGINE] = ENGINES.index(engine)
    _fill_arrays(now, arrays, _fields(now, rule, engine), version)
    _fill_numbers(now, header["numbers"], version)
    sound.check(sound.Facts(rule, engine, now, settings.t, bounds))
    derived.rebuild(rule, memory)
    return policy, ids, memory, settings


def _fields(now: State, rule: Rule, engine: str) -> list[str]:
    """The arrays that a file has."""
    apart = derived.names(rule, engine) | {field for field, _ in NUMBERS.values()}
    return [name for name in COLUMNS if name not in apart and getattr(now, name).size]


def _numbers(now: State) -> dict[str, tuple[str, int]]:
    """The single numbers that a file has."""
    return {name: (field, place) for name, (field, place) in NUMBERS.items() if getattr(now, field).size}


def _match(what: str, found: Mapping[str, Any], expected: list[str], version: int) -> list[str]:
    """The expected names that are there. All must be, but for those that are newer than the file."""
    for name in found:
        if name not in expected:
            raise ValueError(f"{what} has an entry {checks.shown(name)}, which this version does not know")
    missing = [name for name in expected if name not in found]
    for name in missing:
        if ADDED.get(name, 0) <= version:
            raise ValueError(f"{what} has no entry {name!r}")
    return [name for name in expected if name in found]


def _fill_arrays(now: State, arrays: storage.Arrays, fields: list[str], version: int) -> None:
    for name in _match("the state", arrays, fields, version):
        field, array = getattr(now, name), arrays[name]
        if (array.dtype, array.shape) != (field.dtype, field.shape):
            right, found = (f"{each.dtype} of shape {each.shape}" for each in (field, array))
            raise ValueError(f"{name} must be {right}, got {found}")
        field[:] = array


def _fill_numbers(now: State, numbers: dict[str, Any], version: int) -> None:
    expected = _numbers(now)
    for name in _match("numbers", numbers, list(expected), version):
        field, place = expected[name]
        if getattr(now, field).dtype == np.int64:
            numbers[name] = checks.integer(name, numbers[name], -(2**63), 2**63 - 1)
        elif type(numbers[name]) is not float:
            raise TypeError(f"{name} must be a float, got {checks.shown(numbers[name])}")
        getattr(now, field)[place] = numbers[name]


def _read_settings(
    table: dict[str, Any], policy: Policy, version: int
) -> tuple[Settings, tuple[float, float]]:
    """The settings, and between which numbers rewards are, in the unit of the policy."""
    names = _match("settings", table, list(Settings._fields), version)
    settings = Settings(**{name: table[name] for name in names})
    rewards = Rewards(policy, settings.reward_range)
    low, high = (0.0, 1.0) if rewards.range else (-FAR, FAR)
    if policy.rewards == "non-negative":
        low, high = 0.0, FAR
    horizon = checks.integer("horizon", settings.horizon, at_least=1, at_most=checks.COUNT)
    t = checks.integer("t", settings.t, at_least=0, at_most=checks.COUNT)
    before = checks.integer("before", settings.before, at_least=0, at_most=t)
    guessed = checks.flag("guessed", settings.guessed)
    if guessed > policy.needs_horizon or guessed < getattr(policy, "anytime", False):
        raise ValueError(f"guessed must be {not guessed} for {policy!r}, got {guessed}")
    pending_for = settings.pending_for
    if pending_for is not None:
        pending_for = checks.integer("pending_for", pending_for, at_least=0, at_most=MOST)
    prior: Any = settings.prior
    if prior is not None:
        if type(prior) is not list or len(prior) != 2:
            raise TypeError(f"prior must be None or (mean, weight), got {checks.shown(prior)}")
        prior = checks.number("prior mean", prior[0]), checks.positive("prior weight", prior[1])
        if not low <= prior[0] <= high:
            raise ValueError(f"prior mean must be from {low} to {high}, got {prior[0]}")
    settings = settings._replace(
        reward_range=rewards.range, prior=prior, horizon=horizon, guessed=guessed, before=before, t=t,
        pending_for=pending_for,
    )  # fmt: skip
    return settings, (low, high)


def _is_ours(policy: Policy) -> bool:
    """Whether a policy, and one inside it, is of thrifty itself."""
    inside = [value for value in vars(policy).values() if isinstance(value, Policy)]
    return POLICIES.get(type(policy).__name__) is type(policy) and all(map(_is_ours, inside))


def _pack(ids: Ids) -> NDArray[np.uint8]:
    """The ids as JSON: their number, or a list of texts and integers."""
    names: Any = ids.plain or ids.names()
    for name in () if ids.plain else names:
        if type(name) not in (str, int):
            raise InvalidType(f"ids must be texts or integers to be saved, got {name!r}")
    return np.frombuffer(json.dumps(names).encode(), np.uint8)


def _unpack(packed: NDArray[Any]) -> Ids:
    names = json.loads(packed.tobytes())
    if type(names) is not int and (type(names) is not list or not set(map(type, names)) <= {str, int}):
        raise TypeError("ids must be a number, or a list of texts and integers")
    return Ids(names)


def _digest(header: dict[str, Any], arrays: storage.Arrays) -> str:
    """Of everything in the file, so that a change shows."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape} {zlib.crc32(array.data)}".encode())
    return digest.hexdigest()
