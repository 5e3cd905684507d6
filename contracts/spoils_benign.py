"""Liberties that a server which does everything right may take, and no check may mind."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

from .answer import QUANTILES, time_ms
from .plan import HOUR_MS, MINUTE_MS
from .spoil import BENIGN, IDLE, PAIR, RANKS, Call, Change, Reply, Spoil
from .spoil_change import Points, answer, computes, lists, metrics, newest_ms, reply, series, success, values
from .spoils_nodes import COMPUTE, MAPS, node_ids, renamed
from .spoils_queries import at, chance
from .spoils_time import stamped

_free = partial(Spoil, kills="", kind=BENIGN)
_TRAFFIC = ("inference_volume", "concurrent_requests", "response_time_stats", "inference_volume_by_status")


def _offset(hours: int) -> Change:
    zone = timezone(timedelta(hours=hours))

    def write(stamp: str) -> str:
        return datetime.fromtimestamp((time_ms(stamp) or 0) / 1000, UTC).astimezone(zone).isoformat()

    return stamped(write)


def _more_members(value: dict[str, Any], call: Call) -> None:
    found = value["metrics"]
    value["request_id"] = call.number
    found["window"] = {"points": None, "truncated": False}
    for compute in computes(found):
        compute["network_bytes"] = [dict(point) for point in compute["cpu_usage"]]
        compute["gpu_temperature"] = {rank: [] for rank in compute["gpu_utilization"]}
    for node in found["per_node_metrics"]:
        node["labels"] = ["spot", None]
    for _, points in lists({name: found[name] for name in _TRAFFIC}):
        for point in points:
            point["estimated"] = True


def _shuffled_ranks(found: dict[str, Any], call: Call) -> None:
    for compute in computes(found):
        for name in MAPS:
            ranks = list(compute[name])
            call.dice.shuffle(ranks)
            compute[name] = {rank: compute[name][rank] for rank in ranks}


def _members_by_name(value: dict[str, Any], call: Call) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))


def _keep(points: Points, *where: object, share: float) -> None:
    """Leave out points, the same ones of the same times in every answer."""
    points[:] = [point for point in points if chance(at(point) // MINUTE_MS, *where) >= share]


def _holes_in_nodes(found: dict[str, Any], call: Call) -> None:
    leader = found["per_node_metrics"][0]["node_id"] if found["per_node_metrics"] else ""
    for compute in computes(found):
        for _, points in lists({name: compute[name] for name in COMPUTE}):
            _keep(points, compute.get("node_id", leader), share=0.1)


def _holes_in_traffic(found: dict[str, Any], call: Call) -> None:
    for _, points in lists({name: found[name] for name in _TRAFFIC}):
        points[:] = [point for point in points if at(point) // MINUTE_MS % 20 > 3]


def _no_traffic(found: dict[str, Any], call: Call) -> None:
    found.update({name: [] for name in _TRAFFIC})


def _late_node(found: dict[str, Any], call: Call) -> None:
    """The second node is there for the last forty minutes, and not listed in ranges that are over by then."""
    joined = call.memory.setdefault("newest", newest_ms(found)) - 40 * MINUTE_MS
    for node in found["per_node_metrics"][1:]:
        for _, points in lists(node):
            points[:] = [point for point in points if at(point) >= joined]
    found["per_node_metrics"] = [node for node in found["per_node_metrics"] if any(points for _, points in lists(node))]


def _no_gpu_series(found: dict[str, Any], call: Call) -> None:
    for node in found["per_node_metrics"][1:]:
        node.update({name: {} for name in MAPS})


def _lagging(found: dict[str, Any], call: Call) -> None:
    """What was served in the last two minutes is not counted yet."""
    known = call.memory.setdefault("newest", newest_ms(found)) - 2 * MINUTE_MS
    for _, points in lists({name: found[name] for name in _TRAFFIC}):
        for point in points:
            if at(point) > known:
                point.update({name: None if name in QUANTILES else 0.0 for name in point.keys() - {"timestamp"}})


def _young(found: dict[str, Any], call: Call) -> None:
    """The deployment is two and a half hours old."""
    born = call.memory.setdefault("newest", newest_ms(found)) - 5 * HOUR_MS // 2
    for _, points in lists(found):
        points[:] = [point for point in points if at(point) >= born]


def _absent_quantiles(points: Points, call: Call) -> None:
    for point in points:
        for name in [name for name in QUANTILES if name in point and point[name] is None]:
            del point[name]


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _charset(came: Reply) -> None:
    came.headers["content-type"] = 'application/json; charset="utf-8"; profile=metrics'


def _pretty(came: Reply) -> None:
    came.body = b"\n" + json.dumps(came.value, indent=2, ensure_ascii=False).encode() + b"\n\n"


def _exponents(came: Reply) -> None:
    """Numbers as some languages write them: 6.8e+10."""
    parsed = json.loads(came.body, parse_float=lambda text: _Exponent(float(text)))
    came.body = json.dumps(parsed).encode()


class _Exponent(float):
    """A number that `json` writes by its repr."""

    def __repr__(self) -> str:
        return f"{float(self):.12E}"


def _gzip(came: Reply, call: Call) -> None:
    if "gzip" in call.headers.get("accept-encoding", ""):
        came.body = gzip.compress(came.body, 1)
        came.headers["content-encoding"] = "gzip"


def _more_headers(came: Reply, call: Call) -> None:
    came.headers |= {"x-request-id": str(call.number), "server": "envoy", "cache-control": "no-store", "x-empty": ""}


def _status(old: int, new: int, code: str) -> Change:
    def edit(came: Reply, call: Call) -> None:
        if came.status == old:
            came.refuse(new, code, "refused")

    return reply(edit)


def _get_not_found(came: Reply, call: Call) -> None:
    if came.status == 405:
        came.refuse(404, "NOT_FOUND", "no such path")


def _no_listing(came: Reply, call: Call) -> None:
    if call.is_for_listing:
        came.refuse(404, "NOT_FOUND", "no such path")


SPOILS = (
    _free("offset-zero", "Times end in +00:00.", change=_offset(0)),
    _free("offset-west", "Times are told at -07:00.", change=_offset(-7)),
    _free("offset-east", "Times are told at +14:00.", change=_offset(14)),
    _free("milliseconds", "Times have three digits of a fraction.",
          change=stamped(lambda stamp: stamp.replace("Z", ".000Z"))),
    _free("more-members", "There are members and series that nobody knows.", change=answer(_more_members)),
    _free("members-by-name", "Members are in the order of their names.", change=answer(_members_by_name)),
    _free("shuffled-ranks", "Ranks are in another order each time.", change=metrics(_shuffled_ranks), deployment=RANKS),
    _free("ranks-from-4", "Ranks begin at 4.", change=renamed(lambda rank: str(int(rank) + 4))),
    _free("holes-in-nodes", "Now and then a node was not scraped.", change=metrics(_holes_in_nodes), deployment=PAIR),
    _free("holes-in-traffic", "All traffic is missing for some minutes.", change=metrics(_holes_in_traffic)),
    _free("no-traffic", "The series of traffic are empty.", change=metrics(_no_traffic)),
    _free("late-node", "A node has joined forty minutes ago.", change=metrics(_late_node), deployment=PAIR),
    _free("node-without-gpus", "A node has no GPU series.", change=metrics(_no_gpu_series), deployment=PAIR),
    _free("lagging", "Traffic of the last two minutes is not counted yet.", change=metrics(_lagging)),
    _free("young", "The deployment is not as old as the ranges are long.", change=metrics(_young)),
    _free("whole-numbers", "Whole values have no decimal point.", change=values(_whole)),
    _free("six-digits", "Values have six digits.", change=values(lambda value: float(f"{value:.6g}"))),
    _free("storage-in-hundredths", "Storage utilization is rounded to a hundredth.",
          change=values(lambda value: round(value, 2), "utilization")),
    _free("absent-quantiles", "Quantiles that would be null are left out.",
          change=series(_absent_quantiles, "response_time_stats"), deployment=IDLE),
    _free("node-names", "Node ids are host names.",
          change=node_ids(lambda index, id_: f"ip-10-0-3-{17 + index}.eu-west-1.compute.internal/{id_}")),
    _free("charset", "The content type has parameters.", change=success(_charset)),
    _free("pretty", "JSON is indented, with space around it.", change=success(_pretty)),
    _free("exponents", "Numbers have exponents.", change=success(_exponents)),
    _free("gzip", "Bodies are compressed.", change=reply(_gzip)),
    _free("more-headers", "There are more headers.", change=reply(_more_headers)),
    _free("401", "A missing or wrong key gets 401.", change=_status(403, 401, "UNAUTHENTICATED")),
    _free("get-not-found", "GET is an unknown path, not a wrong method.", change=reply(_get_not_found)),
    _free("no-listing", "Deployments cannot be listed.", change=reply(_no_listing)),
)  # fmt: skip
"""Each is within the contract and within what checks may expect."""
