"""Routes as a web application: the only module that knows starlette.

Bodies are read with a bound on size and time, keys and rates are checked, a client that leaves ends
its request, and whatever goes wrong inside, the client learns only that something did.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mt.serving.access import Keys, Rate, key_of_header
from mt.serving.call import Answer, Api, Call, Route, refused
from mt.serving.fields import Fields, invalid, of_form, of_json
from mt.serving.log import Log
from mt.serving.metrics import Metrics
from mt.serving.refusal import RefusalError
from mt.serving.request import Access, Limits

Application = ASGIApp
_ID = re.compile("[A-Za-z0-9._-]{1,64}")
_LEFT = 499  # the status in logs of a request whose client left
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What every request goes through."""

    keys: Keys
    rate: Rate
    limits: Limits
    access: Access
    log: Log
    metrics: Metrics
    is_loopback: bool
    """Whether only programs of this machine can ask."""


def application(routes: Sequence[Route], gate: Gate) -> Application:
    """The application that answers at `routes`."""
    handlers = [
        StarletteRoute(route.path, _handler(route, gate), methods=[route.method])
        for route in routes
    ]
    middleware = []
    if gate.access.origins:
        origins = list(gate.access.origins)
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=origins,
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["Authorization", "Content-Type"],
            )
        )
    if gate.is_loopback:
        # A page elsewhere whose name was made to lead to this machine is not let in.
        hosts = ["localhost", "127.0.0.1", "::1", "[::1]", *gate.access.hosts]
        middleware.append(Middleware(TrustedHostMiddleware, allowed_hosts=hosts))
    app = Starlette(
        routes=handlers, middleware=middleware, exception_handlers={HTTPException: _not_found}
    )
    return _Watch(app, gate)


@dataclass
class _Facts:
    """What is written of a request."""

    number: str
    endpoint: str = "-"
    """The path of a route: that of the client may hold text."""
    status: int = 500
    began: float = field(default_factory=time.monotonic)


class _Watch:
    """Numbers requests, counts and logs them."""

    def __init__(self, app: Application, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts = _Facts(number=_number(scope))
        scope.setdefault("state", {})["facts"] = facts

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                facts.status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", facts.number.encode("ascii")),
                ]
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        finally:
            seconds = time.monotonic() - facts.began
            self._gate.metrics.answered(facts.endpoint, facts.status, seconds)
            self._gate.log(
                "request",
                id=facts.number,
                method=scope["method"] if scope["method"].isalpha() else "-",
                endpoint=facts.endpoint,
                status=facts.status,
                ms=round(1000 * seconds, 1),
            )


def _number(scope: Scope) -> str:
    """The id of a request: the client's own, if it is a plain word."""
    for name, value in scope["headers"]:
        given = str(value, "latin-1")
        if name == b"x-request-id" and _ID.fullmatch(given):
            return given
    return uuid.uuid4().hex[:16]


def _response(answer: Answer) -> Response:
    headers = {**_HEADERS, **answer.headers}
    if answer.status in (408, 413):
        headers["Connection"] = "close"  # the rest of the body is not read
    return Response(
        answer.body, status_code=answer.status, media_type=answer.content_type, headers=headers
    )


async def _not_found(request: Request, error: Exception) -> Response:
    """No such path, or not by this method."""
    assert isinstance(error, HTTPException)
    api: Api = "deepl" if request.url.path.startswith("/v2/") else "libretranslate"
    answer = refused(RefusalError(error.status_code, error.detail), api)
    return _response(answer)


def _handler(route: Route, gate: Gate) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        facts: _Facts = request.state.facts
        facts.endpoint = route.path
        try:
            if not route.is_open:
                gate.rate.require(request.client.host if request.client else "")
            body = await _body(request, gate.limits)
            if not body or not route.reads_body:
                fields = of_form(request.url.query.encode("ascii", "replace"))
            else:
                fields = await _of_body(request, body)
            key = "" if route.is_open else gate.keys.require(_key(request, fields))
            call = Call(
                fields=fields,
                key=key,
                arguments=request.path_params,
                accepts=request.headers.get("accept", ""),
            )
            return _response(await _while_there(request, route.endpoint(call)))
        except RefusalError as error:
            return _response(refused(error, route.api))
        except ClientDisconnect:
            return Response(status_code=_LEFT)  # nobody reads it
        except Exception as error:
            gate.log.error(error, id=facts.number, endpoint=facts.endpoint)
            return _response(
                refused(RefusalError(500, f"Internal error {facts.number}"), route.api)
            )

    return handle


def _key(request: Request, fields: Fields) -> str:
    """The key that a request brings: in a header, or as LibreTranslate's clients do."""
    of_header = key_of_header(request.headers.get("authorization", ""))
    return of_header or fields.text("api_key", "")


async def _while_there(request: Request, work: Awaitable[Answer]) -> Answer:
    """What comes of `work`, which is given up when the client leaves."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        for each in (task, gone):
            each.cancel()


async def _gone(request: Request) -> None:
    """Wait until the client has left; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request, limits: Limits) -> bytes:
    """The body; raises RefusalError for one that is too large or too slow."""
    most = limits.body_bytes
    too_large = RefusalError(413, f"The body has more than {most} bytes")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for block in request.stream():
                body += block
                if len(body) > most:
                    raise too_large
    except TimeoutError:
        raise RefusalError(408, "The body did not come in time") from None
    return bytes(body)


async def _of_body(request: Request, body: bytes) -> Fields:
    """The fields of a body; raises RefusalError for one that is not what it says it is."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return of_json(body)
    if kind == "multipart/form-data":
        return await _of_parts(request, body)
    if kind in ("application/x-www-form-urlencoded", ""):
        return of_form(body)
    raise RefusalError(415, "The body must be JSON or a form")


async def _of_parts(request: Request, body: bytes) -> Fields:
    """The fields of a form in parts; files are no fields."""

    async def blocks() -> object:
        yield body

    parser = MultiPartParser(
        request.headers,
        blocks(),  # type: ignore[arg-type]
        max_files=0,
        max_part_size=len(body),
    )
    values: dict[str, list[str]] = {}
    try:
        for name, value in (await parser.parse()).multi_items():
            values.setdefault(name, []).append(str(value))
    except MultiPartException:
        raise invalid("the form is broken, or has a file") from None
    except UnicodeDecodeError:
        raise invalid("the form is not UTF-8") from None
    return Fields(values, is_json=False)
