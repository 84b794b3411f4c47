"""Names in paths, and the hosts that are served."""

from urllib.parse import unquote

from thrifty.errors import InvalidValue
from thrifty.serve.bodies import Refused

Hosts = frozenset[str] | None  # any, with None


def decoded(text: str, part: str) -> str:
    """A name as it was percent-encoded in a path."""
    try:
        name = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidValue(f"{part} must be UTF-8, percent-encoded") from None
    if not 1 <= len(name) <= 200:
        raise InvalidValue(f"{part} must have 1 to 200 characters, got {len(name)}")
    return name


def check_host(header: str, hosts: Hosts) -> None:
    """Whether a header Host names one of those that are served, with a port or without."""
    name, colon, port = header.rpartition(":")
    if hosts is not None and (name if colon and port.isdecimal() else header).lower() not in hosts:
        raise Refused(421, f"the host {header!r} is none of those that are served")
