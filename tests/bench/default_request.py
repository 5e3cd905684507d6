"""Figure b: the default request on `healthy` over HTTP, beside three servers that were given the answer."""

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path

from figures import NotMeasuredError, Row, ratio_of_rounds, spread
from launch import NOW_MS, baseline, loopsmock
from load import Connection, metrics_request, seconds_a_request

DEPLOYMENT = "healthy"
HOUR_MS = 3_600_000
MOVE_MS = 1_000
"""A dashboard's window moves by seconds. No answer serves twice, though neighbours share native samples."""
HOP_MS = 3_607_000
"""More than the window is long and no multiple of a sample: nothing kept of one window serves the next."""
LEAST_RELATIVE_SIZE = 0.9
SAME, MOVING, HOPPING = "same window", "moving window", "hopping window"
PREBUILT, BARE, RESPONSE_MODEL = "prebuilt", "bare", "response_model"
TARGETS = (
    (SAME, "x the speed of FastAPI with prebuilt bytes", PREBUILT, 0.8),
    (MOVING, "x the speed of FastAPI with prebuilt bytes", PREBUILT, 0.4),
    (HOPPING, "x the speed of FastAPI with prebuilt bytes", PREBUILT, 0.4),
    (SAME, "x the speed of bare ASGI with prebuilt bytes", BARE, None),
    (MOVING, "x the speed of bare ASGI with prebuilt bytes", BARE, None),
    (HOPPING, "x the speed of bare ASGI with prebuilt bytes", BARE, None),
    (SAME, "x the speed of FastAPI with response_model", RESPONSE_MODEL, 10.0),
    (MOVING, "x the speed of FastAPI with response_model", RESPONSE_MODEL, 10.0),
    (HOPPING, "x the speed of FastAPI with response_model", RESPONSE_MODEL, 10.0),
)


def moving_requests(by_ms: int) -> Iterator[bytes]:
    """Requests for an hour each, whose windows move by so much from one to the next."""
    # Forwards and far from now, so that none of them meets the present.
    for number in count(1):
        end_ms = NOW_MS - 3_000 * HOP_MS // 2 + number * by_ms
        yield metrics_request(DEPLOYMENT, {"start_epoch_millis": end_ms - HOUR_MS, "end_epoch_millis": end_ms})


def figure_b(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """Alternating rounds over all contenders, each in a process of its own; medians of the rounds' ratios."""
    rounds, fast, slow = (3, 20, 2) if quick else (17, 60, 4)
    # Members left out: the last hour. Now is frozen, so the window is the same again and again.
    default = metrics_request(DEPLOYMENT, {})
    moving = {MOVING: moving_requests(MOVE_MS), HOPPING: moving_requests(HOP_MS)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mock = _connected(stack, stack.enter_context(loopsmock()).url)
        body = bytearray()
        size = mock.exchange(default, body).size
        for requests in moving.values():
            _same_size(mock, list(islice(requests, fast)), size)
        (folder / "answer.json").write_bytes(body)
        connections = {SAME: mock, MOVING: mock, HOPPING: mock}
        for kind in (PREBUILT, BARE, RESPONSE_MODEL):
            connection = _connected(stack, stack.enter_context(baseline(kind, folder / "answer.json")).url)
            _same_size(connection, [default] * 3, size)
            connections[kind] = connection
        seconds: dict[str, list[float]] = {name: [] for name in connections}
        order = list(connections)
        for number in range(rounds):
            say(f"b: round {number + 1} of {rounds}")
            for name in order:
                repeats = slow if name == RESPONSE_MODEL else fast
                requests = list(islice(moving[name], fast)) if name in moving else [default] * repeats
                # Once unmeasured: what the contender before left in caches is not this one's to pay for.
                connections[name].exchange(next(moving[name]) if name in moving else default)
                seconds[name].append(seconds_a_request(connections[name], requests))
            order.append(order.pop(0))  # nobody always follows the same neighbour
    return _rows(seconds, size)


def _rows(seconds: dict[str, list[float]], size: int) -> list[Row]:
    rounds = len(seconds[SAME])
    detail = {"bytes": size, "rounds": rounds, "ms": {name: spread(each, 1000) for name, each in seconds.items()}}
    rows = [
        Row(
            "b",
            f"{ours}, {what}",
            ratio_of_rounds(seconds[other], seconds[ours]),
            "x",
            "none" if target is None else "at least",
            target,
            detail,
        )
        for ours, what, other, target in TARGETS
    ]
    rows += [
        Row("b", f"{ours}, one request", statistics.median(seconds[ours]) * 1000, "ms")
        for ours in (SAME, MOVING, HOPPING)
    ]
    return rows


def _connected(stack: ExitStack, url: str) -> Connection:
    connection = Connection(url)
    stack.callback(connection.close)
    return connection


def _same_size(connection: Connection, requests: Sequence[bytes], size: int) -> None:
    """Warm up, and make sure that what is compared is as large: an emptier answer would be no fair race."""
    for request in requests:
        got = connection.exchange(request).size
        if got < LEAST_RELATIVE_SIZE * size:
            raise NotMeasuredError(f"an answer has {got} bytes where {size} are compared")
