"""What the bench reports: one row a figure, judged against its target."""

import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


class NotMeasuredError(Exception):
    """A figure could not be measured; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what was measured, in which unit, and what it is held to."""

    figure: str
    what: str
    measured: float
    unit: str
    """"x" for a ratio, else "ms", "MB" or a plain word."""
    bound: Literal["at most", "at least", "none"] = "none"
    target: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def held(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        return self.measured <= self.target if self.bound == "at most" else self.measured >= self.target

    def as_json(self) -> dict[str, Any]:
        """The row as JSON members."""
        return {
            "figure": self.figure,
            "what": self.what,
            "measured": self.measured,
            "unit": self.unit,
            "bound": self.bound,
            "target": self.target,
            "held": self.held,
            "detail": dict(self.detail),
        }


def ratio_of_rounds(over: Sequence[float], under: Sequence[float]) -> float:
    """The median over the rounds of over ÷ under, each round compared with itself."""
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


def spread(values: Sequence[float], scale: float = 1.0) -> dict[str, float]:
    """Least, median and greatest of the values, scaled and rounded for the JSON file."""
    return {
        "min": round(min(values) * scale, 4),
        "median": round(statistics.median(values) * scale, 4),
        "max": round(max(values) * scale, 4),
    }


def machine() -> dict[str, Any]:
    """Where the figures were taken: a ratio on a busy or small machine reads differently."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_1min_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": f"{platform.system()} {platform.machine()}",
    }


def shown(number: float, unit: str) -> str:
    """A number with its unit, three digits or so."""
    digits = 0 if abs(number) >= 1000 else 1 if abs(number) >= 100 else 2
    return f"{number:,.{digits}f} {unit}"


def table(rows: Sequence[Row]) -> str:
    """The rows for people, in aligned columns."""
    lines = [("", "figure", "measured", "target", "held")]
    for row in rows:
        target = "" if row.target is None else f"{row.bound} {shown(row.target, row.unit)}"
        held = {None: "", True: "yes", False: "NO"}[row.held]
        lines.append((row.figure, row.what, shown(row.measured, row.unit), target, held))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    aligned = [
        "  ".join(
            cell.rjust(width) if column == 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    aligned.insert(1, "-" * max(map(len, aligned)))
    return "\n".join(aligned)
