"""The ways to authenticate."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from .models import Activated
from .operations import UNAUTHENTICATED


@dataclass(frozen=True)
class Login:
    """The account and its login secret. The client logs in when it needs a session, and again when the session ends."""

    account_id: str
    login_secret: str = field(repr=False)


@dataclass(frozen=True)
class NewAccount:
    """A new account with its first identity."""

    identity: Activated
    login: Login
    """The account and its login secret, which no later response shows."""
    recovery_code: str = field(repr=False)
    """Replaces a lost login secret. Store it in another place."""

    @classmethod
    def of(cls, identity: Activated) -> NewAccount:
        if identity.login_secret is None or identity.recovery_code is None:
            raise ValueError("the response has no login secret: the account existed before")
        return cls(identity, Login(identity.account_id, identity.login_secret), identity.recovery_code)


def needs_credentials(request: httpx.Request) -> bool:
    """Returns whether the operation of a request accepts credentials."""
    return not request.url.path.endswith(UNAUTHENTICATED) and "/v1/status/" not in request.url.path


def check_header(name: str, text: str) -> None:
    """Raises `ValueError` for a text that HTTP does not allow in a header. The error does not contain the text.

    httpx would report such a header like a lost response: with the text, which may be a secret, and after retries.
    """
    if not text.isprintable():
        raise ValueError(f"{name} has a line break or another control character")
    if text != text.strip(" "):
        raise ValueError(f"{name} begins or ends with a space")
