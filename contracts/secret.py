"""A key that no output can show: masked in every repr, and removed by value from everything that is written."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from html.entities import codepoint2name
from pathlib import Path

MASK = "***"
VARIABLE = "BASETEN_API_KEY"
LOOPBACK_KEY = "loopsmock"
"""What a server on loopback gets where no key is set: no secret."""
LEAST_LENGTH = 8
LEAST_DISTINCT = 5
_BETWEEN = b"\x00 \t\r\n"
"""What may stand between the characters of a key: zeros in UTF-16 and UTF-32, line ends in base64."""
_RUNS = re.compile(r"[0-9A-Za-z]+")
_MARKS = ("%", "\\u", "\\x", "\\0", "\\1", "&#")
_VISIBLE = re.compile(r"[\x21-\x7e]+\Z")


class KeyRefused(ValueError):
    """A key that cannot be used; the message does not show it."""


class Key:
    """A key, and how to take it out of texts.

    Args:
        value: the key.

    Raises:
        KeyRefused: it is too plain to be told from other text, or cannot stand in a header.
    """

    def __init__(self, value: str) -> None:
        secret = value != LOOPBACK_KEY
        if not _VISIBLE.match(value):
            raise KeyRefused("the API key is empty, or has spaces, line ends or characters beyond ASCII in it.")
        if secret and (len(value) < LEAST_LENGTH or len(set(value)) < LEAST_DISTINCT):
            raise KeyRefused(
                f"the API key has fewer than {LEAST_LENGTH} characters, or fewer than {LEAST_DISTINCT} different ones: "
                f"it could not be kept out of the reports. A server on loopback needs no {VARIABLE}."
            )
        self._value = value
        forms = sorted(set(_forms(value)), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_in_any_escape, forms)), re.IGNORECASE) if secret else None
        # Whatever escapes letters and digits begins with one of the marks; else the longest run of them stands there.
        self._traces = tuple({max(_RUNS.findall(form), key=len, default=form).lower() for form in forms})

    def __repr__(self) -> str:
        return f"Key({MASK})"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")

    def authorization(self, scheme: str) -> str:
        """The value of an Authorization header: the one place where the key is shown."""
        return f"{scheme} {self._value}"

    def scrub(self, text: str) -> str:
        """The text without the key, in whatever encoding it stands there."""
        if self._pattern is None:
            return text
        return "".join(
            self._pattern.sub(MASK, line) if self._may_be_in(line) else line for line in text.splitlines(keepends=True)
        )

    def scrub_bytes(self, body: bytes) -> bytes:
        """The same for bytes, of whatever encoding."""
        if not self._pattern or not self._may_be_in(body.translate(None, _BETWEEN).decode("latin-1")):
            return body
        return self._pattern.sub(MASK, body.decode("latin-1")).encode("latin-1")

    def is_in(self, body: bytes) -> bool:
        """Whether the key stands in these bytes, in any form."""
        pattern = self._pattern
        return pattern is not None and any(
            self._may_be_in(line) and pattern.search(line) for line in body.decode("latin-1").splitlines()
        )

    def _may_be_in(self, text: str) -> bool:
        """Whether it is worth while to search: the pattern is slow, and bodies are long."""
        lower = text.lower()
        return any(mark in lower for mark in _MARKS) or any(trace in lower for trace in self._traces)


def read_key(file: Path | None, *, on_loopback: bool) -> Key:
    """The key from a file or from the environment; on loopback, one that everybody knows will do.

    Raises:
        KeyRefused: there is none, or it cannot be used.
    """
    if file is not None:
        try:
            value = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise KeyRefused(f"cannot read the API key from {file}: {type(error).__name__}.") from None
        return Key(value.strip())
    value = os.environ.get(VARIABLE, "").strip()
    if value:
        return Key(value)
    if on_loopback:
        return Key(LOOPBACK_KEY)
    raise KeyRefused(f"no API key: set {VARIABLE}, or name a file that holds it by --api-key-file.")


def _forms(value: str) -> Iterator[str]:
    """The key, and what other alphabets make of it."""
    raw = value.encode()
    yield value
    yield value[::-1]
    yield raw.hex()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            # Of a text that holds the key at this offset, the characters which the key alone decides.
            encoded = encode(b"\0" * shift + raw).decode().rstrip("=")
            certain = encoded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6]
            if len(certain) >= LEAST_LENGTH:
                yield certain


def _in_any_escape(form: str) -> str:
    """A pattern of a text each of whose characters may be escaped: by backslashes, percent, entities, several times."""
    return f"[{_BETWEEN.decode()}]*".join(map(_escaped, form))


@lru_cache(maxsize=128)
def _escaped(letter: str) -> str:
    code = ord(letter)
    ways = [
        re.escape(letter),
        f"%(?:25)*{code:02x}",
        rf"\\+u(?:0000)?00{code:02x}",
        rf"\\+[ux]\{{0*{code:x}\}}",
        rf"\\+x{code:02x}",
        rf"\\+0?{code:03o}",
    ]
    names = [codepoint2name[code]] if code in codepoint2name else []
    entities = "|".join([f"#0*{code}", f"#x0*{code:x}", *names])
    ways.append(f"&(?:amp;)*(?:{entities});")
    if letter == "&":
        ways.append("&(?:amp;)+")
    if letter in "\\\"'/":
        return rf"(?:\\*(?:{'|'.join(ways)}))"
    return f"(?:{'|'.join(ways)})"
