"""One path of the contract as an ASGI app: method, key, deployment, body, in that order, then the answer."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from ..contracts.spec import Operation, RequestInvalid
from .access_key import Standing, standing
from .answer import Answers
from .errors import RequestError, invalid, not_found
from .record import Record
from .shapes import Plan
from .window import WindowError
from .world import UnknownId, World

log = logging.getLogger("loopsmock")

BODY_BYTES = 64 * 1024
LOOKS_LIKE_SECONDS = 10**11
"""Epoch milliseconds below this were before March 1973: more likely they are seconds."""


@dataclass(frozen=True, slots=True)
class Access:
    """What the server asks of an Authorization header."""

    api_key: str | None = None
    missing_status: int = 403

    def check(self, header: bytes | None) -> None:
        """Let the request pass or not.

        Raises:
            RequestError: 403, or 401 for a missing header where it is told apart.
        """
        found = standing(header, self.api_key)
        if found is Standing.ACCEPTED:
            return
        if found is Standing.MISSING and self.missing_status == 401:
            raise RequestError(401, "UNAUTHENTICATED", "Authorization error", {"WWW-Authenticate": "Bearer"})
        raise RequestError(403, "PERMISSION_DENIED", "Authorization error")


class Endpoint:
    """The operations of one path."""

    def __init__(
        self, served: Mapping[str, tuple[Operation, Plan | Record]], world: World, access: Access, answers: Answers
    ) -> None:
        """Serve operations by method, each with its plan or record."""
        self._served = served
        self._world = world
        self._access = access
        self._answers = answers
        self._allow = ", ".join(sorted(served))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            found = self._served.get(scope["method"])
            if found is None:
                message = f"{scope['method'][:20]} is not allowed here; use {self._allow}"
                raise RequestError(405, "METHOD_NOT_ALLOWED", message, {"Allow": self._allow})
            operation, plan = found
            self._access.check(_authorization(scope))
            try:
                if isinstance(plan, Record):
                    response: Response = JSONResponse(plan.fill(self._world.facts(scope["path_params"])))
                else:
                    response = await self._metrics(operation, plan, request)
            except UnknownId as error:
                raise not_found(str(error)) from error
            except (RequestInvalid, WindowError) as error:
                raise invalid(str(error)) from error
        except RequestError as error:
            response = error.response()
        await response(scope, receive, send)

    async def _metrics(self, operation: Operation, plan: Plan, request: Request) -> Response:
        deployment = self._world.deployment(request.path_params[operation.path_parameters[0]])
        members = operation.parse_request(await _body(request))
        _hint(members)
        return self._answers.respond(plan, self._world.view(deployment, members))


def _authorization(scope: Scope) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == b"authorization"), None)


async def _body(request: Request) -> bytes:
    """The request's body, read no further than its limit.

    Raises:
        RequestError: 413.
    """
    declared = request.headers.get("content-length", "0")
    body = b""
    if not declared.isdigit() or int(declared) <= BODY_BYTES:
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                break
        else:
            return body
    raise RequestError(413, "PAYLOAD_TOO_LARGE", f"the request body is larger than {BODY_BYTES} bytes")


def _hint(members: Mapping[str, int | None]) -> None:
    for name in ("start_epoch_millis", "end_epoch_millis"):
        value = members.get(name)
        if type(value) is int and 0 < value < LOOKS_LIKE_SECONDS:
            log.warning("%s %d looks like seconds; the endpoint takes milliseconds", name, value)
