"""Who may ask for what, and how: keys, ids, paths, methods, hosts, other origins."""

import logging
from collections.abc import Mapping
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.mockserver.endpoint import BODY_BYTES
from loopsmock.mockserver.scenario_file import catalogue

from ..support import BEARER, NOW_MS, PATH, SPEC, Mock, accepted, error_of

MOCK = Mock()
KEYED = Mock(api_key="the key of this test")
SINGLE = PATH.replace("{deployment_id}", "single")
Headers = Mapping[str, str]


# Keys


NO_KEY: list[Headers] = [
    {},
    {"Authorization": ""},
    {"Authorization": "loopsmock"},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer "},
    {"Authorization": "Basic bG9vcHM6bW9jaw=="},
    {"X-Api-Key": "loopsmock"},
]


@pytest.mark.parametrize("headers", NO_KEY, ids=str)
def test_without_a_usable_key_it_is_403_or_401_as_asked(headers: Headers) -> None:
    assert error_of(MOCK.post({}, headers=headers), 403, "PERMISSION_DENIED") == "Authorization error"
    response = Mock(missing_auth_status=401).post({}, headers=headers)
    assert error_of(response, 401, "UNAUTHENTICATED") == "Authorization error"
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_403_either_way(status: int) -> None:
    for mock, key in (
        (Mock(missing_auth_status=status), "invalid-1"),
        (Mock(missing_auth_status=status, api_key="a"), "b"),
    ):
        for scheme in ("Bearer", "Api-Key"):
            response = mock.post({}, headers={"Authorization": f"{scheme} {key}"})
            assert error_of(response, 403, "PERMISSION_DENIED") == "Authorization error"
            assert "www-authenticate" not in response.headers


@pytest.mark.parametrize("header", ["Bearer k", "bearer k", "BEARER  k ", "Api-Key k", "api-key k"])
def test_both_schemes_are_accepted(header: str) -> None:
    for mock in (MOCK, Mock(api_key="k")):
        assert mock.post({}, headers={"Authorization": header}).status_code == 200


@given(st.binary(max_size=40))
def test_no_header_breaks_it(value: bytes) -> None:
    request = httpx.Headers([(b"Authorization", value)])
    assert KEYED.post({}, headers=request).status_code == 403


def test_the_key_is_judged_before_anything_is_looked_up() -> None:
    for deployment, body in (("nobody", {}), ("single", b"{"), ("single", b"x" * (BODY_BYTES + 1))):
        assert error_of(MOCK.post(body, deployment, {}), 403, "PERMISSION_DENIED") == "Authorization error"


@pytest.mark.parametrize("key", ["k-of-this-test", "other-k-of-this-test"])
def test_no_key_is_in_an_answer_or_a_log(key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    mock = Mock(api_key="k-of-this-test")
    for deployment, body in (("single", {}), ("nobody", {}), ("single", b"{"), ("single", {"step_seconds": 0})):
        for scheme in ("Bearer", "Api-Key", "Basic"):
            response = mock.post(body, deployment, {"Authorization": f"{scheme} {key}"})
            assert key not in response.text
            assert key not in str(response.headers)
    assert "k-of-this-test" not in " ".join(record.getMessage() for record in caplog.records)


# Ids and paths


def test_an_unknown_deployment_is_404_and_says_which_there_are() -> None:
    message = error_of(MOCK.post({}, "nobody"), 404, "NOT_FOUND")
    for word in ("'nobody'", "healthy, ", "single, ", "wide; ", "--deployment", "--any-id"):
        assert word in message
    assert error_of(MOCK.post(b"{", "nobody"), 404, "NOT_FOUND") == message, "404 before 400"


def test_ids_may_be_percent_quoted_and_added() -> None:
    mock = Mock(deployments={"k4q95w5": "single", "a b+é%": "single"})
    for raw in ("k4q95w5", "%6b4q95w5", quote("a b+é%", safe="")):
        accepted(mock.post({}, raw))
    # A plus is a plus in a path, and what was quoted twice is another id.
    for raw in ("a%20b%20%C3%A9%25", quote(quote("a b+é%", safe=""))):
        error_of(mock.post({}, raw), 404, "NOT_FOUND")


def test_with_any_id_every_id_is_healthy() -> None:
    answer = accepted(Mock(any_id=True).post({}, quote("🙂 \n", safe="")))
    assert answer["deployment_id"] == "🙂 \n"
    assert len(answer["metrics"]["per_node_metrics"]) == 2


ODD_IDS = [b"%2F", b"a%2Fb", b"%2e%2e", b"%00", b"%", b"%zz", b"%f0%9f%99%82", b"%0d%0aX: y", b";", b"", b"x" * 10_000]
ids = st.one_of(
    st.text().map(lambda text: quote(text, safe="").encode()),
    st.binary(max_size=30).map(lambda raw: b"".join(b"%%%02X" % byte for byte in raw)),
    st.sampled_from(ODD_IDS),
)


@given(ids)
def test_no_id_breaks_it(raw: bytes) -> None:
    response = MOCK.request("POST", PATH.encode().replace(b"{deployment_id}", raw), b"{}")
    message = error_of(response, 404, "NOT_FOUND")
    assert len(message) < 600
    assert "\n" not in message


@pytest.mark.parametrize(
    "path",
    ["/", "/v1/loops/deployments/", "/v1/loops/runs", SINGLE + "/", SINGLE + "/x", "/_mock", "/docs", "//", "/v1"],
)
def test_other_paths_are_404(path: str) -> None:
    assert "no such path" in error_of(MOCK.request("POST", path, b"{}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "BREW"])
def test_other_methods_are_405_with_allow(method: str) -> None:
    response = MOCK.request(method, SINGLE, b"{}")
    assert response.headers["allow"] == "POST"
    assert response.status_code == 405
    if method != "HEAD":
        assert f"{method} is not allowed here; use POST" in error_of(response, 405, "METHOD_NOT_ALLOWED")


def test_the_mocks_own_pages() -> None:
    assert MOCK.request("GET", "/openapi.json").json() == SPEC.document
    health = MOCK.request("GET", "/_mock/health", headers={}).json()
    assert health == {"status": "ok", "now_epoch_millis": NOW_MS, "deployments": list(catalogue())}
    refused = MOCK.request("POST", "/_mock/health")
    assert refused.headers["allow"] == "GET, HEAD"
    assert error_of(refused, 405, "METHOD_NOT_ALLOWED") == "use GET, HEAD"


@pytest.mark.parametrize("host", ["api.baseten.co", "localhost", "[::1]:8000", "a.b.example", "", "\xe9"])
def test_any_host_is_answered(host: str) -> None:
    assert (
        MOCK.post(
            {}, headers=httpx.Headers([(b"Host", host.encode("latin-1")), *httpx.Headers(BEARER).raw])
        ).status_code
        == 200
    )


# Other origins


ORIGIN = {"Origin": "https://dashboard.example"}


def test_a_dashboard_of_another_origin_may_ask_the_api() -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    preflight = MOCK.request("OPTIONS", SINGLE, headers=ORIGIN | asked)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    allowed = preflight.headers["access-control-allow-headers"].lower()
    assert "authorization" in allowed
    assert "content-type" in allowed
    for headers, status in ((BEARER, 200), ({}, 403)):
        answer = MOCK.post({}, headers=ORIGIN | headers)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (status, "*")


def test_no_other_origin_is_told_anything_of_the_mock_itself() -> None:
    asked = {"Access-Control-Request-Method": "GET"}
    for method, headers in (("GET", ORIGIN), ("OPTIONS", ORIGIN | asked)):
        answer = MOCK.request(method, "/_mock/health", headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control")]
