"""A key gets nowhere but into the Authorization header: planted everywhere, it is in no output, in no encoding."""

import base64
import html
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from loopsmock.contracts.secret import Key, KeyRefused, read_key
from loopsmock.contracts.settings import Settings

from tests import support
from tests.support import BEARER, Mock, environment

from .servers import Asked, Handler, Played, mocked, playing

KEY = 'sEcret/Key+with="&<quotes>%and~more'
B64 = base64.b64encode(b"Bearer " + KEY.encode()).decode()
ENCODED = {
    "raw": KEY,
    "percent": quote(KEY, safe=""),
    "percent, lower case": quote(KEY, safe="").lower(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of the header": B64,
    "base64 for URLs": base64.urlsafe_b64encode(f"x{KEY}".encode()).decode(),
    "JSON": json.dumps(KEY)[1:-1],
    "JSON, with \\/": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "JSON, escaped": "".join(f"\\u{ord(letter):04X}" for letter in KEY),
    "HTML": html.escape(KEY),
    "hexadecimal": KEY.encode().hex(),
    "repr": repr(KEY),
    "escapes of eight digits": "".join(f"\\U{ord(letter):08x}" for letter in KEY),
    "escapes in braces": "".join(f"\\u{{{ord(letter):x}}}" for letter in KEY),
    "octal": "".join(f"\\{ord(letter):03o}" for letter in KEY),
    "UTF-16": KEY.encode("utf-16-le").decode("latin-1"),
}
TRACES = {
    "raw": KEY[:14],
    "percent": quote(KEY[:14], safe=""),
    "base64": base64.b64encode(KEY.encode()).decode()[4:20],
    "base64, one on": base64.b64encode(f"x{KEY}".encode()).decode()[4:20],
    "base64, two on": base64.b64encode(f"xx{KEY}".encode()).decode()[4:20],
    "escaped": "\\u0073\\u0045",
    "hexadecimal": KEY.encode().hex()[:24],
}
"""Beginnings of the key, as they would be left by a scrubbing that misses a part."""


def found_in(text: str) -> list[str]:
    """The names of what is left of the key in a text."""
    lower = text.lower()
    whole = [name for name, form in ENCODED.items() if form.lower() in lower]
    return whole + [name for name, form in TRACES.items() if form.lower() in lower]


def test_the_search_finds_each_form() -> None:
    for name, form in ENCODED.items():
        assert found_in(f"x {form} y"), name


@pytest.mark.parametrize("form", ENCODED)
def test_every_form_is_scrubbed(form: str) -> None:
    key = Key(KEY)
    assert found_in(key.scrub(f'"before {ENCODED[form]} after"')) == []
    assert found_in(key.scrub_bytes(ENCODED[form].encode()).decode()) == []
    assert key.is_in(f"x{ENCODED[form]}x".encode())
    assert not key.is_in(b"nothing of it")


def test_a_key_shows_itself_nowhere() -> None:
    key = Key(KEY)
    assert found_in(f"{key} {key!r} {key!s} {[key]}") == []
    with pytest.raises(TypeError):
        pickle.dumps(key)


@pytest.mark.parametrize(
    "value", ["", "short", "aaaaaaaaaaaa", "with space in it", "line\nend-of-key", "schlüssel-lang"]
)
def test_a_key_that_cannot_be_used_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(KeyRefused) as error:
        Key(value)
    assert not value or value not in str(error.value)


def test_a_key_that_a_wrapped_body_holds_is_scrubbed() -> None:
    wrapped = base64.encodebytes(b"x" * 40 + KEY.encode() * 2)
    assert found_in(Key(KEY).scrub_bytes(wrapped).decode().replace("\n", "")) == []


def test_a_word_of_the_contract_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("timestamp", "exchanges", "deployment"):
        monkeypatch.setenv("BASETEN_API_KEY", word)
        with pytest.raises(KeyRefused, match="word of the contract"):
            Settings("http://127.0.0.1").key(support.SPEC)


def test_the_key_that_everybody_knows_is_not_hidden(tmp_path: Path) -> None:
    record = tmp_path / "run.json"
    with playing(mocked(Mock())) as played:
        words = ("check", played.url, "--deployment-id", "single", "--max-requests", "25", "--json", str(record))
        assert support.run(*words, BASETEN_API_KEY="loopsmock").returncode == 0
    assert support.run("replay", str(record), BASETEN_API_KEY="loopsmock").returncode == 0


def test_the_key_is_read_from_file_or_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    monkeypatch.setenv("BASETEN_API_KEY", "another-key-than-that")
    assert read_key(file, on_loopback=False).authorization("Bearer") == f"Bearer {KEY}"
    assert read_key(None, on_loopback=True).authorization("Api-Key") == "Api-Key another-key-than-that"
    monkeypatch.delenv("BASETEN_API_KEY")
    assert read_key(None, on_loopback=True).authorization("Bearer") == "Bearer loopsmock"
    with pytest.raises(KeyRefused, match="BASETEN_API_KEY"):
        read_key(None, on_loopback=False)
    with pytest.raises(KeyRefused, match="cannot read"):
        read_key(tmp_path / "none", on_loopback=True)


@contextmanager
def telltale() -> Iterator[Played]:
    """A provider that puts the key it gets into all that it says."""
    mock = Mock()

    def answer(handler: Handler, asked: Asked) -> None:
        sent = asked.headers.get("authorization", "")
        key = sent.partition(" ")[2]
        forms = {name: form for name, form in ENCODED.items() if key == KEY}
        headers = {"X-Trace": key, "X-Quoted": quote(key), "X-Coded": base64.b64encode(sent.encode()).decode()}
        status, number = 200, len(handler.played.asked)
        if number == 5:
            status, body = 500, f"Traceback: RuntimeError({sent!r}) {json.dumps(forms)}".encode()
        elif number == 7:
            status, body = 307, b""
            headers["Location"] = f"http://127.0.0.1:1/?api_key={quote(key)}"
        elif number == 9:
            status, body = 400, json.dumps({"code": "BAD", "message": f"bad key {key}", "echo": forms}).encode()
        elif number == 11:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\nX-Key: " + key.encode() + b"\r\n\r\nshort")
            handler.close_connection = True
            handler.connection.close()
            return
        else:
            path = asked.path[asked.path.index("/v1") :]
            response = mock.request(asked.method, path, asked.body, BEARER if sent else {})
            value = response.json()
            status, body = response.status_code, json.dumps({**value, "debug": forms, "deployment_id": key}).encode()
        handler.say(status, body, **headers)

    with playing(answer) as played:
        yield played


def test_a_provider_that_echoes_the_key_gets_it_into_no_output(tmp_path: Path) -> None:
    names = ("json", "html", "junit")
    files = [word for kind in names for word in (f"--{kind}", str(tmp_path / f"run.{kind}"))]
    with telltale() as played:
        done = support.run(
            "check", f"{played.url}/{quote(KEY, safe='')}", "--deployment-id", "single", *files, BASETEN_API_KEY=KEY
        )
        assert done.returncode == 1, done.stderr
        assert any(asked.headers.get("authorization") == f"Bearer {KEY}" for asked in played.asked)
    again = support.run("replay", str(tmp_path / "run.json"), BASETEN_API_KEY=KEY)
    texts = {"stdout": done.stdout, "stderr": done.stderr, "replay": again.stdout + again.stderr}
    texts |= {kind: (tmp_path / f"run.{kind}").read_text("utf-8") for kind in names}
    assert {name: found_in(text) for name, text in texts.items()} == {name: [] for name in texts}
    assert "***" in texts["json"]


def test_pytest_shows_no_key_either(tmp_path: Path) -> None:
    with telltale() as played:
        command = [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--showlocals", "--tb=long", "-rA"),
            *("--pyargs", "loopsmock.contracts.suite", "--loopsmock-provider", played.url),
            *("--loopsmock-deployment-id", "single", f"--junitxml={tmp_path / 'pytest.xml'}"),
        ]
        done = subprocess.run(
            command, env=environment(BASETEN_API_KEY=KEY), cwd=tmp_path, capture_output=True, encoding="utf-8"
        )
    assert done.returncode == 1, done.stdout
    assert "deployment_id_is_echoed" in done.stdout
    assert found_in(done.stdout + done.stderr + (tmp_path / "pytest.xml").read_text("utf-8")) == []


def test_a_url_with_a_key_in_it_is_refused_and_not_repeated() -> None:
    for url in (
        f"http://127.0.0.1:1/?api_key={quote(KEY)}",
        f"http://user:{quote(KEY)}@127.0.0.1:1/",
        f"http://127.0.0.1:1/#{KEY}",
    ):
        done = support.run("check", url, BASETEN_API_KEY="another-key-than-that")
        assert done.returncode == 2
        assert found_in(done.stdout + done.stderr) == []


def test_a_provider_that_is_away_shows_no_key() -> None:
    done = support.run("check", f"http://127.0.0.1:1/{quote(KEY)}", BASETEN_API_KEY=KEY)
    assert done.returncode == 2
    assert found_in(done.stdout + done.stderr) == []


def test_a_dry_run_shows_no_key() -> None:
    done = support.run("check", f"http://127.0.0.1:1/{quote(KEY)}", "--dry-run", BASETEN_API_KEY=KEY)
    assert done.returncode == 0
    assert found_in(done.stdout + done.stderr) == []
