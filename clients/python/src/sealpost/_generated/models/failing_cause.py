from enum import Enum


class FailingCause(str, Enum):
    ALL_ATTEMPTS_FAILED = "all_attempts_failed"

    @classmethod
    def _missing_(cls, value: object) -> "FailingCause | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
