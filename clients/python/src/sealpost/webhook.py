"""Verifies webhook requests (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import InvalidSignature
from .models import EVENTS, EventBody

TOLERANCE_S = 5 * 60
TIMESTAMP_DIGITS_MAX = 20
BODY_BYTES_MAX = 64 * 1024
KEY_BYTES_MIN = 24
NO_KEY = "this is not a key of a webhook: it starts with whsec_ or whpk_, followed by base64 of at least 24 bytes"


@dataclass(frozen=True)
class Event:
    """A verified event."""

    id: str
    """The same for each attempt: use it to recognise repeated events."""
    kind: str
    """For example `envelope.received`."""
    body: EventBody | None
    """None if this version of the package does not know the kind."""
    members: dict[str, Any]
    """The JSON object."""


class Webhook:
    """Verifies the requests of a webhook.

    Each key is a secret (`whsec_…`) or a public key of the service (`whpk_…`). One matching key is enough.
    """

    def __init__(self, *keys: str) -> None:
        if not all(keys) or not keys:
            raise ValueError("the secret of the webhook is missing: pass it, or a public key of the service")
        self._checks = [_check_of(key) for key in keys]

    def verify(self, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
        """Verifies a request, and returns its event. `body` holds the bytes as received: encoded again, JSON differs.

        Raises `InvalidSignature` if no signature is correct, or the time differs by more than five minutes.
        """
        if not isinstance(body, (bytes, bytearray, memoryview)):
            raise TypeError(f"pass the raw body as bytes, not the parsed JSON: this is a {type(body).__name__}")
        body = bytes(body)
        lower = {name.lower(): value for name, value in headers.items() if isinstance(value, str)}
        id, timestamp, signatures = (lower.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        if not (id and timestamp and signatures):
            raise InvalidSignature("a header is missing: webhook-id, webhook-timestamp or webhook-signature")
        if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= TIMESTAMP_DIGITS_MAX):
            raise InvalidSignature("webhook-timestamp is not a number of seconds")
        age_s = (time.time() if now is None else now) - int(timestamp)
        if abs(age_s) > TOLERANCE_S:
            raise InvalidSignature(
                f"the request was sent {age_s:.0f} s ago: check the clock, at most {TOLERANCE_S} s differ"
            )
        content = _bytes(f"{id}.{timestamp}.") + body
        if not any(check(content, entry) for entry in signatures.split(" ") for check in self._checks):
            raise InvalidSignature("no signature matches: check the secret, and pass the body as it was received")
        return _event(id, body)


def _event(id: str, body: bytes) -> Event:
    try:
        members = json.loads(body)
        kind = members["event"]
        model = EVENTS.get(kind)
        return Event(id, kind, model.from_dict(members) if model else None, members)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as cause:
        raise InvalidSignature("the body is not an event of the service") from cause


def _bytes(text: str) -> bytes:
    """Encodes text of a stranger, which may have surrogates."""
    return text.encode(errors="surrogatepass")


def _check_of(key: str) -> Callable[[bytes, str], bool]:
    """Returns a function that checks one entry of `webhook-signature`."""
    if key.startswith("whpk_"):
        return _public_key_check(_decoded(key.removeprefix("whpk_")))
    if not key.startswith("whsec_"):
        raise ValueError(NO_KEY)
    secret = _decoded(key.removeprefix("whsec_"))

    def check(content: bytes, entry: str) -> bool:
        mac = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest())
        return hmac.compare_digest(b"v1," + mac, _bytes(entry))

    return check


def _public_key_check(key: bytes) -> Callable[[bytes, str], bool]:
    # A secret needs no further package.
    from cryptography.exceptions import InvalidSignature as Mismatch
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    public_key = Ed25519PublicKey.from_public_bytes(key)

    def check(content: bytes, entry: str) -> bool:
        if not entry.startswith("v1a,"):
            return False
        try:
            public_key.verify(base64.b64decode(entry.removeprefix("v1a,"), validate=True), content)
        except (Mismatch, ValueError):
            return False
        return True

    return check


def _decoded(key: str) -> bytes:
    try:
        decoded = base64.b64decode(key, validate=True)
    except ValueError as cause:
        raise ValueError(NO_KEY) from cause
    if len(decoded) < KEY_BYTES_MIN:
        raise ValueError(NO_KEY)
    return decoded
