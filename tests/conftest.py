"""What holds for all tests: no time limits on properties, and a running server to share."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from .support import serving

# A machine under load must not fail a property.
settings.register_profile("loopsmock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loopsmock")


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The URL of a server on loopback at the frozen time, shared by the tests of one process."""
    with serving() as url:
        yield url
