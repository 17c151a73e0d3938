"""Webhooks of the API key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from .._generated import AuthenticatedClient
from .._generated.api.webhooks import (
    delete_webhook,
    enable_webhook,
    list_deliveries,
    list_webhooks,
    recover_deliveries,
    redeliver_event,
    register_webhook,
    rotate_webhook_secret,
    test_webhook,
    update_webhook,
)
from .._generated.types import UNSET, Unset
from ..models import (
    DeleteWebhook,
    DeliveryView,
    EnableWebhook,
    EventKind,
    ListDeliveries,
    ListDeliveriesState,
    RecoverDeliveries,
    Recovered,
    Redelivered,
    RedeliverEvent,
    Registered,
    RegisterRequest,
    RegisterRequestWaiting,
    RotateWebhookSecret,
    Tested,
    TestWebhook,
    Updated,
    UpdateWebhook,
    WebhookSecretRotated,
    WebhookView,
)
from ..results import success


class AsyncWebhooks:
    """The webhooks of the client's API key."""

    def __init__(self, api: AuthenticatedClient) -> None:
        self._api = api

    async def register(
        self,
        url: str,
        events: Sequence[str] = (EventKind.ENVELOPE_RECEIVED,),
        *,
        description: str | Unset = UNSET,
        waiting: str | Unset = UNSET,
    ) -> Registered:
        """Registers a webhook. The response has its secret, which no later response shows."""
        skip = UNSET if isinstance(waiting, Unset) else RegisterRequestWaiting(waiting)
        kinds = [EventKind(event) for event in events]
        body = RegisterRequest(url=url, events=kinds, description=description, waiting=skip)
        return success(await register_webhook.asyncio(client=self._api, body=body))

    async def list(self) -> list[WebhookView]:
        """Returns all webhooks, oldest first."""
        return success(await list_webhooks.asyncio(client=self._api)).webhooks

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | Unset = UNSET,
        events: Sequence[str] | Unset = UNSET,
        description: str | None | Unset = UNSET,
        paused: bool | Unset = UNSET,
    ) -> Updated:
        """Changes what is given. The secret and the log stay, and None removes the description.

        A paused webhook gets nothing. Its deliveries are kept until it is resumed or retention ends.
        """
        kinds = UNSET if isinstance(events, Unset) else [EventKind(event) for event in events]
        body = UpdateWebhook(webhook_id=webhook_id, url=url, events=kinds, description=description, paused=paused)
        return success(await update_webhook.asyncio(client=self._api, body=body))

    async def delete(self, webhook_id: str) -> None:
        """Deletes a webhook and its deliveries."""
        success(await delete_webhook.asyncio(client=self._api, body=DeleteWebhook(webhook_id=webhook_id)))

    async def enable(self, webhook_id: str) -> None:
        """Enables a webhook. Its waiting deliveries follow at once."""
        success(await enable_webhook.asyncio(client=self._api, body=EnableWebhook(webhook_id=webhook_id)))

    async def rotate_secret(self, webhook_id: str) -> WebhookSecretRotated:
        """Replaces the secret. For a day, events carry signatures of both secrets."""
        body = RotateWebhookSecret(webhook_id=webhook_id)
        return success(await rotate_webhook_secret.asyncio(client=self._api, body=body))

    async def deliveries(
        self, webhook_id: str, *, state: str | Unset = UNSET, page_size: int = 100
    ) -> AsyncIterator[DeliveryView]:
        """Yields all deliveries of a webhook, newest first, page by page."""
        wanted = UNSET if isinstance(state, Unset) else ListDeliveriesState(state)
        body = ListDeliveries(webhook_id=webhook_id, state=wanted, limit=page_size)
        while True:
            page = success(await list_deliveries.asyncio(client=self._api, body=body))
            for delivery in page.deliveries:
                yield delivery
            if page.next_cursor is None:
                return
            body.cursor = page.next_cursor

    async def redeliver(self, webhook_id: str, envelope_id: str) -> Redelivered:
        """Makes the delivery of an event due now."""
        body = RedeliverEvent(webhook_id=webhook_id, envelope_id=envelope_id)
        return success(await redeliver_event.asyncio(client=self._api, body=body))

    async def recover(
        self,
        webhook_id: str,
        since: datetime,
        *,
        until: datetime | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> Recovered:
        """Makes up to 10,000 failed deliveries due now. Repeat while the response has `more`."""
        body = RecoverDeliveries(webhook_id=webhook_id, since=since, until=until, dry_run=dry_run)
        return success(await recover_deliveries.asyncio(client=self._api, body=body))

    async def test(self, webhook_id: str) -> Tested:
        """Sends a `webhook.test` event now, and returns the outcome."""
        return success(await test_webhook.asyncio(client=self._api, body=TestWebhook(webhook_id=webhook_id)))
