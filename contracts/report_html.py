"""A report as one HTML file that needs no network and no script."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment

from .. import __version__
from .checks import Result, Sighting
from .provider import Report
from .reference import MEANING
from .report_words import (
    count_of,
    ending,
    facts_of,
    found_by,
    headline,
    level_of,
    message_of,
    remarks,
    severity,
    shown,
    tally,
)

MOST_SIGHTINGS = 5
"""Of one check: the smallest."""
MOST_BODY = 2000

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{ word }}: loopsmock check</title>
<style>
:root { --ink: #1c2024; --dim: #5c6570; --page: #fff; --box: #f4f6f8; --line: #d9dee3;
  --good: #136c2e; --bad: #b3261e; --mind: #865300; --mark: #fff0c2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --dim: #9aa5b1; --page: #14171a; --box: #1e2327;
  --line: #353c43; --good: #6fce8a; --bad: #ff9389; --mind: #f0b849; --mark: #473a14; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; } p { margin: .4rem 0; }
code, pre { font: .85rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 4px; padding: .5rem; overflow-x: auto;
  overflow-wrap: normal; margin: .3rem 0; }
pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
pre mark { background: var(--mark); color: inherit; display: inline-block; min-width: 100%; }
article { border-left: 4px solid var(--mind); padding: .2rem 0 .2rem .8rem; margin: 1.2rem 0; }
article.error { border-color: var(--bad); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .2rem .5rem;
  border-bottom: 1px solid var(--line); } th { padding-top: 1rem; } td:nth-child(3) { text-align: right; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 .8rem; margin: .4rem 0; } dd { margin: 0; }
dt, .dim { color: var(--dim); } summary { cursor: pointer; }
.good, .held, .pass { color: var(--good); } .fail, .error, .violated { color: var(--bad); }
.warn, .warning, .no-verdict { color: var(--mind); } article.error, article.warning { color: inherit; }
</style>
</head>
<body>
<h1><span class="{{ word|replace(' ', '-') }}">{{ word }}</span>: {{ why }}</h1>
<p>{{ headline }}.</p>
{% for remark in remarks %}<p class="dim">Note: {{ remark }}</p>
{% endfor -%}
<p class="dim">{{ when }}loopsmock {{ version }}, exit code {{ exit_code }}{{ ", strict" if strict }}</p>
<ul>
{% for name, results in tally %}<li>{{ results|length }} {{ name }}</li>
{% endfor -%}
</ul>
{% if findings %}<h2>Violations</h2>
{% for one in findings %}
<article class="{{ one.kind }}" id="v-{{ one.check.id }}">
<h3><span class="{{ one.kind }}">{{ one.kind }}</span>: <code>{{ one.check.id }}</code></h3>
<p class="dim">{{ one.check.subject }}, {{ one.level }}. {{ one.check.source }}</p>
{% for sighting in one.sightings %}
{% if not loop.first %}<details><summary>{{ sighting.message }}</summary>
{% else %}<p><strong>{{ sighting.message }}</strong></p>
{% endif -%}
<dl>{% for name, text in sighting.facts %}<dt>{{ name }}</dt><dd><code>{{ text }}</code></dd>{% endfor %}</dl>
{% for exchange in sighting.exchanges %}
<p>{{ exchange.label }}: <code>{{ exchange.request }}</code></p>
{% if exchange.body %}<pre class="wrap">{{ exchange.body }}</pre>
{% endif -%}
<p class="dim">answer: {{ exchange.answer }}</p>
{% if exchange.lines %}<pre>
{% for line in exchange.lines %}{% if line.here %}<mark>{{ line.text }}</mark>{% else %}{{ line.text }}{% endif %}
{% endfor %}</pre>
{% endif -%}
<details><summary>Send it again</summary><pre class="wrap">{{ exchange.curl }}</pre></details>
{% endfor -%}
{% if not loop.first %}</details>
{% endif -%}
{% endfor -%}
{% if one.further %}<p class="dim">{{ one.further }} of this</p>
{% endif -%}
<details><summary>About this check</summary>
<p>{{ one.check.why }}</p>
<dl><dt>level</dt><dd>{{ one.meaning }}</dd>
<dt>good</dt><dd><code>{{ one.check.good }}</code></dd><dt>bad</dt><dd><code>{{ one.check.bad }}</code></dd></dl>
</details>
</article>
{% endfor -%}
{% endif -%}
<h2>All checks</h2>
<table>
{% for subject, results in subjects %}<tr><th colspan="3">{{ subject }}</th></tr>
{% for one in results %}<tr><td><code>
{%- if one.sightings %}<a href="#v-{{ one.check.id }}">{{ one.check.id }}</a>{% else %}{{ one.check.id }}{% endif -%}
</code></td><td class="{{ one.verdict|replace(' ', '-') }}">{{ one.verdict }}</td><td title="compared">
{{- "{:,}".format(one.count) }}</td></tr>
{% endfor -%}
{% endfor -%}
</table>
</body>
</html>
"""


def page(report: Report) -> str:
    """The report as a page: what was found stands first, then every check with its verdict."""
    word, why = ending(report)
    subjects: dict[str, list[Result]] = {}
    for result in report.results:
        subjects.setdefault(result.check.subject, []).append(result)
    when = ""
    if report.exchanges:
        when = f"{datetime.fromtimestamp(report.exchanges[0].at_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC, "
    # Whatever a provider sends becomes text: all that is filled in is escaped.
    return (
        Environment(autoescape=True, keep_trailing_newline=True)
        .from_string(_TEMPLATE)
        .render(
            word=word,
            why=why,
            headline=headline(report),
            remarks=list(remarks(report)),
            when=when,
            version=__version__,
            exit_code=report.exit_code,
            strict=report.strict,
            tally=list(tally(report)),
            findings=[_finding(report, result) for result in found_by(report)],
            subjects=subjects.items(),
        )
    )


def _finding(report: Report, result: Result) -> dict[str, Any]:
    further = len(result.sightings) - MOST_SIGHTINGS
    return {
        "check": result.check,
        "kind": severity(report, result),
        "level": level_of(report, result),
        "meaning": MEANING[result.check.level],
        "sightings": [_sighting(report, one) for one in result.sightings[:MOST_SIGHTINGS]],
        "further": count_of(further, "more sighting") if further > 0 else "",
    }


def _sighting(report: Report, sighting: Sighting) -> dict[str, Any]:
    return {
        "message": message_of(sighting),
        "facts": list(facts_of(sighting)),
        "exchanges": shown(report, sighting, body=MOST_BODY),
    }
