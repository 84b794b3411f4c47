"""A bandit in a file: a JSON header and the block of its state as it is. No pickle, versioned, atomic."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty import storage
from thrifty.engines import ENGINES
from thrifty.engines.state import ARMS, Memory, begins, layout, layout_version
from thrifty.errors import FileError, InvalidType, ThriftyError
from thrifty.online.core import Core
from thrifty.online.ids import Ids
from thrifty.online.posterior import PosteriorCore
from thrifty.policies import POLICIES, Policy, described, restored

KIND = "bandit"
WHAT = "snapshot of a bandit"


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
    header: dict[str, Any] = {
        "kind": KIND,
        "layout": layout_version(),
        "policy": described(policy),
        "engine": core.engine,
        "priors": core.has_priors,
        "room": core.memory.room,
        "entries": len(core.memory.state.history),
        "settings": settings._asdict(),
    }
    arrays: storage.Arrays = {"block": core.memory.block, "ids": _pack(ids)}
    storage.write(target, header | {"digest": _digest(header, arrays)}, arrays, compressed=False)


def load(path: str | os.PathLike[str]) -> tuple[Policy, Ids, Memory, Settings]:
    source = Path(path)
    header, arrays = storage.read(source, WHAT)
    if header.get("kind") != KIND:
        raise FileError(f"{source} is not a {WHAT}")
    if header.get("layout") != layout_version():
        raise FileError(f"{source} was written by another version of thrifty, with other states")
    digest = header.pop("digest", None)
    del header["format"]
    if digest != _digest(header, arrays):
        raise FileError(f"{source} was changed after it was saved: its digest does not fit")
    try:
        return _restored(header, **arrays)
    except (KeyError, TypeError, ValueError, ThriftyError) as error:
        raise FileError(f"{source} is not a whole {WHAT}: {error}") from None


def _restored(
    header: dict[str, Any], block: NDArray[Any], ids: NDArray[Any]
) -> tuple[Policy, Ids, Memory, Settings]:
    policy = restored(header["policy"])
    names = Ids(json.loads(ids.tobytes()))
    engine, room = header["engine"], header["room"]
    rule = policy.resolve(len(names), 1)
    settings = Settings(**header["settings"])
    sizes = layout(
        rule,
        engine,
        room,
        priors=header["priors"],
        entries=header["entries"],
        pending_for=settings.pending_for,
    )
    offsets = begins(sizes)
    fits = engine in ENGINES and block.dtype == np.int64 and block.shape == (offsets[-1],)
    if not fits or not len(names) == block[ARMS] <= room:
        raise ValueError("its settings are not those of its data")
    if settings.prior is not None:
        mean, weight = settings.prior
        settings = settings._replace(prior=(mean, weight))
    return policy, names, Memory(block, offsets, room), settings


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


def _digest(header: dict[str, Any], arrays: storage.Arrays) -> str:
    """Of everything in the file, so that a change shows."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
