"""A violation: one way in which an exchange breaks the contract, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """What a check found.

    Args:
        check: the name of the check, a statement such as `timestamps_ascend`.
        where: JSON pointer into the body; "" is the body as a whole.
        message: one sentence for a person who does not know the check.
        seen: the offending value, shortened.
        expected: what would have been right, shortened; "" where the message says it.
    """

    check: str
    where: str
    message: str
    seen: str = ""
    expected: str = ""
