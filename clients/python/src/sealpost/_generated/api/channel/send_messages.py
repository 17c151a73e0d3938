from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.send_batch_request import SendBatchRequest
from ...models.send_batch_response import SendBatchResponse
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: SendBatchRequest,
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
        "url": "/v1/channel/send-batch",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | SendBatchResponse | None:
    if response.status_code == 200:
        response_200 = SendBatchResponse.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | SendBatchResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: SendBatchRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | SendBatchResponse]:
    """Send many sealed messages

     Sends up to 100 messages in one request. Each message is checked, limited and counted like a send of
    its own, as if the messages were sent one after the other. The request counts as one request for
    each message. One commit stores all accepted messages. The response has a result for each message,
    in the order of the messages: `status` 200 and the members of a send, or the status, the code and
    the detail of its refusal. If a limit has room for some messages only, the first ones are accepted.
    If not even the first message is admitted, the whole request is refused. Envelopes to one recipient
    keep the order of the messages in their ids. An `Idempotency-Key` covers the whole batch: a repeated
    request gets the same results, and stores nothing. Refused messages can be sent again under another
    key. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendBatchRequest): The messages of a batch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SendBatchResponse]
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
    body: SendBatchRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | SendBatchResponse | None:
    """Send many sealed messages

     Sends up to 100 messages in one request. Each message is checked, limited and counted like a send of
    its own, as if the messages were sent one after the other. The request counts as one request for
    each message. One commit stores all accepted messages. The response has a result for each message,
    in the order of the messages: `status` 200 and the members of a send, or the status, the code and
    the detail of its refusal. If a limit has room for some messages only, the first ones are accepted.
    If not even the first message is admitted, the whole request is refused. Envelopes to one recipient
    keep the order of the messages in their ids. An `Idempotency-Key` covers the whole batch: a repeated
    request gets the same results, and stores nothing. Refused messages can be sent again under another
    key. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendBatchRequest): The messages of a batch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SendBatchResponse
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
    body: SendBatchRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | SendBatchResponse]:
    """Send many sealed messages

     Sends up to 100 messages in one request. Each message is checked, limited and counted like a send of
    its own, as if the messages were sent one after the other. The request counts as one request for
    each message. One commit stores all accepted messages. The response has a result for each message,
    in the order of the messages: `status` 200 and the members of a send, or the status, the code and
    the detail of its refusal. If a limit has room for some messages only, the first ones are accepted.
    If not even the first message is admitted, the whole request is refused. Envelopes to one recipient
    keep the order of the messages in their ids. An `Idempotency-Key` covers the whole batch: a repeated
    request gets the same results, and stores nothing. Refused messages can be sent again under another
    key. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendBatchRequest): The messages of a batch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SendBatchResponse]
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
    body: SendBatchRequest,
    x_did_api_key: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | SendBatchResponse | None:
    """Send many sealed messages

     Sends up to 100 messages in one request. Each message is checked, limited and counted like a send of
    its own, as if the messages were sent one after the other. The request counts as one request for
    each message. One commit stores all accepted messages. The response has a result for each message,
    in the order of the messages: `status` 200 and the members of a send, or the status, the code and
    the detail of its refusal. If a limit has room for some messages only, the first ones are accepted.
    If not even the first message is admitted, the whole request is refused. Envelopes to one recipient
    keep the order of the messages in their ids. An `Idempotency-Key` covers the whole batch: a repeated
    request gets the same results, and stores nothing. Refused messages can be sent again under another
    key. An API token needs the scope `send`.

    Args:
        x_did_api_key (str | Unset):
        idempotency_key (str | Unset):
        x_request_id (str | Unset):
        body (SendBatchRequest): The messages of a batch.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SendBatchResponse
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
