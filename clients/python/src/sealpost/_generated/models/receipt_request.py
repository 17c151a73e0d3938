from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ReceiptRequest")


@_attrs_define
class ReceiptRequest:
    """
    Attributes:
        envelope_id (str): The `envelope_id` in the response to the send.
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

        receipt_request = cls(
            envelope_id=envelope_id,
            api_key_id=api_key_id,
        )

        return receipt_request
