"""Webhooks of the API key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from .. import operations
from ..model import UNSET, Unset
from ..models import (
    DeleteWebhook,
    DeliveryView,
    Enabled,
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
from .transport import AsyncTransport


class AsyncWebhooks:
    """The webhooks of the client's API key."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def register(
        self,
        url: str,
        events: Sequence[str] = (EventKind.ENVELOPE_RECEIVED,),
        *,
        description: str | None = None,
        waiting: str | None = None,
    ) -> Registered:
        """Registers a webhook. The response has its secret, which no later response shows."""
        skip = None if waiting is None else RegisterRequestWaiting(waiting)
        kinds = [EventKind(event) for event in events]
        body = RegisterRequest(url=url, events=kinds, description=description, waiting=skip)
        return await self._transport.call(operations.REGISTER_WEBHOOK, body)

    async def list(self) -> list[WebhookView]:
        """Returns all webhooks, oldest first."""
        return (await self._transport.call(operations.LIST_WEBHOOKS, None)).webhooks

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        description: str | None | Unset = UNSET,
        paused: bool | None = None,
    ) -> Updated:
        """Changes what is given. The secret and the log stay, and None removes the description.

        A paused webhook gets nothing. Its deliveries are kept until it is resumed or retention ends.
        """
        kinds = None if events is None else [EventKind(event) for event in events]
        body = UpdateWebhook(webhook_id=webhook_id, url=url, events=kinds, description=description, paused=paused)
        return await self._transport.call(operations.UPDATE_WEBHOOK, body)

    async def delete(self, webhook_id: str) -> None:
        """Deletes a webhook and its deliveries."""
        await self._transport.call(operations.DELETE_WEBHOOK, DeleteWebhook(webhook_id=webhook_id))

    async def enable(self, webhook_id: str) -> Enabled:
        """Enables a webhook. Its pending deliveries follow at once; `due_now` is their number."""
        return await self._transport.call(operations.ENABLE_WEBHOOK, EnableWebhook(webhook_id=webhook_id))

    async def rotate_secret(self, webhook_id: str) -> WebhookSecretRotated:
        """Replaces the secret. For a day, events carry signatures of both secrets."""
        return await self._transport.call(operations.ROTATE_WEBHOOK_SECRET, RotateWebhookSecret(webhook_id=webhook_id))

    async def deliveries(
        self, webhook_id: str, *, state: str | None = None, page_size: int = 100
    ) -> AsyncIterator[DeliveryView]:
        """Yields the pending deliveries of a webhook, and then all attempts, page by page."""
        wanted = None if state is None else ListDeliveriesState(state)
        body = ListDeliveries(webhook_id=webhook_id, state=wanted, limit=page_size)
        while True:
            page = await self._transport.call(operations.LIST_DELIVERIES, body)
            for delivery in page.deliveries:
                yield delivery
            if page.next_cursor is None:
                return
            body.cursor = page.next_cursor

    async def redeliver(self, webhook_id: str, envelope_id: str) -> Redelivered:
        """Makes the delivery of an event due now."""
        body = RedeliverEvent(webhook_id=webhook_id, envelope_id=envelope_id)
        return await self._transport.call(operations.REDELIVER_EVENT, body)

    async def recover(
        self, webhook_id: str, since: datetime, *, until: datetime | None = None, dry_run: bool | None = None
    ) -> Recovered:
        """Makes up to 10,000 failed deliveries due now. Repeat while the response has `more`."""
        body = RecoverDeliveries(webhook_id=webhook_id, since=since, until=until, dry_run=dry_run)
        return await self._transport.call(operations.RECOVER_DELIVERIES, body)

    async def test(self, webhook_id: str) -> Tested:
        """Sends a `webhook.test` event now, and returns the outcome."""
        return await self._transport.call(operations.TEST_WEBHOOK, TestWebhook(webhook_id=webhook_id))
