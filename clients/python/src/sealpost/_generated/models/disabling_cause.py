from enum import Enum


class DisablingCause(str, Enum):
    FAILING = "failing"
    GONE = "gone"
    OPERATOR = "operator"

    @classmethod
    def _missing_(cls, value: object) -> "DisablingCause | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
