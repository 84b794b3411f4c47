"""HTTP, and nothing else: an ASGI application to serve, to mount in another, or to try without a socket."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from thrifty.errors import InvalidValue
from thrifty.serve import messages
from thrifty.serve.bodies import Bodies, Refused, check_body
from thrifty.serve.experiments import COLUMNS
from thrifty.serve.keys import ADMIN, DECIDE, READ, REWARD
from thrifty.serve.metrics import MEDIA, exposed
from thrifty.serve.openapi import Operation, document
from thrifty.serve.pages.routes import Pages
from thrifty.serve.paths import Hosts, check_host, decoded
from thrifty.serve.problems import headers_of, problem_of
from thrifty.serve.service import Service, Unready
from thrifty.serve.totals import PERIOD
from thrifty.serve.truth import Teller

LOGGER = logging.getLogger("thrifty.serve")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
REWARDS, BEFORE, AFTER = "/v1/rewards", "/v1/experiments/", "/decisions"  # the paths that are used most
JSON = (b"content-type", b"application/json")
ASKED = (b"host", b"authorization", b"content-type", b"content-length")

Handler = Callable[[Request, str], Awaitable[Response]]  # with who asks
encode = msgspec.json.Encoder().encode
read_definition = msgspec.json.Decoder(messages.Definition).decode
read_patch = msgspec.json.Decoder(messages.Patch).decode
read_arms = msgspec.json.Decoder(messages.NewArms).decode
read_arm = msgspec.json.Decoder(messages.ArmPatch).decode
read_ask = msgspec.json.Decoder(messages.Ask).decode
read_rewards = msgspec.json.Decoder(messages.Rewards).decode


class Api:
    """The endpoints of one service."""

    def __init__(self, service: Service, hosts: Hosts) -> None:
        self.service, self._hosts, self.bodies = service, hosts, Bodies()

    def is_frequent(self, method: str, path: str) -> bool:
        """Whether it is a decision or a reward."""
        name = path[len(BEFORE) : -len(AFTER)]
        decides = name != "" and "/" not in name and path == f"{BEFORE}{name}{AFTER}"
        return method == "POST" and (decides or path == REWARDS)

    async def frequent(self, path: str, scope: Any, receive: Any, send: Any) -> None:
        """A decision or a reward, past Starlette, which would cost as much as all the rest."""
        try:
            headers = dict(reversed(scope["headers"]))  # of several with one name, as Starlette has it
            self.check(path, headers)
            body = await self.bodies.read(receive)
            answer = await self.rewarded(body) if path == REWARDS else self.decided(path, body)
        except Exception as error:
            await problem(error)(scope, receive, send)
            return
        lines = [JSON, (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": lines})
        await send({"type": "http.response.body", "body": answer})

    def check(self, path: str, headers: Mapping[bytes, bytes]) -> None:
        """Whether such a request is answered, by its headers."""
        host, who, media, length = (headers.get(name, b"").decode("latin-1") for name in ASKED)
        self._admit(host, who, REWARD if path == REWARDS else DECIDE)
        check_body(media, length)

    def decided(self, path: str, body: bytes) -> bytes:
        name = decoded(path[len(BEFORE) : -len(AFTER)], "name")
        return encode(self.service.decide(name, read_ask(body)))

    async def rewarded(self, body: bytes) -> bytes:
        return encode(messages.Results(await self.service.reward(read_rewards(body).rewards)))

    def _admit(self, host: str, authorization: str | None, scope: str) -> str:
        """Who asks, if he may."""
        check_host(host, self._hosts)
        return self.service.door.author(authorization, scope) if scope else ""

    def routes(self) -> list[Route]:
        """They are looked for in order: those that are used most come first."""
        routes = [self._route(path, handlers) for path, handlers in self._paths().items()]
        return [
            *routes,
            self._route("/openapi.json", {"GET": (Operation("this document", ""), self.contract)}),
        ]

    def _paths(self) -> dict[str, dict[str, tuple[Operation, Handler]]]:
        one = "/v1/experiments/{name}"
        number, text = {"type": "integer", "minimum": 1}, {"type": "string"}
        page = (("limit", number), ("after", text))
        described = messages.Experiment
        return {
            f"{one}/decisions": {
                "POST": (
                    Operation("decide", DECIDE, messages.Ask, ((200, messages.Decisions),)),
                    self.decide,
                )
            },
            "/v1/rewards": {
                "POST": (
                    Operation("rewards of decisions", REWARD, messages.Rewards, ((200, messages.Results),)),
                    self.reward,
                )
            },
            "/v1/experiments": {
                "GET": (
                    Operation("all experiments", READ, None, ((200, messages.Experiments),), page),
                    self.list,
                )
            },
            one: {
                "PUT": (
                    Operation("create", ADMIN, messages.Definition, ((200, described), (201, described))),
                    self.put,
                ),
                "GET": (Operation("an experiment", READ, None, ((200, described),)), self.get),
                "PATCH": (Operation("change it", ADMIN, messages.Patch, ((200, described),)), self.patch),
            },
            f"{one}/arms": {
                "GET": (
                    Operation(
                        "its arms",
                        READ,
                        None,
                        ((200, messages.ArmsPage),),
                        (("sort", text), ("search", text), *page),
                    ),
                    self.arms,
                ),
                "POST": (
                    Operation("more arms", ADMIN, messages.NewArms, ((201, described),)),
                    self.add_arms,
                ),
            },
            f"{one}/arms/{{arm}}": {
                "PATCH": (
                    Operation("pause or resume it", ADMIN, messages.ArmPatch, ((200, messages.Arm),)),
                    self.pause_arm,
                ),
                "DELETE": (Operation("it goes", ADMIN, None, ((204, None),)), self.remove_arm),
            },
            f"{one}/events": {
                "GET": (
                    Operation(
                        "what happened, a line each", READ, None, ((200, None),), page, "application/x-ndjson"
                    ),
                    self.events,
                )
            },
            "/healthz": {
                "GET": (Operation("whether it runs", "", None, ((200, dict[str, str]),)), self.health)
            },
            "/readyz": {
                "GET": (Operation("whether it serves", "", None, ((200, messages.Ready),)), self.readiness)
            },
            "/metrics": {
                "GET": (
                    Operation("for Prometheus", READ, None, ((200, None),), (), "text/plain"),
                    self.metrics,
                )
            },
        }

    def _route(self, path: str, handlers: dict[str, tuple[Operation, Handler]]) -> Route:
        """A path, with the scope that each method needs, and who answers it."""

        async def endpoint(request: Request) -> Response:
            try:
                (_, scope, *_), handler = handlers["GET" if request.method == "HEAD" else request.method]
                headers = request.headers
                author = self._admit(headers.get("host", ""), headers.get("authorization"), scope)
                return await handler(request, author)
            except Exception as error:
                return problem(error)

        return Route(path, endpoint, methods=[*handlers])

    async def contract(self, request: Request, author: str) -> Response:
        operations = {
            path: {method: operation for method, (operation, _) in handlers.items()}
            for path, handlers in self._paths().items()
        }
        return _answer(document(operations))

    async def metrics(self, request: Request, author: str) -> Response:
        return Response(await asyncio.to_thread(exposed, self.service), media_type=MEDIA)

    async def put(self, request: Request, author: str) -> Response:
        definition = read_definition(await self._body(request))
        experiment, new = await self.service.put(_name(request), definition, author)
        return _answer(self.service.describe(experiment), 201 if new else 200)

    async def get(self, request: Request, author: str) -> Response:
        return _answer(self.service.describe(self.service.find(_name(request))))

    async def patch(self, request: Request, author: str) -> Response:
        patch = read_patch(await self._body(request))
        return _answer(self.service.describe(await self.service.patch(_name(request), patch, author)))

    async def add_arms(self, request: Request, author: str) -> Response:
        new = read_arms(await self._body(request))
        return _answer(
            self.service.describe(await self.service.add_arms(_name(request), new.arms, author)), 201
        )

    async def pause_arm(self, request: Request, author: str) -> Response:
        patch = read_arm(await self._body(request))
        arm = _name(request, "arm")
        return _answer(await self.service.pause_arm(_name(request), arm, patch.paused, author))

    async def remove_arm(self, request: Request, author: str) -> Response:
        await self.service.remove_arm(_name(request), _name(request, "arm"), author)
        return Response(status_code=204)

    async def list(self, request: Request, author: str) -> Response:
        limit, after = _page(request, 1000)
        names = sorted(self.service.all())
        start = 0 if after is None else next((i for i, name in enumerate(names) if name > after), len(names))
        shown = names[start : start + limit]
        described = [self.service.describe(self.service.find(name)) for name in shown]
        more = start + limit < len(names)
        return _answer(messages.Experiments(described, shown[-1] if more else None))

    async def arms(self, request: Request, author: str) -> Response:
        experiment = self.service.find(_name(request))
        limit, after = _page(request, 1000)
        sort = request.query_params.get("sort", "-pulls")
        if sort.removeprefix("-") not in COLUMNS:
            raise InvalidValue(
                f"sort must be one of {', '.join(COLUMNS)}, with - in front or not, got {sort!r}"
            )
        if after is not None and not (after.isascii() and after.isdigit() and len(after) < 12):
            raise InvalidValue(f"after must be what next was, got {after!r}")
        search = request.query_params.get("search", "")
        page = await asyncio.to_thread(experiment.page, sort, search, limit, after)  # a million takes a while
        return _answer(messages.ArmsPage(*page))

    async def events(self, request: Request, author: str) -> Response:
        limit, after = _page(request, 10_000, 1000)
        body = await self.service.events(_name(request), after, limit)
        return Response(body, media_type="application/x-ndjson")

    async def _body(self, request: Request) -> bytes:
        headers = request.headers
        check_body(headers.get("content-type", ""), headers.get("content-length", ""))
        return await self.bodies.read(request.receive)

    async def decide(self, request: Request, author: str) -> Response:
        return _answer(self.service.decide(_name(request), read_ask(await self._body(request))))

    async def reward(self, request: Request, author: str) -> Response:
        asked = read_rewards(await self._body(request))
        return _answer(messages.Results(await self.service.reward(asked.rewards)))

    async def health(self, request: Request, author: str) -> Response:
        return _answer({"status": "ok"})

    async def readiness(self, request: Request, author: str) -> Response:
        if not self.service.ready:
            raise Unready("state and kernels are not there yet")
        return _answer(messages.Ready("ready", self.service.log.away, self.service.due.stopped))


def create(
    store: str,
    hosts: Iterable[str] | None = LOOPBACK,
    secret: bytes | None = None,
    truth: Teller | None = None,
    period: int = PERIOD,
) -> "App":
    """The application, in front of a store: ``sqlite:///thrifty.db``, say. Requests must name one of
    ``hosts``, or any with None: a web page that somebody looks at can reach his loopback, by another name.
    Ids are signed by ``secret``, or by one that is made and kept in the store. Where products are simulated,
    ``truth`` says what an experiment has really lost, or None. Totals are by the ``period``, in seconds: a
    store stays with the one that it was made with."""
    names = None if hosts is None else frozenset(host.lower() for host in hosts)
    return App(Service(store, secret, period), names, truth)


class App:
    """The ASGI application. Where it is mounted in another, that one enters ``lifespan`` in its own."""

    def __init__(self, service: Service, hosts: Hosts, truth: Teller | None = None) -> None:
        self.service = service
        self.starting: asyncio.Task[None]  # done when it is ready
        self.started: Callable[[], None] = lambda: None  # called then
        self.failed: Callable[[], None] = lambda: None  # called if it cannot be
        self.api = Api(service, hosts)
        self._pages = Pages(service, hosts, self.api.bodies, truth)
        self._inner = Starlette(
            routes=[*self.api.routes(), *self._pages.routes()],
            lifespan=lambda _: self.lifespan(),
            exception_handlers={HTTPException: self._unrouted},
        )
        self._inner.router.redirect_slashes = False

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        service = self.service
        service.open()
        self.starting = asyncio.create_task(service.start())
        self.starting.add_done_callback(self._started)
        try:
            yield
        finally:
            self.starting.cancel()
            with suppress(BaseException):
                await self.starting
            await service.stop()

    def _started(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            LOGGER.error("the service cannot start: %s", error, exc_info=error)
            self.failed()
        else:
            self.started()

    async def _unrouted(self, request: Request, error: Exception) -> Response:
        """No such path or method: a page for who asks for one."""
        assert isinstance(error, HTTPException)
        detail = {
            404: "there is nothing at this path",
            405: f"the method must be {(error.headers or {}).get('Allow')}, got {request.method}",
        }
        refused = Refused(error.status_code, detail.get(error.status_code, str(error.detail)))
        wants_page = "text/html" in request.headers.get("accept", "")
        answer = self._pages.unrouted(request, refused) if wants_page else problem(refused)
        answer.headers.update(error.headers or {})
        return answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            # Routes see the path as it was sent, so that "/" in a name can be percent-encoded.
            raw = scope.get("raw_path")
            if raw is not None:
                path = raw.partition(b"?")[0].decode("latin-1")
                if self.api.is_frequent(scope["method"], path):
                    await self.api.frequent(path, scope, receive, send)
                    return
                scope = {**scope, "path": path}
        await self._inner(scope, receive, send)


def _answer(value: Any, status: int = 200) -> Response:
    return Response(encode(value), status, media_type="application/json")


def problem(error: Exception) -> Response:
    """What is answered if something went wrong."""
    found = problem_of(error)
    return Response(encode(found), found.status, headers_of(found), "application/problem+json")


def unavailable(detail: str) -> Response:
    """503: later, perhaps."""
    return problem(Refused(503, detail))


def _name(request: Request, part: str = "name") -> str:
    """A name in the path."""
    return decoded(request.path_params[part], part)


def _page(request: Request, most: int, usual: int = 50) -> tuple[int, str | None]:
    """The length of a page, and behind what it begins."""
    limit = request.query_params.get("limit", str(usual))
    if not (limit.isascii() and limit.isdigit() and len(limit) < 8 and 1 <= int(limit) <= most):
        raise InvalidValue(f"limit must be from 1 to {most}, got {limit!r}")
    return int(limit), request.query_params.get("after") or None
