"""The servers that the mock is compared with: `baselines.py KIND FILE` answers every metrics request with the file.

KIND is `prebuilt` (a FastAPI route that returns the bytes), `bare` (an ASGI function that sends them) or
`response_model` (a FastAPI route that returns dicts and lets FastAPI validate and serialise them).
"""

import json
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvicorn
import yaml
from fastapi import FastAPI, Response
from pydantic import create_model

PATH = "/v1/loops/deployments/{deployment_id}/metrics"
CONTRACT = Path(__file__).parents[2] / "openapi.yaml"
TYPES = {"string": str, "number": float, "integer": int, "boolean": bool}


def prebuilt(body: bytes) -> Any:
    """FastAPI with nothing to do but to route and to send."""
    app = FastAPI()

    @app.post(PATH)
    async def metrics(deployment_id: str) -> Response:
        return Response(body, media_type="application/json")

    return app


def bare(body: bytes) -> Any:
    """The least that an ASGI server can run."""
    head = {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
    }
    whole = {"type": "http.response.body", "body": body}

    async def app(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send(head)
            await send(whole)

    return app


def response_model(body: bytes) -> Any:
    """What one writes first: dicts, and a model that FastAPI holds them to. Timestamps stay strings, the cheap case."""
    answer = json.loads(body)
    document = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    operation = document["paths"][PATH]["post"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    app = FastAPI()

    @app.post(PATH, response_model=_type_of(schema, document))
    async def metrics(deployment_id: str) -> Any:
        return answer

    return app


def _type_of(schema: Mapping[str, Any], document: Mapping[str, Any], name: str = "Answer") -> Any:
    """The Python type or pydantic model of a schema, so that the models follow openapi.yaml."""
    while "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        schema = document["components"]["schemas"][name]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "null" in kinds:
        return _type_of({**schema, "type": next(kind for kind in kinds if kind != "null")}, document) | None
    if kinds[0] == "array":
        return list[_type_of(schema["items"], document)]  # type: ignore[misc]
    if kinds[0] != "object":
        return TYPES[kinds[0]]
    if "properties" not in schema:
        return dict[str, _type_of(schema["additionalProperties"], document)]  # type: ignore[misc]
    required = schema.get("required", [])
    members: dict[str, Any] = {
        member: (_type_of(of, document, member), ... if member in required else of.get("default"))
        for member, of in schema["properties"].items()
    }
    return create_model(name, **members)


KINDS = {"prebuilt": prebuilt, "bare": bare, "response_model": response_model}


def serve(app: Any) -> None:
    """Serve on a free port as the mock is served: uvloop, httptools, no access log."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"URL=http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", access_log=False, log_level="warning", lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(KINDS[sys.argv[1]](Path(sys.argv[2]).read_bytes()))
