"""A report as JUnit XML, which every CI server reads."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from .checks import Result, Verdict
from .excerpt import visible
from .provider import Report
from .report_terminal import finding
from .report_words import WHY_SKIPPED, ending, headline, message_of, remarks

THE_RUN = "the_run"
_SKIPPED = (Verdict.NOT_APPLICABLE, Verdict.NOT_CHECKED)


def junit(report: Report) -> str:
    """One test suite with one test case a check.

    Failures fail, warnings too if the run is strict; what was not applicable or not checked is skipped; what has no
    verdict is an error, and so is `the_run` if it ended early, got no answer or tested nothing.
    """
    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", name="loopsmock check")
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="target", value=visible(report.target))
    for result in report.results:
        _case(report, result, suite)
    if report.exit_code == 2 or report.stopped or report.silent:
        why = visible(report.why_no_verdict)
        case = ET.SubElement(suite, "testcase", classname="loopsmock.run", name=THE_RUN, time="0")
        ET.SubElement(case, "error", type="no verdict", message=why).text = why
    ET.SubElement(suite, "system-out").text = "\n".join([headline(report), *remarks(report), ": ".join(ending(report))])
    seconds = sum(exchange.seconds for exchange in report.exchanges)
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for element in (suites, suite):
        for name, count in counts.items():
            element.set(name, str(count))
        element.set("time", f"{seconds:.3f}")
    if report.exchanges:
        began = datetime.fromtimestamp(report.exchanges[0].at_ms / 1000, UTC)
        suite.set("timestamp", began.strftime("%Y-%m-%dT%H:%M:%S"))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(report: Report, result: Result, suite: ET.Element) -> None:
    check = result.check
    case = ET.SubElement(suite, "testcase", classname=f"loopsmock.{check.subject}", name=check.id, time="0")
    if result in report.failed:
        message = message_of(result.sightings[0])
        ET.SubElement(case, "failure", type=str(check.level), message=message).text = finding(report, result)
    elif result.verdict == Verdict.WARN:
        ET.SubElement(case, "system-out").text = finding(report, result)
    elif result.verdict in _SKIPPED:
        ET.SubElement(case, "skipped", message=WHY_SKIPPED[result.verdict])
    elif result.verdict == Verdict.NO_VERDICT:
        why = WHY_SKIPPED[result.verdict]
        ET.SubElement(case, "error", type="no verdict", message=why).text = why
