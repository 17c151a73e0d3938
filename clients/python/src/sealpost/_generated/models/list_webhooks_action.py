from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ListWebhooksAction")


@_attrs_define
class ListWebhooksAction:
    """A body without members. Lists all webhooks of the key.

    Attributes:
        action (Literal['list']):
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    action: Literal["list"]
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "action": action,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        action = cast(Literal["list"], d.pop("action"))
        if action != "list":
            raise ValueError(f"action must match const 'list', got '{action}'")

        api_key_id = d.pop("api_key_id", UNSET)

        list_webhooks_action = cls(
            action=action,
            api_key_id=api_key_id,
        )

        return list_webhooks_action
