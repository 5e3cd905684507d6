"""The errors: what keeps the server from starting, and what it answers with instead of series.

StartError            start-up: broken spec, scenario, port
├── PlanError         plan.py
└── ScenarioError     scenario.py
RequestError          a request that is answered with an error envelope
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.responses import Response


class StartError(Exception):
    """Broken input at start-up; the message is one line that says what and where, and what to do."""


class RequestError(Exception):
    """A request that gets an error instead of an answer, in the envelope of every error but 429."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers

    def response(self) -> "Response":
        """The response that says so."""
        from starlette.responses import JSONResponse  # heavy: a refusal at the start should be quick

        return JSONResponse({"code": self.code, "message": str(self)}, self.status, self.headers)


def not_found(message: str) -> RequestError:
    """404."""
    return RequestError(404, "NOT_FOUND", message)


def invalid(message: str) -> RequestError:
    """400; there is no 422 anywhere in this API."""
    return RequestError(400, "VALIDATION_ERROR", message)
