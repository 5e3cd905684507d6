"""The short form of `make realism`: every scenario meets its rows on one seed and is told from what it could be."""

import pytest

from .__main__ import main


def test_every_scenario_is_what_it_is_meant_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "1", "--workers", "1"]) == 0, capsys.readouterr().out
    assert "R33  lagging" in capsys.readouterr().out
