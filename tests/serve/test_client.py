"""The client against a real server: what it is told, and what it does when the service is away."""

import json
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from tests.support.served import COLOURS, Server, serving
from thrifty.client import Away, Client, Decision, Refused
from thrifty.errors import InvalidCall, InvalidType, InvalidValue

PATIENT = 30.0  # seconds; a test waits for what happens, and not for a time


def shown(client: httpx.Client, name: str = "colours") -> tuple[int, int, int]:
    """Decisions, pulls and pending."""
    found = client.get(f"/v1/experiments/{name}").json()
    return found["decisions"], found["pulls"], found["pending"]


@contextmanager
def colours(folder: Path, **options: Any) -> Iterator[tuple[Server, httpx.Client, Client]]:
    """A server with two arms that a test may kill, and a client that has time."""
    with serving(folder) as (server, http):
        http.put("/v1/experiments/colours", json=COLOURS).raise_for_status()
        options = {"decide_timeout": PATIENT, "reward_timeout": PATIENT, **options}
        with Client(server.url, **options) as client:
            yield server, http, client


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, httpx.Client]]:
    """One for all who let it live."""
    with serving(tmp_path_factory.mktemp("service")) as (server, http):
        yield server, http


@pytest.fixture
def name(service: tuple[Server, httpx.Client], request: pytest.FixtureRequest) -> str:
    """An experiment of the test's own, with two arms."""
    name: str = request.node.name
    service[1].put(f"/v1/experiments/{name}", json=COLOURS).raise_for_status()
    return name


@pytest.fixture
def client(service: tuple[Server, httpx.Client]) -> Iterator[Client]:
    with Client(service[0].url, decide_timeout=PATIENT, reward_timeout=PATIENT) as client:
        yield client


def test_it_loads_neither_numpy_nor_numba_nor_any_other_package() -> None:
    program = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import thrifty, thrifty.client
with thrifty.Client("http://127.0.0.1:9") as client:
    assert client.decide("colours", fallback="red").arm == "red"
assert thrifty.Client is thrifty.client.Client
loaded = {name.partition(".")[0] for name in sys.modules} - before - sys.stdlib_module_names
print(sorted(name for name in loaded if not name.startswith("__")))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "['thrifty']\n"


def test_decisions_and_rewards(service: tuple[Server, httpx.Client], client: Client, name: str) -> None:
    one = client.decide(name)
    assert one.arm in ("red", "green")
    assert client.reward(one, 1.0) == ("counted", "")
    assert client.reward(str(one.id), 1).status == "repeated"
    assert client.reward(one, 0.0).status == "conflict"
    assert client.reward(client.decide(name), 7.0).status == "refused"
    assert client.cancel(client.decide(name, among=["red"])).status == "cancelled"
    assert client.reward("no id", 1.0).status == "unknown"
    many = client.decide(name, count=2500)
    assert {result.status for result in client.reward_many(many, [0.5] * 2500)} == {"counted"}
    assert sorted(decision.arm for decision in client.decide(name, rank=2)) == ["green", "red"]
    assert client.decide(name, exclude=["red"]).arm == "green"
    assert client.reward_many([], []) == []
    assert shown(service[1], name)[:2] == (1 + 1 + 1 + 2500 + 2 + 1, 1 + 2500)


def test_a_key_makes_one_decision(service: tuple[Server, httpx.Client], client: Client, name: str) -> None:
    one = client.decide(name, key="visit 7")
    assert client.decide(name, key="visit 7") == one
    assert client.decide(name, key="visit 8") != one
    assert shown(service[1], name)[0] == 2


def test_names_that_a_path_has_to_quote(service: tuple[Server, httpx.Client]) -> None:
    server, http = service
    definition = {**COLOURS, "arms": ["r/ö?", "g"]}
    http.put("/v1/experiments/a%2Fb%20%C3%BC%3F", json=definition).raise_for_status()
    with Client(server.url + "/", decide_timeout=PATIENT) as client:
        assert client.decide("a/b ü?", among=["r/ö?"]).arm == "r/ö?"


def test_what_the_server_says_is_in_the_error(
    service: tuple[Server, httpx.Client], client: Client, name: str
) -> None:
    with pytest.raises(Refused, match=r"404: there is no experiment 'none' \(request [0-9a-f]+\)") as found:
        client.decide("none")
    assert (found.value.status, found.value.detail) == (404, "there is no experiment 'none'")
    with pytest.raises(Refused, match=r"422: .*blue"):
        client.decide(name, among=["blue"])
    service[1].patch(f"/v1/experiments/{name}", json={"paused": True}).raise_for_status()
    with pytest.raises(Refused, match=r"409: .*paused"):
        client.decide(name)
    assert client.decide(name, fallback="red") == (None, "red", False, None)


def test_rewards_of_an_archived_experiment_are_refused_one_by_one(
    service: tuple[Server, httpx.Client], client: Client, name: str
) -> None:
    made = client.decide(name, count=2)
    service[1].patch(f"/v1/experiments/{name}", json={"archived": True}).raise_for_status()
    assert [result.status for result in client.reward_many(made, [1.0, 0.0])] == ["refused"] * 2
    assert "archived" in client.reward(made[0], 1.0).detail
    assert client.queued == 0


def test_a_fallback_has_no_id_and_its_reward_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with Client("http://127.0.0.1:9") as client:
        with caplog.at_level(logging.WARNING, "thrifty.client"):
            one = client.decide("colours", fallback="red")
            client.decide("colours", fallback="red")
        assert one == Decision(None, "red", False, None)
        assert [record.message[:55] for record in caplog.records] == [
            "fallback: http://127.0.0.1:9 cannot be reached: [Errno "
        ]
        assert client.decide("colours", count=3, fallback="red") == [one] * 3
        ranked = client.decide("colours", rank=2, fallback=["green", "red", "blue"])
        assert [decision.arm for decision in ranked] == ["green", "red"]
        assert client.reward(one, 1.0).status == client.cancel(one).status == "fallback"
        assert client.queued == 0
        with pytest.raises(Away, match=r"^http://127.0.0.1:9 cannot be reached: .*refused"):
            client.decide("colours")


def test_rewards_wait_until_a_killed_server_is_started_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each counts once. Among the clients are one with a small queue, one that is new while the server is
    away, one that gives up, and one that notices nothing."""
    with colours(tmp_path) as (server, _, client):
        url = server.url
        small, idle = Client(url, queue=3), Client(url, decide_timeout=PATIENT)
        made = client.decide("colours", count=60)
        seen = idle.decide("colours")
        assert client.reward(made[0], 1.0).status == "counted"  # and with it all decisions are on disk
        server.kill()
        assert [client.reward(decision, 1.0).status for decision in made[1:20]] == ["queued"] * 19
        assert client.reward_many(made[20:30], [0.0] * 10)[9].status == "queued"
        assert client.decide("colours", fallback="green").id is None
        assert client.queued == 29

        small.reward_many(made[30:32], [1.0, 1.0])
        with pytest.raises(Away, match=r"room for 3 rewards, and 2 wait: these 2 were not taken, and may be"):
            small.reward_many(made[32:34], [1.0, 1.0])
        assert small.reward(made[34], 1.0).status == "queued"
        with pytest.raises(Away, match="and 3 wait"):
            small.cancel(made[35])

        new = Client(url)
        assert new.decide("colours", fallback="red").id is None
        assert new.reward(made[40], 1.0).status == "queued"
        lost = Client(url)
        assert lost.reward(made[50], 1.0).status == "queued"
        assert lost.close(0.1) == 1
        assert "1 rewards were not sent, and are lost" in caplog.text
        assert lost.close() == 0
        with pytest.raises(InvalidCall, match="after it was closed"):
            lost.decide("colours", fallback="red")

        with serving(tmp_path, "--port", url.rpartition(":")[2]) as (_, http):
            assert client.flush(PATIENT) == new.close(PATIENT) == small.close(PATIENT) == 0
            assert shown(http)[:2] == (61, 1 + 29 + 3 + 1)
            assert {result.status for result in client.reward_many(made[:20], [1.0] * 20)} == {"repeated"}
            assert idle.decide("colours") != seen
            idle.close()
            assert shown(http)[:2] == (62, 34)


def test_a_stuck_server_costs_the_time_out_and_what_was_not_shown_is_cancelled(tmp_path: Path) -> None:
    with colours(tmp_path, decide_timeout=0.25, reward_timeout=0.5) as (server, http, client):
        with Client(server.url, decide_timeout=PATIENT) as patient:
            warm = patient.decide("colours")
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            assert client.decide("colours", fallback="red").id is None
            with pytest.raises(Away, match=r"did not answer within 0.25 s"):
                client.decide("colours", count=2)
            assert client.reward(warm, 1.0).status == "queued"
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        assert client.close(PATIENT) == 0
        assert shown(http) == (1 + 1 + 2, 1, 0)


def test_the_time_out_holds_for_a_whole_answer() -> None:
    """One byte now and then is not an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ended = threading.Event()

        def trickle() -> None:
            sock, _ = listening.accept()
            with sock:
                while not ended.wait(0.02):
                    try:
                        sock.send(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        client = Client(f"http://127.0.0.1:{listening.getsockname()[1]}", decide_timeout=0.3)
        start = time.monotonic()
        with pytest.raises(Away, match=r"within 0\.3 s"):
            client.decide("colours", key="mine")
        assert time.monotonic() - start < PATIENT
        ended.set()
        thread.join()
        client.close()


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", Refused, "200: OK, which is not how thrifty"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", Away, "answered, and not as thrifty does"),
        (b"HTTP/1.1 502 Bad\r\nconnection: close\r\n\r\n<p>", Away, "cannot now, 502: Bad, which is not"),
        (b"HTTP/1.1 301 Moved\r\nlocation: /\r\n\r\n", Refused, "301: Moved"),
        (b"nonsense\r\n\r\n", Away, "broke off"),
        (b"", Away, "broke off: Remote end closed"),
    ],
)
def test_what_answers_is_no_service(answer: bytes, error: type[Exception], said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            sock, _ = listening.accept()
            with sock:
                asked = b""
                while not asked.endswith(b"}"):
                    asked += sock.recv(10_000)
                sock.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        client = Client(f"http://127.0.0.1:{listening.getsockname()[1]}", decide_timeout=PATIENT)
        with pytest.raises(error, match=said):
            client.decide("colours", key="mine")
        thread.join()
        client.close()


def test_a_hundred_threads(service: tuple[Server, httpx.Client], client: Client, name: str) -> None:
    ids: list[str | None] = []
    statuses: list[str] = []

    def run() -> None:
        for _ in range(10):
            one = client.decide(name)
            ids.append(one.id)
            statuses.append(client.reward(one, 1.0).status)

    threads = [threading.Thread(target=run) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 1000
    assert set(statuses) == {"counted"}
    assert shown(service[1], name) == (1000, 1000, 0)


FORKING = """
import os, sys, threading
from thrifty.client import Client
url, away, name = sys.argv[1:]
client = Client(url, decide_timeout=30, reward_timeout=30)
lost = Client(away)
one = client.decide(name)
lost.reward(one, 1.0)
assert lost.queued == 1
busy = [threading.Thread(target=lambda: [client.decide(name) for _ in range(20)]) for _ in range(4)]
for thread in busy:
    thread.start()
children = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        assert lost.queued == 0 and lost.close() == 0
        made = client.decide(name, count=10)
        told = client.reward_many(made, [1.0] * 10)
        client.close()
        os._exit(0 if {result.status for result in told} == {"counted"} else 1)
    children.append(child)
for thread in busy:
    thread.join()
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
assert client.reward(one, 1.0).status == "counted"
assert lost.close(0.1) == 1
client.close()
"""


def test_forks(service: tuple[Server, httpx.Client], name: str) -> None:
    server, http = service
    command = [sys.executable, "-c", FORKING, server.url, "http://127.0.0.1:9", name]
    assert subprocess.run(command, timeout=60).returncode == 0
    assert shown(http, name)[:2] == (1 + 80 + 50, 51)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda c: c.decide(3), InvalidType, "experiment must be a text, got 3"),
        (lambda c: c.decide(""), InvalidValue, "experiment must have 1 to 200 characters, got 0"),
        (lambda c: c.decide("\ud800"), InvalidValue, "experiment must be UTF-8"),
        (lambda c: c.decide("a", 0), InvalidValue, "count must be from 1 to 10000, got 0"),
        (lambda c: c.decide("a", True), InvalidType, "count must be an integer, got True"),
        (lambda c: c.decide("a", 1, 1), InvalidValue, "count and rank must not both be given"),
        (lambda c: c.decide("a", rank=1.5), InvalidType, "rank must be an integer, got 1.5"),
        (lambda c: c.decide("a", among="red"), InvalidType, "among must be a list of texts, got 'red'"),
        (lambda c: c.decide("a", exclude=["r", 2]), InvalidType, r"exclude\[1\] must be a text, got 2"),
        (lambda c: c.decide("a", probability=1), InvalidType, "probability must be True or False, got 1"),
        (lambda c: c.decide("a", fallback=["r"]), InvalidType, r"fallback must be a text, got \['r'\]"),
        (lambda c: c.decide("a", rank=2, fallback=[]), InvalidValue, "fallback must have at least one arm"),
        (lambda c: c.decide("a", key=""), InvalidValue, "key must have 1 to 200 characters"),
        (lambda c: c.reward(3, 1.0), InvalidType, "decision must be a Decision or its id, a text, got 3"),
        (lambda c: c.reward("x" * 201, 1.0), InvalidValue, "decision must have 1 to 200 characters, got 201"),
        (lambda c: c.reward("x", True), InvalidType, "reward must be a number, got True"),
        (lambda c: c.reward("x", "1"), InvalidType, "reward must be a number, got '1'"),
        (lambda c: c.reward("x", float("nan")), InvalidValue, "reward must be finite, got nan"),
        (lambda c: c.reward("x", 10**5000), InvalidValue, "reward must be finite, got a huge int"),
        (lambda c: c.reward_many(["x"], []), InvalidValue, "must be equally many, got 1 and 0"),
        (lambda c: c.reward_many(["x", 1], [1, 1]), InvalidType, r"decisions\[1\] must be a Decision"),
        (lambda c: c.reward_many(["x", "y"], [1, None]), InvalidType, r"rewards\[1\] must be a number"),
        (lambda c: c.reward_many("xy", [1, 1]), InvalidType, "decisions must be a list, got 'xy'"),
        (lambda c: c.flush(0), InvalidValue, "timeout must be above 0, got 0"),
        (lambda c: Client(1), InvalidType, "url must be a text, got 1"),
        (lambda c: Client("127.0.0.1:8642"), InvalidValue, "url must be such as http://127.0.0.1:8642, got"),
        (lambda c: Client("http://h:99999"), InvalidValue, "url must be such as"),
        (lambda c: Client("http://h", key=b"k"), InvalidType, "key must be a text or None, got bytes"),
        (lambda c: Client("http://h", key="a\nb: c"), InvalidValue, "key must be as thrifty keys create"),
        (lambda c: Client("http://h", decide_timeout=0), InvalidValue, "decide_timeout must be above 0"),
        (lambda c: Client("http://h", reward_timeout="1"), InvalidType, "reward_timeout must be a number"),
        (lambda c: Client("http://h", queue=0), InvalidValue, "queue must be from 1 to 1000000000, got 0"),
    ],
)
def test_bad_input_is_refused_by_name(call: Callable[[Any], Any], error: type[Exception], said: str) -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(error, match=f"^.*{said}"):
        call(client)
    assert client.queued == 0


class Small(BaseHTTPRequestHandler):
    """Something in between that lets no more than two rewards through, and none of one decision."""

    took: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        rewards = json.loads(self.rfile.read(int(self.headers["content-length"])))["rewards"]
        decisions = [one["decision"] for one in rewards]
        fine = len(rewards) <= 2 and "bad" not in decisions
        if fine:
            self.took.extend(decisions)
        results = [{"status": "counted", "detail": ""} for _ in rewards]
        body = json.dumps({"results": results} if fine else {"detail": "too large"}).encode()
        self.send_response(200 if fine else 413)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def test_a_batch_that_is_too_large_is_sent_in_parts(caplog: pytest.LogCaptureFixture) -> None:
    with HTTPServer(("127.0.0.1", 0), Small, bind_and_activate=False) as server:
        server.server_bind()
        client = Client(f"http://127.0.0.1:{server.server_port}")
        names = ["a", "b", "bad", "c", "d", "e"]
        assert client.reward_many(names, [1.0] * 6)[5].status == "queued"  # nobody listens yet
        server.server_activate()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        assert client.close(PATIENT) == 0
        server.shutdown()
        thread.join()
    assert Small.took == ["a", "b", "c", "d", "e"]
    assert "a reward was refused, and is lost: 413: too large" in caplog.text


def test_what_speaks_no_tls_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            sock, _ = listening.accept()
            with sock:
                sock.recv(10_000)
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        client = Client(f"https://127.0.0.1:{listening.getsockname()[1]}", decide_timeout=PATIENT)
        with client, pytest.raises(Away, match=r"cannot be reached: \[SSL"):
            client.decide("colours")
        thread.join()


@pytest.mark.slow
def test_each_reward_counts_once_however_often_the_server_is_killed(tmp_path: Path) -> None:
    """Threads decide and reward through one client while the server is killed again and again."""
    rng = random.Random(1)
    told: list[str] = []
    over = threading.Event()
    with serving(tmp_path) as (server, http):
        http.put("/v1/experiments/colours", json=COLOURS).raise_for_status()
        client = Client(server.url, decide_timeout=1.0, reward_timeout=2.0)

        def run() -> None:
            while not over.is_set():
                one = client.decide("colours", fallback="red")
                if client.reward(one, 1.0).status != "fallback":
                    told.append(str(one.id))
                time.sleep(0.002)

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.kill()
    options = ("--port", server.url.rpartition(":")[2])
    for _ in range(19):
        with serving(tmp_path, *options) as (server, _):
            time.sleep(rng.uniform(0.1, 1.0))
            server.kill()
    with serving(tmp_path, *options) as (_, http):
        time.sleep(0.5)
        over.set()
        for thread in threads:
            thread.join()
        assert client.close(PATIENT) == 0
        assert len(told) == len(set(told)) > 100
        assert shown(http)[1] == len(told)


def test_a_reward_under_way_when_the_client_is_closed_is_not_queued() -> None:
    """Nobody would send it."""
    with socket.socket() as silent:  # it takes connections, and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        client, said = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", reward_timeout=0.5), []

        def tell() -> None:
            with pytest.raises(Away, match="closed meanwhile: these 1 were not taken") as error:
                client.reward("an id", 1.0)
            said.append(error.value)

        thread = threading.Thread(target=tell)
        thread.start()
        with silent.accept()[0]:
            assert client.close(0.01) == 0
            thread.join()
        assert (len(said), client.queued) == (1, 0)
