"""Receives events in a FastAPI application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request, Response

from ._async.receiver import AsyncReceiver
from .webhook import BODY_BYTES_MAX

__all__ = ["AsyncReceiver", "endpoint"]


def endpoint(receiver: AsyncReceiver) -> Callable[[Request], Awaitable[Response]]:
    """Returns an endpoint for `POST`: `app.post("/hook")(endpoint(receiver))`."""

    async def receive_event(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES_MAX:
                return Response(status_code=413)
        return Response(status_code=await receiver.receive(request.headers, bytes(body)))

    return receive_event
