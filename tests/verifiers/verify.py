"""What Python's libraries say of notices: standardwebhooks with secrets, cryptography with a public key.

Reads a JSON array of notices from standard input and writes a JSON array of verdicts. A notice may bring the instant
at which it is to be judged.
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


def is_believed(notice):
    set_clock(notice["now"])
    if notice["public_key"] is not None:
        return is_signed_by_key(notice)
    return any(is_signed_with(secret, notice) for secret in notice["secrets"])


def is_signed_with(secret, notice):
    try:
        Webhook(secret).verify(notice["body"].encode(), notice["headers"])
    except WebhookVerificationError:
        return False
    return True


def is_signed_by_key(notice):
    """Standard Webhooks' rules for v1a, which the library does not know yet."""
    id, timestamp, signatures = (notice["headers"]["webhook-" + name] for name in ("id", "timestamp", "signature"))
    now = time.time() if notice["now"] is None else notice["now"]
    if abs(now - int(timestamp)) > 300:
        return False
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(notice["public_key"].removeprefix("whpk_")))
    for entry in signatures.split(" "):
        try:
            if entry.startswith("v1a,"):
                key.verify(base64.b64decode(entry[4:]), f"{id}.{timestamp}.{notice['body']}".encode())
                return True
        except InvalidSignature:
            pass
    return False


def set_clock(now):
    """The library asks its datetime for the time."""

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now, tz)

    standardwebhooks.webhooks.datetime = datetime.datetime if now is None else Clock


json.dump([is_believed(notice) for notice in json.load(sys.stdin)], sys.stdout)
