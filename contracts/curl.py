"""A request as a line to paste into a shell; the key stays in the variable that holds it."""

from __future__ import annotations

import re
import shlex
import string
from urllib.parse import quote

from .exchange import Request
from .secret import LOOPBACK_KEY, VARIABLE
from .sender import WRONG_KEY
from .settings import host_of, is_loopback

MOST_ARGUMENT = 100_000
"""Bytes of one argument: Linux takes no more than 128 KiB."""
_PLAIN_WORD = re.compile(r"[\w.-]+\Z", re.ASCII)
_GLOB = re.compile(r"[\[\]{}]")
_DOTS = re.compile(r"/\.\.?(?:/|\?|\Z)")
_BARE = frozenset((string.ascii_letters + string.digits + ' {}[]:,._"').encode())


def curl(target: str, request: Request) -> str:
    """The request as a command line of curl for a POSIX shell.

    Args:
        target: the provider's URL.
        request: what to send. The right key is left to the shell to fill in; a wrong one and none are shown.
    """
    # What is no printable ASCII can only stand in a URL percent-encoded; what is encoded already stays.
    url = quote(target.rstrip("/") + request.path, safe=string.punctuation)
    words = ["curl", "-sS"]
    if _GLOB.search(url):
        words.append("-g")
    if _DOTS.search(url):
        words.append("--path-as-is")
    words += _method(request)
    words.append(shlex.quote(url))
    if request.scheme is not None:
        words += ["-H", _authorization(target, request)]
    if request.content_type is not None:
        words += ["-H", shlex.quote(f"Content-Type: {request.content_type}")]
    elif _has_data(request):
        words += ["-H", "'Content-Type:'"]  # takes away the one that curl would add
    piped = ""
    if _has_data(request):
        text = _printable(request.body)
        if text is None:
            piped = f"printf '{_escaped(request.body)}' | "
            words += ["--data-binary", "@-"]
        else:
            words += ["--data-raw" if text.startswith("@") else "--data", shlex.quote(text)]
    return piped + " ".join(words)


def _has_data(request: Request) -> bool:
    """Whether curl must be given a body; an empty one where the method wants its length to be said."""
    return bool(request.body) or request.method in ("POST", "PUT", "PATCH")


def _method(request: Request) -> list[str]:
    if request.method == ("POST" if _has_data(request) else "GET"):
        return []
    if request.method == "HEAD" and not request.body:
        return ["--head"]
    return ["-X", shlex.quote(request.method)]


def _authorization(target: str, request: Request) -> str:
    if request.key == "wrong":
        return shlex.quote(f"Authorization: {request.scheme} {WRONG_KEY}")
    # As `check` does: what is sent to loopback without a key is no secret.
    variable = f"${{{VARIABLE}:-{LOOPBACK_KEY}}}" if is_loopback(host_of(target)) else f"${VARIABLE}"
    if request.scheme and _PLAIN_WORD.match(request.scheme):
        return f'"Authorization: {request.scheme} {variable}"'
    return shlex.quote(f"Authorization: {request.scheme} ") + f'"{variable}"'


def _printable(body: bytes) -> str | None:
    """The body as a text that can be pasted; None if it cannot."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() and len(body) < MOST_ARGUMENT else None


def _escaped(body: bytes) -> str:
    """The body as the format of printf: octal escapes are what every POSIX shell knows."""
    return "".join(chr(byte) if byte in _BARE else f"\\{byte:03o}" for byte in body)
