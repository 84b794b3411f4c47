"""A bandit in a file: a JSON header and its arrays by name. No pickle, checked, atomic.

The header says which components the state has, each with its version. A component that is new in a later
version of thrifty gets what it starts with when an older file is loaded; what is unknown, or newer, is
refused by name. A file never makes us import anything: the program has to know a policy of the user's own.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty import checks, storage
from thrifty.engines import ENGINES
from thrifty.engines.memory import COMPONENTS, Memory, roomy
from thrifty.errors import FileError, InvalidType, ThriftyError
from thrifty.online import ledger_arrays, sound, version_0_1_0
from thrifty.online.core import Core, check_told, core_of
from thrifty.online.ids import MOST, Ids
from thrifty.online.ledger import Ledger
from thrifty.online.posterior import PosteriorCore
from thrifty.online.rewards import Rewards
from thrifty.online.shares import Shares
from thrifty.policies import Policy, check_class, check_forgets, checked, described, restored
from thrifty.policies.program import program
from thrifty.state import young
from thrifty.state.fading import FADING

KIND = "bandit"
VERSION = 2  # of the header; 1 is thrifty 0.1.0's, see there

FAR = 1.001 * checks.LARGEST  # rewards are no larger, whatever was rounded

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
    control: float = 0.0
    control_arm: Hashable = None
    floor: float = 0.0
    burn_in: int = 0


class Whole(NamedTuple):
    """All that a file has of a bandit."""

    policy: Policy
    ids: Ids
    core: Core | PosteriorCore
    settings: Settings
    ledger: Ledger


def save(path: str | os.PathLike[str], bandit: Whole) -> None:
    policy, ids, core, settings, ledger = bandit
    target = Path(path)
    if target.suffix != ".npz":
        raise FileError(f"a snapshot must be a .npz file, got {target}")
    if not isinstance(core, Core):
        raise InvalidType(f"a posterior of your own cannot be saved, got {policy!r}")
    header: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "policy": described(policy),
        "engine": core.engine,
        "settings": settings._asdict(),
        "components": {part.name: part.version for part in core.memory.components if _saved(part)},
    }
    arrays = {"ids": _pack(ids)} | ledger_arrays.pack(ledger, ids)
    for part in core.memory.components:
        arrays |= {name: core.memory.field(name) for name in _saved(part)}
    storage.write(target, header | {"digest": _digest(header, arrays)}, arrays, compressed=False)


def _saved(component: Any) -> list[str]:
    """The fields of a component that a file has."""
    return [field.name for field in component.fields if field.saved]


def load(path: str | os.PathLike[str], policies: Iterable[type] = ()) -> Whole:
    source = Path(path)
    if not isinstance(policies, Iterable):
        raise InvalidType(f"policies must be a list of classes, got {checks.shown(policies)}")
    policies = tuple(policies)
    for i, kind in enumerate(policies):
        check_class(f"policies[{i}]", kind)
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
            return _restored(header, arrays, policies)
    except IMPOSSIBLE as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
        raise FileError(f"{source} is not a whole {storage.KINDS[KIND]}: {reason}") from None


def _restored(header: dict[str, Any], arrays: storage.Arrays, policies: Iterable[type]) -> Whole:
    parts = {"policy": dict, "engine": str, "settings": dict, "components": dict}
    _match("header", header, [*parts, "kind", "version"])
    for name, kind in parts.items():
        if type(header[name]) is not kind:
            raise TypeError(f"{name} must be a {kind.__name__}, got {checks.shown(header[name])}")
    policy = checked("policy", restored(header["policy"], policies))
    ids = _unpack(arrays.pop("ids"))
    settings, bounds = _read_settings(header["settings"], policy)
    shares = Shares(settings.control, settings.control_arm, settings.floor, ids)
    engine = policy.engine_for(len(ids), checks.choice("engine", header["engine"], ENGINES))
    mean, weight = settings.prior or (0.0, 0.0)
    rule = policy.resolve(len(ids), settings.horizon)._replace(prior_mean=mean, prior_weight=weight)
    rule = rule._replace(burn_in=settings.burn_in)
    if arrays["pulls"].shape != (len(ids),):  # before there is any memory for so many arms
        raise ValueError(f"pulls must be those of {len(ids)} arms, got {arrays['pulls'].size}")
    if "prior" in arrays and settings.prior is not None:
        raise ValueError("prior must be one for all arms or one for each, got both")
    sizes = {"history": len(arrays["history"]) if policy.keeps_rewards else 0}
    playing = program(policy, engine)
    beside = playing.online
    if settings.pending_for is not None:
        beside = (*beside, young.YOUNG)
        sizes["ring"] = young.words(settings.pending_for)
        if arrays["ring"].shape != (sizes["ring"],):
            raise ValueError(
                f"ring must be that of pending_for={settings.pending_for}, got {arrays['ring'].size} words"
            )
    if FADING.name in header["components"]:
        check_forgets(policy)
        beside = (*beside, FADING)
    policy.check_prior(given=settings.prior is not None or "prior" in arrays)
    priors = np.ones((len(ids), 2)) if "prior" in arrays else None
    memory = playing.memory(rule, np.ones(4, np.uint64), priors, beside, sizes, roomy(rule.arms))
    kept = {name: arrays.pop(name) for name in ledger_arrays.NAMES if name in arrays}
    _fill(memory, header["components"], arrays)
    ledger = ledger_arrays.unpack(kept, ids, shares, bounds)
    memory.field("tokens")[:] = ledger.counts(ids)
    facts = sound.Facts(policy.played, rule, engine, memory.state, settings.t, bounds)
    memory.field("waiting")[0] = np.count_nonzero(~sound.has_law(facts))
    sound.check(facts)
    if (memory.field("tokens") > memory.field("pending")[:, 0]).any():
        raise ValueError("open_rows must be of arms with as many pending pulls")
    check_told(playing.policy)
    core = core_of(playing, memory, engine)
    core.restore()
    return Whole(policy, ids, core, settings, ledger)


def _match(
    what: str, found: Mapping[str, Any], expected: Sequence[str], optional: Container[str] = ()
) -> None:
    """All of these names must be there, but for those that are optional, and no others."""
    for name in found:
        if name not in expected:
            raise ValueError(f"{what} has an entry {checks.shown(name)}, which this version does not know")
    for name in expected:
        if name not in found and name not in optional:
            raise ValueError(f"{what} has no entry {name!r}")


def _fill(memory: Memory, versions: dict[str, Any], arrays: storage.Arrays) -> None:
    """What the file has of each component."""
    there = {part.name: part for part in memory.components}
    for name, version in versions.items():
        if name not in there:
            known = name in {part.name for part in COMPONENTS}
            why = "this bandit does not have" if known else "this version does not know"
            raise ValueError(f"components has an entry {checks.shown(name)}, which {why}")
        if type(version) is not int or not 1 <= version <= there[name].version:
            raise ValueError(f"{name} must be of version {there[name].version} at most, got {version!r}")
    fields = [field for name in versions for field in _saved(there[name])]
    _match("the state", arrays, fields)
    for name in fields:
        field, array = memory.field(name), arrays[name]
        if (array.dtype, array.shape) != (field.dtype, field.shape):
            right, found = (f"{each.dtype} of shape {each.shape}" for each in (field, array))
            raise ValueError(f"{name} must be {right}, got {found}")
        field[:] = array
    memory.resize(memory.field("pulls").size)


def _read_settings(table: dict[str, Any], policy: Policy) -> tuple[Settings, tuple[float, float]]:
    """The settings, and between which numbers rewards are, in the unit of the policy."""
    _match("settings", table, Settings._fields, Settings._field_defaults)
    settings = Settings(**table)
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
    burn_in = checks.integer("burn_in", settings.burn_in, at_least=0, at_most=MOST)
    prior: Any = settings.prior
    if prior is not None:
        if type(prior) is not list or len(prior) != 2:
            raise TypeError(f"prior must be None or (mean, weight), got {checks.shown(prior)}")
        prior = checks.number("prior mean", prior[0]), checks.positive("prior weight", prior[1])
        if not low <= prior[0] <= high:
            raise ValueError(f"prior mean must be from {low} to {high}, got {prior[0]}")
    settings = settings._replace(
        reward_range=rewards.range, prior=prior, horizon=horizon, guessed=guessed, before=before, t=t,
        pending_for=pending_for, burn_in=burn_in,
    )  # fmt: skip
    return settings, (low, high)


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
