"""The client of the bench: blocking, one kept connection, so cheap that the server is what is measured.

Run as a program it is the other client of figure c: it sends one small request after the other until its standard
input ends, then prints when each began and how long it waited.
"""

import io
import json
import select
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from figures import NotMeasuredError

KEY = "loopsmock"
TIMEOUT_S = 20.0
LONGEST_PROBE_S = 30.0
PAUSE_S = 0.001
"""Between two small requests: another client is there, it does not flood the server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer's size in bytes and its times in seconds from the moment the request was sent."""

    size: int
    first_byte_s: float
    total_s: float


def metrics_request(deployment: str, members: Mapping[str, int | None]) -> bytes:
    """The bytes of one POST for the metrics of a deployment."""
    body = json.dumps(members)
    return (
        f"POST /v1/loops/deployments/{deployment}/metrics HTTP/1.1\r\n"
        "Host: 127.0.0.1\r\n"
        f"Authorization: Bearer {KEY}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


HEALTH_REQUEST = b"GET /_mock/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Connection:
    """One kept HTTP/1.1 connection."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._socket = socket.create_connection((address.hostname or "", address.port or 0), timeout=TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = io.BufferedReader(self._socket.makefile("rb", 0), 1 << 18)
        self._sink = memoryview(bytearray(1 << 18))

    def close(self) -> None:
        """Hang up."""
        self._reader.close()
        self._socket.close()

    def exchange(self, request: bytes, keep: bytearray | None = None) -> Answer:
        """Send one request and read the whole answer.

        Args:
            request: the bytes of the request.
            keep: the body is appended to it where given.

        Raises:
            NotMeasuredError: the status is not 200, or the answer is cut off.
        """
        began = time.perf_counter()
        self._socket.sendall(request)
        status_line = self._reader.readline()
        length: int | None = None
        while (line := self._reader.readline()) not in (b"\r\n", b""):
            name, _, text = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(text)
        # The first byte of the body, not of the header: a header alone is no answer yet.
        self._reader.peek(1)
        first_byte_s = time.perf_counter() - began
        if length is None:
            size = self._read_chunks(keep)
        else:
            self._read(length, keep)
            size = length
        total_s = time.perf_counter() - began
        if status_line.split(b" ")[1:2] != [b"200"]:
            raise NotMeasuredError(f"the server answered {status_line.decode('latin-1').strip() or 'nothing'!r}")
        return Answer(size, first_byte_s, total_s)

    def _read_chunks(self, keep: bytearray | None) -> int:
        size = 0
        while (head := self._reader.readline()) not in (b"0\r\n", b""):
            length = int(head.split(b";")[0], 16)
            self._read(length, keep)
            self._reader.readline()
            size += length
        if not head:
            raise NotMeasuredError("the answer was cut off")
        self._reader.readline()
        return size

    def _read(self, length: int, keep: bytearray | None) -> None:
        while length:
            got = self._reader.readinto(self._sink[:length])
            if not got:
                raise NotMeasuredError("the answer was cut off")
            if keep is not None:
                keep += self._sink[:got]
            length -= got


def seconds_a_request(connection: Connection, requests: Sequence[bytes]) -> float:
    """Send the requests one after the other; the mean time of one in seconds."""
    began = time.perf_counter()
    for request in requests:
        connection.exchange(request)
    return (time.perf_counter() - began) / len(requests)


def probe(url: str, request: bytes) -> list[tuple[float, float]]:
    """Send one small request after the other until standard input ends.

    Returns:
        For each: when it began (time.monotonic, which all processes of a machine share) and how long it waited.
    """
    connection = Connection(url)
    waits: list[tuple[float, float]] = []
    deadline = time.monotonic() + LONGEST_PROBE_S
    while time.monotonic() < deadline and not select.select([sys.stdin], [], [], PAUSE_S)[0]:
        began = time.monotonic()
        connection.exchange(request)
        waits.append((began, time.monotonic() - began))
        if len(waits) == 1:
            print("READY", flush=True)
    connection.close()
    return waits


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], metrics_request(sys.argv[2], json.loads(sys.argv[3])))), flush=True)
