from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.register_request import RegisterRequest
from ...models.registered import Registered
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: RegisterRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_did_api_key, Unset):
        headers["X-DID-API-Key"] = x_did_api_key

    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhooks/register",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | Registered | None:
    if response.status_code == 200:
        response_200 = Registered.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | Registered]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: RegisterRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Registered]:
    """Register a webhook

     Sends the events of the key to this URL from now on, signed with `secret`. The response shows the
    secret only once. The URL must be https, without user information and fragment, on port 443, 8443 or
    a port from 1024. It must not lead to a private address, now or at any delivery. A host name that
    does not resolve yet is accepted, with a `warning`. Events other than `envelope.received` need a
    server with `--events v1.1`. The host is a full domain name or an IPv4 address; to reach an IPv6
    address, use a name. A key may have 16 webhooks.

    Envelopes for a key without a webhook for `envelope.received` wait. The first such webhook receives
    them, oldest first; `waiting` is their number, counted up to 10,000. With `"waiting": "skip"` no
    webhook receives them. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (RegisterRequest): The URL and the events of a new webhook.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Registered]
    """

    kwargs = _get_kwargs(
        body=body,
        x_did_api_key=x_did_api_key,
        x_request_id=x_request_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: RegisterRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Registered | None:
    """Register a webhook

     Sends the events of the key to this URL from now on, signed with `secret`. The response shows the
    secret only once. The URL must be https, without user information and fragment, on port 443, 8443 or
    a port from 1024. It must not lead to a private address, now or at any delivery. A host name that
    does not resolve yet is accepted, with a `warning`. Events other than `envelope.received` need a
    server with `--events v1.1`. The host is a full domain name or an IPv4 address; to reach an IPv6
    address, use a name. A key may have 16 webhooks.

    Envelopes for a key without a webhook for `envelope.received` wait. The first such webhook receives
    them, oldest first; `waiting` is their number, counted up to 10,000. With `"waiting": "skip"` no
    webhook receives them. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (RegisterRequest): The URL and the events of a new webhook.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Registered
    """

    return sync_detailed(
        client=client,
        body=body,
        x_did_api_key=x_did_api_key,
        x_request_id=x_request_id,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: RegisterRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Registered]:
    """Register a webhook

     Sends the events of the key to this URL from now on, signed with `secret`. The response shows the
    secret only once. The URL must be https, without user information and fragment, on port 443, 8443 or
    a port from 1024. It must not lead to a private address, now or at any delivery. A host name that
    does not resolve yet is accepted, with a `warning`. Events other than `envelope.received` need a
    server with `--events v1.1`. The host is a full domain name or an IPv4 address; to reach an IPv6
    address, use a name. A key may have 16 webhooks.

    Envelopes for a key without a webhook for `envelope.received` wait. The first such webhook receives
    them, oldest first; `waiting` is their number, counted up to 10,000. With `"waiting": "skip"` no
    webhook receives them. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (RegisterRequest): The URL and the events of a new webhook.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Registered]
    """

    kwargs = _get_kwargs(
        body=body,
        x_did_api_key=x_did_api_key,
        x_request_id=x_request_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: RegisterRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Registered | None:
    """Register a webhook

     Sends the events of the key to this URL from now on, signed with `secret`. The response shows the
    secret only once. The URL must be https, without user information and fragment, on port 443, 8443 or
    a port from 1024. It must not lead to a private address, now or at any delivery. A host name that
    does not resolve yet is accepted, with a `warning`. Events other than `envelope.received` need a
    server with `--events v1.1`. The host is a full domain name or an IPv4 address; to reach an IPv6
    address, use a name. A key may have 16 webhooks.

    Envelopes for a key without a webhook for `envelope.received` wait. The first such webhook receives
    them, oldest first; `waiting` is their number, counted up to 10,000. With `"waiting": "skip"` no
    webhook receives them. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (RegisterRequest): The URL and the events of a new webhook.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Registered
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_did_api_key=x_did_api_key,
            x_request_id=x_request_id,
        )
    ).parsed
