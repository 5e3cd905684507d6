"""How an answer is sent: whole or as a stream that ends when nobody listens; and what is kept of it."""

import asyncio
from typing import Any

from loopsmock.mockserver import create_app
from loopsmock.mockserver.answer import BLOCK_BYTES, Answers
from starlette.types import Message

from ..support import NOW_MS, PATH

APP = create_app(clock=lambda: NOW_MS)
PLAN = APP.state.routing.served[PATH]["POST"][1]
WORLD = APP.state.world
SCOPE: dict[str, Any] = {"type": "http", "method": "POST", "path": "/", "headers": []}
DAY_MS = 86_400_000


def sent(answers: Answers, members: dict[str, int | None], leave_after: int | None = None) -> list[Message]:
    """What an answer sends to a client that hangs up after some messages."""
    messages: list[Message] = []

    async def run() -> None:
        left = asyncio.Event()

        async def receive() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            messages.append(message)
            if len(messages) == leave_after:
                left.set()

        await answers.respond(PLAN, WORLD.view(WORLD.deployments["wide"], members))(SCOPE, receive, send)

    asyncio.run(run())
    return messages


def test_a_large_answer_comes_in_blocks_without_a_length() -> None:
    start, *blocks = sent(Answers(), {"start_epoch_millis": NOW_MS - DAY_MS})
    assert b"content-length" not in dict(start["headers"])
    assert all(len(block["body"]) >= BLOCK_BYTES for block in blocks[:-2])
    assert [block["more_body"] for block in blocks] == [True] * (len(blocks) - 1) + [False]


def test_a_stream_ends_soon_when_the_client_has_gone() -> None:
    day: dict[str, int | None] = {"start_epoch_millis": NOW_MS - DAY_MS}
    assert len(sent(Answers(), day)) > 20
    assert len(sent(Answers(), day, leave_after=5)) <= 7


def test_small_answers_are_kept_up_to_a_limit() -> None:
    answers = Answers(kept_bytes=5_000_000)
    windows: list[dict[str, int | None]] = [
        {"start_epoch_millis": NOW_MS - 600_000 - back, "end_epoch_millis": NOW_MS - back}
        for back in range(0, 300_000, 15_000)
    ]
    bodies = [sent(answers, window)[-1]["body"] for window in windows]
    again = [sent(answers, window)[-1]["body"] for window in windows]
    assert bodies == again
    assert again[-1].obj is sent(answers, windows[-1])[-1]["body"].obj, "the newest is kept"
    assert again[0].obj is not sent(answers, windows[0])[-1]["body"].obj, "the oldest was let go"
