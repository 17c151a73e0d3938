"""Limits the time of responses, and turns error responses into exceptions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from time import monotonic
from typing import Any

import httpx

from .errors import ApiError, Unreachable
from .exceptions import BY_CODE
from .operation import Operation, Result


class LimitedBody(httpx.AsyncByteStream, httpx.SyncByteStream):
    """The body of a response that must be complete in time."""

    def __init__(self, response: httpx.Response, limit_s: float) -> None:
        self._stream: Any = response.stream
        self._end = monotonic() + limit_s

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            self._check()
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._check()
            yield part

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _check(self) -> None:
        if monotonic() > self._end:
            raise httpx.ReadTimeout("the response was not complete in time")


def error_of(response: httpx.Response) -> ApiError | Unreachable | None:
    """Returns the exception for an error response or an incomplete response, or None for a success."""
    kind = response.headers.get("Content-Type", "")
    is_json = kind.startswith("application/") and "json" in kind
    returns_text = "/v1/status/" in response.request.url.path
    if response.is_success and returns_text and kind.startswith(("application/", "text/plain")):
        return None
    try:
        value = response.json() if is_json else None
    except (RecursionError, ValueError):
        if response.is_success:
            return Unreachable(httpx.ReadError("the response is not complete JSON", request=response.request))
        value = None
    if response.is_success and is_json:
        return None
    problem = value if kind.startswith("application/problem+json") and isinstance(value, dict) else {}
    return BY_CODE.get(problem.get("code"), ApiError)(response, problem)


def result_of(operation: Operation[Any, Result], response: httpx.Response) -> Result:
    """Returns the result of a successful operation."""
    try:
        return operation.read(response.text if operation.read is str else response.json())
    except (AttributeError, LookupError, TypeError, ValueError) as cause:
        raise ApiError(response, {}) from cause
