"""Every row of every scenario over many seeds, and by which rows the scenarios are told apart."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .catalogue import CASES, Case
from .reading import Answer
from .rows import SEEDS_INSIDE, Measured, Row
from .served import World

Worst = dict[tuple[str, int], float]
"""What rows found: by scenario whose row it is and number of the row in its case."""


def measure(answer_of: Callable[[str], Answer], scenarios: Iterable[str]) -> dict[str, Worst]:
    """What each scenario's answer shows in its own rows and in those that others are told from it by."""
    found = {}
    for scenario in scenarios:
        answer = answer_of(scenario)
        # Two scenarios share many rows: each is measured once.
        known: dict[Row, float | None] = {}
        worst: Worst = {}
        for other, case in CASES.items():
            if other != scenario and not _compared(scenario, other):
                continue
            for number, row in enumerate(case.rows if other == scenario else case.own):
                if row not in known:
                    known[row] = row.worst(answer) if row.applies(answer) else None
                value = known[row]
                if value is not None:
                    worst[other, number] = value
        found[scenario] = worst
    return found


def of_seed(scenarios: list[str], seed: int) -> dict[str, Worst]:
    """What each scenario shows on one seed."""
    return measure(World(seed).answer, scenarios)


def _compared(one: str, other: str) -> bool:
    return "healthy" in (one, other) or other in CASES[one].alike or one in CASES[other].alike


@dataclass(frozen=True, slots=True)
class Told:
    """By which rows a scenario is told from another."""

    scenario: str
    other: str
    by: tuple[str, ...]
    """Rows that one of the two meets and the other breaks, and whose they are."""

    def line(self) -> str:
        """One line of the table."""
        return f"{self.scenario:<18} {self.other:<18} {', '.join(self.by) or 'NOT TOLD APART'}"


def rows_of(seeds: list[dict[str, Worst]], scenario: str) -> list[Measured]:
    """Each row of a scenario as it was found on these seeds, but for those that apply to none."""
    found = []
    for number, row in enumerate(CASES[scenario].rows):
        values = [seed[scenario][scenario, number] for seed in seeds if (scenario, number) in seed[scenario]]
        if values:
            found.append(Measured(row, scenario, np.array(values)))
    return found


def _breaks(seeds: list[dict[str, Worst]], breaker: str, owner: str) -> list[str]:
    """The own rows of `owner` that it meets, and that `breaker` breaks, on enough seeds."""
    found = []
    for number, row in enumerate(CASES[owner].own):
        at = owner, number
        met = [seed[owner].get(at, np.nan) in row.target for seed in seeds]
        broken = [at in seed[breaker] and seed[breaker][at] not in row.target for seed in seeds]
        if min(np.mean(met), np.mean(broken)) >= SEEDS_INSIDE:
            found.append(row.id)
    return sorted(set(found))


def told_apart(seeds: list[dict[str, Worst]]) -> list[Told]:
    """For each measured scenario: what tells it from healthy and from all that it could be taken for."""
    there = list(seeds[0])
    found = []
    for scenario in there:
        others = dict.fromkeys(("healthy", *CASES[scenario].alike))
        for other in others:
            if other == scenario or other not in there:
                continue
            own = _breaks(seeds, other, scenario)
            by = [f"its {row}" for row in own] or [f"{other}'s {row}" for row in _breaks(seeds, scenario, other)]
            found.append(Told(scenario, other, tuple(by)))
    return found


def without_rows(scenarios: Iterable[str], cases: dict[str, Case] = CASES) -> list[str]:
    """Scenarios for which nothing is demanded that makes them what they are."""
    return [scenario for scenario in scenarios if scenario not in cases or not cases[scenario].own]
