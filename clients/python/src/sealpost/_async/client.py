"""The asynchronous client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, overload
from uuid import uuid4

from .. import operations
from ..credentials import Login, NewAccount, check_header
from ..models import (
    AcceptPolicy,
    Activated,
    ActivateRequest,
    BadgeVerified,
    DidDocument,
    EvidenceRequest,
    EvidenceView,
    Issued,
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
from ..operation import Body, Operation, Result
from ..retry import Retry
from ..webhook import Event, Webhook
from .account import AsyncAccount
from .relay import AsyncRelay, DeliveryHandler
from .transport import AsyncTransport
from .webhooks import AsyncWebhooks


class AsyncSealpost:
    """A client of one service, which acts as one API key.

    `token` is an API token (`kt_…`). For the account itself, pass a `Login` and the API key to act as. Without both,
    only operations without credentials work, such as `open_account` and `recover`.

    `timeout_s` limits the time to connect, each pause while a request is sent and until its response begins, and the
    time to read the body of the response.
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
        if token == "":
            raise ValueError("the token is empty")
        if token is not None:
            check_header("the token", token)
        if api_key is not None:
            check_header("the API key", api_key)
        self._credentials = login if token is None else token
        self._http = AsyncTransport(
            self._credentials,
            retry=retry or Retry(),
            base_url=url,
            timeout=timeout_s,
            headers={"X-DID-API-Key": api_key} if api_key is not None else {},
        )
        self.account = AsyncAccount(self._http)
        self.webhooks = AsyncWebhooks(self._http)

    async def __aenter__(self) -> AsyncSealpost:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def call(self, operation: Operation[Body, Result], body: Body) -> Result:
        """Calls an operation of `sealpost.operations`. The methods of this class do the same with fewer words."""
        return await self._http.call(operation, body)

    @overload
    def relay(
        self, webhook_id: str, handler: Callable[[Event], Awaitable[None]], *, webhook: Webhook
    ) -> AsyncRelay: ...

    @overload
    def relay(self, webhook_id: str, handler: DeliveryHandler) -> AsyncRelay: ...

    def relay(
        self, webhook_id: str, handler: Callable[..., Awaitable[Any]], *, webhook: Webhook | None = None
    ) -> AsyncRelay:
        """Returns the receiving end of a webhook with the URL `relay:`. Its `run` receives deliveries.

        With `webhook`, the handler gets each verified event. Otherwise it gets the headers and the body of each
        delivery, and returns a status or a `RelayResponse`, as `AsyncReceiver.receive` does. An exception of the
        handler is a 500: the service sends the event again later.
        """

        async def handle_event(headers: Mapping[str, str], body: bytes) -> int:
            assert webhook is not None
            await handler(webhook.verify(headers, body))
            return 204

        return AsyncRelay(self._http, webhook_id, handler if webhook is None else handle_event)

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
        body = SendRequest(to=to, message=message, thread=thread, reply_to=reply_to, type=type)
        headers = {"Idempotency-Key": str(uuid4()) if idempotency_key is None else idempotency_key}
        return await self._http.call(operations.SEND_MESSAGE, body, headers=headers)

    async def send_batch(self, messages: list[SendRequest], *, idempotency_key: str | None = None) -> SendBatchResponse:
        """Sends up to 100 messages in one request. The response has a result for each message, in their order."""
        headers = {"Idempotency-Key": str(uuid4()) if idempotency_key is None else idempotency_key}
        return await self._http.call(operations.SEND_MESSAGES, SendBatchRequest(messages=messages), headers=headers)

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
            page = await self._http.call(operations.LIST_SENT, body)
            for envelope in page.envelopes:
                yield envelope
            if page.next_cursor is None:
                return
            body.cursor = page.next_cursor

    async def open(self, envelope_id: str) -> Opened:
        """Opens an envelope for the API key of this client."""
        return await self._http.call(operations.OPEN_ENVELOPE, OpenRequest(envelope_id=envelope_id))

    async def receipt(self, envelope_id: str) -> Receipt:
        """Returns the state of an envelope that this API key sent."""
        return await self._http.call(operations.GET_RECEIPT, ReceiptRequest(envelope_id=envelope_id))

    async def evidence(self, envelope_id: str) -> EvidenceView:
        """Proves what happened to an envelope that this API key sent or received. Takes up to six seconds."""
        return await self._http.call(operations.GET_EVIDENCE, EvidenceRequest(envelope_id=envelope_id))

    async def status(self) -> KeyStanding:
        """Returns the state, the plan and the usage of the API key."""
        return await self._http.call(operations.GET_KEY_STATUS, None)

    async def resolve(self, id: str) -> Resolved:
        """Returns the identity behind an API key or a handle."""
        return await self._http.call(operations.RESOLVE_IDENTITY, ResolveRequest(id=id))

    async def policy(
        self,
        *,
        accept: AcceptPolicy | None = None,
        receipts: ReceiptPolicy | None = None,
        listed: bool | None = None,
        allow: list[str] | None = None,
        unallow: list[str] | None = None,
        block: list[str] | None = None,
        unblock: list[str] | None = None,
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
        return await self._http.call(operations.SET_POLICY, body)

    async def open_account(self, label: str, *, handle: str | None = None, invite: str | None = None) -> NewAccount:
        """Opens an account with its first identity. Needs a client without credentials."""
        if self._credentials is not None:
            raise ValueError("this client has an account already: call activate for a further identity")
        return NewAccount.of(await self.activate(label, handle=handle, invite=invite))

    async def activate(self, label: str, *, handle: str | None = None, invite: str | None = None) -> Activated:
        """Activates an identity of the account. Without credentials, also opens an account: see `open_account`."""
        body = ActivateRequest(label=label, handle=handle, invite=invite)
        return await self._http.call(operations.ACTIVATE_IDENTITY, body)

    async def recover(self, account_id: str, recovery_code: str) -> SecretsReplaced:
        """Replaces the login secret and the recovery code of an account. Ends its sessions and API tokens.

        Needs no credentials. Store the response, then create a client with the new login secret.
        """
        body = RecoverAccountRequest(account_id=account_id, recovery_code=recovery_code)
        return await self._http.call(operations.RECOVER_ACCOUNT, body)

    async def issue_badge(
        self, *, jurisdiction: str | None = None, disclose_did: bool | None = None, dry_run: bool | None = None
    ) -> Issued:
        """Issues a badge for the API key."""
        body = IssueRequest(jurisdiction=jurisdiction, disclose_did=disclose_did, dry_run=dry_run)
        return await self._http.call(operations.ISSUE_BADGE, body)

    async def verify_badge(self, credential: str) -> BadgeVerified:
        """Verifies a badge."""
        return await self._http.call(operations.VERIFY_BADGE, VerifyRequest(credential=credential))

    async def status_list(self, list_id: str) -> str:
        """Returns a signed list of revoked badges (W3C Bitstring Status List), as a JWT."""
        return await self._http.call(operations.GET_STATUS_LIST, None, list=list_id)

    async def did_document(self) -> DidDocument:
        """Returns the DID document of the service, whose keys verify badges and `v1a` signatures."""
        return await self._http.call(operations.GET_DID_DOCUMENT, None)

    async def validate_compliance(self, jurisdiction: str, *, dry_run: bool | None = None) -> Validated:
        """Runs the compliance checks of a jurisdiction."""
        body = ValidateRequest(jurisdiction=jurisdiction, dry_run=dry_run)
        return await self._http.call(operations.VALIDATE_COMPLIANCE, body)

    async def ping(self) -> Pong:
        """Checks that the service is alive."""
        return await self._http.call(operations.CHECK_LIVENESS, None)

    async def openapi_document(self) -> dict[str, Any]:
        """Returns the OpenAPI document of the service."""
        return await self._http.call(operations.GET_OPENAPI_DOCUMENT, None)
