"""The fake endpoint: `create_app` makes it."""

from typing import TYPE_CHECKING, Any

from .errors import StartError

if TYPE_CHECKING:
    from .app import create_app

__all__ = ["StartError", "create_app"]


def __getattr__(name: str) -> Any:
    # The app brings FastAPI and numpy with it; who wants only the command line's help need not wait for them.
    if name == "create_app":
        from .app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
