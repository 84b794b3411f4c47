"""Settings of the server: each is a flag, a variable THRIFTY_... and a key of a TOML file, in this order."""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from thrifty.errors import FileError, InvalidValue
from thrifty.serve.tokens import SECRET

PREFIX = "THRIFTY_"
LISTS = ("hosts", "origins", "policies")  # separated by commas, where they are one text


class Settings(Struct, forbid_unknown_fields=True, frozen=True):
    """What can be set, and what it is if nothing is said."""

    store: str = "sqlite:///thrifty.db"
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8642
    secret: str = ""  # 64 hexadecimal digits that sign ids; without them, a secret in the store does
    hosts: list[str] = []  # other names by which it is asked for; "*" for any
    origins: list[str] = []  # of web pages whose scripts may ask, as https://shop.example
    policies: list[str] = []  # of the operator's own, as module:Class
    log_requests: bool = False  # whether each request is a line on standard error


def secret_of(settings: Settings) -> bytes | None:
    """The secret that was set. An error does not show it."""
    if not settings.secret:
        return None
    try:
        found = bytes.fromhex(settings.secret)
    except ValueError:
        found = b""
    if len(found) != SECRET:
        raise InvalidValue(f"secret must be {2 * SECRET} hexadecimal digits")
    return found


def read(
    flags: Mapping[str, Any], file: Path | None, environment: Mapping[str, str] | None = None
) -> Settings:
    """The settings; a flag that is None was not given."""
    variables = os.environ if environment is None else environment
    named: dict[str, Any] = {
        key.removeprefix(PREFIX).lower(): value for key, value in variables.items() if key.startswith(PREFIX)
    }
    for name in LISTS:
        if isinstance(named.get(name), str):
            named[name] = [part.strip() for part in named[name].split(",") if part.strip()]
    given = {name: value for name, value in flags.items() if value is not None}
    found = _table(file) if file is not None else {}
    fields = Settings.__struct_fields__
    _check_names(found, fields, f"{file}: ")
    _check_names((key for key in variables if key.startswith(PREFIX)), [PREFIX + f.upper() for f in fields])
    try:
        msgspec.convert(found, Settings)
        return msgspec.convert({**found, **named, **given}, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"settings: {error}") from None


def _check_names(names: Iterable[str], known: Sequence[str], where: str = "") -> None:
    for name in names:
        if name not in known:
            raise InvalidValue(f"{where}{name} must be one of {', '.join(known)}")


def _table(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{file} is not TOML: {error}") from None
