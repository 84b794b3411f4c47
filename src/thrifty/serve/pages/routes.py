"""Paths of the pages. Each answers with a page, a piece of one, or the numbers of its charts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from time import thread_time
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import jinja2
import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from thrifty import look
from thrifty.serve import views
from thrifty.serve.bodies import Bodies, Refused, check_body
from thrifty.serve.experiments import COLUMNS, Experiment
from thrifty.serve.keys import Forbidden, Unknown
from thrifty.serve.pages import actions, files
from thrifty.serve.pages.formats import FILTERS
from thrifty.serve.pages.sessions import Sessions, Visitor, set_cookie
from thrifty.serve.paths import Hosts, check_host, decoded
from thrifty.serve.problems import headers_of, problem_of
from thrifty.serve.service import Service, Unready
from thrifty.serve.truth import Teller

FORM = 2**20  # bytes of a form
FIELDS = 20  # of a form
ROWS = 25  # arms of a page
EVENTS = 12  # the latest
OFTEN = 5.0  # seconds between two looks at a piece of a page
SHARE = 0.0005  # of a processor, that a piece may take: one that is slow is looked at less often
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with less, browsers do not say where a form comes from
    "cross-origin-opener-policy": "same-origin",
}
Handler = Callable[["Asking"], Awaitable[Response]]


class Asking:
    """A request for a page: who asks, and for what."""

    def __init__(self, request: Request, visitor: Visitor) -> None:
        self.request, self.visitor = request, visitor
        self.query: Mapping[str, str] = request.query_params
        self.root: str = request.scope.get("root_path", "")
        self.is_piece = "hx-request" in request.headers  # of a page that is shown already

    @property
    def name(self) -> str:
        """The experiment in the path."""
        part = self.request.path_params["name"]
        return self.query["name"] if part == "-" and "name" in self.query else decoded(part, "name")

    def address(self, name: str, rest: str = "", **query: Any) -> str:
        """The path of an experiment. Browsers take "." and ".." away, however they are written."""
        if name in (".", ".."):
            query, name = {"name": name, **query}, "-"
        asked = f"?{urlencode(query)}" if query else ""
        return f"{self.root}/experiments/{quote(name, safe='')}{rest}{asked}"


class Pages:
    """The pages of one service."""

    def __init__(self, service: Service, hosts: Hosts, bodies: Bodies, truth: Teller | None) -> None:
        self.service, self._hosts, self._bodies, self._truth = service, hosts, bodies, truth
        self._sessions = Sessions(lambda: service.door)
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("thrifty.serve.pages"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters.update(FILTERS)
        self._templates.globals.update(file=files.address, logo=look.LOGO)

    def routes(self) -> list[Route]:
        one = "/experiments/{name}"
        return [
            self._route("/", GET=self.all),
            self._route("/live", GET=self.all_live),
            self._route(one, GET=self.one),
            self._route(f"{one}/live", GET=self.one_live),
            self._route(f"{one}/arms", GET=self.arms),
            self._route(f"{one}/charts", GET=self.charts),
            self._route(f"{one}/change", GET=self.ask, POST=self.change),
            self._route("/sign-in", public=True, GET=self.sign_in, POST=self.begin),
            self._route("/sign-out", public=True, POST=self.end),
            self._route("/static/{hash}/{file}", public=True, GET=self.file),
            self._route("/favicon.ico", public=True, GET=self.icon),
        ]

    def _route(self, path: str, *, public: bool = False, **handlers: Handler) -> Route:
        """A path, and who answers each method. ``public``: to everyone, and not only who has signed in."""

        async def endpoint(request: Request) -> Response:
            asking = Asking(request, self._sessions.visitor(request))
            try:
                check_host(request.headers.get("host", ""), self._hosts)
                if not public and asking.visitor.name is None:
                    return self._to_sign_in(asking)
                answer = await handlers["GET" if request.method == "HEAD" else request.method](asking)
            except Exception as error:
                answer = self._failed(asking, error)
            answer.headers.update(HEADERS)
            answer.headers.setdefault("cache-control", "no-store")
            return answer

        return Route(path, endpoint, methods=[*handlers])

    def _html(self, asking: Asking, template: str, status: int = 200, **values: Any) -> Response:
        visitor = asking.visitor
        text = self._templates.get_template(template).render(
            asking=asking,
            root=asking.root,
            visitor=visitor,
            token=self._sessions.token(visitor),
            log=self.service.log,
            due=self.service.due,
            **values,
        )
        answer = Response(text, status, media_type="text/html")
        if visitor.is_new:
            set_cookie(asking.request, answer, visitor.cookie)
        return answer

    def _piece(self, asking: Asking, template: str, spent: float, **values: Any) -> Response:
        """A piece of a page, or that it is as the browser has it, which says what it has seen."""
        before = thread_time()
        answer = self._html(asking, template, **values)
        seen = sha256(answer.body).hexdigest()[:16]
        wait = max(OFTEN, (spent + thread_time() - before) / SHARE)
        if asking.query.get("seen") == seen:
            return Response(status_code=204, headers={"x-wait": f"{wait:.0f}"})
        answer.headers.update({"x-seen": seen, "x-wait": f"{wait:.0f}"})
        return answer

    def _failed(self, asking: Asking, error: Exception) -> Response:
        """A page that says what went wrong. While it starts, it loads itself again."""
        problem = problem_of(error)
        starting = isinstance(error, Unready)
        answer = self._html(asking, "problem.html", problem.status, problem=problem, starting=starting)
        answer.headers.update(headers_of(problem))
        return answer

    def unrouted(self, request: Request, error: Exception) -> Response:
        """No such page."""
        answer = self._failed(Asking(request, self._sessions.visitor(request)), error)
        answer.headers.update(HEADERS)
        return answer

    def _to_sign_in(self, asking: Asking) -> Response:
        path = asking.request.scope["path"].removeprefix(asking.root)
        to = f"{asking.root}/sign-in?{urlencode({'next': path})}"
        if asking.is_piece:  # the whole page goes there
            return Response(status_code=401, headers={"hx-redirect": f"{asking.root}/sign-in"})
        if path.endswith("/charts"):
            return Response(status_code=401)
        return RedirectResponse(to, 303)

    async def _form(self, asking: Asking) -> dict[str, str]:
        """What was filled in, if it was on a page that this visitor was shown."""
        headers = asking.request.headers
        media, length = headers.get("content-type", ""), headers.get("content-length", "0")
        wanted = "application/x-www-form-urlencoded"
        check_body(media, length, wanted, FORM)
        body = await self._bodies.read(asking.request.receive, FORM)
        try:
            form = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS))
        except ValueError as error:
            raise Refused(400, f"a form must be UTF-8 and have at most {FIELDS} fields: {error}") from None
        self._sessions.check_form(asking.request, asking.visitor, form.pop("token", ""))
        return form

    async def sign_in(self, asking: Asking) -> Response:
        if self.service.door.is_open:
            return RedirectResponse(f"{asking.root}/", 303)
        return self._html(asking, "sign-in.html", next=asking.query.get("next", ""), error="")

    async def begin(self, asking: Asking) -> Response:
        form = await self._form(asking)
        behind = form.get("next", "")
        try:
            cookie = self._sessions.begin(form.get("key", ""))
        except (Unknown, Forbidden) as error:
            status = problem_of(error).status
            return self._html(asking, "sign-in.html", status, next=behind, error=str(error))
        self._sessions.end(asking.visitor.cookie)
        to = behind if behind.startswith("/experiments/") and behind.isascii() else "/"
        answer = RedirectResponse(asking.root + to, 303)
        set_cookie(asking.request, answer, cookie)
        return answer

    async def end(self, asking: Asking) -> Response:
        await self._form(asking)
        self._sessions.end(asking.visitor.cookie)
        answer = RedirectResponse(f"{asking.root}/sign-in", 303)
        set_cookie(asking.request, answer, "")
        return answer

    async def file(self, asking: Asking) -> Response:
        return files.answer(asking.request, asking.request.path_params["file"])

    async def icon(self, asking: Asking) -> Response:
        return files.answer(asking.request, "icon.svg")

    async def all(self, asking: Asking) -> Response:
        return self._html(asking, "all.html", rows=self._rows())

    async def all_live(self, asking: Asking) -> Response:
        before = thread_time()
        rows = self._rows()
        return self._piece(asking, "all-live.html", thread_time() - before, rows=rows)

    def _rows(self) -> list[views.Row]:
        """Those that run come first."""
        return sorted(views.overview(self.service), key=lambda row: row.state == "archived")

    async def one(self, asking: Asking) -> Response:
        experiment = self.service.find(asking.name)
        return self._html(
            asking,
            "one.html",
            **self._now(experiment),
            **await self._arms(asking, experiment),
            truth=self._truth is not None and self._truth(experiment.name) is not None,
        )

    async def one_live(self, asking: Asking) -> Response:
        before = thread_time()
        now = self._now(self.service.find(asking.name))
        return self._piece(asking, "one-live.html", thread_time() - before, **now)

    def _now(self, experiment: Experiment) -> dict[str, Any]:
        return {
            "row": views.row(self.service, experiment),
            "settings": experiment.now,
            "known": views.known(self.service, experiment),
            "latest": views.latest(self.service, experiment, EVENTS),
            "changes": views.changes(self.service, experiment),
        }

    async def arms(self, asking: Asking) -> Response:
        experiment = self.service.find(asking.name)
        found = await self._arms(asking, experiment)
        answer = self._piece(asking, "arms.html", found.pop("spent"), row=None, **found)
        shown = {key: value for key in ("search", "sort", "after") if (value := found[key])}
        answer.headers["hx-replace-url"] = asking.address(experiment.name, **shown)
        return answer

    async def _arms(self, asking: Asking, experiment: Experiment) -> dict[str, Any]:
        """A page of the arms. What is asked for in a wrong way is not asked for."""
        sort = asking.query.get("sort") or asking.query.get("sorted", "")
        sort = sort if sort.removeprefix("-") in COLUMNS else "-pulls"
        search = asking.query.get("search", "")[:200]
        after = asking.query.get("after", "")
        after = after if after.isascii() and after.isdigit() and len(after) < 12 else ""

        def page() -> tuple[Any, float]:
            before = thread_time()
            return experiment.page(sort, search, ROWS, after or None), thread_time() - before

        (arms, behind), spent = await asyncio.to_thread(page)
        begin = int(after or 0)
        return {
            "experiment": experiment,
            "arms": arms,
            "sort": sort,
            "search": search,
            "after": after,
            "begin": begin,
            "before": str(max(0, begin - ROWS)) if begin else None,
            "behind": behind,
            "spent": spent,
        }

    async def charts(self, asking: Asking) -> Response:
        experiment = self.service.find(asking.name)
        curves = await asyncio.to_thread(views.curves, self.service, experiment)
        shown = {
            "curves": curves,
            "densities": views.densities(self.service, experiment),
            "truth": None if self._truth is None else self._truth(experiment.name),
        }
        body = msgspec.json.encode(shown)
        tag = f'"{sha256(body).hexdigest()[:16]}"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        if tag in asking.request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    async def ask(self, asking: Asking) -> Response:
        """What is to be done, to be confirmed."""
        experiment = self._administered(asking)
        asked = actions.asked(asking.query, experiment)
        return self._asked(asking, experiment, asked, "", 200)

    async def change(self, asking: Asking) -> Response:
        """It was confirmed."""
        form = await self._form(asking)
        experiment = self._administered(asking)
        asked = actions.asked(form, experiment)
        assert asking.visitor.name is not None
        try:
            await actions.do(self.service, experiment.name, asked, asking.visitor.name)
        except Exception as error:
            problem = problem_of(error)
            status = 200 if asking.is_piece else problem.status  # others are errors in a browser's console
            return self._asked(asking, experiment, asked, problem.detail, status)
        if asking.is_piece:
            done = msgspec.json.encode({"done": asked.action.done}).decode()
            return Response(status_code=204, headers={"hx-trigger": done})
        return RedirectResponse(asking.address(experiment.name), 303)

    def _administered(self, asking: Asking) -> Experiment:
        if not asking.visitor.admin:
            raise Forbidden(f"the key {asking.visitor.name} must have the scope admin")
        return self.service.find(asking.name)

    def _asked(
        self, asking: Asking, experiment: Experiment, asked: actions.Asked, error: str, status: int
    ) -> Response:
        template = "change-form.html" if asking.is_piece else "change.html"
        values = {"experiment": experiment, "asked": asked, "error": error, "policies": actions.playable()}
        return self._html(asking, template, status, **values)
