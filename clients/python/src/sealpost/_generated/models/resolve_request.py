from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ResolveRequest")


@_attrs_define
class ResolveRequest:
    """
    Attributes:
        id (str): An API key or a handle, with or without a leading `@`.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    id: str
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        api_key_id = d.pop("api_key_id", UNSET)

        resolve_request = cls(
            id=id,
            api_key_id=api_key_id,
        )

        return resolve_request
