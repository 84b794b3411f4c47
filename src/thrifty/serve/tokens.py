"""Ids of decisions: signed tokens that say all that a reward needs. Signed, not secret.

An id is 59 bytes that are packed as below and a keyed digest of 16, in base64 without padding: 75 bytes have
one spelling, and what decodes to the same bytes but is written otherwise is refused.
"""

import binascii
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import blake2b
from hmac import compare_digest
from math import isnan, nan
from typing import NamedTuple

VERSION = 1
LAYOUT = struct.Struct(">BBQIIQQQQdB")  # version, key, and the fields of a token in their order
DIGEST = 16
LENGTH = 100  # characters
SECRET = 32  # bytes


class Token(NamedTuple):
    """What an id says."""

    experiment: int  # its random number
    arm: int  # its serial, which is never reused
    named: int  # a checksum of its name: a store that was restored may give out a serial again
    start: int  # a random number, drawn at every start of a process
    number: int  # of the decision, in this start
    decided: int  # microseconds since 1970
    due: int  # its window closes
    probability: float | None
    control: bool


class Signer:
    """Writes and reads ids. ``secrets`` has those that hold, by their numbers; the last one signs."""

    def __init__(self, secrets: Mapping[int, bytes]) -> None:
        self._secrets = dict(secrets)
        self._key, self._secret = list(self._secrets.items())[-1]

    def write(self, token: Token) -> str:
        experiment, arm, named, start, number, decided, due, probability, control = token
        chance = nan if probability is None else probability
        data = LAYOUT.pack(
            VERSION, self._key, experiment, arm, named, start, number, decided, due, chance, int(control)
        )
        return urlsafe_b64encode(data + _digest(data, self._secret)).decode()

    def read(self, text: str) -> Token | None:
        """What a text says, if we wrote it."""
        if len(text) != LENGTH or not text.isascii():
            return None
        try:
            raw = urlsafe_b64decode(text)
        except binascii.Error:
            return None
        if urlsafe_b64encode(raw).decode() != text:  # another spelling of the same bytes
            return None
        data = raw[:-DIGEST]
        version, key, *fields, chance, control = LAYOUT.unpack(data)
        secret = self._secrets.get(key)
        if version != VERSION or secret is None or not compare_digest(raw[-DIGEST:], _digest(data, secret)):
            return None
        probability = None if isnan(chance) else chance
        experiment, arm, named, start, number, decided, due = fields
        return Token(experiment, arm, named, start, number, decided, due, probability, bool(control))


def _digest(data: bytes, secret: bytes) -> bytes:
    return blake2b(data, key=secret, digest_size=DIGEST).digest()
