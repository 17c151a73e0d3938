from enum import Enum


class EventKind(str, Enum):
    ENVELOPE_BOUNCED = "envelope.bounced"
    ENVELOPE_RECEIVED = "envelope.received"
    IDENTITY_ROTATED = "identity.rotated"
    USAGE_THRESHOLD = "usage.threshold"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_FAILING = "webhook.failing"

    @classmethod
    def _missing_(cls, value: object) -> "EventKind | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
