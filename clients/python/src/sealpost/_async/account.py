"""Sessions, secrets, API tokens and activity of the account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from .. import operations
from ..models import (
    AccountClosed,
    AccountExport,
    ActivityRequest,
    ActivityView,
    ApiTokenCreated,
    ApiTokenRevoked,
    ApiTokenView,
    CloseRequest,
    CreateTokenRequest,
    ExportRequest,
    LoggedOut,
    LogoutRequest,
    RevokeTokenRequest,
    RotateSecretRequest,
    SecretsReplaced,
    TokenScope,
)
from .transport import AsyncTransport


class AsyncAccount:
    """The account of the client. Its operations need a `Login`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def activity(self, *, page_size: int = 100) -> AsyncIterator[ActivityView]:
        """Yields the activity of the account, newest first, page by page."""
        body = ActivityRequest(limit=page_size)
        while True:
            page = await self._transport.call(operations.LIST_ACTIVITY, body)
            for entry in page.entries:
                yield entry
            if page.next_cursor is None:
                return
            body.cursor = page.next_cursor

    async def logout(self, *, all: bool = False) -> LoggedOut:
        """Ends the session of this client, or all sessions of the account. The next request logs in again."""
        return await self._transport.call(operations.END_SESSION, LogoutRequest(all=all))

    async def rotate_login_secret(self, login_secret: str | None = None) -> SecretsReplaced:
        """Replaces the login secret and the recovery code. Create a new client with the new secret."""
        body = RotateSecretRequest(login_secret=self._login_secret(login_secret))
        return await self._transport.call(operations.ROTATE_LOGIN_SECRET, body)

    async def create_token(
        self,
        *,
        name: str,
        scopes: Iterable[TokenScope | str],
        expires_in_days: int | None = None,
        api_key_id: str | None = None,
        login_secret: str | None = None,
    ) -> ApiTokenCreated:
        """Creates an API token for one API key. The response has its secret, which no later response shows.

        By default, the token is for the API key of this client, and the login secret is that of this client.
        """
        key = self._transport.headers.get("X-DID-API-Key") if api_key_id is None else api_key_id
        if key is None:
            raise ValueError("this client has no API key: pass api_key_id")
        body = CreateTokenRequest(
            login_secret=self._login_secret(login_secret),
            api_key_id=key,
            name=name,
            scopes=[TokenScope(scope) for scope in scopes],
            expires_in_days=expires_in_days,
        )
        return await self._transport.call(operations.CREATE_API_TOKEN, body)

    async def tokens(self) -> list[ApiTokenView]:
        """Returns the API tokens that have not expired, oldest first."""
        return (await self._transport.call(operations.LIST_API_TOKENS, None)).tokens

    async def revoke_token(self, token_id: str) -> ApiTokenRevoked:
        """Revokes an API token."""
        return await self._transport.call(operations.REVOKE_API_TOKEN, RevokeTokenRequest(token_id=token_id))

    async def export(self, login_secret: str | None = None) -> AccountExport:
        """Returns everything that the service stores about the account, without messages and secrets."""
        body = ExportRequest(login_secret=self._login_secret(login_secret))
        return await self._transport.call(operations.EXPORT_ACCOUNT, body)

    async def close(self, login_secret: str) -> AccountClosed:
        """Closes the account and revokes all its API keys, permanently."""
        return await self._transport.call(operations.CLOSE_ACCOUNT, CloseRequest(login_secret=login_secret))

    def _login_secret(self, given: str | None) -> str:
        if given is not None:
            return given
        if self._transport.login is None:
            raise ValueError("this client has no login secret: pass login_secret")
        return self._transport.login.login_secret
