"""Receives the deliveries of a webhook without a public address."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio
import httpx

from ..errors import ApiError, InvalidSignature, Unreachable
from ..relay import (
    STABLE_S,
    Delivery,
    Disconnected,
    RelayResponse,
    is_final,
    pause_after,
    relay_url,
)
from ..sockets import AsyncSocket, AsyncWorkers
from .transport import AsyncTransport

RECHECK_S = 0.5
"""Longest time until `stop` is noticed."""

DeliveryHandler = Callable[[Mapping[str, str], bytes], Awaitable[int | RelayResponse]]

log = logging.getLogger("sealpost.relay")


class AsyncRelay:
    """The receiving end of a webhook with the URL `relay:`. It opens one outgoing connection."""

    def __init__(
        self,
        transport: AsyncTransport,
        webhook_id: str,
        handle: DeliveryHandler,
    ) -> None:
        self._transport = transport
        self._webhook_id = webhook_id
        self._handle = handle
        self._token: str | None = None
        self._was_connected = False
        self._is_stopped = False

    def stop(self) -> None:
        """Ends `run` after the running handlers. Can be called from a signal handler or another thread."""
        self._is_stopped = True

    async def run(self) -> None:
        """Passes deliveries to the handler until `stop` is called, and connects again if a connection ends.

        Connects again after every close code. If the reason is permanent, the service refuses the next connection.
        Raises `ApiError` if the service refuses the connection, for example because the webhook is deleted. On each way
        out, waits for the running handlers for at most 15 seconds.
        """
        workers = AsyncWorkers()
        try:
            await self._run(workers)
        finally:
            await workers.drain()

    async def _run(self, workers: AsyncWorkers) -> None:
        failures = 0
        while not self._is_stopped:
            began = time.monotonic()
            try:
                await self._receive(workers)
            except (ApiError, Disconnected, Unreachable) as fault:
                if isinstance(fault, ApiError) and is_final(fault, self._was_connected):
                    raise
                failures = 1 if time.monotonic() - began > STABLE_S else failures + 1
                pause = pause_after(failures, fault)
                log.warning("%s; connecting again in %.1f s", fault, pause)
                await self._wait(pause)

    async def _receive(self, workers: AsyncWorkers) -> None:
        """Passes the deliveries of one connection to the workers."""
        socket = await self._connect()
        self._was_connected = True
        is_lost = False
        try:
            while not self._is_stopped:
                frame = await socket.receive(RECHECK_S)
                delivery = None if frame is None else Delivery.read(frame)
                if delivery is not None:
                    await workers.start(partial(self._answer, socket, delivery))
        except Disconnected:
            is_lost = True
            raise
        finally:
            # The handlers of a lost connection continue, because aborting one could leave its work incomplete.
            if not is_lost:
                await workers.drain()
            await socket.close()

    async def _answer(self, socket: AsyncSocket, delivery: Delivery) -> None:
        if not socket.is_open:
            return  # The delivery waited for a place, and the service sends it again.
        answer = delivery.answer(500)
        try:
            answer = delivery.answer(await self._handle(delivery.headers, delivery.body))
        except InvalidSignature:
            answer = delivery.answer(401)
        except Exception:
            log.exception("the handler failed")
        try:
            await socket.send(answer)
        except Disconnected as end:
            log.info("the service will send a delivery again: %s", end)

    async def _connect(self) -> AsyncSocket:
        """Opens a connection. Logs in again after a 401."""
        try:
            return await self._connect_once()
        except ApiError as error:
            if error.status != httpx.codes.UNAUTHORIZED or not self._transport.discard(self._token):
                raise
        return await self._connect_once()

    async def _connect_once(self) -> AsyncSocket:
        self._token = await self._transport.token()
        key = self._transport.headers.get("X-DID-API-Key")
        given = {"X-DID-API-Key": key, "Authorization": self._token and f"Bearer {self._token}"}
        headers = {name: value for name, value in given.items() if value}
        return await AsyncSocket.open(relay_url(self._transport.base_url, self._webhook_id), headers)

    async def _wait(self, pause_s: float) -> None:
        end = time.monotonic() + pause_s
        while not self._is_stopped and time.monotonic() < end:
            await anyio.sleep(min(RECHECK_S, max(0.0, end - time.monotonic())))
