"""The endpoint over HTTP: answers of every size, bodies of any kind, hints in the log."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopsmock.mockserver.answer import WHOLE_BYTES
from loopsmock.mockserver.endpoint import BODY_BYTES

from ..support import BEARER, DAY_MS, HOUR_MS, NOW_MS, PATH, Mock, accepted, error_of

MOCK = Mock()
FEW_POINTS = Mock(max_points=300)
SINGLE = PATH.replace("{deployment_id}", "single")
MEMBERS = ("start_epoch_millis", "end_epoch_millis", "step_seconds", "time_divisor_seconds")


# Answers


@pytest.mark.parametrize("deployment", ["healthy", "single", "wide"])
def test_an_answer_is_what_the_contract_and_its_documented_part_say(deployment: str) -> None:
    answer = accepted(MOCK.post({}, deployment))
    assert answer["deployment_id"] == deployment
    assert len(answer["metrics"]["inference_volume"]) == 121
    assert answer["metrics"]["inference_volume"][-1]["timestamp"] == "2026-12-01T05:03:00Z"


@pytest.mark.parametrize(
    "members",
    [
        {"start_epoch_millis": 0, "end_epoch_millis": HOUR_MS},
        {"start_epoch_millis": NOW_MS + 1000, "end_epoch_millis": NOW_MS + HOUR_MS},
        {"start_epoch_millis": NOW_MS - 100_000, "end_epoch_millis": NOW_MS + HOUR_MS},
        {"start_epoch_millis": 253_402_300_799_000, "end_epoch_millis": 253_402_300_799_999},
        {"step_seconds": 1_000_000_000},
        {"step_seconds": 1},
        {"time_divisor_seconds": 31_536_000},
        {"start_epoch_millis": NOW_MS - 6 * DAY_MS},
    ],
    ids=str,
)
def test_answers_at_the_edges_are_accepted(members: dict[str, int]) -> None:
    accepted(MOCK.post(members))


def test_nothing_is_shown_of_the_future_or_before_the_deployment_was_made() -> None:
    half = MOCK.metrics(start_epoch_millis=NOW_MS - 60_000, end_epoch_millis=NOW_MS + HOUR_MS, step_seconds=30)
    assert len(half["cpu_usage"]) == len(half["inference_volume"]) == 3
    empty = MOCK.metrics(start_epoch_millis=0, end_epoch_millis=HOUR_MS)
    assert empty["per_node_metrics"] == empty["inference_volume"] == empty["cpu_usage"] == []
    assert empty["gpu_utilization"] == empty["gpu_memory_usage_bytes"] == {}
    assert empty["ephemeral_storage"] == {"usage_bytes": [], "utilization": []}


def test_in_the_lag_traffic_is_zero_and_compute_is_not_there_yet() -> None:
    metrics = Mock(lag_s=90).metrics()
    assert len(metrics["inference_volume"]) == 121
    newest = metrics["inference_volume"][-1], metrics["response_time_stats"][-1]
    assert newest[0] == {"value": 0.0, "timestamp": "2026-12-01T05:03:00Z"}
    assert newest[1] == {"timestamp": "2026-12-01T05:03:00Z", "p50": None, "p95": None, "p99": None}
    assert metrics["cpu_usage"][-1]["timestamp"] == "2026-12-01T05:01:30Z"


def test_a_stream_is_the_sum_of_its_parts() -> None:
    start_ms = NOW_MS // 1000 * 1000 - 2 * HOUR_MS
    response = MOCK.post({"start_epoch_millis": start_ms, "end_epoch_millis": NOW_MS, "step_seconds": 1})
    assert len(response.content) > WHOLE_BYTES
    assert "content-length" not in response.headers
    whole = accepted(response)["metrics"]
    parts: list[dict[str, Any]] = []
    for first_ms in range(start_ms, NOW_MS + 1, HOUR_MS // 6):
        last_ms = first_ms + HOUR_MS // 6 - 1
        piece = MOCK.post({"start_epoch_millis": first_ms, "end_epoch_millis": last_ms, "step_seconds": 1})
        assert int(piece.headers["content-length"]) == len(piece.content) < WHOLE_BYTES
        parts.append(accepted(piece)["metrics"])
    assert len(whole["cpu_usage"]) == 7_201
    assert whole == joined(parts)


def joined(parts: list[Any]) -> Any:
    """Answers over windows that follow each other as one: series put end to end, wherever they stand."""
    first = parts[0]
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    if isinstance(first, list) and any("node_id" in entry for entry in first):
        return [joined(list(entries)) for entries in zip(*parts, strict=True)]
    return [point for part in parts for point in part] if isinstance(first, list) else first


# Bodies


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-16", "multipart/form-data", "?"],
)
def test_the_body_is_json_whatever_its_content_type_says(content_type: str) -> None:
    headers = BEARER | {"Content-Type": content_type}
    accepted(MOCK.post(dict.fromkeys(MEMBERS), headers=headers))
    assert "not valid JSON" in error_of(MOCK.post(b"a=1", headers=headers), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("body", "member", "rule"),
    [
        (b"", "body", "empty"),
        (b" \n", "body", "empty"),
        (b"{", "body", "not valid JSON"),
        (b'{"step_seconds": 30,}', "body", "not valid JSON"),
        (b"a=b", "body", "not valid JSON"),
        (b"\xff", "body", "UTF-8"),
        (b"\xef\xbb\xbf{}", "body", "byte order mark"),
        (b"[]", "body", "object"),
        (b"null", "body", "object"),
        (b'"{}"', "body", "object"),
        (b'{"step_seconds": NaN}', "body", "NaN"),
        (b'{"step_seconds": 1, "step_seconds": 2}', "body", "twice"),
        (b'{"x": "\\ud800"}', "body", "surrogate"),
        (b'{"step_seconds": 1e400}', "body", "too large"),
        (b'{"step_seconds": 1' + b"0" * 400 + b"}", "body", "too large"),
        (b'{"x": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", "body", "nesting"),
        ({"step_seconds": 10**399}, "step_seconds", "at most 1000000000"),
        ({"step_seconds": 0}, "step_seconds", "at least 1"),
        ({"step_seconds": -5}, "step_seconds", "at least 1"),
        ({"step_seconds": 1.5}, "step_seconds", "integer"),
        ({"step_seconds": "60"}, "step_seconds", "integer"),
        ({"step_seconds": True}, "step_seconds", "integer"),
        ({"step_seconds": [60]}, "step_seconds", "integer"),
        ({"time_divisor_seconds": 0}, "time_divisor_seconds", "at least 1"),
        ({"time_divisor_seconds": 31_536_001}, "time_divisor_seconds", "at most 31536000"),
        ({"start_epoch_millis": -1}, "start_epoch_millis", "at least 0"),
        ({"end_epoch_millis": 253_402_300_800_000}, "end_epoch_millis", "at most 253402300799999"),
        ({"start_epoch_millis": {}}, "start_epoch_millis", "integer"),
        ({"start_epoch_millis": NOW_MS, "end_epoch_millis": NOW_MS}, "start_epoch_millis", "before end_epoch_millis"),
        ({"start_epoch_millis": NOW_MS + 1}, "start_epoch_millis", "now"),
        ({"start_epoch_millis": NOW_MS - 8 * DAY_MS}, "start_epoch_millis", "longer than 604800 s"),
        ({"start_epoch_millis": NOW_MS - 4 * HOUR_MS, "step_seconds": 1}, "step_seconds", "2 or more would do"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_bad_body_is_400_naming_member_and_rule(body: Any, member: str, rule: str) -> None:
    message = error_of(MOCK.post(body), 400, "VALIDATION_ERROR")
    assert message.startswith(f"{member}: ")
    assert rule in message
    assert len(message) < 600


@pytest.mark.parametrize(
    "body", [{"step_seconds": 60.0}, {"stepSeconds": 60, "x": [None]}, dict.fromkeys(MEMBERS), b" {}\r\n"]
)
def test_bodies_that_are_fine(body: Any) -> None:
    accepted(MOCK.post(body))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
plausible = st.one_of(
    st.none(), st.integers(NOW_MS - 8 * DAY_MS, NOW_MS + DAY_MS), st.integers(0, 100_000), st.integers(), json_values
)


@given(
    st.one_of(
        st.binary(max_size=200), json_values, st.fixed_dictionaries({}, optional=dict.fromkeys(MEMBERS, plausible))
    )
)
@settings(max_examples=300)
def test_no_body_breaks_it(body: Any) -> None:
    response = FEW_POINTS.post(body)
    if response.status_code == 200:
        accepted(response)
    else:
        message = error_of(response, 400, "VALIDATION_ERROR")
        assert message.partition(": ")[0].isprintable()


# Bodies that are too large


@pytest.mark.parametrize("declared", [True, False], ids=["Content-Length", "chunked"])
def test_a_body_over_the_limit_is_413(declared: bool) -> None:
    async def chunks(body: bytes) -> AsyncIterator[bytes]:
        for first in range(0, len(body), 10_000):
            yield body[first : first + 10_000]

    fits = b"{}".ljust(BODY_BYTES)
    for body, status in ((fits, 200), (fits + b" ", 413)):
        response = MOCK.request("POST", SINGLE, body if declared else chunks(body))
        assert ("content-length" in response.request.headers) == declared
        assert response.status_code == status
    assert f"{BODY_BYTES} bytes" in error_of(response, 413, "PAYLOAD_TOO_LARGE")


def test_a_large_declared_body_is_refused_unread() -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    response = MOCK.request("POST", SINGLE, never(), BEARER | {"Content-Length": str(10**12)})
    error_of(response, 413, "PAYLOAD_TOO_LARGE")


# The log


def test_a_start_that_looks_like_seconds_is_hinted_at(caplog: pytest.LogCaptureFixture) -> None:
    seconds = NOW_MS // 1000
    MOCK.post({"start_epoch_millis": seconds - 3600, "end_epoch_millis": seconds})
    assert [record.getMessage() for record in caplog.records if record.name == "loopsmock"] == [
        f"start_epoch_millis {seconds - 3600} looks like seconds; the endpoint takes milliseconds",
        f"end_epoch_millis {seconds} looks like seconds; the endpoint takes milliseconds",
    ]
    caplog.clear()
    MOCK.post({"start_epoch_millis": NOW_MS - HOUR_MS, "end_epoch_millis": NOW_MS})
    assert not [record for record in caplog.records if record.name == "loopsmock"]
