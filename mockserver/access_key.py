"""Who may ask: the Authorization header against the key that the server wants."""

import hmac
from enum import Enum

SCHEMES = (b"bearer", b"api-key")
REFUSED_PREFIX = b"invalid"
"""Without a key of its own the server takes any but one that begins so: a bad key can be tried without set-up."""


class Standing(Enum):
    """What an Authorization header is worth."""

    ACCEPTED = "accepted"
    MISSING = "missing or malformed"
    REFUSED = "wrong key"


def standing(header: bytes | None, api_key: str | None) -> Standing:
    """Judge an Authorization header.

    Args:
        header: its value, None where there is none.
        api_key: the key wanted; None takes every non-empty one that does not begin with `invalid`.
    """
    scheme, _, key = (header or b"").strip().partition(b" ")
    key = key.strip()
    if scheme.lower() not in SCHEMES or not key:
        return Standing.MISSING
    if api_key is None:
        return Standing.REFUSED if key.startswith(REFUSED_PREFIX) else Standing.ACCEPTED
    return Standing.ACCEPTED if hmac.compare_digest(key, api_key.encode()) else Standing.REFUSED
