"""The frames of a relay connection, and the pauses between connections."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass

import httpx

from .errors import ApiError

IN_FLIGHT_MAX = 32
"""Most deliveries that are processed at the same time."""
PAUSE_FIRST_S = 0.5
PAUSE_MAX_S = 30.0
STABLE_S = 60.0
"""A connection of this length ends a series of failures."""
DRAIN_MAX_S = 15.0
"""Longest wait for running handlers at the end."""
RETRY_AFTER_MAX_S = 1_000_000_000
"""Longest time that a response asks for. The service waits a day at most."""
CANCEL_MAX_S = 1.0
"""Longest wait for canceled handlers."""
REFUSED = (400, 401, 403, 404)
"""Statuses that another try does not change."""
QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
"""The error code of a connection over the limit."""


class Disconnected(Exception):
    """A connection failed or ended."""


@dataclass(frozen=True)
class RelayResponse:
    """The response to a delivery. It means the same as a response to a POST request."""

    status: int
    retry_after_s: float | None = None
    """Seconds before the next attempt, for status 429 and 503. Rounded up to whole seconds."""
    body: str | None = None
    """The body of the response, for the delivery log."""


@dataclass(frozen=True)
class Delivery:
    """A request that the service would have sent to a public address."""

    id: str
    headers: dict[str, str]
    body: bytes

    @classmethod
    def read(cls, frame: str | bytes) -> Delivery | None:
        """Returns None for a frame that this version of the package does not know."""
        try:
            members = json.loads(frame)
            return cls(members["delivery"], dict(members["headers"]), members["body"].encode())
        except (AttributeError, LookupError, TypeError, ValueError):
            return None

    def answer(self, response: int | RelayResponse) -> str:
        given = response if isinstance(response, RelayResponse) else RelayResponse(response)
        # The log keeps 1,024 bytes, and a longer frame may be refused.
        body = given.body if given.body is None else given.body[:1024]
        # JSON has no infinity.
        wait_s = None if given.retry_after_s is None else math.ceil(min(given.retry_after_s, RETRY_AFTER_MAX_S))
        members = {"status": given.status, "retry_after": wait_s, "body": body}
        return json.dumps({"delivery": self.id} | {name: value for name, value in members.items() if value is not None})


def relay_url(base_url: httpx.URL, webhook_id: str) -> httpx.URL:
    path = base_url.path.rstrip("/") + "/v1/webhooks/relay"
    scheme = "wss" if base_url.scheme == "https" else "ws"
    return base_url.copy_with(scheme=scheme, path=path, params={"webhook_id": webhook_id})


def is_final(error: ApiError, was_connected: bool) -> bool:
    """Returns whether the service would refuse another connection too."""
    # The service may still count lost connections of this client, and refuse a connection over the limit.
    is_counted = error.code == QUOTA_EXCEEDED and was_connected
    return error.status in REFUSED and error.retry_after_s is None and not is_counted


def pause_after(failures: int, fault: Exception) -> float:
    """Returns the seconds until the next connection. They double, less a random part of up to a half.

    Lost connections that the service still counts need the longest pause.
    """
    backoff = min(PAUSE_FIRST_S * 2.0 ** min(failures - 1, 10), PAUSE_MAX_S) * random.uniform(0.5, 1)
    if isinstance(fault, ApiError) and fault.code == QUOTA_EXCEEDED:
        backoff = PAUSE_MAX_S
    asked = fault.retry_after_s if isinstance(fault, ApiError) else None
    return max(backoff, asked or 0.0)
