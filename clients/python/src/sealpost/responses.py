"""Turns error responses into exceptions."""

from __future__ import annotations

import httpx

from .errors import ApiError
from .exceptions import BY_CODE


def error_of(response: httpx.Response) -> ApiError | None:
    """Returns the exception for an error response, or None for a success."""
    kind = response.headers.get("Content-Type", "")
    if response.is_success and kind.startswith(("application/", "text/plain")):
        return None
    problem = response.json() if kind.startswith("application/problem+json") else {}
    return BY_CODE.get(problem.get("code"), ApiError)(response, problem)
