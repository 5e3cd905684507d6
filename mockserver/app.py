"""The ASGI app, made from the contract. No arithmetic here."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from . import control
from .answer import Answers
from .endpoint import Access, Endpoint
from .errors import RequestError, not_found
from .routing import Routing, route
from .scenario import deployments as played_deployments
from .scenario_file import catalogue
from .window import Limits
from .world import World

log = logging.getLogger("loopsmock")


def create_app(
    *,
    spec: Path | Mapping[str, Any] | None = None,
    scenarios: Sequence[Path] | None = None,
    seed: int = 0,
    clock: Callable[[], int] | None = None,
    api_key: str | None = None,
    deployments: Mapping[str, str] | None = None,
    any_id: bool = False,
    missing_auth_status: int = 403,
    max_window_s: int = 7 * 86_400,
    max_points: int = 11_000,
    lag_s: int = 0,
) -> FastAPI:
    """The mock as an ASGI app.

    Args:
        spec: the contract to serve, an OpenAPI file or document; None is the package's own.
        scenarios: files or folders of scenarios beside the package's own.
        seed: another seed, other numbers.
        clock: the time in epoch milliseconds; None is the real one.
        api_key: the key that clients must send; None takes any but one that begins with `invalid`.
        deployments: further deployment ids and the scenario each plays.
        any_id: whether every id is a deployment, a healthy one.
        missing_auth_status: 401 or 403, for a request without a usable Authorization header.
        max_window_s: longest time range.
        max_points: most points of one series.
        lag_s: seconds from a sample to its being readable.

    Raises:
        StartError: the contract or a scenario is broken.
    """
    known = catalogue(scenarios or ())
    world = World(
        known,
        played_deployments(known, deployments),
        seed=seed,
        clock=clock or (lambda: time.time_ns() // 1_000_000),
        limits=Limits(max_window_s, max_points),
        any_id=any_id,
        lag_s=lag_s,
    )
    routing = route(spec, world)
    for warning in routing.warnings:
        log.warning("%s", warning)
    # The routes are Starlette's, the answers bytes: FastAPI's own models and its documentation pages, which load
    # their scripts from elsewhere, would have nothing to do.
    app = FastAPI(title="loopsmock", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.router.routes += _routes(routing, world, Access(api_key, missing_auth_status))
    app.add_exception_handler(HTTPException, _envelope)
    app.state.routing = routing
    app.state.world = world
    return app


def _routes(routing: Routing, world: World, access: Access) -> list[Route]:
    answers = Answers()
    document = JSONResponse(routing.spec.document)

    async def contract(request: Request) -> Response:
        return document

    return [
        # A dashboard in a browser comes from another origin; what the mock says of itself is not for it.
        *(
            Route(path, CORSMiddleware(Endpoint(served, world, access, answers), ["*"], ["*"], ["*"]))
            for path, served in routing.served.items()
        ),
        Route("/openapi.json", contract, methods=["GET"]),
        *control.routes(world),
    ]


async def _envelope(request: Request, error: Exception) -> Response:
    """What the router itself refuses, in the envelope of the contract."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return not_found(f"no such path: {request.url.path[:100]}").response()
    # The router lists them in the order of a set, which differs from process to process.
    allow = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
    return RequestError(error.status_code, "METHOD_NOT_ALLOWED", f"use {allow}", {"Allow": allow}).response()
