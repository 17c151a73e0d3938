from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.receipt import Receipt
from ...models.receipt_request import ReceiptRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ReceiptRequest,
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
        "url": "/v1/channel/receipt",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | Receipt | None:
    if response.status_code == 200:
        response_200 = Receipt.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | Receipt]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: ReceiptRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Receipt]:
    """Show the receipt of an envelope

     Shows the sender the context and the state of an envelope: `waiting` for a webhook of the recipient,
    `sent`, `notified`, `opened` or `bounced`. Times that the recipient hides are null. An envelope of
    another sender gets the same response as an unknown or expired one. The request counts against the
    limits per minute and per day. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (ReceiptRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Receipt]
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
    body: ReceiptRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Receipt | None:
    """Show the receipt of an envelope

     Shows the sender the context and the state of an envelope: `waiting` for a webhook of the recipient,
    `sent`, `notified`, `opened` or `bounced`. Times that the recipient hides are null. An envelope of
    another sender gets the same response as an unknown or expired one. The request counts against the
    limits per minute and per day. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (ReceiptRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Receipt
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
    body: ReceiptRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Receipt]:
    """Show the receipt of an envelope

     Shows the sender the context and the state of an envelope: `waiting` for a webhook of the recipient,
    `sent`, `notified`, `opened` or `bounced`. Times that the recipient hides are null. An envelope of
    another sender gets the same response as an unknown or expired one. The request counts against the
    limits per minute and per day. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (ReceiptRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Receipt]
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
    body: ReceiptRequest,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Receipt | None:
    """Show the receipt of an envelope

     Shows the sender the context and the state of an envelope: `waiting` for a webhook of the recipient,
    `sent`, `notified`, `opened` or `bounced`. Times that the recipient hides are null. An envelope of
    another sender gets the same response as an unknown or expired one. The request counts against the
    limits per minute and per day. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (ReceiptRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Receipt
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_did_api_key=x_did_api_key,
            x_request_id=x_request_id,
        )
    ).parsed
