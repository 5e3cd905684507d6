"""A fault that can be put into any ASGI app: what changes of its requests, its replies, or the series in them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, MutableMapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

SCHEMA, PROTOCOL, SEMANTIC, BENIGN = "schema", "protocol", "semantic", "benign"
SINGLE, LONG, PAIR, RANKS, IDLE = "single", "long", "pair", "ranks", "idle"
"""What a spoil needs of the deployment: nothing, a day of points, two nodes, two GPUs on a node, times when nothing is
served."""


@dataclass
class Call:
    """A request on its way to the app; a spoil may change it.

    Args:
        method: in upper case.
        path: quoted, without a query.
        headers: by lower-case name.
        body: all of it.
        number: how many requests of the run there have been, this one included.
        dice: seeded chance, the same object in the whole run.
        memory: what the spoil keeps, the same object in the whole run.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    number: int
    dice: random.Random = field(compare=False)
    memory: dict[str, Any] = field(compare=False)

    @property
    def is_for_metrics(self) -> bool:
        """Whether metrics are asked for as the contract says."""
        return self.method == "POST" and self.path.endswith("/metrics")

    @property
    def is_for_listing(self) -> bool:
        """Whether the deployments are asked for."""
        return self.method == "GET" and self.path.endswith("/deployments")

    @property
    def members(self) -> dict[str, Any]:
        """The members of the body; {} if it is no JSON object."""
        try:
            found = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def asked(self, name: str) -> int | None:
        """A time member by its first word, `start`; None where it is null, left out or no whole number."""
        for member, value in self.members.items():
            if member.partition("_")[0] == name and isinstance(value, int):
                return value
        return None

    @property
    def is_plain(self) -> bool:
        """Whether the body is an object of whole numbers and nulls, as the contract wants it."""
        try:
            found = json.loads(self.body or b"{}")
        except ValueError:
            return False
        return isinstance(found, dict) and all(value is None or isinstance(value, int) for value in found.values())

    @property
    def span_ms(self) -> int:
        """How long the range is that is written out; 0 if none is."""
        start, end = self.asked("start"), self.asked("end")
        return 0 if start is None or end is None else end - start

    def ask(self, **members: Any) -> None:
        """Change members of the body; None takes one out."""
        changed = {name: value for name, value in {**self.members, **members}.items() if value is not None}
        self.body = json.dumps(changed).encode()


@dataclass
class Reply:
    """What the app answers; a spoil may change it.

    Args:
        status: the status code.
        headers: by lower-case name; the length is counted anew in the end.
        body: all of it.
    """

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        """The JSON value of the body."""
        return json.loads(self.body)

    def say(self, status: int, value: Any) -> None:
        """Answer with this JSON value instead."""
        self.status, self.body = status, json.dumps(value, separators=(",", ":")).encode()
        self.headers = {"content-type": "application/json"}

    def refuse(self, status: int, code: str, message: str) -> None:
        """Answer with an error in the envelope of the contract instead."""
        self.say(status, {"code": code, "message": message})


Ask = Callable[[Call], Awaitable[Reply]]
Change = Callable[[Call, Ask], Awaitable[Reply]]


@dataclass(frozen=True)
class Spoil:
    """One mistake that a server makes, or, if benign, one liberty that it may take.

    Args:
        name: its name.
        says: what the server does, one sentence.
        kills: the check that must be the first to complain, or several where each would explain it as well; ""
            for a benign one.
        change: does it.
        kind: `schema`, `protocol`, `semantic` or `benign`.
        deployment: what it needs: `single`, `long`, `pair`, `ranks` or `idle`.
    """

    name: str
    says: str
    kills: str | tuple[str, ...]
    change: Change
    kind: str = SEMANTIC
    deployment: str = SINGLE

    @property
    def killers(self) -> tuple[str, ...]:
        """The checks any of which may be the first to complain."""
        return (self.kills,) if isinstance(self.kills, str) else self.kills


class Spoiled:
    """An ASGI app with a spoil in it.

    Args:
        app: the app.
        spoil: the spoil; its chance, its memory and its count of requests begin anew with each Spoiled.
    """

    def __init__(self, app: App, spoil: Spoil) -> None:
        self.changed = 0
        """How many requests or replies the spoil has changed so far."""
        self._app, self._spoil = app, spoil
        self._number = 0
        self._dice = random.Random(0)
        self._memory: dict[str, Any] = {}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._number += 1
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
        call = Call(scope["method"], path, headers, await _body(receive), self._number, self._dice, self._memory)
        before = copy(call)
        before.headers = dict(headers)
        seen: list[Reply] = []

        async def ask(changed: Call) -> Reply:
            reply = await _asked(self._app, scope, changed)
            seen.append(Reply(reply.status, dict(reply.headers), reply.body))
            return reply

        reply = await self._spoil.change(call, ask)
        self.changed += call != before or not seen or reply != seen[-1]
        length = {"content-length": str(len(reply.body))}
        pairs = [(name.encode(), value.encode("latin-1")) for name, value in {**reply.headers, **length}.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": pairs})
        await send({"type": "http.response.body", "body": reply.body})


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _asked(app: App, scope: Any, call: Call) -> Reply:
    """What the app answers to a call."""
    headers = {**call.headers, "content-length": str(len(call.body))}
    changed = {
        **scope,
        "method": call.method,
        "path": call.path,
        "raw_path": call.path.encode("latin-1"),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    reply = Reply(500, {}, b"")

    unread, complete = [call.body], asyncio.Event()

    async def receive() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        # An app that listens for the client's leaving must not hear of it before the answer is whole.
        await complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            reply.headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message.get("headers", ())
            }
        elif message["type"] == "http.response.body":
            reply.body += message.get("body", b"")
            if not message.get("more_body"):
                complete.set()

    await app(changed, receive, send)
    reply.headers.pop("content-length", None)
    return reply
