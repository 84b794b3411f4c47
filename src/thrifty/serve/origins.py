"""Scripts of which web pages may ask (CORS). Without a list, none: a browser then keeps answers from them.

No cookie counts here: whoever asks from another page needs a key, and sends it in a header.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware

from thrifty.errors import InvalidValue

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
HEADERS = ("authorization", "content-type")


def shared(app: Any, origins: Sequence[str]) -> Any:
    """The same application, for scripts of pages of these origins too."""
    for origin in origins:
        _check(origin)
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=list(origins),
        allow_methods=METHODS,
        allow_headers=HEADERS,
        expose_headers=["x-request-id", "retry-after"],
    )


def _check(origin: str) -> None:
    """What a browser sends: a scheme, a host in small letters, and a port if it is not the usual one."""
    parts = urlsplit(origin)
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme)
    if usual is None or origin != f"{parts.scheme}://{parts.netloc.lower()}" or origin.endswith(usual):
        raise InvalidValue(
            f"origins must be such as https://shop.example or http://localhost:8000, got {origin!r}"
        )
