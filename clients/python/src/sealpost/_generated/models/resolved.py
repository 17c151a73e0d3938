from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Resolved")


@_attrs_define
class Resolved:
    """The part of an identity that other identities can see.

    Attributes:
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        handle (None | str): The handle of the key; null if the key has none.
        label (None | str): Display name of the identity; null if the policy of the key hides it.
        active (bool): Whether the key can send and receive.
    """

    api_key_id: str
    handle: None | str
    label: None | str
    active: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api_key_id = self.api_key_id

        handle: None | str
        handle = self.handle

        label: None | str
        label = self.label

        active = self.active

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api_key_id": api_key_id,
                "handle": handle,
                "label": label,
                "active": active,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        api_key_id = d.pop("api_key_id")

        def _parse_handle(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        handle = _parse_handle(d.pop("handle"))

        def _parse_label(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        label = _parse_label(d.pop("label"))

        active = d.pop("active")

        resolved = cls(
            api_key_id=api_key_id,
            handle=handle,
            label=label,
            active=active,
        )

        resolved.additional_properties = d
        return resolved

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
