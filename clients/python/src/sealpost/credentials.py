"""The ways to authenticate."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from ._generated.operations import UNAUTHENTICATED


@dataclass(frozen=True)
class Login:
    """The account and its login secret. The client logs in when it needs a session, and again when the session ends."""

    account_id: str
    login_secret: str = field(repr=False)


def login_request(base_url: httpx.URL, login: Login, request: httpx.Request) -> httpx.Request:
    """Creates the login before a request, with the timeouts of this request."""
    body = {"account_id": login.account_id, "login_secret": login.login_secret}
    url = base_url.copy_with(path=base_url.path.rstrip("/") + "/v1/auth/login")
    return httpx.Request("POST", url, json=body, extensions=request.extensions)


def needs_credentials(request: httpx.Request) -> bool:
    """Returns whether the operation of a request accepts credentials."""
    return not request.url.path.endswith(UNAUTHENTICATED) and "/v1/status/" not in request.url.path
