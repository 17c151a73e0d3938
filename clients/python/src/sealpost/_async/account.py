"""Sessions, secrets and activity of the account."""

from __future__ import annotations

from collections.abc import AsyncIterator

from .._generated import AuthenticatedClient
from .._generated.api.sessions import close_account, end_session, list_activity, rotate_login_secret
from ..models import (
    AccountClosed,
    ActivityRequest,
    ActivityView,
    CloseRequest,
    LoggedOut,
    LogoutRequest,
    RotateSecretRequest,
    SecretsReplaced,
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

    async def close(self, login_secret: str) -> AccountClosed:
        """Closes the account and revokes all its API keys, permanently."""
        return success(await close_account.asyncio(client=self._api, body=CloseRequest(login_secret=login_secret)))
