from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.update_webhook import UpdateWebhook
from ...models.updated import Updated
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: UpdateWebhook,
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
        "url": "/v1/webhooks/update",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | Updated | None:
    if response.status_code == 200:
        response_200 = Updated.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | Updated]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: UpdateWebhook,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Updated]:
    """Change a webhook

     Changes a webhook. Its id, its secret, its log and its health stay. The change holds on every node
    within two seconds. An attempt under way ends at the old URL; all later attempts, also of pending
    deliveries, go to the new one. `url` follows the rules of `register`.

    A paused webhook gets nothing. Its deliveries are kept without attempts until it is resumed or
    retention ends. Pausing does not depend on `status`: a disabled webhook can be paused too, and then
    needs both `"paused": false` and `enable`. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (UpdateWebhook): The changes of a webhook. At least one member besides `webhook_id`
            is required; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Updated]
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
    body: UpdateWebhook,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Updated | None:
    """Change a webhook

     Changes a webhook. Its id, its secret, its log and its health stay. The change holds on every node
    within two seconds. An attempt under way ends at the old URL; all later attempts, also of pending
    deliveries, go to the new one. `url` follows the rules of `register`.

    A paused webhook gets nothing. Its deliveries are kept without attempts until it is resumed or
    retention ends. Pausing does not depend on `status`: a disabled webhook can be paused too, and then
    needs both `"paused": false` and `enable`. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (UpdateWebhook): The changes of a webhook. At least one member besides `webhook_id`
            is required; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Updated
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
    body: UpdateWebhook,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[Problem | Updated]:
    """Change a webhook

     Changes a webhook. Its id, its secret, its log and its health stay. The change holds on every node
    within two seconds. An attempt under way ends at the old URL; all later attempts, also of pending
    deliveries, go to the new one. `url` follows the rules of `register`.

    A paused webhook gets nothing. Its deliveries are kept without attempts until it is resumed or
    retention ends. Pausing does not depend on `status`: a disabled webhook can be paused too, and then
    needs both `"paused": false` and `enable`. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (UpdateWebhook): The changes of a webhook. At least one member besides `webhook_id`
            is required; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Updated]
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
    body: UpdateWebhook,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Problem | Updated | None:
    """Change a webhook

     Changes a webhook. Its id, its secret, its log and its health stay. The change holds on every node
    within two seconds. An attempt under way ends at the old URL; all later attempts, also of pending
    deliveries, go to the new one. `url` follows the rules of `register`.

    A paused webhook gets nothing. Its deliveries are kept without attempts until it is resumed or
    retention ends. Pausing does not depend on `status`: a disabled webhook can be paused too, and then
    needs both `"paused": false` and `enable`. An API token needs the scope `webhooks`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (UpdateWebhook): The changes of a webhook. At least one member besides `webhook_id`
            is required; the others stay as they are.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Updated
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_did_api_key=x_did_api_key,
            x_request_id=x_request_id,
        )
    ).parsed
