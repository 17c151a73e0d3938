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

T = TypeVar("T", bound="TestWebhookAction")


@_attrs_define
class TestWebhookAction:
    """The webhook to test.

    Attributes:
        action (Literal['test']):
        webhook_id (str): The id of the webhook.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    action: Literal["test"]
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
        action = cast(Literal["test"], d.pop("action"))
        if action != "test":
            raise ValueError(f"action must match const 'test', got '{action}'")

        webhook_id = d.pop("webhook_id")

        api_key_id = d.pop("api_key_id", UNSET)

        test_webhook_action = cls(
            action=action,
            webhook_id=webhook_id,
            api_key_id=api_key_id,
        )

        return test_webhook_action
