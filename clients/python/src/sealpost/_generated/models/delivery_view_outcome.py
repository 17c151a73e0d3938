from enum import Enum


class DeliveryViewOutcome(str, Enum):
    EXHAUSTED = "exhausted"
    FAILED = "failed"
    PENDING = "pending"
    SUCCEEDED = "succeeded"

    @classmethod
    def _missing_(cls, value: object) -> "DeliveryViewOutcome | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
