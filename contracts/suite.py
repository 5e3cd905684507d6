"""The suite as tests: `pytest --pyargs loopsmock.contracts.suite --loopsmock-provider URL`, one item a check."""

from __future__ import annotations

import os
import warnings

import pytest

from .checks import CHECKS, Verdict
from .provider import Report
from .pytest_plugin import settings_of
from .report_terminal import finding
from .secret import KeyRefused
from .settings import Settings, SettingsRefused, run

NO_VERDICT = 2


class ContractWarning(UserWarning):
    """A check that warns."""


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    """What one run found; it is made when the first check asks for it."""
    settings = settings_of(pytestconfig)
    if not settings["url"]:
        pytest.exit("name the provider: --loopsmock-provider http://127.0.0.1:8000", NO_VERDICT)
    if settings["live"] and os.environ.get("PYTEST_XDIST_WORKER"):
        pytest.exit("--loopsmock-live would send everything once for each worker: leave -n out", NO_VERDICT)
    try:
        return run(Settings(**settings))
    except (SettingsRefused, KeyRefused) as error:
        pytest.exit(str(error), NO_VERDICT)


def test_the_run(report: Report) -> None:
    """Every request was answered, and there were points to judge."""
    if not report.failed and report.exit_code == 2:
        pytest.fail(f"no verdict: {report.why_no_verdict}", pytrace=False)


@pytest.mark.parametrize("check", CHECKS)
def test_provider(report: Report, check: str) -> None:
    """One check."""
    result = next((result for result in report.results if result.check.id == check), None)
    if result is None:
        pytest.skip("not among the chosen checks")
    elif result in report.failed:
        pytest.fail(finding(report, result), pytrace=False)
    elif result.verdict == Verdict.WARN:
        warnings.warn(ContractWarning(finding(report, result)), stacklevel=1)
    elif result.verdict == Verdict.NO_VERDICT:
        pytest.fail(f"no verdict: {report.why_no_verdict}", pytrace=False)
    elif result.verdict != Verdict.PASS:
        pytest.skip(str(result.verdict))
