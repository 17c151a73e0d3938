from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SendRequest")


@_attrs_define
class SendRequest:
    """A message and its recipient.

    Attributes:
        to (str): The recipient: an API key, or a handle (the readable name of a key).
        message (str): The text of the message.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    to: str
    message: str
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        to = self.to

        message = self.message

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "to": to,
                "message": message,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        to = d.pop("to")

        message = d.pop("message")

        api_key_id = d.pop("api_key_id", UNSET)

        send_request = cls(
            to=to,
            message=message,
            api_key_id=api_key_id,
        )

        return send_request
