from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.dry_run import DryRun
from ...models.issue_request import IssueRequest
from ...models.issued_badge import IssuedBadge
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: IssueRequest | Unset = UNSET,
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
        "url": "/v1/badges/issue",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DryRun | IssuedBadge | Problem | None:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> DryRun | IssuedBadge:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_issued_type_0 = IssuedBadge.from_dict(data)

                return componentsschemas_issued_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_issued_type_1 = DryRun.from_dict(data)

            return componentsschemas_issued_type_1

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
) -> Response[DryRun | IssuedBadge | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: IssueRequest | Unset = UNSET,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[DryRun | IssuedBadge | Problem]:
    """Issue a badge

     Issues a badge on the newest assessment of the key. A badge is a W3C Verifiable Credential 2.0 in
    Open Badges 3.0 shape, as a JWT. Any verifier checks it with the keys of `/.well-known/did.json`. It
    names the key as a URN, or its DID with `disclose_did`. With `dry_run` the service issues nothing
    and lists all refusals.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (IssueRequest | Unset): The options of a new badge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DryRun | IssuedBadge | Problem]
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
    body: IssueRequest | Unset = UNSET,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> DryRun | IssuedBadge | Problem | None:
    """Issue a badge

     Issues a badge on the newest assessment of the key. A badge is a W3C Verifiable Credential 2.0 in
    Open Badges 3.0 shape, as a JWT. Any verifier checks it with the keys of `/.well-known/did.json`. It
    names the key as a URN, or its DID with `disclose_did`. With `dry_run` the service issues nothing
    and lists all refusals.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (IssueRequest | Unset): The options of a new badge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DryRun | IssuedBadge | Problem
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
    body: IssueRequest | Unset = UNSET,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> Response[DryRun | IssuedBadge | Problem]:
    """Issue a badge

     Issues a badge on the newest assessment of the key. A badge is a W3C Verifiable Credential 2.0 in
    Open Badges 3.0 shape, as a JWT. Any verifier checks it with the keys of `/.well-known/did.json`. It
    names the key as a URN, or its DID with `disclose_did`. With `dry_run` the service issues nothing
    and lists all refusals.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (IssueRequest | Unset): The options of a new badge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DryRun | IssuedBadge | Problem]
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
    body: IssueRequest | Unset = UNSET,
    x_did_api_key: str | Unset = UNSET,
    x_request_id: str | Unset = UNSET,
) -> DryRun | IssuedBadge | Problem | None:
    """Issue a badge

     Issues a badge on the newest assessment of the key. A badge is a W3C Verifiable Credential 2.0 in
    Open Badges 3.0 shape, as a JWT. Any verifier checks it with the keys of `/.well-known/did.json`. It
    names the key as a URN, or its DID with `disclose_did`. With `dry_run` the service issues nothing
    and lists all refusals.

    Args:
        x_did_api_key (str | Unset):
        x_request_id (str | Unset):
        body (IssueRequest | Unset): The options of a new badge.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DryRun | IssuedBadge | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_did_api_key=x_did_api_key,
            x_request_id=x_request_id,
        )
    ).parsed
