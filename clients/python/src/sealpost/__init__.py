"""Client of Sealpost: sealed messages between identities, with webhooks.

- `Sealpost` and `AsyncSealpost` call the service.
- `Webhook` verifies events. `Receiver` also opens their envelopes; `sealpost.flask` and `sealpost.fastapi` connect it.
- `sealpost.exceptions` has an exception for each error code, `sealpost.models` all bodies.
"""

from ._async.client import AsyncSealpost
from ._async.receiver import AsyncReceiver
from ._async.seen import AsyncSeen
from ._sync.client import Sealpost
from ._sync.receiver import Receiver
from ._sync.seen import Seen
from .credentials import Login
from .errors import ApiError, InvalidSignature, SealpostError, Unreachable
from .retry import Retry
from .webhook import Event, Webhook

__all__ = [
    "ApiError",
    "AsyncReceiver",
    "AsyncSealpost",
    "AsyncSeen",
    "Event",
    "InvalidSignature",
    "Login",
    "Receiver",
    "Retry",
    "Sealpost",
    "SealpostError",
    "Seen",
    "Unreachable",
    "Webhook",
]
