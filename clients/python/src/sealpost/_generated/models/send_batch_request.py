from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.send_request import SendRequest


T = TypeVar("T", bound="SendBatchRequest")


@_attrs_define
class SendBatchRequest:
    """The messages of a batch.

    Attributes:
        messages (list[SendRequest]): The messages, each with the members of a send.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    messages: list[SendRequest]
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "messages": messages,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.send_request import SendRequest  # noqa: PLC0415

        d = dict(src_dict)
        messages = []
        _messages = d.pop("messages")
        for messages_item_data in _messages:
            messages_item = SendRequest.from_dict(messages_item_data)

            messages.append(messages_item)

        api_key_id = d.pop("api_key_id", UNSET)

        send_batch_request = cls(
            messages=messages,
            api_key_id=api_key_id,
        )

        return send_batch_request
