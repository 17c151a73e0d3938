"""Client of Sealpost: sealed messages between identities, with webhooks.

- `Sealpost` and `AsyncSealpost` call the service.
- `Webhook` verifies events. `Receiver` also opens their envelopes; `sealpost.flask` and `sealpost.fastapi` connect it.
- `sealpost.exceptions` has an exception for each error code, `sealpost.models` all bodies.
- `sealpost.operations` has all operations, for `Sealpost.call`.
"""

from ._async.client import AsyncSealpost
from ._async.receiver import AsyncReceiver
from ._async.relay import AsyncRelay
from ._async.seen import AsyncSeen
from ._sync.client import Sealpost
from ._sync.receiver import Receiver
from ._sync.relay import Relay
from ._sync.seen import Seen
from .credentials import Login, NewAccount
from .errors import ApiError, InvalidSignature, SealpostError, Unreachable
from .relay import RelayResponse
from .retry import Retry
from .webhook import Event, Webhook

__all__ = [
    "ApiError",
    "AsyncReceiver",
    "AsyncRelay",
    "AsyncSealpost",
    "AsyncSeen",
    "Event",
    "InvalidSignature",
    "Login",
    "NewAccount",
    "Receiver",
    "Relay",
    "RelayResponse",
    "Retry",
    "Sealpost",
    "SealpostError",
    "Seen",
    "Unreachable",
    "Webhook",
]
