"""Measures the mock beside what it is compared with, and prints one table: `make bench`.

The exit code is 0 whether targets are held or not, since a busy machine must not break a build, and 2 where something
could not be measured.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from check import figure_e
from default_request import figure_b
from figures import NotMeasuredError, Row, machine, table
from launch import figure_d
from synthesis import figure_a
from week import figure_c

ROOT = Path(__file__).parents[2]
FIGURES: dict[str, Callable[[bool, Callable[[str], None]], list[Row]]] = {
    "a": figure_a,
    "b": figure_b,
    "c": figure_c,
    "d": figure_d,
    "e": figure_e,
}


def _letters(text: str) -> list[str]:
    letters = text.split(",")
    if unknown := [letter for letter in letters if letter not in FIGURES]:
        raise argparse.ArgumentTypeError(f"no figure {unknown[0]!r}; there are {','.join(FIGURES)}")
    return letters


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _end(number: int, _frame: FrameType | None) -> None:
    # As an exception, so that the processes started here are ended on the way out.
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the JSON file; the exit code."""
    parser = argparse.ArgumentParser(description="Measure the mock beside what it is compared with.")
    parser.add_argument("--only", type=_letters, default=list(FIGURES), metavar="a,b,c,d,e", help="these figures only")
    parser.add_argument("--quick", action="store_true", help="few repetitions: shows that it runs, not how fast")
    parser.add_argument("--json", type=Path, default=ROOT / "bench.json", metavar="F", help="where the JSON goes")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    where, rows, missing = machine(), [], {}
    began = time.monotonic()
    for letter in options.only:
        try:
            rows += FIGURES[letter](options.quick, _say)
        except (NotMeasuredError, OSError) as error:
            missing[letter] = str(error) or type(error).__name__
    report = {
        "schema": 1,
        "machine": where,
        "quick": options.quick,
        "seconds": round(time.monotonic() - began, 1),
        "figures": [row.as_json() for row in rows],
        "not_measured": missing,
    }
    options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(
        f"{where['cores']} cores (load {where['load_1min_before']}), "
        f"{where['implementation']} {where['python']}, {where['system']}"
        + (", quick: the figures are rough" if options.quick else "")
    )
    if rows:
        print(table(rows))
    for letter, why in missing.items():
        print(f"figure {letter} could not be measured: {why}")
    return 2 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
