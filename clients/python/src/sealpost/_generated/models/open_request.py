from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="OpenRequest")


@_attrs_define
class OpenRequest:
    """
    Attributes:
        envelope_id (str): The id of the envelope, from the event that announced it.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    envelope_id: str
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        envelope_id = self.envelope_id

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "envelope_id": envelope_id,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        envelope_id = d.pop("envelope_id")

        api_key_id = d.pop("api_key_id", UNSET)

        open_request = cls(
            envelope_id=envelope_id,
            api_key_id=api_key_id,
        )

        return open_request
