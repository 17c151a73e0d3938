"""Sends requests with credentials and retries, and raises an exception for each error response."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import httpx

from ..credentials import Login, login_request, needs_credentials
from ..errors import ApiError, Unreachable
from ..exceptions import error_of
from ..retry import Retry


class AsyncTransport(httpx.AsyncClient):
    """An HTTP client that repeats failed requests if this is safe."""

    def __init__(self, *, retry: Retry, **options: Any) -> None:
        super().__init__(**options)
        self._retry = retry

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        tries = 0
        while True:
            tries += 1
            try:
                return await self._try(request, **options)
            except (ApiError, Unreachable) as fault:
                pause = self._retry.pause(tries, fault)
                if pause is None:
                    raise
            await anyio.sleep(pause)

    async def _try(self, request: httpx.Request, **options: Any) -> httpx.Response:
        try:
            response = await super().send(request, **options)
        except httpx.TransportError as cause:
            raise Unreachable(cause) from cause
        error = error_of(response)
        if error is not None:
            raise error
        return response


class AsyncSession(httpx.Auth):
    """Adds the token to each request. Logs in first if there is no token yet, and again after a 401."""

    def __init__(self, base_url: httpx.URL, credentials: str | Login) -> None:
        self._base_url = base_url
        self._login = credentials if isinstance(credentials, Login) else None
        self._token = credentials if isinstance(credentials, str) else None
        self._lock = anyio.Lock()

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        if not needs_credentials(request):
            yield request
            return
        for _ in range(2):
            # Requests that share a rejected token log in once.
            async with self._lock:
                if self._token is None and self._login is not None:
                    response = yield login_request(self._base_url, self._login, request)
                    await response.aread()
                    if not response.is_success:
                        return
                    self._token = response.json()["session_token"]
                token = self._token
            request.headers["Authorization"] = f"Bearer {token}"
            response = yield request
            await response.aread()
            if response.status_code != httpx.codes.UNAUTHORIZED or self._login is None:
                return
            if self._token == token:
                self._token = None
