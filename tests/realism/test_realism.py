"""The series are realistic: every row of R1–R10, R22, R24 and C3–C12 on 20 seeds of each scenario."""

import numpy as np
import pytest

from . import rules, statistics
from .rows import Measured, Row, table
from .served import NODES, six_hours

SEEDS = range(20)


def measured(scenario: str) -> list[Measured]:
    """Every row on every seed, over all nodes and ranks; each answer is made and read once."""
    worst: dict[Row, list[float]] = {}
    for seed in SEEDS:
        answer = six_hours(seed, scenario)
        for row in (*statistics.ROWS, *rules.ROWS):
            if row.applies(answer):
                worst.setdefault(row, []).append(row.worst(answer))
    return [Measured(row, scenario, np.array(values)) for row, values in worst.items()]


# One test a scenario: the answers take most of the time, and workers of pytest-xdist would make them once each.
@pytest.mark.parametrize("scenario", NODES)
def test_the_rows_hold_on_twenty_seeds(scenario: str) -> None:
    found = measured(scenario)
    assert all(len(entry.worst) == len(SEEDS) for entry in found)
    left_out = {row.id for row in (*statistics.ROWS, *rules.ROWS)} - {entry.row.id for entry in found}
    assert left_out == ({"R3", "R9"} if scenario == "single" else set())
    missed = [entry for entry in found if not entry.held]
    assert not missed, "\n" + table(missed)
