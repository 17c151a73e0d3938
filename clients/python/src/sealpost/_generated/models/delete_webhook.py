from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="DeleteWebhook")


@_attrs_define
class DeleteWebhook:
    """The webhook to delete.

    Attributes:
        webhook_id (str): The id of the webhook.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    webhook_id: str
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "webhook_id": webhook_id,
            }
        )
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        api_key_id = d.pop("api_key_id", UNSET)

        delete_webhook = cls(
            webhook_id=webhook_id,
            api_key_id=api_key_id,
        )

        return delete_webhook
