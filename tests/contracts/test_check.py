"""`loopsmock check` against servers of every kind: verdicts, exit codes, bounds, and what is never sent."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopsmock.contracts.checks import CHECKS, Verdict
from loopsmock.contracts.exchange import Request
from loopsmock.contracts.plan import metrics_request
from loopsmock.contracts.provider import Report
from loopsmock.contracts.record import RecordUnreadable, record, replayed
from loopsmock.contracts.secret import Key
from loopsmock.contracts.sender import Bounds, NotAllowed, Sender
from loopsmock.contracts.settings import Settings, SettingsRefused, run

from tests import support
from tests.support import Mock, serving

from .servers import Answer, Asked, Handler, Played, dribble, hang, html, large, limited, mocked, playing, reset

KEY = Key("loopsmock")


@pytest.fixture(scope="module")
def mock_url() -> Iterator[str]:
    with serving() as url:
        yield url


def checked(url: str, **settings: Any) -> Report:
    """A run without generated requests, about the deployment `single`."""
    return run(Settings(url, **{"deployment_ids": ["single"], "max_requests": 25} | settings), key=KEY)


def of(report: Report, id_: str) -> Verdict:
    """What became of a check."""
    return next(result.verdict for result in report.results if result.check.id == id_)


# The mock


def test_the_mock_holds_without_a_warning(mock_url: str, tmp_path: Path) -> None:
    files = {kind: str(tmp_path / f"report.{kind}") for kind in ("json", "html", "junit")}
    flags = [word for kind, file in files.items() for word in (f"--{kind}", file)]
    done = support.run("check", mock_url, *flags)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert {result["verdict"] for result in record["results"]} == {"pass"}
    assert [result["check"] for result in record["results"]] == list(CHECKS)
    counts = record["counts"]
    assert counts["requests"] == 25
    assert (counts["200s"], counts["nodes"], counts["ranks"]) == (17, 16, 128)
    assert counts["points"] > 900_000
    assert counts["generated"] >= 100
    assert "974" in done.stdout and "16 nodes and 128 GPU" in done.stdout


def test_a_path_prefix_is_kept() -> None:
    mock = Mock()

    def answer(handler: Handler, asked: Asked) -> None:
        assert asked.path.startswith("/m/x/v1/")
        inner = Asked(asked.method, asked.path.removeprefix("/m/x"), asked.headers, asked.body)
        mocked(mock)(handler, inner)

    with playing(answer) as played:
        report = checked(f"{played.url}/m/x/")
    assert report.exit_code == 0
    assert len(played.asked) == 25


def test_every_running_deployment_gets_a_budget_of_its_own(mock_url: str) -> None:
    report = checked(mock_url, deployment_ids=["single", "idle"])
    assert report.exit_code == 0
    assert report.counts["deployments"] == 2
    assert report.counts["requests"] == 1 + 2 * 24


def test_generated_requests_hold_and_are_counted(mock_url: str) -> None:
    report = checked(mock_url, fuzz=True, max_requests=25 + 160)
    assert report.exit_code == 0
    assert 150 <= report.counts["generated"] <= 185
    assert not report.notes[1:]


def test_hypothesis_finds_what_the_plan_does_not_ask_and_shrinks_it() -> None:
    mock = Mock()

    def answer(handler: Handler, asked: Asked) -> None:
        # Wrong only at a step that no planned request has.
        if b'"step_seconds": 45' in asked.body and b"437" not in asked.body:
            response = mock.request("POST", asked.path, asked.body.replace(b": 45", b": 44"), dict(support.BEARER))
            handler.say(200, response.content)
        else:
            mocked(mock)(handler, asked)

    with playing(answer) as played:
        assert checked(played.url).exit_code == 0
        report = checked(played.url, fuzz=True, max_requests=25 + 74)  # too few for schemathesis
    assert report.exit_code == 1
    (result,) = [result for result in report.failed if result.check.id == "points_keep_the_step"]
    assert result.sightings[0].exchanges[0].request.label.startswith("generated")
    assert result.sightings[0].exchanges[0].request.members["step_seconds"] == 45


def test_schemathesis_remarks_are_violations() -> None:
    mock = Mock()

    def answer(handler: Handler, asked: Asked) -> None:
        if b'"time_divisor_seconds": -' in asked.body or b'"time_divisor_seconds": 0' in asked.body:
            handler.say(200, b'{"deployment_id": "single"}')
        else:
            mocked(mock)(handler, asked)

    with playing(answer) as played:
        report = checked(played.url, fuzz=True, max_requests=25 + 75)
    (result,) = [result for result in report.failed if result.check.id == "generated_requests_keep_the_protocol"]
    assert "response_schema_conformance" in str(result.sightings) or "negative_data" in str(result.sightings)


# Nothing to judge


def test_empty_series_are_not_green(mock_url: str) -> None:
    report = checked(mock_url, deployment_ids=["cold"])
    assert report.exit_code == 2
    assert report.counts["points"] == 0
    assert "nothing was tested" in report.why_no_verdict
    assert of(report, "timestamps_ascend") == Verdict.NOT_APPLICABLE


def test_one_refusal_by_itself_can_hold(mock_url: str) -> None:
    report = checked(mock_url, only=["a_wrong_key_is_refused"])
    assert report.exit_code == 0
    assert [one.request.probe for one in report.exchanges if one.request.probe == "wrong_key"] == ["wrong_key"]


def test_without_a_listing_a_deployment_must_be_named() -> None:
    with playing(lambda handler, asked: handler.say(404, b"{}")) as played:
        report = checked(played.url, deployment_ids=[])
    assert report.exit_code == 2
    assert "--deployment-id" in report.why_no_verdict
    assert len(played.asked) == 1


def test_the_budget_counts_everything(mock_url: str) -> None:
    report = checked(mock_url, max_requests=7)
    assert len(report.exchanges) == 7
    assert report.exit_code == 2
    assert "--max-requests" in report.why_no_verdict


@pytest.mark.parametrize(("status", "asks"), [(403, "is the key right?"), (401, "key"), (404, "the deployment id")])
def test_a_key_or_id_that_opens_nothing_is_no_violation(status: int, asks: str) -> None:
    envelope = b'{"code": "X", "message": "no"}'
    with playing(lambda handler, asked: handler.say(status, envelope)) as played:
        report = checked(played.url)
    assert report.exit_code == 2
    assert asks in report.why_no_verdict
    assert len(played.asked) == (2 if status == 404 else 3)


# Servers that turn bad when generated requests come


@pytest.mark.parametrize(("answer", "why"), [(hang, "0.3 s"), (large, "larger than 1 MiB"), (limited, "429")])
def test_the_bounds_hold_for_generated_requests_too(answer: Answer, why: str) -> None:
    good = mocked(Mock())

    def turning(handler: Handler, asked: Asked) -> None:
        (good if len(handler.played.asked) <= 25 else answer)(handler, asked)

    with playing(turning) as played:
        report = checked(played.url, max_requests=125, timeout="300ms", max_body="1MiB")
    assert report.exit_code == 2
    assert why in report.why_no_verdict
    assert len(played.asked) == 27


def test_hypothesis_may_run_out_of_requests_while_it_shrinks() -> None:
    mock = Mock(max_window_s=3600)
    with playing(mocked(mock)) as played:
        for seed in range(3):
            report = checked(played.url, max_requests=25 + 70, seed=seed)
            assert report.exit_code == 1
            assert report.counts["generated"] <= 70


# Servers that are none

VERDICTS: dict[str, tuple[Answer, int, str]] = {
    "hangs": (hang, 2, "gave no answer twice in a row: no whole answer within 0.3 s"),
    "dribbles": (dribble, 2, "no whole answer within 0.3 s"),
    "resets": (reset, 2, "gave no answer twice in a row"),
    "sends 100 MB": (large, 2, "the body is larger than 1 MiB; --max-body reads more"),
    "limits": (limited, 2, "429 for the second time"),
    "answers HTML": (html, 1, ""),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_bad_server_gets_its_verdict_within_bounds(name: str) -> None:
    answer, code, why = VERDICTS[name]
    timeout = "300ms" if name in ("hangs", "dribbles") else "10s"
    with playing(answer) as played:
        report = checked(played.url, timeout=timeout, max_body="1MiB")
    assert report.exit_code == code
    assert why in report.why_no_verdict if code == 2 else True
    assert len(played.asked) <= (3 if code == 2 else 25)


def test_a_body_that_is_nested_too_deep_is_a_violation() -> None:
    def deep(handler: Handler, asked: Asked) -> None:
        handler.say(429 if len(handler.played.asked) == 1 else 200, b"[" * 200_000)

    with playing(deep) as played:
        report = checked(played.url)
    assert report.exit_code == 1
    assert of(report, "strict_json") == Verdict.FAIL


def test_html_fails_by_content_type_and_json() -> None:
    with playing(html) as played:
        report = checked(played.url)
    assert {of(report, "content_type"), of(report, "strict_json")} == {Verdict.FAIL}
    assert of(report, "timestamps_ascend") == Verdict.NOT_CHECKED


def test_a_redirect_is_not_followed() -> None:
    with playing(lambda handler, asked: handler.say(200, b"{}")) as other:

        def redirect(handler: Handler, asked: Asked) -> None:
            handler.say(307, b"", Location=f"{other.url}/v1")

        with playing(redirect) as played:
            report = checked(played.url)
    assert other.asked == []
    assert report.exit_code == 1
    (result,) = [one for one in report.results if one.check.id == "valid_requests_are_answered"]
    assert "redirects to" in result.sightings[0].violation.message


def test_one_429_is_waited_for() -> None:
    waits: list[float] = []
    first = b'{"error": "Rate limit exceeded.", "retry_after": 3}'
    answer = mocked(Mock(), lambda asked, number: first if number == 4 else None)
    with playing(answer) as played:
        settings = Settings(played.url, deployment_ids=["single"], max_requests=25)
        report = run(settings, key=KEY, sleep=waits.append)
    assert waits == [3.0]
    assert report.exit_code == 2  # one request more than planned: the budget counts it
    assert len(played.asked) == 25


def test_an_app_that_raises_is_no_verdict() -> None:
    import httpx

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("boom")

    transport = httpx.ASGITransport(app)
    report = run(Settings("http://127.0.0.1", deployment_ids=["x"]), key=KEY, transport=transport)
    assert report.exit_code == 2
    assert "the provider raised RuntimeError: boom" in report.why_no_verdict


# Somebody else's provider


def live(played: Played, **more: Any) -> tuple[Report, list[float]]:
    """A live run on a clock that moves only by sleeping, and how long each request waited."""
    now = [0.0]
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    settings = Settings(played.url, deployment_ids=["single"], live=True, **more)
    return run(settings, key=KEY, sleep=sleep, clock=lambda: now[0]), waits


def test_live_sends_the_plan_and_nothing_else() -> None:
    with playing(mocked(Mock())) as played:
        report, waits = live(played)
    assert report.exit_code == 0
    assert {(asked.method, asked.path) for asked in played.asked} == {("POST", "/v1/loops/deployments/single/metrics")}
    assert len(played.asked) == len(report.exchanges) == 20
    assert {asked.headers["authorization"] for asked in played.asked} == {"Bearer loopsmock", "Api-Key loopsmock"}
    assert waits == [2.0] * 19
    for id_ in ("a_missing_key_is_refused", "a_wrong_key_is_refused", "an_unknown_deployment_is_refused"):
        assert of(report, id_) == Verdict.NOT_CHECKED
    assert of(report, "a_wrong_method_is_refused") == of(report, "the_listing_fits_the_contract") == "not checked"
    steps = [json.loads(asked.body).get("step_seconds") for asked in played.asked if asked.body.endswith(b"}")]
    assert all(step is None or isinstance(step, (str, float)) or step >= 45 for step in steps)


def test_live_keeps_the_rate_that_is_asked_for() -> None:
    with playing(mocked(Mock())) as played:
        _, waits = live(played, rate="4/s")
    assert waits == [0.25] * 19


def test_live_stops_at_the_second_429() -> None:
    limit = b'{"error": "Rate limit exceeded.", "retry_after": 7}'
    with playing(mocked(Mock(), lambda asked, number: limit if number in (3, 6) else None)) as played:
        report, waits = live(played)
    assert len(played.asked) == 6
    assert waits == [2.0, 2.0, 7.0, 2.0, 2.0]
    assert report.exit_code == 2
    assert "second time" in report.why_no_verdict


def test_live_stops_at_the_second_5xx() -> None:
    with playing(lambda handler, asked: handler.say(503, b'{"code": "X", "message": "x"}')) as played:
        report, _ = live(played)
    assert len(played.asked) == 2
    assert "failed with 503 for the second time" in report.stopped


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"url": "https://api.baseten.co", "deployment_ids": ["a"]}, "--live says that you mean it"),
        ({"url": "http://192.168.1.5:8000"}, "--live says that you mean it"),
        ({"url": "http://localhost.example.com"}, "--live"),
        ({"url": "https://api.baseten.co", "live": True}, "--deployment-id"),
        ({"url": "https://api.baseten.co", "live": True, "deployment_ids": ["a"], "fuzz": True}, "never fuzzed"),
        ({"url": "https://x.baseten.co", "live": True, "deployment_ids": ["a"], "fuzz": True}, "never fuzzed"),
        ({"url": "https://API.baseten.co.", "live": True, "deployment_ids": ["a"], "fuzz": True}, "never fuzzed"),
        ({"url": "https://api.baseten。co", "live": True, "deployment_ids": ["a"], "fuzz": True}, "never fuzzed"),
        ({"url": "https://api.baseten.co", "live": True, "deployment_ids": ["a"], "every": True}, "--all"),
        ({"url": "http://127.0.0.1:8000\n"}, "http or https"),
        ({"url": "http://127.0.0.1", "deployment_ids": [""]}, "deployment id is empty"),
        ({"url": "ftp://127.0.0.1"}, "http or https"),
        ({"url": "127.0.0.1:8000"}, "http or https"),
        ({"url": "http://127.0.0.1:99999"}, "cannot be read"),
        ({"url": "http://u:p@127.0.0.1"}, "no user"),
        ({"url": "http://127.0.0.1", "only": ["timestamps_ascent"]}, "did you mean timestamps_ascend?"),
        ({"url": "http://127.0.0.1", "only": ["schema"], "skip": ["schema"]}, "no check is left"),
        ({"url": "http://127.0.0.1", "timeout": "soon"}, "10s, 500ms or 2m"),
        ({"url": "http://127.0.0.1", "rate": "0/s"}, "0.5/s"),
    ],
)
def test_what_may_not_run_is_refused_with_a_remedy(settings: dict[str, Any], remedy: str) -> None:
    with pytest.raises(SettingsRefused, match=re.escape(remedy)):
        Settings(**settings).checked(support.SPEC)


def test_a_live_sender_sends_nothing_but_what_is_allowed() -> None:
    bounds = Bounds(live=True, allowed=frozenset([("POST", "/v1/loops/deployments/a/metrics")]))
    with playing(html) as played, Sender(played.url, KEY, bounds) as sender:
        for request in (
            Request("x", "GET", "/v1/loops/deployments/a/metrics"),
            Request("x", "POST", "/v1/loops/deployments/a/deactivate"),
            metrics_request("b", "x", {}),
            metrics_request("a/../b", "x", {}),
        ):
            with pytest.raises(NotAllowed):
                sender.send(request)
    assert played.asked == []


def test_a_dry_run_prints_the_plan_and_sends_nothing() -> None:
    with playing(html) as played:
        done = support.run("check", played.url, "--live", "--deployment-id", "k4q95w5", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert played.asked == []
    assert done.stdout.count("\ncurl ") == 20
    assert done.stdout.count("/v1/loops/deployments/k4q95w5/metrics") == 20
    assert "one every 2 s" in done.stdout


# The command line


def test_the_exit_code_is_1_for_a_violation_and_the_report_says_how_to_see_it(tmp_path: Path) -> None:
    mock = Mock()

    def answer(handler: Handler, asked: Asked) -> None:
        response = mock.request(asked.method, asked.path, asked.body, {"authorization": "Bearer k"})
        handler.say(response.status_code, response.content.replace(b'"single"', b'"SINGLE"'))

    record = tmp_path / "run.json"
    with playing(answer) as played:
        done = support.run(
            "check", played.url, "--deployment-id", "single", "--max-requests", "25", "--json", str(record)
        )
    assert done.returncode == 1
    assert "deployment_id_is_echoed" in done.stdout
    assert '"Authorization: Bearer ${BASETEN_API_KEY:-loopsmock}"' in done.stdout
    again = support.run("replay", str(record))
    assert again.returncode == 1
    assert "deployment_id_is_echoed" in again.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["check", "https://api.baseten.co"], "--live"),
        (["check", "http://127.0.0.1:1", "--only", "x"], "there is no check 'x'"),
        (["check", "http://127.0.0.1:1", "--html", "a", "--json", "a"], "the same file"),
        (["check", "http://127.0.0.1:1", "--deployment-id", ""], "deployment id is empty"),
        (["check", "http://127.0.0.1:1", "--deployment-id", "a", "--api-key-file", "/nowhere"], "cannot read the API"),
        (["replay", "README.md"], "is broken"),
        (["replay", sys.executable], "this is no text"),
        (["explain", "timestamp_ascend"], "did you mean timestamps_ascend?"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(words: list[str], says: str) -> None:
    done = support.run(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_server_that_is_not_there_is_no_verdict(tmp_path: Path) -> None:
    for words in ([], ["--deployment-id", "single"]):
        junit = tmp_path / "report.xml"
        done = support.run("check", "http://127.0.0.1:1", *words, "--junit", str(junit))
        assert done.returncode == 2
        assert "no verdict" in done.stdout
        assert "the_run" in junit.read_text("utf-8")
        junit.unlink()


def test_colour_is_left_out_where_it_is_not_wanted(tmp_path: Path) -> None:
    words = f"{sys.executable} -m loopsmock check http://127.0.0.1:1 --deployment-id x"
    shown = {}
    for name, variables in {"colour": {}, "none": {"NO_COLOR": "1"}}.items():
        command = ["script", "-qec", words, str(tmp_path / name)]
        done = subprocess.run(command, env=support.environment(**variables), capture_output=True, encoding="utf-8")
        shown[name] = done.stdout
    assert "\x1b[3" in shown["colour"]
    assert "\x1b[3" not in shown["none"]


@pytest.mark.parametrize("delay_s", [0.4, 1.2, 2.0, 3.0])
def test_an_interrupted_run_is_reported_as_such(delay_s: float, mock_url: str, tmp_path: Path) -> None:
    record = tmp_path / "run.json"
    command = [sys.executable, "-m", "loopsmock", "check", mock_url, "--fuzz", "--json", str(record)]
    with subprocess.Popen(command, env=support.environment(), stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            time.sleep(delay_s)
            process.send_signal(signal.SIGINT)
            told, _ = process.communicate(timeout=120)
        finally:
            process.kill()
    # An interrupt before the run begins leaves nothing to report: Python ends by the signal, or click by 130.
    assert process.returncode in ((2,) if told else (130, -signal.SIGINT))
    if told:
        assert "no verdict: the run was interrupted" in told
        assert json.loads(record.read_text("utf-8"))["stopped"] == "the run was interrupted"


def test_explain_lists_and_explains() -> None:
    listed = support.run("explain")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(CHECKS)
    told = support.run("explain", "the_divisor_scales_volume")
    for part in (CHECKS["the_divisor_scales_volume"].good, CHECKS["the_divisor_scales_volume"].bad):
        assert part in told.stdout


# A record that somebody has edited


def edited(record: dict[str, Any], number: int, **request: Any) -> str:
    changed = json.loads(json.dumps(record))
    changed["exchanges"][number]["request"] |= request
    return json.dumps(changed)


def test_an_edited_record_is_judged_or_refused_but_never_crashes(mock_url: str, tmp_path: Path) -> None:
    report = checked(mock_url)
    document = json.loads(record(report, support.SPEC))
    number = next(i for i, one in enumerate(report.exchanges) if one.request.label == "hour")
    bodies = [
        '{"step_seconds": 0}',
        '{"time_divisor_seconds": 0}',
        "[" * 100_000,
        '{"end_epoch_millis": 1e300}',
        "null",
    ]
    for text in (
        edited(document, number, method="FOO"),
        edited(document, number, path="/x"),
        edited(document, number, probe="wrong_key"),
        edited(document, 0, probe="valid"),
        *(edited(document, number, body=body) for body in bodies),
    ):
        assert replayed(text, support.SPEC, list(CHECKS.values()), strict=False).exit_code in (0, 1, 2)
    for counts in ({"generated": -5}, {"generated": 10**30}, {"generated": True}, []):
        with pytest.raises(RecordUnreadable, match="counts"):
            replayed(json.dumps({**document, "counts": counts}), support.SPEC, list(CHECKS.values()), strict=False)
    with pytest.raises(RecordUnreadable, match="target"):
        replayed(json.dumps({**document, "target": "http://\x1b"}), support.SPEC, list(CHECKS.values()), strict=False)
