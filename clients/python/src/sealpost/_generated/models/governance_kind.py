from enum import Enum


class GovernanceKind(str, Enum):
    COUNCIL_ACTION = "council_action"
    PARTNER_SUSPENSION = "partner_suspension"

    @classmethod
    def _missing_(cls, value: object) -> "GovernanceKind | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
