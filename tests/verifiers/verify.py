"""Verifies webhook requests: standardwebhooks with secrets, cryptography with a public key.

Reads a JSON array of requests from standard input and writes a JSON array of results. A request may contain the
time of the verification.
"""

import base64
import datetime
import json
import sys
import time

import standardwebhooks.webhooks
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook, WebhookVerificationError


def is_accepted(request):
    set_clock(request["now"])
    if request["public_key"] is not None:
        return is_signed_by_key(request)
    return any(is_signed_with(secret, request) for secret in request["secrets"])


def is_signed_with(secret, request):
    try:
        Webhook(secret).verify(request["body"].encode(), request["headers"])
    except WebhookVerificationError:
        return False
    return True


def is_signed_by_key(request):
    """Implements the v1a rules of Standard Webhooks, which the library does not support yet."""
    id, timestamp, signatures = (request["headers"]["webhook-" + name] for name in ("id", "timestamp", "signature"))
    now = time.time() if request["now"] is None else request["now"]
    if abs(now - int(timestamp)) > 300:
        return False
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(request["public_key"].removeprefix("whpk_")))
    for entry in signatures.split(" "):
        try:
            if entry.startswith("v1a,"):
                key.verify(base64.b64decode(entry[4:]), f"{id}.{timestamp}.{request['body']}".encode())
                return True
        except InvalidSignature:
            pass
    return False


def set_clock(now):
    """Replaces the clock of the library."""

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now, tz)

    standardwebhooks.webhooks.datetime = datetime.datetime if now is None else Clock


json.dump([is_accepted(request) for request in json.load(sys.stdin)], sys.stdout)
