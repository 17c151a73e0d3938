"""Decides which requests are repeated, and when."""

from __future__ import annotations

import random
from dataclasses import dataclass

import httpx

from .errors import ApiError, Unreachable
from .operations import REPEATABLE


@dataclass(frozen=True)
class Retry:
    """The limits of retries."""

    tries: int = 5
    """Number of tries, the first included."""
    first_pause_s: float = 0.5
    """Pause after the first try. Later pauses double, and each pause is shortened by a random part of up to a half."""
    pause_max_s: float = 8.0
    """Longest pause without `Retry-After`."""
    retry_after_max_s: float = 60.0
    """Longest `Retry-After` that is waited for. A longer one raises the error at once."""

    def pause(self, tries: int, fault: ApiError | Unreachable) -> float | None:
        """Returns the seconds until the next try, or None if the request must not be repeated."""
        if tries >= self.tries or not may_repeat(fault):
            return None
        backoff = min(self.first_pause_s * 2.0 ** (tries - 1), self.pause_max_s) * random.uniform(0.5, 1)
        asked = fault.retry_after_s if isinstance(fault, ApiError) else None
        if asked is not None and asked > self.retry_after_max_s:
            return None
        return min(max(backoff, asked or 0.0), SLEEP_MAX_S)


def may_repeat(fault: ApiError | Unreachable) -> bool:
    """Returns whether another try can succeed and repeats no effect."""
    if isinstance(fault, Unreachable):
        return not fault.may_have_been_processed or is_repeatable(fault.request)
    if fault.code in ("RATE_LIMIT_EXCEEDED", "MONTHLY_LIMIT_EXCEEDED", "REQUEST_TIMEOUT", "SERVICE_UNAVAILABLE"):
        return True  # The service stored nothing.
    if fault.code == "KEY_INACTIVE":
        return fault.retry_after_s is not None  # The key is being rotated.
    # Responses without a code come from proxies, which may have forwarded the request.
    may_be_temporary = fault.code == "INTERNAL_ERROR" or (fault.code is None and fault.status in TEMPORARY)
    return may_be_temporary and is_repeatable(fault.request)


def is_repeatable(request: httpx.Request) -> bool:
    """Returns whether the request may be repeated after a lost response without harm."""
    path = request.url.path
    return request.method == "GET" or "Idempotency-Key" in request.headers or path.endswith(REPEATABLE)


SLEEP_MAX_S = 1e9
"""Longest pause, 30 years. `time.sleep` fails for an infinite time."""
TEMPORARY = (408, 429, 500, 502, 503, 504)
