from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.send_request import SendRequest
from ...models.sent import Sent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: SendRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_did_api_key, Unset):
        headers["X-DID-API-Key"] = x_did_api_key

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/channel/send",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | Sent | None:
    if response.status_code == 200:
        response_200 = Sent.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 405:
        response_405 = Problem.from_dict(response.json())

        return response_405

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 431:
        response_431 = Problem.from_dict(response.json())

        return response_431

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | Sent]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: SendRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Sent]:
    """Send a sealed message

     Seals the message to the recipient, signs it as the sender, and stores the envelope with its webhook
    deliveries. 200 means that both are durable and survive a crash. `to` is an API key or a handle,
    with or without a leading `@`; a raw DID is refused. `state` is `waiting` if the recipient has no
    webhook for received envelopes, and otherwise `sent`; a recipient can hide it. `thread`, `reply_to`
    and `type` are signed, but not encrypted. The maximum message size is 256 KiB by default. Send an
    `Idempotency-Key` with each message that must not be sent twice. An API token needs the scope
    `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendRequest): A message and its recipient.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Sent]
    """

    kwargs = _get_kwargs(
        body=body,
        x_did_api_key=x_did_api_key,
        idempotency_key=idempotency_key,
        x_request_id=x_request_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: SendRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Sent | None:
    """Send a sealed message

     Seals the message to the recipient, signs it as the sender, and stores the envelope with its webhook
    deliveries. 200 means that both are durable and survive a crash. `to` is an API key or a handle,
    with or without a leading `@`; a raw DID is refused. `state` is `waiting` if the recipient has no
    webhook for received envelopes, and otherwise `sent`; a recipient can hide it. `thread`, `reply_to`
    and `type` are signed, but not encrypted. The maximum message size is 256 KiB by default. Send an
    `Idempotency-Key` with each message that must not be sent twice. An API token needs the scope
    `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendRequest): A message and its recipient.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Sent
    """

    return sync_detailed(
        client=client,
        body=body,
        x_did_api_key=x_did_api_key,
        idempotency_key=idempotency_key,
        x_request_id=x_request_id,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: SendRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Sent]:
    """Send a sealed message

     Seals the message to the recipient, signs it as the sender, and stores the envelope with its webhook
    deliveries. 200 means that both are durable and survive a crash. `to` is an API key or a handle,
    with or without a leading `@`; a raw DID is refused. `state` is `waiting` if the recipient has no
    webhook for received envelopes, and otherwise `sent`; a recipient can hide it. `thread`, `reply_to`
    and `type` are signed, but not encrypted. The maximum message size is 256 KiB by default. Send an
    `Idempotency-Key` with each message that must not be sent twice. An API token needs the scope
    `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendRequest): A message and its recipient.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Sent]
    """

    kwargs = _get_kwargs(
        body=body,
        x_did_api_key=x_did_api_key,
        idempotency_key=idempotency_key,
        x_request_id=x_request_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: SendRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Sent | None:
    """Send a sealed message

     Seals the message to the recipient, signs it as the sender, and stores the envelope with its webhook
    deliveries. 200 means that both are durable and survive a crash. `to` is an API key or a handle,
    with or without a leading `@`; a raw DID is refused. `state` is `waiting` if the recipient has no
    webhook for received envelopes, and otherwise `sent`; a recipient can hide it. `thread`, `reply_to`
    and `type` are signed, but not encrypted. The maximum message size is 256 KiB by default. Send an
    `Idempotency-Key` with each message that must not be sent twice. An API token needs the scope
    `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendRequest): A message and its recipient.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Sent
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_did_api_key=x_did_api_key,
            idempotency_key=idempotency_key,
            x_request_id=x_request_id,
        )
    ).parsed
