"""Client of Sealpost: sealed messages between identities, with webhooks.

- `Sealpost` and `AsyncSealpost` call the service.
- `Webhook` verifies events. `Receiver` also opens their envelopes; `sealpost.flask` and `sealpost.fastapi` connect it.
- `sealpost.exceptions` has an exception for each error code, `sealpost.models` all bodies.
"""

from ._async.client import AsyncSealpost
from ._async.receiver import AsyncReceiver
from ._sync.client import Sealpost
from ._sync.receiver import Receiver
from .credentials import Login
from .errors import ApiError, InvalidSignature, SealpostError, Unreachable
from .retry import Retry
from .webhook import Event, Webhook

__all__ = [
    "ApiError",
    "AsyncReceiver",
    "AsyncSealpost",
    "Event",
    "InvalidSignature",
    "Login",
    "Receiver",
    "Retry",
    "Sealpost",
    "SealpostError",
    "Unreachable",
    "Webhook",
]
