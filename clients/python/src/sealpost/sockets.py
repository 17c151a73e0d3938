"""WebSocket connections, and handlers that run at the same time: for the event loop, and for threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent import futures
from contextlib import ExitStack
from threading import Semaphore

import anyio
import httpx
from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from .relay import CANCEL_MAX_S, DRAIN_MAX_S, IN_FLIGHT_MAX, Disconnected
from .responses import error_of

log = logging.getLogger("sealpost.relay")


class AsyncSocket:
    """A connection in the event loop."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @staticmethod
    async def open(url: httpx.URL, headers: Mapping[str, str]) -> AsyncSocket:
        try:
            return AsyncSocket(await connect_async(str(url), additional_headers=headers))
        except (OSError, asyncio.TimeoutError, WebSocketException) as fault:
            raise _refusal(url, fault) from fault

    @property
    def is_open(self) -> bool:
        return self._connection.state is State.OPEN

    async def receive(self, timeout_s: float) -> str | bytes | None:
        """Returns the next frame, or None if none arrives in time."""
        try:
            return await asyncio.wait_for(self._connection.recv(), timeout_s)
        except (TimeoutError, asyncio.TimeoutError):
            return None
        except ConnectionClosed as closed:
            raise _ended(closed) from closed

    async def send(self, frame: str) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as closed:
            raise _ended(closed) from closed

    async def close(self) -> None:
        # Without the shield, a canceled task would leave the connection open.
        with anyio.CancelScope(shield=True):
            await self._connection.close()


class Socket:
    """A connection for threads."""

    def __init__(self, connection: ClientConnection, closing: ExitStack) -> None:
        self._connection = connection
        self._closing = closing

    @staticmethod
    def open(url: httpx.URL, headers: Mapping[str, str]) -> Socket:
        closing = ExitStack()
        try:
            return Socket(closing.enter_context(connect(str(url), additional_headers=headers)), closing)
        except (OSError, WebSocketException) as fault:
            raise _refusal(url, fault) from fault

    @property
    def is_open(self) -> bool:
        return self._connection.state is State.OPEN

    def receive(self, timeout_s: float) -> str | bytes | None:
        """Returns the next frame, or None if none arrives in time."""
        try:
            return self._connection.recv(timeout_s)
        except TimeoutError:
            return None
        except ConnectionClosed as closed:
            raise _ended(closed) from closed

    def send(self, frame: str) -> None:
        try:
            self._connection.send(frame)
        except ConnectionClosed as closed:
            raise _ended(closed) from closed

    def close(self) -> None:
        self._closing.close()


class AsyncWorkers:
    """Runs a limited number of tasks."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._tasks: set[asyncio.Future[None]] = set()

    async def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Waits for a place, and starts a task."""
        await self._places.acquire()
        task = asyncio.ensure_future(work())
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Future[None]) -> None:
        self._tasks.discard(task)
        self._places.release()

    async def drain(self) -> None:
        """Waits for the running tasks, also in a canceled task. Then cancels those that still run."""
        with anyio.CancelScope(shield=True):
            try:
                if self._tasks:
                    await asyncio.wait(self._tasks, timeout=DRAIN_MAX_S)
            finally:
                unfinished = set(self._tasks)
                for task in unfinished:
                    task.cancel()
                if unfinished:
                    log.warning("%d handlers were canceled: they ran too long", len(unfinished))
                    await asyncio.wait(unfinished, timeout=CANCEL_MAX_S)


class Workers:
    """Runs a limited number of functions in threads."""

    def __init__(self) -> None:
        self._places = Semaphore(IN_FLIGHT_MAX)
        self._pool = futures.ThreadPoolExecutor(IN_FLIGHT_MAX, thread_name_prefix="sealpost-relay")
        self._running: set[futures.Future[None]] = set()

    def start(self, work: Callable[[], None]) -> None:
        """Waits for a place, and starts a function."""
        self._places.acquire()
        future = self._pool.submit(work)
        self._running.add(future)
        future.add_done_callback(self._end)

    def _end(self, future: futures.Future[None]) -> None:
        self._running.discard(future)
        self._places.release()

    def drain(self) -> None:
        """Waits for the running functions, and ends the idle threads. Afterwards, no function can be started."""
        unfinished = futures.wait(set(self._running), timeout=DRAIN_MAX_S).not_done
        if unfinished:
            log.warning("%d handlers still run: a thread cannot be canceled", len(unfinished))
        # A second call does not wait for these functions again.
        self._running.difference_update(unfinished)
        self._pool.shutdown(wait=False)


def _refusal(url: httpx.URL, fault: Exception) -> Exception:
    """Returns the error of a connection that could not be opened."""
    if isinstance(fault, InvalidStatus):
        response = httpx.Response(
            fault.response.status_code,
            headers=list(fault.response.headers.raw_items()),
            content=bytes(fault.response.body or b""),
            request=httpx.Request("GET", url),
        )
        error = error_of(response)
        if error is not None:
            return error
    return Disconnected(f"no connection to {url}: {str(fault) or type(fault).__name__}")


def _ended(closed: ConnectionClosed) -> Disconnected:
    return Disconnected(f"the connection ended: {closed}")
