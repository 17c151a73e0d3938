"""Narrows the results of generated operations."""

from __future__ import annotations

from typing import TypeVar

from .models import Problem

T = TypeVar("T")


def success(body: T | Problem | None) -> T:
    """Returns the body of a success. The transport has raised an exception for every other response."""
    if body is None or isinstance(body, Problem):
        raise TypeError("the status of the response is not in the API description: update this package")
    return body
