"""Receives events in a Flask application."""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, request

from ._sync.receiver import Receiver
from .webhook import BODY_BYTES_MAX

__all__ = ["Receiver", "view"]


def view(receiver: Receiver) -> Callable[[], Response]:
    """Returns a view for `POST`: `app.post("/hook")(view(receiver))`."""

    def receive_event() -> Response:
        if (request.content_length or 0) > BODY_BYTES_MAX:
            return Response(status=413)
        body = _chunked_body() if request.content_length is None else request.get_data(cache=False)
        if len(body) > BODY_BYTES_MAX:
            return Response(status=413)
        return Response(status=receiver.receive(dict(request.headers), body))

    return receive_event


def _chunked_body() -> bytes:
    """Reads a body of unknown length. Stops after the first byte above the limit."""
    body = b""
    while chunk := request.stream.read(BODY_BYTES_MAX + 1 - len(body)):
        body += chunk
    return body
