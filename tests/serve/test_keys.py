"""Nobody is let in who should not be."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.support.served import COLOURS, decide, made, play, reward, serving, url_of
from thrifty.cli import main
from thrifty.errors import InvalidValue
from thrifty.serve import config, keys, service
from thrifty.serve.app import App, create
from thrifty.serve.clock import SECOND, Clock
from thrifty.serve.origins import shared
from thrifty.serve.store import Store
from thrifty.serve.tokens import Signer

URL = "/v1/experiments/colours"
ASKED = {
    "decide": ("POST", f"{URL}/decisions", {}),
    "reward": ("POST", "/v1/rewards", {"rewards": [{"decision": "x", "reward": 1.0}]}),
    "read": ("GET", URL, None),
    "admin": ("PATCH", URL, {"control": 0.5}),
}


async def ask(client: httpx.AsyncClient, scope: str, header: str | None) -> int:
    method, path, body = ASKED[scope]
    headers = {} if header is None else {"authorization": header}
    return (await client.request(method, path, json=body, headers=headers)).status_code


def test_each_scope_opens_its_door_and_admin_all(tmp_path: Path) -> None:
    given = {scope: made(tmp_path, scope, scope) for scope in keys.SCOPES}

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        headers = {"authorization": f"Bearer {given['admin']}"}
        assert (await client.put(URL, json=COLOURS)).status_code == 401
        assert (await client.put(URL, json=COLOURS, headers=headers)).status_code == 201
        for holder in keys.SCOPES:
            for needed in keys.SCOPES:
                wanted = 200 if holder in (needed, "admin") else 403
                assert await ask(client, needed, f"Bearer {given[holder]}") == wanted
        for path in ("/healthz", "/readyz"):
            assert (await client.get(path)).status_code == 200
        first = (await client.get(f"{URL}/events", headers=headers)).text.splitlines()[0]
        assert '"author":"admin"' in first

    play(tmp_path, scenario)
    text = (tmp_path / "thrifty.db").read_bytes()
    for key in given.values():
        assert key.split("-", 2)[2].encode() not in text  # hashed at rest


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer thrifty-1-",
        "Bearer thrifty-1-x",
        "Bearer thrifty-2-KEY",
        "Basic KEY",
        "KEY",
        "Bearer KEYx",
        "Bearer é",
    ],
)
def test_what_is_no_key_is_refused(tmp_path: Path, header: str | None) -> None:
    key = made(tmp_path, "a", "read")

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        secret = header and header.replace("thrifty-2-KEY", f"thrifty-2-{key.split('-', 2)[2]}").replace(
            "KEY", key
        )
        headers = [] if secret is None else [(b"authorization", secret.encode("latin-1"))]
        answer = await client.get(URL, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert key not in answer.text

    play(tmp_path, scenario)


def test_keys_come_and_go_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(service, "KEYS", 0.05)
    store = ["--store", url_of(tmp_path)]

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        assert len(await decide(client)) == 1
        assert main(["keys", "create", "shop", "--scopes", "decide, read", *store]) == 0
        key = capsys.readouterr().out.strip()
        while await ask(client, "read", None) != 401:
            await asyncio.sleep(0.02)
        assert await ask(client, "decide", f"Bearer {key}") == 200
        assert main(["keys", "revoke", "shop", *store]) == 0
        while await ask(client, "read", f"Bearer {key}") != 401:
            await asyncio.sleep(0.02)
        assert await ask(client, "read", None) == 401  # the door stays closed
        capsys.readouterr()
        assert main(["keys", "list", *store]) == 0
        assert capsys.readouterr().out.splitlines()[2].split()[:3] == ["shop", "decide,", "read"]
        assert main(["keys", "create", "shop", *store]) == 2
        assert main(["keys", "create", "sh op", *store]) == 2
        assert main(["keys", "create", "new", "--scopes", "root", *store]) == 2
        assert main(["keys", "revoke", "shop", *store]) == 2

    play(tmp_path, scenario)


def test_another_secret_signs_and_the_one_before_still_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "KEYS", 0.05)

    async def scenario(client: httpx.AsyncClient, app: App) -> tuple[str, str]:
        await client.put(URL, json=COLOURS)
        (old,) = await decide(client)
        assert main(["keys", "rotate", "--store", url_of(tmp_path)]) == 0
        new = old
        while new["id"][:4] == old["id"][:4]:
            await asyncio.sleep(0.02)
            (new,) = await decide(client)
        assert (
            await reward(client, *({"decision": one["id"], "reward": 1.0} for one in (old, new)))
            == ["counted"] * 2
        )
        return old["id"], new["id"]

    ids = play(tmp_path, scenario)
    store = Store(url_of(tmp_path))
    kept = store.secrets(Clock().now())
    assert len(kept) == 2
    later = store.secrets(Clock().now() + 3 * 86400 * SECOND)  # a day after the last of its ids was due
    store.close()
    assert [Signer(later).read(one) is not None for one in ids] == [False, True]
    assert all(Signer(kept).read(one) is not None for one in ids)


def test_a_secret_may_come_from_the_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "ab" * 32
    settings = config.read({}, None, {"THRIFTY_SECRET": secret})
    assert config.secret_of(settings) == bytes.fromhex(secret)
    for wrong in ("ab", "x" * 64):
        with pytest.raises(InvalidValue) as error:
            config.secret_of(config.read({}, None, {"THRIFTY_SECRET": wrong}))
        assert wrong not in str(error.value)

    async def whole() -> str:
        app = create(url_of(tmp_path), secret=bytes.fromhex(secret))
        async with app.lifespan():
            await app.starting
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                await client.put(URL, json=COLOURS)
                return str((await decide(client))[0]["id"])

    assert Signer({0: bytes.fromhex(secret)}).read(asyncio.run(whole())) is not None


def test_other_hosts_are_refused(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        for host, wanted in (
            ("127.0.0.1:99", 200), ("LOCALHOST", 200), ("[::1]:80", 200), ("evil.example", 421),
            ("evil.example:80", 421), ("", 421), ("127.0.0.1.evil.example", 421), ("::1", 421),
        ):  # fmt: skip
            assert (await client.get("/healthz", headers={"host": host})).status_code == wanted
        asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
        for method in ("GET", "OPTIONS"):  # no other page may read an answer
            answer = await client.request(method, "/v1/experiments", headers=asked)
            assert not [name for name in answer.headers if name.startswith("access-control")]

    play(tmp_path, scenario)


def test_scripts_of_origins_that_are_listed_may_ask(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        transport = httpx.ASGITransport(shared(app, ["https://shop.example"]))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asked:
            for origin, allowed in (("https://shop.example", True), ("https://shop.example.evil", False)):
                given = {"origin": origin, "access-control-request-method": "POST"}
                before = await asked.options(
                    f"{URL}/decisions",
                    headers=given | {"access-control-request-headers": "authorization,content-type"},
                )
                assert (before.status_code == 200) == allowed
                answer = await asked.get("/v1/experiments", headers={"origin": origin})
                assert answer.status_code == 200  # what a browser makes of it is another thing
                assert (answer.headers.get("access-control-allow-origin") == origin) == allowed
                assert "access-control-allow-credentials" not in answer.headers
            refused = await asked.get("/v1/experiments/none", headers={"origin": "https://shop.example"})
            assert refused.headers["access-control-allow-origin"] == "https://shop.example"

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    "origin", ["*", "shop.example", "https://shop.example/", "https://Shop.example", "ftp://a", "http://a:80"]
)
def test_an_origin_is_what_a_browser_sends(origin: str) -> None:
    with pytest.raises(InvalidValue, match="origins must be such as https"):
        shared(None, [origin])


def test_with_a_key_it_listens_where_it_is_told(tmp_path: Path) -> None:
    key = made(tmp_path, "a", "read")
    with serving(tmp_path, "--host", "0.0.0.0", "--hosts", "shop.example") as (_, client):
        headers = {"authorization": f"Bearer {key}"}
        assert client.get("/v1/experiments", headers=headers).status_code == 200
        assert client.get("/v1/experiments", headers=headers | {"host": "shop.example"}).status_code == 200
        assert client.get("/v1/experiments", headers=headers | {"host": "other.example"}).status_code == 421
