"""Sends requests one at a time, within bounds: what may be asked, how often, how long, how much."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx

from .amounts import amount
from .exchange import Exchange, Headers, Request, Response
from .secret import Key
from .strict_json import loads

PLACEHOLDER = "the-key-of-the-run"
"""What fuzzers send in place of the key, which they never see."""
WRONG_KEY = "invalid-key-of-a-probe"


class Stopped(Exception):
    """The run ends early; the text says why."""


class NotAllowed(Exception):
    """A request that this sender must never send."""


@dataclass(frozen=True)
class Bounds:
    """What a run may do.

    Args:
        max_requests: most requests, whatever they are for.
        timeout_s: longest wait for one whole answer.
        max_body: largest decoded body in bytes.
        spacing_s: least time from the end of one exchange to the start of the next.
        longest_s: longest time for the whole run; None for as long as it takes.
        longest_wait_s: longest wait that a 429 may ask for.
        live: whether this is a provider of somebody else, with only `allowed` to be sent and two 5xx ending the run.
        allowed: methods and paths, where live.
    """

    max_requests: int = 25
    timeout_s: float = 10.0
    max_body: int = 64 << 20
    spacing_s: float = 0.0
    longest_s: float | None = 60.0
    longest_wait_s: float = 10.0
    live: bool = False
    allowed: frozenset[tuple[str, str]] = frozenset()


class Sender:
    """A client of one provider.

    Args:
        base_url: the provider's URL, a path prefix included; no query.
        key: what opens it.
        bounds: what the run may do.
        transport: another transport, such as that of an ASGI app.
        on_exchange: told of every exchange.
        halted: whether the user wants the run to end.
        sleep: waits for seconds.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        base_url: str,
        key: Key,
        bounds: Bounds,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        on_exchange: Callable[[Exchange], None] = lambda exchange: None,
        halted: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.bounds = bounds
        self.sent = 0
        self.limit = bounds.max_requests
        self.exchanges: list[Exchange] = []
        self._key = key
        self._on_exchange, self._sleep, self._clock, self._halted = on_exchange, sleep, clock, halted
        self._began = clock()
        self._last: float | None = None
        self._limited = self._failed = self._silent = 0
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(
            transport=transport,
            timeout=httpx.Timeout(bounds.timeout_s),
            # Proxies are for hosts elsewhere; loopback is reached directly whatever the environment says.
            trust_env=bounds.live,
            follow_redirects=False,
            headers={"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "loopsmock-check"},
        )

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(RuntimeError):  # a loop that was stopped in the middle closes what it can
            self._runner.run(self._client.aclose())
        self._runner.close()

    @property
    def shown_url(self) -> str:
        """The provider's URL as reports may show it."""
        return self._key.scrub(self.base_url)

    @property
    def left(self) -> int:
        """How many requests may still be sent."""
        return self.limit - self.sent

    def send(self, request: Request) -> Exchange:
        """Send a request and, where the provider asks for patience with 429, once more.

        Raises:
            Stopped: nothing more may be sent, or the provider asks to be left alone.
            NotAllowed: the bounds forbid this request.
        """
        if self.bounds.live and (request.method, request.path) not in self.bounds.allowed:
            raise NotAllowed(f"{request.method} {request.path} is not among the requests that --live may send")
        exchange = self._recorded(request)
        if self._waited(exchange):
            exchange = self._recorded(request)
            self._waited(exchange)
        return exchange

    def forward(self, request: Request, headers: Headers) -> Exchange:
        """Send a request of a fuzzer as it is, within the same bounds but of any method and path; nothing is recorded.

        Args:
            request: what to send.
            headers: all of them; the key takes the place of PLACEHOLDER.

        Raises:
            Stopped: nothing more may be sent, or the provider asks to be left alone.
        """
        exchange = self._once(request, {name: self._opened(value) for name, value in headers})
        self._watch(exchange)
        self._waited(exchange)
        return exchange

    def _opened(self, value: str) -> str:
        scheme, _, key = value.partition(" ")
        return self._key.authorization(scheme) if key == PLACEHOLDER else value

    def _waited(self, exchange: Exchange) -> bool:
        """Whether the provider asked for patience with a 429, after it was granted."""
        if exchange.response is None or exchange.response.status != 429:
            return False
        self._limited += 1
        if self._limited > 1:
            raise Stopped("the provider answered 429 for the second time")
        wait_s = retry_after_s(exchange.response)
        longest_s = self.bounds.longest_wait_s
        if wait_s > longest_s:
            raise Stopped(f"the provider answered 429 and asks to wait {wait_s:g} s, more than {longest_s:g} s")
        self._sleep(wait_s)
        return True

    def _recorded(self, request: Request) -> Exchange:
        exchange = self._once(request, self._headers(request))
        self.exchanges.append(exchange)
        self._on_exchange(exchange)
        self._watch(exchange)
        return exchange

    def _once(self, request: Request, headers: Mapping[str, str]) -> Exchange:
        self._admit()
        self._pace()
        self.sent += 1
        began, at_ms = self._clock(), time.time_ns() // 1_000_000
        response: Response | None = None
        failure = ""
        try:
            response = self._runner.run(self._exchanged(request, headers))
        except _TooLarge as error:
            failure = str(error)
        except TimeoutError:
            failure = f"no whole answer within {self.bounds.timeout_s:g} s"
        except (httpx.HTTPError, OSError, httpx.InvalidURL) as error:
            failure = self._key.scrub(f"{type(error).__name__}: {error}".strip(": "))
        except Exception as error:  # an app in this process may raise anything; the run reports it and goes on
            failure = self._key.scrub(f"the provider raised {type(error).__name__}: {error}")
        self._last = self._clock()
        return Exchange(request, response, failure, at_ms, self._last - began)

    def _admit(self) -> None:
        if self._halted():
            raise Stopped("the run was interrupted")
        if self.left <= 0:
            raise Stopped(f"the budget of {self.limit} requests is used up; --max-requests allows more")
        longest = self.bounds.longest_s
        if longest is not None and self._clock() - self._began > longest:
            raise Stopped(f"the run took longer than {longest:g} s")

    def _pace(self) -> None:
        if self._last is not None and self.bounds.spacing_s:
            wait_s = self._last + self.bounds.spacing_s - self._clock()
            if wait_s > 0:
                self._sleep(wait_s)

    def _watch(self, exchange: Exchange) -> None:
        """Stop where going on would only do harm, or wait for nothing."""
        self._silent = self._silent + 1 if exchange.response is None else 0
        if self._silent >= 2:
            raise Stopped(f"the provider gave no answer twice in a row: {exchange.failure}")
        if exchange.response is not None and exchange.response.status >= 500:
            self._failed += 1
            if self.bounds.live and self._failed >= 2:
                raise Stopped(f"the provider failed with {exchange.response.status} for the second time")

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {}
        if request.scheme is not None:
            wrong = f"{request.scheme} {WRONG_KEY}"
            headers["Authorization"] = wrong if request.key == "wrong" else self._key.authorization(request.scheme)
        if request.content_type is not None:
            headers["Content-Type"] = request.content_type
        return headers

    async def _exchanged(self, request: Request, headers: Mapping[str, str]) -> Response:
        async with asyncio.timeout(self.bounds.timeout_s):
            async with self._client.stream(
                request.method, self.base_url + request.path, content=request.body, headers=headers
            ) as response:
                parts, size = [], 0
                async for part in response.aiter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > self.bounds.max_body:
                        raise _TooLarge(
                            f"the body is larger than {amount(self.bounds.max_body)}; --max-body reads more"
                        )
        # Whatever the provider echoes, the key gets no further than here.
        scrub = self._key.scrub
        pairs = tuple((scrub(name), scrub(value)) for name, value in response.headers.multi_items())
        return Response(response.status_code, pairs, self._key.scrub_bytes(b"".join(parts)))


class _TooLarge(Exception):
    """A body beyond the bounds."""


def retry_after_s(response: Response) -> float:
    """How long a 429 asks to wait: `retry_after` in the body, else the Retry-After header, else one second."""
    found: Any = None
    with suppress(ValueError):
        body = loads(response.body)
        found = body.get("retry_after") if isinstance(body, dict) else None
    if found is None:
        found = response.header("retry-after")
    try:
        seconds = float(found)
    except (TypeError, ValueError):
        return 1.0
    return seconds if math.isfinite(seconds) and seconds >= 0 else 1.0
