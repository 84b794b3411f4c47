"""Keys of clients: kept hashed, with a name and scopes. A key is shown once, when it is made.

Without any key everybody who can reach the service may do everything, and it listens on loopback alone. As
soon as one was made, each request needs one; those that were revoked keep that door closed.
"""

import re
import secrets
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple

import sqlalchemy as sa

from thrifty import checks
from thrifty.errors import InvalidValue
from thrifty.serve.store import Store, keys

DECIDE, REWARD, READ, ADMIN = SCOPES = ("decide", "reward", "read", "admin")  # admin may do everything
NAME = re.compile(r"[\w.-]{1,100}")


class Key(NamedTuple):
    """What is known of a key."""

    id: int
    name: str
    hash: bytes
    scopes: tuple[str, ...]
    created: int
    revoked: int | None


class Unknown(Exception):
    """No key, or none that holds."""


class Forbidden(Exception):
    """A key without the scope that is needed."""


def create(store: Store, name: str, scopes: list[str], now: int) -> str:
    """A new key, as its client sends it."""
    if not NAME.fullmatch(name):
        raise InvalidValue(f"name must be 1 to 100 letters, digits, - _ or ., got {checks.shown(name)}")
    for scope in scopes:
        checks.choice("scope", scope, SCOPES)
    secret = secrets.token_urlsafe(32)
    with store.writing() as connection:
        if connection.execute(sa.select(keys).where(keys.c.name == name)).first() is not None:
            raise InvalidValue(f"name must be a new one, got {checks.shown(name)}, which is or was a key")
        values = {"name": name, "hash": _hash(secret), "scopes": " ".join(scopes), "created": now}
        number = connection.execute(keys.insert().values(**values).returning(keys.c.id)).scalar_one()
    return f"thrifty-{number}-{secret}"


def listed(store: Store) -> list[Key]:
    """All that there are and were."""
    with store.engine.connect() as connection:
        rows = connection.execute(sa.select(keys).order_by(keys.c.id)).all()
    return [
        Key(row.id, row.name, row.hash, tuple(row.scopes.split()), row.created, row.revoked) for row in rows
    ]


def revoke(store: Store, name: str, now: int) -> None:
    with store.writing() as connection:
        here = (keys.c.name == name) & keys.c.revoked.is_(None)
        if connection.execute(keys.update().where(here).values(revoked=now)).rowcount == 0:
            raise InvalidValue(f"name must be that of a key that holds, got {checks.shown(name)}")


class Door:
    """Who may come in."""

    def __init__(self, found: list[Key]) -> None:
        self._keys = {str(key.id): key for key in found}

    @property
    def is_open(self) -> bool:
        """Whether no key was ever made."""
        return not self._keys

    def author(self, header: str | None, scope: str) -> str:
        """The name of the key in a header Authorization, if it may do this."""
        if self.is_open:
            return "local"
        kind, _, text = (header or "").partition(" ")
        key = self.find(text.strip())
        if kind.lower() != "bearer" or key is None:
            raise Unknown("a header Authorization: Bearer KEY is needed, with a key that holds")
        return check(key, scope)

    def find(self, text: str) -> Key | None:
        """The key that a client sends, if it holds."""
        _, number, secret = [*text.split("-", 2), "", "", ""][:3]
        key = self._keys.get(number)
        same = compare_digest(_hash(secret), key.hash if key is not None else b"")
        return key if same and key is not None and key.revoked is None else None

    def get(self, number: int) -> Key | None:
        """The key with this number, if it holds."""
        key = self._keys.get(str(number))
        return key if key is not None and key.revoked is None else None


def check(key: Key, scope: str) -> str:
    """The name of a key, if it has a scope."""
    if scope not in key.scopes and ADMIN not in key.scopes:
        raise Forbidden(f"the key {key.name} must have the scope {scope}, got {', '.join(key.scopes)}")
    return key.name


def _hash(secret: str) -> bytes:
    """A secret has 256 random bits: there is nothing to guess, and no need for a slow hash."""
    return sha256(secret.encode()).digest()
