from enum import Enum


class ActivityKind(str, Enum):
    KEY_ACTIVATED = "key_activated"
    KEY_REVOKED = "key_revoked"
    LOGIN = "login"
    LOGIN_FAILED = "login_failed"
    LOGOUT = "logout"
    OPERATOR = "operator"
    POLICY_CHANGED = "policy_changed"
    RECOVERED = "recovered"
    SECRET_REPLACED = "secret_replaced"
    TOKEN_CREATED = "token_created"
    TOKEN_REVOKED = "token_revoked"
    WEBHOOK_DELETED = "webhook_deleted"
    WEBHOOK_REGISTERED = "webhook_registered"
    WEBHOOK_UPDATED = "webhook_updated"

    @classmethod
    def _missing_(cls, value: object) -> "ActivityKind | None":
        """Accepts values of newer services."""
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
