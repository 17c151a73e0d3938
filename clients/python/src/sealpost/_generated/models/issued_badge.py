from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="IssuedBadge")


@_attrs_define
class IssuedBadge:
    """An issued badge.

    Attributes:
        badge_id (str): Id of a badge, a signed credential about an API key.
        issued_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        expires_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        credential (str): The badge as a signed JWT.
    """

    badge_id: str
    issued_at: datetime.datetime
    expires_at: datetime.datetime
    credential: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        badge_id = self.badge_id

        issued_at = self.issued_at.isoformat()

        expires_at = self.expires_at.isoformat()

        credential = self.credential

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "badge_id": badge_id,
                "issued_at": issued_at,
                "expires_at": expires_at,
                "credential": credential,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        badge_id = d.pop("badge_id")

        issued_at = datetime.datetime.fromisoformat(d.pop("issued_at").replace("Z", "+00:00"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at").replace("Z", "+00:00"))

        credential = d.pop("credential")

        issued_badge = cls(
            badge_id=badge_id,
            issued_at=issued_at,
            expires_at=expires_at,
            credential=credential,
        )

        issued_badge.additional_properties = d
        return issued_badge

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
