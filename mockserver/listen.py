"""Sockets that listen before the server starts, so that a port in use is one clear line."""

import errno
import ipaddress
import socket
import sys

from .errors import StartError

_LOOPBACK = ("127.0.0.1", "localhost")
_BACKLOG = 2048
_PAIR_TRIES = 50


def listen(host: str, port: int) -> list[socket.socket]:
    """Listen on a host and port; on ::1 too where the host is 127.0.0.1 or localhost and IPv6 exists.

    Many clients resolve `localhost` to ::1 first, and somebody else may answer there.

    Args:
        host: A name or an address.
        port: 0 takes one that is free on all addresses.

    Returns:
        One or two sockets with the same port, the host's own first.

    Raises:
        StartError: The host is unknown, or the port is in use or not allowed.
    """
    if host not in _LOOPBACK:
        family, address = _resolve(host)
        return [_open(family, address, port)]
    for attempt in range(_PAIR_TRIES):
        first = _open(socket.AF_INET, "127.0.0.1", port)
        try:
            return [first, _open(socket.AF_INET6, "::1", first.getsockname()[1])]
        except _NoSuchAddress:
            return [first]
        except StartError:
            # The free port of one address may be taken on the other: take another one.
            first.close()
            if port or attempt == _PAIR_TRIES - 1:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def url_of(host: str, port: int) -> str:
    """The URL under which a client on this machine reaches a host that is listened on."""
    if host in (*_LOOPBACK, "0.0.0.0"):
        host = "127.0.0.1"
    elif host == "::":
        host = "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _NoSuchAddress(StartError):
    """This machine does not have that address."""


def _resolve(host: str) -> tuple[socket.AddressFamily, str]:
    """The family and address of a host; a literal address is not looked up."""
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        try:
            family, _, _, _, place = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        except (OSError, UnicodeError) as error:
            raise StartError(f"host {host!r} is unknown; use 127.0.0.1, or 0.0.0.0 for every network") from error
        return family, str(place[0])
    return (socket.AF_INET if literal.version == 4 else socket.AF_INET6), host


def _open(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    """One listening socket."""
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _NoSuchAddress(f"cannot listen on {address}: {error.strerror}") from error
    try:
        if sys.platform == "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            # A server that has just stopped leaves the port waiting; it is free all the same.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address == "::1":
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address, port))
        # With SO_REUSEADDR a port in use may show only here.
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"port {port} on {address} is in use; stop what listens there or take a free port with --port 0"
            ) from error
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise _NoSuchAddress(f"this machine has no address {address}; use --host 127.0.0.1") from error
        raise StartError(f"cannot listen on port {port} of {address}: {error.strerror}; try --port 0") from error
    return sock
