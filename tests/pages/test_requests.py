"""Pages without a browser: who is let in, where forms come from, what is said when something is wrong."""

import asyncio
import logging
import re
import time
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.support.served import COLOURS, check_memory, decide, made, play, url_of
from thrifty.serve import keys
from thrifty.serve.app import App, create
from thrifty.serve.pages import files, routes, sessions

URL = "/v1/experiments/colours"
PAGE = "/experiments/colours"
CHANGE = f"{PAGE}/change"
COOKIE = "thrifty-http"


def token(page: httpx.Response) -> str:
    """What the forms of a page carry."""
    found = re.search(r'name="token" value="(\w+)"', page.text)
    assert found, page.text
    return found[1]


async def sign_in(client: httpx.AsyncClient, key: str, **more: str) -> httpx.Response:
    form = {"token": token(await client.get("/sign-in")), "key": key, **more}
    return await client.post("/sign-in", data=form)


async def shown(client: httpx.AsyncClient, what: str, **query: str) -> str:
    """The token of the form that asks for a change."""
    return token(await client.get(CHANGE, params={"what": what, **query}))


async def settings(client: httpx.AsyncClient, key: str = "") -> dict[str, Any]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return (await client.get(URL, headers=headers)).json()  # type: ignore[no-any-return]


def test_each_action_does_what_the_api_does_with_the_same_words(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        name = "a/b\n'\"<i>"
        await client.put(URL, json={**COLOURS, "arms": ["red", "green", name]})

        async def do(what: str, **fields: str) -> httpx.Response:
            form = {"token": await shown(client, what, **fields), "what": what, **fields}
            return await client.post(CHANGE, data=form)

        async def arms() -> dict[str, bool]:
            rows = (await client.get(f"{URL}/arms")).json()["arms"]
            return {row["arm"]: row["paused"] for row in rows}

        assert (await do("add", arms="blue\r\n\r\nlight green\r\n")).headers["location"] == PAGE
        assert {*await arms()} == {"red", "green", name, "blue", "light green"}
        quoted = "a%2Fb%0A%27%22%3Ci%3E"
        assert (await do("pause-arm", arm=quoted)).status_code == 303
        assert (await arms())[name]
        assert (await do("resume-arm", arm=quoted)).status_code == 303
        assert not (await arms())[name]
        assert (await do("remove-arm", arm=quoted)).status_code == 303
        assert name not in await arms()
        assert (await do("policy", policy="TSMA", parameters='{"alpha": 0.5}')).status_code == 303
        assert (await settings(client))["policy"]["alpha"] == 0.5
        for what, state in (
            ("pause", (True, False)),
            ("resume", (False, False)),
            ("archive", (False, True)),
            ("restore", (False, False)),
        ):
            assert (await do(what)).status_code == 303
            found = await settings(client)
            assert (found["paused"], found["archived"]) == state
        before, rows = await settings(client), await arms()
        for what, fields, status, said in (
            ("add", {"arms": "red"}, 422, "arms[0] must be a new arm, got 'red' again"),
            ("add", {"arms": " \n"}, 422, "arms"),
            ("add", {"arms": "x" * 201}, 422, "length <= 200"),
            ("remove-arm", {"arm": "none"}, 404, "there is no arm 'none'"),
            ("policy", {"policy": "None"}, 422, "policy.name must be one of"),
            ("policy", {"policy": "TSMA", "parameters": "{"}, 422, "parameters must be JSON"),
            ("policy", {"policy": "TSMA", "parameters": "[1]"}, 422, "parameters must be JSON"),
            ("policy", {"policy": "TSMA", "parameters": '{"alpha": 2}'}, 422, "alpha"),
            ("policy", {"policy": "TSMA", "parameters": '{"beta": 2}'}, 422, "beta"),
            ("policy", {"policy": "DMED"}, 422, "whatever their order"),
        ):
            answer = await do(what, **fields)
            assert answer.status_code == status, (what, fields)
            assert said in unescape(answer.text)
            assert 'class="error"' in answer.text  # beside the form, with what was filled in
        unknown = await client.post(CHANGE, data={"token": await shown(client, "add"), "what": "drop"})
        assert unknown.status_code == 422
        assert (await settings(client), await arms()) == (before, rows)
        lines = (await client.get(f"{URL}/events")).text.splitlines()
        assert [line.count('"author":"local"') for line in lines] == [1] * 10
        await decide(client)
        check_memory(app)

    play(tmp_path, scenario)


def test_a_form_must_come_from_a_page_that_was_shown(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        good = await shown(client, "pause")
        cookie = client.cookies[COOKIE]
        form = {"what": "pause", "token": good}
        refused: list[tuple[dict[str, str], dict[str, str]]] = [
            ({"what": "pause"}, {}),
            ({"what": "pause", "token": ""}, {}),
            ({"what": "pause", "token": "0" * 64}, {}),
            ({"what": "pause", "token": "é" * 64}, {}),
            (form, {"origin": "https://elsewhere.example"}),
            (form, {"origin": "http://127.0.0.1:9999"}),
            (form, {"origin": "null"}),
            (form, {"origin": "http://["}),
            (form, {"origin": "http://127.0.0.1@elsewhere.example"}),
            (form, {"cookie": ""}),
            (form, {"cookie": f"{COOKIE}={'x' * 43}"}),
        ]
        for fields, headers in refused:
            client.cookies.clear()
            answer = await client.post(
                CHANGE, data=fields, headers={"cookie": f"{COOKIE}={cookie}", **headers}
            )
            assert answer.status_code == 403, (fields, headers)
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
        client.cookies.set(COOKIE, cookie, domain="127.0.0.1")
        for content, media, status in (
            (b'{"what": "pause"}', "application/json", 415),
            (b"x" * (routes.FORM + 1), "application/x-www-form-urlencoded", 413),
            (b"&".join([b"a=b"] * 50), "application/x-www-form-urlencoded", 400),
            (b"token=\xff", "application/x-www-form-urlencoded", 400),
        ):
            answer = await client.post(CHANGE, content=content, headers={"content-type": media})
            assert answer.status_code == status
        for method in ("GET", "HEAD"):
            asked = await client.request(method, CHANGE, params=form)
            assert asked.status_code == 200
        assert not (await settings(client))["paused"]
        sent = await client.post(CHANGE, data=form, headers={"origin": "http://127.0.0.1"})
        assert sent.status_code == 303
        assert (await settings(client))["paused"]

    play(tmp_path, scenario)


def test_a_key_is_exchanged_for_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reader, boss = made(tmp_path, "reader", "read"), made(tmp_path, "boss", "admin")
    blind = made(tmp_path, "blind", "decide", "reward")
    caplog.set_level(logging.DEBUG)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS, headers={"authorization": f"Bearer {boss}"})
        assert (await client.get("/")).headers["location"] == "/sign-in?next=%2F"
        assert (await client.get(f"{PAGE}/charts")).status_code == 401
        piece = await client.get(f"{PAGE}/live", headers={"hx-request": "true"})
        assert (piece.status_code, piece.headers["hx-redirect"]) == (401, "/sign-in")
        for wrong, status in (("", 401), ("thrifty-1-x", 401), (f"{boss}x", 401), (blind, 403)):
            answer = await sign_in(client, wrong)
            assert answer.status_code == status
            assert 'class="error"' in answer.text
        assert (await client.get("/")).status_code == 303
        before = client.cookies[COOKIE]
        answer = await sign_in(client, f" {reader} ", next=PAGE)
        assert (answer.status_code, answer.headers["location"]) == (303, PAGE)
        said = answer.headers["set-cookie"].lower()
        assert all(part in said for part in ("httponly", "samesite=strict", "path=/", "max-age=43200"))
        assert "secure" not in said
        assert client.cookies[COOKIE] != before  # a cookie that somebody knew is no session
        page = await client.get(PAGE)
        assert "reader" in page.text
        assert "Archive" not in page.text
        assert (await client.get(CHANGE, params={"what": "pause"})).status_code == 403
        form = {"what": "pause", "token": token(page)}
        assert (await client.post(CHANGE, data=form)).status_code == 403
        assert not (await settings(client, boss))["paused"]
        for elsewhere in ("//elsewhere.example/", "https://elsewhere.example/", "/\\elsewhere.example"):
            assert (await sign_in(client, boss, next=elsewhere)).headers["location"] == "/"
        form = {"what": "pause", "token": await shown(client, "pause")}
        assert (await client.post(CHANGE, data=form)).status_code == 303
        lines = (await client.get(f"{URL}/events", headers={"authorization": f"Bearer {boss}"})).text
        assert '"author":"boss"' in lines.splitlines()[-1]

        kept = client.cookies[COOKIE]
        out = {"token": token(await client.get("/"))}
        assert (await client.get("/sign-out")).status_code == 405
        assert (await client.post("/sign-out", data={"token": "x"})).status_code == 403
        assert (await client.post("/sign-out", data=out)).status_code == 303
        client.cookies.set(COOKIE, kept, domain="127.0.0.1")
        assert (await client.get("/")).status_code == 303  # it has ended on the server too

        await sign_in(client, reader)
        now = time.monotonic()
        monkeypatch.setattr(sessions, "monotonic", lambda: now + 12 * 3600 - 10)
        assert (await client.get("/")).status_code == 200
        monkeypatch.setattr(sessions, "monotonic", lambda: now + 12 * 3600 + 10)
        assert (await client.get("/")).status_code == 303
        await sign_in(client, reader)
        keys.revoke(app.service.store, "reader", 2)
        for _ in range(100):
            if (await client.get("/")).status_code == 303:
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("the session outlives its key")

        monkeypatch.setattr(sessions, "MOST", 3)
        cookies = []
        for _ in range(5):
            await sign_in(client, boss)
            cookies.append(client.cookies[COOKIE])
            client.cookies.clear()
        found = []
        for cookie in cookies:
            answer = await client.get("/", headers={"cookie": f"{COOKIE}={cookie}"})
            found.append(answer.status_code)
        assert found == [303, 303, 200, 200, 200]

    play(tmp_path, scenario)
    for key in (reader, boss, blind):
        assert key.split("-", 2)[2] not in caplog.text


def test_under_https_the_cookie_goes_nowhere_else(tmp_path: Path) -> None:
    key = made(tmp_path, "reader", "read")

    async def scenario(_: httpx.AsyncClient, app: App) -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="https://127.0.0.1") as client:
            assert "secure" in (await sign_in(client, key)).headers["set-cookie"].lower()

    play(tmp_path, scenario)


def test_errors_of_pages_are_pages_and_those_of_the_api_are_not(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        for path, status in (("/experiments/none", 404), ("/experiments/%FF", 422), ("/static/x/y.js", 404)):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["content-type"]) == (
                status,
                "text/html; charset=utf-8",
            )
        page = {"accept": "text/html,*/*"}
        assert (await client.get("/none", headers=page)).headers["content-type"].startswith("text/html")
        assert (await client.get("/none")).headers["content-type"] == "application/problem+json"
        assert (await client.get(f"{URL}x", headers=page)).headers[
            "content-type"
        ] == "application/problem+json"
        for path in ("/", PAGE, "/static/x/page.css"):
            answer = await client.get(path, headers={"host": "elsewhere.example"})
            assert (answer.status_code, answer.headers["content-type"]) == (421, "text/html; charset=utf-8")
        for host in (b"127.0.0.1:x", b"127.0.0.1:\xb2", b"[", b"", b"\xff"):  # whatever it is
            for path in ("/", "/none"):
                answer = await client.get(path, headers={b"host": host, b"accept": b"text/html"})
                assert answer.status_code in (404, 421)
        for path in ("/", PAGE, f"{PAGE}/live", f"{PAGE}/arms", f"{PAGE}/charts", "/favicon.ico", "/none"):
            answer = await client.head(path, headers=page)
            assert answer.status_code == (404 if path == "/none" else 200)
            policy = answer.headers["content-security-policy"]
            assert "unsafe" not in policy
            assert {"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} <= {
                *policy.split("; ")
            }
            assert answer.headers["x-content-type-options"] == "nosniff"
        for path in ("/", PAGE):
            text = (await client.get(path)).text
            assert re.search(r"<script(?! defer src=)|\sstyle=|\son\w+=", text) is None
        app.service.log.away, app.service.due.stopped = True, "the clock jumped"
        for path in ("/live", f"{PAGE}/live"):  # pages that are open are told so
            text = (await client.get(path)).text
            assert "The store cannot be written to" in text
            assert "the clock jumped" in text
        app.service.log.away, app.service.due.stopped = False, ""
        app.service.ready = False
        answer = await client.get(PAGE)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert 'http-equiv="refresh"' in answer.text
        app.service.ready = True
        assert (await client.get(PAGE)).status_code == 200

    play(tmp_path, scenario)


def test_nothing_is_sent_that_the_browser_has(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        await decide(client)
        for path in ("/live", f"{PAGE}/live", f"{PAGE}/arms"):
            first = await client.get(path)
            again = await client.get(path, params={"seen": first.headers["x-seen"]})
            assert (first.status_code, again.status_code, again.content) == (200, 204, b"")
            assert float(again.headers["x-wait"]) >= routes.OFTEN
        charts = await client.get(f"{PAGE}/charts")
        again = await client.get(f"{PAGE}/charts", headers={"if-none-match": charts.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        for name, file in files.found().items():
            found = await client.get(files.address(name))
            assert found.content == file.content
            assert "immutable" in found.headers["cache-control"]
            assert (await client.get(f"/static/old/{name}")).headers["cache-control"] == "no-cache"
            again = await client.get(files.address(name), headers={"if-none-match": found.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        await decide(client)
        changed = await client.get(f"{PAGE}/arms", params={"seen": first.headers["x-seen"]})
        assert changed.status_code == 200

    play(tmp_path, scenario)


def test_pages_work_inside_another_application(tmp_path: Path) -> None:
    async def whole() -> None:
        app = create(url_of(tmp_path))

        @asynccontextmanager
        async def lifespan(_: Starlette) -> Any:
            async with app.lifespan():
                await app.starting
                yield

        outer = Starlette(routes=[Mount("/inner", app)], lifespan=lifespan)
        transport = httpx.ASGITransport(outer)
        async with (
            outer.router.lifespan_context(outer),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            assert (
                await client.put(f"/inner{URL}", json={**COLOURS, "arms": ["a/b", "c"]})
            ).status_code == 201
            for path in ("/inner/", f"/inner{PAGE}"):
                page = await client.get(path)
                assert page.status_code == 200
                links = re.findall(r'(?:href|src|action|hx-get|data-charts)="([^"#][^"]*)"', page.text)
                assert links
                for link in map(unescape, links):
                    assert link.startswith("/inner/"), link
                    answer = await client.get(link, params={"what": "add"} if "/change" in link else None)
                    assert answer.status_code == 200, link
            form = {"token": token(await client.get(f"/inner{CHANGE}?what=pause")), "what": "pause"}
            assert (await client.post(f"/inner{CHANGE}", data=form)).headers["location"] == f"/inner{PAGE}"

    asyncio.run(whole())


@pytest.mark.parametrize("name", ["htmx.min.js", "uPlot.iife.min.js"])
def test_licences_lie_beside_what_is_vendored(name: str) -> None:
    folder = files.FOLDER / "vendor"
    assert (folder / name).exists()
    assert (folder / f"{name.partition('.')[0]}.LICENSE").read_text().strip()
