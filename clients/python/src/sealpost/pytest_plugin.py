"""A fixture for pytest. Activate it in `conftest.py`: `pytest_plugins = ["sealpost.pytest_plugin"]`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .testing import LocalService

__all__ = ["sealpost_service"]


@pytest.fixture(scope="session")
def sealpost_service() -> Iterator[LocalService]:
    """A service for all tests of the session. Needs the `sealpost` binary: see `LocalService`."""
    with LocalService() as service:
        yield service
