from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.delete_webhook_action import DeleteWebhookAction
from ...models.deleted import Deleted
from ...models.deliveries_page import DeliveriesPage
from ...models.enable_webhook_action import EnableWebhookAction
from ...models.enabled import Enabled
from ...models.list_deliveries_action import ListDeliveriesAction
from ...models.list_webhooks_action import ListWebhooksAction
from ...models.problem import Problem
from ...models.recover_deliveries_action import RecoverDeliveriesAction
from ...models.recovered import Recovered
from ...models.redeliver_event_action import RedeliverEventAction
from ...models.redelivered import Redelivered
from ...models.rotate_webhook_secret_action import RotateWebhookSecretAction
from ...models.test_webhook_action import TestWebhookAction
from ...models.tested import Tested
from ...models.update_webhook_action import UpdateWebhookAction
from ...models.updated import Updated
from ...models.webhook_list import WebhookList
from ...models.webhook_secret_rotated import WebhookSecretRotated
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: DeleteWebhookAction
    | EnableWebhookAction
    | ListDeliveriesAction
    | ListWebhooksAction
    | RecoverDeliveriesAction
    | RedeliverEventAction
    | RotateWebhookSecretAction
    | TestWebhookAction
    | UpdateWebhookAction,
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
        "url": "/v1/webhooks",
    }

    if isinstance(body, ListWebhooksAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, DeleteWebhookAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, EnableWebhookAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, RotateWebhookSecretAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, ListDeliveriesAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, RedeliverEventAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, RecoverDeliveriesAction):
        _kwargs["json"] = body.to_dict()
    elif isinstance(body, TestWebhookAction):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> (
    Deleted
    | DeliveriesPage
    | Enabled
    | Recovered
    | Redelivered
    | Tested
    | Updated
    | WebhookList
    | WebhookSecretRotated
    | Problem
    | None
):
    if response.status_code == 200:

        def _parse_response_200(
            data: object,
        ) -> (
            Deleted
            | DeliveriesPage
            | Enabled
            | Recovered
            | Redelivered
            | Tested
            | Updated
            | WebhookList
            | WebhookSecretRotated
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_0 = Deleted.from_dict(data)

                return componentsschemas_managed_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_1 = DeliveriesPage.from_dict(data)

                return componentsschemas_managed_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_2 = Enabled.from_dict(data)

                return componentsschemas_managed_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_3 = WebhookList.from_dict(data)

                return componentsschemas_managed_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_4 = Recovered.from_dict(data)

                return componentsschemas_managed_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_5 = Redelivered.from_dict(data)

                return componentsschemas_managed_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_6 = WebhookSecretRotated.from_dict(data)

                return componentsschemas_managed_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_managed_type_7 = Updated.from_dict(data)

                return componentsschemas_managed_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_action_result_type_1 = Tested.from_dict(data)

            return componentsschemas_action_result_type_1

        response_200 = _parse_response_200(response.json())

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
) -> Response[
    Deleted
    | DeliveriesPage
    | Enabled
    | Recovered
    | Redelivered
    | Tested
    | Updated
    | WebhookList
    | WebhookSecretRotated
    | Problem
]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: DeleteWebhookAction
    | EnableWebhookAction
    | ListDeliveriesAction
    | ListWebhooksAction
    | RecoverDeliveriesAction
    | RedeliverEventAction
    | RotateWebhookSecretAction
    | TestWebhookAction
    | UpdateWebhookAction,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[
    Deleted
    | DeliveriesPage
    | Enabled
    | Recovered
    | Redelivered
    | Tested
    | Updated
    | WebhookList
    | WebhookSecretRotated
    | Problem
]:
    """Perform an action on webhooks

     Performs the action that `action` names. Each action also has a path of its own, which takes the
    same fields without `action` and has the same effect and response: `rotate_secret` is `POST
    /v1/webhooks/rotate-secret`. New programs should use these paths. An API token needs the scope
    `webhooks` or `read`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (DeleteWebhookAction | EnableWebhookAction | ListDeliveriesAction |
            ListWebhooksAction | RecoverDeliveriesAction | RedeliverEventAction |
            RotateWebhookSecretAction | TestWebhookAction | UpdateWebhookAction):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Deleted | DeliveriesPage | Enabled | Recovered | Redelivered | Tested | Updated | WebhookList | WebhookSecretRotated | Problem]
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
    body: DeleteWebhookAction
    | EnableWebhookAction
    | ListDeliveriesAction
    | ListWebhooksAction
    | RecoverDeliveriesAction
    | RedeliverEventAction
    | RotateWebhookSecretAction
    | TestWebhookAction
    | UpdateWebhookAction,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> (
    Deleted
    | DeliveriesPage
    | Enabled
    | Recovered
    | Redelivered
    | Tested
    | Updated
    | WebhookList
    | WebhookSecretRotated
    | Problem
    | None
):
    """Perform an action on webhooks

     Performs the action that `action` names. Each action also has a path of its own, which takes the
    same fields without `action` and has the same effect and response: `rotate_secret` is `POST
    /v1/webhooks/rotate-secret`. New programs should use these paths. An API token needs the scope
    `webhooks` or `read`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (DeleteWebhookAction | EnableWebhookAction | ListDeliveriesAction |
            ListWebhooksAction | RecoverDeliveriesAction | RedeliverEventAction |
            RotateWebhookSecretAction | TestWebhookAction | UpdateWebhookAction):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Deleted | DeliveriesPage | Enabled | Recovered | Redelivered | Tested | Updated | WebhookList | WebhookSecretRotated | Problem
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
    body: DeleteWebhookAction
    | EnableWebhookAction
    | ListDeliveriesAction
    | ListWebhooksAction
    | RecoverDeliveriesAction
    | RedeliverEventAction
    | RotateWebhookSecretAction
    | TestWebhookAction
    | UpdateWebhookAction,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[
    Deleted
    | DeliveriesPage
    | Enabled
    | Recovered
    | Redelivered
    | Tested
    | Updated
    | WebhookList
    | WebhookSecretRotated
    | Problem
]:
    """Perform an action on webhooks

     Performs the action that `action` names. Each action also has a path of its own, which takes the
    same fields without `action` and has the same effect and response: `rotate_secret` is `POST
    /v1/webhooks/rotate-secret`. New programs should use these paths. An API token needs the scope
    `webhooks` or `read`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (DeleteWebhookAction | EnableWebhookAction | ListDeliveriesAction |
            ListWebhooksAction | RecoverDeliveriesAction | RedeliverEventAction |
            RotateWebhookSecretAction | TestWebhookAction | UpdateWebhookAction):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Deleted | DeliveriesPage | Enabled | Recovered | Redelivered | Tested | Updated | WebhookList | WebhookSecretRotated | Problem]
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
    body: DeleteWebhookAction
    | EnableWebhookAction
    | ListDeliveriesAction
    | ListWebhooksAction
    | RecoverDeliveriesAction
    | RedeliverEventAction
    | RotateWebhookSecretAction
    | TestWebhookAction
    | UpdateWebhookAction,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> (
    Deleted
    | DeliveriesPage
    | Enabled
    | Recovered
    | Redelivered
    | Tested
    | Updated
    | WebhookList
    | WebhookSecretRotated
    | Problem
    | None
):
    """Perform an action on webhooks

     Performs the action that `action` names. Each action also has a path of its own, which takes the
    same fields without `action` and has the same effect and response: `rotate_secret` is `POST
    /v1/webhooks/rotate-secret`. New programs should use these paths. An API token needs the scope
    `webhooks` or `read`.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (DeleteWebhookAction | EnableWebhookAction | ListDeliveriesAction |
            ListWebhooksAction | RecoverDeliveriesAction | RedeliverEventAction |
            RotateWebhookSecretAction | TestWebhookAction | UpdateWebhookAction):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Deleted | DeliveriesPage | Enabled | Recovered | Redelivered | Tested | Updated | WebhookList | WebhookSecretRotated | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_did_api_key=x_did_api_key,
            x_request_id=x_request_id,
        )
    ).parsed
