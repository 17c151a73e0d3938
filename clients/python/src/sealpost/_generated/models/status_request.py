from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="StatusRequest")


@_attrs_define
class StatusRequest:
    """A request without parameters. The API key can be named in the body or in a header.

    Attributes:
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        api_key_id = d.pop("api_key_id", UNSET)

        status_request = cls(
            api_key_id=api_key_id,
        )

        return status_request
