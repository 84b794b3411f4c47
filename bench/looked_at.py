"""What a page costs that somebody has open: the server's processor time at 500 decisions and as many rewards
a second, with pages that ask as a browser does, and without.

    uv run python bench/looked_at.py

Stretches with and without pages take turns, and differences are those of neighbours. Many pages at once make
the difference large against what disturbs the machine; what they could share is made anew for each poll, as
every poll comes after other decisions.
"""

import argparse
import http.client
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from urllib.parse import urlencode, urlsplit

from load import at_a_rate
from service import Server, thrifty

from thrifty.table import aligned

PERIOD = 60.0  # seconds between two looks at the charts


class Visitor:
    """Somebody who has the page of the experiment open, as its scripts ask."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self._seen: dict[str, str] = {}
        self._due = dict.fromkeys(("live", "arms", "charts"), 0.0)
        self.asked = 0

    def look(self, until: float) -> None:
        while (now := time.monotonic()) < until:
            for piece, due in self._due.items():
                if now >= due:
                    self._due[piece] = now + self._ask(piece)
            time.sleep(0.1)

    def _ask(self, piece: str) -> float:
        """Ask for a piece; how long to wait until the next time."""
        query = "" if piece == "charts" else "?" + urlencode({"seen": self._seen.get(piece, "")})
        headers = (
            {"if-none-match": self._seen.get(piece, "")} if piece == "charts" else {"hx-request": "true"}
        )
        connection = http.client.HTTPConnection(self._host)  # between two looks a server closes it
        connection.request("GET", f"/experiments/bench/{piece}{query}", headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status in (200, 204, 304), answer.status
        self.asked += 1
        seen = answer.headers.get("etag") if piece == "charts" else answer.headers.get("x-seen")
        self._seen[piece] = seen or self._seen.get(piece, "")
        return PERIOD if piece == "charts" else float(answer.headers["x-wait"])


def stretch(server: Server, visitors: list[Visitor], rate: float, seconds: float) -> float:
    """Milliseconds of the server's processor time in a second."""
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=visitor.look, args=(until,)) for visitor in visitors]
    before = server.cpu
    for thread in threads:
        thread.start()
    at_a_rate(server.url, rate, 16, seconds)
    for thread in threads:
        thread.join()
    return 1000.0 * (server.cpu - before) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arms", type=int, nargs="+", default=[100, 1_000_000])
    parser.add_argument("--pages", type=int, default=50, help="that are open at once (default: 50)")
    parser.add_argument("--rate", type=float, default=500.0, help="decisions a second (default: 500)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of a stretch (default: 20)")
    parser.add_argument("--repeats", type=int, default=6, help="pairs of stretches (default: 6)")
    parser.add_argument("--core", type=int, default=0, help="of the server (default: 0)")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for arms in options.arms:
            server = thrifty("thrifty", Path(folder), {"name": "TSMA"}, arms, options.core, None)
            try:
                visitors = [Visitor(server.url) for _ in range(options.pages)]
                stretch(server, visitors, options.rate, options.seconds)  # for warming up
                pairs = [
                    [stretch(server, those, options.rate, options.seconds) for those in ([], visitors)]
                    for _ in range(options.repeats)
                ]
            finally:
                server.stop()
            without = median(pair[0] for pair in pairs)
            one = median(pair[1] - pair[0] for pair in pairs) / options.pages
            polls = sum(visitor.asked for visitor in visitors) / options.pages
            rows.append([f"{arms:,}", f"{without:.1f}", f"{one:.2f}", f"{one / without:.1%}", f"{polls:.0f}"])
    heads = ["arms", "without, ms/s", "one page, ms/s", "share", "requests of a page"]
    print(aligned(heads, rows))


if __name__ == "__main__":
    main()
