from enum import Enum


class CheckStatus(str, Enum):
    EXPIRED = "expired"
    FAILED = "failed"
    MISSING = "missing"
    PASSED = "passed"

    @classmethod
    def _missing_(cls, value: object) -> "CheckStatus | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
