"""The asynchronous client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from types import TracebackType
from typing import Any, cast
from uuid import uuid4

import httpx

from .._generated import AuthenticatedClient
from .._generated.api.badges import (
    get_did_document,
    get_status_list,
    issue_badge,
    validate_compliance,
    verify_badge,
)
from .._generated.api.channel import get_receipt, list_sent, open_envelope, send_message, send_messages
from .._generated.api.identities import activate_identity, get_key_status, resolve_identity, set_policy
from .._generated.api.service import check_liveness, get_openapi_document
from .._generated.api.sessions import recover_account
from .._generated.types import UNSET, Unset
from ..credentials import Login
from ..models import (
    AcceptPolicy,
    Activated,
    ActivateRequest,
    BadgeVerified,
    DidDocument,
    DryRun,
    IssuedBadge,
    IssueRequest,
    KeyStanding,
    ListRequest,
    Opened,
    OpenRequest,
    PolicyRequest,
    PolicyView,
    Pong,
    Receipt,
    ReceiptPolicy,
    ReceiptRequest,
    RecoverAccountRequest,
    Resolved,
    ResolveRequest,
    SecretsReplaced,
    SendBatchRequest,
    SendBatchResponse,
    SendRequest,
    Sent,
    SentView,
    Validated,
    ValidateRequest,
    VerifyRequest,
)
from ..results import success
from ..retry import Retry
from .account import AsyncAccount
from .transport import AsyncSession, AsyncTransport
from .webhooks import AsyncWebhooks


class AsyncSealpost:
    """A client of one service, which acts as one API key.

    `token` is an API token (`kt_…`). For the account itself, pass a `Login` and the API key to act as. Without both,
    only operations without credentials work, such as `activate` and `recover`.

    `api` is the generated client, for use with the generated functions.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        login: Login | None = None,
        api_key: str | None = None,
        retry: Retry | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        if token is not None and login is not None:
            raise ValueError("pass either token or login")
        base_url = httpx.URL(url)
        credentials = token or login
        self._http = AsyncTransport(
            retry=retry or Retry(),
            base_url=base_url,
            timeout=timeout_s,
            auth=AsyncSession(base_url, credentials) if credentials is not None else None,
            headers={"X-DID-API-Key": api_key} if api_key is not None else {},
        )
        self.api = AuthenticatedClient(base_url=url, token="").set_async_httpx_client(self._http)
        self.account = AsyncAccount(self.api)
        self.webhooks = AsyncWebhooks(self.api)

    async def __aenter__(self) -> AsyncSealpost:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def send(
        self,
        to: str,
        message: str,
        *,
        thread: str | None = None,
        reply_to: str | None = None,
        type: str | None = None,
        idempotency_key: str | None = None,
    ) -> Sent:
        """Sends a message to an API key or a handle.

        `thread`, `reply_to` and `type` are signed, but not encrypted.

        Retries use the same `Idempotency-Key`, so the message is sent once. To retry after a restart of your program
        too, store a key of your own with the message, and pass it here.
        """
        body = SendRequest(to=to, message=message, thread=thread, reply_to=reply_to, type_=type)
        key = idempotency_key or str(uuid4())
        return success(await send_message.asyncio(client=self.api, body=body, idempotency_key=key))

    async def send_batch(self, messages: list[SendRequest], *, idempotency_key: str | None = None) -> SendBatchResponse:
        """Sends up to 100 messages in one request. The response has a result for each message, in their order."""
        body = SendBatchRequest(messages=messages)
        key = idempotency_key or str(uuid4())
        return success(await send_messages.asyncio(client=self.api, body=body, idempotency_key=key))

    async def sent(
        self,
        *,
        recipient: str | None = None,
        thread: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[SentView]:
        """Yields the envelopes that this API key sent, newest first, page by page."""
        body = ListRequest(recipient=recipient, thread=thread, since=since, until=until, limit=page_size)
        while True:
            page = success(await list_sent.asyncio(client=self.api, body=body))
            for envelope in page.envelopes:
                yield envelope
            if page.next_cursor is None:
                return
            body.cursor = page.next_cursor

    async def open(self, envelope_id: str) -> Opened:
        """Opens an envelope for the API key of this client."""
        body = OpenRequest(envelope_id=envelope_id)
        return success(await open_envelope.asyncio(client=self.api, body=body))

    async def receipt(self, envelope_id: str) -> Receipt:
        """Returns the state of an envelope that this API key sent."""
        body = ReceiptRequest(envelope_id=envelope_id)
        return success(await get_receipt.asyncio(client=self.api, body=body))

    async def status(self) -> KeyStanding:
        """Returns the state, the plan and the usage of the API key."""
        return success(await get_key_status.asyncio(client=self.api))

    async def resolve(self, id: str) -> Resolved:
        """Returns the identity behind an API key or a handle."""
        return success(await resolve_identity.asyncio(client=self.api, body=ResolveRequest(id=id)))

    async def policy(
        self,
        *,
        accept: AcceptPolicy | Unset = UNSET,
        receipts: ReceiptPolicy | Unset = UNSET,
        listed: bool | Unset = UNSET,
        allow: list[str] | Unset = UNSET,
        unallow: list[str] | Unset = UNSET,
        block: list[str] | Unset = UNSET,
        unblock: list[str] | Unset = UNSET,
    ) -> PolicyView:
        """Changes the given parts of the policy, and returns the whole policy."""
        body = PolicyRequest(
            accept=accept,
            receipts=receipts,
            listed=listed,
            allow=allow,
            unallow=unallow,
            block=block,
            unblock=unblock,
        )
        return success(await set_policy.asyncio(client=self.api, body=body))

    async def activate(self, label: str, *, handle: str | Unset = UNSET, invite: str | Unset = UNSET) -> Activated:
        """Activates an identity. Without credentials, also opens an account: the response has its login secret."""
        body = ActivateRequest(label=label, handle=handle, invite=invite)
        return success(await activate_identity.asyncio(client=self.api, body=body))

    async def recover(self, account_id: str, recovery_code: str) -> SecretsReplaced:
        """Replaces the login secret and the recovery code of an account. Ends its sessions and API tokens.

        Needs no credentials. Store the response, then create a client with the new login secret.
        """
        body = RecoverAccountRequest(account_id=account_id, recovery_code=recovery_code)
        return success(await recover_account.asyncio(client=self.api, body=body))

    async def issue_badge(
        self,
        *,
        jurisdiction: str | Unset = UNSET,
        disclose_did: bool | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> IssuedBadge | DryRun:
        """Issues a badge for the API key."""
        body = IssueRequest(jurisdiction=jurisdiction, disclose_did=disclose_did, dry_run=dry_run)
        issued = success(await issue_badge.asyncio(client=self.api, body=body))
        return cast("IssuedBadge | DryRun", issued)

    async def verify_badge(self, credential: str) -> BadgeVerified:
        """Verifies a badge."""
        return success(await verify_badge.asyncio(client=self.api, body=VerifyRequest(credential=credential)))

    async def status_list(self, list_id: str) -> str:
        """Returns a signed list of revoked badges (W3C Bitstring Status List), as a JWT."""
        return success(await get_status_list.asyncio(list_id, client=self.api))

    async def did_document(self) -> DidDocument:
        """Returns the DID document of the service, whose keys verify badges and `v1a` signatures."""
        return success(await get_did_document.asyncio(client=self.api))

    async def validate_compliance(self, jurisdiction: str, *, dry_run: bool | Unset = UNSET) -> Validated:
        """Runs the compliance checks of a jurisdiction."""
        body = ValidateRequest(jurisdiction=jurisdiction, dry_run=dry_run)
        return success(await validate_compliance.asyncio(client=self.api, body=body))

    async def ping(self) -> Pong:
        """Checks that the service is alive."""
        return success(await check_liveness.asyncio(client=self.api))

    async def openapi_document(self) -> dict[str, Any]:
        """Returns the OpenAPI document of the service."""
        return success(await get_openapi_document.asyncio(client=self.api)).additional_properties
