"""What the mock says of itself, under /_mock: outside the contract, without a key, not for browsers of other sites."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .world import World


def routes(world: World) -> list[Route]:
    """The routes under /_mock."""

    async def health(request: Request) -> Response:
        # The app exists only after its contract, plans and scenarios were read: it answers, so it can serve.
        return JSONResponse({"status": "ok", "now_epoch_millis": world.clock(), "deployments": list(world.deployments)})

    return [Route("/_mock/health", health, methods=["GET"])]
