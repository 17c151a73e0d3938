from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.retiring import Retiring


T = TypeVar("T", bound="WebhookSecretRotated")


@_attrs_define
class WebhookSecretRotated:
    """A webhook with a new secret.

    Attributes:
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        secret (str): The new signing secret, shown only in this response.
        retiring (list[Retiring]): Replaced secrets with which the service still signs, newest first.
    """

    webhook_id: str
    secret: str
    retiring: list[Retiring]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        secret = self.secret

        retiring = []
        for retiring_item_data in self.retiring:
            retiring_item = retiring_item_data.to_dict()
            retiring.append(retiring_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "webhook_id": webhook_id,
                "secret": secret,
                "retiring": retiring,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retiring import Retiring  # noqa: PLC0415

        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        secret = d.pop("secret")

        retiring = []
        _retiring = d.pop("retiring")
        for retiring_item_data in _retiring:
            retiring_item = Retiring.from_dict(retiring_item_data)

            retiring.append(retiring_item)

        webhook_secret_rotated = cls(
            webhook_id=webhook_id,
            secret=secret,
            retiring=retiring,
        )

        webhook_secret_rotated.additional_properties = d
        return webhook_secret_rotated

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
