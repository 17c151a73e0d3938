"""An operation of the API, as in the table `sealpost.operations`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .model import Model

Body = TypeVar("Body", bound="Model | None", contravariant=True)
Result = TypeVar("Result", covariant=True)


@dataclass(frozen=True)
class Operation(Generic[Body, Result]):
    """An operation: its method, its path, and the types of its bodies."""

    method: str
    path: str
    read: Callable[[Any], Result]
    """Converts the JSON value or the text of a response."""
