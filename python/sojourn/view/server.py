"""The web server of the dashboard: for one user on this machine, and read only.

Who may ask: a program that knows the token, which is in the address that `sojourn view` prints. The first page is given
to that address alone and sets the cookie that the other answers ask for. A page of another site can neither read the
answers (there is no CORS) nor reach the server under a name of its own (the header `Host` must be this server's).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import math
import mimetypes
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sojourn import __version__, web_build
from sojourn.errors import ParamError, SojournError
from sojourn.store.run_store import RunStore
from sojourn.view import findings
from sojourn.view.guests import BACKLOG, Guests
from sojourn.view.source import Source, later
from sojourn.view.table import Table

if TYPE_CHECKING:
    from sojourn.frame_library import pl

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache, private",
}
#: The laboratory is WebAssembly in a worker, has styles in its elements, and nothing of a store in it.
_LABORATORY = (
    _HEADERS["Content-Security-Policy"]
    .replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; manifest-src 'self'")
    .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
)
_METHODS = ("GET", "HEAD")
#: Endings of what the build is made of; nothing else is given out.
_ENDINGS = {".js", ".css", ".svg", ".png", ".woff2", ".wasm", ".ico", ".json", ".webmanifest"}

Answer = Callable[[Request], Awaitable[Response]]


class View:
    """What the server answers.

    - `port`, `host`: where the server listens; `host` as an address has it.
    """

    def __init__(self, *, title: str, sources: list[Source], token: str, port: int, host: str = "127.0.0.1") -> None:
        self.title = title
        self.sources = sources
        self.table = Table(sources)
        self.guests = Guests()
        self._token = token
        self._cookie = f"sojourn_view_{port}"
        self._hosts = {f"{name}:{port}" for name in (host, "localhost")}
        self._kept: dict[str, tuple[object, bytes]] = {}

    def read_ahead(self) -> None:
        """Begin to read the runs, which takes as long as a browser takes to open, and then load what draws."""

        def read() -> None:
            self.table.json()
            from sojourn.view import course  # noqa: F401

        threading.Thread(target=read, daemon=True).start()

    def app(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/", self._page),
            Route("/api/about", self._json(self._about)),
            Route("/api/runs", self._tagged("runs", lambda _: self.table.json())),
            Route("/api/comparison/{source}", self._tagged("comparison", self._comparison)),
            Route("/api/comparison/{source}/{beside}", self._tagged("comparison", self._comparison)),
            Route("/api/map/{source}", self._tagged("map", self._map)),
            Route("/api/claims", self._tagged("claims", self._claims)),
            Route("/api/progress", self._json(self._progress)),
            Route("/api/run/{source}/{id}", self._json(self._run)),
            Route("/api/series/{source}/{id}", self._json(self._series)),
            Route("/api/cdf/{source}/{id}", self._json(self._cdf)),
            Route("/{path:path}", self._static),
        ]
        return Starlette(routes=routes, middleware=[Middleware(_Guard, view=self)])

    def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused; `None` if it is not."""
        if request.method not in _METHODS:
            return _sentence(405, "only GET and HEAD are answered: this server is read only", Allow="GET, HEAD")
        if request.headers.get("host", "") not in self._hosts:
            return _sentence(421, "the header Host does not name this server")
        if request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"} and request.url.path != "/":
            return _sentence(403, "pages of other sites get no answer")
        if request.url.path.startswith("/api/") and not self._knows(request):
            return _sentence(401, "the token is missing: open the address that sojourn view has printed")
        return None

    def is_owner(self, request: Request) -> bool:
        """Tell whether a request holds the token, in whatever place."""
        return self._knows(request) or self._right(request.query_params.get("token", ""))

    def _knows(self, request: Request) -> bool:
        """Tell whether a request holds the token, in its header or its cookie."""
        secret = request.headers.get("x-sojourn-token") or request.cookies.get(self._cookie, "")
        return self._right(secret)

    def _right(self, secret: str) -> bool:
        return hmac.compare_digest(secret.encode(), self._token.encode())

    async def _page(self, request: Request) -> Response:
        secret = request.query_params.get("token")
        if not (self._knows(request) if secret is None else self._right(secret)):
            return _sentence(401, "the token is missing or wrong: open the address that sojourn view has printed")
        page = web_build.built("view.html")
        if page is None:
            return _sentence(503, NOT_BUILT)
        answer = Response(page.read_bytes(), media_type="text/html")
        if secret is not None:
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    async def _static(self, request: Request) -> Response:
        """Give out a file of the build: the name is one of those that are there, and no path is made of it."""
        page, name = web_build.built("view.html"), request.path_params["path"]
        if name == "offline.js":
            # What would keep the laboratory without a network would keep the page of this server, too.
            return Response(b"", media_type="text/javascript")
        found = None if page is None else _files(page.parent, page.stat().st_mtime_ns).get(name)
        if found is None:
            return _sentence(404, "there is nothing at this address")
        kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        if found.suffix == ".js":
            kind = "text/javascript"
        of_lab = found.name == "lab.html" or found.name.startswith("worker-")
        policy = {"Content-Security-Policy": _LABORATORY} if of_lab else None
        return Response(await run_in_threadpool(found.read_bytes), media_type=kind, headers=policy)

    def _json(self, make: Callable[[Request], object]) -> Answer:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(_attempt, lambda: _reply(request, _dump(make(request))))

        return answer

    def _tagged(self, kind: str, make: Callable[[Request], bytes]) -> Answer:
        """Answer what depends on the folders alone, and is made again only when they have changed."""

        def reply(request: Request) -> Response:
            tag = self.table.tag()
            name = request.url.path
            etag = f'"{hashlib.sha256(repr((kind, name, tag)).encode()).hexdigest()[:24]}"'
            if request.headers.get("if-none-match") == etag:
                return Response(status_code=304, headers={"ETag": etag})
            if name not in self._kept or self._kept[name][0] != tag:
                self._kept[name] = (tag, make(request))
            return _reply(request, self._kept[name][1], etag)

        async def answer(request: Request) -> Response:
            return await run_in_threadpool(_attempt, lambda: reply(request))

        return answer

    def _about(self, _: Request) -> object:
        folders = [
            {
                "path": str(source.path),
                "name": source.path.name,
                "kind": source.kind,
                "title": source.labels.title,
                "command": source.labels.command,
            }
            for source in self.sources
        ]
        page = web_build.built("view.html")
        lab = page is not None and (page.parent / "lab.html").is_file()
        return {"title": self.title, "version": __version__, "lab": lab, "folders": folders}

    def _comparison(self, request: Request) -> bytes:
        numbers = [self._number(request, key) for key in ("source", "beside") if key in request.path_params]
        rows = self.table.rows()
        folders = [
            ([row for row in rows if row["source"] == number], self.sources[number].labels.of_run) for number in numbers
        ]
        if len(folders) == 1:
            return _dump(findings.comparison(*folders[0]))
        names = [self.sources[number].path.name for number in numbers]
        return _dump(findings.comparison(*findings.side_by_side(folders, names)))

    def _map(self, request: Request) -> bytes:
        return _dump(findings.map_of(self.sources[self._number(request)]))

    def _claims(self, _: Request) -> bytes:
        return _dump({"folders": findings.claims(self.sources)})

    def _progress(self, _: Request) -> object:
        self.sources += later(self.sources)
        return {"folders": findings.progress(self.sources)}

    def _run(self, request: Request) -> object:
        source, name = self._named(request)
        record = RunStore(source.store).get(name).record
        plain: dict[str, object] = msgspec.to_builtins(record)
        return {key: value for key, value in plain.items() if key not in {"stored", "format"}}

    def _series(self, request: Request) -> object:
        from sojourn.view import course

        query = request.query_params
        frame = self._frame(request)
        found = course.series(
            course.combined(frame) if query.get("combined") == "1" else frame,
            metrics=query.getlist("metric"),
            points=_whole("points", query.get("points", "2000")),
            start=_number("from", query.get("from", "-inf")),
            end=_number("to", query.get("to", "inf")),
        )
        return {"series": found}

    def _cdf(self, request: Request) -> object:
        from sojourn.view import course

        return course.distribution(self._frame(request), request.query_params.get("metric", "rtt_ms"))

    def _frame(self, request: Request) -> pl.DataFrame:
        source, name = self._named(request)
        return _frame(source.store, name)

    def _named(self, request: Request) -> tuple[Source, str]:
        """Return the source and the run that a path names; both are among those that are there."""
        number, name = self._number(request), request.path_params["id"]
        if name not in self.sources[number].ids():
            message = "there is no such run"
            raise LookupError(message)
        return self.sources[number], name

    def _number(self, request: Request, key: str = "source") -> int:
        """Return the number of the source that a path names."""
        number = _whole("the folder", request.path_params[key])
        if number >= len(self.sources):
            message = "there is no such folder"
            raise LookupError(message)
        return number


NOT_BUILT = "the page was not built: run make web, which needs Node 20 or newer"


class _Guard:
    """Refuses what may not be answered, and writes the headers of safety into every answer."""

    def __init__(self, app: Any, view: View) -> None:
        self._app = app
        self._view = view

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                more = [
                    (name.lower().encode(), value.encode())
                    for name, value in _HEADERS.items()
                    if name.lower().encode() not in names
                ]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        request = Request(scope)
        if self._view.is_owner(request):
            self._view.guests.leave(scope["client"])
        refused = self._view.refusal(request)
        await (refused or self._app)(scope, receive, send_with_headers)


def _attempt(make: Callable[[], Response]) -> Response:
    """Return an answer, or the sentence that says why there is none."""
    try:
        return make()
    except LookupError as error:
        return _sentence(404, str(error.args[0]))
    except ParamError as error:
        return _sentence(400, str(error))
    except (SojournError, OSError) as error:
        return _sentence(422, str(error))


def _dump(found: object) -> bytes:
    return json.dumps(msgspec.to_builtins(found), separators=(",", ":"), allow_nan=False).encode()


def _reply(request: Request, body: bytes, etag: str | None = None) -> Response:
    """Return an answer in JSON; only its tag if the browser has it already."""
    tag = etag or f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})


def _sentence(status: int, sentence: str, **headers: str) -> Response:
    if status in {401, 503}:
        return PlainTextResponse(f"{sentence}\n", status, headers)
    return Response(_dump({"error": sentence}), status, headers, media_type="application/json")


def _whole(field: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        message = f"{field} is {text[:40]!r}, but must be a whole number"
        raise ParamError(message)
    return int(text)


def _number(field: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        message = f"{field} is {text[:40]!r}, but must be a number of seconds"
        raise ParamError(message)
    return value


@lru_cache(maxsize=8)
def _frame(store: Path, name: str) -> pl.DataFrame:
    """Return the series of a run. The last few are kept: a page asks for one several times."""
    return RunStore(store).get(name).series


@lru_cache(maxsize=2)
def _files(folder: Path, built: int) -> dict[str, Path]:
    """Return what of the build of that time may be given out, by the path that a browser asks for."""
    del built  # it tells one build from the next
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and (path.suffix in _ENDINGS or path.name == "lab.html") and path.name != "sw.js"
    }


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this machine alone.

    Raises `ParamError` if the host is not this machine, or the port cannot be had.
    """
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        message = f"host is {host!r}, but must be an address of this machine alone, such as 127.0.0.1 or ::1"
        raise ParamError(message)
    opened = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((str(address), port))
        opened.listen(64)  # a browser that is quicker than the server waits
    except OSError as error:
        opened.close()
        message = f"port is {port}, which cannot be used: {error.strerror or error}"
        raise ParamError(message) from error
    return opened


def runner(view: View) -> uvicorn.Server:
    """Return what runs the application until it is told to end, and says nothing of itself."""
    config = uvicorn.Config(
        view.app(),
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        ws="none",
        http=view.guests.protocol(),
        backlog=BACKLOG,
    )
    return uvicorn.Server(config)


def new_token() -> str:
    """Return a secret of 256 bits."""
    return secrets.token_urlsafe(32)
