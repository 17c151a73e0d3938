"""Sessions, secrets, API tokens and activity of the account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from .._generated import AuthenticatedClient
from .._generated.api.sessions import (
    close_account,
    end_session,
    export_account,
    list_activity,
    rotate_login_secret,
)
from .._generated.api.tokens import create_api_token, list_api_tokens, revoke_api_token
from .._generated.types import UNSET, Unset
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
from ..results import success


class AsyncAccount:
    """The account of the client. Its operations need a `Login`."""

    def __init__(self, api: AuthenticatedClient) -> None:
        self._api = api

    async def activity(self, *, page_size: int = 100) -> AsyncIterator[ActivityView]:
        """Yields the activity of the account, newest first, page by page."""
        body = ActivityRequest(limit=page_size)
        while True:
            page = success(await list_activity.asyncio(client=self._api, body=body))
            for entry in page.entries:
                yield entry
            if page.next_cursor is None:
                return
            body.cursor = page.next_cursor

    async def logout(self, *, all: bool = False) -> LoggedOut:
        """Ends the session of this client, or all sessions of the account. The next request logs in again."""
        return success(await end_session.asyncio(client=self._api, body=LogoutRequest(all_=all)))

    async def rotate_login_secret(self, login_secret: str) -> SecretsReplaced:
        """Replaces the login secret and the recovery code. Create a new client with the new secret."""
        body = RotateSecretRequest(login_secret=login_secret)
        return success(await rotate_login_secret.asyncio(client=self._api, body=body))

    async def create_token(
        self,
        login_secret: str,
        api_key_id: str,
        name: str,
        scopes: Iterable[TokenScope | str],
        *,
        expires_in_days: int | Unset = UNSET,
    ) -> ApiTokenCreated:
        """Creates an API token for one API key. The response has its secret, which no later response shows."""
        body = CreateTokenRequest(
            login_secret=login_secret,
            api_key_id=api_key_id,
            name=name,
            scopes=[TokenScope(scope) for scope in scopes],
            expires_in_days=expires_in_days,
        )
        return success(await create_api_token.asyncio(client=self._api, body=body))

    async def tokens(self) -> list[ApiTokenView]:
        """Returns the API tokens that have not expired, oldest first."""
        return success(await list_api_tokens.asyncio(client=self._api)).tokens

    async def revoke_token(self, token_id: str) -> ApiTokenRevoked:
        """Revokes an API token."""
        body = RevokeTokenRequest(token_id=token_id)
        return success(await revoke_api_token.asyncio(client=self._api, body=body))

    async def export(self, login_secret: str) -> AccountExport:
        """Returns everything that the service stores about the account, without messages and secrets."""
        return success(await export_account.asyncio(client=self._api, body=ExportRequest(login_secret=login_secret)))

    async def close(self, login_secret: str) -> AccountClosed:
        """Closes the account and revokes all its API keys, permanently."""
        return success(await close_account.asyncio(client=self._api, body=CloseRequest(login_secret=login_secret)))
