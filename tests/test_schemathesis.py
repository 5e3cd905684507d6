"""Schemathesis with all of its checks against a running mock; and that the run reached the depth of the endpoint."""

import copy
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from .support import PATH, ROOT, SPEC, serving

CONFIG = ROOT / "tests" / "schemathesis.toml"
KEY = "the-key-of-this-test"
MEMBERS = {"start_epoch_millis", "end_epoch_millis", "step_seconds", "time_divisor_seconds"}
PATIENCE_S = 600.0


def run(folder: Path, spec: Path | str, url: str, *words: str) -> tuple[int, str, list[dict[str, Any]]]:
    """Exit code, what was printed, and the exchanges."""
    exchanges = folder / "exchanges.jsonl"
    environment = os.environ | {
        "LOOPSMOCK_API_KEY": KEY,
        "EXCHANGES": str(exchanges),
        "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "tests"), os.environ.get("PYTHONPATH")])),
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", str(spec), "--url", url]
    done = subprocess.run(
        [*command, "--no-color", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    lines = exchanges.read_text("utf-8").splitlines() if exchanges.exists() else []
    return done.returncode, done.stdout, [json.loads(line) for line in lines]


def test_no_check_fails_and_the_run_is_deep(tmp_path: Path) -> None:
    with serving(LOOPSMOCK_API_KEY=KEY) as url:
        code, told, exchanges = run(tmp_path, f"{url}/openapi.json", url)
    assert code == 0, told
    assert "No issues found" in told
    assert KEY not in told
    assert len(exchanges) >= 500
    assert {exchange["phase"] for exchange in exchanges} == {"examples", "coverage", "fuzzing"}

    right = {(operation.method, operation.path) for operation in SPEC.operations}
    assert {(exchange["method"], exchange["path"]) for exchange in exchanges if exchange["status"] == 200} == right
    wrong = [exchange for exchange in exchanges if (exchange["method"], exchange["path"]) not in right]
    assert {exchange["status"] for exchange in wrong} == {405}
    for path in {path for _, path in right}:
        methods = {exchange["method"] for exchange in wrong if exchange["path"] == path}
        assert methods >= {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} - {
            method for method, its_path in right if its_path == path
        }

    fuzzed = [exchange for exchange in exchanges if exchange["phase"] == "fuzzing" and exchange["path"] == PATH]
    refused = [exchange for exchange in fuzzed if exchange["mode"] == "negative"]
    assert len(refused) >= 100
    assert {exchange["status"] for exchange in refused} <= {400, 404}

    positive = [exchange for exchange in fuzzed if exchange["mode"] == "positive"]
    shown = [exchange for exchange in positive if exchange["status"] == 200 and exchange["points"] >= 1]
    assert len(shown) >= 0.5 * len(positive) > 0
    bodies = [exchange["body"] or {} for exchange in shown]
    windows = {tuple(body.get(name) for name in sorted(MEMBERS - {"time_divisor_seconds"})) for body in bodies}
    assert len(windows) >= 100
    for member in MEMBERS:
        assert sum(body.get(member) is not None for body in bodies) >= 50, member


def test_no_check_is_switched_off() -> None:
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    checks = config["checks"]
    assert set(checks) == {"positive_data_acceptance", "missing_required_header"}
    assert all(settings.keys() == {"expected-statuses"} for settings in checks.values())
    # Unexpected methods are sent by default; phases could bring checks of their own.
    assert config["phases"] == {"stateful": {"enabled": False}}


def test_a_server_with_another_contract_fails(tmp_path: Path) -> None:
    other = copy.deepcopy(SPEC.document)
    metrics = other["components"]["schemas"]["LoopsDeploymentMetricsV1"]
    metrics["properties"]["cpu_cores"] = metrics["properties"].pop("cpu_usage")
    metrics["required"].remove("cpu_usage")
    served = tmp_path / "other.json"
    served.write_text(json.dumps(other))
    with serving("--spec", str(served), LOOPSMOCK_API_KEY=KEY) as url:
        code, told, _ = run(tmp_path, ROOT / "openapi.yaml", url, "--phases", "examples")
    assert code == 1, told
    assert "Response violates schema" in told
    assert "cpu_usage" in told
