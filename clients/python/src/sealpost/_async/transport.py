"""Sends requests with credentials and retries, and raises an exception for each error response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import httpx

from ..credentials import Login, check_header, needs_credentials
from ..errors import ApiError, Unreachable
from ..operation import Body, Operation, Result
from ..operations import CREATE_SESSION
from ..responses import LimitedBody, error_of, result_of
from ..retry import Retry


class AsyncTransport(httpx.AsyncClient):
    """An HTTP client with credentials, which repeats failed requests if this is safe."""

    def __init__(self, credentials: str | Login | None, *, retry: Retry, **options: Any) -> None:
        super().__init__(event_hooks={"response": [self._limit]}, **options)
        if self.base_url.userinfo:
            raise ValueError("the URL has a user")
        self.login = credentials if isinstance(credentials, Login) else None
        self._token = credentials if isinstance(credentials, str) else None
        self._lock = anyio.Lock()
        self._retry = retry

    async def call(
        self, operation: Operation[Body, Result], body: Body, *, headers: Mapping[str, str] | None = None, **path: str
    ) -> Result:
        """Calls an operation. `path` has the parameters of its path."""
        for name, text in (headers or {}).items():
            check_header(name, text)
        content = None if body is None else body.to_dict()
        response = await self.request(
            operation.method, operation.path.format(**path), json=content, headers=headers or {}
        )
        return result_of(operation, response)

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        tries = 0
        while True:
            tries += 1
            try:
                return await self._authenticated(request, **options)
            except (ApiError, Unreachable) as fault:
                pause = self._retry.pause(tries, fault)
                if pause is None:
                    raise
            await anyio.sleep(pause)

    async def token(self) -> str | None:
        """Returns the API token or the session token. Logs in first if there is no session yet."""
        # Requests that need a session at the same time log in once.
        async with self._lock:
            if self._token is None and self.login is not None:
                body = {"account_id": self.login.account_id, "login_secret": self.login.login_secret}
                request = self.build_request("POST", CREATE_SESSION.path, json=body)
                response = await self._exchange(request)
                try:
                    self._token = response.json()["session_token"]
                except (LookupError, TypeError) as cause:
                    raise ApiError(response, {}) from cause
            return self._token

    def discard(self, token: str | None) -> bool:
        """Removes a rejected session token. Returns whether the client can log in again."""
        if self.login is not None and self._token == token:
            self._token = None
        return self.login is not None

    async def _authenticated(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Adds the token to a request. Logs in again after a 401."""
        token = await self.token() if needs_credentials(request) else None
        if token is None:
            return await self._exchange(request, **options)
        request.headers["Authorization"] = f"Bearer {token}"
        try:
            return await self._exchange(request, **options)
        except ApiError as error:
            if error.status != httpx.codes.UNAUTHORIZED or not self.discard(token):
                raise
        request.headers["Authorization"] = f"Bearer {await self.token()}"
        return await self._exchange(request, **options)

    async def _exchange(self, request: httpx.Request, **options: Any) -> httpx.Response:
        try:
            response = await super().send(request, **options)
        except (httpx.DecodingError, httpx.TransportError) as cause:
            raise Unreachable(cause) from cause
        error = error_of(response)
        if error is not None:
            raise error
        return response

    async def _limit(self, response: httpx.Response) -> None:
        """Limits the time to read the body of a response."""
        if self.timeout.read is not None:
            response.stream = LimitedBody(response, self.timeout.read)
