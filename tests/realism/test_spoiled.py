"""The rows can fail: each spoiled answer breaks the rows that are there for it, and no row is never broken."""

import ast
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from . import rules, statistics
from .reading import Answer
from .rows import Measured, Range, Row, table
from .served import six_hours
from .spoils import SPOILS

ROWS = (*statistics.ROWS, *rules.ROWS)
RNG_SEED = 20


@cache
def _good() -> Answer:
    return six_hours(0, "healthy")


def broken(answer: Answer) -> set[str]:
    """Row and statistic of each row that the answer breaks."""
    return {named(row) for row in ROWS if row.broken(answer)}


def named(row: Row) -> str:
    return f"{row.id} {row.statistic}"


def test_the_answer_breaks_nothing_before_it_is_spoiled() -> None:
    assert broken(_good()) == set()


@pytest.mark.parametrize("name", SPOILS)
def test_a_spoiled_answer_breaks_the_rows_that_are_there_for_it(name: str) -> None:
    spoil, expected = SPOILS[name]
    answer = deepcopy(_good())
    spoil(answer, np.random.default_rng(RNG_SEED))
    found = broken(answer)
    assert {beginning for beginning in expected if not any(row.startswith(beginning) for row in found)} == set()


def test_every_row_is_there_for_something() -> None:
    beginnings = {beginning for _, expected in SPOILS.values() for beginning in expected}
    assert [named(row) for row in ROWS if not any(named(row).startswith(beginning) for beginning in beginnings)] == []


def test_answers_that_differ_in_one_shared_point_disagree() -> None:
    one, other = _good(), deepcopy(_good())
    assert rules.disagreements(one, other).sum() == 0
    other.nodes[1].cpu.values[17] += 1e-4
    other.quantiles["p95"].values[17] = np.nan
    assert rules.disagreements(one, other).sum() == 2
    other.nodes[1].cpu.times_s = other.nodes[1].cpu.times_s + 1
    assert rules.disagreements(one, other).sum() == 1
    other.nodes[1].id = "another"
    assert rules.disagreements(one, other).sum() > 0


def test_nineteen_of_twenty_seeds_are_enough_for_a_row_and_not_for_a_rule() -> None:
    def measured(row: Row, outside: int) -> Measured:
        return Measured(row, "healthy", np.array([0.0] * (20 - outside) + [np.nan] * outside))

    row = Row("R0", "a share", Range(0.0, 0.5), "nobody", lambda _: np.zeros(1))
    rule = Row("C0", "a count", Range(0.0, 0.0), "nobody", lambda _: np.zeros(1), seeds_inside=1.0)
    assert [measured(row, outside).held for outside in (0, 1, 2)] == [True, True, False]
    assert [measured(rule, outside).held for outside in (0, 1)] == [True, False]
    assert not Measured(row, "healthy", np.zeros(0)).held
    assert "0–0.5" in table([measured(row, 0)]) and "20/20" in table([measured(row, 0)])


def test_the_farthest_value_is_the_worst_and_nothing_measured_is_broken() -> None:
    def worst(*values: float) -> float:
        return Row("R0", "", Range(0.0, 1.0), "", lambda _: np.array(values, dtype=np.float64)).worst(_good())

    assert worst(0.5, 1.5, -2.0) == -2.0
    assert worst(0.5, 0.9) == 0.9
    assert np.isnan(worst(0.5, np.nan))
    assert np.isnan(worst())
    assert Row("R0", "", Range(0.0, 1.0), "", lambda _: np.zeros(0)).broken(_good())


def test_the_rows_know_nothing_of_the_server() -> None:
    for name in ("reading", "rows", "statistics", "rules"):
        tree = ast.parse(Path(__file__).with_name(f"{name}.py").read_text("utf-8"))
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert imported
        assert not [module for module in imported if "loopsmock" in module or module in ("served", "mockserver")]
