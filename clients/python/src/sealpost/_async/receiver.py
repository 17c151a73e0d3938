"""Receives events and opens their envelopes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from ..errors import ApiError, InvalidSignature, Unreachable
from ..models import Opened
from ..webhook import Event, Webhook
from .client import AsyncSealpost
from .seen import AsyncSeen, AsyncSeenInMemory


class AsyncReceiver:
    """Verifies webhook requests, opens each envelope, and calls `on_envelope` once for each envelope.

    If `on_envelope` raises an exception, the service sends the event again. `on_event` gets events without an envelope.
    `seen` remembers processed events: pass your own, for example a table, if the program has several processes.
    An event that arrives again while it is processed in this process gets 503, and the service sends it again later.
    """

    def __init__(
        self,
        client: AsyncSealpost,
        webhook: Webhook,
        on_envelope: Callable[[Opened], Awaitable[None]],
        *,
        on_event: Callable[[Event], Awaitable[None]] | None = None,
        seen: AsyncSeen | None = None,
    ) -> None:
        self._client = client
        self._webhook = webhook
        self._on_envelope = on_envelope
        self._on_event = on_event
        self._seen: AsyncSeen = AsyncSeenInMemory() if seen is None else seen
        self._in_process: dict[str, Event] = {}

    async def receive(self, headers: Mapping[str, str], body: bytes) -> int:
        """Processes a request, and returns the status to respond with."""
        try:
            event = self._webhook.verify(headers, body)
        except InvalidSignature:
            return 401
        # Only one of several threads adds the id: `setdefault` is atomic.
        if self._in_process.setdefault(event.id, event) is not event:
            return 503
        try:
            return await self._process_once(event)
        except Unreachable:
            return 503
        except ApiError as error:
            if error.status in (429, 503):
                return 503
            raise
        finally:
            del self._in_process[event.id]

    async def _process_once(self, event: Event) -> int:
        if not await self._seen.has(event.id):
            await self._process(event)
            await self._seen.add(event.id)
        return 204

    async def _process(self, event: Event) -> None:
        if event.kind == "envelope.received":
            await self._on_envelope(await self._client.open(event.members["envelope_id"]))
        elif self._on_event is not None:
            await self._on_event(event)
