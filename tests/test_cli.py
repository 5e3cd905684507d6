"""The command line, in real processes on a free port of loopback."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from loopsmock import __version__
from loopsmock.contracts.spec import load
from loopsmock.mockserver import create_app
from loopsmock.mockserver.cli import commands
from loopsmock.mockserver.greeting import greeting
from loopsmock.mockserver.listen import listen, url_of
from loopsmock.mockserver.options import instant_ms, seconds

from .support import BEARER, environment, run

PATIENCE_S = 60.0
METRICS = "/v1/loops/deployments/{}/metrics"


def unbuffered_line(descriptor: int) -> str:
    """One line, and not a byte more: what a buffer takes beyond it, `communicate` would not give back."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(descriptor, 1)):
        line += byte
    return line.decode()


class Running:
    """A server in its own process; `stop` gives what it left."""

    def __init__(self, *words: str, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "loopsmock", "serve", *words],
            env=environment(**{"LOOPSMOCK_PORT": "0"} | variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.watch = threading.Timer(PATIENCE_S, self.process.kill)
        self.watch.start()
        assert self.process.stdout
        self.first_line = unbuffered_line(self.process.stdout.fileno())
        self.url = self.first_line.strip().removeprefix("LOOPSMOCK_URL=")
        self.port = int(self.url.rpartition(":")[2] or 0)

    def ask(self, deployment: str = "healthy", query: str = "", headers: dict[str, str] = BEARER) -> httpx.Response:
        """The default request."""
        return httpx.post(self.url + METRICS.format(deployment) + query, json={}, headers=headers, timeout=PATIENCE_S)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit code, the rest of stdout, stderr."""
        self.process.send_signal(with_signal)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


@contextmanager
def serving(*words: str, **variables: str) -> Iterator[Running]:
    """A server that is gone afterwards, whatever happens."""
    server = Running(*words, **variables)
    try:
        yield server
    finally:
        server.watch.cancel()
        server.process.kill()
        server.process.communicate()


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line with which a command was refused."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("loopsmock: ")
    return line


def test_the_first_line_says_where_and_the_server_accepts() -> None:
    with serving() as server:
        assert server.first_line == f"LOOPSMOCK_URL=http://127.0.0.1:{server.port}\n"
        assert httpx.get(server.url + "/_mock/health", timeout=PATIENCE_S).status_code == 200
        answer = server.ask()
        assert answer.status_code == 200
        assert "date" in answer.headers
        assert "server" not in answer.headers
        code, text, log = server.stop()
    assert code == 0
    for word in ("ManagementClient(", "BaseURL", "LOOPS_BASE_URL", "truss", "healthy", "single", "wide", server.url):
        assert word in text
    health, post = log.splitlines()
    assert health.startswith("GET /_mock/health 200 ")
    assert post.startswith(f"POST {METRICS.format('healthy')} 200 {len(answer.content)} B ")


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
@pytest.mark.parametrize("variables", [{}, {"LOOPSMOCK_API_KEY": "s3cret-of-this-test"}], ids=["any key", "one key"])
def test_the_curl_line_works_when_pasted(variables: dict[str, str], tmp_path: Path) -> None:
    with serving(**variables) as server:
        assert server.process.stdout
        line = next(line for line in server.process.stdout if line.strip().startswith("curl "))
        # Our own file of settings: somebody's ~/.curlrc must not take part.
        shell = environment(HOME=str(tmp_path), no_proxy="*", **variables)
        done = subprocess.run(["sh", "-c", line], env=shell, capture_output=True, timeout=PATIENCE_S)
    assert json.loads(done.stdout)["deployment_id"] in line


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_with_exit_0_while_clients_hold_on(with_signal: signal.Signals) -> None:
    with serving() as server, httpx.Client() as idle, socket.create_connection(("127.0.0.1", server.port)) as slow:
        assert idle.get(server.url + "/_mock/health", timeout=PATIENCE_S).status_code == 200
        # Some 200 MB, of which the client reads one byte: the answer is still under way.
        body = json.dumps({"step_seconds": 60, "start_epoch_millis": 1_796_083_200_000 - 604_800_000,
                           "end_epoch_millis": 1_796_083_200_000}).encode()  # fmt: skip
        head = f"POST {METRICS.format('wide')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: "
        slow.sendall(f"{head}{len(body)}\r\n\r\n".encode() + body)
        assert slow.recv(1) == b"H"
        code, _, log = server.stop(with_signal)
    assert code == 0
    assert "Traceback" not in log
    assert " cut short\n" in log


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_localhost_answers_on_both_addresses() -> None:
    with serving("--host", "localhost") as server:
        for host in ("127.0.0.1", "[::1]"):
            assert httpx.get(f"http://{host}:{server.port}/_mock/health", timeout=PATIENCE_S).status_code == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_port_in_use_is_one_line_with_the_remedy(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.socket(family)) as taken:
        taken.bind((address, 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        line = refused(run("serve", "--port", port))
    assert f"port {port} on {address} is in use" in line
    assert "--port 0" in line


def test_the_port_file_is_there_when_the_first_line_is(tmp_path: Path) -> None:
    file = tmp_path / "port"
    file.write_text("stale")
    with serving("--port-file", str(file)) as server:
        assert file.read_text() == f"{server.port}\n"
        assert list(tmp_path.iterdir()) == [file]


def test_an_old_port_file_is_gone_when_the_start_fails(tmp_path: Path) -> None:
    file = tmp_path / "port"
    file.write_text("4711\n")
    refused(run("serve", "--port", "0", "--port-file", str(file), "--deployment", "a=nothing"))
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("serve --port x", "--port"),
        ("serve --port 65536", "65535"),
        ("serve --port-file /dev/null/port", "port file /dev/null/port"),
        ("serve --now 2026-12-01T05:03:00", "write 2026-12-01T05:03:00Z"),
        ("serve --now yesterday", "ISO 8601"),
        ("serve --now 1969-12-31T23:59:59Z", "1970"),
        ("serve --max-window 7w", "7d, 12h"),
        ("serve --max-window 0", "3650d"),
        ("serve --lag=-1", "duration"),
        ("serve --max-points 0", "--max-points"),
        ("serve --deployment healthy", "ID=SCENARIO"),
        ("serve --deployment a=healthy --deployment a=single", "twice"),
        ("serve --port 0 --deployment a=nothing", "there are healthy, "),
        ("serve --missing-auth-status 402", "'401', '403'"),
        ("serve --spec no-such-file.yaml", "no-such-file.yaml"),
        ("serve --port 0 --spec {root}/Makefile", "Makefile"),
        ("serve --port 0 --host a..b", "127.0.0.1"),
        ("serve --port 0 --host 203.0.113.7", "no address 203.0.113.7"),
        ("serve --prot 1", "--prot"),
        ("sevre", "sevre"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(words: str, says: str) -> None:
    root = Path(__file__).resolve().parents[1]
    assert says in refused(run(*words.format(root=root).split()))


def test_every_flag_of_serve_is_read_from_the_environment() -> None:
    (serve,) = (command for command in commands if command.name == "serve")
    for option in serve.params:
        assert option.envvar == "LOOPSMOCK_" + option.opts[0][2:].upper().replace("-", "_")
    with serving(
        LOOPSMOCK_DEPLOYMENT="k4q95w5=healthy qvm1v4e=single",
        LOOPSMOCK_QUIET="1",
        LOOPSMOCK_NOW="2026-12-01T06:03:00+01:00",
        LOOPSMOCK_MISSING_AUTH_STATUS="401",
    ) as server:
        for deployment in ("k4q95w5", "qvm1v4e"):
            volume = server.ask(deployment).json()["metrics"]["inference_volume"]
            assert volume[-1]["timestamp"] == "2026-12-01T05:03:00Z"
        assert server.ask(headers={}).status_code == 401
        assert server.stop() == (0, "", "")


def test_a_flag_wins_over_its_variable() -> None:
    assert "'7w'" in refused(run("serve", "--max-window", "7w", LOOPSMOCK_MAX_WINDOW="1d"))
    assert "'8w'" in refused(run("serve", LOOPSMOCK_MAX_WINDOW="8w"))


def test_quiet_leaves_only_the_first_line() -> None:
    with serving("--quiet") as server:
        assert server.ask().status_code == 200
        assert server.stop(signal.SIGINT) == (0, "", "")


def test_neither_key_nor_query_is_ever_printed() -> None:
    key = "s3cret-of-this-test"
    with serving(LOOPSMOCK_API_KEY=key) as server:
        assert server.ask(query=f"?key={key}", headers={"Authorization": f"Api-Key {key}"}).status_code == 200
        refusal = server.ask(headers=BEARER)
        assert refusal.status_code == 403
        _, out, err = server.stop()
    done = run("serve", "--port", "0", "--deployment", "a=nothing", LOOPSMOCK_API_KEY=key)
    for text in (out, err, refusal.text, done.stdout, done.stderr):
        assert key not in text
    assert "$LOOPSMOCK_API_KEY" in out
    assert "?" not in err


def test_a_log_that_nobody_reads_stalls_no_answer() -> None:
    # 1,500 lines of 60 bytes and more are beyond what the pipe behind stderr holds.
    with serving() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        with closing(connection):
            for _ in range(1_500):
                connection.request("GET", "/_mock/health" + "x" * 40)
                connection.getresponse().read()
        code, _, log = server.stop()
    assert code == 0
    assert 100 < len(log.splitlines()) < 1_500


def test_a_reader_of_stdout_that_leaves_does_not_end_it(tmp_path: Path) -> None:
    file = tmp_path / "port"
    reader, writer = os.pipe()
    os.close(reader)  # so the first line already meets a broken pipe
    command = [sys.executable, "-m", "loopsmock", "serve", "--port", "0", "--port-file", str(file)]
    process = subprocess.Popen(command, env=environment(), stdout=writer, stderr=subprocess.PIPE, encoding="utf-8")
    os.close(writer)
    try:
        end = time.monotonic() + PATIENCE_S
        while not file.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        url = f"http://127.0.0.1:{int(file.read_text())}/_mock/health"
        assert httpx.get(url, timeout=PATIENCE_S).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "BrokenPipe" not in log


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_start_that_is_under_way_with_exit_0(with_signal: signal.Signals, tmp_path: Path) -> None:
    fifo = tmp_path / "spec.yaml"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "loopsmock", "serve", "--port", "0", "--spec", str(fifo)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    watch = threading.Timer(PATIENCE_S, process.kill)
    watch.start()
    try:
        with fifo.open("wb"):  # returns when the server has opened it to read, and makes it wait there
            process.send_signal(with_signal)
            assert process.communicate(timeout=PATIENCE_S) == (b"", b"")
        assert process.returncode == 0
    finally:
        watch.cancel()
        process.kill()
        process.wait()


def test_a_port_file_that_cannot_be_written_ends_it(tmp_path: Path) -> None:
    assert "cannot write the port file" in refused(
        run("serve", "--port", "0", "--port-file", str(tmp_path / "no/port"))
    )


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("localhost", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("192.0.2.7", "http://192.0.2.7:80"),
        ("mock.test", "http://mock.test:80"),
    ],
)
def test_the_url_is_one_that_a_client_on_this_machine_reaches(host: str, url: str) -> None:
    assert url_of(host, 80) == url


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_a_host_other_than_127_0_0_1_is_listened_on_alone() -> None:
    for host in ("::1", "0.0.0.0"):
        (sock,) = listen(host, 0)
        with closing(sock):
            assert sock.getsockname()[0] == host


def test_the_text_for_people_fits_the_port_and_the_spec() -> None:
    app = create_app()
    routing, deployments = app.state.routing, app.state.world.deployments
    text = greeting("http://127.0.0.1:8000", routing, deployments, key_set=False)
    assert "remote_url = http://localhost:8000" in text
    assert "skipped" not in text
    routing.skipped.append("GET /v1/models: not ours")
    other = greeting("http://127.0.0.1:8001", routing, deployments, key_set=False)
    assert "remote_url = " not in other
    assert "Operations of openapi.yaml: 4 served, 1 skipped\n" in other
    routing.skipped *= 11
    many = greeting("http://127.0.0.1:8001", routing, deployments, key_set=False)
    assert "  create_app().state.routing.skipped\n" in many


@pytest.mark.parametrize("others", [0, 10, 11])
def test_under_a_spec_it_says_how_many_operations_are_served(others: int, tmp_path: Path) -> None:
    document = load().document
    answer = {"responses": {"200": {"description": "Something else."}}}
    document["paths"] |= {f"/v1/other/{number}": {"get": answer} for number in range(others)}
    file = tmp_path / "management.json"
    file.write_text(json.dumps(document))
    with serving("--spec", str(file)) as server:
        code, text, _ = server.stop()
    assert code == 0
    assert f"Operations of {file}: 4 served, {others} skipped\n" in text
    assert f"\n  POST {METRICS.format('{deployment_id}')}\n" in text
    listed = [line for line in text.splitlines() if line.startswith("  GET /v1/other/")]
    assert len(listed) == (others if others <= 10 else 0)
    assert all("not under /v1/loops/" in line for line in listed)
    assert (f"create_app(spec=Path({str(file)!r})).state.routing.skipped" in text) == (others > 10)
    with serving("--spec", str(file), "--quiet") as server:
        assert server.stop() == (0, "", "")


def test_version_and_help() -> None:
    assert run("--version").stdout == f"loopsmock {__version__}\n"
    assert "serve" in run().stdout
    text = " ".join(run("serve", "--help").stdout.split())
    for word in ("LOOPSMOCK_API_KEY", "LOOPSMOCK_MAX_WINDOW", "loopsmock serve --port 0 --now 2026-12-01T05:03:00Z"):
        assert word in text


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from loopsmock.__main__ import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, encoding="utf-8")
    assert done.returncode == 0
    assert not {"fastapi", "uvicorn", "numpy", "jsonschema_rs", "faker", "httpx"} & set(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "length_s"),
    [("7d", 604_800), ("12h", 43_200), ("90m", 5_400), ("600s", 600), ("600", 600), (" 1d ", 86_400)],
)
def test_durations(text: str, length_s: int) -> None:
    assert seconds(text, 1) == length_s


@pytest.mark.parametrize("text", ["", "d", "1.5h", "-1", "1e3", "7 d", "٣d", "9999999999999", "3651d", "0"])
def test_what_is_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        seconds(text, 1)


@pytest.mark.parametrize(
    ("text", "epoch_ms"),
    [
        ("2026-12-01T05:03:00Z", 1_796_101_380_000),
        ("2026-12-01T05:03:00.250Z", 1_796_101_380_250),
        ("2026-11-30T21:03:00-08:00", 1_796_101_380_000),
        ("1970-01-01T00:00:00Z", 0),
    ],
)
def test_instants(text: str, epoch_ms: int) -> None:
    assert instant_ms(text) == epoch_ms
