"""Reads and writes the bodies in `sealpost.models`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

M = TypeVar("M", bound="Model")
Shape = tuple[dict[str, tuple[str, Any]], frozenset[str]]


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset.UNSET
"""The value of a member that a request omits, if None has another effect."""


class Choice(str, Enum):
    """A set of strings. Accepts values of newer services too."""

    @classmethod
    def _missing_(cls, value: object) -> Choice | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)


@dataclass
class Model:
    """A JSON object."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON object. Optional members without a value are absent."""
        values = ((member, getattr(self, member.name)) for member in fields(self))
        return {_name(member): _plain(value) for member, value in values if value is not member.default}

    @classmethod
    def from_dict(cls: type[M], members: Mapping[str, Any]) -> M:
        """Reads a JSON object."""
        types, required = _shape(cls)
        missing = required - members.keys()
        if missing:
            raise ValueError(f"{cls.__name__} needs the members {sorted(missing)}")
        return cls(**{name: _read(type, members[key]) for key, (name, type) in types.items() if key in members})


class Request(Model):
    """The body of a request."""


@dataclass
class Response(Model):
    """The body of a response or of an event."""

    additional_properties: dict[str, Any] = field(init=False, default_factory=dict, repr=False)
    """The members that this version of the package does not know."""

    def to_dict(self) -> dict[str, Any]:
        members = super().to_dict()
        others: dict[str, Any] = members.pop("additional_properties")
        return others | members

    @classmethod
    def from_dict(cls: type[R], members: Mapping[str, Any]) -> R:
        model = super().from_dict(members)
        known, _ = _shape(cls)
        model.additional_properties = {name: value for name, value in members.items() if name not in known}
        return model


R = TypeVar("R", bound=Response)


def one_of(*models: type[M]) -> Callable[[Any], M]:
    """Returns a function that reads the first model that fits."""

    def read(members: Any) -> M:
        model: M = _read_variant(models, members)
        return model

    return read


def _name(member: Any) -> str:
    name: str = member.metadata.get("name", member.name)
    return name


def _read_shape(model: type[Any]) -> Shape:
    """Returns the attribute and the type of each member, and the required members."""
    types = get_type_hints(model)
    members = [member for member in fields(model) if member.init]
    required = frozenset(_name(member) for member in members if member.default is MISSING)
    return {_name(member): (member.name, types[member.name]) for member in members}, required


_shape: Callable[..., Shape] = cache(_read_shape)


def _read(type_: Any, value: Any) -> Any:
    """Converts a JSON value to a type."""
    origin = get_origin(type_)
    if value is None:
        return None
    if origin is list:
        return [_read(get_args(type_)[0], entry) for entry in value]
    if origin in (Union, UnionType):
        return _read_variant(get_args(type_), value)
    if not isinstance(type_, type) or origin is not None:
        return value
    if issubclass(type_, Model):
        return type_.from_dict(value)
    if issubclass(type_, datetime):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    return type_(value) if issubclass(type_, Choice) else value


def _read_variant(variants: tuple[Any, ...], value: Any) -> Any:
    """Converts a JSON value to the first type of a union that fits."""
    models = [variant for variant in variants if isinstance(variant, type) and issubclass(variant, Model)]
    for model in models:
        if _shape(model)[1] <= value.keys():
            return model.from_dict(value)
    others = [variant for variant in variants if variant not in (None, type(None)) and variant not in models]
    return _read(others[0], value) if len(others) == 1 else value


def _plain(value: Any) -> Any:
    """Returns the JSON value of an attribute."""
    if isinstance(value, Model):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value
