"""Verifies webhook requests (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import InvalidSignature
from .models import (
    EnvelopeBounced,
    EnvelopeReceived,
    IdentityRotated,
    UsageThreshold,
    WebhookDisabled,
    WebhookFailing,
    WebhookTest,
)

TOLERANCE_S = 5 * 60
BODY_BYTES_MAX = 64 * 1024

Body = (
    EnvelopeReceived
    | EnvelopeBounced
    | IdentityRotated
    | UsageThreshold
    | WebhookDisabled
    | WebhookFailing
    | WebhookTest
)


@dataclass(frozen=True)
class Event:
    """A verified event."""

    id: str
    """The same for each attempt: use it to recognise repeated events."""
    kind: str
    """For example `envelope.received`."""
    body: Body | None
    """None if this version of the package does not know the kind."""
    members: dict[str, Any]
    """The JSON object."""


class Webhook:
    """Verifies the requests of a webhook.

    Each key is a secret (`whsec_…`) or a public key of the service (`whpk_…`). One matching key is enough.
    """

    def __init__(self, *keys: str) -> None:
        if not keys:
            raise ValueError("pass the secret of the webhook, or a public key of the service")
        self._checks = [_check_of(key) for key in keys]

    def verify(self, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
        """Verifies a request, and returns its event. `body` holds the bytes as received: encoded again, JSON differs.

        Raises `InvalidSignature` if no signature is correct, or the time differs by more than five minutes.
        """
        lower = {name.lower(): value for name, value in headers.items()}
        id, timestamp, signatures = (lower.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        if not (id and timestamp and signatures):
            raise InvalidSignature("a header is missing: webhook-id, webhook-timestamp or webhook-signature")
        if not (timestamp.isascii() and timestamp.isdecimal()):
            raise InvalidSignature("webhook-timestamp is not a number")
        age_s = (time.time() if now is None else now) - int(timestamp)
        if abs(age_s) > TOLERANCE_S:
            raise InvalidSignature(
                f"the request was sent {age_s:.0f} s ago: check the clock, at most {TOLERANCE_S} s differ"
            )
        content = f"{id}.{timestamp}.".encode() + body
        if not any(check(content, entry) for entry in signatures.split(" ") for check in self._checks):
            raise InvalidSignature("no signature matches: check the secret, and pass the body as it was received")
        return _event(id, body)


def _event(id: str, body: bytes) -> Event:
    members = json.loads(body)
    kind = members["event"]
    model = BODIES.get(kind)
    return Event(id, kind, model.from_dict(members) if model else None, members)


def _check_of(key: str) -> Callable[[bytes, str], bool]:
    """Returns a function that checks one entry of `webhook-signature`."""
    if key.startswith("whpk_"):
        return _public_key_check(_decoded(key.removeprefix("whpk_")))
    secret = _decoded(key.removeprefix("whsec_"))

    def check(content: bytes, entry: str) -> bool:
        mac = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest())
        return hmac.compare_digest(b"v1," + mac, entry.encode())

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
        except (Mismatch, binascii.Error):
            return False
        return True

    return check


def _decoded(key: str) -> bytes:
    try:
        decoded = base64.b64decode(key, validate=True)
    except binascii.Error as cause:
        raise ValueError(
            "this is not a key of a webhook: it starts with whsec_ or whpk_, followed by base64"
        ) from cause
    if not decoded:
        raise ValueError("the key of the webhook is empty")
    return decoded


BODIES: dict[str, type[Body]] = {
    "envelope.received": EnvelopeReceived,
    "envelope.bounced": EnvelopeBounced,
    "identity.rotated": IdentityRotated,
    "usage.threshold": UsageThreshold,
    "webhook.disabled": WebhookDisabled,
    "webhook.failing": WebhookFailing,
    "webhook.test": WebhookTest,
}
