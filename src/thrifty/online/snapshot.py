"""A bandit in a file: a JSON header and the block of its state as it is. No pickle, versioned, written atomically."""

import dataclasses
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thrifty import storage
from thrifty.engines import ENGINES
from thrifty.engines.state import ARMS, Integers, Memory, begins, layout
from thrifty.errors import FileError, InvalidType, ThriftyError
from thrifty.online.core import Core
from thrifty.online.ids import Ids
from thrifty.online.rewards import Rewards
from thrifty.policies import POLICIES, Policy

if TYPE_CHECKING:
    from thrifty.online.bandit import Bandit

KIND = "bandit"
WHAT = "snapshot of a bandit"


def save(bandit: "Bandit", path: str | os.PathLike[str]) -> None:
    target = Path(path)
    if target.suffix != ".npz":
        raise FileError(f"a snapshot must end in .npz, got {target.name!r}")
    policy, core = bandit._policy, bandit._core
    if type(policy).__name__ not in POLICIES or not isinstance(core, Core):
        raise InvalidType(f"only policies of thrifty itself can be saved, got {policy!r}")
    header = {
        "kind": KIND,
        "policy": {"name": type(policy).__name__} | dataclasses.asdict(policy),
        "engine": core.engine,
        "priors": core.has_priors,
        "room": core.memory.room,
        "prior": bandit._prior,
        "reward_range": bandit._rewards.range,
        "horizon": bandit._horizon,
        "known": bandit._known,
        "seed": bandit._seed,
        "decisions": bandit._t,
    }
    arrays = {"block": core.memory.block, "ids": _pack(bandit._ids)}
    header["digest"] = _digest(header, arrays["block"], arrays["ids"])
    storage.write(target, header, arrays, compressed=False)


def restore(bandit: "Bandit", path: str | os.PathLike[str]) -> None:
    """Fill a blank bandit from a file."""
    source = Path(path)
    header, arrays = storage.read(source, WHAT)
    if header.get("kind") != KIND:
        raise FileError(f"{source} is not a {WHAT}")
    try:
        digest = header.pop("digest")
        header.pop("format")
        block, ids = arrays["block"], arrays["ids"]
        if digest != _digest(header, block, ids):
            raise FileError(f"{source} was changed after it was saved: its digest does not fit")
        fields = dict(header["policy"])
        policy: Policy = POLICIES[fields.pop("name")](**fields)
        bandit._policy = policy
        bandit._ids = _unpack(ids)
        bandit._rewards = Rewards(policy, header["reward_range"])
        bandit._prior = None if header["prior"] is None else tuple(header["prior"])
        bandit._horizon, bandit._known = header["horizon"], header["known"]
        bandit._seed, bandit._t = header["seed"], header["decisions"]
        bandit._one, bandit._reward = np.zeros(1, np.int64), np.zeros(1)
        engine, room = header["engine"], header["room"]
        schedule = bandit._rule().schedule
        offsets = begins(layout(schedule, engine, room, priors=header["priors"]))
        fits = block.dtype == np.int64 and block.shape == (offsets[-1],) and engine in ENGINES
        if not fits or block[ARMS] != len(bandit._ids) or block[ARMS] > room:
            raise FileError(f"{source} does not fit together: its settings are not those of its data")
        bandit._core = Core.restored(policy, Memory(block, offsets, room), engine)
    except FileError:
        raise
    except (KeyError, TypeError, ValueError, ThriftyError) as error:
        raise FileError(f"{source} is not a whole {WHAT}: {error}") from None


def _pack(ids: Ids) -> Any:
    """The ids as JSON: their number, or a list of texts and integers."""
    names: Any = ids.plain or ids.names()
    if not isinstance(names, int):
        for name in names:
            if type(name) not in (str, int):
                raise InvalidType(f"ids must be texts or integers to be saved, got {name!r}")
    return np.frombuffer(json.dumps(names).encode(), np.uint8)


def _unpack(ids: Any) -> Ids:
    return Ids(json.loads(ids.tobytes().decode()))


def _digest(header: dict[str, Any], block: Integers, ids: Any) -> str:
    """Of everything in the file, so that a change shows."""
    sum_ = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    sum_.update(np.ascontiguousarray(block).data)
    sum_.update(np.ascontiguousarray(ids).data)
    return sum_.hexdigest()
