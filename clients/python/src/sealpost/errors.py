"""The exceptions of this package. Each error code of the service has its own exception: see `sealpost.exceptions`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

import httpx


class SealpostError(Exception):
    """The base of all exceptions of this package."""


class Unreachable(SealpostError):
    """No complete response of the service arrived."""

    def __init__(self, cause: httpx.RequestError) -> None:
        self.request = cause.request
        self.may_have_been_processed = not isinstance(cause, UNSENT)
        """False if the request never left this machine. True if the service may have processed the request."""
        hint = "; it may have been processed" if self.may_have_been_processed else ""
        super().__init__(f"no response to {_name(cause.request)}{hint}: {str(cause) or type(cause).__name__}")


class ApiError(SealpostError):
    """The service, or a proxy in front of it, responded with an error."""

    CODE: ClassVar[str | None] = None
    """The error code of this class."""

    def __init__(self, response: httpx.Response, problem: Mapping[str, Any]) -> None:
        self.request = response.request
        self.status = response.status_code
        self.problem = problem
        """All members of the problem document, such as `unmet` and `checks`. Empty if a proxy responded."""
        self.code: str | None = problem.get("code")
        self.detail: str | None = problem.get("detail")
        self.field: str | None = problem.get("field")
        self.request_id: str | None = problem.get("request_id")
        self.retry_after_s = _seconds(response.headers.get("Retry-After"))
        reason = f"{self.code}: {self.detail}" if self.code else "the response is not from Sealpost: check the URL"
        super().__init__(f"{_name(response.request)} failed with status {self.status}, {reason}")


class InvalidSignature(SealpostError):
    """A webhook request is not from the service, or is too old."""


def _name(request: httpx.Request) -> str:
    return f"{request.method} {request.url}"


def _seconds(retry_after: str | None) -> float | None:
    """Returns the seconds of a `Retry-After` header, which is a number or a date."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", retry_after):
        return float(retry_after)  # Infinite if the number is too large.
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(timezone.utc)).total_seconds())
    except (OverflowError, TypeError, ValueError):
        return None


UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
