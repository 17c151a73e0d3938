from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.did_document import DidDocument
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    x_request_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_request_id, Unset):
        headers["X-Request-Id"] = x_request_id

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/.well-known/did.json",
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> DidDocument | Problem | None:
    if response.status_code == 200:
        response_200 = DidDocument.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 405:
        response_405 = Problem.from_dict(response.json())

        return response_405

    if response.status_code == 431:
        response_431 = Problem.from_dict(response.json())

        return response_431

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[DidDocument | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    x_request_id: str | Unset = UNSET,
) -> Response[DidDocument | Problem]:
    """Get the service's keys

     The DID document (`did:web`) of the service. Its keys verify badges, status lists, and the `v1a`
    signatures of events. The document has each key twice, as `JsonWebKey` and as `Multikey`, because
    some verifiers know only one of the forms. `kid` of a signature is the id of the `JsonWebKey`.
    `standardWebhooksKey` is the key in the form of Standard Webhooks libraries. Former keys stay in the
    document.

    Args:
        x_request_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DidDocument | Problem]
    """

    kwargs = _get_kwargs(
        x_request_id=x_request_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    x_request_id: str | Unset = UNSET,
) -> DidDocument | Problem | None:
    """Get the service's keys

     The DID document (`did:web`) of the service. Its keys verify badges, status lists, and the `v1a`
    signatures of events. The document has each key twice, as `JsonWebKey` and as `Multikey`, because
    some verifiers know only one of the forms. `kid` of a signature is the id of the `JsonWebKey`.
    `standardWebhooksKey` is the key in the form of Standard Webhooks libraries. Former keys stay in the
    document.

    Args:
        x_request_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DidDocument | Problem
    """

    return sync_detailed(
        client=client,
        x_request_id=x_request_id,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    x_request_id: str | Unset = UNSET,
) -> Response[DidDocument | Problem]:
    """Get the service's keys

     The DID document (`did:web`) of the service. Its keys verify badges, status lists, and the `v1a`
    signatures of events. The document has each key twice, as `JsonWebKey` and as `Multikey`, because
    some verifiers know only one of the forms. `kid` of a signature is the id of the `JsonWebKey`.
    `standardWebhooksKey` is the key in the form of Standard Webhooks libraries. Former keys stay in the
    document.

    Args:
        x_request_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DidDocument | Problem]
    """

    kwargs = _get_kwargs(
        x_request_id=x_request_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    x_request_id: str | Unset = UNSET,
) -> DidDocument | Problem | None:
    """Get the service's keys

     The DID document (`did:web`) of the service. Its keys verify badges, status lists, and the `v1a`
    signatures of events. The document has each key twice, as `JsonWebKey` and as `Multikey`, because
    some verifiers know only one of the forms. `kid` of a signature is the id of the `JsonWebKey`.
    `standardWebhooksKey` is the key in the form of Standard Webhooks libraries. Former keys stay in the
    document.

    Args:
        x_request_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DidDocument | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            x_request_id=x_request_id,
        )
    ).parsed
