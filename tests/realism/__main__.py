"""Is the world realistic? Every row over 20 seeds from answers of the mock, as a table: `make realism`.

The exit code is 1 where a row is held on too few seeds, or a scenario has no row or is not told apart, and 2 for a flag
that is of no use.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from .catalogue import CASES
from .ensemble import Worst, of_seed, rows_of, told_apart, without_rows
from .rows import table
from .served import catalogue


def _measured(scenarios: list[str], seeds: int, workers: int) -> Iterator[dict[str, Worst]]:
    """What each seed shows, as soon as it is there."""
    if workers == 1:
        yield from (of_seed(scenarios, seed) for seed in range(seeds))
        return
    # Spawned, so that all systems do alike; a worker that dies ends the run instead of stopping it for ever.
    with ProcessPoolExecutor(min(workers, seeds), get_context("spawn")) as pool:
        for done in as_completed([pool.submit(of_seed, scenarios, seed) for seed in range(seeds)]):
            yield done.result()


def _scenarios(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in CASES]:
        raise argparse.ArgumentTypeError(f"no rows for {unknown[0]!r}; there are {', '.join(CASES)}")
    return names


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and say by the exit code whether all is held."""
    parser = argparse.ArgumentParser(prog="make realism", description=__doc__)
    parser.add_argument("--seeds", type=_number, default=20, help="how many seeds, from 0 (20)")
    parser.add_argument("--scenarios", type=_scenarios, default=[], metavar="ID,…", help="only these")
    parser.add_argument("--workers", type=_number, default=os.cpu_count() or 1, help="how many processes (one a core)")
    given = parser.parse_args(arguments)
    scenarios = given.scenarios or catalogue()
    missing = without_rows(scenarios)
    scenarios = [scenario for scenario in scenarios if scenario not in missing]
    began = time.monotonic()
    seeds: list[dict[str, Worst]] = []
    for found in _measured(scenarios, given.seeds, given.workers):
        seeds.append(found)
        _say(f"{len(seeds)} of {given.seeds} seeds, {time.monotonic() - began:.0f} s")
    measured = [entry for scenario in scenarios for entry in rows_of(seeds, scenario)]
    told = told_apart(seeds)
    print(table(measured))
    print(f"\n{'scenario':<18} {'is told from':<18} by\n" + "\n".join(one.line() for one in told))
    missed = [entry for entry in measured if not entry.held]
    confused = [one for one in told if not one.by]
    print(f"\n{len(measured) - len(missed)} of {len(measured)} rows held on {given.seeds} seeds.")
    for entry in missed:
        print(entry.line())
    for one in confused:
        print(one.line())
    for scenario in missing:
        print(f"{scenario:<18} NO ROW")
    return 1 if missed or confused or missing else 0


if __name__ == "__main__":
    sys.exit(main())
