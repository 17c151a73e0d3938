"""One exception for each error code of the service, for example `EnvelopeNotFound` for `ENVELOPE_NOT_FOUND`."""

import httpx

from ._generated.exceptions import *  # noqa: F403
from ._generated.exceptions import ALL
from ._generated.exceptions import __all__ as __all__
from .errors import ApiError

BY_CODE: dict[str | None, type[ApiError]] = {error.CODE: error for error in ALL}


def error_of(response: httpx.Response) -> ApiError | None:
    """Returns the exception for an error response, or None for a success."""
    kind = response.headers.get("Content-Type", "")
    if response.is_success and kind.startswith(("application/", "text/plain")):
        return None
    problem = response.json() if kind.startswith("application/problem+json") else {}
    return BY_CODE.get(problem.get("code"), ApiError)(response, problem)
