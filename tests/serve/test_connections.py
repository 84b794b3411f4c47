"""More connections than there may be are told so; and requests are logged if that is asked for."""

import re
import resource
import socket
import time
from contextlib import ExitStack
from pathlib import Path

from tests.support.served import COLOURS, serving
from thrifty.serve.run import CONNECTIONS


def test_connections_beyond_the_limit_get_503(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * CONNECTIONS + 500)), hard))
    with serving(tmp_path) as (server, client), ExitStack() as opened:
        client.put("/v1/experiments/colours", json=COLOURS)
        made = client.post("/v1/experiments/colours/decisions", json={}).json()["decisions"][0]
        port = int(server.url.rpartition(":")[2])
        others = [
            opened.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(CONNECTIONS)
        ]
        for _ in range(600):  # until all are accepted
            if client.get("/readyz").status_code == 503:
                break
            time.sleep(0.02)
        assert [client.get("/readyz").status_code for _ in range(3)] == [503] * 3  # each a new connection
        others[0].sendall(b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert others[0].recv(1000).startswith(b"HTTP/1.1 503")  # and it is closed: one less
        assert client.get("/readyz").status_code == 503
        others[1].close()
        server.wait(client)
        sent = {"rewards": [{"decision": made["id"], "reward": 1.0}]}
        assert client.post("/v1/rewards", json=sent).json()["results"][0]["status"] == "counted"


def test_requests_are_logged_if_that_is_asked_for(tmp_path: Path) -> None:
    """With the id that the answer has, and without headers, queries and bodies."""
    for options in ([], ["--log-requests"]):
        file = tmp_path / f"said{len(options)}"
        with file.open("w") as stderr, serving(tmp_path, *options, stderr=stderr) as (server, client):
            client.put("/v1/experiments/colours", json=COLOURS)
            client.post("/v1/experiments/colours/decisions", json={"key": "secret 1"})
            client.get("/v1/experiments?after=secret2", headers={"authorization": "Bearer secret 3"})
            wrong = client.get("/v1/experiments/a%2Fb%0Ac")
            server.stop()
        said = file.read_text()
        lines = re.findall(r"(GET|POST|PUT) '(\S+)': (\d+) in [\d.]+ ms ?(\w*)", said)
        assert "secret" not in said
        if not options:
            assert lines == []
            continue
        assert [line for line in lines if line[1] != "/readyz"] == [
            ("PUT", "/v1/experiments/colours", "200", ""),
            ("POST", "/v1/experiments/colours/decisions", "200", ""),
            ("GET", "/v1/experiments", "200", ""),
            ("GET", "/v1/experiments/a%2Fb%0Ac", "404", wrong.headers["x-request-id"]),
        ]
