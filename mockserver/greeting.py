"""What `serve` prints for people: where to point which client, and a request to paste."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from .routing import Routing
from .scenario import Deployment

_TRUSS_PORT = ":8000"
_FEW = 10
"""So many skipped operations are listed; of more, only their number."""


def greeting(
    url: str, routing: Routing, deployments: Mapping[str, Deployment], *, key_set: bool, spec: Path | None = None
) -> str:
    """The text that follows the first line.

    Args:
        url: Where the server answers, without a slash at the end.
        routing: What of the spec is served.
        deployments: What is served, by id.
        key_set: Whether a certain key is required. The text names its variable, never its value.
        spec: The file that is served instead of the package's own contract.
    """
    key = '"$LOOPSMOCK_API_KEY"' if key_set else '"loopsmock"'
    clients = [
        ("baseten (Python)", f'ManagementClient(api_key=…, base_url_override="{url}")'),
        ("baseten-go", f'ManagementClientOptions{{BaseURL: "{url}"}}'),
        ("baseten CLI", f"BASETEN_MANAGEMENT_API_URL_OVERRIDE={url}"),
        ("baseten-loops", f"LOOPS_BASE_URL={url}"),
        ("openapi-fetch", f'createClient({{ baseUrl: "{url}" }})'),
        ("truss", _truss(url)),
    ]
    lines = ["", f"API key: {key}, as Bearer or Api-Key.", "", "Point a client here:"]
    lines += [f"  {name:<18}{how}" for name, how in clients]
    lines += ["", "Deployments:"]
    lines += [
        f"  {id_:<18}{deployment.scenario.size:<12}  {deployment.scenario.shows}"
        for id_, deployment in deployments.items()
    ]
    lines += ["", *_operations(routing, spec)]
    metrics = routing.metrics[0]
    lines += ["", "Try it:", f"  {_curl(metrics.method, url, metrics.path, next(iter(deployments)), key_set=key_set)}"]
    lines += ["", "Ctrl-C stops it.", ""]
    return "\n".join(lines)


def _operations(routing: Routing, spec: Path | None) -> list[str]:
    """What of the contract is served, what is not and why."""
    served = [f"{method} {path}" for path, methods in routing.served.items() for method in methods]
    if spec is None and not routing.skipped:
        return ["Operations:", *(f"  {line}" for line in served)]
    lines = [f"Operations of {spec or 'openapi.yaml'}: {len(served)} served, {len(routing.skipped)} skipped"]
    lines += [f"  {line}" for line in served]
    if len(routing.skipped) > _FEW:
        argument = "" if spec is None else f"spec=Path({str(spec)!r})"
        lines += ["Those skipped, each with the reason, are in this list in Python:"]
        lines += [f"  create_app({argument}).state.routing.skipped"]
    elif routing.skipped:
        lines += ["Skipped:", *(f"  {line}" for line in routing.skipped)]
    return lines


def _truss(url: str) -> str:
    # Truss knows this one local address and takes production for every other, without a word.
    if url.endswith(_TRUSS_PORT):
        return "remote_url = http://localhost:8000, exactly so: any other goes to production"
    return "works with --port 8000 only: any other remote_url goes to production"


def _curl(method: str, url: str, path: str, deployment_id: str, *, key_set: bool) -> str:
    """One line for a POSIX shell; the shell fills the key in."""
    before, _, after = path.partition("{")
    target = url + before + quote(deployment_id, safe="") + after.partition("}")[2]
    header = '"Authorization: Bearer $LOOPSMOCK_API_KEY"' if key_set else "'Authorization: Bearer loopsmock'"
    verb, body = {"POST": ("", " -d '{}'"), "GET": ("", "")}.get(method, (f"-X {method} ", " -d '{}'"))
    return f"curl -s {verb}{shlex.quote(target)} -H {header}{body}"
