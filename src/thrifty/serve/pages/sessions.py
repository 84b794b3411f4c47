"""Who looks at the pages. A key is exchanged for a session, whose number lies in a cookie.

Sessions are in memory: a restart ends them, and so does revoking their key, since each request asks whether
that still holds. Where no key was ever made nobody signs in, and the cookie is there for forms alone.

A form carries a token that only somebody who was shown it can know: an HMAC of the cookie. So another site
that makes a browser send a form, which sends the cookie too, is refused.
"""

import secrets
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest, digest
from time import monotonic
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from thrifty.serve.bodies import Refused
from thrifty.serve.keys import ADMIN, READ, Door, Key, Unknown, check
from thrifty.serve.service import LOCAL

HOURS = 12
MOST = 1000  # sessions; the oldest make room


class Visitor(NamedTuple):
    """Who asks: the cookie, and the name of his key. ``is_new``: the cookie is to be set."""

    cookie: str
    is_new: bool
    name: str | None  # None: he has not signed in
    admin: bool
    key: int | None  # None: no key was ever made


class Sessions:
    """Sessions of one process."""

    def __init__(self, door: Callable[[], Door]) -> None:
        self._door = door  # as it is now
        self._secret = secrets.token_bytes(32)
        self._known: dict[str, tuple[int, float]] = {}  # cookie: number of its key, end; the oldest first

    def visitor(self, request: Request) -> Visitor:
        """Who asks."""
        cookie = request.cookies.get(_cookie_name(request), "")
        is_new = not (20 <= len(cookie) <= 100 and cookie.isascii())
        if is_new:
            cookie = secrets.token_urlsafe(32)
        if self._door().is_open:
            return Visitor(cookie, is_new, LOCAL, True, None)
        key = self._key(cookie)
        if key is None:
            return Visitor(cookie, is_new, None, False, None)
        return Visitor(cookie, is_new, key.name, ADMIN in key.scopes, key.id)

    def _key(self, cookie: str) -> Key | None:
        number, end = self._known.get(cookie, (0, 0.0))
        key = self._door().get(number) if monotonic() < end else None
        if key is None:
            self._known.pop(cookie, None)
        return key

    def begin(self, text: str) -> str:
        """A session for a key that may read; its cookie is a new one."""
        key = self._door().find(text.strip())
        if key is None:
            raise Unknown("this is no key that holds")
        check(key, READ)
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        cookie = secrets.token_urlsafe(32)
        self._known[cookie] = (key.id, monotonic() + HOURS * 3600)
        return cookie

    def end(self, cookie: str) -> None:
        self._known.pop(cookie, None)

    def token(self, visitor: Visitor) -> str:
        """What forms carry that are shown to this visitor."""
        return digest(self._secret, visitor.cookie.encode(), sha256).hex()

    def check_form(self, request: Request, visitor: Visitor, token: str) -> None:
        """Whether a form was sent from a page that this visitor was shown."""
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            raise Refused(403, f"a form must come from a page of this server, got one from {origin[:200]!r}")
        if visitor.is_new or not compare_digest(self.token(visitor).encode(), token.encode()):
            raise Refused(403, "this form is not of a page that you were shown: open the page again")


def set_cookie(request: Request, response: Response, cookie: str) -> None:
    """The cookie of a visitor, or none if it is empty."""
    response.set_cookie(
        _cookie_name(request),
        cookie,
        max_age=HOURS * 3600 if cookie else 0,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _cookie_name(request: Request) -> str:
    """Cookies do not know ports, and two services on one machine should not sign each other out."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"thrifty-{port if port.isdecimal() else request.scope['scheme']}"
