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

T = TypeVar("T", bound="DeleteWebhookAction")


@_attrs_define
class DeleteWebhookAction:
    """The webhook to delete.

    Attributes:
        action (Literal['delete']):
        webhook_id (str): The id of the webhook.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    action: Literal["delete"]
    webhook_id: str
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        webhook_id = self.webhook_id

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "action": action,
                "webhook_id": webhook_id,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        action = cast(Literal["delete"], d.pop("action"))
        if action != "delete":
            raise ValueError(f"action must match const 'delete', got '{action}'")

        webhook_id = d.pop("webhook_id")

        api_key_id = d.pop("api_key_id", UNSET)

        delete_webhook_action = cls(
            action=action,
            webhook_id=webhook_id,
            api_key_id=api_key_id,
        )

        return delete_webhook_action
