"""What went wrong, and what is answered then."""

import logging
import re
import secrets
import time

import msgspec

from thrifty.errors import InvalidCall, InvalidType, InvalidValue, ThriftyError
from thrifty.serve.bodies import Refused
from thrifty.serve.keys import Forbidden, Unknown
from thrifty.serve.log import Away, Full
from thrifty.serve.messages import Problem
from thrifty.serve.service import Conflict, Missing, Unready

LOGGER = logging.getLogger("thrifty.serve")
LINES = 100  # of requests that were refused, in a second
TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    421: "Misdirected request",
    422: "Invalid value",
    500: "Fault",
    503: "Unavailable",
}
FIELD = re.compile(r"([a-z_]+(?:[.\[][\w\]]+)*) must ")  # as errors of ours begin
INNER = re.compile(r"Object (?:contains unknown|missing required) field `(.*)`")  # and those of msgspec
HEADERS = {401: {"www-authenticate": "Bearer"}, 503: {"retry-after": "1"}}
STATUS: dict[type[Exception], int] = {
    Unknown: 401,
    Forbidden: 403,
    Missing: 404,
    Conflict: 409,
    Unready: 503,
    Away: 503,
    Full: 503,
    InvalidCall: 400,
    InvalidValue: 422,
    InvalidType: 422,
    msgspec.ValidationError: 422,
    msgspec.DecodeError: 400,
    UnicodeDecodeError: 400,  # of a text in a body
    RecursionError: 400,
}


class Sparing:
    """Lines of the log, but not too many in a second: no client fills a disk with them."""

    def __init__(self) -> None:
        self._second = self._lines = 0

    def log(self, text: str, *values: object) -> None:
        second = int(time.monotonic())
        self._lines = self._lines + 1 if second == self._second else 1
        self._second = second
        if self._lines <= LINES:
            LOGGER.info(text, *values)


_REFUSALS = Sparing()


def problem_of(error: Exception) -> Problem:
    """Problem details (RFC 9457). Its id is in the log, which says more of a fault."""
    kind = next((known for known in type(error).__mro__ if known in STATUS), None)
    status = error.status if isinstance(error, Refused) else STATUS.get(kind, 500) if kind else 500
    number = secrets.token_hex(8)
    detail, field = str(error), ""
    if isinstance(error, msgspec.ValidationError):
        said, _, at = detail.partition(" - at ")
        field = at.strip("`").removeprefix("$").removeprefix(".")
        detail = f"{field}: {said}" if field else said
        if inner := INNER.fullmatch(said):
            field = f"{field}.{inner[1]}" if field else inner[1]
    elif isinstance(error, RecursionError):
        detail = "a body must be nested less deeply"
    elif named := FIELD.match(detail):
        field = named[1]
    if status == 500:
        LOGGER.error("request %s: %s", number, error, exc_info=error)
        if not isinstance(error, ThriftyError):
            detail = "a fault of the service: its log says more"
    else:
        _REFUSALS.log("request %s: %d %r", number, status, detail)
    return Problem(TITLES[status], status, detail, number, field)


def headers_of(problem: Problem) -> dict[str, str]:
    """The headers of an answer that says so."""
    return {"x-request-id": problem.request_id} | HEADERS.get(problem.status, {})
