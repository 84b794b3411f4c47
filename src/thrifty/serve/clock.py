"""The time, in microseconds since 1970: it never goes back in a stream."""

import time
from datetime import UTC, datetime

SECOND = 10**6


class Clock:
    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        self._last = max(self._last, time.time_ns() // 1000)
        return self._last


def moment(time: int) -> str:
    """A time as it is written: RFC 3339 in UTC."""
    return (
        datetime.fromtimestamp(time / SECOND, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    )
